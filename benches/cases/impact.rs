//! Impacts in contact space: reflections, and laws on random problems.

use std::hint::black_box;

use saltation::impact::{
    ImpactLaw, ImpactProblem, Plastic, Propagative, ReflectionOrder, Reflections, Sequential,
    Unilateral,
};
use saltation::nalgebra::{DMatrix, DVector};

use super::draw;

/// Problems a case goes through in one call.
pub(crate) const COUNT: usize = 64;

/// Numbers of contacts.
pub(crate) const SIZES: [usize; 3] = [2, 4, 8];

/// Elements that a call of `run` goes through.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) run: Box<dyn FnMut() -> usize>,
}

/// Delassus matrices and speeds of chains whose neighbours press on each other: `C_ij = −c` next to
/// the diagonal, so that impulses go to and fro, and speeds at random.
fn problems(n: usize) -> Vec<(DMatrix<f64>, DVector<f64>)> {
    (0..COUNT)
        .map(|k| {
            let c = -0.45 - 0.04 * draw(k);
            let gram = DMatrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
                0 => 1.0,
                1 => c,
                _ => 0.0,
            });
            let speeds = DVector::from_fn(n, |i, _| draw(COUNT + n * k + i) - 0.3);
            (gram, speeds)
        })
        .collect()
}

/// Reflections to the end of each problem; elements are reflections.
pub(crate) fn reflections() -> Vec<Case> {
    let rules = [
        ("least speed", ReflectionOrder::ArgMin),
        ("index order", ReflectionOrder::IndexOrder),
    ];
    let mut cases = Vec::new();
    for n in SIZES {
        for (name, rule) in rules {
            let mut ready: Vec<_> = problems(n)
                .into_iter()
                .map(|(gram, speeds)| {
                    let problem = ImpactProblem::new(gram, speeds.clone()).expect("a problem");
                    (Reflections::new(&problem), speeds)
                })
                .collect();
            let run = move || {
                let words = ready.iter_mut().map(|(reflections, speeds)| {
                    let speeds = black_box(speeds.as_slice());
                    reflections.restart(speeds, 1e-12).expect("speeds");
                    reflections.run(rule, 100_000).expect("an end")
                });
                words.sum()
            };
            cases.push(Case {
                name: format!("{name}, n = {n}"),
                run: Box::new(run),
            });
        }
    }
    cases
}

/// Problems made, and resolved by each law; elements are problems.
pub(crate) fn laws() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in SIZES {
        let given = problems(n);
        let make = move || {
            for (gram, speeds) in &given {
                black_box(ImpactProblem::new(gram.clone(), speeds.clone()).expect("a problem"));
            }
            COUNT
        };
        cases.push(Case {
            name: format!("problem made, n = {n}"),
            run: Box::new(make),
        });
        let laws: [(&str, Box<dyn ImpactLaw>); 4] = [
            ("Unilateral", Box::new(Unilateral)),
            ("Plastic", Box::new(Plastic)),
            ("Sequential", Box::new(Sequential::default())),
            ("Propagative", Box::new(Propagative::default())),
        ];
        for (name, law) in laws {
            let ready: Vec<_> = problems(n)
                .into_iter()
                .map(|(gram, speeds)| ImpactProblem::new(gram, speeds).expect("a problem"))
                .collect();
            let run = move || {
                for problem in &ready {
                    black_box(law.resolve(problem).expect("an outcome"));
                }
                COUNT
            };
            cases.push(Case {
                name: format!("{name}, n = {n}"),
                run: Box::new(run),
            });
        }
    }
    cases
}
