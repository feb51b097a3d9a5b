//! All solutions of a step, and all branches of a sample.

use saltation::impact::{
    Branch, Finish, ImpactLaw, ImpactProblem, LcpSteps, RouthInclusion, SolutionRule,
};
use saltation::lcp;
use saltation::nalgebra::{DMatrix, DVector};

use crate::contacts::Contacts;
use crate::random_bits::SplitMix64;
use crate::reference::Case;

const ALL: SolutionRule = SolutionRule::EnumerateAll { branches: 10_000 };

fn branches(problem: &ImpactProblem, settings: LcpSteps, sample: u64) -> (Vec<Branch>, bool) {
    let mut list = Vec::new();
    let mut simulation = settings.start(problem).unwrap();
    let all = simulation.branches(sample, |branch| list.push(branch));
    (list, all.unwrap())
}

fn of_contacts(contacts: &Contacts) -> ImpactProblem {
    let (delassus, speeds) = (contacts.delassus.clone(), contacts.speeds.clone());
    ImpactProblem::with_tangents(delassus, speeds, &contacts.friction).unwrap()
}

fn far(a: &[f64], b: &[f64]) -> f64 {
    let pairs = a.iter().zip(b);
    pairs.fold(0.0, |most, (a, b)| most.max((a - b).abs()))
}

/// The velocities of one step are those of all complementary bases of its problem.
#[test]
fn a_step_has_the_velocities_of_complementary_bases() {
    let mut random = SplitMix64(31);
    let mut several = 0;
    for case in 0..120 {
        // Two bodies: independent rows, so that impulses are isolated.
        let mut contacts = Contacts::random(2, 2, &mut || random.unit());
        contacts.friction.iter_mut().for_each(|mu| *mu *= 4.0);
        if case % 4 == 0 {
            contacts = Contacts::compass();
            contacts.friction[0] = random.between(2.0, 6.0);
            contacts.speeds[2] = random.between(-0.1, 0.1);
        }
        let problem = of_contacts(&contacts);
        if problem.speeds()[0].min(problem.speeds()[1]) >= 0.0 {
            continue;
        }
        let settings = LcpSteps::new(0.7).most_steps(1).rule(ALL).seed(case);
        let (list, all) = branches(&problem, settings, 0);
        // The bounds of that step, from a problem whose contacts take them whole.
        let mut most = [0.0; 2];
        let fast = ImpactProblem::with_tangents(
            DMatrix::identity(4, 4),
            DVector::from_vec(vec![-9.0, -9.0, 0.0, 0.0]),
            &[0.0; 2],
        );
        let fast = fast.unwrap();
        let (taken, _) = branches(&fast, settings, 0);
        most.copy_from_slice(&taken[0].impulses[..2]);
        let (w, q) = contacts.boxed(&most, 2);
        let mut expected: Vec<DVector<f64>> = Vec::new();
        for listed in lcp::enumerate(&w, &q).unwrap() {
            let speeds = contacts.speeds_after(&listed.z.as_slice()[2..], 2);
            if expected.iter().all(|known| (known - &speeds).amax() > 1e-7) {
                expected.push(speeds);
            }
        }
        assert!(all);
        assert_eq!(list.len(), expected.len(), "{case}");
        for branch in &list {
            let nearest = expected.iter().map(|e| far(e.as_slice(), &branch.speeds));
            assert!(nearest.fold(f64::INFINITY, f64::min) < 1e-8, "{case}");
            assert!(branch.ended.residual < 1e-10 && branch.ended.steps == 1);
        }
        several += usize::from(list.len() > 1);
    }
    assert!(several > 3, "{several}");
}

/// The sliding velocity of the trailing foot belongs to a basis of negative determinant, which
/// Lemke's method finds with no covering vector (spec 5).
#[test]
fn sliding_is_found_though_its_determinant_is_negative() {
    for (name, contacts) in [
        ("compass_gait", Contacts::compass()),
        ("ramone", Contacts::ramone()),
    ] {
        let case = Case::named(name);
        let problem = case.problem();
        // Bounds that do not bind: the solutions are those without bounds.
        let settings = LcpSteps::new(1e3).most_steps(1);
        let (list, all) = branches(&problem, settings.rule(ALL), 0);
        assert!(all);
        assert_eq!(list.len(), 3, "{name}");
        let sliding = list
            .iter()
            .find(|b| b.speeds[1].abs() < 1e-10 && b.speeds[3].abs() > 1e-2)
            .unwrap();
        for seed in 0..200 {
            let cover = SolutionRule::LemkeRandomCover { spread: 1e3 };
            let mut lemke = settings.rule(cover).seed(seed).start(&problem).unwrap();
            let (mut u, mut p) = ([0.0; 4], [0.0; 4]);
            lemke.simulate(0, &mut u, &mut p).unwrap();
            assert!(far(&u, &sliding.speeds) > 1e-4, "{name}");
        }
        let (w, q) = contacts.unboxed(2);
        let mut found = 0;
        for listed in lcp::enumerate(&w, &q).unwrap() {
            let z = &listed.z;
            if far(
                contacts.speeds_after(z.as_slice(), 2).as_slice(),
                &sliding.speeds,
            ) > 1e-6
            {
                continue;
            }
            // Opposite directions of friction that push against each other say nothing.
            if (0..2).any(|i| z[2 + 2 * i].min(z[3 + 2 * i]) > 0.0) {
                continue;
            }
            let basis: Vec<usize> = (0..z.len()).filter(|&i| z[i] > 0.0).collect();
            let block = DMatrix::from_fn(basis.len(), basis.len(), |i, j| w[(basis[i], basis[j])]);
            assert!(block.determinant() < 0.0, "{name}");
            found += 1;
        }
        assert_eq!(found, 1, "{name}");
    }
}

#[test]
fn branches_hold_what_single_samples_reach() {
    let problem = Case::named("compass_gait").problem();
    let settings = LcpSteps::new(0.25).most_steps(5).seed(1);
    let mut first = settings.rule(ALL).start(&problem).unwrap();
    let mut pick = settings
        .rule(SolutionRule::PickUniform)
        .start(&problem)
        .unwrap();
    let mut later = 0;
    for sample in 0..60 {
        let (list, all) = branches(&problem, settings.rule(ALL), sample);
        assert!(all);
        let (mut u, mut p) = ([0.0; 4], [0.0; 4]);
        let ended = first.simulate(sample, &mut u, &mut p).unwrap();
        assert_eq!(
            (&list[0].speeds[..], &list[0].impulses[..]),
            (&u[..], &p[..])
        );
        assert_eq!(list[0].ended, ended);
        let ended = pick.simulate(sample, &mut u, &mut p).unwrap();
        let at = list.iter().position(|b| b.speeds == u && b.impulses == p);
        let at = at.expect("a drawn branch is one of all");
        assert_eq!(list[at].ended, ended);
        later += usize::from(at > 0);
        for branch in &list {
            let push = DVector::from_column_slice(&branch.impulses);
            let speeds = problem.speeds() + problem.delassus() * &push;
            assert!(far(speeds.as_slice(), &branch.speeds) < 1e-12);
            assert!(0.5 * push.dot(&(problem.speeds() + speeds)) <= 1e-12);
        }
    }
    assert!(later > 20, "{later}");
}

#[test]
fn the_cap_on_branches_holds() {
    let problem = Case::named("compass_gait").problem();
    let settings = LcpSteps::new(0.25).most_steps(5).seed(1);
    let with = |branches| settings.rule(SolutionRule::EnumerateAll { branches });
    for most in [1, 2, 7] {
        let mut cut = 0;
        for sample in 0..40 {
            let (list, all) = branches(&problem, with(most), sample);
            let (whole, _) = branches(&problem, settings.rule(ALL), sample);
            assert_eq!(list.len(), whole.len().min(most));
            assert_eq!(all, whole.len() <= most);
            assert_eq!(list[0], whole[0]);
            assert!(list.iter().all(|branch| whole.contains(branch)));
            cut += usize::from(!all);
        }
        assert!(cut > 10);
    }
    for refused in [0, 10_001, usize::MAX] {
        assert!(with(refused).start(&problem).is_err());
    }
    let mut other = settings.start(&problem).unwrap();
    assert!(other.branches(0, |_| ()).is_err());
    assert!(with(3).start_energetic(&problem).is_err());
    // The small step at the end has its branches too.
    let (list, _) = branches(&problem, with(50).finish(Finish::SmallStep(0.1)), 3);
    let (plain, _) = branches(&problem, with(50), 3);
    assert!(list.len() >= plain.len() && list[0].ended.steps == plain[0].ended.steps + 1);
}

#[test]
fn the_inclusion_lists_all_branches() {
    let problem = Case::named("compass_gait").problem();
    let settings = LcpSteps::new(1e3).most_steps(1);
    let law = RouthInclusion::new(settings.rule(ALL), 3);
    let outcomes = law.resolve(&problem).unwrap();
    assert_eq!((outcomes.list.len(), outcomes.effort), (3, 9));
    let many = RouthInclusion::new(settings.rule(ALL), 1000);
    assert!(many.resolve(&problem).is_err());
}
