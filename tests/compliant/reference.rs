//! The problems of `sap_problems.json`: read into [`Problem`], with what is expected of them.
//! Impulses and rows of the file are `(t₁, t₂, n)`, here `(n, t₁, t₂)`.

use saltation::compliant::{Problem, Region, Softness};
use saltation::mechanics::ContactParameters;
use serde_json::Value;

/// A problem with its expected solution.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) problem: Problem,
    pub(crate) guess: Vec<f64>,
    pub(crate) expected: Value,
}

impl Case {
    /// A list of numbers of the expected solution.
    pub(crate) fn list(&self, key: &str) -> Vec<f64> {
        numbers(&self.expected[key])
    }

    /// A number of the expected solution.
    pub(crate) fn number(&self, key: &str) -> f64 {
        self.expected[key].as_f64().expect("a number")
    }

    /// The expected impulses, `[n, t₁, t₂]` each.
    pub(crate) fn impulses(&self) -> Vec<[f64; 3]> {
        let all = self.list("gamma");
        all.chunks_exact(3).map(|g| [g[2], g[0], g[1]]).collect()
    }

    /// The expected regions.
    pub(crate) fn regions(&self) -> Vec<Region> {
        let modes = self.expected["mode"].as_array().expect("modes");
        let region = |mode: &Value| match mode.as_str() {
            Some("stick") => Region::Stiction,
            Some("slide") => Region::Sliding,
            Some("none") => Region::NoContact,
            other => panic!("{other:?}"),
        };
        modes.iter().map(region).collect()
    }

    /// A matrix of the expected solution, by rows.
    pub(crate) fn matrix(&self, key: &str) -> Vec<Vec<f64>> {
        let rows = self.expected[key].as_array().expect("rows");
        rows.iter().map(numbers).collect()
    }
}

/// The numbers of a list of any depth.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        Value::Number(number) => vec![number.as_f64().expect("a double")],
        other => panic!("{other}"),
    }
}

/// All problems of the file.
pub(crate) fn cases() -> Vec<Case> {
    let text = include_str!("../data/sap_problems.json");
    let file: Value = serde_json::from_str(text).expect("JSON");
    let problems = file["problems"].as_array().expect("problems");
    problems.iter().map(case).collect()
}

fn case(value: &Value) -> Case {
    let number = |key: &str| value[key].as_f64().expect("a number");
    let mut problem = Problem::new(number("dt")).expect("dt");
    let mut softness = Softness::default();
    (softness.near_rigid, softness.stiction) = (number("beta"), number("sigma"));
    problem.reset(number("dt"), softness).expect("softness");
    let free = numbers(&value["v_star"]);
    let mut start = 0;
    for (width, block) in value["trees"]
        .as_array()
        .expect("trees")
        .iter()
        .zip(value["A"].as_array().expect("A"))
    {
        let width = usize::try_from(width.as_u64().expect("width")).expect("width");
        let free = &free[start..start + width];
        problem.add_tree(&numbers(block), free).expect("tree");
        start += width;
    }
    for (i, contact) in value["contacts"]
        .as_array()
        .expect("contacts")
        .iter()
        .enumerate()
    {
        let number = |key: &str| contact[key].as_f64().expect("a number");
        let mut parameters = ContactParameters::new(i, number("phi0"));
        parameters.stiffness = number("k");
        parameters.dissipation_time = number("tau_d");
        parameters.friction = number("mu");
        let blocks: Vec<(usize, Vec<f64>)> = contact["blocks"]
            .as_array()
            .expect("blocks")
            .iter()
            .map(|block| {
                let tree = usize::try_from(block["tree"].as_u64().expect("tree")).expect("tree");
                let rows = block["J"].as_array().expect("J");
                let rows = [&rows[2], &rows[0], &rows[1]];
                (tree, rows.into_iter().flat_map(numbers).collect())
            })
            .collect();
        let blocks: Vec<(usize, &[f64])> = blocks.iter().map(|(t, j)| (*t, &j[..])).collect();
        problem.add_contact(&parameters, &blocks).expect("contact");
    }
    Case {
        name: value["name"].as_str().expect("name").to_owned(),
        problem,
        guess: numbers(&value["v_guess"]),
        expected: value["expected"].clone(),
    }
}
