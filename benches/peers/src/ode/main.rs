//! Time at equal error of saltation beside other Rust crates, on contacts that come one at a time (the hopper) and many
//! together (a plate on springs).
//!
//! `cargo run --release --features ode --bin ode [-- --rounds N]` prints a table for each system. Each
//! contender runs at tolerances 1e-2 … 1e-11 in turn, `N` times (default 9); of each tolerance the least time counts,
//! and the error at the end, the largest over the state variables. Between tolerances both are interpolated in
//! logarithms. Beside a time stands its ratio to the fastest of the other crates at that error.

mod systems;
mod with_diffsol;
mod with_ode_solvers;
mod with_saltation;

use std::hint::black_box;
use std::time::Instant;

use systems::{Contacts, Hopper, Plate};
use with_saltation::Written;

/// A run at a tolerance: the state at the end.
type Run<'a, const D: usize> = Box<dyn Fn(f64) -> [f64; D] + 'a>;

struct Contender<'a, const D: usize> {
    name: &'static str,
    is_peer: bool,
    run: Run<'a, D>,
}

/// What a contender needs at one tolerance, and how far it is off.
#[derive(Clone, Copy)]
struct Cost {
    error: f64,
    seconds: f64,
}

fn contenders<const D: usize, C: Contacts<D>>(system: &C) -> Vec<Contender<'_, D>> {
    let own = |name, written, fixed| Contender {
        name,
        is_peer: false,
        run: Box::new(move |rtol| with_saltation::run(system, written, fixed, rtol)) as Run<'_, D>,
    };
    vec![
        Contender {
            name: "ode_solvers 0.6.2, dopri5, restarted",
            is_peer: true,
            run: Box::new(|rtol| with_ode_solvers::run(system, rtol)),
        },
        Contender {
            name: "diffsol 0.18.0, tsit45, roots",
            is_peer: true,
            run: Box::new(|rtol| with_diffsol::run(system, rtol)),
        },
        own("saltation `fixed`, rows", Written::Rows, true),
        own("saltation `new`, rows", Written::Rows, false),
        own("saltation `fixed`, `event` only", Written::Event, true),
        own("saltation `new`, `event` only", Written::Event, false),
    ]
}

/// Seconds of one run, by as many as make a millisecond.
fn time<const D: usize>(run: &Run<'_, D>, rtol: f64) -> f64 {
    let mut runs = 1_u32;
    loop {
        let start = Instant::now();
        for _ in 0..runs {
            black_box(run(black_box(rtol)));
        }
        let seconds = start.elapsed().as_secs_f64();
        if seconds > 1e-3 {
            return seconds / f64::from(runs);
        }
        runs *= 2;
    }
}

/// The costs of each contender at all tolerances.
fn measure<const D: usize>(
    all: &[Contender<'_, D>],
    exact: [f64; D],
    rounds: u32,
) -> Vec<Vec<Cost>> {
    let tolerances: Vec<f64> = (2..=11).map(|digits| 10f64.powi(-digits)).collect();
    let off = |x: [f64; D]| (0..D).map(|i| (x[i] - exact[i]).abs()).fold(0.0, f64::max);
    let costs_of = |contender: &Contender<'_, D>| -> Vec<Cost> {
        let cost = |&rtol: &f64| Cost {
            error: off((contender.run)(rtol)),
            seconds: f64::INFINITY,
        };
        tolerances.iter().map(cost).collect()
    };
    let mut found: Vec<Vec<Cost>> = all.iter().map(costs_of).collect();
    for _ in 0..rounds {
        for (contender, costs) in all.iter().zip(&mut found) {
            for (cost, &rtol) in costs.iter_mut().zip(&tolerances) {
                cost.seconds = cost.seconds.min(time(&contender.run, rtol));
            }
        }
    }
    found
}

/// The seconds at which a contender reaches `error`, between the loosest tolerance that does and the one before; none
/// where that is not bracketed.
fn at_error(costs: &[Cost], error: f64) -> Option<f64> {
    let pair = costs
        .windows(2)
        .find(|pair| pair[0].error > error && pair[1].error <= error)?;
    let [from, to] = [pair[0], pair[1]];
    let part = (from.error / error).ln() / (from.error / to.error).ln();
    Some((from.seconds.ln() + part * (to.seconds / from.seconds).ln()).exp())
}

fn print<const D: usize, C: Contacts<D>>(
    name: &str,
    system: &C,
    exact: [f64; D],
    rounds: u32,
    digits: [i32; 2],
) {
    let all = contenders(system);
    let costs = measure(&all, exact, rounds);
    let errors: Vec<f64> = (digits[0]..=digits[1])
        .map(|digits| 10f64.powi(-digits))
        .collect();
    println!("\n### {name}\n");
    println!(
        "| µs at an error of (beside the fastest other) | {} |",
        errors
            .iter()
            .map(|e| format!("{e:.0e}"))
            .collect::<Vec<_>>()
            .join(" | ")
    );
    println!("|---|{}", "---|".repeat(errors.len()));
    for (contender, own) in all.iter().zip(&costs) {
        let cell = |&error: &f64| {
            let peers = all.iter().zip(&costs).filter(|(c, _)| c.is_peer);
            let best = peers
                .filter_map(|(_, costs)| at_error(costs, error))
                .fold(f64::INFINITY, f64::min);
            match at_error(own, error) {
                Some(seconds) if best.is_finite() => {
                    format!("{:.1} ({:.2})", 1e6 * seconds, seconds / best)
                }
                Some(seconds) => format!("{:.1}", 1e6 * seconds),
                None => "-".to_owned(),
            }
        };
        println!(
            "| {} | {} |",
            contender.name,
            errors.iter().map(cell).collect::<Vec<_>>().join(" | ")
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds = match &arguments[..] {
        [] => 9,
        [flag, rounds] if flag == "--rounds" => rounds.parse().expect("--rounds takes a number"),
        _ => panic!("usage: ode [--rounds N]"),
    };
    let hopper = Hopper::default();
    print(
        "hopper, four contact changes",
        &hopper,
        hopper.exact(),
        rounds,
        [3, 9],
    );
    for springs in [5, 50] {
        let plate = Plate::new(springs);
        // Of another method than saltation's, and far below the errors in question.
        let exact = with_ode_solvers::run(&plate, 1e-13);
        let name = format!("plate on {springs} springs, tilted by 0.05");
        print(&name, &plate, exact, rounds, [2, 7]);
    }
}
