//! A run under way: its state, the contacts that may stay closed, and smooth stretches by the core
//! integrator.

use super::accumulation::Series;
use super::impulses::Motion;
use super::mode_problem::{Candidates, STAYS};
use super::options::Options;
use super::stretches::{End, Stretch, StretchKind};
use crate::event_driven::Model;
use crate::event_driven::breakdown::Breakdown;
use crate::impact::planar::modes::Known;
use crate::impact::{Contacting, Occasion};
use crate::linalg::dot;
use crate::mechanics::friction::contact_function::Slip;
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};
use crate::{Guard, Integrator, Mode, Run, Start, Status, Stop};

/// Distance of the loads from the cones of forces, as a part of them, that is no rounding.
const OUTSIDE: f64 = 1e-13;

/// A run under way.
pub(super) struct Course<'a> {
    pub(super) model: &'a Model<'a>,
    pub(super) options: &'a Options,
    pub(super) watched: Integrator<Motion<'a>>,
    unwatched: Integrator<Motion<'a>>,
    pub(super) t: f64,
    pub(super) s: f64,
    /// `(q, v)`.
    pub(super) state: Vec<f64>,
    pub(super) stretches: Vec<Stretch>,
    pub(super) series: Series,
    pub(super) events: usize,
    /// Time until which the run has gone on, and the number of events until then.
    pub(super) since: (f64, usize),
    steps: usize,
    memory: usize,
}

impl<'a> Course<'a> {
    /// At a start; `watched` and `unwatched` carry smooth stretches.
    pub(super) fn new(
        model: &'a Model<'a>,
        options: &'a Options,
        [watched, unwatched]: [Integrator<Motion<'a>>; 2],
        t: f64,
        state: &[f64],
    ) -> Self {
        Self {
            model,
            options,
            watched,
            unwatched,
            t,
            s: 0.0,
            state: state.to_vec(),
            stretches: Vec::new(),
            series: Series::default(),
            events: 0,
            since: (t, 0),
            steps: 0,
            memory: 0,
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

    /// A [`Known`] for each contact where none has just left its mode.
    pub(super) fn no_event(&self) -> Vec<Known> {
        vec![STAYS; self.model.system().contacts()]
    }

    /// Contacts that touch and do not part, with the signs of their slips.
    pub(super) fn candidates(
        &mut self,
        touching: &[usize],
        left: &[Known],
    ) -> Result<Candidates, Breakdown> {
        let left: Vec<Known> = touching.iter().map(|&j| left[j]).collect();
        // Impacts are inelastic: nothing rebounds.
        let before = Mode::default();
        self.model
            .candidates(self.t, &mut self.state, touching, &left, &before)
    }

    /// The contact modes that follow.
    pub(super) fn next_mode(
        model: &Model<'_>,
        occasion: Occasion,
        state: &[f64],
        candidates: &Candidates,
    ) -> Result<Option<Vec<Contacting>>, Breakdown> {
        let contacting = |(j, slip): (usize, Option<Slip>)| match slip.map(|slip| slip.sign) {
            None => Contacting::Open,
            Some(0) if model.friction(j) != 0.0 => Contacting::Stick,
            Some(-1) if model.friction(j) != 0.0 => Contacting::SlipBackward,
            Some(_) => Contacting::SlipForward,
        };
        let next = model.next_mode(occasion, state, candidates)?;
        Ok(next.map(|next| next.into_iter().enumerate().map(contacting).collect()))
    }

    /// A smooth stretch in a contact mode. Gives the guards that end it; none at the final time.
    pub(super) fn smooth(
        &mut self,
        modes: &[Contacting],
        tf: f64,
    ) -> Result<Vec<Guard>, Breakdown> {
        let before = self.state.clone();
        let (path, guards, broken) = self.advance(modes, tf, true)?;
        let is_free = modes.iter().all(|&mode| mode == Contacting::Open);
        let kind = if is_free {
            StretchKind::Free
        } else {
            StretchKind::Contact(modes.to_vec())
        };
        let (n, first) = (self.model.system().contacts(), before.len());
        let sums = &path.state().as_slice()[first..];
        let (impulses, tangential) = (sums[..n].to_vec(), sums[n..].to_vec());
        let t = path.t();
        let s = self.s + (t - self.t) + impulses.iter().sum::<f64>();
        if t > self.t {
            let late = if guards.is_empty() {
                0.0
            } else {
                self.lateness(&path, modes)
            };
            let end = End {
                t,
                s,
                impulses,
                tangential,
            };
            self.push(kind, &before, end, Some(path));
            if let Some(stretch) = self.stretches.last_mut() {
                stretch.late = late;
            }
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
        modes: &[Contacting],
        tf: f64,
        is_watched: bool,
    ) -> Result<(Run, Vec<Guard>, Option<Breakdown>), Breakdown> {
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
        driver.settings.limits.max_steps = self.options.limits.max_steps.saturating_sub(self.steps);
        driver.settings.limits.max_memory =
            self.options.limits.max_memory.saturating_sub(self.memory);
        let path = integrator.integrate(&Start::at(self.t).x(&x).mode(&mode), tf)?;
        let cost = path.statistics();
        self.steps += cost.steps + cost.rejections;
        // Times, states and the coefficients of dense output.
        self.memory += size_of_val(path.times()) * (1 + 6 * x.len());
        let (guards, refused) = match path.status() {
            Status::Stopped { guards } => (guards.clone(), None),
            Status::Refused(Stop::TooManySteps { at, .. }) => {
                let (limit, at) = (self.options.limits.max_steps, at.clone());
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
    fn inconsistency(&self, path: &Run, guards: &[Guard]) -> Option<Breakdown> {
        let model = self.model;
        let n = model.layout().contacts;
        let crossed = |j: usize| guards.iter().any(|guard| guard.event % n == j);
        let mut row = vec![0.0; model.system().dof()];
        path.nodes().find_map(|(t, x)| {
            let (q, v) = x.as_slice()[..self.state.len()].split_at(model.bodies.fixed.nq);
            (0..model.system().contacts())
                .filter(|&j| !crossed(j))
                .find_map(|j| {
                    let of = model.contacting(path.mode(), j);
                    let gap = model.system().gap(j, q);
                    if of == Contacting::Open && gap < -model.gap_tolerance {
                        return Some(Breakdown::InconsistentMode { contact: j, gap, t });
                    }
                    let slip = Slip::of(of).map_or(0.0, |slip| f64::from(slip.sign));
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

    /// Adds the stretch that ends here, from the state `before`.
    pub(super) fn push(&mut self, kind: StretchKind, before: &[f64], end: End, path: Option<Run>) {
        let nq = self.model.bodies.fixed.nq;
        let [from, to] = [before, &self.state].map(|state| {
            let (q, v) = state.split_at(nq);
            (q.to_vec(), v.to_vec())
        });
        // Components brought to zero between the stretches belong to the one before.
        if let Some(last) = self.stretches.last_mut() {
            (last.q[1], last.v[1]) = from.clone();
        }
        self.stretches.push(Stretch {
            kind,
            t: [self.t, end.t],
            s: [self.s, end.s],
            q: [from.0, to.0],
            v: [from.1, to.1],
            impulses: end.impulses,
            tangential: end.tangential,
            late: 0.0,
            path,
            first_impulse: before.len(),
        });
        (self.t, self.s) = (end.t, end.s);
    }

    /// For how long, at the end of a smooth stretch, loads that redundant contacts hold have been
    /// outside of the cones of friction (s).
    fn lateness(&self, path: &Run, modes: &[Contacting]) -> f64 {
        let motion = self.watched.system();
        let mode = motion.mode(modes);
        let is_outside = |t: f64| {
            let state = path.state_at(t).ok();
            let beyond = |x: &[f64]| self.model.beyond(motion.state(t, x), &mode);
            let distance = state.and_then(|x| beyond(x.as_slice()));
            distance.is_some_and(|distance| distance > OUTSIDE)
        };
        let end = path.t();
        if !is_outside(end) {
            return 0.0;
        }
        let (mut inside, mut outside) = (path.times().first().copied().unwrap_or(end), end);
        if is_outside(inside) {
            return end - inside;
        }
        // the loads leave the cones once: a mode ends soon after
        for _ in 0..100 {
            let middle = 0.5 * (inside + outside);
            if middle <= inside || middle >= outside {
                break;
            }
            if is_outside(middle) {
                outside = middle;
            } else {
                inside = middle;
            }
        }
        // where the distance grows with the square of time, it took 0.7 % of that to be seen
        1.01 * (end - inside)
    }
}
