//! Guard reset matrix: which guards a crossing makes watchful again (the "future work" of Anderson
//! & Revzen, section 3.1).

use crate::model::Watch;
use crate::{Direction, Guard, InputError, validate};

/// Limit of the conflicts of a matrix that are listed.
const MOST_CONFLICTS: usize = 1_000_000;

/// The rule of re-arming: which guards may be crossed again, and when.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Rearm {
    /// Each guard at most once: the pure event-selected system.
    Never,
    /// A crossing arms the same event function in the other direction: contacts, and the default.
    #[default]
    Pairs,
    /// When no guard is armed at the end of a smooth step, all off their surface are armed: what
    /// the paper does. With many contacts an opening before the last closing is missed, and where sides then change the
    /// mode depends on where steps end ([`Doubt::Rearmed`](crate::Doubt::Rearmed)); prefer `Pairs`.
    WhenEmpty,
    /// By a guard reset matrix, and by nothing else: one that is to hold pairs too starts from
    /// [`RearmMatrix::pairs`].
    Matrix(RearmMatrix),
}

impl Rearm {
    /// True when a crossing in `direction` is looked for, also one that does not count, where no
    /// row of a matrix has armed or retired it.
    pub(crate) fn follows(&self, watch: Watch, direction: Direction) -> bool {
        watch.sees(direction) || (matches!(self, Self::Pairs) && watch.is_any())
    }
}

/// State of the search for the crossing of an event function in the direction ahead of its side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Arming {
    /// It is not looked for.
    #[default]
    Off,
    /// It is looked for as soon as the state has been off the surface, or its rate leads off it.
    Waiting,
    /// It is looked for.
    Ready,
}

impl Arming {
    /// Of an armed guard.
    #[inline]
    pub(crate) fn armed(is_ready: bool) -> Self {
        if is_ready { Self::Ready } else { Self::Waiting }
    }

    /// True for an armed guard, be it ready or not.
    #[inline]
    pub(crate) fn is_armed(self) -> bool {
        self != Self::Off
    }

    /// True for a guard that may be crossed.
    #[inline]
    pub(crate) fn is_ready(self) -> bool {
        self == Self::Ready
    }
}

/// The sparse guard reset matrix `R` over directed guards, entries in {−1, 0, +1}, zero diagonal.
///
/// When guard `j` fires, row `j` is applied once, before the next guard is chosen:
///
/// * `arm` (+1): guard `k` is put before its surface (its side bit is set so) and watched. The
///   state must not lie beyond the surface, else [`Stop::ArmedBeyond`](crate::Stop::ArmedBeyond).
/// * `retire` (−1): guard `k` counts as crossed (its side bit is set so) and is no longer watched.
/// * nothing (0): guard `k` is left as it is.
///
/// A guard is watched as long as it is armed and its side bit is on the side before it. At the
/// start the guards are armed that the state is to cross in a watched direction
/// ([`Watch`](crate::Watch)).
///
/// A thermostat with hysteresis, whose heater is off from 22 °C rising until 20 °C falling; its
/// event functions are watched `RISING` and `FALLING`, so that bit 0 is a memory (see
/// [`models::Thermostat`](crate::models::Thermostat)):
///
/// ```
/// use saltation::{Guard, Rearm, RearmMatrix};
/// let (hot, cold) = (Guard::rising(0), Guard::falling(1));
/// let rows = RearmMatrix::new(2).arm(hot, cold)?.arm(cold, hot)?;
/// assert!(rows.conflicts().is_empty());
/// let policy = Rearm::Matrix(rows);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RearmMatrix {
    count: usize,
    /// Row of each directed guard, by [`Guard::index`].
    rows: Vec<Vec<(Guard, Effect)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Arm,
    Retire,
}

/// Two rows of a guard reset matrix that do not commute: one arms and the other retires the same
/// guard.
///
/// When both fire in one cluster, the result depends on their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowConflict {
    /// The guard whose crossing arms `guard`.
    pub arms: Guard,
    /// The guard whose crossing retires `guard`.
    pub retires: Guard,
    /// The guard both rows speak of.
    pub guard: Guard,
}

impl RearmMatrix {
    /// The zero matrix for `count` event functions, that is `2 · count` directed guards; for a
    /// million where `count` is more, the most that an integrator takes.
    pub fn new(count: usize) -> Self {
        let count = count.min(validate::MOST);
        Self {
            count,
            rows: vec![Vec::new(); 2 * count],
        }
    }

    /// The matrix in which every crossing arms its partner, to add other entries to: for event
    /// functions watched both ways it does what [`Rearm::Pairs`] does.
    pub fn pairs(count: usize) -> Self {
        let mut matrix = Self::new(count);
        for k in 0..matrix.count {
            for by in [Guard::rising(k), Guard::falling(k)] {
                matrix.rows[by.index()].push((by.partner(), Effect::Arm));
            }
        }
        matrix
    }

    /// Number of event functions.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Entry +1: crossing `by` arms `guard`. A later entry for the same pair replaces the earlier
    /// one.
    ///
    /// # Errors
    /// [`InputError::SelfRearming`] on the diagonal, [`InputError::NoSuch`] beyond the matrix.
    pub fn arm(self, by: Guard, guard: Guard) -> Result<Self, InputError> {
        self.entry(by, guard, Effect::Arm)
    }

    /// Entry −1: crossing `by` retires `guard`. A later entry for the same pair replaces the
    /// earlier one.
    ///
    /// # Errors
    /// [`InputError::SelfRearming`] on the diagonal, [`InputError::NoSuch`] beyond the matrix.
    pub fn retire(self, by: Guard, guard: Guard) -> Result<Self, InputError> {
        self.entry(by, guard, Effect::Retire)
    }

    fn entry(mut self, by: Guard, guard: Guard, effect: Effect) -> Result<Self, InputError> {
        for guard in [by, guard] {
            if guard.event >= self.count {
                return Err(InputError::NoSuch {
                    what: "event function",
                    index: guard.event,
                    count: self.count,
                });
            }
        }
        if by == guard {
            return Err(InputError::SelfRearming {
                event: guard.event,
                direction: guard.direction.name(),
            });
        }
        let row = &mut self.rows[by.index()];
        row.retain(|&(other, _)| other != guard);
        row.push((guard, effect));
        Ok(self)
    }

    /// The row of guard `by`.
    pub(crate) fn row(&self, by: Guard) -> &[(Guard, Effect)] {
        self.rows.get(by.index()).map_or(&[], Vec::as_slice)
    }

    /// Pairs of rows that do not commute, with the guard over which they disagree: the first
    /// million of them, by the number of the row that arms. Takes time in proportion to the entries
    /// of the matrix and the pairs found.
    pub fn conflicts(&self) -> Vec<RowConflict> {
        let speaking = |effect| {
            (0..self.count)
                .flat_map(|k| [Guard::rising(k), Guard::falling(k)])
                .flat_map(move |by| self.row(by).iter().map(move |&(guard, e)| (by, guard, e)))
                .filter(move |&(_, _, e)| e == effect)
        };
        // The rows that retire each guard.
        let mut retiring: Vec<Vec<Guard>> = vec![Vec::new(); self.rows.len()];
        for (by, guard, _) in speaking(Effect::Retire) {
            retiring[guard.index()].push(by);
        }
        speaking(Effect::Arm)
            .flat_map(|(arms, guard, _)| {
                let rows = retiring[guard.index()].iter();
                rows.map(move |&retires| RowConflict {
                    arms,
                    retires,
                    guard,
                })
            })
            .take(MOST_CONFLICTS)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_diagonal_is_refused() {
        let guard = Guard::rising(1);
        let refused = RearmMatrix::new(2).arm(guard, guard);
        assert_eq!(
            refused,
            Err(InputError::SelfRearming {
                event: 1,
                direction: "rising"
            })
        );
        let guard = Guard::falling(0);
        let refused = RearmMatrix::new(2).retire(guard, guard);
        assert_eq!(
            refused,
            Err(InputError::SelfRearming {
                event: 0,
                direction: "falling"
            })
        );
    }

    #[test]
    fn pairs_can_be_added_to() -> Result<(), InputError> {
        let (a, b) = (Guard::rising(0), Guard::falling(1));
        let matrix = RearmMatrix::pairs(2);
        assert_eq!(matrix.row(a), [(a.partner(), Effect::Arm)]);
        assert_eq!(matrix.arm(a, b)?.row(a).len(), 2);
        Ok(())
    }

    #[test]
    fn guards_beyond_the_matrix_are_refused() {
        let refused = RearmMatrix::new(2).arm(Guard::rising(0), Guard::rising(2));
        assert!(matches!(
            refused,
            Err(InputError::NoSuch {
                what: "event function",
                index: 2,
                count: 2
            })
        ));
    }

    #[test]
    fn rows_that_disagree_over_a_guard_are_reported() -> Result<(), InputError> {
        let (a, b, c) = (Guard::rising(0), Guard::rising(1), Guard::falling(2));
        let matrix = RearmMatrix::new(3).arm(a, c)?.retire(b, c)?.arm(a, b)?;
        let conflict = RowConflict {
            arms: a,
            retires: b,
            guard: c,
        };
        assert_eq!(matrix.conflicts(), [conflict]);
        assert!(matrix.retire(a, c)?.conflicts().is_empty());
        Ok(())
    }

    #[test]
    fn conflicts_of_many_guards_are_found_at_once() -> Result<(), InputError> {
        let count = 20_000;
        let (by, guard) = (Guard::rising(7), Guard::falling(count - 1));
        let conflicts = RearmMatrix::pairs(count).retire(by, guard)?.conflicts();
        let conflict = RowConflict {
            arms: guard.partner(),
            retires: by,
            guard,
        };
        assert_eq!(conflicts, [conflict]);
        Ok(())
    }

    #[test]
    fn more_than_a_million_conflicts_are_not_listed() -> Result<(), InputError> {
        let many = 1_100;
        let mut matrix = RearmMatrix::new(many + 1);
        let guard = Guard::rising(many);
        for k in 0..many {
            matrix = matrix.arm(Guard::rising(k), guard)?;
            matrix = matrix.retire(Guard::falling(k), guard)?;
        }
        assert_eq!(matrix.conflicts().len(), MOST_CONFLICTS);
        Ok(())
    }
}
