//! Every impact law, drawn.

use saltation::impact::{
    AllOutcomes, AnitescuPotra, BoundLaw, Finish, ImpactLaw, ImpactProblem, InOrder, LcpSteps,
    MinimalOutcomes, Moreau, Outcomes, Plastic, Projective, Propagative, ReflectionOrder, Routh,
    RouthInclusion, Selection, SelectionFn, Sequential, SolutionRule, Unilateral,
};

use crate::draw::Draw;

pub fn rule(draw: &mut Draw) -> ReflectionOrder {
    match draw.below(6) {
        0 | 1 => ReflectionOrder::ArgMin,
        2 => ReflectionOrder::ArgMax,
        3 => ReflectionOrder::IndexOrder,
        4 => ReflectionOrder::GivenFirst(draw.size(4)),
        _ => ReflectionOrder::Random { seed: draw.word() },
    }
}

/// A law; searches have caps that a case can pay for.
pub fn law(draw: &mut Draw) -> Box<dyn ImpactLaw + Send + Sync> {
    let cap = draw.below(400);
    match draw.below(14) {
        0 | 1 => Box::new(Unilateral),
        2 => Box::new(Projective::new()),
        3 => Box::new(Projective::new().refuse_adhesion()),
        4 => Box::new(Plastic),
        5 => Box::new(Propagative::new(rule(draw)).cap(cap)),
        6 => Box::new(Sequential::new().cap(cap)),
        7 => Box::new(AllOutcomes::new().cap(cap)),
        8 => Box::new(MinimalOutcomes::new().cap(cap)),
        9 => Box::new(Routh::new()),
        10 if draw.below(2) == 0 => Box::new(Moreau::new().tangential(draw.unit())),
        10 => Box::new(AnitescuPotra::new()),
        11 => {
            let order: Vec<usize> = (0..draw.whole(1, 3)).collect();
            Box::new(InOrder::new(&order).cap(cap))
        }
        12 => Box::new(RouthInclusion::new(LcpSteps::new(draw.positive()), 8)),
        _ => Box::new(Propagative::new(rule(draw))),
    }
}

/// A law with its own cap, whatever that takes.
pub fn law_as_it_comes(draw: &mut Draw) -> Box<dyn ImpactLaw + Send + Sync> {
    match draw.below(6) {
        0 => Box::new(AllOutcomes::new()),
        1 => Box::new(MinimalOutcomes::new()),
        2 => Box::new(Sequential::new()),
        3 => Box::new(Propagative::new(rule(draw)).cap(usize::MAX)),
        _ => law(draw),
    }
}

/// How bounds are drawn.
pub fn bound_law(draw: &mut Draw) -> BoundLaw {
    match draw.below(5) {
        0 => BoundLaw::Sobol,
        1 | 2 => BoundLaw::Uniform,
        _ => BoundLaw::Faces,
    }
}

/// A greatest bound on impulses: about what stops the contacts, mostly.
pub fn bound(draw: &mut Draw, problem: &ImpactProblem) -> f64 {
    let (g, m) = (problem.delassus(), problem.contacts());
    let stopping = (0..m).map(|i| problem.speeds()[i].abs() / g[(i, i)]);
    let greatest = stopping.fold(0.0, f64::max);
    match draw.below(12) {
        0 => draw.positive(),
        1 => draw.number(),
        _ => greatest * draw.decades(-1.0, 0.5),
    }
}

/// Settings of steps that a case can pay for.
pub fn steps(draw: &mut Draw, problem: &ImpactProblem) -> LcpSteps {
    // up to 7ᵐ modes a step
    let most = if problem.contacts() > 3 { 3 } else { 15 };
    let mut steps = LcpSteps::new(bound(draw, problem))
        .most_steps(draw.size(most))
        .seed(draw.word())
        .law(bound_law(draw));
    steps = match draw.below(7) {
        0 => steps.rule(SolutionRule::PickUniform),
        1 => {
            let spread = 1.0 + draw.number().abs();
            steps.rule(SolutionRule::LemkeRandomCover { spread })
        }
        2 => steps.dictionary(draw.size(8) as u64),
        3 => {
            let branches = draw.size(9);
            steps.rule(SolutionRule::EnumerateAll { branches })
        }
        _ => steps,
    };
    if draw.chance(0.2) {
        steps = steps.finish(Finish::SmallStep(1e-3 * draw.positive()));
    }
    if draw.chance(0.3) {
        steps = steps.directions(2 * draw.below(6));
    }
    if draw.chance(0.5) {
        steps = steps.round_cone();
    }
    if draw.chance(0.1) {
        steps = steps.tolerance(0.1 * draw.part());
    }
    steps
}

pub fn selection(draw: &mut Draw) -> Selection {
    match draw.below(5) {
        0 => Selection::Single,
        1 => Selection::Keyed(draw.word()),
        2 => {
            let last: SelectionFn =
                std::sync::Arc::new(|outcomes: &Outcomes, _| outcomes.list.len().checked_sub(1));
            Selection::By(last)
        }
        3 => {
            Selection::by(|outcomes, at| (at.t.to_bits() as usize).checked_rem(outcomes.list.len()))
        }
        _ => Selection::First,
    }
}
