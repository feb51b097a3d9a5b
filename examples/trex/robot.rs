//! A robot in the posture in which it lands, and the search for a better one.

use saltation::impact::ImpactProblem;
use saltation::mechanics::{
    ContactSet, ContactSource, Contacts, MechanicalSystem, UnilateralConstraints, Wanted,
};
use saltation::models::Trex;
use saltation::nalgebra::{DMatrix, DVector};
use saltation::variational::{OrthogonalDesign, Orthogonality, VariationalFailure};
use saltation::{Error, InputError};

use crate::common::flags::Outcome;

/// The contacts that land: right foot and tail.
pub(crate) const LANDING: [usize; 2] = [1, 2];

/// Posture and design.
pub(crate) type Shape = ([f64; 8], [f64; 4]);

/// Table I as printed: the start and the result of the paper.
pub(crate) const PRINTED: [Shape; 2] = [
    (
        [0.0, 12.38, 5.78, 5.13, 5.24, 1.99, 5.24, 0.0],
        [7.0, 4.0, 8.0, 10.0],
    ),
    (
        [0.0, 13.69, 5.92, 4.79, 5.71, 2.85, 5.67, -0.19],
        [6.69, 4.22, 7.81, 9.86],
    ),
];

/// ⟨u, v⟩ of the paper, of its own model and in an unknown unit.
pub(crate) const PRINTED_PRODUCTS: [f64; 2] = [1.65e-3, -2.28e-7];

/// Straight knees, legs half a turn apart.
pub(crate) const STRAIGHT: Shape = (
    [0.0, 12.38, 5.78, -6.5385, 0.0, -9.68, 0.0, 0.0],
    PRINTED[0].1,
);

/// What counts as a change of one: cm and rad of posture and design.
const SCALES: [f64; 12] = [1.0, 1.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1.0, 1.0, 1.0, 1.0];

/// A robot and the posture in which it lands, which is also that of its springs at rest.
#[derive(Clone)]
pub(crate) struct Robot {
    pub(crate) name: &'static str,
    pub(crate) q: [f64; 8],
    pub(crate) design: [f64; 4],
    pub(crate) system: Trex,
}

impl Robot {
    pub(crate) fn new(
        name: &'static str,
        q: [f64; 8],
        design: [f64; 4],
    ) -> Result<Self, InputError> {
        Ok(Self {
            name,
            q,
            design,
            system: build(&design)?.at_rest_in(&q),
        })
    }

    /// The nearest posture in which foot and tail touch the floor, by Newton's method with the
    /// corrections of least norm; the abscissa is held.
    pub(crate) fn on_floor(&self) -> Outcome<Self> {
        let mut q = DVector::from_column_slice(&self.q);
        for _ in 0..20 {
            let gaps = DVector::from_fn(2, |i, _| self.system.gap(LANDING[i], q.as_slice()));
            if gaps.amax() <= 1e-13 {
                break;
            }
            // rows of the gaps by the scaled variables
            let mut rows = DMatrix::zeros(2, q.len());
            let mut row = vec![0.0; q.len()];
            for (i, contact) in LANDING.into_iter().enumerate() {
                self.system.gap_row(contact, q.as_slice(), &mut row);
                for k in 1..q.len() {
                    rows[(i, k)] = row[k] * SCALES[k];
                }
            }
            let change = rows.svd(true, true).solve(&gaps, 1e-12)?;
            for k in 1..q.len() {
                q[k] -= change[k] * SCALES[k];
            }
        }
        Ok(Self::new(self.name, q.as_slice().try_into()?, self.design)?)
    }

    /// The nearest posture and design with orthogonal contacts: 0.1 rad is worth as much as 1 cm,
    /// the abscissa is held.
    pub(crate) fn orthogonal(&self) -> Result<OrthogonalDesign, VariationalFailure> {
        let mut bounds = [[f64::NEG_INFINITY, f64::INFINITY]; 12];
        for (bounds, least) in bounds[8..].iter_mut().zip([2.5, 2.0, 4.0, 4.0]) {
            bounds[0] = least;
        }
        Orthogonality::new(build, LANDING)
            .scales(&SCALES)
            .bounds(&bounds)
            .fixed(&[0])
            .solve(&self.q, &self.design)
    }

    /// The robot with radii and lengths rounded to 0.1 mm, in the nearest posture of a landing.
    pub(crate) fn built(&self) -> Outcome<Self> {
        let design = self.design.map(|length| (100.0 * length).round() / 100.0);
        Self::new("built", self.q, design)?.on_floor()
    }

    /// The impact of foot and tail after a drop with speed `v` (cm/s).
    pub(crate) fn impact(&self, speed: f64) -> Result<ImpactProblem, Error> {
        let d = self.q.len();
        let mut contacts = Contacts::new();
        let landing = ContactSet::Listed(&LANDING);
        self.system
            .fill(&self.q, landing, Wanted::default(), &mut contacts)?;
        let mut mass = DMatrix::zeros(d, d);
        self.system.mass(&self.q, mass.as_mut_slice());
        let velocity = DVector::from_column_slice(&falling(speed));
        let problem = ImpactProblem::from_contacts(&contacts, &mass, &velocity)?;
        Ok(problem.with_restitution(1.0)?)
    }

    /// Gaps of right foot and tail (cm).
    pub(crate) fn gaps(&self) -> [f64; 2] {
        LANDING.map(|contact| self.system.gap(contact, &self.q))
    }
}

/// Velocities of a robot that falls at `speed` (cm/s).
pub(crate) fn falling(speed: f64) -> [f64; 8] {
    let mut v = [0.0; 8];
    v[1] = -speed;
    v
}

/// The robot of the design: radii of the spheres, lengths of thigh and shank.
fn build(design: &[f64]) -> Result<Trex, InputError> {
    Trex::new([design[0], design[1]], [design[2], design[3]])
}
