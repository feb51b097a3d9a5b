//! Guards of which nothing is written but their values: large terms that cancel, states far from
//! zero, units of any size.

use std::f64::consts::TAU;

use saltation::{EventFunction, Flow, Integrator, Mode, Projection, Start, Status, Stop, Watch};

use crate::fixtures::support::{Sketch, SplitMix64};

/// Planes through one point far from zero, met at one instant by a straight motion.
struct Planes {
    normals: Vec<[f64; 3]>,
    point: [f64; 3],
    velocity: [f64; 3],
}

impl Flow for Planes {
    fn dim(&self) -> usize {
        3
    }
    fn flow(&self, _t: f64, _x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&self.velocity);
    }
}

impl EventFunction for Planes {
    fn count(&self) -> usize {
        self.normals.len()
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        dot(&self.normals[k], x) - dot(&self.normals[k], &self.point)
    }
}

#[test]
fn guards_at_one_instant_whose_terms_are_large_against_their_rates_cross_together() {
    let mut random = SplitMix64(21);
    for case in 0..2000 {
        let count = if case % 2 == 0 { 2 } else { 12 };
        let size = 10f64.powf(random.between(0.0, 4.0));
        let velocity = [(); 3].map(|()| random.between(-1.0, 1.0));
        let point = [(); 3].map(|()| size * random.between(-1.0, 1.0));
        let normals = (0..count)
            .map(|_| {
                // Rates from 1e-3 to 1, whatever the size of the normal.
                let mut normal = [(); 3].map(|()| random.between(-1.0, 1.0));
                let rate = 10f64.powf(random.between(-3.0, 0.0));
                let now: f64 = normal.iter().zip(velocity).map(|(n, v)| n * v).sum();
                let length: f64 = velocity.iter().map(|v| v * v).sum();
                for (n, v) in normal.iter_mut().zip(velocity) {
                    *n += (rate - now) * v / length;
                }
                normal
            })
            .collect();
        let time = random.between(0.1, 3.0);
        let planes = Planes {
            normals,
            point,
            velocity,
        };
        let start: Vec<f64> = (0..3).map(|i| point[i] - time * velocity[i]).collect();
        for projection in [Projection::Auto, Projection::Off] {
            let what = format!("case {case}, {count} guards, {projection:?}");
            let mut integrator = Integrator::new(&planes).unwrap().projection(projection);
            let run = integrator
                .integrate(&Start::at(0.0).x(&start), 2.0 * time)
                .unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd, "{what}");
            assert_eq!(run.crossings().len(), count, "{what}");
            // Values are known to a few units in the last place of their terms.
            let rounding = 16.0 * f64::EPSILON * size / 1e-3;
            for crossing in run.crossings() {
                assert!(
                    (crossing.t - time).abs() <= 1e-9 + rounding,
                    "{what}: {crossing:?}"
                );
            }
        }
    }
}

/// Two bodies on a line, a long way off, run into each other and bounce.
#[test]
fn collisions_a_long_way_off_are_found() {
    let mut random = SplitMix64(22);
    for case in 0..400 {
        let far = 10f64.powf(random.between(3.0, 9.0));
        let (gap, speed) = (random.between(0.1, 2.0), random.between(0.2, 3.0));
        let system = Sketch::new(4, |_, x, _, dx| dx.copy_from_slice(&[x[2], x[3], 0.0, 0.0]))
            .events([Watch::FALLING], |_, _, x, _| x[1] - x[0] - 1.0)
            .reset(|_, _, x, _| {
                x.swap(2, 3);
                Ok(())
            });
        let drift = random.between(-1.0, 1.0);
        let start = [far, far + 1.0 + gap, drift + speed, drift];
        for projection in [Projection::Auto, Projection::Off] {
            let mut integrator = Integrator::new(&system).unwrap().projection(projection);
            let run = integrator
                .integrate(&Start::at(0.0).x(&start), 3.0 * gap / speed)
                .unwrap();
            let what = format!("case {case} at {far:e}: {}", run.status());
            assert_eq!(*run.status(), Status::ReachedEnd, "{what}");
            assert_eq!(run.crossings().len(), 1, "{what}");
            let (time, late) = (gap / speed, 8.0 * f64::EPSILON * far / speed);
            let off = run.crossings()[0].t - time;
            assert!(off.abs() <= 1e-9 + late, "{what}: {off:e}");
            assert!(run.state()[2] < run.state()[3], "{what}");
        }
    }
}

/// The unit of a guard is its own business: nanometres, light years.
#[test]
fn the_least_rate_is_in_the_unit_of_the_guard() {
    for unit in [1e-15, 1e-9, 1.0, 1e9, 1e15] {
        for projection in [Projection::Auto, Projection::Off] {
            let system = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
                .events([Watch::BOTH], move |_, _, x, _| unit * (x[0] - 0.3));
            let mut integrator = Integrator::new(system).unwrap().projection(projection);
            let run = integrator
                .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
                .unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd, "{unit:e}");
            assert_eq!(run.crossings().len(), 1, "{unit:e}");
        }
    }
}

/// Of a guard that is met at the only rate that was ever seen of it nothing says that it grazes,
/// however slow it is.
#[test]
fn a_guard_met_at_the_only_rate_seen_of_it_is_crossed() {
    for rate in [1e-12, 1e-7, 1.0] {
        for gap in [0.0, 1e-3 * rate, 0.3 * rate] {
            for projection in [Projection::Auto, Projection::Off] {
                let what = format!("{rate:e}, {gap:e}, {projection:?}");
                let system = Sketch::new(1, move |_, _, _, dx| dx[0] = rate)
                    .events([Watch::BOTH], move |_, _, x, _| x[0] - gap);
                let mut integrator = Integrator::new(system).unwrap().projection(projection);
                let run = integrator
                    .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
                    .unwrap();
                assert_eq!(*run.status(), Status::ReachedEnd, "{what}");
                assert_eq!(run.crossings().len(), usize::from(gap > 0.0), "{what}");
                assert!(run.mode().contains(0), "{what}");
            }
        }
    }
}

/// At a start that touches a guard the rate is zero to within the rounding of its evaluation, and
/// not the scale of its own.
#[test]
fn a_start_that_touches_its_guard_is_tangent_in_any_unit() {
    for unit in [1e-12, 1.0, 1e12] {
        for angle in (0..40).map(|i| 0.157 * f64::from(i)) {
            for written in [false, true] {
                let system = Sketch::new(2, move |_, _, _, dx| {
                    dx.copy_from_slice(&[-angle.sin(), angle.cos()]);
                })
                .events([Watch::BOTH], move |_, _, x, _| {
                    unit * (x[0] * x[0] + x[1] * x[1] - 1.0)
                })
                .gradient(move |_, _, x, _, row| {
                    row.copy_from_slice(&[2.0 * unit * x[0], 2.0 * unit * x[1]]);
                    written.then_some(0.0)
                });
                let start = [angle.cos(), angle.sin()];
                let mut integrator = Integrator::new(system).unwrap();
                let run = integrator
                    .integrate(&Start::at(0.0).x(&start), 1.0)
                    .unwrap();
                let tangent = matches!(run.status(), Status::Refused(Stop::Tangent { .. }));
                assert!(tangent, "{unit:e}, {angle}, {written}: {}", run.status());
            }
        }
    }
}

/// The approach slows down to a ten-millionth of its first rate before it reaches the guard: it
/// grazes, in any unit.
#[test]
fn an_approach_that_slows_down_to_a_ten_millionth_grazes() {
    for unit in [1e-15, 1.0, 1e15] {
        for projection in [Projection::Auto, Projection::Off] {
            // h rises from −1 to 0 at x = 1 − 1e-7/2 with a rate that falls from 2 to 1e-7.
            let system = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0).events(
                [Watch::BOTH],
                move |_, _, x, _| {
                    let left = 1.0 - x[0];
                    unit * (2.5e-15 - left * left)
                },
            );
            let mut integrator = Integrator::new(system)
                .unwrap()
                .fixed_step(0.0625)
                .projection(projection);
            let run = integrator
                .integrate(&Start::at(0.0).x(&[0.0]), 2.0)
                .unwrap();
            let Status::Refused(Stop::NotLive {
                rate_before,
                min_rate,
                ..
            }) = run.status()
            else {
                panic!("{unit:e}: {}", run.status());
            };
            assert!((min_rate / unit / 2e-6 - 1.0).abs() < 0.1, "{min_rate:e}");
            assert!(*rate_before < *min_rate);
        }
    }
}

/// Discs on a plane, a billion away from the origin, that run at each other in any direction:
/// `|p₁ − p₂| − d`, nothing written. Numbers there are a ten-millionth apart, and the motion beside
/// the collision is exact in the differences.
#[test]
fn collisions_on_a_plane_a_long_way_off_are_found_or_said() {
    let mut random = SplitMix64(23);
    let (mut found, mut said) = (0, 0);
    for case in 0..400 {
        let far = 1e9;
        let unit = f64::EPSILON * far;
        let exact = |v: f64| (v / (4.0 * unit)).round() * (4.0 * unit);
        let d = exact(random.between(0.5, 1.5));
        let (direction, gap) = (random.between(0.0, TAU), random.between(0.1, 2.0));
        let centre = [
            far * random.between(0.5, 1.0),
            -far * random.between(0.5, 1.0),
        ]
        .map(exact);
        let apart = [direction.cos(), direction.sin()].map(|c| exact((d + gap) * c));
        // Speeds about 1, aimed so that a part of them miss.
        let aim = direction + random.between(-1.2, 1.2);
        let speed = random.between(0.3, 2.0);
        let towards = [-speed * aim.cos(), -speed * aim.sin()];
        let drift = [random.between(-1.0, 1.0), random.between(-1.0, 1.0)];
        let system = Sketch::new(8, |_, x, _, dx| {
            dx.copy_from_slice(&[x[4], x[5], x[6], x[7], 0.0, 0.0, 0.0, 0.0]);
        })
        .events([Watch::FALLING], move |_, _, x, _| {
            (x[0] - x[2]).hypot(x[1] - x[3]) - d
        })
        .reset(|_, _, x, _| {
            let (r, v) = ([x[0] - x[2], x[1] - x[3]], [x[4] - x[6], x[5] - x[7]]);
            let part = (r[0] * v[0] + r[1] * v[1]) / (r[0] * r[0] + r[1] * r[1]);
            for i in 0..2 {
                x[4 + i] -= part * r[i];
                x[6 + i] += part * r[i];
            }
            Ok(())
        });
        let start = [
            centre[0] + apart[0],
            centre[1] + apart[1],
            centre[0],
            centre[1],
            drift[0] + towards[0],
            drift[1] + towards[1],
            drift[0],
            drift[1],
        ];
        // |apart + towards t| = d.
        let (a, v) = (apart, [start[4] - start[6], start[5] - start[7]]);
        let (aa, av, vv) = (
            a[0] * a[0] + a[1] * a[1],
            a[0] * v[0] + a[1] * v[1],
            v[0] * v[0] + v[1] * v[1],
        );
        let discriminant = av * av - vv * (aa - d * d);
        let end = 2.0 * (d + gap) / speed;
        let expected = (av < 0.0 && discriminant > 0.0)
            .then(|| (aa - d * d) / (discriminant.sqrt() - av))
            .filter(|&time| time < end);
        for projection in [Projection::Auto, Projection::Off] {
            let what = format!("case {case}, {projection:?}, expected {expected:?}");
            let mut integrator = Integrator::new(&system).unwrap().projection(projection);
            let run = integrator
                .integrate(&Start::at(0.0).x(&start), end)
                .unwrap();
            let right = *run.status() == Status::ReachedEnd
                && run.crossings().len() == usize::from(expected.is_some());
            let on_time = match (expected, run.crossings().first()) {
                (Some(time), Some(crossing)) => {
                    // Distances are known to a few units of the positions, as times to those by the
                    // rate.
                    let rate = discriminant.sqrt() / d;
                    (crossing.t - time).abs() <= 1e-9 + 32.0 * unit / rate
                }
                (None, None) => true,
                _ => false,
            };
            if right && on_time {
                found += 1;
            } else {
                assert!(
                    !run.is_guaranteed(),
                    "{what}: {} {:?}",
                    run.status(),
                    run.crossings()
                );
                said += 1;
            }
        }
    }
    assert!(found > 700, "{found} {said}");
    println!("found {found}, said {said}");
}
