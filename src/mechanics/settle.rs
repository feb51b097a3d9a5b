//! Which contacts that touch and do not part stay closed: the acceleration complementarity problem
//! `0 ≤ λ ⊥ Da q̈ + κ ≥ 0` (spec `unilateral_mechanics` 3; Pace & Burden leave it open).

use super::dynamics::{Frame, Trouble, frame_size};
use super::scratch::with_zeros;
use super::{MechanicalSystem, UnilateralConstraints};

/// Up to this many contacts all sets are tried.
const TRY_ALL: usize = 12;

/// How the contacts settle.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Settled {
    /// These stay closed, as marks on the candidates.
    Closed(Vec<bool>),
    /// No set is consistent.
    Nobody,
    /// Two sets are, with different accelerations.
    Ambiguous,
    /// The accelerations cannot be computed.
    Trouble(Trouble),
    /// More contacts than are tried.
    TooMany,
}

/// Decides which of `candidates`, gaps that are zero and do not open, stay closed at `(t, q, v)`.
pub(super) fn settle<S>(
    system: &S,
    (t, q, v): (f64, &[f64], &[f64]),
    candidates: &[usize],
) -> Settled
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let (d, m) = (q.len(), candidates.len());
    if m == 0 {
        return Settled::Closed(Vec::new());
    }
    if m > TRY_ALL {
        return Settled::TooMany;
    }
    with_zeros(frame_size(d, m) + d + m, |scratch| {
        let (own, scratch) = scratch.split_at_mut(d + m);
        let (free, gaps) = own.split_at_mut(d);
        let mut frame = match Frame::new(system, q, candidates, scratch) {
            Ok(frame) => frame,
            Err(trouble) => return Settled::Trouble(trouble),
        };
        frame.free_acceleration(system, (t, q, v), free);
        frame.gap_acceleration(system, (q, v), free, gaps);
        choose(frame.gram, gaps)
    })
}

/// Solves `0 ≤ λ ⊥ G λ + b ≥ 0` over sets, larger ones first, so that a contact without force stays closed.
fn choose(gram: &[f64], b: &[f64]) -> Settled {
    let m = b.len();
    let scale = b
        .iter()
        .fold(f64::MIN_POSITIVE, |most, b| most.max(b.abs()));
    let mut sets: Vec<u32> = (0..1u32 << m).collect();
    sets.sort_by_key(|set| std::cmp::Reverse(set.count_ones()));
    let mut found: Option<(u32, Vec<f64>)> = None;
    for set in sets {
        let chosen: Vec<usize> = (0..m).filter(|i| set >> i & 1 == 1).collect();
        let size = chosen.len();
        let mut part: Vec<f64> = Vec::with_capacity(size * size);
        for &i in &chosen {
            part.extend(chosen.iter().map(|&k| gram[i * m + k]));
        }
        let Some(rcond) = super::cholesky::factor(&mut part, size) else {
            continue;
        };
        if rcond < super::dynamics::DEPENDENT {
            continue;
        }
        let mut force: Vec<f64> = chosen.iter().map(|&i| -b[i]).collect();
        super::cholesky::solve(&part, size, &mut force);
        let opens: Vec<f64> = (0..m)
            .map(|i| {
                let pushed = chosen.iter().zip(&force).map(|(&k, f)| gram[i * m + k] * f);
                b[i] + pushed.sum::<f64>()
            })
            .collect();
        let pushes = chosen
            .iter()
            .zip(&force)
            .all(|(&i, f)| f * gram[i * m + i] >= -1e-10 * scale);
        let parts = (0..m).all(|i| set >> i & 1 == 1 || opens[i] >= -1e-10 * scale);
        if !(pushes && parts) {
            continue;
        }
        match &found {
            None => found = Some((set, opens)),
            Some((_, others)) => {
                let differ = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-8 * scale;
                if others.iter().zip(&opens).any(differ) {
                    return Settled::Ambiguous;
                }
            }
        }
    }
    match found {
        Some((set, _)) => Settled::Closed((0..m).map(|i| set >> i & 1 == 1).collect()),
        None => Settled::Nobody,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_that_pull_open_and_those_that_push_stay() {
        // Gravity on both, but the second is lifted by a lever on the first.
        let gram = [1.0, 0.0, 0.0, 1.0];
        assert_eq!(
            choose(&gram, &[-9.81, -9.81]),
            Settled::Closed(vec![true, true])
        );
        assert_eq!(
            choose(&gram, &[-9.81, 1.0]),
            Settled::Closed(vec![true, false])
        );
        let lever = [1.25, 0.75, 0.75, 1.25];
        assert_eq!(
            choose(&lever, &[-1.0, -0.5]),
            Settled::Closed(vec![true, false])
        );
        assert_eq!(
            choose(&lever, &[0.0, 0.0]),
            Settled::Closed(vec![true, true])
        );
    }

    #[test]
    fn redundant_contacts_settle_on_an_independent_set() {
        let Settled::Closed(closed) = choose(&[1.0, 1.0, 1.0, 1.0], &[-1.0, -1.0]) else {
            panic!("two contacts at one point rest");
        };
        assert_eq!(closed.iter().filter(|&&c| c).count(), 1);
    }
}
