//! Refusals shared by the constructors of this folder.

use crate::Error;

/// Most springs, masses or cells of a model: beyond it a typing error is likelier than a wish.
pub(super) const MOST: usize = 1_000_000;

/// Refuses values that are NaN or infinite.
pub(super) fn finite(name: &'static str, values: &[f64]) -> Result<(), Error> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(entry) => Err(Error::NotFiniteInput {
            name,
            entry,
            value: values[entry],
        }),
    }
}

/// Refuses values that are not finite or not > 0.
pub(super) fn positive(name: &'static str, values: &[f64]) -> Result<(), Error> {
    accepted(name, values, "must be > 0", |v| v > 0.0)
}

/// Refuses values that are not finite or not ≥ 0.
pub(super) fn not_negative(name: &'static str, values: &[f64]) -> Result<(), Error> {
    accepted(name, values, "must be ≥ 0", |v| v >= 0.0)
}

/// Refuses values that are not finite or break `rule`.
pub(super) fn accepted(
    name: &'static str,
    values: &[f64],
    rule: &'static str,
    accept: impl Fn(f64) -> bool,
) -> Result<(), Error> {
    finite(name, values)?;
    match values.iter().position(|&v| !accept(v)) {
        None => Ok(()),
        Some(entry) => Err(Error::BadSetting {
            name,
            entry,
            value: values[entry],
            rule,
        }),
    }
}

/// Refuses a number of parts outside 1 … [`MOST`].
pub(super) fn count(name: &'static str, found: usize) -> Result<(), Error> {
    accepted(
        name,
        &[found as f64],
        "must lie between 1 and 1000000",
        |_| (1..=MOST).contains(&found),
    )
}

/// Refuses a wrong length.
pub(super) fn length(name: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found {
        return Ok(());
    }
    Err(Error::WrongLength {
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
        for check in [finite, positive, not_negative] {
            let refused = check("v", &[1.0, f64::NAN]);
            assert!(matches!(
                refused,
                Err(Error::NotFiniteInput { entry: 1, .. })
            ));
        }
    }

    #[test]
    fn zero_is_not_positive_and_not_negative() {
        assert!(matches!(
            positive("v", &[1.0, 0.0]),
            Err(Error::BadSetting { entry: 1, .. })
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
