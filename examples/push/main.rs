//! With which forces do two fingers push a box to a goal? Gradient descent through the contacts of
//! a rollout.
//!
//! A box stands on the ground, and two smooth balls on rails beside it, the fingers. A force moves
//! each, constant over each part of the time; their difference steers. The cost is how far the box is from its goal at the end, and
//! how fast. Its gradient by all forces comes from one rollout:
//! `Compliant::step_along` carries the derivatives of the state through every step by the implicit
//! function theorem.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/linear.rs"]
mod linear;
#[path = "../common/logarithmic.rs"]
mod logarithmic;
mod picture;
mod rollout;

use std::io::Write;
use std::process::ExitCode;

use common::flags::{Flags, Outcome, ensure};
use nalgebra::Vector2;
use rollout::{Rollout, Task};

const HELP: &str = "\
Two fingers push a box to a goal: gradient descent through the contacts of a rollout

The force on each finger is constant over each part of the time. The table shows the cost, half the squares of the distance from the
goal and of the speed at the end (by 0.1 s), after each iteration of the descent.

  cargo run --release --example push -- [FLAGS]

  --x X --y Y       the goal of the box, 0.3 m and 0.05 m; it starts at the origin
  --parts N         number of parts with a force each, 8
  --force F         force of each finger at the start of the descent, 2.3 N
  --tf T            time, 0.8 s
  --dt H            length of a step, 0.02 s
  --iterations N    at most, 30
  --pictures DIR    folder for pictures, target/pictures
";

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = Setup::read(&mut flags)?;
        let folder = flags.pictures()?;
        let mut task = Task::new(setup.goal, setup.dt, setup.tf)?;
        let mut forces = vec![setup.force; 2 * setup.parts];
        let checked = check(&mut task, &forces)?;
        writeln!(
            out,
            "gradient against differences of rollouts: {checked:.1e} of its length\n"
        )?;
        let rollouts = task.descend(&mut forces, setup.iterations)?;
        report(&task, &rollouts, out)?;
        writeln!(out, "\nforces (N):")?;
        for (part, force) in forces.chunks(2).enumerate() {
            writeln!(out, "  part {part}: {:8.3} {:8.3}", force[0], force[1])?;
        }
        let file = picture::draw(&folder, &task, &rollouts)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

/// What the flags say.
struct Setup {
    goal: Vector2<f64>,
    parts: usize,
    force: f64,
    tf: f64,
    dt: f64,
    iterations: usize,
}

impl Setup {
    fn read(flags: &mut Flags) -> Outcome<Self> {
        let setup = Self {
            goal: Vector2::new(flags.number("--x", 0.3)?, flags.number("--y", 0.05)?),
            parts: flags.number("--parts", 8)?,
            force: flags.number("--force", 2.3)?,
            tf: flags.number("--tf", 0.8)?,
            dt: flags.number("--dt", 0.02)?,
            iterations: flags.number("--iterations", 30)?,
        };
        let finite = setup.goal.iter().all(|x| x.abs() < 100.0) && setup.force.abs() < 1e4;
        ensure(
            finite,
            "--x, --y and --force must be numbers of a sane size",
        )?;
        ensure(
            (1..=50).contains(&setup.parts),
            "--parts must lie in 1 … 50",
        )?;
        ensure(
            setup.dt > 1e-5 && setup.dt <= 0.1,
            "--dt must lie in 1e-5 … 0.1",
        )?;
        let steps = setup.tf / setup.dt;
        ensure(
            (1.0..=1e4).contains(&steps),
            "--tf must give 1 … 10000 steps",
        )?;
        ensure(
            setup.iterations <= 10_000,
            "--iterations must be at most 10000",
        )?;
        Ok(setup)
    }
}

/// The gradient against central differences: the length of the difference over its own.
fn check(task: &mut Task, forces: &[f64]) -> Outcome<f64> {
    let gradient = task.roll(forces)?.gradient;
    let (mut off, mut size) = (0.0, 0.0);
    for (k, slope) in gradient.iter().enumerate() {
        let mut cost = |h: f64| {
            let mut moved = forces.to_vec();
            moved[k] += h;
            task.roll(&moved).map(|rollout| rollout.cost)
        };
        let h = 1e-4;
        let difference = (cost(h)? - cost(-h)?) / (2.0 * h);
        off += (difference - slope).powi(2);
        size += slope.powi(2);
    }
    Ok((off / size).sqrt())
}

fn report(task: &Task, rollouts: &[Rollout], out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "iteration   cost (m²)   box ends at (m)   from the goal (m)"
    )?;
    let last = rollouts.len() - 1;
    for (k, rollout) in rollouts.iter().enumerate() {
        if k > 5 && k % 5 != 0 && k != last {
            continue;
        }
        let end = rollout.path[rollout.path.len() - 1];
        let miss = (Vector2::new(end[0], end[1]) - task.goal).norm();
        writeln!(
            out,
            "{k:9}   {:9.2e}   {:6.3} {:6.3}     {miss:9.2e}",
            rollout.cost, end[0], end[1]
        )?;
    }
    Ok(())
}
