//! The factors by which the search decides, each with its reason; those of doubts stand in
//! `doubt` and `turned`.

// Rounding. A guard's numerical zero `z` is what a few units in the last place of time and state
// make of its function (`GuardTable::zero_of`).

/// Times are rounded to so many units in the last place (`GuardTable::zero_of`).
pub(super) const ROUNDING: f64 = 8.0;
/// A value within so many zeros is on the surface: two roundings each of the value and of the
/// crossing that led there.
pub(super) const ON_SURFACE: f64 = 4.0;
/// Values that differ by up to so many zeros do not show motion: each may be off the surface by
/// [`ON_SURFACE`], on either side.
pub(super) const UNMOVED: f64 = 8.0;
/// Steps of up to so many of the shortest do not distinguish motion from rounding, nor do values of up to
/// so many zeros beside a window that is long beside the way to the surface.
pub(super) const UNTOLD: f64 = 64.0;

// Smooth functions between their four samples.

/// A guard is plain in a window where its least distance from zero is this many times what it moves
/// and what the curvature of its samples allows for.
pub(super) const DISTANT: f64 = 16.0;
/// It is so too where the doubt about its cubic is within this part of what it moves, but for
/// rounding.
pub(super) const STRAIGHT: f64 = 0.03;
/// The error of the slope of a cubic at a sample, in units of its error between samples: below
/// this, for functions of fourth degree.
pub(super) const SLOPE_DOUBT: f64 = 12.0;
/// A maximum of the cubic decides where it is farther from zero than so many doubts about the
/// cubic: one for the cubic, one for its own place.
pub(super) const OF_TOP: f64 = 2.0;
/// Limit of what is left open of a function, as a part of its rise between two samples, or of what
/// it moves in the window: the order of its samples is certain then, and its root between them.
pub(super) const OPEN_PART: f64 = 0.25;
/// A function that is off its cubic by no more than this part of what it moves is as good as that.
pub(super) const CUBIC_PART: f64 = 0.001;
/// A guard that rises by less than this part of its rise in the window up to its first sample jumps
/// behind that: of the fourth power of the time it is a hundredth.
pub(super) const FLAT: f64 = 1e-3;
/// A guard goes across as its rate at the start says where its rise in the window is at least this
/// part of the way by that rate, and at most as much more.
pub(super) const AS_ITS_RATE: f64 = 0.5;

/// If the error of a guard may have grown by more than this since it was evaluated, it is evaluated
/// again: below it, closer looks at guards that only this brings near cost less.
pub(super) const MUCH_GROWN: f64 = 16.0;
/// A declaration about a guard holds at the end of a step but for this rounding, in units of its
/// terms, or it is not believed.
pub(super) const DECLARED: f64 = 1e-9;

// Noise.

/// Evaluations of the test for noise.
pub(super) const NOISE_SAMPLES: u32 = 8;
/// Distance of these samples, as a part of the window: nothing smooth moves in that.
pub(super) const NOISE_APART: f64 = 1e-7;
/// Beyond this the samples of the test are so far apart that it shows nothing.
pub(super) const NOISE_TOO_WIDE: f64 = 0.01;
/// A function is noise where it varies there by this part of what its samples leave open.
pub(super) const NOISE_PART: f64 = 0.1;
/// The range that windows leave open however narrow they are counts as noise of this many times its
/// size.
pub(super) const BLUR: f64 = 4.0;

// Windows.

/// The last window of a step may be this much longer: that spares one of almost no length.
pub(super) const LAST: f64 = 1.1;
/// Ratio of the lengths of a window that its samples do not settle, after and before it is narrowed.
pub(super) const NARROWER: f64 = 0.4;
/// Limit of the narrowings of a window at one place: to a 1500th.
pub(super) const MOST_NARROWED: u32 = 8;
/// Narrowings after which an open window is tested for noise.
pub(super) const NOISE_AFTER: u32 = 3;
/// The first window behind steps that were passed over is this part of the step at least: a guard
/// that starts on its surface says nothing of how fast it changes.
pub(super) const SHORTEST_FIRST: f64 = 1e-3;
/// Motion that is this many times as fast behind a reset as before is another one: windows are
/// shorter by as much.
pub(super) const FASTER: f64 = 2.0;
/// The next step is to need no more windows than this.
pub(super) const WANTED_WINDOWS: usize = 8;
/// Limit of the windows of one step; beyond it a shorter step is tried.
pub(super) const MOST_WINDOWS: usize = 64;
/// Limit of the windows of a step whose length is fixed. The rest of the step beyond is one window
/// then, and counts as unresolved.
pub(super) const MOST_WINDOWS_FIXED: usize = 4096;
/// Samples of a run, at least, when guards state no time scale.
pub(super) const LEAST_SAMPLES: f64 = 100.0;

// Searches within a window.

/// Limit of the halvings of the time in the search for an excursion that began with a rate of zero.
pub(super) const MOST_HALVINGS: u32 = 30;
/// Limit of the halvings of the time in the search for where a guard goes across that starts on its
/// surface.
pub(super) const MOST_HALVINGS_ACROSS: u32 = 60;

/// The error of a guard is evaluated only if its gap is within its approach plus this many times
/// the largest error found for it so far.
pub(super) const GREATER: f64 = 10.0;
