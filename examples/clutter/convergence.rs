//! How the cost of the hardest steps comes down (figure 10).

use std::path::{Path, PathBuf};

use plotters::prelude::*;
use saltation::compliant::Solver;

use crate::common::chart::{Area, Key, PALETTE, chart, grey, headline, picture, text};
use crate::common::flags::Outcome;
use crate::record::{Hardest, RTOL, Run};
use crate::{linear, logarithmic};

/// Differences of costs below this part of the first are rounding.
const ROUNDING: f64 = 1e-15;
/// The solver goes on to this tolerance, so that the last cost is the least one.
const TIGHT: f64 = 1e-12;

/// What is drawn of a step: `(ℓ − ℓ*)/ℓ⁰` before each iteration, and how many iterations the run took.
struct History {
    number: usize,
    iterations: usize,
    errors: Vec<f64>,
}

impl History {
    fn of(hardest: &Hardest) -> Outcome<Option<Self>> {
        let mut solver = Solver::new().rtol(TIGHT).history(true);
        let solution = solver.solve(&hardest.problem, &hardest.guess)?;
        let islands = solution.islands().iter();
        let longest = islands.max_by_key(|island| island.costs.len());
        let costs = longest.map_or(&[][..], |island| &island.costs);
        let (Some(first), Some(last)) = (costs.first(), costs.last()) else {
            return Ok(None);
        };
        let errors = costs.iter().map(|cost| (cost - last) / first);
        let errors: Vec<f64> = errors.take_while(|error| *error > ROUNDING).collect();
        Ok((errors.len() > 1).then_some(Self {
            number: hardest.number,
            iterations: hardest.iterations,
            errors,
        }))
    }

    /// From the first error on by a constant factor; by squares, through the last errors.
    fn references(&self) -> [Vec<(f64, f64)>; 2] {
        let n = self.errors.len();
        let place = |k: usize, error: f64| (k as f64, error);
        let half = (n / 2).max(1);
        let factor = (self.errors[half] / self.errors[0]).powf(1.0 / half as f64);
        let linear = (0..n).map(|k| place(k, self.errors[0] * factor.powf(k as f64)));
        let (before, last) = (self.errors[n - 2], self.errors[n - 1]);
        let mut squares = vec![place(n - 1, last), place(n - 2, before)];
        let mut error = before;
        // e' = (last/before²) e²
        for k in (n.saturating_sub(4)..n - 2).rev() {
            error = (error * before * before / last).sqrt();
            squares.push(place(k, error));
        }
        [linear.collect(), squares]
    }
}

/// `clutter_convergence.svg`; none where no step took two iterations.
pub(crate) fn draw(folder: &Path, run: &Run) -> Outcome<Option<PathBuf>> {
    let mut histories = Vec::new();
    for hardest in run.hardest.iter().flatten() {
        histories.extend(History::of(hardest)?);
    }
    if histories.is_empty() {
        return Ok(None);
    }
    let keys = [
        (
            30,
            Key::new(
                "cost ℓ over the least one ℓ*, of the first ℓ⁰",
                PALETTE[5],
                (0, 16),
            ),
        ),
        (830, Key::new("by a constant factor", grey(190), (60, 8))),
        (1230, Key::new("by squares", PALETTE[1], (60, 5))),
    ];
    let title = "Newton's method in the steps that took most iterations";
    let drawn = picture(folder, "clutter_convergence.svg", 860, |area| {
        let below = headline(area, title, &keys)?;
        let (left, right) = below.split_horizontally(900);
        for (panel, history) in [left, right].iter().zip(&histories) {
            draw_history(panel, history)?;
        }
        Ok(())
    });
    drawn.map(Some)
}

fn draw_history(area: &Area, history: &History) -> Outcome<()> {
    let n = history.errors.len() as f64;
    let ticks = history.errors.len().min(8);
    let x = linear::axis("Newton iteration", -0.3..n, u32::try_from(ticks)?);
    let range = 0.1 * ROUNDING..10.0 * history.errors[0].max(1.0);
    let y = logarithmic::axis("(ℓ − ℓ*)/ℓ⁰", range.clone());
    let mut chart = chart(area, x, y)?;
    let styles = [grey(190).stroke_width(8), PALETTE[1].stroke_width(5)];
    for (line, style) in history.references().into_iter().zip(styles) {
        let seen = line.into_iter().filter(|point| range.contains(&point.1));
        chart.draw_series(LineSeries::new(seen, style))?;
    }
    let dots = history.errors.iter().enumerate();
    let dots = dots.map(|(k, error)| Circle::new((k as f64, *error), 9, PALETTE[5].filled()));
    chart.draw_series(dots)?;
    let inside = chart.plotting_area().strip_coord_spec();
    let note = format!(
        "step {}: {} iterations to {RTOL:.0e}",
        history.number, history.iterations
    );
    inside.draw_text(&note, &text(28, grey(80)), (150, 30))?;
    Ok(())
}
