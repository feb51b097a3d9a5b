//! What happens when a tilted plate falls on many springs, and what does each further contact cost?
//!
//! Anderson & Revzen, section 5 and Figure 5.2. The first picture shows the motion as a strip of
//! snapshots, with the contacts coloured; the second the time and the evaluations of `f` that a run
//! takes against the number of contacts.

#[path = "../common/mod.rs"]
mod common;
mod cost;
#[path = "../common/json.rs"]
mod json;
#[path = "../common/linear.rs"]
mod linear;
#[path = "../common/logarithmic.rs"]
mod logarithmic;
mod plate;
#[path = "../common/setting.rs"]
mod setting;
mod snapshots;

use std::process::ExitCode;

use common::flags::ensure;
use plate::Plate;
use saltation::Status;

const HELP: &str = "\
What happens when a tilted plate falls on many springs, and what does each further contact cost?

  cargo run --release --example plate_on_springs -- [FLAGS]

  --law V|N                   V: vertical springs that may pull before they let go; N: normal to the plate, never pulling
  --springs N                 number of springs, 10
  --mass M --inertia I        1 kg and 5 kg m^2
  --gravity G --rest-length L 9.81 m/s^2 and 1 m
  --stiffness K --damping C   of each spring, 400/N N/m and 2/N N s/m
  --half-width W              half the width of the bed, 1 m
  --start x,z,theta,vx,vz,omega
                              0,2.5,0.05,0,0,0 (m, m, rad, m/s, m/s, rad/s)
  --tf T                      final time, 2 s
  --rtol R --atol A           tolerances, 1e-6 and 1e-9
  --projection P              off | auto | eps:E:ORDER | horizon:TAU:ORDER, auto
  --final                     print the final state as one line of JSON and nothing else
  --pictures DIR              folder for pictures, target/pictures

The flags above shape the snapshots. The table of costs always has the default plate under law V:

  --starts N                  random starts over which medians are taken, 120
";

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let only_final = flags.switch("--final");
        let plate = Plate::read(&mut flags)?;
        let starts = flags.number("--starts", 120)?;
        ensure(
            (1..=10_000).contains(&starts),
            "--starts must lie in 1 to 10000",
        )?;
        let folder = flags.pictures()?;
        let run = plate.run()?;
        let (law, springs) = (plate.law, plate.springs());
        let changes = plate.contact_changes(&run);
        if only_final {
            let head = format!("\"law\":\"{law}\",\"springs\":{springs},");
            let pushing = plate.pushing(run.mode()).count();
            let line = json::final_line(&head, &run, changes, pushing);
            return Ok(writeln!(out, "{line}")?);
        }

        writeln!(
            out,
            "{springs} springs, law {law}: {changes} contact changes"
        )?;
        if let Status::Refused(reason) = run.status() {
            writeln!(out, "ended early: {reason}")?;
        }
        let file = snapshots::draw(&folder, &plate, &run, out)?;
        writeln!(out, "wrote {}\n", file.display())?;

        let file = cost::report(&folder, starts, out)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}
