//! The tables.

use std::io::Write;

use crate::common::flags::Outcome;
use crate::outcomes::Set;
use crate::swing::{Swing, energy, momentum};

/// The first two impacts of each swing, and how many there were.
pub(crate) fn swings(swings: &[[Swing; 2]], out: &mut dyn Write) -> Outcome<()> {
    let impacts = swings
        .iter()
        .flatten()
        .find_map(|swing| swing.impacts.first());
    let Some(first) = impacts else {
        writeln!(out, "no impact until {} s", swings[0][0].tf)?;
        return Ok(());
    };
    let speed = first.before[0];
    writeln!(
        out,
        "velocities right after the first impact ({:.9} s) and the second, over the {speed:.9} m/s with which",
        first.t
    )?;
    writeln!(
        out,
        "ball 1 comes in; kinetic energy (T) and total momentum (p) after the first over those before it;"
    )?;
    writeln!(out, "number of impacts until {} s\n", swings[0][0].tf)?;
    let wide = 10 * first.before.len();
    writeln!(
        out,
        "{:<30}{:<wide$}  {:>8} {:>8}  {:<wide$}  {:>7}",
        "masses [kg], law", "after the first", "T", "p", "  after the second", "impacts"
    )?;
    for column in 0..2 {
        let masses = swings[0][column].masses.iter().map(f64::to_string);
        writeln!(out, "{}", masses.collect::<Vec<_>>().join(", "))?;
        for swing in swings.iter().map(|pair| &pair[column]) {
            swung(swing, speed, out)?;
        }
    }
    Ok(())
}

/// The row of one swing; `speed` is that of ball 1 before the first impact.
fn swung(swing: &Swing, speed: f64, out: &mut dyn Write) -> Outcome<()> {
    write!(out, "  {:<26}", swing.law)?;
    for (i, impact) in swing.impacts.iter().take(2).enumerate() {
        write!(out, "  ")?;
        for v in &impact.after {
            write!(out, "{:>10.6}", plain(v / speed))?;
        }
        if i == 0 {
            for of in [energy, momentum] {
                let [before, after] = [&impact.before, &impact.after].map(|v| of(&swing.masses, v));
                write!(out, " {:>8.6}", after / before)?;
            }
        }
    }
    let missing = 2 - swing.impacts.len().min(2);
    let wide = (10 * swing.masses.len() + 2) * missing;
    writeln!(out, "{:wide$}  {:>7}", "", swing.impacts.len())?;
    if let Some(trouble) = &swing.trouble {
        writeln!(out, "    ended early: {trouble}")?;
    }
    Ok(())
}

/// The outcomes of one impact.
pub(crate) fn set(set: &Set, out: &mut dyn Write) -> Outcome<()> {
    let before: Vec<String> = set.before.iter().map(f64::to_string).collect();
    let minimal = set.entries.iter().filter(|entry| entry.is_minimal);
    writeln!(
        out,
        "\n{}, {} with a minimal word; velocities before: {} m/s\n",
        set.title(),
        minimal.count(),
        before.join(", ")
    )?;
    let wide = 11 * set.masses.len();
    writeln!(
        out,
        "{:<14} {:<8}{:<wide$}  {:>10} {:>10}   law",
        "word", "minimal", "   velocities [m/s]", "energy [J]", "[kg m/s]"
    )?;
    let mut row = |word: &str, minimal: &str, velocities: &[f64], laws: &str| {
        let written: Vec<String> = velocities
            .iter()
            .map(|v| format!("{:>11.7}", plain(*v)))
            .collect();
        let line = format!(
            "{word:<14} {minimal:<8}{}  {:>10.7} {:>10.7}   {laws}",
            written.concat(),
            plain(energy(&set.masses, velocities)),
            plain(momentum(&set.masses, velocities)),
        );
        writeln!(out, "{}", line.trim_end())
    };
    row("before", "", &set.before, "")?;
    for entry in &set.entries {
        let minimal = if entry.is_minimal { "yes" } else { "" };
        let laws = entry.laws.join("; ");
        row(&entry.word(), minimal, &entry.velocities, &laws)?;
    }
    Ok(())
}

/// Zero without a sign where seven digits show no other.
fn plain(value: f64) -> f64 {
    if value.abs() < 5e-8 { 0.0 } else { value }
}
