//! Whether the motion depends on how contacts share their load, where they depend on each other: by the friction of
//! those that slip ([`ContactRates::move_by_shares`]), or since contacts that stick hold as long as some shares lie
//! within all cones, and with others may slip.
//!
//! [`ContactRates::move_by_shares`]: crate::impact::multipliers::ContactRates::move_by_shares

use crate::Mode;
use crate::event_driven::Model;
use crate::event_driven::friction::candidates::Choice;
use crate::impact::multipliers::{Hold, MOVED, unit};
use crate::impact::planar::modes::UNKNOWN;
use crate::impact::{Occasion, Selection};
use crate::linalg::dot;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::friction::contact_function::Slip;
use crate::mechanics::friction::forces::Dependent;
use crate::mechanics::friction::frame::Frame;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::{State, UnilateralConstraints};

/// Coefficients that are so many times as great let contacts slip nowhere.
const ROUGH: f64 = 1e3;
/// Of so many contacts that stick every set may slide instead; of more, all.
const MOST_LOOSENED: usize = 4;

impl Model<'_> {
    /// True where the motion of a mode depends on how its closed contacts share their load, and others that rest
    /// on their surfaces beside them.
    pub(crate) fn depends_on_shares(&self, state: State<'_>, mode: &Mode) -> bool {
        if !self.slides() || !self.has_friction_in(mode) {
            return false;
        }
        let resting = self.with_resting(state, mode);
        let mode = resting.as_ref().unwrap_or(mode);
        let margin = self.with_forces(Dependent::Margin, |forces| {
            self.motion_with_friction(state, mode, None, Some(&mut *forces));
            forces.margin
        });
        // Where loads have jumped out of their cones another mode follows at once.
        let holds = margin.is_some_and(|margin| margin >= -MOVED);
        let slips =
            |j: usize| self.functions().slip(mode, j) != Slip::NONE && self.friction(j) > 0.0;
        margin.is_some()
            && (self.layout().closed(mode).any(slips)
                && self.moves_by_shares(state, mode).unwrap_or(false)
                || holds
                    && resting.is_none()
                    && (self.moves_without_one(state, mode) || self.slides_instead(state, mode)))
    }

    /// True where some of the contacts that stick would as well slide: with other shares of the loads, which are those
    /// of the slip. A ball that its friction wedges in a groove rests or goes.
    fn slides_instead(&self, state: State<'_>, mode: &Mode) -> bool {
        let closed = self.closed(mode);
        let m = closed.len();
        with_zeros(Frame::size(self, m), |scratch| {
            let Ok(frame) = Frame::new(self, state, &closed, scratch) else {
                return false;
            };
            let mut holds = vec![Hold::Open; m];
            self.holds(&frame, mode, state.v, &mut holds);
            let sticks = |i: &usize| holds[*i] == Hold::Stick && frame.slip[*i] > 0.0;
            let sticking: Vec<usize> = (0..m).filter(sticks).collect();
            let count = sticking.len().min(MOST_LOOSENED);
            let all = (sticking.len() > count).then(|| sticking.clone());
            let some = (1..1usize << count).map(|set| {
                let chosen = sticking.iter().enumerate();
                let chosen = chosen.filter(|(place, _)| set >> place & 1 == 1);
                chosen.map(|(_, &i)| i).collect()
            });
            let mut sets = all.into_iter().chain(some);
            sets.any(|set: Vec<usize>| slides_with(&frame, &holds, &set))
        })
    }

    /// The mode in which contacts that rest on their surfaces are closed too; none where there are none.
    fn with_resting(&self, State { q, v, .. }: State<'_>, mode: &Mode) -> Option<Mode> {
        let contacts = 0..self.system().contacts();
        let is_near = |j: usize| self.system().gap(j, q).abs() <= self.gap_tolerance;
        let open = |j: &usize| !self.is_closed(mode, *j) && is_near(*j);
        let near: Vec<usize> = contacts.filter(open).collect();
        if near.is_empty() {
            return None;
        }
        let (x, mut at) = ([q, v].concat(), ContactsAt::default());
        let mut all = mode.clone();
        for j in near {
            if self.rests(&mut at, j, &x) {
                let velocity = self.slip_velocity(j, q, v);
                let rubs =
                    self.friction(j) > 0.0 && velocity[0].hypot(velocity[1]) > self.rate_tolerance;
                let slip = if rubs {
                    Slip::near(velocity)
                } else {
                    Slip::NONE
                };
                self.set_contacting(&mut all, j, Some(slip));
            }
        }
        (all != *mode).then_some(all)
    }

    /// True where the motion becomes another one as soon as one of the contacts carries nothing, as that of a leg
    /// that is a little shorter: the others then do not hold, and would with more friction.
    fn moves_without_one(&self, state: State<'_>, mode: &Mode) -> bool {
        let closed = self.closed(mode);
        with_zeros(Frame::size(self, closed.len()), |scratch| {
            let Ok(frame) = Frame::new(self, state, &closed, scratch) else {
                return false;
            };
            let loosens = |i: &usize| self.loosens_without(&frame, state, mode, *i);
            let moves = |i: usize| self.moves_without(&frame, state, mode, i).unwrap_or(false);
            (0..closed.len()).filter(loosens).any(moves)
        })
    }

    /// True where the other contacts of a frame do not hold without one of them, and would if those that stick
    /// had more friction.
    fn loosens_without(&self, frame: &Frame<'_>, state: State<'_>, mode: &Mode, i: usize) -> bool {
        let m = frame.contacts.len();
        let mut holds = vec![Hold::Open; m];
        self.holds(frame, mode, state.v, &mut holds);
        holds[i] = Hold::Open;
        // The margin, and how the gap of that one accelerates.
        let held = |factor: f64| {
            let friction = |i: usize| match holds[i] {
                Hold::Stick => factor * frame.stick[i],
                _ => frame.slip[i],
            };
            let friction: Vec<f64> = (0..m).map(friction).collect();
            let (rates, mut multipliers) = (frame.rates(&friction), vec![0.0; frame.r]);
            let mut holds = holds.clone();
            rates.solve_mode(&mut holds, &mut multipliers);
            let margin = rates.margin_in_cones(&holds, &multipliers);
            (margin, rates.rate(i, &multipliers) / frame.root(i))
        };
        let size = (0..frame.r).map(|row| frame.bends[row].abs() / frame.root(row));
        let least = MOVED * size.fold(0.0, f64::max);
        let (margin, _) = held(1.0);
        margin < -MOVED && {
            let (margin, parting) = held(ROUGH);
            margin >= -MOVED && parting >= -least
        }
    }

    /// True where the others move without the contact of a place of the frame; none where no single motion
    /// follows, or one that presses this contact down again.
    fn moves_without(
        &self,
        frame: &Frame<'_>,
        state: State<'_>,
        mode: &Mode,
        i: usize,
    ) -> Option<bool> {
        let (State { t, q, v }, closed) = (state, frame.contacts);
        let others: Vec<usize> = closed.iter().copied().filter(|j| *j != closed[i]).collect();
        let (mut x, known) = ([q, v].concat(), vec![UNKNOWN; others.len()]);
        let found = self
            .candidates(t, &mut x, &others, &known, mode, 1.0)
            .ok()?;
        let choice = Choice {
            selection: &Selection::Single,
            occasion: Occasion { t, number: 0 },
        };
        let slips = self.next_mode(choice, &x, &found).ok()??.slips;
        let mut other = self.mode(&[]);
        for &j in &others {
            self.set_contacting(&mut other, j, slips.get(j).copied().flatten());
        }
        with_zeros(2 * v.len(), |scratch| {
            let (change, before) = scratch.split_at_mut(v.len());
            self.motion_with_friction(state, &other, Some(&mut *change), None);
            self.motion_with_friction(state, mode, Some(&mut *before), None);
            for (after, before) in change.iter_mut().zip(before) {
                *after -= *before;
            }
            let of_row = |row: usize| dot(frame.row(row), change) / frame.root(row);
            let size = (0..frame.r).map(|row| frame.bends[row].abs() / frame.root(row));
            let moved = MOVED.max(self.blur(frame, state, mode));
            let least = moved * size.fold(0.0, f64::max);
            let moves = (0..frame.r).any(|row| of_row(row).abs() > least);
            (of_row(i) >= -least).then_some(moves)
        })
    }

    /// Likewise, where forces are not unique; none where rows or masses are no numbers.
    fn moves_by_shares(&self, state: State<'_>, mode: &Mode) -> Option<bool> {
        let closed = self.closed(mode);
        with_zeros(Frame::size(self, closed.len()), |scratch| {
            let frame = Frame::new(self, state, &closed, scratch).ok()?;
            let mut holds = vec![Hold::Open; closed.len()];
            self.holds(&frame, mode, state.v, &mut holds);
            // Of slips that come to rest directions are not known; those that begin have the ones in which they do.
            let (blur, mut multipliers) = (self.blur(&frame, state, mode), vec![0.0; frame.r]);
            let rates = frame.rates(frame.slip);
            rates.solve_mode(&mut holds, &mut multipliers);
            rates.move_by_shares(&holds, blur)
        })
    }

    /// By how much directions of slips in space are uncertain (rad).
    fn blur(&self, frame: &Frame<'_>, at: State<'_>, mode: &Mode) -> f64 {
        let slips = |j: usize| self.functions().slip(mode, j) != Slip::NONE;
        let contacts = frame.contacts.iter().enumerate();
        let each = contacts.filter(|(_, j)| slips(**j)).map(|(i, &j)| {
            let [x, y] = frame.slip_velocity(i, at.v);
            self.least_slip(j, at) / x.hypot(y)
        });
        each.fold(0.0, f64::max)
    }
}

/// True where contacts of a frame that stick slide in the directions in which they begin to, all pushed and the
/// others held.
fn slides_with(frame: &Frame<'_>, holds: &[Hold], sliding: &[usize]) -> bool {
    let is_stuck = |i: usize| holds[i] == Hold::Stick && !sliding.contains(&i);
    let friction: Vec<f64> = (0..holds.len())
        .map(|i| [frame.slip[i], frame.stick[i]][usize::from(is_stuck(i))])
        .collect();
    let (rates, mut multipliers) = (frame.rates(&friction), vec![0.0; frame.r]);
    let mut holds = holds.to_vec();
    rates.solve(&holds, &mut multipliers);
    for &i in sliding {
        let friction = rates.along(i, |row| -multipliers[row]);
        let direction = unit(friction).unwrap_or([1.0, 0.0]);
        holds[i] = if frame.tangents() == 1 {
            Hold::Slip(direction)
        } else {
            let pace = 0.0;
            Hold::Onset { direction, pace }
        };
    }
    rates.solve_mode(&mut holds, &mut multipliers);
    let size = (0..frame.r).map(|row| frame.bends[row].abs() / frame.root(row));
    let least = MOVED * size.fold(0.0, f64::max);
    let slides = |i: &usize| {
        let (Hold::Slip([x, y])
        | Hold::Onset {
            direction: [x, y], ..
        }) = holds[*i]
        else {
            return false;
        };
        let along = rates.along(*i, |row| rates.rate(row, &multipliers) / frame.root(row));
        x * along[0] + y * along[1] > least
    };
    let is_sound = multipliers.iter().all(|p| p.is_finite());
    is_sound && rates.are_in_cones(&holds, &multipliers) && sliding.iter().all(slides)
}
