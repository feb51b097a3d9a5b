//! The derivative of the motion along a direction in a mode with friction: the linearised equations
//! of motion.
//!
//! With the accelerations `a` and multipliers `λ = W x` of the mode held fixed (`W` has `−μ d` for a
//! contact that slips in direction `d`), and
//!
//! ```text
//!     r(q, v) = f + c v − M a + Jᵀ λ        s(q, v) = J a + κ
//! ```
//!
//! both zero there, the derivative of the acceleration is `M⁻¹ (δr + Jᵀ (δW x + W δx))`, and `δx` the
//! multipliers of the mode for the rates `J M⁻¹ (δr + Jᵀ δW x) + δs` without contact forces. In space a
//! slip turns, `δd = (1 − d dᵀ) δu/|u|`. Differences are taken only of what the user did not write.

use super::contact_function::{ContactFunction, Slip};
use super::frame::{Frame, tangent_curvature};
use super::slow_slip::ONSET;
use crate::Mode;
use crate::impact::multipliers::Hold;
use crate::linalg::dot;
use crate::linalg::scratch::{Cut, with_list, with_zeros};
use crate::mechanics::configuration::rate_along;
use crate::mechanics::contact::gaps::{curvature, gap_row, work_size};
use crate::mechanics::contact_model::{Model, gather_closed};
use crate::mechanics::motion::kinetic::coriolis;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use crate::ode::difference::{step_along, time_step};

/// Points of a difference of fourth order, in steps, and their weights.
const POINTS: [(f64, f64); 4] = [
    (1.0, 8.0 / 12.0),
    (-1.0, -8.0 / 12.0),
    (2.0, -1.0 / 12.0),
    (-2.0, 1.0 / 12.0),
];

/// The mode at a state beside which differences are taken, with what is held.
struct Held<'a> {
    t: f64,
    /// `(q, v)`.
    x: &'a [f64],
    contacts: &'a [usize],
    holds: &'a [Hold],
    /// `a`.
    acceleration: &'a [f64],
    /// `λ`, one a row.
    multipliers: &'a [f64],
    /// Masses and rows are constant: only efforts depend on the state.
    is_constant: bool,
    /// Factor of the length of steps.
    coarse: f64,
}

/// Derivatives along a direction.
struct Along<'a> {
    /// Of `r`.
    r: &'a mut [f64],
    /// Of `s`; of the velocities of slips in space in the rows of their tangents.
    s: &'a mut [f64],
    /// Both at one point of a difference.
    at: (&'a mut [f64], &'a mut [f64]),
    point: &'a mut [f64],
    work: &'a mut [f64],
}

/// Directions along which the motion is differentiated, one after the other, and time.
#[derive(Clone, Copy)]
struct Directions<'a> {
    list: &'a [f64],
    time: Time,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    Held,
    /// It is one more direction, the last.
    Passes,
}

/// Numbers of the changes along one direction after the other.
struct Changing<'a> {
    along: Along<'a>,
    /// Coefficients of friction of the closed contacts.
    friction: &'a [f64],
    /// Derivatives of the acceleration and of the multipliers.
    bent: &'a mut [f64],
    change: &'a mut [f64],
    /// The efforts along the directions, of all.
    efforts: &'a mut [f64],
}

/// How accelerations and multipliers change along one direction.
struct Changed<'a> {
    along: &'a [f64],
    acceleration: &'a [f64],
    /// The multipliers of the mode, and their change; without that by slips that turn.
    multipliers: [&'a [f64]; 2],
    contacts: &'a [usize],
}

impl Model<'_> {
    /// Writes the derivatives of `(q̇, q̈)` at `x` along each of `directions` in a mode with friction.
    /// False where the multipliers are not unique, a slip in space begins or ends, or a contact has a law of
    /// friction, and where there is no motion.
    pub(crate) fn linearised_with_friction(
        &self,
        t: f64,
        x: &[f64],
        mode: &Mode,
        directions: &[f64],
        out: &mut [f64],
    ) -> bool {
        let (q, v) = self.parts(x);
        let nq = q.len();
        let mut outs = out.chunks_exact_mut(x.len().max(1));
        let done = with_zeros(3 * nq, |work| {
            let along = Directions {
                list: directions,
                time: Time::Held,
            };
            self.linearise(t, x, mode, along, &mut |changed| {
                let Some(out) = outs.next() else { return };
                let (rate, bent) = out.split_at_mut(nq);
                let (dq, dv) = changed.along.split_at(nq);
                // δq̇ = N δv + (∂N δq) v.
                rate_along(self.system(), q, v, dq, dv, rate, work);
                bent.copy_from_slice(changed.acceleration);
            })
        });
        done && out.iter().all(|out| out.is_finite())
    }

    /// True where a slip in space is too slow to have a direction that is known: where it stops.
    pub(crate) fn stops_in_space(&self, x: &[f64], mode: &Mode) -> bool {
        let (q, v) = self.parts(x);
        self.functions().tangents > 1
            && self.layout().closed(mode).any(|j| {
                let slip = self.functions().slip(mode, j);
                let [x, y] = self.slip_velocity(j, q, v);
                let least = ONSET.max(self.least_slip(j, q, v));
                slip != Slip::NONE && !slip.begins && x.hypot(y) < least
            })
    }

    /// Writes the gradient of the force or the margin of a closed contact, and returns its derivative
    /// by time; none for other functions, and where [`linearised_with_friction`] says nothing.
    ///
    /// [`linearised_with_friction`]: Self::linearised_with_friction
    pub(crate) fn gradient_of_force(
        &self,
        function: ContactFunction,
        State { t, q, v }: State<'_>,
        mode: &Mode,
        out: &mut [f64],
    ) -> Option<f64> {
        let (ContactFunction::Force(j) | ContactFunction::Cone { contact: j, .. }) = function
        else {
            return None;
        };
        let (dim, k) = (out.len(), self.row_tangents());
        let change = |changed: &Changed<'_>| {
            let m = changed.contacts.len();
            let i = changed.contacts.iter().position(|&closed| closed == j)?;
            let [held, by] = changed.multipliers;
            let along = m + i * k..m + (i + 1) * k;
            let (held, along) = (&held[along.clone()], &by[along]);
            let size = held.iter().fold(0.0f64, |size, p| size.hypot(*p));
            Some(match function {
                ContactFunction::Cone { slip: 0, .. } => {
                    self.friction(j) * by[i] - dot(held, along) / size
                }
                ContactFunction::Cone { slip, .. } => {
                    self.friction(j) * by[i] + f64::from(slip) * along.first()?
                }
                _ => by[i],
            })
        };
        with_zeros(dim * dim + dim, |space| {
            let (directions, x) = space.split_at_mut(dim * dim);
            directions
                .iter_mut()
                .step_by(dim + 1)
                .for_each(|entry| *entry = 1.0);
            x[..q.len()].copy_from_slice(q);
            x[q.len()..].copy_from_slice(v);
            let mut entries = out.iter_mut();
            let mut moving = f64::NAN;
            let mut take = |changed: Changed<'_>| {
                let by = change(&changed).unwrap_or(f64::NAN);
                *entries.next().unwrap_or(&mut moving) = by;
            };
            let along = Directions {
                list: directions,
                time: Time::Passes,
            };
            let done = self.linearise(t, x, mode, along, &mut take);
            (done && moving.is_finite() && out.iter().all(|entry| entry.is_finite()))
                .then_some(moving)
        })
    }

    /// Calls `take` for each of `directions`; false as
    /// [`linearised_with_friction`](Self::linearised_with_friction).
    fn linearise(
        &self,
        t: f64,
        x: &[f64],
        mode: &Mode,
        directions: Directions<'_>,
        take: &mut dyn FnMut(Changed<'_>),
    ) -> bool {
        let (q, v) = self.parts(x);
        let (nq, d, k) = (q.len(), v.len(), self.row_tangents());
        with_list(self.layout().contacts, |space| {
            let contacts = gather_closed(mode, space);
            // A law of friction changes with slip and place; a slip that ends has equations of its own.
            let is_special = |&j: &usize| {
                !self.has_constant_friction(j, q) || self.functions().slip(mode, j).ends
            };
            if contacts.iter().any(is_special) {
                return false;
            }
            let (m, r) = (contacts.len(), contacts.len() * (1 + k));
            let count = directions.list.len() / x.len().max(1);
            let own = count * d + 4 * d + m + 4 * r + x.len() + self.linearised_work();
            with_zeros(Frame::size(self, m) + own, |scratch| {
                let mut cut = Cut(scratch);
                let efforts = cut.take(count * d);
                let (acceleration, bent) = (cut.take(d), cut.take(d));
                let (friction, multipliers, change) = (cut.take(m), cut.take(r), cut.take(r));
                let along = Along {
                    r: cut.take(d),
                    s: cut.take(r),
                    at: (cut.take(d), cut.take(r)),
                    point: cut.take(nq + d),
                    work: cut.take(self.linearised_work()),
                };
                let Ok(mut frame) = Frame::new(self, State { t, q, v }, contacts, cut.0) else {
                    return false;
                };
                for (to, &j) in friction.iter_mut().zip(contacts) {
                    *to = self.friction(j);
                }
                with_list(m, |holds| {
                    self.holds(&frame, mode, v, holds);
                    let begins = |hold: &Hold| matches!(hold, Hold::Onset { .. });
                    let rates = frame.rates(friction);
                    if holds.iter().any(begins) || !rates.solve_mode(holds, multipliers) {
                        return false;
                    }
                    acceleration.copy_from_slice(frame.free);
                    for (i, &p) in multipliers.iter().enumerate() {
                        frame.push(i, p, acceleration);
                    }
                    let held = Held {
                        t,
                        x,
                        contacts,
                        holds,
                        acceleration,
                        multipliers,
                        is_constant: self.has_constant_rows(contacts),
                        coarse: self.coarseness(x, contacts, holds),
                    };
                    let changing = Changing {
                        along,
                        friction,
                        bent,
                        change,
                        efforts,
                    };
                    self.changes(&held, &mut frame, directions, changing, take);
                    true
                })
            })
        })
    }

    /// Calls `take` with the changes of the mode that is held along each of `directions`: the multipliers
    /// of its contacts for the rates `J M⁻¹ (δr + Jᵀ δW x) + δs`, and the acceleration with them.
    fn changes(
        &self,
        held: &Held<'_>,
        frame: &mut Frame<'_>,
        directions: Directions<'_>,
        changing: Changing<'_>,
        take: &mut dyn FnMut(Changed<'_>),
    ) {
        let Changing {
            mut along,
            friction,
            bent,
            change,
            efforts,
        } = changing;
        let (n, (q, v)) = (held.x.len(), self.parts(held.x));
        let at = State { t: held.t, q, v };
        // What contacts switch is no part of what the user differentiated.
        let written = !self.senses(at) && self.system().effort_along(at, directions.list, efforts);
        let mut efforts = efforts.chunks_exact(v.len().max(1));
        let list = directions.list.chunks_exact(n.max(1)).map(Some);
        let time = (directions.time == Time::Passes).then_some(None);
        for dx in list.chain(time) {
            if let Some(dx) = dx {
                let effort = efforts.next().filter(|_| written);
                self.residuals_along(held, dx, effort, &mut along);
                self.turn_slips(held, frame, &dx[q.len()..], friction, &mut along);
            } else {
                self.efforts_by_time(held, &mut along);
            }
            frame.act(|force| force.copy_from_slice(along.r));
            for (bend, s) in frame.bends.iter_mut().zip(&*along.s) {
                *bend += s;
            }
            frame.rates(friction).solve(held.holds, change);
            bent.copy_from_slice(frame.free);
            for (i, &p) in change.iter().enumerate() {
                frame.push(i, p, bent);
            }
            take(Changed {
                along: dx.unwrap_or_default(),
                acceleration: bent,
                multipliers: [held.multipliers, change],
                contacts: held.contacts,
            });
        }
    }

    /// Fills `δr` with the derivative of the effort by time.
    fn efforts_by_time(&self, held: &Held<'_>, along: &mut Along<'_>) {
        let (q, v) = self.parts(held.x);
        let step = time_step(held.t);
        along.s.fill(0.0);
        along.r.fill(0.0);
        for (t, part) in [(held.t + step, 0.5), (held.t - step, -0.5)] {
            along.at.0.fill(0.0);
            self.effort_in(held, State { t, q, v }, along.at.0);
            for (r, f) in along.r.iter_mut().zip(&*along.at.0) {
                *r += part * f / step;
            }
        }
    }

    /// Adds the effort in a mode that is held.
    fn effort_in(&self, held: &Held<'_>, at: State<'_>, effort: &mut [f64]) {
        self.system().effort(at.t, at.q, at.v, effort);
        self.system().contact_effort(at, held.contacts, effort);
    }

    fn linearised_work(&self) -> usize {
        let (d, nq) = (self.bodies.fixed.d, self.bodies.fixed.nq);
        let tangents = self.row_tangents() * d;
        let work = (d * d + d).max(work_size(nq, d)).max(2 * nq + tangents);
        tangents + d + d * d + work.max(3 * nq)
    }

    /// True where masses and the rows of contacts are constant.
    fn has_constant_rows(&self, contacts: &[usize]) -> bool {
        let system = self.system();
        let are_constant = |&j: &usize| system.constant_row(j) && system.constant_tangents(j);
        let has_constant_mass = self.bodies.fixed.identity && system.constant_mass();
        has_constant_mass && contacts.iter().all(are_constant)
    }

    /// Factor of the length of steps. What is a difference itself wants longer ones: one that loses five
    /// digits the fifth root of these, as they are of fourth order, and a second difference that of
    /// eight.
    fn coarseness(&self, x: &[f64], contacts: &[usize], holds: &[Hold]) -> f64 {
        let (system, (q, v)) = (self.system(), self.parts(x));
        with_zeros(v.len(), |row| {
            let mut coarse: f64 = 1.0;
            if !system.constant_mass() && !system.coriolis(q, v, row) {
                coarse = 300.0;
            }
            for (&j, hold) in contacts.iter().zip(holds) {
                let rows = system.gap_row(j, q, row);
                let bent = system.constant_row(j) || system.curvature(j, q, v).is_some();
                let sticks = *hold == Hold::Stick && !system.constant_tangents(j);
                coarse = coarse.max(match (rows, bent) {
                    (false, false) => 3000.0,
                    (true, true) if !sticks => 30.0,
                    _ => 300.0,
                });
            }
            coarse
        })
    }

    /// Fills `δr` and `δs`: of the effort the given one, if the user wrote it, and differences of the
    /// rest.
    fn residuals_along(
        &self,
        held: &Held<'_>,
        dx: &[f64],
        effort: Option<&[f64]>,
        along: &mut Along<'_>,
    ) {
        let (x, step) = (held.x, step_along(0.0, held.x, 0.0, dx));
        along.s.fill(0.0);
        if let Some(effort) = effort {
            along.r.copy_from_slice(effort);
        } else {
            along.r.fill(0.0);
            for (sign, part) in [(1.0, 0.5), (-1.0, -0.5)] {
                for ((point, x), dx) in along.point.iter_mut().zip(x).zip(dx) {
                    *point = x + sign * step * dx;
                }
                let (q, v) = self.parts(along.point);
                along.at.0.fill(0.0);
                let at = State { t: held.t, q, v };
                self.effort_in(held, at, along.at.0);
                for (r, f) in along.r.iter_mut().zip(&*along.at.0) {
                    *r += part * f / step;
                }
            }
        }
        if held.is_constant {
            return;
        }
        let step = held.coarse * step;
        for (steps, weight) in POINTS {
            for ((point, x), dx) in along.point.iter_mut().zip(x).zip(dx) {
                *point = x + steps * step * dx;
            }
            self.residuals(held, along);
            let weight = weight / step;
            for (to, r) in along.r.iter_mut().zip(&*along.at.0) {
                *to += weight * r;
            }
            for (to, s) in along.s.iter_mut().zip(&*along.at.1) {
                *to += weight * s;
            }
        }
    }

    /// Writes `c v − M a + Jᵀ λ` and `J a + κ`, or the velocity of a slip, at the point of a
    /// difference.
    fn residuals(&self, held: &Held<'_>, along: &mut Along<'_>) {
        let (system, m, k) = (self.system(), held.contacts.len(), self.row_tangents());
        let (a, d) = (held.acceleration, held.acceleration.len());
        let (r, s) = (&mut *along.at.0, &mut *along.at.1);
        let (q, v) = self.parts(along.point);
        let mut cut = Cut(&mut *along.work);
        let (tangents, row, mass) = (cut.take(k * d), cut.take(d), cut.take(d * d));
        let work = cut.0;
        r.fill(0.0);
        if !(self.bodies.fixed.identity && system.constant_mass()) {
            coriolis(system, q, v, r, work);
            system.mass(q, mass);
            for (i, r) in r.iter_mut().enumerate() {
                *r -= (0..d).map(|k| mass[k * d + i] * a[k]).sum::<f64>();
            }
        }
        // No force of a contact acts on driven velocities.
        let driven = system.driven();
        let mut push = |row: &[f64], p: f64| {
            let each = r.iter_mut().zip(row).enumerate();
            for (_, (r, entry)) in each.filter(|(i, _)| !driven.contains(i)) {
                *r += p * entry;
            }
        };
        for (i, (&j, hold)) in held.contacts.iter().zip(held.holds).enumerate() {
            gap_row(system, j, q, row, work);
            push(row, held.multipliers[i]);
            s[i] = dot(row, a) + curvature(system, j, q, v, work).0;
            system.tangent_rows(j, q, tangents);
            for (along, row) in tangents.chunks_exact(d.max(1)).enumerate() {
                let at = m + i * k + along;
                push(row, held.multipliers[at]);
                s[at] = match hold {
                    Hold::Stick => {
                        dot(row, a) + tangent_curvature(system, j, [along, k], q, v, work)
                    }
                    _ => dot(row, v),
                };
            }
        }
    }

    /// Adds to `δr` the change of the friction of slips in space with their directions.
    fn turn_slips(
        &self,
        held: &Held<'_>,
        frame: &Frame<'_>,
        dv: &[f64],
        friction: &[f64],
        along: &mut Along<'_>,
    ) {
        let m = held.contacts.len();
        if frame.tangents() < 2 {
            return;
        }
        let ((_, v), driven) = (self.parts(held.x), self.system().driven());
        for (i, hold) in held.holds.iter().enumerate() {
            let Hold::Slip(direction) = *hold else {
                continue;
            };
            let rows = [m + 2 * i, m + 2 * i + 1];
            let [x, y] = frame.slip_velocity(i, v);
            let speed = x.hypot(y);
            let change = if held.is_constant {
                rows.map(|row| dot(frame.row(row), dv))
            } else {
                rows.map(|row| along.s[row])
            };
            // Behind a stop the direction is that before it.
            let side = if dot(&direction, &[x, y]) < 0.0 {
                -1.0
            } else {
                1.0
            };
            let ahead = dot(&direction, &change);
            // Slower slips have no direction that is known: without a bound the error of a stop, which
            // passes zero a little beside it, would turn all displacements.
            let by = -friction[i] * held.multipliers[i] * side / speed.max(ONSET);
            for ((row, change), direction) in rows.iter().zip(change).zip(direction) {
                let p = by * (change - ahead * direction);
                let each = along.r.iter_mut().zip(frame.row(*row)).enumerate();
                for (_, (r, entry)) in each.filter(|(i, _)| !driven.contains(i)) {
                    *r += p * entry;
                }
            }
        }
    }
}
