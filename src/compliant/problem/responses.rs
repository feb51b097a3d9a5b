//! Rows of terms in the velocities of their trees, and their responses: the velocities that a unit of impulse makes,
//! `J A⁻¹ Jᵀ`, by which terms are made as soft as a step resolves.

use nalgebra::DMatrix;

use super::terms::{Link, Links, Problem};
use crate::linalg::block_kernels as kernels;
use crate::linalg::symmetric::{Spectrum, unit_diagonal};
use crate::{InputError, MatrixFault, validate};

/// The response of two bodies like the heavier one of these responses, of which that of the world is zero.
pub(crate) fn of_heavier([a, b]: [f64; 2]) -> f64 {
    if a > 0.0 && b > 0.0 {
        2.0 * a.min(b)
    } else {
        a + b
    }
}

impl Problem {
    /// Copies rows into the flat storage, padded to `height` rows a tree.
    pub(super) fn links(
        &mut self,
        rows: &[(usize, &[f64])],
        height: usize,
    ) -> Result<Links, InputError> {
        let number = match rows {
            [_] | [_, _] => rows.len(),
            // A contact of no tree moves nothing; one of three is not one of two bodies.
            _ => return Err(InputError::TreesOfTerm { found: rows.len() }),
        };
        let mut height_of_first = None;
        for &(tree, entries) in rows {
            let Some(found) = self.trees.get(tree) else {
                return Err(InputError::NoSuch {
                    what: "tree",
                    index: tree,
                    count: self.trees.len(),
                });
            };
            let given = entries.len() / found.width;
            let expected = height_of_first
                .unwrap_or(given)
                .clamp(1, height)
                .saturating_mul(found.width);
            validate::length("rows of a term", expected, entries.len())?;
            validate::finite("rows of a term", entries)?;
            height_of_first = Some(given);
        }
        let same = number == 2 && rows[0].0 == rows[1].0;
        let mut links = [Link::default(); 2];
        for (link, &(tree, entries)) in links.iter_mut().zip(rows) {
            *link = Link {
                tree,
                place: self.jacobian.len(),
            };
            let end = self.jacobian.len() + height * self.trees[tree].width;
            self.jacobian.extend_from_slice(entries);
            self.jacobian.resize(end, 0.0);
        }
        if same {
            // Both bodies in one tree: the sum of the rows.
            let (first, second) =
                self.jacobian[links[0].place..].split_at_mut(links[1].place - links[0].place);
            for (sum, entry) in first.iter_mut().zip(&*second) {
                *sum += entry;
            }
            self.jacobian.truncate(links[1].place);
        }
        Ok(Links {
            first: links[0],
            second: (number == 2 && !same).then_some(links[1]),
        })
    }

    /// Factorises the block of a tree, unless that has been done.
    pub(super) fn factorise_tree(&mut self, number: usize) -> Result<(), InputError> {
        let tree = &mut self.trees[number];
        let n = tree.width;
        let factor = &mut self.factors[tree.place..tree.place + n * n];
        if !tree.factored && kernels::factor(factor, n).is_none() {
            // The next question finds the block as it was.
            let block = &self.inertia[tree.place..tree.place + n * n];
            factor.copy_from_slice(block);
            return Err(InputError::BadTree {
                tree: number,
                fault: not_positive(block, n),
            });
        }
        tree.factored = true;
        Ok(())
    }

    /// `W = Σ J A⁻¹ Jᵀ` of a term with `height` rows.
    pub(super) fn response(
        &mut self,
        links: &Links,
        height: usize,
    ) -> Result<[[f64; 3]; 3], InputError> {
        let mut response = [[0.0; 3]; 3];
        for link in links.iter() {
            self.factorise_tree(link.tree)?;
            let tree = &self.trees[link.tree];
            let n = tree.width;
            let factor = &self.factors[tree.place..tree.place + n * n];
            // With A = L Lᵀ, W = YᵀY for Y = L⁻¹ Jᵀ. Y has a row a velocity.
            let rows = &self.jacobian[link.place..link.place + height * n];
            self.scratch.clear();
            self.scratch.resize(n * height, 0.0);
            for (r, row) in rows.chunks_exact(n).enumerate() {
                for (k, entry) in row.iter().enumerate() {
                    self.scratch[k * height + r] = *entry;
                }
            }
            kernels::solve_rows(factor, &mut self.scratch, n, height);
            for y in self.scratch.chunks_exact(height) {
                for (a, sums) in y.iter().zip(&mut response) {
                    for (b, sum) in y.iter().zip(sums) {
                        *sum += a * b;
                    }
                }
            }
        }
        Ok(response)
    }

    /// The response `J A⁻¹ Jᵀ` of a row: velocity per impulse (1/kg). A regularisation far below it
    /// makes a term stiffer than the step can use.
    ///
    /// # Errors
    /// As [`add_row`](Self::add_row).
    pub fn row_response(&mut self, rows: &[(usize, &[f64])]) -> Result<f64, InputError> {
        let kept = self.jacobian.len();
        let links = self.links(rows, 1);
        let links = links.map_err(validate::rows_of("row", self.rows.len()));
        let response = links.and_then(|links| self.response(&links, 1));
        self.jacobian.truncate(kept);
        Ok(response?[0][0])
    }

    /// As [`row_response`](Self::row_response), but as for two trees like that which responds less: a constraint
    /// passes on the load of the heavier one through the lighter one, and is to be no softer for that.
    pub(crate) fn response_of_heavier(
        &mut self,
        rows: &[(usize, &[f64])],
    ) -> Result<f64, InputError> {
        match rows {
            [first, second] if first.0 != second.0 => {
                let first = self.row_response(&[*first])?;
                Ok(of_heavier([first, self.row_response(&[*second])?]))
            }
            _ => self.row_response(rows),
        }
    }
}

/// Says of a block of `A`, `n × n`, that it is not positive definite, with its least eigenvalue.
pub(in crate::compliant) fn not_positive(block: &[f64], n: usize) -> MatrixFault {
    let (scaled, _) = unit_diagonal(&DMatrix::from_column_slice(n, n, block));
    MatrixFault::NotPositive {
        value: Spectrum::of(&scaled).map_or(f64::NAN, |found| found.least()),
    }
}
