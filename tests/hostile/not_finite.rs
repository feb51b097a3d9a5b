//! Rows, masses and rates that are no numbers, or so large that their products are none.

use saltation::bodies::Shape;
use saltation::compliant::CompliantFailure;
use saltation::impact::{ImpactFailure, ImpactProblem, Routh};
use saltation::mechanics::{
    ContactParameters, Contacts, MechanicalSystem, UnilateralConstraints, check_mechanics,
};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{Compliant, ContactModel, EventDriven};
use saltation::{InputError, Start, Stop};

/// A block that sticks to the floor beside a coordinate `z` that moves; beyond `z = 0.1` its rows
/// have these entries.
struct Sticking {
    normal: f64,
    tangent: f64,
}

impl MechanicalSystem for Sticking {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.1, -9.81, 0.0]);
    }
}

impl UnilateralConstraints for Sticking {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1]
    }
    fn gap_row(&self, _j: usize, q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, if q[2] > 0.1 { self.normal } else { 1.0 }, 0.0]);
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        0.5
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[if q[2] > 0.1 { self.tangent } else { 1.0 }, 0.0, 0.0]);
    }
}

#[test]
fn rows_that_are_no_numbers_or_overflow_end_a_run_where_they_begin() {
    let wrong = [f64::NAN, f64::INFINITY, 1e200];
    let rows = wrong
        .map(|x| (x, 1.0))
        .into_iter()
        .chain(wrong.map(|x| (1.0, x)));
    for (normal, tangent) in rows {
        let model = ContactModel::with_law(Sticking { normal, tangent }, Routh::new());
        let run = EventDriven::new(model)
            .unwrap()
            .integrate(&Start::at(0.0).q(&[0.0; 3]).v(&[0.0, 0.0, 1.0]), 1.0);
        let run = run.unwrap();
        assert!(
            run.status().stop().is_some() && (run.t() - 0.1).abs() < 1e-3,
            "{normal} {tangent}: {}",
            run.t()
        );
    }
}

/// A point over the floor whose coordinates are turned, or brought to a manifold, by `to`.
struct Point {
    rate: f64,
    to: f64,
}

impl MechanicalSystem for Point {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -9.81]);
    }
    fn configuration_rate(&self, _q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
        rate.copy_from_slice(&[self.rate * v[0], v[1]]);
        true
    }
    fn coriolis(&self, _q: &[f64], _v: &[f64], force: &mut [f64]) -> bool {
        force.fill(0.0);
        true
    }
    fn project_configuration(&self, q: &mut [f64]) -> bool {
        q[0] *= self.to;
        (self.to - 1.0).abs() > 0.0 || self.to.is_nan()
    }
}

impl UnilateralConstraints for Point {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1]
    }
}

#[test]
fn rates_of_coordinates_that_are_no_numbers_are_refused_by_the_check() {
    for rate in [f64::NAN, f64::INFINITY] {
        let checked = check_mechanics(&Point { rate, to: 1.0 }, 0.0, &[0.1, 0.5], &[1.0, 0.0]);
        assert!(
            matches!(checked, Err(Stop::Input(InputError::NotFinite { .. }))),
            "{checked:?}"
        );
    }
    assert!(check_mechanics(&Point { rate: 2.0, to: 1.0 }, 0.0, &[0.1, 0.5], &[1.0, 0.0]).is_ok());
}

#[test]
fn a_start_whose_projection_is_not_finite_is_refused_by_every_driver() {
    for to in [f64::NAN, f64::INFINITY, 1e308] {
        let (q, v) = ([1e10, 0.5], [1.0, 0.0]);
        let model = || Point { rate: 1.0, to };
        let simulated = EventDriven::new(ContactModel::new(model()))
            .unwrap()
            .integrate(&Start::at(0.0).q(&q).v(&v), 0.1);
        assert!(matches!(simulated, Err(InputError::NotFinite { .. })));
        let rough = EventDriven::new(ContactModel::with_law(model(), Routh::new()));
        let rough = rough.unwrap().integrate(&Start::at(0.0).q(&q).v(&v), 0.1);
        assert!(matches!(rough, Err(InputError::NotFinite { .. })));
        let mut stepper = Compliant::new(model()).unwrap();
        let stepped = stepper.start(&Start::at(0.0).q(&q).v(&v));
        assert!(
            matches!(stepped, Err(InputError::NotFinite { .. })),
            "{stepped:?}"
        );
        let step = stepper.step();
        assert!(
            matches!(step, Err(CompliantFailure::Input(InputError::NotStarted))),
            "{step:?}"
        );
    }
}

#[test]
fn contacts_of_a_system_without_velocities_are_no_impact() {
    let mut contacts = Contacts::new();
    contacts.reset(0, 0).unwrap();
    contacts.push(ContactParameters::new(0, 0.0)).unwrap();
    let problem =
        ImpactProblem::from_contacts(&contacts, &DMatrix::zeros(0, 0), &DVector::zeros(0));
    assert!(
        matches!(problem, Err(ImpactFailure::Input(InputError::EmptySystem))),
        "{problem:?}"
    );
}

#[test]
fn contacts_in_more_velocities_than_a_machine_has_are_refused() {
    let mut contacts = Contacts::new();
    for dof in [1_000_001, usize::MAX / 3 + 1, usize::MAX] {
        let reset = contacts.reset(dof, 2);
        assert!(
            matches!(reset, Err(InputError::BadSetting { name: "dof", .. })),
            "{dof}"
        );
    }
    contacts.reset(1_000_000, 2).unwrap();
    contacts.push(ContactParameters::new(0, 0.0)).unwrap();
    let refused = contacts.push_block(0, 0..usize::MAX / 3 + 1, &[0.0, 0.0]);
    assert!(matches!(refused, Err(InputError::WrongLength { .. })));
}

#[test]
fn a_ball_as_wide_as_nothing_there_is_is_no_shape() {
    assert!(matches!(
        Shape::sphere(1e150),
        Err(InputError::BadSetting { .. })
    ));
}

/// A particle that bounces twice; its restitution makes no sense from the second blow on.
struct Fickle {
    later: f64,
}

impl MechanicalSystem for Fickle {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = -9.81;
    }
}

impl UnilateralConstraints for Fickle {
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
    fn restitution(&self, _j: usize, _q: &[f64], v: &[f64]) -> f64 {
        if v[0] > 1.0 { self.later } else { 0.5 }
    }
}

#[test]
fn restitution_that_makes_no_sense_later_ends_the_run_by_name() {
    for later in [f64::NAN, f64::INFINITY, -0.5, 2.0] {
        let mut driver = Compliant::new(Fickle { later }).unwrap();
        let start = Start::at(0.0).q(&[0.5]).v(&[0.0]);
        let run = driver.integrate(&start, 2.0).unwrap();
        let Some(CompliantFailure::Model { t, reason, .. }) = run.status().reason() else {
            panic!("{}", run.status());
        };
        let is_named = matches!(
            reason,
            InputError::BadSetting {
                name: "restitution",
                ..
            }
        );
        assert!(is_named && *t > 0.3, "{reason} at {t}");
    }
}
