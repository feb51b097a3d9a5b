//! Models with nothing written but masses, efforts and gaps: derivatives come from differences of
//! differences, and are done in a moment at any tolerance.

use saltation::ContactModel;
use saltation::derivative::Verdict;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{DoublePendulum, RigidTrot};
use saltation::nalgebra::DMatrix;
use saltation::{EventDriven, Integrator, Start};

use crate::random::SplitMix64;

/// A model without its derivatives.
#[derive(Clone, Copy, Debug)]
struct Unwritten<S>(S);

impl<S: MechanicalSystem> MechanicalSystem for Unwritten<S> {
    fn dof(&self) -> usize {
        self.0.dof()
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.0.mass(q, mass);
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.0.effort(t, q, v, effort);
    }
}

impl<S: UnilateralConstraints> UnilateralConstraints for Unwritten<S> {
    fn contacts(&self) -> usize {
        self.0.contacts()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.0.gap(j, q)
    }
    fn restitution(&self, j: usize, q: &[f64], v: &[f64]) -> f64 {
        self.0.restitution(j, q, v)
    }
}

/// The derivative of a run.
fn matrix<S>(system: S, q: &[f64], tf: f64, rtol: f64) -> DMatrix<f64>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let model = ContactModel::new(system);
    let start = model
        .start(&Start::at(0.0).q(q).v(&vec![0.0; q.len()]))
        .unwrap();
    let mut integrator = Integrator::new(&model).unwrap().rtol(rtol).atol(rtol);
    let derivative = integrator.derivative(&start.as_start(), tf).unwrap();
    assert_eq!(*derivative.verdict(), Verdict::Classical);
    derivative.matrix().unwrap()
}

fn check<S>(system: S, q: &[f64], tf: f64)
where
    S: MechanicalSystem + UnilateralConstraints + Copy,
{
    let written = matrix(system, q, tf, 1e-11);
    for rtol in [1e-6, 1e-9, 1e-11] {
        let found = matrix(Unwritten(system), q, tf, rtol);
        // Differences of differences: six digits, and those of the tolerance.
        let error = (&found - &written).amax() / written.amax();
        assert!(error < 2e-6 + 10.0 * rtol, "{rtol:e}: {error:e}");
    }
}

#[test]
fn derivatives_need_nothing_written() {
    // One foot after the other; and a swing against a wall, along it, and away.
    check(RigidTrot::default(), &[1.5, 0.1], 0.65);
    let leaning = DoublePendulum {
        wall: 0.3,
        restitution: 0.0,
        ..DoublePendulum::default()
    };
    check(leaning, &[0.9, 0.2], 1.0);
}

/// A link of length `2 arm` on a base that floats, in the coordinates of the base and the angle: the centre of mass of both
/// falls, and the spin is constant.
#[derive(Clone, Copy, Debug)]
struct FloatingLink {
    base: f64,
    link: f64,
    inertia: f64,
    arm: f64,
}

const FALL: f64 = -9.81;

impl FloatingLink {
    /// The state after a time.
    fn after(&self, x: &[f64], t: f64) -> Vec<f64> {
        let share = self.link * self.arm / (self.link + self.base);
        let off = |angle: f64| [share * angle.cos(), share * angle.sin()];
        let turned = |[a, b]: [f64; 2], spin: f64| [-spin * b, spin * a];
        let (spin, angle) = (x[5], x[2] + t * x[5]);
        let (start, end) = (off(x[2]), off(angle));
        let (before, after) = (turned(start, spin), turned(end, spin));
        let mut out = vec![0.0; 6];
        for k in 0..2 {
            let fall = if k == 1 { FALL } else { 0.0 };
            let speed = x[3 + k] + before[k];
            out[k] = x[k] + start[k] + t * (speed + 0.5 * t * fall) - end[k];
            out[3 + k] = speed + t * fall - after[k];
        }
        (out[2], out[5]) = (angle, spin);
        out
    }
}

impl MechanicalSystem for FloatingLink {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        let (sin, cos) = q[2].sin_cos();
        let (m, ml) = (self.base + self.link, self.link * self.arm);
        let [a, b] = [-ml * sin, ml * cos];
        mass.copy_from_slice(&[m, 0.0, a, 0.0, m, b, a, b, self.inertia + ml * self.arm]);
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let of_link = FALL * self.link;
        let turning = of_link * self.arm * q[2].cos();
        effort.copy_from_slice(&[0.0, of_link + FALL * self.base, turning]);
    }
}

impl UnilateralConstraints for FloatingLink {
    fn contacts(&self) -> usize {
        0
    }
    fn gap(&self, _j: usize, _q: &[f64]) -> f64 {
        1.0
    }
}

/// Forces of inertia that are small beside their terms: the rounding of these is no reason for shorter steps. It gave
/// derivatives that were off by percents.
#[test]
fn a_link_on_a_floating_base_has_its_derivative() {
    for seed in 0..40 {
        let draw = &mut SplitMix64(seed);
        let link = FloatingLink {
            base: draw.between(0.5, 4.0),
            link: draw.between(0.3, 2.0),
            inertia: draw.between(0.001, 0.05),
            arm: draw.between(0.05, 0.3),
        };
        let q = [(); 3].map(|()| draw.between(-1.2, 1.2));
        let v = [(); 3].map(|()| draw.between(-2.0, 2.0));
        let x = [q, v].concat();
        let end = 0.6;
        let mut driver = EventDriven::new(ContactModel::new(link))
            .unwrap()
            .rtol(1e-8);
        driver = driver.atol(1e-10);
        let found = driver.derivative(&Start::at(0.0).q(&q).v(&v), end).unwrap();
        let found = found.matrix().unwrap();
        let h = 1e-5;
        for k in 0..6 {
            let moved = |h: f64| {
                let mut x = x.clone();
                x[k] += h;
                link.after(&x, end)
            };
            for (i, (high, low)) in moved(h).iter().zip(&moved(-h)).enumerate() {
                let off = (found[(i, k)] - (high - low) / (2.0 * h)).abs();
                assert!(off < 1e-4, "{seed} {i} {k}: {off:e}");
            }
        }
    }
}

/// Two joints, the second of which meets a stop: the gap is written by the absolute angles of the links.
struct StopBetweenLinks {
    limit: f64,
}

impl MechanicalSystem for StopBetweenLinks {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[2.0, 0.5, 0.5, 1.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.1, 5.0]);
    }
}

impl UnilateralConstraints for StopBetweenLinks {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        let absolute = [q[0], q[0] + q[1]];
        self.limit - (absolute[1] - absolute[0])
    }
}

/// The first angle is added and subtracted: what is left of it is rounding, of which a row has no part.
#[test]
fn a_stop_written_by_absolute_angles_has_the_row_of_the_relative_one() {
    for seed in 0..3000 {
        let draw = &mut SplitMix64(seed);
        let q = [draw.between(-3.0, 3.0), draw.between(-1.5, 1.5)];
        let v = [(); 2].map(|()| draw.between(-2.0, 2.0));
        let limit = (q[0] + q[1]) - q[0];
        let model = ContactModel::new(StopBetweenLinks { limit });
        let problem = model.impact_at(&[q[0], q[1], v[0], v[1]]).unwrap();
        let off = (problem.speeds()[0] + v[1]).abs();
        assert!(off < 1e-9, "{seed}: {off:e}");
    }
}
