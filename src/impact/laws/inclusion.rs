//! The set of outcomes of inelastic impacts with friction, as samples of it.

use std::collections::HashMap;

use nalgebra::DVector;

use crate::impact::{
    Ended, ImpactFailure, ImpactLaw, ImpactProblem, LcpSteps, Order, Outcome, OutcomeSimulation,
    Outcomes, Remark,
};
use crate::random::{symmetric, word};
use crate::validate;

/// Speeds closer than this part of the greatest are one outcome.
const MERGED: f64 = 1e-8;
/// Limit of the numbers of all outcomes: 80 MB.
const NUMBERS: usize = 10_000_000;

/// Inelastic impact with Coulomb friction in which contacts share the impulse in any way and at
/// will (Halm & Posa): the set of outcomes, as far as some samples show it.
///
/// The samples are those of [`LcpSteps`] with the numbers 0, 1, …. Unfinished ones are dropped.
/// Samples with an unsolved step are dropped too, and the first outcome says how many they are
/// ([`Remark::UnsolvedSamples`]). Where no sample finishes the list is empty, and a run ends with
/// [`ImpactFailure::NotSingle`]: take a greater bound or more steps. With
/// [`SolutionRule::EnumerateAll`](crate::impact::SolutionRule::EnumerateAll) the outcomes are those
/// of all branches. Each velocity is listed once (to 1e-8 of the greatest speed), in the order of
/// the samples. The set is never complete: a run needs a [`Selection`](crate::impact::Selection)
/// other than `Single`. For many samples [`LcpSteps::start`] is cheaper: it keeps nothing.
///
/// Coefficients of restitution are not read. [`Outcomes::effort`] is the number of steps.
///
/// # Errors
/// As [`LcpSteps::start`]; [`ImpactFailure::Interrupted`]; [`ImpactFailure::Lcp`], that of the
/// first sample not solved, where no sample finishes;
/// [`InputError::BadSetting`](crate::InputError::BadSetting) for more than 10⁷ numbers: samples
/// times rows, times the cap on branches.
///
/// ```
/// use saltation::impact::{ImpactLaw, ImpactProblem, LcpSteps, RouthInclusion};
/// use saltation::nalgebra::{DMatrix, DVector};
/// // A contact whose impact pushes the other apart: whichever acts last stays.
/// let problem = ImpactProblem::new(DMatrix::from_row_slice(2, 2, &[1.0, 0.5, 0.5, 1.0]), DVector::from_vec(vec![-1.0, -1.0]))?;
/// let outcomes = RouthInclusion::new(LcpSteps::new(1.0), 100).resolve(&problem)?;
/// let farthest = outcomes.list.iter().map(|o| o.speeds.amax()).fold(0.0, f64::max);
/// assert!(farthest > 0.1 && farthest < 0.25 + 1e-9);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RouthInclusion {
    steps: LcpSteps,
    samples: u64,
}

impl RouthInclusion {
    /// So many samples of these steps.
    pub const fn new(steps: LcpSteps, samples: u64) -> Self {
        Self { steps, samples }
    }
}

impl ImpactLaw for RouthInclusion {
    fn name(&self) -> &'static str {
        "RouthInclusion"
    }

    fn honours_friction(&self) -> bool {
        true
    }

    fn honours_restitution(&self) -> bool {
        false
    }

    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        let size = problem.speeds().len();
        let count = usize::try_from(self.samples).unwrap_or(usize::MAX);
        let branches = self.steps.most_branches().unwrap_or(1);
        let kept = count.saturating_mul(size).saturating_mul(branches) <= NUMBERS;
        let rule = "must make at most 10000000 numbers with the rows of the problem";
        validate::unless(kept, "samples", self.samples as f64, rule)?;
        let mut simulation = self.steps.start(problem)?;
        let mut listing = Listing::new(problem);
        if self.steps.most_branches().is_some() {
            for sample in 0..self.samples {
                let mut added = Ok(());
                let followed = simulation.branches(sample, |branch| {
                    if added.is_ok() {
                        added = listing.add(branch.ended, &branch.speeds, &branch.impulses);
                    }
                });
                added?;
                listing.check(followed.map(drop))?;
            }
        } else {
            listing.add_samples(&mut simulation, self.samples)?;
        }
        *outcomes = listing.end()?;
        Ok(())
    }
}

/// The distinct outcomes of samples.
struct Listing<'p> {
    problem: &'p ImpactProblem,
    list: Vec<Outcome>,
    grid: Grid,
    steps: usize,
    unsolved: u64,
    /// The first failure.
    failure: Option<ImpactFailure>,
}

impl<'p> Listing<'p> {
    fn new(problem: &'p ImpactProblem) -> Self {
        let speeds = problem.speeds();
        Self {
            problem,
            list: Vec::new(),
            grid: Grid::new(speeds.len(), MERGED * speeds.amax()),
            steps: 0,
            unsolved: 0,
            failure: None,
        }
    }

    /// Adds the samples below a number.
    fn add_samples(
        &mut self,
        simulation: &mut dyn OutcomeSimulation,
        samples: u64,
    ) -> Result<(), ImpactFailure> {
        let size = self.problem.speeds().len();
        let (mut speeds, mut impulses) = (vec![0.0; size], vec![0.0; size]);
        for sample in 0..samples {
            match simulation.simulate(sample, &mut speeds, &mut impulses) {
                Ok(ended) => self.add(ended, &speeds, &impulses)?,
                Err(failure) => self.check(Err(failure))?,
            }
        }
        Ok(())
    }

    /// Adds an outcome, unless it is unfinished or known.
    fn add(&mut self, ended: Ended, speeds: &[f64], impulses: &[f64]) -> Result<(), ImpactFailure> {
        self.steps += ended.steps;
        if ended.finished && self.grid.is_new(speeds, &self.list) {
            let impulses = DVector::from_column_slice(impulses);
            let order = Order::Together;
            let outcome = Outcome::of_impulses(self.problem, impulses, order, Vec::new())?;
            self.list.push(outcome);
        }
        Ok(())
    }

    /// Counts a sample that failed; passes on what ends the law.
    fn check(&mut self, simulated: Result<(), ImpactFailure>) -> Result<(), ImpactFailure> {
        match simulated {
            Err(error @ (ImpactFailure::Interrupted | ImpactFailure::Input(_))) => Err(error),
            Err(error) => {
                self.unsolved += 1;
                self.failure.get_or_insert(error);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn end(mut self) -> Result<Outcomes, ImpactFailure> {
        let count = self.unsolved;
        match (self.list.first_mut(), self.failure) {
            (_, None) => {}
            (Some(first), _) => first.remarks.push(Remark::UnsolvedSamples { count }),
            (None, Some(failure)) => return Err(failure),
        }
        Ok(Outcomes::of(self.list, false, self.steps))
    }
}

/// Outcomes by their place along one direction of contact space, in cells: those near a new one
/// are in its cell or in a neighbour.
struct Grid {
    /// Outcomes this near in every speed are one.
    distance: f64,
    /// Its entries are irregular: different outcomes hardly ever share a cell.
    direction: Vec<f64>,
    cell: f64,
    places: HashMap<i64, Vec<usize>>,
}

impl Grid {
    fn new(size: usize, distance: f64) -> Self {
        let direction: Vec<f64> = (0..size).map(|i| symmetric(word(0, i as u64))).collect();
        let width: f64 = direction.iter().map(|d| d.abs()).sum();
        Self {
            distance,
            // Wider than the places of near outcomes are apart, rounding included.
            cell: 1.001 * distance * width,
            direction,
            places: HashMap::new(),
        }
    }

    /// True when no outcome of the list is near these speeds; then they are those of the next one.
    fn is_new(&mut self, speeds: &[f64], list: &[Outcome]) -> bool {
        let along = self.direction.iter().zip(speeds).map(|(d, u)| d * u);
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        let place = (along.sum::<f64>() / self.cell).floor() as i64;
        let cells = [place.saturating_sub(1), place, place.saturating_add(1)];
        let mut known = cells
            .iter()
            .filter_map(|cell| self.places.get(cell))
            .flatten();
        let near = |&k: &usize| {
            let mut pairs = list[k].speeds.iter().zip(speeds);
            pairs.all(|(a, b)| (a - b).abs() <= self.distance)
        };
        if known.any(near) {
            return false;
        }
        self.places.entry(place).or_default().push(list.len());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lcp;
    use nalgebra::{DMatrix, dvector};

    /// Outcomes as given; none is an unsolved step.
    #[derive(Clone)]
    struct Given<'g> {
        problem: &'g ImpactProblem,
        speeds: &'g [Option<f64>],
    }

    impl OutcomeSimulation for Given<'_> {
        fn problem(&self) -> &ImpactProblem {
            self.problem
        }

        fn simulate(
            &mut self,
            sample: u64,
            speeds: &mut [f64],
            impulses: &mut [f64],
        ) -> Result<Ended, ImpactFailure> {
            let at = usize::try_from(sample).unwrap_or_default() % self.speeds.len();
            let Some(speed) = self.speeds[at] else {
                let (residual, allowed) = (sample as f64, 0.0);
                return Err(ImpactFailure::Lcp(lcp::LcpFailure::Residual {
                    residual,
                    allowed,
                }));
            };
            speeds.copy_from_slice(&[speed, 0.0]);
            impulses.copy_from_slice(&[1.0 + speed, 1.0]);
            Ok(Ended {
                steps: 1,
                finished: true,
                residual: 0.0,
            })
        }

        fn another<'a>(&self) -> Box<dyn OutcomeSimulation + 'a>
        where
            Self: 'a,
        {
            Box::new(self.clone())
        }
    }

    fn distinct(
        problem: &ImpactProblem,
        given: &mut Given<'_>,
        samples: u64,
    ) -> Result<Outcomes, ImpactFailure> {
        let mut listing = Listing::new(problem);
        listing.add_samples(given, samples)?;
        listing.end()
    }

    fn problem() -> ImpactProblem {
        ImpactProblem::new(DMatrix::identity(2, 2), dvector![-1.0, -1.0]).unwrap()
    }

    #[test]
    fn unsolved_samples_are_dropped_and_counted() {
        let problem = problem();
        let mut given = Given {
            problem: &problem,
            speeds: &[None, Some(0.0), Some(0.2), None, Some(0.2)],
        };
        let outcomes = distinct(&problem, &mut given, 10).unwrap();
        assert_eq!((outcomes.list.len(), outcomes.effort), (2, 6));
        assert!((outcomes.list[1].speeds[0] - 0.2).abs() < 1e-15);
        let count = 4;
        assert_eq!(
            outcomes.list[0].remarks,
            [Remark::UnsolvedSamples { count }]
        );
        assert!(outcomes.list[1].remarks.is_empty());
        // Without an outcome, the first failure.
        given.speeds = &[None];
        let failure = distinct(&problem, &mut given, 3).unwrap_err();
        assert!(
            failure.to_string().contains('0') && !failure.to_string().contains('2'),
            "{failure}"
        );
    }

    /// The list is that of comparing all pairs.
    #[test]
    fn near_outcomes_are_listed_once() {
        let problem = problem();
        let speeds: Vec<Option<f64>> = (0..3000)
            .map(|k| Some(0.3e-8 * (word(5, k) % 2000) as f64))
            .collect();
        let mut expected: Vec<f64> = Vec::new();
        for speed in speeds.iter().flatten() {
            if expected.iter().all(|known| (known - speed).abs() > MERGED) {
                expected.push(*speed);
            }
        }
        let mut given = Given {
            problem: &problem,
            speeds: &speeds,
        };
        let outcomes = distinct(&problem, &mut given, 3000).unwrap();
        assert_eq!(outcomes.list.len(), expected.len());
        let pairs = outcomes.list.iter().zip(&expected);
        assert!(
            pairs
                .into_iter()
                .all(|(o, e)| (o.speeds[0] - e).abs() < 1e-15)
        );
    }

    /// All pairs of 200 000 outcomes would take minutes.
    #[test]
    fn many_outcomes_are_no_square() {
        let problem = problem();
        let speeds: Vec<Option<f64>> = (0..200_000).map(|k| Some(f64::from(k) * 1e-6)).collect();
        let mut given = Given {
            problem: &problem,
            speeds: &speeds,
        };
        let outcomes = distinct(&problem, &mut given, 200_000).unwrap();
        assert_eq!(outcomes.list.len(), 200_000);
    }
}
