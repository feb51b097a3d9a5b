//! What the driver does not take is refused before a run starts, however far the contact is.

use saltation::compliant::{CompliantFailure, Scheme, StepFriction};
use saltation::mechanics::{
    ContactParameters, ContactSet, MechanicalSystem, UnilateralConstraints,
};
use saltation::{Compliant, InputError, Start};

use crate::listed::Listed;

/// A particle `(x, z)` high above two floors, the second below the first.
#[derive(Clone, Copy, Debug)]
struct Particle {
    restitution: f64,
    friction: f64,
    /// The gap of the lower floor, over the distance.
    factor: f64,
}

const PLAIN: Particle = Particle {
    restitution: 0.0,
    friction: 0.3,
    factor: 1.0,
};
const HIGH: [f64; 2] = [0.0, 100.0];

impl MechanicalSystem for Particle {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[2.0, 0.0, 0.0, 2.0]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -2.0 * 9.81]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
}

impl UnilateralConstraints for Particle {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        if j == 0 {
            q[1]
        } else {
            self.factor * (q[1] + 1.0)
        }
    }
    fn restitution(&self, j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        if j == 0 { 0.0 } else { self.restitution }
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0]);
    }
}

fn refusal(stepper: Compliant<Particle>) -> Option<InputError> {
    let mut stepper = stepper.time_step(1e-2);
    let started = stepper.start(&Start::at(0.0).q(&HIGH).v(&[0.0; 2]));
    let run = stepper.integrate(&Start::at(0.0).q(&HIGH).v(&[0.0; 2]), 0.05);
    match (started, run) {
        (Ok(()), Ok(run)) => {
            assert_eq!(run.status().stop(), None);
            None
        }
        (Err(started), Err(run)) => {
            assert_eq!(started, run);
            Some(run)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn restitution_that_a_step_ignores_is_refused_before_the_body_falls() {
    let bouncy = Particle {
        restitution: 0.5,
        ..PLAIN
    };
    let stepper = || Compliant::new(bouncy).unwrap();
    let by_friction = "the compliant driver with another friction than StepFriction::Coulomb";
    let by_scheme = "the compliant driver with Scheme::ExplicitEuler or Scheme::Midpoint";
    for (other, law) in [
        (stepper().friction(StepFriction::Cone), by_friction),
        (
            stepper().friction(StepFriction::Lagged { slip: 1e-4 }),
            by_friction,
        ),
        (stepper().scheme(Scheme::Midpoint), by_scheme),
        (stepper().scheme(Scheme::ExplicitEuler), by_scheme),
    ] {
        let refused = InputError::RestitutionIgnored {
            law,
            contact: 1,
            restitution: 0.5,
        };
        assert_eq!(refusal(other.clone()), Some(refused));
        assert_eq!(refusal(other.inelastic()), None);
    }
    assert_eq!(refusal(stepper()), None);
    assert_eq!(refusal(stepper().scheme(Scheme::ImplicitEuler)), None);
    let plain = Compliant::new(PLAIN).unwrap();
    assert_eq!(refusal(plain.friction(StepFriction::Cone)), None);
    for restitution in [-0.1, 1.1, f64::INFINITY] {
        let odd = Compliant::new(Particle {
            restitution,
            ..PLAIN
        });
        let refused = refusal(odd.unwrap());
        let is_named = matches!(
            refused,
            Some(InputError::BadSetting {
                name: "restitution",
                entry: 1,
                ..
            })
        );
        assert!(is_named, "{restitution}: {refused:?}");
    }
    for speed in [-1.0, f64::INFINITY] {
        let refused = refusal(stepper().slowest_rebound(speed));
        let is_named = matches!(
            refused,
            Some(
                InputError::BadSetting {
                    name: "slowest_rebound",
                    ..
                } | InputError::NotFinite {
                    name: "slowest_rebound",
                    ..
                }
            )
        );
        assert!(is_named, "{speed}: {refused:?}");
    }
}

#[test]
fn friction_that_would_be_scaled_is_refused_before_the_body_falls() {
    let scaled = Particle {
        factor: 3.0,
        ..PLAIN
    };
    let refused = refusal(Compliant::new(scaled).unwrap());
    assert!(
        matches!(refused, Some(InputError::ContactFrame { contact: 1, normal, .. }) if (normal - 3.0).abs() < 1e-8),
        "{refused:?}"
    );
    assert_eq!(
        refusal(Compliant::new(scaled).unwrap().frictionless()),
        None
    );
    let smooth = Particle {
        friction: 0.0,
        ..scaled
    };
    assert_eq!(refusal(Compliant::new(smooth).unwrap()), None);
}

/// A source whose contacts come and go is asked for what is near: a rebound is refused where it
/// comes near.
#[test]
fn a_source_without_a_number_of_contacts_is_refused_where_it_lists_one() {
    let bouncy = Particle {
        restitution: 0.5,
        ..PLAIN
    };
    let bouncy = Listed::new(bouncy, |particle, q, set, wanted, contacts| {
        contacts.reset(2, 0)?;
        let mut parameters = ContactParameters::new(0, q[1]);
        if wanted.restitution_at.is_some() {
            parameters.restitution = particle.restitution;
        }
        contacts.push(parameters)?;
        contacts.push_block(0, 0..2, &[0.0, 1.0])?;
        if let ContactSet::Reachable(step) = set {
            contacts.keep_last_if_reachable(&step);
        }
        Ok(())
    });
    let cone = Compliant::new(bouncy).unwrap().friction(StepFriction::Cone);
    let mut stepper = cone.time_step(1e-2);
    let run = stepper
        .integrate(&Start::at(0.0).q(&[0.0, 1.0]).v(&[0.0; 2]), 1.0)
        .unwrap();
    let Some(CompliantFailure::Model { t, reason, .. }) = run.status().reason() else {
        panic!("{}", run.status());
    };
    let ignored = matches!(reason, InputError::RestitutionIgnored { contact: 0, .. });
    assert!(ignored && *t > 0.3, "{reason} at {t}");
}
