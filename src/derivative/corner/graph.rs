//! The ways through a corner: which guard a perturbed state meets first, which field it finds
//! behind it, and so on (see Council, Revzen & Burden, JCND 17 (2022) 091004, on the corner fields
//! of Burden et al., SIADS 15 (2016) 1227).
//!
//! A station is a state, a mode and a field between two crossings. A way leads from one station to
//! the next by the crossing of one guard. Only stations that are asked for are evaluated: `n + 1`
//! for one direction through `n` guards.

use super::map_scale::Sizes;
use crate::derivative::repeat::{Carried, Ground, Passed, Repeat, zero};
use crate::hybrid::evaluate;
use crate::linalg::dot;
use crate::ode::difference;
use crate::{CrossedGuard, Error, EventFunction, Flow, Guard, Mode, Quantity};

/// Most stations of one corner at a time; 4,096 are all sets of twelve guards.
const MOST_STATIONS: usize = 5000;

/// A corner, or a single crossing, as the run met it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CornerPoint {
    /// Time of the first crossing (s).
    pub(crate) t: f64,
    /// State on the guards, before any crossing.
    pub(crate) x: Vec<f64>,
    pub(crate) mode: Mode,
    /// The guards, in the order in which the run crossed them.
    pub(crate) guards: Vec<Guard>,
    /// State and mode in which the run went on.
    pub(crate) x_after: Vec<f64>,
    pub(crate) mode_after: Mode,
    /// Time from its first crossing to its last in the run (s).
    pub(crate) span: f64,
    /// The liveness bounds of all event functions in the run; none outside of runs.
    pub(crate) least_rates: Vec<f64>,
    /// What of states behind its crossings is rounding, where that was measured.
    pub(crate) rounding: Vec<f64>,
}

/// A guard that may still be crossed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) guard: Guard,
    /// `∂h/∂t` (`u`/s).
    moving: f64,
    /// `dh/dt` along the field of the station (`u`/s).
    pub(crate) rate: f64,
    /// Where its row `D_x h` begins among the rows of the walk.
    row: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Station {
    pub(crate) x: Vec<f64>,
    pub(crate) mode: Mode,
    pub(crate) field: Vec<f64>,
    pub(crate) members: Vec<Member>,
    /// Crossings on the way here.
    pub(crate) level: usize,
    /// A reset changed the state on the way here.
    pub(crate) moved: bool,
    first_way: Option<usize>,
}

/// A crossing at a station.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) guard: Guard,
    pub(crate) to: usize,
    /// `D_x R · F⁻ + D_t R − F⁺`.
    pub(crate) jump: Vec<f64>,
    /// The reset is the identity.
    pub(crate) identity: bool,
    /// The derivative of the reset is a difference, in part at least.
    pub(crate) by_difference: bool,
    /// It ends the run.
    pub(crate) stops: bool,
    next: Option<usize>,
}

/// Stations and ways found so far at one corner, and the workspace to find more.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    pub(crate) t: f64,
    pub(crate) stations: Vec<Station>,
    pub(crate) used_stations: usize,
    pub(crate) ways: Vec<Way>,
    pub(crate) used_ways: usize,
    /// Rows `D_x h` of the members of all stations; stations share those that do not change.
    rows: Vec<f64>,
    /// How many of them are those of station 0.
    root_rows: usize,
    pub(crate) sizes: Sizes,
    /// The liveness bounds of all event functions in the run, if there is one.
    pub(crate) least_rates: Vec<f64>,
    /// What of states behind crossings is rounding, where that is known.
    pub(crate) rounding: Vec<f64>,
    pub(crate) repeat: Repeat,
    pub(crate) scratch: Vec<f64>,
    pub(crate) mode: Mode,
    /// Tangents before a reset.
    pub(crate) before: Vec<f64>,
    /// Shifts of the time of the guard that is met next, one a tangent.
    pub(crate) shifts: Vec<f64>,
    /// The largest speed of each component at any station.
    pub(crate) speed: Vec<f64>,
    /// How fast each component of states behind crossings changes when a crossing comes later: at
    /// most, by what resets make of the motion before them.
    pub(crate) carried_speed: Vec<f64>,
    /// The largest size of each component at any station: what cancels in the end leaves the errors
    /// of this.
    pub(crate) largest: Vec<f64>,
    /// Guards in the order in which the last direction met them.
    pub(crate) order: Vec<Met>,
}

/// A guard met on the way through a corner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub(crate) guard: Guard,
    /// Shift of its time (s).
    pub(crate) tau: f64,
    /// The station behind it.
    pub(crate) to: usize,
}

impl Walk {
    pub(crate) fn new(dim: usize, count: usize) -> Self {
        Self {
            t: 0.0,
            stations: Vec::new(),
            used_stations: 0,
            ways: Vec::new(),
            used_ways: 0,
            rows: Vec::new(),
            root_rows: 0,
            sizes: Sizes::new(dim),
            least_rates: Vec::with_capacity(count),
            rounding: vec![0.0; dim],
            repeat: Repeat::new(dim, count),
            scratch: vec![0.0; dim],
            mode: Mode::new(count),
            before: Vec::new(),
            shifts: Vec::new(),
            speed: vec![0.0; dim],
            carried_speed: vec![0.0; dim],
            largest: vec![0.0; dim],
            order: Vec::with_capacity(2 * count),
        }
    }

    pub(crate) fn station(&self, i: usize) -> &Station {
        &self.stations[i]
    }

    pub(crate) fn way(&self, i: usize) -> &Way {
        &self.ways[i]
    }

    /// Forgets the last corner and stands before `corner`, at station 0.
    pub(crate) fn begin<S: Flow + EventFunction>(
        &mut self,
        ground: Ground<'_, S>,
        corner: &CornerPoint,
    ) -> Result<(), Error> {
        self.t = corner.t;
        self.used_stations = 0;
        self.used_ways = 0;
        self.order.clear();
        self.speed.fill(0.0);
        self.carried_speed.fill(0.0);
        self.largest.fill(0.0);
        self.rows.clear();
        self.rounding.fill(0.0);
        for (own, known) in self.rounding.iter_mut().zip(&corner.rounding) {
            *own = *known;
        }
        self.least_rates.clone_from(&corner.least_rates);
        let root = self.new_station(corner.x.len(), corner.mode.len());
        let station = &mut self.stations[root];
        station.x.copy_from_slice(&corner.x);
        station.mode.copy_from(&corner.mode);
        station.level = 0;
        station.moved = false;
        let (t, system) = (corner.t, ground.system);
        system.flow(t, &corner.x, &corner.mode, &mut station.field);
        evaluate::check_flow(&station.field, t, &corner.x)?;
        note_most(&mut self.speed, &station.field);
        note_most(&mut self.largest, &station.x);
        for &guard in &corner.guards {
            self.add_member(ground, root, guard)?;
        }
        self.root_rows = self.rows.len();
        Ok(())
    }

    /// Stands at station 0 again, and forgets the others.
    pub(crate) fn again(&mut self) {
        self.used_stations = self.used_stations.min(1);
        self.used_ways = 0;
        self.rows.truncate(self.root_rows);
        if let Some(root) = self.stations.first_mut() {
            root.first_way = None;
        }
    }

    fn new_station(&mut self, dim: usize, count: usize) -> usize {
        let i = self.used_stations;
        self.used_stations += 1;
        if i == self.stations.len() {
            self.stations.push(Station {
                x: vec![0.0; dim],
                mode: Mode::new(count),
                field: vec![0.0; dim],
                members: Vec::new(),
                level: 0,
                moved: false,
                first_way: None,
            });
        }
        let station = &mut self.stations[i];
        station.members.clear();
        station.first_way = None;
        i
    }

    /// Adds `guard` to those that may be crossed from a station, with its row and its rate there.
    fn add_member<S: Flow + EventFunction>(
        &mut self,
        ground: Ground<'_, S>,
        station: usize,
        guard: Guard,
    ) -> Result<(), Error> {
        let Station {
            x,
            mode,
            field,
            members,
            ..
        } = &mut self.stations[station];
        let (t, k) = (self.t, guard.event);
        let from = self.rows.len();
        self.rows.resize(from + x.len(), 0.0);
        let row = &mut self.rows[from..];
        let moving = row_of(ground, k, (t, x), mode, (row, &mut self.scratch))?;
        let rate = moving + dot(row, field);
        if !rate.is_finite() || row.iter().any(|v| !v.is_finite()) {
            return Err(evaluate::not_finite(Quantity::Gradient { event: k }, t, x));
        }
        members.push(Member {
            guard,
            moving,
            rate,
            row: from,
        });
        Ok(())
    }

    /// The row `D_x h` of member `m`.
    pub(crate) fn row(&self, station: usize, m: usize) -> &[f64] {
        let Station { x, members, .. } = &self.stations[station];
        let from = members[m].row;
        &self.rows[from..from + x.len()]
    }

    /// True when member `m` is crossed from this station: it moves across at its least rate at
    /// least.
    pub(crate) fn is_live<S: EventFunction>(&self, system: &S, station: usize, m: usize) -> bool {
        let member = &self.stations[station].members[m];
        member.guard.sign() * member.rate >= self.least_rate(system, member.guard.event)
    }

    /// The liveness bound of event function `k`: that of the run; outside of runs that of the user,
    /// or by its rate at station 0.
    pub(crate) fn least_rate<S: EventFunction>(&self, system: &S, k: usize) -> f64 {
        let known = self.least_rates.get(k).copied();
        known.or_else(|| system.least_rate(k)).unwrap_or_else(|| {
            let mut members = self.stations[0].members.iter();
            let seen = members.find(|member| member.guard.event == k);
            let rate = seen.map_or(0.0, |member| member.rate.abs());
            (evaluate::PART_OF_RATE * rate).max(f64::MIN_POSITIVE)
        })
    }

    /// The way by which member `m` is crossed, found on first use.
    pub(crate) fn follow<S: Flow + EventFunction>(
        &mut self,
        ground: Ground<'_, S>,
        from: usize,
        m: usize,
    ) -> Result<usize, Error> {
        let guard = self.stations[from].members[m].guard;
        let mut known = self.stations[from].first_way;
        while let Some(way) = known {
            if self.ways[way].guard == guard {
                return Ok(way);
            }
            known = self.ways[way].next;
        }
        ground.interrupt.check()?;
        if self.used_stations > MOST_STATIONS {
            return Err(self.too_large("states between crossings", MOST_STATIONS));
        }
        let rows = self.rows.len();
        let way = self.make_way(ground, from, m)?;
        self.sizes.note(&self.ways[way].jump, {
            let member = &self.stations[from].members[m];
            let row = &self.rows[member.row..member.row + self.scratch.len()];
            (row, member.rate)
        });
        let (to, twin) = (self.ways[way].to, self.twin(self.ways[way].to));
        if let Some(twin) = twin {
            self.ways[way].to = twin;
            debug_assert_eq!(to + 1, self.used_stations, "the newest station");
            self.used_stations -= 1;
            self.rows.truncate(rows);
        }
        Ok(way)
    }

    /// The refusal of a corner that is larger than searches go.
    #[cold]
    pub(crate) fn too_large(&self, what: &'static str, limit: usize) -> Error {
        let guards = self.stations.first().map_or(0, |root| root.members.len());
        Error::CornerTooLarge {
            guards,
            what,
            limit,
            t: self.t,
        }
    }

    /// An earlier station that is the same: other orders of the same guards meet there.
    fn twin(&self, newest: usize) -> Option<usize> {
        let new = &self.stations[newest];
        let largest = new.x.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        // Resets that commute do so to within rounding.
        let same = |i: usize, a: f64, b: f64| {
            (a - b).abs() <= 1e-13 * a.abs().max(1e-3 * largest) + self.rounding[i]
        };
        self.stations[..newest].iter().position(|old| {
            (old.level == new.level || new.moved)
                && old.mode.is(&new.mode)
                && (0..new.x.len()).all(|i| same(i, old.x[i], new.x[i]))
                && old.members.len() == new.members.len()
                && old.moved == new.moved
                && new
                    .members
                    .iter()
                    .zip(&old.members)
                    .all(|(a, b)| a.guard == b.guard)
        })
    }

    fn make_way<S: Flow + EventFunction>(
        &mut self,
        ground: Ground<'_, S>,
        from: usize,
        m: usize,
    ) -> Result<usize, Error> {
        let system = ground.system;
        let (dim, count) = {
            let station = &self.stations[from];
            (station.x.len(), station.mode.len())
        };
        let way = self.used_ways;
        self.used_ways += 1;
        if way == self.ways.len() {
            self.ways.push(Way {
                guard: Guard::rising(0),
                to: 0,
                jump: vec![0.0; dim],
                identity: true,
                by_difference: false,
                stops: false,
                next: None,
            });
        }
        let to = self.new_station(dim, count);
        let (before, after) = self.stations.split_at_mut(to);
        let (before, after) = (&mut before[from], &mut after[0]);
        let Member { guard, rate, .. } = before.members[m];
        after.x.copy_from_slice(&before.x);
        after.mode.copy_from(&before.mode);
        let jump = &mut self.ways[way].jump;
        jump.copy_from_slice(&before.field);
        let done = self.repeat.cross(
            ground,
            self.t,
            CrossedGuard { guard, rate },
            (&mut after.x, &mut after.mode),
            Carried { dt: 1.0, dx: jump },
        )?;
        note_most(&mut self.carried_speed, jump);
        after.field.copy_from_slice(&before.field);
        let (t, x, mode) = (self.t, &after.x[..], &after.mode);
        let only_this = !done.moved && is_flip(&before.mode, mode, guard);
        if !(only_this && system.flip(t, x, mode, guard.event, &mut after.field)) {
            system.flow(t, x, mode, &mut after.field);
        }
        evaluate::check_flow(&after.field, t, x)?;
        note_most(&mut self.speed, &after.field);
        note_most(&mut self.largest, &after.x);
        for i in 0..dim {
            jump[i] -= after.field[i];
        }
        after.level = before.level + 1;
        after.moved = before.moved || done.moved;
        let way_made = &mut self.ways[way];
        way_made.guard = guard;
        way_made.to = to;
        way_made.identity = done.tangents == Passed::Unchanged;
        way_made.by_difference = match done.tangents {
            Passed::Unchanged => false,
            Passed::AsWritten => system.writes_reset_differences(),
            Passed::ByDifference => true,
        };
        way_made.stops = done.stops;
        way_made.next = before.first_way.replace(way);
        self.hand_on_members(ground, (from, to), m, done.moved)?;
        Ok(way)
    }

    /// True when the state of a station lies before the surface of `guard` by more than what is one
    /// instant: a reset moved it off.
    fn is_off<S: Flow + EventFunction>(
        &mut self,
        ground: Ground<'_, S>,
        station: usize,
        guard: Guard,
    ) -> bool {
        let (system, k) = (ground.system, guard.event);
        let station = &self.stations[station];
        let (t, x, mode) = (self.t, &station.x[..], &station.mode);
        let rate = evaluate::rate(system, k, (t, x), mode, &station.field, &mut self.scratch);
        guard.sign() * system.event(k, t, x, mode) < -zero(ground, k, t, rate)
    }

    /// Members of a station that are left after the crossing of its member `m`.
    fn hand_on_members<S: Flow + EventFunction>(
        &mut self,
        ground: Ground<'_, S>,
        (from, to): (usize, usize),
        m: usize,
        moved: bool,
    ) -> Result<(), Error> {
        let system = ground.system;
        let keeps_rows = !moved && system.ignores_mode();
        for other in 0..self.stations[from].members.len() {
            let member = self.stations[from].members[other];
            let guard = member.guard;
            // Carried across by the reset, or retired: crossed already.
            let crossed = self.stations[to].mode.contains(guard.event) == guard.side_after();
            if other == m || crossed || (moved && self.is_off(ground, to, guard)) {
                continue;
            }
            if keeps_rows {
                let after = &mut self.stations[to];
                let row = &self.rows[member.row..member.row + after.x.len()];
                let rate = member.moving + dot(row, &after.field);
                after.members.push(Member { rate, ..member });
            } else {
                self.add_member(ground, to, guard)?;
            }
        }
        for first in 0..if moved {
            self.stations[0].members.len()
        } else {
            0
        } {
            let event = self.stations[0].members[first].guard.event;
            self.add_again(ground, to, event)?;
        }
        Ok(())
    }

    /// After a reset a guard of the corner may be met again at the same instant: thrown back over
    /// its surface, or thrown at it by the reset of another.
    fn add_again<S: Flow + EventFunction>(
        &mut self,
        ground: Ground<'_, S>,
        to: usize,
        k: usize,
    ) -> Result<(), Error> {
        let system = ground.system;
        let station = &self.stations[to];
        let (t, x, mode) = (self.t, &station.x[..], &station.mode);
        let guard = Guard::ahead(k, mode.contains(k));
        let waits = station.members.iter().any(|m| m.guard.event == k);
        if waits || !(ground.rearm.arms_partner(guard.partner()) && system.watch(k).is_any()) {
            return Ok(());
        }
        let row = &mut self.scratch;
        let rate = evaluate::rate(system, k, (t, x), mode, &station.field, row);
        let off = system.event(k, t, x, mode).abs() > zero(ground, k, t, rate);
        if off || guard.sign() * rate.value < self.least_rate(system, k) {
            return Ok(());
        }
        self.add_member(ground, to, guard)
    }
}

/// The row `D_x h_k`, written by the user or by central differences, into `row`; returns `∂h_k/∂t`.
/// `scratch` is overwritten.
///
/// # Errors
/// [`Error::DifferencesDisagree`].
pub(crate) fn row_of<S: EventFunction>(
    ground: Ground<'_, S>,
    k: usize,
    (t, x): (f64, &[f64]),
    mode: &Mode,
    (row, scratch): (&mut [f64], &mut [f64]),
) -> Result<f64, Error> {
    let system = ground.system;
    if let Some(moving) = system.gradient(k, t, x, mode, row) {
        return Ok(moving);
    }
    let h = |t: f64, x: &[f64]| system.event(k, t, x, mode);
    let moving = difference::resolved_gradient(h, (t, x), |i| ground.size(i), row, scratch);
    moving.ok_or_else(|| Error::DifferencesDisagree {
        quantity: Quantity::Gradient { event: k },
        t,
        state: x.to_vec(),
    })
}

/// Keeps the largest size of each entry.
fn note_most(most: &mut [f64], entries: &[f64]) {
    for (most, entry) in most.iter_mut().zip(entries) {
        *most = most.max(entry.abs());
    }
}

/// True when `after` is `before` with the side of `guard` crossed and nothing else changed.
fn is_flip(before: &Mode, after: &Mode, guard: Guard) -> bool {
    let k = guard.event;
    let differ = |(a, b): (u64, u64)| (a ^ b).count_ones();
    before.contains(k) != after.contains(k)
        && before.words().zip(after.words()).map(differ).sum::<u32>() == 1
}
