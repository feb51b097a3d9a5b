//! A control loop, and two efforts tried from one snapshot of it.

use saltation::models::SlidingBlock;
use saltation::prelude::*;

fn main() -> Result<(), Error> {
    // A block of 1 kg on a table with friction; q: its place and its height (m).
    let block = SlidingBlock::default();
    let mut driver = Compliant::new(block)?.time_step(1e-3);
    let start = Start::at(0.0).q(&[0.0, 0.0]).v(&[0.0, 0.0]);

    // The controller reads the state (q, v) every 10 ms and holds an effort until the next reading.
    let mut live = driver.live(&start)?;
    for k in 1..=100 {
        let push = 20.0 * (1.0 - live.state()[2]);
        live.advance(0.01 * f64::from(k), &[push, 0.0])?;
    }
    let contacts: Vec<usize> = live.contacts().collect();
    println!(
        "{:.2} s: state {:.4?}, closed contacts {contacts:?}",
        live.t(),
        live.state()
    );

    // A snapshot holds all that the run goes on with: each effort is tried from the same state.
    let saved = live.snapshot();
    drop(live); // a driver has one live run at a time
    for push in [0.0, 5.0] {
        let mut trial = driver.resume(&saved)?;
        trial.advance(1.5, &[push, 0.0])?;
        println!(
            "{push} N until {:.2} s: state {:.4?}",
            trial.t(),
            trial.state()
        );
    }
    Ok(())
}
