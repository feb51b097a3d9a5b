//! Linear complementarity problems `0 ≤ z ⊥ w = W z + q ≥ 0`: dense, of size 1 to a few hundred.
//! Knows nothing of contacts.
//!
//! [`LcpSolver`] finds one solution: Lemke's method with lexicographic ties (Cottle, Pang & Stone,
//! "The Linear Complementarity Problem", 4.4 and 4.9), the final basis solved afresh by LU with a
//! refinement, and a ladder below it: other covering vectors, all bases of small problems, the
//! convex program of a symmetric positive semidefinite `W`, and the method in twice the precision.
//! **Solved means that [`residual`] is small, and nothing else**; anything else is a [`LcpFailure`] by
//! name. For copositive `W` (impacts with friction: Halm & Posa, equations 72–75) there is a
//! solution and the method finds one. Of several it finds one whose basis has a positive
//! determinant; the covering vector chooses. [`enumerate`] lists all, for n ≤ 16.
//!
//! Inside: `problem` (residual and failures), `scaled` (units of size 1), `blocks` (vectors and the
//! inverse of the basis), `lemke` (the path), `bases` (complementary ones, and their LU), `solution`
//! (the check), `certificate` (proofs that there is no solution), `solver` (the ladder), `convex`
//! (nearly dependent contacts without friction), `careful` (twice the precision), `enumerate` (all
//! solutions), `dictionary` (known bases), `semidefinite` (contacts without friction).
//!
//! [`BasisDictionary`] solves by a list of bases, without pivots, where one `W` comes with many
//! `q`. Left out on purpose: a start of Lemke's method from an earlier `z` or basis, and lists of
//! bases that grow unasked. Where several solutions exist, the answer would depend on history.

mod bases;
mod blocks;
mod careful;
mod certificate;
mod convex;
mod dictionary;
mod enumerate;
mod lemke;
mod problem;
mod scaled;
mod semidefinite;
mod solution;
mod solver;

pub use dictionary::BasisDictionary;
pub use enumerate::{Listed, enumerate, enumerate_until};
pub(crate) use problem::residual_in;
pub use problem::{LcpFailure, residual};
pub(crate) use semidefinite::{proof_of_none, solve_semidefinite};
pub use solution::{Attempt, Solution};
pub use solver::LcpSolver;
