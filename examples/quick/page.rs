//! A run as a page for a browser: what the model draws of itself, forces as arrows, events on a time
//! line, plots of the state.

use std::fs::File;

use saltation::Page;
use saltation::models::BouncingBall;
use saltation::prelude::*;

const RADIUS: f64 = 0.1; // m; the state is the height of the lowest point, and its rate

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ball = BouncingBall {
        restitution: 0.6,
        ..BouncingBall::default()
    };
    let model = ContactModel::new(ball);
    let mut driver = EventDriven::new(model.clone())?.zeno(Zeno::Absorb);
    let run = driver.integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 3.0)?;
    let page = Page::new(&run, 60.0)?
        .title("A ball that bounces, and comes to rest")
        .names(&["height [m]", "speed [m/s]"])?
        .drawn(|t, state, pen| {
            // Metres, z up; a line that ends where it began is filled.
            let middle = state[0] + RADIUS;
            let rim = (0..=32).map(|k| f64::from(k % 32) * std::f64::consts::TAU / 32.0);
            let rim = rim.map(|angle| [RADIUS * angle.cos(), 0.0, middle + RADIUS * angle.sin()]);
            pen.line(&rim.collect::<Vec<_>>());
            pen.line(&[[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]]); // the floor
            pen.force([0.0, 0.0, middle], [0.0, 0.0, -ball.mass * ball.gravity]);
            if let Ok(mode) = run.mode_at(t) {
                let push = model.multipliers(t, state, mode).values()[0]; // 0 in flight
                pen.force([0.0, 0.0, 0.0], [0.0, 0.0, push]);
            }
        })?;
    let file = std::env::temp_dir().join("saltation_ball.html");
    page.write_html(File::create(&file)?)?;
    println!("wrote {}: open it in a browser", file.display());
    Ok(())
}
