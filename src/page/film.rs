//! The states that a page shows: at a stated rate, and at both sides of each jump.

use crate::{InputError, Run, validate};

/// Film at the rate, at most.
const MOST_SAMPLES: f64 = 20_000.0;
/// Jumps, at most.
const MOST_JUMPS: usize = 2_000;
/// Numbers of all samples together, at most: a page of about ten megabytes.
pub(super) const MOST_NUMBERS: usize = 4_000_000;

/// States of a run in order of time; at a jump two, the one before it first.
#[derive(Clone, Debug)]
pub(super) struct Film {
    pub(super) dim: usize,
    pub(super) times: Vec<f64>,
    states: Vec<f64>,
    /// The choice, in words for the reader of the page.
    pub(super) notes: Vec<String>,
}

impl Film {
    /// The start, the end, and so many states a second between them.
    pub(super) fn of(run: &Run, rate: f64) -> Result<Self, InputError> {
        validate::positive("rate", &[rate])?;
        let (start, end) = (run.times().first().copied().unwrap_or(run.t()), run.t());
        let dim = run.state().len();
        // Both parts get half of the numbers, and two states each whatever their size.
        let most = (MOST_NUMBERS / (2 * dim.max(1))).max(2);
        let asked = ((end - start) * rate).ceil().max(0.0);
        let kept = asked.min(MOST_SAMPLES).min(most as f64);
        let step = if asked > kept {
            (end - start) / kept
        } else {
            rate.recip().min(end - start)
        };
        let mut film = Self {
            dim,
            times: Vec::new(),
            states: Vec::new(),
            notes: Vec::new(),
        };
        // The second of two nodes at one time.
        let nodes = run.times();
        let jumps = (1..nodes.len()).filter(|&k| nodes[k - 1] >= nodes[k]);
        let jumps: Vec<usize> = jumps.collect();
        let found = jumps.len();
        let every = found.div_ceil(MOST_JUMPS.min(most / 2).max(1)).max(1);
        let mut jumps = jumps.into_iter().step_by(every).peekable();
        let states = run.states();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and MOST_SAMPLES"
        )]
        let count = kept as usize;
        let grid = (0..count).map(|k| start + k as f64 * step);
        for t in grid.filter(|&t| t < end).chain([end]) {
            while let Some(jump) = jumps.next_if(|&k| nodes[k] <= t) {
                for node in [jump - 1, jump] {
                    film.push(nodes[node], states.column(node).iter())?;
                }
            }
            // A jump at this time has its state.
            if film.times.last() != Some(&t) {
                film.push(t, run.state_at(t)?.iter())?;
            }
        }
        let shown = format!("{step:.3e}").parse().unwrap_or(step);
        let (count, nodes) = (film.times.len(), nodes.len());
        film.notes.push(if asked > kept {
            format!(
                "Thinned: {asked} states were asked for; {count} are shown, one each {shown} s, of a run of {nodes} nodes."
            )
        } else {
            format!("{count} states are shown, one each {shown} s, of a run of {nodes} nodes.")
        });
        if every > 1 {
            let note = format!("Thinned: of {found} jumps one of {every} is shown on both sides.");
            film.notes.push(note);
        }
        Ok(film)
    }

    fn push<'x>(&mut self, t: f64, state: impl Iterator<Item = &'x f64>) -> Result<(), InputError> {
        let first = self.states.len();
        self.times.push(t);
        self.states.extend(state);
        validate::finite("state", &self.states[first..])
    }

    /// Times and states.
    pub(super) fn iter(&self) -> impl Iterator<Item = (f64, &[f64])> {
        // A state without entries has no chunks.
        let states = (0..self.times.len()).map(|k| &self.states[k * self.dim..(k + 1) * self.dim]);
        self.times.iter().copied().zip(states)
    }

    /// The largest size of an entry of the state.
    pub(super) fn largest(&self, entry: usize) -> f64 {
        self.iter()
            .fold(0.0, |most, (_, state)| most.max(state[entry].abs()))
    }
}
