//! The numbers as text.

use std::io::Write;

use saltation::impact::{Order, Polytope};

use crate::cases::letter;
use crate::common::flags::Outcome;
use crate::study::Study;

/// Probability of the quantile of steps.
const RARE: f64 = 0.01;

/// Everything about one impact.
pub(crate) fn study(study: &Study, out: &mut dyn Write) -> Outcome<()> {
    let (case, m) = (study.case, study.case.contacts());
    writeln!(out, "{}", case.title)?;
    let wide = |texts: Vec<String>| -> String {
        let columns = texts.iter().map(|text| format!("{text:>13}"));
        columns.collect::<Vec<_>>().concat()
    };
    let names = ["un", "ut"].iter().flat_map(|kind| {
        let name = move |i| format!("{kind} {}", letter(i));
        (0..m).map(name)
    });
    writeln!(out, "  {:<30}{}   [m/s]", "", wide(names.collect()))?;
    let mut row = |name: &str, speeds: &[f64], note: &str| {
        let numbers = speeds.iter().map(|u| format!("{:.9}", plain(*u)));
        writeln!(out, "  {name:<30}{}   {note}", wide(numbers.collect()))
    };
    row("before", case.problem.speeds().as_slice(), "")?;
    for outcome in &study.simultaneous.list {
        let name = match &outcome.order {
            Order::Modes(modes) => {
                let modes = modes.iter().enumerate();
                let modes = modes.map(|(i, mode)| format!("{}{mode}", letter(i)));
                format!("all at once, {}", modes.collect::<Vec<_>>().join(" "))
            }
            _ => "all at once".to_owned(),
        };
        row(
            &name,
            outcome.speeds.as_slice(),
            &from_set(study, outcome.speeds.as_slice()),
        )?;
    }
    for sequence in &study.sequences {
        let mut note = format!("impacts: {}", sequence.impacts);
        if !sequence.is_complete {
            note += ", still approaches";
        }
        let place = from_set(study, &sequence.speeds);
        if !place.is_empty() {
            note = format!("{place}; {note}");
        }
        let name = format!("in order {}", sequence.name);
        row(&name, &sequence.speeds, &note)?;
    }
    exact_set(study, out)?;
    samples(study, out)?;
    cone(study, out)?;
    Ok(writeln!(out)?)
}

fn from_set(study: &Study, speeds: &[f64]) -> String {
    match study.distance(speeds) {
        Some(distance) if distance > 1e-9 => format!("{distance:.1e} m/s from the exact set"),
        Some(_) => "in the exact set".to_owned(),
        None => String::new(),
    }
}

fn exact_set(study: &Study, out: &mut dyn Write) -> Outcome<()> {
    let Some((set, time)) = &study.exact else {
        let m = study.case.contacts();
        writeln!(
            out,
            "  exact set      not looked for with {m} contacts; --cap N asks for it"
        )?;
        return Ok(());
    };
    let closed = if set.is_closed() {
        ""
    } else {
        " (cap reached: a part of it)"
    };
    let vertices: usize = set
        .pieces()
        .iter()
        .map(|piece| piece.vertices().len())
        .sum();
    let key = |piece: &&Polytope| (piece.dimension(), piece.measure().unwrap_or(0.0));
    let greatest = set.pieces().iter().max_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    writeln!(
        out,
        "  exact set      pieces: {}{closed}, the greatest: {}; vertices: {vertices}; polytopes pushed: {}; {:.2} ms",
        set.pieces().len(),
        greatest.map_or("none".to_owned(), size),
        set.effort(),
        1e3 * time.as_secs_f64()
    )?;
    Ok(())
}

/// `length 0.093 m/s`.
fn size(piece: &Polytope) -> String {
    let kind = match piece.dimension() {
        0 => return "a point".to_owned(),
        1 => "length",
        2 => "area",
        _ => "volume",
    };
    let (d, measure) = (piece.dimension(), piece.measure());
    let unit = if d == 1 {
        "m/s".to_owned()
    } else {
        format!("(m/s)^{d}")
    };
    measure.map_or(kind.to_owned(), |measure| {
        format!("{kind} {measure:.4e} {unit}")
    })
}

fn samples(study: &Study, out: &mut dyn Write) -> Outcome<()> {
    let statistics = &study.statistics;
    let per_second = study.samples.len() as f64 / study.sampling.as_secs_f64().max(1e-9);
    let paper = of_paper(study).map_or(String::new(), |steps| format!(" (paper: {steps})"));
    writeln!(
        out,
        "  samples        {} finished, {} unfinished, {} failed; {:.3} steps a sample{paper}; {:.1} ms, {per_second:.0} a second",
        statistics.finished(),
        statistics.unfinished(),
        statistics.failed(),
        statistics.mean_steps(),
        1e3 * study.sampling.as_secs_f64(),
    )?;
    if let Some([outside, missed]) = study.gaps() {
        writeln!(
            out,
            "  {:<15}{outside:.1e} m/s outside of the exact set at most; its vertices within {missed:.1e} m/s of a sample",
            ""
        )?;
    }
    Ok(())
}

fn cone(study: &Study, out: &mut dyn Write) -> Outcome<()> {
    let (cone, case) = (&study.cone, study.case);
    if !cone.is_pointed() {
        writeln!(
            out,
            "  forces         contacts can jam the body: the cone of forces is not pointed, no bound on the steps"
        )?;
        return Ok(());
    }
    let h = study.settings.bound_of(case);
    let [printed, sharper] = [
        cone.steps_per_norm_as_printed(h, case.least_mass)?,
        cone.steps_per_norm(h)?,
    ];
    let quantiles = [cone.steps(printed, RARE)?, cone.steps(sharper, RARE)?];
    writeln!(
        out,
        "  forces         margin of the cone {:.6}; at most 1 % of samples take more than {:.0} steps (Theorem 8), \
         {:.0} (sharper bound)",
        cone.margin(),
        quantiles[0],
        quantiles[1]
    )?;
    Ok(())
}

/// One line an impact.
pub(crate) fn summary(studies: &[Study], out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "{:<15}{:>8} {:>9} {:>8} {:>9} {:>9} {:>8} {:>10} {:>10}",
        "", "at once", "in order", "pieces", "steps", "paper", "margin", "set [ms]", "us/sample"
    )?;
    for study in studies {
        let dash = || "-".to_owned();
        let different = distinct(
            &study
                .sequences
                .iter()
                .map(|s| s.speeds.as_slice())
                .collect::<Vec<_>>(),
        );
        let exact = study.exact.as_ref();
        let pieces = exact.map_or_else(dash, |(set, _)| set.pieces().len().to_string());
        let time = exact.map_or_else(dash, |(_, time)| format!("{:.2}", 1e3 * time.as_secs_f64()));
        let paper = of_paper(study).map_or_else(dash, |steps| steps.to_string());
        let each = 1e6 * study.sampling.as_secs_f64() / study.samples.len().max(1) as f64;
        writeln!(
            out,
            "{:<15}{:>8} {different:>9} {pieces:>8} {:>9.3} {paper:>9} {:>8.4} {time:>10} {each:>10.2}",
            study.case.name,
            study.simultaneous.list.len(),
            study.statistics.mean_steps(),
            study.cone.margin(),
        )?;
    }
    Ok(())
}

/// Steps a sample in the paper, where samples are drawn as there.
fn of_paper(study: &Study) -> Option<f64> {
    let is_same = study.settings.are_of_paper(study.case);
    study.case.steps_of_paper.filter(|_| is_same)
}

/// How many of these differ.
fn distinct(speeds: &[&[f64]]) -> usize {
    let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-8);
    let is_new = |i: &usize| !speeds[..*i].iter().any(|known| same(known, speeds[*i]));
    (0..speeds.len()).filter(is_new).count()
}

/// Zero without a sign where nine digits show no other.
fn plain(value: f64) -> f64 {
    if value.abs() < 5e-10 { 0.0 } else { value }
}
