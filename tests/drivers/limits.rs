//! Limits of memory, steps and events, the same for all drivers.

use saltation::models::{BouncingBall, DoublePendulum, Hopper};
use saltation::{
    Compliant, ContactModel, Driver, EventDriven, InputError, Integrator, Start, Status, Stop,
    Variational,
};

/// An elastic ball, that bounces for ever.
const BALL: BouncingBall = BouncingBall {
    mass: 1.0,
    gravity: 9.81,
    restitution: 1.0,
};

/// Each driver with small limits, what it starts from, and the length of its steps.
fn limited(
    memory: usize,
    events: usize,
    steps: usize,
) -> Vec<(&'static str, Box<dyn Driver>, Start<'static>, bool)> {
    let fall = Start::at(0.0).q(&[0.1]).v(&[0.0]);
    let model = || ContactModel::new(BALL);
    let swing = DoublePendulum::default(); // against a wall, again and again
    macro_rules! with {
        ($driver:expr) => {
            Box::new(
                $driver
                    .unwrap()
                    .max_memory(memory)
                    .max_events(events)
                    .max_steps(steps),
            )
        };
    }
    vec![
        (
            "core",
            with!(Integrator::new(Hopper::default())),
            Start::at(0.0).x(&[1.1, 0.0]),
            false,
        ),
        (
            "event-driven",
            with!(EventDriven::new(model())),
            fall,
            false,
        ),
        ("variational", with!(Variational::new(model())), fall, true),
        (
            "compliant",
            with!(Compliant::new(swing).map(|driver| driver.time_step(1e-3).inelastic())),
            Start::at(0.0).q(&[1.0, 0.5]).v(&[0.0, 0.0]),
            true,
        ),
    ]
}

const LARGE: usize = usize::MAX >> 8;

#[test]
fn a_run_ends_with_its_memory() {
    for (name, mut driver, start, _) in limited(20_000, LARGE, LARGE) {
        let run = driver.integrate(&start, 20.0).unwrap();
        let is_full = matches!(
            run.status(),
            Status::Refused(Stop::RunTooLarge { limit: 20_000, at }) if at.t == run.t()
        );
        assert!(is_full && run.t() > 0.0, "{name}: {}", run.status());
        // Observed, it keeps nothing.
        let observed = driver.observe(&start, 20.0, &mut ()).unwrap();
        assert_eq!(observed.status, Status::ReachedEnd, "{name}");
    }
}

#[test]
fn a_run_ends_with_its_events() {
    for (name, mut driver, start, _) in limited(LARGE, 3, LARGE) {
        let run = driver.integrate(&start, 20.0).unwrap();
        let is_full = matches!(
            run.status(),
            Status::Refused(Stop::TooManyEvents { limit: 3, guard, .. }) if guard.event == 0
        );
        assert!(is_full, "{name}: {}", run.status());
        let found = run.events().len().max(run.crossings().len());
        assert!((3..=4).contains(&found), "{name}: {found}");
        // A live run goes on, with as many in each part.
        let mut live = driver.live(&start).unwrap();
        // The compliant driver takes energy from the pendulum, which comes to hang still.
        let parts = if name == "compliant" { 1 } else { 3 };
        for _ in 0..parts {
            let before = live.t();
            let ended = live.advance(20.0, &[]);
            assert!(
                matches!(ended, Err(Stop::TooManyEvents { .. })),
                "{name}: {ended:?}"
            );
            assert!(live.t() > before, "{name}");
        }
    }
}

#[test]
fn a_run_ends_with_its_steps() {
    for (name, mut driver, start, is_stepped) in limited(LARGE, LARGE, 20) {
        let run = driver.integrate(&start, 20.0);
        if is_stepped {
            // That is known before it begins.
            let refused = matches!(run, Err(InputError::BadSetting { .. }));
            assert!(refused, "{name}");
        } else {
            let run = run.unwrap();
            let is_full = matches!(
                run.status(),
                Status::Refused(Stop::TooManySteps { limit: 20, .. })
            );
            assert!(is_full, "{name}: {}", run.status());
        }
        let mut live = driver.live(&start).unwrap();
        for part in 1..4 {
            let before = live.t();
            let ended = live.advance(20.0, &[]);
            let is_full = matches!(ended, Err(Stop::TooManySteps { limit: 20, .. }));
            assert!(is_full && live.t() > before, "{name}: {ended:?}");
            if is_stepped {
                let expected = 0.02 * f64::from(part);
                assert!((live.t() - expected).abs() < 1e-12, "{name}: {}", live.t());
            }
        }
    }
}
