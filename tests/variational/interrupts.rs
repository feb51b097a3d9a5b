//! Interrupts: once one is set, no more than a few evaluations of the model follow, wherever the
//! work is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::LinkChain;
use saltation::variational::{Midpoint, Orthogonality};
use saltation::{ContactModel, Error, Interrupt, Start, Variational};

/// How often a model was evaluated, and at which evaluation of it an interrupt is set.
#[derive(Clone)]
struct Watch {
    interrupt: Interrupt,
    count: Arc<AtomicUsize>,
    at: usize,
}

impl Watch {
    fn new(at: usize) -> Self {
        Self {
            interrupt: Interrupt::new(),
            count: Arc::default(),
            at,
        }
    }

    fn look(&self) {
        if self.count.fetch_add(1, Ordering::Relaxed) + 1 == self.at {
            self.interrupt.set();
        }
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

/// A chain of links of which nothing but mass and weight is written, above a floor that its joints
/// hit.
#[derive(Clone)]
struct Chain {
    links: LinkChain,
    floor: f64,
    restitution: f64,
    friction: f64,
    watch: Watch,
}

const LINKS: usize = 5;

impl Chain {
    fn new(links: usize, watch: &Watch) -> Self {
        Self {
            links: LinkChain::new(links).unwrap(),
            floor: f64::NEG_INFINITY,
            restitution: 0.0,
            friction: 0.0,
            watch: watch.clone(),
        }
    }
}

impl MechanicalSystem for Chain {
    fn dof(&self) -> usize {
        self.links.dof()
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.watch.look();
        self.links.mass(q, mass);
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.watch.look();
        self.links.effort(t, q, v, effort);
    }
}

impl UnilateralConstraints for Chain {
    fn contacts(&self) -> usize {
        usize::from(self.floor.is_finite())
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        self.watch.look();
        -q.iter().map(|q| q.cos()).sum::<f64>() - self.floor
    }
    fn gap_row(&self, _j: usize, q: &[f64], row: &mut [f64]) -> bool {
        for (row, q) in row.iter_mut().zip(q) {
            *row = q.sin();
        }
        true
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        usize::from(self.friction > 0.0)
    }
    fn tangent_rows(&self, _j: usize, q: &[f64], rows: &mut [f64]) {
        for (row, q) in rows.iter_mut().zip(q) {
            *row = q.cos();
        }
    }
}

/// Most evaluations after an interrupt: those of one coordinate in a difference, those of the
/// terms of a step, and gaps on the way to the next look.
const AFTER: usize = 12;

/// Sets the interrupt at evaluations all over some work.
fn interrupt_all_over(name: &str, work: impl Fn(&Watch) -> Result<(), Error>) {
    let whole = Watch::new(usize::MAX);
    let _ = work(&whole);
    let total = whole.count();
    assert!(total > 4 * AFTER, "{name}: {total}");
    let mut most = 0;
    for at in (1..=total).step_by(total / 60 + 1) {
        let watch = Watch::new(at);
        let made = work(&watch);
        let after = watch.count() - at;
        most = most.max(after);
        assert!(
            after <= AFTER,
            "{name}: {after} evaluations after {at} of {total}"
        );
        let is_last = total - at <= AFTER;
        assert!(
            is_last || made == Err(Error::Interrupted),
            "{name} {at}: {made:?}"
        );
    }
    println!("{name}: {total} evaluations, {most} after an interrupt at most");
}

#[test]
fn steps_stop_where_they_are() {
    // A step as others, and one so long that Newton's method tries all it has, in halves too.
    for (h, scale) in [(0.01, 1.0), (0.4, 4.0)] {
        let start = |watch: &Watch| {
            let midpoint = Midpoint::new(Chain::new(LINKS, watch)).unwrap();
            let p: Vec<f64> = (0..LINKS).map(|i| scale * (3.0 * i as f64).cos()).collect();
            (midpoint.interrupt(&watch.interrupt), vec![0.3; LINKS], p)
        };
        interrupt_all_over("a step", |watch| {
            let (mut midpoint, mut q, mut p) = start(watch);
            let before = (q.clone(), p.clone());
            let made = midpoint.step(0.0, h, &mut q, &mut p);
            // Errors leave the state as it was.
            assert!(made.is_ok() || (q, p) == before);
            Ok(made?)
        });
        interrupt_all_over("the derivative of a step", |watch| {
            let (mut midpoint, q, p) = start(watch);
            midpoint.derivative(0.0, h, &q, &p)?;
            Ok(())
        });
    }
}

#[test]
fn runs_stop_where_they_are() {
    let v: Vec<f64> = (0..LINKS).map(|i| (3.0 * i as f64).cos()).collect();
    for (name, floor, friction, restitution) in [
        ("free", f64::NEG_INFINITY, 0.0, 0.0),
        ("impacts", -4.85, 0.0, 0.8),
        ("closed", -4.85, 0.3, 0.0),
    ] {
        let driver = |watch: &Watch| {
            let chain = Chain {
                floor,
                restitution,
                friction,
                ..Chain::new(LINKS, watch)
            };
            let driver = Variational::new(ContactModel::new(chain))
                .unwrap()
                .time_step(0.01);
            driver.frictionless_impacts().interrupt(&watch.interrupt)
        };
        interrupt_all_over(name, |watch| {
            let run = driver(watch).integrate(&Start::at(0.0).q(&[0.3; LINKS]).v(&v), 0.3)?;
            let run = run.completed()?;
            assert_eq!(run.events().is_empty(), name == "free");
            assert_eq!(
                run.phases().iter().all(|mode| mode.closed.is_empty()),
                name != "closed"
            );
            Ok(())
        });
        if friction == 0.0 {
            interrupt_all_over("the derivative of a run", |watch| {
                let start = Start::at(0.0).q(&[0.3; LINKS]).v(&v);
                driver(watch).derivative(&start, 0.2)?.matrix()?;
                Ok(())
            });
        }
    }
}

#[test]
fn searches_for_designs_stop_where_they_are() {
    // Two walls of a bead, whose directions are the design.
    struct Walls([f64; 2], Watch);
    impl MechanicalSystem for Walls {
        fn dof(&self) -> usize {
            2
        }
        fn mass(&self, _q: &[f64], mass: &mut [f64]) {
            self.1.look();
            mass.copy_from_slice(&[1.0, 0.0, 0.0, 2.0]);
        }
        fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
            effort.fill(0.0);
        }
    }
    impl UnilateralConstraints for Walls {
        fn contacts(&self) -> usize {
            2
        }
        fn gap(&self, j: usize, q: &[f64]) -> f64 {
            self.1.look();
            self.0[j].cos() * q[0] + self.0[j].sin() * q[1] - 1.0
        }
        fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
            row.copy_from_slice(&[self.0[j].cos(), self.0[j].sin()]);
            true
        }
    }
    interrupt_all_over("a design", |watch| {
        let build = |design: &[f64]| Ok(Walls([design[0], design[1]], watch.clone()));
        let search = Orthogonality::new(build, [0, 1]).interrupt(&watch.interrupt);
        search.solve(&[1.0, 0.5], &[0.2, 1.0])?;
        Ok(())
    });
}

#[test]
fn a_step_costs_a_few_mass_matrices_a_coordinate() {
    // With a difference of the mass matrix for each entry of a derivative it was 8 d a coordinate
    // and factorisation.
    for links in [4, 8, 16, 32] {
        let watch = Watch::new(usize::MAX);
        let chain = Chain::new(links, &watch);
        let mut midpoint = Midpoint::new(chain).unwrap();
        let (mut q, mut p) = (vec![0.3; links], vec![0.0; links]);
        let steps = 4;
        for _ in 0..steps {
            midpoint.step(0.0, 0.01, &mut q, &mut p).unwrap();
        }
        let each = watch.count() as f64 / f64::from(steps) / links as f64;
        println!("{links} links: {each:.1} masses and efforts a coordinate and step");
        // Some six evaluations of the terms, and the efforts of two factorisations.
        assert!(each < 30.0, "{links} {each}");
    }
}
