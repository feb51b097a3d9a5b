//! Seeded random cases for every public entry point of the library.
//!
//! ```text
//! cargo run --profile fuzz --all-features -p saltation-fuzz -- --seconds 60
//! cargo run --profile fuzz --all-features -p saltation-fuzz -- --seed 7 --target lcp --case 1234
//! ```
//!
//! A case is a finding when it panics, does more than the documented caps allow, takes longer than
//! the patience of the watch or more memory than is stated, gives a number that is not finite
//! without a reason, or differs from its second run. The second run uses objects that have done
//! other work before, where history is not to matter.

mod body;
mod coverage;
mod draw;
mod laws;
mod liar;
mod system;
mod targets;
mod trial;
mod watch;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use draw::Draw;
use targets::{TARGETS, Target};
use trial::Trial;

const HELP: &str = "\
Random cases for every public entry point of saltation.

  --seconds N    how long, shared among the targets (default 60)
  --seed S       the seed (default 1); case N of a seed is always the same
  --target NAME  one target only
  --case N       one case of one target, with all that it computes
  --from N       the first case of each target (default 0)
  --patience N   seconds that one case may take (default 10)
  --list         the targets, and public names that none of them speaks of
";

/// What the command line asks for.
struct Wishes {
    seconds: f64,
    seed: u64,
    target: Option<String>,
    case: Option<u64>,
    from: u64,
    patience: f64,
    list: bool,
    help: bool,
}

fn wishes() -> Result<Wishes, String> {
    let mut wishes = Wishes {
        seconds: 60.0,
        seed: 1,
        target: None,
        case: None,
        from: 0,
        patience: 10.0,
        list: false,
        help: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(flag) = words.next() {
        let mut value = || words.next().ok_or(format!("{flag} wants a value"));
        let whole = |text: String| {
            text.parse::<u64>()
                .map_err(|e| format!("{flag} {text}: {e}"))
        };
        let number = |text: String| {
            text.parse::<f64>()
                .map_err(|e| format!("{flag} {text}: {e}"))
        };
        match flag.as_str() {
            "--seconds" => wishes.seconds = number(value()?)?,
            "--seed" => wishes.seed = whole(value()?)?,
            "--target" => wishes.target = Some(value()?),
            "--case" => wishes.case = Some(whole(value()?)?),
            "--from" => wishes.from = whole(value()?)?,
            "--patience" => wishes.patience = number(value()?)?,
            "--list" => wishes.list = true,
            "--help" => wishes.help = true,
            _ => return Err(format!("unknown flag {flag}\n\n{HELP}")),
        }
    }
    Ok(wishes)
}

/// What became of the cases of a target.
struct Tally {
    target: &'static Target,
    cases: u64,
    slowest: (Duration, u64),
    largest: (usize, u64),
    findings: u64,
}

/// Findings of one target that are printed; the others are counted.
const PRINTED: u64 = 20;

impl Tally {
    fn new(target: &'static Target) -> Self {
        Self {
            target,
            cases: 0,
            slowest: (Duration::ZERO, 0),
            largest: (0, 0),
            findings: 0,
        }
    }

    /// Runs one case twice.
    fn run(&mut self, start: Instant, seed: u64, case: u64, trace: bool) {
        let name = self.target.name;
        let mut digests = Vec::new();
        let mut found = Vec::new();
        for is_second in [false, true] {
            let began = Instant::now();
            let label = format!("--target {name} --seed {seed} --case {case}");
            let mut trial = Trial::new(is_second, trace);
            let draw = Draw::new(seed, name, case);
            let (panic, memory) = watch::case(start, label, || (self.target.run)(draw, &mut trial));
            found.append(&mut trial.findings);
            if memory > watch::MOST_MEMORY {
                found.push(format!("takes {} MiB", memory >> 20));
            }
            self.slowest = self.slowest.max((began.elapsed(), case));
            self.largest = self.largest.max((memory, case));
            if let Some(message) = panic {
                found.push(message);
                break;
            }
            digests.push(trial.digest());
        }
        if digests.windows(2).any(|pair| pair[0] != pair[1]) {
            found.push("its second run differs".to_owned());
        }
        found.dedup();
        for what in found {
            self.findings += 1;
            if self.findings <= PRINTED || trace {
                println!("FINDING --target {name} --seed {seed} --case {case}: {what}");
            }
        }
        self.cases += 1;
    }
}

fn main() -> ExitCode {
    let wishes = match wishes() {
        Ok(wishes) if wishes.help => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Ok(wishes) => wishes,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let forgotten =
        coverage::forgotten().unwrap_or_else(|error| vec![format!("(sources: {error})")]);
    if wishes.list {
        for target in &TARGETS {
            println!("{:<12} {}", target.name, target.what);
        }
    }
    for name in &forgotten {
        println!("FINDING no target speaks of the public name {name}");
    }
    if wishes.list {
        return if forgotten.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }

    let chosen = |target: &&Target| {
        wishes
            .target
            .as_ref()
            .is_none_or(|name| name == target.name)
    };
    let mut tallies: Vec<Tally> = TARGETS.iter().filter(chosen).map(Tally::new).collect();
    if tallies.is_empty() {
        eprintln!("no such target: --list names them");
        return ExitCode::FAILURE;
    }
    let start = Instant::now();
    watch::keep_panics();
    watch::over(
        start,
        Duration::from_secs_f64(wishes.patience.clamp(0.1, 1e6)),
    );
    if let Some(case) = wishes.case {
        for tally in &mut tallies {
            tally.run(start, wishes.seed, case, true);
        }
    } else {
        share_time(&mut tallies, start, &wishes);
    }
    println!(
        "{:<12} {:>9} {:>11} {:>10} {:>9}",
        "target", "cases", "longest, ms", "most, MiB", "findings"
    );
    for tally in &tallies {
        let (longest, memory) = (tally.slowest.0.as_secs_f64() * 1e3, tally.largest.0 >> 20);
        println!(
            "{:<12} {:>9} {longest:>11.1} {memory:>10} {:>9}   longest case {}, largest {}",
            tally.target.name, tally.cases, tally.findings, tally.slowest.1, tally.largest.1
        );
    }
    let found: u64 = tallies.iter().map(|tally| tally.findings).sum();
    if found > 0 || !forgotten.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Round robin, a tenth of a second for each target at a time.
fn share_time(tallies: &mut [Tally], start: Instant, wishes: &Wishes) {
    let end = Duration::from_secs_f64(wishes.seconds.clamp(0.0, 1e9));
    while start.elapsed() < end {
        for tally in &mut *tallies {
            let turn = Instant::now();
            while turn.elapsed() < Duration::from_millis(100) {
                let case = wishes.from + tally.cases;
                tally.run(start, wishes.seed, case, false);
            }
        }
    }
}
