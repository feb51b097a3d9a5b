//! Pushes that a clock switches on and off again between the places at which a step evaluates forces: steps
//! grow where forces do not change, and go past them.

use crate::event_driven::Model;
use crate::hybrid::options::Settings;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::MechanicalSystem;
use crate::{Flow, Segment};

/// What lasts this part of a run is to be seen where the model states no time scale.
const SHORTEST: f64 = 0.01;

/// An effort changes with time where it is another one by more than this part of itself.
const CHANGES: f64 = 1e-9;

/// What a step misses is no error of its own if its velocities would change by so many times what the
/// tolerances allow.
const MISSED: f64 = 1e4;

/// Part of a step over which the acceleration of its interpolant is taken.
const WAY: f64 = 0.01;

/// The time between the places in long steps at which efforts are looked at.
pub(super) struct Clock {
    apart: f64,
}

impl Clock {
    /// For what a run is asked for (s); steps of a model that states a time scale follow that.
    pub(super) fn new(model: &Model<'_>, span: f64) -> Self {
        Self {
            apart: match model.system().time_scale() {
                Some(_) => f64::INFINITY,
                // Zero would be parts without end.
                None => (SHORTEST * span).max(f64::MIN_POSITIVE),
            },
        }
    }

    /// The first time in a long segment at which accelerations are not those of its interpolant, where efforts
    /// change with time: of all segments of a run at most two efforts and accelerations for each
    /// hundredth of it. `point` is overwritten.
    pub(super) fn unseen_push(
        &self,
        model: &Model<'_>,
        settings: &Settings,
        segment: &Segment<'_>,
        point: &mut [f64],
    ) -> Option<f64> {
        let (q, v) = model.parts(segment.state);
        let (system, length) = (model.system(), segment.t - segment.start);
        if segment.projected || length <= self.apart {
            return None;
        }
        let parts = (length / self.apart).ceil();
        let at = |i: u32| segment.start + length * (f64::from(i) + 0.5) / parts;
        let mut places = (0u32..).map(at).take_while(|t| *t < segment.t);
        with_zeros(2 * v.len(), |scratch| {
            let (first, effort) = scratch.split_at_mut(v.len());
            system.effort(segment.start, q, v, first);
            let mut changes = |t: f64| {
                system.effort(t, q, v, effort);
                let mut pairs = first.iter().zip(&*effort);
                pairs.any(|(a, b)| (a - b).abs() > CHANGES * a.abs().max(b.abs()))
            };
            if !(places.clone().any(&mut changes) || changes(segment.t)) {
                return None;
            }
            places.find(|&t| is_missed(model, settings, segment, t, point))
        })
    }
}

/// True where accelerations are not those of the interpolant.
#[cold]
fn is_missed(
    model: &Model<'_>,
    settings: &Settings,
    segment: &Segment<'_>,
    t: f64,
    point: &mut [f64],
) -> bool {
    let length = segment.t - segment.start;
    let (dim, first) = (point.len(), model.parts(segment.state).0.len());
    with_zeros(2 * dim, |scratch| {
        let (field, behind) = scratch.split_at_mut(dim);
        segment.interpolant.at(t, point);
        model.flow(t, point, segment.mode, field);
        let way = WAY * length;
        segment.interpolant.at(t - way, behind);
        segment.interpolant.at(t + way, point);
        (first..dim).any(|i| {
            let taken = (point[i] - behind[i]) / (2.0 * way);
            let allowed = settings.atol.get(i) + settings.rtol.get(i) * point[i].abs();
            (field[i] - taken).abs() * length > MISSED * allowed
        })
    })
}
