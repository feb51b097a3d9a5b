//! Inelastic impacts with friction at several contacts: every outcome, as in Figs 9 to 14 of Halm &
//! Posa, "Set-valued rigid-body dynamics for simultaneous, inelastic, frictional impacts" (IJRR
//! 2024), with the exact set that the paper does not have.

mod cases;
#[path = "../common/mod.rs"]
mod common;
mod geometry;
#[path = "../common/linear.rs"]
mod linear;
mod picture;
mod progress;
mod report;
mod study;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use cases::{Case, Changes, MODELS};
use common::flags::{Flags, Outcome, ensure};
use saltation::impact::BoundLaw;
use study::{Method, Settings, Study};

const HELP: &str = "\
Inelastic impacts with friction at several contacts: every outcome that rigid bodies allow.

After Halm & Posa, \"Set-valued rigid-body dynamics for simultaneous, inelastic, frictional impacts\" (IJRR 2024), Figs 9
to 14. Contacts may share the impulse in any way and at will; the outcomes are a set. Each picture shows the contact speeds
through the impact and, enlarged, the outcomes: the exact set shaded, samples as dots, what the simultaneous law and what
sequences of single impacts predict. impact_set_<model>.svg.

  cargo run --release --example impact_set -- [MODEL] [FLAGS]

  MODEL                  block, gait, box, ramone, disks, disks-as-coded (masses and tangents of the paper's code), wedge;
                         without: all

  --mu X                 coefficient of friction, that of the model
  --geometry NAME=X,..   measures in m, angles in degrees: block width, height, drop; gait leg, spread, mass-to-foot;
                         box side, tilt; ramone foot; disks radius; wedge angle, radius
  --samples N            4096, 1024 for more than three contacts
  --seed N               0
  --sampler NAME         event-exact (no step error), lcp (Algorithm 1), lcp-all (the same, one of all solutions of a
                         step); event-exact for at most three contacts, else lcp
  --law NAME             how impulses of a step are bounded: faces or uniform; faces, uniform for disks-as-coded
  --bound H              greatest normal impulse of a contact in a step, that of the paper [N s]
  --steps N              most steps of a sample, that of the paper
  --cap N                polytopes for the exact set, 1000 for at most three contacts, none for more
  --paths N              samples drawn step by step, 40
  --threads N            with --features parallel; 0: all
  --csv FILE             all outcomes, a row a contact

  --pictures DIR         folder for pictures, target/pictures
";

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let model = flags.word()?;
        let csv = flags.read("--csv", str::parse::<PathBuf>)?;
        let changes = Changes {
            mu: flags.read("--mu", str::parse)?,
            geometry: flags.read("--geometry", measures)?.unwrap_or_default(),
        };
        let settings = settings(&mut flags)?;
        let folder = flags.pictures()?;
        let names: Vec<&str> = match &model {
            Some(name) => vec![name],
            None => MODELS.iter().map(|model| model.0).collect(),
        };
        let message = "--geometry: of which model?";
        ensure(model.is_some() || changes.geometry.is_empty(), message)?;
        let cases: Vec<Case> = names
            .iter()
            .map(|name| Case::of(name, &changes))
            .collect::<Outcome<_>>()?;
        let mut studies = Vec::new();
        for case in &cases {
            let study = Study::of(case, &settings)?;
            report::study(&study, out)?;
            out.flush()?;
            studies.push(study);
        }
        if studies.len() > 1 {
            report::summary(&studies, out)?;
        }
        for study in &studies {
            let file = picture::draw(&folder, study)?;
            writeln!(out, "wrote {}", file.display())?;
        }
        if let Some(csv) = csv {
            table::write(&csv, &studies)?;
            writeln!(out, "wrote {}", csv.display())?;
        }
        Ok(())
    })
}

/// What the flags say of samples.
fn settings(flags: &mut Flags) -> Outcome<Settings> {
    let threads = flags.read("--threads", str::parse)?;
    let message = "--threads needs --features parallel";
    ensure(threads.is_none() || cfg!(feature = "parallel"), message)?;
    let settings = Settings {
        method: flags.read("--sampler", method)?,
        law: flags.read("--law", law)?,
        samples: flags.read("--samples", str::parse)?,
        seed: flags.number("--seed", 0)?,
        paths: flags.number("--paths", 40)?,
        bound: flags.read("--bound", str::parse)?,
        steps: flags.read("--steps", str::parse)?,
        cap: flags.read("--cap", str::parse)?,
        threads: threads.unwrap_or(0),
    };
    let steps = settings.steps.unwrap_or(1);
    ensure(settings.paths <= 5000, "--paths: at most 5000")?;
    ensure((1..=10_000).contains(&steps), "--steps: 1 to 10000")?;
    ensure(settings.samples != Some(0), "--samples: at least 1")?;
    ensure(settings.cap != Some(0), "--cap: at least 1")?;
    Ok(settings)
}

fn method(text: &str) -> Result<Method, &'static str> {
    match text {
        "event-exact" => Ok(Method::EventExact),
        "lcp" => Ok(Method::Lcp),
        "lcp-all" => Ok(Method::LcpAll),
        _ => Err("must be event-exact, lcp or lcp-all"),
    }
}

fn law(text: &str) -> Result<BoundLaw, &'static str> {
    match text {
        "faces" => Ok(BoundLaw::Faces),
        "uniform" => Ok(BoundLaw::Uniform),
        _ => Err("must be faces or uniform"),
    }
}

/// `width=1,height=2`.
fn measures(text: &str) -> Result<Vec<(String, f64)>, String> {
    let measure = |part: &str| {
        let (name, value) = part.split_once('=').ok_or("must be NAME=X,NAME=X,..")?;
        let value = value
            .trim()
            .parse()
            .map_err(|_| format!("{value} is not a number"))?;
        Ok((name.trim().to_owned(), value))
    };
    text.split(',').map(measure).collect()
}
