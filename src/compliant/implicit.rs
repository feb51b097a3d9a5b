//! The derivative of the last solution and its transpose, as a user asks for them.

use super::failure::CompliantFailure;
use super::gradient::State;
use super::newton::IslandSolver;
use super::newton::graph::ALONE;
use super::problem::Problem;
use super::solver::Solver;
use super::variation::{SolutionVariation, Variation};
use crate::validate;

/// The reason that is given where no derivative is finite.
const OVERFLOW: &str = "its numbers overflow";

impl Solver {
    /// The derivative of the last solution in the direction `change` of the data of its problem.
    ///
    /// The Hessian at the solution is factorised once, by the first derivative after a solution;
    /// each derivative is one back-substitution an island. It is as exact as the solution: solve
    /// with a small [`rtol`](Self::rtol) for derivatives of small errors. Where a contact is on the
    /// boundary of two regions the derivative is one-sided, that of the region that
    /// [`ContactLaw::evaluate`](super::ContactLaw::evaluate) names; rows at a bound count as held there.
    ///
    /// ```
    /// use saltation::compliant::{Problem, SolutionVariation, Solver, Variation};
    /// use saltation::mechanics::ContactParameters;
    /// let mut problem = Problem::new(0.01)?;
    /// let ball = problem.add_tree(&[2.0], &[-0.5])?; // 2 kg, falls with 0.5 m/s
    /// let mut ground = ContactParameters::new(0, 0.0);
    /// ground.stiffness = 1e4;
    /// problem.add_contact(&ground, &[(ball, &[1.0])])?;
    /// let mut solver = Solver::new();
    /// let v = solver.solve(&problem, &[0.0])?.v()[0]; // −0.5/(1 + k dt²/m) m/s
    /// let mut change = Variation::default();
    /// change.reset(&problem);
    /// change.contacts[0].stiffness = 1.0;
    /// let mut found = SolutionVariation::default();
    /// solver.derivative(&problem, &change, &mut found)?;
    /// assert!((found.v[0] + v * 5e-5 / 1.5).abs() < 1e-12); // −v (dt²/m)/(1 + k dt²/m)
    /// # Ok::<(), saltation::compliant::CompliantFailure>(())
    /// ```
    ///
    /// # Errors
    /// [`CompliantFailure::NoDerivative`] when `problem` is not the one that was solved last (sizes, `v*`
    /// and laws are compared), when the solution did not converge, or when its Hessian cannot be
    /// factorised, or when the derivative overflows; [`CompliantFailure::Input`] for a change of another size
    /// or with numbers that are not finite.
    pub fn derivative(
        &mut self,
        problem: &Problem,
        change: &Variation,
        found: &mut SolutionVariation,
    ) -> Result<(), CompliantFailure> {
        validate::length("variation of v*", problem.dof(), change.free.len())?;
        validate::length(
            "variation of momentum",
            problem.dof(),
            change.momentum.len(),
        )?;
        let contacts = change.contacts.len();
        validate::length("variation of contacts", problem.contacts(), contacts)?;
        validate::length("variation of rows", problem.rows(), change.rows.len())?;
        change.validate()?;
        self.factorise_at_solution(problem)?;
        found.reset(problem);
        for (tree, &island) in problem.trees.iter().zip(&self.islands.of_tree) {
            if island == ALONE {
                let range = tree.start..tree.start + tree.width;
                found.v[range.clone()].copy_from_slice(&change.free[range]);
            }
        }
        let count = self.islands.len();
        let mut is_solved = true;
        for solver in &mut self.solvers[..count] {
            is_solved &= self.gradient.derivative(solver, problem, change, found);
        }
        accept(is_solved, found.is_finite())
    }

    /// The derivative of the objective `Σ weights · (v, γ)` of the last solution by all data of its
    /// problem: the transpose of [`derivative`](Self::derivative), by one back-substitution an
    /// island.
    ///
    /// The derivative by an effort `e` that is held over the step comes through
    /// `dv* = dt A⁻¹ de`, or for trees with a contact or a row as `dt` times `momentum`. For any
    /// other parameter make the problem at two values of it
    /// ([`Variation::set_difference`], [`Variation::dot`]).
    ///
    /// ```
    /// use saltation::compliant::{Problem, SolutionVariation, Solver, Variation};
    /// use saltation::mechanics::ContactParameters;
    /// let mut problem = Problem::new(0.01)?;
    /// let ball = problem.add_tree(&[2.0], &[-0.5])?; // 2 kg, falls with 0.5 m/s
    /// let mut ground = ContactParameters::new(0, 0.0);
    /// ground.stiffness = 1e4;
    /// problem.add_contact(&ground, &[(ball, &[1.0])])?;
    /// let mut solver = Solver::new();
    /// let v = solver.solve(&problem, &[0.0])?.v()[0]; // v*/(1 + k dt²/m)
    /// let mut weights = SolutionVariation::default();
    /// weights.reset(&problem);
    /// weights.v[0] = 1.0; // the objective is v
    /// let mut found = Variation::default();
    /// solver.adjoint(&problem, &weights, &mut found)?;
    /// assert!((found.free[0] - 1.0 / 1.5).abs() < 1e-12);
    /// assert!((found.contacts[0].stiffness + v * 5e-5 / 1.5).abs() < 1e-12);
    /// let by_effort = 0.01 * found.momentum[0]; // (m/s)/N
    /// assert!((by_effort - 0.01 * found.free[0] / 2.0).abs() < 1e-12);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`derivative`](Self::derivative).
    pub fn adjoint(
        &mut self,
        problem: &Problem,
        weights: &SolutionVariation,
        found: &mut Variation,
    ) -> Result<(), CompliantFailure> {
        let impulses = weights.impulses.len();
        validate::length("weights of velocities", problem.dof(), weights.v.len())?;
        validate::length("weights of impulses", problem.contacts(), impulses)?;
        validate::length(
            "weights of moments",
            problem.moments(),
            weights.moments.len(),
        )?;
        let rows = weights.row_impulses.len();
        validate::length("weights of rows", problem.rows(), rows)?;
        validate::finite("weights of velocities", &weights.v)?;
        validate::finite("weights of impulses", weights.impulses.as_flattened())?;
        validate::finite("weights of moments", weights.moments.as_flattened())?;
        validate::finite("weights of rows", &weights.row_impulses)?;
        self.factorise_at_solution(problem)?;
        found.reset(problem);
        for (tree, &island) in problem.trees.iter().zip(&self.islands.of_tree) {
            if island == ALONE {
                let range = tree.start..tree.start + tree.width;
                found.free[range.clone()].copy_from_slice(&weights.v[range]);
            }
        }
        let count = self.islands.len();
        let mut is_solved = true;
        for solver in &mut self.solvers[..count] {
            is_solved &= self.gradient.adjoint(solver, problem, weights, found);
        }
        accept(is_solved, found.validate().is_ok())
    }

    /// Checks that there is a solution of `problem`, and factorises the Hessians there.
    fn factorise_at_solution(&mut self, problem: &Problem) -> Result<(), CompliantFailure> {
        let refuse = |why| Err(CompliantFailure::NoDerivative { why });
        if self.gradient.state == State::Unsolved {
            return refuse("no problem has been solved");
        }
        if !self.solved_last(problem) {
            return refuse("the problem is not the one that was solved last");
        }
        if !self.solution.is_converged() {
            return refuse("the solution has not converged");
        }
        if self.gradient.state == State::Factorised {
            return Ok(());
        }
        let count = self.islands.len();
        if self.solvers[..count].iter().any(|solver| solver.is_fixed) {
            return refuse("the loads of friction have not come to rest");
        }
        let mut solvers = self.solvers[..count].iter_mut();
        if !solvers.all(IslandSolver::factorise_at_solution) {
            return refuse("the Hessian at the solution cannot be factorised");
        }
        self.gradient.state = State::Factorised;
        Ok(())
    }

    /// True when the islands have the sizes, the free velocities and the laws of `problem`.
    fn solved_last(&self, problem: &Problem) -> bool {
        let solution = &self.solution;
        let sizes = (problem.dof(), problem.contacts(), problem.rows());
        let solved = (
            solution.v.len(),
            solution.impulses.len(),
            solution.row_impulses.len(),
        );
        sizes == solved
            && problem.trees.len() == self.islands.of_tree.len()
            && self.solvers[..self.islands.len()].iter().all(|solver| {
                let island = &solver.island;
                let mut trees = island.trees.iter();
                let mut contacts = island.contacts.iter();
                let mut rows = island.rows.iter();
                trees.all(|tree| {
                    island.free[tree.start..][..tree.width]
                        == problem.free[tree.origin..][..tree.width]
                }) && contacts.all(|own| {
                    let term = &problem.contacts[own.number];
                    own.law == term.law || term.moments() == Some(own.law)
                }) && rows.all(|own| own.law == problem.rows[own.number].law)
            })
    }
}

/// Refuses a derivative whose equations were not solved, or which overflows.
fn accept(is_solved: bool, is_finite: bool) -> Result<(), CompliantFailure> {
    if is_solved && is_finite {
        return Ok(());
    }
    let why = if is_finite {
        "the equations with the loads of friction were not solved"
    } else {
        OVERFLOW
    };
    Err(CompliantFailure::NoDerivative { why })
}
