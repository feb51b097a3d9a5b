//! Rigid links in the plane against straight walls: what the models of Halm & Posa share, and the
//! robot of Seghete & Murphey.
//!
//! Coordinates are the position of a base point (`x`, `y`) and angles. A point is the base plus
//! arms, each turned by the sum of some angles.

/// Limit of the arms from the base to a point.
const ARMS: usize = 3;

/// A set of coordinates whose sum is an angle: bit `i` is coordinate `i`.
pub(super) type Angle = u8;

fn turns(angle: Angle, i: usize) -> bool {
    i < 8 && angle & (1 << i) != 0
}

fn sum(angle: Angle, values: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (i, value) in values.iter().enumerate() {
        if turns(angle, i) {
            sum += value;
        }
    }
    sum
}

fn dot([a, b]: [f64; 2], [c, d]: [f64; 2]) -> f64 {
    a * c + b * d
}

/// A vector that turns with an angle: `along` at angle 0 (m).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arm {
    pub(super) along: [f64; 2],
    pub(super) angle: Angle,
}

impl Arm {
    pub(super) fn new(along: [f64; 2], angle: Angle) -> Self {
        Self { along, angle }
    }

    fn turned(&self, q: &[f64]) -> [f64; 2] {
        let (sine, cosine) = sum(self.angle, q).sin_cos();
        let [x, y] = self.along;
        [x * cosine - y * sine, x * sine + y * cosine]
    }
}

/// A point of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Point([Arm; ARMS]);

impl Point {
    /// The base.
    pub(super) fn base() -> Self {
        Self::default()
    }

    pub(super) fn at(arm: Arm) -> Self {
        Self([arm, Arm::default(), Arm::default()])
    }

    pub(super) fn reached_by(arms: [Arm; ARMS]) -> Self {
        Self(arms)
    }

    /// The arms that have a length.
    fn arms(&self) -> impl Iterator<Item = &Arm> {
        self.0
            .iter()
            .filter(|arm| arm.along.iter().any(|x| *x != 0.0))
    }

    pub(super) fn position(&self, q: &[f64]) -> [f64; 2] {
        let base = super::slices::load::<2>(q);
        self.arms().fold(base, |[x, y], arm| {
            let [along, across] = arm.turned(q);
            [x + along, y + across]
        })
    }

    /// Adds the row of its velocity in a direction.
    fn add_row(&self, direction: [f64; 2], q: &[f64], row: &mut [f64]) {
        for (entry, component) in row.iter_mut().zip(direction) {
            *entry += component;
        }
        for arm in self.arms() {
            let [x, y] = arm.turned(q);
            let lever = dot(direction, [-y, x]);
            add(arm.angle, lever, row);
        }
    }

    fn velocity(&self, q: &[f64], v: &[f64]) -> [f64; 2] {
        let base = super::slices::load::<2>(v);
        self.arms().fold(base, |[vx, vy], arm| {
            let ([x, y], rate) = (arm.turned(q), sum(arm.angle, v));
            [vx - y * rate, vy + x * rate]
        })
    }

    /// The acceleration without that of the coordinates.
    fn curvature(&self, q: &[f64], v: &[f64]) -> [f64; 2] {
        self.arms().fold([0.0; 2], |[ax, ay], arm| {
            let ([x, y], rate) = (arm.turned(q), sum(arm.angle, v));
            [ax - x * rate * rate, ay - y * rate * rate]
        })
    }
}

/// Adds a value to the entries of the coordinates of an angle.
fn add(angle: Angle, value: f64, row: &mut [f64]) {
    for (i, entry) in row.iter_mut().enumerate() {
        if turns(angle, i) {
            *entry += value;
        }
    }
}

/// A rigid body: mass (kg), moment of inertia (kg m²), centre of mass, and the angle it turns with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    pub(super) mass: f64,
    pub(super) inertia: f64,
    pub(super) centre: Point,
    pub(super) angle: Angle,
}

impl Body {
    /// The only body of a model, its centre the base.
    pub(super) fn alone(mass: f64, inertia: f64, angle: Angle) -> [Self; 1] {
        let centre = Point::base();
        [Self {
            mass,
            inertia,
            centre,
            angle,
        }]
    }
}

/// A disc (or a point, for radius 0) of a body against the line `normal · p = offset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineContact {
    pub(super) centre: Point,
    pub(super) radius: f64,
    /// The angle of the body.
    pub(super) angle: Angle,
    /// The unit normal of the line, towards the body.
    pub(super) normal: [f64; 2],
    pub(super) offset: f64,
}

impl LineContact {
    /// A point on the floor `y = 0`.
    pub(super) fn on_floor(centre: Point) -> Self {
        Self {
            centre,
            radius: 0.0,
            angle: 0,
            normal: [0.0, 1.0],
            offset: 0.0,
        }
    }

    pub(super) fn gap(&self, q: &[f64]) -> f64 {
        dot(self.normal, self.centre.position(q)) - self.offset - self.radius
    }

    pub(super) fn normal_row(&self, q: &[f64], row: &mut [f64]) {
        row.fill(0.0);
        self.centre.add_row(self.normal, q, row);
    }

    /// Along the tangent `(n_y, −n_x)`.
    pub(super) fn tangent_row(&self, q: &[f64], row: &mut [f64]) {
        let [x, y] = self.normal;
        row.fill(0.0);
        self.centre.add_row([y, -x], q, row);
        add(self.angle, self.radius, row);
    }

    pub(super) fn curvature(&self, q: &[f64], v: &[f64]) -> f64 {
        dot(self.normal, self.centre.curvature(q, v))
    }

    pub(super) fn is_straight(&self) -> bool {
        self.centre.0.iter().all(|arm| arm.angle == 0)
    }
}

/// Bodies under gravity and their contacts.
pub(super) trait Linkage {
    /// Coordinates.
    const DOF: usize;
    const CONTACTS: usize;

    fn bodies(&self) -> impl IntoIterator<Item = Body>;

    /// Contact `j`, below [`CONTACTS`](Self::CONTACTS).
    fn contact(&self, j: usize) -> LineContact;
}

pub(super) fn mass(linkage: &impl Linkage, dof: usize, q: &[f64], mass: &mut [f64]) {
    mass.fill(0.0);
    for body in linkage.bodies() {
        let rows = [[1.0, 0.0], [0.0, 1.0]].map(|direction| {
            let mut row = [0.0; 8];
            body.centre.add_row(direction, q, &mut row);
            row
        });
        for (j, column) in mass.chunks_exact_mut(dof.max(1)).enumerate() {
            for (i, entry) in column.iter_mut().enumerate() {
                for row in &rows {
                    let pair = row.get(i).zip(row.get(j));
                    *entry += pair.map_or(0.0, |(a, b)| body.mass * a * b);
                }
                if turns(body.angle, i) && turns(body.angle, j) {
                    *entry += body.inertia;
                }
            }
        }
    }
}

pub(super) fn potential(linkage: &impl Linkage, gravity: f64, q: &[f64]) -> f64 {
    let bodies = linkage.bodies().into_iter();
    let moments = bodies.map(|body| body.mass * body.centre.position(q)[1]);
    gravity * moments.sum::<f64>()
}

pub(super) fn weight(linkage: &impl Linkage, gravity: f64, q: &[f64], effort: &mut [f64]) {
    effort.fill(0.0);
    for body in linkage.bodies() {
        let force = -body.mass * gravity;
        body.centre.add_row([0.0, force], q, effort);
    }
}

/// The change of the weight along `dq`.
pub(super) fn weight_along(
    linkage: &impl Linkage,
    gravity: f64,
    q: &[f64],
    dq: &[f64],
    out: &mut [f64],
) {
    out.fill(0.0);
    for body in linkage.bodies() {
        for arm in &body.centre.0 {
            let [_, y] = arm.turned(q);
            let torque = body.mass * gravity * y * sum(arm.angle, dq);
            add(arm.angle, torque, out);
        }
    }
}

/// `−Σ m Jᵀ J̇ v`: inertia does not turn in the plane.
pub(super) fn coriolis(linkage: &impl Linkage, q: &[f64], v: &[f64], force: &mut [f64]) {
    force.fill(0.0);
    for body in linkage.bodies() {
        let inertial = body.centre.curvature(q, v).map(|a| -body.mass * a);
        body.centre.add_row(inertial, q, force);
    }
}

/// `Σ m (J v) · ∂(J v)/∂q`.
pub(super) fn kinetic_gradient(linkage: &impl Linkage, q: &[f64], v: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for body in linkage.bodies() {
        let momentum = body.centre.velocity(q, v).map(|v| body.mass * v);
        for arm in &body.centre.0 {
            let ([x, y], rate) = (arm.turned(q), sum(arm.angle, v));
            add(arm.angle, dot(momentum, [-x * rate, -y * rate]), out);
        }
    }
}

/// The traits of a mechanical system with contacts, for a [`Linkage`] with fields `gravity` and
/// `friction`.
macro_rules! linkage_system {
    ($model:ty) => {
        impl crate::mechanics::MechanicalSystem for $model {
            fn time_scale(&self) -> Option<f64> {
                Some(f64::INFINITY)
            }

            fn dof(&self) -> usize {
                <Self as Linkage>::DOF
            }

            fn mass(&self, q: &[f64], mass: &mut [f64]) {
                super::linkage::mass(self, <Self as Linkage>::DOF, q, mass);
            }

            fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
                super::linkage::weight(self, self.gravity, q, effort);
            }

            fn effort_along(
                &self,
                crate::mechanics::State { q, .. }: crate::mechanics::State<'_>,
                directions: &[f64],
                out: &mut [f64],
            ) -> bool {
                let d = <Self as Linkage>::DOF;
                let directions = directions.chunks_exact(2 * d);
                for (along, out) in directions.zip(out.chunks_exact_mut(d)) {
                    super::linkage::weight_along(self, self.gravity, q, &along[..d], out);
                }
                true
            }

            fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
                super::linkage::coriolis(self, q, v, force);
                true
            }

            fn kinetic_gradient(&self, q: &[f64], v: &[f64], gradient: &mut [f64]) -> bool {
                super::linkage::kinetic_gradient(self, q, v, gradient);
                true
            }

            fn constant_mass(&self) -> bool {
                <Self as Linkage>::DOF == 3
            }

            fn potential(&self, q: &[f64]) -> Option<f64> {
                Some(super::linkage::potential(self, self.gravity, q))
            }
        }

        impl crate::mechanics::UnilateralConstraints for $model {
            fn contacts(&self) -> usize {
                <Self as Linkage>::CONTACTS
            }

            fn gap(&self, j: usize, q: &[f64]) -> f64 {
                self.contact(j).gap(q)
            }

            fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
                self.contact(j).normal_row(q, row);
                true
            }

            fn constant_row(&self, j: usize) -> bool {
                self.contact(j).is_straight()
            }

            fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
                Some(self.contact(j).curvature(q, v))
            }

            fn friction(&self, _j: usize) -> f64 {
                self.friction
            }

            fn tangents(&self, _j: usize) -> usize {
                1
            }

            fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
                self.contact(j).tangent_row(q, rows);
            }
        }
    };
}

pub(super) use linkage_system;
