//! Systems with contacts: a field that depends on which contacts are closed, and a gap for each.

/// A system of `D` states, from its start to the time [`END`].
pub trait Contacts<const D: usize> {
    fn count(&self) -> usize;
    fn start(&self) -> [f64; D];
    /// `f(x)` with the contacts closed of which `is_closed` says so.
    fn field(&self, is_closed: impl Fn(usize) -> bool, x: &[f64], dx: &mut [f64]);
    /// Whether depths are affine in the state.
    fn is_affine(&self) -> bool;
    /// How far contact `k` is closed: positive in it.
    fn depth(&self, k: usize, x: &[f64]) -> f64;
    /// All of them.
    fn depths(&self, x: &[f64], depths: &mut [f64]);
    /// The gradient of the depth.
    fn row(&self, k: usize, x: &[f64], row: &mut [f64]);
}

/// When runs end (s).
pub const END: f64 = 2.0;

/// A mass on a spring without mass, dropped: states `[z, v]`.
#[derive(Default)]
pub struct Hopper(saltation::models::Hopper);

const HEIGHT: f64 = 2.0;

impl Hopper {
    /// The state at the end, in closed form.
    pub fn exact(&self) -> [f64; 2] {
        self.0.exact(HEIGHT, END)
    }
}

impl Contacts<2> for Hopper {
    fn count(&self) -> usize {
        1
    }
    fn start(&self) -> [f64; 2] {
        [HEIGHT, 0.0]
    }
    fn is_affine(&self) -> bool {
        true
    }
    #[inline]
    fn field(&self, is_closed: impl Fn(usize) -> bool, x: &[f64], dx: &mut [f64]) {
        let force = if is_closed(0) {
            self.0.stiffness * self.depth(0, x)
        } else {
            0.0
        };
        dx[0] = x[1];
        dx[1] = force / self.0.mass - self.0.gravity;
    }
    #[inline]
    fn depth(&self, _k: usize, x: &[f64]) -> f64 {
        self.0.rest_length - x[0]
    }
    #[inline]
    fn depths(&self, x: &[f64], depths: &mut [f64]) {
        depths[0] = self.depth(0, x);
    }
    #[inline]
    fn row(&self, _k: usize, _x: &[f64], row: &mut [f64]) {
        row.copy_from_slice(&[-1.0, 0.0]);
    }
}

/// A plate in the plane, tilted, dropped on vertical springs and dampers: states `[x, z, θ, vx, vz, ω]`.
pub struct Plate {
    /// Where the springs stand (m).
    places: Vec<f64>,
    stiffness: f64,
    damping: f64,
}

const GRAVITY: f64 = 9.81;
const REST_LENGTH: f64 = 1.0;
const INERTIA: f64 = 1.0 / 3.0;

impl Plate {
    /// On `n ≥ 2` springs between −1 and 1 m; together they are as stiff for every `n`.
    pub fn new(n: u16) -> Self {
        let part = |i: u16| f64::from(i) / f64::from(n - 1);
        Self {
            places: (0..n).map(|i| 2.0 * part(i) - 1.0).collect(),
            stiffness: 2000.0 / f64::from(n),
            damping: 5.0 / f64::from(n),
        }
    }
}

impl Contacts<6> for Plate {
    fn count(&self) -> usize {
        self.places.len()
    }
    fn start(&self) -> [f64; 6] {
        [0.0, 2.0, 0.05, 0.0, 0.0, 0.0]
    }
    fn is_affine(&self) -> bool {
        false
    }
    #[inline]
    fn field(&self, is_closed: impl Fn(usize) -> bool, x: &[f64], dx: &mut [f64]) {
        let slope = x[2].tan();
        let stretch = 1.0 + slope * slope;
        let mut force = [0.0, -GRAVITY, 0.0];
        for (k, place) in self.places.iter().enumerate() {
            if !is_closed(k) {
                continue;
            }
            // The force is along the gradient of the depth, (slope, −1, arm).
            let arm = stretch * (x[0] - place);
            let depth = REST_LENGTH + slope * (x[0] - place) - x[1];
            let rate = slope * x[3] - x[4] + arm * x[5];
            let push = self.stiffness * depth + self.damping * rate;
            force[0] -= push * slope;
            force[1] += push;
            force[2] -= push * arm;
        }
        dx[..3].copy_from_slice(&x[3..6]);
        dx[3..].copy_from_slice(&[force[0], force[1], force[2] / INERTIA]);
    }
    #[inline]
    fn depth(&self, k: usize, x: &[f64]) -> f64 {
        REST_LENGTH + x[2].tan() * (x[0] - self.places[k]) - x[1]
    }
    #[inline]
    fn depths(&self, x: &[f64], depths: &mut [f64]) {
        let slope = x[2].tan();
        for (depth, place) in depths.iter_mut().zip(&self.places) {
            *depth = REST_LENGTH + slope * (x[0] - place) - x[1];
        }
    }
    #[inline]
    fn row(&self, k: usize, x: &[f64], row: &mut [f64]) {
        let slope = x[2].tan();
        let arm = (1.0 + slope * slope) * (x[0] - self.places[k]);
        row.copy_from_slice(&[slope, -1.0, arm, 0.0, 0.0, 0.0]);
    }
}
