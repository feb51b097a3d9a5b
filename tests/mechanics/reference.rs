//! Rows of a reference file: case, quantity, two indices, value.

use std::collections::BTreeMap;

/// One row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) quantity: String,
    pub(crate) i: String,
    pub(crate) j: String,
    pub(crate) value: String,
}

impl Row {
    pub(crate) fn number(&self) -> f64 {
        self.value
            .parse()
            .unwrap_or_else(|_| panic!("a number: {self:?}"))
    }
}

pub(crate) fn rows(text: &str) -> Vec<Row> {
    text.lines()
        .skip(1)
        .map(|line| {
            // Values may hold commas only inside braces, which the files do not have: {12} stands
            // for both.
            let mut parts = line.split(',').map(str::to_owned);
            let mut next = || parts.next().unwrap_or_default();
            Row {
                case: next(),
                quantity: next(),
                i: next(),
                j: next(),
                value: next(),
            }
        })
        .collect()
}

/// Rows of one case by their first index.
pub(crate) fn by_index(rows: &[Row], case: &str) -> BTreeMap<String, Vec<Row>> {
    let mut found: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.case == case) {
        found.entry(row.i.clone()).or_default().push(row.clone());
    }
    found
}
