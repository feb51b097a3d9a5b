//! Ensembles of hoppers and of plates, and the same runs in a loop by hand.

use std::hint::black_box;

use saltation::ensemble::{Draw, Ensemble};
use saltation::models::{Hopper, PlateParameters, VerticalPlate};
use saltation::{EventFunction, Flow, Integrator, Start};

/// Rows of one call.
pub(crate) const ROWS: u64 = 2048;

pub(crate) type Call<'a> = Box<dyn FnMut() + 'a>;

/// The same rows: by hand, as an ensemble on one thread, and on two where there are threads.
pub(crate) fn hopper<'a>() -> Vec<Call<'a>> {
    calls::<_, 2>(Hopper::default(), 2.0, |draw| [draw.between(1.5, 2.5), 0.0])
}

/// The plate of ten springs.
pub(crate) fn plate<'a>() -> Vec<Call<'a>> {
    let plate = VerticalPlate::new(PlateParameters::with_springs(10)).expect("good parameters");
    calls::<_, 6>(plate, 1.5, |draw| {
        let (z, tilt) = (draw.between(2.0, 3.0), draw.between(-0.1, 0.1));
        [0.0, z, tilt, 0.0, 0.0, 0.0]
    })
}

fn calls<'a, S, const N: usize>(
    system: S,
    tf: f64,
    start: fn(&mut Draw) -> [f64; N],
) -> Vec<Call<'a>>
where
    S: Flow + EventFunction + Clone + Send + Sync + 'a,
{
    let mut driver = Integrator::new(system.clone()).expect("good input");
    let by_hand = move || {
        let mut values = Vec::with_capacity(2 * N * 2048);
        for index in 0..ROWS {
            let x = start(&mut Draw::new(1, index));
            driver
                .observe(&Start::at(0.0).x(&x), tf, &mut ())
                .expect("good input");
            values.extend_from_slice(&x);
            values.extend_from_slice(driver.state());
        }
        black_box(values);
    };
    let names = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"];
    let ensemble = Ensemble::new(1).draw(&names[..N], start).run(
        &names[N..2 * N],
        move || Ok(Integrator::new(system.clone())?),
        move |driver, drawn, kept| {
            let end = driver.observe(&Start::at(0.0).x(drawn), tf, &mut ())?;
            kept.copy_from_slice(driver.state());
            Ok(end.status)
        },
    );
    let mut calls: Vec<Call<'a>> = vec![Box::new(by_hand)];
    #[cfg(feature = "parallel")]
    for threads in [1, 2] {
        let ensemble = ensemble.clone().threads(threads);
        calls.push(Box::new(move || {
            black_box(ensemble.rows(0..ROWS).expect("good input"));
        }));
    }
    #[cfg(not(feature = "parallel"))]
    calls.push(Box::new(move || {
        black_box(ensemble.rows(0..ROWS).expect("good input"));
    }));
    calls
}
