//! The law of all further terms: an impulse that is linear between two bounds.

/// A convex term of one velocity whose impulse is linear between two bounds:
/// `γ = clamp((v̂ − v)/R, low, high)`. Bilateral constraints, limits of joints, motors with an
/// effort limit and dry friction of joints all have this form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowLaw {
    /// Regularisation `R` > 0, in units of velocity per impulse.
    pub regularisation: f64,
    /// Velocity `v̂` at which the impulse vanishes.
    pub target: f64,
    /// Least impulse; `NEG_INFINITY` for none.
    pub low: f64,
    /// Greatest impulse; `INFINITY` for none.
    pub high: f64,
}

impl RowLaw {
    /// Impulse and cost at the velocity `v`.
    #[inline]
    pub fn evaluate(&self, v: f64) -> (f64, f64) {
        let free = (self.target - v) / self.regularisation;
        let impulse = free.max(self.low).min(self.high);
        (
            impulse,
            self.regularisation * impulse * (free - 0.5 * impulse),
        )
    }

    /// The curvature `−∂γ/∂v`, at a bound zero.
    #[inline]
    pub(crate) fn curvature(&self, v: f64) -> f64 {
        let free = (self.target - v) / self.regularisation;
        if free > self.low && free < self.high {
            1.0 / self.regularisation
        } else {
            0.0
        }
    }

    /// The derivatives of the impulse at the fixed velocity `v` by `R`, `v̂`, and the two bounds.
    pub(crate) fn by_parameters(&self, v: f64) -> [f64; 4] {
        let free = (self.target - v) / self.regularisation;
        if free <= self.low {
            [0.0, 0.0, 1.0, 0.0]
        } else if free >= self.high {
            [0.0, 0.0, 0.0, 1.0]
        } else {
            let inverse = 1.0 / self.regularisation;
            [-free * inverse, inverse, 0.0, 0.0]
        }
    }
}
