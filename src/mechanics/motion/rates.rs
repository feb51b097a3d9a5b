//! Velocities that have given rates of gaps, also where the rows of contacts depend on each other.

use crate::linalg::dot;
use crate::mechanics::motion::acceleration::Frame;

/// A row counts as a combination of others when the part orthogonal to them is below this, in the
/// metric of kinetic energy.
const COMBINATION: f64 = 1e-12;

/// Changes velocities by the least amount, in the metric of kinetic energy, that changes the rates
/// of the contacts of a frame as `wanted`. It uses orthonormal rows, since the Gram matrix resolves
/// rows only to the root of rounding. Rows that are combinations of others are skipped.
///
/// With `wanted = −Da v` it is the plastic projection `I − P_J` of Pace & Burden (equations 3 and 4
/// with `γ = 0`).
pub(crate) fn change_rates(frame: &Frame<'_>, wanted: &[f64], v: &mut [f64]) {
    let (d, m) = (frame.d, wanted.len());
    // Rows Da and lifts M⁻¹ Daᵀ are orthogonalised together: ⟨row, lift⟩ is the metric.
    let (mut rows, mut lifts) = (frame.rows.rows.to_vec(), frame.lift.to_vec());
    let mut wanted = wanted.to_vec();
    let mut left: Vec<usize> = (0..m).collect();
    let whole: Vec<f64> = (0..m)
        .map(|i| dot(frame.row(i), &lifts[i * d..(i + 1) * d]))
        .collect();
    loop {
        let size = |i: usize| dot(&rows[i * d..(i + 1) * d], &lifts[i * d..(i + 1) * d]);
        let part = |i: usize| size(i) / whole[i];
        let Some(k) = (0..left.len()).max_by(|&a, &b| part(left[a]).total_cmp(&part(left[b])))
        else {
            return;
        };
        // Pivoting: the row with the largest part that is orthogonal to those before.
        let i = left.swap_remove(k);
        let share = part(i);
        if share.is_nan() || share <= COMBINATION * COMBINATION {
            return;
        }
        let norm = size(i).sqrt();
        let row: Vec<f64> = rows[i * d..(i + 1) * d].iter().map(|r| r / norm).collect();
        let lift: Vec<f64> = lifts[i * d..(i + 1) * d].iter().map(|l| l / norm).collect();
        // The rate along the unit row; the lift changes no rate of the rows before.
        let change = wanted[i] / norm;
        for (v, l) in v.iter_mut().zip(&lift) {
            *v += change * l;
        }
        for &j in &left {
            // Twice, since the remainder may be small.
            for _ in 0..2 {
                let along = dot(&rows[j * d..(j + 1) * d], &lift);
                for c in 0..d {
                    rows[j * d + c] -= along * row[c];
                    lifts[j * d + c] -= along * lift[c];
                }
                wanted[j] -= along * change;
            }
        }
    }
}
