//! The complementarity problem of an impact with friction, as blocks (Halm & Posa, equations 72–75;
//! the printed 75b lacks some transposes).
//!
//! With the normal impulses `λ` of m contacts, the friction impulses `δ ≥ 0` along k directions a
//! contact, the least slip `γ` and the multiplier `β` of the bound `λ ≤ λmax`,
//!
//! ```text
//!         |  0   −I    0    0 |         | λmax |         | β |
//!     W = |  I   Ann  AnD   0 |     q = |  un  |     z = | λ |
//!         |  0   ADn  ADD   E |         | D'ut |         | δ |
//!         |  0    μ   −E'   0 |         |  0   |         | γ |
//! ```
//!
//! `A` is the Delassus matrix of normals and directions. In the plane the directions are + and −
//! the tangent; in space `d_j = (cos, sin)(2πj/k)`. Without bounds (Anitescu & Potra) the first row
//! and column of blocks are absent.

use nalgebra::{DMatrix, DMatrixView};

use crate::impact::ImpactProblem;
use crate::lcp;

/// The blocks of one impact, with and without bounds.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    contacts: usize,
    tangents: usize,
    /// `d_j` of each of the k directions.
    slopes: Vec<[f64; 2]>,
    /// Factors of the rows of the problem: normals, then tangents.
    scale: Vec<f64>,
    /// `W` with bounds.
    matrix: DMatrix<f64>,
}

/// Rows are scaled where one is larger or smaller than one by more than this factor.
const UNEVEN: f64 = 1024.0;

impl Blocks {
    /// With k directions a contact in space; the plane has 2, a problem without tangents none.
    ///
    /// If the size of a row of the problem (`√G_ii`) is a thousandth or a thousand, each row is
    /// scaled by a power of two: the residual of a solution would else say nothing of the smallest.
    pub(crate) fn new(problem: &ImpactProblem, directions: usize) -> Self {
        let (m, t) = (problem.contacts(), problem.tangents());
        let scale = row_scales(problem);
        let scaled = DMatrix::from_fn(scale.len(), scale.len(), |i, j| {
            scale[i] * problem.delassus()[(i, j)] * scale[j]
        });
        // λ = s λ' along each row, so that the cone of friction is another.
        let friction: Vec<f64> = (0..m)
            .map(|i| {
                let tangent = if t > 0 { scale[m + t * i] } else { 1.0 };
                problem.friction()[i] * scale[i] / tangent
            })
            .collect();
        Self {
            scale,
            ..Self::of(&scaled, &friction, directions)
        }
    }

    /// The blocks from a Delassus matrix and coefficients of friction.
    pub(crate) fn of(delassus: &DMatrix<f64>, friction: &[f64], directions: usize) -> Self {
        let m = friction.len();
        let t = delassus.nrows() / m.max(1) - 1;
        let slopes = slopes(t, directions);
        let k = slopes.len();
        let forces = m + k * m;
        let rows = force_rows(m, t, &slopes);
        let inner = &rows * delassus * rows.transpose();
        let n = m + forces + if k > 0 { m } else { 0 };
        let mut matrix = DMatrix::zeros(n, n);
        matrix.view_mut((m, m), (forces, forces)).copy_from(&inner);
        for i in 0..m {
            matrix[(i, m + i)] = -1.0;
            matrix[(m + i, i)] = 1.0;
            if k > 0 {
                let gamma = m + forces + i;
                matrix[(gamma, m + i)] = friction[i];
                for j in 0..k {
                    let delta = 2 * m + k * i + j;
                    matrix[(delta, gamma)] = 1.0;
                    matrix[(gamma, delta)] = -1.0;
                }
            }
        }
        Self {
            contacts: m,
            tangents: t,
            slopes,
            scale: vec![1.0; m + t * m],
            matrix,
        }
    }

    /// The factor of the speed of a normal.
    pub(crate) fn scale_of_normal(&self, contact: usize) -> f64 {
        self.scale[contact]
    }

    /// Unknowns of the problem with bounds: `(3 + k) m`.
    pub(crate) fn size(&self) -> usize {
        self.matrix.nrows()
    }

    /// `W` with bounds.
    pub(crate) fn bounded(&self) -> DMatrixView<'_, f64> {
        self.matrix.as_view()
    }

    /// `W` without bounds.
    pub(crate) fn unbounded(&self) -> DMatrix<f64> {
        let (m, n) = (self.contacts, self.size() - self.contacts);
        self.matrix.view((m, m), (n, n)).into_owned()
    }

    /// `q` with bounds.
    pub(crate) fn right_side(&self, most: &[f64], speeds: &[f64], q: &mut [f64]) {
        let (bounds, rest) = q.split_at_mut(self.contacts);
        for ((to, most), scale) in bounds.iter_mut().zip(most).zip(&self.scale) {
            *to = most / scale;
        }
        self.right_side_unbounded(speeds, rest);
    }

    /// `q` without bounds.
    pub(crate) fn right_side_unbounded(&self, speeds: &[f64], q: &mut [f64]) {
        let (m, t, k) = (self.contacts, self.tangents, self.slopes.len());
        q.fill(0.0);
        for (i, to) in q.iter_mut().enumerate().take(m) {
            *to = self.scale[i] * speeds[i];
        }
        for i in 0..m {
            let slip = &speeds[m + t * i..m + t * (i + 1)];
            for (j, slope) in self.slopes.iter().enumerate() {
                let along: f64 = slope.iter().zip(slip).map(|(d, u)| d * u).sum();
                q[m + k * i + j] = self.scale[m + t * i] * along;
            }
        }
    }

    /// The solution `z` of the problem with bounds whose impulses these are, in the plane: the
    /// multipliers follow from the speeds after them. `slack` gets `W z + q` and its residual is
    /// given.
    pub(crate) fn residual(
        &self,
        impulses: &[f64],
        q: &[f64],
        z: &mut [f64],
        slack: &mut [f64],
    ) -> f64 {
        let (m, k) = (self.contacts, self.slopes.len());
        z.fill(0.0);
        for i in 0..m {
            z[m + i] = impulses[i] / self.scale[i];
        }
        let pushes = impulses[m..].iter().zip(&self.scale[m..]);
        for (along, (push, scale)) in z[2 * m..].chunks_mut(k.max(1)).zip(pushes) {
            for (part, slope) in along.iter_mut().zip(&self.slopes) {
                *part = (slope[0] * push / scale).max(0.0);
            }
        }
        // Without multipliers the slack is the speeds along normals and directions.
        lcp::residual_in(self.bounded(), q, z, slack);
        for i in 0..m {
            z[i] = (-slack[m + i]).max(0.0);
            let along = &slack[2 * m + k * i..2 * m + k * (i + 1)];
            if let Some(least) = along.iter().copied().reduce(f64::min) {
                z[2 * m + k * m + i] = (-least).max(0.0);
            }
        }
        lcp::residual_in(self.bounded(), q, z, slack)
    }

    /// The impulses of a solution of the problem with bounds, or of one without from its start on.
    pub(crate) fn impulses(&self, z: &[f64], impulses: &mut [f64]) {
        let (m, t, k) = (self.contacts, self.tangents, self.slopes.len());
        let z = if z.len() == self.size() { &z[m..] } else { z };
        for i in 0..m {
            impulses[i] = self.scale[i] * z[i];
            let along = &z[m + k * i..m + k * (i + 1)];
            for axis in 0..t {
                let parts = self.slopes.iter().zip(along);
                let push: f64 = parts.map(|(d, part)| d[axis] * part).sum();
                impulses[m + t * i + axis] = self.scale[m + t * i] * push;
            }
        }
    }
}

/// Powers of two that bring the rows of a problem to size one; ones where they are near it. The
/// tangents of a contact have one.
fn row_scales(problem: &ImpactProblem) -> Vec<f64> {
    let (m, t) = (problem.contacts(), problem.tangents());
    let root = |i: usize| problem.delassus()[(i, i)].max(0.0).sqrt();
    let mut sizes: Vec<f64> = (0..m + t * m).map(root).collect();
    for along in sizes[m..].chunks_mut(t.max(1)) {
        let greatest = along.iter().copied().fold(0.0, f64::max);
        along.fill(greatest);
    }
    let mut positive = sizes.iter().filter(|&&size| size > 0.0);
    let is_even = positive.all(|size| (1.0 / UNEVEN..=UNEVEN).contains(size));
    let scale = |size: f64| {
        if is_even || size == 0.0 {
            1.0
        } else {
            (-size.log2().round()).exp2()
        }
    };
    sizes.into_iter().map(scale).collect()
}

/// The directions of friction of a contact, for a number of tangents.
pub(super) fn slopes(tangents: usize, directions: usize) -> Vec<[f64; 2]> {
    match tangents {
        0 => Vec::new(),
        1 => vec![[1.0, 0.0], [-1.0, 0.0]],
        _ => (0..directions).map(|j| unit(j, directions)).collect(),
    }
}

/// The rows of normals and directions by those of normals and tangents.
pub(super) fn force_rows(contacts: usize, t: usize, slopes: &[[f64; 2]]) -> DMatrix<f64> {
    let (m, k) = (contacts, slopes.len());
    let mut rows = DMatrix::zeros(m + k * m, m + t * m);
    for i in 0..m {
        rows[(i, i)] = 1.0;
        for (j, slope) in slopes.iter().enumerate() {
            for (axis, part) in slope.iter().enumerate().take(t) {
                rows[(m + k * i + j, m + t * i + axis)] = *part;
            }
        }
    }
    rows
}

/// Direction j of k, with exact zeros and ones.
fn unit(j: usize, k: usize) -> [f64; 2] {
    if (4 * j).is_multiple_of(k) {
        return [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]][4 * j / k % 4];
    }
    let (sin, cos) = (std::f64::consts::TAU * j as f64 / k as f64).sin_cos();
    [cos, sin]
}
