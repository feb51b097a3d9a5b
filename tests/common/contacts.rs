//! Impacts of rigid bodies with Coulomb friction as linear complementarity problems: section 2 of
//! the specification (Halm & Posa, equations 72–75), and the examples of its section 8. Shared by
//! tests and benches.

use nalgebra::{DMatrix, DVector};

/// Contacts at one instant, in contact space: m normal speeds, then t tangential speeds of each
/// contact.
#[derive(Clone, Debug)]
pub(crate) struct Contacts {
    /// Tangential speeds of a contact: 1 in the plane, 2 in space.
    tangents: usize,
    /// `J M⁻¹ Jᵀ`.
    pub(crate) delassus: DMatrix<f64>,
    pub(crate) friction: Vec<f64>,
    /// Normal, then tangential speeds before the impact (m/s).
    pub(crate) speeds: DVector<f64>,
}

/// `W` and `q`.
pub(crate) type Lcp = (DMatrix<f64>, Vec<f64>);

impl Contacts {
    /// From a diagonal mass matrix, the rows of J and the velocity.
    fn from_rows(masses: &[f64], rows: &[Vec<f64>], friction: Vec<f64>, velocity: &[f64]) -> Self {
        let j = DMatrix::from_fn(rows.len(), masses.len(), |r, c| rows[r][c]);
        let weighted = DMatrix::from_fn(masses.len(), rows.len(), |c, r| rows[r][c] / masses[c]);
        Self {
            tangents: rows.len() / friction.len() - 1,
            delassus: &j * weighted,
            friction,
            speeds: j * DVector::from_column_slice(velocity),
        }
    }

    fn from_upper(upper: &[f64; 10], friction: f64, speeds: [f64; 4]) -> Self {
        let mut entries = upper.iter();
        let mut delassus = DMatrix::zeros(4, 4);
        for i in 0..4 {
            for j in i..4 {
                let entry = *entries.next().expect("ten entries");
                (delassus[(i, j)], delassus[(j, i)]) = (entry, entry);
            }
        }
        Self {
            tangents: 1,
            delassus,
            friction: vec![friction; 2],
            speeds: DVector::from_column_slice(&speeds),
        }
    }

    /// 8.1: both corners of a block fall on the floor at once; rank 3 of 4.
    pub(crate) fn block(friction: f64) -> Self {
        let rows = [
            [0.0, 1.0, -0.5],
            [0.0, 1.0, 0.5],
            [1.0, 0.0, 1.0],
            [1.0, 0.0, 1.0],
        ];
        let speed = -(2.0f64 * 9.81 * 0.01).sqrt();
        Self::from_rows(
            &[1.0, 1.0, 5.0 / 12.0],
            &rows.map(|r| r.to_vec()),
            vec![friction; 2],
            &[0.0, speed, 0.0],
        )
    }

    /// 8.2: the compass gait, one foot strikes, the other rests.
    pub(crate) fn compass() -> Self {
        let upper = [
            13.566772233505597,
            9.566772233505596,
            -4.9171866711484675,
            4.492073547808422,
            13.566772233505596,
            -4.492073547808422,
            4.917186671148466,
            2.522590145954488,
            -1.477409854045506,
            2.522590145954488,
        ];
        Self::from_upper(&upper, 5.0, [-0.4890738003669028, 0.0, 0.0, 0.0])
    }

    /// 8.3: a box slides on the floor against a wall.
    pub(crate) fn box_and_wall() -> Self {
        let (c, s) = (0.405579787673, 0.579227965340);
        let row = |d: [f64; 2], r: [f64; 2]| vec![d[0], d[1], d[1] * r[0] - d[0] * r[1]];
        let (floor, wall) = ([c, -s], [s, c]);
        let rows = [
            row([0.0, 1.0], floor),
            row([-1.0, 0.0], wall),
            row([1.0, 0.0], floor),
            row([0.0, 1.0], wall),
        ];
        Self::from_rows(
            &[1.0, 1.0, 1.0 / 6.0],
            &rows,
            vec![1.0; 2],
            &[1.0, 0.0, 0.0],
        )
    }

    /// 8.4: `RAMone`, friction 1e5.
    pub(crate) fn ramone() -> Self {
        let upper = [
            1.9721461579173765,
            0.00010564080605516762,
            -1.4745298177493669,
            -0.009279757697686061,
            1.7585280382891926,
            0.0001749935476459711,
            -0.1462623076245933,
            1.4366964350995608,
            -0.013935101457918559,
            3.463990094769673,
        ];
        Self::from_upper(&upper, 1e5, [-0.532098720360048, 0.0, 0.0, 0.0])
    }

    /// 8.5: a disk falls on two that lie on the floor; rank 9 of 10.
    pub(crate) fn disks() -> Self {
        let height = 1.0 + 3f64.sqrt();
        let centres = [[1.0, height], [0.0, 1.0], [2.0, 1.0]];
        let contacts = [
            Contact::floor(1, [0.0, -1.0]),
            Contact::floor(2, [0.0, -1.0]),
            Contact::of_disks(0, 1, &centres),
            Contact::of_disks(0, 2, &centres),
            Contact::of_disks(1, 2, &centres),
        ];
        let masses = [1.0, 1.0, 0.5].repeat(3);
        let mut velocity = [0.0; 9];
        velocity[1] = -1.0;
        Self::from_rows(
            &masses,
            &rows(&contacts, 3),
            vec![3f64.sqrt(); 5],
            &velocity,
        )
    }

    /// `count` contacts anywhere between `bodies` bodies of different mass in the plane and the
    /// ground, friction up to 2, some without; rank deficient when 2 `count` > 3 `bodies`.
    pub(crate) fn random(count: usize, bodies: usize, unit: &mut impl FnMut() -> f64) -> Self {
        Self::random_of_masses(count, bodies, 4.0, unit)
    }

    /// The same with masses between `1/spread` and `spread`.
    pub(crate) fn random_of_masses(
        count: usize,
        bodies: usize,
        spread: f64,
        unit: &mut impl FnMut() -> f64,
    ) -> Self {
        let mut contacts = Vec::new();
        for k in 0..count {
            let angle = std::f64::consts::TAU * unit();
            let mut arm = || [unit() - 0.5, unit() - 0.5];
            let (first, second) = (k % bodies, (k + k / bodies + 1) % bodies);
            let other = (second != first && k % 3 != 0).then(|| (second, arm()));
            contacts.push(Contact {
                normal: [angle.cos(), angle.sin()],
                body: (first, arm()),
                other,
            });
        }
        let mut size = || spread.powf(2.0 * unit() - 1.0);
        let masses: Vec<f64> = (0..bodies)
            .flat_map(|_| {
                let mass = size();
                [mass, mass, 0.1 * mass * size()]
            })
            .collect();
        let friction = (0..count)
            .map(|_| if unit() < 0.1 { 0.0 } else { 2.0 * unit() })
            .collect();
        let velocity: Vec<f64> = masses.iter().map(|_| 2.0 * unit() - 1.0).collect();
        Self::from_rows(&masses, &rows(&contacts, bodies), friction, &velocity)
    }

    /// `count` points of one body in space on a plane, as under a flat foot: rank 6 at most.
    pub(crate) fn foot(count: usize, unit: &mut impl FnMut() -> f64) -> Self {
        let points: Vec<[f64; 3]> = (0..count)
            .map(|_| [unit() - 0.5, unit() - 0.5, -0.3])
            .collect();
        // Speed of a point along d: d · (v + w × r).
        let row = |d: [f64; 3], r: &[f64; 3]| {
            let moment = |i: usize, j: usize| r[i] * d[j] - r[j] * d[i];
            vec![d[0], d[1], d[2], moment(1, 2), moment(2, 0), moment(0, 1)]
        };
        let normals = points.iter().map(|r| row([0.0, 0.0, 1.0], r));
        let tangents = points
            .iter()
            .flat_map(|r| [row([1.0, 0.0, 0.0], r), row([0.0, 1.0, 0.0], r)]);
        let rows: Vec<Vec<f64>> = normals.chain(tangents).collect();
        let velocity: Vec<f64> = (0..6)
            .map(|i| if i == 2 { -unit() } else { unit() - 0.5 })
            .collect();
        let friction = vec![0.2 + unit(); count];
        Self::from_rows(&[2.0, 2.0, 2.0, 0.1, 0.2, 0.15], &rows, friction, &velocity)
    }

    /// The same contacts listed `copies` times.
    pub(crate) fn repeated(&self, copies: usize) -> Self {
        let (m, t) = (self.count(), self.tangents);
        let rows = (0..copies).flat_map(|_| 0..m);
        let rows: Vec<usize> = rows.chain((0..copies).flat_map(|_| m..m + t * m)).collect();
        Self {
            tangents: t,
            delassus: self.delassus.select_rows(&rows).select_columns(&rows),
            friction: self.friction.repeat(copies),
            speeds: self.speeds.select_rows(&rows),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.friction.len()
    }

    /// Equation 75: normal impulses at most `most` (N s), `polygon` directions of friction (2 in
    /// the plane). `z` is `[β; λn; λD; γ]`.
    pub(crate) fn boxed(&self, most: &[f64], polygon: usize) -> Lcp {
        let m = self.count();
        let (inner, q) = self.unboxed(polygon);
        let n = m + inner.nrows();
        let mut w = DMatrix::zeros(n, n);
        w.view_mut((m, m), inner.shape()).copy_from(&inner);
        for i in 0..m {
            w[(i, m + i)] = -1.0;
            w[(m + i, i)] = 1.0;
        }
        (w, most.iter().copied().chain(q).collect())
    }

    /// The same without upper bounds (Anitescu & Potra): `z` is `[λn; λD; γ]`.
    pub(crate) fn unboxed(&self, polygon: usize) -> Lcp {
        let m = self.count();
        let j = self.polygonal(polygon);
        let a = &j * &self.delassus * j.transpose();
        let forces = m + polygon * m;
        let mut w = DMatrix::zeros(forces + m, forces + m);
        w.view_mut((0, 0), (forces, forces)).copy_from(&a);
        for i in 0..m {
            w[(forces + i, i)] = self.friction[i];
            for k in 0..polygon {
                let row = m + polygon * i + k;
                w[(row, forces + i)] = 1.0;
                w[(forces + i, row)] = -1.0;
            }
        }
        let mut q: Vec<f64> = (j * &self.speeds).iter().copied().collect();
        q.resize(forces + m, 0.0);
        (w, q)
    }

    /// Speeds after the impulses of a solution of `unboxed`, or of a solution of `boxed` from its
    /// entry m on.
    pub(crate) fn speeds_after(&self, z: &[f64], polygon: usize) -> DVector<f64> {
        let j = self.polygonal(polygon);
        let impulse = DVector::from_column_slice(&z[..j.nrows()]);
        &self.speeds + &self.delassus * (j.transpose() * impulse)
    }

    /// Rows that take the speeds to the normal speeds and those along the directions of friction.
    fn polygonal(&self, polygon: usize) -> DMatrix<f64> {
        let (m, t) = (self.count(), self.tangents);
        let mut j = DMatrix::zeros(m + polygon * m, m + t * m);
        for i in 0..m {
            j[(i, i)] = 1.0;
            for k in 0..polygon {
                let row = m + polygon * i + k;
                let angle = std::f64::consts::TAU * k as f64 / polygon as f64;
                if t == 1 {
                    j[(row, m + i)] = if k == 0 { 1.0 } else { -1.0 };
                } else {
                    j[(row, m + 2 * i)] = angle.cos();
                    j[(row, m + 2 * i + 1)] = angle.sin();
                }
            }
        }
        j
    }
}

/// A contact of bodies in the plane: each by its index and the arm from its centre.
struct Contact {
    /// Into `body`.
    normal: [f64; 2],
    body: (usize, [f64; 2]),
    other: Option<(usize, [f64; 2])>,
}

impl Contact {
    fn floor(body: usize, arm: [f64; 2]) -> Self {
        Self {
            normal: [0.0, 1.0],
            body: (body, arm),
            other: None,
        }
    }

    /// Of disks of radius 1 at a distance of 2; the normal points from the first to the second.
    fn of_disks(first: usize, second: usize, centres: &[[f64; 2]; 3]) -> Self {
        let half = [0, 1].map(|i| 0.5 * (centres[second][i] - centres[first][i]));
        Self {
            normal: half,
            body: (second, half.map(|h| -h)),
            other: Some((first, half)),
        }
    }

    /// Speed along `d` of the point of the body relative to that of the other.
    fn row(&self, d: [f64; 2], bodies: usize) -> Vec<f64> {
        let mut row = vec![0.0; 3 * bodies];
        let sides = [Some((self.body, 1.0)), self.other.map(|o| (o, -1.0))];
        for ((body, r), sign) in sides.into_iter().flatten() {
            let entries = [d[0], d[1], d[1] * r[0] - d[0] * r[1]];
            for (to, entry) in row[3 * body..].iter_mut().zip(entries) {
                *to += sign * entry;
            }
        }
        row
    }
}

/// The normal rows, then the tangential ones.
fn rows(contacts: &[Contact], bodies: usize) -> Vec<Vec<f64>> {
    let normal = contacts.iter().map(|c| c.row(c.normal, bodies));
    let tangential = contacts
        .iter()
        .map(|c| c.row([c.normal[1], -c.normal[0]], bodies));
    normal.chain(tangential).collect()
}
