//! Whether the motion of closed contacts depends on how they share their load, where that is not
//! determined: [`Doubt::SharedLoads`].

use crate::event_driven::Model;
use crate::impact::Remark;
use crate::mechanics::State;
use crate::{Doubt, Mode, Segment};

/// When it is looked next whether the motion depends on how contacts share their load: slips turn and loads
/// grow, so at the segments 1, 2, 4, 8… behind an event, where loads leave their cones, and at the ends
/// 1, 2, 4, 8… of what a run was asked for; never again once it was said.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sharing {
    segments: usize,
    ends: usize,
    is_told: bool,
    /// Since then, by an impact that was resolved between two stretches of the core; told by the next.
    since: Option<f64>,
}

impl Sharing {
    /// Segments are counted anew: an event has happened.
    pub(crate) fn begin(&mut self) {
        self.segments = 0;
    }

    /// True where the motion is found, at an end of what a run was asked for, to depend on how contacts share
    /// their load.
    pub(crate) fn is_at_end(&mut self, model: &Model<'_>, at: State<'_>, mode: &Mode) -> bool {
        self.ends += 1;
        if self.is_told || !self.ends.is_power_of_two() {
            return false;
        }
        self.is_told = model.depends_on_shares(at, mode);
        self.is_told
    }

    /// The doubt of a segment, if there is one.
    pub(crate) fn in_segment(&mut self, model: &Model<'_>, segment: &Segment<'_>) -> Option<Doubt> {
        self.segments += 1;
        if !self.segments.is_power_of_two() {
            return None;
        }
        let (q, v) = model.parts(segment.state);
        let t = segment.t;
        self.look(model, State { t, q, v }, segment.mode)
    }

    /// The doubt of a state, if there is one.
    pub(crate) fn look(&mut self, model: &Model<'_>, at: State<'_>, mode: &Mode) -> Option<Doubt> {
        if self.is_told || !model.slides() {
            return None;
        }
        self.is_told = model.depends_on_shares(at, mode);
        self.is_told.then_some(Doubt::SharedLoads { t: at.t })
    }

    /// Notes an impact whose outcome depends on how contacts share their impulses, by its remarks.
    pub(crate) fn note_impact(&mut self, t: f64, remarks: &[Remark]) {
        let is_shared = remarks.contains(&Remark::SharedImpulses);
        if is_shared && !std::mem::replace(&mut self.is_told, true) {
            self.since = Some(t);
        }
    }

    /// The doubt that an impact left, once.
    pub(crate) fn untold(&mut self) -> Option<Doubt> {
        self.since.take().map(|t| Doubt::SharedLoads { t })
    }
}
