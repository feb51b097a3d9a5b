//! Contact problems of heaps by a conic solver: Clarabel beside the Newton solver of saltation.
//!
//! The dual of a step is a quadratic program over friction cones,
//! `min ½ γᵀ (J A⁻¹ Jᵀ + R) γ + (J v* − v̂)ᵀ γ` with `|γ_t| ≤ μ γ_n` (Castro et al., equation 22); the
//! velocities are `v* + A⁻¹ Jᵀ γ`. It knows nothing of regions, islands and line searches.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SecondOrderConeT, SolverStatus};
use saltation::compliant::Solver;
use saltation::mechanics::{MechanicalSystem, RowBlock};
use saltation::models::Clutter;
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{Compliant, Start};

fn main() -> Result<(), String> {
    println!(
        "bodies,stiffness,t,contacts,velocities_differ_by,impulses_differ_by,own_objective_less_by"
    );
    for (bodies, stiffness) in [(8, 1e12), (20, 1e3), (20, 1e12), (40, 1e12)] {
        let clutter = Clutter {
            bodies,
            stiffness,
            ..Clutter::default()
        };
        let scene = clutter.scene().map_err(|e| e.to_string())?;
        let (q, v) = scene.start();
        let solver = Solver::new().rtol(1e-9);
        let mut stepper = Compliant::new(scene).map_err(|e| e.to_string())?;
        stepper = stepper.time_step(0.01).solver(solver);
        stepper
            .start(&Start::at(0.0).q(&q).v(&v))
            .map_err(|e| e.to_string())?;
        for step in 1..=300 {
            let before = stepper.q().to_vec();
            stepper.step().map_err(|e| e.to_string())?;
            if [30, 50, 70, 100, 150, 300].contains(&step) {
                compare(&stepper, &before, (bodies, stiffness))?;
            }
        }
    }
    Ok(())
}

/// Solves the problem of the last step once more.
fn compare(
    stepper: &Compliant<saltation::bodies::Scene>,
    before: &[f64],
    (bodies, stiffness): (usize, f64),
) -> Result<(), String> {
    let (problem, contacts) = (stepper.problem(), stepper.contacts());
    let (n, m) = (problem.dof(), 3 * contacts.len());
    let mut mass = vec![0.0; n * n];
    stepper.system().mass(before, &mut mass);
    let inverse = DMatrix::from_vec(n, n, mass).try_inverse().ok_or("mass")?;
    let free = DVector::from_column_slice(problem.free_velocities());
    let mut rows = DMatrix::zeros(m, n);
    for i in 0..contacts.len() {
        for RowBlock {
            start,
            width,
            rows: block,
            ..
        } in contacts.blocks(i)
        {
            for (k, row) in block.chunks_exact(width).enumerate() {
                for (j, entry) in row.iter().enumerate() {
                    rows[(3 * i + k, start + j)] += entry;
                }
            }
        }
    }
    let mut p = &rows * &inverse * rows.transpose();
    let mut c = &rows * &free;
    let mut cone_entries = vec![0.0; m];
    for i in 0..contacts.len() {
        let law = problem.law(i).ok_or("law")?;
        let regularisation = [law.normal, law.tangential, law.tangential];
        for (k, r) in regularisation.into_iter().enumerate() {
            p[(3 * i + k, 3 * i + k)] += r;
            cone_entries[3 * i + k] = if k == 0 { -law.friction } else { -1.0 };
        }
        c[3 * i] -= law.stabilisation;
    }
    let (quadratic, linear) = (p.clone(), c.clone());
    // Impulses of the size of one.
    let scale = 1.0 / p.diagonal().amax();
    let p: Vec<Vec<f64>> = (0..m)
        .map(|i| {
            (0..m)
                .map(|j| if j >= i { scale * p[(i, j)] } else { 0.0 })
                .collect()
        })
        .collect();
    let c: Vec<f64> = c.iter().map(|c| c * scale).collect();
    let cones: Vec<_> = (0..contacts.len()).map(|_| SecondOrderConeT(3)).collect();
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-14,
        tol_gap_rel: 1e-14,
        tol_feas: 1e-14,
        max_iter: 500,
        ..DefaultSettings::default()
    };
    let diagonal = CscMatrix::new(m, m, (0..=m).collect(), (0..m).collect(), cone_entries);
    let solver = DefaultSolver::new(
        &CscMatrix::from(&p),
        &c,
        &diagonal,
        &vec![0.0; m],
        &cones,
        settings,
    );
    let mut solver = solver.map_err(|e| format!("{e:?}"))?;
    solver.solve();
    let status = solver.solution.status;
    if !matches!(
        status,
        SolverStatus::Solved | SolverStatus::AlmostSolved | SolverStatus::InsufficientProgress
    ) {
        return Err(format!("the conic solver: {status:?}"));
    }
    let impulses = DVector::from_column_slice(&solver.solution.x);
    let objective = |x: &DVector<f64>| 0.5 * x.dot(&(&quadratic * x)) + linear.dot(x);
    let v = &free + inverse * rows.transpose() * &impulses;
    let own = DVector::from_column_slice(stepper.solution().v());
    let own_impulses: Vec<f64> = stepper
        .solution()
        .impulses()
        .iter()
        .flatten()
        .copied()
        .collect();
    let own_impulses = DVector::from_vec(own_impulses);
    println!(
        "{bodies},{stiffness:e},{:.2},{},{:.1e},{:.1e},{:.1e}",
        stepper.t(),
        contacts.len(),
        (v - &own).norm() / own.norm().max(free.norm()),
        (&impulses - &own_impulses).norm() / own_impulses.norm(),
        (objective(&impulses) - objective(&own_impulses)) / objective(&impulses).abs()
    );
    Ok(())
}
