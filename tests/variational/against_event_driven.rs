//! Random runs against the event-driven driver.

use saltation::event_driven::Zeno;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{DoublePendulum, RigidTrot, SoftTrot};
use saltation::{ContactModel, EventDriven};
use saltation::{Start, Variational};

/// Reproducible numbers in [0, 1).
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    pub(crate) fn next(&mut self) -> f64 {
        // SplitMix64
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }
}

/// Errors of the end state with two steps, or none where the drivers see other events.
fn errors<S>(system: S, (q, v): (&[f64], &[f64]), tf: f64, h: f64) -> Option<[f64; 2]>
where
    S: MechanicalSystem + UnilateralConstraints + Clone,
{
    let simulation = EventDriven::new(ContactModel::new(system.clone())).unwrap();
    let mut simulation = simulation.rtol(1e-10).atol(1e-11).zeno(Zeno::Error);
    let exact = simulation
        .integrate(&Start::at(0.0).q(q).v(v), tf)
        .ok()?
        .completed()
        .ok()?;
    let mut errors = [0.0; 2];
    for (error, h) in errors.iter_mut().zip([h, h / 2.0]) {
        let mut driver = Variational::new(ContactModel::new(system.clone()))
            .unwrap()
            .time_step(h);
        let run = driver
            .integrate(&Start::at(0.0).q(q).v(v), tf)
            .unwrap()
            .completed()
            .unwrap();
        let impacts = |n: usize| n > 0;
        let count = run
            .events()
            .iter()
            .filter(|event| impacts(event.activated.len()))
            .count();
        let expected = exact
            .events()
            .iter()
            .filter(|event| impacts(event.activated.len()))
            .count();
        if count != expected || !run.is_guaranteed() {
            return None;
        }
        let state = exact.state();
        let apart = run
            .state()
            .iter()
            .zip(state.iter())
            .map(|(a, b)| (a - b).abs());
        *error = apart.fold(0.0, f64::max);
    }
    Some(errors)
}

#[test]
fn runs_of_pendulums_converge_to_those_of_the_event_driven_driver() {
    let (mut compared, mut slow) = (0, Vec::new());
    for case in 0..60 {
        let mut draws = Draws(case);
        let pendulum = DoublePendulum {
            masses: [draws.within(0.3, 2.0), draws.within(0.3, 2.0)],
            lengths: [draws.within(0.5, 1.5), draws.within(0.5, 1.5)],
            wall: draws.within(-0.8, -0.1),
            restitution: [1.0, 0.7, 0.0][case as usize % 3],
            ..DoublePendulum::default()
        };
        let q = [draws.within(0.2, 1.2), draws.within(0.2, 1.2)];
        let v = [draws.within(-1.0, 1.0), draws.within(-1.0, 1.0)];
        let Some([coarse, fine]) = errors(pendulum, (&q, &v), 1.0, 2e-3) else {
            continue;
        };
        compared += 1;
        assert!(fine < 1e-3, "{case} {coarse:e} {fine:e}");
        // Of second order, but for accidents of sign and what is small already.
        if fine > 0.35 * coarse && fine > 1e-7 {
            slow.push((case, coarse, fine));
        }
    }
    println!("{compared} {slow:?}");
    assert!(compared > 40 && slow.len() <= 3, "{compared} {slow:?}");
}

#[test]
fn runs_of_trots_converge_to_those_of_the_event_driven_driver() {
    let (mut compared, mut slow) = (0, Vec::new());
    for case in 0..40 {
        let mut draws = Draws(1000 + case);
        let (q, v) = SoftTrot::default().start(draws.within(-0.05, 0.05));
        if let Some([coarse, fine]) = errors(SoftTrot::default(), (&q, &v), 0.65, 2e-3) {
            compared += 1;
            if fine > 0.35 * coarse && fine > 1e-7 {
                slow.push((case, coarse, fine));
            }
        }
        let trot = RigidTrot {
            restitution: draws.within(0.2, 1.0),
            ..RigidTrot::default()
        };
        let (q, v) = RigidTrot::start(draws.within(-0.2, 0.2));
        if let Some([coarse, fine]) = errors(trot, (&q, &v), 0.5, 2e-3) {
            compared += 1;
            if fine > 0.35 * coarse && fine > 1e-7 {
                slow.push((100 + case, coarse, fine));
            }
        }
    }
    println!("{compared} {slow:?}");
    assert!(compared > 40 && slow.len() <= 3, "{compared} {slow:?}");
}

/// Balls on a line, Newton's cradle without strings.
#[derive(Clone)]
struct Balls(Vec<f64>);

impl MechanicalSystem for Balls {
    fn dof(&self) -> usize {
        self.0.len()
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for (i, m) in self.0.iter().enumerate() {
            mass[i * self.0.len() + i] = *m;
        }
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        // Strings: each pulls its ball back to its place.
        for (i, effort) in effort.iter_mut().enumerate() {
            *effort = -self.0[i] * (q[i] - i as f64);
        }
    }
}

impl UnilateralConstraints for Balls {
    fn contacts(&self) -> usize {
        self.0.len() - 1
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[j + 1] - q[j] - 1.0
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        1.0
    }
}

#[test]
fn cradles_with_a_gap_between_balls_agree_with_order_two() {
    for masses in [
        vec![1.0, 1.0, 1.0],
        vec![1.0, 2.0, 3.0],
        vec![2.0, 1.0, 0.5, 1.5],
    ] {
        let n = masses.len();
        // The first ball is pulled back, the others are a little apart.
        let q: Vec<f64> = (0..n)
            .map(|i| i as f64 + 0.01 * (i * i) as f64 - if i == 0 { 0.5 } else { 0.0 })
            .collect();
        let found = errors(Balls(masses), (&q, &vec![0.0; n]), 2.0, 2e-3);
        let [coarse, fine] = found.expect("the same impacts");
        assert!(fine < 1e-4 && fine < 0.35 * coarse, "{coarse:e} {fine:e}");
    }
}
