//! A symmetric row of springs, and sums over those of them that are in contact.

use crate::Mode;

/// `n` springs at `x_i = −W + 2 W i/(n − 1)`, `i = 0 … n − 1` (one spring: at 0).
///
/// Positions are kept as odd or even integers `m_i = 2 i − (n − 1)` in units of `W/(n − 1)`: sums
/// over a set of springs are then exact, so that a symmetric set has no moment at all, and
/// positions are antisymmetric to the last bit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SpringRow {
    positions: Vec<f64>,
    /// `n − 1`, at most [`MOST`](crate::validate::MOST).
    gaps: i64,
    /// `W/(n − 1)` (m).
    unit: f64,
}

/// A quantity `.0 + .1 u` linear in the lever arm `u` (m) of a spring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line(pub(super) f64, pub(super) f64);

impl Line {
    /// The lever arm itself.
    pub(super) const ARM: Self = Self(0.0, 1.0);

    #[inline]
    pub(super) fn at(self, u: f64) -> f64 {
        self.0 + self.1 * u
    }

    /// `scale · self + other_scale · other`.
    #[inline]
    pub(super) fn combine(self, scale: f64, other: Self, other_scale: f64) -> Self {
        Self(
            scale * self.0 + other_scale * other.0,
            scale * self.1 + other_scale * other.1,
        )
    }
}

/// Sums of 1, `u` and `u²` over a set of springs, `u = x − x_i`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArmSums {
    pub(super) count: f64,
    first: f64,
    second: f64,
}

impl ArmSums {
    /// Sum of a linear quantity over the set.
    #[inline]
    pub(super) fn total(&self, f: Line) -> f64 {
        f.0 * self.count + f.1 * self.first
    }

    /// Sum of the product of two linear quantities over the set.
    #[inline]
    pub(super) fn total_product(&self, f: Line, g: Line) -> f64 {
        f.0 * g.0 * self.count + (f.0 * g.1 + f.1 * g.0) * self.first + f.1 * g.1 * self.second
    }
}

/// Number of bits, sum and sum of squares of their indices.
#[derive(Clone, Copy, Debug)]
struct BitSums {
    count: i64,
    first: i64,
    second: i64,
}

impl BitSums {
    /// Run by run of neighbouring bits, each in closed form: springs in contact come in few runs.
    #[inline]
    fn of(mut word: u64) -> Self {
        let (mut count, mut first, mut second) = (0, 0, 0);
        let mut start = 0;
        while word != 0 {
            let gap = word.trailing_zeros();
            word >>= gap;
            start += gap;
            let length = word.trailing_ones();
            let (a, n) = (i64::from(start), i64::from(length));
            // Σ i and Σ i² for i = a … a + n − 1.
            let pairs = n * (n - 1);
            count += n;
            first += n * a + pairs / 2;
            second += n * a * a + pairs * a + pairs * (2 * n - 1) / 6;
            word = word.checked_shr(length).unwrap_or(0);
            start += length;
        }
        Self {
            count,
            first,
            second,
        }
    }
}

impl SpringRow {
    /// A row of `springs ≥ 1` springs; the caller has checked the arguments.
    #[expect(clippy::cast_possible_wrap, reason = "at most a million springs")]
    pub(super) fn new(springs: usize, half_width: f64) -> Self {
        let gaps = springs as i64 - 1;
        // One spring stands in the middle, wherever the rim may be.
        let spaces = gaps.max(1) as f64;
        let numbers = (0..springs).map(|i| 2 * i as i64 - gaps);
        Self {
            positions: numbers.map(|m| half_width * m as f64 / spaces).collect(),
            gaps,
            unit: half_width / spaces,
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    #[inline]
    pub(super) fn positions(&self) -> &[f64] {
        &self.positions
    }

    /// `x_i` (m); NaN beyond the end.
    #[inline]
    pub(super) fn position(&self, i: usize) -> f64 {
        self.positions.get(i).copied().unwrap_or(f64::NAN)
    }

    /// Sums over the springs whose bits are on in `words`, lowest spring first, seen from `x` (m).
    #[inline]
    pub(super) fn sums(&self, words: impl Iterator<Item = u64>, x: f64) -> ArmSums {
        let (mut count, mut first, mut second) = (0, 0, 0);
        // m of the spring on bit 0 of the word; that on bit j has m = base + 2 j.
        let mut base = -self.gaps;
        for word in words {
            if word != 0 {
                let bits = BitSums::of(word);
                count += bits.count;
                first += base * bits.count + 2 * bits.first;
                second += base * (base * bits.count + 4 * bits.first) + 4 * bits.second;
            }
            base += 128;
        }
        let count = count as f64;
        let first = self.unit * first as f64;
        let second = self.unit * self.unit * second as f64;
        ArmSums {
            count,
            first: count * x - first,
            second: x * (count * x - 2.0 * first) + second,
        }
    }
}

/// The words of a set of springs that hold two bits each: those `k < n` of which bit `k` and bit
/// `n + k` are on.
#[inline]
pub(super) fn both_bits(mode: &Mode, n: usize) -> impl Iterator<Item = u64> + '_ {
    let (skip, shift) = (n / 64, n % 64);
    let mut upper = mode.words().skip(skip);
    let mut low = upper.next().unwrap_or(0);
    mode.words().take(n.div_ceil(64)).map(move |word| {
        let high = upper.next().unwrap_or(0);
        // Bits n … n + 63 of this word's turn, brought down to 0; a shift by 64 is none at all in
        // Rust.
        let partner = if shift == 0 {
            low
        } else {
            low >> shift | high << (64 - shift)
        };
        low = high;
        word & partner
    })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact equality is what is promised")]
mod tests {
    use super::super::test_support::assert_near;
    use super::*;

    /// Bits drawn from the multiples of an irrational number: no pattern of their own.
    fn scattered(len: usize, share: f64) -> Mode {
        let on: Vec<_> = (0..len)
            .filter(|&i| (i as f64 * 0.618_033_988_749_895).fract() < share)
            .collect();
        Mode::with(len, &on)
    }

    #[test]
    fn sums_agree_with_adding_up() {
        for n in [1, 2, 7, 8, 9, 63, 64, 65, 128, 200, 1000] {
            let row = SpringRow::new(n, 1.3);
            for share in [0.0, 0.1, 0.5, 0.9, 1.0] {
                let mode = scattered(n, share);
                let x = 0.37;
                let sums = row.sums(mode.words(), x);
                let arms: Vec<_> = mode.ones().map(|i| x - row.position(i)).collect();
                let naive = [
                    arms.len() as f64,
                    arms.iter().sum(),
                    arms.iter().map(|u| u * u).sum(),
                ];
                assert_near(&[sums.count, sums.first, sums.second], &naive, 1e-13);
                let (f, g) = (Line(0.2, -3.0), Line(-1.1, 0.7));
                let products: f64 = arms.iter().map(|&u| f.at(u) * g.at(u)).sum();
                assert_near(&[sums.total_product(f, g)], &[products], 1e-12);
            }
        }
    }

    #[test]
    fn positions_are_antisymmetric_and_end_at_the_rim() {
        for n in [2, 3, 10, 50, 51, 101] {
            let row = SpringRow::new(n, 1.3);
            assert_eq!((row.position(0), row.position(n - 1)), (-1.3, 1.3));
            for i in 0..n {
                assert_eq!(row.position(i), -row.position(n - 1 - i));
                let formula = -1.3 + 2.6 * i as f64 / (n as f64 - 1.0);
                assert!((row.position(i) - formula).abs() < 1e-15);
            }
        }
        assert_eq!(SpringRow::new(1, 1.3).position(0), 0.0);
        assert!(SpringRow::new(1, 1.3).position(1).is_nan());
    }

    #[test]
    fn symmetric_sets_have_no_moment() {
        for n in [2, 3, 10, 50, 101, 200] {
            let row = SpringRow::new(n, 1.0);
            for width in 0..n / 2 {
                let on: Vec<_> = (width..n - width).collect();
                assert_eq!(row.sums(Mode::with(n, &on).words(), 0.0).first, 0.0);
            }
        }
    }

    #[test]
    fn both_bits_finds_the_springs_whose_two_bits_are_on() {
        for n in [1, 5, 31, 32, 33, 63, 64, 65, 100, 128, 129, 200] {
            for share in [0.0, 0.4, 0.8, 1.0] {
                let mode = scattered(2 * n, share);
                let mut found = Mode::new(n);
                for (w, word) in both_bits(&mode, n).enumerate() {
                    for j in 0..64 {
                        // Bits beyond the last spring must be off: the sums would count them.
                        assert!(64 * w + j < n || word >> j & 1 == 0);
                        found.set(64 * w + j, word >> j & 1 == 1);
                    }
                }
                let expected: Vec<_> = (0..n)
                    .filter(|&i| mode.contains(i) && mode.contains(n + i))
                    .collect();
                assert_eq!(found, Mode::with(n, &expected));
            }
        }
    }
}
