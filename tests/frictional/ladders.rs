//! Ladders between floor and wall: both ends slip with each other, at speeds of their own, and turn round at one
//! instant.

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Run, Start, Status};

use crate::legged::GRAVITY;
use crate::random_bits::SplitMix64;

/// A uniform ladder of length 2 and mass 1, its foot on the floor (contact 0), its top at a wall
/// (contact 1): `(x, y, θ)`; with one tangent a contact, or with two, of which nothing moves along the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ladder {
    pub(crate) friction: [f64; 2],
    pub(crate) tangents: usize,
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
        [q[1] - q[2].sin(), q[0] - q[2].cos()][j]
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[[0.0, 1.0, -q[2].cos()], [1.0, 0.0, q[2].sin()]][j]);
        true
    }
    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        Some([q[2].sin(), q[2].cos()][j] * v[2] * v[2])
    }
    fn friction(&self, j: usize) -> f64 {
        self.friction[j]
    }
    fn tangents(&self, _j: usize) -> usize {
        self.tangents
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        rows.fill(0.0);
        // Of two, the one along which it moves comes second on the floor.
        let first = if self.tangents == 2 && j == 0 { 3 } else { 0 };
        let row = [[1.0, 0.0, -q[2].sin()], [0.0, 1.0, q[2].cos()]][j];
        rows[first..first + 3].copy_from_slice(&row);
    }
}

/// Pushed up, so fast (rad/s). Of the ladders below two were stopped without end, with these tolerances.
fn run(ladder: Ladder, angle: f64, speed: f64, t: f64) -> Run {
    let (sin, cos) = angle.sin_cos();
    let (q, v) = ([cos, sin, angle], [-sin * speed, cos * speed, speed]);
    let driver = EventDriven::new(ContactModel::new(ladder)).expect("a ladder");
    let mut driver = driver.max_steps(2_000);
    let start = Start::at(0.0).q(&q).v(&v);
    driver.integrate(&start, t).expect("a start")
}

#[test]
fn ladders_that_turn_round_with_two_tangents_are_those_with_one() {
    let mut turned = 0;
    for seed in 0..40 {
        let mut draw = SplitMix64(7 * seed + 3);
        let friction = [draw.between(0.05, 0.4), draw.between(0.05, 0.4)];
        let (angle, speed) = (draw.between(0.2, 0.8), draw.between(0.1, 0.5));
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
