//! The discrete state: one side bit per event function.

use std::fmt;

const BITS: usize = u64::BITS as usize;

/// The sides on which a state stands: one bit per event function, `true` once `h_k` was crossed
/// upward.
///
/// This is the argument `y` of Anderson & Revzen and the word `b` of Burden et al. A mode is frozen
/// during a step and changes only when a guard fires; it is never recomputed from the sign of `h`.
///
/// Up to 64 event functions need no heap memory. Printed, a mode is its bits, event function 0
/// first. A discrete state that is no side of anything (stuck or slipping, a phase of a gait) can
/// be the bit of an event function that is never zero, set in `on_crossing`.
///
/// ```
/// use saltation::Mode;
/// let mut mode = Mode::new(70);
/// mode.set(3, true);
/// mode.set(69, true);
/// assert!(mode.contains(3) && !mode.contains(4));
/// assert_eq!(mode.ones().collect::<Vec<_>>(), [3, 69]);
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mode {
    len: usize,
    first: u64,
    rest: Box<[u64]>,
}

impl Mode {
    /// Most event functions of a mode: 2²⁴.
    pub const MOST: usize = 1 << 24;

    /// A mode of `len` event functions, every side bit off; of [`MOST`](Self::MOST) where `len` is
    /// more.
    pub fn new(len: usize) -> Self {
        let len = len.min(Self::MOST);
        let more = len.saturating_sub(BITS).div_ceil(BITS);
        Self {
            len,
            first: 0,
            rest: vec![0; more].into_boxed_slice(),
        }
    }

    /// The mode of `len` event functions with the bits of `on` set; indices beyond `len` are
    /// ignored.
    pub fn with(len: usize, on: &[usize]) -> Self {
        let mut mode = Self::new(len);
        for &k in on {
            mode.set(k, true);
        }
        mode
    }

    /// Number of event functions.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when there are no event functions at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Side bit of event function `k`; `false` beyond the end.
    #[inline]
    pub fn contains(&self, k: usize) -> bool {
        if k < BITS {
            self.first >> k & 1 == 1
        } else {
            let word = self.rest.get(k / BITS - 1).copied().unwrap_or(0);
            word >> (k % BITS) & 1 == 1
        }
    }

    /// Sets the side bit of event function `k`; does nothing beyond the end.
    #[inline]
    pub fn set(&mut self, k: usize, on: bool) {
        if k >= self.len {
            return;
        }
        let word = if k < BITS {
            &mut self.first
        } else {
            match self.rest.get_mut(k / BITS - 1) {
                Some(word) => word,
                None => return,
            }
        };
        let bit = 1 << (k % BITS);
        if on {
            *word |= bit;
        } else {
            *word &= !bit;
        }
    }

    /// The same mode with the bit of `k` set to `on`.
    #[must_use]
    pub fn having(mut self, k: usize, on: bool) -> Self {
        self.set(k, on);
        self
    }

    /// How many side bits are on.
    #[inline]
    pub fn count_ones(&self) -> usize {
        self.words().map(|word| word.count_ones() as usize).sum()
    }

    /// Indices of the bits that are on, in rising order; words without a bit cost one comparison.
    #[inline]
    pub fn ones(&self) -> Ones<'_> {
        Ones {
            word: self.first,
            base: 0,
            rest: &self.rest,
        }
    }

    /// The bits as 64-bit words, lowest event function first.
    #[inline]
    pub fn words(&self) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(self.first).chain(self.rest.iter().copied())
    }

    /// True when `other` has the same length and bits; inlined, unlike `==`.
    #[inline]
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.len == other.len && self.first == other.first && {
            self.rest.is_empty() || self.rest == other.rest
        }
    }

    /// Takes the bits of `other`, which has the same length, without allocating.
    #[inline]
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.len = other.len;
        self.first = other.first;
        if self.rest.len() == other.rest.len() {
            self.rest.copy_from_slice(&other.rest);
        } else {
            // A model may have made a mode of another length.
            self.rest.clone_from(&other.rest);
        }
    }
}

impl fmt::Debug for Mode {
    /// The bits as a word, event function 0 first: `Mode(0110)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mode({self})")
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..self.len).try_for_each(|k| f.write_str(if self.contains(k) { "1" } else { "0" }))
    }
}

/// Iterator over the bits of a [`Mode`] that are on; see [`Mode::ones`].
#[derive(Clone, Debug)]
pub struct Ones<'a> {
    word: u64,
    base: usize,
    rest: &'a [u64],
}

impl Iterator for Ones<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            let (&word, rest) = self.rest.split_first()?;
            self.word = word;
            self.rest = rest;
            self.base += BITS;
        }
        let bit = self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(self.base + bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_beyond_the_end_are_off_and_stay_off() {
        for len in [0, 1, 63, 64, 65, 128, 130] {
            let mut mode = Mode::new(len);
            mode.set(len, true);
            assert_eq!(mode, Mode::new(len));
            assert!(!mode.contains(len) && !mode.contains(len + 64));
        }
    }

    #[test]
    fn ones_visits_every_set_bit_once() {
        let on = [0, 63, 64, 127, 128, 199];
        let mode = Mode::with(200, &on);
        assert_eq!(mode.ones().collect::<Vec<_>>(), on);
        assert_eq!(mode.count_ones(), on.len());
        assert_eq!(mode.having(64, false).count_ones(), on.len() - 1);
    }
}
