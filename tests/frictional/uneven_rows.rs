//! Rows of very different sizes: gaps in other units than metres.

use saltation::impact::{ImpactProblem, LcpSteps, SolutionRule};
use saltation::nalgebra::{DMatrix, DVector};

use crate::random_bits::SplitMix64;

/// The problem with row `i` times `2^powers[i]`, tangents as their contact.
fn in_units(problem: &ImpactProblem, powers: &[i32]) -> ImpactProblem {
    let (m, rows) = (problem.contacts(), problem.speeds().len());
    let unit = |row: usize| 2f64.powi(powers[if row < m { row } else { row - m }]);
    let g = DMatrix::from_fn(rows, rows, |i, j| {
        unit(i) * problem.delassus()[(i, j)] * unit(j)
    });
    let u = DVector::from_fn(rows, |i, _| unit(i) * problem.speeds()[i]);
    ImpactProblem::with_tangents(g, u, problem.friction()).unwrap()
}

#[test]
fn energy_falls_and_cones_hold_in_uneven_rows() {
    let mut random = SplitMix64(417);

    for case in 0..if cfg!(debug_assertions) { 24 } else { 60 } {
        let m = 2 + case % 2;
        let (rows, dim) = (2 * m, 2 * m + 1);
        let j = DMatrix::from_fn(rows, dim, |_, _| random.between(-1.0, 1.0));
        let u = DVector::from_fn(rows, |i, _| {
            if i < m {
                random.between(-1.0, -0.1)
            } else {
                random.between(-1.0, 1.0)
            }
        });
        let mu: Vec<f64> = (0..m).map(|_| random.between(0.0, 0.6)).collect();
        let even = ImpactProblem::with_tangents(&j * j.transpose(), u, &mu).unwrap();

        let powers: Vec<i32> = (0..m).map(|i| [-24, 12, 18][(case + i) % 3]).collect();
        let uneven = in_units(&even, &powers);
        for rule in [SolutionRule::Lemke, SolutionRule::PickUniform] {
            let steps = LcpSteps::new(0.7).most_steps(40).rule(rule);
            let (mut speeds, mut impulses) = (vec![0.0; rows], vec![0.0; rows]);
            let Ok(mut simulation) = steps.start(&uneven) else {
                panic!("case {case}");
            };
            for sample in 0..3 {
                let ended = simulation
                    .simulate(sample, &mut speeds, &mut impulses)
                    .unwrap();
                let before = uneven.speeds();
                let gained: f64 = (0..rows)
                    .map(|i| 0.5 * impulses[i] * (before[i] + speeds[i]))
                    .sum();
                assert!(gained < 1e-9, "case {case}: the energy rises by {gained:e}");
                if !ended.finished {
                    continue;
                }
                for i in 0..m {
                    let unit = 2f64.powi(powers[i]);
                    assert!(speeds[i] >= -1e-7 * unit, "case {case}: {}", speeds[i]);
                    assert!(impulses[i] * unit >= -1e-12);
                    let kept =
                        impulses[m + i].abs() <= mu[i] * impulses[i] * (1.0 + 1e-9) + 1e-9 / unit;
                    assert!(kept, "case {case}");
                }
            }
        }
    }
}

#[test]
fn a_light_row_leaves_no_faster_than_it_came() {
    // A gap in units of 2^22 m: what the residual of the others allows is a great speed there.
    let mut random = SplitMix64(90);
    for _ in 0..200 {
        let j = DMatrix::from_fn(3, 4, |_, _| random.between(-1.0, 1.0));
        let u = DVector::from_fn(3, |_, _| random.between(-4.0, -0.1));
        let even = ImpactProblem::new(&j * j.transpose(), u).unwrap();
        let problem = {
            let unit = [1.0, 1.0, 2f64.powi(-22)];
            let g = DMatrix::from_fn(3, 3, |i, k| unit[i] * even.delassus()[(i, k)] * unit[k]);
            let u = DVector::from_fn(3, |i, _| unit[i] * even.speeds()[i]);
            ImpactProblem::new(g, u).unwrap()
        };
        let mut simulation = LcpSteps::new(1e9).most_steps(20).start(&problem).unwrap();
        let (mut speeds, mut impulses) = ([0.0; 3], [0.0; 3]);
        simulation.simulate(1, &mut speeds, &mut impulses).unwrap();
        let gained: f64 = (0..3)
            .map(|i| 0.5 * impulses[i] * (problem.speeds()[i] + speeds[i]))
            .sum();
        assert!(gained <= 1e-9, "the energy rises by {gained:e}");
    }
}
