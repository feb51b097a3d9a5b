//! Where the laws agree: one contact whose slip does not reverse (property 16), and outcomes of
//! steps and of the exact set as the bound goes to zero.

use saltation::impact::{
    AnitescuPotra, BoundLaw, EventExact, ExactPlanar, ImpactLaw, ImpactProblem, InOrder, LcpSteps,
    Routh, RouthInclusion, Sampler, SolutionRule,
};
use saltation::nalgebra::{DVector, dmatrix, dvector};

use crate::random_bits::SplitMix64;
use crate::support::problem;

/// How far two vectors are apart.
fn far(a: &[f64], b: &DVector<f64>) -> f64 {
    let pairs = a.iter().zip(b);
    pairs.fold(0.0, |most, (a, b)| most.max((a - b).abs()))
}

#[test]
fn one_contact_has_one_outcome_by_all_laws() {
    let mut random = SplitMix64(91);
    let (mut kept, mut stuck) = (0, 0);
    for _ in 0..400 {
        let (a, c) = (random.between(0.2, 2.0), random.between(0.2, 2.0));
        let b = random.between(-0.9, 0.9) * (a * c).sqrt();
        let before = dvector![-random.between(0.1, 1.0), random.between(-1.0, 1.0)];
        let mu = match random.next() % 5 {
            0 => 0.0,
            1 => 1e5,
            _ => 2.0 * random.unit(),
        };
        let problem =
            ImpactProblem::with_tangents(dmatrix![a, b; b, c], before.clone(), &[mu]).unwrap();
        let routh = Routh::new().outcome(&problem).unwrap().speeds;
        if before[1] * routh[1] < -1e-12 {
            continue;
        }
        kept += 1;
        stuck += usize::from(routh[1].abs() < 1e-12);
        let together = AnitescuPotra::new().resolve(&problem).unwrap();
        assert!(together.is_complete);
        assert_eq!(together.list.len(), 1, "{problem:?}");
        assert!(far(together.list[0].speeds.as_slice(), &routh) < 1e-9);
        let alone = InOrder::new(&[0]).outcome(&problem).unwrap();
        assert!(far(alone.speeds.as_slice(), &routh) < 1e-12);
        let set = ExactPlanar::new().resolve(&problem).unwrap();
        assert!(set.is_closed() && set.contains(routh.as_slice(), 1e-9));
        for (low, high) in set.bounds() {
            assert!(high - low < 1e-9, "{low} {high}");
        }
        let h = random.between(0.2, 1.0) / a;
        for rule in [SolutionRule::Lemke, SolutionRule::PickUniform] {
            let steps = LcpSteps::new(h).most_steps(200).rule(rule);
            let list = RouthInclusion::new(steps, 3)
                .resolve(&problem)
                .unwrap()
                .list;
            assert!(!list.is_empty());
            for outcome in &list {
                let off = far(outcome.speeds.as_slice(), &routh);
                assert!(off < 1e-7, "{rule:?}: {off:e} {problem:?}");
            }
        }
        let exact = EventExact::new(h).most_legs(200);
        let samples = Sampler::new(exact.start(&problem).unwrap())
            .sample(0..3)
            .unwrap();
        assert_eq!(samples.finished().count(), 3);
        for speeds in samples.finished() {
            assert!(far(speeds, &routh) < 1e-9);
        }
    }
    assert!(kept > 200 && stuck > 50, "{kept} {stuck}");
}

/// Where slip reverses, steps leave the exact set by a distance of the order of their bound (spec
/// 9.1). The greatest here: 0.046, 0.037, 0.023, 0.0063, 0.0032.
#[test]
fn steps_leave_the_exact_set_to_first_order() {
    let mut greatest: [f64; 5] = [0.0; 5];
    for name in [
        "rocking_block_mu0.2",
        "rocking_block_mu0.3",
        "rocking_block_slide_mu0.2",
    ] {
        let problem = problem(name, "rocking_block");
        let set = ExactPlanar::new().resolve(&problem).unwrap();
        assert!(set.is_closed());
        let mut far = [0.0; 5];
        for (k, far) in far.iter_mut().enumerate() {
            let h = 0.3 / f64::from(1 << k);
            let steps = LcpSteps::new(h)
                .most_steps(20 << k)
                .law(BoundLaw::Faces)
                .seed(2);
            let samples = Sampler::new(steps.start(&problem).unwrap())
                .sample(0..300)
                .unwrap();
            assert!(samples.finished().count() > 290, "{name} {h}");
            let distances = samples.finished().map(|u| set.distance(u));
            *far = distances.fold(0.0, f64::max);
            greatest[k] = greatest[k].max(*far);
            assert!(*far < 0.35 * h, "{name} {h}: {far}");
        }
    }
    // Over four halvings the distance falls by 16, give or take what 300 samples miss.
    assert!(greatest[0] > 0.01, "{greatest:?}");
    let order = (greatest[0] / greatest[4]).log2() / 4.0;
    assert!((0.8..1.3).contains(&order), "{order} {greatest:?}");
}
