//! Statistics of parts are those of the whole, in any order.

use proptest::prelude::*;
use saltation::ensemble::{Histogram, Moments};

/// 2⁻⁵³.
const EPS: f64 = 0.5 * f64::EPSILON;

/// Rows of two columns, and where to cut them; the parts are merged in rotated order.
fn cases() -> impl Strategy<Value = (Vec<[f64; 2]>, Vec<usize>, usize)> {
    let number = prop_oneof![-1.0..1.0, 1e6..1.0001e6, -1e-3..1e-3];
    let rows = prop::collection::vec([number.clone(), number], 2..300);
    (rows, prop::collection::vec(0..300_usize, 0..6), 0..6_usize)
}

fn parts<'r>(rows: &'r [[f64; 2]], cuts: &[usize], turn: usize) -> Vec<&'r [[f64; 2]]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|&cut| cut.min(rows.len())).collect();
    cuts.extend([0, rows.len()]);
    cuts.sort_unstable();
    let mut parts: Vec<_> = cuts
        .windows(2)
        .map(|pair| &rows[pair[0]..pair[1]])
        .collect();
    let turn = turn % parts.len();
    parts.rotate_left(turn);
    parts
}

fn moments(rows: &[[f64; 2]]) -> Moments {
    let mut moments = Moments::new(2).unwrap();
    rows.iter().try_for_each(|row| moments.add(row)).unwrap();
    moments
}

proptest! {
    #[test]
    fn moments_merge_to_those_of_the_whole((rows, cuts, turn) in cases()) {
        let mut merged = Moments::new(2).unwrap();
        for part in parts(&rows, &cuts, turn) {
            merged.merge(&moments(part)).unwrap();
        }
        // Two passes: the sums themselves are exact to 3 n ε in what they add up.
        let n = rows.len() as f64;
        let mean = [0, 1].map(|i| rows.iter().map(|row| row[i]).sum::<f64>() / n);
        let most = [0, 1].map(|i| rows.iter().map(|row| row[i].abs()).fold(0.0, f64::max));
        let product = |i: usize, j: usize| {
            let terms = rows.iter().map(|row| (row[i] - mean[i]) * (row[j] - mean[j]));
            terms.sum::<f64>() / (n - 1.0)
        };
        let deviation = [0, 1].map(|i| product(i, i).sqrt());
        for found in [&moments(&rows), &merged] {
            prop_assert_eq!(found.count(), rows.len() as u64);
            let covariance = found.covariance();
            for i in 0..2 {
                // As stated, and once more for the two passes.
                let missed = (found.mean()[i] - mean[i]).abs();
                prop_assert!(missed <= 8.0 * n * EPS * most[i], "mean {}: {missed:e}", i);
                for j in 0..2 {
                    let scale = deviation[i] * (deviation[j] + most[j])
                        + deviation[j] * (deviation[i] + most[i]);
                    let missed = (covariance[(i, j)] - product(i, j)).abs();
                    // a mean that is wrong by δ adds δ² to a variance
                    let shift = (8.0 * n * EPS).powi(2) * most[i] * most[j];
                    prop_assert!(
                        missed <= 8.0 * n * EPS * scale + 2.0 * shift,
                        "covariance {} {}: {missed:e}", i, j
                    );
                }
            }
        }
    }

    #[test]
    fn histograms_merge_exactly((rows, cuts, turn) in cases(), bins in 1..40_usize) {
        let of = |rows: &[[f64; 2]]| {
            let mut histogram = Histogram::new(-0.5..0.7, bins).unwrap();
            for row in rows {
                histogram.add(row[0]);
            }
            histogram
        };
        let whole = of(&rows);
        let mut merged = of(&[]);
        for part in parts(&rows, &cuts, turn) {
            merged.merge(&of(part)).unwrap();
        }
        prop_assert_eq!(&merged, &whole);
        let inside: u64 = whole.counts().iter().sum();
        prop_assert_eq!(inside + whole.below() + whole.beyond(), rows.len() as u64);
    }

    #[cfg(feature = "quantiles")]
    #[test]
    fn quantiles_merge_exactly_and_are_accurate((rows, cuts, turn) in cases(), q in 0.0..=1.0_f64) {
        use saltation::ensemble::Quantiles;
        let of = |rows: &[[f64; 2]]| {
            let mut sketch = Quantiles::new(0.01).unwrap();
            for row in rows {
                sketch.add(row[0]);
            }
            sketch
        };
        let whole = of(&rows);
        let mut merged = of(&[]);
        for part in parts(&rows, &cuts, turn) {
            merged.merge(&of(part)).unwrap();
        }
        prop_assert_eq!(merged.quantile(q), whole.quantile(q));
        let mut sorted: Vec<f64> = rows.iter().map(|row| row[0]).collect();
        sorted.sort_by(f64::total_cmp);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
        let rank = (q * (sorted.len() - 1) as f64) as usize;
        let (found, exact) = (whole.quantile(q).unwrap(), sorted[rank]);
        // a number on an edge may be counted on either side of it
        prop_assert!((found - exact).abs() <= 0.01001 * exact.abs() + 1e-12, "{found} {exact}");
    }
}

#[test]
fn blocks_do_not_change_a_bit_of_moments() {
    let runs = crate::fixtures::numbers(5);
    let of = |block| {
        let mut moments = Moments::new(3).unwrap();
        let runs = runs.clone().block(block);
        runs.stream(0..3000, |rows| moments.add_rows(rows)).unwrap();
        moments
    };
    let moments = of(1);
    assert_eq!(moments, of(1000));
    // Rows that failed have no numbers.
    assert_eq!((moments.count(), moments.skipped()), (2727, 273));
    // A normal number and a uniform one: bands of five deviations.
    let width = 5.0 / 2727f64.sqrt();
    assert!((moments.mean()[0] - 0.5).abs() < width * (1.0f64 / 12.0).sqrt());
    assert!(moments.mean()[1].abs() < width);
    assert!((moments.covariance()[(1, 1)] - 1.0).abs() < width * 2f64.sqrt());
    assert!(moments.covariance()[(0, 1)].abs() < width);
}

#[test]
fn what_makes_no_sense_is_refused() {
    assert!(Moments::new(1001).is_err());
    let mut two = Moments::new(2).unwrap();
    assert!(two.add(&[1.0]).is_err() && two.merge(&Moments::new(3).unwrap()).is_err());
    assert!(two.covariance()[(0, 0)].is_nan());
    for range in [
        1.0..0.0,
        0.0..0.0,
        f64::NAN..1.0,
        0.0..f64::INFINITY,
        f64::MIN..f64::MAX,
    ] {
        assert!(Histogram::new(range, 3).is_err());
    }
    assert!(Histogram::new(0.0..1.0, 0).is_err());
    assert!(Histogram::new(0.0..1.0, usize::MAX).is_err());
    let mut unit = Histogram::new(0.0..1.0, 3).unwrap();
    assert!(unit.merge(&Histogram::new(0.0..2.0, 3).unwrap()).is_err());
    assert!(unit.merge(&Histogram::new(0.0..1.0, 4).unwrap()).is_err());
    unit.add(1.0 - EPS);
    assert_eq!(unit.counts(), [0, 0, 1]);
    #[cfg(feature = "quantiles")]
    {
        use saltation::ensemble::Quantiles;
        for wrong in [0.0, 1e-4, 0.6, f64::NAN] {
            assert!(Quantiles::new(wrong).is_err());
        }
        let mut wide = Quantiles::new(1e-3).unwrap();
        for x in [
            f64::MAX,
            f64::MIN,
            0.0,
            1e-300,
            f64::MIN_POSITIVE,
            1e-12,
            -1e-12,
            1.0,
            f64::NAN,
        ] {
            wide.add(x);
        }
        assert_eq!((wide.count(), wide.skipped()), (8, 1));
        assert_eq!(
            (wide.quantile(0.0), wide.quantile(1.0)),
            (Some(f64::MIN), Some(f64::MAX))
        );
        assert!(wide.quantile(1.5).is_none() && wide.quantile(f64::NAN).is_none());
        assert!((0..=100).all(|k| wide.quantile(f64::from(k) / 100.0).unwrap().is_finite()));
        assert!(wide.merge(&Quantiles::new(0.01).unwrap()).is_err());
    }
}
