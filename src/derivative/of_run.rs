//! The derivative of a run, its final state by its start: whole, or along one direction with the
//! shifts of the times of the crossings.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::Verdict;
use super::chain_rule::{Boundary, Chain, Link, Shift, not_linear, only_map, pass};
use super::check::jacobian::check_derivative;
use super::context::Context;
use super::corner::bouligand::CornerDerivative;
use super::corner::branches::transposed_times;
use super::corner::explorer::Explorer;
use super::recorder::{Recorder, check_size};
use crate::hybrid::evaluate::Point;
use crate::hybrid::options::Settings;
use crate::ode::Buffer;
use crate::record::BodyLayout;
use crate::record::path::Path;
use crate::{
    EventFunction, Flow, InputError, Integrator, NoDerivative, Observer, Rearm, Run, Start, Status,
    Stop, Summary, validate,
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
    verdict: Verdict,
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
    fn unexpected(&self) -> NoDerivative {
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
