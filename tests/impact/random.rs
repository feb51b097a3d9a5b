//! Random systems, each by its own number.

use saltation::impact::ImpactProblem;
use saltation::nalgebra::{DMatrix, DVector};

/// Draws by `SplitMix64`.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// In [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * 2f64.powi(-53)
    }

    /// In [−1, 1).
    pub(crate) fn symmetric(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// Below `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count as u64).unwrap()
    }

    pub(crate) fn matrix(&mut self, rows: usize, columns: usize) -> DMatrix<f64> {
        DMatrix::from_fn(rows, columns, |_, _| self.symmetric())
    }

    pub(crate) fn vector(&mut self, rows: usize) -> DVector<f64> {
        DVector::from_fn(rows, |_, _| self.symmetric())
    }
}

/// A body of any shape against 1 … 8 walls: random mass matrix, Jacobian and velocity.
#[derive(Debug)]
pub(crate) struct System {
    pub(crate) mass: DMatrix<f64>,
    pub(crate) jacobian: DMatrix<f64>,
    pub(crate) velocity: DVector<f64>,
}

impl System {
    pub(crate) fn random(number: u64) -> Self {
        let mut random = Random(number.wrapping_mul(0x1000_0001));
        let contacts = 1 + random.below(8);
        let dim = contacts + random.below(4);
        let root = random.matrix(dim, dim);
        Self {
            mass: &root * root.transpose() + DMatrix::identity(dim, dim) * 0.3,
            jacobian: random.matrix(contacts, dim),
            velocity: random.vector(dim),
        }
    }

    pub(crate) fn problem(&self) -> ImpactProblem {
        ImpactProblem::from_mechanics(&self.mass, &self.jacobian, &self.velocity).unwrap()
    }

    /// Kinetic energy (J) at a velocity.
    pub(crate) fn energy(&self, velocity: &DVector<f64>) -> f64 {
        0.5 * velocity.dot(&(&self.mass * velocity))
    }
}
