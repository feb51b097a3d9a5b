//! The verdict, and what is refused under each.

use saltation::derivative::{Compared, CornerKind, Verdict};
use saltation::models::Affine;
use saltation::nalgebra::DMatrix;
use saltation::{
    EventFunction, Flow, Integrator, Mode, NoDerivative, Rearm, Start, Stop as Refused, Watch,
};

use crate::fixtures::draw::Draw;
use crate::fixtures::exact::Oracle;
use crate::fixtures::kit::{Course, Stop};
use crate::fixtures::support::{corner, integrator, off, times};

#[test]
fn the_affine_system_is_classical_off_the_corner_and_bouligand_through_it() {
    let mut integrator = Integrator::new(Affine::default()).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&Affine::START), 0.5)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical);
    let d = integrator
        .derivative(&Start::at(0.0).x(&Affine::CORNER_START), 0.25)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Bouligand);
}

#[test]
fn additive_jumps_are_classical_also_at_a_corner_of_many_guards() {
    for (n, dim) in [
        (2, 2),
        (3, 5),
        (6, 7),
        (8, 8),
        (8, 10),
        (10, 11),
        (11, 12),
        (12, 14),
    ] {
        let mut draw = Draw(n as u64);
        let (course, expected) = Course::additive(n, dim, &mut draw);
        let mut integrator = integrator(&course);
        let d = integrator
            .derivative(&Start::at(0.0).x(&course.start), course.end)
            .unwrap();
        assert_eq!(*d.verdict(), Verdict::Classical);
        let corners: Vec<_> = d.corners().collect();
        assert_eq!(corners.len(), 1);
        let CornerKind::Linear { compared, .. } = corners[0].kind() else {
            panic!("{:?}", corners[0].kind());
        };
        assert_eq!(*compared, Compared::AllOrders);
        let matrix = d.matrix_towards(&draw.direction(dim)).unwrap();
        assert!(off(&matrix, &expected) < 1e-12);
        assert!(off(&d.matrix().unwrap(), &expected) < 1e-12);
        let pieces = d.pieces().unwrap();
        assert_eq!(pieces.len(), 1);
        assert_eq!(pieces[0].cones[0].inequalities.nrows(), 0);
        let v = draw.direction(dim);
        assert!(off(&d.apply(&v).unwrap(), &times(&expected, &v)) < 1e-12);
        let gradient = d.vjp(&v).unwrap();
        assert!(
            off(
                &gradient,
                &expected.tr_mul(&DMatrix::from_column_slice(dim, 1, &v))
            ) < 1e-12
        );
        let exact = Oracle::new(&course).along(&v);
        assert!(
            off(&exact.state, &times(&expected, &v)) < 1e-14,
            "the closed form"
        );
    }
}

#[test]
fn a_corner_with_pieces_has_no_matrix() {
    for n in [2, 4, 8] {
        let (course, mut draw) = corner(n, n, n);
        let mut integrator = integrator(&course);
        let d = integrator
            .derivative(&Start::at(0.0).x(&course.start), course.end)
            .unwrap();
        let refusals = [
            d.matrix().unwrap_err(),
            d.vjp(&draw.direction(n)).unwrap_err(),
        ];
        for refusal in refusals {
            let NoDerivative::PiecewiseLinear { t, guards } = refusal else {
                panic!("{refusal}");
            };
            assert!((t - course.stops[0].t).abs() < 1e-12);
            let mut events: Vec<usize> = guards.iter().map(|guard| guard.event).collect();
            events.sort_unstable();
            assert!(events.into_iter().eq(0..n));
        }
    }
}

#[test]
fn too_many_orders_are_not_listed_and_yet_directions_are_right() {
    for (n, dim) in [(7, 7), (8, 8), (10, 11), (12, 16)] {
        let (course, mut draw) = corner(n, dim, n);
        let mut integrator = integrator(&course);
        let d = integrator
            .derivative(&Start::at(0.0).x(&course.start), course.end)
            .unwrap();
        assert_eq!(*d.verdict(), Verdict::Bouligand);
        for refusal in [d.pieces().unwrap_err(), d.pieces_at(0).unwrap_err()] {
            let NoDerivative::TooManyOrders { guards, limit, t } = refusal else {
                panic!("{refusal}");
            };
            assert_eq!((guards, limit), (n, 6));
            assert!((t - course.stops[0].t).abs() < 1e-12);
        }
        let oracle = Oracle::new(&course);
        for _ in 0..10 {
            let v = draw.direction(dim);
            let exact = oracle.along(&v);
            assert!(off(&d.apply(&v).unwrap(), &exact.state) < 1e-9);
            let piece = d.matrix_towards(&v).unwrap();
            assert!(off(&times(&piece, &v), &exact.state) < 1e-9);
        }
    }
}

#[test]
fn orders_that_no_direction_takes_do_not_count() {
    // Three lines through a point of the plane are passed as 0-1-2 or as 2-1-0. The field changes
    // only in the two words that belong to neither: the flow is straight, though the maps of other
    // orders are not the identity.
    let normals = DMatrix::from_row_slice(3, 2, &[1.0, 1.0, 1.0, 0.0, 1.0, -1.0]);
    let fields = DMatrix::from_fn(2, 8, |i, word| match (word, i) {
        (0b010, 0) => 3.0,
        (0b101, 1) => 0.5,
        (_, 0) => 1.0,
        _ => 0.25,
    });
    let stop = Stop {
        t: 0.5,
        guards: vec![0, 1, 2],
    };
    let course = Course::lay(normals, fields, &[0.25, -0.5], vec![stop]);
    let mut integrator = integrator(&course);
    let d = integrator
        .derivative(&Start::at(0.0).x(&course.start), course.end)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical);
    assert!(off(&d.matrix().unwrap(), &DMatrix::identity(2, 2)) < 1e-12);
}

/// Two coordinate planes, and a constant field in each of the four modes.
#[derive(Clone, Copy)]
struct Planes {
    fields: [[f64; 2]; 4],
    watch: Watch,
    reads_mode: bool,
}

impl Flow for Planes {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&self.fields[mode.ones().map(|k| 1 + k).sum::<usize>()]);
    }
}

impl EventFunction for Planes {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[k]
    }
    fn watch(&self, _k: usize) -> Watch {
        self.watch
    }
    fn ignores_mode(&self) -> bool {
        !self.reads_mode
    }
    fn resets(&self) -> bool {
        false
    }
}

/// The run crosses both planes at once and goes on; neighbours that cross one of them first slide there, or come to
/// rest on it. Where the way back is not looked for, they go on.
#[test]
fn orders_that_slide_behind_their_first_guard_have_no_derivative() {
    let on = [1.0, 1.0];
    let cases = [
        ([on, [-1.0, 1.0], [1.0, -1.0], on], false),
        ([on, [-1.0, 1.0], on, on], false),
        ([on, on, [1.0, -100.0], on], false),
        ([on, [0.0, 1.0], on, on], false),
        ([on, [0.5, 1.0], [1.0, 0.25], on], true),
    ];
    for reads_mode in [false, true] {
        for (fields, goes_on) in cases {
            let watch = Watch::BOTH;
            let planes = Planes {
                fields,
                watch,
                reads_mode,
            };
            let start = Start::at(0.0).x(&[-0.25, -0.25]);
            let d = Integrator::new(planes)
                .unwrap()
                .derivative(&start, 1.0)
                .unwrap();
            let what = format!("{fields:?} {reads_mode}: {:?}", d.verdict());
            assert!(d.run().status().stop().is_none(), "{what}");
            let displaced = d.apply(&[1.0, 0.0]).and_then(|_| d.apply(&[0.0, 1.0]));
            if goes_on {
                assert_eq!(*d.verdict(), Verdict::Bouligand, "{what}");
                assert!(displaced.is_ok(), "{what}");
            } else {
                let is_dead = |stop: &Refused| matches!(stop, Refused::NotLive { .. });
                let slides = matches!(d.verdict(), Verdict::NotGuaranteed(NoDerivative::Stop(stop)) if is_dead(stop));
                assert!(slides, "{what}");
                assert!(displaced.is_err(), "{what}");
            }
        }
    }
    // A hysteresis: what is behind a plane is not looked at.
    let fields = [on, [-1.0, 1.0], [1.0, -1.0], on];
    let planes = Planes {
        fields,
        watch: Watch::RISING,
        reads_mode: false,
    };
    let mut integrator = Integrator::new(planes).unwrap().rearm(Rearm::Never);
    let start = Start::at(0.0).x(&[-0.25, -0.25]);
    let d = integrator.derivative(&start, 1.0).unwrap();
    assert_eq!(*d.verdict(), Verdict::Bouligand);
    assert_eq!(d.apply(&[1.0, 0.0]).unwrap().as_slice(), [-1.0, 0.0]);
}
