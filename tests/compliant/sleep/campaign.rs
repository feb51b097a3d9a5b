//! Random heaps with sleep against the same without.

use saltation::Compliant;
use saltation::bodies::{Body, Scene, Shape};
use saltation::compliant::Sleep;
use saltation::mechanics::Contacts;

use super::{DT, STEPS, ball, bits, ground, rule, sleeping, start, steps};
use crate::random::SplitMix64;

/// Boxes and balls above the ground.
fn heap(count: usize, draw: &mut SplitMix64) -> Scene {
    let mut scene = ground();
    let width = 0.25 * (count as f64).sqrt();
    for _ in 0..count {
        let mut length = || draw.between(0.04, 0.12);
        let shape = Shape::cuboid([length(), length(), length()]);
        let shape = if draw.unit() < 0.2 {
            Shape::sphere(draw.between(0.05, 0.1))
        } else {
            shape
        };
        let body = Body::new(shape.expect("a shape"))
            .friction(draw.between(0.2, 1.0))
            .position([
                draw.between(0.0, width),
                draw.between(0.0, width),
                draw.between(0.1, 1.0),
            ])
            .orientation([(); 4].map(|()| draw.between(-1.0, 1.0)))
            .angular_velocity([(); 3].map(|()| draw.between(-3.0, 3.0)));
        scene.add(body).expect("a body");
    }
    scene
}

/// Ways in a step at 10 m/s, to the relative tolerance of the solver.
const TOLERANCE: f64 = 1e-6 * 10.0 * DT;

/// A tree that sleeps, and the way that it went since in the run without.
#[derive(Clone, Copy, Debug)]
struct Since {
    is_asleep: bool,
    /// It has not woken, and the runs have met no other.
    is_clean: bool,
    way: f64,
}

/// Until the first island falls asleep both runs are one, bit by bit. What has slept since differs from
/// the run without by the way that it goes there, no more: it stays where it fell asleep. What is awake
/// and has never touched one that slept is that of the run without: bit by bit, unless a step is solved
/// again in one of the runs, which depends on all bodies. Then it may differ by the tolerance of the solver.
fn heap_with_and_without(count: usize, seed: u64, most: usize) -> Option<bool> {
    let mut draw = SplitMix64(seed);
    let scene = heap(count, &mut draw);
    let sleep = Sleep {
        time: 0.3,
        ..rule()
    };
    let mut with = start(scene.clone(), |s| s.sleep(sleep));
    let mut without = start(scene.clone(), |s| s);
    let none = Since {
        is_asleep: false,
        is_clean: true,
        way: 0.0,
    };
    let mut trees = vec![none; count];
    let mut slept = 0;
    for step in 0..most {
        let before = without.q().to_vec();
        steps(&mut with, 1);
        steps(&mut without, 1);
        slept += with.asleep().iter().filter(|asleep| **asleep).count();
        for (tree, since) in trees.iter_mut().enumerate() {
            let own = 7 * tree..7 * tree + 3;
            let is_asleep = with.asleep().get(tree).copied().unwrap_or(false);
            if since.is_asleep {
                since.way += distance(&before[own.clone()], &without.q()[own]);
                // Woken, it was touched.
                since.is_clean &= is_asleep;
            }
            since.is_asleep |= is_asleep;
        }
        if trees.iter().any(|since| !since.is_clean) {
            // What woke touches others from here on, and no bound holds.
            break;
        }
        let mut is_solved_again = false;
        for (tree, since) in trees.iter().enumerate() {
            let own = 7 * tree..7 * tree + 3;
            let apart = distance(&with.q()[own.clone()], &without.q()[own]);
            let most = if since.is_asleep {
                since.way + 1e-12
            } else {
                is_solved_again |= apart > 0.0;
                if slept > 0 { TOLERANCE } else { 0.0 }
            };
            assert!(apart <= most, "{seed} {step} {tree}: {apart:e} {since:?}");
        }
        if is_solved_again {
            // Heaps that still fall magnify it.
            break;
        }
    }
    assert!(slept > 0, "{seed}");
    late_ball(&scene, with, seed)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b) * (a - b))
        .sum::<f64>()
        .sqrt()
}

/// A ball thrown at the middle of a heap that sleeps: what it touches wakes, nothing passes through
/// anything, and in the end all sleep again. True where it woke any: bodies that are awake by then may take it up.
fn late_ball(scene: &Scene, mut stepper: Compliant<Scene>, seed: u64) -> Option<bool> {
    let mut contacts = Contacts::new();
    let deepest = |stepper: &Compliant<Scene>, contacts: &mut Contacts| {
        stepper
            .system()
            .deepest_overlap(stepper.q(), contacts)
            .expect("a depth")
    };
    steps(&mut stepper, 200);
    let target = stepper.asleep().iter().position(|asleep| *asleep);
    let target = target?;
    let at = stepper.q()[7 * target..7 * target + 3].to_vec();
    let thrown = ball()
        .position([at[0] - 1.5, at[1], at[2] + 1.5])
        .velocity([3.0, 0.0, -1.54]);
    let number = stepper
        .add_body(thrown.mass(8.0, [0.03; 3]))
        .expect("a ball");
    assert_eq!(number, scene.len());
    // Those of the heap fall asleep again before it arrives, after half a second.
    let mut woke = false;
    for _ in 0..100 {
        let slept = sleeping(&stepper);
        steps(&mut stepper, 1);
        woke |= slept.iter().any(|tree| !sleeping(&stepper).contains(tree));
        // Listed contacts are of trees that are awake.
        let lists = stepper.contacts();
        for i in 0..lists.len() {
            assert!(lists.blocks(i).any(|block| {
                !stepper.asleep().get(block.tree).copied().unwrap_or(false)
                    || stepper.v()[block.start..][..6] == [0.0; 6]
            }));
        }
    }
    // An eighth of the thinnest box: nothing lies within another.
    let depth = deepest(&stepper, &mut contacts);
    assert!(depth < 0.01, "{seed} {depth}");
    let low = stepper
        .q()
        .chunks_exact(7)
        .map(|q| q[2])
        .fold(f64::INFINITY, f64::min);
    assert!(low > 0.0, "{seed} {low}");
    Some(woke)
}

#[test]
fn heaps_with_sleep_are_those_without() {
    for seed in 0..if cfg!(debug_assertions) { 2 } else { 4 } {
        let count = 6 + 2 * usize::try_from(seed).expect("small");
        assert_ne!(
            heap_with_and_without(count, seed, 400),
            Some(false),
            "{seed}"
        );
    }
}

/// `cargo test --release --test compliant -- --ignored heaps_of_many_sizes_with_sleep`.
#[test]
#[ignore = "half a minute in release: `.ci/full`"]
fn heaps_of_many_sizes_with_sleep() {
    let (mut thrown, mut woke) = (0, 0);
    for seed in 100..400 {
        let count = 4 + usize::try_from(seed % 40).expect("small");
        let found = heap_with_and_without(count, seed, 800);
        thrown += usize::from(found.is_some());
        woke += usize::from(found == Some(true));
    }
    assert!(
        woke > 100 && 20 * (thrown - woke) <= thrown,
        "{woke} of {thrown}"
    );
}

/// All fall asleep and stay: 12 s of a heap of boxes, of which the last eight seconds change no bit.
#[test]
fn a_heap_of_boxes_comes_to_rest_for_good() {
    let mut draw = SplitMix64(77);
    let mut scene = ground();
    for _ in 0..12 {
        let body = Body::new(Shape::cuboid([0.1, 0.08, 0.06]).expect("a box"))
            .position([
                draw.between(0.0, 0.6),
                draw.between(0.0, 0.6),
                draw.between(0.1, 1.0),
            ])
            .orientation([(); 4].map(|()| draw.between(-1.0, 1.0)));
        scene.add(body).expect("a box");
    }
    let mut stepper = start(scene, |s| s.sleep(Sleep::default()));
    steps(&mut stepper, 400);
    assert_eq!(sleeping(&stepper).len(), 12);
    let q = bits(stepper.q());
    steps(&mut stepper, 40 * STEPS);
    assert_eq!(bits(stepper.q()), q);
}
