//! Problems of the reference file.

use crate::random_bits::SplitMix64;
use saltation::impact::ImpactProblem;
use saltation::nalgebra::{DMatrix, DVector};

const FILE: &str = include_str!("../data/set_valued_reference.csv");

/// One row.
pub(crate) struct Row {
    pub(crate) quantity: &'static str,
    pub(crate) k: usize,
    pub(crate) i: usize,
    pub(crate) j: usize,
    pub(crate) value: f64,
    pub(crate) tolerance: f64,
}

/// The rows of a case.
pub(crate) fn case(case: &str) -> Vec<Row> {
    let rows = FILE.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.splitn(8, ',').collect();
        let index = |f: &str| f.parse().unwrap_or(0);
        (fields[0] == case).then(|| Row {
            quantity: fields[1],
            k: index(fields[2]),
            i: index(fields[3]),
            j: index(fields[4]),
            value: fields[5].parse().unwrap_or(f64::NAN),
            tolerance: fields[6].parse().unwrap_or(f64::NAN),
        })
    });
    let rows: Vec<Row> = rows.collect();
    assert!(!rows.is_empty(), "no case {case}");
    rows
}

/// A vector of the file.
pub(crate) fn vector(rows: &[Row], quantity: &str) -> DVector<f64> {
    let of = || rows.iter().filter(|row| row.quantity == quantity);
    let mut v = DVector::zeros(of().map(|row| row.i + 1).max().unwrap_or(0));
    of().for_each(|row| v[row.i] = row.value);
    v
}

/// A matrix of the file.
pub(crate) fn matrix(rows: &[Row], quantity: &str) -> DMatrix<f64> {
    let of = || rows.iter().filter(|row| row.quantity == quantity);
    let size = |index: fn(&Row) -> usize| of().map(|row| index(row) + 1).max().unwrap_or(0);
    let mut m = DMatrix::zeros(size(|row| row.i), size(|row| row.j));
    of().for_each(|row| m[(row.i, row.j)] = row.value);
    m
}

/// The impact of a case whose data are those of `base` but for what it says itself.
pub(crate) fn problem(name: &str, base: &str) -> ImpactProblem {
    let (own, base) = (case(name), case(base));
    let of = |quantity: &str| {
        let found = vector(&own, quantity);
        if found.is_empty() {
            vector(&base, quantity)
        } else {
            found
        }
    };
    let jacobian = |rows: &[Row]| {
        let (normals, tangents) = (matrix(rows, "Jn"), matrix(rows, "Jt"));
        let (m, d) = normals.shape();
        DMatrix::from_fn(2 * m, d, |i, j| {
            if i < m {
                normals[(i, j)]
            } else {
                tangents[(i - m, j)]
            }
        })
    };
    from_rows(
        &matrix(&base, "M"),
        &jacobian(&base),
        &of("v_pre"),
        of("mu").as_slice(),
    )
}

/// A problem from `M`, all rows of `J`, `v` and `μ`.
pub(crate) fn from_rows(
    mass: &DMatrix<f64>,
    jacobian: &DMatrix<f64>,
    velocity: &DVector<f64>,
    mu: &[f64],
) -> ImpactProblem {
    let response = mass
        .clone()
        .cholesky()
        .unwrap()
        .solve(&jacobian.transpose());
    let delassus = jacobian * response;
    let delassus = 0.5 * (&delassus + delassus.transpose());
    ImpactProblem::with_tangents(delassus, jacobian * velocity, mu).unwrap()
}

/// Two contacts of a body with random mass, rows and velocity.
pub(crate) fn random_problem(random: &mut SplitMix64, mu: [f64; 2]) -> ImpactProblem {
    let d = 3 + usize::from(random.unit() < 0.5);
    let root = DMatrix::from_fn(d, d, |_, _| random.between(-1.0, 1.0));
    let mass = &root * root.transpose() + DMatrix::identity(d, d) * 0.3;
    let jacobian = DMatrix::from_fn(4, d, |_, _| random.between(-1.0, 1.0));
    loop {
        let velocity = DVector::from_fn(d, |_, _| random.between(-1.0, 1.0));
        let problem = from_rows(&mass, &jacobian, &velocity, &mu);
        if problem.speeds()[0].min(problem.speeds()[1]) < -0.05 {
            return problem;
        }
    }
}
