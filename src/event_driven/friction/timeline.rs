//! The driver with time as a state.

use super::checks::check_start;
use super::course::Course;
use super::impulses::Motion;
use super::options::Options;
use super::stretches::TimelineRun;
use crate::event_driven::Model;
use crate::event_driven::breakdown::Breakdown;
use crate::mechanics::ContactModel;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use crate::record::limits;
use crate::{InputError, Integrator, Interrupt, Start, validate};
#[cfg(doc)]
use crate::{
    Stop,
    event_driven::{Stretch, StretchKind},
    impact::{Contacting, Routh},
};

/// Runs a mechanical system with inelastic contacts with friction in the plane, with time as a
/// state (Halm & Posa, section 4).
///
/// The run is a list of [stretches](Stretch) over the arclength `s`, which counts time and normal
/// impulses: `dt/ds = 1/(1 + Σ λ_n)` where forces act, and time stands still in impacts. Velocities
/// are continuous in `s`. While contacts are closed they stick or slip ([`Contacting`]); a mode
/// ends where a force or a margin of a friction cone falls to zero, a slip stops or a gap closes.
/// The mode that follows is the only one that is consistent with the accelerations; where there are
/// several, the selection of the model chooses ([`ContactModel::selection`]), and `Single`, the
/// default, ends the run with [`Breakdown::AmbiguousMode`]. Where there is none because a sliding
/// contact presses itself down (Painlevé), an impact without collision follows
/// ([`Routh::without_collision`]).
///
/// Impacts whose intervals shrink by ratios that settle (Zeno) are summed up once the bound of the
/// error is below [`zeno_tolerance`](Self::zeno_tolerance). The bodies come to rest on their
/// contacts at that time, if they can stay there: [`StretchKind::Rest`]. Only one accumulation can be
/// under way at a time; others end the run with [`Stop::TooManyEvents`].
///
/// Coefficients of restitution must be zero. Up to five contacts may touch in one configuration
/// (their 4⁵ modes are enumerated), and efforts may not depend on which are closed
/// ([`contact_effort`](MechanicalSystem::contact_effort)). Sticking contacts may depend on each
/// other: then single forces are those of least size within the friction cones, and the mode lasts
/// as long as some forces within the friction cones hold it. There is no derivative.
///
/// ```
/// use saltation::Start;
/// use saltation::ContactModel;
/// use saltation::event_driven::{StretchKind, Timeline};
/// use saltation::impact::AnitescuPotra;
/// use saltation::models::RockingBlock;
/// let block = RockingBlock::default();
/// let (q, v) = block.pivoting(0.0, 1.0); // about its left corner, at 1 rad/s
/// let model = ContactModel::with_law(block, AnitescuPotra::new());
/// let start = Start::at(0.0).q(&q).v(&v);
/// let run = Timeline::new(model)?.rtol(1e-10).integrate(&start, 3.0)?.completed()?;
/// let rests = |kind: &StretchKind| matches!(kind, StretchKind::Rest { .. });
/// let rest = run.stretches().iter().find(|stretch| rests(&stretch.kind)).expect("it rocks and settles");
/// assert!((rest.t[1] - 2.671421398).abs() < 1e-8);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Timeline<S> {
    model: ContactModel<S>,
    options: Options,
}

impl<S> Timeline<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// A driver of `model`, whose law and selection resolve impacts.
    ///
    /// # Errors
    /// [`InputError::EmptySystem`] for a system without coordinates.
    pub fn new(model: ContactModel<S>) -> Result<Self, InputError> {
        let system = model.erased().system();
        system.sizes.check()?;
        if system.dof() == 0 || system.coordinates() == 0 {
            return Err(InputError::EmptySystem);
        }
        Ok(Self {
            model: model.with_slides(),
            options: Options::default(),
        })
    }

    /// Relative tolerance of smooth stretches, as [`Integrator::rtol`], for all entries of `(q, v)`
    /// and the impulses; default 1e-8.
    #[must_use]
    pub fn rtol(mut self, rtol: f64) -> Self {
        self.options.rtol = rtol.into();
        self
    }

    /// Absolute tolerance, likewise; default 1e-11.
    #[must_use]
    pub fn atol(mut self, atol: f64) -> Self {
        self.options.atol = atol.into();
        self
    }

    /// Largest step (s); default: no limit.
    #[must_use]
    pub fn max_step(mut self, step: f64) -> Self {
        self.options.max_step = step;
        self
    }

    limits!(options.limits);

    /// The bound of the error that summing up an accumulation of impacts may add to time (s) and
    /// arclength; default 1e-10. Where it is below the errors of the smooth stretches, impacts that
    /// rebound with less than a thousand times the tolerance of rates
    /// ([`ContactModel::rate_tolerance`]) are summed up with a bound of a hundredth of the last
    /// interval.
    #[must_use]
    pub fn zeno_tolerance(mut self, tolerance: f64) -> Self {
        self.options.zeno_tolerance = tolerance;
        self
    }

    /// Ends runs when `interrupt` is set.
    #[must_use]
    pub fn interrupt(mut self, interrupt: &Interrupt) -> Self {
        self.options.limits.interrupt = interrupt.clone();
        self
    }

    /// The model.
    pub fn model(&self) -> &ContactModel<S> {
        &self.model
    }

    /// Integrates from positions and velocities to `tf`.
    ///
    /// # Errors
    /// Bad input: those of [`ContactModel::start`]; [`InputError::Tangents`] for contacts in space;
    /// [`InputError::BadSetting`] for settings, for a coefficient of restitution that is not zero,
    /// and for efforts that depend on closed contacts; [`InputError::TimeReversed`]. What the run
    /// meets on its way is in [`TimelineRun::breakdown`], and the stretches before it are kept.
    pub fn integrate(&self, start: &Start<'_>, tf: f64) -> Result<TimelineRun, Breakdown> {
        integrate(self.model.erased(), &self.options, start, tf)
    }
}

/// See [`Timeline::integrate`]. Compiled once, for a model of whatever system.
fn integrate(
    model: &Model<'_>,
    options: &Options,
    start: &Start<'_>,
    tf: f64,
) -> Result<TimelineRun, Breakdown> {
    validate::finite("tf", &[tf])?;
    let start = State::of(start)?;
    validate::positive("zeno_tolerance", &[options.zeno_tolerance])?;
    let (t0, state) = (start.t, check_start(model, start)?);
    if tf < t0 {
        return Err(Breakdown::Input(InputError::TimeReversed { t0, tf }));
    }
    let motions = [
        integrator(model, options, true)?,
        integrator(model, options, false)?,
    ];
    let mut course = Course::new(model, options, motions, t0, &state);
    let breakdown = course.run(tf).err();
    Ok(TimelineRun {
        stretches: course.stretches,
        start: (t0, state),
        breakdown,
    })
}

/// The core integrator of smooth stretches.
fn integrator<'a>(
    model: &'a Model<'a>,
    options: &Options,
    is_watched: bool,
) -> Result<Integrator<Motion<'a>>, InputError> {
    let integrator = Integrator::new(Motion { model, is_watched })?
        .rtol(options.rtol.clone())
        .atol(options.atol.clone())
        .max_step(options.max_step)
        .interrupt(&options.limits.interrupt);
    integrator.check_options()?;
    Ok(integrator)
}
