//! Pages of runs: what their data says, and what a browser makes of it.
#![allow(missing_docs, reason = "tests")]
#![allow(clippy::float_cmp, reason = "the same bits")]

mod browser;
mod data;
mod forces;
mod reader;
