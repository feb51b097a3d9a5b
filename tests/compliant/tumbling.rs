//! Bodies that tumble: coordinates with q̇ = N(q) v in every scheme.

use nalgebra::{DMatrix, DVector, Quaternion};
use saltation::bodies::{Anchor, Body, Joint, Scene, Shape};
use saltation::compliant::{Scheme, Softness, Solver, StepFriction};
use saltation::mechanics::{ContactSource, MechanicalSystem, UnilateralConstraints};
use saltation::models::DoublePendulum;
use saltation::{Compliant, Start};

/// A brick without weight that turns about its middle axis.
fn brick() -> Scene {
    let mut scene = Scene::new();
    scene.gravity([0.0; 3]).expect("finite");
    let shape = Shape::cuboid([0.1, 0.2, 0.3]).expect("a shape");
    let body = Body::new(shape)
        .velocity([1.0, 0.0, 0.0])
        .angular_velocity([0.1, 4.0, 0.2]);
    scene.add(body).expect("a body");
    scene
}

const SCHEMES: [Scheme; 4] = [
    Scheme::ExplicitEuler,
    Scheme::SymplecticEuler,
    Scheme::ImplicitEuler,
    Scheme::Midpoint,
];

/// The state after 0.3 s.
fn end<S: MechanicalSystem + ContactSource>(
    system: S,
    (q, v): (&[f64], &[f64]),
    (scheme, dt): (Scheme, f64),
) -> Vec<f64> {
    let stepper = Compliant::new(system).expect("a system");
    let mut stepper = stepper.time_step(dt).scheme(scheme).inelastic();
    let run = stepper
        .integrate(&Start::at(0.0).q(q).v(v), 0.3)
        .expect("input");
    run.completed()
        .expect("completed")
        .state()
        .as_slice()
        .to_vec()
}

/// Midpoint has order two also where mass and `N` depend on the configuration.
#[test]
fn schemes_have_their_orders() {
    let scene = brick();
    let (q, v) = scene.start();
    let of_brick = |at| end(scene.clone(), (&q, &v), at);
    let pendulum = DoublePendulum::default();
    let of_pendulum = |at| end(pendulum, (&[1.0, 0.5], &[0.0; 2]), at);
    let runs: [&dyn Fn((Scheme, f64)) -> Vec<f64>; 2] = [&of_brick, &of_pendulum];
    for (i, run) in runs.into_iter().enumerate() {
        let exact = run((Scheme::Midpoint, 2e-4));
        for scheme in SCHEMES {
            let error = |dt: f64| {
                let pairs = run((scheme, dt)).into_iter().zip(&exact);
                pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            let order = (error(4e-3) / error(2e-3)).log2();
            let expected = if scheme == Scheme::Midpoint { 2.0 } else { 1.0 };
            assert!((order - expected).abs() < 0.03, "{i} {scheme:?}: {order}");
        }
    }
}

/// A ball on a brick on the ground; both slide and turn.
fn pile() -> Scene {
    let mut scene = Scene::new();
    let brick = Body::new(Shape::cuboid([0.1, 0.15, 0.05]).expect("a shape"))
        .position([0.0, 0.0, 0.0495])
        .velocity([0.5, 0.1, 0.0])
        .angular_velocity([0.0, 0.0, 2.0]);
    let ball = Body::new(Shape::sphere(0.05).expect("a shape"))
        .position([0.02, 0.01, 0.1493])
        .velocity([0.3, 0.0, 0.0])
        .angular_velocity([1.0, 0.0, 0.3]);
    for body in [Body::fixed(Shape::plane()), brick, ball] {
        let body = body.friction(0.4).stiffness(1e4);
        scene.add(body).expect("a body");
    }
    scene
}

/// Directions within the manifold of coordinates: velocities, positions, turns.
fn directions(q: &[f64]) -> DMatrix<f64> {
    let nq = q.len();
    let mut directions = DMatrix::zeros(nq + 12, 3);
    for k in 0..12 {
        directions[(nq + k, 0)] = 0.3 + 0.1 * k as f64;
    }
    for first in [0, 7] {
        for k in 0..3 {
            directions[(first + k, 1)] = 0.1 * (1 + k + first) as f64;
        }
        let at = Quaternion::new(q[first + 3], q[first + 4], q[first + 5], q[first + 6]);
        let turn = Quaternion::new(0.0, 0.15, -0.1, 0.25) * at;
        for (k, entry) in [turn.w, turn.i, turn.j, turn.k].into_iter().enumerate() {
            directions[(first + 3 + k, 2)] = entry;
        }
    }
    directions
}

#[test]
fn derivatives_are_differences_of_rollouts() {
    let scene = pile();
    let (q, v) = scene.start();
    let (directions, nq) = (directions(&q), q.len());
    let anchor = |body, z| Anchor::of(&scene, body, [0.0, 0.0, z]).expect("a body");
    let joint = Joint::ball(anchor(1, 0.0993), anchor(2, 0.0));
    for (scheme, lagged, joined) in SCHEMES.into_iter().flat_map(|scheme| {
        let cases = [(false, false), (true, false), (false, true)];
        cases.map(|(lagged, joined)| (scheme, lagged, joined))
    }) {
        // A soft stiction, so that differences of whole runs resolve it.
        let mut softness = Softness::default();
        softness.stiction = 0.1;
        let mut stepper = Compliant::new(scene.clone())
            .expect("a system")
            .time_step(0.005)
            .scheme(scheme)
            .softness(softness)
            .solver(Solver::new().rtol(1e-13).atol(1e-16));
        if lagged {
            stepper = stepper.friction(StepFriction::Lagged { slip: 1e-2 });
        }
        if joined {
            stepper = stepper.term(joint);
        }
        let tf = 0.03;
        let found = stepper.sensitivities(&Start::at(0.0).q(&q).v(&v), tf, &directions);
        let (_, columns) = found.expect("a derivative");
        assert!((28..=30).contains(&stepper.statistics().contacts));
        for (column, direction) in columns.column_iter().zip(directions.column_iter()) {
            let mut end = |h: f64| {
                let x: Vec<f64> = q.iter().chain(&v).copied().collect();
                let x = DVector::from_vec(x) + direction * h;
                let (q, v) = x.as_slice().split_at(nq);
                let run = stepper
                    .integrate(&Start::at(0.0).q(q).v(v), tf)
                    .expect("input");
                run.completed().expect("completed").state().clone()
            };
            // Truncation and rounding are both about 1e-8.
            let h = 1e-7;
            let off = (column - (end(h) - end(-h)) / (2.0 * h)).amax() / columns.amax();
            assert!(off < 5e-8, "{scheme:?} {lagged} {joined}: {off:e}");
        }
    }
}

/// The Coriolis force does no work, and the turn about the axis of the new angular velocity keeps
/// the energy: also where a body turns by 30° in a step.
#[test]
fn bodies_that_tumble_fast_keep_their_energy() {
    for speed in [1.0, 10.0, 50.0] {
        let mut scene = Scene::new();
        scene.gravity([0.0; 3]).expect("finite");
        let shape = Shape::cuboid([0.1, 0.2, 0.3]).expect("a shape");
        let turned = Body::new(shape).angular_velocity([0.1 * speed, speed, 0.2 * speed]);
        scene.add(turned).expect("a body");
        let (q, v) = scene.start();
        let energy = |q: &[f64], v: &[f64]| scene.kinetic_energy(q, v).expect("an energy");
        let mut stepper = Compliant::new(scene.clone()).expect("a system");
        stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("a start");
        let first = energy(&q, &v);
        for _ in 0..1000 {
            stepper.step().expect("a step");
            let now = energy(stepper.q(), stepper.v());
            assert!((now / first - 1.0).abs() < 1e-10, "{speed}: {now} {first}");
        }
    }
}

/// The number of the guide: at 40 rad/s and 10 ms a step turns too little by `(ω dt)²/12`, of its next power 2 % beside.
#[test]
fn a_fast_turn_is_short_by_a_twelfth_of_its_square() {
    let mut scene = Scene::new();
    scene.gravity([0.0; 3]).expect("finite");
    let ball = Body::new(Shape::sphere(0.1).expect("a shape"));
    scene
        .add(ball.angular_velocity([0.0, 0.0, 40.0]))
        .expect("a body");
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene).expect("a system");
    stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("a start");
    stepper.step().expect("a step");
    let turned = 2.0 * stepper.q()[6].atan2(stepper.q()[3]);
    let short = 1.0 - turned / 0.4;
    let expected = 0.4 * 0.4 / 12.0;
    assert!((short / expected - 1.0).abs() < 0.03, "{short} {expected}");
    assert!((stepper.v()[2] - 40.0).abs() < 1e-9);
}

/// Two masses on rods of one length, by their angles; forces of inertia are written or not.
#[derive(Clone, Copy)]
struct Rods {
    length: f64,
    is_written: bool,
}

impl MechanicalSystem for Rods {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, q: &[f64], m: &mut [f64]) {
        let square = self.length * self.length;
        let both = square * (q[0] - q[1]).cos();
        m.copy_from_slice(&[2.0 * square, both, both, square]);
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], f: &mut [f64]) {
        let weight = -9.81 * self.length;
        f.copy_from_slice(&[2.0 * weight * q[0].cos(), weight * q[1].cos()]);
    }
    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        let bend = self.length * self.length * (q[0] - q[1]).sin();
        force.copy_from_slice(&[-bend * v[1] * v[1], bend * v[0] * v[0]]);
        self.is_written
    }
}

impl UnilateralConstraints for Rods {
    fn contacts(&self) -> usize {
        0
    }
    fn gap(&self, _j: usize, _q: &[f64]) -> f64 {
        1.0
    }
}

/// Forces of inertia that are differences of the mass do for the motion of a step, at all speeds and sizes.
#[test]
fn forces_of_inertia_need_not_be_written() {
    for scheme in [
        Scheme::SymplecticEuler,
        Scheme::ImplicitEuler,
        Scheme::Midpoint,
    ] {
        for length in [0.03, 0.5, 1e3f64] {
            for case in 0..5 {
                let (turn, rate) = (0.4 * f64::from(case), 2f64.powi(case));
                let at = (&[turn, 1.0 - turn][..], &[rate, 3.0 - rate][..]);
                let steps = (scheme, 0.05 / rate.max((9.81 / length).sqrt()));
                let [a, b] =
                    [true, false].map(|is_written| end(Rods { length, is_written }, at, steps));
                for (a, b) in a.iter().zip(&b) {
                    assert!(
                        (a - b).abs() < 1e-5 * rate.max(1.0),
                        "{scheme:?} {length} {rate} {a} {b}"
                    );
                }
            }
        }
    }
}
