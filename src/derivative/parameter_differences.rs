//! Differences for a model whose parameters are state variables: steps that follow the size of a
//! parameter, and resets repeated at nearby states.

use std::convert::Infallible;

use super::repeated_reset::RepeatedReset;
use crate::hybrid::evaluate::Point;
use crate::ode::difference::{Line, step_along};
use crate::ode::resolved_difference::resolved_along;
use crate::{Crossed, Crossing, EventFunction, Flow, Mode, NoDerivative, Record};

/// The reset of a crossing, to be repeated at nearby states.
pub(super) struct Reset<'a> {
    crossed: Crossed<'a>,
    /// The mode before the crossing, and that with its sides crossed.
    before: Mode,
    sides: &'a Mode,
    /// After it.
    mode_after: Mode,
    mode_trial: Mode,
    resets: RepeatedReset,
}

impl<'a> Reset<'a> {
    /// The reset of `crossed` at `(t, x)`, where `sides` is the mode with their sides crossed; none
    /// when it is refused.
    pub(super) fn at<S: Flow + EventFunction>(
        model: &S,
        t: f64,
        x: &[f64],
        crossed: &Crossed<'a>,
        sides: &'a Mode,
    ) -> Option<Self> {
        let mut before = sides.clone();
        for c in crossed.guards() {
            before.set(c.guard.event, !c.guard.side_after());
        }
        let (mut after, mut mode_after) = (x.to_vec(), sides.clone());
        model
            .on_crossing(&mut Crossing {
                t,
                crossed: *crossed,
                x: &mut after,
                mode: &mut mode_after,
                record: &mut Record::default(),
            })
            .ok()?;
        Some(Self {
            crossed: *crossed,
            before,
            sides,
            mode_after,
            mode_trial: sides.clone(),
            resets: RepeatedReset {
                rated: Vec::new(),
                field: after,
                row: vec![0.0; x.len()],
            },
        })
    }

    /// The state after it from `(t, x)`.
    pub(super) fn of<S: Flow + EventFunction>(
        &mut self,
        model: &S,
        t: f64,
        x: &[f64],
        after: &mut [f64],
    ) -> Result<(), NoDerivative> {
        let mode = &self.before;
        let (point, mode_after) = (Point { t, x, mode }, &mut self.mode_trial);
        (self.resets).at(&model, point, self.crossed, self.sides, after, mode_after)?;
        if self.mode_trial == self.mode_after {
            return Ok(());
        }
        let state = x.to_vec();
        Err(NoDerivative::NotRepeatable { t, state })
    }
}

/// Step of a difference by a parameter: relative to its size, since a parameter has no other scale.
pub(super) fn own_step(p: f64) -> f64 {
    let unit = step_along(0.0, &[0.0], 0.0, &[1.0]);
    if p == 0.0 { unit } else { unit * p.abs() }
}

/// Derivative of `g(t, x, out)` along `dx`, by a central difference; false where it is not known.
pub(super) fn along(
    mut g: impl FnMut(f64, &[f64], &mut [f64]),
    t: f64,
    x: &[f64],
    dx: &[f64],
    out: &mut [f64],
) -> bool {
    if dx.iter().all(|&v| v == 0.0) {
        out.fill(0.0);
        return true;
    }
    let zeros = || vec![0.0; out.len()];
    let [mut point, mut behind, mut half, mut beside] = [0, 1, 2, 3].map(|_| zeros());
    let g = |t: f64, x: &[f64], out: &mut [f64]| {
        g(t, x, out);
        Ok::<(), Infallible>(())
    };
    let trials = [out, &mut half[..], &mut beside[..]];
    let line = Line::at_time(t, x, dx);
    let Ok(unknown) = resolved_along(g, line, trials, &mut point, &mut behind);
    unknown.is_none()
}
