//! Properties that hold for every system: numbering, splitting in time, energy, no crossing lost.

use proptest::prelude::*;
use saltation::models::{ContactChain, FieldTable, Hopper, PlateParameters, VerticalPlate};
use saltation::{EventFunction, Flow, Integrator, Projection, Run, Start, Status, flow_fn};

use crate::fixtures::support::{Permuted, SplitMix64, distance, run};
use crate::random_corners::CornerProblem;

fn cases() -> ProptestConfig {
    ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn projections() -> impl Strategy<Value = Projection> {
    prop_oneof![
        Just(Projection::Auto),
        Just(Projection::Off),
        (1e-4..1e-2f64).prop_map(|tau| Projection::horizon(tau, 4)),
    ]
}

/// A random table, its start and its end: guards near one point, or up to 0.02 off it.
fn tables() -> impl Strategy<Value = (FieldTable, Vec<f64>, f64)> {
    (
        1..=5usize,
        any::<u64>(),
        prop_oneof![Just(0.0), Just(1e-12), Just(1e-6), Just(2e-2)],
    )
        .prop_map(|(n, seed, size)| {
            let mut random = SplitMix64(seed);
            let problem = CornerProblem::random(n, &mut random).moved(size, &mut random);
            (problem.table(), problem.start.clone(), problem.end())
        })
}

fn ended<S: Flow + EventFunction>(
    system: S,
    projection: Projection,
    start: &[f64],
    tf: f64,
) -> Run {
    let trajectory = run(system, 1e-9, projection, start, tf);
    assert_eq!(*trajectory.status(), Status::ReachedEnd);
    assert_eq!(trajectory.t().to_bits(), tf.to_bits());
    trajectory
}

/// The mode at the end is the word of the signs of the event functions, where these are not zero.
fn mode_is_where_the_state_is<S: EventFunction>(
    system: &S,
    trajectory: &Run,
) -> Result<(), TestCaseError> {
    let mode = trajectory.mode();
    for k in 0..system.count() {
        let h = system.event(k, trajectory.t(), trajectory.state().as_slice(), mode);
        prop_assert!(
            h.abs() < 1e-9 || mode.contains(k) == (h > 0.0),
            "guard {}: h = {:e}",
            k,
            h
        );
    }
    Ok(())
}

/// Undamped: kinetic, gravity and spring energy [J], and its slopes in height and velocity.
fn energy(hopper: &Hopper, x: &[f64]) -> (f64, [f64; 2]) {
    let compression = (hopper.rest_length - x[0]).max(0.0);
    let kinetic = 0.5 * hopper.mass * x[1] * x[1];
    let stored =
        hopper.mass * hopper.gravity * x[0] + 0.5 * hopper.stiffness * compression * compression;
    let force = hopper.mass * hopper.gravity - hopper.stiffness * compression;
    (kinetic + stored, [force.abs(), hopper.mass * x[1].abs()])
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn the_numbering_of_guards_does_not_matter(
        (table, start, end) in tables(), projection in projections(), seed: u64,
    ) {
        let plain = ended(&table, projection.clone(), &start, end);
        let order = SplitMix64(seed).permutation(table.count());
        let other = ended(Permuted::new(&table, order), projection, &start, end);
        prop_assert!(distance(plain.state(), other.state().as_slice()) < 1e-10);
        prop_assert_eq!(plain.crossings().len(), other.crossings().len());
    }

    #[test]
    fn a_run_may_be_interrupted_anywhere((table, start, end) in tables(), projection in projections(), part in 0.0..1.0f64) {
        let whole = ended(&table, projection.clone(), &start, end);
        let first = ended(&table, projection.clone(), &start, part * end);
        let mut second = Integrator::new(&table).unwrap().projection(projection);
        let second = second.integrate(&first.end(), end).unwrap();
        prop_assert_eq!(second.status(), &Status::ReachedEnd);
        prop_assert!(distance(whole.state(), second.state().as_slice()) < 1e-9);
        prop_assert_eq!(whole.mode(), second.mode());
        prop_assert_eq!(whole.crossings().len(), first.crossings().len() + second.crossings().len());
    }

    #[test]
    fn a_hopper_may_be_interrupted_anywhere(
        z0 in 1.1..3.0f64, part in 0.0..1.0f64, automatic: bool,
    ) {
        // At 1e-12, 1e-10 at the end by the law of tolerance proportionality from 1e-8 at 1e-10.
        let projection = if automatic { Projection::Auto } else { Projection::Off };
        let hopper = Hopper::default();
        let made = || Integrator::new(hopper).unwrap().rtol(1e-12).atol(1e-13).projection(projection.clone());
        let whole = made().integrate(&Start::at(0.0).x(&[z0, 0.0]), 2.0).unwrap();
        let split = 2.0 * part;
        let first = made().integrate(&Start::at(0.0).x(&[z0, 0.0]), split).unwrap();
        let second = made().integrate(&first.end(), 2.0).unwrap();
        prop_assert!(distance(whole.state(), second.state().as_slice()) < 1e-9);
        prop_assert_eq!(whole.crossings().len(), first.crossings().len() + second.crossings().len());
    }

    #[test]
    fn an_undamped_hopper_keeps_its_energy(
        stiffness in 50.0..2000.0f64, mass in 0.5..4.0f64, z0 in 1.05..3.0f64, projection in prop_oneof![Just(Projection::Auto), Just(Projection::Off)],
    ) {
        let hopper = Hopper { stiffness, mass, ..Hopper::default() };
        let trajectory = run(hopper, 1e-10, projection, &[z0, 0.0], 3.0);
        prop_assert_eq!(trajectory.status(), &Status::ReachedEnd);
        let (start, _) = energy(&hopper, &[z0, 0.0]);
        // The exact flow keeps the energy, so its errors are those of the single steps, added up:
        // each at most the tolerance of both states, times the root of 2 of the norm, times the
        // slopes of the energy.
        let (mut most, mut size) = ([0.0f64; 2], [0.0f64; 2]);
        for (_, x) in trajectory.nodes() {
            let (_, slopes) = energy(&hopper, x.as_slice());
            for i in 0..2 {
                most[i] = most[i].max(slopes[i]);
                size[i] = size[i].max(x[i].abs());
            }
        }
        let each: f64 = (0..2).map(|i| most[i] * (1e-11 + 1e-10 * size[i])).sum();
        let allowed = 2f64.sqrt() * each * trajectory.times().len() as f64;
        for (t, x) in trajectory.nodes() {
            let (now, _) = energy(&hopper, x.as_slice());
            prop_assert!((now - start).abs() < allowed, "{:e} of {:e} J at t = {}", now - start, allowed, t);
        }
    }

    #[test]
    fn the_unit_of_a_guard_does_not_matter(z0 in 1.05..3.0f64, power in -16..=16i32, projection in projections()) {
        // A power of two changes no digit: the runs are the same, bit for bit.
        let hop = |unit: f64| {
            let hopper = flow_fn(2, |_, x, mode, dx| {
                dx[0] = x[1];
                dx[1] = if mode.contains(0) { 400.0 * (1.0 - x[0]) - 9.81 } else { -9.81 };
            });
            ended(hopper.with_events(1, move |_, _, x| unit * (1.0 - x[0])), projection.clone(), &[z0, 0.0], 2.0)
        };
        let (plain, other) = (hop(1.0), hop(2f64.powi(power)));
        prop_assert_eq!(plain.times(), other.times());
        prop_assert_eq!(plain.states(), other.states());
        prop_assert!(plain.crossings().len() >= 2);
    }

    #[test]
    fn no_crossing_of_a_table_is_lost((table, start, end) in tables(), projection in projections(), part in 0.0..1.0f64) {
        mode_is_where_the_state_is(&table, &ended(&table, projection, &start, part * end))?;
    }

    #[test]
    fn no_crossing_of_a_hopper_is_lost(z0 in 1.05..3.0f64, tf in 0.1..6.0f64, projection in projections()) {
        let hopper = Hopper::default();
        mode_is_where_the_state_is(&hopper, &ended(hopper, projection, &[z0, 0.0], tf))?;
    }

    #[test]
    fn no_crossing_of_a_chain_is_lost(masses in 2..8usize, stagger in 0.0..0.02f64, tf in 0.2..0.8f64, projection in projections()) {
        let mut chain = ContactChain::new(masses).unwrap();
        chain.stagger = stagger;
        mode_is_where_the_state_is(&chain, &ended(&chain, projection, &chain.start(), tf))?;
    }
}

/// What an integrator was set to before, and ran with, leaves nothing behind: a run is that of a new
/// one, bit for bit.
#[test]
fn earlier_settings_leave_nothing_behind() {
    let plate = VerticalPlate::new(PlateParameters::with_springs(10)).unwrap();
    let projections = [
        Projection::eps(0.01, 3),
        Projection::Auto,
        Projection::Off,
        Projection::horizon(1e-3, 3),
    ];
    let run = |integrator: &mut Integrator<VerticalPlate>, start: u64| {
        let start = PlateParameters::random_start(start);
        let run = integrator
            .integrate(&Start::at(0.0).x(&start), 2.0)
            .unwrap();
        let bits: Vec<u64> = run.state().iter().map(|x| x.to_bits()).collect();
        (bits, *run.statistics(), run.doubts().to_vec())
    };
    for (i, before) in projections.iter().enumerate() {
        for (j, after) in projections.iter().enumerate() {
            let start = (4 * i + j) as u64;
            let fresh = || Integrator::new(plate.clone()).unwrap();
            let expected = run(&mut fresh().projection(after.clone()), start);
            let mut used = fresh().projection(before.clone());
            run(&mut used, start + 100);
            let mut used = used.projection(after.clone());
            assert_eq!(run(&mut used, start), expected, "{before:?}, {after:?}");
        }
    }
}
