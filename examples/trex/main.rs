//! A robot whose landing has one outcome: a posture and a geometry at which its foot and its tail
//! meet the floor with orthogonal normals.
//!
//! TREX of Seghete & Murphey, arXiv 1709.02296, section VII-B: Table I, Figure 7 (the robot before
//! and after the search) and Figure 8 (how far two runs part that differ in the order of
//! reflections). The paper leaves parts of the robot open; they are ours, so that its numbers and
//! ours are not the same.

#[path = "../common/mod.rs"]
mod common;
mod figure;
mod landing;
#[path = "../common/linear.rs"]
mod linear;
#[path = "../common/logarithmic.rs"]
mod logarithmic;
mod parting;
mod report;
mod robot;

use std::process::ExitCode;

use common::flags::{Flags, Outcome, ensure};
use landing::Landing;
use robot::{PRINTED, Robot, STRAIGHT};

const HELP: &str = "\
A robot whose landing has one outcome: foot and tail meet the floor with orthogonal normals (Seghete & Murphey, Table I, Figures 7 and 8).

The start is the first row of Table I, or the same robot with straight legs half a turn apart; both moved onto the floor (before).
The search changes posture and geometry as little as possible (after). Built: radii and lengths rounded to 0.1 mm, in the posture that
lands. Each robot drops onto the floor twice: the contact that approaches fastest is reflected first (ArgMin), or the slowest (ArgMax).
xi is the distance between the momenta of the two runs, over the momentum.

  cargo run --release --example trex -- [FLAGS]

  --start S         table | straight, table
  --drop H          height of the drop, 17 cm
  --tf T            length of the runs after the first impact, 30 ms
  --step H          of the variational driver, 0.5 ms
  --chatter         impacts of a contact closer than one step are plastic, and it stays closed
  --pictures DIR    folder for pictures, target/pictures
";

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = Setup::read(&mut flags)?;
        let folder = flags.pictures()?;
        let found = setup.before.orthogonal()?;
        let (q, design) = (found.q.as_slice(), found.design.as_slice());
        let after = Robot::new("after", q.try_into()?, design.try_into()?)?;
        let built = after.built()?;
        let robots = [setup.before.clone(), after, built];
        report::table(&robots, &found, out)?;
        let mut landings = Vec::new();
        for robot in &robots {
            landings.push(Landing::of(robot, &setup)?);
        }
        report::landings(&robots, &landings, &setup, out)?;
        let file = figure::draw(&folder, &robots)?;
        writeln!(out, "\nwrote {}", file.display())?;
        let file = parting::draw(&folder, &landings, &setup)?;
        Ok(writeln!(out, "wrote {}", file.display())?)
    })
}

/// What the flags say.
pub(crate) struct Setup {
    pub(crate) before: Robot,
    /// Height of the drop (cm).
    pub(crate) drop: f64,
    /// Length of a run (ms).
    pub(crate) tf: f64,
    /// Step (ms).
    pub(crate) step: f64,
    /// Whether chatter is taken to end at rest.
    pub(crate) chatter: bool,
}

impl Setup {
    fn read(flags: &mut Flags) -> Outcome<Self> {
        let start = flags.read("--start", |name| match name {
            "table" => Ok(PRINTED[0]),
            "straight" => Ok(STRAIGHT),
            _ => Err("expected table or straight"),
        })?;
        let (q, design) = start.unwrap_or(PRINTED[0]);
        let setup = Self {
            before: Robot::new("before", q, design)?.on_floor()?,
            drop: flags.number("--drop", 17.0)?,
            tf: flags.number("--tf", 30.0)?,
            step: flags.number("--step", 0.5)?,
            chatter: flags.switch("--chatter"),
        };
        for (name, value, least, most) in [
            ("--drop", setup.drop, 0.1, 200.0),
            ("--tf", setup.tf, 1.0, 100.0),
            ("--step", setup.step, 0.01, 1.0),
        ] {
            let message = format!("{name} must lie in {least} to {most}");
            ensure((least..=most).contains(&value), &message)?;
        }
        Ok(setup)
    }
}
