//! The settings of a run, read beside the system.

use std::sync::Arc;

use crate::impact::{ImpactLaw, Selection};
use crate::mechanics::contact::source::common_tangents;
use crate::mechanics::{ContactModel, MechanicalSystem, Mechanism, UnilateralConstraints};
use crate::record::{Limits, step_count};
use crate::{InputError, validate};

/// The rule by which a chattering contact comes to rest: its impact is then plastic, and it stays
/// closed.
///
/// Times between impacts shrink geometrically where restitution is less than one, and steps cannot
/// follow them to the end. The paper says only "faster than the time-step frequency". The time
/// between impacts does not count for contacts with restitution 1, which lose nothing; their number
/// in a step does. For others a step that is longer than the time between impacts makes every
/// impact chatter: take shorter steps, or set [`time`](Self::time).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Chatter {
    /// Two impacts of a contact closer than this (s) are chatter; none: one step.
    pub time: Option<f64>,
    /// More impacts of a contact within one step than this are chatter.
    pub impacts: usize,
}

impl Default for Chatter {
    /// One step, three impacts.
    fn default() -> Self {
        Self {
            time: None,
            impacts: 3,
        }
    }
}

impl Chatter {
    /// With another time (s).
    #[must_use]
    pub fn time(mut self, time: f64) -> Self {
        self.time = Some(time);
        self
    }

    /// With another number of impacts in a step.
    #[must_use]
    pub fn impacts(mut self, impacts: usize) -> Self {
        self.impacts = impacts;
        self
    }
}

/// Settings of a [`Variational`](super::Variational); its methods say what they mean.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) law: Arc<dyn ImpactLaw + Send + Sync>,
    pub(super) selection: Selection,
    pub(super) step: f64,
    pub(super) chatter: Option<Chatter>,
    pub(super) friction: bool,
    /// Coefficients of restitution outside [0, 1] are accepted.
    pub(super) any_restitution: bool,
    pub(super) frictionless_impacts: bool,
    pub(super) gap_tolerance: f64,
    pub(super) rate_tolerance: f64,
    pub(super) max_impacts: usize,
    pub(super) limits: Limits,
}

impl Settings {
    /// Defaults, with what the model says.
    pub(super) fn of<S>(model: &ContactModel<S>) -> Self
    where
        S: MechanicalSystem + UnilateralConstraints,
    {
        Self {
            law: Arc::clone(&model.law),
            selection: model.selection.clone(),
            step: 1e-3,
            chatter: Some(Chatter::default()),
            friction: !model.is_frictionless(),
            any_restitution: model.any_restitution,
            frictionless_impacts: false,
            gap_tolerance: model.gap_tolerance,
            rate_tolerance: model.rate_tolerance,
            max_impacts: 1000,
            limits: Limits::default(),
        }
    }

    /// The number of steps to `tf`; refuses more than the limit.
    pub(super) fn steps(&self, t0: f64, tf: f64) -> Result<usize, InputError> {
        validate::positive("time_step", &[self.step])?;
        let count = step_count(t0, tf, self.step);
        self.limits.check_steps("time_step", self.step, count)
    }

    /// The end of a step, counted from one at the start of a run.
    pub(super) fn end_of(&self, start: f64, step: usize) -> f64 {
        start + step as f64 * self.step
    }

    /// Refuses a coefficient of restitution that makes no sense, or that the law ignores.
    pub(super) fn check_restitution(
        &self,
        law: &dyn ImpactLaw,
        contact: usize,
        restitution: f64,
    ) -> Result<(), InputError> {
        if !self.any_restitution && !(0.0..=1.0).contains(&restitution) {
            return Err(InputError::BadSetting {
                name: "restitution",
                entry: contact,
                value: restitution,
                rule: "must lie in [0, 1]; ContactModel::any_restitution takes others",
            });
        }
        if restitution != 0.0 && !law.honours_restitution() {
            return Err(InputError::RestitutionIgnored {
                law: law.name(),
                contact,
                restitution,
            });
        }
        Ok(())
    }

    /// Refuses what makes no sense: settings, contacts that differ in tangents, friction that
    /// nothing honours.
    pub(super) fn check(&self, system: &dyn Mechanism) -> Result<(), InputError> {
        validate::positive("time_step", &[self.step])?;
        validate::not_negative("gap_tolerance", &[self.gap_tolerance])?;
        validate::positive("rate_tolerance", &[self.rate_tolerance])?;
        if let Some(time) = self.chatter.and_then(|rule| rule.time) {
            validate::not_negative("chatter time", &[time])?;
        }
        let tangents = common_tangents(system, system.contacts())?;
        let mut coefficients = (0..system.contacts()).map(|j| (j, system.friction(j)));
        let rough = coefficients.find(|(_, friction)| *friction != 0.0);
        let honoured = !self.friction || self.frictionless_impacts || self.law.honours_friction();
        match rough {
            Some((contact, friction)) if !honoured => Err(InputError::FrictionIgnored {
                law: self.law.name(),
                contact,
                friction,
            }),
            Some((contact, _)) if self.friction && tangents == 0 => Err(InputError::Tangents {
                contact,
                expected: 1,
                found: 0,
            }),
            _ => Ok(()),
        }
    }
}
