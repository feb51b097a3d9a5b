//! Many runs on several threads: each thread makes a driver once and observes its runs, which keep
//! nothing.

use std::thread;

use saltation::models::SoftTrot;
use saltation::prelude::*;
use saltation::{Observer, Segment};

/// The state at the end of the last step.
#[derive(Default)]
struct Last(Vec<f64>);

impl Observer for Last {
    fn segment(&mut self, segment: &Segment<'_>) {
        self.0.clear();
        self.0.extend_from_slice(segment.state);
    }
}

/// The pitch rate at 0.65 s of drops from each of these pitches (rad).
fn pitch_rates(pitches: &[f64]) -> Result<Vec<f64>, Error> {
    let model = ContactModel::new(SoftTrot::default());
    let mut driver = EventDriven::new(model)?.rtol(1e-8);
    let mut last = Last::default();
    let run = |&pitch: &f64| {
        let (q, v) = SoftTrot::default().start(pitch);
        driver.observe(&Start::at(0.0).q(&q).v(&v), 0.65, &mut last)?;
        Ok(last.0[5])
    };
    pitches.iter().map(run).collect()
}

fn main() -> Result<(), Error> {
    let pitches: Vec<f64> = (-200..=200).map(|k| 1e-3 * f64::from(k)).collect();
    let found: Vec<_> = thread::scope(|scope| {
        let parts = pitches.chunks(pitches.len().div_ceil(4));
        let threads: Vec<_> = parts
            .map(|part| scope.spawn(|| pitch_rates(part)))
            .collect();
        threads
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect()
    });
    for part in found {
        let rates = part.expect("no thread panicked")?;
        println!(
            "{} runs: {:.4?} to {:.4?} rad/s",
            rates.len(),
            rates[0],
            rates[rates.len() - 1]
        );
    }
    Ok(())
}
