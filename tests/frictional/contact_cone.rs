//! The cone of contact forces.

use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};
use saltation::InputError;
use saltation::impact::{ContactCone, ImpactFailure, ImpactLaw, ImpactProblem, LcpSteps, Routh};
use saltation::nalgebra::{DMatrix, DVector, dmatrix, dvector};

use crate::random_bits::SplitMix64;
use crate::reference::{Case, EXAMPLES};

#[test]
fn margins_and_bounds_are_those_of_the_reference() {
    for name in EXAMPLES {
        let case = Case::named(name);
        let problem = case.problem();
        let cone = ContactCone::of(&problem).unwrap();
        assert!(cone.is_pointed());
        let (margin, norm) = match name {
            // The reference is off by 1.1e-6 and 6.6e-6: it combines generators that cancel at
            // μ = 1e5. These come from the Schur complements of the tangents, in rational numbers.
            "ramone" => (0.6027097255447168, 0.41704070762558704),
            _ => (case.value("cone_margin_Minv"), case.value("r_norm2_min")),
        };
        let off = cone.margin() - margin;
        assert!(off.abs() < 1e-9, "{name}: {off:e}");
        let off = cone.euclidean_norm().unwrap() / norm - 1.0;
        assert!(off.abs() < 1e-9, "{name}: {off:e}");
        let h = case.value("h");
        let least = case.value("sigma_min_M");
        let found = case.matrix("M").singular_values().min();
        assert!((found / least - 1.0).abs() < 1e-9, "{name}: {found}");
        let printed = cone.steps_per_norm_as_printed(h, least).unwrap();
        assert_eq!(printed, case.value("thm8_c"), "{name}");
        assert_eq!(
            cone.steps_per_norm(h).unwrap(),
            case.value("thm8_c_tight"),
            "{name}"
        );
        // the direction is one
        let r = cone.direction();
        let moved = problem.delassus() * r;
        let m = problem.contacts();
        for i in 0..m {
            let (n, t) = (moved[i], problem.friction()[i] * moved[m + i]);
            assert!(n - t.abs() > 1.0 - 1e-9, "{name} {i}: {n} {t}");
        }
        assert!((r.dot(&moved).sqrt() * cone.margin() - 1.0).abs() < 1e-9);
    }
}

#[test]
fn impacts_end_within_the_bounds() {
    for name in EXAMPLES {
        let case = Case::named(name);
        let problem = case.problem();
        let cone = ContactCone::of(&problem).unwrap();
        let h = case.value("h");
        let most = cone.steps(cone.steps_per_norm(h).unwrap(), 0.5).unwrap();
        let mut simulation = LcpSteps::new(h)
            .most_steps(100_000)
            .start(&problem)
            .unwrap();
        let size = problem.speeds().len();
        let (mut u, mut p) = (DVector::zeros(size), DVector::zeros(size));
        for k in 0..50 {
            let ended = simulation
                .simulate(k, u.as_mut_slice(), p.as_mut_slice())
                .unwrap();
            assert!(ended.finished && (ended.steps as f64) < most);
            let pushed = p.rows(0, problem.contacts()).sum();
            assert!(pushed <= cone.greatest_impulse() * (1.0 + 1e-9));
        }
    }
}

/// Fast slips of slow approaches, given in contact space: the bound took the motion along the
/// normals for the whole one, and Routh's impact of the rod of Painlevé took 600 times as much.
#[test]
fn fast_slips_count_in_the_bound_of_impulses_given_in_contact_space() {
    let rod = dmatrix![1.6, -1.2; -1.2, 3.4];
    for slip in [1e-3, 1.0, 10.0, 1e6] {
        let problem =
            ImpactProblem::with_tangents(rod.clone(), dvector![-1e-3, -slip], &[2.0]).unwrap();
        // uᵀ G⁻¹ u, det G = 4
        let square = (3.4e-6 + 2.0 * 1.2e-3 * slip + 1.6 * slip * slip) / 4.0;
        let off = problem.kinetic_norm() / square.sqrt() - 1.0;
        assert!(off.abs() < 1e-12, "{slip}: {off:e}");
        let taken = Routh::new().outcome(&problem).unwrap().impulses[0];
        let most = ContactCone::of(&problem).unwrap().greatest_impulse();
        assert!(taken <= most, "{slip}: {taken} of {most}");
    }
}

/// Problems in contact space whose slips are up to a thousand times as fast as approaches: no sample
/// takes more than the bound, and the norm is that of the motion of least energy.
fn bounds_hold_in_contact_space(seed: u64, count: usize) {
    let mut random = SplitMix64(seed);
    let (mut bounded, mut beyond_normals, mut greatest) = (0, 0, 0.0_f64);
    for case in 0..count {
        let (m, t) = (1 + case % 3, 1 + case / 3 % 2);
        let rows = m * (1 + t);
        let d = rows + (random.next() % 2) as usize;
        let root = DMatrix::from_fn(rows, d, |_, _| random.between(-1.0, 1.0));
        let g = &root * root.transpose();
        let fast = 10f64.powf(random.between(0.0, 3.0));
        let u = DVector::from_fn(rows, |i, _| {
            let unit = random.between(-1.0, 1.0);
            if i < m { unit } else { fast * unit }
        });
        let mu: Vec<f64> = (0..m).map(|_| 1.5 * random.unit()).collect();
        let problem = ImpactProblem::with_tangents(g.clone(), u.clone(), &mu).unwrap();
        let Some(inverse) = g.clone().cholesky() else {
            continue;
        };
        let least = u.dot(&inverse.solve(&u)).sqrt();
        let condition = g.singular_values().max() / g.singular_values().min();
        let off = problem.kinetic_norm() / least - 1.0;
        assert!(
            off.abs() < 1e-14 * condition,
            "{case}: {off:e} {condition:e}"
        );
        let cone = ContactCone::of(&problem).unwrap();
        if !cone.is_pointed() || problem.is_feasible() {
            continue;
        }
        bounded += 1;
        let normal = ImpactProblem::new(g.view((0, 0), (m, m)).into(), u.rows(0, m).into());
        let by_normals = 2.0 * normal.unwrap().kinetic_norm() / cone.margin();
        let mut simulation = LcpSteps::new(0.1 * cone.greatest_impulse())
            .most_steps(2000)
            .start(&problem)
            .unwrap();
        let (mut u, mut p) = (vec![0.0; rows], vec![0.0; rows]);
        for sample in 0..5 {
            simulation.simulate(sample, &mut u, &mut p).unwrap();
            let pushed = p[..m].iter().sum::<f64>();
            greatest = greatest.max(pushed / cone.greatest_impulse());
            assert!(pushed <= cone.greatest_impulse() * (1.0 + 1e-9), "{case}");
            beyond_normals += usize::from(pushed > by_normals);
        }
    }
    println!("{bounded} bounded, {greatest} of the bound, {beyond_normals} beyond that of normals");
    assert!(bounded * 3 > count && beyond_normals * 20 > bounded);
}

#[test]
fn no_sample_in_contact_space_takes_more_than_the_bound() {
    bounds_hold_in_contact_space(71, 60);
}

#[test]
#[ignore = "takes a minute: cargo test --release --test frictional -- --ignored"]
fn no_sample_of_thousands_in_contact_space_takes_more_than_the_bound() {
    bounds_hold_in_contact_space(72, 6000);
}

/// Both tangents of the block are equal; the slips are not.
#[test]
fn there_is_no_bound_for_speeds_of_no_motion() {
    let delassus = dmatrix![
        1.6, 0.4, -1.2, -1.2;
        0.4, 1.6, 1.2, 1.2;
        -1.2, 1.2, 3.4, 3.4;
        -1.2, 1.2, 3.4, 3.4];
    let of = |slips: [f64; 2]| {
        let speeds = dvector![-1.0, -1.0, slips[0], slips[1]];
        ContactCone::of(&ImpactProblem::with_tangents(delassus.clone(), speeds, &[1.0; 2]).unwrap())
    };
    assert!(of([0.3, 0.3]).is_ok());
    let refused = of([0.3, -0.2]);
    assert!(
        matches!(
            &refused,
            Err(ImpactFailure::Input(InputError::InconsistentSpeeds { set, .. })) if set == &[0, 1]
        ),
        "{refused:?}"
    );
}

/// A wedge between two walls that friction holds.
fn wedge(mu: f64) -> ImpactProblem {
    let (sin, cos) = 0.2f64.sin_cos();
    let rows = dmatrix![cos, sin; -cos, sin; sin, -cos; sin, cos];
    let body = DMatrix::identity(2, 2);
    ImpactProblem::from_mechanics_with_tangents(&body, &rows, &dvector![0.0, -1.0], &[mu; 2])
        .unwrap()
}

#[test]
fn a_wedge_jams_from_the_friction_of_its_angle_on() {
    let critical = 0.2f64.tan();
    assert!(
        ContactCone::of(&wedge(critical - 1e-3))
            .unwrap()
            .is_pointed()
    );
    let jammed = ContactCone::of(&wedge(critical + 1e-3)).unwrap();
    assert!(!jammed.is_pointed() && jammed.direction().amax() == 0.0);
    assert_eq!(jammed.euclidean_norm(), None);
    assert_eq!(jammed.greatest_impulse(), f64::INFINITY);
    assert_eq!(jammed.steps_per_norm(0.1).unwrap(), f64::INFINITY);
    assert!(jammed.steps_per_norm(0.0).is_err() && jammed.steps(1.0, 0.0).is_err());
}

/// The wedge in space, with tangent axes turned by an angle.
fn wedge_in_space(mu: f64, angle: f64) -> ImpactProblem {
    let (sin, cos) = 0.2f64.sin_cos();
    let (up, out) = angle.sin_cos();
    // the walls' slopes and the direction along both
    let slope = |side: f64| [side * sin, -cos, 0.0];
    let mut rows = DMatrix::zeros(6, 3);
    for (i, side) in [1.0, -1.0].into_iter().enumerate() {
        rows.row_mut(i).copy_from_slice(&[side * cos, sin, 0.0]);
        let turned = |a: f64, b: f64| {
            let slope = slope(side);
            [a * slope[0], a * slope[1], b]
        };
        rows.row_mut(2 + 2 * i).copy_from_slice(&turned(out, up));
        rows.row_mut(3 + 2 * i).copy_from_slice(&turned(-up, out));
    }
    let body = DMatrix::identity(3, 3);
    let velocity = dvector![0.0, -1.0, 0.0];
    ImpactProblem::from_mechanics_with_tangents(&body, &rows, &velocity, &[mu; 2]).unwrap()
}

#[test]
fn a_wedge_in_space_is_that_in_the_plane() {
    let critical = 0.2f64.tan();
    for angle in [0.0, 0.1, 0.25, std::f64::consts::FRAC_PI_4] {
        for mu in [0.0, 0.05, 0.9 * critical, critical * (1.0 - 1e-4)] {
            let plane = ContactCone::of(&wedge(mu)).unwrap();
            let space = ContactCone::of(&wedge_in_space(mu, angle)).unwrap();
            assert!(space.is_pointed());
            let off = space.margin() / plane.margin() - 1.0;
            // impulses of size 1/δ² cancel
            let rounding = 1e-9 + 1e-14 / plane.margin().powi(2);
            assert!(off.abs() < rounding, "{angle} {mu}: {off:e}");
            let norms = [space, plane].map(|cone| cone.euclidean_norm().unwrap());
            assert!((norms[0] / norms[1] - 1.0).abs() < rounding);
        }
        let jammed = ContactCone::of(&wedge_in_space(critical * (1.0 + 1e-4), angle)).unwrap();
        assert!(!jammed.is_pointed());
    }
}

/// Impulses in the round cones whose force is a direction for all generators have the margin of the
/// round cone: the least distance is not less than 1/|r|, and they are a point at that distance.
#[test]
fn in_space_the_margin_is_that_of_the_round_cone() {
    let mut random = SplitMix64(31);
    let mut pointed = 0;
    for case in 0..60 {
        let m = 2 + case % 3;
        let d = 3 * m - random.next() as usize % m;
        let root = DMatrix::from_fn(3 * m, d, |_, _| random.between(-1.0, 1.0));
        let g = &root * root.transpose();
        let large = if case % 10 == 9 { 1e5 } else { 1.0 };
        let mu: Vec<f64> = (0..m).map(|_| large * random.unit()).collect();
        let velocity = DVector::from_fn(d, |_, _| random.between(-1.0, 1.0));
        let problem = ImpactProblem::with_tangents(g.clone(), &root * velocity, &mu).unwrap();
        let cone = ContactCone::of(&problem).unwrap();
        if !cone.is_pointed() {
            continue;
        }
        pointed += 1;
        let p = cone.direction();
        let moved = &g * p;
        for i in 0..m {
            let along = moved.rows(m + 2 * i, 2).norm();
            let rounding = 1e-15 * (g.abs() * p.abs()).rows(m + 2 * i, 2).norm();
            let least = moved[i] - mu[i] * (along - rounding).max(0.0);
            assert!(least > 1.0 - 1e-8, "{case}: {least}");
            let friction = p.rows(m + 2 * i, 2).norm();
            assert!(p[i] >= 0.0 && friction <= mu[i] * p[i] * (1.0 + 1e-12) + 1e-12);
        }
        let norm = p.dot(&moved).sqrt();
        assert!((norm * cone.margin() - 1.0).abs() < 1e-9, "{case}");
        let off = p.rows(0, m).sum() / norm.powi(2) - 1.0;
        assert!(off.abs() < 1e-8, "{case}: {off:e}");
    }
    assert!(pointed > 40, "{pointed}");
}

#[test]
fn bounds_of_a_cone_with_a_line_are_infinite_at_rest_too() {
    let walls = dmatrix![1.0, -1.0; -1.0, 1.0];
    for speed in [0.0, -1.0] {
        let problem = ImpactProblem::new(walls.clone(), dvector![speed, -speed]).unwrap();
        let cone = ContactCone::of(&problem).unwrap();
        assert!(!cone.is_pointed());
        assert_eq!(cone.greatest_impulse(), f64::INFINITY);
        let per_norm = cone.steps_per_norm(1.0).unwrap();
        assert_eq!(per_norm, f64::INFINITY);
        assert_eq!(cone.steps(per_norm, 0.5).unwrap(), f64::INFINITY);
        for bad in [-1.0, f64::NAN] {
            assert!(cone.steps(bad, 0.5).is_err());
        }
    }
}

#[test]
fn the_margin_scales_with_the_rows() {
    let of = |unit: f64| {
        let delassus =
            dmatrix![7.476269599495901, -151.0376314282703; -151.0376314282703, 20233.166091605976];
        let delassus = delassus * (unit * unit);
        let speeds = dvector![-unit, unit];
        let problem = ImpactProblem::with_tangents(delassus, speeds, &[0.836594282452709]).unwrap();
        ContactCone::of(&problem).unwrap().margin() / unit
    };
    for unit in [1e-7, 1e-4, 1e4, 1e7] {
        assert!((of(unit) / of(1.0) - 1.0).abs() < 1e-9, "{unit:e}");
    }
}

#[test]
fn directions_that_overflow_are_zero() {
    let delassus = dmatrix![1e-320, 0.0; 0.0, 1.0];
    let problem = ImpactProblem::new(delassus, dvector![-1e-160, -1.0]).unwrap();
    let cone = ContactCone::of(&problem).unwrap();
    assert!(!cone.is_pointed());
    assert_eq!(cone.direction(), &dvector![0.0, 0.0]);
}

/// `A X = B` in rational numbers; `A` is regular.
fn solve_exactly(
    mut a: Vec<Vec<BigRational>>,
    mut b: Vec<Vec<BigRational>>,
) -> Vec<Vec<BigRational>> {
    for k in 0..a.len() {
        let pivot = (k..a.len()).find(|&i| !a[i][k].is_zero()).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        let (row, right) = (a[k].clone(), b[k].clone());
        for i in (0..a.len()).filter(|&i| i != k) {
            let factor = &a[i][k] / &row[k];
            let of_row = a[i].iter_mut().zip(&row);
            for (x, y) in of_row.chain(b[i].iter_mut().zip(&right)) {
                *x -= &factor * y;
            }
        }
    }
    let rows = b.into_iter().enumerate();
    rows.map(|(k, row)| row.into_iter().map(|x| x / &a[k][k]).collect())
        .collect()
}

/// The rows of the reference for `ramone` combine generators that cancel. Exactly: impulses
/// `G Λ = (1, 1, 0, 0)` lie inside of the cones, so they are the minimiser and `δ⁻² = Σ Λn`; the
/// same with `J M⁻² Jᵀ` for the Euclidean norm.
#[test]
fn the_margin_of_ramone_in_rational_numbers() {
    let case = Case::named("ramone");
    let exact = |matrix: DMatrix<f64>| -> Vec<Vec<BigRational>> {
        let of = |x: &f64| BigRational::from_float(*x).unwrap();
        matrix
            .row_iter()
            .map(|row| row.iter().map(of).collect())
            .collect()
    };
    let mut jacobian = exact(case.matrix("Jn"));
    jacobian.extend(exact(case.matrix("Jt")));
    let transposed: Vec<Vec<BigRational>> = (0..7)
        .map(|k| jacobian.iter().map(|row| row[k].clone()).collect())
        .collect();
    let response = solve_exactly(exact(case.matrix("M")), transposed.clone());
    let product = |a: &[Vec<BigRational>], b: &[Vec<BigRational>]| -> Vec<Vec<BigRational>> {
        let entry = |i: usize, j: usize| a.iter().zip(b).map(|(a, b)| &a[i] * &b[j]).sum();
        (0..4)
            .map(|i| (0..4).map(|j| entry(i, j)).collect())
            .collect()
    };
    let mu = case.vector("mu");
    let sum = |gram: Vec<Vec<BigRational>>| {
        let ones = [1, 1, 0, 0].map(|x| vec![BigRational::from_integer(x.into())]);
        let impulses = solve_exactly(gram, ones.to_vec());
        for i in 0..2 {
            let bound = BigRational::from_float(mu[i]).unwrap() * &impulses[i][0];
            assert!(impulses[2 + i][0].abs() < bound);
        }
        (&impulses[0][0] + &impulses[1][0]).to_f64().unwrap()
    };
    let margin = sum(product(&transposed, &response)).sqrt().recip();
    let norm = sum(product(&response, &response)).sqrt();
    assert!((margin - 0.6027097255447168).abs() < 1e-15, "{margin}");
    assert!((norm - 0.41704070762558704).abs() < 1e-15, "{norm}");
}
