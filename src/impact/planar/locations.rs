//! The impact inclusion in the plane: its locations, and the rates in each.
//!
//! In the plane the impact inclusion of Halm & Posa (IJRR 2024, eq. 37 to 40) is piecewise
//! constant in contact space. For each set `S` of contacts that do not separate, and a sign of
//! slip (or none) for each of `S`, the location
//!
//! ```text
//!     { u : u_n,i ≤ 0 for i ∈ S, u_n,j ≥ 0 for j ∉ S, slips of S of these signs }
//! ```
//!
//! is a convex cone, and the rate of `u` is any convex combination of the rays
//! `G (e_n,i ∓ μ_i e_t,i)`, `i ∈ S`; both signs where the contact does not slip. What is reached
//! inside a location from a polytope `P` is therefore `(P + cone(rays)) ∩ location`. The work
//! list goes through locations until nothing new is reached.

use nalgebra::DMatrix;

use super::generators::{Generators, Scratch, Sign, Uncut};
use super::known::KNOWN;
use super::polytope::Polytope;
use super::span::Span;
use crate::impact::outcome::check_finite;
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::linalg::double_double::Double;
use crate::linalg::largest;
use crate::{InputError, validate};

/// Limit of the contacts: 4⁵ − 1 locations.
const MOST_CONTACTS: usize = 5;

/// Cosines between rows below this are rounding.
const ZERO: f64 = 1e-15;

/// The inclusion of a problem in units of `√G_ii` and of the greatest speed.
pub(super) struct PlanarInclusion {
    pub(super) contacts: usize,
    pub(super) start: Vec<Double>,
    /// Factors from a coordinate to a speed of the problem: that of its row, then the greatest
    /// speed. Their product may overflow where the speed does not.
    units: Vec<f64>,
    speed: f64,
    /// A contact approaches when its coordinate is below minus this.
    pub(super) threshold: f64,
    /// Ray of contact `i` with slip to the positive side, then to the negative.
    rays: Vec<[Vec<Double>; 2]>,
    is_rough: Vec<bool>,
}

impl PlanarInclusion {
    pub(super) fn new(problem: &ImpactProblem) -> Result<Self, ImpactFailure> {
        let contacts = problem.contacts();
        if problem.tangents() != 1 {
            return Err(ImpactFailure::Input(InputError::Tangents {
                contact: 0,
                expected: 1,
                found: problem.tangents(),
            }));
        }
        let rule = "the exact planar set is computed for up to 5 contacts";
        let is_small = contacts <= MOST_CONTACTS;
        validate::unless(is_small, "contacts", contacts as f64, rule)?;
        let delassus = problem.delassus();
        // a tangent may have no length
        let unit = |g: &f64| if *g > 0.0 { g.sqrt() } else { 1.0 };
        let units: Vec<f64> = delassus.diagonal().iter().map(unit).collect();
        let gram = DMatrix::from_fn(units.len(), units.len(), |i, j| {
            let cosine = delassus[(i, j)] / units[i] / units[j];
            if cosine.abs() <= ZERO { 0.0 } else { cosine }
        });
        let speeds: Vec<f64> = problem
            .speeds()
            .iter()
            .zip(&units)
            .map(|(u, d)| u / d)
            .collect();
        check_finite("scaled speed", &speeds)?;
        for column in gram.column_iter() {
            check_finite("scaled Delassus matrix", column.as_slice())?;
        }
        let pairs = problem.friction().iter().zip(&units);
        let friction = pairs.zip(&units[contacts..]).map(|((mu, n), t)| mu * t / n);
        check_finite(
            "scaled coefficient of friction",
            &friction.collect::<Vec<_>>(),
        )?;
        let greatest = largest(&speeds);
        let speed = if greatest > 0.0 { greatest } else { 1.0 };
        let speeds: Vec<f64> = speeds.iter().map(|u| u / speed).collect();
        let momentum = problem.kinetic_norm() / speed;
        let span =
            Span::of(&gram, &speeds, momentum).map_err(|miss| miss.named(contacts, speed))?;
        let ray = |contact: usize, sign: f64| {
            let tangent = contacts + contact;
            let friction = sign * problem.friction()[contact] * units[tangent] / units[contact];
            let slide = |row| Double::product(friction, gram[(row, tangent)]);
            span.complete(|row| Double::from(gram[(row, contact)]) - slide(row))
        };
        Ok(Self {
            contacts,
            start: span.complete(|row| Double::from(speeds[row])),
            rays: (0..contacts).map(|i| [ray(i, 1.0), ray(i, -1.0)]).collect(),
            is_rough: problem.friction().iter().map(|&mu| mu > 0.0).collect(),
            units,
            speed,
            threshold: problem.threshold() / speed,
        })
    }

    pub(super) fn rows(&self) -> usize {
        2 * self.contacts
    }

    pub(super) fn in_speeds(&self, set: &Generators) -> Result<Polytope, ImpactFailure> {
        let mut vertices = Vec::with_capacity(set.len() * self.rows());
        for point in set.points() {
            let start = vertices.len();
            let speeds = point
                .iter()
                .zip(&self.units)
                .map(|(x, unit)| x * unit * self.speed);
            vertices.extend(speeds);
            check_finite("speed after the impact", &vertices[start..])?;
        }
        Ok(Polytope::of_vertices(self.rows(), vertices))
    }

    /// All locations, in a fixed order.
    pub(super) fn locations(&self) -> Vec<Location> {
        let mut locations = Vec::new();
        let mut signs = vec![None; self.contacts];
        self.extend_locations(&mut signs, 0, &mut locations);
        locations
    }

    fn extend_locations(
        &self,
        signs: &mut Vec<Option<Sign>>,
        contact: usize,
        locations: &mut Vec<Location>,
    ) {
        if contact == self.contacts {
            if signs.iter().any(Option::is_some) {
                locations.push(self.location(signs));
            }
            return;
        }
        let slips = [Sign::Zero, Sign::Positive, Sign::Negative];
        // without friction the sign of the slip does not matter
        let slips = if self.is_rough[contact] {
            &slips[..]
        } else {
            &slips[..1]
        };
        for &slip in slips {
            signs[contact] = Some(slip);
            self.extend_locations(signs, contact + 1, locations);
        }
        signs[contact] = None;
        self.extend_locations(signs, contact + 1, locations);
    }

    fn location(&self, signs: &[Option<Sign>]) -> Location {
        let mut cuts = Vec::new();
        let mut rays = Generators::new(self.rows());
        for (contact, sign) in signs.iter().enumerate() {
            let Some(slip) = *sign else { continue };
            let [positive, negative] = &self.rays[contact];
            if slip != Sign::Negative {
                rays.push_ray(positive);
            }
            if slip != Sign::Positive && self.is_rough[contact] {
                rays.push_ray(negative);
            }
            if slip == Sign::Zero && self.is_rough[contact] {
                cuts.push((self.contacts + contact, Sign::Zero));
            }
        }
        for (contact, sign) in signs.iter().enumerate() {
            let normal = if sign.is_some() {
                Sign::Negative
            } else {
                Sign::Positive
            };
            cuts.push((contact, normal));
            if let Some(slip @ (Sign::Positive | Sign::Negative)) = *sign {
                cuts.push((self.contacts + contact, slip));
            }
        }
        Location {
            cuts,
            rays,
            known: Vec::new(),
        }
    }
}

/// A cone of contact speeds in which the rates are constant.
pub(super) struct Location {
    /// Coordinates and what is kept of them; those of least dimension first.
    cuts: Vec<(usize, Sign)>,
    pub(super) rays: Generators,
    /// The sets that are reached in it so far.
    pub(super) known: Vec<Generators>,
}

impl Location {
    /// The part of a set that lies in it.
    pub(super) fn part_of(
        &self,
        set: &Generators,
        vertices: usize,
        scratch: &mut Scratch,
    ) -> Result<Generators, Uncut> {
        if self.cuts.iter().any(|&(axis, keep)| set.misses(axis, keep)) {
            return Ok(Generators::new(0));
        }
        let mut part = set.clone();
        for &(axis, keep) in &self.cuts {
            part.cut(axis, keep, vertices, scratch)?;
            if part.is_empty() {
                break;
            }
        }
        Ok(part)
    }

    pub(super) fn knows(&self, set: &Generators, scratch: &mut Scratch) -> bool {
        let mut known = self.known.iter();
        known.any(|known| set.is_known_by(known, KNOWN, scratch))
    }
}
