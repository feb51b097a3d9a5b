//! Numbers at the ends of their range: a typed error, or an outcome that is finite.

use saltation::impact::{
    AnitescuPotra, ContactCone, EventExact, ExactPlanar, Finish, ImpactFailure, ImpactLaw,
    ImpactProblem, InOrder, LcpSteps, Routh, RouthInclusion, SolutionRule,
};
use saltation::nalgebra::{DMatrix, DVector, dmatrix, dvector};

use crate::numbers::number;
use crate::random_bits::SplitMix64;

#[test]
fn wild_numbers_are_refused_or_resolved() {
    let mut random = SplitMix64(81);
    let mut resolved = 0;
    for case in 0..400u64 {
        let wildness = case % 4;
        let (m, t) = (1 + (case / 4 % 3) as usize, (case / 12 % 3) as usize);
        let rows = m + t * m;
        let mut next = || random.next();
        let dim = rows - (next() % rows as u64 / 2) as usize;
        let j = DMatrix::from_fn(rows, dim, |_, _| number(&mut next, wildness));
        let v = DVector::from_fn(dim, |_, _| number(&mut next, wildness));
        let mu: Vec<f64> = (0..m)
            .map(|_| {
                if t == 0 {
                    0.0
                } else {
                    number(&mut next, wildness).abs()
                }
            })
            .collect();
        let problem = if case % 2 == 0 {
            ImpactProblem::from_mechanics_with_tangents(&DMatrix::identity(dim, dim), &j, &v, &mu)
        } else {
            // Blocks that belong to no body.
            let mut g = &j * j.transpose();
            for i in m..rows {
                g[(i, i)] = number(&mut next, wildness).abs();
            }
            ImpactProblem::with_tangents(g, &j * &v, &mu)
        };
        let Ok(problem) = problem else {
            continue;
        };
        let problem = problem.with_restitution(0.5).unwrap();
        let order: Vec<usize> = (0..m).collect();
        let h = number(&mut next, wildness).abs();
        let laws: [&dyn ImpactLaw; 5] = [
            &Routh::new().without_collision(),
            &AnitescuPotra::new().directions(4),
            &InOrder::new(&order).cap(30),
            &RouthInclusion::new(LcpSteps::new(h).directions(4), 2),
            &RouthInclusion::new(LcpSteps::new(h).round_cone().directions(4), 1),
        ];
        for law in laws {
            if let Ok(outcomes) = law.resolve(&problem) {
                for outcome in &outcomes.list {
                    assert!(
                        outcome
                            .speeds
                            .iter()
                            .chain(&outcome.impulses)
                            .all(|x| x.is_finite())
                    );
                    resolved += 1;
                }
            }
        }
        let cone = ContactCone::of(&problem);
        assert!(!cone.is_ok_and(|cone| cone.margin().is_nan()));
        let (mut u, mut p) = (vec![0.0; rows], vec![0.0; rows]);
        let small = LcpSteps::new(h)
            .finish(Finish::SmallStep(1.0))
            .rule(SolutionRule::PickUniform);
        let small = small.most_steps(2).start(&problem);
        let ended = small.and_then(|mut small| small.simulate(case, &mut u, &mut p));
        finite(&ended, [&u, &p], case);
        let exact = EventExact::new(h).start(&problem);
        let ended = exact.and_then(|mut exact| exact.simulate(case, &mut u, &mut p));
        finite(&ended, [&u, &p], case);
        let energetic = LcpSteps::new(h).start_energetic(&problem);
        let ended = energetic.and_then(|mut steps| steps.simulate(case, &mut u, &mut p));
        finite(&ended, [&u, &p], case);
    }
    assert!(resolved > 150, "{resolved}");
}

/// What a sample leaves is finite, unless it was refused.
fn finite<T>(ended: &Result<T, ImpactFailure>, left: [&[f64]; 2], case: u64) {
    if ended.is_ok() {
        let numbers = left.concat();
        assert!(
            numbers.iter().all(|x| x.is_finite()),
            "case {case}: {numbers:?}"
        );
    }
}

#[test]
fn bounds_and_friction_that_overflow_are_refused_by_exact_events() {
    let overflows = |failure| matches!(failure, ImpactFailure::Overflow { .. });
    let heavy = ImpactProblem::new(dmatrix![1e16], dvector![-1.0]).unwrap();
    let mut simulation = EventExact::new(1e307).start(&heavy).unwrap();
    let ended = simulation.simulate(0, &mut [0.0], &mut [0.0]);
    assert!(overflows(ended.unwrap_err()));
    let slippery = dmatrix![1.0, 0.0; 0.0, 1e16];
    let rough = ImpactProblem::with_tangents(slippery, dvector![-1.0, 1.0], &[1e307]).unwrap();
    assert!(overflows(EventExact::new(1.0).start(&rough).unwrap_err()));
}

/// A block that a contact stops, and its slip, in units in which the speeds nearly overflow.
#[test]
fn exact_events_of_speeds_near_overflow_are_found() {
    let delassus = dmatrix![1.0, 0.0; 0.0, 1.0];
    let speeds = dvector![-1e305, 1e305];
    let problem = ImpactProblem::with_tangents(delassus, speeds, &[0.25]).unwrap();
    let mut simulation = EventExact::new(1e305).start(&problem).unwrap();
    let (mut u, mut p) = ([0.0; 2], [0.0; 2]);
    let ended = simulation.simulate(0, &mut u, &mut p).unwrap();
    assert!(ended.finished);
    for (found, expected) in u.iter().chain(&p).zip([0.0, 0.75e305, 1e305, -0.25e305]) {
        assert!((found - expected).abs() < 1e-14 * 1e305, "{u:?} {p:?}");
    }
}

#[test]
fn a_contact_that_separates_gets_no_impulse_without_collision() {
    let delassus = dmatrix![1.6, -1.2; -1.2, 3.4];
    let problem = ImpactProblem::with_tangents(delassus, dvector![0.5, -1.0], &[2.0]).unwrap();
    let outcome = Routh::new().without_collision().outcome(&problem).unwrap();
    assert_eq!(outcome.impulses, dvector![0.0, 0.0]);
}

#[test]
fn exact_sets_of_speeds_near_overflow_are_finite() {
    let delassus = dmatrix![1000.0, 1.4; 1.4, 1.6];
    let speeds = dvector![-2.8e307, 2.4e307];
    let problem = ImpactProblem::with_tangents(delassus, speeds, &[0.9]).unwrap();
    let set = ExactPlanar::new().resolve(&problem).unwrap();
    for vertex in set.pieces().iter().flat_map(|piece| piece.vertices()) {
        assert!(vertex.iter().all(|u| u.is_finite()), "{vertex:?}");
        assert!(vertex[0].abs() < 1e294);
    }
    assert!(!set.pieces().is_empty());
}

#[test]
fn an_exact_set_without_an_impact_is_the_velocity_as_it_is() {
    // Rows that are dependent but for 1e-7, and a motion along what is left.
    let mass = DMatrix::identity(2, 2);
    let jacobian = dmatrix![1.0, 0.0; -1.0, 1e-7];
    let velocity = dvector![1.0, 1e7];
    let problem =
        ImpactProblem::from_mechanics_with_tangents(&mass, &jacobian, &velocity, &[0.5]).unwrap();
    let set = ExactPlanar::new().resolve(&problem).unwrap();
    let vertices: Vec<&[f64]> = set.pieces()[0].vertices().collect();
    assert_eq!(vertices, [problem.speeds().as_slice()]);
}

#[test]
fn friction_many_orders_above_the_normal_does_not_pull() {
    // Scaled to unit rows the coefficient of friction is 1e11.
    let delassus = dmatrix![1e-16, 2e-9; 2e-9, 1.0];
    let problem = ImpactProblem::with_tangents(delassus, dvector![1e-8, 1.0], &[1e3]).unwrap();
    let outcomes = AnitescuPotra::new().resolve(&problem).unwrap();
    assert!(
        outcomes.list.iter().all(|o| !o.raises_energy()),
        "{outcomes}"
    );
    assert_eq!(outcomes.list.len(), 1);
}

#[test]
fn speeds_that_overflow_between_impacts_are_refused() {
    let delassus = dmatrix![
        0.001083555763203653, -0.19652709209001654, -0.0011175008993612118, -2.6922451964015164e-5;
        -0.19652709209001654, 319.05273498523417, 0.5150397953096638, 0.023131661893073578;
        -0.0011175008993612118, 0.5150397953096638, 0.0018519595489038543, 3.24412591698417e-5;
        -2.6922451964015164e-5, 0.023131661893073578, 3.24412591698417e-5, 3.1926784582289407e-6];
    let speeds = dvector![
        -1.9479007567517038e305,
        3.5329540426467683e307,
        2.008923694984114e305,
        4.839830706937053e303
    ];
    let friction = [3.0892945842835906, 0.24149842564149393];
    let problem = ImpactProblem::with_tangents(delassus, speeds, &friction).unwrap();
    for order in [[0, 1], [1, 0]] {
        match InOrder::new(&order).resolve(&problem) {
            Ok(outcomes) => assert!(outcomes.list[0].speeds.iter().all(|u| u.is_finite())),
            Err(failure) => assert!(
                matches!(failure, ImpactFailure::Overflow { .. }),
                "{failure}"
            ),
        }
    }
}
