//! A stack of cubes, level or on a slope: softening, slip and condition of compliant contact.

use crate::InputError;
use crate::bodies::{Body, Scene, Shape};

/// Cubes that stand face on face on a plane.
///
/// Between two cubes, and between the lowest and the plane, there are four contacts. In a compliant
/// step of `dt` their response has the root mean square [`response`](Self::response), and where the
/// near-rigid limit holds the gap of an interface at rest is `−R_n (dt + τ) N dt/4` with the
/// load `N` above it, but for terms of the order of the gap over the edge.
///
/// ```
/// use saltation::models::CubeStack;
/// use saltation::{Compliant, Start};
/// let stack = CubeStack { cubes: 2, ..CubeStack::default() };
/// let scene = stack.scene()?;
/// let (q, v) = scene.start();
/// let run = Compliant::new(scene)?.integrate(&Start::at(0.0).q(&q).v(&v), 1.0)?.completed()?;
/// let normal = stack.response(0) / (2.0 * std::f64::consts::PI).powi(2);
/// let gap = -normal * (0.01 + 0.01) * stack.load(0) * 0.01 / 4.0;
/// assert!((stack.gaps(run.state().as_slice())[0] / gap - 1.0).abs() < 5e-3);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubeStack {
    /// Number of cubes.
    pub cubes: usize,
    /// Length of the edges (m), > 0.
    pub edge: f64,
    /// Density (kg/m³), > 0.
    pub density: f64,
    /// Coefficient of friction, ≥ 0.
    pub friction: f64,
    /// Stiffness of a contact (N/m), > 0.
    pub stiffness: f64,
    /// Dissipation time (s), ≥ 0.
    pub dissipation_time: f64,
    /// Angle between gravity and the normal of the plane (rad); it pulls along `x`.
    pub slope: f64,
    /// Gravity (m/s²).
    pub gravity: f64,
}

impl Default for CubeStack {
    /// Five cubes of 10 cm and 1 kg on a level plane; friction 1, 1e12 N/m and 10 ms.
    fn default() -> Self {
        Self {
            cubes: 5,
            edge: 0.1,
            density: 1000.0,
            friction: 1.0,
            stiffness: 1e12,
            dissipation_time: 0.01,
            slope: 0.0,
            gravity: 9.81,
        }
    }
}

impl CubeStack {
    /// The scene: the plane, then the cubes from below, which touch. Contact points lie in the
    /// middle of the gaps.
    ///
    /// # Errors
    /// As [`Scene::add`].
    pub fn scene(&self) -> Result<Scene, InputError> {
        let mut scene = Scene::new();
        scene.middle_points(true);
        let (sin, cos) = self.slope.sin_cos();
        scene.gravity([self.gravity * sin, 0.0, -self.gravity * cos])?;
        // Springs in series: two bodies of 2 k make a contact of k.
        let material = |body: Body, stiffness: f64| {
            let body = body.friction(self.friction).stiffness(stiffness);
            body.dissipation_time(self.dissipation_time)
        };
        scene.add(material(Body::fixed(Shape::plane()), 2.0 * self.stiffness))?;
        let cube = Shape::cuboid([0.5 * self.edge; 3])?;
        for i in 0..self.cubes {
            let height = (i as f64 + 0.5) * self.edge;
            let body = Body::new(cube.clone()).density(self.density);
            let body = body.position([0.0, 0.0, height]);
            scene.add(material(body, 2.0 * self.stiffness))?;
        }
        Ok(scene)
    }

    /// Mass of a cube (kg).
    pub fn mass(&self) -> f64 {
        self.density * self.edge.powi(3)
    }

    /// The normal load of an interface (N), 0 for that with the plane.
    pub fn load(&self, interface: usize) -> f64 {
        let above = self.cubes.saturating_sub(interface) as f64;
        above * self.mass() * self.gravity * self.slope.cos()
    }

    /// The root mean square `w` of the response of a contact (1/kg), which does not depend on the
    /// edge.
    pub fn response(&self, interface: usize) -> f64 {
        let squares: f64 = if interface == 0 { 61.5 } else { 210.0 };
        squares.sqrt() / (3.0 * self.mass())
    }

    /// The gaps of the interfaces (m) between level cubes with these coordinates.
    pub fn gaps(&self, q: &[f64]) -> Vec<f64> {
        let mut below = -0.5 * self.edge;
        let heights = q.chunks_exact(7).take(self.cubes).map(|q| q[2]);
        heights
            .map(|height| {
                let gap = height - below - self.edge;
                below = height;
                gap
            })
            .collect()
    }
}
