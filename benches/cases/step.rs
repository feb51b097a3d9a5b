//! Smooth steps at 2, 6 and 60 states: the bare step of Tsitouras, and whole runs of the
//! integrator.

use std::hint::black_box;

use saltation::models::{ContactChain, Hopper};
use saltation::ode::{Buffer, Tsitouras};
use saltation::{EventFunction, Flow, Integrator, Mode, Start, Status};

use super::hand::{Control, Hand};
use super::plate;

/// Bare steps of one call.
const BARE_STEPS: usize = 1000;

/// How far one bare step goes [s].
const BARE_LENGTH: f64 = 1e-4;

/// Settings of the runs: error control at every step, no search for a first step.
const CONTROL: Control = Control {
    rtol: 1e-6,
    atol: 1e-9,
    first_step: 1e-3,
    max_step: f64::INFINITY,
};

/// Something whose time is measured; a call returns its number of steps.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) run: Box<dyn FnMut() -> usize>,
}

fn case(name: &'static str, run: impl FnMut() -> usize + 'static) -> Case {
    Case {
        name,
        run: Box::new(run),
    }
}

/// A system held in one mode, without event functions.
#[derive(Clone, Debug)]
struct Held<S> {
    system: S,
    mode: Mode,
}

impl<S: EventFunction> Held<S> {
    /// Every side bit on: all springs in contact.
    fn touching(system: S) -> Self {
        let count = system.count();
        let all: Vec<_> = (0..count).collect();
        Self {
            system,
            mode: Mode::with(count, &all),
        }
    }
}

impl<S: Flow> Flow for Held<S> {
    fn dim(&self) -> usize {
        self.system.dim()
    }
    #[inline]
    fn flow(&self, t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        self.system.flow(t, x, &self.mode, dx);
    }
}

impl<S> EventFunction for Held<S> {
    fn count(&self) -> usize {
        0
    }
    fn event(&self, _k: usize, _t: f64, _x: &[f64], _mode: &Mode) -> f64 {
        0.0
    }
}

/// The hopper on its leg.
const HOPPER: [f64; 2] = [0.95, 0.3];
/// The plate on four springs.
const PLATE: [f64; 6] = [0.1, 0.95, 0.02, 0.1, -0.2, 0.1];
/// Time of a run [s].
const SPAN: f64 = 10.0;

fn hopper() -> Held<Hopper> {
    Held::touching(Hopper::default())
}

fn chain() -> (Held<ContactChain>, [f64; 60]) {
    let chain = ContactChain::new(30).expect("30 masses");
    let mut start = [0.0; 60];
    for (i, (x, rest)) in start.iter_mut().zip(chain.start()).enumerate() {
        // In the floor, moving a little.
        *x = rest - if i < 30 { 0.502 } else { 0.0 } + 1e-4 * super::draw(i);
    }
    (Held::touching(chain), start)
}

/// Bare steps, without error test.
pub(crate) fn bare() -> Vec<Case> {
    let hand = Hand {
        hopper: Hopper::default(),
        touching: true,
    };
    let by_hand = move || {
        let mut x = black_box(HOPPER);
        let mut slope = hand.flow(x[0], x[1]);
        for _ in 0..BARE_STEPS {
            let step = hand.step(x, slope, BARE_LENGTH);
            (x, slope) = (step.state, step.slope);
        }
        black_box(x);
        BARE_STEPS
    };
    let plate = Held::touching(plate::plate(4));
    let (chain, chain_start) = chain();
    vec![
        case("2-states-by-hand", by_hand),
        case("2-states-fixed", steps::<_, [f64; 2]>(hopper(), &HOPPER)),
        case("2-states-vec", steps::<_, Vec<f64>>(hopper(), &HOPPER)),
        case(
            "6-states-fixed",
            steps::<_, [f64; 6]>(plate.clone(), &PLATE),
        ),
        case("6-states-vec", steps::<_, Vec<f64>>(plate, &PLATE)),
        case(
            "60-states-fixed",
            steps::<_, [f64; 60]>(chain.clone(), &chain_start),
        ),
        case("60-states-vec", steps::<_, Vec<f64>>(chain, &chain_start)),
    ]
}

fn steps<S, B>(system: Held<S>, start: &[f64]) -> impl FnMut() -> usize + use<S, B>
where
    S: Flow,
    B: Buffer,
{
    let mut work = Tsitouras::<B>::new(system.dim());
    let start = start.to_vec();
    let mut x = B::zeros(start.len());
    let mut slope = B::zeros(start.len());
    move || {
        let mode = Mode::default();
        let mut flow = |t: f64, x: &[f64], dx: &mut [f64]| system.flow(t, x, &mode, dx);
        x.get_mut().copy_from_slice(black_box(&start));
        flow(0.0, x.get(), work.first_stage());
        for i in 0..BARE_STEPS {
            let t = i as f64 * BARE_LENGTH;
            let step = work.step(&mut flow, t, x.get(), BARE_LENGTH);
            step.expect("sizes fit");
            x.get_mut().copy_from_slice(work.state());
            slope.get_mut().copy_from_slice(work.slope_at_end());
            work.first_stage().copy_from_slice(slope.get());
        }
        black_box(x.get());
        BARE_STEPS
    }
}

/// Runs with error control, without event functions; the last ones with the guard of the hopper
/// watched.
pub(crate) fn runs() -> Vec<Case> {
    let plate = Held::touching(plate::plate(4));
    let (chain, chain_start) = chain();
    vec![
        case("2-states-by-hand", by_hand(true, HOPPER, CONTROL)),
        case("2-states-fixed", fixed(hopper(), HOPPER, CONTROL)),
        case("2-states-vec", on_heap(hopper(), &HOPPER, CONTROL)),
        case("6-states-fixed", fixed(plate.clone(), PLATE, CONTROL)),
        case("6-states-vec", on_heap(plate, &PLATE, CONTROL)),
        case(
            "60-states-fixed",
            fixed(chain.clone(), chain_start, CONTROL),
        ),
        case("60-states-vec", on_heap(chain, &chain_start, CONTROL)),
    ]
}

/// The hopper in flight, its guard watched, steps of at most 1 ms; by hand the guard is not looked
/// at.
pub(crate) fn flights() -> Vec<Case> {
    const HIGH: [f64; 2] = [1000.0, 0.0];
    let control = Control {
        max_step: 1e-3,
        ..CONTROL
    };
    vec![
        case("flight-by-hand", by_hand(false, HIGH, control)),
        case("flight-fixed", fixed(Hopper::default(), HIGH, control)),
        case("flight-vec", on_heap(Hopper::default(), &HIGH, control)),
    ]
}

fn by_hand(touching: bool, start: [f64; 2], control: Control) -> impl FnMut() -> usize {
    let hand = Hand {
        hopper: Hopper::default(),
        touching,
    };
    move || {
        let (x, steps) = hand.run(black_box(start), SPAN, black_box(&control));
        black_box(x);
        steps
    }
}

macro_rules! runner {
    ($integrator:expr, $start:expr, $control:expr) => {{
        let control = $control;
        let mut integrator = $integrator
            .expect("sizes fit")
            .rtol(control.rtol)
            .atol(control.atol)
            .first_step(control.first_step)
            .max_step(control.max_step);
        let start = $start;
        move || {
            let summary = integrator
                .observe(&Start::at(0.0).x(black_box(&start)), SPAN, &mut ())
                .expect("good input");
            assert_eq!(summary.status, Status::ReachedEnd);
            black_box(integrator.state());
            summary.statistics.steps + summary.statistics.rejections
        }
    }};
}

fn fixed<S, const N: usize>(
    system: S,
    start: [f64; N],
    control: Control,
) -> impl FnMut() -> usize + 'static
where
    S: Flow + EventFunction + 'static,
{
    runner!(Integrator::fixed::<N>(system), start, control)
}

fn on_heap<S>(system: S, start: &[f64], control: Control) -> impl FnMut() -> usize + use<S>
where
    S: Flow + EventFunction + 'static,
{
    runner!(Integrator::new(system), start.to_vec(), control)
}
