//! Runs of random bodies with friction in the plane, with time as a state.

use saltation::ContactModel;
use saltation::event_driven::{Stretch, StretchKind, Timeline, TimelineRun};
use saltation::mechanics::MechanicalSystem;
use saltation::models::{RockingBlock, SlidingRod};
use saltation::{Interrupt, Start};

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
    let Some(mut timeline) = trial.door("timeline", Timeline::new(model)) else {
        return;
    };
    if draw.chance(0.5) {
        let rtol: f64 = *draw.pick(&[1e-3, 1e-6, 1e-9, 0.0]);
        timeline = timeline.rtol(rtol).atol(0.01 * rtol);
    }
    if draw.chance(0.2) {
        timeline = timeline.zeno_tolerance(1e-9 * draw.positive());
    }
    if draw.chance(0.1) {
        timeline = timeline.max_step(draw.positive());
    }
    let interrupt = Interrupt::new();
    if draw.chance(0.02) {
        interrupt.set();
    }
    timeline = timeline
        .max_steps(1500)
        .max_events(200)
        .max_memory(1 << 24)
        .interrupt(&interrupt);
    let (t0, tf) = time(draw);
    trial.note("start", &(t0, q, v, tf));
    let made = timeline.integrate(&Start::at(t0).q(q).v(v), tf);
    let run: Option<TimelineRun> = trial.result("run", made);
    let Some(run) = run else { return };
    for pair in run.stretches().windows(2) {
        let joined = pair[0].t[1] == pair[1].t[0]
            && pair[0].s[1] == pair[1].s[0]
            && pair[0].v[1] == pair[1].v[0];
        trial.expect(joined, || "stretches do not join".to_owned());
    }
    for stretch in run.stretches() {
        let stretch: &Stretch = stretch;
        let kind: &StretchKind = &stretch.kind;
        trial.note("kind", kind);
        trial.finite("time", &stretch.t);
        trial.finite("arclength", &stretch.s);
        trial.finite("velocity", &stretch.v[1]);
        trial.finite("impulses", &stretch.impulses);
        trial.expect(stretch.t[1] >= stretch.t[0], || "time falls".to_owned());
        trial.note("impulse", &stretch.normal_impulse());
        trial.note("path", &stretch.path().map(|path| path.t()));
    }
    let part = draw.part();
    trial.result("at a time", run.at(t0 + part * (run.t() - t0)));
    trial.result("at an arclength", run.at_arclength(part * run.s()));
    trial.finite("end", run.state().as_slice());
    trial.note("model", &timeline.model().law().name());
    trial.note("breakdown", &run.breakdown());
    trial.result("completed", run.completed().map(|_| ()));
}
