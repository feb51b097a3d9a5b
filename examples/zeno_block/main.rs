//! A block that rocks on its corners to rest: infinitely many impacts with friction in finite time,
//! with time as a state (Halm & Posa, Fig. 8).

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/linear.rs"]
mod linear;
mod picture;

use std::io::Write;
use std::process::ExitCode;

use common::flags::{Flags, Outcome, ensure};
use saltation::event_driven::{Arclength, Zeno};
use saltation::impact::{AnitescuPotra, Remark};
use saltation::models::RockingBlock;
use saltation::{ContactModel, EventDriven, Run, Start};

const HELP: &str = "\
A block that rocks on its corners to rest: infinitely many impacts with friction in finite time, with time as a state.

The arclength s is time plus all normal impulses. Over time the rate of the block jumps at each impact; over s it is continuous.
The impacts accumulate at t* and s*: they are summed up once the bound of the error is small, and the block comes to rest there.

  cargo run --release --example zeno_block -- [FLAGS]

  --width W           of the block, 1 m
  --height H          of the block, 2 m
  --friction MU       of both corners, 1
  --rate W            at the start, about the left corner, 1 rad/s
  --tf T              end of the run, 4 s
  --rtol R            tolerance, 1e-12
  --zeno-tolerance Z  bound of the error of t* (s), 1e-11
  --rows N            impacts listed, 8
  --pictures DIR      folder for pictures, target/pictures
";

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = Setup::read(&mut flags)?;
        let rows = flags.number("--rows", 8)?;
        let folder = flags.pictures()?;
        let mut driver = setup.driver()?;
        let (q, v) = setup.block.pivoting(0.0, setup.rate);
        let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), setup.tf)?;
        let over = driver.model().arclength(&run)?;
        impacts(&run, &over, rows, out)?;
        end(&run, &over, out)?;
        let file = picture::draw(&folder, &run, &over)?;
        Ok(writeln!(out, "wrote {}", file.display())?)
    })
}

/// What the flags say.
struct Setup {
    block: RockingBlock,
    rate: f64,
    tf: f64,
    rtol: f64,
    zeno_tolerance: f64,
}

impl Setup {
    fn read(flags: &mut Flags) -> Outcome<Self> {
        let default = RockingBlock::default();
        let setup = Self {
            block: RockingBlock {
                width: flags.number("--width", default.width)?,
                height: flags.number("--height", default.height)?,
                friction: flags.number("--friction", default.friction)?,
                ..default
            },
            rate: flags.number("--rate", 1.0)?,
            tf: flags.number("--tf", 4.0)?,
            rtol: flags.number("--rtol", 1e-12)?,
            zeno_tolerance: flags.number("--zeno-tolerance", 1e-11)?,
        };
        for (name, value, least, most) in [
            ("--width", setup.block.width, 0.01, 100.0),
            ("--height", setup.block.height, 0.01, 100.0),
            ("--friction", setup.block.friction, 0.0, 1e5),
            ("--rate", setup.rate, 1e-3, 100.0),
            ("--tf", setup.tf, 0.01, 1e3),
            ("--rtol", setup.rtol, 1e-13, 1e-3),
            ("--zeno-tolerance", setup.zeno_tolerance, 1e-12, 1e-2),
        ] {
            let message = format!("{name} must lie in {least} to {most}");
            ensure((least..=most).contains(&value), &message)?;
        }
        Ok(setup)
    }

    fn driver(&self) -> Outcome<EventDriven<RockingBlock>> {
        let model = ContactModel::with_law(self.block, AnitescuPotra::new());
        let driver = EventDriven::new(model)?.zeno(Zeno::Absorb);
        Ok(driver
            .zeno_tolerance(self.zeno_tolerance)
            .rtol(self.rtol)
            .atol(0.01 * self.rtol))
    }
}

/// The first impacts.
fn impacts(run: &Run, over: &Arclength<'_>, rows: usize, out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "{:>8}{:>16}{:>16}{:>16}{:>14}",
        "impact", "t [s]", "impulse [N s]", "s after", "rate [rad/s]"
    )?;
    for (k, event) in run.events().iter().enumerate().take(rows) {
        let normal = event.impulses.iter().take(event.contacts.len());
        writeln!(
            out,
            "{:>8}{:>16.12}{:>16.12}{:>16.10}{:>14.8}",
            k + 1,
            event.t,
            normal.sum::<f64>(),
            over.s_at(event.t)?,
            event.state_after[5]
        )?;
    }
    Ok(())
}

/// The accumulation, and how the run ended.
fn end(run: &Run, over: &Arclength<'_>, out: &mut dyn Write) -> Outcome<()> {
    for (count, event) in run.events().iter().enumerate() {
        for remark in &event.remarks {
            let Remark::Accumulation { ratio, bound } = remark else {
                continue;
            };
            writeln!(
                out,
                "summed up after {count} impacts, intervals between those of one corner shrink by {ratio:.9}:"
            )?;
            let (t, s) = (event.t, over.s_at(event.t)?);
            writeln!(out, "  t* = {t:.12} s, bound of the error {bound:.1e}")?;
            writeln!(out, "  s* = {s:.11}")?;
        }
    }
    let (t, s) = (run.t(), over.s());
    match run.status().stop() {
        None => writeln!(out, "ends at t = {t:.6} s, s = {s:.6}")?,
        Some(reason) => writeln!(out, "ends at t = {t:.6} s: {reason}")?,
    }
    Ok(())
}
