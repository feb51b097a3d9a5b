//! Random values of one case, keyed by seed, target and case: case N of a seed is the same on every
//! machine.

/// The values of one case, drawn one after another.
#[derive(Clone, Debug)]
pub struct Draw {
    key: u64,
    index: u64,
    /// What numbers may be.
    taste: Taste,
    /// The number drawn last: others may lie near it.
    last: f64,
}

/// What numbers of a case may be; most cases are tame, since wild ones are mostly refused at the
/// door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taste {
    /// Ordinary numbers.
    Tame,
    /// Denormals and numbers near overflow too.
    Finite,
    /// Infinities and NaN too.
    Any,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(z: u64) -> u64 {
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// A key from the bytes of a text (FNV-1a).
fn key_of(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

impl Draw {
    /// The values of case `case` of a target under a seed.
    pub fn new(seed: u64, target: &str, case: u64) -> Self {
        let key = mix(mix(seed.wrapping_add(GOLDEN)) ^ key_of(target)).wrapping_add(mix(case));
        let mut draw = Self {
            key,
            index: 0,
            taste: Taste::Tame,
            last: 1.0,
        };
        draw.taste = match draw.below(10) {
            0..=5 => Taste::Tame,
            6 | 7 => Taste::Finite,
            _ => Taste::Any,
        };
        draw
    }

    /// Other values of the same case and taste, so that one part of a case does not shift those of
    /// another.
    pub fn aside(&self, name: &str) -> Self {
        Self {
            key: mix(self.key ^ key_of(name)),
            index: 0,
            ..self.clone()
        }
    }

    /// The same values, ordinary numbers only.
    pub fn tamed(mut self) -> Self {
        self.taste = Taste::Tame;
        self
    }

    pub fn word(&mut self) -> u64 {
        self.index += 1;
        mix(self.key.wrapping_add(self.index.wrapping_mul(GOLDEN)))
    }

    /// A whole number below `count`, 0 where `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        let product = u128::from(self.word()) * count as u128;
        (product >> 64) as usize
    }

    /// A whole number from `least` to `most`, both included.
    pub fn whole(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn chance(&mut self, part: f64) -> bool {
        self.unit() < part
    }

    /// A power of ten between the exponents.
    pub fn decades(&mut self, low: f64, high: f64) -> f64 {
        10f64.powf(self.between(low, high))
    }

    pub fn is_tame(&self) -> bool {
        self.taste == Taste::Tame
    }

    /// A number far from the ordinary, as the taste of the case allows.
    pub fn extreme(&mut self) -> f64 {
        const FINITE: [f64; 14] = [
            5e-324,
            1e-310,
            f64::MIN_POSITIVE,
            1e-300,
            1e-154,
            1e-17,
            1e16,
            9007199254740993.0,
            1e154,
            1e200,
            1e300,
            1e307,
            1.7e308,
            f64::MAX,
        ];
        let sign = if self.chance(0.5) { -1.0 } else { 1.0 };
        if self.taste == Taste::Any && self.chance(0.3) {
            return if self.chance(0.5) {
                f64::NAN
            } else {
                sign * f64::INFINITY
            };
        }
        sign * FINITE[self.below(FINITE.len())]
    }

    /// Any number: ordinary, small and whole, zero, of any size, near the one drawn before, or
    /// extreme.
    pub fn number(&mut self) -> f64 {
        if self.taste != Taste::Tame && self.chance(0.06) {
            return self.extreme();
        }
        let number = match self.below(20) {
            0..=10 => self.between(-3.0, 3.0),
            11..=14 => self.below(7) as f64 - 3.0,
            15 | 16 => 0.0,
            17 => self.near(),
            18 => -self.decades(-6.0, 2.0),
            _ => self.decades(-6.0, 2.0),
        };
        self.last = number;
        number
    }

    /// A number that differs from the last one by rounding, or a little more.
    fn near(&mut self) -> f64 {
        let by = self.decades(-17.0, -6.0);
        self.last * (1.0 + by)
    }

    /// A number that is to be above zero: so it is in tame cases.
    pub fn positive(&mut self) -> f64 {
        if self.taste != Taste::Tame && self.chance(0.05) {
            return self.extreme();
        }
        match self.below(10) {
            0..=5 => self.between(0.1, 3.0),
            6 | 7 => self.whole(1, 4) as f64,
            _ => self.decades(-4.0, 3.0),
        }
    }

    /// A part in [0, 1], mostly.
    pub fn part(&mut self) -> f64 {
        match self.below(8) {
            0 | 1 => 0.0,
            2 => 1.0,
            3 if self.taste != Taste::Tame => self.number(),
            _ => self.unit(),
        }
    }

    pub fn numbers(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.number()).collect()
    }

    /// A length that is nearly always right.
    pub fn length(&mut self, right: usize) -> usize {
        if self.chance(0.99) {
            return right;
        }
        [0, right + 1, right.saturating_sub(1), 2 * right][self.below(4)]
    }

    /// A size or a cap: small, mostly; enormous in cases that are not tame.
    pub fn size(&mut self, most: usize) -> usize {
        if self.taste != Taste::Tame && self.chance(0.05) {
            return [usize::MAX, usize::MAX / 2, 1 << 40, 1 << 62][self.below(4)];
        }
        self.below(most + 1)
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}
