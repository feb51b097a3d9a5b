//! Ladders between floor and wall: both ends slip with each other, at speeds of their own, and turn round at one
//! instant.

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Run, Start, Status};

use crate::legged::GRAVITY;
use crate::random_bits::SplitMix64;

/// A rod of 1 kg and 2 m with its centre at `(x, z)` and an angle from the vertical; one tangent, or two, of which
/// nothing moves along the other.
#[derive(Clone, Copy, Debug)]
struct Ladder {
    friction: [f64; 2],
    tangents: usize,
}

impl MechanicalSystem for Ladder {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 / 3.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -GRAVITY, 0.0]);
    }
}

impl UnilateralConstraints for Ladder {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let (sin, cos) = q[2].sin_cos();
        [q[1] - cos, q[0] - sin][j]
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let (sin, cos) = q[2].sin_cos();
        row.copy_from_slice(&[[0.0, 1.0, sin], [1.0, 0.0, -cos]][j]);
        true
    }
    fn friction(&self, j: usize) -> f64 {
        self.friction[j]
    }
    fn tangents(&self, _j: usize) -> usize {
        self.tangents
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let (sin, cos) = q[2].sin_cos();
        rows.fill(0.0);
        let along = [[1.0, 0.0, cos], [0.0, 1.0, -sin]][j];
        // The other tangent is the first one of every other contact.
        let first = if self.tangents == 2 && j == 0 { 3 } else { 0 };
        rows[first..first + 3].copy_from_slice(&along);
    }
}

/// Pushed up, so fast (rad/s).
fn run(ladder: Ladder, angle: f64, speed: f64, t: f64) -> Run {
    let (sin, cos) = angle.sin_cos();
    let (q, v) = ([sin, cos, angle], [-cos * speed, sin * speed, -speed]);
    let driver = EventDriven::new(ContactModel::new(ladder)).expect("a ladder");
    let mut driver = driver.rtol(1e-8).atol(1e-10).max_steps(2_000);
    let start = Start::at(0.0).q(&q).v(&v);
    driver.integrate(&start, t).expect("a start")
}

#[test]
fn ladders_that_turn_round_with_two_tangents_are_those_with_one() {
    let mut turned = 0;
    for seed in 0..40 {
        let mut draw = SplitMix64(7 * seed + 3);
        let friction = [draw.between(0.05, 0.4), draw.between(0.05, 0.4)];
        let (angle, speed) = (draw.between(0.8, 1.3), draw.between(0.1, 0.5));
        let ladder = |tangents| Ladder { friction, tangents };
        let [space, plane] = [2, 1].map(|tangents| run(ladder(tangents), angle, speed, 0.15));
        let ends = [&space, &plane].map(|run| matches!(run.status(), Status::ReachedEnd));
        assert_eq!(ends, [true; 2], "{seed} {:?}", space.status());
        let off = (space.state() - plane.state()).amax();
        assert!(off < 1e-5, "{seed} {off:e}");
        let both = |run: &Run| run.events().iter().filter(|e| e.slipped == [0, 1]).count();
        assert_eq!(
            both(&space),
            both(&plane),
            "{seed} {:?}",
            space.events().len()
        );
        turned += both(&space);
    }
    assert!(turned > 20, "{turned}");
}
