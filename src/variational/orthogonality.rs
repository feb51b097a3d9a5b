//! Postures and designs with orthogonal contacts: where two contacts close at once, the outcome of
//! the impact does not depend on their order (Seghete & Murphey, theorem 2 and section VII).

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};

use super::failure::VariationalFailure;
use super::held::refused;
use crate::impact::{ImpactProblem, Uniqueness, uniqueness};
use crate::linalg::decompose::cholesky;
use crate::mechanics::{
    ContactSet, ContactSource, Contacts, Measured, MechanicalSystem, State, UnilateralConstraints,
    Wanted,
};
use crate::ode::difference::CENTRAL;
use crate::{InputError, Interrupt, validate};

/// Limits of the iterations, and of the halvings of one.
const ITERATIONS: usize = 100;
const HALVINGS: i32 = 30;
/// Cosines, and gaps as parts of the largest variable, below this are zero.
const ENOUGH: f64 = 1e-14;
/// Residuals below this are accepted where they do not fall any more.
const ACCEPTED: f64 = 1e-12;

/// Looks for a posture `q` and design variables near given ones at which two contacts touch and
/// their normals are orthogonal in the metric of the momenta:
///
/// ```text
///     φ_a(q) = 0        φ_b(q) = 0        C_ab = ⟨u_a, u_b⟩ / (‖u_a‖ ‖u_b‖) = 0
/// ```
///
/// by Newton's method with corrections of least norm: of `Σ (δ_i / s_i)²` over the variables that
/// are free, `s_i` their [`scales`](Self::scales). A variable that would leave its bounds stays on
/// them in that correction; corrections to a design that cannot be built, or after which the next
/// one would not be shorter, are halved. At most 100 corrections, each of two systems a variable.
///
/// ```
/// use saltation::models::Trex;
/// use saltation::variational::Orthogonality;
/// let posture = [0.0, 12.3413315, 5.7819858, 5.13, 5.24, 1.9932196, 5.2429969, -0.000705];
/// let build = |design: &[f64]| Trex::new([design[0], design[1]], [design[2], design[3]]);
/// let angle = 0.1; // rad, worth as much as 1 cm
/// let found = Orthogonality::new(build, [1, 2]) // right foot and tail
///     .scales(&[1.0, 1.0, angle, angle, angle, angle, angle, angle, 1.0, 1.0, 1.0, 1.0])
///     .fixed(&[0])
///     .solve(&posture, &[7.0, 4.0, 8.0, 10.0])?;
/// assert!(found.before.cosine.abs() > 4e-4 && found.after.cosine.abs() < 1e-12);
/// assert!((found.design[0] - 6.5513).abs() < 1e-3);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Orthogonality<F> {
    build: F,
    contacts: [usize; 2],
    scales: Vec<f64>,
    bounds: Vec<[f64; 2]>,
    fixed: Vec<usize>,
    interrupt: Interrupt,
}

/// Gaps and angle of two contacts that meet.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Meeting {
    /// Their gaps (m).
    pub gaps: [f64; 2],
    /// `C_ab`, the cosine between their normals.
    pub cosine: f64,
    /// Uniqueness of the outcome of their impacts.
    pub uniqueness: Uniqueness,
}

/// A posture and a design with orthogonal contacts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OrthogonalDesign {
    /// The posture.
    pub q: Vec<f64>,
    /// The design variables.
    pub design: Vec<f64>,
    /// At the start.
    pub before: Meeting,
    /// At this posture and design.
    pub after: Meeting,
    /// Corrections.
    pub iterations: usize,
}

impl<S, F> Orthogonality<F>
where
    S: MechanicalSystem + UnilateralConstraints,
    F: Fn(&[f64]) -> Result<S, InputError>,
{
    /// For the systems that `build` makes of design variables (an empty slice where there are
    /// none), and two of their contacts.
    pub fn new(build: F, contacts: [usize; 2]) -> Self {
        Self {
            build,
            contacts,
            scales: Vec::new(),
            bounds: Vec::new(),
            fixed: Vec::new(),
            interrupt: Interrupt::new(),
        }
    }

    /// The change that counts as one: of each coordinate, then of each design variable (> 0).
    /// Default: 1 for all.
    #[must_use]
    pub fn scales(mut self, scales: &[f64]) -> Self {
        self.scales = scales.to_vec();
        self
    }

    /// Least and greatest value: of each coordinate, then of each design variable. Default: none.
    #[must_use]
    pub fn bounds(mut self, bounds: &[[f64; 2]]) -> Self {
        self.bounds = bounds.to_vec();
        self
    }

    /// Variables that stay as they are: numbers of coordinates, then of design variables.
    #[must_use]
    pub fn fixed(mut self, variables: &[usize]) -> Self {
        self.fixed = variables.to_vec();
        self
    }

    /// Ends the search when `interrupt` is set; looked at before each system.
    #[must_use]
    pub fn interrupt(mut self, interrupt: &Interrupt) -> Self {
        self.interrupt = interrupt.clone();
        self
    }

    /// The posture and the design found from these.
    ///
    /// # Errors
    /// [`VariationalFailure::Input`] for wrong lengths, numbers that are not finite, a start outside the
    /// bounds and a design that cannot be built; [`VariationalFailure::NoDesign`] where there is none near
    /// the start, with the best one found; [`VariationalFailure::Interrupted`].
    pub fn solve(&self, q: &[f64], design: &[f64]) -> Result<OrthogonalDesign, VariationalFailure> {
        let n = q.len() + design.len();
        let start = [q, design].concat();
        let free = self.check(&start, n)?;
        let d = q.len();
        let before = self.meet(&start, d)?;
        let sizes = (0..n).map(|i| start[i].abs().max(self.scale(i)));
        let size = sizes.fold(f64::MIN_POSITIVE, f64::max);
        let (mut z, mut at) = (start, before);
        for iterations in 0..=ITERATIONS {
            // (φ_a, φ_b, C_ab), gaps as parts of the largest variable.
            let residual = residual_of(&at, size);
            if residual.amax() <= ENOUGH {
                return Ok(finish(&z, d, before, at, iterations));
            }
            let jacobian = self.jacobian(&z, at, d, size, &free)?;
            let better = self
                .correction(&z, &free, &jacobian, residual)
                .and_then(|delta| {
                    let length = self.length(&delta);
                    (0..HALVINGS).find_map(|halving| {
                        // The longest part after which the next correction is shorter by a quarter of that part.
                        let part = 0.5f64.powi(halving);
                        let moved: Vec<f64> =
                            z.iter().zip(&delta).map(|(z, d)| z + part * d).collect();
                        let there = self.meet(&moved, d).ok()?;
                        // The remaining residual is measured by the correction it asks for, in the
                        // same units.
                        let next = residual_of(&there, size);
                        let next = self.correction(&moved, &free, &jacobian, next)?;
                        (self.length(&next) < (1.0 - 0.25 * part) * length)
                            .then_some((moved, there))
                    })
                });
            // A search along a correction takes failures for steps that are too long.
            self.interrupt.check()?;
            match better {
                Some((moved, there)) => (z, at) = (moved, there),
                // Rounding keeps the residual from falling.
                None if residual.amax() <= ACCEPTED => {
                    return Ok(finish(&z, d, before, at, iterations));
                }
                None => break,
            }
        }
        Err(VariationalFailure::NoDesign {
            contacts: self.contacts,
            gaps: at.gaps,
            cosine: at.cosine,
            best: z,
        })
    }

    /// Refuses bad input; which variables are free.
    fn check(&self, start: &[f64], n: usize) -> Result<Vec<bool>, InputError> {
        validate::finite("posture and design", start)?;
        let [first, second] = self.contacts;
        let rule = "must be two different ones";
        validate::unless(first != second, "contacts", second as f64, rule)?;
        if !self.scales.is_empty() {
            validate::length("scales", n, self.scales.len())?;
            validate::positive("scales", &self.scales)?;
        }
        if !self.bounds.is_empty() {
            validate::length("bounds", n, self.bounds.len())?;
            for (entry, (z, [low, high])) in start.iter().zip(&self.bounds).enumerate() {
                let inside = (low..=high).contains(&z);
                let rule = "must lie within its bounds";
                validate::unless(inside, "posture and design", *z, rule)
                    .map_err(validate::counted_from(entry))?;
            }
        }
        let mut free = vec![true; n];
        for &variable in &self.fixed {
            *free.get_mut(variable).ok_or(InputError::NoSuch {
                what: "variable",
                index: variable,
                count: n,
            })? = false;
        }
        Ok(free)
    }

    fn scale(&self, i: usize) -> f64 {
        self.scales.get(i).copied().unwrap_or(1.0)
    }

    /// Norm of a correction.
    fn length(&self, delta: &[f64]) -> f64 {
        let scaled = delta
            .iter()
            .enumerate()
            .map(|(i, d)| (d / self.scale(i)).powi(2));
        scaled.sum::<f64>().sqrt()
    }

    /// Evaluates the meeting of the contacts at a posture and design.
    fn meet(&self, z: &[f64], d: usize) -> Result<Meeting, VariationalFailure> {
        self.interrupt.check()?;
        let (q, design) = z.split_at(d);
        let system = Measured::checked((self.build)(design)?)?;
        let dof = system.dof();
        validate::length("posture", system.coordinates(), d)?;
        for index in self.contacts {
            let count = system.contacts();
            if index >= count {
                return Err(InputError::NoSuch {
                    what: "contact",
                    index,
                    count,
                }
                .into());
            }
        }
        let mut contacts = Contacts::new();
        let set = ContactSet::Listed(&self.contacts);
        system.fill(q, set, Wanted::default(), &mut contacts)?;
        let mut mass = DMatrix::zeros(dof, dof);
        system.mass(q, mass.as_mut_slice());
        // ⟨u_a, u_b⟩ = Dφ_a M⁻¹ Dφ_bᵀ (eq. 5a) is an entry of the Delassus matrix, C_ab its cosine.
        let (v, driven) = (DVector::zeros(dof), system.driven());
        let problem = ImpactProblem::of_driven(&contacts, &mass, &v, driven);
        let posture = State { t: 0.0, q, v: &[] };
        let problem = problem.map_err(|reason| refused(reason, posture, &self.contacts))?;
        let gap = |i: usize| contacts.parameters(i).map_or(f64::NAN, |of| of.gap);
        Ok(Meeting {
            gaps: [gap(0), gap(1)],
            cosine: problem.cosines()[(0, 1)],
            uniqueness: uniqueness(&problem),
        })
    }

    /// The derivative of the residual by each free variable.
    fn jacobian(
        &self,
        z: &[f64],
        here: Meeting,
        d: usize,
        size: f64,
        free: &[bool],
    ) -> Result<Vec<Vector3<f64>>, VariationalFailure> {
        let mut columns = vec![Vector3::zeros(); z.len()];
        let mut moved = z.to_vec();
        for i in (0..z.len()).filter(|&i| free[i]) {
            let step = CENTRAL * z[i].abs().max(self.scale(i));
            let mut there = [here; 2];
            let mut width = 0.0;
            let mut refused = None;
            for (there, by) in there.iter_mut().zip([step, -step]) {
                moved[i] = z[i] + by;
                match self.meet(&moved, d) {
                    Ok(meeting) => (*there, width) = (meeting, width + step),
                    // At the edge of what can be built one side is enough.
                    Err(reason) => refused = Some(reason),
                }
            }
            moved[i] = z[i];
            if let Some(reason) = refused.filter(|_| width == 0.0) {
                return Err(reason);
            }
            let [ahead, behind] = there.map(|at| residual_of(&at, size));
            columns[i] = (ahead - behind) / width;
        }
        Ok(columns)
    }

    /// The correction of least norm that stays within the bounds; none where the derivative is
    /// singular.
    fn correction(
        &self,
        z: &[f64],
        free: &[bool],
        jacobian: &[Vector3<f64>],
        residual: Vector3<f64>,
    ) -> Option<Vec<f64>> {
        let (mut free, mut delta) = (free.to_vec(), vec![0.0; z.len()]);
        // Each round holds one variable more on its bound.
        for _ in 0..=z.len() {
            // δ = S² Aᵀ w with (A S² Aᵀ) w = −r, S the scales: of all δ with A δ = −r the least Σ (δ/s)².
            let mut gram = Matrix3::zeros();
            let mut left = -residual;
            for i in 0..z.len() {
                if free[i] {
                    let scaled = jacobian[i] * self.scale(i);
                    gram += scaled * scaled.transpose();
                } else {
                    left -= jacobian[i] * delta[i];
                }
            }
            let weights = cholesky(gram)?.solve(&left);
            for i in (0..z.len()).filter(|&i| free[i]) {
                delta[i] = self.scale(i).powi(2) * jacobian[i].dot(&weights);
            }
            if delta.iter().any(|delta| !delta.is_finite()) {
                return None;
            }
            let beyond = |i: usize| {
                let [low, high] = self.bounds.get(i).copied()?;
                let there = z[i] + delta[i];
                (there < low)
                    .then_some(low)
                    .or((there > high).then_some(high))
            };
            let Some((i, bound)) = (0..z.len())
                .filter(|&i| free[i])
                .find_map(|i| beyond(i).map(|bound| (i, bound)))
            else {
                return Some(delta);
            };
            free[i] = false;
            delta[i] = bound - z[i];
        }
        None
    }
}

/// Gaps as parts of the largest variable, and the cosine.
fn residual_of(at: &Meeting, size: f64) -> Vector3<f64> {
    Vector3::new(at.gaps[0] / size, at.gaps[1] / size, at.cosine)
}

fn finish(
    z: &[f64],
    d: usize,
    before: Meeting,
    after: Meeting,
    iterations: usize,
) -> OrthogonalDesign {
    OrthogonalDesign {
        q: z[..d].to_vec(),
        design: z[d..].to_vec(),
        before,
        after,
        iterations,
    }
}
