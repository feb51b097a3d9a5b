//! Spinning and rolling friction of a contact while its load `γ_n` is held, in the relative angular
//! velocity `[ω_n, ω_t]` about its normal and its tangents:
//!
//! ```text
//!     m_n = −ω_n/R      or −s γ_n sign ω_n      where that is less
//!     m_t = −ω_t/R      or −r γ_n ω_t/|ω_t|     where that is less
//! ```
//!
//! Each is Coulomb's law with lengths `s` and `r` (m) in the place of `μ`, and takes the most power that
//! its bound allows.

use super::coulomb::Disc;
use super::row::RowLaw;
use super::values::{ContactLaw, ContactPoint, Curvature, Friction, MomentRates, Normal, Region};

impl ContactLaw {
    /// The law of the moments of a contact: of spinning and rolling friction with the coefficients `s` and
    /// `r` (m), with one regularisation `R`. Its load is that of the contact.
    pub(in crate::compliant) fn of_moments(spinning: f64, rolling: f64, rotational: f64) -> Self {
        Self {
            friction: rolling,
            normal: rotational,
            tangential: rotational,
            stabilisation: 0.0,
            model: Friction::Moments {
                load: 0.0,
                spinning,
            },
        }
    }

    /// The coefficient `s` of spinning friction (m).
    pub(in crate::compliant) fn spinning(&self) -> f64 {
        match self.model {
            Friction::Moments { spinning, .. } => spinning,
            _ => 0.0,
        }
    }

    /// The derivatives of the moments at fixed angular velocities, with the load there.
    pub(in crate::compliant) fn moment_rates(&self, v: &[f64; 3], load: f64) -> MomentRates {
        let mut rates = MomentRates::default();
        let moments = Moments::new(self, load, self.spinning());
        let impulse = moments.evaluate(v).impulse;
        let directions = moments.sliding(v);
        for k in 0..3 {
            // m = −c γ_n d where it slides, and −ω/R elsewhere.
            let Some(d) = directions[k] else {
                rates.rotational[k] = -impulse[k] / self.tangential;
                continue;
            };
            let by_length = if k == 0 {
                &mut rates.spinning
            } else {
                &mut rates.rolling
            };
            by_length[k] = -load * d;
            rates.load[k] = -moments.lengths[k] * d;
        }
        rates
    }
}

/// The moments of a contact with their bounds (N m s).
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    spin: RowLaw,
    roll: Disc,
    /// `s`, and `r` twice.
    lengths: [f64; 3],
}

impl Moments {
    #[inline]
    pub(super) fn new(law: &ContactLaw, load: f64, spinning: f64) -> Self {
        let (rolling, most) = (law.friction, spinning * load);
        Self {
            spin: RowLaw {
                regularisation: law.tangential,
                target: 0.0,
                low: -most,
                high: most,
            },
            roll: Disc {
                regularisation: law.tangential,
                bound: rolling * load,
            },
            lengths: [spinning, rolling, rolling],
        }
    }

    /// A contact that does not press has none.
    #[inline]
    pub(super) fn evaluate(&self, v: &[f64; 3]) -> ContactPoint {
        let (spin, of_spin) = self.spin.evaluate(v[0]);
        let mut point = ContactPoint {
            region: Region::NoContact,
            impulse: [spin, 0.0, 0.0],
            cost: of_spin,
        };
        if self.roll.bound > 0.0 {
            let (along, cost, sticks) = self.roll.evaluate(v);
            point.region = if sticks {
                Region::Stiction
            } else {
                Region::Sliding
            };
            point.impulse = [spin, along * v[1], along * v[2]];
            point.cost += cost;
        }
        point
    }

    /// `m · w` and `wᵀ G w`.
    #[inline]
    pub(super) fn along(&self, v: &[f64; 3], w: &[f64; 3]) -> (f64, f64) {
        let (spin, slope) = (self.spin.evaluate(v[0]).0, self.spin.curvature(v[0]));
        let (force, stiffness) = self.roll.along(v, w);
        (spin * w[0] + force, slope * w[0] * w[0] + stiffness)
    }

    #[inline]
    pub(super) fn curvature(&self, v: &[f64; 3]) -> Curvature {
        self.roll.curvature(v, self.spin.curvature(v[0]))
    }

    /// The direction `d` in which each component slides, of length one for the spin and for the roll; none
    /// where it sticks.
    fn sliding(&self, v: &[f64; 3]) -> [Option<f64>; 3] {
        let (slip, sticks) = self.roll.slip(v);
        let rolls = |x: f64| (!sticks).then(|| x / slip);
        let spins = self.spin.curvature(v[0]) <= 0.0;
        let sign = if v[0] == 0.0 { 0.0 } else { v[0].signum() };
        [spins.then_some(sign), rolls(v[1]), rolls(v[2])]
    }

    /// The part that a load which follows the velocities adds to the curvature, `a wᵀ`: `a` in the rows of the
    /// moments, `w` in those of their contact.
    pub(super) fn coupling(&self, v: &[f64; 3], normal: &Normal) -> Option<[[f64; 3]; 2]> {
        if normal.impulse <= 0.0 {
            return None;
        }
        let directions = self.sliding(v);
        let left = [0, 1, 2].map(|k| directions[k].map_or(0.0, |d| self.lengths[k] * d));
        let moves = left.iter().any(|x| *x != 0.0);
        moves.then_some([left, [-normal.slope, 0.0, 0.0]])
    }
}
