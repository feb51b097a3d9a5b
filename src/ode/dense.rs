//! The interpolant of a step: a polynomial of degree 4 in `θ = (t − t₀)/h`, in the form of Hairer,
//! Nørsett, Wanner (II.6, `contd5`): `x(θ) = c₀ + θ(c₁ + (1−θ)(c₂ + θ(c₃ + (1−θ)c₄)))`.

use super::Buffer;

/// The sum of the sizes of the weights of the slopes in the last coefficient.
const LAST_TERMS: f64 = 105.0;
/// Their rounding is this many times what is left of them at most.
const LAST_LEFT: f64 = 4.0;

/// Dense output of one segment, borrowed from whoever holds the coefficients.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Interpolant<'a> {
    /// Time at `θ = 0` (s).
    pub start: f64,
    /// Length in time of the step it was made for (s).
    pub length: f64,
    /// `c₀ … c₄` of `x(θ) = c₀ + θ(c₁ + (1−θ)(c₂ + θ(c₃ + (1−θ)c₄)))`, `θ = (t − start)/length`.
    pub coefficients: [&'a [f64]; 5],
}

impl<'a> Interpolant<'a> {
    /// From coefficients that stand one after the other; `flat` has `5 · dim` entries.
    pub(crate) fn from_flat(start: f64, length: f64, flat: &'a [f64], dim: usize) -> Self {
        let row = |i: usize| &flat[i * dim..(i + 1) * dim];
        Self {
            start,
            length,
            coefficients: [row(0), row(1), row(2), row(3), row(4)],
        }
    }

    /// Rounding that may be left in component `i` of the state at the fraction `theta`: its terms
    /// cancel where the step is long beside the way to there.
    #[inline]
    pub(crate) fn rounding_at(&self, theta: f64, i: usize) -> f64 {
        let [c0, c1, c2, c3, c4] = self.coefficients.map(|c| c[i].abs());
        let rest = theta * (1.0 - theta);
        // The last coefficient is a sum of slopes that cancel for the most part: where hardly anything
        // is left of them, as in steps along polynomials, they are not rounded by more.
        let of_last = (LAST_TERMS * f64::EPSILON * (c1 + c2)).min(LAST_LEFT * c4);
        let of_terms = theta * (c1 + c2 + theta * (c3 + c4));
        f64::EPSILON * (c0 + of_terms) + rest * rest * of_last
    }

    /// Writes the state at time `t` into `x`. Where `x` and the coefficients differ in length, the
    /// entries that all of them have are written, and the others are left alone.
    #[inline]
    pub fn at(&self, t: f64, x: &mut [f64]) {
        let theta = if self.length > 0.0 {
            (t - self.start) / self.length
        } else {
            0.0
        };
        self.at_fraction(theta, x);
    }

    /// Writes the state at the fraction `theta` of the step into `x`; lengths as in
    /// [`at`](Self::at).
    #[inline]
    pub fn at_fraction(&self, theta: f64, x: &mut [f64]) {
        let [c0, c1, c2, c3, c4] = self.coefficients;
        let few = c0.len().min(c1.len()).min(c2.len());
        let n = x.len().min(few).min(c3.len()).min(c4.len());
        self.write(n, theta, x);
    }

    /// As [`at_fraction`](Self::at_fraction), for the first `n` state variables.
    #[inline(always)]
    pub(super) fn write(&self, n: usize, theta: f64, x: &mut [f64]) {
        let [c0, c1, c2, c3, c4] = self.coefficients;
        // Each by itself: a map over the array is a call where the crate is not compiled as one.
        let (c0, c1, c2) = (&c0[..n], &c1[..n], &c2[..n]);
        let (c3, c4, x) = (&c3[..n], &c4[..n], &mut x[..n]);
        let rest = 1.0 - theta;
        for i in 0..n {
            x[i] = c0[i] + theta * (c1[i] + rest * (c2[i] + theta * (c3[i] + rest * c4[i])));
        }
    }
}

/// Owned coefficients of one interpolant.
#[derive(Clone, Debug)]
pub(crate) struct Dense<B> {
    pub(crate) start: f64,
    pub(crate) length: f64,
    pub(crate) c: [B; 5],
}

impl<B: Buffer> Dense<B> {
    pub(crate) fn new(dim: usize) -> Self {
        Self {
            start: 0.0,
            length: 0.0,
            c: std::array::from_fn(|_| B::zeros(dim)),
        }
    }

    #[inline]
    pub(crate) fn view(&self) -> Interpolant<'_> {
        let [c0, c1, c2, c3, c4] = &self.c;
        Interpolant {
            start: self.start,
            length: self.length,
            coefficients: [c0.get(), c1.get(), c2.get(), c3.get(), c4.get()],
        }
    }

    /// The cubic Hermite polynomial through both ends with the slopes there.
    pub(crate) fn hermite(
        &mut self,
        start: f64,
        length: f64,
        [x0, x1]: [&[f64]; 2],
        [f0, f1]: [&[f64]; 2],
    ) {
        self.start = start;
        self.length = length;
        let [c0, c1, c2, c3, c4] = &mut self.c;
        let (c0, c1, c2) = (c0.get_mut(), c1.get_mut(), c2.get_mut());
        let (c3, c4) = (c3.get_mut(), c4.get_mut());
        for i in 0..c0.len() {
            c0[i] = x0[i];
            c1[i] = x1[i] - x0[i];
            c2[i] = length * f0[i] - c1[i];
            c3[i] = c1[i] - length * f1[i] - c2[i];
            c4[i] = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_another_length_are_written_as_far_as_they_go() {
        let (long, short) = ([1.0, 2.0, 3.0], [0.5]);
        let view = |coefficients| Interpolant {
            start: 0.0,
            length: 1.0,
            coefficients,
        };
        let mut x = [f64::NAN; 5];
        view([&long[..]; 5]).at(0.0, &mut x);
        assert_eq!(x[..3], long);
        assert!(x[3..].iter().all(|x| x.is_nan()));
        let mut x = [f64::NAN; 2];
        view([&long, &long, &short, &long, &long]).at_fraction(0.0, &mut x);
        assert!((x[0] - 1.0).abs() < 1e-15 && x[1].is_nan());
        view([&[]; 5]).at(0.5, &mut x);
        assert!((x[0] - 1.0).abs() < 1e-15 && x[1].is_nan());
        view([&long[..]; 5]).at(0.0, &mut []);
    }

    #[test]
    fn hermite_reproduces_a_cubic() {
        let (p, dp) = (
            |t: f64| 1.0 - 2.0 * t + 3.0 * t * t + 0.5 * t * t * t,
            |t: f64| -2.0 + 6.0 * t + 1.5 * t * t,
        );
        let mut dense = Dense::<[f64; 1]>::new(1);
        let (a, b) = (0.3, 1.1);
        dense.hermite(a, b - a, [&[p(a)], &[p(b)]], [&[dp(a)], &[dp(b)]]);
        let mut x = [0.0];
        for t in [0.3, 0.5, 0.77, 1.1] {
            dense.view().at(t, &mut x);
            assert!((x[0] - p(t)).abs() < 1e-14, "{t}: {} {}", x[0], p(t));
        }
    }
}
