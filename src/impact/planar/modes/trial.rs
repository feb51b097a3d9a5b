//! One mode of an impact: the states of its contacts, its linear system, and whether what solves it
//! has the signs of the mode.

use nalgebra::DMatrix;

use crate::impact::Contacting;
use crate::linalg::scratch::resize;

/// Signs are checked to this.
pub(super) const TOLERANCE: f64 = 1e-10;
/// Velocities closer than this are one.
pub(super) const MERGED: f64 = 1e-8;

/// A scaled impact, and the mode that is tried. All numbers are in units in which the Delassus
/// matrix has a unit diagonal and the greatest speed is 1.
#[derive(Clone, Debug, Default)]
pub(super) struct Trial {
    pub(super) contacts: usize,
    pub(super) tangents: usize,
    /// The scaled Delassus matrix.
    pub(super) gram: DMatrix<f64>,
    pub(super) friction: Vec<f64>,
    pub(super) speeds: Vec<f64>,
    /// Bounds, infinite without any.
    pub(super) most: Vec<f64>,
    pub(super) known: Vec<Known>,
    pub(super) mode: Vec<State>,
    pub(super) system: System,
    /// Impulses, and the speeds after them.
    pub(super) lambda: Vec<f64>,
    pub(super) after: Vec<f64>,
}

/// The linear system of a mode.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    /// Rows whose speeds vanish.
    pub(super) rows: Vec<usize>,
    /// The contact of each unknown, and its normal and tangential part.
    pub(super) unknowns: Vec<(usize, [f64; 2])>,
    /// The matrix and the right side, row by row.
    pub(super) entries: Vec<f64>,
    pub(super) x: Vec<f64>,
}

impl Trial {
    /// Takes another impact, in memory that is there.
    pub(super) fn fill(
        &mut self,
        friction: impl Iterator<Item = f64>,
        tangents: usize,
        size: usize,
        gram: impl Fn(usize, usize) -> f64,
    ) {
        self.friction.clear();
        self.friction.extend(friction);
        let m = self.friction.len();
        (self.contacts, self.tangents) = (m, tangents);
        resize(&mut self.gram, size, size);
        for j in 0..size {
            for i in 0..size {
                self.gram[(i, j)] = gram(i, j);
            }
        }
        for (numbers, value, length) in [
            (&mut self.speeds, 0.0, size),
            (&mut self.most, f64::INFINITY, m),
            (&mut self.lambda, 0.0, size),
            (&mut self.after, 0.0, size),
        ] {
            numbers.clear();
            numbers.resize(length, value);
        }
        self.known.clear();
        self.known.resize(m, UNKNOWN);
        self.mode.clear();
    }

    /// Impulses that the mode prescribes, and the system for the others.
    pub(super) fn set_up(&mut self) {
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
    }

    /// Adds the unknowns to the impulses.
    pub(super) fn spread_unknowns(&mut self) {
        let m = self.contacts;
        for (&(i, parts), x) in self.system.unknowns.iter().zip(&self.system.x) {
            self.lambda[i] += parts[0] * x;
            if self.tangents > 0 {
                self.lambda[m + i] += parts[1] * x;
            }
        }
    }

    /// The greatest impulse, or 1.
    pub(super) fn greatest(&self) -> f64 {
        self.lambda.iter().fold(1.0f64, |most, l| most.max(l.abs()))
    }

    /// True when the impulses and the speeds after them are those of the mode.
    pub(super) fn is_solution(&mut self) -> bool {
        add_product(&self.gram, &self.lambda, &self.speeds, &mut self.after);
        self.has_signs(TOLERANCE * self.greatest())
    }

    /// True when impulses and speeds have the signs of the mode, impulses to `of_impulse`.
    pub(super) fn has_signs(&self, of_impulse: f64) -> bool {
        let (m, t, of_speed) = (self.contacts, self.tangents, TOLERANCE);
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
}

/// `out = start + G λ`.
pub(super) fn add_product(gram: &DMatrix<f64>, lambda: &[f64], start: &[f64], out: &mut [f64]) {
    out.copy_from_slice(start);
    for (column, l) in gram.as_slice().chunks_exact(start.len().max(1)).zip(lambda) {
        if *l != 0.0 {
            for (to, g) in out.iter_mut().zip(column) {
                *to += g * l;
            }
        }
    }
}

/// Facts of a contact that are given before its mode is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// The sign of its normal speed, when that decides: approaching contacts push with all they
    /// may, separating ones do not.
    pub(crate) normal: i8,
    /// The sign of its slip, when that decides.
    pub(crate) slip: i8,
    /// Of modes with one velocity, those with the fewest open contacts of this kind are kept.
    pub(crate) stays: bool,
    /// The loads have come to the border of what static friction holds: it counts as a little less.
    pub(crate) yields: bool,
}

/// Nothing.
pub(crate) const UNKNOWN: Known = Known {
    normal: 0,
    slip: 0,
    stays: false,
    yields: false,
};

/// The state of a contact in a mode: its normal, and stick or slip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) normal: Normal,
    /// 0 sticks, else the sign of the slip.
    pub(super) slip: i8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Normal {
    Open,
    Closed,
    /// Pushes as much as it may.
    Full,
}

const fn state(normal: Normal, slip: i8) -> State {
    State { normal, slip }
}

/// The states of a contact; the first four without bounds.
pub(super) const STATES: [State; 7] = [
    state(Normal::Open, 0),
    state(Normal::Closed, 0),
    state(Normal::Closed, 1),
    state(Normal::Closed, -1),
    state(Normal::Full, 0),
    state(Normal::Full, 1),
    state(Normal::Full, -1),
];
/// The states of a contact without tangents.
pub(super) const FRICTIONLESS: [State; 3] = [
    state(Normal::Open, 1),
    state(Normal::Closed, 1),
    state(Normal::Full, 1),
];

/// The number of contacts that stay and are open in a mode.
pub(super) fn open_that_stay(known: &[Known], mode: &[State]) -> usize {
    let pairs = known.iter().zip(mode);
    pairs
        .filter(|(known, state)| known.stays && state.normal == Normal::Open)
        .count()
}

impl Known {
    pub(super) fn allows(self, state: State) -> bool {
        let normal = match self.normal {
            0 => true,
            sign => state.normal == if sign < 0 { Normal::Full } else { Normal::Open },
        };
        normal && (state.normal == Normal::Open || self.slip == 0 || state.slip == self.slip)
    }
}

impl State {
    pub(super) fn public(self) -> Contacting {
        match (self.normal, self.slip) {
            (Normal::Open, _) => Contacting::Open,
            (_, 0) => Contacting::Stick,
            (_, 1) => Contacting::SlipForward,
            _ => Contacting::SlipBackward,
        }
    }
}
