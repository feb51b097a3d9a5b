//! Where rows come from: what a part carries with it, so that parts of different ensembles are not
//! mixed.

use std::collections::HashSet;
use std::path::Path;

use super::EnsembleFailure;

/// Where the rows of a table come from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Provenance {
    /// Version of this crate.
    pub version: String,
    /// Model and options, in one line of the user's words
    /// ([`Ensemble::about`](super::Ensemble::about)).
    pub model: String,
    /// The seed.
    pub seed: u64,
    /// Names of the columns.
    pub columns: Vec<String>,
}

impl Provenance {
    pub(in crate::ensemble) fn new(seed: u64) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: String::new(),
            seed,
            columns: Vec::new(),
        }
    }

    /// FNV-1a of 64 bits over version, model, seed and columns, each with its length before it. Tables with
    /// the same hash are parts of one ensemble. (That they were made by the same binary, on machines with
    /// the same libm, is not in it.)
    pub fn hash(&self) -> u64 {
        let seed = self.seed.to_string();
        let texts = [&self.version, &self.model, &seed];
        texts
            .into_iter()
            .chain(&self.columns)
            .flat_map(|text| {
                let length = (text.len() as u64).to_le_bytes();
                length.into_iter().chain(text.bytes())
            })
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
    }

    /// Refuses names that a table cannot hold.
    pub(in crate::ensemble) fn check(&self) -> Result<(), EnsembleFailure> {
        let mut seen = HashSet::new();
        let refuse = |name: &str, rule| {
            let name = name.to_owned();
            Err(EnsembleFailure::BadColumn { name, rule })
        };
        if self.columns.is_empty() {
            return refuse("", "at least one column is drawn or kept");
        }
        for name in &self.columns {
            let is_plain = |c: char| !(c.is_control() || matches!(c, ',' | '"' | '#'));
            if name.is_empty() {
                return refuse(name, "a name is not empty");
            }
            if !name.chars().all(is_plain) {
                return refuse(name, "a name has no comma, quote, # or control character");
            }
            if ["index", "status", "reason"].contains(&name.as_str()) {
                return refuse(name, "index, status and reason are columns of every table");
            }
            if !seen.insert(name) {
                return refuse(name, "each column has a name of its own");
            }
        }
        Ok(())
    }

    /// Refuses a part of another ensemble, by the first thing that differs.
    pub(in crate::ensemble) fn check_same(
        &self,
        part: &Self,
        path: &Path,
    ) -> Result<(), EnsembleFailure> {
        let texts = |one: &Self| {
            [
                ("version", one.version.clone()),
                ("model", format!("{:?}", one.model)),
                ("seed", one.seed.to_string()),
                ("columns", one.columns.join(",")),
            ]
        };
        for ((what, expected), (_, found)) in texts(self).into_iter().zip(texts(part)) {
            if expected != found {
                return Err(EnsembleFailure::foreign(path, what, found, expected));
            }
        }
        Ok(())
    }
}
