//! Bodies that come and go between steps.

use saltation::bodies::{Anchor, Body, Joint, Kinematic, Pose, QueryMemory, Ray, Scene, Shape};
use saltation::compliant::{Problem, RowLaw, Sleep, StepState, StepTerm};
use saltation::mechanics::{Contacts, MechanicalSystem};
use saltation::{Compliant, InputError, Start};

use crate::fixtures::heap;

fn started(scene: Scene) -> Compliant<Scene> {
    let (q, v) = scene.start();
    let mut driver = Compliant::new(scene).unwrap().time_step(5e-3);
    driver.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
    driver
}

fn ball() -> Body {
    Body::new(Shape::sphere(0.1).unwrap())
}

/// Some of which bounce.
fn lively() -> Scene {
    let from = heap(12, 0.8, 5);
    let mut scene = Scene::new();
    for (number, body) in (0..from.len()).map(|k| (k, from.body(k).unwrap().clone())) {
        let e = if number % 3 == 0 { 0.5 } else { 0.0 };
        scene.add(body.restitution(e)).unwrap();
    }
    scene
}

#[test]
fn a_body_far_away_changes_nothing_of_the_others_bit_by_bit() {
    let (mut alone, mut with) = (started(lively()), started(lively()));
    let (nq, d) = (alone.q().len(), alone.v().len());
    for step in 0..120 {
        if step == 20 {
            // It falls on the ground and bounces.
            let far = ball().restitution(0.7).position([300.0, 50.0, 0.2]);
            let number = with.add_body(far.velocity([1.0, 0.0, -1.0])).unwrap();
            assert_eq!((number, with.system().tree_of(number)), (14, Some(12)));
            assert_eq!(&with.q()[nq..nq + 3], &[300.0, 50.0, 0.2]);
        }
        alone.step().unwrap();
        with.step().unwrap();
        assert_eq!(&with.q()[..nq], alone.q(), "{step}");
        assert_eq!(&with.v()[..d], alone.v(), "{step}");
        assert_eq!(with.t().to_bits(), alone.t().to_bits());
    }
    assert_eq!(with.statistics().steps, 120);
    assert!(with.q()[nq + 2] < 0.4 && with.q()[nq] > 300.2);
}

/// Others keep their numbers, trees, coordinates; what lay on it falls; the run is that which starts
/// there without it.
#[test]
fn a_body_that_goes_leaves_its_place_empty() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    let cube = Body::new(Shape::cuboid([0.1; 3]).unwrap());
    for k in 0..3 {
        let z = 0.1 + 0.2 * f64::from(k);
        scene.add(cube.clone().position([0.0, 0.0, z])).unwrap();
    }
    let mut driver = started(scene.clone());
    for _ in 0..40 {
        driver.step().unwrap();
    }
    let energy = driver.energy().unwrap();
    driver.remove_body(2).unwrap();
    let weight = 8.0 * 9.81;
    assert!((energy - driver.energy().unwrap() - weight * 0.3).abs() < 1e-2);
    assert_eq!(driver.system().tree_of(3), Some(2));
    assert_eq!(driver.system().tree_of(2), None);
    scene.remove(2).unwrap();
    let mut other = Compliant::new(scene).unwrap().time_step(5e-3);
    let (q, v) = (driver.q().to_vec(), driver.v().to_vec());
    let start = Start::at(driver.t()).q(&q).v(&v);
    other.start(&start).unwrap();
    for _ in 0..80 {
        driver.step().unwrap();
        other.step().unwrap();
        assert_eq!((driver.q(), driver.v()), (other.q(), other.v()));
    }
    assert!((driver.q()[14 + 2] - 0.3).abs() < 1e-3); // the third cube on the first
    assert_eq!(&driver.q()[7..14], &q[7..14]);
    let overlap = driver
        .system()
        .deepest_overlap(driver.q(), &mut Contacts::new());
    assert!(overlap.unwrap() < 1e-3);

    let (mut memory, mut hits, mut bodies) = (QueryMemory::new(), Vec::new(), Vec::new());
    let query = driver.system().query(driver.q(), &mut memory).unwrap();
    let level = Ray::new([-2.0, 0.0, 0.3], [1.0, 0.0, 0.0]);
    query.cast(&[level], &mut hits).unwrap();
    assert_eq!(hits[0].unwrap().body, 3);
    query.overlaps(1, &mut bodies).unwrap();
    assert!(!bodies.contains(&2));
    assert!(matches!(
        query.distance(1, 2),
        Err(InputError::WrongBody { .. })
    ));
    let scene = driver.system();
    assert!(scene.body(2).is_none() && scene.pose(2, driver.q()).is_none());
    assert!(scene.mass_of(2).is_none() && scene.velocity(2, driver.v()).is_none());
    assert!(Anchor::of(scene, 2, [0.0; 3]).is_err());
}

/// Holds the angular velocity of a tree about x.
struct Held(usize);

impl StepTerm for Held {
    fn add(&self, _: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        let law = RowLaw {
            regularisation: 1.0,
            target: 0.0,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
        };
        problem.add_row(law, &[(self.0, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0])])?;
        Ok(())
    }
}

/// A body that was removed from the scene itself holds nothing: its joint is refused, at a start and in the step
/// after; once the joint is taken away the other falls.
#[test]
fn nothing_is_held_by_a_body_that_was_removed() {
    let mut scene = Scene::new();
    for x in [0.0, 0.5] {
        scene.add(ball().position([x, 0.0, 1.0])).unwrap();
    }
    let [one, two] =
        [(0, 0.25), (1, -0.25)].map(|(body, x)| Anchor::of(&scene, body, [x, 0.0, 0.0]).unwrap());
    let weld = Joint::weld(one, two);
    let (q, v) = scene.start();
    let gone = InputError::BodyGone { body: 1, term: 0 };

    let mut without = scene.clone();
    without.remove(1).unwrap();
    let mut driver = Compliant::new(without).unwrap().term(weld);
    let start = Start::at(0.0).q(&q).v(&v);
    assert_eq!(driver.start(&start), Err(gone.clone()));

    let mut driver = started(scene).term(weld);
    driver.step().unwrap();
    driver.system_mut().remove(1).unwrap();
    let before = driver.q().to_vec();
    let refused = driver.step().unwrap_err().to_string();
    assert!(refused.contains(&gone.to_string()), "{refused}");
    assert_eq!(driver.q(), before);

    // Also by a term that is put in the place of another.
    let hung = Joint::ball(one, Anchor::world([0.25, 0.0, 1.0]));
    *driver.term_mut::<Joint>(0).unwrap() = hung;
    driver.step().unwrap();
    *driver.term_mut::<Joint>(0).unwrap() = weld;
    assert!(driver.step().is_err());

    driver.remove_term(0).unwrap();
    assert!(matches!(
        driver.remove_term(1),
        Err(InputError::NoSuch { .. })
    ));
    let vz = driver.v()[5];
    driver.step().unwrap();
    assert!((driver.v()[5] - vz + 9.81 * 5e-3).abs() < 1e-12);
    assert_eq!(driver.term_impulses(0), Some(&[][..]));
}

#[test]
fn what_cannot_go_or_come_is_refused_by_name_and_changes_nothing() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    for k in 0..4 {
        let place = [f64::from(k), 0.0, 0.3];
        scene.add(ball().position(place)).unwrap();
    }
    let (q, v) = scene.start();
    let joint = |scene: &Scene| {
        let one = Anchor::of(scene, 1, [0.5, 0.0, 0.0]).unwrap();
        Joint::ball(one, Anchor::of(scene, 2, [-0.5, 0.0, 0.0]).unwrap())
    };
    let driver = Compliant::new(scene.clone()).unwrap();
    let mut driver = driver.term(joint(&scene)).term(Held(3));
    for is_started in [false, true] {
        if is_started {
            driver.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
            for _ in 0..20 {
                driver.step().unwrap();
            }
        }
        let before = (driver.q().to_vec(), driver.v().to_vec());
        for (body, term) in [(1, 0), (2, 0), (4, 1)] {
            let held = InputError::BodyHeld { body, term };
            assert_eq!(driver.remove_body(body), Err(held.clone()));
            assert_eq!(driver.replace_body(body, ball()), Err(held));
        }
        let missing = InputError::NoSuch {
            what: "body",
            index: 9,
            count: 5,
        };
        assert_eq!(driver.remove_body(9), Err(missing.clone()));
        assert_eq!(driver.replace_body(9, ball()), Err(missing));
        assert!(driver.add_body(ball().density(-1.0)).is_err());
        assert!(driver.replace_body(3, ball().density(-1.0)).is_err());
        let fixed = Body::fixed(Shape::sphere(0.1).unwrap());
        assert!(driver.replace_body(3, fixed.clone()).is_err());
        assert!(driver.replace_body(0, ball()).is_err());
        assert_eq!((driver.q(), driver.v()), (&before.0[..], &before.1[..]));
        assert_eq!(driver.system().len(), 5);
    }
    driver.step().unwrap();
    driver.remove_body(3).unwrap();
    assert!(matches!(
        driver.remove_body(3),
        Err(InputError::WrongBody { .. })
    ));
    // The ground goes, and all fall.
    driver.remove_body(0).unwrap();
    for _ in 0..50 {
        driver.step().unwrap();
    }
    assert!(driver.q()[2] < -0.5);
}

/// Where bodies come and go for ever a place is used again, and the sizes stay.
#[test]
fn a_place_is_used_again() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    let number = scene.add(ball().position([0.0, 0.0, 0.2])).unwrap();
    scene.add(ball().position([0.05, 0.0, 0.6])).unwrap();
    scene.ignore(1, 2).unwrap();
    let mut driver = started(scene);
    for round in 0..4 {
        driver.remove_body(number).unwrap();
        driver.step().unwrap();
        let cube = Body::new(Shape::cuboid([0.1; 3]).unwrap());
        let cube = cube.position([0.0, 0.0, 0.5]).velocity([0.0, 0.0, -2.0]);
        driver.replace_body(number, cube).unwrap();
        assert_eq!(driver.q()[2].to_bits(), 0.5_f64.to_bits());
        for _ in 0..60 {
            driver.step().unwrap();
        }
        assert_eq!(driver.q().len(), 14);
        assert!((driver.q()[2] - 0.1).abs() < 1e-3, "{round}");
    }
    assert!((driver.q()[9] - 0.1).abs() < 1e-3); // in the cube
    assert_eq!(driver.system().dof(), 12);
}

/// A live run is taken up again after a body was removed, and refused after one was added.
#[test]
fn a_snapshot_is_taken_up_after_a_body_was_removed() {
    let mut driver = started(lively());
    let (q, v) = driver.system().start();
    let mut live = driver.live(&Start::at(0.0).q(&q).v(&v)).unwrap();
    live.advance(0.2, &[]).unwrap();
    let snapshot = live.snapshot();
    drop(live);
    driver.remove_body(5).unwrap();
    let mut live = driver.resume(&snapshot).unwrap();
    live.advance(0.4, &[]).unwrap();
    assert!((live.t() - 0.4).abs() < 1e-12);
    drop(live);
    driver.add_body(ball().position([0.0, 0.0, 9.0])).unwrap();
    let refused = driver.resume(&snapshot).err();
    assert_eq!(refused, Some(InputError::Snapshot { of: "system" }));
}

/// Any system may be exchanged; where that is refused the run goes on as it was.
#[test]
fn another_system_goes_on_where_the_one_before_stood() {
    let (mut driver, mut uncut) = (started(lively()), started(lively()));
    for step in 0..60 {
        if step % 20 == 10 {
            let (q, v) = (driver.q().to_vec(), driver.v().to_vec());
            assert!(driver.exchange(lively(), &q[1..], &v).is_err());
            assert!(
                driver
                    .exchange(lively(), &q, &vec![f64::NAN; v.len()])
                    .is_err()
            );
            assert_eq!((driver.q(), driver.v()), (&q[..], &v[..]));
        }
        if step == 30 {
            let (q, v) = (driver.q().to_vec(), driver.v().to_vec());
            driver.exchange(lively(), &q, &v).unwrap();
        }
        driver.step().unwrap();
        uncut.step().unwrap();
        assert_eq!((driver.q(), driver.v()), (uncut.q(), uncut.v()));
        assert_eq!(driver.statistics().steps, uncut.statistics().steps);
    }
    let mut idle = Compliant::new(lively()).unwrap();
    let (q, v) = lively().start();
    let refused = idle.exchange(lively(), &q, &v).err();
    assert_eq!(refused, Some(InputError::NotStarted));
}

/// A scene may start with the ground alone, or with nothing: it steps, and bodies come.
#[test]
fn a_scene_without_moving_bodies_runs() {
    let mut ground = Scene::new();
    ground.add(Body::fixed(Shape::plane())).unwrap();
    for scene in [Scene::new(), ground] {
        let (q, v) = scene.start();
        assert!(q.is_empty() && v.is_empty());
        let start = Start::at(0.0).q(&q).v(&v);
        let mut stepper = Compliant::new(scene).unwrap().sleep(Sleep::default());
        let run = stepper.integrate(&start, 0.1).unwrap().completed().unwrap();
        assert_eq!((run.times().len(), run.state().len()), (11, 0));
        let mut live = stepper.live(&start).unwrap();
        live.advance(0.1, &[]).unwrap();
        let saved = live.snapshot();
        live.advance(0.2, &[]).unwrap();
        drop(live);
        drop(stepper.resume(&saved).unwrap());
        #[cfg(feature = "serde")]
        {
            let saved = saltation::compliant::Checkpoint::of(&saved).unwrap();
            drop(stepper.restore(&saved).unwrap());
        }
        run.write_csv(&mut Vec::new()).unwrap();
        assert_eq!(run.state_at(0.05).unwrap().len(), 0);
        assert!((stepper.t() - 0.1).abs() < 1e-12);
        assert_eq!(stepper.asleep(), [false; 0]);
        stepper.step_with(&[]).unwrap();
        let derived = stepper.derivative(&start, 0.1).unwrap();
        assert!(derived.matrix().is_ok_and(|matrix| matrix.is_empty()));
        assert_eq!(stepper.energy_balance(&run).map(|_| ()), Ok(()));
        stepper.start(&start).unwrap();
        let ball = Body::new(Shape::sphere(0.1).unwrap());
        let ball = stepper.add_body(ball.position([0.0, 0.0, 1.0])).unwrap();
        stepper.step().unwrap();
        let height = stepper.system().position(ball, stepper.q()).unwrap().z;
        assert!((1.0 - height - 9.81e-4).abs() < 1e-12, "{height}");
        stepper.remove_body(ball).unwrap();
        stepper.step().unwrap();
    }
}

/// Of a body that was removed, and of one that is fixed where one that moves is asked for, it is said so.
#[test]
fn why_a_number_is_no_body_is_said() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    scene.add(ball().position([0.0, 0.0, 0.1])).unwrap();
    scene.add(ball().position([1.0, 0.0, 0.1])).unwrap();
    scene.remove(1).unwrap();
    let mut driver = started(scene.clone());
    let q = driver.q().to_vec();
    let mut memory = QueryMemory::default();
    let mut other = scene.clone();
    let still = |_: f64| Ok(Pose::identity());
    let seen = scene.query(&q, &mut memory).unwrap();
    let removed = [
        other.remove(1),
        other.ignore(2, 1),
        driver.remove_body(1),
        Anchor::of(&scene, 1, [0.0; 3]).map(|_| ()),
        Kinematic::of(&scene, 1, still).map(|_| ()),
        seen.distance(1, 2).map(|_| ()),
    ];
    for refused in removed {
        let error = refused.unwrap_err();
        assert!(matches!(error, InputError::WrongBody { body: 1, .. }));
        assert!(
            error.to_string().starts_with("body 1 was removed"),
            "{error}"
        );
    }
    let fixed = Kinematic::of(&scene, 0, still).unwrap_err().to_string();
    assert_eq!(fixed, "body 0 is fixed: give one that moves");
    for refused in [other.remove(3), Kinematic::of(&scene, 3, still).map(|_| ())] {
        let error = refused.unwrap_err().to_string();
        assert_eq!(error, "there is no body 3: there are 3, counted from 0");
    }
}
