//! An ensemble of hoppers, one that costs nothing, and folders of its own for each test.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use saltation::ensemble::{Draw, Drawn, Ensemble, EnsembleFailure, Folder, Rows, RunError};
use saltation::models::Hopper;
use saltation::{Integrator, Start, Status};

/// An ensemble of these tests, its functions erased.
pub(crate) type Runs<W> = Ensemble<
    fn(&mut Draw) -> [f64; 2],
    fn() -> Result<W, RunError>,
    fn(&mut W, &Drawn<'_>, &mut [f64]) -> Result<Status, RunError>,
>;

/// Hoppers with drawn height and stiffness. A stiffness below 110 N/m is a run that fails.
pub(crate) fn hoppers(seed: u64) -> Runs<()> {
    Ensemble::new(seed)
        .draw(
            &["z0", "stiffness"],
            (|draw| [draw.between(1.5, 2.5), draw.between(100.0, 400.0)]) as fn(&mut Draw) -> _,
        )
        .run(
            &["z", "v"],
            (|| Ok(())) as fn() -> _,
            (|(), drawn, kept| {
                if drawn[1] < 110.0 {
                    return Err(format!("too soft, \"{}\"\n", drawn[1]).into());
                }
                let stiffness = drawn[1];
                let hopper = Hopper {
                    stiffness,
                    ..Hopper::default()
                };
                let start = [drawn[0], 0.0];
                let run = Integrator::new(hopper)?.integrate(&Start::at(0.0).x(&start), 1.0)?;
                kept.copy_from_slice(run.state().as_slice());
                Ok(run.status().clone())
            }) as fn(&mut (), &Drawn<'_>, &mut [f64]) -> _,
        )
        .about("hopper, rtol 1e-6")
}

/// Rows that cost nothing, every eleventh a failure.
pub(crate) fn numbers(seed: u64) -> Runs<u64> {
    Ensemble::new(seed)
        .draw(
            &["a", "b"],
            (|draw| [draw.unit(), draw.normal()]) as fn(&mut Draw) -> _,
        )
        .run(
            &["sum"],
            (|| Ok(0)) as fn() -> _,
            (|runs, drawn, kept| {
                *runs += 1;
                if drawn.index() % 11 == 0 {
                    return Err("a multiple of eleven".into());
                }
                kept[0] = drawn[0] + drawn[1];
                Ok(Status::ReachedEnd)
            }) as fn(&mut u64, &Drawn<'_>, &mut [f64]) -> _,
        )
        .about("numbers")
}

/// All bits of rows, their ends included.
pub(crate) fn bits(rows: &Rows) -> Vec<String> {
    let line = |row: saltation::ensemble::Row<'_>| {
        let values: Vec<u64> = row.values.iter().map(|x| x.to_bits()).collect();
        format!("{} {values:?} {:?}", row.index, row.end)
    };
    rows.iter().map(line).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "as a sink has it")]
pub(crate) fn ignored(_: &Rows) -> Result<(), EnsembleFailure> {
    Ok(())
}

#[cfg(feature = "arrow")]
pub(crate) const ENDINGS: [&str; 2] = ["csv", "parquet"];
#[cfg(not(feature = "arrow"))]
pub(crate) const ENDINGS: [&str; 1] = ["csv"];

/// A folder of parts of 50 rows.
pub(crate) fn folder(path: &Path, ending: &str) -> Folder {
    let folder = Folder::new(path).rows_a_part(50);
    match ending {
        #[cfg(feature = "arrow")]
        "parquet" => folder.parquet(),
        _ => folder,
    }
}

/// The bits of all its rows.
pub(crate) fn rows_of(folder: &Folder) -> Vec<String> {
    let mut rows = Vec::new();
    folder
        .stream(|block| {
            rows.extend(bits(block));
            Ok(())
        })
        .unwrap();
    rows
}

/// An empty folder that goes when the test ends.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("saltation-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The names of its files, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = names
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
