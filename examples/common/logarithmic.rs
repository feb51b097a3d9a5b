//! Logarithmic axes.

use std::ops::Range;

use crate::common::chart::{Axis, Scale, rounded};

/// A logarithmic axis with a tick at each power of ten, and at 2 and 5 times it when the range is
/// short.
pub(crate) fn axis(label: &str, range: Range<f64>) -> Axis<'_> {
    let (low, high) = (range.start.log10(), range.end.log10());
    let digits: &[f64] = if high - low < 2.2 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let powers = (rounded(low.floor())..=rounded(high.ceil())).map(|exponent| 10f64.powi(exponent));
    let ticks = powers.flat_map(|power| digits.iter().map(move |digit| digit * power));
    let ticks: Vec<f64> = ticks.filter(|tick| range.contains(tick)).collect();
    let plain = ticks.iter().all(|tick| (1.0..=10_000.0).contains(tick)) && high < 4.0;
    Axis {
        label,
        scale: Scale {
            range,
            measure: f64::ln,
            ticks,
        },
        format: Box::new(move |tick| {
            if plain {
                format!("{tick:.0}")
            } else {
                power_of_ten(*tick)
            }
        }),
    }
}

/// `10⁻³` for 0.001, `5·10⁻³` for 0.005; plain digits for 1 and 10.
fn power_of_ten(value: f64) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let exponent = rounded((value.log10() + 1e-9).floor());
    if exponent == 0 || exponent == 1 {
        return format!("{value:.0}");
    }
    let digit = rounded(value / 10f64.powi(exponent));
    if digit != 1 {
        return format!("{digit}·{}", power_of_ten(10f64.powi(exponent)));
    }
    let sign = if exponent < 0 { "⁻" } else { "" };
    let digits = exponent.unsigned_abs().to_string();
    let raised: String = digits
        .bytes()
        .map(|digit| RAISED[usize::from(digit - b'0')])
        .collect();
    format!("10{sign}{raised}")
}
