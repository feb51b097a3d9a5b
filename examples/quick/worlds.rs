//! A world that changes: balls bounce, pass through each other, come and go.
//!
//! ```text
//! cargo run --release --example worlds
//! ```

use saltation::bodies::{Body, Scene, Shape};
use saltation::{Compliant, Error, Start};

/// Groups of bodies, a bit each.
const GROUND: u32 = 1;
const BALLS: u32 = 2;

fn main() -> Result<(), Error> {
    let mut scene = Scene::new();
    let ground = scene.add(Body::fixed(Shape::plane()).groups(GROUND))?;
    // Balls touch the ground and not each other.
    let ball = Body::new(Shape::sphere(0.1)?)
        .groups(BALLS)
        .touching(GROUND);
    let mut numbers = Vec::new();
    for e in [0.0, 0.4, 0.8] {
        numbers.push(scene.add(ball.clone().restitution(e).position([0.0, 0.0, 0.6]))?);
    }
    let (q, v) = scene.start();
    let mut driver = Compliant::new(scene)?.time_step(1e-3);
    driver.start(&Start::at(0.0).q(&q).v(&v))?;
    let report = |driver: &Compliant<Scene>, numbers: &[usize]| {
        let scene = driver.system();
        let heights = numbers.iter().filter_map(|&body| {
            let height = scene.position(body, driver.q())?.z;
            Some(format!("ball {body} at {height:.3} m"))
        });
        println!(
            "{:.2} s: {}",
            driver.t(),
            heights.collect::<Vec<_>>().join(", ")
        );
    };
    for step in 1..=1200 {
        driver.step()?;
        match step {
            // The first one goes, and another comes: numbers of the others stay.
            600 => {
                driver.remove_body(numbers[0])?;
                let new = ball.clone().restitution(1.0).position([0.0, 0.0, 0.3]);
                numbers.push(driver.add_body(new)?);
            }
            // Without the ground all fall.
            1000 => driver.remove_body(ground)?,
            _ => {}
        }
        if step % 200 == 0 {
            report(&driver, &numbers);
        }
    }
    Ok(())
}
