//! A ball in a groove, pushed along it by a force that grows: it sticks at both walls, and the shares of the loads
//! are open.

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, Doubt, EventDriven, Run, Start, Status};

const RADIUS: f64 = 0.1;
/// Slope of the walls (rad).
const SLOPE: f64 = 0.7;

/// Of 1 kg, its velocity and spin in world axes; tangents of both walls are turned about their normals.
#[derive(Clone, Copy)]
struct Ball {
    turn: f64,
    friction: [f64; 2],
    /// Force along the groove (N/s).
    push: f64,
}

impl Ball {
    /// The normal of a wall and its tangents.
    fn frame(&self, j: usize) -> [[f64; 3]; 3] {
        let normal = [[1.0, -1.0][j] * SLOPE.sin(), 0.0, SLOPE.cos()];
        let (along, across) = ([0.0, 1.0, 0.0], [normal[2], 0.0, -normal[0]]);
        let (sin, cos) = self.turn.sin_cos();
        let turned = |a: f64, b: f64| [0, 1, 2].map(|k| a * along[k] + b * across[k]);
        [normal, turned(cos, sin), turned(-sin, cos)]
    }

    fn row(&self, j: usize, along: usize, row: &mut [f64]) {
        let frame = self.frame(j);
        let ([x, y, z], d) = (frame[0].map(|x| -RADIUS * x), frame[along]);
        row[..3].copy_from_slice(&d);
        row[3..].copy_from_slice(&[
            y * d[2] - z * d[1],
            z * d[0] - x * d[2],
            x * d[1] - y * d[0],
        ]);
    }
}

impl MechanicalSystem for Ball {
    fn dof(&self) -> usize {
        6
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        let inertia = 0.4 * RADIUS * RADIUS;
        (0..6).for_each(|k| mass[7 * k] = if k < 3 { 1.0 } else { inertia });
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
        (effort[1], effort[2]) = (self.push * t, -9.81);
    }
}

impl UnilateralConstraints for Ball {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let normal = self.frame(j)[0];
        normal[0] * q[0] + normal[2] * q[2] - RADIUS
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        self.row(j, 0, row);
        true
    }
    fn friction(&self, j: usize) -> f64 {
        self.friction[j]
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        let (first, second) = rows.split_at_mut(6);
        self.row(j, 1, first);
        self.row(j, 2, second);
    }
}

fn rolled(ball: Ball, rtol: f64) -> Run {
    // The turns of a ball do not matter: the integrals of its spin stand for them.
    let q = [0.0, 0.0, RADIUS / SLOPE.cos(), 0.0, 0.0, 0.0];
    let mut driver = EventDriven::new(ContactModel::new(ball))
        .unwrap()
        .rtol(rtol)
        .atol(1e-2 * rtol);
    let start = Start::at(0.0).q(&q).v(&[0.0; 6]);
    let run = driver.integrate(&start, 2.0).unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd, "turn {}", ball.turn);
    run
}

/// Beside a wall at which it sticks it slides along the groove alone, in whatever tangents that is: while it stuck
/// the walls squeezed it across, and friction turns at once.
#[test]
fn a_slip_that_has_one_direction_begins_in_any_tangents() {
    let ball = |turn| Ball {
        turn,
        friction: [0.3, 0.5],
        push: 10.0,
    };
    let base = rolled(ball(0.0), 1e-9);
    let slips = |run: &Run| -> Vec<(f64, Vec<usize>)> {
        let events = run.events().iter();
        events
            .map(|event| (event.t, event.slipped.clone()))
            .collect()
    };
    let expected = slips(&base);
    assert_eq!(expected.len(), 2, "{expected:?}");
    for turn in [0.1, 0.5, 1.0, -2.0] {
        let run = rolled(ball(turn), 1e-9);
        let found = slips(&run);
        assert_eq!(found.len(), 2, "turn {turn}: {found:?}");
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.1, expected.1, "turn {turn}");
            assert!((found.0 - expected.0).abs() < 1e-9, "turn {turn}");
        }
        assert!((run.state() - base.state()).amax() < 1e-6, "turn {turn}");
    }
}

/// Without the stress that wedges it between the walls it would slide from 0.9475 s on with μ = 0.6 and twice the push:
/// both are motions by Coulomb's law.
#[test]
fn a_ball_that_only_some_shares_hold_is_doubted() {
    for (friction, push) in [(0.3, 10.0), (0.6, 20.0)] {
        let ball = Ball {
            turn: 0.0,
            friction: [friction; 2],
            push,
        };
        let run = rolled(ball, 1e-6);
        let is_shared = |doubt: &Doubt| matches!(doubt, Doubt::SharedLoads { .. });
        assert!(run.doubts().iter().any(is_shared), "{:?}", run.doubts());
    }
    // A push that it can bear with any shares does not hang on them.
    let ball = Ball {
        turn: 0.0,
        friction: [0.6; 2],
        push: 1.0,
    };
    let run = rolled(ball, 1e-6);
    assert!(
        run.events().is_empty() && run.is_guaranteed(),
        "{:?}",
        run.doubts()
    );
}
