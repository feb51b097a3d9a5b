//! The impact laws.
//!
//! * `unilateral`, `projective`: all contacts at once; `plastic`: without rebound, and the blend
//!   with an elastic outcome.
//! * `sequential`: the new contacts first; `propagative`: one contact after another (Seghete &
//!   Murphey).
//! * `routh`: one contact with friction.
//! * `complementarity`: where laws ask the solver of linear complementarity problems.

pub(crate) mod complementarity;
pub(crate) mod plastic;
mod projective;
mod propagative;
pub(crate) mod routh;
mod sequential;
mod unilateral;

pub use plastic::Plastic;
pub use projective::Projective;
pub use propagative::Propagative;
pub use routh::Routh;
pub use sequential::Sequential;
pub use unilateral::Unilateral;
