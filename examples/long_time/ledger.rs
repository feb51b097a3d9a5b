//! The energy of a run, kept small.

/// Points of a curve in a tenfold of time.
const IN_A_DECADE: f64 = 24.0;
/// Where curves begin (periods).
const FIRST: f64 = 0.1;

/// Relative errors of the energy over time: the greatest of each interval of a logarithmic scale,
/// and sums for a straight line through all.
pub(crate) struct Ledger {
    start: f64,
    scale: f64,
    intervals: Vec<f64>,
    reached: f64,
    worst: f64,
    /// Σ 1, Σ t, Σ t², Σ e, Σ t e.
    sums: [f64; 5],
}

impl Ledger {
    /// Of errors from the energy at the start, over the energy `scale`.
    pub(crate) fn new(start: f64, scale: f64) -> Self {
        Self {
            start,
            scale,
            intervals: Vec::new(),
            reached: 0.0,
            worst: 0.0,
            sums: [0.0; 5],
        }
    }

    /// Enters an energy at a time in periods.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small and not negative"
    )]
    pub(crate) fn enter(&mut self, t: f64, energy: f64) {
        let error = (energy - self.start) / self.scale;
        self.reached = t;
        self.worst = self.worst.max(error.abs());
        for (sum, term) in self.sums.iter_mut().zip([1.0, t, t * t, error, t * error]) {
            *sum += term;
        }
        let place = (IN_A_DECADE * (t / FIRST).log10()).floor().max(0.0) as usize;
        if self.intervals.len() <= place {
            self.intervals.resize(place + 1, 0.0);
        }
        self.intervals[place] = self.intervals[place].max(error.abs());
    }

    /// End of the run (periods).
    pub(crate) fn reached(&self) -> f64 {
        self.reached
    }

    /// The greatest error.
    pub(crate) fn worst(&self) -> f64 {
        self.worst
    }

    /// Slope of the straight line of least squares through all errors (1/period).
    pub(crate) fn drift(&self) -> f64 {
        let [n, t, tt, e, te] = self.sums;
        (n * te - t * e) / (n * tt - t * t)
    }

    /// Greatest error so far, over time in periods.
    pub(crate) fn curve(&self) -> impl Iterator<Item = (f64, f64)> {
        let time = |k: usize| FIRST * 10f64.powf((k as f64 + 1.0) / IN_A_DECADE);
        let mut greatest = 0.0f64;
        let so_far = self.intervals.iter().enumerate().map(move |(k, error)| {
            greatest = greatest.max(*error);
            (time(k).min(self.reached), greatest)
        });
        so_far.filter(|(_, error)| *error > 0.0)
    }
}
