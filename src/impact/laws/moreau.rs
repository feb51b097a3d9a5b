//! Impact with restitution and friction, all contacts at once (Moreau; Glocker & Pfeiffer).

use crate::impact::coupled_parts::resolve_parts;
use crate::impact::laws::anitescu_potra::AnitescuPotra;
use crate::impact::laws::unilateral::Unilateral;
use crate::impact::multipliers::ContactRates;
use crate::impact::space::{self, MOST_CONTACTS, MOST_OF_ONE};
use crate::impact::{ImpactFailure, ImpactLaw, ImpactProblem, Outcomes, Remark};
use crate::linalg::scratch::with_zeros;
use crate::validate;
use nalgebra::DVector;

/// Newton's restitution with Coulomb friction, all contacts at once (Moreau). With
///
/// ```text
///     ξ_n = u_n⁺ + e_n (u_n⁻)₋        ξ_t = u_t⁺ + e_t u_t⁻        (u)₋ = min(u, 0)
///     0 ≤ p_n ⊥ ξ_n ≥ 0               p_t ∈ −μ p_n Sgn(ξ_t)
/// ```
///
/// a contact that pushes rebounds with its restitution `e_n`, and friction opposes what is left of the
/// slip; in space within a round cone: all outcomes that are found of up to five contacts, one of up to
/// forty; beyond, or where none is found, with [`directions`](Self::directions), which
/// [`Remark::FewDirections`](crate::impact::Remark::FewDirections) says. Where a mode seems to be an outcome, but no
/// impulses of dependent contacts are found that obey the law, it is left out, and the set is not complete. Without
/// friction it is [`Unilateral`], with restitutions of zero [`AnitescuPotra`], which says how many outcomes are found
/// and where the set is incomplete. The law of a [`ContactModel`](crate::ContactModel) with friction, unless another
/// is chosen.
///
/// # Energy
/// Where all contacts have one `e = e_n = e_t` and none parts before, the energy never rises. Otherwise it may, as Newton's
/// restitution does with friction (Kane): the outcome then has a remark
/// ([`Remark::EnergyRaised`](crate::impact::Remark::EnergyRaised)).
///
/// # Errors
/// As [`AnitescuPotra`] and, without friction, as [`Unilateral`];
/// [`InputError::BadSetting`](crate::InputError::BadSetting) for a tangential restitution outside of
/// [−1, 1].
///
/// ```
/// use saltation::impact::{ImpactLaw, ImpactProblem, Moreau};
/// use saltation::nalgebra::{DMatrix, DVector};
/// // A super ball (a sphere, c = 2/5) thrown at the floor at 2 m/s and 1 m/s along it.
/// let delassus = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 0.0, 3.5]);
/// let speeds = DVector::from_vec(vec![-1.0, 2.0]);
/// let problem = ImpactProblem::with_tangents(delassus, speeds, &[10.0])?;
/// let outcome = Moreau::new().tangential(1.0).outcome(&problem)?;
/// assert!((outcome.speeds[0] - 1.0).abs() < 1e-14 && (outcome.speeds[1] + 2.0).abs() < 1e-14);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moreau {
    together: AnitescuPotra,
    tangential: f64,
}

impl Moreau {
    /// Without tangential restitution, and with eight directions of friction in space.
    pub const fn new() -> Self {
        Self {
            together: AnitescuPotra::new(),
            tangential: 0.0,
        }
    }

    /// The tangential restitution `e_t` of all contacts, in [−1, 1]: 1 for super balls, 0, the
    /// default, for bodies that do not store energy along their surfaces.
    #[must_use]
    pub const fn tangential(mut self, restitution: f64) -> Self {
        self.tangential = restitution;
        self
    }

    /// Directions of friction of a contact in space (even, at least 4).
    #[must_use]
    pub const fn directions(mut self, directions: usize) -> Self {
        self.together = self.together.directions(directions);
        self
    }
}

impl ImpactLaw for Moreau {
    fn name(&self) -> &'static str {
        "Moreau"
    }

    fn honours_friction(&self) -> bool {
        true
    }

    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        let kept = self.tangential.abs() <= 1.0;
        let rule = "must lie in [−1, 1]";
        validate::unless(kept, "tangential restitution", self.tangential, rule)?;
        if problem.friction().iter().all(|&mu| mu == 0.0) {
            return Unilateral.resolve_into(problem, outcomes);
        }
        problem.refuse_friction_without_tangents(self.name())?;
        let (speeds, m) = (problem.speeds().as_slice(), problem.contacts());
        with_zeros(speeds.len(), |shifted| {
            // ξ = u⁺ + e u⁻ = (1 + e) u⁻ + G p: the plastic problem of other speeds.
            for (i, (to, &u)) in shifted.iter_mut().zip(speeds).enumerate() {
                let e = match problem.restitution().get(i).filter(|_| i < m) {
                    Some(_) if u >= 0.0 => 0.0,
                    Some(&normal) => normal,
                    None => self.tangential,
                };
                *to = (1.0 + e) * u;
            }
            self.resolve_shifted(problem, shifted, outcomes)
        })
    }
}

impl Moreau {
    /// The impulses of a plastic impact of these speeds with friction, if one is found.
    pub(crate) fn plastic(problem: &ImpactProblem, speeds: &[f64]) -> Option<DVector<f64>> {
        let mut outcomes = Outcomes::default();
        let found = Self::new().resolve_shifted(problem, speeds, &mut outcomes);
        let first = found.ok().and_then(|()| outcomes.list.into_iter().next());
        first.map(|outcome| outcome.impulses)
    }

    /// The plastic problem of shifted speeds: of more contacts than are enumerated by its coupled parts.
    fn resolve_shifted(
        self,
        problem: &ImpactProblem,
        shifted: &[f64],
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        let m = problem.contacts();
        if problem.tangents() > 1 {
            let is_split = m > MOST_CONTACTS
                && resolve_parts(problem, shifted, outcomes, |part, shifted, outcomes| {
                    self.resolve_shifted(part, shifted, outcomes)
                })?;
            if is_split {
                return Ok(());
            }
            if m <= MOST_OF_ONE {
                let contacts = ContactRates {
                    contacts: m,
                    tangents: problem.tangents(),
                    gram: problem.delassus().as_slice(),
                    free: shifted,
                    friction: problem.friction(),
                };
                let found = space::solutions(&contacts, &[], problem.interrupt())?;
                if !found.list.is_empty() {
                    *outcomes = space::outcomes(&found, problem)?;
                    return Ok(());
                }
            }
        }
        self.together.resolve_speeds(problem, shifted, outcomes)?;
        if problem.tangents() > 1 {
            let remarks = outcomes.list.iter_mut().map(|outcome| &mut outcome.remarks);
            remarks.for_each(|remarks| remarks.push(Remark::FewDirections));
        }
        Ok(())
    }
}
