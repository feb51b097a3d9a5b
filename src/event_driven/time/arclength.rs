//! Time as a state: a run over its arclength, which counts time and normal impulses (Halm & Posa,
//! section 4, eq. 43 to 53).

use std::fmt;

use nalgebra::DVector;

use crate::event_driven::Model;
use crate::linalg::dot;
use crate::mechanics::energy_balance::GAUSS;
use crate::mechanics::friction::forces::Dependent;
use crate::mechanics::motion::acceleration::Purpose;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::{Redundant, State};
use crate::ode::root::{Sample, root};
use crate::record::{ContactEvent, ContactEventKind};
use crate::{EventFunction, Flow, InputError, Mode, Run, validate};

/// A run over its arclength `s = t − t₀ + ∫ Σ λ_n dt + Σ Λ_n`: the time (s) and all normal impulses
/// (N s) since the start. `dt/ds = 1/(1 + Σ λ_n)` where forces act, and time stands still in impacts,
/// in which velocities change in proportion to `s`: a law gives their change, not the path. They are
/// continuous in `s`. Where an accumulation of impacts was absorbed ([`Zeno`](crate::event_driven::Zeno)), time and
/// state change in proportion to `s` from the last impact to it.
///
/// Forces are those of the model in the modes of the run, without efforts of a controller
/// ([`Live`](crate::Live)), by Gauss's rule of three points between nodes. An impulse that pulls, as it may
/// where an accumulation is absorbed or a low rebound held, counts as negative.
///
/// ```
/// use saltation::event_driven::Zeno;
/// use saltation::impact::AnitescuPotra;
/// use saltation::models::RockingBlock;
/// use saltation::{ContactModel, EventDriven, Start};
/// let block = RockingBlock::default();
/// let (q, v) = block.pivoting(0.0, 1.0); // about its left corner, at 1 rad/s
/// let model = ContactModel::with_law(block, AnitescuPotra::new());
/// let driver = EventDriven::new(model)?.rtol(1e-11).atol(1e-13);
/// let mut driver = driver.zeno(Zeno::Absorb).zeno_tolerance(1e-10);
/// let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), 3.0)?.completed()?;
/// let rest = run.events().last().expect("it rocks and settles");
/// assert!((rest.t - 2.671421398).abs() < 1e-8);
/// let arclength = driver.model().arclength(&run)?;
/// assert!((arclength.s_at(rest.t)? - 28.378065316).abs() < 1e-7);
/// let (t, state) = arclength.at(28.0)?; // shortly before
/// assert!(t < rest.t && state[5].abs() < 0.1);
/// # Ok::<(), saltation::Error>(())
/// ```
pub struct Arclength<'a> {
    model: &'a Model<'a>,
    run: &'a Run,
    pieces: Vec<Piece>,
    /// Impulses of all contacts at the start of each piece and at the end of the last: `rows` each.
    impulses: Vec<f64>,
    /// Normals and tangents of all contacts.
    rows: usize,
}

impl fmt::Debug for Arclength<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Arclength");
        shown
            .field("pieces", &self.pieces.len())
            .finish_non_exhaustive()
    }
}

/// A part of a run over which arclength grows: a step, or an event.
struct Piece {
    t: [f64; 2],
    s: [f64; 2],
    way: Way,
}

enum Way {
    /// The step that begins at this node.
    Step(usize),
    /// Likewise the way to an accumulation, in proportion to `s`.
    Straight(usize),
    /// An event of the log, in proportion to `s`.
    Event(usize),
}

impl<'a> Arclength<'a> {
    /// Of a run of this model.
    pub(crate) fn of(model: &'a Model<'a>, run: &'a Run) -> Result<Self, InputError> {
        validate::length("states of the run", model.dim(), run.state().len())?;
        let (guards, flags) = run.mode().sizes();
        validate::length("guards of the run", model.count(), guards)?;
        validate::length("flags of the run", model.flags(), flags)?;
        let rows = model.layout().contacts * (1 + model.row_tangents().max(1));
        let mut all = Self {
            model,
            run,
            pieces: Vec::new(),
            impulses: vec![0.0; rows],
            rows,
        };
        let times = run.times();
        let Some(&start) = times.first() else {
            return Ok(all);
        };
        let struck = |k: &usize| {
            let event = &run.events()[*k];
            !event.impulses.is_empty() || event.state_before != event.state_after
        };
        let mut events = (0..run.events().len()).filter(struck).peekable();
        let due = |t: f64| move |k: &usize| run.events()[*k].t <= t;
        // The impact at the start leads to the first node.
        while let Some(k) = events.next_if(due(start)) {
            all.push([start; 2], Way::Event(k), &all.event(k));
        }
        for (node, ends) in times.windows(2).enumerate() {
            if ends[1] > ends[0] {
                let ends = [ends[0], ends[1]];
                let mut impulses = all.of_step(ends[0], ends[1])?;
                let absorbs = |k: &usize| {
                    let event = &run.events()[*k];
                    event.kind == ContactEventKind::ZenoAbsorbed
                        && event.t >= ends[1]
                        && run.states().column(node + 1).as_slice() == event.state_after
                };
                match events.next_if(absorbs) {
                    // The way to an accumulation and its end are one.
                    Some(k) => {
                        let by_event = all.event(k);
                        impulses
                            .iter_mut()
                            .zip(by_event)
                            .for_each(|(sum, p)| *sum += p);
                        all.push(ends, Way::Straight(node), &impulses);
                    }
                    None => all.push(ends, Way::Step(node), &impulses),
                }
            }
            while let Some(k) = events.next_if(due(ends[1])) {
                all.push([ends[1]; 2], Way::Event(k), &all.event(k));
            }
        }
        validate::finite("impulses of contacts", &all.impulses)?;
        Ok(all)
    }

    /// Adds a piece with its impulses.
    fn push(&mut self, t: [f64; 2], way: Way, impulses: &[f64]) {
        let n = self.model.layout().contacts;
        let (s, known) = (self.s(), self.impulses.len() - self.rows);
        let pushed: f64 = impulses.iter().take(n).sum();
        let s = [s, s + (t[1] - t[0]) + pushed];
        for (i, p) in impulses.iter().enumerate() {
            self.impulses.push(self.impulses[known + i] + p);
        }
        self.pieces.push(Piece { t, s, way });
    }

    /// The impulses of an event, one entry a contact, normal ones first: those of the log, and without
    /// friction those that hold contacts whose rebounds are too low to be resolved, which it does not
    /// have.
    fn event(&self, k: usize) -> Vec<f64> {
        let (n, event) = (self.model.layout().contacts, &self.run.events()[k]);
        let (m, k) = (event.contacts.len(), self.model.row_tangents());
        let has_tangents = event.impulses.len() == m * (1 + k);
        let mut all = vec![0.0; self.rows];
        for (i, &j) in event.contacts.iter().enumerate().filter(|(_, j)| **j < n) {
            all[j] += event.impulses.get(i).copied().unwrap_or(0.0);
            if has_tangents {
                for a in 0..k {
                    all[n + j * k + a] += event.impulses[m + i * k + a];
                }
            }
        }
        if !self.model.slides() {
            self.add_holds(event, &mut all);
        }
        all
    }

    /// Adds the impulses of least size of contacts that are closed after an event which the change of
    /// velocities needs beside those that are known.
    fn add_holds(&self, event: &ContactEvent, all: &mut [f64]) {
        let (model, n) = (self.model, self.model.layout().contacts);
        let closed = event.mode_after.iter().chain(&event.contacts).copied();
        let mut contacts: Vec<usize> = closed.filter(|&j| j < n).collect();
        contacts.sort_unstable();
        contacts.dedup();
        let (q, after) = model.parts(&event.state_after);
        let mut v = model.parts(&event.state_before).1.to_vec();
        let held = model.in_frame(&mut ContactsAt::default(), q, &contacts, |frame| {
            for (i, &j) in contacts.iter().enumerate() {
                frame.push(i, all[j], &mut v);
            }
            let change: Vec<f64> = after.iter().zip(&v).map(|(a, b)| a - b).collect();
            let rates = (0..contacts.len()).map(|i| dot(frame.row(i), &change));
            let mut p: Vec<f64> = rates.collect();
            // Rates within the tolerance are rounding that is brought to zero.
            if p.iter().all(|rate| rate.abs() <= model.rate_tolerance) {
                return Vec::new();
            }
            let solved = frame.solve_gram(&mut p, Redundant::LeastSquares);
            solved.map_or_else(|_| Vec::new(), |_| p)
        });
        for (j, p) in contacts.iter().zip(held.unwrap_or_default()) {
            all[*j] += p;
        }
    }

    /// The impulses of forces in a step from `t0` to `t1`.
    fn of_step(&self, t0: f64, t1: f64) -> Result<Vec<f64>, InputError> {
        let mut sums = vec![0.0; self.rows];
        let mode = self.run.mode_at(t0)?;
        if self.model.layout().closed(mode).next().is_none() {
            return Ok(sums);
        }
        for (place, weight) in GAUSS {
            let t = t0 + place * (t1 - t0);
            let forces = self.forces(t, self.run.state_at(t)?.as_slice(), mode);
            for (sum, force) in sums.iter_mut().zip(forces) {
                *sum += weight * (t1 - t0) * force;
            }
        }
        Ok(sums)
    }

    /// The forces of all contacts, normal ones first.
    fn forces(&self, t: f64, x: &[f64], mode: &Mode) -> Vec<f64> {
        let (model, n) = (self.model, self.model.layout().contacts);
        let (q, v) = model.parts(x);
        let state = State { t, q, v };
        let mut all = vec![0.0; self.rows];
        if model.has_friction_in(mode) {
            model.with_forces(Dependent::Forces, |forces| {
                model.motion_with_friction(state, mode, None, Some(&mut *forces));
                all[..n].copy_from_slice(forces.push);
                all[n..].copy_from_slice(forces.along);
            });
        } else {
            let mut acceleration = vec![0.0; v.len()];
            let multipliers = Some(&mut all[..n]);
            model.motion(state, mode, &mut acceleration, multipliers, Purpose::Motion);
        }
        all
    }

    /// The arclength at the end; it is 0 at the start.
    pub fn s(&self) -> f64 {
        self.pieces.last().map_or(0.0, |piece| piece.s[1])
    }

    /// The arclength at time `t`; at an impact after it.
    ///
    /// # Errors
    /// [`InputError::OutsideRun`].
    pub fn s_at(&self, t: f64) -> Result<f64, InputError> {
        let start = self.run.times().first().copied().unwrap_or(f64::NAN);
        check(t, start, self.run.t())?;
        let place = self.pieces.partition_point(|piece| piece.t[1] <= t);
        match self.pieces.get(place) {
            None => Ok(self.s()),
            Some(piece) => self.s_within(piece, t),
        }
    }

    fn s_within(&self, piece: &Piece, t: f64) -> Result<f64, InputError> {
        let ([t0, t1], [s0, s1]) = (piece.t, piece.s);
        match piece.way {
            Way::Straight(_) | Way::Event(_) => Ok(s0 + (t - t0) / (t1 - t0) * (s1 - s0)),
            Way::Step(_) => {
                let pushed = self.of_step(t0, t)?;
                let n = self.model.layout().contacts;
                Ok(s0 + (t - t0) + pushed[..n].iter().sum::<f64>())
            }
        }
    }

    /// Time and `(q, v)` at an arclength: continuous in it.
    ///
    /// # Errors
    /// [`InputError::OutsideRun`], with the arclengths in place of times.
    pub fn at(&self, s: f64) -> Result<(f64, DVector<f64>), InputError> {
        check(s, 0.0, self.s())?;
        let Some(piece) = self.pieces.get(self.place(s)) else {
            return Ok((self.run.t(), self.run.state().clone()));
        };
        let states = self.run.states();
        let between = |a: f64, b: f64| a + piece.part(s) * (b - a);
        let t = between(piece.t[0], piece.t[1]);
        match piece.way {
            Way::Event(k) => {
                let event = &self.run.events()[k];
                let each = event.state_before.iter().zip(&event.state_after);
                let each: Vec<f64> = each.map(|(&a, &b)| between(a, b)).collect();
                Ok((t, DVector::from_vec(each)))
            }
            Way::Straight(node) => {
                let state = states
                    .column(node)
                    .zip_map(&states.column(node + 1), between);
                Ok((t, state))
            }
            Way::Step(node) => {
                let t = self.time_of(piece, s);
                // At the end it is the state before an event.
                if t >= piece.t[1] {
                    return Ok((t, states.column(node + 1).into_owned()));
                }
                Ok((t, self.run.state_at(t)?))
            }
        }
    }

    /// The impulses of all contacts from the start to an arclength (N s), normal ones first, then those
    /// along the tangents, contact by contact. In impacts they grow in proportion to `s`. Of contacts
    /// that depend on each other single ones are not unique, and where an accumulation is absorbed.
    ///
    /// # Errors
    /// As [`at`](Self::at).
    pub fn impulses_until(&self, s: f64) -> Result<Vec<f64>, InputError> {
        check(s, 0.0, self.s())?;
        let (place, size) = (self.place(s), self.rows);
        let known = |place: usize| &self.impulses[place * size..(place + 1) * size];
        let Some(piece) = self.pieces.get(place) else {
            return Ok(known(place).to_vec());
        };
        let each = known(place).iter();
        Ok(match piece.way {
            Way::Straight(_) | Way::Event(_) => {
                let part = piece.part(s);
                let each = each.zip(known(place + 1));
                each.map(|(a, b)| a + part * (b - a)).collect()
            }
            Way::Step(_) => {
                let pushed = self.of_step(piece.t[0], self.time_of(piece, s))?;
                each.zip(pushed).map(|(a, b)| a + b).collect()
            }
        })
    }

    /// The piece in which an arclength lies; behind the last where there is none.
    fn place(&self, s: f64) -> usize {
        self.pieces.partition_point(|piece| piece.s[1] < s)
    }

    /// The time in a step at which an arclength is reached: it grows at least as fast as time.
    fn time_of(&self, piece: &Piece, s: f64) -> f64 {
        let ([t0, t1], [s0, s1]) = (piece.t, piece.s);
        let ends = [(t0, s0 - s), (t1, s1 - s)].map(|(at, value)| Sample { at, value });
        let beyond = |t: f64| self.s_within(piece, t).map_or(f64::NAN, |at| at - s);
        root(beyond, ends[0], ends[1], 0.0, None).sample.at
    }
}

impl Piece {
    fn part(&self, s: f64) -> f64 {
        let length = self.s[1] - self.s[0];
        if length > 0.0 {
            ((s - self.s[0]) / length).clamp(0.0, 1.0)
        } else {
            1.0
        }
    }
}

fn check(value: f64, start: f64, end: f64) -> Result<(), InputError> {
    if (start..=end).contains(&value) {
        return Ok(());
    }
    Err(InputError::OutsideRun {
        t: value,
        start,
        end,
    })
}
