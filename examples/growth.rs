//! What does a further guard cost?
//!
//! A guard that is far costs its samples in every step; one that is crossed with many others costs a
//! projection, or less where they are crossed in one place. Three series over the number of guards:
//! the time of a step for a guard that is never met, and the time of a crossing of guards that cross
//! at one instant, or 1 ns apart. Models say all that they can: rows, `flip`, a time scale.

mod common;
#[path = "common/logarithmic.rs"]
mod logarithmic;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use common::chart::{Area, Key, PALETTE, chart, headline, picture};
use common::flags::{Outcome, ensure};
use plotters::prelude::*;
use saltation::{Error, EventFunction, Flow, Integrator, Mode, Start, Status};

const HELP: &str = "\
What does a further guard cost?

  cargo run --release --example growth -- [FLAGS]

  --most N          the largest number of guards, 1000
  --repeats N       runs over which medians are taken, 21
  --pictures DIR    folder for pictures, target/pictures
";

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let most = flags.number("--most", 1000)?;
        ensure(
            (1..=10_000).contains(&most),
            "--most must lie in 1 to 10000",
        )?;
        let repeats = flags.number("--repeats", 21)?;
        ensure(
            (1..=1000).contains(&repeats),
            "--repeats must lie in 1 to 1000",
        )?;
        let folder = flags.pictures()?;
        let table = measure(most, repeats, out)?;
        let file = draw(&folder, &table)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

/// Half the time of a run through a corner (s).
const HALF: f64 = 1e-3;
/// Where far guards are (m).
const FAR: f64 = 10.0;

/// A state in space that moves along the first axis, and an oscillation beside it. Guards are planes
/// across the way; each that is crossed turns the motion a little.
struct Planes {
    /// Slope and place (m) of each.
    planes: Vec<[f64; 2]>,
    /// How much each turns the motion (m/s).
    kicks: Vec<f64>,
}

/// A number in [−1/2, 1/2).
fn draw_number(j: usize) -> f64 {
    (1e4 * (j as f64 + 0.5).sin()).rem_euclid(1.0) - 0.5
}

/// Frequency of the oscillation (1/s).
const FREQUENCY: f64 = 20.0;

impl Planes {
    /// So many, at `at` (m) and up to so far apart (m).
    fn new(guards: usize, at: f64, apart: f64) -> Self {
        let plane = |k: usize| {
            [
                0.5 * draw_number(3 * k),
                at + apart * draw_number(3 * k + 1),
            ]
        };
        let kick = |k: usize| draw_number(3 * k + 2) / guards as f64;
        Self {
            planes: (0..guards).map(plane).collect(),
            kicks: (0..guards).map(kick).collect(),
        }
    }
}

impl Flow for Planes {
    fn dim(&self) -> usize {
        4
    }
    fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let turned: f64 = mode.ones().map(|k| self.kicks[k]).sum();
        dx.copy_from_slice(&[1.0, turned, x[3], -FREQUENCY * FREQUENCY * x[2]]);
    }
    fn flip(&self, _t: f64, _x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
        dx[1] += if mode.contains(k) {
            self.kicks[k]
        } else {
            -self.kicks[k]
        };
        true
    }
}

impl EventFunction for Planes {
    fn count(&self) -> usize {
        self.planes.len()
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        let [slope, offset] = self.planes[k];
        x[0] + slope * x[1] - offset
    }
    fn gradient(&self, k: usize, _t: f64, _x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        dh.copy_from_slice(&[1.0, self.planes[k][0], 0.0, 0.0]);
        Some(0.0)
    }
    fn is_affine(&self, _k: usize) -> bool {
        true
    }
    fn ignores_mode(&self) -> bool {
        true
    }
    fn resets(&self) -> bool {
        false
    }
}

/// One number of guards: their number, and times of a guard (ns).
struct Row {
    guards: usize,
    /// Far: a step. At one instant, and 1 ns apart: a crossing.
    times: [f64; 3],
}

const SERIES: [(&str, RGBColor); 3] = [
    ("far, a step", PALETTE[7]),
    ("crossed at one instant", PALETTE[5]),
    ("crossed 1 ns apart", PALETTE[3]),
];

/// Measures all numbers of guards up to `most`, and writes the table.
fn measure(most: usize, repeats: usize, out: &mut dyn Write) -> Outcome<Vec<Row>> {
    writeln!(out, "time of a guard (ns), medians over {repeats} runs\n")?;
    write!(out, "guards")?;
    for (name, _) in SERIES {
        write!(out, " {name:>24}")?;
    }
    writeln!(out)?;
    let mut table = Vec::new();
    let numbers = [1, 2, 4, 10, 20, 40, 100, 200, 400, 1000, 2000, 4000, 10_000];
    for guards in numbers.into_iter().filter(|n| *n <= most) {
        let far = far(guards, repeats)?;
        let [exact, apart] = [0.0, 1e-9].map(|apart| crossed((guards, apart), repeats));
        let times = [far, exact?, apart?];
        write!(out, "{guards:>6}")?;
        for time in times {
            write!(out, " {time:>24.1}")?;
        }
        writeln!(out)?;
        table.push(Row { guards, times });
    }
    Ok(table)
}

/// A second of oscillation under far guards, less the same under one: a guard and a step (ns).
fn far(guards: usize, repeats: usize) -> Result<f64, Error> {
    let run = |guards: usize| -> Result<[f64; 2], Error> {
        let mut integrator = Integrator::fixed::<4>(Planes::new(guards, FAR, 1.0))?;
        let mut steps = 0;
        let time = median(repeats, || {
            let run = integrator.observe(&Start::at(0.0).x(&[0.0, 0.0, 1.0, 0.0]), 1.0, &mut ())?;
            debug_assert_eq!(run.status, Status::ReachedEnd);
            steps = run.statistics.steps;
            Ok(())
        })?;
        Ok([time, steps as f64])
    };
    let [one, steps] = run(1)?;
    if guards == 1 {
        return Ok(one / steps);
    }
    let [many, steps] = run(guards)?;
    Ok((many - one) / (steps * (guards - 1) as f64))
}

/// A run through guards that are `apart`, less the same run beyond them: a guard (ns).
fn crossed((guards, apart): (usize, f64), repeats: usize) -> Result<f64, Error> {
    let mut integrator = Integrator::fixed::<4>(Planes::new(guards, 0.0, apart))?;
    let mut of = |start: f64, crossings: usize| {
        median(repeats, || {
            let run = integrator.observe(
                &Start::at(0.0).x(&[start, 0.0, 0.0, 0.0]),
                2.0 * HALF,
                &mut (),
            )?;
            debug_assert_eq!(run.statistics.crossings, crossings);
            Ok(())
        })
    };
    let (through, beyond) = (of(-HALF, guards)?, of(HALF, 0)?);
    Ok((through - beyond) / guards as f64)
}

/// Median of the time of a run (ns).
fn median(repeats: usize, mut run: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    let mut times = Vec::with_capacity(repeats);
    for _ in 0..repeats {
        let clock = Instant::now();
        run()?;
        times.push(clock.elapsed().as_secs_f64() * 1e9);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[repeats / 2])
}

fn draw(folder: &Path, table: &[Row]) -> Outcome<PathBuf> {
    let keys: Vec<(i32, Key)> = [30, 420, 960]
        .into_iter()
        .zip(SERIES)
        .map(|(x, (label, colour))| (x, Key::new(label, colour, (60, 6))))
        .collect();
    picture(folder, "growth.svg", 1040, |area| {
        let area = headline(area, "What a further guard costs", &keys)?;
        panel(&area, table)
    })
}

fn panel(area: &Area, table: &[Row]) -> Outcome<()> {
    let values = || {
        table
            .iter()
            .flat_map(|row| row.times)
            .filter(|time| *time > 0.0)
    };
    let (low, high) = (values().fold(1e300, f64::min), values().fold(1.0, f64::max));
    let most = table.last().map_or(2.0, |row| row.guards as f64);
    let x = logarithmic::axis("number of guards", 0.8..1.3 * most);
    let y = logarithmic::axis("time of a guard [ns]", low / 1.4..high * 1.4);
    let mut chart = chart(area, x, y)?;
    for (i, (_, colour)) in SERIES.into_iter().enumerate() {
        let points = || {
            let all = table.iter().map(|row| (row.guards as f64, row.times[i]));
            all.filter(|point| point.1 > 0.0)
        };
        chart.draw_series(LineSeries::new(points(), colour.stroke_width(6)))?;
        chart.draw_series(points().map(|point| Circle::new(point, 9, colour.filled())))?;
    }
    Ok(())
}
