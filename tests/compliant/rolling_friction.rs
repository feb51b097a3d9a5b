//! Spinning and rolling friction: balls that stop, spin and lie on inclines in closed form, a box on its
//! corners, blows; they take energy and momentum as they should; and they are refused where they would
//! be ignored.

use nalgebra::DMatrix;
use saltation::bodies::{Body, Scene, Shape};
use saltation::compliant::{Softness, Solver};
use saltation::{Compliant, Start};

use crate::random::SplitMix64;

const G: f64 = 9.81;
const RADIUS: f64 = 0.1;
/// Moment of inertia of a ball of 1 kg.
const INERTIA: f64 = 0.4 * RADIUS * RADIUS;

/// A ball of 1 kg.
fn ball() -> Body {
    let body = Body::new(Shape::sphere(RADIUS).expect("a sphere"));
    body.mass(1.0, [INERTIA; 3]).position([0.0, 0.0, RADIUS])
}

/// A body on a plane that is inclined so that it falls along x.
fn on_plane(body: Body, slope: f64) -> Scene {
    let mut scene = Scene::new();
    scene
        .gravity([G * slope.sin(), 0.0, -G * slope.cos()])
        .expect("gravity");
    scene.add(Body::fixed(Shape::plane())).expect("a plane");
    scene.add(body).expect("a body");
    scene
}

fn stepper(scene: Scene, dt: f64) -> Compliant<Scene> {
    let (q, v) = scene.start();
    let stepper = Compliant::new(scene).expect("a system").time_step(dt);
    let mut stepper = stepper.solver(Solver::new().rtol(1e-12));
    stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("a start");
    stepper
}

fn run(stepper: &mut Compliant<Scene>, steps: usize) {
    for _ in 0..steps {
        stepper.step().expect("a step");
    }
}

fn rolling(speed: f64) -> Body {
    ball()
        .velocity([speed, 0.0, 0.0])
        .angular_velocity([0.0, speed / RADIUS, 0.0])
}

/// A solid ball needs `m g (r/R)/(7/5)` of friction to roll on while it slows down: with less than that,
/// `μ < 5/7 r/R`, it slides, and slows down by `μ g`. So it does on inclines steeper than `μ`, though `r/R`
/// would hold it.
#[test]
fn a_ball_that_friction_cannot_hold_slides() {
    let (mu, dt, steps) = (0.2, 1e-3, 100);
    let with = |body: Body, ratio: f64, slope: f64| {
        let body = body.friction(mu).rolling_friction(ratio * RADIUS);
        let mut scene = on_plane(body, slope);
        let plane = Body::fixed(Shape::plane()).friction(mu);
        scene.replace(0, plane).expect("a plane");
        let mut stepper = stepper(scene, dt);
        run(&mut stepper, steps);
        stepper.v()[3]
    };
    let lost = |ratio: f64| (1.0 - with(rolling(1.0), ratio, 0.0)) / (100.0 * dt);
    // Below and above 7/5 μ = 0.28; the regularisation of friction is 1e-3 of a step.
    assert!((lost(0.27) - G * 0.27 / 1.4).abs() < 0.01 * G * mu);
    assert!((lost(0.5) - G * mu).abs() < 0.01 * G * mu);
    // On tan α = 0.3.
    let slope = 0.3_f64.atan();
    let rate = G * (slope.sin() - mu * slope.cos());
    assert!((with(ball(), 0.5, slope) / (100.0 * dt) - rate).abs() < 0.01 * rate);
}

#[test]
fn a_ball_that_rolls_stops_where_it_should_and_stays() {
    // M = r m g against I + m R²: a = g (r/R)/(1 + 2/5).
    for r in [1e-3, 1e-2] {
        let rate = G * r / RADIUS / 1.4;
        let speed = 0.5;
        let (stops, way) = (speed / rate, speed * speed / (2.0 * rate));
        let mut errors = Vec::new();
        for dt in [8e-3, 4e-3, 2e-3] {
            let mut stepper = stepper(on_plane(rolling(speed).rolling_friction(r), 0.0), dt);
            // It sinks to its depth, with the time dt + τ.
            while stepper.t() < 0.4 {
                run(&mut stepper, 1);
            }
            let before = stepper.v()[3];
            run(&mut stepper, 10);
            let found = (before - stepper.v()[3]) / (10.0 * dt);
            assert!(
                (found / rate - 1.0).abs() < 1e-6,
                "{r} {dt}: {found} {rate}"
            );
            let moment = stepper.solution().moments()[0];
            let size = moment[1].hypot(moment[2]);
            assert!((size / (r * G * dt) - 1.0).abs() < 1e-6 && moment[0] == 0.0);
            while stepper.t() < stops + 0.2 {
                run(&mut stepper, 1);
            }
            let at_rest = stepper.q().to_vec();
            errors.push(at_rest[0] - way);
            run(&mut stepper, 200);
            let moved = stepper.q().iter().zip(&at_rest).map(|(a, b)| (a - b).abs());
            assert!(moved.fold(0.0, f64::max) < 1e-9, "{r} {dt}");
        }
        // Of order one: half a step of the speed at the start.
        for pair in errors.windows(2) {
            assert!((pair[0] / pair[1] - 2.0).abs() < 0.1, "{r}: {errors:?}");
        }
        assert!(errors[2].abs() < 2e-3 * speed, "{r}: {errors:?}");
    }
}

#[test]
fn a_ball_that_spins_stops_in_time() {
    let (s, spin, dt) = (2e-3, 10.0, 1e-3);
    let body = ball()
        .angular_velocity([0.0, 0.0, spin])
        .spinning_friction(s);
    let mut stepper = stepper(on_plane(body, 0.0), dt);
    let rate = s * G / INERTIA;
    run(&mut stepper, 300);
    let before = stepper.v()[2];
    run(&mut stepper, 100);
    let found = (before - stepper.v()[2]) / 0.1;
    assert!((found / rate - 1.0).abs() < 1e-8, "{found} {rate}");
    let moment = stepper.solution().moments()[0];
    assert!((moment[0] / (-s * G * dt) - 1.0).abs() < 1e-8);
    // It stops after ω I/(s m g), and a step at most.
    let stops = spin / rate;
    while stepper.t() < stops - 5.0 * dt {
        run(&mut stepper, 1);
    }
    assert!(stepper.v()[2] > 3.0 * rate * dt);
    run(&mut stepper, 10);
    assert!(stepper.v()[2].abs() < 1e-6 * spin);
    let others = [0, 1, 3, 4, 5].map(|k| stepper.v()[k].abs());
    assert!(others.iter().all(|v| *v < 1e-9), "{others:?}");
}

#[test]
fn a_ball_on_an_incline_stays_up_to_the_slope_of_its_rolling_friction() {
    let (r, dt) = (0.01, 5e-3);
    let least: f64 = (r / RADIUS).atan();
    let mut below = stepper(on_plane(ball().rolling_friction(r), 0.9 * least), dt);
    run(&mut below, 200);
    // It creeps by the moment, whose three rows have W = 1/I, and by the force, with 1/m, 7/2m twice.
    let impulse = G * (0.9 * least).sin() * dt;
    let turning = 1e-3 / 3f64.sqrt() / INERTIA * RADIUS * impulse;
    let creep = RADIUS * turning + 1e-3 / 3.0 * (1.0 + 2.0 * 3.5 * 3.5_f64).sqrt() * impulse;
    let speed = below.v()[3];
    assert!((speed / creep - 1.0).abs() < 1e-6, "{speed:e} {creep:e}");

    let slope = 1.5 * least;
    let mut above = stepper(on_plane(ball().rolling_friction(r), slope), dt);
    run(&mut above, 50);
    let before = above.v()[3];
    run(&mut above, 50);
    let found = (above.v()[3] - before) / (50.0 * dt);
    let exact = G * (slope.sin() - r / RADIUS * slope.cos()) / 1.4;
    assert!((found / exact - 1.0).abs() < 1e-6, "{found} {exact}");
}

#[test]
fn spinning_friction_of_the_corners_of_a_box_adds_up() {
    let (half, height, s, dt) = (0.1, 0.05, 3e-3, 2e-3);
    let inertia = 2.0 / 3.0 * half * half;
    for friction in [0.0, 0.1] {
        let body = Body::new(Shape::cuboid([half, half, height]).expect("a box"));
        let about_x = (half * half + height * height) / 3.0;
        let body = body.mass(1.0, [about_x, about_x, inertia]);
        let body = body
            .position([0.0, 0.0, height])
            .angular_velocity([0.0, 0.0, 25.0]);
        let scene = on_plane(body.friction(friction).spinning_friction(s), 0.0);
        let mut stepper = stepper(scene, dt);
        run(&mut stepper, 120);
        let before = stepper.v()[2];
        run(&mut stepper, 20);
        let found = (before - stepper.v()[2]) / (20.0 * dt);
        // Friction of a pair with the plane, of 0.5, at the corners.
        let mu = 2.0 * friction * 0.5 / (friction + 0.5);
        let rate = (s + mu * half * 2f64.sqrt()) * G / inertia;
        assert!(
            (found / rate - 1.0).abs() < 1e-6,
            "{friction}: {found} {rate}"
        );
        assert_eq!(stepper.solution().moments().len(), 4);
        let total: f64 = stepper.solution().moments().iter().map(|m| m[0]).sum();
        assert!((total / (-s * G * dt) - 1.0).abs() < 1e-6);
    }
}

/// Two balls meet head on, without weight, each with a spin about the line: the blow transmits
/// `s p` of angular momentum, with `p = (1 + e) m u`, and neither more nor less in sum.
#[test]
fn a_blow_takes_spin_by_its_impulse() {
    for restitution in [0.0, 0.5] {
        let (u, s, spin) = (0.3, 2e-3, [40.0, -10.0]);
        let mut scene = Scene::new();
        scene.gravity([0.0; 3]).expect("gravity");
        for (side, spin) in [-1.0, 1.0].into_iter().zip(spin) {
            let body = ball().position([side * (RADIUS + 0.01), 0.0, 0.0]);
            let body = body
                .velocity([-side * u, 0.0, 0.0])
                .angular_velocity([spin, 0.0, 0.0]);
            scene
                .add(body.spinning_friction(s).restitution(restitution))
                .expect("a ball");
        }
        let mut stepper = stepper(scene, 1e-3);
        run(&mut stepper, 60);
        let v = stepper.v();
        let parted = v[9] - v[3];
        assert!(
            (parted - 2.0 * restitution * u).abs() < 1e-3 * u,
            "{parted}"
        );
        let lost = s * (1.0 + restitution) * u / INERTIA;
        let (first, second) = (spin[0] - v[0], v[6] - spin[1]);
        assert!(
            (first / lost - 1.0).abs() < 1e-3,
            "{restitution}: {first} {lost}"
        );
        // Angular momentum stays.
        assert!((first - second).abs() < 1e-12 * spin[0]);
    }
}

/// A body lands on two posts, and one of them throws it off the other, which would have taken of its spin:
/// what moments took in the step as it was solved before the blow is no loss of the blow.
#[test]
fn a_blow_that_lifts_a_contact_gives_back_all_of_its_restitution() {
    let (arm, u) = (0.2, 1.0);
    let mut scene = Scene::new();
    scene.gravity([0.0; 3]).expect("gravity");
    for (side, restitution, s) in [(-1.0, 1.0, 0.0), (1.0, 0.0, 0.05)] {
        let post = Body::fixed(Shape::sphere(0.05).expect("a post")).friction(0.0);
        let post = post.restitution(restitution).spinning_friction(s);
        scene
            .add(post.position([side * arm, 0.0, -0.05]))
            .expect("a post");
    }
    // So heavy at its ends that an impulse at one lifts the other.
    let body = Body::new(Shape::capsule(arm + 0.01, 0.05).expect("a bar"));
    let body = body.mass(1.0, [1.0, 1.0, 1.0]).friction(0.0);
    let body = body.orientation([0.5_f64.sqrt(), 0.0, 0.5_f64.sqrt(), 0.0]);
    let body = body
        .velocity([0.0, 0.0, -u])
        .angular_velocity([0.0, 0.0, 5.0]);
    scene
        .add(body.position([0.0, 0.0, 0.05 + 5e-4]))
        .expect("a bar");
    let mut stepper = stepper(scene, 1e-3);
    let before = stepper.energy().expect("an energy");
    run(&mut stepper, 1);
    let v = stepper.v();
    assert!((v[2] - 5.0).abs() < 1e-12, "{v:?}");
    let parts = v[5] + arm * v[1];
    assert!((parts / u - 1.0).abs() < 1e-5, "{parts}");
    let after = stepper.energy().expect("an energy");
    assert!((after / before - 1.0).abs() < 1e-5, "{before} {after}");
}

/// Bodies that tumble onto each other: moments never give energy, and act on both bodies alike.
#[test]
fn moments_take_energy_in_every_step() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).expect("a plane");
    for k in 0..8 {
        let x = f64::from(k);
        let shape = if k % 2 == 0 {
            Shape::sphere(0.1).expect("a ball")
        } else {
            Shape::cuboid([0.08, 0.1, 0.12]).expect("a box")
        };
        let body = Body::new(shape).position([0.05 * x.sin(), 0.07 * x.cos(), 0.15 + 0.25 * x]);
        let body = body
            .angular_velocity([3.0 * x.cos(), 5.0, 4.0 * x.sin()])
            .restitution(0.3);
        scene
            .add(body.spinning_friction(5e-3).rolling_friction(8e-3))
            .expect("a body");
    }
    let mut stepper = stepper(scene, 5e-3);
    let (mut worked, mut rolled) = (0, 0);
    for _ in 0..400 {
        stepper.step().expect("a step");
        let contacts = stepper.contacts();
        let parts = contacts
            .all_parameters()
            .iter()
            .zip(stepper.solution().moments());
        for (i, (of, moment)) in parts.enumerate() {
            let mut turn = [0.0; 3];
            for block in contacts.blocks(i) {
                let v = &stepper.v()[block.start..block.start + block.width];
                for (sum, row) in turn
                    .iter_mut()
                    .zip(block.rows.chunks_exact(block.width).skip(3))
                {
                    *sum += row.iter().zip(v).map(|(j, v)| j * v).sum::<f64>();
                }
            }
            let load = stepper.solution().impulses()[i][0];
            let spin = moment[0] * turn[0];
            let roll = moment[1] * turn[1] + moment[2] * turn[2];
            assert!(spin <= 0.0 && roll <= 0.0, "{spin} {roll}");
            assert!(moment[0].abs() <= of.spinning_friction * load * (1.0 + 1e-9));
            let size = moment[1].hypot(moment[2]);
            assert!(size <= of.rolling_friction * load * (1.0 + 1e-9));
            worked += usize::from(spin < 0.0);
            rolled += usize::from(roll < 0.0);
        }
    }
    assert!(worked > 1000 && rolled > 1000, "{worked} {rolled}");
}

/// The greatest difference between the derivative of a run of one body and central differences of runs,
/// beside its largest entry.
fn mismatch(scene: Scene, tf: f64) -> f64 {
    let ((q, v), h) = (scene.start(), 1e-6);
    // Displacements (q, v), of the orientation, which is none, by half of its turns.
    let mut columns = DMatrix::zeros(13, 12);
    for k in 0..3 {
        columns[(4 + k, k)] = 0.5;
        columns[(k, 3 + k)] = 1.0;
    }
    (0..6).for_each(|k| columns[(7 + k, 6 + k)] = 1.0);
    // So soft that differences of whole runs resolve it.
    let mut softness = Softness::default();
    softness.stiction = 0.1;
    let driver = Compliant::new(scene).expect("a system").softness(softness);
    let mut driver = driver.solver(Solver::new().rtol(1e-15).atol(1e-16));
    let start = Start::at(0.0).q(&q).v(&v);
    let (_, found) = driver
        .sensitivities(&start, tf, &columns)
        .expect("a derivative");
    let mut end = |k: usize, h: f64| {
        let column = columns.column(k);
        let x = q.iter().chain(&v).zip(column.iter());
        let x: Vec<f64> = x.map(|(x, dx)| x + h * dx).collect();
        let start = Start::at(0.0).q(&x[..7]).v(&x[7..]);
        let run = driver.integrate(&start, tf).expect("input");
        run.completed().expect("completed").state().clone()
    };
    let mut worst: f64 = 0.0;
    for k in 0..12 {
        let (high, low) = (end(k, h), end(k, -h));
        for i in 0..13 {
            let difference = (high[i] - low[i]) / (2.0 * h);
            worst = worst.max((found[(i, k)] - difference).abs());
        }
    }
    worst / found.amax()
}

#[test]
fn derivatives_are_those_of_differences_where_balls_slide_spin_stick_and_bounce() {
    let turned = rolling(1.0).angular_velocity([0.3, 7.0, 4.0]);
    let sliding = turned.rolling_friction(2e-3).spinning_friction(1e-3);
    let held = ball().rolling_friction(0.05);
    let turns = held.clone().angular_velocity([0.0, 0.0, 9.0]);
    let thrown = sliding.clone().position([0.0, 0.0, 0.15]).restitution(0.6);
    // Between gap and overlap is an edge.
    let low = |body: Body| body.position([0.0, 0.0, RADIUS - 1e-4]);
    for (name, body) in [
        ("slides", low(sliding)),
        ("sticks", low(held.spinning_friction(0.05))),
        ("spins", low(turns.spinning_friction(1e-3))),
        ("bounces", thrown),
    ] {
        let off = mismatch(on_plane(body, 0.1), 0.2);
        assert!(off < 1e-6, "{name}: {off:e}");
    }
}

/// A ball that is thrown at the floor, in the step in which it strikes: loads come to rest at those of the solution.
#[test]
fn the_loads_of_a_ball_that_strikes_are_those_of_the_solution() {
    let cases = if cfg!(debug_assertions) {
        3000
    } else {
        400_000
    };
    // The last ones stick with the loads in the middle between two sets, as with the greater ones.
    for seed in (0..cases).chain([108_731, 248_920, 348_104]) {
        let mut draw = SplitMix64(seed);
        let mut between = |least, most| draw.between(least, most);
        let radius = between(0.05, 0.15);
        let mut scene = Scene::new();
        scene
            .add(Body::fixed(Shape::plane()).friction(0.6))
            .unwrap();
        let ball = Body::new(Shape::sphere(radius).unwrap()).friction(between(0.1, 1.0));
        let ball = ball
            .rolling_friction(between(0.0, 0.02))
            .spinning_friction(between(0.0, 0.02));
        scene.add(ball).unwrap();
        let (mut q, mut v) = scene.start();
        q[2] = radius + between(-0.001, 0.01);
        for (i, v) in v.iter_mut().enumerate() {
            let most = if i < 3 { 20.0 } else { 8.0 };
            *v = between(-most, most);
        }
        v[5] -= 6.0;
        let mut driver = Compliant::new(scene).unwrap().time_step(0.005);
        driver.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
        driver.step().unwrap();
        let error = driver.solution().friction_error();
        assert!(error < 1e-6, "{seed}: {error:e}");
    }
}
