//! The error of a run to first order: the defect of its dense output, carried along by the
//! variational equation (P. E. Zadunaisky, Numer. Math. 27 (1976) 21).
//!
//! The dense output `p(t)` solves `p' = f(t, p) − d` with the defect `d = f(t, p) − p'`; the error
//! `e` of the state obeys `e' = f(t, p + e) − f(t, p) + d`. That of a step is added at its end. Within
//! the step the dense output is off by more than at its end, so that its feedback counts too: the
//! equation is solved by collocation.

use nalgebra::DVector;

use super::context::Context;
use super::variational::Columns;
use crate::hybrid::options::Settings;
use crate::linalg::multiply_from_left;
use crate::{NoDerivative, Segment};

/// The nodes of Gauss & Legendre on [0, 1].
const NODES: [f64; 4] = [
    0.06943184420297371,
    0.33000947820757187,
    0.6699905217924281,
    0.9305681557970263,
];
/// The integrals from 0 to each node, and to 1, of the polynomial through values at the nodes.
const TO_NODES: [[f64; 4]; 4] = [
    [
        0.08696371128436346,
        -0.026604180084998794,
        0.012627462689404725,
        -0.0035551496857956833,
    ],
    [
        0.18811811749986806,
        0.16303628871563655,
        -0.027880428602470895,
        0.006735500594538156,
    ],
    [
        0.16719192197418878,
        0.35395300603374397,
        0.16303628871563655,
        -0.014190694931141144,
    ],
    [
        0.1774825722545226,
        0.31344511474186837,
        0.35267675751627187,
        0.08696371128436346,
    ],
];
const TO_END: [f64; 4] = [
    0.17392742256872692,
    0.32607257743127305,
    0.32607257743127305,
    0.17392742256872692,
];
/// The two nodes of Gauss & Legendre, both of weight one half.
const TWO_NODES: [f64; 2] = [0.21132486540518713, 0.7886751345948129];
/// Safety factor of an estimated error.
const SAFETY: f64 = 10.0;

/// The error of the state of a run, to first order.
#[derive(Clone, Debug)]
pub(crate) struct RunError {
    /// The error at the last crossing.
    at_crossing: DVector<f64>,
    /// The error added by the steps since.
    since: DVector<f64>,
    defect: Defect,
}

impl RunError {
    pub(crate) fn new(dim: usize) -> Self {
        Self {
            at_crossing: DVector::zeros(dim),
            since: DVector::zeros(dim),
            defect: Defect::new(dim),
        }
    }

    /// Begins a new run.
    pub(crate) fn begin(&mut self, settings: &Settings) {
        self.defect.column.begin(settings);
    }

    /// Adds the error of a segment.
    pub(crate) fn advance(
        &mut self,
        context: Context<'_>,
        segment: &Segment<'_>,
    ) -> Result<(), NoDerivative> {
        self.defect.advance(context, segment, &mut self.since)
    }

    /// Carries the error to a crossing; `map` is that of the motion since the last one, column by
    /// column.
    pub(crate) fn collect(&mut self, map: &[f64], scratch: &mut [f64]) {
        multiply_from_left(map, self.at_crossing.as_mut_slice(), scratch);
        self.at_crossing += &self.since;
        self.since.fill(0.0);
    }

    /// The error at the last crossing.
    pub(crate) fn at_crossing(&self) -> &DVector<f64> {
        &self.at_crossing
    }

    /// The error at the last crossing, to be carried through it.
    pub(crate) fn at_crossing_mut(&mut self) -> &mut DVector<f64> {
        &mut self.at_crossing
    }

    /// Replaces it by the error after the crossing.
    pub(crate) fn set_behind(&mut self, error: DVector<f64>) {
        self.at_crossing = error;
    }

    /// Writes a bound of the error of each component at the last crossing, at `x`: ten times the estimate,
    /// and at least five times the largest of all components in units of their tolerances. The
    /// estimate is of first order, and some of its components are small by chance.
    pub(crate) fn bound(&self, settings: &Settings, x: &[f64], bound: &mut [f64]) {
        let error = &self.at_crossing;
        let scale = |i: usize| settings.atol.get(i) + settings.rtol.get(i) * x[i].abs();
        let largest = (0..x.len())
            .filter(|&i| scale(i) > 0.0)
            .map(|i| error[i].abs() / scale(i))
            .fold(0.0, f64::max);
        for (i, bound) in bound.iter_mut().enumerate() {
            *bound = (SAFETY * error[i].abs()).max(0.5 * SAFETY * largest * scale(i));
        }
    }
}

/// Workspace.
#[derive(Clone, Debug)]
struct Defect {
    column: Columns,
    /// The dense output at the start and at each node.
    start: Vec<f64>,
    path: [Vec<f64>; 4],
    /// The error that the step has made until each node.
    errors: [Vec<f64>; 4],
    /// The field beside the dense output by that.
    slopes: [Vec<f64>; 4],
    point: Vec<f64>,
}

impl Defect {
    fn new(dim: usize) -> Self {
        let state = || vec![0.0; dim];
        Self {
            column: Columns::new(dim, 1),
            start: state(),
            path: NODES.map(|_| state()),
            errors: NODES.map(|_| state()),
            slopes: NODES.map(|_| state()),
            point: state(),
        }
    }

    /// Carries `error` along a segment and adds that of the segment.
    fn advance(
        &mut self,
        context: Context<'_>,
        segment: &Segment<'_>,
        error: &mut DVector<f64>,
    ) -> Result<(), NoDerivative> {
        if error.iter().any(|e| *e != 0.0) {
            self.column.delta.copy_from_slice(error.as_slice());
            self.column.changed();
            self.column.advance(context, segment)?;
            error.copy_from_slice(&self.column.delta);
        }
        let length = segment.t - segment.start;
        segment.interpolant.at(segment.start, &mut self.start);
        if segment.projected {
            self.add_of_projection(context, segment, error);
            return Ok(());
        }
        for (node, point) in NODES.iter().zip(&mut self.path) {
            segment.interpolant.at(segment.start + node * length, point);
        }
        for errors in &mut self.errors {
            errors.fill(0.0);
        }
        self.take_slopes(context, segment);
        // Once makes the error of the step right to leading order.
        for (i, weights) in TO_NODES.iter().enumerate() {
            for k in 0..self.point.len() {
                let moved = self.path[i][k] - self.start[k];
                self.errors[i][k] = self.made(k, moved, length, weights);
            }
        }
        self.take_slopes(context, segment);
        for (k, error) in error.iter_mut().enumerate() {
            *error += self.made(k, segment.state[k] - self.start[k], length, &TO_END);
        }
        Ok(())
    }

    /// Adds the error of a projection to `error`. It is no smaller at its end than within, so that its
    /// feedback, smaller by the part that the projection is of a time scale, need not count.
    fn add_of_projection(
        &mut self,
        context: Context<'_>,
        segment: &Segment<'_>,
        error: &mut DVector<f64>,
    ) {
        let length = segment.t - segment.start;
        for (node, slope) in TWO_NODES.iter().zip(&mut self.slopes) {
            let t = segment.start + node * length;
            segment.interpolant.at(t, &mut self.point);
            context.system.flow(t, &self.point, segment.mode, slope);
        }
        for (k, error) in error.iter_mut().enumerate() {
            *error += self.made(k, segment.state[k] - self.start[k], length, &[0.5; 2]);
        }
    }

    /// The field at each node, beside the dense output by the error there.
    fn take_slopes(&mut self, context: Context<'_>, segment: &Segment<'_>) {
        for (i, node) in NODES.iter().enumerate() {
            let t = segment.start + node * (segment.t - segment.start);
            for (k, x) in self.point.iter_mut().enumerate() {
                *x = self.path[i][k] + self.errors[i][k];
            }
            let slope = &mut self.slopes[i];
            context.system.flow(t, &self.point, segment.mode, slope);
        }
    }

    /// The error of component `k` that the step makes until its dense output has moved by `moved`,
    /// `weights` of its length from its start.
    fn made(&self, k: usize, moved: f64, length: f64, weights: &[f64]) -> f64 {
        let slopes = self.slopes.iter().zip(weights);
        let error = length * slopes.map(|(f, weight)| weight * f[k]).sum::<f64>() - moved;
        // Where f is not defined at a node, as at the edge of its domain, the error test of the step
        // must suffice.
        if error.is_finite() { error } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        EventFunction, Flow, Integrator, Mode, Observer, Projection, Rearm, Start, flow_fn,
    };

    struct Followed<'a> {
        context: Context<'a>,
        error: RunError,
    }

    impl Observer for Followed<'_> {
        fn segment(&mut self, segment: &Segment<'_>) {
            self.error.advance(self.context, segment).unwrap();
        }
    }

    // Steps of a pendulum are long beside its time scale: without the feedback of errors within a
    // step the estimate is another number than the error.
    #[test]
    fn the_estimate_is_the_error_of_the_run() {
        let pendulum = flow_fn(2, |_t, x: &[f64], _mode: &Mode, dx: &mut [f64]| {
            (dx[0], dx[1]) = (x[1], -x[0].sin());
        });
        let (rearm, settings) = (Rearm::default(), Settings::default());
        let mut sum = 0.0;
        for i in 0..16 {
            let (start, end) = ([0.1 * f64::from(i), 1.5], 1.0 + 0.3 * f64::from(i));
            let mut integrator = Integrator::new(&pendulum).unwrap().rtol(1e-5).atol(1e-5);
            let context = Context::of_run(&pendulum, &rearm, &settings);
            let mut followed = Followed {
                context,
                error: RunError::new(2),
            };
            followed.error.begin(&settings);
            integrator
                .observe(&Start::at(0.0).x(&start), end, &mut followed)
                .unwrap();
            let mut exact = Integrator::new(&pendulum).unwrap().rtol(1e-13).atol(1e-13);
            let exact = exact.integrate(&Start::at(0.0).x(&start), end).unwrap();
            let error = exact.state() - DVector::from_column_slice(integrator.state());
            sum += (&followed.error.since - &error).amax() / error.amax();
        }
        // Of one start the error is small by chance, and the estimate off by all of it.
        let mean = sum / 16.0;
        assert!(mean < 0.4, "{mean}");
    }

    /// The errors of projections over 0.2 s, each beside that of the exact motion from its start.
    struct Projected<'a, S> {
        context: Context<'a>,
        exact: Integrator<S>,
        /// By how much estimates are off, as a part of the error.
        off: Vec<f64>,
    }

    impl<S: Flow + EventFunction> Observer for Projected<'_, S> {
        fn segment(&mut self, segment: &Segment<'_>) {
            if !segment.projected || segment.t - segment.start < 0.05 {
                return;
            }
            let mut own = RunError::new(2);
            own.begin(&Settings::default());
            own.advance(self.context, segment).unwrap();
            let mut start = [0.0; 2];
            segment.interpolant.at(segment.start, &mut start);
            let exact = (self.exact).integrate(&Start::at(segment.start).x(&start), segment.t);
            let error = exact.unwrap().state() - DVector::from_column_slice(segment.state);
            self.off.push((&own.since - &error).amax() / error.amax());
        }
    }

    #[test]
    fn the_estimate_of_a_projection_is_its_error() {
        let swing = |_t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]| {
            (dx[0], dx[1]) = (x[1], -x[0].sin());
        };
        let (rearm, settings) = (Rearm::default(), Settings::default());
        let pendulum = flow_fn(2, swing);
        let mut followed = Projected {
            context: Context::of_run(&pendulum, &rearm, &settings),
            exact: Integrator::new(&pendulum).unwrap().rtol(1e-13).atol(1e-13),
            off: Vec::new(),
        };
        let guarded = flow_fn(2, swing).with_events(4, |k, _t, x| x[0] - 0.2 - 0.25 * k as f64);
        let mut integrator = Integrator::new(&guarded)
            .unwrap()
            .projection(Projection::horizon(0.2, 2));
        integrator
            .observe(&Start::at(0.0).x(&[0.0, 1.5]), 1.2, &mut followed)
            .unwrap();
        assert!(followed.off.len() >= 3, "{:?}", followed.off);
        assert!(
            followed.off.iter().all(|off| *off < 0.3),
            "{:?}",
            followed.off
        );
    }
}
