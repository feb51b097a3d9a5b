//! A chain of rods that hang from a point: a pendulum of any number of links.

use super::linkage::{Body, Linkage, Segment};
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};
use crate::{InputError, validate};

/// Uniform rods in a row that hang from a fixed point, without contacts.
///
/// `q` are the angles of the rods from the downward vertical (rad). Energy is conserved.
///
/// ```
/// use saltation::models::LinkChain;
/// use saltation::variational::Variational;
/// let mut driver = Variational::new(LinkChain::new(10)?)?.step(0.01);
/// let run = driver.integrate(0.0, &[0.3; 10], &[0.0; 10], 1.0)?.completed()?;
/// assert_eq!(run.state().len(), 20);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LinkChain {
    linkage: Linkage,
    /// Gravity (m/s²).
    pub gravity: f64,
}

impl LinkChain {
    /// A chain of `links` rods, together 1 m long and 1 kg.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] unless there are 1 … 1000 links.
    pub fn new(links: usize) -> Result<Self, InputError> {
        validate::unless(
            (1..=1000).contains(&links),
            "links",
            links as f64,
            "must lie in 1 … 1000",
        )?;
        let length = 1.0 / links as f64;
        let down = -std::f64::consts::FRAC_PI_2;
        let bodies = (0..links).map(|i| Body {
            mass: length,
            inertia: length * length * length / 12.0,
            centre: (0..=i)
                .map(|k| Segment::new(if k < i { length } else { length / 2.0 }, down, &[k]))
                .collect(),
            spin: vec![i],
        });
        Ok(Self {
            linkage: Linkage {
                dof: links,
                free: false,
                bodies: bodies.collect(),
            },
            gravity: 9.81,
        })
    }

    /// Number of links.
    pub fn links(&self) -> usize {
        self.linkage.dof
    }
}

impl MechanicalSystem for LinkChain {
    fn dof(&self) -> usize {
        self.linkage.dof
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.linkage.mass(q, mass);
    }

    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
        if effort.len() == self.linkage.dof {
            self.linkage.add_weights(self.gravity, q, effort);
        }
    }

    fn effort_along(
        &self,
        (_, q, _): (f64, &[f64], &[f64]),
        directions: &[f64],
        out: &mut [f64],
    ) -> bool {
        let d = self.linkage.dof;
        for (along, out) in directions.chunks_exact(2 * d).zip(out.chunks_exact_mut(d)) {
            out.fill(0.0);
            self.linkage
                .add_weights_along(self.gravity, q, &along[..d], out);
        }
        true
    }

    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        force.fill(0.0);
        self.linkage.add_coriolis(q, v, force);
        true
    }

    fn kinetic_gradient(&self, q: &[f64], v: &[f64], gradient: &mut [f64]) -> bool {
        self.linkage.kinetic_gradient(q, v, gradient);
        true
    }

    fn potential(&self, q: &[f64]) -> Option<f64> {
        Some(self.linkage.potential(self.gravity, q))
    }

    fn time_scale(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }
}

impl UnilateralConstraints for LinkChain {
    fn contacts(&self) -> usize {
        0
    }

    fn gap(&self, _j: usize, _q: &[f64]) -> f64 {
        f64::NAN
    }
}
