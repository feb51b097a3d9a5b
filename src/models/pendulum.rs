//! A double pendulum against a wall: a mass matrix that depends on the configuration.

use super::slices::{load, store};
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};

/// Two point masses on two massless rods in a row, and a vertical wall that stops the end of the
/// second one.
///
/// `q` are the angles of the rods from the downward vertical (rad). With `c = m_2 l_1 l_2`:
///
/// ```text
///     M = [ (m_1 + m_2) l_1²      c cos(q_1 − q_2) ]        a = l_1 sin q_1 + l_2 sin q_2 − x_wall
///         [ c cos(q_1 − q_2)      m_2 l_2²         ]
/// ```
///
/// The default is our own: unit masses and lengths, an elastic wall at −0.3 m.
///
/// ```
/// use saltation::{ContactModel, EventDriven};
/// use saltation::{Start, models::DoublePendulum};
/// let pendulum = DoublePendulum::default();
/// let start = Start::at(0.0).q(&[1.0, 0.5]).v(&[0.0, 0.0]);
/// let run = EventDriven::new(ContactModel::new(pendulum))?.rtol(1e-10).integrate(&start, 1.5)?;
/// assert!((run.events()[0].t - 0.755987814701).abs() < 1e-9);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoublePendulum {
    /// Masses at the ends of the rods (kg), > 0.
    pub masses: [f64; 2],
    /// Lengths of the rods (m), > 0.
    pub lengths: [f64; 2],
    /// Gravity (m/s²).
    pub gravity: f64,
    /// Abscissa of the wall (m); the end stays to the right of it.
    pub wall: f64,
    /// Coefficient of restitution, in [0, 1].
    pub restitution: f64,
}

impl Default for DoublePendulum {
    fn default() -> Self {
        Self {
            masses: [1.0; 2],
            lengths: [1.0; 2],
            gravity: 9.81,
            wall: -0.3,
            restitution: 1.0,
        }
    }
}

impl DoublePendulum {
    /// `m_2 l_1 l_2`.
    fn coupling(&self) -> f64 {
        self.masses[1] * self.lengths[0] * self.lengths[1]
    }

    /// Weights times lengths, `g (m_1 + m_2) l_1` and `g m_2 l_2`.
    fn weights(&self) -> [f64; 2] {
        let [first, second] = self.masses;
        [
            self.gravity * (first + second) * self.lengths[0],
            self.gravity * second * self.lengths[1],
        ]
    }
}

impl MechanicalSystem for DoublePendulum {
    fn time_scale(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }

    fn dof(&self) -> usize {
        2
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        let ([a, b], [m, n], [first, second]) = (self.lengths, self.masses, load(q));
        let mixed = self.coupling() * (first - second).cos();
        store(mass, [(m + n) * a * a, mixed, mixed, n * b * b]);
    }

    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let ([first, second], [a, b]) = (load(q), self.weights());
        store(effort, [-a * first.sin(), -b * second.sin()]);
    }

    fn effort_along(
        &self,
        State { q, .. }: State<'_>,
        directions: &[f64],
        out: &mut [f64],
    ) -> bool {
        let ([first, second], [a, b]) = (load(q), self.weights());
        for (along, out) in directions.chunks_exact(4).zip(out.chunks_exact_mut(2)) {
            let [dfirst, dsecond] = load(along);
            store(
                out,
                [-a * first.cos() * dfirst, -b * second.cos() * dsecond],
            );
        }
        true
    }

    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        let ([first, second], [v, w]) = (load(q), load(v));
        let turn = self.coupling() * (first - second).sin();
        store(force, [-turn * w * w, turn * v * v]);
        true
    }

    fn kinetic_gradient(&self, q: &[f64], v: &[f64], gradient: &mut [f64]) -> bool {
        let ([first, second], [v, w]) = (load(q), load(v));
        let turn = self.coupling() * (first - second).sin() * v * w;
        store(gradient, [-turn, turn]);
        true
    }

    fn potential(&self, q: &[f64]) -> Option<f64> {
        let ([first, second], [a, b]) = (load(q), self.weights());
        Some(-a * first.cos() - b * second.cos())
    }
}

impl UnilateralConstraints for DoublePendulum {
    fn contacts(&self) -> usize {
        1
    }

    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        let ([first, second], [a, b]) = (load(q), self.lengths);
        a * first.sin() + b * second.sin() - self.wall
    }

    fn gap_row(&self, _j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let ([first, second], [a, b]) = (load(q), self.lengths);
        store(row, [a * first.cos(), b * second.cos()]);
        true
    }

    fn curvature(&self, _j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        let ([first, second], [a, b], [v, w]) = (load(q), self.lengths, load(v));
        Some(-a * first.sin() * v * v - b * second.sin() * w * w)
    }

    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}
