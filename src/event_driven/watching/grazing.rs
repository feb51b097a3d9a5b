//! Cases that the theory excludes from a run (Pace & Burden, section 3.4): touches without an
//! impact, releases without a rate, open contacts with negative gaps.

use super::off_surface::{ClosedContacts, Look};
use super::pushes::Clock;
use super::sharing::Sharing;
use crate::event_driven::Model;
use crate::event_driven::breakdown::Breakdown;
use crate::event_driven::impact::Event;
use crate::event_driven::time::accumulation::Accumulation;
use crate::hybrid::options::Settings;
use crate::mechanics::friction::contact_function::ContactFunction;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::{State, UnilateralConstraints};
use crate::record::{ContactEvent, ContactEventKind};
use crate::{
    At, CrossedGuard, Doubt, EventFunction, Flow, Mode, Observer, Segment, Stop, Transition,
};

/// The policy for a gap that comes to zero too slowly for an impact. A gap counts as touched when
/// its minimum is within a tenth of its error (see [`Doubt`](crate::Doubt)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Grazing {
    /// End the run with [`Breakdown::Grazing`], [`Breakdown::GrazingRelease`] or
    /// [`Breakdown::InconsistentMode`], at the end of the step in which it happens.
    #[default]
    Error,
    /// Go on as if there had been no touch; an approach below the least rate still ends the run.
    Ignore,
    /// Log the touch and go on. A contact that approaches below the least rate, or whose gap is
    /// negative where it should open, is moved onto its surface and closed by a plastic impact, whatever its
    /// restitution; one whose force falls to zero too slowly is opened. What derivatives say beyond is not guaranteed.
    Contact,
}

/// Crossings are located to so many roundings of their times: the core takes four times eight for the surface itself.
const TICKS: f64 = 32.0;
/// Places in a segment, as parts of it, at which open gaps are evaluated: they find bumps between
/// the samples of the core.
const LOOKED_AT: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

/// A gap or a force that comes close to zero.
#[derive(Clone, Copy, Debug)]
struct Touched {
    contact: usize,
    /// Time (s).
    t: f64,
    /// Its error.
    error: f64,
}

/// The record of the gap (open) or force (closed) of a contact since the run began, or since an
/// event dealt with it.
#[derive(Clone, Copy, Debug)]
struct Departure {
    is_closed: bool,
    /// The largest value at the ends of segments.
    most: f64,
}

/// The record of gaps and forces, for the rest of a stretch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Touches in the segment to come, and those of gaps that have not left zero since.
    touched: Vec<Touched>,
    /// One a contact, none before the first segment.
    departures: Vec<Departure>,
    /// An event has happened since the last segment.
    is_after_event: bool,
    /// The loads were outside of their cones at the end of the last segment, since an event.
    are_outside: bool,
    pub(crate) sharing: Sharing,
    /// A push that a step went past was said once.
    is_push_told: bool,
}

impl Seen {
    /// A policy acted: all begins anew, but for what was said once.
    pub(crate) fn forget(&mut self) {
        self.sharing.begin();
        *self = Self {
            is_push_told: self.is_push_told,
            sharing: self.sharing,
            ..Self::default()
        };
    }

    /// An event has happened since the last segment.
    pub(crate) fn note_event(&mut self) {
        self.is_after_event = true;
        self.are_outside = false;
        self.sharing.begin();
    }
}

/// The observer that finds gaps and forces that touch zero, and negative gaps of open contacts. As
/// the policy says, it notes a touch or ends the run.
pub(crate) struct Watcher<'a> {
    model: &'a Model<'a>,
    settings: &'a Settings,
    pub(crate) trouble: Option<Breakdown>,
    /// Bounces too low to be resolved.
    pub(crate) low: Option<Accumulation>,
    /// Doubts beside those of the core.
    pub(crate) doubts: Vec<Doubt>,
    clock: Clock,
    point: Vec<f64>,
    pub(crate) seen: Seen,
    /// Event functions.
    values: Vec<f64>,
    /// The contacts at the configuration that was looked at last.
    at: ContactsAt,
    /// Touches met on the way, where they do not end the run.
    pub(crate) touches: Vec<ContactEvent>,
    /// Bytes that they may take still.
    memory: usize,
    grazing: Grazing,
}

impl<'a> Watcher<'a> {
    pub(crate) fn new(
        model: &'a Model<'a>,
        settings: &'a Settings,
        grazing: Grazing,
        seen: Seen,
        span: f64,
    ) -> Self {
        let mut watcher = Self {
            model,
            settings,
            trouble: None,
            low: None,
            doubts: Vec::new(),
            clock: Clock::new(model, span),
            point: vec![0.0; model.dim()],
            seen,
            values: vec![0.0; model.functions().count()],
            at: ContactsAt::default(),
            touches: Vec::new(),
            memory: settings.limits.max_memory,
            grazing,
        };
        watcher.doubts.extend(watcher.seen.sharing.untold());
        watcher
    }
}

/// The part of the error of a gap to within which it counts as touched.
const TOUCHED: f64 = 0.1;

impl Watcher<'_> {
    /// The accumulation that rebounds too low to be resolved announce.
    pub(crate) fn low_bounces(&mut self, set: &Transition<'_>) -> Option<Accumulation> {
        self.model.low_bounces(set, &mut self.at)
    }

    /// True when a contact leaves its surface at the start of a segment and its negative gap on the
    /// interpolant is within the error that the tolerances allow. The interpolant then does not
    /// resolve how the contact leaves.
    #[cold]
    fn leaves(&self, segment: &Segment<'_>, contact: usize, gap: f64) -> bool {
        let system = self.model.system();
        let mut start = self.point.clone();
        segment.interpolant.at(segment.start, &mut start);
        let (q, _) = self.model.parts(&start);
        let mut row = vec![0.0; q.len()];
        self.model.gap_by_coordinate(contact, q, &mut row);
        let Settings { rtol, atol, .. } = self.settings;
        let of = |i: usize| row[i].abs() * (atol.get(i) + rtol.get(i) * q[i].abs());
        let allowed: f64 = (0..q.len()).map(of).sum();
        system.gap(contact, q).abs() <= self.model.gap_tolerance && -gap <= allowed
    }

    /// By how much a gap closes between times that are told apart: it may be so far below zero when its
    /// contact strikes.
    #[cold]
    fn closes_between_times(&self, t: f64, contact: usize) -> f64 {
        let at = &mut ContactsAt::default();
        let rates = self.model.approach(at, &self.point, &[contact]);
        TICKS * f64::EPSILON * t.abs() * rates[0].abs()
    }

    /// Notes a push that a step went past.
    fn look_for_pushes(&mut self, segment: &Segment<'_>) {
        if self.seen.is_push_told {
            return;
        }
        let (model, point) = (self.model, &mut self.point);
        let found = self.clock.unseen_push(model, self.settings, segment, point);
        if let Some(t) = found {
            self.seen.is_push_told = true;
            self.doubts.push(Doubt::Push { t });
        }
    }

    /// Notes where gaps and forces start after an event that dealt with their contacts: those that
    /// it closed or opened, those that were closed, whose forces jump, and those at rest with a gap
    /// of zero.
    fn depart(&mut self, segment: &Segment<'_>) {
        let (model, contacts) = (self.model, self.model.system().contacts());
        let is_after_event = std::mem::take(&mut self.seen.is_after_event);
        if self.seen.departures.len() == contacts && !is_after_event {
            return;
        }
        segment.interpolant.at(segment.start, &mut self.point);
        model.events(segment.start, &self.point, segment.mode, &mut self.values);
        for contact in 0..contacts {
            let is_closed = model.is_closed(segment.mode, contact);
            let value = self.values[model.functions().along_normal(segment.mode, contact)];
            let departure = Departure {
                is_closed,
                most: value,
            };
            let Some(before) = self.seen.departures.get_mut(contact) else {
                self.seen.departures.push(departure);
                continue;
            };
            let at = &mut self.at;
            if is_closed || before.is_closed || model.rests(at, contact, &self.point) {
                *before = departure;
                let is_earlier = |touch: &Touched| touch.t <= segment.start;
                let is_past = |touch: &Touched| touch.contact == contact && is_earlier(touch);
                self.seen.touched.retain(|touch| !is_past(touch));
            }
        }
    }

    /// Records the touches of a segment. A gap or a force that is zero within its error since an
    /// event dealt with it has not left zero; its minima are rounding and no touches. A gap that is
    /// zero at the end of the segment is a touch when it leaves zero: an event may close it there.
    fn take_touches(&mut self, segment: &Segment<'_>) {
        let (end, state) = (segment.t, &mut self.point);
        segment.interpolant.at(end, state);
        self.model
            .events(end, state, segment.mode, &mut self.values);
        for touch in std::mem::take(&mut self.seen.touched) {
            let contact = touch.contact;
            let Some(&Departure { is_closed, most }) = self.seen.departures.get(contact) else {
                continue;
            };
            let rounding = if is_closed {
                self.rounding(segment, contact)
            } else {
                0.0
            };
            // A closed contact whose load was taken away rests on without one: it does not matter that it is closed.
            // One that pushes is opened by surfaces that move, which no forces hold: its own force touches nothing.
            let rests = is_closed && self.value(segment.mode, contact) <= rounding;
            let pushes = rounding < -touch.error;
            if rests || pushes || most <= touch.error + rounding {
                continue;
            }
            let zero = touch.error.max(self.model.gap_tolerance);
            if is_closed || self.value(segment.mode, contact) > zero {
                self.touch(segment, contact, touch.t.max(segment.start));
            } else if self
                .seen
                .touched
                .iter()
                .all(|other| other.contact != contact)
            {
                self.seen.touched.push(touch);
            }
        }
        let functions = self.model.functions();
        for (j, departure) in self.seen.departures.iter_mut().enumerate() {
            let value = self.values[functions.along_normal(segment.mode, j)];
            departure.most = departure.most.max(value);
        }
    }

    /// The gap of an open contact, the force of a closed one.
    fn value(&self, mode: &Mode, contact: usize) -> f64 {
        self.values[self.model.functions().along_normal(mode, contact)]
    }

    /// Largest multiplier of a closed contact without a force in `values`, at the end
    /// of a segment: what is added to it there, and as much of its own.
    #[cold]
    fn rounding(&self, segment: &Segment<'_>, contact: usize) -> f64 {
        let forces = self
            .model
            .contact_forces(segment.t, &self.point, segment.mode);
        2.0 * (self.value(segment.mode, contact) - forces.values()[contact])
    }

    /// Records that a gap or a force touched zero at `t`, or ends the run.
    fn touch(&mut self, segment: &Segment<'_>, contact: usize, t: f64) {
        let is_closed = self.model.is_closed(segment.mode, contact);
        if self.grazing == Grazing::Contact {
            let mut state = segment.state.to_vec();
            segment.interpolant.at(t, &mut state);
            let mode = self.model.closed(segment.mode);
            let event = ContactEvent {
                approach: self.model.approach(&mut self.at, &state, &[contact]),
                activated: (!is_closed).then_some(contact).into_iter().collect(),
                mode_before: mode.clone(),
                mode_after: mode,
                state_after: state.clone(),
                state_before: state,
                contacts: vec![contact],
                ..ContactEvent::new(t, ContactEventKind::Touch)
            };
            self.memory = self.memory.saturating_sub(event.bytes());
            self.touches.push(event);
        } else if is_closed {
            let rate = 0.0;
            self.trouble = Some(Breakdown::GrazingRelease { contact, rate, t });
        } else {
            let velocity = 0.0;
            self.trouble = Some(Breakdown::Grazing {
                contact,
                velocity,
                t,
            });
        }
    }
}

impl Observer for Watcher<'_> {
    fn segment(&mut self, segment: &Segment<'_>) {
        let model = self.model;
        let system = model.system();
        let length = segment.t - segment.start;
        let closed = ClosedContacts {
            model,
            settings: self.settings,
        };
        for part in LOOKED_AT {
            let t = segment.start + part * length;
            segment.interpolant.at(t, &mut self.point);
            let (q, _) = model.parts(&self.point);
            for contact in 0..system.contacts() {
                let gap = system.gap(contact, q);
                if model.is_closed(segment.mode, contact) {
                    let look = Look {
                        t,
                        state: &self.point,
                    };
                    if let Some(trouble) = closed.off_surface(segment, look, contact, gap) {
                        self.trouble = Some(trouble);
                        return;
                    }
                } else if gap < -100.0 * model.gap_tolerance
                    && gap < -self.closes_between_times(t, contact)
                    && !(part < 1.0 && self.leaves(segment, contact, gap))
                {
                    self.trouble = Some(Breakdown::InconsistentMode { contact, gap, t });
                    return;
                }
            }
        }
        let t = segment.start + LOOKED_AT[1] * length;
        segment.interpolant.at(t, &mut self.point);
        let look = Look {
            t,
            state: &self.point,
        };
        if let Some(trouble) = closed.moves_off(segment, look, &mut self.at) {
            self.trouble = Some(trouble);
            return;
        }
        let shares = self.seen.sharing.in_segment(model, segment);
        self.doubts.extend(shares);
        self.look_for_pushes(segment);
        self.depart(segment);
        // Doubts are reported before the segment in which they lie.
        self.take_touches(segment);
        let outside = closed.loads_outside(&self.values, segment.t, &mut self.seen.are_outside);
        self.trouble = self.trouble.take().or(outside);
    }

    fn doubt(&mut self, doubt: &Doubt) {
        let Doubt::Touch {
            guard,
            t,
            gap,
            error,
        } = *doubt
        else {
            return;
        };
        // A slip or a margin of the cone that touches zero changes no motion.
        let Some(contact) = self.model.functions().normal_of(guard.event) else {
            return;
        };
        if self.grazing != Grazing::Ignore && gap <= TOUCHED * error {
            self.seen.touched.push(Touched { contact, t, error });
        }
    }

    fn transition(&mut self, set: &Transition<'_>) {
        let functions = self.model.functions();
        let is_of_loads = |c: &CrossedGuard| {
            functions.function(c.guard.event, set.mode_before) == ContactFunction::Loads
        };
        if set.guards.iter().any(is_of_loads) {
            let (q, v) = self.model.parts(set.state_before);
            let before = State { t: set.t, q, v };
            let shares = self.seen.sharing.look(self.model, before, set.mode_before);
            self.doubts.extend(shares);
        }
        if let Some(event) = set.record.get::<Event>() {
            self.seen.sharing.note_impact(set.t, event.remarks());
            self.doubts.extend(self.seen.sharing.untold());
        }
        self.seen.note_event();
        if self.low.is_none() {
            self.low = self.low_bounces(set);
        }
    }

    fn is_done(&self) -> bool {
        self.trouble.is_some() || self.low.is_some() || self.memory == 0
    }
}

/// The reason why the core refused a run, in the words of mechanics.
pub(crate) fn explain(model: &Model<'_>, mode: &Mode, reason: Stop) -> Breakdown {
    // Where forces grow beyond all bounds steps become too short, or the rate of a margin is lost.
    let jam = |at: &At| {
        let contact = model.jams(at.t, &at.state, mode)?;
        Some(Breakdown::Jam { contact, t: at.t })
    };
    let found = match &reason {
        Stop::NotLive {
            guard,
            rate_before,
            at,
            ..
        } => match model.functions().function(guard.event, mode) {
            ContactFunction::Force(contact) => jam(at).or(Some(Breakdown::GrazingRelease {
                contact,
                rate: *rate_before,
                t: at.t,
            })),
            ContactFunction::Gap(contact) => Some(Breakdown::Grazing {
                contact,
                velocity: *rate_before,
                t: at.t,
            }),
            _ => jam(at),
        },
        Stop::Tangent { guard, rate, at } => match model.functions().function(guard.event, mode) {
            ContactFunction::Gap(contact) => Some(Breakdown::Grazing {
                contact,
                velocity: *rate,
                t: at.t,
            }),
            _ => None,
        },
        Stop::NotFinite { at, .. } => model.trouble_ahead(&at.state, mode),
        Stop::StepTooSmall { at, .. } => jam(at),
        _ => None,
    };
    found.unwrap_or_else(|| reason.into())
}
