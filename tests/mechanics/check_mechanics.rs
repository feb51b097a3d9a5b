//! `check_mechanics`: what is right passes, what is wrong is named.

use saltation::derivative::{DerivativeReport, Partial};
use saltation::mechanics::{MechanicalSystem, State, UnilateralConstraints, check_mechanics};
use saltation::models::{BouncingBall, RigidTrot, SoftTrot};
use saltation::{InputError, MatrixFault, Quantity, Stop};

use crate::fixtures::family::Family;
use crate::random::SplitMix64;

#[test]
fn the_models_agree() {
    let mut draw = SplitMix64(5);
    let mut vector = |d: usize| -> Vec<f64> { (0..d).map(|_| draw.between(-1.0, 1.0)).collect() };
    for _ in 0..20 {
        let (q, v) = (vector(2), vector(2));
        let report = check_mechanics(&RigidTrot::default(), 0.0, &q, &v).unwrap();
        assert!(report.agrees(1e-8), "{report}");
        // a constant mass by two coordinates, efforts along four, two rows, two curvatures at two
        // velocities
        assert_eq!(report.compared, 8 + 8 + 2 * (2 + 2));
        let (q, v) = (vector(4), vector(4));
        let coupled = SoftTrot {
            coupling: 2.0,
            ..SoftTrot::default()
        };
        let report = check_mechanics(&coupled, 0.0, &q, &v).unwrap();
        assert!(report.agrees(1e-8), "{report}");
        // efforts along eight, two constant rows by four
        assert_eq!(report.compared, 64 + 32 + 2 * (4 + 16));
        let report = check_mechanics(&BouncingBall::default(), 0.0, &q[..1], &v[..1]).unwrap();
        assert!(
            report.agrees(1e-8) && report.compared == 1 + 2 + 1 + 1,
            "{report}"
        );
    }
    for (limbs, seed) in [(1, 1), (2, 2), (3, 3)] {
        let family = Family::random(limbs, 0.5, seed);
        let (q, v) = (vector(family.dof()), vector(family.dof()));
        let report = check_mechanics(&family, 0.3, &q, &v).unwrap();
        assert!(report.agrees(1e-8), "{report}");
        let d = family.dof();
        assert_eq!(report.compared, 2 * (d + 1) + limbs * (d + 2));
    }
}

/// One thing to get wrong.
#[derive(Clone, Copy, PartialEq)]
enum Slip {
    None,
    Coriolis,
    Unwritten,
    Sign,
    Row,
    Curvature,
    Constant,
    Mirror,
    Negative,
    Wild,
    Effort,
    Along,
    Straight,
    Gap,
    Edge,
}

/// A polar coordinate: `q = (r, φ)`, `M = diag(1, r²)`, outside the circle `r = 1` and beside the
/// line `x = 2`.
struct Polar(Slip);

impl MechanicalSystem for Polar {
    fn dof(&self) -> usize {
        2
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, q[0] * q[0]]);
        match self.0 {
            Slip::Mirror => mass[1] = 0.1,
            Slip::Negative => mass.copy_from_slice(&[1.0, 2.0, 2.0, 1.0]),
            Slip::Wild => mass[3] = f64::NAN,
            Slip::Edge if q[1] != Q[1] => mass[0] = f64::INFINITY,
            _ => {}
        }
    }

    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = 0.0;
        if self.0 != Slip::Effort {
            effort[1] = 0.0;
        }
    }

    fn effort_along(&self, _: State<'_>, along: &[f64], out: &mut [f64]) -> bool {
        out.fill(0.0);
        if self.0 == Slip::Along {
            out[0] = along[1];
        }
        true
    }

    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        // r'' = r φ'², r² φ'' = −2 r r' φ'
        force[0] = q[0] * v[1] * v[1];
        if self.0 == Slip::Coriolis {
            force[0] *= 1.01;
        }
        if self.0 != Slip::Unwritten {
            force[1] = -2.0 * q[0] * v[0] * v[1];
        }
        if self.0 == Slip::Sign {
            // the usual sign of the Coriolis matrix
            force[0] = -force[0];
            force[1] = -force[1];
        }
        true
    }

    fn constant_mass(&self) -> bool {
        self.0 == Slip::Constant
    }
}

impl UnilateralConstraints for Polar {
    fn contacts(&self) -> usize {
        2
    }

    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        match (self.0, j) {
            (Slip::Gap, 1) => f64::NAN,
            (_, 0) => q[0] - 1.0,
            _ => 2.0 - q[0] * q[1].cos(),
        }
    }

    fn constant_row(&self, j: usize) -> bool {
        j == 0 || self.0 == Slip::Straight
    }

    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        if j == 0 {
            row.copy_from_slice(&[1.0, 0.0]);
        } else {
            row.copy_from_slice(&[-q[1].cos(), q[0] * q[1].sin()]);
            if self.0 == Slip::Row {
                row[1] = -row[1];
            }
        }
        true
    }

    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        let bent = 2.0 * q[1].sin() * v[0] * v[1] + q[0] * q[1].cos() * v[1] * v[1];
        match (self.0, j) {
            (Slip::Curvature, 0) => Some(1e-3 * v[0]),
            (_, 0) => Some(0.0),
            _ => Some(bent),
        }
    }
}

const Q: [f64; 2] = [1.5, 0.4];
const V: [f64; 2] = [0.7, -1.2];

fn report(slip: Slip) -> DerivativeReport {
    check_mechanics(&Polar(slip), 0.0, &Q, &V).unwrap()
}

#[test]
fn a_wrong_entry_is_named() {
    assert!(report(Slip::None).agrees(1e-8), "{}", report(Slip::None));
    for (slip, what, least) in [
        (Slip::Coriolis, Partial::Coriolis { component: 0 }, 0.005),
        (Slip::Sign, Partial::Coriolis { component: 1 }, 1.0),
        (
            Slip::Row,
            Partial::GapRow {
                contact: 1,
                column: 1,
            },
            0.5,
        ),
        (Slip::Curvature, Partial::Curvature { contact: 0 }, 5e-4),
        (
            Slip::Along,
            Partial::EffortAlong {
                component: 0,
                column: 1,
            },
            0.5,
        ),
        (
            Slip::Straight,
            Partial::ConstantRow {
                contact: 1,
                column: 1,
                coordinate: 1,
            },
            0.5,
        ),
        (
            Slip::Constant,
            Partial::Mass {
                row: 1,
                column: 1,
                coordinate: 0,
            },
            0.5,
        ),
    ] {
        let report = report(slip);
        let worst = report.worst.unwrap();
        assert_eq!(worst.what, what, "{report}");
        assert!(worst.error > least && !report.agrees(1e-4), "{report}");
    }
}

#[test]
fn a_velocity_of_zero_hides_nothing() {
    for slip in [Slip::Coriolis, Slip::Sign, Slip::Curvature] {
        let report = check_mechanics(&Polar(slip), 0.0, &Q, &[0.0; 2]).unwrap();
        assert!(!report.agrees(1e-4), "{report}");
    }
}

#[test]
fn an_unwritten_entry_is_infinitely_wrong() {
    let worst = report(Slip::Unwritten).worst.unwrap();
    assert_eq!(worst.what, Partial::Coriolis { component: 1 });
    assert!(worst.error.is_infinite());
}

#[test]
fn the_report_reads_as_a_sentence() {
    let text = report(Slip::Row).to_string();
    assert!(
        text.starts_with("the worst of 26 entries: ∂a_1/∂q_1 is -0.58"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_compared_is_an_error() {
    let error = |slip: Slip| check_mechanics(&Polar(slip), 0.0, &Q, &V).unwrap_err();
    let fault = |slip: Slip| match error(slip) {
        Stop::Input(InputError::BadMatrix {
            name: "mass",
            fault,
        }) => fault,
        other => panic!("{other}"),
    };
    assert!(matches!(
        fault(Slip::Mirror),
        MatrixFault::NotSymmetric { .. }
    ));
    assert!(matches!(
        fault(Slip::Negative),
        MatrixFault::NotPositive { value } if (value + 1.0).abs() < 1e-12
    ));
    assert!(matches!(
        fault(Slip::Wild),
        MatrixFault::NotFinite {
            row: 1,
            column: 1,
            ..
        }
    ));
    assert!(matches!(
        fault(Slip::Edge),
        MatrixFault::NotFinite {
            row: 0,
            column: 0,
            ..
        }
    ));
    let quantity = |slip: Slip| match error(slip) {
        Stop::NotFinite { quantity, .. } => quantity,
        other => panic!("{other}"),
    };
    assert_eq!(quantity(Slip::Effort), Quantity::Effort { component: 1 });
    assert_eq!(quantity(Slip::Gap), Quantity::Gap { contact: 1 });
}

#[test]
fn bad_input_is_refused() {
    let polar = Polar(Slip::None);
    let short = check_mechanics(&polar, 0.0, &Q[..1], &V);
    assert!(matches!(
        short,
        Err(Stop::Input(InputError::WrongLength {
            name: "q",
            expected: 2,
            found: 1
        }))
    ));
    let long = check_mechanics(&polar, 0.0, &Q, &[0.0; 3]);
    assert!(matches!(
        long,
        Err(Stop::Input(InputError::WrongLength { name: "v", .. }))
    ));
    let wild = check_mechanics(&polar, f64::NAN, &Q, &V);
    assert!(matches!(
        wild,
        Err(Stop::Input(InputError::NotFinite { name: "t", .. }))
    ));
    let wild = check_mechanics(&polar, 0.0, &Q, &[0.0, f64::INFINITY]);
    assert!(matches!(
        wild,
        Err(Stop::Input(InputError::NotFinite {
            name: "v",
            entry: 1,
            ..
        }))
    ));
}
