//! The discrete state: one side bit per event function, and flags of the model's own.

use std::fmt;

use super::EventFunction;
use super::bits::{Bits, Ones};
use crate::{InputError, validate};

/// The discrete state of a hybrid system: the sides on which its state stands, and its flags.
///
/// There is one side bit per event function, `true` once `h_k` was crossed upward: the argument `y`
/// of Anderson & Revzen and the word `b` of Burden et al. A side is frozen during a step. It
/// changes when its guard is crossed, by a row of the reset matrix, or when
/// [`on_crossing`](EventFunction::on_crossing) sets it. It is read from the sign of `h` only at a
/// start without a mode, and by [`Rearm::WhenEmpty`](crate::Rearm::WhenEmpty).
///
/// [Flags](EventFunction::flags) are for a discrete state that is no side of anything: closed
/// contacts, stick or slip, the phase of a gait. No motion changes them, only
/// [`on_crossing`](EventFunction::on_crossing). A flag that is not declared cannot be kept: it reads
/// as off, and a mode in which one was set is refused.
///
/// Up to 64 sides and 64 flags need no heap memory. Printed, a mode is its side bits, event
/// function 0 first, then its flags if it has any: `0110|01`.
///
/// ```
/// use saltation::Mode;
/// let mut mode = Mode::new(70).with_flags(2);
/// mode.set(3, true);
/// mode.set(69, true);
/// assert!(mode.contains(3) && !mode.contains(4));
/// assert_eq!(mode.ones().collect::<Vec<_>>(), [3, 69]);
/// mode.set_flag(1, true);
/// assert!(mode.flag(1) && !mode.contains(1));
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mode {
    sides: Bits,
    flags: Bits,
    /// The first flag beyond the end that was set, on or off.
    undeclared: Option<usize>,
}

impl Mode {
    /// Limit of the event functions of a mode, and of its flags: 2²⁴.
    pub const MOST: usize = 1 << 24;

    /// A mode of `len` event functions, every side bit off, without flags; of
    /// [`MOST`](Self::MOST) where `len` is more.
    pub fn new(len: usize) -> Self {
        Self {
            sides: Bits::new(len.min(Self::MOST)),
            flags: Bits::default(),
            undeclared: None,
        }
    }

    /// The mode of `len` event functions with the bits of `on` set; indices beyond `len` are
    /// ignored.
    pub fn with(len: usize, on: &[usize]) -> Self {
        let mut mode = Self::new(len);
        for &k in on {
            mode.set(k, true);
        }
        mode
    }

    /// A mode of `system`, every side bit and flag off.
    pub fn of<S: EventFunction + ?Sized>(system: &S) -> Self {
        Self::new(system.count()).with_flags(system.flags())
    }

    /// A mode of these sides with `count` flags, all off; [`MOST`](Self::MOST) where `count` is
    /// more.
    #[must_use]
    pub fn with_flags(self, count: usize) -> Self {
        let flags = Bits::new(count.min(Self::MOST));
        Self {
            sides: self.sides,
            flags,
            undeclared: None,
        }
    }

    /// Number of event functions.
    #[inline]
    pub fn len(&self) -> usize {
        self.sides.len()
    }

    /// True when there are no event functions at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Side bit of event function `k`; `false` beyond the end.
    #[inline]
    pub fn contains(&self, k: usize) -> bool {
        self.sides.get(k)
    }

    /// Sets the side bit of event function `k`; does nothing beyond the end.
    #[inline]
    pub fn set(&mut self, k: usize, on: bool) {
        self.sides.set(k, on);
    }

    /// This mode with the bit of `k` set to `on`.
    #[must_use]
    pub fn having(mut self, k: usize, on: bool) -> Self {
        self.set(k, on);
        self
    }

    /// The number of side bits that are on.
    #[inline]
    pub fn count_ones(&self) -> usize {
        self.words().map(|word| word.count_ones() as usize).sum()
    }

    /// Indices of the side bits that are on, in rising order; words without a bit cost one
    /// comparison.
    #[inline]
    pub fn ones(&self) -> Ones<'_> {
        self.sides.ones()
    }

    /// The side bits as 64-bit words, lowest event function first.
    #[inline]
    pub fn words(&self) -> impl Iterator<Item = u64> + '_ {
        self.sides.words()
    }

    /// The event functions of which this mode has the other side than `other`, in rising order.
    pub(crate) fn sides_unlike<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = usize> + 'a {
        let words = self.words().zip(other.words()).enumerate();
        words.flat_map(|(place, (a, b))| {
            let unlike = a ^ b;
            let bits = (0..if unlike == 0 { 0 } else { 64 }).filter(move |k| unlike >> k & 1 == 1);
            bits.map(move |k| 64 * place + k)
        })
    }

    /// Number of flags.
    #[inline]
    pub fn flag_count(&self) -> usize {
        self.flags.len()
    }

    /// Flag `j`; `false` beyond the end, where no flag is declared.
    #[inline]
    pub fn flag(&self, j: usize) -> bool {
        self.flags.get(j)
    }

    /// Sets flag `j`. Beyond the end there is none to set, and the mode remembers the attempt: it
    /// equals no mode without one. A run whose reset leaves it is refused
    /// ([`Stop::UndeclaredFlag`](crate::Stop::UndeclaredFlag)), and so is one that is to start in it
    /// ([`InputError::NoSuch`]).
    #[inline]
    pub fn set_flag(&mut self, j: usize, on: bool) {
        if j < self.flags.len() {
            self.flags.set(j, on);
        } else {
            self.undeclared = self.undeclared.or(Some(j));
        }
    }

    /// The first flag that was set although there is none of that number.
    #[inline]
    pub(crate) fn undeclared(&self) -> Option<usize> {
        self.undeclared
    }

    /// Indices of the flags that are on, in rising order.
    #[inline]
    pub fn flags(&self) -> Ones<'_> {
        self.flags.ones()
    }

    /// All sides and flags off.
    pub(crate) fn clear(&mut self) {
        self.sides.clear();
        self.flags.clear();
        self.undeclared = None;
    }

    /// Refuses another number of sides or flags, and a flag that was set beyond them; `names` are
    /// those of this mode and of its flags.
    pub(crate) fn check_sizes(
        &self,
        (sides, flags): (usize, usize),
        names: [&'static str; 2],
    ) -> Result<(), InputError> {
        validate::length(names[0], sides, self.len())?;
        validate::length(names[1], flags, self.flag_count())?;
        match self.undeclared {
            None => Ok(()),
            Some(index) => Err(InputError::NoSuch {
                what: "flag",
                index,
                count: flags,
            }),
        }
    }

    /// The mode of so many contacts: flag `j` is on while contact `j` is closed. All side bits are
    /// on, since gaps and forces are positive before an event.
    pub(crate) fn of_contacts(count: usize, closed: &[usize]) -> Self {
        let mut mode = Self::new(count).with_flags(count);
        (0..count).for_each(|j| mode.set(j, true));
        mode.set_contacts(closed);
        mode
    }

    /// Closes these contacts and opens all others; indices without a contact are ignored.
    pub(crate) fn set_contacts(&mut self, closed: &[usize]) {
        self.flags.clear();
        for &j in closed {
            if j < self.flags.len() {
                self.flags.set(j, true);
            }
        }
    }

    /// Number of sides and of flags.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        (self.len(), self.flag_count())
    }

    /// True when `other` is equal; inlined, unlike `==`.
    #[inline]
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.sides.is(&other.sides)
            && self.flags.is(&other.flags)
            && self.undeclared == other.undeclared
    }

    /// True when the flags are those of `other`.
    pub(crate) fn has_flags_of(&self, other: &Self) -> bool {
        self.flags.is(&other.flags) && self.undeclared == other.undeclared
    }

    /// Takes the bits of `other`, without allocating where both have the same lengths.
    #[inline]
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.sides.copy_from(&other.sides);
        self.flags.copy_from(&other.flags);
        self.undeclared = other.undeclared;
    }
}

impl fmt::Debug for Mode {
    /// As [`Display`](fmt::Display): `Mode(0110)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mode({self})")
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write = |f: &mut fmt::Formatter<'_>, bits: &Bits| {
            (0..bits.len()).try_for_each(|k| f.write_str(if bits.get(k) { "1" } else { "0" }))
        };
        write(f, &self.sides)?;
        if self.flags.len() > 0 {
            f.write_str("|")?;
        }
        write(f, &self.flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_beyond_the_end_are_off_and_stay_off() {
        for len in [0, 1, 63, 64, 65, 128, 130] {
            let mut mode = Mode::new(len).with_flags(len);
            mode.set(len, true);
            assert_eq!(mode, Mode::new(len).with_flags(len));
            mode.set_flag(len, true);
            assert!(!mode.contains(len) && !mode.contains(len + 64));
            assert!(!mode.flag(len) && !mode.flag(len + 64));
        }
    }

    #[test]
    fn a_flag_beyond_the_end_that_was_set_is_remembered() {
        let blank = Mode::new(2).with_flags(3);
        for on in [true, false] {
            let mut mode = blank.clone();
            mode.set_flag(5, on);
            mode.set_flag(4, on);
            assert_eq!((mode.undeclared(), mode.flags().count()), (Some(5), 0));
            assert!(mode != blank && !mode.is(&blank));
            let mut copy = blank.clone();
            copy.copy_from(&mode);
            assert!(copy == mode && copy.is(&mode));
            copy.clear();
            assert_eq!(copy, blank);
            assert_eq!(mode.clone().with_flags(3), blank);
            let refused = mode.check_sizes(blank.sizes(), ["a mode", "its flags"]);
            let (what, index, count) = ("flag", 5, 3);
            assert_eq!(refused, Err(InputError::NoSuch { what, index, count }));
        }
    }

    #[test]
    fn ones_visits_every_set_bit_once() {
        let on = [0, 63, 64, 127, 128, 199];
        let mode = Mode::with(200, &on);
        assert_eq!(mode.ones().collect::<Vec<_>>(), on);
        assert_eq!(mode.count_ones(), on.len());
        assert_eq!(mode.having(64, false).count_ones(), on.len() - 1);
    }

    #[test]
    fn flags_are_no_sides() {
        for count in [1, 64, 65, 200] {
            let blank = Mode::with(3, &[1]).with_flags(count);
            let mut mode = blank.clone();
            mode.set_flag(count - 1, true);
            assert_eq!(mode.flags().collect::<Vec<_>>(), [count - 1]);
            assert_eq!(mode.ones().collect::<Vec<_>>(), [1]);
            assert_eq!((mode.len(), mode.flag_count()), (3, count));
            assert!(mode != blank && !mode.is(&blank));
            let mut copy = Mode::new(70);
            copy.copy_from(&mode);
            assert!(copy == mode && copy.is(&mode));
            copy.clear();
            assert_eq!(copy, Mode::new(3).with_flags(count));
        }
        let mut mode = Mode::with(4, &[1, 2]);
        assert_eq!(mode.to_string(), "0110");
        mode = mode.with_flags(2);
        mode.set_flag(1, true);
        assert_eq!(format!("{mode} {mode:?}"), "0110|01 Mode(0110|01)");
    }
}
