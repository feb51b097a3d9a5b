//! Supports of those that sleep, as a number for each of them: a saved run that goes on in a model in
//! which that is another wakes them.

use super::at_rest::mix;
use crate::InputError;
use crate::compliant::StepFriction;
use crate::compliant::stepping::model::SteppedSystem;
use crate::compliant::stepping::state::{Core, Settings};
use crate::mechanics::{ContactParameters, ContactSet, Contacts, MechanicalSystem, Reach};

impl Core {
    /// For each tree a checksum of what holds it where it sleeps: its contacts, its inertia, and the settings
    /// of laws. Efforts and rows of terms are
    /// compared in every step. Empty where none sleeps, and where the model refuses to say.
    pub(in crate::compliant::stepping) fn supports(&self, system: &dyn SteppedSystem) -> Vec<u64> {
        if self.sleepers.count() == 0 {
            return Vec::new();
        }
        self.find_supports(system).unwrap_or_default()
    }

    fn find_supports(&self, system: &dyn SteppedSystem) -> Result<Vec<u64>, InputError> {
        let system = &self.measured(system)?;
        let trees = self.sleepers.asleep().len();
        let mut supports = vec![self.settings.checksum_of_laws(); trees];
        let mut mass = Vec::new();
        for (tree, support) in supports.iter_mut().enumerate() {
            let width = system.tree(tree).len();
            mass.clear();
            mass.resize(width * width, 0.0);
            system.tree_mass(tree, &self.q, &mut mass);
            *support = mix_all(*support, &mass);
        }
        // All are listed that lie within the least margin, those that do not press too: what is put
        // against a body pushes it.
        let (still, mut contacts) = (vec![0.0; self.v.len()], Contacts::new());
        let velocities = [&*still];
        let reach = Reach::new(&velocities, self.settings.dt, self.settings.least_margin);
        let set = ContactSet::Reachable(reach);
        self.settings
            .fill(system, &self.q, &still, set, &mut contacts)?;
        for (i, of) in contacts.all_parameters().iter().enumerate() {
            let rows = contacts.blocks(i).map(|block| block.rows);
            let own = rows.fold(checksum(of), mix_all);
            for block in contacts.blocks(i) {
                if let Some(support) = supports.get_mut(block.tree) {
                    *support = mix(*support, own);
                }
            }
        }
        Ok(supports)
    }

    /// Wakes the islands of trees that something else holds than those that were saved.
    pub(in crate::compliant::stepping) fn wake_unless_held(
        &mut self,
        system: &dyn SteppedSystem,
        saved: &[u64],
    ) {
        let now = self.supports(system);
        let sleepers = &mut self.sleepers;
        if now.len() == saved.len() {
            for (tree, (now, saved)) in now.iter().zip(saved).enumerate() {
                if now != saved {
                    sleepers.wake(tree);
                }
            }
        } else {
            sleepers.wake_all();
        }
        sleepers.forget_awake();
    }
}

impl Settings {
    /// Of what makes a contact hold, beside the contact itself.
    fn checksum_of_laws(&self) -> u64 {
        let (law, slip) = match self.friction_law {
            StepFriction::Coulomb => (0, 0.0),
            StepFriction::Cone => (1, 0.0),
            StepFriction::Lagged { slip } => (2, slip),
        };
        let softness = self.softness;
        mix_all(law, &[slip, softness.near_rigid, softness.stiction])
    }
}

fn mix_all(sum: u64, values: &[f64]) -> u64 {
    values.iter().fold(sum, |sum, x| mix(sum, x.to_bits()))
}

/// Of the parameters of a contact.
fn checksum(of: &ContactParameters) -> u64 {
    let none = f64::NAN;
    let values = [
        of.gap,
        of.friction,
        of.spinning_friction,
        of.rolling_friction,
        of.restitution,
        of.stiffness,
        of.dissipation_time,
        of.near_rigid.unwrap_or(none),
        of.stiction.unwrap_or(none),
    ];
    mix_all(of.contact as u64, &values)
}
