//! In how many directions through random corners is each derivative wrong?

use std::io::Write;

use nalgebra::DVector;
use saltation::{Error, Integrator, NoDerivative, Start};

use crate::common::flags::Outcome;
use crate::corner::ExactCorner;
use crate::random::Random;

/// Relative error from which a derivative counts as wrong.
const WRONG: f64 = 1e-6;
const METHODS: [&str; 3] = [
    "single jumps, in index order",
    "mean over all orders",
    "saltation: apply(v)",
];

/// What is tried.
pub(crate) struct Table {
    /// Corners of each number of guards.
    pub(crate) corners: u32,
    /// Directions through each of them.
    pub(crate) directions: u32,
    pub(crate) seed: u64,
}

impl Table {
    /// Writes the table.
    pub(crate) fn report(&self, out: &mut dyn Write) -> Outcome<()> {
        let Self {
            corners,
            directions,
            ..
        } = self;
        writeln!(
            out,
            "random corners: in how many of {directions} directions is the derivative of the end wrong by more \
             than {WRONG:e}?\n"
        )?;
        let width = 4 * (*corners as usize).max(4);
        writeln!(
            out,
            "guards  pieces  derivative                    {:>width$} | median error  greatest",
            format!("wrong of {directions}"),
        )?;
        for guards in [2, 3, 8] {
            // Corners of each number of guards have their own seed, whatever else is in the table.
            let mut random = Random(self.seed.wrapping_mul(1000).wrapping_add(guards as u64));
            let corners = (0..self.corners)
                .map(|_| self.examine(&ExactCorner::random(guards, &mut random)?, &mut random))
                .collect::<Result<Vec<_>, Error>>()?;
            let pieces: Option<usize> = corners.iter().map(|corner| corner.pieces).max().flatten();
            let pieces = pieces.map_or_else(|| "-".to_owned(), |pieces| pieces.to_string());
            for (i, method) in METHODS.iter().enumerate() {
                let mut errors: Vec<f64> = Vec::new();
                let mut counts: Vec<String> = Vec::new();
                for corner in &corners {
                    let wrong = corner.errors[i].iter().filter(|error| **error > WRONG);
                    counts.push(format!("{:>4}", wrong.count()));
                    errors.extend(&corner.errors[i]);
                }
                let counts = counts.concat();
                errors.sort_by(f64::total_cmp);
                let middle = errors.get(errors.len() / 2).copied().unwrap_or(f64::NAN);
                let greatest = errors.last().copied().unwrap_or(f64::NAN);
                writeln!(
                    out,
                    "{guards:>6}  {pieces:>6}  {method:<30}{counts:>width$} | {middle:>12.1e}  {greatest:>8.1e}"
                )?;
            }
        }
        writeln!(
            out,
            "\none column a corner; errors relative to the exact derivative, which carries a displaced start from event to\n\
             event; pieces are the most of any corner, and listed up to 6 guards only\n"
        )?;
        Ok(())
    }

    fn examine(&self, corner: &ExactCorner, random: &mut Random) -> Result<Examined, Error> {
        let matrices = [corner.in_index_order(), corner.mean_over_orders()];
        let mut integrator = Integrator::new(&corner.table)?;
        let derivative =
            integrator.derivative(&Start::at(0.0).x(corner.start.as_slice()), corner.end())?;
        let mut errors = [const { Vec::new() }; 3];
        for _ in 0..self.directions {
            let v = random.direction(corner.start.len());
            let exact = corner.exact(&v);
            let error = |found: DVector<f64>| (found - &exact).norm() / exact.norm();
            for (errors, matrix) in errors.iter_mut().zip(&matrices) {
                errors.push(error(matrix * &v));
            }
            errors[2].push(error(derivative.apply(v.as_slice())?));
        }
        let pieces = match derivative.pieces() {
            Ok(pieces) => Some(pieces.len()),
            Err(NoDerivative::TooManyOrders { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Examined { errors, pieces })
    }
}

/// What came out at one corner.
struct Examined {
    /// Relative errors of each method.
    errors: [Vec<f64>; 3],
    /// Number of linear pieces, up to six guards.
    pieces: Option<usize>,
}
