//! Friction on surfaces that move: a block on a belt that sticks and slips in turns, and a block that
//! a shaken table carries along.
//!
//! On the belt friction falls with the speed of the slip (Stribeck), so that the block, which a spring
//! holds, is dragged along, breaks loose and swings back, again and again (Leine et al., 1998). The
//! table is shaken more sharply to one side than to the other: the block slips on it and moves on.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/curves.rs"]
mod curves;
#[path = "../common/linear.rs"]
mod linear;
mod picture;
mod surface;

use std::f64::consts::TAU;
use std::io::Write;
use std::process::ExitCode;

use common::flags::{Outcome, ensure};
use saltation::impact::Contacting;
use saltation::{ContactModel, EventDriven, Run, Start};
use surface::{GRAVITY, Law, OnSurface};

const HELP: &str = "\
Friction on surfaces that move: a block on a belt sticks and slips in turns, and a shaken table carries one along.

The first table lists when the block on the belt sticks and slips, its place then, and how long each lasts; a stick lasts as long as
the belt takes from where the slip ended to where the spring pulls with all that friction bears. The second table is a period of the
block on the shaken table: s stick, + and - slip. Then how far it is carried in a period.

  cargo run --release --example stick_slip -- [FLAGS]

  --belt V          speed of the belt, 0.2 m/s
  --fall D          friction is 1 N/(1 + D u) at the slip u, 3 s/m
  --friction MU     on the table, 0.3
  --shake A         acceleration of the table: A sin wt + B sin 2wt, 6 m/s2
  --second B        3 m/s2
  --frequency F     w = 2 pi F, 5 Hz
  --rtol R          tolerance, 1e-10
  --pictures DIR    folder for pictures, target/pictures
";

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let belt: f64 = flags.number("--belt", 0.2)?;
        let fall: f64 = flags.number("--fall", 3.0)?;
        let friction: f64 = flags.number("--friction", 0.3)?;
        let shake: f64 = flags.number("--shake", 6.0)?;
        let second: f64 = flags.number("--second", 3.0)?;
        let frequency: f64 = flags.number("--frequency", 5.0)?;
        let rtol: f64 = flags.number("--rtol", 1e-10)?;
        ensure((0.01..=2.0).contains(&belt), "--belt must lie in 0.01 to 2")?;
        ensure((0.0..=20.0).contains(&fall), "--fall must lie in 0 to 20")?;
        ensure(
            (0.01..=2.0).contains(&friction),
            "--friction must lie in 0.01 to 2",
        )?;
        let sizes = [shake, second].iter().all(|a| (0.0..=100.0).contains(a));
        ensure(sizes, "--shake and --second must lie in 0 to 100")?;
        ensure(
            (0.5..=50.0).contains(&frequency),
            "--frequency must lie in 0.5 to 50",
        )?;
        let folder = flags.pictures()?;
        let law = Law::Falling {
            most: 1.0 / GRAVITY,
            fall,
        };
        let on_belt = OnSurface::belt(law);
        let belt_run = follow(on_belt, belt, rtol, 40.0)?;
        swings(&belt_run, belt, out)?;
        let table = OnSurface::table(friction, [shake, second], TAU * frequency);
        let table_run = follow(table, table.first_speed(), rtol, 8.0 / frequency)?;
        period(&table_run, frequency, out)?;
        let file = picture::draw(&folder, &belt_run, &table_run, frequency)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

/// A block that starts at rest, on a surface with this speed.
fn follow(system: OnSurface, speed: f64, rtol: f64, until: f64) -> Outcome<Run> {
    let driver = EventDriven::new(ContactModel::new(system))?;
    let mut driver = driver.rtol(rtol).atol(1e-2 * rtol);
    let (q, v) = ([0.0; 3], [0.0, 0.0, speed]);
    let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), until)?;
    Ok(run.completed()?)
}

/// How the block moves at a time: s, + or −.
pub(crate) fn letter(run: &Run, t: f64) -> Outcome<char> {
    // The model is read for its numbering of modes alone.
    let model = ContactModel::new(OnSurface::table(0.3, [0.0; 2], 1.0));
    Ok(match model.contacting(run.mode_at(t)?, 0) {
        Contacting::Stick => 's',
        Contacting::SlipForward => '+',
        Contacting::SlipBackward => '-',
        _ => 'o',
    })
}

/// The sticks and slips on the belt.
fn swings(run: &Run, belt: f64, out: &mut dyn Write) -> Outcome<()> {
    writeln!(out, "block on a belt of {belt} m/s")?;
    writeln!(
        out,
        "{:>12} {:>4} {:>12} {:>12} {:>15}",
        "t [s]", "mode", "x [m]", "lasts [s]", "(1 - x)/V [s]"
    )?;
    let times: Vec<f64> = run.events().iter().map(|event| event.t).collect();
    for (k, event) in run.events().iter().enumerate() {
        let x = run.state_at(event.t)?[0];
        write!(
            out,
            "{:>12.7} {:>4} {x:>12.8}",
            event.t,
            letter(run, event.t)?
        )?;
        if let Some(next) = times.get(k + 1) {
            write!(out, " {:>12.8}", next - event.t)?;
            if !event.stuck.is_empty() {
                write!(out, " {:>15.8}", (1.0 - x) / belt)?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The last period on the table.
fn period(run: &Run, frequency: f64, out: &mut dyn Write) -> Outcome<()> {
    let (length, end) = (1.0 / frequency, run.t());
    writeln!(
        out,
        "\nblock on a table that is shaken {frequency} times a second: the last period"
    )?;
    writeln!(
        out,
        "{:>12} {:>4} {:>14} {:>14}",
        "t - t0 [s]", "mode", "speed [m/s]", "table [m/s]"
    )?;
    for event in run.events().iter().filter(|event| event.t > end - length) {
        let x = run.state_at(event.t)?;
        let t = event.t - (end - length);
        writeln!(
            out,
            "{t:>12.8} {:>4} {:>14.8} {:>14.8}",
            letter(run, event.t)?,
            x[3],
            x[5]
        )?;
    }
    let moved = run.state()[0] - run.state_at(end - length)?[0];
    let speed = moved * frequency;
    Ok(writeln!(
        out,
        "carried {moved:.9e} m in a period: {speed:.9e} m/s"
    )?)
}
