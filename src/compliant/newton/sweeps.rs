//! Sweeps over the terms of an island, one after the other, each with its own law and the others held
//! (Gauss and Seidel, projected; Jourdan, Alart & Jean 1998): slow to the end, and sure from afar,
//! where contacts close and open by the dozen. From where they lead Newton's method is near.

use super::island::Island;
use crate::Interrupt;
use crate::compliant::law::ContactLaw;
use crate::interrupt::Interrupted;
use crate::linalg::block_kernels as kernels;
use crate::linalg::dot;

/// The end of sweeps.
#[derive(Clone, Copy, Debug)]
pub(in crate::compliant) struct Rest {
    /// Change of the impulses in a sweep, relative to them.
    pub(in crate::compliant) change: f64,
    /// Limit of the sweeps.
    pub(in crate::compliant) sweeps: usize,
}

/// Impulses and velocities of an island, and memory of sweeps.
#[derive(Clone, Debug, Default)]
pub(in crate::compliant) struct Sweeps {
    /// `A⁻¹ Jᵀ` of each row, in the places of the rows in the island.
    responses: Vec<f64>,
    /// Of each contact the diagonal of `J A⁻¹ Jᵀ`.
    own: Vec<[f64; 3]>,
    own_rows: Vec<f64>,
    impulses: Vec<[f64; 3]>,
    row_impulses: Vec<f64>,
    v: Vec<f64>,
}

impl Sweeps {
    /// Impulses of the contacts.
    pub(super) fn impulses(&self) -> &[[f64; 3]] {
        &self.impulses
    }

    /// Velocities.
    pub(super) fn v(&self) -> &[f64] {
        &self.v
    }

    /// Sweeps from no impulses; how many it took.
    pub(super) fn run(
        &mut self,
        island: &Island,
        until: Rest,
        interrupt: &Interrupt,
    ) -> Result<usize, Interrupted> {
        self.prepare(island);
        for sweep in 1..=until.sweeps {
            interrupt.check()?;
            let (mut change, mut total) = (0.0, 0.0);
            for i in 0..island.contacts.len() {
                let before = self.impulses[i];
                let after = self.relax_contact(island, i);
                for (a, b) in after.iter().zip(&before) {
                    change += (a - b).abs();
                    total += a.abs();
                }
            }
            for i in 0..island.rows.len() {
                let before = self.row_impulses[i];
                let after = self.relax_row(island, i);
                change += (after - before).abs();
                total += after.abs();
            }
            if change <= until.change * total {
                return Ok(sweep);
            }
        }
        Ok(until.sweeps)
    }

    /// Brings a contact to its law: the normal impulse to that of its approach, then friction to
    /// `−v_t/R_t` within its bound, each with the response of its own row.
    fn relax_contact(&mut self, island: &Island, i: usize) -> [f64; 3] {
        let contact = &island.contacts[i];
        let (law, own) = (&contact.law, self.own[i]);
        let before = self.impulses[i];
        let velocity = island.velocity_of(contact, &self.v);
        let normal = law.relaxed_normal(before[0], velocity[0], own[0]);
        self.push(island, i, [normal - before[0], 0.0, 0.0]);
        let [first, second] = if law.friction > 0.0 {
            let velocity = island.velocity_of(contact, &self.v);
            friction(law, normal, before, velocity, own[1].max(own[2]))
        } else {
            [0.0; 2]
        };
        self.push(island, i, [0.0, first - before[1], second - before[2]]);
        self.impulses[i] = [normal, first, second];
        self.impulses[i]
    }

    /// Brings a row to its law.
    fn relax_row(&mut self, island: &Island, i: usize) -> f64 {
        let row = &island.rows[i];
        let mut velocity = 0.0;
        for link in row.links.iter() {
            let (entries, tree) = island.rows_of(link, 1);
            velocity += dot(entries, &self.v[tree.start..tree.start + tree.width]);
        }
        let (law, before) = (&row.law, self.row_impulses[i]);
        let excess = law.target - velocity - law.regularisation * before;
        let free = before + excess / (self.own_rows[i] + law.regularisation);
        let after = free.max(law.low).min(law.high);
        for link in row.links.iter() {
            let tree = &island.trees[link.tree];
            let response = &self.responses[link.place..link.place + tree.width];
            for (v, r) in self.v[tree.start..].iter_mut().zip(response) {
                *v += (after - before) * r;
            }
        }
        self.row_impulses[i] = after;
        after
    }

    /// Changes an impulse of a contact, and the velocities with it.
    fn push(&mut self, island: &Island, contact: usize, change: [f64; 3]) {
        for link in island.contacts[contact].links.iter() {
            let tree = &island.trees[link.tree];
            let response = &self.responses[link.place..link.place + 3 * tree.width];
            for (row, change) in response.chunks_exact(tree.width).zip(change) {
                if change != 0.0 {
                    for (v, r) in self.v[tree.start..].iter_mut().zip(row) {
                        *v += change * r;
                    }
                }
            }
        }
    }

    /// Velocities without impulses, and the responses of all rows.
    fn prepare(&mut self, island: &Island) {
        self.v.clear();
        self.v.extend_from_slice(&island.free);
        self.responses.clear();
        self.responses.extend_from_slice(&island.jacobian);
        self.impulses.clear();
        self.impulses.resize(island.contacts.len(), [0.0; 3]);
        self.row_impulses.clear();
        self.row_impulses.resize(island.rows.len(), 0.0);
        self.own.clear();
        for contact in &island.contacts {
            let mut own = [0.0; 3];
            for link in contact.links.iter() {
                let (rows, tree) = island.rows_of(link, 3);
                let response = &mut self.responses[link.place..link.place + rows.len()];
                let pairs = response.chunks_exact_mut(tree.width);
                for (k, (response, row)) in pairs.zip(rows.chunks_exact(tree.width)).enumerate() {
                    own[k] += respond(island, link.tree, response, row);
                }
            }
            self.own.push(own);
        }
        self.own_rows.clear();
        for row in &island.rows {
            let mut own = 0.0;
            for link in row.links.iter() {
                let (row, tree) = island.rows_of(link, 1);
                let response = &mut self.responses[link.place..link.place + tree.width];
                own += respond(island, link.tree, response, row);
            }
            self.own_rows.push(own);
        }
    }
}

/// The impulses of friction after a step towards `−v_t/R_t`, within `μ γ_n`.
fn friction(
    law: &ContactLaw,
    normal: f64,
    before: [f64; 3],
    velocity: [f64; 3],
    own: f64,
) -> [f64; 2] {
    let step = |k: usize| {
        let excess = velocity[k] + law.tangential * before[k];
        before[k] - excess / (own + law.tangential)
    };
    let (first, second) = (step(1), step(2));
    let (size, most) = (
        (first * first + second * second).sqrt(),
        law.friction * normal,
    );
    let factor = if size > most { most / size } else { 1.0 };
    [factor * first, factor * second]
}

/// Turns a copy of a row into `A⁻¹ Jᵀ`; `J A⁻¹ Jᵀ` of the row.
fn respond(island: &Island, tree: usize, response: &mut [f64], row: &[f64]) -> f64 {
    let (place, n) = (island.trees[tree].place, island.trees[tree].width);
    let factor = &island.factors[place..place + n * n];
    kernels::solve_lower(factor, response);
    kernels::solve_upper(factor, response);
    dot(response, row)
}
