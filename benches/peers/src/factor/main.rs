//! Sparse Cholesky factors of Hessians of piles: the block Cholesky of saltation beside faer's.
//!
//! A pile is a box of trees (free bodies have 6 velocities), its contacts the nearest pairs. Times are the
//! least of many samples on one thread, contenders in turn, in microseconds.

mod pile;
mod sparse;

#[allow(
    dead_code,
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "a part of the library, as it is"
)]
#[path = "../../../../src/compliant/newton/block_cholesky.rs"]
mod block_cholesky;
#[allow(
    dead_code,
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "a part of the library, as it is"
)]
#[path = "../../../../src/linalg/block_kernels.rs"]
mod block_kernels;
/// Where the library has it.
mod linalg {
    pub(crate) use super::block_kernels;
}
#[allow(
    dead_code,
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "a part of the library, as it is"
)]
#[path = "../../../../src/compliant/newton/ordering.rs"]
mod ordering;

use std::hint::black_box;
use std::time::Instant;

use block_cholesky::BlockCholesky;
use ordering::Elimination;
use pile::Pile;
use sparse::{Method, Sparse};

/// Samples of each contender.
const SAMPLES: usize = 60;
/// A sample takes about this long (s).
const SAMPLE: f64 = 2e-3;

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, bodies, runs] = &arguments[..] {
        return own_only(bodies, runs);
    }
    println!(
        "pile,trees,edges,blocks_in_factor,method,analyse_us,fill_and_factorise_us,solve_us,error"
    );
    let mixed: &[usize] = &[6, 6, 6, 7, 6, 6, 2, 6];
    let cases: [(&str, [usize; 3], &[usize]); 8] = [
        ("free bodies", [1, 1, 1], &[6]),
        ("free bodies", [2, 4, 5], &[6]),
        ("free bodies", [4, 4, 10], &[6]),
        ("free bodies", [10, 10, 10], &[6]),
        ("plane", [4, 10, 1], &[3]),
        ("plane", [10, 16, 1], &[3]),
        ("mixed", [4, 4, 10], mixed),
        ("robots", [2, 4, 5], &[12, 30]),
    ];
    for (name, sides, widths) in cases {
        compare(name, &Pile::new(sides, widths, 1))?;
    }
    Ok(())
}

/// Factorisations and solutions alone, for a profiler.
fn own_only(bodies: &str, runs: &str) -> Result<(), String> {
    let sides = match bodies {
        "40" => [2, 4, 5],
        "160" => [4, 4, 10],
        _ => return Err("40 or 160 bodies".into()),
    };
    let pile = Pile::new(sides, &[6], 1);
    let mut own = BlockCholesky::default();
    own.analyse(&pile.widths, &pile.edges);
    for _ in 0..runs.parse().map_err(|_| "how many runs?")? {
        fill(&mut own, &pile);
        own.factorise().map_err(|i| format!("block {i}"))?;
    }
    Ok(())
}

fn fill(own: &mut BlockCholesky, pile: &Pile) {
    own.clear();
    for (i, block) in pile.diagonal.iter().enumerate() {
        own.diagonal_mut(i).copy_from_slice(block);
    }
    for (e, blocks) in pile.off_diagonal.iter().enumerate() {
        let (block, transposed) = own.edge_mut(e);
        block.copy_from_slice(&blocks[usize::from(transposed)]);
    }
}

fn compare(pile_name: &str, pile: &Pile) -> Result<(), String> {
    let methods = [
        ("faer simplicial, AMD", Method::Simplicial),
        ("faer supernodal, AMD", Method::Supernodal),
        ("faer automatic, AMD", Method::Automatic),
    ];
    let mut rivals = Vec::new();
    for (_, method) in methods {
        rivals.push(Sparse::new(pile, method)?);
    }
    let mut own = BlockCholesky::default();
    own.analyse(&pile.widths, &pile.edges);
    let mut elimination = Elimination::default();
    // another width, so that the analysis is made anew
    let mut others = pile.widths.clone();
    others[0] += 1;
    let mut x = pile.b.clone();

    let mut least = vec![[f64::INFINITY; 4]; 1 + rivals.len()];
    for _ in 0..SAMPLES {
        sample(&mut least[0][3], || {
            elimination.minimum_degree(&pile.widths, &pile.edges);
        });
        let mut twice = f64::INFINITY;
        sample(&mut twice, || {
            own.analyse(&others, &pile.edges);
            own.analyse(&pile.widths, &pile.edges);
        });
        least[0][0] = least[0][0].min(twice / 2.0);
        sample(&mut least[0][1], || {
            fill(&mut own, pile);
            let _ = black_box(own.factorise());
        });
        sample(&mut least[0][2], || {
            x.copy_from_slice(&pile.b);
            own.solve(&mut x);
        });
        for (rival, least) in rivals.iter_mut().zip(&mut least[1..]) {
            sample(&mut least[0], || rival.analyse_again());
            sample(&mut least[1], || {
                let _ = black_box(rival.factorise());
            });
            sample(&mut least[2], || rival.solve(&pile.b, &mut x));
        }
    }
    let mut filled = f64::INFINITY;
    for _ in 0..SAMPLES {
        sample(&mut filled, || fill(&mut own, pile));
    }

    own.analyse(&pile.widths, &pile.edges);
    fill(&mut own, pile);
    own.factorise().map_err(|i| format!("block {i}"))?;
    x.copy_from_slice(&pile.b);
    own.solve(&mut x);
    let (n, edges) = (pile.widths.len(), pile.edges.len());
    let blocks = n + (0..n).map(|k| elimination.column(k).len()).sum::<usize>();
    let products: usize = (0..n)
        .map(|k| elimination.column(k).len())
        .map(|c| c * (c + 1) / 2)
        .sum();
    let row = |name: &str, least: &[f64; 4], error: f64| {
        let [analyse, factorise, solve] = [0, 1, 2].map(|k| 1e6 * least[k]);
        println!(
            "{pile_name},{n},{edges},{blocks},{name},{analyse:.2},{factorise:.2},{solve:.2},{error:.1e}"
        );
    };
    row("saltation", &least[0], pile.residual(&x));
    for (((name, _), rival), least) in methods.iter().zip(&mut rivals).zip(&least[1..]) {
        rival.factorise()?;
        rival.solve(&pile.b, &mut x);
        row(name, least, pile.residual(&x));
    }
    println!(
        "# {pile_name}, {n} trees: {products} products of blocks; order alone {:.2} us; fill alone {:.2} us",
        1e6 * least[0][3],
        1e6 * filled
    );
    for ((name, _), rival) in methods.iter().zip(&least[1..]) {
        let [analyse, factorise, solve] = [0, 1, 2].map(|k| least[0][k] / rival[k]);
        println!(
            "# {pile_name}, {n} trees: saltation / {name}: analyse {analyse:.3}, factorise {factorise:.3}, solve {solve:.3}"
        );
    }
    Ok(())
}

/// Seconds of one call, in a sample of many; the least is kept.
fn sample(least: &mut f64, mut call: impl FnMut()) {
    let start = Instant::now();
    call();
    let once = start.elapsed().as_secs_f64();
    let calls = (SAMPLE / once.max(1e-7)).ceil().clamp(1.0, 1e4);
    let start = Instant::now();
    for _ in 0..calls as usize {
        call();
    }
    *least = least.min(start.elapsed().as_secs_f64() / calls);
}
