//! Time as a state: the rocking block to its rest, impact without collision, closed forms, and the
//! properties of random runs.

use saltation::ContactModel;
use saltation::Start;
use saltation::event_driven::{Breakdown, Stretch, StretchKind, Timeline, TimelineRun};
use saltation::impact::{AnitescuPotra, Contacting, Selection};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{RockingBlock, SlidingRod};

use crate::reference::Case;

const GRAVITY: f64 = 9.81;

fn timeline<S>(system: S) -> Timeline<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let model = ContactModel::with_law(system, AnitescuPotra::new());
    Timeline::new(model).unwrap().rtol(1e-12).atol(1e-14)
}

/// Stretches join, time and arclength fit the impulses, gaps stay open and energy never rises.
pub(crate) fn check<S>(run: &TimelineRun, system: &S)
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let energy = |q: &[f64], v: &[f64]| {
        let d = v.len();
        let mut mass = vec![0.0; d * d];
        system.mass(q, &mut mass);
        let momentum = |i: usize| (0..d).map(|k| mass[k * d + i] * v[k]).sum::<f64>();
        let kinetic: f64 = (0..d).map(|i| 0.5 * v[i] * momentum(i)).sum();
        kinetic + system.potential(q).unwrap()
    };
    let open = |q: &[f64], by: f64| (0..system.contacts()).all(|j| system.gap(j, q) >= -by);
    for pair in run.stretches().windows(2) {
        assert_eq!((pair[0].t[1], pair[0].s[1]), (pair[1].t[0], pair[1].s[0]));
        assert_eq!(
            (&pair[0].q[1], &pair[0].v[1]),
            (&pair[1].q[0], &pair[1].v[0])
        );
    }
    for stretch in run.stretches() {
        let [dt, ds] = [stretch.t, stretch.s].map(|[start, end]| end - start);
        assert!(dt >= 0.0 && ds >= dt - 1e-12, "{:?}", stretch.kind);
        if !matches!(stretch.kind, StretchKind::Rest { .. }) {
            let pushed: f64 = stretch.impulses.iter().sum();
            assert!((ds - dt - pushed).abs() <= 1e-12 * stretch.s[1].max(1.0));
            assert!(stretch.impulses.iter().all(|&p| p >= -1e-9));
            for (j, (p, along)) in stretch.impulses.iter().zip(&stretch.tangential).enumerate() {
                assert!(along.abs() <= system.friction(j) * p + 1e-8, "{stretch:?}");
            }
        }
        let [before, after] = [0, 1].map(|end| energy(&stretch.q[end], &stretch.v[end]));
        assert!(
            after <= before + 1e-8 * (1.0 + before.abs()),
            "{:?} {before} {after}",
            stretch.kind
        );
        let gaps = stretch.q.each_ref().map(|q| {
            (0..system.contacts())
                .map(|j| system.gap(j, q))
                .collect::<Vec<_>>()
        });
        assert!(
            open(&stretch.q[0], 1e-10) && open(&stretch.q[1], 1e-10),
            "{gaps:?} {:?} {:?} {:?} {:?}",
            stretch.kind,
            stretch.t,
            stretch.q,
            run.breakdown()
        );
        if let Some(path) = stretch.path() {
            let nq = stretch.q[0].len();
            // The last node lies within a step, and is brought onto the contacts afterwards.
            let within = |t: f64| if t < path.t() { 1e-10 } else { 1e-8 };
            assert!(
                path.nodes()
                    .all(|(t, x)| open(&x.as_slice()[..nq], within(t)))
            );
        }
    }
    // Over the arclength: monotone, 1-Lipschitz, continuous.
    let (steps, end) = (400, run.s());
    let mut last: Option<(f64, f64)> = None;
    for k in 0..=steps {
        let s = (end * f64::from(k) / f64::from(steps)).min(end);
        let (t, state) = run.at_arclength(s).unwrap();
        assert!(state.iter().all(|x| x.is_finite()));
        if let Some((s0, t0)) = last {
            assert!(t >= t0 - 1e-12 && t - t0 <= s - s0 + 1e-9);
        }
        last = Some((s, t));
    }
}

fn rests(run: &TimelineRun) -> Vec<&Stretch> {
    let rests = |stretch: &&Stretch| matches!(stretch.kind, StretchKind::Rest { .. });
    run.stretches().iter().filter(rests).collect()
}

#[test]
fn the_block_rocks_to_rest_as_the_reference_says() {
    let case = Case::named("zeno_block");
    let block = RockingBlock::default();
    assert!(case.value("mu") == block.friction && case.value("g") == block.gravity);
    let (q, v) = block.pivoting(0.0, case.value("omega0"));
    let run = timeline(block)
        .zeno_tolerance(1e-11)
        .integrate(&Start::at(0.0).q(&q).v(&v), 4.0)
        .unwrap();
    assert_eq!(run.breakdown(), None);
    check(&run, &block);
    let stretches = run.stretches();
    for k in 0..12 {
        let row = |quantity: &str| case.vector_of(quantity, k)[0];
        let (pivot, impact) = (&stretches[2 * k], &stretches[2 * k + 1]);
        let (side, other) = (k % 2, 1 - k % 2);
        let mut modes = [Contacting::Open; 2];
        modes[side] = Contacting::Stick;
        assert_eq!(pivot.kind, StretchKind::Contact(modes.to_vec()));
        assert!(matches!(
            impact.kind,
            StretchKind::Impact { outcomes: 1, .. }
        ));
        let near = |found: f64, quantity: &str| {
            let expected = row(quantity);
            assert!(
                (found - expected).abs() < 1e-9,
                "{quantity} {k}: {found} {expected}"
            );
        };
        near(pivot.v[0][2].abs(), "omega");
        near(pivot.t[1] - pivot.t[0], "t_half");
        near(pivot.normal_impulse(), "int_lambda_pivot");
        near(pivot.t[1], "t_end");
        near(pivot.s[1], "s_before_impact");
        near(impact.impulses[other], "impact_Lambda_n");
        near(impact.s[1], "s_end");
        assert_eq!(impact.impulses[side], 0.0);
        let ratio = (impact.tangential[other] / impact.impulses[other]).abs();
        assert!((ratio - case.value("impact_friction_ratio")).abs() < 1e-9);
        // The apex is where the rate vanishes.
        let middle = run.at(0.5 * (pivot.t[0] + pivot.t[1])).unwrap();
        near(middle[2].abs(), "theta_apex");
        let reduction = -impact.v[1][2] / -impact.v[0][2];
        assert!(
            (reduction - case.value("reduction")).abs() < 1e-9,
            "{reduction}"
        );
    }
    let [rest] = rests(&run)[..] else {
        panic!("one rest");
    };
    let StretchKind::Rest {
        contacts,
        ratio,
        bounds,
    } = &rest.kind
    else {
        unreachable!()
    };
    assert_eq!(contacts, &[0, 1]);
    assert!((ratio - 0.7).abs() < 1e-6);
    assert!(
        bounds.iter().all(|&bound| bound > 0.0 && bound <= 1e-7),
        "{bounds:?}"
    );
    let [t, s] = ["t_star", "s_star"].map(|quantity| case.value(quantity));
    assert!((rest.t[1] - t).abs() <= bounds[0] && (rest.s[1] - s).abs() <= bounds[1]);
    assert!((rest.t[1] - t).abs() < 1e-9, "{} {t}", rest.t[1]);
    assert!((rest.s[1] - s).abs() < 1e-9, "{} {s}", rest.s[1]);
    assert!(rest.t[1] < case.value("t_bound_70") && rest.s[1] < case.value("s_bound_69"));
    // Then it stands.
    let standing = stretches.last().unwrap();
    assert_eq!(
        standing.kind,
        StretchKind::Contact(vec![Contacting::Stick; 2])
    );
    assert!(standing.v[1].iter().all(|v| v.abs() < 1e-12) && run.t() == 4.0);
    let expected = s + (1.0 + GRAVITY) * (4.0 - t);
    assert!((run.s() - expected).abs() < 1e-8);
    // Friction while it pivots, at most.
    let path = stretches[0].path().unwrap();
    let mut most: f64 = 0.0;
    let h = 1e-4;
    for k in 0..200 {
        let t = stretches[0].t[1] * f64::from(k) / 200.0 + h;
        let [a, b] = [t - h, t + h].map(|t| path.state_at(t.min(path.t())).unwrap());
        most = most.max((b[8] - a[8]).abs() / (b[6] - a[6]));
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
    let run = timeline(rod)
        .integrate(&Start::at(0.0).q(&q).v(&v), 0.05)
        .unwrap();
    assert_eq!(run.breakdown(), None);
    check(&run, &rod);
    let impact = &run.stretches()[0];
    assert!(
        matches!(
            impact.kind,
            StretchKind::Impact {
                without_collision: true,
                ..
            }
        ),
        "{impact:?}"
    );
    assert!((impact.impulses[0] - case.value("Lambda_n")).abs() < 1e-12);
    assert!((impact.tangential[0] - case.value("Lambda_t")).abs() < 1e-12);
    for (found, expected) in impact.v[1].iter().zip(case.vector("v_post").iter()) {
        assert!((found - expected).abs() < 1e-12);
    }
    assert!((impact.s[1] - 0.3).abs() < 1e-12 && impact.t == [0.0, 0.0]);
    // Below the critical friction it slides on under a force.
    let mild = SlidingRod {
        friction: 1.0,
        ..rod
    };
    let run = timeline(mild)
        .integrate(&Start::at(0.0).q(&q).v(&v), 0.01)
        .unwrap();
    check(&run, &mild);
    assert_eq!(
        run.stretches()[0].kind,
        StretchKind::Contact(vec![Contacting::SlipBackward])
    );
    // ln = 24.525 at the start (friction and sliding, section 10).
    let early = run.stretches()[0].path().unwrap().state_at(1e-6).unwrap();
    assert!((early[6] / 1e-6 - 24.525).abs() < 1e-3, "{}", early[6]);
    // Turning at 4 rad/s there are two modes: refused, unless one is chosen.
    let turning = |selection| {
        let rod = SlidingRod::default();
        let model = ContactModel::with_law(rod, AnitescuPotra::new()).selection(selection);
        let (sine, cosine) = theta.sin_cos();
        // The end slides at −1 and does not part.
        let v = [-1.0 - 4.0 * sine, 4.0 * cosine, 4.0];
        let timeline = Timeline::new(model).unwrap();
        timeline
            .integrate(&Start::at(0.0).q(&q).v(&v), 1e-3)
            .unwrap()
    };
    let refused = turning(Selection::Single);
    assert!(matches!(
        refused.breakdown(),
        Some(Breakdown::AmbiguousMode { .. })
    ));
    assert!(refused.stretches().is_empty());
    let opens = turning(Selection::First);
    assert_eq!(opens.stretches()[0].kind, StretchKind::Free);
    let closed = turning(Selection::by(|outcomes, _| Some(outcomes.list.len() - 1)));
    let pushed = &closed.stretches()[0];
    assert_eq!(
        pushed.kind,
        StretchKind::Contact(vec![Contacting::SlipBackward])
    );
    let early = pushed.path().unwrap().state_at(1e-7).unwrap();
    assert!((early[6] / 1e-7 - 5.626043820).abs() < 1e-3);
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
        let timeline = timeline(block).zeno_tolerance(1e-9);
        let run = timeline.integrate(&Start::at(0.0).q(&q).v(&v), tf).unwrap();
        assert_eq!(run.breakdown(), None);
        check(&run, &block);
        let [rest] = rests(&run)[..] else {
            panic!("one rest with friction {friction}");
        };
        for stretch in run.stretches() {
            let lost = friction * (stretch.s[1] - stretch.t[1]);
            assert!(
                (stretch.v[1][0] - (v[0] - lost)).abs() < 1e-9,
                "{friction} {:?}",
                stretch.kind
            );
        }
        // All weight and the fall were taken up.
        let expected = tf + GRAVITY * tf - v[1];
        assert!((run.s() - expected).abs() < 1e-9 && rest.t[1] < 0.7);
        let slides = StretchKind::Contact(vec![Contacting::SlipForward; 2]);
        assert_eq!(run.stretches().last().unwrap().kind, slides);
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
    let timeline = timeline(block);
    let whole = timeline
        .integrate(&Start::at(0.0).q(&q).v(&v), 1.2)
        .unwrap();
    for cut in [0.2, 0.45, 0.6, 1.0] {
        let first = timeline
            .integrate(&Start::at(0.0).q(&q).v(&v), cut)
            .unwrap();
        let middle = first.state();
        assert!((whole.at(cut).unwrap() - &middle).amax() < 1e-9);
        let (q, v) = middle.as_slice().split_at(3);
        let second = timeline.integrate(&Start::at(cut).q(q).v(v), 1.2).unwrap();
        assert_eq!(second.breakdown(), None);
        assert!((whole.state() - second.state()).amax() < 1e-8, "{cut}");
        assert!((whole.s() - first.s() - second.s()).abs() < 1e-8, "{cut}");
        // The same input gives the same bits.
        let again = timeline.integrate(&Start::at(cut).q(q).v(v), 1.2).unwrap();
        assert_eq!((second.state(), second.s()), (again.state(), again.s()));
    }
}

/// Velocities over the arclength have no jumps, and follow `dt/ds = 1/(1 + λ)` between impacts.
#[test]
fn velocities_are_continuous_in_the_arclength() {
    let block = RockingBlock::default();
    let (q, v) = block.pivoting(0.0, 1.0);
    let run = timeline(block)
        .integrate(&Start::at(0.0).q(&q).v(&v), 3.0)
        .unwrap();
    let step = 1e-3;
    let mut s = 0.0;
    while s + step < run.s() {
        let [a, b] = [s, s + step].map(|s| run.at_arclength(s).unwrap());
        // forces of at most the weight and half of it more, on 1 kg
        assert!((&a.1 - &b.1).rows(3, 3).amax() < 10.0 * step, "{s}");
        assert!(b.0 >= a.0 && b.0 - a.0 <= step + 1e-9);
        s += 0.37;
    }
    let pivot = &run.stretches()[0];
    let (s, h) = (0.4 * pivot.s[1], 1e-4);
    let [a, b] = [s - h, s + h].map(|s| run.at_arclength(s).unwrap());
    let path = pivot.path().unwrap();
    let force = (path.state_at(b.0).unwrap()[6] - path.state_at(a.0).unwrap()[6]) / (b.0 - a.0);
    assert!(((b.0 - a.0) / (2.0 * h) - 1.0 / (1.0 + force)).abs() < 1e-6);
}
