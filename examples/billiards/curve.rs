//! The indeterminacy over the angle, for the three sets of radii.

use std::f64::consts::{FRAC_PI_2, PI};

use saltation::Error;
use saltation::impact::{AllOutcomes, ImpactLaw, indeterminacy};
use saltation::models::ThreeBalls;

/// One set of radii and its curve.
pub(crate) struct Curve {
    pub(crate) name: &'static str,
    pub(crate) balls: ThreeBalls,
    /// Angle [rad] and indeterminacy [%], from the least angle to π.
    pub(crate) points: Vec<(f64, f64)>,
}

impl Curve {
    /// The sets A, B and C of `ThreeBalls`.
    pub(crate) fn of_all_sets(points: u32) -> Result<[Self; 3], Error> {
        let curve = |name, balls| Self::new(name, balls, points);
        Ok([
            curve("RANGE", ThreeBalls::RANGE)?,
            curve("LEAST_ANGLE", ThreeBalls::LEAST_ANGLE)?,
            curve("EQUAL", ThreeBalls::EQUAL)?,
        ])
    }

    fn new(name: &'static str, balls: ThreeBalls, points: u32) -> Result<Self, Error> {
        let least = balls.least_angle();
        // Both ends of the range and the right angle in between are among the points.
        let place = |i: u32, n: u32, a: f64, b: f64| a + (b - a) * f64::from(i) / f64::from(n);
        let half = points / 2;
        let below = (0..half).map(|i| place(i, half, least, FRAC_PI_2));
        let above = (0..=half).map(|i| place(i, half, FRAC_PI_2, PI));
        let points = below
            .chain(above)
            .map(|angle| Ok((angle, percent(balls, angle)?)));
        Ok(Self {
            name,
            balls,
            points: points.collect::<Result<_, Error>>()?,
        })
    }

    /// The highest point beyond the right angle, to about 1e-7 rad.
    pub(crate) fn second_hump(&self) -> Result<(f64, f64), Error> {
        const CELLS: u32 = 300;
        let step = FRAC_PI_2 / f64::from(CELLS);
        let grid = (1..CELLS).map(|i| FRAC_PI_2 + step * f64::from(i));
        let mut best = (FRAC_PI_2, 0.0);
        for angle in grid {
            let height = percent(self.balls, angle)?;
            if height > best.1 {
                best = (angle, height);
            }
        }
        let (mut low, mut high) = (best.0 - step, best.0 + step);
        while high - low > 1e-7 {
            let third = (high - low) / 3.0;
            let [left, right] = [low + third, high - third].map(|angle| percent(self.balls, angle));
            if left? < right? {
                low += third;
            } else {
                high -= third;
            }
        }
        let angle = 0.5 * (low + high);
        Ok((angle, percent(self.balls, angle)?))
    }

    /// The angle beyond which a third reflection is needed, if there is one.
    pub(crate) fn third_reflection(&self) -> Result<Option<f64>, Error> {
        let (mut low, mut high) = (FRAC_PI_2 + 0.01, PI - 0.01);
        if longest_word(self.balls, high)? < 3 {
            return Ok(None);
        }
        while high - low > 1e-13 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if longest_word(self.balls, middle)? < 3 {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(Some(high))
    }
}

/// The indeterminacy in percent.
pub(crate) fn percent(balls: ThreeBalls, angle: f64) -> Result<f64, Error> {
    Ok(100.0 * indeterminacy(&balls.impact(angle)?)?)
}

fn longest_word(balls: ThreeBalls, angle: f64) -> Result<usize, Error> {
    let outcomes = AllOutcomes::new().resolve(&balls.impact(angle)?)?;
    let lengths = outcomes.list.iter().map(|outcome| outcome.word().len());
    Ok(lengths.max().unwrap_or(0))
}
