//! The log of a run against its modes: which contacts closed, opened, came to stick and began to slip.

use saltation::impact::Contacting;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};

use super::mode_forces::{closed_of, sign};
use super::{Checker, Place};

impl<S> Checker<'_, S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// The log says what the modes say.
    pub(super) fn log(&mut self) {
        let record = self.record;
        let start = record.run.times()[0];
        let mut wrong = |rule, t: f64| {
            let place = Place {
                t,
                contact: None,
                modes: record.modes_at(t),
            };
            self.expect(rule, place, f64::INFINITY, 0.0);
        };
        for of in record.events.chunk_by(|a, b| a.t == b.t) {
            let (t, first, last) = (of[0].t, &of[0], &of[of.len() - 1]);
            let (before, after) = (record.modes_before(t), record.modes_at(t));
            if t > start && first.mode_before != closed_of(before) {
                wrong("log: mode before", t);
            }
            if last.mode_after != closed_of(after) {
                wrong("log: mode after", t);
            }
            if record
                .run
                .state_at(t)
                .is_ok_and(|x| x.as_slice() != last.state_after)
            {
                wrong("log: state after", t);
            }
            if of
                .windows(2)
                .any(|of| of[0].mode_after != of[1].mode_before)
            {
                wrong("log: modes of one time", t);
            }
            for event in of {
                let (old, new) = (&event.mode_before, &event.mode_after);
                let opened = old.iter().filter(|j| !new.contains(j));
                let mut closed = new.iter().filter(|j| !old.contains(j));
                let all = |of: &[usize], within: &[usize]| of.iter().all(|j| within.contains(j));
                if !all(&opened.copied().collect::<Vec<_>>(), &event.released)
                    || !all(&event.released, old)
                {
                    wrong("log: released", t);
                }
                // Contacts that are closed when a run starts need not have closed.
                let closed = closed.any(|j| !event.activated.contains(j));
                if t > start && (closed || event.activated.iter().any(|j| old.contains(j))) {
                    wrong("log: activated", t);
                }
            }
            if of.len() == 1 && t > start {
                let stays = |j: usize| before[j] != Contacting::Open && after[j] != before[j];
                let changed = |to: &dyn Fn(Contacting) -> bool| -> Vec<usize> {
                    let of = |&j: &usize| stays(j) && to(after[j]);
                    (0..after.len()).filter(of).collect()
                };
                if first.stuck != changed(&|mode| mode == Contacting::Stick) {
                    wrong("log: stuck", t);
                }
                if first.slipped != changed(&|mode| sign(mode) != 0.0) {
                    wrong("log: slipped", t);
                }
            }
        }
        for phase in record.phases.iter().filter(|phase| phase.t > start) {
            let told = record.events.iter().any(|event| event.t == phase.t);
            if !told && record.modes_before(phase.t) != record.modes_at(phase.t) {
                wrong("log: no event", phase.t);
            }
        }
    }
}
