//! The report of a check of derivatives, entry by entry.

use std::fmt;

use crate::Guard;

/// A derivative, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Partial {
    /// `∂f_row/∂x_column`, from `jacobian_times` along an axis.
    Jacobian {
        /// Component of the flow.
        row: usize,
        /// State variable.
        column: usize,
    },
    /// Component `row` of `D_x f · v` along a mixed direction: wrong when `jacobian_times` is not
    /// linear in `v`.
    JacobianMixed {
        /// Component of the flow.
        row: usize,
    },
    /// `∂h_event/∂x_column`.
    Gradient {
        /// Event function.
        event: usize,
        /// State variable.
        column: usize,
    },
    /// `∂h_event/∂t`.
    GradientTime {
        /// Event function.
        event: usize,
    },
    /// `∂R_row/∂x_column` of the reset of `guard`, from `reset_times`.
    Reset {
        /// The guard that crosses alone.
        guard: Guard,
        /// Component of the state after.
        row: usize,
        /// State variable before.
        column: usize,
    },
    /// `∂R_row/∂t` of the reset of `guard`.
    ResetTime {
        /// The guard that crosses alone.
        guard: Guard,
        /// Component of the state after.
        row: usize,
    },
    /// Component of `f` after `flip` of side `event`.
    Flip {
        /// Event function whose side flips.
        event: usize,
        /// Component of the flow.
        component: usize,
    },
    /// `∂M_{row,column}/∂q_coordinate` of a mass matrix that is said to be constant.
    Mass {
        /// Row of the mass matrix.
        row: usize,
        /// Column of the mass matrix.
        column: usize,
        /// Coordinate.
        coordinate: usize,
    },
    /// Entry of the mass matrix as the trees of a mechanical system give it: that of the block of
    /// one tree, zero between two.
    TreeMass {
        /// Row of the mass matrix.
        row: usize,
        /// Column of the mass matrix.
        column: usize,
    },
    /// Component of `½ ∂(vᵀ M v)/∂q`.
    KineticGradient {
        /// Coordinate by which it is the derivative.
        component: usize,
    },
    /// Component of the Coriolis force `c v` of a mechanical system.
    Coriolis {
        /// Coordinate on which it acts.
        component: usize,
    },
    /// The power `vᵀ c v` of the Coriolis force, which is `−½ vᵀ Ṁ v`.
    CoriolisPower,
    /// `∂f_component/∂x_column` of the effort of a mechanical system, `x = (q, v)`, from
    /// `effort_along` along an axis.
    EffortAlong {
        /// Coordinate on which it acts.
        component: usize,
        /// State variable.
        column: usize,
    },
    /// `∂a_contact/∂q_column`, from `gap_row`.
    GapRow {
        /// Contact.
        contact: usize,
        /// Coordinate.
        column: usize,
    },
    /// `∂²a_contact/∂q_column∂q_coordinate` of a row that is said to be constant.
    ConstantRow {
        /// Contact.
        contact: usize,
        /// Coordinate of the row.
        column: usize,
        /// Coordinate along which it changes.
        coordinate: usize,
    },
    /// Entry of `J Jᵀ` of the normal row (0) and the tangent rows (1, 2) of a contact, in the shifts
    /// of a body: `s²` on the diagonal and zero beside it, or friction is scaled.
    ContactFrame {
        /// Contact.
        contact: usize,
        /// Row of `J Jᵀ`.
        row: usize,
        /// Column of `J Jᵀ`.
        column: usize,
    },
    /// `κ = vᵀ D²a_contact v`, from `curvature`.
    Curvature {
        /// Contact.
        contact: usize,
    },
}

impl fmt::Display for Partial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jacobian { row, column } => write!(f, "∂f_{row}/∂x_{column}"),
            Self::JacobianMixed { row } => write!(f, "(D_x f · v)_{row} along a mixed direction"),
            Self::Gradient { event, column } => write!(f, "∂h_{event}/∂x_{column}"),
            Self::GradientTime { event } => write!(f, "∂h_{event}/∂t"),
            Self::Reset { guard, row, column } => {
                write!(f, "∂R_{row}/∂x_{column} of the reset of guard {guard}")
            }
            Self::ResetTime { guard, row } => {
                write!(f, "∂R_{row}/∂t of the reset of guard {guard}")
            }
            Self::Flip { event, component } => {
                write!(f, "f_{component} after the flip of side {event}")
            }
            Self::Mass {
                row,
                column,
                coordinate,
            } => write!(f, "∂M_{row},{column}/∂q_{coordinate} of a constant mass"),
            Self::TreeMass { row, column } => write!(f, "M_{row},{column} by trees"),
            Self::KineticGradient { component } => write!(f, "½ ∂(vᵀ M v)/∂q_{component}"),
            Self::Coriolis { component } => write!(f, "(c v)_{component}"),
            Self::CoriolisPower => f.write_str("the power vᵀ c v of the Coriolis force"),
            Self::EffortAlong { component, column } => {
                write!(f, "∂f_{component}/∂x_{column} of the effort")
            }
            Self::ConstantRow {
                contact,
                column,
                coordinate,
            } => write!(
                f,
                "∂²a_{contact}/∂q_{column}∂q_{coordinate} of a constant row"
            ),
            Self::ContactFrame {
                contact,
                row,
                column,
            } => write!(
                f,
                "(J Jᵀ)_{row}{column} of normal and tangents of contact {contact}"
            ),
            Self::GapRow { contact, column } => write!(f, "∂a_{contact}/∂q_{column}"),
            Self::Curvature { contact } => write!(f, "the curvature vᵀ D²a_{contact} v"),
        }
    }
}

/// One derivative as the user gave it and as it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// The derivative.
    pub what: Partial,
    /// As the user's function gives it.
    pub given: f64,
    /// As the central difference gives it (those of constant masses and rows are given as 0); for a
    /// flip a fresh evaluation of the flow; for a mixed direction the sum of the columns given.
    pub difference: f64,
    /// `|given − difference|` over the largest absolute value in the same row, or over 1 when that
    /// is smaller; infinite when `given` is not finite.
    pub error: f64,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match self.what {
            Partial::Flip { .. } => "a fresh evaluation",
            Partial::JacobianMixed { .. } => "the sum of its columns",
            _ => "the difference",
        };
        write!(
            f,
            "{} is {}, {source} says {} (error {:.1e})",
            self.what, self.given, self.difference, self.error
        )
    }
}

/// The result of [`check_derivatives`](crate::derivative::check_derivatives) or
/// [`check_mechanics`](crate::mechanics::check_mechanics).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DerivativeReport {
    /// The entry with the largest error; `None` when the user wrote no derivative.
    pub worst: Option<Entry>,
    /// The number of entries that were compared.
    pub compared: usize,
}

impl DerivativeReport {
    /// True when no entry has an error above `tolerance`; also when there was nothing to compare:
    /// look at `compared`.
    pub fn agrees(&self, tolerance: f64) -> bool {
        self.worst.is_none_or(|entry| entry.error <= tolerance)
    }

    /// Takes one more entry in; `scale` is the size of its row.
    pub(crate) fn compare(&mut self, what: Partial, given: f64, difference: f64, scale: f64) {
        let error = if given.is_finite() && difference.is_finite() {
            (given - difference).abs() / scale
        } else {
            f64::INFINITY
        };
        self.compared += 1;
        if self.worst.is_none_or(|worst| error > worst.error) {
            self.worst = Some(Entry {
                what,
                given,
                difference,
                error,
            });
        }
    }
}

impl fmt::Display for DerivativeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.worst {
            None => f.write_str("no derivative is written, nothing to compare"),
            Some(worst) => write!(f, "the worst of {} entries: {worst}", self.compared),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_on_either_side_is_infinitely_wrong() {
        for (given, difference) in [(f64::NAN, 1.0), (1.0, f64::NAN), (f64::INFINITY, 1.0)] {
            let mut report = DerivativeReport::default();
            let what = Partial::Jacobian { row: 0, column: 0 };
            report.compare(what, 1.0, 1.0, 1.0);
            assert!(report.agrees(0.0));
            report.compare(what, given, difference, 1.0);
            assert!(!report.agrees(f64::MAX), "{given} {difference}");
        }
    }
}
