//! The plate on points that push along its normal and never pull: law N, what a penalty contact
//! does.

use super::plate::PlateParameters;
use super::slices::{load, store};
use super::spring_row::{Line, SpringRow, both_bits};
use crate::{EventFunction, Flow, InputError, Mode, validate};

/// A plate on fixed points at `(x_i, L0)` that push along the normal of the plate.
///
/// With `C`, `S` = cosine and sine of `θ` and `u_i = x − x_i`, depth, lever, force and motion are
///
/// ```text
///     r_i = (L0 − z) C + u_i S      w_i = −(L0 − z) S + u_i C      r_i' = x' S − z' C + θ' w_i      g_i = k r_i + c r_i'
///     N_i = g_i  if r_i > 0 and g_i > 0, else 0
///     M x'' = −S Σ N_i              M z'' = C Σ N_i − M g          I θ'' = −Σ N_i w_i
/// ```
///
/// State `(x, z, θ, x', z', θ')`. With `n` points, event function `i` is `r_i` (m) and `n + i` is
/// `g_i` (N); the force acts while both side bits are on. So there are guards on velocities and
/// guards that are crossed without effect. Our own variant of the plate of Anderson & Revzen,
/// section 5.2.
///
/// `g_i` and `w_i` are linear in `u_i`, so that the flow needs only sums over the points that push.
///
/// ```
/// use saltation::{Integrator, Start, models::{NormalPlate, PlateParameters}};
/// let plate = NormalPlate::new(PlateParameters::with_springs(10))?;
/// let start = PlateParameters::random_start(2);
/// let run = Integrator::fixed::<6>(&plate)?.integrate(&Start::at(0.0).x(&start), 1.0)?;
/// assert!(run.crossings().iter().any(|c| c.guard.event >= 10));
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NormalPlate {
    parameters: PlateParameters,
    row: SpringRow,
}

/// Position and motion of the plate, as seen by its points.
struct Pose {
    x: f64,
    sine: f64,
    cosine: f64,
    vx: f64,
    vz: f64,
    omega: f64,
    /// Depth `r` (m).
    depth: Line,
    /// Lever `w` of the normal force (m).
    lever: Line,
    /// Force `g` (N) if it may act.
    force: Line,
}

impl NormalPlate {
    /// A plate with these parameters.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] for a parameter outside the range its documentation states, and
    /// for `shared_damping`, which this law does not know.
    pub fn new(parameters: PlateParameters) -> Result<Self, InputError> {
        parameters.check()?;
        let rule = "must be false: only VerticalPlate shares its damping";
        validate::unless(!parameters.shared_damping, "shared_damping", 1.0, rule)?;
        let row = SpringRow::new(parameters.springs, parameters.half_width);
        Ok(Self { parameters, row })
    }

    /// The parameters.
    pub fn parameters(&self) -> &PlateParameters {
        &self.parameters
    }

    /// Position `x_i` of point `i` (m); NaN when there is no such point.
    pub fn spring_position(&self, i: usize) -> f64 {
        self.row.position(i)
    }

    #[inline]
    fn pose(&self, state: &[f64]) -> Pose {
        let [x, z, theta, vx, vz, omega] = load(state);
        let (sine, cosine) = theta.sin_cos();
        let below = self.parameters.rest_length - z;
        let depth = Line(below * cosine, sine);
        let lever = Line(-below * sine, cosine);
        let rate = Line(vx * sine - vz * cosine + omega * lever.0, omega * lever.1);
        Pose {
            x,
            sine,
            cosine,
            vx,
            vz,
            omega,
            depth,
            lever,
            force: depth.combine(self.parameters.stiffness, rate, self.parameters.damping),
        }
    }

    /// Point and whether event function `k` is its force rather than its depth.
    #[inline]
    fn point(&self, k: usize) -> (usize, bool) {
        match k.checked_sub(self.row.len()) {
            None => (k, false),
            Some(i) => (i, true),
        }
    }
}

impl Flow for NormalPlate {
    fn dim(&self) -> usize {
        6
    }

    #[inline]
    fn flow(&self, _t: f64, state: &[f64], mode: &Mode, dx: &mut [f64]) {
        let p = &self.parameters;
        let pose = self.pose(state);
        let sums = self.row.sums(both_bits(mode, self.row.len()), pose.x);
        let thrust = sums.total(pose.force);
        let torque = sums.total_product(pose.force, pose.lever);
        store(
            dx,
            [
                pose.vx,
                pose.vz,
                pose.omega,
                -pose.sine * thrust / p.mass,
                pose.cosine * thrust / p.mass - p.gravity,
                -torque / p.inertia,
            ],
        );
    }

    fn jacobian_times(
        &self,
        _t: f64,
        state: &[f64],
        mode: &Mode,
        v: &[f64],
        out: &mut [f64],
    ) -> bool {
        let p = &self.parameters;
        let (k, c) = (p.stiffness, p.damping);
        let pose = self.pose(state);
        let Pose {
            sine,
            cosine,
            vx,
            vz,
            omega,
            depth,
            lever,
            force,
            ..
        } = pose;
        let [dx, dz, dtheta, dvx, dvz, domega] = load(v);
        let sums = self.row.sums(both_bits(mode, self.row.len()), pose.x);
        // Dw_i · v = C dx + S dz − r_i dθ, and Dg_i · v, both linear in u_i as r_i and w_i are.
        let dlever = Line(
            cosine * dx + sine * dz - depth.0 * dtheta,
            -depth.1 * dtheta,
        );
        let common = k * (sine * dx - cosine * dz)
            + c * (omega * (cosine * dx + sine * dz)
                + (vx * cosine + vz * sine) * dtheta
                + sine * dvx
                - cosine * dvz);
        let moving = lever.combine(k * dtheta + c * domega, depth, -c * omega * dtheta);
        let dforce = Line(common + moving.0, moving.1);
        let thrust = sums.total(force);
        let dthrust = sums.total(dforce);
        let dtorque = sums.total_product(dforce, lever) + sums.total_product(force, dlever);
        store(
            out,
            [
                dvx,
                dvz,
                domega,
                -(cosine * thrust * dtheta + sine * dthrust) / p.mass,
                (cosine * dthrust - sine * thrust * dtheta) / p.mass,
                -dtorque / p.inertia,
            ],
        );
        true
    }

    #[inline]
    fn flip(&self, _t: f64, state: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
        let n = self.row.len();
        let (i, is_force) = self.point(k);
        let partner = if is_force { i } else { n + i };
        if !mode.contains(partner) {
            return true;
        }
        let p = &self.parameters;
        let pose = self.pose(state);
        let arm = pose.x - self.row.position(i);
        let sign = if mode.contains(k) { 1.0 } else { -1.0 };
        let force = sign * pose.force.at(arm);
        let [vx, vz, omega, ax, az, alpha] = load(dx);
        store(
            dx,
            [
                vx,
                vz,
                omega,
                ax - pose.sine * force / p.mass,
                az + pose.cosine * force / p.mass,
                alpha - force * pose.lever.at(arm) / p.inertia,
            ],
        );
        true
    }
}

impl EventFunction for NormalPlate {
    fn count(&self) -> usize {
        2 * self.row.len()
    }

    #[inline]
    fn event(&self, k: usize, _t: f64, state: &[f64], _mode: &Mode) -> f64 {
        let pose = self.pose(state);
        let (i, is_force) = self.point(k);
        let line = if is_force { pose.force } else { pose.depth };
        line.at(pose.x - self.row.position(i))
    }

    #[inline]
    fn events(&self, _t: f64, state: &[f64], _mode: &Mode, h: &mut [f64]) {
        let pose = self.pose(state);
        let (depths, forces) = h.split_at_mut(self.row.len().min(h.len()));
        for (r_i, x_i) in depths.iter_mut().zip(self.row.positions()) {
            *r_i = pose.depth.at(pose.x - x_i);
        }
        for (g_i, x_i) in forces.iter_mut().zip(self.row.positions()) {
            *g_i = pose.force.at(pose.x - x_i);
        }
    }

    #[inline]
    fn gradient(
        &self,
        k: usize,
        _t: f64,
        state: &[f64],
        _mode: &Mode,
        dh: &mut [f64],
    ) -> Option<f64> {
        let (i, is_force) = self.point(k);
        let pose = self.pose(state);
        let Pose {
            sine,
            cosine,
            vx,
            vz,
            omega,
            ..
        } = pose;
        let arm = pose.x - self.row.position(i);
        let (depth, lever) = (pose.depth.at(arm), pose.lever.at(arm));
        let row = if is_force {
            let (k, c) = (self.parameters.stiffness, self.parameters.damping);
            [
                k * sine + c * omega * cosine,
                -k * cosine + c * omega * sine,
                k * lever + c * (vx * cosine + vz * sine - omega * depth),
                c * sine,
                -c * cosine,
                c * lever,
            ]
        } else {
            [sine, -cosine, lever, 0.0, 0.0, 0.0]
        };
        store(dh, row);
        Some(0.0)
    }

    fn time_scale(&self, _k: usize) -> Option<f64> {
        Some(f64::INFINITY)
    }

    fn ignores_mode(&self) -> bool {
        true
    }

    fn resets(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{
        assert_events, assert_flips, assert_jacobian, assert_near, flow,
    };
    use super::*;

    const STATE: [f64; 6] = [0.21, 0.83, -0.17, 0.6, -1.9, 0.8];

    fn plate(springs: usize) -> NormalPlate {
        let parameters = PlateParameters {
            mass: 1.3,
            inertia: 2.1,
            half_width: 0.9,
            ..PlateParameters::with_springs(springs)
        };
        NormalPlate::new(parameters).unwrap()
    }

    fn modes(n: usize) -> [Mode; 4] {
        let some: Vec<_> = (0..2 * n).filter(|i| i % 5 != 1).collect();
        let depths: Vec<_> = (0..n).collect();
        let all: Vec<_> = (0..2 * n).collect();
        [&[][..], &some, &depths, &all].map(|on| Mode::with(2 * n, on))
    }

    /// The law as it is written in the specification, point by point.
    fn plain_flow(plate: &NormalPlate, state: &[f64; 6], mode: &Mode) -> [f64; 6] {
        let p = plate.parameters();
        let [x, z, theta, vx, vz, omega] = *state;
        let (sine, cosine) = theta.sin_cos();
        let (mut thrust, mut torque) = (0.0, 0.0);
        for i in (0..p.springs).filter(|&i| mode.contains(i) && mode.contains(p.springs + i)) {
            let a = plate.spring_position(i) - x;
            let depth = (p.rest_length - z) * cosine - a * sine;
            let lever = -(p.rest_length - z) * sine - a * cosine;
            let rate = vx * sine - vz * cosine + omega * lever;
            let force = p.stiffness * depth + p.damping * rate;
            thrust += force;
            torque += force * lever;
        }
        [
            vx,
            vz,
            omega,
            -sine * thrust / p.mass,
            cosine * thrust / p.mass - p.gravity,
            -torque / p.inertia,
        ]
    }

    #[test]
    fn the_flow_agrees_with_adding_up_the_points() {
        for n in [1, 2, 10, 32, 33, 64, 65, 100] {
            let plate = plate(n);
            for mode in modes(n) {
                assert_near(
                    &flow(&plate, &STATE, &mode),
                    &plain_flow(&plate, &STATE, &mode),
                    1e-13,
                );
            }
        }
    }

    #[test]
    fn derivatives_and_flips_agree_with_the_flow() {
        for n in [1, 2, 3, 10, 65] {
            let plate = plate(n);
            for mode in modes(n) {
                assert_jacobian(&plate, &plate, &STATE, &mode);
                assert_events(&plate, &STATE, &mode);
                assert_flips(&plate, &STATE, &mode);
            }
        }
    }

    #[test]
    fn the_force_is_stiffness_times_depth_plus_damping_times_its_rate() {
        let plate = plate(4);
        let p = plate.parameters();
        for i in 0..4 {
            let mut row = [0.0; 6];
            plate.gradient(i, 0.0, &STATE, &Mode::new(8), &mut row);
            let rate = row[0] * STATE[3] + row[1] * STATE[4] + row[2] * STATE[5];
            let depth = plate.event(i, 0.0, &STATE, &Mode::new(8));
            let force = plate.event(4 + i, 0.0, &STATE, &Mode::new(8));
            assert_near(&[force], &[p.stiffness * depth + p.damping * rate], 1e-14);
        }
    }

    #[test]
    fn a_level_plate_is_not_tilted() {
        for n in [2, 3, 10, 50, 101] {
            let plate = plate(n);
            let all: Vec<_> = (0..2 * n).collect();
            let dx = flow(
                &plate,
                &[0.0, 0.8, 0.0, 0.0, -2.0, 0.0],
                &Mode::with(2 * n, &all),
            );
            assert_eq!((dx[3], dx[5]), (0.0, 0.0));
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        assert!(NormalPlate::new(PlateParameters::with_springs(0)).is_err());
        let shared = PlateParameters {
            shared_damping: true,
            ..PlateParameters::with_springs(2)
        };
        assert!(matches!(
            NormalPlate::new(shared),
            Err(InputError::BadSetting {
                name: "shared_damping",
                ..
            })
        ));
    }
}
