//! The length of a Newton step: an exact search that never fails, and Armijo's rule (Castro et al.,
//! sections IV-B and IV-C).

use super::island::Island;
use super::iterate::{Direction, Iterate};
use crate::compliant::settings::{LineSearch, SolverSettings};

/// Greatest length of the exact search.
const EXACT_MOST: f64 = 1.5;
/// The derivative of the cost at the end of the exact search, relative to that at its start.
const EXACT_TOLERANCE: f64 = 1e-8;
/// Limit of the evaluations of an exact search.
const EXACT_EVALUATIONS: usize = 100;
/// Armijo's rule: greatest length, factor between lengths, part of the slope that is asked for, and
/// most trials.
const ARMIJO: (f64, f64, f64, usize) = (1.25, 0.8, 1e-4, 40);

/// Iterations with Armijo's rule. Its lengths are too coarse to end at a kink, where it goes on for
/// hundreds of iterations; from here on the exact search takes over.
const ARMIJO_ITERATIONS: usize = 10;

/// A length after `made` iterations, and what it took to find it; none when the direction does not lead down.
pub(in crate::compliant) fn search(
    settings: &SolverSettings,
    made: usize,
    island: &Island,
    iterate: &Iterate,
    direction: &Direction,
) -> (Option<f64>, usize) {
    let at_start = slope(island, iterate, direction, 0.0).0;
    if at_start.is_nan() || at_start >= 0.0 {
        return (None, 1);
    }
    let (length, evaluations) = match settings.line_search {
        LineSearch::Armijo if made < ARMIJO_ITERATIONS => {
            let (length, trials) = armijo(island, iterate, direction, at_start);
            if let Some(length) = length {
                (length, trials)
            } else {
                // Stiff terms: the cost falls on a part of the step that is shorter than the
                // shortest trial.
                let (length, more) = exact(settings, island, iterate, direction, at_start);
                (length, trials + more)
            }
        }
        LineSearch::Exact | LineSearch::Armijo => {
            exact(settings, island, iterate, direction, at_start)
        }
    };
    (Some(length), evaluations + 1)
}

/// `dℓ/dα` and `d²ℓ/dα²` at the length `α`.
fn slope(island: &Island, iterate: &Iterate, direction: &Direction, length: f64) -> (f64, f64) {
    let mut slope = direction.slope + length * direction.curvature;
    let mut curvature = direction.curvature;
    let velocities = iterate.contact_velocities.iter();
    let rates = direction.contact_velocities.iter();
    let loads = iterate.loads.iter();
    for (((contact, v), dv), load) in island.contacts.iter().zip(velocities).zip(rates).zip(loads) {
        let v = [
            v[0] + length * dv[0],
            v[1] + length * dv[1],
            v[2] + length * dv[2],
        ];
        let (force, stiffness) = contact.law.held(*load).along(&v, dv);
        slope -= force;
        curvature += stiffness;
    }
    let velocities = iterate.row_velocities.iter();
    for ((row, v), dv) in island
        .rows
        .iter()
        .zip(velocities)
        .zip(&direction.row_velocities)
    {
        let v = v + length * dv;
        slope -= row.law.evaluate(v).0 * dv;
        curvature += row.law.curvature(v) * dv * dv;
    }
    (slope, curvature)
}

/// Newton's method for the root of the slope, kept in a bracket.
fn exact(
    settings: &SolverSettings,
    island: &Island,
    iterate: &Iterate,
    direction: &Direction,
    at_start: f64,
) -> (f64, usize) {
    let evaluate = |length| {
        let (slope, curvature) = slope(island, iterate, direction, length);
        (slope / -at_start, curvature / -at_start)
    };
    let (at_most, _) = evaluate(EXACT_MOST);
    if at_most <= 0.0 {
        return (EXACT_MOST, 1);
    }
    let (absolute, relative) = settings.cost_tolerance;
    if -at_start < absolute + relative * iterate.cost.abs() {
        // Too close to the minimum: slopes are rounding errors.
        return (1.0, 1);
    }
    let (mut low, mut high) = (0.0, EXACT_MOST);
    // The Newton length from zero; with exact arithmetic it is one.
    let (_, curvature) = evaluate(0.0);
    let mut length = clamp_inside(1.0 / curvature, low, high);
    let (mut last, mut best) = (1.0_f64, (1.0_f64, length));
    for evaluations in 3..=EXACT_EVALUATIONS {
        let (f, curvature) = evaluate(length);
        if f.abs() < best.0 {
            best = (f.abs(), length);
        }
        if f.abs() < EXACT_TOLERANCE {
            return (length, evaluations);
        }
        if f < 0.0 {
            low = length;
        } else {
            high = length;
        }
        if high - low <= 1e-15 * high {
            return (best.1, evaluations);
        }
        let newton = length - f / curvature;
        let halved = f.abs() <= 0.5 * last;
        last = f.abs();
        let next = if newton > low && newton < high && halved {
            newton
        } else {
            0.5 * (low + high)
        };
        if (next - length).abs() <= 1e-15 * length {
            return (best.1, evaluations);
        }
        length = next;
    }
    (best.1, EXACT_EVALUATIONS)
}

/// A trial within the bracket; its middle where the trial is not a number.
fn clamp_inside(length: f64, low: f64, high: f64) -> f64 {
    if length > low && length < high {
        length
    } else {
        0.5 * (low + high)
    }
}

/// Armijo's rule: the first length with enough decrease such that the next one is not better; none
/// when no trial decreases the cost.
fn armijo(
    island: &Island,
    iterate: &Iterate,
    direction: &Direction,
    at_start: f64,
) -> (Option<f64>, usize) {
    let (most, factor, part, trials) = ARMIJO;
    if slope(island, iterate, direction, most).0 <= 0.0 {
        return (Some(most), 1);
    }
    let mut length = most;
    let mut change = difference(island, iterate, direction, length);
    for trial in 1..trials {
        let shorter = factor * length;
        let next = difference(island, iterate, direction, shorter);
        if change < part * length * at_start && change <= next {
            return (Some(length), trial + 2);
        }
        (length, change) = (shorter, next);
    }
    ((change < 0.0).then_some(length), trials + 1)
}

/// `ℓ(α) − ℓ(0)`, term by term: near the minimum the difference of two totals is rounding.
fn difference(island: &Island, iterate: &Iterate, direction: &Direction, length: f64) -> f64 {
    let mut change = length * (direction.slope + 0.5 * length * direction.curvature);
    let velocities = iterate.contact_velocities.iter();
    let rates = direction.contact_velocities.iter();
    let loads = iterate.loads.iter();
    for (((contact, v), dv), load) in island.contacts.iter().zip(velocities).zip(rates).zip(loads) {
        let law = contact.law.held(*load);
        let there = [
            v[0] + length * dv[0],
            v[1] + length * dv[1],
            v[2] + length * dv[2],
        ];
        change += law.evaluate_held(&there).cost - law.evaluate_held(v).cost;
    }
    let velocities = iterate.row_velocities.iter();
    for ((row, v), dv) in island
        .rows
        .iter()
        .zip(velocities)
        .zip(&direction.row_velocities)
    {
        change += row.law.evaluate(v + length * dv).1 - row.law.evaluate(*v).1;
    }
    change
}
