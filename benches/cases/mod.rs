//! What the benches run: systems, starts and ways of integrating them. Shared by `ess` (criterion)
//! and `ratios` (tables).

pub(crate) mod corner;
pub(crate) mod derivative;
pub(crate) mod ensemble;
pub(crate) mod hand;
pub(crate) mod hopper;
pub(crate) mod impact;
pub(crate) mod lcp;
pub(crate) mod mechanics;
pub(crate) mod plate;
pub(crate) mod step;

/// Draw `j` of a fixed list of numbers in [−1/2, 1/2): `SplitMix64` from state 0.
pub(crate) fn draw(j: usize) -> f64 {
    let state = (j as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((state ^ state >> 31) >> 11) as f64 * 2f64.powi(-53) - 0.5
}
