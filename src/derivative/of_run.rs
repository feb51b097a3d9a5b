//! The derivative of a run, its final state by its start: whole, or along one direction.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::Verdict;
use super::chain_rule::{Chain, not_linear};
use super::check::jacobian::check_derivative;
use super::context::Context;
use super::corner::bouligand::CornerDerivative;
use super::corner::explorer::Explorer;
use super::recorder::{Recorder, check_size};
use crate::hybrid::evaluate::Point;
use crate::hybrid::options::Settings;
use crate::ode::Buffer;
use crate::record::BodyLayout;
use crate::record::path::Path;
use crate::{
    EventFunction, Flow, Integrator, NoDerivative, Observer, Rearm, Run, Start, Status, Stop,
    Summary, validate,
};

/// The derivative of the final state of a run by its start, with a [`Verdict`] on what kind of
/// derivative it is.
///
/// Made by [`Integrator::derivative`]. `v` is a direction in which the start `x0` is displaced, and
/// `B(v) = lim (x_f(x0 + s v) − x_f(x0))/s` for `s → 0+` the directional derivative of the final
/// state at fixed final time. Where a guard ended the run
/// ([`Watch::and_stop`](crate::Watch::and_stop)), it is that of the state at that crossing, after
/// its reset: the derivative of a Poincaré map. A wheel with spokes but no rim, rolling downhill,
/// from one impact to the next:
///
/// ```
/// use saltation::{Crossing, EventFunction, Flow, Integrator, Mode, Start, Stop, Watch};
/// struct Wheel { slope: f64, half: f64 } // radians; half the angle between two spokes
/// impl Flow for Wheel {
///     fn dim(&self) -> usize { 2 } // angle of the spoke on the ground from the vertical, and its rate
///     fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
///         dx.copy_from_slice(&[x[1], x[0].sin()]);
///     }
/// }
/// impl EventFunction for Wheel {
///     fn count(&self) -> usize { 1 }
///     fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 { x[0] - self.slope - self.half }
///     fn watch(&self, _k: usize) -> Watch { Watch::RISING.and_stop() }
///     fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
///         let x = &mut *crossing.x;
///         x[0] = self.slope - self.half; // the next spoke
///         x[1] *= (2.0 * self.half).cos();
///         Ok(())
///     }
/// }
/// let wheel = Wheel { slope: 0.08, half: 0.3 };
/// let mut integrator = Integrator::new(&wheel)?.rtol(1e-10).atol(1e-10);
/// let mut rate = 0.6;
/// for _ in 0..60 {
///     let x0 = [wheel.slope - wheel.half, rate];
///     rate = integrator.integrate(&Start::at(0.0).x(&x0), 9.0)?.state()[1]; // into the limit cycle
/// }
/// let d = integrator.derivative(&Start::at(0.0).x(&[wheel.slope - wheel.half, rate]), 9.0)?;
/// let eigenvalue = d.matrix()?[(1, 1)]; // the angle after an impact is always the same
/// assert!((eigenvalue - 0.6f64.cos().powi(2)).abs() < 1e-6); // cos²(2 half) < 1: the gait is stable
/// # Ok::<(), saltation::Error>(())
/// ```
///
/// A map from a section to itself whose run starts on the section has a derivative of one side in
/// general, since some displacements cross at once: start it just behind, or take the columns along the section
/// ([`apply`](Self::apply), [`matrix_towards`](Self::matrix_towards)). Floquet multipliers are the eigenvalues of
/// its matrix.
///
/// A parameter is a state variable that does not change
/// ([`WithParameters`](super::WithParameters)). By the final time the derivative is the field at the end; by the initial
/// time it is that of a state that holds the time.
///
/// It owns its run and shares the system with the integrator, which may run again meanwhile:
///
/// ```
/// use saltation::{Integrator, Start, models::Affine};
/// let mut integrator = Integrator::new(Affine::coupled())?.rtol(1e-10).atol(1e-10);
/// let [x, y, z] = Affine::CORNER_START;
/// let at_corner = integrator.derivative(&Start::at(0.0).x(&[x, y, z]), 0.25)?;
/// let beside = integrator.derivative(&Start::at(0.0).x(&[x + 1e-3, y, z]), 0.25)?;
/// assert_eq!((at_corner.pieces()?.len(), beside.pieces()?.len()), (6, 1)); // both evaluate the model
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Debug)]
pub struct Derivative<S> {
    system: Arc<S>,
    rearm: Rearm,
    settings: Settings,
    pub(crate) run: Run,
    pub(crate) chain: Chain,
    pub(super) verdict: Verdict,
    pub(crate) possible: Option<Box<CornerDerivative>>,
    /// The reason for which there is no derivative, or for which the run was refused.
    failure: Option<NoDerivative>,
}

impl<S: Flow + EventFunction, B: Buffer> Integrator<S, B> {
    /// Integrates as [`integrate`](Self::integrate) does, to the same bits, and computes the
    /// derivative of the state with respect to `x0`: through smooth parts by the variational
    /// equation, through crossings by saltation matrices, through corners by the B-derivative.
    ///
    /// The columns take the stages of the run's own stepper along its dense output, with an error
    /// test of their own at ten times the run's relative tolerance, and at most
    /// [`max_steps`](Self::max_steps) steps of their own. Events within
    /// [`corner_tolerance`](Self::corner_tolerance) of each other count as one corner, at the first
    /// of them.
    ///
    /// ```
    /// use saltation::{Integrator, Start, derivative::Verdict, models::Affine};
    /// let mut integrator = Integrator::new(Affine::coupled())?.rtol(1e-10).atol(1e-10);
    /// let start = Start::at(0.0).x(&Affine::CORNER_START);
    /// let d = integrator.derivative(&start, 0.25)?; // through three guards at once
    /// assert_eq!(*d.verdict(), Verdict::Bouligand);
    /// let forward = d.apply(&[0.1, -0.3, 0.8])?;
    /// assert!((forward[2] - 0.996755163087).abs() < 1e-7);
    /// assert!((d.apply_backward(&[0.1, -0.3, 0.8])? - forward).norm() > 0.01); // a corner, not a tangent plane
    /// assert_eq!(d.pieces()?.len(), 6);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// Memory: the trajectory keeps up to [`max_memory`](Self::max_memory), and the derivative up
    /// to as much again. Its workspace is 128 bytes times the square of the number of states: 2896
    /// states with the default, and 8192 at most. Each corner keeps up to three matrices, each
    /// crossing a row.
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate), and [`NoDerivative::DerivativeTooLarge`]. Why a run has
    /// no derivative is in its [`verdict`](Derivative::verdict).
    pub fn derivative(
        &mut self,
        start: &Start<'_>,
        tf: f64,
    ) -> Result<Derivative<S>, NoDerivative> {
        let path = self.settings().path(tf - start.t);
        self.derivative_followed(start, tf, None, path, |path| Followed {
            path,
            bodies: None,
            refused: None,
        })
    }

    /// The derivative of a run that `observer` follows, from which `finish` makes what is kept of it.
    /// Displacements of the start are first carried by the map `onto`.
    pub(crate) fn derivative_followed<O: Observer>(
        &mut self,
        start: &Start<'_>,
        tf: f64,
        onto: Option<DMatrix<f64>>,
        mut observer: O,
        finish: impl FnOnce(O) -> Followed,
    ) -> Result<Derivative<S>, NoDerivative> {
        let driver = self.parts().1;
        let sizes = (driver.state().len(), driver.blank_mode());
        check_size(sizes.0, driver.settings.limits.max_memory)?;
        let (summary, (_, mut recorder)) = {
            let observer = &mut observer;
            let (system, driver, engine) = self.parts();
            driver.observe_with(system, engine, start, tf, |rearm, settings| {
                let context = Context::of_run(system, rearm, settings);
                (observer, Recorder::new(context, settings, sizes, onto))
            })?
        };
        let Followed {
            path,
            bodies,
            refused,
        } = finish(observer);
        let ended = refused.map_or(summary.status, Status::Refused);
        let status = recorder.status(path.status(ended), &path);
        let run = Run::new(path, Summary { status, ..summary }, bodies);
        recorder.finish(run.status(), end_of(&run), tf);
        let Recorder {
            chain,
            verdict,
            possible,
            failure,
            ..
        } = recorder;
        let failure = failure.or_else(|| match run.status() {
            Status::Refused(reason) => Some(reason.clone().into()),
            _ => None,
        });
        let (system, rearm, settings) = self.shared();
        Ok(Derivative {
            system,
            rearm,
            settings,
            run,
            chain,
            verdict,
            possible: possible.corner,
            failure,
        })
    }
}

/// A run as its observer keeps it.
pub(crate) struct Followed {
    pub(crate) path: Path,
    /// How bodies are read from its states.
    pub(crate) bodies: Option<BodyLayout>,
    /// Why the observer ended it.
    pub(crate) refused: Option<Stop>,
}

impl<S: Flow + EventFunction> Derivative<S> {
    /// The context in which the model is evaluated.
    pub(crate) fn context(&self) -> Context<'_> {
        Context::of_run(&*self.system, &self.rearm, &self.settings)
    }

    /// The kind of the derivative, or why there is none.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The run itself.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Returns the run and drops the rest.
    pub fn into_run(self) -> Run {
        self.run
    }

    /// The corners of the run, where several guards are crossed at once.
    pub fn corners(&self) -> impl Iterator<Item = &CornerDerivative> {
        self.chain.corners()
    }

    /// The corner that the run may have met, when the verdict is [`Verdict::PossibleCorner`]: its
    /// kind, as if all its guards were met at the first of them.
    pub fn possible_corner(&self) -> Option<&CornerDerivative> {
        self.possible.as_deref()
    }

    /// The derivative for a run that was refused: of the state at which it ended, with respect to
    /// the start. Without this every method returns the reason of the refusal.
    #[must_use]
    pub fn up_to_refusal(mut self) -> Self {
        if let Status::Refused(reason) = self.run.status()
            && self.failure == Some(reason.clone().into())
        {
            self.failure = None;
        }
        self
    }

    pub(crate) fn explorer(&self) -> Explorer {
        Explorer::new(self.run.state().len(), self.run.mode())
    }

    /// The displacement that enters link `end` of the chain.
    pub(crate) fn carry(
        &self,
        v: &[f64],
        end: usize,
        explorer: &mut Explorer,
    ) -> Result<DVector<f64>, NoDerivative> {
        let delta = self.chain.carry(self.context(), v, end, explorer)?;
        self.check_finite(delta.as_slice())?;
        Ok(delta)
    }

    /// Refuses a derivative that overflows.
    pub(crate) fn check_finite(&self, entries: &[f64]) -> Result<(), NoDerivative> {
        let point = end_of(&self.run);
        check_derivative(entries, point.x.len(), point)?;
        Ok(())
    }

    /// The product of the maps up to link `end` of the chain ([`Chain::product`]).
    pub(crate) fn product(
        &self,
        end: usize,
        piece: impl FnMut(&CornerDerivative, &DMatrix<f64>) -> Result<DMatrix<f64>, NoDerivative>,
    ) -> Result<DMatrix<f64>, NoDerivative> {
        self.check_failure()?;
        let product = self.chain.product(self.run.state().len(), end, piece)?;
        self.check_finite(product.as_slice())?;
        Ok(product)
    }

    /// The refusal of a matrix where a corner is not proved to be linear.
    pub(super) fn unexpected(&self) -> NoDerivative {
        not_linear(self.corners().find(|corner| corner.linear().is_none()))
    }

    pub(crate) fn check_failure(&self) -> Result<(), NoDerivative> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    pub(crate) fn check(&self, v: &[f64]) -> Result<(), NoDerivative> {
        validate::length("v", self.run.state().len(), v.len())?;
        validate::finite("v", v)?;
        self.check_failure()
    }
}

/// The end of a run.
fn end_of(run: &Run) -> Point<'_> {
    Point {
        t: run.t(),
        x: run.state().as_slice(),
        mode: run.mode(),
    }
}
