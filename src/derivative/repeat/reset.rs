//! A reset made again at a point before its crossing, and the effects of a repeated crossing.

use crate::hybrid::System;
use crate::hybrid::evaluate::{self, Point};
use crate::{Crossed, CrossedGuard, Crossing, Mode, Record, Stop};

/// Workspace to repeat a reset: the guards with their rates there, and for these the field and a
/// row.
#[derive(Clone, Debug)]
pub(crate) struct RepeatedReset {
    pub(crate) rated: Vec<CrossedGuard>,
    pub(crate) field: Vec<f64>,
    pub(crate) row: Vec<f64>,
}

impl RepeatedReset {
    /// Makes the reset of the guards in `crossed`, with their rates, at a point before the crossing:
    /// writes the state after it into `after` and the mode into `mode_after`. `sides` is the mode
    /// with the sides of the guards crossed.
    pub(crate) fn at(
        &mut self,
        system: &dyn System,
        point: Point<'_>,
        crossed: Crossed<'_>,
        sides: &Mode,
        after: &mut [f64],
        mode_after: &mut Mode,
    ) -> Result<(), Stop> {
        let Self { rated, field, row } = self;
        let Point { t, x, mode } = point;
        system.flow(t, x, mode, field);
        rated.clear();
        for &CrossedGuard { guard, .. } in crossed.guards() {
            let rate = evaluate::rate(system, guard.event, point, field, row).value;
            rated.push(CrossedGuard { guard, rate });
        }
        after.copy_from_slice(x);
        mode_after.copy_from(sides);
        system.on_crossing(&mut Crossing {
            t,
            crossed: Crossed::new(rated).of_transition(crossed.transition()),
            x: after,
            mode: mode_after,
            record: &mut Record::beside(),
        })
    }
}

/// The effects of a crossing besides the change of the mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    /// The reset changed the state.
    pub(crate) moved: bool,
    /// A reset changed sides or flags.
    pub(crate) reset_mode: bool,
    pub(crate) tangents: Passed,
    /// A guard that ends the run was among those crossed.
    pub(crate) stops: bool,
}

/// The change of tangents at a crossing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Passed {
    /// The reset is the identity near the state too.
    Unchanged,
    /// By a derivative that is written.
    AsWritten,
    /// By a difference, in part at least.
    ByDifference,
}

/// Sensitivities `(dt, dx)` that a crossing carries along; `dx` one after the other.
#[derive(Debug)]
pub(crate) struct Carried<'a> {
    pub(crate) dt: f64,
    pub(crate) dx: &'a mut [f64],
}
