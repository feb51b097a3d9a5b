//! Small dense systems in place, without allocation.

/// A pivot below this part of its column is zero.
pub(crate) const SINGULAR: f64 = 1e-11;

/// Replaces `x` by the solution of `A y = x`, `A` (n × n, row by row) being used up, by elimination
/// with row exchanges; false when a pivot is zero.
pub(crate) fn solve(a: &mut [f64], x: &mut [f64]) -> bool {
    let n = x.len();
    for k in 0..n {
        let whole = (0..n).fold(0.0f64, |most, i| most.max(a[i * n + k].abs()));
        let pivot = (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs()));
        let least = SINGULAR * whole.max(SINGULAR);
        let Some(pivot) = pivot.filter(|&p| a[p * n + k].abs() > least) else {
            return false;
        };
        if pivot != k {
            for j in 0..n {
                a.swap(pivot * n + j, k * n + j);
            }
            x.swap(pivot, k);
        }
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            if factor != 0.0 {
                for j in k + 1..n {
                    a[i * n + j] -= factor * a[k * n + j];
                }
                a[i * n + k] = 0.0;
                x[i] -= factor * x[k];
            }
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k * n + j] * x[j]).sum();
        x[k] = (x[k] - known) / a[k * n + k];
    }
    true
}
