//! What keeps accelerations and impacts from being computed, as errors.

use super::EventDriven;
use crate::impact::ImpactLaw;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::acceleration::{Frame, Trouble};
use crate::mechanics::configuration;
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};
use crate::{Error, MatrixFault, Mode};

impl<S, L> EventDriven<S, L>
where
    S: MechanicalSystem + UnilateralConstraints,
    L: ImpactLaw,
{
    /// Runs `work` with what accelerations and impacts of `contacts` at `q` are computed from.
    pub(crate) fn in_frame<R>(
        &self,
        q: &[f64],
        contacts: &[usize],
        work: impl FnOnce(&mut Frame<'_>) -> R,
    ) -> Result<R, Error> {
        let size = self.bodies.frame_size(contacts.len());
        with_zeros(size, |scratch| {
            match Frame::new(&self.bodies, q, contacts, scratch) {
                Ok(mut frame) => Ok(work(&mut frame)),
                Err(trouble) => Err(explain(trouble, q, contacts)),
            }
        })
    }

    /// What keeps the accelerations from being computed at a state, or a little ahead of it: within
    /// the step that begins there.
    pub(crate) fn trouble_ahead(&self, state: &[f64], mode: &Mode) -> Option<Error> {
        let (q, v) = self.parts(state);
        let contacts = self.closed(mode);
        let mut rate = vec![0.0; q.len()];
        configuration::rate(self.system(), q, v, &mut rate);
        let ahead = |time: f64| {
            let moved: Vec<f64> = q.iter().zip(&rate).map(|(q, r)| q + time * r).collect();
            self.trouble_at(&moved, &contacts)
        };
        let times = (-12..-1).map(|exponent| 10f64.powi(exponent));
        std::iter::once(0.0).chain(times).find_map(ahead)
    }

    fn trouble_at(&self, q: &[f64], contacts: &[usize]) -> Option<Error> {
        self.in_frame(q, contacts, |frame| {
            let mut zero = vec![0.0; contacts.len()];
            frame.solve_gram(&mut zero, self.redundant)
        })
        .map_or_else(Some, |solved| {
            solved.err().map(|trouble| explain(trouble, q, contacts))
        })
    }
}

/// What keeps accelerations or impacts from being computed, as an error.
pub(crate) fn explain(trouble: Trouble, q: &[f64], contacts: &[usize]) -> Error {
    match trouble {
        Trouble::Mass => Error::MassMatrix {
            fault: MatrixFault::NotPositive { value: 0.0 },
            state: q.to_vec(),
        },
        Trouble::Dependent(rcond) => Error::DependentContacts {
            set: contacts.to_vec(),
            rcond,
        },
    }
}
