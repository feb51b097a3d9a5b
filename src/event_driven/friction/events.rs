//! A run from event to event: impacts, accumulations of impacts and changes of mode.

use super::checks::check_inelastic;
use super::course::Course;
use super::mode_problem::{Candidates, STAYS};
use super::stretches::{End, StretchKind};
use crate::event_driven::breakdown::Breakdown;
use crate::event_driven::impact::{Event, ImpactRule};
use crate::event_driven::motion;
use crate::impact::{Contacting, Routh, Selection};
use crate::mechanics::UnilateralConstraints;
use crate::mechanics::friction::contact_function::ContactFunction;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::{At, Guard, Mode, Stop};

/// Rounding of a gap, in units of the greatest coordinate (at least 1).
const GAP_ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Limit of the events at one instant beside 8 a contact.
const AT_ONCE: usize = 32;
/// Impacts whose rebounds are slower than so many times the tolerance of rates are summed up with
/// an error of up to this part of the last interval.
const SLOW: f64 = 1e3;
const PART: f64 = 1e-2;

impl Course<'_> {
    /// Goes on to `tf`, or to where it cannot go on.
    pub(super) fn run(&mut self, tf: f64) -> Result<(), Breakdown> {
        // Of each contact that has just left its cone the sign of its slip; those whose forces have
        // ended need not stay until they have parted.
        let mut left = self.no_event();
        loop {
            let touching = self.touching();
            let mut at = ContactsAt::default();
            motion::land(self.model, &mut self.state, &[], &touching, &mut at);
            let approaching = self.model.approaching(&mut at, &self.state, &touching);
            if approaching.contains(&true) {
                left.fill(STAYS);
                self.count_event(0)?;
                self.impact(touching, approaching, false)?;
                if let Some(limit) = self.series.limit(self.options.zeno_tolerance, self.part()) {
                    if limit.t > tf {
                        continue;
                    }
                    self.series.clear();
                    self.rest(&limit)?;
                }
                continue;
            }
            let mut candidates = self.candidates(&touching, &left)?;
            let occasion = self.occasion();
            let next = Self::next_mode(self.model, occasion, &self.state, &candidates)?;
            // The contact that left its cone may stick in another mode of the others.
            let next = match next {
                None if left.iter().any(|left| left.slip != 0) => {
                    for left in &mut left {
                        left.slip = 0;
                    }
                    candidates = self.candidates(&touching, &left)?;
                    Self::next_mode(self.model, occasion, &self.state, &candidates)?
                }
                next => next,
            };
            for (j, left) in left.iter_mut().enumerate() {
                let parted = !touching.contains(&j);
                let closed = next
                    .as_ref()
                    .is_none_or(|modes| modes[j] != Contacting::Open);
                left.slip = 0;
                left.stays |= parted || closed;
            }
            let Some(modes) = next else {
                self.count_event(0)?;
                self.impact_without_collision(candidates)?;
                continue;
            };
            if self.t >= tf {
                return Ok(());
            }
            let guards = self.smooth(&modes, tf)?;
            let (functions, watched) = (self.model.functions(), Mode::default());
            for guard in &guards {
                self.count_event(guard.event)?;
                match functions.function(guard.event, &watched) {
                    ContactFunction::Cone { contact, slip } => left[contact].slip = slip,
                    ContactFunction::Force(j) => left[j].stays = false,
                    ContactFunction::Loads => {
                        let closed = left.iter_mut().zip(&modes);
                        let closed = closed.filter(|(_, of)| **of != Contacting::Open);
                        closed.for_each(|(left, _)| left.stays = false);
                    }
                    _ => {}
                }
            }
            if guards.is_empty() || self.t >= tf {
                return Ok(());
            }
        }
    }

    /// The part of the last interval that the error of the sum of an accumulation may be: some
    /// where rebounds come close to the tolerance of rates.
    fn part(&self) -> f64 {
        let rates = self
            .model
            .approach(&mut ContactsAt::default(), &self.state, &self.touching());
        let fastest = rates.into_iter().fold(0.0, f64::max);
        if fastest <= SLOW * self.model.rate_tolerance {
            PART
        } else {
            0.0
        }
    }

    /// Counts an event; refuses too many, in all or at one instant.
    fn count_event(&mut self, function: usize) -> Result<(), Breakdown> {
        self.events += 1;
        if self.t > self.since.0 {
            self.since = (self.t, self.events);
        }
        let guard = Guard::falling(function);
        let at = || At::new(self.t, &self.state, &Mode::default()).into();
        let at_once = AT_ONCE + 8 * self.model.system().contacts();
        if self.events > self.options.limits.max_events {
            let limit = self.options.limits.max_events;
            return Err(Breakdown::Stop(Stop::TooManyEvents {
                limit,
                guard,
                at: at(),
            }));
        }
        if self.events - self.since.1 > at_once {
            return Err(Breakdown::Stop(Stop::NoProgress { guard, at: at() }));
        }
        Ok(())
    }

    /// An impact of contacts that touch: by the law of the model, or at one contact that is pressed
    /// on.
    fn impact(
        &mut self,
        touching: Vec<usize>,
        new: Vec<bool>,
        without_collision: bool,
    ) -> Result<(), Breakdown> {
        let (model, occasion) = (self.model, self.occasion());
        let before = self.state.clone();
        let (q, v) = model.parts(&before);
        for &j in &touching {
            check_inelastic(model, j, q, v)?;
        }
        let mut event = Event::of(&touching, new, ContactsAt::default());
        if without_collision {
            let law = Routh::new().without_collision();
            let rule = ImpactRule {
                law: &law,
                selection: &Selection::Single,
            };
            model.apply_impact_with(rule, occasion, &mut self.state, &mut event)?;
        } else {
            model.apply_impact(occasion, &mut self.state, &mut event)?;
        }
        let (n, m) = (model.system().contacts(), touching.len());
        let (mut impulses, mut tangential) = (vec![0.0; n], vec![0.0; n]);
        for (i, &j) in touching.iter().enumerate() {
            impulses[j] = event.impulses()[i];
            tangential[j] = event.impulses().get(m + i).copied().unwrap_or(0.0);
        }
        let s = self.s + impulses.iter().sum::<f64>();
        let struck = (0..n).filter(|&j| impulses[j] > 0.0);
        // A gap is exact to the rounding of the configuration, and its time to that over its rate.
        let size = q.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        let fastest = event.approach.iter().fold(0.0, |most: f64, u| most.max(-u));
        let noise = GAP_ROUNDING * size / fastest;
        self.series.add(self.t, s, noise, struck);
        let kind = StretchKind::Impact {
            contacts: touching,
            without_collision,
            outcomes: event.count(),
        };
        let end = End {
            t: self.t,
            s,
            impulses,
            tangential,
        };
        self.push(kind, &before, end, None);
        Ok(())
    }

    /// An impact at the contact that presses itself down while it slides, where no contact mode is
    /// consistent.
    fn impact_without_collision(&mut self, candidates: Candidates) -> Result<(), Breakdown> {
        let pressed = self.model.pressed_down(self.t, &self.state, &candidates)?;
        let [contact] = pressed[..] else {
            return Err(Breakdown::NoConsistentMode {
                contacts: candidates.contacts,
                t: self.t,
            });
        };
        self.impact(vec![contact], vec![true], true)
    }
}
