//! Piecewise constant fields: planes, and one constant velocity for each word.

use nalgebra::DMatrix;

use crate::{EventFunction, Flow, InputError, Mode, validate};

/// Limit of the guards of a table: 65 536 fields.
const MOST_GUARDS: usize = 16;

/// `x' = F_b`, constant in each of the `2^n` cells cut out by `n` planes, plain or oblique.
///
/// Event functions `h_k = a_k · x − o_k`; word `b` has bit `k` on once `h_k` was crossed upward.
/// Units are the caller's. To first order every corner of an event-selected system is such a table.
/// Source: Burden, Sastry, Koditschek & Revzen, SIADS 15 (2016) 1227: the B-derivative is the flow
/// of such a table.
///
/// ```
/// use saltation::nalgebra::DMatrix;
/// use saltation::{Integrator, Start, models::FieldTable};
/// // Two axes as guards; upward motion doubles once the first is crossed.
/// let fields = DMatrix::from_column_slice(2, 4, &[1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 2.0]);
/// let table = FieldTable::new(DMatrix::identity(2, 2), &[0.0, 0.0], fields)?;
/// let run = Integrator::new(&table)?.integrate(&Start::at(0.0).x(&[-1.0, -3.0]), 3.0)?;
/// assert!((run.state()[0] - 2.0).abs() < 1e-12 && (run.state()[1] - 2.0).abs() < 1e-12);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FieldTable {
    /// One column a guard, so that each normal is contiguous.
    normals: DMatrix<f64>,
    offsets: Vec<f64>,
    /// One column a word.
    fields: DMatrix<f64>,
}

impl FieldTable {
    /// A table from `normals` (one row a guard), `offsets` (one a guard) and `fields` (one column a
    /// word, bit `k` of the word on once guard `k` was crossed upward).
    ///
    /// # Errors
    /// [`InputError::BadSetting`] for more than 16 guards or a normal that is zero,
    /// [`InputError::WrongLength`] for sizes that do not fit, [`InputError::EmptySystem`] when
    /// `normals` has no columns, [`InputError::NotFinite`].
    #[expect(
        clippy::needless_pass_by_value,
        reason = "given away like `fields`, although kept transposed"
    )]
    pub fn new(
        normals: DMatrix<f64>,
        offsets: &[f64],
        fields: DMatrix<f64>,
    ) -> Result<Self, InputError> {
        let (guards, dim) = normals.shape();
        if dim == 0 {
            return Err(InputError::EmptySystem);
        }
        let rule = "must be at most 16: there is a field for each word";
        validate::unless(
            guards <= MOST_GUARDS,
            "number of guards",
            guards as f64,
            rule,
        )?;
        validate::length("offsets", guards, offsets.len())?;
        validate::length("a column of fields", dim, fields.nrows())?;
        validate::length("a row of fields", 1 << guards, fields.ncols())?;
        let normals = normals.transpose();
        validate::finite("normals", normals.as_slice())?;
        validate::finite("offsets", offsets)?;
        validate::finite("fields", fields.as_slice())?;
        let flat = (0..guards).find(|&k| normals.column(k).iter().all(|&a| a == 0.0));
        if let Some(entry) = flat {
            return Err(InputError::BadSetting {
                name: "normals",
                entry,
                value: 0.0,
                rule: "a row must not be zero",
            });
        }
        Ok(Self {
            normals,
            offsets: offsets.to_vec(),
            fields,
        })
    }

    /// Normal `a_k` of guard `k`; empty when there is no such guard.
    pub fn normal(&self, k: usize) -> &[f64] {
        column(&self.normals, k)
    }

    /// Offset `o_k` of guard `k`; NaN when there is no such guard.
    pub fn offset(&self, k: usize) -> f64 {
        self.offsets.get(k).copied().unwrap_or(f64::NAN)
    }

    /// Field `F_b` of a word; empty when there is no such word.
    pub fn field(&self, word: usize) -> &[f64] {
        column(&self.fields, word)
    }
}

fn column(matrix: &DMatrix<f64>, j: usize) -> &[f64] {
    let mut columns = matrix.as_slice().chunks_exact(matrix.nrows().max(1));
    columns.nth(j).unwrap_or_default()
}

impl Flow for FieldTable {
    fn dim(&self) -> usize {
        self.fields.nrows()
    }

    fn flow(&self, _t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let bits = mode.words().next().unwrap_or(0);
        // At most 16 bits are ever on.
        let field = self.field(usize::try_from(bits).unwrap_or(usize::MAX));
        for (dx_i, f_i) in dx.iter_mut().zip(field) {
            *dx_i = *f_i;
        }
    }

    fn jacobian_times(
        &self,
        _t: f64,
        _x: &[f64],
        _mode: &Mode,
        _v: &[f64],
        out: &mut [f64],
    ) -> bool {
        out.fill(0.0);
        true
    }
}

impl EventFunction for FieldTable {
    fn count(&self) -> usize {
        self.offsets.len()
    }

    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        let along: f64 = self.normal(k).iter().zip(x).map(|(a, x)| a * x).sum();
        along - self.offset(k)
    }

    fn events(&self, _t: f64, x: &[f64], _mode: &Mode, h: &mut [f64]) {
        let normals = self.normals.as_slice().chunks_exact(self.normals.nrows());
        for ((h, normal), offset) in h.iter_mut().zip(normals).zip(&self.offsets) {
            *h = normal.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() - offset;
        }
    }

    fn gradient(&self, k: usize, _t: f64, _x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        dh.fill(0.0);
        for (dh_i, a_i) in dh.iter_mut().zip(self.normal(k)) {
            *dh_i = *a_i;
        }
        Some(0.0)
    }

    fn is_affine(&self, _k: usize) -> bool {
        true
    }

    fn ignores_mode(&self) -> bool {
        true
    }

    fn resets(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{assert_events, assert_jacobian, flow};
    use super::*;

    fn oblique() -> FieldTable {
        let normals = DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 0.0, 0.0, -1.0, 3.0]);
        let fields = DMatrix::from_fn(3, 4, |i, word| (10 * word + i) as f64);
        FieldTable::new(normals, &[0.5, -0.25], fields).unwrap()
    }

    #[test]
    fn the_word_of_the_mode_chooses_the_field() {
        let table = oblique();
        for word in 0..4 {
            let on: Vec<_> = (0..2).filter(|k| word >> k & 1 == 1).collect();
            let expected: Vec<_> = (0..3).map(|i| f64::from(10 * word + i)).collect();
            assert_eq!(flow(&table, &[0.0; 3], &Mode::with(2, &on)), expected);
        }
    }

    #[test]
    fn guards_are_the_planes_that_were_given() {
        let table = oblique();
        let x = [0.3, -0.4, 0.7];
        let mode = Mode::new(2);
        assert!((table.event(0, 0.0, &x, &mode) - (0.3 - 0.8 - 0.5)).abs() < 1e-15);
        assert!((table.event(1, 0.0, &x, &mode) - (0.4 + 2.1 + 0.25)).abs() < 1e-15);
        assert_events(&table, &x, &mode);
        assert_jacobian(&table, &table, &x, &mode);
    }

    #[test]
    fn sixteen_guards_are_accepted_and_seventeen_refused() {
        let table = |n: usize| {
            let fields = DMatrix::from_element(1, 1 << n.min(16), 1.0);
            FieldTable::new(DMatrix::from_element(n, 1, 1.0), &vec![0.0; n], fields)
        };
        assert!(table(16).is_ok());
        assert!(matches!(table(17), Err(InputError::BadSetting { .. })));
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        let normals = || DMatrix::identity(2, 2);
        let fields = || DMatrix::from_element(2, 4, 1.0);
        assert!(FieldTable::new(normals(), &[0.0; 2], fields()).is_ok());
        assert!(matches!(
            FieldTable::new(normals(), &[0.0; 3], fields()),
            Err(InputError::WrongLength {
                name: "offsets",
                ..
            })
        ));
        assert!(FieldTable::new(normals(), &[0.0; 2], DMatrix::zeros(2, 3)).is_err());
        assert!(FieldTable::new(normals(), &[0.0; 2], DMatrix::zeros(3, 4)).is_err());
        assert!(FieldTable::new(DMatrix::zeros(2, 2), &[0.0; 2], fields()).is_err());
        assert!(FieldTable::new(DMatrix::zeros(0, 0), &[], DMatrix::zeros(0, 1)).is_err());
        assert!(FieldTable::new(normals(), &[0.0, f64::NAN], fields()).is_err());
    }

    #[test]
    fn without_guards_it_is_a_plain_constant_field() {
        let field = DMatrix::from_column_slice(2, 1, &[3.0, 4.0]);
        let table = FieldTable::new(DMatrix::zeros(0, 2), &[], field).unwrap();
        assert_eq!(flow(&table, &[0.0; 2], &Mode::new(0)), [3.0, 4.0]);
    }
}
