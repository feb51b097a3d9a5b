//! Derivatives: the plate and corners with directions carried along.

use std::hint::black_box;

use saltation::models::{PlateParameters, VerticalPlate};
use saltation::{EventFunction, Flow, Integrator, Sensitivities, Start};

use super::corner::{Corner, HALF};

/// Runs that differ in what is carried along; the first carries nothing.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) ways: Vec<(String, Box<dyn FnMut()>)>,
}

/// Starts of one run of a plate case.
const STARTS: u64 = 30;

/// The plate at two tolerances.
pub(crate) fn plates() -> Vec<Group> {
    [(2, 1e-4), (2, 1e-8), (10, 1e-4), (50, 1e-4), (50, 1e-8)]
        .into_iter()
        .map(|(springs, rtol)| {
            let starts: Vec<_> = (1..=STARTS).map(PlateParameters::random_start).collect();
            let parameters = PlateParameters::with_springs(springs);
            let plate = VerticalPlate::new(parameters).expect("good parameters");
            let name = format!("plate, {springs} springs, {rtol:.0e}");
            let make = || {
                Integrator::fixed::<6>(plate.clone())
                    .expect("six states")
                    .rtol(rtol)
                    .atol(0.1 * rtol)
            };
            let mut ways = ways(name, make, &starts, 2.0, &[1, 8]);
            let mut integrator = make();
            let whole = move || {
                for start in &starts {
                    let d = integrator
                        .derivative(&Start::at(0.0).x(start), 2.0)
                        .expect("good input");
                    black_box(d.verdict());
                }
            };
            ways.ways.push(("whole derivative".into(), Box::new(whole)));
            ways
        })
        .collect()
}

/// Exact corners, nearly nothing else in the run.
pub(crate) fn corners() -> Vec<Group> {
    [(2, 2), (8, 3), (8, 8)]
        .into_iter()
        .map(|(guards, dim)| {
            let corner = Corner {
                guards,
                dim,
                gap: 0.0,
            };
            let table = corner.table();
            let mut field = vec![0.0; dim];
            let mode = saltation::Mode::new(guards);
            table.flow(0.0, &vec![0.0; dim], &mode, &mut field);
            let start: Vec<f64> = field.iter().map(|f| -HALF * f).collect();
            let make = || {
                Integrator::new(table.clone())
                    .expect("states")
                    .first_step(2.0 * HALF)
            };
            let mut all = ways(
                corner.name(),
                make,
                std::slice::from_ref(&start),
                2.0 * HALF,
                &[1],
            );
            let mut integrator = make();
            let whole = move || {
                let d = integrator.derivative(&Start::at(0.0).x(&start), 2.0 * HALF);
                black_box(d.expect("good input").verdict());
            };
            all.ways.push(("whole derivative".into(), Box::new(whole)));
            // The same runs beyond the corner: what is left is the corner.
            let crossed: Vec<usize> = (0..guards).collect();
            let mode = saltation::Mode::with(guards, &crossed);
            table.flow(0.0, &vec![0.0; dim], &mode, &mut field);
            let beyond: Vec<f64> = field.iter().map(|f| HALF * f).collect();
            let rest = ways(String::new(), make, &[beyond], 2.0 * HALF, &[1]);
            all.ways.extend(
                rest.ways
                    .into_iter()
                    .map(|(name, run)| (format!("{name}, beyond"), run)),
            );
            all
        })
        .collect()
}

fn ways<S, B, X>(
    name: String,
    make: impl Fn() -> Integrator<S, B>,
    starts: &[X],
    tf: f64,
    counts: &[usize],
) -> Group
where
    S: Flow + EventFunction + 'static,
    B: saltation::ode::Buffer + 'static,
    X: AsRef<[f64]> + Clone + 'static,
{
    let mut ways: Vec<(String, Box<dyn FnMut()>)> = Vec::new();
    let (mut integrator, plain) = (make(), starts.to_vec());
    let run = move || {
        for start in &plain {
            let summary = integrator.observe(&Start::at(0.0).x(start.as_ref()), tf, &mut ());
            black_box(summary.expect("good input"));
        }
    };
    ways.push(("plain".into(), Box::new(run)));
    for &count in counts {
        let (mut integrator, starts) = (make(), starts.to_vec());
        let dim = integrator.system().dim();
        let mut tangents = Sensitivities::new(dim, count);
        let directions: Vec<_> = (0..dim * count).map(super::draw).collect();
        tangents.set(&directions).expect("sizes fit");
        let run = move || {
            for start in &starts {
                let start = start.as_ref();
                let summary =
                    integrator.carry(&Start::at(0.0).x(start), tf, &mut tangents, &mut ());
                black_box(summary.expect("good input"));
                black_box(tangents.columns().expect("a derivative")[(0, 0)]);
            }
        };
        ways.push((format!("{count} directions"), Box::new(run)));
    }
    Group { name, ways }
}
