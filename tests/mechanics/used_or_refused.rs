//! What a model says is used or refused: friction that the law does not know, and outcomes of which
//! a run needs one.

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use saltation::derivative::Verdict;
use saltation::event_driven::{Breakdown, ContactEvent, Zeno};
use saltation::impact::{
    AllOutcomes, ImpactFailure, ImpactLaw, ImpactProblem, MinimalOutcomes, Outcomes, Selection,
    Unilateral,
};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Run};
use saltation::{InputError, Integrator, Interrupt, Start, Status, Stop};

use crate::fixtures::row::{Row, START};

fn simulation(model: ContactModel<Row>) -> EventDriven<Row> {
    EventDriven::new(model).unwrap().rtol(1e-10).atol(1e-11)
}

fn run(model: ContactModel<Row>) -> Run {
    let (q, v) = START;
    simulation(model)
        .integrate(&Start::at(0.0).q(&q).v(&v), 1.5)
        .unwrap()
}

#[test]
fn friction_that_a_law_ignores_is_refused_when_the_core_integrator_starts() {
    let (q, v) = START;
    let smooth = ContactModel::new(Row { friction: 0.0 });
    let open = smooth.start(&Start::at(0.0).q(&q).v(&v)).unwrap().mode;
    let rough = ContactModel::new(Row { friction: 0.3 });
    let mut integrator = Integrator::new(rough).unwrap();
    let x0 = [q, v].concat();
    let run = integrator.integrate(&Start::at(0.0).x(&x0).mode(&open), 1.0);
    assert!(
        matches!(run, Err(InputError::FrictionIgnored { contact: 1, .. })),
        "{run:?}"
    );
}

#[test]
fn an_interrupt_ends_the_search_of_a_law_within_a_run() {
    let (q, v) = START;
    let interrupt = Interrupt::new();
    interrupt.set();
    let model = ContactModel::with_law(Row { friction: 0.0 }, MinimalOutcomes::new())
        .selection(Selection::First)
        .interrupt(&interrupt);
    let run = simulation(model)
        .integrate(&Start::at(0.0).q(&q).v(&v), 1.0)
        .unwrap();
    assert_eq!(*run.status(), Status::Refused(Stop::Interrupted));
}

#[test]
fn friction_that_a_law_ignores_is_refused_when_a_run_starts() {
    let (q, v) = START;
    for friction in [0.3, f64::NAN] {
        let row = Row { friction };
        for refused in [
            simulation(ContactModel::new(row))
                .integrate(&Start::at(0.0).q(&q).v(&v), 1.0)
                .err()
                .map(Breakdown::Input),
            ContactModel::new(row)
                .start(&Start::at(0.0).q(&q).v(&v))
                .err(),
            simulation(ContactModel::new(row))
                .derivative(&Start::at(0.0).q(&q).v(&v), 1.0)
                .err(),
        ] {
            assert!(
                matches!(
                    refused,
                    Some(Breakdown::Input(InputError::FrictionIgnored {
                        law: "Unilateral",
                        contact: 1,
                        friction: found,
                    })) if found.to_bits() == friction.to_bits()
                ),
                "{refused:?}"
            );
        }
        // Unless it is said not to matter.
        let free = ContactModel::new(row).frictionless();
        assert_eq!(*run(free).status(), Status::ReachedEnd);
    }
    let text = simulation(ContactModel::new(Row { friction: 0.3 }))
        .integrate(&Start::at(0.0).q(&q).v(&v), 1.0)
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("contact 1") && text.contains("Unilateral"),
        "{text}"
    );
}

/// A law of one's own, which says that it knows friction.
struct Rough;

impl ImpactLaw for Rough {
    fn name(&self) -> &'static str {
        "Rough"
    }
    fn honours_friction(&self) -> bool {
        true
    }
    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        Unilateral.resolve_into(&problem.clone().frictionless(), outcomes)
    }
}

#[test]
fn laws_say_what_they_honour_also_behind_references_and_smart_pointers() {
    let boxed: Box<dyn ImpactLaw> = Box::new(Rough);
    let (counted, shared) = (Rc::new(Rough), Arc::new(Rough));
    for law in [&Rough as &dyn ImpactLaw, &&Rough, &boxed, &counted, &shared] {
        assert!(law.honours_friction() && law.name() == "Rough");
    }
    assert!(!Unilateral.honours_friction());
    let model = ContactModel::with_law(Row::default(), shared);
    assert_eq!(format!("{:?}", model.law()), "Rough");
    // A law that knows friction asks for tangents.
    let (q, v) = START;
    let model = ContactModel::with_law(Row { friction: 0.3 }, Rough);
    let refused = model.start(&Start::at(0.0).q(&q).v(&v));
    assert!(
        matches!(
            refused,
            Err(Breakdown::Input(InputError::Tangents {
                contact: 1,
                expected: 1,
                found: 0
            }))
        ),
        "{refused:?}"
    );
}

#[test]
fn several_outcomes_end_a_run_unless_one_is_chosen() {
    let refused = run(ContactModel::with_law(Row::default(), AllOutcomes::new()));
    let Some(Breakdown::Impact { reason, t, .. }) = refused.status().reason::<Breakdown>() else {
        panic!("{}", refused.status());
    };
    assert_eq!(**reason, ImpactFailure::NotSingle { count: 2 });
    assert!((t - 1.0).abs() < 1e-9);
    let after = |selection: &Selection| {
        let model = ContactModel::with_law(Row::default(), AllOutcomes::new());
        let run = run(model.selection(selection.clone()));
        assert_eq!(*run.status(), Status::ReachedEnd);
        run.state().rows(3, 3).into_owned()
    };
    let first = after(&Selection::First);
    let second = after(&Selection::by(|_, _| Some(1)));
    assert!((&first - &second).amax() > 0.1);
    // Both keep momentum and energy.
    for v in [&first, &second] {
        assert!((v[0] + 2.0 * v[1] + 3.0 * v[2] + 2.0).abs() < 1e-9);
        assert!((v[0] * v[0] + 2.0 * v[1] * v[1] + 3.0 * v[2] * v[2] - 4.0).abs() < 1e-9);
    }
    let mut drawn = [0, 0];
    for seed in 0..40 {
        let found = after(&Selection::Keyed(seed));
        assert_eq!(found, after(&Selection::Keyed(seed)));
        drawn[usize::from(found == second)] += 1;
    }
    assert!(drawn[0] > 5 && drawn[1] > 5, "{drawn:?}");
    let none = ContactModel::with_law(Row::default(), AllOutcomes::new())
        .selection(Selection::by(|_, _| None));
    let refused = run(none);
    let (chosen, count) = (None, 2);
    assert!(
        matches!(refused.status().reason::<Breakdown>(), Some(Breakdown::Impact { reason, .. })
                if **reason == ImpactFailure::NoSuchOutcome { chosen, count }
        )
    );
}

#[test]
fn a_set_that_is_incomplete_is_no_single_outcome() {
    let model = || ContactModel::with_law(Row::default(), MinimalOutcomes::new().cap(2));
    let refused = run(model());
    assert!(
        matches!(refused.status().reason::<Breakdown>(), Some(Breakdown::Impact { reason, .. }) if matches!(**reason, ImpactFailure::NotSingle { .. })
        ),
        "{}",
        refused.status()
    );
}

/// The log holds what was drawn, and the derivative, which repeats the impact, draws it again.
#[test]
fn what_was_chosen_is_chosen_again_by_the_log_and_the_derivative() {
    for seed in 0..10 {
        let model = || {
            ContactModel::with_law(Row::default(), AllOutcomes::new())
                .selection(Selection::Keyed(seed))
        };
        let run = run(model());
        let event = &run.events()[0];
        let (before, after) = (&event.state_before[3..], &event.state_after[3..]);
        // Impulses are those of the change of velocity.
        assert!((after[0] - before[0] + event.impulses[0]).abs() < 1e-9);
        assert!((3.0 * (after[2] - before[2]) - event.impulses[1]).abs() < 1e-9);
        // With the first contact alone at the start there is one outcome, and a derivative.
        let (q, v) = ([-1.0, 0.0, 5.0], [1.0, 0.0, 0.0]);
        let mut simulation = simulation(model());
        let derivative = simulation
            .derivative(&Start::at(0.0).q(&q).v(&v), 1.5)
            .unwrap();
        assert_eq!(*derivative.verdict(), Verdict::Classical);
    }
}

/// A ball above a floor, thrown back with one of two speeds.
#[derive(Clone, Copy, Debug)]
struct Thrown;

impl MechanicalSystem for Thrown {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = -10.0;
    }
}

impl UnilateralConstraints for Thrown {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0]
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        0.9
    }
}

/// Two outcomes, of the coefficient of the contact and of half of it.
struct Either;

impl ImpactLaw for Either {
    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        Unilateral.resolve_into(problem, outcomes)?;
        let half = problem.clone().with_restitutions(&[0.45])?;
        outcomes.list.extend(Unilateral.resolve(&half)?.list);
        Ok(())
    }
}

/// Draws depend on the number of the impact, not on its time: a displaced run, whose impacts come
/// at other times, draws the same, and its difference is the derivative.
#[test]
fn draws_are_those_of_the_run_at_displaced_times() {
    let mut kinds = [0, 0];
    for seed in 0..12 {
        let model = ContactModel::with_law(Thrown, Either).selection(Selection::Keyed(seed));
        let mut simulation = EventDriven::new(model).unwrap().rtol(1e-11).atol(1e-12);
        let mut end = |q: f64, v: f64| {
            let run = simulation
                .integrate(&Start::at(0.0).q(&[q]).v(&[v]), 1.6)
                .unwrap();
            let taken = |event: &ContactEvent| -event.state_after[1] / event.state_before[1] > 0.6;
            let word: Vec<bool> = run.events().iter().map(taken).collect();
            (run.state().clone(), word)
        };
        let (_, word) = end(1.0, 0.5);
        assert!(word.len() >= 2, "{word:?}");
        for &full in &word {
            kinds[usize::from(full)] += 1;
        }
        let step = 1e-5;
        for (dq, dv) in [(1.0, 0.0), (0.0, 1.0)] {
            let [plus, minus] = [step, -step].map(|s| end(1.0 + s * dq, 0.5 + s * dv));
            assert_eq!((&plus.1, &minus.1), (&word, &word), "seed {seed}");
            let difference = (plus.0 - minus.0) / (2.0 * step);
            let model = ContactModel::with_law(Thrown, Either).selection(Selection::Keyed(seed));
            let mut simulation = EventDriven::new(model).unwrap().rtol(1e-11).atol(1e-12);
            let derivative = simulation
                .derivative(&Start::at(0.0).q(&[1.0]).v(&[0.5]), 1.6)
                .unwrap();
            let along = derivative.apply(&[dq, dv]).unwrap();
            assert!((along - &difference).amax() < 1e-5 * difference.amax().max(1.0));
        }
    }
    assert!(kinds[0] > 5 && kinds[1] > 5, "{kinds:?}");
}

/// Two balls above a floor; the second loses nothing, and bounces on while the first comes to rest.
struct Balls;

impl MechanicalSystem for Balls {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(-10.0);
    }
}

impl UnilateralConstraints for Balls {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[j]
    }
    fn restitution(&self, j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        [0.5, 1.0][j]
    }
}

/// Impacts are counted on where a policy has acted: draws do not begin anew.
#[test]
fn impacts_are_counted_on_behind_an_accumulation() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let model = ContactModel::new(Balls).selection(Selection::by(move |_, at| {
        noted.lock().unwrap().push((at.t, at.number));
        Some(0)
    }));
    let simulation = EventDriven::new(model).unwrap().rtol(1e-9).atol(1e-10);
    let mut simulation = simulation.zeno(Zeno::Absorb);
    for _ in 0..2 {
        seen.lock().unwrap().clear();
        let run = simulation
            .integrate(&Start::at(0.0).q(&[0.2, 0.5]).v(&[0.0, 0.0]), 4.0)
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd);
        assert!(run.phases().iter().any(|mode| mode.closed == [0]));
        let rest = 3.0 * (2.0f64 * 0.2 / 10.0).sqrt();
        let seen = seen.lock().unwrap();
        let numbers = seen.iter().map(|&(_, number)| number).filter(|&n| n > 0);
        assert!(numbers.clone().is_sorted(), "{seen:?}");
        assert!(numbers.clone().min() == Some(1), "{seen:?}");
        let behind: Vec<_> = seen.iter().filter(|&&(t, _)| t > rest + 0.1).collect();
        assert!(behind.len() >= 3 && behind.iter().all(|&&(_, n)| n > behind.len()));
    }
}

/// Resolves the first contact alone, or nothing from its second problem on.
#[derive(Debug)]
struct Careless {
    first_alone: bool,
    asked: Mutex<usize>,
}

impl ImpactLaw for Careless {
    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        let mut asked = self.asked.lock().unwrap();
        *asked += 1;
        if self.first_alone {
            let delassus = problem.delassus().view((0, 0), (1, 1)).into_owned();
            let speeds = problem.speeds().rows(0, 1).into_owned();
            return Unilateral.resolve_into(&ImpactProblem::new(delassus, speeds)?, outcomes);
        }
        if *asked > 1 {
            return Ok(());
        }
        Unilateral.resolve_into(problem, outcomes)
    }
}

/// Two balls that land at once, and bounce.
#[derive(Clone, Copy)]
struct Together;

impl MechanicalSystem for Together {
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

impl UnilateralConstraints for Together {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[j]
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        0.5
    }
}

#[test]
fn outcomes_of_another_problem_are_refused() {
    for (first_alone, impacts) in [(true, 0), (false, 1)] {
        let asked = Mutex::new(0);
        let law = Careless { first_alone, asked };
        let mut driver = EventDriven::new(ContactModel::with_law(Together, law)).unwrap();
        let start = Start::at(0.0).q(&[1.0; 2]).v(&[0.0; 2]);
        let run = driver.integrate(&start, 3.0).unwrap();
        let reason = run.status().to_string();
        assert!(reason.contains("impulses of the outcome"), "{reason}");
        assert_eq!(run.events().len(), impacts);
    }
}
