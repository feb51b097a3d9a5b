//! Derivatives of the solution (spec 13.4): those of the reference, differences of whole solutions,
//! and the transposed product.

use saltation::compliant::{
    CompliantFailure, Convergence, Guess, Problem, Region, SolutionVariation, Solver, StepSolution,
    Variation,
};

use crate::coulomb_problems::moments_that_slide;
use crate::random::SplitMix64;
use crate::random_problems::{Kind, Sample, inertia};
use crate::reference::cases;

fn solver() -> Solver {
    Solver::new().rtol(1e-13).atol(1e-15)
}

/// A change of the data of a sample, and the same as a [`Variation`] of its problem.
type Change<'a> = (&'a str, &'a dyn Fn(&mut Sample, f64));

fn solved(sample: &Sample) -> (Problem, StepSolution) {
    let problem = sample.build();
    let mut solver = solver();
    let solution = solver
        .solve(&problem, &sample.guess)
        .expect("solved")
        .clone();
    (problem, solution)
}

#[test]
fn derivatives_by_gaps_and_friction_are_those_of_the_reference() {
    for case in cases() {
        let mut solver = Solver::new().rtol(1e-13).guess(Guess::Given);
        let solution = solver.solve(&case.problem, &case.guess).expect("solved");
        assert!(solution.is_converged(), "{}", case.name);
        let mut change = Variation::default();
        let mut found = SolutionVariation::default();
        let (by_gap, by_friction) = (case.matrix("dv_dphi0"), case.matrix("dv_dmu"));
        for contact in 0..case.problem.contacts() {
            for (expected, gap, friction) in [(&by_gap, 1.0, 0.0), (&by_friction, 0.0, 1.0)] {
                change.reset(&case.problem);
                change.contacts[contact].gap = gap;
                change.contacts[contact].friction = friction;
                solver
                    .derivative(&case.problem, &change, &mut found)
                    .expect("derivative");
                let size = expected
                    .iter()
                    .map(|row| row[contact].abs())
                    .fold(0.0, f64::max);
                for (row, dv) in expected.iter().zip(&found.v) {
                    let off = (row[contact] - dv).abs();
                    assert!(
                        off <= 2e-9 * size,
                        "{} {contact}: {off:e} of {size:e}",
                        case.name
                    );
                }
            }
        }
    }
}

/// The derivative of the solution along `change` against the difference of two solutions; false
/// where a region changes between them.
fn agrees(name: &str, sample: &Sample, change: &dyn Fn(&mut Sample, f64), by: &Variation) -> bool {
    let h = 1e-5;
    let problem = sample.build();
    let mut solver = solver();
    let solution = solver
        .solve(&problem, &sample.guess)
        .expect("solved")
        .clone();
    assert!(solution.is_converged(), "{name}");
    let at = |x: f64| {
        let mut other = sample.clone();
        change(&mut other, x);
        let (_, found) = solved(&other);
        // Moments have an edge of their own.
        let slide = moments_that_slide(&other, &found);
        (found, slide)
    };
    let ((low, slide_low), (high, slide_high)) = (at(-h), at(h));
    // Loads that do not come to rest have no derivative.
    let errors = [&low, &high, &solution].map(StepSolution::friction_error);
    if errors.iter().any(|error| *error > 1e-9)
        || low.regions() != high.regions()
        || low.regions() != solution.regions()
        || slide_low != slide_high
        || slide_low != moments_that_slide(sample, &solution)
    {
        return false;
    }
    let mut found = SolutionVariation::default();
    solver
        .derivative(&problem, by, &mut found)
        .expect("derivative");
    let check = |low: &[f64], high: &[f64], found: &[f64], what: &str| {
        let difference = |(a, b): (&f64, &f64)| (b - a) / (2.0 * h);
        let differences: Vec<f64> = low.iter().zip(high).map(difference).collect();
        let size = differences.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (difference, found) in differences.iter().zip(found) {
            let off = (difference - found).abs();
            // Solutions have errors of some 1e-12, differences those of order h².
            let allowed = 1e-12 / h + 2e-6 * size;
            assert!(off < allowed, "{name}, {what}: {off:e} of {size:e}");
        }
    };
    check(low.v(), high.v(), &found.v, "v");
    let flat = |x: &[[f64; 3]]| x.as_flattened().to_vec();
    let (a, b) = (flat(low.impulses()), flat(high.impulses()));
    check(&a, &b, found.impulses.as_flattened(), "impulses");
    let (a, b) = (flat(low.moments()), flat(high.moments()));
    assert_eq!(a.len(), found.moments.as_flattened().len());
    check(&a, &b, found.moments.as_flattened(), "moments");
    check(
        low.row_impulses(),
        high.row_impulses(),
        &found.row_impulses,
        "rows",
    );
    true
}

/// The variation of a change of any data, by the difference of two problems.
fn by_difference(
    sample: &Sample,
    change: &dyn Fn(&mut Sample, f64),
    solution: &StepSolution,
) -> Variation {
    let h = 1e-5;
    let at = |x: f64| {
        let mut other = sample.clone();
        change(&mut other, x);
        other.build()
    };
    let mut by = Variation::default();
    by.set_difference(&at(-h), &at(h), 0.5 / h, solution)
        .expect("the same terms");
    by
}

/// The friction of samples.
#[derive(Clone, Copy, PartialEq)]
enum Law {
    Cone,
    Lagged,
    Coulomb,
}

fn samples(count: usize, seed: u64, kind: &Kind, law: Law) -> Vec<Sample> {
    let mut draw = SplitMix64(seed);
    let sample = |_| {
        let mut sample = Sample::draw(&mut draw, kind);
        sample.coulomb = law == Law::Coulomb;
        if law == Law::Lagged {
            let v0 = (0..sample.dof()).map(|_| draw.between(-1.0, 1.0)).collect();
            sample.lagged = Some((v0, if draw.unit() < 0.5 { 1e-2 } else { 0.2 }));
        }
        sample
    };
    (0..count).map(sample).collect()
}

#[test]
fn derivatives_by_all_data_agree_with_differences_of_solutions() {
    // Few contacts on many trees: some of them stick.
    let kind = Kind {
        trees: 5,
        contacts: 5,
        ..Kind::default()
    };
    let turning = Kind {
        turns: true,
        ..kind
    };
    for (law, seed, kind) in [
        (Law::Cone, 1, kind),
        (Law::Lagged, 2, kind),
        (Law::Coulomb, 8, kind),
        (Law::Coulomb, 14, turning),
    ] {
        let (mut compared, mut skipped) = (0, 0);
        let mut regions = [0; 3];
        for sample in samples(25, seed, &kind, law) {
            let (_, solution) = solved(&sample);
            for region in solution.regions() {
                regions[*region as usize] += 1;
            }
            let mut draw = SplitMix64(seed);
            let mut count = |agreed: bool| {
                if agreed {
                    compared += 1;
                } else {
                    skipped += 1;
                }
            };
            let (tree, contact) = (draw.permutation(5)[0], draw.permutation(5)[0]);
            let width = sample.trees[tree].1.len();
            let by_inertia = inertia(&mut draw, width, 0.3);
            let entries = sample.contacts[contact].1[0].1.len();
            let by_rows: Vec<f64> = (0..entries).map(|_| draw.between(-1.0, 1.0)).collect();
            let changes: [Change; 8] = [
                ("v*", &|s, x| s.trees[tree].1[0] += x),
                ("A", &|s, x| {
                    for (entry, d) in s.trees[tree].0.iter_mut().zip(&by_inertia) {
                        *entry += x * d;
                    }
                }),
                ("J", &|s, x| {
                    for (entry, d) in s.contacts[contact].1[0].1.iter_mut().zip(&by_rows) {
                        *entry += x * d;
                    }
                }),
                ("gap", &|s, x| s.contacts[contact].0.gap += 0.01 * x),
                ("k", &|s, x| s.contacts[contact].0.stiffness *= 1.0 + x),
                ("tau", &|s, x| {
                    s.contacts[contact].0.dissipation_time *= 1.0 + x;
                }),
                ("target", &|s, x| s.rows[0].0.target += x),
                ("R", &|s, x| s.rows[1].0.regularisation *= 1.0 + x),
            ];
            for (name, change) in changes {
                let by = by_difference(&sample, change, &solution);
                count(agrees(name, &sample, change, &by));
            }
        }
        assert!(compared > 10 * skipped, "{compared} {skipped}");
        assert!(regions[0] > 10 && regions[1] > 10, "{regions:?}");
    }
}

#[test]
fn derivatives_by_stated_parameters_agree_with_differences_of_solutions() {
    // Every second sample has stiffnesses beyond the near-rigid limit, which hold R_n no more.
    for near_rigid in [0.0, 1.0, 30.0] {
        let kind = Kind {
            near_rigid,
            ..Kind::default()
        };
        let mut compared = 0;
        for (law, seed) in [(Law::Cone, 3), (Law::Lagged, 4), (Law::Coulomb, 9)] {
            for sample in samples(8, seed, &kind, law) {
                let (problem, _) = solved(&sample);
                for contact in 0..problem.contacts() {
                    let mut by = [(); 4].map(|()| {
                        let mut by = Variation::default();
                        by.reset(&problem);
                        by
                    });
                    let k = sample.contacts[contact].0.stiffness;
                    by[0].contacts[contact].gap = 0.01;
                    by[1].contacts[contact].friction = 1.0;
                    by[2].contacts[contact].stiffness = k;
                    by[3].contacts[contact].dissipation_time = 0.01;
                    let changes: [Change; 4] = [
                        ("gap", &|s, x| s.contacts[contact].0.gap += 0.01 * x),
                        ("mu", &|s, x| s.contacts[contact].0.friction += x),
                        ("k", &|s, x| s.contacts[contact].0.stiffness *= 1.0 + x),
                        ("tau", &|s, x| {
                            s.contacts[contact].0.dissipation_time += 0.01 * x;
                        }),
                    ];
                    for ((name, change), by) in changes.into_iter().zip(&by) {
                        let of = &sample.contacts[contact].0;
                        let at_edge = (name == "mu" && of.friction == 0.0)
                            || (name == "tau" && of.dissipation_time < 1e-3);
                        if !at_edge {
                            compared += usize::from(agrees(name, &sample, change, by));
                        }
                    }
                }
            }
        }
        assert!(compared > 250, "{compared}");
    }
}

#[test]
fn derivatives_by_spinning_and_rolling_friction_agree_with_differences_of_solutions() {
    let kind = Kind {
        turns: true,
        trees: 5,
        ..Kind::default()
    };
    let mut compared = [0; 2];
    for sample in samples(40, 15, &kind, Law::Coulomb) {
        let (problem, solution) = solved(&sample);
        for (contact, (of, _)) in sample.contacts.iter().enumerate() {
            let both = |s: &mut Sample, x: f64| {
                let of = &mut s.contacts[contact].0;
                of.spinning_friction += x * f64::from(u8::from(of.spinning_friction > 0.0));
                of.rolling_friction += 2.0 * x * f64::from(u8::from(of.rolling_friction > 0.0));
            };
            let by = by_difference(&sample, &both, &solution).contacts[contact];
            for (length, rate, found) in [
                (of.spinning_friction, 1.0, by.spinning_friction),
                (of.rolling_friction, 2.0, by.rolling_friction),
            ] {
                let expected = if length > 0.0 { rate } else { 0.0 };
                assert!((found - expected).abs() < 1e-9, "{contact}: {found}");
            }
            let mut by = Variation::default();
            if of.spinning_friction > 0.0 {
                by.reset(&problem);
                by.contacts[contact].spinning_friction = 1.0;
                let change = |s: &mut Sample, x: f64| s.contacts[contact].0.spinning_friction += x;
                compared[0] += usize::from(agrees("spinning", &sample, &change, &by));
            }
            if of.rolling_friction > 0.0 {
                by.reset(&problem);
                by.contacts[contact].rolling_friction = 1.0;
                let change = |s: &mut Sample, x: f64| s.contacts[contact].0.rolling_friction += x;
                compared[1] += usize::from(agrees("rolling", &sample, &change, &by));
            }
        }
    }
    assert!(compared.iter().all(|n| *n > 30), "{compared:?}");
}

#[test]
fn the_adjoint_is_the_transpose() {
    // Problems whose loads do not come to rest.
    let mut without = 0;
    let (kind, turns) = (Kind::default(), true);
    let turning = Kind { turns, ..kind };
    for (law, seed, kind) in [
        (Law::Cone, 5, kind),
        (Law::Lagged, 6, kind),
        (Law::Coulomb, 10, kind),
        (Law::Coulomb, 16, turning),
    ] {
        for sample in samples(50, seed, &kind, law) {
            let mut draw = SplitMix64(seed);
            let problem = sample.build();
            let mut solver = solver();
            let solution = solver.solve(&problem, &sample.guess).expect("solved");
            if solution.friction_error() > 1e-9 {
                without += 1;
                continue;
            }
            let mut change = Variation::default();
            change.reset(&problem);
            let mut any = || draw.between(-1.0, 1.0);
            change.free.iter_mut().for_each(|x| *x = any());
            for contact in &mut change.contacts {
                (contact.gap, contact.friction) = (any(), any());
                (contact.stiffness, contact.dissipation_time) = (1e3 * any(), any());
                (contact.normal, contact.tangential) = (any(), 1e-3 * any());
                (contact.stabilisation, contact.start) = (any(), any());
                (contact.knee, contact.hard) = (any(), 1e-3 * any());
                contact.velocity = [any(), any(), any()];
                if kind.turns {
                    (contact.spinning_friction, contact.rolling_friction) = (any(), any());
                    contact.rotational = 1e-3 * any();
                    contact.angular_velocity = [any(), any(), any()];
                }
            }
            for row in &mut change.rows {
                (row.regularisation, row.target, row.velocity) = (any(), any(), any());
                (row.low, row.high) = (any(), any());
            }
            let mut weights = SolutionVariation::default();
            weights.reset(&problem);
            weights.v.iter_mut().for_each(|x| *x = any());
            let impulses = weights.impulses.as_flattened_mut();
            for impulse in impulses {
                *impulse = any();
            }
            weights.row_impulses.iter_mut().for_each(|x| *x = any());
            assert_eq!(weights.moments.is_empty(), !kind.turns);
            for moment in weights.moments.as_flattened_mut() {
                *moment = any();
            }
            // A tree without terms keeps v = v*, whatever its momentum.
            let touched = sample.contacts.iter().map(|(_, blocks)| blocks);
            let touched: Vec<usize> = touched
                .chain(sample.rows.iter().map(|(_, blocks)| blocks))
                .flatten()
                .map(|(tree, _)| *tree)
                .collect();
            let mut start = 0;
            for (tree, (_, free)) in sample.trees.iter().enumerate() {
                for momentum in &mut change.momentum[start..start + free.len()] {
                    *momentum = if touched.contains(&tree) { any() } else { 0.0 };
                }
                start += free.len();
            }
            let mut found = SolutionVariation::default();
            solver
                .derivative(&problem, &change, &mut found)
                .expect("derivative");
            let mut by_data = Variation::default();
            solver
                .adjoint(&problem, &weights, &mut by_data)
                .expect("adjoint");
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let forward = product(&weights.v, &found.v)
                + product(
                    weights.impulses.as_flattened(),
                    found.impulses.as_flattened(),
                )
                + product(weights.moments.as_flattened(), found.moments.as_flattened())
                + product(&weights.row_impulses, &found.row_impulses);
            let backward = by_data.dot(&change);
            let size = 1.0
                + forward.abs()
                + found
                    .impulses
                    .as_flattened()
                    .iter()
                    .map(|x| x.abs())
                    .sum::<f64>();
            assert!(
                (forward - backward).abs() < 1e-10 * size,
                "{forward} {backward}"
            );
        }
    }
    assert!(without < 3, "{without}");
}

#[test]
fn derivatives_are_refused_without_the_solution_of_the_problem() {
    let sample = samples(1, 7, &Kind::default(), Law::Cone).remove(0);
    let problem = sample.build();
    let (mut change, mut found) = (Variation::default(), SolutionVariation::default());
    change.reset(&problem);
    let mut solver = solver();
    let refused = |result: Result<(), CompliantFailure>| match result {
        Err(CompliantFailure::NoDerivative { why }) => why,
        other => panic!("{other:?}"),
    };
    let why = refused(solver.derivative(&problem, &change, &mut found));
    assert!(why.contains("solved"), "{why}");
    solver.solve(&problem, &sample.guess).expect("solved");
    solver
        .derivative(&problem, &change, &mut found)
        .expect("derivative");
    // another size, then another v*, then another law
    let mut other = sample.clone();
    other.contacts.pop();
    let other = other.build();
    let mut smaller = Variation::default();
    smaller.reset(&other);
    refused(solver.derivative(&other, &smaller, &mut found));
    let mut other = sample.clone();
    other.trees[sample.contacts[0].1[0].0].1[0] += 1.0;
    refused(solver.derivative(&other.build(), &change, &mut found));
    let mut other = sample.clone();
    other.contacts[2].0.friction += 1.0;
    refused(solver.derivative(&other.build(), &change, &mut found));
    // the size and the numbers of the change itself
    assert!(matches!(
        solver.derivative(&problem, &smaller, &mut found),
        Err(CompliantFailure::Input(_))
    ));
    change.contacts[3].velocity[1] = f64::NAN;
    assert!(matches!(
        solver.derivative(&problem, &change, &mut found),
        Err(CompliantFailure::Input(saltation::InputError::NotFinite {
            entry: 3,
            ..
        }))
    ));
    // a solution that has not converged
    let mut solver = Solver::new().rtol(1e-15).max_iterations(1);
    let solution = solver.solve(&problem, &sample.guess).expect("returned");
    assert_eq!(
        solution.islands()[0].convergence,
        Convergence::MaxIterations
    );
    change.reset(&problem);
    let why = refused(solver.derivative(&problem, &change, &mut found));
    assert!(why.contains("converged"), "{why}");
}

#[test]
fn a_difference_of_problems_with_other_terms_is_refused() {
    let sample = samples(1, 8, &Kind::default(), Law::Cone).remove(0);
    let (problem, solution) = solved(&sample);
    let mut by = Variation::default();
    let mut other = sample.clone();
    other.contacts.swap(0, 1);
    other.contacts[0].1.truncate(1);
    other.contacts.truncate(4);
    let refused = by.set_difference(&problem, &other.build(), 1.0, &solution);
    assert!(matches!(
        refused,
        Err(CompliantFailure::NoDerivative { .. })
    ));
    // A solution without moments, of as many contacts.
    let turning = Kind {
        turns: true,
        ..Kind::default()
    };
    let with = samples(1, 8, &turning, Law::Coulomb).remove(0);
    let mut without = with.clone();
    for (parameters, blocks) in &mut without.contacts {
        (parameters.spinning_friction, parameters.rolling_friction) = (0.0, 0.0);
        for (tree, rows) in blocks {
            rows.truncate(3 * with.trees[*tree].1.len());
        }
    }
    let (with, (_, without)) = (with.build(), solved(&without));
    let refused = by.set_difference(&with, &with, 1.0, &without);
    assert!(matches!(
        refused,
        Err(CompliantFailure::NoDerivative { .. })
    ));
    let mut other = sample.clone();
    other.lagged = Some((sample.guess, 1e-3));
    let refused = by.set_difference(&problem, &other.build(), 1.0, &solution);
    assert!(matches!(
        refused,
        Err(CompliantFailure::NoDerivative { .. })
    ));
}

#[test]
fn on_the_boundary_of_stiction_the_derivative_is_that_of_stiction() {
    // A particle of 2 kg with A = 2 I: friction is at its bound when v*_t is this.
    let mut problem = Problem::new(0.01).expect("dt");
    let mut ground = saltation::mechanics::ContactParameters::new(0, 0.0);
    (ground.stiffness, ground.friction) = (1e4, 0.5);
    let mass = [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0];
    let mut sides = Vec::new();
    for slip in [1.0 - 1e-9, 1.0 + 1e-9] {
        problem
            .reset(0.01, saltation::compliant::Softness::default())
            .expect("reset");
        // R_n = 1, hence γ_n = 1/3 and γ_t = 1/6 for v*_n = −1/2; slips grow by R_t γ_t.
        let tangential = 1e-3 / (2.0 * 3f64.sqrt());
        let free = slip * (1.0 / 12.0 + tangential / 6.0);
        let tree = problem.add_tree(&mass, &[free, 0.0, -0.5]).expect("tree");
        let rows = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        problem
            .add_contact(&ground, &[(tree, &rows)])
            .expect("contact");
        let mut solver = solver();
        let solution = solver.solve(&problem, &[0.0; 3]).expect("solved");
        let region = solution.regions()[0];
        let (mut change, mut found) = (Variation::default(), SolutionVariation::default());
        change.reset(&problem);
        change.free[0] = 1.0;
        solver
            .derivative(&problem, &change, &mut found)
            .expect("derivative");
        sides.push((region, found.v[0]));
    }
    let [(Region::Stiction, inside), (Region::Sliding, outside)] = sides[..] else {
        panic!("{sides:?}");
    };
    // H⁻¹ A: 2/(2 + 1/R_t) in stiction; the slip alone in sliding.
    let tangential = 1e-3 / (2.0 * 3f64.sqrt());
    assert!(
        (inside - 2.0 / (2.0 + 1.0 / tangential)).abs() < 1e-9,
        "{inside}"
    );
    assert!(outside > 0.5, "{outside}");
}
