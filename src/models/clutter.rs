//! Bodies that fall into a heap: the scene of the clutter tests.

use crate::InputError;
use crate::bodies::{Body, Scene, Shape};
use crate::random::{fraction, word};

/// Columns of spheres and cubes, turned at random, that fall on a plane and make a heap
/// (Castro et al., section VI-C).
///
/// ```
/// use saltation::models::Clutter;
/// use saltation::{Compliant, Start};
/// let scene = Clutter { bodies: 4, ..Clutter::default() }.scene()?;
/// let (q, v) = scene.start();
/// let mut stepper = Compliant::new(scene)?.time_step(0.01);
/// stepper.integrate(&Start::at(0.0).q(&q).v(&v), 0.5)?.completed()?;
/// assert!(stepper.statistics().overlap < 5e-3);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clutter {
    /// Number of bodies; they are dealt to the columns in turn.
    pub bodies: usize,
    /// Columns along each side, > 0; their distance is eight times the size.
    pub side: usize,
    /// Four walls keep the heap in.
    pub walls: bool,
    /// Seed of shapes, turns and places.
    pub seed: u64,
    /// Share of spheres, 0 to 1; the others are cubes.
    pub spheres: f64,
    /// Radius of spheres and half edge of cubes (m), > 0.
    pub size: f64,
    /// Density (kg/m³), > 0.
    pub density: f64,
    /// Coefficient of friction, ≥ 0.
    pub friction: f64,
    /// Stiffness of a contact (N/m), > 0.
    pub stiffness: f64,
    /// Dissipation time (s), ≥ 0.
    pub dissipation_time: f64,
}

impl Default for Clutter {
    /// 40 bodies of 10 cm in four columns between walls, half of them spheres; friction 1, 1e12 N/m and 10 ms.
    fn default() -> Self {
        Self {
            bodies: 40,
            side: 2,
            walls: true,
            seed: 0,
            spheres: 0.5,
            size: 0.05,
            density: 1000.0,
            friction: 1.0,
            stiffness: 1e12,
            dissipation_time: 0.01,
        }
    }
}

/// Draws of a body: shape, two of its place, three of its turn.
const DRAWS: u64 = 6;

impl Clutter {
    /// Distance of a wall from the middle (m).
    pub fn half_width(&self) -> f64 {
        4.0 * self.size * self.side as f64
    }

    /// The scene: the plane, the walls, then the bodies.
    ///
    /// # Errors
    /// As [`Scene::add`].
    pub fn scene(&self) -> Result<Scene, InputError> {
        let mut scene = Scene::new();
        let material = |body: Body| {
            let body = body.friction(self.friction).density(self.density);
            // Springs in series: two bodies of 2 k make a contact of k.
            let body = body.stiffness(2.0 * self.stiffness);
            body.dissipation_time(self.dissipation_time)
        };
        scene.add(material(Body::fixed(Shape::plane())))?;
        if self.walls {
            let wall = self.half_width();
            // Planes whose normals point inwards.
            let half = 0.5_f64.sqrt();
            for (x, y, turn) in [
                (-wall, 0.0, [half, 0.0, half, 0.0]),
                (wall, 0.0, [half, 0.0, -half, 0.0]),
                (0.0, -wall, [half, -half, 0.0, 0.0]),
                (0.0, wall, [half, half, 0.0, 0.0]),
            ] {
                let body = Body::fixed(Shape::plane()).position([x, y, 0.0]);
                scene.add(material(body.orientation(turn)))?;
            }
        }
        let side = self.side.max(1);
        let columns = side.saturating_mul(side);
        let shapes = [Shape::sphere(self.size)?, Shape::cuboid([self.size; 3])?];
        for i in 0..self.bodies {
            let (layer, column) = (i / columns, i % columns);
            let draw = |k: u64| fraction(word(self.seed, DRAWS * i as u64 + k));
            let place = |k: usize| 8.0 * k as f64 - 4.0 * (side - 1) as f64;
            let jitter = |k: u64| 0.2 * (2.0 * draw(k) - 1.0);
            let position = [
                self.size * (place(column % side) + jitter(1)),
                self.size * (place(column / side) + jitter(2)),
                self.size * (2.4 + 3.8 * layer as f64),
            ];
            let shape = shapes[usize::from(draw(0) >= self.spheres)].clone();
            let body = Body::new(shape).position(position);
            let turn = uniform_turn([draw(3), draw(4), draw(5)]);
            scene.add(material(body.orientation(turn)))?;
        }
        Ok(scene)
    }
}

/// A rotation of uniform measure from three numbers in [0, 1) (Shoemake 1992).
fn uniform_turn([u, a, b]: [f64; 3]) -> [f64; 4] {
    let circle = 2.0 * std::f64::consts::PI;
    let ((sin_a, cos_a), (sin_b, cos_b)) = ((circle * a).sin_cos(), (circle * b).sin_cos());
    let (r, s) = ((1.0 - u).sqrt(), u.sqrt());
    [s * cos_b, r * sin_a, r * cos_a, s * sin_b]
}
