//! Linear complementarity problems: every setting, enumeration, residuals.

use saltation::Interrupt;
use saltation::lcp::{
    Attempt, BasisDictionary, LcpFailure, LcpSolver, Listed, Solution, enumerate, enumerate_until,
    residual,
};
use saltation::nalgebra::DMatrix;

use super::impact::gram;
use crate::draw::Draw;
use crate::trial::Trial;

fn matrix(draw: &mut Draw, n: usize) -> DMatrix<f64> {
    match draw.below(6) {
        0 | 1 => gram(draw, n),
        2 => gram(draw, n) - DMatrix::identity(n, n) * draw.number(),
        3 => {
            let small = DMatrix::from_fn(n, n, |_, _| draw.below(5) as f64 - 2.0);
            if draw.chance(0.5) {
                &small * small.transpose()
            } else {
                small
            }
        }
        4 => {
            let scale = draw.decades(-100.0, 100.0);
            gram(draw, n) * scale
        }
        _ => DMatrix::from_fn(n, n, |_, _| draw.number()),
    }
}

pub fn run(mut draw: Draw, trial: &mut Trial) {
    let n = if draw.chance(0.1) {
        draw.below(40)
    } else {
        draw.below(8)
    };
    let mut w = matrix(&mut draw, n);
    if draw.chance(0.01) {
        w = DMatrix::from_fn(n, n + 1, |_, _| draw.number());
    }
    let length = draw.length(n);
    let mut q = draw.numbers(length);
    if length == n && w.ncols() == n && draw.chance(0.3) {
        // one that is solvable, and degenerate
        let z: Vec<f64> = (0..n)
            .map(|_| if draw.chance(0.5) { draw.unit() } else { 0.0 })
            .collect();
        let product = &w * saltation::nalgebra::DVector::from_vec(z);
        q = product
            .iter()
            .map(|p| {
                if draw.chance(0.8) {
                    -p
                } else {
                    draw.unit() - p
                }
            })
            .collect();
    }
    solve(&mut draw, trial, &w, &q);
    if n <= 6 || draw.chance(0.02) {
        list(&mut draw, trial, &w, &q);
    }
    let length = draw.length(n);
    let z = draw.numbers(length);
    trial.result("residual", residual(&w, &q, &z));
}

fn solve(draw: &mut Draw, trial: &mut Trial, w: &DMatrix<f64>, q: &[f64]) {
    let mut solver = if draw.chance(0.1) {
        LcpSolver::default()
    } else {
        LcpSolver::new(draw.below(20))
    };
    let per_row = if draw.chance(0.2) { draw.size(50) } else { 50 };
    solver = solver.pivots_per_row(per_row);
    if draw.chance(0.2) {
        solver = solver.ladder(false);
    }
    if draw.chance(0.1) {
        solver = solver.tolerance(1e-10 * draw.positive());
    }
    if draw.chance(0.02) {
        let interrupt = Interrupt::new();
        interrupt.set();
        solver = solver.interrupt(&interrupt);
    }
    if trial.is_second {
        let mut before = draw.aside("before");
        let n = before.below(9);
        let (w, q) = (matrix(&mut before, n), before.numbers(n));
        let _ = solver.solve(&w, &q);
    }
    let covered = draw.chance(0.2);
    let d: Vec<f64> = q.iter().map(|_| draw.positive()).collect();
    let found: Result<Solution<'_>, LcpFailure> = if covered {
        solver.solve_covered(w, q, &d)
    } else {
        solver.solve(w, q)
    };
    match found {
        Err(error) => trial.refused("solve", &error),
        Ok(solution) => {
            let rung: Attempt = solution.rung();
            trial.note("rung", &(rung, solution.pivots(), solution.residual()));
            trial.finite("z", solution.z());
            trial.finite("w", solution.w());
            trial.finite("residual", &[solution.residual()]);
            trial.note("z", solution.vector().as_slice());
            trial.note("w", solution.w());
            let least = solution.z().iter().copied().fold(0.0, f64::min);
            trial.expect(least >= 0.0, || format!("z has an entry of {least}"));
            let again = residual(w, q, solution.z());
            trial.result("residual again", again);
            let basis = solution.basis().to_vec();
            trial.note("basis", &basis);
            known(draw, trial, w, q, &basis);
        }
    }
    trial.note("ray", &solver.ray());
}

/// A dictionary with this basis, and others.
fn known(draw: &mut Draw, trial: &mut Trial, w: &DMatrix<f64>, q: &[f64], basis: &[usize]) {
    let n = q.len();
    let Some(mut dictionary) = trial.door("dictionary", BasisDictionary::new(w)) else {
        return;
    };
    let kept = basis.is_sorted_by(|a, b| a < b) && basis.iter().all(|&i| i < n);
    trial.expect(kept, || format!("the basis {basis:?} of {n}"));
    let any: Vec<usize> = (0..draw.below(n + 1)).map(|_| draw.size(n)).collect();
    let pushed = [dictionary.push(&any), dictionary.push(basis)];
    trial.note("pushed", &pushed);
    trial.expect(!dictionary.push(basis), || "a basis twice".to_owned());
    let is_empty = pushed == [false; 2] && !any.eq(basis);
    trial.expect(dictionary.is_empty() == is_empty, || {
        format!("{} bases", dictionary.len())
    });
    if trial.is_second {
        let other = draw.aside("dictionary").numbers(n);
        let _ = dictionary.solve(&other);
    }
    let found = match dictionary.solve(q) {
        Err(error) => return trial.refused("by dictionary", &error),
        Ok(found) => found,
    };
    if let Some(found) = found {
        trial.note("by dictionary", &found);
        trial.finite("z of the dictionary", found.z());
        trial.finite("w of the dictionary", found.w());
        let free = |i: usize| found.basis().contains(&i) || found.z()[i] == 0.0;
        let kept = found.rung() == Attempt::Dictionary && (0..n).all(free);
        trial.expect(kept && found.z().iter().all(|&z| z >= 0.0), || {
            format!("the dictionary finds {:?}", found.z())
        });
    }
    let long = dictionary.solve(&vec![1.0; n + 1]).is_err();
    trial.expect(long, || "a wrong length".to_owned());
}

fn list(draw: &mut Draw, trial: &mut Trial, w: &DMatrix<f64>, q: &[f64]) {
    let interrupt = Interrupt::new();
    if draw.chance(0.05) {
        interrupt.set();
    }
    let found = if draw.chance(0.5) {
        enumerate(w, q)
    } else {
        enumerate_until(w, q, &interrupt)
    };
    let Some(found) = trial.result("enumerate", found) else {
        return;
    };
    trial.expect(found.len() <= 4096, || {
        format!("{} solutions are listed", found.len())
    });
    for listed in &found {
        let listed: &Listed = listed;
        trial.finite("a listed solution", listed.z.as_slice());
        trial.expect(listed.z.iter().all(|&z| z >= 0.0), || {
            "a listed solution is negative".to_owned()
        });
    }
}
