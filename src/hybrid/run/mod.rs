//! One integration (Anderson & Revzen, section 3).
//!
//! * `state`: what moves, and the workspace; `initial`: sides and arming at the start.
//! * `smooth`: one Dormand–Prince step in a frozen mode. `detect`: the first guard that it passes,
//!   window by window: `window`, `cubic` and `examine` say what samples of event functions leave
//!   open, `stop` where the step ends.
//! * `guard_table`: what is known of each event function, who is near its surface, who comes first.
//! * `crossing`: the crossing phase; `project`: one step in the event variable (listing 1).
//! * `cascade`: the transitions of one instant; `transversality`: what they must fulfil.
//! * `doubt`, `turned`: decisions that the error of the run may turn.

mod cascade;
mod crossing;
mod cubic;
mod detect;
mod doubt;
mod examine;
pub(crate) mod guard_table;
mod initial;
mod project;
mod smooth;
pub(crate) mod state;
mod stop;
mod transversality;
pub(crate) mod turned;
mod window;

pub use doubt::Doubt;
