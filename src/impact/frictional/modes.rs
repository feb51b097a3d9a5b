//! All solutions of a planar impact with friction, by the modes of its contacts.
//!
//! Without bounds a contact is open, sticks, or slips one way or the other: 4ᵐ modes. With a bound
//! on its normal impulse it may also push with all of it and go on approaching, and stick or slip
//! meanwhile: 7ᵐ modes. A mode is a linear system in the impulses it leaves free, and signs to
//! check. A singular system is decided by the nonnegative least-squares problem of the mode's cone.
//!
//! All numbers are in units in which the Delassus matrix has a unit diagonal and the greatest speed
//! is 1.

mod singular;

use nalgebra::{DMatrix, DVector};

use super::elimination::solve;
use crate::Interrupt;
use crate::impact::{ContactMode, Failure, ImpactProblem, Order, Outcome, Outcomes};
use crate::validate;

/// Most contacts whose modes are enumerated: 1024 modes without bounds, 16 807 with them.
pub(crate) const MOST_CONTACTS: usize = 5;
/// Signs are checked to this.
const TOLERANCE: f64 = 1e-10;
/// Velocities closer than this are one.
const MERGED: f64 = 1e-8;
/// What is known of a contact before its mode is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// The sign of its normal speed, when that decides: approaching contacts push with all they
    /// may, separating ones do not.
    pub(crate) normal: i8,
    /// The sign of its slip, when that decides.
    pub(crate) slip: i8,
    /// Of modes with one velocity, those with the fewest open contacts of this kind are kept.
    pub(crate) stays: bool,
}

/// Nothing.
pub(crate) const UNKNOWN: Known = Known {
    normal: 0,
    slip: 0,
    stays: false,
};

/// What a contact does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    normal: Normal,
    /// 0 sticks, else the sign of the slip.
    slip: i8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Normal {
    Open,
    Closed,
    /// Pushes as much as it may.
    Full,
}

const fn state(normal: Normal, slip: i8) -> State {
    State { normal, slip }
}

/// The states of a contact; the first four without bounds.
const STATES: [State; 7] = [
    state(Normal::Open, 0),
    state(Normal::Closed, 0),
    state(Normal::Closed, 1),
    state(Normal::Closed, -1),
    state(Normal::Full, 0),
    state(Normal::Full, 1),
    state(Normal::Full, -1),
];
/// The same without tangents.
const FRICTIONLESS: [State; 3] = [
    state(Normal::Open, 1),
    state(Normal::Closed, 1),
    state(Normal::Full, 1),
];

/// The solutions of one impact for given speeds and bounds. Regular modes allocate nothing once the
/// list of solutions has its size.
#[derive(Clone, Debug)]
pub(crate) struct Modes {
    contacts: usize,
    tangents: usize,
    /// `√G_ii` of each row.
    roots: Vec<f64>,
    /// The scaled Delassus matrix.
    gram: DMatrix<f64>,
    friction: Vec<f64>,
    speeds: Vec<f64>,
    /// Bounds, infinite without any.
    most: Vec<f64>,
    unit: f64,
    known: Vec<Known>,
    /// Singular modes are passed over.
    only_regular: bool,
    mode: Vec<State>,
    system: System,
    lambda: Vec<f64>,
    after: Vec<f64>,
    /// Impulses, in units of the problem, and scaled speeds of all solutions, one after the other.
    found: Vec<f64>,
    scaled_speeds: Vec<f64>,
    states: Vec<State>,
    count: usize,
    complete: bool,
}

/// The linear system of a mode.
#[derive(Clone, Debug, Default)]
struct System {
    /// Rows whose speeds vanish.
    rows: Vec<usize>,
    /// The contact of each unknown, and its normal and tangential part.
    unknowns: Vec<(usize, [f64; 2])>,
    /// The matrix and the right side, row by row.
    entries: Vec<f64>,
    x: Vec<f64>,
}

impl Modes {
    /// Refuses problems in space and with more than [`MOST_CONTACTS`] contacts.
    pub(crate) fn refuse(problem: &ImpactProblem) -> Result<(), Failure> {
        let (m, t) = (problem.contacts(), problem.tangents());
        let rule = "must be at most 1 where contact modes are enumerated";
        validate::unless(t < 2, "tangents of a contact", t as f64, rule)?;
        let rule = "must be at most 5 where contact modes are enumerated";
        validate::unless(m <= MOST_CONTACTS, "contacts", m as f64, rule)?;
        Ok(())
    }

    pub(crate) fn new(problem: &ImpactProblem) -> Self {
        let (m, t) = (problem.contacts(), problem.tangents().min(1));
        let g = problem.delassus();
        let size = m + t * m;
        let roots: Vec<f64> = (0..size)
            .map(|i| {
                // A tangent along which nothing moves takes the unit of its normal.
                let own = g[(i, i)].sqrt();
                if own > 0.0 {
                    own
                } else {
                    g[(i % m, i % m)].sqrt()
                }
            })
            .collect();
        let friction = (0..m).map(|i| match t {
            0 => 0.0,
            _ => problem.friction()[i] * (roots[m + i] / roots[i]),
        });
        Self {
            contacts: m,
            tangents: t,
            gram: DMatrix::from_fn(size, size, |i, j| g[(i, j)] / roots[i] / roots[j]),
            friction: friction.collect(),
            speeds: vec![0.0; size],
            most: vec![f64::INFINITY; m],
            unit: 1.0,
            known: vec![UNKNOWN; m],
            only_regular: false,
            mode: Vec::with_capacity(m),
            system: System::default(),
            lambda: vec![0.0; size],
            after: vec![0.0; size],
            found: Vec::new(),
            scaled_speeds: Vec::new(),
            states: Vec::new(),
            count: 0,
            complete: true,
            roots,
        }
    }

    /// Number of different velocities found.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// False when some mode holds more velocities than the one listed, or could not be decided.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    /// The impulses of a solution (N s).
    pub(crate) fn impulses(&self, k: usize) -> Option<&[f64]> {
        let size = self.roots.len();
        self.found.get(k * size..(k + 1) * size)
    }

    /// What the contacts do in the first mode of a solution, in the order of enumeration; of
    /// accelerations, in the first of those with the fewest open contacts that stay.
    pub(crate) fn contact_modes(&self, k: usize) -> Vec<ContactMode> {
        let m = self.contacts;
        let states = self.states.get(k * m..(k + 1) * m).unwrap_or_default();
        states.iter().map(|state| state.public()).collect()
    }

    /// All solutions as outcomes of an impact.
    pub(crate) fn outcomes(&self, problem: &ImpactProblem) -> Result<Outcomes, Failure> {
        let mut list = Vec::with_capacity(self.count);
        for k in 0..self.count {
            let impulses = DVector::from_column_slice(self.impulses(k).unwrap_or_default());
            let order = Order::Modes(self.contact_modes(k));
            list.push(Outcome::of_impulses(problem, impulses, order, Vec::new())?);
        }
        Ok(Outcomes {
            list,
            is_complete: self.complete,
            effort: 0,
        })
    }

    /// Finds all solutions for these speeds; `most` bounds the normal impulses.
    pub(crate) fn find(
        &mut self,
        speeds: &[f64],
        most: Option<&[f64]>,
        interrupt: Option<&Interrupt>,
    ) -> Result<(), Failure> {
        self.begin(speeds, most)?;
        let states_of_contact: &[State] = match (self.tangents, most) {
            (0, None) => &FRICTIONLESS[..2],
            (0, Some(_)) => &FRICTIONLESS,
            (_, None) => &STATES[..4],
            (_, Some(_)) => &STATES,
        };
        self.list(states_of_contact, interrupt)
    }

    /// Takes in speeds and bounds, with nothing known of the contacts.
    fn begin(&mut self, speeds: &[f64], most: Option<&[f64]>) -> Result<(), Failure> {
        let scaled = speeds.iter().zip(&self.roots).map(|(u, root)| u / root);
        let greatest = scaled.clone().fold(0.0f64, |most, s| most.max(s.abs()));
        self.unit = if greatest > 0.0 { greatest } else { 1.0 };
        self.check_finite(speeds)?;
        for (to, s) in self.speeds.iter_mut().zip(scaled) {
            *to = s / self.unit;
        }
        for (i, to) in self.most.iter_mut().enumerate() {
            *to = most.map_or(f64::INFINITY, |most| most[i] * (self.roots[i] / self.unit));
        }
        self.known.fill(UNKNOWN);
        Ok(())
    }

    /// Finds all accelerations of contacts that touch and do not part, by those of free motion,
    /// where the slip of a contact may be known. The impulses found are forces.
    pub(crate) fn find_accelerations(
        &mut self,
        free: &[f64],
        known: &[Known],
        interrupt: Option<&Interrupt>,
    ) -> Result<(), Failure> {
        self.begin(free, None)?;
        self.known.copy_from_slice(known);
        let states = if self.tangents == 0 {
            &FRICTIONLESS[..2]
        } else {
            &STATES[..4]
        };
        self.list(states, interrupt)
    }

    /// Finds all rates of change of an impact in which each contact pushes at the rate `most`, or
    /// less where it would part: the solutions for zero speeds, where what is known of a contact
    /// replaces the signs of its speeds after. The impulses found are rates.
    pub(crate) fn find_rates(
        &mut self,
        known: &[Known],
        most: &[f64],
        interrupt: Option<&Interrupt>,
    ) -> Result<(), Failure> {
        let scaled = most.iter().zip(&self.roots).map(|(rate, root)| rate * root);
        let greatest = scaled.clone().fold(0.0f64, f64::max);
        self.unit = if greatest > 0.0 { greatest } else { 1.0 };
        for (to, rate) in self.most.iter_mut().zip(scaled) {
            *to = rate / self.unit;
        }
        self.speeds.fill(0.0);
        self.known.copy_from_slice(known);
        let states = if self.tangents == 0 {
            &FRICTIONLESS[..]
        } else {
            &STATES
        };
        // All impulses are bounded: where a mode is singular, its solutions with the fewest free
        // impulses belong to regular modes too.
        self.only_regular = true;
        let listed = self.list(states, interrupt);
        self.only_regular = false;
        listed?;
        if self.count == 0 {
            self.list(states, interrupt)?;
        }
        Ok(())
    }

    /// Lists the solutions afresh.
    fn list(&mut self, states: &[State], interrupt: Option<&Interrupt>) -> Result<(), Failure> {
        self.found.clear();
        self.scaled_speeds.clear();
        self.states.clear();
        (self.count, self.complete) = (0, true);
        self.mode.clear();
        self.descend(states, interrupt)
    }

    /// Refuses numbers that overflow in units of size 1.
    fn check_finite(&self, speeds: &[f64]) -> Result<(), Failure> {
        let overflow = |quantity, row: usize, value| Failure::Overflow {
            quantity,
            contact: row,
            value,
        };
        let scaled = speeds.iter().zip(&self.roots).map(|(u, root)| u / root);
        for (row, value) in scaled.enumerate() {
            if !value.is_finite() {
                return Err(overflow("scaled speed", row, value));
            }
        }
        for (row, &value) in self.friction.iter().enumerate() {
            if !value.is_finite() {
                return Err(overflow("scaled coefficient of friction", row, value));
            }
        }
        let size = self.roots.len();
        match self.gram.iter().position(|g| !g.is_finite()) {
            None => Ok(()),
            Some(k) => Err(overflow("scaled Delassus matrix", k % size, self.gram[k])),
        }
    }

    /// Decides the state of the next contact.
    fn descend(&mut self, states: &[State], interrupt: Option<&Interrupt>) -> Result<(), Failure> {
        if self.mode.len() == self.contacts {
            interrupt.map_or(Ok(()), Interrupt::check)?;
            return self.visit(interrupt);
        }
        for &state in states {
            // Without friction a contact has nothing to stick with.
            if state.slip == 0
                && state.normal != Normal::Open
                && self.friction[self.mode.len()] == 0.0
            {
                continue;
            }
            if !self.known[self.mode.len()].allows(state) {
                continue;
            }
            self.mode.push(state);
            let visited = self.descend(states, interrupt);
            self.mode.pop();
            visited?;
        }
        Ok(())
    }

    fn visit(&mut self, interrupt: Option<&Interrupt>) -> Result<(), Failure> {
        self.set_up();
        if solve(&mut self.system.entries, &mut self.system.x) {
            self.spread_unknowns();
            if self.is_solution() {
                self.keep();
            }
            return Ok(());
        }
        if self.only_regular {
            return Ok(());
        }
        if self.point_of_cone(interrupt)? && self.is_solution() {
            self.keep();
            self.look_further();
        }
        Ok(())
    }

    /// Impulses that the mode prescribes, and the system for the others.
    fn set_up(&mut self) {
        let (m, t) = (self.contacts, self.tangents);
        let system = &mut self.system;
        system.rows.clear();
        system.unknowns.clear();
        self.lambda.fill(0.0);
        for (i, state) in self.mode.iter().enumerate() {
            let (mu, s) = (self.friction[i], f64::from(state.slip));
            let slips = state.slip != 0;
            match state.normal {
                Normal::Open => continue,
                Normal::Closed => {
                    system.rows.push(i);
                    let along = if slips { -s * mu } else { 0.0 };
                    let size = 1.0 + along.abs();
                    system.unknowns.push((i, [1.0 / size, along / size]));
                }
                Normal::Full => {
                    self.lambda[i] = self.most[i];
                    if slips && t > 0 {
                        self.lambda[m + i] = -s * mu * self.most[i];
                    }
                }
            }
            if !slips {
                system.rows.push(m + i);
                system.unknowns.push((i, [0.0, 1.0]));
            }
        }
        add_product(&self.gram, &self.lambda, &self.speeds, &mut self.after);
        let size = system.rows.len();
        system.entries.clear();
        for &row in &system.rows {
            for &(i, parts) in &system.unknowns {
                let mut entry = self.gram[(row, i)] * parts[0];
                if t > 0 {
                    entry += self.gram[(row, m + i)] * parts[1];
                }
                system.entries.push(entry);
            }
        }
        system.x.clear();
        system
            .x
            .extend(system.rows.iter().map(|&row| -self.after[row]));
        debug_assert_eq!(system.entries.len(), size * size);
    }

    /// Adds the unknowns to the impulses.
    fn spread_unknowns(&mut self) {
        let m = self.contacts;
        for (&(i, parts), x) in self.system.unknowns.iter().zip(&self.system.x) {
            self.lambda[i] += parts[0] * x;
            if self.tangents > 0 {
                self.lambda[m + i] += parts[1] * x;
            }
        }
    }

    /// Whether the impulses and the speeds after them are those of the mode.
    fn is_solution(&mut self) -> bool {
        let (m, t) = (self.contacts, self.tangents);
        add_product(&self.gram, &self.lambda, &self.speeds, &mut self.after);
        let greatest = self.lambda.iter().fold(1.0f64, |most, l| most.max(l.abs()));
        let (of_speed, of_impulse) = (TOLERANCE, TOLERANCE * greatest);
        (0..m).all(|i| {
            let (state, un, push) = (self.mode[i], self.after[i], self.lambda[i]);
            // with the friction it carries: large where the coefficient is
            let force = match state.slip {
                0 => push,
                _ => push * (1.0 + self.friction[i]),
            };
            let normal = match state.normal {
                _ if self.known[i].normal != 0 => true,
                Normal::Open => un >= -of_speed,
                Normal::Closed => {
                    un.abs() <= of_speed
                        && force >= -of_impulse
                        && push <= self.most[i] + of_impulse
                }
                Normal::Full => un <= of_speed,
            };
            if t == 0 || state.normal == Normal::Open {
                return normal;
            }
            let (ut, along) = (self.after[m + i], self.lambda[m + i]);
            normal
                && match state.slip {
                    0 => {
                        ut.abs() <= of_speed && along.abs() <= self.friction[i] * push + of_impulse
                    }
                    s => self.known[i].slip != 0 || f64::from(s) * ut >= -of_speed,
                }
        })
    }

    /// Lists the solution. Where its velocity is listed, the mode of fewer open contacts that stay
    /// is kept.
    fn keep(&mut self) {
        let (m, size) = (self.contacts, self.roots.len());
        let mut known = self.scaled_speeds.chunks_exact(size);
        let near = |a: &[f64]| {
            a.iter()
                .zip(&self.after)
                .all(|(a, b)| (a - b).abs() <= MERGED)
        };
        let place = known.position(near).unwrap_or(self.count);
        if place == self.count {
            self.scaled_speeds.extend_from_slice(&self.after);
            self.states.extend_from_slice(&self.mode);
            self.found.resize(self.found.len() + size, 0.0);
            self.count += 1;
        } else {
            let kept = &mut self.states[place * m..(place + 1) * m];
            if open_that_stay(&self.known, &self.mode) >= open_that_stay(&self.known, kept) {
                return;
            }
            kept.copy_from_slice(&self.mode);
        }
        let found = &mut self.found[place * size..];
        for (i, to) in found.iter_mut().take(size).enumerate() {
            let scaled = self.lambda[i];
            // Rounding does not pull.
            let scaled = if i < m { scaled.max(0.0) } else { scaled };
            *to = scaled * (self.unit / self.roots[i]);
        }
    }
}

/// How many contacts that stay are open in a mode.
fn open_that_stay(known: &[Known], mode: &[State]) -> usize {
    let pairs = known.iter().zip(mode);
    pairs
        .filter(|(known, state)| known.stays && state.normal == Normal::Open)
        .count()
}

impl Known {
    fn allows(self, state: State) -> bool {
        let normal = match self.normal {
            0 => true,
            sign => state.normal == if sign < 0 { Normal::Full } else { Normal::Open },
        };
        normal && (state.normal == Normal::Open || self.slip == 0 || state.slip == self.slip)
    }
}

impl State {
    fn public(self) -> ContactMode {
        match (self.normal, self.slip) {
            (Normal::Open, _) => ContactMode::Open,
            (_, 0) => ContactMode::Stick,
            (_, 1) => ContactMode::SlipForward,
            _ => ContactMode::SlipBackward,
        }
    }
}

/// `out = start + G λ`.
fn add_product(gram: &DMatrix<f64>, lambda: &[f64], start: &[f64], out: &mut [f64]) {
    out.copy_from_slice(start);
    for (column, l) in gram.as_slice().chunks_exact(start.len().max(1)).zip(lambda) {
        if *l != 0.0 {
            for (to, g) in out.iter_mut().zip(column) {
                *to += g * l;
            }
        }
    }
}
