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
//! slip turns, `δd = (1 − d dᵀ) δu/|u|`; a law of friction changes `μ` by `∂μ/∂q δq + ∂μ/∂|u| d·δu`. Differences are
//! taken only of what the user did not write.

use super::frame::{Frame, tangent_curvature};
use super::held::{Along, Held};
use crate::Mode;
use crate::impact::multipliers::Hold;
use crate::linalg::dot;
use crate::linalg::scratch::{Cut, with_list, with_zeros};
use crate::mechanics::configuration::rate_along;
use crate::mechanics::contact::gaps::{curvature, gap_row, work_size};
use crate::mechanics::contact_model::{Model, gather_closed};
use crate::mechanics::motion::coarse_steps::{Coarse, Terms};
use crate::mechanics::motion::kinetic::{coriolis, differs_masses, mass_units};
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use crate::ode::difference::{step_along, time_step};
use crate::ode::straight::{extrapolated, shorten_until_straight};

/// The quantities that are differenced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Efforts,
    /// `r` without the efforts, and `s`.
    Residuals,
}

/// Directions along which the motion is differentiated, one after the other, and time.
#[derive(Clone, Copy)]
pub(super) struct Directions<'a> {
    pub(super) list: &'a [f64],
    pub(super) time: Time,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
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
pub(super) struct Changed<'a> {
    pub(super) along: &'a [f64],
    acceleration: &'a [f64],
    /// The multipliers of the mode, and their change; without that by slips that turn.
    pub(super) multipliers: [&'a [f64]; 2],
    pub(super) contacts: &'a [usize],
}

/// Adds the limit of differences over a step and over twice of it.
fn add_extrapolated(to: &mut [f64], near: &[f64], far: &[f64]) {
    for (to, (near, far)) in to.iter_mut().zip(near.iter().zip(far)) {
        *to += extrapolated(*near, *far);
    }
}

impl Model<'_> {
    /// Writes the derivatives of `(q̇, q̈)` at `x` along each of `directions` in a mode with friction.
    /// False where the multipliers are not unique, a slip in space begins or ends, and where there is no motion.
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

    /// Calls `take` for each of `directions`; false as
    /// [`linearised_with_friction`](Self::linearised_with_friction).
    pub(super) fn linearise(
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
            // A slip that ends has equations of its own.
            if contacts
                .iter()
                .any(|&j| self.functions().slip(mode, j).ends)
            {
                return false;
            }
            let (m, r) = (contacts.len(), contacts.len() * (1 + k));
            let count = directions.list.len() / x.len().max(1);
            let own = count * d + 7 * d + m + 6 * r + x.len() + self.linearised_work();
            with_zeros(Frame::size(self, m) + own, |scratch| {
                let mut cut = Cut(scratch);
                let efforts = cut.take(count * d);
                let (acceleration, bent) = (cut.take(d), cut.take(d));
                let (friction, multipliers, change) = (cut.take(m), cut.take(r), cut.take(r));
                let along = Along {
                    r: cut.take(d),
                    s: cut.take(r),
                    at: (cut.take(d), cut.take(r)),
                    near: (cut.take(d), cut.take(r)),
                    far: (cut.take(d), cut.take(r)),
                    terms: Terms::new(cut.take(d)),
                    point: cut.take(nq + d),
                    work: cut.take(self.linearised_work()),
                };
                mass_units(self.system(), q, along.work, along.terms.units);
                let Ok(mut frame) = Frame::new(self, State { t, q, v }, contacts, cut.0) else {
                    return false;
                };
                friction.copy_from_slice(frame.slip);
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
                        differs_masses: with_zeros(v.len(), |row| {
                            differs_masses(self.system(), q, v, row)
                        }),
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
                self.change_friction(held, frame, dx, &mut along);
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

    /// How coarse steps are: what of the residuals is a difference itself.
    fn coarseness(&self, x: &[f64], contacts: &[usize], holds: &[Hold]) -> Coarse {
        let (system, (q, v)) = (self.system(), self.parts(x));
        with_zeros(v.len(), |row| {
            let mut coarse = Coarse::WRITTEN;
            if differs_masses(system, q, v, row) {
                coarse = Coarse::FIRST;
            }
            for (&j, hold) in contacts.iter().zip(holds) {
                let rows = system.gap_row(j, q, row);
                let bent = system.constant_row(j) || system.curvature(j, q, v).is_some();
                let sticks = *hold == Hold::Stick && !system.constant_tangents(j);
                coarse = coarse.or(match (rows, bent) {
                    (false, false) => Coarse::SECOND,
                    (true, true) if !sticks => Coarse::WRITTEN,
                    _ => Coarse::FIRST,
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
        let usual = step_along(0.0, held.x, 0.0, dx);
        let m = held.contacts.len();
        along.s.fill(0.0);
        if let Some(effort) = effort {
            along.r.copy_from_slice(effort);
        } else {
            shorten_until_straight(usual, |step| {
                self.difference(held, dx, step, Of::Efforts, along);
                self.difference(held, dx, 2.0 * step, Of::Efforts, along);
                let both = [&along.near, &along.far].map(|of| [&*of.0, &[]]);
                along.terms.off(Coarse::WRITTEN, step, both)
            });
            along.r.fill(0.0);
            add_extrapolated(along.r, along.near.0, along.far.0);
        }
        if held.is_constant {
            return;
        }
        shorten_until_straight(held.coarse.factor * usual, |step| {
            self.difference(held, dx, step, Of::Residuals, along);
            self.difference(held, dx, 2.0 * step, Of::Residuals, along);
            // Rates of normals, and along tangents accelerations or, in space, velocities: each by its own size.
            let off = [0..m, m..along.s.len()].map(|rows| {
                let both = [&along.near, &along.far].map(|of| [&*of.0, &of.1[rows.clone()]]);
                along.terms.off(held.coarse, step, both)
            });
            off[0].max(off[1])
        });
        add_extrapolated(along.r, along.near.0, along.far.0);
        add_extrapolated(along.s, along.near.1, along.far.1);
    }

    /// Fills `far` with central differences over a step, after what it was is in `near`.
    fn difference(&self, held: &Held<'_>, dx: &[f64], step: f64, of: Of, along: &mut Along<'_>) {
        std::mem::swap(&mut along.near, &mut along.far);
        along.far.0.fill(0.0);
        along.far.1.fill(0.0);
        for sign in [1.0, -1.0] {
            for ((point, x), dx) in along.point.iter_mut().zip(held.x).zip(dx) {
                *point = x + sign * step * dx;
            }
            along.at.0.fill(0.0);
            along.at.1.fill(0.0);
            if of == Of::Efforts {
                let (q, v) = self.parts(along.point);
                self.effort_in(held, State { t: held.t, q, v }, along.at.0);
                // Efforts on driven velocities are accelerations: their size says nothing of forces.
                let (efforts, driven) = (along.at.0.iter().enumerate(), self.system().driven());
                for (i, effort) in efforts.filter(|(i, _)| !driven.contains(i)) {
                    along.terms.force(i, *effort);
                }
            } else {
                self.residuals(held, along);
            }
            let weight = 0.5 * sign / step;
            for (to, r) in along.far.0.iter_mut().zip(&*along.at.0) {
                *to += weight * r;
            }
            for (to, s) in along.far.1.iter_mut().zip(&*along.at.1) {
                *to += weight * s;
            }
        }
    }

    /// Writes `c v − M a + Jᵀ λ` and `J a + κ`, or the velocity of a slip, at the point of a
    /// difference.
    fn residuals(&self, held: &Held<'_>, along: &mut Along<'_>) {
        let (system, m, k) = (self.system(), held.contacts.len(), self.row_tangents());
        let (a, d) = (held.acceleration, held.acceleration.len());
        let (r, s, terms) = (&mut *along.at.0, &mut *along.at.1, &mut along.terms);
        let (q, v) = self.parts(along.point);
        let mut cut = Cut(&mut *along.work);
        let (tangents, row, mass) = (cut.take(k * d), cut.take(d), cut.take(d * d));
        let work = cut.0;
        r.fill(0.0);
        // No force of a contact acts on driven velocities.
        let driven = system.driven();
        if !(self.bodies.fixed.identity && system.constant_mass()) {
            coriolis(system, q, v, r, work);
            system.mass(q, mass);
            for (i, r) in r.iter_mut().enumerate() {
                let inertial: f64 = (0..d).map(|k| mass[k * d + i] * a[k]).sum();
                if !driven.contains(&i) {
                    terms.force(i, r.abs().max(inertial.abs()));
                }
                *r -= inertial;
            }
            if held.differs_masses {
                terms.inertia(mass, v, &driven);
            }
        }
        let mut push = |terms: &mut Terms<'_>, row: &[f64], p: f64| {
            let each = r.iter_mut().zip(row).enumerate();
            for (i, (r, entry)) in each.filter(|(i, _)| !driven.contains(i)) {
                terms.force(i, p * entry);
                *r += p * entry;
            }
        };
        // J a + κ, with the acceleration of the base.
        let rate = |terms: &mut Terms<'_>, row: &[f64], (bent, rounding): (f64, f64)| {
            // Of a body that rolls κ is small, and its rounding is not.
            terms.rate(bent.abs().max(held.coarse.terms_of(rounding)));
            row.iter().zip(a).for_each(|(row, a)| terms.rate(row * a));
            dot(row, a) + bent
        };
        for (i, (&j, hold)) in held.contacts.iter().zip(held.holds).enumerate() {
            gap_row(system, j, q, row, work);
            push(terms, row, held.multipliers[i]);
            s[i] = rate(terms, row, curvature(system, j, q, v, work));
            system.tangent_rows(j, q, tangents);
            for (along, row) in tangents.chunks_exact(d.max(1)).enumerate() {
                let at = m + i * k + along;
                push(terms, row, held.multipliers[at]);
                s[at] = if *hold == Hold::Stick {
                    let bent = tangent_curvature(system, j, [along, k], q, v, work);
                    rate(terms, row, bent)
                } else {
                    row.iter().zip(v).for_each(|(row, v)| terms.rate(row * v));
                    dot(row, v)
                };
            }
        }
    }
}
