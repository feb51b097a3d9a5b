//! The set of outcomes of inelastic impacts with friction, as samples of it.

use std::collections::HashMap;

use nalgebra::DVector;

use crate::impact::{
    Failure, ImpactLaw, ImpactProblem, LcpSteps, Order, Outcome, OutcomeSimulation, Outcomes,
    Remark,
};
use crate::random::{symmetric, word};
use crate::validate;

/// Speeds closer than this part of the greatest are one outcome.
const MERGED: f64 = 1e-8;
/// Most numbers of all outcomes: 80 MB.
const NUMBERS: usize = 10_000_000;

/// Inelastic impact with Coulomb friction in which contacts share the impulse in any way and at
/// will (Halm & Posa): the set of outcomes, as far as some samples show it.
///
/// The samples are those of [`LcpSteps`] with the numbers 0, 1, …. Unfinished ones are dropped.
/// Those of which a step was not solved are dropped too, and the first outcome says how many they
/// are ([`Remark::UnsolvedSamples`]). Each velocity is listed once (to 1e-8 of the greatest speed),
/// in the order of the samples. The set is never complete: a run needs a [`Selection`](crate::impact::Selection) other than
/// `Single`. For many samples [`LcpSteps::start`] is cheaper: it keeps nothing.
///
/// Coefficients of restitution are not read. [`Outcomes::effort`] is the number of steps.
///
/// # Errors
/// Those of [`LcpSteps::start`]; [`Failure::Interrupted`]; [`Failure::Lcp`], that of the first
/// sample not solved, where no sample finishes;
/// [`InputError::BadSetting`](crate::InputError::BadSetting) for more than 10⁷ numbers of samples
/// times rows.
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

    fn resolve(&self, problem: &ImpactProblem) -> Result<Outcomes, Failure> {
        let size = problem.speeds().len();
        let count = usize::try_from(self.samples).unwrap_or(usize::MAX);
        let kept = count.saturating_mul(size) <= NUMBERS;
        let rule = "must make at most 10000000 numbers with the rows of the problem";
        validate::unless(kept, "samples", self.samples as f64, rule)?;
        distinct(problem, &mut self.steps.start(problem)?, self.samples)
    }
}

/// The distinct outcomes of the samples below a number.
fn distinct(
    problem: &ImpactProblem,
    simulation: &mut dyn OutcomeSimulation,
    samples: u64,
) -> Result<Outcomes, Failure> {
    let size = problem.speeds().len();
    let mut list: Vec<Outcome> = Vec::new();
    let mut grid = Grid::new(size, MERGED * problem.speeds().amax());
    let (mut effort, mut count, mut failure) = (0, 0, None);
    let (mut speeds, mut impulses) = (DVector::zeros(size), DVector::zeros(size));
    for sample in 0..samples {
        let ended = simulation.simulate(sample, speeds.as_mut_slice(), impulses.as_mut_slice());
        let ended = match ended {
            Ok(ended) => ended,
            Err(error @ (Failure::Interrupted | Failure::Input(_))) => return Err(error),
            Err(error) => {
                count += 1;
                failure.get_or_insert(error);
                continue;
            }
        };
        effort += ended.steps;
        if ended.finished && grid.is_new(&speeds, &list) {
            let order = Order::Together;
            list.push(Outcome::of_impulses(
                problem,
                impulses.clone(),
                order,
                Vec::new(),
            )?);
        }
    }
    match (list.first_mut(), failure) {
        (_, None) => {}
        (Some(first), _) => first.remarks.push(Remark::UnsolvedSamples { count }),
        (None, Some(failure)) => return Err(failure),
    }
    Ok(Outcomes {
        list,
        is_complete: false,
        effort,
    })
}

/// Outcomes by their place along one direction of contact space, in cells: those near a new one
/// are in its cell or in a neighbour.
struct Grid {
    /// Outcomes this near in every speed are one.
    distance: f64,
    /// Its entries are irregular: different outcomes hardly ever share a cell.
    direction: DVector<f64>,
    cell: f64,
    places: HashMap<i64, Vec<usize>>,
}

impl Grid {
    fn new(size: usize, distance: f64) -> Self {
        let direction = DVector::from_fn(size, |i, _| symmetric(word(0, i as u64)));
        Self {
            distance,
            // Wider than the places of near outcomes are apart, rounding included.
            cell: 1.001 * distance * direction.lp_norm(1),
            direction,
            places: HashMap::new(),
        }
    }

    /// Whether no outcome of the list is near these speeds; then they are those of the next one.
    fn is_new(&mut self, speeds: &DVector<f64>, list: &[Outcome]) -> bool {
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        let place = (self.direction.dot(speeds) / self.cell).floor() as i64;
        let cells = [place.saturating_sub(1), place, place.saturating_add(1)];
        let mut known = cells
            .iter()
            .filter_map(|cell| self.places.get(cell))
            .flatten();
        let near = |&k: &usize| (&list[k].speeds - speeds).amax() <= self.distance;
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
    use crate::impact::Ended;
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
        ) -> Result<Ended, Failure> {
            let at = usize::try_from(sample).unwrap_or_default() % self.speeds.len();
            let Some(speed) = self.speeds[at] else {
                let (residual, allowed) = (sample as f64, 0.0);
                return Err(Failure::Lcp(lcp::Failure::Residual { residual, allowed }));
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
        let speeds: Vec<f64> = outcomes.list.iter().map(|o| o.speeds[0]).collect();
        assert_eq!((speeds, outcomes.effort), (vec![0.0, 0.2], 6));
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
