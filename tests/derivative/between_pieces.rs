//! Between the pieces: `B` is positively homogeneous and continuous, on each side of every face the
//! same.

use proptest::prelude::*;
use saltation::Start;
use saltation::derivative::Derivative;
use saltation::models::FieldTable;
use saltation::nalgebra::{DMatrix, DVector};

use crate::fixtures::support::{cases, corner, integrator, off};

/// `(1 − part) v + part w`.
fn between(v: &[f64], w: &[f64], part: f64) -> Vec<f64> {
    let ends = v.iter().zip(w);
    ends.map(|(v, w)| v + part * (w - v)).collect()
}

/// A direction at a face, and the matrix of its piece.
type Side = (Vec<f64>, DMatrix<f64>);

/// A face on the way from `v` to `w`: the last direction found in the piece of `v`, and the first
/// beyond it. None when both ends lie in one piece.
fn face(d: &Derivative<FieldTable>, v: &[f64], w: &[f64]) -> Option<(Side, Side)> {
    let piece = |part: f64| d.matrix_towards(&between(v, w, part)).unwrap();
    let own = piece(0.0);
    let is_own = |matrix: &DMatrix<f64>| off(matrix, &own) < 1e-8;
    if is_own(&piece(1.0)) {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            let side = |part| (between(v, w, part), piece(part));
            return Some((side(low), side(high)));
        }
        if is_own(&piece(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn a_longer_direction_has_a_longer_derivative(
        n in prop_oneof![2..=4usize, 7..=8usize],
        more in 0..3usize,
        seed in any::<usize>(),
        power in -60.0..60.0f64,
    ) {
        let (course, mut draw) = corner(n, n + more, seed);
        let mut integrator = integrator(&course);
        let d = integrator.derivative(&Start::at(0.0).x(&course.start), course.end).unwrap();
        let v = draw.direction(n + more);
        let b = d.apply(&v).unwrap();
        let longer = |a: f64| {
            let scaled: Vec<f64> = v.iter().map(|v| a * v).collect();
            d.apply(&scaled).unwrap()
        };
        let a = power.exp2();
        prop_assert!(off(&longer(a), &(a * &b)) < 1e-12);
        // A power of two changes no digit on the way.
        let a = power.round().exp2();
        prop_assert_eq!(longer(a), a * &b);
        prop_assert_eq!(longer(0.0), 0.0 * &b);
        for index in 0..n {
            let [one, more] = [1.0, a].map(|a| {
                let scaled: Vec<f64> = v.iter().map(|v| a * v).collect();
                d.event_time_shift(index, &scaled).unwrap()
            });
            prop_assert_eq!(more.to_bits(), (a * one).to_bits());
        }
    }

    #[test]
    fn both_sides_of_a_face_agree_on_it(
        n in prop_oneof![2..=4usize, 7..=8usize],
        more in 0..3usize,
        seed in any::<usize>(),
    ) {
        let (course, mut draw) = corner(n, n + more, seed);
        let mut integrator = integrator(&course);
        let d = integrator.derivative(&Start::at(0.0).x(&course.start), course.end).unwrap();
        let v = draw.direction(n + more);
        let face = (0..100).find_map(|_| face(&d, &v, &draw.direction(n + more)));
        prop_assert!(face.is_some(), "a hundred directions in one piece");
        let ((here, near), (there, far)) = face.expect("just seen");
        let point = DVector::from_vec(here.clone());
        let gap = DVector::from_vec(there.clone()) - &point;
        // Both maps differ, and yet agree at this direction: to the rounding of it, on which the
        // entries act.
        prop_assert!(off(&near, &far) > 1e-8);
        prop_assert!(gap.amax() < 1e-15);
        let size = near.amax().max(far.amax());
        prop_assert!(((&near - &far) * &point).amax() < 1e-12 * size);
        prop_assert!((d.apply(&here).unwrap() - d.apply(&there).unwrap()).amax() < 1e-12 * size);
    }

    #[test]
    fn the_largest_norm_of_a_piece_bounds_all_differences(
        n in 2..=4usize,
        seed in any::<usize>(),
        closeness in 0.0..40.0f64,
    ) {
        // A piecewise linear map grows along a segment as its pieces do, provided that it does not
        // jump between them.
        let (course, mut draw) = corner(n, n, seed);
        let mut integrator = integrator(&course);
        let d = integrator.derivative(&Start::at(0.0).x(&course.start), course.end).unwrap();
        let norms = d.pieces().unwrap().into_iter().map(|piece| piece.matrix.singular_values().max());
        let most = norms.fold(0.0, f64::max);
        for _ in 0..20 {
            let v = DVector::from_vec(draw.direction(n));
            let w = &v + DVector::from_vec(draw.direction(n)) * (-closeness).exp2();
            let [b_v, b_w] = [&v, &w].map(|v| d.apply(v.as_slice()).unwrap());
            let rounding = 1e-13 * most;
            prop_assert!((b_v - b_w).norm() <= most * (v - w).norm() * (1.0 + 1e-9) + rounding);
        }
    }
}
