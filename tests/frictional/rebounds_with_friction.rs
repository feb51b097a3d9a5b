//! Restitution with friction: a ball that skids to rest, a super ball, energy that Newton's law raises;
//! and impacts without collision, by the event-driven driver.
#![allow(clippy::float_cmp, reason = "numbers that are handed on exactly")]

use saltation::event_driven::{Breakdown, ContactEventKind, Zeno};
use saltation::impact::{AnitescuPotra, Contacting, ImpactLaw, ImpactProblem, Moreau, Remark};
use saltation::mechanics::{MechanicalSystem, Painleve, UnilateralConstraints};
use saltation::models::{SlidingBlock, SlidingRod};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{ContactModel, EventDriven, Start};

use crate::reference::Case;
use crate::stick_slip::value;

/// What is left of the slip at the accumulation does not depend on the restitution.
#[test]
fn a_ball_skids_through_an_accumulation_of_impacts_to_rest() {
    let case = "skidding_ball_zeno";
    let of = |quantity: &str| value(case, quantity, "", "");
    let block = SlidingBlock {
        mass: 1.0,
        gravity: 9.81,
        slope: 0.0,
        friction: 0.3,
        restitution: 0.5,
    };
    let model = ContactModel::with_law(block, Moreau::new());
    let mut driver = EventDriven::new(model).unwrap().rtol(1e-10).atol(1e-12);
    let start = Start::at(0.0).q(&[0.0, 1.0]).v(&[5.0, 0.0]);
    // Without a policy the run ends where impacts accumulate, with what it came to.
    let run = driver.integrate(&start, 2.0).unwrap();
    let refused = run.status().reason::<Breakdown>();
    assert!(
        matches!(refused, Some(Breakdown::Zeno { .. })),
        "{refused:?}"
    );
    for (k, event) in run.events().iter().take(4).enumerate() {
        let expected = value(case, "u_after_impact", &(k + 1).to_string(), "");
        assert!((event.state_after[2] - expected).abs() < 1e-9);
    }
    let mut driver = driver.zeno(Zeno::Absorb);
    let run = driver.integrate(&start, 2.0).unwrap().completed().unwrap();
    let events = run.events();
    let rest = events
        .iter()
        .position(|event| event.kind == ContactEventKind::ZenoAbsorbed);
    let rest = rest.unwrap();
    assert!(
        (events[rest].t - of("t_star")).abs() < 1e-9,
        "{}",
        events[rest].t
    );
    let after = &events[rest].state_after;
    assert!((after[2] - of("u_at_t_star")).abs() < 1e-8, "{after:?}");
    assert!((after[0] - of("x_at_t_star")).abs() < 1e-8, "{after:?}");
    // All friction is that of the normal impulse: the weight until then.
    let [normal, along] = events[rest].impulses[..] else {
        panic!("{:?}", events[rest]);
    };
    assert!(normal > 0.0 && (along + 0.3 * normal).abs() < 1e-12);
    let [stop] = &events[rest + 1..] else {
        panic!("{events:?}");
    };
    assert!(
        stop.stuck == [0] && (stop.t - of("t_stop")).abs() < 1e-8,
        "{stop:?}"
    );
    assert!((run.state()[0] - of("x_stop")).abs() < 1e-8);
    assert!(run.state()[2].abs() < 1e-14);
}

/// A sphere of radius 0.025 m between a floor (contact 0) and a ceiling, `(x, y, angle)`.
struct SuperBall;

const RADIUS: f64 = 0.025;

impl MechanicalSystem for SuperBall {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        let inertia = 0.4 * RADIUS * RADIUS;
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, inertia]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
    }
}

impl UnilateralConstraints for SuperBall {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        [q[1] - RADIUS, 0.5 - RADIUS - q[1]][j]
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        1.0
    }
    fn friction(&self, _j: usize) -> f64 {
        10.0
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn constant_tangents(&self, _j: usize) -> bool {
        true
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[[1.0, 0.0, RADIUS], [1.0, 0.0, -RADIUS]][j]);
    }
}

#[test]
fn a_super_ball_thrown_under_a_table_comes_back() {
    let model = ContactModel::with_law(SuperBall, Moreau::new().tangential(1.0));
    let mut driver = EventDriven::new(model).unwrap().rtol(1e-10);
    let start = Start::at(0.0).q(&[0.0, 0.3, 0.0]).v(&[2.0, -4.0, 0.0]);
    let run = driver.integrate(&start, 0.4).unwrap().completed().unwrap();
    assert_eq!(run.events().len(), 3);
    for (k, event) in run.events().iter().enumerate() {
        let row = |quantity: &str| value("super_ball", quantity, &(k + 1).to_string(), "");
        let after = &event.state_after;
        assert!((after[3] - row("vx")).abs() < 1e-10, "{k} {after:?}");
        assert!((after[5] - row("omega")).abs() < 1e-8, "{k} {after:?}");
    }
    let kinetic = driver.model().energy_balance(&run).unwrap().kinetic;
    assert!((kinetic[1] - kinetic[0]).abs() < 1e-12);
}

#[test]
fn newtons_restitution_with_friction_may_raise_the_energy_and_says_so() {
    let rod = SlidingRod {
        friction: 0.5,
        ..SlidingRod::default()
    };
    let (sine, cosine) = 50.0_f64.to_radians().sin_cos();
    // The tip at (−cos, −sin) of the centre: its speeds are u = (−1, 0.65).
    let problem = {
        let rows = DMatrix::from_row_slice(2, 3, &[0.0, 1.0, -cosine, 1.0, 0.0, sine]);
        let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.0, 1.0 / 3.0]));
        let response = mass.try_inverse().unwrap() * rows.transpose();
        let delassus = &rows * response;
        let speeds = DVector::from_vec(vec![-1.0, 0.65]);
        ImpactProblem::with_tangents(delassus, speeds, &[rod.friction]).unwrap()
    };
    let outcome = Moreau::new().outcome(&problem).unwrap();
    let row = |quantity: &str| value("newton_energy_rises", quantity, "", "");
    assert!((outcome.impulses[0] - row("Ln")).abs() < 1e-12, "{outcome}");
    assert!((outcome.impulses[1].abs() - row("Lt")).abs() < 1e-12);
    assert!((outcome.energy_change - row("energy_gain")).abs() < 1e-12);
    let raised = |remark: &Remark| matches!(remark, Remark::EnergyRaised { by } if *by > 0.1);
    assert!(outcome.remarks.iter().any(raised));
}

#[test]
fn a_rod_that_no_force_holds_is_refused_by_name_or_thrown_as_the_policy_says() {
    let case = Case::named("painleve_rod");
    let rod = SlidingRod {
        friction: case.value("mu"),
        ..SlidingRod::default()
    };
    let theta = case.value("tan_theta").atan();
    let (q, v) = rod.sliding(theta, -1.0);
    let start = Start::at(0.0).q(&q).v(&v);
    let model = || ContactModel::with_law(rod, AnitescuPotra::new());
    let run = EventDriven::new(model())
        .unwrap()
        .integrate(&start, 0.05)
        .unwrap();
    let refused = run.status().reason::<Breakdown>();
    assert_eq!(refused, Some(&Breakdown::Painleve { contact: 0, t: 0.0 }));
    assert!(run.status().to_string().contains("Painleve::Impact"));
    let thrown = model().painleve(Painleve::Impact);
    let mut driver = EventDriven::new(thrown).unwrap().rtol(1e-10);
    let run = driver.integrate(&start, 0.05).unwrap().completed().unwrap();
    let event = &run.events()[0];
    assert_eq!(event.remarks, [Remark::WithoutCollision { contact: 0 }]);
    assert!((event.impulses[0] - case.value("Lambda_n")).abs() < 1e-12);
    assert!((event.impulses[1] - case.value("Lambda_t")).abs() < 1e-12);
    for (found, expected) in event.state_after[3..]
        .iter()
        .zip(case.vector("v_post").iter())
    {
        assert!((found - expected).abs() < 1e-12);
    }
    // Below the critical friction it slides on under a force.
    let mild = SlidingRod {
        friction: 1.0,
        ..rod
    };
    let model = ContactModel::with_law(mild, AnitescuPotra::new());
    let settled = model.start(&start).unwrap();
    assert_eq!(model.contacting(&settled.mode, 0), Contacting::SlipBackward);
    let forces = model.multipliers(0.0, &settled.state, &settled.mode);
    let expected = value("painleve_instant_mu1_om0", "lambda", "", "");
    assert!((forces.values()[0] - expected).abs() < 1e-10);
}
