//! Spec 7.1–7.3: the affine system with two and with six pieces, the plate that lands level.

use saltation::derivative::Verdict;
use saltation::models::{Affine, PlateParameters, VerticalPlate};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{EventFunction, Flow, Integrator, Start};

fn affine(system: Affine) -> Integrator<Affine> {
    Integrator::new(system).unwrap().rtol(1e-12).atol(1e-12)
}

fn near(found: &DVector<f64>, expected: &[f64], tolerance: f64) {
    let error = (found - DVector::from_column_slice(expected)).amax();
    assert!(error <= tolerance, "off by {error:e}: {found} {expected:?}");
}

fn total(rows: [[f64; 3]; 3]) -> DMatrix<f64> {
    DMatrix::from_fn(3, 3, |i, j| rows[i][j])
}

/// Spec 7.1: direction, `B(v)` of example A, order and `B(v)` of example B.
type Row = ([f64; 3], Option<[f64; 3]>, &'static str, [f64; 3]);
const DIRECTIONS: [Row; 6] = [
    (
        [-0.1, 0.2, 0.7],
        Some([-0.535414395695, 0.219606993973, 0.993347284015]),
        "213",
        [-0.783783001398, 0.424625087516, 1.127162117091],
    ),
    (
        [-0.9, 0.5, -0.2],
        Some([-4.237080529341, 0.473624061613, -0.283813509719]),
        "231",
        [-3.755152859904, 0.106570780902, 0.194855365218],
    ),
    (
        [0.9, -0.2, -0.9],
        Some([4.102853829669, 0.468404903923, -1.277160793734]),
        "132",
        [4.695826866395, 0.162587317591, -1.570255675461],
    ),
    (
        [0.1, -0.3, 0.8],
        Some([0.580156628919, -0.092405014682, 1.135254038875]),
        "123",
        [0.006083873733, -0.049034468248, 0.996755163087],
    ),
    (
        [-0.8, -0.4, -0.6],
        Some([-3.388470501078, -0.555203869974, -0.851440529156]),
        "312",
        [-3.908480730553, -1.068264598280, -1.044192736881],
    ),
    (
        [-0.4, 0.3, -0.4],
        None,
        "321",
        [-1.464086132264, 0.057267703346, -0.342670269605],
    ),
];

#[test]
fn example_a_has_two_pieces_with_their_totals() {
    let mut integrator = affine(Affine::default());
    let d = integrator
        .derivative(&Start::at(0.0).x(&Affine::CORNER_START), 0.25)
        .unwrap();
    near(
        d.run().state(),
        &[0.3481689070338065, 0.1618342427282831, -0.1894373951633896],
        1e-11,
    );
    assert_eq!(*d.verdict(), Verdict::Bouligand);
    for (v, expected, ..) in DIRECTIONS {
        if let Some(expected) = expected {
            near(&d.apply(&v).unwrap(), &expected, 1e-9);
        }
    }
    let pieces = d.pieces().unwrap();
    assert_eq!(pieces.len(), 2);
    let x_first = total([
        [4.459299292467, -0.447422332241, 0.0],
        [0.636009896453, 0.520020014424, 0.0],
        [0.0, 0.0, 1.419067548593],
    ]);
    let y_first = total([
        [4.459299292467, -0.447422332241, 0.0],
        [0.115989882029, 1.156029910877, 0.0],
        [0.0, 0.0, 1.419067548593],
    ]);
    for piece in &pieces {
        let matrix = if piece.contains(&[0.9, -0.2, -0.9]) {
            &x_first
        } else {
            &y_first
        };
        assert!((&piece.matrix - matrix).amax() < 1e-9, "{}", piece.matrix);
    }
    assert!(pieces.iter().all(|piece| piece.cones.len() == 3));
}

#[test]
fn example_b_has_six_pieces_with_their_totals() {
    let mut integrator = affine(Affine::coupled());
    let d = integrator
        .derivative(&Start::at(0.0).x(&Affine::CORNER_START), 0.25)
        .unwrap();
    near(
        d.run().state(),
        &[0.4787322471714839, 0.2022928034103539, -0.1657577207679659],
        1e-11,
    );
    for (v, _, order, expected) in DIRECTIONS {
        near(&d.apply(&v).unwrap(), &expected, 1e-9);
        let pieces = d.pieces().unwrap();
        let piece = pieces.iter().find(|piece| piece.contains(&v)).unwrap();
        let word: String = piece.cones[0].orders[0]
            .iter()
            .map(|g| (g.event + 1).to_string())
            .collect();
        assert_eq!(word, order);
        near(
            &(&piece.matrix * DVector::from_column_slice(&v)),
            &expected,
            1e-9,
        );
        assert!((d.matrix_towards(&v).unwrap() - &piece.matrix).amax() < 1e-12);
    }
    assert_eq!(d.pieces().unwrap().len(), 6);
}

const LEVEL: [f64; 6] = [0.0, 2.2, 0.0, 0.0, 0.0, 0.0];
const TILT: [f64; 6] = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
const ALL: [f64; 6] = [0.5, -0.2, 0.3, 0.1, 0.4, -0.6];

fn plate(springs: usize, shared: bool) -> Integrator<VerticalPlate> {
    let parameters = PlateParameters {
        shared_damping: shared,
        ..PlateParameters::with_springs(springs)
    };
    let plate = VerticalPlate::new(parameters).unwrap();
    Integrator::new(plate).unwrap().rtol(1e-12).atol(1e-13)
}

fn b<S: Flow + EventFunction>(
    integrator: &mut Integrator<S>,
    tf: f64,
    v: &[f64],
    expected: &[f64],
) {
    let d = integrator
        .derivative(&Start::at(0.0).x(&LEVEL), tf)
        .unwrap();
    let found = d.apply(v).unwrap();
    near(&found, expected, 1e-8);
}

#[test]
fn example_c_the_plate_is_classical_with_damping_of_its_own() {
    let mut p = plate(3, false);
    b(
        &mut p,
        0.6,
        &TILT,
        &[
            -0.315123003778,
            0.0,
            0.699757455706,
            -6.875109587772,
            0.0,
            -5.022327185630,
        ],
    );
    b(
        &mut p,
        0.6,
        &ALL,
        &[
            0.570376202743,
            0.016581094993,
            -0.090555453998,
            0.457027343646,
            -0.167551318578,
            -1.250225877472,
        ],
    );
    b(
        &mut p,
        0.9,
        &TILT,
        &[
            -2.819457217792,
            0.0,
            -1.171567821622,
            -8.440670816730,
            0.0,
            -6.353485808981,
        ],
    );
    b(
        &mut p,
        0.9,
        &ALL,
        &[
            0.792233463419,
            -0.082905025905,
            -0.440011963444,
            0.761234964920,
            -0.341503334926,
            -1.141456102814,
        ],
    );
    let d = p.derivative(&Start::at(0.0).x(&LEVEL), 0.9).unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical);
    assert_eq!(d.corners().count(), 2);
    near(
        &(d.matrix().unwrap() * DVector::from_column_slice(&ALL)),
        d.apply(&ALL).unwrap().as_slice(),
        1e-12,
    );
}

#[test]
fn example_c_the_plate_is_piecewise_linear_with_shared_damping() {
    let mut p = plate(2, true);
    let minus = |v: &[f64; 6]| v.map(|v| -v);
    b(
        &mut p,
        0.6,
        &TILT,
        &[
            -0.304777913018,
            -0.038778608924,
            0.579576145114,
            -6.471239175428,
            0.496991427122,
            -7.029642560876,
        ],
    );
    b(
        &mut p,
        0.6,
        &minus(&TILT),
        &[
            0.304777913018,
            -0.038778608924,
            -0.579576145114,
            6.471239175428,
            0.496991427122,
            7.029642560876,
        ],
    );
    let mut p = plate(3, true);
    b(
        &mut p,
        0.6,
        &TILT,
        &[
            -0.317140217287,
            -0.034469874599,
            0.712302038386,
            -6.936720120554,
            0.441770157442,
            -4.928677630200,
        ],
    );
    b(
        &mut p,
        0.6,
        &ALL,
        &[
            0.570369690412,
            0.016469813143,
            -0.090514955319,
            0.456828441440,
            -0.166125116680,
            -1.249923541130,
        ],
    );
    b(
        &mut p,
        0.6,
        &minus(&ALL),
        &[
            -0.570369690412,
            -0.016692376843,
            0.090514955319,
            -0.456828441440,
            0.168977520476,
            1.249923541130,
        ],
    );
    let d = p.derivative(&Start::at(0.0).x(&LEVEL), 0.6).unwrap();
    assert_eq!(*d.verdict(), Verdict::Bouligand);
}
