//! A biped that walks down a slope without a motor, the compass, on feet that may slip.
//!
//! `q = (x, y, θ₀, θ₁)`: the hip, along the slope and off it (m), and the legs from the slope's normal
//! (rad). Foot `j` is at `(x + ℓ sin θ_j, y − ℓ cos θ_j)`. Foot 0 stands, foot 1 swings; it clears the
//! ground while the legs pass each other, as if it had a knee. After a step the legs change their names.

use saltation::event_driven::{ContactEvent, Zeno};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, InputError, Run, Start};

/// Length of a leg, and the place of its mass below the hip (m).
const LEG: f64 = 1.0;
const MASS_AT: f64 = 0.5;
/// Masses of the hip and of a leg (kg).
const HIP: f64 = 10.0;
const MASS: f64 = 5.0;
const GRAVITY: f64 = 9.81;
/// The swinging foot is lifted by this (m) while the legs are closer than this (rad).
const LIFT: f64 = 0.1;
const CLOSE: f64 = 0.45;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Biped {
    pub(crate) slope: f64,
    pub(crate) friction: f64,
}

/// The legs after a step, stance first: angles (rad) and rates (rad/s).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stance {
    pub(crate) angles: [f64; 2],
    pub(crate) rates: [f64; 2],
    /// Speed of the standing foot along the slope (m/s).
    pub(crate) slip: f64,
}

/// A step until the other foot touches down.
pub(crate) struct Step {
    pub(crate) run: Run,
    pub(crate) touchdown: ContactEvent,
    pub(crate) next: Stance,
}

impl Biped {
    /// On the standing foot, at x = 0.
    pub(crate) fn start(stance: Stance) -> ([f64; 4], [f64; 4]) {
        let ([angle, swing], [rate, swings]) = (stance.angles, stance.rates);
        let (sine, cosine) = angle.sin_cos();
        let q = [-LEG * sine, LEG * cosine, angle, swing];
        let hip = [stance.slip - LEG * cosine * rate, -LEG * sine * rate];
        (q, [hip[0], hip[1], rate, swings])
    }

    /// Follows a step; none where the biped falls.
    pub(crate) fn step(self, stance: Stance, rtol: f64) -> Result<Option<Step>, InputError> {
        let (q, v) = Self::start(stance);
        let driver = EventDriven::new(ContactModel::new(self))?;
        let mut driver = driver.rtol(rtol).atol(1e-2 * rtol).zeno(Zeno::Absorb);
        let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), 1.2)?;
        let lands = |event: &&ContactEvent| event.activated == [1] && event.t > 0.1;
        let Some(touchdown) = run.events().iter().find(lands).cloned() else {
            return Ok(None);
        };
        let x = touchdown.state_after.as_slice();
        if x[3] <= x[2] {
            // It stumbles: the foot is not ahead.
            return Ok(None);
        }
        let foot = x[4] + LEG * x[3].cos() * x[7];
        let next = Stance {
            angles: [x[3], x[2]],
            rates: [x[7], x[6]],
            // A foot that sticks has a speed of rounding.
            slip: if foot.abs() > 1e-9 { foot } else { 0.0 },
        };
        Ok(Some(Step {
            run,
            touchdown,
            next,
        }))
    }

    /// Height that the swinging foot is lifted by, and its derivatives by the angle between the legs.
    fn lift(between: f64) -> [f64; 3] {
        let s = between / CLOSE;
        let room = 1.0 - s * s;
        if room <= 0.0 {
            return [0.0; 3];
        }
        let first = -6.0 * LIFT * s * room * room / CLOSE;
        let second = -6.0 * LIFT * room * (1.0 - 5.0 * s * s) / (CLOSE * CLOSE);
        [LIFT * room * room * room, first, second]
    }
}

impl MechanicalSystem for Biped {
    fn dof(&self) -> usize {
        4
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        (mass[0], mass[5]) = (HIP + 2.0 * MASS, HIP + 2.0 * MASS);
        for leg in [2, 3] {
            let (sine, cosine) = q[leg].sin_cos();
            mass[5 * leg] = MASS * MASS_AT * MASS_AT;
            for (axis, part) in [cosine, sine].into_iter().enumerate() {
                mass[4 * leg + axis] = MASS * MASS_AT * part;
                mass[4 * axis + leg] = MASS * MASS_AT * part;
            }
        }
    }
    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        force.fill(0.0);
        for leg in [2, 3] {
            let (sine, cosine) = q[leg].sin_cos();
            let pull = MASS * MASS_AT * v[leg] * v[leg];
            force[0] += pull * sine;
            force[1] -= pull * cosine;
        }
        true
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let (down, into) = (GRAVITY * self.slope.sin(), GRAVITY * self.slope.cos());
        let total = HIP + 2.0 * MASS;
        (effort[0], effort[1]) = (total * down, -total * into);
        for leg in [2, 3] {
            let (sine, cosine) = q[leg].sin_cos();
            effort[leg] = MASS * MASS_AT * (down * cosine - into * sine);
        }
    }
    fn time_scale(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }
}

impl UnilateralConstraints for Biped {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let lift = if j == 1 {
            Self::lift(q[2] - q[3])[0]
        } else {
            0.0
        };
        q[1] - LEG * q[2 + j].cos() + lift
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 1.0, 0.0, 0.0]);
        row[2 + j] = LEG * q[2 + j].sin();
        if j == 1 {
            let by = Self::lift(q[2] - q[3])[1];
            (row[2], row[3]) = (row[2] + by, row[3] - by);
        }
        true
    }
    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        let turn = LEG * q[2 + j].cos() * v[2 + j] * v[2 + j];
        let closing = v[2] - v[3];
        let lift = if j == 1 {
            Self::lift(q[2] - q[3])[2]
        } else {
            0.0
        };
        Some(turn + lift * closing * closing)
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, 0.0, 0.0]);
        rows[2 + j] = LEG * q[2 + j].cos();
    }
}
