//! Spheres and cubes fall into a heap. What does a step cost, and how does it grow with the number of bodies?
//!
//! Castro, Permenter & Han, section VI-C, figures 8 to 13.

#[path = "../common/mod.rs"]
mod common;
mod convergence;
mod heap;
mod history;
#[path = "../common/linear.rs"]
mod linear;
#[path = "../common/logarithmic.rs"]
mod logarithmic;
#[path = "../common/progress.rs"]
mod progress;
mod record;
mod scaling;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use common::flags::{Flags, Outcome, ensure};
use record::{Fall, PART, Run};
use saltation::compliant::{Softness, StepFriction};
use saltation::models::Clutter;

const HELP: &str = "\
Spheres and cubes fall into a heap: pictures of it, iterations and time of each step, and how they grow with the number of bodies.

  cargo run --release --example clutter -- [FLAGS]

  --bodies N        bodies of the heap, 40
  --side N          columns along each side, 2
  --no-walls        lets the heap spread
  --coulomb         Coulomb's law, the default of the library; without it the cone of the paper
  --tf T            end of the runs, 10 s
  --dt DT           step, 0.01 s
  --sigma S         softness of stiction, 1e-3
  --beta B          near-rigid limit, 1; 0 switches it off
  --spheres S       share of spheres, 0.5; the others are cubes
  --stiffness K     stiffness of contacts, 1e12 N/m
  --seed N          of shapes, turns and places, 0
  --most N          doubles the number of bodies up to N, with and without walls, 160; 0 leaves that out
  --threads N       threads that share the islands, 1 (with --features parallel)
  --csv FILE        writes each step of the heap
  --scene FILE      writes the scene as a document (with --features serde), for benches/peers/heaps.py
  --page FILE       writes a page that shows the fall in a browser
  --progress        shows on the standard error how far a run is
  --pictures DIR    folder for pictures, target/pictures
";

/// What the flags say.
struct Setup {
    fall: Fall,
    most: usize,
    csv: Option<PathBuf>,
    scene: Option<PathBuf>,
    page: Option<PathBuf>,
    progress: bool,
}

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = setup(&mut flags)?;
        let folder = flags.pictures()?;
        let run = setup.fall.run(setup.progress)?;
        report(&setup.fall, &run, out)?;
        if let Some(file) = &setup.csv {
            let written = fs::write(file, run.csv());
            written.map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        }
        if let Some(file) = &setup.scene {
            setup.fall.write_scene(file)?;
        }
        if let Some(file) = &setup.page {
            let written = setup.fall.write_page(file);
            written.map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        }
        // The same bodies without their walls, or between them.
        let mut twin = setup.fall;
        twin.clutter.walls = !twin.clutter.walls;
        let other = Fall {
            tf: PART.min(twin.tf),
            ..twin
        };
        let other_run = other.run(setup.progress)?;
        let mut heaps = [(&setup.fall, &run), (&other, &other_run)];
        heaps.sort_by_key(|(fall, _)| !fall.clutter.walls);
        let mut files = vec![
            heap::draw(&folder, heaps)?,
            history::draw(&folder, &setup.fall, &run)?,
        ];
        // Coulomb's law has no cost that comes down.
        if setup.fall.friction == StepFriction::Cone {
            files.extend(convergence::draw(&folder, &run)?);
        }
        if setup.most > 0 {
            let sizes = scaling::study(&setup.fall, setup.most, setup.progress)?;
            scaling::report(&sizes, out)?;
            files.push(scaling::draw(&folder, &setup.fall, &sizes)?);
        }
        writeln!(out)?;
        let written = files.into_iter().chain(setup.csv);
        for file in written.chain(setup.scene).chain(setup.page) {
            writeln!(out, "wrote {}", file.display())?;
        }
        Ok(())
    })
}

fn setup(flags: &mut Flags) -> Outcome<Setup> {
    let mut softness = Softness::default();
    softness.stiction = flags.number("--sigma", softness.stiction)?;
    softness.near_rigid = flags.number("--beta", softness.near_rigid)?;
    let defaults = Clutter::default();
    let fall = Fall {
        clutter: Clutter {
            bodies: flags.number("--bodies", defaults.bodies)?,
            side: flags.number("--side", defaults.side)?,
            walls: !flags.switch("--no-walls"),
            seed: flags.number("--seed", defaults.seed)?,
            spheres: flags.number("--spheres", defaults.spheres)?,
            stiffness: flags.number("--stiffness", defaults.stiffness)?,
            ..defaults
        },
        tf: flags.number("--tf", 10.0)?,
        dt: flags.number("--dt", 0.01)?,
        softness,
        friction: if flags.switch("--coulomb") {
            StepFriction::Coulomb
        } else {
            StepFriction::Cone
        },
        threads: flags.number("--threads", 1)?,
    };
    ensure(
        (1..=10_000).contains(&fall.clutter.bodies),
        "--bodies must lie in 1 to 10000",
    )?;
    ensure(fall.dt > 0.0 && fall.dt <= 0.1, "--dt must lie in (0, 0.1]")?;
    ensure(
        fall.tf >= 10.0 * fall.dt && fall.tf / fall.dt <= 1e6,
        "--tf must be 10 to 1e6 steps",
    )?;
    ensure(
        cfg!(feature = "parallel") || fall.threads == 1,
        "--threads needs --features parallel",
    )?;
    let most = flags.number("--most", 160)?;
    ensure(most <= 10_000, "--most must lie in 0 to 10000")?;
    Ok(Setup {
        fall,
        most,
        csv: flags.read("--csv", str::parse::<PathBuf>)?,
        scene: flags.read("--scene", str::parse::<PathBuf>)?,
        page: flags.read("--page", str::parse::<PathBuf>)?,
        progress: flags.switch("--progress"),
    })
}

fn report(fall: &Fall, run: &Run, out: &mut dyn Write) -> Outcome<()> {
    let walls = if fall.clutter.walls {
        "between walls"
    } else {
        "without walls"
    };
    writeln!(
        out,
        "{} bodies {walls}, {} steps of {} s",
        fall.clutter.bodies,
        run.steps.len(),
        fall.dt
    )?;
    writeln!(
        out,
        "part             contacts  islands  largest  iterations/island  median time of a step: motion + geometry + build + solve [ms]"
    )?;
    for (name, part) in [("first 2 s", run.transient()), ("last 2 s", run.steady())] {
        let [motion, geometry, build, solve] = part.times.map(|time| 1e3 * time);
        writeln!(
            out,
            "{name:<16} {:>8.0} {:>8.1} {:>8} {:>18.2}  {:.3} = {motion:.3} + {geometry:.3} + {build:.3} + {solve:.3}",
            part.contacts,
            part.islands,
            part.largest,
            part.iterations,
            motion + geometry + build + solve,
        )?;
    }
    writeln!(
        out,
        "momentum error at most {:.1e}, complementarity error {:.1e}; deepest overlap {:.1e} m, at the end {:.1e} m; fastest spin at the end {:.1e} rad/s",
        run.statistics.momentum_error,
        run.statistics.complementarity_error,
        run.statistics.overlap,
        run.overlap,
        run.spin,
    )?;
    let [islands, open] = run.islands();
    writeln!(
        out,
        "{open} of {islands} islands did not converge, or their friction is wrong by a thousandth"
    )?;
    Ok(())
}
