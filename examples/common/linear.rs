//! Linear axes.

use std::ops::Range;

use crate::common::chart::{Axis, Scale, rounded};

/// A linear axis with about `ticks` round numbers.
pub(crate) fn axis(label: &str, range: Range<f64>, ticks: u32) -> Axis<'_> {
    let step = round_step((range.end - range.start) / f64::from(ticks));
    let decimals = usize::try_from(rounded(-step.log10().floor())).unwrap_or(0);
    let short = decimals <= 4 && range.end.abs().max(range.start.abs()) < 1e6;
    let (first, last) = ((range.start / step).ceil(), (range.end / step).floor());
    let count = rounded(last - first + 1.0).clamp(0, 100);
    // 0.0 is added because a product may be −0
    let number = |i| (first + f64::from(i)) * step + 0.0;
    Axis {
        label,
        scale: Scale {
            range,
            measure: |value| value,
            ticks: (0..count).map(number).collect(),
        },
        format: Box::new(move |value| {
            if short {
                format!("{value:.decimals$}")
            } else {
                format!("{value:.1e}")
            }
        }),
    }
}

/// 1, 2 or 5 times a power of ten, near `wish`.
fn round_step(wish: f64) -> f64 {
    let power = 10f64.powf(wish.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
    let enough = |step: &f64| *step >= 0.7 * wish;
    steps.into_iter().find(enough).unwrap_or(1.0)
}
