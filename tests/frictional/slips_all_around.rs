//! All outcomes of an impact of one contact in space, against a dense search over the direction of its slip.

use saltation::impact::{ImpactLaw, ImpactProblem, Moreau};
use saltation::nalgebra::{DMatrix, DVector};

use crate::random_bits::SplitMix64;

/// `G` of a contact of a body, its coefficient of friction and the velocity before, of which the first falls.
struct Blow {
    gram: DMatrix<f64>,
    friction: f64,
    before: DVector<f64>,
}

/// `G` and velocity of a corner of a box, with three outcomes at a coefficient of 2.
fn several() -> (DMatrix<f64>, DVector<f64>) {
    let [a, b, c] = [-0.8923279704439417, 1.17660433499913, 1.4780376183121078];
    let diagonal = [2.438865122889288, 4.049131344956572, 3.319323654524199];
    let [x, y, z] = diagonal;
    (
        DMatrix::from_row_slice(3, 3, &[x, a, b, a, y, c, b, c, z]),
        DVector::from_row_slice(&[-0.0480071544463484, 0.7970171077369913, 0.8038268015814033]),
    )
}

impl Blow {
    /// Of any body, or one like that of [`several`], which has more than one outcome.
    fn draw(random: &mut SplitMix64) -> Self {
        if random.unit() < 0.5 {
            let root = DMatrix::from_fn(3, 3, |_, _| random.between(-1.0, 1.0));
            let own = DMatrix::identity(3, 3) * random.between(1e-3, 0.5);
            let before = DVector::from_fn(3, |i, _| match i {
                0 => -random.between(0.05, 1.0),
                _ => random.between(-1.0, 1.0),
            });
            return Self {
                gram: &root * root.transpose() + own,
                friction: random.between(0.2, 6.0),
                before,
            };
        }
        let (gram, before) = several();
        let by = DMatrix::from_fn(3, 3, |_, _| random.between(-0.02, 0.02));
        Self {
            gram: gram + &by + by.transpose(),
            friction: random.between(1.8, 2.2),
            before: before.map(|speed| speed * random.between(0.95, 1.05)),
        }
    }

    /// The velocity after a slip in a direction, elastic along the normal; none where the contact would pull.
    fn slips(&self, angle: f64) -> Option<DVector<f64>> {
        let (sin, cos) = angle.sin_cos();
        let push = DVector::from_row_slice(&[1.0, -self.friction * cos, -self.friction * sin]);
        let by = &self.gram * &push;
        let impulse = -2.0 * self.before[0] / by[0];
        (impulse >= 0.0).then(|| &self.before + by * impulse)
    }

    /// The rate across a slip, and that along it.
    fn across(&self, angle: f64) -> Option<[f64; 2]> {
        let (after, (sin, cos)) = (self.slips(angle)?, angle.sin_cos());
        Some([
            cos * after[2] - sin * after[1],
            cos * after[1] + sin * after[2],
        ])
    }

    /// The velocities after all slips that are slower in no other direction.
    fn outcomes(&self) -> Vec<DVector<f64>> {
        let angle = |k: u32| std::f64::consts::TAU * (f64::from(k) + 0.37) / 4096.0;
        let mut found = Vec::new();
        for k in 0..4096 {
            let (mut low, mut high) = (angle(k), angle(k + 1));
            let (Some(start), Some(end)) = (self.across(low), self.across(high)) else {
                continue;
            };
            if start[0] * end[0] > 0.0 {
                continue;
            }
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                match self.across(middle) {
                    Some(here) if here[0] * start[0] > 0.0 => low = middle,
                    _ => high = middle,
                }
            }
            let Some([across, along]) = self.across(low) else {
                continue;
            };
            if across.abs() < 1e-9 && along > 1e-6 {
                found.extend(self.slips(low));
            }
        }
        found
    }
}

#[test]
fn all_slips_of_one_contact_are_found() {
    let mut random = SplitMix64(0x51);
    let (mut several, cases) = (0, if cfg!(debug_assertions) { 200 } else { 5000 });
    for case in 0..cases {
        let blow = Blow::draw(&mut random);
        let (gram, before) = (blow.gram.clone(), blow.before.clone());
        let problem = ImpactProblem::with_tangents(gram, before, &[blow.friction]).unwrap();
        let problem = problem.with_restitution(1.0).unwrap();
        let found = Moreau::new().resolve(&problem).unwrap();
        let slips = blow.outcomes();
        several += usize::from(slips.len() > 1);
        for after in slips {
            let near = |known: &&saltation::impact::Outcome| {
                let speeds = &blow.before + &blow.gram * &known.impulses;
                (speeds - &after).amax() < 1e-6
            };
            assert!(found.list.iter().any(|of| near(&of)), "{case} {after}");
        }
    }
    assert!(several > 2, "{several}");
}

/// One with three outcomes, and one whose slip was not found at all.
#[test]
fn slips_that_iterations_miss_are_found() {
    let (gram, before) = several();
    let problem = ImpactProblem::with_tangents(gram, before, &[2.0]).unwrap();
    let problem = problem.with_restitution(1.0).unwrap();
    let found = Moreau::new().resolve(&problem).unwrap();
    assert_eq!((found.list.len(), found.is_complete), (3, true));
    let [a, b, c] = [1.798469284630527, 10.875018913131727, 26.397760909171897];
    let [y, z] = [20.423860201799933, 121.12534451554006];
    let gram = DMatrix::from_row_slice(3, 3, &[1.0, a, b, a, y, c, b, c, z]);
    let before = DVector::from_row_slice(&[-0.02953708583080941, -1.0, -0.7820075847829885]);
    let problem = ImpactProblem::with_tangents(gram.clone(), before.clone(), &[5.0]).unwrap();
    let problem = problem.with_restitution(0.8160473360786717).unwrap();
    let found = Moreau::new().tangential(1.0).resolve(&problem).unwrap();
    assert!(found.list.len() == 1 && found.is_complete);
    let after = before + gram * &found.list[0].impulses;
    assert!((after[1] + 0.759324).abs() < 1e-6, "{after}");
}
