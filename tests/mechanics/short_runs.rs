//! Runs of 1 … 1e8 units in the last place of their time, from states in contact in which the force
//! is zero, with nothing written: its rounding is neither a release nor a touch.

use saltation::event_driven::Grazing;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven};
use saltation::{Start, Status};

use crate::polygon::{Plane, Polygon};
use crate::random::SplitMix64;

/// Points in the plane, the first on a circle about the origin, each other one on a circle about
/// the one before, under a constant force.
#[derive(Clone, Debug)]
struct Points {
    radius: f64,
    mass: f64,
    force: Vec<f64>,
}

impl Points {
    /// Points that turn at random rates, with the force that needs no contact: `(model, q, v)`.
    fn turning(points: usize, random: &mut SplitMix64) -> (Self, Vec<f64>, Vec<f64>) {
        let (radius, mass) = (random.between(0.1, 2.0), random.between(0.1, 10.0));
        let (mut q, mut v, mut force) = (Vec::new(), Vec::new(), Vec::new());
        let (mut at, mut speed, mut acceleration) = ([0.0; 2], [0.0; 2], [0.0; 2]);
        for _ in 0..points {
            let (angle, rate) = (random.between(0.0, 6.0), random.between(-3.0, 3.0));
            let (sine, cosine) = angle.sin_cos();
            for (i, (along, across)) in [(cosine, -sine), (sine, cosine)].into_iter().enumerate() {
                at[i] += radius * along;
                speed[i] += rate * radius * across;
                acceleration[i] -= rate * rate * radius * along;
            }
            q.extend(at);
            v.extend(speed);
            force.extend(acceleration.map(|a| mass * a));
        }
        let model = Self {
            radius,
            mass,
            force,
        };
        (model, q, v)
    }
}

impl MechanicalSystem for Points {
    fn dof(&self) -> usize {
        self.force.len()
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for i in 0..self.dof() {
            mass[i * self.dof() + i] = self.mass;
        }
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&self.force);
    }
    fn constant_mass(&self) -> bool {
        true
    }
}

impl UnilateralConstraints for Points {
    fn contacts(&self) -> usize {
        self.force.len() / 2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let centre = if j == 0 {
            [0.0; 2]
        } else {
            [q[2 * j - 2], q[2 * j - 1]]
        };
        (q[2 * j] - centre[0]).hypot(q[2 * j + 1] - centre[1]) - self.radius
    }
}

/// A rod on a plane, `(model, q, v)`: turning about a corner that is at rest and carries nothing.
fn turning_rod(seed: u64, random: &mut SplitMix64) -> (Polygon, Vec<f64>, Vec<f64>) {
    let half = random.between(0.1, 1.0);
    let gravity = 9.81;
    let body = Polygon {
        corners: vec![[half, 0.0], [-half, 0.0]],
        planes: vec![Plane::tilted(0.0)],
        mass: random.between(0.1, 10.0),
        inertia: random.between(1e-3, 1.0),
        gravity,
        restitution: 0.0,
        written: false,
    };
    let depth = random.between(0.05, 0.95);
    let sign = if seed.is_multiple_of(2) { 1.0 } else { -1.0 };
    let rate = sign * (gravity / half / depth).sqrt();
    let depth = gravity / (half * rate * rate);
    let (angle, cosine) = (-depth.asin(), (1.0 - depth * depth).sqrt());
    let q = vec![random.between(-2.0, 2.0), half * depth, angle];
    (body, q, vec![0.0, -half * cosine * rate, rate])
}

/// Runs of `2^k` units in the last place.
fn come_to_their_ends<S>(
    model: &S,
    (q, v): (&[f64], &[f64]),
    (t, grazing): (f64, Grazing),
    what: &str,
) where
    S: MechanicalSystem + UnilateralConstraints + Clone,
{
    let unit = f64::from_bits(t.to_bits() + 1) - t;
    for k in 0..27 {
        let end = t + 2f64.powi(k) * unit;
        let model = ContactModel::new(model.clone());
        let mut simulation = EventDriven::new(model).unwrap().grazing(grazing);
        let run = simulation.integrate(&Start::at(t).q(q).v(v), end).unwrap();
        let status = run.status();
        assert_eq!(*status, Status::ReachedEnd, "{what} at {t}, 2^{k} units");
    }
}

const TIMES: [f64; 5] = [0.1, 3.1, 40.0, 1000.0, 1e6];

fn starts() -> impl Iterator<Item = (u64, f64, SplitMix64)> {
    (0..20).map(|seed| {
        let mut random = SplitMix64(seed * 104_729 + 13);
        let time = TIMES[(random.next() % 5) as usize];
        (seed, time, random)
    })
}

/// The curvature is a second difference of a gap, and known to 1e-8 of its size.
#[test]
fn rounding_of_curvatures_releases_no_contact() {
    for (seed, time, mut random) in starts() {
        let (model, q, v) = turning_rod(seed, &mut random);
        let at = (time, Grazing::Ignore);
        come_to_their_ends(&model, (&q, &v), at, &format!("rod {seed}"));
    }
}

#[test]
fn a_force_that_is_zero_from_the_start_is_not_touched() {
    for (seed, time, mut random) in starts() {
        // Runs of less than 1e-5 s: later the force of a point has fallen, and its contact is
        // released.
        let at = (time.min(1000.0), Grazing::Error);
        let (model, q, v) = Points::turning(1, &mut random);
        come_to_their_ends(&model, (&q, &v), at, &format!("point {seed}"));
        let at = (time, Grazing::Error);
        let (model, q, v) = turning_rod(seed, &mut random);
        come_to_their_ends(&model, (&q, &v), at, &format!("rod {seed}"));
    }
}
