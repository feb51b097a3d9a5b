//! One direction: the derivative of the final state along it, and the shifts of the times of the
//! crossings.

use nalgebra::DVector;

use super::chain_rule::{Boundary, Link, Shift, only_map, pass};
use super::of_run::Derivative;
use crate::{EventFunction, Flow, InputError, NoDerivative};

impl<S: Flow + EventFunction> Derivative<S> {
    /// `B(v)`: the derivative of the final state along `v`, for displacements forward along it.
    ///
    /// # Errors
    /// [`InputError::WrongLength`], [`InputError::NotFinite`]; [`NoDerivative::Discontinuous`] when
    /// this direction takes another outcome than the run; [`NoDerivative::OneSided`] when it puts
    /// the start on the other side of a guard on which it lies, or the final time on the other side
    /// of an event at which it lies; the reason when the run was refused, or has no derivative.
    /// With a verdict of [`Verdict::NotGuaranteed`](crate::derivative::Verdict::NotGuaranteed) for
    /// a guard that is touched, numbers are given without guarantee: those of neighbours that do
    /// not cross it. With [`Verdict::PossibleCorner`](crate::derivative::Verdict::PossibleCorner)
    /// numbers are those of the order in which this run met the guards, on whichever side of the
    /// corner it passed: of a run that met them at once they are right for the directions that keep
    /// this order, and [`possible_pieces`](Self::possible_pieces) has the others.
    pub fn apply(&self, v: &[f64]) -> Result<DVector<f64>, NoDerivative> {
        self.check(v)?;
        let mut explorer = self.explorer();
        let delta = self.carry(v, self.chain.links().len(), &mut explorer)?;
        for boundary in self.chain.boundaries() {
            self.check_boundary(boundary, v, &delta)?;
        }
        Ok(delta)
    }

    /// Refuses a displacement to the other side of a boundary. Along the boundary, to within
    /// rounding, it is allowed.
    fn check_boundary(
        &self,
        boundary: &Boundary,
        v: &[f64],
        delta: &DVector<f64>,
    ) -> Result<(), NoDerivative> {
        let beyond = |row: &DVector<f64>, v: &[f64]| {
            let terms = || row.iter().zip(v).map(|(a, v)| a * v);
            terms().sum::<f64>() > 1e-9 * terms().map(f64::abs).sum::<f64>()
        };
        let (guard, t, other_side) = match boundary {
            Boundary::Start(guard, t, row) => (guard, t, beyond(row, v)),
            Boundary::Ahead(guard, t, row) => (guard, t, beyond(row, delta.as_slice())),
            Boundary::Crossed(guard, t, index) => {
                (guard, t, self.event_time_shift(*index, v)? > 0.0)
            }
        };
        if other_side {
            return Err(NoDerivative::OneSided {
                guard: *guard,
                t: *t,
            });
        }
        Ok(())
    }

    /// The derivative of the final state along `v` for displacements backward along it, `lim` for
    /// `s → 0−` of the difference quotient: `−B(−v)`. Equal to [`apply`](Self::apply) where the
    /// derivative is classical.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn apply_backward(&self, v: &[f64]) -> Result<DVector<f64>, NoDerivative> {
        let turned: Vec<f64> = v.iter().map(|v| -v).collect();
        Ok(-self.apply(&turned)?)
    }

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
        let count = self.chain.shifts().len();
        let (link, row) = match self.chain.shifts().get(index) {
            None => {
                return Err(NoDerivative::Input(InputError::NoSuch {
                    what: "crossing",
                    index,
                    count,
                }));
            }
            Some(Shift::Row(link, row)) => (*link, row),
            Some(Shift::Corner(link, guard)) => match self.chain.links().get(*link) {
                Some(Link::Corner(corner)) => match corner.time_row(*guard) {
                    Some(row) => (*link, row),
                    None => {
                        return Err(NoDerivative::TimeDependsOnOrder {
                            guard: *guard,
                            t: corner.t(),
                            guards: corner.guards().to_vec(),
                        });
                    }
                },
                _ => {
                    return Err(NoDerivative::Input(InputError::NoSuch {
                        what: "crossing",
                        index,
                        count,
                    }));
                }
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
        let count = self.chain.shifts().len();
        let Some(shift) = self.chain.shifts().get(index) else {
            return Err(NoDerivative::Input(InputError::NoSuch {
                what: "crossing",
                index,
                count,
            }));
        };
        let mut explorer = self.explorer();
        match shift {
            Shift::Row(link, row) => Ok(row.dot(&self.carry(v, *link, &mut explorer)?)),
            Shift::Corner(link, guard) => {
                let mut delta = self.carry(v, *link, &mut explorer)?;
                let Some(Link::Corner(corner)) = self.chain.links().get(*link) else {
                    return Err(NoDerivative::Input(InputError::NoSuch {
                        what: "crossing",
                        index,
                        count,
                    }));
                };
                let course = pass(self.context(), corner, &mut explorer, &mut delta)?;
                let shift = course.shift_of(explorer.graph(), *guard);
                shift.ok_or_else(|| NoDerivative::Discontinuous {
                    t: corner.t(),
                    order: course.guards(),
                })
            }
        }
    }
}
