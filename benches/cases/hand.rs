//! What the library is measured against: Dormand & Prince's step and its control, written out by
//! hand for the two states of the hopper, with the formulas of `saltation::ode`.

use saltation::models::Hopper;

/// The hopper in one mode, with nothing but its formula.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hand {
    pub(crate) hopper: Hopper,
    pub(crate) touching: bool,
}

/// What a step ends with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stepped {
    pub(crate) state: [f64; 2],
    /// The flow there: the first stage of the next step.
    pub(crate) slope: [f64; 2],
    /// The error estimate of both components.
    pub(crate) error: [f64; 2],
}

impl Hand {
    #[inline]
    pub(crate) fn flow(&self, z: f64, v: f64) -> [f64; 2] {
        let p = &self.hopper;
        let spring = if self.touching {
            p.stiffness * (p.rest_length - z) / p.mass
        } else {
            0.0
        };
        [v, spring - p.gravity]
    }

    /// One step of length `h` from `[z, v]` with slope `[a1, b1]`.
    #[inline]
    pub(crate) fn step(&self, [z, v]: [f64; 2], [a1, b1]: [f64; 2], h: f64) -> Stepped {
        let [a2, b2] = self.flow(z + h * (a1 / 5.0), v + h * (b1 / 5.0));
        let [a3, b3] = self.flow(
            z + h * (3.0 / 40.0 * a1 + 9.0 / 40.0 * a2),
            v + h * (3.0 / 40.0 * b1 + 9.0 / 40.0 * b2),
        );
        let [a4, b4] = self.flow(
            z + h * (44.0 / 45.0 * a1 - 56.0 / 15.0 * a2 + 32.0 / 9.0 * a3),
            v + h * (44.0 / 45.0 * b1 - 56.0 / 15.0 * b2 + 32.0 / 9.0 * b3),
        );
        let [a5, b5] = self.flow(
            z + h
                * (19372.0 / 6561.0 * a1 - 25360.0 / 2187.0 * a2 + 64448.0 / 6561.0 * a3
                    - 212.0 / 729.0 * a4),
            v + h
                * (19372.0 / 6561.0 * b1 - 25360.0 / 2187.0 * b2 + 64448.0 / 6561.0 * b3
                    - 212.0 / 729.0 * b4),
        );
        let [a6, b6] = self.flow(
            z + h
                * (9017.0 / 3168.0 * a1 - 355.0 / 33.0 * a2
                    + 46732.0 / 5247.0 * a3
                    + 49.0 / 176.0 * a4
                    - 5103.0 / 18656.0 * a5),
            v + h
                * (9017.0 / 3168.0 * b1 - 355.0 / 33.0 * b2
                    + 46732.0 / 5247.0 * b3
                    + 49.0 / 176.0 * b4
                    - 5103.0 / 18656.0 * b5),
        );
        let z = z + h
            * (35.0 / 384.0 * a1 + 500.0 / 1113.0 * a3 + 125.0 / 192.0 * a4 - 2187.0 / 6784.0 * a5
                + 11.0 / 84.0 * a6);
        let v = v + h
            * (35.0 / 384.0 * b1 + 500.0 / 1113.0 * b3 + 125.0 / 192.0 * b4 - 2187.0 / 6784.0 * b5
                + 11.0 / 84.0 * b6);
        let slope = self.flow(z, v);
        let [a7, b7] = slope;
        let error = [
            h * (71.0 / 57600.0 * a1 - 71.0 / 16695.0 * a3 + 71.0 / 1920.0 * a4
                - 17253.0 / 339200.0 * a5
                + 22.0 / 525.0 * a6
                - 1.0 / 40.0 * a7),
            h * (71.0 / 57600.0 * b1 - 71.0 / 16695.0 * b3 + 71.0 / 1920.0 * b4
                - 17253.0 / 339200.0 * b5
                + 22.0 / 525.0 * b6
                - 1.0 / 40.0 * b7),
        ];
        Stepped {
            state: [z, v],
            slope,
            error,
        }
    }

    /// From `x` over `tf` seconds with PI step control; the state at the end and the number of
    /// steps, accepted or not.
    pub(crate) fn run(&self, x: [f64; 2], tf: f64, control: &Control) -> ([f64; 2], usize) {
        let mut x = x;
        let mut slope = self.flow(x[0], x[1]);
        let (mut t, mut next) = (0.0, control.first_step);
        let (mut previous, mut steps) = (1e-4_f64, 0);
        let mut rejected = false;
        while t < tf {
            let wish = next.min(control.max_step);
            let remaining = tf - t;
            let last = wish * 1.01 >= remaining;
            let h = if last { remaining } else { wish };
            let step = self.step(x, slope, h);
            steps += 1;
            let ratio = |i: usize| {
                let size = x[i].abs().max(step.state[i].abs());
                step.error[i] / (control.atol + control.rtol * size)
            };
            let error = (0.5 * (ratio(0) * ratio(0) + ratio(1) * ratio(1))).sqrt();
            if error <= 1.0 {
                let divisor = error.powf(0.17) / (previous.powf(0.04) * 0.9);
                let factor = 1.0 / divisor.clamp(0.1, 5.0);
                next = h * if rejected { factor.min(1.0) } else { factor };
                previous = error.max(1e-4);
                rejected = false;
                t = if last { tf } else { t + h };
                x = step.state;
                slope = step.slope;
            } else {
                next = h / (error.powf(0.17) / 0.9).min(5.0);
                rejected = true;
            }
        }
        (x, steps)
    }
}

/// Settings of [`Hand::run`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    pub(crate) rtol: f64,
    pub(crate) atol: f64,
    pub(crate) first_step: f64,
    pub(crate) max_step: f64,
}
