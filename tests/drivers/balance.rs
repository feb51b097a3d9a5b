//! The balance of energy of runs.

use saltation::event_driven::Zeno;
use saltation::impact::AnitescuPotra;
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
