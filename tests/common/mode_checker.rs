//! A check of runs of planar systems with contacts that stick and slip, from the model and the run
//! alone: each mode against the forces that it needs, the motion against those forces, impacts,
//! energy and the log. Contacts are inelastic, and `q̇ = v`.
#![allow(dead_code, reason = "each test binary uses a part")]

#[path = "mode_forces.rs"]
mod mode_forces;
#[path = "mode_log.rs"]
mod mode_log;

use std::fmt;

use mode_forces::{Forces, Frame, closed_of, sign};
use saltation::event_driven::{ContactEvent, ContactEventKind};
use saltation::impact::Contacting;
use saltation::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use saltation::nalgebra::{DVector, DVectorView};
use saltation::{ContactModel, Run};

/// Places and weights of Gauss's rule with three points in a step of unit length.
const GAUSS: [[f64; 2]; 3] = [
    [0.112_701_665_379_258_31, 5.0 / 18.0],
    [0.5, 8.0 / 18.0],
    [0.887_298_334_620_741_7, 5.0 / 18.0],
];

/// What a run says of itself, so that tests may change it.
pub(crate) struct Record<'a> {
    pub(crate) run: &'a Run,
    pub(crate) phases: Vec<Phase>,
    pub(crate) events: Vec<ContactEvent>,
}

/// The modes of all contacts from a time on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Phase {
    pub(crate) t: f64,
    pub(crate) modes: Vec<Contacting>,
}

impl<'a> Record<'a> {
    pub(crate) fn of<S>(model: &ContactModel<S>, run: &'a Run) -> Self
    where
        S: MechanicalSystem + UnilateralConstraints,
    {
        let n = model.system().contacts();
        let read = |change: &saltation::ModeChange| Phase {
            t: change.t,
            modes: (0..n).map(|j| model.contacting(&change.mode, j)).collect(),
        };
        Self {
            run,
            phases: run.modes().iter().map(read).collect(),
            events: run.events().to_vec(),
        }
    }

    /// The modes after what happens at `t`.
    fn modes_at(&self, t: f64) -> &[Contacting] {
        let after = self.phases.partition_point(|phase| phase.t <= t);
        &self.phases[after.max(1) - 1].modes
    }

    /// The modes before what happens at `t`.
    fn modes_before(&self, t: f64) -> &[Contacting] {
        let after = self.phases.partition_point(|phase| phase.t < t);
        &self.phases[after.max(1) - 1].modes
    }
}

/// What is wrong in a run.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) rule: &'static str,
    pub(crate) t: f64,
    pub(crate) contact: Option<usize>,
    pub(crate) amount: f64,
    pub(crate) modes: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let contact = self.contact.map_or(String::new(), |j| format!(" {j}"));
        let (rule, t, amount, modes) = (self.rule, self.t, self.amount, &self.modes);
        write!(f, "{rule}{contact}: {amount:e} at t = {t} in {modes}")
    }
}

/// How exactly things hold: at nodes, or on the dense output between them.
#[derive(Clone, Copy)]
struct Bounds {
    gap: f64,
    speed: f64,
    stick: f64,
}

const NODES: Bounds = Bounds {
    gap: 2e-10,
    speed: 1e-10,
    stick: 1.2e-11,
};
/// Where a step ends at an event the state is one of the dense output, before projections.
const ARRIVALS: Bounds = Bounds {
    gap: 1e-9,
    speed: 2e-9,
    stick: 2e-9,
};
const BETWEEN: Bounds = Bounds {
    gap: 2e-8,
    speed: 2e-7,
    stick: 2e-7,
};
/// Forces and accelerations, in part of their size.
const FORCE: f64 = 2e-6;
/// Velocities after a step and impulses, likewise.
const MOMENTUM: f64 = 2e-8;
/// Speeds of rebounds that are not resolved: those of a hundredth of the tolerance of gaps.
const LOW: f64 = 3e-5;
/// Energy, likewise.
const ENERGY: f64 = 1e-7;

pub(crate) fn word(modes: &[Contacting]) -> String {
    modes.iter().map(ToString::to_string).collect()
}

/// Checks a run of `system`. `one_step` says that impacts are those of one step of complementarity:
/// friction opposes the slip at their end.
pub(crate) fn faults<S>(system: &S, record: &Record<'_>, one_step: OneStep) -> Vec<Fault>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let mut checker = Checker {
        system,
        record,
        faults: Vec::new(),
        gained: 0.0,
        turnover: 0.0,
    };
    checker.smooth();
    checker.impacts(one_step);
    checker.log();
    checker.energy();
    checker.faults
}

/// Whether friction of an impact is decided by the slip at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OneStep {
    Yes,
    No,
}

/// The modes that are consistent at a state, as [`word`]s.
pub(crate) fn consistent<S>(system: &S, t: f64, x: &[f64]) -> Vec<String>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let (q, v) = x.split_at(x.len() / 2);
    let open = vec![Contacting::Open; system.contacts()];
    let frame = Frame::at(system, State { t, q, v }, &open);
    let modes = frame.consistent(&DVector::from_column_slice(v));
    modes.iter().map(|modes| word(modes)).collect()
}

/// The velocities after an inelastic impact in one step of the contacts that touch, each once: the modes of the
/// problem with `v` for the accelerations without contacts. One velocity where none approaches.
pub(crate) fn after_impact<S>(system: &S, t: f64, x: &[f64]) -> Vec<DVector<f64>>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let (q, v) = x.split_at(x.len() / 2);
    let v = DVector::from_column_slice(v);
    let open = vec![Contacting::Open; system.contacts()];
    let state = State {
        t,
        q,
        v: v.as_slice(),
    };
    let frame = Frame::at(system, state, &open).of_speeds(&v);
    let mut found: Vec<DVector<f64>> = Vec::new();
    for modes in frame.consistent(&DVector::zeros(v.len())) {
        let next = frame.forces(&modes).acceleration;
        if found
            .iter()
            .all(|other| (other - &next).amax() > 1e-6 * (1.0 + v.amax()))
        {
            found.push(next);
        }
    }
    found
}

struct Checker<'a, S> {
    system: &'a S,
    record: &'a Record<'a>,
    faults: Vec<Fault>,
    /// Kinetic energy that efforts, friction and impacts give, and all of it without signs.
    gained: f64,
    turnover: f64,
}

/// Where a rule is looked at.
#[derive(Clone, Copy)]
struct Place<'a> {
    t: f64,
    contact: Option<usize>,
    modes: &'a [Contacting],
}

impl<S> Checker<'_, S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// `amount ≤ bound`; NaN is a fault.
    fn expect(&mut self, rule: &'static str, place: Place<'_>, amount: f64, bound: f64) {
        if amount <= bound {
            return;
        }
        let same = |fault: &&mut Fault| fault.rule == rule && fault.contact == place.contact;
        match self.faults.iter_mut().find(same) {
            // The worst of a kind, at the first time.
            Some(fault) => fault.amount = fault.amount.max(amount),
            None => self.faults.push(Fault {
                rule,
                t: place.t,
                contact: place.contact,
                amount,
                modes: word(place.modes),
            }),
        }
    }

    fn frame(&self, t: f64, x: &[f64], modes: &[Contacting]) -> Frame {
        let (q, v) = x.split_at(x.len() / 2);
        Frame::at(self.system, State { t, q, v }, modes)
    }

    fn smooth(&mut self) {
        let read = |(t, x): (f64, DVectorView<'_, f64>)| (t, x.iter().copied().collect());
        let nodes: Vec<(f64, Vec<f64>)> = self.record.run.nodes().map(read).collect();
        for ends in nodes.windows(2) {
            if ends[1].0 > ends[0].0 {
                self.step(ends);
            }
        }
    }

    /// A step between two nodes, in one mode.
    fn step(&mut self, ends: &[(f64, Vec<f64>)]) {
        let (t, h, d) = (ends[0].0, ends[1].0 - ends[0].0, ends[0].1.len() / 2);
        let record = self.record;
        let modes = record.modes_at(t);
        let absorbs = |event: &&ContactEvent| event.kind == ContactEventKind::ZenoAbsorbed;
        let mut absorbed = record.events.iter().filter(absorbs);
        if absorbed.any(|event| event.t == ends[1].0) {
            return self.accumulation(ends);
        }
        // An event may leave the mode as it is, and a run may end where it cannot go on.
        let events = |t: f64| {
            let is_event = record.events.iter().any(|event| event.t == t);
            is_event || record.phases.iter().any(|phase| phase.t == t)
        };
        let is_refused = record.run.status().stop().is_some();
        // The end of one step is the beginning of the next, unless something happens there.
        if events(t) {
            let begin = self.state(t, &ends[0].1, modes, NODES);
            self.resting(t, &ends[0].1, modes, &begin);
        }
        let arrives = events(ends[1].0) || (is_refused && ends[1].0 == record.run.t());
        self.state(
            ends[1].0,
            &ends[1].1,
            modes,
            if arrives { ARRIVALS } else { NODES },
        );
        let mut change = DVector::zeros(2 * d);
        let (mut size, mut unique) = (0.0_f64, true);
        for [place, weight] in GAUSS {
            let at = t + place * h;
            let x = record.run.state_at(at).expect("within the run");
            let (frame, forces) = self.state(at, x.as_slice(), modes, BETWEEN);
            size = size.max(frame.size());
            unique &= forces.unique;
            let v = x.rows(d, d);
            let rate = [v.as_slice(), forces.acceleration.as_slice()].concat();
            change += DVector::from_vec(rate) * (weight * h);
            // The Coriolis force does the work of masses that change: it is none of energy's.
            let effort = self.effort(at, x.as_slice(), modes).dot(&v);
            let slips = (&frame.tangents * v).dot(&forces.tangential);
            for power in [effort, slips] {
                self.gained += weight * h * power;
                self.turnover += (weight * h * power).abs();
            }
            if place == 0.5 && h > 1e-4 {
                self.acceleration(at, 1e-2 * h, modes, &(frame, forces));
            }
        }
        let place = Place {
            t,
            contact: None,
            modes,
        };
        let ends = [0, 1].map(|k| DVector::from_column_slice(&ends[k].1));
        let bound = MOMENTUM * (1.0 + ends[0].amax() + h * size);
        let error = &ends[1] - &ends[0] - change;
        self.expect("positions of a step", place, error.rows(0, d).amax(), bound);
        if unique {
            self.expect(
                "velocities of a step",
                place,
                error.rows(d, d).amax(),
                bound,
            );
        }
    }

    /// The acceleration of the dense output is that of the forces, or of some forces.
    fn acceleration(&mut self, t: f64, by: f64, modes: &[Contacting], at: &(Frame, Forces)) {
        let (frame, forces) = at;
        let velocity = |t| {
            let x = self.record.run.state_at(t).expect("within the run");
            x.rows(x.len() / 2, x.len() / 2).into_owned()
        };
        let rate = (velocity(t + by) - velocity(t - by)) / (2.0 * by);
        let error = if forces.unique {
            (&forces.acceleration - &rate).amax()
        } else {
            frame.unexplained(modes, &rate)
        };
        let place = Place {
            t,
            contact: None,
            modes,
        };
        self.expect("acceleration", place, error, 1e-4 * frame.size());
    }

    /// The end of an accumulation, a step in which impacts were summed up: the state changes by no
    /// more than forces can in that time.
    fn accumulation(&mut self, ends: &[(f64, Vec<f64>)]) {
        let ((t, x), h) = (&ends[0], ends[1].0 - ends[0].0);
        let modes = self.record.modes_at(*t);
        let place = Place {
            t: *t,
            contact: None,
            modes,
        };
        let (frame, _) = self.state(*t, x, modes, NODES);
        let changes = x.iter().zip(&ends[1].1).map(|(a, b)| (a - b).abs());
        let most = changes.fold(0.0, f64::max);
        // What the event at its end absorbs is counted with the impacts.
        let at = |event: &&ContactEvent| event.t == ends[1].0;
        let last = self.record.events.iter().find(at);
        let last = last.map_or(&ends[1].1, |event| &event.state_before);
        self.gained += self.kinetic(last) - self.kinetic(x);
        let speed = x[x.len() / 2..]
            .iter()
            .fold(0.0, |most: f64, v| most.max(v.abs()));
        self.expect(
            "end of an accumulation",
            place,
            most,
            20.0 * h * (frame.size() + speed),
        );
    }

    fn kinetic(&self, x: &[f64]) -> f64 {
        let (q, v) = x.split_at(x.len() / 2);
        let v = DVector::from_column_slice(v);
        0.5 * v.dot(&(mode_forces::mass(self.system, q) * &v))
    }

    fn effort(&self, t: f64, x: &[f64], modes: &[Contacting]) -> DVector<f64> {
        let (q, v) = x.split_at(x.len() / 2);
        let mut effort = DVector::zeros(v.len());
        self.system.effort(t, q, v, effort.as_mut_slice());
        let state = State { t, q, v };
        self.system
            .contact_effort(state, &closed_of(modes), effort.as_mut_slice());
        effort
    }

    /// Gaps, speeds and forces of a mode at a state.
    fn state(
        &mut self,
        t: f64,
        x: &[f64],
        modes: &[Contacting],
        bounds: Bounds,
    ) -> (Frame, Forces) {
        let frame = self.frame(t, x, modes);
        let forces = frame.forces(modes);
        let v = DVector::from_column_slice(&x[x.len() / 2..]);
        let (parting, slip) = (&frame.normals * &v, &frame.tangents * &v);
        let scale = 1.0 + v.amax();
        let size = frame.size() * frame.mass.amax();
        for (j, &mode) in modes.iter().enumerate() {
            let place = Place {
                t,
                contact: Some(j),
                modes,
            };
            self.expect("open gap", place, -frame.gaps[j], bounds.gap);
            if mode == Contacting::Open {
                continue;
            }
            self.expect("closed gap", place, frame.gaps[j].abs(), bounds.gap);
            self.expect(
                "closing speed",
                place,
                parting[j].abs(),
                bounds.speed * scale,
            );
            let (push, pull) = (forces.normal[j], forces.tangential[j]);
            self.expect("pull", place, -push, FORCE * size);
            if mode == Contacting::Stick {
                self.expect(
                    "slip of a sticking contact",
                    place,
                    slip[j].abs(),
                    bounds.stick * scale,
                );
                let beyond = pull.abs() - frame.friction[j] * push;
                self.expect("cone", place, beyond, FORCE * size);
            } else if frame.friction[j] > 0.0 {
                let against = -sign(mode) * slip[j];
                self.expect(
                    "slip against its sign",
                    place,
                    against,
                    bounds.speed * scale,
                );
            }
        }
        let place = Place {
            t,
            contact: None,
            modes,
        };
        self.expect(
            "no forces in the cones",
            place,
            forces.left,
            FORCE * frame.size(),
        );
        (frame, forces)
    }

    /// Open contacts that touch at rest do not sink in.
    fn resting(&mut self, t: f64, x: &[f64], modes: &[Contacting], at: &(Frame, Forces)) {
        let (frame, forces) = at;
        let v = DVector::from_column_slice(&x[x.len() / 2..]);
        for j in (0..modes.len()).filter(|&j| modes[j] == Contacting::Open) {
            let speed = frame.normals.row(j).transpose().dot(&v);
            let touches = frame.gaps[j].abs() < 1e-10 && speed.abs() < 1e-9;
            let place = Place {
                t,
                contact: Some(j),
                modes,
            };
            let sinks = -frame.parting(j, &forces.acceleration);
            let bound = if touches {
                FORCE * frame.size()
            } else {
                f64::INFINITY
            };
            self.expect("open contact at rest sinks", place, sinks, bound);
        }
    }

    fn impacts(&mut self, one_step: OneStep) {
        let record = self.record;
        for (i, event) in record.events.iter().enumerate() {
            // What one event leaves the next at the same instant may take up.
            let is_last = record.events.get(i + 1).is_none_or(|next| next.t > event.t);
            let (before, after) = (&event.state_before, &event.state_after);
            let d = before.len() / 2;
            let modes = record.modes_at(event.t);
            let place = |contact| Place {
                t: event.t,
                contact,
                modes,
            };
            let frame = self.frame(event.t, before, modes);
            let velocity = |x: &[f64]| DVector::from_column_slice(&x[d..]);
            let (old, new) = (velocity(before), velocity(after));
            let scale = 1.0 + old.amax();
            let momentum = &frame.mass * (&new - &old);
            let size = 1.0 + momentum.amax();
            let moved = (0..d).map(|i| (after[i] - before[i]).abs());
            let moved = moved.fold(0.0, f64::max);
            self.expect(
                "positions at an event",
                place(None),
                moved,
                NODES.gap * scale,
            );
            let [mut push, mut pull] = [(); 2].map(|()| DVector::zeros(modes.len()));
            let m = event.contacts.len();
            for (i, &j) in event.contacts.iter().enumerate() {
                push[j] = event.impulses.get(i).copied().unwrap_or(0.0);
                pull[j] = event.impulses.get(m + i).copied().unwrap_or(0.0);
            }
            let given = frame.normals.transpose() * &push + frame.tangents.transpose() * &pull;
            let absorbs = event.kind == ContactEventKind::ZenoAbsorbed;
            // Without friction the end of an accumulation may pull.
            let pulls = absorbs && frame.friction.iter().all(|mu| *mu == 0.0);
            if absorbs {
                let most = 1e-4 * scale;
                self.expect(
                    "size of an absorption",
                    place(None),
                    (&new - &old).amax(),
                    most,
                );
            }
            // A closed contact that an impact throws up too low to be resolved, and one whose impacts
            // accumulate, is held: by an impulse of that size, which pulls.
            let stays = |&j: &usize| modes[j] != Contacting::Open && push[j] <= 0.0;
            let is_held = absorbs || event.contacts.iter().any(stays);
            let held = if is_held {
                LOW * frame.stiffest(modes)
            } else {
                0.0
            };
            let error = (momentum - given).amax();
            self.expect("momentum", place(None), error, MOMENTUM * size);
            let mean = (&old + &new) * 0.5;
            let work = (&frame.normals * &mean).dot(&push) + (&frame.tangents * &mean).dot(&pull);
            self.gained += work;
            self.turnover += work.abs();
            self.expect(
                "energy of an impact",
                place(None),
                work,
                held * old.amax() + MOMENTUM * size * scale,
            );
            let (parting, slip) = (&frame.normals * &new, &frame.tangents * &new);
            for j in 0..modes.len() {
                let place = place(Some(j));
                if is_last && event.contacts.contains(&j) {
                    self.expect("approach after an event", place, -parting[j], 1e-8 * scale);
                }
                let cone = frame.friction[j] * push[j];
                let beyond = pull[j].abs() - if pulls { cone.abs() } else { cone };
                self.expect("cone of an impact", place, beyond, held + MOMENTUM * size);
                if pulls {
                    continue;
                }
                self.expect("impulse pulls", place, -push[j], held + MOMENTUM * size);
                let both = push[j].min(parting[j]);
                self.expect(
                    "impulse of a parting contact",
                    place,
                    both,
                    1e-8 * size * scale,
                );
                if one_step == OneStep::Yes && slip[j].abs() > 1e-7 * scale {
                    let against = (pull[j] + slip[j].signum() * cone).abs();
                    let most = held + MOMENTUM * size;
                    self.expect("friction of an impact", place, against, most);
                }
            }
        }
    }

    /// Kinetic energy is what efforts, slips and impacts make of it.
    fn energy(&mut self) {
        let run = self.record.run;
        let nodes = run.times().len();
        let kinetic = |k: usize| self.kinetic(&[run.q(k), run.v(k)].concat());
        let [mut first, last] = [0, nodes - 1].map(kinetic);
        // The first node is the state after an impact at the start.
        let struck = self.record.events.first();
        if let Some(event) = struck.filter(|event| event.t == run.times()[0]) {
            first = self.kinetic(&event.state_before);
        }
        let modes = self.record.modes_at(run.t());
        let place = Place {
            t: run.t(),
            contact: None,
            modes,
        };
        let error = (last - first - self.gained).abs();
        let bound = ENERGY * (first + last + self.turnover + 1e-3);
        self.expect("energy", place, error, bound);
    }
}
