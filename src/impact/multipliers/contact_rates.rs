//! Contacts at one instant, how each is held, and the rates with multipliers.

use crate::linalg::dot;

/// How a contact is held in a mode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Hold {
    #[default]
    Open,
    Stick,
    /// Slips in this direction, a unit vector by tangents; zero without friction.
    Slip([f64; 2]),
    /// Begins to slip, near this direction; and its pace `k/(μ λ_n)`, as far as it is known.
    Onset {
        direction: [f64; 2],
        pace: f64,
    },
}

/// A combination of the rows of a contact: parts along its normal and its tangents.
pub(in crate::impact) type Parts = [f64; 3];
/// The combination that is the normal alone.
pub(super) const NORMAL: Parts = [1.0, 0.0, 0.0];
/// The combinations of rows that are the tangents alone.
pub(super) const TANGENTS: [Parts; 2] = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// A quarter turn of a direction in space.
fn across([x, y]: [f64; 2]) -> Parts {
    [0.0, -y, x]
}

/// The unit vector along `x`; none for zero.
pub(crate) fn unit([x, y]: [f64; 2]) -> Option<[f64; 2]> {
    let size = x.hypot(y);
    (size > 0.0).then(|| [x / size, y / size])
}

impl Hold {
    /// The multiplier along the normal with the friction that it carries.
    pub(in crate::impact) fn pushes(self, mu: f64) -> Option<Parts> {
        match self {
            Self::Open => None,
            Self::Stick => Some(NORMAL),
            Self::Slip([x, y])
            | Self::Onset {
                direction: [x, y], ..
            } => Some([1.0, -mu * x, -mu * y]),
        }
    }

    /// A slip with the direction that is given or was found, of one that begins.
    pub(in crate::impact) fn settled(self) -> Self {
        match self {
            Self::Onset { direction, .. } => Self::Slip(direction),
            hold => hold,
        }
    }

    /// Turns the direction of a slip that begins, by an angle.
    pub(in crate::impact) fn turn(&mut self, by: f64) {
        let (sin, cos) = by.sin_cos();
        if let Self::Onset { direction, .. } = self {
            let [x, y] = *direction;
            *direction = [x * cos - y * sin, x * sin + y * cos];
        }
    }

    /// How many multipliers are free, and rates prescribed, with so many tangents.
    pub(in crate::impact) fn unknowns(self, tangents: usize) -> usize {
        match self {
            Self::Open => 0,
            Self::Stick => 1 + tangents,
            Self::Onset { .. } if tangents > 1 => 2,
            Self::Slip(_) | Self::Onset { .. } => 1,
        }
    }

    /// The directions along tangents, of so many, in which a multiplier is free and a rate
    /// prescribed.
    fn along(self, tangents: usize) -> impl Iterator<Item = Parts> {
        let (count, parts) = match self {
            Self::Stick => (tangents, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
            Self::Onset { direction, .. } if tangents > 1 => (1, [across(direction); 2]),
            _ => (0, [NORMAL; 2]),
        };
        parts.into_iter().take(count)
    }
}

/// Contacts at one instant. Rows come as in an impact problem: normals first, then the tangents,
/// contact by contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactRates<'a> {
    pub(crate) contacts: usize,
    /// Tangents of a contact.
    pub(crate) tangents: usize,
    /// `G`.
    pub(crate) gram: &'a [f64],
    /// `b`: rates of rows without multipliers.
    pub(crate) free: &'a [f64],
    /// Coefficients of friction.
    pub(crate) friction: &'a [f64],
}

impl ContactRates<'_> {
    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.contacts * (1 + self.tangents)
    }

    /// The row of a contact along its normal (0) or a tangent.
    #[inline]
    pub(crate) fn row(&self, i: usize, along: usize) -> usize {
        match along {
            0 => i,
            _ => self.contacts + i * self.tangents + along - 1,
        }
    }

    /// The entries of `of` that a combination takes.
    pub(in crate::impact) fn taken<'p>(
        &'p self,
        i: usize,
        parts: &'p Parts,
    ) -> impl Iterator<Item = (usize, f64)> + 'p {
        let parts = parts.iter().take(1 + self.tangents).enumerate();
        let there = parts.filter(|(_, part)| **part != 0.0);
        there.map(move |(along, part)| (self.row(i, along), *part))
    }

    /// The prescribed rates, or the unknown multipliers where `of` says so: of normals first, then
    /// along tangents.
    fn each<'p>(
        &'p self,
        holds: &'p [Hold],
        of: impl Fn(usize, Hold) -> Option<Parts> + 'p,
    ) -> impl Iterator<Item = (usize, Parts)> + 'p {
        let normals = holds.iter().enumerate();
        let normals = normals.filter_map(move |(i, hold)| of(i, *hold).map(|parts| (i, parts)));
        let along = holds.iter().enumerate();
        normals.chain(along.flat_map(|(i, hold)| hold.along(self.tangents).map(move |p| (i, p))))
    }

    pub(in crate::impact) fn prescribed<'p>(
        &'p self,
        holds: &'p [Hold],
    ) -> impl Iterator<Item = (usize, Parts)> + 'p {
        self.each(holds, |_, hold| (hold != Hold::Open).then_some(NORMAL))
    }

    pub(in crate::impact) fn unknowns<'p>(
        &'p self,
        holds: &'p [Hold],
    ) -> impl Iterator<Item = (usize, Parts)> + 'p {
        self.each(holds, |i, hold| hold.pushes(self.friction[i]))
    }
    /// The rate along a row with these multipliers.
    pub(crate) fn rate(&self, row: usize, multipliers: &[f64]) -> f64 {
        let r = self.rows();
        self.free[row] + dot(&self.gram[row * r..(row + 1) * r], multipliers)
    }

    /// The parts of a contact in a list by rows along its two tangents.
    pub(crate) fn along(&self, i: usize, of: impl Fn(usize) -> f64) -> [f64; 2] {
        let part = |along: usize| match along {
            along if along <= self.tangents => of(self.row(i, along)),
            _ => 0.0,
        };
        [part(1), part(2)]
    }
    /// `G_kk`.
    pub(in crate::impact) fn own(&self, row: usize) -> f64 {
        self.gram[row * self.rows() + row]
    }
}
