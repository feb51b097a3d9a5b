//! What runs cost: evaluations and allocations of a dozen fixed ones, against stated numbers that
//! may only fall. Models write neither rows nor time scales nor `flip`, as a new user's do not,
//! unless a case says "as written".

#[allow(dead_code, reason = "each of those who share it takes what it needs")]
#[path = "common/allocations.rs"]
mod allocations;
#[path = "common/feet.rs"]
mod feet;

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::sync::Arc;

use allocations::allocations;
use nalgebra::DMatrix;
use saltation::ContactModel;
use saltation::impact::Plastic;
use saltation::models::{
    BouncingBall, FieldTable, Hopper, NormalPlate, PlateParameters, SoftTrot, VerticalPlate,
};
use saltation::{
    Crossed, Crossing, Displacement, EventFunction, Flow, Integrator, Mode, Start, Status, Stop,
    Summary, Watch,
};

/// What a run costs.
#[derive(Clone, Copy, Default)]
struct Cost {
    crossings: usize,
    /// Evaluations of the flow, and updates by `flip`.
    flow: usize,
    flip: usize,
    /// Values of single event functions, each of those that one call of `events` writes too.
    h: usize,
    /// Rows that the model wrote.
    rows: usize,
    /// Products with the Jacobian that the model wrote.
    products: usize,
    /// Windows in which the interpolant was evaluated, at three places each.
    windows: usize,
    /// Allocations of the second run of one integrator.
    allocations: usize,
}

impl Cost {
    /// In the order of the columns of [`STATED`].
    fn columns(&self) -> [usize; 8] {
        let Self {
            crossings,
            flow,
            flip,
            h,
            rows,
            products,
            windows,
            allocations,
        } = *self;
        [
            crossings,
            flow,
            flip,
            h,
            rows,
            products,
            windows,
            allocations,
        ]
    }
}

/// What each case may cost. Whoever lowers a number states it here; who raises one says why: the
/// error of a run, by which derivatives judge close guards, takes four more fields a step than at
/// first, since without the feedback within a step it was a tenth of the error in places; and with the
/// stepper of Tsitouras, which takes fewer steps, rounding happens to part one guard of the corner of 8
/// from the others. Whole derivatives of many guards take five values of each where they took a row,
/// in one call of `events` instead of one a guard, and five allocations for it. Steps that are as long
/// behind a crossing as the motion there asks, at a tenth fewer fields, reach near guards a little more
/// often: values, rows and windows of what is declared. Steps that the clock shows have other last bits: a plate
/// of 2 takes one value more.
const STATED: &str = "
case                                 | crossings flow flip h rows products windows allocations
hopper                               | 4 325 0 337 0 0 81 0
hopper, as written                   | 4 321 4 92 61 0 12 0
plate of 2                           | 8 189 0 630 0 0 52 0
plate of 10                          | 37 300 0 3538 0 0 49 0
plate of 50                          | 180 842 0 30719 0 0 46 0
plate of 50, as written              | 180 662 180 13334 970 0 27 0
plate of 50, law N, as written       | 349 1180 405 43514 2026 0 24 0
corner of 2                          | 2 18 0 328 0 0 42 0
corner of 2, apart                   | 2 29 0 352 0 0 42 0
corner of 8                          | 8 24 0 1312 0 0 42 0
corner of 8, apart                   | 8 51 0 1521 0 0 42 0
corner of 100                        | 100 116 0 16400 0 0 42 0
corner of 100, apart                 | 100 511 0 37677 0 0 42 0
corner of 100, as written            | 100 15 200 800 500 0 2 0
corner of 8 of a table, as written   | 8 24 0 64 40 0 2 0
hundred far guards                   | 4 232 0 22382 0 0 65 0
hundred far guards, as declared      | 4 232 0 8698 544 0 11 0
a millisecond under a hundred guards | 0 8 0 13839 0 0 41 0
the same with a time scale           | 0 8 0 1719 0 0 1 0
ball                                 | 2 42 0 39 9 0 10 0
trot, pitched                        | 2 272 0 361 24 0 45 0
derivative of a corner of 8          | 0 308 0 88 72 48 0 330
derivative of a plate of 50          | 0 1522 360 67584 1439 6737 0 747
";

/// What a model says of itself beside flow and event functions.
#[derive(Clone, Copy, PartialEq)]
enum Says {
    Nothing,
    AllThatIsWritten,
}

/// A model that counts what it is asked.
struct Counted<S> {
    model: S,
    says: Says,
    cost: Cell<Cost>,
}

impl<S> Counted<S> {
    fn new(model: S, says: Says) -> Self {
        let cost = Cell::default();
        Self { model, says, cost }
    }

    fn says_all(&self) -> bool {
        self.says == Says::AllThatIsWritten
    }

    fn add(&self, one: impl FnOnce(&mut Cost)) {
        let mut cost = self.cost.get();
        one(&mut cost);
        self.cost.set(cost);
    }
}

impl<S: Flow> Flow for Counted<S> {
    fn dim(&self) -> usize {
        self.model.dim()
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.add(|cost| cost.flow += 1);
        self.model.flow(t, x, mode, dx);
    }
    fn flip(&self, t: f64, x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
        let is_written = self.says_all() && self.model.flip(t, x, mode, k, dx);
        self.add(|cost| cost.flip += usize::from(is_written));
        is_written
    }
    fn jacobian_times(&self, t: f64, x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        let is_written = self.says_all() && self.model.jacobian_times(t, x, mode, v, out);
        self.add(|cost| cost.products += usize::from(is_written));
        is_written
    }
    fn correct(&self, t: f64, x: &mut [f64], mode: &Mode) -> bool {
        self.model.correct(t, x, mode)
    }
}

impl<S: EventFunction> EventFunction for Counted<S> {
    fn count(&self) -> usize {
        self.model.count()
    }
    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        self.add(|cost| cost.h += 1);
        self.model.event(k, t, x, mode)
    }
    fn events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
        self.add(|cost| cost.h += h.len());
        self.model.events(t, x, mode, h);
    }
    fn gradient(&self, k: usize, t: f64, x: &[f64], mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        if !self.says_all() {
            return None;
        }
        self.add(|cost| cost.rows += 1);
        self.model.gradient(k, t, x, mode, dh)
    }
    fn watch(&self, k: usize) -> Watch {
        self.model.watch(k)
    }
    fn time_scale(&self, k: usize) -> Option<f64> {
        self.says_all().then(|| self.model.time_scale(k)).flatten()
    }
    fn is_affine(&self, k: usize) -> bool {
        self.says_all() && self.model.is_affine(k)
    }
    fn max_rate(&self, k: usize) -> Option<f64> {
        self.says_all().then(|| self.model.max_rate(k)).flatten()
    }
    fn ignores_mode(&self) -> bool {
        self.says_all() && self.model.ignores_mode()
    }
    fn resets(&self) -> bool {
        !self.says_all() || self.model.resets()
    }
    fn flags(&self) -> usize {
        self.model.flags()
    }
    fn min_rate(&self, k: usize) -> Option<f64> {
        self.model.min_rate(k)
    }
    fn event_tolerance(&self, k: usize) -> f64 {
        self.model.event_tolerance(k)
    }
    fn crosses_within(&self, k: usize) -> f64 {
        self.model.crosses_within(k)
    }
    fn admissible(&self, k: usize, mode: &Mode) -> RangeInclusive<f64> {
        self.model.admissible(k, mode)
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        self.model.on_crossing(crossing)
    }
    fn reset_times(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &[f64],
        mode: &Mode,
        direction: Displacement<'_>,
        out: &mut [f64],
    ) -> bool {
        self.says_all() && self.model.reset_times(t, crossed, x, mode, direction, out)
    }
}

/// The cost of the second run from a start.
fn of_run<S: Flow + EventFunction>(
    (model, says): (S, Says),
    set: impl FnOnce(Integrator<Counted<S>>) -> Integrator<Counted<S>>,
    (start, tf): (&[f64], f64),
) -> Cost {
    let mut integrator = set(Integrator::new(Counted::new(model, says)).unwrap());
    let run = |integrator: &mut Integrator<_>| -> Summary {
        integrator
            .observe(&Start::at(0.0).x(start), tf, &mut ())
            .unwrap()
    };
    run(&mut integrator);
    integrator.system().cost.take();
    let mut summary = None;
    let allocations = allocations(|| summary = Some(run(&mut integrator)));
    let summary = summary.unwrap();
    assert_eq!(summary.status, Status::ReachedEnd);
    Cost {
        crossings: summary.statistics.crossings,
        windows: summary.statistics.windows,
        allocations,
        ..integrator.system().cost.get()
    }
}

/// The cost of a whole derivative; the second one of an integrator.
fn of_derivative<S: Flow + EventFunction>(
    (model, says): (S, Says),
    set: impl FnOnce(Integrator<Counted<S>>) -> Integrator<Counted<S>>,
    (start, tf): (&[f64], f64),
) -> Cost {
    let mut integrator = set(Integrator::new(Counted::new(model, says)).unwrap());
    let derivative = |integrator: &mut Integrator<_>| {
        let derivative = integrator.derivative(&Start::at(0.0).x(start), tf).unwrap();
        assert!(!derivative.verdict().to_string().is_empty());
    };
    derivative(&mut integrator);
    integrator.system().cost.take();
    let allocations = allocations(|| derivative(&mut integrator));
    Cost {
        allocations,
        ..integrator.system().cost.get()
    }
}

/// Numbers in [−1/2, 1/2).
fn draw(j: usize) -> f64 {
    (1e4 * (j as f64 + 0.5).sin()).rem_euclid(1.0) - 0.5
}

/// Half the time of a run through a corner (s).
const HALF: f64 = 1e-3;

/// Planes through one point, or `gap` apart: each crossed adds to the field.
struct Planes {
    guards: usize,
    gap: f64,
}

impl Planes {
    fn normal(k: usize) -> [f64; 3] {
        [1.0, 0.5 * draw(2 * k), 0.5 * draw(2 * k + 1)]
    }
    fn start(&self) -> [f64; 3] {
        let mut field = [0.0; 3];
        self.flow(0.0, &field.clone(), &Mode::new(self.guards), &mut field);
        field.map(|f| -HALF * f)
    }
    fn kick(k: usize, i: usize) -> f64 {
        if i == 0 {
            0.0
        } else {
            0.01 * draw(1000 + 2 * k + i)
        }
    }
}

impl Flow for Planes {
    fn dim(&self) -> usize {
        3
    }
    fn flow(&self, _t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[1.0, 0.1, -0.2]);
        for k in mode.ones() {
            for (i, dx) in dx.iter_mut().enumerate() {
                *dx += Self::kick(k, i);
            }
        }
    }
    fn flip(&self, _t: f64, _x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
        let sign = if mode.contains(k) { 1.0 } else { -1.0 };
        for (i, dx) in dx.iter_mut().enumerate() {
            *dx += sign * Self::kick(k, i);
        }
        true
    }
}

impl EventFunction for Planes {
    fn count(&self) -> usize {
        self.guards
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        let along: f64 = Self::normal(k).iter().zip(x).map(|(a, x)| a * x).sum();
        along - self.gap * draw(500 + k)
    }
    fn gradient(&self, k: usize, _t: f64, _x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        dh.copy_from_slice(&Self::normal(k));
        Some(0.0)
    }
    fn is_affine(&self, _k: usize) -> bool {
        true
    }
    fn ignores_mode(&self) -> bool {
        true
    }
}

/// A hopper among guards that it never meets.
struct FarGuards {
    hopper: Hopper,
    guards: usize,
    /// Whether it is declared how all of them change.
    is_declared: bool,
}

impl Flow for FarGuards {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.hopper.flow(t, x, mode, dx);
    }
}

impl EventFunction for FarGuards {
    fn count(&self) -> usize {
        self.hopper.count() + self.guards
    }
    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        if k < self.hopper.count() {
            self.hopper.event(k, t, x, mode)
        } else {
            x[0] - 100.0 - k as f64
        }
    }
    fn gradient(&self, k: usize, t: f64, x: &[f64], mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        let is_written = self.is_declared && k < self.hopper.count();
        is_written.then(|| self.hopper.gradient(k, t, x, mode, dh))?
    }
    fn is_affine(&self, k: usize) -> bool {
        self.is_declared && k < self.hopper.count()
    }
    fn max_rate(&self, k: usize) -> Option<f64> {
        let is_far = self.is_declared && k >= self.hopper.count();
        is_far.then_some(10.0)
    }
}

/// The table of fields behind eight planes through one point.
fn eight() -> (FieldTable, Vec<f64>) {
    let normals = DMatrix::from_fn(8, 3, |k, i| Planes::normal(k)[i]);
    let fields = DMatrix::from_fn(3, 256, |i, word| {
        if i == 0 {
            1.0
        } else {
            0.5 * draw(3 * word + i)
        }
    });
    let start = fields.column(0) * -HALF;
    let table = FieldTable::new(normals, &[0.0; 8], fields).unwrap();
    (table, start.as_slice().to_vec())
}

fn plate(springs: usize) -> PlateParameters {
    PlateParameters::with_springs(springs)
}

fn at<S>(rtol: f64) -> impl FnOnce(Integrator<S>) -> Integrator<S>
where
    S: Flow + EventFunction,
{
    move |integrator| integrator.rtol(rtol).atol(0.1 * rtol)
}

#[test]
fn runs_cost_no_more_than_is_stated() {
    let (nothing, all) = (Says::Nothing, Says::AllThatIsWritten);
    let tilted = [0.1, 2.4, -0.03, 0.3, -0.5, 0.4];
    let vertical = |springs| VerticalPlate::new(plate(springs)).unwrap();
    let normal = |springs| NormalPlate::new(plate(springs)).unwrap();
    let planes = |says, guards, gap| {
        let planes = Planes { guards, gap };
        let start = planes.start();
        of_run((planes, says), at(1e-6), (&start, 2.0 * HALF))
    };
    let far = |tf, scale: Option<f64>| {
        let (hopper, guards) = (Hopper::default(), 100);
        let with_scale = |integrator| match scale {
            Some(scale) => at(1e-6)(integrator).time_scale(scale),
            None => at(1e-6)(integrator),
        };
        let model = FarGuards {
            hopper,
            guards,
            is_declared: scale == Some(f64::INFINITY),
        };
        let says = if model.is_declared { all } else { nothing };
        of_run((model, says), with_scale, (&[2.0, 0.0], tf))
    };
    let hopper = |says| of_run((Hopper::default(), says), at(1e-7), (&[2.0, 0.0], 2.0));
    let ball = ContactModel::new(BouncingBall::default());
    let trot = ContactModel::new(SoftTrot::default());
    let (q, v) = SoftTrot::default().start(0.01);
    let pitched = [q, v].concat();
    let (table, before) = eight();
    let through = (&before[..], 2.0 * HALF);
    let drop = (&tilted[..], 2.0);
    let cases = [
        ("hopper", hopper(nothing)),
        ("hopper, as written", hopper(all)),
        ("plate of 2", of_run((vertical(2), nothing), at(1e-4), drop)),
        (
            "plate of 10",
            of_run((vertical(10), nothing), at(1e-4), drop),
        ),
        (
            "plate of 50",
            of_run((vertical(50), nothing), at(1e-4), drop),
        ),
        (
            "plate of 50, as written",
            of_run((vertical(50), all), at(1e-4), drop),
        ),
        (
            "plate of 50, law N, as written",
            of_run((normal(50), all), at(1e-4), drop),
        ),
        ("corner of 2", planes(nothing, 2, 0.0)),
        ("corner of 2, apart", planes(nothing, 2, 1e-9)),
        ("corner of 8", planes(nothing, 8, 0.0)),
        ("corner of 8, apart", planes(nothing, 8, 1e-9)),
        ("corner of 100", planes(nothing, 100, 0.0)),
        ("corner of 100, apart", planes(nothing, 100, 1e-9)),
        ("corner of 100, as written", planes(all, 100, 0.0)),
        (
            "corner of 8 of a table, as written",
            of_run((&table, all), at(1e-6), through),
        ),
        ("hundred far guards", far(2.0, None)),
        (
            "hundred far guards, as declared",
            far(2.0, Some(f64::INFINITY)),
        ),
        ("a millisecond under a hundred guards", far(1e-3, None)),
        ("the same with a time scale", far(1e-3, Some(0.01))),
        ("ball", of_run((ball, all), at(1e-9), (&[1.0, 0.0], 1.5))),
        (
            "trot, pitched",
            of_run((trot, all), at(1e-9), (&pitched, 0.65)),
        ),
        (
            "derivative of a corner of 8",
            of_derivative((&table, all), at(1e-6), through),
        ),
        (
            "derivative of a plate of 50",
            of_derivative((vertical(50), all), at(1e-4), drop),
        ),
    ];
    compare(&cases);
}

/// Costs of cases beside those stated.
fn compare(cases: &[(&str, Cost)]) {
    let mut stated = STATED.lines().skip(2);
    let mut complaints = Vec::new();
    for (name, cost) in cases {
        let found = cost.columns();
        let line = stated.next().unwrap_or_default();
        let (label, numbers) = line.split_once('|').unwrap_or_default();
        let numbers: Vec<usize> = numbers.split_whitespace().flat_map(str::parse).collect();
        let is_kept = label.trim() == *name
            && numbers.len() == found.len()
            && found[0] == numbers[0]
            && found
                .iter()
                .zip(&numbers)
                .all(|(found, stated)| found <= stated);
        // Room of a twentieth: a number that fell by more is to be stated.
        let is_near = found
            .iter()
            .zip(&numbers)
            .all(|(found, stated)| 20 * found >= 19 * stated);
        let row: Vec<String> = found.iter().map(usize::to_string).collect();
        let row = format!("{name:36} | {}", row.join(" "));
        if !is_kept {
            complaints.push(format!("{row}   costs more than {line}"));
        } else if !is_near {
            complaints.push(format!("{row}   fell: state it"));
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// Contacts at one configuration are one value: an impact asks for the row of each contact and for the
/// mass matrix once or twice, where a landing moves the configuration. Before, a plastic impact on two
/// feet took 8 rows and 5 mass matrices, one on three 18 and 7, and these six events 74 and 52. The last of the six
/// stops a foot that took no part: it is resolved anew with it.
#[test]
fn impacts_cost_no_more_than_is_stated() {
    for (count, tilt, stated) in [
        (1, 0.0, [1, 1, 1]),
        (2, 0.0, [1, 2, 1]),
        (2, 0.05, [2, 5, 3]),
        (3, 0.0, [1, 6, 2]),
        (3, 0.05, [6, 37, 16]),
    ] {
        let feet = feet::Feet::new(count, 0.0);
        let cost = feet::cost_of_impacts(feet, Arc::new(Plastic), tilt);
        let found = [cost.events, cost.rows, cost.masses];
        assert_eq!(found, stated, "{count} feet, tilt {tilt}");
    }
}

/// Forty planes whose values come of one solution, as the forces of contacts do.
struct OneSolution {
    solutions: Cell<usize>,
}

impl Flow for OneSolution {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[x[1], -x[0]]);
    }
}

impl EventFunction for OneSolution {
    fn count(&self) -> usize {
        40
    }
    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        let mut all = [0.0; 40];
        self.events(t, x, mode, &mut all);
        all[k]
    }
    fn events(&self, _t: f64, x: &[f64], _mode: &Mode, h: &mut [f64]) {
        self.solutions.set(self.solutions.get() + 1);
        for (k, h) in h.iter_mut().enumerate() {
            *h = x[0] - 2.0 - k as f64;
        }
    }
}

/// What event functions share is evaluated once a place, at the start and at the end too: with terms
/// one by one it took 464 solutions.
#[test]
fn event_functions_that_share_their_work_are_asked_together() {
    let solutions = Cell::default();
    let mut integrator = Integrator::new(OneSolution { solutions }).unwrap();
    let run = integrator
        .observe(&Start::at(0.0).x(&[1.0, 0.0]), 1.0, &mut ())
        .unwrap();
    assert_eq!(run.status, Status::ReachedEnd);
    let found = integrator.system().solutions.get();
    assert!(found <= 155, "{found}");
}
