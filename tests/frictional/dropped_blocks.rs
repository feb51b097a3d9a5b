//! Random runs with time as a state: blocks dropped with tilt and spin, against the properties of a
//! run and against time stepping.

use saltation::ContactModel;
use saltation::event_driven::{Breakdown, StretchKind, Timeline, TimelineRun};
use saltation::impact::{AnitescuPotra, ImpactLaw, ImpactProblem, Selection, Unilateral};
use saltation::mechanics::{
    ContactSet, ContactSource, Contacts, MechanicalSystem, UnilateralConstraints, Wanted,
};
use saltation::models::RockingBlock;
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{InputError, Start, Stop};

use crate::random_bits::SplitMix64;
use crate::timeline::check;

/// A block above the floor, and its start.
fn dropped(random: &mut SplitMix64) -> (RockingBlock, [f64; 3], [f64; 3]) {
    let mut within = |low: f64, high: f64| random.between(low, high);
    let block = RockingBlock {
        width: within(0.3, 1.5),
        height: within(0.3, 1.5),
        mass: within(0.5, 3.0),
        friction: within(0.05, 1.2),
        ..RockingBlock::default()
    };
    let theta = within(-0.5, 0.5);
    let (sine, cosine) = (f64::abs(theta.sin()), theta.cos());
    let lowest = 0.5 * (block.width * sine + block.height * cosine);
    let q = [0.0, lowest + within(0.01, 0.2), theta];
    let v = [within(-2.0, 2.0), within(-1.0, 0.5), within(-2.0, 2.0)];
    (block, q, v)
}

fn run(block: RockingBlock, (q, v): (&[f64; 3], &[f64; 3]), tf: f64) -> TimelineRun {
    let model = ContactModel::with_law(block, AnitescuPotra::new()).selection(Selection::First);
    let timeline = Timeline::new(model)
        .unwrap()
        .rtol(1e-9)
        .atol(1e-12)
        .zeno_tolerance(1e-8);
    timeline.integrate(&Start::at(0.0).q(q).v(v), tf).unwrap()
}

#[test]
fn dropped_blocks_keep_the_properties_of_a_run() {
    let mut random = SplitMix64(41);
    let (mut rests, mut slips, mut ends) = (0, 0, 0);
    for case in 0..30 {
        let (block, q, v) = dropped(&mut random);
        let run = run(block, (&q, &v), 3.0);
        // A block that tips over falls on a side that is no contact.
        if run
            .stretches()
            .iter()
            .any(|stretch| stretch.q[1][2].abs() > 1.2)
        {
            continue;
        }
        check(&run, &block);
        assert_eq!(run.breakdown(), None, "case {case}");
        ends += 1;
        for stretch in run.stretches() {
            rests += usize::from(matches!(stretch.kind, StretchKind::Rest { .. }));
            slips += usize::from(matches!(stretch.kind, StretchKind::Contact(_)));
        }
    }
    println!("{rests} rests, {slips} stretches with contacts, {ends} of 30 to the end");
    assert!(rests >= 4 && ends >= 20, "{rests} {ends}");
}

/// Time stepping (Stewart & Trinkle, Anitescu & Potra): an impact of the contacts that touch in
/// each step, after the push of gravity.
fn stepped(block: RockingBlock, (q, v): (&[f64; 3], &[f64; 3]), tf: f64, steps: u32) -> Vec<f64> {
    let h = tf / f64::from(steps);
    let (mut q, mut v) = (q.to_vec(), DVector::from_column_slice(v));
    let mut mass = DMatrix::zeros(3, 3);
    let mut contacts = Contacts::new();
    for _ in 0..steps {
        block.mass(&q, mass.as_mut_slice());
        v[1] -= h * block.gravity;
        let wanted = Wanted {
            friction: true,
            ..Wanted::default()
        };
        block
            .fill(&q, ContactSet::Within(0.0), wanted, &mut contacts)
            .unwrap();
        if !contacts.is_empty() {
            let problem = ImpactProblem::from_contacts(&contacts, &mass, &v).unwrap();
            let outcomes = AnitescuPotra::new().resolve(&problem).unwrap();
            v = problem.velocity_after(&outcomes.list[0]).unwrap();
        }
        for (q, v) in q.iter_mut().zip(&v) {
            *q += h * v;
        }
    }
    [q, v.as_slice().to_vec()].concat()
}

/// Nearer to an impact velocities are not compared (s).
const APART: f64 = 0.03;

/// Pivoting, sliding and landing from the floor, against steps that shrink to nothing.
#[test]
fn runs_are_the_limit_of_time_stepping() {
    let mut random = SplitMix64(7);
    let tf = 0.2;
    let (mut impacts, mut slides, mut halved) = (0, 0, 0);
    for case in 0..20 {
        let (block, ..) = dropped(&mut random);
        let theta = random.between(0.05, 0.3) * if case % 2 == 0 { 1.0 } else { -1.0 };
        let rate = random.between(-2.0, 1.0) * theta.signum();
        let (q, mut v) = block.pivoting(theta, rate);
        v[0] += random.between(-1.0, 1.0);
        let exact = run(block, (&q, &v), tf + APART);
        assert_eq!(exact.breakdown(), None);
        check(&exact, &block);
        let of = |kind: fn(&StretchKind) -> bool| {
            exact.stretches().iter().filter(move |p| kind(&p.kind))
        };
        let struck = || of(|kind| matches!(kind, StretchKind::Impact { .. }));
        impacts += struck().count();
        slides += of(|kind| matches!(kind, StretchKind::Contact(_))).count();
        // Steps displace impacts: velocities are compared away from them.
        let compared = if struck().any(|stretch| (stretch.t[0] - tf).abs() < APART) {
            3
        } else {
            6
        };
        let state = exact.at(tf).unwrap();
        let error = |steps: u32| {
            let found = stepped(block, (&q, &v), tf, steps);
            let pairs = found.iter().zip(state.iter()).take(compared);
            pairs.fold(0.0f64, |most, (a, b)| most.max((a - b).abs()))
        };
        let [coarse, fine] = [200, 1600].map(error);
        assert!(fine < 1e-2, "case {case}: {coarse:e} {fine:e}");
        halved += usize::from(fine < 0.4 * coarse);
    }
    println!(
        "{impacts} impacts, {slides} stretches with contacts, {halved} of 20 fall with the step"
    );
    assert!(
        impacts >= 10 && slides >= 45 && halved >= 15,
        "{impacts} {slides} {halved}"
    );
}

/// A block whose corners rebound when they fall fast enough.
#[derive(Clone, Copy, Debug)]
struct Elastic {
    block: RockingBlock,
    /// From this speed (m/s).
    from: f64,
}

impl MechanicalSystem for Elastic {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.block.mass(q, mass);
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.block.effort(t, q, v, effort);
    }
}

impl UnilateralConstraints for Elastic {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.block.gap(j, q)
    }
    fn restitution(&self, _j: usize, _q: &[f64], v: &[f64]) -> f64 {
        if v[1].abs() >= self.from { 0.5 } else { 0.0 }
    }
    fn friction(&self, j: usize) -> f64 {
        self.block.friction(j)
    }
    fn tangents(&self, j: usize) -> usize {
        self.block.tangents(j)
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        self.block.tangent_rows(j, q, rows);
    }
}

#[test]
fn bad_input_is_refused_by_name() {
    let block = RockingBlock::default();
    let (q, v) = block.pivoting(0.1, 0.0);
    let with = |model: ContactModel<RockingBlock>| Timeline::new(model).unwrap();
    let rough = |block| with(ContactModel::with_law(block, AnitescuPotra::new()));
    let refused =
        with(ContactModel::with_law(block, Unilateral)).integrate(&Start::at(0.0).q(&q).v(&v), 1.0);
    assert!(matches!(
        refused,
        Err(Breakdown::Input(InputError::FrictionIgnored {
            law: "Unilateral",
            ..
        }))
    ));
    // Said not to matter: it slides freely, down to the floor and on.
    let smooth = with(ContactModel::new(block).frictionless());
    let run = smooth
        .integrate(&Start::at(0.0).q(&q).v(&v), 0.5)
        .unwrap()
        .completed()
        .unwrap();
    assert!(
        run.stretches()
            .iter()
            .all(|stretch| stretch.tangential.iter().all(|&p| p == 0.0))
    );
    for friction in [-0.1, f64::NAN, f64::INFINITY] {
        let refused =
            rough(RockingBlock { friction, ..block }).integrate(&Start::at(0.0).q(&q).v(&v), 1.0);
        assert!(
            matches!(refused, Err(Breakdown::Input(_))),
            "{friction} {refused:?}"
        );
    }
    for (q, v, tf) in [
        (&q[..2], &v[..], 1.0),
        (&q, &v[..1], 1.0),
        (&q, &v, f64::NAN),
        (&q, &v, -1.0),
        (&[0.0, f64::NAN, 0.0], &v, 1.0),
        (&[0.0, 0.5, 0.0], &v, 1.0),
    ] {
        let refused = rough(block).integrate(&Start::at(0.0).q(q).v(v), tf);
        assert!(matches!(refused, Err(Breakdown::Input(_))), "{refused:?}");
    }
    let settings: [fn(Timeline<RockingBlock>) -> Timeline<RockingBlock>; 4] = [
        |timeline| timeline.rtol(-1.0),
        |timeline| timeline.atol(f64::NAN),
        |timeline| timeline.max_step(0.0),
        |timeline| timeline.zeno_tolerance(0.0),
    ];
    for set in settings {
        let refused = set(rough(block)).integrate(&Start::at(0.0).q(&q).v(&v), 1.0);
        assert!(matches!(
            refused,
            Err(Breakdown::Input(InputError::BadSetting { .. }))
        ));
    }
    // Restitution is refused, at the start or where it is first met.
    for from in [0.0, 2.0] {
        let model = ContactModel::with_law(Elastic { block, from }, AnitescuPotra::new());
        let (q, v) = ([0.0, 1.5, 0.0], [0.0; 3]);
        let run = Timeline::new(model)
            .unwrap()
            .integrate(&Start::at(0.0).q(&q).v(&v), 1.0);
        let refused = match run {
            Err(refused) => refused,
            Ok(run) => run.completed().unwrap_err(),
        };
        let Breakdown::Input(InputError::BadSetting { name, value, .. }) = refused else {
            panic!("{refused}");
        };
        assert!(name == "restitution" && value == 0.5);
    }
    // A run that ends early keeps its stretches and says why.
    let (q, v) = block.pivoting(0.0, 1.0);
    let short = rough(block)
        .max_events(5)
        .integrate(&Start::at(0.0).q(&q).v(&v), 4.0)
        .unwrap();
    let Some(Breakdown::Stop(Stop::TooManyEvents { limit: 5, at, .. })) = short.breakdown() else {
        panic!("{:?}", short.breakdown());
    };
    assert!(at.t == short.t() && at.t > 1.0 && short.stretches().len() >= 5);
    assert!(short.at(1.0).is_ok() && short.at(3.0).is_err() && short.at_arclength(1e3).is_err());
    let few = rough(block)
        .max_steps(10)
        .integrate(&Start::at(0.0).q(&q).v(&v), 4.0)
        .unwrap();
    assert!(matches!(
        few.breakdown(),
        Some(Breakdown::Stop(Stop::TooManySteps { limit: 10, .. }))
    ));
    // A run of no length.
    let none = rough(block)
        .integrate(&Start::at(1.0).q(&q).v(&v), 1.0)
        .unwrap();
    assert!(none.stretches().is_empty() && none.t() == 1.0 && none.s() == 0.0);
    assert_eq!(none.at(1.0).unwrap(), none.state());
}
