//! Live runs: whatever the efforts, a run that is cut and taken up again is the uncut run.

use saltation::derivative::{RunDerivative, StepsDerivative};
use saltation::mechanics::EnergyBalance;
use saltation::{Driver, InputError, Live, Run, Snapshot, Start, Stop};

use crate::draw::Draw;
use crate::trial::Trial;

/// Parts with efforts of a live run from a start, on the way to `tf`.
pub fn look(
    trial: &mut Trial,
    draw: &mut Draw,
    driver: &mut dyn Driver,
    (t0, q, v, tf): (f64, &[f64], &[f64], f64),
) {
    if !draw.chance(0.3) {
        return;
    }
    let start = Start::at(t0).q(q).v(v);
    let Some(live) = trial.door("live", driver.live(&start)) else {
        return;
    };
    let mut live: Live<'_> = live.keep();
    let t = |part: u8| t0 + f64::from(part) / 4.0 * (tf - t0);
    let effort = |draw: &mut Draw| match draw.chance(0.5) {
        true => draw.numbers(v.len()),
        false => Vec::new(),
    };
    for part in 1..=2 {
        let made: Result<Run, InputError> = live.integrate(t(part), &effort(draw));
        let Some(made) = trial.door("part", made) else {
            return;
        };
        trial.say(made.status());
    }
    let saved: Snapshot = live.snapshot();
    trial.note(
        "snapshot",
        &(saved.t(), live.status(), live.contacts().count()),
    );
    let (third, last) = (effort(draw), effort(draw));
    let end = |live: &mut Live<'_>| {
        let made: [Result<(), Stop>; 2] = [live.advance(t(3), &third), live.advance(tf, &last)];
        format!(
            "{made:?} {:?} {:?} {:?}",
            live.t(),
            live.state(),
            live.mode()
        )
    };
    let uncut = end(&mut live);
    let kept = live.run();
    trial.note(
        "kept",
        &kept.as_ref().map(|run| (run.t(), run.times().len())),
    );
    drop(live);
    let Some(mut live) = trial.door("resumed", driver.resume(&saved)) else {
        return;
    };
    let resumed = end(&mut live);
    // What is kept may end the one and not the other.
    let is_same = uncut == resumed || uncut.contains("RunTooLarge");
    trial.expect(is_same, || format!("uncut {uncut}, resumed {resumed}"));
}

/// What a derivative of steps says.
pub fn derivative(trial: &mut Trial, found: &StepsDerivative) {
    let any: &dyn RunDerivative = found;
    trial.say(any.verdict());
    let is_known = any.matrix().is_ok();
    let agrees = is_known == any.pieces().is_ok();
    trial.expect(agrees, || "a matrix without a piece".to_owned());
}

/// Whose energy went where.
pub fn balance(trial: &mut Trial, found: Result<EnergyBalance, InputError>) {
    trial.note("balance", &found);
}
