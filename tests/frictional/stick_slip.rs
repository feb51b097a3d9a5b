//! Sticking and slipping contacts against the reference of friction and sliding: event times, modes
//! and states of blocks, rods and ladders.

use saltation::impact::{AnitescuPotra, Contacting};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{RockingBlock, SlidingRod};
use saltation::nalgebra::DVector;
use saltation::{ContactModel, EventDriven, Run, Start};

use crate::ladders::Ladder;

const FILE: &str = include_str!("../data/friction_reference.csv");
const GRAVITY: f64 = 9.81;

/// Rows of a case: quantity, i, j, value, note.
pub(crate) fn rows(
    case: &str,
) -> Vec<(&'static str, &'static str, &'static str, f64, &'static str)> {
    let split = |line: &'static str| {
        let fields: Vec<&str> = line.splitn(7, ',').collect();
        let value = fields[4].parse().unwrap_or(f64::NAN);
        (fields[0] == case).then(|| (fields[1], fields[2], fields[3], value, fields[6]))
    };
    let found: Vec<_> = FILE.lines().skip(1).filter_map(split).collect();
    assert!(!found.is_empty(), "{case}");
    found
}

pub(crate) fn value(case: &str, quantity: &str, i: &str, j: &str) -> f64 {
    let of = |row: &&(&str, &str, &str, f64, &str)| (row.0, row.1, row.2) == (quantity, i, j);
    rows(case)
        .iter()
        .find(of)
        .unwrap_or_else(|| panic!("{case} {quantity}"))
        .3
}

/// What the driver made of a start.
struct Found {
    /// The contact modes in which time is spent, with the times from which they hold.
    modes: Vec<(f64, String)>,
    /// `(q, v)` at the beginning of each.
    begins: Vec<DVector<f64>>,
    /// Normal and tangential impulses of all contacts at the impacts, with their times.
    impacts: Vec<(f64, [Vec<f64>; 2])>,
    at: Box<dyn Fn(f64) -> DVector<f64>>,
    state: DVector<f64>,
}

pub(crate) fn letter(of: Contacting) -> char {
    match of {
        Contacting::Open => 'o',
        Contacting::Stick => 's',
        Contacting::SlipForward => '+',
        _ => '-',
    }
}

fn of_start<S>(system: &S, (q, v): (&[f64], &[f64]), tf: f64) -> Found
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let start = Start::at(0.0).q(q).v(v);
    let model = ContactModel::with_law(system, AnitescuPotra::new());
    let mut driver = EventDriven::new(model).unwrap().rtol(1e-12).atol(1e-13);
    let run = driver.integrate(&start, tf).unwrap().completed().unwrap();
    of_events(driver.model(), run)
}

fn of_events<S>(model: &ContactModel<S>, run: Run) -> Found
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let n = model.system().contacts();
    let mut modes: Vec<(f64, String)> = Vec::new();
    for change in run.modes() {
        let word = (0..n).map(|j| letter(model.contacting(&change.mode, j)));
        let word: String = word.collect();
        match modes.last_mut() {
            Some(last) if last.0 == change.t => last.1 = word,
            _ => modes.push((change.t, word)),
        }
    }
    modes.retain(|(t, _)| *t < run.t());
    modes.dedup_by(|next, last| next.1 == last.1);
    let begins = modes.iter().map(|(t, _)| run.state_at(*t).unwrap());
    let mut impacts = Vec::new();
    for event in run.events().iter().filter(|event| event.order.is_some()) {
        let (mut all, m) = ([vec![0.0; n], vec![0.0; n]], event.contacts.len());
        for (i, &j) in event.contacts.iter().enumerate() {
            all[0][j] = event.impulses[i];
            all[1][j] = event.impulses[m + i];
        }
        impacts.push((event.t, all));
    }
    Found {
        begins: begins.collect(),
        modes,
        impacts,
        state: run.state().clone(),
        at: Box::new(move |t| run.state_at(t).unwrap()),
    }
}

/// Events, states at them and at the end, and impulses of a case.
fn check<S>(case: &str, system: &S, start: (&[f64], &[f64]))
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let rows = rows(case);
    let end = rows.iter().find(|row| row.0 == "q_T");
    let end: f64 = end.unwrap().2.parse().unwrap();
    let found = of_start(system, start, end);
    let events: Vec<_> = rows.iter().filter(|row| row.0 == "event_time").collect();
    let word = |note: &'static str| {
        let after = note.split("-> ").nth(1).unwrap();
        after.split([';', '"']).next().unwrap().trim()
    };
    let expected: Vec<_> = events.iter().map(|row| (row.3, word(row.4))).collect();
    expect_modes(&found, &expected);
    for &(quantity, i, j, expected, _) in &rows {
        let number = |text: &str| text.parse::<usize>().unwrap();
        let size = start.0.len();
        let impulse = |part: usize| {
            let t = found.modes[number(i)].0;
            let impact = found.impacts.iter().find(|impact| impact.0 == t);
            impact.unwrap().1[part][number(j)]
        };
        let value = match quantity {
            "q" => found.begins[number(i)][number(j)],
            "v" => found.begins[number(i)][size + number(j)],
            "q_T" => found.state[number(i)],
            "v_T" => found.state[size + number(i)],
            "impulse_n" => impulse(0),
            "impulse_t" => impulse(1),
            _ => continue,
        };
        assert!(
            (value - expected).abs() < 1e-8,
            "{case} {quantity} {i} {j}: {value} {expected}"
        );
    }
}

#[test]
fn blocks_rock_and_slip_as_the_reference_says() {
    for (case, friction, theta) in [
        ("rocking_block_0.3", 0.3, 0.15),
        ("rocking_block_0.2", 0.2, 0.2),
        ("rocking_block_0.34", 0.34, 0.15),
    ] {
        let block = RockingBlock {
            friction,
            ..RockingBlock::default()
        };
        let (mut q, v) = block.pivoting(theta, 0.0);
        // The reference has the corner at the origin.
        q[0] += 0.5;
        check(case, &block, (&q, &v));
    }
    let block = RockingBlock {
        friction: 0.6,
        ..RockingBlock::default()
    };
    check(
        "tipping_block_0.6",
        &block,
        (&[0.0, 1.0, 0.0], &[2.0, 0.0, 0.0]),
    );
}

#[test]
fn pushed_rods_reverse_stick_and_lift_off_as_the_reference_says() {
    for (case, friction) in [
        ("pushed_rod_1.2_50", 1.2),
        ("pushed_rod_1.4_50", 1.4),
        ("pushed_rod_1.4_52", 1.4),
    ] {
        let rod = SlidingRod {
            friction,
            ..SlidingRod::default()
        };
        let [q, v] =
            ["q", "v"].map(|of| [0, 1, 2].map(|j: usize| value(case, of, "0", &j.to_string())));
        check(case, &rod, (&q, &v));
    }
}

#[test]
fn ladders_leave_the_wall_as_the_reference_says() {
    for (case, friction, degrees) in [
        ("sliding_ladder_0_0", [0.0, 0.0], 60.0_f64),
        ("sliding_ladder_0.2_0.2", [0.2, 0.2], 55.0),
        ("sliding_ladder_0.1_0.3", [0.1, 0.3], 50.0),
    ] {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        let q = [cosine, sine, degrees.to_radians()];
        let ladder = Ladder {
            friction,
            tangents: 1,
        };
        check(case, &ladder, (&q, &[0.0; 3]));
    }
}

/// A body of mass 1 on a plane, `(x, y)`, under a force that varies with time.
pub(crate) struct Forced<F> {
    pub(crate) friction: f64,
    pub(crate) force: F,
}

impl<F: Fn(f64) -> [f64; 2]> MechanicalSystem for Forced<F> {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&(self.force)(t));
    }
}

impl<F> UnilateralConstraints for Forced<F> {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1]
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0]);
    }
}

fn expect_modes(found: &Found, expected: &[(f64, &str)]) {
    let words: Vec<&str> = found.modes.iter().map(|(_, word)| word.as_str()).collect();
    let wanted: Vec<&str> = expected.iter().map(|(_, word)| *word).collect();
    assert_eq!(words, wanted, "{:?}", found.modes);
    for ((t, _), (expected, word)) in found.modes.iter().zip(expected) {
        let close = (t - expected).abs() < 1e-9;
        assert!(close, "{word}: {t} {expected}");
    }
}

#[test]
fn a_body_on_a_tilting_plane_and_a_pushed_one_stick_and_slip() {
    let case = "tilting_plane";
    let tilting = Forced {
        friction: 0.4,
        force: |t: f64| {
            let (sine, cosine) = (0.6 * (2.0 * t).sin()).sin_cos();
            [GRAVITY * sine, -GRAVITY * cosine]
        },
    };
    let [slip, stick, again] =
        ["slip_time", "stick_time", "next_slip_time"].map(|of| value(case, of, "", ""));
    let found = of_start(&tilting, (&[0.0; 2], &[0.0; 2]), 2.0);
    expect_modes(
        &found,
        &[(0.0, "s"), (slip, "+"), (stick, "s"), (again, "-")],
    );
    let moved = (found.at)(0.5 * (stick + again))[0];
    assert!((moved - value(case, "distance", "", "")).abs() < 1e-9);
    let case = "forced_block";
    let forced = Forced {
        friction: 0.4,
        force: |t: f64| [6.0 * (3.0 * t).sin(), -GRAVITY],
    };
    let [slip, stop, again] =
        ["slip_time", "stop_time", "next_slip_time"].map(|of| value(case, of, "", ""));
    let found = of_start(&forced, (&[0.0; 2], &[0.0; 2]), 1.4);
    expect_modes(
        &found,
        &[(0.0, "s"), (slip, "+"), (stop, "s"), (again, "-")],
    );
    let moved = (found.at)(0.5 * (stop + again))[0];
    assert!((moved - value(case, "x_stop", "", "")).abs() < 1e-9);
}

/// Thrown up an incline: it stops after v²/(2 (g sin α + μ g cos α)), and comes back or stays.
#[test]
fn a_body_thrown_up_an_incline_stops_and_slides_back_or_stays() {
    for (degrees, friction) in [(30.0_f64, 0.3), (30.0, 0.7), (10.0, 0.1), (45.0, 2.0)] {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        let body = Forced {
            friction,
            force: move |_: f64| [-GRAVITY * sine, -GRAVITY * cosine],
        };
        let (speed, tf) = (3.0, 2.0);
        let braking = GRAVITY * (sine + friction * cosine);
        let stop = speed / braking;
        let slides = sine > friction * cosine;
        let after = if slides { "-" } else { "s" };
        let height = 0.5 * speed * speed / braking;
        let falling = if slides {
            GRAVITY * (sine - friction * cosine)
        } else {
            0.0
        };
        let expected = height - 0.5 * falling * (tf - stop) * (tf - stop);
        let found = of_start(&body, (&[0.0; 2], &[speed, 0.0]), tf);
        expect_modes(&found, &[(0.0, "+"), (stop, after)]);
        assert!(((found.at)(stop)[0] - height).abs() < 1e-9);
        assert!((found.state[0] - expected).abs() < 1e-8);
        // The arclength counts the weight on the plane.
        let model = ContactModel::with_law(&body, AnitescuPotra::new());
        let mut driver = EventDriven::new(model).unwrap().rtol(1e-12).atol(1e-13);
        let v = [speed, 0.0];
        let start = Start::at(0.0).q(&[0.0; 2]).v(&v);
        let run = driver.integrate(&start, tf).unwrap();
        let expected = (1.0 + GRAVITY * cosine) * tf;
        let over = driver.model().arclength(&run).unwrap();
        assert!((over.s() - expected).abs() < 1e-9);
    }
}

/// Bodies of 2 and 1 kg, one on the other, `(x, y)` each; the upper one is pulled by 2 t.
struct Stack {
    between: f64,
}

impl MechanicalSystem for Stack {
    fn dof(&self) -> usize {
        4
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for (i, m) in [2.0, 2.0, 1.0, 1.0].into_iter().enumerate() {
            mass[5 * i] = m;
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -2.0 * GRAVITY, 2.0 * t, -GRAVITY]);
    }
}

impl UnilateralConstraints for Stack {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        [q[1], q[3] - q[1] - 1.0][j]
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn friction(&self, j: usize) -> f64 {
        [0.2, self.between][j]
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn constant_tangents(&self, _j: usize) -> bool {
        true
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[[1.0, 0.0, 0.0, 0.0], [-1.0, 0.0, 1.0, 0.0]][j]);
    }
}

#[test]
fn of_a_stack_the_upper_or_the_lower_body_slips_first() {
    let case = "two_block_stack";
    let start = (&[0.0, 0.0, 0.0, 1.0][..], &[0.0; 4][..]);
    let slip = value(case, "t_interface_slip", "0.5", "");
    let found = of_start(&Stack { between: 0.5 }, start, 4.0);
    expect_modes(&found, &[(0.0, "ss"), (slip, "s+")]);
    let state = &found.state;
    assert!((state[6] - value(case, "v_top_T", "0.5", "4.0")).abs() < 1e-8);
    assert!((state[2] - value(case, "x_top_T", "0.5", "4.0")).abs() < 1e-8);
    let [floor, between] =
        ["t_floor_slip", "t_interface_slip"].map(|of| value(case, of, "0.8", ""));
    let found = of_start(&Stack { between: 0.8 }, start, 6.0);
    expect_modes(&found, &[(0.0, "ss"), (floor, "+s"), (between, "++")]);
    for (i, of) in [
        (0, "x_bottom_T"),
        (2, "x_top_T"),
        (4, "v_bottom_T"),
        (6, "v_top_T"),
    ] {
        let expected = value(case, of, "0.8", "6.0");
        assert!((found.state[i] - expected).abs() < 1e-8, "{of}");
    }
}

/// A square block of side 1 on a plane that turns: gravity turns by 0.1 t.
struct Turning;

impl MechanicalSystem for Turning {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 / 6.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let (sine, cosine) = (0.1 * t).sin_cos();
        effort.copy_from_slice(&[GRAVITY * sine, -GRAVITY * cosine, 0.0]);
    }
}

impl Turning {
    /// From the centre to a corner.
    fn corner(j: usize, q: &[f64]) -> [f64; 2] {
        let (sine, cosine) = q[2].sin_cos();
        let side = [-0.5, 0.5][j];
        [side * cosine + 0.5 * sine, side * sine - 0.5 * cosine]
    }
}

impl UnilateralConstraints for Turning {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[1] + Self::corner(j, q)[1]
    }
    fn friction(&self, _j: usize) -> f64 {
        0.3
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, -Self::corner(j, q)[1]]);
    }
}

/// Two corners that stick depend on each other: they hold as long as some forces do.
#[test]
fn a_block_on_a_turning_plane_holds_until_no_forces_hold_it() {
    let case = "block_on_turning_plane";
    let slip = value(case, "t_slip", "", "");
    let found = of_start(&Turning, (&[0.0, 0.5, 0.0], &[0.0; 3]), slip + 1.0);
    let words: Vec<&str> = found.modes.iter().map(|(_, word)| word.as_str()).collect();
    assert_eq!(words, ["ss", "++"], "{:?}", found.modes);
    let t = found.modes[1].0;
    assert!((t - slip).abs() < 1e-7, "{t} {slip}");
    let speed = value(case, "v_1s_after", "", "");
    assert!((found.state[3] - speed).abs() < 1e-7);
}
