//! Explicit time and parameters: a ball that bounces on a table that moves, whose derivative is
//! known in closed form.

use saltation::derivative::{Verdict, WithParameters, check_derivatives, saltation_matrix};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{
    Crossed, Crossing, Displacement, EventFunction, Flow, Guard, InputError, Integrator, Mode,
    NoDerivative, Start, Stop, Watch,
};

/// Height and velocity over a table at `A sin ω t`.
#[derive(Clone, Copy, Debug)]
struct Ball {
    restitution: f64,
    gravity: f64,
    amplitude: f64,
    frequency: f64,
    written: Written,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Written {
    Nothing,
    Everything,
    /// The reset by the rate that the integrator hands over, without its derivative. The row is
    /// written: a difference of rates that are differences themselves is good to 1e-6 only.
    ByRate,
}

const BALL: Ball = Ball {
    restitution: 0.8,
    gravity: 9.81,
    amplitude: 0.05,
    frequency: 7.0,
    written: Written::Nothing,
};

impl Ball {
    /// Height, velocity and acceleration of the table.
    fn table(&self, t: f64) -> [f64; 3] {
        let (sine, cosine) = (self.frequency * t).sin_cos();
        let (a, w) = (self.amplitude, self.frequency);
        [a * sine, a * w * cosine, -a * w * w * sine]
    }
}

impl Flow for Ball {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[x[1], -self.gravity]);
    }
    fn jacobian_times(
        &self,
        _t: f64,
        _x: &[f64],
        _mode: &Mode,
        v: &[f64],
        out: &mut [f64],
    ) -> bool {
        if self.written == Written::Everything {
            out.copy_from_slice(&[v[1], 0.0]);
        }
        self.written == Written::Everything
    }
}

impl EventFunction for Ball {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0] - self.table(t)[0]
    }
    fn gradient(&self, _k: usize, t: f64, _x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        dh.copy_from_slice(&[1.0, 0.0]);
        (self.written != Written::Nothing).then(|| -self.table(t)[1])
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::FALLING
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let (t, crossed, x, _) = crossing.parts();
        if self.written == Written::ByRate {
            x[1] -= (1.0 + self.restitution) * crossed.guards()[0].rate;
        } else {
            let v = self.table(t)[1];
            x[1] = v - self.restitution * (x[1] - v);
        }
        Ok(())
    }
    fn reset_times(
        &self,
        t: f64,
        _crossed: &Crossed<'_>,
        _x: &[f64],
        _mode: &Mode,
        Displacement { dt, dx }: Displacement<'_>,
        out: &mut [f64],
    ) -> bool {
        if self.written == Written::Everything {
            let e = self.restitution;
            out.copy_from_slice(&[dx[0], -e * dx[1] + (1.0 + e) * self.table(t)[2] * dt]);
        }
        self.written == Written::Everything
    }
}

/// Final state and times of the bounces with their derivatives by `(y0, v0, e, g)`, from closed
/// forms of the flight and the implicit function theorem at each bounce.
struct Exact {
    state: [f64; 2],
    derivative: DMatrix<f64>,
    times: Vec<f64>,
    time_derivatives: Vec<[f64; 4]>,
}

fn exact(ball: &Ball, [y0, v0]: [f64; 2], tf: f64) -> Exact {
    let g = ball.gravity;
    let (mut t, mut y, mut v) = (0.0, y0, v0);
    // Derivatives of the time, height and velocity from which the present flight starts.
    let (mut dt, mut dy, mut dv) = ([0.0; 4], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]);
    let mut found = Exact {
        state: [0.0; 2],
        derivative: DMatrix::zeros(2, 4),
        times: Vec::new(),
        time_derivatives: Vec::new(),
    };
    loop {
        let flight = |s: f64| [y + v * (s - t) - 0.5 * g * (s - t).powi(2), v - g * (s - t)];
        let above = |s: f64| flight(s)[0] - ball.table(s)[0];
        // Derivative of the flight at fixed time, whose gravity is parameter 3.
        let carried = |s: f64, p: usize| {
            let (u, by_g) = (s - t, f64::from(u8::from(p == 3)));
            let [_, rate] = flight(s);
            [
                dy[p] + dv[p] * u - rate * dt[p] - 0.5 * u * u * by_g - (v - rate) * dt[p]
                    + g * u * dt[p],
                dv[p] + g * dt[p] - u * by_g,
            ]
        };
        let step = 1e-3;
        let mut s = t + step;
        while above(s) > 0.0 && s < tf {
            s += step;
        }
        if s >= tf {
            found.state = flight(tf);
            for p in 0..4 {
                let [a, b] = carried(tf, p);
                found.derivative[(0, p)] = a;
                found.derivative[(1, p)] = b;
            }
            return found;
        }
        let (mut low, mut high) = (s - step, s);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if above(middle) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let ([_, before], [_, table, bend]) = (flight(high), ball.table(high));
        let e = ball.restitution;
        let (mut new_t, mut new_y, mut new_v) = ([0.0; 4], [0.0; 4], [0.0; 4]);
        for p in 0..4 {
            let [a, b] = carried(high, p);
            let by_e = f64::from(u8::from(p == 2));
            new_t[p] = -a / (before - table);
            new_y[p] = a + before * new_t[p];
            new_v[p] =
                (1.0 + e) * bend * new_t[p] - e * (b - g * new_t[p]) + (table - before) * by_e;
        }
        found.times.push(high);
        found.time_derivatives.push(new_t);
        (y, v) = (flight(high)[0], table - e * (before - table));
        (t, dt, dy, dv) = (high, new_t, new_y, new_v);
    }
}

const START: [f64; 2] = [1.0, 0.3];
const END: f64 = 1.7;

#[test]
fn the_closed_form_is_the_derivative_of_itself() {
    let exact_at = |y0: f64, v0: f64, e: f64, g: f64| {
        let ball = Ball {
            restitution: e,
            gravity: g,
            ..BALL
        };
        exact(&ball, [y0, v0], END).state
    };
    let here = exact(&BALL, START, END);
    assert_eq!(here.times.len(), 3);
    for p in 0..4 {
        let at = |s: f64| {
            let mut q = [START[0], START[1], BALL.restitution, BALL.gravity];
            q[p] += s;
            exact_at(q[0], q[1], q[2], q[3])
        };
        let (ahead, behind) = (at(1e-6), at(-1e-6));
        for i in 0..2 {
            let difference = (ahead[i] - behind[i]) / 2e-6;
            assert!(
                (difference - here.derivative[(i, p)]).abs() < 1e-7,
                "{i} {p}: {difference} {}",
                here.derivative
            );
        }
    }
}

#[test]
fn state_parameters_and_time_shifts_are_those_of_the_closed_form() {
    let p = [BALL.restitution, BALL.gravity];
    let here = exact(&BALL, START, END);
    for (written, tolerance) in [
        (Written::Everything, 1e-9),
        (Written::Nothing, 1e-8),
        (Written::ByRate, 1e-8),
    ] {
        let build = |p: &[f64]| Ball {
            restitution: p[0],
            gravity: p[1],
            written,
            ..BALL
        };
        let system = WithParameters::new(build, &p);
        let mut integrator = Integrator::new(&system).unwrap().rtol(1e-12).atol(1e-12);
        let d = integrator
            .derivative(&Start::at(0.0).x(&system.start(&START)), END)
            .unwrap();
        assert_eq!(*d.verdict(), Verdict::Classical);
        let matrix = d.matrix().unwrap();
        let error = (matrix.view((0, 0), (2, 4)) - &here.derivative).amax();
        assert!(
            error < tolerance,
            "{written:?}: {error:e}\n{matrix}{}",
            here.derivative
        );
        for (i, shifts) in here.time_derivatives.iter().enumerate() {
            assert!((d.run().crossings()[i].t - here.times[i]).abs() < 1e-11);
            for (p, shift) in shifts.iter().enumerate() {
                let mut v = [0.0; 4];
                v[p] = 1.0;
                assert!((d.event_time_shift(i, &v).unwrap() - shift).abs() < tolerance);
            }
        }
        let shift = d.event_time_shift(3, &[1.0, 0.0, 0.0, 0.0]);
        assert_eq!(
            shift,
            Err(NoDerivative::Input(InputError::NoSuch {
                what: "crossing",
                index: 3,
                count: 3
            }))
        );
    }
}

#[test]
fn one_bounce_is_the_textbook_formula() {
    let (t, v) = (0.4, -3.0);
    let table = BALL.table(t);
    let (e, g) = (BALL.restitution, BALL.gravity);
    let x = [table[0], v];
    let aloft = Mode::with(1, &[0]);
    for written in [Written::Everything, Written::Nothing, Written::ByRate] {
        let ball = Ball { written, ..BALL };
        let s = saltation_matrix(&ball, Guard::falling(0), t, &x, &aloft).unwrap();
        let after = table[1] - e * (v - table[1]);
        assert!((s.state[1] - after).abs() < 1e-12 && (s.state[0] - table[0]).abs() < 1e-15);
        // Ξ = D_xR + (F⁺ − D_xR F⁻ − D_tR) D_xh / (D_xh F⁻ + D_th), written out.
        let rate = v - table[1];
        let column = [after - v, -g - e * g - (1.0 + e) * table[2]];
        let exact = [[1.0 + column[0] / rate, 0.0], [column[1] / rate, -e]];
        for (i, row) in exact.iter().enumerate() {
            for (j, entry) in row.iter().enumerate() {
                assert!(
                    (s.matrix[(i, j)] - entry).abs() < 1e-8,
                    "{written:?} {}",
                    s.matrix
                );
            }
        }
        assert!((s.time_shift[0] + 1.0 / rate).abs() < 1e-9 && s.time_shift[1].abs() < 1e-15);
        // A displacement along the motion is a later time and stays so: Ξ F⁻ + (…) D_th gives F⁺
        // when the guard stands still.
        let still = Ball {
            amplitude: 0.0,
            ..ball
        };
        let s = saltation_matrix(&still, Guard::falling(0), t, &[0.0, v], &aloft).unwrap();
        let carried = &s.matrix * DVector::from_vec(vec![v, -g]);
        assert!((carried[0] + e * v).abs() < 1e-8 && (carried[1] + g).abs() < 1e-8);
    }
}

#[test]
fn a_wrong_derivative_of_the_reset_is_named() {
    struct Wrong(Ball);
    impl Flow for Wrong {
        fn dim(&self) -> usize {
            2
        }
        fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
            self.0.flow(t, x, mode, dx);
        }
    }
    impl EventFunction for Wrong {
        fn count(&self) -> usize {
            1
        }
        fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
            self.0.event(k, t, x, mode)
        }
        fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
            self.0.on_crossing(crossing)
        }
        fn reset_times(
            &self,
            _t: f64,
            _c: &Crossed<'_>,
            _x: &[f64],
            _m: &Mode,
            Displacement { dx, .. }: Displacement<'_>,
            out: &mut [f64],
        ) -> bool {
            out.copy_from_slice(&[dx[0], -self.0.restitution * dx[1]]);
            true
        }
    }
    let aloft = Mode::with(1, &[0]);
    let right = check_derivatives(
        &Ball {
            written: Written::Everything,
            ..BALL
        },
        0.4,
        &START,
        &aloft,
    )
    .unwrap();
    assert!(right.agrees(1e-7), "{right}");
    let wrong = check_derivatives(&Wrong(BALL), 0.4, &START, &aloft).unwrap();
    let text = wrong.to_string();
    assert!(
        !wrong.agrees(1e-3) && text.contains("∂R_1/∂t of the reset of guard 0 (falling)"),
        "{text}"
    );
}
