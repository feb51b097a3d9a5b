//! Random planar bodies that stick, slip, land and lift off, each run checked state by state
//! against the forces that its modes need.

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::ops::Range;

use saltation::event_driven::{Breakdown, Zeno};
use saltation::impact::{AnitescuPotra, Routh};
use saltation::nalgebra::DVector;
use saltation::{ContactModel, EventDriven, Run, Start};

use crate::mode_checker::{self, OneStep, Record};
use crate::random_bits::SplitMix64;
use crate::scenes::{Body, Face, Push, Scene, Touch};

/// A system, where it starts, and when it ends.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) name: &'static str,
    pub(crate) scene: Scene,
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
    pub(crate) tf: f64,
}

const NAMES: [&str; 9] = [
    "block on a floor",
    "block with four corners",
    "block on a slope",
    "block by a wall",
    "disc",
    "ladder",
    "stack",
    "pushed block",
    "rod",
];

fn friction(draw: &mut SplitMix64) -> f64 {
    let list = [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5];
    if draw.unit() < 0.3 {
        list[(draw.next() % 8) as usize]
    } else {
        draw.between(0.05, 1.5)
    }
}

fn floor(friction: f64) -> Face {
    Face {
        body: None,
        normal: [0.0, 1.0],
        offset: 0.0,
        friction,
    }
}

/// A uniform rectangle of these half sides.
fn slab(mass: f64, [a, b]: [f64; 2]) -> Body {
    Body {
        mass,
        inertia: mass * (a * a + b * b) / 3.0,
    }
}

fn corners([a, b]: [f64; 2]) -> [[f64; 2]; 4] {
    [[-a, -b], [a, -b], [a, b], [-a, b]]
}

fn touch(body: usize, point: [f64; 2], face: Face) -> Touch {
    Touch {
        body,
        point,
        radius: 0.0,
        face,
    }
}

impl Trial {
    pub(crate) fn of(seed: u64) -> Self {
        let mut draw = SplitMix64(seed.wrapping_mul(0x5851_F42D_4C95_7F2D));
        let draw = &mut draw;
        let kind = (seed % 9) as usize;
        let half = [draw.between(0.2, 1.0), draw.between(0.2, 1.0)];
        let mass = draw.between(0.5, 3.0);
        let ground = floor(friction(draw));
        let wall = Face {
            body: None,
            normal: [-1.0, 0.0],
            offset: -2.0,
            friction: friction(draw),
        };
        let mut bodies = vec![slab(mass, half)];
        let mut touches: Vec<Touch> = Vec::new();
        let feet = corners(half).map(|point| touch(0, point, ground));
        match kind {
            0 | 7 => touches.extend(&feet[..2]),
            1 | 2 => touches.extend(&feet),
            3 => {
                touches.extend(&feet);
                let side = |i: usize| touch(0, corners(half)[i], wall);
                touches.extend([side(1), side(2)]);
            }
            4 => {
                let radius = half[0];
                bodies[0].inertia = mass * radius * radius * draw.between(0.3, 1.0);
                let round = |face| Touch {
                    radius,
                    ..touch(0, [0.0, 0.0], face)
                };
                touches.push(round(ground));
                if seed % 2 == 1 {
                    touches.push(round(wall));
                }
            }
            6 => {
                touches.extend(&feet[..2]);
                let upper = [draw.between(0.1, 0.9) * half[0], draw.between(0.2, 0.8)];
                bodies.push(slab(draw.between(0.3, 3.0), upper));
                let top = Face {
                    body: Some(0),
                    normal: [0.0, 1.0],
                    offset: half[1],
                    friction: friction(draw),
                };
                touches.extend(
                    corners(upper)[..2]
                        .iter()
                        .map(|&point| touch(1, point, top)),
                );
            }
            _ => {
                bodies[0].inertia = mass * half[0] * half[0] / 3.0;
                for end in [[-half[0], 0.0], [half[0], 0.0]] {
                    touches.push(touch(0, end, ground));
                    if kind == 5 {
                        touches.push(touch(0, end, wall));
                    }
                }
            }
        }
        let slope = if kind == 2 || (kind == 4 && draw.unit() < 0.5) {
            draw.between(-0.6, 0.6)
        } else {
            0.0
        };
        let push = (kind == 7 || draw.unit() < 0.25).then(|| Push {
            size: mass * draw.between(1.0, 12.0),
            rate: draw.between(1.0, 12.0),
            phase: draw.between(0.0, TAU),
            height: draw.between(-0.5, 0.5) * half[1],
        });
        let scene = Scene {
            bodies,
            touches,
            slope,
            push,
        };
        let (q, v) = Self::start(draw, &scene, kind);
        Self {
            name: NAMES[kind],
            scene,
            q,
            v,
            tf: draw.between(0.8, 1.8),
        }
    }

    /// In flight, or on the ground: at rest, sliding, or thrown about.
    fn start(draw: &mut SplitMix64, scene: &Scene, kind: usize) -> (Vec<f64>, Vec<f64>) {
        let bodies = scene.bodies.len();
        let (mut q, mut v) = (vec![0.0; 3 * bodies], vec![0.0; 3 * bodies]);
        let nearest = |of: &dyn Fn(&Touch) -> bool, q: &[f64]| {
            let gaps = scene.touches.iter().filter(|touch| of(touch));
            gaps.map(|touch| Scene::gap_of(touch, q))
                .fold(f64::INFINITY, f64::min)
        };
        let flies = draw.unit() < 0.4;
        if flies || draw.unit() < 0.3 || NAMES[kind] == "ladder" {
            q[2] = draw.between(-1.2, 1.2);
        }
        if bodies == 2 {
            // The upper block lies flat on the lower one.
            q[2] = 0.0;
            let width = -scene.touches[0].point[0];
            q[3] = draw.between(-0.3, 0.3) * width;
            q[4] -= nearest(&|touch| touch.face.body.is_some(), &q);
        }
        let below = nearest(&|touch| touch.is_on([0.0, 1.0]), &q);
        let height = if flies { draw.between(0.01, 0.6) } else { 0.0 };
        (0..bodies).for_each(|i| q[3 * i + 1] += height - below);
        let wall = nearest(&|touch| touch.is_on([-1.0, 0.0]), &q);
        if wall.is_finite() {
            let away = draw.between(0.0, 0.5);
            q[0] += wall - if draw.unit() < 0.5 { away } else { 0.0 };
        }
        let manner = draw.next() % 4;
        for i in 0..bodies {
            let slides = draw.between(-3.0, 3.0);
            match (flies, manner) {
                (false, 0) => {}
                (false, 1 | 2) => v[3 * i] = slides,
                _ => {
                    v[3 * i] = slides;
                    v[3 * i + 1] = draw.between(-2.0, 1.0);
                    v[3 * i + 2] = draw.between(-4.0, 4.0);
                }
            }
        }
        (q, v)
    }

    /// What became of it by `law`.
    fn run(&self, law: Law) -> (Run, Vec<mode_checker::Fault>) {
        let model = match law {
            Law::OneStep => ContactModel::with_law(&self.scene, AnitescuPotra::new()),
            Law::Routh => ContactModel::with_law(&self.scene, Routh::new()),
        };
        let mut driver = EventDriven::new(model).unwrap().zeno(Zeno::Absorb);
        driver = driver.rtol(1e-10).atol(1e-12);
        let start = Start::at(0.0).q(&self.q).v(&self.v);
        let run = driver.integrate(&start, self.tf).unwrap();
        let record = Record::of(driver.model(), &run);
        let one_step = match law {
            Law::OneStep => OneStep::Yes,
            Law::Routh => OneStep::No,
        };
        let mut faults = mode_checker::faults(&self.scene, &record, one_step);
        // Such a run says itself from where on it is wrong.
        if let Some(&Breakdown::InconsistentMode { t, .. }) = run.status().reason() {
            faults.retain(|fault| fault.t < t);
        }
        (run, faults)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    OneStep,
    Routh,
}

/// Why a run ended, by the names of the reasons.
fn end(scene: &Scene, run: &Run) -> String {
    let reason: Option<&Breakdown> = run.status().reason();
    let text = match (reason, run.status().stop()) {
        (Some(reason), _) => format!("{reason:?}"),
        (None, Some(stop)) => format!("{stop:?}"),
        (None, None) => return REACHED.to_string(),
    };
    let first = |text: &str| {
        text.split([' ', '(', '{'])
            .next()
            .unwrap_or_default()
            .to_string()
    };
    let name = first(&text);
    let (t, x) = (run.t(), run.state());
    let consistent = || mode_checker::consistent(scene, t, x.as_slice());
    // A run that ends at an impact has the state before it.
    let is_several = || {
        let velocities = mode_checker::after_impact(scene, t, x.as_slice());
        let follows = |v: &DVector<f64>| {
            let after = [x.rows(0, v.len()).as_slice(), v.as_slice()].concat();
            mode_checker::consistent(scene, t, &after).len() > 1
        };
        velocities.len() > 1 || velocities.iter().any(follows)
    };
    match name.as_str() {
        "NoConsistentMode" | "Painleve" if consistent().is_empty() => return NONE.to_string(),
        "AmbiguousMode" | "Impact" if is_several() => return SEVERAL.to_string(),
        _ => {}
    }
    match text.split_once("reason: ") {
        Some((_, inner)) => format!("{name} {}", first(inner)),
        None => name,
    }
}

const REACHED: &str = "reached the end";
/// The driver says that no mode is consistent, or several are, or that an impact has several outcomes, and trying all
/// modes with the forces of the checker says so too.
const NONE: &str = "no mode is consistent";
const SEVERAL: &str = "several modes are consistent";

/// Counts of a campaign, with the seeds.
#[derive(Default, Debug)]
struct Counts {
    ends: BTreeMap<String, Vec<u64>>,
    reached: usize,
    /// Runs that break a rule of the checker.
    rejected: BTreeMap<&'static str, Vec<u64>>,
}

/// Runs to `longest` at most.
fn campaign(seeds: Range<u64>, longest: f64) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        let mut trial = Trial::of(seed);
        trial.tf = trial.tf.min(longest);
        let law = if trial.scene.touches.len() == 1 {
            Law::Routh
        } else {
            Law::OneStep
        };
        let (run, faults) = trial.run(law);
        let end = end(&trial.scene, &run);
        let name = trial.name;
        if end == REACHED {
            counts.reached += 1;
        } else {
            println!(
                "seed {seed} {name} {law:?} at {}: {end}, {}",
                run.t(),
                run.status()
            );
            counts.ends.entry(end.clone()).or_default().push(seed);
        }
        for fault in &faults {
            println!("seed {seed} {name} {law:?} rejected: {fault}");
            let seeds = counts.rejected.entry(fault.rule).or_default();
            seeds.push(seed);
            seeds.dedup();
        }
    }
    println!("{counts:?}");
    counts
}

/// No run breaks a rule, and all but one in a hundred come to their end where there is a mode.
fn expect(counts: &Counts, runs: usize) {
    assert!(counts.rejected.is_empty(), "{:?}", counts.rejected);
    let refused = counts
        .ends
        .iter()
        .filter(|(end, _)| *end != NONE && *end != SEVERAL);
    let refused: usize = refused.map(|(_, seeds)| seeds.len()).sum();
    assert!(100 * refused <= runs, "{:?}", counts.ends);
}

#[test]
fn random_runs_keep_their_modes() {
    let runs = if cfg!(debug_assertions) { 45 } else { 90 };
    expect(&campaign(0..runs, 0.6), 45);
}

#[test]
#[ignore = "a quarter of an hour in debug"]
fn many_random_runs_keep_their_modes() {
    expect(&campaign(0..5000, 2.0), 5000);
}
