//! The events of a run, as marks on the time line.

use std::io::{self, Write};

use super::pack::{write_list, write_text};
use crate::{ContactEvent, GuardCrossing, Run};

/// Marks, at most.
const MOST_MARKS: usize = 5_000;

/// An event of a run.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) t: f64,
    /// Its colour: a word that the legend of the page has.
    pub(super) kind: &'static str,
    pub(super) text: String,
}

impl Mark {
    fn of_contacts(event: &ContactEvent) -> Self {
        // Where several things happened, the first of them.
        let kind = if !event.activated.is_empty() {
            "closed"
        } else if !event.released.is_empty() {
            "released"
        } else {
            "friction"
        };
        Self {
            t: event.t,
            kind,
            text: event.to_string(),
        }
    }

    fn of_guard(crossing: &GuardCrossing) -> Self {
        Self {
            t: crossing.t,
            kind: "guard",
            text: format!("{} s: guard {}", crossing.t, crossing.guard),
        }
    }
}

/// The events of contacts, or the crossings of guards of a run that has none.
pub(super) fn marks(run: &Run) -> Vec<Mark> {
    if run.events().is_empty() {
        run.crossings().iter().map(Mark::of_guard).collect()
    } else {
        run.events().iter().map(Mark::of_contacts).collect()
    }
}

/// Keeps as many marks as a page shows, in order of time, and says so where some are left out.
pub(super) fn thin(marks: &mut Vec<Mark>) -> Option<String> {
    marks.sort_by(|a, b| a.t.total_cmp(&b.t));
    let found = marks.len();
    let every = found.div_ceil(MOST_MARKS);
    if every <= 1 {
        return None;
    }
    let mut k = 0;
    marks.retain(|_| {
        k += 1;
        (k - 1) % every == 0
    });
    Some(format!(
        "Thinned: of {found} events one of {every} is marked."
    ))
}

pub(super) fn write_marks(out: &mut dyn Write, marks: &[Mark]) -> io::Result<()> {
    write_list(out, marks, |out, mark| {
        write!(out, "[{:?},\"{}\",", mark.t, mark.kind)?;
        write_text(out, &mark.text)?;
        out.write_all(b"]")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "whole numbers")]
    use super::*;

    #[test]
    fn of_many_marks_some_are_kept_in_order_of_time() {
        let mark = |k: u32| Mark {
            t: f64::from(20_000 - k),
            kind: "guard",
            text: String::new(),
        };
        let mut marks: Vec<Mark> = (0..12_000).map(mark).collect();
        let note = thin(&mut marks).unwrap();
        assert_eq!(note, "Thinned: of 12000 events one of 3 is marked.");
        assert_eq!(marks.len(), 4000);
        assert!(marks.windows(2).all(|pair| pair[1].t - pair[0].t == 3.0));
        let mut few: Vec<Mark> = (0..5_000).map(mark).collect();
        assert!(thin(&mut few).is_none() && few.len() == 5_000);
    }
}
