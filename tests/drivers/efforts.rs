//! Efforts of a live run beside those of the model.

use saltation::event_driven::Zeno;
use saltation::models::{BouncingBall, SlidingBlock};
use saltation::{
    Compliant, ContactModel, Driver, EventDriven, Interrupt, Start, Stop, Variational,
};

use super::fixtures::cases;

/// A ball that is thrown by an effort moves as under another gravity.
#[test]
fn a_constant_effort_is_another_gravity() {
    let ball = BouncingBall::default();
    let (height, push) = (1.0, 3.0 * ball.mass);
    let exact = |t: f64| height + 0.5 * (push / ball.mass - ball.gravity) * t * t;
    let model = || ContactModel::new(ball);
    let elastic = BouncingBall {
        restitution: 0.0,
        ..ball
    };
    let drivers: [(Box<dyn Driver>, f64); 3] = [
        (
            Box::new(EventDriven::new(model()).unwrap().rtol(1e-10)),
            1e-9,
        ),
        (Box::new(Variational::new(model()).unwrap()), 1e-9),
        (
            Box::new(Compliant::new(elastic).unwrap().time_step(1e-4)),
            1e-3,
        ),
    ];
    for (number, (mut driver, tolerance)) in drivers.into_iter().enumerate() {
        let mut live = driver.live(&Start::at(0.0).q(&[height]).v(&[0.0])).unwrap();
        live.advance(0.2, &[push]).unwrap();
        live.advance(0.4, &[push]).unwrap();
        let apart = (live.state()[0] - exact(live.t())).abs();
        assert!(apart < tolerance, "driver {number}: {apart} {live:?}");
        assert!(matches!(
            live.advance(0.5, &[push, 0.0]),
            Err(Stop::Input(_))
        ));
        assert!(matches!(
            live.advance(0.5, &[f64::NAN]),
            Err(Stop::Input(_))
        ));
        drop(live);
        // The effort belonged to the live run.
        let run = driver
            .integrate(&Start::at(0.0).q(&[height]).v(&[0.0]), 0.3)
            .unwrap();
        let free = height - 0.5 * ball.gravity * 0.09;
        assert!((run.state()[0] - free).abs() < 1e-3);
    }
}

/// A ball at rest on the floor is lifted off and set down: closed contacts are decided anew when
/// the effort changes.
#[test]
fn a_ball_at_rest_is_lifted_off() {
    let ball = BouncingBall {
        restitution: 0.0,
        ..BouncingBall::default()
    };
    let weight = ball.mass * ball.gravity;
    let drivers: [Box<dyn Driver>; 3] = [
        Box::new(
            EventDriven::new(ContactModel::new(ball))
                .unwrap()
                .zeno(Zeno::Absorb),
        ),
        Box::new(Variational::new(ContactModel::new(ball)).unwrap()),
        Box::new(Compliant::new(ball).unwrap().time_step(1e-3)),
    ];
    for (number, mut driver) in drivers.into_iter().enumerate() {
        let mut live = driver.live(&Start::at(0.0).q(&[0.0]).v(&[0.0])).unwrap();
        live.advance(0.1, &[0.5 * weight]).unwrap();
        assert!(
            live.state()[0].abs() < 1e-3 && live.state()[1].abs() < 1e-3,
            "driver {number}"
        );
        assert_eq!(live.contacts().count(), 1, "driver {number}");
        let lifted = live.integrate(0.4, &[2.0 * weight]).unwrap();
        assert_eq!(live.contacts().count(), 0, "driver {number}");
        let height = 0.5 * ball.gravity * 0.09;
        assert!(
            (live.state()[0] - height).abs() < 5e-3,
            "driver {number}: {:?}",
            live.state()
        );
        assert_eq!(
            lifted.events_of(0).count(),
            1,
            "driver {number}: {:?}",
            lifted.events()
        );
        assert_eq!(lifted.events()[0].released, [0]);
        // It flies on for 0.3 s, falls back, and stays.
        live.advance(1.6, &[]).unwrap();
        assert!(
            live.state()[0].abs() < 1e-3 && live.contacts().count() == 1,
            "driver {number}"
        );
    }
}

/// Efforts held over many short parts keep a sliding block at its speed.
#[test]
fn a_block_is_pushed_against_friction() {
    let block = SlidingBlock::default();
    let law = saltation::impact::AnitescuPotra::new();
    let model = ContactModel::with_law(block, law);
    let drivers: [Box<dyn Driver>; 2] = [
        Box::new(Variational::new(model).unwrap()),
        Box::new(Compliant::new(block).unwrap().time_step(1e-3)),
    ];
    let friction = block.friction * block.mass * block.gravity;
    for mut driver in drivers {
        let mut live = driver
            .live(&Start::at(0.0).q(&[0.0, 0.0]).v(&[1.0, 0.0]))
            .unwrap();
        for k in 1..=50 {
            live.advance(0.01 * f64::from(k), &[friction, 0.0]).unwrap();
        }
        assert!((live.state()[2] - 1.0).abs() < 1e-2, "{:?}", live.state());
        assert!((live.state()[0] - 0.5).abs() < 1e-2);
    }
}

/// Only bodies have efforts.
#[test]
fn systems_without_bodies_take_no_effort() {
    for case in cases() {
        let mut driver = (case.driver)(&Interrupt::new());
        let mut live = driver.live(&case.start()).unwrap();
        let effort = vec![0.0; case.v.len()];
        assert_eq!(
            live.advance(0.1 * case.tf, &effort),
            Ok(()),
            "{}",
            case.name
        );
        let long = vec![0.0; case.v.len() + 1];
        let refused = live.advance(0.2 * case.tf, &long);
        assert!(matches!(refused, Err(Stop::Input(_))), "{}", case.name);
    }
}
