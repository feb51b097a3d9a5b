//! Impacts inside steps: reference runs, closed forms, order, double crossings, chatter.

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{BouncingBall, DoublePendulum, RockingBlock, SoftTrot};
use saltation::variational::{Chatter, VariationalFailure};
use saltation::{ContactEventKind, ContactModel, EventDriven, Start, Stop, Variational};

use crate::reference::{of, propagative};

#[test]
fn a_double_pendulum_against_a_wall_is_that_of_the_reference() {
    let rows = propagative("vi_pend2_wall");
    let find = |quantity: &str, i: &str, j: &str| {
        let mut found = of(&rows, quantity).filter(|row| row.i == i && row.j == j);
        found.next().unwrap().value()
    };
    let pendulum = DoublePendulum::default();
    let mut worst = Vec::new();
    for (name, h) in [
        ("0.02", 0.02),
        ("0.01", 0.01),
        ("0.005", 0.005),
        ("0.0025", 0.0025),
    ] {
        let mut driver = Variational::new(ContactModel::new(pendulum))
            .unwrap()
            .time_step(h);
        let run = driver
            .integrate(&Start::at(0.0).q(&[1.0, 0.5]).v(&[0.0; 2]), 1.5)
            .unwrap();
        let run = run.completed().unwrap();
        assert_eq!(run.events().len(), 1);
        let event = &run.events()[0];
        assert!((event.t - find("impact_time", name, "")).abs() < 1e-9);
        let end = run.state();
        for (i, j) in [(0, "1"), (1, "2")] {
            assert!((end[i] - find("q_T", name, j)).abs() < 1e-9);
            assert!((end[2 + i] - find("v_T", name, j)).abs() < 1e-9);
        }
        let steps = run.every(h).unwrap().states;
        let energies = steps.column_iter();
        let energies = energies.map(|x| driver.model().energy(x.as_slice()).unwrap());
        let energies: Vec<f64> = energies.collect();
        let deviation = energies.iter().fold(0.0f64, |most, energy| {
            most.max((energy - energies[0]).abs())
        });
        let expected = find("max_energy_deviation", name, "");
        assert!(
            (deviation - expected).abs() < 1e-9,
            "{deviation} {expected}"
        );
        // The kinetic energy of an elastic impact is kept.
        let kinetic = |state: &[f64]| {
            let mut mass = [0.0; 4];
            pendulum.mass(&state[..2], &mut mass);
            let v = &state[2..];
            0.5 * (mass[0] * v[0] * v[0] + 2.0 * mass[1] * v[0] * v[1] + mass[3] * v[1] * v[1])
        };
        let (before, after) = (kinetic(&event.state_before), kinetic(&event.state_after));
        assert!((before - after).abs() < 1e-13 * before.max(1.0));
        let error = [(0, "1"), (1, "2")].map(|(i, j)| {
            let v = end[2 + i] - find("v_T", "exact", j);
            (end[i] - find("q_T", "exact", j)).abs().max(v.abs())
        });
        worst.push(error[0].max(error[1]));
    }
    for pair in worst.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 2.0).abs() < 0.1, "{worst:?}");
    }
}

#[test]
fn a_ball_bounces_at_the_exact_times() {
    let ball = BouncingBall {
        restitution: 1.0,
        ..BouncingBall::default()
    };
    let mut driver = Variational::new(ContactModel::new(ball))
        .unwrap()
        .time_step(0.01);
    let run = driver
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 5.0)
        .unwrap()
        .completed()
        .unwrap();
    assert_eq!(run.events().len(), 6);
    for (n, event) in (1..).zip(run.events()) {
        assert!((event.t - ball.impact_time(1.0, n)).abs() < 1e-13, "{n}");
        assert_eq!(
            (&event.activated[..], event.mode_after.len()),
            (&[0][..], 0)
        );
    }
    for k in 0..run.times().len() {
        let energy = 0.5 * run.v(k)[0].powi(2) + 9.81 * run.q(k)[0];
        assert!((energy - 9.81).abs() < 2e-13);
    }
}

#[test]
fn an_elastic_ball_does_not_chatter() {
    // Steps that are longer than the time between impacts.
    let ball = BouncingBall {
        restitution: 1.0,
        ..BouncingBall::default()
    };
    let mut driver = Variational::new(ContactModel::new(ball))
        .unwrap()
        .time_step(0.95);
    let run = driver
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 9.5)
        .unwrap();
    let run = run.completed().unwrap();
    assert!(run.is_guaranteed() && run.phases().iter().all(|mode| mode.closed.is_empty()));
    let model = driver.model();
    assert!((model.energy(run.state().as_slice()).unwrap() - 9.81).abs() < 1e-12);
    assert_eq!(model.energy(&[1.0]), None);
}

#[test]
fn a_run_has_a_limit_of_memory() {
    let ball = BouncingBall::default();
    let mut driver = Variational::new(ContactModel::new(ball))
        .unwrap()
        .time_step(1e-3)
        .max_memory(3200);
    let run = driver
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 1.0)
        .unwrap();
    let Some(Stop::RunTooLarge { limit: 3200, at }) = run.status().stop() else {
        panic!("{}", run.status());
    };
    assert_eq!(at.t, run.t());
    // 24 bytes a node; 160 are kept free for the next step.
    assert_eq!(run.times().len(), 1 + (3200 - 160 - 24) / 24 + 1);
}

#[test]
fn several_bounces_within_one_step() {
    let ball = BouncingBall {
        restitution: 1.0,
        ..BouncingBall::default()
    };
    let rule = Some(Chatter::default().time(0.0).impacts(usize::MAX));
    let mut driver = Variational::new(ContactModel::new(ball))
        .unwrap()
        .time_step(1.0)
        .chatter(rule);
    // 1 mm: 28.6 ms between bounces.
    let run = driver
        .integrate(&Start::at(0.0).q(&[1e-3]).v(&[0.0]), 1.0)
        .unwrap()
        .completed()
        .unwrap();
    let expected = (1..1000)
        .take_while(|&n| ball.impact_time(1e-3, n) < 1.0)
        .count();
    assert!(expected > 30);
    assert_eq!(run.events().len(), expected);
    for (n, event) in (1..).zip(run.events()) {
        assert!((event.t - ball.impact_time(1e-3, n)).abs() < 1e-11, "{n}");
    }
}

#[test]
fn chatter_comes_to_rest_when_the_reference_says() {
    let ball = BouncingBall {
        restitution: 0.5,
        ..BouncingBall::default()
    };
    for (h, rest) in [
        (0.02, 1.34046),
        (0.01, 1.34752),
        (0.005, 1.35104),
        (0.001, 1.35369),
    ] {
        let mut driver = Variational::new(ContactModel::new(ball))
            .unwrap()
            .time_step(h);
        let run = driver
            .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 2.0)
            .unwrap()
            .completed()
            .unwrap();
        let last = run.events().last().unwrap();
        assert!((last.t - rest).abs() < 1e-5, "{} {rest}", last.t);
        assert_eq!(last.mode_after, [0]);
        assert!(!run.is_guaranteed());
        assert!(run.state()[0].abs() < 1e-14 && run.state()[1].abs() < 1e-14);
    }
    // Without the rule impacts are followed down to the tolerance of rates.
    let followed = |most: usize| {
        let driver = Variational::new(ContactModel::new(ball))
            .unwrap()
            .time_step(0.01)
            .chatter(None);
        driver
            .max_impacts(most)
            .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 2.0)
            .unwrap()
    };
    let run = followed(50).completed().unwrap();
    assert!((run.events().last().unwrap().t - ball.accumulation(1.0)).abs() < 1e-8);
    assert!(!run.is_guaranteed() && run.events().len() > 25);
    // An early end keeps all states so far.
    let run = followed(15);
    assert!(
        matches!(
            run.status().reason(),
            Some(VariationalFailure::TooManyImpacts { limit: 15, .. })
        ),
        "{}",
        run.status()
    );
    assert!(run.times().len() > 130 && (run.t() - 1.35).abs() < 0.011);
}

/// A point that flies over a hump of the floor, `y = −(x − 1)²`.
struct Hump;

impl MechanicalSystem for Hump {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
    }
}

impl UnilateralConstraints for Hump {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1] + (q[0] - 1.0).powi(2)
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        1.0
    }
}

#[test]
fn a_hump_within_one_step_is_not_passed_through() {
    for h in [2.0, 0.7, 0.3] {
        for depth in [1e-2, 1e-4, 1e-6] {
            let mut driver = Variational::new(ContactModel::new(Hump))
                .unwrap()
                .time_step(h);
            let run = driver
                .integrate(&Start::at(0.0).q(&[0.0, -depth]).v(&[1.0, 0.0]), 2.0)
                .unwrap();
            let run = run.completed().unwrap();
            assert_eq!(run.events().len(), 1, "{h} {depth}");
            assert!((run.events()[0].t - (1.0 - f64::sqrt(depth))).abs() < 1e-9);
        }
        let mut driver = Variational::new(ContactModel::new(Hump))
            .unwrap()
            .time_step(h);
        let run = driver
            .integrate(&Start::at(0.0).q(&[0.0, 1e-6]).v(&[1.0, 0.0]), 2.0)
            .unwrap();
        assert!(run.completed().unwrap().events().is_empty());
    }
}

#[test]
fn event_driven_and_variational_runs_agree_with_order_two() {
    let (q, v) = SoftTrot::default().start(0.01);
    let mut simulation = EventDriven::new(ContactModel::new(SoftTrot::default())).unwrap();
    simulation = simulation.rtol(1e-11).atol(1e-12);
    let exact = simulation
        .integrate(&Start::at(0.0).q(&q).v(&v), 0.65)
        .unwrap()
        .completed()
        .unwrap();
    let mut errors = Vec::new();
    for steps in [130.0, 260.0, 520.0] {
        let mut driver = Variational::new(ContactModel::new(SoftTrot::default()))
            .unwrap()
            .time_step(0.65 / steps);
        let run = driver
            .integrate(&Start::at(0.0).q(&q).v(&v), 0.65)
            .unwrap()
            .completed()
            .unwrap();
        let state = exact.state();
        let error = run.state().iter().zip(state.iter());
        errors.push(error.fold(0.0f64, |most, (a, b)| most.max((a - b).abs())));
        assert_eq!(run.events().len(), exact.events().len());
    }
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 2.0).abs() < 0.15, "{errors:?}");
    }
}

/// Two balls that know nothing of each other, with restitution 1/2.
struct TwoBalls;

impl MechanicalSystem for TwoBalls {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(-10.0);
    }
}

impl UnilateralConstraints for TwoBalls {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[j]
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        0.5
    }
}

/// The first ball hits the floor at 1/8 s and at 1/4 s, too soon; the second one at 1/4 s too.
#[test]
fn a_ball_that_chatters_takes_no_rebound_from_another() {
    let mut driver = Variational::new(ContactModel::new(TwoBalls))
        .unwrap()
        .time_step(0.01)
        .chatter(Some(Chatter::default().time(0.2)));
    let fall = |t: f64| 0.5 * 10.0 * t * t;
    let run = driver.integrate(
        &Start::at(0.0).q(&[fall(0.125), fall(0.25)]).v(&[0.0; 2]),
        0.3,
    );
    let run = run.unwrap().completed().unwrap();
    let last = run.events().last().unwrap();
    assert_eq!(
        (&last.activated[..], &last.mode_after[..]),
        (&[0, 1][..], &[0][..])
    );
    let (v, expected) = (&run.state().as_slice()[2..], 0.5 * 2.5 - 10.0 * 0.05);
    assert!(
        v[0] == 0.0 && (v[1] - expected).abs() < 1e-9,
        "{v:?} {expected}"
    );
}

/// A body that does not rebound stays by the law: that is no accumulation, however long the steps
/// are, and the run is guaranteed.
#[test]
fn impacts_without_a_rebound_are_no_chatter() {
    for step in [0.01, 0.05, 0.3] {
        let block = RockingBlock {
            friction: 0.0,
            ..RockingBlock::default()
        };
        let model = ContactModel::new(block).frictionless();
        let mut driver = Variational::new(model).unwrap().time_step(step);
        let (q, v) = block.pivoting(0.1, 0.0);
        let raised: Vec<f64> = (0..q.len())
            .map(|i| if i == 1 { q[i] + 0.05 } else { q[i] })
            .collect();
        let run = driver
            .integrate(&Start::at(0.0).q(&raised).v(&v), 0.3)
            .unwrap();
        let kinds = run.events().iter().map(|event| event.kind);
        assert!(
            kinds
                .into_iter()
                .all(|kind| kind != ContactEventKind::ZenoAbsorbed),
            "{step}"
        );
    }
}

/// Coefficients beyond one are taken where the model says so, and refused by the setter that does.
#[test]
fn any_restitution_is_that_of_the_model() {
    let lively = BouncingBall {
        restitution: 1.2,
        ..BouncingBall::default()
    };
    let start = Start::at(0.0).q(&[0.1]).v(&[0.0]);
    let mut driver = Variational::new(ContactModel::new(lively)).unwrap();
    let refused = driver.integrate(&start, 1.0).unwrap_err().to_string();
    assert!(
        refused.contains("ContactModel::any_restitution"),
        "{refused}"
    );
    let mut driver = Variational::new(ContactModel::new(lively).any_restitution()).unwrap();
    let run = driver.integrate(&start, 0.3).unwrap().completed().unwrap();
    let impact = &run.events()[0];
    assert!((impact.state_after[1] + 1.2 * impact.state_before[1]).abs() < 1e-12);
}
