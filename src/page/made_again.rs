//! Steps of a run that a driver makes once more, and whether they are those of the run.

use crate::bodies::Scene;
use crate::compliant::CompliantFailure;
use crate::mechanics::MechanicalSystem;
use crate::record::slack;
use crate::{Compliant, InputError, Run, Start, validate};

/// Errors of a solution that the velocities of two may differ by. Both have a gradient below the
/// tolerance, relative to the momenta (26), and the cost is at least as convex as the kinetic energy: two
/// errors; Coulomb's loads amplify them.
const SOLUTIONS: f64 = 10.0;

/// Part of a change by weight that sleep takes from a step: 1 %, before and after the step.
const HELD: f64 = 0.02;

/// Refuses a scene to be shown whose bodies are not those of the driver. Where those that move started
/// does not matter.
pub(super) fn check_same_bodies(shown: &Scene, driven: &Scene) -> Result<(), InputError> {
    validate::length("bodies of the scene", driven.len(), shown.len())?;
    for body in 0..driven.len() {
        let rule = "must be that of the driver whose forces are drawn";
        let same = shown.is_same_body(driven, body);
        validate::unless(same, "body of the scene", body as f64, rule)?;
    }
    Ok(())
}

/// Makes steps of a run once more.
pub(super) struct Again<'a> {
    pub(super) stepper: Compliant<Scene>,
    run: &'a Run,
    dt: f64,
    /// Speed below which what slept was at rest; zero where nothing may sleep.
    speed_of_sleep: f64,
    effort: Vec<f64>,
    change: Vec<f64>,
}

impl<'a> Again<'a> {
    /// Of a run that has the sizes of the scene.
    pub(super) fn of(stepper: &Compliant<Scene>, run: &'a Run) -> Self {
        let scene = stepper.system();
        let (dt, speed_of_sleep) = stepper.step_and_sleep();
        let mut effort = vec![0.0; scene.dof()];
        scene.effort(0.0, run.q(0), run.v(0), &mut effort);
        Self {
            stepper: stepper.clone(),
            run,
            dt,
            speed_of_sleep,
            effort,
            change: Vec::new(),
        }
    }

    /// Makes the step from a node, and gives its length. Refuses one that does not end at the next node.
    pub(super) fn step_from(&mut self, node: usize) -> Result<f64, CompliantFailure> {
        let (run, times) = (self.run, self.run.times());
        let t = times[node];
        let dt = times.get(node + 1).map_or(self.dt, |end| end - t);
        let rounding = slack(t, t + self.dt, self.dt);
        let is_whole = (dt - self.dt).abs() <= rounding;
        // The last two steps of a run share what is left.
        let is_part = node + 3 >= times.len() && dt > 0.0 && dt < self.dt;
        if !is_whole && !is_part {
            return Err(CompliantFailure::OtherRun {
                t,
                what: "length of the step (s)",
                found: self.dt,
                expected: dt,
            });
        }
        let dt = if is_whole { self.dt } else { dt };
        self.stepper.set_step(dt);
        let start = Start::at(t).q(run.q(node)).v(run.v(node));
        self.stepper.start(&start)?;
        self.stepper.step()?;
        if node + 1 < times.len() {
            self.check_end(node, dt)?;
        }
        Ok(dt)
    }

    /// Refuses a step that ends with other velocities than the run.
    fn check_end(&mut self, node: usize, dt: f64) -> Result<(), CompliantFailure> {
        let (scene, q) = (self.stepper.system(), self.stepper.q());
        let (before, kept, found) = (self.run.v(node), self.run.v(node + 1), self.stepper.v());
        // Twice the kinetic energy of all that is awake: of the difference, and of the sizes.
        let (mut apart, mut size, mut masses) = (0.0, 0.0, 0.0);
        let mut speeds = (0.0_f64, 0.0_f64);
        for tree in 0..scene.trees() {
            let (own, mass) = (scene.tree(tree), scene.mass_of_tree(tree));
            let weight = self.effort[own.clone()].iter().map(|f| f * f).sum::<f64>();
            let fall = if mass > 0.0 {
                weight.sqrt() / mass * dt
            } else {
                0.0
            };
            let speed = |v: &[f64]| scene.tree_speed(tree, q, v);
            self.change.clear();
            let pairs = found[own.clone()].iter().zip(&kept[own.clone()]);
            self.change.extend(pairs.map(|(found, kept)| found - kept));
            let miss = speed(&self.change);
            let is_still = kept[own.clone()].iter().all(|v| *v == 0.0);
            if self.speed_of_sleep > 0.0 && is_still {
                // It may have slept, and is awake here.
                let allowed = self.speed_of_sleep + HELD * fall;
                if miss > allowed && miss > speeds.0 {
                    speeds = (miss, allowed);
                }
                continue;
            }
            let fast = speed(&before[own.clone()]).max(speed(&kept[own])).max(fall);
            apart += mass * miss * miss;
            size += mass * fast * fast;
            masses += mass;
        }
        let tolerance = self.stepper.tolerance() + self.stepper.solution().friction_error();
        let (apart, size) = ((apart / masses).sqrt(), (size / masses).sqrt());
        let allowed = SOLUTIONS * tolerance * size;
        if apart > allowed && apart > speeds.0 {
            speeds = (apart, allowed);
        }
        if speeds.0 == 0.0 {
            return Ok(());
        }
        Err(CompliantFailure::OtherRun {
            t: self.run.times()[node],
            what: "greatest miss of the velocities at the end of the step (m/s)",
            found: speeds.0,
            expected: speeds.1,
        })
    }
}
