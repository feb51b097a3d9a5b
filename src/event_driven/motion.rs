//! The motion between events (Pace & Burden, eq. 1 and 2, corrected): accelerations, with the
//! multipliers that hold the closed contacts.

use crate::event_driven::onto_contacts;
use crate::event_driven::{Breakdown, Model};
use crate::linalg::scratch::{Cut, with_list, with_zeros};
use crate::mechanics::contact_model::gather_closed;
use crate::mechanics::friction::forces::Dependent;
use crate::mechanics::motion::ClosedContacts;
use crate::mechanics::motion::acceleration::Purpose;
use crate::mechanics::motion::coarse_steps::Coarse;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::motion::kinetic::mass_units;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints, configuration};
use crate::ode::difference::step_along;
use crate::ode::straight::{extrapolated, off_of_largest, shorten_until_straight};
use crate::{EventFunction, Flow, InputError, Mode};

/// Forces of the closed contacts.
#[derive(Clone, Debug, PartialEq)]
pub struct Multipliers {
    values: Vec<f64>,
    /// Along tangents, contact by contact.
    along: Vec<f64>,
    unique: bool,
}

impl Multipliers {
    /// `λ`, one entry a contact, zero for those that are open; positive where they push (N for a
    /// gap in metres).
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Friction on contact `j` along each of its tangents (N); zeros for one that is open or has none,
    /// empty where no contact has friction.
    pub fn friction(&self, j: usize) -> &[f64] {
        let k = self.along.len() / self.values.len().max(1);
        self.along.get(k * j..k * (j + 1)).unwrap_or(&[])
    }

    /// The friction that contact `j` uses, `|λ_t|/λ_n`, to be compared with its coefficient; none where
    /// it does not push.
    pub fn used_friction(&self, j: usize) -> Option<f64> {
        let push = self.values.get(j).filter(|push| **push > 0.0)?;
        let along = self.friction(j).iter();
        Some(along.fold(0.0f64, |size, part| size.hypot(*part)) / push)
    }

    /// False when contacts depend on each other: then these are the multipliers of least norm, one
    /// choice of many.
    pub fn are_unique(&self) -> bool {
        self.unique
    }
}

/// A gap that was released closes where its acceleration is less than zero by this part of its
/// terms.
const CLOSES: f64 = 1e-6;

/// Rebounds lower than this part of the gap tolerance are not resolved; the noise of gaps is a
/// tenth of it.
const LOW: f64 = 1e-2;
/// Flights of so many roundings of a time are not resolved: where they end is a matter of their last digits.
pub(super) const SHORT: f64 = 64.0;

impl Model<'_> {
    /// See [`multipliers`](crate::ContactModel::multipliers).
    pub(crate) fn contact_forces(&self, t: f64, state: &[f64], mode: &Mode) -> Multipliers {
        let n = self.system().contacts();
        if state.len() != self.dim() || mode.sizes() != (self.count(), self.flags()) {
            return Multipliers {
                values: vec![f64::NAN; n],
                along: Vec::new(),
                unique: false,
            };
        }
        let (q, v) = self.parts(state);
        let mut values = vec![0.0; n];
        let mut acceleration = vec![0.0; v.len()];
        let state = State { t, q, v };
        let mut along = vec![0.0; n * self.functions().tangents];
        if self.has_friction_in(mode) {
            return self.with_forces(Dependent::Forces, |forces| {
                self.motion_with_friction(state, mode, None, Some(&mut *forces));
                values.copy_from_slice(forces.push);
                along.copy_from_slice(forces.along);
                let unique = forces.margin.is_none();
                Multipliers {
                    values,
                    along,
                    unique,
                }
            });
        }
        let unique = self.motion(
            state,
            mode,
            &mut acceleration,
            Some(&mut values),
            Purpose::Motion,
        );
        Multipliers {
            values,
            along,
            unique,
        }
    }

    /// Accelerations and multipliers at a state in `mode`; NaN where there are none.
    /// `multipliers` has one entry a contact, zero for those that are open.
    /// True when they are unique.
    #[inline]
    pub(crate) fn motion(
        &self,
        state: State<'_>,
        mode: &Mode,
        acceleration: &mut [f64],
        multipliers: Option<&mut [f64]>,
        purpose: Purpose,
    ) -> bool {
        if self.has_friction_in(mode) {
            return self.motion_with_forces(state, mode, acceleration, multipliers, purpose);
        }
        let n = self.system().contacts();
        with_list(n, |closed| {
            let closed = self.closed_contacts(gather_closed(mode, closed), purpose);
            let (fixed, system) = (&self.bodies.fixed, &self.bodies.system.system);
            system.motion(fixed, state, closed, acceleration, multipliers)
        })
    }

    /// The motion of [`motion`](Self::motion) where closed contacts have friction.
    #[cold]
    fn motion_with_forces(
        &self,
        state: State<'_>,
        mode: &Mode,
        acceleration: &mut [f64],
        multipliers: Option<&mut [f64]>,
        purpose: Purpose,
    ) -> bool {
        let Some(multipliers) = multipliers else {
            self.motion_with_friction(state, mode, Some(acceleration), None);
            return true;
        };
        self.with_forces(Dependent::Forces, |forces| {
            self.motion_with_friction(state, mode, Some(acceleration), Some(&mut *forces));
            {
                let raises = matches!(purpose, Purpose::Events { .. });
                let each = forces.push.iter().zip(&*forces.raised);
                for (to, (push, raised)) in multipliers.iter_mut().zip(each) {
                    *to = if raises { push + raised } else { *push };
                }
            }
            forces.margin.is_none()
        })
    }

    /// True when a gap that opens at `rate` at the time `t` under the acceleration `bend` reaches no height that
    /// gaps resolve, or closes again within a few of the times that are told apart.
    pub(crate) fn is_low(&self, t: f64, rate: f64, bend: f64) -> bool {
        rate * rate <= -2.0 * bend * LOW * self.gap_tolerance
            || 2.0 * rate <= -bend * SHORT * f64::EPSILON * t.abs()
    }

    /// True when the gap of one of `contacts` accelerates below zero in the motion of `mode`.
    pub(crate) fn close_at_once(
        &self,
        t: f64,
        state: &[f64],
        contacts: &[usize],
        mode: &Mode,
        at: &mut ContactsAt,
    ) -> Result<bool, Breakdown> {
        let (q, v) = self.parts(state);
        let state = State { t, q, v };
        with_zeros(contacts.len() + v.len(), |numbers| {
            let (bends, acceleration) = numbers.split_at_mut(contacts.len());
            self.motion(state, mode, acceleration, None, Purpose::Motion);
            self.in_frame(at, q, contacts, |frame| {
                frame.gap_acceleration(self.system(), q, v, acceleration, bends);
                let least = frame.least_acceleration(CLOSES, self.rate_tolerance);
                let unit = |i: usize| frame.gram[i * contacts.len() + i].sqrt();
                (0..contacts.len()).any(|i| bends[i] < -least * unit(i))
            })
        })
    }

    /// Writes the derivatives of `(q̇, q̈)` along each direction. False when there is no
    /// acceleration or the multipliers are not unique.
    pub(crate) fn motion_along_each(
        &self,
        t: f64,
        x: &[f64],
        mode: &Mode,
        directions: &[f64],
        out: &mut [f64],
    ) -> bool {
        if self.has_friction_in(mode) {
            return self.motion_along_with_friction(t, x, mode, directions, out);
        }
        with_list(self.system().contacts(), |closed| {
            let closed = self.closed_contacts(gather_closed(mode, closed), Purpose::Motion);
            let (fixed, system) = (&self.bodies.fixed, &self.bodies.system.system);
            system.motion_along(fixed, t, x, closed, directions, out)
        })
    }

    /// The derivatives of [`motion_along_each`](Self::motion_along_each) where closed contacts have
    /// friction: where its equations have no single solution, central differences of the motion in its mode.
    #[cold]
    fn motion_along_with_friction(
        &self,
        t: f64,
        x: &[f64],
        mode: &Mode,
        directions: &[f64],
        out: &mut [f64],
    ) -> bool {
        if self.linearised_with_friction(t, x, mode, directions, out) {
            return true;
        }
        let (system, dim) = (self.system(), x.len().max(1));
        let mut closed = self.layout().closed(mode);
        // Curvatures of rows that turn are differences themselves.
        let is_constant = closed.all(|j| system.constant_row(j) && system.constant_tangents(j));
        let coarse = if is_constant {
            Coarse::WRITTEN
        } else {
            Coarse::FIRST
        };
        let (q, v) = self.parts(x);
        with_zeros(4 * dim + v.len() + v.len() * v.len(), |space| {
            let mut cut = Cut(space);
            let (point, rate) = (cut.take(dim), cut.take(dim));
            let (near, far) = (cut.take(dim), cut.take(dim));
            let units = cut.take(v.len());
            mass_units(system, q, cut.0, units);
            // Accelerations times these units are of one size with efforts by them, but for driven velocities.
            let (efforts, driven) = (&mut rate[q.len()..], system.driven());
            system.effort(t, q, v, efforts);
            let efforts = efforts.iter().zip(&*units).enumerate();
            let efforts = efforts.filter(|(i, _)| !driven.contains(i));
            let terms = efforts.fold(0.0f64, |most, (_, (f, unit))| most.max((f / unit).abs()));
            let each = directions.chunks_exact(dim).zip(out.chunks_exact_mut(dim));
            for (dx, out) in each {
                let mut over = |step: f64, out: &mut [f64]| {
                    out.fill(0.0);
                    for step in [step, -step] {
                        for ((point, x), dx) in point.iter_mut().zip(x).zip(dx) {
                            *point = x + step * dx;
                        }
                        self.flow(t, point, mode, rate);
                        for (out, rate) in out.iter_mut().zip(&*rate) {
                            *out += rate / (2.0 * step);
                        }
                    }
                };
                shorten_until_straight(coarse.factor * step_along(0.0, x, 0.0, dx), |step| {
                    over(step, near);
                    over(2.0 * step, far);
                    let [near, far] = [&*near, &*far].map(|rate| &rate[q.len()..]);
                    let rounding = coarse.rounding(terms, step);
                    off_of_largest(near, far, rounding, |i| units[i].recip())
                });
                for (out, (near, far)) in out.iter_mut().zip(near.iter().zip(&*far)) {
                    *out = extrapolated(*near, *far);
                }
            }
        });
        out.iter().all(|out| out.is_finite())
    }

    fn closed_contacts<'a>(&'a self, list: &'a [usize], purpose: Purpose) -> ClosedContacts<'a> {
        ClosedContacts {
            list,
            redundant: self.redundant,
            purpose,
            last: &self.last_contacts,
        }
    }
}

impl Flow for Model<'_> {
    fn dim(&self) -> usize {
        self.bodies.fixed.nq + self.bodies.fixed.d
    }

    fn validate(&self) -> Result<(), InputError> {
        self.check_options()
    }

    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let ((q, v), (dq, dv)) = (self.parts(x), self.parts_mut(dx));
        if self.bodies.fixed.identity {
            configuration::copy(v, dq);
        } else {
            configuration::rate(self.system(), q, v, dq);
        }
        self.motion(State { t, q, v }, mode, dv, None, Purpose::Motion);
    }

    fn jacobian_times(&self, t: f64, x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        self.motion_along_each(t, x, mode, v, out)
    }

    fn jacobian_times_each(
        &self,
        t: f64,
        x: &[f64],
        mode: &Mode,
        v: &[f64],
        out: &mut [f64],
    ) -> bool {
        self.motion_along_each(t, x, mode, v, out)
    }

    fn flow_time_scale(&self) -> Option<f64> {
        self.system().time_scale()
    }

    fn until_switch(&self, t: f64, x: &[f64], _mode: &Mode, step: f64, places: usize) -> f64 {
        let ((q, v), system) = (self.parts(x), self.system());
        let at = |place: usize| step * place as f64 / places as f64;
        with_zeros(4 * v.len(), |efforts| {
            let (low, rest) = efforts.split_at_mut(v.len());
            let (high, rest) = rest.split_at_mut(v.len());
            let (before, effort) = rest.split_at_mut(v.len());
            system.effort(t, q, v, before);
            low.copy_from_slice(before);
            high.copy_from_slice(before);
            for place in 1..=places {
                system.effort(t + at(place), q, v, effort);
                for (i, effort) in effort.iter().enumerate() {
                    (low[i], high[i]) = (low[i].min(*effort), high[i].max(*effort));
                }
            }
            // The range of each, in the place of its largest value; infinite where it does not change.
            for (high, low) in high.iter_mut().zip(&*low) {
                let range = *high - low;
                let is_rounding = range <= UNCHANGED * low.abs().max(high.abs());
                *high = if is_rounding { f64::INFINITY } else { range };
            }
            let ranges = &*high;
            // Mostly none changes with time, and that was all.
            if ranges.iter().all(|range| range.is_infinite()) {
                return step;
            }
            let switches = |place: &usize| {
                system.effort(t + at(*place), q, v, effort);
                let changes = before.iter().zip(&*effort).map(|(a, b)| (b - a).abs());
                let is_one = (changes.zip(ranges)).any(|(change, range)| change > SWITCHED * range);
                before.copy_from_slice(effort);
                is_one
            };
            (1..=places).find(switches).map_or(step, at)
        })
    }

    fn correct(&self, _t: f64, x: &mut [f64], mode: &Mode) -> bool {
        onto_contacts::correct(self, x, mode)
    }
}

/// An effort that changes by this part of its range from one place to the next is switched; one that changes by
/// this part of itself is rounded.
const SWITCHED: f64 = 0.5;
const UNCHANGED: f64 = 1e-9;
