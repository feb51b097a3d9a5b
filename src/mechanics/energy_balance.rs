//! The balance of energy of a run: where its kinetic energy came from and went.

use nalgebra::{DMatrix, DVector};

use super::motion::kinetic::kinetic;
use super::{MechanicalSystem, State, configuration};
use crate::linalg::decompose::cholesky;
use crate::{ContactEventKind, InputError, Run, validate};

/// Places and weights of Gauss's rule with three points in a step of unit length.
pub(crate) const GAUSS: [(f64, f64); 3] = [
    (0.112_701_665_379_258_31, 5.0 / 18.0),
    (0.5, 8.0 / 18.0),
    (0.887_298_334_620_741_7, 5.0 / 18.0),
];

/// The gains and losses of kinetic energy of a run, by their causes (J).
///
/// ```
/// use saltation::impact::AnitescuPotra;
/// use saltation::models::SlidingBlock;
/// use saltation::{ContactModel, Start, Variational};
/// let model = ContactModel::with_law(SlidingBlock::default(), AnitescuPotra::new());
/// let mut driver = Variational::new(model)?;
/// let run = driver.integrate(&Start::at(0.0).q(&[0.0, 0.0]).v(&[2.0, 0.0]), 1.0)?;
/// let balance = driver.model().energy_balance(&run)?;
/// assert!((balance.contacts + 2.0).abs() < 1e-2); // friction took all of ½ m v²
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct EnergyBalance {
    /// Kinetic energy at the start and at the end.
    pub kinetic: [f64; 2],
    /// Potential energy there; none where the model has none.
    pub potential: Option<[f64; 2]>,
    /// Work of the efforts of the model, those included that have a potential: by Gauss's rule of
    /// three points between nodes, and between their middles where these differ, up to ten times; of
    /// 16 ways a node and 100,000 more at most. What they make of velocities that are driven is not in
    /// it. In steps of one length they work along the velocities of both nodes, not along the way: in a
    /// free fall by symplectic Euler the potential falls by `½ m g dt Δv` more.
    pub efforts: f64,
    /// Change of kinetic energy at impacts: wherever the run has two nodes at one time, and where it starts with one;
    /// and that on the way to an accumulation which is absorbed, but for the work of efforts there.
    pub impacts: f64,
    /// The remainder: work of contacts between impacts, negative for friction and dissipation; surfaces
    /// that move by themselves ([`MechanicalSystem::driven`]) give or take with it. Work of the
    /// efforts of a controller ([`Live`](crate::Live)), which are not the model's, is in it too. The
    /// errors of the steps are in it, and of runs in steps of one length those of the straight lines
    /// between nodes, along which efforts work.
    pub contacts: f64,
}

impl EnergyBalance {
    /// Of a run of this system.
    pub(crate) fn of<S: MechanicalSystem + ?Sized>(
        system: &S,
        run: &Run,
    ) -> Result<Self, InputError> {
        let (nq, d) = (system.coordinates(), system.dof());
        validate::length("states of the run", nq + d, run.state().len())?;
        let mut mass = vec![0.0; d * d];
        let mut kinetic_of = |state: &[f64]| {
            let (q, v) = state.split_at(nq);
            kinetic(system, q, v, &mut mass)
        };
        let (first, last) = (run.states().column(0).into_owned(), run.state());
        let ends = [first.as_slice(), last.as_slice()];
        let [behind_start, after] = ends.map(&mut kinetic_of);
        // The first node is the state behind an impact with which the run starts.
        let before = struck_at_start(run).map_or(behind_start, &mut kinetic_of);
        let (mut impacts, mut efforts) = (behind_start - before, 0.0);
        let mut work = Work::of(system, run);
        for (k, times) in run.times().windows(2).enumerate() {
            let [before, after] = [k, k + 1].map(|k| run.states().column(k).into_owned());
            let ends = [before.as_slice(), after.as_slice()];
            // Between the nodes of an absorbed accumulation lie the impacts to come: what the body did meanwhile is how
            // far it moved.
            let is_absorbed = is_absorbed(run, times[1], ends[1]);
            let moved = (is_absorbed && times[1] > times[0])
                .then(|| mean_velocity(system, ends.map(|x| &x[..nq]), times[1] - times[0]));
            let work = work.between([times[0], times[1]], moved.flatten().as_deref())?;
            efforts += work;
            // Two nodes at one time are the states before and after an impact.
            if times[1] <= times[0] || is_absorbed {
                impacts += kinetic_of(ends[1]) - kinetic_of(ends[0]) - work;
            }
        }
        // T₁ − T₀ = impacts + efforts + contacts: the last is what is left.
        let potentials = ends.map(|state| system.potential(&state[..nq]));
        let potential = match potentials {
            [Some(before), Some(after)] => Some([before, after]),
            _ => None,
        };
        Ok(Self {
            kinetic: [before, after],
            potential,
            efforts,
            impacts,
            contacts: after - before - impacts - efforts,
        })
    }
}

/// The state before the impacts with which a run starts, if it does and the first node is behind them.
fn struck_at_start(run: &Run) -> Option<&[f64]> {
    let (start, states) = (*run.times().first()?, run.states());
    let first = states.column(0);
    let mut at_start = run.events().iter().take_while(|event| event.t <= start);
    let before = &at_start.next()?.state_before;
    let is_before = before.len() == first.len() && before.as_slice() != first.as_slice();
    is_before.then_some(before)
}

/// The velocity, of least norm, with which a system moves from one configuration to another; none where there is no
/// single one.
fn mean_velocity<S: MechanicalSystem + ?Sized>(
    system: &S,
    [from, to]: [&[f64]; 2],
    time: f64,
) -> Option<Vec<f64>> {
    let (nq, d) = (system.coordinates(), system.dof());
    let way = DVector::from_fn(nq, |i, _| (to[i] - from[i]) / time);
    let (mut unit, mut rates) = (vec![0.0; d], DMatrix::zeros(nq, d));
    for (k, mut column) in rates.column_iter_mut().enumerate() {
        unit[k] = 1.0;
        configuration::rate(system, from, &unit, column.as_mut_slice());
        unit[k] = 0.0;
    }
    let gram = cholesky(rates.tr_mul(&rates))?;
    Some(gram.solve(&rates.tr_mul(&way)).as_slice().to_vec())
}

/// True where a node is the state behind an accumulation that was absorbed.
fn is_absorbed(run: &Run, t: f64, state: &[f64]) -> bool {
    let events = run.events();
    let from = events.partition_point(|event| event.t < t);
    let at = events[from..].iter().take_while(|event| event.t <= t);
    let mut absorbed = at.filter(|event| event.kind == ContactEventKind::ZenoAbsorbed);
    absorbed.any(|event| event.state_after == state)
}

/// Halvings of the way between two nodes at most, in which work is found; and how many ways are halved in all, for each
/// node and beside.
const MOST_HALVINGS: usize = 10;
const HALVINGS_A_NODE: usize = 16;
const MORE_HALVINGS: usize = 100_000;

/// The rule and that of both halves agree to this part of the work that is done to and fro.
const KNOWN: f64 = 1e-9;

/// Work on a part of a way (J).
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    work: f64,
    /// The sum of the sizes of its terms.
    size: f64,
}

/// The work of the efforts of a model along a run.
struct Work<'a, S: ?Sized> {
    system: &'a S,
    run: &'a Run,
    effort: Vec<f64>,
    closed: Vec<usize>,
    /// How many ways may be halved still: where efforts cancel their rounding has no end.
    left: usize,
}

impl<'a, S: MechanicalSystem + ?Sized> Work<'a, S> {
    fn of(system: &'a S, run: &'a Run) -> Self {
        Self {
            system,
            run,
            effort: vec![0.0; system.dof()],
            closed: Vec::new(),
            left: MORE_HALVINGS + HALVINGS_A_NODE * run.times().len(),
        }
    }

    /// `∫ f · v dt` between two nodes, with one velocity in between if it is given. Contacts at rest hold against
    /// efforts of which steps see nothing: where the rule differs from that of both halves, these are halved in turn.
    fn between(&mut self, ends: [f64; 2], moved: Option<&[f64]>) -> Result<f64, InputError> {
        let whole = self.by_rule(ends, moved)?;
        self.refined(ends, moved, whole, MOST_HALVINGS)
    }

    fn refined(
        &mut self,
        [from, to]: [f64; 2],
        moved: Option<&[f64]>,
        whole: Part,
        halvings: usize,
    ) -> Result<f64, InputError> {
        let middle = 0.5 * (from + to);
        if halvings == 0 || self.left == 0 || !(from < middle && middle < to) {
            return Ok(whole.work);
        }
        let halves = [[from, middle], [middle, to]];
        let [first, second] = [
            self.by_rule(halves[0], moved)?,
            self.by_rule(halves[1], moved)?,
        ];
        let size = whole.size.max(first.size + second.size);
        let off = (first.work + second.work - whole.work).abs();
        if off <= KNOWN * size || off.is_nan() {
            return Ok(whole.work);
        }
        self.left -= 1;
        let before = self.refined(halves[0], moved, first, halvings - 1)?;
        Ok(before + self.refined(halves[1], moved, second, halvings - 1)?)
    }

    fn by_rule(&mut self, ends: [f64; 2], moved: Option<&[f64]>) -> Result<Part, InputError> {
        let Self {
            system,
            run,
            effort,
            closed,
            ..
        } = self;
        let length = ends[1] - ends[0];
        let mut part = Part::default();
        if length <= 0.0 {
            return Ok(part);
        }
        let (nq, driven) = (system.coordinates(), system.driven());
        for (place, weight) in GAUSS {
            let t = ends[0] + place * length;
            let state = run.state_at(t)?;
            let (q, v) = state.as_slice().split_at(nq);
            closed.clear();
            closed.extend(run.mode_at(t)?.flags());
            system.effort(t, q, v, effort);
            system.contact_effort(State { t, q, v }, closed, effort);
            // f · v at a point of Gauss's rule; contact forces are not in it.
            let each = effort.iter().zip(moved.unwrap_or(v)).enumerate();
            let free = each.filter(|(k, _)| !driven.contains(k));
            let mut power = 0.0;
            for (_, (f, v)) in free {
                power += f * v;
                part.size += weight * length * (f * v).abs();
            }
            part.work += weight * length * power;
        }
        Ok(part)
    }
}
