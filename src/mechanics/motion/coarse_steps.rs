//! Steps of the differences of the linearised equations of motion, part of whose terms are differences themselves.

use std::ops::Range;

use crate::linalg::largest;
use crate::ode::straight::off_of_largest;

/// Steps and rounding of differences of a quantity that is a difference itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Coarse {
    /// Factor of the length of the usual step: an extrapolated difference wants a longer one than a single
    /// difference, and by the fifth root of its loss of accuracy too.
    pub(crate) factor: f64,
    /// Rounding of the quantity relative to its terms.
    of_terms: f64,
}

impl Coarse {
    /// All terms are as the user wrote them.
    pub(crate) const WRITTEN: Self = Self {
        factor: 30.0,
        of_terms: 8.0 * f64::EPSILON,
    };
    /// Rows, Coriolis forces or curvatures by one difference: five digits are lost.
    pub(crate) const FIRST: Self = Self {
        factor: 300.0,
        of_terms: 2e-10,
    };
    /// Curvatures by two differences: eight digits are lost.
    pub(crate) const SECOND: Self = Self {
        factor: 1000.0,
        of_terms: 2e-7,
    };

    /// Rounding of a difference over a step of a quantity with terms of this size.
    pub(crate) fn rounding(self, terms: f64, step: f64) -> f64 {
        self.of_terms * terms / step
    }

    /// The size of terms that are rounded by so much.
    pub(crate) fn terms_of(self, rounding: f64) -> f64 {
        rounding / self.of_terms
    }

    /// The coarser of two.
    pub(crate) fn or(self, other: Self) -> Self {
        if other.factor > self.factor {
            other
        } else {
            self
        }
    }
}

/// Sizes of the terms of residuals, by which their rounding is known.
#[derive(Debug)]
pub(crate) struct Terms<'a> {
    /// Units of the forces: [`mass_units`](super::kinetic::mass_units).
    pub(crate) units: &'a mut [f64],
    force: f64,
    rate: f64,
}

impl<'a> Terms<'a> {
    pub(crate) fn new(units: &'a mut [f64]) -> Self {
        Self {
            units,
            force: 0.0,
            rate: 0.0,
        }
    }

    /// Takes note of a term of the force on velocity `i`.
    pub(crate) fn force(&mut self, i: usize, term: f64) {
        self.force = self.force.max((term / self.units[i]).abs());
    }

    /// Takes note of the terms of `c v = −Ṁ v + ½ ∂(vᵀ M v)/∂q` where it is a difference of masses: it
    /// may be small beside them, and its rounding is theirs.
    pub(crate) fn inertia(&mut self, mass: &[f64], v: &[f64], driven: &Range<usize>) {
        let d = v.len();
        let momentum = |i: usize| -> f64 { (0..d).map(|k| (mass[k * d + i] * v[k]).abs()).sum() };
        let fastest = largest(v);
        let energy: f64 = (0..d).map(|i| 0.5 * v[i].abs() * momentum(i)).sum();
        for i in (0..d).filter(|i| !driven.contains(i)) {
            self.force(i, energy.max(momentum(i) * fastest));
        }
    }

    /// Takes note of a term of the rate of a row.
    pub(crate) fn rate(&mut self, term: f64) {
        self.rate = self.rate.max(term.abs());
    }

    /// By how much two differences of forces and of rates, over a step and over twice of it, are off each other.
    pub(crate) fn off(&self, coarse: Coarse, step: f64, [near, far]: [[&[f64]; 2]; 2]) -> f64 {
        let [of_forces, of_rates] = [self.force, self.rate].map(|of| coarse.rounding(of, step));
        let off = off_of_largest(near[0], far[0], of_forces, |i| self.units[i]);
        off.max(off_of_largest(near[1], far[1], of_rates, |_| 1.0))
    }
}
