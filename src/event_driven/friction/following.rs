//! The contact mode that follows an event, where contacts have friction: the complementarity problem
//! of accelerations (Pfeiffer & Glocker).

use crate::event_driven::Model;
use crate::event_driven::breakdown::{Breakdown, explain};
use crate::event_driven::friction::candidates::{Candidates, Choice, NextModes, Push, STAYS};
use crate::event_driven::friction::meeting::{Meeting, TOGETHER};
use crate::event_driven::impact::{Event, ImpactRule, Touching};
use crate::event_driven::onto_contacts;
use crate::impact::planar::modes::{Known, MOST_CONTACTS};
use crate::impact::{Occasion, Routh, Selection};
use crate::linalg::scratch::with_zeros;
use crate::linalg::{dot, largest};
use crate::mechanics::friction::contact_function::{ContactFunction, Slip};
use crate::mechanics::friction::forces::Dependent;
use crate::mechanics::friction::frame::Frame;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::{Painleve, State};
use crate::{Crossed, Flow, Mode};

/// Impacts without collision that may follow one event.
const MOST_PUSHES: usize = 32;

/// Where no mode has slips as they are, those slower than so many times what the steps may have left of
/// them count as zero: a slip that has come to rest must not be refused for the side that it is off to.
const LEFT_OVER: f64 = 1e3;

/// The Painlevé quantity by its value without friction, below which a step that cannot be made short enough
/// ends at a jam.
const JAMMED: f64 = 1e-2;

/// Likewise, above which with the other sign friction presses a contact down that lets go: about zero it may part.
const PRESSED: f64 = 1e-4;

/// Moments later at which modes are looked for, each ten times as far as the one before.
const MOMENTS: i32 = 6;

/// None of them is farther ahead (s).
const LATEST: f64 = 1e-4;

/// What follows an event.
enum Next {
    /// The slips of all contacts that are closed, and the impulses that hold low rebounds.
    Modes {
        modes: Vec<Option<Slip>>,
        holds: Vec<Push>,
        /// Not all modes were tried.
        is_one_of_many: bool,
    },
    /// No mode of these is consistent.
    Nothing(Candidates),
}

impl Model<'_> {
    /// Decides the modes of the contacts that touch, and brings the state onto them.
    ///
    /// Those that part are open. Of the others a slip that counts as zero becomes exactly zero first:
    /// whether it sticks, turns round or goes on is decided by accelerations alone. A contact that
    /// has just left its cone slips to that side; where no mode has it so, since another contact
    /// changes at the same instant, it is decided like all others.
    pub(crate) fn follow(
        &self,
        t: f64,
        state: &mut [f64],
        touching: &mut Touching<'_>,
        mode: &mut Mode,
    ) -> Result<(), Breakdown> {
        let (contacts, number) = (touching.contacts, touching.number);
        let occasion = Occasion { t, number };
        let mut known = touching.known.to_vec();
        for _ in 0..=MOST_PUSHES {
            match self.next_of_known(occasion, state, contacts, &mut known, mode)? {
                Next::Modes {
                    modes,
                    holds,
                    is_one_of_many,
                } => {
                    touching.aside.pushes.extend(holds);
                    touching.aside.is_one_of_many = is_one_of_many;
                    for &j in contacts {
                        self.set_contacting(mode, j, modes.get(j).copied().flatten());
                    }
                    if touching.unlanded.is_empty() {
                        self.hold_in_mode(state, mode);
                    } else {
                        onto_contacts::hold_but(self, state, touching.unlanded, mode);
                    }
                    self.begin_slips(t, state, contacts, mode);
                    return Ok(());
                }
                Next::Nothing(found) => {
                    let push = self.push_without_collision(occasion, state, &found)?;
                    touching.aside.pushes.push(push);
                    known.fill(STAYS);
                }
            }
        }
        let contacts = contacts.to_vec();
        Err(Breakdown::NoConsistentMode { contacts, t })
    }

    /// Lets a slip in space that has become too slow to have a direction come to rest straight, where it
    /// alone does so and would stick: true where the mode is changed to that.
    pub(crate) fn lets_end(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &[f64],
        mode: &mut Mode,
    ) -> bool {
        let functions = self.functions();
        if self.row_tangents() < 2 {
            return false;
        }
        let mut all = (0..functions.count()).filter(|&k| crossed.contains(k));
        let (Some(k), None) = (all.next(), all.next()) else {
            return false;
        };
        let ContactFunction::Slip(j) = functions.function(k, mode) else {
            return false;
        };
        let (q, v) = self.parts(x);
        let slip = functions.slip(mode, j);
        let velocity = self.slip_velocity(j, q, v);
        // It may have turned round, or reached its stop.
        let is_straight = slip.along(velocity) > 0.5 * velocity[0].hypot(velocity[1]);
        let is_slow = |i: usize| {
            let [x, y] = self.slip_velocity(i, q, v);
            let slip = functions.slip(mode, i);
            let slow = x.hypot(y) <= TOGETHER * self.least_slip(i, State { t, q, v });
            slip.begins || slip.ends || slip != Slip::NONE && slow
        };
        let alone = (0..functions.contacts).all(|i| i == j || !is_slow(i));
        if slip.begins || slip.ends || !is_straight || !alone {
            return false;
        }
        let mut ending = mode.clone();
        let near = Slip {
            ends: true,
            ..Slip::near(velocity)
        };
        self.set_contacting(&mut ending, j, Some(near));
        let stops = with_zeros(v.len(), |acceleration| {
            self.with_forces(Dependent::Ignored, |forces| {
                let all = Some(&mut *forces);
                self.motion_with_friction(State { t, q, v }, &ending, Some(acceleration), all);
                let slows = dot(&velocity, &self.slip_velocity(j, q, acceleration)) < 0.0;
                slows && forces.margin.is_none()
            })
        });
        if stops {
            mode.copy_from(&ending);
        }
        stops
    }

    /// Gives slips in space that began, and are now fast enough for it, the direction that they have: true where
    /// nothing else happens. The motion goes on as it is; were the modes decided anew, a slip beside them that is
    /// still so slow that it counts as zero would be stopped, and with it those that it moves with.
    pub(crate) fn lets_go_on(&self, crossed: &Crossed<'_>, x: &[f64], mode: &mut Mode) -> bool {
        let functions = self.functions();
        let begun = |mode: &Mode, j: usize| {
            let onset = functions.index(ContactFunction::Onset(j));
            functions.slip(mode, j).begins && crossed.contains(onset)
        };
        let crossings = (0..functions.count()).filter(|&k| crossed.contains(k));
        let of_slips = (0..functions.contacts).filter(|&j| begun(mode, j)).count();
        if self.row_tangents() < 2 || of_slips == 0 || crossings.count() != of_slips {
            return false;
        }
        let (q, v) = self.parts(x);
        for j in 0..functions.contacts {
            if begun(mode, j) {
                let slip = Slip::near(self.slip_velocity(j, q, v));
                self.set_contacting(mode, j, Some(slip));
            }
        }
        true
    }

    /// The mode that follows for what is known of the contacts.
    fn next_of_known(
        &self,
        occasion: Occasion,
        state: &mut [f64],
        contacts: &[usize],
        known: &mut [Known],
        mode: &Mode,
    ) -> Result<Next, Breakdown> {
        let t = occasion.t;
        let choice = Choice {
            selection: &self.selection,
            occasion,
        };
        let mut found = self.candidates(t, state, contacts, known, mode, 1.0)?;
        if self.lets_go_downward(t, state, &found)? {
            return Ok(Next::Nothing(found));
        }
        let mut next = match self.next_mode(choice, state, &found) {
            Err(ambiguous @ Breakdown::AmbiguousMode { .. }) => {
                let next = if self.let_go_at_their_cones(t, state, &mut found)? {
                    self.next_mode(choice, state, &found)?
                } else {
                    self.single_later(choice, state, &found, mode)
                };
                Some(next.ok_or(ambiguous)?)
            }
            next => next?,
        };
        let decides = |known: &Known| known.slip != 0 || known.normal != 0;
        if next.is_none() && known.iter().any(decides) {
            for known in &mut *known {
                (known.slip, known.normal) = (0, 0);
            }
            found = self.candidates(t, state, contacts, known, mode, 1.0)?;
            next = self.next_mode(choice, state, &found)?;
        }
        if next.is_none() && self.row_tangents() == 1 {
            found = self.candidates(t, state, contacts, known, mode, LEFT_OVER)?;
            next = self.next_mode(choice, state, &found)?;
        }
        Ok(match next {
            Some(NextModes {
                slips,
                is_one_of_many,
            }) => Next::Modes {
                modes: slips,
                is_one_of_many,
                holds: found.holds,
            },
            None => Next::Nothing(found),
        })
    }

    /// Lets contacts go that have left their cones at rest and that friction would press down as they slip; false
    /// for none.
    /// At the border of the cone such a slip seems to be consistent too, `a_t = 0`; beyond it `a_t` has the sign
    /// of the Painlevé quantity `G_nn − μ σ G_nt`, against the slip.
    #[cold]
    fn let_go_at_their_cones(
        &self,
        t: f64,
        state: &[f64],
        found: &mut Candidates,
    ) -> Result<bool, Breakdown> {
        let pressed = self.pressed_down(t, state, found, 0.0)?;
        let mut any = false;
        let each = found.contacts.iter().zip(&found.slips);
        for ((j, slip), known) in each.zip(&mut found.known) {
            let is_at_rest = slip.iter().all(|part| *part == 0.0);
            if known.slip != 0 && is_at_rest && pressed.contains(j) {
                (known.slip, known.normal, any) = (0, 1, true);
            }
        }
        Ok(any)
    }

    /// The mode that goes on where contacts have left their cones at rest and several seem consistent: at the border
    /// sticking and slipping are one motion. Which modes there are beyond it is seen a moment later, on the way of the
    /// mode so far. None where there are several then too.
    #[cold]
    fn single_later(
        &self,
        choice: Choice<'_>,
        state: &[f64],
        found: &Candidates,
        before: &Mode,
    ) -> Option<NextModes> {
        let is_at_rest = |slip: &[f64; 2]| slip.iter().all(|part| *part == 0.0);
        let mut left = found.known.clone();
        let mut any_left = false;
        for (known, slip) in left.iter_mut().zip(&found.slips) {
            if known.slip != 0 && is_at_rest(slip) {
                (known.slip, any_left) = (0, true);
            }
        }
        if !any_left {
            return None;
        }
        let (t, mut rates) = (choice.t(), vec![0.0; state.len()]);
        self.flow(t, state, before, &mut rates);
        let (_, acceleration) = self.parts(&rates);
        let most = largest(acceleration);
        // Speeds change by what counts as zero at first, and then by more.
        let moments = (0..MOMENTS).map(|k| self.rate_tolerance / most * 10f64.powi(k));
        // Slips that have stopped are not carried through zero.
        let mut stopped = before.clone();
        for ((&j, known), slip) in found.contacts.iter().zip(&found.known).zip(&found.slips) {
            if known.slip == 0 && is_at_rest(slip) {
                self.set_contacting(&mut stopped, j, Some(Slip::NONE));
            }
        }
        let mut near = moments.filter(|moment| *moment <= LATEST);
        near.find_map(|moment| {
            let moved = state.iter().zip(&rates).map(|(x, rate)| x + rate * moment);
            let mut later: Vec<f64> = moved.collect();
            self.hold_in_mode(&mut later, &stopped);
            let t = t + moment;
            let found = self.candidates(t, &mut later, &found.contacts, &left, before, 1.0);
            self.next_mode(choice, &later, &found.ok()?).ok()?
        })
    }

    /// True where a force has fallen through zero of a contact that presses itself down while it slides: without
    /// the force it then does not part but sinks, `b = −(G_nn − μ σ G_nt) λ`, and no mode goes on (Painlevé).
    fn lets_go_downward(
        &self,
        t: f64,
        state: &[f64],
        found: &Candidates,
    ) -> Result<bool, Breakdown> {
        let lets_go = |known: &Known| known.normal > 0 && known.slip != 0;
        if !found.known.iter().any(lets_go) {
            return Ok(false);
        }
        // Beside the point where neither is left it parts as well, or has jammed before.
        let pressed = self.pressed_down(t, state, found, -PRESSED)?;
        let mut each = found.contacts.iter().zip(&found.known);
        Ok(each.any(|(j, known)| lets_go(known) && pressed.contains(j)))
    }

    /// The closed contact, if there is one, whose friction presses it down until it jams: its force grows
    /// beyond all bounds before the motion comes to where none holds it.
    #[cold]
    pub(crate) fn jams(&self, t: f64, state: &[f64], mode: &Mode) -> Option<usize> {
        if !self.has_friction_in(mode) {
            return None;
        }
        let (closed, mut state) = (self.closed(mode), state.to_vec());
        let known = vec![STAYS; closed.len()];
        let found = self
            .candidates(t, &mut state, &closed, &known, mode, 1.0)
            .ok()?;
        let pressed = self.pressed_down(t, &state, &found, JAMMED).ok()?;
        pressed.first().copied()
    }

    /// The impact without collision of the contact that presses itself down while it slides; changes
    /// the velocities in `state`.
    fn push_without_collision(
        &self,
        occasion: Occasion,
        state: &mut [f64],
        found: &Candidates,
    ) -> Result<Push, Breakdown> {
        let t = occasion.t;
        // Of many contacts a mode was not found, which may be there.
        if found.contacts.len() > MOST_CONTACTS {
            let contacts = found.contacts.clone();
            return Err(Breakdown::NoConsistentMode { contacts, t });
        }
        let [contact] = self.pressed_down(t, state, found, 0.0)?[..] else {
            let contacts = found.contacts.clone();
            return Err(Breakdown::NoConsistentMode { contacts, t });
        };
        // In space there is no law for it.
        if self.painleve == Painleve::Error || self.row_tangents() > 1 {
            return Err(Breakdown::Painleve { contact, t });
        }
        let mut event = Event::of(&[contact], vec![true], ContactsAt::default());
        let rule = ImpactRule {
            law: &Routh::new().without_collision(),
            selection: &Selection::Single,
        };
        self.apply_impact_with(rule, occasion, state, &mut event)?;
        let impulse = |i: usize| event.impulses().get(i).copied().unwrap_or(0.0);
        Ok(Push {
            contact,
            impulse: [impulse(0), impulse(1), 0.0],
            tangents: 1,
            without_collision: true,
        })
    }

    /// Those of `touching` that do not part, with the signs of their slips; brings their rates to
    /// zero, and slips that count as zero. `left` is what is known of each of `touching`; contacts
    /// that are closed in `before` and rebound lower than gaps resolve do not part. Slips up to `left_over`
    /// times what the steps have added to them count as zero.
    pub(super) fn candidates(
        &self,
        t: f64,
        state: &mut [f64],
        touching: &[usize],
        left: &[Known],
        before: &Mode,
        left_over: f64,
    ) -> Result<Candidates, Breakdown> {
        let (q, v) = self.parts_mut(state);
        let (q, m) = (&*q, touching.len());
        with_zeros(Frame::size(self, m), |scratch| {
            let frame = Frame::new(self, State { t, q, v }, touching, scratch)
                .map_err(|trouble| explain(trouble, q, touching))?;
            let meeting = Meeting {
                model: self,
                frame: &frame,
                touching,
                before,
                left_over,
                t,
                q,
            };
            let mut found = Candidates::default();
            let (mut places, any_low) = meeting.staying(v);
            let held = meeting.hold(v, places.clone(), any_low)?;
            let (mut rows, mut impulses) = (held.rows, held.impulses);
            // A rebound that is held may stop others that parted; these stay with it.
            while any_low && meeting.stop_too(v, &mut places) {
                let held = meeting.hold(v, places.clone(), any_low)?;
                rows = held.rows;
                for (sum, p) in impulses.iter_mut().zip(held.impulses) {
                    *sum += p;
                }
            }
            for &i in &places {
                let j = touching[i];
                let has_stuck =
                    self.is_closed(before, j) && self.functions().slip(before, j) == Slip::NONE;
                found.contacts.push(j);
                found.known.push(left[i]);
                found.stuck.push(has_stuck);
            }
            for (known, &i) in found.known.iter_mut().zip(&rows) {
                let slips = meeting.rubs(i) && !rows.contains(&meeting.tangents(i).start);
                let slip = if slips {
                    frame.slip_velocity(i, v)
                } else {
                    [0.0; 2]
                };
                if slips {
                    known.slip = if slip[0] > 0.0 { 1 } else { -1 };
                }
                found.slips.push(slip);
            }
            if any_low {
                let k = frame.tangents();
                found.holds.extend((0..m).map(|i| {
                    let along = |a: usize| if a < k { impulses[m + i * k + a] } else { 0.0 };
                    Push {
                        contact: touching[i],
                        impulse: [impulses[i], along(0), along(1)],
                        tangents: k.max(1),
                        without_collision: false,
                    }
                }));
            }
            Ok(found)
        })
    }
}
