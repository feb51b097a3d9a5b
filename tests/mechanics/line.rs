//! Bodies on a line, one above or beside the other, for tests of contacts that depend on each
//! other.

use saltation::event_driven::{EventDriven, MechanicalRun, Simulation};
use saltation::impact::ImpactLaw;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};

/// Accelerations of all bodies without contacts, at a time and positions.
pub(crate) type Field = fn(f64, &[f64], &mut [f64]);

/// Points of the given masses; contact `j` is between points `j − 1` and `j`, the first with the
/// floor if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) masses: Vec<f64>,
    pub(crate) floor: bool,
    pub(crate) restitution: f64,
    pub(crate) field: Field,
    /// Rows of gaps are written, or are differences.
    pub(crate) written: bool,
}

impl Line {
    pub(crate) fn above_floor(masses: &[f64], restitution: f64, field: Field) -> Self {
        Self {
            masses: masses.to_vec(),
            floor: true,
            restitution,
            field,
            written: true,
        }
    }

    pub(crate) fn beside(masses: &[f64], restitution: f64, field: Field) -> Self {
        Self {
            floor: false,
            ..Self::above_floor(masses, restitution, field)
        }
    }

    pub(crate) fn by(&self, law: impl ImpactLaw + Send + Sync + 'static) -> Simulation<Self> {
        Simulation::new(EventDriven::with_law(self.clone(), law))
            .unwrap()
            .rtol(1e-10)
            .atol(1e-11)
    }

    pub(crate) fn simulation(&self) -> Simulation<Self> {
        Simulation::new(EventDriven::new(self.clone()))
            .unwrap()
            .rtol(1e-10)
            .atol(1e-11)
    }

    /// The lowest gap of a run, between its steps too.
    pub(crate) fn lowest_gap(&self, run: &MechanicalRun) -> f64 {
        let trajectory = run.trajectory();
        let start = trajectory.times()[0];
        let times = (0..=4000).map(|k| start + (trajectory.t() - start) * f64::from(k) / 4e3);
        let gaps = times.flat_map(|t| {
            let state = trajectory.at(t).unwrap();
            (0..self.contacts()).map(move |j| self.gap(j, &state.as_slice()[..self.dof()]))
        });
        gaps.fold(f64::INFINITY, f64::min)
    }

    /// The points of contact `j`: below, if there is one, and above.
    fn points(&self, j: usize) -> (Option<usize>, usize) {
        if self.floor {
            (j.checked_sub(1), j)
        } else {
            (Some(j), j + 1)
        }
    }
}

impl MechanicalSystem for Line {
    fn dof(&self) -> usize {
        self.masses.len()
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for (i, m) in self.masses.iter().enumerate() {
            mass[i * (self.masses.len() + 1)] = *m;
        }
    }
    fn effort(&self, t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        (self.field)(t, q, effort);
        for (f, m) in effort.iter_mut().zip(&self.masses) {
            *f *= m;
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
}

impl UnilateralConstraints for Line {
    fn contacts(&self) -> usize {
        self.masses.len() - usize::from(!self.floor)
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let (below, above) = self.points(j);
        q[above] - below.map_or(0.0, |i| q[i])
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        let (below, above) = self.points(j);
        row.fill(0.0);
        row[above] = 1.0;
        if let Some(i) = below {
            row[i] = -1.0;
        }
        self.written
    }
    fn curvature(&self, _j: usize, _q: &[f64], _v: &[f64]) -> Option<f64> {
        self.written.then_some(0.0)
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}
