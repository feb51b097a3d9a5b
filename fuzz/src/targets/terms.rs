//! Joints, limits and motors of the compliant driver: any parameters, two bodies of a scene.

use saltation::bodies::{
    Anchor, Body, DistanceJoint, FreeBody, Frozen, Joint, JointAxis, Kinematic, Pose, Scene, Shape,
};
use saltation::compliant::{
    Axis, AxisState, Compliance, Gliding, JointCoupling, JointFriction, JointLimit, Motor,
    MotorGoal, RigidPair, StepTerm,
};
use saltation::mechanics::{ContactSource, TreeBody};
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
        let [a, b] = anchors;
        let joint = joint(&mut draw, a, b).compliance(soft).turning(soft);
        let joint = match draw.chance(0.5) {
            true => trial.door("placed", joint.as_placed(&q)).unwrap_or(joint),
            false => joint,
        };
        let axis = if draw.chance(0.5) {
            let (body, along) = (draw.below(2), draw.below(3));
            match draw.chance(0.8) {
                true => Axis::new(7 * body + along, 6 * body + 3 + along),
                false => Axis::new(draw.below(15), draw.below(13)),
            }
        } else {
            joint.axis(one_of_six(&mut draw))
        };
        let read: Option<AxisState> = trial.door("read", axis.read(stepper.system(), &q, &v));
        trial.note("axis", &read.map(|now| (now.position, now.velocity)));
        let rigid: Option<RigidPair> = joint.rigid_pair();
        trial.note("rigid", &rigid.map(|pair| pair.position));
        stepper = match draw.below(8) {
            0 => stepper.term(JointLimit::new(axis, draw.number(), draw.number()).compliance(soft)),
            1 => stepper.term(JointFriction::new(axis, draw.number()).stiction(draw.positive())),
            2 => stepper.term(motor(&mut draw, axis)),
            3 => {
                let other = joint.axis(one_of_six(&mut draw));
                let parts = [(axis, draw.number()), (other, draw.number())];
                stepper.term(JointCoupling::new(&parts, draw.number()).compliance(soft))
            }
            4 => {
                let rod = DistanceJoint::new(a, b, draw.positive()).compliance(soft);
                stepper.term(if draw.chance(0.5) { rod.rope() } else { rod })
            }
            6 => {
                let (speed, turn) = ([(); 3].map(|()| draw.number()), draw.number());
                let path = move |t: f64| Pose::new(speed.map(|v| v * t), [1.0, t * turn, 0.0, 0.0]);
                stepper.term(Kinematic::new(draw.below(3), path))
            }
            5 => {
                let mut frozen = Frozen::new(draw.below(3), &[one_of_six(&mut draw)]);
                if draw.chance(0.5) {
                    frozen.set(&[one_of_six(&mut draw), one_of_six(&mut draw)]);
                }
                stepper.term(frozen)
            }
            _ => stepper.term(joint),
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
        if draw.chance(0.1) {
            trial.door("remove", stepper.remove_term(draw.below(4)));
        }
        let body: Option<TreeBody> = stepper.system().body_of_tree(draw.below(4));
        trial.note("body", &body.map(|body| (body.number, body.size)));
        let impulses = stepper.term_impulses(draw.below(3)).unwrap_or_default();
        let joint = joint(&mut draw, anchors[0], anchors[1]);
        trial.door("efforts", joint.efforts(impulses, 0.01));
        let problem = stepper.problem();
        trial.note("energy", &problem.elastic_energy());
        trial.note("velocity", &problem.contact_velocity(0, stepper.v()));
        let gliding: Option<Gliding> = stepper.solution().gliding(problem, 0);
        trial.note("gliding", &gliding);
    }
}

fn anchor(draw: &mut Draw, trial: &mut Trial, scene: &Scene) -> Anchor {
    let point = [(); 3].map(|()| draw.number());
    let anchor = match draw.below(3) {
        0 => Anchor::world(point),
        1 => Anchor::on(FreeBody::from(draw.below(3)), point),
        _ => {
            let of = trial.door("anchor", Anchor::of(scene, draw.below(4), point));
            of.unwrap_or(Anchor::world(point))
        }
    };
    match draw.below(3) {
        0 => anchor,
        1 => anchor.along([(); 3].map(|()| draw.number())),
        _ => anchor.turned([(); 4].map(|()| draw.number())),
    }
}

fn one_of_six(draw: &mut Draw) -> JointAxis {
    match draw.below(6) {
        0 => JointAxis::AlongX,
        1 => JointAxis::AlongY,
        2 => JointAxis::AlongZ,
        3 => JointAxis::AboutX,
        4 => JointAxis::AboutY,
        _ => JointAxis::AboutZ,
    }
}

fn joint(draw: &mut Draw, a: Anchor, b: Anchor) -> Joint {
    match draw.below(7) {
        0 => Joint::weld(a, b),
        1 => Joint::hinge(a, b),
        2 => Joint::slider(a, b),
        3 => Joint::cylindrical(a, b),
        4 => Joint::planar(a, b),
        5 => Joint::ball(a, b),
        _ => Joint::weld(a, b)
            .free(one_of_six(draw))
            .hold(one_of_six(draw))
            .free(one_of_six(draw)),
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
