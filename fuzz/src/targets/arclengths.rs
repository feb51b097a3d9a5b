//! Runs of random bodies with friction in the plane, the accumulations of their impacts, and time as a
//! state.

use saltation::event_driven::{Arclength, Zeno};
use saltation::impact::Remark;
use saltation::mechanics::{MechanicalSystem, Painleve};
use saltation::models::{RockingBlock, SlidingRod};
use saltation::{ContactModel, EventDriven, Interrupt, Start};

use super::bodies::{driven, time};
use crate::draw::Draw;
use crate::laws::{law, selection};
use crate::trial::Trial;

pub fn run(mut draw: Draw, trial: &mut Trial) {
    match draw.below(4) {
        0 => {
            let model = driven(&mut draw, 4, 4);
            trial.note("body", model.system());
            let (q, v) = model.system().place(&mut draw);
            go(&mut draw, trial, model, (&q, &v));
        }
        1 => {
            let rod = SlidingRod {
                friction: 2.0 * draw.part(),
                ..SlidingRod::default()
            };
            let (q, v) = rod.sliding(draw.between(0.1, 1.5), draw.between(-5.0, 5.0));
            let model = ContactModel::with_law(rod, law(&mut draw)).selection(selection(&mut draw));
            go(&mut draw, trial, model, (&q, &v));
        }
        _ => {
            let block = RockingBlock {
                width: draw.between(0.1, 2.0),
                height: draw.between(0.1, 2.0),
                friction: 2.0 * draw.part(),
                ..RockingBlock::default()
            };
            let (mut q, mut v) = block.pivoting(draw.between(-0.5, 0.5), draw.between(-2.0, 2.0));
            if draw.chance(0.5) {
                q[1] += draw.part();
                v[0] += draw.between(-2.0, 2.0);
            }
            let model =
                ContactModel::with_law(block, law(&mut draw)).selection(selection(&mut draw));
            go(&mut draw, trial, model, (&q, &v));
        }
    }
}

fn go<S>(draw: &mut Draw, trial: &mut Trial, model: ContactModel<S>, (q, v): (&[f64], &[f64]))
where
    S: MechanicalSystem + saltation::mechanics::UnilateralConstraints,
{
    let model = if draw.chance(0.5) {
        model.painleve(Painleve::Impact)
    } else {
        model
    };
    let Some(driver) = trial.door("driver", EventDriven::new(model)) else {
        return;
    };
    let mut driver = driver.zeno(Zeno::Absorb);
    if draw.chance(0.5) {
        let rtol: f64 = *draw.pick(&[1e-3, 1e-6, 1e-9, 0.0]);
        driver = driver.rtol(rtol).atol(0.01 * rtol);
    }
    if draw.chance(0.7) {
        let tolerance: f64 = *draw.pick(&[1e-1, 1e-3, 1e-6, 1e-9]);
        driver = driver.zeno_tolerance(tolerance * draw.positive());
    }
    if draw.chance(0.1) {
        let step = draw.positive();
        driver = driver.configure(|integrator| integrator.max_step(step));
    }
    let interrupt = Interrupt::new();
    if draw.chance(0.02) {
        interrupt.set();
    }
    driver = driver
        .max_steps(1500)
        .max_events(200)
        .max_memory(1 << 24)
        .interrupt(&interrupt);
    let (t0, tf) = time(draw);
    trial.note("start", &(t0, q, v, tf));
    let made = driver.integrate(&Start::at(t0).q(q).v(v), tf);
    let Some(run) = trial.result("run", made) else {
        return;
    };
    for event in run.events() {
        for remark in &event.remarks {
            if let Remark::Accumulation { ratio, bound } = *remark {
                trial.finite("accumulation", &[ratio, bound]);
                trial.expect(bound >= 0.0, || format!("bound {bound:e}"));
            }
        }
        trial.result("late", driver.model().lateness(&run, event.t));
    }
    let over: Option<Arclength<'_>> = trial.result("arclength", driver.model().arclength(&run));
    let Some(over) = over else { return };
    let part = draw.part();
    trial.result("at a time", over.s_at(t0 + part * (run.t() - t0)));
    trial.result("at an arclength", over.at(part * over.s()));
    trial.result("impulses", over.impulses_until(part * over.s()));
    trial.finite("end", &[over.s()]);
    trial.note("status", run.status());
}
