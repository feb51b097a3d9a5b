//! Which guard is predicted to be crossed first, by the tangent.

/// Who is predicted to be crossed first, by the tangent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranking {
    pub(crate) first: Option<usize>,
    /// Time to the first guard (s).
    pub(crate) least: f64,
    /// Time to the second (s).
    pub(crate) second: f64,
}

impl Ranking {
    pub(crate) const EMPTY: Self = Self {
        first: None,
        least: f64::INFINITY,
        second: f64::INFINITY,
    };

    /// Enters guard `k`, which is `way` before its surface and approaches it at `rate`.
    #[inline]
    pub(crate) fn enter(&mut self, k: usize, way: f64, rate: f64, min_rate: f64) {
        // way/rate < second, without a division for all who are later.
        if rate < min_rate || way >= self.second * rate {
            return;
        }
        let tau = (way / rate).max(0.0);
        if tau < self.least {
            self.second = self.least;
            self.least = tau;
            self.first = Some(k);
        } else {
            self.second = tau;
        }
    }
}

/// What one look at all guards finds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Survey {
    /// The ranking of all guards that are not near.
    pub(crate) ranking: Ranking,
    /// Time by which a projection missed its guard, by the value there (s).
    pub(crate) residual_time: f64,
}
