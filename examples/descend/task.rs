//! The landing: its cost, and what each tool takes for its gradient.

use nalgebra::{DMatrix, DVector, Vector2};
use saltation::derivative::{Cone, Derivative, Piece};
use saltation::models::{PlateParameters, VerticalPlate};
use saltation::{Error, EventFunction, Flow, Integrator, Mode, NoDerivative, Status, Verdict};

/// What is sought: tilt [rad] and spin [rad/s] at the start.
pub(crate) type Start = Vector2<f64>;

/// Height at the start [m].
const HEIGHT: f64 = 2.2;
/// Touch-downs closer than this are one [s]: those that a search has brought together, to rounding.
pub(crate) const TOGETHER: f64 = 1e-12;
/// A moment before a touch-down [s].
const MOMENT: f64 = 1e-9;

/// A plate that is to stand at a wanted place at a given time.
pub(crate) struct Task {
    runs: Integrator<VerticalPlate, [f64; 6]>,
    /// Height [m] and tilt [rad].
    wanted: [f64; 2],
    tf: f64,
}

/// How a landing went.
#[derive(Clone, Copy)]
pub(crate) struct Landing {
    /// Half the mean square distance of the plate from where it is wanted, over both legs [m²].
    pub(crate) cost: f64,
    /// Time from the touch-down of leg 0 to that of leg 1 [s]; none when one of them does not
    /// touch.
    pub(crate) gap: Option<f64>,
}

/// The cost to first order, for those displacements of the start that keep one order.
pub(crate) struct Side {
    /// The order in which the legs touch where both touch at once; empty elsewhere.
    pub(crate) order: Vec<usize>,
    pub(crate) gradient: Start,
    /// Rows `a` with `a · v ≥ 0` for the displacements `v` of this side.
    rows: Vec<Start>,
}

impl Task {
    pub(crate) fn new(
        parameters: PlateParameters,
        wanted: [f64; 2],
        tf: f64,
    ) -> Result<Self, Error> {
        let runs = Integrator::fixed::<6>(VerticalPlate::new(parameters)?)?
            .rtol(1e-10)
            .atol(1e-12)
            .corner_tolerance(TOGETHER);
        Ok(Self { runs, wanted, tf })
    }

    /// Lets the plate go. A start whose run cannot be completed is one to stay away from, and costs
    /// without bound.
    pub(crate) fn land(&mut self, start: Start) -> Result<Landing, Error> {
        let run = self
            .runs
            .integrate(&saltation::Start::at(0.0).x(&state(start)), self.tf)?;
        if *run.status() != Status::ReachedEnd {
            return Ok(Landing {
                cost: f64::INFINITY,
                gap: None,
            });
        }
        let touch = |leg| {
            let mut crossings = run.crossings().iter();
            Some(crossings.find(|c| c.guard.event == leg)?.t)
        };
        Ok(Landing {
            cost: self.cost(run.state().as_slice()),
            gap: touch(1).zip(touch(0)).map(|(one, zero)| one - zero),
        })
    }

    fn half_width(&self) -> f64 {
        self.runs.system().parameters().half_width
    }

    /// How far height and tilt are from those wanted [m, rad].
    fn error(&self, x: &[f64]) -> [f64; 2] {
        [x[1] - self.wanted[0], x[2] - self.wanted[1]]
    }

    fn cost(&self, x: &[f64]) -> f64 {
        let [height, tilt] = self.error(x);
        0.5 * (height.powi(2) + (self.half_width() * tilt).powi(2))
    }

    /// The gradient of the cost with respect to the final state.
    fn final_gradient(&self, x: &[f64]) -> [f64; 6] {
        let [height, tilt] = self.error(x);
        let tilt = self.half_width().powi(2) * tilt;
        [0.0, height, tilt, 0.0, 0.0, 0.0]
    }

    /// The cost to first order around `start`: one side where the derivative is a matrix, more at a
    /// corner.
    pub(crate) fn sides(&mut self, start: Start) -> Result<(Verdict, Vec<Side>), Error> {
        let derivative = self
            .runs
            .derivative(&saltation::Start::at(0.0).x(&state(start)), self.tf)?;
        let (verdict, pieces) = (derivative.verdict().clone(), derivative.pieces()?);
        let end = derivative.into_run().completed()?;
        let w = self.final_gradient(end.state().as_slice());
        let mut sides = Vec::new();
        for piece in &pieces {
            for cone in &piece.cones {
                sides.push(side(piece, cone, &w)?);
            }
        }
        Ok((verdict, sides))
    }

    /// The gradient that follows from one saltation matrix for each leg, leg 0 first whatever the
    /// run does.
    pub(crate) fn leg_zero_first(&mut self, start: Start) -> Result<Start, Error> {
        let x0 = state(start);
        let run = self
            .runs
            .integrate(&saltation::Start::at(0.0).x(&x0), self.tf)?
            .completed()?;
        let w = self.final_gradient(run.state().as_slice());
        let [first, last] = run.crossings() else {
            // one leg, or none: there is no order to be mistaken about
            let derivative = self
                .runs
                .derivative(&saltation::Start::at(0.0).x(&x0), self.tf)?;
            return Ok(seen(&derivative.vjp(&w)?));
        };
        let before = first.t - MOMENT;
        let flight = self
            .runs
            .derivative(&saltation::Start::at(0.0).x(&x0), before)?;
        let flight = of_its_side(&flight)?;
        let plate = self.runs.system();
        let touch =
            |leg, before: &[usize]| saltation_matrix(plate, first.state.as_slice(), leg, before);
        let touches = touch(1, &[0]) * touch(0, &[]);
        let touched = saltation::Start::at(last.t).x(last.state.as_slice());
        let contact = (self.runs).derivative(&touched.mode(run.mode()), self.tf)?;
        let contact = of_its_side(&contact)?;
        let total = contact * touches * flight;
        Ok(seen(&total.tr_mul(&DVector::from_column_slice(&w))))
    }
}

/// The map of a run that starts or ends on a guard, which is one-sided: of a displacement and its
/// opposite one stays on the side of the run.
fn of_its_side(derivative: &Derivative<VerticalPlate>) -> Result<DMatrix<f64>, NoDerivative> {
    let along = derivative.matrix_towards(&[1.0; 6]);
    along.or_else(|_| derivative.matrix_towards(&[-1.0; 6]))
}

/// `I + (f⁺ − f⁻) Dh / (Dh f⁻)` for `leg` at `x`, when the legs in `before` touch already.
fn saltation_matrix(
    plate: &VerticalPlate,
    x: &[f64],
    leg: usize,
    before: &[usize],
) -> DMatrix<f64> {
    let after: Vec<usize> = before.iter().copied().chain([leg]).collect();
    let field = |touching: &[usize]| {
        let mut f = DVector::zeros(x.len());
        let mode = Mode::with(plate.count(), touching);
        plate.flow(0.0, x, &mode, f.as_mut_slice());
        f
    };
    let mut row = DVector::zeros(x.len());
    let mode = Mode::with(plate.count(), before);
    plate.gradient(leg, 0.0, x, &mode, row.as_mut_slice());
    let (old, new) = (field(before), field(&after));
    let rate = row.dot(&old);
    DMatrix::identity(x.len(), x.len()) + (new - old) * row.transpose() / rate
}

fn side(piece: &Piece, cone: &Cone, w: &[f64]) -> Result<Side, Error> {
    let orders = cone.orders.first();
    let row = |r| seen(&cone.inequalities.row(r).transpose());
    Ok(Side {
        order: orders.map_or_else(Vec::new, |order| order.iter().map(|g| g.event).collect()),
        gradient: seen(&piece.vjp(w)?),
        rows: (0..cone.inequalities.nrows()).map(row).collect(),
    })
}

impl Side {
    /// The direction of steepest descent within this side, as long as the descent is steep: the
    /// point of its cone that is nearest to `−gradient`. Zero when nothing on this side descends.
    pub(crate) fn descent(&self) -> Start {
        let down = -self.gradient;
        // In the plane that point is −gradient itself, or its foot on one of the borders, or the
        // tip.
        let feet = self
            .rows
            .iter()
            .map(|a| down - a * (a.dot(&down) / a.norm_squared()));
        let inside = |v: &Start| {
            let slack = |a: &Start| 1e-12 * a.norm() * down.norm();
            self.rows.iter().all(|a| a.dot(v) >= -slack(a))
        };
        let distance = |v: &Start| (v - down).norm();
        [down]
            .into_iter()
            .chain(feet)
            .filter(inside)
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .unwrap_or_else(Start::zeros)
    }
}

/// The plate at rest above its legs, but for its spin.
fn state(start: Start) -> [f64; 6] {
    [0.0, HEIGHT, start.x, 0.0, 0.0, start.y]
}

/// The part of a gradient with respect to the state that is sought.
fn seen(gradient: &DVector<f64>) -> Start {
    Vector2::new(gradient[2], gradient[5])
}

/// Which leg touches first.
pub(crate) fn order(gap: Option<f64>) -> &'static str {
    match gap {
        None => "no order",
        Some(gap) if gap.abs() <= TOGETHER => "together",
        Some(gap) if gap > 0.0 => "leg 0",
        Some(_) => "leg 1",
    }
}
