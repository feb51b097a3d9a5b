//! How tight may stiction be? The slip of a stack on a slope falls with the softness σ, and the condition of the equations grows.
//!
//! Castro, Permenter & Han, figures 14 and 15.

#[path = "../common/mod.rs"]
mod common;
mod draw;
#[path = "../common/linear.rs"]
mod linear;
#[path = "../common/logarithmic.rs"]
mod logarithmic;
mod measures;

use std::io::Write;
use std::process::ExitCode;

use common::flags::{Flags, Outcome, ensure};
use measures::AtRest;
use saltation::bodies::Scene;
use saltation::compliant::{Softness, StepFriction};
use saltation::models::{Clutter, CubeStack};
use saltation::{Compliant, Start};

const HELP: &str = "\
Slip, condition of the Hessian and iterations over the softness of stiction: cubes on a slope, and heaps that come to rest.

  cargo run --release --example slip_study -- [FLAGS]

  --cubes N         cubes of the stack, 3
  --slope A         angle of the slope, 0.1 rad
  --mu MU           coefficient of friction of the stack, 1
  --dt DT           step, 0.01 s
  --bodies N        bodies of the heaps, 40
  --tf T            end of the heaps, 10 s
  --pictures DIR    folder for pictures, target/pictures
";

const SIGMAS: [f64; 7] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];
/// End of the run of the stack (s).
const END: f64 = 1.5;

struct Setup {
    stack: CubeStack,
    dt: f64,
    bodies: usize,
    /// End of the runs of the heaps (s).
    tf: f64,
}

/// What is found for one softness.
struct Found {
    sigma: f64,
    stack: AtRest,
    /// The mean slip that is to be expected of the stack (m/s).
    predicted: f64,
    /// Between walls, and without.
    heaps: [Heap; 2],
}

/// A heap at the end of its run.
struct Heap {
    end: AtRest,
    /// Newton iterations of a step, those of the island that takes most: mean over the run, and most.
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
        let file = draw::draw(&folder, &setup, &found)?;
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
    let setup = Setup {
        stack,
        dt: flags.number("--dt", 0.01)?,
        bodies: flags.number("--bodies", 40)?,
        tf: flags.number("--tf", 10.0)?,
    };
    ensure(
        (1..=20).contains(&stack.cubes),
        "--cubes must lie in 1 to 20",
    )?;
    ensure(
        (0.0..1.0).contains(&stack.slope),
        "--slope must lie in [0, 1)",
    )?;
    ensure(stack.friction > 0.0, "--mu must be positive")?;
    let (dt, bodies, tf) = (setup.dt, setup.bodies, setup.tf);
    ensure(dt > 0.0 && dt <= 0.1, "--dt must lie in (0, 0.1]")?;
    ensure((1..=200).contains(&bodies), "--bodies must lie in 1 to 200")?;
    ensure(tf >= dt && tf / dt <= 1e5, "--tf must be one to 1e5 steps")?;
    Ok(setup)
}

impl Setup {
    fn stepper(&self, scene: Scene, sigma: f64) -> Outcome<Compliant<Scene>> {
        let (q, v) = scene.start();
        let mut softness = Softness::default();
        softness.stiction = sigma;
        let stepper = Compliant::new(scene)?.time_step(self.dt);
        // The law of the paper, whose study this is.
        let stepper = stepper.friction(StepFriction::Cone);
        let mut stepper = stepper.softness(softness);
        stepper.start(&Start::at(0.0).q(&q).v(&v))?;
        Ok(stepper)
    }

    fn study(&self, sigma: f64) -> Outcome<Found> {
        let mut stack = self.stepper(self.stack.scene()?, sigma)?;
        while stack.t() < END - 0.5 * self.dt {
            stack.step()?;
        }
        // Each interface holds what is above it, by four contacts.
        let slip = |i: usize| {
            let pull = self.stack.load(i) * self.stack.slope.tan();
            sigma * self.stack.response(i) * pull * self.dt / 4.0
        };
        let interfaces = 0..self.stack.cubes;
        Ok(Found {
            sigma,
            stack: AtRest::of(&stack),
            predicted: interfaces.map(slip).sum::<f64>() / self.stack.cubes as f64,
            heaps: [self.heap(sigma, true)?, self.heap(sigma, false)?],
        })
    }

    fn heap(&self, sigma: f64, walls: bool) -> Outcome<Heap> {
        let clutter = Clutter {
            bodies: self.bodies,
            walls,
            ..Clutter::default()
        };
        let mut stepper = self.stepper(clutter.scene()?, sigma)?;
        let (mut iterations, mut steps) = (0, 0);
        while stepper.t() < self.tf - 0.5 * self.dt {
            stepper.step()?;
            let islands = stepper.solution().islands().iter();
            iterations += islands.map(|island| island.iterations).max().unwrap_or(0);
            steps += 1;
        }
        Ok(Heap {
            end: AtRest::of(&stepper),
            iterations: iterations as f64 / f64::from(steps),
            most: stepper.statistics().most_iterations,
        })
    }

    /// The usual estimate of the creep (m/s), for any contact of the friction cone (eq. 31).
    fn bound(&self, sigma: f64) -> f64 {
        self.stack.friction * sigma * self.stack.gravity * self.dt
    }
}

fn report(setup: &Setup, found: &[Found], out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "{} cubes on a slope of {} rad, friction {}; heaps of {} bodies after {} s, between walls and without\n",
        setup.stack.cubes, setup.stack.slope, setup.stack.friction, setup.bodies, setup.tf
    )?;
    writeln!(
        out,
        "σ       stack: mean slip [m/s], predicted, condition   μ σ g dt    heap: mean slip, condition, iterations a step: mean, most"
    )?;
    for f in found {
        write!(
            out,
            "{:<6.0e}  {:.5e}  {:.5e}  {:.2e}            {:.2e}  ",
            f.sigma,
            f.stack.slip,
            f.predicted,
            f.stack.condition,
            setup.bound(f.sigma),
        )?;
        for Heap {
            end,
            iterations,
            most,
        } in &f.heaps
        {
            let AtRest { slip, condition } = end;
            write!(
                out,
                "  {slip:.2e}  {condition:.1e}  {iterations:>5.2}  {most:>3}  "
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}
