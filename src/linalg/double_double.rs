//! Numbers of twice the precision, as unevaluated sums of two (Dekker 1971; Hida, Li & Bailey
//! 2001): 106 bits.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `high + low`, with `|low|` at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Double {
    high: f64,
    low: f64,
}

impl Double {
    pub(crate) const ZERO: Self = Self {
        high: 0.0,
        low: 0.0,
    };

    /// The product of two numbers, exactly unless it overflows or its low part underflows.
    #[inline]
    pub(crate) fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        let ((ah, al), (bh, bl)) = (split(a), split(b));
        let low = ((ah * bh - high) + ah * bl + al * bh) + al * bl;
        Self { high, low }
    }

    /// The nearest number.
    #[inline]
    pub(crate) fn high(self) -> f64 {
        self.high
    }
}

impl From<f64> for Double {
    #[inline]
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

/// The sum and what it rounds away.
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The sum where `|a|` is not less than `|b|`.
#[inline]
fn normal(a: f64, b: f64) -> Double {
    let high = a + b;
    Double {
        high,
        low: b - (high - a),
    }
}

/// Two parts of 26 bits. Bits are rounded, since a product with 2²⁷ + 1 overflows above 2⁹⁹⁶.
#[inline]
fn split(a: f64) -> (f64, f64) {
    const LOW: u64 = (1 << 27) - 1;
    let rounded = a.to_bits().wrapping_add(1 << 26) & !LOW;
    let high = f64::from_bits(rounded);
    (high, a - high)
}

impl Neg for Double {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self {
            high: -self.high,
            low: -self.low,
        }
    }
}

impl Add for Double {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        let (high, rest) = two_sum(self.high, other.high);
        let (low, more) = two_sum(self.low, other.low);
        let sum = normal(high, rest + low);
        normal(sum.high, sum.low + more)
    }
}

impl Sub for Double {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        let rest = self.high * other.low + self.low * other.high;
        normal(product.high, product.low + rest)
    }
}

impl Div for Double {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * Self::from(first);
        let second = rest.high / other.high;
        let rest = rest - other * Self::from(second);
        normal(first, second) + Self::from(rest.high / other.high)
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact equality is what is promised")]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_of_two_numbers_are_exact() {
        let tiny = 2f64.powi(-80);
        let sum = Double::from(1.0) + Double::from(tiny);
        assert_eq!((sum - Double::from(1.0)).high(), tiny);
        // (1 + 2⁻³⁰)² = 1 + 2⁻²⁹ + 2⁻⁶⁰
        let a = 1.0 + 2f64.powi(-30);
        let rest = Double::product(a, a) - Double::from(1.0 + 2f64.powi(-29));
        assert_eq!(rest.high(), 2f64.powi(-60));
    }

    #[test]
    fn products_with_numbers_near_overflow_are_exact() {
        let great = 2f64.powi(1020) * (1.0 + 2f64.powi(-30));
        for sign in [1.0, -1.0] {
            let product = Double::product(sign * great, 1.0 - 2f64.powi(-30));
            let rest = product - Double::from(sign * 2f64.powi(1020));
            assert_eq!(rest.high(), -sign * 2f64.powi(960));
        }
    }

    #[test]
    fn a_third_is_a_third_to_thirty_digits() {
        let third = Double::from(1.0) / Double::from(3.0);
        let rest = third * Double::from(3.0) - Double::from(1.0);
        assert!(rest.high().abs() < 1e-31, "{rest:?}");
        let root = Double::from(1.0) / (third * third);
        assert!((root - Double::from(9.0)).high().abs() < 1e-29);
        assert_eq!((-third + third), Double::ZERO);
    }
}
