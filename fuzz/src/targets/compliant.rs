//! Contact problems of one implicit step: any trees, contacts and rows, well set and not; every
//! setting of the solver; derivatives.

use saltation::Interrupt;
use saltation::compliant::{
    ContactLaw, ContactPoint, ContactVariation, Convergence, Guess, IslandReport, LineSearch,
    Problem, Region, RowLaw, RowVariation, Softness, SolutionVariation, Solver, StepSolution,
    Variation,
};
use saltation::mechanics::{ContactParameters, Contacts};

use crate::draw::Draw;
use crate::trial::Trial;

pub fn run(mut draw: Draw, trial: &mut Trial) {
    let dt = if draw.chance(0.05) {
        draw.number()
    } else {
        draw.decades(-4.0, -1.0)
    };
    let Some(mut problem) = trial.door("dt", Problem::new(dt)) else {
        return;
    };
    if trial.is_second {
        // what the problem held before does not matter
        let other = draw.aside("other");
        fill(
            &mut other.tamed(),
            &mut problem,
            &mut Trial::new(true, false),
            0.01,
        );
    }
    let lagged = fill(&mut draw, &mut problem, trial, dt);
    trial.note(
        "sizes",
        &(
            problem.dof(),
            problem.trees(),
            problem.contacts(),
            problem.rows(),
        ),
    );
    trial.note("dt", &problem.dt());
    trial.finite("free velocities", problem.free_velocities());
    for i in 0..=problem.contacts() {
        trial.note("law", &(problem.law(i), problem.parameters(i)));
        if let Some(law) = problem.law(i) {
            evaluate(&mut draw, trial, law, lagged);
        }
    }
    solve(&mut draw, trial, &problem);
}

fn evaluate(draw: &mut Draw, trial: &mut Trial, law: &ContactLaw, lagged: bool) {
    let v = [draw.number(), draw.number(), draw.number()];
    let point: ContactPoint = law.evaluate(&v);
    trial.note("point", &point);
    let tame = v.iter().all(|v| v.abs() < 1e100);
    if draw.is_tame() && tame && point.region != Region::NoContact {
        trial.finite("impulse", &point.impulse);
        let slip = point.impulse[1].hypot(point.impulse[2]);
        let bound = law.friction * point.impulse[0] * (1.0 + 1e-12);
        trial.expect(lagged || slip <= bound, || {
            format!("{slip} lies outside the cone of {bound}")
        });
    }
}

fn softness(draw: &mut Draw) -> Softness {
    let mut softness = Softness::default();
    if draw.chance(0.5) {
        softness.near_rigid = *draw.pick(&[0.0, 1e-3, 0.1, 1.0, 10.0]);
        softness.stiction = draw.decades(-8.0, 0.0);
    }
    if draw.chance(0.03) {
        (softness.near_rigid, softness.stiction) = (draw.number(), draw.number());
    }
    softness
}

/// An inertia that is mostly positive definite.
fn inertia(draw: &mut Draw, width: usize) -> Vec<f64> {
    let scale = if draw.chance(0.1) {
        draw.positive()
    } else {
        draw.decades(-3.0, 3.0)
    };
    let root: Vec<f64> = (0..width * width)
        .map(|_| draw.between(-1.0, 1.0))
        .collect();
    let mut block = vec![0.0; width * width];
    for r in 0..width {
        for c in 0..width {
            let product: f64 = (0..width)
                .map(|k| root[r * width + k] * root[c * width + k])
                .sum();
            block[r * width + c] = scale * (product + if r == c { 0.1 } else { 0.0 });
        }
    }
    if draw.chance(0.03) {
        let place = draw.below(block.len());
        block[place] = draw.number();
    }
    block
}

/// Fills the problem anew; true when its friction lags.
fn fill(draw: &mut Draw, problem: &mut Problem, trial: &mut Trial, dt: f64) -> bool {
    let softness = softness(draw);
    if trial
        .door("softness", problem.reset(dt, softness))
        .is_none()
    {
        // refused as a whole: what stood before stands
        let _ = problem.reset(dt, Softness::default());
    }
    let trees = draw.below(6);
    let mut widths = Vec::new();
    for _ in 0..trees {
        let width = *draw.pick(&[1, 2, 3, 6, 6, 7]);
        let (block, free) = (inertia(draw, width), draw.numbers(width));
        if trial
            .door("tree", problem.add_tree(&block, &free))
            .is_some()
        {
            widths.push(width);
        }
    }
    let most = if draw.chance(0.05) { 60 } else { 10 };
    for _ in 0..draw.below(most) {
        let parameters = parameters(draw);
        let turns = parameters.spinning_friction > 0.0 || parameters.rolling_friction > 0.0;
        let height = if turns && draw.chance(0.95) {
            6
        } else {
            draw.whole(1, 3)
        };
        let blocks = blocks(draw, &widths, height);
        let rows: Vec<(usize, &[f64])> = blocks.iter().map(|(t, j)| (*t, &j[..])).collect();
        let added = problem.add_contact(&parameters, &rows);
        if trial.door("contact", added).is_some() && draw.chance(0.1) {
            // again, and a little beside
            let _ = problem.add_contact(&parameters, &rows);
        }
    }
    for _ in 0..draw.below(4) {
        let blocks = blocks(draw, &widths, 1);
        let rows: Vec<(usize, &[f64])> = blocks.iter().map(|(t, j)| (*t, &j[..])).collect();
        trial.result("response", problem.row_response(&rows));
        trial.door("row", problem.add_row(row(draw), &rows));
    }
    if draw.chance(0.1) {
        listed(draw, problem, trial);
    }
    if draw.chance(0.5) {
        return false;
    }
    let length = draw.length(problem.dof());
    let v0 = draw.numbers(length);
    if draw.chance(0.7) {
        trial.door("Coulomb's law", problem.coulomb(&v0));
        return false;
    }
    let slip = if draw.chance(0.1) {
        draw.number()
    } else {
        draw.decades(-6.0, 0.0)
    };
    let lagged = problem.lag_friction(&v0, slip);
    trial.door("lagged friction", lagged).is_some()
}

/// Contacts by a list.
fn listed(draw: &mut Draw, problem: &mut Problem, trial: &mut Trial) {
    let mut contacts = Contacts::new();
    let dof = problem.dof();
    if contacts.reset(dof, draw.below(3)).is_err() || dof == 0 {
        return;
    }
    for i in 0..draw.below(3) {
        let _ = contacts.push(ContactParameters::new(i, draw.number()));
        let rows = draw.numbers(1 + contacts.tangents());
        let _ = contacts.push_block(draw.below(3), 0..1, &rows);
    }
    trial.door("list", problem.add_contacts(&contacts));
}

fn parameters(draw: &mut Draw) -> ContactParameters {
    let gap = if draw.chance(0.2) {
        draw.number()
    } else {
        draw.between(-0.02, 0.02)
    };
    let mut parameters = ContactParameters::new(draw.below(9), gap);
    parameters.friction = *draw.pick(&[0.0, 0.3, 1.0, 1e3]);
    if draw.chance(0.8) {
        parameters.stiffness = draw.decades(1.0, 14.0);
    }
    parameters.dissipation_time = draw.between(0.0, 0.05);
    if draw.chance(0.05) {
        parameters.stiffness = draw.number();
        parameters.friction = draw.number();
        parameters.dissipation_time = draw.number();
    }
    if draw.chance(0.2) {
        parameters.spinning_friction = *draw.pick(&[0.0, 1e-3, 0.3]);
        parameters.rolling_friction = draw.decades(-4.0, 0.0);
    }
    if draw.chance(0.02) {
        parameters.spinning_friction = draw.number();
        parameters.rolling_friction = draw.number();
    }
    if draw.chance(0.1) {
        parameters.near_rigid = Some(draw.part());
        parameters.stiction = Some(draw.positive());
    }
    parameters
}

fn blocks(draw: &mut Draw, widths: &[usize], height: usize) -> Vec<(usize, Vec<f64>)> {
    let count = if draw.chance(0.02) {
        draw.below(4)
    } else {
        draw.whole(1, 2)
    };
    let block = |_| {
        let tree = if draw.chance(0.01) {
            draw.size(9)
        } else {
            draw.below(widths.len())
        };
        let size = height * widths.get(tree).copied().unwrap_or(1);
        let length = draw.length(size);
        let rows = if draw.chance(0.03) {
            vec![0.0; length]
        } else if draw.chance(0.1) {
            draw.numbers(length)
        } else {
            (0..length).map(|_| draw.between(-1.0, 1.0)).collect()
        };
        (tree, rows)
    };
    (0..count).map(block).collect()
}

fn row(draw: &mut Draw) -> RowLaw {
    let (low, high) = match draw.below(5) {
        0 => (f64::NEG_INFINITY, f64::INFINITY),
        1 => (0.0, f64::INFINITY),
        2 => (-draw.unit(), draw.unit()),
        3 => (0.3, 0.3),
        _ => (draw.number(), draw.number()),
    };
    RowLaw {
        regularisation: if draw.chance(0.1) {
            draw.positive()
        } else {
            draw.decades(-6.0, 2.0)
        },
        target: draw.number(),
        low,
        high,
    }
}

fn solver(draw: &mut Draw) -> (Solver, f64) {
    let mut solver = Solver::new();
    let mut rtol = 1e-6;
    if draw.chance(0.3) {
        rtol = if draw.chance(0.1) {
            draw.number()
        } else {
            draw.decades(-16.0, -1.0)
        };
        solver = solver.rtol(rtol);
    }
    // Without an absolute tolerance what is said of the gradient can be checked.
    solver = solver.atol(0.0);
    if draw.chance(0.02) {
        solver = solver.atol(draw.number());
        rtol = f64::INFINITY;
    }
    if draw.chance(0.1) {
        solver = solver.max_iterations(draw.size(30));
    }
    if draw.chance(0.3) {
        solver = solver.line_search(LineSearch::Armijo);
    }
    if draw.chance(0.3) {
        solver = solver.guess(Guess::Given);
    }
    if draw.chance(0.2) {
        solver = solver.islands(false).history(true);
    }
    if draw.chance(0.02) {
        let interrupt = Interrupt::new();
        interrupt.set();
        solver = solver.interrupt(&interrupt);
    }
    (solver, rtol)
}

fn solve(draw: &mut Draw, trial: &mut Trial, problem: &Problem) {
    let (mut solver, rtol) = solver(draw);
    // Threads change no bit.
    if trial.is_second {
        solver = solver.threads(2);
    }
    let length = draw.length(problem.dof());
    let v0 = draw.numbers(length);
    let Some(solution) = trial.door("solution", solver.solve(problem, &v0)) else {
        return;
    };
    let solution = solution.clone();
    look_at(trial, &solution, rtol);
    let (mut change, mut found) = (Variation::default(), SolutionVariation::default());
    change.reset(problem);
    change.free.iter_mut().for_each(|x| *x = draw.number());
    if let Some(contact) = change.contacts.first_mut() {
        *contact = ContactVariation {
            gap: draw.number(),
            friction: draw.number(),
            velocity: [draw.number(), 0.0, 1.0],
            spinning_friction: draw.number(),
            rolling_friction: draw.number(),
            angular_velocity: [0.0, draw.number(), 1.0],
            ..ContactVariation::default()
        };
    }
    if let Some(row) = change.rows.first_mut() {
        *row = RowVariation {
            target: draw.number(),
            low: draw.number(),
            ..RowVariation::default()
        };
    }
    if trial
        .door(
            "derivative",
            solver.derivative(problem, &change, &mut found),
        )
        .is_some()
    {
        trial.note("derivative", &found);
        let mut weights = SolutionVariation::default();
        weights.reset(problem);
        weights.v.iter_mut().for_each(|x| *x = draw.number());
        weights
            .moments
            .iter_mut()
            .for_each(|x| x[0] = draw.number());
        let mut by_data = Variation::default();
        if trial
            .door("adjoint", solver.adjoint(problem, &weights, &mut by_data))
            .is_some()
        {
            trial.note("adjoint", &by_data.dot(&change));
        }
    }
    let difference = change.set_difference(problem, problem, 1.0, solver.solution());
    trial.door("difference", difference);
}

/// All that is said of a solution is finite, and true.
fn look_at(trial: &mut Trial, solution: &StepSolution, rtol: f64) {
    trial.note("v", solution.v());
    trial.finite("v", solution.v());
    trial.note("impulses", solution.impulses());
    trial.note("moments", solution.moments());
    trial.note("rows", solution.row_impulses());
    trial.note("regions", solution.regions());
    trial.note("cost", &(solution.cost(), solution.complementarity_error()));
    trial.note("friction", &solution.friction_error());
    for report in solution.islands() {
        let IslandReport {
            convergence,
            iterations,
            evaluations,
            momentum_error,
            costs,
            ..
        } = report;
        trial.note("island", &(convergence, iterations, evaluations, costs));
        trial.expect(*evaluations <= 200 * (iterations + 1), || {
            format!("{report:?}")
        });
        let true_words = match convergence {
            Convergence::Gradient => *momentum_error <= rtol * 1.001,
            Convergence::Cost => *momentum_error <= rtol.max(1e-2),
            _ => true,
        };
        trial.expect(true_words, || format!("untrue: {report:?}, rtol {rtol}"));
        // With an absolute tolerance a solution of no momenta may have any relative error.
        if convergence.is_converged() && rtol.is_finite() {
            trial.finite("cost", &[report.cost, *momentum_error]);
        }
    }
    if solution.is_converged() && rtol.is_finite() {
        trial.finite("impulses", solution.impulses().as_flattened());
        trial.finite("rows", solution.row_impulses());
        trial.finite("moments", solution.moments().as_flattened());
        trial.finite("momentum error", &[solution.momentum_error()]);
    }
}
