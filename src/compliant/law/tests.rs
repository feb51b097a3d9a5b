//! Unit tests of the law of contacts.

use super::super::RowLaw;
use super::*;
use crate::random::{symmetric, word};

/// Laws of ordinary and of extreme numbers, with the cone and with lagged friction.
fn laws() -> Vec<ContactLaw> {
    let mut laws = Vec::new();
    for mu in [0.0, 0.3, 1.0, 20.0] {
        for (normal, tangential) in [(0.1, 1e-4), (1e-3, 1e-3), (1e-6, 0.5)] {
            let law = ContactLaw::new(mu, normal, tangential, 0.02);
            laws.push(law);
            for (start, slip) in [(-0.5, 1e-2), (-0.5, 10.0), (0.5, 1e-2)] {
                let model = Friction::Lagged { start, slip };
                laws.push(ContactLaw { model, ..law });
            }
        }
    }
    laws
}

/// Velocities in all regions of a law.
fn velocities(law: &ContactLaw) -> Vec<[f64; 3]> {
    let mut draws = (0..).map(|i| symmetric(word(7, i)));
    let mut any = || draws.next().unwrap_or_default();
    let creep = law.tangential / law.normal;
    (0..60)
        .map(|i| {
            let slip = [1.0, creep, (0.1 + law.friction) * creep][i % 3];
            let approach = if i % 2 == 0 {
                1.0
            } else {
                1.0 / (1.0 + law.friction)
            };
            [
                law.stabilisation + approach * any(),
                slip * any(),
                slip * any(),
            ]
        })
        .collect()
}

/// Central differences of the three components by `by`; none across a kink.
fn differences(
    law: &ContactLaw,
    at: impl Fn(f64) -> (ContactLaw, [f64; 3]),
    h: f64,
) -> Option<([f64; 3], f64)> {
    let value = |x: f64| {
        let (law, v) = at(x);
        law.evaluate(&v)
    };
    let (low, middle, high) = (value(-h), value(0.0), value(h));
    let smooth = |p: &ContactPoint, q: &ContactPoint| {
        p.region == q.region && (p.impulse[0] > 0.0) == (q.impulse[0] > 0.0)
    };
    let lagged = matches!(law.model, Friction::Lagged { .. });
    // The regions of lagged friction are names only.
    let smooth = |p, q| smooth(p, q) || (lagged && (p.impulse[0] > 0.0) == (q.impulse[0] > 0.0));
    (smooth(&low, &middle) && smooth(&middle, &high)).then(|| {
        let by = |k: usize| (high.impulse[k] - low.impulse[k]) / (2.0 * h);
        ([by(0), by(1), by(2)], (high.cost - low.cost) / (2.0 * h))
    })
}

fn size(x: &[f64; 3]) -> f64 {
    dot(x, x).sqrt()
}

#[test]
fn impulses_are_slopes_of_the_cost_and_curvatures_those_of_the_impulse() {
    let mut compared = 0;
    for law in laws() {
        for v in velocities(&law) {
            let (point, curvature) = (law.evaluate(&v), law.curvature(&v));
            let slip = v[1].hypot(v[2]);
            for axis in 0..3 {
                let h = 1e-5 * if axis == 0 { 1.0 } else { slip };
                let along = |x: f64| {
                    let mut there = v;
                    there[axis] += x;
                    (law, there)
                };
                let Some((by, slope)) = differences(&law, along, h) else {
                    continue;
                };
                let mut unit = [0.0; 3];
                unit[axis] = 1.0;
                let column = curvature.times(&unit);
                let scale = size(&column) + 1e-9 * size(&point.impulse) / h;
                for (by, column) in by.iter().zip(&column) {
                    assert!((by + column).abs() <= 1e-5 * scale, "{law:?} {v:?} {axis}");
                }
                let scale = size(&point.impulse) + 1e-5 * point.cost / h;
                assert!(
                    (slope + point.impulse[axis]).abs() <= 1e-5 * scale,
                    "{law:?} {v:?}"
                );
                let (force, stiffness) = law.along(&v, &unit);
                let tiny = 1e-14 * size(&point.impulse);
                assert!((force - point.impulse[axis]).abs() <= tiny);
                assert!((stiffness - column[axis]).abs() <= 1e-12 * size(&column));
                compared += 1;
            }
        }
    }
    assert!(compared > 7000, "{compared}");
}

#[test]
fn rates_by_parameters_are_differences_of_the_impulse() {
    let mut compared = 0;
    for law in laws() {
        for v in velocities(&law) {
            let rates = law.by_parameters(&v);
            let changed = |which: usize, x: f64| {
                let mut law = law;
                match which {
                    0 => law.friction += x * law.friction,
                    1 => law.normal += x * law.normal,
                    2 => law.tangential += x * law.tangential,
                    3 => law.stabilisation += x,
                    _ => {
                        if let Friction::Lagged { start, .. } = &mut law.model {
                            *start += x;
                        }
                    }
                }
                (law, v)
            };
            let scaled = |rate: [f64; 3], by: f64| rate.map(|x| x * by);
            let expected = [
                scaled(rates.friction, law.friction),
                rates.normal,
                scaled(rates.tangential, law.tangential),
                rates.stabilisation,
                rates.start,
            ];
            for (which, expected) in expected.iter().enumerate() {
                let h = 1e-6;
                if let Some((by, _)) = differences(&law, |x| changed(which, x), h) {
                    let impulse = size(&law.evaluate(&v).impulse);
                    let scale = size(expected) + 1e-9 * impulse / h;
                    for (by, expected) in by.iter().zip(expected) {
                        let off = (by - expected).abs();
                        assert!(off <= 1e-5 * scale, "{which} {law:?} {v:?}: {off:e}");
                    }
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
}

#[test]
fn without_friction_there_is_no_tangential_impulse_and_no_tangential_curvature() {
    let law = ContactLaw::new(0.0, 0.1, 1e-4, 0.02);
    for slip in [0.0, 1e-300, 0.5] {
        let v = [-0.1, slip, 0.0];
        let point = law.evaluate(&v);
        assert_eq!(point.region, Region::Sliding);
        assert_eq!(point.impulse[1..], [0.0; 2]);
        let curvature = law.curvature(&v);
        let stopped = curvature.times(&[0.0, 1.0, 1.0]);
        assert!(stopped.iter().all(|x| *x == 0.0));
        assert!((curvature.along(&[1.0, 0.0, 0.0]) - 10.0).abs() < 1e-12);
        assert_eq!(law.evaluate(&[0.02, slip, 0.0]).region, Region::NoContact);
    }
}

#[test]
fn on_the_boundary_of_stiction_the_region_is_stiction_and_all_values_are_continuous() {
    // Powers of two: q R_n = μ R_t s holds exactly.
    let law = ContactLaw::new(0.5, 0.25, 0.125, 0.0);
    let v = [-1.0, 0.25, 0.0];
    assert_eq!(law.evaluate(&v).region, Region::Stiction);
    assert_eq!(law.curvature(&v).count, 3);
    let beyond = [-1.0, 0.25 + f64::EPSILON, 0.0];
    assert_eq!(law.evaluate(&beyond).region, Region::Sliding);
    let (a, b) = (law.evaluate(&v), law.evaluate(&beyond));
    assert!((a.cost - b.cost).abs() < 1e-14);
    for (a, b) in a.impulse.iter().zip(b.impulse) {
        assert!((a - b).abs() < 1e-14);
    }
    // The apex y = 0 and the boundary s + μ q = 0 of no contact.
    assert_eq!(law.evaluate(&[0.0; 3]).region, Region::Stiction);
    let apex = law.evaluate(&[0.0; 3]).impulse;
    assert!(apex.iter().all(|x| *x == 0.0));
    let free = [0.5, 1.0, 0.0];
    assert_eq!(law.evaluate(&free).region, Region::NoContact);
    assert_eq!(law.along(&free, &[1.0, 1.0, 1.0]), (0.0, 0.0));
}

#[test]
fn rows_are_linear_between_their_bounds() {
    let law = RowLaw {
        regularisation: 0.5,
        target: 1.0,
        low: -0.4,
        high: 0.6,
    };
    for (v, impulse, curvature, rates) in [
        (0.9, 0.2, 2.0, [-0.4, 2.0, 0.0, 0.0]),
        (0.0, 0.6, 0.0, [0.0, 0.0, 0.0, 1.0]),
        (3.0, -0.4, 0.0, [0.0, 0.0, 1.0, 0.0]),
    ] {
        let h = 1e-6;
        let slope = (law.evaluate(v + h).1 - law.evaluate(v - h).1) / (2.0 * h);
        assert!((slope + impulse).abs() < 1e-9, "{v}");
        assert!((law.evaluate(v).0 - impulse).abs() < 1e-15, "{v}");
        assert!((law.curvature(v) - curvature).abs() < 1e-15, "{v}");
        for (found, rate) in law.by_parameters(v).iter().zip(rates) {
            assert!((found - rate).abs() < 1e-14, "{v}");
        }
    }
}

/// Laws of moments with their loads held, and angular velocities that stick and slide.
fn moments() -> Vec<(ContactLaw, [f64; 3])> {
    let mut draws = (0..).map(|i| symmetric(word(11, i)));
    let mut any = || draws.next().unwrap_or_default();
    let mut cases = Vec::new();
    for (spinning, rolling) in [(0.3, 0.1), (0.0, 0.2), (0.2, 0.0)] {
        for load in [0.0, 0.5, 20.0] {
            let law = ContactLaw::of_moments(spinning, rolling, 0.01).held(load);
            // At their bounds moments turn by R s γ_n and R r γ_n: some of the velocities are below.
            let creep = 0.01 * load * 0.05;
            for size in [creep, creep, 1.0, 1.0, 1.0] {
                cases.push((law, [size * any(), size * any(), size * any()]));
            }
        }
    }
    cases
}

#[test]
fn moments_are_slopes_of_their_cost_and_their_rates_are_differences() {
    let (mut slid, mut stuck) = (0, 0);
    for (law, v) in moments() {
        let Friction::Moments { load, spinning } = law.model else {
            panic!("{law:?}");
        };
        let (point, curvature) = (law.evaluate_held(&v), law.curvature(&v));
        let h = 1e-7 * size(&v).max(1e-3);
        let pieces = |law: &ContactLaw, v: &[f64; 3]| law.curvature(v).count;
        let w = [0.3, -0.5, 0.4];
        let moved = |x: f64| [0, 1, 2].map(|k| v[k] + x * w[k]);
        let (low, high) = (moved(-h), moved(h));
        let is_smooth = pieces(&law, &low) == pieces(&law, &high);
        let (below, above) = (law.evaluate_held(&low), law.evaluate_held(&high));
        let (force, stiffness) = law.along(&v, &w);
        let scale = size(&point.impulse).max(1e-9);
        assert!((force - dot(&point.impulse, &w)).abs() < 1e-13 * scale);
        assert!((stiffness - curvature.along(&w)).abs() <= 1e-12 * stiffness.abs());
        let slope = (above.cost - below.cost) / (2.0 * h);
        assert!((slope + force).abs() < 1e-5 * scale, "{law:?} {v:?}");
        if is_smooth {
            let column = curvature.times(&w);
            for k in 0..3 {
                let by = (above.impulse[k] - below.impulse[k]) / (2.0 * h);
                let off = (by + column[k]).abs();
                assert!(off < 1e-5 * (size(&column) + scale), "{law:?} {v:?} {k}");
            }
        }
        // By each number of the law, and by the load.
        let rates = law.moment_rates(&v, load);
        let with = |numbers: [f64; 4]| {
            let [spinning, rolling, rotational, load] = numbers;
            let law = ContactLaw::of_moments(spinning, rolling, rotational);
            law.held(load).evaluate_held(&v).impulse
        };
        let numbers = [spinning, law.friction, law.tangential, load];
        let all = [rates.spinning, rates.rolling, rates.rotational, rates.load];
        for (which, rate) in all.iter().enumerate() {
            let h = 1e-6 * numbers[which];
            if h == 0.0 {
                continue;
            }
            let (mut low, mut high) = (numbers, numbers);
            (low[which], high[which]) = (low[which] - h, high[which] + h);
            let (low, high) = (with(low), with(high));
            for k in 0..3 {
                let by = (high[k] - low[k]) / (2.0 * h);
                let most = 1e-5 * (rate[k].abs() + scale / numbers[which]);
                assert!(
                    (by - rate[k]).abs() < most,
                    "{which} {law:?} {v:?}: {by} {rate:?}"
                );
            }
        }
        slid += usize::from(load > 0.0 && curvature.count < 3);
        stuck += usize::from(curvature.count == 3);
    }
    assert!(slid > 10 && stuck > 3, "{slid} {stuck}");
}
