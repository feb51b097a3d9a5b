//! The exact set as a user reads it: its pieces, whether they are all, and what holds for every
//! outcome, in contact speeds and in velocities of the bodies.
//!
//! Impulses `p` change velocities by `M⁻¹ Jᵀ p` and contact speeds by `G p`. What moves no contact
//! speed is no change by impulses, so that the change of contact speeds determines that of the
//! velocities: `v⁺ = v⁻ + M⁻¹ Jᵀ G⁺ (u⁺ − u⁻)`. The set lies in the affine space `v⁻ + range M⁻¹Jᵀ`,
//! and each of its polytopes has the vertices of one in contact space. Distances are in the metric
//! of kinetic energy, `|v|² = vᵀ M v`: velocities come in different units, and with `M = L Lᵀ` this
//! is the Euclidean distance of `Lᵀ v`. They count what leaves the affine space, too.

use std::fmt;

use nalgebra::{DMatrix, DVector};

use super::polytope::{Polytope, distance_from_union};
use crate::impact::ImpactProblem;
use crate::impact::velocity::VelocityMap;
use crate::linalg::dot;
use crate::linalg::nearest::Nearest;
use crate::{InputError, validate};

/// The velocities after an impact, a union of polytopes in contact space.
///
/// Coordinates are the contact speeds `u⁺`, in the order of the problem's rows (m/s). No polytope
/// contains another; they may overlap. Where bodies have more velocities than show in contact
/// speeds, or rows of different units, [`velocities`](Self::velocities) is the set to ask.
#[derive(Clone, Debug, PartialEq)]
pub struct OutcomeSet {
    pieces: Vec<Polytope>,
    effort: usize,
    unclosed: Unclosed,
    /// From contact speeds to velocities; none for a problem given in contact space.
    map: Option<VelocityMap>,
}

/// The reasons for which a set is only a part of the exact one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unclosed {
    /// Polytopes that were still to be pushed when [`cap`](super::ExactPlanar::cap) or
    /// [`work`](super::ExactPlanar::work) ended the search.
    pub open: usize,
    /// True when it was [`work`](super::ExactPlanar::work) that ended the search.
    pub is_out_of_work: bool,
    /// Polytopes that were left out because they have more vertices than
    /// [`vertices`](super::ExactPlanar::vertices) allows.
    pub left_out: usize,
    /// True when no outcome was found: every impact has one, so rounding lost them. Another
    /// configuration, within the error of measurement of this one, has them.
    pub is_lost: bool,
}

impl fmt::Display for Unclosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the set is a part of the exact one:")?;
        if self.open > 0 {
            let open = self.open;
            let cap = if self.is_out_of_work {
                "work (ExactPlanar::work)"
            } else {
                "polytopes (ExactPlanar::cap)"
            };
            write!(
                f,
                " the cap on {cap} ended the search with {open} polytopes to go"
            )?;
        }
        if self.open > 0 && self.left_out > 0 {
            write!(f, ", and")?;
        }
        if self.left_out > 0 {
            let left_out = self.left_out;
            write!(
                f,
                " {left_out} polytopes with more vertices than are allowed (ExactPlanar::vertices) were left out"
            )?;
        }
        if self.is_lost {
            let joined = if self.open + self.left_out > 0 {
                ", and"
            } else {
                ""
            };
            write!(f, "{joined} rounding lost all outcomes")?;
        }
        Ok(())
    }
}

impl OutcomeSet {
    pub(super) fn new(
        pieces: Vec<Polytope>,
        effort: usize,
        unclosed: Unclosed,
        problem: &ImpactProblem,
    ) -> Self {
        Self {
            pieces,
            effort,
            unclosed,
            map: VelocityMap::of(problem).ok(),
        }
    }

    /// The polytopes, in an order that depends on the problem only.
    pub fn pieces(&self) -> &[Polytope] {
        &self.pieces
    }

    /// False when a cap ended the search, or rounding lost all outcomes: then the set is a part of
    /// the exact one.
    pub const fn is_closed(&self) -> bool {
        self.unclosed.open == 0 && self.unclosed.left_out == 0 && !self.unclosed.is_lost
    }

    /// The reason for which the set is not closed; none when it is.
    pub fn unclosed(&self) -> Option<Unclosed> {
        (!self.is_closed()).then_some(self.unclosed)
    }

    /// Polytopes that were pushed through a location.
    pub const fn effort(&self) -> usize {
        self.effort
    }

    /// Distance of contact speeds from the set, `|u − u⁺|` (m/s); 0 inside. NaN for a wrong
    /// length, infinite where there is no piece, and an upper bound where the set is not closed.
    /// That contact speeds are those of an outcome does not say that a velocity is: see [`velocities`](Self::velocities).
    pub fn distance(&self, speeds: &[f64]) -> f64 {
        distance_from_union(&self.pieces, speeds)
    }

    /// True when contact speeds lie within `tolerance` of the set (m/s). A measured velocity may have
    /// them and differ in what moves no contact: ask the set of [`velocities`](Self::velocities)
    /// whether it is an outcome. False for a wrong length.
    pub fn contains(&self, speeds: &[f64], tolerance: f64) -> bool {
        self.distance(speeds) <= tolerance
    }

    /// The greatest `c · u⁺` over the set for these weights `c` of contact speeds, and a vertex
    /// where it is taken. None where there is no piece, and a lower bound where the set is not closed.
    ///
    /// # Errors
    /// [`InputError::WrongLength`], [`InputError::NotFinite`].
    pub fn support(&self, direction: &[f64]) -> Result<Option<(f64, &[f64])>, InputError> {
        let vertices = || self.pieces.iter().flat_map(Polytope::vertices);
        if let Some(first) = vertices().next() {
            validate::length("direction", first.len(), direction.len())?;
        }
        validate::finite("direction", direction)?;
        let along = vertices().map(|vertex| (dot(direction, vertex), vertex));
        Ok(along.reduce(|most, next| if next.0 > most.0 { next } else { most }))
    }

    /// The least and the greatest value of each contact speed; empty where there is no piece, as
    /// with a cap that is too small.
    pub fn bounds(&self) -> Vec<(f64, f64)> {
        let mut vertices = self.pieces.iter().flat_map(Polytope::vertices);
        let Some(first) = vertices.next() else {
            return Vec::new();
        };
        let mut bounds: Vec<(f64, f64)> = first.iter().map(|&x| (x, x)).collect();
        for vertex in vertices {
            for (bound, &x) in bounds.iter_mut().zip(vertex) {
                *bound = (bound.0.min(x), bound.1.max(x));
            }
        }
        bounds
    }

    /// The set in velocities of the bodies, for a problem made from mechanics.
    ///
    /// # Errors
    /// [`InputError::OnlyContactSpace`] for a problem given in contact space;
    /// [`InputError::InconsistentSpeeds`] when a vertex misses the speeds that impulses lead to by
    /// more than 1e-8 of the greatest scaled speed, where rows depend on each other almost;
    /// [`InputError::NotFinite`] for velocities that overflow; [`InputError::BadMatrix`] for a mass
    /// matrix that is positive definite by rounding only.
    pub fn velocities(&self) -> Result<VelocitySet, InputError> {
        let map = self.map.as_ref().ok_or(InputError::OnlyContactSpace)?;
        VelocitySet::of(self.pieces(), self.is_closed(), map)
    }
}

/// The velocities that an impact can end with: an [`OutcomeSet`](super::OutcomeSet) in velocities.
///
/// ```
/// use saltation::impact::{ExactPlanar, ImpactProblem};
/// use saltation::mechanics::ContactSet;
/// use saltation::models::RamOne;
/// let robot = RamOne::default();
/// let (q, v) = robot.footfall();
/// let impact = ImpactProblem::of_system(&robot, &q, &v, ContactSet::Listed(&[0, 1]))?;
/// let set = ExactPlanar::new().resolve(&impact)?.velocities()?;
/// assert!(set.is_closed()); // else it is a part of the set
/// // How fast can the trunk turn, and how do the joints turn then?
/// let worst = set.support(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])?.ok_or("no piece")?;
/// assert!((worst.value - 2.4885).abs() < 1e-4 && set.contains(&worst.velocity, 1e-9)); // rad/s
/// // A velocity that differs in the rate of one joint is no outcome.
/// let mut measured = worst.velocity.clone();
/// measured[6] += 0.1;
/// assert!(!set.contains(&measured, 1e-3));
/// assert!(set.least_energy().ok_or("no piece")?.value < 1.0); // J
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VelocitySet {
    pieces: Vec<Polytope>,
    /// The pieces in contact speeds, vertex by vertex, and in `Lᵀ v`.
    speeds: Vec<Polytope>,
    kinetic: Vec<Polytope>,
    /// `Lᵀ`.
    root: DMatrix<f64>,
    is_closed: bool,
}

/// An outcome at which something is least or greatest.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExtremeOutcome {
    /// The least or greatest value.
    pub value: f64,
    /// The velocity `v⁺`.
    pub velocity: Vec<f64>,
    /// The contact speeds `u⁺` (m/s).
    pub speeds: Vec<f64>,
}

impl VelocitySet {
    /// Of the pieces in contact speeds, which are those of a closed set or not.
    pub(super) fn of(
        speeds: &[Polytope],
        is_closed: bool,
        map: &VelocityMap,
    ) -> Result<Self, InputError> {
        let root = map.root_of_mass()?;
        let dof = root.ncols();
        let (mut pieces, mut kinetic) = (Vec::new(), Vec::new());
        for piece in speeds {
            let (mut own, mut scaled) = (Vec::new(), Vec::new());
            for vertex in piece.vertices() {
                let v = map.velocity(vertex)?;
                scaled.extend((&root * &v).iter());
                own.extend(v.iter());
            }
            validate::finite("root of the kinetic energy", &scaled)?;
            pieces.push(Polytope::of_vertices(dof, own));
            kinetic.push(Polytope::of_vertices(dof, scaled));
        }
        Ok(Self {
            pieces,
            speeds: speeds.to_vec(),
            kinetic,
            root,
            is_closed,
        })
    }

    /// The polytopes, those of the set in contact speeds in their order. Distances and measures of
    /// one are Euclidean, in whatever units the velocities have.
    pub fn pieces(&self) -> &[Polytope] {
        &self.pieces
    }

    /// False when a cap ended the search for the set in contact speeds, as
    /// [`OutcomeSet::is_closed`](super::OutcomeSet::is_closed): then this one is a part of the exact one, too.
    pub const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Distance of a velocity from the set in the metric of kinetic energy (`√J`): the root of
    /// twice the energy of the difference. 0 inside; NaN for a wrong length and what is not finite,
    /// infinite where there is no piece.
    ///
    /// If the set is not [closed](Self::is_closed), this is an upper bound.
    pub fn distance(&self, velocity: &[f64]) -> f64 {
        if velocity.len() != self.root.ncols() || velocity.iter().any(|v| !v.is_finite()) {
            return f64::NAN;
        }
        let scaled = &self.root * DVector::from_column_slice(velocity);
        distance_from_union(&self.kinetic, scaled.as_slice())
    }

    /// True when a velocity lies within `tolerance` of the set (`√J`). False is no proof where the
    /// set is not [closed](Self::is_closed).
    pub fn contains(&self, velocity: &[f64], tolerance: f64) -> bool {
        self.distance(velocity) <= tolerance
    }

    /// The greatest `c · v⁺` over the set for these weights `c` of velocities, one for each, and a
    /// vertex where it is taken. None where there is no piece, and a lower bound where the set is not
    /// [closed](Self::is_closed).
    ///
    /// # Errors
    /// [`InputError::WrongLength`], [`InputError::NotFinite`].
    pub fn support(&self, direction: &[f64]) -> Result<Option<ExtremeOutcome>, InputError> {
        validate::length("direction", self.root.ncols(), direction.len())?;
        validate::finite("direction", direction)?;
        let vertices = |of: &'_ [Polytope]| {
            let all = of.iter().flat_map(Polytope::vertices);
            all.map(<[f64]>::to_vec).collect::<Vec<_>>()
        };
        let (velocities, speeds) = (vertices(&self.pieces), vertices(&self.speeds));
        let along = velocities
            .into_iter()
            .zip(speeds)
            .map(|(velocity, speeds)| {
                let value = dot(direction, &velocity);
                ExtremeOutcome {
                    value,
                    velocity,
                    speeds,
                }
            });
        Ok(along.reduce(|most, next| if next.value > most.value { next } else { most }))
    }

    /// The outcome of least kinetic energy (J): no impact of the set loses more. None where there is
    /// no piece, and an upper bound where the set is not [closed](Self::is_closed).
    pub fn least_energy(&self) -> Option<ExtremeOutcome> {
        let mut nearest = Nearest::default();
        let zero = vec![0.0; self.root.ncols()];
        let mut least: Option<ExtremeOutcome> = None;
        for (k, piece) in self.kinetic.iter().enumerate() {
            let rows: Vec<Vec<f64>> = piece
                .vertices()
                .map(|vertex| [&[1.0], vertex].concat())
                .collect();
            let root = nearest.distance(rows.iter().map(Vec::as_slice), &zero, 0.0);
            let value = 0.5 * root * root;
            if least.as_ref().is_some_and(|least| least.value <= value) {
                continue;
            }
            let mix = |of: &Polytope| {
                let mut sum = vec![0.0; of.vertices().next().map_or(0, <[f64]>::len)];
                for (number, weight) in nearest.coefficients() {
                    let vertex = of.vertices().nth(number).unwrap_or_default();
                    for (sum, x) in sum.iter_mut().zip(vertex) {
                        *sum += weight * x;
                    }
                }
                sum
            };
            least = Some(ExtremeOutcome {
                value,
                velocity: mix(&self.pieces[k]),
                speeds: mix(&self.speeds[k]),
            });
        }
        least
    }
}
