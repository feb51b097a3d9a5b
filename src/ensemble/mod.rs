//! Many runs of one model, each a row of a table: campaigns of random starts, sets by sampling, fits.
//!
//! A **row is a function of its index**. An [`Ensemble`] is a draw, which gives the start and the
//! parameters of a row from its index and a seed; a run, with any driver or sampler; and what is kept
//! of it. Any split of a range of indices gives the same rows, bit by bit, on any number of threads, and
//! of processes of the same binary and libm. A run that fails is a row with its reason.
//!
//! ```
//! use saltation::ensemble::{Ensemble, Moments};
//! use saltation::models::Hopper;
//! use saltation::{Integrator, Start};
//!
//! let hops = Ensemble::new(7) // the seed
//!     .draw(&["z0"], |draw| [draw.between(1.5, 2.5)])
//!     .run(
//!         &["z", "v"],
//!         || Ok(Integrator::new(Hopper::default())?.rtol(1e-8)), // for each thread
//!         |driver, drawn, kept| {
//!             let end = driver.observe(&Start::at(0.0).x(&[drawn[0], 0.0]), 2.0, &mut ())?;
//!             kept.copy_from_slice(driver.state());
//!             Ok(end.status)
//!         },
//!     );
//! let rows = hops.rows(0..100)?;
//! assert_eq!(rows.get(60), hops.rows(60..61)?.get(0));
//!
//! // A range that does not fit into memory is streamed: into statistics, into a table, or both.
//! let mut moments = Moments::new(3)?;
//! hops.stream(0..1000, |rows| moments.add_rows(rows))?;
//! assert!((moments.mean()[0] - 2.0).abs() < 0.05);
//! # Ok::<(), saltation::Error>(())
//! ```
//!
//! # Tables
//!
//! [`Ensemble::write`] writes a range to a file, [`Ensemble::complete`] what is missing of a range in a
//! [`Folder`] of parts. Each [`Part`] carries its [`Provenance`] and its range, and appears when it is
//! whole. Parts of another ensemble are refused, and one row of a folder is made again, which finds a draw
//! or a run that has changed under the same words ([`Ensemble::missing`]). So ranges may be made by several processes, on several
//! machines, by any engine that retries what fails: `docs/ensembles.md` of the repository shows Slurm and
//! Ray, and `examples/quick/own_ensemble.rs` a program for them. With the feature `arrow` parts may be Parquet files.
//!
//! # Statistics
//!
//! [`Moments`], [`Histogram`] and, with the feature `quantiles`, `Quantiles` take rows as they come, and
//! merge.

mod draw;
#[expect(
    clippy::module_inception,
    reason = "the type and its room have one name"
)]
mod ensemble;
mod failure;
mod provenance;
mod rows;
mod statistics;
mod sweep;
mod table;

#[cfg(feature = "parallel")]
pub(crate) use sweep::MOST_THREADS;
pub(crate) use sweep::{Crew, Numbered};

/// The version of arrow-array whose tables [`Rows::to_arrow`] returns.
#[cfg(feature = "arrow")]
pub use arrow_array;
pub use draw::{Draw, Drawn};
pub use ensemble::{Ensemble, RunError};
pub use failure::EnsembleFailure;
pub use provenance::Provenance;
pub use rows::{Row, RowEnd, Rows};
#[cfg(feature = "quantiles")]
pub use statistics::Quantiles;
pub use statistics::{Histogram, Moments};
pub use table::{Folder, Part};
