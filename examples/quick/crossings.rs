//! A hopper on a massless spring, and the crossings of its one guard: the pattern of any system
//! `x' = f(t, x; mode)` whose right-hand side changes at surfaces `h_k(t, x) = 0`.

use saltation::prelude::*;

fn main() -> Result<(), Error> {
    // 1 kg on a leg of 1 m and 400 N/m. State: height (m) and vertical velocity (m/s).
    // A type of your own that implements `Flow` and `EventFunction` can have resets too, and guards
    // that depend on the mode (a relay with hysteresis).
    let hopper = flow_fn(2, |_t, x, mode, dx| {
        // The mode says on which side of the guard the state is. Do not read the sign of `h`.
        let on_ground = mode.contains(0);
        let spring = if on_ground { 400.0 * (1.0 - x[0]) } else { 0.0 };
        dx.copy_from_slice(&[x[1], spring - 9.81]);
    })
    .with_events(1, |_k, _t, x| 1.0 - x[0]); // positive on the ground

    let mut driver = Integrator::new(hopper)?.rtol(1e-9);
    let start = Start::at(0.0).x(&[2.0, 0.0]);
    let run = driver.integrate(&start, 2.0)?.completed()?;
    for crossing in run.crossings() {
        let lands = crossing.guard == Guard::rising(0);
        let what = if lands { "lands" } else { "lifts off" };
        println!(
            "{:.6} s: {what} at {:+.4} m/s",
            crossing.t, crossing.state[1]
        );
    }
    println!("{:.6} s: height {:.6} m", run.t(), run.state()[0]);
    Ok(())
}
