//! Small values: modes, guards, watches, re-arming matrices, and sizes that no machine has.

use saltation::derivative::GuardSet;
use saltation::lcp::LcpSolver;
use saltation::model::Ones;
use saltation::{
    Crossed, CrossedGuard, Crossing, Direction, Guard, Integrator, Interrupt, Mode, PerEntry,
    Quantity, RearmMatrix, Record, RowConflict, Sensitivities, Watch, flow_fn,
};

use super::integrate::guard;
use crate::draw::Draw;
use crate::trial::Trial;

pub fn run(mut draw: Draw, trial: &mut Trial) {
    let draw = &mut draw;
    modes(draw, trial);
    guards(draw, trial);
    rearming(draw, trial);
    let entries = PerEntry::from(draw.numbers(3).as_slice());
    trial.note(
        "entry",
        &(
            entries.get(draw.size(4)),
            PerEntry::from([1.0, 2.0]),
            PerEntry::from(&[0.0]),
        ),
    );
    if draw.chance(0.01) {
        sizes(draw, trial);
    }
}

fn modes(draw: &mut Draw, trial: &mut Trial) {
    let len = if draw.chance(0.001) {
        draw.size(70)
    } else {
        draw.below(200)
    };
    let mut mode = Mode::new(len);
    trial.expect(mode.len() <= Mode::MOST, || {
        "a mode beyond the most".to_owned()
    });
    for _ in 0..5 {
        let k = draw.size(len.min(300) + 3);
        mode.set(k, draw.chance(0.7));
        mode = mode.having(draw.below(len.min(300) + 1), true);
        trial.expect(!mode.contains(k) || k < mode.len(), || {
            "a bit beyond the end".to_owned()
        });
    }
    if mode.len() > 1000 {
        return;
    }
    let ones: Ones<'_> = mode.ones();
    let listed: Vec<usize> = ones.collect();
    trial.expect(listed.len() == mode.count_ones(), || {
        "bits are counted wrongly".to_owned()
    });
    trial.expect(listed.iter().all(|&k| mode.contains(k)), || {
        "a bit that is not on".to_owned()
    });
    trial.expect(Mode::with(mode.len(), &listed) == mode, || {
        "a mode of the same bits differs".to_owned()
    });
    trial.expect(
        mode.words().map(u64::count_ones).sum::<u32>() as usize == listed.len(),
        || "words".to_owned(),
    );
    let flags = draw.below(200);
    let mut mode = mode.with_flags(flags);
    let j = draw.size(flags + 3);
    mode.set_flag(j, true);
    trial.expect(mode.flag(j) == (j < mode.flag_count()), || {
        "a flag beyond the end".to_owned()
    });
    trial.expect(mode.flags().eq((j < flags).then_some(j)), || {
        "flags are told wrongly".to_owned()
    });
    trial.expect(
        Mode::of(&flow_fn(1, |_, _, _, _| {})) == Mode::new(0),
        || "the mode of a plain equation".to_owned(),
    );
    trial.note("mode", &(mode.is_empty(), &mode));
    trial.say(&mode);
}

fn guards(draw: &mut Draw, trial: &mut Trial) {
    let event = draw.size(10);
    let direction = if draw.chance(0.5) {
        Direction::Rising
    } else {
        Direction::Falling
    };
    let guard = Guard { event, direction };
    trial.expect(guard.partner().partner() == guard, || {
        "the partner of the partner".to_owned()
    });
    trial.expect(
        Guard::ahead(event, guard.side_after()) == guard.partner(),
        || "the guard ahead".to_owned(),
    );
    trial.note(
        "guard",
        &(
            guard.sign(),
            guard.index(),
            Guard::rising(event),
            Guard::falling(event),
        ),
    );
    trial.say(&guard);
    let watch = if draw.chance(0.5) {
        Watch::FALLING.and_stop()
    } else {
        Watch::BOTH
    };
    trial.note("watch", &(watch.is_any(), watch.sees(direction)));
    let rate = draw.number();
    let set = [CrossedGuard { guard, rate }];
    let crossed = Crossed::new(&set);
    trial.expect(
        crossed.contains(event) && crossed.events().eq([event]),
        || "the crossed guard".to_owned(),
    );
    let set = GuardSet::new(crossed);
    trial.expect(set.contains(event) && set.guards().eq([guard]), || {
        "the set of guards".to_owned()
    });
    trial.note("crossed", &crossed.guards().len());
    crossing(draw, trial, crossed);
    trial.say(&Quantity::Event { event });
    let interrupt = Interrupt::new();
    interrupt.set();
    let was = interrupt.clone().is_set();
    interrupt.clear();
    trial.expect(was && !interrupt.is_set(), || "the interrupt".to_owned());
}

/// A crossing, handed on to models within models, and its record.
fn crossing(draw: &mut Draw, trial: &mut Trial, crossed: Crossed<'_>) {
    let number = draw.size(1000);
    let crossed = crossed.of_transition(number);
    trial.expect(crossed.transition() == number, || {
        "the number of a transition".to_owned()
    });
    let size = draw.whole(0, 6);
    let mut x = draw.numbers(size);
    let (mut mode, mut other) = (Mode::new(3), Mode::new(2));
    let mut record = Record::default();
    let mut crossing = Crossing::new(
        draw.number(),
        crossed.guards(),
        &mut x,
        &mut mode,
        &mut record,
    );
    let part = draw.size(8);
    let within = crossing.of_part(..part);
    trial.expect(within.x.len() == part.min(size), || {
        "a part of a state".to_owned()
    });
    let (t, guards, x, _) = crossing.parts();
    trial.note("crossing", &(t.to_bits(), guards.guards().len(), x.len()));
    let within = crossing.of_guards(&[], &mut other);
    within.record.write(|value: &mut Vec<f64>| value.push(1.0));
    trial.expect(within.crossed.guards().is_empty(), || {
        "a crossing of no guards".to_owned()
    });
    let kept = record.get::<Vec<f64>>().is_some() && record.get::<u8>().is_none();
    record.clear();
    trial.expect(kept && record.get::<Vec<f64>>().is_none(), || {
        "what a record holds".to_owned()
    });
}

fn rearming(draw: &mut Draw, trial: &mut Trial) {
    let count = draw.below(5);
    let mut matrix = if draw.chance(0.5) {
        RearmMatrix::pairs(count)
    } else {
        RearmMatrix::new(count)
    };
    for _ in 0..6 {
        let (by, other) = (guard(draw, count), guard(draw, count));
        let next = matrix.clone();
        let next = if draw.chance(0.5) {
            next.arm(by, other)
        } else {
            next.retire(by, other)
        };
        matrix = trial.result("entry", next).unwrap_or(matrix);
    }
    let conflicts: Vec<RowConflict> = matrix.conflicts();
    trial.note("conflicts", &(matrix.count(), conflicts));
}

/// Sizes that no machine has are refused, or cut, and take no memory.
fn sizes(draw: &mut Draw, trial: &mut Trial) {
    let huge = [usize::MAX, usize::MAX / 2 + 1, 1 << 62, 1 << 40][draw.below(4)];
    match draw.below(6) {
        0 => trial.note("huge mode", &Mode::new(huge).len()),
        1 => trial.note("huge matrix", &RearmMatrix::new(huge).count()),
        2 => trial.note("huge pairs", &RearmMatrix::pairs(huge).count()),
        3 => drop(LcpSolver::new(huge)),
        4 => {
            let system = flow_fn(huge, |_t, _x, _mode, _dx| {});
            trial.result("huge system", Integrator::new(system).map(|_| ()));
        }
        _ => {
            let (dim, count) = (
                draw.pick(&[huge, 3, 0]).to_owned(),
                draw.pick(&[huge, 1 << 40]).to_owned(),
            );
            let tangents = Sensitivities::new(dim, count);
            trial.note("huge tangents", tangents.verdict());
        }
    }
}
