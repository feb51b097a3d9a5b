//! Trotting in the plane: a body on two legs, rigid or soft (Pace & Burden, Fig. 1).

use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};

use super::slices::{load, store};

/// A body on two rigid, massless legs perpendicular to it, with feet that slide without friction;
/// horizontal motion drops out.
///
/// `q = (z, θ)`: height (m) and pitch (rad) of the body. Contact 0 is the rear foot, 1 the front
/// foot:
///
/// ```text
///     a_{0,1} = z ∓ d sin θ − ℓ cos θ
/// ```
///
/// Source: Pace & Burden, Fig. 1 left, after Remy et al. 2010. The paper states no parameters; the
/// default takes those of the soft model's source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidTrot {
    /// Mass of the body (kg).
    pub mass: f64,
    /// Moment of inertia (kg m²).
    pub inertia: f64,
    /// Distance of each hip from the centre (m).
    pub half_length: f64,
    /// Length of the legs (m).
    pub leg: f64,
    /// Gravity (m/s²).
    pub gravity: f64,
    /// Coefficient of restitution of both feet.
    pub restitution: f64,
}

impl Default for RigidTrot {
    fn default() -> Self {
        Self {
            mass: 1.0,
            inertia: 1.0,
            half_length: 0.5,
            leg: 1.0,
            gravity: 9.81,
            restitution: 0.0,
        }
    }
}

/// −1 for the rear foot, +1 for the front foot.
fn side(j: usize) -> f64 {
    if j == 0 { -1.0 } else { 1.0 }
}

impl RigidTrot {
    /// `q` and `v` of the study: at rest at a height of 1.5 m, pitched by `theta` (rad).
    pub fn start(theta: f64) -> ([f64; 2], [f64; 2]) {
        ([1.5, theta], [0.0, 0.0])
    }
}

impl MechanicalSystem for RigidTrot {
    fn time_scale(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }

    fn dof(&self) -> usize {
        2
    }

    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        store(mass, [self.mass, 0.0, 0.0, self.inertia]);
    }

    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        store(effort, [-self.mass * self.gravity, 0.0]);
    }

    fn effort_along(&self, _: State<'_>, _: &[f64], out: &mut [f64]) -> bool {
        out.fill(0.0);
        true
    }

    fn constant_mass(&self) -> bool {
        true
    }

    fn potential(&self, q: &[f64]) -> Option<f64> {
        q.first().map(|z| self.mass * self.gravity * z)
    }
}

impl UnilateralConstraints for RigidTrot {
    fn contacts(&self) -> usize {
        2
    }

    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let [z, theta] = load(q);
        let (sine, cosine) = theta.sin_cos();
        z + side(j) * self.half_length * sine - self.leg * cosine
    }

    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let [_, theta] = load(q);
        let (sine, cosine) = theta.sin_cos();
        let lever = side(j) * self.half_length * cosine + self.leg * sine;
        store(row, [1.0, lever]);
        true
    }

    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        let ([_, theta], [_, rate]) = (load(q), load(v));
        let (sine, cosine) = theta.sin_cos();
        Some((-side(j) * self.half_length * sine + self.leg * cosine) * rate * rate)
    }

    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}

/// A body on two soft legs: feet with mass under vertical springs and dampers at the hips.
///
/// `q = (z, θ, z_1, z_2)`: height (m) and pitch (rad) of the body, heights of the rear and the
/// front foot (m). With leg lengths `s_{1,2} = z ∓ d sin θ − z_{1,2}` and
/// `N_i = k (ℓ − s_i) − b s_i'`:
///
/// ```text
///     m z'' = −m g + N_1 + N_2        I θ'' = d cos θ (N_2 − N_1)        m_f z_i'' = −m_f g − N_i
/// ```
///
/// Gaps are `z_1` and `z_2`. The limbs are decoupled in the sense of Pace & Burden, assumption 3,
/// unless `coupling`, a damper between the feet, is not zero. Source: Fig. 1 right, after Burden et
/// al., TAC 60 (2015), which gives mass, inertia, hips, legs and stiffness; feet and damper are our
/// own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftTrot {
    /// Mass of the body (kg).
    pub mass: f64,
    /// Moment of inertia (kg m²).
    pub inertia: f64,
    /// Distance of each hip from the centre (m).
    pub half_length: f64,
    /// Free length of the legs (m).
    pub leg: f64,
    /// Gravity (m/s²).
    pub gravity: f64,
    /// Mass of a foot (kg).
    pub foot: f64,
    /// Stiffness of a leg (N/m).
    pub stiffness: f64,
    /// Damping of a leg (N s/m).
    pub damping: f64,
    /// Damping between the feet (N s/m).
    pub coupling: f64,
    /// Coefficient of restitution of both feet.
    pub restitution: f64,
}

impl Default for SoftTrot {
    fn default() -> Self {
        Self {
            mass: 1.0,
            inertia: 1.0,
            half_length: 0.5,
            leg: 1.0,
            gravity: 9.81,
            foot: 0.1,
            stiffness: 30.0,
            damping: 1.0,
            coupling: 0.0,
            restitution: 0.0,
        }
    }
}

impl SoftTrot {
    /// `q` and `v` of the study: at rest at a height of 1.5 m, pitched by `theta` (rad), legs at
    /// their free length.
    pub fn start(&self, theta: f64) -> ([f64; 4], [f64; 4]) {
        let (lift, hip) = (self.half_length * theta.sin(), 1.5 - self.leg);
        ([1.5, theta, hip - lift, hip + lift], [0.0; 4])
    }

    /// The direction in which [`start`](Self::start) changes with `theta` at 0, in `(q, v)`.
    pub fn start_direction(&self) -> [f64; 8] {
        let d = self.half_length;
        [0.0, 1.0, -d, d, 0.0, 0.0, 0.0, 0.0]
    }
}

impl MechanicalSystem for SoftTrot {
    fn time_scale(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }

    fn dof(&self) -> usize {
        4
    }

    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for (i, m) in [self.mass, self.inertia, self.foot, self.foot]
            .into_iter()
            .enumerate()
        {
            if let Some(entry) = mass.get_mut(5 * i) {
                *entry = m;
            }
        }
    }

    fn effort(&self, _t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        let ([z, theta, z1, z2], [vz, omega, v1, v2]) = (load(q), load(v));
        let (sine, cosine) = theta.sin_cos();
        let d = self.half_length;
        let push = |side: f64, foot: f64, foot_rate: f64| {
            let length = z + side * d * sine - foot;
            let rate = vz + side * d * cosine * omega - foot_rate;
            self.stiffness * (self.leg - length) - self.damping * rate
        };
        let (n1, n2) = (push(-1.0, z1, v1), push(1.0, z2, v2));
        let pull = self.coupling * (v1 - v2);
        let weight = self.foot * self.gravity;
        store(
            effort,
            [
                n1 + n2 - self.mass * self.gravity,
                d * cosine * (n2 - n1),
                -weight - n1 - pull,
                -weight - n2 + pull,
            ],
        );
    }

    fn effort_along(
        &self,
        State { q, v, .. }: State<'_>,
        directions: &[f64],
        out: &mut [f64],
    ) -> bool {
        let ([_, theta, z1, z2], [_, omega, v1, v2]) = (load(q), load(v));
        let (sine, cosine) = theta.sin_cos();
        let (d, k, b) = (self.half_length, self.stiffness, self.damping);
        // The force of the front leg less that of the rear leg.
        let more = k * (z2 - z1 - 2.0 * d * sine) + b * (v2 - v1 - 2.0 * d * cosine * omega);
        for (along, out) in directions.chunks_exact(8).zip(out.chunks_exact_mut(4)) {
            let [y, turn, y1, y2, w, spin, w1, w2] = load(along);
            let push = |side: f64, foot: f64, foot_rate: f64| {
                let length = y + side * d * cosine * turn - foot;
                let bent = side * d * (cosine * spin - sine * omega * turn);
                -k * length - b * (w + bent - foot_rate)
            };
            let (n1, n2) = (push(-1.0, y1, w1), push(1.0, y2, w2));
            let pull = self.coupling * (w1 - w2);
            let torque = d * (cosine * (n2 - n1) - sine * turn * more);
            store(out, [n1 + n2, torque, -n1 - pull, -n2 + pull]);
        }
        true
    }

    fn constant_mass(&self) -> bool {
        true
    }
}

impl UnilateralConstraints for SoftTrot {
    fn contacts(&self) -> usize {
        2
    }

    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q.get(2 + j).copied().unwrap_or(f64::NAN)
    }

    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.fill(0.0);
        if let Some(entry) = row.get_mut(2 + j) {
            *entry = 1.0;
        }
        true
    }

    fn constant_row(&self, _j: usize) -> bool {
        true
    }

    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}
