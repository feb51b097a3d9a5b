//! Sweeps over the terms of an island, one after the other, each with its own law and the others held
//! (Gauss and Seidel, projected; Jourdan, Alart & Jean 1998): slow to the end, and sure from afar,
//! where contacts close and open by the dozen. From where they lead Newton's method is near.

use super::island::{Island, add_transposed};
use super::iterate::Iterate;
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
    /// Of each contact its own block of `J A⁻¹ Jᵀ`, by columns.
    own: Vec<[[f64; 3]; 3]>,
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

    /// Sweeps from the impulses of an iterate; how many it took.
    pub(super) fn run(
        &mut self,
        island: &Island,
        from: &Iterate,
        until: Rest,
        interrupt: &Interrupt,
    ) -> Result<usize, Interrupted> {
        self.prepare(island);
        self.start(island, from);
        for sweep in 1..=until.sweeps {
            interrupt.check()?;
            let (mut change, mut total) = (0.0, 0.0);
            for i in 0..island.contacts.len() {
                let before = self.impulses[i];
                let after = if i < island.points {
                    self.relax_contact(island, i)
                } else {
                    self.relax_moments(island, i)
                };
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
        let (law, own, before) = (&contact.law, &self.own[i], self.impulses[i]);
        let mut velocity = island.velocity_of(contact, &self.v);
        let normal = law.relaxed_normal(before[0], velocity[0], own[0][0]);
        let mut after = [normal, 0.0, 0.0];
        if law.friction > 0.0 {
            // The slip that the new load leaves.
            for (u, response) in velocity.iter_mut().zip(&own[0]) {
                *u += (normal - before[0]) * response;
            }
            let response = own[1][1].max(own[2][2]);
            [after[1], after[2]] = friction(law, normal, before, velocity, response);
        }
        self.take(island, i, after)
    }

    /// Brings moments to their law, within the load of their contact: the spin, then the roll.
    fn relax_moments(&mut self, island: &Island, i: usize) -> [f64; 3] {
        let moments = &island.contacts[i];
        let (law, own, before) = (&moments.law, &self.own[i], self.impulses[i]);
        let load = self.impulses[moments.load_of][0];
        let mut velocity = island.velocity_of(moments, &self.v);
        let excess = velocity[0] + law.tangential * before[0];
        let spin = before[0] - excess / (own[0][0] + law.tangential);
        let most = law.spinning() * load;
        let spin = spin.max(-most).min(most);
        for (u, response) in velocity.iter_mut().zip(&own[0]) {
            *u += (spin - before[0]) * response;
        }
        let response = own[1][1].max(own[2][2]);
        let [first, second] = friction(law, load, before, velocity, response);
        self.take(island, i, [spin, first, second])
    }

    /// Takes the impulses of a contact.
    fn take(&mut self, island: &Island, i: usize, after: [f64; 3]) -> [f64; 3] {
        let before = self.impulses[i];
        let change = [0, 1, 2].map(|k| after[k] - before[k]);
        if change.iter().any(|change| *change != 0.0) {
            self.push(island, i, change);
        }
        self.impulses[i] = after;
        after
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
        self.push_row(island, i, after - before);
        self.row_impulses[i] = after;
        after
    }

    /// Changes an impulse of a contact, and the velocities with it.
    fn push(&mut self, island: &Island, contact: usize, change: [f64; 3]) {
        for link in island.contacts[contact].links.iter() {
            let tree = &island.trees[link.tree];
            let response = &self.responses[link.place..link.place + 3 * tree.width];
            let v = &mut self.v[tree.start..tree.start + tree.width];
            add_transposed(response, &change, v);
        }
    }

    /// As [`push`](Self::push), of a row.
    fn push_row(&mut self, island: &Island, row: usize, change: f64) {
        for link in island.rows[row].links.iter() {
            let tree = &island.trees[link.tree];
            let response = &self.responses[link.place..link.place + tree.width];
            for (v, r) in self.v[tree.start..].iter_mut().zip(response) {
                *v += change * r;
            }
        }
    }

    /// Takes the impulses of an iterate, with the velocities that balance them.
    fn start(&mut self, island: &Island, from: &Iterate) {
        self.impulses.clear();
        self.impulses.extend_from_slice(&from.impulses);
        self.row_impulses.clear();
        self.row_impulses.extend_from_slice(&from.row_impulses);
        self.v.clear();
        self.v.extend_from_slice(&island.free);
        for i in 0..island.contacts.len() {
            self.push(island, i, self.impulses[i]);
        }
        for i in 0..island.rows.len() {
            self.push_row(island, i, self.row_impulses[i]);
        }
    }

    /// The responses of all rows.
    fn prepare(&mut self, island: &Island) {
        self.responses.clear();
        self.responses.extend_from_slice(&island.jacobian);
        self.own.clear();
        for contact in &island.contacts {
            let mut own = [[0.0; 3]; 3];
            for link in contact.links.iter() {
                let (rows, tree) = island.rows_of(link, 3);
                let response = &mut self.responses[link.place..link.place + rows.len()];
                for (response, column) in response.chunks_exact_mut(tree.width).zip(&mut own) {
                    respond(island, link.tree, response);
                    for (row, entry) in rows.chunks_exact(tree.width).zip(column) {
                        *entry += dot(response, row);
                    }
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
                respond(island, link.tree, response);
                own += dot(response, row);
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

/// Turns a copy of a row into `A⁻¹ Jᵀ`.
fn respond(island: &Island, tree: usize, row: &mut [f64]) {
    let (place, n) = (island.trees[tree].place, island.trees[tree].width);
    let factor = &island.factors[place..place + n * n];
    kernels::solve_lower(factor, row);
    kernels::solve_upper(factor, row);
}
