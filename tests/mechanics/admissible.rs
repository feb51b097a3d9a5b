//! What a run must not meet, each by its name, and what the policies make of it.

use saltation::event_driven::{Breakdown, ContactEventKind, Grazing};
use saltation::{Doubt, InputError, Quantity, Start, Status, Stop};

use crate::fixtures::point::Point;

const G: f64 = 9.81;

#[test]
fn a_touch_is_refused_ignored_or_logged() {
    // Thrown down to exactly the floor against a force that turns it: z = 1 − 2t + t².
    let turned = Point::pushed(|_, _, _, _| 2.0);
    let run = |policy| {
        let mut simulation = turned.simulation().grazing(policy);
        simulation
            .integrate(&Start::at(0.0).q(&[1.0]).v(&[-2.0]), 2.0)
            .unwrap()
    };
    let refused = run(Grazing::Error);
    let status = refused.status();
    assert!(
        matches!(status.reason::<Breakdown>(), Some(Breakdown::Grazing { contact: 0, t, .. }) if (t - 1.0).abs() < 1e-5),
        "{status}"
    );
    for policy in [Grazing::Ignore, Grazing::Contact] {
        let run = run(policy);
        assert_eq!(*run.status(), Status::ReachedEnd);
        assert!((run.state()[0] - 1.0).abs() < 1e-8);
        let touches = usize::from(policy == Grazing::Contact);
        assert_eq!(run.events().len(), touches);
        // Whatever the policy makes of it, neighbours hit the floor.
        assert!(!run.is_guaranteed());
        assert!(matches!(
            run.doubts(),
            [Doubt::Touch { t, .. }] if (t - 1.0).abs() < 1e-5
        ));
        for event in run.events() {
            assert_eq!(
                (event.kind, &event.contacts[..]),
                (ContactEventKind::Touch, &[0][..])
            );
            assert!((event.t - 1.0).abs() < 1e-5 && event.mode_after.is_empty());
            assert!(event.approach[0].abs() < 1e-4 && event.impulses.is_empty());
        }
    }
}

#[test]
fn a_contact_that_approaches_too_slowly_grazes_or_closes() {
    // No forces: nanometres a second.
    let drifting = Point::pushed(|_, _, _, _| 0.0);
    let run = |policy| {
        let mut simulation = drifting.simulation().grazing(policy);
        simulation
            .integrate(&Start::at(0.0).q(&[1e-8]).v(&[-1e-9]), 20.0)
            .unwrap()
    };
    for policy in [Grazing::Error, Grazing::Ignore] {
        let run = run(policy);
        let status = run.status();
        assert!(
            matches!(status.reason::<Breakdown>(), Some(Breakdown::Grazing { contact: 0, velocity, .. })
                if (velocity + 1e-9).abs() < 1e-12),
            "{status}"
        );
    }
    let run = run(Grazing::Contact);
    assert_eq!(*run.status(), Status::ReachedEnd);
    let [event] = run.events() else {
        panic!("{:?}", run.events());
    };
    assert_eq!(event.kind, ContactEventKind::Touch);
    assert_eq!(
        (&event.activated[..], &event.mode_after[..]),
        (&[0][..], &[0][..])
    );
    assert!((event.t - 10.0).abs() < 0.2 && run.state()[1] == 0.0);
}

#[test]
fn a_force_that_touches_zero_grazes_its_release() {
    // The floor carries 1 + a + cos t: it touches zero at t = π when a is 0.
    let cases: [(Point, &str); 3] = [
        (Point::pushed(|t, _, _, _| -(1.0 + t.cos())), "graze"),
        (Point::pushed(|t, _, _, _| -(1.001 + t.cos())), "stays"),
        (Point::pushed(|t, _, _, _| -(0.999 + t.cos())), "lifts"),
    ];
    for (point, expected) in cases {
        let run = point
            .simulation()
            .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 5.0)
            .unwrap();
        let status = run.status();
        match expected {
            "graze" => assert!(
                matches!(status.reason::<Breakdown>(), Some(Breakdown::GrazingRelease { contact: 0, t, .. })
                    if (t - std::f64::consts::PI).abs() < 1e-3),
                "{status}"
            ),
            "stays" => assert!(*status == Status::ReachedEnd && run.events().is_empty()),
            _ => {
                assert_eq!(*status, Status::ReachedEnd);
                let [off, on] = run.events() else {
                    panic!("{:?}", run.events());
                };
                assert_eq!((&off.released[..], &on.activated[..]), (&[0][..], &[0][..]));
                assert!((off.t - (-0.999f64).acos()).abs() < 1e-9);
                assert_eq!(run.phases().len(), 3);
            }
        }
    }
}

#[test]
fn efforts_that_depend_on_contact_settle_only_where_one_mode_fits() {
    let switched = |force| Point {
        switched: true,
        ..Point::pushed(force)
    };
    // Open it is pushed down, closed it is lifted: neither fits.
    let neither = switched(|_, _, _, closed| if closed { 1.0 } else { -1.0 });
    let run = neither
        .simulation()
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 1.0)
        .unwrap();
    let status = run.status();
    assert!(
        matches!(status.reason::<Breakdown>(), Some(Breakdown::NoConsistentMode { contacts, t: 0.0 }) if contacts == &[0]),
        "{status}"
    );
    let run = neither
        .simulation()
        .integrate(&Start::at(0.0).q(&[0.5]).v(&[0.0]), 2.0)
        .unwrap();
    let status = run.status();
    assert!(
        matches!(status.reason::<Breakdown>(), Some(Breakdown::NoConsistentMode { contacts, t })
            if contacts == &[0] && (t - 1.0).abs() < 1e-9),
        "{status}"
    );
    // Open it is lifted, closed it is pushed down: both fit.
    let both = switched(|_, _, _, closed| if closed { -1.0 } else { 1.0 });
    let run = both
        .simulation()
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 1.0)
        .unwrap();
    let status = run.status();
    assert!(
        matches!(status.reason::<Breakdown>(), Some(Breakdown::AmbiguousMode { contacts, t: 0.0 }) if contacts == &[0]),
        "{status}"
    );
    // What could not begin keeps its start.
    assert_eq!((run.t(), run.state().as_slice()), (0.0, &[0.0; 2][..]));
    assert!(run.times() == [0.0] && run.events().is_empty());
    // A foot that is pressed on when its sensor feels the floor.
    let pressed = switched(|_, _, _, closed| if closed { -30.0 } else { -G });
    let run = pressed
        .simulation()
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 2.0)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    let [event] = run.events() else {
        panic!("{:?}", run.events());
    };
    assert!((event.t - (2.0 / G).sqrt()).abs() < 1e-9 && event.mode_after == [0]);
}

#[test]
fn a_gap_that_turns_negative_where_it_should_open_is_an_inconsistent_mode() {
    // At the start it is lifted, and never again: an effort that jumps in time.
    let jumps = Point::pushed(|t, _, _, _| if t > 0.0 { -1.0 } else { 1.0 });
    let run = jumps
        .simulation()
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 1.0)
        .unwrap();
    let status = run.status();
    assert!(
        matches!(status.reason::<Breakdown>(), Some(Breakdown::InconsistentMode { contact: 0, gap, .. }) if *gap < 0.0),
        "{status}"
    );
}

#[test]
fn coefficients_of_restitution_are_checked_at_the_start_and_at_impacts() {
    let falling = |restitution| Point {
        restitution,
        ..Point::pushed(|_, _, _, _| -G)
    };
    for (restitution, value) in [
        ((|_| 1.5) as fn(f64) -> f64, 1.5),
        (|_| -0.1, -0.1),
        (|_| f64::NAN, f64::NAN),
    ] {
        let run = falling(restitution)
            .simulation()
            .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 1.0)
            .unwrap();
        let status = run.status();
        let Some(Breakdown::Restitution {
            contact: 0,
            value: found,
            t: 0.0,
        }) = status.reason::<Breakdown>()
        else {
            panic!("{status}");
        };
        assert!(found.total_cmp(&value).is_eq());
    }
    // One that makes no sense at the speed of the impact only.
    let fast = falling(|v| if v < -1.0 { 2.0 } else { 1.0 });
    let run = fast
        .simulation()
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 1.0)
        .unwrap();
    let status = run.status();
    assert!(
        matches!(status.reason::<Breakdown>(), Some(Breakdown::Restitution { contact: 0, value: 2.0, t })
            if (t - (2.0 / G).sqrt()).abs() < 1e-9),
        "{status}"
    );
    assert!(run.times().len() > 2);
    // Unless asked for: then the ball comes back twice as fast.
    let model = saltation::ContactModel::new(fast).any_restitution();
    let mut simulation = saltation::event_driven::EventDriven::new(model).unwrap();
    let run = simulation
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 0.5)
        .unwrap();
    let event = &run.events()[0];
    assert!((event.state_after[1] + 2.0 * event.state_before[1]).abs() < 1e-12);
}

#[test]
fn what_is_not_finite_on_the_way_is_named_and_the_run_keeps_what_it_has() {
    let falling = Point::pushed(|_, _, _, _| -G);
    let points: [(&str, Point); 4] = [
        (
            "mass",
            Point {
                mass: |z| if z < 0.5 { f64::NAN } else { 1.0 },
                ..falling
            },
        ),
        (
            "mass",
            Point {
                mass: |z| if z < 0.5 { -1.0 } else { 1.0 },
                ..falling
            },
        ),
        (
            "gap",
            Point {
                gap: |z| if z < 0.5 { f64::NAN } else { z },
                ..falling
            },
        ),
        (
            "force",
            Point::pushed(|_, z, _, _| if z < 0.5 { f64::INFINITY } else { -G }),
        ),
    ];
    for (name, point) in points {
        let run = point
            .simulation()
            .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 1.0)
            .unwrap();
        let status = run.status();
        let fits = match status {
            Status::Refused(stop)
                if matches!(stop.downcast(), Some(Breakdown::MassMatrix { .. })) =>
            {
                name == "mass"
            }
            Status::Refused(Stop::NotFinite { quantity, .. }) => match quantity {
                Quantity::Event { event: 0 } | Quantity::Gradient { event: 0 } => name == "gap",
                Quantity::Flow { component: 1 } => name == "force",
                _ => false,
            },
            _ => false,
        };
        assert!(fits, "{name}: {status}");
        // What was computed up to there is kept.
        assert!(run.t() > 0.0, "{name}");
    }
    for (point, name) in [
        (
            Point {
                mass: |_| -1.0,
                ..falling
            },
            "mass",
        ),
        (
            Point {
                mass: |_| f64::NAN,
                ..falling
            },
            "mass",
        ),
        (
            Point {
                gap: |_| f64::NAN,
                ..falling
            },
            "number",
        ),
        (
            Point {
                gap: |_| -1e-6,
                ..falling
            },
            "gap",
        ),
    ] {
        let run = point
            .simulation()
            .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 1.0);
        let fits = match &run {
            Err(InputError::NegativeGap { contact: 0, .. }) => name == "gap",
            Ok(run) => match run.status() {
                Status::Refused(Stop::NotFinite {
                    quantity: Quantity::Gap { contact: 0 },
                    ..
                }) => name == "number",
                status => {
                    let reason = status.reason::<Breakdown>();
                    name == "mass" && matches!(reason, Some(Breakdown::MassMatrix { .. }))
                }
            },
            Err(_) => false,
        };
        assert!(fits, "{name}: {run:?}");
    }
}

/// The force falls through zero as −(t − 1)⁵: too slowly for a release.
#[test]
fn a_force_that_hardly_falls_ends_the_run_or_is_let_go() {
    let lifted = Point::pushed(|t, _, _, _| (t - 1.0).powi(5));
    for policy in [Grazing::Error, Grazing::Ignore] {
        let mut simulation = lifted.simulation().grazing(policy);
        let run = simulation
            .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 2.0)
            .unwrap();
        let status = run.status();
        assert!(
            matches!(
                status.reason::<Breakdown>(),
                Some(Breakdown::GrazingRelease { contact: 0, .. })
            ),
            "{status}"
        );
    }
    let mut simulation = lifted.simulation().grazing(Grazing::Contact);
    let run = simulation
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 2.0)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    let event = run.events().last().unwrap();
    assert_eq!(
        (event.kind, &event.released[..]),
        (ContactEventKind::Touch, &[0][..])
    );
    assert!(event.mode_after.is_empty() && !run.is_guaranteed());
    // z = (t − 1)⁷/42, but for what was not done before the force was let go.
    assert!((run.state()[0] - 1.0 / 42.0).abs() < 1e-8);
}

/// Free flight is one step, and the bump a small part of it.
#[test]
fn a_bump_within_one_step_is_hit() {
    use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
    use saltation::{ContactModel, EventDriven};
    #[derive(Debug)]
    struct Bump;
    impl MechanicalSystem for Bump {
        fn dof(&self) -> usize {
            2
        }
        fn mass(&self, _q: &[f64], mass: &mut [f64]) {
            mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        }
        fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
            effort.fill(0.0);
        }
    }
    impl UnilateralConstraints for Bump {
        fn contacts(&self) -> usize {
            1
        }
        fn gap(&self, _j: usize, q: &[f64]) -> f64 {
            q[1] - (-(q[0] / 5.0).powi(2)).exp()
        }
    }
    let run = |step: f64| {
        let mut simulation = EventDriven::new(ContactModel::new(Bump))
            .unwrap()
            .rtol(1e-10)
            .atol(1e-11)
            .configure(|integrator| integrator.max_step(step));
        simulation
            .integrate(&Start::at(0.0).q(&[-50.0, 0.5]).v(&[1.0, 0.0]), 100.0)
            .unwrap()
    };
    // It is hit, slid up, and left with a jump.
    let (seen, expected) = (run(f64::INFINITY), run(0.1));
    for run in [&seen, &expected] {
        assert_eq!(*run.status(), Status::ReachedEnd);
        assert_eq!(run.events()[0].activated, [0]);
    }
    assert_eq!(seen.events().len(), expected.events().len());
    for (a, b) in seen.events().iter().zip(expected.events()) {
        assert!((a.t - b.t).abs() < 1e-7, "{} {}", a.t, b.t);
        assert_eq!(a.mode_after, b.mode_after);
    }
}

#[test]
fn a_gap_that_nothing_moves_is_refused() {
    use saltation::ContactModel;
    use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
    struct Stuck;
    impl MechanicalSystem for Stuck {
        fn dof(&self) -> usize {
            1
        }
        fn mass(&self, _q: &[f64], mass: &mut [f64]) {
            mass[0] = 1.0;
        }
        fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
            effort[0] = -G;
        }
    }
    impl UnilateralConstraints for Stuck {
        fn contacts(&self) -> usize {
            1
        }
        fn gap(&self, _j: usize, _q: &[f64]) -> f64 {
            0.0
        }
    }
    let start = ContactModel::new(Stuck).start(&Start::at(0.0).q(&[0.0]).v(&[0.0]));
    assert!(matches!(start, Err(Breakdown::DependentContacts { set, .. }) if set == [0]));
}
