//! Rows of the reference files in `tests/data`.

/// One row.
pub(crate) struct Row {
    pub(crate) quantity: &'static str,
    pub(crate) i: &'static str,
    pub(crate) j: &'static str,
    value: &'static str,
}

impl Row {
    pub(crate) fn value(&self) -> f64 {
        self.value.parse().unwrap()
    }

    pub(crate) fn count(&self) -> usize {
        self.value.parse().unwrap()
    }

    /// Contact numbers of the file start at 1.
    pub(crate) fn word(&self) -> Vec<usize> {
        let letters = self.value.split('-');
        letters.map(|n| n.parse::<usize>().unwrap() - 1).collect()
    }
}

/// The rows of a case.
pub(crate) fn case(file: &'static str, case: &str) -> Vec<Row> {
    let rows: Vec<Row> = file
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut fields = line.splitn(7, ',');
            let mut next = || fields.next().unwrap_or_default();
            let (name, quantity, i, j, value) = (next(), next(), next(), next(), next());
            (name == case).then_some(Row {
                quantity,
                i,
                j,
                value,
            })
        })
        .collect();
    assert!(!rows.is_empty(), "no case {case}");
    rows
}

/// A case of the file on propagative impact.
pub(crate) fn propagative(name: &str) -> Vec<Row> {
    case(include_str!("../data/propagative_reference.csv"), name)
}

/// The rows of one quantity.
pub(crate) fn of<'r>(rows: &'r [Row], quantity: &'r str) -> impl Iterator<Item = &'r Row> {
    rows.iter().filter(move |row| row.quantity == quantity)
}

/// The only row of a quantity.
pub(crate) fn one<'r>(rows: &'r [Row], quantity: &'r str) -> &'r Row {
    let mut found = of(rows, quantity);
    let row = found.next().unwrap_or_else(|| panic!("no {quantity}"));
    assert!(found.next().is_none(), "several {quantity}");
    row
}

/// The values of a quantity, in the order of the file.
pub(crate) fn values(rows: &[Row], quantity: &str) -> Vec<f64> {
    of(rows, quantity).map(Row::value).collect()
}
