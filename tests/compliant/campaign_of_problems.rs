//! A campaign of small random problems. The cost is strongly convex in the norm of `A`, so that the
//! gradient of the paper's form of the law, in dense matrices, bounds the error of any velocities:
//! `‖v − v̄‖_A ≤ ‖∇ℓ(v)‖_{A⁻¹}`. Some are solved again by a plain damped Newton method.

use nalgebra::{DMatrix, DVector};
use saltation::compliant::{Convergence, Guess, LineSearch, Solver};

use crate::random::SplitMix64;
use crate::random_problems::{Dense, Kind, Sample};

fn below(draw: &mut SplitMix64, n: u64) -> usize {
    usize::try_from(draw.next() % n).expect("small")
}

fn sample(draw: &mut SplitMix64) -> Sample {
    let kind = Kind {
        trees: 1 + below(draw, 3),
        contacts: 1 + below(draw, 4),
        rows: below(draw, 3),
        masses: [(-0.5, 0.5), (-2.0, 2.0)][below(draw, 2)],
        stiffness: [(1.0, 4.0), (4.0, 7.0), (12.0, 13.0)][below(draw, 3)],
        near_rigid: [1.0, 0.1][below(draw, 2)],
        stiction: [1e-3, 1e-2, 1e-4][below(draw, 3)],
        turns: false,
    };
    let mut sample = Sample::draw(draw, &kind);
    if draw.unit() < 0.1 {
        sample.lagged = Some((sample.guess.clone(), 10f64.powf(draw.between(-4.0, -1.0))));
    }
    if draw.unit() < 0.1 {
        // redundant contacts
        sample.contacts.push(sample.contacts[0].clone());
    }
    sample
}

/// Newton's method with a Hessian by differences and bisection for the length of steps.
fn plain(dense: &Dense, start: &DVector<f64>) -> DVector<f64> {
    let (n, mut v) = (start.len(), start.clone());
    let gradient = |v: &DVector<f64>| dense.cost(v).1;
    for _ in 0..500 {
        let g = gradient(&v);
        let mut hessian = DMatrix::zeros(n, n);
        for k in 0..n {
            let mut other = v.clone();
            let h = 1e-7 * (1.0 + v[k].abs());
            other[k] += h;
            hessian.set_column(k, &((gradient(&other) - &g) / h));
        }
        let symmetric = (&hessian + hessian.transpose()) * 0.5;
        // Differences across a kink may be indefinite: A itself leads down too.
        let factor = symmetric.cholesky().or_else(|| dense.a.clone().cholesky());
        let step = -factor.expect("A is positive definite").solve(&g);
        let (mut low, mut high) = (0.0, 1.0);
        if gradient(&(&v + &step)).dot(&step) > 0.0 {
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                if gradient(&(&v + &step * middle)).dot(&step) > 0.0 {
                    high = middle;
                } else {
                    low = middle;
                }
            }
        }
        v += &step * high;
        if step.norm() * high < 1e-13 * (1.0 + v.norm()) {
            break;
        }
    }
    v
}

/// With either search stiff problems take about as many iterations: Armijo's rule does not stick at
/// steps that are far too short.
#[test]
fn with_armijo_stiff_problems_take_no_more_than_a_few_iterations_more() {
    let mut draw = SplitMix64(52);
    let kind = Kind {
        trees: 3,
        contacts: 13,
        rows: 3,
        masses: (-2.0, 2.0),
        near_rigid: 0.1,
        stiction: 1e-7,
        ..Kind::default()
    };
    for case in 0..1500 {
        let sample = Sample::draw(&mut draw, &kind);
        let problem = sample.build();
        let [exact, armijo] = [LineSearch::Exact, LineSearch::Armijo].map(|search| {
            let mut solver = Solver::new().line_search(search).max_iterations(5000);
            let solution = solver.solve(&problem, &sample.guess).expect("solved");
            assert!(solution.is_converged(), "{case} {search:?}");
            let islands = solution.islands().iter();
            islands.map(|island| island.iterations).max().unwrap_or(0)
        });
        assert!(armijo <= 3 * exact + 20, "{case}: {armijo} {exact}");
    }
}

#[test]
fn random_problems_are_solved() {
    let mut draw = SplitMix64(51);
    let (mut iterations, mut cases, mut again, mut gradients) = (0, 0, 0, 0);
    let mut solver = Solver::new();
    for case in 0..2000 {
        let sample = sample(&mut draw);
        let problem = sample.build();
        solver = solver
            .rtol(1e-10)
            .guess([Guess::Best, Guess::Given][case % 2])
            .line_search([LineSearch::Exact, LineSearch::Exact, LineSearch::Armijo][case % 3]);
        let solution = solver.solve(&problem, &sample.guess).expect("solved");
        assert!(solution.is_converged(), "{case}: {:?}", solution.islands());
        iterations += solution
            .islands()
            .iter()
            .map(|i| i.iterations)
            .sum::<usize>();
        cases += solution.islands().len();
        let dense = sample.dense();
        let v = DVector::from_column_slice(solution.v());
        let (cost, gradient) = dense.cost(&v);
        assert!((solution.cost() - cost).abs() <= 1e-10 * cost, "{case}");
        let inverse = dense.a.clone().cholesky().expect("positive definite");
        let bound = gradient.dot(&inverse.solve(&gradient)).sqrt();
        let size = (v.dot(&(&dense.a * &v)) + 2.0 * cost).sqrt();
        // The tolerance; or a step that changes the cost by 1e-15 of it, where terms are up to
        // 1e5 times stiffer than A: √(2e-15 · 1e5). And J v is rounded, at that stiffness.
        let mut ends = solution.islands().iter().map(|i| i.convergence);
        let by_gradient = ends.all(|end| end == Convergence::Gradient);
        let allowed = if by_gradient { 1e-9 } else { 1.5e-5 };
        gradients += usize::from(by_gradient);
        let soft = dense.contacts.iter().map(|c| c.normal.min(c.tangential));
        let stiffest = 1.0 / soft.fold(f64::INFINITY, f64::min);
        let lightest = dense.a.diagonal().min();
        let rounding = 1e-14 * stiffest / lightest * v.norm() * lightest.sqrt();
        assert!(
            bound <= allowed * size + rounding,
            "{case}: {bound:e} of {size:e}, {rounding:e}"
        );
        if case % 80 == 0 {
            let other = plain(&dense, &v.map(|v| v + draw.between(-0.1, 0.1)));
            let (best, _) = dense.cost(&other);
            assert!(cost <= best * (1.0 + 1e-13), "{case}: {cost} {best}");
            again += usize::from((other - &v).norm() < 1e-7 * (1.0 + v.norm()));
        }
    }
    // Newton's method with differences may end on a kink; mostly it does not.
    assert!(again >= 22, "{again} of 25");
    assert!(gradients > 1200, "{gradients} of 2000");
    let mean = iterations as f64 / cases as f64;
    assert!(mean < 8.0, "{mean}");
}
