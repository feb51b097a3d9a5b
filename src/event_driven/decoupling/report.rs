//! The report on contacts that close at once: whether outcomes vary differentiably, continuously or
//! with jumps (Pace & Burden, assumption 3 and section 4).

use crate::event_driven::Breakdown;
use crate::event_driven::Model;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use std::f64::consts::PI;

use nalgebra::{DMatrix, DVector};

use super::orders::{OrderOutcome, orders};
use crate::event_driven::breakdown::explain;
use crate::event_driven::impact::Event;
use crate::impact::{ImpactProblem, Occasion, Uniqueness, uniqueness};
use crate::linalg::cholesky::{factor, inverse};
use crate::mechanics::contact::delassus::fill_impact;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::{Contacts, Wanted};
use crate::{At, Guard, InputError, Mode, Stop};

/// Cosines below this count as zero, and so do differences of velocities, in parts of what the
/// energy allows.
const SMALL: f64 = 1e-9;

/// The dependence of outcomes on the order of contacts, and the quantities that decide it.
///
/// Contacts are numbered in matrices as they were given, without repetitions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DecouplingReport {
    /// `cos_ij = Da_i M⁻¹ Da_jᵀ / √(G_ii G_jj)`: how strongly an impact of one contact changes the
    /// rate of another; dimensionless.
    pub cosines: DMatrix<f64>,
    /// The largest of them off the diagonal, by amount.
    pub largest_cosine: f64,
    /// The largest difference of an entry of the maps `Ξ_σ` of two orders.
    pub order_spread: f64,
    /// The largest difference of a velocity between the outcomes of two orders.
    pub state_spread: f64,
    /// Orders compared: all of up to four contacts; of more the given one, its reverse, the one by
    /// number and 24 random ones.
    pub orders: usize,
    /// The outcomes of nearby states that meet the contacts in each of these orders: one-sided
    /// limits and derivatives.
    ///
    /// In free flight each contact of an order would be met 1e4 times later than the one before.
    /// Two contacts have no other nearby states. With more contacts, states whose repeated impacts
    /// mix in other ways may differ by more than the spread of these orders.
    pub outcomes: Vec<OrderOutcome>,
    /// The velocities that the law gives at the corner itself, where all contacts close at once.
    pub velocity_at_once: DVector<f64>,
    /// The largest difference of a velocity between that outcome and those of the orders.
    pub corner_spread: f64,
    /// The limbs: sets of coordinates that the mass matrix couples, each with the contact it
    /// carries. None when two contacts share a limb.
    pub limbs: Option<Vec<Vec<usize>>>,
    /// The largest `∂f_i/∂(q_j, v_j)` between two limbs `i ≠ j`, or mixed second difference of an
    /// effort, `(f(+h_i, +h_j) − f(+h_i) − f(+h_j) + f)/(h_i h_j)`, over coordinates and speeds of
    /// two limbs: zero when forces between limbs go through the body only, and add up there. Steps
    /// go forward and back, by 1e-2 and 1e-6 of the coordinate; differences that may be rounding of
    /// the efforts and of their terms count as zero. Infinite without limbs, where efforts are not
    /// finite, and where velocities are not the rates of the coordinates.
    pub effort_coupling: f64,
    /// The verdict.
    pub verdict: InertialCoupling,
}

/// The dependence of outcomes on starts when contacts close at once.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum InertialCoupling {
    /// Limbs are decoupled: the derivative is classical, whatever the state.
    Decoupled,
    /// Impacts are not coupled by the Delassus matrix, and all orders have the same map here,
    /// though no blocks were found.
    SmoothHere,
    /// Impacts are not coupled by the Delassus matrix, but forces are coupled: continuous and
    /// piecewise differentiable.
    PiecewiseSmooth,
    /// Continuous, for the reason given.
    ContinuousOnly(ContinuityClass),
    /// All nearby states have one limit, but at the corner itself the law, given all contacts at
    /// once, has another outcome. [`Unilateral`](crate::impact::Unilateral) does so for elastic
    /// contacts at the angle `π/k` with odd `k`, except for symmetric approaches.
    /// [`Propagative`](crate::impact::Propagative), which reflects until nothing approaches, does
    /// not.
    Isolated {
        /// The largest difference of a velocity between the outcome at the corner and the limit.
        by: f64,
    },
    /// Outcomes of neighbours jump, by this much in velocity.
    Discontinuous {
        /// The largest difference of a velocity between the outcomes of two orders.
        jump: f64,
    },
}

/// The reason for which outcomes are continuous though impacts are coupled by the Delassus matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContinuityClass {
    /// Plastic impacts at obtuse angles, all `cos ≤ 0` (L. Paoli, Math. Models Methods Appl. Sci.
    /// 15, 2005).
    ObtusePlastic,
    /// Elastic contacts, independent, each pair at an angle `π/k_ij`, `cos = −cos(π/k_ij)`:
    /// reflections generate a finite group, and their outcome does not depend on the order,
    /// whatever the velocities ([`Uniqueness`]; `k` = 2, 3 are Theorems 2 and 3 of Seghete &
    /// Murphey, arXiv 1709.02296).
    ReflectionGroup {
        /// The greatest `k_ij`, 3 or more: with two contacts the most impacts of one order.
        k: usize,
    },
    /// The outcomes of all orders agree, at these velocities.
    OrdersAgree,
}

impl Model<'_> {
    /// See [`decoupling`](ContactModel::decoupling).
    pub(crate) fn report_decoupling(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        contacts: &[usize],
    ) -> Result<DecouplingReport, Breakdown> {
        let mut distinct: Vec<usize> = Vec::with_capacity(contacts.len());
        for &j in contacts {
            if !distinct.contains(&j) {
                distinct.push(j);
            }
        }
        let contacts = &distinct[..];
        self.check_options()?;
        let x = self.checked_corner(t, q, v, contacts)?;
        let (q, v) = self.parts(&x);
        let (gram, lift) = self.in_frame(&mut ContactsAt::default(), q, contacts, |frame| {
            let m = contacts.len();
            let gram = DMatrix::from_column_slice(m, m, frame.gram);
            (gram, DMatrix::from_column_slice(v.len(), m, frame.lift))
        })?;
        let cosines = DMatrix::from_fn(gram.nrows(), gram.ncols(), |i, j| {
            gram[(i, j)] / (gram[(i, i)] * gram[(j, j)]).sqrt()
        });
        let largest_cosine = off_diagonal(&cosines);
        let open = self.mode(&[]);
        let outcomes: Vec<OrderOutcome> = orders(contacts)
            .iter()
            .map(|order| self.outcome_in_order(t, &x, &open, order))
            .collect::<Result<_, _>>()?;
        let velocity_at_once = self.velocity_at_once(t, &x, contacts)?;
        let mut equal = self.rounding(q, v);
        if outcomes.iter().any(|o| self.collapses(q, o, contacts)) {
            self.allow_for_collapses(&gram, &lift, largest_cosine, &mut equal);
        }
        let spread = Spread::of(&outcomes, &velocity_at_once, &equal);
        let limbs = self.limbs(q, contacts)?;
        let effort_coupling = self.effort_coupling(State { t, q, v }, limbs.as_deref());
        let verdict = if spread.jumps {
            InertialCoupling::Discontinuous { jump: spread.state }
        } else if spread.isolated {
            InertialCoupling::Isolated { by: spread.corner }
        } else if largest_cosine > SMALL {
            // Impacts that are coupled by the Delassus matrix have a different map for each order,
            // even where the outcomes agree.
            InertialCoupling::ContinuousOnly(self.class(State { t, q, v }, contacts)?)
        } else if !spread.same_map {
            InertialCoupling::PiecewiseSmooth
        } else if limbs.is_some() && effort_coupling == 0.0 {
            InertialCoupling::Decoupled
        } else {
            InertialCoupling::SmoothHere
        };
        Ok(DecouplingReport {
            cosines,
            largest_cosine,
            order_spread: spread.order,
            state_spread: spread.state,
            orders: outcomes.len(),
            outcomes,
            velocity_at_once,
            corner_spread: spread.corner,
            limbs,
            effort_coupling,
            verdict,
        })
    }

    /// True when the impacts of an order go on until several contacts are at rest.
    fn collapses(&self, q: &[f64], outcome: &OrderOutcome, contacts: &[usize]) -> bool {
        let at = &mut ContactsAt::default();
        let rates = self.approach(at, &[q, outcome.velocity.as_slice()].concat(), contacts);
        let at_rest = rates
            .iter()
            .filter(|r| r.abs() <= 2.0 * self.rate_tolerance);
        outcome.word.len() > outcome.order.len() && at_rest.count() > 1
    }

    /// Widens the differences of velocities that count as zero: impacts that accumulate end when
    /// contacts approach no faster than the tolerance.
    fn allow_for_collapses(
        &self,
        gram: &DMatrix<f64>,
        lift: &DMatrix<f64>,
        largest_cosine: f64,
        equal: &mut DVector<f64>,
    ) {
        let angle = (1.0 - largest_cosine).max(1e-3);
        for (j, lift) in lift.column_iter().enumerate() {
            let by = 2.0 * self.rate_tolerance / gram[(j, j)] / angle;
            equal.zip_apply(&lift, |equal, lift| *equal = equal.max(by * lift.abs()));
        }
    }

    /// The state `(q, v)`, if it is one at which `contacts` close, without friction.
    fn checked_corner(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        contacts: &[usize],
    ) -> Result<Vec<f64>, Breakdown> {
        let x = self.checked_state(t, q, v)?;
        let (q, _) = self.parts(&x);
        let count = self.system().contacts();
        if let Some(&event) = contacts.iter().find(|&&j| j >= count) {
            return Err(Breakdown::Input(InputError::NoSuch {
                what: "contact",
                index: event,
                count,
            }));
        }
        let at = &mut ContactsAt::default();
        self.check_mass(at, q)?;
        let approaching = self.approaching(at, &x, contacts);
        if let Some(at_rest) = approaching.iter().position(|&a| !a) {
            let event = contacts[at_rest];
            return Err(Breakdown::Stop(Stop::NotLive {
                guard: Guard::falling(event),
                rate_before: self.approach(at, &x, &[event])[0],
                rate_after: f64::NAN,
                min_rate: self.rate_tolerance,
                at: At::new(t, &x, &Mode::default()).into(),
            }));
        }
        if let Some((contact, friction)) = self.first_friction(contacts.iter().copied()) {
            let law = "the report on decoupling";
            return Err(Breakdown::Input(InputError::FrictionIgnored {
                law,
                contact,
                friction,
            }));
        }
        Ok(x)
    }

    /// The velocities after an impact of all contacts at once.
    fn velocity_at_once(
        &self,
        t: f64,
        x: &[f64],
        contacts: &[usize],
    ) -> Result<DVector<f64>, Breakdown> {
        let mut state = x.to_vec();
        if !contacts.is_empty() {
            // In rising order, in which the run has them.
            let mut touching = contacts.to_vec();
            touching.sort_unstable();
            let at = ContactsAt::default();
            let mut event = Event::of(&touching, vec![true; touching.len()], at);
            self.apply_impact(Occasion { t, number: 1 }, &mut state, &mut event)?;
        }
        Ok(DVector::from_column_slice(self.parts(&state).1))
    }

    /// Differences of each velocity that count as zero: a part of the largest value that the
    /// kinetic energy allows it.
    fn rounding(&self, q: &[f64], v: &[f64]) -> DVector<f64> {
        let d = v.len();
        let mut mass = vec![0.0; d * d];
        self.system().mass(q, &mut mass);
        let speeds = DVector::from_column_slice(v);
        let twice_energy = speeds.dot(&(DMatrix::from_column_slice(d, d, &mass) * &speeds));
        // The mass matrix has been checked.
        let inverse = factor(&mut mass, d).map_or_else(Vec::new, |_| inverse(&mass, d));
        let diagonal = inverse.iter().step_by(d + 1);
        let largest = diagonal.map(|entry| (entry * twice_energy).sqrt());
        DVector::from_iterator(d, largest.chain(std::iter::repeat(0.0)).take(d)) * SMALL
    }

    /// The reason for which impacts that are coupled by the Delassus matrix have one outcome here.
    fn class(
        &self,
        State { t, q, v }: State<'_>,
        contacts: &[usize],
    ) -> Result<ContinuityClass, Breakdown> {
        let all = |value: f64| {
            let mut each = contacts.iter();
            each.all(|&j| self.system().restitution(j, q, v) - value == 0.0)
        };
        let (mut values, mut at) = (Contacts::new(), ContactsAt::default());
        self.bodies
            .fill_at(&mut at, q, contacts, Wanted::default(), &mut values)?;
        let still = vec![0.0; v.len()];
        let mut response = vec![0.0; values.rows() * v.len()];
        let mass = self.bodies.inverse_at(&mut at, q);
        let mass = mass.map_err(|trouble| explain(trouble, q, contacts))?;
        let mut problem = ImpactProblem::empty();
        fill_impact(&mut problem, &values, &mass, &still, 0.0, &mut response)
            .map_err(|reason| Breakdown::of_impact(reason, contacts, t, [q, v].concat()))?;
        let cosines = problem.cosines();
        let pairs = || (0..cosines.nrows()).flat_map(|i| (0..i).map(move |j| (i, j)));
        if all(0.0) && pairs().all(|at| cosines[at] <= SMALL) {
            return Ok(ContinuityClass::ObtusePlastic);
        }
        let k = match uniqueness(&problem) {
            Uniqueness::Dihedral { k } => Some(k),
            Uniqueness::FiniteReflectionGroup => pairs().map(|at| whole(cosines[at])).max(),
            _ => None,
        };
        Ok(match k {
            Some(k) if all(1.0) => ContinuityClass::ReflectionGroup { k },
            _ => ContinuityClass::OrdersAgree,
        })
    }
}

/// Differences between the outcomes of orders.
struct Spread {
    /// The largest difference of an entry of the maps of two orders.
    order: f64,
    /// The largest difference of a velocity between two orders.
    state: f64,
    /// The largest difference of a velocity between an order and all contacts at once.
    corner: f64,
    /// Some velocity differs between two orders by more than counts as zero.
    jumps: bool,
    /// Some velocity differs between an order and all contacts at once by more than counts as zero.
    isolated: bool,
    /// All orders have the same map.
    same_map: bool,
}

impl Spread {
    /// `equal` are the differences of each velocity that count as zero.
    fn of(outcomes: &[OrderOutcome], at_once: &DVector<f64>, equal: &DVector<f64>) -> Self {
        let differ = |a: &DVector<f64>, b: &DVector<f64>| {
            let mut pairs = a.iter().zip(b).zip(equal);
            // Written so that what is not a number differs.
            !pairs.all(|((a, b), equal)| (a - b).abs() <= *equal)
        };
        let (mut order, mut state, mut corner) = (0.0f64, 0.0f64, 0.0f64);
        let (mut jumps, mut isolated) = (false, false);
        for (i, a) in outcomes.iter().enumerate() {
            corner = corner.max((&a.velocity - at_once).amax());
            isolated |= differ(&a.velocity, at_once);
            for b in &outcomes[..i] {
                order = order.max((&a.matrix - &b.matrix).amax());
                state = state.max((&a.velocity - &b.velocity).amax());
                jumps |= differ(&a.velocity, &b.velocity);
            }
        }
        let matrices = outcomes.iter().map(|outcome| outcome.matrix.amax());
        let size = matrices.fold(1.0, f64::max);
        Self {
            order,
            state,
            corner,
            jumps,
            isolated,
            // Derivatives of resets are differences, good to 1e-8 or so.
            same_map: order <= 1e-6 * size,
        }
    }
}

/// `k` of a cosine that equals `−cos(π/k)`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 2 and 10 000, and whole"
)]
fn whole(cosine: f64) -> usize {
    (PI / (-cosine).clamp(-1.0, 1.0).acos()).round() as usize
}

fn off_diagonal(cosines: &DMatrix<f64>) -> f64 {
    let pairs = (0..cosines.nrows()).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs.fold(0.0, |most, at| cosines[at].abs().max(most))
}
