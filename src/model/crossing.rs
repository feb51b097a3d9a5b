//! A crossing as the model acts on it, and what it may leave in the record of it.

use std::any::Any;
use std::fmt;
use std::ops::RangeTo;

use super::{Crossed, CrossedGuard, Mode};

/// The guards that cross at one instant, and what the model may change: the argument of
/// [`EventFunction::on_crossing`](crate::EventFunction::on_crossing).
#[derive(Debug)]
#[non_exhaustive]
pub struct Crossing<'a> {
    /// Time (s).
    pub t: f64,
    /// The guards that cross in a watched direction, with their rates before.
    pub crossed: Crossed<'a>,
    /// State on the guards; a reset changes it.
    pub x: &'a mut [f64],
    /// The mode, with the sides of these guards crossed already.
    pub mode: &'a mut Mode,
    /// Record that the model leaves for observers.
    pub record: &'a mut Record,
}

impl<'a> Crossing<'a> {
    /// A crossing of `set` at `(t, x; mode)`, the first of its run; of use to those who test their
    /// own `on_crossing`.
    pub fn new(
        t: f64,
        set: &'a [CrossedGuard],
        x: &'a mut [f64],
        mode: &'a mut Mode,
        record: &'a mut Record,
    ) -> Self {
        Self {
            t,
            crossed: Crossed::new(set),
            x,
            mode,
            record,
        }
    }

    /// Time, guards, state and mode, to be used one beside the other.
    pub fn parts(&mut self) -> (f64, &Crossed<'a>, &mut [f64], &mut Mode) {
        (self.t, &self.crossed, self.x, self.mode)
    }

    /// This crossing with the first `part.end` state variables, or all if there are fewer: for a
    /// model within another one.
    pub fn of_part(&mut self, part: RangeTo<usize>) -> Crossing<'_> {
        let end = part.end.min(self.x.len());
        Crossing {
            t: self.t,
            crossed: self.crossed,
            x: &mut self.x[..end],
            mode: self.mode,
            record: self.record,
        }
    }

    /// This crossing with the guards of `set` and with `mode`: for a model that stands within
    /// another one.
    pub fn of_guards<'b>(
        &'b mut self,
        set: &'b [CrossedGuard],
        mode: &'b mut Mode,
    ) -> Crossing<'b> {
        Crossing {
            t: self.t,
            crossed: Crossed::new(set).of_transition(self.crossed.transition()),
            x: self.x,
            mode,
            record: self.record,
        }
    }
}

/// A displacement of time and state, along which resets are derived.
#[derive(Clone, Copy, Debug)]
pub struct Displacement<'a> {
    /// Of the time (s).
    pub dt: f64,
    /// Of the state; of several displacements with one `dt`, one after the other.
    pub dx: &'a [f64],
}

/// A value that a reset leaves for observers, of a type of the model's own: the impulses of an
/// impact. Its memory is used again from crossing to crossing: what was left by the one before is
/// handed to [`write`](Self::write), so that lists are to be cleared.
///
/// It is written in [`EventFunction::on_crossing`](crate::EventFunction::on_crossing)
/// (`crossing.record`) and read in [`Observer::transition`](crate::Observer::transition)
/// (`set.record`). It is empty at transitions in directions that are not watched. A trajectory does
/// not keep it.
///
/// ```
/// use saltation::Record;
/// #[derive(Default)]
/// struct Impulse(f64);
/// let mut record = Record::default();
/// record.write(|impulse: &mut Impulse| impulse.0 = 2.5);
/// assert_eq!(record.get::<Impulse>().map(|impulse| impulse.0), Some(2.5));
/// assert!(record.get::<String>().is_none());
/// record.clear();
/// assert!(record.get::<Impulse>().is_none());
/// ```
#[derive(Default)]
pub struct Record {
    value: Option<Box<dyn Any + Send + Sync>>,
    is_set: bool,
    /// The crossing repeats another one at a state or a model beside it.
    is_beside: bool,
}

impl Record {
    /// Calls `write` on the value of an earlier crossing if that is of type `T`, else on the
    /// default.
    pub fn write<T: Any + Default + Send + Sync>(&mut self, write: impl FnOnce(&mut T)) {
        let mut value: Box<T> = match self
            .value
            .take()
            .map(Box::<dyn Any + Send + Sync>::downcast)
        {
            Some(Ok(value)) => value,
            _ => Box::default(),
        };
        write(&mut value);
        self.value = Some(value);
        self.is_set = true;
    }

    /// Of a crossing that repeats another one at a state or a model beside it, for a difference.
    pub(crate) fn beside() -> Self {
        Self {
            is_beside: true,
            ..Self::default()
        }
    }

    /// True for a crossing that repeats another one.
    pub(crate) fn is_beside(&self) -> bool {
        self.is_beside
    }

    /// Value that was written at this crossing, if it is of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        let value = self.value.as_ref().filter(|_| self.is_set);
        value.and_then(|value| value.downcast_ref())
    }

    /// Forgets what was written, and keeps its memory.
    pub fn clear(&mut self) {
        self.is_set = false;
    }
}

/// A copy has nothing written: what a run leaves is its own.
impl Clone for Record {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = if self.is_set { "written" } else { "empty" };
        write!(f, "Record({words})")
    }
}
