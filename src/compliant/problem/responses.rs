//! Responses of terms: the velocities that a unit of impulse makes, `J A⁻¹ Jᵀ`, by which terms are made as soft as a
//! step resolves.

use super::Problem;
use super::trees_and_terms::Links;
use crate::linalg::block_kernels as kernels;
use crate::{InputError, validate};

/// The response of two bodies like the heavier one of these responses, of which that of the world is zero.
pub(crate) fn of_heavier([a, b]: [f64; 2]) -> f64 {
    if a > 0.0 && b > 0.0 {
        2.0 * a.min(b)
    } else {
        a + b
    }
}

impl Problem {
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
}
