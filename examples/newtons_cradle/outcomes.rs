//! The outcome sets of one impact, and where the laws stand in them.

use nalgebra::DMatrix;
use saltation::Error;
use saltation::impact::{
    AllOutcomes, ImpactLaw, ImpactProblem, MinimalOutcomes, Outcome, Plastic, Propagative,
    ReflectionOrder, Unilateral,
};
use saltation::models::Cradle;

/// All outcomes of one impact, and those of laws that are not among them.
pub(crate) struct Set {
    pub(crate) masses: Vec<f64>,
    pub(crate) before: Vec<f64>,
    /// The Delassus matrix.
    pub(crate) delassus: DMatrix<f64>,
    /// Outcomes of [`AllOutcomes`] first.
    pub(crate) entries: Vec<Entry>,
}

/// One outcome.
pub(crate) struct Entry {
    /// Contacts from 0, in the order of their reflections; none for a law that takes all at once.
    pub(crate) word: Option<Vec<usize>>,
    /// True when a minimal word reaches it.
    pub(crate) is_minimal: bool,
    /// The laws that choose it.
    pub(crate) laws: Vec<&'static str>,
    pub(crate) velocities: Vec<f64>,
}

impl Set {
    pub(crate) fn of(cradle: &Cradle) -> Result<Self, Error> {
        let impact = cradle.impact()?;
        let near = |a: &Outcome, b: &Outcome| a.distance(b) <= 1e-9 * impact.kinetic_norm();
        let minimal = MinimalOutcomes::new().resolve(&impact)?.list;
        let mut found = AllOutcomes::new().resolve(&impact)?.list;
        let count = found.len();
        let mut laws: Vec<Vec<&'static str>> = vec![Vec::new(); count];
        for (name, outcome) in single(&impact)? {
            if let Some(i) = found.iter().position(|other| near(other, &outcome)) {
                laws[i].push(name);
            } else {
                found.push(outcome);
                laws.push(vec![name]);
            }
        }
        let mut entries = Vec::new();
        for ((i, outcome), laws) in found.iter().enumerate().zip(laws) {
            entries.push(Entry {
                word: (i < count).then(|| outcome.word().to_vec()),
                is_minimal: i < count && minimal.iter().any(|other| near(other, outcome)),
                laws,
                velocities: impact.velocity_after(outcome)?.as_slice().to_vec(),
            });
        }
        Ok(Self {
            masses: cradle.masses().to_vec(),
            before: cradle.velocities().to_vec(),
            delassus: impact.delassus().clone(),
            entries,
        })
    }

    /// `masses 1, 2, 3 kg: 2 outcomes`.
    pub(crate) fn title(&self) -> String {
        let masses: Vec<String> = self.masses.iter().map(f64::to_string).collect();
        let count = self
            .entries
            .iter()
            .filter(|entry| entry.word.is_some())
            .count();
        let plural = if count == 1 { "" } else { "s" };
        format!("masses {} kg: {count} outcome{plural}", masses.join(", "))
    }
}

/// The laws that give one outcome.
fn single(elastic: &ImpactProblem) -> Result<[(&'static str, Outcome); 4], Error> {
    Ok([
        (
            "fastest first",
            Propagative::new(ReflectionOrder::ArgMin).outcome(elastic)?,
        ),
        (
            "slowest first",
            Propagative::new(ReflectionOrder::ArgMax).outcome(elastic)?,
        ),
        ("unilateral, e = 1", Unilateral.outcome(elastic)?),
        ("plastic", Plastic.outcome(elastic)?),
    ])
}

impl Entry {
    /// `1-2-1`, contacts from 1.
    pub(crate) fn word(&self) -> String {
        let number = |contact: &usize| (contact + 1).to_string();
        match &self.word {
            None => "all at once".to_owned(),
            Some(word) if word.is_empty() => "no impact".to_owned(),
            Some(word) => word.iter().map(number).collect::<Vec<_>>().join("-"),
        }
    }
}
