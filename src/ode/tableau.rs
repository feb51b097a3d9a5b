//! The numbers of Tsitouras's pair of order 5(4) ("Runge–Kutta pairs of order 5(4) satisfying only the
//! first column simplifying assumption", Computers & Mathematics with Applications 62, 2011).

pub(super) const C: [f64; 7] = [0.0, 0.161, 0.327, 0.9, 0.9800255409045097, 1.0, 1.0];
/// The longest time between two stages, as a part of the step.
pub(crate) const STAGES_APART: f64 = C[3] - C[2];
// Weights of the slopes of the second to the last stage, counted from that of the first: then what
// the rows add up to is exact, and rounding of the slope of a long step does not count.
pub(super) const A3: f64 = 0.335480655492357;
pub(super) const A4: [f64; 2] = [-6.359448489975075, 4.3622954328695815];
pub(super) const A5: [f64; 3] = [
    -11.748883564062828,
    7.4955393428898365,
    -0.09249506636175525,
];
pub(super) const A6: [f64; 4] = [
    -12.92096931784711,
    8.159367898576159,
    -0.071584973281401,
    -0.028269050394068383,
];
/// Weights of the 5th order solution, counted as above.
pub(super) const B: [f64; 5] = [
    0.01,
    0.4798896504144996,
    1.379008574103742,
    -3.290069515436081,
    2.324710524099774,
];
/// The rounding of slopes counts this many times in a step: the sum of the sizes of its weights.
pub(crate) const ROUNDING: f64 = 7.6;
/// Weights of the difference of the 4th and the 5th order, counted as above.
pub(super) const E: [f64; 6] = [
    -0.0008164344596567469,
    0.007880878010261995,
    -0.1447110071732629,
    0.5823571654525552,
    -0.45808210592918697,
    1.0 / 66.0,
];
/// Weights of the last coefficient of the interpolant, counted as above.
pub(super) const D: [f64; 6] = [
    0.1017,
    2.490627285651253,
    -16.548102889244902,
    47.37952196281928,
    -34.87065786149661,
    2.5,
];

/// The interpolant of `x' = t⁴` is off by `θ²(1 − θ)²(OF_TIME₀ − OF_TIME₁ θ)` times the error
/// estimate at the fraction θ of a step.
pub(super) const OF_TIME: [f64; 2] = [183.08656126, 343.51486576];

/// The terms that come of the stages are off by at most this many times the error estimate.
#[inline]
pub(super) fn of_stages(theta: f64) -> f64 {
    (60.0 * theta * theta).min(1.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The conditions of a rooted tree: products of `c` and of `A` times others (Hairer, Nørsett,
    /// Wanner, II.2), and the density γ of the tree.
    struct Tree {
        order: i32,
        weights: [f64; 7],
        density: f64,
    }

    /// All weights of a row, which add up to `total`.
    fn with_first(row: &[f64], total: f64) -> [f64; 7] {
        let mut all = [0.0; 7];
        all[1..=row.len()].copy_from_slice(row);
        all[0] = total - row.iter().sum::<f64>();
        all
    }

    fn trees() -> Vec<Tree> {
        // Each row with the weight of the first slope.
        let rows: [&[f64]; 6] = [&[], &[A3], &A4, &A5, &A6, &B];
        let mut a = [[0.0; 7]; 7];
        for (stage, row) in rows.iter().enumerate() {
            a[stage + 1] = with_first(row, C[stage + 1]);
        }
        let through = |v: [f64; 7]| a.map(|row| (0..7).map(|j| row[j] * v[j]).sum::<f64>());
        let times = |u: [f64; 7], v: [f64; 7]| std::array::from_fn(|i| u[i] * v[i]);
        let power = |n: i32| C.map(|c| c.powi(n));
        let (c1, c2, c3) = (power(1), power(2), power(3));
        let (a1, a2) = (through(c1), through(c2));
        let aa1 = through(a1);
        let tree = |order, weights, density| Tree {
            order,
            weights,
            density,
        };
        vec![
            tree(1, [1.0; 7], 1.0),
            tree(2, c1, 2.0),
            tree(3, c2, 3.0),
            tree(3, a1, 6.0),
            tree(4, c3, 4.0),
            tree(4, times(c1, a1), 8.0),
            tree(4, a2, 12.0),
            tree(4, aa1, 24.0),
            tree(5, power(4), 5.0),
            tree(5, times(c2, a1), 10.0),
            tree(5, times(c1, a2), 15.0),
            tree(5, times(c1, aa1), 30.0),
            tree(5, times(a1, a1), 20.0),
            tree(5, through(c3), 20.0),
            tree(5, through(times(c1, a1)), 40.0),
            tree(5, through(a2), 60.0),
            tree(5, through(aa1), 120.0),
        ]
    }

    fn sum(weights: &[f64], of: &[f64]) -> f64 {
        weights.iter().zip(of).map(|(w, v)| w * v).sum()
    }

    #[test]
    fn the_conditions_of_order_hold() {
        let (solution, estimated) = (with_first(&B, 1.0), with_first(&E, 0.0));
        for (number, tree) in trees().iter().enumerate() {
            let off = sum(&solution, &tree.weights) - 1.0 / tree.density;
            assert!(off.abs() < 2e-15, "solution, tree {number}: {off:e}");
            let estimate = sum(&estimated, &tree.weights).abs();
            if tree.order <= 4 {
                assert!(estimate < 1e-15, "estimate, tree {number}: {estimate:e}");
            } else {
                assert!(estimate > 1e-4, "estimate, tree {number}: {estimate:e}");
            }
        }
    }

    /// Bound of the error of the interpolant by the estimate, for each term of fifth order.
    #[test]
    fn the_error_of_the_interpolant_is_bounded_by_the_estimate() {
        let (solution, estimated) = (with_first(&B, 1.0), with_first(&E, 0.0));
        let last = with_first(&D, 0.0);
        for tree in trees().iter().filter(|tree| tree.order == 5) {
            let estimate = sum(&estimated, &tree.weights);
            for part in 1..200 {
                let theta = 0.005 * f64::from(part);
                // As `form_of`, with the weights of the slopes in place of the slopes.
                let rest = 1.0 - theta;
                let weight = |i: usize| {
                    let all = solution[i];
                    let (first, end) = (f64::from(i == 0) - all, f64::from(i == 6));
                    let inner = all - end - first + rest * last[i];
                    theta * (all + rest * (first + theta * inner))
                };
                let weights: [f64; 7] = std::array::from_fn(weight);
                let off = sum(&weights, &tree.weights) - theta.powi(5) / tree.density;
                let of_time = theta * theta * rest * rest * (OF_TIME[0] - OF_TIME[1] * theta);
                let most = 1.1 * of_time.abs() + of_stages(theta);
                assert!((off / estimate).abs() <= most, "{theta}");
            }
        }
    }
}
