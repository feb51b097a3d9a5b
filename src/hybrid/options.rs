//! Options of the integrator, each with its unit, default and what lies outside its sensible range.

use crate::record::Limits;
use crate::record::path::{Keep, Path};
use crate::{Guard, InputError, PerEntry, validate};

/// The rule by which the crossing phase may step onto a guard by projection, without root finding.
///
/// Orders are those of one step in the event variable: 1 is the projection of the paper, exactly; 3
/// carries an error estimate. A run with a fixed `eps` converges with the power *order + 1* of
/// `eps`.
///
/// Guards are not looked at between the ends of a projection:
/// [`Run::is_guaranteed`](crate::Run::is_guaranteed) says nothing of humps that begin
/// and end there. `Auto` keeps projections shorter than half the distance of samples in smooth
/// steps, and their errors within the tolerance. Those by `Eps` and `Horizon` are as good as their
/// width lets them be; their errors are estimated, and [doubts](crate::Doubt) follow from them. Where
/// less than half of the speed of approach is left at the landing, a smooth step decides whether
/// the guard is reached.
#[derive(Clone, Debug, PartialEq, Default)]
#[non_exhaustive]
pub enum Projection {
    /// Never: every crossing is located on the interpolant of a smooth step.
    Off,
    /// From `h_k ≥ −eps_k`, as in the paper. A guard that approaches slowly is reached in one long
    /// step, whose error nothing limits: choose `eps` small against the least speed of approach.
    Eps {
        /// Width of the neighbourhood, in the unit of each `h_k`; > 0.
        eps: PerEntry,
        /// 1, 2, 3 or 4.
        order: u8,
    },
    /// From a predicted time to the guard of at most `tau`: the same for guards of any unit.
    Horizon {
        /// Time horizon (s); > 0.
        tau: f64,
        /// 1, 2, 3 or 4.
        order: u8,
    },
    /// Inside clusters only, order 3 with an error test at the tolerances of the smooth phase: the
    /// default.
    #[default]
    Auto,
}

impl Projection {
    /// [`Projection::Eps`] with one width for all guards, or one for each.
    pub fn eps(eps: impl Into<PerEntry>, order: u8) -> Self {
        Self::Eps {
            eps: eps.into(),
            order,
        }
    }

    /// [`Projection::Horizon`].
    pub const fn horizon(tau: f64, order: u8) -> Self {
        Self::Horizon { tau, order }
    }

    fn check(&self, guards: usize) -> Result<(), InputError> {
        let order = match self {
            Self::Off | Self::Auto => return Ok(()),
            Self::Eps { eps, order } => {
                eps.check("eps", guards, "must be > 0", |v| v > 0.0)?;
                *order
            }
            Self::Horizon { tau, order } => {
                validate::positive("tau", &[*tau])?;
                *order
            }
        };
        let (kept, rule) = ((1..=4).contains(&order), "must be 1, 2, 3 or 4");
        validate::unless(kept, "projection order", f64::from(order), rule)
    }
}

/// Density of the samples of event functions within a smooth step.
///
/// A step is looked at in windows. Event functions are sampled at the fractions 0, 0.309, 0.6803
/// and 1 of each window, so that two samples are at most 0.372 of a window apart. Windows are as
/// long as the samples allow: where a cubic through them does not settle what happens between, a
/// window is narrowed to 0.4 of itself, up to eight times at one place (to a 1500th). Where they
/// agree, the next one is longer: five times where all guards hardly bend or are far from zero
/// beside what they move, else 1.8 times, and 1.25 times where some needed a closer look. No window
/// is so long that two samples are farther apart in time than the shortest
/// [`time_scale`](crate::EventFunction::time_scale) of a guard. For those that state none it is
/// that of the [integrator](crate::Integrator::time_scale), else a hundredth of the run, or of the
/// part of a live one; affine ones need none.
///
/// If all event functions that are watched are declared [affine](crate::EventFunction::is_affine)
/// or state a [largest rate](crate::EventFunction::max_rate), a step is looked at in windows only if
/// what is declared lets a guard come to its surface in it: others are evaluated at their end alone,
/// and count no [windows](crate::Statistics::windows).
///
/// **What can still hide** is a spike between two samples: an event function that goes beyond zero
/// and comes back in a shorter time than the distance of two samples, and is flat on both sides.
/// Whatever is beyond zero for at least that time, by default a hundredth of the run, is found,
/// with both its crossings. A shorter spike may leave no trace, or one so small that a cubic
/// through the samples explains it; then it is not detected, and the run counts as guaranteed. A
/// time scale no longer than the time beyond zero finds it.
///
/// Oscillations are followed at any rate, since windows grow too slowly to skip a period: in less
/// than one, four samples of a wave do not agree with a cubic by chance. Only a wave that is fast
/// from the start, from a reset on, or where it comes within reach after steps that were passed
/// over, may be met by windows of more than a period, most of all in steps of a
/// [fixed](crate::Integrator::fixed_step) or a given [first](crate::Integrator::first_step) length;
/// a time scale of a tenth of the period excludes it. A step has up to 64 windows (a shorter one is
/// tried then; a step of fixed length 4,096, beyond which it counts as
/// [unresolved](crate::Statistics::unresolved)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Resolution {
    /// As closely as it takes until samples of the event functions agree with what others of their
    /// values and rates predict: the default. Guards that are far from zero cost one comparison a
    /// step.
    #[default]
    Adaptive,
    /// At four places of each step, whatever lies between. For event functions of which the user
    /// knows that they are smooth on the scale of a step; the run is not guaranteed then, and says
    /// so by [`Doubt::Unsearched`](crate::Doubt::Unsearched).
    Samples,
}

/// All settings of the integrator; see the methods of [`Integrator`](crate::Integrator) for
/// meaning and defaults.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) rtol: PerEntry,
    pub(crate) atol: PerEntry,
    pub(crate) projection: Projection,
    pub(crate) resolution: Resolution,
    pub(crate) fixed_step: Option<f64>,
    pub(crate) first_step: Option<f64>,
    pub(crate) max_step: f64,
    /// Time scale of event functions that state none (s).
    pub(crate) time_scale: Option<f64>,
    pub(crate) limits: Limits,
    /// Crossings within this time of the first of them are one corner (s); none: [`ONE_CORNER`], or a part of a
    /// short run.
    pub(crate) corner_tolerance: Option<f64>,
    /// How long the run is to be (s).
    pub(crate) length: f64,
    /// Guards that cross one after another, in this order, where they are met at one instant.
    pub(crate) corner_order: Vec<Guard>,
    /// Number of the first transition: a driver that goes on with a run counts on.
    pub(crate) first_transition: usize,
    /// Forget the step size at each event, as a restart from scratch would: only to measure what
    /// that costs.
    pub(crate) restart_at_events: bool,
}

/// Crossings nearer than this (s), and than this part of a run, are one corner where no tolerance is set.
const ONE_CORNER: f64 = 1e-9;
const OF_SHORT_RUN: f64 = 1e-7;

impl Default for Settings {
    fn default() -> Self {
        Self {
            rtol: PerEntry::Same(1e-6),
            atol: PerEntry::Same(1e-9),
            projection: Projection::Auto,
            resolution: Resolution::Adaptive,
            fixed_step: None,
            first_step: None,
            max_step: f64::INFINITY,
            time_scale: None,
            limits: Limits::default(),
            corner_tolerance: None,
            length: 1.0,
            corner_order: Vec::new(),
            first_transition: 0,
            restart_at_events: false,
        }
    }
}

impl Settings {
    /// An observer that keeps what these settings allow of a run of this length (s).
    pub(crate) fn path(&self, length: f64) -> Path {
        Path::new(self.keep(length))
    }

    /// The time within which crossings of a run of this length are one corner (s).
    pub(crate) fn one_corner(&self, length: f64) -> f64 {
        (self.corner_tolerance).unwrap_or(ONE_CORNER.min(OF_SHORT_RUN * length.abs()))
    }

    /// The data that such an observer is to keep of a run of this length (s).
    pub(crate) fn keep(&self, length: f64) -> Keep {
        Keep {
            rtol: self.rtol.clone(),
            atol: self.atol.clone(),
            corner_tolerance: self.one_corner(length),
            max_memory: self.limits.max_memory,
        }
    }

    /// Refuses what makes no sense for a system of `dim` states and `guards` event functions.
    pub(crate) fn check(&self, dim: usize, guards: usize) -> Result<(), InputError> {
        self.rtol.check("rtol", dim, "must be ≥ 0", |v| v >= 0.0)?;
        self.atol.check("atol", dim, "must be ≥ 0", |v| v >= 0.0)?;
        let no_tolerance = (0..dim).find(|&i| self.rtol.get(i) <= 0.0 && self.atol.get(i) <= 0.0);
        if let Some(entry) = no_tolerance {
            return Err(InputError::BadSetting {
                name: "rtol and atol",
                entry,
                value: 0.0,
                rule: "one of the two must be > 0",
            });
        }
        self.projection.check(guards)?;
        for (name, step) in [
            ("fixed_step", self.fixed_step),
            ("first_step", self.first_step),
        ] {
            if let Some(step) = step {
                validate::positive(name, &[step])?;
            }
        }
        if let Some(&guard) = self.corner_order.iter().find(|g| g.event >= guards) {
            return Err(InputError::NoSuch {
                what: "event function",
                index: guard.event,
                count: guards,
            });
        }
        // Infinite means no limit.
        let (kept, rule) = (self.max_step > 0.0, "must be > 0");
        validate::unless(kept, "max_step", self.max_step, rule)?;
        if let Some(scale) = self.time_scale {
            validate::unless(scale > 0.0, "time_scale", scale, rule)?;
        }
        validate::not_negative("corner_tolerance", self.corner_tolerance.as_slice())
    }
}
