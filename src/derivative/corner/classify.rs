//! Do all orders of a corner have one map? Three answers, each as far as it goes.
//!
//! * [`all_orders`]: the guards crossed so far make a lattice of sets; where two orders of the same
//!   set meet, their maps must agree. `2^n` stations, `n 2^(n−1)` crossings, and no more than two
//!   levels of maps at a time. A proof.
//! * [`pairs`]: each guard behind each other one has the map that it has when it is met first, and
//!   each pair commutes. If that holds behind any set of others too, all orders have the product of
//!   these maps: write an order as a product, swap neighbours. `n²` crossings. Only sets of one are
//!   looked at, so that three guards that act together and not by pairs are not seen.
//! * [`sample`]: 64 directions, each passed in its own order through all its sets. What three or
//!   more guards do together shows in each order in which it does not cancel.

use crate::random::{symmetric, word};
use nalgebra::{DMatrix, DVector};

use super::follow::Passed;
use super::graph::{CornerPoint, Walk};
use super::map_scale::{Excess, MapScale, Sizes};
use super::region::shift_row;
use super::rounding;
use crate::derivative::repeat::Ground;
use crate::{Error, EventFunction, Flow, Guard};

/// Directions whose orders are compared at larger corners.
pub(crate) const SAMPLES: usize = 64;
/// Most numbers in the maps that are kept at a time, 256 MB: 2,330 maps of 120 × 120.
pub(crate) const MOST_NUMBERS: usize = 1 << 25;

/// What became of a comparison.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    /// The map of the first order.
    pub(crate) matrix: Option<DMatrix<f64>>,
    /// By how much those of others differ from it.
    pub(crate) excess: Excess,
    /// Outcomes differ.
    pub(crate) jumps: bool,
    pub(crate) times: TimeRows,
}

impl Comparison {
    fn new(dim: usize) -> Self {
        Self {
            matrix: None,
            excess: Excess::new(dim),
            jumps: false,
            times: TimeRows::default(),
        }
    }

    /// Takes in the map of one more order.
    fn note(&mut self, map: DMatrix<f64>) {
        match &self.matrix {
            Some(known) => self.excess.note(known, &map),
            None => self.matrix = Some(map),
        }
    }
}

/// The shift of the time of each guard as a row on displacements before the corner, as long as all
/// orders have the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimeRows {
    known: Vec<(Guard, DVector<f64>, DVector<f64>)>,
    /// In some order a guard is not met once.
    missing: bool,
}

impl TimeRows {
    fn note(&mut self, guard: Guard, row: &DVector<f64>) {
        let known = self.known.iter_mut().find(|(other, ..)| *other == guard);
        let Some((_, first, gap)) = known else {
            let none = DVector::zeros(row.len());
            self.known.push((guard, row.clone(), none));
            return;
        };
        for j in 0..row.len() {
            let more = (first[j] - row[j]).abs();
            if more.is_nan() || more > gap[j] {
                gap[j] = more;
            }
        }
    }

    /// Those on which all orders agree.
    pub(crate) fn agreed(self, sizes: &Sizes) -> Vec<(Guard, DVector<f64>)> {
        let agree = |gap: &DVector<f64>| (0..gap.len()).all(|j| gap[j] <= sizes.small_shift(j));
        let agreed = self.known.into_iter().filter(|(.., gap)| agree(gap));
        if self.missing {
            return Vec::new();
        }
        agreed.map(|(guard, row, _)| (guard, row)).collect()
    }
}

/// Compares the maps of all orders, also of those that no direction takes.
pub(crate) fn all_orders<S: Flow + EventFunction>(
    ground: Ground<'_, S>,
    walk: &mut Walk,
    point: &CornerPoint,
) -> Result<Comparison, Error> {
    let (n, dim) = (point.guards.len(), point.x.len());
    let mut found = Comparison::new(dim);
    let start = DMatrix::identity(dim, dim);
    walk.sizes.note_entries(&start);
    // Stations are found level by level: of the maps behind `k` and `k + 1` guards none is needed
    // any more when its turn is over.
    let (mut maps, mut kept) = (vec![Some(start)], 1);
    let mut station = 0;
    while station < maps.len() {
        let Some(map) = maps[station].take() else {
            station += 1;
            continue;
        };
        kept -= 1;
        walk.check_live(ground.system, station)?;
        let members = walk.station(station).members.len();
        found.times.missing |= members + walk.station(station).level != n;
        let mut is_end = true;
        for m in 0..members {
            if !walk.is_live(ground.system, station, m) {
                continue;
            }
            is_end = false;
            let tau = shift_row(walk, station, m, &map);
            let guard = walk.station(station).members[m].guard;
            found.times.note(guard, &tau);
            let way = walk.follow(ground, station, m)?;
            let mut next = map.clone();
            walk.carry(ground, (station, way), tau.as_slice(), next.as_mut_slice())?;
            walk.sizes.note_entries(&next);
            let to = walk.way(way).to;
            if walk.way(way).stops {
                let passed = Passed {
                    station: to,
                    stopped: true,
                };
                found.jumps |= !walk.is_exit(ground, passed, point);
                walk.to_event(to, tau.as_slice(), next.as_mut_slice());
                found.note(next);
                continue;
            }
            if to <= station {
                // Back where it was before.
                return Err(walk.no_end(to, guard));
            }
            if to >= maps.len() {
                maps.resize(to + 1, None);
            }
            if let Some(known) = &maps[to] {
                found.excess.note(known, &next);
                continue;
            }
            maps[to] = Some(next);
            kept += 1;
            if kept * dim * dim > MOST_NUMBERS {
                return Err(walk.too_large("numbers in their maps", MOST_NUMBERS));
            }
        }
        if is_end {
            let passed = Passed {
                station,
                stopped: false,
            };
            found.jumps |= !walk.is_exit(ground, passed, point);
            found.note(map);
        }
        station += 1;
    }
    Ok(found)
}

/// Tells maps that differ from maps that are rounded: what is rounding is measured when it matters,
/// and kept.
pub(crate) struct Judge<'a, S> {
    pub(crate) ground: Ground<'a, S>,
    pub(crate) point: &'a CornerPoint,
    pub(crate) rounding: Option<DMatrix<f64>>,
}

impl<S: Flow + EventFunction> Judge<'_, S> {
    /// True when what maps differ by is rounding.
    pub(crate) fn agrees(&mut self, walk: &Walk, excess: &Excess) -> Result<bool, Error> {
        if excess.is_within(&MapScale::of(walk, self.rounding.as_ref())) {
            return Ok(true);
        }
        if self.rounding.is_some() {
            return Ok(false);
        }
        let measured = rounding::of_maps(self.ground, self.point)?;
        let scale = MapScale::of(walk, Some(&measured));
        self.rounding = Some(measured);
        Ok(excess.is_within(&scale))
    }
}

/// Compares the maps of the orders that a sample of directions takes, and their outcomes. Maps are
/// no longer compared once two differ.
pub(crate) fn sample<S: Flow + EventFunction>(
    walk: &mut Walk,
    judge: &mut Judge<'_, S>,
) -> Result<Comparison, Error> {
    let (ground, point) = (judge.ground, judge.point);
    let (n, dim) = (point.guards.len(), point.x.len());
    let mut found = Comparison::new(dim);
    for sample in 0..SAMPLES {
        walk.again();
        let mut delta = DVector::from_fn(dim, |i, _| symmetric(word(sample as u64, i as u64)));
        let passed = walk.pass(ground, delta.as_mut_slice())?;
        if !walk.is_exit(ground, passed, point) {
            found.jumps = true;
            return Ok(found);
        }
        if found.matrix.is_some() && !judge.agrees(walk, &found.excess)? {
            continue;
        }
        found.times.missing |= walk.order.len() != n;
        let times = &mut found.times;
        let map = walk.map_along_order(ground, |guard, tau| times.note(guard, tau))?;
        found.note(map);
    }
    Ok(found)
}

/// Compares the maps of the two orders of each pair of guards with each other and with those that
/// the guards have when they are met first; takes the time rows in. The product of the maps of all
/// guards, and by how much pairs differ; none when a guard is not met behind another, or ends the
/// run.
pub(crate) fn pairs<S: Flow + EventFunction>(
    ground: Ground<'_, S>,
    walk: &mut Walk,
    times: &mut TimeRows,
) -> Result<Option<(DMatrix<f64>, Excess)>, Error> {
    let dim = walk.station(0).x.len();
    let n = walk.station(0).members.len();
    let mut excess = Excess::new(dim);
    walk.again();
    let one = DMatrix::identity(dim, dim);
    let mut first = Vec::with_capacity(n);
    for k in 0..n {
        first.push(cross(ground, walk, (0, k), &one, |_, _| {})?);
    }
    let mut product = one;
    for k in 0..n {
        product = cross(ground, walk, (0, k), &product, |_, _| {})?;
    }
    for i in 0..n {
        walk.again();
        let way = walk.follow(ground, 0, i)?;
        let behind = walk.way(way).to;
        let others = walk.station(behind).members.len();
        if walk.way(way).stops || others + 1 != n {
            return Ok(None);
        }
        walk.check_live(ground.system, behind)?;
        for m in 0..others {
            if !walk.is_live(ground.system, behind, m) {
                return Ok(None);
            }
            let guard = walk.station(behind).members[m].guard;
            let own = (0..n).find(|&k| walk.station(0).members[k].guard == guard);
            let Some(k) = own else { return Ok(None) };
            let met = cross(ground, walk, (behind, m), &first[i], |guard, tau| {
                times.note(guard, tau);
            })?;
            let alike = cross(ground, walk, (0, k), &first[i], |_, _| {})?;
            excess.note(&met, &alike);
            if k < i {
                let other = cross(ground, walk, (0, i), &first[k], |_, _| {})?;
                excess.note(&other, &alike);
            }
        }
    }
    Ok(Some((product, excess)))
}

/// True when the two orders of each pair of guards that are met first have one map on displacements
/// that meet the two at once.
pub(crate) fn pairs_are_continuous<S: Flow + EventFunction>(
    ground: Ground<'_, S>,
    walk: &mut Walk,
    scale: &MapScale,
) -> Result<bool, Error> {
    let dim = walk.station(0).x.len();
    let n = walk.station(0).members.len();
    walk.again();
    let one = DMatrix::identity(dim, dim);
    for i in 0..n {
        for k in 0..i {
            walk.again();
            let mut rows = Vec::with_capacity(2);
            let mut behind = Vec::with_capacity(2);
            for (early, late) in [(i, k), (k, i)] {
                let mut row = DVector::zeros(dim);
                let map = cross(ground, walk, (0, early), &one, |_, tau| row.copy_from(tau))?;
                rows.push(row);
                let way = walk.follow(ground, 0, early)?;
                let (to, guard) = (walk.way(way).to, walk.station(0).members[late].guard);
                let mut members = walk.station(to).members.iter();
                let Some(m) = members.position(|member| member.guard == guard) else {
                    break;
                };
                if walk.way(way).stops || !walk.is_live(ground.system, to, m) {
                    break;
                }
                behind.push(cross(ground, walk, (to, m), &map, |_, _| {})?);
            }
            if let ([a, b], [ab, ba]) = (&rows[..], &behind[..])
                && !scale.agree_on(&(a - b), ab, ba)
            {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The map behind the crossing of member `m` of a station, to which `map` leads; `tell` is told the
/// row of its time shift.
fn cross<S: Flow + EventFunction>(
    ground: Ground<'_, S>,
    walk: &mut Walk,
    (station, m): (usize, usize),
    map: &DMatrix<f64>,
    tell: impl FnOnce(Guard, &DVector<f64>),
) -> Result<DMatrix<f64>, Error> {
    let tau = shift_row(walk, station, m, map);
    tell(walk.station(station).members[m].guard, &tau);
    let way = walk.follow(ground, station, m)?;
    let mut next = map.clone();
    walk.carry(ground, (station, way), tau.as_slice(), next.as_mut_slice())?;
    Ok(next)
}
