//! Random bodies with contacts: masses, efforts and gaps, well set and not.

use saltation::mechanics::{Friction, MechanicalSystem, State, UnilateralConstraints};

use crate::draw::Draw;

#[derive(Clone, Debug)]
struct Contact {
    shape: Shape,
    restitution: f64,
    friction: f64,
}

#[derive(Clone, Debug)]
enum Shape {
    /// `a · q − c`
    Plane(Vec<f64>, f64),
    /// `|q − c| − r`
    Ball(Vec<f64>, f64),
    /// End of a rod: `q₀ + l sin(q_last + φ)`
    End(f64, f64),
    /// `q₀ − s sin q_last`
    Wave(f64),
    /// A root: not a number beyond.
    Root(f64),
}

/// A random mechanical system.
#[derive(Clone, Debug)]
pub struct Body {
    dof: usize,
    mass: Vec<f64>,
    /// How much the mass depends on the last coordinate.
    bend: f64,
    gravity: Vec<f64>,
    stiffness: f64,
    damping: f64,
    forcing: (f64, f64),
    contacts: Vec<Contact>,
    adhesion: Option<f64>,
    time_scale: Option<f64>,
    rows_written: bool,
    tangents: usize,
}

impl Body {
    pub fn new(draw: &mut Draw, most_dof: usize, most_contacts: usize) -> Self {
        let dof = draw.whole(1, most_dof);
        let mass = mass(draw, dof);
        let restitution = draw.below(4);
        let has_friction = draw.chance(0.08);
        let mut contacts: Vec<Contact> = Vec::new();
        for _ in 0..draw.below(most_contacts + 1) {
            let again = draw.chance(0.08);
            let shape = match contacts.last() {
                Some(other) if again => other.shape.clone(),
                _ => shape(draw, dof),
            };
            contacts.push(Contact {
                shape,
                restitution: match restitution {
                    0 => 0.0,
                    1 => 1.0,
                    2 => 0.5,
                    _ => draw.part(),
                },
                friction: if has_friction { draw.part() } else { 0.0 },
            });
        }
        let gravity = (0..dof).map(|i| if i == 0 { -9.81 } else { 0.0 }).collect();
        let is_free = draw.chance(0.3);
        Self {
            dof,
            mass,
            bend: if draw.chance(0.3) {
                0.5 * draw.unit()
            } else {
                0.0
            },
            gravity: if draw.chance(0.6) {
                gravity
            } else {
                draw.numbers(dof)
            },
            stiffness: if is_free { 0.0 } else { draw.number() },
            damping: if is_free { 0.0 } else { draw.number() },
            forcing: if draw.chance(0.2) {
                (draw.number(), draw.positive() * 5.0)
            } else {
                (0.0, 1.0)
            },
            contacts,
            adhesion: draw.chance(0.05).then(|| draw.number()),
            time_scale: draw.chance(0.1).then(|| draw.positive()),
            rows_written: draw.chance(0.5),
            tangents: draw.below(3),
        }
    }

    /// A place for the body to start: free, or on its first contact.
    pub fn place(&self, draw: &mut Draw) -> (Vec<f64>, Vec<f64>) {
        let (q_len, v_len) = (draw.length(self.dof), draw.length(self.dof));
        let (mut q, v) = (draw.numbers(q_len), draw.numbers(v_len));
        // lifted until no gap is negative, where that is simple
        for _ in 0..20 {
            if q.len() != self.dof || draw.chance(0.05) {
                break;
            }
            let least = (0..self.contacts.len())
                .map(|j| self.gap(j, &q))
                .fold(0.0, f64::min);
            if least >= 0.0 {
                break;
            }
            q[0] -= least.max(-10.0);
        }
        if q.len() == self.dof && draw.chance(0.3) && !self.contacts.is_empty() {
            // onto the nearest gap
            let least = (0..self.contacts.len())
                .map(|j| self.gap(j, &q))
                .fold(f64::INFINITY, f64::min);
            if least.is_finite() {
                q[0] -= least;
            }
        }
        (q, v)
    }
}

/// A positive definite matrix, mostly; well scaled, mostly.
fn mass(draw: &mut Draw, dof: usize) -> Vec<f64> {
    let mut mass = vec![0.0; dof * dof];
    let couples = draw.chance(0.5);
    let is_spread = draw.chance(0.15);
    let root: Vec<f64> = (0..dof * dof).map(|_| draw.between(-1.0, 1.0)).collect();
    for i in 0..dof {
        for j in 0..dof {
            if couples {
                mass[i * dof + j] = (0..dof)
                    .map(|k| root[i * dof + k] * root[j * dof + k])
                    .sum();
            }
        }
        let own = if is_spread {
            draw.decades(-6.0, 6.0)
        } else {
            draw.positive()
        };
        mass[i * dof + i] += own;
    }
    if !draw.is_tame() && draw.chance(0.1) {
        let entry = draw.below(dof * dof);
        mass[entry] = draw.number();
    }
    mass
}

fn shape(draw: &mut Draw, dof: usize) -> Shape {
    match draw.below(16) {
        0..=3 => {
            let mut a = vec![0.0; dof];
            a[0] = 1.0;
            let c = if draw.chance(0.5) { 0.0 } else { draw.number() };
            Shape::Plane(a, c)
        }
        4..=7 => Shape::Plane(draw.numbers(dof), draw.number()),
        8 => Shape::Ball(draw.numbers(dof), draw.positive()),
        9..=12 => Shape::End(draw.positive(), draw.between(0.0, 6.3)),
        13 | 14 => Shape::Wave(draw.number()),
        _ => Shape::Root(draw.number()),
    }
}

impl MechanicalSystem for Body {
    fn dof(&self) -> usize {
        self.dof
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&self.mass);
        if self.bend != 0.0 {
            mass[0] *= 1.0 + self.bend * q[self.dof - 1].cos();
        }
    }

    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        for i in 0..self.dof {
            effort[i] = self.gravity[i] - self.stiffness * q[i] - self.damping * v[i];
        }
        effort[0] += self.forcing.0 * (self.forcing.1 * t).sin();
    }

    fn contact_effort(&self, _place: State<'_>, closed: &[usize], effort: &mut [f64]) -> bool {
        let Some(pull) = self.adhesion else {
            return false;
        };
        effort[0] -= pull * closed.len() as f64;
        true
    }

    fn constant_mass(&self) -> bool {
        self.bend == 0.0
    }

    fn time_scale(&self) -> Option<f64> {
        self.time_scale
    }

    fn potential(&self, q: &[f64]) -> Option<f64> {
        let of = |(i, q): (usize, &f64)| 0.5 * self.stiffness * q * q - self.gravity[i] * q;
        (self.damping == 0.0).then(|| q.iter().enumerate().map(of).sum())
    }
}

impl UnilateralConstraints for Body {
    fn contacts(&self) -> usize {
        self.contacts.len()
    }

    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let last = q[self.dof - 1];
        match &self.contacts[j].shape {
            Shape::Plane(a, c) => a.iter().zip(q).map(|(a, q)| a * q).sum::<f64>() - c,
            Shape::Ball(c, r) => {
                c.iter()
                    .zip(q)
                    .map(|(c, q)| (q - c).powi(2))
                    .sum::<f64>()
                    .sqrt()
                    - r
            }
            Shape::End(l, angle) => q[0] + l * (last + angle).sin(),
            Shape::Wave(s) => q[0] - s * last.sin(),
            Shape::Root(c) => (q[0] - c).sqrt() - 0.5,
        }
    }

    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        match &self.contacts[j].shape {
            Shape::Plane(a, _) if self.rows_written => {
                row.copy_from_slice(a);
                true
            }
            _ => false,
        }
    }

    fn constant_row(&self, j: usize) -> bool {
        self.rows_written && matches!(self.contacts[j].shape, Shape::Plane(..))
    }

    fn restitution(&self, j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.contacts[j].restitution
    }

    fn friction(&self, j: usize) -> f64 {
        self.contacts[j].friction
    }

    fn friction_at(&self, j: usize, _q: &[f64], speed: f64) -> Option<Friction> {
        // By bits, so that all other draws are what they were.
        let slip = self.contacts[j].friction;
        match self.mass[0].to_bits() & 15 {
            0 => Some(Friction::constant(slip)),
            1 => Some(Friction {
                stick: 1.3 * slip,
                slip: slip / (1.0 + speed),
            }),
            2 => Some(Friction {
                stick: f64::NAN,
                slip,
            }),
            _ => None,
        }
    }

    fn tangents(&self, _j: usize) -> usize {
        self.tangents
    }

    fn tangent_rows(&self, _j: usize, q: &[f64], rows: &mut [f64]) {
        for (i, row) in rows.iter_mut().enumerate() {
            *row = if i % q.len() == q.len() - 1 { 1.0 } else { 0.0 };
        }
    }
}
