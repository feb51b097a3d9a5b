//! All outcomes of one sample: its steps with every solution of each.

#[cfg(doc)]
use super::settings::SolutionRule;
use super::simulation::{Ended, LcpSimulation, start};
use crate::impact::ImpactFailure;
use crate::validate;

/// One of the outcomes of a sample.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Branch {
    /// Contact speeds after it (m/s).
    pub speeds: Vec<f64>,
    /// The sum of its impulses (N s), normals first.
    pub impulses: Vec<f64>,
    /// How it ended.
    pub ended: Ended,
}

impl LcpSimulation<'_> {
    /// Runs one sample with [`SolutionRule::EnumerateAll`]: where a step has several velocities,
    /// the sample goes on with each of them. All of its branches have the bounds of the sample's
    /// number. `each` is given the branches in order, those of the first solutions first. Different
    /// branches may end in the same velocity.
    ///
    /// Returns true when these are all branches: false when the cap of the rule left some out, and
    /// where a mode of a step holds a continuum of velocities, of which one was followed. It keeps
    /// at most as many branches at a time as the cap allows.
    ///
    /// ```
    /// use saltation::impact::{ImpactProblem, LcpSteps, SolutionRule};
    /// use saltation::nalgebra::{DMatrix, DVector};
    /// // A rod that slides against the floor and is stopped by it: one velocity in each step.
    /// let problem = ImpactProblem::with_tangents(
    ///     DMatrix::from_row_slice(2, 2, &[1.6, -1.2, -1.2, 3.4]),
    ///     DVector::from_vec(vec![-1e-6, -1.0]),
    ///     &[1.0],
    /// )?;
    /// let rule = SolutionRule::EnumerateAll { branches: 8 };
    /// let mut simulation = LcpSteps::new(1.0).rule(rule).start(&problem)?;
    /// let mut found = Vec::new();
    /// let all = simulation.branches(0, |branch| found.push(branch))?;
    /// assert!(all && found.len() == 1 && found[0].ended.finished);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) for another rule; those of
    /// [`simulate`](Self::simulate).
    pub fn branches(
        &mut self,
        sample: u64,
        mut each: impl FnMut(Branch),
    ) -> Result<bool, ImpactFailure> {
        let most = self.settings.most_branches().unwrap_or(0);
        validate::unless(most > 0, "rule", 0.0, "must be EnumerateAll for branches")?;
        let size = self.problem().speeds().len();
        let (mut speeds, mut impulses) = (vec![0.0; size], vec![0.0; size]);
        let mut ended = start(self.problem(), &mut speeds, &mut impulses)?;
        ended.finished = self.is_over(&speeds);
        let first = Branch {
            speeds,
            impulses,
            ended,
        };
        let (mut all, mut known) = (true, 1);
        let mut open = vec![(first, false)];
        while let Some((mut branch, mut is_last)) = open.pop() {
            while let Some(draws) =
                self.next_bounds(sample, &branch.speeds, branch.ended, &mut is_last)
            {
                self.problem().check_interrupt()?;
                let count = self.step.enumerate(&branch.speeds, &self.most)?;
                all &= count > 0 && self.step.has_all();
                let others = count.saturating_sub(1);
                let followed = others.min(most - known);
                all &= followed == others;
                known += followed;
                // From the last one on: the stack gives them back in order.
                for solution in (1..=followed).rev() {
                    let mut other = branch.clone();
                    let residual = self.step.take(solution);
                    self.advance(residual, &mut other);
                    open.push((other, is_last));
                }
                let residual = match count {
                    0 => self.step.solve(draws, &branch.speeds, &self.most, None)?,
                    _ => self.step.take(0),
                };
                self.advance(residual, &mut branch);
            }
            each(branch);
        }
        Ok(all)
    }

    fn advance(&mut self, residual: f64, branch: &mut Branch) {
        let Branch {
            speeds,
            impulses,
            ended,
        } = branch;
        self.count_step(residual, speeds, impulses, ended);
    }
}
