//! A run with time as a state: smooth pieces by the core integrator, impacts and changes of mode
//! between them.

use super::accumulation::Series;
use super::frame::{Frame, hold_rows};
use super::motion::{Motion, contact_mode, slip_sign};
use super::pieces::{Piece, PieceKind};
use super::timeline::{Options, check_inelastic};
use crate::event_driven::breakdown::{Breakdown, explain};
use crate::event_driven::impact::Event;
use crate::event_driven::{Model, projection};
use crate::impact::frictional::modes::{Known, UNKNOWN};
use crate::impact::{ContactMode, ImpactLaw, Occasion, Routh, Selection};
use crate::linalg::dot;
use crate::linalg::scratch::with_zeros;
use crate::{At, Guard, Integrator, Mode, Status, Stop, Trajectory};

/// Most events at one instant beside 8 a contact.
const AT_ONCE: usize = 32;
/// Impacts whose rebounds are slower than so many times the tolerance of rates are summed up with
/// an error of up to this part of the last interval.
const SLOW: f64 = 1e3;
const PART: f64 = 1e-2;
/// Of a contact that stays closed where that makes no difference.
const STAYS: Known = Known {
    stays: true,
    ..UNKNOWN
};

/// A run under way.
pub(super) struct Course<'a> {
    pub(super) model: &'a Model<'a>,
    pub(super) options: &'a Options,
    pub(super) watched: Integrator<Motion<'a>>,
    pub(super) unwatched: Integrator<Motion<'a>>,
    pub(super) t: f64,
    pub(super) s: f64,
    /// `(q, v)`.
    pub(super) state: Vec<f64>,
    pub(super) pieces: Vec<Piece>,
    pub(super) series: Series,
    pub(super) events: usize,
    /// When time last went on, and how many events there were until then.
    pub(super) since: (f64, usize),
    pub(super) steps: usize,
    pub(super) memory: usize,
}

impl<'a> Course<'a> {
    /// At a start; `watched` and `unwatched` carry smooth pieces.
    pub(super) fn new(
        (model, options): (&'a Model<'a>, &'a Options),
        [watched, unwatched]: [Integrator<Motion<'a>>; 2],
        (t, state): (f64, &[f64]),
    ) -> Self {
        Self {
            model,
            options,
            watched,
            unwatched,
            t,
            s: 0.0,
            state: state.to_vec(),
            pieces: Vec::new(),
            series: Series::default(),
            events: 0,
            since: (t, 0),
            steps: 0,
            memory: 0,
        }
    }

    /// Goes on to `tf`, or to where it cannot go on.
    pub(super) fn run(&mut self, tf: f64) -> Result<(), Breakdown> {
        // Of each contact that has just left its cone the sign of its slip; those whose forces have
        // ended need not stay until they have parted.
        let mut left = self.no_event();
        loop {
            let touching = self.touching();
            projection::land(self.model, &mut self.state, &[], &touching);
            let (q, v) = self.model.parts(&self.state);
            let approaching = self.model.approaching(q, v, &touching)?;
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
            let (candidates, known) = self.candidates(&touching, &left)?;
            let occasion = self.occasion();
            let next = self
                .model
                .next_mode(occasion, &self.state, &candidates, &known)?;
            // The contact that left its cone may stick in another mode of the others.
            let next = match next {
                None if left.iter().any(|left| left.slip != 0) => {
                    for left in &mut left {
                        left.slip = 0;
                    }
                    let (candidates, known) = self.candidates(&touching, &left)?;
                    self.model
                        .next_mode(occasion, &self.state, &candidates, &known)?
                }
                next => next,
            };
            for (j, left) in left.iter_mut().enumerate() {
                let parted = !touching.contains(&j);
                let closed = next
                    .as_ref()
                    .is_none_or(|modes| modes[j] != ContactMode::Open);
                left.slip = 0;
                left.stays |= parted || closed;
            }
            let Some(modes) = next else {
                self.count_event(0)?;
                self.impact_without_collision(&candidates, &known)?;
                continue;
            };
            if self.t >= tf {
                return Ok(());
            }
            let guards = self.smooth(&modes, tf)?;
            for guard in &guards {
                self.count_event(guard.event)?;
                let (j, slot) = (guard.event / 3, guard.event % 3);
                if modes[j] == ContactMode::Stick && slot > 0 {
                    left[j].slip = if slot == 1 { -1 } else { 1 };
                }
                left[j].stays &= slot > 0 || modes[j] == ContactMode::Open;
            }
            if guards.is_empty() || self.t >= tf {
                return Ok(());
            }
        }
    }

    /// The part of the last interval that the error of the sum of an accumulation may be: some where
    /// rebounds come close to the tolerance of rates.
    fn part(&self) -> f64 {
        let rates = self.model.approach(&self.state, &self.touching());
        let fastest = rates.into_iter().fold(0.0, f64::max);
        if fastest <= SLOW * self.model.rate_tolerance {
            PART
        } else {
            0.0
        }
    }

    pub(super) fn occasion(&self) -> Occasion {
        Occasion {
            t: self.t,
            number: self.events,
        }
    }

    /// Contacts with gaps of zero.
    pub(super) fn touching(&self) -> Vec<usize> {
        let (q, _) = self.model.parts(&self.state);
        let system = self.model.system();
        let touches = |j: &usize| system.gap(*j, q) <= self.model.gap_tolerance;
        (0..system.contacts()).filter(touches).collect()
    }

    /// What is known of all contacts where none has just left its mode.
    pub(super) fn no_event(&self) -> Vec<Known> {
        vec![STAYS; self.model.system().contacts()]
    }

    /// Contacts that touch and do not part, with the signs of their slips; brings their rates to
    /// zero, and slips that count as zero.
    pub(super) fn candidates(
        &mut self,
        touching: &[usize],
        left: &[Known],
    ) -> Result<(Vec<usize>, Vec<Known>), Breakdown> {
        let model = self.model;
        let least = model.rate_tolerance;
        let (q, v) = model.parts_mut(&mut self.state);
        let (q, m) = (&*q, touching.len());
        with_zeros(Frame::size(model, m), |scratch| {
            let frame = Frame::new(model, (self.t, q, v), touching, scratch)
                .map_err(|trouble| explain(trouble, q, touching))?;
            let (mut candidates, mut known, mut rows) = (Vec::new(), Vec::new(), Vec::new());
            for (i, &j) in touching.iter().enumerate() {
                if dot(frame.row(i), v) > least {
                    continue;
                }
                candidates.push(j);
                rows.push(i);
                let slip = if frame.r > m && model.friction(j) > 0.0 {
                    dot(frame.row(m + i), v)
                } else {
                    0.0
                };
                let sticks = slip.abs() <= least;
                if sticks && frame.r > m && model.friction(j) > 0.0 {
                    rows.push(m + i);
                }
                let slip = match (sticks, slip > 0.0) {
                    (true, _) => left[j].slip,
                    (false, true) => 1,
                    (false, false) => -1,
                };
                known.push(Known { slip, ..left[j] });
            }
            hold_rows(&frame, &rows, v, 0.0);
            Ok((candidates, known))
        })
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
        if self.events > self.options.max_events {
            let limit = self.options.max_events;
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
        for &j in &touching {
            check_inelastic(model, j, model.parts(&before))?;
        }
        let mut event = Event::of(&touching, new);
        if without_collision {
            let law = Routh::new().without_collision();
            let by = (&law as &dyn ImpactLaw, &Selection::Single);
            model.apply_impact_with(by, occasion, &mut self.state, &mut event)?;
        } else {
            model.apply_impact(occasion, &mut self.state, &mut event)?;
        }
        let (n, m) = (model.system().contacts(), touching.len());
        let (mut impulses, mut tangential) = (vec![0.0; n], vec![0.0; n]);
        for (i, &j) in touching.iter().enumerate() {
            impulses[j] = event.impulses[i];
            tangential[j] = event.impulses.get(m + i).copied().unwrap_or(0.0);
        }
        let s = self.s + impulses.iter().sum::<f64>();
        let struck = (0..n).filter(|&j| impulses[j] > 0.0);
        self.series.add(self.t, s, struck);
        let kind = PieceKind::Impact {
            contacts: touching,
            without_collision,
            outcomes: event.outcomes,
        };
        self.push(kind, &before, (self.t, s), (impulses, tangential), None);
        Ok(())
    }

    /// An impact at the contact that presses itself down while it slides, where no contact mode is
    /// consistent.
    fn impact_without_collision(
        &mut self,
        candidates: &[usize],
        known: &[Known],
    ) -> Result<(), Breakdown> {
        let pressed = self
            .model
            .pressed_down(self.t, &self.state, (candidates, known))?;
        let [contact] = pressed[..] else {
            return Err(Breakdown::NoConsistentMode {
                contacts: candidates.to_vec(),
                t: self.t,
            });
        };
        self.impact(vec![contact], vec![true], true)
    }

    /// A smooth piece in a contact mode. Gives the guards that end it; none at the final time.
    fn smooth(&mut self, modes: &[ContactMode], tf: f64) -> Result<Vec<Guard>, Breakdown> {
        let before = self.state.clone();
        let (path, guards, broken) = self.advance(modes, tf, true)?;
        let is_free = modes.iter().all(|&mode| mode == ContactMode::Open);
        let kind = if is_free {
            PieceKind::Free
        } else {
            PieceKind::Contact(modes.to_vec())
        };
        let (n, first) = (self.model.system().contacts(), before.len());
        let sums = &path.state().as_slice()[first..];
        let (impulses, tangential) = (sums[..n].to_vec(), sums[n..].to_vec());
        let end = path.t();
        let s = self.s + (end - self.t) + impulses.iter().sum::<f64>();
        if end > self.t {
            self.push(kind, &before, (end, s), (impulses, tangential), Some(path));
        }
        match broken {
            None => Ok(guards),
            Some(broken) => Err(broken),
        }
    }

    /// Moves the state on in a contact mode. Gives the path, the guards that ended it and why it
    /// was refused.
    pub(super) fn advance(
        &mut self,
        modes: &[ContactMode],
        tf: f64,
        is_watched: bool,
    ) -> Result<(Trajectory, Vec<Guard>, Option<Breakdown>), Breakdown> {
        let (n, size) = (self.model.system().contacts(), self.state.len());
        let mut x = self.state.clone();
        x.resize(size + 2 * n, 0.0);
        let integrator = if is_watched {
            &mut self.watched
        } else {
            &mut self.unwatched
        };
        let mode = integrator.system().mode(modes);
        let (_, driver, _) = integrator.parts();
        driver.start_mode = Some(mode);
        driver.settings.max_steps = self.options.max_steps.saturating_sub(self.steps);
        driver.settings.max_memory = self.options.max_memory.saturating_sub(self.memory);
        let path = integrator.integrate(self.t, &x, tf)?;
        let cost = path.statistics();
        self.steps += cost.steps + cost.rejections;
        // Times, states and the coefficients of dense output.
        self.memory += size_of_val(path.times()) * (1 + 6 * x.len());
        let (guards, refused) = match path.status() {
            Status::Stopped { guards } => (guards.clone(), None),
            Status::Refused(Stop::TooManySteps { at, .. }) => {
                let (limit, at) = (self.options.max_steps, at.clone());
                (Vec::new(), Some(Stop::TooManySteps { limit, at }.into()))
            }
            Status::Refused(reason) => (Vec::new(), Some(reason.clone().into())),
            _ => (Vec::new(), None),
        };
        let inconsistent = self.inconsistency(&path, &guards);
        self.state.copy_from_slice(&path.state().as_slice()[..size]);
        Ok((path, guards, inconsistent.or(refused)))
    }

    /// A gap that is negative or a slip against its sign, at a node of a path.
    fn inconsistency(&self, path: &Trajectory, guards: &[Guard]) -> Option<Breakdown> {
        let model = self.model;
        let crossed = |j: usize| guards.iter().any(|guard| guard.event / 3 == j);
        let mut row = vec![0.0; model.system().dof()];
        path.nodes().find_map(|(t, x)| {
            let (q, v) = x.as_slice()[..self.state.len()].split_at(model.bodies.fixed.nq);
            (0..model.system().contacts())
                .filter(|&j| !crossed(j))
                .find_map(|j| {
                    let of = contact_mode(path.mode(), j);
                    let gap = model.system().gap(j, q);
                    if of == ContactMode::Open && gap < -model.gap_tolerance {
                        return Some(Breakdown::InconsistentMode { contact: j, gap, t });
                    }
                    let slip = slip_sign(of);
                    if slip == 0.0 || model.friction(j) == 0.0 {
                        return None;
                    }
                    model.system().tangent_rows(j, q, &mut row);
                    let against = slip * dot(&row, v) < -10.0 * model.rate_tolerance;
                    against.then(|| Breakdown::NoConsistentMode {
                        contacts: vec![j],
                        t,
                    })
                })
        })
    }

    /// Adds the piece that ends here, from the state `before`.
    pub(super) fn push(
        &mut self,
        kind: PieceKind,
        before: &[f64],
        (t, s): (f64, f64),
        (impulses, tangential): (Vec<f64>, Vec<f64>),
        path: Option<Trajectory>,
    ) {
        let nq = self.model.bodies.fixed.nq;
        let [from, to] = [before, &self.state].map(|state| {
            let (q, v) = state.split_at(nq);
            (q.to_vec(), v.to_vec())
        });
        // What was brought to zero between the pieces belongs to the one before.
        if let Some(last) = self.pieces.last_mut() {
            (last.q[1], last.v[1]) = from.clone();
        }
        self.pieces.push(Piece {
            kind,
            t: [self.t, t],
            s: [self.s, s],
            q: [from.0, to.0],
            v: [from.1, to.1],
            impulses,
            tangential,
            path,
            first_impulse: before.len(),
        });
        (self.t, self.s) = (t, s);
    }
}
