//! Parameters as constant state variables, so that derivatives with respect to them are part of the
//! derivative of a run.

use std::convert::Infallible;

use super::by_parameter::by_parameter;
use super::repeat::CrossingReset;
use crate::hybrid::evaluate::Point;
use crate::model::forward::{event_methods, flow_methods};
use crate::ode::difference::Line;
use crate::ode::resolved_difference::{resolved_along, resolved_gradient};
use crate::{Crossed, Crossing, Displacement, EventFunction, Flow, Mode, Stop};

/// A model with its parameters appended to the state: `(x, p)' = (f(t, x; p), 0)`.
///
/// They have tolerances as all states have: one far below the absolute tolerance counts as known to no more than
/// that, and doubts follow. Give it a smaller one, with a list of tolerances.
///
/// `build` makes the model for given parameters; it is called in every evaluation and should be
/// cheap. Derivatives with respect to `x` are those of the model; with respect to the parameters
/// they are differences, each with a step that follows the size of the parameter; longer ones are tried where that is
/// lost in rounding, up to half the size. Of a parameter that is zero they are up to one, and as short as it takes for
/// the model to be straight along them. A parameter that changes nothing over its
/// step counts as one on which nothing depends; below some 1e-5 over half its size too.
/// Beside terms of order one a slope is known to some 1e-16 over the parameter. Derivatives that
/// the model does not write are differences too. Differences allocate. Slopes of a model
/// that takes differences itself are known to some 1e-7 of the value over the parameter.
///
/// The model may be a [`ContactModel`](crate::ContactModel), also where the parameter moves a surface: its impact
/// is differenced at the state where it happened, and what the surface carries along is part of the derivative. What
/// is held on a surface there, such as a foot that sticks, goes with it, by [`Flow::correct`].
/// [`ContactModel::mode`](crate::ContactModel::mode) is the mode of its start. A restitution of zero has
/// no derivative: with any more of it the contact rebounds. Sizes, watches, least rates and other
/// constants of the model are those for the parameters given to [`new`](Self::new).
///
/// ```
/// use saltation::{Integrator, Start, derivative::WithParameters, models::Hopper};
/// // How does the height after 2 s depend on gravity?
/// let p = [9.81];
/// let system = WithParameters::new(|p| Hopper { gravity: p[0], ..Hopper::default() }, &p);
/// let mut integrator = Integrator::new(&system)?.rtol(1e-10).atol(1e-10);
/// let d = integrator.derivative(&Start::at(0.0).x(&system.start(&[2.0, 0.0])), 2.0)?;
/// let height_by_gravity = d.matrix()?[(0, 2)];
/// let height = |g| {
///     let hopper = Hopper { gravity: g, ..Hopper::default() };
///     let start = Start::at(0.0).x(&[2.0, 0.0]);
///     let run = Integrator::new(hopper)?.rtol(1e-12).atol(1e-12).integrate(&start, 2.0)?;
///     Ok::<_, saltation::Error>(run.state()[0])
/// };
/// let difference = (height(9.81 + 1e-5)? - height(9.81 - 1e-5)?) / 2e-5;
/// assert!((height_by_gravity - difference).abs() < 1e-6);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WithParameters<'a, F, S> {
    build: F,
    parameters: &'a [f64],
    nominal: S,
}

impl<'a, F, S> WithParameters<'a, F, S>
where
    F: Fn(&[f64]) -> S,
    S: Flow + EventFunction,
{
    /// The model that `build` makes, with `parameters` at the end of its state.
    pub fn new(build: F, parameters: &'a [f64]) -> Self {
        let nominal = build(parameters);
        Self {
            build,
            parameters,
            nominal,
        }
    }

    /// The start of a run: `x0` of the model, then the parameters.
    pub fn start(&self, x0: &[f64]) -> Vec<f64> {
        [x0, self.parameters].concat()
    }

    /// The model for the parameters at the end of `state`, and its own part of the state.
    fn model<'x>(&self, state: &'x [f64]) -> (S, &'x [f64]) {
        let (x, p) = state.split_at(self.nominal.dim().min(state.len()));
        ((self.build)(p), x)
    }

    fn split(&self) -> usize {
        self.nominal.dim()
    }
}

impl<F, S> Flow for WithParameters<'_, F, S>
where
    F: Fn(&[f64]) -> S,
    S: Flow + EventFunction,
{
    flow_methods! { self => self.nominal, constants }

    fn dim(&self) -> usize {
        self.nominal.dim() + self.parameters.len()
    }

    fn flow(&self, t: f64, state: &[f64], mode: &Mode, dx: &mut [f64]) {
        let (model, x) = self.model(state);
        let (dx, dp) = dx.split_at_mut(x.len());
        model.flow(t, x, mode, dx);
        dp.fill(0.0);
    }

    fn until_switch(&self, t: f64, state: &[f64], mode: &Mode, step: f64, places: usize) -> f64 {
        let (model, x) = self.model(state);
        model.until_switch(t, x, mode, step, places)
    }

    fn jacobian_times(
        &self,
        t: f64,
        state: &[f64],
        mode: &Mode,
        v: &[f64],
        out: &mut [f64],
    ) -> bool {
        let (model, x) = self.model(state);
        let (vx, vp) = v.split_at(x.len());
        let (out, rest) = out.split_at_mut(x.len());
        if !model.jacobian_times(t, x, mode, vx, out) {
            let flow = |t: f64, x: &[f64], dx: &mut [f64]| model.flow(t, x, mode, dx);
            if !along(flow, t, x, vx, out) {
                return false;
            }
        }
        rest.fill(0.0);
        let point = Point { t, x: state, mode };
        self.add_flow_by_parameters(point, vp, out)
    }

    fn jacobian_times_each(
        &self,
        t: f64,
        state: &[f64],
        mode: &Mode,
        v: &[f64],
        out: &mut [f64],
    ) -> bool {
        let (model, x) = self.model(state);
        let own = self.own_parts(v, state.len());
        let mut along = vec![f64::NAN; own.len()];
        let written = model.jacobian_times_each(t, x, mode, &own, &mut along);
        let (dim, split) = (state.len().max(1), x.len());
        let columns = v.chunks_exact(dim).zip(out.chunks_exact_mut(dim));
        columns.enumerate().all(|(j, (v, out))| {
            if !written {
                return self.jacobian_times(t, state, mode, v, out);
            }
            let (out, rest) = out.split_at_mut(split);
            out.copy_from_slice(&along[j * split..(j + 1) * split]);
            rest.fill(0.0);
            let point = Point { t, x: state, mode };
            self.add_flow_by_parameters(point, &v[split..], out)
        })
    }

    fn correct(&self, t: f64, state: &mut [f64], mode: &Mode) -> bool {
        let (model, _) = self.model(state);
        let split = self.split();
        model.correct(t, &mut state[..split], mode)
    }

    fn flip(&self, t: f64, state: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
        let (model, x) = self.model(state);
        model.flip(t, x, mode, k, &mut dx[..x.len()])
    }
}

impl<F, S> WithParameters<'_, F, S>
where
    F: Fn(&[f64]) -> S,
    S: Flow + EventFunction,
{
    /// The parts of several directions that belong to the state of the model.
    fn own_parts(&self, v: &[f64], dim: usize) -> Vec<f64> {
        let split = self.split();
        let columns = v.chunks_exact(dim.max(1));
        columns.flat_map(|v| v[..split].iter().copied()).collect()
    }

    /// Adds the derivative of the flow along `vp` of the parameters to `out`; true.
    fn add_flow_by_parameters(
        &self,
        Point { t, x: state, mode }: Point<'_>,
        vp: &[f64],
        out: &mut [f64],
    ) -> bool {
        let x = &state[..self.split()];
        self.add_by_parameters(state, vp, out, |model, dx| {
            model.flow(t, x, mode, dx);
            true
        })
    }

    /// The derivative of the reset along `(dt, vx)` in time and in the state of the model: as
    /// written, or by a central difference; false when the model refuses it or the mode after it
    /// differs.
    fn reset_by_state(
        &self,
        Point { t, x: state, mode }: Point<'_>,
        crossed: &Crossed<'_>,
        dt: f64,
        vx: &[f64],
        out: &mut [f64],
    ) -> bool {
        let (model, x) = self.model(state);
        if model.reset_times(t, crossed, x, mode, Displacement { dt, dx: vx }, out) {
            return true;
        }
        let Some(mut reset) = CrossingReset::at(&model, t, x, crossed, mode) else {
            return false;
        };
        let mut is_moved = vec![false; x.len()];
        let (mut point, mut behind) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let moved = |t: f64, x: &[f64], after: &mut [f64]| {
            let done = reset.of(&model, t, x, after);
            for i in 0..x.len() {
                is_moved[i] |= after[i].to_bits() != x[i].to_bits();
            }
            done
        };
        let (mut half, mut beside) = (point.clone(), point.clone());
        let trials = [&mut *out, &mut half[..], &mut beside[..]];
        let line = Line { t, x, dt, dx: vx };
        let found = resolved_along(moved, line, trials, &mut point, &mut behind);
        let done = matches!(found, Ok(None));
        // Components that the reset does not change have no rounding of a difference.
        for i in (0..x.len()).filter(|&i| !is_moved[i]) {
            out[i] = vx[i];
        }
        done
    }

    /// The displacement that parameters which move along `vp` give a state at a crossing, so that it stays where the
    /// model brings it: a contact that sticks goes with its surface. Zero where none move, and none where differences
    /// disagree or the reset is refused.
    fn carried(&self, at: Point<'_>, crossed: &Crossed<'_>, vp: &[f64]) -> Option<Vec<f64>> {
        let (model, x) = self.model(at.x);
        let mut carried = vec![0.0; x.len()];
        if vp.iter().any(|&v| v != 0.0) {
            let reset = CrossingReset::at(&model, at.t, x, crossed, at.mode)?;
            let carry = |model: &S, moved: &mut [f64]| {
                reset.carry(model, at.t, x, moved);
                true
            };
            if !self.add_by_parameters(at.x, vp, &mut carried, carry) {
                return None;
            }
        }
        Some(carried)
    }

    /// Adds the derivative of the reset along `vp` of the parameters, and of the state that they carry along, to `out`;
    /// false when the model refuses it or the mode after it differs.
    fn add_reset_by_parameters(
        &self,
        Point { t, x: state, mode }: Point<'_>,
        crossed: &Crossed<'_>,
        vp: &[f64],
        out: &mut [f64],
    ) -> bool {
        if vp.iter().all(|&v| v == 0.0) {
            return true;
        }
        let (model, x) = self.model(state);
        let Some(mut reset) = CrossingReset::at(&model, t, x, crossed, mode) else {
            return false;
        };
        let mut moved = x.to_vec();
        self.add_by_parameters(state, vp, out, |model, after| {
            reset.carry(model, t, x, &mut moved);
            reset.of(model, t, &moved, after).is_ok()
        })
    }

    /// Adds the derivative of `g(model, out)` along `vp` of the parameters to `out`. False when `g` is
    /// refused, or where differences disagree.
    fn add_by_parameters(
        &self,
        state: &[f64],
        vp: &[f64],
        out: &mut [f64],
        mut g: impl FnMut(&S, &mut [f64]) -> bool,
    ) -> bool {
        let (mut p, mut along) = (state[self.split()..].to_vec(), vec![0.0; out.len()]);
        for i in 0..p.len() {
            if vp[i] == 0.0 {
                continue;
            }
            let here = p[i];
            let found = by_parameter(here, 0.0, &mut along, |value, out| {
                p[i] = value;
                g(&(self.build)(&p), out)
            });
            if !found {
                return false;
            }
            p[i] = here;
            for (out, along) in out.iter_mut().zip(&along) {
                *out += vp[i] * along;
            }
        }
        true
    }
}

impl<F, S> EventFunction for WithParameters<'_, F, S>
where
    F: Fn(&[f64]) -> S,
    S: Flow + EventFunction,
{
    event_methods! { self => self.nominal, constants }

    fn event(&self, k: usize, t: f64, state: &[f64], mode: &Mode) -> f64 {
        let (model, x) = self.model(state);
        model.event(k, t, x, mode)
    }

    fn events(&self, t: f64, state: &[f64], mode: &Mode, h: &mut [f64]) {
        let (model, x) = self.model(state);
        model.events(t, x, mode, h);
    }

    fn gradient(
        &self,
        k: usize,
        t: f64,
        state: &[f64],
        mode: &Mode,
        dh: &mut [f64],
    ) -> Option<f64> {
        let (model, x) = self.model(state);
        let (dx, dp) = dh.split_at_mut(x.len());
        let moving = model.gradient(k, t, x, mode, dx).or_else(|| {
            let h = |t: f64, x: &[f64]| model.event(k, t, x, mode);
            let size = |_| 1.0;
            resolved_gradient(h, t, x, size, dx, &mut vec![0.0; x.len()])
        })?;
        let mut p = state[x.len()..].to_vec();
        // A guard is zero where it is crossed: what cancels in it shows by its row.
        let each = dx.iter().zip(x).map(|(dx, x)| (dx * x).abs());
        let terms = each.sum::<f64>() + (moving * t).abs();
        for (i, dp) in dp.iter_mut().enumerate() {
            let here = p[i];
            let found = by_parameter(here, terms, std::slice::from_mut(dp), |value, out| {
                p[i] = value;
                out[0] = (self.build)(&p).event(k, t, x, mode);
                true
            });
            if !found {
                return None;
            }
            p[i] = here;
        }
        Some(moving)
    }

    fn writes_row_differences(&self, k: usize, x: &[f64], mode: &Mode) -> bool {
        let (_, state) = self.model(x);
        self.nominal.writes_row_differences(k, state, mode) || !self.parameters.is_empty()
    }

    fn writes_reset_differences(&self) -> bool {
        self.nominal.writes_reset_differences() || !self.parameters.is_empty()
    }

    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let (model, _) = self.model(crossing.x);
        model.on_crossing(&mut crossing.of_part(..self.split()))
    }

    fn reset_times(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        state: &[f64],
        mode: &Mode,
        Displacement { dt, dx: v }: Displacement<'_>,
        out: &mut [f64],
    ) -> bool {
        let (vx, vp) = v.split_at(self.split());
        let (out, rest) = out.split_at_mut(self.split());
        rest.copy_from_slice(vp);
        let point = Point { t, x: state, mode };
        let Some(mut own) = self.carried(point, crossed, vp) else {
            return false;
        };
        for (own, v) in own.iter_mut().zip(vx) {
            *own = v - *own;
        }
        self.reset_by_state(point, crossed, dt, &own, out)
            && self.add_reset_by_parameters(point, crossed, vp, out)
    }

    fn reset_times_each(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        state: &[f64],
        mode: &Mode,
        Displacement { dt, dx: v }: Displacement<'_>,
        out: &mut [f64],
    ) -> bool {
        let (model, x) = self.model(state);
        let point = Point { t, x: state, mode };
        let mut own = self.own_parts(v, state.len());
        let each = v.chunks_exact(state.len().max(1));
        for (v, own) in each.zip(own.chunks_exact_mut(x.len().max(1))) {
            let Some(carried) = self.carried(point, crossed, &v[x.len()..]) else {
                return false;
            };
            own.iter_mut().zip(carried).for_each(|(v, by)| *v -= by);
        }
        let mut along = vec![f64::NAN; own.len()];
        let written = model.reset_times_each(
            t,
            crossed,
            x,
            mode,
            Displacement { dt, dx: &own },
            &mut along,
        );
        let (dim, split) = (state.len().max(1), x.len());
        let columns = v.chunks_exact(dim).zip(out.chunks_exact_mut(dim));
        columns.enumerate().all(|(j, (v, out))| {
            if !written {
                return self.reset_times(t, crossed, state, mode, Displacement { dt, dx: v }, out);
            }
            let vp = &v[split..];
            let (out, rest) = out.split_at_mut(split);
            out.copy_from_slice(&along[j * split..(j + 1) * split]);
            rest.copy_from_slice(vp);
            self.add_reset_by_parameters(point, crossed, vp, out)
        })
    }
}

/// Derivative of `g(t, x, out)` along `dx`, by a central difference; false where it is not known.
pub(super) fn along(
    mut g: impl FnMut(f64, &[f64], &mut [f64]),
    t: f64,
    x: &[f64],
    dx: &[f64],
    out: &mut [f64],
) -> bool {
    if dx.iter().all(|&v| v == 0.0) {
        out.fill(0.0);
        return true;
    }
    let zeros = || vec![0.0; out.len()];
    let [mut point, mut behind, mut half, mut beside] = [0, 1, 2, 3].map(|_| zeros());
    let g = |t: f64, x: &[f64], out: &mut [f64]| {
        g(t, x, out);
        Ok::<(), Infallible>(())
    };
    let trials = [out, &mut half[..], &mut beside[..]];
    let line = Line::at_time(t, x, dx);
    let Ok(unknown) = resolved_along(g, line, trials, &mut point, &mut behind);
    unknown.is_none()
}

#[cfg(all(test, feature = "models"))]
mod tests {
    use super::*;
    use crate::derivative::check_derivatives;
    use crate::models::Hopper;

    #[test]
    fn derivatives_by_parameters_agree_with_differences() {
        let nominal = Hopper::default();
        let p = [nominal.gravity, nominal.stiffness, nominal.rest_length];
        let build = |p: &[f64]| Hopper {
            gravity: p[0],
            stiffness: p[1],
            rest_length: p[2],
            ..nominal
        };
        let system = WithParameters::new(build, &p);
        let start = system.start(&[0.9, -1.0]);
        assert_eq!((system.dim(), start.len()), (5, 5));
        for mode in [Mode::new(1), Mode::with(1, &[0])] {
            let report = check_derivatives(&system, 0.0, &start, &mode).unwrap();
            assert!(report.agrees(1e-8), "{report}");
            // The Jacobian with its product, the row with its time, the flip there and back, the
            // reset by state and time: nothing is left unwritten.
            assert_eq!(report.compared, 25 + 5 + 6 + 10 + 30);
        }
    }
}
