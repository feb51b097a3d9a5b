//! A rod that lands level on its two ends: with the inertia `m l²` neither end feels the impact of
//! the other, and the derivative is one matrix; with any other inertia outcomes jump. Written rows
//! or differences of the gaps, any unit of the angle: the verdict is the same.

use saltation::Start;
use saltation::derivative::Verdict;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven};

use crate::random::SplitMix64;

/// Height of the middle and pitch.
#[derive(Clone, Copy, Debug)]
struct Rod {
    /// Mass (kg), half its length (m).
    mass: f64,
    half: f64,
    /// Inertia over `m l²`, less one.
    excess: f64,
    restitution: f64,
    /// Height of the floor (m), and the pitch at which it is level (rad).
    floor: f64,
    level: f64,
    /// The unit of the pitch (rad).
    unit: f64,
    written: bool,
}

const SIDES: [f64; 2] = [1.0, -1.0];

impl MechanicalSystem for Rod {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        let arm = self.half * self.unit;
        let inertia = self.mass * arm * arm * (1.0 + self.excess);
        mass.copy_from_slice(&[self.mass, 0.0, 0.0, inertia]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[-9.81 * self.mass, 0.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
}

impl UnilateralConstraints for Rod {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[0] - self.floor + SIDES[j] * self.half * (self.unit * q[1] - self.level).sin()
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let arm = SIDES[j] * self.half * self.unit;
        row.copy_from_slice(&[1.0, arm * (self.unit * q[1] - self.level).cos()]);
        self.written
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}

/// A fall on a level floor.
#[derive(Clone, Copy, Debug)]
struct Fall {
    rod: Rod,
    height: f64,
    speed: f64,
    rtol: f64,
}

impl Fall {
    /// One of an angle in radians and a floor at zero.
    fn draw(seed: u64) -> Self {
        let mut draw = SplitMix64(seed);
        Self {
            rod: Rod {
                mass: 10f64.powf(draw.between(-0.5, 0.5)),
                half: draw.between(0.2, 1.0),
                excess: 0.0,
                restitution: [1.0, draw.between(0.3, 1.0)][usize::from(seed.is_multiple_of(2))],
                floor: 0.0,
                level: 0.0,
                unit: 1.0,
                written: false,
            },
            height: draw.between(0.5, 2.0),
            speed: draw.between(-2.0, 0.5),
            rtol: 10f64.powf(draw.between(-10.0, -4.0)),
        }
    }

    /// The verdict when the ends start level but for `tilt` (rad).
    fn verdict(&self, tilt: f64) -> Verdict {
        let Self {
            rod,
            height,
            speed,
            rtol,
        } = *self;
        let landing = (speed + (speed * speed + 19.62 * height).sqrt()) / 9.81;
        let q = [rod.floor + height, (rod.level + tilt) / rod.unit];
        let mut simulation = EventDriven::new(ContactModel::new(rod))
            .unwrap()
            .rtol(rtol)
            .atol(0.1 * rtol);
        let derivative =
            simulation.derivative(&Start::at(0.0).q(&q).v(&[speed, 0.0]), 1.03 * landing);
        let derivative = derivative.unwrap();
        assert_eq!(derivative.corners().count(), 1, "{self:?} {tilt:e}");
        derivative.verdict().clone()
    }

    fn is_told_from_coupled(&self, tilt: f64) {
        assert_eq!(
            self.verdict(tilt),
            Verdict::Classical,
            "{self:?} {tilt:e}: decoupled"
        );
        for excess in [1e-4, -1e-4, 1e-7] {
            let rod = Rod { excess, ..self.rod };
            let verdict = Self { rod, ..*self }.verdict(tilt);
            assert!(
                matches!(verdict, Verdict::Discontinuous { .. }),
                "{self:?} {tilt:e}: {excess:e} {verdict}"
            );
        }
    }
}

/// Without optimisation a few.
const RUNS: u64 = if cfg!(debug_assertions) { 4 } else { 60 };

#[test]
fn rows_by_differences_do_not_couple_the_ends() {
    for seed in 0..RUNS {
        for unit in [1.0, 6.3, 57.0] {
            let mut fall = Fall::draw(seed);
            fall.rod.unit = unit;
            fall.is_told_from_coupled(0.0);
        }
    }
}

#[test]
fn rounding_does_not_couple_the_ends() {
    // The pitch is a large number of small units, and is rounded like it; at equal distances all
    // alike with some of these seeds.
    let seeds: Vec<u64> = if cfg!(debug_assertions) {
        vec![22, 44, 60, 116, 122, 167, 386]
    } else {
        (0..500).collect()
    };
    for seed in seeds {
        let mut draw = SplitMix64(seed + 1000);
        let mut fall = Fall::draw(seed);
        fall.rod.floor = draw.between(-3.0, 3.0);
        fall.rod.level = draw.between(-1.0, 1.0);
        fall.rod.unit = 10f64.powf(draw.between(-2.0, 0.0));
        fall.rtol = 1e-6;
        fall.is_told_from_coupled(0.0);
    }
}

#[test]
fn what_gravity_does_between_the_ends_does_not_couple_them() {
    // The other end lands up to 9e-10 s later: one instant, in which the rod becomes as much faster.
    for seed in 0..RUNS {
        for written in [true, false] {
            let mut draw = SplitMix64(seed + 2000);
            let mut fall = Fall::draw(seed);
            fall.rod.written = written;
            // Slow, so that it counts.
            (fall.height, fall.speed) = (1e-2 * fall.height, 1e-2 * fall.speed);
            let later = 10f64.powf(draw.between(-11.5, -9.05));
            let landing = (fall.speed * fall.speed + 19.62 * fall.height).sqrt();
            let tilt = 0.5 * later * landing / fall.rod.half * SIDES[usize::from(written)];
            fall.is_told_from_coupled(tilt);
        }
    }
}
