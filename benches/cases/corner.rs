//! Corners: 2, 3, 8 and 100 planes through one point, or 1e-9 apart, and little else in the run.

use nalgebra::DMatrix;
use saltation::models::FieldTable;
use saltation::{EventFunction, Flow, Integrator, Mode, Projection, Start, Statistics, Status};

use super::draw;

/// The run starts this long before the corner, and ends as long after it [s].
pub(super) const HALF: f64 = 1e-3;

/// How the guards are arranged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner {
    pub(crate) guards: usize,
    pub(crate) dim: usize,
    /// Distance of the planes from the point: 0 or about 1e-9.
    pub(crate) gap: f64,
}

/// The corners measured.
pub(crate) fn corners() -> Vec<Corner> {
    let sizes = [(2, 2), (3, 3), (8, 3), (8, 8), (100, 3)];
    sizes
        .into_iter()
        .flat_map(|(guards, dim)| [0.0, 1e-9].map(|gap| Corner { guards, dim, gap }))
        .collect()
}

/// The ways through a corner: by tangents, from afar (about one field evaluation a guard), and the
/// default.
pub(crate) fn projections() -> [(&'static str, Projection); 2] {
    [
        (
            "horizon-order-1",
            Projection::Horizon { tau: 1.0, order: 1 },
        ),
        ("auto", Projection::Auto),
    ]
}

/// A run through a corner, and the same run beyond it: their difference is the cost of the corner.
pub(crate) struct Runs {
    pub(crate) through: Box<dyn FnMut() -> Statistics>,
    pub(crate) beyond: Box<dyn FnMut() -> Statistics>,
}

impl Corner {
    pub(crate) fn name(&self) -> String {
        let Self { guards, dim, gap } = self;
        let how = if *gap == 0.0 { "exact" } else { "1e-9-apart" };
        format!("{guards}-guards-{dim}-states-{how}")
    }

    /// The runs; all rates lie in [3/4, 5/4].
    pub(crate) fn runs(&self, projection: &Projection) -> Runs {
        match (self.guards, self.dim) {
            (100, _) => self.pair::<_, 3>(&self.additive(), projection),
            (_, 2) => self.pair::<_, 2>(&self.table(), projection),
            (_, 3) => self.pair::<_, 3>(&self.table(), projection),
            _ => self.pair::<_, 8>(&self.table(), projection),
        }
    }

    /// Entry `i` of a vector near the first axis: the product of two of them lies in [3/4, 5/4].
    fn entry(&self, i: usize, seed: usize) -> f64 {
        if i == 0 {
            1.0
        } else {
            draw(64 * seed + i) / (self.dim as f64).sqrt()
        }
    }

    fn offset(&self, k: usize) -> f64 {
        self.gap * draw(64 * k)
    }

    pub(super) fn table(&self) -> FieldTable {
        let words = 1 << self.guards;
        let normals = DMatrix::from_fn(self.guards, self.dim, |k, i| self.entry(i, k));
        let offsets: Vec<_> = (0..self.guards).map(|k| self.offset(k)).collect();
        let fields = DMatrix::from_fn(self.dim, words, |i, word| self.entry(i, 1000 + word));
        FieldTable::new(normals, &offsets, fields).expect("sizes fit")
    }

    fn additive(&self) -> Additive {
        let vector = |seed: usize, size: f64| std::array::from_fn(|i| size * self.entry(i, seed));
        let without_first = |[_, y, z]: [f64; 3]| [0.0, y, z];
        Additive {
            normals: (0..self.guards).map(|k| vector(k, 1.0)).collect(),
            offsets: (0..self.guards).map(|k| self.offset(k)).collect(),
            base: vector(1000, 1.0),
            kicks: (0..self.guards)
                .map(|k| without_first(vector(2000 + k, 0.01)))
                .collect(),
        }
    }

    fn pair<S, const D: usize>(&self, system: &S, projection: &Projection) -> Runs
    where
        S: Flow + EventFunction + Clone + 'static,
    {
        let start = |on: bool, time: f64| {
            let mut mode = Mode::new(self.guards);
            for k in 0..self.guards {
                mode.set(k, on);
            }
            let mut field = [0.0; D];
            system.flow(0.0, &[0.0; D], &mode, &mut field);
            field.map(|f| time * f)
        };
        let run = |x0: [f64; D], crossings: usize| -> Box<dyn FnMut() -> Statistics> {
            let mut integrator = Integrator::fixed::<D>(system.clone())
                .expect("D states")
                .first_step(2.0 * HALF)
                .projection(projection.clone());
            Box::new(move || {
                let summary = integrator
                    .observe(&Start::at(0.0).x(&x0), 2.0 * HALF, &mut ())
                    .expect("good input");
                assert_eq!(summary.status, Status::ReachedEnd);
                assert_eq!(summary.statistics.crossings, crossings);
                summary.statistics
            })
        };
        Runs {
            through: run(start(false, -HALF), self.guards),
            beyond: run(start(true, HALF), 0),
        }
    }
}

/// A field to which each guard crossed adds a constant, with `flip`: many guards without a table of
/// `2^n` fields.
#[derive(Clone, Debug)]
struct Additive {
    normals: Vec<[f64; 3]>,
    offsets: Vec<f64>,
    base: [f64; 3],
    kicks: Vec<[f64; 3]>,
}

impl Flow for Additive {
    fn dim(&self) -> usize {
        3
    }
    fn flow(&self, _t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&self.base);
        for k in mode.ones() {
            for i in 0..3 {
                dx[i] += self.kicks[k][i];
            }
        }
    }
    fn flip(&self, _t: f64, _x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
        let sign = if mode.contains(k) { 1.0 } else { -1.0 };
        for i in 0..3 {
            dx[i] += sign * self.kicks[k][i];
        }
        true
    }
}

impl EventFunction for Additive {
    fn count(&self) -> usize {
        self.normals.len()
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        let a = &self.normals[k];
        a[0] * x[0] + a[1] * x[1] + a[2] * x[2] - self.offsets[k]
    }
    fn gradient(&self, k: usize, _t: f64, _x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        dh.copy_from_slice(&self.normals[k]);
        Some(0.0)
    }
    fn is_affine(&self, _k: usize) -> bool {
        true
    }
    fn ignores_mode(&self) -> bool {
        true
    }
    fn resets(&self) -> bool {
        false
    }
}
