//! Where guards are met does not depend on when the run is to end: flights without error let steps
//! grow to the whole run. And where projections, which are only as exact as the tolerance, meet
//! them, the stated error of the time holds for a hundred flights.

use saltation::{
    Arrival, Doubt, GuardCrossing, Integrator, Observer, Projection, Start, Status, Watch,
};

use crate::fixtures::support::{Sketch, SplitMix64, falling};

/// A ball that falls from a height.
#[derive(Clone, Copy, Debug)]
struct Ball {
    height: f64,
    gravity: f64,
    restitution: f64,
    /// Thrown up from the floor; else dropped from rest.
    is_thrown: bool,
    /// The gradient of its height is written.
    is_written: bool,
}

impl Ball {
    fn speed(self) -> f64 {
        (2.0 * self.gravity * self.height).sqrt()
    }

    /// How long the first flight is (s).
    fn flight(self) -> f64 {
        2.0 * self.speed() / self.gravity
    }

    /// When it hits the floor for the n-th time, from 1.
    fn impact_time(self, n: i32) -> f64 {
        let flights: f64 = (1..n).map(|i| 2.0 * self.restitution.powi(i)).sum();
        let first = if self.is_thrown { 2.0 } else { 1.0 };
        self.speed() / self.gravity * (first + flights)
    }
}

/// How far its first hundred impacts are off.
struct Watched {
    ball: Ball,
    impacts: i32,
    /// How many of them were met by projection.
    projected: usize,
    /// The largest `|h|` where they were located, beyond what rounding of the time allows (m).
    gap: f64,
    /// The largest error of a time (s).
    late: f64,
    /// The largest part of what is stated that it is, beyond what rounding allows; or that the time
    /// to the floor is, where a projection missed it.
    of_stated: f64,
    /// The part of the speed that rounding changes a flight.
    rounding: f64,
    doubts: usize,
}

impl Watched {
    fn new(ball: Ball, rounding: f64) -> Self {
        Self {
            ball,
            rounding,
            impacts: 0,
            projected: 0,
            gap: 0.0,
            late: 0.0,
            of_stated: 0.0,
            doubts: 0,
        }
    }
}

impl Observer for Watched {
    fn crossing(&mut self, crossing: &GuardCrossing) {
        self.impacts += 1;
        let late = (crossing.t - self.ball.impact_time(self.impacts)).abs();
        // What changed the speed once goes on in all flights to come.
        let flights = 0.5 * f64::from(self.impacts).powi(2);
        let rounding = self.rounding * flights * self.ball.flight();
        // Times have digits of their own.
        let of_time = 2.0 * f64::EPSILON * crossing.t * self.ball.speed();
        let gap = crossing.state[0].abs() - of_time;
        let mut wrong = late - rounding;
        if crossing.arrival == Arrival::Projected {
            self.projected += 1;
            wrong = wrong.max(gap / crossing.state[1].abs());
        } else {
            self.gap = self.gap.max(gap);
        }
        self.late = self.late.max(late);
        self.of_stated = self.of_stated.max(wrong / crossing.time_error);
    }

    fn doubt(&mut self, _doubt: &Doubt) {
        self.doubts += 1;
    }

    fn is_done(&self) -> bool {
        self.impacts >= 100
    }
}

fn watch(
    mut watched: Watched,
    tf: f64,
    set: impl FnOnce(Integrator<Sketch>) -> Integrator<Sketch>,
) -> Watched {
    let Ball {
        height,
        gravity,
        restitution,
        is_thrown,
        is_written,
    } = watched.ball;
    let system = falling(gravity)
        .events([Watch::FALLING], |_, _, x, _| x[0])
        .gradient(move |_, _, _, _, dh| {
            dh.copy_from_slice(&[1.0, 0.0]);
            is_written.then_some(0.0)
        })
        .ignoring_mode()
        .reset(move |_, _, x, _| {
            x[1] *= -restitution;
            Ok(())
        });
    let start = if is_thrown {
        [0.0, watched.ball.speed()]
    } else {
        [height, 0.0]
    };
    let summary = set(Integrator::new(system).unwrap())
        .observe(&Start::at(0.0).x(&start), tf, &mut watched)
        .unwrap();
    assert_eq!(summary.status, Status::Ended, "tf {tf:e}");
    watched
}

/// The part of the speed, and of the height of a flight, that rounding may change between two
/// impacts. Steps that are cut to the flight change some 22 units in the last place, whatever the
/// length of the run: their slopes are summed up in the same way in each flight.
const ROUNDING: f64 = 48.0 * f64::EPSILON;

/// The gap at a located impact is rounding of what the flight passed, or a millionth of the
/// tolerance, and times are as exact as is stated.
fn check(watched: &Watched, rtol: f64, what: &str) {
    let Watched {
        ball,
        impacts,
        gap,
        of_stated,
        doubts,
        ..
    } = *watched;
    let what = format!("{what}: {ball:?}, |h| {gap:e}, {of_stated} of stated");
    assert_eq!((impacts, doubts), (100, 0), "{what}");
    assert!(of_stated <= 1.0, "{what}");
    let height = ball.speed() * ball.flight();
    assert!(gap <= ROUNDING * height + 1e-6 * 1e-3 * rtol, "{what}");
}

#[test]
fn impacts_are_met_as_exactly_whenever_the_run_is_to_end() {
    let ball = Ball {
        height: 1.0,
        gravity: 9.81,
        restitution: 1.0,
        is_thrown: false,
        is_written: false,
    };
    for projection in [Projection::Auto, Projection::Off] {
        for exponent in 4..=24 {
            let tf = 10f64.powf(0.5 * f64::from(exponent));
            let watched = watch(Watched::new(ball, 0.0), tf, |integrator| {
                let integrator = integrator.projection(projection.clone());
                integrator.rtol(1e-6).atol(1e-9)
            });
            check(&watched, 1e-6, &format!("tf {tf:e}"));
            let late = watched.late / ball.flight();
            assert!(late <= 5_000.0 * ROUNDING, "tf {tf:e}: {late:e}");
        }
    }
}

fn random_balls(seed: u64, cases: usize) {
    let mut random = SplitMix64(seed);
    let (mut worst, mut gap, mut late) = (0f64, 0f64, 0f64);
    for case in 0..cases {
        let ball = Ball {
            height: 10f64.powf(random.between(-2.0, 3.0)),
            gravity: random.between(1.0, 20.0),
            restitution: random.between(0.97, 1.0),
            is_thrown: false,
            is_written: false,
        };
        let flights = ball.impact_time(101);
        let tf = flights * 10f64.powf(random.between(0.0, 11.0));
        let rtol = 10f64.powf(random.between(-12.0, -4.0));
        // All are located: a projection is only as exact as the tolerance.
        let watched = watch(Watched::new(ball, ROUNDING), tf, |integrator| {
            let integrator = integrator.projection(Projection::Off);
            integrator.rtol(rtol).atol(1e-3 * rtol)
        });
        check(
            &watched,
            rtol,
            &format!("case {case}, tf {tf:e}, rtol {rtol:e}"),
        );
        worst = worst.max(watched.of_stated);
        gap = gap.max(watched.gap / (ball.speed() * ball.flight()));
        late = late.max(watched.late / ball.flight());
    }
    println!("{cases} balls: gaps {gap:e}, late {late:e}, {worst} of the stated error");
}

#[test]
fn random_balls_are_met_within_the_stated_error() {
    random_balls(51, 60);
}

#[test]
#[ignore = "thousands of runs: a minute in release"]
fn many_random_balls_are_met_within_the_stated_error() {
    random_balls(52, 10_000);
}

/// Balls whose steps end now before an impact and now behind it, so that some are met by
/// projection; gradients are written or not.
fn projected_balls(seed: u64, cases: usize) {
    let mut random = SplitMix64(seed);
    let (mut balls, mut projected, mut worst) = (0, 0, 0f64);
    for case in 0..cases {
        let is_elastic = case % 2 == 0;
        let restitution = random.between(0.97, 1.0);
        let ball = Ball {
            height: 10f64.powf(random.between(-2.0, 3.0)),
            gravity: random.between(1.0, 20.0),
            restitution: if is_elastic { 1.0 } else { restitution },
            is_thrown: case % 4 < 2,
            is_written: case % 3 == 0,
        };
        let rtol = 10f64.powf(random.between(-6.0, -3.0));
        let longest = random.between(0.05, 0.5) * ball.flight();
        let tf = ball.impact_time(101);
        let watched = watch(Watched::new(ball, ROUNDING), tf, |integrator| {
            let integrator = integrator.projection(Projection::Auto);
            integrator.rtol(rtol).atol(1e-3 * rtol).max_step(longest)
        });
        let of_stated = watched.of_stated;
        let what = format!("case {case}, rtol {rtol:e}: {ball:?}, {of_stated} of stated");
        assert!(watched.impacts == 100 && of_stated <= 1.0, "{what}");
        worst = worst.max(of_stated);
        balls += usize::from(watched.projected > 0);
        projected += watched.projected;
    }
    println!("{projected} impacts of {balls} of {cases} balls are projected, {worst} of stated");
    assert!(3 * balls >= cases && projected >= 5 * cases);
}

#[test]
fn balls_that_are_projected_hit_the_floor_within_the_stated_error() {
    // The first impact alone is projected, 4e-7 s off, and shifts all others.
    let ball = Ball {
        height: 10.2,
        gravity: 6.62,
        restitution: 1.0,
        is_thrown: false,
        is_written: false,
    };
    let watched = Watched::new(ball, ROUNDING);
    let watched = watch(watched, ball.impact_time(101), |integrator| {
        let integrator = integrator.projection(Projection::Auto);
        integrator.rtol(9.6e-5).atol(9.6e-8)
    });
    assert_eq!((watched.impacts, watched.projected), (100, 1));
    assert!(watched.late > 5e-5, "{}", watched.late);
    assert!(watched.of_stated <= 1.0, "{}", watched.of_stated);
    projected_balls(53, 60);
}

#[test]
#[ignore = "thousands of runs: a minute in release"]
fn many_balls_that_are_projected_hit_the_floor_within_the_stated_error() {
    projected_balls(54, 10_000);
}
