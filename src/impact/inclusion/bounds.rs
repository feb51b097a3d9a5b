//! Laws of the draws: how much each contact may push in a step.

use crate::impact::{ImpactFailure, ImpactProblem};
use crate::random::{Draws, Stream, word_below};
use crate::validate;

/// The law by which the bounds of the normal impulses of a step are drawn, as parts of the greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoundLaw {
    /// Uniform in (0, 1), each contact on its own: Algorithm 1 of the paper. Outcomes of one
    /// contact acting alone are rare.
    #[default]
    Uniform,
    /// The face law: uniform in half of the steps. In the others only the contacts of a non-empty
    /// proper subset, each as likely, keep their bounds, and the others may not push. A contact
    /// that neither approaches nor has a store of energy does not push anyway. Where all of the
    /// subset are such, only one contact keeps its bound: of those that can push, the one of the
    /// least normal speed.
    Faces,
    /// Sobol's sequence with random scrambles (Owen; those of Burley, "Practical hash-based Owen
    /// scrambling", 2020): sample k has point k of a sequence of dimension m N, one component for
    /// each contact and step, so that many samples fill the set more evenly than uniform draws.
    /// Each seed has its own scrambles.
    ///
    /// A sequence has 2¹⁶ points and 256 dimensions. The samples of every further 2¹⁶ numbers have
    /// a sequence of other scrambles; the bounds beyond dimension 256 are uniform. With the feature
    /// `sobol`.
    #[cfg(feature = "sobol")]
    Sobol,
}

/// The bound of the steps of all samples, and its draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bound {
    /// The greatest normal impulse of a contact in a step (N s).
    greatest: f64,
    pub(super) most_steps: usize,
    pub(super) seed: u64,
    pub(super) law: BoundLaw,
}

impl Bound {
    pub(super) const fn new(greatest: f64, most_steps: usize, law: BoundLaw) -> Self {
        Self {
            greatest,
            most_steps,
            seed: 0,
            law,
        }
    }

    /// Refuses what is out of its range.
    pub(super) fn check(self, steps: &'static str) -> Result<(), ImpactFailure> {
        validate::positive("bound", &[self.greatest])?;
        validate::count(steps, self.most_steps)?;
        Ok(())
    }
}

/// The bounds of the steps of a sample.
#[derive(Clone, Debug)]
pub(super) struct StepBounds {
    pub(super) settings: Bound,
    /// The bound of one last, small step (N s); none where unfinished samples are dropped.
    pub(super) small: Option<f64>,
    /// The normal speeds below minus which contacts approach, then slips that count as zero.
    pub(super) eps: Vec<f64>,
    /// The bounds of the step (N s).
    pub(super) most: Vec<f64>,
}

impl StepBounds {
    pub(super) fn new(
        settings: Bound,
        small: Option<f64>,
        tolerance: f64,
        problem: &ImpactProblem,
    ) -> Self {
        Self {
            settings,
            small,
            eps: problem.parts_of_greatest(tolerance),
            most: vec![0.0; problem.contacts()],
        }
    }

    /// True when no normal speed is below minus its rounding.
    pub(super) fn is_over(&self, speeds: &[f64]) -> bool {
        let normals = &speeds[..self.most.len()];
        let mut pairs = normals.iter().zip(&self.eps);
        pairs.all(|(&u, &eps)| u >= -eps)
    }

    /// Draws the bounds of one step of a sample; gives the other draws of the step.
    pub(super) fn draw(
        &mut self,
        sample: u64,
        step: usize,
        speeds: &[f64],
        stored: &[f64],
    ) -> Draws {
        let (seed, step) = (self.settings.seed, step as u64);
        let draws = Draws { seed, sample, step };
        let pushing = Pushing {
            speeds,
            eps: &self.eps,
            stored,
        };
        draw(self.settings.law, draws, pushing, &mut self.most);
        for most in &mut self.most {
            *most *= self.settings.greatest;
        }
        draws
    }
}

/// Speeds and stored energies, which show which contacts can push.
#[derive(Clone, Copy)]
struct Pushing<'s> {
    /// Speeds before the step, normals first.
    speeds: &'s [f64],
    /// The normal speeds below minus which contacts approach.
    eps: &'s [f64],
    /// The energies stored at contacts; none where it is empty.
    stored: &'s [f64],
}

impl Pushing<'_> {
    fn can(&self, i: usize) -> bool {
        self.speeds[i] < -self.eps[i] || self.stored.get(i).is_some_and(|&e| e > 0.0)
    }
}

/// Draws the bounds of one step, in (0, 1) or zero.
fn draw(law: BoundLaw, draws: Draws, pushing: Pushing<'_>, bounds: &mut [f64]) {
    draws.fill_open(Stream::Bounds, bounds);
    #[cfg(feature = "sobol")]
    if law == BoundLaw::Sobol {
        super::sobol::fill(draws, bounds);
    }
    let m = bounds.len();
    if law != BoundLaw::Faces || m < 2 {
        return;
    }
    let [whole, subset, ..] = draws.block(Stream::Faces, 0);
    if whole >> 63 == 0 {
        return;
    }
    // Beyond 62 contacts subsets of the first 62 are drawn, and the others keep theirs.
    let drawn = m.min(62);
    let proper = if drawn == m {
        (1usize << m) - 2
    } else {
        1 << drawn
    };
    let subset = word_below(subset, proper) + usize::from(drawn == m);
    let keeps = |i: usize| i >= drawn || subset >> i & 1 == 1;
    if (0..m).any(|i| keeps(i) && pushing.can(i)) {
        for (i, bound) in bounds.iter_mut().enumerate() {
            if !keeps(i) {
                *bound = 0.0;
            }
        }
        return;
    }
    let speeds = pushing.speeds;
    let most = (0..m)
        .filter(|&i| pushing.can(i))
        .min_by(|&a, &b| speeds[a].total_cmp(&speeds[b]));
    for (i, bound) in bounds.iter_mut().enumerate() {
        if Some(i) != most {
            *bound = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(speeds: &[f64]) -> Pushing<'_> {
        Pushing {
            speeds,
            eps: &[1e-8; 3],
            stored: &[],
        }
    }

    #[test]
    fn half_of_the_steps_keep_a_proper_subset() {
        let (mut whole, mut kept) = (0, [0; 3]);
        for sample in 0..3000 {
            let (seed, step) = (1, 0);
            let draws = Draws { seed, sample, step };
            let mut bounds = [0.0; 3];
            draw(BoundLaw::Faces, draws, of(&[-1.0; 3]), &mut bounds);
            let zeros = bounds.iter().filter(|&&b| b == 0.0).count();
            assert!(zeros < 3);
            whole += usize::from(zeros == 0);
            for (count, bound) in kept.iter_mut().zip(bounds) {
                *count += usize::from(zeros > 0 && bound > 0.0);
            }
        }
        assert!((1400..1600).contains(&whole), "{whole}");
        // Of six subsets each contact is in three.
        assert!(kept.iter().all(|k| (650..850).contains(k)), "{kept:?}");
    }

    #[test]
    fn where_no_chosen_contact_approaches_the_fastest_pushes() {
        for sample in 0..200 {
            let (seed, step) = (1, 0);
            let mut bounds = [0.0; 3];
            let draws = Draws { seed, sample, step };
            draw(
                BoundLaw::Faces,
                draws,
                of(&[0.2, -1e-17, -1.0]),
                &mut bounds,
            );
            assert!(bounds[2] > 0.0);
        }
    }
}
