//! The block falls on its corners: its motion until the impact is over.

use differential_equations::error::Error;
use differential_equations::interpolate::Interpolation;
use differential_equations::methods::ImplicitRungeKutta;
use differential_equations::ode::OrdinaryNumericalMethod;
use differential_equations::status::Status;

use crate::block::{Block, Corner, GRAVITY, IMPULSE, MASS, SIZE, State, THETA, VY, Y};

/// Tolerances: relative, and absolute of positions (m, rad), velocities (m/s) and impulses (N s).
const RTOL: f64 = 1e-10;
const ATOL: [f64; SIZE] = [1e-16, 1e-16, 1e-12, 1e-12, 1e-12, 1e-12, 1e-12];
/// First step of a smooth piece (s).
const FIRST_STEP: f64 = 1e-10;
/// No impact lasts longer (s).
const LONGEST: f64 = 1.0;
/// Most steps of an impact.
const MOST_STEPS: usize = 1_000_000;

/// The end of an impact.
pub(crate) struct Outcome {
    /// Corner A and corner B.
    pub(crate) corners: [Corner; 2],
    /// Accepted steps.
    pub(crate) steps: usize,
}

/// Drops the block. Its corners begin at the ground with attitude `theta` (rad), one of them on it, with the energy of a fall of
/// the level block at `speed` (m/s).
pub(crate) fn drop(stiffness: [f64; 2], theta: f64, speed: f64) -> Result<Outcome, String> {
    let mut y: State = [0.0; SIZE];
    y[THETA] = theta;
    let lowest = [0, 1]
        .map(|i| Block::corner(i, &y).gap)
        .into_iter()
        .fold(0.0, f64::min);
    y[Y] = -lowest;
    y[VY] = -(speed * speed - 2.0 * GRAVITY * y[Y]).sqrt();
    let closed = [0, 1].map(|i| Block::corner(i, &y).gap <= 0.0);
    let impact = Impact {
        closes_above: 1e-3 * MASS / stiffness[0].min(stiffness[1]),
        least_impulse: 1e-2 * MASS * speed,
    };
    impact.run(Block { stiffness, closed }, y)
}

/// When an impact is over.
struct Impact {
    /// Closed corners approach more slowly (m/s) …
    closes_above: f64,
    /// … and each corner has received this impulse (N s).
    least_impulse: f64,
}

impl Impact {
    fn is_over(&self, y: &State) -> bool {
        (0..2).all(|i| {
            let corner = Block::corner(i, y);
            let is_slow = corner.gap > 0.0 || corner.speed >= -self.closes_above;
            is_slow && y[IMPULSE + i] >= self.least_impulse
        })
    }

    /// Integrates smooth piece after smooth piece; a corner that meets or leaves the ground ends one.
    fn run(&self, mut block: Block, mut y: State) -> Result<Outcome, String> {
        let says = |error: Error<f64, State>| format!("{error:?}");
        let (mut t, mut steps, mut h) = (0.0, 0, FIRST_STEP);
        'piece: while t < LONGEST {
            let mut radau = integrator(h);
            radau.init(&block, t, LONGEST, &y).map_err(says)?;
            while radau.t() < LONGEST {
                radau.set_status(Status::Solving);
                radau.step(&block).map_err(says)?;
                if matches!(radau.status(), Status::RejectedStep) {
                    // A new integrator, since this one keeps the matrix of the longer step.
                    (t, y, h) = (radau.t(), *radau.y(), radau.h());
                    continue 'piece;
                }
                steps += 1;
                if steps > MOST_STEPS {
                    return Err(format!("{MOST_STEPS} steps did not reach the end"));
                }
                let sides = |y: &State| [0, 1].map(|i| Block::corner(i, y).gap <= 0.0);
                let ends = |y: &State| sides(y) != block.closed || self.is_over(y);
                if ends(radau.y()) {
                    (t, y) = first(&mut radau, ends).map_err(says)?;
                    if self.is_over(&y) {
                        let corners = [0, 1].map(|i| Block::corner(i, &y));
                        return Ok(Outcome { corners, steps });
                    }
                    block.closed = sides(&y);
                    h = FIRST_STEP;
                    continue 'piece;
                }
            }
            break;
        }
        Err(format!("the impact takes longer than {LONGEST} s"))
    }
}

/// Radau IIA of order 5. A tolerance for each entry, since the scalar ones are scaled once an entry.
fn integrator(h: f64) -> impl OrdinaryNumericalMethod<f64, State> + Interpolation<f64, State> {
    ImplicitRungeKutta::radau5()
        .rtol(vec![RTOL; SIZE])
        .atol(ATOL.to_vec())
        .max_steps(MOST_STEPS)
        .h0(h)
}

/// The first time in the last step from which on the condition holds, by bisection of the dense output.
fn first(
    radau: &mut (impl OrdinaryNumericalMethod<f64, State> + Interpolation<f64, State>),
    holds: impl Fn(&State) -> bool,
) -> Result<(f64, State), Error<f64, State>> {
    let (mut before, mut after) = (radau.t_prev(), radau.t());
    let mut y = *radau.y();
    loop {
        let middle = 0.5 * (before + after);
        if middle <= before || middle >= after {
            return Ok((after, y));
        }
        let there = radau.interpolate(middle)?;
        if holds(&there) {
            (after, y) = (middle, there);
        } else {
            before = middle;
        }
    }
}
