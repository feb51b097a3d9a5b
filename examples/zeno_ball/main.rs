//! Infinitely many impacts in finite time: a bouncing ball and a rocking block, and what one may do
//! about them.
//!
//! Times between impacts shrink by a constant factor: the coefficient of restitution for the ball,
//! `(I − m w²)/(I + m w²)` for small rocking of the block without friction. Policies of the
//! library: end with an error, stop, or absorb and go on.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/linear.rs"]
mod linear;
#[path = "../common/logarithmic.rs"]
mod logarithmic;
mod picture;
mod study;

use std::io::Write;
use std::process::ExitCode;

use common::flags::{Flags, Outcome, ensure};
use saltation::models::{BouncingBall, RigidTrot};
use study::{Body, Study};

const HELP: &str = "\
Infinitely many impacts in finite time: a bouncing ball and a rocking block, and what one may do about them.

Times between impacts shrink by a constant factor, and impacts accumulate at t*. The detector sees it in the last impacts of each
contact; what then happens is a choice: Error ends the run with a typed error, StopAt ends it without one, Absorb closes the
contacts at t* by a plastic impact and goes on (and says that derivatives beyond are not guaranteed).

  cargo run --release --example zeno_ball -- [FLAGS]

  --restitution E     of the ball, 0.7
  --height H          from which it falls, 1 m
  --half-width W      of the block, 0.1 m
  --half-height H     of the block, 0.3 m
  --tilt A            of the block at the start, 0.2 rad
  --tf T              end of the runs, 100 s
  --rtol R            tolerance, 1e-9
  --rows N            impacts listed, 8
  --pictures DIR      folder for pictures, target/pictures
";

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = Setup::read(&mut flags)?;
        let folder = flags.pictures()?;
        let ball = Study::of(setup.ball(), setup.rtol)?;
        let block = Study::of(setup.block(), setup.rtol)?;
        for study in [&ball, &block] {
            impacts(study, setup.rows, out)?;
            endings(study, out)?;
        }
        let file = picture::draw(&folder, &[ball, block])?;
        Ok(writeln!(out, "wrote {}", file.display())?)
    })
}

/// What the flags say.
struct Setup {
    restitution: f64,
    height: f64,
    half_width: f64,
    half_height: f64,
    tilt: f64,
    tf: f64,
    rtol: f64,
    rows: usize,
}

impl Setup {
    fn read(flags: &mut Flags) -> Outcome<Self> {
        let setup = Self {
            restitution: flags.number("--restitution", 0.7)?,
            height: flags.number("--height", 1.0)?,
            half_width: flags.number("--half-width", 0.1)?,
            half_height: flags.number("--half-height", 0.3)?,
            tilt: flags.number("--tilt", 0.2)?,
            tf: flags.number("--tf", 100.0)?,
            rtol: flags.number("--rtol", 1e-9)?,
            rows: flags.number("--rows", 8)?,
        };
        for (name, value, least, most) in [
            ("--restitution", setup.restitution, 0.0, 0.95),
            ("--height", setup.height, 0.01, 100.0),
            ("--half-width", setup.half_width, 0.01, 10.0),
            ("--half-height", setup.half_height, 0.01, 10.0),
            ("--tf", setup.tf, 1.0, 1e4),
            ("--rtol", setup.rtol, 1e-13, 1e-3),
        ] {
            let message = format!("{name} must lie in {least} to {most}");
            ensure((least..=most).contains(&value), &message)?;
        }
        // Beyond the angle at which the centre is above the corner the block topples.
        let most = (setup.half_width / setup.half_height).atan();
        let message = format!("--tilt must lie in 0.01 to {most:.4}, where the block topples");
        ensure((0.01..most).contains(&setup.tilt), &message)?;
        Ok(setup)
    }

    fn ball(&self) -> Body<BouncingBall> {
        let system = BouncingBall {
            restitution: self.restitution,
            ..BouncingBall::default()
        };
        Body {
            name: format!("ball, restitution {}", self.restitution),
            system,
            q: vec![self.height],
            drawn: (0, "height", "m"),
            ratio: self.restitution,
            exact: Some(system.accumulation(self.height)),
            tf: self.tf,
        }
    }

    fn block(&self) -> Body<RigidTrot> {
        let system = RigidTrot::block(1.0, self.half_width, self.half_height);
        let (q, _) = system.tilted(self.tilt);
        Body {
            name: format!(
                "block, {} m by {} m",
                2.0 * self.half_width,
                2.0 * self.half_height
            ),
            system,
            q: q.to_vec(),
            drawn: (1, "pitch", "rad"),
            ratio: system.rocking_ratio(),
            exact: None,
            tf: self.tf,
        }
    }
}

/// The first impacts, and the accumulation that each announces.
fn impacts(study: &Study, rows: usize, out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "{}: ratio for small motion {:.6}",
        study.name, study.ratio
    )?;
    writeln!(
        out,
        "{:>8}{:>14}{:>14}{:>12}{:>16}",
        "impact", "time s", "since last s", "ratio", "announces t* s"
    )?;
    let flights = study.flights();
    for (k, time) in study.impacts.iter().enumerate().take(rows) {
        let flight = k.checked_sub(1).and_then(|i| flights.get(i));
        let before = k.checked_sub(2).and_then(|i| flights.get(i));
        let ratio = flight.zip(before).map(|(flight, before)| flight / before);
        writeln!(
            out,
            "{:>8}{time:>14.9}{:>14}{:>12}{:>16}",
            k + 1,
            flight.map_or(String::new(), |flight| format!("{flight:.9}")),
            ratio.map_or(String::new(), |ratio| format!("{ratio:.6}")),
            study
                .announced(k)
                .map_or(String::new(), |t| format!("{t:.9}"))
        )?;
    }
    if let Some(exact) = study.exact {
        writeln!(out, "closed form: t* = {exact:.9} s")?;
    }
    if let Some(absorbed) = study.absorbed {
        writeln!(
            out,
            "found after {} impacts: t* = {absorbed:.9} s",
            study.impacts.len()
        )?;
    }
    Ok(())
}

/// What each policy made of it.
fn endings(study: &Study, out: &mut dyn Write) -> Outcome<()> {
    for ending in &study.endings {
        let forces: Vec<String> = ending.forces.iter().map(|f| format!("{f:.3} N")).collect();
        let policy = format!("{:?}", ending.policy);
        writeln!(
            out,
            "  {policy:<8}{:>4} impacts, at {:.6} s; forces {}; derivatives {}",
            ending.impacts,
            ending.t,
            forces.join(", "),
            if ending.guaranteed {
                "guaranteed"
            } else {
                "not guaranteed"
            }
        )?;
        writeln!(out, "          {}", ending.status)?;
    }
    writeln!(out)?;
    Ok(())
}
