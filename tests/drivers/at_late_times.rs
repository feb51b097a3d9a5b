//! Runs of seconds that begin after weeks: times are told apart to a nanosecond there.

use saltation::models::{BouncingBall, SoftTrot};
use saltation::{ContactModel, EventDriven, InputError, Start, Status, Variational};

use super::random::SplitMix64;

/// Two feet that lift off together, where their forces are known to be zero to a nanosecond only.
#[test]
fn feet_that_lift_off_together_do_so_at_any_time() {
    let mut random = SplitMix64(5);
    for t0 in [0.0, 1e6, -1e6, 1e7] {
        for _ in 0..25 {
            let h = random.between(0.0, 0.6);
            let (mut q, v) = SoftTrot::default().start(0.0);
            for i in [0, 2, 3] {
                q[i] += h;
            }
            let mut driver = EventDriven::new(ContactModel::new(SoftTrot::default())).unwrap();
            let run = driver.integrate(&Start::at(t0).q(&q).v(&v), t0 + 1.2);
            let run = run.unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd, "{t0} {h}");
            let early = driver.integrate(&Start::at(0.0).q(&q).v(&v), 1.2).unwrap();
            let off = (run.state() - early.state()).amax();
            // Events are placed to a nanosecond, and steps differ within the tolerance.
            assert!(off < 1e-4, "{t0} {h} {off:e}");
        }
    }
}

/// A run that ended at an impact goes on from there: the ball is within the floor by what it falls in a rounding of time.
#[test]
fn the_end_of_a_run_at_an_impact_is_a_start() {
    let mut random = SplitMix64(6);
    let mut within = 0;
    for t0 in [0.0, 1e6, 1e7] {
        for _ in 0..40 {
            let ball = BouncingBall {
                restitution: random.between(0.3, 1.0),
                ..BouncingBall::default()
            };
            let mut driver = Variational::new(ContactModel::new(ball)).unwrap();
            let q = [random.between(0.3, 2.0)];
            let start = Start::at(t0).q(&q).v(&[0.0]);
            let whole = driver.integrate(&start, t0 + 1.0).unwrap();
            let Some(impact) = whole.events().first() else {
                continue;
            };
            let first = driver.integrate(&start, impact.t).unwrap();
            within += usize::from(first.state()[0] < -1e-10);
            let rest = driver.integrate(&first.end(), t0 + 1.0).unwrap();
            assert_eq!(*rest.status(), Status::ReachedEnd);
            assert!(rest.state()[0] > -1e-8);
        }
    }
    assert!(within > 5, "{within}");
    // One that is deeper is refused, and one that is as deep and sinks.
    let mut driver = Variational::new(ContactModel::new(BouncingBall::default())).unwrap();
    for (gap, rate) in [(-1e-6, 1.0), (-1e-9, -1.0), (-1e-9, 0.0)] {
        let refused = driver.integrate(&Start::at(1e6).q(&[gap]).v(&[rate]), 1e6 + 1.0);
        assert!(
            matches!(refused, Err(InputError::NegativeGap { .. })),
            "{gap} {rate}"
        );
    }
}
