//! Random small problems as plain data, and their cost in dense matrices by the paper's form of the
//! law (projection onto the cone in the norm of `R`), to check the solver against.

use nalgebra::{DMatrix, DVector};
use saltation::compliant::{Problem, RowLaw, Softness};
use saltation::mechanics::ContactParameters;

use crate::random::SplitMix64;

/// Rows in one tree.
pub(crate) type Block = (usize, Vec<f64>);

/// A problem as data.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) dt: f64,
    pub(crate) softness: Softness,
    /// `A` by rows and `v*` of each tree.
    pub(crate) trees: Vec<(Vec<f64>, Vec<f64>)>,
    pub(crate) contacts: Vec<(ContactParameters, Vec<Block>)>,
    pub(crate) rows: Vec<(RowLaw, Vec<Block>)>,
    pub(crate) guess: Vec<f64>,
    /// The start velocities and the slip, where friction lags.
    pub(crate) lagged: Option<(Vec<f64>, f64)>,
    /// Coulomb's law in the place of the cone.
    pub(crate) coulomb: bool,
}

/// What samples look like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) trees: usize,
    pub(crate) contacts: usize,
    pub(crate) rows: usize,
    /// Decades of masses and of stiffnesses.
    pub(crate) masses: (f64, f64),
    pub(crate) stiffness: (f64, f64),
    pub(crate) near_rigid: f64,
    pub(crate) stiction: f64,
    /// Contacts have spinning and rolling friction, of Coulomb's law.
    pub(crate) turns: bool,
}

impl Default for Kind {
    fn default() -> Self {
        Self {
            trees: 3,
            contacts: 6,
            rows: 2,
            masses: (-0.5, 0.5),
            stiffness: (2.0, 7.0),
            near_rigid: 1.0,
            stiction: 1e-3,
            turns: false,
        }
    }
}

/// A symmetric positive definite block, by rows.
pub(crate) fn inertia(draw: &mut SplitMix64, width: usize, mass: f64) -> Vec<f64> {
    let root = DMatrix::from_fn(width, width, |_, _| draw.between(-1.0, 1.0));
    let block = (&root * root.transpose() + DMatrix::identity(width, width)) * mass;
    // exactly symmetric
    let block = (&block + block.transpose()) * 0.5;
    block.as_slice().to_vec()
}

impl Sample {
    pub(crate) fn draw(draw: &mut SplitMix64, kind: &Kind) -> Self {
        let below = |draw: &mut SplitMix64, n: usize| draw.permutation(n)[0];
        let mut softness = Softness::default();
        (softness.near_rigid, softness.stiction) = (kind.near_rigid, kind.stiction);
        let mut sample = Self {
            dt: 0.01,
            softness,
            trees: Vec::new(),
            contacts: Vec::new(),
            rows: Vec::new(),
            guess: Vec::new(),
            lagged: None,
            coulomb: false,
        };
        for _ in 0..kind.trees {
            let width = [1, 3, 6, 6, 2][below(draw, 5)];
            let mass = 10f64.powf(draw.between(kind.masses.0, kind.masses.1));
            let free = (0..width).map(|_| draw.between(-1.0, 1.0)).collect();
            sample.trees.push((inertia(draw, width, mass), free));
        }
        for i in 0..kind.contacts {
            let mut parameters = ContactParameters::new(i, draw.between(-0.02, 0.005));
            parameters.stiffness = 10f64.powf(draw.between(kind.stiffness.0, kind.stiffness.1));
            parameters.dissipation_time = draw.between(0.0, 0.03);
            parameters.friction =
                [0.0, draw.between(0.1, 1.0), draw.between(1.0, 4.0)][below(draw, 3)];
            let mut height = 3;
            if kind.turns {
                let mut length = || [0.0, draw.between(0.01, 0.5)][below(draw, 2)];
                (parameters.spinning_friction, parameters.rolling_friction) = (length(), length());
                if parameters.spinning_friction + parameters.rolling_friction > 0.0 {
                    height = 6;
                }
            }
            let blocks = sample.blocks(draw, height);
            sample.contacts.push((parameters, blocks));
        }
        for _ in 0..kind.rows {
            let bounds = [
                (f64::NEG_INFINITY, f64::INFINITY),
                (0.0, f64::INFINITY),
                (-0.1, 0.05),
            ];
            let (low, high) = bounds[below(draw, 3)];
            let law = RowLaw {
                regularisation: 10f64.powf(draw.between(-3.0, 1.0)),
                target: draw.between(-1.0, 1.0),
                low,
                high,
            };
            let blocks = sample.blocks(draw, 1);
            sample.rows.push((law, blocks));
        }
        sample.guess = (0..sample.dof()).map(|_| draw.between(-1.0, 1.0)).collect();
        sample
    }

    /// Rows in one or two trees.
    fn blocks(&self, draw: &mut SplitMix64, height: usize) -> Vec<Block> {
        let mut order = draw.permutation(self.trees.len());
        order.truncate(if draw.unit() < 0.5 { 1 } else { 2 });
        let mut block = |tree: usize| {
            let size = height * self.trees[tree].1.len();
            (tree, (0..size).map(|_| draw.between(-1.0, 1.0)).collect())
        };
        order.into_iter().map(&mut block).collect()
    }

    pub(crate) fn dof(&self) -> usize {
        self.trees.iter().map(|(_, free)| free.len()).sum()
    }

    fn start(&self, tree: usize) -> usize {
        self.trees[..tree].iter().map(|(_, free)| free.len()).sum()
    }

    pub(crate) fn build(&self) -> Problem {
        let mut problem = Problem::new(self.dt).expect("dt");
        problem.reset(self.dt, self.softness).expect("softness");
        for (block, free) in &self.trees {
            problem.add_tree(block, free).expect("tree");
        }
        let borrowed = |blocks: &[Block]| -> Vec<(usize, Vec<f64>)> { blocks.to_vec() };
        for (parameters, blocks) in &self.contacts {
            let blocks = borrowed(blocks);
            let blocks: Vec<(usize, &[f64])> = blocks.iter().map(|(t, j)| (*t, &j[..])).collect();
            problem.add_contact(parameters, &blocks).expect("contact");
        }
        for (law, blocks) in &self.rows {
            let blocks = borrowed(blocks);
            let blocks: Vec<(usize, &[f64])> = blocks.iter().map(|(t, j)| (*t, &j[..])).collect();
            problem.add_row(*law, &blocks).expect("row");
        }
        if let Some((v0, slip)) = &self.lagged {
            problem.lag_friction(v0, *slip).expect("lagged");
        }
        if self.coulomb {
            problem.coulomb(&self.guess).expect("velocities");
        }
        problem
    }

    pub(crate) fn dense(&self) -> Dense {
        let n = self.dof();
        let mut a = DMatrix::zeros(n, n);
        let mut free = DVector::zeros(n);
        for (tree, (block, v)) in self.trees.iter().enumerate() {
            let (start, width) = (self.start(tree), v.len());
            let block = DMatrix::from_row_slice(width, width, block);
            a.view_mut((start, start), (width, width)).copy_from(&block);
            free.rows_mut(start, width).copy_from_slice(v);
        }
        let rows = |blocks: &[Block], height: usize| {
            let mut j = DMatrix::zeros(height, n);
            for (tree, entries) in blocks {
                let (start, width) = (self.start(*tree), self.trees[*tree].1.len());
                for (r, row) in entries.chunks_exact(width).enumerate() {
                    for (k, entry) in row.iter().enumerate() {
                        j[(r, start + k)] += entry;
                    }
                }
            }
            j
        };
        let inverse = a.clone().cholesky().expect("positive definite").inverse();
        let contacts = self.contacts.iter().map(|(parameters, blocks)| {
            let all = rows(blocks, 6);
            let (j, turns) = (all.rows(0, 3).into_owned(), all.rows(3, 3).into_owned());
            let w = (&j * &inverse * j.transpose()).norm() / 3.0;
            let of_turns = (&turns * &inverse * turns.transpose()).norm() / 3.0;
            let softness = self.softness;
            let time = self.dt + parameters.dissipation_time;
            let floor = (softness.near_rigid / (2.0 * std::f64::consts::PI)).powi(2) * w;
            Cone {
                j,
                mu: parameters.friction,
                normal: floor.max(1.0 / (self.dt * parameters.stiffness * time)),
                tangential: softness.stiction * w,
                v_hat: -parameters.gap / time,
                turns,
                rotational: softness.stiction * of_turns,
                lengths: [parameters.spinning_friction, parameters.rolling_friction],
            }
        });
        Dense {
            contacts: contacts.collect(),
            rows: self
                .rows
                .iter()
                .map(|(law, blocks)| (*law, rows(blocks, 1)))
                .collect(),
            a,
            free,
            lagged: self
                .lagged
                .as_ref()
                .map(|(v0, slip)| (v0.clone().into(), *slip)),
        }
    }
}

/// A contact in dense form.
#[derive(Clone, Debug)]
pub(crate) struct Cone {
    pub(crate) j: DMatrix<f64>,
    pub(crate) mu: f64,
    pub(crate) normal: f64,
    pub(crate) tangential: f64,
    pub(crate) v_hat: f64,
    /// Rows of the angular velocity; zeros without moments.
    pub(crate) turns: DMatrix<f64>,
    pub(crate) rotational: f64,
    /// Coefficients of spinning and rolling friction.
    pub(crate) lengths: [f64; 2],
}

/// The problem in dense form.
#[derive(Clone, Debug)]
pub(crate) struct Dense {
    pub(crate) a: DMatrix<f64>,
    pub(crate) free: DVector<f64>,
    pub(crate) contacts: Vec<Cone>,
    pub(crate) rows: Vec<(RowLaw, DMatrix<f64>)>,
    /// Start velocities and slip of lagged friction.
    pub(crate) lagged: Option<(DVector<f64>, f64)>,
}

impl Cone {
    /// `y = −R⁻¹ (v_c − v̂)`.
    pub(crate) fn unprojected(&self, v: &DVector<f64>) -> [f64; 3] {
        let vc = &self.j * v;
        [
            (self.v_hat - vc[0]) / self.normal,
            -vc[1] / self.tangential,
            -vc[2] / self.tangential,
        ]
    }

    /// The projection of `y` onto the cone of friction in the norm of `R` (36).
    pub(crate) fn project(&self, y: [f64; 3]) -> [f64; 3] {
        let radius = y[1].hypot(y[2]);
        let ratio = self.tangential / self.normal;
        let (mu_hat, mu_tilde) = (self.mu * ratio, self.mu * self.mu * ratio);
        if y[0] >= 0.0 && radius <= self.mu * y[0] {
            return y;
        }
        if y[0] <= -mu_hat * radius {
            return [0.0; 3];
        }
        let normal = (y[0] + mu_hat * radius) / (1.0 + mu_tilde);
        let along = if radius > 0.0 {
            self.mu * normal / radius
        } else {
            0.0
        };
        [normal, along * y[1], along * y[2]]
    }

    /// Impulse and cost of lagged friction (spec 13.3).
    fn lagged(&self, vc: &DVector<f64>, start: f64, slip: f64) -> ([f64; 3], f64) {
        let pressing = |v: f64| (self.v_hat - v).max(0.0) / self.normal;
        let (normal, bound) = (pressing(vc[0]), self.mu * pressing(start));
        let eps = slip.max(self.tangential * bound);
        let soft = (vc[1] * vc[1] + vc[2] * vc[2] + eps * eps).sqrt();
        let gamma = [normal, -bound * vc[1] / soft, -bound * vc[2] / soft];
        (
            gamma,
            0.5 * self.normal * normal * normal + bound * (soft - eps),
        )
    }

    /// `R`.
    pub(crate) fn weights(&self) -> [f64; 3] {
        [self.normal, self.tangential, self.tangential]
    }
}

impl Dense {
    /// `½ (v − v*)ᵀ A (v − v*) + Σ ½ γᵀ R γ`, and its gradient.
    pub(crate) fn cost(&self, v: &DVector<f64>) -> (f64, DVector<f64>) {
        let off = v - &self.free;
        let mut gradient = &self.a * &off;
        let mut cost = 0.5 * off.dot(&gradient);
        for cone in &self.contacts {
            let gamma = if let Some((v0, slip)) = &self.lagged {
                let (gamma, part) = cone.lagged(&(&cone.j * v), (&cone.j * v0)[0], *slip);
                cost += part;
                gamma
            } else {
                let gamma = cone.project(cone.unprojected(v));
                let parts = gamma.iter().zip(cone.weights());
                cost += parts.map(|(g, r)| 0.5 * r * g * g).sum::<f64>();
                gamma
            };
            gradient -= cone.j.transpose() * DVector::from_row_slice(&gamma);
        }
        for (law, j) in &self.rows {
            let (gamma, part) = law.evaluate((j * v)[0]);
            cost += part;
            gradient -= j.transpose() * gamma;
        }
        (cost, gradient)
    }
}
