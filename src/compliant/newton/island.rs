//! One island as a problem of its own: what belongs to it, copied into contiguous arrays, and the
//! products with `A`, `J` and `Jᵀ`.

use super::graph::Islands;
use crate::compliant::law::{ContactLaw, RowLaw};
use crate::compliant::problem::{Link, Links, Problem, Tree};
use crate::linalg::block_kernels as kernels;
use crate::linalg::dot;

/// A contact of an island.
#[derive(Clone, Copy, Debug)]
pub(in crate::compliant) struct Contact {
    pub(in crate::compliant) law: ContactLaw,
    pub(in crate::compliant) links: Links,
    /// The block of the Hessian between its two trees.
    pub(in crate::compliant) edge: usize,
    /// Its number in the problem.
    pub(in crate::compliant) number: usize,
    /// The contact of the island whose normal impulse is the load: itself, or that of these moments.
    pub(in crate::compliant) load_of: usize,
}

/// A further term of an island.
#[derive(Clone, Copy, Debug)]
pub(in crate::compliant) struct Row {
    pub(in crate::compliant) law: RowLaw,
    pub(in crate::compliant) links: Links,
    pub(in crate::compliant) edge: usize,
    pub(in crate::compliant) number: usize,
}

/// The data of an island. Contacts are sorted by patch: those of the same trees are neighbours, and
/// so are the parts of the Hessian they change.
#[derive(Clone, Debug, Default)]
pub(in crate::compliant) struct Island {
    pub(in crate::compliant) trees: Vec<LocalTree>,
    pub(in crate::compliant) widths: Vec<usize>,
    pub(in crate::compliant) inertia: Vec<f64>,
    /// Factors of the blocks of `A`.
    pub(in crate::compliant) factors: Vec<f64>,
    pub(in crate::compliant) free: Vec<f64>,
    /// The contacts, and behind these `points` the moments of some of them: terms of the same kind.
    pub(in crate::compliant) contacts: Vec<Contact>,
    pub(in crate::compliant) points: usize,
    pub(in crate::compliant) rows: Vec<Row>,
    pub(in crate::compliant) jacobian: Vec<f64>,
    /// Pairs `i < j` of trees that share a term.
    pub(in crate::compliant) edges: Vec<(usize, usize)>,
    /// `diag(A)^(−1/2)`.
    pub(in crate::compliant) scale: Vec<f64>,
    /// Contacts have Coulomb's friction, whose loads have to be found.
    pub(in crate::compliant) has_loads: bool,
    /// Entries with a contact: the guess that these trees are at rest.
    pub(in crate::compliant) touched: Vec<bool>,
}

/// A tree of an island.
#[derive(Clone, Copy, Debug)]
pub(in crate::compliant) struct LocalTree {
    pub(in crate::compliant) start: usize,
    pub(in crate::compliant) width: usize,
    pub(in crate::compliant) place: usize,
    /// First velocity in the problem.
    pub(in crate::compliant) origin: usize,
}

impl Island {
    /// Copies island `number`.
    pub(in crate::compliant) fn gather(
        &mut self,
        problem: &Problem,
        islands: &Islands,
        number: usize,
    ) {
        self.gather_trees(problem, islands.trees(number));
        self.gather_terms(problem, islands, number);
        self.copy_jacobian(problem);
        self.find_edges();
    }

    fn gather_trees(&mut self, problem: &Problem, trees: &[usize]) {
        self.trees.clear();
        self.widths.clear();
        self.inertia.clear();
        self.factors.clear();
        self.free.clear();
        self.scale.clear();
        for &tree in trees {
            let Tree {
                start,
                width,
                place,
                ..
            } = problem.trees[tree];
            self.trees.push(LocalTree {
                start: self.free.len(),
                width,
                place: self.inertia.len(),
                origin: start,
            });
            self.widths.push(width);
            let block = &problem.inertia[place..place + width * width];
            self.inertia.extend_from_slice(block);
            self.factors
                .extend_from_slice(&problem.factors[place..place + width * width]);
            self.free
                .extend_from_slice(&problem.free[start..start + width]);
            self.scale
                .extend((0..width).map(|k| 1.0 / block[k * width + k].sqrt()));
        }
    }

    /// Copies contacts and rows; contacts in the order of their trees.
    fn gather_terms(&mut self, problem: &Problem, islands: &Islands, number: usize) {
        self.touched.clear();
        self.touched.resize(self.trees.len(), false);
        self.contacts.clear();
        for &number in islands.contacts(number) {
            let term = &problem.contacts[number];
            let links = localised(&term.links, islands);
            for link in links.iter() {
                self.touched[link.tree] = true;
            }
            self.contacts.push(Contact {
                law: term.law,
                links,
                edge: 0,
                number,
                load_of: 0,
            });
        }
        let patch = |links: &Links| (links.first.tree, links.second.map_or(0, |link| link.tree));
        self.contacts
            .sort_unstable_by_key(|contact| (patch(&contact.links), contact.number));
        self.gather_moments(problem, islands);
        self.has_loads = self.contacts.iter().any(|contact| contact.law.has_load());
        self.rows.clear();
        self.rows
            .extend(islands.rows(number).iter().map(|&number| Row {
                law: problem.rows[number].law,
                links: localised(&problem.rows[number].links, islands),
                edge: 0,
                number,
            }));
    }

    /// Puts the moments of contacts behind the contacts, in their order.
    fn gather_moments(&mut self, problem: &Problem, islands: &Islands) {
        self.points = self.contacts.len();
        for i in 0..self.points {
            let contact = &mut self.contacts[i];
            contact.load_of = i;
            let (number, term) = (contact.number, &problem.contacts[contact.number]);
            if let Some(law) = term.moments() {
                let links = problem.of_moments(&term.links);
                self.contacts.push(Contact {
                    law,
                    links: localised(&links, islands),
                    edge: 0,
                    number,
                    load_of: i,
                });
            }
        }
    }

    /// Pairs of trees that share a term, and which of them each term belongs to.
    fn find_edges(&mut self) {
        self.edges.clear();
        let pair = |links: &Links| links.second.map(|link| (links.first.tree, link.tree));
        let contacts = self.contacts.iter().filter_map(|c| pair(&c.links));
        let rows = self.rows.iter().filter_map(|r| pair(&r.links));
        self.edges.extend(contacts.chain(rows));
        self.edges.sort_unstable();
        self.edges.dedup();
        let edges = &self.edges;
        let edge = |links: &Links| {
            pair(links).map_or(0, |pair| edges.binary_search(&pair).unwrap_or_default())
        };
        for contact in &mut self.contacts {
            contact.edge = edge(&contact.links);
        }
        for row in &mut self.rows {
            row.edge = edge(&row.links);
        }
    }

    /// Copies the rows in the order of the terms.
    fn copy_jacobian(&mut self, problem: &Problem) {
        self.jacobian.clear();
        let mut copy = |link: &mut Link, height: usize| {
            let size = height * self.widths[link.tree];
            let rows = &problem.jacobian[link.place..link.place + size];
            link.place = self.jacobian.len();
            self.jacobian.extend_from_slice(rows);
        };
        for contact in &mut self.contacts {
            copy(&mut contact.links.first, 3);
            if let Some(link) = &mut contact.links.second {
                copy(link, 3);
            }
        }
        for row in &mut self.rows {
            copy(&mut row.links.first, 1);
            if let Some(link) = &mut row.links.second {
                copy(link, 1);
            }
        }
    }

    pub(in crate::compliant) fn dof(&self) -> usize {
        self.free.len()
    }

    /// The rows of a contact in one tree, three of them, and its velocities.
    #[inline]
    pub(in crate::compliant) fn rows_of(&self, link: Link, height: usize) -> (&[f64], &LocalTree) {
        let tree = &self.trees[link.tree];
        (
            &self.jacobian[link.place..link.place + height * tree.width],
            tree,
        )
    }

    /// `J v` of one contact.
    #[inline]
    pub(in crate::compliant) fn velocity_of(&self, contact: &Contact, v: &[f64]) -> [f64; 3] {
        let mut velocity = [0.0; 3];
        for link in contact.links.iter() {
            let (rows, tree) = self.rows_of(link, 3);
            let v = &v[tree.start..tree.start + tree.width];
            kernels::add_times(rows, v, &mut velocity);
        }
        velocity
    }

    /// `out = J v` of the contacts.
    pub(in crate::compliant) fn contact_velocities(&self, v: &[f64], out: &mut [[f64; 3]]) {
        for (contact, velocity) in self.contacts.iter().zip(out) {
            *velocity = self.velocity_of(contact, v);
        }
    }

    /// `out += Jᵀ γ` of one contact.
    #[inline]
    pub(in crate::compliant) fn add_impulse(
        &self,
        contact: &Contact,
        impulse: &[f64; 3],
        out: &mut [f64],
    ) {
        for link in contact.links.iter() {
            let (rows, tree) = self.rows_of(link, 3);
            let out = &mut out[tree.start..tree.start + tree.width];
            kernels::add_transposed(rows, impulse, out);
        }
    }

    /// `out = J v` of the other terms.
    pub(in crate::compliant) fn row_velocities(&self, v: &[f64], out: &mut [f64]) {
        for (row, velocity) in self.rows.iter().zip(out) {
            *velocity = 0.0;
            for link in row.links.iter() {
                let (row, tree) = self.rows_of(link, 1);
                *velocity += dot(row, &v[tree.start..tree.start + tree.width]);
            }
        }
    }

    /// `out = Jᵀ γ` of all terms.
    pub(in crate::compliant) fn generalised_impulse(
        &self,
        contacts: &[[f64; 3]],
        rows: &[f64],
        out: &mut [f64],
    ) {
        out.fill(0.0);
        for (contact, impulse) in self.contacts.iter().zip(contacts) {
            // Contacts that do not press are often most of them.
            if impulse.iter().any(|x| x.abs() > 0.0) {
                self.add_impulse(contact, impulse, out);
            }
        }
        for (row, &impulse) in self.rows.iter().zip(rows) {
            for link in row.links.iter() {
                let (row, tree) = self.rows_of(link, 1);
                let out = &mut out[tree.start..tree.start + tree.width];
                for (sum, entry) in out.iter_mut().zip(row) {
                    *sum += impulse * entry;
                }
            }
        }
    }

    /// `out = A x`.
    pub(in crate::compliant) fn inertia_times(&self, x: &[f64], out: &mut [f64]) {
        for tree in &self.trees {
            let n = tree.width;
            let block = &self.inertia[tree.place..tree.place + n * n];
            let x = &x[tree.start..tree.start + n];
            if let (Ok(x), Some(block)) = (<&[f64; 6]>::try_from(x), block.first_chunk::<36>()) {
                // Symmetric: rows are columns, and columns are added without sums across.
                let mut sums = [0.0; 6];
                for (k, x) in x.iter().enumerate() {
                    for i in 0..6 {
                        sums[i] += block[6 * k + i] * x;
                    }
                }
                out[tree.start..tree.start + 6].copy_from_slice(&sums);
                continue;
            }
            for (sum, row) in out[tree.start..tree.start + n]
                .iter_mut()
                .zip(block.chunks_exact(n))
            {
                *sum = dot(row, x);
            }
        }
    }

    /// `‖D x‖` with `D = diag(A)^(−1/2)`: momenta in the units of `√(2 J)`.
    pub(in crate::compliant) fn scaled_norm(&self, x: &[f64]) -> f64 {
        let squares = x.iter().zip(&self.scale).map(|(x, d)| (x * d) * (x * d));
        squares.sum::<f64>().sqrt()
    }
}

/// Links in the numbers of the island, the smaller tree first.
fn localised(links: &Links, islands: &Islands) -> Links {
    let local = |link: Link| Link {
        tree: islands.local[link.tree],
        place: link.place,
    };
    let (first, second) = (local(links.first), links.second.map(local));
    match second {
        Some(second) if second.tree < first.tree => Links {
            first: second,
            second: Some(first),
        },
        _ => Links { first, second },
    }
}
