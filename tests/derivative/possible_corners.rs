//! Corners that a run with errors meets as single crossings, and guards that come one after the
//! other for good.

use saltation::derivative::Verdict;
use saltation::models::Affine;
use saltation::nalgebra::DMatrix;
use saltation::{
    Crossing, EventFunction, Flow, Guard, Integrator, Mode, NoDerivative, Start, Stop, Watch,
};

use crate::fixtures::draw::Draw;
use crate::fixtures::support::each;

/// `x' = M sin(x + phase) + base + Σ_k s_k kick_k + s_0 s_1 pair`, with guards
/// `r_k · (x − p) = place_k`.
struct Wavy {
    m: DMatrix<f64>,
    phase: Vec<f64>,
    base: Vec<f64>,
    kicks: Vec<Vec<f64>>,
    pair: Vec<f64>,
    rows: Vec<Vec<f64>>,
    p: Vec<f64>,
    place: Vec<f64>,
}

impl Flow for Wavy {
    fn dim(&self) -> usize {
        self.base.len()
    }
    fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        for i in 0..x.len() {
            let wave = |j: usize| self.m[(i, j)] * (x[j] + self.phase[j]).sin();
            dx[i] = self.base[i] + (0..x.len()).map(wave).sum::<f64>();
            for (k, kick) in self.kicks.iter().enumerate() {
                if mode.contains(k) {
                    dx[i] += kick[i];
                }
            }
            if mode.contains(0) && mode.contains(1) {
                dx[i] += self.pair[i];
            }
        }
    }
}

impl EventFunction for Wavy {
    fn count(&self) -> usize {
        self.rows.len()
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        let along = (0..x.len()).map(|i| self.rows[k][i] * (x[i] - self.p[i]));
        along.sum::<f64>() - self.place[k]
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::RISING
    }
    fn ignores_mode(&self) -> bool {
        true
    }
}

/// A random system with guards that all contain `p`, crossed at rates of about one in every mode.
fn wavy(guards: usize, draw: &mut Draw) -> Wavy {
    let dim = guards + 1;
    let mut vector =
        |size: f64| -> Vec<f64> { (0..dim).map(|_| draw.between(-size, size)).collect() };
    let mut base = vector(0.2);
    for b in &mut base {
        *b += 2.0;
    }
    let kicks = (0..guards).map(|_| vector(0.2)).collect();
    let (pair, phase, p) = (vector(0.2), vector(3.0), vector(1.0));
    let rows = (0..guards)
        .map(|k| {
            let mut row = vector(0.03);
            row[k] += 0.5;
            row
        })
        .collect();
    let m = DMatrix::from_fn(dim, dim, |_, _| draw.between(-0.5, 0.5) / dim as f64);
    Wavy {
        m,
        phase,
        base,
        kicks,
        pair,
        rows,
        p,
        place: vec![0.0; guards],
    }
}

/// The same backward in time, without guards.
struct Backward<'a>(&'a Wavy);

impl Flow for Backward<'_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.0.flow(-t, x, mode, dx);
        for v in dx {
            *v = -*v;
        }
    }
}

impl EventFunction for Backward<'_> {
    fn count(&self) -> usize {
        self.0.count()
    }
    fn event(&self, _k: usize, _t: f64, _x: &[f64], _mode: &Mode) -> f64 {
        -1.0
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::NONE
    }
}

impl Wavy {
    /// The state from which the point where all guards meet is reached after `time`, to 1e-13.
    fn start(&self, time: f64) -> Vec<f64> {
        let mut integrator = Integrator::new(Backward(self))
            .unwrap()
            .rtol(1e-14)
            .atol(1e-14);
        let run = integrator.integrate(&Start::at(0.0).x(&self.p), time);
        run.unwrap().state().as_slice().to_vec()
    }
}

const TOLERANCES: [f64; 7] = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9];

#[test]
fn a_corner_is_never_classical_however_coarse_the_run() {
    let cases = if cfg!(debug_assertions) { 20 } else { 2000 };
    let mut found = [0; 3];
    for case in 0..cases {
        let mut draw = Draw(case);
        let guards = 2 + usize::try_from(case % 3).unwrap();
        let system = wavy(guards, &mut draw);
        let time = draw.between(0.5, 6.0);
        let start = system.start(time);
        for rtol in TOLERANCES {
            let mut integrator = Integrator::new(&system).unwrap().rtol(rtol).atol(rtol);
            let d = integrator
                .derivative(&Start::at(0.0).x(&start), time + 0.3)
                .unwrap();
            assert_eq!(d.run().crossings().len(), guards, "{case} at {rtol:e}");
            let said = format!("case {case} at {rtol:e}: {}", d.verdict());
            match d.verdict() {
                Verdict::Bouligand => found[0] += 1,
                Verdict::PossibleCorner { guards, .. } => {
                    found[1] += 1;
                    assert!(guards.len() > 1, "{said}");
                    assert!(
                        matches!(d.matrix(), Err(NoDerivative::PossibleCorner { .. })),
                        "{said}"
                    );
                    let maps = d.possible_pieces().unwrap();
                    assert!(maps.len() > 1, "{said}");
                    assert!(d.possible_corner().is_some(), "{said}");
                    // Numbers are those of this run, and so are both sides.
                    let v = vec![1.0; system.dim()];
                    let [forward, backward] = [d.apply(&v), d.apply_backward(&v)];
                    let is_one = d.corners().count() == 0;
                    assert!(!is_one || forward.unwrap() == backward.unwrap(), "{said}");
                }
                _ => found[2] += 1,
            }
            assert!(!matches!(d.verdict(), Verdict::Classical), "{said}");
        }
    }
    assert!(found[0] > 0 && found[1] > 0 && found[2] == 0, "{found:?}");
}

#[test]
fn guards_that_come_one_after_the_other_are_classical_when_the_run_can_tell() {
    let cases = if cfg!(debug_assertions) { 20 } else { 2000 };
    let (mut classical, mut needless) = (0, 0);
    for case in 0..cases {
        let mut draw = Draw(1_000_000 + case);
        let mut system = wavy(2, &mut draw);
        let time = draw.between(0.5, 6.0);
        let start = system.start(time);
        // The second comes later or earlier, by up to a millisecond.
        let apart = 10f64.powf(draw.between(-9.0, -2.0));
        system.place[1] = if draw.between(-1.0, 1.0) < 0.0 {
            -apart
        } else {
            apart
        };
        let mut exact = Integrator::new(&system).unwrap().rtol(1e-13).atol(1e-13);
        let exact = exact
            .integrate(&Start::at(0.0).x(&start), time + 0.3)
            .unwrap();
        let order = |crossings: &[saltation::GuardCrossing]| -> Vec<Guard> {
            crossings.iter().map(|c| c.guard).collect()
        };
        for rtol in TOLERANCES {
            let mut integrator = Integrator::new(&system).unwrap().rtol(rtol).atol(rtol);
            let d = integrator
                .derivative(&Start::at(0.0).x(&start), time + 0.3)
                .unwrap();
            let found = order(d.run().crossings());
            let right = order(exact.crossings());
            let said = format!("case {case} at {rtol:e}, {apart:e} apart: {}", d.verdict());
            if matches!(d.verdict(), Verdict::Classical) {
                classical += 1;
                assert_eq!(found, right, "{said}");
            }
            // What is a thousand times the tolerance apart can be told from a corner.
            if apart > 1e3 * rtol {
                needless += usize::from(!matches!(d.verdict(), Verdict::Classical));
            }
        }
    }
    assert!(classical > 0);
    assert_eq!(needless, 0, "of {} runs", cases * 7);
}

#[test]
fn the_corner_of_the_coupled_example_is_one_at_any_tolerance() {
    for rtol in TOLERANCES {
        let mut integrator = Integrator::new(Affine::coupled())
            .unwrap()
            .rtol(rtol)
            .atol(rtol);
        let d = integrator
            .derivative(&Start::at(0.0).x(&Affine::CORNER_START), 0.25)
            .unwrap();
        assert!(
            matches!(
                d.verdict(),
                Verdict::Bouligand | Verdict::PossibleCorner { .. }
            ),
            "{rtol:e}: {}",
            d.verdict()
        );
        assert!(d.matrix().is_err(), "{rtol:e}");
    }
}

/// Guards that shift together keep their order, however large the error.
#[test]
fn parallel_guards_are_no_possible_corner() {
    let mut draw = Draw(5);
    let mut system = wavy(2, &mut draw);
    system.rows[1] = system.rows[0].clone();
    let start = system.start(3.0);
    system.place[1] = 1e-5;
    let mut integrator = Integrator::new(&system).unwrap().rtol(1e-4).atol(1e-4);
    let d = integrator
        .derivative(&Start::at(0.0).x(&start), 3.3)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical);
    assert!(d.run().crossings()[0].time_error > 1e-5);
}

/// Two bars in front of a body: whoever is hit first throws it back. `x, y` fall towards zero
/// together.
struct Thrown {
    /// How much later the second is met (s).
    later: f64,
}

impl Flow for Thrown {
    fn dim(&self) -> usize {
        4
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[x[2], x[3], -x[0].sin(), -x[1].sin()]);
    }
}

impl EventFunction for Thrown {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[k] + if k == 1 { self.later } else { 0.0 }
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::FALLING
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let (_, c, x, _) = crossing.parts();
        // Each throws both back, the one that was hit more than the other.
        let own = if c.contains(0) { 2 } else { 3 };
        x[own] *= -1.0;
        x[5 - own] *= -0.5;
        Ok(())
    }
}

#[test]
fn a_guard_that_the_first_reset_turns_away_belongs_to_the_corner() {
    let start = [1.0, 1.0, 0.0, 0.0];
    let run = |later: f64, rtol: f64, order: Option<[Guard; 2]>| {
        let mut integrator = Integrator::new(Thrown { later })
            .unwrap()
            .rtol(rtol)
            .atol(rtol);
        if let Some(order) = order {
            integrator = integrator.corner_order(order);
        }
        let d = integrator
            .derivative(&Start::at(0.0).x(&start), 3.0)
            .unwrap();
        let crossings = d.run().crossings().len();
        let forward = d.apply(&[1.0, 0.5, 0.0, 0.0]);
        let backward = d.apply(&[0.5, 1.0, 0.0, 0.0]);
        let orders = d.pieces_at(0).map_or(0, |pieces| each(&pieces).count());
        (d.verdict().clone(), crossings, orders, forward, backward)
    };
    let [first, second] = [Guard::falling(0), Guard::falling(1)];
    // The run itself hits the first bar only; a start whose second coordinate is smaller hits the
    // second.
    let (verdict, crossings, orders, late, early) = run(0.0, 1e-10, Some([first, second]));
    assert_eq!((crossings, orders), (1, 2));
    match verdict {
        Verdict::Discontinuous { guards, .. } => assert_eq!(guards, [first, second]),
        other => panic!("{other}"),
    }
    // Directions that meet the first bar first: x smaller than y. Farther away is later.
    assert!(
        matches!(late, Err(NoDerivative::Discontinuous { .. })),
        "{late:?}"
    );
    assert!(early.is_ok(), "{early:?}");
    let (verdict, crossings, orders, late, early) = run(0.0, 1e-10, Some([second, first]));
    assert_eq!((crossings, orders), (1, 2));
    assert!(
        matches!(verdict, Verdict::Discontinuous { .. }),
        "{verdict}"
    );
    assert!(late.is_ok(), "{late:?}");
    assert!(
        matches!(early, Err(NoDerivative::Discontinuous { .. })),
        "{early:?}"
    );
    // A hair apart, and less than a coarse run can tell.
    let (verdict, crossings, ..) = run(1e-7, 1e-4, None);
    assert_eq!(crossings, 1);
    assert!(
        matches!(verdict, Verdict::PossibleCorner { .. }),
        "{verdict}"
    );
    let (verdict, crossings, ..) = run(1e-3, 1e-9, None);
    assert_eq!(crossings, 1);
    assert_eq!(verdict, Verdict::Classical);
}

/// `x' = (1, 1)`, guards `x0 = 0` and `x1 = later`; each guard adds its column of `kicks` to the
/// field. What happens behind the first.
struct Moved {
    later: f64,
    kicks: [[f64; 2]; 2],
    reset: Behind,
}

#[derive(Clone, Copy, Debug)]
enum Behind {
    /// The state is moved along `x1` by this much.
    Throws(f64),
    /// The second guard counts as crossed from then on.
    Retires,
}

impl Flow for Moved {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        dx.fill(1.0);
        for k in mode.ones() {
            for (dx, kick) in dx.iter_mut().zip(self.kicks[k]) {
                *dx += kick;
            }
        }
    }
}

impl EventFunction for Moved {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[k] - if k == 1 { self.later } else { 0.0 }
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::RISING
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let (_, c, x, mode) = crossing.parts();
        if c.contains(0) {
            match self.reset {
                Behind::Throws(far) => x[1] += far,
                Behind::Retires => mode.set(1, true),
            }
        }
        Ok(())
    }
}

/// A guard that would be met within the corner tolerance is one of the corner, also where the first
/// reset leaves nothing of it to meet.
#[test]
fn guards_that_a_reset_leaves_out_belong_to_the_corner_within_its_tolerance() {
    let kicks = [[0.25, -0.125], [0.5, 0.375]];
    let run = |later: f64, reset: Behind| {
        let system = Moved {
            later,
            kicks,
            reset,
        };
        let mut integrator = Integrator::new(&system).unwrap().corner_tolerance(1e-9);
        let end = |x: f64, y: f64| {
            let mut integrator = Integrator::new(&system).unwrap().corner_tolerance(1e-9);
            let run = integrator
                .integrate(&Start::at(0.0).x(&[x, y]), 0.75)
                .unwrap();
            run.state().clone()
        };
        let d = integrator
            .derivative(&Start::at(0.0).x(&[-0.5, -0.5]), 0.75)
            .unwrap();
        let guards = d.corners().next().map(|c| c.guards().to_vec());
        // Directions in which the first guard is met first, and last.
        let ways = [[0.0, -1.0], [0.0, 1.0]].map(|v: [f64; 2]| {
            let s = 1e-4;
            let quotient = (end(-0.5, -0.5 + s * v[1]) - end(-0.5, -0.5)) / s;
            (d.apply(&v), quotient)
        });
        (d.verdict().clone(), guards, ways)
    };
    let both = [Guard::rising(0), Guard::rising(1)];
    // Carried across, crossed by the reset's word, and thrown back from it: the order decides how
    // long the field of the second acts.
    let resets = [
        Behind::Throws(0.0625),
        Behind::Retires,
        Behind::Throws(-0.0625),
    ];
    for reset in resets {
        for later in [0.0, 1e-12, 6e-11, 9e-10] {
            let (verdict, guards, ways) = run(later, reset);
            let said = format!("{later:e}, {reset:?}: {verdict}");
            assert_eq!(verdict, Verdict::Bouligand, "{said}");
            assert_eq!(guards.as_deref(), Some(&both[..]), "{said}");
            for (given, quotient) in ways {
                assert!((given.unwrap() - quotient).norm() < 1e-4, "{said}");
            }
        }
        for later in [1.1e-9, 1e-6] {
            let (verdict, ..) = run(later, reset);
            assert_eq!(verdict, Verdict::Classical, "{later:e}, {reset:?}");
        }
    }
}
