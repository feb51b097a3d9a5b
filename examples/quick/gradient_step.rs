//! How the end of a run depends on its start, through two contacts at one instant, and one step of
//! descent with that.

use saltation::models::{PlateParameters, VerticalPlate};
use saltation::prelude::*;

fn main() -> Result<(), Error> {
    // A plate lands level on two springs; the order in which they are touched matters.
    let mut plate = PlateParameters::with_springs(2);
    plate.shared_damping = true;
    let mut driver = Integrator::new(VerticalPlate::new(plate)?)?.rtol(1e-10);
    let mut x0 = [0.0, 2.2, 0.0, 0.0, 0.0, 0.0]; // x, z, pitch, and their rates

    let d = driver.derivative(&Start::at(0.0).x(&x0), 0.6)?;
    println!("{:?}", d.verdict()); // Bouligand: continuous, and linear piece by piece
    let along = d.apply(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0])?;
    println!("vertical velocity by pitch: {:.6}", along[4]);
    if let Err(reason) = d.matrix() {
        println!("no matrix: {reason}");
    }

    // To end at 2.5 m/s: a step along the gradient, as long as that asks for to first order.
    let miss = 2.5 - d.run().state()[4];
    for piece in d.pieces()? {
        let gradient = piece.vjp(&[0.0, 0.0, 0.0, 0.0, 1.0, 0.0])?;
        let step = miss / gradient.norm_squared() * &gradient;
        // A gradient holds within its piece: take one whose step stays there.
        if piece.contains(step.as_slice()) {
            x0.iter_mut().zip(&step).for_each(|(x, by)| *x += by);
            break;
        }
    }
    let end = driver.integrate(&Start::at(0.0).x(&x0), 0.6)?.completed()?;
    println!(
        "miss {miss:+.4}, after the step {:+.4} m/s",
        2.5 - end.state()[4]
    );
    Ok(())
}
