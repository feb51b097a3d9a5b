//! Joints, limits and motors of the compliant driver: any parameters, two bodies of a scene.

use saltation::bodies::{Anchor, BallJoint, Body, DistanceJoint, FreeBody, Scene, Shape, Weld};
use saltation::compliant::{
    Axis, Compliance, Gliding, JointCoupling, JointFriction, JointLimit, Motor, MotorGoal,
};
use saltation::{Compliant, Start};

use crate::draw::Draw;
use crate::trial::Trial;

pub fn run(mut draw: Draw, trial: &mut Trial) {
    let mut scene = Scene::new();
    let Ok(shape) = Shape::cuboid([0.1, 0.2, 0.1]) else {
        return;
    };
    for body in [
        Body::fixed(Shape::plane()),
        Body::new(shape.clone()).position([0.0, 0.0, 0.1]),
        Body::new(shape).position([0.3, 0.0, 0.3]),
    ] {
        trial.door("body", scene.add(body));
    }
    let (q, v) = scene.start();
    let anchors = [(); 2].map(|()| anchor(&mut draw, trial, &scene));
    let Some(mut stepper) = trial.door("stepper", Compliant::new(scene)) else {
        return;
    };
    for _ in 0..draw.whole(1, 3) {
        let soft = Compliance {
            stiffness: draw.positive(),
            dissipation_time: draw.part(),
            near_rigid: draw.part(),
        };
        let axis = Axis {
            coordinate: draw.below(15),
            velocity: draw.below(13),
        };
        let [a, b] = anchors;
        stepper = match draw.below(7) {
            0 => stepper.term(JointLimit::new(axis, draw.number(), draw.number()).compliance(soft)),
            1 => stepper.term(JointFriction::new(axis, draw.number()).stiction(draw.positive())),
            2 => stepper.term(motor(&mut draw, axis)),
            3 => {
                let parts = [(axis, draw.number()), (Axis::from(1), draw.number())];
                stepper.term(JointCoupling::new(&parts, draw.number()).compliance(soft))
            }
            4 => stepper.term(BallJoint::new(a, b).compliance(soft)),
            5 => {
                let rod = DistanceJoint::new(a, b, draw.positive()).compliance(soft);
                stepper.term(if draw.chance(0.5) { rod.rope() } else { rod })
            }
            _ => match trial.door("weld", Weld::as_placed(a, b, &q)) {
                Some(weld) if draw.chance(0.5) => stepper.term(weld.compliance(soft).turning(soft)),
                _ => {
                    let turn = [(); 4].map(|()| draw.number());
                    stepper.term(Weld::new(a, b).orientation(turn))
                }
            },
        };
    }
    if trial
        .door("start", stepper.start(&Start::at(0.0).q(&q).v(&v)))
        .is_none()
    {
        return;
    }
    for _ in 0..3 {
        if let Some(motor) = stepper.term_mut::<Motor>(0) {
            motor.set_goal(goal(&mut draw));
        }
        if trial.door("step", stepper.step()).is_none() {
            return;
        }
        trial.finite("q", stepper.q());
        trial.finite("v", stepper.v());
        let problem = stepper.problem();
        trial.note("energy", &problem.elastic_energy());
        trial.note("velocity", &problem.contact_velocity(0, stepper.v()));
        let gliding: Option<Gliding> = stepper.solution().gliding(problem, 0);
        trial.note("gliding", &gliding);
    }
}

fn anchor(draw: &mut Draw, trial: &mut Trial, scene: &Scene) -> Anchor {
    let point = [(); 3].map(|()| draw.number());
    match draw.below(3) {
        0 => Anchor::world(point),
        1 => Anchor::on(FreeBody::from(draw.below(3)), point),
        _ => {
            let of = trial.door("anchor", Anchor::of(scene, draw.below(4), point));
            of.unwrap_or(Anchor::world(point))
        }
    }
}

fn goal(draw: &mut Draw) -> MotorGoal {
    MotorGoal {
        position: draw.number(),
        velocity: draw.number(),
        effort: draw.number(),
    }
}

fn motor(draw: &mut Draw, axis: Axis) -> Motor {
    let motor = Motor::new(axis).gains(draw.positive(), draw.part());
    let motor = motor.effort_limit(draw.positive()).goal(goal(draw));
    if draw.chance(0.5) {
        return motor.near_rigid(draw.part());
    }
    let goal = goal(draw);
    motor.follow(move |_| goal)
}
