//! What is refused before it does harm: by every driver that it concerns, each by its name.

use saltation::event_driven::Breakdown;
use saltation::impact::{AnitescuPotra, Routh, Selection, Unilateral};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::BouncingBall;
use saltation::variational::VariationalFailure;
use saltation::{
    Compliant, ContactModel, Driver, EventDriven, InputError, Start, Status, Stop, Variational,
};

/// A point of 1 kg, with wrong answers: it falls beside its tangents, on one contact for each of the
/// last coordinates.
#[derive(Clone, Copy)]
struct Point {
    dof: usize,
    contacts: usize,
    friction: f64,
    restitution: f64,
    tangents: usize,
    writes_tangents: bool,
    /// An entry of the mass matrix above the diagonal.
    skew: f64,
    /// The effort is NaN from this time on (s).
    lost: f64,
}

const POINT: Point = Point {
    dof: 2,
    contacts: 1,
    friction: 0.0,
    restitution: 0.0,
    tangents: 1,
    writes_tangents: true,
    skew: 0.0,
    lost: f64::INFINITY,
};

impl MechanicalSystem for Point {
    fn dof(&self) -> usize {
        self.dof
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        mass.iter_mut().step_by(self.dof + 1).for_each(|m| *m = 1.0);
        mass[1] = self.skew;
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(if t > self.lost { f64::NAN } else { 0.0 });
        effort[self.dof - self.contacts..].fill(-10.0);
    }
}

impl UnilateralConstraints for Point {
    fn contacts(&self) -> usize {
        self.contacts
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[self.dof - self.contacts + j]
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
    fn tangents(&self, _j: usize) -> usize {
        self.tangents
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        if self.writes_tangents {
            for k in 0..self.tangents {
                rows[k * self.dof + k] = 1.0;
            }
        }
    }
}

/// The refusal of each driver at the start: by events, variational, compliant.
fn refusals(point: Point, model: impl Fn() -> ContactModel<Point>) -> [Option<InputError>; 3] {
    // High above its contacts.
    let start = Start::at(0.0).q(&[5.0; 2]).v(&[1.0; 2]);
    let mut by_events = EventDriven::new(model()).unwrap();
    let mut variational = Variational::new(model()).unwrap();
    let mut compliant = Compliant::new(point).unwrap();
    [
        by_events.integrate(&start, 0.1).err(),
        variational.integrate(&start, 0.1).err(),
        compliant.integrate(&start, 0.1).err(),
    ]
}

#[test]
fn friction_along_tangents_that_nobody_wrote_is_refused() {
    let silent = Point {
        friction: 0.5,
        writes_tangents: false,
        ..POINT
    };
    let model = || ContactModel::with_law(silent, AnitescuPotra::new());
    for refused in refusals(silent, model) {
        assert_eq!(refused, Some(InputError::TangentsUnwritten { contact: 0 }));
    }
    // Said not to matter, and with tangents, it runs.
    let model = || ContactModel::with_law(silent, Unilateral).frictionless();
    let [by_events, variational, _] = refusals(silent, model);
    assert_eq!((by_events, variational), (None, None));
    let spoken = Point {
        writes_tangents: true,
        ..silent
    };
    let model = || ContactModel::with_law(spoken, AnitescuPotra::new());
    assert_eq!(refusals(spoken, model), [None, None, None]);
}

#[test]
fn friction_without_tangents_says_what_to_write() {
    let bare = Point {
        friction: 0.5,
        tangents: 0,
        ..POINT
    };
    let model = || ContactModel::with_law(bare, AnitescuPotra::new());
    for refused in refusals(bare, model) {
        let (contact, expected, found) = (0, 1, 0);
        let tangents = InputError::Tangents {
            contact,
            expected,
            found,
        };
        let text = tangents.to_string();
        assert!(
            text.contains("write `tangents` and `tangent_rows`"),
            "{text}"
        );
        assert_eq!(refused, Some(tangents));
    }
}

#[test]
fn restitution_that_a_law_ignores_is_refused_at_the_start() {
    let bouncing = Point {
        restitution: 0.5,
        ..POINT
    };
    let model = || ContactModel::with_law(bouncing, Routh::new());
    let [by_events, variational, _] = refusals(bouncing, model);
    let (law, contact, restitution) = ("Routh", 0, 0.5);
    let ignored = InputError::RestitutionIgnored {
        law,
        contact,
        restitution,
    };
    assert_eq!(by_events.as_ref(), Some(&ignored));
    assert_eq!(variational, Some(ignored));
    // One outside [0, 1] too.
    let odd = Point {
        restitution: 1.5,
        ..POINT
    };
    let [.., variational, _] = refusals(odd, || ContactModel::new(odd));
    let is_named = matches!(
        variational,
        Some(InputError::BadSetting {
            name: "restitution",
            entry: 0,
            value: 1.5,
            ..
        })
    );
    assert!(is_named, "{variational:?}");
    let any = refusals(odd, || ContactModel::new(odd).any_restitution());
    assert_eq!(any[1], None);
}

#[test]
fn asymmetric_masses_are_refused_by_both_rigid_drivers() {
    let skew = Point { skew: 0.3, ..POINT };
    let start = Start::at(0.0).q(&[5.0; 2]).v(&[0.0; 2]);
    let mut by_events = EventDriven::new(ContactModel::new(skew)).unwrap();
    let run = by_events.integrate(&start, 0.1).unwrap();
    let Some(Breakdown::MassMatrix { fault, .. }) = run.status().reason() else {
        panic!("{}", run.status());
    };
    let mut variational = Variational::new(ContactModel::new(skew)).unwrap();
    let steps = variational.integrate(&start, 0.1).unwrap();
    let Some(VariationalFailure::Mass { fault: found, .. }) = steps.status().reason() else {
        panic!("{}", steps.status());
    };
    assert_eq!(found, fault);
    assert!(
        steps.status().to_string().contains("not symmetric"),
        "{}",
        steps.status()
    );
}

#[test]
fn what_is_not_finite_is_named() {
    let lost = Point {
        lost: 0.05,
        ..POINT
    };
    let start = Start::at(0.0).q(&[5.0; 2]).v(&[0.0; 2]);
    let mut driver = Variational::new(ContactModel::new(lost)).unwrap();
    let run = driver.integrate(&start, 0.1).unwrap();
    let Some(VariationalFailure::NotFinite { quantity, .. }) = run.status().reason() else {
        panic!("{}", run.status());
    };
    assert!(
        quantity.contains("effort") && !quantity.contains("gap"),
        "{quantity}"
    );
}

/// In space one outcome is found of perhaps several: the way on is said.
#[test]
fn one_outcome_of_perhaps_several_says_how_to_take_it() {
    let point = Point {
        dof: 3,
        friction: 0.5,
        tangents: 2,
        ..POINT
    };
    let start = Start::at(0.0).q(&[0.0, 0.0, 0.1]).v(&[1.0, 0.5, 0.0]);
    let model = || ContactModel::with_law(point, AnitescuPotra::new());
    let run = Variational::new(model()).unwrap().integrate(&start, 0.2);
    let text = run.unwrap().status().to_string();
    assert!(
        text.contains("the law gave 1 outcome and cannot say that it is the only one"),
        "{text}"
    );
    assert!(
        text.contains("ContactModel::selection(Selection::First)"),
        "{text}"
    );
    let mut taken = Variational::new(model().selection(Selection::First)).unwrap();
    let run = taken.integrate(&start, 0.2).unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
}

/// The law of one contact, with two: by its name, with time and contacts.
#[test]
fn a_law_of_one_contact_names_itself_and_the_contacts() {
    let two = Point {
        contacts: 2,
        tangents: 0,
        ..POINT
    };
    let start = Start::at(0.0).q(&[0.2; 2]).v(&[0.0; 2]);
    let model = || ContactModel::with_law(two, Routh::new());
    let drivers: [Box<dyn Driver>; 2] = [
        Box::new(EventDriven::new(model()).unwrap()),
        Box::new(Variational::new(model()).unwrap()),
    ];
    for mut driver in drivers {
        let text = driver.integrate(&start, 0.4).unwrap().status().to_string();
        assert!(text.contains("Routh") && text.contains("[0, 1]"), "{text}");
        assert!(
            text.contains("t = 0.2") || text.contains("t = 0.19"),
            "{text}"
        );
    }
}

/// The steps of a control loop take up its efforts, or say that they do not.
#[test]
fn efforts_that_no_step_takes_up_are_refused() {
    let soft = BouncingBall {
        restitution: 0.0,
        ..BouncingBall::default()
    };
    let drivers: [Box<dyn Driver>; 2] = [
        Box::new(Compliant::new(soft).unwrap()),
        Box::new(
            Variational::new(ContactModel::new(soft))
                .unwrap()
                .time_step(0.01),
        ),
    ];
    let start = Start::at(0.0).q(&[1.0]).v(&[0.0]);
    for mut driver in drivers {
        let mut live = driver.live(&start).unwrap();
        // Periods that do not divide the step, and more than it: each takes up its effort.
        for k in 1..=10 {
            live.advance(0.013 * f64::from(k), &[f64::from(k)]).unwrap();
        }
        // One effort over several calls until a step ends.
        for k in 1..=5 {
            live.advance(0.13 + 0.002 * f64::from(k), &[1.0]).unwrap();
        }
        assert!((live.t() - 0.14).abs() < 1e-12);
        live.advance(0.143, &[2.0]).unwrap();
        let refused = live.advance(0.146, &[3.0]);
        let Err(Stop::Input(InputError::EffortUnused { t0, t })) = &refused else {
            panic!("{refused:?}");
        };
        assert!((t0 - 0.14).abs() < 1e-12 && *t == 0.143, "{t0} {t}");
        // So does a run that is taken up from there.
        let saved = live.snapshot();
        drop(live);
        let mut live = driver.resume(&saved).unwrap();
        assert_eq!(live.advance(0.146, &[3.0]), refused);
        // It goes on with the effort that was to be held.
        live.advance(0.15, &[2.0]).unwrap();
        live.advance(0.16, &[3.0]).unwrap();
        assert!((live.t() - 0.16).abs() < 1e-12);
    }
    // Adaptive drivers end a step at any time.
    let mut driver = EventDriven::new(ContactModel::new(soft)).unwrap();
    let mut live = driver.live(&start).unwrap();
    for k in 1..=10 {
        live.advance(1e-3 * f64::from(k), &[f64::from(k)]).unwrap();
    }
}

/// A refusal of friction by the variational driver names its own remedy.
#[test]
fn friction_in_impacts_alone_has_a_remedy() {
    let rough = Point {
        friction: 0.5,
        ..POINT
    };
    let start = Start::at(0.0).q(&[0.0, 0.5]).v(&[1.0, 0.0]);
    let model = || ContactModel::with_law(rough, Unilateral);
    let mut driver = Variational::new(model()).unwrap();
    let text = driver.integrate(&start, 0.5).unwrap_err().to_string();
    assert!(text.contains("frictionless_impacts"), "{text}");
    let mut driver = driver.frictionless_impacts();
    assert_eq!(
        *driver.integrate(&start, 0.5).unwrap().status(),
        Status::ReachedEnd
    );
}

/// A clone has a model of its own: both take efforts, to the same bits, also while a derivative of one
/// is held.
#[test]
fn clones_of_a_driver_share_nothing() {
    let soft = BouncingBall {
        restitution: 0.0,
        ..BouncingBall::default()
    };
    let start = Start::at(0.0).q(&[1.0]).v(&[0.0]);
    let mut driver = EventDriven::new(ContactModel::new(soft))
        .unwrap()
        .rtol(1e-7);
    let mut clone = driver.clone();
    let derivative = driver.derivative(&start, 0.1).unwrap();
    let mut live = clone.live(&start).unwrap();
    live.advance(0.2, &[3.0]).unwrap();
    drop(derivative);
    let mut other = driver.live(&start).unwrap();
    other.advance(0.2, &[3.0]).unwrap();
    assert_eq!(live.state(), other.state());
}

/// Many runs: a driver for each thread, of any kind.
#[test]
fn drivers_go_to_threads() {
    fn goes<T: Send>() {}
    goes::<EventDriven<Point>>();
    goes::<Variational<Point>>();
    goes::<Compliant<Point>>();
}
