//! Results as CSV: a row a contact of an outcome.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::cases::letter;
use crate::common::flags::Outcome;
use crate::study::Study;

const HEAD: &str = "model,kind,number,contact,separating_speed_m_s,slip_m_s,normal_impulse_N_s,friction_impulse_N_s";

pub(crate) fn write(path: &Path, studies: &[Study]) -> Outcome<()> {
    let told = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let mut out = BufWriter::new(File::create(path).map_err(told)?);
    rows(studies, &mut out)
        .and_then(|()| out.flush())
        .map_err(told)?;
    Ok(())
}

fn rows(studies: &[Study], out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{HEAD}")?;
    for study in studies {
        let (name, m) = (study.case.name, study.case.contacts());
        let mut outcome = |kind: &str, number: u64, speeds: &[f64], impulses: &[f64]| {
            (0..m).try_for_each(|i| {
                let of = |values: &[f64], row: usize| {
                    values.get(row).map_or(String::new(), f64::to_string)
                };
                writeln!(
                    out,
                    "{name},{kind},{number},{},{},{},{},{}",
                    letter(i),
                    of(speeds, i),
                    of(speeds, m + i),
                    of(impulses, i),
                    of(impulses, m + i)
                )
            })
        };
        outcome(
            "before",
            0,
            study.case.problem.speeds().as_slice(),
            &vec![0.0; 2 * m],
        )?;
        for (k, found) in (0..).zip(&study.simultaneous.list) {
            outcome(
                "all at once",
                k,
                found.speeds.as_slice(),
                found.impulses.as_slice(),
            )?;
        }
        for sequence in &study.sequences {
            let kind = format!("in order {}", sequence.name);
            outcome(&kind, 0, &sequence.speeds, &sequence.impulses)?;
        }
        if let Some((set, _)) = &study.exact {
            for (k, piece) in (0..).zip(set.pieces()) {
                for vertex in piece.vertices() {
                    outcome("vertex of piece", k, vertex, &[])?;
                }
            }
        }
        let samples = &study.samples;
        for k in (0..samples.len()).filter(|&k| samples.end(k).is_finished()) {
            let number = samples.first() + k as u64;
            outcome("sample", number, samples.speeds(k), samples.impulses(k))?;
        }
    }
    Ok(())
}
