//! Numbers of the guide: what contacts return, lose and gain by the length of the step.

use saltation::bodies::{Body, Scene, Shape};
use saltation::{Compliant, Start};
use std::f64::consts::PI;

use saltation::compliant::{Scheme, Softness, StepFriction};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};

/// A particle of 1 kg in the plane: inside a circle of 1 m, or above a floor.
#[derive(Clone)]
struct Particle {
    round: bool,
    gravity: f64,
    stiffness: f64,
    dissipation_time: f64,
}

impl MechanicalSystem for Particle {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -self.gravity]);
    }
}

impl UnilateralConstraints for Particle {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        if self.round {
            1.0 - q[0].hypot(q[1])
        } else {
            q[1]
        }
    }
    fn stiffness(&self, _j: usize) -> f64 {
        self.stiffness
    }
    fn dissipation_time(&self, _j: usize) -> f64 {
        self.dissipation_time
    }
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A near-rigid contact returns up to `R_n m dt/(dt + τ)` of the approach speed, at any step; by
/// Coulomb's law, where it hardens, a thousandth of `R_n m`.
#[test]
fn near_rigid_impacts_return_a_part_of_the_approach() -> Outcome {
    for (beta, dt, tau) in [
        (1.0, 1e-2, 0.0),
        (1.0, 1e-5, 0.0),
        (1.0, 1e-3, 1e-3),
        (1.0, 1e-3, 1e-2),
        (0.1, 1e-3, 0.0),
    ] {
        // `w = ‖J A⁻¹ Jᵀ‖_F/3` with a single row of 1 kg
        let soft = beta * beta / (3.0 * 4.0 * PI * PI);
        let bound = soft * dt / (dt + tau);
        let mut most = 0.0f64;
        for k in 0..20 {
            let particle = Particle {
                round: false,
                gravity: 0.0,
                stiffness: f64::INFINITY,
                dissipation_time: tau,
            };
            let mut softness = Softness::default();
            softness.near_rigid = beta;
            let stepper = Compliant::new(particle)?.time_step(dt).softness(softness);
            let (q, v) = ([0.0, f64::from(k) / 20.0 * dt], [0.0, -1.0]);
            let start = Start::at(0.0).q(&q).v(&v);
            let run = stepper.clone().integrate(&start, 20.0 * dt)?.completed()?;
            assert!(run.state()[3] <= 1e-3 * soft, "{}", run.state()[3]);
            let mut stepper = stepper.friction(StepFriction::Cone);
            let run = stepper.integrate(&start, 20.0 * dt)?;
            most = most.max(run.completed()?.state()[3]);
        }
        assert!(most <= bound, "{most} of {bound} at {beta}, {dt}, {tau}");
        assert!(
            most >= 0.9 * bound,
            "{most} of {bound} at {beta}, {dt}, {tau}"
        );
    }
    Ok(())
}

/// With midpoint a rigid contact returns up to `dt/(2 (dt + τ))` of the approach speed.
#[test]
fn midpoint_impacts_return_up_to_half_of_the_approach() -> Outcome {
    for (dt, tau) in [(1e-2, 0.0), (1e-4, 0.0), (1e-3, 1e-3), (1e-3, 1e-2)] {
        let bound = 0.5 * dt / (dt + tau);
        let mut most = 0.0f64;
        for k in 0..20 {
            let particle = Particle {
                round: false,
                gravity: 0.0,
                stiffness: f64::INFINITY,
                dissipation_time: tau,
            };
            let mut softness = Softness::default();
            softness.near_rigid = 0.1;
            let mut stepper = Compliant::new(particle)?
                .time_step(dt)
                .scheme(Scheme::Midpoint)
                .softness(softness);
            let start = [0.0, f64::from(k) / 20.0 * dt];
            let run = stepper.integrate(&Start::at(0.0).q(&start).v(&[0.0, -1.0]), 20.0 * dt)?;
            most = most.max(run.completed()?.state()[3]);
        }
        assert!(most <= 1.001 * bound, "{most} of {bound} at {dt}, {tau}");
        assert!(most >= 0.9 * bound, "{most} of {bound} at {dt}, {tau}");
    }
    Ok(())
}

/// A rigid contact lands in the step in which it would close, and is at rest after the next. With the
/// cone it brakes from the gap `(dt + τ) u` on, by `τ/(dt + τ)` a step.
#[test]
fn dissipation_brakes_before_bodies_touch() -> Outcome {
    let (dt, tau) = (1e-3, 1e-2);
    let particle = Particle {
        round: false,
        gravity: 0.0,
        stiffness: f64::INFINITY,
        dissipation_time: tau,
    };
    let mut softness = Softness::default();
    softness.near_rigid = 1e-3;
    let (q, v) = ([0.0, dt + tau], [0.0, -1.0]);
    let start = Start::at(0.0).q(&q).v(&v);
    let stepper = Compliant::new(particle)?.time_step(dt).softness(softness);
    let run = stepper.clone().integrate(&start, 0.05)?.completed()?;
    for k in 0..run.times().len() {
        let gap = (dt + tau - k as f64 * dt).max(0.0);
        assert!((run.q(k)[1] - gap).abs() < 1e-8, "{k}: {}", run.q(k)[1]);
    }
    let mut stepper = stepper.friction(StepFriction::Cone);
    let run = stepper.integrate(&start, 0.05)?.completed()?;
    for k in 1..run.times().len() {
        let factor = run.q(k)[1] / run.q(k - 1)[1];
        assert!((factor - tau / (dt + tau)).abs() < 1e-5, "{k}: {factor}");
    }
    Ok(())
}

/// The springs of contacts lose energy as with `dt` more of dissipation time, `dt/2` with midpoint.
#[test]
fn springs_of_contacts_lose_energy() -> Outcome {
    let (stiffness, dt) = (100.0f64, 1e-3);
    for (scheme, more) in [
        (Scheme::ExplicitEuler, 0.0),
        (Scheme::SymplecticEuler, dt),
        (Scheme::ImplicitEuler, dt),
        (Scheme::Midpoint, 0.5 * dt),
    ] {
        let particle = Particle {
            round: false,
            gravity: 9.81,
            stiffness,
            dissipation_time: 0.0,
        };
        let mut stepper = Compliant::new(particle)?.time_step(dt).scheme(scheme);
        let rest = -9.81 / stiffness;
        let energy = |q: &[f64], v: &[f64]| {
            let deviation = q[1] - rest;
            0.5 * (v[1] * v[1] + stiffness * deviation * deviation)
        };
        let (q, v) = ([0.0, rest - 0.05], [0.0, 0.0]);
        let period = 2.0 * PI / stiffness.sqrt();
        let run = stepper
            .integrate(&Start::at(0.0).q(&q).v(&v), period)?
            .completed()?;
        let (q_end, v_end) = run.state().as_slice().split_at(2);
        let end = energy(q_end, v_end);
        let lost = -(end / energy(&q, &v)).ln();
        // 2 (τ ω²/2) T
        let expected = more * stiffness * period;
        assert!(
            (lost - expected).abs() < 0.05 * dt * stiffness * period,
            "{scheme:?}: {lost} and {expected}"
        );
    }
    Ok(())
}

/// Midpoint gains energy on a curved path; the other schemes but explicit Euler do not.
#[test]
fn midpoint_gains_energy_on_curved_paths() -> Outcome {
    let (rate, dt) = (5.0f64, 1e-3);
    for (scheme, gain) in [
        (Scheme::SymplecticEuler, 0.0),
        (Scheme::ImplicitEuler, 0.0),
        (Scheme::Midpoint, 1.0),
    ] {
        let particle = Particle {
            round: true,
            gravity: 0.0,
            stiffness: f64::INFINITY,
            dissipation_time: 0.0,
        };
        let mut stepper = Compliant::new(particle)?.time_step(dt).scheme(scheme);
        let run = stepper.integrate(&Start::at(0.0).q(&[1.0, 0.0]).v(&[0.0, rate]), 1.0)?;
        let run = run.completed()?;
        let (vx, vy) = (run.state()[2], run.state()[3]);
        let found = ((vx * vx + vy * vy) / (rate * rate)).ln() / (rate * rate * dt);
        assert!((found - gain).abs() < 0.02, "{scheme:?}: {found}");
    }
    Ok(())
}

/// A disc that rolls on its rim, tilted by 0.3 rad, with the turn of its contact that keeps it so.
#[test]
fn rims_that_roll_gain_energy() -> Outcome {
    let (radius, half, tilt, gravity) = (0.1, 0.005, 0.3f64, 9.81);
    let (sine, cosine) = tilt.sin_cos();
    let turn = (4.0 * gravity / (radius * sine)).sqrt();
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane()).friction(1.0))?;
    let disc = Body::new(Shape::cylinder(half, radius)?).friction(1.0);
    let disc = disc.position([0.0, 0.0, radius * sine + half * cosine]);
    let disc = disc.orientation([(0.5 * tilt).cos(), 0.0, (0.5 * tilt).sin(), 0.0]);
    let disc =
        scene.add(disc.angular_velocity([-turn * sine * cosine, 0.0, turn * sine * sine]))?;
    let (q, v) = scene.start();
    let mass = scene.mass_of(disc).unwrap();
    let gained = |scheme: Scheme, dt: f64| -> Result<f64, Box<dyn std::error::Error>> {
        let mut stepper = Compliant::new(scene.clone())?.time_step(dt).scheme(scheme);
        let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 1.0)?;
        let run = run.completed()?;
        let energy = |k: usize| {
            let height = scene.position(disc, run.q(k)).unwrap().z;
            scene.kinetic_energy(run.q(k), run.v(k)).unwrap() + mass * gravity * height
        };
        let gained = energy(run.times().len() - 1) / energy(0) - 1.0;
        // The energy balance tells it as work of the contacts.
        let told = stepper.energy_balance(&run)?.contacts / energy(0);
        assert!((told - gained).abs() < 0.02, "{told} {gained}");
        Ok(gained)
    };
    for (scheme, dt, expected) in [
        (Scheme::SymplecticEuler, 2e-3, 0.042),
        (Scheme::SymplecticEuler, 5e-4, 0.005),
        (Scheme::Midpoint, 2e-3, 0.54),
    ] {
        let found = gained(scheme, dt)?;
        assert!(
            (found - expected).abs() < 0.1 * expected,
            "{scheme:?} {dt}: {found}"
        );
    }
    Ok(())
}
