//! What the library is measured against: Tsitouras's step and its control, written out by
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
        let [a2, b2] = self.flow(z + h * (0.161 * a1), v + h * (0.161 * b1));
        let [a3, b3] = self.flow(
            z + h * (-0.008480655492356989 * a1 + 0.335480655492357 * a2),
            v + h * (-0.008480655492356989 * b1 + 0.335480655492357 * b2),
        );
        let [a4, b4] = self.flow(
            z + h * (2.8971530571054935 * a1 - 6.359448489975075 * a2 + 4.3622954328695815 * a3),
            v + h * (2.8971530571054935 * b1 - 6.359448489975075 * b2 + 4.3622954328695815 * b3),
        );
        let [a5, b5] = self.flow(
            z + h
                * (5.325864828439257 * a1 - 11.748883564062828 * a2 + 7.4955393428898365 * a3
                    - 0.09249506636175525 * a4),
            v + h
                * (5.325864828439257 * b1 - 11.748883564062828 * b2 + 7.4955393428898365 * b3
                    - 0.09249506636175525 * b4),
        );
        let [a6, b6] = self.flow(
            z + h
                * (5.86145544294642 * a1 - 12.92096931784711 * a2 + 8.159367898576159 * a3
                    - 0.071584973281401 * a4
                    - 0.028269050394068383 * a5),
            v + h
                * (5.86145544294642 * b1 - 12.92096931784711 * b2 + 8.159367898576159 * b3
                    - 0.071584973281401 * b4
                    - 0.028269050394068383 * b5),
        );
        let z = z + h
            * (0.09646076681806523 * a1
                + 0.01 * a2
                + 0.4798896504144996 * a3
                + 1.379008574103742 * a4
                - 3.290069515436081 * a5
                + 2.324710524099774 * a6);
        let v = v + h
            * (0.09646076681806523 * b1
                + 0.01 * b2
                + 0.4798896504144996 * b3
                + 1.379008574103742 * b4
                - 3.290069515436081 * b5
                + 2.324710524099774 * b6);
        let slope = self.flow(z, v);
        let [a7, b7] = slope;
        let error = |[k1, k2, k3, k4, k5, k6, k7]: [f64; 7]| {
            h * (-0.001780011052225777 * k1 - 0.0008164344596567469 * k2
                + 0.007880878010261995 * k3
                - 0.1447110071732629 * k4
                + 0.5823571654525552 * k5
                - 0.45808210592918697 * k6
                + 1.0 / 66.0 * k7)
        };
        let error = [
            error([a1, a2, a3, a4, a5, a6, a7]),
            error([b1, b2, b3, b4, b5, b6, b7]),
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
                next = h / (error.powf(0.2) / 0.9).min(100.0);
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
