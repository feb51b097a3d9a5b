//! Symmetries of runs with time as a state: mirrored blocks, permuted contacts, tangents of the
//! other sign, and the driver without friction.

use saltation::Start;
use saltation::event_driven::{StretchKind, Timeline, TimelineRun, Zeno};
use saltation::impact::{AnitescuPotra, Contacting, Selection};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{RigidTrot, RockingBlock};
use saltation::{ContactModel, EventDriven};

use crate::random_bits::SplitMix64;

/// A block seen otherwise: contacts in another order, tangents of the other sign.
#[derive(Clone, Copy, Debug)]
struct Seen {
    block: RockingBlock,
    permuted: bool,
    reversed: bool,
}

impl Seen {
    fn number(&self, j: usize) -> usize {
        if self.permuted { 1 - j } else { j }
    }
}

impl MechanicalSystem for Seen {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.block.mass(q, mass);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.block.effort(t, q, v, effort);
    }
}

impl UnilateralConstraints for Seen {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.block.gap(self.number(j), q)
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        self.block.gap_row(self.number(j), q, row)
    }
    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        self.block.curvature(self.number(j), q, v)
    }
    fn friction(&self, j: usize) -> f64 {
        self.block.friction(self.number(j))
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        self.block.tangent_rows(self.number(j), q, rows);
        if self.reversed {
            for entry in rows.iter_mut() {
                *entry = -*entry;
            }
        }
    }
}

fn run(seen: Seen, q: &[f64], v: &[f64]) -> TimelineRun {
    let model = ContactModel::with_law(seen, AnitescuPotra::new()).selection(Selection::First);
    let timeline = Timeline::new(model)
        .unwrap()
        .rtol(1e-11)
        .atol(1e-13)
        .zeno_tolerance(1e-7);
    timeline.integrate(&Start::at(0.0).q(q).v(v), 0.5).unwrap()
}

/// Where the event-driven driver ends.
fn end_by_events(seen: Seen, q: &[f64], v: &[f64]) -> Vec<f64> {
    let model = ContactModel::with_law(seen, AnitescuPotra::new()).selection(Selection::First);
    let driver = EventDriven::new(model).unwrap().zeno(Zeno::Absorb);
    let mut driver = driver.rtol(1e-11).atol(1e-13);
    let run = driver.integrate(&Start::at(0.0).q(q).v(v), 0.5).unwrap();
    run.completed().unwrap().state().as_slice().to_vec()
}

fn mirrored(mode: Contacting) -> Contacting {
    match mode {
        Contacting::SlipForward => Contacting::SlipBackward,
        Contacting::SlipBackward => Contacting::SlipForward,
        mode => mode,
    }
}

#[test]
fn mirrored_permuted_and_reversed_blocks_do_the_same() {
    let mut random = SplitMix64(3);
    for case in 0..6 {
        let block = RockingBlock {
            width: random.between(0.4, 1.0),
            height: random.between(0.4, 1.0),
            friction: random.between(0.1, 0.8),
            ..RockingBlock::default()
        };
        let (q, mut v) = block.pivoting(random.between(0.1, 0.4), random.between(-1.0, 0.5));
        v[0] += random.between(-1.5, 1.5);
        let plain = Seen {
            block,
            permuted: false,
            reversed: false,
        };
        let exact = run(plain, &q, &v);
        assert!(exact.breakdown().is_none(), "{case}");
        let near = |found: &[f64], side: f64| {
            let signs = [side, 1.0, side, side, 1.0, side];
            let each = exact.state();
            let mut each = each.iter().zip(found).zip(signs);
            each.all(|((a, b), sign)| (a - sign * b).abs() < 1e-7)
        };
        assert!(near(&end_by_events(plain, &q, &v), 1.0), "{case}");
        let variants = [
            (
                Seen {
                    permuted: true,
                    ..plain
                },
                1.0,
            ),
            (
                Seen {
                    reversed: true,
                    ..plain
                },
                1.0,
            ),
            (
                Seen {
                    permuted: true,
                    ..plain
                },
                -1.0,
            ),
        ];
        for (seen, side) in variants {
            let [q, v] = [q, v].map(|x| [side * x[0], x[1], side * x[2]]);
            let other = run(seen, &q, &v);
            assert!(near(&end_by_events(seen, &q, &v), side), "{case}");
            assert_eq!(
                exact.stretches().len(),
                other.stretches().len(),
                "{case} {seen:?} {side}"
            );
            for (a, b) in exact.stretches().iter().zip(other.stretches()) {
                assert!((a.t[1] - b.t[1]).abs() < 1e-8 && (a.s[1] - b.s[1]).abs() < 1e-7);
                for (a, b) in [(&a.q[1], &b.q[1]), (&a.v[1], &b.v[1])] {
                    let b = [side * b[0], b[1], side * b[2]];
                    assert!(
                        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-7),
                        "{case} {a:?} {b:?}"
                    );
                }
                let (StretchKind::Contact(a), StretchKind::Contact(b)) = (&a.kind, &b.kind) else {
                    continue;
                };
                for (j, &mode) in b.iter().enumerate() {
                    let turned = seen.reversed != (side < 0.0);
                    let mode = if turned { mirrored(mode) } else { mode };
                    // mirroring exchanges the corners, and so does the order
                    let same = if seen.permuted && side > 0.0 {
                        1 - j
                    } else {
                        j
                    };
                    assert_eq!(mode, a[same], "{case}");
                }
            }
        }
    }
}

/// Without friction both drivers do the same.
#[test]
fn without_friction_it_is_the_event_driven_simulation() {
    let block = RigidTrot::block(1.0, 0.3, 0.5);
    let (q, v) = block.tilted(0.2);
    let model = || ContactModel::with_law(block, AnitescuPotra::new());
    let tf = 1.2;
    let mut simulation = EventDriven::new(model())
        .unwrap()
        .rtol(1e-11)
        .atol(1e-13)
        .zeno(Zeno::Absorb);
    let other = simulation
        .integrate(&Start::at(0.0).q(&q).v(&v), tf)
        .unwrap();
    let timeline = Timeline::new(model()).unwrap().rtol(1e-11).atol(1e-13);
    let run = timeline.integrate(&Start::at(0.0).q(&q).v(&v), tf).unwrap();
    assert_eq!(run.breakdown(), None);
    let struck = |kind: &StretchKind| matches!(kind, StretchKind::Impact { .. });
    let impacts: Vec<_> = run
        .stretches()
        .iter()
        .filter(|stretch| struck(&stretch.kind))
        .collect();
    assert!(impacts.len() >= 3);
    let events = other
        .events()
        .iter()
        .filter(|event| !event.impulses.is_empty());
    for (event, stretch) in events.zip(&impacts).take(4) {
        assert!(
            (event.t - stretch.t[0]).abs() < 1e-8,
            "{} {:?}",
            event.t,
            stretch.t
        );
        let pushed: f64 = event.impulses.iter().sum();
        assert!((pushed - stretch.normal_impulse()).abs() < 1e-8);
    }
    for k in 0..=12 {
        let t = tf * f64::from(k) / 12.0;
        let [a, b] = [run.at(t).unwrap(), other.state_at(t).unwrap()];
        assert!((a - b).amax() < 1e-6, "{t}");
    }
}
