//! The driver with time as a state: smooth pieces by the core integrator, impacts and changes of
//! mode between them.

use super::accumulation::{Limit, Series};
use super::frame::Frame;
use super::frame::hold_rows;
use super::motion::{Motion, contact_mode, slip_sign};
use super::pieces::{Piece, PieceKind, TimelineRun};
use crate::event_driven::breakdown::{Breakdown, explain};
use crate::event_driven::impact::Event;
use crate::event_driven::{EventDriven, Model, projection};
use crate::impact::{ContactMode, Occasion, Routh, Selection};
use crate::linalg::dot;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};
use crate::{
    At, Guard, InputError, Integrator, Interrupt, Mode, PerEntry, Status, Stop, Trajectory,
    validate,
};

/// Most events at one instant beside 8 a contact.
const AT_ONCE: usize = 32;
/// Impacts whose rebounds are slower than so many times the tolerance of rates are summed up with
/// an error of up to this part of the last interval.
const SLOW: f64 = 1e3;
const PART: f64 = 1e-2;

/// Runs a mechanical system with inelastic contacts with friction in the plane, with time as a
/// state (Halm & Posa, section 3.3).
///
/// The run is a list of [pieces](Piece) over the arclength `s`, which counts time and normal
/// impulses: `dt/ds = 1/(1 + Σ λ_n)` where forces act, and time stands still in impacts. Velocities
/// are continuous in `s`. While contacts are closed they stick or slip ([`ContactMode`]); a mode
/// ends where a force or a margin of a friction cone falls to zero, a slip stops or a gap closes.
/// The mode that follows is the only one that is consistent with the accelerations; where there are
/// several, the selection of the model chooses ([`EventDriven::selection`]), and `Single`, the
/// default, ends the run with [`Breakdown::AmbiguousMode`]. Where there is none because a sliding
/// contact presses itself down (Painlevé), an impact without collision follows
/// ([`Routh::without_collision`]).
///
/// Impacts whose intervals shrink by ratios that settle (Zeno) are summed up once the bound of the
/// error is below [`zeno_tolerance`](Self::zeno_tolerance). The bodies come to rest on their
/// contacts at that time, if they can stay there: [`PieceKind::Rest`]. Only one accumulation can be
/// under way at a time; others end the run with [`Stop::TooManyEvents`].
///
/// Coefficients of restitution must be zero. Up to five contacts may touch in one configuration
/// (their 4⁵ modes are enumerated), and efforts may not depend on which are closed
/// ([`contact_effort`](MechanicalSystem::contact_effort)). Sticking contacts may depend on each
/// other: then single forces are those of least norm, and the mode lasts as long as some forces
/// within the friction cones hold it. There is no derivative.
///
/// ```
/// use saltation::event_driven::{EventDriven, PieceKind, Timeline};
/// use saltation::impact::AnitescuPotra;
/// use saltation::models::RockingBlock;
/// let block = RockingBlock::default();
/// let (q, v) = block.pivoting(0.0, 1.0); // about its left corner, at 1 rad/s
/// let model = EventDriven::with_law(block, AnitescuPotra::new());
/// let run = Timeline::new(model)?.rtol(1e-10).integrate(0.0, &q, &v, 3.0)?.completed()?;
/// let rests = |kind: &PieceKind| matches!(kind, PieceKind::Rest { .. });
/// let rest = run.pieces().iter().find(|piece| rests(&piece.kind)).expect("it rocks and settles");
/// assert!((rest.t[1] - 2.671421398).abs() < 1e-8);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Timeline<S> {
    model: EventDriven<S>,
    options: Options,
}

#[derive(Clone, Debug)]
struct Options {
    rtol: PerEntry,
    atol: PerEntry,
    max_step: f64,
    max_events: usize,
    max_steps: usize,
    max_memory: usize,
    zeno_tolerance: f64,
    interrupt: Interrupt,
}

impl<S> Timeline<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// A driver of `model`, whose law and selection resolve impacts.
    ///
    /// # Errors
    /// [`InputError::EmptySystem`] for a system without coordinates.
    pub fn new(model: EventDriven<S>) -> Result<Self, InputError> {
        if model.system().dof() == 0 || model.system().coordinates() == 0 {
            return Err(InputError::EmptySystem);
        }
        let options = Options {
            rtol: PerEntry::Same(1e-8),
            atol: PerEntry::Same(1e-11),
            max_step: f64::INFINITY,
            max_events: 100_000,
            max_steps: 10_000_000,
            max_memory: 1 << 30,
            zeno_tolerance: 1e-10,
            interrupt: Interrupt::new(),
        };
        Ok(Self { model, options })
    }

    /// Relative tolerance of smooth pieces, as [`Integrator::rtol`], for all entries of `(q, v)`
    /// and the impulses; default 1e-8.
    #[must_use]
    pub fn rtol(mut self, rtol: f64) -> Self {
        self.options.rtol = rtol.into();
        self
    }

    /// Absolute tolerance, likewise; default 1e-11.
    #[must_use]
    pub fn atol(mut self, atol: f64) -> Self {
        self.options.atol = atol.into();
        self
    }

    /// Largest step (s); default: no limit.
    #[must_use]
    pub fn max_step(mut self, step: f64) -> Self {
        self.options.max_step = step;
        self
    }

    /// Most impacts and changes of mode; default 100 000. Beyond the run ends with
    /// [`Stop::TooManyEvents`].
    #[must_use]
    pub fn max_events(mut self, limit: usize) -> Self {
        self.options.max_events = limit;
        self
    }

    /// Most smooth steps, accepted or not; default ten million.
    #[must_use]
    pub fn max_steps(mut self, limit: usize) -> Self {
        self.options.max_steps = limit;
        self
    }

    /// Most memory of all smooth pieces (bytes, nearly); default 2³⁰.
    #[must_use]
    pub fn max_memory(mut self, bytes: usize) -> Self {
        self.options.max_memory = bytes;
        self
    }

    /// The bound of the error that summing up an accumulation of impacts may add to time (s) and
    /// arclength; default 1e-10. Where it is below the errors of the smooth pieces, impacts that
    /// rebound with less than a thousand times the tolerance of rates
    /// ([`EventDriven::rate_tolerance`]) are summed up with a bound of a hundredth of the last
    /// interval.
    #[must_use]
    pub fn zeno_tolerance(mut self, tolerance: f64) -> Self {
        self.options.zeno_tolerance = tolerance;
        self
    }

    /// Ends runs when `interrupt` is set.
    #[must_use]
    pub fn interrupt(mut self, interrupt: &Interrupt) -> Self {
        self.options.interrupt = interrupt.clone();
        self
    }

    /// The model.
    pub fn model(&self) -> &EventDriven<S> {
        &self.model
    }

    /// Integrates from `(q, v)` at `t0` to `tf`.
    ///
    /// # Errors
    /// Bad input: those of [`EventDriven::start`]; [`InputError::Tangents`] for contacts in space;
    /// [`InputError::BadSetting`] for settings, for a coefficient of restitution that is not zero,
    /// and for efforts that depend on closed contacts; [`InputError::TimeReversed`]. What the run
    /// meets on its way is in [`TimelineRun::breakdown`], and the pieces before it are kept.
    pub fn integrate(
        &self,
        t0: f64,
        q: &[f64],
        v: &[f64],
        tf: f64,
    ) -> Result<TimelineRun, Breakdown> {
        integrate(self.model.erased(), &self.options, (t0, q, v), tf)
    }
}

/// See [`Timeline::integrate`]. Compiled once, for a model of whatever system.
fn integrate(
    model: &Model<'_>,
    options: &Options,
    (t0, q, v): (f64, &[f64], &[f64]),
    tf: f64,
) -> Result<TimelineRun, Breakdown> {
    validate::finite("tf", &[tf])?;
    validate::positive("zeno_tolerance", &[options.zeno_tolerance])?;
    let state = check_start(model, (t0, q, v))?;
    if tf < t0 {
        return Err(Breakdown::Input(InputError::TimeReversed { t0, tf }));
    }
    let mut course = Course {
        model,
        options,
        watched: integrator(model, options, true)?,
        unwatched: integrator(model, options, false)?,
        t: t0,
        s: 0.0,
        state: state.clone(),
        pieces: Vec::new(),
        series: Series::default(),
        events: 0,
        since: (t0, 0),
        steps: 0,
        memory: 0,
    };
    let breakdown = course.run(tf).err();
    Ok(TimelineRun {
        pieces: course.pieces,
        start: (t0, state),
        breakdown,
    })
}

/// The core integrator of smooth pieces.
fn integrator<'a>(
    model: &'a Model<'a>,
    options: &Options,
    is_watched: bool,
) -> Result<Integrator<Motion<'a>>, InputError> {
    let integrator = Integrator::new(Motion { model, is_watched })?
        .rtol(options.rtol.clone())
        .atol(options.atol.clone())
        .max_step(options.max_step)
        .interrupt(&options.interrupt);
    integrator.check_options()?;
    Ok(integrator)
}

/// Refuses what a run cannot begin with; gives the state on the manifold of the coordinates.
fn check_start(model: &Model<'_>, (t, q, v): (f64, &[f64], &[f64])) -> Result<Vec<f64>, Breakdown> {
    model.check_options()?;
    let (system, tangents) = (model.system(), model.row_tangents());
    if tangents > 1 {
        return Err(Breakdown::Input(InputError::Tangents {
            contact: 0,
            expected: 1,
            found: tangents,
        }));
    }
    let state = model.checked_state(t, q, v)?;
    let (q, v) = model.parts(&state);
    model.check_mass(q)?;
    let mut effort = vec![0.0; v.len()];
    let depends = system.contact_effort((t, q, v), &[], &mut effort);
    let rule = "must not depend on closed contacts where these have friction";
    validate::unless(!depends, "contact_effort", 1.0, rule)?;
    for j in 0..system.contacts() {
        let restitution = system.restitution(j, q, v);
        let rule = "must be 0: impacts of a timeline are inelastic";
        validate::unless(restitution == 0.0, "restitution", restitution, rule)
            .map_err(validate::counted_from(j))?;
        validate::not_negative("coefficient of friction", &[model.friction(j)])
            .map_err(validate::counted_from(j))?;
        let gap = system.gap(j, q);
        validate::finite("gap", &[gap]).map_err(validate::counted_from(j))?;
        if gap < -model.gap_tolerance {
            return Err(Breakdown::Input(InputError::NegativeGap {
                contact: j,
                gap,
                t,
            }));
        }
    }
    Ok(state)
}

/// A run under way.
struct Course<'a> {
    model: &'a Model<'a>,
    options: &'a Options,
    watched: Integrator<Motion<'a>>,
    unwatched: Integrator<Motion<'a>>,
    t: f64,
    s: f64,
    /// `(q, v)`.
    state: Vec<f64>,
    pieces: Vec<Piece>,
    series: Series,
    events: usize,
    /// When time last went on, and how many events there were until then.
    since: (f64, usize),
    steps: usize,
    memory: usize,
}

impl Course<'_> {
    fn run(&mut self, tf: f64) -> Result<(), Breakdown> {
        let n = self.model.system().contacts();
        // The sign of the slip of each contact that has just left its cone.
        let mut left = vec![0i8; n];
        loop {
            let touching = self.touching();
            projection::land(self.model, &mut self.state, &[], &touching);
            let (q, v) = self.model.parts(&self.state);
            let approaching = self.model.approaching(q, v, &touching)?;
            if approaching.contains(&true) {
                left.fill(0);
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
            let (candidates, slips) = self.candidates(&touching, &left)?;
            let occasion = self.occasion();
            let next = self
                .model
                .next_mode(occasion, &self.state, &candidates, &slips)?;
            // The contact that left its cone may stick in another mode of the others.
            let next = match next {
                None if left.iter().any(|&slip| slip != 0) => {
                    left.fill(0);
                    let (candidates, slips) = self.candidates(&touching, &left)?;
                    self.model
                        .next_mode(occasion, &self.state, &candidates, &slips)?
                }
                next => next,
            };
            left.fill(0);
            let Some(modes) = next else {
                self.count_event(0)?;
                self.impact_without_collision(&candidates, &slips)?;
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
                    left[j] = if slot == 1 { -1 } else { 1 };
                }
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

    fn occasion(&self) -> Occasion {
        Occasion {
            t: self.t,
            number: self.events,
        }
    }

    /// Contacts with gaps of zero.
    fn touching(&self) -> Vec<usize> {
        let (q, _) = self.model.parts(&self.state);
        let system = self.model.system();
        let touches = |j: &usize| system.gap(*j, q) <= self.model.gap_tolerance;
        (0..system.contacts()).filter(touches).collect()
    }

    /// Contacts that touch and do not part, and the signs of their slips; brings their rates to
    /// zero, and slips that count as zero.
    fn candidates(
        &mut self,
        touching: &[usize],
        left: &[i8],
    ) -> Result<(Vec<usize>, Vec<i8>), Breakdown> {
        let model = self.model;
        let least = model.rate_tolerance;
        let (q, v) = model.parts_mut(&mut self.state);
        let (q, m) = (&*q, touching.len());
        with_zeros(Frame::size(model, m), |scratch| {
            let frame = Frame::new(model, (self.t, q, v), touching, scratch)
                .map_err(|trouble| explain(trouble, q, touching))?;
            let (mut candidates, mut slips, mut rows) = (Vec::new(), Vec::new(), Vec::new());
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
                slips.push(match (sticks, slip > 0.0) {
                    (true, _) => left[j],
                    (false, true) => 1,
                    (false, false) => -1,
                });
            }
            hold_rows(&frame, &rows, v, 0.0);
            Ok((candidates, slips))
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
        let mut event = Event::of(&touching, new);
        if without_collision {
            let law = Routh::new().without_collision();
            let by = (&law as &dyn crate::impact::ImpactLaw, &Selection::Single);
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
        self.push(kind, before, (self.t, s), (impulses, tangential), None);
        Ok(())
    }

    /// An impact at the contact that presses itself down while it slides, where no contact mode is
    /// consistent.
    fn impact_without_collision(
        &mut self,
        candidates: &[usize],
        slips: &[i8],
    ) -> Result<(), Breakdown> {
        let pressed = self
            .model
            .pressed_down(self.t, &self.state, (candidates, slips))?;
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
            self.push(kind, before, (end, s), (impulses, tangential), Some(path));
        }
        match broken {
            None => Ok(guards),
            Some(broken) => Err(broken),
        }
    }

    /// Moves the state on in a contact mode. Gives the path, the guards that ended it and why it
    /// was refused.
    fn advance(
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
        self.memory += path.times().len() * size_of::<f64>() * (1 + 6 * x.len());
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

    /// Goes on to the end of an accumulation: the bodies come to rest on its contacts at once, and
    /// move on with them closed until its time.
    fn rest(&mut self, limit: &Limit) -> Result<(), Breakdown> {
        let before = self.state.clone();
        let model = self.model;
        projection::land(model, &mut self.state, &[], &limit.contacts);
        self.stop_at(&limit.contacts)?;
        let touching = self.touching();
        let still = vec![0i8; model.system().contacts()];
        let (candidates, slips) = self.candidates(&touching, &still)?;
        let next = model.next_mode(self.occasion(), &self.state, &candidates, &slips)?;
        let stays = |modes: &Vec<ContactMode>| {
            limit
                .contacts
                .iter()
                .all(|&j| modes[j] != ContactMode::Open)
        };
        let Some(modes) = next.filter(stays) else {
            self.state = before;
            return Err(Breakdown::NoRest {
                contacts: limit.contacts.clone(),
                t: limit.t,
            });
        };
        let (_, _, broken) = self.advance(&modes, limit.t.max(self.t), false)?;
        if let Some(broken) = broken {
            return Err(broken);
        }
        let kind = PieceKind::Rest {
            contacts: limit.contacts.clone(),
            ratio: limit.ratio,
            bounds: limit.bounds,
        };
        let end = (limit.t.max(self.t), limit.s.max(self.s));
        self.push(kind, before, end, (Vec::new(), Vec::new()), None);
        Ok(())
    }

    /// Brings the normal rates of contacts to zero, and slips no faster than these. Contacts that
    /// slip faster take up friction with that.
    fn stop_at(&mut self, contacts: &[usize]) -> Result<(), Breakdown> {
        let model = self.model;
        let (q, v) = model.parts_mut(&mut self.state);
        let (q, m) = (&*q, contacts.len());
        let mut modes = vec![ContactMode::Open; model.system().contacts()];
        with_zeros(Frame::size(model, m), |scratch| {
            let mut frame = Frame::new(model, (self.t, q, v), contacts, scratch)
                .map_err(|trouble| explain(trouble, q, contacts))?;
            let fastest = (0..m)
                .map(|i| dot(frame.row(i), v).abs())
                .fold(model.rate_tolerance, f64::max);
            for (i, &j) in contacts.iter().enumerate() {
                let rubs = frame.r > m && model.friction(j) > 0.0;
                let slip = if rubs {
                    dot(frame.row(m + i), v)
                } else {
                    f64::INFINITY
                };
                modes[j] = match (slip.abs() <= fastest, slip > 0.0) {
                    (true, _) => ContactMode::Stick,
                    (false, true) => ContactMode::SlipForward,
                    (false, false) => ContactMode::SlipBackward,
                };
            }
            let motion = self.watched.system();
            motion.stop(&mut frame, &motion.mode(&modes), v);
            Ok(())
        })
    }

    /// Adds the piece that ends here, from the state `before`.
    fn push(
        &mut self,
        kind: PieceKind,
        before: Vec<f64>,
        (t, s): (f64, f64),
        (impulses, tangential): (Vec<f64>, Vec<f64>),
        path: Option<Trajectory>,
    ) {
        let nq = self.model.bodies.fixed.nq;
        let [from, to] = [&before, &self.state].map(|state| {
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
