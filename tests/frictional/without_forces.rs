//! Mechanisms on which no forces act, with friction and plastic impacts: between impacts gaps are lines, and a contact
//! that closed and is not struck again stays closed without a load. What says otherwise is rounding.

use saltation::event_driven::Breakdown;
use saltation::impact::ImpactFailure;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Run, Start, Status};

use crate::random_bits::SplitMix64;

const END: f64 = 3.0;
/// Steps and tries that a run needs at most; without looking into rounding some twenty.
const MOST_TRIES: usize = 100;

/// Constant masses, and gaps that are straight: with their rows written, or by differences.
#[derive(Clone, Debug)]
struct Straight {
    mass: Vec<f64>,
    offset: Vec<f64>,
    normals: Vec<Vec<f64>>,
    tangents: Vec<Vec<f64>>,
    friction: Vec<f64>,
    writes_rows: bool,
}

impl Straight {
    /// Of two to four freedoms and contacts; with `few` values of the entries of rows, so that many depend on each other.
    /// And velocities, towards the contacts.
    fn drawn(draw: &mut SplitMix64, few: bool) -> (Self, Vec<f64>) {
        let [n, m] = [(); 2].map(|()| 2 + (3.0 * draw.unit()) as usize);
        let mut list = |count: usize, least: f64, most: f64| -> Vec<f64> {
            (0..count).map(|_| draw.between(least, most)).collect()
        };
        let root = list(n * n, -1.0, 1.0);
        let entry = |i: usize, k: usize| -> f64 {
            let sum: f64 = (0..n).map(|l| root[i * n + l] * root[k * n + l]).sum();
            sum + if i == k { 0.3 } else { 0.0 }
        };
        let mass = (0..n * n).map(|at| entry(at / n, at % n)).collect();
        let mut rows = || -> Vec<Vec<f64>> {
            let mut rows: Vec<_> = (0..m).map(|_| list(n, -1.0, 1.0)).collect();
            for row in rows.iter_mut().filter(|_| few) {
                for a in row.iter_mut() {
                    *a = (2.0 * *a).round() / 2.0;
                }
                if row.iter().all(|a| *a == 0.0) {
                    row[0] = 1.0;
                }
            }
            rows
        };
        let (normals, tangents) = (rows(), rows());
        let toward = |i: usize| -1.5 * normals.iter().map(|row| row[i]).sum::<f64>();
        let v = list(n, -0.3, 0.3);
        let v = (0..n).map(|i| toward(i) + v[i]).collect();
        let mechanism = Self {
            mass,
            offset: list(m, 0.05, 0.6),
            friction: list(m, 0.1, 1.0),
            normals,
            tangents,
            writes_rows: false,
        };
        (mechanism, v)
    }

    fn along(row: &[f64], x: &[f64]) -> f64 {
        row.iter().zip(x).map(|(a, x)| a * x).sum()
    }

    fn run(&self, v: &[f64]) -> Run {
        let mut driver = EventDriven::new(ContactModel::new(self.clone())).unwrap();
        driver = driver.rtol(1e-10).atol(1e-12).max_steps(2000);
        let q = vec![0.0; v.len()];
        driver.integrate(&Start::at(0.0).q(&q).v(v), END).unwrap()
    }
}

impl MechanicalSystem for Straight {
    fn dof(&self) -> usize {
        self.mass.len().isqrt()
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&self.mass);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
    }
}

impl UnilateralConstraints for Straight {
    fn contacts(&self) -> usize {
        self.normals.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.offset[j] + Self::along(&self.normals[j], q)
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        if self.writes_rows {
            row.copy_from_slice(&self.normals[j]);
        }
        self.writes_rows
    }
    fn friction(&self, j: usize) -> f64 {
        self.friction[j]
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&self.tangents[j]);
    }
}

/// Between impacts states are lines on which no gap falls below zero: none that crosses is lost. Those that an impact
/// activates are zero there.
fn follows_lines(of: &Straight, run: &Run, v: &[f64]) {
    let n = v.len();
    let mut from = (0.0, [vec![0.0; n], v.to_vec()].concat());
    let ends = run
        .events()
        .iter()
        .map(|event| (event.t, &event.activated[..]));
    let starts = run.events().iter().map(|event| event.state_after.clone());
    let ends: Vec<_> = ends.chain([(run.t(), &[][..])]).collect();
    let starts: Vec<Vec<f64>> = starts.chain([run.state().as_slice().to_vec()]).collect();
    for ((t, activated), start) in ends.into_iter().zip(starts) {
        let (before, (q, v)) = (from.0, from.1.split_at(n));
        let q: Vec<f64> = q.iter().zip(v).map(|(q, v)| q + (t - before) * v).collect();
        for j in 0..of.contacts() {
            let gap = of.gap(j, &q);
            assert!(gap > -1e-9, "gap {j} is {gap} at {t}: {of:?}");
            assert!(!activated.contains(&j) || gap < 1e-9, "{j} at {t}: {of:?}");
        }
        let off = q.iter().zip(&start).map(|(q, x)| (q - x).abs());
        assert!(off.fold(0.0, f64::max) < 1e-9, "at {t}: {of:?}");
        from = (t, start);
    }
}

fn has_more_outcomes(run: &Run) -> bool {
    let reason = run.status().reason::<Breakdown>();
    matches!(reason, Some(Breakdown::Impact { reason, .. }) if matches!(**reason, ImpactFailure::NotSingle { .. }))
}

/// Random mechanisms: they move along lines in few steps, and with rows by differences as with written ones.
fn campaign(seed: u64, runs: usize, few: bool) {
    let draw = &mut SplitMix64(seed);
    let mut closed = 0;
    for _ in 0..runs {
        let (mut of, v) = Straight::drawn(draw, few);
        let run = of.run(&v);
        let tries = run.statistics().steps + run.statistics().rejections;
        assert!(tries <= MOST_TRIES, "{tries} tries: {of:?}, {v:?}");
        let is_end = *run.status() == Status::ReachedEnd;
        assert!(
            is_end || has_more_outcomes(&run),
            "{}: {of:?}, {v:?}",
            run.status()
        );
        follows_lines(&of, &run, &v);
        closed += run.phases().last().map_or(0, |last| last.closed.len());
        // Where contacts depend on each other rounding decides how many outcomes an impact has.
        if few {
            continue;
        }
        of.writes_rows = true;
        let written = of.run(&v);
        let ends = *written.status() == Status::ReachedEnd;
        assert_eq!(ends, is_end, "{of:?}, {v:?}");
        let off = run.state() - written.state();
        assert!(!is_end || off.amax() < 1e-7, "{off}: {of:?}, {v:?}");
    }
    assert!(
        closed > runs / 2,
        "{closed} closed contacts at the ends of {runs} runs"
    );
}

#[test]
fn mechanisms_move_along_lines() {
    campaign(1, 30, false);
}

#[test]
fn mechanisms_with_dependent_contacts_move_along_lines() {
    campaign(2, 60, true);
}

#[test]
#[ignore = "minutes"]
fn many_mechanisms_move_along_lines() {
    campaign(3, 5000, false);
    campaign(4, 5000, true);
}

/// A block that slides on a floor, with an upward force (N) that is small and no rounding, and a wheel in it.
struct Lifted(f64);

impl MechanicalSystem for Lifted {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1e-3]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, self.0, 0.0]);
    }
}

impl UnilateralConstraints for Lifted {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1]
    }
    fn friction(&self, _j: usize) -> f64 {
        0.5
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, 0.0]);
    }
}

#[test]
fn small_forces_lift_blocks() {
    let mut driver = EventDriven::new(ContactModel::new(Lifted(1e-8))).unwrap();
    let start = Start::at(0.0).q(&[0.0; 3]).v(&[1.0, 0.0, 0.0]);
    let run = driver.integrate(&start, END).unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    let gap = run.state()[1];
    assert!((gap - 4.5e-8).abs() < 1e-9, "{gap}");
}

/// Second differences along so fast a wheel are rounded by more than this force.
#[test]
fn small_forces_hold_blocks_beside_fast_wheels() {
    let (weight, speed) = (1e-4, 1e-3);
    let block = Lifted(-weight);
    let mut driver = EventDriven::new(ContactModel::new(block)).unwrap();
    let v = [speed, 0.0, 300.0];
    let start = Start::at(0.0).q(&[0.0; 3]).v(&v);
    let run = driver.integrate(&start, 30.0).unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    let (stops, gap) = (speed * speed / (2.0 * 0.5 * weight), run.state()[1]);
    assert!(gap.abs() < 1e-9, "{gap}");
    assert!((run.state()[0] - stops).abs() < 1e-6, "{}", run.state());
}
