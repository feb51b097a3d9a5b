//! A block that rocks: landings in geometric sequence, and rest on both corners under every policy.

use saltation::derivative::Verdict;
use saltation::event_driven::{Breakdown, ContactEvent, ContactEventKind, Zeno};
use saltation::impact::Sequential;
use saltation::mechanics::UnilateralConstraints;
use saltation::models::RigidTrot;
use saltation::{ContactModel, EventDriven, Run};
use saltation::{Integrator, Start, Status};

fn block() -> RigidTrot {
    RigidTrot::block(2.0, 0.1, 0.3)
}

fn rocking(policy: Zeno) -> EventDriven<RigidTrot> {
    EventDriven::new(ContactModel::new(block()))
        .unwrap()
        .rtol(1e-11)
        .atol(1e-12)
        .zeno(policy)
}

#[test]
fn each_landing_keeps_the_rocking_ratio_of_the_pitch_rate() {
    let (block, tilt) = (block(), 0.1f64);
    let (q, v) = block.tilted(tilt);
    let run = rocking(Zeno::StopAt)
        .integrate(&Start::at(0.0).q(&q).v(&v), 5.0)
        .unwrap();
    // The first landing, from the height that the centre has lost: ½ (I + m w²) θ̇² = m g Δz.
    let lever = block.mass * block.half_length * block.half_length;
    let lost = block.mass * block.gravity * (q[0] - block.leg);
    let mut rate = (2.0 * lost / (block.inertia + lever)).sqrt();
    // At last the old corner lifts by less than gaps can tell, and stays.
    let lifts = |event: &&ContactEvent| event.mode_after.len() == 1;
    for (k, event) in run.events().iter().take_while(lifts).enumerate() {
        // From one corner to the other: the old one lifts as the new one closes.
        let (old, new) = (k % 2, (k + 1) % 2);
        assert_eq!(
            (&event.mode_before[..], &event.mode_after[..]),
            (&[old][..], &[new][..])
        );
        let [before, after] = [&event.state_before, &event.state_after].map(|s| s[3].abs());
        // Gaps are differences of heights near 0.3 m, rounded to 1e-16 m: a landing at 2 w θ̇ is
        // early or late by that, and the pitch rate changes by g (1 − ρ)/2w in the meantime.
        let early = 2e-16 / (0.2 * rate) * 9.81 * (1.0 - block.rocking_ratio()) / 0.2;
        assert!(
            (before - rate).abs() < 1e-10 + early,
            "{k}: {before} {rate}"
        );
        rate = block.rocking_ratio() * before;
        // The speed of the closed corner is zero to the tolerance of the run.
        assert!((after - rate).abs() < 1e-10);
    }
    assert!(run.events().iter().filter(lifts).count() > 12);
}

#[test]
fn the_accumulation_is_named_stopped_at_or_absorbed() {
    let (q, v) = block().tilted(0.1);
    let refused = rocking(Zeno::Error)
        .integrate(&Start::at(0.0).q(&q).v(&v), 5.0)
        .unwrap();
    let Some(Breakdown::Zeno {
        accumulation,
        contacts,
        ratio,
        ..
    }) = refused.status().reason::<Breakdown>()
    else {
        panic!("{}", refused.status());
    };
    // A corner lands every other time.
    let rho = block().rocking_ratio();
    assert!(
        (ratio - rho * rho).abs() < 1e-4 && contacts == &[0, 1],
        "{ratio} {contacts:?}"
    );

    let stopped = rocking(Zeno::StopAt)
        .integrate(&Start::at(0.0).q(&q).v(&v), 5.0)
        .unwrap();
    assert_eq!(*stopped.status(), Status::Ended);
    assert!((stopped.t() - accumulation).abs() < 1e-9);

    let absorbed = rocking(Zeno::Absorb)
        .integrate(&Start::at(0.0).q(&q).v(&v), 100.0)
        .unwrap();
    assert_eq!(*absorbed.status(), Status::ReachedEnd);
    let last = absorbed.events().last().unwrap();
    assert_eq!(
        (last.kind, &last.mode_after[..]),
        (ContactEventKind::ZenoAbsorbed, &[0, 1][..])
    );
    let [height, theta] = [0, 1].map(|i| absorbed.state()[i]);
    assert!(
        (height - block().leg).abs() < 1e-9 && theta.abs() < 1e-9,
        "{height} {theta}"
    );
}

#[test]
fn a_flat_block_stays_after_its_first_landing() {
    let flat = RigidTrot::block(2.0, 0.3, 0.1);
    assert!(flat.rocking_ratio() < 0.0);
    let (q, v) = flat.tilted(-0.1);
    let mut simulation = EventDriven::new(ContactModel::new(flat))
        .unwrap()
        .rtol(1e-10)
        .atol(1e-11);
    let run = simulation
        .integrate(&Start::at(0.0).q(&q).v(&v), 5.0)
        .unwrap();
    let closed: Vec<_> = run.phases().into_iter().map(|mode| mode.closed).collect();
    assert_eq!(closed, [vec![1], vec![0, 1]]);
    assert_eq!(*run.status(), Status::ReachedEnd);
}

/// A corner that lifts has drifted by the tolerance of the run: it must not count as one that
/// lands.
#[test]
fn corners_land_in_turn_whatever_the_tolerance() {
    let (q, v) = block().tilted(0.1);
    for rtol in [1e-5, 1e-6, 1e-8, 1e-10, 1e-12] {
        let mut simulation = rocking(Zeno::Absorb).rtol(rtol).atol(0.1 * rtol);
        let run = simulation
            .integrate(&Start::at(0.0).q(&q).v(&v), 5.0)
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{rtol}");
        let (_, landings) = run.events().split_last().unwrap();
        assert!(landings.len() > 12);
        for (k, event) in landings.iter().enumerate() {
            assert_eq!(event.activated, [(k + 1) % 2], "{rtol} {k}");
            assert!(event.approach[k % 2].abs() < 1e-10);
        }
    }
}

/// Feet that hardly feel each other land in turn, each time twenty times slower, until they are
/// slower than rates can tell. The body is at rest then, wherever it started.
#[test]
fn a_body_that_settles_foot_by_foot_forgets_its_start() {
    let body = RigidTrot {
        inertia: 0.1,
        half_length: 0.3,
        ..RigidTrot::default()
    };
    let model = ContactModel::new(body);
    let (q, v) = RigidTrot::start(0.03);
    let start = model.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
    for rtol in [1e-6, 1e-9, 1e-11] {
        let mut integrator = Integrator::new(&model).unwrap().rtol(rtol).atol(rtol);
        let derivative = integrator.derivative(&start.as_start(), 0.6).unwrap();
        assert_eq!(*derivative.verdict(), Verdict::Classical, "{rtol}");
        assert!(derivative.run().crossings().len() > 5);
        let matrix = derivative.matrix().unwrap();
        assert!(matrix.amax() < 1e-9, "{rtol}: {matrix}");
    }
}

/// Slender and flat, soft and bouncy, tilted a little and much: each comes to rest on both corners
/// or topples, and none goes through the floor.
#[test]
fn blocks_that_bounce_on_their_corners_come_to_rest() {
    for (half_width, half_height) in [(0.1, 0.3), (0.2, 0.5), (0.5, 0.2), (0.5, 1.0)] {
        for restitution in [0.0, 0.1, 0.3, 0.5, 0.8] {
            for tilt in [0.05, -0.02, 0.2, 0.29] {
                let block = RigidTrot {
                    restitution,
                    ..RigidTrot::block(1.0, half_width, half_height)
                };
                let (q, v) = block.tilted(tilt);
                let model = ContactModel::new(block);
                let unilateral = EventDriven::new(model).unwrap().rtol(1e-10).atol(1e-11);
                let model = ContactModel::with_law(block, Sequential::new());
                let sequential = EventDriven::new(model).unwrap().rtol(1e-10).atol(1e-11);
                let what = format!("{half_width} {half_height} {restitution} {tilt}");
                let check = |run: Run| {
                    assert_eq!(*run.status(), Status::ReachedEnd, "{what}");
                    for k in 0..=2000 {
                        let state = run.state_at(0.001 * f64::from(k)).unwrap();
                        let gaps = [0, 1].map(|j| block.gap(j, &state.as_slice()[..2]));
                        assert!(gaps[0].min(gaps[1]) > -1e-9, "{what}: {gaps:?}");
                    }
                };
                check(
                    unilateral
                        .zeno(Zeno::Absorb)
                        .integrate(&Start::at(0.0).q(&q).v(&v), 2.0)
                        .unwrap(),
                );
                check(
                    sequential
                        .zeno(Zeno::Absorb)
                        .integrate(&Start::at(0.0).q(&q).v(&v), 2.0)
                        .unwrap(),
                );
            }
        }
    }
}
