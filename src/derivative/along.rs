//! The maps of a derivative: as a matrix, backward, and along one direction.

use nalgebra::{DMatrix, DVector};

use super::chain_rule::{Boundary, only_map, pass};
use super::corner::branches::transposed_times;
use super::{Derivative, Verdict};
use crate::{EventFunction, Flow, NoDerivative};

impl<S: Flow + EventFunction> Derivative<S> {
    /// The matrix of a classical derivative, `d × d`: column `j` is the derivative of the final
    /// state along axis `j`.
    ///
    /// # Errors
    /// If the verdict is not [`Verdict::Classical`]: [`NoDerivative::PiecewiseLinear`],
    /// [`NoDerivative::OrdersNotCompared`], [`NoDerivative::OneSided`],
    /// [`NoDerivative::Discontinuous`], or the reason why nothing is guaranteed.
    pub fn matrix(&self) -> Result<DMatrix<f64>, NoDerivative> {
        match &self.verdict {
            Verdict::Classical => {
                self.product(self.chain.links().len(), |corner, _| only_map(corner))
            }
            Verdict::Bouligand => Err(self.unexpected()),
            Verdict::OneSided { guard, t } => Err(NoDerivative::OneSided {
                guard: *guard,
                t: *t,
            }),
            Verdict::Discontinuous { t, guards } => Err(NoDerivative::Discontinuous {
                t: *t,
                order: guards.clone(),
            }),
            Verdict::PossibleCorner {
                t,
                guards,
                apart,
                error,
            } => Err(NoDerivative::PossibleCorner {
                t: *t,
                guards: guards.clone(),
                apart: *apart,
                error: *error,
            }),
            Verdict::NotGuaranteed(reason) => Err(reason.clone()),
        }
    }

    /// The matrix of the linear piece that contains `v`, `d × d`, whatever the verdict says of the
    /// others; at the border of several pieces one of them.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn matrix_towards(&self, v: &[f64]) -> Result<DMatrix<f64>, NoDerivative> {
        // On the other side of an edge of the run it has no map.
        self.apply(v)?;
        let mut explorer = self.explorer();
        self.product(self.chain.links().len(), |corner, map| {
            let mut delta = map * DVector::from_column_slice(v);
            let course = pass(self.context(), corner, &mut explorer, &mut delta)?;
            course.map(self.context(), &mut explorer, |_, _| {})
        })
    }

    /// The gradient with respect to the start of a cost of the final state, whose gradient there is
    /// `w`: `matrixᵀ w`.
    ///
    /// # Errors
    /// As [`matrix`](Self::matrix), and
    /// [`InputError::WrongLength`](crate::InputError::WrongLength). Pieces have a
    /// [`vjp`](super::Piece::vjp) of their own.
    pub fn vjp(&self, w: &[f64]) -> Result<DVector<f64>, NoDerivative> {
        transposed_times(&self.matrix()?, w)
    }

    /// The gradient of [`vjp`](Self::vjp) for displacements within the piece that contains `v`,
    /// whatever the verdict says of the others.
    ///
    /// # Errors
    /// As [`apply`](Self::apply), and
    /// [`InputError::WrongLength`](crate::InputError::WrongLength).
    pub fn vjp_towards(&self, v: &[f64], w: &[f64]) -> Result<DVector<f64>, NoDerivative> {
        transposed_times(&self.matrix_towards(v)?, w)
    }

    /// `B(v)`: the derivative of the final state along `v`, for displacements forward along it.
    ///
    /// # Errors
    /// [`InputError::WrongLength`](crate::InputError::WrongLength),
    /// [`InputError::NotFinite`](crate::InputError::NotFinite); [`NoDerivative::Discontinuous`] when
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
            Boundary::Last(guard, t) => {
                let last = self.run.crossings().iter().rposition(|c| c.guard == *guard);
                let later = |index| Ok::<_, NoDerivative>(self.event_time_shift(index, v)? > 0.0);
                (guard, t, last.map_or(Ok(false), later)?)
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
}
