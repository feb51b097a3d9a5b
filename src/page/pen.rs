//! Lines and arrows that a model draws of itself at a state.

use std::io::{self, Write};

use super::film::MOST_NUMBERS;
use super::pack::{Frames, Rounding};
use crate::linalg::largest;
use crate::{InputError, validate};

/// Takes the lines and the forces that a model draws at one state ([`Page::drawn`]).
///
/// Points are in metres, `z` points up; a model in the plane has `y = 0`, and a page of such points
/// looks along `y`.
///
/// [`Page::drawn`]: super::Page::drawn
#[derive(Clone, Debug, Default)]
pub struct Pen {
    lines: Vec<Vec<[f64; 3]>>,
    arrows: Vec<Arrow>,
}

/// A force at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Arrow {
    pub(super) point: [f64; 3],
    pub(super) force: [f64; 3],
}

impl Pen {
    /// A line through points (m). One that ends where it began is the outline of a face, which is
    /// filled.
    pub fn line(&mut self, points: &[[f64; 3]]) {
        self.lines.push(points.to_vec());
    }

    /// A force (N) that acts at a point (m).
    pub fn force(&mut self, point: [f64; 3], force: [f64; 3]) {
        self.arrows.push(Arrow { point, force });
    }
}

/// The lines and arrows of all samples.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawing {
    /// One a sample; empty where nothing was drawn.
    pens: Vec<Pen>,
    numbers: usize,
}

impl Drawing {
    /// Adds what a pen took at sample `k` to what is there.
    pub(super) fn add(&mut self, k: usize, pen: Pen) -> Result<(), InputError> {
        for line in &pen.lines {
            validate::finite("drawn point", line.as_flattened())
                .map_err(|error| at_sample(error, k))?;
        }
        for Arrow { point, force } in &pen.arrows {
            validate::finite("point of a force", point).map_err(|error| at_sample(error, k))?;
            validate::finite("force", force).map_err(|error| at_sample(error, k))?;
        }
        let points: usize = pen.lines.iter().map(|line| 3 * line.len() + 1).sum();
        self.numbers += points + 6 * pen.arrows.len();
        let rule = "must not exceed 4000000: draw less, or at a lower rate";
        validate::unless(
            self.numbers <= MOST_NUMBERS,
            "drawn numbers of a page",
            self.numbers as f64,
            rule,
        )?;
        if self.pens.len() <= k {
            self.pens.resize_with(k + 1, Pen::default);
        }
        self.pens[k].lines.extend(pen.lines);
        self.pens[k].arrows.extend(pen.arrows);
        Ok(())
    }

    /// As JSON: `lines`, each the number of its points and the points; `arrows`, each its point and
    /// the force; and their steps.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let lines = self.pens.iter().flat_map(|pen| pen.lines.iter().flatten());
        let arrows = || self.pens.iter().flat_map(|pen| &pen.arrows);
        let points = lines.chain(arrows().map(|arrow| &arrow.point));
        let lengths = Rounding::of(largest(points.flatten()));
        let forces = Rounding::of(largest(arrows().flat_map(|arrow| &arrow.force)));
        let mut packed = [Frames::default(), Frames::default()];
        for pen in &self.pens {
            packed[0].push(pen.lines.iter().flat_map(|line| {
                let points = line.as_flattened().iter().map(|&x| lengths.steps(x));
                #[expect(clippy::cast_possible_wrap, reason = "a length of a list in memory")]
                let count = line.len() as i64;
                std::iter::once(count).chain(points)
            }));
            packed[1].push(pen.arrows.iter().flat_map(|arrow| {
                let point = arrow.point.map(|x| lengths.steps(x));
                point
                    .into_iter()
                    .chain(arrow.force.map(|x| forces.steps(x)))
            }));
        }
        write!(
            out,
            "{{\"length\":{},\"force\":{},\"lines\":",
            lengths.exponent, forces.exponent
        )?;
        packed[0].write(out)?;
        out.write_all(b",\"arrows\":")?;
        packed[1].write(out)?;
        out.write_all(b"}")
    }
}

/// The error of a number that was drawn, with the number of the sample in the place of its entry.
fn at_sample(mut error: InputError, k: usize) -> InputError {
    if let InputError::NotFinite { entry, .. } = &mut error {
        *entry = k;
    }
    error
}
