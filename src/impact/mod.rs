//! Impact: what happens to velocities when several contacts close at one instant.
//!
//! Serves Seghete & Murphey, "A propagative model of simultaneous impact" (arXiv 1709.02296), and the impacts of Pace & Burden
//! (arXiv 1609.04056, eq. 3). The problem in contact space: `problem`, `contact_space`, `matrix`; what comes out: `outcome`,
//! `law`. Laws at once: `unilateral`, `projective`, `restitution` (plastic outcomes and blends), on `complementarity`; one after
//! another: `sequential`, `propagative` with `rule` and `reflections`; sets: `all_outcomes`, `minimal_outcomes` on `momenta`;
//! what is known of them: `uniqueness`, `interior`; which one a run takes: `selection`. The page below is `guide.md`.
#![doc = ""]
#![doc = include_str!("guide.md")]

mod all_outcomes;
mod complementarity;
mod contact_space;
mod interior;
mod law;
mod matrix;
mod minimal_outcomes;
mod momenta;
mod outcome;
mod problem;
mod projective;
mod propagative;
mod reflections;
mod restitution;
mod rule;
mod selection;
mod sequential;
mod unilateral;
mod uniqueness;

pub use all_outcomes::AllOutcomes;
pub use law::{ImpactLaw, Outcomes};
pub(crate) use matrix::matrix_fault;
pub use minimal_outcomes::MinimalOutcomes;
pub use outcome::{Order, Outcome, Remark};
pub use problem::ImpactProblem;
pub use projective::Projective;
pub use propagative::Propagative;
pub use reflections::Reflections;
pub use restitution::Plastic;
pub use rule::Rule;
pub use selection::{Selection, SelectionFn};
pub use sequential::NewOnly;
pub use unilateral::Unilateral;
pub use uniqueness::{Uniqueness, indeterminacy, uniqueness};
