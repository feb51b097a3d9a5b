//! One model through every driver that can take it: the same model, start and run for all.
//!
//! What is done with a driver is written once, against `&mut dyn Driver`, in `study`.

mod balls;
mod blocks;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/linear.rs"]
mod linear;
mod picture;
mod study;
mod trot;

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use common::flags::ensure;
use study::Desk;

const HELP: &str = "\
One model through every driver that can take it: final states, events, phases and the balance of energy, driver under driver.

A block that rocks on two corners with friction, a box that falls on a corner with friction, a ball that strikes two in a row, and
a body that lands on two soft legs. Where a driver refuses a model, its row says why. \"off\" is the greatest difference of an entry
of the state at the end from the first row. Phases are the closed contacts. Where several contacts take part in an impact, rigid bodies may allow a set of outcomes: the pictures
shade its range.

  cargo run --release --example one_model -- [FLAGS]

  --step H          of the drivers in steps, 5e-4 s
  --csv DIR         folder for the nodes of all runs as tables, none
  --pictures DIR    folder for pictures, target/pictures
";

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let step = flags.number("--step", 5e-4)?;
        ensure((1e-5..=1e-2).contains(&step), "--step: 1e-5 to 1e-2")?;
        let csv = flags.read("--csv", PathBuf::from_str)?;
        let pictures = flags.pictures()?;
        let mut desk = Desk {
            out,
            step,
            csv,
            pictures,
        };
        blocks::rocking(&mut desk)?;
        blocks::falling(&mut desk)?;
        balls::show(&mut desk)?;
        trot::show(&mut desk)
    })
}
