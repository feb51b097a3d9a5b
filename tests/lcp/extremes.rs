//! Every entry point with numbers at the ends of their range, of sizes from nothing on: none
//! panics, lies or depends on history.

use std::time::{Duration, Instant};

use nalgebra::DMatrix;
use saltation::lcp::{LcpSolver, enumerate, residual};

use crate::numbers::number;
use crate::random::SplitMix64;

/// Problems; a hundred times as many were run once.
const DRAWS: u64 = if cfg!(debug_assertions) { 600 } else { 5_000 };

fn matrix(n: usize, kind: u64, wildness: u64, random: &mut SplitMix64) -> DMatrix<f64> {
    let mut entry = || number(&mut || random.next(), wildness);
    let rank = 1 + n / 2;
    match kind {
        0 => DMatrix::from_fn(n, n, |_, _| entry()),
        1 => {
            let a = DMatrix::from_fn(n, rank, |_, _| entry());
            &a * a.transpose()
        }
        2 => {
            let a = DMatrix::from_fn(n, n, |_, _| entry());
            &a - a.transpose()
        }
        // Rows and columns that are alike.
        3 => {
            let a = DMatrix::from_fn(n, rank, |_, _| entry());
            DMatrix::from_fn(n, n, |i, j| a.row(i / 2).dot(&a.row(j / 2)))
        }
        _ => DMatrix::from_diagonal(
            &DMatrix::from_fn(n, 1, |_, _| entry())
                .column(0)
                .into_owned(),
        ),
    }
}

#[test]
fn no_numbers_make_it_panic_lie_or_hang() {
    let (mut solved, mut failed) = (0, 0);
    let mut used = LcpSolver::new(5);
    for draw in 0..DRAWS {
        let mut random = SplitMix64(draw);
        let n = usize::try_from(random.next() % 21).unwrap();
        let (kind, wildness) = (random.next() % 5, random.next() % 5);
        let w = matrix(n, kind, wildness, &mut random);
        let q: Vec<f64> = (0..n)
            .map(|_| number(&mut || random.next(), wildness))
            .collect();
        let d: Vec<f64> = (0..n)
            .map(|_| number(&mut || random.next(), wildness).abs())
            .collect();
        let start = Instant::now();
        let most = [0, 1, 50, usize::MAX][usize::try_from(random.next() % 4).unwrap()];
        let ladder = !random.next().is_multiple_of(4);
        let tolerance = [1e-10, 0.0, f64::NAN, number(&mut || random.next(), 3)]
            [usize::try_from(random.next() % 16).unwrap().min(3)];
        let fresh = || {
            let solver = LcpSolver::new(0).pivots_per_row(most).ladder(ladder);
            if random_bit(draw) {
                solver
            } else {
                solver.tolerance(tolerance)
            }
        };
        let mut solver = fresh();
        match solver.solve(&w, &q) {
            Ok(solution) => {
                assert!(solution.z().iter().all(|z| z.is_finite() && *z >= 0.0));
                assert!(solution.w().iter().all(|w| w.is_finite()));
                let found = residual(&w, &q, solution.z()).unwrap();
                assert_eq!(found.to_bits(), solution.residual().to_bits());
                let size = q.iter().chain(solution.z());
                let size = size.fold(0.0, |most: f64, v| most.max(v.abs()));
                let allowed = if random_bit(draw) { 1e-10 } else { tolerance };
                let is_small = found <= 2.0 * allowed * size;
                assert!(found == 0.0 || is_small, "{draw}: {found:e}");
                let z = solution.z().to_vec();
                let again = fresh().solve(&w, &q).map(|s| s.z().to_vec());
                assert_eq!(again, Ok(z));
                solved += 1;
            }
            Err(failure) => {
                assert!(!failure.to_string().is_empty());
                let again = fresh().solve(&w, &q).map(|s| s.z().to_vec());
                // As text: not a number equals nothing.
                assert_eq!(again.unwrap_err().to_string(), failure.to_string());
                if let Some(ray) = solver.ray() {
                    assert!(ray.iter().all(|u| (0.0..=1.0).contains(u)), "{draw}");
                }
                failed += 1;
            }
        }
        let _ = used.solve(&w, &q).map(|s| s.pivots());
        let _ = used.solve_covered(&w, &q, &d).map(|s| s.rung());
        let _ = residual(&w, &q, &d);
        if n <= 8 {
            for listed in enumerate(&w, &q).unwrap_or_default() {
                assert!(listed.z.iter().all(|z| z.is_finite() && *z >= 0.0));
                assert!(listed.residual.is_finite());
            }
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{draw}: n = {n}");
    }
    assert!(
        5 * solved > DRAWS && 5 * failed > DRAWS,
        "{solved} {failed}"
    );
}

fn random_bit(draw: u64) -> bool {
    draw.is_multiple_of(2)
}
