//! The planar biped `RAMone` at a footfall (Halm & Posa, Fig. 13, section 5.4.4).

use super::contact_problem::impact_at;
use super::linkage::{Arm, Body, LineContact, Linkage, Point, linkage_system};
use crate::impact::{ImpactFailure, ImpactProblem};

/// A trunk on two legs of thigh and shank, with discs as feet.
///
/// `q = (x, y, Φ, α_A, β_A, α_B, β_B)`: centre of the trunk (m), its pitch, and of each leg the
/// angle of the hip and of the knee (rad). A thigh has the attitude `Φ + α`, a shank `Φ + α + β`; a
/// link of attitude `a` points along `(sin a, −cos a)`. Contact 0 is the leading foot A, contact 1
/// the trailing foot B, on the floor `y = 0`; slip is positive to the right. Feet roll: they are
/// fixed to the shanks.
///
/// Source: C. D. Remy, "Ambiguous collision outcomes and sliding with infinite friction in models
/// of legged systems" (IJRR 2017), whose masses and lengths the default takes; the configuration is
/// that of Halm & Posa, Table 7 and Fig. 13.
///
/// ```
/// use saltation::impact::{AnitescuPotra, ImpactLaw};
/// use saltation::models::RamOne;
/// let outcomes = AnitescuPotra::new().resolve(&RamOne::default().impact()?)?;
/// assert_eq!(outcomes.list.len(), 3); // the trailing foot lifts, slides, or sticks
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RamOne {
    /// Trunk; its `length` is the distance from its centre to the hip.
    pub trunk: RamOneLink,
    /// Thigh; its length is that from hip to knee.
    pub thigh: RamOneLink,
    /// Shank; its length is that from the knee to the centre of the foot.
    pub shank: RamOneLink,
    /// Radius of a foot (m), ≥ 0.
    pub foot: f64,
    /// Coefficient of friction of both feet, ≥ 0.
    pub friction: f64,
    /// Gravity (m/s²).
    pub gravity: f64,
}

/// A link of [`RamOne`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RamOneLink {
    /// Mass (kg), > 0.
    pub mass: f64,
    /// Moment of inertia about its centre (kg m²), ≥ 0.
    pub inertia: f64,
    /// Length (m).
    pub length: f64,
    /// Distance of its centre from its upper joint (m); of the trunk, 0.
    pub centre: f64,
}

/// 10.5 kg in all; thigh 0.2 m, shank 0.2385 m, coefficient of friction 10⁵.
impl Default for RamOne {
    fn default() -> Self {
        let link = |[mass, inertia, length, centre]: [f64; 4]| RamOneLink {
            mass,
            inertia,
            length,
            centre,
        };
        Self {
            trunk: link([7.9026, 0.08, 0.137675, 0.0]),
            thigh: link([0.7887, 0.00221, 0.2, 0.019399]),
            shank: link([0.510, 0.00652, 0.2385, 0.2385 - 0.073265]),
            foot: 0.02815,
            friction: 1e5,
            gravity: 9.81,
        }
    }
}

const PITCH: u8 = 0b000_0100;

/// The attitudes of thigh and shank of leg `j`.
fn attitudes(j: usize) -> [u8; 2] {
    if j == 0 {
        [0b000_1100, 0b001_1100]
    } else {
        [0b010_0100, 0b110_0100]
    }
}

impl RamOne {
    /// `q` and `v` at the footfall: both feet on the floor, B at rest, the trunk turning at 1
    /// rad/s, the joints at rest. The knee of the trailing leg follows from the others; NaN where
    /// the leg does not reach the floor.
    pub fn footfall(&self) -> ([f64; 7], [f64; 7]) {
        let [pitch, hip_a, knee_a, hip_b] = [16.0_f64, -70.0, -2.0, 70.0].map(f64::to_radians);
        let (thigh, shank) = (self.thigh.length, self.shank.length);
        let leg = thigh * (pitch + hip_a).cos() + shank * (pitch + hip_a + knee_a).cos();
        let rest = (leg - thigh * (pitch + hip_b).cos()) / shank;
        let knee_b = rest.asin() - pitch - hip_b - std::f64::consts::FRAC_PI_2;
        let height = self.trunk.length * pitch.cos() + leg + self.foot;
        let q = [0.0, height, pitch, hip_a, knee_a, hip_b, knee_b];
        // B stays at rest while the trunk turns.
        let (mut normal, mut tangent) = ([0.0; 7], [0.0; 7]);
        let foot = self.contact(1);
        foot.normal_row(&q, &mut normal);
        foot.tangent_row(&q, &mut tangent);
        let v = [-tangent[2], -normal[2], 1.0, 0.0, 0.0, 0.0, 0.0];
        (q, v)
    }

    /// The impact of both feet at the footfall.
    ///
    /// # Errors
    /// As [`ImpactProblem::from_contacts`], for parameters out of their ranges.
    pub fn impact(&self) -> Result<ImpactProblem, ImpactFailure> {
        let (q, v) = self.footfall();
        impact_at(self, &q, &v)
    }

    /// A point down a leg: so far along the thigh, then along the shank.
    fn on_leg(&self, j: usize, along_thigh: f64, along_shank: f64) -> Point {
        let [thigh, shank] = attitudes(j);
        Point::reached_by([
            Arm::new([0.0, -self.trunk.length], PITCH),
            Arm::new([0.0, -along_thigh], thigh),
            Arm::new([0.0, -along_shank], shank),
        ])
    }
}

impl Linkage for RamOne {
    const DOF: usize = 7;
    const CONTACTS: usize = 2;

    fn bodies(&self) -> impl IntoIterator<Item = Body> {
        let body = |link: RamOneLink, centre, angle| Body {
            mass: link.mass,
            inertia: link.inertia,
            centre,
            angle,
        };
        let limbs = |j| {
            let [thigh, shank] = attitudes(j);
            let hip = self.on_leg(j, self.thigh.centre, 0.0);
            let knee = self.on_leg(j, self.thigh.length, self.shank.centre);
            [body(self.thigh, hip, thigh), body(self.shank, knee, shank)]
        };
        let trunk = body(self.trunk, Point::base(), PITCH);
        [trunk].into_iter().chain(limbs(0)).chain(limbs(1))
    }

    fn contact(&self, j: usize) -> LineContact {
        let [_, shank] = attitudes(j);
        LineContact {
            radius: self.foot,
            angle: shank,
            ..LineContact::on_floor(self.on_leg(j, self.thigh.length, self.shank.length))
        }
    }
}

linkage_system!(RamOne);
