//! Which tilt and spin should a plate have when it is let go, so that it stands where it is wanted
//! after both its legs have touched down, in an order that nobody knows beforehand?
//!
//! A plate falls on two legs, springs with dampers that damp the more the more of them touch. It
//! sinks least when both touch at once: over the plane of tilt and spin the cost has a crease along
//! the starts with simultaneous touch-downs, and its least value lies in the crease. There the
//! derivative of the landing is no matrix but a Bouligand derivative, two linear pieces, one for
//! each order.
//!
//! * **all orders**: gradient descent with the pieces of [`Integrator::derivative`]. In each piece
//!   the direction of steepest descent is `−g` projected onto its cone, the longest of the
//!   projections is the steepest of all, and where all are zero no direction descends. A step that
//!   changes the order may end where both legs touch at once.
//! * **one order** (naive): what the product of one saltation matrix for each contact gives, in the
//!   order in which the run crossed them, leg 0 first where it cannot tell. It is right on either
//!   side of the crease, and knows one side only.
//! * **leg 0 first** (naive): the same product, always as if leg 0 touched first: a mode sequence
//!   chosen beforehand.
//!
//! * **fixed steps** (naive): as one order, with steps of one length, which may lead uphill.
//!
//! The first three search along their direction for a step that lowers the cost. With the flags as
//! they are, both naive ones are stuck as soon as they are in the crease, far from the least cost:
//! downhill on one side is uphill on the other. Fixed steps jump to and fro across it; they drift
//! towards the least cost and never settle there.
//!
//! Off the crease one order is all there is to know: with `--want-height 0.83 --want-tilt -0.041`,
//! a place reached beyond the crease, one order does as well as all orders, and only leg 0 first is
//! stuck.

#[path = "../common/mod.rs"]
mod common;
mod contour;
#[path = "../common/linear.rs"]
mod linear;
#[path = "../common/logarithmic.rs"]
mod logarithmic;
mod picture;
mod search;
mod task;

use std::io::Write;
use std::process::ExitCode;

use common::flags::{Flags, Outcome, ensure};
use nalgebra::Vector2;
use saltation::Error;
use saltation::models::PlateParameters;
use search::{End, Path, Search, Tool};
use task::{Start, Task, order};

const HELP: &str = "\
Gradient descent to a landing on two legs whose order is not known: with and without the derivative at the corner

  cargo run --release --example descend -- [FLAGS]

  --tilt A --spin W           where the descent starts, 0.08 rad and 0.1 rad/s
  --want-height Z             wanted at the final time: height, 0.95 m,
  --want-tilt A               and tilt, 0.04 rad
  --tf T                      final time, 0.7 s
  --stiffness K --damping C   of each leg, 50 N/m and 16 N s/m (C when both touch, half of it when one does)
  --step S                    first step over gradient, and that of the fixed steps, 0.5
  --iterations N              at most, 60
  --pictures DIR              folder for pictures, target/pictures
";

/// Below this slope a descent has arrived [m²/rad, a rad/s counted like a rad].
const FLAT: f64 = 1e-6;
/// Length of the steps that are tried around the end of a path [rad].
const NEARBY: f64 = 1e-3;

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = Setup::read(&mut flags)?;
        let folder = flags.pictures()?;
        let mut task = Task::new(setup.parameters, setup.wanted, setup.tf)?;
        let paths = ways()
            .into_iter()
            .map(|way| way.descend(&mut task, &setup))
            .collect::<Result<Vec<_>, Error>>()?;
        for path in &paths {
            report(path, out)?;
        }
        pieces(&mut task, &paths[0], out)?;
        summary(&mut task, &paths, out)?;
        let file = picture::draw(&folder, &mut task, &paths)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

/// What the flags say.
struct Setup {
    parameters: PlateParameters,
    wanted: [f64; 2],
    tf: f64,
    start: Start,
    step: f64,
    iterations: usize,
}

impl Setup {
    fn read(flags: &mut Flags) -> Outcome<Self> {
        let mut finite = |name, default| {
            let value: f64 = flags.number(name, default)?;
            ensure(value.is_finite(), &format!("{name} must be finite"))?;
            Outcome::Ok(value)
        };
        let setup = Self {
            start: Vector2::new(finite("--tilt", 0.08)?, finite("--spin", 0.1)?),
            wanted: [finite("--want-height", 0.95)?, finite("--want-tilt", 0.04)?],
            tf: finite("--tf", 0.7)?,
            parameters: PlateParameters {
                stiffness: finite("--stiffness", 50.0)?,
                damping: finite("--damping", 16.0)?,
                shared_damping: true,
                ..PlateParameters::with_springs(2)
            },
            step: finite("--step", 0.5)?,
            iterations: flags.number("--iterations", 60)?,
        };
        ensure(setup.step > 0.0, "--step must be > 0")?;
        ensure(
            (1..=2000).contains(&setup.iterations),
            "--iterations must lie in 1 to 2000",
        )?;
        Ok(setup)
    }
}

/// A way to go downhill.
struct Way {
    name: &'static str,
    meaning: &'static str,
    tool: Tool,
    fixed: bool,
}

fn ways() -> [Way; 4] {
    [
        Way {
            name: "all orders",
            meaning: "the pieces of the B-derivative, each on its cone",
            tool: Tool::AllOrders,
            fixed: false,
        },
        Way {
            name: "one order",
            meaning: "naive: saltation matrices in the order of the run",
            tool: Tool::OneOrder,
            fixed: false,
        },
        Way {
            name: "leg 0 first",
            meaning: "naive: saltation matrices as if leg 0 always touched first",
            tool: Tool::LegZeroFirst,
            fixed: false,
        },
        Way {
            name: "fixed steps",
            meaning: "naive: as one order, with steps of one length",
            tool: Tool::OneOrder,
            fixed: true,
        },
    ]
}

impl Way {
    fn descend(self, task: &mut Task, setup: &Setup) -> Result<Descent, Error> {
        let search = Search {
            tool: self.tool,
            step: setup.step,
            fixed: self.fixed,
            iterations: setup.iterations,
            flat: FLAT,
        };
        let path = search.descend(task, setup.start)?;
        Ok(Descent { way: self, path })
    }
}

/// A way and where it led.
struct Descent {
    way: Way,
    path: Path,
}

fn report(descent: &Descent, out: &mut dyn Write) -> Outcome<()> {
    let Descent { way, path } = descent;
    writeln!(out, "{}: {}\n", way.name, way.meaning)?;
    writeln!(
        out,
        "   i  tilt [rad]  spin [rad/s]  cost [cm^2]  first leg  leg 1 after leg 0 [s]    slope  derivative"
    )?;
    let last = path.visits.len() - 1;
    for (i, visit) in path.visits.iter().enumerate() {
        // the beginning, the end, and a sample of what lies between
        if i > 12 && i + 1 < last && i % 10 != 0 {
            continue;
        }
        let gap = visit.landing.gap;
        writeln!(
            out,
            "{i:>4}  {:>10.6}  {:>12.6}  {:>11.5}  {:>9}  {:>21}  {:>7.1e}  {}",
            visit.start.x,
            visit.start.y,
            1e4 * visit.landing.cost,
            order(gap),
            gap.map_or_else(|| "-".to_owned(), |gap| format!("{gap:+.1e}")),
            visit.slope,
            visit.kind
        )?;
    }
    Ok(writeln!(out, "      {}\n", told(path.end))?)
}

/// The pieces at the end of a path: why nothing descends there, though no gradient is zero.
fn pieces(task: &mut Task, descent: &Descent, out: &mut dyn Write) -> Outcome<()> {
    writeln!(out, "{}, the pieces at the end:\n", descent.way.name)?;
    let (verdict, sides) = task.sides(descent.path.last().start)?;
    for side in &sides {
        let name = match side.order[..] {
            [] => "all".to_owned(),
            [first, ..] => format!("leg {first} first"),
        };
        writeln!(
            out,
            "  {name:<12} gradient ({:+.6}, {:+.6}), steepest descent within its cone {:.1e}",
            side.gradient.x,
            side.gradient.y,
            side.descent().norm()
        )?;
    }
    Ok(writeln!(out, "  {verdict}\n")?)
}

fn told(end: End) -> &'static str {
    match end {
        End::Flat => "arrived: no direction descends",
        End::Stuck => "stuck: no step along its slope lowers the cost",
        End::Iterations => "still going",
    }
}

/// Compares the ends, and tries steps in all directions around each: what the cost itself says of
/// them.
fn summary(task: &mut Task, paths: &[Descent], out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "                  iterations  cost [cm^2]  above the best  slope it sees  best of 360 steps of {NEARBY} rad"
    )?;
    let best = least_cost(paths);
    for Descent { way, path } in paths {
        let last = path.last();
        let mut nearby = f64::INFINITY;
        for degrees in 0..360 {
            let (sin, cos) = f64::from(degrees).to_radians().sin_cos();
            let landing = task.land(last.start + NEARBY * Vector2::new(cos, sin))?;
            nearby = nearby.min(landing.cost - last.landing.cost);
        }
        writeln!(
            out,
            "{:<16}  {:>10}  {:>11.5}  {:>14.5}  {:>13.1e}  {:>+13.1e} cm^2",
            way.name,
            path.visits.len() - 1,
            1e4 * last.landing.cost,
            1e4 * (last.landing.cost - best),
            last.slope,
            1e4 * nearby
        )?;
    }
    Ok(())
}

/// The least cost that any of them met.
fn least_cost(paths: &[Descent]) -> f64 {
    let visits = paths.iter().flat_map(|descent| &descent.path.visits);
    visits
        .map(|visit| visit.landing.cost)
        .fold(f64::INFINITY, f64::min)
}
