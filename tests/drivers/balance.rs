//! The balance of energy of runs.

use saltation::event_driven::Zeno;
use saltation::impact::AnitescuPotra;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{BouncingBall, DoublePendulum, SlidingBlock};
use saltation::{Compliant, ContactEventKind, ContactModel, EventDriven, Start, Variational};

/// Three impacts of a ball: its energy is known in closed form.
#[test]
fn a_ball_loses_its_energy_at_impacts() {
    let ball = BouncingBall::default();
    let start = Start::at(0.0).q(&[1.0]).v(&[0.0]);
    let weight = ball.mass * ball.gravity;
    let lost = |k: i32| weight * (1.0 - ball.restitution.powi(2 * k));
    let mut exact = EventDriven::new(ContactModel::new(ball))
        .unwrap()
        .rtol(1e-10);
    let mut stepped = Variational::new(ContactModel::new(ball)).unwrap();
    let runs = [
        exact.integrate(&start, 1.0).unwrap(),
        stepped.integrate(&start, 1.0).unwrap(),
    ];
    for run in runs {
        let balance = exact.model().energy_balance(&run).unwrap();
        let impacts = i32::try_from(run.events().len()).unwrap();
        assert!(impacts >= 1);
        assert!(
            (balance.impacts + lost(impacts)).abs() < 1e-6,
            "{balance:?}"
        );
        assert!(balance.contacts.abs() < 1e-5, "{balance:?}");
        // What the weight did is what the potential lost.
        let [before, after] = balance.potential.unwrap();
        assert!(
            (balance.efforts - (before - after)).abs() < 1e-5,
            "{balance:?}"
        );
    }
}

/// A ball that is at rest in the end has lost what it had at impacts, those that were absorbed among them, however long
/// before its accumulation that is taken.
#[test]
fn impacts_that_are_absorbed_are_impacts() {
    let ball = BouncingBall::default();
    let start = Start::at(0.0).q(&[1.0]).v(&[0.0]);
    let end = ball.accumulation(1.0) + 0.5;
    for tolerance in [0.0, 1e-10, 1e-3] {
        let model = ContactModel::new(ball);
        let driver = EventDriven::new(model).unwrap().rtol(1e-10);
        let mut driver = driver.zeno(Zeno::Absorb).zeno_tolerance(tolerance);
        let run = driver.integrate(&start, end).unwrap();
        let absorbed = run.events().last().unwrap();
        assert_eq!(absorbed.kind, ContactEventKind::ZenoAbsorbed);
        let balance = driver.model().energy_balance(&run).unwrap();
        let lost = balance.impacts + ball.mass * ball.gravity;
        assert!(lost.abs() < 1e-6, "{tolerance:e}: {balance:?}");
        assert!(balance.contacts.abs() < 1e-8, "{tolerance:e}: {balance:?}");
    }
}

/// The impact with which a run starts is one of it, though its first node is behind it.
#[test]
fn an_impact_at_the_start_is_in_the_balance() {
    let ball = BouncingBall::default();
    let start = Start::at(0.0).q(&[0.0]).v(&[-2.0]);
    let (before, after) = (2.0 * ball.mass, 2.0 * ball.mass * ball.restitution.powi(2));
    let mut exact = EventDriven::new(ContactModel::new(ball)).unwrap();
    let mut stepped = Variational::new(ContactModel::new(ball)).unwrap();
    let runs = [
        exact.integrate(&start, 0.1).unwrap(),
        stepped.integrate(&start, 0.1).unwrap(),
    ];
    for run in runs {
        assert_eq!(run.events().len(), 1);
        let balance = exact.model().energy_balance(&run).unwrap();
        assert!((balance.kinetic[0] - before).abs() < 1e-12, "{balance:?}");
        assert!(
            (balance.impacts - (after - before)).abs() < 1e-12,
            "{balance:?}"
        );
        assert!(balance.contacts.abs() < 1e-6, "{balance:?}");
    }
}

/// Without contacts the kinetic energy is the work of the efforts, to the tolerance of the run.
#[test]
fn a_free_pendulum_keeps_its_energy() {
    let free = DoublePendulum {
        wall: -9.0,
        ..DoublePendulum::default()
    };
    let start = Start::at(0.0).q(&[1.0, 0.5]).v(&[0.0, 0.0]);
    for rtol in [1e-6, 1e-9] {
        let mut driver = EventDriven::new(ContactModel::new(free))
            .unwrap()
            .rtol(rtol)
            .atol(rtol);
        let run = driver.integrate(&start, 3.0).unwrap();
        let balance = driver.model().energy_balance(&run).unwrap();
        let size = balance.kinetic[1].abs() + balance.potential.unwrap()[0].abs();
        assert!(balance.contacts.abs() < 1e3 * rtol * size, "{balance:?}");
        assert_eq!(balance.impacts, 0.0);
    }
}

/// Friction takes all of the energy of a block, whichever driver brings it to rest.
#[test]
fn friction_takes_the_energy_of_a_block() {
    let block = SlidingBlock::default();
    let start = Start::at(0.0).q(&[0.0, 0.0]).v(&[2.0, 0.0]);
    let energy = 0.5 * block.mass * 4.0;
    let model = ContactModel::with_law(block, AnitescuPotra::new());
    let mut rigid = Variational::new(model).unwrap();
    let mut soft = Compliant::new(block).unwrap().time_step(1e-3);
    let rigid_run = rigid.integrate(&start, 1.0).unwrap();
    let soft_run = soft.integrate(&start, 1.0).unwrap();
    let balances = [
        rigid.model().energy_balance(&rigid_run).unwrap(),
        soft.energy_balance(&soft_run).unwrap(),
    ];
    for balance in balances {
        assert!(
            (balance.contacts + energy).abs() < 1e-2 * energy,
            "{balance:?}"
        );
    }
    let other = ContactModel::new(BouncingBall::default());
    assert!(other.energy_balance(&rigid_run).is_err());
}

/// A block of 1 kg on a belt of 1 m/s, which holds it against a push to and fro: `q = (x, z)` and the place of the belt.
struct Held {
    /// Angular frequency of the push (1/s).
    frequency: f64,
}

impl MechanicalSystem for Held {
    fn dof(&self) -> usize {
        3
    }
    fn driven(&self) -> std::ops::Range<usize> {
        2..3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[4.0 * (self.frequency * t + 0.3).sin(), -9.81, 0.0]);
    }
}

impl UnilateralConstraints for Held {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1]
    }
    fn friction(&self, _j: usize) -> f64 {
        0.8
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, -1.0]);
    }
}

/// The motion shows nothing of the push: a few steps do, and the work of the push is found between them.
#[test]
fn pushes_that_friction_holds_do_their_work() {
    for frequency in [5.0, 20.0, 60.0, 200.0] {
        let mut driver = EventDriven::new(ContactModel::new(Held { frequency })).expect("a model");
        let start = Start::at(0.0).q(&[0.0; 3]).v(&[1.0, 0.0, 1.0]);
        let run = driver.integrate(&start, 1.5).expect("input");
        let balance = driver.model().energy_balance(&run).expect("a balance");
        let end = frequency * 1.5 + 0.3;
        let work = 4.0 / frequency * (0.3f64.cos() - end.cos());
        let off = (balance.efforts - work)
            .abs()
            .max((balance.contacts + work).abs());
        assert!(off < 1e-8, "{frequency}: {off:e} {balance:?}");
    }
}
