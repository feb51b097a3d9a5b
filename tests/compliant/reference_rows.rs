//! The rows of `sap_reference.csv`; each is checked by a test.

use std::collections::HashMap;

/// A row of the reference.
pub(crate) struct Row {
    pub(crate) group: String,
    pub(crate) case: String,
    parameters: HashMap<String, String>,
    pub(crate) quantity: String,
    pub(crate) value: f64,
    digits: String,
    tolerance: String,
}

impl Row {
    /// A number among the parameters.
    pub(crate) fn number(&self, key: &str) -> f64 {
        let found = self.parameters.get(key);
        let found = found.unwrap_or_else(|| panic!("{self:?} has no {key}"));
        found.parse().expect("a number")
    }

    /// True for the limit of short steps.
    pub(crate) fn is_limit(&self) -> bool {
        !self.parameters.contains_key("dt")
    }

    /// What the row allows, and half of the last digit that it gives.
    fn tolerance(&self) -> f64 {
        let words: Vec<&str> = self.tolerance.split(' ').collect();
        let stated: f64 = match words[0] {
            "" => 0.0,
            "exact" => 1e-9,
            number => number.parse().expect("a tolerance"),
        };
        let stated = match words.get(1) {
            Some(&"relative") => stated * self.value.abs(),
            Some(&"%") => 0.01 * stated * self.value.abs(),
            _ => stated,
        };
        let (mantissa, exponent) = self.digits.split_once('e').unwrap_or((&self.digits, "0"));
        let decimals = mantissa
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len());
        let exponent: i32 = exponent.parse().expect("an exponent");
        let last = 10_f64.powi(exponent - i32::try_from(decimals).expect("few decimals"));
        // A whole number is exact.
        stated
            + if decimals > 0 {
                0.5 * last
            } else {
                4.0 * f64::EPSILON * self.value.abs()
            }
    }

    /// Compares with what was found.
    pub(crate) fn is(&self, found: f64) {
        let off = (found - self.value).abs();
        assert!(
            off <= self.tolerance(),
            "{self:?}: {found:e}, off by {off:e}"
        );
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parameters: Vec<_> = self.parameters.iter().collect();
        parameters.sort();
        write!(
            f,
            "{}, {}, {}, {parameters:?}",
            self.group, self.case, self.quantity
        )
    }
}

/// The fields of a line; those in quotes may hold commas.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().expect("a field").push(c),
        }
    }
    fields
}

/// All rows of the file.
fn rows() -> Vec<Row> {
    let text = include_str!("../data/sap_reference.csv");
    let lines = text.lines().skip(1);
    lines
        .map(|line| {
            let [group, case, parameters, quantity, digits, _, tolerance] = &fields(line)[..]
            else {
                panic!("{line}");
            };
            let parameters = parameters.split(';').filter_map(|p| p.split_once('='));
            Row {
                group: group.clone(),
                case: case.clone(),
                parameters: parameters
                    .map(|(k, v)| (k.to_owned(), v.to_owned()))
                    .collect(),
                quantity: quantity.clone(),
                value: digits.parse().expect("a value"),
                digits: digits.clone(),
                tolerance: tolerance.clone(),
            }
        })
        .collect()
}

/// The rows of a group and of the cases that start like this.
pub(crate) fn of(group: &str, case: &str) -> Vec<Row> {
    let mut rows = rows();
    rows.retain(|row| row.group == group && row.case.starts_with(case));
    assert!(!rows.is_empty(), "{group}, {case}");
    rows
}

/// Groups and starts of the cases that a test goes through. Those tests know all quantities or
/// fail.
const CHECKED: [(&str, &str); 8] = [
    ("spring_cylinder", ""),
    ("incline", "stick"),
    ("incline", "slide"),
    ("gliding", "constant speed"),
    ("gliding", "contact listed only when phi<0"),
    ("rolling", ""),
    ("stack", "interface"),
    ("slip_parameter", "tilted stack"),
];

#[test]
fn every_row_is_checked_by_a_test() {
    for row in rows() {
        let known = CHECKED
            .iter()
            .any(|(group, case)| row.group == *group && row.case.starts_with(case));
        assert!(known, "{row:?}");
    }
}
