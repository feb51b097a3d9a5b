//! The derivative of a run: the chain rule along its smooth parts, single crossings and corners.

use nalgebra::{DMatrix, DVector};

use super::Verdict;
use super::bouligand::{CornerDerivative, CornerKind};
use super::cone;
use super::record::{Link, Recorder, Shift};
use super::region::{Region, agree};
use super::repeat::Ground;
use super::walk::Walk;
use crate::ode::Buffer;
use crate::{Error, EventFunction, Flow, Guard, Integrator, Trajectory};

/// How the final state of a run depends on its start, to first order, with a [`Verdict`] on what kind of derivative it is.
///
/// Made by [`Integrator::derivative`]. `v` is a direction in which the start `x0` is displaced, and
/// `B(v) = lim (x_f(x0 + s v) − x_f(x0))/s` for `s → 0+` the directional derivative of the final state at fixed final time.
/// Where a guard ended the run ([`Watch::and_stop`](crate::Watch::and_stop)), it is that of the state at that crossing: the
/// derivative of a Poincaré map.
///
/// A parameter is a state variable that does not change ([`WithParameters`](super::WithParameters)).
#[derive(Debug)]
pub struct Derivative<'a, S> {
    ground: Ground<'a, S>,
    trajectory: Trajectory,
    chain: Vec<Link>,
    shifts: Vec<Shift>,
    verdict: Verdict,
    failure: Option<Error>,
}

/// One linear piece of a piecewise linear derivative.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its matrix, `d × d`: `B(v) = matrix · v` for every `v` in one of the cones.
    pub matrix: DMatrix<f64>,
    /// Where it holds: a cone for each order of the guards that has this matrix.
    pub cones: Vec<Cone>,
}

/// The directions that pass the corners of a run in one order each.
#[derive(Clone, Debug)]
pub struct Cone {
    /// For each corner that is not linear, in order of time, the order in which its guards are met.
    pub orders: Vec<Vec<Guard>>,
    /// Rows `a` with `a · v ≥ 0` for each direction `v` of the cone.
    pub inequalities: DMatrix<f64>,
    /// A unit direction well inside.
    pub sample: DVector<f64>,
}

impl Piece {
    /// `matrixᵀ w`: the gradient of a cost of the final state, whose gradient there is `w`, with respect to the start, for
    /// displacements within the piece.
    ///
    /// # Errors
    /// [`Error::WrongLength`].
    pub fn vjp(&self, w: &[f64]) -> Result<DVector<f64>, Error> {
        transposed_times(&self.matrix, w)
    }

    /// True when `v` lies in one of the cones, their borders included.
    pub fn contains(&self, v: &[f64]) -> bool {
        let holds = |cone: &Cone| {
            let rows = &cone.inequalities;
            rows.ncols() == v.len()
                && (0..rows.nrows()).all(|r| {
                    let terms = || (0..v.len()).map(|j| rows[(r, j)] * v[j]);
                    let size: f64 = terms().map(f64::abs).sum();
                    terms().sum::<f64>() >= -1e-12 * size
                })
        };
        self.cones.iter().any(holds)
    }
}

impl<S: Flow + EventFunction, B: Buffer> Integrator<S, B> {
    /// Integrates as [`integrate`](Self::integrate) does, to the same bits, and carries the derivative of the state with
    /// respect to `x0` along: through smooth parts by the variational equation, through crossings by saltation matrices,
    /// through corners by the B-derivative.
    ///
    /// The columns take the stages of the run's own stepper along its dense output, with an error test of their own at ten
    /// times the run's relative tolerance. Events within [`corner_tolerance`](Self::corner_tolerance) of each other count as
    /// one corner, at the first of them.
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
    /// # Errors
    /// As [`integrate`](Self::integrate). What stands in the way of a derivative is in its [`verdict`](Derivative::verdict).
    pub fn derivative(&mut self, t0: f64, x0: &[f64], tf: f64) -> Result<Derivative<'_, S>, Error> {
        let mut path = crate::hybrid::trajectory::Path::default();
        let (summary, (_, mut recorder), tolerance) = {
            let path = &mut path;
            let mut tolerance = 0.0;
            let (summary, observers) =
                self.observe_with(t0, x0, tf, |system, rearm, settings| {
                    tolerance = settings.corner_tolerance;
                    let ground = Ground {
                        system,
                        rearm,
                        tolerance,
                    };
                    (path, Recorder::new(ground, settings))
                })?;
            (summary, observers, tolerance)
        };
        let trajectory = Trajectory::new(path, summary.status, summary.statistics, tolerance);
        let (state, mode) = (trajectory.state().as_slice(), trajectory.mode());
        recorder.finish(trajectory.status(), trajectory.time(), state, mode);
        let Recorder {
            ground,
            chain,
            shifts,
            verdict,
            failure,
            ..
        } = recorder;
        Ok(Derivative {
            ground,
            trajectory,
            chain,
            shifts,
            verdict,
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

    /// The regions of corner `index` of [`corners`](Self::corners): each order in which displacements pass it, with the
    /// outcome, the map and the cone. Where outcomes jump these are the one-sided limits and maps.
    ///
    /// # Errors
    /// [`Error::TooManyOrders`] above six guards, [`Error::NoSuchCrossing`] beyond the corners, and what the model makes of
    /// orders that the run did not take.
    pub fn regions(&self, index: usize) -> Result<Vec<Region>, Error> {
        let Some(corner) = self.corners().nth(index) else {
            let count = self.corners().count();
            return Err(Error::NoSuchCrossing { index, count });
        };
        corner.regions(self.ground, &mut self.walk())
    }

    /// `B(v)`: the derivative of the final state along `v`, for displacements forward along it.
    ///
    /// # Errors
    /// [`Error::WrongLength`], [`Error::NotFiniteInput`]; [`Error::Discontinuous`] when this direction takes another outcome
    /// than the run; otherwise what stands in the verdict as the reason why nothing is guaranteed, where it left no derivative.
    pub fn apply(&self, v: &[f64]) -> Result<DVector<f64>, Error> {
        self.check(v)?;
        let delta = self.carry(v, self.chain.len(), &mut self.walk())?;
        Ok(delta)
    }

    /// The derivative of the final state along `v` for displacements backward along it, `lim` for `s → 0−` of the difference
    /// quotient: `−B(−v)`. Equal to [`apply`](Self::apply) where the derivative is classical.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn apply_backward(&self, v: &[f64]) -> Result<DVector<f64>, Error> {
        let turned: Vec<f64> = v.iter().map(|v| -v).collect();
        Ok(-self.apply(&turned)?)
    }

    /// The matrix of a classical derivative, `d × d`: column `j` is the derivative of the final state along axis `j`.
    ///
    /// # Errors
    /// Where the verdict is not [`Verdict::Classical`]: [`Error::PiecewiseLinear`], [`Error::OneSided`],
    /// [`Error::Discontinuous`], or the reason why nothing is guaranteed.
    pub fn matrix(&self) -> Result<DMatrix<f64>, Error> {
        match &self.verdict {
            Verdict::Classical => self.product(|_, _| Err(self.unexpected())),
            Verdict::Bouligand => Err(self.unexpected()),
            Verdict::OneSided { guard, time } => Err(Error::OneSided {
                guard: *guard,
                t: *time,
            }),
            Verdict::Discontinuous { time, guards } => Err(Error::Discontinuous {
                t: *time,
                order: guards.clone(),
            }),
            Verdict::NotGuaranteed(reason) => Err(reason.clone()),
        }
    }

    /// The matrix of the linear piece that contains `v`, `d × d`, whatever the verdict says of the others; at the border of
    /// several pieces one of them.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn matrix_towards(&self, v: &[f64]) -> Result<DMatrix<f64>, Error> {
        self.check(v)?;
        let mut walk = self.walk();
        self.product(|corner, map| {
            let mut delta = map * DVector::from_column_slice(v);
            self.pass(corner, &mut walk, &mut delta)?;
            walk.map_along_order(self.ground)
        })
    }

    /// The gradient with respect to the start of a cost of the final state, whose gradient there is `w`: `matrixᵀ w`.
    ///
    /// # Errors
    /// As [`matrix`](Self::matrix), and [`Error::WrongLength`]. Pieces have a [`vjp`](Piece::vjp) of their own.
    pub fn vjp(&self, w: &[f64]) -> Result<DVector<f64>, Error> {
        transposed_times(&self.matrix()?, w)
    }

    /// The same for displacements within the piece that contains `v`, whatever the verdict says of the others.
    ///
    /// # Errors
    /// As [`apply`](Self::apply), and [`Error::WrongLength`].
    pub fn vjp_towards(&self, v: &[f64], w: &[f64]) -> Result<DVector<f64>, Error> {
        transposed_times(&self.matrix_towards(v)?, w)
    }

    /// All linear pieces with the cones on which they hold; one without inequalities where the derivative is linear.
    ///
    /// # Errors
    /// [`Error::TooManyOrders`] when a corner that is not linear has more than six guards; [`Error::Discontinuous`] when
    /// outcomes jump; otherwise as [`apply`](Self::apply).
    pub fn pieces(&self) -> Result<Vec<Piece>, Error> {
        self.check_failure()?;
        let dim = self.trajectory.state().len();
        let mut walk = self.walk();
        let mut found = vec![(
            DMatrix::identity(dim, dim),
            Cone {
                orders: Vec::new(),
                inequalities: DMatrix::zeros(0, dim),
                sample: DVector::zeros(dim),
            },
        )];
        for link in &self.chain {
            match link {
                Link::Map(map) => {
                    for (matrix, _) in &mut found {
                        *matrix = map * &*matrix;
                    }
                }
                Link::Corner(corner) => {
                    if let CornerKind::Linear { matrix: map, .. } = &corner.kind {
                        for (matrix, _) in &mut found {
                            *matrix = map * &*matrix;
                        }
                        continue;
                    }
                    let regions = corner.regions(self.ground, &mut walk)?;
                    if let Some(jump) = regions.iter().find(|r| !r.is_nominal) {
                        let (t, order) = (corner.time(), jump.order.clone());
                        return Err(Error::Discontinuous { t, order });
                    }
                    let split = |(m, cone): &(DMatrix<f64>, Cone)| -> Vec<_> {
                        let into = |region| cone_into(m, cone, region);
                        regions.iter().filter_map(into).collect()
                    };
                    found = found.iter().flat_map(split).collect();
                }
            }
        }
        let mut pieces: Vec<Piece> = Vec::new();
        for (matrix, mut cone) in found {
            let Some(sample) = cone::inside(&cone.inequalities) else {
                continue;
            };
            cone.sample = sample;
            match pieces.iter_mut().find(|p| agree(&p.matrix, &matrix)) {
                Some(piece) => piece.cones.push(cone),
                None => pieces.push(Piece {
                    matrix,
                    cones: vec![cone],
                }),
            }
        }
        Ok(pieces)
    }

    /// Shift of the time of crossing `index` of the trajectory's [`crossings`](Trajectory::crossings), per displacement of
    /// the start forward along `v` (s per unit of `v`).
    ///
    /// # Errors
    /// [`Error::NoSuchCrossing`]; otherwise as [`apply`](Self::apply). A guard that was not reached has no crossing.
    pub fn event_time_shift(&self, index: usize, v: &[f64]) -> Result<f64, Error> {
        self.check(v)?;
        let count = self.shifts.len();
        let Some(shift) = self.shifts.get(index) else {
            return Err(Error::NoSuchCrossing { index, count });
        };
        let mut walk = self.walk();
        match shift {
            Shift::Row(link, row) => Ok(row.dot(&self.carry(v, *link, &mut walk)?)),
            Shift::Corner(link, guard) => {
                let mut delta = self.carry(v, *link, &mut walk)?;
                let Some(Link::Corner(corner)) = self.chain.get(*link) else {
                    return Err(Error::NoSuchCrossing { index, count });
                };
                self.pass(corner, &mut walk, &mut delta)?;
                walk.shift_of(*guard).ok_or_else(|| Error::Discontinuous {
                    t: corner.time(),
                    order: walk.order_met(),
                })
            }
        }
    }

    fn walk(&self) -> Walk {
        Walk::new(self.ground.system.dim(), self.ground.system.count())
    }

    /// The displacement that enters link `link`.
    fn carry(&self, v: &[f64], link: usize, walk: &mut Walk) -> Result<DVector<f64>, Error> {
        let mut delta = DVector::from_column_slice(v);
        for link in self.chain.iter().take(link) {
            match link {
                Link::Map(map) => delta = map * delta,
                Link::Corner(corner) => match &corner.kind {
                    CornerKind::Linear { matrix, .. } => delta = matrix * delta,
                    _ => self.pass(corner, walk, &mut delta)?,
                },
            }
        }
        Ok(delta)
    }

    /// Carries a displacement through a corner, and refuses it where it comes out elsewhere than the run.
    fn pass(
        &self,
        corner: &CornerDerivative,
        walk: &mut Walk,
        delta: &mut DVector<f64>,
    ) -> Result<(), Error> {
        walk.begin(self.ground, &corner.point)?;
        let passed = walk.pass(self.ground, delta.as_mut_slice())?;
        if walk.is_exit(self.ground, passed, &corner.point) {
            return Ok(());
        }
        Err(Error::Discontinuous {
            t: corner.time(),
            order: walk.order_met(),
        })
    }

    /// The product of the maps along the chain; `piece` gives that of a corner that is not linear, and is told the product
    /// before it.
    fn product(
        &self,
        mut piece: impl FnMut(&CornerDerivative, &DMatrix<f64>) -> Result<DMatrix<f64>, Error>,
    ) -> Result<DMatrix<f64>, Error> {
        self.check_failure()?;
        let dim = self.trajectory.state().len();
        let mut product = DMatrix::identity(dim, dim);
        for link in &self.chain {
            product = match link {
                Link::Map(map) => map * product,
                Link::Corner(corner) => match &corner.kind {
                    CornerKind::Linear { matrix, .. } => matrix * product,
                    _ => piece(corner, &product)? * product,
                },
            };
        }
        Ok(product)
    }

    /// The refusal of a matrix where a corner is piecewise linear.
    fn unexpected(&self) -> Error {
        let corner = self
            .corners()
            .find(|corner| !matches!(corner.kind, CornerKind::Linear { .. }));
        Error::PiecewiseLinear {
            t: corner.map_or(f64::NAN, CornerDerivative::time),
            guards: corner.map_or_else(Vec::new, |corner| corner.guards().to_vec()),
        }
    }

    fn check_failure(&self) -> Result<(), Error> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    fn check(&self, v: &[f64]) -> Result<(), Error> {
        let expected = self.trajectory.state().len();
        if v.len() != expected {
            return Err(Error::WrongLength {
                name: "v",
                expected,
                found: v.len(),
            });
        }
        if let Some(entry) = v.iter().position(|v| !v.is_finite()) {
            return Err(Error::NotFiniteInput {
                name: "v",
                entry,
                value: v[entry],
            });
        }
        self.check_failure()
    }
}

/// The part of a cone that enters a region of the next corner; none when there is no such part.
fn cone_into(map: &DMatrix<f64>, cone: &Cone, region: &Region) -> Option<(DMatrix<f64>, Cone)> {
    let more = &region.inequalities * map;
    let (old, new) = (cone.inequalities.nrows(), more.nrows());
    let inequalities = DMatrix::from_fn(old + new, map.ncols(), |r, j| {
        if r < old {
            cone.inequalities[(r, j)]
        } else {
            more[(r - old, j)]
        }
    });
    let sample = cone::inside(&inequalities)?;
    let mut orders = cone.orders.clone();
    orders.push(region.order.clone());
    let cone = Cone {
        orders,
        inequalities,
        sample,
    };
    Some((&region.matrix * map, cone))
}

fn transposed_times(matrix: &DMatrix<f64>, w: &[f64]) -> Result<DVector<f64>, Error> {
    if w.len() != matrix.nrows() {
        return Err(Error::WrongLength {
            name: "w",
            expected: matrix.nrows(),
            found: w.len(),
        });
    }
    Ok(matrix.tr_mul(&DVector::from_column_slice(w)))
}
