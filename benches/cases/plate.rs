//! The plate on springs: 120 fixed starts of 2 s, by several ways through its contacts.

use saltation::models::{PlainPlate, PlateParameters, VerticalPlate};
use saltation::{EventFunction, Flow, Integrator, Mode, Projection, Start, Status};

/// Numbers of springs: half the numbers of directed guards, 2 to 100 as in the paper.
pub(crate) const SPRINGS: [usize; 7] = [1, 2, 5, 10, 20, 30, 50];

/// Starts of one run of a case.
const STARTS: u64 = 120;

/// Which model of the same plate.
#[derive(Clone, Copy, Debug)]
enum Model {
    /// Sums in closed form, `flip` in O(1).
    Flip,
    /// The same without `flip`.
    NoFlip,
    /// Spring by spring, without `flip`.
    Plain,
    /// The field in closed form, and nothing but `event`.
    Event,
}

/// A way of integrating the plate.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) name: &'static str,
    model: Model,
    projection: Projection,
    rtol: f64,
    fixed_step: Option<f64>,
    restart: bool,
}

/// The ways compared; the first is the one ratios refer to.
pub(crate) fn ways() -> Vec<Way> {
    let way = |name, model, projection, rtol| Way {
        name,
        model,
        projection,
        rtol,
        fixed_step: None,
        restart: false,
    };
    vec![
        Way {
            restart: true,
            ..way("restart-1e-4", Model::Plain, Projection::Off, 1e-4)
        },
        way("plain-auto-1e-4", Model::Plain, Projection::Auto, 1e-4),
        way("located-1e-4", Model::NoFlip, Projection::Off, 1e-4),
        way("located-flip-1e-4", Model::Flip, Projection::Off, 1e-4),
        way("auto-1e-4", Model::NoFlip, Projection::Auto, 1e-4),
        way("auto-flip-1e-4", Model::Flip, Projection::Auto, 1e-4),
        way("auto-flip-1e-6", Model::Flip, Projection::Auto, 1e-6),
        // The settings of the paper; eps as tuned there to the accuracy of its peer.
        Way {
            fixed_step: Some(2e-3),
            ..way(
                "order1-2ms-flip",
                Model::Flip,
                Projection::eps(0.0117, 1),
                1e-6,
            )
        },
        way("event-auto-1e-4", Model::Event, Projection::Auto, 1e-4),
    ]
}

/// What all starts together took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    pub(crate) crossings: usize,
    pub(crate) flow: usize,
    /// Runs that ended before 2 s.
    pub(crate) refused: usize,
}

impl Way {
    /// All starts on `plate`; the workspace is made here, the call allocates nothing.
    pub(crate) fn runner<'a>(&self, plate: &'a VerticalPlate) -> Box<dyn FnMut() -> Cost + 'a> {
        match self.model {
            Model::Flip => self.runs(plate),
            Model::NoFlip => self.runs(NoFlip(plate)),
            Model::Plain => self.runs(PlainPlate(plate)),
            Model::Event => self.runs(EventOnly(plate)),
        }
    }

    fn runs<'a, S>(&self, system: S) -> Box<dyn FnMut() -> Cost + 'a>
    where
        S: Flow + EventFunction + 'a,
    {
        let mut integrator = Integrator::fixed::<6>(system)
            .expect("six states")
            .rtol(self.rtol)
            .atol(0.1 * self.rtol)
            .projection(self.projection.clone())
            .restart_at_events(self.restart);
        if let Some(step) = self.fixed_step {
            integrator = integrator.fixed_step(step);
        }
        let starts: Vec<_> = (1..=STARTS).map(PlateParameters::random_start).collect();
        Box::new(move || {
            let mut cost = Cost::default();
            for start in &starts {
                let summary = integrator
                    .observe(&Start::at(0.0).x(start), 2.0, &mut ())
                    .expect("good input");
                cost.crossings += summary.statistics.crossings;
                cost.flow += summary.statistics.flow;
                cost.refused += usize::from(summary.status != Status::ReachedEnd);
            }
            cost
        })
    }
}

/// The plate on so many springs.
pub(crate) fn plate(springs: usize) -> VerticalPlate {
    VerticalPlate::new(PlateParameters::with_springs(springs)).expect("good parameters")
}

/// The plate without its `flip`.
struct NoFlip<'a>(&'a VerticalPlate);

impl Flow for NoFlip<'_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.0.flow(t, x, mode, dx);
    }
}

impl EventFunction for NoFlip<'_> {
    fn count(&self) -> usize {
        self.0.count()
    }
    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        self.0.event(k, t, x, mode)
    }
    fn events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
        self.0.events(t, x, mode, h);
    }
    fn gradient(&self, k: usize, t: f64, x: &[f64], mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        self.0.gradient(k, t, x, mode, dh)
    }
    fn ignores_mode(&self) -> bool {
        self.0.ignores_mode()
    }
    fn resets(&self) -> bool {
        self.0.resets()
    }
}

/// The plate without anything but its field and `event`.
struct EventOnly<'a>(&'a VerticalPlate);

impl Flow for EventOnly<'_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.0.flow(t, x, mode, dx);
    }
}

impl EventFunction for EventOnly<'_> {
    fn count(&self) -> usize {
        self.0.count()
    }
    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        self.0.event(k, t, x, mode)
    }
}
