//! "Is my model decoupled here?" Whether outcomes vary differentiably, continuously or not at all when contacts close at once
//! (Pace & Burden, assumption 3 and section 4; spec `unilateral_mechanics` 7).

use nalgebra::DMatrix;

use super::{EventDriven, MechanicalSystem, UnilateralConstraints};
use crate::derivative::{Saltation, saltation_product};
use crate::impact::ImpactLaw;
use crate::{Error, Guard, Mode};

/// Cosines and spreads below this count as zero.
const SMALL: f64 = 1e-9;
/// Up to this many contacts all orders are compared.
const ALL_ORDERS: usize = 4;
/// Random orders compared beyond.
const SAMPLE: usize = 24;

/// What decides how outcomes depend on the order of contacts.
#[derive(Clone, Debug, PartialEq)]
pub struct DecouplingReport {
    /// `cos_ij = Da_i M⁻¹ Da_jᵀ / √(G_ii G_jj)`: how much an impact of one contact is felt by another, in no unit.
    pub cosines: DMatrix<f64>,
    /// The largest of them off the diagonal, by amount.
    pub largest_cosine: f64,
    /// The largest difference of an entry of the maps `Ξ_σ` of two orders.
    pub order_spread: f64,
    /// The largest difference of the velocities after two orders.
    pub state_spread: f64,
    /// Orders compared.
    pub orders: usize,
    /// Limbs found in the coordinates: sets that feel each other through the mass matrix, each with the contact it carries. None
    /// when contacts share one.
    pub limbs: Option<Vec<Vec<usize>>>,
    /// The largest `∂f_i/∂(q_j, v_j)` between two limbs, and the largest mixed second difference of the efforts on other
    /// coordinates: zero when forces between limbs go through the body only, and add up there.
    pub effort_coupling: f64,
    /// The verdict.
    pub verdict: Coupling,
}

/// How outcomes depend on starts when contacts close at once.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Coupling {
    /// Limbs are decoupled: the derivative is classical, whatever the state.
    Decoupled,
    /// Impacts do not feel each other and all orders have the same map here, though no blocks were found.
    SmoothHere,
    /// Impacts do not feel each other but forces do: continuous and piecewise differentiable.
    PiecewiseSmooth,
    /// Continuous, for the reason given.
    ContinuousOnly(ContinuityClass),
    /// Outcomes jump, by this much in velocity.
    Discontinuous {
        /// The largest difference of a velocity between two orders.
        jump: f64,
    },
}

/// Why outcomes are continuous though impacts feel each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContinuityClass {
    /// Plastic impacts at obtuse angles, all `cos ≤ 0` (L. Paoli, Math. Models Methods Appl. Sci. 15, 2005).
    ObtusePlastic,
    /// The outcomes of all orders agree, as those of elastic reflections at the angle `π/k` do.
    OrdersAgree,
}

impl<S, L> EventDriven<S, L>
where
    S: MechanicalSystem + UnilateralConstraints,
    L: ImpactLaw,
{
    /// Reports how the outcome of contacts that close at once at `(q, v)` depends on their order; all other contacts are open.
    ///
    /// # Errors
    /// [`Error::WrongLength`]; what the system and the law make of the impacts of some order.
    pub fn decoupling(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        contacts: &[usize],
    ) -> Result<DecouplingReport, Error> {
        let d = self.system().dof();
        for (name, found) in [("q", q.len()), ("v", v.len())] {
            if found != d {
                let expected = d;
                return Err(Error::WrongLength {
                    name,
                    expected,
                    found,
                });
            }
        }
        let n = self.system().contacts();
        if let Some(&event) = contacts.iter().find(|&&j| j >= n) {
            let guard = Guard::falling(event);
            return Err(Error::NoSuchGuard { guard, count: n });
        }
        let cosines = self.cosines(q, contacts)?;
        let largest_cosine = off_diagonal(&cosines);
        let mut open = Mode::new(2 * n);
        for j in 0..n {
            open.set(j, true);
        }
        let x = [q, v].concat();
        let maps: Vec<Saltation> = orders(contacts)
            .iter()
            .map(|order| {
                let guards: Vec<Guard> = order.iter().map(|&j| Guard::falling(j)).collect();
                saltation_product(self, &guards, t, &x, &open)
            })
            .collect::<Result<_, _>>()?;
        let (mut order_spread, mut state_spread) = (0.0f64, 0.0f64);
        for (i, a) in maps.iter().enumerate() {
            for b in &maps[..i] {
                order_spread = order_spread.max((&a.matrix - &b.matrix).amax());
                state_spread = state_spread.max((&a.state - &b.state).amax());
            }
        }
        let limbs = self.limbs(q, contacts)?;
        let effort_coupling = self.effort_coupling((t, q, v), limbs.as_deref());
        let size = maps.iter().map(|s| s.matrix.amax()).fold(1.0, f64::max);
        let speed = v.iter().fold(1.0, |most: f64, v| most.max(v.abs()));
        let same_state = state_spread <= SMALL * speed;
        // Derivatives of resets are differences, good to 1e-8 or so.
        let same_map = order_spread <= 1e-6 * size;
        let plastic = contacts
            .iter()
            .all(|&j| self.system().restitution(j, q, v) == 0.0);
        let obtuse = (0..cosines.nrows()).all(|i| (0..i).all(|j| cosines[(i, j)] <= SMALL));
        let verdict = if !same_state {
            Coupling::Discontinuous { jump: state_spread }
        } else if largest_cosine > SMALL {
            // Impacts that feel each other may need more than one each; the product of one each says nothing of the maps.
            Coupling::ContinuousOnly(if plastic && obtuse {
                ContinuityClass::ObtusePlastic
            } else {
                ContinuityClass::OrdersAgree
            })
        } else if !same_map {
            Coupling::PiecewiseSmooth
        } else if limbs.is_some() && effort_coupling <= 1e-6 {
            Coupling::Decoupled
        } else {
            Coupling::SmoothHere
        };
        Ok(DecouplingReport {
            cosines,
            largest_cosine,
            order_spread,
            state_spread,
            orders: maps.len(),
            limbs,
            effort_coupling,
            verdict,
        })
    }

    fn cosines(&self, q: &[f64], contacts: &[usize]) -> Result<DMatrix<f64>, Error> {
        let m = contacts.len();
        let gram = self.in_frame(q, contacts, |frame| {
            DMatrix::from_column_slice(m, m, frame.gram)
        })?;
        Ok(DMatrix::from_fn(m, m, |i, j| {
            gram[(i, j)] / (gram[(i, i)] * gram[(j, j)]).sqrt()
        }))
    }

    /// The limb of each contact: the coordinates that its gap row touches, with all that the mass matrix couples to them. None
    /// when two contacts share a coordinate.
    fn limbs(&self, q: &[f64], contacts: &[usize]) -> Result<Option<Vec<Vec<usize>>>, Error> {
        let d = q.len();
        let mut coupled = DMatrix::<f64>::zeros(d, d);
        // A few configurations, so that an entry that happens to be zero here is seen.
        for sample in 0..3 {
            let at: Vec<f64> = (0..d)
                .map(|i| q[i] + 0.1 * f64::from(sample) * (1.0 + 0.37 * i as f64).sin())
                .collect();
            let mut mass = vec![0.0; d * d];
            self.system().mass(&at, &mut mass);
            for (c, m) in coupled.iter_mut().zip(&mass) {
                *c = c.max(m.abs());
            }
        }
        let size = coupled.amax();
        let rows = self.in_frame(q, contacts, |frame| frame.rows.to_vec())?;
        let mut limbs: Vec<Vec<usize>> = Vec::new();
        for row in rows.chunks_exact(d) {
            let mut limb: Vec<usize> = (0..d).filter(|&i| row[i] != 0.0).collect();
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

    /// How much efforts between limbs are not through the body, or do not add up there.
    fn effort_coupling(
        &self,
        (t, q, v): (f64, &[f64], &[f64]),
        limbs: Option<&[Vec<usize>]>,
    ) -> f64 {
        let Some(limbs) = limbs else {
            return f64::INFINITY;
        };
        let d = q.len();
        let effort = |moves: &[(usize, f64)]| {
            let mut x = [q, v].concat();
            for &(i, by) in moves {
                x[i] += by;
            }
            let mut f = vec![0.0; d];
            self.system().effort(t, &x[..d], &x[d..], &mut f);
            f
        };
        let both = |limb: &[usize]| -> Vec<usize> {
            limb.iter()
                .copied()
                .chain(limb.iter().map(|i| i + d))
                .collect()
        };
        let (step, base) = (1e-3, effort(&[]));
        let mut most = 0.0f64;
        for a in 0..limbs.len() {
            for b in 0..a {
                for &i in &both(&limbs[a]) {
                    for &j in &both(&limbs[b]) {
                        let (one, other) = (effort(&[(i, step)]), effort(&[(j, step)]));
                        let together = effort(&[(i, step), (j, step)]);
                        for k in 0..d {
                            let mixed = together[k] - one[k] - other[k] + base[k];
                            most = most.max((mixed / (step * step)).abs() * step);
                            if limbs[b].contains(&k) {
                                most = most.max(((one[k] - base[k]) / step).abs());
                            }
                            if limbs[a].contains(&k) {
                                most = most.max(((other[k] - base[k]) / step).abs());
                            }
                        }
                    }
                }
            }
        }
        most
    }
}

fn off_diagonal(cosines: &DMatrix<f64>) -> f64 {
    let pairs = (0..cosines.nrows()).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs.fold(0.0, |most, at| cosines[at].abs().max(most))
}

/// All orders of up to four contacts; beyond, those in which they are given, its reverse, and random ones.
fn orders(contacts: &[usize]) -> Vec<Vec<usize>> {
    let n = contacts.len();
    if n <= ALL_ORDERS {
        let mut all = vec![Vec::new()];
        for _ in 0..n {
            all = all
                .iter()
                .flat_map(|order: &Vec<usize>| {
                    let left = contacts.iter().filter(|j| !order.contains(j));
                    left.map(|&j| [&order[..], &[j]].concat())
                })
                .collect();
        }
        return all;
    }
    let mut found = vec![contacts.to_vec(), contacts.iter().rev().copied().collect()];
    for sample in 0..SAMPLE {
        // Fisher–Yates with numbers that depend on sample and place alone.
        let mut order = contacts.to_vec();
        for last in (1..n).rev() {
            let key = (sample * n + last) as u64;
            let state = (key + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let draw = (state ^ state >> 31) % (last as u64 + 1);
            order.swap(last, usize::try_from(draw).unwrap_or(0));
        }
        found.push(order);
    }
    found
}
