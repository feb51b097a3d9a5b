//! A robot designed so that its landing is predictable.

use super::linkage::{Body, Linkage, Segment};
use super::slices::load;
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};
use crate::{InputError, validate};

/// Density of a body (g/cm³), and of a limb per length (g/cm).
const BODY: f64 = 1.0;
const LIMB: f64 = 2.5;

/// TREX (Seghete & Murphey, section VI): two spheres, two legs and a tail, in the plane; completed
/// where the paper is silent, and in its units: cm, g, s, so that forces are in dyn.
///
/// `q = (x, y, θ, φ_L, γ_L, φ_R, γ_R, φ_T)`; with `e(α) = (cos α, sin α)`:
///
/// * a front sphere of radius `r_1` at `(x, y)` with angle `θ`; a rear sphere of radius `r_2` at
///   `(x, y) + (r_1 + r_2) e(θ)` with angle `θ + φ_T`; a tail of length `r_2 (r_1 + r_2)/(r_1 − r_2)`
///   from there along `e(θ + φ_T)` (the cone that touches both spheres);
/// * legs from `(x, y)`: a thigh of length `l_u` along `e(θ + φ + π)`, a shank of length `l_l` along
///   `e(θ + φ + γ + π)`;
/// * bodies of 1 g/cm³, limbs of 2.5 g/cm;
/// * springs and dampers at the knees and the tail about a posture; hips held by
///   `−K_p (φ − φ*) − K_v φ̇`.
///
/// Contacts: the left foot, the right foot and the tip of the tail, above a floor.
///
/// ```
/// use saltation::models::Trex;
/// let trex = Trex::new([7.0, 4.0], [8.0, 10.0])?; // Table I
/// assert!((trex.tail() - 14.6666666667).abs() < 1e-9 && (trex.total_mass() - 1831.504).abs() < 1e-3);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Trex {
    linkage: Linkage,
    tips: [Vec<Segment>; 3],
    /// The posture at which springs and hips are at rest (rad; the first three are not read).
    pub posture: [f64; 8],
    /// Stiffness of a knee and of the tail (dyn cm/rad).
    pub stiffness: [f64; 2],
    /// Damping of a knee and of the tail (dyn cm s/rad).
    pub damping: [f64; 2],
    /// Gains `K_p` (dyn cm/rad) and `K_v` (dyn cm s/rad) of the hips.
    pub gains: [f64; 2],
    /// Gravity (cm/s²).
    pub gravity: f64,
    /// Coefficient of restitution, in [0, 1].
    pub restitution: f64,
}

impl Trex {
    /// With radii `r_1 > r_2` of the spheres and lengths `l_u`, `l_l` of the legs (cm), elastic, at
    /// rest in the posture of Table I.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] unless all are finite and > 0, and `r_1 > r_2`.
    pub fn new(radii: [f64; 2], legs: [f64; 2]) -> Result<Self, InputError> {
        validate::positive("radius", &radii)?;
        validate::positive("length of a leg", &legs)?;
        let ([front, rear], [upper, lower]) = (radii, legs);
        validate::unless(
            front > rear,
            "rear radius",
            rear,
            "must be less than the front one",
        )?;
        let pi = std::f64::consts::PI;
        let sphere = |r: f64| BODY * 4.0 / 3.0 * pi * r * r * r;
        let tail = rear * (front + rear) / (front - rear);
        let body = |mass: f64, inertia: f64, centre: Vec<Segment>, spin: &[usize]| Body {
            mass,
            inertia,
            centre,
            spin: spin.to_vec(),
        };
        let ball = |r: f64, centre: Vec<Segment>, spin: &[usize]| {
            body(sphere(r), 0.4 * sphere(r) * r * r, centre, spin)
        };
        let rod = |l: f64, centre: Vec<Segment>, spin: &[usize]| {
            body(LIMB * l, LIMB * l * l * l / 12.0, centre, spin)
        };
        let back = || Segment::new(front + rear, 0.0, &[2]);
        let mut bodies = vec![
            ball(front, vec![], &[2]),
            ball(rear, vec![back()], &[2, 7]),
            rod(
                tail,
                vec![back(), Segment::new(tail / 2.0, 0.0, &[2, 7])],
                &[2, 7],
            ),
        ];
        let mut tips = [
            vec![],
            vec![],
            vec![back(), Segment::new(tail, 0.0, &[2, 7])],
        ];
        for (tip, hip) in tips.iter_mut().zip([3, 5]) {
            let thigh = |part: f64| Segment::new(part * upper, pi, &[2, hip]);
            let shank = |part: f64| Segment::new(part * lower, pi, &[2, hip, hip + 1]);
            bodies.push(rod(upper, vec![thigh(0.5)], &[2, hip]));
            bodies.push(rod(lower, vec![thigh(1.0), shank(0.5)], &[2, hip, hip + 1]));
            *tip = vec![thigh(1.0), shank(1.0)];
        }
        Ok(Self {
            linkage: Linkage {
                dof: 8,
                free: true,
                bodies,
            },
            tips,
            posture: [0.0, 0.0, 0.0, 5.13, 5.24, 1.99, 5.24, 0.0],
            stiffness: [2e7, 5e7],
            damping: [2e5, 5e5],
            gains: [1e8, 1e6],
            gravity: 981.0,
            restitution: 1.0,
        })
    }

    /// At rest in another posture.
    #[must_use]
    pub fn posture(mut self, q: &[f64; 8]) -> Self {
        self.posture = *q;
        self
    }

    /// Length of the tail (cm).
    pub fn tail(&self) -> f64 {
        self.tips[2].last().map_or(f64::NAN, |tail| tail.length)
    }

    /// Mass of the robot (g).
    pub fn total_mass(&self) -> f64 {
        self.linkage.bodies.iter().map(|body| body.mass).sum()
    }

    /// Places of the joints and tips at a configuration, for pictures (cm): both spheres, then knee
    /// and foot of the left and the right leg, then the tip of the tail.
    pub fn points(&self, q: &[f64]) -> Vec<[f64; 2]> {
        let place = |point: &[Segment]| {
            [
                self.linkage.abscissa(point, q),
                self.linkage.height(point, q),
            ]
        };
        let [left, right, tail] = &self.tips;
        vec![
            place(&[]),
            place(&tail[..1]),
            place(&left[..1]),
            place(left),
            place(&right[..1]),
            place(right),
            place(tail),
        ]
    }

    /// Stiffness, damping and rest angle of each joint, with its coordinate.
    fn joints(&self) -> [(usize, f64, f64); 5] {
        let ([knee, tail], [of_knee, of_tail]) = (self.stiffness, self.damping);
        let [hip, of_hip] = self.gains;
        [
            (3, hip, of_hip),
            (4, knee, of_knee),
            (5, hip, of_hip),
            (6, knee, of_knee),
            (7, tail, of_tail),
        ]
    }
}

impl MechanicalSystem for Trex {
    fn dof(&self) -> usize {
        8
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.linkage.mass(q, mass);
    }

    fn effort(&self, _t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        let (q, v): ([f64; 8], [f64; 8]) = (load(q), load(v));
        effort.fill(0.0);
        if effort.len() != 8 {
            return;
        }
        self.linkage.add_weights(self.gravity, &q, effort);
        for (j, stiffness, damping) in self.joints() {
            effort[j] -= stiffness * (q[j] - self.posture[j]) + damping * v[j];
        }
    }

    fn effort_along(
        &self,
        (_, q, _): (f64, &[f64], &[f64]),
        directions: &[f64],
        out: &mut [f64],
    ) -> bool {
        let q: [f64; 8] = load(q);
        for (along, out) in directions.chunks_exact(16).zip(out.chunks_exact_mut(8)) {
            out.fill(0.0);
            let (dq, dv) = along.split_at(8);
            self.linkage.add_weights_along(self.gravity, &q, dq, out);
            for (j, stiffness, damping) in self.joints() {
                out[j] -= stiffness * dq[j] + damping * dv[j];
            }
        }
        true
    }

    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        force.fill(0.0);
        self.linkage.add_coriolis(q, v, force);
        true
    }

    fn kinetic_gradient(&self, q: &[f64], v: &[f64], gradient: &mut [f64]) -> bool {
        self.linkage.kinetic_gradient(q, v, gradient);
        true
    }

    fn time_scale(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }
}

impl UnilateralConstraints for Trex {
    fn contacts(&self) -> usize {
        3
    }

    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.tips
            .get(j)
            .map_or(f64::NAN, |tip| self.linkage.height(tip, q))
    }

    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        if let (Some(tip), 8) = (self.tips.get(j), row.len()) {
            self.linkage.rows(tip, q, &mut [0.0; 8], row);
        }
        true
    }

    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        self.tips.get(j).map(|tip| Linkage::bend(tip, q, v)[1])
    }

    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}
