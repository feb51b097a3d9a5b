//! Single contact problems against solutions in 50 digits (spec 10.9).

use saltation::compliant::{Guess, LineSearch, Solver};

use crate::reference::{Case, cases};

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    norm(&difference)
}

fn solver(rtol: f64) -> Solver {
    Solver::new().rtol(rtol).guess(Guess::Given).islands(false)
}

#[test]
fn regularisation_is_that_of_the_reference() {
    for case in cases() {
        let (normal, tangential) = (case.list("Rn"), case.list("Rt"));
        for (i, v_hat) in case.list("vhat_n").into_iter().enumerate() {
            let law = case.problem.law(i).expect("a contact");
            assert!(
                (law.normal / normal[i] - 1.0).abs() < 1e-12,
                "{}",
                case.name
            );
            assert!(
                (law.tangential / tangential[i] - 1.0).abs() < 1e-12,
                "{}",
                case.name
            );
            assert!(
                (law.stabilisation - v_hat).abs() <= 1e-14 * v_hat.abs(),
                "{}",
                case.name
            );
        }
    }
}

#[test]
fn velocities_impulses_regions_and_cost_are_those_of_the_reference() {
    for case in cases() {
        let mut solver = solver(1e-10);
        let solution = solver.solve(&case.problem, &case.guess).expect("solved");
        assert!(solution.is_converged(), "{}", case.name);
        let v = case.list("v");
        let off = distance(solution.v(), &v) / norm(&v);
        assert!(off < 1e-10, "{}: {off:e}", case.name);
        let expected = case.impulses();
        let off = distance(solution.impulses().as_flattened(), expected.as_flattened());
        assert!(
            off < 1e-8 * norm(expected.as_flattened()),
            "{}: {off:e}",
            case.name
        );
        assert_eq!(solution.regions(), case.regions(), "{}", case.name);
        let cost = case.number("cost");
        assert!(
            (solution.cost() - cost).abs() < 1e-12 * cost,
            "{}",
            case.name
        );
        assert!(solution.complementarity_error() < 1e-12, "{}", case.name);
    }
}

fn iterations(case: &Case, rtol: f64, search: LineSearch) -> usize {
    let mut solver = solver(rtol).line_search(search);
    let solution = solver.solve(&case.problem, &case.guess).expect("solved");
    assert!(solution.is_converged());
    solution
        .islands()
        .iter()
        .map(|island| island.iterations)
        .max()
        .unwrap_or(0)
}

#[test]
fn iterations_are_within_two_of_the_reference() {
    for case in cases() {
        for (rtol, key) in [
            (1e-3, "iterations_exact_1e3"),
            (1e-6, "iterations_exact_1e6"),
            (1e-8, "iterations_exact_1e8"),
        ] {
            let (found, expected) = (iterations(&case, rtol, LineSearch::Exact), case.number(key));
            assert!(
                found as f64 <= expected + 2.0,
                "{} {key}: {found} {expected}",
                case.name
            );
        }
        let found = iterations(&case, 1e-8, LineSearch::Armijo);
        let expected = case.number("iterations_armijo_1e8");
        assert!(
            found as f64 <= expected + 2.0,
            "{} Armijo: {found} {expected}",
            case.name
        );
    }
}

#[test]
fn costs_fall_as_those_of_the_reference() {
    for case in cases() {
        let mut solver = solver(1e-8).history(true);
        let solution = solver.solve(&case.problem, &case.guess).expect("solved");
        let costs = &solution.islands()[0].costs;
        assert!(
            costs
                .windows(2)
                .all(|pair| pair[1] <= pair[0] * (1.0 + 1e-14)),
            "{}",
            case.name
        );
        let expected = case.list("cost_history_exact_1e8");
        assert!(
            (costs[0] / expected[0] - 1.0).abs() < 1e-12,
            "{}",
            case.name
        );
        let second = (costs[1] / expected[1] - 1.0).abs();
        assert!(second < 1e-6, "{}: {second:e}", case.name);
    }
}
