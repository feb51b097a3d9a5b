//! A sphere slides, rolls, and rolls down an incline (spec 10.5).

use saltation::bodies::{Body, Scene, Shape};
use saltation::compliant::{Region, Solver, StepFriction};
use saltation::{Compliant, Start};

use crate::reference_rows;

const RADIUS: f64 = 0.05;
const GRAVITY: f64 = 9.81;

/// A sphere on a plane at its static depth: `v` along `x`, its spin about `y`.
struct Ball {
    stepper: Compliant<Scene>,
    /// First end of a step in stiction (s).
    sticks: Option<f64>,
}

impl Ball {
    fn new((friction, slope): (f64, f64), speed: f64, dt: f64) -> Self {
        let mass = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3);
        let mut scene = Scene::new();
        let gravity = [GRAVITY * slope.sin(), 0.0, -GRAVITY * slope.cos()];
        scene.gravity(gravity).expect("gravity");
        scene
            .add(Body::fixed(Shape::plane()).friction(friction))
            .expect("a plane");
        let body = Body::new(Shape::sphere(RADIUS).expect("a sphere"));
        let body = body.friction(friction).stiffness(1e5);
        let depth = mass * GRAVITY * slope.cos() / 1e5;
        let body = body.dissipation_time(0.01).velocity([speed, 0.0, 0.0]);
        scene
            .add(body.position([0.0, 0.0, RADIUS - depth]))
            .expect("a ball");
        let (q, v) = scene.start();
        let stepper = Compliant::new(scene)
            .expect("a system")
            .time_step(dt)
            .friction(StepFriction::Cone);
        let mut stepper = stepper.solver(Solver::new().rtol(1e-13));
        stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("a start");
        Self {
            stepper,
            sticks: None,
        }
    }

    fn run(mut self, steps: u32) -> Self {
        for _ in 0..steps {
            self.stepper.step().expect("a step");
            if self.sticks.is_none() && self.stepper.solution().regions() == [Region::Stiction] {
                self.sticks = Some(self.stepper.t());
            }
        }
        self
    }

    fn speed(&self) -> f64 {
        self.stepper.v()[3]
    }

    fn spin(&self) -> f64 {
        self.stepper.v()[1]
    }

    fn slip(&self) -> f64 {
        self.speed() - RADIUS * self.spin()
    }
}

/// The number of steps of a run.
fn steps(row: &reference_rows::Row) -> u32 {
    let steps = row.number("T") / row.number("dt");
    (0..=1000)
        .find(|n| (f64::from(*n) - steps).abs() < 0.5)
        .expect("few steps")
}

#[test]
fn every_row_of_slide_to_roll_is_met() {
    for row in reference_rows::of("rolling", "slide to roll") {
        match row.quantity.as_str() {
            "rolling_starts" => row.is(2.0 / (7.0 * 0.3 * GRAVITY)),
            // At rest until rolling starts, at 5/7 then.
            "x_at_T" if row.is_limit() => {
                let start: f64 = 2.0 / (7.0 * 0.3 * GRAVITY);
                row.is(start - 0.15 * GRAVITY * start * start + 5.0 / 7.0 * (0.6 - start));
            }
            quantity => {
                let mu = row.number("mu");
                let ball = Ball::new((mu, 0.0), 1.0, row.number("dt")).run(steps(&row));
                row.is(match quantity {
                    "v_end" => ball.speed(),
                    "first_step_in_stiction_time" => ball.sticks.expect("rolls"),
                    "x_at_T" => ball.stepper.q()[0],
                    other => panic!("{other}"),
                });
            }
        }
    }
}

#[test]
fn every_row_of_rolling_down_is_met() {
    for row in reference_rows::of("rolling", "incline") {
        let ball = Ball::new((row.number("mu"), 0.5_f64.atan()), 0.0, row.number("dt"));
        let ball = ball.run(steps(&row));
        let law = ball.stepper.problem().law(0).expect("a contact");
        row.is(match row.quantity.as_str() {
            "v_at_T" => ball.speed(),
            "slip_speed" => ball.slip(),
            "w" => law.tangential / 1e-3,
            other => panic!("{other}"),
        });
    }
}

/// With less friction than `2/7 tan α` it slides while it turns, with both accelerations constant
/// once the cushion has formed.
#[test]
fn with_little_friction_the_ball_slides_and_turns() {
    let (slope, friction, dt) = (0.5_f64.atan(), 0.1, 0.01);
    let ball = Ball::new((friction, slope), 0.0, dt).run(99);
    let before = (ball.speed(), ball.spin());
    let ball = ball.run(1);
    assert_eq!(ball.sticks, None);
    let rate = (ball.speed() - before.0) / dt;
    let exact = GRAVITY * (slope.sin() - friction * slope.cos());
    assert!((rate / exact - 1.0).abs() < 1e-9, "{rate}");
    let turning = (ball.spin() - before.1) / dt;
    let exact = 2.5 * friction * GRAVITY * slope.cos() / RADIUS;
    assert!((turning / exact - 1.0).abs() < 1e-9, "{turning}");
}
