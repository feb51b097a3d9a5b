//! Friction in space takes energy, stops what slides, and holds what rests.

use saltation::models::SlidingBlock;
use saltation::{ContactModel, Start, Variational};

use crate::against_event_driven::Draws;
use crate::friction_in_space::{Puck, Stool};

#[test]
fn what_slides_straight_ahead_slides_as_in_the_plane() {
    let block = SlidingBlock::default();
    for angle in [0.0, 0.4, 2.5] {
        let (sin, cos) = f64::sin_cos(angle);
        let puck = Puck {
            mass: block.mass,
            friction: block.friction,
            slope: 0.0,
            force: [0.0; 3],
            speed: [2.0 * cos, 2.0 * sin],
        };
        let mut plane = Variational::new(ContactModel::new(block))
            .unwrap()
            .time_step(0.01)
            .frictionless_impacts();
        let plane = plane
            .integrate(&Start::at(0.0).q(&[0.0; 2]).v(&[2.0, 0.0]), 1.0)
            .unwrap();
        let mut space = Variational::new(ContactModel::new(puck))
            .unwrap()
            .time_step(0.01)
            .frictionless_impacts();
        let v = [2.0 * cos, 2.0 * sin, 0.0];
        let space = space
            .integrate(&Start::at(0.0).q(&[0.0; 3]).v(&v), 1.0)
            .unwrap();
        for k in 0..plane.times().len() {
            let (q, v) = (plane.q(k)[0], plane.v(k)[0]);
            for (found, expected) in [
                (space.q(k)[0], q * cos),
                (space.q(k)[1], q * sin),
                (space.v(k)[0], v * cos),
                (space.v(k)[1], v * sin),
            ] {
                assert!((found - expected).abs() < 1e-11, "{angle} {k}");
            }
        }
    }
}

#[test]
fn a_puck_on_a_slope_sticks_up_to_the_angle_of_friction_whatever_pulls_it() {
    for case in 0..30 {
        let mut draws = Draws(case);
        let (pull, angle) = (draws.within(0.5, 4.0), draws.within(0.0, 6.0));
        for (part, holds) in [(1.01, true), (0.99, false)] {
            let puck = Puck {
                mass: draws.within(0.2, 3.0),
                friction: part * pull / 9.81,
                slope: 0.0,
                force: [pull, 0.0, angle],
                speed: [0.0; 2],
            };
            let mut driver = Variational::new(ContactModel::new(puck))
                .unwrap()
                .time_step(0.01)
                .frictionless_impacts();
            let run = driver
                .integrate(&Start::at(0.0).q(&[0.0; 3]).v(&[0.0; 3]), 1.0)
                .unwrap();
            let run = run.completed().unwrap();
            let x = run.state();
            // A hundredth of the pull for one second.
            let expected = if holds { 0.0 } else { 0.005 * pull };
            let (far, turned) = (x[0].hypot(x[1]), x[0] * angle.sin() - x[1] * angle.cos());
            assert!((far - expected).abs() < 1e-9, "{case} {far:e} {expected}");
            assert!(turned.abs() < 1e-9, "{case} {turned:e}");
        }
    }
}

/// Random stools and pucks thrown onto the floor they stand on: each step takes energy, until they
/// rest.
fn come_to_rest(cases: u64) {
    let mut most = 0.0f64;
    for case in 0..cases {
        let mut draws = Draws(case);
        let stool = Stool::drawn(&mut draws);
        let [a, b, c] = stool.speed;
        let h = draws.within(0.002, 0.02);
        let mut driver = Variational::new(ContactModel::new(stool))
            .unwrap()
            .time_step(h)
            .frictionless_impacts();
        let v = [a, b, 0.0, c, 0.0, 0.0];
        let run = driver
            .integrate(&Start::at(0.0).q(&[0.0; 6]).v(&v), 4.0)
            .unwrap();
        let run = run.completed().unwrap();
        let energies = run
            .nodes()
            .map(|(_, x)| driver.model().energy(x.as_slice()));
        let energies: Vec<f64> = energies.map(Option::unwrap).collect();
        for (k, pair) in energies.windows(2).enumerate() {
            let gain = (pair[1] - pair[0]) / energies[0];
            most = most.max(gain);
            assert!(gain < 1e-9, "{case} {k} {gain:e}");
        }
        let fastest = run.state().rows(6, 6).amax();
        assert!(fastest < 1e-9, "{case} {fastest:e}");
    }
    println!("{cases} stools: the greatest gain of a step is {most:.1e} of the energy");
}

#[test]
fn stools_that_spin_lose_energy_until_they_rest() {
    come_to_rest(8);
}

#[test]
#[ignore = "1000 stools for 4 s: minutes in debug mode"]
fn many_stools_that_spin_lose_energy_until_they_rest() {
    come_to_rest(1000);
}
