//! The levels at which guards end a step: their surfaces, or the borders of their neighbourhoods
//! (Anderson & Revzen, listing 1).

use crate::PerEntry;
use crate::hybrid::Projection;
use crate::hybrid::options::Settings;

/// The levels of event functions at which guards end a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels<'a> {
    /// Widths of the neighbourhoods, if a step ends on their borders.
    eps: Option<&'a PerEntry>,
    /// The event function in whose neighbourhood the step began.
    inside: Option<usize>,
}

impl<'a> Levels<'a> {
    #[inline]
    pub(super) fn new(settings: &'a Settings, inside: Option<usize>) -> Self {
        let eps = match &settings.projection {
            Projection::Eps { eps, .. } => Some(eps),
            _ => None,
        };
        Self { eps, inside }
    }

    /// True where all levels are 0.
    #[inline]
    pub(super) fn are_zero(&self) -> bool {
        self.eps.is_none()
    }

    /// The border of the neighbourhood of guard `k`, −0 where it has none.
    #[inline]
    pub(super) fn border(&self, k: usize) -> f64 {
        self.eps.map_or(-0.0, |eps| -eps.get(k))
    }

    /// The level at which guard `k` ends the step. It is that of the border of its neighbourhood,
    /// `−eps_k`, while the guard starts, at `own`, clearly outside (by more than `zero`, what
    /// rounding makes of it), and unless the last step ended on that border. Else it is 0.
    #[inline]
    pub(super) fn of(&self, k: usize, own: f64, zero: impl FnOnce() -> f64) -> f64 {
        match self.eps {
            Some(eps) if self.inside != Some(k) => {
                let eps = eps.get(k);
                let outside = own < -eps * (1.0 + 1e-9) - 4.0 * zero();
                if outside { -eps } else { 0.0 }
            }
            _ => 0.0,
        }
    }
}
