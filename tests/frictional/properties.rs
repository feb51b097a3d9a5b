//! What outcomes keep under changes of units, names, signs and coordinates.

use saltation::impact::{
    AnitescuPotra, BoundLaw, ImpactLaw, ImpactProblem, InOrder, LcpSteps, Outcomes, RouthInclusion,
    SolutionRule,
};
use saltation::nalgebra::{DMatrix, DVector};

use crate::random_bits::SplitMix64;
use crate::reference::Case;

/// A planar impact: mass, normals and tangents, velocity, friction.
#[derive(Clone)]
struct Impact {
    mass: DMatrix<f64>,
    rows: DMatrix<f64>,
    velocity: DVector<f64>,
    friction: Vec<f64>,
}

impl Impact {
    fn random(random: &mut SplitMix64, m: usize) -> Self {
        // Sometimes fewer coordinates than rows.
        let dim = m + 1 + (random.next() % 3) as usize;
        let root = DMatrix::from_fn(dim, dim, |_, _| random.between(-1.0, 1.0));
        Self {
            mass: &root * root.transpose() + DMatrix::identity(dim, dim) * 0.2,
            rows: DMatrix::from_fn(2 * m, dim, |_, _| random.between(-1.0, 1.0)),
            velocity: DVector::from_fn(dim, |_, _| random.between(-1.0, 1.0)),
            friction: (0..m).map(|_| 1.2 * random.unit()).collect(),
        }
    }

    fn problem(&self) -> ImpactProblem {
        ImpactProblem::from_mechanics_with_tangents(
            &self.mass,
            &self.rows,
            &self.velocity,
            &self.friction,
        )
        .unwrap()
    }

    /// Rows in another order of the contacts, tangents turned round where asked.
    fn renamed(&self, order: &[usize], signs: &[f64]) -> Self {
        let m = order.len();
        let mut other = self.clone();
        for (k, &i) in order.iter().enumerate() {
            other.rows.set_row(k, &self.rows.row(i));
            other
                .rows
                .set_row(m + k, &(self.rows.row(m + i) * signs[i]));
            other.friction[k] = self.friction[i];
        }
        other
    }
}

/// Every speed vector of one list, changed, is in the other, and their numbers agree.
fn same(a: &Outcomes, b: &Outcomes, change: impl Fn(&DVector<f64>) -> DVector<f64>) {
    assert_eq!((a.list.len(), a.is_complete), (b.list.len(), b.is_complete));
    for outcome in &a.list {
        let changed = change(&outcome.speeds);
        let off = |o: &saltation::impact::Outcome| (&o.speeds - &changed).amax();
        let nearest = b.list.iter().map(off).fold(f64::INFINITY, f64::min);
        assert!(nearest < 1e-8 * (1.0 + changed.amax()), "{nearest:e}");
    }
}

#[test]
fn laws_know_no_units_names_signs_or_coordinates() {
    let mut random = SplitMix64(71);
    for case in 0..60 {
        let m = 1 + case % 3;
        let impact = Impact::random(&mut random, m);
        let order: Vec<usize> = random.permutation(m);
        let forward: Vec<usize> = (0..m).collect();
        let laws: [(&dyn ImpactLaw, &dyn ImpactLaw); 2] = [
            (&AnitescuPotra::new(), &AnitescuPotra::new()),
            // In the renamed problem contact k is contact order[k].
            (&InOrder::new(&order), &InOrder::new(&forward)),
        ];
        for (law, renamed_law) in laws {
            let outcomes = law.resolve(&impact.problem()).unwrap();
            // speeds
            let mut faster = impact.clone();
            faster.velocity *= 3.0;
            same(&outcomes, &law.resolve(&faster.problem()).unwrap(), |u| {
                3.0 * u
            });
            // masses
            let mut heavier = impact.clone();
            heavier.mass *= 1e4;
            same(
                &outcomes,
                &law.resolve(&heavier.problem()).unwrap(),
                Clone::clone,
            );
            // coordinates
            let dim = impact.velocity.len();
            let turn = DMatrix::from_fn(dim, dim, |i, j| {
                random.between(-0.3, 0.3) + f64::from(u8::from(i == j))
            });
            let mut turned = impact.clone();
            turned.mass = turn.transpose() * &impact.mass * &turn;
            turned.mass = 0.5 * (&turned.mass + turned.mass.transpose());
            turned.rows = &impact.rows * &turn;
            turned.velocity = turn.clone().lu().solve(&impact.velocity).unwrap();
            same(
                &outcomes,
                &law.resolve(&turned.problem()).unwrap(),
                Clone::clone,
            );
            // names and signs
            let signs: Vec<f64> = (0..m)
                .map(|i| if i % 2 == 0 { -1.0 } else { 1.0 })
                .collect();
            let renamed = impact.renamed(&order, &signs).problem();
            same(&outcomes, &renamed_law.resolve(&renamed).unwrap(), |u| {
                let at = |k: usize| {
                    if k < m {
                        u[order[k]]
                    } else {
                        signs[order[k - m]] * u[m + order[k - m]]
                    }
                };
                DVector::from_fn(2 * m, |k, _| at(k))
            });
        }
    }
}

/// With modes, whose order knows no units. (Of several solutions Lemke's method takes one that
/// depends on units.)
#[test]
fn samples_know_no_units() {
    let mut random = SplitMix64(72);
    for case in 0..24 {
        let m = 1 + case % 2;
        let impact = Impact::random(&mut random, m);
        let mut faster = impact.clone();
        faster.velocity *= 4.0;
        let mut heavier = impact.clone();
        heavier.mass *= 8.0;
        let law = if case % 4 < 2 {
            BoundLaw::Uniform
        } else {
            BoundLaw::Faces
        };
        let run = |impact: &Impact, h: f64, sample: u64| {
            let problem = impact.problem();
            let steps = LcpSteps::new(h).law(law).rule(SolutionRule::PickUniform);
            let mut simulation = steps.start(&problem).unwrap();
            let (mut u, mut p) = (DVector::zeros(2 * m), DVector::zeros(2 * m));
            let ended = simulation
                .simulate(sample, u.as_mut_slice(), p.as_mut_slice())
                .unwrap();
            (ended.steps, u, p)
        };
        for sample in 0..6 {
            let (steps, u, p) = run(&impact, 0.4, sample);
            let (other, v, q) = run(&faster, 1.6, sample);
            assert_eq!(steps, other);
            assert!((&u * 4.0 - v).amax() < 1e-9 && (&p * 4.0 - q).amax() < 1e-7);
            let (other, v, _) = run(&heavier, 3.2, sample);
            assert!(steps == other && (&u - v).amax() < 1e-9);
        }
    }
}

#[test]
fn mirrored_blocks_have_mirrored_outcomes() {
    let problem = Case::named("rocking_block").problem();
    let list = RouthInclusion::new(LcpSteps::new(2.0).law(BoundLaw::Faces), 300)
        .resolve(&problem)
        .unwrap();
    assert!(!list.is_complete && list.effort > 200);
    // Both ends of the two segments, and nothing off the axes.
    for k in 0..2 {
        let most = list.list.iter().map(|o| o.speeds[k]).fold(0.0, f64::max);
        assert!((most - 0.0930183852794704).abs() < 1e-9, "{most}");
    }
    for outcome in &list.list {
        assert!(outcome.speeds[0].min(outcome.speeds[1]).abs() < 1e-9);
        assert!(outcome.remarks.is_empty(), "{outcome}");
    }
    let first = InOrder::new(&[0, 1]).outcome(&problem).unwrap().speeds;
    let second = InOrder::new(&[1, 0]).outcome(&problem).unwrap().speeds;
    assert!((first[0] - second[1]).abs() < 1e-14 && (first[1] - second[0]).abs() < 1e-14);
}
