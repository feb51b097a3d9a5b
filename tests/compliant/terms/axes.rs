//! Limits, dry friction and couplings of axes against closed forms of the discrete steps.

use saltation::Start;
use std::f64::consts::PI;

use saltation::InputError;
use saltation::compliant::{
    Axis, Compliance, JointCoupling, JointFriction, JointLimit, Problem, StepFriction, StepState,
    StepTerm,
};
use saltation::mechanics::ContactParameters;

use super::systems::Sliders;

const DT: f64 = 0.01;

/// The least regularisation of a constraint with the response `w`.
pub(super) fn least(response: f64) -> f64 {
    0.01 / (4.0 * PI * PI) * response
}

/// A stop at rest under a load gives way by `R dt (dt + τ) F`: `F/k`, or the near-rigid depth.
#[test]
fn a_stop_gives_way_by_its_regularisation() {
    let (mass, load) = (2.0, 30.0);
    for (stiffness, time, expected) in [
        (1e4, 0.0, load / 1e4),
        (1e4, 0.02, load / 1e4),
        (f64::INFINITY, 0.0, least(1.0 / mass) * DT * DT * load),
        (f64::INFINITY, 0.02, least(1.0 / mass) * DT * 0.03 * load),
    ] {
        for (sign, lower, upper) in [(1.0, f64::NEG_INFINITY, 0.3), (-1.0, -0.3, 5.0)] {
            let compliance = Compliance {
                stiffness,
                dissipation_time: time,
                ..Compliance::default()
            };
            let stop = JointLimit::new(0, lower, upper).compliance(compliance);
            let mut stepper = Sliders::new(&[mass], &[sign * load]).with(DT, stop);
            let run = stepper
                .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 3.0)
                .expect("input");
            let run = run.completed().expect("completed");
            let depth = sign * run.state()[0] - 0.3;
            assert!(
                (depth / expected - 1.0).abs() < 1e-9,
                "{depth:e} {expected:e}"
            );
            let impulses = stepper.solution().row_impulses();
            assert_eq!(impulses.len(), if sign > 0.0 { 1 } else { 2 });
            assert!((impulses[0] - DT * load).abs() < 1e-12);
            assert!(impulses[1..].iter().all(|p| p.abs() <= 0.0));
        }
    }
}

/// Between its limits a joint moves as without them, bit for bit.
#[test]
fn a_stop_out_of_reach_changes_nothing() {
    let slider = || Sliders::new(&[2.0], &[1.0]);
    let run = |stepper: &mut saltation::compliant::Compliant<Sliders>| {
        let run = stepper
            .integrate(&Start::at(0.0).q(&[0.1]).v(&[0.7]), 1.0)
            .expect("input");
        run.completed().expect("completed").state().clone()
    };
    let free = run(&mut slider().stepper(DT));
    let stop = JointLimit::new(0, -10.0, 10.0);
    assert_eq!(run(&mut slider().with(DT, stop)), free);
}

/// An end stop takes a blow without pulling, and without giving energy.
#[test]
fn a_blow_on_a_stop_is_plastic() {
    let stop = JointLimit::new(0, f64::NEG_INFINITY, 1.0);
    let mut stepper = Sliders::new(&[2.0], &[0.0]).with(DT, stop);
    let run = stepper
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[3.0]), 1.0)
        .expect("input");
    let run = run.completed().expect("completed");
    // What is left of the speed is of the order of R/w.
    let left = 3.0 * 0.01 / (4.0 * PI * PI);
    let struck = (0..run.times().len()).find(|&k| run.v(k)[0].abs() < 0.5);
    let struck = struck.expect("a blow");
    assert_eq!(struck, 35);
    for k in 0..run.times().len() {
        assert!(run.q(k)[0] < 1.0 + left * DT);
        let most = if k < struck { 3.0 } else { left };
        assert!(run.v(k)[0].abs() <= most, "{k}: {}", run.v(k)[0]);
    }
}

/// Below its greatest effort a joint creeps by `σ w dt F` exactly; above, it decelerates exactly.
#[test]
fn dry_friction_holds_and_slides() {
    let (mass, friction) = (2.0, 5.0);
    let term = JointFriction::new(0, friction);
    let mut held = Sliders::new(&[mass], &[3.0]).with(DT, term.clone());
    let run = held
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 0.5)
        .expect("input");
    let creep = 1e-3 / mass * DT * 3.0;
    let run = run.completed().expect("completed");
    // The creep settles by the factor σ/(1 + σ) a step.
    assert!((run.state()[1] / creep - 1.0).abs() < 1e-9);

    let mut sliding = Sliders::new(&[mass], &[3.0]).with(DT, term.clone());
    let run = sliding
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[4.0]), 3.9)
        .expect("input");
    let run = run.completed().expect("completed");
    for k in 0..run.times().len() {
        let exact = 4.0 - run.times()[k] * (friction - 3.0) / mass;
        assert!((run.v(k)[0] - exact).abs() < 1e-12, "{k}");
    }
    let softer = term.stiction(0.1);
    let mut held = Sliders::new(&[mass], &[-3.0]).with(DT, softer);
    let run = held
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 0.5)
        .expect("input");
    let creep = -0.1 / mass * DT * 3.0;
    assert!((run.completed().expect("completed").state()[1] / creep - 1.0).abs() < 1e-9);
}

/// Without load, friction brings a joint to rest at the distance `m v²/2 τ_c`, to the order of a
/// step.
#[test]
fn dry_friction_stops_a_slider() {
    let mut stepper = Sliders::new(&[2.0], &[0.0]).with(DT, JointFriction::new(0, 5.0));
    let run = stepper
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[1.0]), 2.0)
        .expect("input");
    let run = run.completed().expect("completed");
    assert!((run.state()[0] - 0.2).abs() <= 0.5 * DT + 1e-12);
    assert!(run.state()[1].abs() < 1e-13);
}

/// Two sliders of two trees as gears: the load of one moves both, with the inertia of both.
#[test]
fn gears_share_loads_and_inertia() {
    let (masses, loads) = ([2.0, 5.0], [12.0, -3.0]);
    let gear = JointCoupling::new(&[(0, 1.0), (1, -3.0)], 0.6);
    let mut stepper = Sliders::new(&masses, &loads).with(DT, gear);
    let run = stepper.integrate(&Start::at(0.0).q(&[0.6, 0.0]).v(&[0.0; 2]), 1.0);
    let run = run.expect("input").completed().expect("completed");
    // q0 = 3 q1 + 0.6: (9 m0 + m1) a1 = 3 F0 + F1.
    let rate = (3.0 * loads[0] + loads[1]) / (9.0 * masses[0] + masses[1]);
    let late = run.times().len() - 1;
    let found =
        (run.v(late)[1] - run.v(late - 20)[1]) / (run.times()[late] - run.times()[late - 20]);
    assert!((found / rate - 1.0).abs() < 1e-9, "{found} {rate}");
    // The force on slider 0 that the gear transmits, and the deviation it causes.
    let force = masses[0] * 3.0 * rate - loads[0];
    // As for two like the one that responds less.
    let response = 2.0 * f64::min(1.0 / masses[0], 9.0 / masses[1]);
    let deviation = run.q(late)[0] - 3.0 * run.q(late)[1] - 0.6;
    let expected = -least(response) * DT * DT * force;
    assert!((deviation / expected - 1.0).abs() < 1e-6, "{deviation:e}");
    assert!((stepper.solution().row_impulses()[0] - DT * force).abs() < 1e-9);
    assert_eq!(stepper.solution().islands().len(), 1);
}

/// A coordinate that starts beside its value comes to it within a step, or decays by
/// `τ/(dt + τ)` a step.
#[test]
fn deviations_decay_by_the_dissipation_time() {
    for time in [0.0, 0.03] {
        let compliance = Compliance {
            dissipation_time: time,
            ..Compliance::default()
        };
        let axis = Axis::from(0);
        let held = JointCoupling::new(&[(axis, 2.0)], 1.0).compliance(compliance);
        let mut stepper = Sliders::new(&[3.0], &[0.0]).with(DT, held);
        let run = stepper
            .integrate(&Start::at(0.0).q(&[0.7]).v(&[0.0]), 0.2)
            .expect("input");
        let run = run.completed().expect("completed");
        // With ε = R/w: ċ = (ε ċ₀ − c₀/(dt + τ))/(1 + ε) for the form c.
        let ratio = 0.01 / (4.0 * PI * PI);
        for k in 1..run.times().len() {
            let [form, rate] = [2.0 * run.q(k - 1)[0] - 1.0, 2.0 * run.v(k - 1)[0]];
            let rate = (ratio * rate - form / (DT + time)) / (1.0 + ratio);
            let expected = form + DT * rate;
            let found = 2.0 * run.q(k)[0] - 1.0;
            assert!((found - expected).abs() < 1e-13, "{k}: {found:e}");
        }
        let last = run.state()[0] - 0.5;
        assert!(last.abs() < 1e-2 * 0.2);
    }
}

/// Terms join trees to islands, and leave the others alone.
#[test]
fn terms_join_islands() {
    let sliders = || Sliders::new(&[1.0; 5], &[1.0; 5]);
    let count = |mut stepper: saltation::compliant::Compliant<Sliders>| {
        stepper
            .start(&Start::at(0.0).q(&[0.0; 5]).v(&[0.0; 5]))
            .expect("start");
        stepper.step().expect("a step");
        let islands = stepper.solution().islands();
        islands
            .iter()
            .map(|i| (i.trees, i.rows))
            .collect::<Vec<_>>()
    };
    let gear = |a: usize, b: usize| JointCoupling::new(&[(a, 1.0), (b, 1.0)], 0.0);
    assert_eq!(count(sliders().stepper(DT)), []);
    assert_eq!(count(sliders().with(DT, gear(0, 3))), [(2, 1)]);
    let two = sliders().with(DT, gear(0, 3)).term(gear(4, 1));
    assert_eq!(count(two), [(2, 1), (2, 1)]);
    let joined = sliders()
        .with(DT, gear(0, 3))
        .term(gear(4, 1))
        .term(gear(3, 4));
    assert_eq!(count(joined), [(4, 3)]);
    let alone = sliders().with(DT, JointLimit::new(2, -1.0, 1.0));
    assert_eq!(count(alone), [(1, 2)]);
}

/// The contact of [`Sliders::pushing`] as a term.
struct Pushing {
    distance: f64,
}

impl StepTerm for Pushing {
    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        let gap = state.q[1] - state.q[0] - self.distance;
        let parameters = ContactParameters::new(0, gap);
        problem.add_contact(&parameters, &[(0, &[-1.0]), (1, &[1.0])])?;
        Ok(())
    }
}

/// A contact that a term adds has the law of the step, as one that the system has: it was the cone in each, which
/// presses before the gap closes.
#[test]
fn a_contact_of_a_term_is_one_of_the_system() {
    let sliders = || Sliders::new(&[1.0, 30.0], &[2.0, -1.0]);
    let start = Start::at(0.0).q(&[0.0, 1.02]).v(&[1.0, 0.0]);
    for law in [
        StepFriction::Coulomb,
        StepFriction::Cone,
        StepFriction::Lagged { slip: 1e-4 },
    ] {
        let of_system = sliders().pushing(0, 1, 1.0).stepper(1e-2);
        let of_term = sliders().with(1e-2, Pushing { distance: 1.0 });
        let [expected, found] = [of_system, of_term].map(|stepper| {
            let mut stepper = stepper.friction(law);
            let run = stepper.integrate(&start, 1.0).unwrap();
            run.completed().unwrap().state().clone()
        });
        assert_eq!(found, expected, "{law:?}");
    }
}
