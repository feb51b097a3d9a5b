//! The bodies of a scene as a page draws them, and the forces of the compliant driver on them.

use std::collections::BTreeSet;
use std::io::{self, Write};

use nalgebra::Vector3;

use super::film::Film;
use super::made_again::Again;
use super::marks::Mark;
use super::pack::{write_list, write_numbers};
use super::pen::{Drawing, Pen};
use crate::bodies::{Scene, ShapeKind};
use crate::compliant::CompliantFailure;
use crate::mechanics::MechanicalSystem;
use crate::{Compliant, InputError, Run, validate};

/// Refuses a run that is not one of this scene.
pub(super) fn check(scene: &Scene, run: &Run) -> Result<(), InputError> {
    let size = scene.coordinates() + scene.dof();
    validate::length("state of the run of a scene", size, run.state().len())?;
    validate::length("q", scene.coordinates(), run.q(0).len())
}

/// Names of the entries of a state, of which the page makes one plot for each kind.
pub(super) fn names(scene: &Scene) -> Vec<String> {
    let bodies = (0..scene.len()).filter(|&body| scene.tree_of(body).is_some());
    let of_each = |entries: &[&str]| -> Vec<String> {
        let entries = |body| {
            entries
                .iter()
                .map(move |entry| format!("{entry}|body {body}"))
        };
        bodies.clone().flat_map(entries).collect()
    };
    let mut names = of_each(&["x [m]", "y [m]", "z [m]", "qw", "qx", "qy", "qz"]);
    names.extend(of_each(&[
        "ωx [rad/s]",
        "ωy [rad/s]",
        "ωz [rad/s]",
        "vx [m/s]",
        "vy [m/s]",
        "vz [m/s]",
    ]));
    names
}

/// All bodies: number, tree (of a fixed one its pose), shape.
pub(super) fn write_bodies(scene: &Scene, out: &mut dyn Write) -> io::Result<()> {
    let (q, _) = scene.start();
    let bodies = (0..scene.len()).filter_map(|i| Some((i, scene.body(i)?, scene.pose(i, &q)?)));
    write_list(out, bodies, |out, (number, body, pose)| {
        write!(out, "{{\"number\":{number},")?;
        if let Some(tree) = scene.tree_of(number) {
            write!(out, "\"tree\":{tree},")?;
        } else {
            let at: [f64; 3] = pose.position().into();
            let [w, x, y, z] = pose.quaternion();
            out.write_all(b"\"pose\":")?;
            write_numbers(out, &[at[0], at[1], at[2], w, x, y, z])?;
            out.write_all(b",")?;
        }
        match body.shape().kind() {
            ShapeKind::Sphere { radius } => write!(out, "\"sphere\":{radius:?}}}"),
            ShapeKind::Box { half: [x, y, z] } => write!(out, "\"box\":[{x:?},{y:?},{z:?}]}}"),
            ShapeKind::Capsule {
                half_length,
                radius,
            } => write!(out, "\"capsule\":[{half_length:?},{radius:?}]}}"),
            ShapeKind::Plane => out.write_all(b"\"plane\":true}"),
            ShapeKind::Cylinder {
                half_length,
                radius,
            } => {
                let rims = [[-half_length, radius], [half_length, radius]];
                write_round(out, rims)
            }
            // The foot lies a quarter of the height below the centre of mass.
            ShapeKind::Cone { height, radius } => {
                write_round(out, [[-0.25 * height, radius], [0.75 * height, 0.0]])
            }
            #[cfg(feature = "parry")]
            ShapeKind::Parry => {
                let mesh = body.shape().triangles();
                write_triangles(out, mesh.points, mesh.faces)
            }
        }
    })
}

/// Sides of what is round about an axis.
const SIDES: u32 = 24;

/// Two rims about the z axis, each with its height and radius, joined by triangles and closed.
fn write_round(out: &mut dyn Write, rims: [[f64; 2]; 2]) -> io::Result<()> {
    let turn = |k: u32| std::f64::consts::TAU * f64::from(k) / f64::from(SIDES);
    let middles = rims.iter().map(|[z, _]| [0.0, 0.0, *z]);
    let rims = rims.iter().flat_map(|[z, radius]| {
        (0..SIDES).map(move |k| [radius * turn(k).cos(), radius * turn(k).sin(), *z])
    });
    let faces = (0..SIDES).flat_map(|k| {
        // Middles are points 0 and 1; then the lower rim, then the upper one.
        let (a, b) = (2 + k, 2 + (k + 1) % SIDES);
        let (c, d) = (a + SIDES, b + SIDES);
        [[0, b, a], [1, c, d], [a, b, d], [a, d, c]]
    });
    write_triangles(out, middles.chain(rims), faces)
}

fn write_triangles(
    out: &mut dyn Write,
    points: impl IntoIterator<Item = [f64; 3]>,
    faces: impl IntoIterator<Item = [u32; 3]>,
) -> io::Result<()> {
    out.write_all(b"\"points\":")?;
    write_list(out, points, |out, point| write_numbers(out, &point))?;
    out.write_all(b",\"faces\":")?;
    write_list(out, faces, |out, [a, b, c]| write!(out, "[{a},{b},{c}]"))?;
    out.write_all(b"}")
}

/// Takes the contact forces of a run at its samples, and gives the samples at which bodies touch that
/// did not before, or part. The forces are those of the step in which a sample lies, which is made
/// once more from the node at its start.
pub(super) fn forces(
    stepper: &Compliant<Scene>,
    run: &Run,
    film: &Film,
    drawing: &mut Drawing,
) -> Result<Vec<Mark>, CompliantFailure> {
    let mut again = Again::of(stepper, run);
    let (times, last) = (run.times(), run.times().len().saturating_sub(1));
    let mut marks = Vec::new();
    let (mut pen, mut made) = (Pen::default(), None);
    let mut before: Option<Pairs> = None;
    for (k, &t) in film.times.iter().enumerate() {
        // The end of the run is that of its last step.
        let after = times.partition_point(|&start| start <= t).min(last);
        let node = after.saturating_sub(1);
        if node >= times.len() {
            break;
        }
        if made != Some(node) {
            let dt = again.step_from(node)?;
            let pairs;
            (pen, pairs) = of_step(&again.stepper, run.q(node), dt);
            marks.extend(before.and_then(|before| change(t, &before, &pairs)));
            (before, made) = (Some(pairs), Some(node));
        }
        drawing.add(k, pen.clone())?;
    }
    Ok(marks)
}

/// Pairs of bodies that press on each other.
type Pairs = BTreeSet<(usize, usize)>;

/// The forces on bodies A of the contacts of the last step, which began at coordinates `q` and took
/// `dt`.
fn of_step(stepper: &Compliant<Scene>, q: &[f64], dt: f64) -> (Pen, Pairs) {
    let (mut pen, mut pairs) = (Pen::default(), Pairs::new());
    let (scene, contacts) = (stepper.system(), stepper.contacts());
    let impulses = stepper.solution().impulses().iter();
    for (i, (contact, impulse)) in contacts.all_parameters().iter().zip(impulses).enumerate() {
        let pair = scene.contact_of(contact.contact);
        let place = scene.place_of(contacts, i, q);
        let (Some((a, b, _)), Some((point, directions))) = (pair, place) else {
            continue;
        };
        if impulse[0] == 0.0 {
            continue;
        }
        let along = directions.iter().zip(impulse);
        let force: Vector3<f64> = along.map(|(along, part)| along * (part / dt)).sum();
        pen.force(point.into(), force.into());
        pairs.insert((a.min(b), a.max(b)));
    }
    (pen, pairs)
}

/// The mark of a sample at which bodies touch or part.
fn change(t: f64, before: &Pairs, now: &Pairs) -> Option<Mark> {
    let list = |what: &str, pairs: &mut dyn Iterator<Item = &(usize, usize)>| {
        pairs.fold(String::new(), |text, (a, b)| {
            let separator = if text.is_empty() { "" } else { ", " };
            format!("{text}{separator}{a} and {b} {what}")
        })
    };
    let touch = list("touch", &mut now.difference(before));
    let part = list("part", &mut before.difference(now));
    let kind = if touch.is_empty() {
        "released"
    } else {
        "closed"
    };
    let separator = if touch.is_empty() || part.is_empty() {
        ""
    } else {
        "; "
    };
    (now != before).then(|| Mark {
        t,
        kind,
        text: format!("{t:.4} s: bodies {touch}{separator}{part}"),
    })
}
