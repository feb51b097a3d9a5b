//! The derivative of a run: the chain rule along its smooth parts, single crossings and corners.

use nalgebra::{DMatrix, DVector};

use super::Verdict;
use super::check::jacobian::check_derivative;
use super::corner::bouligand::{CornerDerivative, CornerKind};
use super::corner::classify::SAMPLES;
use super::corner::graph::CornerGraph;
use super::corner::region::Region;
use super::recorder::{Boundary, Link, Recorder, Shift, check_size};
use super::repeat::Context;
use crate::ode::Buffer;
use crate::{
    EventFunction, Flow, InputError, Integrator, NoDerivative, Status, Trajectory, validate,
};

/// How the final state of a run depends on its start, to first order, with a [`Verdict`] on what
/// kind of derivative it is.
///
/// Made by [`Integrator::derivative`]. `v` is a direction in which the start `x0` is displaced, and
/// `B(v) = lim (x_f(x0 + s v) − x_f(x0))/s` for `s → 0+` the directional derivative of the final
/// state at fixed final time. Where a guard ended the run
/// ([`Watch::and_stop`](crate::Watch::and_stop)), it is that of the state at that crossing, after
/// its reset: the derivative of a Poincaré map. A wheel with spokes but no rim, rolling downhill,
/// from one impact to the next:
///
/// ```
/// use saltation::{Crossed, EventFunction, Flow, Integrator, Mode, Stop, Watch};
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
///     rate = integrator.integrate(0.0, &[wheel.slope - wheel.half, rate], 9.0)?.state()[1]; // into the limit cycle
/// }
/// let d = integrator.derivative(0.0, &[wheel.slope - wheel.half, rate], 9.0)?;
/// let eigenvalue = d.matrix()?[(1, 1)]; // the angle after an impact is always the same
/// assert!((eigenvalue - 0.6f64.cos().powi(2)).abs() < 1e-6); // cos²(2 half) < 1: the gait is stable
/// # Ok::<(), saltation::Error>(())
/// ```
///
/// A parameter is a state variable that does not change
/// ([`WithParameters`](super::WithParameters)).
#[derive(Debug)]
pub struct Derivative<'a, S> {
    pub(crate) context: Context<'a, S>,
    pub(crate) trajectory: Trajectory,
    pub(crate) chain: Vec<Link>,
    shifts: Vec<Shift>,
    verdict: Verdict,
    boundaries: Vec<Boundary>,
    possible: Option<Box<CornerDerivative>>,
    /// Why nothing is given: there is no derivative, or the run was refused.
    failure: Option<NoDerivative>,
}

impl<S: Flow + EventFunction, B: Buffer> Integrator<S, B> {
    /// Integrates as [`integrate`](Self::integrate) does, to the same bits, and carries the
    /// derivative of the state with respect to `x0` along: through smooth parts by the variational
    /// equation, through crossings by saltation matrices, through corners by the B-derivative.
    ///
    /// The columns take the stages of the run's own stepper along its dense output, with an error
    /// test of their own at ten times the run's relative tolerance, and at most
    /// [`max_steps`](Self::max_steps) steps of their own. Events within
    /// [`corner_tolerance`](Self::corner_tolerance) of each other count as one corner, at the first
    /// of them.
    ///
    /// ```
    /// use saltation::{Integrator, derivative::Verdict, models::Affine};
    /// let mut integrator = Integrator::new(Affine::coupled())?.rtol(1e-10).atol(1e-10);
    /// let d = integrator.derivative(0.0, &Affine::CORNER_START, 0.25)?; // through three guards at once
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
    /// As [`integrate`](Self::integrate), and [`NoDerivative::DerivativeTooLarge`]. What stands in
    /// the way of a derivative is in its [`verdict`](Derivative::verdict).
    pub fn derivative(
        &mut self,
        t0: f64,
        x0: &[f64],
        tf: f64,
    ) -> Result<Derivative<'_, S>, NoDerivative> {
        let max_memory = self.max_memory_set();
        check_size(self.system().dim(), max_memory)?;
        let mut path = crate::hybrid::trajectory::Path::new(max_memory);
        let (summary, (_, mut recorder), tolerance) = {
            let path = &mut path;
            let mut tolerance = 0.0;
            let (summary, observers) =
                self.observe_with(t0, x0, tf, |system, rearm, settings| {
                    tolerance = settings.corner_tolerance;
                    let context = Context {
                        system,
                        rearm,
                        tolerance,
                        settings: Some(settings),
                        interrupt: &settings.interrupt,
                    };
                    (path, Recorder::new(context, settings))
                })?;
            (summary, observers, tolerance)
        };
        let status = recorder.status(path.status(summary.status), &path);
        let trajectory = Trajectory::new(path, status, summary.statistics, tolerance);
        let (state, mode) = (trajectory.state().as_slice(), trajectory.mode());
        recorder.finish(trajectory.status(), (trajectory.time(), tf), state, mode);
        let Recorder {
            context,
            chain,
            shifts,
            verdict,
            boundaries,
            possible,
            failure,
            ..
        } = recorder;
        let failure = failure.or_else(|| match trajectory.status() {
            Status::Refused(reason) => Some(reason.clone().into()),
            _ => None,
        });
        Ok(Derivative {
            context,
            trajectory,
            chain,
            shifts,
            verdict,
            boundaries,
            possible,
            failure,
        })
    }
}

impl<S: Flow + EventFunction> Derivative<'_, S> {
    /// What kind of derivative it is, or why there is none.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The run itself.
    pub fn trajectory(&self) -> &Trajectory {
        &self.trajectory
    }

    /// Gives the run away.
    pub fn into_trajectory(self) -> Trajectory {
        self.trajectory
    }

    /// The corners of the run, where several guards are crossed at once.
    pub fn corners(&self) -> impl Iterator<Item = &CornerDerivative> {
        self.chain.iter().filter_map(|link| match link {
            Link::Corner(corner) => Some(&**corner),
            Link::Map(_) => None,
        })
    }

    /// The regions of corner `index` of [`corners`](Self::corners): each order in which
    /// displacements pass it, with the outcome, the map and the cone. Where outcomes jump these are
    /// the one-sided limits and maps.
    ///
    /// # Errors
    /// [`NoDerivative::TooManyOrders`] above six guards, [`NoDerivative::CornerTooLarge`] where
    /// resets make more of them than are followed, [`InputError::NoSuch`] beyond the corners,
    /// [`Stop::Interrupted`](crate::Stop::Interrupted), and what the model makes of orders that the
    /// run did not take.
    pub fn regions(&self, index: usize) -> Result<Vec<Region>, NoDerivative> {
        let Some(corner) = self.corners().nth(index) else {
            let count = self.corners().count();
            return Err(NoDerivative::Input(InputError::NoSuch {
                what: "corner",
                index,
                count,
            }));
        };
        corner.regions(self.context, &mut self.graph())
    }

    /// The corner that the run may have met, when the verdict is [`Verdict::PossibleCorner`]: its
    /// kind, as if all its guards were met at the first of them.
    pub fn possible_corner(&self) -> Option<&CornerDerivative> {
        self.possible.as_deref()
    }

    /// The regions of [`possible_corner`](Self::possible_corner): each order that displacements may
    /// take, with its outcome and map. Empty when there is none.
    ///
    /// # Errors
    /// As [`regions`](Self::regions).
    pub fn possible_regions(&self) -> Result<Vec<Region>, NoDerivative> {
        let Some(corner) = &self.possible else {
            return Ok(Vec::new());
        };
        corner.regions(self.context, &mut self.graph())
    }

    /// The same derivative for a run that was refused: with respect to the start of the state at
    /// which it ended. Without this every question to it is answered by the reason of the refusal.
    #[must_use]
    pub fn up_to_refusal(mut self) -> Self {
        if let Status::Refused(reason) = self.trajectory.status()
            && self.failure == Some(reason.clone().into())
        {
            self.failure = None;
        }
        self
    }

    /// `B(v)`: the derivative of the final state along `v`, for displacements forward along it.
    ///
    /// # Errors
    /// [`InputError::WrongLength`], [`InputError::NotFinite`]; [`NoDerivative::Discontinuous`] when
    /// this direction takes another outcome than the run; [`NoDerivative::OneSided`] when it puts
    /// the start on the other side of a guard on which it lies, or the final time on the other side
    /// of an event at which it lies; the reason when the run was refused, or when something in it
    /// left no derivative. A verdict of [`Verdict::NotGuaranteed`] for a guard that is touched
    /// leaves numbers, for what they are worth: those of neighbours that do not cross it.
    pub fn apply(&self, v: &[f64]) -> Result<DVector<f64>, NoDerivative> {
        self.check(v)?;
        let delta = self.carry(v, self.chain.len(), &mut self.graph())?;
        for boundary in &self.boundaries {
            self.check_boundary(boundary, v, &delta)?;
        }
        Ok(delta)
    }

    /// Refuses a displacement to the other side of an edge; along it, to within rounding, is
    /// allowed.
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

    /// The matrix of a classical derivative, `d × d`: column `j` is the derivative of the final
    /// state along axis `j`.
    ///
    /// # Errors
    /// Where the verdict is not [`Verdict::Classical`]: [`NoDerivative::PiecewiseLinear`],
    /// [`NoDerivative::OrdersNotCompared`], [`NoDerivative::OneSided`],
    /// [`NoDerivative::Discontinuous`], or the reason why nothing is guaranteed.
    pub fn matrix(&self) -> Result<DMatrix<f64>, NoDerivative> {
        match &self.verdict {
            Verdict::Classical => self.product(|corner, _| only_map(corner)),
            Verdict::Bouligand => Err(self.unexpected()),
            Verdict::OneSided { guard, time } => Err(NoDerivative::OneSided {
                guard: *guard,
                t: *time,
            }),
            Verdict::Discontinuous { time, guards } => Err(NoDerivative::Discontinuous {
                t: *time,
                order: guards.clone(),
            }),
            Verdict::PossibleCorner {
                time,
                guards,
                apart,
                error,
            } => Err(NoDerivative::PossibleCorner {
                t: *time,
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
        self.check(v)?;
        let mut graph = self.graph();
        self.product(|corner, map| {
            let mut delta = map * DVector::from_column_slice(v);
            self.pass(corner, &mut graph, &mut delta)?;
            graph.map_along_order(self.context, |_, _| {})
        })
    }

    /// The gradient with respect to the start of a cost of the final state, whose gradient there is
    /// `w`: `matrixᵀ w`.
    ///
    /// # Errors
    /// As [`matrix`](Self::matrix), and [`InputError::WrongLength`]. Pieces have a
    /// [`vjp`](super::Piece::vjp) of their own.
    pub fn vjp(&self, w: &[f64]) -> Result<DVector<f64>, NoDerivative> {
        transposed_times(&self.matrix()?, w)
    }

    /// The same for displacements within the piece that contains `v`, whatever the verdict says of
    /// the others.
    ///
    /// # Errors
    /// As [`apply`](Self::apply), and [`InputError::WrongLength`].
    pub fn vjp_towards(&self, v: &[f64], w: &[f64]) -> Result<DVector<f64>, NoDerivative> {
        transposed_times(&self.matrix_towards(v)?, w)
    }

    /// The row of the time shift of crossing `index` where it is linear: `row · v` for a
    /// displacement `v` of the start (s per unit of each state variable). So it is off corners, and
    /// at a corner where all orders have the same row for this guard.
    ///
    /// # Errors
    /// [`InputError::NoSuch`]; [`NoDerivative::TimeDependsOnOrder`] when the crossing belongs to a
    /// corner whose orders have other rows for it, or were not all compared;
    /// [`NoDerivative::PiecewiseLinear`] and [`NoDerivative::OrdersNotCompared`] when it comes
    /// after one that is not linear; otherwise as [`apply`](Self::apply).
    pub fn event_time_row(&self, index: usize) -> Result<DVector<f64>, NoDerivative> {
        self.check_failure()?;
        let count = self.shifts.len();
        let (link, row) = match self.shifts.get(index) {
            None => {
                return Err(NoDerivative::Input(InputError::NoSuch {
                    what: "crossing",
                    index,
                    count,
                }));
            }
            Some(Shift::Row(link, row)) => (*link, row),
            Some(Shift::Corner(link, guard)) => match self.chain.get(*link) {
                Some(Link::Corner(corner)) => match corner.time_row(*guard) {
                    Some(row) => (*link, row),
                    None => {
                        return Err(NoDerivative::TimeDependsOnOrder {
                            guard: *guard,
                            t: corner.time(),
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
        let before = self.product_of(link, |corner, _| only_map(corner))?;
        Ok(before.tr_mul(row))
    }

    /// Shift of the time of crossing `index` of the trajectory's
    /// [`crossings`](Trajectory::crossings), per displacement of the start forward along `v` (s per
    /// unit of `v`).
    ///
    /// # Errors
    /// [`InputError::NoSuch`]; otherwise as [`apply`](Self::apply). A guard that was not reached
    /// has no crossing.
    pub fn event_time_shift(&self, index: usize, v: &[f64]) -> Result<f64, NoDerivative> {
        self.check(v)?;
        let count = self.shifts.len();
        let Some(shift) = self.shifts.get(index) else {
            return Err(NoDerivative::Input(InputError::NoSuch {
                what: "crossing",
                index,
                count,
            }));
        };
        let mut graph = self.graph();
        match shift {
            Shift::Row(link, row) => Ok(row.dot(&self.carry(v, *link, &mut graph)?)),
            Shift::Corner(link, guard) => {
                let mut delta = self.carry(v, *link, &mut graph)?;
                let Some(Link::Corner(corner)) = self.chain.get(*link) else {
                    return Err(NoDerivative::Input(InputError::NoSuch {
                        what: "crossing",
                        index,
                        count,
                    }));
                };
                self.pass(corner, &mut graph, &mut delta)?;
                graph
                    .shift_of(*guard)
                    .ok_or_else(|| NoDerivative::Discontinuous {
                        t: corner.time(),
                        order: graph.order_met(),
                    })
            }
        }
    }

    pub(crate) fn graph(&self) -> CornerGraph {
        CornerGraph::new(self.context.system.dim(), self.context.system.count())
    }

    /// The displacement that enters link `link`.
    fn carry(
        &self,
        v: &[f64],
        link: usize,
        graph: &mut CornerGraph,
    ) -> Result<DVector<f64>, NoDerivative> {
        let mut delta = DVector::from_column_slice(v);
        for link in self.chain.iter().take(link) {
            match link {
                Link::Map(map) => delta = map * delta,
                Link::Corner(corner) => match corner.proved() {
                    Some(map) => delta = map * delta,
                    None => self.pass(corner, graph, &mut delta)?,
                },
            }
        }
        self.check_finite(delta.as_slice())?;
        Ok(delta)
    }

    /// Refuses a derivative that overflows.
    pub(crate) fn check_finite(&self, entries: &[f64]) -> Result<(), NoDerivative> {
        let (t, x) = (self.trajectory.time(), self.trajectory.state());
        let mode = self.trajectory.mode();
        check_derivative(entries, x.len(), (t, x.as_slice()), mode)?;
        Ok(())
    }

    /// Carries a displacement through a corner, and refuses it where it comes out elsewhere than
    /// the run.
    fn pass(
        &self,
        corner: &CornerDerivative,
        graph: &mut CornerGraph,
        delta: &mut DVector<f64>,
    ) -> Result<(), NoDerivative> {
        graph.begin(self.context, &corner.point)?;
        let passed = graph.pass(self.context, delta.as_mut_slice())?;
        if graph.is_exit(self.context, passed, &corner.point) {
            return Ok(());
        }
        Err(NoDerivative::Discontinuous {
            t: corner.time(),
            order: graph.order_met(),
        })
    }

    /// The product of the maps along the chain; `piece` gives that of a corner that is not linear,
    /// and is told the product before it.
    fn product(
        &self,
        piece: impl FnMut(&CornerDerivative, &DMatrix<f64>) -> Result<DMatrix<f64>, NoDerivative>,
    ) -> Result<DMatrix<f64>, NoDerivative> {
        self.product_of(self.chain.len(), piece)
    }

    /// The same up to link `end`.
    fn product_of(
        &self,
        end: usize,
        mut piece: impl FnMut(&CornerDerivative, &DMatrix<f64>) -> Result<DMatrix<f64>, NoDerivative>,
    ) -> Result<DMatrix<f64>, NoDerivative> {
        self.check_failure()?;
        let dim = self.trajectory.state().len();
        let mut product = DMatrix::identity(dim, dim);
        for link in self.chain.iter().take(end) {
            product = match link {
                Link::Map(map) => map * product,
                Link::Corner(corner) => match corner.proved() {
                    Some(map) => map * product,
                    None => piece(corner, &product)? * product,
                },
            };
        }
        self.check_finite(product.as_slice())?;
        Ok(product)
    }

    /// The refusal of a matrix where a corner is not known to be linear.
    fn unexpected(&self) -> NoDerivative {
        not_linear(self.corners().find(|corner| corner.linear().is_none()))
    }

    pub(crate) fn check_failure(&self) -> Result<(), NoDerivative> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    fn check(&self, v: &[f64]) -> Result<(), NoDerivative> {
        validate::length("v", self.trajectory.state().len(), v.len())?;
        validate::finite("v", v)?;
        self.check_failure()
    }
}

/// The map of a corner that has only one, as far as is known.
fn only_map(corner: &CornerDerivative) -> Result<DMatrix<f64>, NoDerivative> {
    let map = corner.linear().cloned();
    map.ok_or_else(|| not_linear(Some(corner)))
}

/// Why a corner has no single matrix.
fn not_linear(corner: Option<&CornerDerivative>) -> NoDerivative {
    let t = corner.map_or(f64::NAN, CornerDerivative::time);
    let guards = corner.map_or_else(Vec::new, |corner| corner.guards().to_vec());
    match corner.map(CornerDerivative::kind) {
        Some(CornerKind::Linear { .. }) => NoDerivative::OrdersNotCompared {
            t,
            guards,
            directions: SAMPLES,
        },
        _ => NoDerivative::PiecewiseLinear { t, guards },
    }
}

/// `matrixᵀ w`.
pub(crate) fn transposed_times(
    matrix: &DMatrix<f64>,
    w: &[f64],
) -> Result<DVector<f64>, NoDerivative> {
    validate::length("w", matrix.nrows(), w.len())?;
    Ok(matrix.tr_mul(&DVector::from_column_slice(w)))
}
