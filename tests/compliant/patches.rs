//! Pressure patches: many contacts between the same bodies, each with its own stiffness and gap
//! (spec 13.2).

use saltation::compliant::{ContactLaw, Problem, Region, Softness, Solver};
use saltation::mechanics::{ContactParameters, MechanicalSystem, UnilateralConstraints};
use saltation::{Compliant, Start};

/// A square plate in the plane, `q = (height, tilt)`, on an elastic ground that is cut into
/// `n × n` squares.
#[derive(Clone, Copy, Debug)]
struct Plate {
    squares: usize,
    edge: f64,
    mass: f64,
    /// Stiffness of the whole patch (N/m).
    stiffness: f64,
    load: f64,
    torque: f64,
}

impl Plate {
    fn on(squares: usize) -> Self {
        Self {
            squares,
            edge: 0.2,
            mass: 2.0,
            stiffness: 1e5,
            load: 50.0,
            torque: 1.5,
        }
    }

    /// The place of the middle of a square along the direction of the tilt.
    fn arm(&self, j: usize) -> f64 {
        let n = self.squares as f64;
        (((j % self.squares) as f64 + 0.5) / n - 0.5) * self.edge
    }

    /// Height and tilt at rest, and the impulses of the last step.
    fn rest(self) -> (Vec<f64>, Vec<[f64; 3]>) {
        let mut softness = Softness::default();
        softness.near_rigid = 0.0;
        let stepper = Compliant::new(self).expect("a plate").softness(softness);
        let mut stepper = stepper.solver(Solver::new().rtol(1e-12));
        let run = stepper.integrate(&Start::at(0.0).q(&[0.0; 2]).v(&[0.0; 2]), 0.6);
        let run = run.expect("input").completed().expect("completed");
        (
            run.state().as_slice().to_vec(),
            stepper.solution().impulses().to_vec(),
        )
    }
}

impl MechanicalSystem for Plate {
    fn dof(&self) -> usize {
        2
    }

    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[self.mass, 0.0, 0.0, self.mass * self.edge.powi(2) / 12.0]);
    }

    fn constant_mass(&self) -> bool {
        true
    }

    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[-self.load, self.torque]);
    }
}

impl UnilateralConstraints for Plate {
    fn contacts(&self) -> usize {
        self.squares * self.squares
    }

    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[0] + q[1] * self.arm(j)
    }

    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[1.0, self.arm(j)]);
        true
    }

    fn stiffness(&self, _j: usize) -> f64 {
        self.stiffness / self.contacts() as f64
    }

    fn dissipation_time(&self, _j: usize) -> f64 {
        0.02
    }
}

/// A plate on 400 squares sinks as on one contact with the stiffness of all, and tilts against
/// `k a²/12 (1 − 1/n²)`: the moment of the squares, which tends to that of the field.
#[test]
fn a_plate_on_a_patch_rests_like_on_a_field() {
    for n in [2, 5, 20] {
        let plate = Plate::on(n);
        let (state, impulses) = plate.rest();
        assert!(
            (state[0] / (-50.0 / 1e5) - 1.0).abs() < 1e-9,
            "{n}: {state:?}"
        );
        let squares = (n * n) as f64;
        let turning = 1e5 * 0.04 / 12.0 * (1.0 - 1.0 / squares);
        assert!(
            (state[1] / (1.5 / turning) - 1.0).abs() < 1e-9,
            "{n}: {state:?}"
        );
        // All squares are pressed, as the formulas ask.
        assert!(impulses.len() == n * n && impulses.iter().all(|p| p[0] > 0.0));
        let sum: f64 = impulses.iter().map(|p| p[0]).sum();
        let moment: f64 = (0..n * n).map(|j| plate.arm(j) * impulses[j][0]).sum();
        assert!((sum / 0.01 - 50.0).abs() < 1e-8 && (moment / 0.01 + 1.5).abs() < 1e-8);
    }
}

/// Tilted until it lifts off on one side, the plate rests on a triangle of pressure: height and
/// tilt tend to those of the field with the square of the size of the squares.
#[test]
fn a_patch_that_lifts_off_converges_to_the_field() {
    // The wet part has the length c = 3 (a/2 − T/F) and the tilt 2 F a/(k c²).
    let (a, k, load) = (0.2, 1e5, 50.0);
    let torque = 0.6 * load * a / 2.0;
    let wet = 3.0 * (0.5 * a - torque / load);
    let tilt = 2.0 * load * a / (k * wet * wet);
    let error = |n: usize| {
        let plate = Plate {
            torque,
            ..Plate::on(n)
        };
        let (state, impulses) = plate.rest();
        assert!(impulses.iter().any(|p| p[0] == 0.0) || impulses.len() < n * n);
        state[1] / tilt - 1.0
    };
    // With the edge of the wet part between squares, and m squares along it: 1/(m² − 1).
    for (n, m) in [(10, 6.0), (20, 12.0)] {
        let expected = 1.0 / (m * m - 1.0);
        assert!(
            (error(n) / expected - 1.0).abs() < 1e-6,
            "{n}: {:e}",
            error(n)
        );
    }
}

/// A particle on many contacts with a share of the stiffness each moves as on one with all of it,
/// with friction too: the softness of stiction is scaled alike.
#[test]
fn many_contacts_are_one_in_sum() {
    for (free, region) in [
        ([0.03, -0.01, -0.5], Region::Stiction),
        ([0.9, -0.4, -0.5], Region::Sliding),
        ([0.3, -0.1, 0.5], Region::NoContact),
    ] {
        let solve = |count: usize| {
            let mut problem = Problem::new(0.01).expect("a problem");
            let mass = [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0];
            problem.add_tree(&mass, &free).expect("a tree");
            let rows = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
            for i in 0..count {
                let mut contact = ContactParameters::new(i, -1e-3);
                (contact.stiffness, contact.friction) = (1e4 / count as f64, 0.4);
                contact.dissipation_time = 0.02;
                contact.near_rigid = Some(0.0);
                contact.stiction = Some(1e-3 * count as f64);
                problem
                    .add_contact(&contact, &[(0, &rows)])
                    .expect("a contact");
            }
            let mut solver = Solver::new().rtol(1e-12);
            let solution = solver.solve(&problem, &[0.0; 3]).expect("input");
            assert!(solution.regions().iter().all(|&found| found == region));
            let mut sum = [0.0; 3];
            for impulse in solution.impulses() {
                for (sum, part) in sum.iter_mut().zip(impulse) {
                    *sum += part;
                }
            }
            (solution.v().to_vec(), sum)
        };
        let ((v, sum), (one_v, one)) = (solve(400), solve(1));
        for (many, one) in v.iter().chain(&sum).zip(one_v.iter().chain(&one)) {
            assert!((many - one).abs() < 1e-11, "{many} {one}");
        }
    }
}

/// A contact given by its elastic force at the start of the step has the gap `−f/k`.
#[test]
fn an_elastic_force_is_a_gap() {
    let (force, stiffness, time, dt) = (7.0, 2e4, 0.03, 0.01);
    let mut problem = Problem::new(dt).expect("a problem");
    problem.add_tree(&[2.0], &[0.0]).expect("a tree");
    let mut contact = ContactParameters::new(0, -force / stiffness);
    (contact.stiffness, contact.dissipation_time) = (stiffness, time);
    contact.near_rigid = Some(0.0);
    problem
        .add_contact(&contact, &[(0, &[1.0])])
        .expect("a contact");
    let law: &ContactLaw = problem.law(0).expect("a contact");
    let target = force / (stiffness * (dt + time));
    assert!((law.stabilisation / target - 1.0).abs() < 1e-15);
    // At rest the impulse is that of the force.
    let impulse = law.evaluate(&[0.0; 3]).impulse[0];
    assert!((impulse / (dt * force) - 1.0).abs() < 1e-14);
}
