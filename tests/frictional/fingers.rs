//! A box between two flat fingers that let go slowly: contacts begin to slip
//! when the closed form says, and all of them stay closed.

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Start, Status};

const GRAVITY: f64 = 9.81;

/// One kilogram between fingers of 0.3 kg, each of which touches it at two corners: `q = (x1, x2, x, z, θ)`.
/// The fingers press with `20 − slope t` newtons.
struct Fingers {
    half: [f64; 2],
    friction: f64,
    slope: f64,
}

impl Fingers {
    /// A corner, by its place in axes of the world.
    fn corner(&self, j: usize, angle: f64) -> [f64; 2] {
        let [a, b] = self.half;
        let [x, z] = [[-a, -b], [-a, b], [a, -b], [a, b]][j];
        let (sine, cosine) = angle.sin_cos();
        [cosine * x - sine * z, sine * x + cosine * z]
    }
}

impl MechanicalSystem for Fingers {
    fn dof(&self) -> usize {
        5
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        let [a, b] = self.half;
        m.fill(0.0);
        for (k, mass) in [0.3, 0.3, 1.0, 1.0, (a * a + b * b) / 3.0]
            .into_iter()
            .enumerate()
        {
            m[6 * k] = mass;
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], f: &mut [f64]) {
        let press = 20.0 - self.slope * t;
        f.copy_from_slice(&[press, -press, 0.0, -GRAVITY, 0.0]);
    }
}

impl UnilateralConstraints for Fingers {
    fn contacts(&self) -> usize {
        4
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let [x, _] = self.corner(j, q[4]);
        if j < 2 {
            q[2] + x - q[0]
        } else {
            q[1] - q[2] - x
        }
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let [_, z] = self.corner(j, q[4]);
        let of = if j < 2 {
            [-1.0, 0.0, 1.0, 0.0, -z]
        } else {
            [0.0, 1.0, -1.0, 0.0, z]
        };
        row.copy_from_slice(&of);
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], row: &mut [f64]) {
        let [x, _] = self.corner(j, q[4]);
        row.copy_from_slice(&[0.0, 0.0, 0.0, 1.0, x]);
    }
}

/// With one corner a finger closed the box would stand on its edges.
#[test]
fn a_box_slides_down_between_fingers_with_all_its_corners_closed() {
    for half in [[0.1, 0.05], [0.05, 0.1], [0.07, 0.07]] {
        for (friction, slope) in [(0.5, 1.0), (0.5, 4.0), (0.3, 1.0), (0.3, 4.0)] {
            for rtol in [1e-9, 1e-6]
                .into_iter()
                .skip(usize::from(cfg!(debug_assertions)))
            {
                let fingers = Fingers {
                    half,
                    friction,
                    slope,
                };
                let slips = (20.0 - GRAVITY / (2.0 * friction)) / slope;
                let later = 1.2;
                let driver = EventDriven::new(ContactModel::new(fingers)).unwrap();
                let mut driver = driver.rtol(rtol).atol(1e-12);
                let q = [-half[0], half[0], 0.0, 0.0, 0.0];
                let start = Start::at(0.0).q(&q).v(&[0.0; 5]);
                let run = driver.integrate(&start, slips + later).unwrap();
                assert_eq!(
                    *run.status(),
                    Status::ReachedEnd,
                    "{half:?} {friction} {slope} {rtol}"
                );
                let [slip] = run.events() else {
                    panic!("{:?}", run.events().len());
                };
                assert_eq!(slip.mode_after, [0, 1, 2, 3]);
                // Margins of dependent contacts cross at a millionth of the loads beyond their border.
                assert!((slip.t - slips).abs() < 2e-5 / slope, "{} {slips}", slip.t);
                let fallen = -friction * slope * later.powi(3) / 3.0;
                let x = run.state();
                assert!(
                    (x[3] - fallen).abs() < 1e-6 && x[4].abs() < 1e-9,
                    "{} {fallen} {}",
                    x[3],
                    x[4]
                );
            }
        }
    }
}
