//! Contacts in units in which a Delassus matrix of normals has a unit diagonal and the greatest rate
//! is 1: what the modes of contacts are looked for in.

use super::ContactRates;
use crate::impact::ImpactFailure;

/// Contacts in these units. Tangents take the unit of their normal, so that cones stay what they are.
#[derive(Debug)]
pub(crate) struct ScaledRates<'a> {
    of: ContactRates<'a>,
    gram: Vec<f64>,
    free: Vec<f64>,
    /// Of each row.
    roots: Vec<f64>,
    size: f64,
}

impl<'a> ScaledRates<'a> {
    /// Refuses rates that are not finite in these units.
    pub(crate) fn of(contacts: &ContactRates<'a>) -> Result<Self, ImpactFailure> {
        let (m, r) = (contacts.contacts, contacts.rows());
        let tangents = contacts.tangents.max(1);
        let contact = |row: usize| if row < m { row } else { (row - m) / tangents };
        // `√G_nn`, where a contact has mass.
        let root = |row: usize| {
            let own = contacts.gram[contact(row) * (r + 1)];
            if own > 0.0 { own.sqrt() } else { 1.0 }
        };
        let roots: Vec<f64> = (0..r).map(root).collect();
        let largest = |most: f64, row: usize| most.max((contacts.free[row] / roots[row]).abs());
        let size = (0..r).fold(0.0, largest);
        let size = if size > 0.0 { size } else { 1.0 };
        let entry = |k: usize| contacts.gram[k] / roots[k / r] / roots[k % r];
        let gram: Vec<f64> = (0..r * r).map(entry).collect();
        let free: Vec<f64> = (0..r)
            .map(|row| contacts.free[row] / roots[row] / size)
            .collect();
        if let Some(k) = gram.iter().chain(&free).position(|x| !x.is_finite()) {
            return Err(ImpactFailure::Overflow {
                quantity: "scaled rates of contacts",
                contact: contact(k % r.max(1)),
                value: f64::NAN,
            });
        }
        Ok(Self {
            of: *contacts,
            gram,
            free,
            roots,
            size,
        })
    }

    pub(crate) fn rates(&self) -> ContactRates<'_> {
        ContactRates {
            gram: &self.gram,
            free: &self.free,
            ..self.of
        }
    }

    /// Multipliers of these units in those of the contacts.
    pub(crate) fn unscale(&self, multipliers: &mut [f64]) {
        for (p, root) in multipliers.iter_mut().zip(&self.roots) {
            *p *= self.size / root;
        }
    }
}
