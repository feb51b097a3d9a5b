//! Refusals of a run with time as a state: starts, and coefficients of restitution.

use crate::event_driven::Model;
use crate::event_driven::breakdown::Breakdown;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::{State, UnilateralConstraints};
use crate::{InputError, validate};

/// Refuses what a run cannot begin with; gives the state on the manifold of the coordinates.
pub(super) fn check_start(
    model: &Model<'_>,
    State { t, q, v }: State<'_>,
) -> Result<Vec<f64>, Breakdown> {
    model.check_options()?;
    let (system, tangents) = (model.system(), model.row_tangents());
    if tangents > 1 {
        return Err(Breakdown::Input(InputError::Tangents {
            contact: 0,
            expected: 1,
            found: tangents,
        }));
    }
    let state = model.checked_state(t, q, v)?;
    let (q, v) = model.parts(&state);
    model.check_mass(&mut ContactsAt::default(), q)?;
    model.check_sliding(State { t, q, v })?;
    for j in 0..system.contacts() {
        check_inelastic(model, j, q, v)?;
        let gap = system.gap(j, q);
        validate::finite("gap", &[gap]).map_err(validate::counted_from(j))?;
        if !model.admissible_gaps().contains(&gap) {
            return Err(Breakdown::Input(InputError::NegativeGap {
                contact: j,
                gap,
                t,
            }));
        }
    }
    Ok(state)
}

/// Refuses a coefficient of restitution, which the laws with friction would not read.
pub(super) fn check_inelastic(
    model: &Model<'_>,
    contact: usize,
    q: &[f64],
    v: &[f64],
) -> Result<(), InputError> {
    let restitution = model.system().restitution(contact, q, v);
    let rule = "must be 0: impacts of a timeline are inelastic";
    validate::unless(restitution == 0.0, "restitution", restitution, rule)
        .map_err(validate::counted_from(contact))
}
