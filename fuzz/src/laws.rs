//! Every impact law, drawn.

use saltation::impact::{
    AllOutcomes, ImpactLaw, MinimalOutcomes, Outcomes, Plastic, Projective, Propagative,
    ReflectionOrder, Selection, SelectionFn, Sequential, Unilateral,
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
    match draw.below(10) {
        0 | 1 => Box::new(Unilateral),
        2 => Box::new(Projective::new()),
        3 => Box::new(Projective::new().refuse_adhesion()),
        4 => Box::new(Plastic),
        5 => Box::new(Propagative::new(rule(draw)).cap(cap)),
        6 => Box::new(Sequential::new().cap(cap)),
        7 => Box::new(AllOutcomes::new().cap(cap)),
        8 => Box::new(MinimalOutcomes::new().cap(cap)),
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
