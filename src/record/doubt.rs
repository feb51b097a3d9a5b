//! Decisions that the error of a run might turn.

use std::fmt;

use crate::model::Guard;

/// A decision that a run made although the error that its tolerances allow might turn it.
///
/// The errors of the steps are added up, in units of the tolerance, and carried to event functions
/// by their gradients: an estimate, not a bound. A run with a tighter tolerance shows what the case
/// is.
///
/// In a run of a [`ContactModel`](crate::ContactModel) guard `k` is contact `k`, and
/// its event function the gap while the contact is open, its force while it is closed; with friction
/// guards are more, and guard `k` is the quantity number `k / n` of contact `k % n`, of `n`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Doubt {
    /// The guard came closer to its surface than the error, and was not crossed; or a reset put it so close, on either
    /// side, and the state moves back.
    Touch {
        /// The guard.
        guard: Guard,
        /// Time (s).
        t: f64,
        /// Distance from the guard (`u_k`).
        gap: f64,
        /// The error of the event function (`u_k`).
        error: f64,
    },
    /// The crossing of another guard turned the motion away from this one, which was closer to its
    /// surface than the error: neighbours cross it first. A run that is interrupted behind such a
    /// crossing reports it for every guard that was as close, wherever that moves then.
    TurnedAway {
        /// The guard, which was not crossed.
        guard: Guard,
        /// Time (s).
        t: f64,
        /// Distance from the guard (`u_k`).
        gap: f64,
        /// The error of the event function (`u_k`).
        error: f64,
    },
    /// The reset of another guard changed the value or the rate of this one, which was closer to its surface than the
    /// error, and on its way there. Neighbours cross it first, or both at once, which are other resets (within
    /// [`EventFunction::crosses_within`](crate::EventFunction::crosses_within) both are crossed at once anyway). Or it
    /// was crossed before, by less than the errors of both: neighbours reset first, and cross it elsewhere or never. Of
    /// each crossing the closest such guard is told. Likewise of each guard that may be crossed before or behind the
    /// crossing that ends the run ([`Watch::and_stop`](crate::Watch::and_stop)).
    Order {
        /// The guard that was crossed.
        first: Guard,
        /// The guard that was still ahead, or was crossed at about that time.
        guard: Guard,
        /// Time (s).
        t: f64,
        /// Distance of `guard` from its surface (`u_k`).
        gap: f64,
        /// The error of its event function (`u_k`).
        error: f64,
    },
    /// The guard was crossed, but not deeper than the error: neighbours only touch it.
    Shallow {
        /// The guard.
        guard: Guard,
        /// Time (s).
        t: f64,
        /// Depth beyond the guard (`u_k`).
        depth: f64,
        /// The error of the event function (`u_k`).
        error: f64,
    },
    /// A crossing is closer to the end of the run than the error of its time: it may belong to the
    /// run or not.
    AtEnd {
        /// The guard.
        guard: Guard,
        /// Time (s).
        t: f64,
        /// The error of the time (s); infinite where the guard does not move, by its
        /// [least rate](crate::EventFunction::min_rate).
        error: f64,
    },
    /// However close samples were, they did not settle what the event function does between them:
    /// noise, or oscillations faster than the search goes.
    Unresolved {
        /// The guard.
        guard: Guard,
        /// Time (s).
        t: f64,
        /// Range of the event function that samples leave open (`u_k`).
        error: f64,
    },
    /// A step from here on, or the part of one before or after an impact, was made in two halves,
    /// because Newton's method did not solve it whole or met what is not finite. Such a step is of
    /// second order too, but a run with it is not that of a map, which alone keeps energies for any
    /// time. It says that steps are several times too long for the motion there, whose energy may
    /// be off by orders from then on: take shorter steps, thirty a turn of the fastest rod.
    Halved {
        /// Time (s).
        t: f64,
    },
    /// A contact of the compliant driver lay deeper than a tenth of the smaller of its bodies: they pass
    /// through each other. The load is far above their own, or the step too long for their speed. Told
    /// once a run.
    Sunk {
        /// The contact; [`Scene::contact_of`](crate::bodies::Scene::contact_of) names its bodies.
        contact: usize,
        /// Time (s).
        t: f64,
        /// Overlap (m).
        depth: f64,
        /// Overlap by the radius of the smaller body.
        share: f64,
    },
    /// Joints, limits and motors moved a body by more than a tenth of its size, or turned it by 0.1
    /// rad, in the first step with them or after they were changed: bodies of a joint stand apart, a
    /// limit is passed, or a goal is far from where the body is. They come together in a step or two,
    /// with any speed that takes. [`Joint::as_placed`](crate::bodies::Joint::as_placed) takes bodies as
    /// they stand. Or a later step began with the bodies of a joint as far apart, by the larger of them: it is
    /// too long for the speed of their turns, or with midpoint for a load on light bodies. Told once a run.
    Apart {
        /// The body.
        body: usize,
        /// Start of the step (s).
        t: f64,
        /// Its way by them in the step, or how far the points of a joint stood apart (m).
        way: f64,
        /// Its turn by them in the step, or how far the axes of a joint did (rad).
        turn: f64,
    },
    /// From here on contacts that depend on each other may share their load in several ways, and the
    /// motion depends on how: they slip in different directions or with different coefficients of friction, as
    /// the legs of a table that turns while it slides; an impact has several outcomes so
    /// ([`SharedImpulses`](crate::impact::Remark::SharedImpulses)); or what they hold would slip as soon as one of them
    /// carries nothing, as a table of which two legs are rougher than the others. The run takes the
    /// multipliers of least size ([`Redundant`](crate::mechanics::Redundant)), and bodies stay at rest where
    /// some shares hold them. It is looked for at some steps, the ends of modes, and the ends of what a run is
    /// asked for; by the variational driver at each step. Told once a run.
    SharedLoads {
        /// Time (s).
        t: f64,
    },
    /// A force that depends on time is another one here than wherever the step that covers this time evaluated
    /// it: a push that begins and ends within a step is not in the motion. State a
    /// [`time_scale`](crate::mechanics::MechanicalSystem::time_scale), or a shorter `max_step`. Looked for in steps
    /// longer than a hundredth of what a run of the event-driven driver is asked for, told once.
    Push {
        /// Time (s).
        t: f64,
    },
    /// The loads of Coulomb's friction did not come to rest in the step from here on: friction of that
    /// step is wrong by a part of the momenta
    /// ([`IslandReport::friction_error`](crate::compliant::IslandReport::friction_error)).
    Friction {
        /// Time (s).
        t: f64,
        /// The part.
        error: f64,
    },
    /// The mode and the field changed by the rule [`Rearm::WhenEmpty`](crate::Rearm::WhenEmpty), at the end of a step
    /// and not on a guard: the motion depends on where steps end.
    Rearmed {
        /// Time (s).
        t: f64,
    },
    /// Steps from here on look at event functions at four places only, whatever lies between:
    /// [`Resolution::Samples`](crate::hybrid::Resolution::Samples). Told once, at the start.
    Unsearched {
        /// Time (s).
        t: f64,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Touch {
                guard,
                t,
                gap,
                error,
            } => write!(
                f,
                "guard {guard} was not crossed at t = {t}, but came within {gap:e} of its surface, with an error of {error:e}"
            ),
            Self::TurnedAway {
                guard,
                t,
                gap,
                error,
            } => write!(
                f,
                "guard {guard} was {gap:e} from its surface, with an error of {error:e}, when another crossing turned the motion away at t = {t}"
            ),
            Self::Order {
                first,
                guard,
                t,
                gap,
                error,
            } => write!(
                f,
                "guard {first} was crossed at t = {t}, when guard {guard} was {gap:e} before its surface, with an error of {error:e}: which comes first is not known, and what happens depends on it"
            ),
            Self::Shallow {
                guard,
                t,
                depth,
                error,
            } => write!(
                f,
                "guard {guard} was crossed at t = {t}, but no deeper than {depth:e}, with an error of {error:e}"
            ),
            Self::AtEnd { guard, t, error } => write!(
                f,
                "the crossing of guard {guard} is closer to the end of the run, t = {t}, than the error of its time, {error:e} s"
            ),
            Self::Unresolved { guard, t, error } => write!(
                f,
                "samples of guard {guard} about t = {t} leave open {error:e} of its event function: noise, or oscillations; a time scale (EventFunction::time_scale) or a shorter max_step resolves what oscillates"
            ),
            Self::Halved { t } => write!(
                f,
                "the step from t = {t} on was made in two halves: Newton's method did not solve it whole, or it met what is not finite; take shorter steps"
            ),
            Self::Sunk {
                contact,
                t,
                depth,
                share,
            } => write!(
                f,
                "contact {contact} lay {depth:e} m deep at t = {t}, {share:.1} of the smaller body: a load far above its own, or steps too long for the speed (bodies of a contact of a scene: Scene::contact_of)"
            ),
            Self::Apart { body, t, way, turn } => write!(
                f,
                "joints, limits and motors moved body {body} by {way:e} m and {turn:e} rad in the step from t = {t} on: bodies of a joint stand apart, a limit is passed, or a goal is far away (Joint::as_placed takes bodies as they stand); later in a run, steps are too long for the speed of turns, or with midpoint for a load on light bodies"
            ),
            Self::SharedLoads { t } => write!(
                f,
                "from t = {t} on the motion depends on how contacts share their load, which rigid bodies leave open: the shares of least size were taken"
            ),
            Self::Push { t } => write!(
                f,
                "a force at t = {t} is not in the motion: the step that covers this time evaluated it before and behind; MechanicalSystem::time_scale or a shorter max_step resolves it"
            ),
            Self::Friction { t, error } => write!(
                f,
                "friction did not come to rest in the step from t = {t} on: it is wrong by {error:e} of the momenta"
            ),
            Self::Rearmed { t } => write!(
                f,
                "the mode changed at t = {t} by the rule WhenEmpty, at the end of a step and not on a guard: Rearm::Pairs does not depend on steps"
            ),
            Self::Unsearched { t } => write!(
                f,
                "from t = {t} on event functions are looked at in four places of a step only (Resolution::Samples)"
            ),
        }
    }
}
