//! A block with Coulomb friction on a slope: when does it stop, stay, or slide back, and how exact
//! is the variational driver?
//!
//! The block is thrown along the slope. Its motion has a closed form: constant acceleration until
//! it stops; then it stays where `tan α ≤ μ`, and slides back down where not. Seghete & Murphey,
//! arXiv 1709.02296, take friction by the principle of maximum dissipation.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/linear.rs"]
mod linear;
#[path = "../common/logarithmic.rs"]
mod logarithmic;
mod picture;
mod throw;

use std::io::Write;
use std::process::ExitCode;

use common::flags::{Flags, Outcome, ensure};
use throw::{Errors, PHASES, Throw};

const HELP: &str = "\
A block with Coulomb friction on a slope: when does it stop, stay, or slide back, and how exact is the variational driver?

The block is thrown along the slope, for each coefficient of friction. The tables give the largest errors at the nodes for halved
steps, against the closed form. They depend on where within a step the block stops, so that they are the largest of 16 throws at
speeds from V to 1.1 V. Friction has one direction in each half of a step: coming to rest is of order two, turning round of order
one. The last table lets the block start from rest, just below and just above the angle at which friction no longer holds it.

  cargo run --release --example sliding_block -- [FLAGS]

  --slope A         angle of the slope, 0.3 rad; it rises along x
  --mu M,M,...      one to four coefficients of friction, 0.1,0.25,0.4
  --speed V         at which it is thrown, 2 m/s; negative: down the slope
  --step H          longest step, 0.04 s
  --halvings N      how often the step is halved, 5
  --tf T            end of the runs, 1.6 s
  --pictures DIR    folder for pictures, target/pictures
";

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = Setup::read(&mut flags)?;
        let folder = flags.pictures()?;
        let throws = setup.throws();
        let mut errors = Vec::new();
        for throw in &throws {
            errors.push(throw.errors(setup.step, setup.halvings)?);
        }
        report(&throws, &errors, out)?;
        threshold(&setup, out)?;
        let file = picture::draw(&folder, &setup, &throws, &errors)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

/// What the flags say.
pub(crate) struct Setup {
    pub(crate) slope: f64,
    pub(crate) mu: Vec<f64>,
    speed: f64,
    pub(crate) step: f64,
    halvings: u32,
    pub(crate) tf: f64,
}

impl Setup {
    fn read(flags: &mut Flags) -> Outcome<Self> {
        let mu = flags.read("--mu", numbers)?;
        let setup = Self {
            slope: flags.number("--slope", 0.3)?,
            mu: mu.unwrap_or_else(|| vec![0.1, 0.25, 0.4]),
            speed: flags.number("--speed", 2.0)?,
            step: flags.number("--step", 0.04)?,
            halvings: flags.number("--halvings", 5)?,
            tf: flags.number("--tf", 1.6)?,
        };
        for (name, value, least, most) in [
            ("--slope", setup.slope, -1.5, 1.5),
            ("--speed", setup.speed, -20.0, 20.0),
            ("--step", setup.step, 0.001, 0.1),
            ("--tf", setup.tf, 0.2, 10.0),
        ] {
            let message = format!("{name} must lie in {least} to {most}");
            ensure((least..=most).contains(&value), &message)?;
        }
        ensure(
            (1..=10).contains(&setup.halvings),
            "--halvings must lie in 1 to 10",
        )?;
        ensure(
            (1..=4).contains(&setup.mu.len()) && setup.mu.iter().all(|mu| (0.0..=5.0).contains(mu)),
            "--mu: one to four numbers of 0 to 5",
        )?;
        Ok(setup)
    }

    fn throws(&self) -> Vec<Throw> {
        let throw = |&mu| Throw {
            slope: self.slope,
            mu,
            speed: self.speed,
            tf: self.tf,
        };
        self.mu.iter().map(throw).collect()
    }
}

/// Numbers with commas between them.
fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let numbers = text.split(',').map(|part| part.trim().parse());
    numbers
        .collect::<Result<_, _>>()
        .map_err(|error: std::num::ParseFloatError| error.to_string())
}

/// When each block stops, and the largest errors of its runs.
fn report(throws: &[Throw], errors: &[Vec<Errors>], out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "largest errors of {PHASES} throws at speeds from {} to {:.3} m/s\n",
        throws[0].speed,
        1.1 * throws[0].speed
    )?;
    for (throw, errors) in throws.iter().zip(errors) {
        writeln!(out, "mu = {}: {}", throw.mu, throw.story())?;
        writeln!(
            out,
            "{:>12}{:>14}{:>8}{:>14}{:>8}",
            "step s", "place m", "order", "speed m/s", "order"
        )?;
        for (k, error) in errors.iter().enumerate() {
            let before = k.checked_sub(1).and_then(|k| errors.get(k));
            writeln!(
                out,
                "{:>12.4e}{:>14.3e}{:>8}{:>14.3e}{:>8}",
                error.step,
                error.place,
                order(before.map(|e| e.place), error.place),
                error.speed,
                order(before.map(|e| e.speed), error.speed),
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The order that two errors show whose steps differ by a factor of two; nothing for rounding.
fn order(before: Option<f64>, now: f64) -> String {
    match before {
        Some(before) if before > 1e-12 && now > 1e-12 => {
            format!("{:.2}", (before / now).log2())
        }
        Some(_) => "-".to_owned(),
        None => String::new(),
    }
}

/// From rest, on slopes about the one at which friction no longer holds the block.
fn threshold(setup: &Setup, out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "from rest, {} s, step {} s: speed at the end [m/s], driver (closed form)",
        setup.tf, setup.step
    )?;
    writeln!(
        out,
        "{:>8}{:>14}{:>28}{:>28}{:>28}",
        "mu", "atan mu [rad]", "1e-6 rad below", "1e-6 rad above", "0.01 rad above"
    )?;
    for &mu in &setup.mu {
        write!(out, "{mu:>8}{:>14.6}", mu.atan())?;
        for beyond in [-1e-6, 1e-6, 0.01] {
            let rest = Throw {
                slope: mu.atan() + beyond,
                mu,
                speed: 0.0,
                tf: setup.tf,
            };
            let cell = format!(
                "{:.6e} ({:.6e})",
                rest.run(setup.step)?.state()[2] + 0.0,
                rest.exact(setup.tf)[1] + 0.0
            );
            write!(out, "{cell:>28}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
