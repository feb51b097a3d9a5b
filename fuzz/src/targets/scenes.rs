//! Scenes of rigid bodies: shapes, poses, contact points, scenes in drivers.

use saltation::bodies::parry::glamx::DVec3;
use saltation::bodies::parry::math::Pose as Placed;
use saltation::bodies::parry::shape::{SharedShape, TriMesh};
use saltation::bodies::{
    Body, CAPACITY, FixedContacts, FreeContact, Manifold, ManifoldPoint, Pose, Query, QueryMemory,
    Ray, RayHit, Scene, Shape, ShapeKind, contact_point, contact_points,
};
use saltation::compliant::{Checkpoint, Problem, RowLaw, StepState, StepTerm};
use saltation::mechanics::{
    ContactParameters, Contacts, MechanicalSystem, Reach, UnilateralConstraints,
};
use saltation::models::SpringCylinder;
use saltation::nalgebra::Vector3;
use saltation::{Compliant, InputError, Page, Start};

use super::kept::written_page;
use crate::draw::Draw;
use crate::trial::Trial;

fn vector(draw: &mut Draw) -> DVec3 {
    DVec3::new(draw.part(), draw.part(), draw.part())
}

/// A prism with up to eight sides.
fn hull(draw: &mut Draw, trial: &mut Trial) -> Option<SharedShape> {
    let (sides, height) = (draw.whole(3, 8), 0.01 + draw.part().abs());
    let corners: Vec<DVec3> = (0..2 * sides)
        .map(|k| {
            let (sin, cos) = (k as f64 / sides as f64 * std::f64::consts::TAU).sin_cos();
            DVec3::new(cos, sin, if k < sides { 0.0 } else { height })
        })
        .collect();
    trial.note("corners", &corners);
    SharedShape::convex_hull(&corners)
}

fn shape(draw: &mut Draw, trial: &mut Trial) -> Option<Shape> {
    let made = match draw.below(7) {
        0 => Shape::sphere(draw.positive()),
        1 => Shape::cuboid([draw.positive(), draw.positive(), draw.positive()]),
        2 => Shape::capsule(draw.part(), draw.positive()),
        3 => {
            // parry3d_f64 panics at lengths below zero, in constructors that are its own
            let (l, r) = (draw.positive().abs(), draw.positive().abs());
            Shape::parry(match draw.below(7) {
                0 => SharedShape::cylinder(l, r),
                1 => SharedShape::cone(l, r),
                2 => SharedShape::round_cuboid(l, r, r, 0.1 * l),
                3 => hull(draw, trial)?,
                4 => {
                    let place = DVec3::new(draw.part(), draw.part(), draw.number());
                    let parts = [SharedShape::cuboid(l, r, l), SharedShape::ball(r)];
                    let places = [Placed::identity(), Placed::from_translation(place)];
                    SharedShape::compound(places.into_iter().zip(parts).collect())
                }
                5 => {
                    let corners = [(); 4].map(|()| vector(draw));
                    let faces = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
                    let mesh = TriMesh::new(corners.to_vec(), faces);
                    SharedShape::new(mesh.ok()?)
                }
                _ => SharedShape::cuboid(l, r, l),
            })
        }
        4 => Shape::cylinder(draw.part(), draw.positive()),
        5 => Shape::cone(draw.positive(), draw.positive()),
        _ => Ok(Shape::plane()),
    };
    let shape = trial.door("shape", made)?;
    let kind: ShapeKind = shape.kind();
    trial.note("kind", &kind);
    trial.note(
        "measures",
        &(shape.volume(), shape.inertia(), shape.bounding_radius()),
    );
    let frame = shape.frame();
    trial.note(
        "frame",
        &(frame.inverse().quaternion(), frame.moved_by(&frame)),
    );
    Some(shape)
}

fn pose(draw: &mut Draw, trial: &mut Trial) -> Option<Pose> {
    let at = [draw.number(), draw.number(), draw.number()];
    let turn = [draw.number(), draw.number(), draw.number(), draw.number()];
    trial.door("pose", Pose::new(at, turn))
}

/// Contact points of two shapes, and each of them found again.
fn pair(draw: &mut Draw, trial: &mut Trial) {
    let (Some(a), Some(b)) = (shape(draw, trial), shape(draw, trial)) else {
        return;
    };
    let (Some(at_a), Some(at_b)) = (pose(draw, trial), pose(draw, trial)) else {
        return;
    };
    let point = Vector3::new(draw.part(), draw.part(), draw.part());
    let there = at_a.to_world(point);
    trial.note("there", &(there, at_a.to_body(there)));
    trial.note(
        "turned",
        &(at_a.rotation(), at_b.position(), Pose::identity()),
    );
    let mut manifold = Manifold::new();
    let found = contact_points((&a, &at_a), (&b, &at_b), draw.number(), &mut manifold);
    trial.door("contact points", found);
    trial.note("points", manifold.points());
    let parry = [&a, &b]
        .iter()
        .any(|shape| shape.kind() == ShapeKind::Parry);
    trial.expect(parry || manifold.points().len() <= CAPACITY, || {
        "too many points".to_owned()
    });
    for point in manifold.points() {
        let again: Option<ManifoldPoint> = contact_point((&a, &at_a), (&b, &at_b), point.feature);
        trial.note("again", &again);
        if draw.is_tame() {
            let size = point.on_a.norm() + point.on_b.norm() + 1.0;
            let gap = point.normal.dot(&(point.on_a - point.on_b));
            let fits = (gap - point.gap).abs() < 1e-9 * size;
            let unit = (point.normal.norm() - 1.0).abs() < 1e-9;
            trial.expect(fits && unit, || format!("a point is not one: {point:?}"));
        }
    }
}

fn body(draw: &mut Draw, trial: &mut Trial) -> Option<Body> {
    let shape = shape(draw, trial)?;
    let plane = matches!(shape.kind(), ShapeKind::Plane);
    let mut body = if plane || draw.chance(0.1) {
        Body::fixed(shape)
    } else {
        Body::new(shape)
    };
    body = body
        .position([draw.part(), draw.part(), draw.part()])
        .velocity([draw.part(), draw.part(), draw.part()])
        .angular_velocity([draw.part(), draw.part(), draw.number()])
        .friction(draw.part());
    if draw.chance(0.5) {
        body = body.density(draw.positive());
    }
    if draw.chance(0.2) {
        let moments = [draw.positive(), draw.positive(), draw.positive()];
        body = body.mass(draw.positive(), moments);
    }
    if draw.chance(0.5) {
        body = body.orientation([draw.number(), draw.number(), draw.number(), draw.number()]);
    }
    if draw.chance(0.1)
        && let Some(frame) = pose(draw, trial)
    {
        body = body.placed(&frame);
    }
    if draw.chance(0.3) {
        body = body
            .stiffness(draw.positive())
            .dissipation_time(draw.part())
            .near_rigid(draw.positive())
            .stiction(draw.positive());
    }
    if draw.chance(0.3) {
        body = body.restitution(draw.part().abs());
    }
    if draw.chance(0.3) {
        body = body
            .spinning_friction(draw.part().abs())
            .rolling_friction(draw.part().abs());
    }
    if draw.chance(0.3) {
        let groups = |draw: &mut Draw| 1 << draw.below(3) | 1 << draw.below(3);
        body = body.groups(groups(draw)).touching(groups(draw));
    }
    trial.note("body", &(body.is_fixed(), body.shape()));
    Some(body)
}

/// Holds a velocity.
struct Held(f64);

impl StepTerm for Held {
    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        let law = RowLaw {
            regularisation: self.0,
            target: state.t + state.dt,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
        };
        problem.add_row(law, &[(0, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0])])?;
        Ok(())
    }
}

/// A contact that is given by its point and its normal.
fn free_contact(draw: &mut Draw, trial: &mut Trial) {
    let mut vector = || [draw.number(), draw.number(), draw.number()];
    let (point, normal, one, two) = (vector(), vector(), vector(), vector());
    let scale = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
    let normal = if draw.chance(0.7) {
        normal.map(|x| x / scale)
    } else {
        normal
    };
    let mut parameters = ContactParameters::new(draw.size(9), draw.number());
    if draw.chance(0.3) {
        parameters.spinning_friction = draw.part();
    }
    let contact = FreeContact {
        parameters,
        point,
        normal,
        a: (draw.size(3), one),
        b: draw.chance(0.5).then(|| (draw.size(3), two)),
    };
    let mut contacts = Contacts::new();
    if contacts.reset(18, draw.below(3)).is_ok() {
        let count = trial
            .door("contact", contact.push(&mut contacts))
            .map_or(0, |()| 1);
        trial.expect(contacts.len() == count, || "half a contact".to_owned());
        let v = vec![draw.number(); draw.below(20)];
        let velocities = [&*v];
        let mut step = Reach::new(&velocities, draw.number(), draw.number());
        step.cushions = draw.chance(0.5);
        contacts.keep_last_if_reachable(&step);
        trial.expect(contacts.len() <= count, || "more contacts".to_owned());
    }
}

fn look(trial: &mut Trial, scene: &Scene, (q, v): (&[f64], &[f64])) {
    for number in 0..scene.len() + 1 {
        trial.note(
            "body of the scene",
            &(
                scene.pose(number, q),
                scene.position(number, q),
                scene.velocity(number, v),
                scene.frame(number, q),
            ),
        );
        let of = (scene.tree_of(number), scene.mass_of(number));
        trial.note("tree and mass", &(of, scene.contact_of(number)));
    }
    trial.note("energy", &scene.kinetic_energy(q, v));
    let mut contacts = Contacts::new();
    trial.result("overlap", scene.deepest_overlap(q, &mut contacts));
    if let Some(fixed) = trial.door("fixed contacts", scene.fixed_contacts()) {
        let fixed: FixedContacts = fixed;
        let count = fixed.contacts().min(20);
        for j in 0..count {
            trial.note("gap", &(fixed.number(j), fixed.gap(j, q)));
        }
        trial.note("bodies", &fixed.scene().len());
    }
}

/// Distances, overlaps and rays.
fn ask(draw: &mut Draw, trial: &mut Trial, scene: &Scene, q: &[f64]) {
    let mut memory = QueryMemory::new();
    let Some(query) = trial.door("query", scene.query(q, &mut memory)) else {
        return;
    };
    let query: Query<'_> = query;
    let pairs = [[draw.size(8), draw.size(8)], [draw.size(8), 0]];
    let (mut distances, mut bodies, mut hits) = (Vec::new(), Vec::new(), Vec::new());
    trial.door("distances", query.distances(&pairs, &mut distances));
    trial.note("closest", &distances);
    trial.door("overlaps", query.overlaps(draw.size(8), &mut bodies));
    trial.note("overlapping", &bodies);
    let rays: Vec<Ray> = (0..draw.below(4))
        .map(|_| {
            let mut vector = || [draw.number(), draw.number(), draw.number()];
            let ray = Ray::new(vector(), vector());
            let ray = if draw.chance(0.5) {
                ray.length(draw.positive())
            } else {
                ray
            };
            if draw.chance(0.2) {
                ray.ignoring(draw.size(8))
            } else {
                ray
            }
        })
        .collect();
    trial.note("rays", &rays);
    trial.door("cast", query.cast(&rays, &mut hits));
    for hit in hits.iter().flatten() {
        let hit: &RayHit = hit;
        trial.note("hit", hit);
        trial.expect(hit.distance >= 0.0 && hit.body < scene.len(), || {
            format!("a hit is none: {hit:?}")
        });
    }
}

pub fn run(mut draw: Draw, trial: &mut Trial) {
    trial.note("frequency", &SpringCylinder::default().frequency());
    if draw.chance(0.4) {
        pair(&mut draw, trial);
        return;
    }
    free_contact(&mut draw, trial);
    let mut scene = Scene::new();
    if draw.chance(0.8) {
        let ground = scene.add(Body::fixed(Shape::plane()));
        trial.door("ground", ground);
    }
    for _ in 0..draw.whole(1, 6) {
        if let Some(body) = body(&mut draw, trial) {
            trial.result("added", scene.add(body));
        }
    }
    if draw.chance(0.2) {
        let gravity = [draw.number(), draw.number(), draw.number()];
        trial.door("gravity", scene.gravity(gravity));
        let (a, b) = (draw.size(8), draw.size(8));
        trial.door("ignored", scene.ignore(a, b));
        scene.middle_points(draw.chance(0.5));
    }
    let (q, v) = scene.start();
    look(trial, &scene, (&q, &v));
    ask(&mut draw.aside("queries"), trial, &scene, &q);
    let Some(mut stepper) = trial.door("stepper", Compliant::new(scene)) else {
        return;
    };
    if draw.chance(0.2) {
        stepper = stepper.term(Held(draw.positive()));
    }
    if trial
        .door("start", stepper.start(&Start::at(0.0).q(&q).v(&v)))
        .is_none()
    {
        return;
    }
    for _ in 0..draw.below(8) {
        let stepped = stepper.step();
        if trial.door("step", stepped).is_none() {
            return;
        }
        trial.finite("q", stepper.q());
        trial.finite("v", stepper.v());
        if draw.chance(0.2) {
            change(&mut draw.aside("changes"), trial, &mut stepper);
        }
    }
    if draw.chance(0.3) {
        taken_up(&mut draw.aside("taken up"), trial, &mut stepper);
    }
    let (q, v) = (stepper.q().to_vec(), stepper.v().to_vec());
    look(trial, stepper.system(), (&q, &v));
    trial.note("dof", &stepper.system().dof());
    seen(&mut draw, trial, &mut stepper);
}

/// A run that is taken up from plain data is the uncut run.
fn taken_up(draw: &mut Draw, trial: &mut Trial, stepper: &mut Compliant<Scene>) {
    let Some(stands) = trial.door("checkpoint", stepper.checkpoint()) else {
        return;
    };
    let mut other = stepper.clone();
    let Some(live) = trial.door("restored", other.restore(&stands)) else {
        return;
    };
    let saved: Option<Checkpoint> = trial.door("of", Checkpoint::of(&live.snapshot()));
    trial.expect(saved.as_ref() == Some(&stands), || {
        "another checkpoint".to_owned()
    });
    drop(live);
    trial.note("stands at", &stands.t());
    for _ in 0..draw.below(3) {
        let made = (stepper.step().is_ok(), other.step().is_ok());
        trial.expect(made.0 == made.1, || "one step is refused".to_owned());
    }
    let is_same = stepper.q() == other.q() && stepper.v() == other.v();
    trial.expect(is_same, || "a run that was taken up is another".to_owned());
}

/// Bodies come and go; what is refused changes nothing.
fn change(draw: &mut Draw, trial: &mut Trial, stepper: &mut Compliant<Scene>) {
    let number = draw.size(8);
    let (q, v) = (stepper.q().to_vec(), stepper.v().to_vec());
    let changed = match draw.below(5) {
        0 => trial.result("removed", stepper.remove_body(number)),
        1 => {
            let mut v = v.clone();
            v.truncate(v.len().saturating_sub(draw.below(2)));
            let mut scene = stepper.system().clone();
            trial.door("removed from the scene", scene.remove(number));
            let exchanged = stepper.exchange(scene, &q, &v).map(|_| ());
            trial.result("exchanged", exchanged)
        }
        which => {
            let Some(body) = body(draw, trial) else {
                return;
            };
            let mut scene = stepper.system().clone();
            trial.door("replaced", scene.replace(number, body.clone()));
            let changed = if which == 2 {
                stepper.replace_body(number, body)
            } else {
                stepper.add_body(body).map(|_| ())
            };
            trial.result("changed", changed)
        }
    };
    trial.expect(
        changed.is_some() || stepper.q() == q && stepper.v() == v,
        || "a refused change moves the bodies".to_owned(),
    );
}

/// A page of some more steps, with their forces.
fn seen(draw: &mut Draw, trial: &mut Trial, stepper: &mut Compliant<Scene>) {
    let (q, v) = (stepper.q().to_vec(), stepper.v().to_vec());
    let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 0.05);
    let Some(run) = trial.door("run", run) else {
        return;
    };
    let scene = stepper.system().clone();
    let page = Page::new(&run, draw.between(10.0, 200.0));
    let page = page.and_then(|page| page.scene(&scene));
    let Some(page) = trial.door("scene of a page", page) else {
        return;
    };
    if let Some(page) = trial.door("forces of a page", page.forces(stepper)) {
        written_page(trial, &page);
    }
}
