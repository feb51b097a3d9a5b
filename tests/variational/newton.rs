//! Newton's method for a step: where it ends, and what it keeps.

use saltation::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use saltation::models::LinkChain;
use saltation::variational::{Midpoint, VariationalFailure};
use saltation::{ContactModel, NoDerivative, Start, Variational};

/// `q̈ = k q`.
struct Falls(f64);

impl MechanicalSystem for Falls {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = self.0 * q[0];
    }
    fn effort_along(&self, _at: State<'_>, directions: &[f64], out: &mut [f64]) -> bool {
        out[0] = self.0 * directions[0];
        true
    }
}

#[test]
fn a_step_whose_equations_are_singular_is_not_blamed_on_the_mass() {
    // 1 − h² k/4 = 0
    let mut midpoint = Midpoint::new(Falls(4.0)).unwrap();
    let (mut q, mut p) = ([1.0], [0.0]);
    let made = midpoint.step(0.0, 1.0, &mut q, &mut p);
    assert!(
        !matches!(made, Err(VariationalFailure::Mass { .. })),
        "{made:?}"
    );
}

/// A pendulum, and a cart that knows nothing of it.
struct PendulumAndCart;

impl MechanicalSystem for PendulumAndCart {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[-9.81 * q[0].sin(), 0.0]);
    }
}

#[test]
fn coordinates_far_from_the_origin_leave_others_their_precision() {
    let run = |x: f64| {
        let mut midpoint = Midpoint::new(PendulumAndCart).unwrap();
        let (mut q, mut p) = ([1.5, x], [0.0, 0.0]);
        for _ in 0..200 {
            midpoint.step(0.0, 0.02, &mut q, &mut p).unwrap();
        }
        q[0]
    };
    for x in [1e3, 1e6, 1e9] {
        let error = (run(x) - run(0.0)).abs();
        assert!(error < 1e-12, "{x} {error:e}");
    }
}

#[test]
fn long_chains_through_the_origin_converge() {
    for links in [10, 30] {
        for scale in [1.0, 1e-9, 1e-12, 0.0] {
            let mut driver = Variational::new(ContactModel::new(LinkChain::new(links).unwrap()))
                .unwrap()
                .time_step(1e-3);
            let v: Vec<f64> = (0..links).map(|i| scale * (7.0 * i as f64).sin()).collect();
            let run = driver
                .integrate(&Start::at(0.0).q(&vec![0.0; links]).v(&v), 5e-3)
                .unwrap();
            let run = run.completed();
            assert!(run.is_ok(), "{links} {scale} {}", run.unwrap_err());
        }
    }
}

/// A pendulum that counts how often its effort is differentiated. It moves along the first of its
/// coordinates, which are joined by the mass; a second one stays at zero but for rounding.
struct Counted {
    dof: usize,
    calls: std::cell::Cell<usize>,
}

/// The mass of two coordinates, whose first column a force along the first one follows.
const JOINED: [f64; 4] = [1.0, 0.3, 0.3, 0.7];

impl Counted {
    /// How often the effort is differentiated in a run of a thousand steps.
    fn calls_of_run(dof: usize) -> usize {
        let calls = std::cell::Cell::new(0);
        let mut driver = Variational::new(ContactModel::new(Self { dof, calls }))
            .unwrap()
            .time_step(0.01);
        let start = &[1.0, 0.0][..dof];
        let run = driver.integrate(&Start::at(0.0).q(start).v(&[0.0, 0.0][..dof]), 10.0);
        let run = run.unwrap().completed().unwrap();
        assert!(run.times().len() == 1001 && run.doubts().is_empty());
        let others = &run.q(1000)[1..];
        assert!(others.iter().all(|q| q.abs() < 1e-12), "{others:?}");
        driver.model().system().calls.get()
    }
}

impl MechanicalSystem for Counted {
    fn dof(&self) -> usize {
        self.dof
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        for (i, entry) in mass.iter_mut().enumerate() {
            *entry = JOINED[i / self.dof * 2 + i % self.dof];
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        for (effort, column) in effort.iter_mut().zip(JOINED) {
            *effort = -9.81 * q[0].sin() * column;
        }
    }
    fn effort_along(
        &self,
        State { q, .. }: State<'_>,
        directions: &[f64],
        out: &mut [f64],
    ) -> bool {
        self.calls.set(self.calls.get() + 1);
        for (out, column) in out.iter_mut().zip(JOINED) {
            *out = -9.81 * q[0].cos() * directions[0] * column;
        }
        true
    }
}

impl UnilateralConstraints for Counted {
    fn contacts(&self) -> usize {
        0
    }
    fn gap(&self, _j: usize, _q: &[f64]) -> f64 {
        1.0
    }
}

#[test]
fn factors_serve_for_many_steps() {
    let calls = Counted::calls_of_run(1);
    assert!(calls < 100, "{calls}");
}

/// A stiff swing in a wind that grows with time.
struct Swing;

impl MechanicalSystem for Swing {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = -100.0 * q[0].sin() + 10.0 * t;
    }
}

/// Steps in which Newton's method fails are those of two halves, each at its time.
#[test]
fn a_step_that_fails_is_made_in_two_halves() {
    let mut halved = 0;
    for k in 0..40 {
        let (h, start) = (0.1 + 0.01 * f64::from(k), 0.3);
        for q in [1.5, 2.5, 3.0] {
            let mut midpoint = Midpoint::new(Swing).unwrap();
            let (mut whole, mut halves) = (([q], [5.0]), ([q], [5.0]));
            if midpoint.step(start, h, &mut whole.0, &mut whole.1).is_err() {
                continue;
            }
            let made = [start, start + 0.5 * h].map(|t| {
                midpoint
                    .step(t, 0.5 * h, &mut halves.0, &mut halves.1)
                    .is_ok()
            });
            let off = (whole.0[0] - halves.0[0]).abs() + (whole.1[0] - halves.1[0]).abs();
            halved += usize::from(made == [true; 2] && off < 1e-10);
        }
    }
    assert!(halved >= 5, "{halved}");
}

/// A wall that pushes back by the logarithm of what is left before it, and has nothing behind it.
/// For a while its effort is not known.
struct Wall {
    gone: [f64; 2],
}

impl MechanicalSystem for Wall {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let is_gone = self.gone[0] < t && t < self.gone[1];
        effort[0] = if is_gone {
            f64::NAN
        } else {
            20.0 * (1.0 - q[0]).ln()
        };
    }
}

impl UnilateralConstraints for Wall {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0] + 10.0
    }
}

/// A step whose search leaves the domain of the effort was refused, though its halves stay inside.
#[test]
fn a_step_that_leaves_the_domain_is_made_in_two_halves() {
    let mut halved = 0;
    for k in 0..40 {
        let h = 0.1 + 0.01 * f64::from(k);
        let wall = || Wall { gone: [0.0; 2] };
        let mut midpoint = Midpoint::new(wall()).unwrap();
        let (mut whole, mut halves) = (([0.7], [2.0]), ([0.7], [2.0]));
        let made = midpoint.step(0.0, h, &mut whole.0, &mut whole.1);
        let mut driver = Variational::new(ContactModel::new(wall()))
            .unwrap()
            .time_step(h);
        let run = driver
            .integrate(&Start::at(0.0).q(&[0.7]).v(&[2.0]), h)
            .unwrap();
        if let Err(failure) = made {
            assert!(matches!(
                failure,
                VariationalFailure::NotFinite { t: 0.0, .. }
            ));
            assert_eq!((whole, midpoint.halvings()), (([0.7], [2.0]), 0));
            assert_eq!(run.status().reason(), Some(&failure));
            continue;
        }
        let counted = midpoint.halvings();
        assert_eq!((run.q(1), run.doubts().len()), (&whole.0[..], counted));
        assert_eq!(run.is_guaranteed(), counted == 0);
        if counted == 1 {
            // The first guess of the middle lies behind the wall.
            halved += usize::from(0.7 + 0.5 * h * 2.0 > 1.0);
            for t in [0.0, 0.5 * h] {
                let step = midpoint.step(t, 0.5 * h, &mut halves.0, &mut halves.1);
                step.unwrap();
            }
            let off = (whole.0[0] - halves.0[0]).abs() + (whole.1[0] - halves.1[0]).abs();
            assert!(midpoint.halvings() == 1 && off < 1e-11, "{h} {off:e}");
        }
    }
    assert!(halved >= 3, "{halved}");
}

/// Where a step that begins a little later is made in halves, the difference of both has the error of
/// the halves in it, ten thousand times larger.
#[test]
fn a_derivative_beside_a_step_in_halves_is_refused() {
    // The middle of a step that begins 1e-6 later lies where the effort is not known, those of its
    // halves do not.
    let gone = [0.005 + 1e-8, 0.005 + 1e-3];
    let derivative = |gone: [f64; 2]| {
        let mut driver = Variational::new(ContactModel::new(Wall { gone }))
            .unwrap()
            .time_step(0.01);
        let found = driver.derivative(&Start::at(0.0).q(&[0.2]).v(&[0.5]), 0.01);
        found.unwrap().matrix()
    };
    assert!(derivative([0.0; 2]).is_ok());
    let NoDerivative::Stop(reason) = derivative(gone).unwrap_err() else {
        panic!("it has a derivative");
    };
    let reason = reason.downcast();
    assert!(
        matches!(reason, Some(VariationalFailure::NoDerivative { why, .. }) if why.contains("halves"))
    );
    // And a run with such a step: its whole step has no derivative to take in its place.
    let mut driver = Variational::new(ContactModel::new(Wall { gone: [0.0; 2] })).unwrap();
    driver = driver.time_step(0.35);
    let found = driver.derivative(&Start::at(0.0).q(&[0.7]).v(&[2.0]), 0.35);
    let refused = found.unwrap().matrix().unwrap_err();
    assert!(matches!(refused, NoDerivative::Halved { .. }), "{refused}");
}

/// A block on the ground that is pushed to and fro by `−0.001 sign(x)`.
struct Pushed;

impl MechanicalSystem for Pushed {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[-1e-3 * q[0].signum(), -9.81]);
    }
}

impl UnilateralConstraints for Pushed {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1]
    }
}

/// It was told that the forces of contacts had not settled in 50 rounds.
#[test]
fn a_step_with_closed_contacts_that_newton_does_not_solve_is_told_as_that() {
    let mut driver = Variational::new(ContactModel::new(Pushed))
        .unwrap()
        .time_step(1.0);
    let run = driver
        .integrate(&Start::at(0.0).q(&[1e-5, 0.0]).v(&[0.0; 2]), 1.0)
        .unwrap();
    let Some(VariationalFailure::NewtonFailed {
        t,
        step,
        contacts,
        state,
        ..
    }) = run.status().reason()
    else {
        panic!("{}", run.status());
    };
    assert_eq!(
        (*t, *step, &contacts[..], &state[..2]),
        (0.0, 1.0, &[0][..], &[1e-5, 0.0][..])
    );
    let text = run.status().to_string();
    assert!(
        text.contains("closed contacts [0]") && !text.contains("halves"),
        "{text}"
    );
}

/// `q̈ = −9 (q + q³/u²)`, an oscillator with swings of size `u`, or `q̈ = −0.001 sign(q)`, where
/// steps of 1 s near zero have no root; and a cart that knows nothing of either.
#[derive(Clone, Copy)]
struct Beside {
    /// Size of the swings (m); zero for the force that jumps.
    unit: f64,
    /// Mass of the cart (kg), and the force on it (N).
    cart: [f64; 2],
    constant: bool,
}

impl MechanicalSystem for Beside {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, self.cart[0]]);
    }
    fn constant_mass(&self) -> bool {
        self.constant
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let part = q[0] / self.unit;
        effort[0] = if self.unit > 0.0 {
            -9.0 * self.unit * (part + part.powi(3))
        } else {
            -1e-3 * q[0].signum()
        };
        effort[1] = self.cart[1];
    }
}

impl UnilateralConstraints for Beside {
    fn contacts(&self) -> usize {
        0
    }
    fn gap(&self, _j: usize, _q: &[f64]) -> f64 {
        1.0
    }
}

#[test]
fn a_large_coordinate_leaves_none_beside_it_unconverged() {
    let run = |unit: f64, x: f64, speed: f64| {
        let system = Beside {
            unit,
            cart: [0.77, 0.31 * speed],
            constant: false,
        };
        let mut driver = Variational::new(ContactModel::new(system))
            .unwrap()
            .time_step(0.01);
        let (q, v) = ([unit, x], [0.0, speed]);
        let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), 2.0).unwrap();
        let run = run.completed().unwrap();
        assert!(run.doubts().is_empty());
        run.q(200)[0] / unit
    };
    let alone = run(1.0, 0.0, 0.0);
    let far = [(1.0, 1e9, 0.0), (1.0, 1e12, 0.0), (1e-6, 1.0, 0.0)];
    let fast = [
        (1e-6, 1e6, 0.0),
        (1e-6, 0.0, 1e6),
        (1e-6, 0.0, 1e8),
        (1.0, 0.0, 1e9),
    ];
    for (unit, x, speed) in far.into_iter().chain(fast) {
        // 200 steps end with corrections below 1e-13 of the swing, which the next would shrink to a
        // tenth; what they are off by grows with time, not faster.
        let error = (run(unit, x, speed) - alone).abs();
        assert!(error < 200.0 * 1e-14 * 10.0, "{unit} {x} {speed} {error:e}");
    }
}

#[test]
fn rounding_of_a_coordinate_at_zero_asks_for_no_new_factors() {
    let calls = Counted::calls_of_run(2);
    assert!(calls < 200, "{calls}");
}

#[test]
fn a_step_without_a_root_is_refused_however_large_what_is_beside_it() {
    let far = [0.0, 1e9, 0.0];
    let (alone, pushed, fast) = ([0.0; 3], [0.0, 0.0, 1e9], [1e6, 0.0, 0.0]);
    for [speed, x, force] in [alone, far, pushed, fast] {
        for (mass, constant) in [(1.0, true), (1.0, false), (1e6, true), (1e6, false)] {
            let system = Beside {
                unit: 0.0,
                cart: [mass, force],
                constant,
            };
            let mut midpoint = Midpoint::new(system).unwrap();
            let (mut q, mut p) = ([1e-5, x], [0.0, mass * speed]);
            let made = midpoint.step(0.0, 1.0, &mut q, &mut p);
            let refused = matches!(made, Err(VariationalFailure::NewtonFailed { .. }));
            assert!(
                refused,
                "{speed} {x} {force} {mass} {constant}: {made:?} {q:?}"
            );
        }
    }
}
