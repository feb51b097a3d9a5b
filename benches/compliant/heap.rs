//! Heaps, run up to some time.

use saltation::bodies::Scene;
use saltation::compliant::{Problem, Solver};
use saltation::models::Clutter;
use saltation::{Compliant, Start};

/// As for piles.
pub(crate) fn solver() -> Solver {
    Solver::new().rtol(1e-5)
}

/// The heap at time `t` (s).
pub(crate) fn stepper(clutter: Clutter, t: f64) -> Compliant<Scene> {
    let scene = clutter.scene().expect("a scene");
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene)
        .expect("a system")
        .time_step(0.01)
        .solver(solver());
    stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("a start");
    while stepper.t() < t - 5e-3 {
        stepper.step().expect("a step");
    }
    stepper
}

/// The problem of one step, and the velocities before it.
pub(crate) struct Snapshot {
    problem: Problem,
    guess: Vec<f64>,
    iterations: usize,
    trees: usize,
    islands: usize,
}

impl Snapshot {
    /// That of the step after `t` (s).
    pub(crate) fn of(clutter: Clutter, t: f64) -> Self {
        let mut stepper = stepper(clutter, t);
        let guess = stepper.v().to_vec();
        stepper.step().expect("a step");
        let islands = stepper.solution().islands();
        Self {
            problem: stepper.problem().clone(),
            guess,
            iterations: islands.iter().map(|i| i.iterations).max().unwrap_or(0),
            trees: islands.iter().map(|i| i.trees).max().unwrap_or(0),
            islands: islands.len(),
        }
    }

    pub(crate) fn describe(&self) -> String {
        let Self {
            iterations,
            trees,
            islands,
            ..
        } = self;
        let contacts = self.problem.contacts();
        format!(
            "{contacts} contacts, {islands} islands, the largest of {trees} bodies, at most {iterations} iterations"
        )
    }

    pub(crate) fn solve(&self, solver: &mut Solver) -> f64 {
        let solution = solver.solve(&self.problem, &self.guess);
        solution.expect("solved").cost()
    }
}
