//! The plate on springs, laws V and N, against every row of `plate_reference.csv` (spec 6.3).

use saltation::models::{NormalPlate, PlateParameters, VerticalPlate};
use saltation::{EventFunction, Flow, Projection, Run, Status};

use crate::fixtures::support::{Permuted, SplitMix64, distance, run};

#[derive(Clone, Copy, PartialEq)]
enum Law {
    Vertical,
    Normal,
}

struct Row {
    name: String,
    law: Law,
    parameters: PlateParameters,
    tf: f64,
    start: [f64; 6],
    end: [f64; 6],
    changes: usize,
    in_contact: usize,
    first: f64,
    last: f64,
    min_rate: f64,
}

impl Row {
    fn run(&self, tolerance: f64, projection: Projection) -> Run {
        match self.law {
            Law::Vertical => self.of(
                VerticalPlate::new(self.parameters).unwrap(),
                tolerance,
                projection,
            ),
            Law::Normal => self.of(
                NormalPlate::new(self.parameters).unwrap(),
                tolerance,
                projection,
            ),
        }
    }

    fn renumbered(&self, tolerance: f64, projection: Projection, random: &mut SplitMix64) -> Run {
        match self.law {
            Law::Vertical => {
                let plate = VerticalPlate::new(self.parameters).unwrap();
                let order = random.permutation(plate.count());
                self.of(Permuted::new(plate, order), tolerance, projection)
            }
            Law::Normal => {
                let plate = NormalPlate::new(self.parameters).unwrap();
                let order = random.permutation(plate.count());
                self.of(Permuted::new(plate, order), tolerance, projection)
            }
        }
    }

    fn of<S: Flow + EventFunction>(&self, plate: S, tolerance: f64, projection: Projection) -> Run {
        let trajectory = run(plate, tolerance, projection, &self.start, self.tf);
        assert_eq!(*trajectory.status(), Status::ReachedEnd, "{}", self.name);
        trajectory
    }

    /// Is spring `i` in contact: by the side of its gap, and by law N by the sign of its force too.
    fn touches(&self, trajectory: &Run, mode: usize, i: usize) -> bool {
        let mode = &trajectory.modes()[mode].mode;
        let n = self.parameters.springs;
        match self.law {
            Law::Vertical => mode.contains(i),
            Law::Normal => mode.contains(i) && mode.contains(n + i),
        }
    }

    /// Times at which the status of a spring changes, once for each spring.
    fn change_times(&self, trajectory: &Run) -> Vec<f64> {
        let modes = trajectory.modes();
        let mut times = Vec::new();
        for now in 1..modes.len() {
            for i in 0..self.parameters.springs {
                if self.touches(trajectory, now - 1, i) != self.touches(trajectory, now, i) {
                    times.push(modes[now].t);
                }
            }
        }
        times
    }

    fn is_level(&self) -> bool {
        self.name.ends_with("-4")
    }
}

fn rows() -> Vec<Row> {
    let file = include_str!("../data/plate_reference.csv");
    let rows: Vec<Row> = file.lines().skip(1).map(row).collect();
    assert_eq!(rows.len(), 30);
    rows
}

fn row(line: &str) -> Row {
    let fields: Vec<&str> = line.split(',').collect();
    assert_eq!(fields.len(), 29);
    let number = |i: usize| -> f64 { fields[i].parse().unwrap() };
    let count = |i: usize| -> usize { fields[i].parse().unwrap() };
    Row {
        name: fields[0].into(),
        law: if fields[1] == "V" {
            Law::Vertical
        } else {
            Law::Normal
        },
        parameters: PlateParameters {
            springs: count(2),
            mass: number(4),
            inertia: number(5),
            gravity: number(6),
            rest_length: number(7),
            half_width: number(8),
            stiffness: number(9),
            damping: number(10),
            shared_damping: false,
        },
        tf: number(11),
        start: std::array::from_fn(|i| number(12 + i)),
        end: std::array::from_fn(|i| number(18 + i)),
        changes: count(24),
        in_contact: count(25),
        first: number(26),
        last: number(27),
        min_rate: number(28),
    }
}

const PROJECTIONS: [Projection; 2] = [Projection::Off, Projection::Auto];

#[test]
fn every_row_is_met_within_1e7_at_tolerance_1e10() {
    for row in rows() {
        for projection in PROJECTIONS {
            let what = format!("{}, {projection:?}", row.name);
            let trajectory = row.run(1e-10, projection);
            let error = distance(trajectory.state(), &row.end);
            assert!(error <= 1e-7, "{what}: error {error:e}");

            let times = row.change_times(&trajectory);
            assert_eq!(times.len(), row.changes, "{what}: contact changes");
            let last_mode = trajectory.modes().len() - 1;
            let touching =
                (0..row.parameters.springs).filter(|&i| row.touches(&trajectory, last_mode, i));
            assert_eq!(
                touching.count(),
                row.in_contact,
                "{what}: springs in contact at the end"
            );

            // A state error of 1e-7 displaces an event by 1e-7 / rate; law N measures the rate of
            // the gap, and the force adds c / k = 5 ms times an error and a rate of the velocity to
            // it.
            let allowed = 2e-7 / row.min_rate + 1e-12;
            let (first, last) = (times[0], times[times.len() - 1]);
            assert!(
                (first - row.first).abs() < allowed,
                "{what}: first change at {first}"
            );
            assert!(
                (last - row.last).abs() < allowed,
                "{what}: last change at {last}"
            );
            assert!(times.is_sorted(), "{what}");
        }
    }
}

#[test]
fn contact_changes_are_exact_at_every_tolerance() {
    for row in rows() {
        for projection in PROJECTIONS {
            for tolerance in [1e-6, 1e-8, 1e-10] {
                let trajectory = row.run(tolerance, projection.clone());
                let changes = row.change_times(&trajectory).len();
                assert_eq!(
                    changes, row.changes,
                    "{}, {projection:?}, {tolerance:e}",
                    row.name
                );
                if row.law == Law::Vertical {
                    assert_eq!(trajectory.crossings().len(), row.changes, "{}", row.name);
                }
            }
        }
    }
}

#[test]
fn a_level_plate_stays_level_through_simultaneous_contacts() {
    for row in rows().iter().filter(|row| row.is_level()) {
        for projection in PROJECTIONS {
            for tolerance in [1e-6, 1e-10] {
                let what = format!("{}, {projection:?}, {tolerance:e}", row.name);
                let trajectory = row.run(tolerance, projection.clone());
                for (t, x) in trajectory.nodes() {
                    assert!(
                        x[0].abs() < 1e-12 && x[2].abs() < 1e-12,
                        "{what}: {x} at {t}"
                    );
                }
                let n = row.parameters.springs;
                let whole = trajectory
                    .corners()
                    .iter()
                    .filter(|corner| corner.order.len() == n);
                // Law V: each change of all springs at once is one corner. Law N has corners of the
                // gaps and of the forces.
                let least = row.changes / n;
                assert!(whole.count() >= least, "{what}: corners of {n} springs");
            }
        }
    }
}

#[test]
fn the_numbering_of_the_springs_does_not_matter() {
    let mut random = SplitMix64(1);
    let tilted = |row: &Row| row.name.ends_with("-5");
    for row in rows().iter().filter(|row| row.is_level() || tilted(row)) {
        for projection in PROJECTIONS {
            let plain = row.run(1e-10, projection.clone());
            let other = row.renumbered(1e-10, projection.clone(), &mut random);
            let apart = distance(plain.state(), other.state().as_slice());
            assert!(apart < 1e-11, "{}, {projection:?}: {apart:e}", row.name);
            assert_eq!(
                plain.crossings().len(),
                other.crossings().len(),
                "{}",
                row.name
            );
        }
    }
}
