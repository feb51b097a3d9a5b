//! Parts of steps without length, contacts that hardly open or have just left, efforts of closed
//! contacts.

use saltation::impact::Propagative;
use saltation::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use saltation::models::BouncingBall;
use saltation::variational::VariationalFailure;
use saltation::{ContactModel, Start, Variational};

/// Points that move up and down, each above its own floor.
#[derive(Clone)]
pub(crate) struct Points {
    pub(crate) masses: Vec<f64>,
    floors: Vec<f64>,
    gravity: f64,
    restitution: f64,
}

impl Points {
    pub(crate) fn new(floors: &[f64]) -> Self {
        Self {
            masses: vec![1.0; floors.len()],
            floors: floors.to_vec(),
            gravity: 9.81,
            restitution: 0.5,
        }
    }
}

impl MechanicalSystem for Points {
    fn dof(&self) -> usize {
        self.masses.len()
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for (i, m) in self.masses.iter().enumerate() {
            mass[i * (self.masses.len() + 1)] = *m;
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        for (effort, m) in effort.iter_mut().zip(&self.masses) {
            *effort = -m * self.gravity;
        }
    }
}

impl UnilateralConstraints for Points {
    fn contacts(&self) -> usize {
        self.floors.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[j] - self.floors[j]
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}

#[test]
fn a_point_at_rest_stays_there_when_another_lands_at_the_start_of_a_step() {
    for (slack, by) in [
        (5e-11, 1e-12),
        (1e-17, 1e-17),
        (5e-11, 1e-18),
        (5e-11, 5e-11),
    ] {
        for sign in [-1.0, 1.0] {
            let points = Points {
                gravity: 0.0,
                ..Points::new(&[0.0, 0.0])
            };
            let mut driver = Variational::new(ContactModel::new(points))
                .unwrap()
                .time_step(0.125);
            // The second lands after four steps and a little.
            let run = driver
                .integrate(
                    &Start::at(0.0).q(&[sign * slack, 0.5 + by]).v(&[0.0, -1.0]),
                    1.0,
                )
                .unwrap();
            let run = run.completed().unwrap();
            let fastest =
                (0..run.times().len()).fold(0.0f64, |most, k| most.max(run.v(k)[0].abs()));
            assert!(fastest < 1e-8, "{slack} {by} {fastest:e}");
            assert!((run.state()[3] - 0.5).abs() < 1e-12);
        }
    }
}

#[test]
fn points_at_rest_above_the_origin_stay_there_when_another_lands_on_a_node() {
    for floor in [0.1, 1.3, 1000.3] {
        for k in 1..40 {
            let h = 0.01;
            let time = h * f64::from(k);
            let points = Points::new(&[floor, floor, 0.0]);
            let mut driver = Variational::new(ContactModel::new(points))
                .unwrap()
                .time_step(h);
            let height = 0.5 * 9.81 * time * time;
            let run = driver
                .integrate(
                    &Start::at(0.0).q(&[floor, floor, height]).v(&[0.0; 3]),
                    0.45,
                )
                .unwrap();
            let run = run.completed().unwrap();
            for n in 0..run.times().len() {
                let fastest = run.v(n)[0].abs().max(run.v(n)[1].abs());
                assert!(fastest < 1e-8, "{floor} {k} {n} {fastest:e}");
            }
        }
    }
}

#[test]
fn a_point_that_hardly_leaves_its_floor_comes_to_rest() {
    for speed in [2e-8, 1e-7, 1e-6, 1e-5] {
        for floor in [0.0, 1.0, 1000.0] {
            let mut driver = Variational::new(ContactModel::new(Points::new(&[floor])))
                .unwrap()
                .time_step(0.01);
            let run = driver
                .integrate(&Start::at(0.0).q(&[floor]).v(&[speed]), 0.1)
                .unwrap();
            let run = run.completed();
            assert!(run.is_ok(), "{speed} {floor} {run:?}");
            assert!(run.unwrap().state()[1].abs() < 1e-12);
        }
    }
}

#[test]
fn a_fall_is_followed_to_rest_on_a_high_floor() {
    let mut driver = Variational::new(ContactModel::new(Points::new(&[1000.0])))
        .unwrap()
        .time_step(0.01);
    driver = driver.chatter(None);
    let run = driver
        .integrate(&Start::at(0.0).q(&[1001.0]).v(&[0.0]), 2.0)
        .unwrap();
    let run = run.completed().unwrap();
    assert!(run.state()[1].abs() < 1e-7);
}

/// A point that adhesion holds while it touches the floor.
struct Sticky;

impl MechanicalSystem for Sticky {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = 1.0;
    }
    fn contact_effort(&self, _state: State<'_>, closed: &[usize], effort: &mut [f64]) -> bool {
        if !closed.is_empty() {
            effort[0] -= 5.0;
        }
        true
    }
}

impl UnilateralConstraints for Sticky {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0]
    }
}

#[test]
fn efforts_of_closed_contacts_are_not_ignored() {
    let mut driver = Variational::new(ContactModel::new(Sticky))
        .unwrap()
        .time_step(0.01);
    let run = driver.integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 1.0);
    assert!(run.unwrap().completed().unwrap().state()[0].abs() < 1e-12);
}

/// A wall whose gap is not a number half way.
struct Hole;

impl MechanicalSystem for Hole {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = 0.0;
    }
}

impl UnilateralConstraints for Hole {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        if (-0.1..0.2).contains(&q[0]) {
            f64::NAN
        } else {
            q[0]
        }
    }
}

#[test]
fn a_gap_that_is_not_a_number_within_a_step_is_told() {
    let mut driver = Variational::new(ContactModel::new(Hole))
        .unwrap()
        .time_step(1.0);
    let run = driver
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[-2.0]), 1.0)
        .unwrap();
    let failure = run.completed().unwrap_err();
    assert!(
        matches!(
            failure.downcast(),
            Some(VariationalFailure::NotFinite { .. })
        ),
        "{failure}"
    );
}

#[test]
fn a_run_shorter_than_rounding_of_a_step_reaches_its_end() {
    let mut driver = Variational::new(ContactModel::new(BouncingBall::default()))
        .unwrap()
        .time_step(1.0);
    let run = driver
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 1e-10)
        .unwrap();
    assert_eq!(run.t(), 1e-10);
}

/// A bar whose right end is lifted off by a push of the clock, while another point lands.
struct Lifted;

impl MechanicalSystem for Lifted {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.4, 0.4, 1.0]);
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = if t > 0.45 { 20.0 } else { -10.0 };
        effort[1] = 0.0;
    }
}

impl UnilateralConstraints for Lifted {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[j]
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        1.0
    }
}

#[test]
fn a_contact_that_has_left_takes_no_part_in_the_impact_of_another() {
    let mut driver = Variational::new(ContactModel::new(Lifted))
        .unwrap()
        .time_step(0.5);
    let run = driver
        .integrate(&Start::at(0.0).q(&[0.0, 0.9]).v(&[0.0, -1.0]), 1.0)
        .unwrap();
    let run = run.completed().unwrap();
    for event in run.events() {
        for &j in &event.contacts {
            assert!(event.state_before[j].abs() < 1e-9, "{event:?}");
        }
    }
}

#[test]
fn cradles_of_points_on_a_line_pass_the_blow_on() {
    // A persistent contact that is hit by an elastic impact of its neighbour.
    let law = Propagative::default();
    let mut driver = Variational::new(ContactModel::with_law(Line, law))
        .unwrap()
        .time_step(0.01);
    let run = driver
        .integrate(
            &Start::at(0.0).q(&[-0.505, 0.0, 1.0]).v(&[1.0, 0.0, 0.0]),
            1.0,
        )
        .unwrap();
    let run = run.completed().unwrap();
    let v = &run.state().as_slice()[3..];
    assert!(
        v[0].abs() < 1e-12 && v[1].abs() < 1e-12 && (v[2] - 1.0).abs() < 1e-12,
        "{v:?}"
    );
}

/// Three points in a row, of width 0 with contacts `q1 − q0`, `q2 − q1 − 1`.
struct Line;

impl MechanicalSystem for Line {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
    }
}

impl UnilateralConstraints for Line {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        if j == 0 {
            q[1] - q[0]
        } else {
            q[2] - q[1] - 1.0
        }
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        1.0
    }
}

#[test]
fn heavy_and_light_bodies_rest_side_by_side() {
    let mut points = Points::new(&[0.1, 0.1, 0.7]);
    points.masses = vec![1e9, 1e-6, 1.0];
    let mut driver = Variational::new(ContactModel::new(points))
        .unwrap()
        .time_step(0.001);
    let run = driver
        .integrate(&Start::at(0.0).q(&[0.1, 0.1, 0.7]).v(&[0.0; 3]), 0.3)
        .unwrap()
        .completed()
        .unwrap();
    for k in 0..run.times().len() {
        for v in run.v(k) {
            assert!(v.abs() < 1e-9, "{k} {:?}", run.v(k));
        }
    }
}

#[test]
fn points_that_know_nothing_of_each_other_fall_as_if_alone() {
    for (restitution, h) in [(1.0, 0.4), (0.0, 0.3), (0.6, 0.4)] {
        for case in 0..3 {
            let n = 6;
            let draw = |k: usize| (f64::from(case) + 1.7 * k as f64).sin().abs();
            // Some of them land together, some stand already.
            let floors: Vec<f64> = (0..n).map(|k| 0.3 * draw(k / 2)).collect();
            let heights: Vec<f64> = (0..n)
                .map(|k| if k == 4 { 0.0 } else { draw(20 + k / 2) })
                .collect();
            let q: Vec<f64> = floors.iter().zip(&heights).map(|(f, h)| f + h).collect();
            let run = |floors: &[f64], q: &[f64]| {
                let mut points = Points::new(floors);
                points.restitution = restitution;
                let driver = Variational::new(ContactModel::new(points))
                    .unwrap()
                    .time_step(h)
                    .chatter(None);
                let mut driver = driver.max_impacts(300);
                let run = driver
                    .integrate(&Start::at(0.0).q(q).v(&vec![0.0; q.len()]), 2.0)
                    .unwrap();
                run.completed().unwrap().every(h).unwrap().states
            };
            let together = run(&floors, &q);
            for i in 0..n {
                let alone = run(&floors[i..=i], &q[i..=i]);
                for k in 0..alone.ncols() {
                    let apart = (alone[(0, k)] - together[(i, k)]).abs();
                    assert!(apart < 1e-7, "{restitution} {h} {case} {i} {k} {apart:e}");
                }
            }
        }
    }
}

#[test]
fn the_fourth_impact_within_a_step_is_plastic() {
    use saltation::event_driven::ContactEventKind;
    use saltation::variational::Chatter;
    let rule = Chatter::default().time(0.0);
    let mut driver = Variational::new(ContactModel::new(BouncingBall::default()))
        .unwrap()
        .time_step(2.0);
    driver = driver.chatter(Some(rule));
    let run = driver
        .integrate(&Start::at(0.0).q(&[0.1]).v(&[0.0]), 2.0)
        .unwrap();
    let run = run.completed().unwrap();
    assert_eq!(run.events().len(), 4);
    assert_eq!(run.events()[3].kind, ContactEventKind::ZenoAbsorbed);
    assert_eq!(run.events()[2].kind, ContactEventKind::Contact);
}
