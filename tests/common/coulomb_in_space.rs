//! A check of runs in space against the equations of motion and Coulomb's law, from the model alone:
//! accelerations are differences of the run, and the forces are those that the equations of motion
//! leave. Of bodies whose coordinates are three places, of which the third is the height, and three
//! angles.

use saltation::event_driven::Breakdown;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{ContactModel, Run};

use crate::legged::GRAVITY;

fn dot(row: &[f64], v: &[f64]) -> f64 {
    row.iter().zip(v).map(|(a, b)| a * b).sum()
}

/// The diagonal of the mass matrix.
fn masses<S: MechanicalSystem>(model: &S, q: &[f64]) -> Vec<f64> {
    let d = model.dof();
    let mut all = vec![0.0; d * d];
    model.mass(q, &mut all);
    (0..d).map(|k| all[k * (d + 1)]).collect()
}

fn weight(masses: &[f64]) -> f64 {
    masses.iter().skip(2).step_by(6).sum::<f64>() * GRAVITY
}

/// Rows of normal and tangents of a contact.
fn rows_of<S>(model: &S, j: usize, q: &[f64]) -> [Vec<f64>; 3]
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let d = model.dof();
    let (mut normal, mut along) = (vec![0.0; d], vec![0.0; 2 * d]);
    model.gap_row(j, q, &mut normal);
    model.tangent_rows(j, q, &mut along);
    [normal, along[..d].to_vec(), along[d..].to_vec()]
}

/// How far `right` is from all `matrix f` with forces that push, three of them in a cone where a
/// coefficient of friction is given, one along a slip else: by projected gradients, accelerated, until it
/// is below `enough`.
fn distance_from_cones(
    matrix: &DMatrix<f64>,
    right: &DVector<f64>,
    cones: &[Option<f64>],
    enough: f64,
) -> f64 {
    let project = |f: &mut DVector<f64>| {
        let mut place = 0;
        for cone in cones {
            let n = f[place];
            let Some(mu) = cone else {
                f[place] = n.max(0.0);
                place += 1;
                continue;
            };
            let along = f[place + 1].hypot(f[place + 2]);
            if along > mu * n {
                let kept = ((n + mu * along) / (1.0 + mu * mu)).max(0.0);
                let part = if along > 0.0 { mu * kept / along } else { 0.0 };
                f[place] = kept;
                f[place + 1] *= part;
                f[place + 2] *= part;
            }
            place += 3;
        }
    };
    let square = matrix.transpose() * matrix;
    let rate = 1.0 / square.norm();
    let mut f = DVector::zeros(matrix.ncols());
    let (mut ahead, mut weight): (DVector<f64>, f64) = (f.clone(), 1.0);
    for _ in 0..20_000 {
        let misses = matrix * &ahead - right;
        let mut next = &ahead - rate * matrix.tr_mul(&misses);
        project(&mut next);
        if (matrix * &next - right).norm() < enough {
            return 0.0;
        }
        let grown = 0.5 * (1.0 + (1.0 + 4.0 * weight * weight).sqrt());
        ahead = &next + (weight - 1.0) / grown * (&next - &f);
        (f, weight) = (next, grown);
    }
    (matrix * &f - right).norm()
}

/// The equation that fails at a time between the events of a run, if any, and by which part of the weight. Where a slip turns fast differences are off by the square of their step: what is
/// wrong is so with a smaller one too.
fn fault_at<S>(model: &S, run: &Run, t: f64) -> Option<(&'static str, f64)>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    fault_within(model, run, t, 2e-5).and_then(|_| fault_within(model, run, t, 5e-6))
}

/// Likewise, with differences of this step.
fn fault_within<S>(model: &S, run: &Run, t: f64, h: f64) -> Option<(&'static str, f64)>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let x = run.state_at(t).ok()?;
    let d = model.dof();
    let (q, v) = x.as_slice().split_at(d);
    let masses = masses(model, q);
    let weight = weight(&masses);
    // Accelerations by differences of the run, which are those of its interpolant.
    let ends = [t - h, t + h].map(|t| run.state_at(t));
    let [Ok(before), Ok(after)] = ends else {
        return None;
    };
    let mut left = vec![0.0; d];
    model.effort(t, q, v, &mut left);
    for k in 0..d {
        left[k] = masses[k] * (after[d + k] - before[d + k]) / (2.0 * h) - left[k];
    }
    // The columns of forces: normals with friction where a contact slips, all three where it sticks.
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut of = Vec::new();
    let mut worst = ("", 0.0);
    let mut note = |name: &'static str, size: f64| {
        if size > worst.1 {
            worst = (name, size);
        }
    };
    for j in 0..model.contacts() {
        let gap = model.gap(j, q);
        let rows = rows_of(model, j, q);
        // Between nodes the interpolant is as exact as steps are.
        note("penetrates", -gap - 1e-7);
        let closed = gap.abs() < 1e-7 && dot(&rows[0], v).abs() < 1e-6;
        if !closed {
            continue;
        }
        let slip = [dot(&rows[1], v), dot(&rows[2], v)];
        let speed = slip[0].hypot(slip[1]);
        if speed > 1e-4 {
            let mu = model.friction(j);
            let along =
                |k: usize| rows[0][k] - mu * (slip[0] * rows[1][k] + slip[1] * rows[2][k]) / speed;
            columns.push((0..d).map(along).collect());
            of.push((j, false));
        } else if speed > 1e-8 {
            // About to stop, or beginning: its direction turns too fast for differences.
            return None;
        } else {
            columns.extend(rows);
            of.push((j, true));
        }
    }
    let lever = 0.2;
    let scale = |k: usize| if k % 6 < 3 { 1.0 } else { lever };
    let matrix = DMatrix::from_fn(d, columns.len(), |k, c| columns[c][k] / scale(k));
    let right = DVector::from_fn(d, |k, _| left[k] / scale(k));
    let (residual, forces, rank) = if columns.is_empty() {
        (right.clone(), DVector::zeros(0), 0)
    } else {
        let svd = matrix.clone().svd(true, true);
        let forces = svd.solve(&right, 1e-7).ok()?;
        (&matrix * &forces - &right, forces, svd.rank(1e-7))
    };
    note("moves without a force", residual.norm() / weight - 2e-4);
    // Forces of dependent contacts are not unique: some of them lie in the cones.
    if rank < columns.len() {
        let cones: Vec<_> = of
            .iter()
            .map(|&(j, sticks)| sticks.then_some(model.friction(j)))
            .collect();
        let missing = distance_from_cones(&matrix, &right, &cones, 1e-5 * weight);
        note("has no forces in the cones", missing / weight - 2e-4);
    } else {
        let mut place = 0;
        for (j, sticks) in of {
            let push = forces[place];
            note("pulls", -push / weight - 2e-4);
            if sticks {
                let along = forces[place + 1].hypot(forces[place + 2]);
                note(
                    "leaves its cone",
                    (along - model.friction(j) * push) / weight - 2e-4,
                );
            }
            place += if sticks { 3 } else { 1 };
        }
    }
    (worst.1 > 0.0).then_some(worst)
}

/// The change of energy less the work of efforts and friction, and of impacts (J).
pub(crate) fn energy_fault<S>(system: &S, model: &ContactModel<S>, run: &Run) -> f64
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let d = system.dof();
    let start = run.states().column(0).into_owned();
    let masses = masses(system, &start.as_slice()[..d]);
    let energy = |x: &[f64]| -> f64 {
        let of = |k: usize| {
            let height = if k % 6 == 2 { x[k] } else { 0.0 };
            masses[k] * (0.5 * x[d + k] * x[d + k] + GRAVITY * height)
        };
        (0..d).map(of).sum()
    };
    let power = |t: f64| {
        let x = run.state_at(t).expect("within the run");
        let mode = run.mode_at(t).expect("within the run");
        let (q, v) = x.as_slice().split_at(d);
        let mut f = vec![0.0; d];
        system.effort(t, q, v, &mut f);
        for k in (2..d).step_by(6) {
            f[k] += masses[k] * GRAVITY;
        }
        let work: f64 = f.iter().zip(v).map(|(f, v)| f * v).sum();
        let pushes = model.multipliers(t, x.as_slice(), mode);
        let friction: f64 = (0..system.contacts())
            .map(|j| {
                let rows = rows_of(system, j, q);
                let speed = dot(&rows[1], v).hypot(dot(&rows[2], v));
                system.friction(j) * pushes.values()[j] * speed
            })
            .sum();
        work - friction
    };
    let times = run.times();
    let mut balance =
        energy(run.state().as_slice()) - energy(run.state_at(times[0]).expect("start").as_slice());
    for event in run.events() {
        balance -= energy(&event.state_after) - energy(&event.state_before);
    }
    // Gauss's rule of three points in each step.
    let node = 0.6f64.sqrt();
    for pair in times.windows(2) {
        let (middle, half) = (0.5 * (pair[0] + pair[1]), 0.5 * (pair[1] - pair[0]));
        if half <= 0.0 {
            continue;
        }
        let ends = power(middle - node * half) + power(middle + node * half);
        balance -= half * (5.0 * ends + 8.0 * power(middle)) / 9.0;
    }
    balance
}

/// The largest fault of a run away from its events, from a time on.
pub(crate) fn worst_fault<S>(model: &S, run: &Run, from: f64) -> Option<(f64, (&'static str, f64))>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let near_event = |t: f64| run.events().iter().any(|event| (event.t - t).abs() < 1e-4);
    // A run that ends since a gap has closed unseen says in which step.
    let until = match run.status().reason() {
        Some(Breakdown::InconsistentMode { t, .. }) => {
            let before = run.times().iter().filter(|node| *node < t);
            before.fold(from, |last: f64, node| last.max(*node))
        }
        _ => run.t(),
    };
    let times = (1..200).map(|k| from + (until - from) * f64::from(k) / 200.0);
    times
        .filter(|t| !near_event(*t))
        .filter_map(|t| fault_at(model, run, t).map(|fault| (t, fault)))
        .max_by(|a, b| a.1.1.total_cmp(&b.1.1))
}
