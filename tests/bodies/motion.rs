//! Free motion: what a scene writes of its masses and forces.

use saltation::Start;
use saltation::bodies::{Body, Scene, Shape};
use saltation::compliant::StepFriction;
use saltation::mechanics::{MechanicalSystem, check_mechanics};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{Compliant, ContactModel, EventDriven};

use crate::random::SplitMix64;

/// A box, a ball and a capsule far above a plane.
fn scene() -> Scene {
    let mut scene = Scene::new();
    scene
        .add(Body::fixed(Shape::plane()).friction(0.0))
        .unwrap();
    let shapes = [
        Shape::cuboid([0.1, 0.2, 0.3]),
        Shape::sphere(0.2),
        Shape::capsule(0.3, 0.1),
    ];
    for (i, shape) in shapes.into_iter().enumerate() {
        let body = Body::new(shape.unwrap())
            .friction(0.0)
            .position([2.0 * i as f64, 0.0, 9.0])
            .orientation([0.5, 0.4, -0.3, 0.2])
            .velocity([0.1, 0.2, 0.3])
            .angular_velocity([1.0, -2.0, 3.0]);
        scene.add(body).unwrap();
    }
    for (a, b) in [(1, 2), (1, 3), (2, 3)] {
        scene.ignore(a, b).unwrap();
    }
    scene
}

#[test]
fn what_is_written_agrees_with_differences() {
    let system = scene().fixed_contacts().unwrap();
    let mut draw = SplitMix64(3);
    for _ in 0..5 {
        let (mut q, mut v) = system.scene().start();
        for q in &mut q {
            *q += draw.between(-0.2, 0.2);
        }
        for v in &mut v {
            *v += draw.between(-1.0, 1.0);
        }
        system.project_configuration(&mut q);
        let report = check_mechanics(&system, 0.0, &q, &v).unwrap();
        assert!(report.agrees(1e-6), "{report}");
    }
}

#[test]
fn energies_are_those_of_the_mass_matrix_and_of_heights() {
    let scene = scene();
    let (q, v) = scene.start();
    let n = v.len();
    let mut mass = vec![0.0; n * n];
    scene.mass(&q, &mut mass);
    let (mass, v_column) = (DMatrix::from_vec(n, n, mass), DVector::from_vec(v.clone()));
    let expected = 0.5 * v_column.dot(&(&mass * &v_column));
    let kinetic = scene.kinetic_energy(&q, &v).unwrap();
    assert!((kinetic / expected - 1.0).abs() < 1e-14);
    let heavy: f64 = (1..4).map(|body| scene.mass_of(body).unwrap()).sum();
    assert!((scene.potential(&q).unwrap() / (heavy * 9.81 * 9.0) - 1.0).abs() < 1e-14);
    assert_eq!(scene.kinetic_energy(&q, &[]), None);
}

#[test]
fn free_flight_keeps_energy_and_angular_momentum() {
    let system = scene().fixed_contacts().unwrap();
    let scene = system.scene().clone();
    let (q, v) = scene.start();
    let mut simulation = EventDriven::new(ContactModel::new(system))
        .unwrap()
        .rtol(1e-10)
        .atol(1e-12);
    let run = simulation
        .integrate(&Start::at(0.0).q(&q).v(&v), 1.0)
        .unwrap()
        .completed()
        .unwrap();
    let end = run.state();
    let (q_end, v_end) = end.as_slice().split_at(q.len());
    let energy =
        |q: &[f64], v: &[f64]| scene.kinetic_energy(q, v).unwrap() + scene.potential(q).unwrap();
    assert!((energy(q_end, v_end) / energy(&q, &v) - 1.0).abs() < 1e-9);
    let mut mass = [0.0; 36];
    for tree in 0..3 {
        let mut momentum = |q: &[f64], v: &[f64]| {
            scene.tree_mass(tree, q, &mut mass);
            DMatrix::from_column_slice(6, 6, &mass).rows(0, 3)
                * DVector::from_column_slice(&v[6 * tree..6 * tree + 6])
        };
        let (before, after) = (momentum(&q, &v), momentum(q_end, v_end));
        assert!((&after - &before).norm() < 1e-8 * before.norm(), "{tree}");
    }
    assert!((scene.position(2, q_end).unwrap().z - (9.0 + 0.3 - 4.905)).abs() < 1e-9);
}

#[test]
fn bad_scenes_are_refused_by_name() {
    let mut scene = scene();
    let sphere = || Body::new(Shape::sphere(0.1).unwrap());
    let error = scene.add(sphere().density(-1.0)).unwrap_err().to_string();
    assert!(
        error.contains("density = -1") && error.contains("entry 4"),
        "{error}"
    );
    assert_eq!(scene.len(), 4);
    assert!(scene.add(Body::new(Shape::plane())).is_err());
    assert!(scene.ignore(0, 4).is_err());
    let rolls = Body::new(Shape::sphere(0.1).unwrap()).rolling_friction(0.01);
    let mut rolling = Scene::new();
    rolling.add(Body::fixed(Shape::plane())).unwrap();
    rolling.add(rolls.position([0.0, 0.0, 0.1])).unwrap();
    let (q, v) = rolling.start();
    let mut driver = Compliant::new(rolling)
        .unwrap()
        .friction(StepFriction::Cone);
    let refused = driver.start(&Start::at(0.0).q(&q).v(&v));
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("Scene::contact_of"), "{refused}");
    let refused = scene.ignore(1, 1).unwrap_err().to_string();
    assert!(refused.contains("two bodies"), "{refused}");
    assert!(scene.gravity([0.0, f64::NAN, 0.0]).is_err());
    assert!(scene.pose(4, &[0.0; 21]).is_none() && scene.pose(1, &[]).is_none());
}
