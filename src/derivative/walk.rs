//! The ways through a corner: which guard a perturbed state meets first, which field it finds behind it, and so on (spec 7;
//! Council, Revzen & Burden, JCND 17 (2022) 091004, on the corner fields of Burden et al., SIADS 15 (2016) 1227).
//!
//! A station is a state, a mode and a field between two crossings. A way leads from one station to the next by the crossing
//! of one guard. Only stations that are asked for are evaluated: `n + 1` for one direction through `n` guards.

use nalgebra::DMatrix;

use super::repeat::{Carried, Ground, Repeat, zero};
use crate::hybrid::probe;
use crate::ode::difference;
use crate::{CrossedGuard, Error, EventFunction, Flow, Guard, Mode, Quantity};

/// A corner, or a single crossing, as the run met it.
#[derive(Clone, Debug, Default)]
pub(super) struct CornerPoint {
    /// Time of the first crossing (s).
    pub(super) t: f64,
    /// State on the guards, before any crossing.
    pub(super) x: Vec<f64>,
    pub(super) mode: Mode,
    /// The guards, in the order in which the run crossed them.
    pub(super) guards: Vec<Guard>,
    /// State and mode in which the run went on.
    pub(super) x_after: Vec<f64>,
    pub(super) mode_after: Mode,
}

/// A guard that may still be crossed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) guard: Guard,
    /// `∂h/∂t` (`u`/s).
    moving: f64,
    /// `dh/dt` along the field of the station (`u`/s).
    pub(super) rate: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Station {
    pub(super) x: Vec<f64>,
    pub(super) mode: Mode,
    field: Vec<f64>,
    pub(super) members: Vec<Member>,
    /// `D_x h` of the members, one row after the other.
    rows: Vec<f64>,
    /// A reset changed the state on the way here.
    pub(super) moved: bool,
    first_way: Option<usize>,
}

/// A crossing at a station.
#[derive(Clone, Debug)]
pub(super) struct Way {
    guard: Guard,
    pub(super) to: usize,
    /// `D_x R · F⁻ + D_t R − F⁺`.
    jump: Vec<f64>,
    /// The reset is the identity.
    identity: bool,
    next: Option<usize>,
}

/// How one direction passed a corner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    /// The station at which it came out.
    pub(super) station: usize,
    /// A guard that ends the run was crossed.
    pub(super) stopped: bool,
}

/// Stations and ways found so far at one corner, and the workspace to find more.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    t: f64,
    stations: Vec<Station>,
    used_stations: usize,
    ways: Vec<Way>,
    used_ways: usize,
    repeat: Repeat,
    scratch: Vec<f64>,
    mode: Mode,
    /// Guards in the order in which the last direction met them.
    order: Vec<Met>,
}

/// A guard met on the way through a corner.
#[derive(Clone, Copy, Debug)]
struct Met {
    guard: Guard,
    /// Shift of its time (s).
    tau: f64,
    /// The station behind it.
    to: usize,
}

impl Walk {
    pub(super) fn new(dim: usize, count: usize) -> Self {
        Self {
            t: 0.0,
            stations: Vec::new(),
            used_stations: 0,
            ways: Vec::new(),
            used_ways: 0,
            repeat: Repeat::new(dim, count),
            scratch: vec![0.0; dim],
            mode: Mode::new(count),
            order: Vec::with_capacity(2 * count),
        }
    }

    pub(super) fn station(&self, i: usize) -> &Station {
        &self.stations[i]
    }

    pub(super) fn way(&self, i: usize) -> &Way {
        &self.ways[i]
    }

    /// Forgets the last corner and stands before `corner`, at station 0.
    pub(super) fn begin<S: Flow + EventFunction>(
        &mut self,
        ground: Ground<'_, S>,
        corner: &CornerPoint,
    ) -> Result<(), Error> {
        self.t = corner.t;
        self.used_stations = 0;
        self.used_ways = 0;
        self.order.clear();
        let root = self.new_station(corner.x.len(), corner.mode.len());
        let station = &mut self.stations[root];
        station.x.copy_from_slice(&corner.x);
        station.mode.copy_from(&corner.mode);
        station.moved = false;
        let (t, system) = (corner.t, ground.system);
        system.flow(t, &corner.x, &corner.mode, &mut station.field);
        probe::check_flow(&station.field, t, &corner.x)?;
        for &guard in &corner.guards {
            self.add_member(ground, root, guard)?;
        }
        Ok(())
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
                rows: Vec::new(),
                moved: false,
                first_way: None,
            });
        }
        let station = &mut self.stations[i];
        station.members.clear();
        station.rows.clear();
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
            rows,
            ..
        } = &mut self.stations[station];
        let (t, system, k) = (self.t, ground.system, guard.event);
        let from = rows.len();
        rows.resize(from + x.len(), 0.0);
        let row = &mut rows[from..];
        let moving = system.gradient(k, t, x, mode, row).unwrap_or_else(|| {
            let h = |t: f64, x: &[f64]| system.event(k, t, x, mode);
            difference::gradient(h, (t, x), row, &mut self.scratch)
        });
        let rate = moving + dot(row, field);
        if !rate.is_finite() || row.iter().any(|v| !v.is_finite()) {
            return Err(probe::not_finite(Quantity::Gradient { event: k }, t, x));
        }
        members.push(Member {
            guard,
            moving,
            rate,
        });
        Ok(())
    }

    /// The row `D_x h` of member `m`.
    pub(super) fn row(&self, station: usize, m: usize) -> &[f64] {
        let Station { x, rows, .. } = &self.stations[station];
        &rows[m * x.len()..(m + 1) * x.len()]
    }

    /// True when member `m` is crossed from this station: it moves across at its least rate at least.
    pub(super) fn is_live<S: EventFunction>(&self, system: &S, station: usize, m: usize) -> bool {
        let member = &self.stations[station].members[m];
        member.guard.sign() * member.rate >= system.least_rate(member.guard.event)
    }

    /// The way by which member `m` is crossed, found on first use.
    pub(super) fn follow<S: Flow + EventFunction>(
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
        let way = self.make_way(ground, from, m)?;
        let (to, twin) = (self.ways[way].to, self.twin(self.ways[way].to));
        if let Some(twin) = twin {
            self.ways[way].to = twin;
            debug_assert_eq!(to + 1, self.used_stations, "the newest station");
            self.used_stations -= 1;
        }
        Ok(way)
    }

    /// An earlier station that is the same: other orders of the same guards meet there.
    fn twin(&self, newest: usize) -> Option<usize> {
        let new = &self.stations[newest];
        self.stations[..newest].iter().position(|old| {
            old.mode.is(&new.mode)
                && old.x == new.x
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
        after.field.copy_from_slice(&before.field);
        let (t, x, mode) = (self.t, &after.x[..], &after.mode);
        let only_this = !done.moved && is_flip(&before.mode, mode, guard);
        if !(only_this && system.flip(t, x, mode, guard.event, &mut after.field)) {
            system.flow(t, x, mode, &mut after.field);
        }
        probe::check_flow(&after.field, t, x)?;
        for i in 0..dim {
            jump[i] -= after.field[i];
        }
        after.moved = before.moved || done.moved;
        let way_made = &mut self.ways[way];
        way_made.guard = guard;
        way_made.to = to;
        way_made.identity = done.identity;
        way_made.next = before.first_way.replace(way);
        self.hand_on_members(ground, (from, to), m, done.moved)?;
        Ok(way)
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
            let Member { guard, moving, .. } = self.stations[from].members[other];
            let (before, after) = self.stations.split_at_mut(to);
            let (before, after) = (&before[from], &mut after[0]);
            // Carried across by the reset, or retired: crossed already.
            let crossed = after.mode.contains(guard.event) == guard.side_after();
            if other == m || crossed {
                continue;
            }
            if keeps_rows {
                let dim = after.x.len();
                let row = &before.rows[other * dim..(other + 1) * dim];
                after.rows.extend_from_slice(row);
                let rate = moving + dot(row, &after.field);
                after.members.push(Member {
                    guard,
                    moving,
                    rate,
                });
            } else {
                self.add_member(ground, to, guard)?;
            }
        }
        if moved {
            let by = self.stations[from].members[m].guard;
            self.add_partner(ground, to, by)?;
        }
        Ok(())
    }

    /// After a reset that threw the state back, the way back over the same surface is a crossing of the same instant.
    fn add_partner<S: Flow + EventFunction>(
        &mut self,
        ground: Ground<'_, S>,
        to: usize,
        by: Guard,
    ) -> Result<(), Error> {
        let (system, k) = (ground.system, by.event);
        let station = &self.stations[to];
        let (t, x, mode) = (self.t, &station.x[..], &station.mode);
        let crossed = mode.contains(k) == by.side_after();
        if !(crossed && ground.rearm.arms_partner(by) && system.watch(k).is_any()) {
            return Ok(());
        }
        let row = &mut self.scratch;
        let rate = probe::rate(system, k, (t, x), mode, &station.field, row);
        let off = system.event(k, t, x, mode).abs() > zero(ground, k, t, rate);
        if off || by.partner().sign() * rate.value < system.least_rate(k) {
            return Ok(());
        }
        self.add_member(ground, to, by.partner())
    }

    /// Carries `delta` along a way, at whose crossing its time is shifted by `tau`: from the perturbation at fixed time in the
    /// old mode to that in the new one.
    pub(super) fn carry<S: Flow + EventFunction>(
        &mut self,
        ground: Ground<'_, S>,
        (from, way): (usize, usize),
        tau: &[f64],
        deltas: &mut [f64],
    ) -> Result<(), Error> {
        let Way {
            guard, identity, ..
        } = self.ways[way];
        if !identity {
            let station = &self.stations[from];
            let rate = station
                .members
                .iter()
                .find(|member| member.guard == guard)
                .map_or(f64::NAN, |member| member.rate);
            self.scratch.copy_from_slice(&station.x);
            self.mode.copy_from(&station.mode);
            self.repeat.cross(
                ground,
                self.t,
                CrossedGuard { guard, rate },
                (&mut self.scratch, &mut self.mode),
                Carried {
                    dt: 0.0,
                    dx: deltas,
                },
            )?;
        }
        let jump = &self.ways[way].jump;
        for (delta, tau) in deltas.chunks_exact_mut(jump.len()).zip(tau) {
            for i in 0..jump.len() {
                delta[i] += tau * jump[i];
            }
        }
        Ok(())
    }

    /// Shift of the time at which member `m` of a station is crossed, for a perturbation `delta` there (s).
    pub(super) fn shift(&self, station: usize, m: usize, delta: &[f64]) -> f64 {
        -dot(self.row(station, m), delta) / self.stations[station].members[m].rate
    }

    /// Carries `delta`, a perturbation at fixed time just before the corner, to one just after it (or, where a guard ends the
    /// run, at the end): always across the guard that is met first. The order found is left in `order`.
    pub(super) fn pass<S: Flow + EventFunction>(
        &mut self,
        ground: Ground<'_, S>,
        delta: &mut [f64],
    ) -> Result<Passed, Error> {
        self.order.clear();
        let mut station = 0;
        while let Some((m, tau)) = self.first_met(ground, station, delta)? {
            let guard = self.stations[station].members[m].guard;
            let way = self.follow(ground, station, m)?;
            self.carry(ground, (station, way), &[tau], delta)?;
            station = self.ways[way].to;
            self.order.push(Met {
                guard,
                tau,
                to: station,
            });
            let watch = ground.system.watch(guard.event);
            if watch.stop && watch.sees(guard.direction) {
                self.to_event(station, &[tau], delta);
                let stopped = true;
                return Ok(Passed { station, stopped });
            }
        }
        let stopped = false;
        Ok(Passed { station, stopped })
    }

    /// The guards in the order in which the last direction met them.
    pub(super) fn order_met(&self) -> Vec<Guard> {
        self.order.iter().map(|met| met.guard).collect()
    }

    /// Shift of the time of `guard` for the last direction; one that a reset carried the state across has the time of the
    /// crossing that did so. None when it was not crossed (s).
    pub(super) fn shift_of(&self, guard: Guard) -> Option<f64> {
        let met = self.order.iter().find(|met| met.guard == guard);
        let carried =
            |met: &&Met| self.stations[met.to].mode.contains(guard.event) == guard.side_after();
        met.or_else(|| self.order.iter().find(carried))
            .map(|met| met.tau)
    }

    /// The matrix of the piece that the last direction passed: the product of the saltation matrices along its order.
    pub(super) fn map_along_order<S: Flow + EventFunction>(
        &mut self,
        ground: Ground<'_, S>,
    ) -> Result<DMatrix<f64>, Error> {
        let dim = self.scratch.len();
        let mut map = DMatrix::identity(dim, dim);
        let mut station = 0;
        for taken in 0..self.order.len() {
            let guard = self.order[taken].guard;
            let members = &self.stations[station].members;
            let Some(m) = members.iter().position(|member| member.guard == guard) else {
                break;
            };
            let tau: Vec<f64> = (0..dim)
                .map(|j| self.shift(station, m, map.column(j).as_slice()))
                .collect();
            let way = self.follow(ground, station, m)?;
            self.carry(ground, (station, way), &tau, map.as_mut_slice())?;
            station = self.ways[way].to;
            let watch = ground.system.watch(guard.event);
            if watch.stop && watch.sees(guard.direction) {
                self.to_event(station, &tau, map.as_mut_slice());
            }
        }
        Ok(map)
    }

    /// From perturbations at fixed time to those at the event that ends the run, whose time shifts by `tau`.
    pub(super) fn to_event(&self, station: usize, tau: &[f64], deltas: &mut [f64]) {
        let field = &self.stations[station].field;
        for (delta, tau) in deltas.chunks_exact_mut(field.len()).zip(tau) {
            for i in 0..field.len() {
                delta[i] += tau * field[i];
            }
        }
    }

    /// The member of a station that `delta` meets first, with the shift of its time (s); none when all are crossed, or no
    /// other is reached after a reset.
    fn first_met<S: EventFunction>(
        &self,
        ground: Ground<'_, S>,
        station: usize,
        delta: &[f64],
    ) -> Result<Option<(usize, f64)>, Error> {
        let mut first: Option<(usize, f64)> = None;
        for m in 0..self.stations[station].members.len() {
            if !self.is_live(ground.system, station, m) {
                continue;
            }
            let tau = self.shift(station, m, delta);
            if first.is_none_or(|(_, least)| tau < least) {
                first = Some((m, tau));
            }
        }
        if first.is_none() {
            self.check_exit(ground.system, station)?;
        }
        Ok(first)
    }

    /// Refuses a station at which nothing more is crossed, though a guard is left that no reset turned away.
    pub(super) fn check_exit<S: EventFunction>(
        &self,
        system: &S,
        station: usize,
    ) -> Result<(), Error> {
        let Station {
            x, members, moved, ..
        } = &self.stations[station];
        match members.first() {
            Some(left) if !moved => Err(Error::NotLive {
                guard: left.guard,
                rate_before: left.rate,
                rate_after: f64::NAN,
                least_rate: system.least_rate(left.guard.event),
                t: self.t,
                state: x.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// True when a station is where the run itself went on: same mode, and same state to within rounding and the tolerance.
    pub(super) fn is_exit<S: EventFunction>(
        &self,
        ground: Ground<'_, S>,
        station: usize,
        corner: &CornerPoint,
    ) -> bool {
        let Station { x, mode, field, .. } = &self.stations[station];
        let largest = x.iter().fold(1.0, |most: f64, v| most.max(v.abs()));
        mode.is(&corner.mode_after)
            && (0..x.len()).all(|i| {
                let size = x[i].abs().max(corner.x[i].abs()).max(1e-3 * largest);
                let slack = 1e-9 * size + 2.0 * ground.tolerance * field[i].abs();
                (x[i] - corner.x_after[i]).abs() <= slack
            })
    }
}

/// True when `after` is `before` with the side of `guard` crossed and nothing else changed.
fn is_flip(before: &Mode, after: &Mode, guard: Guard) -> bool {
    let k = guard.event;
    let differ = |(a, b): (u64, u64)| (a ^ b).count_ones();
    before.contains(k) != after.contains(k)
        && before.words().zip(after.words()).map(differ).sum::<u32>() == 1
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
