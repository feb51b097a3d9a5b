//! Discs in a box: piles that come to rest on contacts that depend on each other.

use saltation::Status;
use saltation::event_driven::{Breakdown, EventDriven, Grazing, Simulation, Zeno};
use saltation::mechanics::{MechanicalSystem, Redundant, UnilateralConstraints};

use crate::fixtures::referee::check_run;
use crate::random::SplitMix64;

const G: f64 = 9.81;

/// Discs without spin on a floor between two walls; contacts: each disc with the floor and the two
/// walls, then all pairs.
#[derive(Clone, Debug)]
pub(crate) struct Discs {
    pub(crate) radii: Vec<f64>,
    pub(crate) masses: Vec<f64>,
    pub(crate) width: f64,
    pub(crate) restitution: f64,
}

/// What a contact holds apart.
enum Pair {
    Floor(usize),
    Left(usize),
    Right(usize),
    Discs(usize, usize),
}

impl Discs {
    fn count(&self) -> usize {
        self.radii.len()
    }

    fn pair(&self, contact: usize) -> Pair {
        let n = self.count();
        match (contact / n, contact % n) {
            (0, i) => return Pair::Floor(i),
            (1, i) => return Pair::Left(i),
            (2, i) => return Pair::Right(i),
            _ => {}
        }
        let (mut first, mut rest) = (0, contact - 3 * n);
        while rest >= n - 1 - first {
            rest -= n - 1 - first;
            first += 1;
        }
        Pair::Discs(first, first + 1 + rest)
    }

    /// Random discs, equal or not, in a box that they may fill exactly side by side: thrown into
    /// it, or piled up.
    pub(crate) fn random(random: &mut SplitMix64) -> (Self, Vec<f64>, Vec<f64>) {
        let mut one_of = |count: u64| random.next() % count;
        let (n, equal, fits) = (2 + one_of(6), one_of(2) == 0, one_of(3) == 0);
        let side_by_side = 1 + one_of(4);
        let (still, touching, centred) = (one_of(3) == 0, one_of(3) == 0, one_of(4) == 0);
        let mut between = |low: f64, high: f64| random.between(low, high);
        let radii: Vec<f64> = (0..n)
            .map(|_| if equal { 0.5 } else { between(0.3, 0.6) })
            .collect();
        let width = if fits {
            side_by_side as f64
        } else {
            between(1.3, 3.5)
        };
        let width = radii.iter().fold(width, |w, r| w.max(2.0 * r));
        let masses = (0..n).map(|_| 10f64.powf(between(-1.0, 1.0))).collect();
        let (mut q, mut height) = (Vec::new(), 0.0);
        for r in &radii {
            height += r + if touching { 0.0 } else { between(0.0, 0.5) };
            let x = if centred {
                0.5 * width
            } else {
                between(*r, width - r)
            };
            q.extend([x, height]);
            height += r;
        }
        let speed = if still { 0.0 } else { 1.0 };
        let v = (0..2 * n).map(|_| speed * between(-1.0, 1.0)).collect();
        let discs = Self {
            radii,
            masses,
            width,
            restitution: 0.0,
        };
        (discs, q, v)
    }
}

impl MechanicalSystem for Discs {
    fn dof(&self) -> usize {
        2 * self.count()
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        let d = self.dof();
        mass.fill(0.0);
        for i in 0..d {
            mass[i * d + i] = self.masses[i / 2];
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
        for (i, m) in self.masses.iter().enumerate() {
            effort[2 * i + 1] = -m * G;
        }
    }
}

impl UnilateralConstraints for Discs {
    fn contacts(&self) -> usize {
        let n = self.count();
        3 * n + n * (n - 1) / 2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        match self.pair(j) {
            Pair::Floor(i) => q[2 * i + 1] - self.radii[i],
            Pair::Left(i) => q[2 * i] - self.radii[i],
            Pair::Right(i) => self.width - q[2 * i] - self.radii[i],
            Pair::Discs(i, k) => {
                let apart = (q[2 * k] - q[2 * i]).hypot(q[2 * k + 1] - q[2 * i + 1]);
                apart - self.radii[i] - self.radii[k]
            }
        }
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        row.fill(0.0);
        match self.pair(j) {
            Pair::Floor(i) => row[2 * i + 1] = 1.0,
            Pair::Left(i) => row[2 * i] = 1.0,
            Pair::Right(i) => row[2 * i] = -1.0,
            Pair::Discs(i, k) => {
                let d = [q[2 * k] - q[2 * i], q[2 * k + 1] - q[2 * i + 1]];
                let apart = d[0].hypot(d[1]);
                for c in 0..2 {
                    row[2 * k + c] = d[c] / apart;
                    row[2 * i + c] = -d[c] / apart;
                }
            }
        }
        true
    }
    fn constant_row(&self, j: usize) -> bool {
        !matches!(self.pair(j), Pair::Discs(..))
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}

/// How heaps of seeds end: all at their final time, or for a reason that is true of them, and no
/// sample breaks a law.
fn heaps(seeds: std::ops::Range<u64>) -> (usize, usize) {
    let (mut ended, mut grazed) = (0, 0);
    for seed in seeds {
        let (discs, q, v) = Discs::random(&mut SplitMix64(seed));
        let model = EventDriven::new(discs.clone());
        let mut simulation = Simulation::new(model.clone())
            .unwrap()
            .rtol(1e-8)
            .zeno(Zeno::Absorb);
        let run = simulation.integrate(0.0, &q, &v, 4.0);
        let run = run.unwrap_or_else(|error| panic!("heap {seed}: {error}"));
        let status = run.trajectory().status();
        let state = |t: f64| run.trajectory().at(t).unwrap().as_slice().to_vec();
        match (status, Breakdown::of(status)) {
            (Status::ReachedEnd, _) => ended += 1,
            // The gap is zero there.
            (_, Some(Breakdown::Grazing { contact, t, .. })) => {
                let gap = discs.gap(*contact, &state(*t)[..q.len()]);
                assert!(gap.abs() < 1e-7, "heap {seed}: {status}, {gap:e}");
                grazed += 1;
            }
            // The force is zero there, beside the weight of the heap.
            (_, Some(Breakdown::GrazingRelease { contact, t, .. })) => {
                let mode = run.trajectory().mode_at(*t).unwrap();
                let force = model.multipliers(*t, &state(*t), mode).values()[*contact];
                assert!(force.abs() < 1e-5, "heap {seed}: {status}, {force:e}");
                grazed += 1;
            }
            _ => panic!("heap {seed}: {status}"),
        }
        let energy = |state: &[f64]| {
            let (q, v) = state.split_at(2 * discs.count());
            let each = discs.masses.iter().enumerate();
            each.map(|(i, m)| {
                let speed = v[2 * i] * v[2 * i] + v[2 * i + 1] * v[2 * i + 1];
                m * (0.5 * speed + G * q[2 * i + 1])
            })
            .sum()
        };
        let checked = check_run(&model, &run, energy);
        checked.unwrap_or_else(|what| panic!("heap {seed}: {what}"));
    }
    (ended, grazed)
}

#[test]
fn plastic_heaps_end_at_their_time_or_for_a_reason_that_is_so() {
    let (ended, grazed) = heaps(0..10);
    assert!(ended >= 8, "{ended} {grazed}");
}

#[test]
#[ignore = "300 heaps: release"]
fn plastic_heaps_end_at_their_time_or_for_a_reason_that_is_so_300_times() {
    let (ended, grazed) = heaps(0..300);
    println!("{ended} reach their time, {grazed} graze");
    assert!(ended >= 260, "{ended} {grazed}");
}

/// Multipliers of contacts that hold nothing are rounding, larger than their numerical zero.
/// Searches that follow it to ever shorter windows end in steps that do not move the time: these
/// piles did.
#[test]
fn multipliers_that_are_noise_do_not_shorten_steps() {
    let noisy = [586, 1597, 2052, 2074, 2509];
    let mut random = SplitMix64(7);
    for k in 0..=2509 {
        let (discs, q, v) = Discs::random(&mut random);
        if !noisy.contains(&k) {
            continue;
        }
        let model = EventDriven::new(discs).redundant(Redundant::LeastSquares);
        let mut simulation = Simulation::new(model)
            .unwrap()
            .rtol(1e-8)
            .atol(1e-9)
            .zeno(Zeno::Absorb)
            .grazing(Grazing::Contact);
        let run = simulation.integrate(0.0, &q, &v, 1.0).unwrap();
        assert_eq!(*run.trajectory().status(), Status::ReachedEnd, "run {k}");
    }
}

/// A disc that is wedged between others rattles: contacts close and throw each other open by turns,
/// ever lower, by forces of other contacts that press them back. What opens lower than gaps can
/// tell stays closed; else the rattling has no end.
#[test]
fn a_jam_that_rattles_comes_to_rest() {
    let mut random = SplitMix64(7);
    let (discs, q, v) = (0..=1828)
        .map(|_| Discs::random(&mut random))
        .last()
        .unwrap();
    let model = EventDriven::new(discs).redundant(Redundant::LeastSquares);
    let mut simulation = Simulation::new(model)
        .unwrap()
        .rtol(1e-8)
        .atol(1e-9)
        .zeno(Zeno::Absorb)
        .grazing(Grazing::Contact)
        .configure(|integrator| integrator.max_events(3000));
    let run = simulation.integrate(0.0, &q, &v, 3.0).unwrap();
    assert_eq!(*run.trajectory().status(), Status::ReachedEnd);
}

/// Contacts of piles depend on each other, exactly or nearly, in positions and in motions that none
/// has thought of: whatever they are, a run that takes least squares and absorbs accumulations
/// comes to its end.
#[test]
fn piles_of_plastic_discs_come_to_their_ends() {
    let runs = if cfg!(debug_assertions) { 40 } else { 3000 };
    let mut random = SplitMix64(7);
    let mut resting = 0;
    for k in 0..runs {
        let (discs, q, v) = Discs::random(&mut random);
        let n = discs.contacts();
        let model = EventDriven::new(discs).redundant(Redundant::LeastSquares);
        let mut simulation = Simulation::new(model)
            .unwrap()
            .rtol(1e-8)
            .atol(1e-9)
            .zeno(Zeno::Absorb)
            .grazing(Grazing::Contact);
        let run = simulation.integrate(0.0, &q, &v, 4.0);
        let run = run.unwrap_or_else(|error| panic!("run {k}: {error}"));
        let status = run.trajectory().status();
        assert_eq!(*status, Status::ReachedEnd, "run {k}");
        let closed = run.modes().pop().unwrap().closed.len();
        assert!(closed <= n);
        resting += usize::from(closed > 2);
    }
    assert!(resting > runs / 2, "{resting} of {runs}");
}
