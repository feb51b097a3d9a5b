//! Which contacts that touch and do not part stay closed: the acceleration complementarity problem
//! `0 ≤ λ ⊥ Da q̈ + κ ≥ 0` (Pace & Burden leave it open).

use nalgebra::DMatrixView;

use super::acceleration::{Bodies, Trouble, accelerate};
use super::configuration;
use super::redundant::Redundant;
use super::{MechanicalSystem, UnilateralConstraints};
use crate::Interrupt;
use crate::lcp;
use crate::lcp::solve_semidefinite;
use crate::linalg::cholesky::factor;
use crate::linalg::least_norm::{DEPENDENT, least_norm, least_norm_size};
use crate::linalg::scratch::with_zeros;
use crate::ode::difference::step_along;

/// Up to this many contacts all sets are tried where efforts depend on the set.
pub(crate) const TRY_ALL: usize = 12;
/// Where the solver fails and the reciprocal condition number is below this, dependent contacts are
/// reported as the reason.
const ALMOST_DEPENDENT: f64 = 1e-8;
/// Where unique forces are required, contacts with a smaller reciprocal condition number are
/// refused: rounding changes their forces by more than 1e-5 of their size. It is above
/// [`DEPENDENT`], so that contacts accepted here stay acceptable while they move.
const NEARLY_DEPENDENT: f64 = 1e-11;
/// Accelerations and forces within this part of their size are zero.
const SMALL: f64 = 1e-10;

/// The solution of the mode problem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Settled {
    /// These stay closed, as marks on the candidates.
    Closed(Vec<bool>),
    /// No set is consistent.
    Nobody,
    /// Two sets are consistent, with different accelerations.
    Ambiguous,
    /// The accelerations cannot be computed with these contacts closed.
    Trouble(Trouble, Vec<usize>),
    /// This component of the free acceleration is not finite.
    NotFinite(usize),
    /// More contacts than are tried.
    TooMany,
    Interrupted,
}

/// Decides which of `candidates`, gaps that are zero and do not open, stay closed at `(t, q, v)`.
pub(crate) fn settle<S>(
    bodies: &Bodies<S>,
    (t, q, v): (f64, &[f64], &[f64]),
    candidates: &[usize],
    (redundant, rate_tolerance): (Redundant, f64),
    interrupt: &Interrupt,
) -> Settled
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    let (d, m) = (v.len(), candidates.len());
    if m == 0 {
        return Settled::Closed(Vec::new());
    }
    with_zeros(bodies.frame_size(m) + d + m, |scratch| {
        let (own, scratch) = scratch.split_at_mut(d + m);
        let (free, gaps) = own.split_at_mut(d);
        if bodies.system.contact_effort((t, q, v), &[], free) {
            return try_all(bodies, (t, q, v), candidates, redundant, interrupt);
        }
        let mut frame = match bodies.frame(q, candidates, scratch) {
            Ok(frame) => frame,
            Err(trouble) => return Settled::Trouble(trouble, candidates.to_vec()),
        };
        frame.free_acceleration(&bodies.system, (t, q, v), &[], free);
        if let Some(component) = free.iter().position(|a| !a.is_finite()) {
            return Settled::NotFinite(component);
        }
        frame.gap_acceleration(&bodies.system, (q, v), free, gaps);
        let small = frame.least_acceleration(SMALL, rate_tolerance);
        let noise = frame.noise();
        let ahead = |forces: &[f64]| {
            for (i, &force) in forces.iter().enumerate() {
                frame.push(i, force, free);
            }
            a_moment_later(bodies, (t, q, v), free, (candidates, rate_tolerance))
        };
        let by_rows = |set: &[usize], force: &mut [f64]| {
            let mut factor = vec![0.0; set.len() * set.len()];
            frame.push_by_rows(set.iter().copied(), force, &mut factor)
        };
        match choose(
            frame.gram,
            gaps,
            (small, noise),
            redundant,
            (ahead, by_rows),
            interrupt,
        ) {
            Settled::Trouble(trouble, set) => {
                let set = set.into_iter().map(|i| candidates[i]).collect();
                Settled::Trouble(trouble, set)
            }
            other => other,
        }
    })
}

/// The Gram matrix, the free accelerations of the gaps and their rounding, at `t + step` with the
/// accelerations `a`.
fn a_moment_later<S>(
    bodies: &Bodies<S>,
    (t, q, v): (f64, &[f64], &[f64]),
    a: &[f64],
    (candidates, rate_tolerance): (&[usize], f64),
) -> Option<(Vec<f64>, Vec<f64>, f64)>
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
    let (q, v) = (moved(q, &rate), moved(v, a));
    let (mut free, mut gaps) = (vec![0.0; d], vec![0.0; m]);
    with_zeros(bodies.frame_size(m), |scratch| {
        let mut frame = bodies.frame(&q, candidates, scratch).ok()?;
        frame.free_acceleration(&bodies.system, (t + step, &q, &v), &[], &mut free);
        frame.gap_acceleration(&bodies.system, (&q, &v), &free, &mut gaps);
        let rounding = 0.1 * frame.least_acceleration(0.0, rate_tolerance);
        Some((frame.gram.to_vec(), gaps, rounding))
    })
}

/// Solves `0 ≤ λ ⊥ G λ + b ≥ 0`. Values up to `small`, in units of rows, count as zero; `b` may lie
/// outside the range of `G` by `noise`. `G` is positive semidefinite, so accelerations are unique.
///
/// Degenerate contacts (zero force, zero acceleration) are decided by the problem at `t + step`,
/// which `ahead` gives for the forces. A contact that is degenerate there too stays closed.
/// `by_rows` replaces the load of a set by forces as exact as the rows; true where these push.
fn choose(
    gram: &[f64],
    b: &[f64],
    (small, noise): (f64, f64),
    redundant: Redundant,
    (ahead, by_rows): (
        impl FnOnce(&[f64]) -> Option<(Vec<f64>, Vec<f64>, f64)>,
        impl Fn(&[usize], &mut [f64]) -> bool,
    ),
    interrupt: &Interrupt,
) -> Settled {
    let m = b.len();
    // A row of zeros is dependent on any others.
    let dead: Vec<usize> = (0..m).filter(|&i| gram[i * m + i] == 0.0).collect();
    if !dead.is_empty() {
        return Settled::Trouble(Trouble::Dependent(0.0), dead);
    }
    let unit = |i: usize| gram[i * m + i].sqrt();
    let (z, w) = match forces(gram, b, noise, interrupt) {
        Ok(found) => found,
        Err(lcp::Failure::Interrupted) => return Settled::Interrupted,
        Err(_) => {
            // A semidefinite problem of accelerations has a solution. The solver fails only where
            // contacts are almost dependent.
            let rcond = factor(&mut gram.to_vec(), m).unwrap_or(0.0);
            if rcond < ALMOST_DEPENDENT {
                return Settled::Trouble(Trouble::Dependent(rcond), (0..m).collect());
            }
            return Settled::Nobody;
        }
    };
    let is_small = |value: f64| value <= small;
    // The contacts that do not open: w = 0 where λ > 0.
    let mut set: Vec<usize> = (0..m).filter(|&i| is_small(w[i] / unit(i))).collect();
    if set.iter().any(|&i| is_small(z[i] * unit(i))) {
        let later = ahead(&z).map_or_else(Vec::new, |(gram, b, rounding)| {
            opening(&gram, &b, (rounding, noise), interrupt)
        });
        if interrupt.is_set() {
            return Settled::Interrupted;
        }
        set.retain(|i| !(is_small(z[*i] * unit(*i)) && later.contains(i)));
    }
    let marks = |set: &[usize]| (0..m).map(|i| set.contains(&i)).collect();
    let rcond = factor(&mut part(gram, m, &set), set.len()).unwrap_or(0.0);
    let least = match redundant {
        Redundant::Refuse => NEARLY_DEPENDENT,
        Redundant::LeastSquares => DEPENDENT,
    };
    if rcond > least {
        return Settled::Closed(marks(&set));
    }
    if redundant == Redundant::Refuse {
        return Settled::Trouble(Trouble::Dependent(rcond), set);
    }
    // Contacts stay closed whose forces of least norm push; if that fails, those of a basis of the
    // solution.
    while !set.is_empty() {
        if interrupt.is_set() {
            return Settled::Interrupted;
        }
        let size = set.len();
        let mut force: Vec<f64> = set.iter().map(|&i| -b[i]).collect();
        let mut scratch = vec![0.0; least_norm_size(size)];
        least_norm(&part(gram, m, &set), size, &mut force, &mut scratch);
        // Rows that are dependent only to the rounding of the Gram matrix, as the sides of a very
        // sharp wedge, hold a load that those of lower rank do not: with these the body would sink
        // into the surfaces.
        let is_held = |i: &usize| {
            let pushed = set.iter().zip(&force).map(|(&k, f)| gram[*i * m + k] * f);
            (b[*i] + pushed.sum::<f64>()).abs() <= noise.max(small) * unit(*i)
        };
        if !set.iter().all(is_held) {
            let mut force: Vec<f64> = set.iter().map(|&i| -b[i]).collect();
            if by_rows(&set, &mut force) {
                return Settled::Closed(marks(&set));
            }
            return Settled::Trouble(Trouble::Dependent(rcond), set);
        }
        let pull = |k: &usize| force[*k] * unit(set[*k]);
        let Some(worst) = (0..size).min_by(|a, b| pull(a).total_cmp(&pull(b))) else {
            break;
        };
        if pull(&worst) >= -small {
            // Contacts that would have to pull were left out; the others must be consistent without
            // them.
            let opens = |i: usize| {
                let pushed = set.iter().zip(&force).map(|(&k, f)| gram[i * m + k] * f);
                b[i] + pushed.sum::<f64>()
            };
            if (0..m).all(|i| opens(i) >= -small * unit(i)) {
                return Settled::Closed(marks(&set));
            }
            break;
        }
        set.remove(worst);
    }
    let pushed: Vec<usize> = (0..m).filter(|&i| z[i] > 0.0).collect();
    Settled::Closed(marks(&pushed))
}

/// The contacts that open in the solution of `0 ≤ λ ⊥ G λ + b ≥ 0` by more than rounding.
fn opening(
    gram: &[f64],
    b: &[f64],
    (rounding, noise): (f64, f64),
    interrupt: &Interrupt,
) -> Vec<usize> {
    let m = b.len();
    let unit = |i: usize| gram[i * m + i].sqrt();
    match forces(gram, b, noise, interrupt) {
        Ok((_, w)) => (0..m).filter(|&i| w[i] > rounding * unit(i)).collect(),
        Err(_) => Vec::new(),
    }
}

/// The solution `λ` of `0 ≤ λ ⊥ G λ + b ≥ 0`, and `G λ + b`. Entries within the rounding of their
/// terms are set to zero; terms are large and cancel where forces are large (wedges, heavy bodies
/// on light ones).
fn forces(
    gram: &[f64],
    b: &[f64],
    noise: f64,
    interrupt: &Interrupt,
) -> Result<(Vec<f64>, Vec<f64>), lcp::Failure> {
    let (m, interrupt) = (b.len(), Some(interrupt));
    let force = solve_semidefinite(DMatrixView::from_slice(gram, m, m), b, noise, interrupt)?;
    let opening = (0..m).map(|i| {
        let (mut sum, mut size) = (b[i], b[i].abs());
        for (k, force) in force.iter().enumerate() {
            let term = gram[k * m + i] * force;
            sum += term;
            size += term.abs();
        }
        let rounding = (m + 1) as f64 * f64::EPSILON * size;
        if sum.abs() <= rounding { 0.0 } else { sum }
    });
    let opening = opening.collect();
    Ok((force, opening))
}

/// The rows and columns of `set`.
fn part(gram: &[f64], m: usize, set: &[usize]) -> Vec<f64> {
    let columns = set.iter();
    columns
        .flat_map(|&k| set.iter().map(move |&i| gram[k * m + i]))
        .collect()
}

/// Tries all sets, larger ones first, each with the efforts that belong to it.
fn try_all<S>(
    bodies: &Bodies<S>,
    state: (f64, &[f64], &[f64]),
    candidates: &[usize],
    redundant: Redundant,
    interrupt: &Interrupt,
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
        if interrupt.is_set() {
            return Settled::Interrupted;
        }
        let acceleration = match try_set(bodies, state, (candidates, set), redundant) {
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
                let most = most.fold(0.0, |most: f64, a| most.max(a.abs()));
                let differ = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-8 * most;
                if others.iter().zip(&acceleration).any(differ) {
                    return Settled::Ambiguous;
                }
            }
        }
    }
    match (found, trouble) {
        (Some((set, _)), _) => Settled::Closed((0..m).map(|i| set >> i & 1 == 1).collect()),
        (None, Some((reason, set))) => Settled::Trouble(reason, set),
        (None, None) => Settled::Nobody,
    }
}

/// What the motion with one set of contacts closed says.
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
    (t, q, v): (f64, &[f64], &[f64]),
    (candidates, set): (&[usize], u32),
    redundant: Redundant,
) -> Tried
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    let (d, m) = (v.len(), candidates.len());
    let closes = |i: usize| set >> i & 1 == 1;
    let chosen = (0..m).filter(|&i| closes(i)).map(|i| candidates[i]);
    let chosen: Vec<usize> = chosen.collect();
    let (mut acceleration, mut forces) = (vec![0.0; d], vec![0.0; chosen.len()]);
    let moved = with_zeros(bodies.frame_size(chosen.len()), |scratch| {
        let mut frame = bodies.frame(q, &chosen, scratch)?;
        accelerate(
            &bodies.system,
            &mut frame,
            (t, q, v),
            &mut acceleration,
            &mut forces,
            redundant,
        )
    });
    if let Err(reason) = moved {
        return Tried::Without(reason, chosen);
    }
    if let Some(component) = acceleration.iter().position(|a| !a.is_finite()) {
        return Tried::Ends(Settled::NotFinite(component));
    }
    let opening = with_zeros(bodies.frame_size(m), |scratch| {
        let mut frame = bodies.frame(q, candidates, scratch)?;
        let mut gaps = vec![0.0; m];
        frame.gap_acceleration(&bodies.system, (q, v), &acceleration, &mut gaps);
        let units: Vec<f64> = (0..m).map(|i| frame.gram[i * m + i].sqrt()).collect();
        Ok((gaps, units, frame.size))
    });
    let (gaps, units, size) = match opening {
        Ok(opening) => opening,
        Err(reason) => return Tried::Ends(Settled::Trouble(reason, candidates.to_vec())),
    };
    let open = || (0..m).filter(|&i| !closes(i));
    let pushing = || (0..m).filter(|&i| closes(i)).zip(&forces);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn largest(b: &[f64]) -> f64 {
        b.iter().fold(0.0, |most, b| b.abs().max(most))
    }

    fn chosen(gram: &[f64], b: &[f64]) -> Settled {
        choose(
            gram,
            b,
            (SMALL * largest(b), 0.0),
            Redundant::Refuse,
            (|_: &[f64]| None, |_: &[usize], _: &mut [f64]| false),
            &Interrupt::new(),
        )
    }

    #[test]
    fn contacts_that_pull_open_and_those_that_push_stay() {
        // Gravity on both, but the second is lifted by a lever on the first.
        let gram = [1.0, 0.0, 0.0, 1.0];
        assert_eq!(
            chosen(&gram, &[-9.81, -9.81]),
            Settled::Closed(vec![true, true])
        );
        assert_eq!(
            chosen(&gram, &[-9.81, 1.0]),
            Settled::Closed(vec![true, false])
        );
        let lever = [1.25, 0.75, 0.75, 1.25];
        assert_eq!(
            chosen(&lever, &[-1.0, -0.5]),
            Settled::Closed(vec![true, false])
        );
        // Neither force nor acceleration: closed.
        assert_eq!(
            chosen(&lever, &[0.0, 0.0]),
            Settled::Closed(vec![true, true])
        );
        assert_eq!(
            chosen(&lever, &[-1.0, -0.6]),
            Settled::Closed(vec![true, true])
        );
    }

    #[test]
    fn no_problem_is_solved_after_an_interrupt() {
        let interrupt = Interrupt::new();
        interrupt.set();
        // The second does not push: the solver pivots.
        let settled = choose(
            &[1.25, 0.75, 0.75, 1.25],
            &[-1.0, -0.5],
            (SMALL, 0.0),
            Redundant::Refuse,
            (|_: &[f64]| None, |_: &[usize], _: &mut [f64]| false),
            &interrupt,
        );
        assert_eq!(settled, Settled::Interrupted);
    }

    #[test]
    fn redundant_contacts_are_refused_or_share_the_load() {
        let (same, b) = ([1.0; 4], [-1.0, -1.0]);
        assert!(matches!(
            chosen(&same, &b),
            Settled::Trouble(Trouble::Dependent(_), set) if set == [0, 1]
        ));
        let shared = choose(
            &same,
            &b,
            (SMALL, 0.0),
            Redundant::LeastSquares,
            (|_: &[f64]| None, |_: &[usize], _: &mut [f64]| false),
            &Interrupt::new(),
        );
        assert_eq!(shared, Settled::Closed(vec![true, true]));
    }

    #[test]
    fn of_a_table_with_its_load_near_one_leg_those_stay_that_push() {
        // Rows (1, y, −x) at the corners (±1, ±1), and a load at (0.7, 0.7): the leg at (−1, −1)
        // would pull.
        let corners = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
        let mut gram = [0.0; 16];
        for (i, a) in corners.iter().enumerate() {
            for (k, b) in corners.iter().enumerate() {
                gram[4 * i + k] = 1.0 + a.0 * b.0 + a.1 * b.1;
            }
        }
        let load = |x: f64, y: f64| corners.map(|c| -(1.0 + c.0 * x + c.1 * y));
        let all = choose(
            &gram,
            &load(0.2, 0.1),
            (SMALL, 0.0),
            Redundant::LeastSquares,
            (|_: &[f64]| None, |_: &[usize], _: &mut [f64]| false),
            &Interrupt::new(),
        );
        assert_eq!(all, Settled::Closed(vec![true; 4]));
        let three = choose(
            &gram,
            &load(0.7, 0.7),
            (SMALL, 0.0),
            Redundant::LeastSquares,
            (|_: &[f64]| None, |_: &[usize], _: &mut [f64]| false),
            &Interrupt::new(),
        );
        assert_eq!(three, Settled::Closed(vec![true, true, false, true]));
        // Beyond the edge it tips over two legs.
        let two = choose(
            &gram,
            &load(1.5, 0.0),
            (SMALL, 0.0),
            Redundant::LeastSquares,
            (|_: &[f64]| None, |_: &[usize], _: &mut [f64]| false),
            &Interrupt::new(),
        );
        assert_eq!(two, Settled::Closed(vec![true, false, false, true]));
    }
}
