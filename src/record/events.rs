//! The log of the contacts of a run: events as sets of contacts, and the sequence of contact modes.

use std::fmt;

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ContactEventKind {
    /// Gaps closed, or contacts were released, or both at once.
    Contact,
    /// A gap was touched, or its contact approached too slowly for an impact. Or the force of a
    /// contact fell to zero too slowly for a release, and the contact was opened.
    Touch,
    /// Contacts that stay closed came to stick, began to slip or turned round.
    Friction,
    /// An accumulation of impacts was absorbed: the contacts were closed by a plastic impact, which
    /// may pull.
    ZenoAbsorbed,
}

/// An event of a run: all that happens to contacts at one instant.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContactEvent {
    /// Time (s).
    pub t: f64,
    /// The kind of the event.
    pub kind: ContactEventKind,
    /// Contacts that became active: their gaps reached zero.
    pub activated: Vec<usize>,
    /// Contacts that were closed and are not after, by an impact or since their force reached zero;
    /// and those whose force reached zero and which closed again at once.
    pub released: Vec<usize>,
    /// Contacts with friction, closed before and after, that came to stick.
    pub stuck: Vec<usize>,
    /// Likewise those that began to slip, or turned round; in which direction,
    /// `ContactModel::contacting` reads from the [mode](crate::Run::mode_at) behind.
    pub slipped: Vec<usize>,
    /// Closed contacts before: the contact mode `J`.
    pub mode_before: Vec<usize>,
    /// Closed contacts after.
    pub mode_after: Vec<usize>,
    /// `(q, v)` just before.
    pub state_before: Vec<f64>,
    /// `(q, v)` just after.
    pub state_after: Vec<f64>,
    /// Contacts that took part in the impact: the activated ones and those that were closed.
    pub contacts: Vec<usize>,
    /// Impulses of `contacts` (N s for gaps in metres): the normal ones, then, where the law takes
    /// friction into account, those along the tangents, contact by contact. Empty when there was no
    /// impact. A rebound too low for gaps to resolve is held by an impulse that may pull, which stands for what
    /// the weight does until the contact is back.
    pub impulses: Vec<f64>,
    /// `Da v⁻` of `contacts` (m/s); negative where they approach.
    pub approach: Vec<f64>,
    /// Remarks of the impact law, such as that the energy rose.
    pub remarks: Vec<Remark>,
    /// The order in which contacts acted, by their places in `contacts`; none when there was no
    /// impact by the law.
    pub order: Option<Order>,
    /// The number of outcomes of the law of impact, of which this is one; 0 without an impact.
    pub outcomes: usize,
}

impl ContactEvent {
    /// Memory that it takes (bytes).
    pub(crate) fn bytes(&self) -> usize {
        let slips = self.stuck.len() + self.slipped.len();
        let changed = self.activated.len() + self.released.len() + slips;
        let modes = self.mode_before.len() + self.mode_after.len();
        let taking_part = self.contacts.len() + self.impulses.len() + self.approach.len();
        let states = self.state_before.len() + self.state_after.len();
        size_of::<Self>()
            + (changed + modes + taking_part + states) * size_of::<f64>()
            + self.remarks.len() * size_of::<Remark>()
    }

    /// An event at which nothing has happened yet.
    pub(crate) fn new(t: f64, kind: ContactEventKind) -> Self {
        Self {
            t,
            kind,
            activated: Vec::new(),
            released: Vec::new(),
            stuck: Vec::new(),
            slipped: Vec::new(),
            mode_before: Vec::new(),
            mode_after: Vec::new(),
            state_before: Vec::new(),
            state_after: Vec::new(),
            contacts: Vec::new(),
            impulses: Vec::new(),
            approach: Vec::new(),
            remarks: Vec::new(),
            order: None,
            outcomes: 0,
        }
    }
}

/// In one line: the time, what happened to which contacts, and the remarks, as in
/// `0.45 s: closed 0, 1; slipped 1`.
impl fmt::Display for ContactEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s:", self.t)?;
        let touched = match self.kind {
            ContactEventKind::Touch => "touched",
            ContactEventKind::ZenoAbsorbed => "came to rest",
            ContactEventKind::Contact | ContactEventKind::Friction => "closed",
        };
        let changes = [
            (touched, &self.activated),
            ("released", &self.released),
            ("stuck", &self.stuck),
            ("slipped", &self.slipped),
        ];
        let mut separator = "";
        for (what, contacts) in changes.iter().filter(|(_, contacts)| !contacts.is_empty()) {
            write!(f, "{separator} {what} ")?;
            for (i, contact) in contacts.iter().enumerate() {
                write!(f, "{}{contact}", if i > 0 { ", " } else { "" })?;
            }
            separator = ";";
        }
        if separator.is_empty() {
            f.write_str(" no contact changed")?;
        }
        self.remarks
            .iter()
            .try_for_each(|remark| write!(f, " ({remark})"))
    }
}

/// A contact mode and the time from which it holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Phase {
    /// From when (s).
    pub t: f64,
    /// The closed contacts `J`.
    pub closed: Vec<usize>,
}

/// The contact mode sequence `ω` of the paper (definition 4): the modes in which positive time is
/// spent, with the events that begin them.
pub(crate) fn sequence(
    start: f64,
    end: f64,
    initial: &[usize],
    events: &[ContactEvent],
) -> Vec<Phase> {
    let mut modes = vec![Phase {
        t: start,
        closed: initial.to_vec(),
    }];
    for event in events {
        let mode = Phase {
            t: event.t,
            closed: event.mode_after.clone(),
        };
        match modes.last_mut() {
            // No time was spent in the last one.
            Some(last) if event.t <= last.t => *last = mode,
            _ => modes.push(mode),
        }
    }
    if modes.len() > 1 && modes.last().is_some_and(|last| last.t >= end) {
        modes.pop();
    }
    modes
}

/// The order in which contacts acted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// All at once.
    Together,
    /// One by one: the contacts in the order of their reflections.
    Word(Vec<usize>),
    /// In groups one after another.
    Stages(Vec<Vec<usize>>),
    /// All at once, each contact in a mode.
    Modes(Vec<Contacting>),
}

/// The state of a contact in the plane at the end of an impact. Printed as `O`, `S`, `+` and `-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Contacting {
    /// Does not push.
    Open,
    /// Pushes and does not slip.
    Stick,
    /// Pushes and slips along its tangent; without tangents, pushes.
    SlipForward,
    /// Pushes and slips against its tangent.
    SlipBackward,
}

impl fmt::Display for Contacting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "O",
            Self::Stick => "S",
            Self::SlipForward => "+",
            Self::SlipBackward => "-",
        })
    }
}

/// A remark on an outcome that the user should know.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Remark {
    /// A contact pulls. This is the one with the most negative scaled impulse.
    #[error("contact {contact} pulls: impulse {impulse:e}")]
    Adhesive {
        /// The contact.
        contact: usize,
        /// Its impulse (N s).
        impulse: f64,
    },
    /// A contact pressed itself down while it slid, and pushed without having approached (Painlevé).
    #[error("contact {contact} pushed without a collision")]
    WithoutCollision {
        /// The contact, as the model counts it.
        contact: usize,
    },
    /// So many contacts touch that not all modes were tried: the one that follows was found by a
    /// solver and verified; whether others are consistent too is not known.
    #[error("the contact mode that follows is one that was found: others may be consistent")]
    OneOfMany,
    /// Contacts that depend on each other, as the feet of a table, may share their impulses in several ways, with
    /// different speeds after it: they slip in different directions or with different coefficients, or stick with some
    /// shares only, or one that rests open on its surface may push as well. This outcome has the impulses of least
    /// size, or those with which all stick. A run has the doubt [`SharedLoads`](crate::Doubt::SharedLoads) then.
    #[error(
        "speeds depend on how contacts share their impulses: the shares of least size were taken"
    )]
    SharedImpulses,
    /// Friction in space acts in a few directions, since no outcome within round cones was found
    /// ([`Moreau::directions`](crate::impact::Moreau::directions)): speeds may be off by some percent.
    #[error("friction acts in a few directions: no outcome within round cones was found")]
    FewDirections,
    /// Impacts accumulate here (Zeno).
    #[error("impacts accumulate, by intervals that shrink by {ratio}, to within {bound:e} s")]
    Accumulation {
        /// The ratio of intervals in the end.
        ratio: f64,
        /// Bound of the error of the time (s): what the sum adds if the ratios settle on as they did,
        /// what the rounding of gaps makes of the times of the impacts it is formed from, and an
        /// estimate of the errors of the smooth phases before: a hundred times the relative tolerance for
        /// each second.
        bound: f64,
    },
    /// A contact still approaches. This is the one with the most negative scaled speed.
    #[error("contact {contact} still approaches at {speed:e}")]
    Approaching {
        /// The contact.
        contact: usize,
        /// Its speed (m/s).
        speed: f64,
    },
    /// The impact raises the kinetic energy.
    #[error("the kinetic energy rises by {by:e}")]
    EnergyRaised {
        /// By this much (J).
        by: f64,
    },
    /// The plastic part is the projection onto the feasible speeds, because the bilateral one
    /// pulls.
    #[error("plastic part unilateral")]
    UnilateralPlastic,
    /// Contacts differ in restitution, and the law uses one coefficient for the whole impact: the
    /// largest.
    #[error("one restitution for the whole impact, the largest: {used}")]
    LargestRestitution {
        /// The one used.
        used: f64,
    },
    /// Samples of the set are left out because a step was not solved. The first outcome of a list
    /// has this remark.
    #[error("{count} samples were not solved")]
    UnsolvedSamples {
        /// Their number.
        count: u64,
    },
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |contacts: &[usize], by: &str| {
            let numbers: Vec<String> = contacts.iter().map(ToString::to_string).collect();
            numbers.join(by)
        };
        match self {
            Self::Together => f.write_str("together"),
            Self::Modes(modes) => modes.iter().try_for_each(|mode| mode.fmt(f)),
            Self::Word(word) if word.is_empty() => f.write_str("nothing to do"),
            Self::Word(word) => f.write_str(&joined(word, "-")),
            Self::Stages(stages) if stages.is_empty() => f.write_str("nothing to do"),
            Self::Stages(stages) => {
                let stages: Vec<String> = stages.iter().map(|s| joined(s, "+")).collect();
                f.write_str(&stages.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_says_in_one_line_what_happened() {
        let mut event = ContactEvent::new(0.45, ContactEventKind::Contact);
        assert_eq!(event.to_string(), "0.45 s: no contact changed");
        event.activated = vec![0, 1];
        event.slipped = vec![2];
        assert_eq!(event.to_string(), "0.45 s: closed 0, 1; slipped 2");
        event.kind = ContactEventKind::ZenoAbsorbed;
        event.remarks.push(Remark::WithoutCollision { contact: 1 });
        let expected =
            "0.45 s: came to rest 0, 1; slipped 2 (contact 1 pushed without a collision)";
        assert_eq!(event.to_string(), expected);
    }
}
