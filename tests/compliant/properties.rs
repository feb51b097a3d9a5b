//! Properties of the cost and of its minimiser on random problems (spec 10.10).

use nalgebra::DVector;
use saltation::compliant::{
    Guess, LineSearch, Region, SolutionVariation, Solver, StepSolution, Variation,
};

use crate::random::SplitMix64;
use crate::random_problems::{Cone, Kind, Sample};
use crate::reference::cases;

fn samples(count: usize, seed: u64, kind: &Kind) -> Vec<Sample> {
    let mut draw = SplitMix64(seed);
    (0..count).map(|_| Sample::draw(&mut draw, kind)).collect()
}

/// The library's value of everything at the guess: no iteration is made.
fn evaluated(sample: &Sample) -> (StepSolution, Solver) {
    let mut solver = Solver::new()
        .rtol(1e300)
        .guess(Guess::Given)
        .history(true)
        .islands(false);
    let solution = solver
        .solve(&sample.build(), &sample.guess)
        .expect("evaluated")
        .clone();
    assert_eq!(solution.islands()[0].iterations, 0);
    (solution, solver)
}

fn solved(sample: &Sample, islands: bool) -> StepSolution {
    let mut solver = Solver::new().rtol(1e-12).islands(islands);
    let solution = solver
        .solve(&sample.build(), &sample.guess)
        .expect("solved");
    assert!(solution.is_converged());
    solution.clone()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f64>().sqrt() / (1.0 + b.iter().map(|b| b * b).sum::<f64>().sqrt())
}

#[test]
fn cost_and_impulses_are_those_of_the_projection() {
    for sample in samples(200, 1, &Kind::default()) {
        let (dense, (solution, _)) = (sample.dense(), evaluated(&sample));
        let v = DVector::from_column_slice(solution.v());
        let (cost, _) = dense.cost(&v);
        // Trees without terms are at v* and cost nothing.
        assert!(
            (solution.cost() / cost - 1.0).abs() < 1e-11,
            "{} {cost}",
            solution.cost()
        );
        for (cone, gamma) in dense.contacts.iter().zip(solution.impulses()) {
            let projected = cone.project(cone.unprojected(&v));
            assert!(
                distance(gamma, &projected) < 1e-10,
                "{gamma:?} {projected:?}"
            );
        }
    }
}

#[test]
fn both_forms_of_the_law_agree_around_the_reference_problems() {
    let mut draw = SplitMix64(2);
    let mut regions = [0; 3];
    for case in cases() {
        for i in 0..case.problem.contacts() {
            let law = case.problem.law(i).expect("a contact");
            let cone = Cone {
                j: nalgebra::DMatrix::identity(3, 3),
                mu: law.friction,
                normal: law.normal,
                tangential: law.tangential,
                v_hat: law.stabilisation,
                turns: nalgebra::DMatrix::zeros(3, 3),
                rotational: 1.0,
                lengths: [0.0; 2],
            };
            for _ in 0..300 {
                // from creep to slips of metres in a second
                let mut any =
                    |least: f64| 10f64.powf(draw.between(least, 0.0)) * draw.between(-1.0, 1.0);
                let v = [law.stabilisation + any(-6.0), any(-8.0), any(-8.0)];
                let (point, y) = (law.evaluate(&v), cone.unprojected(&v.to_vec().into()));
                let projected = cone.project(y);
                let size = projected.iter().map(|g| g * g).sum::<f64>().sqrt();
                for (a, b) in point.impulse.iter().zip(projected) {
                    assert!((a - b).abs() <= 1e-9 * size, "{}: {v:?}", case.name);
                }
                let parts = projected.iter().zip(cone.weights());
                let cost: f64 = parts.map(|(g, r)| 0.5 * r * g * g).sum();
                assert!(
                    (point.cost - cost).abs() <= 1e-9 * cost,
                    "{}: {v:?}",
                    case.name
                );
                regions[point.region as usize] += 1;
                let speed = v.iter().fold(cone.v_hat.abs(), |m, v| m.max(v.abs()));
                moreau(&cone, y, point.impulse, speed);
            }
        }
    }
    assert!(regions.iter().all(|&count| count > 500), "{regions:?}");
}

/// The impulse is in the cone, `y − γ` in its polar, and both are orthogonal in the product of `R`,
/// up to the rounding of velocities of this size.
fn moreau(cone: &Cone, y: [f64; 3], gamma: [f64; 3], velocity: f64) {
    let slip = |x: [f64; 3]| x[1].hypot(x[2]);
    assert!(slip(gamma) <= cone.mu * gamma[0] * (1.0 + 1e-14));
    let r = cone.weights();
    let off: [f64; 3] = std::array::from_fn(|k| r[k] * (y[k] - gamma[k]));
    let tiny = 1e-14 * velocity;
    let normal = off[0] + cone.mu * slip(off);
    assert!(normal <= (1.0 + cone.mu) * tiny, "{off:?} {velocity}");
    let product: f64 = off.iter().zip(&gamma).map(|(a, b)| a * b).sum();
    let size = slip(gamma).max(gamma[0]);
    assert!(
        product.abs() <= tiny * size,
        "{product:e} {size:e} {velocity}"
    );
}

#[test]
fn the_gradient_is_the_difference_of_the_cost() {
    let mut compared = 0;
    for sample in samples(60, 3, &Kind::default()) {
        let (solution, _) = evaluated(&sample);
        let dense = sample.dense();
        // A (v − v*) − Jᵀ γ with the impulses of the library
        let v = DVector::from_column_slice(&sample.guess);
        let mut gradient = &dense.a * (&v - &dense.free);
        for (cone, gamma) in dense.contacts.iter().zip(solution.impulses()) {
            gradient -= cone.j.transpose() * DVector::from_column_slice(gamma);
        }
        for ((_, j), gamma) in dense.rows.iter().zip(solution.row_impulses()) {
            gradient -= j.transpose() * *gamma;
        }
        let h = 1e-5;
        let at = |k: usize, x: f64| {
            let mut other = sample.clone();
            other.guess[k] += x;
            let solution = evaluated(&other).0;
            (solution.cost(), solution.regions().to_vec())
        };
        for (k, expected) in gradient.iter().enumerate() {
            // Trees without terms take v*, whatever the guess.
            let untouched = (solution.v()[k] - sample.guess[k]).abs() > 0.0;
            let (low, high) = (at(k, -h), at(k, h));
            if untouched || low.1 != high.1 {
                continue;
            }
            let slope = (high.0 - low.0) / (2.0 * h);
            let allowed = 1e-7 * (1.0 + gradient.norm()) + 1e-15 * solution.cost() / h;
            assert!(
                (slope - expected).abs() < allowed,
                "{k}: {slope} {expected}"
            );
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn the_hessian_is_the_difference_of_the_gradient() {
    let mut compared = 0;
    for sample in samples(60, 4, &Kind::default()) {
        let problem = sample.build();
        let (solution, mut solver) = evaluated(&sample);
        let dense = sample.dense();
        let v = DVector::from_column_slice(&sample.guess);
        if solution.v() != v.as_slice() {
            continue;
        }
        // H⁻¹ b, with b as a change of momentum, at a point that is no minimum.
        let mut draw = SplitMix64(5);
        let (mut change, mut found) = (Variation::default(), SolutionVariation::default());
        change.reset(&problem);
        change
            .momentum
            .iter_mut()
            .for_each(|b| *b = draw.between(-1.0, 1.0));
        solver
            .derivative(&problem, &change, &mut found)
            .expect("derivative");
        let d = DVector::from_column_slice(&found.v);
        let h = 1e-6 / d.norm();
        let regions = |x: f64| -> Vec<Region> {
            let mut other = sample.clone();
            other.guess = (&v + &d * x).as_slice().to_vec();
            evaluated(&other).0.regions().to_vec()
        };
        if regions(-h) != regions(h) {
            continue;
        }
        let gradient = |x: f64| dense.cost(&(&v + &d * x)).1;
        let product = (gradient(h) - gradient(-h)) / (2.0 * h);
        let b = DVector::from_column_slice(&change.momentum);
        let noise = 1e-14 * gradient(0.0).norm() / h;
        assert!(
            (&product - &b).norm() < 1e-5 * b.norm() + noise,
            "{product} {b}"
        );
        compared += 1;
    }
    assert!(compared > 30, "{compared}");
}

#[test]
fn costs_fall_monotonically() {
    for near_rigid in [1.0, 0.0] {
        for search in [LineSearch::Exact, LineSearch::Armijo] {
            let kind = Kind {
                near_rigid,
                stiffness: (3.0, 8.0),
                masses: (-2.0, 2.0),
                ..Kind::default()
            };
            for sample in samples(60, 6, &kind) {
                let mut solver = Solver::new().rtol(1e-10).history(true).line_search(search);
                let solution = solver
                    .solve(&sample.build(), &sample.guess)
                    .expect("solved");
                for island in solution.islands() {
                    let falls = |pair: &[f64]| pair[1] <= pair[0] * (1.0 + 1e-14);
                    assert!(
                        island.costs.windows(2).all(falls),
                        "{near_rigid} {search:?} {island:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_solution_does_not_depend_on_the_tangent_frame() {
    let mut draw = SplitMix64(7);
    for sample in samples(60, 8, &Kind::default()) {
        let mut turned = sample.clone();
        let angles: Vec<f64> = sample
            .contacts
            .iter()
            .map(|_| draw.between(0.0, 6.3))
            .collect();
        for ((_, blocks), angle) in turned.contacts.iter_mut().zip(&angles) {
            let (sin, cos) = angle.sin_cos();
            for (_, rows) in blocks {
                let width = rows.len() / 3;
                for k in width..2 * width {
                    let (a, b) = (rows[k], rows[k + width]);
                    (rows[k], rows[k + width]) = (cos * a + sin * b, cos * b - sin * a);
                }
            }
        }
        let (one, other) = (solved(&sample, true), solved(&turned, true));
        assert!(distance(other.v(), one.v()) < 1e-10);
        for ((a, b), angle) in one.impulses().iter().zip(other.impulses()).zip(&angles) {
            let (sin, cos) = angle.sin_cos();
            let back = [b[0], cos * b[1] - sin * b[2], sin * b[1] + cos * b[2]];
            assert!(distance(&back, a) < 1e-8);
        }
    }
}

#[test]
fn the_solution_does_not_depend_on_the_order_of_contacts_and_trees() {
    let mut draw = SplitMix64(9);
    let kind = Kind {
        trees: 5,
        contacts: 8,
        rows: 3,
        ..Kind::default()
    };
    for sample in samples(60, 10, &kind) {
        let (order, terms) = (draw.permutation(5), draw.permutation(8));
        let mut place = [0; 5];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        let mut mixed = sample.clone();
        mixed.trees = order.iter().map(|&old| sample.trees[old].clone()).collect();
        mixed.contacts = terms
            .iter()
            .map(|&old| sample.contacts[old].clone())
            .collect();
        mixed.rows.reverse();
        let contacts = mixed.contacts.iter_mut().map(|(_, blocks)| blocks);
        for blocks in contacts.chain(mixed.rows.iter_mut().map(|(_, blocks)| blocks)) {
            // the first tree last, too
            blocks.reverse();
            for (tree, _) in blocks {
                *tree = place[*tree];
            }
        }
        let by_tree = |v: &[f64]| -> Vec<Vec<f64>> {
            let mut start = 0;
            let slice = |(_, free): &(Vec<f64>, Vec<f64>)| {
                start += free.len();
                v[start - free.len()..start].to_vec()
            };
            sample.trees.iter().map(slice).collect()
        };
        let guess = by_tree(&sample.guess);
        mixed.guess = order.iter().flat_map(|&old| guess[old].clone()).collect();
        let (one, other) = (solved(&sample, true), solved(&mixed, true));
        let v = by_tree(one.v());
        let v: Vec<f64> = order.iter().flat_map(|&old| v[old].clone()).collect();
        assert!(distance(other.v(), &v) < 1e-10);
        for (new, &old) in terms.iter().enumerate() {
            assert!(distance(&other.impulses()[new], &one.impulses()[old]) < 1e-8);
        }
    }
}

#[test]
fn a_contact_is_two_of_half_its_stiffness() {
    // Without the near-rigid limit R_n doubles by itself; R_t doubles with twice the softness.
    let kind = Kind {
        near_rigid: 0.0,
        ..Kind::default()
    };
    for sample in samples(60, 11, &kind) {
        let mut split = sample.clone();
        split.contacts.clear();
        for (parameters, blocks) in &sample.contacts {
            let mut half = *parameters;
            half.stiffness *= 0.5;
            half.stiction = Some(2.0 * sample.softness.stiction);
            split.contacts.push((half, blocks.clone()));
            split.contacts.push((half, blocks.clone()));
        }
        let (one, other) = (solved(&sample, true), solved(&split, true));
        assert!(distance(other.v(), one.v()) < 1e-10);
        let halves = other.impulses().chunks_exact(2);
        for (whole, halves) in one.impulses().iter().zip(halves) {
            let sum: [f64; 3] = std::array::from_fn(|k| halves[0][k] + halves[1][k]);
            assert!(distance(&sum, whole) < 1e-8);
        }
    }
}

#[test]
fn islands_are_solved_as_the_whole_problem_is() {
    let kind = Kind {
        trees: 8,
        contacts: 6,
        rows: 2,
        ..Kind::default()
    };
    let mut several = 0;
    for sample in samples(60, 12, &kind) {
        let (islands, whole) = (solved(&sample, true), solved(&sample, false));
        several += usize::from(islands.islands().len() > 1);
        assert_eq!(whole.islands().len(), 1);
        assert!(distance(islands.v(), whole.v()) < 1e-10);
        assert!((islands.cost() - whole.cost()).abs() <= 1e-12 * whole.cost());
        assert_eq!(islands.regions(), whole.regions());
    }
    assert!(several > 30, "{several}");
}

#[test]
fn solutions_are_complementary_and_in_the_cone() {
    for sample in samples(100, 13, &Kind::default()) {
        let (solution, dense) = (solved(&sample, true), sample.dense());
        assert!(solution.complementarity_error() < 1e-12);
        let v = DVector::from_column_slice(solution.v());
        for (cone, gamma) in dense.contacts.iter().zip(solution.impulses()) {
            // some ten products in each velocity
            let speed = cone.v_hat.abs().max(10.0 * v.norm());
            moreau(cone, cone.unprojected(&v), *gamma, speed);
        }
        let gradient = dense.cost(&v).1;
        let momentum = (&dense.a * &v).norm();
        assert!(gradient.norm() < 1e-9 * (1.0 + momentum), "{gradient}");
    }
}

#[test]
fn without_terms_the_velocities_are_the_free_ones_bit_for_bit() {
    let kind = Kind {
        contacts: 0,
        rows: 0,
        ..Kind::default()
    };
    for sample in samples(10, 14, &kind) {
        let solution = solved(&sample, true);
        let free: Vec<f64> = sample
            .trees
            .iter()
            .flat_map(|(_, free)| free.clone())
            .collect();
        assert_eq!(solution.v(), free);
        assert!(solution.islands().is_empty());
        assert!(solution.cost() == 0.0);
    }
}
