//! The reasons for which the motion of bodies cannot go on, and the checks that find some of them:
//! options, states, masses, coefficients of restitution.

use super::Model;
use crate::linalg::scratch::with_zeros;
use crate::linalg::symmetric::{driven_fault, square_fault};
use crate::mechanics::configuration::{self, check_configuration, check_input};
use crate::mechanics::contact::frames::check_all_frames;
use crate::mechanics::contact::source::common_tangents;
use crate::mechanics::motion::acceleration::Frame;
use crate::mechanics::motion::constants::Trouble;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};
use crate::{InputError, MatrixFault, Mode, NoDerivative, Stop, impact, validate};

/// The reason for which the motion of bodies cannot go on.
///
/// Status [`Refused`](crate::Status::Refused) of a run carries it as the reason of a model:
/// [`Status::reason`](crate::Status::reason) gives it back.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Breakdown {
    /// The mass matrix is not symmetric positive definite.
    #[error("the mass matrix {fault} at q = {state:?}")]
    MassMatrix {
        /// The fault of the matrix.
        fault: MatrixFault,
        /// Configuration.
        state: Vec<f64>,
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
        "impacts of contacts {contacts:?} accumulate at t = {accumulation} (Zeno): their times shrink by {ratio} from one to the next; Zeno::Absorb goes on from there"
    )]
    Zeno {
        /// The accumulation time (s).
        accumulation: f64,
        /// The contacts.
        contacts: Vec<usize>,
        /// Ratio of successive times between impacts.
        ratio: f64,
        /// Time at which it was found (s).
        t: f64,
    },

    /// A contact that is open has a negative gap. Gaps are looked at in some places of each step: a run that ends so
    /// has its last step whole, to beyond `t`, with bodies in each other, and is not guaranteed.
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

    /// The gap of a closed contact is not zero within a step, by far more than the error that the tolerances allow.
    #[error(
        "contact {contact} is closed, and its gap is {gap:e} at t = {t}: the gap jumps there, as at a stair, which is a contact of its own; or its row is not its derivative (check_mechanics)"
    )]
    GapJump {
        /// The contact.
        contact: usize,
        /// Its gap (m).
        gap: f64,
        /// Time (s).
        t: f64,
    },

    /// The gap of a closed contact has a rate within a step, by far more than the error that the tolerances allow.
    #[error(
        "contact {contact} is closed, and its gap changes by {rate:e} m/s at t = {t}: the gap has a kink there, as where a ramp begins, which is a contact of its own"
    )]
    GapKink {
        /// The contact.
        contact: usize,
        /// The rate of its gap (m/s).
        rate: f64,
        /// Time (s).
        t: f64,
    },

    /// Contacts that depend on each other are closed although no loads within their cones hold them, and the run did
    /// not see where that began.
    #[error(
        "no loads within the cones of friction hold the closed contacts at t = {t}, by the part {margin:e} of them, and the run did not see where that began: a force that jumps, as by a clock, wants the run to be split there"
    )]
    LoadsOutside {
        /// How far the closest loads are outside, as a part of them.
        margin: f64,
        /// Time (s).
        t: f64,
    },

    /// A coefficient of restitution makes no sense.
    #[error(
        "the coefficient of restitution of contact {contact} is {value} at t = {t}: it must lie in [0, 1]; ContactModel::any_restitution takes others"
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
        /// The failure of the law of impact.
        reason: Box<impact::ImpactFailure>,
        /// Time (s).
        t: f64,
        /// `(q, v)` just before.
        state: Vec<f64>,
    },

    /// A contact slides towards where no force holds it (Painlevé), and steps become too short to go on: its
    /// force may grow beyond all bounds on the way.
    #[error(
        "contact {contact} jams at t = {t}: it slides to where no force would hold it (Painlevé), and steps become too short on the way; rigid bodies do not say what follows, a compliant contact does (Compliant)"
    )]
    Jam {
        /// The contact.
        contact: usize,
        /// Time (s).
        t: f64,
    },

    /// A contact presses itself down while it slides, and no force holds it.
    #[error(
        "contact {contact} presses itself down at t = {t} while it slides (Painlevé): no force holds it; ContactModel::painleve(Painleve::Impact) goes on by an impact without collision"
    )]
    Painleve {
        /// The contact.
        contact: usize,
        /// Time (s).
        t: f64,
    },

    /// No set of closed contacts is consistent with the accelerations, as where surfaces that move by
    /// themselves squeeze a body; of more than five contacts with friction, none was found.
    #[error("no set of the contacts {contacts:?} can stay closed at t = {t}")]
    NoConsistentMode {
        /// The contacts that touch.
        contacts: Vec<usize>,
        /// Time (s).
        t: f64,
    },

    /// More contacts touch than modes are looked for: of sets on which efforts depend, and of contacts
    /// with friction.
    #[error(
        "{} contacts touch at t = {t}, with friction or efforts that depend on which are closed: modes are looked for up to {limit}", contacts.len()
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

    /// Contacts that are to stay closed depend on each other.
    #[error(
        "the normals of contacts {set:?} are dependent (reciprocal condition number {rcond:e}): their forces are not unique; drop a redundant contact, or take least squares for them (ContactModel::redundant)"
    )]
    DependentContacts {
        /// The contacts that depend on each other.
        set: Vec<usize>,
        /// Reciprocal condition number: the least eigenvalue over the greatest, or the least pivot,
        /// of the Gram matrix of unit normals.
        rcond: f64,
    },

    /// The impacts of one order of contacts do not end, as in a narrow cone or between walls.
    #[error(
        "{limit} impacts one after another at t = {t}, and contact {contact} still approaches at {speed:e}: the contacts form a narrow cone, or squeeze a body"
    )]
    TooManyImpacts {
        /// The limit.
        limit: usize,
        /// The contact that approaches.
        contact: usize,
        /// Its speed (m/s).
        speed: f64,
        /// Time (s).
        t: f64,
    },

    /// A derivative of an impact does not exist.
    #[error(transparent)]
    NoDerivative(Box<NoDerivative>),

    /// A stop of a run of the core.
    #[error(transparent)]
    Stop(Stop),

    /// Bad input.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl From<Stop> for Breakdown {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Input(error) => Self::Input(error),
            stop => match stop.downcast::<Self>() {
                Some(breakdown) => breakdown.clone(),
                None => Self::Stop(stop),
            },
        }
    }
}

impl From<NoDerivative> for Breakdown {
    fn from(reason: NoDerivative) -> Self {
        match reason {
            NoDerivative::Input(error) => Self::Input(error),
            NoDerivative::Stop(stop) => stop.into(),
            reason => Self::NoDerivative(Box::new(reason)),
        }
    }
}

impl Breakdown {
    /// The breakdown by a failure of the law of impact for `contacts` at time `t` and the state
    /// just before.
    pub(crate) fn of_impact(
        reason: impact::ImpactFailure,
        contacts: &[usize],
        t: f64,
        state: Vec<f64>,
    ) -> Self {
        match reason {
            impact::ImpactFailure::Interrupted => Self::Stop(Stop::Interrupted),
            reason => Self::Impact {
                contacts: contacts.to_vec(),
                reason: Box::new(reason),
                t,
                state,
            },
        }
    }
}

/// As the core carries it: [`Stop::downcast`] gives it back.
impl From<Breakdown> for Stop {
    fn from(breakdown: Breakdown) -> Self {
        match breakdown {
            Breakdown::Stop(stop) => stop,
            Breakdown::Input(error) => Self::Input(error),
            breakdown => Self::model(breakdown),
        }
    }
}

impl Model<'_> {
    /// Calls `work` with the frame of `contacts` at `q`: mass matrix, rows and Gram matrix.
    pub(crate) fn in_frame<R>(
        &self,
        at: &mut ContactsAt,
        q: &[f64],
        contacts: &[usize],
        work: impl FnOnce(&mut Frame<'_>) -> R,
    ) -> Result<R, Breakdown> {
        let size = self.bodies.frame_size(contacts.len());
        with_zeros(size, |scratch| {
            match self.bodies.frame_at(Some(at), q, contacts, scratch) {
                Ok(mut frame) => Ok(work(&mut frame)),
                Err(trouble) => Err(explain(trouble, q, contacts)),
            }
        })
    }

    /// The reason for which accelerations cannot be computed at a state, or within the step that
    /// begins there.
    pub(crate) fn trouble_ahead(&self, state: &[f64], mode: &Mode) -> Option<Breakdown> {
        let (q, v) = self.parts(state);
        let contacts = self.closed(mode);
        let mut rate = vec![0.0; q.len()];
        configuration::rate(self.system(), q, v, &mut rate);
        let ahead = |time: f64| {
            let moved: Vec<f64> = q.iter().zip(&rate).map(|(q, r)| q + time * r).collect();
            self.trouble_at(&moved, &contacts)
        };
        let times = (-12..-1).map(|exponent| 10f64.powi(exponent));
        std::iter::once(0.0).chain(times).find_map(ahead)
    }

    fn trouble_at(&self, q: &[f64], contacts: &[usize]) -> Option<Breakdown> {
        self.in_frame(&mut ContactsAt::default(), q, contacts, |frame| {
            let mut zero = vec![0.0; contacts.len()];
            frame.solve_gram(&mut zero, self.redundant)
        })
        .map_or_else(Some, |solved| {
            solved.err().map(|trouble| explain(trouble, q, contacts))
        })
    }
}

/// The error for accelerations or impacts that cannot be computed.
pub(crate) fn explain(trouble: Trouble, q: &[f64], contacts: &[usize]) -> Breakdown {
    match trouble {
        Trouble::Mass => Breakdown::MassMatrix {
            fault: MatrixFault::NotPositive { value: 0.0 },
            state: q.to_vec(),
        },
        Trouble::Sizes { expected, found } => Breakdown::Input(InputError::WrongLength {
            name: "the state of the system",
            expected,
            found,
        }),
        Trouble::Dependent(rcond) => Breakdown::DependentContacts {
            set: contacts.to_vec(),
            rcond,
        },
    }
}

impl Model<'_> {
    /// Refuses tolerances that make no sense, friction that nothing honours, and contacts that
    /// differ in their number of tangents: when a run starts, in every driver.
    pub(crate) fn check_options(&self) -> Result<(), InputError> {
        self.system().sizes.check()?;
        validate::not_negative("gap_tolerance", &[self.gap_tolerance])?;
        // Least rate of all guards.
        validate::positive("rate_tolerance", &[self.rate_tolerance])?;
        let system = self.system();
        common_tangents(system, system.contacts())?;
        self.check_friction()
    }

    /// The coefficient of restitution of a contact, if it is one.
    pub(crate) fn checked_restitution(
        &self,
        contact: usize,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<f64, Breakdown> {
        let value = self.system().restitution(contact, q, v);
        self.check_restitution(contact, t, value)
    }

    /// A coefficient of restitution, if it is one.
    pub(crate) fn check_restitution(
        &self,
        contact: usize,
        t: f64,
        value: f64,
    ) -> Result<f64, Breakdown> {
        if value != 0.0 && !self.law.honours_restitution() {
            return Err(Breakdown::Input(InputError::RestitutionIgnored {
                law: self.law.name(),
                contact,
                restitution: value,
            }));
        }
        let allowed = if self.any_restitution {
            value.is_finite()
        } else {
            (0.0..=1.0).contains(&value)
        };
        allowed
            .then_some(value)
            .ok_or(Breakdown::Restitution { contact, value, t })
    }

    /// The state `(q, v)` on the manifold of the coordinates, if it is one of the system.
    pub(crate) fn checked_state(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Vec<f64>, InputError> {
        let system = self.system();
        check_input(system.coordinates(), system.dof(), t, q, v)?;
        let mut state = [q, v].concat();
        let (coordinates, _) = self.parts_mut(&mut state);
        system.project_configuration(coordinates);
        let (on, _) = self.parts(&state);
        validate::finite("q", on)?;
        check_configuration(system, on, v)?;
        // Of contacts near or far.
        if self.first_friction(0..system.contacts()).is_some() {
            check_all_frames(system, on)?;
        }
        Ok(state)
    }

    pub(crate) fn check_mass(&self, at: &mut ContactsAt, q: &[f64]) -> Result<(), Breakdown> {
        let (mass, d) = (self.bodies.mass_at(at, q), self.system().dof());
        let driven = self.system().driven();
        let fault = square_fault(mass, d).or_else(|| driven_fault(mass, d, driven));
        if let Some(fault) = fault {
            let state = q.to_vec();
            return Err(Breakdown::MassMatrix { fault, state });
        }
        let factored = self.bodies.factor_at(at, q);
        factored.map_err(|trouble| explain(trouble, q, &[]))
    }
}
