//! One error over those of all rooms, for `?` in programs that use several.

#[cfg(feature = "derivative")]
use crate::NoDerivative;
#[cfg(feature = "compliant")]
use crate::compliant;
use crate::ensemble::EnsembleFailure;
#[cfg(feature = "mechanics")]
use crate::event_driven::Breakdown;
use crate::{InputError, Stop};
#[cfg(feature = "mechanics")]
use crate::{impact, lcp, variational};

/// Any error of this crate.
///
/// Each function returns the error of its room, which `?` turns into this one; only
/// [`Driver::derivative`](crate::Driver::derivative), which any of them may answer, returns it. The
/// same fault is the same variant, whichever room it came through: bad input is
/// [`Input`](Self::Input) always, and an interrupt [`Interrupted`](Self::Interrupted).
///
/// ```
/// use saltation::{Error, InputError, Integrator, Start, flow_fn};
/// fn end(x0: &[f64]) -> Result<f64, Error> {
///     let decay = flow_fn(1, |_t, x, _mode, dx| dx[0] = -x[0]);
///     let run = Integrator::new(decay)?.integrate(&Start::at(0.0).x(x0), 1.0)?.completed()?;
///     Ok(run.state()[0])
/// }
/// assert!(end(&[1.0]).is_ok());
/// assert!(matches!(end(&[f64::NAN]), Err(Error::Input(InputError::NotFinite { name: "x0", .. }))));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Bad input.
    #[error(transparent)]
    Input(#[from] InputError),
    /// An [`Interrupt`](crate::Interrupt) was set.
    #[error("interrupted")]
    Interrupted,
    /// A run ended early.
    #[error(transparent)]
    Stop(Stop),
    /// An ensemble, or a table of one, cannot go on.
    #[error(transparent)]
    Ensemble(EnsembleFailure),
    /// There is no derivative, or not the one that was asked for.
    #[cfg(feature = "derivative")]
    #[error(transparent)]
    NoDerivative(NoDerivative),
    /// The motion of bodies cannot go on.
    #[cfg(feature = "mechanics")]
    #[error(transparent)]
    Breakdown(Breakdown),
    /// An impact could not be resolved.
    #[cfg(feature = "mechanics")]
    #[error(transparent)]
    Impact(impact::ImpactFailure),
    /// A linear complementarity problem was not solved.
    #[cfg(feature = "mechanics")]
    #[error(transparent)]
    Lcp(lcp::LcpFailure),
    /// A step of the variational integrator could not be made.
    #[cfg(feature = "mechanics")]
    #[error(transparent)]
    Variational(variational::VariationalFailure),
    /// A compliant step could not be made.
    #[cfg(feature = "compliant")]
    #[error(transparent)]
    Compliant(compliant::CompliantFailure),
}

/// The reason of a driver above the core becomes its own variant.
impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        #[cfg(feature = "mechanics")]
        if let Some(failure) = stop.downcast::<variational::VariationalFailure>() {
            return failure.clone().into();
        }
        #[cfg(feature = "compliant")]
        if let Some(failure) = stop.downcast::<compliant::CompliantFailure>() {
            return failure.clone().into();
        }
        #[cfg(feature = "mechanics")]
        if let Some(breakdown) = stop.downcast::<Breakdown>() {
            return breakdown.clone().into();
        }
        match stop {
            Stop::Input(error) => Self::Input(error),
            Stop::Interrupted => Self::Interrupted,
            stop => Self::Stop(stop),
        }
    }
}

impl From<EnsembleFailure> for Error {
    fn from(failure: EnsembleFailure) -> Self {
        match failure {
            EnsembleFailure::Input(error) => Self::Input(error),
            EnsembleFailure::Interrupted => Self::Interrupted,
            failure => Self::Ensemble(failure),
        }
    }
}

#[cfg(feature = "derivative")]
impl From<NoDerivative> for Error {
    fn from(reason: NoDerivative) -> Self {
        match reason {
            NoDerivative::Input(error) => Self::Input(error),
            NoDerivative::Stop(stop) => stop.into(),
            reason => Self::NoDerivative(reason),
        }
    }
}

#[cfg(feature = "mechanics")]
impl From<Breakdown> for Error {
    fn from(breakdown: Breakdown) -> Self {
        match breakdown {
            Breakdown::Input(error) => Self::Input(error),
            Breakdown::Stop(Stop::Interrupted) => Self::Interrupted,
            Breakdown::Stop(stop) => Self::Stop(stop),
            Breakdown::NoDerivative(reason) => (*reason).into(),
            breakdown => Self::Breakdown(breakdown),
        }
    }
}

#[cfg(feature = "mechanics")]
impl From<impact::ImpactFailure> for Error {
    fn from(failure: impact::ImpactFailure) -> Self {
        match failure {
            impact::ImpactFailure::Input(error) => Self::Input(error),
            impact::ImpactFailure::Interrupted => Self::Interrupted,
            impact::ImpactFailure::Lcp(failure) => failure.into(),
            failure => Self::Impact(failure),
        }
    }
}

#[cfg(feature = "mechanics")]
impl From<lcp::LcpFailure> for Error {
    fn from(failure: lcp::LcpFailure) -> Self {
        match failure {
            lcp::LcpFailure::Input(error) => Self::Input(error),
            lcp::LcpFailure::Interrupted => Self::Interrupted,
            failure => Self::Lcp(failure),
        }
    }
}

#[cfg(feature = "mechanics")]
impl From<variational::VariationalFailure> for Error {
    fn from(failure: variational::VariationalFailure) -> Self {
        match failure {
            variational::VariationalFailure::Input(error) => Self::Input(error),
            variational::VariationalFailure::Interrupted => Self::Interrupted,
            failure => Self::Variational(failure),
        }
    }
}

#[cfg(feature = "compliant")]
impl From<compliant::CompliantFailure> for Error {
    fn from(failure: compliant::CompliantFailure) -> Self {
        match failure {
            compliant::CompliantFailure::Input(error) => Self::Input(error),
            compliant::CompliantFailure::Interrupted => Self::Interrupted,
            failure => Self::Compliant(failure),
        }
    }
}
