//! The derivative of the flow through one corner: of which kind it is (Burden et al., SIADS 15
//! (2016) 1227; Pace & Burden, section 4).

use nalgebra::{DMatrix, DVector};

use super::branches::{self, Branch};
use super::classify::{self, Judge};
use super::explorer::{Explorer, MOST_NUMBERS};
use super::graph::{CornerGraph, CornerPoint};
use super::rounding;
use crate::derivative::context::Context;
use crate::linalg::decompose::svd;
use crate::{Guard, Mode, NoDerivative, Stop};

/// Up to this many guards all orders are compared (on the lattice of their subsets); beyond, pairs
/// and a sample.
const COMPARE_ALL: usize = 12;
/// Up to this many guards the pieces are listed with their cones, and all orders of resets
/// compared.
pub(crate) const LIST_ALL: usize = 6;
/// Up to this many guards all pairs are compared, without resets and with them.
const COMPARE_PAIRS: [usize; 2] = [100, 24];

/// The derivative of the flow through a corner, several guards crossed at one instant.
///
/// Displacements are at fixed time: `δ` just before becomes `B(δ)` just after. `B` is positively
/// homogeneous. Along each order of the guards it is linear, a product of saltation matrices.
#[derive(Clone, Debug)]
pub struct CornerDerivative {
    pub(crate) point: CornerPoint,
    pub(crate) kind: CornerKind,
    /// Events closer in time than this are one there (s).
    tolerance: f64,
    /// The rounding of its maps, where it was measured.
    rounding: Option<DMatrix<f64>>,
    /// The shifts of the times of guards, as rows on displacements before it, where all orders have
    /// the same.
    time_rows: Vec<(Guard, DVector<f64>)>,
}

/// The kind of map that a corner makes of displacements. Orders that directions take only on a cone
/// thinner than about 1e-7 (rad, each component in a unit of its size) do not count.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CornerKind {
    /// One linear map, whatever the order of the guards, as far as they were compared.
    Linear {
        /// The map, `d × d`.
        matrix: DMatrix<f64>,
        /// The comparison that established it.
        compared: Compared,
    },
    /// Continuous and piecewise linear: each order of the guards has a linear map of its own on its
    /// cone of displacements. With resets and more than six guards continuity is looked for where
    /// two guards are met at once before all others, and beyond 24 guards not at all.
    PiecewiseLinear,
    /// The state or the mode after the corner depends on the order: outcomes jump. This includes
    /// outcomes that agree at the corner but not close to it: the maps of two orders differ on
    /// displacements that meet their guards at once.
    Discontinuous,
    /// The theory does not cover some order; the reason.
    NotGuaranteed(NoDerivative),
}

/// The orders of the guards of a corner that were compared and found to have one map.
///
/// The field after a corner may depend on the sides of all its guards in any way. With `n` guards
/// there are `2^n` modes, and modes that were not evaluated may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compared {
    /// All: a proof. Up to twelve guards (six with resets), as long as the maps kept on the way
    /// take no more than 256 MB.
    AllOrders,
    /// All pairs, and the orders of 64 directions: up to a hundred guards (24 with resets). Each
    /// guard met behind any one other has the map that it has when it is met first; these maps
    /// commute; and each of the 64 orders, with all the sets of guards on its way, has their
    /// product. This is a proof for systems in which guards interact only in pairs: fields and
    /// resets that add up. An interaction of three or more guards that cancels in each of these
    /// orders is not detected. [`Derivative::matrix`](crate::derivative::Derivative::matrix) gives
    /// the product, and the verdict is
    /// [`Verdict::Classical`](crate::derivative::Verdict::Classical);
    /// [`Derivative::apply`](crate::derivative::Derivative::apply) passes each direction by itself.
    Pairs,
    /// The orders of 64 directions. The verdict stays at
    /// [`Verdict::Bouligand`](crate::derivative::Verdict::Bouligand), and each direction is passed
    /// by itself.
    Sample,
}

impl CornerDerivative {
    /// Its time (s): that of the first crossing.
    pub fn t(&self) -> f64 {
        self.point.t
    }

    /// Its guards, in the order in which the run crossed them; without those that a reset crossed
    /// back at once. Guards within the corner tolerance that the run did not meet itself come last:
    /// resets turned the motion away from them, or carried the state across or off them.
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

    /// The kind of the map.
    pub fn kind(&self) -> &CornerKind {
        &self.kind
    }

    /// Its map, where all orders are proved to have it.
    pub(crate) fn proved(&self) -> Option<&DMatrix<f64>> {
        match &self.kind {
            CornerKind::Linear {
                matrix,
                compared: Compared::AllOrders,
            } => Some(matrix),
            _ => None,
        }
    }

    /// Its map, where all orders have it as far as pairs show.
    pub(crate) fn linear(&self) -> Option<&DMatrix<f64>> {
        match &self.kind {
            CornerKind::Linear {
                matrix,
                compared: Compared::AllOrders | Compared::Pairs,
            } => Some(matrix),
            _ => None,
        }
    }

    /// The row of the time shift of a guard, where all orders have the same.
    pub(crate) fn time_row(&self, guard: Guard) -> Option<&DVector<f64>> {
        let known = self.time_rows.iter().find(|(other, _)| *other == guard);
        known.map(|(_, row)| row)
    }

    /// Memory that it takes (bytes), without what depends on the number of its guards only.
    pub(crate) fn bytes(&self) -> usize {
        let matrix = match &self.kind {
            CornerKind::Linear { matrix, .. } => matrix.len(),
            _ => 0,
        };
        let kept = [&self.rounding, &self.point.reach].into_iter().flatten();
        let rounding: usize = kept.map(DMatrix::len).sum();
        let rows = self.point.x.len() * (3 + self.time_rows.len());
        size_of::<Self>() + size_of::<f64>() * (matrix + rounding + rows)
    }

    pub(crate) fn examine(
        context: Context<'_>,
        explorer: &mut Explorer,
        point: CornerPoint,
    ) -> Self {
        let mut corner = Self {
            point,
            kind: CornerKind::PiecewiseLinear,
            tolerance: context.tolerance,
            rounding: None,
            time_rows: Vec::new(),
        };
        corner.kind = corner
            .find_kind(context, explorer)
            .unwrap_or_else(CornerKind::NotGuaranteed);
        corner
    }

    pub(crate) fn branches(
        &self,
        context: Context<'_>,
        explorer: &mut Explorer,
    ) -> Result<Vec<Branch>, NoDerivative> {
        if self.point.guards.len() > LIST_ALL {
            return Err(NoDerivative::TooManyOrders {
                guards: self.point.guards.len(),
                limit: LIST_ALL,
                t: self.point.t,
            });
        }
        let context = Context {
            tolerance: self.tolerance,
            ..context
        };
        // Maps that are clearly different were distinguished without it.
        let measured = match &self.rounding {
            Some(_) => None,
            None if self.linear().is_some() => None,
            None => Some(rounding::of_maps(context, &self.point)?),
        };
        let rounding = measured.as_ref().or(self.rounding.as_ref());
        explorer.begin(context, &self.point)?;
        branches::branches(context, explorer, rounding, |explorer, passed| {
            explorer.is_exit(context, passed, &self.point)
        })
    }

    fn find_kind(
        &mut self,
        context: Context<'_>,
        explorer: &mut Explorer,
    ) -> Result<CornerKind, NoDerivative> {
        let n = self.point.guards.len();
        explorer.begin(context, &self.point)?;
        explorer.sizes.forget();
        let resets = n > 1 && any_reset(context, explorer, n)?;
        if resets {
            self.point.rounding = rounding::of_states(context, &self.point)?;
            explorer.begin(context, &self.point)?;
        }
        let most = if resets { LIST_ALL } else { COMPARE_ALL };
        if n > most || too_wide(n, self.point.x.len()) {
            return self.compare_some(context, explorer, resets);
        }
        let met = match classify::all_orders(context, explorer, &self.point) {
            Err(NoDerivative::Stop(Stop::Interrupted)) => {
                return Err(NoDerivative::Stop(Stop::Interrupted));
            }
            met => met,
        };
        let mut judge = Judge {
            context,
            point: &self.point,
            rounding: None,
        };
        let agree = match &met {
            Ok(found) => !found.jumps && judge.agrees(explorer, &found.excess)?,
            Err(_) => false,
        };
        let jumps = met.as_ref().is_ok_and(|found| found.jumps);
        if let Ok(found) = &met
            && !jumps
        {
            self.time_rows = found.times.clone().agreed(&explorer.sizes);
        }
        self.rounding = judge.rounding;
        if let Ok(classify::Comparison {
            matrix: Some(matrix),
            ..
        }) = &met
            && agree
        {
            let (matrix, compared) = (matrix.clone(), Compared::AllOrders);
            return Ok(CornerKind::Linear { matrix, compared });
        }
        // Without resets every order of independent guards is taken by some direction.
        let all_are_met =
            rows_are_independent(explorer.graph(), n) && !explorer.graph().has_resets();
        let is_clear = n > LIST_ALL || (all_are_met && !jumps);
        match met {
            Ok(_) if is_clear && jumps => return Ok(CornerKind::Discontinuous),
            Ok(_) if is_clear => return Ok(CornerKind::PiecewiseLinear),
            Err(error) if n > LIST_ALL => return Err(error),
            _ => {}
        }
        self.compare_branches(context, explorer)
    }

    /// Compares the orders that directions take: some of all orders may be met by no direction at
    /// all.
    fn compare_branches(
        &mut self,
        context: Context<'_>,
        explorer: &mut Explorer,
    ) -> Result<CornerKind, NoDerivative> {
        let rounding = match &self.rounding {
            Some(rounding) => rounding,
            None => self
                .rounding
                .insert(rounding::of_maps(context, &self.point)?),
        };
        explorer.begin(context, &self.point)?;
        let branches =
            branches::branches(context, explorer, Some(rounding), |explorer, passed| {
                explorer.is_exit(context, passed, &self.point)
            })?;
        let scale = explorer.map_scale(Some(rounding));
        let jumps = |b: &Branch| !b.is_nominal;
        if branches.iter().any(jumps) || !branches::is_continuous(&branches, &scale) {
            return Ok(CornerKind::Discontinuous);
        }
        match branches.split_first() {
            Some((first, others)) if others.iter().all(|b| b.class == first.class) => {
                let (matrix, compared) = (first.matrix.clone(), Compared::AllOrders);
                Ok(CornerKind::Linear { matrix, compared })
            }
            _ => Ok(CornerKind::PiecewiseLinear),
        }
    }

    /// Compares the orders of a sample of directions and, where these agree, pairs.
    fn compare_some(
        &mut self,
        context: Context<'_>,
        explorer: &mut Explorer,
        resets: bool,
    ) -> Result<CornerKind, NoDerivative> {
        let (n, dim) = (self.point.guards.len(), self.point.x.len());
        let mut judge = Judge {
            context,
            point: &self.point,
            rounding: None,
        };
        let found = classify::sample(explorer, &mut judge)?;
        if found.jumps {
            return Ok(CornerKind::Discontinuous);
        }
        let agree = judge.agrees(explorer, &found.excess)?;
        let few = n <= COMPARE_PAIRS[usize::from(resets)];
        if !agree && resets && few {
            let scale = explorer.map_scale(judge.rounding.as_ref());
            if !classify::pairs_are_continuous(context, explorer, &scale)? {
                return Ok(CornerKind::Discontinuous);
            }
        }
        let kind = match found.matrix {
            Some(map) if agree => {
                let mut times = found.times;
                let pairs = if few && n * dim * dim <= MOST_NUMBERS {
                    classify::pairs(context, explorer, &mut times)?
                } else {
                    None
                };
                let (matrix, compared) = match pairs {
                    Some((product, mut excess)) => {
                        excess.note(&product, &map);
                        if judge.agrees(explorer, &excess)? {
                            self.time_rows = times.agreed(&explorer.sizes);
                            (product, Compared::Pairs)
                        } else {
                            (map, Compared::Sample)
                        }
                    }
                    None => (map, Compared::Sample),
                };
                CornerKind::Linear { matrix, compared }
            }
            _ => CornerKind::PiecewiseLinear,
        };
        self.rounding = judge.rounding;
        Ok(kind)
    }
}

/// True when two levels of the lattice of `n` guards have more maps of `dim × dim` than are kept at
/// a time.
fn too_wide(n: usize, dim: usize) -> bool {
    let middle = n / 2;
    let binomial = |k: usize| (0..k).fold(1, |product, i| product * (n - i) / (i + 1));
    let maps = binomial(middle) + binomial(middle.saturating_sub(1));
    n > LIST_ALL && maps * dim * dim > MOST_NUMBERS
}

/// True when the crossing of some guard, met first, has a reset: then orders need not meet in the
/// subsets of the guards, nor their maps agree where two guards are met at once.
fn any_reset(
    context: Context<'_>,
    explorer: &mut Explorer,
    n: usize,
) -> Result<bool, NoDerivative> {
    explorer.graph().check_live(context.system, 0)?;
    for m in 0..n {
        let edge = explorer.edge(context, 0, m)?;
        if !explorer.graph().edge(edge).identity {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True when the gradients of the guards at the corner are linearly independent, whatever their
/// units.
fn rows_are_independent(graph: &CornerGraph, n: usize) -> bool {
    let dim = graph.dim();
    let mut rows = DMatrix::from_fn(n, dim, |k, i| graph.row(0, k)[i]);
    for mut row in rows.row_iter_mut() {
        let size = row.amax();
        if size == 0.0 {
            // It depends on time only: all displacements meet it at once.
            return false;
        }
        row /= size;
    }
    n <= dim && svd(rows, false, false).is_some_and(|found| found.rank(1e-6) == n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_levels_of_twelve_guards_fit_at_a_hundred_and_thirty_states() {
        assert!(!too_wide(12, 130) && too_wide(12, 150));
        assert!(!too_wide(10, 260) && too_wide(10, 280));
        // For few guards every order is compared.
        assert!(!too_wide(6, 100_000));
    }
}
