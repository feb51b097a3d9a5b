//! Every reason why something is refused or a run ends early, each by name.

use crate::{Guard, MatrixFault, Quantity};

/// Why an input was refused or a run ended early.
///
/// Bad input comes back as `Err`; what a run meets on its way ends it with
/// [`Status::Refused`](crate::Status::Refused), and the trajectory keeps all it computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system has no state variables.
    #[error("the system has no state variables: dim() is 0")]
    EmptySystem,

    /// A slice has the wrong length.
    #[error("{name} has length {found}, expected {expected}")]
    WrongLength {
        /// What was passed.
        name: &'static str,
        /// Length the system asks for.
        expected: usize,
        /// Length that was passed.
        found: usize,
    },

    /// A time, a state or an entry of the data is NaN or infinite.
    #[error("{name} is not finite: {value} (entry {entry})")]
    NotFiniteInput {
        /// What was passed.
        name: &'static str,
        /// Which entry of it, 0 for a scalar.
        entry: usize,
        /// The offending value.
        value: f64,
    },

    /// The final time lies before the start.
    #[error("the final time {tf} lies before the start {t0}; integrate forward in time")]
    TimeReversed {
        /// Start (s).
        t0: f64,
        /// Final time (s).
        tf: f64,
    },

    /// A setting or a parameter has a value that makes no sense, or is NaN or infinite.
    #[error("{name} = {value} (entry {entry}): {rule}")]
    BadSetting {
        /// The setting.
        name: &'static str,
        /// Which entry of it, 0 for a scalar.
        entry: usize,
        /// Its value.
        value: f64,
        /// What it should be.
        rule: &'static str,
    },

    /// The guard reset matrix lets a guard re-arm or retire itself.
    #[error(
        "guard {guard} re-arms itself: a guard that may be crossed again needs a partner with the opposite direction"
    )]
    SelfRearming {
        /// The guard.
        guard: Guard,
    },

    /// The guard reset matrix names a guard that the system does not have.
    #[error("guard {guard} does not exist: the system has {count} event functions")]
    NoSuchGuard {
        /// The guard.
        guard: Guard,
        /// Number of event functions.
        count: usize,
    },

    /// A time was asked for that the trajectory does not cover.
    #[error("t = {t} lies outside the trajectory, which covers [{start}, {end}]")]
    OutsideTrajectory {
        /// The time asked for (s).
        t: f64,
        /// First time of the trajectory (s).
        start: f64,
        /// Last time of the trajectory (s).
        end: f64,
    },

    /// A user function returned NaN or infinity. Steps that try states beyond its domain are
    /// shortened first.
    #[error(
        "{quantity} is not finite at t = {t}, x = {state:?} (a trial point within a step, where it still was so with the shortest one)"
    )]
    NotFinite {
        /// Which function.
        quantity: Quantity,
        /// Time (s).
        t: f64,
        /// State at which it was evaluated.
        state: Vec<f64>,
    },

    /// The start lies on a guard and does not move off it: resting or tangent.
    #[error(
        "the start lies on guard {guard} and moves along it (rate {rate:e}): resting or tangent starts have no side, unless start_mode gives it (as it must where event functions read the mode)"
    )]
    Tangent {
        /// The guard.
        guard: Guard,
        /// `dh_k/dt` (`u_k`/s).
        rate: f64,
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// A guard was reached but liveness fails: sliding, grazing, rest, or guards at one instant
    /// whose order matters; outside event-selected systems.
    #[error(
        "guard {guard} is not live at t = {t}: dh/dt is {rate_before:e} before and {rate_after:e} after the crossing, least rate {min_rate:e}. Opposite signs: sliding, or a hysteresis that wants a one-way watch and a guard reset matrix; almost zero: grazing, rest, or the end of an accumulation (Zeno), to be stopped at or resolved by a change of mode in on_crossing; NaN after: the mode after was not entered"
    )]
    NotLive {
        /// The guard.
        guard: Guard,
        /// `dh_k/dt` in the mode before the crossing (`u_k`/s).
        rate_before: f64,
        /// `dh_k/dt` in the mode after the crossing (`u_k`/s), or, when several guards cross at one
        /// instant, in the mode in which all others have crossed; NaN when the mode was not
        /// entered.
        rate_after: f64,
        /// The liveness bound `c_k` (`u_k`/s).
        min_rate: f64,
        /// Time (s).
        t: f64,
        /// State on the guard.
        state: Vec<f64>,
    },

    /// The guard reset matrix arms a guard beyond its surface.
    #[error(
        "crossing {by} arms guard {guard} at t = {t}, but the state is already {beyond:e} beyond it"
    )]
    ArmedBeyond {
        /// The guard to be armed.
        guard: Guard,
        /// The guard whose crossing arms it.
        by: Guard,
        /// How far the state lies beyond the guard (`u_k`).
        beyond: f64,
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// A guard would cross twice without progress in time.
    #[error(
        "guard {guard} crosses again at t = {t} without progress in time: events accumulate (Zeno), or a reset undoes its own crossing"
    )]
    NoProgress {
        /// The guard.
        guard: Guard,
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// More crossings than allowed: an accumulation of events (Zeno) or a limit set too low.
    #[error(
        "{limit} crossings by t = {t}, the last of guard {guard}: events accumulate (Zeno), or max_events is too low"
    )]
    TooManyEvents {
        /// The limit.
        limit: usize,
        /// The last guard.
        guard: Guard,
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// More smooth steps than allowed.
    #[error(
        "{limit} steps by t = {t}: the system is stiff for an explicit method, or max_steps is too low"
    )]
    TooManySteps {
        /// The limit.
        limit: usize,
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// A trajectory, or its derivative, that takes more memory than allowed.
    #[error(
        "the trajectory, or its derivative, takes more than {limit} bytes at t = {t}: raise max_memory, loosen the tolerance, or observe the run instead of keeping it"
    )]
    TrajectoryTooLarge {
        /// The limit (bytes).
        limit: usize,
        /// Time (s).
        t: f64,
    },

    /// A derivative of too many states.
    #[error(
        "the derivative of {states} states takes {bytes} bytes of workspace, and no more than {limit} are allowed: raise max_memory (up to 8192 states), or carry a few directions (Sensitivities)"
    )]
    DerivativeTooLarge {
        /// Number of states.
        states: usize,
        /// Its workspace (bytes).
        bytes: usize,
        /// The limit (bytes).
        limit: usize,
    },

    /// The step size shrank to nothing.
    #[error(
        "the step shrank to {step:e} s at t = {t}: a singularity, or tolerances below rounding"
    )]
    StepTooSmall {
        /// The last step tried (s).
        step: f64,
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// A crossing repeated, or repeated close by, comes out otherwise than in the run.
    #[error(
        "the crossing at t = {t} comes out otherwise when it is repeated at or close to x = {state:?}: on_crossing must be a function of its arguments, and choose the same mode close by"
    )]
    NotRepeatable {
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// Finite differences that stand in for a derivative do not agree, however short they are.
    #[error(
        "{quantity} at t = {t}, x = {state:?} is not known: nobody wrote it, and its differences disagree however short the step is: it does not exist there, or it must be written"
    )]
    DifferencesDisagree {
        /// The derivative.
        quantity: Quantity,
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// The reset of one guard of a corner moves the state, to first order, towards or away from
    /// another.
    #[error(
        "at the corner at t = {t} the reset of guard {by} moves the state relative to guard {guard}, which is crossed at the same instant: neighbours may be carried across or meet it again, and first order does not tell"
    )]
    MovedGuard {
        /// The guard that is moved.
        guard: Guard,
        /// The guard whose reset moves it.
        by: Guard,
        /// Time (s).
        t: f64,
    },

    /// The mode changed where no guard was crossed, and the field with it.
    #[error(
        "the mode changed at t = {t} by the rule WhenEmpty, at the end of a step and not on a guard, and the field changed with it: no derivative accounts for that; use Rearm::Pairs"
    )]
    ModeWithoutGuard {
        /// Time (s).
        t: f64,
    },

    /// A guard was touched, or almost, without being crossed.
    #[error(
        "guard {guard} is touched at t = {t} to within {gap:e}, less than the tolerances tell from a crossing: neighbours cross it or do not"
    )]
    Touch {
        /// The guard.
        guard: Guard,
        /// When (s).
        t: f64,
        /// Distance left (`u_k`).
        gap: f64,
    },

    /// A guard was crossed, but hardly.
    #[error(
        "guard {guard} is crossed at t = {t} by no more than {depth:e}, less than the tolerances tell from a touch: neighbours cross it or do not"
    )]
    Shallow {
        /// The guard.
        guard: Guard,
        /// When (s).
        t: f64,
        /// How deep (`u_k`).
        depth: f64,
    },

    /// What an event function does between samples was not settled.
    #[error(
        "what the event function of guard {guard} does near t = {t} was not settled, however close samples were (to {error:e}): noise, or oscillations faster than the search goes"
    )]
    Unresolved {
        /// The guard.
        guard: Guard,
        /// When (s).
        t: f64,
        /// What samples leave open of the event function (`u_k`).
        error: f64,
    },

    /// Guards were looked for at samples only.
    #[error(
        "guards were looked for at the samples of steps only, from t = {t} on: what lies between is not known; use Resolution::Adaptive"
    )]
    Unsearched {
        /// From when on (s).
        t: f64,
    },

    /// A matrix was asked for where the run may have met a corner.
    #[error(
        "guards {} are met within {apart:e} s at t = {t}, which is known to {error:e} s only, and their orders have different maps: the run may have met a corner; ask possible_corner() for them, a smaller tolerance for more, apply(v) for the order of this run",
        list(guards)
    )]
    PossibleCorner {
        /// When the first of them was crossed (s).
        t: f64,
        /// The guards.
        guards: Vec<Guard>,
        /// Time from the first to the last (s).
        apart: f64,
        /// How far that may be off (s).
        error: f64,
    },

    /// A matrix was asked for where the derivative is piecewise linear.
    #[error(
        "the derivative is no single matrix: the orders of guards {} at the corner at t = {t} have different maps; ask apply(v) for a direction, matrix_towards(v) for its piece, pieces() for all",
        list(guards)
    )]
    PiecewiseLinear {
        /// Time of the corner (s).
        t: f64,
        /// Its guards.
        guards: Vec<Guard>,
    },

    /// A matrix was asked for where the derivative is that of one side only.
    #[error(
        "the derivative is that of one side: the run starts or ends on guard {guard}, at t = {t}; apply(v) speaks of displacements that stay on its side, matrix_towards(v) gives their map"
    )]
    OneSided {
        /// The guard.
        guard: Guard,
        /// When (s).
        t: f64,
    },

    /// A derivative was asked for where outcomes jump.
    #[error(
        "the outcome depends on the order in which guards are met at the corner at t = {t}: that of {} is not that of the run; regions(i) holds the limits and maps of all orders, a run with corner_order goes on from one of them",
        list(order)
    )]
    Discontinuous {
        /// Time of the corner (s).
        t: f64,
        /// The order in which the direction asked for meets the guards, or that of the run.
        order: Vec<Guard>,
    },

    /// Too many guards in one corner, or too many pieces, to list them all.
    #[error(
        "the corner at t = {t} has {guards} guards, and pieces are listed up to {limit}: ask apply(v) or matrix_towards(v), which cost no more for many"
    )]
    TooManyOrders {
        /// Guards at the corner.
        guards: usize,
        /// The limit.
        limit: usize,
        /// Time of the corner (s).
        t: f64,
    },

    /// A corner is larger than searches of its orders go.
    #[error(
        "the corner at t = {t} has {guards} guards and more than {limit} {what}: its orders are too many to be compared, or resets throw the state back again and again"
    )]
    CornerTooLarge {
        /// Guards at the corner.
        guards: usize,
        /// What there are too many of.
        what: &'static str,
        /// The limit.
        limit: usize,
        /// Time of the corner (s).
        t: f64,
    },

    /// A matrix was asked for where the orders of a corner were compared along some directions
    /// only.
    #[error(
        "not all orders of guards {} at the corner at t = {t} were compared: the {directions} directions that were have one map, matrix_towards(v) for any v, but others may have another; ask apply(v) for a direction",
        list(guards)
    )]
    OrdersNotCompared {
        /// Time of the corner (s).
        t: f64,
        /// Its guards.
        guards: Vec<Guard>,
        /// How many directions were compared.
        directions: usize,
    },

    /// The row of a time shift was asked for where it depends on the order in which guards are met.
    #[error(
        "how the time of guard {guard} shifts depends on the order of guards {} at the corner at t = {t}, or that was not compared: ask event_time_shift(i, v) for a direction",
        list(guards)
    )]
    TimeDependsOnOrder {
        /// The guard whose time it is.
        guard: Guard,
        /// Time of the corner (s).
        t: f64,
        /// Its guards.
        guards: Vec<Guard>,
    },

    /// More cones of displacements than are listed.
    #[error(
        "the corners of the run up to t = {t} divide displacements into more than {limit} cones, and pieces are listed up to that: ask apply(v) or matrix_towards(v), which cost no more for many"
    )]
    TooManyPieces {
        /// The limit.
        limit: usize,
        /// Time of the corner that exceeds it (s).
        t: f64,
    },

    /// A corner was asked for that the run does not have.
    #[error("there is no corner {index}: the run has {count}")]
    NoSuchCorner {
        /// Its number.
        index: usize,
        /// Corners of the run.
        count: usize,
    },

    /// A crossing was asked for that the run does not have.
    #[error("there is no crossing {index}: the run has {count}")]
    NoSuchCrossing {
        /// Its number.
        index: usize,
        /// Crossings of the run.
        count: usize,
    },

    /// The mass matrix is not symmetric positive definite.
    #[error("the mass matrix {fault} at q = {state:?}")]
    MassMatrix {
        /// What is wrong with it.
        fault: MatrixFault,
        /// Configuration.
        state: Vec<f64>,
    },

    /// A gap is negative at the start.
    #[error("the gap of contact {contact} is {gap:e} at t = {t}: bodies overlap at the start")]
    NegativeGap {
        /// The contact.
        contact: usize,
        /// Its gap (m).
        gap: f64,
        /// Time (s).
        t: f64,
    },

    /// A gap closes, or is touched, at too low a speed.
    #[error(
        "contact {contact} grazes at t = {t}: its gap changes by {velocity:e} a second, too slowly for an impact"
    )]
    Grazing {
        /// The contact.
        contact: usize,
        /// `Da_j v` (m/s).
        velocity: f64,
        /// Time (s).
        t: f64,
    },

    /// The force of a closed contact falls to zero too slowly.
    #[error("the release of contact {contact} grazes at t = {t}: its force falls at {rate:e}")]
    GrazingRelease {
        /// The contact.
        contact: usize,
        /// `dλ_j/dt` (N/s).
        rate: f64,
        /// Time (s).
        t: f64,
    },

    /// Impacts accumulate.
    #[error(
        "impacts of contacts {contacts:?} accumulate at t = {time} (Zeno): their times shrink by {ratio} from one to the next; Zeno::Absorb goes on from there"
    )]
    Zeno {
        /// The accumulation time (s).
        time: f64,
        /// The contacts.
        contacts: Vec<usize>,
        /// Ratio of successive times between impacts.
        ratio: f64,
        /// When it was found (s).
        t: f64,
    },

    /// A contact that is open has a negative gap.
    #[error(
        "the gap of contact {contact} is {gap:e} at t = {t} although it is open: the contact mode does not fit the forces, or a bump was passed within one step, which max_step would shorten"
    )]
    InconsistentMode {
        /// The contact.
        contact: usize,
        /// Its gap (m).
        gap: f64,
        /// Time (s).
        t: f64,
    },

    /// A coefficient of restitution makes no sense.
    #[error(
        "the coefficient of restitution of contact {contact} is {value} at t = {t}: it must lie in [0, 1]; EventDriven::any_restitution takes others"
    )]
    Restitution {
        /// The contact.
        contact: usize,
        /// Its coefficient.
        value: f64,
        /// Time (s).
        t: f64,
    },

    /// An impact could not be resolved.
    #[error(
        "the impact of contacts {contacts:?} at t = {t} has no outcome: {reason} (contacts counted from 0 in this list)"
    )]
    Impact {
        /// The contacts that took part. `reason` counts them from 0, in this order.
        contacts: Vec<usize>,
        /// What the law of impact said.
        reason: Box<Error>,
        /// Time (s).
        t: f64,
        /// `(q, v)` just before.
        state: Vec<f64>,
    },

    /// No set of closed contacts is consistent with the accelerations.
    #[error("no set of the contacts {contacts:?} can stay closed at t = {t}")]
    SettleFailed {
        /// The contacts that touch.
        contacts: Vec<usize>,
        /// Time (s).
        t: f64,
    },

    /// Efforts depend on which contacts are closed, and there are too many to try all sets.
    #[error(
        "{} contacts touch at t = {t} and efforts depend on which are closed: sets are tried up to {limit}", contacts.len()
    )]
    TooManyContacts {
        /// The contacts that touch.
        contacts: Vec<usize>,
        /// The limit.
        limit: usize,
        /// Time (s).
        t: f64,
    },

    /// More than one set of closed contacts is consistent with the accelerations.
    #[error(
        "several sets of the contacts {contacts:?} can stay closed at t = {t}, with different accelerations"
    )]
    AmbiguousMode {
        /// The contacts that touch.
        contacts: Vec<usize>,
        /// Time (s).
        t: f64,
    },

    /// A mass matrix or a Delassus matrix is not what mechanics allows.
    #[error("the {name} matrix {fault}")]
    BadMatrix {
        /// `mass` or `Delassus`.
        name: &'static str,
        /// What is wrong with it.
        fault: MatrixFault,
    },

    /// An impact without contacts.
    #[error("an impact needs at least one contact")]
    NoContacts,

    /// A contact was named that the problem does not have.
    #[error("there is no contact {contact}: the problem has {count}")]
    NoSuchContact {
        /// Its number.
        contact: usize,
        /// Contacts of the problem.
        count: usize,
    },

    /// Contacts depend on each other where forces or impulses have to be unique.
    #[error(
        "the normals of contacts {set:?} are dependent (reciprocal condition number {rcond:e}): their forces or bilateral impulses are not unique; drop a redundant contact, or take least squares for forces (EventDriven::redundant) and a unilateral or propagative law for impulses"
    )]
    DependentContacts {
        /// The contacts that depend on each other.
        set: Vec<usize>,
        /// How far they are from independent: the least eigenvalue over the greatest, or the least
        /// pivot, of the Gram matrix of unit normals.
        rcond: f64,
    },

    /// The contact speeds of dependent contacts are not those of any motion.
    #[error(
        "the speeds of the dependent contacts {set:?} are not those of a motion: they miss one by {by:e} (unit normals); from_mechanics takes the motion itself"
    )]
    InconsistentSpeeds {
        /// The contacts that depend on each other.
        set: Vec<usize>,
        /// How far the speeds are from those of a motion (`√(J)`, scaled speed).
        by: f64,
    },

    /// A body is squeezed between contacts of which one is to rebound: no impulses make it.
    #[error(
        "contacts {set:?} squeeze a body between them: none can part unless another closes, so contact {contact}, which approaches, cannot rebound with restitution {restitution}; restitution 0 has an outcome"
    )]
    Squeezed {
        /// The contacts that squeeze it: some combination of their normals with positive weights
        /// vanishes.
        set: Vec<usize>,
        /// The one of them that approaches with the largest speed of rebound, `e_i |u_i|/√G_ii`.
        contact: usize,
        /// Its coefficient of restitution.
        restitution: f64,
    },

    /// Velocities are not the rates of the coordinates, and the Coriolis force is not written.
    #[error(
        "the velocities are not the rates of the coordinates (configuration_rate is written): the mass matrix alone does not tell the Coriolis force; write MechanicalSystem::coriolis"
    )]
    CoriolisUnwritten,

    /// Contacts of one problem have different numbers of tangents, or more than two.
    #[error(
        "contact {contact} has {found} tangents where {expected} are possible: all contacts of a problem have 0, all have 1 (in the plane) or all have 2 (in space)"
    )]
    Tangents {
        /// The contact.
        contact: usize,
        /// The number that it may have, that of the contacts before it.
        expected: usize,
        /// The number that it has.
        found: usize,
    },

    /// A coefficient of friction is given to what ignores it.
    #[error(
        "contact {contact} has the coefficient of friction {friction}, which {law} ignores; frictionless() says that it does not matter"
    )]
    FrictionIgnored {
        /// The impact law, or the part of the driver, that knows no friction.
        law: &'static str,
        /// The contact.
        contact: usize,
        /// Its coefficient of friction.
        friction: f64,
    },

    /// An impact law would have to pull, and was told to refuse that.
    #[error("contact {contact} would have to pull: its impulse is {impulse:e}")]
    Adhesion {
        /// The contact with the most negative scaled impulse.
        contact: usize,
        /// Its impulse (N s).
        impulse: f64,
    },

    /// The path of Lemke's method left along a ray, [`LcpSolver::ray`](crate::lcp::LcpSolver::ray),
    /// and no step of the ladder found a solution.
    #[error("the path of Lemke's method left along a ray{}",
        if *infeasible { ", which proves that no z ≥ 0 has W z + q ≥ 0" } else { ": there may be no solution" })]
    LcpRay {
        /// The ray `u` is a certificate that there is no solution: `u ≥ 0`, `Wᵀu ≤ 0` and
        /// `q·u < 0`, so that `u·(W z + q)` is negative for every `z ≥ 0`. In numbers, with rows
        /// and columns scaled to 1: no entry of `Wᵀu` is above 1e-12 of its terms, and a solution
        /// would have to be larger than 1e8.
        ///
        /// In exact arithmetic a path of Lemke's method that ends in a ray proves this whenever `W`
        /// is copositive-plus, as every positive semidefinite one is. In numbers of this precision
        /// that holds where the problem is infeasible by more than rounding: a symmetric
        /// semidefinite problem with `q·u` within 1e-6 of the size of its terms counts as solvable,
        /// by a large `z`. For other matrices a ray proves nothing in general, and problems that
        /// have a solution may end in one.
        infeasible: bool,
    },

    /// A linear complementarity problem has more solutions than are listed, or more singular
    /// complementary bases that hold some.
    #[error(
        "the complementarity problem has more than {limit} solutions, or singular bases that hold solutions: too many to list"
    )]
    TooManySolutions {
        /// The limit.
        limit: usize,
    },

    /// A linear complementarity problem needed more pivots than allowed.
    #[error("no solution of the complementarity problem within {pivots} pivots")]
    LcpPivots {
        /// Pivots made by the first run of Lemke's method.
        pivots: usize,
    },

    /// A solution of a linear complementarity problem came out that the residual check refused, or
    /// none because of rounding.
    #[error(
        "the residual {residual:e} of the complementarity problem exceeds the {allowed:e} allowed"
    )]
    LcpResidual {
        /// `max |min(z, W z + q)|` of what the first rung found; infinite when rounding or overflow
        /// spoilt its path.
        residual: f64,
        /// What the check allows.
        allowed: f64,
    },

    /// The contact that was to be reflected first does not approach.
    #[error("contact {contact} was to be first, but does not approach: its speed is {speed:e}")]
    NotApproaching {
        /// The contact.
        contact: usize,
        /// Its speed (m/s).
        speed: f64,
    },

    /// More reflections or stages within one impact than allowed; they would end later.
    #[error(
        "{limit} stages within one impact, and contact {contact} still approaches at {speed:e}: the contacts form a narrow cone; raise the cap"
    )]
    ReflectionCap {
        /// The limit.
        limit: usize,
        /// The contact that approaches most.
        contact: usize,
        /// Its speed (m/s).
        speed: f64,
    },

    /// No motion opens all contacts at once: a body squeezed between walls. Reflections need not
    /// end.
    #[error(
        "no motion opens all contacts at once, as for a body squeezed between walls: {limit} stages within one impact did not end, and need not"
    )]
    NoFeasibleInterior {
        /// The cap that was reached.
        limit: usize,
    },

    /// One outcome was asked for where a law predicts several or none, or where its search stopped
    /// at a cap.
    #[error(
        "the impact law has {count} outcomes here, not one, or its search stopped at a cap: resolve() gives the set, and a Selection takes one of it"
    )]
    NotSingle {
        /// Number of outcomes that are known.
        count: usize,
    },

    /// A [`Selection`](crate::impact::Selection) chose an outcome that does not exist, or none.
    #[error("the selection chose {} of {count} outcomes",
        chosen.map_or_else(|| "none".to_owned(), |chosen| format!("number {chosen}, counted from 0,")))]
    NoSuchOutcome {
        /// What it chose.
        chosen: Option<usize>,
        /// Number of outcomes.
        count: usize,
    },

    /// More outcomes of an impact than are compared with each other.
    #[error("the impact has {count} outcomes: up to {limit} are compared with each other")]
    TooManyOutcomes {
        /// Number of outcomes.
        count: usize,
        /// The limit.
        limit: usize,
    },

    /// A velocity was asked for of a problem that was given in contact space.
    #[error(
        "the problem was given in contact space: velocities are known to one made with from_mechanics"
    )]
    OnlyContactSpace,

    /// An impact computed NaN or infinity from finite input.
    #[error("the impact overflows: {quantity} of contact {contact} is {value}")]
    ImpactOverflow {
        /// Which quantity.
        quantity: &'static str,
        /// The contact, or the row among the tangents.
        contact: usize,
        /// Its value.
        value: f64,
    },

    /// An [`Interrupt`](crate::Interrupt) was set.
    #[error("interrupted")]
    Interrupted,

    /// The model refused a crossing in `on_crossing`.
    #[error("the model refused: {reason}")]
    Model {
        /// The model's own words.
        reason: String,
    },
}

/// Guards in words, for messages.
fn list(guards: &[Guard]) -> String {
    let words: Vec<_> = guards.iter().map(ToString::to_string).collect();
    words.join(", ")
}
