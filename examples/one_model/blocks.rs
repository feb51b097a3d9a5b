//! A block with two corners, on a floor with friction.

use saltation::event_driven::Zeno;
use saltation::impact::{AnitescuPotra, LcpSteps, RouthInclusion, Selection, Unilateral};
use saltation::models::RockingBlock;
use saltation::{Compliant, ContactModel, EventDriven, Start, Variational};

use crate::common::flags::Outcome;
use crate::study::{Desk, Study};

const ENTRIES: &str = "x [m], y [m], tilt [rad], x' [m/s], y' [m/s], rate [rad/s]";

/// It rocks to rest through infinitely many impacts.
pub(crate) fn rocking(desk: &mut Desk) -> Outcome<()> {
    let block = RockingBlock::default();
    let (q, v) = block.pivoting(0.0, 1.0);
    let mut study = Study {
        name: "rocking",
        title: "A block rocks on two corners, friction 1",
        model: ContactModel::with_law(block, AnitescuPotra::new()),
        start: Start::at(0.0).q(&q).v(&v),
        tf: 3.0,
        entries: ENTRIES,
        why: "\
EventDriven is exact, but for tolerances. Variational meets it to second order of the step. Compliant meets it to first order. Without
friction the block slides: another motion.",
        rows: Vec::new(),
    };
    run_friction(&mut study, desk)?;
    refuse(&mut study)?;
    let slippery = ContactModel::new(block).frictionless();
    let mut sliding = EventDriven::new(slippery)?.zeno(Zeno::Absorb);
    study.run("EventDriven, no friction", &mut sliding)?;
    study.show(desk)
}

/// It falls on a corner, then on the next.
pub(crate) fn falling(desk: &mut Desk) -> Outcome<()> {
    let block = RockingBlock {
        width: 0.2,
        height: 0.2,
        friction: 0.5,
        ..RockingBlock::default()
    };
    let mut study = Study {
        name: "falling",
        title: "A box falls on a corner, then on the next, friction 0.5",
        model: ContactModel::with_law(block, AnitescuPotra::new()),
        start: Start::at(0.0).q(&[0.0, 0.3, 0.2]).v(&[-0.5, 0.0, 0.0]),
        tf: 0.35,
        entries: ENTRIES,
        why: "\
The second impact has a set of outcomes. The law of Anitescu and Potra, all at once, stops the corner that lands, which slides on in
all of the set: EventDriven and Variational agree on its outcome, to second order of the step, and it lies outside. The outcome that
is drawn lies within. Compliant takes some steps for an impact, and ends between, where its step says.",
        rows: Vec::new(),
    };
    run_friction(&mut study, desk)?;
    let law = RouthInclusion::new(LcpSteps::new(0.5), 64);
    let drawn = ContactModel::with_law(block, law).selection(Selection::Keyed(1));
    let mut variational = Variational::new(drawn)?.time_step(desk.step);
    study.run("Variational, one drawn", &mut variational)?;
    refuse(&mut study)?;
    study.show(desk)
}

/// The same model and start for all; Compliant, whose contacts are soft, reads no law of impact.
fn run_friction(study: &mut Study<RockingBlock>, desk: &Desk) -> Outcome<()> {
    let (model, h) = (study.model.clone(), desk.step);
    let mut soft = Compliant::new(model.clone())?.time_step(h);
    let exact = EventDriven::new(model.clone())?.zeno(Zeno::Absorb);
    let exact = exact.zeno_tolerance(1e-10).rtol(1e-10).atol(1e-12);
    study.run("EventDriven", &mut { exact })?;
    study.run("Variational", &mut Variational::new(model)?.time_step(h))?;
    study.run("Compliant", &mut soft)
}

/// With a law that knows no friction: refused.
fn refuse(study: &mut Study<RockingBlock>) -> Outcome<()> {
    let unaware = ContactModel::with_law(*study.model.system(), Unilateral);
    study.run("EventDriven, Unilateral", &mut EventDriven::new(unaware)?)
}
