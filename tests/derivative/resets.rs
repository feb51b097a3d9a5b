//! Corners with resets: bounces at once, resets that carry across other guards, legs that are
//! coupled by a damper.

use saltation::derivative::Verdict;
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{
    Direction, Displacement, Guard, Integrator, Mode, NoDerivative, Start, Stop, Watch,
};

use crate::fixtures::support::each;
use crate::sketch::Sketch;

/// Two balls over one floor, `(y_1, v_1, y_2, v_2)`, with restitutions 0.8 and 0.5. In the air
/// there is drag; a field that reads the side bits has more of it below the floor, where no ball
/// spends any time.
fn balls(watch: Watch, reads: bool) -> Sketch {
    let below = |mode: &Mode, k: usize| if mode.contains(k) { 0.1 } else { 40.0 };
    Sketch::new(4, move |_, x, mode, dx| {
        for k in 0..2 {
            let drag = if reads { below(mode, k) } else { 0.1 };
            dx[2 * k] = x[2 * k + 1];
            dx[2 * k + 1] = -9.81 - drag * x[2 * k + 1];
        }
    })
    .events([watch, watch], |k, _, x, _| x[2 * k])
    .reset(|_, crossed, x, _| {
        for c in crossed.guards() {
            let k = c.guard.event;
            if c.guard.direction == Direction::Falling {
                x[2 * k + 1] *= if k == 0 { -0.8 } else { -0.5 };
            }
        }
        Ok(())
    })
}

#[test]
fn balls_that_bounce_at_once_are_as_if_each_were_alone() {
    let start = [1.0, 0.2, 1.0, 0.2];
    let mut kept = Vec::new();
    for (watch, reads) in [
        (Watch::FALLING, false),
        (Watch::BOTH, false),
        (Watch::FALLING, true),
        (Watch::BOTH, true),
    ] {
        let balls = balls(watch, reads);
        let mut integrator = Integrator::new(&balls).unwrap().rtol(1e-11).atol(1e-11);
        let d = integrator
            .derivative(&Start::at(0.0).x(&start), 0.8)
            .unwrap();
        assert_eq!(*d.verdict(), Verdict::Classical, "{watch:?} {reads}");
        assert_eq!(d.corners().count(), 1);
        let both = d.matrix().unwrap();
        let count = if watch == Watch::BOTH { 4 } else { 2 };
        assert_eq!(d.run().crossings().len(), count);
        let shift = d
            .event_time_shift(count - 1, &[0.0, 0.0, 1.0, 0.0])
            .unwrap();
        // One bounces now, the other much later.
        let alone = integrator
            .derivative(&Start::at(0.0).x(&[1.0, 0.2, 9.0, 0.2]), 0.8)
            .unwrap();
        let own = alone.matrix().unwrap();
        assert!((both.view((0, 0), (2, 2)) - own.view((0, 0), (2, 2))).amax() < 1e-8);
        // Differences of the flow see the other ball by their rounding, 1e-16 over a step of 6e-6.
        let mixed = both.view((0, 2), (2, 2)).amax() + both.view((2, 0), (2, 2)).amax();
        assert!(mixed < 1e-9, "{mixed:e}");
        let other = integrator
            .derivative(&Start::at(0.0).x(&[9.0, 0.2, 1.0, 0.2]), 0.8)
            .unwrap();
        assert!(
            (both.view((2, 2), (2, 2)) - other.matrix().unwrap().view((2, 2), (2, 2))).amax()
                < 1e-8
        );
        let own_shift = other.event_time_shift(0, &[0.0, 0.0, 1.0, 0.0]).unwrap();
        assert!((shift - own_shift).abs() < 1e-9);
        // A few directions carried along find the same.
        let carried = integrator
            .derivative_along(&Start::at(0.0).x(&start), 0.8, &DMatrix::identity(4, 4))
            .unwrap();
        assert!((carried - &both).amax() < 1e-8);
        kept.push(both);
    }
    // What the field is where no time is spent does not matter, nor whether the way back is
    // reported.
    assert!(kept.iter().all(|matrix| (matrix - &kept[0]).amax() < 1e-8));
}

#[test]
fn a_reset_that_carries_across_another_guard_takes_its_crossing_along() {
    // Crossing x = 1 throws y over 0, whose own reset turns z; z then grows faster.
    let kicked = Sketch::new(3, |_, x, mode, dx| {
        let fast = if mode.contains(1) { 3.0 } else { 1.0 };
        dx.copy_from_slice(&[1.0 + 0.1 * x[2], 0.2, fast * x[0]]);
    })
    .events([Watch::RISING, Watch::RISING], |k, t, x, _| {
        if k == 0 { x[0] - 1.0 - 0.1 * t } else { x[1] }
    })
    .reset(|t, crossed, x, _| {
        if crossed.contains(0) {
            x[1] += 2.0 + x[0] * x[2] + t;
        }
        if crossed.contains(1) {
            x[2] = -0.5 * x[2] + 0.3 * x[1];
        }
        Ok(())
    });
    let start = [0.0, -1.0, 0.5];
    let mut integrator = Integrator::new(&kicked).unwrap().rtol(1e-12).atol(1e-12);
    let d = integrator
        .derivative(&Start::at(0.0).x(&start), 2.0)
        .unwrap();
    let guards: Vec<_> = d.run().crossings().iter().map(|c| c.guard).collect();
    assert_eq!(guards, [Guard::rising(0), Guard::rising(1)]);
    assert_eq!(*d.verdict(), Verdict::Classical);
    let matrix = d.matrix().unwrap();
    let shifts = [0, 1].map(|k| d.event_time_shift(k, &[1.0, 0.0, 0.0]).unwrap());
    assert!(
        (shifts[0] - shifts[1]).abs() < 1e-12,
        "one instant, one shift"
    );
    let columns: Vec<_> = (0..3)
        .map(|j| {
            let mut end = |s: f64| {
                let mut x = start;
                x[j] += s;
                integrator
                    .integrate(&Start::at(0.0).x(&x), 2.0)
                    .unwrap()
                    .state()
                    .clone()
            };
            (end(1e-5) - end(-1e-5)) / 2e-5
        })
        .collect();
    let expected = DMatrix::from_columns(&columns);
    assert!(
        (&matrix - &expected).amax() < 1e-7 * expected.amax(),
        "{matrix}{expected}"
    );
}

const M: f64 = 1.0;
const I: f64 = 1.0;
const D: f64 = 0.5;
const FOOT: f64 = 0.1;
const G: f64 = 9.81;

/// The soft legs of Pace & Burden, Fig. 1, with feet that bounce (γ = ½), `(z, θ, z_1, z_2)` and
/// rates, and a damper between the feet.
fn trot(damper: f64) -> Sketch {
    Sketch::new(8, move |_, x, _, dx| {
        let (q, v) = x.split_at(4);
        let (sine, cosine) = q[1].sin_cos();
        let force = |side: f64, foot: usize| {
            let length = q[0] + side * D * sine - q[foot];
            let rate = v[0] + side * D * cosine * v[1] - v[foot];
            30.0 * (1.0 - length) - rate
        };
        let (n1, n2) = (force(-1.0, 2), force(1.0, 3));
        let pull = damper * (v[2] - v[3]);
        dx[..4].copy_from_slice(v);
        dx[4] = (-M * G + n1 + n2) / M;
        dx[5] = D * cosine * (n2 - n1) / I;
        dx[6] = (-FOOT * G - n1 - pull) / FOOT;
        dx[7] = (-FOOT * G - n2 + pull) / FOOT;
    })
    .events([Watch::FALLING, Watch::FALLING], |k, _, x, _| x[2 + k])
    .reset(|_, crossed, x, _| {
        for k in crossed.events() {
            x[6 + k] *= -0.5;
        }
        Ok(())
    })
}

#[test]
fn a_damper_between_the_feet_makes_the_trot_piecewise_linear() {
    let start = [1.5, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0];
    let tilt = [0.0, 1.0, -D, D, 0.0, 0.0, 0.0, 0.0];
    let coupled = trot(2.0);
    let mut integrator = Integrator::new(&coupled).unwrap().rtol(1e-12).atol(1e-12);
    let d = integrator
        .derivative(&Start::at(0.0).x(&start), 0.36)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Bouligand);
    let (right, left) = (d.apply(&tilt).unwrap(), d.apply_backward(&tilt).unwrap());
    let near = |found: &DVector<f64>, index: usize, expected: f64| {
        assert!(
            (found[index] - expected).abs() < 1e-8,
            "{index}: {} {expected}",
            found[index]
        );
    };
    near(&right, 4, -2.222443108458);
    near(&left, 4, 2.222443108458);
    near(&right, 6, -15.93830497853);
    near(&left, 6, 6.837263936889);
    near(&right, 5, -0.9798242454844);
    near(&left, 5, -0.9798242454844);
    assert_eq!(d.pieces().unwrap().len(), 2);

    let decoupled = trot(0.0);
    let mut integrator = Integrator::new(&decoupled).unwrap().rtol(1e-12).atol(1e-12);
    let d = integrator
        .derivative(&Start::at(0.0).x(&start), 0.36)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical);
    let both = d.apply(&tilt).unwrap();
    near(&both, 4, 0.0);
    near(&both, 5, -0.9099257921457);
    near(&both, 6, -11.44832688596);
}

/// A particle in a wedge of two walls through the origin, at angles 0 and `beta`, with restitution
/// ½.
fn wedge(beta: f64) -> Sketch {
    let normals = [[0.0, 1.0], [beta.sin(), -beta.cos()]];
    Sketch::new(4, |_, x, _, dx| dx.copy_from_slice(&[x[2], x[3], 0.0, 0.0]))
        .events([Watch::FALLING, Watch::FALLING], move |k, _, x, _| {
            normals[k][0] * x[0] + normals[k][1] * x[1]
        })
        .reset(move |_, crossed, x, _| {
            for k in crossed.events() {
                let [a, b] = normals[k];
                let rate = a * x[2] + b * x[3];
                x[2] -= 1.5 * rate * a;
                x[3] -= 1.5 * rate * b;
            }
            Ok(())
        })
}

#[test]
fn a_wall_that_is_hit_again_at_the_same_instant_is_part_of_the_order() {
    for beta in [0.9, 1.2, 2.0] {
        let wedge = wedge(beta);
        let (s, c) = (beta / 2.0).sin_cos();
        // Along the bisector into the corner, a little aslant in velocity only.
        let start = [c, s, -c + 0.02, -s];
        let miss = [0.02, 0.0];
        let start = [start[0] - miss[0], start[1] - miss[1], start[2], start[3]];
        let mut integrator = Integrator::new(&wedge).unwrap().rtol(1e-12).atol(1e-12);
        let d = integrator
            .derivative(&Start::at(0.0).x(&start), 1.5)
            .unwrap();
        assert!(
            matches!(d.verdict(), Verdict::Discontinuous { .. }),
            "{}",
            d.verdict()
        );
        let pieces = d.pieces_at(0).unwrap();
        assert!(pieces.len() >= 2);
        for (piece, cone) in each(&pieces) {
            let at_corner = d.corners().next().unwrap();
            let displaced: Vec<f64> = at_corner
                .state()
                .iter()
                .zip(&cone.sample)
                .map(|(x, v)| x + 1e-6 * v)
                .collect();
            let back: Vec<f64> = (0..4)
                .map(|i| displaced[i] - if i < 2 { displaced[2 + i] } else { 0.0 })
                .collect();
            let run = Integrator::new(&wedge)
                .unwrap()
                .rtol(1e-12)
                .atol(1e-12)
                .integrate(&Start::at(0.0).x(&back), 1.5)
                .unwrap();
            let order: Vec<_> = run.crossings().iter().map(|c| c.guard).collect();
            let met: Vec<_> = cone.orders[0]
                .iter()
                .copied()
                .filter(|g| g.direction == Direction::Falling)
                .collect();
            assert_eq!(order, met, "{beta}");
            for i in 2..4 {
                assert!(
                    (run.state()[i] - piece.state[i]).abs() < 1e-4,
                    "{beta} {order:?}"
                );
            }
            // A run in that order goes on from the same limit.
            let first_two = [met[0], Guard::falling(1 - met[0].event)];
            let mut ordered = Integrator::new(&wedge)
                .unwrap()
                .rtol(1e-12)
                .atol(1e-12)
                .corner_order(first_two);
            let limit = ordered.integrate(&Start::at(0.0).x(&start), 1.5).unwrap();
            let limit = limit.completed().unwrap();
            for i in 2..4 {
                assert!(
                    (limit.state()[i] - piece.state[i]).abs() < 1e-9,
                    "{beta} {order:?}"
                );
            }
        }
    }
}

#[test]
fn a_derivative_of_a_reset_that_leaves_an_entry_unwritten_is_refused() {
    let careless = Written {
        single: |dx, out| {
            out[0] = dx[0];
            true
        },
        each: None,
    };
    let mut integrator = Integrator::new(careless).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[1.0, 0.0]), 0.6)
        .unwrap();
    assert!(
        matches!(d.matrix(), Err(NoDerivative::Stop(Stop::NotFinite { .. }))),
        "{}",
        d.verdict()
    );
}

/// A ball whose reset derivative is written, right or wrong.
struct Written {
    single: fn(&[f64], &mut [f64]) -> bool,
    /// The factor of velocities, where it is written for several directions at once.
    each: Option<f64>,
}

fn right(dx: &[f64], out: &mut [f64]) -> bool {
    out.copy_from_slice(&[dx[0], -0.8 * dx[1]]);
    true
}

impl saltation::Flow for Written {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[x[1], -9.81]);
    }
}

impl saltation::EventFunction for Written {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0]
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::FALLING
    }
    fn on_crossing(&self, crossing: &mut saltation::Crossing<'_>) -> Result<(), Stop> {
        crossing.x[1] *= -0.8;
        Ok(())
    }
    fn reset_times(
        &self,
        _t: f64,
        _c: &saltation::Crossed<'_>,
        _x: &[f64],
        _m: &Mode,
        Displacement { dx, .. }: Displacement<'_>,
        out: &mut [f64],
    ) -> bool {
        (self.single)(dx, out)
    }
    fn reset_times_each(
        &self,
        _t: f64,
        _c: &saltation::Crossed<'_>,
        _x: &[f64],
        _m: &Mode,
        Displacement { dx, .. }: Displacement<'_>,
        out: &mut [f64],
    ) -> bool {
        let columns = dx.chunks_exact(2).zip(out.chunks_exact_mut(2));
        columns.into_iter().all(|(dx, out)| match self.each {
            Some(factor) => {
                out.copy_from_slice(&[dx[0], factor * dx[1]]);
                true
            }
            None => (self.single)(dx, out),
        })
    }
}

#[test]
fn a_reset_derivative_of_all_directions_at_once_is_used_and_checked() {
    for single in [right, |_: &[f64], _: &mut [f64]| false] {
        let ball = |written: f64| Written {
            single,
            each: Some(written),
        };
        let end = |written: f64| {
            let mut integrator = Integrator::new(ball(written)).unwrap();
            let directions = DMatrix::identity(2, 2);
            integrator
                .derivative_along(&Start::at(0.0).x(&[1.0, 0.0]), 0.6, &directions)
                .unwrap()
        };
        let alone = {
            let mut integrator = Integrator::new(Written {
                single: right,
                each: None,
            })
            .unwrap();
            let d = integrator
                .derivative(&Start::at(0.0).x(&[1.0, 0.0]), 0.6)
                .unwrap();
            d.matrix().unwrap()
        };
        assert!((end(-0.8) - &alone).amax() < 1e-9);
        assert!((end(-0.7) - &alone).amax() > 1e-2);

        let aloft = Mode::with(1, &[0]);
        let check = |written: f64| {
            saltation::derivative::check_derivatives(&ball(written), 0.0, &[0.0, -3.0], &aloft)
                .unwrap()
        };
        assert!(check(-0.8).agrees(1e-8), "{}", check(-0.8));
        for wrong in [-0.7, f64::NAN] {
            assert!(!check(wrong).agrees(1e-2), "{}", check(wrong));
        }
    }
}

#[test]
fn no_directions_have_no_derivatives() {
    use saltation::EventFunction;
    let ball = Written {
        single: right,
        each: Some(-0.8),
    };
    let aloft = Mode::with(1, &[0]);
    let none = saltation::Crossed::new(&[]);
    // What is provided asks for each direction, of which there are none.
    let plain = saltation::flow_fn(1, |_, _, _, _| {}).with_events(1, |_, _, _| 1.0);
    let along = Displacement { dt: 0.0, dx: &[] };
    assert!(plain.reset_times_each(0.0, &none, &[], &aloft, along, &mut []));
    assert!(saltation::Flow::jacobian_times_each(
        &plain,
        0.0,
        &[],
        &aloft,
        &[],
        &mut []
    ));
    let mut integrator = Integrator::new(ball).unwrap();
    let nothing = DMatrix::zeros(2, 0);
    let end = integrator
        .derivative_along(&Start::at(0.0).x(&[1.0, 0.0]), 0.6, &nothing)
        .unwrap();
    assert_eq!(end.shape(), (2, 0));
}

/// `x' = 1`, and 2 above zero; a reset there, if it resets, sets a flag, with which it is 12.
struct Flagged {
    resets: bool,
}

impl saltation::Flow for Flagged {
    fn dim(&self) -> usize {
        1
    }
    fn flow(&self, _t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let (side, flag) = (u8::from(mode.contains(0)), u8::from(mode.flag(0)));
        dx[0] = 1.0 + f64::from(side) + 10.0 * f64::from(flag);
    }
    fn flip(&self, _t: f64, _x: &[f64], mode: &Mode, _k: usize, dx: &mut [f64]) -> bool {
        dx[0] += if mode.contains(0) { 1.0 } else { -1.0 };
        true
    }
}

impl saltation::EventFunction for Flagged {
    fn count(&self) -> usize {
        1
    }
    fn flags(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0]
    }
    fn resets(&self) -> bool {
        self.resets
    }
    fn on_crossing(&self, crossing: &mut saltation::Crossing<'_>) -> Result<(), Stop> {
        crossing.mode.set_flag(0, true);
        Ok(())
    }
}

/// The field behind was that of the side alone, by `flip`.
#[test]
fn a_flag_that_a_reset_sets_is_in_the_field_behind_it() {
    for (resets, end, slope) in [(true, 6.0, 12.0), (false, 1.0, 2.0)] {
        let d = Integrator::new(Flagged { resets })
            .unwrap()
            .derivative(&Start::at(0.0).x(&[-0.5]), 1.0)
            .unwrap();
        assert_eq!(*d.verdict(), Verdict::Classical);
        // A model that says that it has no resets is not asked for one.
        assert!((d.run().state()[0] - end).abs() < 1e-12);
        assert!((d.matrix().unwrap()[0] - slope).abs() < 1e-9);
    }
}
