//! Numbers at the ends of their range, and few of them: what random numbers never are.
#![allow(dead_code, reason = "each test binary uses a part")]

/// Any of the numbers that arithmetic stumbles over; the larger the `wildness`, the more often, and
/// 3 and more with those that are not finite.
pub(crate) fn number(next: &mut impl FnMut() -> u64, wildness: u64) -> f64 {
    const FINITE: [f64; 22] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -2.0,
        5e-324,
        -5e-324,
        1e-320,
        f64::MIN_POSITIVE,
        1e-308,
        -1e-308,
        1e-160,
        1e8,
        -1e8,
        1e-8,
        1e150,
        -1e150,
        1e307,
        -1e307,
        f64::MAX,
        f64::MIN,
    ];
    const OTHERS: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let of = |numbers: &[f64], next: &mut dyn FnMut() -> u64| {
        let place = usize::try_from(next() % numbers.len() as u64);
        numbers[place.expect("below the length")]
    };
    match next() % 8 {
        0 if wildness >= 3 && next().is_multiple_of(8) => of(&OTHERS, next),
        0 | 1 if wildness >= 2 => of(&FINITE, next),
        2 if wildness >= 1 => of(&FINITE[..6], next),
        3 if wildness >= 4 => f64::from_bits(next()),
        _ => 2.0 * ((next() >> 11) as f64 * 2f64.powi(-53)) - 1.0,
    }
}
