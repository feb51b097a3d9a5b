//! Bodies that turn about a corner that sticks.

use saltation::impact::AnitescuPotra;
use saltation::models::RockingBlock;
use saltation::{ContactModel, Start, Variational};

/// The tilt and its rate of a block that turns about a corner, by the equation of the pendulum that
/// it is, with steps of the fourth order.
fn turned(block: RockingBlock, tilt: f64, rate: f64, time: f64) -> (f64, f64) {
    let square = block.width.powi(2) + block.height.powi(2);
    let inertia = square / 12.0 + square / 4.0;
    let bent = |tilt: f64| {
        let lever = 0.5 * (block.width * tilt.cos() - block.height * tilt.sin());
        -block.gravity * lever / inertia
    };
    let (mut x, mut v, steps) = (tilt, rate, 10_000);
    let h = time / f64::from(steps);
    for _ in 0..steps {
        let (k1, l1) = (v, bent(x));
        let (k2, l2) = (v + 0.5 * h * l1, bent(x + 0.5 * h * k1));
        let (k3, l3) = (v + 0.5 * h * l2, bent(x + 0.5 * h * k2));
        let (k4, l4) = (v + h * l3, bent(x + h * k3));
        x += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        v += h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
    }
    (x, v)
}

/// A body that turns about a corner that sticks: the rows of the corner turn with it.
#[test]
fn a_block_turns_about_a_sticking_corner_to_second_order() {
    let block = RockingBlock {
        friction: 3.0,
        ..RockingBlock::default()
    };
    let (q, v) = block.pivoting(0.3, 0.7);
    let (tilt, rate) = turned(block, 0.3, 0.7, 0.4);
    let (there, speeds) = block.pivoting(tilt, rate);
    let exact = [there, speeds].concat();
    let error = |h: f64| {
        let model = ContactModel::with_law(block, AnitescuPotra::new());
        let mut driver = Variational::new(model).expect("a block").time_step(h);
        let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), 0.4);
        let run = run.expect("input").completed().expect("no impact");
        assert!(run.events().is_empty());
        let off = run.state().iter().zip(&exact).map(|(x, y)| (x - y).abs());
        off.fold(0.0, f64::max)
    };
    let errors = [0.02, 0.01, 0.005, 0.0025].map(error);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 2.0).abs() < 0.1, "{order} {errors:?}");
    }
}
