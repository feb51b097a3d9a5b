//! The acceleration complementarity problem of contacts whose efforts do not depend on which of them
//! are closed: which of them push, which part, and which of those that share a load stay closed.
//!
//! Pace & Burden say when single contacts close and open (equations 7 and 8) and leave open which of
//! several stay closed after an event. This problem decides it.

use nalgebra::DMatrixView;

use crate::Interrupt;
use crate::lcp::{self, LcpSolver, solve_semidefinite};
use crate::linalg::cholesky::{factor, factor_row};
use crate::linalg::least_norm::{DEPENDENT, least_norm, least_norm_size};
use crate::linalg::scratch::with_zeros;
use crate::mechanics::motion::constants::Trouble;
use crate::mechanics::motion::policies::Redundant;

/// If the solver fails and the reciprocal condition number is below this, dependent contacts are
/// reported as the reason.
const ALMOST_DEPENDENT: f64 = 1e-8;
/// If unique forces are required, contacts with a smaller reciprocal condition number are
/// refused: rounding changes their forces by more than 1e-5 of their size. It is above
/// [`DEPENDENT`], so that contacts accepted here stay acceptable while they move.
const NEARLY_DEPENDENT: f64 = 1e-11;
/// Accelerations and forces within this part of their size are zero.
pub(super) const SMALL: f64 = 1e-10;

/// Rules by which it is decided which contacts stay closed.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    /// The policy for contacts that depend on each other.
    pub(crate) redundant: Redundant,
    pub(crate) rate_tolerance: f64,
    pub(crate) interrupt: &'a Interrupt,
}

/// The solution of the mode problem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Settled {
    /// It is marked which of the candidates stay closed.
    Closed,
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

/// The problem `0 ≤ λ ⊥ G λ + b ≥ 0` of forces and accelerations. `G` is positive semidefinite, so
/// accelerations are unique. There are some, unless surfaces that move by themselves squeeze a body:
/// else `b` is in the range of `G`.
#[derive(Clone, Copy)]
pub(super) struct Complementarity<'a> {
    /// `G`.
    pub(super) gram: &'a [f64],
    pub(super) b: &'a [f64],
    /// Values up to this, in units of rows, count as zero.
    pub(super) small: f64,
    /// `b` may lie outside the range of `G` by so much.
    pub(super) noise: f64,
    /// Or by any more, since some velocities are driven.
    pub(super) is_driven: bool,
}

/// The problem of the same contacts a moment later.
pub(super) struct Later {
    /// `G`.
    pub(super) gram: Vec<f64>,
    pub(super) b: Vec<f64>,
    /// Rounding of `b`, in units of rows.
    pub(super) rounding: f64,
}

/// Solves a problem: which contacts stay closed.
///
/// Degenerate contacts (zero force, zero acceleration) are decided by the problem at `t + step`,
/// which `ahead` gives for the forces. A contact that is degenerate there too stays closed.
/// `by_rows` replaces the load of a set by forces as exact as the rows; true where these push.
pub(super) fn choose(
    problem: Complementarity<'_>,
    rules: Rules<'_>,
    ahead: impl FnOnce(&[f64]) -> Option<Later>,
    by_rows: impl Fn(&[usize], &mut [f64]) -> bool,
    solver: &mut LcpSolver,
    closed: &mut [bool],
) -> Settled {
    let (gram, small, m) = (problem.gram, problem.small, problem.b.len());
    // A row of zeros is dependent on any others.
    if (0..m).any(|i| gram[i * m + i] == 0.0) {
        let dead = (0..m).filter(|&i| gram[i * m + i] == 0.0).collect();
        return Settled::Trouble(Trouble::Dependent(0.0), dead);
    }
    with_zeros(2 * m, |space| {
        let (z, w) = space.split_at_mut(m);
        // λ and the accelerations of the gaps w = G λ + b.
        match forces(problem, rules.interrupt, solver, z, w) {
            Ok(()) => {}
            Err(lcp::LcpFailure::Interrupted) => return Settled::Interrupted,
            Err(lcp::LcpFailure::Ray { infeasible: true }) if problem.is_driven => {
                return Settled::Nobody;
            }
            Err(_) => {
                // A semidefinite problem of accelerations has a solution. The solver fails only where
                // contacts are almost dependent.
                let rcond = factor(&mut gram.to_vec(), m).unwrap_or(0.0);
                if rcond < ALMOST_DEPENDENT {
                    return Settled::Trouble(Trouble::Dependent(rcond), (0..m).collect());
                }
                return Settled::Nobody;
            }
        }
        let unit = |i: usize| gram[i * m + i].sqrt();
        let is_small = |value: f64| value <= small;
        // The contacts that do not open: w = 0 where λ > 0.
        for (i, closed) in closed.iter_mut().enumerate() {
            *closed = is_small(w[i] / unit(i));
        }
        let idles = |i: usize| is_small(z[i] * unit(i));
        // λ = w = 0 for some: the next moment decides, with the forces found here.
        if (0..m).any(|i| closed[i] && idles(i)) {
            let later = ahead(z).map_or_else(Vec::new, |later| {
                let later = Complementarity {
                    gram: &later.gram,
                    b: &later.b,
                    small: later.rounding,
                    noise: problem.noise,
                    is_driven: problem.is_driven,
                };
                opening(later, rules.interrupt, solver)
            });
            if rules.interrupt.is_set() {
                return Settled::Interrupted;
            }
            for i in later.into_iter().filter(|&i| idles(i)) {
                closed[i] = false;
            }
        }
        // Whether the contacts that stay closed have unique forces.
        let rcond = rcond_of_part(gram, closed);
        let least = match rules.redundant {
            Redundant::Refuse => NEARLY_DEPENDENT,
            Redundant::LeastSquares => DEPENDENT,
        };
        if rcond > least {
            return Settled::Closed;
        }
        if rules.redundant == Redundant::Refuse {
            return Settled::Trouble(Trouble::Dependent(rcond), marked(closed));
        }
        match share(problem, &marked(closed), by_rows, rules.interrupt) {
            Shared::Closed(set) => mark(closed, &set),
            Shared::NotHeld(set) => return Settled::Trouble(Trouble::Dependent(rcond), set),
            Shared::Interrupted => return Settled::Interrupted,
            Shared::Nobody => {
                let pushed = (0..m).filter(|&i| z[i] > 0.0).collect();
                let kept = with_independent(gram, m, pushed, &marked(closed));
                mark(closed, &kept);
            }
        }
        Settled::Closed
    })
}

/// The numbers of those that are marked.
fn marked(marks: &[bool]) -> Vec<usize> {
    (0..marks.len()).filter(|&i| marks[i]).collect()
}

/// Marks these and no others.
fn mark(marks: &mut [bool], set: &[usize]) {
    for (i, mark) in marks.iter_mut().enumerate() {
        *mark = set.contains(&i);
    }
}

/// The reciprocal condition number of the rows and columns that are marked; 0 where they are
/// dependent.
fn rcond_of_part(gram: &[f64], marks: &[bool]) -> f64 {
    let (m, size) = (marks.len(), marks.iter().filter(|&&mark| mark).count());
    let marked = || (0..m).filter(|&i| marks[i]);
    with_zeros(size * size, |part| {
        let entries = marked().flat_map(|k| marked().map(move |i| gram[k * m + i]));
        for (part, entry) in part.iter_mut().zip(entries) {
            *part = entry;
        }
        factor(part, size).unwrap_or(0.0)
    })
}

/// Division of a load among contacts whose dependent rows do not determine it.
enum Shared {
    /// These hold it by forces of least norm, and the others do not close.
    Closed(Vec<usize>),
    /// Forces of least norm do not hold these.
    NotHeld(Vec<usize>),
    /// None of the sets that were tried is consistent.
    Nobody,
    Interrupted,
}

/// Leaves out of `set` the contact that pulls most, as long as one does, with forces of least norm.
fn share(
    problem: Complementarity<'_>,
    set: &[usize],
    by_rows: impl Fn(&[usize], &mut [f64]) -> bool,
    interrupt: &Interrupt,
) -> Shared {
    let Complementarity {
        gram,
        b,
        small,
        noise,
        ..
    } = problem;
    let m = b.len();
    let unit = |i: usize| gram[i * m + i].sqrt();
    let mut set = set.to_vec();
    while !set.is_empty() {
        if interrupt.is_set() {
            return Shared::Interrupted;
        }
        let size = set.len();
        // The least forces with G λ = −b on the set: none of its gaps accelerates.
        let mut force: Vec<f64> = set.iter().map(|&i| -b[i]).collect();
        let mut scratch = vec![0.0; least_norm_size(size)];
        least_norm(&part(gram, m, &set), size, &mut force, &mut scratch);
        let opens = |i: usize| {
            let pushed = set.iter().zip(&force).map(|(&k, f)| gram[i * m + k] * f);
            b[i] + pushed.sum::<f64>()
        };
        // Rows that are dependent only to the rounding of the Gram matrix, as the sides of a very
        // sharp wedge, hold a load that those of lower rank do not: with these the body would sink
        // into the surfaces.
        let is_held = |i: &usize| opens(*i).abs() <= noise.max(small) * unit(*i);
        if !set.iter().all(is_held) {
            let mut force: Vec<f64> = set.iter().map(|&i| -b[i]).collect();
            if by_rows(&set, &mut force) {
                return Shared::Closed(set);
            }
            return Shared::NotHeld(set);
        }
        // The most negative force, in the metric of the mass matrix.
        let pull = |k: &usize| force[*k] * unit(set[*k]);
        let Some(worst) = (0..size).min_by(|a, b| pull(a).total_cmp(&pull(b))) else {
            break;
        };
        if pull(&worst) >= -small {
            // Contacts that would have to pull were left out; the others must be consistent without
            // them.
            if (0..m).all(|i| opens(i) >= -small * unit(i)) {
                return Shared::Closed(set);
            }
            break;
        }
        set.remove(worst);
    }
    Shared::Nobody
}

/// The contacts that push in a basic solution, and of the others that stay closed those whose rows
/// are independent of theirs. These change no force, and would else be free to part or to sink in
/// by the noise of an unstable rest; the remaining ones follow from those that are held.
fn with_independent(gram: &[f64], m: usize, pushed: Vec<usize>, set: &[usize]) -> Vec<usize> {
    let others: Vec<usize> = set
        .iter()
        .filter(|i| !pushed.contains(i))
        .copied()
        .collect();
    let (mut kept, mut rows) = (Vec::with_capacity(m), vec![0.0; m * m]);
    let basic = pushed.len();
    for (place, i) in pushed.into_iter().chain(others).enumerate() {
        let k = kept.len();
        for (entry, &other) in rows[k * m..].iter_mut().zip(kept.iter().chain([&i])) {
            *entry = gram[other * m + i];
        }
        let is_definite = factor_row(&mut rows, m, k);
        let pivot = rows[k * m + k] * rows[k * m + k];
        if place < basic || is_definite && pivot > DEPENDENT * gram[i * m + i] {
            kept.push(i);
        }
    }
    kept
}

/// The contacts that open in the solution by more than is small.
fn opening(
    problem: Complementarity<'_>,
    interrupt: &Interrupt,
    solver: &mut LcpSolver,
) -> Vec<usize> {
    let m = problem.b.len();
    let least = |i: usize| problem.small * problem.gram[i * m + i].sqrt();
    let (mut z, mut w) = (vec![0.0; m], vec![0.0; m]);
    match forces(problem, interrupt, solver, &mut z, &mut w) {
        Ok(()) => (0..m).filter(|&i| w[i] > least(i)).collect(),
        Err(_) => Vec::new(),
    }
}

/// Writes the solution `λ`, and `G λ + b`. Entries within the rounding of their terms are set to
/// zero; terms are large and cancel where forces are large (wedges, heavy bodies on light ones).
fn forces(
    problem: Complementarity<'_>,
    interrupt: &Interrupt,
    solver: &mut LcpSolver,
    force: &mut [f64],
    opening: &mut [f64],
) -> Result<(), lcp::LcpFailure> {
    let Complementarity { gram, b, noise, .. } = problem;
    let m = b.len();
    solver.expect(noise, Some(interrupt));
    solve_semidefinite(DMatrixView::from_slice(gram, m, m), b, solver, force)?;
    for (i, opening) in opening.iter_mut().enumerate() {
        let (mut sum, mut size) = (b[i], b[i].abs());
        for (k, force) in force.iter().enumerate() {
            let term = gram[k * m + i] * force;
            sum += term;
            size += term.abs();
        }
        let rounding = (m + 1) as f64 * f64::EPSILON * size;
        *opening = if sum.abs() <= rounding { 0.0 } else { sum };
    }
    Ok(())
}

/// The rows and columns of `set`.
fn part(gram: &[f64], m: usize, set: &[usize]) -> Vec<f64> {
    let columns = set.iter();
    columns
        .flat_map(|&k| set.iter().map(move |&i| gram[k * m + i]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::largest;

    fn chosen(gram: &[f64], b: &[f64]) -> Result<Vec<bool>, Settled> {
        let small = SMALL * largest(b);
        chosen_with(gram, b, small, Redundant::Refuse, &Interrupt::new())
    }

    /// Without loads by rows and a moment later.
    fn chosen_with(
        gram: &[f64],
        b: &[f64],
        small: f64,
        redundant: Redundant,
        interrupt: &Interrupt,
    ) -> Result<Vec<bool>, Settled> {
        let problem = Complementarity {
            gram,
            b,
            small,
            noise: 0.0,
            is_driven: false,
        };
        let rules = Rules {
            redundant,
            rate_tolerance: 0.0,
            interrupt,
        };
        let (mut solver, mut closed) = (LcpSolver::growing(), vec![false; b.len()]);
        let by_rows = |_: &[usize], _: &mut [f64]| false;
        match choose(problem, rules, |_| None, by_rows, &mut solver, &mut closed) {
            Settled::Closed => Ok(closed),
            other => Err(other),
        }
    }

    fn shared(gram: &[f64], b: &[f64]) -> Result<Vec<bool>, Settled> {
        let redundant = Redundant::LeastSquares;
        chosen_with(gram, b, SMALL, redundant, &Interrupt::new())
    }

    #[test]
    fn contacts_that_pull_open_and_those_that_push_stay() {
        // Gravity on both, but the second is lifted by a lever on the first.
        let gram = [1.0, 0.0, 0.0, 1.0];
        assert_eq!(chosen(&gram, &[-9.81, -9.81]), Ok(vec![true, true]));
        assert_eq!(chosen(&gram, &[-9.81, 1.0]), Ok(vec![true, false]));
        let lever = [1.25, 0.75, 0.75, 1.25];
        assert_eq!(chosen(&lever, &[-1.0, -0.5]), Ok(vec![true, false]));
        // Neither force nor acceleration: closed.
        assert_eq!(chosen(&lever, &[0.0, 0.0]), Ok(vec![true, true]));
        assert_eq!(chosen(&lever, &[-1.0, -0.6]), Ok(vec![true, true]));
    }

    #[test]
    fn no_problem_is_solved_after_an_interrupt() {
        let interrupt = Interrupt::new();
        interrupt.set();
        // The second does not push: the solver pivots.
        let (lever, b) = ([1.25, 0.75, 0.75, 1.25], [-1.0, -0.5]);
        let settled = chosen_with(&lever, &b, SMALL, Redundant::Refuse, &interrupt);
        assert_eq!(settled, Err(Settled::Interrupted));
    }

    #[test]
    fn redundant_contacts_are_refused_or_share_the_load() {
        let (same, b) = ([1.0; 4], [-1.0, -1.0]);
        assert!(matches!(
            chosen(&same, &b),
            Err(Settled::Trouble(Trouble::Dependent(_), set)) if set == [0, 1]
        ));
        let both = shared(&same, &b);
        assert_eq!(both, Ok(vec![true, true]));
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
        let all = shared(&gram, &load(0.2, 0.1));
        assert_eq!(all, Ok(vec![true; 4]));
        let three = shared(&gram, &load(0.7, 0.7));
        assert_eq!(three, Ok(vec![true, true, false, true]));
        // Beyond the edge it tips over two legs.
        let two = shared(&gram, &load(1.5, 0.0));
        assert_eq!(two, Ok(vec![true, false, false, true]));
    }
}
