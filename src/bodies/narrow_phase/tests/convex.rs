//! A campaign of random pairs of convex shapes, rounded boxes among them, far from each other,
//! nearly aligned, touching and overlapping.
//!
//! The reference is brute force from definitions: the distance of two cores is the least over all
//! vertices of one against the other and all pairs of edges; the overlap is the least over all axes
//! that can be the shortest way out; no point sampled on one core is nearer to the other.

use nalgebra::{UnitQuaternion, Vector3};

use super::super::convex::{Convex, Core};
use super::super::feature::Two;
use super::super::{Manifold, ManifoldPoint, meet};
use super::{Draw, Vec3, deepest, moved};
use crate::bodies::Pose;

/// The pairs, in the order in which the narrow phase writes them.
const PAIRS: [[Core; 2]; 6] = [
    [Core::Point, Core::Point],
    [Core::Point, Core::Box],
    [Core::Segment, Core::Point],
    [Core::Segment, Core::Segment],
    [Core::Segment, Core::Box],
    [Core::Box, Core::Box],
];

/// A convex shape that owns its pose.
#[derive(Clone)]
struct Round {
    core: Core,
    half: Vec3,
    radius: f64,
    pose: Pose,
}

impl Round {
    fn draw(draw: &mut Draw, core: Core, radius: f64) -> Self {
        let half = match core {
            Core::Point => Vec3::zeros(),
            Core::Segment => Vec3::z() * draw.between(0.2, 1.0),
            _ => Vec3::from_fn(|_, _| draw.between(0.2, 1.0)),
        };
        let pose = draw.pose(Vec3::zeros());
        Self {
            core,
            half,
            radius,
            pose,
        }
    }

    fn convex(&self) -> Convex<'_> {
        Convex {
            core: self.core,
            half: self.half.into(),
            radius: self.radius,
            pose: &self.pose,
        }
    }

    fn at(&self, signs: Vec3) -> Vec3 {
        self.pose.to_world(self.half.component_mul(&signs))
    }

    /// Corners, those of a point and a segment several times.
    fn corners(&self) -> Vec<Vec3> {
        let sign = |bit: i32| if bit & 1 == 1 { -1.0 } else { 1.0 };
        let signs = (0..8).map(|v| Vec3::new(sign(v), sign(v >> 1), sign(v >> 2)));
        signs.map(|signs| self.at(signs)).collect()
    }

    /// Both ends of each edge.
    fn edges(&self) -> Vec<[Vec3; 2]> {
        let corners = self.corners();
        let pairs = (0..8).flat_map(|v| (0..3).map(move |k| (v, v ^ (1 << k))));
        let pairs = pairs.filter(|(v, w)| v < w);
        pairs.map(|(v, w)| [corners[v], corners[w]]).collect()
    }

    /// Distance of a point from the core.
    fn distance(&self, point: Vec3) -> f64 {
        let p = self.pose.to_body(point);
        Vec3::from_fn(|k, _| (p[k].abs() - self.half[k]).max(0.0)).norm()
    }

    /// Axes that may be normals of the core.
    fn axes(&self) -> Vec<Vec3> {
        let count = if self.core == Core::Box { 3 } else { 0 };
        (0..count).map(|k| self.pose.axis(k)).collect()
    }

    /// Directions of edges.
    fn directions(&self) -> Vec<Vec3> {
        let axes = (0..3).filter(|&k| self.half[k] > 0.0);
        axes.map(|k| self.pose.axis(k)).collect()
    }
}

/// The distance of two segments: of the lines where their closest points lie on both.
fn between_edges(first: [Vec3; 2], second: [Vec3; 2]) -> f64 {
    let (p, q, r) = (
        first[1] - first[0],
        second[1] - second[0],
        first[0] - second[0],
    );
    let (a, b, c) = (p.dot(&p), p.dot(&q), q.dot(&q));
    let (d, e) = (p.dot(&r), q.dot(&r));
    let determinant = a * c - b * b;
    if determinant <= 1e-14 * a * c {
        return f64::INFINITY;
    }
    let (s, t) = ((b * e - c * d) / determinant, (a * e - b * d) / determinant);
    let inside = (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t);
    if inside {
        (r + p * s - q * t).norm()
    } else {
        f64::INFINITY
    }
}

/// The distance of the cores; where they meet, minus the shortest way out.
fn core_distance(a: &Round, b: &Round) -> f64 {
    let vertices = a.corners().into_iter().map(|v| b.distance(v));
    let vertices = vertices.chain(b.corners().into_iter().map(|v| a.distance(v)));
    let of_b = b.edges();
    let edges = a.edges().into_iter();
    let edges = edges.flat_map(|i| of_b.iter().map(move |&j| between_edges(i, j)));
    let distance = vertices.chain(edges).fold(f64::INFINITY, f64::min);
    if a.core != Core::Box && b.core != Core::Box {
        return distance;
    }
    let overlap = best_axis(a, b);
    if overlap > 1e-9 { distance } else { overlap }
}

/// The largest separation of the cores along an axis of faces or across two edges.
fn best_axis(a: &Round, b: &Round) -> f64 {
    let (of_a, of_b) = (a.directions(), b.directions());
    let across = of_a.iter().flat_map(|i| of_b.iter().map(|j| i.cross(j)));
    let across = across.filter(|n| n.norm() > 1e-7).map(|n| n.normalize());
    let faces = a.axes().into_iter().chain(b.axes());
    let by = across.chain(faces).map(|normal| separation(a, b, normal));
    by.fold(f64::NEG_INFINITY, f64::max)
}

/// Separation of the cores along a direction, either way.
fn separation(a: &Round, b: &Round, normal: Vec3) -> f64 {
    let reach = |of: &Round| -> f64 {
        let local = of.pose.rotation().tr_mul(&normal);
        local.component_mul(&of.half).abs().sum()
    };
    let between = normal.dot(&(a.pose.position() - b.pose.position()));
    between.abs() - reach(a) - reach(b)
}

fn found(a: &Round, b: &Round, margin: f64) -> Vec<ManifoldPoint> {
    let mut manifold = Manifold::new();
    let (a, b) = (a.convex(), b.convex());
    meet::add(Two { a: &a, b: &b }, margin, &mut manifold);
    manifold.points().to_vec()
}

/// Two shapes: in any orientation, or turned from a common one by `turn`.
fn draw_pair(draw: &mut Draw, cores: [Core; 2], radii: [f64; 2], turn: Option<f64>) -> [Round; 2] {
    let [mut a, b] = [0, 1].map(|k| Round::draw(draw, cores[k], radii[k]));
    if let Some(turn) = turn {
        // Along one of the axes of B, up to the turn.
        let turned = UnitQuaternion::from_scaled_axis(draw.vector() * turn);
        let quarter = [Vec3::zeros(), Vec3::x(), Vec3::y()][(draw.index % 3) as usize];
        let quarter = UnitQuaternion::from_scaled_axis(quarter * std::f64::consts::FRAC_PI_2);
        let q = turned * quarter;
        let own = Pose::new([0.0; 3], [q.w, q.i, q.j, q.k]).unwrap();
        a.pose = own.moved_by(&b.pose);
    }
    // Moved apart along a direction, or an axis of B, until the cores are some way from each other.
    let along = match turn {
        Some(_) => b.pose.axis((draw.index / 3 % 3) as usize),
        None => draw.direction(),
    };
    let aside = draw.vector() * 0.5;
    let wanted = draw.between(-0.15, 0.3) + 0.5 * (radii[0] + radii[1]) * draw.symmetric();
    let [mut low, mut high] = [0.0, 6.0];
    let at = |shift: f64| moved(&a.pose, Vec3::zeros(), aside + along * shift);
    for _ in 0..25 {
        let middle = 0.5 * (low + high);
        let there = Round {
            pose: at(middle),
            ..a.clone()
        };
        if core_distance(&there, &b) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    a.pose = at(high);
    [a, b]
}

/// Counts of a campaign with one pair of kinds.
#[derive(Debug, Default)]
struct Tally {
    touching: usize,
    exact: usize,
    overlaps: usize,
    several: usize,
    empty: usize,
}

/// Holds the points of a pair against the brute force.
fn check(draw: &mut Draw, a: &Round, b: &Round, margin: f64, tally: &mut Tally) {
    let points = found(a, b, margin);
    let (radii, core) = (a.radius + b.radius, core_distance(a, b));
    let gap = core - radii;
    let label = format!("{:?} {:?} {core} {radii}", a.core, b.core);
    // Nothing that touches is missed, nothing beyond the margin is reported.
    let Some(lowest) = deepest(&points) else {
        tally.empty += 1;
        assert!(gap > margin - 1e-9, "missed: {label}");
        return;
    };
    tally.touching += 1;
    tally.several += usize::from(points.len() > 1);
    for point in &points {
        assert!(point.gap <= margin && (point.normal.norm() - 1.0).abs() < 1e-12);
        let between = point.on_a - point.on_b - point.normal * point.gap;
        assert!(between.norm() < 1e-11, "{label} {point:?}");
        // A witness point lies within its shape.
        for (on, of) in [(point.on_a, a), (point.on_b, b)] {
            let off = of.distance(on) - of.radius;
            assert!(core < 1e-9 || off < 1e-5, "{label} {off:e} {point:?}");
        }
    }
    let apart = core > 1e-6;
    if apart {
        for point in &points {
            assert!(point.gap > gap - 1e-9, "{label} {point:?}");
        }
        let exact = (lowest.gap - gap).abs() < 1e-9;
        tally.exact += usize::from(exact);
        let most = match [a.core, b.core] {
            [Core::Box, Core::Box] => 1.002 * core + 1e-4,
            // Edges that are parallel up to 0.02 rad are taken to touch at their ends.
            [Core::Segment, Core::Box] => core + 0.02,
            _ => core + 1e-9,
        };
        assert!(lowest.gap + radii < most, "{label} {lowest:?}");
        if exact {
            // The normal separates both shapes by the whole gap.
            let by = -separation_towards(a, b, lowest.normal);
            let allowed = if b.core == Core::Box { 2e-3 } else { 1e-7 };
            assert!(
                (by - core).abs() < allowed + 0.05 * core,
                "{label} {by} {lowest:?}"
            );
        }
        // No point of one core is nearer to the other than the points found say.
        for _ in 0..16 {
            let [on_a, on_b] = [a, b].map(|of| of.at(draw.vector()));
            let least = b.distance(on_a).min(a.distance(on_b));
            assert!(least > lowest.gap + radii - 0.5 * core - 1e-6, "{label}");
        }
    } else if core < -1e-3 {
        tally.overlaps += 1;
        assert!(
            lowest.gap + radii <= 0.5 * core + 1e-9,
            "{label} {lowest:?}"
        );
        let by = -separation_towards(a, b, lowest.normal);
        // A face is taken that is within 0.05 rad of the shortest way out and as deep, and one that
        // is up to a hundredth of a half length deeper than an edge.
        let preferred = match a.core {
            Core::Box => {
                let error = 1e-4 - 2e-3 * core;
                assert!(
                    (lowest.gap + radii - core).abs() < error,
                    "{label} {lowest:?}"
                );
                0.1
            }
            _ => 1.2e-2,
        };
        assert!(by > core - preferred, "{label} {by} {lowest:?}");
        assert!(lowest.gap + radii > by - 1e-9, "{label} {by} {lowest:?}");
    }
}

/// Distance by which the cores must move against a normal, from B into A, until they part: negative
/// where it separates them.
fn separation_towards(a: &Round, b: &Round, normal: Vec3) -> f64 {
    let lowest = |of: &Round, normal: Vec3| -> f64 {
        let heights = of.corners().into_iter().map(|v| normal.dot(&v));
        heights.fold(f64::INFINITY, f64::min)
    };
    -lowest(b, -normal) - lowest(a, normal)
}

#[test]
fn gaps_normals_and_points_are_those_of_brute_force() {
    let mut draw = Draw { seed: 11, index: 0 };
    let turns = [
        None,
        None,
        Some(0.3),
        Some(0.03),
        Some(1e-3),
        Some(1e-8),
        Some(0.0),
    ];
    let pairs = if cfg!(debug_assertions) { 4 } else { 60 };
    for cores in PAIRS {
        for rounded in [false, true] {
            let mut tally = Tally::default();
            for turn in turns {
                for _ in 0..pairs {
                    let radii = cores.map(|core| {
                        let sharp = core == Core::Box && !rounded;
                        if sharp { 0.0 } else { draw.between(0.02, 0.3) }
                    });
                    let [a, b] = draw_pair(&mut draw, cores, radii, turn);
                    check(&mut draw, &a, &b, 0.2, &mut tally);
                }
            }
            assert!(tally.touching > 3 * pairs, "{cores:?} {tally:?}");
            assert!(
                10 * tally.exact >= 7 * (tally.touching - tally.overlaps),
                "{cores:?} {tally:?}"
            );
        }
    }
}

/// Points move with the world; with A and B exchanged the gap stays and the normal is reversed.
#[test]
fn points_move_with_the_world_and_are_those_of_the_other_order() {
    let mut draw = Draw { seed: 12, index: 0 };
    for cores in PAIRS {
        let (mut seen, mut same) = (0, 0);
        for case in 0..if cfg!(debug_assertions) { 50 } else { 200 } {
            let radii = [draw.between(0.02, 0.3), draw.between(0.02, 0.3)];
            let turn = [None, Some(0.03), Some(0.2)][case % 3];
            let [a, b] = draw_pair(&mut draw, cores, radii, turn);
            let points = found(&a, &b, 0.2);
            let shift = draw.vector() * 3.0;
            let frame = draw.pose(shift);
            let there = [&a, &b].map(|of| Round {
                pose: of.pose.moved_by(&frame),
                ..of.clone()
            });
            let turned = found(&there[0], &there[1], 0.2);
            assert_eq!(points.len(), turned.len(), "{cores:?} {case}");
            for (p, q) in points.iter().zip(&turned) {
                assert_eq!(p.feature, q.feature, "{cores:?} {case}");
                assert!((p.gap - q.gap).abs() < 1e-12, "{cores:?} {case}");
                assert!((frame.rotation() * p.normal - q.normal).norm() < 1e-9);
                let off: Vector3<f64> = frame.to_world(p.on_a) - q.on_a;
                assert!(off.norm() < 1e-8, "{cores:?} {case} {off}");
            }
            if cores[0] != cores[1] {
                continue;
            }
            let exchanged = found(&b, &a, 0.2);
            assert_eq!(points.is_empty(), exchanged.is_empty(), "{cores:?} {case}");
            if let (Some(p), Some(q)) = (deepest(&points), deepest(&exchanged)) {
                seen += 1;
                let equal = (p.gap - q.gap).abs() < 1e-12 && (p.normal + q.normal).norm() < 1e-9;
                same += usize::from(equal);
                // Which box has the reference face may depend on the order.
                let near =
                    (p.gap - q.gap).abs() < 1e-4 + 1.25e-3 * (p.gap + radii[0] + radii[1]).abs();
                assert!(
                    equal || cores == [Core::Box; 2] && near,
                    "{cores:?} {case} {p:?} {q:?}"
                );
            }
        }
        assert!(10 * same >= 7 * seen, "{cores:?}: {same} of {seen}");
    }
}
