//! Inelastic impact with friction at one contact.

use nalgebra::DVector;

use crate::impact::ImpactFailure;
use crate::impact::planar::routh::OneContact;
use crate::impact::{ImpactLaw, ImpactProblem, Order, Outcomes};
use crate::linalg::scratch::resize_vector;
use crate::validate;

/// Inelastic impact with Coulomb friction at one contact (Routh).
///
/// The normal impulse grows until the contact no longer approaches; friction opposes the slip of
/// every moment. In the plane slip is followed by stick or by slip the other way, in closed form;
/// in space the direction of slip turns, and Keller's equations are integrated (tolerance 1e-14).
/// The outcome is unique. Without tangents it is the plastic impact.
///
/// Coefficients of restitution are not read. Source: Halm & Posa, section on single impacts;
/// Keller, "Impact with friction" (1986).
///
/// ```
/// use saltation::impact::{ImpactLaw, ImpactProblem, Routh};
/// use saltation::nalgebra::{DMatrix, DVector};
/// // A rod that slides into the floor without approaching it.
/// let problem = ImpactProblem::with_tangents(
///     DMatrix::from_row_slice(2, 2, &[1.6, -1.2, -1.2, 3.4]),
///     DVector::from_vec(vec![0.0, -1.0]),
///     &[2.0],
/// )?;
/// assert!(Routh::new().outcome(&problem)?.impulses.amax() == 0.0);
/// let impact = Routh::new().without_collision().outcome(&problem)?;
/// assert!((impact.impulses - DVector::from_vec(vec![0.3, 0.4])).amax() < 1e-15);
/// # Ok::<(), saltation::Error>(())
/// ```
///
/// # Errors
/// [`InputError::BadSetting`](crate::InputError::BadSetting) for more than one contact;
/// [`InputError::FrictionIgnored`](crate::InputError::FrictionIgnored) for friction without
/// tangents; [`ImpactFailure::Jammed`]; [`ImpactFailure::ReflectionCap`] when the slip in space takes more than
/// 100 000 steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Routh {
    without_collision: bool,
}

impl Routh {
    /// Impacts of contacts that approach.
    pub const fn new() -> Self {
        Self {
            without_collision: false,
        }
    }

    /// Also impacts of a contact that slides and does not approach, but would approach when pressed
    /// on (Painlevé): for a caller whose contact forces have no solution. A contact that separates
    /// faster than [`ImpactProblem::threshold`] gets no impulse.
    #[must_use]
    pub const fn without_collision(mut self) -> Self {
        self.without_collision = true;
        self
    }
}

impl ImpactLaw for Routh {
    fn name(&self) -> &'static str {
        "Routh"
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
        let count = problem.contacts();
        validate::unless(
            count == 1,
            "contacts",
            count as f64,
            "must be 1 for Routh; InOrder and AnitescuPotra take several",
        )?;
        let (outcome, _) = outcomes.begin_one();
        outcome.order = Order::Together;
        resize_vector(&mut outcome.impulses, problem.speeds().len());
        // A contact that separates is not pressed on.
        let touches = problem.space().speeds[0] <= problem.threshold();
        if !problem.is_feasible() || self.without_collision && touches {
            let impulses = outcome.impulses.as_mut_slice();
            resolve_contact(problem, 0, problem.speeds(), impulses)?;
        }
        outcome.complete(problem)
    }
}

/// Adds the impulse of an impact at one contact alone to those of all.
pub(crate) fn resolve_contact(
    problem: &ImpactProblem,
    contact: usize,
    speeds: &DVector<f64>,
    impulses: &mut [f64],
) -> Result<(), ImpactFailure> {
    match problem.tangents() {
        0 => add(problem, contact, speeds, impulses, |c: OneContact<1>| {
            Ok(c.impulse())
        }),
        1 => add(problem, contact, speeds, impulses, |c: OneContact<2>| {
            c.impulse()
        }),
        _ => add(problem, contact, speeds, impulses, |c: OneContact<3>| {
            c.impulse()
        }),
    }
}

fn add<const N: usize>(
    problem: &ImpactProblem,
    contact: usize,
    speeds: &DVector<f64>,
    impulses: &mut [f64],
    resolve: impl Fn(OneContact<N>) -> Result<[f64; N], ImpactFailure>,
) -> Result<(), ImpactFailure> {
    let first = problem.contacts() + (N - 1) * contact;
    let row = |i: usize| if i == 0 { contact } else { first + i - 1 };
    let alone = OneContact {
        delassus: std::array::from_fn(|i| {
            std::array::from_fn(|j| problem.delassus()[(row(i), row(j))])
        }),
        friction: problem.friction()[contact],
        speeds: std::array::from_fn(|i| speeds[row(i)]),
    };
    let impulse = resolve(alone).map_err(|failure| named(failure, contact))?;
    for (i, p) in impulse.into_iter().enumerate() {
        impulses[row(i)] += p;
    }
    Ok(())
}

/// A failure at one contact, which counts itself only, with its number.
fn named(failure: ImpactFailure, contact: usize) -> ImpactFailure {
    match failure {
        ImpactFailure::Jammed { speed, .. } => ImpactFailure::Jammed { contact, speed },
        ImpactFailure::ReflectionCap { limit, speed, .. } => ImpactFailure::ReflectionCap {
            limit,
            contact,
            speed,
        },
        other => other,
    }
}
