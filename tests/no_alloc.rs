//! A run allocates nothing: the workspace is made once, by `Integrator::new`, and what is kept is
//! the observer's business. Nor does solving a complementarity problem. What a derivative keeps at
//! a corner is bounded.

#[path = "common/allocations.rs"]
mod allocations;
#[allow(dead_code, reason = "each of those who share it takes what it needs")]
#[path = "common/contacts.rs"]
mod contacts;
#[path = "common/feet.rs"]
mod feet;

use allocations::{allocations, most_held};
use saltation::bodies::{Anchor, Body, Frozen, Joint, JointAxis, Scene, Shape};
use saltation::compliant::{JointCoupling, JointFriction, JointLimit, Motor, MotorGoal, Sleep};
use saltation::lcp::{Attempt, LcpSolver};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{
    Affine, BouncingBall, ContactChain, DoublePendulum, FieldTable, Hopper, NormalPlate,
    PlateParameters, SoftTrot, Thermostat, VerticalPlate,
};
use saltation::variational::Midpoint;
use saltation::{
    Compliant, ContactEvent, ContactModel, EventDriven, EventFunction, Flow, Integrator, Observer,
    Projection, Rearm, Sensitivities, Start, Status, Variational,
};
use std::sync::Arc;

#[test]
fn a_corner_of_many_guards_keeps_two_levels_of_maps() {
    // Between two levels of the lattice of ten guards there are no more than 252 + 210 maps, of
    // 1024 in all.
    let corners = [(10, 60), (12, 40)];
    let few = if cfg!(debug_assertions) { 1 } else { 2 };
    for (guards, dim) in corners.into_iter().take(few) {
        let system = saltation::flow_fn(dim, move |_, _, mode, dx: &mut [f64]| {
            dx.fill(1.0);
            // All orders are looked at, and no two have one map.
            dx[dim - 1] = mode.ones().map(|k| 1u32 << k).sum::<u32>().into();
            dx[dim - 1] = (0.1 * dx[dim - 1]).sin();
        })
        .with_events(guards, |k, _, x| x[k] - 1.0);
        let mut integrator = Integrator::new(system).unwrap();
        let start = vec![0.0; dim];
        let held = most_held(|| {
            let d = integrator
                .derivative(&Start::at(0.0).x(&start), 1.5)
                .unwrap();
            assert_eq!(*d.verdict(), saltation::Verdict::Bouligand);
            assert_eq!(d.corners().count(), 1);
        });
        let maps = held / (8 * dim * dim);
        let levels = if guards == 10 { 252 + 210 } else { 924 + 792 };
        assert!(
            maps < 2 * levels,
            "{maps} maps of {dim} × {dim}, {held} bytes"
        );
    }
}

#[test]
fn the_counter_counts() {
    let mut kept = Vec::new();
    assert_eq!(allocations(|| kept = vec![1.0]), 1);
    assert_eq!(allocations(|| kept.push(2.0)), 1, "growth");
    assert_eq!(allocations(|| kept[0] += 1.0), 0);
    let hopper = Hopper::default();
    let mut integrator = Integrator::new(hopper).unwrap();
    let kept = allocations(|| drop(integrator.integrate(&Start::at(0.0).x(&[2.0, 0.0]), 2.0)));
    assert!(kept > 10, "a trajectory is kept on the heap: {kept}");
}

fn settings() -> [(Projection, Rearm); 8] {
    [
        (Projection::Auto, Rearm::Pairs),
        (Projection::Off, Rearm::Pairs),
        (Projection::eps(1e-3, 1), Rearm::Pairs),
        (Projection::eps(1e-3, 2), Rearm::Pairs),
        (Projection::eps(1e-3, 4), Rearm::Pairs),
        (Projection::horizon(1e-3, 3), Rearm::Pairs),
        (Projection::Auto, Rearm::WhenEmpty),
        (Projection::Auto, Rearm::Never),
    ]
}

fn allocates_nothing<const N: usize, S: Flow + EventFunction>(
    name: &str,
    system: &S,
    start: &[f64; N],
    tf: f64,
) {
    for (projection, rearm) in settings() {
        let mut run_time = Integrator::new(system)
            .unwrap()
            .projection(projection.clone())
            .rearm(rearm.clone());
        let mut fixed = Integrator::fixed::<N>(system)
            .unwrap()
            .projection(projection.clone())
            .rearm(rearm.clone());
        for run in ["first", "second"] {
            let mut crossings = 0;
            let mut ends = false;
            let found = allocations(|| {
                let summary = run_time.observe(&Start::at(0.0).x(start), tf, &mut ());
                let summary = summary.as_ref();
                ends = summary.is_ok_and(|s| s.status == Status::ReachedEnd);
                crossings = summary.map_or(0, |s| s.statistics.crossings);
            });
            assert!(
                ends && crossings > 0,
                "{name}, {projection:?}, {rearm:?}: {crossings} crossings"
            );
            assert_eq!(
                found, 0,
                "{name}, {projection:?}, {rearm:?}, {run} run, run-time size"
            );
            let found = allocations(|| {
                let summary = fixed.observe(&Start::at(0.0).x(start), tf, &mut ());
                ends = summary.is_ok_and(|s| s.status == Status::ReachedEnd);
            });
            assert!(ends, "{name}, {projection:?}, {rearm:?}");
            assert_eq!(
                found, 0,
                "{name}, {projection:?}, {rearm:?}, {run} run, fixed size"
            );
        }
    }
}

const TILTED: [f64; 6] = [0.1, 2.4, -0.03, 0.3, -0.5, 0.4];
const LEVEL: [f64; 6] = [0.0, 2.2, 0.0, 0.0, 0.0, 0.0];

#[test]
fn the_plate_allocates_nothing() {
    let plate = VerticalPlate::new(PlateParameters::with_springs(10)).unwrap();
    allocates_nothing("law V, 10 springs", &plate, &TILTED, 2.0);
    allocates_nothing("law V, 10 springs, level", &plate, &LEVEL, 2.0);
    let plate = NormalPlate::new(PlateParameters::with_springs(10)).unwrap();
    allocates_nothing("law N, 10 springs", &plate, &TILTED, 2.0);
}

#[test]
fn modes_of_more_than_64_guards_allocate_nothing() {
    let plate = VerticalPlate::new(PlateParameters::with_springs(100)).unwrap();
    allocates_nothing("law V, 100 springs", &plate, &TILTED, 0.6);
    allocates_nothing("law V, 100 springs, level", &plate, &LEVEL, 0.6);
}

#[test]
fn small_systems_allocate_nothing() {
    allocates_nothing("hopper", &Hopper::default(), &[2.0, 0.0], 2.0);
    allocates_nothing("affine", &Affine::default(), &[-0.4, -0.15, 0.3], 0.5);
    let normals = nalgebra::DMatrix::identity(2, 2);
    let fields =
        nalgebra::DMatrix::from_column_slice(2, 4, &[1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 3.0, 1.0]);
    let table = FieldTable::new(normals, &[0.0, 0.0], fields).unwrap();
    allocates_nothing("a corner of a table", &table, &[-0.5, -0.5], 1.0);
}

#[test]
fn a_reset_matrix_allocates_nothing() {
    let room = Thermostat::default();
    let mut integrator = Integrator::new(room)
        .unwrap()
        .rearm(Rearm::Matrix(room.rearm().unwrap()));
    for run in ["first", "second"] {
        let mut crossings = 0;
        let found = allocations(|| {
            let summary = integrator.observe(&Start::at(0.0).x(&[18.0]), 6000.0, &mut ());
            crossings = summary.map_or(0, |s| s.statistics.crossings);
        });
        assert!(
            found == 0 && crossings > 5,
            "{run} run: {found} allocations, {crossings} crossings"
        );
    }
}

#[test]
fn the_chain_allocates_nothing() {
    let chain = ContactChain::default();
    let start: [f64; 60] = chain.start().try_into().unwrap();
    allocates_nothing("chain", &chain, &start, 0.4);
}

/// From the first solve on: on the path, down the ladder, and where there is no solution.
#[test]
fn complementarity_problems_allocate_nothing() {
    let mut draw = 0.0f64;
    let mut unit = move || {
        draw = (draw + 0.754877666246693).fract();
        draw
    };
    for count in [1, 2, 5, 12] {
        for deficient in [1, count] {
            let contacts = contacts::Contacts::random(count, deficient, &mut unit);
            let most: Vec<f64> = (0..count).map(|_| unit()).collect();
            for (w, q) in [contacts.boxed(&most, 2), contacts.unboxed(2)] {
                let d = vec![2.0; q.len()];
                let mut solver = LcpSolver::new(q.len());
                let mut solved = 0;
                let found = allocations(|| {
                    solved += usize::from(solver.solve(&w, &q).is_ok());
                    solved += usize::from(solver.solve_covered(&w, &q, &d).is_ok());
                });
                assert_eq!((found, solved), (0, 2), "n = {}", q.len());
            }
        }
    }
    let one = nalgebra::DMatrix::identity(9, 9);
    let mut solver = LcpSolver::new(9).pivots_per_row(0);
    let mut rung = None;
    let found = allocations(|| rung = solver.solve(&one, &[-1.0; 9]).ok().map(|s| s.rung()));
    assert_eq!((found, rung), (0, Some(Attempt::Bases)));
    for (w, infeasible) in [
        ([1.0, -1.0, -1.0, 1.0], true),
        ([0.0, 1.0, 0.0, 1.0], false),
    ] {
        let w = nalgebra::DMatrix::from_row_slice(2, 2, &w);
        let mut solver = LcpSolver::new(2);
        let mut failure = None;
        let found = allocations(|| failure = solver.solve(&w, &[-2.0, -1.0]).err());
        assert_eq!(
            (found, failure),
            (0, Some(saltation::lcp::LcpFailure::Ray { infeasible }))
        );
    }
    // More pivots than are kept: the basis is made anew.
    let n = 60;
    let triangular = nalgebra::DMatrix::from_fn(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => 2.0,
    });
    let q: Vec<f64> = (0..n).map(|i| -1.0 - (7 * i % 11) as f64).collect();
    let mut solver = LcpSolver::new(n);
    let mut pivots = 0;
    let found = allocations(|| pivots = solver.solve(&triangular, &q).map_or(0, |s| s.pivots()));
    assert!(found == 0 && pivots > n + 24, "{pivots} pivots");
}

/// Events of laws that give one outcome: landing, impact, and which contacts stay closed. Feet of
/// which three are in one line depend on each other, and their impacts do allocate.
#[test]
fn impacts_allocate_nothing() {
    use saltation::impact::{
        AnitescuPotra, Plastic, Projective, Propagative, Routh, Sequential, Unilateral,
    };
    let free_of_allocations = |name: &str, law: feet::Law, restitution: f64, most: usize| {
        for (count, tilt) in [(1, 0.0), (2, 0.0), (2, 0.05), (3, 0.05)] {
            if count > most {
                continue;
            }
            let feet = feet::Feet::new(count, restitution);
            let cost = feet::cost_of_impacts(feet, law.clone(), tilt);
            let found = cost.allocations;
            assert_eq!(found, 0, "{name}, {count} feet, tilt {tilt}: {cost:?}");
        }
    };
    for (name, law, restitution, most) in [
        ("plastic", Arc::new(Plastic) as feet::Law, 0.0, 2),
        ("projective", Arc::new(Projective::new()), 0.5, 3),
        ("unilateral", Arc::new(Unilateral), 0.5, 3),
        ("unilateral, plastic", Arc::new(Unilateral), 0.0, 2),
        ("propagative", Arc::new(Propagative::default()), 0.5, 3),
        ("elastic", Arc::new(Propagative::default()), 1.0, 3),
        ("sequential", Arc::new(Sequential::new()), 0.5, 3),
        ("Anitescu-Potra", Arc::new(AnitescuPotra::new()), 0.0, 2),
        ("Routh", Arc::new(Routh::new()), 0.0, 1),
    ] {
        free_of_allocations(name, law, restitution, most);
    }
}

/// Counts the allocations between events, from the second half of a run on.
#[derive(Default)]
struct Between {
    from: f64,
    before: Option<usize>,
    events: usize,
    found: usize,
}

impl Observer for Between {
    fn contacts(&mut self, event: &ContactEvent) {
        let now = allocations::so_far();
        if event.t < self.from {
            return;
        }
        self.found += now - self.before.unwrap_or(now);
        self.events += 1;
        self.before = Some(now);
    }
}

/// Bounces of a ball, and strides of a trot, by the driver with its policies and its log.
#[test]
fn bounces_and_strides_allocate_nothing() {
    fn check<S: MechanicalSystem + UnilateralConstraints>(
        name: &str,
        model: ContactModel<S>,
        start: &Start<'_>,
        [from, tf]: [f64; 2],
    ) {
        let mut driver = EventDriven::new(model).unwrap().rtol(1e-8);
        let mut between = Between {
            from,
            ..Between::default()
        };
        let run = driver.observe(start, tf, &mut between).unwrap();
        assert_eq!(run.status, Status::ReachedEnd, "{name}");
        let Between { events, found, .. } = between;
        assert!(events > 3, "{name}: {events} events");
        assert_eq!(found, 0, "{name}: {events} events");
    }
    let ball = BouncingBall {
        restitution: 0.95,
        ..BouncingBall::default()
    };
    let start = Start::at(0.0).q(&[1.0]).v(&[0.0]);
    check("ball", ContactModel::new(ball), &start, [2.0, 8.0]);
    let trot = SoftTrot::default();
    let (q, v) = trot.start(0.01);
    let start = Start::at(0.0).q(&q).v(&v);
    check("trot", ContactModel::new(trot), &start, [0.7, 3.0]);
}

/// Samples of impacts with friction: by Lemke's method, by a dictionary, in space with a round
/// cone, and with restitution.
#[test]
fn samples_of_impacts_allocate_nothing() {
    use saltation::impact::{BoundLaw, ImpactProblem, LcpSteps, SolutionRule};
    let cover = SolutionRule::LemkeRandomCover { spread: 10.0 };
    let mut index = 0;
    let foot = contacts::Contacts::foot(3, &mut || {
        index += 1;
        (0.6180339887498949 * f64::from(index)).fract()
    });
    let block = contacts::Contacts::block(1.0);
    for (contacts, steps) in [
        (&block, LcpSteps::new(0.3)),
        (&block, LcpSteps::new(0.3).law(BoundLaw::Faces).rule(cover)),
        #[cfg(feature = "sobol")]
        (&block, LcpSteps::new(0.3).law(BoundLaw::Sobol).rule(cover)),
        (&block, LcpSteps::new(0.3).dictionary(20)),
        (&foot, LcpSteps::new(0.5).round_cone()),
    ] {
        let problem = ImpactProblem::with_tangents(
            contacts.delassus.clone(),
            contacts.speeds.clone(),
            &contacts.friction,
        )
        .unwrap();
        let rows = problem.speeds().len();
        let (mut u, mut p) = (vec![0.0; rows], vec![0.0; rows]);
        let mut simulation = steps.start(&problem).unwrap();
        let mut made = 0;
        simulation.simulate(0, &mut u, &mut p).unwrap();
        let found = allocations(|| {
            for sample in 0..50 {
                made += simulation.simulate(sample, &mut u, &mut p).unwrap().steps;
            }
        });
        assert_eq!(found, 0);
        assert!(made >= 50);
    }
    let problem = ImpactProblem::with_tangents(
        block.delassus.clone(),
        block.speeds.clone(),
        &block.friction,
    );
    let problem = problem.unwrap().with_restitution(0.5).unwrap();
    let mut simulation = LcpSteps::new(0.1).start_energetic(&problem).unwrap();
    let (mut u, mut p) = ([0.0; 4], [0.0; 4]);
    simulation.simulate(0, &mut u, &mut p).unwrap();
    assert_eq!(
        allocations(|| {
            simulation.simulate(1, &mut u, &mut p).unwrap();
        }),
        0
    );
}

/// Nor do samples without a step error, once each of these modes has been seen.
#[test]
fn event_exact_samples_allocate_nothing() {
    use saltation::impact::{EventExact, ImpactProblem};
    for mu in [1.0, 0.2, 0.0] {
        let block = contacts::Contacts::block(mu);
        let problem =
            ImpactProblem::with_tangents(block.delassus, block.speeds, &block.friction).unwrap();
        let mut simulation = EventExact::new(0.3).start(&problem).unwrap();
        let (mut u, mut p) = ([0.0; 4], [0.0; 4]);
        let mut run = || {
            let simulate = |sample| simulation.simulate(sample, &mut u, &mut p).unwrap().steps;
            (0..200).map(simulate).sum::<usize>()
        };
        assert!(run() > 200);
        assert_eq!(
            allocations(|| {
                run();
            }),
            0,
            "mu {mu}"
        );
    }
}

/// From the second run on: the first finds out how many stations its corners have.
fn assert_carries_without_allocating<S: Flow + EventFunction>(system: S, x0: &[f64], tf: f64) {
    let mut integrator = Integrator::new(system).unwrap();
    for count in [1, 5] {
        let mut tangents = Sensitivities::new(x0.len(), count);
        let directions: Vec<f64> = (0..x0.len() * count)
            .map(|i| (1.7 * i as f64).sin())
            .collect();
        tangents.set(&directions).unwrap();
        let mut run = || {
            let summary = integrator.carry(&Start::at(0.0).x(x0), tf, &mut tangents, &mut ());
            assert!(summary.is_ok_and(|s| s.status == Status::ReachedEnd));
            assert!(tangents.columns().is_ok());
        };
        run();
        assert_eq!(allocations(&mut run), 0);
    }
}

#[test]
fn directions_carried_along_do_not_allocate() {
    assert_carries_without_allocating(Hopper::default(), &[2.0, 0.0], 2.0);
    assert_carries_without_allocating(Affine::coupled(), &Affine::CORNER_START, 0.25);
    let shared = PlateParameters {
        shared_damping: true,
        ..PlateParameters::with_springs(5)
    };
    let plate = VerticalPlate::new(shared).unwrap();
    // Tilted, and level: all at once.
    assert_carries_without_allocating(&plate, &[0.0, 2.2, 0.05, 0.0, 0.0, 0.0], 2.0);
    assert_carries_without_allocating(&plate, &[0.0, 2.2, 0.0, 0.0, 0.0, 0.0], 0.9);
    // Without a Jacobian, without rows, with resets, with more guards than a word holds.
    let many = saltation::flow_fn(2, |_, x, mode, dx| {
        dx[0] = 1.0;
        dx[1] = x[0] * mode.count_ones() as f64;
    })
    .with_events(70, |k, _, x| x[0] - 0.01 * (k / 2) as f64);
    assert_carries_without_allocating(many, &[-0.1, 0.0], 1.0);
    assert_carries_without_allocating(Bouncing, &[1.0, 0.0], 1.5);
    // A corner with resets, of which the run misses the common point.
    assert_carries_without_allocating(Kicked, &[-0.5, 1e-10, 0.0], 1.0);
}

/// Two guards that are met almost at once, whose resets move what they do not see.
struct Kicked;

impl Flow for Kicked {
    fn dim(&self) -> usize {
        3
    }
    fn flow(&self, _t: f64, _x: &[f64], mode: &saltation::Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[1.0, 0.0, mode.count_ones() as f64]);
    }
}

impl EventFunction for Kicked {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &saltation::Mode) -> f64 {
        x[0] - k as f64 * x[1]
    }
    fn watch(&self, _k: usize) -> saltation::Watch {
        saltation::Watch::RISING
    }
    fn on_crossing(&self, crossing: &mut saltation::Crossing<'_>) -> Result<(), saltation::Stop> {
        crossing.x[2] += 0.5 * crossing.crossed.guards().len() as f64;
        Ok(())
    }
}

/// A ball whose reset has no derivative written.
struct Bouncing;

impl Flow for Bouncing {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &saltation::Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[x[1], -9.81]);
    }
}

impl EventFunction for Bouncing {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &saltation::Mode) -> f64 {
        x[0]
    }
    fn watch(&self, _k: usize) -> saltation::Watch {
        saltation::Watch::FALLING
    }
    fn on_crossing(&self, crossing: &mut saltation::Crossing<'_>) -> Result<(), saltation::Stop> {
        crossing.x[1] *= -0.8;
        Ok(())
    }
}

/// Ten masses that feel their neighbours, behind a curved wall.
#[cfg(feature = "dual")]
struct Row;

#[cfg(feature = "dual")]
impl saltation::mechanics::SmoothMechanics for Row {
    fn dof(&self) -> usize {
        10
    }
    fn mass<T: saltation::derivative::RealField + Copy>(&self, q: &[T], mass: &mut [T]) {
        mass.fill(T::zero());
        for i in 0..q.len() {
            mass[i * (q.len() + 1)] = T::one() + q[i] * q[(i + 1) % q.len()].cos().powi(2);
        }
    }
    fn effort<T: saltation::derivative::RealField + Copy>(
        &self,
        _t: T,
        q: &[T],
        _v: &[T],
        effort: &mut [T],
    ) {
        effort.copy_from_slice(q);
    }
}

#[cfg(feature = "dual")]
impl saltation::mechanics::SmoothConstraints for Row {
    fn contacts(&self) -> usize {
        1
    }
    fn gap<T: saltation::derivative::RealField + Copy>(&self, _j: usize, q: &[T]) -> T {
        q.iter().fold(T::one(), |sum, q| sum - *q * *q)
    }
}

#[cfg(feature = "dual")]
#[test]
fn duals_of_ten_coordinates_do_not_allocate() {
    use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
    let row = saltation::Dual(Row);
    let (q, v, mut out) = ([0.1; 10], [0.5; 10], [0.0; 10]);
    assert_eq!(
        allocations(|| {
            assert!(row.coriolis(&q, &v, &mut out) && out.iter().all(|f| *f != 0.0));
            assert!(row.gap_row(0, &q, &mut out) && row.curvature(0, &q, &v) == Some(-5.0));
        }),
        0
    );
}

/// Bodies that rest, slide and swing between events; an event allocates, a step does not.
#[test]
fn bodies_between_events_allocate_nothing() {
    use saltation::ContactModel;
    use saltation::models::{DoublePendulum, SoftTrot};
    // On both feet, the body going up and down; and leaning on a wall, with a mass matrix that
    // turns.
    let trot = ContactModel::new(SoftTrot::default());
    let wall = DoublePendulum {
        wall: 0.3,
        restitution: 0.0,
        ..DoublePendulum::default()
    };
    let wall = ContactModel::new(wall);
    let leaning = [0.15f64.asin(); 2];
    let cases: [(&dyn FlowAndEvents, saltation::event_driven::SettledStart); 2] = [
        (
            &trot,
            trot.start(&Start::at(0.0).q(&[0.85, 0.02, 0.0, 0.0]).v(&[0.0; 4]))
                .unwrap(),
        ),
        (
            &wall,
            wall.start(&Start::at(0.0).q(&leaning).v(&[0.0; 2]))
                .unwrap(),
        ),
    ];
    for (system, start) in cases {
        assert!(
            start.mode.flags().eq(start.touching.iter().copied()),
            "closed"
        );
        let count = start.state.len();
        let mut integrator = Integrator::new(system).unwrap();
        let mut tangents = Sensitivities::new(count, count);
        let unit: Vec<f64> = (0..count * count)
            .map(|i| f64::from(u8::from(i % (count + 1) == 0)))
            .collect();
        tangents.set(&unit).unwrap();
        let mut run = || {
            let plain = integrator.observe(&start.as_start(), 0.2, &mut ()).unwrap();
            assert!(plain.status == Status::ReachedEnd && plain.statistics.crossings == 0);
            let carried = integrator.carry(&start.as_start(), 0.2, &mut tangents, &mut ());
            assert!(carried.is_ok_and(|s| s.status == Status::ReachedEnd));
        };
        run();
        assert_eq!(allocations(&mut run), 0);
    }
}

/// Blocks that stick and that slip, with rows that are constant and with a pivot that turns.
#[test]
fn contacts_with_friction_between_events_allocate_nothing() {
    use saltation::ContactModel;
    use saltation::models::{RockingBlock, SlidingBlock};
    let sliding = |slope: f64| {
        let block = SlidingBlock {
            slope,
            restitution: 0.0,
            ..SlidingBlock::default()
        };
        ContactModel::new(block)
    };
    let rocking = RockingBlock::default();
    let (q, v) = rocking.pivoting(0.05, 0.0);
    let (resting, moving) = (sliding(0.1), sliding(0.0));
    let rocking = ContactModel::new(rocking);
    let slides = Start::at(0.0).q(&[0.0; 2]).v(&[5.0, 0.0]);
    let cases: [(&dyn FlowAndEvents, saltation::event_driven::SettledStart); 3] = [
        (
            &resting,
            resting
                .start(&Start::at(0.0).q(&[0.0; 2]).v(&[0.0; 2]))
                .unwrap(),
        ),
        (&moving, moving.start(&slides).unwrap()),
        (
            &rocking,
            rocking.start(&Start::at(0.0).q(&q).v(&v)).unwrap(),
        ),
    ];
    for (system, start) in cases {
        let mut integrator = Integrator::new(system).unwrap();
        let mut run = || {
            let plain = integrator.observe(&start.as_start(), 0.05, &mut ());
            let plain = plain.unwrap();
            assert!(plain.status == Status::ReachedEnd && plain.statistics.crossings == 0);
        };
        run();
        assert_eq!(allocations(&mut run), 0);
    }
}

/// Contacts filled anew: as many as before, fewer, in another order; rows written, by differences,
/// of several trees.
#[test]
fn contacts_are_refilled_without_allocating() {
    use saltation::mechanics::{ContactSet, ContactSource, Contacts, Wanted};
    use saltation::models::{DoublePendulum, SoftTrot};
    let (trot, pendulum) = (SoftTrot::default(), DoublePendulum::default());
    let cases: [(&dyn ContactSource, &[f64], &[usize]); 2] = [
        (&trot, &[0.85, 0.02, 0.0, 0.0], &[1, 0]),
        (&pendulum, &[0.4, -0.1], &[0]),
    ];
    for (source, q, contacts) in cases {
        let mut values = Contacts::new();
        let v = vec![0.5; q.len()];
        let wanted = Wanted {
            friction: true,
            slips_at: None,
            restitution_at: Some(&v),
            compliance: true,
        };
        let mut fill = |set: ContactSet<'_>| source.fill(q, set, wanted, &mut values).unwrap();
        fill(ContactSet::Within(f64::INFINITY));
        let refilled = allocations(|| {
            fill(ContactSet::Listed(contacts));
            fill(ContactSet::Within(0.01));
            fill(ContactSet::Within(f64::INFINITY));
        });
        assert_eq!(refilled, 0);
    }
}

/// Contacts of a pile of boxes, balls and capsules, found anew.
#[test]
fn contacts_of_scenes_are_found_without_allocating() {
    use saltation::bodies::{QueryMemory, Ray};
    use saltation::mechanics::{ContactSet, ContactSource, Contacts, Reach, Wanted};
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    let shapes = [
        Shape::cuboid([0.05; 3]).unwrap(),
        Shape::sphere(0.05).unwrap(),
        Shape::capsule(0.04, 0.05).unwrap(),
        Shape::cylinder(0.05, 0.05).unwrap(),
        Shape::cone(0.1, 0.05).unwrap(),
    ];
    for i in 0..60_u32 {
        let at = [i % 4, i / 4 % 4, i / 16].map(|k| 0.09 * (f64::from(k) + 0.5));
        let body = Body::new(shapes[i as usize % 5].clone()).position(at);
        scene.add(body.orientation([1.0, 0.1, 0.02, 0.3])).unwrap();
    }
    let (mut q, v) = scene.start();
    let mut contacts = Contacts::new();
    let wanted = Wanted {
        friction: true,
        slips_at: None,
        restitution_at: None,
        compliance: true,
    };
    let mut fill = |q: &[f64]| {
        let velocities = [&*v];
        let reachable = ContactSet::Reachable(Reach::new(&velocities, 0.01, 1e-3));
        for set in [ContactSet::Within(0.02), reachable] {
            scene.fill(q, set, wanted, &mut contacts).unwrap();
            assert!(contacts.len() > 100);
        }
    };
    fill(&q);
    let refilled = allocations(|| {
        for q in &mut q {
            *q *= 1.0 + 1e-4;
        }
        fill(&q);
    });
    assert_eq!(refilled, 0);
    let mut memory = QueryMemory::new();
    let (mut hits, mut distances, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
    let rays = [0.0, 0.1, 0.2].map(|x| Ray::new([x, 0.3, 1.0], [0.1, -0.2, -1.0]));
    let mut ask = |q: &[f64]| {
        let query = scene.query(q, &mut memory).unwrap();
        query.cast(&rays, &mut hits).unwrap();
        query
            .distances(&[[1, 2], [4, 5], [0, 3]], &mut distances)
            .unwrap();
        query.overlaps(30, &mut bodies).unwrap();
        assert!(hits[0].is_some() && !bodies.is_empty());
    };
    ask(&q);
    let again = allocations(|| ask(&q));
    assert_eq!(again, 0);
}

/// A pile that is shaken: Newton's method iterates, and islands join and part.
#[test]
fn steps_of_the_compliant_driver_allocate_nothing_once_sizes_have_settled() {
    // Without rolling friction, and with it.
    shake_a_pile(0.0);
    shake_a_pile(2e-3);
}

fn shake_a_pile(length: f64) {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    let cube = Shape::cuboid([0.05; 3]).unwrap();
    for i in 0..3 {
        for k in 0..3 {
            let at = [0.11 * f64::from(i), 0.0, 0.05 + 0.1 * f64::from(k)];
            let body = Body::new(cube.clone()).spinning_friction(length);
            let body = body.rolling_friction(0.5 * length);
            scene.add(body.position(at)).unwrap();
        }
    }
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene).unwrap().time_step(0.01);
    stepper.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
    let mut effort = vec![0.0; v.len()];
    let mut shake = |steps: std::ops::Range<u32>| {
        for k in steps {
            // Pushes the towers against each other and apart, in a rhythm of ten steps.
            let push = if k / 5 % 2 == 0 { 4.0 } else { -4.0 };
            for tower in 0..3 {
                effort[18 * tower + 15] = push * (1.0 - tower as f64);
            }
            stepper.step_with(&effort).unwrap();
        }
        stepper.statistics().iterations
    };
    let before = shake(0..200);
    let mut after = 0;
    let found = allocations(|| after = shake(200..300));
    assert!(after > before + 100, "{before} {after}");
    assert_eq!(found, 0);
}

/// A controller gives a motor a goal before each step; what is looked at for that does not allocate.
#[test]
fn goals_between_steps_allocate_nothing() {
    let mut scene = Scene::new();
    let body = Body::new(Shape::cuboid([0.1; 3]).unwrap());
    scene.add(body).unwrap();
    let (q, v) = scene.start();
    let up = [0.0, 0.0, 1.0];
    let slider = Joint::slider(
        Anchor::of(&scene, 0, [0.0; 3]).unwrap().along(up),
        Anchor::world([0.0; 3]).along(up),
    );
    let motor = Motor::new(slider.axis(JointAxis::AlongX)).gains(400.0, 20.0);
    let stepper = Compliant::new(scene).unwrap().term(motor).term(slider);
    let mut stepper = stepper.time_step(0.01);
    stepper.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
    let mut follow = |steps: std::ops::Range<u32>| {
        for k in steps {
            let motor = stepper.term_mut::<Motor>(0).unwrap();
            motor.set_goal(MotorGoal {
                position: 0.1 * (0.05 * f64::from(k)).sin(),
                ..MotorGoal::default()
            });
            stepper.step().unwrap();
        }
    };
    follow(0..50);
    assert_eq!(allocations(|| follow(50..100)), 0);
}

/// Towers that fall asleep, sleep, and wake by a push, again and again.
#[test]
fn steps_with_sleepers_allocate_nothing_once_sizes_have_settled() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    let cube = Shape::cuboid([0.05; 3]).unwrap();
    for i in 0..3 {
        for k in 0..2 {
            let at = [0.5 * f64::from(i), 0.0, 0.05 + 0.1 * f64::from(k)];
            scene.add(Body::new(cube.clone()).position(at)).unwrap();
        }
    }
    let (q, v) = scene.start();
    let held = Frozen::of(&scene, 1, &[JointAxis::AboutZ]).unwrap();
    let sleep = Sleep {
        speed: 0.01,
        time: 0.1,
    };
    let mut stepper = Compliant::new(scene)
        .unwrap()
        .time_step(0.01)
        .sleep(sleep)
        .term(held);
    stepper.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
    let mut effort = vec![0.0; v.len()];
    let mut push = |steps: std::ops::Range<usize>| {
        for k in steps {
            effort[12 * (k / 50 % 3) + 3] = if k % 50 < 3 { 1.0 } else { 0.0 };
            stepper.step_with(&effort).unwrap();
        }
        stepper.statistics().sleeping
    };
    let before = push(0..300);
    let mut after = 0;
    let found = allocations(|| after = push(300..600));
    let slept = after - before;
    assert!(slept > 900 && slept < 1700, "{slept}");
    assert_eq!(found, 0);
}

/// A chain of joints that is driven: hinges, a slider, a ball joint, with a motor, a gear, friction and a stop.
#[test]
fn steps_with_joints_allocate_nothing_once_sizes_have_settled() {
    let mut scene = Scene::new();
    let cube = Shape::cuboid([0.05; 3]).unwrap();
    for k in 0..4 {
        let at = [0.2 * f64::from(k), 0.0, 0.0];
        scene.add(Body::new(cube.clone()).position(at)).unwrap();
    }
    let (q, v) = scene.start();
    let left = |body: usize| Anchor::on(body, [-0.1, 0.0, 0.0]).along([0.0, 1.0, 0.0]);
    let right = |body: usize| Anchor::on(body, [0.1, 0.0, 0.0]).along([0.0, 1.0, 0.0]);
    let root = Joint::hinge(
        left(0),
        Anchor::world([-0.1, 0.0, 0.0]).along([0.0, 1.0, 0.0]),
    );
    let elbow = Joint::hinge(left(1), right(0));
    let slider = Joint::slider(left(2), right(1));
    let [at_root, at_elbow] = [root, elbow].map(|joint| joint.axis(JointAxis::AboutX));
    let at_slider = slider.axis(JointAxis::AlongX);
    let swing = Motor::new(at_root.clone())
        .gains(5.0, 1.0)
        .follow(|state| MotorGoal {
            position: (3.0 * state.t).sin(),
            ..MotorGoal::default()
        });
    let mut stepper = Compliant::new(scene)
        .unwrap()
        .time_step(0.01)
        .term(root)
        .term(elbow)
        .term(slider)
        .term(Joint::ball(left(3), right(2)))
        .term(swing)
        .term(JointCoupling::new(
            &[(at_root, 1.0), (at_elbow.clone(), -2.0)],
            0.0,
        ))
        .term(JointLimit::new(at_slider, -0.02, 0.02))
        .term(JointFriction::new(at_elbow, 0.1));
    stepper.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
    // Steps in which a stop is pressed.
    let mut make = |steps: usize| {
        let step = |_: &usize| {
            stepper.step().unwrap();
            stepper.term_impulses(6).unwrap().iter().any(|p| *p > 0.0)
        };
        (0..steps).filter(step).count()
    };
    make(100);
    let mut pressed = 0;
    let found = allocations(|| pressed = make(200));
    assert_eq!(found, 0);
    assert!(pressed > 0);
}

/// Rods that bounce, whose friction would let some blows gain energy.
#[test]
fn blows_of_the_compliant_driver_allocate_nothing_once_sizes_have_settled() {
    let mut scene = Scene::new();
    let ground = Body::fixed(Shape::plane()).friction(1.0).restitution(0.9);
    scene.add(ground).unwrap();
    for i in 0..3 {
        let rod = Body::new(Shape::capsule(0.2, 0.05).unwrap()).friction(1.0);
        let rod = rod.rolling_friction(1e-3 * f64::from(i));
        let lean = 0.3 + 0.3 * f64::from(i);
        let rod = rod.orientation([lean.cos(), lean.sin(), 0.0, 0.0]);
        let place = [0.25 * f64::from(i), 0.0, 0.5];
        scene.add(rod.position(place)).unwrap();
    }
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene).unwrap().time_step(2e-3);
    let start = Start::at(0.0).q(&q).v(&v);
    let run = |stepper: &mut Compliant<Scene>| {
        let mut blows = 0;
        for _ in 0..500 {
            let before = stepper.v()[5];
            stepper.step().unwrap();
            blows += usize::from(stepper.v()[5] > before);
        }
        blows
    };
    stepper.start(&start).unwrap();
    let before = run(&mut stepper);
    stepper.start(&start).unwrap();
    let mut after = 0;
    let found = allocations(|| after = run(&mut stepper));
    assert!(after > 2 && after == before, "{before} {after}");
    assert_eq!(found, 0);
}

/// Both halves of a hybrid system behind one reference.
trait FlowAndEvents: Flow + EventFunction {}
impl<S: Flow + EventFunction> FlowAndEvents for S {}

#[test]
fn steps_of_the_variational_driver_allocate_nothing_but_the_log() {
    let mut midpoint = Midpoint::new(DoublePendulum::default()).unwrap();
    let (mut q, mut p) = ([1.0, 0.5], [0.0; 2]);
    midpoint.step(0.0, 0.01, &mut q, &mut p).unwrap();
    let steps = || {
        for k in 0..100 {
            midpoint
                .step(0.01 * f64::from(k), 0.01, &mut q, &mut p)
                .unwrap();
        }
    };
    assert_eq!(allocations(steps), 0);
    // Runs without impacts, of different length: the lists of times and states grow by doubling.
    let pendulum = DoublePendulum {
        wall: -10.0,
        ..DoublePendulum::default()
    };
    let mut driver = Variational::new(ContactModel::new(pendulum))
        .unwrap()
        .time_step(0.001);
    let mut of = |tf: f64| {
        allocations(|| {
            driver
                .integrate(&Start::at(0.0).q(&[1.0, 0.5]).v(&[0.0; 2]), tf)
                .unwrap();
        })
    };
    let (short, long) = (of(0.1), of(6.4));
    // Six doublings of two lists.
    assert!(long <= short + 14, "{short} {long}");
}

#[test]
fn derivatives_of_a_contact_problem_allocate_nothing_the_second_time() {
    use saltation::compliant::{Problem, SolutionVariation, Solver, Variation};
    let mut problem = Problem::new(0.01).unwrap();
    let mass = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let rows = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let back = rows.map(|r: f64| -r);
    let mut contact = saltation::mechanics::ContactParameters::new(0, 0.0);
    contact.friction = 0.3;
    for tree in 0..4 {
        problem.add_tree(&mass, &[0.1, 0.2, -0.5]).unwrap();
        let blocks: [(usize, &[f64]); 2] = [(tree, &rows), (tree.saturating_sub(1), &back)];
        let blocks = if tree == 0 { &blocks[..1] } else { &blocks };
        problem.add_contact(&contact, blocks).unwrap();
    }
    // One that spins and rolls.
    let (mut six, about) = ([0.0; 18], [1.0, 0.5, 0.0, 0.0, 1.0, 0.5, 0.5, 0.0, 1.0]);
    six[..9].copy_from_slice(&rows);
    six[9..].copy_from_slice(&about);
    (contact.spinning_friction, contact.rolling_friction) = (0.1, 0.01);
    problem.add_contact(&contact, &[(0, &six)]).unwrap();
    problem.coulomb(&[0.0; 12]).unwrap();
    let mut solver = Solver::new();
    let (mut change, mut found) = (Variation::default(), SolutionVariation::default());
    let (mut weights, mut by_data) = (SolutionVariation::default(), Variation::default());
    let mut work = || {
        solver.solve(&problem, &[0.0; 12]).unwrap();
        change.reset(&problem);
        change.contacts[1].gap = 1.0;
        solver.derivative(&problem, &change, &mut found).unwrap();
        weights.reset(&problem);
        weights.v[0] = 1.0;
        solver.adjoint(&problem, &weights, &mut by_data).unwrap();
    };
    work();
    assert_eq!(allocations(&mut work), 0);
}
