//! What becomes of the energy of a pendulum over many periods: steps of the midpoint rule against
//! an explicit Runge–Kutta method of order five that evaluates the forces as often?
//!
//! A double pendulum and a chain of rods swing without friction and without contacts. The energy
//! of the variational driver oscillates and stays; that of the Runge–Kutta method of Tsitouras drifts, in
//! proportion to time.

#[path = "../common/mod.rs"]
mod common;
mod free;
mod ledger;
#[path = "../common/logarithmic.rs"]
mod logarithmic;
mod picture;
#[path = "../common/progress.rs"]
mod progress;
mod study;

use std::io::Write;
use std::process::ExitCode;

use common::flags::{Flags, Outcome, ensure};
use saltation::models::{DoublePendulum, LinkChain};
use study::{Plan, Study};

const HELP: &str = "\
What becomes of the energy of a pendulum over many periods: midpoint variational steps against an explicit method of order five?

A double pendulum and a chain of rods swing without friction and without contacts. Midpoint: steps of equal length in momentum form.
Tsitouras, same work: with the relative tolerance at which it evaluates the forces as often, found in a short run.
Tsitouras, tight: with the tolerance of --rtol, if there is one. A period is that of the slowest small oscillation.

  cargo run --release --example long_time -- [FLAGS]

  --periods N       length of the runs, 1000; 100000 takes minutes
  --steps N         of the midpoint rule in a period, 40
  --links N         of the chain, 3
  --angle A         of all rods at the start, from the vertical, 0.5 rad; wide swings want more --steps
  --rtol R          relative tolerance of a third run, none; 1e-9 is slow
  --pictures DIR    folder for pictures, target/pictures
";

/// Errors of the energy beyond this call for shorter steps.
const COARSE: f64 = 0.1;

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let (plan, links) = read(&mut flags)?;
        let folder = flags.pictures()?;
        let chain = LinkChain::new(links)?;
        let studies = [
            Study::of(
                "double pendulum".to_owned(),
                DoublePendulum::default(),
                &plan,
            )?,
            Study::of(format!("chain of {links} rods"), chain, &plan)?,
        ];
        for study in &studies {
            report(study, out)?;
        }
        let file = picture::draw(&folder, &plan, &studies)?;
        Ok(writeln!(out, "wrote {}", file.display())?)
    })
}

/// What the flags say; last the number of links.
fn read(flags: &mut Flags) -> Outcome<(Plan, usize)> {
    let plan = Plan {
        periods: flags.number("--periods", 1000)?,
        steps: flags.number("--steps", 40)?,
        angle: flags.number("--angle", 0.5)?,
        rtol: flags.read("--rtol", str::parse)?,
    };
    let links = flags.number("--links", 3)?;
    for (name, value, least, most) in [
        ("--periods", f64::from(plan.periods), 10.0, 1e6),
        ("--steps", f64::from(plan.steps), 20.0, 1e5),
        ("--angle", plan.angle, 0.01, 3.0),
        ("--rtol", plan.rtol.unwrap_or(1e-9), 1e-13, 1e-3),
    ] {
        let message = format!("{name} must lie in {least} to {most}");
        ensure((least..=most).contains(&value), &message)?;
    }
    ensure((1..=20).contains(&links), "--links must lie in 1 to 20")?;
    Ok((plan, links))
}

/// The table of a system.
fn report(study: &Study, out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "{}, period {:.6} s; energy errors over the energy above rest, {:.6} J",
        study.name, study.period, study.energy
    )?;
    writeln!(
        out,
        "{:<48}{:>12}{:>14}{:>14}{:>16}{:>10}",
        "", "periods", "worst error", "drift/period", "evals/period", "seconds"
    )?;
    for run in &study.runs {
        writeln!(
            out,
            "  {:<46}{:>12.0}{:>14.3e}{:>14.3e}{:>16.1}{:>10.2}",
            run.name,
            run.ledger.reached(),
            run.ledger.worst(),
            run.ledger.drift(),
            run.evaluations / run.ledger.reached(),
            run.seconds,
        )?;
        if run.ledger.worst() > COARSE {
            writeln!(
                out,
                "    the steps are too long for these swings: --steps, --rtol"
            )?;
        }
    }
    writeln!(out)?;
    Ok(())
}
