//! Contacts at one configuration: what depends on `q` alone. An event asks for it in many places
//! (landing, impact, which contacts stay closed, projection); each part is evaluated once, when it is
//! first needed, and outlives a change of the velocities.

use crate::InputError;
use crate::linalg::cholesky::factor;
use crate::linalg::dot;
use crate::linalg::scratch::{Cut, with_zeros};
use crate::mechanics::contact::contacts::ContactRows;
use crate::mechanics::contact::delassus::{Inertia, Mass, fill_gram};
use crate::mechanics::contact::gaps::{curvature, gap_row, work_size};
use crate::mechanics::motion::acceleration::Frame;
use crate::mechanics::motion::constants::{Bodies, Fixed, Trouble};
use crate::mechanics::{ContactParameters, ContactSet, ContactSource, Contacts, Wanted};
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};

/// The contacts at a configuration, as far as they were evaluated. The memory is kept.
#[derive(Debug, Default)]
pub(crate) struct ContactsAt {
    /// The stamp: what is below belongs to these coordinates.
    q: Vec<f64>,
    /// `M`; empty until it is needed.
    mass: Vec<f64>,
    /// Its factor where it is not constant; empty until it is needed.
    factor: Vec<f64>,
    /// The contacts whose rows were evaluated.
    contacts: Vec<usize>,
    /// `Da_j`, `d` entries a contact.
    rows: Vec<f64>,
    /// True for rows that the user wrote; the others are differences.
    written: Vec<bool>,
    /// The rows were given: they hold for the law of friction too.
    are_given: bool,
    /// `M⁻¹ Da_jᵀ` of the first of them.
    lift: Vec<f64>,
}

impl ContactsAt {
    /// Forgets all: the system may have changed, or the configuration has.
    pub(crate) fn forget(&mut self) {
        self.q.clear();
        self.mass.clear();
        self.factor.clear();
        self.contacts.clear();
        self.rows.clear();
        self.written.clear();
        self.are_given = false;
        self.lift.clear();
    }

    /// The rows of `contacts` at a configuration, known otherwise than by the system.
    pub(crate) fn with_rows(q: &[f64], contacts: &[usize], rows: Vec<f64>) -> Self {
        Self {
            q: q.to_vec(),
            contacts: contacts.to_vec(),
            written: vec![false; contacts.len()],
            rows,
            are_given: true,
            ..Self::default()
        }
    }

    /// Takes this stamp. Bits are compared: zeros of either sign are two numbers to a system.
    fn stamp(&mut self, q: &[f64]) {
        let is_same = self.q.len() == q.len() && {
            let mut pairs = self.q.iter().zip(q);
            pairs.all(|(a, b)| a.to_bits() == b.to_bits())
        };
        if !is_same {
            self.forget();
            self.q.extend_from_slice(q);
        }
    }

    /// The row of contact `j`; empty where it is not known.
    fn row(&self, d: usize, j: usize) -> &[f64] {
        let place = self.contacts.iter().position(|&k| k == j);
        place.map_or(&[], |i| &self.rows[i * d..(i + 1) * d])
    }
}

impl<S> Bodies<S>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    /// `M` at `q`.
    pub(crate) fn mass_at<'a>(&self, at: &'a mut ContactsAt, q: &[f64]) -> &'a [f64] {
        at.stamp(q);
        if at.mass.is_empty() {
            let d = self.fixed.d;
            at.mass.resize(d * d, 0.0);
            self.system.mass(q, &mut at.mass);
        }
        &at.mass
    }

    /// Makes the factor of `M` at `q`, whether the mass is constant or not.
    ///
    /// # Errors
    /// [`Trouble::Mass`].
    pub(crate) fn factor_at(&self, at: &mut ContactsAt, q: &[f64]) -> Result<(), Trouble> {
        self.mass_at(at, q);
        if at.factor.is_empty() {
            at.factor.extend_from_slice(&at.mass);
            if factor(&mut at.factor, self.fixed.d).is_none() {
                at.factor.clear();
                return Err(Trouble::Mass);
            }
        }
        Ok(())
    }

    /// Makes the rows of `contacts` at `q`.
    fn rows_at(&self, at: &mut ContactsAt, q: &[f64], contacts: &[usize]) {
        at.stamp(q);
        if at.contacts == contacts {
            return;
        }
        let d = self.fixed.d;
        with_zeros(work_size(self.fixed.nq, d), |work| {
            for &j in contacts {
                if at.contacts.contains(&j) {
                    continue;
                }
                let start = at.rows.len();
                at.contacts.push(j);
                at.rows.resize(start + d, 0.0);
                let written = gap_row(&self.system, j, q, &mut at.rows[start..], work);
                at.written.push(written);
            }
        });
    }

    /// True when no gap of `contacts` changes faster than `least`; what is not a number does not.
    pub(crate) fn rates_are_within(
        &self,
        at: Option<&mut ContactsAt>,
        least: f64,
        [q, v]: [&[f64]; 2],
        contacts: &[usize],
    ) -> bool {
        let is_within = |rate: f64| rate.is_nan() || rate.abs() <= least;
        let d = self.fixed.d;
        if let Some(at) = at {
            self.rows_at(at, q, contacts);
            return contacts.iter().all(|&j| is_within(dot(at.row(d, j), v)));
        }
        with_zeros(d + work_size(self.fixed.nq, d), |scratch| {
            let (row, work) = scratch.split_at_mut(d);
            contacts.iter().all(|&j| {
                row.fill(0.0);
                gap_row(&self.system, j, q, row, work);
                is_within(dot(row, v))
            })
        })
    }

    /// `Da_j` of `contacts`, one after the other.
    pub(crate) fn rows_of(&self, q: &[f64], contacts: &[usize]) -> Vec<f64> {
        let mut at = ContactsAt::default();
        self.rows_at(&mut at, q, contacts);
        at.rows
    }

    /// Writes `Da_j v` of `contacts`.
    pub(crate) fn rates_at(
        &self,
        at: &mut ContactsAt,
        q: &[f64],
        v: &[f64],
        contacts: &[usize],
        rates: &mut [f64],
    ) {
        self.rows_at(at, q, contacts);
        for (rate, &j) in rates.iter_mut().zip(contacts) {
            *rate = dot(at.row(self.fixed.d, j), v);
        }
    }

    /// Writes the accelerations of the gaps of `contacts` under the accelerations `acceleration`,
    /// `Da_j q̈ + κ_j`.
    pub(crate) fn bends_at(
        &self,
        at: &mut ContactsAt,
        State { q, v, .. }: State<'_>,
        acceleration: &[f64],
        contacts: &[usize],
        bends: &mut [f64],
    ) {
        self.rows_at(at, q, contacts);
        let (d, nq) = (self.fixed.d, self.fixed.nq);
        with_zeros(work_size(nq, d), |work| {
            for (bend, &j) in bends.iter_mut().zip(contacts) {
                *bend = curvature(&self.system, j, q, v, work).0;
                for (row, a) in at.row(d, j).iter().zip(acceleration) {
                    *bend += row * a;
                }
            }
        });
    }

    /// Fills in a list of contacts with what is wanted of them. Without friction rows that were
    /// evaluated here before are used, one block each.
    ///
    /// # Errors
    /// See [`ContactSource::fill`].
    pub(crate) fn fill_at(
        &self,
        at: &mut ContactsAt,
        q: &[f64],
        list: &[usize],
        wanted: Wanted<'_>,
        contacts: &mut Contacts,
    ) -> Result<(), InputError> {
        let (system, d) = (&self.system, self.fixed.d);
        if wanted.friction {
            system.fill(q, ContactSet::Listed(list), wanted, contacts)?;
            at.stamp(q);
            if at.are_given {
                for (i, &j) in list.iter().enumerate() {
                    contacts.set_normal(i, at.row(d, j));
                }
            }
            return Ok(());
        }
        self.rows_at(at, q, list);
        contacts.reset(d, 0)?;
        for &j in list {
            let mut parameters = ContactParameters::new(j, system.gap(j, q));
            if let Some(v) = wanted.restitution_at {
                parameters.restitution = system.restitution(j, q, v);
            }
            contacts.push(parameters)?;
            contacts.push_block(0, 0..d, at.row(d, j))?;
        }
        Ok(())
    }

    /// The [`Frame`] of `contacts` at `q`, in scratch of [`frame_size`](Self::frame_size) zeros: from
    /// the rows that were evaluated, or afresh without a place to keep them.
    pub(crate) fn frame_at<'a>(
        &'a self,
        at: Option<&'a mut ContactsAt>,
        q: &[f64],
        contacts: &'a [usize],
        scratch: &'a mut [f64],
    ) -> Result<Frame<'a>, Trouble> {
        let Some(at) = at else {
            return self.frame(q, contacts, scratch);
        };
        self.rows_at(at, q, contacts);
        if self.fixed.constant_inverse().is_none() {
            self.factor_at(at, q)?;
        }
        let at = self.lifted(at);
        let (d, m) = (self.fixed.d, contacts.len());
        let mut cut = Cut(scratch);
        let (rows, lift) = (cut.take(m * d), cut.take(m * d));
        let (gram, diagonal) = (cut.take(m * m), cut.take(m));
        let mut written = true;
        for (i, j) in contacts.iter().enumerate() {
            let place = at.contacts.iter().position(|k| k == j).unwrap_or(0);
            rows[i * d..(i + 1) * d].copy_from_slice(&at.rows[place * d..(place + 1) * d]);
            lift[i * d..(i + 1) * d].copy_from_slice(&at.lift[place * d..(place + 1) * d]);
            written &= at.written[place];
        }
        fill_gram(d, rows, lift, gram);
        let rows = ContactRows::known(contacts, rows, d, written);
        let fixed = &self.fixed;
        let has_coriolis = !(fixed.identity && self.system.constant_mass());
        let space = [lift, gram, diagonal, cut.0];
        Ok(Frame::of(d, mass_of(at, fixed), rows, space, has_coriolis).with(fixed))
    }

    /// Makes `M⁻¹ Daᵀ` of all rows that were evaluated; the factor of a mass that is not constant
    /// is there.
    fn lifted<'a>(&self, at: &'a mut ContactsAt) -> &'a ContactsAt {
        let (d, done) = (self.fixed.d, at.lift.len());
        if done < at.rows.len() {
            let mut lift = std::mem::take(&mut at.lift);
            lift.resize(at.rows.len(), 0.0);
            let mass = mass_of(at, &self.fixed);
            let rows = at.rows[done..].chunks_exact(d.max(1));
            for (row, lift) in rows.zip(lift[done..].chunks_exact_mut(d.max(1))) {
                mass.respond(row, lift);
            }
            at.lift = lift;
        }
        at
    }

    /// The mass matrix at `q`, to be inverted.
    ///
    /// # Errors
    /// [`Trouble::Mass`].
    pub(crate) fn inverse_at<'a>(
        &'a self,
        at: &'a mut ContactsAt,
        q: &[f64],
    ) -> Result<Mass<'a>, Trouble> {
        if self.fixed.constant_inverse().is_none() {
            self.factor_at(at, q)?;
        }
        Ok(mass_of(at, &self.fixed))
    }
}

fn mass_of<'a>(at: &'a ContactsAt, fixed: &'a Fixed) -> Mass<'a> {
    fixed.inverse(match fixed.constant_inverse() {
        Some(inverse) => Inertia::Inverse(inverse),
        None => Inertia::Factor(&at.factor),
    })
}
