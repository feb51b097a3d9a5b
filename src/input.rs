//! Bad input, each kind by name: what is refused before any work begins.

use crate::MatrixFault;

/// The reason for which an input was refused.
///
/// Every function that checks its input returns this, by itself or as the variant `Input` of its
/// room's error. What a run meets on its way is a [`Stop`](crate::Stop).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The system has no state variables.
    #[error(
        "the system has no state variables: dim() is 0 (a scene in which no body moves has none)"
    )]
    EmptySystem,

    /// A slice has the wrong length.
    #[error("{name} has length {found}, expected {expected}")]
    WrongLength {
        /// Name of the slice.
        name: &'static str,
        /// Length the system asks for.
        expected: usize,
        /// Length that was passed.
        found: usize,
    },

    /// A time, a state or an entry of the data is NaN or infinite.
    #[error("{name} is not finite: {value} (entry {entry})")]
    NotFinite {
        /// Name of the quantity.
        name: &'static str,
        /// Number of the entry, 0 for a scalar.
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
    #[error("{name} = {value}{}: {rule}", of_many(*entry))]
    BadSetting {
        /// The setting.
        name: &'static str,
        /// Number of the entry, 0 for a scalar; the message has it where it is not 0.
        entry: usize,
        /// Its value.
        value: f64,
        /// The rule that it breaks.
        rule: &'static str,
    },

    /// The guard reset matrix lets a guard re-arm or retire itself.
    #[error(
        "guard {event} ({direction}) re-arms itself: a guard that may be crossed again needs a partner with the opposite direction"
    )]
    SelfRearming {
        /// The event function of the guard.
        event: usize,
        /// The way the guard is crossed: `rising` or `falling`.
        direction: &'static str,
    },

    /// Something was named by a number that does not exist.
    #[error("there is no {what} {index}: there are {count}, counted from 0")]
    NoSuch {
        /// Kind of the thing that was named: `event function`, `flag`, `contact`, `corner`,
        /// `crossing`, `tree`, `body`, `coordinate`, `variable`, or `crossing of the order`
        /// ([`saltation_product`](crate::derivative::saltation_product)).
        what: &'static str,
        /// Its number.
        index: usize,
        /// The number of those that exist.
        count: usize,
    },

    /// A body of a scene that was removed, or is not of the kind that is asked for.
    #[error("body {body} {why}")]
    WrongBody {
        /// The body.
        body: usize,
        /// Its fate, or its kind.
        why: &'static str,
    },

    /// A time was asked for that the run does not cover.
    #[error("t = {t} lies outside the run, which covers [{start}, {end}]")]
    OutsideRun {
        /// The time asked for (s).
        t: f64,
        /// First time of the run (s).
        start: f64,
        /// Last time of the run (s).
        end: f64,
    },

    /// A mass matrix or a Delassus matrix is not what mechanics allows.
    #[error("the {name} matrix {fault}")]
    BadMatrix {
        /// `mass` or `Delassus`.
        name: &'static str,
        /// The fault of the matrix.
        fault: MatrixFault,
    },

    /// The inertia of a tree is not what mechanics allows.
    #[error("the inertia of tree {tree} {fault}")]
    BadTree {
        /// The tree.
        tree: usize,
        /// The fault of its matrix.
        fault: MatrixFault,
    },

    /// A term of a compliant problem acts on no tree, or on more than two.
    #[error("a contact or another term acts on {found} trees: it must be one or two")]
    TreesOfTerm {
        /// The number of trees.
        found: usize,
    },

    /// Both anchors of a joint lie in the world, or on fixed bodies.
    #[error(
        "a joint holds no body that moves: both its anchors lie in the world, or on fixed bodies"
    )]
    JointWithoutBody,

    /// The path of a kinematic body has no pose at a time.
    #[error("the path of the body of tree {tree} at t = {t}: {reason}")]
    Path {
        /// The tree of the body.
        tree: usize,
        /// The time for which it was asked (s).
        t: f64,
        /// The fault of the pose.
        reason: Box<InputError>,
    },

    /// A weld closes a loop of welds, and contradicts the others.
    #[error(
        "term {term} closes a loop of welds that contradict each other: the others hold its two bodies {apart:e} m and {turned:e} rad away from how it holds them; take it out, place it as the bodies are (Joint::as_placed), or make it soft"
    )]
    WeldsDisagree {
        /// The number of the term, in the order in which terms were added.
        term: usize,
        /// Distance (m).
        apart: f64,
        /// Angle (rad).
        turned: f64,
    },

    /// The rows of a term of a compliant problem make no sense.
    #[error("the rows of {what} {index}: {reason}")]
    RowsOfTerm {
        /// `contact` or `row`.
        what: &'static str,
        /// Its number.
        index: usize,
        /// The fault of its rows.
        reason: Box<InputError>,
    },

    /// A start that gives what this driver does not start from.
    #[error("this driver starts from {expected}: {found} cannot be used")]
    Start {
        /// The data that the driver starts from.
        expected: &'static str,
        /// The data that were given.
        found: &'static str,
    },

    /// A snapshot that a driver cannot take up.
    #[error(
        "the snapshot was taken of another {of}: take it up by a driver of the same kind, with the same system"
    )]
    Snapshot {
        /// The part that differs: `driver`, or `system`.
        of: &'static str,
    },

    /// The effort of a run cannot change while a derivative of its driver is held, which shares the
    /// model.
    #[error(
        "the effort cannot change while a derivative of this driver is held: it shares the model"
    )]
    SharedModel,

    /// The last effort of a live run was not used: no step of one length ends in its time, and
    /// another effort follows.
    #[error(
        "no step ends between t = {t0} and {t}, so that the effort of that time is not used: take shorter steps (time_step), or hold an effort for a step"
    )]
    EffortUnused {
        /// Where the run stands (s).
        t0: f64,
        /// The end of the time for which the effort was to be held (s).
        t: f64,
    },

    /// A step was asked for before the start.
    #[error("there is no state to step from: call start first")]
    NotStarted,

    /// An impact without contacts.
    #[error("an impact needs at least one contact")]
    NoContacts,

    /// A velocity was asked for of a problem that was given in contact space.
    #[error(
        "the problem was given in contact space: velocities are known to one made with from_mechanics"
    )]
    OnlyContactSpace,

    /// A coefficient of friction is given to what ignores it.
    #[error(
        "contact {contact} has the coefficient of friction {friction}, which {law} ignores: take a law with friction (that of a model is one where contacts have tangents), or say by frictionless() of the model that it does not matter (Variational::frictionless_impacts: not in impacts); bodies of a contact of a scene: Scene::contact_of"
    )]
    FrictionIgnored {
        /// The impact law, or the part of the driver, that ignores friction.
        law: &'static str,
        /// The contact.
        contact: usize,
        /// Its coefficient of friction.
        friction: f64,
    },

    /// Spinning or rolling friction is given to what ignores it.
    #[error(
        "contact {contact} has spinning friction {spinning} m and rolling friction {rolling} m, which {law} ignores: take the compliant driver with StepFriction::Coulomb and contacts with rows of angular velocity, or 0 (Compliant::frictionless says that they do not matter); bodies of a contact of a scene: Scene::contact_of"
    )]
    MomentsIgnored {
        /// The law, or the part of the driver, that ignores them.
        law: &'static str,
        /// The contact.
        contact: usize,
        /// Its coefficient of spinning friction (m).
        spinning: f64,
        /// Its coefficient of rolling friction (m).
        rolling: f64,
    },

    /// A coefficient of restitution is not zero, and the impact law ignores it.
    #[error(
        "contact {contact} has restitution {restitution}, which {law} does not know: take a law that does, or 0 (Compliant::inelastic says that it does not matter); bodies of a contact of a scene: Scene::contact_of"
    )]
    RestitutionIgnored {
        /// The impact law.
        law: &'static str,
        /// The contact.
        contact: usize,
        /// Its coefficient of restitution.
        restitution: f64,
    },

    /// A body that is to be removed or replaced is held by a term of the driver.
    #[error(
        "body {body} is held by term {term} of the driver, a joint, a limit or a motor: it cannot go (terms are counted in the order in which Compliant::term added them; Compliant::remove_term takes one away)"
    )]
    BodyHeld {
        /// The body.
        body: usize,
        /// The number of the term, in the order in which terms were added.
        term: usize,
    },

    /// A term of the driver holds a body that was removed from the scene.
    #[error(
        "term {term} of the driver, a joint, a limit or a motor, holds body {body}, which was removed (terms are counted in the order in which Compliant::term added them; Compliant::remove_term takes one away)"
    )]
    BodyGone {
        /// The body.
        body: usize,
        /// The number of the term, in the order in which terms were added.
        term: usize,
    },

    /// Friction of a contact depends on its slip or its place, and the driver has one coefficient.
    #[error(
        "contact {contact} has a law of friction (UnilateralConstraints::friction_at), and {driver} takes one coefficient; take EventDriven"
    )]
    FrictionLaw {
        /// The driver.
        driver: &'static str,
        /// The contact.
        contact: usize,
    },

    /// Velocities are not the rates of the coordinates, and the Coriolis force is not written.
    #[error(
        "the velocities are not the rates of the coordinates (configuration_rate is written): the mass matrix alone does not tell the Coriolis force; write MechanicalSystem::coriolis"
    )]
    CoriolisUnwritten,

    /// Some velocities are driven, and the driver has all of them moved by forces.
    #[error(
        "velocity {first} is driven (MechanicalSystem::driven): {driver} has no surfaces that move by themselves; take EventDriven"
    )]
    DrivenVelocities {
        /// The driver.
        driver: &'static str,
        /// The first of them.
        first: usize,
    },

    /// Velocities are not the rates of the coordinates, and the driver needs `q̇ = v`.
    #[error(
        "the velocities are not the rates of the coordinates (configuration_rate is written): this driver needs coordinates with q' = v"
    )]
    NotCoordinateRates,

    /// Contacts of one problem have different numbers of tangents, more than two, or friction and no
    /// tangents.
    #[error(
        "contact {contact} has {found} tangents, not {expected}: all contacts of a problem have 1 (in the plane), all have 2 (in space), or, without friction, all have 0; write `tangents` and `tangent_rows`"
    )]
    Tangents {
        /// The contact.
        contact: usize,
        /// The number that it may have: that of the contacts before it, or with friction at least 1.
        expected: usize,
        /// The number that it has.
        found: usize,
    },

    /// The normal and the tangents of a contact with friction are not of one length and orthogonal
    /// in the plane or the space of the contact, where that is seen
    /// ([`tangent_rows`](crate::mechanics::UnilateralConstraints::tangent_rows)).
    #[error(
        "contact {contact} has friction, and as its body is shifted its normal row is {normal} long, its tangent row {tangent}, with the cosine {cosine} between them: friction would be scaled by their ratio; divide the gap by the length of its gradient, and take a unit tangent orthogonal to it"
    )]
    ContactFrame {
        /// The contact.
        contact: usize,
        /// Length of the normal row in the shifts of a body: `|∇a|`.
        normal: f64,
        /// Length of the first tangent row there.
        tangent: f64,
        /// Cosine of the angle between them.
        cosine: f64,
    },

    /// A contact has friction, and all its tangent rows are zeros at the start: no slip, so that
    /// friction would never act.
    #[error(
        "contact {contact} has friction and tangent rows of zeros: write `tangent_rows`, or say `frictionless()`"
    )]
    TangentsUnwritten {
        /// The contact.
        contact: usize,
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

    /// The contact speeds of dependent contacts are not those of any motion.
    #[error(
        "the speeds of the dependent contacts {set:?} are not those of a motion: they miss one by {by:e} (unit normals); from_mechanics takes the motion itself"
    )]
    InconsistentSpeeds {
        /// The contacts that depend on each other.
        set: Vec<usize>,
        /// Distance of the speeds from those of a motion (`√(J)`, scaled speed).
        by: f64,
    },
}

/// The entry of a list; most settings are no list.
fn of_many(entry: usize) -> String {
    match entry {
        0 => String::new(),
        _ => format!(" (entry {entry})"),
    }
}
