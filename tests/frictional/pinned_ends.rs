//! Ends and corners that two faces hold: they cannot slip.

use saltation::event_driven::{Grazing, Zeno};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactEvent, ContactEventKind, ContactModel, EventDriven, Start, Status};

use crate::scenes::{Body, Face, Scene, Touch};

/// A scene that writes no rows of gaps: their differences are less exact.
#[derive(Clone, Debug)]
struct WithoutRows(Scene);

impl MechanicalSystem for WithoutRows {
    fn dof(&self) -> usize {
        self.0.dof()
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.0.mass(q, mass);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.0.effort(t, q, v, effort);
    }
}

impl UnilateralConstraints for WithoutRows {
    fn contacts(&self) -> usize {
        self.0.contacts()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.0.gap(j, q)
    }
    fn friction(&self, j: usize) -> f64 {
        self.0.friction(j)
    }
    fn tangents(&self, j: usize) -> usize {
        self.0.tangents(j)
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        self.0.tangent_rows(j, q, rows);
    }
}

/// Rods whose end comes to rest between floor and wall, and boxes a corner of which does so between two slopes, while
/// they swing on: the end cannot slip, and where it was found to do so the stop of that slip is rounding. It sticks then.
#[test]
fn an_end_that_two_faces_hold_sticks_when_its_slip_stops_by_rounding() {
    let face = |angle: f64, x: f64, friction: f64| Face {
        body: None,
        normal: [-angle.sin(), angle.cos()],
        offset: -angle.sin() * x,
        friction,
    };
    let scene = |inertia: f64, points: &[[f64; 2]], faces: &[Face]| {
        let touch = |point: [f64; 2], face: Face| Touch {
            body: 0,
            point,
            radius: 0.0,
            face,
        };
        let of_point = |point: &[f64; 2]| faces.iter().map(|face| touch(*point, *face)).collect();
        let touches: Vec<Vec<Touch>> = points.iter().map(of_point).collect();
        Scene {
            bodies: vec![Body { mass: 1.0, inertia }],
            touches: touches.concat(),
            slope: 0.0,
            push: None,
        }
    };
    let corners = |[a, b]: [f64; 2]| [[-a, -b], [a, -b], [a, b], [-a, b]];
    let half = 0.26134633584398853;
    let mut rod = scene(
        0.02276730241969295,
        &[[-half, 0.0], [half, 0.0]],
        &[face(0.0, 0.0, 0.0), face(1.5762616104287261, 0.5, 0.0)],
    );
    rod.touches[3].face = face(1.3890295432139819, 0.5, 0.0);
    let frictions = [
        0.5706298226901684,
        0.06724384578271295,
        0.2471806368708197,
        0.8113108600031882,
    ];
    for (touch, friction) in rod.touches.iter_mut().zip(frictions) {
        touch.face.friction = friction;
    }
    let slopes = |first: f64, second: f64, friction: f64| {
        [face(first, 0.0, friction), face(second, 0.0, friction)]
    };
    let level = scene(
        0.03353877181396584,
        &corners([0.18345042904273462, 0.25877066202708165]),
        &slopes(-0.24874784880322443, 0.622959539100888, 0.6421529499852202),
    );
    let mut held = 0;
    for (scene, q, v, tf) in [
        (
            rod,
            [-0.1, 0.6, 0.058006912304475966],
            [1.7880998944971846, 0.0, -3.4117762037432793],
            1.2,
        ),
        (
            level,
            [0.0, 1.2544367562873653, 0.6049863722219153],
            [0.0; 3],
            1.5,
        ),
    ] {
        let inertia = scene.bodies[0].inertia;
        let mut driver = EventDriven::new(ContactModel::new(WithoutRows(scene))).unwrap();
        driver = driver.rtol(1e-9).atol(1e-11);
        driver = driver.zeno(Zeno::Absorb).grazing(Grazing::Contact);
        let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), tf).unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd);
        // No event but such a stop leaves all velocities as they were and lets a contact stick.
        let moved = |event: &&ContactEvent| {
            let pairs = event.state_before.iter().zip(&event.state_after);
            pairs.fold(0.0f64, |most, (a, b)| most.max((a - b).abs()))
        };
        let stopped = run.events().iter().filter(|event| {
            event.kind == ContactEventKind::Friction
                && event.contacts.len() > 1
                && !event.stuck.is_empty()
        });
        held += stopped.filter(|event| moved(event) == 0.0).count();
        let energy =
            |x: &[f64]| 0.5 * (x[3] * x[3] + x[4] * x[4] + inertia * x[5] * x[5]) + 9.81 * x[1];
        let energies = run.nodes().map(|(_, state)| energy(state.as_slice()));
        energies.fold(f64::INFINITY, |before, now| {
            assert!(now <= before + 1e-7, "{before} {now}");
            now
        });
    }
    assert!(held > 0);
}
