//! Inelastic impact with friction, one contact after another in a given order.

use nalgebra::DVector;

use super::routh::resolve_contact;
use crate::impact::ImpactFailure;
use crate::impact::outcome::check_finite;
use crate::impact::{ImpactLaw, ImpactProblem, Order, Outcome, Outcomes};
use crate::{InputError, validate};

/// Limit of the impacts of single contacts, unless another cap is set.
const CAP: usize = 10_000;

/// Inelastic impact with Coulomb friction, one contact after another: in each round every contact
/// that approaches has an impact of its own ([`Routh`](crate::impact::Routh)), in a given order.
///
/// Three and more contacts usually need infinitely many rounds, in which speeds shrink by a
/// constant factor. It ends when no contact approaches faster than the tolerance, or at the cap:
/// then the set is incomplete ([`Outcomes::is_complete`]), and the outcome remarks how fast a
/// contact still approaches. [`Order::Word`] holds the contacts in the order of their impacts, and
/// [`Outcomes::effort`] their number.
///
/// Coefficients of restitution are not read. The kinetic energy never rises.
///
/// # Errors
/// [`InputError::NoSuch`] for an order that names a contact twice or one that does not exist,
/// [`InputError::WrongLength`] for one that leaves contacts out; those of
/// [`Routh`](crate::impact::Routh); [`ImpactFailure::Overflow`].
///
/// ```
/// use saltation::impact::{ImpactLaw, ImpactProblem, InOrder};
/// use saltation::nalgebra::{DMatrix, DVector};
/// let problem = ImpactProblem::new(DMatrix::from_row_slice(2, 2, &[1.0, 0.5, 0.5, 1.0]), DVector::from_vec(vec![-1.0, -1.0]))?;
/// let first = InOrder::new(&[0, 1]).outcome(&problem)?;
/// assert!((first.speeds - DVector::from_vec(vec![0.25, 0.0])).amax() < 1e-15);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct InOrder {
    order: Vec<usize>,
    cap: usize,
    tolerance: f64,
}

impl InOrder {
    /// In this order of all contacts of the problem. In a run these are the contacts that touch, so
    /// that an order of two fails where one lands alone.
    pub fn new(order: &[usize]) -> Self {
        Self {
            order: order.to_vec(),
            cap: CAP,
            tolerance: 1e-12,
        }
    }

    /// Limit of the impacts of single contacts; default 10 000, and 1 000 000 at most.
    #[must_use]
    pub const fn cap(mut self, impacts: usize) -> Self {
        self.cap = if impacts < validate::MOST {
            impacts
        } else {
            validate::MOST
        };
        self
    }

    /// A contact has an impact when its scaled speed `u_i/√G_ii` is below minus this part of the
    /// greatest before the impact, of normals and tangents (default 1e-12).
    #[must_use]
    pub const fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    fn check(&self, contacts: usize) -> Result<(), InputError> {
        validate::length("order", contacts, self.order.len())?;
        let mut seen = vec![false; contacts];
        for &index in &self.order {
            match seen.get_mut(index) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    return Err(InputError::NoSuch {
                        what: "contact that is not in the order already",
                        index,
                        count: contacts,
                    });
                }
            }
        }
        let kept = (0.0..=0.1).contains(&self.tolerance);
        validate::unless(kept, "tolerance", self.tolerance, "must lie in [0, 0.1]")
    }
}

impl ImpactLaw for InOrder {
    fn name(&self) -> &'static str {
        "InOrder"
    }

    fn honours_friction(&self) -> bool {
        true
    }

    fn honours_restitution(&self) -> bool {
        false
    }

    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        problem.refuse_friction_without_tangents(self.name())?;
        self.check(problem.contacts())?;
        let m = problem.contacts();
        let mut speeds = problem.speeds().clone();
        let mut impulses = DVector::zeros(speeds.len());
        let mut push = DVector::zeros(speeds.len());
        let eps = problem.parts_of_greatest(self.tolerance);
        let mut word = Vec::new();
        let is_complete = 'rounds: loop {
            if (0..m).all(|i| speeds[i] >= -eps[i]) {
                break true;
            }
            for &contact in &self.order {
                if speeds[contact] >= -eps[contact] {
                    continue;
                }
                problem.check_interrupt()?;
                if word.len() >= self.cap {
                    break 'rounds false;
                }
                push.fill(0.0);
                resolve_contact(problem, contact, &speeds, push.as_mut_slice())?;
                speeds.gemv(1.0, problem.delassus(), &push, 1.0);
                check_finite("speed", speeds.as_slice())?;
                impulses += &push;
                word.push(contact);
            }
        };
        let effort = word.len();
        let order = Order::Word(word);
        let outcome = Outcome::of_impulses(problem, impulses, order, Vec::new())?;
        *outcomes = Outcomes::of(vec![outcome], is_complete, effort);
        Ok(())
    }
}
