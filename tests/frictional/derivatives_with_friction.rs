//! Derivatives through stick and slip, impacts with friction and their corners: closed forms, the
//! identities of saltation matrices, and verdicts where there is no single derivative.

use std::cell::Cell;

use saltation::derivative::saltation_matrix;
use saltation::event_driven::Zeno;
use saltation::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use saltation::models::Particle;
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{ContactModel, EventDriven, Guard, NoDerivative, Start, Verdict};

use crate::legged::GRAVITY;
use crate::random_derivatives::{Differences, Planar, driver};
use crate::slips_in_space::{Sphere, disc};
use crate::stick_slip::Forced;

fn unit(dim: usize, axis: usize) -> Vec<f64> {
    (0..dim).map(|i| f64::from(u8::from(i == axis))).collect()
}

fn start(x: &[f64]) -> Start<'_> {
    let (q, v) = x.split_at(x.len() / 2);
    Start::at(0.0).q(q).v(v)
}

/// A block thrown along the floor stops after `v²/(2 μ g)`.
#[test]
fn the_way_of_a_block_that_stops_grows_with_its_speed() {
    let (mu, speed) = (0.4, 3.0);
    let block = Forced {
        friction: mu,
        force: |_: f64| [0.0, -GRAVITY],
    };
    let found = driver(block).derivative(&start(&[0.0, 0.0, speed, 0.0]), 1.5);
    let found = found.unwrap();
    assert_eq!(*found.verdict(), Verdict::Classical);
    let matrix = found.matrix().unwrap();
    let mut expected = DMatrix::zeros(4, 4);
    (expected[(0, 0)], expected[(0, 2)]) = (1.0, speed / (mu * GRAVITY));
    // What moves off the floor comes back with the friction of its impulses, and the same what presses.
    expected[(0, 3)] = speed / GRAVITY;
    assert!((&matrix - &expected).amax() < 1e-10, "{matrix}");
    let row = found.event_time_row(0).unwrap();
    assert!((row[2] - 1.0 / (mu * GRAVITY)).abs() < 1e-10, "{row}");
}

/// `Dh Ξ = 0` where a slip comes to stick, `Dh Ξ = (Dh F⁺/Dh F⁻) Dh` where it turns round, and `Ξ = 1` of
/// what sticks where it begins to slip.
#[test]
fn saltation_matrices_of_slips_keep_their_identities() {
    for (force, turns) in [(1.0, false), (6.0, true)] {
        let block = Forced {
            friction: 0.4,
            force: move |_: f64| [-force, -GRAVITY],
        };
        let model = ContactModel::new(block);
        let mode = model.start(&start(&[0.0, 0.0, 1.0, 0.0])).unwrap().mode;
        let at = [0.3, 0.0, 0.0, 0.0];
        let found = saltation_matrix(&model, Guard::falling(2), 0.0, &at, &mode).unwrap();
        let row = DVector::from_vec(vec![0.0, 0.0, 1.0, 0.0]);
        let behind = found.matrix.tr_mul(&row);
        let rub = 0.4 * GRAVITY;
        let ratio = if turns {
            (rub - force) / (-rub - force)
        } else {
            0.0
        };
        assert!((&behind - ratio * &row).amax() < 1e-10, "{behind}");
        // Positions are continuous to first order.
        let places = found.matrix.rows(0, 2).into_owned();
        let kept = DMatrix::identity(2, 4);
        // Beside the height, which is held.
        assert!((places.row(0) - kept.row(0)).amax() < 1e-10, "{places}");
    }
    // A pull that grows through the edge of the cone.
    let block = Forced {
        friction: 0.4,
        force: |t: f64| [0.4 * GRAVITY + t, -GRAVITY],
    };
    let model = ContactModel::new(block);
    let mode = model.mode(&[0]);
    let at = [0.3, 0.0, 0.0, 0.0];
    let found = saltation_matrix(&model, Guard::falling(4), 0.0, &at, &mode).unwrap();
    let along = DVector::from_vec(unit(4, 0));
    let off = (&found.matrix * &along - &along).amax();
    assert!(off < 1e-10, "{}", found.matrix);
}

/// A sphere slips in the direction of `u₀` for `T = |u₀|/(μ g (1 + 1/c))` and rolls on.
#[test]
fn the_end_of_a_sphere_that_comes_to_roll_has_a_closed_form() {
    let (radius, mu, c, tf) = (0.1, 0.2, 0.4, 1.0);
    let end = |v: [f64; 4]| {
        let [vx, vy, wx, wy] = v;
        let u = [vx - radius * wy, vy + radius * wx];
        let speed = u[0].hypot(u[1]);
        let time = speed / (mu * GRAVITY * (1.0 + 1.0 / c));
        let along = |v: f64, u: f64| {
            let rolls = v - mu * GRAVITY * time * u / speed;
            [0.5 * (v + rolls) * time + rolls * (tf - time), rolls]
        };
        let [[x, vx], [y, vy]] = [along(vx, u[0]), along(vy, u[1])];
        // It rolls: v = ω × r.
        [x, y, vx, vy, -vy / radius, vx / radius]
    };
    let mut x = [0.0; 12];
    x[2] = radius;
    let sphere = Sphere {
        radius,
        friction: mu,
    };
    // Along a tangent, and between the two.
    for wx in [0.0, 10.0, 30.0, -50.0] {
        x[6..].copy_from_slice(&[2.0, 0.0, 0.0, wx, -10.0, 5.0]);
        let found = driver(sphere).derivative(&start(&x), tf).unwrap();
        assert_eq!(*found.verdict(), Verdict::Classical);
        let matrix = found.matrix().unwrap();
        let base = [2.0, 0.0, wx, -10.0];
        for (k, axis) in [6, 7, 9, 10].into_iter().enumerate() {
            // A difference of fourth order of the closed form.
            let step = 1e-3;
            let at = |part: f64| {
                let mut moved = base;
                moved[k] += part * step;
                DVector::from_row_slice(&end(moved))
            };
            let near = (at(1.0) - at(-1.0)) * 8.0;
            let expected = (near - (at(2.0) - at(-2.0))) / (12.0 * step);
            for (place, row) in [0, 1, 6, 7, 9, 10].into_iter().enumerate() {
                let off = matrix[(row, axis)] - expected[place];
                assert!(off.abs() < 1e-9, "{row} {axis} {off:e}");
            }
        }
    }
}

/// The stop of a puck on an incline: `v (k + cos ψ) = v₀ (k + cos ψ₀) − g sin α (k² − 1) t`.
#[test]
fn the_stop_of_a_puck_shifts_with_its_velocity() {
    let (slope, mu) = (20_f64.to_radians(), 0.5);
    let puck = Particle {
        slope,
        friction: mu,
        ..Particle::default()
    };
    let x = [0.0, 0.0, 0.0, 0.0, 3.0, 0.0];
    let found = driver(puck).derivative(&start(&x), 2.0).unwrap();
    assert_eq!(*found.verdict(), Verdict::Classical);
    let k = mu / slope.tan();
    let braking = GRAVITY * slope.sin() * (k * k - 1.0);
    // T = (k v + v_down)/braking; turns of tangents come before the stop.
    let crossings = found.run().crossings().len();
    let row = found.event_time_row(crossings - 1).unwrap();
    let expected = [1.0 / braking, k / braking];
    for (entry, expected) in row.iter().skip(3).zip(expected) {
        assert!((entry - expected).abs() < 1e-6, "{row}");
    }
    let matrix = found.matrix().unwrap();
    for axis in [0, 1, 3, 4] {
        let along = unit(6, axis);
        let differences = Differences::of(&puck, &x, &along, 2.0).unwrap();
        let off = (matrix.column(axis) - &differences.central).amax();
        assert!(off < differences.tolerance(), "{axis} {off:e}");
    }
}

/// Legs that stop one after another, and two at one instant by the joint that is left to them.
#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "a quarter of a minute without optimisation"
)]
fn a_disc_that_pivots_about_a_leg_has_one_derivative() {
    let mut x = [0.0; 12];
    (x[6], x[9]) = (2.0, 3.0);
    let found = driver(disc()).derivative(&start(&x), 1.0).unwrap();
    assert_eq!(*found.verdict(), Verdict::Classical);
    let matrix = found.matrix().unwrap();
    for axis in [6, 9] {
        let differences = Differences::of(&disc(), &x, &unit(12, axis), 1.0).unwrap();
        let off = (matrix.column(axis) - &differences.central).amax();
        assert!(off < differences.tolerance(), "{axis} {off:e}");
    }
}

/// A point with restitution that strikes a floor.
fn point(friction: f64, restitution: f64) -> Planar {
    Planar {
        mass: [1.0; 3],
        feet: vec![[0.0; 2]],
        friction: vec![friction],
        restitution,
        gravity: [0.0; 2],
        pull: [[0.0; 3]; 2],
        frequency: 1.0,
        spring: 0.0,
    }
}

/// At the border of stick and slip an impact bends: no matrix is given there, and the right one close by.
#[test]
fn an_impact_at_the_border_of_stick_and_slip_has_no_matrix() {
    for restitution in [0.0, 0.5] {
        let body = point(0.4, restitution);
        // It sticks below |u| = μ (1 + e) |u_n|, but for the slip of the foot by the air's drag.
        let border = 0.4 * (1.0 + restitution) * 2.0 * (0.1_f64 * 0.5).exp();
        for beside in [0.0, 1e-9, -1e-9] {
            let x = [0.0, 1.0, 0.0, border + beside, -2.0, 0.0];
            let found = driver(body.clone()).derivative(&start(&x), 0.8).unwrap();
            let sides = Differences::of(&body, &x, &unit(6, 3), 0.8).unwrap();
            assert!(!sides.have_one_side(), "{beside:e}");
            let Verdict::NotGuaranteed(NoDerivative::DifferencesDisagree { .. }) = found.verdict()
            else {
                panic!("{restitution} {beside:e} {}", found.verdict())
            };
            assert!(found.matrix().is_err() && found.apply(&unit(6, 3)).is_err());
        }
        // Without a load one that sticks is on the edge of its cone at the end.
        let besides = [-1e-6, 1e-6, -1e-2, 1e-2];
        for beside in besides.into_iter().filter(|_| restitution > 0.0) {
            let x = [0.0, 1.0, 0.0, border + beside, -2.0, 0.0];
            let found = driver(body.clone()).derivative(&start(&x), 0.8).unwrap();
            // A millionth away runs do not tell either, but the derivative is that of its side.
            let far = [0.0, 1.0, 0.0, border + beside.signum() * 1e-2, -2.0, 0.0];
            let differences = Differences::of(&body, &far, &unit(6, 3), 0.8).unwrap();
            let matrix = found.matrix().unwrap();
            let off = (matrix.column(3) - &differences.central).amax();
            assert!(
                off < 1e-2 && (beside.abs() < 1e-3 || off < 1e-6),
                "{beside:e} {off:e}"
            );
        }
    }
}

/// From rest beyond the edge of the cone it slips at once: neighbours that move the other way turn round
/// first.
#[test]
fn a_start_that_slips_at_once_has_a_derivative_to_one_side() {
    let block = Forced {
        friction: 0.4,
        force: |_: f64| [6.0, -GRAVITY],
    };
    let x = [0.0; 4];
    let found = driver(&block).derivative(&start(&x), 1.0).unwrap();
    assert!(
        matches!(found.verdict(), Verdict::OneSided { .. }),
        "{}",
        found.verdict()
    );
    let sides = Differences::of(&block, &x, &unit(4, 2), 1.0).unwrap();
    assert!(!sides.have_one_side());
    let ahead = found.apply(&unit(4, 2)).unwrap();
    assert!((ahead - &sides.sides[0]).amax() < 1e-6);
    assert!(matches!(
        found.apply_backward(&unit(4, 2)),
        Err(NoDerivative::OneSided { .. })
    ));
}

/// At rest on the edge of its cone: neighbours that move slip on, or stick again.
#[test]
fn a_start_on_the_edge_of_the_cone_refuses_what_makes_it_slip() {
    for growth in [1.0, -1.0] {
        let block = Forced {
            friction: 0.4,
            force: move |t: f64| [0.4 * GRAVITY + growth * t, -GRAVITY],
        };
        let found = driver(&block).derivative(&start(&[0.0; 4]), 1.0).unwrap();
        assert!(
            matches!(found.verdict(), Verdict::OneSided { .. }),
            "{}",
            found.verdict()
        );
        let along = found.apply(&unit(4, 0)).unwrap();
        assert!((along - DVector::from_vec(unit(4, 0))).amax() < 1e-9);
        for axis in [2, 3] {
            let (ahead, behind) = (
                found.apply(&unit(4, axis)),
                found.apply_backward(&unit(4, axis)),
            );
            assert!(ahead.is_err() && behind.is_err(), "{growth} {axis}");
        }
    }
}

/// Within its cone a contact that is made to slip sticks again at once.
#[test]
fn a_start_at_rest_forgets_the_slip_of_its_neighbours() {
    let block = Planar {
        pull: [[1.0, 0.0, 0.0], [0.0; 3]],
        gravity: [0.0, -GRAVITY],
        feet: vec![[-0.5, -0.4], [0.5, -0.4]],
        friction: vec![0.3, 0.3],
        ..point(0.0, 0.0)
    };
    let x = [0.0, 0.4, 0.0, 0.0, 0.0, 0.0];
    let found = driver(block.clone()).derivative(&start(&x), 0.5).unwrap();
    assert_eq!(*found.verdict(), Verdict::Classical);
    for axis in [0, 3] {
        let sides = Differences::of(&block, &x, &unit(6, axis), 0.5).unwrap();
        let column = found.matrix().unwrap().column(axis).into_owned();
        let off = (column - &sides.central).amax();
        assert!(sides.have_one_side() && off < 1e-4, "{axis} {off:e}");
    }
}

/// Where a slip comes to rest without a rate, neighbours stop or pass.
#[test]
fn a_stop_without_a_rate_is_not_guaranteed() {
    let block = Forced {
        friction: 0.4,
        force: |t: f64| [3.0 * t, -GRAVITY],
    };
    let rub = 0.4 * GRAVITY;
    let x = [0.0, 0.0, rub * rub / 6.0, 0.0];
    let found = driver(&block).derivative(&start(&x), 2.0).unwrap();
    assert!(
        matches!(found.verdict(), Verdict::NotGuaranteed(_)),
        "{}",
        found.verdict()
    );
    assert!(found.matrix().is_err());
    let sides = Differences::of(&block, &x, &unit(4, 2), 2.0).unwrap();
    assert!(!sides.have_one_side());
}

/// The derivative follows an accumulation impact by impact until rebounds are too low: what is left of it
/// beyond is small, and runs that sum it up agree.
#[test]
fn an_accumulation_is_followed_impact_by_impact() {
    let ball = Planar {
        gravity: [0.0, -GRAVITY],
        ..point(0.1, 0.4)
    };
    let x = [0.0, 0.3, 0.0, 2.0, 0.0, 0.0];
    let mut driver = driver(ball).zeno(Zeno::Absorb);
    let found = driver.derivative(&start(&x), 1.5).unwrap();
    let Ok(matrix) = found.matrix() else {
        assert!(matches!(found.verdict(), Verdict::NotGuaranteed(_)));
        return;
    };
    for axis in [0, 1, 3, 4] {
        let mut end = |part: f64| {
            let mut moved = x;
            moved[axis] += part;
            let run = driver.integrate(&start(&moved), 1.5).unwrap();
            run.completed().unwrap().state().clone()
        };
        let difference = (end(1e-4) - end(-1e-4)) / 2e-4;
        let off = (matrix.column(axis) - difference).amax();
        assert!(off < 1e-5, "{axis} {off:e}");
    }
}

/// Two feet that land and slip at one instant: the orders have one map. Feet that stick jump with the
/// order, as far as single impacts say.
#[test]
fn two_feet_that_land_at_once_slip_or_are_refused() {
    let block = |friction: f64| Planar {
        gravity: [0.0, -GRAVITY],
        feet: vec![[-0.5, -0.4], [0.5, -0.4]],
        friction: vec![friction; 2],
        mass: [1.0, 1.0, 0.2],
        ..point(0.0, 0.0)
    };
    let x = [0.0, 0.6, 0.0, 2.0, -0.5, 0.0];
    let found = driver(block(0.2)).derivative(&start(&x), 0.5).unwrap();
    assert_eq!(*found.verdict(), Verdict::Classical);
    let matrix = found.matrix().unwrap();
    for axis in 0..6 {
        let sides = Differences::of(&block(0.2), &x, &unit(6, axis), 0.5).unwrap();
        let off = (matrix.column(axis) - &sides.central).amax();
        assert!(
            sides.have_one_side() && off < sides.tolerance(),
            "{axis} {off:e}"
        );
    }
    let x = [0.0, 0.6, 0.0, 0.2, -0.5, 0.0];
    let found = driver(block(0.8)).derivative(&start(&x), 0.5).unwrap();
    assert!(
        matches!(found.verdict(), Verdict::Discontinuous { .. }),
        "{}",
        found.verdict()
    );
    assert!(found.matrix().is_err());
}

/// A ladder at a wall, `(x, y, θ)`, pulled at its foot in proportion to the way of a body that passes.
#[derive(Clone, Copy)]
struct PulledLadder;

impl MechanicalSystem for PulledLadder {
    fn dof(&self) -> usize {
        4
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        m.fill(0.0);
        for (k, mass) in [1.0, 1.0, 1.0 / 3.0, 1.0].into_iter().enumerate() {
            m[5 * k] = mass;
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], f: &mut [f64]) {
        f.copy_from_slice(&[q[3], -GRAVITY, q[3] * q[2].sin(), 0.0]);
    }
}

impl UnilateralConstraints for PulledLadder {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        [q[1] - q[2].sin(), q[0] - q[2].cos()][j]
    }
    fn friction(&self, _j: usize) -> f64 {
        0.5
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let (sin, cos) = q[2].sin_cos();
        rows.copy_from_slice(&[[1.0, 0.0, -sin, 0.0], [0.0, 1.0, cos, 0.0]][j]);
    }
}

/// Contacts that depend on each other give way where no forces hold them, and accelerations may jump, as at
/// 70°. The distance of the loads leaves zero there, and may count as a touch.
#[test]
fn a_ladder_that_gives_way_is_right_or_not_guaranteed() {
    // Without optimisation the steeper one, which jumps.
    let first = usize::from(cfg!(debug_assertions));
    for degrees in [60.0_f64, 70.0].into_iter().skip(first) {
        let theta = degrees.to_radians();
        let x = [theta.cos(), theta.sin(), theta, 0.0, 0.0, 0.0, 0.0, 4.0];
        let found = driver(PulledLadder).derivative(&start(&x), 1.2).unwrap();
        let Ok(matrix) = found.matrix() else {
            let reason = found.verdict();
            let touches = matches!(
                reason,
                Verdict::NotGuaranteed(NoDerivative::Touch { guard, .. }) if guard.event == 10
            );
            assert!(touches, "{reason}");
            continue;
        };
        // By the pull at the start.
        let sides = Differences::of(&PulledLadder, &x, &unit(8, 7), 1.2).unwrap();
        let off = (matrix.column(7) - &sides.central).amax();
        assert!(sides.have_one_side(), "{degrees}");
        assert!(off < sides.tolerance(), "{degrees} {off:e}");
    }
}

/// A block on the floor pulled by a spring, whose effort has a derivative that is written.
struct Pulled {
    /// What the written derivative is multiplied by.
    factor: f64,
    asked: Cell<usize>,
}

impl MechanicalSystem for Pulled {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        m.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], f: &mut [f64]) {
        f.copy_from_slice(&[-4.0 * q[0], -GRAVITY]);
    }
    fn effort_along(&self, _at: State<'_>, directions: &[f64], out: &mut [f64]) -> bool {
        self.asked.set(self.asked.get() + 1);
        for (dx, out) in directions.chunks_exact(4).zip(out.chunks_exact_mut(2)) {
            out.copy_from_slice(&[-4.0 * self.factor * dx[0], 0.0]);
        }
        true
    }
}

impl UnilateralConstraints for Pulled {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1]
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        0.2
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn constant_tangents(&self, _j: usize) -> bool {
        true
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0]);
    }
}

/// Derivatives of efforts that are written are used, not differences, where contacts slip too.
#[test]
fn written_derivatives_are_used_with_friction() {
    let of = |factor: f64| {
        let system = Pulled {
            factor,
            asked: Cell::new(0),
        };
        let mut driver: EventDriven<Pulled> = driver(system);
        let found = driver
            .derivative(&start(&[0.0, 0.0, 3.0, 0.0]), 0.5)
            .unwrap();
        assert!(driver.model().system().asked.get() > 0);
        found.matrix().unwrap()
    };
    // x'' = −4 x − μ g: cos 2t and sin 2t/2.
    let (sin, cos) = 1_f64.sin_cos();
    let right = of(1.0);
    let expected = [[cos, 0.5 * sin], [-2.0 * sin, cos]];
    for (i, row) in expected.iter().enumerate() {
        for (j, expected) in row.iter().enumerate() {
            let off = right[(2 * i, 2 * j)] - expected;
            assert!(off.abs() < 1e-9, "{i} {j} {off:e}");
        }
    }
    // A wrong one shows.
    assert!((of(0.0)[(0, 2)] - 0.5).abs() < 1e-9);
}
