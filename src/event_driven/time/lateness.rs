//! By how much the end of a mode of contacts that depend on each other may be late.

use crate::event_driven::Model;
use crate::mechanics::State;
use crate::{EventFunction, Flow, InputError, Run, validate};

/// How far loads are outside of the cones of forces, as a part of them, where that is no rounding.
const OUTSIDE: f64 = 2e-12;
/// Where that grows with the square of time, it took 3 % of the time of a mode's end to be seen.
const SEEN: f64 = 1.04;

impl Model<'_> {
    /// See [`lateness`](crate::ContactModel::lateness).
    pub(crate) fn lateness_at(&self, run: &Run, t: f64) -> Result<f64, InputError> {
        validate::length("states of the run", self.dim(), run.state().len())?;
        let (guards, flags) = run.mode().sizes();
        validate::length("guards of the run", self.count(), guards)?;
        validate::length("flags of the run", self.flags(), flags)?;
        run.state_at(t)?;
        // The mode that ends: the last that was entered before. The first node at this time is the
        // state before the event.
        let times = run.times();
        let Some(node) = times.partition_point(|&node| node < t).checked_sub(1) else {
            return Ok(0.0);
        };
        let (mode, end) = (
            run.mode_at(times[node])?,
            run.states().column(node + 1).into_owned(),
        );
        let entered = run.modes().partition_point(|change| change.t < t);
        let changes = run.modes().get(entered).is_some_and(|change| change.t <= t);
        if !changes || !self.has_friction_in(mode) {
            return Ok(0.0);
        }
        let is_outside = |t: f64, x: &[f64]| {
            let (q, v) = self.parts(x);
            let margin = self.margin_of_loads(State { t, q, v }, mode);
            margin.is_some_and(|margin| margin < -OUTSIDE)
        };
        let is_outside_at = |t: f64| run.state_at(t).is_ok_and(|x| is_outside(t, x.as_slice()));
        let begin = run.modes()[..entered]
            .last()
            .map_or(times[0], |last| last.t);
        let (mut inside, mut outside) = (begin, t);
        if !is_outside(t, end.as_slice()) {
            return Ok(0.0);
        }
        if is_outside_at(inside) {
            return Ok(t - inside);
        }
        // The loads leave the cones once: a mode ends soon after.
        for _ in 0..100 {
            let middle = 0.5 * (inside + outside);
            if middle <= inside || middle >= outside {
                break;
            }
            if is_outside_at(middle) {
                outside = middle;
            } else {
                inside = middle;
            }
        }
        Ok(SEEN * (t - inside))
    }
}
