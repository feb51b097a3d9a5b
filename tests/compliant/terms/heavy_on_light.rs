//! Heavy bodies on light ones that joints hold: chains under a load, and blows through a light foot.

use saltation::bodies::{Anchor, Body, Joint, JointAxis, Scene, Shape};
use saltation::compliant::JointLimit;
use saltation::{Compliant, Doubt, Run, Start};

use crate::random::SplitMix64;

const G: f64 = 9.81;

/// A ball on light links in a row, let go at an angle; the radius and the length of a link.
struct Chain {
    links: u32,
    length: f64,
    link: f64,
    ball: f64,
    angle: f64,
}

impl Chain {
    /// The distance of its end from its top.
    fn reach(&self) -> f64 {
        self.length * (f64::from(self.links) + 0.5)
    }

    /// The run, and the farthest that the ball gets.
    fn run(&self, dt: f64, time: f64) -> (Run, f64) {
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
            stepper = stepper.term(Joint::ball(end(k, 0.5 * l), above));
        }
        let start = Start::at(0.0).q(&q).v(&v);
        let run = stepper.integrate(&start, time).unwrap();
        let distance = |k: usize| {
            let [x, y, z] = scene.position(last, run.q(k)).unwrap().into();
            f64::hypot(x, y).hypot(z)
        };
        let farthest = (0..run.times().len()).map(distance).fold(0.0, f64::max);
        (run, farthest)
    }
}

fn is_told(run: &Run) -> bool {
    let is_apart = |doubt: &Doubt| matches!(doubt, Doubt::Apart { .. });
    run.doubts().iter().any(is_apart)
}

#[test]
fn a_load_on_links_that_are_too_light_for_the_step_is_told() {
    let chain = Chain {
        links: 3,
        length: 0.1,
        link: 0.01,
        ball: 1.0,
        angle: 0.3,
    };
    for dt in [0.01, 0.005, 0.002] {
        let (run, farthest) = chain.run(dt, 3.0);
        // 10 ms are too long: it throws its joints apart.
        let is_long = dt > 0.006;
        assert_eq!(is_told(&run), is_long, "{dt}: {:?}", run.doubts());
        let stretched = farthest / chain.reach() - 1.0;
        assert_eq!(stretched > 0.01, is_long, "{dt}: {stretched}");
    }
}

/// A chain that grows by a tenth or more says so, and below half of the border of the guide none does.
#[test]
fn random_chains_hold_or_say_that_they_do_not() {
    let cases = if cfg!(debug_assertions) { 12 } else { 300 };
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
        };
        let (run, farthest) = chain.run(0.01, 3.0);
        let stretched = farthest / chain.reach() - 1.0;
        let number = 0.01 * (chain.ball * G / (chain.link * chain.length)).sqrt();
        let what = format!("{case}: {number} {stretched} {:?}", run.doubts());
        assert!(stretched < 0.1 || is_told(&run), "{what}");
        // Links of the weight of the load whip.
        let is_taut = chain.ball > 30.0 * chain.link;
        assert!(
            number > 0.25 || !is_taut || (stretched < 0.02 && !is_told(&run)),
            "{what}"
        );
        told += u64::from(is_told(&run));
    }
    assert!(told > 0 && told < cases, "{told}");
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
