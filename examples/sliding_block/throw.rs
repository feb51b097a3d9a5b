//! A block that is thrown along a slope: its closed form, its runs and their errors.

use saltation::models::SlidingBlock;
use saltation::{ContactModel, Error, Run, Start, Variational};

/// Speeds between the one that was asked for and a tenth more, for errors.
pub(crate) const PHASES: u32 = 16;

/// A throw along a slope.
pub(crate) struct Throw {
    /// Angle of the slope (rad).
    pub(crate) slope: f64,
    /// Coefficient of friction.
    pub(crate) mu: f64,
    /// Speed at the start (m/s).
    pub(crate) speed: f64,
    /// End (s).
    pub(crate) tf: f64,
}

/// The largest errors over the nodes of runs.
pub(crate) struct Errors {
    /// Step (s).
    pub(crate) step: f64,
    /// Of the place (m).
    pub(crate) place: f64,
    /// Of the speed (m/s).
    pub(crate) speed: f64,
}

impl Throw {
    fn block(&self) -> SlidingBlock {
        SlidingBlock {
            slope: self.slope,
            friction: self.mu,
            ..SlidingBlock::default()
        }
    }

    /// Acceleration of a block that slides in `direction` (m/s²).
    fn sliding(&self, direction: f64) -> f64 {
        let gravity = self.block().gravity;
        -gravity * (self.slope.sin() + self.mu * self.slope.cos() * direction)
    }

    /// Direction in which a block slides that nothing holds.
    fn downhill(&self) -> f64 {
        -self.slope.signum()
    }

    /// Time at which it first stands still, if it does (s).
    pub(crate) fn stop(&self) -> Option<f64> {
        if self.speed == 0.0 {
            return Some(0.0);
        }
        let time = -self.speed / self.sliding(self.speed.signum());
        (time > 0.0).then_some(time)
    }

    /// True when friction holds a block at rest.
    pub(crate) fn sticks(&self) -> bool {
        self.slope.abs() <= self.mu.atan()
    }

    /// Place and speed in closed form (m, m/s).
    pub(crate) fn exact(&self, t: f64) -> [f64; 2] {
        let along = |a: f64, v: f64, t: f64| [t * (v + 0.5 * a * t), v + a * t];
        let first = self.sliding(self.speed.signum());
        match self.stop() {
            Some(stop) if t > stop => {
                let [summit, _] = along(first, self.speed, stop);
                if self.sticks() {
                    return [summit, 0.0];
                }
                let [back, speed] = along(self.sliding(self.downhill()), 0.0, t - stop);
                [summit + back, speed]
            }
            _ => along(first, self.speed, t),
        }
    }

    /// What happens, in words.
    pub(crate) fn story(&self) -> String {
        match self.stop() {
            Some(stop) if stop <= self.tf => {
                let then = if self.sticks() {
                    "stays"
                } else {
                    "slides back"
                };
                let [place, _] = self.exact(stop);
                format!("stops at {stop:.9} s, {place:.9} m, and {then}")
            }
            _ => format!("does not stop within {} s", self.tf),
        }
    }

    /// The run with a step (s).
    pub(crate) fn run(&self, step: f64) -> Result<Run, Error> {
        let run = Variational::new(ContactModel::new(self.block()))?
            .time_step(step)
            .frictionless_impacts()
            .integrate(
                &Start::at(0.0).q(&[0.0, 0.0]).v(&[self.speed, 0.0]),
                self.tf,
            )?;
        Ok(run.completed()?)
    }

    /// The errors with `step` and its halves. They depend on where within a step the block stops,
    /// so that they are the largest of throws at `PHASES` speeds.
    pub(crate) fn errors(&self, step: f64, halvings: u32) -> Result<Vec<Errors>, Error> {
        (0..=halvings)
            .map(|k| {
                let step = step * 0.5f64.powi(k.cast_signed());
                let (mut place, mut speed) = (0.0f64, 0.0f64);
                for phase in 0..PHASES {
                    let more = 0.1 * f64::from(phase) / f64::from(PHASES);
                    let throw = Self {
                        speed: self.speed * (1.0 + more),
                        ..*self
                    };
                    let run = throw.run(step)?;
                    for (k, &t) in run.times().iter().enumerate() {
                        let [x, v] = throw.exact(t);
                        place = place.max((run.q(k)[0] - x).abs());
                        speed = speed.max((run.v(k)[0] - v).abs());
                    }
                }
                Ok(Errors { step, place, speed })
            })
            .collect()
    }
}
