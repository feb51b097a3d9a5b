//! A block that rocks on the floor: the rigid legs of [`RigidTrot`] are its lower corners.

use super::RigidTrot;

/// Rocking: the body pivots about one corner until the other one lands, plastically, and the first
/// one lifts.
impl RigidTrot {
    /// A solid block of the given mass (kg), half width and half height (m) on a floor without
    /// friction: its lower corners are the feet, `I = m (w² + h²)/3`. Corner 0 is the left one; the
    /// pitch is positive where the right one is higher.
    ///
    /// ```
    /// use saltation::event_driven::Zeno;
    /// use saltation::models::RigidTrot;
    /// use saltation::{ContactModel, EventDriven, Start};
    /// let block = RigidTrot::block(1.0, 0.1, 0.3);
    /// let (q, v) = block.tilted(0.1);
    /// let mut simulation = EventDriven::new(ContactModel::new(block))?.rtol(1e-9).zeno(Zeno::Absorb);
    /// let run = simulation.integrate(&Start::at(0.0).q(&q).v(&v), 5.0)?;
    /// let times: Vec<_> = run.events().iter().map(|event| event.t).collect();
    /// let ratio = (times[12] - times[11]) / (times[11] - times[10]);
    /// assert!((ratio - block.rocking_ratio()).abs() < 1e-4);
    /// assert_eq!(run.mode().flags().count(), 2); // it comes to rest on both corners
    /// # Ok::<(), saltation::Error>(())
    /// ```
    #[must_use]
    pub fn block(mass: f64, half_width: f64, half_height: f64) -> Self {
        Self {
            mass,
            inertia: mass * (half_width * half_width + half_height * half_height) / 3.0,
            half_length: half_width,
            leg: half_height,
            ..Self::default()
        }
    }

    /// `q` and `v` of the body at rest on one foot, pitched by `theta` (rad): on the rear (left)
    /// one for `theta` > 0.
    pub fn tilted(&self, theta: f64) -> ([f64; 2], [f64; 2]) {
        let height = self.half_length * theta.abs().sin() + self.leg * theta.cos();
        ([height, theta], [0.0, 0.0])
    }

    /// The part that is left of the pitch rate of small rocking, and of the time from one landing
    /// to the next, after each landing with restitution 0: `ρ = (I − m d²)/(I + m d²)`.
    ///
    /// The landings accumulate where 0 < ρ < 1; for ρ ≤ 0 the body is so flat that both feet stay
    /// after the first.
    pub fn rocking_ratio(&self) -> f64 {
        let lever = self.mass * self.half_length * self.half_length;
        (self.inertia - lever) / (self.inertia + lever)
    }
}
