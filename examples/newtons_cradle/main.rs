//! Newton's cradle: what becomes of one swing under several impact laws, and how many outcomes one
//! impact has.
//!
//! Source: Seghete & Murphey, "A propagative model of simultaneous impact" (arXiv 1709.02296). The
//! masses and velocities of the outcome sets are ours, those of `tests/data`; the swinging cradle
//! is ours too.

#[path = "../common/arrow.rs"]
mod arrow;
mod balls;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/linear.rs"]
mod linear;
mod momenta;
mod outcomes;
mod plane;
mod report;
mod sets;
mod swing;

use std::process::ExitCode;

use common::flags::{Flags, Outcome, ensure};
use outcomes::Set;
use saltation::models::Cradle;
use swing::{LAWS, Swing};

const HELP: &str = "\
Newton's cradle: what becomes of one swing under several impact laws, and how many outcomes one impact has.

After Seghete & Murphey, \"A propagative model of simultaneous impact\" (arXiv 1709.02296).

newtons_cradle.svg   Ball 1 is lifted and let go: the momentum of each ball over time, law by law, for equal balls and for
                     unequal ones. Small swings: all balls are back where they hang at one instant, and all contacts close
                     together. From the second impact of unequal balls on the outcome depends on the order of the contacts.
cradle_outcomes.svg  All outcomes of one impact, each with its word: the contacts in the order in which they are reflected.
                     Contact i is that of balls i and i + 1.

The tables list the first impact of each swing, and the outcome sets.

  cargo run --release --example newtons_cradle -- [FLAGS]

  --masses M1,M2,..          unequal masses of the swinging balls, 2 to 7 of them, 1,2,3 kg (the equal ones are 1 kg)
  --lift X                   how far ball 1 is drawn aside, 0.1 m
  --length L                 of the strings, 1 m
  --tf T                     end of the swing, 5 s
  --points N                 points of each curve, 200

  --set-masses M1,M2,..      masses of the second outcome set, 3 to 5 balls, 1,2,3,4 kg
  --set-velocities V1,V2,..  their velocities before the impact, 1,0.5,0,-1 m/s

  --pictures DIR             folder for pictures, target/pictures
";

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = Setup::read(&mut flags)?;
        let folder = flags.pictures()?;
        let three = Set::of(&Cradle::new(&[1.0, 2.0, 3.0], &[1.0, 0.0, -1.0])?)?;
        let more = Set::of(&Cradle::new(&setup.set_masses, &setup.set_velocities)?)?;
        ensure(
            more.entries.len() <= 40,
            "--set-masses, --set-velocities: more than 40 outcomes, too many for a picture",
        )?;
        let swings = setup.swings()?;
        report::swings(&swings, out)?;
        for set in [&three, &more] {
            report::set(set, out)?;
        }
        let file = momenta::draw(&folder, &swings)?;
        writeln!(out, "\nwrote {}", file.display())?;
        let file = sets::draw(&folder, &three, &more)?;
        Ok(writeln!(out, "wrote {}", file.display())?)
    })
}

/// What the flags say.
struct Setup {
    masses: Vec<f64>,
    lift: f64,
    length: f64,
    tf: f64,
    points: u32,
    set_masses: Vec<f64>,
    set_velocities: Vec<f64>,
}

impl Setup {
    fn read(flags: &mut Flags) -> Outcome<Self> {
        let mut list = |name, default: &[f64]| {
            let found = flags.read(name, numbers)?;
            Outcome::Ok(found.unwrap_or_else(|| default.to_vec()))
        };
        let setup = Self {
            masses: list("--masses", &[1.0, 2.0, 3.0])?,
            set_masses: list("--set-masses", &[1.0, 2.0, 3.0, 4.0])?,
            set_velocities: list("--set-velocities", &[1.0, 0.5, 0.0, -1.0])?,
            lift: flags.number("--lift", 0.1)?,
            length: flags.number("--length", 1.0)?,
            tf: flags.number("--tf", 5.0)?,
            points: flags.number("--points", 200)?,
        };
        for (name, masses, most) in [
            ("--masses", &setup.masses, 2..=7),
            ("--set-masses", &setup.set_masses, 3..=5),
        ] {
            let (start, end) = (most.start(), most.end());
            let message = format!("{name}: {start} to {end} balls of 0.01 to 100 kg");
            let heavy = |m: &f64| (0.01..=100.0).contains(m);
            let fits = most.contains(&masses.len()) && masses.iter().all(heavy);
            ensure(fits, &message)?;
        }
        ensure(
            setup.set_velocities.len() == setup.set_masses.len()
                && setup.set_velocities.iter().all(|v| v.abs() <= 100.0),
            "--set-velocities: one for each of --set-masses, at most 100 m/s",
        )?;
        for (name, value, range) in [
            ("--lift", setup.lift, 0.001..=0.5),
            ("--length", setup.length, 0.1..=10.0),
            ("--tf", setup.tf, 0.1..=20.0),
        ] {
            let message = format!("{name} must lie in {} to {}", range.start(), range.end());
            ensure(range.contains(&value), &message)?;
        }
        ensure(
            (50..=20_000).contains(&setup.points),
            "--points must lie in 50 to 20000",
        )?;
        Ok(setup)
    }

    /// Law by law, for equal masses and for unequal ones.
    fn swings(&self) -> Outcome<Vec<[Swing; 2]>> {
        let equal = vec![1.0; self.masses.len()];
        let run = |law, masses: &[f64]| {
            let (tf, points) = (self.tf, self.points);
            Swing::of(law, masses, (self.lift, self.length), (tf, points))
        };
        let pair = |law| Ok([run(law, &equal)?, run(law, &self.masses)?]);
        LAWS.iter().map(pair).collect()
    }
}

/// Numbers with commas between them.
fn numbers(text: &str) -> Result<Vec<f64>, std::num::ParseFloatError> {
    text.split(',').map(|part| part.trim().parse()).collect()
}
