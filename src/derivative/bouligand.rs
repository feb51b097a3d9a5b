//! The derivative of the flow through one corner: of which kind it is (spec 7; Burden et al., SIADS 15 (2016) 1227;
//! Pace & Burden, section 4).

use nalgebra::{DMatrix, DVector};

use super::cone::decompose;
use super::pass::Passed;
use super::region::{self, Region, agree, shift_row};
use super::repeat::Ground;
use super::walk::{CornerPoint, Walk};
use crate::{Error, EventFunction, Flow, Guard, Mode};

/// Up to this many guards all orders are compared (on the lattice of their subsets); beyond, a sample.
const COMPARE_ALL: usize = 10;
/// Up to this many guards the pieces are listed with their cones.
pub(super) const LIST_ALL: usize = 6;
/// Directions whose orders are compared at larger corners.
const SAMPLES: u64 = 64;

/// How a displacement passes a corner, several guards crossed at one instant.
///
/// Displacements are at fixed time: `δ` just before becomes `B(δ)` just after. `B` is positively homogeneous. Along each order
/// of the guards it is linear, a product of saltation matrices.
#[derive(Clone, Debug)]
pub struct CornerDerivative {
    pub(super) point: CornerPoint,
    pub(super) kind: CornerKind,
}

/// What kind of map a corner makes of displacements.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CornerKind {
    /// One linear map, whatever the order of the guards.
    Linear {
        /// The map, `d × d`.
        matrix: DMatrix<f64>,
        /// True when all orders were compared. False when a sample of directions was, all with this map (more than ten guards,
        /// or more than six with resets): then the verdict stays at [`Verdict::Bouligand`](super::Verdict::Bouligand), and each
        /// direction is passed by itself.
        all_orders: bool,
    },
    /// Continuous and piecewise linear: each order of the guards has a linear map of its own on its cone of displacements.
    PiecewiseLinear,
    /// The state or the mode behind the corner differs with the order: outcomes jump. Also where they agree in the corner itself
    /// but not close by: the maps of two orders differ on displacements that meet their guards at once.
    Discontinuous,
    /// Some order is not covered by the theory; the reason.
    NotGuaranteed(Error),
}

impl CornerDerivative {
    /// Its time (s): that of the first crossing.
    pub fn time(&self) -> f64 {
        self.point.t
    }

    /// Its guards, in the order in which the run crossed them; without those that a reset crossed back at once.
    pub fn guards(&self) -> &[Guard] {
        &self.point.guards
    }

    /// The state on the guards, before any crossing.
    pub fn state(&self) -> DVector<f64> {
        DVector::from_column_slice(&self.point.x)
    }

    /// The mode before.
    pub fn mode(&self) -> &Mode {
        &self.point.mode
    }

    /// What kind of map it is.
    pub fn kind(&self) -> &CornerKind {
        &self.kind
    }

    /// Its map, where it is known to have one for all displacements.
    pub(super) fn linear(&self) -> Option<&DMatrix<f64>> {
        match &self.kind {
            CornerKind::Linear {
                matrix,
                all_orders: true,
            } => Some(matrix),
            _ => None,
        }
    }

    pub(super) fn examine<S: Flow + EventFunction>(
        ground: Ground<'_, S>,
        walk: &mut Walk,
        point: CornerPoint,
    ) -> Self {
        let kind = kind(ground, walk, &point).unwrap_or_else(CornerKind::NotGuaranteed);
        Self { point, kind }
    }

    pub(super) fn regions<S: Flow + EventFunction>(
        &self,
        ground: Ground<'_, S>,
        walk: &mut Walk,
    ) -> Result<Vec<Region>, Error> {
        if self.point.guards.len() > LIST_ALL {
            return Err(Error::TooManyOrders {
                guards: self.point.guards.len(),
                limit: LIST_ALL,
                t: self.point.t,
            });
        }
        walk.begin(ground, &self.point)?;
        region::regions(ground, walk, |walk, passed| {
            walk.is_exit(ground, passed, &self.point)
        })
    }
}

fn kind<S: Flow + EventFunction>(
    ground: Ground<'_, S>,
    walk: &mut Walk,
    point: &CornerPoint,
) -> Result<CornerKind, Error> {
    let n = point.guards.len();
    walk.begin(ground, point)?;
    walk.forget_entries();
    if n > COMPARE_ALL || (n > LIST_ALL && any_reset(ground, walk, n)?) {
        return by_sample(ground, walk, point);
    }
    let met = compare_orders(ground, walk, point);
    if let Ok(Orders::Agree(matrix)) = met {
        let all_orders = true;
        return Ok(CornerKind::Linear { matrix, all_orders });
    }
    // Without resets all orders of independent guards are met by some direction: each guard's time can be chosen.
    let all_are_met = || rows_are_independent(walk, n) && !walk.has_moved();
    if n > LIST_ALL || matches!(met, Ok(Orders::Differ) if all_are_met()) {
        return Ok(match met? {
            Orders::Differ => CornerKind::PiecewiseLinear,
            _ => CornerKind::Discontinuous,
        });
    }
    // Some of the orders compared may be met by no direction at all.
    walk.begin(ground, point)?;
    let regions = region::regions(ground, walk, |walk, passed| {
        walk.is_exit(ground, passed, point)
    })?;
    let jumps = |r: &Region| !r.is_nominal;
    if regions.iter().any(jumps) || !region::is_continuous(&regions, &walk.natural_size()) {
        return Ok(CornerKind::Discontinuous);
    }
    match regions.split_first() {
        Some((first, others)) if others.iter().all(|r| r.class == first.class) => {
            let (matrix, all_orders) = (first.matrix.clone(), true);
            Ok(CornerKind::Linear { matrix, all_orders })
        }
        _ => Ok(CornerKind::PiecewiseLinear),
    }
}

/// True when the crossing of some guard, met first, changes the state: then orders do not meet in the subsets of the guards.
fn any_reset<S: Flow + EventFunction>(
    ground: Ground<'_, S>,
    walk: &mut Walk,
    n: usize,
) -> Result<bool, Error> {
    for m in 0..n {
        let way = walk.follow(ground, 0, m)?;
        if walk.station(walk.way(way).to).moved {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True when the gradients of the guards at the corner are linearly independent, whatever their units.
fn rows_are_independent(walk: &Walk, n: usize) -> bool {
    let dim = walk.station(0).x.len();
    let mut rows = DMatrix::from_fn(n, dim, |k, i| walk.row(0, k)[i]);
    for mut row in rows.row_iter_mut() {
        let size = row.amax();
        if size == 0.0 {
            // It reads only the time: all displacements meet it at once.
            return false;
        }
        row /= size;
    }
    n <= dim && decompose(rows, false).is_some_and(|svd| svd.rank(1e-6) == n)
}

enum Orders {
    /// All orders have this map.
    Agree(DMatrix<f64>),
    /// Maps differ, outcomes do not.
    Differ,
    /// Outcomes differ.
    Jump,
}

/// Compares the maps of all orders, also of those that no direction takes: where two orders of the same guards meet, their maps
/// must agree, so that each subset of the guards is looked at once.
fn compare_orders<S: Flow + EventFunction>(
    ground: Ground<'_, S>,
    walk: &mut Walk,
    point: &CornerPoint,
) -> Result<Orders, Error> {
    let dim = point.x.len();
    let start = DMatrix::identity(dim, dim);
    walk.note_entries(&start);
    let mut maps = vec![Some(start)];
    let (mut exit, mut jumps): (Option<DMatrix<f64>>, _) = (None, false);
    // Sizes are known when all stations are: maps that differ are compared in the end.
    let mut meetings: Vec<(DMatrix<f64>, DMatrix<f64>)> = Vec::new();
    let mut station = 0;
    while station < maps.len() {
        let Some(map) = maps[station].clone() else {
            station += 1;
            continue;
        };
        walk.check_live(ground.system, station)?;
        let members = walk.station(station).members.len();
        let mut is_end = true;
        for m in 0..members {
            if !walk.is_live(ground.system, station, m) {
                continue;
            }
            is_end = false;
            let tau = shift_row(walk, station, m, &map);
            let way = walk.follow(ground, station, m)?;
            let mut next = map.clone();
            walk.carry(ground, (station, way), tau.as_slice(), next.as_mut_slice())?;
            walk.note_entries(&next);
            let to = walk.way(way).to;
            if walk.way(way).stops {
                let passed = Passed {
                    station: to,
                    stopped: true,
                };
                jumps |= !walk.is_exit(ground, passed, point);
                walk.to_event(to, tau.as_slice(), next.as_mut_slice());
                if let Some(exit) = exit.replace(next.clone()) {
                    meetings.push((exit, next));
                }
                continue;
            }
            if to >= maps.len() {
                maps.resize(to + 1, None);
            }
            match &maps[to] {
                Some(known) if *known != next => meetings.push((known.clone(), next)),
                Some(_) => {}
                None => maps[to] = Some(next),
            }
        }
        if is_end {
            let passed = Passed {
                station,
                stopped: false,
            };
            jumps |= !walk.is_exit(ground, passed, point);
            if let Some(exit) = exit.replace(map.clone()) {
                meetings.push((exit, map));
            }
        }
        station += 1;
    }
    let natural = walk.natural_size();
    let agrees = meetings.iter().all(|(a, b)| agree(a, b, &natural));
    Ok(match exit {
        _ if jumps => Orders::Jump,
        Some(matrix) if agrees => Orders::Agree(matrix),
        _ => Orders::Differ,
    })
}

/// Compares the maps of the orders that a sample of directions takes.
fn by_sample<S: Flow + EventFunction>(
    ground: Ground<'_, S>,
    walk: &mut Walk,
    point: &CornerPoint,
) -> Result<CornerKind, Error> {
    let dim = point.x.len();
    let mut first: Option<DMatrix<f64>> = None;
    let mut differ = false;
    for sample in 0..SAMPLES {
        let direction = DVector::from_fn(dim, |i, _| draw(sample, i as u64));
        let mut delta = direction.clone();
        let passed = walk.pass(ground, delta.as_mut_slice())?;
        if !walk.is_exit(ground, passed, point) {
            return Ok(CornerKind::Discontinuous);
        }
        let matrix = walk.map_along_order(ground)?;
        match &first {
            None => first = Some(matrix),
            Some(known) => differ |= !agree(known, &matrix, &walk.natural_size()),
        }
    }
    if differ {
        return Ok(CornerKind::PiecewiseLinear);
    }
    let all_orders = false;
    Ok(
        first.map_or(CornerKind::PiecewiseLinear, |matrix| CornerKind::Linear {
            matrix,
            all_orders,
        }),
    )
}

/// Component `i` of direction `sample`: a number in [−1, 1) that depends on nothing else (the finaliser of `SplitMix64`).
fn draw(sample: u64, i: u64) -> f64 {
    let key = sample.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ i.wrapping_mul(0xd1b5_4a32_d192_ed03);
    let state = (key ^ key >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    let bits = (state ^ state >> 31) >> 11;
    bits as f64 * f64::EPSILON - 1.0
}
