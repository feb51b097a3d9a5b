//! An observer that reads events as they come and stops the run at a condition.

use saltation::models::BouncingBall;
use saltation::prelude::*;

/// Counts bounces until one is slower than 2 m/s.
#[derive(Default)]
struct Bounces {
    count: usize,
    done: bool,
}

impl Observer for Bounces {
    fn contacts(&mut self, event: &ContactEvent) {
        let speed = event.state_after[1];
        println!("{:.4} s: bounces at {speed:.3} m/s", event.t);
        self.count += 1;
        self.done = speed < 2.0;
    }
    fn is_done(&self) -> bool {
        self.done
    }
}

fn main() -> Result<(), Error> {
    let mut driver = EventDriven::new(ContactModel::new(BouncingBall::default()))?;
    let (start, mut bounces) = (Start::at(0.0).q(&[1.0]).v(&[0.0]), Bounces::default());
    // `observe` keeps nothing but what the observer keeps; `integrate` keeps everything.
    let summary = driver.observe(&start, 10.0, &mut bounces)?;
    println!(
        "{}, {} bounces in {:.4} s",
        summary.status, bounces.count, summary.t
    );
    Ok(())
}
