//! Friction that lags a step (spec 13.3).

use nalgebra::DVector;
use saltation::InputError;
use saltation::compliant::{Problem, Region, Softness, Solver};
use saltation::mechanics::ContactParameters;

use crate::random::SplitMix64;
use crate::random_problems::{Kind, Sample};

const G: f64 = 9.81;

/// A point mass of 1 kg on an incline: x down the slope, y across, z off the surface.
struct Block {
    ground: ContactParameters,
    angle: f64,
    dt: f64,
    slip: Option<f64>,
    position: [f64; 3],
    v: [f64; 3],
    problem: Problem,
    solver: Solver,
    region: Region,
}

impl Block {
    fn new(angle: f64, friction: f64, stiffness: f64, slip: Option<f64>) -> Self {
        let mut ground = ContactParameters::new(0, 0.0);
        (ground.friction, ground.stiffness) = (friction, stiffness);
        ground.dissipation_time = 0.01;
        Self {
            ground,
            angle,
            dt: 0.01,
            slip,
            position: [0.0; 3],
            v: [0.0; 3],
            problem: Problem::new(0.01).expect("dt"),
            solver: Solver::new().rtol(1e-12),
            region: Region::NoContact,
        }
    }

    fn step(&mut self) {
        let (sin, cos) = self.angle.sin_cos();
        let free = [
            self.v[0] + self.dt * G * sin,
            self.v[1],
            self.v[2] - self.dt * G * cos,
        ];
        self.problem
            .reset(self.dt, Softness::default())
            .expect("reset");
        let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let tree = self.problem.add_tree(&identity, &free).expect("tree");
        self.ground.gap = self.position[2];
        let rows = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        self.problem
            .add_contact(&self.ground, &[(tree, &rows)])
            .expect("contact");
        if let Some(slip) = self.slip {
            self.problem.lag_friction(&self.v, slip).expect("lagged");
        }
        let solution = self.solver.solve(&self.problem, &self.v).expect("solved");
        assert!(solution.is_converged());
        self.region = solution.regions()[0];
        self.v.copy_from_slice(solution.v());
        for (x, v) in self.position.iter_mut().zip(self.v) {
            *x += self.dt * v;
        }
    }

    /// `R_n`, and the weight on the surface.
    fn normal(&self) -> (f64, f64) {
        (
            self.problem.law(0).expect("ground").normal,
            G * self.angle.cos(),
        )
    }
}

#[test]
fn a_sliding_block_glides_with_the_cone_and_not_with_lagged_friction() {
    // At the angle of friction the speed stays constant. The depth of the cone is 10.4 of the spec.
    for (stiffness, depth) in [(1e5, 9.91200339945e-3), (1e12, 9.97408274909e-3)] {
        let mut gliding = Block::new(0.5_f64.atan(), 0.5, stiffness, None);
        let mut lagged = Block::new(0.5_f64.atan(), 0.5, stiffness, Some(1e-4));
        for block in [&mut gliding, &mut lagged] {
            block.v[0] = 1.0;
            (0..300).for_each(|_| block.step());
            assert_eq!(block.region, Region::Sliding);
        }
        // The speed of the cone settles a little off 1 m/s while the cushion forms; it glides
        // (dt + τ) μ |v_t| above the depth at rest.
        let (normal, weight) = gliding.normal();
        let tangential = gliding.problem.law(0).expect("ground").tangential;
        let rest = normal * 0.02 * weight * 0.01;
        let cushion = 0.02 * 0.5 * gliding.v[0] - rest * (1.0 + 0.25 * tangential / normal);
        assert!((gliding.position[2] - cushion).abs() < 1e-9 * depth);
        assert!((gliding.position[2] - depth).abs() < 0.05 * depth);
        // Lagged friction: the depth at rest.
        let (normal, weight) = lagged.normal();
        let rest = normal * 0.02 * weight * 0.01;
        assert!(
            (lagged.position[2] + rest).abs() < 1e-9 * rest,
            "{}",
            lagged.position[2]
        );
        assert!(lagged.position[2] < 0.0 && gliding.position[2] > 0.009);
    }
}

#[test]
fn a_sliding_block_is_braked_by_the_friction_of_its_weight() {
    let mut block = Block::new(0.0, 0.3, 1e5, Some(1e-4));
    block.position[2] = -G / 1e5;
    block.v = [0.6, 0.8, 0.0];
    for _ in 0..20 {
        block.step();
    }
    // Slips of 0.4 m/s and more: friction lacks at most (ε/q)²/2 = 3e-8 of its bound.
    let speed = block.v[0].hypot(block.v[1]);
    assert!((speed - (1.0 - 0.2 * 0.3 * G)).abs() < 1e-7, "{speed}");
    assert!((block.v[1] / block.v[0] - 0.8 / 0.6).abs() < 1e-9);
    for _ in 0..60 {
        block.step();
    }
    assert_eq!(block.region, Region::Stiction);
    assert!(block.v[0].hypot(block.v[1]) < 1e-6);
}

#[test]
fn a_sticking_block_creeps_where_friction_balances_its_weight() {
    for slip in [1e-4, 1e-9] {
        let (angle, friction) = (0.5_f64.atan(), 0.8);
        let mut block = Block::new(angle, friction, 1e5, Some(slip));
        block.position[2] = -G * angle.cos() / 1e5;
        for _ in 0..200 {
            block.step();
        }
        assert_eq!(block.region, Region::Stiction);
        let bound = friction * G * angle.cos() * 0.01;
        let tangential = block.problem.law(0).expect("ground").tangential;
        let eps = slip.max(tangential * bound);
        let part = angle.tan() / friction;
        let creep = eps * part / (1.0 - part * part).sqrt();
        assert!(
            (block.v[0] - creep).abs() < 1e-9 * creep,
            "{} {creep}",
            block.v[0]
        );
    }
}

#[test]
fn solutions_are_minima_of_the_lagged_cost() {
    let mut draw = SplitMix64(21);
    for stiffness in [(2.0, 7.0), (11.0, 12.0)] {
        let kind = Kind {
            stiffness,
            ..Kind::default()
        };
        for _ in 0..60 {
            let mut sample = Sample::draw(&mut draw, &kind);
            let v0 = sample.guess.clone();
            sample.lagged = Some((v0, 10f64.powf(draw.between(-5.0, 0.0))));
            let mut solver = Solver::new().rtol(1e-11).history(true);
            let solution = solver
                .solve(&sample.build(), &sample.guess)
                .expect("solved");
            assert!(solution.is_converged());
            for island in solution.islands() {
                let falls = |pair: &[f64]| pair[1] <= pair[0] * (1.0 + 1e-14);
                assert!(island.costs.windows(2).all(falls), "{island:?}");
            }
            let dense = sample.dense();
            let v = DVector::from_column_slice(solution.v());
            let (cost, gradient) = dense.cost(&v);
            assert!((solution.cost() - cost).abs() < 1e-11 * cost);
            let scale = 1.0 + (&dense.a * &v).norm();
            assert!(gradient.norm() < 1e-7 * scale, "{:e}", gradient.norm());
            assert!(solution.complementarity_error() < 1e-12);
            // The cost is convex: no other point is cheaper.
            for _ in 0..10 {
                let by = 10f64.powf(draw.between(-4.0, 0.0));
                let other = v.map(|v| v + by * draw.between(-1.0, 1.0));
                assert!(dense.cost(&other).0 >= cost * (1.0 - 1e-13));
            }
        }
    }
}

#[test]
fn bad_start_velocities_and_slips_are_refused() {
    let sample = Sample::draw(&mut SplitMix64(22), &Kind::default());
    let mut problem = sample.build();
    let n = sample.dof();
    assert!(matches!(
        problem.lag_friction(&vec![0.0; n + 1], 1e-4),
        Err(InputError::WrongLength { .. })
    ));
    let mut v0 = vec![0.0; n];
    v0[n - 1] = f64::NAN;
    assert!(matches!(
        problem.lag_friction(&v0, 1e-4),
        Err(InputError::NotFinite { entry, .. }) if entry == n - 1
    ));
    for slip in [0.0, -1.0, 1e-13, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            problem.lag_friction(&vec![0.0; n], slip),
            Err(InputError::BadSetting { .. })
        ));
    }
}
