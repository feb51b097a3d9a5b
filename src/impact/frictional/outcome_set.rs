//! The exact set as a user reads it: its pieces, whether they are all, and what holds for every
//! outcome. `velocity_set` has the same in velocities.

use std::fmt;

use super::polytope::{Polytope, distance_from_union};
use super::velocity_set::VelocitySet;
use crate::impact::ImpactProblem;
use crate::impact::velocity::VelocityMap;
use crate::linalg::dot;
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

/// Why a set is a part of the exact one.
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
    /// configuration, as near as its measure is known, has them.
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

    /// Why the set is not closed; none when it is.
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
