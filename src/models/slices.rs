//! States between the slices of the traits and arrays of known size, without panics.

/// The first `N` entries; NaN when there are fewer, which the integrator finds and reports.
#[inline]
pub(super) fn load<const N: usize>(x: &[f64]) -> [f64; N] {
    x.first_chunk().copied().unwrap_or([f64::NAN; N])
}

/// Writes the first `N` entries; leaves a shorter slice as it is.
#[inline]
pub(super) fn store<const N: usize>(out: &mut [f64], values: [f64; N]) {
    if let Some(chunk) = out.first_chunk_mut() {
        *chunk = values;
    }
}

/// Writes the unit row `e_k` scaled by `value`.
#[inline]
pub(super) fn store_unit(out: &mut [f64], k: usize, value: f64) {
    out.fill(0.0);
    if let Some(entry) = out.get_mut(k) {
        *entry = value;
    }
}
