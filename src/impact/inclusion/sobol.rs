//! Bounds from Sobol's sequence, keyed as all draws are.

use sobol_burley::parts::{owen_scramble_rev, sobol_rev};

use crate::random::{Draws, Stream};

/// Points and dimensions of a sequence.
const POINTS: u64 = 1 << 16;
const DIMENSIONS: u64 = 256;

/// Replaces the first numbers by those of Sobol's sequence for a step, in (0, 1), as far as it has
/// dimensions.
#[expect(
    clippy::cast_possible_truncation,
    reason = "below 2³²; halves of words"
)]
pub(super) fn fill(draws: Draws, to: &mut [f64]) {
    let first = draws.step.saturating_mul(to.len() as u64);
    let point = (draws.sample % POINTS) as u32;
    // All samples of a sequence share its scrambles.
    let sequence = Draws {
        sample: draws.sample / POINTS,
        ..draws
    };
    let mut scrambles = [0; 4];
    for (i, to) in to.iter_mut().enumerate() {
        let dimension = first.saturating_add(i as u64);
        if dimension >= DIMENSIONS {
            return;
        }
        if i % 4 == 0 {
            scrambles = sequence.block(Stream::Scramble, i as u64 / 4);
        }
        let reversed = sobol_rev(point.reverse_bits(), dimension as u32);
        let scrambled = owen_scramble_rev(reversed, (scrambles[i % 4] >> 32) as u32);
        *to = (f64::from(scrambled.reverse_bits()) + 0.5) / (1u64 << 32) as f64;
    }
}

#[cfg(test)]
#[expect(
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the same bits; places of numbers in (0, 1)"
)]
mod tests {
    use super::*;

    fn point(seed: u64, sample: u64, step: u64) -> [f64; 3] {
        let mut to = [f64::NAN; 3];
        fill(Draws { seed, sample, step }, &mut to);
        to
    }

    /// Of 256 points in a row each of 256 equal intervals has one, along each dimension.
    #[test]
    fn points_are_spread_over_intervals_and_boxes() {
        for (seed, start, step) in [
            (1, 0, 0),
            (1, 256, 0),
            (7, 1 << 16, 1),
            (3, (1 << 40) + 512, 9),
        ] {
            let points: Vec<[f64; 3]> =
                (start..start + 256).map(|k| point(seed, k, step)).collect();
            for axis in 0..3 {
                let mut seen = [false; 256];
                for p in &points {
                    assert!(p[axis] > 0.0 && p[axis] < 1.0);
                    seen[(256.0 * p[axis]) as usize] = true;
                }
                assert!(seen.iter().all(|&s| s));
            }
        }
        // The first two dimensions are a (0, 2)-sequence: all boxes.
        let mut seen = [false; 256];
        for k in 0..256 {
            let p = point(5, k, 0);
            seen[16 * (16.0 * p[0]) as usize + (16.0 * p[1]) as usize] = true;
        }
        assert!(seen.iter().all(|&s| s));
    }

    #[test]
    fn sequences_and_seeds_differ_and_later_dimensions_are_left() {
        assert_ne!(point(1, 5, 0), point(2, 5, 0));
        assert_ne!(point(1, 5, 0), point(1, 5 + POINTS, 0));
        assert_eq!(point(1, 5, 0), point(1, 5, 0));
        let last = point(1, 5, 85);
        assert!(last[0] > 0.0 && last[1].is_nan() && last[2].is_nan());
        assert!(point(1, u64::MAX, u64::MAX)[0].is_nan());
    }
}
