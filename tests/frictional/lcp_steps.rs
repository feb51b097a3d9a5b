//! The sampler by complementarity steps.

use saltation::InputError;
use saltation::impact::{
    BoundLaw, Finish, ImpactFailure, ImpactLaw, ImpactProblem, InOrder, LcpSteps, SolutionRule,
};
use saltation::nalgebra::{DMatrix, DVector, dmatrix, dvector};

use crate::reference::{Case, EXAMPLES};

/// What came of samples 0 to `count`.
struct Sampled {
    mean_steps: f64,
    finished: f64,
    low: DVector<f64>,
    high: DVector<f64>,
}

fn sample(case: &Case, settings: LcpSteps, count: u64) -> Sampled {
    let problem = case.problem();
    let steps = case.value("N") as usize;
    let mut simulation = settings.most_steps(steps).seed(1).start(&problem).unwrap();
    let size = problem.speeds().len();
    let (mut u, mut p) = (DVector::zeros(size), DVector::zeros(size));
    let (mut all, mut finished) = (0, 0);
    let mut low = DVector::from_element(size, f64::INFINITY);
    let mut high = -&low;
    let m = problem.contacts();
    for k in 0..count {
        let ended = simulation
            .simulate(k, u.as_mut_slice(), p.as_mut_slice())
            .unwrap();
        all += ended.steps;
        finished += u64::from(ended.finished);
        let off = (problem.speeds() + problem.delassus() * &p - &u).amax();
        assert!(off < 1e-12 * (1.0 + p.amax()), "{}: {off:e}", case.name);
        assert!(ended.residual < 1e-9, "{}: {}", case.name, ended.residual);
        let gained = 0.5 * p.dot(&(problem.speeds() + &u));
        assert!(gained < 1e-12, "{}: {gained:e}", case.name);
        for i in 0..m {
            assert!(p[i] >= 0.0 && p[m + i].abs() <= problem.friction()[i] * p[i] + 1e-9);
        }
        if ended.finished {
            low = low.inf(&u);
            high = high.sup(&u);
        }
    }
    Sampled {
        mean_steps: all as f64 / count as f64,
        finished: finished as f64 / count as f64,
        low,
        high,
    }
}

#[test]
fn keyed_samples_are_those_of_the_reference() {
    for name in ["rocking_block", "box_wall"] {
        let case = Case::named(name);
        let problem = case.problem();
        for rule in [SolutionRule::Lemke, SolutionRule::PickUniform] {
            let settings = LcpSteps::new(case.value("h")).most_steps(case.value("N") as usize);
            let mut simulation = settings.seed(1).rule(rule).start(&problem).unwrap();
            for (k, steps) in case.of("keyed_sample_lcps").enumerate() {
                let (mut u, mut p) = (DVector::zeros(4), DVector::zeros(4));
                let ended = simulation
                    .simulate(k as u64, u.as_mut_slice(), p.as_mut_slice())
                    .unwrap();
                assert!(ended.finished);
                assert_eq!(ended.steps, steps.value() as usize, "{name} {k}");
                let off = (&u - case.vector_of("keyed_sample_u", k)).amax();
                assert!(off < 1e-9, "{name} {k}: {off:e}");
            }
        }
    }
}

#[test]
fn steps_per_sample_are_those_of_the_reference() {
    for (name, count) in [
        ("rocking_block", 1000),
        ("compass_gait", 1000),
        ("box_wall", 1000),
        ("ramone", 800),
        ("disk_stack", 200),
        ("disk_stack_as_coded", 50),
    ] {
        let case = Case::named(name);
        let found = sample(&case, LcpSteps::new(case.value("h")), count);
        let row = case.one("sample_uniform_d1_lcp_per_sample");
        // The tolerance of the reference is for 16384 samples: four standard errors.
        let allowed = row.tolerance() * (16384.0 / count as f64).sqrt();
        let off = (found.mean_steps - row.value()).abs();
        assert!(
            off < allowed,
            "{name}: {} not {}",
            found.mean_steps,
            row.value()
        );
        let expected = case.value("sample_uniform_d1_finished");
        // four standard errors
        let allowed = 4.0 * (expected * (1.0 - expected) / count as f64).sqrt() + 1e-3;
        let off = (found.finished - expected).abs();
        assert!(off < allowed, "{name}: {}", found.finished);
        // Outcomes lie within those of the exact set, as far as it is known.
        if EXAMPLES[..4].contains(&name) {
            let (low, high) = (case.vector("exact_lo"), case.vector("exact_hi"));
            for i in 0..4 {
                assert!(
                    found.low[i] >= low[i] - 1e-7 && found.high[i] <= high[i] + 1e-7,
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn enumeration_reaches_what_lemke_does_not() {
    let case = Case::named("compass_gait");
    let settings = LcpSteps::new(case.value("h"));
    let found = sample(&case, settings.rule(SolutionRule::PickUniform), 400);
    let row = case.one("sample_enumerated_lcp_per_sample");
    let allowed = row.tolerance() * (16384.0f64 / 400.0).sqrt();
    assert!(
        (found.mean_steps - row.value()).abs() < allowed,
        "{}",
        found.mean_steps
    );
    // The sliding outcome, which has a negative determinant.
    assert!(found.high[3] > 0.1, "{}", found.high);
    let lemke = sample(&case, settings, 400);
    assert!(lemke.mean_steps < found.mean_steps - 0.3);
    let cover = SolutionRule::LemkeRandomCover { spread: 100.0 };
    assert!(sample(&case, settings.rule(cover), 200).finished > 0.9);
}

#[test]
fn a_dictionary_changes_no_unique_velocity_and_keeps_no_history() {
    for name in ["rocking_block", "box_wall", "disk_stack_as_coded"] {
        let case = Case::named(name);
        let problem = case.problem();
        let settings = LcpSteps::new(case.value("h")).seed(5);
        let mut lemke = settings.start(&problem).unwrap();
        let mut known = settings.dictionary(50).start(&problem).unwrap();
        let mut fresh = known.clone();
        let size = problem.speeds().len();
        let (mut u, mut v, mut p) = (
            DVector::zeros(size),
            DVector::zeros(size),
            DVector::zeros(size),
        );
        for k in (0..60).rev() {
            let ended = known
                .simulate(k, u.as_mut_slice(), p.as_mut_slice())
                .unwrap();
            assert!(ended.residual < 1e-9);
            if problem.contacts() == 2 {
                lemke
                    .simulate(k, v.as_mut_slice(), p.as_mut_slice())
                    .unwrap();
                assert!((&u - &v).amax() < 1e-9, "{name} {k}");
            }
            fresh
                .clone()
                .simulate(k, v.as_mut_slice(), p.as_mut_slice())
                .unwrap();
            assert_eq!(u, v);
        }
        fresh
            .simulate(1 << 40, v.as_mut_slice(), p.as_mut_slice())
            .unwrap();
    }
}

#[test]
fn faces_reach_the_ends_of_the_set() {
    let case = Case::named("rocking_block");
    let settings = LcpSteps::new(0.5 * case.value("h")).law(BoundLaw::Faces);
    let found = sample(&case, settings, 1000);
    let high = case.vector("exact_hi");
    assert!(found.high[0] > 0.99 * high[0] && found.high[0] <= high[0] + 1e-9);
    assert!(found.high[1] > 0.99 * high[1]);
}

#[test]
fn in_space_polygons_have_the_error_of_the_reference() {
    let case = Case::named("keller3d_slide");
    let problem = case.one_contact(case.value("mu"));
    let exact = case.vector("u_post");
    for row in case.of("polygon_error_inf") {
        let directions = row.k;
        let settings = LcpSteps::new(0.1).most_steps(1000).directions(directions);
        let mut simulation = settings.start(&problem).unwrap();
        let (mut u, mut p) = (DVector::zeros(3), DVector::zeros(3));
        assert!(
            simulation
                .simulate(0, u.as_mut_slice(), p.as_mut_slice())
                .unwrap()
                .finished
        );
        let off = (&u - &exact).amax();
        assert!(
            (off - row.value()).abs() < row.tolerance(),
            "{directions}: {off}"
        );
    }
}

#[test]
fn a_small_step_ends_what_is_left() {
    let case = Case::named("rocking_block");
    let problem = case.problem();
    let settings = LcpSteps::new(0.3).most_steps(1);
    let mut drop = settings.start(&problem).unwrap();
    let mut end = settings
        .finish(Finish::SmallStep(10.0))
        .start(&problem)
        .unwrap();
    let (mut dropped, mut ended) = (0, 0);
    for k in 0..200 {
        let (mut u, mut v, mut p) = ([0.0; 4], [0.0; 4], [0.0; 4]);
        dropped += usize::from(!drop.simulate(k, &mut u, &mut p).unwrap().finished);
        let more = end.simulate(k, &mut v, &mut p).unwrap();
        ended += usize::from(more.finished);
        assert_eq!(more.steps, 2);
        // √(Δp · Δu), at most ε/3
        let moved: f64 = u
            .iter()
            .zip(v)
            .map(|(u, v)| (u - v).abs())
            .fold(0.0, f64::max);
        assert!(moved < 10.0);
    }
    assert!(dropped > 50 && ended > 200 - dropped, "{dropped} {ended}");
}

/// The change of the velocity itself, not of its kinetic energy: bodies may be light.
#[test]
fn the_small_step_moves_the_velocity_by_less_than_a_third() {
    for mass in [1e-4, 1.0, 1e4] {
        let masses = DMatrix::identity(2, 2) * mass;
        let rows = dmatrix![0.0, 1.0; 1.0, 0.0];
        let before = dvector![3.0, -1.0];
        let problem =
            ImpactProblem::from_mechanics_with_tangents(&masses, &rows, &before, &[0.5]).unwrap();
        let size = 0.3;
        let steps = LcpSteps::new(1e-9)
            .most_steps(1)
            .finish(Finish::SmallStep(size));
        let mut simulation = steps.start(&problem).unwrap();
        let (mut u, mut p) = (DVector::zeros(2), DVector::zeros(2));
        simulation
            .simulate(0, u.as_mut_slice(), p.as_mut_slice())
            .unwrap();
        let moved = (rows.transpose() * p / mass).norm();
        // ψ = σ m (1 + μ) + 1 with σ² = 2/mass² for + and − along the tangent
        let psi = 2.0f64.sqrt() / mass * 1.5 + 1.0;
        let push = size / (3.0 * psi);
        let expected = 1.25f64.sqrt() * push / mass;
        assert!(moved < size / 3.0, "{moved}");
        assert!(
            (moved - expected).abs() < 1e-3 * expected,
            "{moved} {expected}"
        );
    }
}

#[test]
fn bad_settings_are_refused_and_rest_stays() {
    let problem = Case::named("rocking_block").problem();
    let good = LcpSteps::new(0.3);
    for bad in [
        LcpSteps::new(0.0),
        LcpSteps::new(f64::NAN),
        good.most_steps(0),
        good.tolerance(-1.0),
        good.dictionary(100_001),
        good.dictionary(1).rule(SolutionRule::PickUniform),
        good.rule(SolutionRule::LemkeRandomCover { spread: 0.5 }),
        good.finish(Finish::SmallStep(-1.0)),
    ] {
        assert!(
            matches!(
                bad.start(&problem),
                Err(ImpactFailure::Input(InputError::BadSetting { .. }))
            ),
            "{bad:?}"
        );
    }
    let many = ImpactProblem::with_tangents(
        DMatrix::identity(12, 12),
        DVector::from_element(12, -1.0),
        &[0.1; 6],
    )
    .unwrap();
    assert!(good.rule(SolutionRule::PickUniform).start(&many).is_err());
    let leaving =
        ImpactProblem::with_tangents(dmatrix![1.0, 0.0; 0.0, 1.0], dvector![1.0, 1.0], &[1.0]);
    let leaving = leaving.unwrap();
    let mut simulation = good.start(&leaving).unwrap();
    let (mut u, mut p) = ([0.0; 2], [0.0; 2]);
    let ended = simulation.simulate(3, &mut u, &mut p).unwrap();
    assert!(ended.finished && ended.steps == 0 && u == [1.0, 1.0] && p == [0.0; 2]);
    assert!(simulation.simulate(3, &mut u[..1], &mut p).is_err());
}

/// Property 4 of the specification, for the modes that are chosen from all.
#[test]
fn chosen_modes_solve_their_complementarity_problems() {
    for name in ["rocking_block", "compass_gait", "box_wall", "ramone"] {
        let case = Case::named(name);
        let problem = case.problem();
        let settings = LcpSteps::new(case.value("h")).rule(SolutionRule::PickUniform);
        let mut simulation = settings.start(&problem).unwrap();
        let (mut u, mut p) = ([0.0; 4], [0.0; 4]);
        let mut most: f64 = 0.0;
        for k in 0..100 {
            let ended = simulation.simulate(k, &mut u, &mut p).unwrap();
            most = most.max(ended.residual);
        }
        // rounding, but measured
        assert!(most > 0.0 && most < 1e-10, "{name}: {most:e}");
    }
}

/// A rod that slides into the floor and hardly approaches it has a great impulse (spec 7.2), whose
/// rounding is greater than the approach.
#[test]
fn no_impact_is_made_for_rounding() {
    for k in 1..200 {
        let slip = -0.01 * f64::from(k);
        let rod = dmatrix![1.6, -1.2; -1.2, 3.4];
        let speeds = dvector![-1e-9, slip];
        let problem = ImpactProblem::with_tangents(rod, speeds, &[2.0]).unwrap();
        let outcomes = InOrder::new(&[0]).resolve(&problem).unwrap();
        assert!(outcomes.is_complete);
        assert_eq!(outcomes.effort, 1, "{slip}");
        let settings = LcpSteps::new(1000.0).tolerance(1e-12);
        let mut simulation = settings.start(&problem).unwrap();
        let (mut u, mut p) = ([0.0; 2], [0.0; 2]);
        let ended = simulation.simulate(0, &mut u, &mut p).unwrap();
        assert!(ended.finished && p[0] > 0.0, "{slip}");
        assert_eq!(ended.steps, 1, "{slip}: {u:?}");
    }
}
