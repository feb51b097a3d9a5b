//! Shifts of the times of crossings by the start.

use nalgebra::DVector;

use super::Derivative;
use super::chain_rule::{Link, Shift, only_map, pass};
use crate::{EventFunction, Flow, InputError, NoDerivative};

impl<S: Flow + EventFunction> Derivative<S> {
    /// The row of the time shift of crossing `index` where it is linear: `row · v` for a
    /// displacement `v` of the start (s per unit of each state variable). It is linear away from
    /// corners, and at a corner where all orders have the same row for this guard.
    ///
    /// # Errors
    /// [`InputError::NoSuch`]; [`NoDerivative::TimeDependsOnOrder`] when the crossing belongs to a
    /// corner whose orders have different rows for it, or were not all compared;
    /// [`NoDerivative::PiecewiseLinear`] and [`NoDerivative::OrdersNotCompared`] when it comes
    /// after one that is not linear; otherwise as [`apply`](Self::apply).
    pub fn event_time_row(&self, index: usize) -> Result<DVector<f64>, NoDerivative> {
        self.check_failure()?;
        let no_crossing = || self.no_crossing(index);
        let (link, row) = match self.chain.shifts().get(index) {
            None => return Err(no_crossing()),
            Some(Shift::Row(link, row)) => (*link, row),
            Some(Shift::Corner(link, guard, earlier)) => match self.chain.links().get(*link) {
                // Rows are those of the first crossing of each guard.
                Some(Link::Corner(corner)) => match corner.time_row(*guard) {
                    Some(row) if *earlier == 0 => (*link, row),
                    _ => {
                        return Err(NoDerivative::TimeDependsOnOrder {
                            guard: *guard,
                            t: corner.t(),
                            guards: corner.guards().to_vec(),
                        });
                    }
                },
                _ => return Err(no_crossing()),
            },
        };
        let before = self.product(link, |corner, _| only_map(corner))?;
        Ok(before.tr_mul(row))
    }

    /// Shift of the time of crossing `index` of the trajectory's
    /// [`crossings`](crate::Run::crossings), per displacement of the start forward along `v`
    /// (s per unit of `v`).
    ///
    /// # Errors
    /// [`InputError::NoSuch`]; otherwise as [`apply`](Self::apply). A guard that was not reached
    /// has no crossing.
    pub fn event_time_shift(&self, index: usize, v: &[f64]) -> Result<f64, NoDerivative> {
        self.check(v)?;
        let no_crossing = || self.no_crossing(index);
        let Some(shift) = self.chain.shifts().get(index) else {
            return Err(no_crossing());
        };
        let mut explorer = self.explorer();
        match shift {
            Shift::Row(link, row) => Ok(row.dot(&self.carry(v, *link, &mut explorer)?)),
            Shift::Corner(link, guard, earlier) => {
                let mut delta = self.carry(v, *link, &mut explorer)?;
                let Some(Link::Corner(corner)) = self.chain.links().get(*link) else {
                    return Err(no_crossing());
                };
                let course = pass(self.context(), corner, &mut explorer, &mut delta)?;
                let shift = course.shift_of(explorer.graph(), *guard, *earlier);
                shift.ok_or_else(|| NoDerivative::Discontinuous {
                    t: corner.t(),
                    order: course.guards(),
                })
            }
        }
    }

    /// The refusal of a crossing that the run does not have.
    fn no_crossing(&self, index: usize) -> NoDerivative {
        NoDerivative::Input(InputError::NoSuch {
            what: "crossing",
            index,
            count: self.chain.shifts().len(),
        })
    }
}
