//! Coefficients of friction that depend on the slip and the place: static friction above kinetic, and
//! Stribeck's fall with speed.

use crate::mechanics::contact_model::Model;
use crate::mechanics::{State, UnilateralConstraints};
use crate::{InputError, validate};

/// The coefficients of friction of a contact, at a place and with a speed of its slip; see
/// [`UnilateralConstraints::friction_at`].
///
/// ```
/// use saltation::prelude::*;
/// /// A block of 1 kg on ground that is ice from x = 1 m on: `q = (x, z)`.
/// struct Block;
/// impl MechanicalSystem for Block {
///     fn dof(&self) -> usize { 2 }
///     fn mass(&self, _q: &[f64], mass: &mut [f64]) { mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]); }
///     fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) { effort.copy_from_slice(&[0.0, -9.81]); }
/// }
/// impl UnilateralConstraints for Block {
///     fn contacts(&self) -> usize { 1 }
///     fn gap(&self, _j: usize, q: &[f64]) -> f64 { q[1] }
///     fn friction(&self, _j: usize) -> f64 { 0.4 } // says that there is friction; the law replaces it
///     fn friction_at(&self, _j: usize, q: &[f64], _speed: f64) -> Option<Friction> {
///         let ice = 0.5 + 0.5 * ((q[0] - 1.0) / 0.05).tanh();
///         let slip = 0.4 * (1.0 - ice) + 0.05 * ice;
///         Some(Friction { stick: 1.5 * slip, slip })
///     }
///     fn tangents(&self, _j: usize) -> usize { 1 }
///     fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) { rows.copy_from_slice(&[1.0, 0.0]); }
/// }
/// let start = Start::at(0.0).q(&[0.0, 0.0]).v(&[3.0, 0.0]);
/// let run = EventDriven::new(ContactModel::new(Block))?.rtol(1e-9).integrate(&start, 6.0)?.completed()?;
/// // v²/2 = 0.4 g · 1 + 0.05 g · (x − 1)
/// let x = 1.0 + (0.5 * 9.0 - 0.4 * 9.81) / (0.05 * 9.81);
/// assert_eq!(run.events()[0].stuck, [0]);
/// assert!((run.state()[0] - x).abs() < 1e-4);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friction {
    /// Static friction: a contact that does not slip sticks up to `|λ_t| = stick · λ_n`.
    pub stick: f64,
    /// Kinetic friction: one that slips has `|λ_t| = slip · λ_n` against its slip; at most
    /// [`stick`](Self::stick) where the speed is zero.
    pub slip: f64,
}

impl Friction {
    /// Coulomb's law: one coefficient.
    pub const fn constant(mu: f64) -> Self {
        Self {
            stick: mu,
            slip: mu,
        }
    }

    /// With coefficients that are above zero, and static friction no less than kinetic; NaN where they
    /// are none, so that the run ends there.
    pub(crate) fn sound(self) -> Self {
        let sound = |mu: f64| if mu >= 0.0 { mu.max(LEAST) } else { f64::NAN };
        let slip = sound(self.slip);
        Self {
            stick: sound(self.stick).max(slip),
            slip,
        }
    }
}

/// Coefficients of a law are no less: on ice too a contact slips in a direction, and does not stick.
const LEAST: f64 = 1e-12;

impl Model<'_> {
    /// The coefficients of a contact that slips with this speed, as far as they matter.
    pub(crate) fn coefficients(&self, j: usize, q: &[f64], speed: f64) -> Friction {
        let constant = self.friction(j);
        if constant == 0.0 || !self.has_laws {
            return Friction::constant(constant);
        }
        let law = self.system().friction_at(j, q, speed);
        law.map_or(Friction::constant(constant), Friction::sound)
    }

    /// True when the coefficient of a contact depends on neither slip nor place here.
    pub(crate) fn has_constant_friction(&self, j: usize, q: &[f64]) -> bool {
        !self.has_laws || self.system().friction_at(j, q, 0.0).is_none()
    }

    /// Refuses friction where no contact had any when the model was made: modes have no place for slips then.
    pub(crate) fn check_has_friction(&self) -> Result<(), InputError> {
        if self.is_frictionless() || self.functions().tangents > 0 {
            return Ok(());
        }
        let system = self.system();
        let each = (0..system.contacts()).filter(|&j| system.tangents(j) > 0);
        each.map(|j| system.friction(j)).try_for_each(|friction| {
            validate::unless(
                friction == 0.0,
                "coefficient of friction",
                friction,
                "zero, as those of all contacts were when the model was made: make it anew",
            )
        })
    }

    /// Refuses coefficients of friction that are none, and laws that are at variance with themselves.
    pub(crate) fn check_coefficients(&self, State { q, .. }: State<'_>) -> Result<(), InputError> {
        for j in 0..self.system().contacts() {
            let constant = self.friction(j);
            let law = self.system().friction_at(j, q, 0.0);
            let law = law.filter(|_| !self.is_frictionless());
            let Friction { stick, slip } = law.unwrap_or(Friction::constant(constant));
            let each = [
                ("coefficient of friction", constant),
                ("static friction of the law", stick),
                ("kinetic friction of the law", slip),
            ];
            for (name, value) in each {
                validate::not_negative(name, &[value]).map_err(validate::counted_from(j))?;
            }
            let is_ignored = constant == 0.0 && !self.is_frictionless();
            let is_ignored = is_ignored && !self.has_constant_friction(j, q);
            let rule = "a contact with a law of friction needs a coefficient that is not zero";
            validate::unless(!is_ignored, "coefficient of friction", constant, rule)?;
            let rule = "must not be below kinetic friction";
            validate::unless(stick >= slip, "static friction of the law", stick, rule)?;
        }
        Ok(())
    }
}
