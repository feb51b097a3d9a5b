//! Axes of joints, and rows of a few velocities.

use crate::InputError;
use crate::compliant::{Problem, StepState};
use crate::linalg::scratch::with_zeros;

/// A coordinate `q[coordinate]` and its rate `v[velocity]`: a slider, a hinge. Where velocities are
/// the rates of the coordinates both numbers are the same, and a number alone will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Axis {
    /// Number of the coordinate.
    pub coordinate: usize,
    /// Number of its rate among the velocities.
    pub velocity: usize,
}

impl From<usize> for Axis {
    fn from(number: usize) -> Self {
        Self {
            coordinate: number,
            velocity: number,
        }
    }
}

impl Axis {
    /// Refuses numbers beyond the system.
    pub(super) fn check(self, coordinates: usize, dof: usize) -> Result<(), InputError> {
        existing("coordinate", self.coordinate, coordinates)?;
        existing("velocity", self.velocity, dof)
    }

    /// The coordinate at the start of a step.
    pub(super) fn position(self, state: &StepState<'_>) -> Result<f64, InputError> {
        let position = state.q.get(self.coordinate).copied();
        position.ok_or(InputError::NoSuch {
            what: "coordinate",
            index: self.coordinate,
            count: state.q.len(),
        })
    }
}

fn existing(what: &'static str, index: usize, count: usize) -> Result<(), InputError> {
    if index < count {
        return Ok(());
    }
    Err(InputError::NoSuch { what, index, count })
}

/// Rows as [`Problem::add_row`] takes them.
pub(super) type Rows<'a> = [(usize, &'a [f64])];

/// Gives `work` the row `Σ factor v[velocity]` by trees.
pub(super) fn with_row<R>(
    problem: &mut Problem,
    parts: impl Iterator<Item = (usize, f64)> + Clone,
    work: impl FnOnce(&mut Problem, &Rows<'_>) -> Result<R, InputError>,
) -> Result<R, InputError> {
    let mut trees = [(0, 0); 2];
    let mut count = 0;
    for (velocity, _) in parts.clone() {
        existing("velocity", velocity, problem.dof())?;
        let tree = tree_of(problem, velocity);
        if trees[..count].iter().all(|&(known, _)| known != tree) {
            if count == 2 {
                return Err(InputError::TreesOfTerm { found: 3 });
            }
            trees[count] = (tree, problem.trees[tree].width);
            count += 1;
        }
    }
    let [(first, width), (second, other)] = trees;
    with_zeros(width + other, |entries| {
        for (velocity, factor) in parts {
            let tree = tree_of(problem, velocity);
            let before = if tree == first { 0 } else { width };
            entries[before + velocity - problem.trees[tree].start] += factor;
        }
        let (head, tail) = entries.split_at(width);
        work(problem, &[(first, head), (second, tail)][..count])
    })
}

/// The tree of a velocity that exists.
fn tree_of(problem: &Problem, velocity: usize) -> usize {
    let after = problem.trees.partition_point(|tree| tree.start <= velocity);
    after.saturating_sub(1)
}
