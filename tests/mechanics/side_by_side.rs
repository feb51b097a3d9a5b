//! Two systems integrated as one do what each does alone.

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven};
use saltation::{Run, Start};

use crate::fixtures::family::{Family, at_contact, start_before};

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
    let starts: Vec<Vec<f64>> = [(&a, 11, 0.1), (&b, 12, 0.09)]
        .into_iter()
        .map(|(family, seed, ahead)| {
            let (q, v) = at_contact(family, seed);
            start_before(&ContactModel::new(family.clone()), (&q, &v), ahead)
        })
        .collect();
    let alone: Vec<_> = [(&a, &starts[0]), (&b, &starts[1])]
        .into_iter()
        .map(|(family, x)| {
            let d = family.dof();
            let mut simulation = EventDriven::new(ContactModel::new(family.clone()))
                .unwrap()
                .rtol(1e-11)
                .atol(1e-12);
            simulation
                .integrate(&Start::at(0.0).q(&x[..d]).v(&x[d..]), 0.15)
                .unwrap()
        })
        .collect();
    let (da, db) = (a.dof(), b.dof());
    let q = [&starts[0][..da], &starts[1][..db]].concat();
    let v = [&starts[0][da..], &starts[1][db..]].concat();
    let mut simulation = EventDriven::new(ContactModel::new(Both(a, b)))
        .unwrap()
        .rtol(1e-11)
        .atol(1e-12);
    let both = simulation
        .integrate(&Start::at(0.0).q(&q).v(&v), 0.15)
        .unwrap();
    let (x, d) = (both.state(), da + db);
    for (i, own) in [(0, &alone[0]), (da, &alone[1])] {
        let size = own.state().len() / 2;
        for k in 0..size {
            assert!((x[i + k] - own.state()[k]).abs() < 1e-9);
            assert!((x[d + i + k] - own.state()[size + k]).abs() < 1e-9);
        }
    }
    // The log is that of both, merged by time; what is simultaneous to rounding may be one event or
    // several.
    let activations = |run: &Run, offset: usize| {
        let events = run.events().iter();
        let each = events.flat_map(move |e| e.activated.iter().map(move |j| (e.t, j + offset)));
        each.collect::<Vec<(f64, usize)>>()
    };
    let mut merged = [activations(&alone[0], 0), activations(&alone[1], 2)].concat();
    merged.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(merged.len() == 3 && merged[0].1 == 2, "{merged:?}");
    let mut found = activations(&both, 0);
    assert!(found.is_sorted_by(|a, b| a.0 <= b.0));
    for list in [&mut merged, &mut found] {
        list[1..].sort_by_key(|&(_, contact)| contact);
    }
    assert_eq!(found.len(), merged.len());
    for (found, expected) in found.iter().zip(&merged) {
        assert!((found.0 - expected.0).abs() < 1e-9 && found.1 == expected.1);
    }
}
