//! The way of a state back onto its closed contacts (Pace & Burden, eq. 1).
//!
//! Positions and velocities drift off the closed contacts and are projected back after each step:
//! `q ← q − N(q) M⁻¹Da_Jᵀ G_J⁻¹ a_J`, then `v ← v − M⁻¹Da_Jᵀ G_J⁻¹ Da_J v`. No Baumgarte terms.
//! Coordinates on a manifold, such as unit quaternions, are projected onto it first. The shift is
//! unique even where contacts depend on each other.

use crate::Mode;
use crate::event_driven::Model;
use crate::linalg::dot;
use crate::linalg::scratch::{with_list, with_zeros};
use crate::mechanics::contact_model::gather_closed;
use crate::mechanics::motion::acceleration::Frame;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::{
    Measured, MechanicalSystem, Mechanism, Redundant, UnilateralConstraints, configuration,
};

/// Gaps and rates within this part of the tolerances are rounding and are not corrected.
pub(crate) const LEFT_ALONE: f64 = 1e-3;

/// Within no part: all are corrected, as a difference over a short step needs it, which sees whether one was.
pub(crate) const NONE_ALONE: f64 = 0.0;

/// Brings a state back to the closed contacts of `mode`; true when it changed.
pub(crate) fn correct(model: &Model<'_>, x: &mut [f64], mode: &Mode) -> bool {
    if model.has_friction_in(mode) {
        return model.hold_in_mode(x, mode);
    }
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
    let moved = to_gaps_of_zero(model, x, contacts, LEFT_ALONE, at.as_deref_mut()) || moved;
    to_rates_of_zero(model, x, contacts, LEFT_ALONE, at) || moved
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
    to_gaps_of_zero(model, x, touching, LEFT_ALONE, Some(at));
    to_rates_of_zero(model, x, closed, LEFT_ALONE, Some(at));
}

/// Brings a state back to the closed contacts of a mode, but for the gaps of those that did not land.
pub(crate) fn hold_but(model: &Model<'_>, x: &mut [f64], unlanded: &[usize], mode: &Mode) {
    with_list(model.system().contacts(), |space| {
        let mut landed = gather_closed(mode, space).to_vec();
        landed.retain(|j| !unlanded.contains(j));
        onto_gaps(model, x, &landed, LEFT_ALONE);
    });
    hold(model, x, mode, LEFT_ALONE);
}

/// Brings a state onto the manifold of the coordinates and to gaps of zero, but for those within a part of the
/// tolerance; true when it changed.
pub(crate) fn onto_gaps(model: &Model<'_>, x: &mut [f64], contacts: &[usize], within: f64) -> bool {
    let moved = onto_manifold(model, x);
    !contacts.is_empty() && to_gaps_of_zero(model, x, contacts, within, None) || moved
}

/// Brings the velocities to the rates of zero of the closed contacts of a mode.
pub(crate) fn hold(model: &Model<'_>, x: &mut [f64], mode: &Mode, within: f64) {
    if model.has_friction_in(mode) {
        model.hold_rates_in_mode(x, mode, within);
        return;
    }
    with_list(model.system().contacts(), |space| {
        let contacts = gather_closed(mode, space);
        if !contacts.is_empty() {
            to_rates_of_zero(model, x, contacts, within, None);
        }
    });
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
    within: f64,
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
            if worst <= within * model.gap_tolerance {
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

pub(super) fn to_rates_of_zero(
    model: &Model<'_>,
    x: &mut [f64],
    contacts: &[usize],
    within: f64,
    mut at: Option<&mut ContactsAt>,
) -> bool {
    let (m, least) = (contacts.len(), within * model.rate_tolerance);
    let (q, v) = model.parts_mut(x);
    // Rates are those of rounding after nearly all steps: the masses of the contacts are not needed then.
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
