//! A row of bits: up to 64 of them need no heap memory.

const WORD: usize = u64::BITS as usize;

#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Bits {
    len: usize,
    first: u64,
    rest: Box<[u64]>,
}

impl Bits {
    /// All off.
    pub(super) fn new(len: usize) -> Self {
        let more = len.saturating_sub(WORD).div_ceil(WORD);
        Self {
            len,
            first: 0,
            rest: vec![0; more].into_boxed_slice(),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// False beyond the end.
    #[inline]
    pub(super) fn get(&self, k: usize) -> bool {
        if k < WORD {
            self.first >> k & 1 == 1
        } else {
            let word = self.rest.get(k / WORD - 1).copied().unwrap_or(0);
            word >> (k % WORD) & 1 == 1
        }
    }

    /// Does nothing beyond the end.
    #[inline]
    pub(super) fn set(&mut self, k: usize, on: bool) {
        if k >= self.len {
            return;
        }
        let word = if k < WORD {
            &mut self.first
        } else {
            match self.rest.get_mut(k / WORD - 1) {
                Some(word) => word,
                None => return,
            }
        };
        let bit = 1 << (k % WORD);
        if on {
            *word |= bit;
        } else {
            *word &= !bit;
        }
    }

    /// All off again.
    pub(super) fn clear(&mut self) {
        self.first = 0;
        self.rest.fill(0);
    }

    #[inline]
    pub(super) fn ones(&self) -> Ones<'_> {
        Ones {
            word: self.first,
            base: 0,
            rest: &self.rest,
        }
    }

    #[inline]
    pub(super) fn words(&self) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(self.first).chain(self.rest.iter().copied())
    }

    /// Inlined, unlike `==`.
    #[inline]
    pub(super) fn is(&self, other: &Self) -> bool {
        self.len == other.len && self.first == other.first && {
            self.rest.is_empty() || self.rest == other.rest
        }
    }

    /// Takes the bits of `other`, without allocating where both have the same length.
    #[inline]
    pub(super) fn copy_from(&mut self, other: &Self) {
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

/// Iterator over the bits of a [`Mode`](super::Mode) that are on; see
/// [`Mode::ones`](super::Mode::ones).
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
            self.base += WORD;
        }
        let bit = self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(self.base + bit)
    }
}
