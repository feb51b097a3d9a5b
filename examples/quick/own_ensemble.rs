//! A program for an ensemble of your own, with the flags by which Slurm and Ray call it: `--range A..B`, and `--out DIR`,
//! `--missing DIR`, or `--merge DIR` with `--out FILE`; `--threads N`. Without a folder it prints.

use std::error::Error;
use std::ops::Range;
use std::process::ExitCode;

use pico_args::Arguments;
use saltation::ensemble::{Ensemble, Folder, Moments};
use saltation::models::Hopper;
use saltation::{Integrator, Interrupt, Start};

fn run() -> Result<(), Box<dyn Error>> {
    let mut flags = Arguments::from_env();
    let range = flags
        .opt_value_from_fn("--range", range)?
        .unwrap_or(0..1000);
    let out: Option<String> = flags.opt_value_from_str("--out")?;
    let missing: Option<String> = flags.opt_value_from_str("--missing")?;
    let merge: Option<String> = flags.opt_value_from_str("--merge")?;
    let threads = flags.opt_value_from_str("--threads")?;
    let rest = flags.finish();
    if !rest.is_empty() {
        return Err(format!("not understood: {rest:?}").into());
    }
    // Ctrl-C, and the SIGTERM of Slurm with the feature `termination` of ctrlc.
    let stop = Interrupt::new();
    let on_signal = stop.clone();
    ctrlc::set_handler(move || on_signal.set())?;

    let hops = Ensemble::new(7)
        .draw(&["z0"], |draw| [draw.between(1.5, 2.5)])
        .run(
            &["z", "v"],
            || Ok(Integrator::new(Hopper::default())?.interrupt(&stop)),
            |driver, drawn, kept| {
                let end = driver.observe(&Start::at(0.0).x(&[drawn[0], 0.0]), 2.0, &mut ())?;
                kept.copy_from_slice(driver.state());
                Ok(end.status)
            },
        )
        .about("hopper, 2 s, rtol 1e-6") // what changes rows belongs into it
        .interrupt(&stop);
    #[cfg(feature = "parallel")]
    let hops = hops.threads(threads.unwrap_or(0));
    #[cfg(not(feature = "parallel"))]
    let _: Option<usize> = threads;

    if let Some(dir) = missing {
        for gap in hops.missing(&Folder::new(dir), range)? {
            println!("{gap:?}");
        }
    } else if let Some(dir) = merge {
        let folder = Folder::new(&dir);
        if let Some(gap) = hops.missing(&folder, range)?.first() {
            return Err(format!("rows {gap:?} are missing in {dir}").into());
        }
        out.map(|file| folder.merge(file)).transpose()?;
    } else if let Some(dir) = out {
        hops.complete(&Folder::new(dir), range, |_| Ok(()))?;
    } else {
        let mut moments = Moments::new(3)?;
        hops.stream(range, |rows| moments.add_rows(rows))?;
        let (runs, failed) = (moments.count(), moments.skipped());
        println!("{runs} hops, {failed} failed: {:.3?}", moments.mean());
    }
    Ok(())
}

fn range(text: &str) -> Result<Range<u64>, Box<dyn Error>> {
    let (start, end) = text.split_once("..").ok_or("must be A..B")?;
    Ok(start.parse()?..end.parse()?)
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
