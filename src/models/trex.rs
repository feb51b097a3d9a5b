//! A robot designed so that its landing is predictable.

use super::linkage::{Angle, Arm, Body, LineContact, Linkage, Point};
use super::linkage::{coriolis, kinetic_gradient, mass, weight, weight_along};
use super::slices::load;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use crate::{InputError, validate};

/// The angle `θ`, and those of the tail, the thighs and the shanks: sums of coordinates.
const BODY_ANGLE: Angle = 1 << 2;
const TAIL_ANGLE: Angle = BODY_ANGLE | 1 << 7;
const LEFT: [Angle; 2] = [BODY_ANGLE | 1 << 3, BODY_ANGLE | 1 << 3 | 1 << 4];
const RIGHT: [Angle; 2] = [BODY_ANGLE | 1 << 5, BODY_ANGLE | 1 << 5 | 1 << 6];

/// A point of a leg, so far along thigh and shank (along `e(α + π)`).
fn leg([thigh, shank]: [Angle; 2], upper: f64, lower: f64) -> Point {
    Point::reached_by([
        Arm::new([-upper, 0.0], thigh),
        Arm::new([-lower, 0.0], shank),
        Arm::default(),
    ])
}

/// Density of a body (g/cm³), and of a limb per length (g/cm).
const BODY: f64 = 1.0;
const LIMB: f64 = 2.5;

/// TREX (Seghete & Murphey, section VII): two spheres, two legs and a tail, in the plane; completed
/// where the paper is silent, and in its units: cm, g, s, so that forces are in dyn.
///
/// `q = (x, y, θ, φ_L, γ_L, φ_R, γ_R, φ_T)`; with `e(α) = (cos α, sin α)`:
///
/// * a front sphere of radius `r_1` at `(x, y)` with angle `θ`; a rear sphere of radius `r_2` at
///   `(x, y) + (r_1 + r_2) e(θ)` with angle `θ + φ_T`; a tail of length
///   `r_2 (r_1 + r_2)/(r_1 − r_2)` from there along `e(θ + φ_T)` (the cone that touches both
///   spheres);
/// * legs from `(x, y)`: a thigh of length `l_u` along `e(θ + φ + π)`, a shank of length `l_l`
///   along `e(θ + φ + γ + π)`;
/// * bodies of 1 g/cm³, limbs of 2.5 g/cm;
/// * springs and dampers at the knees and the tail about a posture; hips held by
///   `−K_p (φ − φ*) − K_v φ̇`.
///
/// Contacts above a floor: 0 the left foot, 1 the right foot, 2 the tip of the tail.
///
/// ```
/// use saltation::models::Trex;
/// let trex = Trex::new([7.0, 4.0], [8.0, 10.0])?; // Table I
/// assert!((trex.tail() - 14.6666666667).abs() < 1e-9 && (trex.total_mass() - 1831.504).abs() < 1e-3);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trex {
    /// Radii of the front and the rear sphere (cm).
    radii: [f64; 2],
    /// Lengths of thigh and shank (cm).
    legs: [f64; 2],
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
        let [front, rear] = radii;
        validate::unless(
            front > rear,
            "rear radius",
            rear,
            "must be less than the front one",
        )?;
        Ok(Self {
            radii,
            legs,
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
    pub fn at_rest_in(mut self, q: &[f64; 8]) -> Self {
        self.posture = *q;
        self
    }

    /// Length of the tail (cm).
    pub fn tail(&self) -> f64 {
        let [front, rear] = self.radii;
        rear * (front + rear) / (front - rear)
    }

    /// Mass of the robot (g).
    pub fn total_mass(&self) -> f64 {
        self.bodies().into_iter().map(|body| body.mass).sum()
    }

    /// Places of the joints and tips at a configuration, for pictures (cm): both spheres, then knee
    /// and foot of the left and the right leg, then the tip of the tail.
    pub fn points(&self, q: &[f64]) -> [[f64; 2]; 7] {
        let [upper, lower] = self.legs;
        let points = [
            Point::base(),
            Point::at(self.back()),
            Point::at(Arm::new([-upper, 0.0], LEFT[0])),
            leg(LEFT, upper, lower),
            Point::at(Arm::new([-upper, 0.0], RIGHT[0])),
            leg(RIGHT, upper, lower),
            self.tail_to(self.tail()),
        ];
        points.map(|point| point.position(q))
    }

    /// From the front sphere to the rear one.
    fn back(&self) -> Arm {
        Arm::new([self.radii[0] + self.radii[1], 0.0], BODY_ANGLE)
    }

    /// A point of the tail.
    fn tail_to(&self, length: f64) -> Point {
        let tail = Arm::new([length, 0.0], TAIL_ANGLE);
        Point::reached_by([self.back(), tail, Arm::default()])
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

impl Linkage for Trex {
    const DOF: usize = 8;
    const CONTACTS: usize = 3;

    fn bodies(&self) -> impl IntoIterator<Item = Body> {
        let ([front, rear], [upper, lower]) = (self.radii, self.legs);
        let ball = |r: f64, centre: Point, angle: Angle| {
            let mass = BODY * 4.0 / 3.0 * std::f64::consts::PI * r * r * r;
            let inertia = 0.4 * mass * r * r;
            Body {
                mass,
                inertia,
                centre,
                angle,
            }
        };
        let rod = |l: f64, centre: Point, angle: Angle| Body {
            mass: LIMB * l,
            inertia: LIMB * l * l * l / 12.0,
            centre,
            angle,
        };
        let tail = self.tail();
        [
            ball(front, Point::base(), BODY_ANGLE),
            ball(rear, Point::at(self.back()), TAIL_ANGLE),
            rod(tail, self.tail_to(0.5 * tail), TAIL_ANGLE),
            rod(upper, leg(LEFT, 0.5 * upper, 0.0), LEFT[0]),
            rod(lower, leg(LEFT, upper, 0.5 * lower), LEFT[1]),
            rod(upper, leg(RIGHT, 0.5 * upper, 0.0), RIGHT[0]),
            rod(lower, leg(RIGHT, upper, 0.5 * lower), RIGHT[1]),
        ]
    }

    fn contact(&self, j: usize) -> LineContact {
        let [upper, lower] = self.legs;
        LineContact::on_floor(match j {
            0 => leg(LEFT, upper, lower),
            1 => leg(RIGHT, upper, lower),
            _ => self.tail_to(self.tail()),
        })
    }
}

impl MechanicalSystem for Trex {
    fn dof(&self) -> usize {
        8
    }

    fn mass(&self, q: &[f64], m: &mut [f64]) {
        mass(self, 8, q, m);
    }

    fn effort(&self, _t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        let (q, v): ([f64; 8], [f64; 8]) = (load(q), load(v));
        weight(self, self.gravity, &q, effort);
        for (j, stiffness, damping) in self.joints() {
            if let Some(effort) = effort.get_mut(j) {
                *effort -= stiffness * (q[j] - self.posture[j]) + damping * v[j];
            }
        }
    }

    fn effort_along(
        &self,
        State { q, .. }: State<'_>,
        directions: &[f64],
        out: &mut [f64],
    ) -> bool {
        let q: [f64; 8] = load(q);
        for (along, out) in directions.chunks_exact(16).zip(out.chunks_exact_mut(8)) {
            let (dq, dv) = along.split_at(8);
            weight_along(self, self.gravity, &q, dq, out);
            for (j, stiffness, damping) in self.joints() {
                out[j] -= stiffness * dq[j] + damping * dv[j];
            }
        }
        true
    }

    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        coriolis(self, q, v, force);
        true
    }

    fn kinetic_gradient(&self, q: &[f64], v: &[f64], gradient: &mut [f64]) -> bool {
        kinetic_gradient(self, q, v, gradient);
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
        self.contact(j).gap(q)
    }

    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        self.contact(j).normal_row(q, row);
        true
    }

    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        Some(self.contact(j).curvature(q, v))
    }

    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}
