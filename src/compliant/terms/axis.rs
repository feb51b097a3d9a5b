//! Axes, on which limits, motors, dry friction and gears act, and rows of a few velocities.

use std::fmt;
use std::sync::Arc;

use crate::compliant::{Problem, StepState};
use crate::linalg::scratch::with_zeros;
use crate::mechanics::MechanicalSystem;
use crate::{InputError, validate};

/// A position and its rate, on which limits, motors, dry friction and gears act.
///
/// * A coordinate `q[i]` whose rate is the velocity `v[i]`: [`Axis::from`] its number, so that a number
///   alone will do; [`new`](Self::new) where the numbers differ. A number alone is refused by systems
///   that have more coordinates than velocities, as a scene. There body `i` of those that move has the
///   coordinates `7 i …` (place, quaternion) and the velocities `6 i …` (turns, then moves): its move
///   along x is `Axis::new(7 * i, 6 * i + 3)`.
/// * An axis that a joint between bodies leaves free ([`Joint::axis`](crate::bodies::Joint::axis)).
///
/// ```
/// use saltation::compliant::Axis;
/// use saltation::models::LinkChain;
/// let chain = LinkChain::new(2)?;
/// let now = Axis::from(1).read(&chain, &[0.1, 0.2], &[0.3, 0.4])?;
/// assert_eq!((now.position, now.velocity), (0.2, 0.4));
/// # Ok::<(), saltation::InputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Axis(Kind);

#[derive(Clone)]
enum Kind {
    Coordinate {
        coordinate: usize,
        velocity: usize,
        /// One number was given for both.
        is_alone: bool,
    },
    Bodies(Arc<dyn BodyAxis>),
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Coordinate {
                coordinate,
                velocity,
                ..
            } => write!(f, "q[{coordinate}], v[{velocity}]"),
            Self::Bodies(axis) => axis.fmt(f),
        }
    }
}

/// The numbers of a coordinate and of its rate.
#[derive(Clone, Copy, Debug)]
pub(in crate::compliant) struct Numbers {
    pub(in crate::compliant) coordinate: usize,
    pub(in crate::compliant) velocity: usize,
}

/// Position and velocity of an [`Axis`] (m and m/s, or rad and rad/s).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AxisState {
    /// Position; an angle that can turn on lies in (−π, π].
    pub position: f64,
    /// Its rate.
    pub velocity: f64,
}

/// An axis between bodies, or between a body and the world.
pub(crate) trait BodyAxis: fmt::Debug + Send + Sync {
    /// As [`StepTerm::check`](crate::compliant::StepTerm::check).
    fn check(&self, coordinates: usize, dof: usize) -> Result<(), InputError>;

    /// Positions that differ by this are the same place; infinite where none are.
    fn period(&self) -> f64;

    /// Position and rows at coordinates `q`.
    fn at(&self, q: &[f64]) -> Result<BodyRows, InputError>;
}

/// The position of an axis between bodies, and the row of its rate in the six velocities of each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyRows {
    pub(crate) position: f64,
    pub(crate) rows: [Option<(usize, [f64; 6])>; 2],
}

/// An axis at the start of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct AxisAt {
    pub(super) position: f64,
    pub(super) period: f64,
    /// Its rate: velocities and their factors.
    rate: [(usize, f64); 12],
    count: usize,
}

impl AxisAt {
    /// The number of velocities of its rate.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Velocities and factors, of the rate times `factor`.
    pub(super) fn rate(self, factor: f64) -> impl Iterator<Item = (usize, f64)> + Clone {
        let rate = self.rate.into_iter().take(self.count);
        rate.map(move |(velocity, entry)| (velocity, factor * entry))
    }

    /// The place of the axis nearest to `near`: positions a period apart are the same place.
    pub(super) fn nearest_to(&self, near: f64) -> f64 {
        near + nearest(self.position - near, self.period)
    }
}

/// The rest of `distance` without whole periods.
pub(super) fn nearest(distance: f64, period: f64) -> f64 {
    if period.is_finite() {
        distance - period * (distance / period).round()
    } else {
        distance
    }
}

impl From<usize> for Axis {
    fn from(number: usize) -> Self {
        Self(Kind::Coordinate {
            coordinate: number,
            velocity: number,
            is_alone: true,
        })
    }
}

impl Axis {
    /// The coordinate `q[coordinate]`, whose rate is `v[velocity]`: a run whose coordinate has another rate does
    /// not start.
    pub fn new(coordinate: usize, velocity: usize) -> Self {
        Self(Kind::Coordinate {
            coordinate,
            velocity,
            is_alone: false,
        })
    }

    pub(crate) fn between(axis: impl BodyAxis + 'static) -> Self {
        Self(Kind::Bodies(Arc::new(axis)))
    }

    /// Refuses numbers beyond the system, and axes that are not free.
    pub(in crate::compliant) fn check(
        &self,
        coordinates: usize,
        dof: usize,
    ) -> Result<(), InputError> {
        match &self.0 {
            Kind::Coordinate {
                coordinate,
                velocity,
                is_alone,
            } => {
                // A quaternion among the coordinates: the numbers behind it differ.
                let rule = "where coordinates are not as many as velocities an axis has two numbers \
                            (Axis::new), or belongs to a joint (Joint::axis)";
                let is_clear = !is_alone || coordinates == dof;
                validate::unless(is_clear, "number of an axis", *coordinate as f64, rule)?;
                existing("coordinate", *coordinate, coordinates)?;
                existing("velocity", *velocity, dof)
            }
            Kind::Bodies(axis) => axis.check(coordinates, dof),
        }
    }

    /// The numbers of a coordinate and of its rate, of an axis that was given by them.
    pub(in crate::compliant) fn numbers(&self) -> Option<Numbers> {
        match self.0 {
            Kind::Coordinate {
                coordinate,
                velocity,
                ..
            } => Some(Numbers {
                coordinate,
                velocity,
            }),
            Kind::Bodies(_) => None,
        }
    }

    /// Positions that differ by this are the same place; infinite where none are.
    pub(super) fn period(&self) -> f64 {
        match &self.0 {
            Kind::Coordinate { .. } => f64::INFINITY,
            Kind::Bodies(axis) => axis.period(),
        }
    }

    /// The axis at coordinates `q`; `tree` has the first velocity and the number of velocities of each tree.
    fn at(
        &self,
        q: &[f64],
        tree: impl Fn(usize) -> Result<(usize, usize), InputError>,
    ) -> Result<AxisAt, InputError> {
        let mut rate = [(0, 0.0); 12];
        match &self.0 {
            Kind::Coordinate {
                coordinate,
                velocity,
                ..
            } => {
                existing("coordinate", *coordinate, q.len())?;
                rate[0] = (*velocity, 1.0);
                Ok(AxisAt {
                    position: q[*coordinate],
                    period: f64::INFINITY,
                    rate,
                    count: 1,
                })
            }
            Kind::Bodies(axis) => {
                let BodyRows { position, rows } = axis.at(q)?;
                let mut count = 0;
                for (number, row) in rows.into_iter().flatten() {
                    let (start, width) = tree(number)?;
                    validate::length("velocities of a body", row.len(), width)?;
                    for (k, entry) in row.into_iter().enumerate() {
                        rate[count] = (start + k, entry);
                        count += 1;
                    }
                }
                Ok(AxisAt {
                    position,
                    period: axis.period(),
                    rate,
                    count,
                })
            }
        }
    }

    /// The axis at the start of a step.
    pub(super) fn in_step(
        &self,
        state: &StepState<'_>,
        problem: &Problem,
    ) -> Result<AxisAt, InputError> {
        self.at(state.q, |number| {
            existing("tree", number, problem.trees.len())?;
            let tree = &problem.trees[number];
            Ok((tree.start, tree.width))
        })
    }

    /// Position and velocity at a state of a system: the angle of a hinge in a run.
    ///
    /// # Errors
    /// [`InputError::NoSuch`] for numbers beyond the system, [`InputError::WrongLength`], and bad
    /// parameters of a joint.
    pub fn read<S>(&self, system: &S, q: &[f64], v: &[f64]) -> Result<AxisState, InputError>
    where
        S: MechanicalSystem + ?Sized,
    {
        self.check(q.len(), v.len())?;
        let at = self.at(q, |number| {
            existing("tree", number, system.trees())?;
            let tree = system.tree(number);
            Ok((tree.start, tree.len()))
        })?;
        let mut velocity = 0.0;
        for (number, factor) in at.rate(1.0) {
            existing("velocity", number, v.len())?;
            velocity += factor * v[number];
        }
        Ok(AxisState {
            position: at.position,
            velocity,
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
