//! What a run says of its own errors holds: the end of an accumulation, and the slip of contacts that
//! depend on each other.

use saltation::event_driven::{ContactEventKind, Zeno};
use saltation::impact::AnitescuPotra;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{BouncingBall, RockingBlock};
use saltation::{ContactModel, EventDriven, Run, Start};

use crate::arclength::{accumulation, rests};
use crate::random_bits::SplitMix64;

/// When a block that pivots about a corner with the rate `rate` comes to rest: the sum of its half
/// cycles, each a quadrature (spec 7.1). Gauss and Legendre's, in parts, after `θ = θ* (1 − y²)`.
fn rest_of(block: &RockingBlock, rate: f64) -> f64 {
    let (w, h, m) = (block.width, block.height, block.mass);
    let square = 0.25 * (w * w + h * h);
    let inertia = m * (w * w + h * h) / 12.0;
    let alpha = (h / w).atan();
    let k = m * block.gravity * square.sqrt() / (inertia + m * square);
    let factor = (inertia - m * square * (2.0 * alpha).cos()) / (inertia + m * square);
    let nodes = [
        (0.183_434_642_495_649_8, 0.362_683_783_378_362),
        (0.525_532_409_916_329, 0.313_706_645_877_887_3),
        (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
        (0.960_289_856_497_536_3, 0.101_228_536_290_376_3),
    ];
    let half = |rate: f64| {
        // sin(θ* + α) − sin α = ω²/(2 k), without cancellation for small rates
        let rise = rate * rate / (2.0 * k);
        let apex = angle_of_rise(rise, alpha);
        let integrand = |y: f64| {
            let theta = apex * (1.0 - y * y);
            // sin(θ* + α) − sin(θ + α) = 2 cos(mean) sin(half the difference)
            let difference = apex * y * y;
            let mean = 0.5 * (apex + theta) + alpha;
            let fall = 2.0 * mean.cos() * (0.5 * difference).sin();
            2.0 * apex * y / (2.0 * k * fall).sqrt()
        };
        let parts = 8;
        let mut sum = 0.0;
        for part in 0..parts {
            let middle = (f64::from(part) + 0.5) / f64::from(parts);
            for (node, weight) in nodes {
                for sign in [-1.0, 1.0] {
                    let y = middle + sign * node / (2.0 * f64::from(parts));
                    sum += weight / (2.0 * f64::from(parts)) * integrand(y);
                }
            }
        }
        2.0 * sum
    };
    let (mut rate, mut sum, mut terms) = (rate, 0.0, 0);
    while terms < 2000 && rate > 1e-300 {
        let term = half(rate);
        sum += term;
        if term < 1e-18 * sum {
            break;
        }
        rate *= factor;
        terms += 1;
    }
    sum
}

/// The least `θ ≥ 0` with `sin(θ + α) − sin α = rise`, by Newton's method.
fn angle_of_rise(rise: f64, alpha: f64) -> f64 {
    let mut theta = rise / alpha.cos();
    for _ in 0..60 {
        let value = 2.0 * (alpha + 0.5 * theta).cos() * (0.5 * theta).sin() - rise;
        theta -= value / (alpha + theta).cos();
    }
    theta
}

#[test]
fn the_sum_of_half_cycles_is_that_of_the_reference() {
    // spec 7.1, and the block of three metres
    assert!((rest_of(&RockingBlock::default(), 1.0) - 2.671421398374244).abs() < 1e-13);
    let tall = RockingBlock {
        height: 3.0,
        ..RockingBlock::default()
    };
    assert!((rest_of(&tall, 0.5) - 4.92805556812227).abs() < 1e-12);
}

/// How far the end of an accumulation is off, and the bound of that.
fn of(run: &Run, expected: f64) -> Option<(f64, f64)> {
    let rest = rests(run).next()?;
    Some((rest.t - expected, accumulation(rest)[1]))
}

fn off_and_bound(block: RockingBlock, rate: f64, settings: [f64; 3]) -> Option<(f64, f64)> {
    let [rate_tolerance, rtol, zeno] = settings;
    let expected = rest_of(&block, rate);
    let (q, v) = block.pivoting(0.0, rate);
    let model = ContactModel::with_law(block, AnitescuPotra::new()).rate_tolerance(rate_tolerance);
    let driver = EventDriven::new(model).unwrap().zeno(Zeno::Absorb);
    // Loose runs do not come to know the time so well before rebounds get too low to be resolved.
    let driver = driver.zeno_tolerance(zeno).zeno_time(1e-4);
    let mut driver = driver.rtol(rtol).atol(1e-2 * rtol);
    let start = Start::at(0.0).q(&q).v(&v);
    let run = driver.integrate(&start, expected + 0.5).unwrap();
    of(&run.completed().unwrap(), expected)
}

/// With restitution and without friction too.
#[test]
fn bounds_of_bouncing_balls_hold() {
    for restitution in [0.05, 0.3, 0.5, 0.8, 0.95] {
        for (rtol, zeno) in [(1e-12, 1e-11), (1e-9, 1e-8), (1e-7, 1e-3)] {
            let ball = BouncingBall {
                restitution,
                ..BouncingBall::default()
            };
            let expected = ball.accumulation(1.0);
            let driver = EventDriven::new(ContactModel::new(ball)).unwrap();
            let driver = driver.rtol(rtol).atol(1e-2 * rtol).zeno(Zeno::Absorb);
            let mut driver = driver.zeno_tolerance(zeno);
            let start = Start::at(0.0).q(&[1.0]).v(&[0.0]);
            let run = driver.integrate(&start, expected + 1.0).unwrap();
            let run = run.completed().unwrap();
            let (off, bound) = of(&run, expected).unwrap();
            assert!(
                off.abs() <= bound && bound < 1e-5 + zeno,
                "{restitution}: off by {off:e}, bound {bound:e}"
            );
            assert!(run.state().amax() < 1e-12);
        }
    }
}

/// With small tolerances of rates the times of the last impacts were noise: off by 2.5e-9 s with a
/// bound of 2.6e-12 s, or the run ended before its rest.
#[test]
fn the_bound_of_an_accumulation_holds_for_all_tolerances_of_rates() {
    let block = RockingBlock {
        height: 3.0,
        ..RockingBlock::default()
    };
    for tolerance in [1e-6, 1e-7, 1e-8, 1e-9, 3e-10, 1e-10, 3e-11, 1e-11, 1e-12] {
        let found = off_and_bound(block, 0.5, [tolerance, 1e-13, 1e-12]);
        let (off, bound) = found.unwrap_or_else(|| panic!("{tolerance:e}: no rest"));
        assert!(
            off.abs() <= bound,
            "{tolerance:e}: off by {off:e}, bound {bound:e}"
        );
        assert!(off.abs() < 1e-9, "{tolerance:e}: off by {off:e}");
        assert!(bound < 1e-6, "{tolerance:e}: {bound:e}");
    }
}

fn bounds_hold(seed: u64, count: usize) {
    let mut random = SplitMix64(seed);
    let (mut rests, mut worst, mut held) = (0, 0.0_f64, 0.0_f64);
    for case in 0..count {
        // tall enough to rock, and not to fall over
        let height = random.between(1.5, 4.0);
        let block = RockingBlock {
            height,
            ..RockingBlock::default()
        };
        let rate = random.between(0.05, 0.3);
        let mut power = |from: f64, to: f64| 10f64.powf(random.between(from, to));
        let settings = [power(-12.0, -6.0), power(-13.0, -6.0), power(-13.0, -6.0)];
        let Some((off, bound)) = off_and_bound(block, rate, settings) else {
            println!("{case}: no rest, {height} {rate} {settings:?}");
            continue;
        };
        rests += 1;
        worst = worst.max(off.abs() / bound);
        held = held.max(bound);
        assert!(
            off.abs() <= bound,
            "{case}: off by {off:e}, bound {bound:e}: {height} {rate} {settings:?}"
        );
    }
    println!("{rests} of {count} at rest; off by at most {worst:e} of the bound, {held:e}");
    assert!(rests * 100 >= count * 98, "{rests} of {count}");
}

#[test]
fn bounds_of_random_accumulations_hold() {
    bounds_hold(61, 6);
}

#[test]
#[ignore = "takes a minute: cargo test --release --test frictional -- --ignored"]
fn bounds_of_hundreds_of_random_accumulations_hold() {
    bounds_hold(62, 600);
}

/// A ladder at 50 degrees that is pulled at its foot: both contacts stick, and depend on each other.
struct Ladder {
    /// N/s.
    rate: f64,
}

impl MechanicalSystem for Ladder {
    fn dof(&self) -> usize {
        3
    }

    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 / 3.0]);
    }

    fn effort(&self, t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let pull = self.rate * t;
        effort.copy_from_slice(&[pull, -9.81, -q[2].sin() * pull]);
    }
}

impl UnilateralConstraints for Ladder {
    fn contacts(&self) -> usize {
        2
    }

    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        if j == 0 {
            q[1] - q[2].sin()
        } else {
            q[0] - q[2].cos()
        }
    }

    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let (sin, cos) = q[2].sin_cos();
        row.copy_from_slice(&if j == 0 {
            [0.0, 1.0, -cos]
        } else {
            [1.0, 0.0, sin]
        });
        true
    }

    fn friction(&self, j: usize) -> f64 {
        [0.7, 0.4][j]
    }

    fn tangents(&self, _j: usize) -> usize {
        1
    }

    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let (sin, cos) = q[2].sin_cos();
        rows.copy_from_slice(&if j == 0 {
            [1.0, 0.0, -sin]
        } else {
            [0.0, 1.0, cos]
        });
    }
}

/// The ladder slips at a pull of 2.92267090961134 N, with both contacts at the edges of their cones.
/// The slip is found late, by seconds where the pull rises slowly enough, and nothing said so.
#[test]
fn a_redundant_slip_says_by_how_much_it_may_be_late() {
    let angle = 50f64.to_radians();
    for rate in [10.0, 1.0, 0.1, 1e-3] {
        let slip = 2.92267090961134 / rate;
        let model = ContactModel::with_law(Ladder { rate }, AnitescuPotra::new());
        let driver = EventDriven::new(model).unwrap().zeno(Zeno::Absorb);
        let mut driver = driver.rtol(1e-9).atol(1e-11);
        // from shortly before, since the pull is a function of time: over five hundred seconds rounded
        // accelerations alone move the ladder by what it slips late
        let start = slip - f64::min(0.5 / rate, 50.0);
        let q = [angle.cos(), angle.sin(), angle];
        let run = driver
            .integrate(&Start::at(start).q(&q).v(&[0.0; 3]), slip + 0.01)
            .unwrap();
        let of_change = |t: f64| driver.model().lateness(&run, t).unwrap();
        let changes: Vec<f64> = run.modes()[1..].iter().map(|change| change.t).collect();
        let (late, said) = (changes[0] - slip, of_change(changes[0]));
        // the closed form has fifteen digits
        let rounding = 1e-12 / rate + 4.0 * f64::EPSILON * slip;
        assert!(late > -1e-3 * said - rounding, "{rate}: {late:e}");
        assert!(late <= said + rounding, "{rate}: {late:e}, {said:e}");
        assert!(said > 0.0 && said < 3e-8 / rate, "{rate}: {said:e}");
        // ends of modes of contacts that are independent say nothing of the kind
        let others = changes[1..].iter().chain([&start]);
        assert!(others.copied().all(|t| of_change(t) == 0.0));
    }
}

/// A particle that is thrown onto a floor, with restitution, in the plane or in space.
struct Thrown {
    friction: f64,
    restitution: f64,
    tangents: usize,
}

impl MechanicalSystem for Thrown {
    fn dof(&self) -> usize {
        1 + self.tangents
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        m.fill(0.0);
        m.iter_mut()
            .step_by(2 + self.tangents)
            .for_each(|m| *m = 1.0);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], f: &mut [f64]) {
        f.fill(0.0);
        f[0] = -GRAVITY;
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
        self.restitution
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        self.tangents
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.fill(0.0);
        let d = self.dof();
        (0..self.tangents).for_each(|k| rows[k * d + k + 1] = 1.0);
    }
}

const GRAVITY: f64 = 9.81;

/// On a level floor friction takes `μ g t` of the slip, or all of it, whenever its impacts are summed up: with no
/// impulse beyond its cone.
#[test]
fn an_accumulation_takes_no_more_of_a_slip_than_its_friction_can() {
    let mut random = SplitMix64(31);
    let (mut slipping, mut absorbed) = (0, 0);
    for case in 0..60 {
        let thrown = Thrown {
            friction: random.between(0.02, 0.6),
            restitution: random.between(0.2, 0.85),
            tangents: 1 + case % 2,
        };
        let (friction, e, tangents) = (thrown.friction, thrown.restitution, thrown.tangents);
        let (height, speed) = (random.between(0.01, 1.0), random.between(0.1, 10.0));
        let turn = random.between(0.0, 6.3f64);
        let rest = (2.0 * height / GRAVITY).sqrt() * (1.0 + e) / (1.0 - e);
        let tf = rest * 1.02;
        let (mut q, mut v) = (vec![0.0; 1 + tangents], vec![0.0; 1 + tangents]);
        (q[0], v[1]) = (height, speed);
        if tangents == 2 {
            (v[1], v[2]) = (speed * turn.cos(), speed * turn.sin());
        }
        let driver = EventDriven::new(ContactModel::new(thrown)).unwrap();
        let driver = driver.rtol(1e-9).zeno(Zeno::Absorb);
        let mut driver = driver.zeno_tolerance([0.0, 1e-9, 1e-3][case % 3]);
        let run = driver
            .integrate(&Start::at(0.0).q(&q).v(&v), tf)
            .unwrap()
            .completed()
            .unwrap();
        let left = (speed - friction * GRAVITY * tf).max(0.0);
        let found = run.state().as_slice()[2 + tangents..].iter();
        let found = found.map(|v| v * v).sum::<f64>();
        let off = found.sqrt() - left;
        assert!(off.abs() < 1e-9, "{case}: {off:e} of {left}");
        slipping += usize::from(left > 0.0);
        for event in run.events() {
            absorbed += usize::from(event.kind == ContactEventKind::ZenoAbsorbed);
            if let [push, along @ ..] = &event.impulses[..] {
                let size = along.iter().map(|p| p * p).sum::<f64>().sqrt();
                assert!(size <= friction * push * (1.0 + 1e-6), "{case}: {event:?}");
            }
        }
    }
    assert!(slipping > 20 && absorbed == 60, "{slipping} {absorbed}");
}
