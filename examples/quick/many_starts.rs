//! Many runs on several threads: an ensemble, which makes a driver for each. With `--features parallel` on all cores.

use saltation::ensemble::{Ensemble, Moments};
use saltation::models::SoftTrot;
use saltation::prelude::*;

/// The pitch rate at 0.65 s of drops from pitches of −0.2 to 0.2 rad.
fn main() -> Result<(), Error> {
    let drops = Ensemble::new(0)
        .draw(&["pitch"], |draw| [1e-3 * draw.index() as f64 - 0.2])
        .run(
            &["rate"],
            || Ok(EventDriven::new(ContactModel::new(SoftTrot::default()))?.rtol(1e-8)),
            |driver, drawn, kept| {
                let (q, v) = SoftTrot::default().start(drawn[0]);
                let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), 0.65)?;
                kept[0] = run.state()[5];
                Ok(run.status().clone())
            },
        );
    let rows = drops.rows(0..401)?;
    for row in rows.iter().step_by(50) {
        println!(
            "{:6.3} rad: {:7.4} rad/s, {}",
            row.values[0],
            row.values[1],
            row.end.name()
        );
    }
    let mut moments = Moments::new(2)?;
    moments.add_rows(&rows)?;
    let deviation = moments.covariance()[(1, 1)].sqrt();
    println!(
        "{} runs: {:.4} ± {deviation:.4} rad/s",
        moments.count(),
        moments.mean()[1]
    );
    Ok(())
}
