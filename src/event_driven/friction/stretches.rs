//! The record of a run with time as a state: stretches, each with time, arclength and velocity at
//! both ends.

use nalgebra::DVector;

use crate::event_driven::Breakdown;
use crate::impact::Contacting;
use crate::{InputError, Run};

/// The kind of a stretch.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StretchKind {
    /// Smooth motion without closed contacts.
    Free,
    /// Smooth motion with closed contacts: the mode of each contact
    /// ([`impact::Contacting`](crate::impact::Contacting), not that of
    /// [`event_driven`](crate::event_driven)). Without friction a contact that pushes is
    /// [`Contacting::SlipForward`].
    Contact(Vec<Contacting>),
    /// An impact. Time stands still, and velocities change in proportion to `s`: the law gives
    /// their change, not the path.
    Impact {
        /// The contacts that touched.
        contacts: Vec<usize>,
        /// True where no contact approached, but no contact force held a sliding one (Painlevé).
        without_collision: bool,
        /// The number of outcomes of the law, of which this is one.
        outcomes: usize,
    },
    /// The end of an accumulation of impacts (Zeno): the bodies come to rest on these contacts.
    /// Impulses of single contacts are not determined, only their sum. Time and state change in
    /// proportion to `s`.
    Rest {
        /// The contacts.
        contacts: Vec<usize>,
        /// The limit of the ratios of intervals between impacts.
        ratio: f64,
        /// Bounds of the errors of time (s) and `s` at the end: what the sum adds if the ratios
        /// settle on as they did, what the rounding of gaps makes of the times of the impacts it is
        /// formed from, and an estimate of the errors of the smooth stretches before: ten times the
        /// relative tolerance for each second.
        bounds: [f64; 2],
    },
}

/// A stretch of a run. The arclength is `s = t + ∫ Σ λ_n dt + Σ Λ_n`: time (s) plus all normal
/// impulses (N s) since the start.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stretch {
    /// The kind of the stretch.
    pub kind: StretchKind,
    /// Time at both ends (s).
    pub t: [f64; 2],
    /// Arclength at both ends.
    pub s: [f64; 2],
    /// Configurations at both ends.
    pub q: [Vec<f64>; 2],
    /// Velocities at both ends.
    pub v: [Vec<f64>; 2],
    /// Normal impulses of all contacts in this stretch (N s); empty for [`StretchKind::Rest`].
    pub impulses: Vec<f64>,
    /// Likewise along the tangents; zeros without tangents.
    pub tangential: Vec<f64>,
    /// By how much the end may be late (s). Where sticking contacts depend on each other, forces are
    /// not unique, and a stretch ends only once the loads lie outside of the cones of friction by two
    /// parts in a thousand million: this is how long they have been outside. A load that rises
    /// slowly is found late accordingly. 0 for all other stretches.
    pub late: f64,
    pub(super) path: Option<Run>,
    pub(super) first_impulse: usize,
}

/// The end of a stretch.
pub(super) struct End {
    /// Time (s).
    pub(super) t: f64,
    /// Arclength.
    pub(super) s: f64,
    /// Normal impulses of all contacts in the stretch (N s); empty where they are not known.
    pub(super) impulses: Vec<f64>,
    /// Likewise along the tangents.
    pub(super) tangential: Vec<f64>,
}

impl Stretch {
    /// The sum of all normal impulses in this stretch (N s).
    pub fn normal_impulse(&self) -> f64 {
        (self.s[1] - self.s[0]) - (self.t[1] - self.t[0])
    }

    /// The states of a smooth stretch over time: `(q, v)`, then the impulses of all contacts since
    /// its start, normal ones first. None for others.
    pub fn path(&self) -> Option<&Run> {
        self.path.as_ref()
    }

    /// The state of a smooth stretch at a time, and its arclength.
    fn smooth_at(&self, t: f64) -> Option<(DVector<f64>, f64)> {
        let state = self.path.as_ref()?.state_at(t).ok()?;
        let contacts = (state.len() - self.first_impulse) / 2;
        let pushed = state.rows(self.first_impulse, contacts).sum();
        let s = self.s[0] + (t - self.t[0]) + pushed;
        Some((state.rows(0, self.first_impulse).into_owned(), s))
    }

    /// Time and state at arclength `s`.
    fn at_arclength(&self, s: f64) -> (f64, DVector<f64>) {
        if self.path.is_some() {
            let [mut low, mut high] = self.t;
            // s rises at least as fast as time
            for _ in 0..100 {
                let middle = 0.5 * (low + high);
                if middle <= low || middle >= high {
                    break;
                }
                match self.smooth_at(middle) {
                    Some((_, at)) if at < s => low = middle,
                    _ => high = middle,
                }
            }
            if let Some((state, _)) = self.smooth_at(high) {
                return (high, state);
            }
        }
        let length = self.s[1] - self.s[0];
        let part = if length > 0.0 {
            ((s - self.s[0]) / length).clamp(0.0, 1.0)
        } else {
            1.0
        };
        let between = |a: f64, b: f64| a + part * (b - a);
        let ends = self.q[0]
            .iter()
            .chain(&self.v[0])
            .zip(self.q[1].iter().chain(&self.v[1]));
        let state: Vec<f64> = ends.map(|(&a, &b)| between(a, b)).collect();
        (between(self.t[0], self.t[1]), DVector::from_vec(state))
    }
}

/// Everything a [`Timeline`](super::Timeline) computed: complete up to where it ended, whatever the
/// reason.
#[derive(Clone, Debug)]
pub struct TimelineRun {
    pub(super) stretches: Vec<Stretch>,
    pub(super) start: (f64, Vec<f64>),
    pub(super) breakdown: Option<Breakdown>,
}

impl TimelineRun {
    /// The stretches, in order: each begins where the one before ends, in time, arclength,
    /// configuration and velocity.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// The reason for which the run ended early; none when it reached the final time.
    pub fn breakdown(&self) -> Option<&Breakdown> {
        self.breakdown.as_ref()
    }

    /// This run, if it reached the final time.
    ///
    /// # Errors
    /// The reason for which it did not.
    pub fn completed(self) -> Result<Self, Breakdown> {
        match self.breakdown {
            None => Ok(self),
            Some(breakdown) => Err(breakdown),
        }
    }

    /// The time at the end (s).
    pub fn t(&self) -> f64 {
        self.stretches
            .last()
            .map_or(self.start.0, |stretch| stretch.t[1])
    }

    /// The arclength at the end; it is 0 at the start.
    pub fn s(&self) -> f64 {
        self.stretches.last().map_or(0.0, |stretch| stretch.s[1])
    }

    /// `(q, v)` at the end.
    pub fn state(&self) -> DVector<f64> {
        let state = match self.stretches.last() {
            Some(stretch) => [&stretch.q[1][..], &stretch.v[1]].concat(),
            None => self.start.1.clone(),
        };
        DVector::from_vec(state)
    }

    /// `(q, v)` at a time; at an impact, after it.
    ///
    /// # Errors
    /// [`InputError::OutsideRun`].
    pub fn at(&self, t: f64) -> Result<DVector<f64>, InputError> {
        check(t, self.start.0, self.t())?;
        let place = self.stretches.partition_point(|stretch| stretch.t[1] <= t);
        let Some(stretch) = self.stretches.get(place) else {
            return Ok(self.state());
        };
        if let Some((state, _)) = stretch.smooth_at(t) {
            return Ok(state);
        }
        let part = (t - stretch.t[0]) / (stretch.t[1] - stretch.t[0]);
        Ok(stretch
            .at_arclength(stretch.s[0] + part * (stretch.s[1] - stretch.s[0]))
            .1)
    }

    /// Time and `(q, v)` at an arclength: continuous in it.
    ///
    /// # Errors
    /// [`InputError::OutsideRun`], with the arclengths in place of times.
    pub fn at_arclength(&self, s: f64) -> Result<(f64, DVector<f64>), InputError> {
        check(s, 0.0, self.s())?;
        let place = self.stretches.partition_point(|stretch| stretch.s[1] < s);
        Ok(match self.stretches.get(place) {
            Some(stretch) => stretch.at_arclength(s),
            None => (self.t(), self.state()),
        })
    }
}

fn check(value: f64, start: f64, end: f64) -> Result<(), InputError> {
    if (start..=end).contains(&value) {
        return Ok(());
    }
    Err(InputError::OutsideRun {
        t: value,
        start,
        end,
    })
}
