//! Random runs with friction: blocks dropped with tilt and spin, against the properties of a run and
//! against time stepping.

use saltation::event_driven::Zeno;
use saltation::impact::{AnitescuPotra, ImpactLaw, ImpactProblem, Selection, Unilateral};
use saltation::mechanics::{ContactSet, ContactSource, Contacts, MechanicalSystem, Wanted};
use saltation::models::RockingBlock;
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{ContactModel, EventDriven, InputError, Run, Start, Status, Stop};

use crate::arclength::{check, is_impact, rests};
use crate::random_bits::SplitMix64;

/// A block above the floor, and its start.
fn dropped(random: &mut SplitMix64) -> (RockingBlock, [f64; 3], [f64; 3]) {
    let mut within = |low: f64, high: f64| random.between(low, high);
    let block = RockingBlock {
        width: within(0.3, 1.5),
        height: within(0.3, 1.5),
        mass: within(0.5, 3.0),
        friction: within(0.05, 1.2),
        ..RockingBlock::default()
    };
    let theta = within(-0.5, 0.5);
    let (sine, cosine) = (f64::abs(theta.sin()), theta.cos());
    let lowest = 0.5 * (block.width * sine + block.height * cosine);
    let q = [0.0, lowest + within(0.01, 0.2), theta];
    let v = [within(-2.0, 2.0), within(-1.0, 0.5), within(-2.0, 2.0)];
    (block, q, v)
}

/// A run, and its model.
fn run(block: RockingBlock, (q, v): (&[f64; 3], &[f64; 3]), tf: f64) -> Done {
    let model = ContactModel::with_law(block, AnitescuPotra::new()).selection(Selection::First);
    let driver = EventDriven::new(model.clone()).unwrap().rtol(1e-9);
    let mut driver = driver.atol(1e-12).zeno(Zeno::Absorb).zeno_tolerance(1e-8);
    let run = driver.integrate(&Start::at(0.0).q(q).v(v), tf).unwrap();
    Done { run, model }
}

struct Done {
    run: Run,
    model: ContactModel<RockingBlock>,
}

impl Done {
    /// Modes with closed contacts in which time is spent.
    fn in_contact(&self) -> usize {
        let modes = self.run.modes();
        let ends = modes[1..].iter().map(|next| next.t).chain([self.run.t()]);
        let spent = modes.iter().zip(ends).filter(|(mode, end)| mode.t < *end);
        spent
            .filter(|(mode, _)| mode.mode.flags().next().is_some())
            .count()
    }
}

#[test]
fn dropped_blocks_keep_the_properties_of_a_run() {
    let mut random = SplitMix64(41);
    let (mut rests, mut slips, mut ends) = (0, 0, 0);
    let cases = if cfg!(debug_assertions) { 12 } else { 30 };
    for case in 0..cases {
        let (block, q, v) = dropped(&mut random);
        let done = run(block, (&q, &v), 3.0);
        let (model, run) = (&done.model, &done.run);
        // A block that tips over falls on a side that is no contact.
        if run.nodes().any(|(_, x)| x[2].abs() > 1.2) {
            continue;
        }
        check(model, run);
        assert_eq!(*run.status(), Status::ReachedEnd, "case {case}");
        ends += 1;
        rests += self::rests(run).count();
        slips += done.in_contact();
    }
    println!("{rests} rests, {slips} stretches with contacts, {ends} of {cases} to the end");
    assert!(
        7 * rests >= cases && 3 * ends >= 2 * cases,
        "{rests} {ends}"
    );
}

/// Time stepping (Stewart & Trinkle, Anitescu & Potra): an impact of the contacts that touch in
/// each step, after the push of gravity.
fn stepped(block: RockingBlock, (q, v): (&[f64; 3], &[f64; 3]), tf: f64, steps: u32) -> Vec<f64> {
    let h = tf / f64::from(steps);
    let (mut q, mut v) = (q.to_vec(), DVector::from_column_slice(v));
    let mut mass = DMatrix::zeros(3, 3);
    let mut contacts = Contacts::new();
    for _ in 0..steps {
        block.mass(&q, mass.as_mut_slice());
        v[1] -= h * block.gravity;
        let wanted = Wanted {
            friction: true,
            ..Wanted::default()
        };
        block
            .fill(&q, ContactSet::Within(0.0), wanted, &mut contacts)
            .unwrap();
        if !contacts.is_empty() {
            let problem = ImpactProblem::from_contacts(&contacts, &mass, &v).unwrap();
            let outcomes = AnitescuPotra::new().resolve(&problem).unwrap();
            v = problem.velocity_after(&outcomes.list[0]).unwrap();
        }
        for (q, v) in q.iter_mut().zip(&v) {
            *q += h * v;
        }
    }
    [q, v.as_slice().to_vec()].concat()
}

/// Nearer to an impact velocities are not compared (s).
const APART: f64 = 0.03;

/// Pivoting, sliding and landing from the floor, against steps that shrink to nothing.
#[test]
fn runs_are_the_limit_of_time_stepping() {
    let mut random = SplitMix64(7);
    let tf = 0.2;
    let (mut impacts, mut slides, mut halved) = (0, 0, 0);
    let cases = if cfg!(debug_assertions) { 8 } else { 20 };
    for case in 0..cases {
        let (block, ..) = dropped(&mut random);
        let theta = random.between(0.05, 0.3) * if case % 2 == 0 { 1.0 } else { -1.0 };
        let rate = random.between(-2.0, 1.0) * theta.signum();
        let (q, mut v) = block.pivoting(theta, rate);
        v[0] += random.between(-1.0, 1.0);
        let exact = run(block, (&q, &v), tf + APART);
        slides += exact.in_contact();
        let Done { run: exact, model } = &exact;
        assert_eq!(*exact.status(), Status::ReachedEnd);
        check(model, exact);
        let struck = || exact.events().iter().filter(|event| is_impact(event));
        impacts += struck().count();
        // Steps displace impacts: velocities are compared away from them.
        let compared = if struck().any(|event| (event.t - tf).abs() < APART) {
            3
        } else {
            6
        };
        let state = exact.state_at(tf).unwrap();
        let error = |steps: u32| {
            let found = stepped(block, (&q, &v), tf, steps);
            let pairs = found.iter().zip(state.iter()).take(compared);
            pairs.fold(0.0f64, |most, (a, b)| most.max((a - b).abs()))
        };
        let [coarse, fine] = [200, 1600].map(error);
        assert!(fine < 1e-2, "case {case}: {coarse:e} {fine:e}");
        halved += usize::from(fine < 0.4 * coarse);
    }
    println!(
        "{impacts} impacts, {slides} stretches with contacts, {halved} of {cases} fall with the step"
    );
    assert!(
        2 * impacts >= cases && 4 * slides >= 9 * cases && 4 * halved >= 3 * cases,
        "{impacts} {slides} {halved}"
    );
}

#[test]
fn bad_input_is_refused_by_name() {
    let block = RockingBlock::default();
    let (q, v) = block.pivoting(0.1, 0.0);
    let start = Start::at(0.0).q(&q).v(&v);
    let with = |model: ContactModel<RockingBlock>| EventDriven::new(model).unwrap();
    let rough = |block| with(ContactModel::with_law(block, AnitescuPotra::new()));
    let refused = with(ContactModel::with_law(block, Unilateral)).integrate(&start, 1.0);
    assert!(matches!(
        refused,
        Err(InputError::FrictionIgnored {
            law: "Unilateral",
            ..
        })
    ));
    // Said not to matter: it slides freely, down to the floor and on.
    let mut smooth = with(ContactModel::new(block).frictionless()).zeno(Zeno::Absorb);
    let run = smooth.integrate(&start, 0.5).unwrap().completed().unwrap();
    let over = smooth.model().arclength(&run).unwrap();
    let impulses = over.impulses_until(over.s()).unwrap();
    assert!(impulses[2..].iter().all(|&p| p == 0.0) && impulses[0] > 0.0);
    for friction in [-0.1, f64::NAN, f64::INFINITY] {
        let refused = rough(RockingBlock { friction, ..block }).integrate(&start, 1.0);
        assert!(refused.is_err(), "{friction} {refused:?}");
    }
    for (q, v, tf) in [
        (&q[..2], &v[..], 1.0),
        (&q, &v[..1], 1.0),
        (&q, &v, f64::NAN),
        (&q, &v, -1.0),
        (&[0.0, f64::NAN, 0.0], &v, 1.0),
        (&[0.0, 0.5, 0.0], &v, 1.0),
    ] {
        let refused = rough(block).integrate(&Start::at(0.0).q(q).v(v), tf);
        assert!(refused.is_err(), "{refused:?}");
    }
    let settings: [fn(EventDriven<RockingBlock>) -> EventDriven<RockingBlock>; 5] = [
        |driver| driver.rtol(-1.0),
        |driver| driver.atol(f64::NAN),
        |driver| driver.configure(|integrator| integrator.max_step(0.0)),
        |driver| driver.zeno_tolerance(-1.0),
        |driver| driver.zeno_tolerance(f64::NAN),
    ];
    for set in settings {
        let refused = set(rough(block)).integrate(&start, 1.0);
        assert!(matches!(refused, Err(InputError::BadSetting { .. })));
    }
    // A run that ends early keeps what it has and says why.
    let (q, v) = block.pivoting(0.0, 1.0);
    let start = Start::at(0.0).q(&q).v(&v);
    let mut short = rough(block).max_events(5);
    let run = short.integrate(&start, 4.0).unwrap();
    let Some(Stop::TooManyEvents { limit: 5, at, .. }) = run.status().stop() else {
        panic!("{:?}", run.status());
    };
    assert!(at.t == run.t() && at.t > 1.0 && run.events().len() >= 5);
    let over = short.model().arclength(&run).unwrap();
    assert!(over.s_at(1.0).is_ok() && over.s_at(3.5).is_err() && over.at(1e3).is_err());
    assert!(over.at(-1.0).is_err() && over.impulses_until(f64::NAN).is_err());
    let few = rough(block).max_steps(10).integrate(&start, 4.0).unwrap();
    assert!(matches!(
        few.status().stop(),
        Some(Stop::TooManySteps { limit: 10, .. })
    ));
    // A run of no length.
    let mut none = rough(block);
    let run = none.integrate(&Start::at(1.0).q(&q).v(&v), 1.0).unwrap();
    let over = none.model().arclength(&run).unwrap();
    assert!(run.events().is_empty() && run.t() == 1.0 && over.s() == 0.0);
    assert_eq!(over.at(0.0).unwrap().1, *run.state());
    // A run of another driver or another system has other modes.
    let other = ContactModel::with_law(
        saltation::models::SlidingBlock::default(),
        AnitescuPotra::new(),
    );
    let refused = [
        other.arclength(&run).map(|_| ()),
        other.lateness(&run, 1.0).map(|_| ()),
    ];
    for refused in refused {
        assert!(matches!(refused, Err(InputError::WrongLength { .. })));
    }
}

/// Blocks that rock to rest: the last rebound is lower than gaps resolve, and is held by an impulse that pulls.
#[test]
fn what_rocks_to_rest_has_the_derivative_of_its_runs() {
    let (mut rocked, mut tried) = (0, 0);
    for width in [0.2, 0.4] {
        for height in [0.2, 0.6] {
            for tilt in [0.1, 0.2] {
                let block = RockingBlock {
                    width,
                    height,
                    friction: 0.9,
                    ..RockingBlock::default()
                };
                let (sine, cosine) = f64::sin_cos(tilt);
                let lowest = 0.5 * (width * sine + height * cosine);
                let (q, v) = ([0.0, lowest + 0.02, tilt], [0.3, 0.0, 0.0]);
                let driver = || {
                    let driver = EventDriven::new(ContactModel::new(block)).unwrap();
                    driver.rtol(1e-9).atol(1e-11).zeno(Zeno::Absorb)
                };
                let at = |by: f64| {
                    let q = [q[0], q[1], q[2] + by];
                    let start = Start::at(0.0).q(&q).v(&v);
                    driver().integrate(&start, 1.0).unwrap()
                };
                let start = Start::at(0.0).q(&q).v(&v);
                let found = driver().derivative(&start, 1.0).unwrap();
                let found = found.apply(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
                let found = found.unwrap_or_else(|why| panic!("{width} {height} {tilt}: {why}"));
                let run = at(0.0);
                rocked += usize::from(run.events().len() >= 5);
                tried += 1;
                let [ahead, behind] = [1e-6, -1e-6].map(|by| at(by).state().clone());
                let off = (found - (ahead - behind) / 2e-6).amax();
                assert!(off < 1e-4, "{width} {height} {tilt}: {off:e}");
            }
        }
    }
    assert!(2 * rocked >= tried, "{rocked} of {tried}");
}
