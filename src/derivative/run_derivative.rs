//! The derivative of a run of any driver.

use nalgebra::{DMatrix, DVector};

use super::corner::branches::transposed_times;
use super::{Cone, Derivative, NoDerivative, Piece, Verdict};
use crate::{Doubt, EventFunction, Flow, Run, Status, validate};

/// The derivative of the final state of a run by its start, whichever driver made the run:
/// [`Driver::derivative`](crate::Driver::derivative). Never silent: where there is no
/// derivative the verdict says why, and every method returns the reason.
pub trait RunDerivative {
    /// The run itself.
    fn run(&self) -> &Run;

    /// The kind of the derivative, or why there is none.
    fn verdict(&self) -> &Verdict;

    /// The directional derivative of the final state along a displacement of the start.
    ///
    /// # Errors
    /// A displacement of another length or not finite; the reason why there is no derivative.
    fn apply(&self, v: &[f64]) -> Result<DVector<f64>, NoDerivative>;

    /// The matrix, where one holds for all displacements.
    ///
    /// # Errors
    /// If the verdict is not [`Verdict::Classical`].
    fn matrix(&self) -> Result<DMatrix<f64>, NoDerivative>;

    /// The matrices of all displacements, with the cones on which they hold.
    ///
    /// # Errors
    /// The reason why there is no derivative, or why its pieces are not listed.
    fn pieces(&self) -> Result<Vec<Piece>, NoDerivative>;

    /// The gradient with respect to the start of a cost of the final state, whose gradient there is
    /// `w`: `matrixᵀ w`.
    ///
    /// # Errors
    /// As [`matrix`](Self::matrix), and `w` of another length.
    fn vjp(&self, w: &[f64]) -> Result<DVector<f64>, NoDerivative> {
        transposed_times(&self.matrix()?, w)
    }
}

macro_rules! run_derivative {
    ($derivative:ty $(, $parameter:ident)?) => {
        impl $(<$parameter: Flow + EventFunction>)? RunDerivative for $derivative {
            fn run(&self) -> &Run {
                Self::run(self)
            }
            fn verdict(&self) -> &Verdict {
                Self::verdict(self)
            }
            fn apply(&self, v: &[f64]) -> Result<DVector<f64>, NoDerivative> {
                Self::apply(self, v)
            }
            fn matrix(&self) -> Result<DMatrix<f64>, NoDerivative> {
                Self::matrix(self)
            }
            fn pieces(&self) -> Result<Vec<Piece>, NoDerivative> {
                Self::pieces(self)
            }
        }
    };
}

run_derivative!(Derivative<S>, S);
run_derivative!(StepsDerivative);

/// The derivative of a run in steps of one length: one matrix, or none.
#[derive(Clone, Debug)]
pub struct StepsDerivative {
    run: Run,
    matrix: Result<DMatrix<f64>, NoDerivative>,
    verdict: Verdict,
}

impl StepsDerivative {
    /// A matrix, or the reason why there is none. A run that was refused, or has a step in
    /// two halves, has none.
    pub(crate) fn new(run: Run, matrix: Result<DMatrix<f64>, NoDerivative>) -> Self {
        let halved = run.doubts().iter().find_map(|doubt| match doubt {
            Doubt::Halved { t } => Some(NoDerivative::Halved { t: *t }),
            _ => None,
        });
        let refused = match run.status() {
            Status::Refused(stop) => Some(stop.clone().into()),
            _ => halved,
        };
        let matrix = match refused {
            Some(reason) => Err(reason),
            None => matrix.and_then(|matrix| {
                validate::finite("the derivative", matrix.as_slice())?;
                Ok(matrix)
            }),
        };
        let verdict = match &matrix {
            Ok(_) => Verdict::Classical,
            Err(reason) => Verdict::NotGuaranteed(reason.clone()),
        };
        Self {
            run,
            matrix,
            verdict,
        }
    }

    /// The run, without the rest.
    pub fn into_run(self) -> Run {
        self.run
    }

    fn known(&self) -> Result<&DMatrix<f64>, NoDerivative> {
        self.matrix.as_ref().map_err(Clone::clone)
    }

    /// The run itself.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The kind of the derivative: classical, or why there is none.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The derivative of the final state along a displacement of the start.
    ///
    /// # Errors
    /// A displacement of another length or not finite; the reason why there is no derivative.
    pub fn apply(&self, v: &[f64]) -> Result<DVector<f64>, NoDerivative> {
        let matrix = self.known()?;
        validate::length("v", matrix.ncols(), v.len())?;
        validate::finite("v", v)?;
        Ok(matrix * DVector::from_column_slice(v))
    }

    /// The matrix: column `j` is the derivative of the final state along axis `j` of displacements.
    ///
    /// # Errors
    /// The reason why there is no derivative.
    pub fn matrix(&self) -> Result<DMatrix<f64>, NoDerivative> {
        self.known().cloned()
    }

    /// The one piece, which holds for all displacements.
    ///
    /// # Errors
    /// The reason why there is no derivative.
    pub fn pieces(&self) -> Result<Vec<Piece>, NoDerivative> {
        let matrix = self.known()?.clone();
        let size = matrix.ncols();
        let cone = Cone {
            orders: Vec::new(),
            inequalities: DMatrix::zeros(0, size),
            sample: DVector::from_fn(size, |i, _| f64::from(u8::from(i == 0))),
        };
        Ok(vec![Piece {
            matrix,
            cones: vec![cone],
            state: self.run.state().clone(),
            mode: self.run.mode().clone(),
            is_nominal: true,
        }])
    }
}
