//! The data of a body for a scene.

use super::pose::check_coordinates;
use super::{Pose, Shape, ShapeKind};
use crate::{InputError, validate};

/// A body of a [`Scene`](super::Scene): shape, mass, start and material.
///
/// It starts at the origin at rest, unturned, unless set otherwise. What makes no sense is refused
/// when the body enters a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    pub(super) shape: Shape,
    pub(super) fixed: bool,
    pub(super) inertia: Inertia,
    /// Position, then quaternion `[w, x, y, z]`.
    pub(super) start: [f64; 7],
    /// Angular velocity, then velocity of the centre.
    pub(super) velocity: [f64; 6],
    pub(super) material: Material,
    pub(super) groups: Groups,
}

/// Groups of bodies, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Groups {
    /// Those of the body.
    pub(super) own: u32,
    /// Those that it touches.
    pub(super) touched: u32,
}

impl Groups {
    /// True where each body is in a group that the other touches.
    pub(super) fn meet(self, other: Self) -> bool {
        self.own & other.touched != 0 && other.own & self.touched != 0
    }
}

/// Mass and moments of inertia, or what they follow from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Inertia {
    Density(f64),
    Given { mass: f64, moments: [f64; 3] },
}

/// The material of the contacts of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Material {
    pub(super) friction: f64,
    /// Coefficients of spinning and of rolling friction (m).
    pub(super) spinning: f64,
    pub(super) rolling: f64,
    pub(super) restitution: f64,
    pub(super) stiffness: f64,
    pub(super) dissipation_time: f64,
    /// Near-rigid limit `β` and softness of stiction `σ`; none: those of the driver.
    pub(super) near_rigid: Option<f64>,
    pub(super) stiction: Option<f64>,
}

impl Body {
    /// A body that moves, of density 1000 kg/m³, water's.
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            fixed: false,
            inertia: Inertia::Density(1000.0),
            start: [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            velocity: [0.0; 6],
            material: Material {
                friction: 0.5,
                spinning: 0.0,
                rolling: 0.0,
                restitution: 0.0,
                stiffness: f64::INFINITY,
                dissipation_time: 0.01,
                near_rigid: None,
                stiction: None,
            },
            groups: Groups {
                own: u32::MAX,
                touched: u32::MAX,
            },
        }
    }

    /// A body that never moves: ground, walls.
    pub fn fixed(shape: Shape) -> Self {
        Self {
            fixed: true,
            ..Self::new(shape)
        }
    }

    /// Density (kg/m³), the same everywhere in the shape.
    #[must_use]
    pub fn density(mut self, density: f64) -> Self {
        self.inertia = Inertia::Density(density);
        self
    }

    /// Mass (kg) and moments of inertia about the axes of the body (kg m²), in the order of
    /// [`Shape::inertia`], instead of a density.
    #[must_use]
    pub fn mass(mut self, mass: f64, moments: [f64; 3]) -> Self {
        self.inertia = Inertia::Given { mass, moments };
        self
    }

    /// Sets the centre at the start (m).
    #[must_use]
    pub fn position(mut self, position: [f64; 3]) -> Self {
        self.start[..3].copy_from_slice(&position);
        self
    }

    /// Sets the orientation at the start, a quaternion `[w, x, y, z]`; it is normalised.
    #[must_use]
    pub fn orientation(mut self, quaternion: [f64; 4]) -> Self {
        self.start[3..].copy_from_slice(&quaternion);
        self
    }

    /// Sets the pose at the start of the axes in which the shape was given ([`Shape::frame`]),
    /// instead of [`position`](Self::position) and [`orientation`](Self::orientation) of the body.
    #[must_use]
    pub fn placed(mut self, frame: &Pose) -> Self {
        let pose = self.shape.frame().inverse().moved_by(frame);
        self.start[..3].copy_from_slice(pose.position().as_slice());
        self.start[3..].copy_from_slice(&pose.quaternion());
        self
    }

    /// Velocity of the centre at the start (m/s).
    #[must_use]
    pub fn velocity(mut self, velocity: [f64; 3]) -> Self {
        self.velocity[3..].copy_from_slice(&velocity);
        self
    }

    /// Angular velocity at the start in world axes (rad/s).
    #[must_use]
    pub fn angular_velocity(mut self, velocity: [f64; 3]) -> Self {
        self.velocity[..3].copy_from_slice(&velocity);
        self
    }

    /// Coefficient of friction `μ ≥ 0`; two bodies have `2 μ₁ μ₂ / (μ₁ + μ₂)`. Default 0.5, of many
    /// dry surfaces.
    #[must_use]
    pub fn friction(mut self, friction: f64) -> Self {
        self.material.friction = friction;
        self
    }

    /// Coefficient of spinning friction `s ≥ 0` (m): the contacts of the body transmit a moment about their
    /// normal of at most `s` times their normal force, which opposes the relative spin. A pad of radius `a`
    /// that touches all over has about `s = 2 μ a/3`. Two bodies have the greater of theirs, so that a ball comes
    /// to rest on any ground (the rule of `MuJoCo`, whose second coefficient of friction it is). Default 0.
    ///
    /// Spinning and rolling friction are known to the compliant driver with
    /// [`StepFriction::Coulomb`](crate::compliant::StepFriction::Coulomb); others refuse them
    /// ([`InputError::MomentsIgnored`]).
    #[must_use]
    pub fn spinning_friction(mut self, length: f64) -> Self {
        self.material.spinning = length;
        self
    }

    /// Coefficient of rolling friction `r ≥ 0` (m): the same of moments in the tangent plane, which oppose
    /// rolling. A solid ball of radius `R` that rolls loses the speed `g (r/R)/(1 + 2/5)` a second while
    /// friction can hold the force for that, `r/R < 7/5 μ`; beyond, it slides and loses `μ g`. It stays on
    /// inclines where `tan α` is less than both `r/R` and `μ`. For two bodies see
    /// [`spinning_friction`](Self::spinning_friction). (`MuJoCo`'s third coefficient.) Default 0.
    ///
    /// ```
    /// use saltation::bodies::{Body, Scene, Shape};
    /// use saltation::{Compliant, Start};
    /// let mut scene = Scene::new();
    /// scene.add(Body::fixed(Shape::plane()))?;
    /// let ball = Body::new(Shape::sphere(0.1)?).rolling_friction(0.01);
    /// let rolls = ball.velocity([1.0, 0.0, 0.0]).angular_velocity([0.0, 10.0, 0.0]);
    /// scene.add(rolls.position([0.0, 0.0, 0.1]))?;
    /// let (q, v) = scene.start();
    /// let mut stepper = Compliant::new(scene)?.time_step(1e-3);
    /// let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 2.0)?.completed()?;
    /// let way = 0.5 / (9.81 * 0.1 / 1.4); // v²/2a
    /// assert!((run.state()[0] - way).abs() < 2e-3);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    #[must_use]
    pub fn rolling_friction(mut self, length: f64) -> Self {
        self.material.rolling = length;
        self
    }

    /// Coefficient of restitution `e` in [0, 1]: the part of the speed of its contacts that an impact
    /// gives back. Two bodies have the greater of theirs, so that a ball bounces on any ground (the
    /// rule of `Box2D`). Default 0.
    ///
    /// In steps of the compliant driver a bounce falls short, by up to `3 u dt` of height after an arrival
    /// with the speed
    /// `u`: with 10 ms and `e = 1` one from 1 m by 4 to 9 cm.
    /// That driver says what it makes of several contacts at once
    /// ([module](crate::compliant)); [`fixed_contacts`](super::Scene::fixed_contacts) hands the
    /// coefficients on to the laws of impact of the other drivers.
    #[must_use]
    pub fn restitution(mut self, restitution: f64) -> Self {
        self.material.restitution = restitution;
        self
    }

    /// The groups that the body is in, a bit each. Default: all 32.
    ///
    /// Two bodies touch where each is in a group that the other [touches](Self::touching), so that
    /// either of them may say no. (It is the rule of Rapier, Bullet and `PhysX`; in `MuJoCo` one that
    /// says yes is enough.) Pairs that do not touch have no contacts in any driver and cost nothing
    /// beyond the two numbers; [queries](super::Query) of distances, overlaps and rays see all
    /// bodies. Single pairs are excepted by [`Scene::ignore`](super::Scene::ignore).
    ///
    /// ```
    /// use saltation::bodies::{Body, Scene, Shape};
    /// use saltation::mechanics::Contacts;
    /// const GROUND: u32 = 1;
    /// const ARM: u32 = 2; // its links pass through each other
    /// let link = |x: f64| -> Result<Body, saltation::InputError> {
    ///     Ok(Body::new(Shape::sphere(0.1)?).position([x, 0.0, 0.05]).groups(ARM).touching(GROUND))
    /// };
    /// let mut scene = Scene::new();
    /// scene.add(Body::fixed(Shape::plane()).groups(GROUND))?;
    /// scene.add(link(0.0)?)?;
    /// scene.add(link(0.01)?)?;
    /// let (q, _) = scene.start();
    /// let depth = scene.deepest_overlap(&q, &mut Contacts::new())?;
    /// assert!((depth - 0.05).abs() < 1e-15); // with the ground, not the 0.19 m of the links
    /// # Ok::<(), saltation::InputError>(())
    /// ```
    #[must_use]
    pub fn groups(mut self, groups: u32) -> Self {
        self.groups.own = groups;
        self
    }

    /// The groups whose bodies this one touches ([`groups`](Self::groups)). Default: all; 0 is a
    /// body that passes through everything.
    #[must_use]
    pub fn touching(mut self, groups: u32) -> Self {
        self.groups.touched = groups;
        self
    }

    /// Stiffness `k > 0` of contacts (N/m). Two bodies are springs in series,
    /// `1/k = 1/k₁ + 1/k₂`. Default `INFINITY`: as stiff as the driver resolves, which needs no
    /// guess of a material.
    #[must_use]
    pub fn stiffness(mut self, stiffness: f64) -> Self {
        self.material.stiffness = stiffness;
        self
    }

    /// Dissipation time `τ ≥ 0` of contacts (s). Two bodies have the mean of both, weighted by
    /// `1/k`: bodies of one material keep theirs. (The implementation of Castro et al. adds both
    /// times.) Default 0.01 s: overlap fades within a usual time step, and impacts are plastic.
    #[must_use]
    pub fn dissipation_time(mut self, time: f64) -> Self {
        self.material.dissipation_time = time;
        self
    }

    /// Near-rigid limit `β ≥ 0` of contacts in compliant steps
    /// ([`Softness`](crate::compliant::Softness)); 0.01 keeps the foot of a stack and a body under a
    /// much heavier one from sinking in. Two bodies have the smaller of theirs. Default: that of the
    /// driver.
    #[must_use]
    pub fn near_rigid(mut self, beta: f64) -> Self {
        self.material.near_rigid = Some(beta);
        self
    }

    /// Softness of stiction `σ > 0` of contacts in compliant steps
    /// ([`Softness`](crate::compliant::Softness)). Two bodies have the smaller of theirs. Default:
    /// that of the driver.
    #[must_use]
    pub fn stiction(mut self, sigma: f64) -> Self {
        self.material.stiction = Some(sigma);
        self
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// True for a body that never moves.
    pub fn is_fixed(&self) -> bool {
        self.fixed
    }

    /// Mass and moments of inertia; infinite for a fixed body.
    pub(super) fn mass_and_moments(&self) -> (f64, [f64; 3]) {
        match self.inertia {
            _ if self.fixed => (f64::INFINITY, [f64::INFINITY; 3]),
            Inertia::Given { mass, moments } => (mass, moments),
            Inertia::Density(density) => {
                let moments = self.shape.inertia().map(|moment| density * moment);
                (density * self.shape.volume(), moments)
            }
        }
    }

    /// Refuses what makes no sense.
    pub(super) fn validate(&self) -> Result<(), InputError> {
        check_coordinates(&self.start)?;
        validate::finite("v", &self.velocity)?;
        let material = &self.material;
        validate::not_negative("coefficient of friction", &[material.friction])?;
        validate::not_negative("spinning friction", &[material.spinning])?;
        validate::not_negative("rolling friction", &[material.rolling])?;
        let (e, rule) = (material.restitution, "must lie in [0, 1]");
        validate::unless((0.0..=1.0).contains(&e), "restitution", e, rule)?;
        let (stiffness, rule) = (material.stiffness, "must be > 0");
        validate::unless(stiffness > 0.0, "stiffness", stiffness, rule)?;
        validate::not_negative("dissipation time", &[material.dissipation_time])?;
        validate::not_negative("near_rigid", material.near_rigid.as_slice())?;
        validate::positive("stiction", material.stiction.as_slice())?;
        // Of a fixed body too, although nothing uses them.
        match self.inertia {
            Inertia::Density(density) => validate::positive("density", &[density])?,
            Inertia::Given { mass, moments } => check_inertia(mass, &moments)?,
        }
        if self.fixed {
            let rule = "a fixed body has no velocity";
            return validate::accepted("velocity", &self.velocity, rule, |v| v == 0.0);
        }
        if self.shape.kind() == ShapeKind::Plane {
            let rule = "a body with a plane must be fixed";
            return validate::unless(false, "volume", f64::INFINITY, rule);
        }
        if let Inertia::Density(_) = self.inertia {
            let (volume, rule) = (
                self.shape.volume(),
                "must be > 0: give the body a mass, or fix it",
            );
            validate::unless(volume > 0.0, "volume", volume, rule)?;
        }
        let (mass, moments) = self.mass_and_moments();
        check_inertia(mass, &moments)
    }
}

/// Refuses what no body has.
fn check_inertia(mass: f64, moments: &[f64; 3]) -> Result<(), InputError> {
    validate::positive("mass", &[mass])?;
    validate::positive("moment of inertia", moments)?;
    let (sum, rule) = (
        moments.iter().sum::<f64>(),
        "no moment of inertia is larger than the sum of the other two",
    );
    // Of a flat body one is the sum.
    let accept = |moment| moment <= (sum - moment) * (1.0 + 1e-9);
    validate::accepted("moment of inertia", moments, rule, accept)
}

impl Material {
    /// Of the contact of two bodies.
    pub(super) fn paired(&self, other: &Self) -> Self {
        let sum = self.friction + other.friction;
        let friction = if sum > 0.0 {
            2.0 * self.friction * (other.friction / sum)
        } else {
            0.0
        };
        let (soft, hard) = (1.0 / self.stiffness, 1.0 / other.stiffness);
        let compliance = soft + hard;
        let (own, others) = (self.dissipation_time, other.dissipation_time);
        let dissipation_time = if compliance > 0.0 {
            (own * soft + others * hard) / compliance
        } else {
            0.5 * (own + others)
        };
        Self {
            friction,
            spinning: self.spinning.max(other.spinning),
            rolling: self.rolling.max(other.rolling),
            restitution: self.restitution.max(other.restitution),
            stiffness: 1.0 / compliance,
            dissipation_time,
            near_rigid: smaller(self.near_rigid, other.near_rigid),
            stiction: smaller(self.stiction, other.stiction),
        }
    }
}

/// The smaller of those that are given.
fn smaller(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.zip(b).map(|(a, b)| a.min(b)).or(a).or(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn material(friction: f64, stiffness: f64, dissipation_time: f64) -> Material {
        Material {
            friction,
            spinning: 0.0,
            rolling: 0.0,
            restitution: 0.0,
            stiffness,
            dissipation_time,
            near_rigid: None,
            stiction: None,
        }
    }

    #[test]
    fn materials_are_combined_by_the_rules() {
        let pair = material(0.2, 1e4, 0.01).paired(&material(0.6, 3e4, 0.05));
        assert!((pair.friction - 0.3).abs() < 1e-15);
        assert!((pair.stiffness - 7500.0).abs() < 1e-9);
        // Three quarters of the overlap are in the softer body.
        assert!((pair.dissipation_time - 0.02).abs() < 1e-15);
        let hard = material(0.5, f64::INFINITY, 0.02);
        assert_eq!(hard.paired(&hard), hard);
        let soft = material(0.5, 1e4, 0.1);
        assert_eq!(hard.paired(&soft), soft);
        let smooth = material(0.0, f64::INFINITY, 0.0);
        assert_eq!(smooth.paired(&smooth), smooth);
        let own = Material {
            spinning: 1e-3,
            rolling: 2e-3,
            restitution: 0.25,
            near_rigid: Some(0.1),
            stiction: Some(1e-4),
            ..hard
        };
        let other = Material {
            spinning: 3e-3,
            rolling: 1e-3,
            restitution: 0.75,
            near_rigid: Some(0.01),
            ..hard
        };
        for pair in [own.paired(&other), other.paired(&own)] {
            assert_eq!((pair.near_rigid, pair.stiction), (Some(0.01), Some(1e-4)));
            assert_eq!(pair.restitution.to_bits(), 0.75_f64.to_bits());
            let lengths = [pair.spinning, pair.rolling].map(f64::to_bits);
            assert_eq!(lengths, [3e-3, 2e-3].map(f64::to_bits));
        }
    }

    #[test]
    fn bodies_that_make_no_sense_are_refused() {
        let sphere = || Body::new(Shape::sphere(0.1).unwrap());
        let fixed = Body::fixed(Shape::plane());
        assert!(sphere().validate().is_ok() && fixed.validate().is_ok());
        let wrong = [
            sphere().density(0.0),
            sphere().mass(-1.0, [1.0; 3]),
            sphere().mass(1.0, [1.0, 1.0, 3.0]),
            sphere().mass(f64::NAN, [1.0; 3]),
            sphere().position([0.0, f64::NAN, 0.0]),
            sphere().orientation([0.0; 4]),
            sphere().velocity([f64::INFINITY, 0.0, 0.0]),
            sphere().friction(-0.1),
            sphere().spinning_friction(-1e-3),
            sphere().spinning_friction(f64::INFINITY),
            sphere().rolling_friction(-1e-3),
            sphere().rolling_friction(f64::NAN),
            sphere().restitution(-0.1),
            sphere().restitution(1.1),
            sphere().restitution(f64::NAN),
            sphere().stiffness(0.0),
            sphere().stiffness(f64::NAN),
            sphere().dissipation_time(-1.0),
            sphere().near_rigid(-1.0),
            sphere().near_rigid(f64::NAN),
            sphere().stiction(0.0),
            Body::new(Shape::plane()),
            fixed.velocity([1.0, 0.0, 0.0]),
        ];
        let fixed = || Body::fixed(Shape::plane());
        let wrong = wrong.into_iter().chain([
            fixed().density(-1.0),
            fixed().density(f64::NAN),
            fixed().mass(f64::NAN, [1.0; 3]),
            fixed().mass(1.0, [1.0, 1.0, 3.0]),
        ]);
        for body in wrong {
            assert!(body.validate().is_err(), "{body:?}");
        }
    }
}
