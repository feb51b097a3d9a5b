//! Responses of terms: the velocities that a unit of impulse makes, `J A⁻¹ Jᵀ`, by which terms are made as soft as a
//! step resolves.

use super::Problem;
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
}
