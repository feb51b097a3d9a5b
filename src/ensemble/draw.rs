//! Random numbers of a row, keyed by the seed and the index.

use std::ops::Deref;

use crate::random::{Draws, Stream, fraction, open_fraction, word_below};

/// The random numbers of one row. They depend on the seed of the ensemble, the index of the row and
/// how many were taken before, on nothing else.
///
/// The generator is Philox4x64-10 (Salmon et al., SC 2011), with the key `(seed, 0)` and the counter
/// `(index, 0, k, 6)`, which gives words 4 k to 4 k + 3. Rows with different indices, and ensembles with
/// different seeds, are independent. A row has 2⁶⁶ words.
///
/// ```
/// use saltation::ensemble::Draw;
/// let (mut one, mut same) = (Draw::new(7, 123), Draw::new(7, 123));
/// assert_eq!(one.unit(), same.unit());
/// assert!((1.5..2.5).contains(&one.between(1.5, 2.5)));
/// assert!(one.normal().abs() < 10.0 && one.below(6) < 6);
/// assert_eq!(Draw::new(7, 123).word(), 0xd096_a242_4502_1e83);
/// ```
#[derive(Clone, Debug)]
pub struct Draw {
    seed: u64,
    index: u64,
    taken: u64,
    four: [u64; 4],
}

impl Draw {
    /// For row `index` of an ensemble with this seed.
    pub fn new(seed: u64, index: u64) -> Self {
        Self {
            seed,
            index,
            taken: 0,
            four: [0; 4],
        }
    }

    /// The index of the row.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// 64 random bits: a key for a generator of your own.
    pub fn word(&mut self) -> u64 {
        let place = self.taken % 4;
        if place == 0 {
            let (seed, sample) = (self.seed, self.index);
            let draws = Draws {
                seed,
                sample,
                step: 0,
            };
            self.four = draws.block(Stream::Ensemble, self.taken / 4);
        }
        self.taken = self.taken.wrapping_add(1);
        self.four[place as usize]
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        fraction(self.word())
    }

    /// Uniform from `low` to `high`, whose distance has to be finite.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Normal with mean 0 and deviation 1, by the transform of Box and Muller; takes two words. Its
    /// bits are those of the logarithm and the cosine of the machine's libm.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * open_fraction(self.word()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A whole number below `count`; 0 when `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        word_below(self.word(), count)
    }
}

/// Start and parameters of one row, as the ensemble's `draw` gave them: a slice of finite numbers.
#[derive(Clone, Copy, Debug)]
pub struct Drawn<'a> {
    pub(super) index: u64,
    pub(super) values: &'a [f64],
}

impl Drawn<'_> {
    /// The index of the row: the number of the sample, where a sampler is run.
    pub fn index(&self) -> u64 {
        self.index
    }
}

impl Deref for Drawn<'_> {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        self.values
    }
}
