//! Where a run starts, what it reports as it goes, and what is left when it is over: the same for
//! every driver.
//!
//! * [`Start`]: time, and state (with mode) or positions and velocities.
//! * [`Run`]: everything computed: states at any time, crossings, contact events, doubts, tables.
//!   [`Status`]: how it ended; [`Statistics`]: what it cost.
//! * [`GuardCrossing`], [`Corner`]: guards of the core that crossed, alone or at one instant;
//!   [`ContactEvent`], [`Phase`]: contacts that closed or opened, and which were closed when;
//!   [`Doubt`]: a decision that the error of the run might reverse.
//! * [`Observer`]: callbacks of a run, for programs that keep little or stop early; [`Summary`]:
//!   the end of such a run.
//! * [`Live`]: a run in parts, with an effort for each: control loops; [`Snapshot`]: all that it
//!   needs to go on later.
//! * [`Table`]: states at chosen times, as numbers and as comma-separated values.
//!
//! ```
//! use saltation::{Integrator, Observer, Segment, Start, models::Hopper};
//!
//! #[derive(Default)]
//! struct Lowest(f64);
//! impl Observer for Lowest {
//!     fn segment(&mut self, segment: &Segment<'_>) {
//!         self.0 = self.0.min(segment.state[1]);
//!     }
//!     fn is_done(&self) -> bool {
//!         self.0 < -4.0 // the run ends after the first step that falls faster than 4 m/s
//!     }
//! }
//! let mut lowest = Lowest::default();
//! let mut integrator = Integrator::new(Hopper::default())?;
//! let summary = integrator.observe(&Start::at(0.0).x(&[2.0, 0.0]), 2.0, &mut lowest)?;
//! assert!(summary.t < 0.5 && lowest.0 < -4.0);
//! # Ok::<(), saltation::Error>(())
//! ```

// Inside: `start`; `observer` (the callbacks), `corner` (crossings of one instant), `events` (contacts),
// `doubt`, `status`; `path` (the observer that keeps everything), `dense_output` (states between its
// nodes), `run` (what is read of it), `table`; `live`; `options` (limits; a value for each entry),
// `told` (the last node reported by a driver in steps of one length).

pub(crate) mod corner;
mod dense_output;
mod doubt;
mod events;
mod live;
mod observer;
mod options;
pub(crate) mod path;
mod run;
mod start;
mod status;
mod table;
mod told;

pub use corner::Corner;
pub use doubt::Doubt;
pub(crate) use events::sequence;
pub use events::{ContactEvent, ContactEventKind, Contacting, Order, Phase, Remark};

pub(crate) use live::Now;
pub(crate) use live::{Advance, Interruptible, can_go_on};
pub use live::{Live, Snapshot};
pub use observer::{Arrival, GuardCrossing, Observer, Segment, Transition};
pub use options::PerEntry;
pub(crate) use options::{Limits, limits, slack, step_count, whole_steps};
pub use path::ModeChange;
pub use run::Run;
pub use start::Start;
pub use status::{Statistics, Status, Summary};
pub(crate) use table::BodyLayout;
pub use table::Table;
pub(crate) use told::Told;
