//! The tables.

use std::hint::black_box;

use crate::cases::plate::Cost;
use crate::cases::{
    corner as corners, derivative as derivatives, ensemble as ensembles, hopper as hoppers,
    lcp as problems, plate as plates, step as steps,
};
use crate::timing::{fastest, fastest_of};

/// Per-contact cost of the plate.
pub(crate) fn plate(rounds: usize) {
    println!(
        "plate on n springs, 120 starts of 2 s: ns per contact change, and flow evaluations per contact change"
    );
    print!("{:>18}", "n =");
    for springs in plates::SPRINGS {
        print!("{springs:>16}");
    }
    println!("{:>11}{:>9}", "slope[ns]", "speed-up");

    let plates: Vec<_> = plates::SPRINGS.into_iter().map(plates::plate).collect();
    let ways = plates::ways();
    let mut runs: Vec<_> = ways
        .iter()
        .flat_map(|way| plates.iter().map(|plate| way.runner(plate)))
        .collect();
    let costs: Vec<Cost> = runs.iter_mut().map(|run| run()).collect();
    let times = fastest_of(&mut runs, rounds);

    let columns = plates::SPRINGS.len();
    let mut reference = f64::NAN;
    for (i, way) in ways.iter().enumerate() {
        let row = i * columns..(i + 1) * columns;
        let (times, costs) = (&times[row.clone()], &costs[row]);
        print!("{:>18}", way.name);
        for (time, cost) in times.iter().zip(costs) {
            let crossings = cost.crossings as f64;
            print!(
                "{:>9.0} {:>6.2}",
                time / crossings,
                cost.flow as f64 / crossings
            );
        }
        // From two springs to the most: beyond what every run costs.
        let (few, many) = (1, columns - 1);
        let more = costs[many].crossings as f64 - costs[few].crossings as f64;
        let per_contact = times[many] / costs[many].crossings as f64;
        if i == 0 {
            reference = per_contact;
        }
        println!(
            "{:>11.0}{:>9.2}",
            (times[many] - times[few]) / more,
            reference / per_contact
        );
        let refused: usize = costs.iter().map(|cost| cost.refused).sum();
        if refused > 0 {
            println!("{:>18} {refused} runs refused", "");
        }
    }
    println!(
        "slope: (T(50) − T(2)) / (contact changes more); speed-up: per contact change at n = 50, first row = 1\n"
    );
}

/// Work and precision of the hopper.
pub(crate) fn hopper(rounds: usize) {
    println!("hopper, 4 crossings in 2 s");
    println!(
        "{:>8}{:>10}{:>8}{:>12}",
        "rtol", "time[µs]", "flow", "error"
    );
    for rtol in hoppers::tolerances() {
        let mut run = hoppers::runner(rtol);
        let (summary, error) = run();
        let time = fastest(
            &mut [&mut || {
                black_box(run());
            }],
            rounds,
        )[0];
        let flow = summary.statistics.flow;
        println!("{rtol:>8.0e}{:>10.2}{flow:>8}{error:>12.1e}", 1e-3 * time);
    }
    println!();
}

/// Cost of a corner: a run through it less the same run beyond it.
pub(crate) fn corner(rounds: usize) {
    println!(
        "corners of piecewise constant fields: a run through the corner, the same run beyond it, and the difference"
    );
    println!(
        "{:>34}{:>18}{:>13}{:>12}{:>10}{:>10}{:>12}",
        "corner", "projection", "through[ns]", "beyond[ns]", "diff[ns]", "ns/guard", "flow"
    );
    for corner in corners::corners() {
        for (name, projection) in corners::projections() {
            let mut runs = corner.runs(&projection);
            let flow = [(runs.through)().flow, (runs.beyond)().flow];
            let times = fastest(
                &mut [
                    &mut || {
                        black_box((runs.through)());
                    },
                    &mut || {
                        black_box((runs.beyond)());
                    },
                ],
                rounds,
            );
            let more = times[0] - times[1];
            println!(
                "{:>34}{name:>18}{:>13.0}{:>12.0}{more:>10.0}{:>10.1}{:>6} /{:>4}",
                corner.name(),
                times[0],
                times[1],
                more / corner.guards as f64,
                flow[0],
                flow[1]
            );
        }
    }
    println!();
}

/// Cost of a smooth step.
pub(crate) fn step(rounds: usize) {
    for (title, mut cases) in [
        ("bare steps of Tsitouras, no error test", steps::bare()),
        ("runs with error control, no event functions", steps::runs()),
        (
            "hopper in flight, guard watched, steps of 1 ms",
            steps::flights(),
        ),
    ] {
        println!("{title}");
        println!("{:>18}{:>9}{:>10}{:>9}", "", "steps", "ns/step", "ratio");
        let counts: Vec<usize> = cases.iter_mut().map(|case| (case.run)()).collect();
        let mut runs: Vec<_> = cases.iter_mut().map(|case| &mut case.run).collect();
        let times = fastest_of(&mut runs, rounds);
        let mut reference = (String::new(), f64::NAN);
        for (i, case) in cases.iter().enumerate() {
            let per_step = times[i] / counts[i] as f64;
            // The first of each size is the measure of the others.
            let size: String = case.name.chars().take_while(|&c| c != '-').collect();
            if size != reference.0 {
                reference = (size, per_step);
            }
            let ratio = per_step / reference.1;
            println!(
                "{:>18}{:>9}{per_step:>10.1}{ratio:>9.2}",
                case.name, counts[i]
            );
        }
        println!();
    }
}

/// Cost of derivatives: the same runs with directions carried along.
pub(crate) fn derivative(rounds: usize) {
    let runs = derivatives::plates()
        .into_iter()
        .chain(derivatives::corners());
    println!("runs with directions carried along; plain run = 1");
    println!("{:>30}{:>24}{:>12}{:>9}", "", "", "time[ns]", "ratio");
    for mut group in runs {
        let mut runs: Vec<_> = group.ways.iter_mut().map(|(_, run)| run).collect();
        let times = fastest_of(&mut runs, rounds);
        for (i, (name, _)) in group.ways.iter().enumerate() {
            let ratio = times[i] / times[0];
            println!("{:>30}{name:>24}{:>12.0}{ratio:>9.2}", group.name, times[i]);
        }
        let at = |name: &str| group.ways.iter().position(|(way, _)| way == name);
        if let (Some(plain), Some(along)) = (at("plain, beyond"), at("1 directions, beyond")) {
            let ratio = (times[1] - times[along]) / (times[0] - times[plain]);
            println!(
                "{:>30}{:>20}{:>12}{ratio:>9.2}",
                group.name, "the corner alone", ""
            );
        }
    }
    println!();
}

/// Cost of complementarity problems.
pub(crate) fn lcp(rounds: usize) {
    println!(
        "complementarity problems of impacts with friction, mean of {}",
        problems::COUNT
    );
    println!(
        "{:>20}{:>5}{:>10}{:>9}{:>12}",
        "", "n", "time[µs]", "pivots", "ns/pivot/n"
    );
    let cases = problems::cases();
    let mut runs: Vec<_> = cases.iter().map(problems::Case::runner).collect();
    let pivots: Vec<usize> = runs.iter_mut().map(|run| run()).collect();
    let times = fastest_of(&mut runs, rounds);
    for ((case, time), pivots) in cases.iter().zip(times).zip(pivots) {
        let n = case.size();
        println!(
            "{:>20}{n:>5}{:>10.2}{:>9.2}{:>12.1}",
            case.name,
            1e-3 * time / problems::COUNT as f64,
            pivots as f64 / problems::COUNT as f64,
            time / (pivots * n) as f64
        );
    }
    println!();
}

/// Cost of the loop of an ensemble, and gain of a second thread.
pub(crate) fn ensemble(rounds: usize) {
    println!("ensembles: time of a row [µs]; ratio to the runs by hand");
    println!(
        "{:>10}{:>12}{:>12}{:>8}{:>13}{:>8}",
        "", "by hand", "one thread", "ratio", "two threads", "ratio"
    );
    for (name, mut calls) in [
        ("hopper", ensembles::hopper()),
        ("plate", ensembles::plate()),
    ] {
        let times = fastest_of(&mut calls, rounds);
        let row = |time: f64| 1e-3 * time / ensembles::ROWS as f64;
        print!("{name:>10}{:>12.3}", row(times[0]));
        for time in &times[1..] {
            print!("{:>12.3}{:>8.3}", row(*time), time / times[0]);
        }
        println!();
    }
    println!("two threads: with --features parallel\n");
}
