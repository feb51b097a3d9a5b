//! Sets of contacts of which none changes the speeds of another, as those of bodies far apart: each has a
//! contact problem of its own, and the outcomes of all are those of each.

use nalgebra::{DMatrix, DVector};

use crate::impact::{Contacting, ImpactFailure, ImpactProblem, Order, Outcome, Outcomes, Remark};

/// Limit of the outcomes that are listed: of more, each part has its first.
const MOST_OUTCOMES: usize = 1024;

/// The coupled sets of `contacts` with `tangents` each, by `G = J M⁻¹ Jᵀ` with normals first: each in
/// rising order, by their first contacts.
pub(crate) fn coupled_parts(gram: &[f64], contacts: usize, tangents: usize) -> Vec<Vec<usize>> {
    let rows = contacts * (1 + tangents);
    let contact = |row: usize| match row.checked_sub(contacts) {
        None => row,
        Some(tangent) => tangent / tangents.max(1),
    };
    // The first contact of the set that each is known to belong to.
    let mut first: Vec<usize> = (0..contacts).collect();
    for (place, &coupling) in gram.iter().enumerate() {
        let (i, j) = (contact(place / rows.max(1)), contact(place % rows.max(1)));
        if coupling != 0.0 && first[i] != first[j] {
            let (low, high) = (first[i].min(first[j]), first[i].max(first[j]));
            for of in &mut first {
                *of = if *of == high { low } else { *of };
            }
        }
    }
    let heads = (0..contacts).filter(|&i| first[i] == i);
    heads
        .map(|head| (0..contacts).filter(|&i| first[i] == head).collect())
        .collect()
}

/// Rows of a part among those of all contacts: normals, then tangents.
fn rows_of(part: &[usize], contacts: usize, tangents: usize) -> Vec<usize> {
    let along = |&i: &usize| contacts + i * tangents..contacts + (i + 1) * tangents;
    part.iter()
        .copied()
        .chain(part.iter().flat_map(along))
        .collect()
}

/// Writes the outcomes of a problem from those of its coupled parts, which `resolve` finds for the speeds
/// of the rows; false where there is only one part.
pub(crate) fn resolve_parts(
    problem: &ImpactProblem,
    speeds: &[f64],
    outcomes: &mut Outcomes,
    mut resolve: impl FnMut(&ImpactProblem, &[f64], &mut Outcomes) -> Result<(), ImpactFailure>,
) -> Result<bool, ImpactFailure> {
    let (m, t) = (problem.contacts(), problem.tangents());
    let gram = problem.delassus();
    let parts = coupled_parts(gram.as_slice(), m, t);
    if parts.len() < 2 {
        return Ok(false);
    }
    let (mut list, mut is_complete) = (vec![Joined::new(problem)], true);
    for part in &parts {
        let rows = rows_of(part, m, t);
        let friction = part.iter().map(|&i| problem.friction()[i]).collect();
        let own = DMatrix::from_fn(rows.len(), rows.len(), |i, j| gram[(rows[i], rows[j])]);
        let of_rows = DVector::from_fn(rows.len(), |i, _| speeds[rows[i]]);
        let norm = problem.kinetic_norm();
        let mut alone = ImpactProblem::of_motion(own, of_rows.clone(), friction, norm)?;
        if let Some(interrupt) = problem.interrupt() {
            alone = alone.with_interrupt(interrupt);
        }
        let mut found = Outcomes::default();
        resolve(&alone, of_rows.as_slice(), &mut found)
            .map_err(|failure| numbered(failure, problem, part))?;
        is_complete &= found.is_complete;
        if list.len() * found.list.len() > MOST_OUTCOMES {
            is_complete = false;
            found.list.truncate(1);
        }
        let (rows, found) = (&rows, &found.list);
        let with_each = |of: Joined| found.iter().map(move |one| of.with(part, rows, one));
        list = list.into_iter().flat_map(with_each).collect();
    }
    let list: Result<Vec<_>, _> = list.into_iter().map(|of| of.outcome(problem)).collect();
    *outcomes = Outcomes::of(list?, is_complete, 0);
    Ok(true)
}

/// A failure of a part with the number and the speed of its contact among all.
fn numbered(failure: ImpactFailure, problem: &ImpactProblem, part: &[usize]) -> ImpactFailure {
    match failure {
        ImpactFailure::Jammed { contact, .. } if contact < part.len() => ImpactFailure::Jammed {
            contact: part[contact],
            speed: problem.speeds()[part[contact]],
        },
        other => other,
    }
}

/// An outcome of the parts so far.
struct Joined {
    impulses: DVector<f64>,
    modes: Vec<Contacting>,
    /// All of these parts say their modes.
    are_modes_known: bool,
    /// That contacts of one of them share its impulses in several ways, or have few directions of friction.
    remarks: Vec<Remark>,
}

impl Joined {
    fn new(problem: &ImpactProblem) -> Self {
        Self {
            impulses: DVector::zeros(problem.speeds().len()),
            modes: vec![Contacting::Open; problem.contacts()],
            are_modes_known: true,
            remarks: Vec::new(),
        }
    }

    fn with(&self, part: &[usize], rows: &[usize], outcome: &Outcome) -> Self {
        let mut joined = Self {
            impulses: self.impulses.clone(),
            modes: self.modes.clone(),
            are_modes_known: self.are_modes_known,
            remarks: self.remarks.clone(),
        };
        for remark in [Remark::SharedImpulses, Remark::FewDirections] {
            if outcome.remarks.contains(&remark) && !joined.remarks.contains(&remark) {
                joined.remarks.push(remark);
            }
        }
        for (&row, p) in rows.iter().zip(&outcome.impulses) {
            joined.impulses[row] = *p;
        }
        if let Order::Modes(modes) = &outcome.order {
            for (&i, mode) in part.iter().zip(modes) {
                joined.modes[i] = *mode;
            }
        } else {
            joined.are_modes_known = false;
        }
        joined
    }

    fn outcome(self, problem: &ImpactProblem) -> Result<Outcome, ImpactFailure> {
        let order = if self.are_modes_known {
            Order::Modes(self.modes)
        } else {
            Order::Together
        };
        Outcome::of_impulses(problem, self.impulses, order, self.remarks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_coupled_by_a_chain_is_one_part() {
        // Contacts 0–3 by a tangent and a normal, 3–1 by normals; 2 alone; one tangent each.
        let mut gram = DMatrix::<f64>::identity(8, 8);
        for (i, j) in [(4, 3), (3, 1)] {
            (gram[(i, j)], gram[(j, i)]) = (0.1, 0.1);
        }
        let parts = coupled_parts(gram.as_slice(), 4, 1);
        assert_eq!(parts, [vec![0, 1, 3], vec![2]]);
        assert_eq!(rows_of(&parts[0], 4, 1), [0, 1, 3, 4, 5, 7]);
        assert!(coupled_parts(&[], 0, 1).is_empty());
    }
}
