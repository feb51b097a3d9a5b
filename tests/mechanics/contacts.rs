//! Contacts as values: parameters and row blocks by tree, and the impact problem made of them.

use saltation::impact::{ImpactFailure, ImpactLaw, ImpactProblem, Unilateral};
use saltation::mechanics::{
    ContactSet, ContactSource, Contacts, MechanicalSystem, UnilateralConstraints, Wanted,
    check_mechanics,
};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{ContactModel, EventDriven};
use saltation::{InputError, Start, Stop};
use std::ops::Range;

use crate::random::SplitMix64;

/// Bodies of random masses, one a tree, and contacts with random rows between two of them or of
/// one.
#[derive(Clone, Debug)]
struct Bodies {
    cuts: Vec<usize>,
    mass: DMatrix<f64>,
    tangents: usize,
    /// Normals first, then the tangents contact by contact.
    rows: DMatrix<f64>,
    gaps: Vec<f64>,
}

impl Bodies {
    fn random(seed: u64, tangents: usize) -> Self {
        let mut draw = SplitMix64(seed);
        let mut cuts = vec![0];
        for _ in 0..=draw.next() % 4 {
            let width = 1 + usize::try_from(draw.next() % 3).unwrap();
            cuts.push(cuts[cuts.len() - 1] + width);
        }
        let (d, trees) = (cuts[cuts.len() - 1], cuts.len() - 1);
        let mut mass = DMatrix::zeros(d, d);
        for tree in cuts.windows(2) {
            let n = tree[1] - tree[0];
            let root = DMatrix::from_fn(n, n, |_, _| draw.between(-1.0, 1.0));
            let block = &root * root.transpose() + DMatrix::identity(n, n);
            mass.view_mut((tree[0], tree[0]), (n, n)).copy_from(&block);
        }
        let contacts = 1 + usize::try_from(draw.next() % 5).unwrap();
        let mut rows = DMatrix::zeros(contacts * (1 + tangents), d);
        for i in 0..contacts {
            for _ in 0..2 {
                let body = usize::try_from(draw.next()).unwrap() % trees;
                for k in 0..=tangents {
                    let row = if k == 0 {
                        i
                    } else {
                        contacts + i * tangents + k - 1
                    };
                    for column in cuts[body]..cuts[body + 1] {
                        rows[(row, column)] = draw.between(-1.0, 1.0);
                    }
                }
            }
        }
        let gaps = (0..contacts).map(|_| draw.between(-1.0, 1.0)).collect();
        Self {
            cuts,
            mass,
            tangents,
            rows,
            gaps,
        }
    }
}

impl MechanicalSystem for Bodies {
    fn dof(&self) -> usize {
        self.mass.nrows()
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(self.mass.as_slice());
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
    }
    fn trees(&self) -> usize {
        self.cuts.len() - 1
    }
    fn tree(&self, i: usize) -> Range<usize> {
        self.cuts[i]..self.cuts[i + 1]
    }
}

impl UnilateralConstraints for Bodies {
    fn contacts(&self) -> usize {
        self.gaps.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let row = self.rows.row(j);
        self.gaps[j] + row.iter().zip(q).map(|(row, q)| row * q).sum::<f64>()
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(self.rows.row(j).transpose().as_slice());
        true
    }
    fn restitution(&self, j: usize, _q: &[f64], v: &[f64]) -> f64 {
        0.1 * j as f64 + 0.01 * v[0].abs()
    }
    fn stiffness(&self, j: usize) -> f64 {
        1e4 + j as f64
    }
    fn dissipation_time(&self, j: usize) -> f64 {
        0.01 * j as f64
    }
    fn friction(&self, j: usize) -> f64 {
        0.3 + j as f64
    }
    fn tangents(&self, _j: usize) -> usize {
        self.tangents
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        let (n, k, d) = (self.gaps.len(), self.tangents, self.mass.nrows());
        for (i, row) in rows.chunks_exact_mut(d).enumerate() {
            row.copy_from_slice(self.rows.row(n + j * k + i).transpose().as_slice());
        }
    }
}

/// What is asked for in full.
fn all(v: &[f64]) -> Wanted<'_> {
    Wanted {
        friction: true,
        slips_at: None,
        restitution_at: Some(v),
        compliance: true,
    }
}

#[test]
fn blocks_by_tree_are_the_rows_and_the_matrix_is_theirs() {
    let mut contacts = Contacts::new();
    let mut left_out = 0;
    for seed in 0..200 {
        let tangents = usize::try_from(seed % 3).unwrap();
        let bodies = Bodies::random(seed, tangents);
        let (n, d) = (bodies.contacts(), bodies.dof());
        let mut draw = SplitMix64(seed);
        let v: Vec<f64> = (0..d).map(|_| draw.between(-1.0, 1.0)).collect();
        let listed = draw.permutation(n);
        let set = ContactSet::Listed(&listed);
        bodies
            .fill(&vec![0.0; d], set, all(&v), &mut contacts)
            .unwrap();
        assert_eq!(
            (contacts.len(), contacts.dof(), contacts.tangents()),
            (n, d, tangents)
        );
        let mut rows = DMatrix::zeros(n * (1 + tangents), d);
        for (i, &j) in listed.iter().enumerate() {
            let of = contacts.parameters(i).unwrap();
            assert_eq!(of.contact, j);
            let numbers = [
                of.gap,
                of.friction,
                of.restitution,
                of.stiffness,
                of.dissipation_time,
            ];
            let expected = [
                bodies.gaps[j],
                bodies.friction(j),
                bodies.restitution(j, &[], &v),
                bodies.stiffness(j),
                bodies.dissipation_time(j),
            ];
            assert!(numbers.map(f64::to_bits) == expected.map(f64::to_bits));
            for block in contacts.blocks(i) {
                let tree = bodies.tree(block.tree);
                assert_eq!((block.start, block.width), (tree.start, tree.len()));
                for (k, entries) in block.rows.chunks_exact(block.width).enumerate() {
                    let row = if k == 0 { i } else { n + i * tangents + k - 1 };
                    for (column, entry) in tree.clone().zip(entries) {
                        rows[(row, column)] += entry;
                    }
                }
            }
            left_out += bodies.trees() - contacts.blocks(i).count();
        }
        let permuted = DMatrix::from_fn(rows.nrows(), d, |row, column| {
            let from = if row < n {
                listed[row]
            } else {
                let (i, k) = ((row - n) / tangents, (row - n) % tangents);
                n + listed[i] * tangents + k
            };
            bodies.rows[(from, column)]
        });
        assert!(rows == permuted, "{rows}{permuted}");

        let velocity = DVector::from_vec(v);
        let problem = ImpactProblem::from_contacts(&contacts, &bodies.mass, &velocity).unwrap();
        let inverse = bodies.mass.clone().try_inverse().unwrap();
        let gram = &rows * inverse * rows.transpose();
        // Condition numbers of the masses are below ten.
        assert!((problem.delassus() - &gram).amax() < 1e-13 * gram.amax().max(1.0));
        assert!((problem.speeds() - &rows * &velocity).amax() < 1e-14);
        let friction: Vec<f64> = listed.iter().map(|&j| bodies.friction(j)).collect();
        assert_eq!(problem.friction(), friction);
        let energy = velocity.dot(&(&bodies.mass * &velocity)).sqrt();
        assert!((problem.kinetic_norm() - energy).abs() < 1e-14 * energy.max(1.0));

        let problem = problem.frictionless();
        let outcome = Unilateral
            .outcome(&problem.clone().with_restitution(0.0).unwrap())
            .unwrap();
        let after = problem.velocity_after(&outcome).unwrap();
        assert!((&rows * after - &outcome.speeds).amax() < 1e-12);
    }
    assert!(
        left_out > 100,
        "blocks that are zero are left out: {left_out}"
    );
}

#[test]
fn what_is_not_wanted_is_not_there() {
    let bodies = Bodies::random(7, 2);
    let q = vec![0.0; bodies.dof()];
    let mut contacts = Contacts::new();
    let listed = ContactSet::Listed(&[0]);
    bodies
        .fill(&q, listed, Wanted::default(), &mut contacts)
        .unwrap();
    assert_eq!(contacts.tangents(), 0);
    let of = contacts.parameters(0).unwrap();
    let numbers = [
        of.friction,
        of.restitution,
        of.dissipation_time,
        of.stiffness,
    ];
    assert!(numbers.map(f64::to_bits) == [0.0, 0.0, 0.0, f64::INFINITY].map(f64::to_bits));
    assert!(contacts.parameters(1).is_none() && contacts.blocks(1).next().is_none());
}

#[test]
fn a_margin_takes_the_contacts_within_it() {
    let bodies = Bodies {
        gaps: vec![0.2, -0.1, 0.3, 0.1],
        rows: DMatrix::identity(4, 4),
        mass: DMatrix::identity(4, 4),
        cuts: vec![0, 4],
        tangents: 0,
    };
    let mut contacts = Contacts::new();
    for (margin, expected) in [
        (0.2, &[0, 1, 3][..]),
        (-1.0, &[]),
        (0.0, &[1]),
        (f64::INFINITY, &[0, 1, 2, 3]),
    ] {
        let set = ContactSet::Within(margin);
        bodies
            .fill(&[0.0; 4], set, Wanted::default(), &mut contacts)
            .unwrap();
        let found: Vec<usize> = contacts
            .all_parameters()
            .iter()
            .map(|p| p.contact)
            .collect();
        assert_eq!(found, expected);
    }
    let nan = bodies.fill(
        &[f64::NAN; 4],
        ContactSet::Within(0.0),
        Wanted::default(),
        &mut contacts,
    );
    assert!(matches!(
        nan,
        Err(InputError::NotFinite {
            name: "gap",
            entry: 0,
            ..
        })
    ));
}

#[test]
fn bad_contacts_are_refused_by_name() {
    let bodies = Bodies::random(3, 1);
    let (q, count) = (vec![0.0; bodies.dof()], bodies.contacts());
    let mut contacts = Contacts::new();
    let mut fill = |contact: usize, wanted: Wanted<'_>, q: &[f64]| {
        bodies.fill(q, ContactSet::Listed(&[contact]), wanted, &mut contacts)
    };
    let refused = fill(count, Wanted::default(), &q);
    assert_eq!(
        refused,
        Err(InputError::NoSuch {
            what: "contact",
            index: count,
            count
        })
    );
    assert!(matches!(
        fill(0, Wanted::default(), &[]),
        Err(InputError::WrongLength { .. })
    ));
    assert!(matches!(
        fill(0, all(&[]), &q),
        Err(InputError::WrongLength { name: "v", .. })
    ));
    // By hand.
    assert!(matches!(
        contacts.reset(3, 3),
        Err(InputError::Tangents { found: 3, .. })
    ));
    contacts.reset(3, 1).unwrap();
    assert_eq!(
        contacts.push_block(0, 0..3, &[0.0; 6]),
        Err(InputError::NoContacts)
    );
    let mut one = saltation::mechanics::ContactParameters::new(2, 0.1);
    contacts.push(one).unwrap();
    assert!(matches!(
        contacts.push_block(0, 0..3, &[0.0; 3]),
        Err(InputError::WrongLength { .. })
    ));
    assert!(matches!(
        contacts.push_block(0, 2..4, &[0.0; 4]),
        Err(InputError::WrongLength { .. })
    ));
    contacts.push_block(0, 1..3, &[1.0; 4]).unwrap();
    for wrong in [f64::NAN, 0.0, -1.0] {
        one.stiffness = wrong;
        let refused = contacts.push(one);
        assert!(matches!(
            refused,
            Err(InputError::BadSetting {
                name: "stiffness",
                entry: 2,
                ..
            })
        ));
    }
    (one.stiffness, one.dissipation_time) = (1.0, -1.0);
    assert!(matches!(
        contacts.push(one),
        Err(InputError::BadSetting { entry: 2, .. })
    ));
    (one.dissipation_time, one.friction) = (0.0, f64::NAN);
    assert!(matches!(
        contacts.push(one),
        Err(InputError::BadSetting { entry: 2, .. })
    ));
    assert_eq!(contacts.len(), 1);
    let v = DVector::from_vec(vec![0.0; 3]);
    let negative = -DMatrix::<f64>::identity(3, 3);
    let refused = ImpactProblem::from_contacts(&contacts, &negative, &v);
    assert!(matches!(
        refused,
        Err(ImpactFailure::Input(InputError::BadMatrix {
            name: "mass",
            ..
        }))
    ));
    let short = ImpactProblem::from_contacts(&contacts, &DMatrix::identity(2, 2), &v);
    assert!(matches!(
        short,
        Err(ImpactFailure::Input(InputError::WrongLength { .. }))
    ));
    contacts.reset(3, 1).unwrap();
    let none = ImpactProblem::from_contacts(&contacts, &DMatrix::identity(3, 3), &v);
    assert!(matches!(
        none,
        Err(ImpactFailure::Input(InputError::NoContacts))
    ));
}

/// Contacts with these numbers of tangents.
#[derive(Clone, Copy, Debug)]
struct Mixed([usize; 2]);

impl MechanicalSystem for Mixed {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(-1.0);
    }
}

impl UnilateralConstraints for Mixed {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[j]
    }
    fn tangents(&self, j: usize) -> usize {
        self.0[j]
    }
}

#[test]
fn numbers_of_tangents_are_not_mixed() {
    for (tangents, contact, expected) in [([0, 1], 1, 0), ([2, 1], 1, 2), ([3, 3], 0, 2)] {
        let (found, mixed) = (tangents[contact], Mixed(tangents));
        let refused = InputError::Tangents {
            contact,
            expected,
            found,
        };
        let mut simulation = EventDriven::new(ContactModel::new(mixed)).unwrap();
        let run = simulation.integrate(&Start::at(0.0).q(&[1.0; 2]).v(&[0.0; 2]), 1.0);
        assert_eq!(run.err(), Some(refused.clone()));
        let wanted = Wanted {
            friction: true,
            ..Wanted::default()
        };
        let filled = mixed.fill(
            &[1.0; 2],
            ContactSet::Within(2.0),
            wanted,
            &mut Contacts::new(),
        );
        assert_eq!(filled, Err(refused.clone()));
        assert_eq!(
            check_mechanics(&mixed, 0.0, &[1.0; 2], &[0.0; 2]),
            Err(Stop::Input(refused))
        );
    }
    for tangents in 0..3 {
        let mut simulation = EventDriven::new(ContactModel::new(Mixed([tangents; 2]))).unwrap();
        assert!(
            simulation
                .integrate(&Start::at(0.0).q(&[1.0; 2]).v(&[0.0; 2]), 1.0)
                .is_ok()
        );
    }
}
