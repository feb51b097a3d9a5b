//! Time has no origin: balls that bounce late, up to three hundred years after zero, bounce as at zero, but for the way
//! that they go between two times that are told apart.

use saltation::event_driven::Zeno;
use saltation::models::BouncingBall;
use saltation::{ContactEventKind, ContactModel, EventDriven, Start, Status};

use crate::random::SplitMix64;

/// The state of a ball after a time, and the number of its bounces; none where they get too many.
fn bounced(ball: BouncingBall, [mut z, mut v]: [f64; 2], time: f64) -> Option<([f64; 2], u32)> {
    let (g, mut left) = (ball.gravity, time);
    for bounces in 0..40 {
        let flight = (v + (v * v + 2.0 * g * z).sqrt()) / g;
        if flight > left {
            let end = [z + v * left - 0.5 * g * left * left, v - g * left];
            return (left > 1e-4).then_some((end, bounces));
        }
        left -= flight;
        (z, v) = (0.0, -ball.restitution * (v - g * flight));
    }
    None
}

#[test]
fn balls_bounce_late_as_they_do_at_zero() {
    let mut compared = 0;
    for t0 in [0.0, 1e6, 1e8, 1e9, 1.7e9, 1e10] {
        for seed in 0..60 {
            let mut draw = SplitMix64(seed);
            let ball = BouncingBall {
                restitution: draw.between(0.3, 1.0),
                ..BouncingBall::default()
            };
            let from = [draw.between(0.2, 2.0), draw.between(-2.0, 2.0)];
            let end = t0 + draw.between(0.5, 1.5);
            let Some((exact, bounces)) = bounced(ball, from, end - t0) else {
                continue;
            };
            let mut driver = EventDriven::new(ContactModel::new(ball)).unwrap();
            driver = driver.zeno(Zeno::Absorb);
            let start = Start::at(t0).q(&from[..1]).v(&from[1..]);
            let run = driver.integrate(&start, end).unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd, "{t0} {seed}");
            let off = (0..2).map(|i| (run.state()[i] - exact[i]).abs());
            let allowed = 1e-5 + 30.0 * f64::from(bounces + 1) * f64::EPSILON * t0;
            assert!(
                off.fold(0.0, f64::max) < allowed,
                "{t0} {seed} {}",
                run.state()
            );
            compared += 1;
        }
    }
    assert!(compared > 250, "{compared}");
}

/// Bounces get shorter than the times that are told apart. The limit of their times is `t_1 (1 + γ)/(1 − γ)`.
#[test]
fn balls_come_to_rest_late_as_they_do_at_zero() {
    for t0 in [0.0, 1e8, 1e9, 1.7e9, 1e10, 3e10] {
        for seed in 0..150 {
            let mut draw = SplitMix64(seed);
            let ball = BouncingBall {
                restitution: draw.between(0.05, 0.97),
                ..BouncingBall::default()
            };
            let (g, e, height) = (ball.gravity, ball.restitution, draw.between(0.2, 2.0));
            let limit = (2.0 * height / g).sqrt() * (1.0 + e) / (1.0 - e);
            let span = limit * draw.between(1.05, 2.0);
            let mut driver = EventDriven::new(ContactModel::new(ball)).unwrap();
            driver = driver.zeno(Zeno::Absorb);
            let from = [height];
            let start = Start::at(t0).q(&from).v(&[0.0]);
            let run = driver.integrate(&start, t0 + span).unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd, "{t0} {seed}");
            assert!(run.state()[0].abs() < 1e-12, "{t0} {seed} {}", run.state());
            assert!(run.state()[1].abs() < 1e-12, "{t0} {seed}");
            let rests = run.events().last().unwrap();
            assert_eq!(rests.kind, ContactEventKind::ZenoAbsorbed, "{t0} {seed}");
            let off = (rests.t - t0 - limit).abs();
            assert!(
                off < 2e-6 * span + 200.0 * f64::EPSILON * t0,
                "{t0} {seed} {off:e}"
            );
        }
    }
}
