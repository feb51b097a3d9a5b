//! What a driver writes while it runs, and what a run is when it is over: the same for every driver.
//!
//! * `start`: where a run starts; `status`: how it ended, and counts; `options`: limits, values for
//!   each entry.
//! * `observer`: what a driver tells as it goes: segments, transitions, crossings, events of
//!   contacts, doubts (`doubt`).
//! * `path`: the observer that keeps all of it, with `dense_output` between its nodes.
//! * `corner`: crossings of one instant as one object.
//! * `events`: the log of contacts, and what it says of an impact.
//! * `run`: the run, and everything that can be done with it; `table`: its samples as numbers;
//!   `live`: a run that goes on as it is told, `told`: what drivers in steps have told.

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
pub use table::Table;
pub(crate) use told::Told;
