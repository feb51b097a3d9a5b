//! Impact laws of a user's own: what is wrong with an outcome is refused or remarked on, by every
//! driver that asks a law. Numbers are those of two balls of 1 kg that fall by 1 m side by side.

use saltation::event_driven::Breakdown;
use saltation::impact::{
    ImpactFailure, ImpactLaw, ImpactProblem, Outcomes, Projective, Remark, Unilateral,
};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::variational::VariationalFailure;
use saltation::{ContactModel, EventDriven, InputError, Run, Start, Status, Variational};

/// Two balls above a floor.
#[derive(Clone, Copy)]
struct Balls {
    restitution: f64,
}

impl MechanicalSystem for Balls {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(-9.81);
    }
}

impl UnilateralConstraints for Balls {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[j]
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
    // Rows that no law here reads: the problem of a law without friction has none of them.
    fn tangents(&self, _j: usize) -> usize {
        1
    }
}

const PLASTIC: Balls = Balls { restitution: 0.0 };

/// Multiplies the impulses of a plastic impact, and gives so many of them, all else as it was.
#[derive(Clone, Copy, Debug)]
struct Wrong {
    times: [f64; 2],
    count: usize,
}

impl ImpactLaw for Wrong {
    fn name(&self) -> &'static str {
        "Wrong"
    }
    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        Unilateral.resolve_into(problem, outcomes)?;
        let outcome = &mut outcomes.list[0];
        for (p, times) in outcome.impulses.iter_mut().zip(self.times) {
            *p *= times;
        }
        let given = std::mem::replace(&mut outcome.impulses, DVector::zeros(0));
        outcome.impulses = given.resize_vertically(self.count, 1.0);
        Ok(())
    }
}

/// How both drivers end a fall that `law` resolves: the reason, and the contacts it names.
fn refused(law: Wrong) -> [(ImpactFailure, Vec<usize>); 2] {
    let start = Start::at(0.0).q(&[1.0, 1.0]).v(&[0.0, 0.0]);
    let model = || ContactModel::with_law(PLASTIC, law);
    let run = EventDriven::new(model()).unwrap().integrate(&start, 0.6);
    let run = run.unwrap();
    let Some(Breakdown::Impact {
        contacts, reason, ..
    }) = run.status().reason()
    else {
        panic!("{law:?}: {}", run.status());
    };
    let by_events = ((**reason).clone(), contacts.clone());
    let run = Variational::new(model()).unwrap().integrate(&start, 0.6);
    let run = run.unwrap();
    let Some(VariationalFailure::Impact {
        contacts, reason, ..
    }) = run.status().reason()
    else {
        panic!("{law:?}: {}", run.status());
    };
    [by_events, ((**reason).clone(), contacts.clone())]
}

#[test]
fn lists_of_another_length_and_numbers_that_are_none_are_refused_by_name() {
    for count in [0, 1, 3] {
        let law = Wrong {
            times: [1.0, 1.0],
            count,
        };
        for (reason, contacts) in refused(law) {
            let name = "impulses of the outcome";
            let length = InputError::WrongLength {
                name,
                expected: 2,
                found: count,
            };
            let expected = ImpactFailure::OutcomeOfLaw {
                law: "Wrong",
                reason: length,
            };
            assert_eq!((reason, contacts), (expected, vec![0, 1]));
        }
    }
    let law = Wrong {
        times: [1.0, f64::NAN],
        count: 2,
    };
    for (reason, contacts) in refused(law) {
        let text = reason.to_string();
        assert!(text.contains("Wrong") && text.contains("NaN"), "{text}");
        assert_eq!(contacts, [0, 1]);
    }
}

/// Nothing, and too little: contacts that approach on are not stopped as if they had come to rest.
#[test]
fn contacts_that_approach_on_are_refused_with_their_speed() {
    let fall = (2.0f64 * 9.81).sqrt();
    for (times, left) in [([0.0, 1.0], 1.0), ([0.9, 1.0], 0.1)] {
        for (reason, contacts) in refused(Wrong { times, count: 2 }) {
            let ImpactFailure::LeftApproaching {
                law,
                contact,
                speed,
            } = reason
            else {
                panic!("{reason}");
            };
            assert_eq!((law, contact, contacts), ("Wrong", 0, vec![0, 1]));
            // Variational is exact to the square of its steps.
            assert!((speed + left * fall).abs() < 1e-4, "{speed}");
        }
    }
}

fn run_of(
    law: impl ImpactLaw + Copy + Send + Sync + 'static,
    balls: Balls,
    v: [f64; 2],
) -> [Run; 2] {
    let start = Start::at(0.0).q(&[0.0, 0.0]).v(&v);
    let model = || ContactModel::with_law(balls, law);
    let run = EventDriven::new(model()).unwrap().integrate(&start, 0.1);
    let steps = Variational::new(model()).unwrap().integrate(&start, 0.1);
    [run.unwrap(), steps.unwrap()]
}

#[test]
fn pulls_and_energy_gained_are_remarked_on() {
    // p = 3 |u⁻| on ball 0: u⁺ = 2, and ΔE = ½ · 3 · (−1 + 2) on it, −½ on ball 1.
    let law = Wrong {
        times: [3.0, 1.0],
        count: 2,
    };
    for run in run_of(law, PLASTIC, [-1.0, -1.0]) {
        let event = &run.events()[0];
        assert_eq!(event.impulses, [3.0, 1.0]);
        assert_eq!(event.remarks, [Remark::EnergyRaised { by: 1.0 }]);
    }
    // Ball 1 parts, and is pulled: 2 − 1.
    for run in run_of(Pull, PLASTIC, [-1.0, 2.0]) {
        let event = &run.events()[0];
        let (contact, impulse) = (1, -1.0);
        assert_eq!(event.remarks, [Remark::Adhesive { contact, impulse }]);
        assert!((event.state_after[3] - 1.0).abs() < 1e-12);
    }
}

/// Plastic at the first contact; the second is pulled by 1 N s.
#[derive(Clone, Copy)]
struct Pull;

impl ImpactLaw for Pull {
    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        Unilateral.resolve_into(problem, outcomes)?;
        outcomes.list[0].impulses[1] = -1.0;
        Ok(())
    }
}

/// What the coefficients of the model say is no fault of a law: `u⁺ = −e u⁻`, literally.
#[test]
fn an_approach_that_restitution_prescribes_is_remarked_on() {
    let half = Balls { restitution: 0.5 };
    for run in run_of(Projective::new(), half, [-1.0, 2.0]) {
        let (contact, speed) = (1, -1.0);
        let approaching = Remark::Approaching { contact, speed };
        assert!(
            run.events()[0].remarks.contains(&approaching),
            "{:?}",
            run.events()
        );
    }
}

/// Impulses alone make the outcome that a law of this crate makes of them, to the bits.
#[test]
fn impulses_make_an_outcome() {
    let delassus = DMatrix::from_row_slice(2, 2, &[2.0, -0.7, -0.7, 1.0]);
    let speeds = DVector::from_vec(vec![-1.0, 0.3]);
    let problem = ImpactProblem::new(delassus, speeds).unwrap();
    let expected = Unilateral.outcome(&problem).unwrap();
    let made = problem.outcome(expected.impulses.as_slice()).unwrap();
    assert_eq!(made, expected);
    // p = (−1, 0): u⁺ = (−3, 1), ΔE = ½ · −1 · (−1 − 3).
    let pull = problem.outcome(&[-1.0, 0.0]).unwrap();
    assert_eq!(pull.speeds.as_slice(), [-3.0, 1.0]);
    assert_eq!(pull.energy_change, 2.0);
    assert!(pull.is_adhesive() && !pull.is_feasible() && pull.raises_energy());
    for wrong in [&[1.0][..], &[1.0; 3], &[1.0, f64::INFINITY], &[f64::MAX; 2]] {
        let refused = problem.outcome(wrong).unwrap_err();
        let is_named = matches!(
            refused,
            ImpactFailure::Input(InputError::WrongLength { .. } | InputError::NotFinite { .. })
                | ImpactFailure::Overflow { .. }
        );
        assert!(is_named, "{refused}");
    }
    // A contact with a tangent: normal impulses alone leave the slip to the coupling.
    let delassus = DMatrix::from_row_slice(2, 2, &[2.0, 0.5, 0.5, 1.0]);
    let speeds = DVector::from_vec(vec![-1.0, 0.0]);
    let rubs = ImpactProblem::with_tangents(delassus, speeds, &[0.3]).unwrap();
    let made = rubs.outcome(&[0.5]).unwrap();
    assert_eq!(made.impulses.as_slice(), [0.5, 0.0]);
    assert_eq!(made.speeds.as_slice(), [0.0, 0.25]);
}

/// All of the impulse that both balls need, on the first alone.
#[derive(Clone, Copy)]
struct OnTheFirst;

impl ImpactLaw for OnTheFirst {
    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        let sum: f64 = problem.speeds().iter().map(|u| -u).sum();
        let mut impulses = vec![0.0; problem.contacts()];
        impulses[0] = sum;
        *outcomes = Outcomes::of_one(problem.outcome(&impulses)?);
        Ok(())
    }
}

#[test]
fn an_outcome_of_ones_own_runs() {
    for run in run_of(OnTheFirst, PLASTIC, [-1.0, 0.0]) {
        let event = &run.events()[0];
        assert_eq!(
            (&event.impulses[..], event.remarks.len()),
            (&[1.0, 0.0][..], 0)
        );
        assert_eq!(*run.status(), Status::ReachedEnd);
    }
    // It says itself that the second approaches on: that is no less wrong.
    for run in run_of(OnTheFirst, PLASTIC, [-1.0, -1.0]) {
        let text = run.status().to_string();
        assert!(
            text.contains("OnTheFirst") && text.contains("contact 1"),
            "{text}"
        );
    }
}
