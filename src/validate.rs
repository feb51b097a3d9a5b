//! Input validation shared by all public entry points.

use crate::InputError;

/// Limit of the springs, masses or cells of a model: beyond it a typing error is likelier than a
/// wish.
pub(crate) const MOST: usize = 1_000_000;

/// Limit of the entries of a matrix whose size a model gives: 0.8 GB.
const MOST_ENTRIES: usize = 100_000_000;

/// Refuses values that are NaN or infinite.
#[inline]
pub(crate) fn finite(name: &'static str, values: &[f64]) -> Result<(), InputError> {
    // Zero times a finite number is zero, and NaN otherwise: without branches, since impacts and
    // solvers ask often.
    if values.iter().map(|v| v * 0.0).sum::<f64>() == 0.0 {
        return Ok(());
    }
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(entry) => Err(InputError::NotFinite {
            name,
            entry,
            value: values[entry],
        }),
    }
}

/// Refuses values that are not finite or not > 0.
pub(crate) fn positive(name: &'static str, values: &[f64]) -> Result<(), InputError> {
    accepted(name, values, "must be finite and > 0", |v| v > 0.0)
}

/// Refuses values that are not finite or not ≥ 0.
pub(crate) fn not_negative(name: &'static str, values: &[f64]) -> Result<(), InputError> {
    accepted(name, values, "must be finite and ≥ 0", |v| v >= 0.0)
}

/// Refuses values that are not finite or break `rule`.
pub(crate) fn accepted(
    name: &'static str,
    values: &[f64],
    rule: &'static str,
    accept: impl Fn(f64) -> bool,
) -> Result<(), InputError> {
    match values.iter().position(|&v| !(v.is_finite() && accept(v))) {
        None => Ok(()),
        Some(entry) => Err(InputError::BadSetting {
            name,
            entry,
            value: values[entry],
            rule,
        }),
    }
}

/// Refuses a single value when it is not `kept` to `rule`.
pub(crate) fn unless(
    kept: bool,
    name: &'static str,
    value: f64,
    rule: &'static str,
) -> Result<(), InputError> {
    if kept {
        return Ok(());
    }
    accepted(name, &[value], rule, |_| false)
}

/// The error of a part that starts at entry `start`, as an entry of the whole.
pub(crate) fn counted_from(start: usize) -> impl Fn(InputError) -> InputError {
    move |mut error| {
        if let InputError::NotFinite { entry, .. } | InputError::BadSetting { entry, .. } =
            &mut error
        {
            *entry += start;
        }
        error
    }
}

/// The error of the rows of a term, with the number of the term.
pub(crate) fn rows_of(what: &'static str, index: usize) -> impl Fn(InputError) -> InputError {
    move |reason| InputError::RowsOfTerm {
        what,
        index,
        reason: Box::new(reason),
    }
}

/// Refuses a matrix of more entries than a machine should be asked for.
pub(crate) fn entries(name: &'static str, rows: usize, columns: usize) -> Result<(), InputError> {
    let (found, rule) = (rows.saturating_mul(columns), "must not exceed 100000000");
    unless(found <= MOST_ENTRIES, name, found as f64, rule)
}

/// Refuses more than [`MOST`] parts.
pub(crate) fn at_most(name: &'static str, found: usize) -> Result<(), InputError> {
    let rule = "must not exceed 1000000";
    unless(found <= MOST, name, found as f64, rule)
}

/// Refuses a number of parts outside 1 … [`MOST`].
pub(crate) fn count(name: &'static str, found: usize) -> Result<(), InputError> {
    let rule = "must lie between 1 and 1000000";
    unless((1..=MOST).contains(&found), name, found as f64, rule)
}

/// Refuses a wrong length.
#[inline]
pub(crate) fn length(name: &'static str, expected: usize, found: usize) -> Result<(), InputError> {
    if expected == found {
        return Ok(());
    }
    Err(InputError::WrongLength {
        name,
        expected,
        found,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_refused_by_every_check() {
        let refused = finite("v", &[1.0, f64::NAN]);
        assert!(matches!(
            refused,
            Err(InputError::NotFinite { entry: 1, .. })
        ));
        for check in [positive, not_negative] {
            for wrong in [f64::NAN, f64::INFINITY] {
                let refused = check("v", &[1.0, wrong]);
                assert!(matches!(
                    refused,
                    Err(InputError::BadSetting { entry: 1, .. })
                ));
            }
        }
    }

    #[test]
    fn zero_is_not_positive_and_not_negative() {
        assert!(matches!(
            positive("v", &[1.0, 0.0]),
            Err(InputError::BadSetting { entry: 1, .. })
        ));
        assert_eq!(not_negative("v", &[0.0]), Ok(()));
        assert!(not_negative("v", &[-1e-300]).is_err());
    }

    #[test]
    fn counts_have_two_bounds() {
        assert!(count("n", 0).is_err() && count("n", MOST + 1).is_err());
        assert_eq!(count("n", 1).and(count("n", MOST)), Ok(()));
    }
}
