//! Derivatives of random runs: verdicts, maps, pieces, tangents, parameters.

use saltation::derivative::{Compared, Cone, CornerDerivative, CornerKind, Piece, WithParameters};
use saltation::nalgebra::DMatrix;
use saltation::{
    Crossing, Derivative, EventFunction, Flow, Integrator, Mode, NoDerivative, Sensitivities,
    Start, Stop, Verdict, Watch,
};

use super::integrate::{Limits, Span, look, settings, span};
use crate::draw::Draw;
use crate::system::Random;
use crate::trial::Trial;

pub fn run(mut draw: Draw, trial: &mut Trial) {
    if draw.chance(0.15) {
        return with_parameters(draw, trial);
    }
    let system = if draw.chance(0.5) {
        let (dims, guards) = if draw.chance(0.05) { (3, 9) } else { (4, 4) };
        Random::new(&mut draw, dims, guards)
    } else {
        Random::new(&mut draw.clone().tamed(), 3, 5)
    };
    trial.note("system", &system);
    let (mut integrator, limits, mode) = match settings(&mut draw, &system) {
        Ok(made) => made,
        Err(error) => return trial.refused("settings", &error),
    };
    let mut asked = span(&mut draw, system.dim);
    asked.mode = mode;
    if trial.is_second {
        let other = span(&mut draw.aside("before"), system.dim);
        let _ = integrator
            .derivative(&Start::at(other.t0).x(&other.x0), other.tf)
            .map(|d| d.matrix());
    }
    trial.note("span", &asked);
    explore(trial, &mut draw, &mut integrator, &asked, Some(limits));
    tangents(trial, &mut draw, &mut integrator, &asked, limits);
}

/// All that a derivative can be asked.
pub fn explore<S: Flow + EventFunction>(
    trial: &mut Trial,
    draw: &mut Draw,
    integrator: &mut Integrator<S>,
    asked: &Span,
    limits: Option<Limits>,
) {
    let d = match integrator.derivative(&asked.start(), asked.tf) {
        Ok(derivative) => derivative,
        Err(error) => return trial.refused("derivative", &error),
    };
    answers(trial, draw, asked, limits, d);
}

/// What a derivative answers.
pub fn answers<S: Flow + EventFunction>(
    trial: &mut Trial,
    draw: &mut Draw,
    asked: &Span,
    limits: Option<Limits>,
    mut d: Derivative<S>,
) {
    let verdict: &Verdict = d.verdict();
    trial.note("verdict", verdict);
    trial.say(verdict);
    if let Some(limits) = limits {
        let kept = d.run().clone();
        look(trial, draw, asked, limits, kept);
    }
    if draw.chance(0.3) {
        d = d.up_to_refusal();
    }
    let dim = d.run().state().len();
    let (v_len, w_len) = (draw.length(dim), draw.length(dim));
    let (v, w) = (draw.numbers(v_len), draw.numbers(w_len));
    let listed = |m: DMatrix<f64>| m.as_slice().to_vec();
    let column = |m: saltation::nalgebra::DVector<f64>| m.as_slice().to_vec();
    // Directions may be so long that their images overflow; a matrix says nothing of directions.
    let is_ordinary = v.iter().chain(&w).all(|v| v.abs() < 1e3);
    trial.numbers("matrix", d.matrix().map(listed));
    let results = [
        ("apply", d.apply(&v).map(column)),
        ("apply_backward", d.apply_backward(&v).map(column)),
        ("matrix_towards", d.matrix_towards(&v).map(listed)),
        ("vjp", d.vjp(&w).map(column)),
        ("vjp_towards", d.vjp_towards(&v, &w).map(column)),
    ];
    for (what, result) in results {
        if is_ordinary {
            trial.numbers(what, result);
        } else {
            trial.result(what, result);
        }
    }
    let crossings = d.run().crossings().len();
    for index in 0..crossings.min(4) + 1 {
        trial.numbers("event_time_row", d.event_time_row(index).map(column));
        let shift = d.event_time_shift(index, &v).map(|shift| vec![shift]);
        if is_ordinary {
            trial.numbers("event_time_shift", shift);
        } else {
            trial.result("event_time_shift", shift);
        }
    }
    trial.result(
        "event_time_row beyond",
        d.event_time_row(draw.size(100)).map(column),
    );
    corners(trial, draw, &d);
    let pieces: Result<Vec<Piece>, NoDerivative> = d.pieces();
    match pieces {
        Err(error) => trial.refused("pieces", &error),
        Ok(pieces) => {
            let cones: usize = pieces.iter().map(|piece| piece.cones.len()).sum();
            trial.expect(cones <= 4096, || format!("{cones} cones are listed"));
            trial.expect(!pieces.is_empty(), || "no piece at all".to_owned());
            for piece in &pieces {
                trial.note("piece", piece);
                trial.finite("matrix of a piece", piece.matrix.as_slice());
                trial.result("vjp of a piece", piece.vjp(&w).map(column));
                let cone: Option<&Cone> = piece.cones.first();
                let inside = cone.map(|cone| piece.contains(cone.sample.as_slice()));
                trial.note("inside", &(inside, piece.contains(&v)));
            }
        }
    }
    trial.note("run", &d.into_run().t());
}

fn corners<S: Flow + EventFunction>(trial: &mut Trial, draw: &mut Draw, d: &Derivative<S>) {
    let mut count = 0;
    let possible = d.possible_pieces().map_or(0, |pieces| pieces.len());
    trial.note("possible pieces", &possible);
    for corner in d.corners().chain(d.possible_corner()).take(5) {
        let corner: &CornerDerivative = corner;
        let kind: &CornerKind = corner.kind();
        trial.note(
            "corner",
            &(
                corner.t(),
                corner.guards(),
                corner.state(),
                corner.mode(),
                kind,
            ),
        );
        if let CornerKind::Linear { compared, .. } = kind {
            let compared: &Compared = compared;
            trial.note("compared", compared);
        }
        count += 1;
    }
    for index in (0..count).chain([draw.size(20)]) {
        match d.pieces_at(index) {
            Err(error) => trial.refused("pieces of a corner", &error),
            Ok(pieces) => {
                for piece in &pieces {
                    trial.note("piece of a corner", piece);
                    trial.finite("matrix of a piece of a corner", piece.matrix.as_slice());
                }
            }
        }
    }
}

/// Columns along given directions, the workspace used before.
fn tangents<S: Flow + EventFunction>(
    trial: &mut Trial,
    draw: &mut Draw,
    integrator: &mut Integrator<S>,
    asked: &Span,
    limits: Limits,
) {
    let dim = integrator.system().dim();
    let (rows, count) = (draw.length(dim), draw.below(4));
    let mut tangents = Sensitivities::new(rows, count);
    if trial.is_second {
        let other = span(&mut draw.aside("tangents before"), dim);
        let _ = integrator.carry(
            &Start::at(other.t0).x(&other.x0),
            other.tf,
            &mut tangents,
            &mut (),
        );
    }
    let directions = draw.clone().tamed().numbers(rows * count);
    trial.result("set", tangents.set(&directions));
    let summary = integrator.carry(&asked.start(), asked.tf, &mut tangents, &mut ());
    if let Some(summary) = trial.result("carry", summary) {
        let steps = summary.statistics.steps;
        trial.expect(steps <= limits.steps, || {
            format!("{steps} steps, {} allowed", limits.steps)
        });
        trial.note("tangents' verdict", tangents.verdict());
        let columns = tangents
            .columns()
            .map(|m| m.iter().copied().collect::<Vec<f64>>());
        trial.numbers("columns", columns);
    }
    let directions = DMatrix::from_vec(rows, count, directions);
    let along = integrator.derivative_along(&asked.start(), asked.tf, &directions);
    trial.numbers("derivative_along", along.map(|m| m.as_slice().to_vec()));
}

/// A ball on a moving floor, whose numbers are parameters.
struct Ball {
    gravity: f64,
    restitution: f64,
    floor: f64,
}

impl Flow for Ball {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[x[1], -self.gravity]);
    }
}

impl EventFunction for Ball {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0] - self.floor * (5.0 * t).sin()
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::FALLING
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let x = &mut *crossing.x;
        x[1] *= -self.restitution;
        Ok(())
    }
}

fn with_parameters(mut draw: Draw, trial: &mut Trial) {
    let p = [draw.number(), draw.part(), 0.1 * draw.number()];
    let build = |p: &[f64]| Ball {
        gravity: p[0],
        restitution: p[1],
        floor: p[2],
    };
    let system = WithParameters::new(build, &p);
    let (mut integrator, limits, mode) = match settings(&mut draw, &system) {
        Ok(made) => made,
        Err(error) => return trial.refused("settings", &error),
    };
    let mut asked = span(&mut draw, 2);
    asked.x0 = system.start(&asked.x0);
    asked.mode = mode;
    explore(trial, &mut draw, &mut integrator, &asked, Some(limits));
}
