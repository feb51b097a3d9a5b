//! The choice of the touching contacts that stay closed: the acceleration complementarity problem
//! `0 ≤ λ ⊥ Da q̈ + κ ≥ 0` (Pace & Burden leave it open).

use crate::lcp::LcpSolver;
use crate::linalg::largest;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::motion::acceleration::accelerate;
use crate::mechanics::motion::constants::{Bodies, Trouble};
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::motion::mode_choice::{
    Complementarity, Later, Rules, SMALL, Settled, choose,
};
use crate::mechanics::motion::policies::Redundant;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints, configuration};
use crate::ode::difference::step_along;

/// Up to this many contacts all sets are tried where efforts depend on the set.
pub(crate) const TRY_ALL: usize = 12;

/// Decides which of `candidates`, gaps that are zero and do not open, stay closed: marks on them, all
/// off before.
pub(crate) fn settle<S>(
    bodies: &Bodies<S>,
    state: State<'_>,
    candidates: &[usize],
    rules: Rules<'_>,
    at: &mut ContactsAt,
    solver: &mut LcpSolver,
    closed: &mut [bool],
) -> Settled
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    let State { q, v, .. } = state;
    let (d, m) = (v.len(), candidates.len());
    if m == 0 {
        return Settled::Closed;
    }
    with_zeros(bodies.frame_size(m) + d + m, |scratch| {
        let (own, scratch) = scratch.split_at_mut(d + m);
        let (free, gaps) = own.split_at_mut(d);
        // Efforts that depend on the set make one problem for each set: no complementarity problem.
        if bodies.system.contact_effort(state, &[], free) {
            return try_all(bodies, state, candidates, rules, closed);
        }
        let mut frame = match bodies.frame_at(Some(at), q, candidates, scratch) {
            Ok(frame) => frame,
            Err(trouble) => return Settled::Trouble(trouble, candidates.to_vec()),
        };
        // b = Da M⁻¹ (f + c v) + κ: accelerations of the gaps without contact forces.
        frame.free_acceleration(&bodies.system, state, &[], free);
        if let Some(component) = free.iter().position(|a| !a.is_finite()) {
            return Settled::NotFinite(component);
        }
        frame.gap_acceleration(&bodies.system, q, v, free, gaps);
        let small = frame.least_acceleration(SMALL, rules.rate_tolerance);
        let problem = Complementarity {
            gram: frame.gram,
            b: gaps,
            small,
            noise: frame.noise(),
            is_driven: bodies.fixed.has_driven(),
        };
        let ahead = |forces: &[f64]| {
            for (i, &force) in forces.iter().enumerate() {
                // The accelerations with the forces found: M⁻¹ (f + c v + Daᵀ λ).
                frame.push(i, force, free);
            }
            a_moment_later(bodies, state, free, candidates, rules.rate_tolerance)
        };
        let by_rows = |set: &[usize], force: &mut [f64]| {
            let mut factor = vec![0.0; set.len() * set.len()];
            frame.push_by_rows(set.iter().copied(), force, &mut factor)
        };
        match choose(problem, rules, ahead, by_rows, solver, closed) {
            Settled::Trouble(trouble, set) => {
                let set = set.into_iter().map(|i| candidates[i]).collect();
                Settled::Trouble(trouble, set)
            }
            other => other,
        }
    })
}

/// The Gram matrix and the free accelerations of the gaps at `t + step`, with the accelerations `a`.
fn a_moment_later<S>(
    bodies: &Bodies<S>,
    State { t, q, v }: State<'_>,
    a: &[f64],
    candidates: &[usize],
    rate_tolerance: f64,
) -> Option<Later>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    let (d, m) = (v.len(), candidates.len());
    let mut rate = vec![0.0; q.len()];
    configuration::rate(&bodies.system, q, v, &mut rate);
    let step = step_along(t, &[q, v].concat(), 1.0, &[&rate, a].concat());
    let moved = |x: &[f64], rate: &[f64]| -> Vec<f64> {
        x.iter().zip(rate).map(|(x, r)| x + step * r).collect()
    };
    // One Euler step along the motion: enough to see which way degenerate contacts turn.
    let (q, v) = (moved(q, &rate), moved(v, a));
    let (mut free, mut gaps) = (vec![0.0; d], vec![0.0; m]);
    with_zeros(bodies.frame_size(m), |scratch| {
        let mut frame = bodies.frame(&q, candidates, scratch).ok()?;
        let state = State {
            t: t + step,
            q: &q,
            v: &v,
        };
        frame.free_acceleration(&bodies.system, state, &[], &mut free);
        frame.gap_acceleration(&bodies.system, &q, &v, &free, &mut gaps);
        let rounding = 0.1 * frame.least_acceleration(0.0, rate_tolerance);
        Some(Later {
            gram: frame.gram.to_vec(),
            b: gaps,
            rounding,
        })
    })
}

/// Tries all sets, larger ones first, each with the efforts that belong to it.
fn try_all<S>(
    bodies: &Bodies<S>,
    state: State<'_>,
    candidates: &[usize],
    rules: Rules<'_>,
    closed: &mut [bool],
) -> Settled
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    let m = candidates.len();
    if m > TRY_ALL {
        return Settled::TooMany;
    }
    let mut sets: Vec<u32> = (0..1u32 << m).collect();
    sets.sort_by_key(|set| std::cmp::Reverse(set.count_ones()));
    let mut found: Option<(u32, Vec<f64>)> = None;
    let mut trouble = None;
    for set in sets {
        if rules.interrupt.is_set() {
            return Settled::Interrupted;
        }
        let acceleration = match try_set(bodies, state, candidates, set, rules.redundant) {
            Tried::Consistent(acceleration) => acceleration,
            Tried::Inconsistent => continue,
            Tried::Without(reason, chosen) => {
                trouble = trouble.or(Some((reason, chosen)));
                continue;
            }
            Tried::Ends(settled) => return settled,
        };
        match &found {
            None => found = Some((set, acceleration)),
            Some((_, others)) => {
                let most = acceleration.iter().chain(others);
                let most = largest(most);
                let differ = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-8 * most;
                if others.iter().zip(&acceleration).any(differ) {
                    return Settled::Ambiguous;
                }
            }
        }
    }
    match (found, trouble) {
        (Some((set, _)), _) => {
            for (i, closed) in closed.iter_mut().enumerate() {
                *closed = set >> i & 1 == 1;
            }
            Settled::Closed
        }
        (None, Some((reason, set))) => Settled::Trouble(reason, set),
        (None, None) => Settled::Nobody,
    }
}

/// The outcome of the motion with one set of contacts closed.
enum Tried {
    /// The closed contacts push and the others part, with these accelerations.
    Consistent(Vec<f64>),
    Inconsistent,
    /// These contacts have no forces, for this reason.
    Without(Trouble, Vec<usize>),
    /// No set can be tried.
    Ends(Settled),
}

/// Tries the motion with the `candidates` closed whose bits are in `set`.
fn try_set<S>(
    bodies: &Bodies<S>,
    state: State<'_>,
    candidates: &[usize],
    set: u32,
    redundant: Redundant,
) -> Tried
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    let State { q, v, .. } = state;
    let (d, m) = (v.len(), candidates.len());
    let closes = |i: usize| set >> i & 1 == 1;
    let chosen = (0..m).filter(|&i| closes(i)).map(|i| candidates[i]);
    let chosen: Vec<usize> = chosen.collect();
    let (mut acceleration, mut forces) = (vec![0.0; d], vec![0.0; chosen.len()]);
    let held = with_zeros(bodies.frame_size(chosen.len()), |scratch| {
        let mut frame = bodies.frame(q, &chosen, scratch)?;
        let (system, a) = (&bodies.system, &mut acceleration);
        let unique = accelerate(system, &mut frame, state, a, &mut forces, redundant)?;
        let mut unheld = vec![0.0; chosen.len()];
        if !unique && bodies.fixed.has_driven() {
            frame.unheld(system, state, a, &mut unheld);
        }
        Ok(unheld.iter().all(|unheld| *unheld == 0.0))
    });
    match held {
        Ok(true) => {}
        Ok(false) => return Tried::Inconsistent,
        Err(reason) => return Tried::Without(reason, chosen),
    }
    if let Some(component) = acceleration.iter().position(|a| !a.is_finite()) {
        return Tried::Ends(Settled::NotFinite(component));
    }
    let opening = with_zeros(bodies.frame_size(m), |scratch| {
        let mut frame = bodies.frame(q, candidates, scratch)?;
        let mut gaps = vec![0.0; m];
        frame.gap_acceleration(&bodies.system, q, v, &acceleration, &mut gaps);
        let units: Vec<f64> = (0..m).map(|i| frame.gram[i * m + i].sqrt()).collect();
        Ok((gaps, units, frame.size))
    });
    let (gaps, units, size) = match opening {
        Ok(opening) => opening,
        Err(reason) => return Tried::Ends(Settled::Trouble(reason, candidates.to_vec())),
    };
    let open = || (0..m).filter(|&i| !closes(i));
    let pushing = || (0..m).filter(|&i| closes(i)).zip(&forces);
    // λ ≥ 0 for closed contacts and ä ≥ 0 for open ones, both in the metric of the mass matrix.
    let scale = (open().map(|i| (gaps[i] / units[i]).abs()))
        .chain(pushing().map(|(i, force)| (force * units[i]).abs()))
        .fold(size, f64::max);
    let parts = open().all(|i| gaps[i] >= -SMALL * scale * units[i]);
    let pushes = pushing().all(|(i, force)| force * units[i] >= -SMALL * scale);
    if parts && pushes {
        Tried::Consistent(acceleration)
    } else {
        Tried::Inconsistent
    }
}
