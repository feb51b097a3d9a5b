//! A robot in the posture in which it lands, and the search for a better one.

use saltation::impact::ImpactProblem;
use saltation::mechanics::{
    ContactSet, ContactSource, Contacts, MechanicalSystem, UnilateralConstraints, Wanted,
};
use saltation::models::Trex;
use saltation::nalgebra::{DMatrix, DVector};
use saltation::variational::{Failure, OrthogonalDesign, Orthogonality};
use saltation::{Error, InputError};

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

/// The first row of Table I, moved onto the floor: as printed, the right foot is 0.12 cm above it.
pub(crate) const TABLE: Shape = (
    [
        0.0,
        12.3413314982,
        5.78198580717,
        5.13,
        5.24,
        1.99321956944,
        5.24299693043,
        -0.000705006731236,
    ],
    PRINTED[0].1,
);

/// Straight knees, legs half a turn apart, on the floor.
pub(crate) const STRAIGHT: Shape = (
    [
        0.0,
        12.3798639978,
        5.77991915606,
        -6.5384233516,
        0.0,
        -9.6799462748,
        3.8739101344e-05,
        -8.6042468396e-05,
    ],
    PRINTED[0].1,
);

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
            system: build(&design)?.posture(&q),
        })
    }

    pub(crate) fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// The nearest posture and design with orthogonal contacts: 0.1 rad is worth as much as 1 cm,
    /// the abscissa is held.
    pub(crate) fn orthogonal(&self) -> Result<OrthogonalDesign, Failure> {
        const ANGLE: f64 = 0.1;
        let mut scales = [1.0; 12];
        scales[2..8].fill(ANGLE);
        let mut bounds = [[f64::NEG_INFINITY, f64::INFINITY]; 12];
        for (bounds, least) in bounds[8..].iter_mut().zip([2.5, 2.0, 4.0, 4.0]) {
            bounds[0] = least;
        }
        Orthogonality::new(build, LANDING)
            .scales(&scales)
            .bounds(&bounds)
            .fixed(&[0])
            .solve(&self.q, &self.design)
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
        let velocity = DVector::from_column_slice(&self.falling(speed));
        let problem = ImpactProblem::from_contacts(&contacts, &mass, &velocity)?;
        Ok(problem.with_restitution(1.0)?)
    }

    /// Gaps of right foot and tail (cm).
    pub(crate) fn gaps(&self) -> [f64; 2] {
        LANDING.map(|contact| self.system.gap(contact, &self.q))
    }

    /// Velocities of a robot that falls at `speed` (cm/s).
    pub(crate) fn falling(&self, speed: f64) -> [f64; 8] {
        let mut v = [0.0; 8];
        v[1] = -speed;
        v
    }
}

/// The robot of radii r_1, r_2 and legs l_u, l_l.
fn build(design: &[f64]) -> Result<Trex, InputError> {
    Trex::new([design[0], design[1]], [design[2], design[3]])
}
