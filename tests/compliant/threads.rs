//! Results do not depend on the number of threads.

use saltation::bodies::{Body, Scene, Shape};
use saltation::compliant::Solver;
use saltation::{Compliant, Start};

#[test]
fn threads_change_no_bit() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).expect("ground");
    let cube = Shape::cuboid([0.05; 3]).expect("cube");
    for i in 0..5 {
        for k in 0..3 {
            let at = [
                0.4 * f64::from(i),
                0.01 * f64::from(k * i),
                0.06 + 0.13 * f64::from(k),
            ];
            let body = Body::new(cube.clone())
                .spinning_friction(2e-3 * f64::from(k))
                .rolling_friction(1e-3 * f64::from(i));
            let turned = [1.0, 0.05 * f64::from(i), 0.02, 0.1];
            scene
                .add(body.position(at).orientation(turned))
                .expect("body");
        }
    }
    let (q, v) = scene.start();
    let end = |threads: usize| {
        let solver = Solver::new().threads(threads);
        let stepper = Compliant::new(scene.clone()).expect("a system");
        let mut stepper = stepper.time_step(0.01).solver(solver);
        let run = stepper
            .integrate(&Start::at(0.0).q(&q).v(&v), 0.3)
            .expect("input");
        let run = run.completed().expect("completed");
        let counts = *stepper.statistics();
        // Several islands, with work in them.
        assert!(counts.islands > 3 * counts.steps);
        assert!(counts.iterations > counts.steps);
        let bits: Vec<u64> = run.state().iter().map(|x| x.to_bits()).collect();
        (bits, counts)
    };
    let one = end(1);
    for threads in [2, 8] {
        assert_eq!(end(threads), one, "{threads} threads");
    }
}
