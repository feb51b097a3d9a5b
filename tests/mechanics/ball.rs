//! A ball over a floor: impacts in closed form, accumulation and its policies, grazing, rest.

use saltation::event_driven::{Breakdown, ContactEvent, ContactEventKind, Grazing, Zeno};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::BouncingBall;
use saltation::{ContactModel, EventDriven};
use saltation::{Guard, InputError, Integrator, Mode, Start, Status, Stop};

const G: f64 = 9.81;

fn ball(restitution: f64) -> BouncingBall {
    BouncingBall {
        mass: 2.0,
        gravity: G,
        restitution,
    }
}

fn simulation(restitution: f64) -> EventDriven<BouncingBall> {
    EventDriven::new(ContactModel::new(ball(restitution)))
        .unwrap()
        .rtol(1e-11)
        .atol(1e-12)
}

#[test]
fn impacts_come_at_their_times_and_the_accumulation_is_named() {
    let (h, e) = (1.0, 0.5);
    let end = ball(e).accumulation(h);
    let run = simulation(e)
        .integrate(&Start::at(0.0).q(&[h]).v(&[0.0]), 3.0)
        .unwrap();
    for (n, event) in (1..).zip(run.events()) {
        assert!((event.t - ball(e).impact_time(h, n)).abs() < 1e-9);
        let speed = ball(e).impact_speed(h, n);
        assert!((event.approach[0] + speed).abs() < 1e-8);
        assert!((event.impulses[0] - 2.0 * 1.5 * speed).abs() < 1e-8);
    }
    let Some(Breakdown::Zeno {
        accumulation,
        contacts,
        ratio,
        t,
    }) = run.status().reason::<Breakdown>()
    else {
        panic!("{}", run.status());
    };
    assert!((accumulation - end).abs() < 1e-9 && (ratio - e).abs() < 1e-6 && contacts == &[0]);
    assert!(end - t < 3e-6 && run.events().len() > 15);
}

#[test]
fn an_accumulation_that_is_absorbed_leaves_the_ball_on_the_floor() {
    let (h, e) = (1.0, 0.5);
    let end = ball(e).accumulation(h);
    let run = simulation(e)
        .zeno(Zeno::Absorb)
        .integrate(&Start::at(0.0).q(&[h]).v(&[0.0]), 100.0 + end)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    let last = run.events().last().unwrap();
    assert_eq!(
        (last.kind, &last.mode_after[..]),
        (ContactEventKind::ZenoAbsorbed, &[0][..])
    );
    assert!((last.t - end).abs() < 1e-8 && !run.is_guaranteed());
    // A hundred seconds of rest: nothing sinks, nothing creeps.
    let state = run.state();
    assert!(state[0].abs() < 1e-12 && state[1].abs() < 1e-12, "{state}");
    let lowest = run.states().row(0).min();
    assert!(lowest > -1e-9, "{lowest:e}");
    let modes = run.phases();
    assert_eq!(modes.last().unwrap().closed, [0]);
    assert!((run.state_at(end + 50.0).unwrap()[0]).abs() < 1e-12);
}

#[test]
fn a_run_can_stop_at_the_accumulation() {
    let end = ball(0.5).accumulation(1.0);
    let run = simulation(0.5)
        .zeno(Zeno::StopAt)
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 3.0)
        .unwrap();
    assert_eq!(*run.status(), Status::Ended);
    assert!((run.t() - end).abs() < 1e-9);
    assert!(run.is_guaranteed() && run.phases().iter().all(|mode| mode.closed.is_empty()));
}

#[test]
fn a_hundred_bounces_and_then_rest() {
    // Restitution 0.9: about a hundred bounces before the accumulation is near.
    let end = ball(0.9).accumulation(1.0);
    let run = simulation(0.9)
        .zeno(Zeno::Absorb)
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), end + 100.0)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    assert!(run.events().len() > 100);
    assert!((run.events().last().unwrap().t - end).abs() < 1e-6);
    assert!(run.state().amax() < 1e-12);
}

#[test]
fn a_ball_without_restitution_lies_down_at_once() {
    let first = ball(0.0).impact_time(1.0, 1);
    let run = simulation(0.0)
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 5.0)
        .unwrap();
    assert_eq!(run.events().len(), 1);
    assert!((run.events()[0].t - first).abs() < 1e-10);
    let modes: Vec<_> = run.phases().into_iter().map(|m| m.closed).collect();
    assert_eq!(modes, [vec![], vec![0]]);
    // The force is the weight.
    let model = ContactModel::new(ball(0.0));
    let force = model.multipliers(5.0, run.state().as_slice(), run.mode());
    assert!((force.values()[0] - 2.0 * G).abs() < 1e-9);
}

/// A ball below a ceiling.
#[derive(Debug)]
struct Under {
    ceiling: f64,
}

impl MechanicalSystem for Under {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 2.0;
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = -2.0 * G;
    }
}

impl UnilateralConstraints for Under {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        self.ceiling - q[0]
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        0.5
    }
}

fn under(ceiling: f64) -> EventDriven<Under> {
    EventDriven::new(ContactModel::new(Under { ceiling }))
        .unwrap()
        .rtol(1e-11)
        .atol(1e-12)
}

#[test]
fn a_ball_that_reaches_the_ceiling_exactly_grazes() {
    // Thrown from 0.5 with v to exactly the ceiling, or a millionth above or below it.
    let v: f64 = 3.0;
    let top = 0.5 + v * v / (2.0 * G);
    for (gap, expected) in [(0.0, "graze"), (1e-6, "none"), (-1e-6, "impact")] {
        let run = under(top + gap)
            .integrate(&Start::at(0.0).q(&[0.5]).v(&[v]), 0.5)
            .unwrap();
        match expected {
            "graze" => {
                let status = run.status();
                let Some(Breakdown::Grazing { contact, t, .. }) = status.reason::<Breakdown>()
                else {
                    panic!("{status}");
                };
                assert!(*contact == 0 && (t - v / G).abs() < 1e-5);
            }
            "none" => {
                assert_eq!(*run.status(), Status::ReachedEnd);
                assert!(run.events().is_empty());
            }
            _ => {
                assert_eq!(*run.status(), Status::ReachedEnd);
                assert_eq!(
                    (run.events().len(), &run.events()[0].activated[..]),
                    (1, &[0][..])
                );
            }
        }
    }
    let mut ignoring = under(top + 1e-14).grazing(Grazing::Ignore);
    let run = ignoring
        .integrate(&Start::at(0.0).q(&[0.5]).v(&[v]), 0.5)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
}

#[test]
fn starts_that_touch_settle_or_hit() {
    let model = ContactModel::new(ball(0.5));
    // At rest on the floor: closed.
    let rest = model.start(&Start::at(0.0).q(&[0.0]).v(&[0.0])).unwrap();
    assert_eq!(model.closed(&rest.mode), [0]);
    // Falling onto it: an impact at the start.
    let hit = model.start(&Start::at(0.0).q(&[0.0]).v(&[-2.0])).unwrap();
    assert!((hit.state[1] - 1.0).abs() < 1e-12 && model.closed(&hit.mode).is_empty());
    // Leaving it: open.
    let left = model.start(&Start::at(0.0).q(&[0.0]).v(&[2.0])).unwrap();
    assert_eq!((left.state[1], model.closed(&left.mode).len()), (2.0, 0));
    let below = model.start(&Start::at(0.0).q(&[-1e-3]).v(&[0.0]));
    assert!(matches!(
        below,
        Err(Breakdown::Input(InputError::NegativeGap { contact: 0, .. }))
    ));
}

/// The gaps that a start refuses are those that the core refuses.
#[test]
fn the_core_refuses_a_start_below_the_floor_too() {
    let model = ContactModel::new(ball(0.5)).gap_tolerance(1e-6);
    let run = |height: f64, mode: Mode| {
        let mut integrator = Integrator::new(&model).unwrap();
        let run = integrator
            .integrate(&Start::at(0.0).x(&[height, 1.0]).mode(&mode), 0.1)
            .unwrap();
        run.status().clone()
    };
    let open = || model.mode(&[]);
    for height in [0.0, -0.99e-6, 1e-3] {
        assert_eq!(run(height, open()), Status::ReachedEnd, "{height}");
    }
    for height in [-1.01e-6, -0.5] {
        let refused = run(height, open());
        let Status::Refused(Stop::Inadmissible {
            guard,
            value,
            bound,
            at,
        }) = &refused
        else {
            panic!("{height}: {refused:?}");
        };
        assert_eq!((*guard, *value, *bound), (Guard::falling(0), height, -1e-6));
        assert_eq!(at.state, [height, 1.0]);
    }
}

/// Restitutions so small, or heights so low, that a bounce is soon lower than gaps can tell.
#[test]
fn low_bounces_are_accumulations() {
    for (e, h) in [(0.5, 1e-3), (0.01, 1.0), (1e-6, 1.0), (0.9, 1e-6)] {
        let end = ball(e).accumulation(h);
        let refused = simulation(e)
            .integrate(&Start::at(0.0).q(&[h]).v(&[0.0]), 20.0)
            .unwrap();
        let Some(Breakdown::Zeno {
            accumulation,
            ratio,
            ..
        }) = refused.status().reason::<Breakdown>()
        else {
            panic!("{e} {h}: {}", refused.status());
        };
        assert!(
            (accumulation - end).abs() < 1e-8 && (ratio - e).abs() < 1e-4,
            "{e} {h}: {accumulation} {end}"
        );
        let mut simulation = simulation(e).zeno(Zeno::Absorb);
        let run = simulation
            .integrate(&Start::at(0.0).q(&[h]).v(&[0.0]), 20.0)
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd);
        assert_eq!(run.phases().pop().unwrap().closed, [0]);
        assert!(run.state().amax() < 1e-12);
    }
}

/// What is closed is at rest: no speed within the tolerance of rates is kept.
#[test]
fn a_contact_that_settles_keeps_no_speed() {
    let mut simulation = simulation(0.001).zeno(Zeno::Absorb);
    let run = simulation
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 1000.0)
        .unwrap();
    assert!(run.state().amax() < 1e-12);
    let slow = ContactModel::new(ball(0.0)).rate_tolerance(1e-2);
    let mut simulation = EventDriven::new(slow).unwrap();
    let run = simulation
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[-0.99e-2]), 10.0)
        .unwrap()
        .completed()
        .unwrap();
    assert!(run.states().row(0).amax() < 1e-10);
}

/// `dt*/dh = t*/2h`: the time of the accumulation, by differences of its prediction.
#[test]
fn the_accumulation_moves_with_the_height_as_the_closed_form_says() {
    let at = |h: f64| {
        let run = simulation(0.5)
            .integrate(&Start::at(0.0).q(&[h]).v(&[0.0]), 3.0)
            .unwrap();
        let Some(Breakdown::Zeno { accumulation, .. }) = run.status().reason::<Breakdown>() else {
            panic!("{}", run.status());
        };
        *accumulation
    };
    let slope = (at(1.001) - at(0.999)) / 0.002;
    assert!(
        (slope - ball(0.5).accumulation(1.0) / 2.0).abs() < 1e-5,
        "{slope}"
    );
}

#[test]
fn an_impact_at_the_start_is_an_event() {
    let run = simulation(0.5)
        .integrate(&Start::at(2.0).q(&[0.0]).v(&[-2.0]), 2.1)
        .unwrap();
    let [event] = run.events() else {
        panic!("{:?}", run.events());
    };
    assert_eq!(
        (&event.activated[..], &event.contacts[..]),
        (&[0][..], &[0][..])
    );
    assert!((event.t - 2.0).abs() < 1e-15 && (event.impulses[0] - 6.0).abs() < 1e-12);
    assert!((event.approach[0] + 2.0).abs() < 1e-15 && (event.state_after[1] - 1.0).abs() < 1e-14);
}

#[test]
fn a_simulation_gives_the_derivative_of_its_run() {
    let (e, h, tf) = (0.5, 1.0, 0.7);
    let mut simulation = simulation(e);
    let derivative = simulation
        .derivative(&Start::at(0.0).q(&[h]).v(&[0.0]), tf)
        .unwrap();
    let matrix = derivative.matrix().unwrap();
    // From rest at h: t_1 = √(2h/g), z = γ g t_1 s − g s²/2 with s = tf − t_1.
    let first = (2.0 * h / G).sqrt();
    let (slope, s) = (first / (2.0 * h), tf - first);
    let z = e * G * slope * (s - first) + G * s * slope;
    let v = e * G * slope + G * slope;
    assert!(
        (matrix[(0, 0)] - z).abs() < 1e-8 && (matrix[(1, 0)] - v).abs() < 1e-8,
        "{matrix}"
    );
}

#[test]
fn forces_at_states_or_modes_of_another_length_are_not_numbers() {
    let model = ContactModel::new(ball(0.5));
    let start = model.start(&Start::at(0.0).q(&[0.0]).v(&[0.0])).unwrap();
    let force = |state: &[f64], mode: &Mode| model.multipliers(0.0, state, mode);
    let rest = force(&start.state, &start.mode);
    assert!(rest.are_unique() && (rest.values()[0] - 2.0 * G).abs() < 1e-12);
    for (state, mode) in [(&[0.0][..], &start.mode), (&start.state[..], &Mode::new(0))] {
        let found = force(state, mode);
        assert!(found.values()[0].is_nan() && !found.are_unique());
    }
}

#[test]
fn tolerances_and_times_are_named_as_the_user_wrote_them() {
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        let gap = ContactModel::new(ball(0.5)).gap_tolerance(bad);
        let rate = ContactModel::new(ball(0.5)).rate_tolerance(bad);
        for (model, expected) in [(gap, "gap_tolerance"), (rate, "rate_tolerance")] {
            let run = EventDriven::new(model)
                .unwrap()
                .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 1.0);
            assert!(matches!(run, Err(InputError::BadSetting { name, .. }) if name == expected));
        }
    }
    let run = simulation(0.5).integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), f64::NAN);
    assert!(matches!(run, Err(InputError::NotFinite { name: "tf", .. })));
    let refused = simulation(0.5)
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 3.0)
        .unwrap()
        .completed()
        .unwrap_err();
    assert!(matches!(refused.downcast(), Some(Breakdown::Zeno { .. })));
    assert!(
        simulation(0.5)
            .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 1.0)
            .unwrap()
            .completed()
            .is_ok()
    );
}

#[test]
fn times_that_make_no_sense_are_refused() {
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        let run = simulation(0.5)
            .zeno_time(bad)
            .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 1.0);
        assert!(matches!(
            run,
            Err(InputError::BadSetting {
                name: "zeno_time",
                ..
            })
        ));
    }
}

/// Times between impacts are 0.45 s, 0.23 s, 0.11 s, 0.06 s, and so on.
#[test]
fn impacts_that_follow_each_other_closely_are_a_cluster() {
    let run = simulation(0.5)
        .zeno(Zeno::Absorb)
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 3.0)
        .unwrap();
    let all = run.events().len();
    for (within, expected) in [
        (0.0, vec![1; all]),
        (0.1, vec![1, 1, 1, all - 3]),
        (0.2, vec![1, 1, all - 2]),
        (1.0, vec![all]),
    ] {
        let clusters: Vec<_> = run.clusters(within).collect();
        let sizes: Vec<_> = clusters.iter().map(|cluster| cluster.len()).collect();
        assert_eq!(sizes, expected, "{within}");
        assert_eq!(clusters.concat(), run.events(), "{within}");
    }
}

/// Steps that reach to the end of a long run hide a low bounce at their start behind their own
/// rounding.
#[test]
fn long_runs_see_low_bounces() {
    for tf in [100.0, 2000.0, 1e5] {
        for k in 0..50 {
            let e = 0.02 * f64::from(k);
            let mut simulation = simulation(e).rtol(1e-9).atol(1e-10).zeno(Zeno::Absorb);
            let run = simulation
                .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), tf)
                .unwrap();
            let status = run.status();
            assert_eq!(*status, Status::ReachedEnd, "{e} {tf}");
            let end = run.events().last().unwrap().t;
            assert!((end - ball(e).accumulation(1.0)).abs() < 1e-7, "{e} {tf}");
        }
    }
}

#[test]
fn the_log_of_contacts_counts_as_memory() {
    let memory = 1 << 18;
    let mut simulation = simulation(1.0).configure(|integrator| integrator.max_memory(memory));
    let run = simulation
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 1e4)
        .unwrap();
    let status = run.status();
    assert!(
        matches!(status, Status::Refused(Stop::RunTooLarge { limit, .. }) if *limit == memory),
        "{status}"
    );
    // The nodes, their segments, and the events with their states, at least.
    let number = size_of::<f64>();
    let nodes = run.times().len() * (3 + 5) * number;
    let events = run.events().len() * (size_of::<ContactEvent>() + 4 * number);
    assert!(nodes + events < memory, "{nodes} {events}");
}
