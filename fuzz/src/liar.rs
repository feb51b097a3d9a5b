//! Models that lie: sizes that change from call to call, values that depend on the call, numbers
//! that are none, and panics of their own.

use std::cell::Cell;
use std::ops::Range;

use saltation::mechanics::{
    ContactSet, ContactSource, Contacts, MechanicalSystem, Passage, UnilateralConstraints, Wanted,
};
use saltation::{Crossing, EventFunction, Flow, InputError, Mode, Stop, Watch};

use crate::body::Body;
use crate::draw::Draw;
use crate::system::Random;

/// What a model says when it panics of its own.
#[derive(Debug)]
pub struct Own;

/// How a model lies; the chances are those of each call.
#[derive(Clone, Debug)]
struct Lies {
    key: u64,
    /// That a size is another one.
    size: f64,
    sizes: [usize; 3],
    /// Calls for sizes that are answered truly before.
    honest: usize,
    /// How far a value is moved by the number of its call.
    noise: f64,
    /// That a value is no number.
    nan: f64,
    /// That the model panics.
    panic: f64,
}

/// A model of known size that lies about it, and more.
#[derive(Debug)]
pub struct Liar<M> {
    pub model: M,
    lies: Lies,
    calls: Cell<u64>,
    sizes: Cell<usize>,
    /// It does not panic of its own.
    pub is_calm: Cell<bool>,
    /// It has panicked.
    pub has_burnt: Cell<bool>,
}

fn chance(draw: &mut Draw, often: f64) -> f64 {
    if draw.chance(often) {
        draw.decades(-4.0, -0.5)
    } else {
        0.0
    }
}

impl<M> Liar<M> {
    pub fn new(draw: &mut Draw, model: M) -> Self {
        let sizes = [0, 1, 2, 3, 5, 70, 1000, 1 << 20, 1 << 40, usize::MAX];
        let lies = Lies {
            key: draw.word(),
            size: chance(draw, 0.6),
            sizes: [0; 3].map(|_| *draw.pick(&sizes)),
            honest: *draw.pick(&[0, 3, 10, 30]),
            noise: *draw.pick(&[0.0, 0.0, 1e-16, 1e-12, 1e-6, 1e-3, 1.0]),
            nan: chance(draw, 0.3),
            panic: 0.1 * chance(draw, 0.3),
        };
        Self {
            model,
            lies,
            calls: Cell::new(0),
            sizes: Cell::new(0),
            is_calm: Cell::new(true),
            has_burnt: Cell::new(false),
        }
    }

    /// In [0, 1), keyed by the number of the call.
    fn next(&self) -> f64 {
        let call = self.calls.replace(self.calls.get() + 1);
        Draw::new(self.lies.key, "liar", call).unit()
    }

    fn size(&self, truth: usize) -> usize {
        let asked = self.sizes.replace(self.sizes.get() + 1);
        let drawn = self.next();
        if asked < self.lies.honest || drawn >= self.lies.size {
            return truth;
        }
        self.lies.sizes[asked % 3]
    }

    fn value(&self, truth: f64) -> f64 {
        let drawn = self.next();
        if drawn < self.lies.panic && !self.is_calm.get() {
            self.has_burnt.set(true);
            std::panic::panic_any(Own);
        }
        if drawn > 1.0 - self.lies.nan {
            return [f64::NAN, f64::INFINITY, 1e200][(1e6 * drawn) as usize % 3];
        }
        truth + self.lies.noise * (drawn - 0.5)
    }

    fn values(&self, out: &mut [f64]) {
        for value in out {
            *value = self.value(*value);
        }
    }
}

impl Liar<Random> {
    /// That the model can be asked at so many states.
    fn knows(&self, dim: usize) -> bool {
        dim == self.model.dim()
    }
}

impl Flow for Liar<Random> {
    fn dim(&self) -> usize {
        self.size(self.model.dim())
    }

    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        dx.fill(0.5);
        if self.knows(x.len()) && dx.len() == x.len() {
            self.model.flow(t, x, mode, dx);
        }
        self.values(dx);
    }

    fn jacobian_times(&self, t: f64, x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        let known = self.knows(x.len()) && self.knows(v.len()) && self.knows(out.len());
        let written = known && self.model.jacobian_times(t, x, mode, v, out);
        if written {
            self.values(out);
        }
        written
    }
}

impl EventFunction for Liar<Random> {
    fn count(&self) -> usize {
        self.size(self.model.count())
    }

    fn flags(&self) -> usize {
        self.size(self.model.flags())
    }

    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        let known = self.knows(x.len()) && k < self.model.count();
        self.value(if known {
            self.model.event(k, t, x, mode)
        } else {
            1.0 + k as f64
        })
    }

    fn gradient(&self, k: usize, t: f64, x: &[f64], mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        if !self.knows(x.len()) || !self.knows(dh.len()) || k >= self.model.count() {
            return None;
        }
        let moving = self.model.gradient(k, t, x, mode, dh)?;
        self.values(dh);
        Some(self.value(moving))
    }

    fn watch(&self, k: usize) -> Watch {
        if k < self.model.count() {
            self.model.watch(k)
        } else {
            Watch::BOTH
        }
    }

    fn is_affine(&self, k: usize) -> bool {
        let truth = k < self.model.count() && self.model.is_affine(k);
        truth != (self.next() < self.lies.size)
    }

    fn max_rate(&self, k: usize) -> Option<f64> {
        let truth = (k < self.model.count()).then(|| self.model.max_rate(k));
        let lies = self.next() < self.lies.size;
        if lies {
            Some(self.value(1.0))
        } else {
            truth.flatten()
        }
    }

    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        if self.knows(crossing.x.len()) {
            self.model.on_crossing(crossing)?;
        }
        self.values(crossing.x);
        Ok(())
    }
}

impl Liar<Body> {
    fn knows(&self, lengths: &[usize]) -> bool {
        lengths.iter().all(|&length| length == self.model.dof())
    }
}

impl MechanicalSystem for Liar<Body> {
    fn dof(&self) -> usize {
        self.size(self.model.dof())
    }

    fn coordinates(&self) -> usize {
        self.size(self.model.dof())
    }

    fn trees(&self) -> usize {
        self.size(1)
    }

    fn tree(&self, _i: usize) -> Range<usize> {
        self.size(0)..self.size(self.model.dof())
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        let d = self.model.dof();
        mass.fill(1.0);
        if self.knows(&[q.len()]) && mass.len() == d * d {
            self.model.mass(q, mass);
        }
        self.values(mass);
    }

    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        effort.fill(1.0);
        if self.knows(&[q.len(), v.len(), effort.len()]) {
            self.model.effort(t, q, v, effort);
        }
        self.values(effort);
    }

    fn constant_mass(&self) -> bool {
        self.next() < 0.5 * f64::from(u8::from(self.model.constant_mass()))
    }

    fn configuration_rate(&self, _q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
        // now and then: the answer is to be the same at all states
        if self.lies.noise != 1.0 || self.next() < 0.5 {
            return false;
        }
        rate.iter_mut().zip(v).for_each(|(rate, v)| *rate = *v);
        self.values(rate);
        true
    }

    fn coriolis(&self, _q: &[f64], _v: &[f64], force: &mut [f64]) -> bool {
        let written = self.lies.noise == 1.0;
        if written {
            force.fill(0.0);
        }
        written
    }

    fn project_configuration(&self, q: &mut [f64]) -> bool {
        let moves = self.lies.noise == 1e-3;
        if moves {
            self.values(q);
        }
        moves
    }
}

impl UnilateralConstraints for Liar<Body> {
    fn contacts(&self) -> usize {
        self.size(self.model.contacts())
    }

    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let known = self.knows(&[q.len()]) && j < self.model.contacts();
        self.value(if known { self.model.gap(j, q) } else { 0.1 })
    }

    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let known = self.knows(&[q.len(), row.len()]) && j < self.model.contacts();
        let written = known && self.model.gap_row(j, q, row);
        if written {
            self.values(row);
        }
        written
    }

    fn restitution(&self, j: usize, q: &[f64], v: &[f64]) -> f64 {
        if j < self.model.contacts() {
            self.model.restitution(j, q, v)
        } else {
            0.0
        }
    }

    fn friction(&self, j: usize) -> f64 {
        if j < self.model.contacts() {
            self.model.friction(j)
        } else {
            0.0
        }
    }

    fn tangents(&self, j: usize) -> usize {
        self.size(self.model.tangents(j))
    }

    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        if !q.is_empty() {
            self.model.tangent_rows(j, q, rows);
        }
        self.values(rows);
    }
}

/// The contacts of a model that lies, as those of a source that also lies about their pairs and about what meets.
#[derive(Debug)]
pub struct Found<'a>(pub &'a Liar<Body>);

impl MechanicalSystem for Found<'_> {
    fn dof(&self) -> usize {
        self.0.dof()
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.0.mass(q, mass);
    }

    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.0.effort(t, q, v, effort);
    }
}

impl ContactSource for Found<'_> {
    fn fill(
        &self,
        q: &[f64],
        set: ContactSet<'_>,
        wanted: Wanted<'_>,
        contacts: &mut Contacts,
    ) -> Result<(), InputError> {
        self.0.fill(q, set, wanted, contacts)
    }

    fn pair(&self, contact: usize) -> usize {
        self.0.size(contact)
    }

    fn meets(&self, contact: usize, passage: &Passage<'_>) -> bool {
        let says = passage.dt > 0.0 && self.0.meets(contact, passage);
        says != (self.0.lies.noise == 1.0 && self.0.next() < 0.5)
    }
}
