//! Impacts with friction: every law that honours it, and the cone of contact forces.

use saltation::impact::{
    AnitescuPotra, ContactCone, Contacting, ImpactFailure, ImpactLaw, ImpactProblem, InOrder,
    LcpSteps, Order, Outcome, Remark, Routh, RouthInclusion,
};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{InputError, Interrupt};

use super::impact::gram;
use crate::draw::Draw;
use crate::laws::steps;
use crate::trial::Trial;

/// A problem with friction, and what is known of it.
pub struct Rough {
    pub problem: ImpactProblem,
    /// Numbers are ordinary and the Delassus matrix is positive semidefinite: what the mathematics
    /// promises is to hold to rounding.
    pub is_sound: bool,
    /// Rows are clearly independent; or dependent to rounding, and the motion has no large part
    /// that they hardly see.
    pub is_clear: bool,
    /// It was made with a motion, so that the kinetic norm is that of the whole motion.
    is_motion: bool,
    /// The greatest sum of normal impulses, where the cone is well pointed and the kinetic norm is
    /// that of the whole motion.
    greatest_impulse: Option<f64>,
}

fn coefficient(draw: &mut Draw) -> f64 {
    match draw.below(24) {
        0..=3 => 0.0,
        4 | 5 => draw.decades(1.0, 6.0),
        6..=8 => draw.positive(),
        9 if !draw.is_tame() => draw.number(),
        _ => draw.unit(),
    }
}

/// A Jacobian; contacts may be equal, opposite or nearly equal, tangents may depend on normals or
/// vanish.
fn jacobian(draw: &mut Draw, rows: usize, m: usize, d: usize) -> DMatrix<f64> {
    let mut jacobian = DMatrix::from_fn(rows, d, |_, _| draw.number());
    if rows > 1 && draw.chance(0.3) {
        let (to, from) = (draw.below(rows), draw.below(rows));
        let by = *draw.pick(&[1.0, -1.0, 0.0, 2.0, 1.0 + 1e-9, 1e-7]);
        if to >= m || by != 0.0 {
            for k in 0..d {
                jacobian[(to, k)] = jacobian[(from, k)] * by;
            }
        }
    }
    jacobian
}

fn made(draw: &mut Draw) -> Result<(ImpactProblem, bool), ImpactFailure> {
    let m = match draw.below(16) {
        0 => draw.below(7),
        1..=4 => 1,
        5..=7 => 3,
        _ => 2,
    };
    let tangents = *draw.pick(&[0, 1, 1, 1, 1, 1, 2, 2]);
    let rows = m * (1 + tangents);
    let friction: Vec<f64> = (0..draw.length(m))
        .map(|_| {
            if tangents > 0 || draw.chance(0.1) {
                coefficient(draw)
            } else {
                0.0
            }
        })
        .collect();
    let is_motion = draw.chance(0.7);
    let mut problem = if is_motion {
        let d = draw.whole(1, 6);
        let mass = gram(draw, d) + DMatrix::identity(d, d) * draw.positive();
        let jacobian = jacobian(draw, rows, m, d);
        let length = draw.length(d);
        let velocity = DVector::from_vec(draw.numbers(length));
        ImpactProblem::from_mechanics_with_tangents(&mass, &jacobian, &velocity, &friction)?
    } else {
        let gram = gram(draw, rows);
        let length = draw.length(rows);
        let numbers = DVector::from_vec(draw.numbers(length));
        // speeds of a motion also where rows are dependent
        let speeds = if length == rows && draw.chance(0.8) {
            &gram * numbers
        } else {
            numbers
        };
        ImpactProblem::with_tangents(gram, speeds, &friction)?
    };
    if draw.chance(0.5) {
        problem = problem.with_restitution(draw.part())?;
    }
    if draw.chance(0.05) {
        problem = problem.with_tolerance(1e-9 * draw.positive())?;
    }
    if draw.chance(0.02) {
        let interrupt = Interrupt::new();
        interrupt.set();
        problem = problem.with_interrupt(&interrupt);
    }
    Ok((problem, is_motion))
}

/// Draws a problem.
pub fn problem(draw: &mut Draw, trial: &mut Trial) -> Option<Rough> {
    let (problem, is_motion) = trial.result("problem", made(draw))?;
    let least = if draw.is_tame() {
        least_cosine(problem.delassus())
    } else {
        f64::NAN
    };
    let is_sound = least >= -1e-13;
    let cone = (is_sound && is_motion).then(|| ContactCone::of(&problem).ok());
    let cone = cone.flatten().filter(|cone| cone.margin() > 1e-3);
    Some(Rough {
        greatest_impulse: cone.map(|cone| cone.greatest_impulse()),
        is_clear: least > 1e-8 || least.abs() < 1e-15 && is_seen(&problem),
        problem,
        is_sound,
        is_motion,
    })
}

/// True when the contact speeds are not small for the kinetic energy.
fn is_seen(problem: &ImpactProblem) -> bool {
    let g = problem.delassus().diagonal();
    let scaled = problem
        .speeds()
        .iter()
        .zip(g.iter())
        .map(|(u, g)| u.abs() / g.sqrt());
    scaled.fold(0.0, f64::max) >= 1e-3 * problem.kinetic_norm()
}

/// The least eigenvalue over the greatest, with rows of unit length.
fn least_cosine(g: &DMatrix<f64>) -> f64 {
    let root = |i: usize| {
        if g[(i, i)] > 0.0 {
            g[(i, i)].sqrt()
        } else {
            1.0
        }
    };
    let unit = DMatrix::from_fn(g.nrows(), g.nrows(), |i, j| g[(i, j)] / root(i) / root(j));
    let values = unit.symmetric_eigenvalues();
    values.min() / values.max()
}

impl Rough {
    /// The terms of the energy that cancel: `Σ |p_i| (|u_i| + Σ |G_ij| |p_j|)`.
    pub fn terms(&self, impulses: &[f64]) -> f64 {
        let g = self.problem.delassus();
        let term = |i: usize| {
            let moved: f64 = (0..impulses.len())
                .map(|j| (g[(i, j)] * impulses[j]).abs())
                .sum();
            impulses[i].abs() * (self.problem.speeds()[i].abs() + moved)
        };
        (0..impulses.len()).map(term).sum()
    }

    /// What holds of the impulses of every inelastic impact: no contact pulls, friction keeps to
    /// its cone, and the kinetic energy does not rise.
    pub fn expect_impulses(&self, trial: &mut Trial, name: &str, impulses: &[f64], to: f64) {
        if !self.is_sound {
            return;
        }
        if let Some(most) = self.greatest_impulse {
            let sum: f64 = impulses[..self.problem.contacts()].iter().sum();
            trial.expect(sum <= most * (1.0 + 1e-6), || {
                format!("{name}: a sum of impulses of {sum:e}, {most:e} at most")
            });
        }
        let (m, t) = (self.problem.contacts(), self.problem.tangents());
        let root = |i: usize| self.problem.delassus()[(i, i)].max(0.0).sqrt();
        let speed = |i: usize| self.problem.speeds()[i] / root(i).max(f64::MIN_POSITIVE);
        let greatest = (0..impulses.len())
            .filter(|&i| root(i) > 0.0)
            .map(|i| (impulses[i] * root(i)).abs().max(speed(i).abs()));
        let rounding = to * greatest.fold(0.0, f64::max);
        for i in 0..m {
            let normal = impulses[i];
            trial.expect(normal * root(i) >= -rounding, || {
                format!("{name}: contact {i} pulls by {normal:e}")
            });
            let mu = self.problem.friction()[i];
            let tangents = &impulses[m + t * i..m + t * (i + 1)];
            let friction = tangents.iter().fold(0.0f64, |sum, p| sum.hypot(*p));
            trial.expect(
                (friction - mu * normal) * root(i)
                    <= rounding * (1.0 + mu) + to * root(i) * friction,
                || {
                    format!(
                        "{name}: contact {i} has friction {friction:e}, bound {:e}",
                        mu * normal
                    )
                },
            );
        }
        let p = DVector::from_column_slice(impulses);
        let after = self.problem.speeds() + self.problem.delassus() * &p;
        let change = 0.5 * p.dot(&(self.problem.speeds() + after));
        let terms = self.terms(impulses);
        trial.expect(change <= to * terms, || {
            format!("{name}: the energy rises by {change:e} of terms {terms:e}")
        });
    }
}

fn order(draw: &mut Draw, m: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..draw.length(m)).collect();
    for k in (1..order.len()).rev() {
        order.swap(k, draw.below(k + 1));
    }
    if let Some(last) = order.last_mut()
        && draw.chance(0.03)
    {
        *last = draw.size(m);
    }
    order
}

pub fn run(mut draw: Draw, trial: &mut Trial) {
    let Some(rough) = problem(&mut draw, trial) else {
        return;
    };
    let problem = &rough.problem;
    let m = problem.contacts();
    resolved(trial, &rough, &Routh::new(), 1e-9);
    let pressed = Routh::new().without_collision();
    resolved(trial, &rough, &pressed, 1e-9);
    let directions = draw.size(6).saturating_mul(2);
    let together = AnitescuPotra::new().directions(directions);
    resolved(trial, &rough, &together, 1e-8);
    let tolerance = 1e-6 * draw.part();
    let cap = draw.below(200);
    let rounds = InOrder::new(&order(&mut draw, m))
        .cap(cap)
        .tolerance(tolerance);
    let ended = resolved(trial, &rough, &rounds, 1e-9);
    trial.expect(ended <= cap, || format!("{ended} impacts, {cap} allowed"));
    let settings: LcpSteps = steps(&mut draw, problem);
    let samples = draw.below(6) as u64;
    resolved(trial, &rough, &RouthInclusion::new(settings, samples), 1e-8);
    let endless = RouthInclusion::new(settings, u64::MAX).resolve(problem);
    trial.expect(endless.is_err(), || "samples without end".to_owned());
    cone(&mut draw, trial, &rough);
}

/// Resolves by a law, with what holds of its outcomes; its effort.
fn resolved(trial: &mut Trial, rough: &Rough, law: &dyn ImpactLaw, to: f64) -> usize {
    let name = law.name();
    trial.expect(law.honours_friction(), || {
        format!("{name} ignores friction")
    });
    let outcomes = match law.resolve(&rough.problem) {
        Ok(outcomes) => outcomes,
        Err(error) => {
            trial.refused(name, &error);
            jammed(trial, rough, &error);
            return 0;
        }
    };
    trial.note(name, &outcomes);
    trial.say(&outcomes);
    // In memory that was used before, the same. Samples are many.
    if name != "RouthInclusion" {
        let mut again = outcomes.clone();
        let resolved = law.resolve_into(&rough.problem, &mut again);
        trial.expect(resolved.is_ok() && again == outcomes, || {
            format!("{name}, again: {again:?}")
        });
    }
    for outcome in &outcomes.list {
        let outcome: &Outcome = outcome;
        trial.finite(name, outcome.speeds.as_slice());
        trial.finite(name, outcome.impulses.as_slice());
        rough.expect_impulses(trial, name, outcome.impulses.as_slice(), to);
        if let Order::Modes(modes) = &outcome.order {
            // without tangents a contact that pushes has one mode
            let has_tangents = rough.problem.tangents() > 0;
            let known = |mode: &&Contacting| match mode {
                Contacting::Open | Contacting::SlipForward => true,
                Contacting::Stick | Contacting::SlipBackward => has_tangents,
                _ => false,
            };
            let known = modes.iter().filter(known).count();
            trial.expect(known == rough.problem.contacts(), || {
                format!("modes {modes:?}")
            });
        }
        // rounds that end at their cap, or at a tolerance of their own, remark it
        if rough.is_sound && rough.is_motion && name != "InOrder" && name != "RouthInclusion" {
            let found =
                |r: &&Remark| matches!(r, Remark::Approaching { .. } | Remark::Adhesive { .. });
            let remark = outcome.remarks.iter().find(found);
            trial.expect(remark.is_none(), || format!("{name}: {remark:?}"));
        }
    }
    outcomes.effort
}

/// A contact jams only where friction exceeds what its Delassus block can bear.
fn jammed(trial: &mut Trial, rough: &Rough, error: &ImpactFailure) {
    match error {
        ImpactFailure::Jammed { contact, speed } => {
            let (contact, speed) = (*contact, *speed);
            trial.expect(contact < rough.problem.contacts(), || {
                format!("{contact} jams")
            });
            trial.finite("speed of what jams", &[speed]);
        }
        ImpactFailure::Input(InputError::FrictionIgnored { .. }) => {
            trial.expect(rough.problem.tangents() == 0, || {
                "friction is refused".to_owned()
            });
        }
        _ => {}
    }
}

fn cone(draw: &mut Draw, trial: &mut Trial, rough: &Rough) {
    let problem = &rough.problem;
    let Some(cone) = trial.result("cone", ContactCone::of(problem)) else {
        return;
    };
    let (margin, greatest) = (cone.margin(), cone.greatest_impulse());
    trial.finite("margin", &[margin]);
    trial.finite("direction", cone.direction().as_slice());
    trial.expect(cone.is_pointed() == (margin > 0.0), || "pointed".to_owned());
    trial.expect(greatest >= 0.0, || {
        format!("a greatest impulse of {greatest}")
    });
    let norm = cone.euclidean_norm();
    trial.expect(
        norm.is_none_or(|norm| norm > 0.0 && norm.is_finite()),
        || format!("{norm:?}"),
    );
    let (h, mass, part) = (draw.positive(), draw.positive(), draw.part());
    let sharp = trial.result("steps per norm", cone.steps_per_norm(h));
    let printed = cone.steps_per_norm_as_printed(h, mass);
    let printed = trial.result("as printed", printed);
    for per_norm in [sharp, printed, Some(draw.number())].into_iter().flatten() {
        if let Some(steps) = trial.result("steps", cone.steps(per_norm, part)) {
            trial.expect(per_norm >= 0.0 && steps >= 0.0, || {
                format!("{steps} steps of {per_norm} a norm")
            });
        }
    }
    // rᵀ M⁻¹ f ≥ 1 for every generator
    if rough.is_sound && cone.margin() > 1e-3 * problem.delassus().diagonal().amax().sqrt() {
        let (m, t) = (problem.contacts(), problem.tangents());
        let force = problem.delassus() * cone.direction();
        for i in 0..m {
            let slide = force.rows(m + t * i, t).norm();
            let least = force[i] - problem.friction()[i] * slide;
            let size = |row: usize| -> f64 {
                let terms = cone.direction().iter().enumerate();
                terms
                    .map(|(j, p)| (problem.delassus()[(row, j)] * p).abs())
                    .sum()
            };
            let slides: f64 = (m + t * i..m + t * (i + 1)).map(size).sum();
            let rounding = 1e-9 + 1e-12 * (size(i) + problem.friction()[i] * slides);
            // in space the circle lies inside the polygon
            trial.expect(least >= 1.0 - rounding, || {
                format!("cone: a generator of contact {i} has {least}")
            });
        }
    }
}
