//! A top that turns upside down: a sphere with its centre of mass below its middle, spun about its axis.
//!
//! Friction at the floor lifts the centre of mass, at the cost of spin. What it is decides on the outcome:
//! where friction ends with the slip, as in a lubricated contact, the slip never ends and the top turns
//! over; by Coulomb's law the contact comes to roll within a part of a second, and a rolling top goes on
//! nodding. No friction changes Jellett's integral.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/curves.rs"]
mod curves;
#[path = "../common/linear.rs"]
mod linear;
mod picture;
mod top;

use std::io::Write;
use std::process::ExitCode;

use common::flags::{Outcome, ensure};
use saltation::{ContactModel, EventDriven, Run, Start};
use top::EccentricTop;

const HELP: &str = "\
A tippe top: a sphere with its centre of mass below its middle, spun about its axis, turns upside down where friction ends with the
slip, and comes to roll where it is Coulomb's.

Two tables, one a law: tilt of the axis, speed of the slip, spin about the vertical, energy, and how far Jellett's integral is from its
first value, which is the error of the run. Then the events.

  cargo run --release --example tippe_top -- [FLAGS]

  --friction MU     coefficient, 0.3
  --creep V         friction is MU u/(u + V) at the slip u, 0.05 m/s
  --tilt DEG        of the axis at the start, 5
  --spin W          at the start, 155 rad/s
  --offset E        distance of the centre of mass from the middle over the radius, 0.3
  --until T         6 s
  --rtol R          tolerance, 1e-9
  --pictures DIR    folder for pictures, target/pictures
";

/// A run of a top.
pub(crate) struct Spun {
    pub(crate) law: &'static str,
    pub(crate) top: EccentricTop,
    pub(crate) run: Run,
}

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let friction: f64 = flags.number("--friction", 0.3)?;
        let creep: f64 = flags.number("--creep", 0.05)?;
        let tilt: f64 = flags.number("--tilt", 5.0)?;
        let spin: f64 = flags.number("--spin", 155.0)?;
        let offset: f64 = flags.number("--offset", 0.3)?;
        let until: f64 = flags.number("--until", 6.0)?;
        let rtol: f64 = flags.number("--rtol", 1e-9)?;
        let within = |value: f64, low: f64, high: f64| (low..=high).contains(&value);
        ensure(
            within(friction, 0.01, 2.0),
            "--friction must lie in 0.01 to 2",
        )?;
        ensure(within(creep, 1e-3, 10.0), "--creep must lie in 0.001 to 10")?;
        ensure(within(tilt, 0.1, 179.0), "--tilt must lie in 0.1 to 179")?;
        ensure(within(spin, 0.0, 500.0), "--spin must lie in 0 to 500")?;
        ensure(within(offset, 0.0, 0.9), "--offset must lie in 0 to 0.9")?;
        ensure(within(until, 0.01, 60.0), "--until must lie in 0.01 to 60")?;
        let folder = flags.pictures()?;
        let top = EccentricTop {
            offset,
            friction,
            ..EccentricTop::default()
        };
        let lubricated = EccentricTop {
            creep: Some(creep),
            ..top
        };
        let mut spun = Vec::new();
        for (law, top) in [
            ("friction that ends with the slip", lubricated),
            ("Coulomb's law", top),
        ] {
            let run = spin_up(top, [tilt.to_radians(), spin], rtol, until)?;
            table(law, &top, &run, out)?;
            spun.push(Spun { law, top, run });
        }
        let file = picture::draw(&folder, &spun)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

/// A top that spins about its axis at a tilt.
fn spin_up(top: EccentricTop, [tilt, spin]: [f64; 2], rtol: f64, until: f64) -> Outcome<Run> {
    let driver = EventDriven::new(ContactModel::new(top))?;
    let mut driver = driver.rtol(rtol).atol(1e-2 * rtol);
    let (q, v) = top.start(tilt, spin);
    let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), until)?;
    Ok(run.completed()?)
}

fn table(law: &str, top: &EccentricTop, run: &Run, out: &mut dyn Write) -> Outcome<()> {
    writeln!(out, "{law}")?;
    writeln!(
        out,
        "{:>8} {:>10} {:>12} {:>14} {:>12} {:>12}",
        "t [s]", "tilt [deg]", "slip [m/s]", "spin [rad/s]", "energy [mJ]", "Jellett"
    )?;
    let (model, first) = (
        ContactModel::new(*top),
        top.jellett(run.states().column(0).as_slice()),
    );
    for k in 0..=12 {
        let t = run.t() * f64::from(k) / 12.0;
        let state = run.state_at(t)?;
        let x = state.as_slice();
        writeln!(
            out,
            "{t:>8.3} {:>10.3} {:>12.3e} {:>14.4} {:>12.5} {:>12.1e}",
            EccentricTop::tilt(x).to_degrees(),
            top.slip(x),
            x[11],
            1e3 * model.energy(x).unwrap_or(f64::NAN),
            top.jellett(x) / first - 1.0
        )?;
    }
    for event in run.events() {
        let what = [
            ("lands", &event.activated),
            ("leaves the floor", &event.released),
            ("rolls", &event.stuck),
            ("slips", &event.slipped),
        ];
        for (what, _) in what.iter().filter(|(_, contacts)| !contacts.is_empty()) {
            writeln!(out, "at {:.6} s it {what}", event.t)?;
        }
    }
    Ok(writeln!(out)?)
}
