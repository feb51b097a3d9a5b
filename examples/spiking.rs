//! A hundred cells charge, fire and push each other: how soon do they fire all at once?
//!
//! Hybrid systems are not only contacts. Each cell is a leaky integrator that fires at a threshold,
//! is reset, and pushes all others; cells pushed over their threshold fire at the same instant, and
//! so on: one corner of many guards, with resets. Mirollo & Strogatz, SIAM J. Appl. Math. 50
//! (1990) 1645.

mod common;
#[path = "common/linear.rs"]
mod linear;
#[path = "common/logarithmic.rs"]
mod logarithmic;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::chart::{Area, Axis, Key, PALETTE, chart, grey, headline, picture};
use common::flags::{Outcome, ensure};
use plotters::prelude::*;
use saltation::models::IntegrateAndFire;
use saltation::{Integrator, Run, Start, Status};

const HELP: &str = "\
A hundred cells charge, fire and push each other: how soon do they fire all at once?

  cargo run --release --example spiking -- [FLAGS]

  --cells N         number of cells, 100
  --drive D         drive of the weakest cell, 1.2 per second
  --unequal U       the strongest cell has a drive greater by this fraction, 0
  --leak G          1 per second
  --coupling K      how far a firing cell pushes each other one, in thresholds, 0.003
  --seed S          of the random start, 1
  --tf T            final time, 16 s
  --rtol R --atol A tolerances, 1e-9 and 1e-12
  --pictures DIR    folder for pictures, target/pictures
";

const WINDOWS: usize = 8;

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let cells: usize = flags.number("--cells", 100)?;
        ensure((2..=400).contains(&cells), "--cells must lie in 2 to 400")?;
        let (drive, unequal) = (
            flags.number("--drive", 1.2)?,
            flags.number("--unequal", 0.0)?,
        );
        let (leak, coupling) = (
            flags.number("--leak", 1.0)?,
            flags.number("--coupling", 0.003)?,
        );
        let seed = flags.number("--seed", 1)?;
        let tf = flags.number("--tf", 16.0)?;
        let (rtol, atol) = (
            flags.number("--rtol", 1e-9)?,
            flags.number("--atol", 1e-12)?,
        );
        let folder = flags.pictures()?;

        let drives = (0..cells).map(|i| drive * (1.0 + unequal * i as f64 / (cells - 1) as f64));
        let network = IntegrateAndFire::new(cells, drives.collect(), leak, coupling, 1.0)?;
        let run = Integrator::new(&network)?
            .rtol(rtol)
            .atol(atol)
            .integrate(&Start::at(0.0).x(&start(cells, seed)), tf)?;
        let clusters = clusters(&run);
        report(&run, &clusters, out)?;
        let file = draw(&folder, cells, &run, &clusters)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

/// Random potentials in (0, 1), the cells numbered from the lowest to the highest; `SplitMix64`.
fn start(cells: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut draw = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 * (f64::EPSILON / 2.0)
    };
    let mut potentials: Vec<f64> = (0..cells).map(|_| draw()).collect();
    potentials.sort_by(f64::total_cmp);
    potentials
}

/// Cells that fire at one instant.
struct Cluster {
    t: f64,
    cells: Vec<usize>,
}

/// All firings, those of one corner together.
fn clusters(run: &Run) -> Vec<Cluster> {
    let sizes = run
        .corners()
        .iter()
        .map(|corner| (corner.first, corner.order.len()));
    let mut corners = sizes.peekable();
    let mut clusters = Vec::new();
    let mut next = 0;
    while next < run.crossings().len() {
        let size = corners
            .next_if(|(first, _)| *first == next)
            .map_or(1, |(_, size)| size);
        let members = &run.crossings()[next..next + size];
        clusters.push(Cluster {
            t: members[0].t,
            cells: members
                .iter()
                .map(|crossing| crossing.guard.event)
                .collect(),
        });
        next += size;
    }
    clusters
}

fn report(run: &Run, clusters: &[Cluster], out: &mut dyn Write) -> Outcome<()> {
    let end = run.t();
    writeln!(
        out,
        "{} firings at {} instants in {end} s\n",
        run.crossings().len(),
        clusters.len()
    )?;
    writeln!(
        out,
        "      time [s]     firings  instants  alone  2 to 9  10 to 49  50 up  largest"
    )?;
    for i in 0..WINDOWS {
        let edge = |i: usize| end * i as f64 / WINDOWS as f64;
        let (from, to) = (edge(i), edge(i + 1));
        let sizes: Vec<usize> = clusters
            .iter()
            .filter(|c| from <= c.t && (c.t < to || i == WINDOWS - 1))
            .map(|c| c.cells.len())
            .collect();
        let within = |low, high| {
            sizes
                .iter()
                .filter(|&&size| (low..high).contains(&size))
                .count()
        };
        writeln!(
            out,
            "{from:>6.2} to {to:>6.2}  {:>10}  {:>8}  {:>5}  {:>6}  {:>8}  {:>5}  {:>7}",
            sizes.iter().sum::<usize>(),
            sizes.len(),
            within(1, 2),
            within(2, 10),
            within(10, 50),
            within(50, usize::MAX),
            sizes.iter().max().unwrap_or(&0)
        )?;
    }
    if let Status::Refused(reason) = run.status() {
        writeln!(out, "\nended early: {reason}")?;
    }
    let cells = run.state().len();
    match clusters.iter().find(|cluster| cluster.cells.len() == cells) {
        Some(cluster) => writeln!(out, "\nall {cells} fire at once from {:.3} s on", cluster.t)?,
        None => writeln!(out, "\nall {cells} never fire at once")?,
    }
    let s = run.statistics();
    writeln!(
        out,
        "{} evaluations of f, {} steps, {} resets",
        s.flow, s.steps, s.resets
    )?;
    Ok(())
}

/// Colour and radius of a firing by the number of cells that fire with it.
fn mark(size: usize) -> (RGBColor, i32) {
    match size {
        1 => (grey(120), 5),
        2..10 => (PALETTE[2], 7),
        10..50 => (PALETTE[1], 7),
        _ => (PALETTE[6], 7),
    }
}

fn draw(folder: &Path, cells: usize, run: &Run, clusters: &[Cluster]) -> Outcome<PathBuf> {
    let classes = [
        (30, "alone", 1),
        (250, "2 to 9 at once", 2),
        (600, "10 to 49 at once", 10),
        (980, "50 or more at once", 50),
    ];
    let keys = classes.map(|(x, label, size)| {
        let (colour, radius) = mark(size);
        (x, Key::new(label, colour, (0, 4 * radius)))
    });
    let title = format!("{cells} pulse-coupled cells: who fires when, and with how many others");
    let time = || linear::axis("time [s]", -0.01 * run.t()..run.t() * 1.01, 10);
    picture(folder, "spiking.svg", 1400, |area| {
        let (above, below) = headline(area, &title, &keys)?.split_vertically(860);
        let cell = linear::axis("cell, by charge at the start", 0.0..cells as f64 + 1.0, 6);
        draw_raster(&above, time(), cell, clusters)?;
        let size = logarithmic::axis("cells firing at once", 0.7..1.5 * cells as f64);
        draw_sizes(&below, time(), size, clusters)
    })
}

fn draw_raster(area: &Area, time: Axis, cell: Axis, clusters: &[Cluster]) -> Outcome<()> {
    let mut chart = chart(area, time, cell)?;
    for cluster in clusters {
        let (colour, radius) = mark(cluster.cells.len());
        let dot = |&i: &usize| Circle::new((cluster.t, i as f64 + 1.0), radius, colour.filled());
        chart.draw_series(cluster.cells.iter().map(dot))?;
    }
    Ok(())
}

fn draw_sizes(area: &Area, time: Axis, size: Axis, clusters: &[Cluster]) -> Outcome<()> {
    let mut chart = chart(area, time, size)?;
    chart.draw_series(clusters.iter().map(|cluster| {
        let size = cluster.cells.len();
        let (colour, radius) = mark(size);
        Circle::new((cluster.t, size as f64), radius + 2, colour.filled())
    }))?;
    Ok(())
}
