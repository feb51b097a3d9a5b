//! Efforts that depend on which contacts are closed, where these have friction: closed forms, and the search over sets
//! of contacts against the search of modes.

use saltation::event_driven::{Breakdown, Zeno};
use saltation::impact::AnitescuPotra;
use saltation::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Run, Start, Verdict};

use crate::random_modes::Trial;
use crate::scenes::Scene;

const G: f64 = 9.81;
const MU: f64 = 0.4;

/// A block of 1 kg, `q = (x, z)`, on which a force acts while it touches the floor.
struct Block {
    closed: [f64; 2],
    open: [f64; 2],
}

impl MechanicalSystem for Block {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -G]);
    }
    fn contact_effort(&self, _at: State<'_>, closed: &[usize], effort: &mut [f64]) -> bool {
        let force = if closed.is_empty() {
            self.open
        } else {
            self.closed
        };
        effort.iter_mut().zip(force).for_each(|(e, f)| *e += f);
        true
    }
}

impl UnilateralConstraints for Block {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1]
    }
    fn friction(&self, _j: usize) -> f64 {
        MU
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0]);
    }
}

fn driver(block: Block) -> EventDriven<Block> {
    let driver = EventDriven::new(ContactModel::with_law(block, AnitescuPotra::new()));
    driver.unwrap().rtol(1e-10).atol(1e-12)
}

/// Thrown up, it lands with a speed `u`, rubs off `μ u`, and is drawn on while it touches; so are its
/// derivatives.
#[test]
fn a_block_that_is_drawn_while_it_touches() {
    let (speed, up, height, tf) = (3.0, 1.5, 0.1, 1.2);
    let down = f64::sqrt(up * up + 2.0 * G * height);
    let q = [0.0, height];
    for pull in [-1.0, 0.0, 2.0, 6.0] {
        let block = || Block {
            closed: [pull, -0.5],
            open: [0.0, 0.0],
        };
        let v = [speed, up];
        let start = Start::at(0.0).q(&q).v(&v);
        let run = driver(block())
            .integrate(&start, tf)
            .unwrap()
            .completed()
            .unwrap();
        let lands = (up + down) / G;
        let (slides, rubs) = (speed - MU * down, pull - MU * (G + 0.5));
        let stops = if rubs < 0.0 {
            slides / -rubs
        } else {
            f64::INFINITY
        };
        // Where it stops a pull that is weaker than friction holds it.
        let time = (tf - lands).min(stops);
        let x = speed * lands + slides * time + 0.5 * rubs * time * time;
        assert!(
            (run.state()[0] - x).abs() < 1e-8,
            "{pull}: {} {x}",
            run.state()[0]
        );
        let derivative = driver(block()).derivative(&start, tf).unwrap();
        assert_eq!(*derivative.verdict(), Verdict::Classical, "{pull}");
        let end = |v: [f64; 2]| {
            let start = Start::at(0.0).q(&q).v(&v);
            driver(block()).integrate(&start, tf).unwrap().state()[0]
        };
        let by = 1e-5;
        for (i, dv) in [[by, 0.0], [0.0, by]].into_iter().enumerate() {
            let [ahead, behind] = [1.0, -1.0].map(|s| end([speed + s * dv[0], up + s * dv[1]]));
            let mut direction = [0.0; 4];
            direction[2 + i] = 1.0;
            let found = derivative.apply(&direction).unwrap()[0];
            let expected = (ahead - behind) / (2.0 * by);
            assert!(
                (found - expected).abs() < 1e-5,
                "{pull} {i}: {found} {expected}"
            );
        }
    }
}

/// At rest it is held down where it touches, and drawn up where it does not: both go on. Or the other way round: none
/// does.
#[test]
fn touches_that_decide_on_themselves_are_refused_by_name() {
    for (closed, open) in [(-1.0, 2.0 * G), (2.0 * G, -1.0)] {
        let block = Block {
            closed: [0.0, closed],
            open: [0.0, open],
        };
        let start = Start::at(0.0).q(&[0.0, 0.0]).v(&[0.0, 0.0]);
        let run = driver(block).integrate(&start, 1.0).unwrap();
        let reason: Option<&Breakdown> = run.status().reason();
        let is_right = match reason {
            Some(Breakdown::AmbiguousMode { .. }) => closed < 0.0,
            Some(Breakdown::NoConsistentMode { .. }) => closed > 0.0,
            _ => false,
        };
        assert!(is_right, "{closed}: {}", run.status());
    }
}

/// A scene whose efforts are said to depend on closed contacts, and do not.
struct Said<'a>(&'a Scene);

impl MechanicalSystem for Said<'_> {
    fn dof(&self) -> usize {
        self.0.dof()
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.0.mass(q, mass);
    }
    fn constant_mass(&self) -> bool {
        self.0.constant_mass()
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.0.effort(t, q, v, effort);
    }
    fn contact_effort(&self, _at: State<'_>, _closed: &[usize], _effort: &mut [f64]) -> bool {
        true
    }
    fn time_scale(&self) -> Option<f64> {
        self.0.time_scale()
    }
}

impl UnilateralConstraints for Said<'_> {
    fn contacts(&self) -> usize {
        self.0.contacts()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.0.gap(j, q)
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        self.0.gap_row(j, q, row)
    }
    fn friction(&self, j: usize) -> f64 {
        self.0.friction(j)
    }
    fn tangents(&self, j: usize) -> usize {
        self.0.tangents(j)
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        self.0.tangent_rows(j, q, rows);
    }
}

fn run<S>(system: S, trial: &Trial) -> Run
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let model = ContactModel::with_law(system, AnitescuPotra::new());
    let mut driver = EventDriven::new(model).unwrap().zeno(Zeno::Absorb);
    driver = driver.rtol(1e-10).atol(1e-12);
    let start = Start::at(0.0).q(&trial.q).v(&trial.v);
    driver.integrate(&start, trial.tf.min(0.6)).unwrap()
}

/// The search set by set finds what the search of all modes finds.
#[test]
fn random_scenes_do_not_depend_on_what_is_said_of_them() {
    let cases = if cfg!(debug_assertions) { 30 } else { 1800 };
    let (mut same, mut refused) = (0, 0);
    for seed in 0..cases {
        let trial = Trial::of(seed);
        let (plain, said) = (run(&trial.scene, &trial), run(Said(&trial.scene), &trial));
        let stops = [&plain, &said].map(|run| run.status().stop().is_some());
        if stops != [false; 2] {
            refused += usize::from(stops[0] != stops[1]);
            continue;
        }
        let off = (plain.state() - said.state()).amax();
        assert!(off < 1e-6, "{seed}: {off}");
        same += 1;
    }
    assert!(
        same > cases / 2 && 50 * refused <= usize::try_from(cases).unwrap(),
        "{refused}"
    );
}
