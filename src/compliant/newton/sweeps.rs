//! Sweeps over the terms of an island, one after the other, each with its own law and the others held
//! (Gauss and Seidel, projected; Jourdan, Alart & Jean 1998): slow to the end, and sure from afar,
//! where contacts close and open by the dozen. From where they lead Newton's method is near.

use super::island::Island;
use super::iterate::Iterate;
use crate::Interrupt;
use crate::compliant::law::ContactLaw;
use crate::compliant::problem::{Link, Links};
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

/// A term in sweeps: where its rows are, and its response to itself.
#[derive(Clone, Copy, Debug)]
struct Swept {
    first: Place,
    second: Option<Place>,
    /// Its own block of `J A⁻¹ Jᵀ`, by columns; of a row of one velocity the first entry.
    own: [[f64; 3]; 3],
}

/// The rows of a term in one tree.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// First entry of the rows.
    rows: usize,
    /// First velocity of the tree, and their number.
    start: usize,
    width: usize,
}

/// Impulses and velocities of an island, and memory of sweeps.
///
/// With the factors of the blocks of `A = L Lᵀ` velocities are `w = Lᵀ v`, and rows `Y = J L⁻ᵀ`: a term has the
/// velocity `Y w`, and an impulse changes `w` by `Yᵀ γ`. One matrix does for both.
#[derive(Clone, Debug, Default)]
pub(in crate::compliant) struct Sweeps {
    /// `Y`, in the places of the rows in the island.
    rows_y: Vec<f64>,
    contacts: Vec<Swept>,
    rows: Vec<Swept>,
    impulses: Vec<[f64; 3]>,
    row_impulses: Vec<f64>,
    w: Vec<f64>,
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
        let made = self.sweep_until(island, until, interrupt);
        self.leave(island);
        made
    }

    fn sweep_until(
        &mut self,
        island: &Island,
        until: Rest,
        interrupt: &Interrupt,
    ) -> Result<usize, Interrupted> {
        for sweep in 1..=until.sweeps {
            interrupt.check()?;
            let (mut change, mut total) = (0.0, 0.0);
            for i in 0..self.contacts.len() {
                let before = self.impulses[i];
                let after = if i < island.points {
                    self.relax_contact(island, i)
                } else {
                    self.relax_moments(island, i)
                };
                for k in 0..3 {
                    change += (after[k] - before[k]).abs();
                    total += after[k].abs();
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
        let (law, of, before) = (&island.contacts[i].law, &self.contacts[i], self.impulses[i]);
        let approach = self.rate(of, 0);
        let normal = law.relaxed_normal(before[0], approach, of.own[0][0]);
        // Contacts that are open are often most of them.
        if normal == 0.0 && before[0] == 0.0 && before[1] == 0.0 && before[2] == 0.0 {
            return before;
        }
        let mut after = [normal, 0.0, 0.0];
        if law.friction > 0.0 && normal > 0.0 {
            // The slip that the new load leaves.
            let slip = self.after_normal(of, normal - before[0]);
            let response = of.own[1][1].max(of.own[2][2]);
            [after[1], after[2]] = friction(law, normal, before, slip, response);
        }
        self.take(i, after)
    }

    /// Brings moments to their law, within the load of their contact: the spin, then the roll.
    fn relax_moments(&mut self, island: &Island, i: usize) -> [f64; 3] {
        let moments = &island.contacts[i];
        let (law, of, before) = (&moments.law, &self.contacts[i], self.impulses[i]);
        let load = self.impulses[moments.load_of][0];
        let excess = self.rate(of, 0) + law.tangential * before[0];
        let spin = before[0] - excess / (of.own[0][0] + law.tangential);
        let most = law.spinning() * load;
        let spin = spin.max(-most).min(most);
        let roll = self.after_normal(of, spin - before[0]);
        let response = of.own[1][1].max(of.own[2][2]);
        let [first, second] = friction(law, load, before, roll, response);
        self.take(i, [spin, first, second])
    }

    /// Takes the impulses of a contact.
    fn take(&mut self, i: usize, after: [f64; 3]) -> [f64; 3] {
        let before = self.impulses[i];
        let change = [
            after[0] - before[0],
            after[1] - before[1],
            after[2] - before[2],
        ];
        if change[0] != 0.0 || change[1] != 0.0 || change[2] != 0.0 {
            self.push(i, change);
        }
        self.impulses[i] = after;
        after
    }

    /// Brings a row to its law.
    fn relax_row(&mut self, island: &Island, i: usize) -> f64 {
        let (law, of, before) = (&island.rows[i].law, &self.rows[i], self.row_impulses[i]);
        let excess = law.target - self.rate(of, 0) - law.regularisation * before;
        let free = before + excess / (of.own[0][0] + law.regularisation);
        let after = free.max(law.low).min(law.high);
        self.push_row(i, after - before);
        self.row_impulses[i] = after;
        after
    }

    /// The velocities of the other two rows of a contact after a change of its first impulse.
    #[inline(always)]
    fn after_normal(&self, of: &Swept, change: f64) -> [f64; 2] {
        [
            self.rate(of, 1) + change * of.own[0][1],
            self.rate(of, 2) + change * of.own[0][2],
        ]
    }

    /// The velocity `Y w` of one row of a term.
    #[inline(always)]
    fn rate(&self, of: &Swept, row: usize) -> f64 {
        let first = self.rate_in(of.first, row);
        match of.second {
            Some(second) => first + self.rate_in(second, row),
            None => first,
        }
    }

    #[inline(always)]
    fn rate_in(&self, place: Place, row: usize) -> f64 {
        let rows = &self.rows_y[place.rows + row * place.width..];
        let w = &self.w[place.start..place.start + place.width];
        product(rows, w)
    }

    /// Changes an impulse of a contact, and the velocities with it.
    fn push(&mut self, contact: usize, change: [f64; 3]) {
        let Swept { first, second, .. } = self.contacts[contact];
        self.push_in(first, change);
        if let Some(second) = second {
            self.push_in(second, change);
        }
    }

    #[inline(always)]
    fn push_in(&mut self, place: Place, change: [f64; 3]) {
        let rows = &self.rows_y[place.rows..place.rows + 3 * place.width];
        let w = &mut self.w[place.start..place.start + place.width];
        kernels::add_transposed(rows, &change, w);
    }

    /// As [`push`](Self::push), of a row.
    fn push_row(&mut self, row: usize, change: f64) {
        let of = &self.rows[row];
        for place in [Some(of.first), of.second].into_iter().flatten() {
            let row = &self.rows_y[place.rows..place.rows + place.width];
            for (w, y) in self.w[place.start..].iter_mut().zip(row) {
                *w += change * y;
            }
        }
    }

    /// Takes the impulses of an iterate, with the velocities that balance them.
    fn start(&mut self, island: &Island, from: &Iterate) {
        self.impulses.clear();
        self.impulses.extend_from_slice(&from.impulses);
        self.row_impulses.clear();
        self.row_impulses.extend_from_slice(&from.row_impulses);
        self.w.clear();
        self.w.extend_from_slice(&island.free);
        for tree in &island.trees {
            let (n, w) = (tree.width, &mut self.w[tree.start..tree.start + tree.width]);
            let factor = &island.factors[tree.place..tree.place + n * n];
            kernels::apply_upper(factor, w);
        }
        for i in 0..island.contacts.len() {
            self.push(i, self.impulses[i]);
        }
        for i in 0..island.rows.len() {
            self.push_row(i, self.row_impulses[i]);
        }
    }

    /// The velocities at the end.
    fn leave(&mut self, island: &Island) {
        self.v.clear();
        self.v.extend_from_slice(&self.w);
        for tree in &island.trees {
            let (n, v) = (tree.width, &mut self.v[tree.start..tree.start + tree.width]);
            kernels::solve_upper(&island.factors[tree.place..tree.place + n * n], v);
        }
    }

    /// The rows `Y`, and what terms answer themselves.
    fn prepare(&mut self, island: &Island) {
        self.rows_y.clear();
        self.rows_y.extend_from_slice(&island.jacobian);
        self.contacts.clear();
        self.rows.clear();
        for contact in &island.contacts {
            let swept = swept(island, contact.links, 3, &mut self.rows_y);
            self.contacts.push(swept);
        }
        for row in &island.rows {
            let swept = swept(island, row.links, 1, &mut self.rows_y);
            self.rows.push(swept);
        }
    }
}

/// A term with so many rows in each of its trees, which are turned into `Y`.
fn swept(island: &Island, links: Links, height: usize, rows_y: &mut [f64]) -> Swept {
    let mut own = [[0.0; 3]; 3];
    let mut place = |link: Link| {
        let tree = &island.trees[link.tree];
        let n = tree.width;
        let factor = &island.factors[tree.place..tree.place + n * n];
        let rows = &mut rows_y[link.place..link.place + height * n];
        for row in rows.chunks_exact_mut(n) {
            kernels::solve_lower(factor, row);
        }
        for (column, a) in own.iter_mut().zip(rows.chunks_exact(n)) {
            for (entry, b) in column.iter_mut().zip(rows.chunks_exact(n)) {
                *entry += product(a, b);
            }
        }
        Place {
            rows: link.place,
            start: tree.start,
            width: n,
        }
    };
    let (first, second) = (place(links.first), links.second.map(&mut place));
    Swept { first, second, own }
}

/// `Σ row w` over the entries of `w`.
#[inline(always)]
fn product(row: &[f64], w: &[f64]) -> f64 {
    // Free bodies: two sums side by side.
    if let (Ok(w), Some(row)) = (<&[f64; 6]>::try_from(w), row.first_chunk::<6>()) {
        let even = row[0] * w[0] + row[2] * w[2] + row[4] * w[4];
        let odd = row[1] * w[1] + row[3] * w[3] + row[5] * w[5];
        return even + odd;
    }
    dot(&row[..w.len()], w)
}

/// The impulses of friction after a step towards `−v_t/R_t`, within `μ γ_n`.
fn friction(law: &ContactLaw, normal: f64, before: [f64; 3], slip: [f64; 2], own: f64) -> [f64; 2] {
    let softness = 1.0 / (own + law.tangential);
    let step = |k: usize| {
        let excess = slip[k - 1] + law.tangential * before[k];
        before[k] - excess * softness
    };
    let (first, second) = (step(1), step(2));
    let (size, most) = (
        (first * first + second * second).sqrt(),
        law.friction * normal,
    );
    let factor = if size > most { most / size } else { 1.0 };
    [factor * first, factor * second]
}
