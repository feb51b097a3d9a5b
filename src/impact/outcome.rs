//! One outcome of an impact: impulses, speeds, the order of the contacts, and remarks.

use std::fmt;

use nalgebra::{DVector, DVectorView};

use super::ImpactFailure;
use super::ImpactProblem;
use crate::linalg::scratch::{resize_vector, with_zeros};
use crate::record::{Order, Remark};
use crate::{InputError, validate};

/// Rounding allowed in remarks: no remark is made of pulling impulses and approaching speeds below
/// this part of `√(2T)`, or of energy gained below this part of `T`.
const REMARKABLE: f64 = 1e-9;

/// An outcome of an impact by a law; a law of one's own makes it from impulses
/// ([`ImpactProblem::outcome`]). A driver takes the impulses, computes the rest again, and refuses
/// what no impact may leave: see [`ImpactLaw::resolve_into`](super::ImpactLaw::resolve_into).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// Contact speeds `u⁺` after the impact, in the order of the problem's rows (m/s).
    pub speeds: DVector<f64>,
    /// Impulses `p`, likewise (N s); `u⁺ = u + G p`.
    pub impulses: DVector<f64>,
    /// The order in which contacts acted.
    pub order: Order,
    /// Kinetic energy after less before (J): `½ p · (u + u⁺)`, exact for any law.
    pub energy_change: f64,
    /// Remarks on this outcome that the user should know; empty for a feasible one that loses or
    /// keeps energy.
    pub remarks: Vec<Remark>,
}

impl Outcome {
    /// Memory for an outcome.
    pub(super) fn empty() -> Self {
        Self {
            speeds: DVector::zeros(0),
            impulses: DVector::zeros(0),
            order: Order::Together,
            energy_change: 0.0,
            remarks: Vec::new(),
        }
    }

    /// Takes scaled impulses `μ`, and derives the rest, beside the order and the remarks so far.
    pub(super) fn push(
        &mut self,
        problem: &ImpactProblem,
        scaled_impulses: &[f64],
    ) -> Result<(), ImpactFailure> {
        // frictionless: nothing along the tangents
        resize_vector(&mut self.impulses, problem.speeds().len());
        let scaled = scaled_impulses.iter().zip(&problem.space().roots);
        for (impulse, (mu, root)) in self.impulses.iter_mut().zip(scaled) {
            *impulse = mu / root;
        }
        self.complete(problem)
    }

    /// Takes an order of contacts one by one.
    pub(super) fn set_word(&mut self, word: &[usize]) {
        if let Order::Word(kept) = &mut self.order {
            kept.clear();
            kept.extend_from_slice(word);
        } else {
            self.order = Order::Word(word.to_vec());
        }
    }

    /// From the impulses of all rows, normals first (N s); adds the remarks that any law may give
    /// rise to.
    pub(super) fn of_impulses(
        problem: &ImpactProblem,
        impulses: DVector<f64>,
        order: Order,
        remarks: Vec<Remark>,
    ) -> Result<Self, ImpactFailure> {
        let mut outcome = Self {
            impulses,
            order,
            remarks,
            ..Self::empty()
        };
        outcome.complete(problem)?;
        Ok(outcome)
    }

    /// Refuses impulses that are not one a row, or one a normal, of `problem`, or not finite. Rows of
    /// tangents that were left out have none.
    pub(super) fn check_impulses(&mut self, problem: &ImpactProblem) -> Result<(), InputError> {
        let (rows, found) = (problem.speeds().len(), self.impulses.len());
        if found == problem.contacts() && found < rows {
            let normals = std::mem::replace(&mut self.impulses, DVector::zeros(0));
            self.impulses = normals.resize_vertically(rows, 0.0);
        }
        validate::length("impulses of the outcome", rows, self.impulses.len())?;
        validate::finite("impulses of the outcome", self.impulses.as_slice())
    }

    /// Derives speeds, energy and the remarks that any law may give rise to from the impulses of all
    /// rows. Remarks of these kinds that are there already are replaced.
    pub(super) fn complete(&mut self, problem: &ImpactProblem) -> Result<(), ImpactFailure> {
        let (roots, before) = (&problem.space().roots, problem.speeds());
        let Self {
            speeds,
            impulses,
            energy_change,
            remarks,
            ..
        } = self;
        let n = before.len();
        resize_vector(speeds, n);
        speeds.gemv(1.0, problem.delassus(), impulses, 0.0);
        *energy_change = with_zeros(n, |sums| {
            for ((speed, before), sum) in speeds.iter_mut().zip(before).zip(&mut *sums) {
                *speed += before;
                *sum = before + *speed;
            }
            0.5 * impulses.dot(&DVectorView::from_slice(sums, n))
        });
        let energy_change = *energy_change;
        check_finite("impulse", impulses.as_slice())?;
        check_finite("speed", speeds.as_slice())?;
        check_finite("energy change", &[energy_change])?;

        remarks.retain(|remark| {
            let derived = matches!(
                remark,
                Remark::Adhesive { .. } | Remark::Approaching { .. } | Remark::EnergyRaised { .. }
            );
            !derived
        });
        let limit = REMARKABLE * problem.kinetic_norm();
        let worst = |scaled: &dyn Fn(usize) -> f64| {
            let contacts = 0..problem.contacts();
            contacts
                .map(|i| (i, scaled(i)))
                .min_by(|a, b| a.1.total_cmp(&b.1))
                .filter(|worst| worst.1 < -limit)
                .map(|worst| worst.0)
        };
        if let Some(contact) = worst(&|i| impulses[i] * roots[i]) {
            let impulse = impulses[contact];
            remarks.push(Remark::Adhesive { contact, impulse });
        }
        if let Some(contact) = worst(&|i| speeds[i] / roots[i]) {
            let speed = speeds[contact];
            remarks.push(Remark::Approaching { contact, speed });
        }
        // in this order the product is finite for every finite energy
        if energy_change > 0.5 * limit * problem.kinetic_norm() {
            remarks.push(Remark::EnergyRaised { by: energy_change });
        }
        Ok(())
    }

    /// The contacts in the order of their reflections, for laws that reflect one by one; else
    /// empty.
    pub fn word(&self) -> &[usize] {
        match &self.order {
            Order::Word(word) => word,
            _ => &[],
        }
    }

    /// True when a contact pulls.
    pub fn is_adhesive(&self) -> bool {
        let found = |r: &Remark| matches!(r, Remark::Adhesive { .. });
        self.remarks.iter().any(found)
    }

    /// The contact that pulls most and its impulse, when one does.
    pub(super) fn pull(&self) -> Option<(usize, f64)> {
        self.remarks.iter().find_map(|remark| match *remark {
            Remark::Adhesive { contact, impulse } => Some((contact, impulse)),
            _ => None,
        })
    }

    /// True when no contact approaches any more, but for rounding.
    pub fn is_feasible(&self) -> bool {
        let found = |r: &Remark| matches!(r, Remark::Approaching { .. });
        !self.remarks.iter().any(found)
    }

    /// True when the impact raises the kinetic energy by more than rounding.
    pub fn raises_energy(&self) -> bool {
        let found = |r: &Remark| matches!(r, Remark::EnergyRaised { .. });
        self.remarks.iter().any(found)
    }

    /// Distance of the momenta of two outcomes of one problem in the metric of kinetic energy
    /// (`√J`): `√(Δp · Δu⁺)`.
    ///
    /// NaN for outcomes of problems of different size.
    pub fn distance(&self, other: &Self) -> f64 {
        if self.speeds.len() != other.speeds.len() || self.impulses.len() != other.impulses.len() {
            return f64::NAN;
        }
        // Halves, in units of the greatest: differences and products of finite numbers may
        // overflow.
        let impulses = || self.impulses.iter().zip(&other.impulses);
        let speeds = || self.speeds.iter().zip(&other.speeds);
        let half = |(a, b): (&f64, &f64)| 0.5 * a - 0.5 * b;
        let greatest = |most: f64, v: f64| most.max(v.abs());
        let p = impulses().map(half).fold(0.0, greatest);
        let u = speeds().map(half).fold(0.0, greatest);
        if p == 0.0 || u == 0.0 {
            return 0.0;
        }
        let products = impulses().map(half).zip(speeds().map(half));
        let product: f64 = products.map(|(dp, du)| (dp / p) * (du / u)).sum();
        // zero but for rounding when they are equal
        2.0 * p.sqrt() * u.sqrt() * product.max(0.0).sqrt()
    }
}

impl ImpactProblem {
    /// The outcome of these impulses (N s), as a law of one's own finds them: `u⁺ = u + G p`, energy
    /// and remarks follow. One a row, normals first, or one a normal and none along the tangents.
    /// Its [order](Outcome::order) is [`Order::Together`]; write another where the law has one.
    ///
    /// ```
    /// use saltation::impact::ImpactProblem;
    /// use saltation::nalgebra::{DMatrix, DVector};
    /// let delassus = DMatrix::from_row_slice(2, 2, &[1.0, -0.5, -0.5, 1.0]);
    /// let problem = ImpactProblem::new(delassus, DVector::from_vec(vec![-1.0, 0.0]))?;
    /// let outcome = problem.outcome(&[1.5, 0.5])?;
    /// assert_eq!(outcome.speeds.as_slice(), [0.25, -0.25]);
    /// assert!(!outcome.is_feasible()); // contact 1 approaches now
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::WrongLength`], [`InputError::NotFinite`]; [`ImpactFailure::Overflow`] for speeds
    /// or an energy beyond the range of numbers.
    pub fn outcome(&self, impulses: &[f64]) -> Result<Outcome, ImpactFailure> {
        let mut outcome = Outcome::empty();
        outcome.impulses = DVector::from_column_slice(impulses);
        outcome.check_impulses(self)?;
        outcome.complete(self)?;
        Ok(outcome)
    }

    /// An approach below this (`√J`, scaled speed) after an impact is rounding: that of remarks, and
    /// of the Gram matrix where contacts depend on each other.
    pub(super) fn least_approach(&self) -> f64 {
        let least = REMARKABLE * self.kinetic_norm();
        if self.dependent().is_empty() {
            least
        } else {
            least.max(self.noise())
        }
    }

    /// `v⁺ = v⁻ + M⁻¹ Jᵀ p`.
    ///
    /// # Errors
    /// [`InputError::OnlyContactSpace`] for a problem given in contact space;
    /// [`InputError::WrongLength`] for an outcome of another problem.
    pub fn velocity_after(&self, outcome: &Outcome) -> Result<DVector<f64>, ImpactFailure> {
        Ok(self.velocity_after_impulses(&outcome.impulses)?)
    }
}

/// Refuses numbers that overflow, by their rows.
pub(super) fn check_finite(quantity: &'static str, values: &[f64]) -> Result<(), ImpactFailure> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(contact) => Err(ImpactFailure::Overflow {
            quantity,
            contact,
            value: values[contact],
        }),
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |v: &DVector<f64>| {
            let numbers: Vec<String> = v.iter().map(|x| format!("{x:.6}")).collect();
            numbers.join(", ")
        };
        write!(
            f,
            "{}: speeds ({}), impulses ({}), energy {:+.6}",
            self.order,
            list(&self.speeds),
            list(&self.impulses),
            self.energy_change
        )?;
        self.remarks.iter().try_for_each(|r| write!(f, "; {r}"))
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact equality is what is promised")]
mod tests {
    use super::*;
    use nalgebra::{dmatrix, dvector};

    fn outcome(problem: &ImpactProblem, scaled: &[f64]) -> Result<Outcome, ImpactFailure> {
        let mut outcome = Outcome::empty();
        outcome.push(problem, scaled)?;
        Ok(outcome)
    }

    #[test]
    fn remarks_name_the_worst() {
        let problem =
            ImpactProblem::new(dmatrix![1.0, 0.0; 0.0, 4.0], dvector![-1.0, -2.0]).unwrap();
        let found = outcome(&problem, &[1.0, -0.5]).unwrap();
        assert_eq!(found.impulses.as_slice(), [1.0, -0.25]);
        assert_eq!(found.speeds.as_slice(), [0.0, -3.0]);
        // ½ (1 · −1 + −¼ · −5)
        assert_eq!(found.energy_change, 0.125);
        let (contact, impulse, speed, by) = (1, -0.25, -3.0, 0.125);
        assert_eq!(
            found.remarks,
            [
                Remark::Adhesive { contact, impulse },
                Remark::Approaching { contact, speed },
                Remark::EnergyRaised { by }
            ]
        );
        let calm = outcome(&problem, &[1.0, 1.0]).unwrap();
        assert!(calm.remarks.is_empty() && calm.is_feasible());
        assert!((calm.distance(&found) - 1.5).abs() < 1e-15);
    }

    #[test]
    fn overflow_is_typed() {
        let problem = ImpactProblem::new(dmatrix![1.0], dvector![-1e300]).unwrap();
        let refused = outcome(&problem, &[4e300]);
        assert!(matches!(
            refused,
            Err(ImpactFailure::Overflow {
                quantity: "energy change",
                ..
            })
        ));
    }
}
