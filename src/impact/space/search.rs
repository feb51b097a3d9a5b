//! The search for solutions: mode by mode, or along the central path of Coulomb's law; and which
//! multipliers are a solution.

use super::coulomb_path::CoulombPath;
use super::wave::Wave;
use super::{Given, MERGED, Solution, is_less, sticks};
use crate::Interrupt;
use crate::impact::ImpactFailure;
use crate::impact::multipliers::{ContactRates, Hold, MANY_STARTS, own_turn, unit};
use crate::linalg::dot;

/// Signs are checked to this.
pub(super) const TOLERANCE: f64 = 1e-10;
/// Loads of contacts that depend on each other lie in the cones of a mode up to this part.
const IN_CONES: f64 = 1e-9;
/// Directions in which slips are started: that in which the cone is left, and those turned by parts of
/// a turn from the one in which contacts would slip without friction.
pub(super) const STARTS: u32 = 8;
/// Of up to so many contacts, all directions of a slip that alone begins are found.
const SCANNED: usize = 3;
/// Neighbours are looked for of so many solutions at most.
const MOST_NEIGHBOURS: usize = 32;

/// A search for solutions of scaled contacts.
pub(super) struct Search<'a> {
    pub(super) contacts: ContactRates<'a>,
    pub(super) given: &'a [Given],
    /// Directions from which those of a mode are looked for.
    pub(super) starts: u32,
    pub(super) multipliers: Vec<f64>,
    pub(super) found: Vec<Solution>,
}

impl Search<'_> {
    /// Decides how the next contact is held.
    pub(super) fn descend(
        &mut self,
        holds: &mut Vec<Hold>,
        interrupt: Option<&Interrupt>,
    ) -> Result<(), ImpactFailure> {
        let i = holds.len();
        if i == self.contacts.contacts {
            interrupt.map_or(Ok(()), Interrupt::check)?;
            self.visit(holds);
            return Ok(());
        }
        let begins = Hold::Onset {
            direction: [1.0, 0.0],
            pace: 0.0,
        };
        let given = self.given.get(i).copied().unwrap_or_default();
        let closed = match given.direction {
            _ if self.contacts.friction[i] == 0.0 => [Some(Hold::Slip([0.0; 2])), None],
            Some(direction) => [Some(Hold::Slip(direction)), None],
            None if given.slips => [Some(begins), None],
            None => [Some(Hold::Stick), Some(begins)],
        };
        for hold in closed.into_iter().chain([Some(Hold::Open)]).flatten() {
            holds.push(hold);
            let visited = self.descend(holds, interrupt);
            holds.pop();
            visited?;
        }
        Ok(())
    }

    /// Tries the mode in which all contacts go on as they are, those that let go open; then with these closed too.
    pub(super) fn visit_first(&mut self) {
        let lets_go = |given: &Given| !given.stays;
        for opens in [true, false] {
            if opens && !self.given.iter().any(lets_go) {
                continue;
            }
            let hold = |i: usize| {
                let given = self.given.get(i).copied().unwrap_or_default();
                match given.direction {
                    _ if opens && lets_go(&given) => Hold::Open,
                    _ if self.contacts.friction[i] == 0.0 => Hold::Slip([0.0; 2]),
                    Some(direction) => Hold::Slip(direction),
                    None => Hold::Stick,
                }
            };
            let holds: Vec<Hold> = (0..self.contacts.contacts).map(hold).collect();
            self.visit(&holds);
            if !self.found.is_empty() {
                return;
            }
        }
    }

    /// Tries the modes that points of the central path tell, with cones that are narrower by so much.
    pub(super) fn follow_path(
        &mut self,
        narrower: f64,
        interrupt: Option<&Interrupt>,
    ) -> Result<(), ImpactFailure> {
        let contacts = self.contacts;
        let mut path = CoulombPath::new(&contacts, self.given, narrower);
        let (mut holds, mut tried): (Vec<Hold>, Vec<Hold>) = (Vec::new(), Vec::new());
        while path.advance() {
            interrupt.map_or(Ok(()), Interrupt::check)?;
            path.mode(&mut holds);
            if holds != tried {
                tried.clone_from(&holds);
                let mut multipliers = std::mem::take(&mut self.multipliers);
                let begun = contacts.begin(&mut holds, &mut multipliers);
                // Where it would stick with other shares of the loads Newton's method may lead there alone.
                let begun = begun.or_else(|| contacts.begin_forced(&mut holds, &mut multipliers));
                if let Some(is_unique) = begun {
                    self.take(&holds, &mut multipliers, is_unique);
                }
                self.multipliers = multipliers;
            }
        }
        Ok(())
    }

    /// Looks for the solutions of a mode.
    fn visit(&mut self, mode: &[Hold]) {
        let begins = mode.iter().any(|hold| matches!(hold, Hold::Onset { .. }));
        // More than a quarter of all modes are so, which takes less to see than one start.
        if begins && self.contacts.are_beyond_cones(mode) {
            return;
        }
        let mut multipliers = std::mem::take(&mut self.multipliers);
        if begins {
            self.visit_onsets(mode, &mut multipliers);
        } else {
            let is_unique = self.contacts.solve(mode, &mut multipliers);
            self.take(mode, &mut multipliers, is_unique);
        }
        self.multipliers = multipliers;
    }

    /// Looks for the directions in which slips begin, from several starts.
    fn visit_onsets(&mut self, mode: &[Hold], multipliers: &mut [f64]) {
        let mut holds = mode.to_vec();
        let begun = self.contacts.begin_beyond_cones(&mut holds, multipliers);
        if let Some(is_unique) = begun {
            self.take(&holds, multipliers, is_unique);
        }
        holds.copy_from_slice(mode);
        self.start_along_free(&mut holds);
        if let Some(is_unique) = self.contacts.begin_along_slips(&mut holds, multipliers) {
            self.take(&holds, multipliers, is_unique);
        }
        for start in 0..self.starts {
            let part = f64::from(start) / f64::from(self.starts);
            holds.copy_from_slice(mode);
            self.start_along_free(&mut holds);
            for (i, hold) in holds.iter_mut().enumerate() {
                // All alike, or where these are not enough each in its own way.
                let own = if self.starts < MANY_STARTS {
                    part
                } else {
                    own_turn(start, i)
                };
                hold.turn(std::f64::consts::TAU * own);
            }
            if let Some(is_unique) = self.contacts.begin(&mut holds, multipliers) {
                self.take(&holds, multipliers, is_unique);
            }
        }
        let begins = |hold: &Hold| matches!(hold, Hold::Onset { .. });
        let mut begun = (0..mode.len()).filter(|&i| begins(&mode[i]));
        if let (Some(i), None, true) = (begun.next(), begun.next(), mode.len() <= SCANNED) {
            holds.copy_from_slice(mode);
            self.scan(i, &mut holds, multipliers);
        }
    }

    /// Lets slips begin where contacts would go without any forces.
    fn start_along_free(&self, holds: &mut [Hold]) {
        for (i, hold) in holds.iter_mut().enumerate() {
            if let Hold::Onset { direction, .. } = hold {
                let free = self.contacts.along(i, |row| self.contacts.free[row]);
                *direction = unit(free).unwrap_or([1.0, 0.0]);
            }
        }
    }

    /// Looks all around for the directions in which the slip of contact `i` begins.
    ///
    /// With friction against a direction `e` the push `λ` and the rate `u` along tangents are `c/(g − μ h·e)`
    /// and `b + λ (h − μ H e)`, whatever the others do that do not slip: the rate across it over the push is a
    /// wave of degree two in the angle of `e`, which five of its values give. Its zeros are the directions.
    fn scan(&mut self, i: usize, holds: &mut [Hold], multipliers: &mut [f64]) {
        for angle in self.possible_angles(i, holds, multipliers) {
            let (sin, cos) = angle.sin_cos();
            let direction = [cos, sin];
            holds[i] = Hold::Slip(direction);
            let is_unique = self.contacts.solve(holds, multipliers);
            holds[i] = Hold::Onset {
                direction,
                pace: 0.0,
            };
            self.take(holds, multipliers, is_unique);
        }
    }

    /// The angles of the directions in which contact `i` may slip, where the others are held as they are.
    fn possible_angles(
        &self,
        i: usize,
        holds: &mut [Hold],
        multipliers: &mut [f64],
    ) -> impl Iterator<Item = f64> + use<> {
        let contacts = self.contacts;
        let mut values = [0.0; 5];
        let mut is_wave = true;
        for (k, value) in values.iter_mut().enumerate() {
            let (sin, cos) = Wave::angle(k).sin_cos();
            holds[i] = Hold::Slip([cos, sin]);
            let is_unique = contacts.solve(holds, multipliers);
            let [x, y] = contacts.along(i, |row| contacts.rate(row, multipliers));
            *value = (cos * y - sin * x) / multipliers[i];
            is_wave &= is_unique && value.is_finite();
        }
        is_wave
            .then(|| Wave::through(values).zeros())
            .into_iter()
            .flatten()
    }

    /// Looks for solutions beside those that are found: with one contact that slips in another direction, or slips
    /// where it sticks or is open, while the others slip as they do. Many a start leads to none of them, as their
    /// directions turn with each other.
    pub(super) fn visit_neighbours(
        &mut self,
        interrupt: Option<&Interrupt>,
    ) -> Result<(), ImpactFailure> {
        let contacts = self.contacts;
        let mut multipliers = vec![0.0; contacts.rows()];
        let mut at = 0;
        while at < self.found.len().min(MOST_NEIGHBOURS) {
            interrupt.map_or(Ok(()), Interrupt::check)?;
            let holds = self.found[at].holds.clone();
            at += 1;
            for i in 0..contacts.contacts {
                let given = self.given.get(i).copied().unwrap_or_default();
                if contacts.friction[i] == 0.0 || given.direction.is_some() {
                    continue;
                }
                let mut settled: Vec<Hold> = holds.iter().map(|hold| hold.settled()).collect();
                for angle in self.possible_angles(i, &mut settled, &mut multipliers) {
                    let (sin, cos) = angle.sin_cos();
                    let mut begun = holds.clone();
                    begun[i] = Hold::Onset {
                        direction: [cos, sin],
                        pace: 0.0,
                    };
                    if let Some(is_unique) = contacts.begin(&mut begun, &mut multipliers) {
                        self.take(&begun, &mut multipliers, is_unique);
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes multipliers of a mode if they are a solution that is not there already, or not with a
    /// better mode.
    pub(super) fn take(&mut self, holds: &[Hold], multipliers: &mut [f64], is_unique: bool) {
        let contacts = &self.contacts;
        if !is_unique {
            let settled: Vec<Hold> = holds.iter().copied().map(Hold::settled).collect();
            if contacts.are_beyond_cones(&settled) {
                return;
            }
            contacts.bring_into_cones(holds, multipliers);
        }
        let rows = 0..contacts.rows();
        let rates: Vec<f64> = rows.map(|row| contacts.rate(row, multipliers)).collect();
        if !self.moves(holds, &rates) {
            return;
        }
        let known = |within: f64, found: &[Solution]| {
            let near = |known: &Solution| {
                let mut pairs = known.rates.iter().zip(&rates);
                pairs.all(|(a, b)| (a - b).abs() <= within + known.off)
            };
            found.iter().position(near)
        };
        let is_whole = is_unique || self.is_in_cones(holds, multipliers);
        // It is worse than one that has as few strays, and is not off by more; where contacts that depend on
        // each other slip, than one with smaller multipliers, or as large ones that is off by less.
        let is_worse = |known: usize, off: f64| {
            let known = &self.found[known];
            if known.is_whole != is_whole && !known.sticks() && !sticks(holds) {
                return known.is_whole;
            }
            let is_shared = !is_unique && !known.is_unique && !known.sticks();
            let is_better = if is_shared {
                !is_less(multipliers, &known.multipliers) && known.off <= off
            } else {
                known.off <= MERGED + off
            };
            is_better && self.strays(&known.holds) <= self.strays(holds)
        };
        if known(MERGED, &self.found).is_some_and(|known| is_worse(known, 0.0)) {
            return;
        }
        // Of dependent contacts some multipliers in the cones do, not those found.
        let beyond = if is_unique {
            0.0
        } else {
            -contacts.margin_in_cones(holds, multipliers).min(0.0)
        };
        let is_in_cones = if is_unique {
            self.is_in_cones(holds, multipliers)
        } else {
            beyond <= IN_CONES
        };
        if !is_in_cones {
            return;
        }
        let off = self.off(holds, multipliers, beyond);
        let known = known(MERGED + off, &self.found);
        if known.is_some_and(|known| is_worse(known, off)) {
            return;
        }
        let solution = Solution {
            holds: holds.to_vec(),
            multipliers: multipliers.to_vec(),
            listed: Vec::new(),
            rates,
            off,
            is_unique,
            is_whole,
            is_shared: false,
        };
        match known {
            None => self.found.push(solution),
            Some(known) => self.found[known] = solution,
        }
    }

    /// By how much rates may be off: by the friction that is missing or too much where directions have
    /// not settled, and by the part of the loads `beyond` the cones.
    fn off(&self, holds: &[Hold], multipliers: &[f64], beyond: f64) -> f64 {
        let contacts = &self.contacts;
        let own = (0..contacts.rows()).map(|row| contacts.own(row));
        let own = own.fold(0.0, f64::max);
        let excess = |(i, hold): (usize, &Hold)| match hold {
            Hold::Onset { .. } => {
                let [x, y] = contacts.along(i, |row| multipliers[row]);
                (x.hypot(y) - contacts.friction[i] * multipliers[i]).abs()
            }
            _ => 0.0,
        };
        let excess: f64 = holds.iter().enumerate().map(excess).sum();
        own * excess + beyond * dot(contacts.free, contacts.free).sqrt()
    }

    /// Number of contacts that a mode opens though they stay, or closes though they do not.
    fn strays(&self, holds: &[Hold]) -> usize {
        let pairs = holds.iter().zip(self.given);
        let strays = pairs.filter(|(hold, given)| given.stays == (**hold == Hold::Open));
        strays.count()
    }

    /// True when rates have the signs of a mode.
    fn moves(&self, holds: &[Hold], rates: &[f64]) -> bool {
        let contacts = &self.contacts;
        holds.iter().enumerate().all(|(i, hold)| {
            let slip = contacts.along(i, |row| rates[row]);
            let rests = rates[i].abs() <= TOLERANCE;
            match hold {
                Hold::Open => rates[i] >= -TOLERANCE,
                Hold::Stick => rests && slip[0].hypot(slip[1]) <= TOLERANCE,
                Hold::Slip(_) => rests,
                Hold::Onset { direction, .. } => {
                    let along = dot(direction, &slip);
                    let across = direction[0] * slip[1] - direction[1] * slip[0];
                    rests && along >= -TOLERANCE && across.abs() <= TOLERANCE
                }
            }
        })
    }

    /// True when multipliers do not pull and sticking contacts are in their cones.
    fn is_in_cones(&self, holds: &[Hold], multipliers: &[f64]) -> bool {
        let largest = multipliers.iter().fold(1.0f64, |most, p| most.max(p.abs()));
        let least = -TOLERANCE * largest;
        holds.iter().enumerate().all(|(i, hold)| {
            let (push, mu) = (multipliers[i], self.contacts.friction[i]);
            let [x, y] = self.contacts.along(i, |row| multipliers[row]);
            match hold {
                Hold::Open => true,
                Hold::Stick => push >= least && mu * push - x.hypot(y) >= least,
                Hold::Slip(_) | Hold::Onset { .. } => push * (1.0 + mu) >= least,
            }
        })
    }
}
