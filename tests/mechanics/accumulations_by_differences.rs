//! Derivatives through impacts that accumulate, where the row of a gap is a difference: speeds of approach fall to
//! 1e-8, and the error of a row is divided by them.

use saltation::derivative::{Derivative, Verdict};
use saltation::event_driven::{Breakdown, Zeno};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Start, Status};

use crate::random::SplitMix64;

/// A particle of 1 kg that bounces on a disc.
#[derive(Clone, Copy, Debug)]
struct OnDisc {
    rows: bool,
    friction: f64,
    restitution: f64,
}

impl MechanicalSystem for OnDisc {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -9.81]);
    }
}

impl UnilateralConstraints for OnDisc {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0].hypot(q[1]) - 1.0
    }
    fn gap_row(&self, _j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let r = q[0].hypot(q[1]);
        if self.rows {
            row.copy_from_slice(&[q[0] / r, q[1] / r]);
        }
        self.rows
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        usize::from(self.friction > 0.0)
    }
    fn tangent_rows(&self, _j: usize, q: &[f64], rows: &mut [f64]) {
        let r = q[0].hypot(q[1]);
        rows.copy_from_slice(&[q[1] / r, -q[0] / r]);
    }
}

fn derivative(particle: OnDisc, rtol: f64) -> Derivative<ContactModel<OnDisc>> {
    let driver = EventDriven::new(ContactModel::new(particle)).expect("a particle");
    let mut driver = driver.rtol(rtol).atol(0.01 * rtol).zeno(Zeno::Error);
    let start = Start::at(0.0).q(&[0.1, 1.1]).v(&[0.4, 0.0]);
    driver.derivative(&start, 0.5).expect("a start")
}

/// They were off by up to a hundredth, and said to be classical.
#[test]
fn rows_by_differences_give_the_derivative_of_those_that_are_written() {
    for restitution in [0.2, 0.5] {
        for rtol in [1e-8, 1e-10] {
            let of = |rows, friction| {
                let particle = OnDisc {
                    rows,
                    friction,
                    restitution,
                };
                derivative(particle, rtol)
            };
            let [written, found] = [true, false].map(|rows| of(rows, 0.0));
            assert_eq!(
                *found.verdict(),
                Verdict::Classical,
                "{restitution} {rtol:e}"
            );
            let [written, found] = [&written, &found].map(|of| of.matrix().expect("a matrix"));
            let off = (written - found).amax();
            assert!(off < 1e-5, "{restitution} {rtol:e}: {off:e}");
            // Contacts that slip in the end are held by rows that are not known so well: no matrix is better than a
            // wrong one.
            let [written, found] = [true, false].map(|rows| of(rows, 0.1));
            let written = written.matrix().expect("a matrix");
            assert!(
                found
                    .matrix()
                    .is_ok_and(|found| (written - found).amax() < 1e-5)
                    || matches!(found.verdict(), Verdict::NotGuaranteed(_)),
                "{restitution} {rtol:e}"
            );
        }
    }
}

/// A rod of 1 kg and 2 m whose ends bounce on the floor: its place, its height and its angle.
#[derive(Clone, Copy, Debug)]
struct Rod {
    restitution: f64,
}

impl MechanicalSystem for Rod {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 / 3.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -9.81, 0.0]);
    }
}

impl UnilateralConstraints for Rod {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let arm = if j == 0 { 1.0 } else { -1.0 };
        q[1] + arm * q[2].sin()
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let arm = if j == 0 { 1.0 } else { -1.0 };
        row.copy_from_slice(&[0.0, 1.0, arm * q[2].cos()]);
        true
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}

/// A derivative follows bounces as far as gaps resolve them: lower ones do not go on until the limit of events, and most
/// rods lie still in the end.
#[test]
fn bounces_are_followed_no_lower_than_gaps_resolve() {
    let (mut draw, mut still) = (SplitMix64(7), 0);
    for case in 0..20 {
        let rod = Rod {
            restitution: draw.between(0.1, 0.4),
        };
        let angle: f64 = draw.between(0.1, 0.8);
        let driver = EventDriven::new(ContactModel::new(rod)).unwrap();
        let mut driver = driver.rtol(1e-6).atol(1e-8).max_events(2000);
        let (q, v) = (
            [0.0, angle.sin() + draw.between(0.0, 0.2), angle],
            [0.0, draw.between(-2.0, 0.0), draw.between(-4.0, 0.0)],
        );
        let start = Start::at(0.0).q(&q).v(&v);
        let derivative = driver.derivative(&start, 0.8).unwrap();
        let run = derivative.run();
        let bounces = run.events().len();
        assert!(bounces < 250, "{case}: {bounces}");
        if let Some(Breakdown::Zeno { .. }) = run.status().reason() {
            assert!(bounces > 100, "{case}: {bounces}");
        }
        if *run.status() == Status::ReachedEnd {
            still += 1;
            assert!(
                run.state().rows(3, 3).amax() < 1e-7,
                "{case}: {}",
                run.state()
            );
        }
    }
    assert!(still > 10, "{still}");
}
