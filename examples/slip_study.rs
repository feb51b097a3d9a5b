//! How tight may stiction be? The slip of a stack on a slope falls with the softness σ, and the condition of the equations grows.
//!
//! Castro, Permenter & Han, figures 14 and 15.

mod common;
#[path = "common/linear.rs"]
mod linear;
#[path = "common/logarithmic.rs"]
mod logarithmic;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::chart::{Area, Key, PALETTE, chart, grey, headline, picture, text};
use common::flags::{Flags, Outcome, ensure};
use plotters::prelude::*;
use saltation::bodies::Scene;
use saltation::compliant::{Region, Softness, StepFriction};
use saltation::mechanics::MechanicalSystem;
use saltation::models::{Clutter, CubeStack};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{Compliant, Start};

const HELP: &str = "\
Cubes on a slope: slip and condition of the Hessian over the softness of stiction; iterations of a heap that falls.

  cargo run --release --example slip_study -- [FLAGS]

  --cubes N         cubes of the stack, 3
  --slope A         angle of the slope, 0.1 rad
  --mu MU           coefficient of friction, 1
  --dt DT           step, 0.01 s
  --bodies N        bodies of the heap, 12
  --pictures DIR    folder for pictures, target/pictures
";

const SIGMAS: [f64; 7] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];
/// End of the runs of the stack and of the heap (s).
const ENDS: (f64, f64) = (1.5, 1.5);
const PREDICTED: RGBColor = grey(190);

struct Setup {
    stack: CubeStack,
    dt: f64,
    bodies: usize,
}

/// What is found for one softness.
struct Found {
    sigma: f64,
    /// Mean slip of the contacts and what is to be expected (m/s).
    slip: f64,
    predicted: f64,
    /// None where a contact of the stack does not stick.
    condition: Option<f64>,
    /// Newton iterations of an island of the heap: mean and most.
    iterations: f64,
    most: usize,
}

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = setup(&mut flags)?;
        let folder = flags.pictures()?;
        let found = SIGMAS.map(|sigma| setup.study(sigma));
        let found = found.into_iter().collect::<Outcome<Vec<_>>>()?;
        report(&setup, &found, out)?;
        let file = draw(&folder, &setup, &found)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

fn setup(flags: &mut Flags) -> Outcome<Setup> {
    let stack = CubeStack {
        cubes: flags.number("--cubes", 3)?,
        slope: flags.number("--slope", 0.1)?,
        friction: flags.number("--mu", 1.0)?,
        ..CubeStack::default()
    };
    let (dt, bodies) = (flags.number("--dt", 0.01)?, flags.number("--bodies", 12)?);
    ensure(
        (1..=20).contains(&stack.cubes),
        "--cubes must lie in 1 to 20",
    )?;
    ensure(
        (0.0..1.0).contains(&stack.slope),
        "--slope must lie in [0, 1)",
    )?;
    ensure(stack.friction > 0.0, "--mu must be positive")?;
    ensure(dt > 0.0 && dt <= 0.1, "--dt must lie in (0, 0.1]")?;
    ensure((1..=500).contains(&bodies), "--bodies must lie in 1 to 500")?;
    Ok(Setup { stack, dt, bodies })
}

impl Setup {
    fn stepper(&self, scene: Scene, sigma: f64, tf: f64) -> Outcome<Compliant<Scene>> {
        let (q, v) = scene.start();
        let mut softness = Softness::default();
        softness.stiction = sigma;
        let stepper = Compliant::new(scene)?.time_step(self.dt);
        // The law of the paper, whose study this is.
        let stepper = stepper.friction(StepFriction::Cone);
        let mut stepper = stepper.softness(softness);
        stepper.start(&Start::at(0.0).q(&q).v(&v))?;
        while stepper.t() < tf - 0.5 * self.dt {
            stepper.step()?;
        }
        Ok(stepper)
    }

    fn study(&self, sigma: f64) -> Outcome<Found> {
        let stack = self.stepper(self.stack.scene()?, sigma, ENDS.0)?;
        let clutter = Clutter {
            bodies: self.bodies,
            ..Clutter::default()
        };
        let heap = self.stepper(clutter.scene()?, sigma, ENDS.1)?;
        let counts = heap.statistics();
        // Each interface holds what is above it, by four contacts.
        let slip = |i: usize| {
            let pull = self.stack.load(i) * self.stack.slope.tan();
            sigma * self.stack.response(i) * pull * self.dt / 4.0
        };
        let interfaces = 0..self.stack.cubes;
        Ok(Found {
            sigma,
            slip: mean_slip(&stack),
            predicted: interfaces.map(slip).sum::<f64>() / self.stack.cubes as f64,
            condition: condition(&stack),
            iterations: counts.iterations as f64 / counts.islands.max(1) as f64,
            most: counts.most_iterations,
        })
    }
}

/// The rows of the contacts of the last step, three each.
fn jacobian(stepper: &Compliant<Scene>) -> DMatrix<f64> {
    let contacts = stepper.contacts();
    let mut all = DMatrix::zeros(3 * contacts.len(), contacts.dof());
    for i in 0..contacts.len() {
        for block in contacts.blocks(i) {
            let rows = DMatrix::from_row_slice(3, block.width, block.rows);
            let mut place = all.view_mut((3 * i, block.start), (3, block.width));
            place += rows;
        }
    }
    all
}

fn mean_slip(stepper: &Compliant<Scene>) -> f64 {
    let velocities = jacobian(stepper) * DVector::from_column_slice(stepper.v());
    let slips = velocities.as_slice().chunks_exact(3);
    let count = slips.len().max(1) as f64;
    slips.map(|v| v[1].hypot(v[2])).sum::<f64>() / count
}

/// The condition of `A + Jᵀ G J`, where all contacts stick: `G` has the inverse regularisations.
fn condition(stepper: &Compliant<Scene>) -> Option<f64> {
    let (j, dof) = (jacobian(stepper), stepper.contacts().dof());
    let mut weighted = j.clone();
    for (i, region) in stepper.solution().regions().iter().enumerate() {
        if *region != Region::Stiction {
            return None;
        }
        let law = stepper.problem().law(i)?;
        let softness = [law.normal, law.tangential, law.tangential];
        for (k, softness) in softness.into_iter().enumerate() {
            let mut row = weighted.row_mut(3 * i + k);
            row /= softness;
        }
    }
    let mut mass = DMatrix::zeros(dof, dof);
    stepper.system().mass(stepper.q(), mass.as_mut_slice());
    let values = (mass + j.transpose() * weighted).symmetric_eigenvalues();
    Some(values.max() / values.min())
}

fn report(setup: &Setup, found: &[Found], out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "{} cubes on a slope of {} rad, friction {}; a heap of {} bodies\n",
        setup.stack.cubes, setup.stack.slope, setup.stack.friction, setup.bodies
    )?;
    writeln!(
        out,
        "σ       mean slip [m/s]   predicted     μ σ g dt      condition of H   iterations of an island: mean, most"
    )?;
    for f in found {
        let condition = f
            .condition
            .map_or("slides".to_owned(), |c| format!("{c:.2e}"));
        writeln!(
            out,
            "{:<6.0e}  {:<16.5e}  {:<12.5e}  {:<12.5e}  {condition:<15}  {:.2}, {}",
            f.sigma,
            f.slip,
            f.predicted,
            setup.bound(f.sigma),
            f.iterations,
            f.most
        )?;
    }
    Ok(())
}

impl Setup {
    /// The usual estimate of the creep (m/s), for any contact of the friction cone.
    fn bound(&self, sigma: f64) -> f64 {
        self.stack.friction * sigma * self.stack.gravity * self.dt
    }
}

/// `slip_study.svg`.
fn draw(folder: &Path, setup: &Setup, found: &[Found]) -> Outcome<PathBuf> {
    let keys = [
        (30, Key::new("measured", PALETTE[5], (0, 16))),
        (280, Key::new("predicted", PREDICTED, (60, 14))),
        (560, Key::new("μ σ g dt", PALETTE[6], (60, 5))),
        (840, Key::new("most iterations", PALETTE[1], (0, 16))),
    ];
    let title = format!(
        "Softness of stiction: {} cubes on a slope of {} rad, a heap of {} bodies",
        setup.stack.cubes, setup.stack.slope, setup.bodies
    );
    picture(folder, "slip_study.svg", 1400, |area| {
        let (upper, lower) = headline(area, &title, &keys)?.split_vertically(660);
        let (left, right) = upper.split_horizontally(900);
        slips(&left, setup, found)?;
        conditions(&right, found)?;
        iterations(&lower, found)
    })
}

fn sigmas() -> common::chart::Axis<'static> {
    logarithmic::axis("softness of stiction σ", 0.5 * SIGMAS[0]..2.0 * SIGMAS[6])
}

fn slips(area: &Area, setup: &Setup, found: &[Found]) -> Outcome<()> {
    let (low, high) = (found[0].predicted, setup.bound(SIGMAS[6]));
    let y = logarithmic::axis("mean slip [m/s]", 0.2 * low..5.0 * high);
    let mut chart = chart(area, sigmas(), y)?;
    let line = found.iter().map(|f| (f.sigma, f.predicted));
    chart.draw_series(LineSeries::new(line, PREDICTED.stroke_width(12)))?;
    let line = found.iter().map(|f| (f.sigma, setup.bound(f.sigma)));
    chart.draw_series(LineSeries::new(line, PALETTE[6].stroke_width(4)))?;
    let dots = found.iter().map(|f| (f.sigma, f.slip));
    chart.draw_series(dots.map(|at| Circle::new(at, 9, PALETTE[5].filled())))?;
    Ok(())
}

fn conditions(area: &Area, found: &[Found]) -> Outcome<()> {
    let points: Vec<(f64, f64)> = found
        .iter()
        .filter_map(|f| Some((f.sigma, f.condition?)))
        .collect();
    let conditions = points.iter().map(|point| point.1);
    let (low, high) = conditions.fold((1e9_f64, 1.0_f64), |(a, b), c| (a.min(c), b.max(c)));
    let y = logarithmic::axis("condition of the Hessian", 0.2 * low..5.0 * high);
    let mut chart = chart(area, sigmas(), y)?;
    if let Some((first, top)) = points.first() {
        let line = [1.0, 1e4].map(|k| (k * first, top / k));
        chart.draw_series(LineSeries::new(line, PREDICTED.stroke_width(12)))?;
    }
    chart.draw_series(
        points
            .into_iter()
            .map(|at| Circle::new(at, 9, PALETTE[5].filled())),
    )?;
    let inside = chart.plotting_area().strip_coord_spec();
    inside.draw_text("grey: in proportion to 1/σ", &text(28, grey(80)), (290, 30))?;
    Ok(())
}

fn iterations(area: &Area, found: &[Found]) -> Outcome<()> {
    let most = found.iter().map(|f| f.most).max().unwrap_or(1) as f64;
    let y = linear::axis("iterations of an island of the heap", 0.0..1.1 * most, 5);
    let mut chart = chart(area, sigmas(), y)?;
    let means = || found.iter().map(|f| (f.sigma, f.iterations));
    let most = || found.iter().map(|f| (f.sigma, f.most as f64));
    chart.draw_series(LineSeries::new(means(), PALETTE[5].stroke_width(4)))?;
    chart.draw_series(LineSeries::new(most(), PALETTE[1].stroke_width(4)))?;
    chart.draw_series(means().map(|at| Circle::new(at, 9, PALETTE[5].filled())))?;
    chart.draw_series(most().map(|at| Circle::new(at, 9, PALETTE[1].filled())))?;
    Ok(())
}
