//! Linear complementarity problems `0 ≤ z ⊥ w = W z + q ≥ 0`: dense, of size 1 to a few hundred.
//!
//! [`LcpSolver`] finds one solution, [`enumerate()`] all of a small problem (n ≤ 16), and
//! [`BasisDictionary`] solves many problems with one `W`. Nothing here depends on contacts.
//!
//! ```
//! use saltation::lcp::{LcpSolver, residual};
//! use saltation::nalgebra::DMatrix;
//! let (w, q) = (DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 1.0, 2.0]), [-1.0, -1.0]);
//! let mut solver = LcpSolver::new(2);
//! let z = solver.solve(&w, &q)?.z().to_vec();
//! assert!((z[0] - 1.0 / 3.0).abs() < 1e-15 && residual(&w, &q, &z)? < 1e-14);
//! # Ok::<(), saltation::Error>(())
//! ```
//!
//! **Solved means that [`residual`] is small, and nothing else**; anything else is an [`LcpFailure`]
//! by name. For copositive `W` (impacts with friction: Halm & Posa, equations 72–75) there is a
//! solution and the method finds one. Of several it finds one whose basis has a positive
//! determinant; the covering vector chooses.
//!
//! The method is Lemke's with lexicographic ties (Cottle, Pang & Stone, "The Linear Complementarity
//! Problem", 4.4 and 4.9); the final basis is solved again by LU with a refinement. Where it fails,
//! the solver tries in turn: other covering vectors, all bases of small problems, the convex program
//! of a symmetric positive semidefinite `W`, and the method in twice the precision.
//!
//! Left out on purpose: a start of Lemke's method from an earlier `z` or basis, and lists of bases
//! that grow by themselves. Where several solutions exist, the answer would depend on history.

// Inside: `problem` (residual and failures), `scaled` (units of size 1), `blocks` (vectors and the
// inverse of the basis), `lemke` (the path), `bases` (complementary ones, and their LU), `solution`
// (the check), `certificate` (proofs that there is no solution), `solver` (the attempts in turn),
// `convex` (nearly dependent contacts without friction), `careful` (twice the precision),
// `enumerate` (all solutions), `dictionary` (known bases), `semidefinite` (contacts without
// friction).

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
