//! Finite differences along a direction, for derivatives that the user did not write.

/// Cube root of the rounding unit: the step of a central difference that balances rounding and truncation.
const CENTRAL: f64 = 6.055454452393343e-6;

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |most, entry| entry.abs().max(most))
}

/// Parameter step for a central difference along `(dt, dx)` from `(t, x)`: moves the state by about `CENTRAL` of its size
/// (or of 1, when it is smaller) and the time likewise.
pub(crate) fn step_along(t: f64, x: &[f64], dt: f64, dx: &[f64]) -> f64 {
    let state = CENTRAL * largest(x).max(1.0) / largest(dx).max(f64::MIN_POSITIVE);
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
}
