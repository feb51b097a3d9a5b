//! Cases of `set_valued_reference.csv`.

use saltation::impact::ImpactProblem;
use saltation::nalgebra::{DMatrix, DVector};

const FILE: &str = include_str!("../data/set_valued_reference.csv");

/// One row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) quantity: &'static str,
    pub(crate) k: &'static str,
    i: &'static str,
    j: &'static str,
    pub(crate) text: &'static str,
    pub(crate) tolerance: &'static str,
}

impl Row {
    pub(crate) fn value(&self) -> f64 {
        self.text.parse().unwrap()
    }

    pub(crate) fn tolerance(&self) -> f64 {
        self.tolerance.parse().unwrap()
    }

    /// The name of the component, where rows have one.
    pub(crate) fn component(&self) -> &'static str {
        self.j
    }

    fn at(&self) -> [usize; 2] {
        [self.i, self.j].map(|field| field.parse().unwrap_or(0))
    }
}

/// The rows of a case.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    rows: Vec<Row>,
}

impl Case {
    pub(crate) fn named(name: &'static str) -> Self {
        let rows: Vec<Row> = FILE
            .lines()
            .skip(1)
            .filter_map(|line| {
                let mut fields = line.splitn(8, ',');
                let mut next = || fields.next().unwrap_or_default();
                let (case, quantity, k, i, j) = (next(), next(), next(), next(), next());
                let (text, tolerance) = (next(), next());
                (case == name).then_some(Row {
                    quantity,
                    k,
                    i,
                    j,
                    text,
                    tolerance,
                })
            })
            .collect();
        assert!(!rows.is_empty(), "no case {name}");
        Self { name, rows }
    }

    pub(crate) fn of(&self, quantity: &str) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.quantity == quantity)
    }

    /// The only row of a quantity.
    pub(crate) fn one(&self, quantity: &str) -> &Row {
        let mut found = self.of(quantity);
        let row = found.next().unwrap_or_else(|| panic!("no {quantity}"));
        assert!(found.next().is_none(), "several {quantity}");
        row
    }

    pub(crate) fn value(&self, quantity: &str) -> f64 {
        self.one(quantity).value()
    }

    pub(crate) fn vector(&self, quantity: &str) -> DVector<f64> {
        DVector::from_iterator(self.of(quantity).count(), self.of(quantity).map(Row::value))
    }

    /// The vector of a quantity for one `k`.
    pub(crate) fn vector_of(&self, quantity: &str, k: usize) -> DVector<f64> {
        let k = k.to_string();
        let rows: Vec<f64> = self
            .of(quantity)
            .filter(|row| row.k == k)
            .map(Row::value)
            .collect();
        DVector::from_vec(rows)
    }

    pub(crate) fn matrix(&self, quantity: &str) -> DMatrix<f64> {
        let last = self
            .of(quantity)
            .map(Row::at)
            .fold([0, 0], |a, b| [a[0].max(b[0]), a[1].max(b[1])]);
        let mut matrix = DMatrix::zeros(last[0] + 1, last[1] + 1);
        for row in self.of(quantity) {
            let [i, j] = row.at();
            matrix[(i, j)] = row.value();
        }
        matrix
    }

    /// The impact, from the mass matrix.
    pub(crate) fn problem(&self) -> ImpactProblem {
        self.problem_with(self.vector("mu").as_slice())
    }

    pub(crate) fn problem_with(&self, mu: &[f64]) -> ImpactProblem {
        let (normals, tangents) = (self.matrix("Jn"), self.matrix("Jt"));
        let m = normals.nrows();
        let jacobian = DMatrix::from_fn(2 * m, normals.ncols(), |i, j| {
            if i < m {
                normals[(i, j)]
            } else {
                tangents[(i - m, j)]
            }
        });
        ImpactProblem::from_mechanics_with_tangents(
            &self.matrix("M"),
            &jacobian,
            &self.vector("v_pre"),
            mu,
        )
        .unwrap()
    }

    /// The impact of one contact given in contact space.
    pub(crate) fn one_contact(&self, mu: f64) -> ImpactProblem {
        ImpactProblem::with_tangents(self.matrix("G"), self.vector("u_pre"), &[mu]).unwrap()
    }
}

/// The five examples of the paper, and the stack as it was coded.
pub(crate) const EXAMPLES: [&str; 6] = [
    "rocking_block",
    "compass_gait",
    "box_wall",
    "ramone",
    "disk_stack",
    "disk_stack_as_coded",
];
