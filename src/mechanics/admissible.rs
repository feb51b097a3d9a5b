//! Admissibility: what a run must not meet, each by its name (Pace & Burden, section 3.4; spec `unilateral_mechanics` 4).

use super::event_driven::EventDriven;
use super::log::{ContactEvent, ContactEventKind, closed};
use super::zeno::Accumulation;
use super::{MechanicalSystem, UnilateralConstraints};
use crate::derivative::TouchWatch;
use crate::hybrid::settings::Settings;
use crate::impact::ImpactLaw;
use crate::{CrossedSet, Error, EventFunction, Flow, Mode, Observer, Segment};

/// What to do with a gap that is touched without an impact worth the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Grazing {
    /// End the run with [`Error::Grazing`], [`Error::GrazingRelease`] or [`Error::InconsistentMode`], at the end of the step in which
    /// it happens.
    #[default]
    Error,
    /// Go on as if there had been no touch; an approach below the least rate still ends the run.
    Ignore,
    /// Log the touch and go on. A contact that approaches below the least rate, or whose gap is negative where it should open, is
    /// closed by a plastic impact and settles; one whose force falls to zero too slowly is opened. What derivatives say beyond is
    /// not guaranteed.
    Contact,
}

/// Parts of a segment at which open gaps are looked at: a bump that lies between the samples of the core is not passed through.
const LOOKED_AT: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

/// The observer that ends a run when a gap or a force is touched (or notes it, as the policy says), or a gap is negative where it should open.
pub(super) struct Watcher<'a, S, L> {
    model: &'a EventDriven<S, L>,
    settings: &'a Settings,
    touch: Option<TouchWatch>,
    pub(super) trouble: Option<Error>,
    /// Bounces too low to be resolved.
    pub(super) low: Option<Accumulation>,
    point: Vec<f64>,
    /// Touches met on the way, where they do not end the run.
    pub(super) touches: Vec<ContactEvent>,
    grazing: Grazing,
}

impl<'a, S, L> Watcher<'a, S, L>
where
    S: MechanicalSystem + UnilateralConstraints,
    L: ImpactLaw,
{
    pub(super) fn new(
        model: &'a EventDriven<S, L>,
        settings: &'a Settings,
        grazing: Grazing,
    ) -> Self {
        let watches = grazing != Grazing::Ignore;
        let touch = watches.then(|| TouchWatch::new(model.dim(), model.count()));
        Self {
            model,
            settings,
            touch,
            trouble: None,
            low: None,
            point: vec![0.0; model.dim()],
            touches: Vec::new(),
            grazing,
        }
    }
}

impl<S, L> Observer for Watcher<'_, S, L>
where
    S: MechanicalSystem + UnilateralConstraints,
    L: ImpactLaw,
{
    fn segment(&mut self, segment: &Segment<'_>) {
        let (model, settings) = (self.model, self.settings);
        let system = model.system();
        let length = segment.time - segment.start;
        for part in LOOKED_AT {
            let t = segment.start + part * length;
            segment.interpolant.at(t, &mut self.point);
            let (q, _) = self.point.split_at(system.dof());
            for contact in 0..system.contacts() {
                let gap = system.gap(contact, q);
                if gap < -100.0 * model.gap_tolerance && !model.is_closed(segment.mode, contact) {
                    self.trouble = Some(Error::InconsistentMode { contact, gap, t });
                    return;
                }
            }
        }
        let Some(touch) = &mut self.touch else {
            return;
        };
        let scale = |i: usize, x: f64| settings.atol.get(i) + settings.rtol.get(i) * x.abs();
        // Forces are raised so that idle contacts stay; one that is touched comes as close as that.
        let slack = |j: usize, t: f64, x: &[f64]| model.raised_by(j, t, x, segment.mode);
        if let Some(Error::Touch { guard, t, .. }) = touch.look(model, segment, false, scale, slack)
        {
            let contact = guard.event;
            if self.grazing == Grazing::Contact {
                let mut state = segment.state.to_vec();
                segment.interpolant.at(t, &mut state);
                let mode = closed(segment.mode, system.contacts());
                let gap_touched = !mode.contains(&contact);
                self.touches.push(ContactEvent {
                    activated: gap_touched.then_some(contact).into_iter().collect(),
                    mode_before: mode.clone(),
                    mode_after: mode,
                    state_after: state.clone(),
                    state_before: state,
                    contacts: vec![contact],
                    ..ContactEvent::new(t, ContactEventKind::Touch)
                });
                return;
            }
            self.trouble = Some(if model.is_closed(segment.mode, contact) {
                Error::GrazingRelease {
                    contact,
                    rate: 0.0,
                    t,
                }
            } else {
                Error::Grazing {
                    contact,
                    velocity: 0.0,
                    t,
                }
            });
        }
    }

    fn together(&mut self, set: &CrossedSet<'_>) {
        self.low = self.low.take().or_else(|| self.model.low_bounces(set));
    }

    fn is_done(&self) -> bool {
        self.trouble.is_some() || self.low.is_some()
    }
}

/// The reason why the core refused a run, in the words of mechanics.
pub(super) fn explain<S, L>(model: &EventDriven<S, L>, mode: &Mode, reason: Error) -> Error
where
    S: MechanicalSystem + UnilateralConstraints,
    L: ImpactLaw,
{
    match reason {
        Error::NotLive {
            guard,
            rate_before,
            t,
            ..
        } if guard.event < model.system().contacts() => {
            let contact = guard.event;
            if model.is_closed(mode, contact) {
                Error::GrazingRelease {
                    contact,
                    rate: rate_before,
                    t,
                }
            } else {
                Error::Grazing {
                    contact,
                    velocity: rate_before,
                    t,
                }
            }
        }
        Error::NotFinite { quantity, t, state } => model
            .trouble_ahead(&state, mode)
            .unwrap_or(Error::NotFinite { quantity, t, state }),
        other => other,
    }
}
