//! Restitution against closed forms: heights of a ball, two balls, a cradle, a throw with friction, a
//! box that lands flat; and its derivative against differences of whole runs.

use saltation::bodies::{Body, Scene, Shape};
use saltation::compliant::{CompliantFailure, Scheme, Solver};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::nalgebra::DMatrix;
use saltation::{Compliant, Start, Status};

use crate::sensitivities::mismatch_by;

const G: f64 = 9.81;

/// Highest points of a ball after its first bounces, from the height `h` of its lowest point.
fn apexes(e: f64, h: f64, dt: f64, tf: f64) -> Vec<f64> {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    let ball = Body::new(Shape::sphere(0.1).unwrap()).restitution(e);
    scene.add(ball.position([0.0, 0.0, 0.1 + h])).unwrap();
    let (q, v) = scene.start();
    let mut driver = Compliant::new(scene).unwrap().time_step(dt);
    driver.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
    let (mut found, mut highest) = (Vec::new(), 0.0_f64);
    let mut energy = driver.energy().unwrap();
    while driver.t() < tf {
        let before = driver.v()[5];
        driver.step().unwrap();
        let after = driver.energy().unwrap();
        // At rest the spring of the contact gives and takes.
        let is_moving = before.abs() > G * dt;
        assert!(
            !is_moving || after <= energy * (1.0 + 1e-14),
            "{e} {h} {dt}: {energy} {after}"
        );
        energy = after;
        if before < 0.0 && driver.v()[5] > 0.0 {
            found.push(highest);
            highest = 0.0;
        }
        highest = highest.max(driver.q()[2] - 0.1);
    }
    found.push(highest);
    found.remove(0); // the fall
    found
}

/// `h e²ⁿ`, whatever the phase of the steps; energy falls in each of them.
#[test]
fn heights_of_bounces_converge_with_the_step_for_every_phase() {
    let all = [0.3, 0.5, 0.8, 1.0];
    for &e in &all[if cfg!(debug_assertions) { 2..3 } else { 0..4 }] {
        let mut worst = [0.0_f64; 3];
        for (worst, dt) in worst.iter_mut().zip([4e-3, 1e-3, 2.5e-4]) {
            for phase in 0..8 {
                let h = 1.0 + 0.01 * f64::from(phase);
                let found = apexes(e, h, dt, 2.0);
                for (n, apex) in found.iter().take(2).enumerate() {
                    let exact = h * e.powi(2 * (1 + i32::try_from(n).unwrap()));
                    assert!(*apex <= exact, "{e} {h} {dt}: {apex} {exact}");
                    *worst = worst.max(exact - apex);
                }
            }
            // A bounce loses up to g dt of its speed, and a flight half of it: (g dt) (2 u)/g and
            // u dt of height, the second bounce on top of the first.
            let speed = (2.0 * G * 1.07_f64).sqrt();
            assert!(*worst < 2.0 * 3.0 * speed * dt, "{e} {dt}: {worst}");
        }
        for pair in worst.windows(2) {
            let ratio = pair[0] / pair[1];
            assert!(ratio > 3.0 && ratio < 5.0, "{e}: {worst:?}"); // steps of a quarter
        }
    }
}

#[test]
fn a_ball_comes_to_rest_and_slow_ones_do_not_rebound() {
    for dt in [1e-2, 1e-3] {
        let found = apexes(0.7, 0.5, dt, 4.0);
        // Speeds of bounces fall to g dt, which takes ln(u/(g dt))/ln(1/e) of them at most.
        let most = ((2.0 * G * 0.5_f64).sqrt() / (G * dt)).ln() / (1.0 / 0.7_f64).ln();
        assert!(
            found.len() > 3 && (found.len() as f64) < most + 2.0,
            "{found:?}"
        );
        let last = found.last().unwrap();
        assert!(last.abs() < 2.0 * G * dt * dt, "{dt}: {last}");
    }
}

/// A row of equal balls without gravity, the first one with this speed; the velocities after the
/// blow.
fn cradle(balls: u32, gap: f64, e: f64, tf: f64) -> Vec<f64> {
    let mut scene = Scene::new();
    scene.gravity([0.0; 3]).unwrap();
    for k in 0..balls {
        let ball = Body::new(Shape::sphere(0.1).unwrap()).restitution(e);
        let speed = if k == 0 { 2.0 } else { 0.0 };
        let apart = if k == 0 { -0.05 } else { 0.0 };
        let place = f64::from(k) * (0.2 + gap) + apart;
        scene
            .add(ball.position([place, 0.0, 0.0]).velocity([speed, 0.0, 0.0]))
            .unwrap();
    }
    let (q, v) = scene.start();
    let mut driver = Compliant::new(scene).unwrap().time_step(1e-3);
    let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), tf).unwrap();
    let v = run.completed().unwrap();
    let v = v.v(v.times().len() - 1).to_vec();
    (0..v.len() / 6).map(|k| v[6 * k + 3]).collect()
}

/// All contacts of a blow at once, by Newton's law: balls that touch part as one. Where they have
/// gaps wider than the way of a step, the blow goes on from ball to ball, and the last one leaves.
#[test]
fn a_cradle_parts_at_the_blow_or_hands_it_on_through_gaps() {
    let close = |found: &[f64], expected: &[f64]| {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            // What a contact gives back falls short by R_h of the load, 1/(4000 π²) of it.
            assert!((a - b).abs() < 1e-3, "{found:?} {expected:?}");
        }
    };
    for balls in [2u32, 3, 5] {
        for e in [0.0, 0.5, 1.0] {
            // v₁ + (n − 1) w = u, w − v₁ = e u.
            let n = f64::from(balls);
            let others = 2.0 * (1.0 + e) / n;
            let mut expected = vec![others; balls as usize];
            expected[0] = others - 2.0 * e;
            close(&cradle(balls, 0.0, e, 0.1), &expected);
        }
    }
    close(&cradle(5, 0.02, 1.0, 0.2), &[0.0, 0.0, 0.0, 0.0, 2.0]);
}

#[test]
fn two_balls_keep_their_momentum_and_part_with_a_part_of_their_approach() {
    for (e, radius, side) in [(0.25, 0.1, 0.0), (0.9, 0.05, 0.04), (1.0, 0.2, 0.11)] {
        let mut scene = Scene::new();
        scene.gravity([0.0; 3]).unwrap();
        let ball = |r: f64, e: f64| {
            let ball = Body::new(Shape::sphere(r).unwrap());
            ball.friction(0.0).restitution(e)
        };
        let one = ball(0.1, e).position([-0.5, side, 0.0]);
        scene.add(one.velocity([3.0, 0.0, 0.2])).unwrap();
        let two = ball(radius, 0.1).position([0.5, 0.0, 0.0]);
        scene.add(two.velocity([-1.0, 0.5, 0.2])).unwrap();
        let masses = [0, 1].map(|body| scene.mass_of(body).unwrap());
        let (q, v) = scene.start();
        let solver = Solver::new().rtol(1e-13);
        let mut driver = Compliant::new(scene).unwrap().solver(solver);
        driver.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
        let mut blows = 0;
        for _ in 0..60 {
            let before = driver.v().to_vec();
            driver.step().unwrap();
            let after = driver.v();
            for k in 3..6 {
                let sum = |v: &[f64]| masses[0] * v[k] + masses[1] * v[6 + k];
                let size = masses[0] + masses[1];
                assert!((sum(after) - sum(&before)).abs() < 1e-12 * size);
            }
            let contacts = driver.contacts();
            if driver
                .solution()
                .impulses()
                .first()
                .is_some_and(|p| p[0] > 0.0)
            {
                let rate = |v: &[f64]| -> f64 {
                    let products = contacts.blocks(0).flat_map(|block| {
                        let own = &v[block.start..block.start + block.width];
                        block.rows.iter().zip(own).map(|(a, b)| a * b)
                    });
                    products.sum()
                };
                let (approach, parting) = (-rate(&before), rate(after));
                assert!(approach > 1.0);
                // R_h of the load: 2.5e-5 w of what is stopped, w twice one over the mass.
                assert!(
                    (parting - e * approach).abs() < 1.5e-4 * approach,
                    "{e} {parting} {approach}"
                );
                blows += 1;
            }
        }
        assert_eq!(blows, 1);
    }
}

/// A ball that slides through the blow: friction is `μ` times the whole normal impulse, so that it
/// loses `μ (1 + e) u` of its speed.
#[test]
fn friction_of_a_bounce_is_that_of_its_whole_impulse() {
    for (e, mu) in [(0.5, 0.1), (0.8, 0.2), (0.0, 0.1)] {
        let mut worst = [0.0_f64; 2];
        for (worst, dt) in worst.iter_mut().zip([1e-3, 1e-4]) {
            for phase in 0..5 {
                let mut scene = Scene::new();
                scene.add(Body::fixed(Shape::plane()).friction(mu)).unwrap();
                let ball = Body::new(Shape::sphere(0.1).unwrap()).friction(mu);
                let height = 0.15 + 0.002 * f64::from(phase);
                let ball = ball.restitution(e).position([0.0, 0.0, height]);
                scene.add(ball.velocity([4.0, 0.0, -2.0])).unwrap();
                let (q, v) = scene.start();
                let mut driver = Compliant::new(scene).unwrap().time_step(dt);
                driver.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
                // The first step of an impact without restitution ends at the ground, its second
                // one is the rest of it.
                let mut total = [0.0; 2];
                while driver.t() < 0.06 {
                    driver.step().unwrap();
                    for p in driver.solution().impulses() {
                        let tangential = p[1].hypot(p[2]);
                        assert!((tangential - mu * p[0]).abs() <= 1e-6 * mu * p[0]);
                        total[0] += p[0];
                        total[1] += tangential;
                    }
                    if e > 0.0 && total[0] > 0.0 {
                        break;
                    }
                }
                let u = (4.0 + 2.0 * G * (height - 0.1)).sqrt();
                let resting = if e > 0.0 {
                    0.0
                } else {
                    driver.t() - (u - 2.0) / G
                };
                let expected = mu * ((1.0 + e) * u + G * resting);
                let lost = 4.0 - driver.v()[3];
                *worst = worst.max((lost - expected).abs());
            }
            // u and the weight of a step.
            assert!(
                *worst < 2.0 * mu * (1.0 + e) * G * dt + 1e-4 * mu,
                "{e} {mu} {dt}: {worst}"
            );
        }
    }
}

#[test]
fn a_box_that_lands_flat_leaves_flat() {
    for (e, dt) in [(0.5, 1e-3), (0.8, 1e-2), (1.0, 1e-3)] {
        let mut scene = Scene::new();
        scene.add(Body::fixed(Shape::plane())).unwrap();
        let cube = Body::new(Shape::cuboid([0.1, 0.2, 0.05]).unwrap()).restitution(e);
        scene.add(cube.position([0.0, 0.0, 0.55])).unwrap();
        let (q, v) = scene.start();
        let mut driver = Compliant::new(scene).unwrap().time_step(dt);
        driver.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
        while driver.v()[5] <= 0.0 {
            driver.step().unwrap();
        }
        let (u, v) = ((2.0 * G * 0.5_f64).sqrt(), driver.v());
        assert!((v[5] - e * u).abs() < 2.0 * G * dt, "{e} {dt}: {v:?}");
        let others = [v[0], v[1], v[2], v[3], v[4]];
        assert!(others.iter().all(|v| v.abs() < 1e-9), "{v:?}");
        assert!((driver.q()[2] - 0.05).abs() < G * dt * dt); // it is on the ground
    }
}

/// A rod `(x, z, φ)` over a floor, of which both ends have contacts with friction and restitution.
#[derive(Clone, Copy, Debug)]
struct Rod {
    friction: f64,
    restitution: f64,
    /// How restitution falls with the speed of the end (s/m).
    fading: f64,
    /// Acceleration towards the floor (m/s²), and how it grows with the height (1/m).
    fall: f64,
    steepness: f64,
}

impl Rod {
    fn side(j: usize) -> f64 {
        if j == 0 { 0.5 } else { -0.5 }
    }
}

impl MechanicalSystem for Rod {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.1]);
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let force = -self.fall * (1.0 + self.steepness * q[1]);
        effort.copy_from_slice(&[0.0, force, 0.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn potential(&self, q: &[f64]) -> Option<f64> {
        Some(self.fall * (q[1] + 0.5 * self.steepness * q[1] * q[1]))
    }
}

impl UnilateralConstraints for Rod {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[1] + Self::side(j) * q[2].sin()
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 1.0, Self::side(j) * q[2].cos()]);
        true
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, -Self::side(j) * q[2].sin()]);
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn restitution(&self, j: usize, q: &[f64], v: &[f64]) -> f64 {
        let speed = v[1] + Self::side(j) * q[2].cos() * v[2];
        self.restitution / (1.0 + self.fading * speed.abs())
    }
}

#[test]
fn derivatives_through_bounces_are_those_of_differences() {
    // The lesser approach is that of the start; of a rod that is pulled away, that without contacts.
    for (friction, restitution, fading, fall) in [
        (0.0, 0.6, 0.0, G),
        (0.3, 0.6, 0.0, G),
        (0.1, 0.8, 0.3, G),
        (1.5, 0.5, 0.0, G),
        (0.2, 0.7, 0.0, -0.8),
    ] {
        for (scheme, angle) in [
            (Scheme::SymplecticEuler, 0.2),
            (Scheme::ImplicitEuler, -0.3),
        ] {
            let rod = Rod {
                friction,
                restitution,
                fading,
                fall,
                steepness: 5.0,
            };
            let mut driver = Compliant::new(rod)
                .unwrap()
                .time_step(1e-2)
                .scheme(scheme)
                .solver(Solver::new().rtol(1e-15).atol(1e-16));
            let (q, v) = ([0.0, 0.3, angle], [1.0, -1.5, 0.5]);
            // It bounces within this time, and the bounce matters.
            let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), 0.35).unwrap();
            assert!(
                (0..run.times().len()).any(|k| run.v(k)[1] > 0.1),
                "{friction}"
            );
            // Rounding of impulses, 1e-16 by the regularisation of 1e-6 of a rebound, is in the runs.
            let off = mismatch_by(3e-5, driver, (&q, &v), 0.35);
            assert!(off < 1e-6, "{scheme:?} {friction} {restitution}: {off:e}");
        }
    }
}

/// Newton's law may gain energy in an oblique blow of a rod with friction; steps do not. Where the
/// coefficient was brought down there is no derivative.
#[test]
fn a_rod_that_would_gain_energy_rebounds_with_less() {
    let (mut limited, mut full) = (0, 0);
    for angle in (1..15).map(|k| 0.1 * f64::from(k)) {
        for slip in [-2.0, -0.6, -0.2, 0.2, 0.6, 2.0] {
            let rod = Rod {
                friction: 1.0,
                restitution: 0.9,
                fading: 0.0,
                fall: G,
                steepness: 0.0,
            };
            let mut driver = Compliant::new(rod).unwrap().time_step(1e-4);
            let height = 0.5 * angle.sin() + 0.01;
            let (q, v) = ([0.0, height, angle], [slip, -1.0, 0.0]);
            driver.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
            let mut columns = DMatrix::identity(6, 6);
            let efforts = DMatrix::zeros(3, 6);
            for _ in 0..120 {
                let before = driver.energy().unwrap();
                let (start, t) = (driver.v().to_vec(), driver.t());
                let refused = driver.step_along(&[0.0; 3], &mut columns, &efforts);
                if let Err(CompliantFailure::NoDerivative { why }) = refused {
                    assert!(why.contains("gains no energy"), "{why}");
                    assert_eq!((driver.t(), driver.v()), (t, &start[..]));
                    driver.step().unwrap();
                    limited += 1;
                } else {
                    refused.unwrap();
                    full += usize::from(driver.solution().impulses().iter().any(|p| p[0] > 0.1));
                }
                let after = driver.energy().unwrap();
                assert!(
                    after <= before * (1.0 + 1e-9),
                    "{angle} {slip}: {before} {after}"
                );
            }
        }
    }
    assert!(limited > 3 && full > 20, "{limited} {full}");
}

/// A rebound reported by a run: contacts press in the step of a blow and no longer.
#[test]
fn runs_tell_the_contacts_of_a_blow() {
    let rod = Rod {
        friction: 0.0,
        restitution: 0.5,
        fading: 0.0,
        fall: G,
        steepness: 0.0,
    };
    let mut driver = Compliant::new(rod).unwrap().time_step(1e-3);
    let start = Start::at(0.0).q(&[0.0, 0.5, 0.0]).v(&[0.0; 3]);
    let run = driver.integrate(&start, 0.4).unwrap();
    assert_eq!(run.status(), &Status::ReachedEnd);
    let fall = (2.0 * 0.5 / G).sqrt();
    let first = &run.events()[0];
    assert!((first.t - fall).abs() < 2e-3);
    assert_eq!(first.activated, [0, 1]);
    assert_eq!(run.events()[1].released, [0, 1]);
    assert!((run.events()[1].t - first.t - 1e-3).abs() < 1e-12);
}

/// What approaches more slowly than its weight makes it in a step gives nothing back, on whatever it lands.
#[test]
fn a_ball_on_a_body_at_rest_gives_nothing_back_below_its_weight() {
    let on = |base: Body| {
        let mut scene = Scene::new();
        scene.add(Body::fixed(Shape::plane())).unwrap();
        scene.add(base).unwrap();
        let ball = Body::new(Shape::sphere(0.1).unwrap()).restitution(0.8);
        let ball = ball.position([0.0, 0.0, 0.3]).velocity([0.0, 0.0, -0.05]);
        let ball = scene.add(ball).unwrap();
        let (q, v) = scene.start();
        let mut stepper = Compliant::new(scene).unwrap().time_step(0.01);
        stepper.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
        stepper.step().unwrap();
        stepper.system().velocity(ball, stepper.v()).unwrap().1.z
    };
    let slab = || Shape::cuboid([0.5, 0.5, 0.1]).unwrap();
    let free = on(Body::new(slab()).position([0.0, 0.0, 0.1]));
    let fixed = on(Body::fixed(slab()).position([0.0, 0.0, 0.1]));
    assert!(free < 0.0 && fixed < 0.0, "{free} {fixed}");
}

/// A change that is refused leaves the solution of the last step; one that is made, and a start, leave none.
#[test]
fn solutions_belong_to_the_contacts_that_are_listed() {
    let mut scene = Scene::new();
    scene
        .add(Body::fixed(Shape::plane()).restitution(0.5))
        .unwrap();
    let ball = Body::new(Shape::sphere(0.1).unwrap());
    let ball = ball.position([0.0, 0.0, 0.1]).velocity([0.0, 0.0, -2.0]);
    scene.add(ball).unwrap();
    let (q, v) = scene.start();
    let start = Start::at(0.0).q(&q).v(&v);
    let mut stepper = Compliant::new(scene.clone()).unwrap().time_step(0.01);
    stepper.start(&start).unwrap();
    assert!(stepper.solution().impulses().is_empty());
    stepper.step().unwrap();
    let impulses = stepper.solution().impulses().to_vec();
    assert!(impulses[0][0] > 0.0);
    assert!(stepper.exchange(scene.clone(), &q, &[f64::NAN; 6]).is_err());
    assert_eq!(stepper.solution().impulses(), impulses);
    stepper.exchange(scene, &q, &v).unwrap();
    assert!(stepper.solution().impulses().is_empty() && stepper.term_impulses(0).is_none());
}
