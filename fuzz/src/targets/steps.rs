//! The compliant driver: steps and runs of any bodies, every setting, derivatives of runs.

use saltation::compliant::StepFriction;
use saltation::compliant::{
    CompliantFailure, Scheme, Sleep, Softness, Solver, StepStatistics, StepTimes,
};
use saltation::mechanics::MechanicalSystem;
use saltation::nalgebra::DMatrix;
use saltation::{Compliant, Interrupt, Start};

use super::{kept, live};
use crate::body::Body;
use crate::draw::Draw;
use crate::trial::Trial;

pub fn run(mut draw: Draw, trial: &mut Trial) {
    let body = Body::new(&mut draw, 4, 4);
    let (q, v) = body.place(&mut draw);
    let Some(mut stepper) = trial.door("stepper", Compliant::new(body)) else {
        return;
    };
    let dt = if draw.chance(0.05) {
        draw.number()
    } else {
        draw.decades(-4.0, -1.0)
    };
    let scheme = *draw.pick(&[
        Scheme::SymplecticEuler,
        Scheme::ImplicitEuler,
        Scheme::Midpoint,
        Scheme::ExplicitEuler,
    ]);
    trial.note(
        "weights",
        &(scheme.effort_weight(), scheme.velocity_weight()),
    );
    stepper = stepper.time_step(dt).scheme(scheme);
    if draw.chance(0.7) {
        stepper = stepper.inelastic();
    }
    if draw.chance(0.4) {
        stepper = stepper.frictionless();
    }
    if draw.chance(0.5) {
        stepper = stepper.friction(if draw.chance(0.5) {
            StepFriction::Cone
        } else {
            StepFriction::Lagged {
                slip: 1e-3 * draw.positive(),
            }
        });
    }
    if draw.chance(0.3) {
        let mut softness = Softness::default();
        softness.near_rigid = draw.part();
        stepper = stepper.softness(softness).solver(Solver::new().rtol(1e-9));
    }
    if draw.chance(0.2) {
        let margin = draw.part();
        stepper = stepper
            .slowest_rebound(draw.positive())
            .least_margin(margin)
            .max_memory(draw.size(10_000));
    }
    if draw.chance(0.4) {
        // In a few steps, of what is slow at last.
        stepper = stepper.sleep(Sleep {
            speed: draw.decades(-4.0, 4.0),
            time: dt * draw.number(),
        });
    }
    if draw.chance(0.02) {
        let interrupt = Interrupt::new();
        interrupt.set();
        stepper = stepper.interrupt(&interrupt);
    }
    let t0 = draw.number();
    if trial.is_second {
        // what was run before does not matter
        let _ = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 5.0 * dt);
    }
    match draw.below(3) {
        0 => single(&mut draw, trial, &mut stepper, (t0, &q, &v)),
        1 => {
            let tf = t0 + dt * draw.below(20) as f64;
            let whole = stepper.integrate(&Start::at(t0).q(&q).v(&v), tf);
            let Some(whole) = trial.door("run", whole) else {
                return;
            };
            kept::look(trial, &mut draw, &whole, (t0, tf));
            let statistics: &StepStatistics = stepper.statistics();
            trial.note("counts", statistics);
            // The last one may have been made in vain.
            let steps = whole.statistics().steps;
            let vain = statistics.steps.wrapping_sub(steps);
            trial.expect(vain <= 1, || format!("{steps} steps"));
            live::balance(trial, stepper.energy_balance(&whole));
            live::look(trial, &mut draw, &mut stepper, (t0, &q, &v, tf));
            let found = stepper.derivative(&Start::at(t0).q(&q).v(&v), tf);
            if let Some(found) = trial.door("derivative", found) {
                live::derivative(trial, &found);
            }
        }
        _ => {
            let tf = t0 + dt * draw.below(10) as f64;
            let n = stepper.system().dof();
            let directions = DMatrix::from_fn(2 * n, draw.whole(1, 2), |_, _| draw.number());
            let found = stepper.sensitivities(&Start::at(t0).q(&q).v(&v), tf, &directions);
            if let Some((whole, columns)) = trial.door("sensitivities", found) {
                kept::look(trial, &mut draw, &whole, (t0, tf));
                trial.note("columns", columns.as_slice());
            }
        }
    }
}

/// Steps one by one, with efforts and along directions.
fn single(
    draw: &mut Draw,
    trial: &mut Trial,
    stepper: &mut Compliant<Body>,
    (t0, q, v): (f64, &[f64], &[f64]),
) {
    if trial
        .door("start", stepper.start(&Start::at(t0).q(q).v(v)))
        .is_none()
    {
        return;
    }
    let n = stepper.system_mut().dof();
    for _ in 0..draw.below(10) {
        let length = draw.length(n);
        let effort = draw.numbers(length);
        let done: Result<(), CompliantFailure> = match draw.below(3) {
            0 => stepper.step(),
            1 => stepper.step_with(&effort),
            _ => {
                let mut columns = DMatrix::from_fn(2 * n, 1, |_, _| draw.number());
                let efforts = DMatrix::from_fn(n, 1, |_, _| draw.number());
                let done = stepper.step_along(&effort, &mut columns, &efforts);
                trial.note("columns", columns.as_slice());
                done
            }
        };
        if trial.door("step", done).is_none() {
            break;
        }
        trial.note("t", &stepper.t());
        trial.note("q", stepper.q());
        trial.finite("q", stepper.q());
        trial.finite("v", stepper.v());
        asleep(draw, trial, stepper);
        trial.note("contacts", &stepper.contacts().len());
        trial.note("problem", &stepper.problem().contacts());
        trial.note("converged", &stepper.solution().is_converged());
        trial.note("energy", &stepper.energy());
        trial.note("statistics", stepper.statistics());
    }
    let times: &StepTimes = stepper.times();
    let parts = [times.motion, times.geometry, times.build, times.solve];
    trial.expect(parts.iter().all(|part| part.as_secs() < 100), || {
        format!("{times:?}")
    });
}

/// What sleeps has no velocity, and wakes when it is told to.
fn asleep(draw: &mut Draw, trial: &mut Trial, stepper: &mut Compliant<Body>) {
    let asleep = stepper.asleep().to_vec();
    trial.note("asleep", &asleep);
    let body = stepper.system();
    for tree in (0..asleep.len()).filter(|tree| asleep[*tree]) {
        let v = &stepper.v()[body.tree(tree)];
        let speed = body.tree_speed(tree, stepper.q(), v);
        trial.expect(speed == 0.0, || format!("{tree} sleeps with {speed}"));
    }
    if draw.chance(0.2) {
        let tree = draw.below(4);
        let slept = asleep.get(tree).copied().unwrap_or(false);
        let woke = stepper.wake(tree);
        trial.expect(woke == slept, || format!("{tree} woke: {woke}"));
    }
    if draw.chance(0.1) {
        stepper.wake_all();
        trial.expect(stepper.asleep().is_empty(), || "asleep".to_owned());
    }
}
