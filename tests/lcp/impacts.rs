//! Impacts with friction: the examples of section 8 of the specification, and random contacts of
//! deficient rank.

use saltation::lcp::{Attempt, LcpSolver, residual};

use crate::contacts::{Contacts, Lcp};
use crate::fixtures::support::{solved, solved_by};
use crate::random::SplitMix64;

/// The five examples with the bound on a step, the pivots a solve needs there (reference case
/// `sample_uniform_d1`), and their names.
fn examples() -> [(&'static str, Contacts, f64, f64); 5] {
    [
        ("block", Contacts::block(1.0), 0.3, 5.3308),
        ("compass", Contacts::compass(), 0.25, 5.4518),
        ("box", Contacts::box_and_wall(), 2.0, 6.4061),
        ("RAMone", Contacts::ramone(), 1.0, 5.6654),
        ("disks", Contacts::disks(), 1.0, 13.7359),
    ]
}

/// Steps of section 3 until the impact is over, again and again.
struct Steps {
    start: Contacts,
    now: Contacts,
    bound: f64,
    taken: usize,
}

impl Steps {
    fn new(start: &Contacts, bound: f64) -> Self {
        Self {
            start: start.clone(),
            now: start.clone(),
            bound,
            taken: 0,
        }
    }

    fn problem(&self, random: &mut SplitMix64) -> Lcp {
        let most: Vec<f64> = (0..self.now.count())
            .map(|_| self.bound * random.unit())
            .collect();
        self.now.boxed(&most, 2)
    }

    fn take(&mut self, z: &[f64]) {
        let m = self.now.count();
        self.now.speeds = self.now.speeds_after(&z[m..], 2);
        self.taken += 1;
        if self.now.speeds.rows(0, m).min() >= -1e-8 || self.taken == 10 {
            self.now = self.start.clone();
            self.taken = 0;
        }
    }
}

#[test]
fn the_examples_need_the_pivots_of_the_reference() {
    for (name, contacts, bound, pivots) in examples() {
        let mut random = SplitMix64(11);
        let mut solver = LcpSolver::new(25).ladder(false);
        let mut steps = Steps::new(&contacts, bound);
        let (mut count, draws) = (0, 2000);
        for _ in 0..draws {
            let (w, q) = steps.problem(&mut random);
            let (z, _) = solved_by(&mut solver, &(w.clone(), q.clone())).unwrap();
            count += solver.solve(&w, &q).unwrap().pivots();
            steps.take(&z);
        }
        let mean = f64::from(u32::try_from(count).unwrap()) / f64::from(draws);
        assert!(
            (mean / pivots - 1.0).abs() < 0.1,
            "{name}: {mean}, not {pivots}"
        );
    }
}

/// Theorem 7 with its sharper form: `L·u' = −λn·μγ − β·λmax`, hence kinetic energy falls by it and
/// by the square of the change.
#[test]
fn no_step_gains_energy() {
    for (name, contacts, bound, _) in examples() {
        let mut random = SplitMix64(12);
        let mut solver = LcpSolver::new(25);
        let mut steps = Steps::new(&contacts, bound);
        for _ in 0..300 {
            let problem = steps.problem(&mut random);
            let (z, _) = solved_by(&mut solver, &problem).unwrap();
            let m = contacts.count();
            let (before, after) = (steps.now.speeds.clone(), steps.now.speeds_after(&z[m..], 2));
            let (mut loss, mut work, mut energy) = (0.0, 0.0, 0.0);
            for i in 0..m {
                let (push, gamma) = (z[m + i], z[4 * m + i]);
                let along = z[2 * m + 2 * i] - z[2 * m + 2 * i + 1];
                loss += push * contacts.friction[i] * gamma + z[i] * problem.1[i];
                work += push * after[i] + along * after[m + i];
                let mean = |k: usize| 0.5 * (before[k] + after[k]);
                energy += push * mean(i) + along * mean(m + i);
                assert!(push <= problem.1[i] + 1e-14 && push >= 0.0);
                assert!(along.abs() <= contacts.friction[i] * push + 1e-9);
            }
            assert!((work + loss).abs() < 1e-9, "{name}: {work:e} {loss:e}");
            assert!(energy <= 1e-12, "{name}: gained {energy:e}");
            steps.take(&z);
        }
    }
}

/// Lemma 8: nothing happens when nothing approaches, or nothing may push. And with no friction
/// nothing pushes sideways.
#[test]
fn bounds_of_zero_and_no_friction() {
    for (name, contacts, bound, _) in examples() {
        let m = contacts.count();
        let resting = solved(&contacts.boxed(&vec![0.0; m], 2)).unwrap();
        let change = contacts.speeds_after(&resting[m..], 2) - &contacts.speeds;
        assert!(change.amax() < 1e-12, "{name}");

        let mut leaving = contacts.clone();
        for i in 0..m {
            leaving.speeds[i] = leaving.speeds[i].abs();
        }
        let z = solved(&leaving.boxed(&vec![bound; m], 2)).unwrap();
        let change = leaving.speeds_after(&z[m..], 2) - &leaving.speeds;
        assert!(change.amax() < 1e-9, "{name}: {change}");

        // Bounds of zero at some of the contacts.
        for only in 0..m {
            let most: Vec<f64> = (0..m)
                .map(|i| if i == only { bound } else { 0.0 })
                .collect();
            let z = solved(&contacts.boxed(&most, 2)).unwrap();
            assert!((0..m).all(|i| z[m + i] <= most[i] + 1e-14), "{name}");
        }

        let mut smooth = contacts.clone();
        smooth.friction.fill(0.0);
        for lcp in [smooth.boxed(&vec![bound; m], 2), smooth.unboxed(2)] {
            let z = solved(&lcp).unwrap();
            let forces = z.len() - 3 * m..z.len() - m;
            assert!(forces.map(|k| z[k]).all(|l| l < 1e-12), "{name}");
        }
    }
}

/// Contacts listed twice or three times share their impulses; the speeds are those of one.
#[test]
fn duplicate_contacts_change_no_speed() {
    for friction in [0.0, 0.3, 1e5] {
        let one = Contacts::block(friction);
        let single = solved(&one.unboxed(2)).unwrap();
        let expected = one.speeds_after(&single, 2);
        for copies in 2..5 {
            let many = one.repeated(copies);
            let lcp = many.unboxed(2);
            let z = solved(&lcp).unwrap();
            let speeds = many.speeds_after(&z, 2);
            for copy in 0..copies {
                for k in 0..2 {
                    let (un, ut) = (2 * copy + k, 2 * copies + 2 * copy + k);
                    assert!((speeds[un] - expected[k]).abs() < 1e-9, "{friction}");
                    assert!((speeds[ut] - expected[2 + k]).abs() < 1e-9, "{friction}");
                }
            }
            solved(&many.boxed(&vec![0.1; many.count()], 2)).unwrap();
        }
    }
}

/// Rounding in place of zeros: of W and of q.
#[test]
fn noise_in_place_of_zeros_is_harmless() {
    for (name, contacts, bound, _) in examples() {
        let mut random = SplitMix64(13);
        let mut solver = LcpSolver::new(25);
        let mut steps = Steps::new(&contacts, bound);
        for _ in 0..300 {
            let (mut w, mut q) = steps.problem(&mut random);
            for entry in w.iter_mut().chain(&mut q) {
                *entry += 1e-16 * random.between(-1.0, 1.0);
            }
            let noisy = solved_by(&mut solver, &(w, q));
            let (z, rung) = noisy.unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(rung, Attempt::Lemke, "{name}");
            steps.take(&z);
        }
    }
}

/// Section 9.2: half of the steps push at some of the contacts only, and covering vectors are drawn
/// between 1/2 and 2. A path that rounding spoils is caught by the ladder.
#[test]
fn faces_and_random_covering_vectors() {
    for (name, contacts, bound, _) in examples() {
        let mut random = SplitMix64(16);
        let mut solver = LcpSolver::new(25);
        let mut steps = Steps::new(&contacts, bound);
        let m = contacts.count();
        for _ in 0..1000 {
            let face = random.next();
            let most: Vec<f64> = (0..m)
                .map(|i| {
                    let pushes = face & 1 == 0 || face >> (i + 1) & 1 == 1;
                    if pushes { bound * random.unit() } else { 0.0 }
                })
                .collect();
            let (w, q) = steps.now.boxed(&most, 2);
            let d: Vec<f64> = q.iter().map(|_| random.between(0.5, 2.0)).collect();
            let solution = solver.solve_covered(&w, &q, &d);
            let solution = solution.unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(solution.residual() < 1e-10, "{name}");
            assert_eq!(
                residual(&w, &q, solution.z()),
                Ok(solution.residual()),
                "{name}"
            );
            steps.take(solution.z());
        }
    }
}

/// Friction of 1e5 at random contacts: the bounds on friction then hardly bind.
#[test]
fn large_friction() {
    let mut random = SplitMix64(14);
    let mut solver = LcpSolver::new(0);
    for draw in 0..300 {
        let count = 1 + draw % 5;
        let mut contacts = Contacts::random(count, 1 + draw % 2, &mut || random.unit());
        contacts.friction.fill(1e5);
        let most: Vec<f64> = (0..count).map(|_| random.unit()).collect();
        solved_by(&mut solver, &contacts.boxed(&most, 2)).unwrap();
        solved_by(&mut solver, &contacts.unboxed(2)).unwrap();
    }
}

/// Up to n = 60, with bounds and without, in the plane and in space, of full and of deficient rank:
/// all are solved. A hundred thousand in a release build.
#[test]
fn random_contacts_never_fail() {
    let draws: usize = if cfg!(debug_assertions) {
        4_000
    } else {
        100_000
    };
    let mut random = SplitMix64(15);
    let mut solver = LcpSolver::new(0);
    let mut beyond_lemke = 0;
    for draw in 0..draws {
        // Large ones are rarer.
        let largest = if draw % 8 == 0 { 12 } else { 5 };
        let count = 1 + usize::try_from(random.next() % largest).unwrap();
        let spatial = draw % 5 == 4 && count <= 8;
        let (contacts, polygon) = if spatial {
            (Contacts::foot(count, &mut || random.unit()), 4)
        } else {
            let bodies = 1 + usize::try_from(random.next() % 5).unwrap();
            (Contacts::random(count, bodies, &mut || random.unit()), 2)
        };
        let lcp = if draw % 2 == 0 {
            let most: Vec<f64> = (0..count)
                .map(|_| (random.between(-0.1, 1.0)).max(0.0))
                .collect();
            contacts.boxed(&most, polygon)
        } else {
            contacts.unboxed(polygon)
        };
        match solved_by(&mut solver, &lcp) {
            Ok((_, rung)) => beyond_lemke += usize::from(rung > Attempt::Lemke),
            Err(failure) => panic!("draw {draw}, n = {}: {failure}", lcp.1.len()),
        }
    }
    assert!(beyond_lemke <= draws / 10_000, "{beyond_lemke} of {draws}");
}
