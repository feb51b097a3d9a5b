//! The impact laws.
//!
//! * `unilateral`, `projective`: all contacts at once; `plastic`: without rebound, and the blend
//!   with an elastic outcome.
//! * `sequential`: the new contacts first; `propagative`: one contact after another (Seghete &
//!   Murphey).
//! * `routh`: one contact with friction; `anitescu_potra`: several at once; `moreau`: with restitution
//!   too; `in_order`: one after another; `inclusion`: in any way and at will.
//! * `complementarity`: where laws ask the solver of linear complementarity problems.

mod anitescu_potra;
pub(crate) mod complementarity;
mod in_order;
mod inclusion;
mod moreau;
pub(crate) mod plastic;
mod projective;
mod propagative;
pub(crate) mod routh;
mod sequential;
mod unilateral;

pub use anitescu_potra::AnitescuPotra;
pub use in_order::InOrder;
pub use inclusion::RouthInclusion;
pub use moreau::Moreau;
pub use plastic::Plastic;
pub use projective::Projective;
pub use propagative::Propagative;
pub use routh::Routh;
pub use sequential::Sequential;
pub use unilateral::Unilateral;
