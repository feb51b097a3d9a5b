//! The normal block of an impact with unit normals: what all frictionless laws work in.
//!
//! With `G_ij = J_i M⁻¹ J_jᵀ` and `u_i = J_i v`, the unit normals (in the metric of kinetic energy)
//! are `J_i/√G_ii`, and
//!
//! ```text
//!     s_i = u_i/√G_ii        C_ij = G_ij/√(G_ii G_jj)        μ_i = √G_ii p_i
//! ```
//!
//! An impulse changes the scaled speeds by `C μ`. In momentum space `s_i = ⟨p, u_i⟩`,
//! `C_ij = ⟨u_i, u_j⟩` (Seghete & Murphey, arXiv 1709.02296, momentum form), and `sᵀ C⁻¹ s = ‖p‖²`
//! is twice the kinetic energy of the motion along the normals.

use nalgebra::{DMatrix, DVector};

use super::ImpactFailure;
use crate::linalg::scratch::{resize_vector, with_zeros};
use crate::linalg::symmetric::{Spectrum, fill_unit_diagonal};
use crate::{InputError, MatrixFault};

/// Eigenvalues of `C` below this part of the greatest count as zero.
const RANK: f64 = 1e-12;

/// Eigenvalues of `C` below minus this refuse the matrix.
const NEGATIVE: f64 = 1e-10;

/// Determinant of `C` above which its contacts are clearly independent: eigenvalues beyond a
/// thousand times [`RANK`].
const CLEARLY: f64 = 1e-8;

/// Speeds of dependent contacts may differ from those of a motion by this part of the greatest.
const INCONSISTENT: f64 = 1e-8;

/// Rounding of the eigenvalues of `C`, over the number of contacts and the greatest eigenvalue:
/// smaller ones are rounding.
const NOISE: f64 = 4.0 * f64::EPSILON;

/// The source of contact speeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// They are given; there may be no motion that has them.
    Given,
    /// They are `J v`.
    Motion,
}

/// The problem with unit normals.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactSpace {
    /// `√G_ii`.
    pub(crate) roots: Vec<f64>,
    /// `C`.
    pub(crate) gram: DMatrix<f64>,
    /// `s`.
    pub(crate) speeds: DVector<f64>,
    /// The contacts whose normals depend on each other; empty when all are independent.
    pub(crate) dependent: Vec<usize>,
    /// `√(sᵀ C⁺ s)`.
    pub(crate) norm: f64,
}

impl ContactSpace {
    /// From a normal block that is symmetric and finite with a positive diagonal, and finite
    /// speeds.
    pub(crate) fn new(
        delassus: &DMatrix<f64>,
        speeds: &[f64],
        source: Source,
    ) -> Result<Self, ImpactFailure> {
        let mut space = Self::default();
        space.fill(delassus, speeds, source)?;
        Ok(space)
    }

    /// Likewise, of as many first rows as there are speeds, in memory that is there.
    pub(crate) fn fill(
        &mut self,
        delassus: &DMatrix<f64>,
        speeds: &[f64],
        source: Source,
    ) -> Result<(), ImpactFailure> {
        fill_unit_diagonal(delassus, speeds.len(), &mut self.gram, &mut self.roots);
        resize_vector(&mut self.speeds, speeds.len());
        for (i, scaled) in self.speeds.iter_mut().enumerate() {
            *scaled = speeds[i] / self.roots[i];
        }
        self.dependent.clear();
        self.norm = 0.0;
        let finite = |scaled: &DVector<f64>| match scaled.iter().position(|s| !s.is_finite()) {
            Some(contact) => Err(ImpactFailure::Overflow {
                quantity: "scaled speed",
                contact,
                value: scaled[contact],
            }),
            None => Ok(()),
        };
        let n = self.contacts();
        let norm = with_zeros(n * n + n, |scratch| {
            let (factor, space) = scratch.split_at_mut(n * n);
            if !self.factor_if_independent(factor) {
                return Ok(None);
            }
            finite(&self.speeds)?;
            Ok::<_, ImpactFailure>(Some(norm_in(factor, &self.speeds, space)))
        })?;
        if let Some(norm) = norm {
            self.norm = norm;
            return self.of_finite_norm();
        }
        let spectrum = positive_spectrum("Delassus", &self.gram)?;
        finite(&self.speeds)?;
        let least = RANK * spectrum.greatest();
        self.dependent = dependent(&spectrum, least);
        self.norm = self.measure(&spectrum, source)?;
        self.of_finite_norm()
    }

    /// Refuses a norm so large that a reflection overflows.
    fn of_finite_norm(&self) -> Result<(), ImpactFailure> {
        if self.norm <= 0.25 * f64::MAX {
            return Ok(());
        }
        Err(ImpactFailure::Overflow {
            quantity: "momentum",
            contact: self.speeds.iamax(),
            value: self.norm,
        })
    }

    /// Writes the Cholesky factor of `C`; true when it shows that all contacts are independent, without
    /// eigenvalues. With a unit diagonal, the least eigenvalue is at least `det C / e`, by the
    /// inequality of the means of the others.
    fn factor_if_independent(&self, l: &mut [f64]) -> bool {
        let n = self.contacts();
        l.copy_from_slice(self.gram.as_slice());
        let mut determinant = 1.0;
        for j in 0..n {
            let mut pivot = l[j * n + j];
            for k in 0..j {
                pivot -= l[k * n + j] * l[k * n + j];
            }
            determinant *= pivot;
            // NaN fails too.
            if !(pivot > 0.0 && determinant > CLEARLY) {
                return false;
            }
            let root = pivot.sqrt();
            l[j * n + j] = root;
            for i in j + 1..n {
                let mut entry = l[j * n + i];
                for k in 0..j {
                    entry -= l[k * n + i] * l[k * n + j];
                }
                l[j * n + i] = entry / root;
            }
        }
        true
    }

    /// Least over greatest eigenvalue of `C`.
    pub(crate) fn rcond(&self) -> f64 {
        Spectrum::of(&self.gram).map_or(f64::NAN, |found| found.least() / found.greatest())
    }

    /// Rounding of the eigenvalues of `C`, over the greatest.
    fn noise(&self) -> f64 {
        NOISE * self.contacts() as f64
    }

    /// The rounding of the speeds of a motion with this momentum. Where contacts are dependent to
    /// rounding, speeds may lie outside the range of `C` by as much.
    pub(crate) fn noise_of_speeds(&self, momentum: f64) -> f64 {
        self.noise().sqrt() * momentum
    }

    /// Number of contacts.
    pub(crate) fn contacts(&self) -> usize {
        self.roots.len()
    }

    /// Refuses dependent contacts.
    pub(crate) fn independent(&self) -> Result<(), ImpactFailure> {
        if self.dependent.is_empty() {
            return Ok(());
        }
        Err(ImpactFailure::DependentContacts {
            set: self.dependent.clone(),
            rcond: self.rcond(),
        })
    }

    /// `√(sᵀ C⁺ s)`; refuses given speeds that dependent contacts cannot have.
    ///
    /// Along an eigenvector with eigenvalue `λ` a motion with momentum `p` has speeds up to
    /// `√λ ‖p‖`. Where `λ` is rounding, speeds up to the root of that rounding are possible.
    fn measure(&self, spectrum: &Spectrum, source: Source) -> Result<f64, ImpactFailure> {
        // in units of the greatest: squares of finite speeds may overflow
        let unit = self.speeds.amax();
        if unit == 0.0 {
            return Ok(0.0);
        }
        let scaled = &self.speeds / unit;
        let noise = self.noise() * spectrum.greatest();
        let (mut sum, mut off) = (0.0, 0.0_f64);
        for (value, vector) in spectrum.values.iter().zip(&spectrum.vectors) {
            let part = vector.dot(&scaled);
            if *value > noise {
                sum += part * part / value;
            } else {
                off = off.hypot(part);
            }
        }
        let allowed = (noise * sum).sqrt().max(INCONSISTENT);
        if source == Source::Given && off > allowed {
            return Err(ImpactFailure::Input(InputError::InconsistentSpeeds {
                set: self.dependent.clone(),
                by: off * unit,
            }));
        }
        Ok(unit * sum.sqrt())
    }
}

/// `√(uᵀ G⁺ u)` with the rows of normals and tangents: the least `√(2T)` of all motions with these
/// contact speeds. `G` is symmetric and finite with a positive diagonal, `u` finite.
///
/// Refuses a matrix that is not positive semidefinite, and speeds that no motion has.
pub(crate) fn least_momentum(
    delassus: &DMatrix<f64>,
    speeds: &[f64],
    contacts: usize,
) -> Result<f64, ImpactFailure> {
    match ContactSpace::new(delassus, speeds, Source::Given) {
        Ok(space) => Ok(space.norm),
        Err(ImpactFailure::Input(InputError::InconsistentSpeeds { set, by })) => {
            let owner = |&row: &usize| contact_of(row, contacts, speeds.len());
            let mut set: Vec<usize> = set.iter().map(owner).collect();
            set.sort_unstable();
            set.dedup();
            Err(ImpactFailure::Input(InputError::InconsistentSpeeds {
                set,
                by,
            }))
        }
        Err(failure) => Err(failure),
    }
}

/// The contact of a row: normals come first, then the tangents, contact after contact.
const fn contact_of(row: usize, contacts: usize, rows: usize) -> usize {
    if row < contacts {
        return row;
    }
    let tangents = rows / contacts - 1;
    (row - contacts) / tangents
}

/// `√(sᵀ C⁻¹ s)` from the Cholesky factor of `C`; `y` has as many entries as `s`.
fn norm_in(factor: &[f64], speeds: &DVector<f64>, y: &mut [f64]) -> f64 {
    // in units of the greatest: squares of finite speeds may overflow
    let unit = speeds.amax();
    if unit == 0.0 {
        return 0.0;
    }
    let n = speeds.len();
    for (y, s) in y.iter_mut().zip(speeds) {
        *y = s / unit;
    }
    let mut sum = 0.0;
    for j in 0..n {
        let x = y[j] / factor[j * n + j];
        for i in j + 1..n {
            y[i] -= factor[j * n + i] * x;
        }
        sum += x * x;
    }
    unit * sum.sqrt()
}

/// Contacts with a part in the eigenvectors of (almost) zero eigenvalues.
fn dependent(spectrum: &Spectrum, least: f64) -> Vec<usize> {
    let null = || {
        let pairs = spectrum.values.iter().zip(&spectrum.vectors);
        pairs.filter(|(value, _)| **value <= least)
    };
    (0..spectrum.values.len())
        .filter(|&i| null().any(|(_, vector)| vector[i].abs() > 1e-6))
        .collect()
}

/// Eigenvalues of a symmetric matrix with a unit diagonal; refuses negative ones.
pub(crate) fn positive_spectrum(
    name: &'static str,
    matrix: &DMatrix<f64>,
) -> Result<Spectrum, ImpactFailure> {
    let refuse = |value| {
        Err(ImpactFailure::Input(InputError::BadMatrix {
            name,
            fault: MatrixFault::NotPositive { value },
        }))
    };
    // Beyond ±1 a minor of two rows is negative; this also keeps infinities from the eigenvalues.
    let steepest = matrix.iter().fold(1.0, |most: f64, c| {
        if c.is_finite() {
            most.max(c.abs())
        } else {
            f64::INFINITY
        }
    });
    if steepest > 1.0 + NEGATIVE {
        return refuse(1.0 - steepest);
    }
    let Some(spectrum) = Spectrum::of(matrix) else {
        return refuse(f64::NAN);
    };
    if spectrum.least() < -NEGATIVE {
        return refuse(spectrum.least());
    }
    Ok(spectrum)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact equality is what is promised")]
mod tests {
    use super::*;

    fn space(rows: usize, entries: &[f64], speeds: &[f64]) -> Result<ContactSpace, ImpactFailure> {
        let matrix = DMatrix::from_row_slice(rows, rows, entries);
        ContactSpace::new(&matrix, speeds, Source::Given)
    }

    #[test]
    fn scaled_speeds_and_cosines() {
        let found = space(2, &[4.0, -1.0, -1.0, 1.0], &[2.0, -3.0]).unwrap();
        assert_eq!(found.speeds.as_slice(), [1.0, -3.0]);
        assert_eq!(found.gram[(0, 1)], -0.5);
        // C⁻¹ = (4/3) [1, ½; ½, 1]
        let expected = (4.0 / 3.0 * (1.0 - 3.0 + 9.0_f64)).sqrt();
        assert!((found.norm - expected).abs() < 1e-14);
        assert!(found.independent().is_ok() && (found.rcond() - 1.0 / 3.0).abs() < 1e-14);
    }

    #[test]
    fn dependent_contacts_are_named() {
        // 0 and 2 are opposite walls.
        let entries = [1.0, 0.0, -1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 1.0];
        let found = space(3, &entries, &[1.0, 5.0, -1.0]).unwrap();
        assert_eq!(found.dependent, [0, 2]);
        assert!(
            matches!(found.independent(), Err(ImpactFailure::DependentContacts { set, .. }) if set == [0, 2])
        );
        assert!((found.norm - 26f64.sqrt()).abs() < 1e-13);
        let refused = space(3, &entries, &[1.0, 5.0, 1.0]);
        assert!(
            matches!(refused, Err(ImpactFailure::Input(InputError::InconsistentSpeeds { by, .. })) if (by - 2f64.sqrt()).abs() < 1e-13)
        );
    }

    /// Opposite walls that meet at an angle of a, and a motion into the wedge: both speeds are sin
    /// a, and C is known to rounding.
    #[test]
    fn speeds_of_narrow_wedges_are_those_of_a_motion_as_far_as_that_is_known() {
        for angle in [1e-3, 1e-5, 1e-6, 1e-7] {
            let (sin, cos) = f64::sin_cos(2.0 * angle);
            let _ = sin;
            let found = space(2, &[1.0, -cos, -cos, 1.0], &[-angle, -angle]);
            let norm = found.map(|space| space.norm).unwrap();
            assert!((norm - 1.0).abs() < 0.1, "{angle:e}: {norm}");
        }
        // Along the wedge, and a little into it: the angle is lost in rounding.
        let along = space(2, &[1.0, -1.0, -1.0, 1.0], &[-1.0 - 1e-8, 1.0 - 1e-8]).unwrap();
        assert!((along.norm - 1.0).abs() < 1e-7);
        let matrix = DMatrix::from_row_slice(2, 2, &[1.0, -1.0, -1.0, 1.0]);
        let speeds = [-1e-8, -1e-8];
        let refused = ContactSpace::new(&matrix, &speeds, Source::Given);
        assert!(matches!(
            refused,
            Err(ImpactFailure::Input(InputError::InconsistentSpeeds { .. }))
        ));
        assert!(ContactSpace::new(&matrix, &speeds, Source::Motion).is_ok());
    }

    #[test]
    fn no_momentum_is_infinite() {
        for entries in [[1.0, 0.5, 0.5, 1.0], [1.0, 1.0, 1.0, 1.0]] {
            let refused = space(2, &entries, &[1.7e308, 1.7e308]);
            let quantity = "momentum";
            assert!(
                matches!(refused, Err(ImpactFailure::Overflow { quantity: q, .. }) if q == quantity),
                "{refused:?}"
            );
        }
        // Each speed can be reflected, the two together cannot.
        let fast = space(2, &[1.0, 0.0, 0.0, 1.0], &[0.4e308, 0.4e308]);
        assert!(matches!(fast, Err(ImpactFailure::Overflow { .. })));
    }

    #[test]
    fn indefinite_matrices_are_refused() {
        for entries in [
            [1.0, 2.0, 2.0, 1.0],
            [1.0, 1.0 + 1e-6, 1.0 + 1e-6, 1.0],
            [1e-300, 1e300, 1e300, 1e-300],
        ] {
            assert!(matches!(
                space(2, &entries, &[0.0, 0.0]),
                Err(ImpactFailure::Input(InputError::BadMatrix {
                    fault: MatrixFault::NotPositive { .. },
                    ..
                }))
            ));
        }
    }

    #[test]
    fn large_speeds_do_not_overflow_the_norm() {
        let found = space(1, &[1.0], &[-1e300]).unwrap();
        assert_eq!(found.norm, 1e300);
    }
}
