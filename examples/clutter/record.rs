//! A run of a heap, step by step.

use std::fmt::Write;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use saltation::bodies::Scene;
use saltation::compliant::{
    IslandReport, Problem, Region, Softness, Solver, StepFriction, StepStatistics, StepTimes,
};
use saltation::mechanics::Contacts;
use saltation::models::Clutter;
use saltation::{Compliant, Page, Start};

use crate::common::flags::Outcome;
use crate::progress::Progress;

/// The tolerance of the solver.
pub(crate) const RTOL: f64 = 1e-5;
/// Error of friction from which a run speaks of a doubt.
const WRONG: f64 = 1e-3;
/// Length of the parts that are averaged (s); bodies are shown at the end of the first.
pub(crate) const PART: f64 = 2.0;

/// What is run.
#[derive(Clone, Copy)]
pub(crate) struct Fall {
    pub(crate) clutter: Clutter,
    pub(crate) tf: f64,
    pub(crate) dt: f64,
    pub(crate) softness: Softness,
    pub(crate) friction: StepFriction,
    pub(crate) threads: usize,
}

/// One step.
#[derive(Clone, Copy, Default)]
pub(crate) struct Step {
    pub(crate) t: f64,
    /// Contacts that were listed, and those that press.
    pub(crate) contacts: f64,
    pub(crate) pressing: f64,
    pub(crate) islands: f64,
    /// Bodies of the largest island.
    pub(crate) largest: usize,
    /// Newton iterations, all islands together.
    pub(crate) iterations: f64,
    /// Of the island that took most.
    pub(crate) most: usize,
    /// Islands that did not converge, or whose friction has not its own loads.
    pub(crate) open: usize,
    pub(crate) momentum_error: f64,
    /// Motion, geometry, build, solve (s).
    pub(crate) times: [f64; 4],
}

/// The step of a part that took most iterations: what was solved, from which guess.
#[derive(Clone)]
pub(crate) struct Hardest {
    pub(crate) number: usize,
    pub(crate) iterations: usize,
    pub(crate) problem: Problem,
    pub(crate) guess: Vec<f64>,
}

/// Some steps together.
pub(crate) struct Part {
    pub(crate) contacts: f64,
    pub(crate) pressing: f64,
    pub(crate) islands: f64,
    pub(crate) largest: usize,
    /// Newton iterations of an island.
    pub(crate) iterations: f64,
    /// Mean of the momentum error.
    pub(crate) momentum_error: f64,
    /// Medians: motion, geometry, build, solve (s).
    pub(crate) times: [f64; 4],
}

/// All of a run.
pub(crate) struct Run {
    pub(crate) scene: Scene,
    /// Coordinates at the start and at the end of the first part.
    pub(crate) shown: [Vec<f64>; 2],
    pub(crate) steps: Vec<Step>,
    /// Of the first and of the last part.
    pub(crate) hardest: [Option<Hardest>; 2],
    pub(crate) statistics: StepStatistics,
    /// Deepest overlap at the end (m).
    pub(crate) overlap: f64,
    /// Fastest spin at the end (rad/s).
    pub(crate) spin: f64,
}

impl Fall {
    fn stepper(&self, scene: Scene) -> Outcome<Compliant<Scene>> {
        let solver = threads(Solver::new().rtol(RTOL), self.threads);
        let stepper = Compliant::new(scene)?.time_step(self.dt);
        let stepper = stepper.friction(self.friction);
        Ok(stepper.softness(self.softness).solver(solver))
    }

    /// Writes a page to look at: bodies, forces, heights.
    pub(crate) fn write_page(&self, file: &Path) -> Outcome<()> {
        let scene = self.clutter.scene()?;
        let (q, v) = scene.start();
        let mut stepper = self.stepper(scene.clone())?;
        let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), self.tf)?;
        let title = format!("{} spheres and cubes fall", self.clutter.bodies);
        let page = Page::new(&run, 60.0)?.title(&title).scene(&scene)?;
        let out = BufWriter::new(File::create(file)?);
        Ok(page.forces(&stepper)?.write_html(out)?)
    }

    /// Writes its scene as a document.
    pub(crate) fn write_scene(&self, file: &Path) -> Outcome<()> {
        let scene = self.clutter.scene()?;
        #[cfg(feature = "serde")]
        {
            let out = BufWriter::new(File::create(file)?);
            Ok(serde_json::to_writer(out, &scene)?)
        }
        #[cfg(not(feature = "serde"))]
        {
            let (file, bodies) = (file.display(), scene.len());
            Err(format!(
                "{file}: scenes, as this of {bodies} bodies, are written with --features serde"
            )
            .into())
        }
    }

    /// Runs it; a step that does not converge is an error.
    pub(crate) fn run(&self, progress: bool) -> Outcome<Run> {
        let scene = self.clutter.scene()?;
        let (start, v) = scene.start();
        let mut stepper = self.stepper(scene)?;
        stepper.start(&Start::at(0.0).q(&start).v(&v))?;
        let label = format!("{} bodies", self.clutter.bodies);
        let mut bar = progress.then(|| Progress::new(label));
        let mut run = Run {
            scene: stepper.system().clone(),
            shown: [start.clone(), start],
            steps: Vec::new(),
            hardest: [None, None],
            statistics: *stepper.statistics(),
            overlap: 0.0,
            spin: 0.0,
        };
        let mut guess = v;
        while stepper.t() < self.tf - 0.5 * self.dt {
            let before = *stepper.times();
            guess.copy_from_slice(stepper.v());
            stepper.step()?;
            let step = Step::new(&stepper, &before);
            if step.t < PART + 0.5 * self.dt {
                run.shown[1].copy_from_slice(stepper.q());
            }
            let parts = [step.t <= PART, step.t > self.tf - PART];
            for (hardest, _) in run.hardest.iter_mut().zip(parts).filter(|of| of.1) {
                if hardest.as_ref().is_none_or(|of| of.iterations < step.most) {
                    *hardest = Some(Hardest {
                        number: run.steps.len() + 1,
                        iterations: step.most,
                        problem: stepper.problem().clone(),
                        guess: guess.clone(),
                    });
                }
            }
            run.steps.push(step);
            if let Some(bar) = &mut bar {
                bar.show(stepper.t() / self.tf);
            }
        }
        let spins = stepper.v().chunks_exact(6);
        let spins = spins.map(|v| v[0].hypot(v[1]).hypot(v[2]));
        run.spin = spins.fold(0.0, f64::max);
        run.statistics = *stepper.statistics();
        run.overlap = run
            .scene
            .deepest_overlap(stepper.q(), &mut Contacts::new())?;
        Ok(run)
    }
}

#[cfg(feature = "parallel")]
fn threads(solver: Solver, threads: usize) -> Solver {
    solver.threads(threads)
}

#[cfg(not(feature = "parallel"))]
fn threads(solver: Solver, _one: usize) -> Solver {
    solver
}

impl Step {
    fn new(stepper: &Compliant<Scene>, before: &StepTimes) -> Self {
        let (solution, after) = (stepper.solution(), stepper.times());
        let islands = solution.islands();
        let iterations = islands.iter().map(|island| island.iterations);
        let presses = |of: &&Region| **of != Region::NoContact;
        let is_open =
            |of: &&IslandReport| !of.convergence.is_converged() || of.friction_error > WRONG;
        Self {
            t: stepper.t(),
            contacts: stepper.contacts().len() as f64,
            pressing: solution.regions().iter().filter(presses).count() as f64,
            islands: islands.len() as f64,
            largest: islands.iter().map(|i| i.trees).max().unwrap_or(0),
            iterations: iterations.clone().sum::<usize>() as f64,
            most: iterations.max().unwrap_or(0),
            open: islands.iter().filter(is_open).count(),
            momentum_error: solution.momentum_error(),
            times: [
                after.motion.saturating_sub(before.motion),
                after.geometry.saturating_sub(before.geometry),
                after.build.saturating_sub(before.build),
                after.solve.saturating_sub(before.solve),
            ]
            .map(|time| time.as_secs_f64()),
        }
    }
}

impl Run {
    /// All of it.
    pub(crate) fn whole(&self) -> Part {
        Part::of(self.steps.iter())
    }

    /// Islands of the run, and how many were left open.
    pub(crate) fn islands(&self) -> [f64; 2] {
        let counts = self.steps.iter().map(|step| (step.islands, step.open));
        counts.fold([0.0; 2], |sum, of| [sum[0] + of.0, sum[1] + of.1 as f64])
    }

    /// The first two seconds.
    pub(crate) fn transient(&self) -> Part {
        Part::of(self.steps.iter().filter(|step| step.t <= PART))
    }

    /// The last two seconds.
    pub(crate) fn steady(&self) -> Part {
        let end = self.steps.last().map_or(0.0, |step| step.t);
        Part::of(self.steps.iter().filter(|step| step.t > end - PART))
    }

    /// A line for each step.
    pub(crate) fn csv(&self) -> String {
        let mut lines = String::from(
            "t,contacts,islands,largest_island,iterations,most_iterations,momentum_error,motion_s,geometry_s,build_s,solve_s\n",
        );
        for step in &self.steps {
            let [motion, geometry, build, solve] = step.times;
            // a string takes all that is written
            let _ = writeln!(
                lines,
                "{:.6},{},{},{},{},{},{:e},{motion:e},{geometry:e},{build:e},{solve:e}",
                step.t,
                step.contacts,
                step.islands,
                step.largest,
                step.iterations,
                step.most,
                step.momentum_error,
            );
        }
        lines
    }
}

impl Part {
    pub(crate) fn of<'a>(steps: impl Iterator<Item = &'a Step>) -> Self {
        let (mut sum, mut times) = (Step::default(), [const { Vec::new() }; 4]);
        for step in steps {
            sum.contacts += step.contacts;
            sum.pressing += step.pressing;
            sum.islands += step.islands;
            sum.iterations += step.iterations;
            sum.momentum_error += step.momentum_error;
            sum.largest = sum.largest.max(step.largest);
            for (times, time) in times.iter_mut().zip(step.times) {
                times.push(time);
            }
        }
        let count = times[0].len().max(1) as f64;
        Self {
            contacts: sum.contacts / count,
            pressing: sum.pressing / count,
            islands: sum.islands / count,
            largest: sum.largest,
            iterations: sum.iterations / sum.islands.max(1.0),
            momentum_error: sum.momentum_error / count,
            times: times.map(median),
        }
    }

    /// Time of a step (s).
    pub(crate) fn time(&self) -> f64 {
        self.times.iter().sum()
    }
}

/// Not the mean, because some steps wait for other programs.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
