//! What every step of every sample keeps, and the mirror images of steps.

use saltation::impact::{ImpactProblem, LcpSteps, SolutionRule};
use saltation::nalgebra::{DMatrix, DVector};

use crate::random_bits::SplitMix64;
use crate::reference::Case;

/// A step of a sample: speeds before and after, impulses, bounds of the normal impulses.
struct Step {
    before: DVector<f64>,
    after: DVector<f64>,
    push: DVector<f64>,
    most: DVector<f64>,
}

/// The steps of a sample, by samples that end after one step, two and so on; none where a step is
/// not solved.
fn steps(
    problem: &ImpactProblem,
    settings: LcpSteps,
    sample: u64,
    most: usize,
) -> Option<Vec<Step>> {
    let size = problem.speeds().len();
    let bounds = bounds(problem.contacts(), settings, sample, most);
    let mut before = problem.speeds().clone();
    let mut spent = DVector::zeros(size);
    let mut list = Vec::new();
    for (number, most) in bounds.into_iter().enumerate() {
        let mut simulation = settings.most_steps(number + 1).start(problem).unwrap();
        let (mut u, mut p) = (DVector::zeros(size), DVector::zeros(size));
        let ended = simulation.simulate(sample, u.as_mut_slice(), p.as_mut_slice());
        let ended = ended.ok()?;
        if ended.steps <= number {
            break;
        }
        assert!(ended.residual <= 1e-10, "{:e}", ended.residual);
        let push = &p - &spent;
        list.push(Step {
            before,
            after: u.clone(),
            push,
            most,
        });
        (before, spent) = (u, p);
        if ended.finished {
            break;
        }
    }
    Some(list)
}

/// The bounds of the steps of a sample: contacts that nothing stops take them whole.
fn bounds(contacts: usize, settings: LcpSteps, sample: u64, most: usize) -> Vec<DVector<f64>> {
    let falling = DVector::from_element(contacts, -1e9);
    let problem = ImpactProblem::new(DMatrix::identity(contacts, contacts), falling).unwrap();
    let mut spent = DVector::zeros(contacts);
    let mut of_step = |steps: usize| {
        let mut simulation = settings.most_steps(steps).start(&problem).unwrap();
        let (mut u, mut p) = (spent.clone(), spent.clone());
        simulation
            .simulate(sample, u.as_mut_slice(), p.as_mut_slice())
            .unwrap();
        let bounds = &p - &spent;
        spent = p;
        bounds
    };
    (1..=most).map(&mut of_step).collect()
}

/// An impact in the plane with up to three contacts: some frictionless or of friction 1e5, some
/// twice the same contact, some with fewer coordinates than rows.
fn random(random: &mut SplitMix64) -> ImpactProblem {
    loop {
        let m = 1 + (random.next() % 3) as usize;
        let dim = 2 + (random.next() % 5) as usize;
        let mut rows = DMatrix::from_fn(2 * m, dim, |_, _| random.between(-1.0, 1.0));
        if m > 1 && random.unit() < 0.2 {
            let (normal, tangent) = (rows.row(0).clone_owned(), rows.row(m).clone_owned());
            rows.set_row(1, &normal);
            rows.set_row(m + 1, &tangent);
        }
        let friction: Vec<f64> = (0..m)
            .map(|_| match random.next() % 6 {
                0 => 0.0,
                1 => 1e5,
                _ => 1.5 * random.unit(),
            })
            .collect();
        let mass = DMatrix::from_diagonal(&DVector::from_fn(dim, |_, _| random.between(0.3, 3.0)));
        let velocity = DVector::from_fn(dim, |_, _| random.between(-1.0, 1.0));
        let problem =
            ImpactProblem::from_mechanics_with_tangents(&mass, &rows, &velocity, &friction);
        let problem = problem.unwrap();
        if problem.speeds().rows(0, m).min() < -0.05 {
            return problem;
        }
    }
}

/// Properties 2, 4, 5 and 12 of the specification, and lemma 13, of each step.
fn keeps_its_laws(problem: &ImpactProblem, step: &Step, label: &str) {
    let m = problem.contacts();
    let Step {
        before,
        after,
        push,
        most,
    } = step;
    // Impulses differ by rounding of their sums.
    let fine = 1e-10 * (1.0 + push.amax());
    let gained = 0.5 * push.dot(&(before + after));
    assert!(gained <= 1e-12 * (1.0 + push.amax()), "{label}: {gained:e}");
    let moved = (before + problem.delassus() * push - after).amax();
    assert!(moved <= fine, "{label}: {moved:e}");
    for i in 0..m {
        let (normal, speed) = (push[i], after[i]);
        assert!(
            normal >= -fine && normal <= most[i] + fine,
            "{label}: {normal} {}",
            most[i]
        );
        // Less than it may: it no longer approaches.
        assert!(
            most[i] - normal <= fine || speed >= -1e-9,
            "{label}: {speed:e}"
        );
        // It separates: it does not push.
        assert!(normal <= fine || speed <= 1e-9, "{label}: {speed:e}");
        let (along, slip) = (push[m + i], after[m + i]);
        // What rounding of the normal impulse lets friction be.
        let mu = problem.friction()[i];
        let rough = fine * (1.0 + mu);
        assert!(along.abs() <= mu * normal + rough, "{label}: {along}");
        if slip.abs() > 1e-8 && normal < most[i] - fine || mu < 1e3 && slip.abs() > 1e-8 {
            let sliding = -slip.signum() * mu * normal;
            assert!(
                (along - sliding).abs() <= rough,
                "{label}: {along} {sliding}"
            );
        }
    }
    let full = (0..m).any(|i| most[i] - push[i] <= fine);
    let over = (0..m).all(|i| after[i] >= -1e-9);
    assert!(full || over, "{label}: lemma 13");
}

#[test]
fn every_step_is_a_solution_of_its_problem() {
    let mut draws = SplitMix64(81);
    let (mut made, mut rough, mut failed) = (0, 0, 0);
    for case in 0..150 {
        let problem = random(&mut draws);
        let h = draws.between(0.05, 2.0);
        let mut rules = vec![
            SolutionRule::Lemke,
            SolutionRule::LemkeRandomCover { spread: 30.0 },
        ];
        if problem.contacts() < 3 {
            rules.push(SolutionRule::PickUniform);
        }
        for rule in rules {
            let settings = LcpSteps::new(h).rule(rule).seed(case);
            for sample in 0..3 {
                let label = format!("{case} {rule:?} {sample}");
                let Some(list) = steps(&problem, settings, sample, 6) else {
                    failed += 1;
                    continue;
                };
                assert!(!list.is_empty());
                for step in &list {
                    keeps_its_laws(&problem, step, &label);
                }
                made += list.len();
                rough += usize::from(problem.friction().contains(&1e5));
            }
        }
    }
    assert!(made > 2000 && rough > 100, "{made} {rough}");
    assert_eq!(failed, 0);
}

/// One step from a velocity with the bounds of a sample, or with bounds exchanged by an order of
/// the contacts; all velocities after it.
fn one_step(
    case: &Case,
    velocity: &DVector<f64>,
    order: &[usize],
    sample: u64,
) -> Vec<(DVector<f64>, DVector<f64>)> {
    let settings = LcpSteps::new(case.value("h")).most_steps(1).seed(4);
    let m = order.len();
    let drawn = bounds(m, settings, sample, 1).remove(0);
    // A row that is s times as long has 1/s of the impulse: a bound that is s times the drawn one.
    let longer = |i: usize| drawn[order[i]] / drawn[i];
    let rows = case.jacobian();
    let scaled = DMatrix::from_fn(2 * m, rows.ncols(), |i, j| longer(i % m) * rows[(i, j)]);
    let problem = ImpactProblem::from_mechanics_with_tangents(
        &case.matrix("M"),
        &scaled,
        velocity,
        case.vector("mu").as_slice(),
    );
    let problem = problem.unwrap();
    let rule = SolutionRule::EnumerateAll { branches: 50 };
    let mut simulation = settings.rule(rule).start(&problem).unwrap();
    let mut list = Vec::new();
    let all = simulation.branches(sample, |branch| {
        let impulses = DVector::from_fn(2 * m, |i, _| longer(i % m) * branch.impulses[i]);
        let speeds = DVector::from_fn(2 * m, |i, _| branch.speeds[i] / longer(i % m));
        list.push((speeds, impulses));
    });
    assert!(all.is_ok());
    list
}

/// Property 8: the block and the disks are their own mirror images.
#[test]
fn reflected_bounds_have_reflected_velocities() {
    for (name, order, samples) in [
        ("rocking_block", &[1, 0][..], 12),
        ("disk_stack", &[1, 0, 3, 2, 4], 2),
    ] {
        let case = Case::named(name);
        let (m, rows) = (order.len(), case.jacobian());
        let mirror = |u: &DVector<f64>| {
            DVector::from_fn(2 * m, |i, _| {
                if i < m {
                    u[order[i]]
                } else {
                    -u[m + order[i - m]]
                }
            })
        };
        let own: Vec<usize> = (0..m).collect();
        let response = case
            .matrix("M")
            .cholesky()
            .unwrap()
            .solve(&rows.transpose());
        for sample in 0..samples {
            let mut velocity = case.vector("v_pre");
            // From the symmetric velocity, and from one that is not, by its image.
            for _ in 0..2 {
                let plain = one_step(&case, &velocity, &own, sample);
                let before = mirror(&(&rows * &velocity));
                // The image of the velocity: that of least change with the reflected speeds.
                let gap = before - &rows * &velocity;
                let gram = &rows * &response;
                let push = gram.pseudo_inverse(1e-10).unwrap() * gap;
                let image = &velocity + &response * push;
                let reflected = one_step(&case, &image, order, sample);
                assert_eq!(plain.len(), reflected.len(), "{name} {sample}");
                for (speeds, _) in &plain {
                    let expected = mirror(speeds);
                    let off = |found: &(DVector<f64>, DVector<f64>)| (&found.0 - &expected).amax();
                    let nearest = reflected.iter().map(off).fold(f64::INFINITY, f64::min);
                    assert!(nearest < 1e-9, "{name} {sample}: {nearest:e}");
                }
                velocity += &response * &plain[0].1;
            }
        }
    }
}
