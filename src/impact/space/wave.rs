//! Waves of degree two, `c₀ + c₁ cos a + c₂ sin a + c₃ cos 2a + c₄ sin 2a`, and their zeros.

use std::f64::consts::TAU;

/// Zeros and extrema are told apart by so many angles; there are four of each at most.
const AROUND: u32 = 64;
/// Halvings of the angle between two of these, to the last bit.
const HALVINGS: u32 = 52;

/// A wave by its coefficients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wave([f64; 5]);

impl Wave {
    /// Angle number `k` of the five whose values give a wave.
    pub(super) fn angle(k: usize) -> f64 {
        TAU / 5.0 * k as f64
    }

    /// The wave with these values at the five angles.
    pub(super) fn through(values: [f64; 5]) -> Self {
        let mut wave = [0.0; 5];
        for (k, value) in values.into_iter().enumerate() {
            let (sin, cos) = Self::angle(k).sin_cos();
            let (twice_sin, twice_cos) = (2.0 * Self::angle(k)).sin_cos();
            for (to, part) in wave.iter_mut().zip([0.5, cos, sin, twice_cos, twice_sin]) {
                *to += 0.4 * part * value;
            }
        }
        Self(wave)
    }

    fn value(&self, angle: f64) -> f64 {
        let Self([mean, a, b, c, d]) = self;
        let ((sin, cos), (twice_sin, twice_cos)) = (angle.sin_cos(), (2.0 * angle).sin_cos());
        mean + a * cos + b * sin + c * twice_cos + d * twice_sin
    }

    /// The wave that is its slope.
    fn slope(&self) -> Self {
        let Self([_, a, b, c, d]) = *self;
        Self([0.0, b, -a, 2.0 * d, -2.0 * c])
    }

    /// Its zeros in [0, 2π], in rising order; of those that coincide, none.
    pub(super) fn zeros(&self) -> Vec<f64> {
        let (slope, mut zeros) = (self.slope(), Vec::new());
        for step in 0..AROUND {
            let [low, high] = [step, step + 1].map(|k| TAU / f64::from(AROUND) * f64::from(k));
            if let Some(zero) = self.between(low, high) {
                zeros.push(zero);
            } else if let Some(top) = slope.between(low, high) {
                zeros.extend(self.between(low, top));
                zeros.extend(self.between(top, high));
            }
        }
        zeros
    }

    /// The zero between two angles with unlike signs.
    fn between(&self, mut low: f64, mut high: f64) -> Option<f64> {
        let below = self.value(low) < 0.0;
        if (self.value(high) < 0.0) == below {
            return None;
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if (self.value(middle) < 0.0) == below {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(sin ½(a − z₀) sin ½(a − z₁)) (sin ½(a − z₂) sin ½(a − z₃))`.
    fn with_zeros(zeros: [f64; 4]) -> Wave {
        let value = |a: f64| zeros.map(|zero| (0.5 * (a - zero)).sin()).iter().product();
        Wave::through([0, 1, 2, 3, 4].map(|k| value(Wave::angle(k))))
    }

    #[test]
    fn zeros_are_found_however_close() {
        for apart in [1.0, 0.1, 1e-2, 1e-3, 1e-5] {
            for from in [0.01, 0.3, 1.7, 2.9] {
                let expected = [from, from + apart, from + 2.5, from + 3.3];
                let found = with_zeros(expected).zeros();
                assert_eq!(found.len(), 4, "{apart} {from} {found:?}");
                let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
                // Rounding moves two that are close by its root over their distance.
                assert!(off.fold(0.0, f64::max) < 1e-14 / apart, "{apart} {from}");
            }
        }
    }
}
