//! Drift off the closed contacts: positions and velocities are projected back after each step.
//! `q ← q − N(q) M⁻¹Da_Jᵀ G_J⁻¹ a_J`, then `v ← v − M⁻¹Da_Jᵀ G_J⁻¹ Da_J v`. No Baumgarte terms.
//! Coordinates on a manifold, such as unit quaternions, are projected onto it first. The shift is
//! unique even where contacts depend on each other.

use crate::Mode;
use crate::event_driven::Model;
use crate::linalg::dot;
use crate::linalg::scratch::{with_list, with_zeros};
use crate::mechanics::acceleration::Frame;
use crate::mechanics::configuration;
use crate::mechanics::contact_model::gather_closed;
use crate::mechanics::contacts_at::ContactsAt;
use crate::mechanics::{Measured, Mechanism, Redundant};
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};

/// Gaps and rates within this part of the tolerances are rounding and are not corrected.
const LEFT_ALONE: f64 = 1e-3;

/// Brings a state back to the closed contacts of `mode`; true when it changed.
pub(crate) fn correct(model: &Model<'_>, x: &mut [f64], mode: &Mode) -> bool {
    with_list(model.system().contacts(), |space| {
        hold_all(model, x, gather_closed(mode, space), None)
    })
}

/// Brings a state onto the manifold of the coordinates, and to gaps and rates of zero of some
/// contacts; true when it changed.
pub(crate) fn hold_all(
    model: &Model<'_>,
    x: &mut [f64],
    contacts: &[usize],
    mut at: Option<&mut ContactsAt>,
) -> bool {
    let moved = onto_manifold(model, x);
    if contacts.is_empty() {
        return moved;
    }
    let moved = to_gaps_of_zero(model, x, contacts, at.as_deref_mut()) || moved;
    to_rates_of_zero(model, x, contacts, at) || moved
}

/// Brings the state of an event onto its surfaces: the gaps of all contacts that take part are set
/// to zero, and the rates of those that are `closed`. Otherwise a contact that parts, with a gap
/// below zero by the drift of a step, would count as one that closes.
pub(crate) fn land(
    model: &Model<'_>,
    x: &mut [f64],
    closed: &[usize],
    touching: &[usize],
    at: &mut ContactsAt,
) {
    onto_manifold(model, x);
    to_gaps_of_zero(model, x, touching, Some(at));
    to_rates_of_zero(model, x, closed, Some(at));
}

/// Brings a state onto the manifold of the coordinates and to gaps of zero; true when it changed.
pub(crate) fn onto_gaps(model: &Model<'_>, x: &mut [f64], contacts: &[usize]) -> bool {
    let moved = onto_manifold(model, x);
    !contacts.is_empty() && to_gaps_of_zero(model, x, contacts, None) || moved
}

/// Brings the velocities to rates of zero of some contacts.
pub(crate) fn hold(model: &Model<'_>, x: &mut [f64], contacts: &[usize]) {
    if !contacts.is_empty() {
        to_rates_of_zero(model, x, contacts, None);
    }
}

/// Brings coordinates that drifted off their manifold back to it; true when they changed.
pub(crate) fn onto_manifold(model: &Model<'_>, x: &mut [f64]) -> bool {
    let (q, _) = model.parts_mut(x);
    model.system().project_configuration(q)
}

fn to_gaps_of_zero(
    model: &Model<'_>,
    x: &mut [f64],
    contacts: &[usize],
    mut at: Option<&mut ContactsAt>,
) -> bool {
    let (system, m) = (model.system(), contacts.len());
    let (q, _) = model.parts_mut(x);
    let mut changed = false;
    with_zeros(model.bodies.frame_size(m) + m, |scratch| {
        let (wrong, scratch) = scratch.split_at_mut(m);
        for _ in 0..2 {
            let mut worst: f64 = 0.0;
            for (w, &j) in wrong.iter_mut().zip(contacts) {
                *w = -system.gap(j, q);
                worst = worst.max(w.abs());
            }
            if worst <= LEFT_ALONE * model.gap_tolerance {
                break;
            }
            let Ok(mut frame) = model
                .bodies
                .frame_at(at.as_deref_mut(), q, contacts, scratch)
            else {
                return;
            };
            if frame.solve_gram(wrong, Redundant::LeastSquares).is_err() {
                return;
            }
            if model.bodies.fixed.identity {
                for (i, &p) in wrong.iter().enumerate() {
                    frame.push(i, p, q);
                }
            } else {
                shift(system, &frame, wrong, q);
            }
            changed = true;
        }
    });
    changed
}

/// Moves `q` along `N(q) δ`, `δ = M⁻¹ Daᵀ p`, and back onto its manifold.
#[cold]
fn shift(system: &Measured<dyn Mechanism + '_>, frame: &Frame<'_>, p: &[f64], q: &mut [f64]) {
    with_zeros(frame.d + q.len(), |scratch| {
        let (by, rate) = scratch.split_at_mut(frame.d);
        for (i, &p) in p.iter().enumerate() {
            frame.push(i, p, by);
        }
        configuration::rate(system, q, by, rate);
        for (q, rate) in q.iter_mut().zip(rate) {
            *q += *rate;
        }
    });
    system.project_configuration(q);
}

fn to_rates_of_zero(
    model: &Model<'_>,
    x: &mut [f64],
    contacts: &[usize],
    mut at: Option<&mut ContactsAt>,
) -> bool {
    let (m, least) = (contacts.len(), LEFT_ALONE * model.rate_tolerance);
    let (q, v) = model.parts_mut(x);
    // Most steps leave rates of rounding: the masses of the contacts are not needed then.
    let known = at.as_deref_mut();
    if model
        .bodies
        .rates_are_within(known, least, [q, v], contacts)
    {
        return false;
    }
    with_zeros(model.bodies.frame_size(m) + m, |scratch| {
        let (wrong, scratch) = scratch.split_at_mut(m);
        let Ok(mut frame) = model.bodies.frame_at(at, q, contacts, scratch) else {
            return false;
        };
        for (i, wrong) in wrong.iter_mut().enumerate() {
            *wrong = -dot(frame.row(i), v);
        }
        let solved = frame.solve_gram(wrong, Redundant::LeastSquares).is_ok();
        if solved {
            for (i, &p) in wrong.iter().enumerate() {
                frame.push(i, p, v);
            }
        }
        solved
    })
}
