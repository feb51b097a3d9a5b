//! Instructions of fixed runs by callgrind, beside those last stated in `stated.csv`.
//!
//! `cargo bench --profile user --bench instructions` builds as a user's release build does;
//! `-- --state` writes what it finds to `stated.csv`, `-- NAME ...` takes the cases of these names.
//! The numbers repeat to about 1e-4 with one compiler. Without callgrind nothing is measured.
#![allow(missing_docs, reason = "a bench has no users")]

#[allow(dead_code, reason = "each bench takes what it needs")]
#[path = "../cases/mod.rs"]
mod cases;
#[allow(dead_code, reason = "each of those who share it takes what it needs")]
#[path = "../../tests/common/contacts.rs"]
mod contacts;

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::process::{Command, ExitCode, Stdio};

use cases::{corner, derivative, hopper, lcp, mechanics, plate};

const STATED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/benches/instructions/stated.csv"
);

/// A case by its name; made when it is asked for.
type Case = (String, Box<dyn FnMut()>);

fn cases() -> Vec<Case> {
    let mut all: Vec<Case> = Vec::new();
    let mut add =
        |name: String, run: Box<dyn FnMut()>| all.push((name.replace([',', ' '], "-"), run));
    let mut run = hopper::runner(1e-7);
    add("hopper".into(), Box::new(move || _ = black_box(run())));
    for springs in [2, 10, 50] {
        // Kept until the process ends: ways borrow it.
        let plate: &'static _ = Box::leak(Box::new(plate::plate(springs)));
        for way in plate::ways() {
            let name = format!("plate-{springs}-{}", way.name);
            let mut run = way.runner(plate);
            add(name, Box::new(move || _ = black_box(run())));
        }
    }
    for corner in corner::corners() {
        let [_, (_, projection)] = corner::projections();
        let mut runs = corner.runs(&projection);
        add(
            corner.name(),
            Box::new(move || _ = black_box((runs.through)())),
        );
    }
    let groups = derivative::corners()
        .into_iter()
        .chain(derivative::plates());
    for group in groups {
        for (way, run) in group.ways {
            add(format!("{}-{way}", group.name), run);
        }
    }
    // Kept too: runners borrow them.
    for case in lcp::cases().leak() {
        let mut run = case.runner();
        let name = format!("lcp-{}", case.name);
        add(name, Box::new(move || _ = black_box(run())));
    }
    for (group, runs) in [
        ("trot", mechanics::strides()),
        ("masses", mechanics::resting()),
        ("friction", mechanics::sliding()),
    ] {
        for mut case in runs {
            add(
                format!("{group}-{}", case.name),
                Box::new(move || _ = black_box((case.run)())),
            );
        }
    }
    for event in mechanics::rubbing() {
        for (part, mut case) in [
            ("through", event.through),
            ("beyond", event.beyond),
            ("smooth", event.smooth),
        ] {
            add(
                format!("event-{}--{part}", event.name),
                Box::new(move || _ = black_box((case.run)())),
            );
        }
    }
    all
}

/// The instructions of `repeats` runs of a case, with those of its making.
fn counted(name: &str, repeats: u32) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env::current_exe().ok()?)
        .args(["--run", name, &repeats.to_string()])
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = said
        .lines()
        .find_map(|line| line.split("Collected :").nth(1))?;
    collected.trim().parse().ok()
}

/// The instructions of one run: the second of two, whose workspace is warm.
fn of_one_run(name: &str) -> Option<u64> {
    Some(counted(name, 2)?.saturating_sub(counted(name, 1)?))
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [flag, name, repeats] = &args[..]
        && flag == "--run"
    {
        let case = cases().into_iter().find(|case| case.0 == *name);
        let Some((_, mut run)) = case else {
            return ExitCode::FAILURE;
        };
        for _ in 0..repeats.parse().unwrap_or(0) {
            run();
        }
        return ExitCode::SUCCESS;
    }
    let has_callgrind = Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if !has_callgrind.is_ok_and(|status| status.success()) {
        println!("callgrind is not installed: no instructions are counted");
        return ExitCode::SUCCESS;
    }
    let stated = fs::read_to_string(STATED).unwrap_or_default();
    let of = |name: &str| -> Option<f64> {
        let line = stated
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(','));
        line?.parse().ok()
    };
    let is_asked = |name: &str| {
        let mut names = args.iter().filter(|arg| !arg.starts_with("--")).peekable();
        names.peek().is_none() || names.any(|part| name.contains(part.as_str()))
    };
    let mut found: Vec<(String, u64)> = Vec::new();
    println!("{:52} {:>14} {:>8}", "case", "instructions", "stated");
    for (name, _) in cases() {
        if !is_asked(&name) {
            continue;
        }
        let Some(count) = of_one_run(&name) else {
            eprintln!("{name}: callgrind printed no count");
            return ExitCode::FAILURE;
        };
        let beside = of(&name).map_or("new".into(), |of| format!("{:.3}", count as f64 / of));
        println!("{name:52} {count:14} {beside:>8}");
        found.push((name, count));
    }
    if !args.iter().any(|arg| arg == "--state") {
        return ExitCode::SUCCESS;
    }
    let mut table = String::from("case,instructions\n");
    let is_anew = |line: &&str| {
        let name = line.split(',').next();
        found.iter().any(|(own, _)| Some(own.as_str()) == name)
    };
    for line in stated.lines().skip(1).filter(|line| !is_anew(line)) {
        let _ = writeln!(table, "{line}");
    }
    for (name, count) in &found {
        let _ = writeln!(table, "{name},{count}");
    }
    if let Err(error) = fs::write(STATED, table) {
        eprintln!("{STATED}: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
