//! The plate on vertical spring-dampers: law V, the force law of the paper.

use super::plate::PlateParameters;
use super::slices::{load, store};
use super::spring_row::{Line, SpringRow};
use crate::{EventFunction, Flow, InputError, Mode};

/// A plate on vertical spring-dampers with massless, frictionless tips.
///
/// With `t = tan θ`, `q = 1 + t²`, `u_i = x − x_i`, compression and force of a spring are
///
/// ```text
///     δ_i = L0 − z + t u_i        δ_i' = t x' − z' + q u_i θ'        F_i = k δ_i + c δ_i'  in contact, 0 otherwise
///     M x'' = −t Σ F_i            M z'' = Σ F_i − M g                I θ'' = −q Σ F_i u_i
/// ```
///
/// State `(x, z, θ, x', z', θ')`. Event functions `h_i = δ_i` (m), one a spring, side bit on in
/// contact; the force may pull just before a contact opens. Source: Anderson & Revzen, section 5.2
/// (the plate and its event functions); the force is that of virtual work.
///
/// `F_i` is linear in `u_i`, so that the flow needs only the number of contacts and the sums of
/// `x_i` and `x_i²` over them: its cost hardly grows with the number of springs, and that of a
/// crossing not at all.
///
/// ```
/// use saltation::{Integrator, Start, models::{PlateParameters, VerticalPlate}};
/// let plate = VerticalPlate::new(PlateParameters::with_springs(50))?;
/// let start = [0.0, 2.2, 0.0, 0.0, 0.0, 0.0];
/// let run = Integrator::fixed::<6>(&plate)?.integrate(&Start::at(0.0).x(&start), 0.6)?;
/// // Level: all springs are touched at once, and the plate stays level.
/// assert_eq!(run.corners()[0].order.len(), 50);
/// assert!(run.state()[2].abs() < 1e-12);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VerticalPlate {
    parameters: PlateParameters,
    row: SpringRow,
}

/// Position and motion of the plate, as seen by its springs.
struct Pose {
    x: f64,
    /// `tan θ`.
    t: f64,
    /// `1 + tan² θ`.
    q: f64,
    vx: f64,
    omega: f64,
    /// Compression `δ` (m).
    compression: Line,
    /// Its rate `δ'` (m/s).
    rate: Line,
}

impl VerticalPlate {
    /// A plate with these parameters.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] for a parameter outside the range its documentation states.
    pub fn new(parameters: PlateParameters) -> Result<Self, InputError> {
        parameters.check()?;
        let row = SpringRow::new(parameters.springs, parameters.half_width);
        Ok(Self { parameters, row })
    }

    /// The parameters.
    pub fn parameters(&self) -> &PlateParameters {
        &self.parameters
    }

    /// Position `x_i` of spring `i` (m); NaN when there is no such spring.
    pub fn spring_position(&self, i: usize) -> f64 {
        self.row.position(i)
    }

    #[inline]
    fn pose(&self, state: &[f64]) -> Pose {
        let [x, z, theta, vx, vz, omega] = load(state);
        let t = theta.tan();
        let q = 1.0 + t * t;
        Pose {
            x,
            t,
            q,
            vx,
            omega,
            compression: Line(self.parameters.rest_length - z, t),
            rate: Line(t * vx - vz, q * omega),
        }
    }

    /// Damping constant of one spring when `in_contact` of them touch (N s/m).
    #[inline]
    fn damping(&self, in_contact: f64) -> f64 {
        if self.parameters.shared_damping {
            self.parameters.damping * in_contact / self.row.len() as f64
        } else {
            self.parameters.damping
        }
    }

    #[inline]
    fn force(&self, pose: &Pose, damping: f64) -> Line {
        pose.compression
            .combine(self.parameters.stiffness, pose.rate, damping)
    }
}

impl Flow for VerticalPlate {
    fn dim(&self) -> usize {
        6
    }

    #[inline]
    fn flow(&self, _t: f64, state: &[f64], mode: &Mode, dx: &mut [f64]) {
        let p = &self.parameters;
        let pose = self.pose(state);
        let [_, _, _, vx, vz, omega] = load(state);
        let sums = self.row.sums(mode.words(), pose.x);
        let force = self.force(&pose, self.damping(sums.count));
        let thrust = sums.total(force);
        let torque = sums.total_product(force, Line::ARM);
        store(
            dx,
            [
                vx,
                vz,
                omega,
                -pose.t * thrust / p.mass,
                thrust / p.mass - p.gravity,
                -pose.q * torque / p.inertia,
            ],
        );
    }

    fn jacobian_times(
        &self,
        t: f64,
        state: &[f64],
        mode: &Mode,
        v: &[f64],
        out: &mut [f64],
    ) -> bool {
        self.jacobian_times_each(t, state, mode, v, out)
    }

    fn jacobian_times_each(
        &self,
        _t: f64,
        state: &[f64],
        mode: &Mode,
        v: &[f64],
        out: &mut [f64],
    ) -> bool {
        let p = &self.parameters;
        let pose = self.pose(state);
        let Pose {
            t, q, vx, omega, ..
        } = pose;
        let sums = self.row.sums(mode.words(), pose.x);
        let (k, c) = (p.stiffness, self.damping(sums.count));
        let force = self.force(&pose, c);
        let thrust = sums.total(force);
        let torque = sums.total_product(force, Line::ARM);
        for (v, out) in v.chunks_exact(6).zip(out.chunks_exact_mut(6)) {
            let [dx, dz, dtheta, dvx, dvz, domega] = load(v);
            // Change of F_i, again linear in u_i, in which u_i itself changes by dx.
            let change = Line(
                (k * t + c * q * omega) * dx - k * dz + c * (q * vx * dtheta + t * dvx - dvz),
                q * ((k + 2.0 * c * t * omega) * dtheta + c * domega),
            );
            let dthrust = sums.total(change);
            let dtorque = sums.total_product(change, Line::ARM) + thrust * dx;
            store(
                out,
                [
                    dvx,
                    dvz,
                    domega,
                    -(q * thrust * dtheta + t * dthrust) / p.mass,
                    dthrust / p.mass,
                    -q * (2.0 * t * torque * dtheta + dtorque) / p.inertia,
                ],
            );
        }
        true
    }

    #[inline]
    fn flip(&self, _t: f64, state: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
        // With shared damping the forces of the other springs change too.
        if self.parameters.shared_damping {
            return false;
        }
        let p = &self.parameters;
        let pose = self.pose(state);
        let arm = pose.x - self.row.position(k);
        let sign = if mode.contains(k) { 1.0 } else { -1.0 };
        let force = sign * self.force(&pose, p.damping).at(arm);
        let [vx, vz, omega, ax, az, alpha] = load(dx);
        store(
            dx,
            [
                vx,
                vz,
                omega,
                ax - pose.t * force / p.mass,
                az + force / p.mass,
                alpha - pose.q * force * arm / p.inertia,
            ],
        );
        true
    }
}

impl EventFunction for VerticalPlate {
    fn count(&self) -> usize {
        self.row.len()
    }

    #[inline]
    fn event(&self, k: usize, _t: f64, state: &[f64], _mode: &Mode) -> f64 {
        let [x, z, theta, ..] = load::<6>(state);
        Line(self.parameters.rest_length - z, theta.tan()).at(x - self.row.position(k))
    }

    #[inline]
    fn events(&self, _t: f64, state: &[f64], _mode: &Mode, h: &mut [f64]) {
        let [x, z, theta, ..] = load::<6>(state);
        let compression = Line(self.parameters.rest_length - z, theta.tan());
        for (h_i, x_i) in h.iter_mut().zip(self.row.positions()) {
            *h_i = compression.at(x - x_i);
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
        let [x, _, theta, ..] = load::<6>(state);
        let t = theta.tan();
        let arm = x - self.row.position(k);
        store(dh, [t, -1.0, (1.0 + t * t) * arm, 0.0, 0.0, 0.0]);
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
#[expect(clippy::float_cmp, reason = "exact equality is what is promised")]
mod tests {
    use super::super::PlainPlate;
    use super::super::test_support::{
        assert_events, assert_flips, assert_jacobian, assert_near, flow,
    };
    use super::*;

    const STATE: [f64; 6] = [0.21, 0.83, -0.17, 0.6, -1.9, 0.8];

    fn plate(springs: usize, shared_damping: bool) -> VerticalPlate {
        let parameters = PlateParameters {
            mass: 1.3,
            inertia: 2.1,
            half_width: 0.9,
            shared_damping,
            ..PlateParameters::with_springs(springs)
        };
        VerticalPlate::new(parameters).unwrap()
    }

    fn modes(n: usize) -> [Mode; 4] {
        let some: Vec<_> = (0..n).filter(|i| i % 3 != 1).collect();
        let left: Vec<_> = (0..n / 2).collect();
        let all: Vec<_> = (0..n).collect();
        [&[][..], &some, &left, &all].map(|on| Mode::with(n, on))
    }

    #[test]
    fn the_flow_agrees_with_adding_up_the_springs() {
        for shared in [false, true] {
            for n in [1, 2, 3, 10, 64, 65, 130] {
                let plate = plate(n, shared);
                for mode in modes(n) {
                    let sums = flow(&plate, &STATE, &mode);
                    assert_near(&sums, &flow(&PlainPlate(&plate), &STATE, &mode), 1e-13);
                }
            }
        }
    }

    #[test]
    fn the_force_follows_from_virtual_work() {
        // One spring at u: the generalised force along each coordinate is F ∂δ/∂(x, z, θ).
        let plate = plate(1, false);
        let dx = flow(&plate, &STATE, &Mode::with(1, &[0]));
        let mut row = [0.0; 6];
        plate.gradient(0, 0.0, &STATE, &Mode::new(1), &mut row);
        let h = plate.event(0, 0.0, &STATE, &Mode::new(1));
        let rate = row[0] * STATE[3] + row[1] * STATE[4] + row[2] * STATE[5];
        let p = plate.parameters();
        let force = p.stiffness * h + p.damping * rate;
        let expected = [
            -force * row[0] / p.mass,
            -force * row[1] / p.mass - p.gravity,
            -force * row[2] / p.inertia,
        ];
        assert_near(&dx[3..], &expected, 1e-14);
    }

    #[test]
    fn derivatives_and_flips_agree_with_the_flow() {
        for n in [1, 2, 3, 10, 65] {
            let plate = plate(n, false);
            for mode in modes(n) {
                assert_jacobian(&plate, &PlainPlate(&plate), &STATE, &mode);
                assert_events(&plate, &STATE, &mode);
                assert_flips(&plate, &STATE, &mode);
            }
        }
    }

    #[test]
    fn shared_damping_scales_with_the_contacts_and_leaves_flips_to_the_crate() {
        let plate = plate(3, true);
        for mode in modes(3) {
            assert_jacobian(&plate, &PlainPlate(&plate), &STATE, &mode);
        }
        let mode = Mode::with(3, &[1]);
        assert!(!plate.flip(0.0, &STATE, &mode, 1, &mut [0.0; 6]));
        let one_third = VerticalPlate::new(PlateParameters {
            damping: plate.parameters().damping / 3.0,
            shared_damping: false,
            ..*plate.parameters()
        })
        .unwrap();
        assert_near(
            &flow(&plate, &STATE, &mode),
            &flow(&one_third, &STATE, &mode),
            1e-15,
        );
    }

    #[test]
    fn a_level_plate_is_not_tilted() {
        for n in [2, 3, 10, 50, 101] {
            let plate = plate(n, false);
            let all: Vec<_> = (0..n).collect();
            let dx = flow(
                &plate,
                &[0.0, 0.8, 0.0, 0.0, -2.0, 0.0],
                &Mode::with(n, &all),
            );
            assert_eq!((dx[3], dx[5]), (0.0, 0.0));
            let mut h = vec![0.0; n];
            plate.events(0.0, &[0.0, 0.8, 0.0, 0.0, -2.0, 0.0], &Mode::new(n), &mut h);
            assert!(h.iter().all(|h_i| *h_i == h[0]));
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        assert!(VerticalPlate::new(PlateParameters::with_springs(0)).is_err());
        let infinite = PlateParameters {
            rest_length: f64::INFINITY,
            ..PlateParameters::with_springs(2)
        };
        assert!(VerticalPlate::new(infinite).is_err());
    }
}
