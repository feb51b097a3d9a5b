//! The trait of all drivers: integrate, observe, differentiate, run live.
//!
//! A program that is written against [`Driver`] runs with every one of them: a comparison, a search
//! for a periodic gait, a controller. Which driver when: the [first page](crate#model-driver-run).
//!
//! ```
//! use saltation::models::SlidingBlock;
//! use saltation::{Compliant, ContactModel, Driver, InputError, Start, Variational};
//! use saltation::impact::AnitescuPotra;
//!
//! /// Where a block comes to rest.
//! fn stop(driver: &mut dyn Driver) -> Result<f64, InputError> {
//!     let start = Start::at(0.0).q(&[0.0, 0.0]).v(&[2.0, 0.0]);
//!     Ok(driver.integrate(&start, 1.0)?.state()[0])
//! }
//! let block = SlidingBlock::default();
//! let rigid = ContactModel::with_law(block, AnitescuPotra::new());
//! let exact = 4.0 / (2.0 * 0.3 * 9.81);
//! assert!((stop(&mut Variational::new(rigid)?)? - exact).abs() < 1e-3);
//! assert!((stop(&mut Compliant::new(block)?)? - exact).abs() < 1e-1);
//! # Ok::<(), saltation::Error>(())
//! ```

#[cfg(feature = "compliant")]
use crate::Compliant;
use crate::derivative::RunDerivative;
#[cfg(feature = "compliant")]
use crate::mechanics::ContactSource;
#[cfg(feature = "mechanics")]
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};
use crate::ode::Buffer;
use crate::{
    Error, EventFunction, Flow, InputError, Integrator, Live, Observer, Run, Snapshot, Start,
    Summary,
};
#[cfg(feature = "mechanics")]
use crate::{EventDriven, Variational};

/// Any driver, as a trait object. The methods of the same names on each driver say more.
pub trait Driver {
    /// Integrates from a start to `tf` and keeps everything.
    ///
    /// # Errors
    /// Bad input only. What the run meets on its way is in its [`status`](Run::status).
    fn integrate(&mut self, start: &Start<'_>, tf: f64) -> Result<Run, InputError>;

    /// Integrates from a start to `tf` and reports to `observer` as it goes; keeps nothing.
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate).
    fn observe(
        &mut self,
        start: &Start<'_>,
        tf: f64,
        observer: &mut dyn Observer,
    ) -> Result<Summary, InputError>;

    /// The run, and how its end depends on its start.
    ///
    /// # Errors
    /// Bad input, and what keeps a driver from beginning. Why a run has no derivative is in its
    /// [verdict](RunDerivative::verdict).
    fn derivative(
        &mut self,
        start: &Start<'_>,
        tf: f64,
    ) -> Result<Box<dyn RunDerivative + '_>, Error>;

    /// A run in parts, each with an effort of its own, from a start: for control loops.
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate).
    fn live(&mut self, start: &Start<'_>) -> Result<Live<'_>, InputError>;

    /// Takes up a live run from a snapshot of it.
    ///
    /// # Errors
    /// [`InputError::Snapshot`] for one of another driver or another system; bad settings.
    fn resume(&mut self, snapshot: &Snapshot) -> Result<Live<'_>, InputError>;
}

macro_rules! driver {
    ($driver:ty, $($parameter:ident: $($bound:ident)+),+) => {
        impl<$($parameter: $($bound +)+),+> Driver for $driver {
            fn integrate(&mut self, start: &Start<'_>, tf: f64) -> Result<Run, InputError> {
                Self::integrate(self, start, tf)
            }
            fn observe(
                &mut self,
                start: &Start<'_>,
                tf: f64,
                observer: &mut dyn Observer,
            ) -> Result<Summary, InputError> {
                Self::observe(self, start, tf, observer)
            }
            fn derivative(
                &mut self,
                start: &Start<'_>,
                tf: f64,
            ) -> Result<Box<dyn RunDerivative + '_>, Error> {
                Ok(Box::new(Self::derivative(self, start, tf)?))
            }
            fn live(&mut self, start: &Start<'_>) -> Result<Live<'_>, InputError> {
                Self::live(self, start)
            }
            fn resume(&mut self, snapshot: &Snapshot) -> Result<Live<'_>, InputError> {
                Self::resume(self, snapshot)
            }
        }
    };
}

driver!(Integrator<S, B>, S: Flow EventFunction, B: Buffer);
#[cfg(feature = "mechanics")]
driver!(EventDriven<S>, S: MechanicalSystem UnilateralConstraints);
#[cfg(feature = "mechanics")]
driver!(Variational<S>, S: MechanicalSystem UnilateralConstraints);
#[cfg(feature = "compliant")]
driver!(Compliant<S>, S: MechanicalSystem ContactSource);
