//! Numbers of a contact.

use crate::{InputError, validate};

/// Numbers of a contact; see [`UnilateralConstraints`](crate::mechanics::UnilateralConstraints) for their meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContactParameters {
    /// Number of the contact in its source.
    pub contact: usize,
    /// Gap (m).
    pub gap: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Coefficient of spinning friction `s` (m): the contact transmits a moment about its normal of at
    /// most `s` times its normal force. Of the compliant driver; others refuse it.
    pub spinning_friction: f64,
    /// Coefficient of rolling friction `r` (m): the same of moments in the tangent plane.
    pub rolling_friction: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Stiffness (N/m).
    pub stiffness: f64,
    /// Dissipation time (s).
    pub dissipation_time: f64,
    /// Near-rigid limit `β` of the compliant driver; none: that of the driver
    /// ([`Softness`](crate::compliant::Softness)).
    pub near_rigid: Option<f64>,
    /// Softness of stiction `σ` of the compliant driver; none: that of the driver.
    pub stiction: Option<f64>,
    /// Radius of the smaller body (m), beside which an overlap is large; none: not known.
    pub size: Option<f64>,
}

impl ContactParameters {
    /// A rigid contact without friction and restitution.
    pub fn new(contact: usize, gap: f64) -> Self {
        Self {
            contact,
            gap,
            friction: 0.0,
            spinning_friction: 0.0,
            rolling_friction: 0.0,
            restitution: 0.0,
            stiffness: f64::INFINITY,
            dissipation_time: 0.0,
            near_rigid: None,
            stiction: None,
            size: None,
        }
    }

    /// Refuses numbers that make no sense. Restitution is checked where it is used: some laws and
    /// drivers take any.
    pub(crate) fn validate(&self) -> Result<(), InputError> {
        validate::finite("gap", &[self.gap])?;
        validate::not_negative("coefficient of friction", &[self.friction])?;
        validate::not_negative("spinning friction", &[self.spinning_friction])?;
        validate::not_negative("rolling friction", &[self.rolling_friction])?;
        let (stiffness, rule) = (self.stiffness, "must be > 0");
        validate::unless(stiffness > 0.0, "stiffness", stiffness, rule)?;
        validate::not_negative("dissipation time", &[self.dissipation_time])
    }

    /// True for spinning or rolling friction: the contact then has rows of angular velocities.
    pub(crate) fn has_moments(&self) -> bool {
        self.spinning_friction > 0.0 || self.rolling_friction > 0.0
    }

    /// The refusal of what would ignore them.
    pub(crate) fn moments_ignored(&self, law: &'static str, contact: usize) -> InputError {
        InputError::MomentsIgnored {
            law,
            contact,
            spinning: self.spinning_friction,
            rolling: self.rolling_friction,
        }
    }
}
