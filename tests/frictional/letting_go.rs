//! Contacts that stick where friction would press them down as they slip (Painlevé): one whose force leaves the cone
//! lets go, at the instant at which sticking and slipping seem to be consistent too; one that bounces to rest sticks.

use saltation::event_driven::Zeno;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Start, Status};

/// Height and place of a body with the inverse mass `[[1, c], [c, 2]]`, so that a push along the floor lifts it or
/// presses it down.
#[derive(Clone, Copy, Debug)]
struct Leaning {
    coupling: f64,
    /// The force that holds it at rest, and its change (1/s).
    holds: [[f64; 2]; 2],
    restitution: f64,
}

impl MechanicalSystem for Leaning {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        let c = self.coupling;
        let det = 2.0 - c * c;
        mass.copy_from_slice(&[2.0 / det, -c / det, -c / det, 1.0 / det]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let [at_first, change] = self.holds;
        for (effort, (a, b)) in effort.iter_mut().zip(at_first.iter().zip(change)) {
            *effort = -(a + b * t);
        }
    }
}

impl UnilateralConstraints for Leaning {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0]
    }
    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[1.0, 0.0]);
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
    fn friction(&self, _j: usize) -> f64 {
        1.0
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[0.0, 1.0]);
    }
}

/// It sticks until 0.5 s; from then on accelerations are `(0.2 + 0.72 s, 0.8 + 1.2 s)`.
#[test]
fn what_friction_would_press_down_lets_go_at_its_cone() {
    let body = Leaning {
        coupling: 1.2,
        holds: [[1.0, -0.7], [0.0, -0.6]],
        restitution: 0.0,
    };
    for rtol in [1e-6, 1e-8, 1e-10] {
        let driver = EventDriven::new(ContactModel::new(body)).unwrap();
        let mut driver = driver.rtol(rtol).atol(1e-2 * rtol);
        let start = Start::at(0.0).q(&[0.0; 2]).v(&[0.0; 2]);
        let run = driver.integrate(&start, 1.0).unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{rtol:e}");
        let [event] = run.events() else {
            panic!("{rtol:e}: {:?}", run.events());
        };
        assert!((event.t - 0.5).abs() < 10.0 * rtol, "{rtol:e}: {}", event.t);
        assert_eq!(event.released, [0], "{rtol:e}");
        for (found, exact) in run.state().iter().zip([0.04, 0.125, 0.19, 0.55]) {
            assert!(
                (found - exact).abs() < 10.0 * rtol,
                "{rtol:e}: {found} {exact}"
            );
        }
    }
}

/// It falls by `(−4, −40)` m/s², and each of its impacts stops the slip of the flight before. Flights of `2 t₁ eᵏ`
/// follow on the first of `t₁ = √(2 h/4)`, and add up to `t₁ (1 + e)/(1 − e)`.
#[test]
fn what_bounces_to_rest_sticks_where_it_could_not_slip() {
    for restitution in [0.1, 0.5, 0.8] {
        let body = Leaning {
            coupling: -1.2,
            holds: [[100.0, 80.0], [0.0, 0.0]],
            restitution,
        };
        let (first, e2) = (0.1, restitution * restitution);
        let x = -20.0 * first * first * (1.0 + 4.0 * e2 / (1.0 - e2));
        for rtol in [1e-6, 1e-8, 1e-10] {
            let driver = EventDriven::new(ContactModel::new(body)).unwrap();
            let mut driver = driver.rtol(rtol).atol(1e-2 * rtol).zeno(Zeno::Absorb);
            let start = Start::at(0.0).q(&[0.02, 0.0]).v(&[0.0; 2]);
            let run = driver.integrate(&start, 1.0).unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd, "{restitution} {rtol:e}");
            for (found, exact) in run.state().iter().zip([0.0, x, 0.0, 0.0]) {
                assert!(
                    (found - exact).abs() < 1e-9 + 10.0 * rtol,
                    "{restitution} {rtol:e}: {found} {exact}"
                );
            }
        }
    }
}
