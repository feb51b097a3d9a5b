//! Finite differences along a direction, for derivatives that the user did not write.

/// Cube root of the rounding unit: the step of a central difference that balances rounding and truncation.
const CENTRAL: f64 = 6.055454452393343e-6;

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |most, entry| entry.abs().max(most))
}

/// Parameter step for a central difference along `(dt, dx)` from `(t, x)`: moves the state by about `CENTRAL` of its size
/// (or of 1, when it is smaller) and the time likewise. Where components differ in size, what suits the largest is `s_1`, too far for
/// the others by truncation, and what suits each is `s_0`, too short for the largest by rounding: of `s³ = s_0² s_1` both errors are
/// alike.
pub(crate) fn step_along(t: f64, x: &[f64], dt: f64, dx: &[f64]) -> f64 {
    let widest = largest(x).max(1.0) / largest(dx).max(f64::MIN_POSITIVE);
    let each = x
        .iter()
        .zip(dx)
        .map(|(x, dx)| x.abs().max(1.0) / dx.abs().max(f64::MIN_POSITIVE));
    let shortest = each.fold(widest, f64::min);
    let state = if shortest < widest {
        CENTRAL * (shortest * shortest * widest).cbrt()
    } else {
        CENTRAL * widest
    };
    let time = CENTRAL * t.abs().max(1.0) / dt.abs().max(f64::MIN_POSITIVE);
    state.min(time)
}

/// Derivative of the scalar `g` at `(t, x)` along `(dt, dx)`; two evaluations. `point` is overwritten.
pub(crate) fn scalar_along(
    mut g: impl FnMut(f64, &[f64]) -> f64,
    (t, x): (f64, &[f64]),
    (dt, dx): (f64, &[f64]),
    point: &mut [f64],
) -> f64 {
    let s = step_along(t, x, dt, dx);
    let mut at = |s: f64| {
        for i in 0..x.len() {
            point[i] = x[i] + s * dx[i];
        }
        g(t + s * dt, point)
    };
    (at(s) - at(-s)) / (2.0 * s)
}

/// Derivative of the map `g(t, x, out)` at `(t, x)` along `(dt, dx)`; two evaluations. `point` and `behind` are overwritten.
pub(crate) fn vector_along<E>(
    mut g: impl FnMut(f64, &[f64], &mut [f64]) -> Result<(), E>,
    (t, x): (f64, &[f64]),
    (dt, dx): (f64, &[f64]),
    out: &mut [f64],
    (point, behind): (&mut [f64], &mut [f64]),
) -> Result<(), E> {
    let s = step_along(t, x, dt, dx);
    for (s, value) in [(s, &mut *out), (-s, &mut *behind)] {
        for i in 0..x.len() {
            point[i] = x[i] + s * dx[i];
        }
        g(t + s * dt, point, value)?;
    }
    for i in 0..out.len() {
        out[i] = (out[i] - behind[i]) / (2.0 * s);
    }
    Ok(())
}

/// The gradient of the scalar `g` at `(t, x)` into `row`; returns its derivative in time. `point` is overwritten. The step of
/// each coordinate follows that coordinate alone; the others may have another unit and size.
pub(crate) fn gradient(
    mut g: impl FnMut(f64, &[f64]) -> f64,
    (t, x): (f64, &[f64]),
    row: &mut [f64],
    point: &mut [f64],
) -> f64 {
    point.copy_from_slice(x);
    for i in 0..x.len() {
        let step = step_along(0.0, &[x[i]], 0.0, &[1.0]);
        // The distance of the two coordinates is exact, the step is not.
        let (behind, ahead) = (x[i] - step, x[i] + step);
        point[i] = ahead;
        let above = g(t, point);
        point[i] = behind;
        row[i] = (above - g(t, point)) / (ahead - behind);
        point[i] = x[i];
    }
    let step = step_along(t, &[], 1.0, &[]);
    let (behind, ahead) = (t - step, t + step);
    (g(ahead, point) - g(behind, point)) / (ahead - behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scalar_difference_sees_state_and_time() {
        let g = |t: f64, x: &[f64]| t.sin() * x[0] * x[1];
        let d = scalar_along(g, (0.4, &[2.0, 3.0]), (1.0, &[0.5, -1.0]), &mut [0.0; 2]);
        let exact = 0.4f64.cos() * 6.0 + 0.4f64.sin() * (0.5 * 3.0 - 2.0);
        assert!((d - exact).abs() < 1e-9, "{d} {exact}");
    }

    #[test]
    fn components_of_other_sizes_do_not_spoil_each_other() {
        // A length in millimetres and an angle, along a direction that moves both.
        let g = |_: f64, x: &[f64]| 1e-3 * x[0] + x[1].sin();
        for size in [1e2, 1e3, 1e4] {
            let d = scalar_along(g, (0.0, &[size, 0.4]), (0.0, &[1.0, 1.0]), &mut [0.0; 2]);
            let exact = 1e-3 + 0.4f64.cos();
            assert!(
                (d - exact).abs() < 1e-8 * (1e-2 * size).powf(2.0 / 3.0),
                "{size} {d} {exact}"
            );
        }
    }
}
