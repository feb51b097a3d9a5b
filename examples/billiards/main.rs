//! Three-ball billiards: how much does it matter which of two balls is hit first, when both are hit
//! at one instant?
//!
//! Source: Seghete & Murphey, "A propagative model of simultaneous impact" (arXiv 1709.02296),
//! Fig. 5. The paper gives neither radii nor masses: three sets of radii stand for it, see
//! `ThreeBalls`.

#[path = "../common/arrow.rs"]
mod arrow;
#[path = "../common/mod.rs"]
mod common;
mod curve;
#[path = "../common/linear.rs"]
mod linear;
mod picture;
mod report;
mod table_top;

use std::process::ExitCode;

use common::flags::{Flags, Outcome, ensure};
use curve::Curve;
use saltation::models::ThreeBalls;
use table_top::Shot;

const HELP: &str = "\
Ball c hits balls a and b at one instant: how much does it matter which of them is hit first?

After Seghete & Murphey, \"A propagative model of simultaneous impact\" (arXiv 1709.02296), Fig. 5.

billiards.svg  The indeterminacy, the distance of the two outcomes over the momentum before, against the angle theta between
               the directions from c to a and to b; beneath, one shot before the impact and after it in either order.

The table lists the indeterminacy in percent for three sets of radii (a and b have radius 1, masses are r^3).

  cargo run --release --example billiards -- [FLAGS]

  --points N       points of each curve, 400
  --theta A        angle of the shot that is drawn, 1.2217 rad (70 degrees)
  --radius R       radius of ball c in the shot that is drawn, 1
  --pictures DIR   folder for pictures, target/pictures
";

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = Setup::read(&mut flags)?;
        let folder = flags.pictures()?;
        let curves = Curve::of_all_sets(setup.points)?;
        let shot = Shot::of(setup.balls(), setup.theta)?;
        report::table(&curves, out)?;
        report::humps(&curves, out)?;
        report::shot(&shot, out)?;
        let file = picture::draw(&folder, &curves, &shot)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

/// What the flags say.
struct Setup {
    points: u32,
    theta: f64,
    radius: f64,
}

impl Setup {
    fn read(flags: &mut Flags) -> Outcome<Self> {
        let setup = Self {
            points: flags.number("--points", 400)?,
            theta: flags.number("--theta", 1.2217)?,
            radius: flags.number("--radius", 1.0)?,
        };
        ensure(
            (10..=20_000).contains(&setup.points),
            "--points must lie in 10 to 20000",
        )?;
        ensure(
            (0.3..=4.0).contains(&setup.radius),
            "--radius must lie in 0.3 to 4",
        )?;
        let least = setup.balls().least_angle();
        let message = format!("--theta must lie in {least:.6} (a and b touch) to 3.1");
        ensure((least..=3.1).contains(&setup.theta), &message)?;
        Ok(setup)
    }

    fn balls(&self) -> ThreeBalls {
        ThreeBalls {
            radius_c: self.radius,
            ..ThreeBalls::EQUAL
        }
    }
}
