//! Some contacts at a state: rows of normals and tangents, their Delassus matrix, and the
//! accelerations without contact forces.

use crate::impact::multipliers::ContactRates;
use crate::linalg::dot;
use crate::linalg::least_norm::{least_norm, least_norm_size};
use crate::linalg::scratch::{Cut, with_zeros};
use crate::mechanics::configuration;
use crate::mechanics::contact::delassus::{Mass, delassus};
use crate::mechanics::contact::gaps::{curvature, gap_row, straight_along, work_size};
use crate::mechanics::contact_model::Model;
use crate::mechanics::motion::acceleration::{DIFFERENCED, WRITTEN};
use crate::mechanics::motion::constants::Trouble;
use crate::mechanics::motion::kinetic::coriolis;
use crate::mechanics::{Measured, Mechanism};
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};

/// Rounding of accelerations of rows, in units of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounding {
    /// Of sums.
    pub(crate) of_sums: f64,
    /// Of rows and curvatures which are differences.
    pub(crate) of_differences: f64,
}

/// Contacts at a state. Rows come as in an impact problem: normals first, then tangents.
pub(crate) struct Frame<'a> {
    pub(crate) contacts: &'a [usize],
    /// Number of velocities, and of rows.
    pub(crate) d: usize,
    pub(crate) r: usize,
    rows: &'a mut [f64],
    /// `M⁻¹ Jᵀ`, `d` entries a row.
    response: &'a mut [f64],
    /// `G = J M⁻¹ Jᵀ`.
    pub(crate) gram: &'a mut [f64],
    /// The accelerations of velocities without contact forces.
    pub(crate) free: &'a mut [f64],
    /// The accelerations of rows without contact forces: `J v̇ + κ`.
    pub(crate) bends: &'a mut [f64],
    mass: Mass<'a>,
    /// Coefficients of friction of each contact at the slip that it has.
    pub(crate) stick: &'a mut [f64],
    pub(crate) slip: &'a mut [f64],
    /// The normal rows are written, not differences.
    pub(crate) are_rows_written: bool,
    /// Rounding of `bends`.
    pub(crate) rounding: Rounding,
    /// Space for a force.
    force: &'a mut [f64],
}

impl<'a> Frame<'a> {
    /// Entries of scratch for `m` contacts.
    pub(crate) fn size(model: &Model<'_>, m: usize) -> usize {
        let fixed = &model.bodies.fixed;
        let (d, nq) = (fixed.d, fixed.nq);
        let r = m * (1 + model.row_tangents());
        let tangents = model.row_tangents() * d;
        let mass = fixed.mass_size(d);
        // A mass that is constant has no Coriolis force where q̇ = v.
        let coriolis = if mass == 0 && fixed.identity {
            0
        } else {
            d * d + d
        };
        let work = coriolis.max(work_size(nq, d)).max(2 * nq + tangents);
        mass + 2 * r * d + r * r + 2 * d + r + 2 * m + work
    }

    /// Evaluates at a state in which these contacts are closed; scratch of [`size`](Self::size) zeros.
    pub(crate) fn new(
        model: &'a Model<'_>,
        state: State<'_>,
        contacts: &'a [usize],
        scratch: &'a mut [f64],
    ) -> Result<Self, Trouble> {
        Self::sensing(model, state, contacts, contacts, scratch)
    }

    /// Likewise, with the efforts of `closed` of the contacts.
    pub(crate) fn sensing(
        model: &'a Model<'_>,
        State { t, q, v }: State<'_>,
        contacts: &'a [usize],
        closed: &[usize],
        scratch: &'a mut [f64],
    ) -> Result<Self, Trouble> {
        let (system, d, m) = (model.system(), v.len(), contacts.len());
        let k = model.row_tangents();
        let r = m * (1 + k);
        let mut cut = Cut(scratch);
        let fixed = &model.bodies.fixed;
        let mass = model.bodies.mass(q, cut.take(fixed.mass_size(d)))?;
        let (rows, response, gram) = (cut.take(r * d), cut.take(r * d), cut.take(r * r));
        let (free, force, bends) = (cut.take(d), cut.take(d), cut.take(r));
        let (stick, slip) = (cut.take(m), cut.take(m));
        let work = cut.0;
        let mut are_rows_written = true;
        for (i, &j) in contacts.iter().enumerate() {
            are_rows_written &= gap_row(system, j, q, &mut rows[i * d..(i + 1) * d], work);
            if k > 0 {
                let tangents = m + i * k..m + (i + 1) * k;
                system.tangent_rows(j, q, &mut rows[tangents.start * d..tangents.end * d]);
            }
        }
        delassus(&mass, d, rows, response, gram);
        system.effort(t, q, v, force);
        system.contact_effort(State { t, q, v }, closed, force);
        for (force, applied) in force.iter_mut().zip(fixed.applied()) {
            *force += applied;
        }
        if !(fixed.identity && system.constant_mass()) {
            coriolis(system, q, v, free, work);
            for (force, c) in force.iter_mut().zip(&*free) {
                *force += c;
            }
        }
        mass.solve(force, free);
        let of_rows = if are_rows_written { 0.0 } else { DIFFERENCED };
        let (mut most, mut differenced): (f64, f64) = (0.0, 0.0);
        let mut bend = |at: usize, (bent, error): (f64, f64)| {
            let (mut sum, mut size) = (bent, bent.abs());
            for (row, a) in rows[at * d..(at + 1) * d].iter().zip(&*free) {
                sum += row * a;
                size += (row * a).abs();
            }
            bends[at] = sum;
            let own = gram[at * r + at];
            if own > 0.0 {
                let root = own.sqrt();
                most = most.max(size / root);
                differenced = differenced.max(error / root);
            }
        };
        for (i, &j) in contacts.iter().enumerate() {
            bend(i, curvature(system, j, q, v, work));
            for along in 0..k {
                let curvature = tangent_curvature(system, j, [along, k], q, v, work);
                bend(m + i * k + along, curvature);
            }
        }
        let frame = Self {
            contacts,
            d,
            r,
            rows,
            response,
            gram,
            free,
            bends,
            mass,
            stick,
            slip,
            are_rows_written,
            rounding: Rounding {
                of_sums: WRITTEN * most,
                of_differences: differenced + of_rows * most,
            },
            force,
        };
        for (i, &j) in contacts.iter().enumerate() {
            let speed = if model.has_constant_friction(j, q) {
                0.0
            } else {
                let [x, y] = frame.slip_velocity(i, v);
                x.hypot(y)
            };
            let of = model.coefficients(j, q, speed);
            (frame.stick[i], frame.slip[i]) = (of.stick, of.slip);
        }
        Ok(frame)
    }

    /// The accelerations of another force on a system at rest, in place of those that are there.
    pub(crate) fn act(&mut self, write: impl FnOnce(&mut [f64])) {
        self.force.fill(0.0);
        write(self.force);
        self.mass.solve(self.force, self.free);
        for i in 0..self.r {
            self.bends[i] = dot(&self.rows[i * self.d..(i + 1) * self.d], self.free);
        }
    }

    /// Its rows, as the multipliers of a mode are found from them.
    pub(crate) fn rates<'f>(&'f self, friction: &'f [f64]) -> ContactRates<'f> {
        ContactRates {
            contacts: self.contacts.len(),
            tangents: self.tangents(),
            gram: self.gram,
            free: self.bends,
            friction,
        }
    }

    /// Tangents of a contact.
    pub(crate) fn tangents(&self) -> usize {
        (self.r / self.contacts.len().max(1)).saturating_sub(1)
    }

    /// The velocity of the slip of contact `i` by tangents.
    pub(crate) fn slip_velocity(&self, i: usize, v: &[f64]) -> [f64; 2] {
        let k = self.tangents();
        let along = |tangent: usize| match tangent {
            tangent if tangent < k => dot(self.row(self.contacts.len() + i * k + tangent), v),
            _ => 0.0,
        };
        [along(0), along(1)]
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.d..(i + 1) * self.d]
    }

    /// `x += M⁻¹ J_iᵀ p`.
    pub(crate) fn push(&self, i: usize, p: f64, x: &mut [f64]) {
        let response = &self.response[i * self.d..(i + 1) * self.d];
        for (x, l) in x.iter_mut().zip(response) {
            *x += p * l;
        }
    }

    /// `√G_ii`, or 1 for a row of no length.
    pub(crate) fn root(&self, i: usize) -> f64 {
        let own = self.gram[i * self.r + i];
        if own > 0.0 { own.sqrt() } else { 1.0 }
    }
}

/// Changes velocities so that the rates of `rows` vanish, along the least momentum; true when some
/// rate was above `least`. `note` is called with each row and its impulse.
pub(crate) fn hold_rows(
    frame: &Frame<'_>,
    rows: &[usize],
    v: &mut [f64],
    least: f64,
    mut note: impl FnMut(usize, f64),
) -> bool {
    let size = rows.len();
    with_zeros(size + size * size + least_norm_size(size), |scratch| {
        let mut cut = Cut(scratch);
        let (wrong, gram) = (cut.take(size), cut.take(size * size));
        let mut worst: f64 = 0.0;
        for (i, &row) in rows.iter().enumerate() {
            wrong[i] = -dot(frame.row(row), v);
            worst = worst.max(wrong[i].abs());
            for (k, &other) in rows.iter().enumerate() {
                gram[i * size + k] = frame.gram[row * frame.r + other];
            }
        }
        if worst.is_nan() || worst <= least {
            return false;
        }
        least_norm(gram, size, wrong, cut.0);
        for (&row, &p) in rows.iter().zip(&*wrong) {
            frame.push(row, p, v);
            note(row, p);
        }
        true
    })
}

/// `κ_t`: the derivative of `T v` along the motion with `v` held, of one tangent of so many, by
/// differences; and its rounding. `work` has `2 nq` entries and one for each of these rows.
pub(super) fn tangent_curvature(
    system: &Measured<dyn Mechanism + '_>,
    j: usize,
    [tangent, tangents]: [usize; 2],
    q: &[f64],
    v: &[f64],
    work: &mut [f64],
) -> (f64, f64) {
    if v.iter().all(|&v| v == 0.0) || system.constant_tangents(j) {
        return (0.0, 0.0);
    }
    let d = v.len();
    let mut cut = Cut(work);
    let (along, point, rows) = (cut.take(q.len()), cut.take(q.len()), cut.take(tangents * d));
    configuration::rate(system, q, v, along);
    let own = tangent * d..(tangent + 1) * d;
    system.tangent_rows(j, q, rows);
    let terms = rows[own.clone()].iter().zip(v).map(|(r, v)| (r * v).abs());
    let terms = terms.sum();
    let slip = |q: &[f64]| {
        system.tangent_rows(j, q, rows);
        dot(&rows[own.clone()], v)
    };
    straight_along(slip, terms, [q, along], point)
}

impl Model<'_> {
    /// Tangents of each contact as far as friction matters: 0, 1 in the plane or 2.
    pub(crate) fn row_tangents(&self) -> usize {
        if self.is_frictionless() || self.system().contacts() == 0 {
            return 0;
        }
        self.system().tangents(0)
    }

    /// The velocity of the slip of a contact by tangents.
    pub(crate) fn slip_velocity(&self, j: usize, q: &[f64], v: &[f64]) -> [f64; 2] {
        let (k, d) = (self.row_tangents(), v.len());
        with_zeros(k * d, |rows| {
            self.system().tangent_rows(j, q, rows);
            let along = |tangent: usize| match tangent {
                tangent if tangent < k => dot(&rows[tangent * d..(tangent + 1) * d], v),
                _ => 0.0,
            };
            [along(0), along(1)]
        })
    }
}
