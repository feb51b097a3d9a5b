//! Time as a state: the rocking block to its rest, impact without collision, closed forms, and the
//! properties of random runs.

use saltation::event_driven::{Breakdown, ContactEvent, ContactEventKind, Zeno};
use saltation::impact::{AnitescuPotra, Contacting, Remark, Selection};
use saltation::mechanics::{MechanicalSystem, Painleve, UnilateralConstraints};
use saltation::models::{RockingBlock, SlidingRod};
use saltation::{ContactModel, EventDriven, Run, Start};

use crate::reference::Case;

const GRAVITY: f64 = 9.81;

fn driver<S>(system: S) -> EventDriven<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let model = ContactModel::with_law(system, AnitescuPotra::new()).painleve(Painleve::Impact);
    let driver = EventDriven::new(model).unwrap().rtol(1e-12).atol(1e-14);
    driver.zeno(Zeno::Absorb).zeno_tolerance(1e-10)
}

/// Arclength fits the impulses, forces keep Coulomb's law, gaps stay open and energy never rises.
pub(crate) fn check<S>(model: &ContactModel<S>, run: &Run)
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let system = model.system();
    let (n, nq) = (system.contacts(), system.coordinates());
    let over = model.arclength(run).unwrap();
    let falls = |before: &[f64], after: &[f64]| {
        let [before, after] = [before, after].map(|state| model.energy(state).unwrap());
        assert!(
            after <= before + 1e-8 * (1.0 + before.abs()),
            "{before} {after}"
        );
    };
    let open = |state: &[f64], by: f64| (0..n).all(|j| system.gap(j, &state[..nq]) >= -by);
    let pushes = |contacts: &[usize], normal: &[f64], along: &[f64], held: f64| {
        for (&j, (p, along)) in contacts.iter().zip(normal.iter().zip(along)) {
            assert!(*p >= -1e-9 - held, "contact {j} pulls: {p:e}");
            assert!(
                along.abs() <= system.friction(j) * p + 1e-8 + held,
                "contact {j}: {along:e} {p:e}"
            );
        }
    };
    let all_contacts: Vec<usize> = (0..n).collect();
    let mut struck = 0.0;
    for event in run.events() {
        let [before, after] = [&event.state_before, &event.state_after];
        falls(before, after);
        // The state before lies on the interpolant of a step, and is brought onto the contacts after.
        assert!(open(before, 1e-8) && open(after, 1e-10), "{event:?}");
        if event.impulses.is_empty() {
            continue;
        }
        let (normal, along) = event.impulses.split_at(event.contacts.len());
        struck += normal.iter().sum::<f64>();
        // A rebound lower than 1e-12 m, by some 5e-6 m/s, is held by an impulse that may pull.
        let pulls = |(j, p): (&usize, &f64)| *p < 0.0 && event.mode_after.contains(j);
        let is_held = event.contacts.iter().zip(normal).any(pulls);
        if is_impact(event) {
            let held = if is_held { 3e-5 } else { 0.0 };
            pushes(&event.contacts, normal, along, held);
        }
    }
    // The last node of an accumulation is behind its impacts.
    let rests: Vec<f64> = rests(run).map(|event| event.t).collect();
    let nodes: Vec<_> = run.nodes().collect();
    let mut forces = 0.0;
    for pair in nodes.windows(2) {
        let [(t0, x0), (t1, x1)] = [pair[0], pair[1]];
        let bounds = if t1 > t0 {
            [1e-10, 1e-8]
        } else {
            [1e-8, 1e-10]
        };
        let ends = [x0, x1].into_iter().zip(bounds);
        assert!(t1 >= t0 && ends.clone().all(|(x, by)| open(x.as_slice(), by)));
        falls(x0.as_slice(), x1.as_slice());
        if t1 == t0 || rests.contains(&t1) {
            continue;
        }
        // Without the impacts at the end.
        let t = t0 + 0.999 * (t1 - t0);
        let ends = [t0, t].map(|t| over.s_at(t).unwrap());
        let [a, b] = ends.map(|s| over.impulses_until(s).unwrap());
        let each: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
        pushes(&all_contacts, &each[..n], &each[n..], 0.0);
        let pushed: f64 = each[..n].iter().sum();
        let [dt, ds] = [t - t0, ends[1] - ends[0]];
        assert!((ds - dt - pushed).abs() <= 1e-12 * ends[1].max(1.0));
        forces += pushed;
    }
    let all: f64 = over.impulses_until(over.s()).unwrap()[..n].iter().sum();
    let length = run.t() - run.times()[0];
    assert!((over.s() - length - all).abs() <= 1e-12 * over.s().max(1.0));
    assert!(all >= struck + forces - 1e-9);
    // Over the arclength: monotone, 1-Lipschitz, continuous.
    let (steps, end) = (400, over.s());
    let mut last: Option<(f64, f64)> = None;
    for k in 0..=steps {
        let s = (end * f64::from(k) / f64::from(steps)).min(end);
        let (t, state) = over.at(s).unwrap();
        assert!(state.iter().all(|x| x.is_finite()));
        if let Some((s0, t0)) = last {
            assert!(t >= t0 - 1e-12 && t - t0 <= s - s0 + 1e-9);
        }
        last = Some((s, t));
    }
}

/// An impact by the law, or without a collision.
pub(crate) fn is_impact(event: &ContactEvent) -> bool {
    let without = |remark: &Remark| matches!(remark, Remark::WithoutCollision { .. });
    event.order.is_some() || event.remarks.iter().any(without)
}

pub(crate) fn rests(run: &Run) -> impl Iterator<Item = &ContactEvent> {
    let events = run.events().iter();
    events.filter(|event| event.kind == ContactEventKind::ZenoAbsorbed)
}

/// The ratio of intervals in the end of an accumulation, and the bound of the error of its time.
pub(crate) fn accumulation(event: &ContactEvent) -> [f64; 2] {
    let found = event.remarks.iter().find_map(|remark| match *remark {
        Remark::Accumulation { ratio, bound } => Some([ratio, bound]),
        _ => None,
    });
    found.unwrap()
}

fn modes<S>(model: &ContactModel<S>, run: &Run, t: f64) -> Vec<Contacting>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let mode = run.mode_at(t).unwrap();
    let contacts = 0..model.system().contacts();
    contacts.map(|j| model.contacting(mode, j)).collect()
}

#[test]
fn the_block_rocks_to_rest_as_the_reference_says() {
    let case = Case::named("zeno_block");
    let block = RockingBlock::default();
    assert!(case.value("mu") == block.friction && case.value("g") == block.gravity);
    let (q, v) = block.pivoting(0.0, case.value("omega0"));
    let mut driver = driver(block).zeno_tolerance(1e-11);
    let start = Start::at(0.0).q(&q).v(&v);
    let run = driver.integrate(&start, 4.0).unwrap().completed().unwrap();
    let model = driver.model();
    check(model, &run);
    let over = model.arclength(&run).unwrap();
    let (mut t, mut s, mut rate) = (0.0, 0.0, v[2]);
    for k in 0..12 {
        let row = |quantity: &str| case.vector_of(quantity, k)[0];
        let impact = &run.events()[k];
        let (side, other) = (k % 2, 1 - k % 2);
        let mut expected = [Contacting::Open; 2];
        expected[side] = Contacting::Stick;
        assert_eq!(modes(model, &run, 0.5 * (t + impact.t)), expected);
        assert!(is_impact(impact) && impact.outcomes == 1);
        let near = |found: f64, quantity: &str| {
            let expected = row(quantity);
            assert!(
                (found - expected).abs() < 1e-9,
                "{quantity} {k}: {found} {expected}"
            );
        };
        let pushed: f64 = impact.impulses[..2].iter().sum();
        let (s_end, place) = (over.s_at(impact.t).unwrap(), |j: usize| {
            impact.contacts.iter().position(|&k| k == j).unwrap()
        });
        let before = s_end - pushed;
        near(rate.abs(), "omega");
        near(impact.t - t, "t_half");
        near(before - s - (impact.t - t), "int_lambda_pivot");
        near(impact.t, "t_end");
        near(before, "s_before_impact");
        near(impact.impulses[place(other)], "impact_Lambda_n");
        near(s_end, "s_end");
        assert_eq!(impact.impulses[place(side)], 0.0);
        let along = impact.impulses[2 + place(other)];
        let ratio = (along / impact.impulses[place(other)]).abs();
        assert!((ratio - case.value("impact_friction_ratio")).abs() < 1e-9);
        // The apex is where the rate vanishes.
        let middle = run.state_at(0.5 * (t + impact.t)).unwrap();
        near(middle[2].abs(), "theta_apex");
        let reduction = impact.state_after[5] / impact.state_before[5];
        assert!(
            (reduction - case.value("reduction")).abs() < 1e-9,
            "{reduction}"
        );
        (t, s, rate) = (impact.t, s_end, impact.state_after[5]);
    }
    let [rest] = rests(&run).collect::<Vec<_>>()[..] else {
        panic!("one rest");
    };
    let [ratio, bound] = accumulation(rest);
    assert_eq!(rest.contacts, [0, 1]);
    // A corner lands every other time.
    assert!((ratio - 0.7 * 0.7).abs() < 1e-6);
    assert!(bound > 0.0 && bound <= 1e-7, "{bound:e}");
    let [t, s] = ["t_star", "s_star"].map(|quantity| case.value(quantity));
    let found = over.s_at(rest.t).unwrap();
    // Arclength goes on with time, and with the weight of 1 kg in it.
    assert!((rest.t - t).abs() <= bound && (found - s).abs() <= (1.0 + GRAVITY) * bound);
    assert!((rest.t - t).abs() < 1e-9, "{} {t}", rest.t);
    assert!((found - s).abs() < 1e-9, "{found} {s}");
    assert!(rest.t < case.value("t_bound_70") && found < case.value("s_bound_69"));
    // Then it stands.
    assert_eq!(modes(model, &run, 4.0), [Contacting::Stick; 2]);
    assert!(run.state().rows(3, 3).amax() < 1e-12 && run.t() == 4.0);
    assert!(run.phases().last().unwrap().t == rest.t);
    let expected = s + (1.0 + GRAVITY) * (4.0 - t);
    assert!((over.s() - expected).abs() < 1e-8);
    // Friction while it pivots, at most.
    let mut most: f64 = 0.0;
    let (h, end) = (1e-4, run.events()[0].t);
    for k in 0..200 {
        let t = end * f64::from(k) / 200.0 + h;
        let [a, b] = [t - h, (t + h).min(end - 1e-9)]
            .map(|t| over.impulses_until(over.s_at(t).unwrap()).unwrap());
        most = most.max((b[2] - a[2]).abs() / (b[0] - a[0]));
    }
    assert!(
        (most - case.value("stiction_ratio_max")).abs() < 1e-4,
        "{most}"
    );
}

#[test]
fn a_rod_that_no_force_holds_is_thrown_by_an_impact_without_collision() {
    let case = Case::named("painleve_rod");
    let rod = SlidingRod {
        friction: case.value("mu"),
        ..SlidingRod::default()
    };
    let theta = case.value("tan_theta").atan();
    let (q, v) = rod.sliding(theta, -1.0);
    let start = Start::at(0.0).q(&q).v(&v);
    let mut thrown = driver(rod);
    let run = thrown.integrate(&start, 0.05).unwrap().completed().unwrap();
    check(thrown.model(), &run);
    let impact = &run.events()[0];
    assert_eq!(impact.remarks, [Remark::WithoutCollision { contact: 0 }]);
    assert!((impact.impulses[0] - case.value("Lambda_n")).abs() < 1e-12);
    assert!((impact.impulses[1] - case.value("Lambda_t")).abs() < 1e-12);
    let expected = case.vector("v_post");
    for (found, expected) in impact.state_after[3..].iter().zip(expected.iter()) {
        assert!((found - expected).abs() < 1e-12);
    }
    let over = thrown.model().arclength(&run).unwrap();
    assert!((over.s_at(0.0).unwrap() - 0.3).abs() < 1e-12 && impact.t == 0.0);
    let (t, before) = over.at(0.0).unwrap();
    assert!(t == 0.0 && before.as_slice()[3..] == v);
    // Below the critical friction it slides on under a force.
    let mild = SlidingRod {
        friction: 1.0,
        ..rod
    };
    let mut mild = driver(mild);
    let run = mild.integrate(&start, 0.01).unwrap().completed().unwrap();
    check(mild.model(), &run);
    assert_eq!(modes(mild.model(), &run, 0.0), [Contacting::SlipBackward]);
    // ln = 24.525 at the start (friction and sliding, section 10).
    let early = |model: &ContactModel<SlidingRod>, run: &Run, t: f64| {
        let over = model.arclength(run).unwrap();
        over.impulses_until(over.s_at(t).unwrap()).unwrap()[0] / t
    };
    let force = early(mild.model(), &run, 1e-6);
    assert!((force - 24.525).abs() < 1e-3, "{force}");
    // Turning at 4 rad/s there are two modes: refused, unless one is chosen.
    let turning = |selection| {
        let rod = SlidingRod::default();
        let model = ContactModel::with_law(rod, AnitescuPotra::new()).selection(selection);
        let (sine, cosine) = theta.sin_cos();
        // The end slides at −1 and does not part.
        let v = [-1.0 - 4.0 * sine, 4.0 * cosine, 4.0];
        let mut driver = EventDriven::new(model.clone()).unwrap();
        let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), 1e-3);
        (model, run.unwrap())
    };
    let (_, refused) = turning(Selection::Single);
    let reason = refused.status().reason::<Breakdown>();
    assert!(matches!(reason, Some(Breakdown::AmbiguousMode { .. })));
    assert!(refused.events().is_empty() && refused.t() == 0.0);
    let (model, opens) = turning(Selection::First);
    assert_eq!(modes(&model, &opens, 0.0), [Contacting::Open]);
    let last = Selection::by(|outcomes, _| Some(outcomes.list.len() - 1));
    let (model, closed) = turning(last);
    assert_eq!(modes(&model, &closed, 0.0), [Contacting::SlipBackward]);
    assert!((early(&model, &closed, 1e-7) - 5.626043820).abs() < 1e-3);
}

/// While both corners slip one way, the floor takes `μ` times the normal impulse from the motion
/// along it, through impacts and through the sum of an accumulation.
#[test]
fn a_block_that_slides_while_it_rocks_loses_friction_times_the_normal_impulse() {
    for friction in [0.02, 0.05, 0.1, 0.2] {
        let block = RockingBlock {
            friction,
            ..RockingBlock::default()
        };
        let (q, mut v) = block.pivoting(0.02, 0.0);
        v[0] += 4.0;
        let tf = 0.8;
        let mut driver = driver(block).zeno_tolerance(1e-9);
        let start = Start::at(0.0).q(&q).v(&v);
        let run = driver.integrate(&start, tf).unwrap().completed().unwrap();
        check(driver.model(), &run);
        let over = driver.model().arclength(&run).unwrap();
        // Impacts accumulate, or rebounds get too low to be resolved.
        let rest = run.events().last().unwrap();
        assert_eq!(rest.mode_after, [0, 1], "{friction}");
        let ends = run.events().iter().map(|of| (of.t, of.state_after[3]));
        for (t, slip) in ends.chain([(run.t(), run.state()[3])]) {
            let lost = friction * (over.s_at(t).unwrap() - t);
            assert!((slip - (v[0] - lost)).abs() < 1e-9, "{friction} {t}");
        }
        // All weight and the fall were taken up.
        let expected = tf + GRAVITY * tf - v[1];
        assert!((over.s() - expected).abs() < 1e-9 && rest.t < 0.7);
        let slides = [Contacting::SlipForward; 2];
        assert_eq!(modes(driver.model(), &run, tf), slides);
    }
}

/// A run that is cut in two goes on as one, and a longer run has the same beginning.
#[test]
fn a_run_goes_on_where_another_ended() {
    let block = RockingBlock {
        friction: 0.34,
        ..RockingBlock::default()
    };
    let (q, v) = block.pivoting(0.15, 0.0);
    let mut driver = driver(block);
    let mut go = |start: &Start<'_>, tf: f64| {
        let run = driver.integrate(start, tf).unwrap().completed().unwrap();
        let s = driver.model().arclength(&run).unwrap().s();
        (run, s)
    };
    let (whole, all) = go(&Start::at(0.0).q(&q).v(&v), 1.2);
    for cut in [0.2, 0.45, 0.6, 1.0] {
        let (first, before) = go(&Start::at(0.0).q(&q).v(&v), cut);
        assert!((whole.state_at(cut).unwrap() - first.state()).amax() < 1e-9);
        let (second, after) = go(&first.end(), 1.2);
        assert!((whole.state() - second.state()).amax() < 1e-8, "{cut}");
        assert!((all - before - after).abs() < 1e-8, "{cut}");
        // The same input gives the same bits.
        let again = go(&first.end(), 1.2);
        assert_eq!((second.state(), after), (again.0.state(), again.1));
    }
}

/// Velocities over the arclength have no jumps, and follow `dt/ds = 1/(1 + λ)` between impacts.
#[test]
fn velocities_are_continuous_in_the_arclength() {
    let block = RockingBlock::default();
    let (q, v) = block.pivoting(0.0, 1.0);
    let mut driver = driver(block);
    let start = Start::at(0.0).q(&q).v(&v);
    let run = driver.integrate(&start, 3.0).unwrap();
    let over = driver.model().arclength(&run).unwrap();
    let step = 1e-3;
    let mut s = 0.0;
    while s + step < over.s() {
        let [a, b] = [s, s + step].map(|s| over.at(s).unwrap());
        // forces of at most the weight and half of it more, on 1 kg
        assert!((&a.1 - &b.1).rows(3, 3).amax() < 10.0 * step, "{s}");
        assert!(b.0 >= a.0 && b.0 - a.0 <= step + 1e-9);
        s += 0.37;
    }
    // Within the first pivoting, whose arclength is time and some eight times that.
    let (s, h) = (0.4 * over.s_at(run.events()[0].t - 1e-6).unwrap(), 1e-4);
    let [a, b] = [s - h, s + h].map(|s| over.at(s).unwrap());
    let force = driver.model().multipliers(
        0.5 * (a.0 + b.0),
        over.at(s).unwrap().1.as_slice(),
        run.mode_at(a.0).unwrap(),
    );
    let force: f64 = force.values().iter().sum();
    assert!(((b.0 - a.0) / (2.0 * h) - 1.0 / (1.0 + force)).abs() < 1e-6);
}
