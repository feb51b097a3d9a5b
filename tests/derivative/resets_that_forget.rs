//! Corners behind a reset that forgets: displacements that are equal from there on meet the guards
//! at once, and have one piece.

use saltation::derivative::Verdict;
use saltation::{Direction, Integrator, Mode, Start, Watch};

use crate::fixtures::support::{off, times};
use crate::sketch::Sketch;

/// What the reset sets the two coordinates to.
type Set = fn(&[f64]) -> [f64; 2];

/// Guard 0 at x₃ = 1 sets `(x₀, x₁)`; then guards 1 and 2 are met at x₀ = 1 and x₁ = 1, at once for
/// the run itself. Behind both x₂ grows faster by 3, behind one alone by 1.
fn forgetting(set: impl Fn(&[f64]) -> [f64; 2] + 'static) -> Sketch {
    Sketch::new(5, |_, _, mode: &Mode, dx| {
        let met = [1, 2].into_iter().filter(|&k| mode.contains(k)).count();
        dx.copy_from_slice(&[1.0, 1.0, [0.0, 1.0, 3.0][met], 1.0, 0.5]);
    })
    .events([Watch::RISING; 3], |k, _, x, _| {
        x[if k == 0 { 3 } else { k - 1 }] - 1.0
    })
    .reset(move |_, crossed, x, _| {
        if crossed.guards()[0].guard.direction == Direction::Rising && crossed.contains(0) {
            let set = set(x);
            x[..2].copy_from_slice(&set);
        }
        Ok(())
    })
}

const START: [f64; 5] = [-0.5, -0.25, 0.0, 0.5, 0.25];

#[test]
fn directions_that_are_forgotten_are_one_piece() {
    // Both are forgotten; both are what x₄ is, exactly or to rounding.
    let sets: [Set; 4] = [
        |_| [0.0, 0.0],
        |x| [x[4] - 0.5, x[4] - 0.5],
        |x| [0.3 * x[4] - 0.15, 3.0 * (0.1 * x[4] - 0.05)],
        |x| [(x[4] - 0.5).sin(), x[4] - 0.5],
    ];
    for (i, set) in sets.into_iter().enumerate() {
        let system = forgetting(set);
        let mut integrator = Integrator::new(&system).unwrap().rtol(1e-10).atol(1e-10);
        let d = integrator
            .derivative(&Start::at(0.0).x(&START), 2.0)
            .unwrap();
        assert_eq!(*d.verdict(), Verdict::Bouligand);
        let pieces = d.pieces().unwrap();
        assert_eq!(pieces.len(), 1, "{i}");
        assert_eq!(pieces[0].cones.len(), 1, "{i}");
        assert_eq!(pieces[0].cones[0].inequalities.nrows(), 0, "{i}");
        for v in [
            [1.0, -2.0, 0.5, 0.25, -1.0],
            [-0.5, 0.0, 0.0, -1.0, 2.0],
            [0.0, 0.0, 0.0, 1.0, 1.0],
        ] {
            assert!(pieces[0].contains(&v));
            let b = d.apply(&v).unwrap();
            assert!(off(&times(&pieces[0].matrix, &v), &b) < 1e-7, "{i}");
        }
    }
}

#[test]
fn directions_that_are_not_forgotten_keep_their_pieces() {
    let sets: [Set; 2] = [
        |x| [x[4] - 0.5, 0.0],
        |x| [x[0] - x[0], 1e-6 * (x[4] - 0.5)],
    ];
    for set in sets {
        let system = forgetting(set);
        let mut integrator = Integrator::new(&system).unwrap().rtol(1e-10).atol(1e-10);
        let d = integrator
            .derivative(&Start::at(0.0).x(&START), 2.0)
            .unwrap();
        let pieces = d.pieces().unwrap();
        assert_eq!(pieces.len(), 2);
        for v in [
            [1.0, -2.0, 0.5, 0.25, -1.0],
            [-0.5, 0.0, 0.0, -1.0, 2.0],
            [0.0, 0.0, 0.0, 1.0, 1.0],
        ] {
            let holding: Vec<_> = pieces.iter().filter(|piece| piece.contains(&v)).collect();
            assert_eq!(holding.len(), 1);
            let b = d.apply(&v).unwrap();
            assert!(off(&times(&holding[0].matrix, &v), &b) < 1e-7);
        }
    }
}
