//! One model, and what each driver makes of it.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use saltation::impact::{AllOutcomes, ExactPlanar, ImpactLaw, ImpactProblem};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactEvent, ContactModel, Driver, Start, Status};

use crate::common::flags::Outcome;
use crate::picture;

/// The entry of a state that is drawn: a velocity in all models.
const DRAWN: usize = 5;

/// Where things go, and the step of the drivers in steps (s).
pub(crate) struct Desk<'a> {
    pub(crate) out: &'a mut dyn Write,
    pub(crate) step: f64,
    pub(crate) csv: Option<PathBuf>,
    pub(crate) pictures: PathBuf,
}

/// A model, its start and end, and what became of it.
pub(crate) struct Study<'a, S> {
    /// Of files.
    pub(crate) name: &'a str,
    pub(crate) title: &'a str,
    pub(crate) model: ContactModel<S>,
    pub(crate) start: Start<'a>,
    pub(crate) tf: f64,
    /// Entries of a state, with units.
    pub(crate) entries: &'a str,
    /// Why drivers agree or differ.
    pub(crate) why: &'a str,
    pub(crate) rows: Vec<Row>,
}

/// What became of it by one driver; empty as far as the driver did not get.
#[derive(Default)]
pub(crate) struct Row {
    pub(crate) name: String,
    refused: Option<String>,
    state: Vec<f64>,
    /// Of events (s).
    times: Vec<f64>,
    phases: Vec<String>,
    /// Kinetic at the start, from efforts, impacts and contacts, kinetic at the end (J).
    energies: Vec<f64>,
    csv: Vec<u8>,
    /// What is drawn, over time.
    pub(crate) curve: Vec<(f64, f64)>,
    /// The first impact of several contacts: when, and the range over its outcomes.
    pub(crate) outcomes: Option<(f64, [f64; 2])>,
}

impl<S: MechanicalSystem + UnilateralConstraints> Study<'_, S> {
    /// Runs any driver from the common start.
    pub(crate) fn run(&mut self, name: &str, driver: &mut dyn Driver) -> Outcome<()> {
        let row = self.row(&self.start, driver)?;
        self.add(name, row);
        Ok(())
    }

    /// Keeps a row.
    pub(crate) fn add(&mut self, name: &str, row: Row) {
        let name = name.to_owned();
        self.rows.push(Row { name, ..row });
    }

    /// What a driver makes of it from a start.
    pub(crate) fn row(&self, start: &Start, driver: &mut dyn Driver) -> Outcome<Row> {
        let mut row = Row::default();
        let run = match driver.integrate(start, self.tf) {
            Ok(run) => run,
            Err(refusal) => {
                row.refused = Some(refusal.to_string());
                return Ok(row);
            }
        };
        if let Status::Refused(stop) = run.status() {
            row.refused = Some(stop.to_string());
        }
        row.state = run.state().as_slice().to_vec();
        row.times = run.events().iter().map(|event| event.t).collect();
        row.phases = run.phases().iter().map(|p| named(&p.closed)).collect();
        if run.events().is_empty() {
            // The core has guards and modes, and no log of contacts.
            let closed = run
                .modes()
                .iter()
                .map(|change| self.model.closed(&change.mode));
            row.times = run.crossings().iter().map(|crossing| crossing.t).collect();
            row.phases = closed.map(|closed| named(&closed)).collect();
        }
        let is = self.model.energy_balance(&run)?;
        let [before, after] = is.kinetic;
        row.energies = vec![before, is.efforts, is.impacts, is.contacts, after];
        let film = run.every(self.tf / 1000.0)?;
        let drawn = film.times.iter().enumerate();
        row.curve = drawn.map(|(k, &t)| (t, film.states[(DRAWN, k)])).collect();
        run.write_csv(&mut row.csv)?;
        let several = |event: &&ContactEvent| event.order.is_some() && event.contacts.len() > 1;
        if let Some(event) = run.events().iter().find(several) {
            let velocity = DRAWN - self.model.system().coordinates();
            row.outcomes = Some((event.t, range(&self.model.impact_of(event)?, velocity)?));
        }
        Ok(row)
    }

    /// The entry that is drawn.
    pub(crate) fn drawn(&self) -> &str {
        self.entries.split(", ").nth(DRAWN).unwrap_or_default()
    }

    /// Prints the tables, and draws.
    pub(crate) fn show(&self, desk: &mut Desk) -> Outcome<()> {
        let out = &mut desk.out;
        let heads = self.entries.split(", ").map(|entry| format!("{entry:>13}"));
        let heads = heads.collect::<Vec<_>>().concat();
        writeln!(out, "{}\n\n{:27}   t [s]{heads}      off", self.title, "")?;
        for row in &self.rows {
            if let [_, .., (t, _)] = row.curve[..] {
                let off = row.state.iter().zip(&self.rows[0].state);
                let off = off.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                let off = if t < self.tf {
                    String::new()
                } else {
                    format!("{off:9.0e}")
                };
                writeln!(out, "{:27}{t:8.4}{}{off}", row.name, cells(&row.state, 13))?;
            }
            if let Some(why) = &row.refused {
                writeln!(out, "{:27}  refused: {why}", row.name)?;
            }
        }
        let heads = "kinetic [J]  + efforts  + impacts + contacts  = kinetic";
        let first = "events  first ones [s]        phases                ";
        writeln!(out, "\n{:28}{first}{heads}", "")?;
        for row in self.rows.iter().filter(|row| row.curve.len() > 1) {
            let times: Vec<String> = row.times.iter().map(|t| format!("{t:.4}")).collect();
            let (count, times) = (times.len(), times[..times.len().min(3)].join(" "));
            let more = if row.phases.len() > 5 { " .." } else { "" };
            let phases = row.phases[..row.phases.len().min(5)].join(" ") + more;
            let (name, energies) = (&row.name, cells(&row.energies, 11));
            writeln!(out, "{name:27}{count:7}  {times:20}  {phases:22}{energies}")?;
        }
        let outcomes = self.rows.iter().find_map(|row| row.outcomes);
        if let Some((t, range)) = outcomes {
            let (range, entry) = (cells(&range, 9), self.drawn());
            writeln!(
                out,
                "\n{entry} after the impact at {t:.4} s, least and most:{range}"
            )?;
        }
        writeln!(out, "\n{}", self.why)?;
        for row in self.rows.iter().filter(|row| !row.csv.is_empty()) {
            if let Some(folder) = &desk.csv {
                let file = format!("{} {}.csv", self.name, row.name);
                fs::create_dir_all(folder)?;
                fs::write(folder.join(file), &row.csv)?;
            }
        }
        let file = picture::draw(&desk.pictures, self, outcomes)?;
        Ok(writeln!(out, "wrote {}\n", file.display())?)
    }
}

/// Numbers with five digits; what is zero but for rounding has no sign.
fn cells(numbers: &[f64], width: usize) -> String {
    let round = |x: &f64| (1e5 * x).round() / 1e5 + 0.0;
    let cells = numbers.iter().map(|x| format!("{:width$.5}", round(x)));
    cells.collect::<Vec<_>>().concat()
}

/// The closed contacts: `0`, `01`.
fn named(closed: &[usize]) -> String {
    match closed {
        [] => "free".to_owned(),
        _ => closed.iter().map(ToString::to_string).collect(),
    }
}

/// The range of a velocity over the outcomes of an impact: with friction all that rigid bodies
/// allow, without it those of all orders of the contacts.
fn range(impact: &ImpactProblem, velocity: usize) -> Outcome<[f64; 2]> {
    let values: Vec<f64> = if impact.friction().iter().any(|mu| *mu > 0.0) {
        let set = ExactPlanar::new().resolve(impact)?.velocities()?;
        let vertices = set.pieces().iter().flat_map(|piece| piece.vertices());
        vertices.map(|v| v[velocity]).collect()
    } else {
        let outcomes = AllOutcomes::new().resolve(impact)?.list;
        let after = outcomes.iter().map(|one| impact.velocity_after(one));
        after.map(|v| Ok(v?[velocity])).collect::<Outcome<_>>()?
    };
    let none = [f64::INFINITY, f64::NEG_INFINITY];
    let wider = |[low, high]: [f64; 2], v| [low.min(v), high.max(v)];
    Ok(values.into_iter().fold(none, wider))
}
