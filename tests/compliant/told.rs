//! What a run tells of its contacts: which press, and from when on.

use std::cell::Cell;

use saltation::mechanics::{
    ContactParameters, ContactSet, ContactSource, Contacts, MechanicalSystem, Wanted,
};
use saltation::{Compliant, InputError, Run, Start};

use crate::listed::Listed;

/// Dissipation time (s).
const TAU: f64 = 0.01;

/// A ball of 1 kg that falls, and is pulled up with 5 N from 1 s on; `q` is its height.
#[derive(Clone, Copy)]
struct Pulled;

impl MechanicalSystem for Pulled {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = if t < 1.0 { -9.81 } else { 5.0 };
    }
}

/// The ball over a floor that it touches at so many points; `counts` says how many contacts there
/// are, call by call.
struct Counted<F> {
    listed: Listed<Pulled>,
    counts: F,
}

impl<F> Counted<F> {
    fn new(points: usize, counts: F) -> Self {
        let listed = Listed::new(Pulled, move |_, q, set, wanted, contacts| {
            contacts.reset(1, 0)?;
            for _ in 0..points {
                let mut floor = ContactParameters::new(0, q[0]);
                if wanted.compliance {
                    (floor.stiffness, floor.dissipation_time) = (1e5, TAU);
                }
                contacts.push(floor)?;
                contacts.push_block(0, 0..1, &[1.0])?;
                if let ContactSet::Reachable(step) = set {
                    contacts.keep_last_if_reachable(&step);
                }
            }
            Ok(())
        });
        Self { listed, counts }
    }
}

impl<F> MechanicalSystem for Counted<F> {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.listed.mass(q, mass);
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.listed.effort(t, q, v, effort);
    }
}

impl<F: Fn() -> Option<usize>> ContactSource for Counted<F> {
    fn fill(
        &self,
        q: &[f64],
        set: ContactSet<'_>,
        wanted: Wanted<'_>,
        contacts: &mut Contacts,
    ) -> Result<(), InputError> {
        self.listed.fill(q, set, wanted, contacts)
    }
    fn contact_count(&self) -> Option<usize> {
        (self.counts)()
    }
}

/// Dropped from 0.2 m, for 1.5 s in steps of 1 ms.
fn run<F: Fn() -> Option<usize>>(system: Counted<F>) -> Run {
    let mut driver = Compliant::new(system).unwrap().time_step(1e-3);
    let run = driver.integrate(&Start::at(0.0).q(&[0.2]).v(&[0.0]), 1.5);
    run.unwrap().completed().unwrap()
}

/// Presses from its landing until the pull begins; each found at the end of a step. A contact of
/// several points is one.
#[test]
fn a_contact_presses_from_its_landing_to_its_release() {
    for points in [1, 2] {
        let run = run(Counted::new(points, || Some(1)));
        let phases = run.phases();
        let closed: Vec<&[usize]> = phases.iter().map(|phase| &phase.closed[..]).collect();
        assert_eq!(closed, [&[][..], &[0], &[]]);
        let presses = (2.0_f64 * 0.2 / 9.81).sqrt();
        assert!((phases[1].t - presses).abs() < 1e-3, "{}", phases[1].t);
        assert!((phases[2].t - 1.0).abs() < 2.5e-3, "{}", phases[2].t);
        let [lands, leaves] = run.events() else {
            panic!("{points} points: {} events", run.events().len());
        };
        assert_eq!(
            (&lands.activated[..], &leaves.released[..]),
            (&[0][..], &[0][..])
        );
        assert_eq!(run.modes().len(), 3);
        assert!(run.mode_at(0.7).unwrap().flag(0) && !run.mode().flag(0));
    }
}

/// Such a source says nothing of which contact is which.
#[test]
fn contacts_without_numbers_are_not_told() {
    let run = run(Counted::new(1, || None));
    assert!(run.events().is_empty() && run.modes().len() == 1);
    assert_eq!(run.mode().flag_count(), 0);
}

/// The number of contacts was read once more after it had been checked: a run of a model that then
/// answered with the greatest number of all did not begin.
#[test]
fn the_number_of_contacts_is_read_once() {
    let calls = Cell::new(0);
    let counts = || {
        calls.set(calls.get() + 1);
        Some(if calls.get() == 1 { 1 } else { 20_000 })
    };
    assert_eq!(run(Counted::new(1, counts)).mode().flag_count(), 1);
}
