//! A run as a table of comma-separated values on the standard output, for a plot or a notebook:
//! `cargo run --example table > hopper.csv`.

use saltation::models::Hopper;
use saltation::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut driver = Integrator::new(Hopper::default())?;
    let run = driver
        .integrate(&Start::at(0.0).x(&[2.0, 0.0]), 2.0)?
        .completed()?;
    // A row every 20 ms and one at the end. `run.write_csv` writes the nodes of the run instead.
    run.every(0.02)?.write_csv(std::io::stdout().lock())?;
    Ok(())
}
