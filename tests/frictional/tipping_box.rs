//! A box in space that tips over an edge onto its face: two corners land at one instant, wherever its axes point.

use saltation::derivative::{NoDerivative, Verdict};
use saltation::event_driven::Zeno;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use saltation::{ContactModel, EventDriven, Run, Start, Status};

const GRAVITY: f64 = 9.81;
const HALF: [f64; 3] = [0.2, 0.15, 0.1];

/// One kilogram; `q` holds the centre and a quaternion, `v` the velocity of the centre and the angular velocity in
/// axes of the box.
#[derive(Clone, Copy, Debug)]
struct Tipping {
    friction: f64,
    restitution: f64,
}

impl Tipping {
    fn corner(j: usize) -> Vector3<f64> {
        let sign = |bit: usize| if j & bit == 0 { -1.0 } else { 1.0 };
        Vector3::new(HALF[0] * sign(4), HALF[1] * sign(1), HALF[2] * sign(2))
    }

    fn moments() -> [f64; 3] {
        let [a, b, c] = HALF.map(|half| half * half / 3.0);
        [b + c, a + c, a + b]
    }

    fn turn(q: &[f64]) -> Matrix3<f64> {
        let of = Quaternion::new(q[3], q[4], q[5], q[6]);
        UnitQuaternion::new_normalize(of)
            .to_rotation_matrix()
            .into_inner()
    }

    /// The velocity of a corner along an axis of the world.
    fn row(j: usize, q: &[f64], axis: &Vector3<f64>, row: &mut [f64]) {
        let arm = Self::corner(j).cross(&Self::turn(q).tr_mul(axis));
        row[..3].copy_from_slice(axis.as_slice());
        row[3..].copy_from_slice(arm.as_slice());
    }

    /// Over the edge of corners 2 and 6, tilted by 0.4 rad, with its axes turned about the vertical.
    fn start(yaw: f64) -> [f64; 7] {
        let tilt = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI - 0.4);
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw) * tilt;
        let low = (0..8).map(|j| (turn * Self::corner(j)).z);
        let low = low.fold(f64::INFINITY, f64::min);
        [0.0, 0.0, -low, turn.w, turn.i, turn.j, turn.k]
    }

    fn driver(self) -> EventDriven<Self> {
        let driver = EventDriven::new(ContactModel::new(self)).unwrap();
        driver.rtol(1e-8).atol(1e-10).zeno(Zeno::Absorb)
    }

    /// The run, and where the centre ends in axes that are turned with the box.
    fn falls(self, yaw: f64, tf: f64) -> (Run, [f64; 2]) {
        let q = Self::start(yaw);
        let run = self
            .driver()
            .integrate(&Start::at(0.0).q(&q).v(&[0.0; 6]), tf);
        let run = run.unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{yaw}");
        let ((sin, cos), x) = (yaw.sin_cos(), run.state());
        let end = [x[0] * cos + x[1] * sin, x[1] * cos - x[0] * sin];
        (run, end)
    }
}

impl MechanicalSystem for Tipping {
    fn dof(&self) -> usize {
        6
    }
    fn coordinates(&self) -> usize {
        7
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        m.fill(0.0);
        for (k, moment) in Self::moments().into_iter().enumerate() {
            (m[7 * k], m[7 * (k + 3)]) = (1.0, moment);
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], f: &mut [f64]) {
        f.fill(0.0);
        f[2] = -GRAVITY;
    }
    fn coriolis(&self, _q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        let spin = Vector3::from_column_slice(&v[3..]);
        let momentum = Vector3::from(Self::moments()).component_mul(&spin);
        force.fill(0.0);
        force[3..].copy_from_slice(momentum.cross(&spin).as_slice());
        true
    }
    fn configuration_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
        rate[..3].copy_from_slice(&v[..3]);
        let of = Quaternion::new(q[3], q[4], q[5], q[6]);
        let rates = of * Quaternion::new(0.0, v[3], v[4], v[5]) * 0.5;
        rate[3..].copy_from_slice(&[rates.w, rates.i, rates.j, rates.k]);
        true
    }
    fn project_configuration(&self, q: &mut [f64]) -> bool {
        let norm = q[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
        q[3..].iter_mut().for_each(|x| *x /= norm);
        true
    }
}

impl UnilateralConstraints for Tipping {
    fn contacts(&self) -> usize {
        8
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[2] + (Self::turn(q) * Self::corner(j)).z
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        Self::row(j, q, &Vector3::z(), row);
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let (first, second) = rows.split_at_mut(6);
        Self::row(j, q, &Vector3::x(), first);
        Self::row(j, q, &Vector3::y(), second);
    }
}

/// The corners that land first.
fn landing(run: &Run) -> Vec<usize> {
    let mut events = run.events().iter();
    let lands = events.find(|event| !event.activated.is_empty());
    lands.unwrap().activated.clone()
}

fn yaws() -> impl Iterator<Item = f64> {
    (0..24).map(|k| 0.07 + 0.26 * f64::from(k))
}

/// The world may be turned: both corners close in one impact. In the order of rounding the box would turn
/// about the vertical.
#[test]
fn corners_that_land_at_one_instant_close_at_once_wherever_the_axes_point() {
    for restitution in [0.0, 0.3] {
        let of = Tipping {
            friction: 0.2,
            restitution,
        };
        // Just behind the landing.
        let (run, expected) = of.falls(0.0, 0.147_02);
        assert_eq!(landing(&run), [3, 7]);
        for yaw in yaws().step_by(if cfg!(debug_assertions) { 24 } else { 1 }) {
            let (run, end) = of.falls(yaw, 0.147_02);
            assert_eq!(landing(&run), [3, 7], "{restitution} {yaw}");
            let off = (end[0] - expected[0]).hypot(end[1] - expected[1]);
            assert!(off < 1e-7, "{restitution} {yaw}: {off}");
            // The velocity is in axes of the box.
            let x = run.state().as_slice();
            let spin = Tipping::turn(x) * Vector3::from_column_slice(&x[10..]);
            assert!(spin.z.abs() < 1e-6, "{restitution} {yaw}: {spin}");
        }
    }
}

/// Such a box ends where the planar model and short steps end; it ended up to 3 cm beside.
#[test]
#[ignore = "minutes without optimisation"]
fn a_box_ends_where_the_planar_model_does() {
    for (restitution, expected) in [(0.0, -0.011_097_5), (0.3, -0.005_436_9)] {
        let of = Tipping {
            friction: 0.2,
            restitution,
        };
        for yaw in yaws() {
            let (run, [along, across]) = of.falls(yaw, 1.0);
            let off = along.hypot(across - expected);
            assert!(off < 1e-6, "{restitution} {yaw}: {along} {across}");
            assert_eq!(landing(&run), [3, 7], "{restitution} {yaw}");
        }
    }
}

/// What moves one of the corners first changes which impact there is, and that throws the other one up: no
/// derivative is guaranteed.
#[test]
#[ignore = "minutes without optimisation"]
fn an_impact_of_two_corners_has_no_classical_derivative() {
    let of = Tipping {
        friction: 0.2,
        restitution: 0.0,
    };
    // By its numbers the one lands at one instant, the other does not.
    for yaw in [0.0, 0.535] {
        let q = Tipping::start(yaw);
        let start = Start::at(0.0).q(&q).v(&[0.0; 6]);
        let mut driver = of.driver();
        let found = driver.derivative(&start, 0.2).unwrap();
        let verdict = found.verdict();
        let is_moved = |by: &NoDerivative| matches!(by, NoDerivative::MovedGuard { .. });
        let is_refused = matches!(verdict, Verdict::NotGuaranteed(by) if is_moved(by));
        assert!(is_refused, "{yaw}: {verdict:?}");
        // It is that of the run.
        let run = of.driver().integrate(&start, 0.2).unwrap();
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(
            bits(found.run().state().as_slice()),
            bits(run.state().as_slice())
        );
    }
}
