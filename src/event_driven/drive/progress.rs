//! The place of a run between stretches of the core, and what it has used.

use crate::event_driven::Model;
use crate::event_driven::recorder::Memory;
use crate::event_driven::recovery::{Place, add};
use crate::event_driven::watching::grazing::Seen;
use crate::hybrid::Driver;
use crate::mechanics::State;
use crate::record::can_go_on;
use crate::{Statistics, Status, Summary};

/// The place of a run, beside the core's own state: all that a later part of it goes on with.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    pub(crate) place: Place,
    pub(crate) memory: Memory,
    /// The record of gaps and forces in this stretch of the core.
    pub(super) seen: Seen,
    /// The stretch is under way; else the next one begins at the place.
    pub(super) is_under_way: bool,
    /// Time at which it began in this part of the run (s).
    pub(super) since: f64,
    /// The end of this part, once it has one, and the time before an accumulation at which it counts as reached in it
    /// (s).
    pub(crate) end: f64,
    pub(crate) near: f64,
    /// Counts of the stretches before the one that is under way, and of that one.
    pub(super) before: Statistics,
    pub(super) during: Statistics,
    /// Counts of the parts of a live run before this one.
    pub(super) parts: Statistics,
    pub(super) tally: Tally,
    /// The end of the last part.
    pub(crate) status: Status,
    /// It was settled which contacts are closed at the start, or after the efforts changed.
    pub(crate) is_settled: bool,
    /// The effort of the model itself where it was settled which contacts are closed, or the last part ended.
    pub(super) effort: Vec<f64>,
}

/// The obstacles at which policies acted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    /// Time at which one did last (s), and the number of obstacles at that time since.
    last: f64,
    pub(super) repeats: usize,
    /// The number of times that one did.
    pub(super) acted: usize,
}

impl Progress {
    /// A run at its start, of which nothing is settled.
    pub(super) fn at(model: &Model<'_>, State { t, q, v }: State<'_>) -> Self {
        Self {
            place: Place {
                t,
                state: [q, v].concat(),
                mode: model.mode(&[]),
            },
            memory: Memory::new(model, t),
            seen: Seen::default(),
            is_under_way: false,
            since: t,
            end: f64::NAN,
            near: 0.0,
            before: Statistics::default(),
            during: Statistics::default(),
            parts: Statistics::default(),
            tally: Tally {
                last: f64::NEG_INFINITY,
                repeats: 0,
                acted: 0,
            },
            status: Status::ReachedEnd,
            is_settled: false,
            effort: Vec::new(),
        }
    }

    /// True where the run can go on: it ended for no reason that stays.
    pub(crate) fn can_go_on(&self) -> bool {
        can_go_on(&self.status)
    }

    /// True where the core is on its way, and not at an end of a stretch.
    pub(crate) fn is_under_way(&self) -> bool {
        self.is_under_way
    }

    /// Tries and crossings of this part, in stretches that are over.
    pub(super) fn used(&self) -> [usize; 2] {
        let tries = |counts: &Statistics| counts.steps + counts.rejections;
        [
            tries(&self.before).saturating_sub(tries(&self.parts)),
            self.before.crossings.saturating_sub(self.parts.crossings),
        ]
    }

    /// Counts so far.
    pub(crate) fn statistics(&self) -> Statistics {
        add(self.before, self.during)
    }

    pub(crate) fn summary(&self) -> Summary {
        Summary {
            status: self.status.clone(),
            t: self.place.t,
            statistics: self.statistics(),
        }
    }

    /// Counts an obstacle at the place, among those at the same time.
    pub(super) fn count_here(&mut self) {
        self.tally.repeats = if self.place.t > self.tally.last {
            0
        } else {
            self.tally.repeats + 1
        };
    }

    /// A policy acts at the place; gives the tally before, for one that is interrupted.
    pub(super) fn act(&mut self) -> Tally {
        let before = self.tally;
        self.tally.last = self.place.t;
        self.tally.acted += 1;
        self.end_stretch();
        self.seen.forget();
        before
    }

    /// The policy did not act, and is asked again where the run goes on.
    pub(super) fn take_back(&mut self, before: Tally) {
        self.tally = Tally {
            repeats: before.repeats.saturating_sub(1),
            ..before
        };
    }

    /// The stretch of the core that is under way is over: the next one begins at the place.
    pub(super) fn end_stretch(&mut self) {
        self.before = self.statistics();
        self.during = Statistics::default();
        self.is_under_way = false;
    }

    /// It came to where the core stands, at `t`.
    pub(super) fn come_to(&mut self, t: f64, driver: &Driver<Vec<f64>>) {
        self.is_under_way = true;
        self.place.t = t;
        self.place.state.copy_from_slice(driver.state());
        self.place.mode.clone_from(driver.mode());
    }

    /// Takes the counts of the core in this stretch; rulings are none of its own.
    pub(super) fn note(&mut self, counts: Statistics) {
        let rulings = self.during.rulings;
        self.during = Statistics { rulings, ..counts };
    }
}
