//! Friction of a gap that is no distance: normals and tangents of contacts with friction are of one
//! length and orthogonal, where that is seen.

use saltation::impact::AnitescuPotra;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints, check_mechanics};
use saltation::{ContactModel, EventDriven, InputError, Start, Variational};

/// A particle or a body `(x, z)` or `(x, z, θ)` on the slope `z = 0.75 x`: the gap is `factor` times
/// the distance of the particle, or of a point of the body, and the tangent `longer` times a unit
/// one, turned by `skew`.
#[derive(Clone, Copy, Debug)]
struct OnSlope {
    turns: bool,
    factor: f64,
    longer: f64,
    skew: f64,
    friction: f64,
    constant: bool,
}

const RIGHT: OnSlope = OnSlope {
    turns: false,
    factor: 1.0,
    longer: 1.0,
    skew: 0.0,
    friction: 0.3,
    constant: true,
};

impl OnSlope {
    fn row(&self, [x, z]: [f64; 2], length: f64, row: &mut [f64]) {
        row[..2].copy_from_slice(&[length * x, length * z]);
        if self.turns {
            // At a point 0.5 below and 0.2 beside the centre of mass.
            row[2] = length * (0.5 * x + 0.2 * z);
        }
    }
}

impl MechanicalSystem for OnSlope {
    fn dof(&self) -> usize {
        2 + usize::from(self.turns)
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        let d = self.dof();
        for i in 0..d {
            mass[i * (d + 1)] = if i < 2 { 2.0 } else { 0.7 };
        }
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
        effort[1] = -2.0 * 9.81;
    }
    fn constant_mass(&self) -> bool {
        self.constant
    }
}

impl UnilateralConstraints for OnSlope {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        let mut row = [0.0; 3];
        self.row([-0.6, 0.8], self.factor, &mut row);
        row.iter().zip(q).map(|(row, q)| row * q).sum()
    }
    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        self.row([-0.6, 0.8], self.factor, row);
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        let (sine, cosine) = self.skew.sin_cos();
        let along = [0.8 * cosine - 0.6 * sine, 0.6 * cosine + 0.8 * sine];
        self.row(along, self.longer, rows);
    }
}

/// What the driver with friction says at its door.
fn refusal(slope: OnSlope) -> Option<InputError> {
    let (q, v) = (vec![0.0; slope.dof()], vec![0.0; slope.dof()]);
    let mut resting =
        EventDriven::new(ContactModel::with_law(slope, AnitescuPotra::new())).unwrap();
    let run = resting.integrate(&Start::at(0.0).q(&q).v(&v), 0.1);
    let at_rest = run.map(|run| run.completed().unwrap()).err();
    // In flight they are refused likewise, and not without friction.
    let mut flying = q;
    flying[1] = 1.0;
    let simulate = |model: ContactModel<OnSlope>| {
        EventDriven::new(model)
            .unwrap()
            .integrate(&Start::at(0.0).q(&flying).v(&v), 0.1)
            .map(|run| run.completed().unwrap())
            .err()
    };
    assert_eq!(
        simulate(ContactModel::with_law(slope, AnitescuPotra::new())),
        at_rest
    );
    assert_eq!(simulate(ContactModel::new(slope).frictionless()), None);
    // The door of the variational driver, on the slope and off it.
    for q in [&vec![0.0; slope.dof()], &flying] {
        let step = |driver: Variational<OnSlope>| {
            driver
                .time_step(0.01)
                .integrate(&Start::at(0.0).q(q).v(&v), 0.1)
                .map(|run| run.completed().unwrap())
                .err()
        };
        let rough = Variational::new(ContactModel::with_law(slope, AnitescuPotra::new())).unwrap();
        assert_eq!(step(rough), at_rest);
        let rough = Variational::new(ContactModel::new(slope)).unwrap();
        assert_eq!(step(rough.frictionless_impacts()), at_rest);
        let smooth = Variational::new(ContactModel::new(slope).frictionless()).unwrap();
        assert_eq!(step(smooth), None);
    }
    at_rest
}

#[test]
fn friction_of_a_gap_that_is_no_distance_is_refused() {
    for turns in [false, true] {
        let right = OnSlope { turns, ..RIGHT };
        for (wrong, normal, tangent, cosine) in [
            (
                OnSlope {
                    factor: 2.0,
                    ..right
                },
                2.0,
                1.0,
                0.0,
            ),
            (
                OnSlope {
                    factor: 0.1,
                    ..right
                },
                0.1,
                1.0,
                0.0,
            ),
            (
                OnSlope {
                    longer: 3.0,
                    ..right
                },
                1.0,
                3.0,
                0.0,
            ),
            (
                OnSlope {
                    factor: 2.0,
                    longer: 3.0,
                    ..right
                },
                2.0,
                3.0,
                0.0,
            ),
            (OnSlope { skew: 0.1, ..right }, 1.0, 1.0, -0.1f64.sin()),
            (
                OnSlope {
                    factor: 1.00001,
                    ..right
                },
                1.00001,
                1.0,
                0.0,
            ),
        ] {
            let Some(InputError::ContactFrame {
                contact: 0,
                normal: n,
                tangent: t,
                cosine: c,
            }) = refusal(wrong)
            else {
                panic!("{wrong:?} is not refused");
            };
            let off = (n - normal).abs() + (t - tangent).abs() + (c.abs() - cosine.abs()).abs();
            assert!(off < 1e-8, "{wrong:?}: {n} {t} {c}");
            let report = check_mechanics(
                &wrong,
                0.0,
                &vec![0.1; right.dof()],
                &vec![0.0; right.dof()],
            );
            assert!(!report.unwrap().agrees(1e-6), "{wrong:?}");
            // The check sees by itself that the mass is constant. Then one row is to be in metres.
            let unsaid = OnSlope {
                constant: false,
                ..wrong
            };
            let q = vec![0.1; right.dof()];
            let report = check_mechanics(&unsaid, 0.0, &q, &vec![0.0; right.dof()]);
            let is_seen = !report.unwrap().agrees(1e-6);
            let has_unit_row = [normal, tangent].iter().any(|row| (row - 1.0).abs() < 1e-9);
            assert_eq!(is_seen, has_unit_row, "{unsaid:?}");
        }
    }
}

/// Where it cannot be seen, or makes no difference, nothing is refused.
#[test]
fn rows_that_fit_or_cannot_be_seen_are_taken() {
    for turns in [false, true] {
        let right = OnSlope { turns, ..RIGHT };
        for good in [
            right,
            // Both longer: forces are right.
            OnSlope {
                factor: 2.0,
                longer: 2.0,
                ..right
            },
            OnSlope {
                factor: 2.0,
                friction: 0.0,
                ..right
            },
            // What is said not to be constant is not looked at.
            OnSlope {
                factor: 2.0,
                constant: false,
                ..right
            },
            OnSlope {
                factor: 1.0 + 1e-8,
                ..right
            },
            // Rows of zeros: a contact without friction.
            OnSlope {
                factor: 2.0,
                friction: 0.0,
                longer: 0.0,
                ..right
            },
        ] {
            assert_eq!(refusal(good), None, "{good:?}");
        }
        // With friction nobody has written them.
        let unwritten = OnSlope {
            longer: 0.0,
            ..right
        };
        let refused = InputError::TangentsUnwritten { contact: 0 };
        assert_eq!(refusal(unwritten), Some(refused));
        let report = check_mechanics(
            &right,
            0.0,
            &vec![0.1; right.dof()],
            &vec![0.0; right.dof()],
        );
        assert!(report.unwrap().agrees(1e-6));
    }
}

/// From the slope and from above: what drives it down the slope acts without end, and a plastic
/// impact takes nothing along it.
#[test]
fn a_contact_whose_tangents_are_zeros_slides_freely() {
    let smooth = OnSlope {
        friction: 0.0,
        longer: 0.0,
        ..RIGHT
    };
    for height in [0.0, 0.3] {
        let driver = EventDriven::new(ContactModel::with_law(smooth, AnitescuPotra::new()));
        let mut driver = driver.unwrap().rtol(1e-9).atol(1e-11);
        let run = driver.integrate(&Start::at(0.0).q(&[0.0, height]).v(&[0.0; 2]), 0.5);
        let run = run.unwrap().completed().unwrap();
        let pull = 0.6 * 9.81;
        let (way, speed) = (0.6 * height - 0.5 * pull * 0.25, -0.5 * pull);
        let expected = [0.8 * way, 0.6 * way, 0.8 * speed, 0.6 * speed];
        for (found, expected) in run.state().iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-8,
                "{height}: {found} {expected}"
            );
        }
    }
}

/// Two levers of one inertia are no particle, and say so.
#[test]
fn a_system_that_is_no_particle_says_that_its_mass_is_not_constant() {
    let levers = OnSlope {
        factor: 1.3,
        ..RIGHT
    };
    assert!(refusal(levers).is_some());
    assert!(
        refusal(OnSlope {
            constant: false,
            ..levers
        })
        .is_none()
    );
}

/// Two discs of one mass, `(x_1, x_2, z_1, z_2)`; the first touches the floor.
struct TwoDiscs;

impl MechanicalSystem for TwoDiscs {
    fn dof(&self) -> usize {
        4
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for i in 0..4 {
            mass[5 * i] = 2.0;
        }
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, 0.0, -19.62, -19.62]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
}

impl UnilateralConstraints for TwoDiscs {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[2]
    }
    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 0.0, 1.0, 0.0]);
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        0.3
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, 0.0, 0.0]);
    }
}

/// Their ways along the floor were taken for the shifts of one body, in which the normal is zero.
#[test]
fn two_bodies_of_one_mass_are_not_one_that_shifts() {
    let model = ContactModel::with_law(TwoDiscs, AnitescuPotra::new());
    let run = EventDriven::new(model)
        .unwrap()
        .integrate(
            &Start::at(0.0)
                .q(&[0.0, 3.0, 0.0, 2.0])
                .v(&[1.0, 0.0, 0.0, 0.0]),
            0.2,
        )
        .unwrap()
        .completed()
        .unwrap();
    // It slides, held back by friction.
    assert!((run.state()[4] - (1.0 - 0.3 * 9.81 * 0.2)).abs() < 1e-6);
}
