//! Impacts with friction in a run: laws that know it get coefficients and tangents.
#![allow(clippy::float_cmp, reason = "numbers that are handed on exactly")]

use saltation::event_driven::{Breakdown, ContactEventKind};
use saltation::impact::{
    AnitescuPotra, ImpactLaw, LcpSteps, Routh, RouthInclusion, Selection, Unilateral,
};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::Particle;
use saltation::{ContactModel, EventDriven, Run};
use saltation::{InputError, Start, Status};

const GRAVITY: f64 = 9.81;
/// Radius and moment of inertia of a disc of mass 1.
const RADIUS: f64 = 0.1;
const INERTIA: f64 = 0.5 * RADIUS * RADIUS;
const HEIGHT: f64 = 1.0;

/// A disc `(x, y, angle)` between a floor (contact 0) and a ceiling (contact 1).
#[derive(Clone, Copy, Debug)]
struct Disc {
    friction: [f64; 2],
}

impl MechanicalSystem for Disc {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, INERTIA]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -GRAVITY, 0.0]);
    }
}

impl UnilateralConstraints for Disc {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        [q[1] - RADIUS, HEIGHT - RADIUS - q[1]][j]
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn friction(&self, j: usize) -> f64 {
        self.friction[j]
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[[1.0, 0.0, RADIUS], [-1.0, 0.0, RADIUS]][j]);
    }
}

/// Thrown up at the ceiling from half the height.
const START: ([f64; 3], [f64; 3]) = ([0.0, 0.5, 0.0], [1.0, 4.0, 30.0]);

fn thrown(friction: [f64; 2], law: impl ImpactLaw + Send + Sync + 'static, tf: f64) -> Run {
    let model = ContactModel::with_law(Disc { friction }, law).selection(Selection::First);
    let (q, v) = START;
    let mut simulation = EventDriven::new(model).unwrap().rtol(1e-10).atol(1e-12);
    simulation
        .integrate(&Start::at(0.0).q(&q).v(&v), tf)
        .unwrap()
}

#[test]
fn a_spinning_ball_bounces_off_the_ceiling_as_friction_says() {
    let (_, [vx, vy, spin]) = START;
    let rise = 0.5 - RADIUS;
    let at_ceiling = (vy * vy - 2.0 * GRAVITY * rise).sqrt();
    let t = (vy - at_ceiling) / GRAVITY;
    // The slip of the contact and what stops it; the normal does not couple to it.
    let slip = -vx + RADIUS * spin;
    let stopping = slip / (1.0 + RADIUS * RADIUS / INERTIA);
    for mu in [0.1, 10.0] {
        let push = at_ceiling;
        let along = -f64::min(mu * push, stopping.abs()) * slip.signum();
        assert!(
            (mu < 1.0) == (along != -stopping),
            "one slides and one sticks"
        );
        let after = [vx - along, 0.0, spin + RADIUS * along / INERTIA];
        let inclusion = RouthInclusion::new(LcpSteps::new(1.0), 20);
        for run in [
            thrown([0.0, mu], Routh::new(), 0.4),
            thrown([0.0, mu], AnitescuPotra::new(), 0.4),
            thrown([0.0, mu], inclusion, 0.4),
        ] {
            assert_eq!(*run.status(), Status::ReachedEnd);
            let [event] = run.events() else {
                panic!("{:?}", run.events());
            };
            assert!((event.t - t).abs() < 1e-9 && event.contacts == [1]);
            // Normal impulses come first, then those along the tangents.
            assert_eq!(event.impulses.len(), 2);
            assert!((event.impulses[0] - push).abs() < 1e-7, "{event:?}");
            assert!((event.impulses[1] - along).abs() < 1e-7, "{event:?}");
            let fall = 0.4 - t;
            let state = run.state();
            let expected = [
                vx * t + after[0] * fall,
                HEIGHT - RADIUS - 0.5 * GRAVITY * fall * fall,
                spin * t + after[2] * fall,
                after[0],
                -GRAVITY * fall,
                after[2],
            ];
            for (found, expected) in state.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6, "{state} {expected}");
            }
        }
    }
}

/// From the ceiling, which has no friction, to the floor, where it slips until it rolls.
#[test]
fn a_disc_that_lands_slips_until_it_rolls() {
    let (_, [vx, vy, spin]) = START;
    let mu = 0.3;
    let rise = (vy - (vy * vy - 2.0 * GRAVITY * (0.5 - RADIUS)).sqrt()) / GRAVITY;
    let fall = (2.0 * (HEIGHT - 2.0 * RADIUS) / GRAVITY).sqrt();
    let landing = rise + fall;
    // Friction takes its part of the slip in the impact, and the rest of it in the slide.
    let weight = 1.0 + RADIUS * RADIUS / INERTIA;
    let slip = vx + RADIUS * spin;
    let after = slip - mu * GRAVITY * fall * weight;
    let slide = after / (mu * GRAVITY * weight);
    assert!(after > 0.0);
    let rolls = vx - slip / weight;
    for run in [
        thrown([mu, 0.0], Routh::new(), 3.0),
        thrown([mu, 0.0], AnitescuPotra::new(), 3.0),
    ] {
        assert_eq!(*run.status(), Status::ReachedEnd);
        let [_, lands, sticks] = run.events() else {
            panic!("{:?}", run.events());
        };
        assert!(lands.kind == ContactEventKind::Contact && lands.activated == [0]);
        assert!((lands.t - landing).abs() < 1e-9);
        assert!(sticks.kind == ContactEventKind::Friction && sticks.stuck == [0]);
        assert!((sticks.t - (landing + slide)).abs() < 1e-9, "{sticks:?}");
        assert!(sticks.activated.is_empty() && sticks.released.is_empty());
        let state = run.state();
        assert!((state[3] - rolls).abs() < 1e-9, "{state} {rolls}");
        assert!((state[3] + RADIUS * state[5]).abs() < 1e-12, "{state}");
        let closed: Vec<_> = run.phases().into_iter().map(|phase| phase.closed).collect();
        assert_eq!(closed, [vec![], vec![], vec![0], vec![0]]);
    }
}

/// A particle lands in space, slips on and stops: friction takes its part of the slip in the impact.
#[test]
fn a_particle_in_space_lands_slips_and_stops() {
    let model = || ContactModel::with_law(Particle::default(), Routh::new());
    let mut driver = EventDriven::new(model()).unwrap().rtol(1e-10);
    let start = Start::at(0.0).q(&[0.0, 0.0, 0.2]).v(&[1.2, 1.6, 0.0]);
    let run = driver.integrate(&start, 2.0).unwrap();
    let landing = (2.0 * 0.2 / GRAVITY).sqrt();
    let left = 2.0 - 0.5 * GRAVITY * landing;
    let stop = landing + left / (0.5 * GRAVITY);
    let [lands, stops] = run.events() else {
        panic!("{} {:?}", run.status(), run.events());
    };
    assert!((lands.t - landing).abs() < 1e-9, "{lands:?}");
    assert!((stops.t - stop).abs() < 1e-9, "{stops:?} {stop}");
    assert_eq!(
        (&lands.activated[..], &stops.stuck[..]),
        (&[0][..], &[0][..])
    );
    let way = 2.0 * landing + 0.5 * left * left / (0.5 * GRAVITY);
    assert!((run.state()[0] - 0.6 * way).abs() < 1e-9 && (run.state()[1] - 0.8 * way).abs() < 1e-9);
    // The start is such a contact too.
    let started = model()
        .start(&Start::at(0.0).q(&[0.0; 3]).v(&[1.0, 0.0, 0.0]))
        .unwrap();
    assert_eq!(model().closed(&started.mode), [0]);
}

#[test]
fn friction_that_is_said_not_to_matter_does_not() {
    let free = ContactModel::with_law(
        Disc {
            friction: [0.3, 0.3],
        },
        Routh::new(),
    )
    .frictionless();
    let (q, v) = START;
    let run = EventDriven::new(free)
        .unwrap()
        .integrate(&Start::at(0.0).q(&q).v(&v), 2.0)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    let state = run.state();
    assert!(state[3] == v[0] && state[5] == v[2], "{state}");
}

#[test]
fn laws_without_friction_are_refused_when_the_run_starts() {
    let (q, v) = START;
    let model = ContactModel::with_law(
        Disc {
            friction: [0.0, 0.2],
        },
        Unilateral,
    );
    let refused = model.start(&Start::at(0.0).q(&q).v(&v));
    assert!(
        matches!(
            refused,
            Err(Breakdown::Input(InputError::FrictionIgnored {
                law: "Unilateral",
                contact: 1,
                ..
            }))
        ),
        "{refused:?}"
    );
}

#[test]
fn decoupling_with_friction_is_refused() {
    let model = ContactModel::with_law(
        Disc {
            friction: [0.0, 0.2],
        },
        Routh::new(),
    );
    let top = [0.0, HEIGHT - RADIUS, 0.0];
    let refused = model.decoupling(&Start::at(0.0).q(&top).v(&[0.0, 1.0, 0.0]), &[1]);
    assert!(
        matches!(
            refused,
            Err(Breakdown::Input(InputError::FrictionIgnored {
                contact: 1,
                ..
            }))
        ),
        "{refused:?}"
    );
}

#[test]
fn contacts_that_do_not_exist_are_refused_before_their_friction_is_asked() {
    let model = ContactModel::with_law(
        Disc {
            friction: [0.0, 0.2],
        },
        Routh::new(),
    );
    let top = [0.0, HEIGHT - RADIUS, 0.0];
    let refused = model.decoupling(&Start::at(0.0).q(&top).v(&[0.0, 1.0, 0.0]), &[1, 7]);
    assert!(
        matches!(
            refused,
            Err(Breakdown::Input(InputError::NoSuch { index: 7, .. }))
        ),
        "{refused:?}"
    );
}

/// The derivative of the impact, against runs from displaced starts.
#[test]
fn the_derivative_of_an_impact_with_friction_is_that_of_displaced_runs() {
    let (q, v) = START;
    for mu in [0.1, 10.0] {
        let model = || {
            ContactModel::with_law(
                Disc {
                    friction: [0.0, mu],
                },
                Routh::new(),
            )
        };
        let simulation = || EventDriven::new(model()).unwrap().rtol(1e-11).atol(1e-13);
        let derivative = simulation()
            .derivative(&Start::at(0.0).q(&q).v(&v), 0.4)
            .unwrap();
        for i in 0..6 {
            let ends = [1e-5, -1e-5].map(|by| {
                let mut start = [q, v].concat();
                start[i] += by;
                let run =
                    simulation().integrate(&Start::at(0.0).q(&start[..3]).v(&start[3..]), 0.4);
                run.unwrap().state().clone_owned()
            });
            let expected = (&ends[0] - &ends[1]) / 2e-5;
            let mut direction = [0.0; 6];
            direction[i] = 1.0;
            let found = derivative.apply(&direction).unwrap();
            for (found, expected) in found.iter().zip(expected.iter()) {
                assert!(
                    (found - expected).abs() < 1e-5 * (1.0 + expected.abs()),
                    "{mu} {i}"
                );
            }
        }
    }
}
