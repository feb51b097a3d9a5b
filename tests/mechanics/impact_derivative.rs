//! The derivative of an impact, asked for directly.

use saltation::ContactModel;
use saltation::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use saltation::{Crossed, CrossedGuard, Displacement, EventFunction, Flow, Guard};

/// Two points of 1 kg on floors of their own, tied by nothing, or carried by an arm that presses
/// both: masses and rows are constant.
#[derive(Clone, Copy)]
struct Pair {
    restitution: fn(f64) -> f64,
    /// Force of a muscle that is switched by the touch of the first point, on both.
    muscle: f64,
    /// The second gap is `z2 − part · z1`.
    part: f64,
}

const PAIR: Pair = Pair {
    restitution: |_| 0.0,
    muscle: 0.0,
    part: 0.0,
};

impl MechanicalSystem for Pair {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[-10.0, -10.0]);
    }
    fn effort_along(&self, _: State<'_>, _: &[f64], out: &mut [f64]) -> bool {
        out.fill(0.0);
        true
    }
    fn contact_effort(
        &self,
        State { q, v, .. }: State<'_>,
        closed: &[usize],
        effort: &mut [f64],
    ) -> bool {
        if closed.contains(&0) {
            effort[0] -= self.muscle;
            effort[1] -= self.muscle * q[1] * v[1];
        }
        self.muscle != 0.0
    }
}

impl UnilateralConstraints for Pair {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        if j == 0 {
            q[0]
        } else {
            q[1] - self.part * q[0]
        }
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&if j == 0 {
            [1.0, 0.0]
        } else {
            [-self.part, 1.0]
        });
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn restitution(&self, j: usize, _q: &[f64], v: &[f64]) -> f64 {
        (self.restitution)(v[j])
    }
}

/// The derivative of the reset along `dx` when contact 1 closes at `x`, of the closed ones.
fn second_closes(pair: Pair, x: &[f64; 4], closed: &[usize], dx: [f64; 4]) -> [f64; 4] {
    let set = [CrossedGuard {
        guard: Guard::falling(1),
        rate: x[3] - pair.part * x[2],
    }];
    let mut out = [f64::NAN; 4];
    let model = ContactModel::new(pair);
    let mode = model.mode(closed).having(1, false);
    let (crossed, along) = (Crossed::new(&set), Displacement { dt: 0.0, dx: &dx });
    assert!(model.reset_times(0.0, &crossed, x, &mode, along, &mut out));
    out
}

/// `v⁺ = −e(v) v` has the derivative `−e − e′ v`, however long a step differences could take with a
/// constant coefficient.
#[test]
fn restitution_that_depends_on_speed_is_differentiated_too() {
    let pair = Pair {
        restitution: |v| 0.5 / (1.0 + 10.0 * v * v),
        ..PAIR
    };
    let v = -3.0f64;
    let out = second_closes(pair, &[1.0, 0.0, 0.0, v], &[], [0.0, 0.0, 0.0, 1.0]);
    let square = 1.0 + 10.0 * v * v;
    let expected = -0.5 / square + 0.5 * 20.0 * v * v / (square * square);
    assert!((out[3] - expected).abs() < 1e-9, "{} {expected}", out[3]);
    assert!(out[..3].iter().all(|&entry| entry == 0.0));
}

/// Where a contact is closed there are neighbours along it only: displacements off it count as
/// their part along it.
#[test]
fn closed_contacts_are_held_among_neighbours() {
    let pair = Pair { part: 0.5, ..PAIR };
    let x = [0.0, 0.0, 0.0, -2.0];
    for off in [0.0, 1.0, -1.0] {
        // The gap of the second is brought to zero, its speed too: plastic.
        let out = second_closes(pair, &x, &[0], [off, 0.0, off, 1.0]);
        assert!(
            out[0].abs() + out[2].abs() + out[3].abs() < 1e-12,
            "{out:?}"
        );
    }
    let free = second_closes(pair, &[1.0, 0.5, 0.0, -2.0], &[], [0.0, 0.0, 1.0, 0.0]);
    // Plastic along (−½, 1): what is left is the projection on (1, ½).
    assert!(
        (free[2] - 0.8).abs() < 1e-12 && (free[3] - 0.4).abs() < 1e-12,
        "{free:?}"
    );
}

/// Efforts that contacts switch depend on the state too, beside a derivative that is written for
/// the others.
#[test]
fn switched_efforts_are_part_of_the_derivative_of_the_motion() {
    let pair = Pair {
        muscle: 3.0,
        ..PAIR
    };
    let model = ContactModel::new(pair);
    let (x, v) = ([0.0, 0.7, 0.0, 0.4], [0.0, 1.0, 0.0, 2.0]);
    for (closed, expected) in [(&[][..], 0.0), (&[0], -3.0 * (0.4 + 2.0 * 0.7))] {
        let mut out = [f64::NAN; 4];
        assert!(model.jacobian_times(0.0, &x, &model.mode(closed), &v, &mut out));
        assert!((out[3] - expected).abs() < 1e-8, "{out:?} {expected}");
        assert!(out[0].abs() + (out[1] - 2.0).abs() + out[2].abs() < 1e-8);
    }
}
