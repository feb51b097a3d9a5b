//! Heavy bodies on light ones that joints hold: chains under a load, and blows through a light foot.

use nalgebra::DMatrix;
use saltation::bodies::{Anchor, Body, Joint, JointAxis, Scene, Shape};
use saltation::compliant::{Compliance, CompliantFailure, JointLimit, Scheme};
use saltation::{Compliant, Doubt, Run, Start};

use crate::random::SplitMix64;

const G: f64 = 9.81;

/// A ball on light links in a row, let go at an angle; the radius and the length of a link.
#[derive(Clone, Copy)]
struct Chain {
    links: u32,
    length: f64,
    link: f64,
    ball: f64,
    angle: f64,
    held: Held,
}

/// What holds the links together.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Held {
    Ball,
    Hinge,
    /// One rod, on a ball joint.
    Weld,
}

const THREE: Chain = Chain {
    links: 3,
    length: 0.1,
    link: 0.01,
    ball: 1.0,
    angle: 0.3,
    held: Held::Ball,
};

impl Chain {
    /// The distance of its end from its top.
    fn reach(&self) -> f64 {
        self.length * (f64::from(self.links) + 0.5)
    }

    /// `dt √(F/(m l))`.
    fn number(&self, dt: f64) -> f64 {
        dt * (self.ball * G / (self.link * self.length)).sqrt()
    }

    fn joint(&self, k: usize, ends: [Anchor; 2]) -> Joint {
        let across = [0.0, 1.0, 0.0];
        match self.held {
            Held::Hinge => Joint::hinge(ends[0].along(across), ends[1].along(across)),
            Held::Weld if k > 0 => Joint::weld(ends[0], ends[1]),
            _ => Joint::ball(ends[0], ends[1]),
        }
    }

    /// A driver with its start.
    fn driver(&self, dt: f64) -> (Compliant<Scene>, Vec<f64>, Vec<f64>) {
        let (l, half) = (self.length, 0.5 * self.angle);
        let along = |s: f64| [s * self.angle.sin(), 0.0, -s * self.angle.cos()];
        let placed = |body: Body, s: f64| {
            let body = body.touching(0).position(along(s));
            body.orientation([half.cos(), 0.0, -half.sin(), 0.0])
        };
        let mut scene = Scene::new();
        let slender = self.link * l * l / 12.0;
        for k in 0..self.links {
            let body = Body::new(Shape::capsule(0.4 * l, 0.1 * l).unwrap());
            let body = body.mass(self.link, [slender, slender, 0.06 * slender]);
            scene.add(placed(body, l * (f64::from(k) + 0.5))).unwrap();
        }
        let ball = Body::new(Shape::sphere(0.5 * l).unwrap());
        let ball = ball.mass(self.ball, [0.1 * self.ball * l * l; 3]);
        let last = scene.add(placed(ball, self.reach())).unwrap();
        let (q, v) = scene.start();
        let mut stepper = Compliant::new(scene.clone()).unwrap().time_step(dt);
        for k in 0..=last {
            let end = |body: usize, up: f64| Anchor::of(&scene, body, [0.0, 0.0, up]).unwrap();
            let above = match k {
                0 => Anchor::world([0.0; 3]),
                k => end(k - 1, -0.5 * l),
            };
            stepper = stepper.term(self.joint(k, [end(k, 0.5 * l), above]));
        }
        (stepper, q, v)
    }

    /// The run, and where the ball is at each of its times.
    fn run(&self, mut stepper: Compliant<Scene>, start: &Start, time: f64) -> (Run, Vec<[f64; 3]>) {
        let run = stepper.integrate(start, time).unwrap();
        let last = self.links as usize;
        let place = |k: usize| stepper.system().position(last, run.q(k)).unwrap().into();
        let places = (0..run.times().len()).map(place).collect();
        (run, places)
    }

    fn swing(&self, dt: f64, time: f64) -> (Run, Vec<[f64; 3]>) {
        let (stepper, q, v) = self.driver(dt);
        self.run(stepper, &Start::at(0.0).q(&q).v(&v), time)
    }

    /// By what part it is longer than it should be, at most.
    fn stretched(&self, places: &[[f64; 3]]) -> f64 {
        let farthest = places.iter().map(|[x, y, z]| x.hypot(*y).hypot(*z));
        farthest.fold(0.0, f64::max) / self.reach() - 1.0
    }
}

fn is_told(run: &Run) -> bool {
    let is_apart = |doubt: &Doubt| matches!(doubt, Doubt::Apart { .. });
    run.doubts().iter().any(is_apart)
}

/// Steps that are too long for light links under a load err as short ones do, in proportion to their length.
#[test]
fn a_load_on_links_that_are_light_for_the_step_swings_as_with_short_steps() {
    for (links, held) in [
        (1, Held::Ball),
        (3, Held::Ball),
        (3, Held::Hinge),
        (3, Held::Weld),
    ]
    .into_iter()
    .step_by(if cfg!(debug_assertions) { 3 } else { 1 })
    {
        let chain = Chain {
            links,
            held,
            ..THREE
        };
        let exact = chain.swing(5e-4, 1.0).1.pop().unwrap();
        for dt in [0.02, 0.01, 0.005] {
            assert!(chain.number(dt) > 0.45);
            let (run, places) = chain.swing(dt, 1.0);
            assert!(run.doubts().is_empty(), "{:?}", run.doubts());
            let end = places.last().unwrap();
            let off = (end[0] - exact[0]).hypot(end[2] - exact[2]);
            assert!(off < 0.25 * dt, "{links} {held:?} {dt}: {off}");
        }
    }
}

/// What holds light links in line takes nothing from the swing.
#[test]
#[cfg_attr(debug_assertions, ignore = "seconds without optimisation")]
fn a_load_on_light_links_swings_on() {
    let (_, places) = THREE.swing(0.01, 20.0);
    let widest = |places: &[[f64; 3]]| places.iter().map(|at| at[0].abs()).fold(0.0, f64::max);
    let (first, last) = (widest(&places[..200]), widest(&places[1800..]));
    assert!((last / first - 1.0).abs() < 0.05, "{first} {last}");
}

/// Of other schemes a step that is too long throws joints apart, and says so.
#[test]
fn a_load_on_links_that_are_too_light_for_a_midpoint_step_is_told() {
    for dt in [0.01, 0.002] {
        let (stepper, q, v) = THREE.driver(dt);
        let start = Start::at(0.0).q(&q).v(&v);
        let (run, places) = THREE.run(stepper.scheme(Scheme::Midpoint), &start, 3.0);
        let is_long = dt > 0.006;
        assert_eq!(is_told(&run), is_long, "{dt}: {:?}", run.doubts());
        let stretched = THREE.stretched(&places);
        assert_eq!(stretched > 0.01, is_long, "{dt}: {stretched}");
    }
}

/// The inertia that a load adds has no derivative; without it there is one.
#[test]
fn columns_through_a_load_on_light_links() {
    for dt in [0.01, 0.002] {
        let (mut stepper, q, v) = THREE.driver(dt);
        stepper.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
        let size = q.len() + v.len();
        let mut columns = DMatrix::identity(size, size);
        let (effort, none) = (vec![0.0; v.len()], DMatrix::zeros(v.len(), size));
        let made = stepper.step_along(&effort, &mut columns, &none);
        let is_long = dt > 0.006;
        let is_refused = matches!(made, Err(CompliantFailure::NoDerivative { .. }));
        assert_eq!((is_refused, made.is_err()), (is_long, is_long), "{dt}");
    }
}

/// Random chains hold, and none throws its joints apart but where a heavy ball whips light links around.
#[test]
fn random_chains_hold() {
    let cases = if cfg!(debug_assertions) { 5 } else { 300 };
    let mut told = 0;
    for case in 0..cases {
        let mut random = SplitMix64(0xC4A1 + case);
        let ten = |x: f64| 10f64.powf(x);
        let link = ten(random.between(-3.0, 1.0));
        let chain = Chain {
            links: 1 + u32::try_from(case % 6).unwrap(),
            length: ten(random.between(-1.3, 0.0)),
            link,
            ball: link * ten(random.between(0.0, 4.0)),
            angle: random.between(0.1, 1.2),
            held: [Held::Ball, Held::Hinge, Held::Weld][usize::try_from(case / 6 % 3).unwrap()],
        };
        let (run, places) = chain.swing(0.01, 3.0);
        let (number, stretched) = (chain.number(0.01), chain.stretched(&places));
        let what = format!(
            "{case} {:?}: {number} {stretched} {:?}",
            chain.held,
            run.doubts()
        );
        // Rows are as soft as for bodies like the heavier one.
        assert!(
            stretched < 0.02 || (number > 4.0 && stretched < 0.1),
            "{what}"
        );
        // Links of the weight of the load whip: the other reason for which joints stand apart.
        let is_taut = chain.ball > 30.0 * chain.link;
        assert!(!is_told(&run) || number > 4.0 || !is_taut, "{what}");
        told += u64::from(is_told(&run));
    }
    assert!(50 * told <= cases, "{told}");
}

/// A heavy ball that is held above a light one falls on it: a plastic blow, from which it comes back with a small part
/// of its speed.
#[test]
fn a_plastic_blow_through_a_light_foot_is_plastic() {
    for limited in [false, true] {
        for (ratio, most) in [(1.0, 0.005), (100.0, 0.005), (1000.0, 0.02)] {
            for dt in [1e-2, 1e-3] {
                let mut scene = Scene::new();
                scene.add(Body::fixed(Shape::plane())).unwrap();
                let ball = |mass: f64, height: f64| {
                    let body = Body::new(Shape::sphere(0.1).unwrap()).position([0.0, 0.0, height]);
                    body.mass(mass, [0.004 * mass; 3])
                };
                let foot = scene.add(ball(1.0, 1.1)).unwrap();
                let top = scene.add(ball(ratio, 1.5)).unwrap();
                let (q, v) = scene.start();
                let up = [0.0, 0.0, 1.0];
                let anchors = [(foot, 0.2), (top, -0.2)].map(|(body, height)| {
                    let anchor = Anchor::of(&scene, body, [0.0, 0.0, height]);
                    anchor.unwrap().along(up)
                });
                let [a, b] = anchors;
                let mut stepper = Compliant::new(scene).unwrap().time_step(dt);
                if limited {
                    let slider = Joint::slider(a, b).hold(JointAxis::AboutX);
                    let limit = JointLimit::new(slider.axis(JointAxis::AlongX), -1e-9, 1e-9);
                    stepper = stepper.term(slider).term(limit);
                } else {
                    stepper = stepper.term(Joint::weld(a, b));
                }
                let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 0.8).unwrap();
                let fall = (2.0 / G).sqrt();
                let after = (0..run.times().len()).filter(|k| run.times()[*k] > fall + dt);
                let speed = |k: usize| (run.v(k)[5] + ratio * run.v(k)[11]) / (1.0 + ratio);
                let fastest = after.map(speed).fold(0.0, f64::max) / (G * fall);
                assert!(fastest < most, "{limited} {ratio} {dt}: {fastest}");
            }
        }
    }
}

/// The speed at which a load comes back that strikes the end of its slide at 1 m/s; the slide lies across that of a
/// carriage of 0.3 kg, `lever` beside its middle.
fn comes_back(ratio: f64, lever: f64, dt: f64, held: Compliance) -> f64 {
    let mut scene = Scene::new();
    scene.gravity([0.0; 3]).unwrap();
    let body = |radius: f64, mass: f64, inertia: f64| {
        let body = Body::new(Shape::sphere(radius).unwrap()).groups(0);
        body.mass(mass, [mass * inertia; 3])
    };
    let carriage = scene.add(body(0.05, 0.3, 1e-3)).unwrap();
    let load = body(0.1, 0.3 * ratio, 4e-3).position([lever, 0.0, 0.0]);
    let load = scene.add(load.velocity([0.0, 1.0, 0.0])).unwrap();
    let (q, v) = scene.start();
    let of = |body: usize| Anchor::of(&scene, body, [0.0; 3]).unwrap();
    let (across, slide) = ([0.0, 1.0, 0.0], Anchor::world([0.0; 3]));
    let slide = Joint::slider(of(carriage), slide);
    let slide = slide.compliance(held).turning(held);
    let [a, b] = [load, carriage].map(|body| of(body).along(across));
    let slider = Joint::slider(a, b).as_placed(&q).unwrap();
    let slider = slider.compliance(held).turning(held);
    let limit = JointLimit::new(slider.axis(JointAxis::AlongX), -0.5, 0.0131);
    let limit = limit.compliance(held);
    let stepper = Compliant::new(scene).unwrap().time_step(dt);
    let mut stepper = stepper.term(slide).term(slider).term(limit);
    let run = stepper
        .integrate(&Start::at(0.0).q(&q).v(&v), 0.08)
        .unwrap();
    -run.completed().unwrap().state()[14 + 10]
}

/// A stop at a lever comes back with much more than one in line, unless it and its joints are stiffer.
#[test]
fn a_stop_at_a_lever_gives_way() {
    for dt in [1e-2, 1e-3] {
        let usual = |lever: f64| comes_back(80.0, lever, dt, Compliance::default());
        let stiff = comes_back(
            80.0,
            0.3,
            dt,
            Compliance {
                near_rigid: 0.01,
                ..Compliance::default()
            },
        );
        assert!((0.0..0.02).contains(&usual(0.0)), "{dt}: {}", usual(0.0));
        assert!((0.2..0.4).contains(&usual(0.3)), "{dt}: {}", usual(0.3));
        assert!((0.0..0.02).contains(&stiff), "{dt}: {stiff}");
    }
}
