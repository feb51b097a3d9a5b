//! Obstacles at which the core ends, and the way on that the policies choose.

use super::progress::Progress;
use crate::Stop;
use crate::event_driven::friction::stopping::LastSlips;
use crate::event_driven::recovery::{Bounds, Place, add};
use crate::event_driven::time::accumulation::Accumulation;
use crate::event_driven::{Breakdown, ContactEvent, ContactEventKind, Grazing, Model, Zeno};
use crate::record::Limits;

/// The way on from an obstacle, by a policy.
pub(super) enum Ruling {
    /// The run goes on with this event in its log.
    Event(Box<ContactEvent>),
    /// It goes on as if nothing had been.
    Nothing,
    /// It ends there.
    End,
}

impl Ruling {
    fn of(event: ContactEvent) -> Self {
        Self::Event(Box::new(event))
    }
}

/// An obstacle to going on.
#[derive(Debug)]
pub(super) enum Reason {
    Zeno(Accumulation),
    Error(Breakdown),
}

impl Reason {
    pub(super) fn error(&self, t: f64) -> Breakdown {
        match self {
            Self::Zeno(found) => found.breakdown(t),
            Self::Error(error) => error.clone(),
        }
    }
}

/// The policies of a run at obstacles.
pub(super) struct Policies<'a> {
    pub(super) model: &'a Model<'a>,
    pub(super) zeno: Zeno,
    pub(super) grazing: Grazing,
    pub(super) limits: &'a Limits,
}

impl Policies<'_> {
    /// Goes on from where the core ended, as the policies say.
    pub(super) fn deal_with(
        &self,
        reason: &Reason,
        progress: &mut Progress,
        tf: f64,
    ) -> Result<Ruling, Breakdown> {
        let (model, again) = (self.model, progress.tally.repeats > 0);
        let [used, _] = progress.used();
        let (place, statistics) = (&mut progress.place, &mut progress.before);
        let bounds = Bounds {
            steps: self.limits.max_steps.saturating_sub(used),
            memory: self.limits.max_memory,
            interrupt: self.limits.interrupt.clone(),
        };
        let contact = match (reason, self.zeno, self.grazing) {
            (Reason::Zeno(found), Zeno::StopAt, _) => {
                let cost = model.fly_to(found, tf, place, &bounds)?;
                *statistics = add(*statistics, cost);
                return Ok(Ruling::End);
            }
            (Reason::Zeno(found), Zeno::Absorb, _) => {
                let (event, cost) = model.absorb(found, tf, place, &bounds)?;
                *statistics = add(*statistics, cost);
                return Ok(event.map_or(Ruling::Nothing, Ruling::of));
            }
            // Impacts within the resolution of time are taken as one. If contacts approach even
            // then, this is an accumulation at one instant.
            (Reason::Error(Breakdown::Stop(Stop::NoProgress { .. })), zeno, _) => {
                let together = if again && zeno == Zeno::Absorb {
                    Ok(None)
                } else {
                    model.strike_together(place)
                };
                let error = match together {
                    Ok(Some(event)) => return Ok(Ruling::of(event)),
                    Ok(None) => reason.error(place.t),
                    Err(error) if model.is_endless(&error) => error,
                    Err(error) => return Err(error),
                };
                return self.absorb_at_once(error, place);
            }
            // An impact that does not end is one too.
            (Reason::Error(error), Zeno::StopAt | Zeno::Absorb, _) if model.is_endless(error) => {
                return self.absorb_at_once(error.clone(), place);
            }
            (Reason::Error(Breakdown::Stop(Stop::NotLive { guard, .. })), _, _) => {
                let held = model.hold_idle_slip(guard.event, place);
                return held.map(Ruling::of).ok_or_else(|| reason.error(place.t));
            }
            (Reason::Error(Breakdown::GrazingRelease { contact, .. }), _, Grazing::Contact) => {
                return model.open(*contact, place).map(Ruling::of);
            }
            (
                Reason::Error(
                    Breakdown::Grazing { contact, .. }
                    | Breakdown::InconsistentMode { contact, .. },
                ),
                _,
                Grazing::Contact,
            ) => *contact,
            _ => return Err(reason.error(place.t)),
        };
        model
            .close(
                &[contact],
                ContactEventKind::Touch,
                LastSlips::UNKNOWN,
                place,
            )
            .map(Ruling::of)
    }

    /// Goes on from an accumulation at one instant, as the policy says; else `error`.
    fn absorb_at_once(&self, error: Breakdown, place: &mut Place) -> Result<Ruling, Breakdown> {
        let contacts = self.model.touching_and_not_parting(place);
        match self.zeno {
            Zeno::Absorb if !contacts.is_empty() => {
                let (kind, before) = (ContactEventKind::ZenoAbsorbed, place.mode.clone());
                let last = LastSlips::UNKNOWN;
                let event = self.model.close(&contacts, kind, last, place)?;
                // Where no contact approached, and the mode is what it was, there are no impacts to absorb: cones of
                // friction that were left would be left behind.
                let approaches = |rate: &f64| *rate < -self.model.rate_tolerance;
                let stays = place.mode.has_flags_of(&before);
                if stays
                    && self.model.any_friction(&contacts)
                    && !event.approach.iter().any(approaches)
                {
                    Err(error)
                } else {
                    Ok(Ruling::of(event))
                }
            }
            Zeno::StopAt => Ok(Ruling::End),
            _ => Err(error),
        }
    }
}
