//! What a run tells and keeps: the same bits on repetition, segments without gaps, continuous
//! output, honest statistics.

use saltation::models::{ContactChain, Hopper, NormalPlate, PlateParameters, VerticalPlate};
use saltation::{
    Arrival, EventFunction, Flow, GuardCrossing, Integrator, Mode, Observer, Projection, Run,
    Segment, Start, Statistics, Status,
};

use crate::fixtures::support::{Counting, distance, falling, run};

const PROJECTIONS: [Projection; 4] = [
    Projection::Auto,
    Projection::Off,
    Projection::horizon(2e-3, 3),
    Projection::horizon(1e-3, 1),
];

const TILTED: [f64; 6] = [0.1, 2.4, -0.03, 0.3, -0.5, 0.4];

fn vertical(springs: usize) -> VerticalPlate {
    VerticalPlate::new(PlateParameters::with_springs(springs)).unwrap()
}

fn normal(springs: usize) -> NormalPlate {
    NormalPlate::new(PlateParameters::with_springs(springs)).unwrap()
}

/// Everything that a run computed, with the bits of every number.
fn bits(trajectory: &Run) -> (Vec<u64>, Vec<u64>, String, Statistics) {
    let times = trajectory.times().iter().map(|t| t.to_bits()).collect();
    let states = trajectory.states().iter().map(|x| x.to_bits()).collect();
    // `{:?}` of an f64 tells any two values apart.
    let rest = format!(
        "{:?} {:?} {:?} {:?}",
        trajectory.status(),
        trajectory.crossings(),
        trajectory.corners(),
        trajectory.modes()
    );
    (times, states, rest, *trajectory.statistics())
}

fn repeats<const N: usize, S: Flow + EventFunction>(
    system: &S,
    start: &[f64; N],
    other: &[f64; N],
    tf: f64,
) {
    for projection in PROJECTIONS {
        let made = || {
            Integrator::new(system)
                .unwrap()
                .rtol(1e-7)
                .atol(1e-8)
                .projection(projection.clone())
        };
        let first = made().integrate(&Start::at(0.0).x(start), tf).unwrap();
        assert!(first.crossings().len() > 3);
        let again = made().integrate(&Start::at(0.0).x(start), tf).unwrap();
        assert_eq!(
            bits(&first),
            bits(&again),
            "{projection:?}: a second integrator"
        );

        let mut reused = made();
        let elsewhere = reused.integrate(&Start::at(0.25).x(other), tf).unwrap();
        assert_ne!(bits(&first), bits(&elsewhere));
        for _ in 0..2 {
            let after = reused.integrate(&Start::at(0.0).x(start), tf).unwrap();
            assert_eq!(
                bits(&first),
                bits(&after),
                "{projection:?}: a used integrator"
            );
        }

        let fixed = Integrator::fixed::<N>(system).unwrap();
        let fixed = fixed
            .rtol(1e-7)
            .atol(1e-8)
            .projection(projection.clone())
            .integrate(&Start::at(0.0).x(start), tf)
            .unwrap();
        assert_eq!(bits(&first), bits(&fixed), "{projection:?}: a fixed size");
    }
}

#[test]
fn every_bit_is_the_same_on_repetition() {
    repeats(&Hopper::default(), &[2.0, 0.0], &[1.5, 0.3], 5.0);
    repeats(&vertical(10), &TILTED, &[0.0, 2.2, 0.0, 0.0, 0.0, 0.0], 2.0);
    repeats(&normal(5), &TILTED, &[0.0, 2.2, 0.0, 0.0, 0.0, 0.0], 2.0);
    let chain = ContactChain::new(6).unwrap();
    let start: [f64; 12] = chain.start().try_into().unwrap();
    let mut other = start;
    other[0] += 0.01;
    repeats(&chain, &start, &other, 0.6);
}

#[test]
fn an_observer_that_keeps_nothing_changes_nothing() {
    for projection in PROJECTIONS {
        let plate = vertical(10);
        let mut integrator = Integrator::new(&plate).unwrap().projection(projection);
        let kept = integrator
            .integrate(&Start::at(0.0).x(&TILTED), 2.0)
            .unwrap();
        let summary = integrator
            .observe(&Start::at(0.0).x(&TILTED), 2.0, &mut ())
            .unwrap();
        assert_eq!(summary.status, *kept.status());
        assert_eq!(summary.statistics, *kept.statistics());
        assert_eq!(summary.t.to_bits(), kept.t().to_bits());
        assert_eq!(integrator.state(), kept.state().as_slice());
        assert_eq!(integrator.mode(), kept.mode());
    }
}

/// Checks the order of what it is told, and keeps the essence.
#[derive(Default)]
struct Witness {
    t: f64,
    state: Vec<f64>,
    mode: Mode,
    started: bool,
    segments: usize,
    projected: usize,
    crossings: usize,
    pending: usize,
    settled: usize,
}

impl Witness {
    fn near(&self, x: &[f64]) -> bool {
        // Two units in the last place of the time, below 4, at accelerations below 1000 m/s², and a
        // few of the state.
        x.iter()
            .zip(&self.state)
            .all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + a.abs() + b.abs()))
    }
}

impl Observer for Witness {
    fn start(&mut self, t: f64, state: &[f64], mode: &Mode) {
        assert!(!self.started, "one start");
        self.started = true;
        (self.t, self.state, self.mode) = (t, state.to_vec(), mode.clone());
    }

    fn segment(&mut self, segment: &Segment<'_>) {
        assert!(
            self.started && self.pending == 0,
            "crossings are settled first"
        );
        assert!(segment.t >= self.t, "segments come in order of time");
        assert_eq!(
            *segment.mode, self.mode,
            "a segment is in the mode that was settled"
        );
        let mut x = vec![0.0; self.state.len()];
        segment.interpolant.at(self.t, &mut x);
        assert!(
            self.near(&x),
            "no gap at {}: {x:?} {:?}",
            self.t,
            self.state
        );
        segment.interpolant.at(segment.t, &mut x);
        (self.t, self.state) = (segment.t, segment.state.to_vec());
        assert!(
            self.near(&x),
            "the end at {}: {x:?} {:?}",
            self.t,
            self.state
        );
        self.segments += 1;
        self.projected += usize::from(segment.projected);
    }

    fn crossing(&mut self, crossing: &GuardCrossing) {
        assert!(self.started);
        assert_eq!(
            crossing.t.to_bits(),
            self.t.to_bits(),
            "a crossing is at the end of a segment"
        );
        assert_eq!(crossing.state.as_slice(), self.state);
        let sign = crossing.guard.sign();
        assert!(
            sign * crossing.rate_before >= crossing.min_rate
                && sign * crossing.rate_after >= crossing.min_rate
        );
        assert_ne!(crossing.arrival, Arrival::Jumped, "nothing jumps here");
        assert_ne!(
            self.mode.contains(crossing.guard.event),
            crossing.guard.side_after()
        );
        self.mode
            .set(crossing.guard.event, crossing.guard.side_after());
        self.crossings += 1;
        self.pending += 1;
    }

    fn settled(&mut self, t: f64, state: &[f64], mode: &Mode) {
        assert!(self.pending > 0, "something was crossed");
        assert_eq!(t.to_bits(), self.t.to_bits());
        assert_eq!(state, self.state, "no resets here");
        assert_eq!(*mode, self.mode, "the sides that were crossed and no other");
        self.pending = 0;
        self.settled += 1;
    }
}

fn is_told_in_order<S: Flow + EventFunction>(system: &S, start: &[f64], tf: f64) {
    for projection in PROJECTIONS {
        let mut integrator = Integrator::new(system)
            .unwrap()
            .rtol(1e-7)
            .projection(projection.clone());
        let kept = integrator
            .integrate(&Start::at(0.5).x(start), 0.5 + tf)
            .unwrap();
        let mut witness = Witness::default();
        let summary = integrator
            .observe(&Start::at(0.5).x(start), 0.5 + tf, &mut witness)
            .unwrap();
        assert_eq!(summary.status, Status::ReachedEnd);
        assert_eq!(witness.t.to_bits(), (0.5 + tf).to_bits());
        assert_eq!(witness.state, kept.state().as_slice());
        assert_eq!(witness.mode, *kept.mode());
        assert_eq!(
            witness.segments + 1,
            kept.times().len(),
            "one node a segment, and the start"
        );
        assert_eq!(witness.crossings, kept.crossings().len());
        assert!(witness.crossings > 3 && witness.pending == 0);
        assert_eq!(witness.settled + 1, kept.modes().len());
        let statistics = kept.statistics();
        assert_eq!(witness.projected, statistics.projections);
        assert_eq!(witness.crossings, statistics.crossings);
        if projection == Projection::Off {
            assert_eq!(witness.projected, 0);
        } else {
            assert!(witness.projected > 0, "{projection:?}");
        }
        let arrived = |arrival| {
            kept.crossings()
                .iter()
                .filter(|c| c.arrival == arrival)
                .count()
        };
        assert!(arrived(Arrival::Projected) >= witness.projected);
        assert!(kept.times().is_sorted());
    }
}

#[test]
fn segments_have_no_gaps_and_crossings_come_between_them() {
    is_told_in_order(&vertical(10), &TILTED, 2.0);
    is_told_in_order(&normal(5), &TILTED, 2.0);
    let chain = ContactChain::default();
    is_told_in_order(&chain, &chain.start(), 0.6);
}

#[test]
fn dense_output_is_continuous_and_passes_through_the_nodes() {
    for projection in PROJECTIONS {
        let trajectory = run(vertical(10), 1e-8, projection.clone(), &TILTED, 2.0);
        for (t, x) in trajectory.nodes() {
            assert_eq!(trajectory.state_at(t).unwrap(), x);
        }
        // Speeds stay below 8 m/s and accelerations below 400 (L0 − z) + 4 < 400 m/s².
        for pair in trajectory.times().windows(2) {
            let gap = (1e-3 * (pair[1] - pair[0])).min(1e-9);
            let [before, after] = [pair[1] - gap, pair[1]].map(|t| trajectory.state_at(t).unwrap());
            let jump = distance(&before, after.as_slice());
            assert!(
                jump <= 400.0 * gap + 1e-13,
                "{projection:?}: {jump:e} at {}",
                pair[1]
            );
        }
    }
}

#[test]
fn dense_output_is_as_good_as_the_nodes() {
    // Against a run that is a thousand times finer.
    let fine = run(vertical(10), 1e-12, Projection::Off, &TILTED, 2.0);
    for projection in [Projection::Auto, Projection::Off] {
        let trajectory = run(vertical(10), 1e-9, projection.clone(), &TILTED, 2.0);
        let error = |t: f64| {
            distance(
                &trajectory.state_at(t).unwrap(),
                fine.state_at(t).unwrap().as_slice(),
            )
        };
        let at_nodes = trajectory
            .times()
            .iter()
            .map(|&t| error(t))
            .fold(0.0, f64::max);
        let between = (0..=2000)
            .map(|i| error(f64::from(i) * 1e-3))
            .fold(0.0, f64::max);
        assert!(
            at_nodes > 0.0 && between < 10.0 * at_nodes,
            "{projection:?}: {between:e} {at_nodes:e}"
        );
    }
}

fn counts_honestly<S: Flow + EventFunction>(system: S, start: &[f64], tf: f64) {
    let counting = Counting::new(system);
    for projection in PROJECTIONS {
        for calls in [
            &counting.flow,
            &counting.flip,
            &counting.event,
            &counting.events,
            &counting.gradient,
        ] {
            calls.set(0);
        }
        counting.on_crossing.set(0);
        let trajectory = run(&counting, 1e-6, projection.clone(), start, tf);
        assert_eq!(*trajectory.status(), Status::ReachedEnd);
        let statistics = trajectory.statistics();
        let counted = [
            &counting.flow,
            &counting.flip,
            &counting.events,
            &counting.event,
            &counting.gradient,
        ];
        let reported = [
            statistics.flow,
            statistics.flip,
            statistics.events,
            statistics.event,
            statistics.gradient,
        ];
        assert_eq!(
            counted.map(std::cell::Cell::get),
            reported,
            "{projection:?}: f, flip, h, h_k, Dh_k"
        );

        assert_eq!(statistics.crossings, trajectory.crossings().len());
        assert_eq!(statistics.resets, 0);
        let arrived = |arrival| {
            trajectory
                .crossings()
                .iter()
                .filter(|c| c.arrival == arrival)
                .count()
        };
        assert!(statistics.locations >= trajectory.modes().len() - 1 - statistics.projections);
        assert!(statistics.steps > 0 && statistics.flow >= 6 * statistics.steps);
        if projection == Projection::Off {
            assert_eq!(
                (statistics.projections, arrived(Arrival::Projected)),
                (0, 0)
            );
        }
        // One call of the reset for each set of guards.
        assert_eq!(counting.on_crossing.get(), trajectory.modes().len() - 1);
    }
}

#[test]
fn statistics_are_what_was_called() {
    counts_honestly(Hopper::default(), &[2.0, 0.0], 5.0);
    counts_honestly(vertical(10), &TILTED, 2.0);
    counts_honestly(vertical(10), &[0.0, 2.2, 0.0, 0.0, 0.0, 0.0], 2.0);
    counts_honestly(normal(5), &TILTED, 2.0);
    counts_honestly(
        ContactChain::new(5).unwrap(),
        &ContactChain::new(5).unwrap().start(),
        0.6,
    );
}

#[test]
fn a_plain_equation_costs_six_evaluations_a_step() {
    let counting = Counting::new(falling(9.81));
    let trajectory = run(&counting, 1e-8, Projection::Auto, &[1.0, 0.0], 1.0);
    let statistics = trajectory.statistics();
    // The first stage once, one more for the first step size.
    assert_eq!(
        statistics.flow,
        6 * (statistics.steps + statistics.rejections) + 2
    );
    assert_eq!(counting.flow.get(), statistics.flow);
}

#[test]
fn no_step_is_longer_than_the_largest_and_the_first_is_as_wished() {
    for projection in PROJECTIONS {
        let made = || {
            Integrator::new(Hopper::default())
                .unwrap()
                .projection(projection.clone())
        };
        let trajectory = made()
            .max_step(0.05)
            .first_step(0.01)
            .integrate(&Start::at(0.0).x(&[2.0, 0.0]), 2.0)
            .unwrap();
        let steps: Vec<f64> = trajectory
            .times()
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .collect();
        assert!(
            (steps[0] - 0.01).abs() < 1e-15,
            "{projection:?}: {}",
            steps[0]
        );
        assert!(
            steps.iter().all(|&step| step <= 0.05 * (1.0 + 1e-12)),
            "{projection:?}"
        );
        let trajectory = made()
            .fixed_step(0.01)
            .integrate(&Start::at(0.0).x(&[2.0, 0.0]), 0.44)
            .unwrap();
        assert_eq!(trajectory.times().len(), 45, "{projection:?}");
        for (i, t) in trajectory.times().iter().enumerate() {
            assert!((t - 0.01 * i as f64).abs() < 1e-14);
        }
    }
}

#[test]
fn the_corner_tolerance_groups_the_report_and_moves_nothing() {
    let plate = vertical(10);
    let grouped = |tolerance: f64| {
        let mut integrator = Integrator::new(&plate).unwrap().corner_tolerance(tolerance);
        integrator
            .integrate(&Start::at(0.0).x(&[0.0, 2.2, 1e-9, 0.0, 0.0, 0.0]), 0.6)
            .unwrap()
    };
    let (apart, together) = (grouped(0.0), grouped(1e-6));
    assert_eq!(apart.state(), together.state());
    assert_eq!(apart.crossings(), together.crossings());
    let [corner] = together.corners() else {
        panic!("{:?}", together.corners());
    };
    assert!(
        corner.order.len() == 10 && corner.first == 0 && (corner.tolerance - 1e-6).abs() < 1e-20
    );
    assert!(corner.spread > 0.0 && corner.spread <= 1e-6);
    assert!(
        apart
            .corners()
            .iter()
            .all(|corner| corner.spread == 0.0 && corner.order.len() < 10)
    );
    for (guard, crossing) in corner.order.iter().zip(together.crossings()) {
        assert_eq!(*guard, crossing.guard);
    }
    for (margin, crossing) in corner.margins.iter().zip(together.crossings()) {
        assert!(*margin >= 1.0 && (margin - crossing.margin()).abs() < 1e-9 * margin);
    }
}

#[test]
fn a_guard_that_comes_a_second_time_begins_another_corner() {
    // Touch-down and lift-off of all springs within the tolerance: two corners, not one.
    let mut integrator = Integrator::new(vertical(10)).unwrap().corner_tolerance(0.5);
    let trajectory = integrator
        .integrate(&Start::at(0.0).x(&[0.0, 2.2, 0.0, 0.0, 0.0, 0.0]), 1.0)
        .unwrap();
    assert_eq!(trajectory.crossings().len(), 20);
    let [down, up] = trajectory.corners() else {
        panic!("{:?}", trajectory.corners());
    };
    assert_eq!((down.first, down.order.len()), (0, 10));
    assert_eq!((up.first, up.order.len()), (10, 10));
    assert!(
        (down.t - 0.494619366829).abs() < 1e-5 && (up.t - down.t - 0.168334101832).abs() < 1e-5
    );
    // One guard alone is no corner, however often it comes.
    let mut integrator = Integrator::new(Hopper::default())
        .unwrap()
        .corner_tolerance(1.0);
    let hops = integrator
        .integrate(&Start::at(0.0).x(&[2.0, 0.0]), 3.0)
        .unwrap();
    assert!(hops.crossings().len() == 6 && hops.corners().is_empty());
}
