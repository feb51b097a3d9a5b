//! Rods that slide on their ends near the critical coefficient of friction (Painlevé): they lift off, whatever the
//! tolerance, or jam.

use saltation::event_driven::Breakdown;
use saltation::impact::Selection;
use saltation::mechanics::{MechanicalSystem, Painleve, UnilateralConstraints};
use saltation::models::SlidingRod;
use saltation::record::ContactEvent;
use saltation::{ContactModel, EventDriven, Run, Start, Status};

use crate::random_bits::SplitMix64;

/// From an angle, with the end sliding at `speed` and turning at `spin`.
fn slides(friction: f64, [theta, speed, spin]: [f64; 3], rtol: f64, painleve: Painleve) -> Run {
    let rod = SlidingRod {
        friction,
        ..SlidingRod::default()
    };
    let (sine, cosine) = theta.sin_cos();
    let q = [0.0, sine, theta];
    let v = [speed - sine * spin, cosine * spin, spin];
    let model = ContactModel::new(rod).painleve(painleve);
    let mut driver = EventDriven::new(model).unwrap().rtol(rtol);
    driver.integrate(&Start::at(0.0).q(&q).v(&v), 0.3).unwrap()
}

/// The force falls through zero, so that the contact opens: rounding behind the event asks for no choice
/// among motions.
#[test]
fn rods_lift_off_at_any_tolerance() {
    for (friction, theta, spin) in [
        (1.5, 0.55, 2.0),
        (1.4, 0.55, 2.0),
        (1.5, 0.6, 2.0),
        (1.5, 0.6, 2.5),
        (1.2, 0.6, 2.5),
        (1.5, 0.5, 3.0),
    ] {
        let run = |rtol| slides(friction, [theta, -9.0, spin], rtol, Painleve::Error);
        let exact = run(1e-11);
        let lifts = exact.events()[0].t;
        for exponent in 4..11 {
            let rtol = 10f64.powi(-exponent);
            let run = run(rtol);
            assert_eq!(
                *run.status(),
                Status::ReachedEnd,
                "{friction} {theta} {spin} {rtol}"
            );
            let last = run.modes().last().unwrap();
            assert!(
                last.mode.flags().next().is_none(),
                "{friction} {theta} {spin} {rtol}"
            );
            assert!(
                (run.events()[0].t - lifts).abs() < 0.1 * rtol.sqrt(),
                "{friction} {theta} {spin} {rtol}: {} {lifts}",
                run.events()[0].t
            );
        }
    }
}

/// About the point where neither force nor acceleration without it are left, a rod lifts off, or its force grows
/// until steps are too short: then the reason is named.
#[test]
fn a_rod_that_slides_to_where_no_force_holds_it_lifts_off_or_jams() {
    let mut jams = 0;
    for painleve in [Painleve::Error, Painleve::Impact] {
        for theta in [0.4, 0.5] {
            for exponent in 5..11 {
                let run = slides(2.0, [theta, -8.0, 2.0], 10f64.powi(-exponent), painleve);
                let Status::Refused(stop) = run.status() else {
                    assert_eq!(run.events()[0].released, [0]);
                    continue;
                };
                let jam = stop.downcast();
                let is_jam = matches!(jam, Some(Breakdown::Jam { contact: 0, .. }));
                assert!(is_jam, "{painleve:?} {theta} {exponent}: {stop}");
                let critical = SlidingRod::default().critical_friction(run.state()[2]);
                assert!((critical - 2.0).abs() < 1e-3, "{critical}");
                jams += 1;
            }
        }
    }
    assert!(jams > 0);
}

/// Where a rod may slide or lift off, and slides, its force falls through zero as it begins to sink without it: an impact
/// without collision follows, and it does not sink.
#[test]
fn a_rod_that_chose_to_slide_where_friction_presses_it_down_is_pushed() {
    let cases = if cfg!(debug_assertions) { 100 } else { 500 };
    let (mut pushed, mut slid) = (0, 0);
    for seed in 0..cases {
        let mut draw = SplitMix64(seed);
        let rod = SlidingRod {
            friction: draw.between(1.5, 4.0),
            ..SlidingRod::default()
        };
        let [theta, speed, spin] =
            [(0.4, 1.2), (-12.0, -3.0), (-6.0, -3.0)].map(|(a, b)| draw.between(a, b));
        let (sine, cosine) = theta.sin_cos();
        let (q, v) = (
            [0.0, sine, theta],
            [speed - sine * spin, cosine * spin, spin],
        );
        let model = ContactModel::new(rod).selection(Selection::Keyed(7));
        let model = model.painleve(Painleve::Impact);
        let mut driver = EventDriven::new(model).unwrap().rtol(1e-9).atol(1e-11);
        let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), 1.0).unwrap();
        let reason: Option<&Breakdown> = run.status().reason();
        // Where neither force nor acceleration is left it may let go by less than gaps resolve, and come back.
        let last = run
            .events()
            .last()
            .map_or(theta, |event| event.state_after[2]);
        let is_critical = (rod.friction / rod.critical_friction(last) - 1.0).abs() < 0.01;
        let is_fine = matches!(reason, None | Some(Breakdown::Jam { .. })) || is_critical;
        assert!(is_fine, "{seed}: {}", run.status());
        let is_pushed = |event: &ContactEvent| event.to_string().contains("without a collision");
        slid += usize::from(run.modes()[0].mode.flags().next().is_some());
        let later = run.events().iter().filter(|event| event.t > 0.0);
        pushed += later.filter(|event| is_pushed(event)).count();
    }
    assert!(slid > 0 && pushed > 0, "{slid} {pushed}");
}

/// A rod whose mass is near its middle, so that smaller coefficients are critical.
struct Loaded {
    rod: SlidingRod,
    inertia: f64,
}

impl MechanicalSystem for Loaded {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        (mass[0], mass[4], mass[8]) = (self.rod.mass, self.rod.mass, self.inertia);
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.rod.effort(t, q, v, effort);
    }
}

impl UnilateralConstraints for Loaded {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.rod.gap(j, q)
    }
    fn friction(&self, j: usize) -> f64 {
        self.rod.friction(j)
    }
    fn tangents(&self, j: usize) -> usize {
        self.rod.tangents(j)
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        self.rod.tangent_rows(j, q, rows);
    }
}

/// A rod that slides to a stop in the direction in which friction lets it: the stop is off to the other
/// side by what the steps leave, where no mode would be consistent, and it sticks all the same.
#[test]
fn a_slip_that_comes_to_rest_sticks_where_the_other_side_has_no_mode() {
    let mut stops = 0;
    for case in 0..if cfg!(debug_assertions) { 30_u32 } else { 60 } {
        let part = |of: u32| f64::from(case * of % 61) / 61.0;
        let (friction, theta) = (1.0 + 2.0 * part(7), 0.3 + 1.1 * part(11));
        let (slip, spin) = (0.1 + 1.4 * part(17), 4.0 * part(23) - 2.0);
        let inertia = 0.05 + 0.29 * part(31);
        let rod = SlidingRod {
            friction,
            ..SlidingRod::default()
        };
        let (sine, cosine) = theta.sin_cos();
        let q = [0.0, sine, theta];
        // The slip of the end, one way and the other.
        for slip in [slip, -slip] {
            let v = [slip - sine * spin, cosine * spin, spin];
            for rtol in [1e-6, 1e-8, 1e-10] {
                let rod = Loaded { rod, inertia };
                let driver = EventDriven::new(ContactModel::new(rod)).unwrap();
                let start = Start::at(0.0).q(&q).v(&v);
                let run = driver.rtol(rtol).integrate(&start, 0.4).unwrap();
                let Status::Refused(stop) = run.status() else {
                    let stuck = |event: &&ContactEvent| event.t > 0.0 && !event.stuck.is_empty();
                    stops += run.events().iter().filter(stuck).count();
                    continue;
                };
                // But where it slips with a speed.
                let x = run.state();
                let speed = x[3] + x[5] * x[2].sin();
                let is_stop = run.t() > 0.0 && speed.abs() < 1e-5;
                assert!(!is_stop, "{case} {slip} {rtol}: {stop}");
            }
        }
    }
    assert!(stops > 30, "{stops}");
}
