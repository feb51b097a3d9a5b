//! Limbs in the given coordinates, and whether forces between them go through the body only (Pace &
//! Burden, assumption 3).

use crate::event_driven::Breakdown;
use crate::event_driven::Model;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::{MechanicalSystem, State};
use nalgebra::DMatrix;

/// Entries of the mass matrix below this part of the largest count as zero.
const SMALL: f64 = 1e-9;
/// Step of differences of efforts, for coordinates and speeds of size one; an additive effort has
/// none of any step.
const STEP: f64 = 1e-2;
/// Step of differences of efforts, as a part of larger coordinates and speeds.
const PART: f64 = 1e-6;
/// Limit of the roundings of an effort.
const ROUNDINGS: f64 = 32.0;

impl Model<'_> {
    /// The limb of each contact: the coordinates that its gap row touches, with all that the mass
    /// matrix couples to them. Surfaces that move by themselves are in none: no impulse goes through
    /// them. None when two contacts share a coordinate.
    pub(crate) fn limbs(
        &self,
        q: &[f64],
        contacts: &[usize],
    ) -> Result<Option<Vec<Vec<usize>>>, Breakdown> {
        let (d, driven) = (self.system().dof(), self.system().driven());
        let mut coupled = DMatrix::<f64>::zeros(d, d);
        // A few configurations, so that an entry that happens to be zero here is seen.
        for sample in 0..3 {
            let at: Vec<f64> = (0..q.len())
                .map(|i| q[i] + 0.1 * f64::from(sample) * (1.0 + 0.37 * i as f64).sin())
                .collect();
            let mut mass = vec![0.0; d * d];
            self.system().mass(&at, &mut mass);
            for (c, m) in coupled.iter_mut().zip(&mass) {
                *c = c.max(m.abs());
            }
        }
        let size = coupled.amax();
        let rows = self.in_frame(&mut ContactsAt::default(), q, contacts, |frame| {
            frame.rows.rows.to_vec()
        })?;
        let mut limbs: Vec<Vec<usize>> = Vec::new();
        for row in rows.chunks_exact(d) {
            let mut limb: Vec<usize> = (0..d).collect();
            limb.retain(|i| row[*i] != 0.0 && !driven.contains(i));
            let mut next = 0;
            while next < limb.len() {
                let i = limb[next];
                for k in 0..d {
                    if coupled[(i, k)] > SMALL * size && !limb.contains(&k) {
                        limb.push(k);
                    }
                }
                next += 1;
            }
            limb.sort_unstable();
            limbs.push(limb);
        }
        let distinct = (0..limbs.len())
            .all(|i| (0..i).all(|j| limbs[i].iter().all(|k| !limbs[j].contains(k))));
        Ok(distinct.then_some(limbs))
    }

    /// The part of the efforts between limbs that does not go through the body, or does not add up
    /// there: see
    /// [`DecouplingReport::effort_coupling`](crate::event_driven::DecouplingReport::effort_coupling).
    pub(crate) fn effort_coupling(
        &self,
        State { t, q, v }: State<'_>,
        limbs: Option<&[Vec<usize>]>,
    ) -> f64 {
        let (Some(limbs), true) = (limbs, self.bodies.fixed.identity) else {
            return f64::INFINITY;
        };
        let d = q.len();
        let x = [q, v].concat();
        let effort = |x: &[f64]| {
            let mut f = vec![0.0; d];
            self.system().effort(t, &x[..d], &x[d..], &mut f);
            f
        };
        let base = effort(&x);
        // One step forward and one back, since efforts may have a kink at the surface of a contact.
        let sides = [1.0, -1.0].map(|sign| {
            let side = (0..2 * d).map(|i| Moved::new(&x, i, sign, effort));
            side.collect::<Vec<Moved>>()
        });
        let noise = noise(&x, &base, &sides);
        let told = |difference: f64, k: usize, by: f64| {
            if !(difference.is_finite() && noise[k].is_finite()) {
                f64::INFINITY
            } else if difference.abs() <= noise[k] {
                0.0
            } else {
                difference.abs() / by
            }
        };
        let mut most = 0.0f64;
        for a in 0..limbs.len() {
            for b in (0..limbs.len()).filter(|&b| b != a) {
                for one in sides.iter().flat_map(|side| of_limb(side, &limbs[a], d)) {
                    for &k in &limbs[b] {
                        most = most.max(told(one.effort[k] - base[k], k, one.step));
                    }
                    if b > a {
                        continue;
                    }
                    for other in sides.iter().flat_map(|side| of_limb(side, &limbs[b], d)) {
                        let mut both = one.x.clone();
                        both[other.i] = other.x[other.i];
                        let both = effort(&both);
                        for k in 0..d {
                            let mixed = (both[k] - one.effort[k]) - (other.effort[k] - base[k]);
                            most = most.max(told(mixed, k, one.step * other.step));
                        }
                    }
                }
            }
        }
        most
    }
}

/// Efforts where one coordinate or speed is moved.
struct Moved {
    i: usize,
    step: f64,
    x: Vec<f64>,
    effort: Vec<f64>,
}

impl Moved {
    fn new(x: &[f64], i: usize, sign: f64, effort: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        let mut moved = x.to_vec();
        moved[i] += sign * (STEP + PART * x[i].abs());
        Self {
            i,
            step: (moved[i] - x[i]).abs(),
            effort: effort(&moved),
            x: moved,
        }
    }
}

/// The moves of the coordinates and speeds of a limb.
fn of_limb<'a>(side: &'a [Moved], limb: &'a [usize], d: usize) -> impl Iterator<Item = &'a Moved> {
    limb.iter().flat_map(move |&i| [&side[i], &side[i + d]])
}

/// The rounding of each effort and of its differences: that of its value and that of terms that
/// cancel in it, estimated by its derivatives times their arguments.
fn noise(x: &[f64], base: &[f64], sides: &[Vec<Moved>]) -> Vec<f64> {
    let of_effort = |(k, base): (usize, &f64)| {
        let largest = sides.iter().flatten().map(|moved| moved.effort[k].abs());
        let largest = largest.fold(base.abs(), f64::max);
        let of_side = |side: &Vec<Moved>| -> f64 {
            let term = |moved: &Moved| {
                let slope = (moved.effort[k] - base).abs() / moved.step;
                slope * (x[moved.i].abs() + moved.step)
            };
            side.iter().map(term).sum()
        };
        let terms = sides.iter().map(of_side).fold(0.0, f64::max);
        ROUNDINGS * f64::EPSILON * (largest + terms)
    };
    base.iter().enumerate().map(of_effort).collect()
}
