//! The chain rule along a run: linear maps between corners, and corners, one after the other.

use nalgebra::{DMatrix, DVector};

use super::context::Context;
use super::corner::bouligand::{CornerDerivative, CornerKind};
use super::corner::classify::SAMPLES;
use super::corner::explorer::Explorer;
use super::corner::follow::Course;
use crate::{Guard, NoDerivative};

/// A link of the chain rule along a run; displacements at fixed time go in and come out.
#[derive(Clone, Debug)]
pub(crate) enum Link {
    /// Smooth motion and single crossings.
    Map(DMatrix<f64>),
    /// Several guards at one instant.
    Corner(Box<CornerDerivative>),
}

/// The shift of the time of a crossing.
#[derive(Clone, Debug)]
pub(crate) enum Shift {
    /// By a row on the displacement that enters this link.
    Row(usize, DVector<f64>),
    /// As found when this corner is passed: of a guard, behind so many earlier crossings of it there.
    Corner(usize, Guard, usize),
}

/// A half-space of displacements for which a one-sided derivative does not hold.
#[derive(Clone, Debug)]
pub(crate) enum Boundary {
    /// The start lies on a guard. Displacements with `row · v > 0` put it on the other side.
    Start(Guard, f64, DVector<f64>),
    /// The run ends at this crossing. Displacements that delay it do not reach it.
    Crossed(Guard, f64, usize),
    /// Likewise at the last crossing of this guard.
    Last(Guard, f64),
    /// The run ends before this guard. Displacements with `row · B(v) > 0` cross it.
    Ahead(Guard, f64, DVector<f64>),
}

/// The links by which displacements of the start are carried through a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    links: Vec<Link>,
    /// Of each crossing that the run reported.
    shifts: Vec<Shift>,
    boundaries: Vec<Boundary>,
}

impl Chain {
    pub(crate) fn links(&self) -> &[Link] {
        &self.links
    }

    pub(crate) fn shifts(&self) -> &[Shift] {
        &self.shifts
    }

    pub(crate) fn boundaries(&self) -> &[Boundary] {
        &self.boundaries
    }

    pub(crate) fn corners(&self) -> impl Iterator<Item = &CornerDerivative> {
        self.links.iter().filter_map(|link| match link {
            Link::Corner(corner) => Some(&**corner),
            Link::Map(_) => None,
        })
    }

    pub(crate) fn push_map(&mut self, map: DMatrix<f64>) {
        self.links.push(Link::Map(map));
    }

    /// Adds a corner, of which `guards` were reported.
    pub(crate) fn push_corner(&mut self, corner: CornerDerivative, guards: &[Guard]) {
        let link = self.links.len();
        let shifts = guards.iter().enumerate().map(|(i, &guard)| {
            let earlier = guards[..i].iter().filter(|other| **other == guard);
            Shift::Corner(link, guard, earlier.count())
        });
        self.shifts.extend(shifts);
        self.links.push(Link::Corner(Box::new(corner)));
    }

    /// Adds `count` crossings within the next link, whose times shift by `row` on the displacement
    /// that enters it.
    pub(crate) fn push_shifts(&mut self, row: DVector<f64>, count: usize) {
        let shift = Shift::Row(self.links.len(), row);
        self.shifts.extend(std::iter::repeat_n(shift, count));
    }

    pub(crate) fn push_boundary(&mut self, boundary: Boundary) {
        self.boundaries.push(boundary);
    }

    /// The displacement that enters link `end` when the start is displaced by `v`.
    pub(crate) fn carry(
        &self,
        context: Context<'_>,
        v: &[f64],
        end: usize,
        explorer: &mut Explorer,
    ) -> Result<DVector<f64>, NoDerivative> {
        let mut delta = DVector::from_column_slice(v);
        for link in self.links.iter().take(end) {
            match link {
                Link::Map(map) => delta = map * delta,
                Link::Corner(corner) => match corner.proved() {
                    Some(map) => delta = map * delta,
                    None => {
                        pass(context, corner, explorer, &mut delta)?;
                    }
                },
            }
        }
        Ok(delta)
    }

    /// The product of the maps up to link `end`. For a corner that is not linear `piece` returns
    /// the map, given the product before it.
    pub(crate) fn product(
        &self,
        dim: usize,
        end: usize,
        mut piece: impl FnMut(&CornerDerivative, &DMatrix<f64>) -> Result<DMatrix<f64>, NoDerivative>,
    ) -> Result<DMatrix<f64>, NoDerivative> {
        let mut product = DMatrix::identity(dim, dim);
        for link in self.links.iter().take(end) {
            product = match link {
                Link::Map(map) => map * product,
                Link::Corner(corner) => match corner.proved() {
                    Some(map) => map * product,
                    None => piece(corner, &product)? * product,
                },
            };
        }
        Ok(product)
    }
}

/// Carries a displacement through a corner and returns the guards that it meets. Refuses it where
/// its outcome is not that of the run.
pub(crate) fn pass(
    context: Context<'_>,
    corner: &CornerDerivative,
    explorer: &mut Explorer,
    delta: &mut DVector<f64>,
) -> Result<Course, NoDerivative> {
    let mut course = Course::default();
    explorer.begin(context, &corner.point)?;
    let passed = course.pass(context, explorer, delta.as_mut_slice())?;
    if explorer.is_exit(context, passed, &corner.point) {
        return Ok(course);
    }
    Err(NoDerivative::Discontinuous {
        t: corner.t(),
        order: course.guards(),
    })
}

/// The map of a corner where one was found for all its orders.
pub(crate) fn only_map(corner: &CornerDerivative) -> Result<DMatrix<f64>, NoDerivative> {
    let map = corner.linear().cloned();
    map.ok_or_else(|| not_linear(Some(corner)))
}

/// The reason for which a corner has no single matrix.
pub(crate) fn not_linear(corner: Option<&CornerDerivative>) -> NoDerivative {
    let t = corner.map_or(f64::NAN, CornerDerivative::t);
    let guards = corner.map_or_else(Vec::new, |corner| corner.guards().to_vec());
    match corner.map(CornerDerivative::kind) {
        Some(CornerKind::Linear { .. }) => NoDerivative::OrdersNotCompared {
            t,
            guards,
            directions: SAMPLES,
        },
        _ => NoDerivative::PiecewiseLinear { t, guards },
    }
}
