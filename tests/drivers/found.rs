//! Defects of live runs that a reader found: each fails without its mend.

use std::cell::Cell;

use saltation::event_driven::{Breakdown, Zeno};
use saltation::impact::{AnitescuPotra, Selection};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{BouncingBall, Hopper, Particle, RigidTrot};
use saltation::{
    Compliant, ContactEvent, ContactModel, Driver, EventDriven, InputError, Integrator, Interrupt,
    Start, Status, Stop, Variational, flow_fn,
};

const SOFT: BouncingBall = BouncingBall {
    mass: 1.0,
    gravity: 9.81,
    restitution: 0.0,
};

/// A guard that is only touched: its doubt is told after a snapshot is taken up too.
#[test]
fn doubts_are_told_after_a_resumption() {
    let system =
        || flow_fn(1, |t, _x, _mode, dx| dx[0] = t.cos()).with_events(1, |_k, _t, x| x[0] - 1.0);
    let start = Start::at(0.0).x(&[1e-9]);
    let mut driver = Integrator::new(system()).unwrap().rtol(1e-4).atol(1e-4);
    let mut live = driver.live(&start).unwrap();
    live.advance(1.0, &[]).unwrap();
    let saved = live.snapshot();
    let uncut = live.integrate(3.0, &[]).unwrap();
    let mut other = Integrator::new(system()).unwrap().rtol(1e-4).atol(1e-4);
    let resumed = other.resume(&saved).unwrap().integrate(3.0, &[]).unwrap();
    assert!(!uncut.doubts().is_empty());
    assert_eq!(uncut.doubts(), resumed.doubts());
    assert_eq!(uncut.statistics(), resumed.statistics());
}

/// The events of a start, and of an effort from the first part on, are told in it.
#[test]
fn the_first_part_has_all_its_events() {
    let drivers: [Box<dyn Driver>; 2] = [
        Box::new(EventDriven::new(ContactModel::new(SOFT)).unwrap()),
        Box::new(Variational::new(ContactModel::new(SOFT)).unwrap()),
    ];
    for (number, mut driver) in drivers.into_iter().enumerate() {
        // At rest, lifted from the start on.
        let mut live = driver.live(&Start::at(0.0).q(&[0.0]).v(&[0.0])).unwrap();
        let run = live.integrate(0.5, &[20.0]).unwrap();
        assert_eq!(run.events_of(0).count(), 1, "{number}: {:?}", run.events());
        assert_eq!(run.events()[0].released, [0], "{number}");
        drop(live);
        // An impact at the start.
        let fall = Start::at(0.0).q(&[0.0]).v(&[-1.0]);
        let mut live = driver.live(&fall).unwrap();
        let part = live.integrate(0.1, &[]).unwrap();
        drop(live);
        let whole = driver.integrate(&fall, 0.1).unwrap();
        assert_eq!(
            (part.events(), part.phases()),
            (whole.events(), whole.phases())
        );
        assert_eq!(part.events().len(), 1);
    }
}

/// A start that is refused stands where it is.
#[test]
fn a_refused_start_stands_at_its_time() {
    struct Bad;
    impl MechanicalSystem for Bad {
        fn dof(&self) -> usize {
            1
        }
        fn mass(&self, _q: &[f64], mass: &mut [f64]) {
            mass[0] = -1.0;
        }
        fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
            effort[0] = 0.0;
        }
    }
    impl UnilateralConstraints for Bad {
        fn contacts(&self) -> usize {
            0
        }
        fn gap(&self, _j: usize, _q: &[f64]) -> f64 {
            1.0
        }
    }
    let start = Start::at(5.0).q(&[1.0]).v(&[2.0]);
    let drivers: [Box<dyn Driver>; 2] = [
        Box::new(EventDriven::new(ContactModel::new(Bad)).unwrap()),
        Box::new(Variational::new(ContactModel::new(Bad)).unwrap()),
    ];
    for mut driver in drivers {
        let observed = driver.observe(&start, 6.0, &mut ()).unwrap();
        assert!(matches!(observed.status, Status::Refused(_)));
        assert_eq!(observed.t, 5.0);
        let mut live = driver.live(&start).unwrap();
        assert!(matches!(live.status(), Status::Refused(_)));
        assert!(live.advance(6.0, &[]).is_err());
        assert_eq!((live.t(), live.state()), (5.0, &[1.0, 2.0][..]));
        drop(live);
        // The end before the start is refused, whatever the start is.
        let reversed = driver.integrate(&start, 4.0);
        assert!(matches!(reversed, Err(InputError::TimeReversed { .. })));
    }
}

/// Limits hold for each part, however often efforts change.
#[test]
fn limits_are_those_of_the_part_when_efforts_change() {
    let mut driver = EventDriven::new(ContactModel::new(SOFT))
        .unwrap()
        .max_steps(100);
    let mut live = driver.live(&Start::at(0.0).q(&[1.0]).v(&[0.0])).unwrap();
    for k in 1..400 {
        let effort = 9.81 + 0.1 * f64::from(k % 7);
        let made = live.advance(1e-3 * f64::from(k), &[effort]);
        assert_eq!(made, Ok(()), "{k}");
    }
}

/// The run of a derivative is the run.
#[test]
fn the_run_of_a_derivative_is_that_of_integrate() {
    for (q, v) in [(1.0, 0.0), (0.0, -1.0)] {
        let ball = BouncingBall::default();
        let start_q = [q];
        let start_v = [v];
        let start = Start::at(0.0).q(&start_q).v(&start_v);
        let mut driver = EventDriven::new(ContactModel::new(ball)).unwrap();
        let run = driver.integrate(&start, 0.6).unwrap();
        let derivative = driver.derivative(&start, 0.6).unwrap();
        let same = derivative.run();
        assert_eq!((same.events(), same.phases()), (run.events(), run.phases()));
        assert_eq!((same.q(0), same.times()), (run.q(0), run.times()));
        let end = derivative.into_run();
        assert!(driver.integrate(&end.end(), 0.8).is_ok());
    }
}

/// The balance of energy is that of the nodes, whichever driver made them.
#[test]
fn the_balance_of_a_run_of_the_core_knows_its_impacts() {
    let model = ContactModel::new(BouncingBall::default());
    let settled = model.start(&Start::at(0.0).q(&[1.0]).v(&[0.0])).unwrap();
    let start = settled.as_start();
    let run = Integrator::new(model.clone())
        .unwrap()
        .rtol(1e-9)
        .integrate(&start, 0.6)
        .unwrap();
    let closed = |run: &saltation::Run| run.phases().pop().map(|last| last.closed);
    let mut logged = EventDriven::new(model.clone()).unwrap().rtol(1e-9);
    let same = logged
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 0.6)
        .unwrap();
    assert_eq!(closed(&run), closed(&same));
    let balance = model.energy_balance(&run).unwrap();
    let lost =
        9.81 * BouncingBall::default().mass * (1.0 - BouncingBall::default().restitution.powi(2));
    assert!((balance.impacts + lost).abs() < 1e-6, "{balance:?}");
    assert!(balance.contacts.abs() < 1e-6);
}

/// The effort of a live run goes with it.
#[test]
fn the_effort_of_a_live_run_goes_with_it() {
    let model = ContactModel::new(BouncingBall::default());
    let start = Start::at(0.0).q(&[1.0]).v(&[0.0]);
    let mut exact = EventDriven::new(model.clone()).unwrap();
    exact.live(&start).unwrap().advance(0.1, &[100.0]).unwrap();
    let state = [1.0, 0.0];
    let free = exact.model().mode(&[]);
    let mut rates = [0.0; 2];
    saltation::Flow::flow(exact.model(), 0.0, &state, &free, &mut rates);
    assert_eq!(rates[1], -9.81);
    let mut stepped = Variational::new(model).unwrap();
    stepped
        .live(&start)
        .unwrap()
        .advance(0.1, &[100.0])
        .unwrap();
    let run = stepped.integrate(&start, 0.3).unwrap();
    let balance = stepped.model().energy_balance(&run).unwrap();
    assert!(balance.contacts.abs() < 1e-6, "{balance:?}");
}

/// The mode of a start is found by a part without a length too.
#[test]
fn a_part_without_a_length_has_the_mode_of_its_start() {
    let start = Start::at(0.0).x(&[0.9, 0.0]); // in stance
    let mut driver = Integrator::new(Hopper::default()).unwrap();
    let run = driver.integrate(&start, 0.0).unwrap();
    let mut live = driver.live(&start).unwrap();
    let part = live.integrate(0.0, &[]).unwrap();
    assert_eq!(part.mode(), run.mode());
    let rest = live.integrate(0.2, &[]).unwrap();
    drop(live);
    let whole = driver.integrate(&start, 0.2).unwrap();
    assert_eq!(rest.state(), whole.state());
}

/// Times that steps of one length miss by rounding are the same times.
#[test]
fn times_that_differ_by_rounding_are_one() {
    let drivers: [Box<dyn Driver>; 2] = [
        Box::new(
            Variational::new(ContactModel::new(SOFT))
                .unwrap()
                .time_step(0.1),
        ),
        Box::new(Compliant::new(SOFT).unwrap().time_step(0.1)),
    ];
    for mut driver in drivers {
        let mut live = driver.live(&Start::at(0.0).q(&[1.0]).v(&[0.0])).unwrap();
        live.advance(0.3, &[]).unwrap();
        assert_eq!(live.advance(0.3, &[]), Ok(()));
        drop(live);
        // Late, too.
        let late = Start::at(1e6).q(&[1.0]).v(&[0.0]);
        let run = driver.integrate(&late, 1e6 + 0.3).unwrap();
        assert_eq!(run.times().len(), 4, "{:?}", run.times());
        assert_eq!(run.every(0.1).unwrap().times.len(), 4);
    }
}

/// A body on a floor whose effort depends on the closed contacts, so that all sets are tried, and
/// the interrupt is looked at among them.
struct Switched<'a> {
    interrupt: &'a Interrupt,
    /// Evaluations until it is set.
    left: Cell<usize>,
}

impl MechanicalSystem for Switched<'_> {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = -9.81;
    }
    fn contact_effort(
        &self,
        _at: saltation::mechanics::State<'_>,
        closed: &[usize],
        effort: &mut [f64],
    ) -> bool {
        if self.left.get() == 0 {
            self.interrupt.set();
        }
        self.left.set(self.left.get().wrapping_sub(1));
        effort[0] += 0.1 * closed.len() as f64;
        true
    }
}

impl UnilateralConstraints for Switched<'_> {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0]
    }
}

/// Where an interrupt ends the choice of the closed contacts, it is made again.
#[test]
fn contacts_that_were_not_decided_are_decided_later() {
    let mut interrupted = 0;
    for left in 0..40 {
        let interrupt = Interrupt::new();
        let model = ContactModel::new(Switched {
            interrupt: &interrupt,
            left: Cell::new(usize::MAX),
        });
        let mut driver = EventDriven::new(model).unwrap().interrupt(&interrupt);
        driver.model().system().left.set(usize::MAX);
        let start = Start::at(0.0).q(&[0.0]).v(&[0.0]);
        // Either in the start, or where the effort changes.
        for in_start in [true, false] {
            interrupt.clear();
            driver
                .model()
                .system()
                .left
                .set(if in_start { left } else { usize::MAX });
            let mut live = driver.live(&start).unwrap();
            if matches!(live.status(), Status::Refused(Stop::Interrupted)) {
                interrupted += 1;
                interrupt.clear();
            }
            let mut made = live.advance(0.1, &[]);
            if made == Err(Stop::Interrupted) {
                interrupted += 1;
                interrupt.clear();
                made = live.advance(0.1, &[]);
            }
            assert_eq!(made, Ok(()), "{left}");
            assert_eq!(live.contacts().collect::<Vec<_>>(), [0], "{left}");
            let made = live.advance(0.2, &[20.0]);
            if made == Err(Stop::Interrupted) {
                interrupted += 1;
                interrupt.clear();
                assert_eq!(live.advance(0.2, &[20.0]), Ok(()));
            }
            assert_eq!(live.contacts().count(), 0, "{left}");
            assert!(live.state()[0] > 0.0, "{left}");
        }
    }
    assert!(interrupted > 5, "{interrupted}");
}

/// A particle whose contact is counted six times.
struct Manifold(Particle);

impl MechanicalSystem for Manifold {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, q: &[f64], m: &mut [f64]) {
        self.0.mass(q, m);
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        self.0.effort(t, q, v, f);
    }
}

impl UnilateralConstraints for Manifold {
    fn contacts(&self) -> usize {
        41
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        self.0.gap(0, q)
    }
    fn friction(&self, _j: usize) -> f64 {
        0.5
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, _j: usize, q: &[f64], rows: &mut [f64]) {
        self.0.tangent_rows(0, q, rows);
    }
}

/// An absorption that fails leaves the run where it was told to be.
#[test]
fn a_run_ends_where_it_was_told_to_be() {
    // 41 times the same contact: more than can be decided at rest.
    let manifold = ContactModel::with_law(Manifold(Particle::default()), AnitescuPotra::new())
        .selection(Selection::First);
    let mut driver = EventDriven::new(manifold).unwrap().zeno(Zeno::Absorb);
    let start = Start::at(0.0).q(&[0.0, 0.0, 0.1]).v(&[0.5, 0.0, 0.0]);
    let run = driver.integrate(&start, 1.0).unwrap();
    let summary = driver.observe(&start, 1.0, &mut ()).unwrap();
    assert_eq!(summary.t, run.t());
    let refused = run.status().reason::<Breakdown>();
    assert!(
        matches!(refused, Some(Breakdown::TooManyContacts { .. })),
        "{}",
        run.status()
    );
}

/// A coefficient that is infinite in single precision is kept in double: the state between two finite
/// nodes is finite.
#[test]
fn states_between_finite_nodes_are_finite() {
    let system = flow_fn(1, |t: f64, _x, _mode, dx| dx[0] = 3e307 * (3e5 * t).cos());
    let driver = Integrator::new(system).unwrap();
    let mut driver = driver.fixed_step(1e-6).rtol(1e8);
    let run = driver.integrate(&Start::at(0.0).x(&[0.0]), 5e-6).unwrap();
    assert!(run.states().iter().all(|x| x.is_finite()));
    let between = run.state_at(1e-7).unwrap();
    assert!(between[0].is_finite(), "{between}");
}

/// An impact that opens a contact releases it, in the log of every driver.
#[test]
fn a_contact_that_an_impact_opens_is_released() {
    let model = ContactModel::new(RigidTrot::default());
    let (q, v) = RigidTrot::start(0.01);
    let start = Start::at(0.0).q(&q).v(&v);
    let drivers: [Box<dyn Driver>; 2] = [
        Box::new(EventDriven::new(model.clone()).unwrap().rtol(1e-9)),
        Box::new(Variational::new(model).unwrap().time_step(1e-3)),
    ];
    for mut driver in drivers {
        let run = driver.integrate(&start, 0.4).unwrap().completed().unwrap();
        let told = |event: &ContactEvent| (event.activated.clone(), event.released.clone());
        let events: Vec<_> = run.events().iter().map(told).collect();
        // The rear foot lands, then the front foot, whose impact opens the other.
        assert_eq!(events, [(vec![0], vec![]), (vec![1], vec![0])]);
        assert_eq!(run.events_of(0).count(), 2);
    }
}

/// A ball that a push of its own lifts and lets fall, which changes between the parts of a run.
struct Pushed<'a>(&'a Cell<f64>);

impl MechanicalSystem for Pushed<'_> {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        m[0] = 1.0;
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], f: &mut [f64]) {
        f[0] = self.0.get() - 9.81;
    }
}

impl UnilateralConstraints for Pushed<'_> {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0]
    }
    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row[0] = 1.0;
        true
    }
}

#[test]
fn a_model_may_push_in_another_way_in_each_part() {
    let push = Cell::new(0.0);
    let mut driver = EventDriven::new(ContactModel::new(Pushed(&push))).unwrap();
    let mut live = driver.live(&Start::at(0.0).q(&[0.0]).v(&[0.0])).unwrap();
    live.advance(1.0, &[]).unwrap();
    assert_eq!(live.contacts().collect::<Vec<_>>(), [0]);
    let [mut place, mut speed] = [0.0; 2];
    for (tick, of_tick) in (1..40).zip([20.0, 5.0, 14.0, 9.0].into_iter().cycle()) {
        push.set(of_tick);
        live.advance(1.0 + 0.01 * f64::from(tick), &[]).unwrap();
        place += 0.01 * speed + 0.5e-4 * (of_tick - 9.81);
        speed += 0.01 * (of_tick - 9.81);
        let off = (live.state()[0] - place)
            .abs()
            .max((live.state()[1] - speed).abs());
        assert!(off < 1e-10, "{tick}: {off:e}");
    }
}
