//! Models whose sizes change from call to call: drivers read them once and index by no others.

use std::cell::Cell;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use saltation::derivative::{Sensitivities, check_derivatives, flow_jacobian, saltation_product};
use saltation::event_driven::Zeno;
use saltation::impact::{ImpactFailure, ImpactProblem, Routh};
use saltation::mechanics::{
    ContactSet, ContactSource, Contacts, MechanicalSystem, Reach, UnilateralConstraints, Wanted,
    check_mechanics,
};
use saltation::nalgebra::{DMatrix, DVector, Matrix};
use saltation::variational::Midpoint;
use saltation::{Compliant, ContactModel, EventDriven, Variational};
use saltation::{
    Crossing, EventFunction, Flow, Guard, InputError, Integrator, Mode, Run, Start, Stop, Watch,
};

/// The answers to questions of size: all true but from one call on.
#[derive(Clone, Debug, Default)]
struct Answers {
    asked: Cell<usize>,
    /// Questions before the driver was made.
    made: Cell<usize>,
    /// The first call that is answered wrongly, which question, and the answer.
    lie: Cell<Option<(usize, Size, usize)>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Size {
    /// States or velocities.
    First,
    /// Event functions or contacts.
    Second,
    /// Flags or tangents.
    Third,
    Coordinates,
    Trees,
    All,
}

impl Answers {
    fn to(&self, question: Size, truth: usize) -> usize {
        let call = self.asked.replace(self.asked.get() + 1);
        match self.lie.get() {
            Some((from, about, lie)) if call >= from && [question, Size::All].contains(&about) => {
                lie
            }
            _ => truth,
        }
    }

    fn driver_is_made(&self) {
        self.made.set(self.asked.get());
    }
}

/// A ball on a spring between two walls, with a flag that it has met one.
#[derive(Clone, Debug, Default)]
struct Ball(Answers);

impl Flow for Ball {
    fn dim(&self) -> usize {
        self.0.to(Size::First, 2)
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx[0] = x[1];
        dx[1] = -x[0];
    }
}
impl EventFunction for Ball {
    fn count(&self) -> usize {
        self.0.to(Size::Second, 2)
    }
    fn flags(&self) -> usize {
        self.0.to(Size::Third, 1)
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        if k == 0 { x[0] - 0.7 } else { 0.6 + x[0] }
    }
    fn watch(&self, k: usize) -> Watch {
        if k == 0 {
            Watch::RISING
        } else {
            Watch::FALLING
        }
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        crossing.x[1] *= -0.9;
        crossing.mode.set_flag(0, true);
        Ok(())
    }
}

/// A block that slides over the floor and along a wall.
#[derive(Clone, Debug, Default)]
struct Block(Answers);

impl MechanicalSystem for Block {
    fn dof(&self) -> usize {
        self.0.to(Size::First, 2)
    }
    fn coordinates(&self) -> usize {
        self.0.to(Size::Coordinates, 2)
    }
    fn trees(&self) -> usize {
        self.0.to(Size::Trees, 1)
    }
    fn tree(&self, _i: usize) -> std::ops::Range<usize> {
        0..self.0.to(Size::Trees, 2)
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for diagonal in mass.iter_mut().step_by(3) {
            *diagonal = 1.0 + 0.1 * q[0] * q[0];
        }
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(-9.81);
        effort[0] = 0.3;
    }
}
impl UnilateralConstraints for Block {
    fn contacts(&self) -> usize {
        self.0.to(Size::Second, 2)
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        if j == 0 { q[1] } else { 0.4 - q[0] }
    }
    fn tangents(&self, _j: usize) -> usize {
        self.0.to(Size::Third, 1)
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.fill(0.0);
        rows[j.min(1)] = 1.0;
    }
}

const START: (f64, [f64; 2], [f64; 2]) = (0.0, [0.0, 0.02], [1.0, 0.0]);

#[allow(
    clippy::needless_pass_by_value,
    reason = "called with what a driver has just returned"
)]
fn said<T: Debug, E: Debug>(found: Result<T, E>) -> String {
    format!("{found:?}")
}

/// The state at the end of a run that came to its end, or what hindered it.
fn end(run: Result<Run, InputError>) -> Result<DVector<f64>, Stop> {
    Ok(run?.completed()?.state().clone())
}

type Task<M> = (&'static str, fn(&M) -> String);

const BALLS: [Task<Ball>; 7] = [
    ("integrate", |ball| {
        let Ok(mut integrator) = Integrator::new(ball) else {
            return "refused".into();
        };
        ball.0.driver_is_made();
        said(
            integrator
                .integrate(&Start::at(0.0).x(&[0.0, 1.0]), 4.0)
                .map(|run| (run.state().clone(), run.crossings().len())),
        )
    }),
    ("fixed", |ball| {
        let Ok(mut integrator) = Integrator::fixed::<2>(ball) else {
            return "refused".into();
        };
        ball.0.driver_is_made();
        said(
            integrator
                .integrate(&Start::at(0.0).x(&[0.0, 1.0]), 4.0)
                .map(|run| run.state().clone()),
        )
    }),
    ("derivative", |ball| {
        let Ok(mut integrator) = Integrator::new(ball) else {
            return "refused".into();
        };
        ball.0.driver_is_made();
        let found = integrator.derivative(&Start::at(0.0).x(&[0.0, 1.0]), 4.0);
        said(found.and_then(|found| found.apply(&[0.3, 1.0])))
    }),
    ("carry", |ball| {
        let Ok(mut integrator) = Integrator::new(ball) else {
            return "refused".into();
        };
        ball.0.driver_is_made();
        let mut tangents = Sensitivities::new(2, 2);
        let carried = integrator.carry(&Start::at(0.0).x(&[0.0, 1.0]), 4.0, &mut tangents, &mut ());
        said(carried.map(|_| tangents.columns().map(Matrix::into_owned)))
    }),
    ("check", |ball| {
        said(check_derivatives(
            ball,
            0.0,
            &[0.1, 1.0],
            &Mode::with(2, &[1]).with_flags(1),
        ))
    }),
    ("jacobian", |ball| {
        said(flow_jacobian(
            ball,
            0.0,
            &[0.1, 1.0],
            &Mode::with(2, &[1]).with_flags(1),
        ))
    }),
    ("saltation", |ball| {
        let mode = Mode::with(2, &[1]).with_flags(1);
        said(
            saltation_product(ball, &[Guard::rising(0)], 0.0, &[0.7, 1.0], &mode)
                .map(|found| found.matrix),
        )
    }),
];

const BLOCKS: [Task<Block>; 9] = [
    ("simulation", |block| {
        let model = ContactModel::new(block);
        block.0.driver_is_made();
        let (t, q, v) = START;
        let run =
            EventDriven::new(model).and_then(|mut s| s.integrate(&Start::at(t).q(&q).v(&v), 0.3));
        said(end(run))
    }),
    ("derivative", |block| {
        let model = ContactModel::new(block);
        block.0.driver_is_made();
        let (t, q, v) = START;
        let run = |mut s: EventDriven<&Block>| {
            s.derivative(&Start::at(t).q(&q).v(&v), 0.3)
                .map(|found| found.apply(&[0.1; 4]))
        };
        said(EventDriven::new(model).map(run))
    }),
    ("decoupling", |block| {
        let model = ContactModel::new(block);
        block.0.driver_is_made();
        said(
            model
                .decoupling(&Start::at(0.0).q(&[0.4, 0.0]).v(&[1.0, -1.0]), &[0, 1])
                .map(|report| report.orders),
        )
    }),
    ("arclength", |block| {
        let model = ContactModel::with_law(block, Routh::new());
        block.0.driver_is_made();
        let (t, q, v) = START;
        said(EventDriven::new(model).map(|driver| {
            let mut driver = driver.zeno(Zeno::Absorb).zeno_tolerance(1e-9);
            let run = driver.integrate(&Start::at(t).q(&q).v(&v), 0.3);
            run.map(|run| {
                let over = driver.model().arclength(&run);
                let late = driver.model().lateness(&run, run.t());
                (over.and_then(|over| over.at(0.5 * over.s())), late)
            })
        }))
    }),
    ("variational", |block| {
        let Ok(driver) = Variational::new(ContactModel::new(block)) else {
            return "refused".into();
        };
        block.0.driver_is_made();
        let (t, q, v) = START;
        let mut driver = driver.time_step(0.01);
        said(end(driver.integrate(&Start::at(t).q(&q).v(&v), 0.5)))
    }),
    ("midpoint", |block| {
        let Ok(mut driver) = Midpoint::new(block) else {
            return "refused".into();
        };
        block.0.driver_is_made();
        let (mut q, mut p) = ([0.0, 0.02], [1.0, 0.0]);
        said(driver.step(0.0, 0.01, &mut q, &mut p).map(|()| (q, p)))
    }),
    ("stepper", |block| {
        let Ok(driver) = Compliant::new(block) else {
            return "refused".into();
        };
        block.0.driver_is_made();
        let columns = DMatrix::from_element(4, 1, 0.1);
        let (t, q, v) = START;
        let found = driver
            .time_step(0.01)
            .sensitivities(&Start::at(t).q(&q).v(&v), 0.2, &columns);
        said(found.map(|(run, columns)| (run.state().clone(), columns)))
    }),
    ("check", |block| {
        said(check_mechanics(block, 0.0, &[0.1, 0.5], &[1.0, 0.3]))
    }),
    ("contacts", |block| {
        let wanted = Wanted {
            friction: true,
            compliance: true,
            ..Wanted::default()
        };
        let mut contacts = Contacts::new();
        let set = ContactSet::Reachable(Reach::new(&[&[1.0, -0.5]], 0.01, 1.0));
        let filled = block.fill(&[0.1, 0.01], set, wanted, &mut contacts);
        said(filled.map(|()| contacts.all_parameters().to_vec()))
    }),
];

/// Where lies begin, and what they are.
struct Lies {
    from: fn(usize) -> Vec<usize>,
    about: &'static [Size],
    to: &'static [usize],
}

/// The first calls and a few later ones; sizes beside the true ones, and such as no machine has.
const SOME: Lies = Lies {
    from: |all| (0..8).chain([all / 3, 2 * all / 3]).collect(),
    about: &[Size::First, Size::Second, Size::Coordinates, Size::All],
    to: &[0, 3, usize::MAX],
};

const ALL: Lies = Lies {
    from: |all| (0..=all).step_by(1 + all / 400).collect(),
    about: &[
        Size::First,
        Size::Second,
        Size::Third,
        Size::Coordinates,
        Size::Trees,
        Size::All,
    ],
    // Runs of a driver that was made with many contacts are honest, and long.
    to: &[0, 1, 3, 70, 1_000, 1 << 40, usize::MAX],
};

/// Tasks without a driver, and the stepper, whose system may be exchanged between steps: sizes are
/// held against what was said first.
const HELD_AGAINST: [&str; 5] = ["stepper", "contacts", "check", "jacobian", "saltation"];

/// Runs each task with every lie: nothing panics, and what was read when the driver was made holds.
fn lie<M: Default>(tasks: &[Task<M>], of: fn(&M) -> &Answers, lies: &Lies) {
    for (name, task) in tasks {
        let honest = M::default();
        let truth = task(&honest);
        let (all, made) = (of(&honest).asked.get(), of(&honest).made.get());
        assert!(truth.starts_with("Ok"), "{name}: {truth}");
        for from in (lies.from)(all) {
            for &about in lies.about {
                for &to in lies.to {
                    let liar = M::default();
                    of(&liar).lie.set(Some((from, about, to)));
                    let said = catch_unwind(AssertUnwindSafe(|| task(&liar)));
                    let Ok(said) = said else {
                        panic!("{name} panics: {about:?} is {to} from call {from} on");
                    };
                    let kept = said == truth || HELD_AGAINST.contains(name);
                    assert!(
                        from < made || kept,
                        "{name}: {about:?} is {to} from call {from} on: {said}, not {truth}"
                    );
                }
            }
        }
        println!("{name}: {all} calls");
    }
}

#[test]
fn sizes_of_a_flow_that_change_move_nothing() {
    lie(&BALLS, |ball| &ball.0, &SOME);
}

#[test]
fn sizes_of_a_mechanical_system_that_change_move_nothing() {
    lie(&BLOCKS, |block| &block.0, &SOME);
}

#[test]
#[ignore = "every call of every driver: minutes in release"]
fn sizes_that_change_at_any_call_move_nothing() {
    lie(&BALLS, |ball| &ball.0, &ALL);
    lie(&BLOCKS, |block| &block.0, &ALL);
}

/// More velocities than a dense mass matrix has room for.
struct Vast;

impl MechanicalSystem for Vast {
    fn dof(&self) -> usize {
        20_000
    }
    fn mass(&self, _q: &[f64], _mass: &mut [f64]) {
        unreachable!("3 GB of zeros");
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
    }
}

impl UnilateralConstraints for Vast {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0]
    }
}

#[test]
fn the_impact_of_a_system_with_a_vast_mass_matrix_is_refused() {
    let (q, v) = (vec![0.0; 20_000], vec![-1.0; 20_000]);
    let found = ImpactProblem::of_system(&Vast, &q, &v, ContactSet::Within(1.0));
    let refused = ImpactFailure::Input(InputError::BadSetting {
        name: "entries of the mass matrix",
        entry: 0,
        value: 4e8,
        rule: "must not exceed 100000000",
    });
    assert_eq!(found.err(), Some(refused));
}
