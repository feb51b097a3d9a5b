//! Bodies with a unit quaternion in `q` and their angular velocity in `v`, `q̇ = N(q) v`: free
//! motion in closed form, a box that falls on its corners against the same box with Euler angles.

use saltation::derivative::{Dual, RealField};
use saltation::mechanics::{
    MechanicalSystem, SmoothConstraints, SmoothMechanics, UnilateralConstraints, check_mechanics,
};
use saltation::nalgebra::{Quaternion, UnitQuaternion, Vector3};
use saltation::{ContactModel, EventDriven};
use saltation::{Flow, InputError, Run, Start, Status, Stop, Verdict};

use crate::fixtures::tumbling::{Angles, BOX, Body, ByHand, angular, up, up_of_angles};
use crate::random::SplitMix64;

/// A start in both descriptions: height, angles, velocity, rates of the angles.
fn starts(height: f64, angles: [f64; 3], rates: [f64; 3]) -> [(Vec<f64>, Vec<f64>); 2] {
    let turn = UnitQuaternion::from_euler_angles(angles[0], angles[1], angles[2]);
    let by_angles = [&[0.1, -0.2, height][..], &angles].concat();
    let columns = angular(&by_angles);
    let spin: [f64; 3] =
        std::array::from_fn(|l| (0..3).map(|i| columns[i][l] * rates[i]).sum::<f64>());
    let speed = [0.3, 0.1, -0.5];
    let quaternion = [turn.w, turn.i, turn.j, turn.k];
    [
        (
            [&[0.1, -0.2, height][..], &quaternion].concat(),
            [speed, spin].concat(),
        ),
        (by_angles, [speed, rates].concat()),
    ]
}

fn simulation<S: MechanicalSystem + UnilateralConstraints>(system: S) -> EventDriven<S> {
    EventDriven::new(ContactModel::new(system))
        .unwrap()
        .rtol(1e-11)
        .atol(1e-12)
}

/// A free top, two of its inertias equal: it turns about its axis while that turns about the
/// momentum, `q(t) = exp(½ t L/I₁) q₀ exp(½ t Ω e₃)`, `Ω = (1 − I₃/I₁) ω₃`.
#[test]
fn a_free_top_is_that_of_the_closed_form() {
    let body = Body {
        inertia: [0.2, 0.2, 0.5],
        gravity: 0.0,
        ..BOX
    };
    let (q, _) = starts(50.0, [0.4, -0.3, 1.1], [0.0; 3])[0].clone();
    let spin = Vector3::new(1.3, -0.4, 2.1);
    let v = [&[0.0; 3][..], spin.as_slice()].concat();
    let run = simulation(Dual(body))
        .integrate(&Start::at(0.0).q(&q).v(&v), 5.0)
        .unwrap();
    let state = run.completed().unwrap().state().clone();
    let start = UnitQuaternion::new_normalize(Quaternion::new(q[3], q[4], q[5], q[6]));
    let momentum = start * Vector3::new(0.2 * spin.x, 0.2 * spin.y, 0.5 * spin.z);
    let own = Vector3::z() * (1.0 - 0.5 / 0.2) * spin.z;
    let turned = |by: Vector3<f64>| UnitQuaternion::from_scaled_axis(by * 5.0);
    let end = turned(momentum / 0.2) * start * turned(own);
    let found =
        UnitQuaternion::new_unchecked(Quaternion::new(state[3], state[4], state[5], state[6]));
    assert!(found.angle_to(&end) < 1e-8, "{:e}", found.angle_to(&end));
    // The component along the axis stays, the others turn at −Ω.
    assert!((state[12] - spin.z).abs() < 1e-9);
    let back = UnitQuaternion::from_scaled_axis(-own * 5.0) * spin;
    assert!((state[10] - back.x).abs() < 1e-8 && (state[11] - back.y).abs() < 1e-8);
}

/// Three different inertias, near the unstable axis: energy, spatial angular momentum and the
/// length of the quaternion stay.
#[test]
fn a_free_body_keeps_energy_momentum_and_length() {
    let body = Body {
        gravity: 0.0,
        ..BOX
    };
    let (q, _) = starts(50.0, [0.4, -0.3, 1.1], [0.0; 3])[0].clone();
    let v = [0.1, 0.2, -0.3, 0.02, 3.0, -0.01];
    let mut simulation = simulation(Dual(body));
    let run = simulation
        .integrate(&Start::at(0.0).q(&q).v(&v), 20.0)
        .unwrap()
        .completed()
        .unwrap();
    let momentum = |x: &[f64]| {
        let turn = UnitQuaternion::new_unchecked(Quaternion::new(x[3], x[4], x[5], x[6]));
        turn * Vector3::from_fn(|k, _| body.inertia[k] * x[10 + k])
    };
    let start = [&q[..], &v].concat();
    let (energy, before) = (simulation.model().energy(&start).unwrap(), momentum(&start));
    let mut flipped = false;
    for &t in run.times() {
        let x = run.state_at(t).unwrap();
        let length = x.as_slice()[3..7].iter().map(|q| q * q).sum::<f64>();
        assert!((length - 1.0).abs() < 1e-14, "{:e} at {t}", length - 1.0);
        assert!((simulation.model().energy(x.as_slice()).unwrap() - energy).abs() < 1e-8);
        assert!((momentum(x.as_slice()) - before).norm() < 1e-8);
        flipped |= x[11] < -2.9;
    }
    assert!(flipped, "the middle axis is unstable");
}

/// Impacts and slides on the corners, by quaternion (exact rows, written ones, differences) and by
/// angles.
#[test]
fn a_box_falls_on_its_corners_as_with_angles() {
    let cases = [
        (0.5, [0.4, 0.5, 0.2], [0.3, -0.2, 0.5], 0.44),
        (0.0, [0.4, 0.5, 0.2], [-0.3, 0.2, 0.5], 0.36),
        (0.0, [0.4, 0.5, 0.2], [1.0, 1.5, 0.0], 0.36),
        (0.2, [-0.7, 0.3, 1.0], [1.0, 0.4, -2.0], 0.42),
    ];
    for (restitution, angles, rates, end) in cases {
        let body = Body { restitution, ..BOX };
        let [(q, v), (q_angles, v_angles)] = starts(0.9, angles, rates);
        let by_angles = simulation(Dual(Angles(body)))
            .integrate(&Start::at(0.0).q(&q_angles).v(&v_angles), end)
            .unwrap();
        let by_angles = by_angles.completed().unwrap();
        let x = by_angles.state();
        let columns = angular(x.as_slice());
        let spin: [f64; 3] =
            std::array::from_fn(|l| (0..3).map(|i| columns[i][l] * x[9 + i]).sum());
        let expected = [
            &x.as_slice()[..3],
            &up_of_angles(x.as_slice()),
            &x.as_slice()[6..9],
            &spin,
        ]
        .concat();
        assert!(!by_angles.events().is_empty());
        let compare = |run: Run, within: f64| {
            let run = run.completed().unwrap();
            assert_eq!(run.events().len(), by_angles.events().len());
            for (a, b) in run.events().iter().zip(by_angles.events()) {
                assert_eq!((&a.activated, &a.mode_after), (&b.activated, &b.mode_after));
                assert!((a.t - b.t).abs() < within);
                for (p, r) in a.impulses.iter().zip(&b.impulses) {
                    assert!((p - r).abs() < within, "{p} {r}");
                }
            }
            let x = run.state();
            let found = [&x.as_slice()[..3], &up(x.as_slice()), &x.as_slice()[7..]].concat();
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).abs() < within, "{found:?}\n{expected:?}");
            }
            let length = x.as_slice()[3..7].iter().map(|q| q * q).sum::<f64>();
            assert!((length - 1.0).abs() < 1e-14);
        };
        compare(
            simulation(Dual(body))
                .integrate(&Start::at(0.0).q(&q).v(&v), end)
                .unwrap(),
            1e-8,
        );
        for (rows, curvatures) in [(true, true), (true, false), (false, false)] {
            let system = ByHand {
                body,
                rows,
                curvatures,
            };
            // Differences of rows are good to 1e-10, those of curvatures to 1e-7.
            let within = if curvatures { 1e-8 } else { 1e-6 };
            compare(
                simulation(system)
                    .integrate(&Start::at(0.0).q(&q).v(&v), end)
                    .unwrap(),
                within,
            );
        }
    }
}

#[test]
fn what_is_written_agrees_with_differences() {
    let mut draw = SplitMix64(5);
    for _ in 0..20 {
        let turn = UnitQuaternion::from_euler_angles(draw.unit(), 3.0 * draw.unit(), draw.unit());
        let q = [0.3, -0.1, 0.8, turn.w, turn.i, turn.j, turn.k];
        let v: [f64; 6] = std::array::from_fn(|_| draw.between(-2.0, 2.0));
        let by_hand = ByHand {
            body: BOX,
            rows: true,
            curvatures: true,
        };
        for report in [
            check_mechanics(&by_hand, 0.0, &q, &v).unwrap(),
            check_mechanics(&Dual(BOX), 0.0, &q, &v).unwrap(),
        ] {
            assert!(report.agrees(1e-6), "{report}");
            // The force and its power, eight rows and curvatures, at least; velocities twice.
            assert!(report.compared >= 2 * 7 + 8 * (6 + 2));
        }
        let (mut row, mut dual) = ([0.0; 6], [0.0; 6]);
        for j in 0..8 {
            assert!(by_hand.gap_row(j, &q, &mut row) && Dual(BOX).gap_row(j, &q, &mut dual));
            let bent =
                by_hand.curvature(j, &q, &v).unwrap() - Dual(BOX).curvature(j, &q, &v).unwrap();
            assert!(bent.abs() < 1e-13);
            for (row, dual) in row.iter().zip(dual) {
                assert!((row - dual).abs() < 1e-14);
            }
        }
    }
}

/// A Coriolis force, which a check must tell from `−ω × I ω`.
#[derive(Clone, Copy)]
enum Force {
    Unwritten,
    /// With the other sign, which has no power either.
    Reversed,
}

#[derive(Clone, Copy)]
struct Wrong(Force);

impl SmoothMechanics for Wrong {
    fn dof(&self) -> usize {
        6
    }
    fn coordinates(&self) -> usize {
        7
    }
    fn configuration_rate<T: RealField + Copy>(&self, q: &[T], v: &[T], rate: &mut [T]) -> bool {
        BOX.configuration_rate(q, v, rate)
    }
    fn mass<T: RealField + Copy>(&self, q: &[T], mass: &mut [T]) {
        BOX.mass(q, mass);
    }
    fn effort<T: RealField + Copy>(&self, t: T, q: &[T], v: &[T], effort: &mut [T]) {
        BOX.effort(t, q, v, effort);
    }
    fn coriolis<T: RealField + Copy>(&self, q: &[T], v: &[T], force: &mut [T]) -> bool {
        if let Force::Reversed = self.0 {
            BOX.coriolis(q, v, force);
            for f in force.iter_mut() {
                *f = -*f;
            }
            return true;
        }
        false
    }
}

impl SmoothConstraints for Wrong {
    fn contacts(&self) -> usize {
        8
    }
    fn gap<T: RealField + Copy>(&self, j: usize, q: &[T]) -> T {
        BOX.gap(j, q)
    }
}

#[test]
fn a_coriolis_force_that_is_not_written_is_refused_and_a_wrong_one_found() {
    let [(q, v), _] = starts(0.9, [0.4, 0.5, 0.2], [0.3, -0.2, 0.5]);
    let system = Dual(Wrong(Force::Unwritten));
    let refused = simulation(system)
        .integrate(&Start::at(0.0).q(&q).v(&v), 1.0)
        .err();
    assert_eq!(refused, Some(InputError::CoriolisUnwritten));
    assert_eq!(
        check_mechanics(&system, 0.0, &q, &v).err(),
        Some(Stop::Input(InputError::CoriolisUnwritten))
    );
    // The core, which asks for no start, finds no motion.
    let start = [&q[..], &v].concat();
    let model = ContactModel::new(system);
    let run = saltation::Integrator::new(model)
        .unwrap()
        .integrate(&Start::at(0.0).x(&start), 1.0);
    assert!(matches!(
        run.unwrap().status(),
        Status::Refused(Stop::NotFinite { .. })
    ));

    let report = check_mechanics(&Dual(Wrong(Force::Reversed)), 0.0, &q, &v).unwrap();
    assert!(!report.agrees(1e-2), "{report}");
}

#[test]
fn lengths_are_those_of_coordinates_and_velocities() {
    let mut simulation = simulation(Dual(BOX));
    assert_eq!(simulation.model().dim(), 13);
    for (q, v) in [(6, 6), (7, 7), (6, 7)] {
        let refused = simulation.integrate(&Start::at(0.0).q(&vec![0.5; q]).v(&vec![0.0; v]), 1.0);
        assert!(matches!(refused, Err(InputError::WrongLength { .. })));
    }
}

/// Derivatives along directions within the manifold, through an impact, a closed contact and the
/// corrections of the quaternion, are those of whole runs.
#[test]
fn derivatives_are_those_of_whole_runs() {
    // The corner is thrown back, or stays on the floor.
    for (restitution, rates) in [(0.5, [0.3, -0.2, 0.5]), (0.0, [1.0, 1.5, 0.0])] {
        let body = Body { restitution, ..BOX };
        let [(q, v), _] = starts(0.9, [0.4, 0.5, 0.2], rates);
        for rows in [true, false] {
            let system = ByHand {
                body,
                rows,
                curvatures: rows,
            };
            let mut simulation = simulation(system);
            let mut draw = SplitMix64(3);
            for _ in 0..2 {
                let [shift, dv] = [(); 2].map(|()| [(); 6].map(|()| draw.between(-1.0, 1.0)));
                let mut dq = [0.0; 7];
                body.configuration_rate(&q, &shift, &mut dq);
                let derivative = simulation
                    .derivative(&Start::at(0.0).q(&q).v(&v), 0.3)
                    .unwrap();
                assert_eq!(*derivative.verdict(), Verdict::Classical);
                let given = derivative.apply(&[&dq[..], &dv].concat()).unwrap();
                let mut at = |s: f64| {
                    let q: Vec<f64> = q.iter().zip(&dq).map(|(q, d)| q + s * d).collect();
                    let v: Vec<f64> = v.iter().zip(&dv).map(|(v, d)| v + s * d).collect();
                    let run = simulation
                        .integrate(&Start::at(0.0).q(&q).v(&v), 0.3)
                        .unwrap()
                        .completed()
                        .unwrap();
                    let modes: Vec<_> = run.events().iter().map(|e| &e.mode_after[..]).collect();
                    assert_eq!(modes, [if restitution > 0.0 { &[][..] } else { &[1] }]);
                    run.state().clone()
                };
                let mut over = |s: f64| (at(s) - at(-s)) / (2.0 * s);
                // Two steps, so that the error s² cancels.
                let difference = (over(2e-4) * 4.0 - over(4e-4)) / 3.0;
                let error = (&given - &difference).amax() / difference.amax();
                // Rows by differences are good to 1e-11 or so; the derivative of an impact is a
                // difference of them, over a step of 6e-6.
                let within = if rows { 1e-8 } else { 1e-5 };
                assert!(error < within, "{error:e}\n{given}{difference}");
            }
        }
    }
}
