//! Impact problems of any kind, every law on them, selections, reflections, uniqueness.

use saltation::impact::{
    ImpactFailure, ImpactProblem, Occasion, Order, Outcome, Outcomes, Reflections, Remark,
    Uniqueness, indeterminacy, uniqueness,
};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{InputError, Interrupt, MatrixFault};

use crate::draw::Draw;
use crate::laws::{law, law_as_it_comes, rule, selection};
use crate::trial::Trial;

/// `A Aᵀ` of random entries, with decades, ties and dependence.
pub fn gram(draw: &mut Draw, n: usize) -> DMatrix<f64> {
    let rank = if draw.chance(0.2) {
        draw.whole(1, n.max(1))
    } else {
        n + 1
    };
    let a = DMatrix::from_fn(n, rank, |_, _| draw.number());
    let mut gram = &a * a.transpose();
    if draw.chance(0.2) {
        let scales: Vec<f64> = (0..n).map(|_| draw.decades(-5.0, 5.0)).collect();
        gram = DMatrix::from_fn(n, n, |i, j| gram[(i, j)] * scales[i] * scales[j]);
    }
    if draw.chance(0.2) {
        // the cosines of a chain of equal bodies
        gram = DMatrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
            0 => 1.0,
            1 => -0.5,
            _ => 0.0,
        });
    }
    if draw.chance(0.1) {
        gram += DMatrix::identity(n, n) * 1e-10;
    }
    if n > 0 && draw.chance(0.05) {
        let (i, j) = (draw.below(n), draw.below(n));
        gram[(i, j)] = draw.number();
    }
    gram
}

fn problem(draw: &mut Draw) -> Result<ImpactProblem, ImpactFailure> {
    let n = if draw.chance(0.1) {
        draw.below(12)
    } else {
        draw.below(6)
    };
    let has_friction = draw.chance(0.1);
    let made = if draw.chance(0.5) {
        let tangents = if has_friction { draw.below(3) } else { 0 };
        let rows = n * (1 + tangents);
        let speeds = draw.length(rows);
        let (gram, speeds) = (gram(draw, rows), draw.numbers(speeds));
        if has_friction {
            let friction: Vec<f64> = (0..n).map(|_| draw.part()).collect();
            ImpactProblem::with_tangents(gram, DVector::from_vec(speeds), &friction)?
        } else {
            ImpactProblem::new(gram, DVector::from_vec(speeds))?
        }
    } else {
        let d = draw.whole(1, 6);
        let mass = gram(draw, d) + DMatrix::identity(d, d) * draw.positive();
        let rows = draw.length(n);
        let mut jacobian = DMatrix::from_fn(rows, d, |_, _| draw.number());
        if rows > 1 && draw.chance(0.3) {
            // two normals that are nearly one
            let by = draw.decades(-12.0, -4.0);
            for k in 0..d {
                jacobian[(1, k)] = jacobian[(0, k)] * (1.0 + by * draw.unit());
            }
        }
        let length = draw.length(d);
        let velocity = DVector::from_vec(draw.numbers(length));
        if has_friction {
            let friction: Vec<f64> = (0..n).map(|_| draw.part()).collect();
            ImpactProblem::from_mechanics_with_tangents(&mass, &jacobian, &velocity, &friction)?
        } else {
            ImpactProblem::from_mechanics(&mass, &jacobian, &velocity)?
        }
    };
    options(draw, made, n)
}

fn options(
    draw: &mut Draw,
    mut made: ImpactProblem,
    n: usize,
) -> Result<ImpactProblem, ImpactFailure> {
    let each = |draw: &mut Draw| -> Vec<f64> { (0..draw.length(n)).map(|_| draw.part()).collect() };
    made = match draw.below(6) {
        0 | 1 => made.with_restitution(draw.part())?,
        2 => made.with_restitutions(&each(draw))?,
        3 => made.with_any_restitutions(&each(draw))?,
        _ => made,
    };
    if draw.chance(0.2) {
        let new: Vec<usize> = (0..draw.below(n + 1))
            .map(|_| draw.size(n.saturating_sub(1)))
            .collect();
        made = made.with_new_contacts(&new)?;
    }
    if draw.chance(0.1) {
        made = made.with_tolerance(1e-9 * draw.positive())?;
    }
    if draw.chance(0.1) {
        made = made.with_kinetic_energy(draw.positive())?;
    }
    if draw.chance(0.03) {
        let interrupt = Interrupt::new();
        interrupt.set();
        made = made.with_interrupt(&interrupt);
    }
    Ok(if draw.chance(0.7) {
        made.frictionless()
    } else {
        made
    })
}

pub fn run(mut draw: Draw, trial: &mut Trial) {
    let made = problem(&mut draw);
    if let Err(ImpactFailure::Input(InputError::BadMatrix { fault, .. })) = &made {
        let fault: &MatrixFault = fault;
        trial.say(fault);
    }
    let Some(problem) = trial.result("problem", made) else {
        return;
    };
    trial.note(
        "sizes",
        &(
            problem.contacts(),
            problem.tangents(),
            problem.dependent(),
            problem.is_new(),
        ),
    );
    trial.finite("Delassus matrix", problem.delassus().as_slice());
    trial.finite("speeds", problem.speeds().as_slice());
    trial.finite("cosines", problem.cosines().as_slice());
    trial.finite(
        "numbers of the problem",
        &[problem.rcond(), problem.kinetic_norm(), problem.threshold()],
    );
    trial.note(
        "coefficients",
        &(
            problem.friction(),
            problem.restitution(),
            problem.is_feasible(),
        ),
    );
    for _ in 0..3 {
        // Searches with their own caps are the slow part.
        let law = if draw.chance(0.02) {
            law_as_it_comes(&mut draw)
        } else {
            law(&mut draw)
        };
        trial.note("law", law.name());
        trial.note("friction is honoured", &law.honours_friction());
        let outcomes: Option<Outcomes> = trial.result("resolve", law.resolve(&problem));
        trial.result("outcome", law.outcome(&problem));
        let Some(outcomes) = outcomes else { continue };
        trial.expect(outcomes.effort <= 10_000_001, || {
            format!("an effort of {}", outcomes.effort)
        });
        trial.say(&outcomes);
        if outcomes.list.len() <= 300 {
            let spread = outcomes.spread();
            trial.note("spread", &spread);
        }
        outcomes
            .list
            .iter()
            .for_each(|outcome| look(trial, &problem, outcome));
        if let Some(first) = outcomes.list.first() {
            trial.result("single", Outcomes::of_one(first.clone()).single());
        }
        let t = draw.number();
        let number = t.abs() as usize;
        let at = Occasion { t, number };
        trial.result("selected", selection(&mut draw).select(outcomes, at));
    }
    reflections(&mut draw, trial, &problem);
    let why: Uniqueness = uniqueness(&problem);
    trial.note("uniqueness", &why);
    if problem.contacts() <= 3 || draw.chance(0.02) {
        trial.result("indeterminacy", indeterminacy(&problem));
    }
}

fn look(trial: &mut Trial, problem: &ImpactProblem, outcome: &Outcome) {
    trial.finite("speeds after", outcome.speeds.as_slice());
    trial.finite("impulses", outcome.impulses.as_slice());
    trial.finite("energy", &[outcome.energy_change]);
    let order: &Order = &outcome.order;
    let remark: Option<&Remark> = outcome.remarks.first();
    trial.note("order and remark", &(order, remark));
    trial.say(outcome);
    trial.note("word", outcome.word());
    let made = problem.outcome(outcome.impulses.as_slice());
    let made = trial.result("outcome of impulses", made);
    trial.expect(
        made.is_none_or(|made| made.speeds == outcome.speeds),
        || "other speeds of the same impulses".to_owned(),
    );
    let said = (
        outcome.is_adhesive(),
        outcome.is_feasible(),
        outcome.raises_energy(),
        outcome.distance(outcome),
    );
    trial.note("said", &said);
    let after = problem
        .velocity_after(outcome)
        .map(|v| v.as_slice().to_vec());
    trial.numbers("velocity after", after);
    let again = problem
        .velocity_with_speeds(outcome.speeds.as_slice())
        .map(|v| v.as_slice().to_vec());
    trial.numbers("velocity with these speeds", again);
}

fn reflections(draw: &mut Draw, trial: &mut Trial, problem: &ImpactProblem) {
    let n = problem.contacts();
    let mut reflections = Reflections::new(problem);
    let speeds: Vec<f64> = (0..draw.length(n)).map(|_| draw.number()).collect();
    if trial.is_second {
        let other = draw.aside("before").numbers(n);
        let rule = rule(&mut draw.aside("rule"));
        let _ = reflections
            .restart(&other, 0.0)
            .and_then(|()| reflections.run(rule, 5));
    }
    let threshold = 1e-9 * draw.positive();
    let restarted = trial.result("restart", reflections.restart(&speeds, threshold));
    let one = draw.size(n);
    // What is refused leaves all as it was.
    if restarted.is_some() {
        let done = (
            reflections.reflect(one),
            reflections.next(rule(draw)),
            reflections.is_feasible(),
        );
        trial.note("reflected", &done);
        let cap = draw.below(200);
        let ran = reflections.run(rule(draw), cap);
        trial.result("reflections", ran);
        let word = reflections.word().len();
        trial.expect(word <= cap + 1, || {
            format!("{word} reflections, {cap} allowed")
        });
        let (speeds, impulses) = (
            reflections.scaled_speeds().to_vec(),
            reflections.scaled_impulses().to_vec(),
        );
        trial.note("scaled", &(speeds, impulses));
    }
}
