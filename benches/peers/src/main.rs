//! Velocities of the rocking block after an impact on compliant contacts, as the table `tests/data/compliant_block.csv`.
//!
//! Halm & Posa, IJRR 2024, section 5.4.1 and Figure 12.

mod block;
mod drop;

use std::process::ExitCode;

use block::GRAVITY;

/// Stiffness of the softer corner (N/m).
const SOFTER: f64 = 1e6;
/// Values of a sweep on either side of 0.
const SIDE: i32 = 50;

fn main() -> ExitCode {
    println!("sweep,value,un_A,un_B,ut_A,ut_B,steps");
    // the speed after a fall of 1 cm
    let speed = (2.0 * GRAVITY * 0.01).sqrt();
    for step in -SIDE..=SIDE {
        let ratio = 0.1 * f64::from(step);
        let stiffness = [
            SOFTER * 10f64.powf(ratio.max(0.0)),
            SOFTER * 10f64.powf((-ratio).max(0.0)),
        ];
        if let Err(error) = row(
            "log10_kA_over_kB",
            &format!("{ratio:.1}"),
            stiffness,
            0.0,
            speed,
        ) {
            return failed(&error);
        }
    }
    for step in -SIDE..=SIDE {
        let degrees = 2e-4 * f64::from(step);
        let theta = degrees.to_radians();
        if let Err(error) = row(
            "theta0_deg",
            &format!("{degrees:.4}"),
            [SOFTER; 2],
            theta,
            speed,
        ) {
            return failed(&error);
        }
    }
    ExitCode::SUCCESS
}

fn row(
    sweep: &str,
    value: &str,
    stiffness: [f64; 2],
    theta: f64,
    speed: f64,
) -> Result<(), String> {
    let outcome =
        drop::drop(stiffness, theta, speed).map_err(|error| format!("{sweep} {value}: {error}"))?;
    let [a, b] = outcome.corners;
    let speeds = [a.speed, b.speed, a.slip, b.slip].map(|u| format!("{u:.12e}"));
    println!("{sweep},{value},{},{}", speeds.join(","), outcome.steps);
    Ok(())
}

fn failed(error: &str) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}
