//! Symmetries of runs with friction: mirrored blocks, permuted contacts, tangents of the other sign.

use saltation::event_driven::Zeno;
use saltation::impact::{AnitescuPotra, Contacting, Selection};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::RockingBlock;
use saltation::{ContactModel, EventDriven, Run, Start};

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

fn model(seen: Seen) -> ContactModel<Seen> {
    ContactModel::with_law(seen, AnitescuPotra::new()).selection(Selection::First)
}

fn run(seen: Seen, q: &[f64], v: &[f64]) -> Run {
    let driver = EventDriven::new(model(seen)).unwrap().rtol(1e-11);
    let mut driver = driver.atol(1e-13).zeno(Zeno::Absorb).zeno_tolerance(1e-7);
    let run = driver.integrate(&Start::at(0.0).q(q).v(v), 0.5).unwrap();
    run.completed().unwrap()
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
        let over = model(plain);
        let over = over.arclength(&exact).unwrap();
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
            let others = model(seen);
            let others = others.arclength(&other).unwrap();
            assert_eq!(
                exact.events().len(),
                other.events().len(),
                "{case} {seen:?} {side}"
            );
            let turned = |state: &[f64]| {
                let signs = [side, 1.0, side, side, 1.0, side];
                let each = state.iter().zip(signs);
                each.map(|(x, sign)| sign * x).collect::<Vec<_>>()
            };
            let near = |a: &[f64], b: &[f64]| {
                let b = turned(b);
                let near = a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-7);
                assert!(near, "{case} {a:?} {b:?}");
            };
            near(exact.state().as_slice(), other.state().as_slice());
            assert!((over.s() - others.s()).abs() < 1e-7);
            for (a, b) in exact.events().iter().zip(other.events()) {
                let [s, other_s] = [over.s_at(a.t), others.s_at(b.t)].map(Result::unwrap);
                assert!((a.t - b.t).abs() < 1e-8 && (s - other_s).abs() < 1e-7);
                near(&a.state_after, &b.state_after);
                for j in 0..2 {
                    let of = |seen: Seen, run: &Run, t: f64, j: usize| {
                        model(seen).contacting(run.mode_at(t).unwrap(), j)
                    };
                    let mode = of(seen, &other, b.t, j);
                    let turned = seen.reversed != (side < 0.0);
                    let mode = if turned { mirrored(mode) } else { mode };
                    // mirroring exchanges the corners, and so does the order
                    let same = if seen.permuted && side > 0.0 {
                        1 - j
                    } else {
                        j
                    };
                    assert_eq!(mode, of(plain, &exact, a.t, same), "{case}");
                }
            }
        }
    }
}
