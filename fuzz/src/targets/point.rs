//! Derivatives at a point: Jacobians, rows, saltation matrices, and the check of what is written.

use std::fmt::{Debug, Display};

use saltation::derivative::{
    Entry, Partial, Saltation, flow_jacobian, gradient_row, saltation_matrix, saltation_product,
};
use saltation::mechanics::check_mechanics;
use saltation::{DerivativeReport, EventFunction, Guard, check_derivatives};

use super::integrate::{guard, mode};
use crate::body::Body;
use crate::draw::Draw;
use crate::system::Random;
use crate::trial::Trial;

pub fn run(mut draw: Draw, trial: &mut Trial) {
    let system = Random::new(&mut draw, 5, 6);
    let count = system.count();
    let (dim, sides) = (draw.length(system.dim), draw.length(count));
    let (t, x, mode) = (draw.number(), draw.numbers(dim), mode(&mut draw, sides));
    let jacobian = flow_jacobian(&system, t, &x, &mode).map(|m| m.as_slice().to_vec());
    trial.numbers("flow_jacobian", jacobian);
    for k in (0..count).chain([draw.size(count + 2)]) {
        let row = gradient_row(&system, k, t, &x, &mode);
        let row = row.map(|(row, rate)| [row.as_slice(), &[rate]].concat());
        trial.numbers("gradient_row", row);
    }
    let order: Vec<Guard> = (0..draw.below(5))
        .map(|_| guard(&mut draw, count))
        .collect();
    for (what, saltation) in [
        (
            "saltation_product",
            saltation_product(&system, &order, t, &x, &mode),
        ),
        (
            "saltation_matrix",
            saltation_matrix(&system, guard(&mut draw, count), t, &x, &mode),
        ),
    ] {
        let saltation: Option<Saltation> = trial.result(what, saltation);
        if let Some(found) = saltation {
            trial.finite("saltation matrix", found.matrix.as_slice());
            trial.finite("time shift", found.time_shift.as_slice());
            trial.finite("state behind", found.state.as_slice());
        }
    }
    let report = check_derivatives(&system, t, &x, &mode);
    examine(trial, "check_derivatives", report);
    if draw.chance(0.3) {
        let body = Body::new(&mut draw, 4, 4);
        let (q, v) = body.place(&mut draw);
        examine(trial, "check_mechanics", check_mechanics(&body, t, &q, &v));
    }
}

fn examine(trial: &mut Trial, what: &str, report: Result<DerivativeReport, impl Debug + Display>) {
    if let Some(report) = trial.result(what, report) {
        trial.say(&report);
        trial.note("agrees", &(report.agrees(1e-6), report.agrees(f64::NAN)));
        if let Some(worst) = report.worst {
            let worst: Entry = worst;
            let partial: Partial = worst.what;
            trial.note("worst", &(partial, worst.given, worst.difference));
        }
    }
}
