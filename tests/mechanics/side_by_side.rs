//! Two systems integrated as one do what each does alone.

use saltation::mechanics::{EventDriven, MechanicalSystem, Simulation, UnilateralConstraints};

use crate::family::{Family, at_contact, start_before};

struct Both(Family, Family);
impl Both {
    fn split<'x>(&self, x: &'x [f64]) -> (&'x [f64], &'x [f64]) {
        x.split_at(self.0.dof())
    }
}
impl MechanicalSystem for Both {
    fn dof(&self) -> usize {
        self.0.dof() + self.1.dof()
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        let (a, b, d) = (self.0.dof(), self.1.dof(), self.dof());
        let (qa, qb) = self.split(q);
        let (mut ma, mut mb) = (vec![0.0; a * a], vec![0.0; b * b]);
        self.0.mass(qa, &mut ma);
        self.1.mass(qb, &mut mb);
        mass.fill(0.0);
        for (own, size, from) in [(&ma, a, 0), (&mb, b, a)] {
            for i in 0..size {
                for k in 0..size {
                    mass[(from + k) * d + from + i] = own[k * size + i];
                }
            }
        }
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        let ((qa, qb), (va, vb)) = (self.split(q), self.split(v));
        let (ea, eb) = effort.split_at_mut(self.0.dof());
        self.0.effort(t, qa, va, ea);
        self.1.effort(t, qb, vb, eb);
    }
    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        let ((qa, qb), (va, vb)) = (self.split(q), self.split(v));
        let (fa, fb) = force.split_at_mut(self.0.dof());
        self.0.coriolis(qa, va, fa) && self.1.coriolis(qb, vb, fb)
    }
}
impl UnilateralConstraints for Both {
    fn contacts(&self) -> usize {
        self.0.contacts() + self.1.contacts()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let ((qa, qb), n) = (self.split(q), self.0.contacts());
        if j < n {
            self.0.gap(j, qa)
        } else {
            self.1.gap(j - n, qb)
        }
    }
    fn restitution(&self, j: usize, q: &[f64], v: &[f64]) -> f64 {
        let n = self.0.contacts();
        if j < n {
            self.0.restitution(j, q, v)
        } else {
            self.1.restitution(j - n, q, v)
        }
    }
}

#[test]
fn two_systems_in_one_are_as_if_each_ran_alone() {
    let (a, b) = (Family::random(2, 0.5, 11), Family::random(1, 0.6, 12));
    let starts: Vec<Vec<f64>> = [(&a, 11), (&b, 12)]
        .into_iter()
        .map(|(family, seed)| {
            let (q, v) = at_contact(family, seed);
            start_before(&EventDriven::new(family.clone()), (&q, &v), 0.1)
        })
        .collect();
    let alone: Vec<_> = [(&a, &starts[0]), (&b, &starts[1])]
        .into_iter()
        .map(|(family, x)| {
            let d = family.dof();
            let mut simulation = Simulation::new(EventDriven::new(family.clone()))
                .unwrap()
                .rtol(1e-11);
            simulation.run(0.0, &x[..d], &x[d..], 0.15).unwrap()
        })
        .collect();
    let (da, db) = (a.dof(), b.dof());
    let q = [&starts[0][..da], &starts[1][..db]].concat();
    let v = [&starts[0][da..], &starts[1][db..]].concat();
    let mut simulation = Simulation::new(EventDriven::new(Both(a, b)))
        .unwrap()
        .rtol(1e-11);
    let both = simulation.run(0.0, &q, &v, 0.15).unwrap();
    let (x, d) = (both.trajectory().state(), da + db);
    for (i, own) in [(0, &alone[0]), (da, &alone[1])] {
        let size = own.trajectory().state().len() / 2;
        for k in 0..size {
            assert!((x[i + k] - own.trajectory().state()[k]).abs() < 1e-9);
            assert!((x[d + i + k] - own.trajectory().state()[size + k]).abs() < 1e-8);
        }
    }
    let mut merged: Vec<(f64, Vec<usize>)> = Vec::new();
    for (run, offset) in [(&alone[0], 0), (&alone[1], 2)] {
        for event in run.events() {
            merged.push((
                event.time,
                event.activated.iter().map(|j| j + offset).collect(),
            ));
        }
    }
    merged.sort_by(|a, b| a.0.total_cmp(&b.0));
    let found: Vec<usize> = both
        .events()
        .iter()
        .flat_map(|e| e.activated.clone())
        .collect();
    let mut expected: Vec<usize> = merged.iter().flat_map(|m| m.1.clone()).collect();
    let mut found_sorted = found.clone();
    found_sorted.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found_sorted, expected);
    assert!(found.len() >= 3);
}
