//! Verdicts with nothing written (no row, no Jacobian, no derivative of an impact) are those of
//! dual numbers: what is left of differences of differences is told from what depends on the order
//! of contacts, at any tolerance, mass and stiffness.

use saltation::Start;
use saltation::derivative::{CornerKind, Dual, RealField, Verdict, convert};
use saltation::event_driven::InertialCoupling;
use saltation::mechanics::{
    MechanicalSystem, SmoothConstraints, SmoothMechanics, UnilateralConstraints,
};
use saltation::{ContactModel, EventDriven};

/// A body on soft legs side by side, each with a foot of its own, `(z, θ, z_1, …)`; a damper and a
/// common inertia may couple the outer feet.
#[derive(Clone, Debug)]
struct Walker {
    feet: usize,
    /// Of the body and of a foot (kg).
    masses: [f64; 2],
    /// Of a leg (N/m, N s/m).
    spring: [f64; 2],
    restitution: f64,
    /// Between the outer feet, over the mass of a foot (1/s).
    damper: f64,
    /// Mass that the outer feet share, over the mass of a foot.
    shared: f64,
    /// Gaps are `2 sin z_j` and not `z_j`.
    bent: bool,
}

impl Walker {
    fn new(feet: usize) -> Self {
        Self {
            feet,
            masses: [1.0, 0.1],
            spring: [30.0, 1.0],
            restitution: 0.0,
            damper: 0.0,
            shared: 0.0,
            bent: false,
        }
    }

    /// At rest above the ground, all feet at one height: `(q, v)`, and a time when all have landed.
    fn start(&self) -> (Vec<f64>, Vec<f64>, f64) {
        let d = 2 + self.feet;
        let q = (0..d).map(|i| [1.5, 0.0, 0.5][i.min(2)]).collect();
        (q, vec![0.0; d], 0.3195)
    }
}

impl SmoothMechanics for Walker {
    fn dof(&self) -> usize {
        2 + self.feet
    }

    fn mass<T: RealField + Copy>(&self, _q: &[T], mass: &mut [T]) {
        let d = 2 + self.feet;
        let [body, foot] = self.masses;
        mass.fill(T::zero());
        for i in 0..d {
            mass[i * d + i] = convert(if i < 2 { body } else { foot });
        }
        mass[2 * d + d - 1] += convert(self.shared * foot);
        mass[(d - 1) * d + 2] += convert(self.shared * foot);
    }

    fn effort<T: RealField + Copy>(&self, _t: T, q: &[T], v: &[T], effort: &mut [T]) {
        let number = |x: f64| convert::<f64, T>(x);
        let [body, foot] = self.masses;
        let [stiffness, damping] = self.spring.map(number);
        let (sine, cosine) = (q[1].sin(), q[1].cos());
        effort[0] = number(-9.81 * body);
        effort[1] = T::zero();
        for j in 0..self.feet {
            let hip = number(j as f64 / (self.feet - 1) as f64 - 0.5);
            let length = q[0] + hip * sine - q[2 + j];
            let rate = v[0] + hip * cosine * v[1] - v[2 + j];
            let push = stiffness * (T::one() - length) - damping * rate;
            effort[0] += push;
            effort[1] += hip * cosine * push;
            effort[2 + j] = number(-9.81 * foot) - push;
        }
        let (first, last) = (2, 1 + self.feet);
        for i in [first, last] {
            // All fall alike.
            effort[i] -= number(9.81 * self.shared * foot);
        }
        let pull = number(self.damper * foot) * (v[first] - v[last]);
        effort[first] -= pull;
        effort[last] += pull;
    }
}

impl SmoothConstraints for Walker {
    fn contacts(&self) -> usize {
        self.feet
    }

    fn gap<T: RealField + Copy>(&self, j: usize, q: &[T]) -> T {
        if self.bent {
            q[2 + j].sin() * convert(2.0)
        } else {
            q[2 + j]
        }
    }

    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}

/// The same with nothing written.
struct Bare<'a>(&'a Walker);

impl MechanicalSystem for Bare<'_> {
    fn dof(&self) -> usize {
        SmoothMechanics::dof(self.0)
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        SmoothMechanics::mass(self.0, q, mass);
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        SmoothMechanics::effort(self.0, t, q, v, effort);
    }
}

impl UnilateralConstraints for Bare<'_> {
    fn contacts(&self) -> usize {
        SmoothConstraints::contacts(self.0)
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        SmoothConstraints::gap(self.0, j, q)
    }
    fn restitution(&self, j: usize, q: &[f64], v: &[f64]) -> f64 {
        SmoothConstraints::restitution(self.0, j, q, v)
    }
}

/// Kind of the corner at which all feet land, and the verdict of the run through it.
fn landing<S>(system: S, walker: &Walker, rtol: f64) -> (CornerKind, Verdict)
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let (q, v, tf) = walker.start();
    let model = ContactModel::new(system);
    let mut simulation = EventDriven::new(model).unwrap().rtol(rtol).atol(0.1 * rtol);
    let derivative = simulation
        .derivative(&Start::at(0.0).q(&q).v(&v), tf)
        .unwrap();
    let mut corners = derivative.corners();
    let corner = corners.next().expect("all feet land at once");
    assert_eq!(corner.guards().len(), walker.feet);
    (corner.kind().clone(), derivative.verdict().clone())
}

#[test]
fn feet_that_do_not_feel_each_other_are_classical_at_any_tolerance() {
    let cases = [
        (3, [1.0, 0.1], [30.0, 1.0], 0.0, false),
        (2, [80.0, 0.5], [3e3, 10.0], 0.0, true),
        (3, [1e4, 1.0], [1e3, 50.0], 0.0, false),
        (2, [0.1, 1.0], [30.0, 1.0], 0.5, true),
        (2, [1.0, 0.01], [30.0, 1.0], 1.0, true),
        (4, [1.0, 0.1], [30.0, 1.0], 0.0, false),
    ];
    for (feet, masses, spring, restitution, bent) in cases {
        let walker = Walker {
            masses,
            spring,
            restitution,
            bent,
            ..Walker::new(feet)
        };
        let tolerances = if feet == 4 { 2 } else { 6 };
        // Without optimisation every third, the first and the fourth.
        let every = if cfg!(debug_assertions) { 5 } else { 1 };
        for k in (0..tolerances).step_by(every) {
            let rtol = 10f64.powf(-3.5 - 1.4 * f64::from(k));
            let mut found = vec![landing(Bare(&walker), &walker, rtol)];
            if k % 3 == 0 {
                found.push(landing(Dual(walker.clone()), &walker, rtol));
            }
            for (kind, verdict) in found {
                assert_eq!(verdict, Verdict::Classical, "{walker:?} {rtol:e}");
                assert!(matches!(kind, CornerKind::Linear { .. }));
            }
        }
        let (q, v, _) = walker.start();
        let at_contact: Vec<f64> = (0..q.len())
            .map(|i| if i < 2 { q[i] } else { 0.0 })
            .collect();
        let falling = vec![-3.0; v.len()];
        let all: Vec<usize> = (0..feet).collect();
        let model = ContactModel::new(Bare(&walker));
        let report = model
            .decoupling(&Start::at(0.0).q(&at_contact).v(&falling), &all)
            .unwrap();
        assert_eq!(
            report.verdict,
            InertialCoupling::Decoupled,
            "{walker:?} {report:?}"
        );
    }
}

#[test]
fn what_depends_on_the_order_is_found_with_nothing_written() {
    // Feet that bounce feel each other's impacts by the mass they share, and outcomes jump by about
    // three times as much a second; by a damper they feel each other's forces, and maps differ.
    let sizes: &[f64] = if cfg!(debug_assertions) {
        &[1e-6]
    } else {
        &[1e-6, 1e-4, 1e-2]
    };
    for &size in sizes {
        for feet in [2, 3] {
            for bent in [false, true] {
                let bouncing = Walker {
                    restitution: 0.5,
                    bent,
                    ..Walker::new(feet)
                };
                let jumping = Walker {
                    shared: size,
                    ..bouncing.clone()
                };
                let bending = Walker {
                    damper: size,
                    ..bouncing.clone()
                };
                for rtol in [1e-5, 1e-9] {
                    let (kind, verdict) = landing(Bare(&jumping), &jumping, rtol);
                    assert!(
                        matches!(kind, CornerKind::Discontinuous),
                        "{jumping:?} {rtol:e}: {kind:?}"
                    );
                    assert!(matches!(verdict, Verdict::Discontinuous { .. }));
                    let (kind, verdict) = landing(Bare(&bending), &bending, rtol);
                    assert!(
                        matches!(kind, CornerKind::PiecewiseLinear),
                        "{bending:?} {rtol:e}: {kind:?}"
                    );
                    assert_eq!(verdict, Verdict::Bouligand);
                }
            }
        }
    }
}

/// A board that falls on one of its corners, `(x, y, θ)`, without friction, in any unit of length.
struct Board {
    /// Units of length in its half width; it is half as high.
    size: f64,
    is_written: bool,
}

impl Board {
    /// The corner from the centre, turned, and turned by another quarter.
    fn corner(&self, theta: f64) -> [[f64; 2]; 2] {
        let ((sin, cos), [x, y]) = (theta.sin_cos(), [self.size, -0.5 * self.size]);
        let turned = [cos * x - sin * y, sin * x + cos * y];
        [turned, [-turned[1], turned[0]]]
    }

    /// Units of the state in lengths of the board and seconds.
    fn unit(&self, i: usize) -> f64 {
        if i % 3 == 2 { 1.0 } else { self.size }
    }
}

impl MechanicalSystem for Board {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        m.fill(0.0);
        (m[0], m[4], m[8]) = (1.0, 1.0, 0.4 * self.size * self.size);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], f: &mut [f64]) {
        f.copy_from_slice(&[0.0, -9.81 * self.size, 0.0]);
    }
}

impl UnilateralConstraints for Board {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1] + self.corner(q[2])[0][1]
    }
    fn gap_row(&self, _j: usize, q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 1.0, self.corner(q[2])[1][1]]);
        self.is_written
    }
    fn curvature(&self, _j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        self.is_written
            .then(|| -self.corner(q[2])[0][1] * v[2] * v[2])
    }
}

/// Rows and curvatures that are differences follow what moves most: a board of a metre is the same in millimetres.
#[test]
fn units_of_length_do_not_change_derivatives_by_differences() {
    let derivative = |board: Board| {
        let q = [0.0, 1.1 * board.size, -0.5];
        let v = [0.3 * board.size, -0.4 * board.size, 0.9];
        let units: Vec<f64> = (0..6).map(|i| board.unit(i)).collect();
        let model = ContactModel::new(board).gap_tolerance(1e-10 * units[0]);
        let mut driver = EventDriven::new(model.rate_tolerance(1e-8 * units[0])).unwrap();
        driver = driver.rtol(1e-10).atol(1e-12 * units[0]);
        let found = driver.derivative(&Start::at(0.0).q(&q).v(&v), 0.5).unwrap();
        assert_eq!(*found.verdict(), Verdict::Classical, "{units:?}");
        assert!(!found.run().events().is_empty());
        let matrix = found.matrix().unwrap();
        matrix.map_with_location(|i, j, x| x * units[j] / units[i])
    };
    let [exact, metre] = [true, false].map(|is_written| {
        derivative(Board {
            size: 1.0,
            is_written,
        })
    });
    let size = exact.amax();
    assert!((&metre - &exact).amax() < 1e-5 * size);
    for size_in_units in [0.05, 30.0, 100.0, 300.0, 1e3, 1e4] {
        let found = derivative(Board {
            size: size_in_units,
            is_written: false,
        });
        let off = (found - &exact).amax() / size;
        assert!(off < 1e-4, "{size_in_units}: {off:e}");
    }
}
