//! Derivatives of steps: columns of `(q, v)` carried along a rollout by the chain rule.
//!
//! The data of a step's contact problem, `A`, `v*`, rows, gaps and regularisations, are
//! differentiated by central differences of the model at the same contacts; the solution by the
//! implicit function theorem.

use nalgebra::{DMatrix, DVectorView};

use super::columns::Columns;
use super::model::{StepState, SteppedSystem};
use super::motion::StepStart;
use super::state::{Core, Ordered};
use crate::compliant::StepSolution;
use crate::compliant::failure::CompliantFailure;
use crate::mechanics::{ContactSet, Wanted};
use crate::ode::difference::step_along;
use crate::{InputError, validate};

/// Limit of the rounds in which a change of velocities comes back to them through the forces of inertia.
const BACK: usize = 60;

/// These rounds end where they change less than this part; or less than that one, after so many that were not half of
/// the least before: forces of inertia that are differences are rounded.
const KNOWN: f64 = 1e-9;
const ROUNDED: f64 = 1e-5;
const STALLED: usize = 3;

/// A direction of the state and of the applied effort.
#[derive(Clone, Copy)]
struct Along<'a> {
    state: DVectorView<'a, f64>,
    effort: Option<DVectorView<'a, f64>>,
}

impl Core {
    /// Makes a step and carries columns `(dq, dv)` through it, with the columns of the effort that
    /// change with them.
    pub(super) fn step_along(
        &mut self,
        system: &dyn SteppedSystem,
        dt: f64,
        applied: &[f64],
        columns: &mut DMatrix<f64>,
        efforts: Option<&DMatrix<f64>>,
    ) -> Result<(), CompliantFailure> {
        let system = &self.measured(system)?;
        check_columns(system, columns, efforts)?;
        self.check()?;
        self.begin_step(system);
        let step = Ordered {
            system,
            dt,
            applied,
        };
        let made = self.solve_along(step, columns, efforts);
        self.end_step(&made);
        made
    }

    fn solve_along(
        &mut self,
        step: Ordered<'_>,
        columns: &mut DMatrix<f64>,
        efforts: Option<&DMatrix<f64>>,
    ) -> Result<(), CompliantFailure> {
        if self.sleepers.count() > 0 {
            return Err(asleep());
        }
        self.solve(step)?;
        let mut work = match self.columns.take() {
            Some(work) => work,
            None => Box::new(Columns::new(step.dt)?),
        };
        let carried = self.carry(step, &mut work, columns, efforts);
        let made = carried.and_then(|()| self.advance(step)).and_then(|()| {
            self.drowse(step);
            if self.sleepers.falls() {
                Err(asleep())
            } else {
                Ok(())
            }
        });
        if made.is_ok() {
            std::mem::swap(columns, &mut work.next);
        }
        self.columns = Some(work);
        made?;
        self.take_over(step);
        Ok(())
    }

    fn carry(
        &mut self,
        step: Ordered<'_>,
        work: &mut Columns,
        columns: &DMatrix<f64>,
        efforts: Option<&DMatrix<f64>>,
    ) -> Result<(), CompliantFailure> {
        work.motion.prepare(step.system, &self.q);
        self.list_for(work);
        let (set, wanted) = (ContactSet::Listed(&work.listed), Wanted::default());
        let found = (step.system).fill(&self.q, set, wanted, &mut work.contacts);
        if found.is_err() {
            self.leave_out_idle(step)?;
            self.list_for(work);
        }
        if self.blow.is_struck() && self.blow.is_limited {
            return Err(CompliantFailure::NoDerivative {
                why: "restitution was brought down so that a blow gains no energy",
            });
        }
        if self.motion.is_stiff() {
            return Err(CompliantFailure::NoDerivative {
                why: "joints load bodies so light that the step is too long for their turns",
            });
        }
        if self.motion.left_balance() {
            return Err(turns_too_far());
        }
        work.end_v.clear();
        work.end_v.extend_from_slice(self.solver.solution().v());
        let (nq, rows) = (self.q.len(), columns.nrows());
        work.next.resize_mut(rows, columns.ncols(), 0.0);
        for k in 0..columns.ncols() {
            self.solver.settings.interrupt.check()?;
            let along = Along {
                state: columns.column(k),
                effort: efforts.map(|efforts| efforts.column(k)),
            };
            if along.state.iter().all(|x| *x == 0.0)
                && along.effort.is_none_or(|e| e.iter().all(|x| *x == 0.0))
            {
                work.next.column_mut(k).fill(0.0);
                continue;
            }
            let h = self.difference_step(&along);
            work.back.clear();
            work.back.resize(self.v.len(), 0.0);
            let (mut is_known, mut least, mut stalled) = (false, f64::INFINITY, 0);
            for _ in 0..BACK {
                self.differentiate(step, work, &along, h)?;
                let news = self.comes_back(step, work);
                stalled = if news > 0.5 * least { stalled + 1 } else { 0 };
                least = least.min(news);
                is_known = news <= KNOWN || (news <= ROUNDED && stalled >= STALLED);
                if is_known {
                    break;
                }
            }
            if !is_known {
                return Err(turns_too_far());
            }
            self.coordinates_along(step, work, &along, h);
            self.carry_through_blow(work, 0.5 / h)?;
            let mut column = work.next.column_mut(k);
            for i in 0..nq {
                column[i] = (work.end_q[1][i] - work.end_q[0][i]) / (2.0 * h);
            }
            for (i, dv) in work.found.v.iter().enumerate() {
                column[nq + i] = *dv;
            }
        }
        Ok(())
    }

    /// The change of the solution along a direction, by problems of a moved start.
    fn differentiate(
        &mut self,
        step: Ordered<'_>,
        work: &mut Columns,
        along: &Along<'_>,
        h: f64,
    ) -> Result<(), CompliantFailure> {
        self.perturbed(step, work, along, -h)?;
        std::mem::swap(&mut work.low, &mut work.high);
        work.targets.swap(0, 1);
        self.perturbed(step, work, along, h)?;
        let Columns {
            low,
            high,
            variation,
            found,
            ..
        } = work;
        let solution = self.solver.solution();
        variation.set_difference(low, high, 0.5 / h, solution)?;
        self.solver.derivative(&self.problem, variation, found)
    }

    /// How the change of the solution comes back to `v*` through forces at its velocities; which part of it is news.
    /// Each round has what the one before left out, smaller by about the turn of a step.
    fn comes_back(&mut self, step: Ordered<'_>, work: &mut Columns) -> f64 {
        let dv = &work.found.v;
        if !self.motion.has_balance() || dv.iter().all(|dv| *dv == 0.0) {
            return 0.0;
        }
        let h = step_along(0.0, self.solver.solution().v(), 0.0, dv);
        let [kept, low, high] = &mut work.free;
        kept.clone_from(&self.motion.v);
        for (out, h) in [(&mut *low, -h), (&mut *high, h)] {
            let v = self.solver.solution().v().iter().zip(dv);
            work.end_v.clear();
            work.end_v.extend(v.map(|(v, dv)| v + h * dv));
            let mut motion = std::mem::take(&mut self.motion);
            let start = self.start_at(&self.q, &self.v, step.dt, step.applied);
            motion.balance_at(step.system, &start, &work.end_v);
            out.clone_from(&motion.v);
            motion.v.clone_from(kept);
            self.motion = motion;
        }
        let (mut change, mut size): (f64, f64) = (0.0, 0.0);
        for (k, back) in work.back.iter_mut().enumerate() {
            let next = (high[k] - low[k]) / (2.0 * h);
            change = change.max((next - *back).abs());
            size = size.max(dv[k].abs());
            *back = next;
        }
        change / size
    }

    fn list_for(&self, work: &mut Columns) {
        work.listed.clear();
        let listed = self.contacts.all_parameters().iter().map(|c| c.contact);
        work.listed.extend(listed);
    }

    /// Leaves out contacts with a gap that do not press, as not all can be found at nearby states, and solves the step
    /// again: the derivative has no part of them.
    fn leave_out_idle(&mut self, step: Ordered<'_>) -> Result<(), CompliantFailure> {
        let solutions = [self.solver.solution(), self.blow.last_of(&self.solver)];
        let solutions = solutions.map(StepSolution::impulses);
        let presses = |i: usize| solutions.iter().any(|impulses| impulses[i][0] > 0.0);
        self.contacts
            .remove_places(|i, of| of.gap > 0.0 && !presses(i));
        self.build_and_solve(step, false)?;
        self.balance(step)?;
        self.rebound()
    }

    /// The change of the velocities after the blow of the step, in the place of those before it.
    fn carry_through_blow(
        &mut self,
        work: &mut Columns,
        factor: f64,
    ) -> Result<(), CompliantFailure> {
        if !self.blow.is_struck() {
            return Ok(());
        }
        let Columns {
            low,
            high,
            targets: [of_low, of_high],
            variation,
            found,
            ..
        } = work;
        self.blow.aim_at(of_low, low);
        self.blow.aim_at(of_high, high);
        let (solver, problem) = (&mut self.blow.solver, &self.blow.problem);
        variation.set_difference(low, high, factor, solver.solution())?;
        solver.derivative(problem, variation, found)
    }

    /// The step of central differences along a direction.
    fn difference_step(&self, along: &Along<'_>) -> f64 {
        let nq = self.q.len();
        let (dq, dv) = along.state.as_slice().split_at(nq);
        let of_q = step_along(0.0, &self.q, 0.0, dq);
        let of_v = step_along(0.0, &self.v, 0.0, dv);
        let of_effort = along
            .effort
            .map_or(f64::INFINITY, |e| step_along(0.0, &[0.0], 0.0, &[e.amax()]));
        of_q.min(of_v).min(of_effort)
    }

    /// The start of the step moved by `h` along a direction.
    fn move_start(&self, work: &mut Columns, applied: &[f64], along: &Along<'_>, h: f64) {
        let moved = |out: &mut Vec<f64>, from: &[f64], rate: &[f64]| {
            out.clear();
            out.extend(from.iter().zip(rate).map(|(x, dx)| x + h * dx));
        };
        let (dq, dv) = along.state.as_slice().split_at(self.q.len());
        moved(&mut work.q, &self.q, dq);
        moved(&mut work.v, &self.v, dv);
        work.applied.clear();
        work.applied.extend_from_slice(applied);
        if let Some(effort) = along.effort {
            work.applied.resize(self.v.len(), 0.0);
            for (u, du) in work.applied.iter_mut().zip(&effort) {
                *u += h * du;
            }
        }
    }

    /// The moved start of a step.
    fn start_at<'a>(
        &'a self,
        q: &'a [f64],
        v: &'a [f64],
        dt: f64,
        applied: &'a [f64],
    ) -> StepStart<'a> {
        StepStart {
            t: self.t,
            q,
            v,
            dt,
            scheme: self.settings.scheme,
            closed: &self.pressing,
            applied,
            asleep: &[],
        }
    }

    /// The contact problem `high` of the step from a moved start, at the same contacts.
    fn perturbed(
        &mut self,
        step: Ordered<'_>,
        work: &mut Columns,
        along: &Along<'_>,
        h: f64,
    ) -> Result<(), CompliantFailure> {
        self.move_start(work, step.applied, along, h);
        let start = self.start_at(&work.q, &work.v, step.dt, &work.applied);
        let found = work.motion.solve(step.system, &start);
        found.map_err(|_| CompliantFailure::NoDerivative {
            why: "the motion without contacts was not found at a nearby state",
        })?;
        if self.motion.has_balance() {
            let v = self.solver.solution().v();
            work.motion.follow_as(&self.motion);
            work.motion.balance_at(step.system, &start, v);
            for (free, back) in work.motion.v.iter_mut().zip(&work.back) {
                *free += h * back;
            }
        }
        let wanted = Wanted {
            friction: self.settings.friction,
            slips_at: None,
            restitution_at: self.blow.is_struck().then_some(&work.v),
            compliance: true,
        };
        let filled = step.system.fill(
            &work.q,
            ContactSet::Listed(&work.listed),
            wanted,
            &mut work.contacts,
        );
        filled.map_err(|_| CompliantFailure::NoDerivative {
            why: "a contact is not found at a nearby state",
        })?;
        let state = StepState {
            t: self.t,
            dt: step.dt,
            q: &work.q,
            v: &work.v,
        };
        let built = self.settings.build(
            step.system,
            &work.motion,
            &work.contacts,
            &state,
            &mut work.high,
        );
        built.map_err(|reason| self.model_failure(reason))?;
        // The derivative on the edge between gap and overlap is that of one side.
        work.high.close_as(&self.problem);
        let of_high = &mut work.targets[1];
        self.blow.targets(&work.high, &work.v, of_high);
        Ok(())
    }

    /// The coordinates at the end of the step from both moved starts, with the velocities that
    /// follow.
    fn coordinates_along(&self, step: Ordered<'_>, work: &mut Columns, along: &Along<'_>, h: f64) {
        for (side, h) in [-h, h].into_iter().enumerate() {
            self.move_start(work, step.applied, along, h);
            let start = self.start_at(&work.q, &work.v, step.dt, &work.applied);
            let velocities = self.solver.solution().v().iter().zip(&work.found.v);
            work.end_v.clear();
            work.end_v.extend(velocities.map(|(v, dv)| v + h * dv));
            let end = &mut work.end_q[side];
            end.resize(self.q.len(), 0.0);
            work.motion.advance(step.system, &start, &work.end_v, end);
        }
    }
}

fn turns_too_far() -> CompliantFailure {
    CompliantFailure::NoDerivative {
        why: "a body turns so far in a step that forces of inertia do not settle",
    }
}

fn asleep() -> CompliantFailure {
    CompliantFailure::NoDerivative {
        why: "bodies sleep, or fall asleep at the end of the step",
    }
}

/// Refuses columns of another size, or with entries that are not finite.
fn check_columns(
    system: &dyn SteppedSystem,
    columns: &DMatrix<f64>,
    efforts: Option<&DMatrix<f64>>,
) -> Result<(), InputError> {
    let rows = system.coordinates() + system.dof();
    validate::length("rows of columns", rows, columns.nrows())?;
    validate::finite("columns", columns.as_slice())?;
    if let Some(efforts) = efforts {
        validate::length("rows of effort columns", system.dof(), efforts.nrows())?;
        validate::length("effort columns", columns.ncols(), efforts.ncols())?;
        validate::finite("effort columns", efforts.as_slice())?;
    }
    Ok(())
}
