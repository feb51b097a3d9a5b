//! Reading numbers in a row and projections from flags.

use saltation::Projection;

/// `N` numbers with commas between them.
pub(crate) fn row<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let numbers = numbers.map_err(|error| error.to_string())?;
    let found = numbers.len();
    numbers
        .try_into()
        .map_err(|_| format!("{found} numbers, expected {N}"))
}

/// `off`, `auto`, `eps:E:ORDER` or `horizon:TAU:ORDER`.
pub(crate) fn projection(text: &str) -> Result<Projection, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let number = |text: &str| text.parse::<f64>().map_err(|error| error.to_string());
    let order = |text: &str| text.parse::<u8>().map_err(|error| error.to_string());
    match parts.as_slice() {
        ["off"] => Ok(Projection::Off),
        ["auto"] => Ok(Projection::Auto),
        ["eps", eps, o] => Ok(Projection::eps(number(eps)?, order(o)?)),
        ["horizon", tau, o] => Ok(Projection::horizon(number(tau)?, order(o)?)),
        _ => Err("expected off, auto, eps:E:ORDER or horizon:TAU:ORDER".to_owned()),
    }
}
