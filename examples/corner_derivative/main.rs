//! Displace a start whose trajectory leads right through a corner: where does the end go?
//!
//! Each order of the guards has a linear map of its own, so that the derivative of the end is
//! piecewise linear and no matrix is right in all directions. The table counts how often a matrix
//! is wrong that knows single events only; one picture shows the image of a small circle of
//! displacements, the other the slopes on either side of a plate that lands level.

mod circle;
#[path = "../common/mod.rs"]
mod common;
mod corner;
#[path = "../common/linear.rs"]
mod linear;
mod plate;
mod random;
mod table;

use std::ops::Range;
use std::process::ExitCode;

use circle::Circle;
use common::flags::ensure;
use plate::Plate;
use table::Table;

const HELP: &str = "\
Displace a start whose trajectory leads right through a corner: where does the end go?

  cargo run --release --example corner_derivative -- [FLAGS]

The table, of random corners with constant fields around them:

  --corners N       corners of each number of guards, 5
  --directions N    random directions through each corner, 24
  --seed S          of the corners and directions, 1

The image of a circle of displacements through a corner of three guards:

  --radius R        of the circle, 0.001
  --points N        displaced starts on it, 72

The plate that lands level on springs, with damping shared among the springs in contact:

  --springs N       number of springs, 2
  --pitch P         greatest initial pitch to either side, 0.02 rad

  --pictures DIR    folder for pictures, target/pictures
";

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let table = Table {
            corners: flags.number("--corners", 5)?,
            directions: flags.number("--directions", 24)?,
            seed: flags.number("--seed", 1)?,
        };
        ensure(
            (1..=12).contains(&table.corners),
            "--corners must lie in 1 to 12",
        )?;
        ensure(
            (1..=999).contains(&table.directions),
            "--directions must lie in 1 to 999",
        )?;
        let circle = Circle {
            radius: flags.number("--radius", 1e-3)?,
            points: flags.number("--points", 72)?,
        };
        ensure(
            (1e-9..=0.05).contains(&circle.radius),
            "--radius must lie in 1e-9 to 0.05",
        )?;
        ensure(
            (1..=2000).contains(&circle.points),
            "--points must lie in 1 to 2000",
        )?;
        let plate = Plate {
            springs: flags.number("--springs", 2)?,
            pitch: flags.number("--pitch", 0.02)?,
        };
        ensure(
            (2..=6).contains(&plate.springs),
            "--springs must lie in 2 to 6",
        )?;
        ensure(
            (1e-3..=0.1).contains(&plate.pitch),
            "--pitch must lie in 1e-3 to 0.1",
        )?;
        let folder = flags.pictures()?;

        table.report(out)?;
        let file = circle.report(&folder, out)?;
        writeln!(out, "\nwrote {}\n", file.display())?;
        let file = plate.report(&folder, out)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

/// From the least to the greatest value, with a margin of `pad` times their distance.
fn span(values: impl Iterator<Item = f64>, pad: f64) -> Range<f64> {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.fold(ends, |(low, high), v| (low.min(v), high.max(v)));
    let pad = (high - low).max(1e-12) * pad;
    low - pad..high + pad
}
