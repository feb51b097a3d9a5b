//! The tables of impacts and of bodies that touch.

use crate::cases::{impact as impacts, mechanics as bodies};
use crate::timing::fastest_of;

/// Reflections and laws.
pub(crate) fn impact(rounds: usize) {
    for (title, unit, mut cases) in [
        (
            "reflections of chains of contacts, to the end of the impact",
            "reflections",
            impacts::reflections(),
        ),
        (
            "impacts of the same chains: problems made, and resolved",
            "problems",
            impacts::laws(),
        ),
    ] {
        println!("{title}");
        println!(
            "{:>28}{unit:>14}{:>12}{:>14}",
            "", "ns each", "10^6 a second"
        );
        let counts: Vec<usize> = cases.iter_mut().map(|case| (case.run)()).collect();
        let mut runs: Vec<_> = cases.iter_mut().map(|case| &mut case.run).collect();
        let times = fastest_of(&mut runs, rounds);
        for ((case, time), count) in cases.iter().zip(times).zip(counts) {
            let each = time / count as f64;
            println!(
                "{:>28}{count:>14}{each:>12.1}{:>14.2}",
                case.name,
                1e3 / each
            );
        }
        println!();
    }
}

/// Strides, and events beside smooth steps.
pub(crate) fn mechanics(rounds: usize) {
    println!("strides of 0.65 s on soft legs, tolerance 1e-9; half a second at rest");
    println!("{:>28}{:>9}{:>12}{:>9}", "", "steps", "time[µs]", "ratio");
    let mut cases = bodies::strides();
    cases.extend(bodies::resting());
    cases.extend(bodies::sliding());
    let counts: Vec<usize> = cases.iter_mut().map(|case| (case.run)()).collect();
    let mut runs: Vec<_> = cases.iter_mut().map(|case| &mut case.run).collect();
    let strides = fastest_of(&mut runs, rounds);
    for ((case, time), count) in cases.iter().zip(&strides).zip(counts) {
        let ratio = time / strides[0];
        println!(
            "{:>28}{count:>9}{:>12.1}{ratio:>9.2}",
            case.name,
            1e-3 * time
        );
    }
    println!();

    println!("an event: a run over it less the same time without it, beside a smooth step");
    println!(
        "{:>28}{:>13}{:>12}{:>10}{:>10}{:>14}",
        "", "through[ns]", "beyond[ns]", "event[ns]", "step[ns]", "event in steps"
    );
    for mut event in bodies::events() {
        let steps = (event.smooth.run)();
        let mut runs =
            [&mut event.through, &mut event.beyond, &mut event.smooth].map(|c| &mut c.run);
        let times = fastest_of(&mut runs, rounds);
        let (cost, once) = (times[0] - times[1], (event.beyond.run)());
        let step = (times[2] - times[1]) / (steps - once) as f64;
        println!(
            "{:>28}{:>13.0}{:>12.0}{cost:>10.0}{step:>10.0}{:>14.2}",
            event.name,
            times[0],
            times[1],
            cost / step
        );
    }
    println!();
}
