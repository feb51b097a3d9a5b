//! Complementarity problems of impacts with friction: the steps of the examples of Halm & Posa, and
//! random contacts.

use saltation::lcp::LcpSolver;

use crate::contacts::{Contacts, Lcp};

use super::draw;

/// Problems a case goes through in one call.
pub(crate) const COUNT: usize = 64;

/// Problems of one kind.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    problems: Vec<Lcp>,
}

impl Case {
    fn new(name: &'static str, make: impl FnMut() -> Lcp) -> Self {
        Self {
            name,
            problems: std::iter::repeat_with(make).take(COUNT).collect(),
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.problems[0].1.len()
    }

    /// Solves all; pivots made.
    pub(crate) fn runner(&self) -> impl FnMut() -> usize {
        let mut solver = LcpSolver::new(self.size());
        move || {
            let pivots = self.problems.iter().map(|(w, q)| {
                let solution = solver.solve(w, q);
                solution.expect("contact problems have solutions").pivots()
            });
            pivots.sum()
        }
    }
}

/// The four examples with two contacts, that with five, and random contacts of rank 3 each body;
/// with bounds on the normal impulses and without.
pub(crate) fn cases() -> Vec<Case> {
    let mut j = 0;
    let mut unit = move || {
        j += 1;
        draw(j) + 0.5
    };
    let mut cases = Vec::new();
    for (name, contacts, bound) in [
        ("block", Contacts::block(1.0), 0.3),
        ("compass", Contacts::compass(), 0.25),
        ("box and wall", Contacts::box_and_wall(), 2.0),
        ("RAMone", Contacts::ramone(), 1.0),
        ("disks", Contacts::disks(), 1.0),
    ] {
        cases.push(Case::new(name, steps(contacts, bound, &mut unit)));
    }
    for (name, contacts, bodies) in [
        ("2 random, bounded", 2, 1),
        ("5 random, bounded", 5, 3),
        ("12 random, bounded", 12, 6),
    ] {
        cases.push(Case::new(name, || {
            let most: Vec<f64> = (0..contacts).map(|_| unit()).collect();
            Contacts::random(contacts, bodies, &mut unit).boxed(&most, 2)
        }));
    }
    for (name, contacts, bodies) in [("2 random", 2, 1), ("5 random", 5, 3), ("12 random", 12, 6)] {
        cases.push(Case::new(name, || {
            Contacts::random(contacts, bodies, &mut unit).unboxed(2)
        }));
    }
    cases.push(Case::new("foot of 4 in space", || {
        Contacts::foot(4, &mut unit).unboxed(4)
    }));
    cases
}

/// The steps of random impacts, until nothing approaches any more, again and again.
fn steps(start: Contacts, bound: f64, unit: &mut impl FnMut() -> f64) -> impl FnMut() -> Lcp {
    let mut solver = LcpSolver::new(25);
    let mut now = start.clone();
    move || {
        let m = now.count();
        let most: Vec<f64> = (0..m).map(|_| bound * unit()).collect();
        let (w, q) = now.boxed(&most, 2);
        let solution = solver.solve(&w, &q).expect("a step has a solution");
        now.speeds = now.speeds_after(&solution.z()[m..], 2);
        if now.speeds.rows(0, m).min() >= -1e-8 {
            now = start.clone();
        }
        (w, q)
    }
}
