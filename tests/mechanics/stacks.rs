//! Contacts that depend on each other: stacks, bodies side by side, release and activation at once,
//! impacts without time between.

use saltation::event_driven::{Breakdown, ContactEventKind, Grazing, Zeno};
use saltation::impact::{Propagative, ReflectionOrder, Sequential};
use saltation::mechanics::{MechanicalSystem, Redundant, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Run, Start, Status};

use crate::fixtures::line::Line;

const G: f64 = 9.81;

fn fall(_t: f64, _q: &[f64], a: &mut [f64]) {
    a.fill(-G);
}

fn none(_t: f64, _q: &[f64], a: &mut [f64]) {
    a.fill(0.0);
}

#[test]
fn a_contact_released_as_another_closes_stays_if_the_impact_presses_on_it() {
    // The lower point is held by 1 − t and would lift at 1, when the upper one lands on it.
    let line = Line::above_floor(&[1.0, 1.0], 0.0, |t, _, a| {
        a[0] = t - 1.0;
        a[1] = -1.0;
    });
    // Without a tolerance the force is not raised, and both are one event.
    let model = ContactModel::new(line.clone()).rate_tolerance(f64::MIN_POSITIVE);
    let mut simulation = EventDriven::new(model).unwrap().rtol(1e-10).atol(1e-11);
    let run = simulation
        .integrate(&Start::at(0.0).q(&[0.0, 0.5]).v(&[0.0; 2]), 4.0)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    assert!(line.lowest_gap(&run) > -1e-10);
    // Together they lift when t − 1 = 1.
    let [landing, lifting] = run.events() else {
        panic!("{:?}", run.events());
    };
    assert_eq!(
        (
            &landing.activated[..],
            &landing.released[..],
            &landing.mode_after[..]
        ),
        (&[1][..], &[0][..], &[0, 1][..])
    );
    assert!((landing.t - 1.0).abs() < 1e-9);
    assert!(landing.impulses.iter().all(|p| (p - 1.0).abs() < 1e-9));
    assert_eq!(
        (&lifting.released[..], &lifting.mode_after[..]),
        (&[0][..], &[1][..])
    );
    assert!((lifting.t - 2.0).abs() < 1e-9);
    // From rest at 2: two masses under t − 2 over two, (t − 2)³/12.
    assert!((run.state()[0] - 8.0 / 12.0).abs() < 1e-8);
}

#[test]
fn stacks_come_to_rest_whatever_the_law() {
    for count in [2, 3] {
        for apart in [0.0, 0.1] {
            for restitution in [0.0, 0.5] {
                let line = Line::above_floor(&vec![1.0; count], restitution, fall);
                let q: Vec<f64> = (0..count).map(|i| 1.0 + apart * i as f64).collect();
                let v = vec![0.0; count];
                let check = |run: Run| {
                    let what = format!("{count} {apart} {restitution}");
                    assert_eq!(*run.status(), Status::ReachedEnd, "{what}");
                    assert!(line.lowest_gap(&run) > -1e-9, "{what}");
                    assert!(run.state().amax() < 1e-9, "{what}");
                    let closed = run.phases().pop().unwrap().closed;
                    assert_eq!(closed, (0..count).collect::<Vec<_>>(), "{what}");
                };
                let run = line
                    .simulation()
                    .zeno(Zeno::Absorb)
                    .integrate(&Start::at(0.0).q(&q).v(&v), 30.0);
                check(run.unwrap());
                let propagative = Propagative::new(ReflectionOrder::ArgMin);
                let run = line
                    .by(propagative)
                    .zeno(Zeno::Absorb)
                    .integrate(&Start::at(0.0).q(&q).v(&v), 30.0);
                check(run.unwrap());
                let mut sequential = line
                    .by(Sequential::default())
                    .zeno(Zeno::Absorb)
                    .grazing(Grazing::Contact);
                check(
                    sequential
                        .integrate(&Start::at(0.0).q(&q).v(&v), 30.0)
                        .unwrap(),
                );
            }
        }
    }
}

/// With rows by differences the force between blocks that fall together is rounding, which must not
/// open them.
#[test]
fn blocks_that_touch_and_bounce_come_to_rest_one_impact_after_the_other() {
    let line = Line {
        written: false,
        ..Line::above_floor(&[1.0, 1.0], 0.5, fall)
    };
    let mut simulation = line.by(Sequential::default()).zeno(Zeno::Absorb);
    let run = simulation
        .integrate(&Start::at(0.0).q(&[1.0, 1.0]).v(&[0.0; 2]), 5.0)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    assert!(line.lowest_gap(&run) > -1e-9);
    assert_eq!(run.phases().pop().unwrap().closed, [0, 1]);
}

#[test]
fn a_heavy_ball_squeezes_a_light_one_onto_the_floor() {
    let line = Line::above_floor(&[0.001, 1.0], 0.5, fall);
    let mut simulation = line.simulation().zeno(Zeno::Absorb);
    let run = simulation
        .integrate(&Start::at(0.0).q(&[0.5, 1.0]).v(&[0.0, -1.0]), 5.0)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    assert!(line.lowest_gap(&run) > -1e-9);
    assert_eq!(run.phases().pop().unwrap().closed, [0, 1]);
}

/// Contacts that carry nothing stay closed: neither drift nor rounding opens them.
#[test]
fn bodies_side_by_side_move_as_one() {
    let shaken = |t: f64, _: &[f64], a: &mut [f64]| a.fill(0.7 * (3.0 * t).sin());
    for field in [none, fall, shaken] {
        for written in [true, false] {
            let line = Line {
                written,
                ..Line::beside(&[0.3, 0.7], 0.5, field)
            };
            let run = line
                .simulation()
                .integrate(&Start::at(0.0).q(&[1.0 / 3.0; 2]).v(&[1.0; 2]), 100.0)
                .unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd);
            assert!(run.events().is_empty(), "{:?}", run.events());
            assert_eq!(run.phases()[0].closed, [0]);
        }
    }
}

/// At the bottom of their swing nothing moves them at all, and nothing is what the contact carries.
#[test]
fn pendulums_side_by_side_swing_as_one() {
    let line = Line::beside(&[1.0; 3], 0.0, |_, q, a| {
        for (a, q) in a.iter_mut().zip(q) {
            *a = -G * q;
        }
    });
    let run = line
        .simulation()
        .integrate(&Start::at(0.0).q(&[-0.1, 0.0, 0.0]).v(&[0.0; 3]), 50.0)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    assert_eq!(
        (run.events().len(), &run.events()[0].mode_after[..]),
        (1, &[0, 1][..])
    );
}

/// Pendulums that swing side by side: the force between them is zero but for the tolerance of the
/// start.
#[test]
fn a_force_that_is_almost_zero_ends_a_run_or_not_as_the_policy_says() {
    let line = Line::beside(&[1.0, 1.0], 1.0, |_, q, a| {
        for (a, q) in a.iter_mut().zip(q) {
            *a = -G * q;
        }
    });
    for difference in [0.0, 1e-12, 1e-10, 5e-9] {
        let mut simulation = line.simulation().grazing(Grazing::Contact);
        let run = simulation
            .integrate(
                &Start::at(0.0).q(&[0.0; 2]).v(&[0.1, 0.1 + difference]),
                200.0,
            )
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{difference}");
        assert!(line.lowest_gap(&run) > -2e-8);
        let [a, b] = [0, 1].map(|i| run.state()[i]);
        assert!((a - b).abs() < 2e-8);
    }
}

/// The gap of the second contact is zero but opens, by less than the resolution of time: one after
/// another the two contacts would be hit again and again at one instant.
#[test]
fn impacts_without_time_between_them_are_taken_as_one() {
    let line = Line::beside(&[2.0, 1.0, 2.0], 1.0, none);
    let mut simulation = line.by(Propagative::new(ReflectionOrder::ArgMin));
    let run = simulation
        .integrate(
            &Start::at(100.0).q(&[-1e-9, 0.0, 0.0]).v(&[1.0, 0.0, 2e-8]),
            101.0,
        )
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    assert!(!run.is_guaranteed() && line.lowest_gap(&run) > -1e-9);
    let v = &run.state().as_slice()[3..];
    let momentum = 2.0 * v[0] + v[1] + 2.0 * v[2];
    let energy = v[0] * v[0] + 0.5 * v[1] * v[1] + v[2] * v[2];
    assert!((momentum - 2.0).abs() < 1e-7 && (energy - 1.0).abs() < 1e-7);
    let last = run.events().last().unwrap();
    assert_eq!(
        (last.kind, &last.contacts[..]),
        (ContactEventKind::Contact, &[0, 1][..])
    );
}

/// A point between two walls that meet at a small angle: the forces are thousands of times the
/// weight, and what rounding leaves of their sum is more than what would be an acceleration of a
/// light body. A body without weight may lean on the point.
struct Wedge {
    angles: [f64; 2],
    weight: f64,
    leaning: bool,
}

impl Wedge {
    fn symmetric(angle: f64, weight: f64) -> Self {
        Self {
            angles: [angle; 2],
            weight,
            leaning: false,
        }
    }
}

impl MechanicalSystem for Wedge {
    fn dof(&self) -> usize {
        self.contacts()
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        let d = self.dof();
        mass.fill(0.0);
        for i in 0..d {
            mass[i * d + i] = 1.0;
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
        effort[0] = -self.weight;
    }
}

impl UnilateralConstraints for Wedge {
    fn contacts(&self) -> usize {
        if self.leaning { 3 } else { 2 }
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let mut row = [0.0; 3];
        self.gap_row(j, q, &mut row[..q.len()]);
        row.iter().zip(q).map(|(row, q)| row * q).sum()
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        let [left, right] = self.angles;
        let whole = [
            [left.sin(), left.cos(), 0.0],
            [right.sin(), -right.cos(), 0.0],
            [0.0, -1.0, 1.0],
        ];
        row.copy_from_slice(&whole[j][..row.len()]);
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
}

fn rests_where_it_is(wedge: Wedge, run_too: bool) {
    let (n, angles) = (wedge.contacts(), wedge.angles);
    let model = ContactModel::new(wedge);
    let rest = vec![0.0; n];
    let start = model.start(&Start::at(0.0).q(&rest).v(&rest)).unwrap();
    assert_eq!(model.closed(&start.mode).len(), n, "{angles:?}");
    if run_too {
        let mut simulation = EventDriven::new(model).unwrap();
        let run = simulation
            .integrate(&Start::at(0.0).q(&rest).v(&rest), 0.1)
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{angles:?}");
    }
}

#[test]
fn a_wedge_holds_however_sharp_it_is() {
    for weight in [9.81, 9810.0] {
        for k in 0..=400 {
            // From 45 degrees down to 2e-6.
            let right = std::f64::consts::FRAC_PI_4;
            let angle = right * (2e-6 / right).powf(f64::from(k) / 400.0);
            rests_where_it_is(Wedge::symmetric(angle, weight), k % 20 == 0);
        }
    }
    // The rows of sharper ones hold it too, where no forces are asked for that the Gram matrix of the
    // rows determines: it squares the angle.
    for angle in [1e-7, 3e-7, 4e-7, 9e-7] {
        rests_where_it_is(Wedge::symmetric(angle, 9.81), true);
        let model = ContactModel::new(Wedge::symmetric(angle, 9.81)).redundant(Redundant::Refuse);
        let refused = model.start(&Start::at(0.0).q(&[0.0; 2]).v(&[0.0; 2]));
        assert!(
            matches!(refused, Err(Breakdown::DependentContacts { ref set, rcond }) if *set == [0, 1] && rcond < 1e-11),
            "{refused:?}"
        );
    }
}

/// What leans carries nothing; the large forces on what it leans on cancel but for rounding.
#[test]
fn a_body_that_leans_on_a_wedged_one_stays() {
    for part in [1.0, 1.3] {
        for k in 0..400 {
            let angle = 0.1 * 1e-4f64.powf(f64::from(k) / 400.0);
            let wedge = Wedge {
                angles: [angle, part * angle],
                weight: 9810.0,
                leaning: true,
            };
            rests_where_it_is(wedge, false);
        }
    }
}

#[test]
fn light_balls_under_a_heavy_one_stay_closed() {
    for balls in 1..=5 {
        for k in 0..=40 {
            let mut masses: Vec<f64> = (0..balls).map(|i| 1.0 + 0.19 * f64::from(i)).collect();
            masses.push(10f64.powf(0.2 * f64::from(k)));
            let n = masses.len();
            let model = ContactModel::new(Line::above_floor(&masses, 0.5, fall));
            let rest = vec![0.0; n];
            let start = model.start(&Start::at(0.0).q(&rest).v(&rest)).unwrap();
            assert_eq!(model.closed(&start.mode).len(), n, "{masses:?}");
            let mut simulation = EventDriven::new(model).unwrap();
            let run = simulation
                .integrate(&Start::at(0.0).q(&rest).v(&rest), 1.0)
                .unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd);
            assert!(run.events().is_empty());
        }
    }
}
