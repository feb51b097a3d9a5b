//! What many samples of the examples have in common.

use saltation::impact::{BoundLaw, LcpSteps, SolutionRule};
use saltation::nalgebra::DVector;

use crate::reference::Case;

/// The samplers of the reference: name, law of the bounds, rule.
pub(crate) const SAMPLERS: [(&str, BoundLaw, SolutionRule); 4] = [
    ("uniform_d1", BoundLaw::Uniform, SolutionRule::Lemke),
    ("uniform_randcover", BoundLaw::Uniform, COVER),
    ("face_randcover", BoundLaw::Faces, COVER),
    ("enumerated", BoundLaw::Uniform, SolutionRule::PickUniform),
];
const COVER: SolutionRule = SolutionRule::LemkeRandomCover { spread: 100.0 };

/// What came of samples 0 to `count` of seed 1.
pub(crate) struct Statistics {
    pub(crate) count: u64,
    pub(crate) mean_steps: f64,
    pub(crate) finished: f64,
    pub(crate) low: DVector<f64>,
    pub(crate) high: DVector<f64>,
    /// Least and greatest kinetic energy after the impact.
    pub(crate) energies: [f64; 2],
    pub(crate) residual: f64,
    /// Speeds of the finished samples.
    pub(crate) points: Vec<DVector<f64>>,
}

impl Statistics {
    pub(crate) fn of(case: &Case, sampler: usize, count: u64) -> Self {
        Self::with(case, settings(case, sampler), count)
    }

    pub(crate) fn with(case: &Case, settings: LcpSteps, count: u64) -> Self {
        let problem = case.problem();
        let mut simulation = settings.start(&problem).unwrap();
        let size = problem.speeds().len();
        let before = 0.5 * problem.kinetic_norm().powi(2);
        let (mut u, mut p) = (DVector::zeros(size), DVector::zeros(size));
        let mut all = 0;
        let low = DVector::from_element(size, f64::INFINITY);
        let mut found = Self {
            count,
            mean_steps: 0.0,
            finished: 0.0,
            high: -&low,
            low,
            energies: [f64::INFINITY, f64::NEG_INFINITY],
            residual: 0.0,
            points: Vec::new(),
        };
        for k in 0..count {
            let ended = simulation
                .simulate(k, u.as_mut_slice(), p.as_mut_slice())
                .unwrap();
            all += ended.steps;
            found.residual = found.residual.max(ended.residual);
            if ended.finished {
                let energy = before + 0.5 * p.dot(&(problem.speeds() + &u));
                let [least, most] = found.energies;
                found.energies = [least.min(energy), most.max(energy)];
                found.low = found.low.inf(&u);
                found.high = found.high.sup(&u);
                found.points.push(u.clone());
            }
        }
        found.mean_steps = all as f64 / count as f64;
        found.finished = found.points.len() as f64 / count as f64;
        found
    }

    /// The distance of a point to the nearest sample.
    pub(crate) fn distance(&self, point: &DVector<f64>) -> f64 {
        let square = |u: &DVector<f64>| {
            let pairs = u.iter().zip(point);
            pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
        };
        let least = self.points.iter().map(square);
        least.fold(f64::INFINITY, f64::min).sqrt()
    }

    /// The greatest distance of the polygons of the exact set to the nearest sample, over points
    /// of a lattice.
    pub(crate) fn hausdorff(&self, case: &Case, lattice: u32) -> f64 {
        let mut most: f64 = 0.0;
        for [a, b, c] in triangles(case) {
            for i in 0..=lattice {
                for j in 0..=lattice - i {
                    let part = |k: u32| f64::from(k) / f64::from(lattice);
                    let point = &a + (&b - &a) * part(i) + (&c - &a) * part(j);
                    most = most.max(self.distance(&point));
                }
            }
        }
        most
    }
}

/// The settings of a sampler for a case, with seed 1.
pub(crate) fn settings(case: &Case, sampler: usize) -> LcpSteps {
    let (_, law, rule) = SAMPLERS[sampler];
    // With drawn covering vectors the reference made up to 12 steps: of the disks as coded, whose
    // samples are long, 56 % end by faces.
    let most = match rule {
        COVER => 12,
        _ => case.value("N") as usize,
    };
    let steps = LcpSteps::new(case.value("h")).most_steps(most).seed(1);
    steps.law(law).rule(rule)
}

/// Triangles that cover the polygons of a case: all of three vertices.
fn triangles(case: &Case) -> Vec<[DVector<f64>; 3]> {
    let mut polygons: Vec<Vec<DVector<f64>>> = Vec::new();
    for row in case.of("exact_vertex") {
        polygons.resize(polygons.len().max(row.k + 1), Vec::new());
        let polygon = &mut polygons[row.k];
        polygon.resize(polygon.len().max(row.i + 1), DVector::zeros(4));
        polygon[row.i][row.j] = row.value();
    }
    let mut all = Vec::new();
    for v in polygons {
        for i in 2..v.len().max(3) {
            for j in 1..i {
                for k in 0..j {
                    let at = |l: usize| v[l.min(v.len() - 1)].clone();
                    all.push([at(i), at(j), at(k)]);
                }
            }
        }
    }
    all
}

/// Lemke's method with ones as its covering vector never finds that the trailing foot slides: the
/// set that its samples show stays 0.049 short of the exact one.
#[test]
fn samples_of_all_solutions_fill_the_set_of_the_compass() {
    let case = Case::named("compass_gait");
    let far = |sampler| Statistics::of(&case, sampler, 1024).hausdorff(&case, 12);
    let (lemke, all) = (far(0), far(3));
    assert!(lemke > 0.045 && lemke < 0.055, "{lemke}");
    assert!(all < 0.017, "{all}");
}

/// Spec 9.2: 0.0016 with Sobol's sequence and 0.0024 with independent draws of 2^14 samples, here
/// the mean of four seeds with 2^11.
#[cfg(feature = "sobol")]
#[test]
fn sobol_samples_fill_the_set_of_the_block_sooner() {
    let case = Case::named("rocking_block");
    let far = |law| {
        let of = |seed| {
            let settings = settings(&case, 0).law(law).seed(seed);
            Statistics::with(&case, settings, 2048).hausdorff(&case, 20)
        };
        (1..5).map(of).sum::<f64>() / 4.0
    };
    let (uniform, sobol) = (far(BoundLaw::Uniform), far(BoundLaw::Sobol));
    println!("{uniform} {sobol}");
    assert!(sobol < uniform, "{sobol} {uniform}");
}
