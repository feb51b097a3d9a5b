//! Motors against closed forms of the discrete steps.

use saltation::Start;
use saltation::compliant::{JointFriction, Motor, MotorGoal, StepState};

use super::axes::least;
use super::systems::Sliders;

const DT: f64 = 0.01;

fn at(position: f64) -> MotorGoal {
    MotorGoal {
        position,
        ..MotorGoal::default()
    }
}

/// Under a load the motor stays behind its goal by `F/K_p`, whatever the step.
#[test]
fn a_loaded_motor_stays_behind_its_goal() {
    for dt in [1e-3, 1e-2, 1e-1] {
        let motor = Motor::new(0).gains(200.0, 30.0).goal(at(0.5));
        let mut stepper = Sliders::new(&[2.0], &[-7.0]).with(dt, motor);
        let run = stepper
            .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 10.0)
            .expect("input");
        let run = run.completed().expect("completed");
        let behind = 0.5 - run.state()[0];
        assert!(
            (behind / (7.0 / 200.0) - 1.0).abs() < 1e-9,
            "{dt}: {behind}"
        );
        assert!((stepper.solution().row_impulses()[0] / (dt * 7.0) - 1.0).abs() < 1e-9);
    }
}

/// One step of a motor is the implicit step of a spring and a damper.
#[test]
fn a_step_is_implicit() {
    let (m, kp, kd, dt) = (2.0, 50.0, 4.0, 0.05);
    let goal = MotorGoal {
        position: 0.5,
        velocity: -0.2,
        effort: 1.5,
    };
    let motor = Motor::new(0).gains(kp, kd).goal(goal);
    let mut stepper = Sliders::new(&[m], &[0.7]).with(dt, motor);
    stepper
        .start(&Start::at(0.0).q(&[0.1]).v(&[0.3]))
        .expect("start");
    stepper.step().expect("a step");
    let force = 0.7 + kp * (0.5 - 0.1) + kd * -0.2 + 1.5;
    let expected = (m * 0.3 + dt * force) / (m + dt * (dt * kp + kd));
    assert!((stepper.v()[0] - expected).abs() < 1e-13);
}

/// A motor at its limit gives exactly that, both ways.
#[test]
fn a_motor_at_its_limit_gives_exactly_that() {
    for sign in [1.0, -1.0] {
        let motor = Motor::new(0).gains(1e4, 10.0).goal(at(sign * 100.0));
        let motor = motor.effort_limit(8.0);
        let mut stepper = Sliders::new(&[2.0], &[1.0]).with(DT, motor);
        let run = stepper
            .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 1.0)
            .expect("input");
        let run = run.completed().expect("completed");
        for k in 0..run.times().len() {
            let exact = (sign * 4.0 + 0.5) * run.times()[k];
            assert!((run.v(k)[0] - exact).abs() < 1e-12);
        }
    }
}

/// Gains far beyond what the step resolves: both are scaled down, the motion is stable, and the
/// error under a load is that of the scaled gain.
#[test]
fn stiff_gains_are_limited_and_stable() {
    let (mass, load, dt) = (2.0, -7.0, 0.1);
    let (kp, kd) = (1e9, 1e8);
    let motor = Motor::new(0).gains(kp, kd).goal(at(0.5));
    let mut stepper = Sliders::new(&[mass], &[load]).with(dt, motor.clone());
    // Tuned far off, it still decays: by the ratio K_d/(dt K_p + K_d) a step.
    let run = stepper
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 40.0)
        .expect("input");
    let run = run.completed().expect("completed");
    let kept = 1.0 / (dt * (dt * kp + kd) * least(1.0 / mass));
    let behind = 0.5 - run.state()[0];
    assert!(
        (behind / (-load / (kept * kp)) - 1.0).abs() < 1e-6,
        "{behind:e}"
    );
    let ratio = (run.q(10)[0] - run.q(9)[0]) / (run.q(9)[0] - run.q(8)[0]);
    assert!((ratio - kd / (dt * kp + kd)).abs() < 1e-3, "{ratio}");
    // Without the limit the gains are as given.
    let mut stepper = Sliders::new(&[mass], &[load]).with(dt, motor.near_rigid(0.0));
    let run = stepper
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 40.0)
        .expect("input");
    let behind = 0.5 - run.completed().expect("completed").state()[0];
    assert!((behind / (-load / kp) - 1.0).abs() < 1e-4, "{behind:e}");
}

/// A feed-forward effort cancels a load, with and without gains, and is limited like the rest.
#[test]
fn feed_forward_cancels_a_load() {
    for gains in [(0.0, 0.0), (10.0, 0.0), (0.0, 3.0), (1e12, 1e12)] {
        let goal = MotorGoal {
            position: 0.1,
            velocity: 0.0,
            effort: 7.0,
        };
        let motor = Motor::new(0).gains(gains.0, gains.1).goal(goal);
        let mut stepper = Sliders::new(&[2.0], &[-7.0]).with(DT, motor.clone());
        let run = stepper
            .integrate(&Start::at(0.0).q(&[0.1]).v(&[0.0]), 1.0)
            .expect("input");
        let run = run.completed().expect("completed");
        assert!((run.state()[0] - 0.1).abs() < 1e-12 && run.state()[1].abs() < 1e-12);
        let mut stepper = Sliders::new(&[2.0], &[-7.0]).with(DT, motor.effort_limit(5.0));
        stepper
            .start(&Start::at(0.0).q(&[0.1]).v(&[0.0]))
            .expect("start");
        stepper.step().expect("a step");
        assert!(
            (stepper.v()[0] - DT * -2.0 / 2.0).abs() < 1e-14,
            "{gains:?}"
        );
    }
}

/// A velocity goal alone: the speed settles at `v_d + F/K_d`.
#[test]
fn a_motor_drives_at_a_speed() {
    let goal = MotorGoal {
        velocity: 1.5,
        ..MotorGoal::default()
    };
    let motor = Motor::new(0).gains(0.0, 40.0).goal(goal);
    let mut stepper = Sliders::new(&[2.0], &[-7.0]).with(DT, motor);
    let run = stepper
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 3.0)
        .expect("input");
    let speed = run.completed().expect("completed").state()[1];
    assert!((speed - (1.5 - 7.0 / 40.0)).abs() < 1e-9);
}

/// A goal as a function of the start of the step, and the same goals set between steps, give the
/// same bits.
#[test]
fn goals_by_a_function_and_between_steps_are_the_same() {
    let path = |t: f64| MotorGoal {
        position: (3.0 * t).sin(),
        velocity: 3.0 * (3.0 * t).cos(),
        effort: 0.0,
    };
    let motor = || Motor::new(0).gains(300.0, 20.0).effort_limit(50.0);
    let follow = motor().follow(move |state: &StepState<'_>| path(state.t + state.dt));
    let mut first = Sliders::new(&[2.0], &[-7.0]).with(DT, follow);
    let mut second = Sliders::new(&[2.0], &[-7.0])
        .with(DT, JointFriction::new(0, 0.0))
        .term(motor());
    assert!(second.term_mut::<Motor>(0).is_none() && second.term_mut::<Motor>(2).is_none());
    first
        .start(&Start::at(0.0).q(&[0.0]).v(&[0.0]))
        .expect("start");
    second
        .start(&Start::at(0.0).q(&[0.0]).v(&[0.0]))
        .expect("start");
    let mut worst: f64 = 0.0;
    for k in 0..300 {
        first.step().expect("a step");
        let t = second.t();
        let held = second.term_mut::<Motor>(1).expect("a motor");
        held.set_goal(path(t + DT));
        second.step().expect("a step");
        assert_eq!((first.q(), first.v()), (second.q(), second.v()), "{k}");
        if k > 100 {
            worst = worst.max((first.q()[0] - path(first.t()).position).abs());
        }
    }
    // (m a + load)/K_p, and the delay of the damping
    assert!(worst < (2.0 * 9.0 + 7.0) / 300.0 * 1.5, "{worst}");
}

/// An arm pushes a box that rubs on the ground: arm, contact and friction are solved together, and
/// both move with the force that is left.
#[test]
fn an_arm_pushes_a_box() {
    let (arm, load, effort, rub) = (3.0, 5.0, 20.0, 8.0);
    let motor = Motor::new(0)
        .gains(1e5, 0.0)
        .goal(at(1e3))
        .effort_limit(effort);
    let mut stepper = Sliders::new(&[arm, load], &[0.0; 2])
        .pushing(0, 1, 0.2)
        .with(DT, motor)
        .term(JointFriction::new(1, rub));
    let run = stepper.integrate(&Start::at(0.0).q(&[0.0, 0.25]).v(&[0.0; 2]), 2.0);
    let run = run.expect("input").completed().expect("completed");
    let late = run.times().len() - 1;
    let rate = (effort - rub) / (arm + load);
    for body in 0..2 {
        let found = (run.v(late)[body] - run.v(late - 50)[body]) / (50.0 * DT);
        assert!((found / rate - 1.0).abs() < 1e-9, "{found} {rate}");
    }
    let push = stepper.solution().impulses()[0][0] / DT;
    assert!((push - (rub + load * rate)).abs() < 1e-8, "{push}");
    assert_eq!(stepper.solution().islands().len(), 1);
    // A weaker motor does not move the box.
    let motor = Motor::new(0)
        .gains(1e5, 0.0)
        .goal(at(1e3))
        .effort_limit(0.9 * rub);
    let mut stepper = Sliders::new(&[arm, load], &[0.0; 2])
        .pushing(0, 1, 0.2)
        .with(DT, motor)
        .term(JointFriction::new(1, rub));
    let run = stepper.integrate(&Start::at(0.0).q(&[0.0, 0.2]).v(&[0.0; 2]), 2.0);
    let run = run.expect("input").completed().expect("completed");
    let creep = 1e-3 / load * DT * 0.9 * rub;
    assert!(
        (run.state()[3] / creep - 1.0).abs() < 1e-6,
        "{:e}",
        run.state()[3]
    );
}
