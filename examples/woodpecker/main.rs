//! The woodpecker toy: a bird on a spring rattles down a pole, by impacts, slip and stick.
//!
//! The sleeve jams on the pole, slips, is free, and jams again; the beak strikes the pole in between.
//! From the start of a slip to the next one the motion is a map of one number, the rate of the bird:
//! its fixed point is the motion of the toy, and its derivative says how fast a disturbance fades
//! (Pfeiffer & Glocker; numbers of the toy by Glocker).

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/linear.rs"]
mod linear;
mod picture;
mod toy;

use std::io::Write;
use std::process::ExitCode;

use common::flags::{Outcome, ensure};
use saltation::impact::{Contacting, Moreau};
use saltation::{ContactModel, EventDriven, Run, Start};
use toy::Woodpecker;

const HELP: &str = "\
The woodpecker toy: a bird on a spring rattles down a pole, by impacts, slip and stick.

The first table lists what the contacts do in one period: o open, s stick, + and - slip up and down, of beak, lower and upper edge of
the sleeve. Then the energy of a period, and the derivative of the return map: through all impacts, slips and sticks of a period by
saltation matrices, and by differences of two periods. It is the only eigenvalue that is not 0 or 1.

  cargo run --release --example woodpecker -- [FLAGS]

  --rate W          of the bird at the start, 18 rad/s: the motion settles from there
  --periods N       that it is followed, 24
  --rtol R          tolerance, 1e-10
  --pictures DIR    folder for pictures, target/pictures
";

/// The angle at which the sleeve, jammed at its lower edge, begins to slip: of sleeve and bird (rad).
const JAMMED: [f64; 2] = [-0.103_448_275_862_068_96, -0.205_135_349_243_526];

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let rate: f64 = flags.number("--rate", 18.0)?;
        let periods: u32 = flags.number("--periods", 24)?;
        let rtol: f64 = flags.number("--rtol", 1e-10)?;
        ensure((14.0..=22.0).contains(&rate), "--rate must lie in 14 to 22")?;
        ensure(
            (4..=200).contains(&periods),
            "--periods must lie in 4 to 200",
        )?;
        let folder = flags.pictures()?;
        let model = ContactModel::with_law(Woodpecker, Moreau::new());
        let mut driver = EventDriven::new(model)?.rtol(rtol).atol(1e-3 * rtol);
        let (q, v) = ([0.0, JAMMED[0], JAMMED[1]], [0.0, 0.0, rate]);
        let start = Start::at(0.0).q(&q).v(&v);
        let run = driver.integrate(&start, 0.1465 * f64::from(periods))?;
        let run = run.completed()?;
        let slips = slips(&run);
        ensure(slips.len() > 3, "the bird came to rest: another --rate")?;
        settle(&run, &slips, out)?;
        period(driver.model(), &run, &slips, out)?;
        derivative(&mut driver, &run, &slips, out)?;
        let file = picture::draw(&folder, driver.model(), &run, &slips)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

/// The times at which the lower edge begins to slip.
fn slips(run: &Run) -> Vec<f64> {
    let events = run.events().iter();
    let slips = events.filter(|event| event.slipped == [1] && event.t > 0.01);
    slips.map(|event| event.t).collect()
}

/// The modes of the contacts, one letter each.
pub(crate) fn word(model: &ContactModel<Woodpecker>, mode: &saltation::Mode) -> String {
    let letter = |j| match model.contacting(mode, j) {
        Contacting::Open => 'o',
        Contacting::Stick => 's',
        Contacting::SlipForward => '+',
        _ => '-',
    };
    (0..3).map(letter).collect()
}

/// The rate of the bird from slip to slip.
fn settle(run: &Run, slips: &[f64], out: &mut dyn Write) -> Outcome<()> {
    writeln!(out, "rate of the bird at the start of each slip [rad/s]")?;
    for t in slips.iter().take(12) {
        write!(out, "{:>12.7}", run.state_at(*t)?[5])?;
    }
    Ok(writeln!(out, "\n")?)
}

/// What the contacts do in the last whole period, and its energy.
fn period(
    model: &ContactModel<Woodpecker>,
    run: &Run,
    slips: &[f64],
    out: &mut dyn Write,
) -> Outcome<()> {
    let [.., from, to] = slips else {
        return Ok(());
    };
    writeln!(out, "{:>12}  modes  impulses [N s]", "t - t0 [s]")?;
    for event in run.events() {
        if event.t < *from || event.t > *to {
            continue;
        }
        let mode = run.mode_at(event.t)?;
        write!(out, "{:>12.8}  {}  ", event.t - from, word(model, mode))?;
        for (place, j) in event.contacts.iter().enumerate() {
            if let Some(push) = event.impulses.get(place).filter(|push| **push > 0.0) {
                let along = event.impulses[event.contacts.len() + place];
                write!(out, "  contact {j}: {push:.4e}, {along:.4e}")?;
            }
        }
        writeln!(out)?;
    }
    let fall = run.state_at(*from)?[0] - run.state_at(*to)?[0];
    let (first, last) = (run.state_at(*from)?, run.state_at(*to)?);
    let energy = |x: &[f64]| model.energy(x).unwrap_or(f64::NAN);
    let lost = energy(first.as_slice()) - energy(last.as_slice());
    writeln!(
        out,
        "\nperiod {:.9} s, descent {fall:.9} m, energy lost {lost:.6e} J\n",
        to - from
    )?;
    Ok(())
}

/// The derivative of the return map at its fixed point, to which the rates from slip to slip lead.
fn derivative(
    driver: &mut EventDriven<Woodpecker>,
    run: &Run,
    slips: &[f64],
    out: &mut dyn Write,
) -> Outcome<()> {
    let [.., a, b, c] = slips else {
        return Ok(());
    };
    let [a, b, c] = [a, b, c].map(|t| run.state_at(*t).map(|x| x[5]));
    let (a, b, c) = (a?, b?, c?);
    let quotient = (c - b) / (b - a);
    let fixed = c + (c - b) * quotient / (1.0 - quotient);
    let (q, v) = ([0.0, JAMMED[0], JAMMED[1]], [0.0, 0.0, fixed]);
    let periodic = driver.integrate(&Start::at(0.0).q(&q).v(&v), 0.16)?;
    let period = *crate::slips(&periodic)
        .first()
        .ok_or("the bird came to rest")?;
    // From within a slip, so that neither end lies on a guard.
    let state = periodic.state_at(1e-3)?;
    let (q, v) = state.as_slice().split_at(3);
    let found = driver.derivative(&Start::at(1e-3).q(q).v(v), 1e-3 + period)?;
    let mut eigenvalues = found.matrix()?.complex_eigenvalues();
    let eigenvalues = eigenvalues.as_mut_slice();
    eigenvalues.sort_by(|a, b| a.re.total_cmp(&b.re));
    writeln!(out, "fixed point {fixed:.7} rad/s, period {period:.9} s")?;
    writeln!(out, "derivative of the period: {}", found.verdict())?;
    write!(out, "eigenvalues")?;
    for value in eigenvalues {
        write!(out, "{:>13.8}", value.re)?;
    }
    writeln!(out, "\nby the last slips of the run: {quotient:.6}")?;
    Ok(())
}
