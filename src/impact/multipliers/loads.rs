//! The multipliers that hold the loads of a mode, by coordinates of how contacts share them: a point, and what
//! changes no rate.

use nalgebra::{DMatrix, DVector};

use super::{ContactRates, Hold, Parts};
use crate::linalg::decompose::svd;
use crate::linalg::dot;
use crate::linalg::lu::SINGULAR;

/// Part of the loads by which equations may be off where contacts slip: slips in slightly
/// different directions make equations regular that are not, with multipliers beyond all bounds. What
/// margins gain by it is the square of this.
const OFF: f64 = 1e-5;

/// The quantities of a contact as functions of `(y, 1)`: `μ λ_n`, or `λ_n` of one that slips, and the
/// multipliers along its tangents; over `√(1 + μ²)`.
pub(super) type Cone = Vec<DVector<f64>>;

/// The multipliers that hold loads, by coordinates `y`.
#[derive(Default)]
pub(super) struct Loads {
    pub(super) cones: Vec<Cone>,
    /// Cost of leaving the equations along each coordinate; zero for those that move nothing.
    pub(super) stiffness: Vec<f64>,
    pub(super) unknowns: Vec<(usize, Parts)>,
    /// The multiplier of each unknown, by `(y, 1)`.
    pub(super) multipliers: Vec<DVector<f64>>,
}

impl ContactRates<'_> {
    /// The multipliers that hold the loads of a mode, in units of rows and of the loads; none where there
    /// is no decomposition. Those that change rates a little count too where these may be off.
    pub(super) fn loads(&self, holds: &[Hold], may_be_off: bool) -> Option<Loads> {
        let (r, own) = (self.rows(), |row: usize| self.own(row).sqrt());
        // Across a slip that begins its rate is held, by no multiplier of its own.
        let settled: Vec<Hold> = holds.iter().copied().map(Hold::settled).collect();
        let rows: Vec<(usize, Parts)> = self.prescribed(holds).collect();
        let unknowns: Vec<(usize, Parts)> = self.unknowns(&settled).collect();
        let above: Vec<f64> = rows.iter().map(|row| self.unit(row)).collect();
        let beside: Vec<f64> = unknowns.iter().map(|of| self.unit(of)).collect();
        let entry = |a: usize, b: usize| {
            let ((i, across), (j, along)) = (&rows[a], &unknowns[b]);
            let each = self.taken(*i, across).map(|(k, part)| {
                let row = &self.gram[k * r..(k + 1) * r];
                let pushed = self.taken(*j, along).map(|(l, by)| by * row[l]);
                part * pushed.sum::<f64>()
            });
            each.sum::<f64>() / (above[a] * beside[b])
        };
        let mut loads: Vec<f64> = rows.iter().map(|row| self.load(row)).collect();
        let size = dot(&loads, &loads).sqrt();
        if size > 0.0 {
            for load in &mut loads {
                *load /= size;
            }
        }
        let matrix = DMatrix::from_fn(rows.len(), unknowns.len(), entry);
        let found = svd(matrix, true, true)?;
        let least = SINGULAR * found.singular_values.max();
        let start = found.solve(&DVector::from_vec(loads), least).ok()?;
        let value = |k: usize| found.singular_values.get(k).copied().unwrap_or(0.0);
        let taken: Vec<usize> = (0..unknowns.len())
            .filter(|&k| may_be_off || value(k) <= least)
            .collect();
        let stiffness = |&k: &usize| match value(k) {
            value if value <= least => 0.0,
            value => (value / OFF).powi(2),
        };
        let stiffness = taken.iter().map(stiffness).collect();
        let turned = found.v_t.as_ref()?;
        let scaled = |b: usize, scale: f64| {
            let along = taken.iter().map(|&k| scale * turned[(k, b)]);
            DVector::from_iterator(taken.len() + 1, along.chain([scale * start[b]]))
        };
        // A multiplier by (y, 1), times the unit of its contact's normal over its own.
        let function = |b: usize| scaled(b, own(unknowns[b].0) / beside[b]);
        let mut cones: Vec<Cone> = Vec::with_capacity(holds.len());
        for (i, hold) in holds
            .iter()
            .enumerate()
            .filter(|(_, hold)| **hold != Hold::Open)
        {
            let mu = self.friction[i];
            let scale = 1.0 / 1.0f64.hypot(mu);
            let is_cone = *hold == Hold::Stick && self.tangents > 0;
            let own = unknowns.iter().enumerate().filter(|(_, (j, _))| *j == i);
            let of = own.map(|(b, (_, parts))| match (is_cone, parts[0] == 0.0) {
                (true, true) => function(b) * scale,
                (true, false) => function(b) * (mu * scale),
                (false, _) => function(b),
            });
            cones.push(of.collect());
        }
        let size = if size > 0.0 { size } else { 1.0 };
        let multiplier = |b: usize| scaled(b, size / beside[b]);
        let multipliers = (0..unknowns.len()).map(multiplier).collect();
        Some(Loads {
            cones,
            stiffness,
            unknowns,
            multipliers,
        })
    }

    /// The unit of a row or a multiplier: that of the row it is nearest to.
    pub(super) fn unit(&self, (i, parts): &(usize, Parts)) -> f64 {
        let along = parts.iter().position(|part| *part != 0.0);
        let root = self.own(self.row(*i, along.unwrap_or(0))).sqrt();
        if root > 0.0 { root } else { 1.0 }
    }

    /// The load of a row, in its unit.
    pub(super) fn load(&self, row: &(usize, Parts)) -> f64 {
        let each = self
            .taken(row.0, &row.1)
            .map(|(k, part)| -part * self.free[k]);
        each.sum::<f64>() / self.unit(row)
    }
}
