//! A walker on feet that may slip: how much friction its gait uses, and what it does where there is less.
//!
//! The compass walks down a slope without a motor (T. Mc Geer, 1990). Its standing foot needs most friction just
//! after it touches down and just before the next one does. With less than that the foot slips for a
//! moment and comes to rest again; with less still the walker stumbles.

mod biped;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/curves.rs"]
mod curves;
#[path = "../common/linear.rs"]
mod linear;
mod picture;

use std::io::Write;
use std::process::ExitCode;

use biped::{Biped, Stance, Step};
use common::flags::{Outcome, ensure};
use saltation::ContactModel;

const HELP: &str = "\
A passive walker on feet that may slip: friction used against friction available.

For each coefficient of friction the walker starts in its gait of feet that stick, and is followed for some steps: how many it makes,
how long the last one lasts and how far it goes, how far the standing foot slips in it, and the largest friction that it uses,
tangential over normal force.

  cargo run --release --example walking -- [FLAGS]

  --slope D         of the ground, 3 degrees
  --steps N         at most, 12
  --rtol R          tolerance, 1e-9
  --pictures DIR    folder for pictures, target/pictures
";

/// The gait on 3 degrees, after a touchdown.
const GAIT: Stance = Stance {
    angles: [0.271_028_680_498_822, -0.271_028_680_498_822],
    rates: [-1.092_383_589_883_61, -0.377_373_948_907_184],
    slip: 0.0,
};

/// Coefficients that are tried.
const FRICTION: [f64; 6] = [0.3, 0.27, 0.26, 0.25, 0.24, 0.22];

/// The friction used at a time of a step, tangential over normal force, and the place of the foot.
#[derive(Clone, Copy)]
pub(crate) struct Use {
    pub(crate) t: f64,
    pub(crate) ratio: f64,
    pub(crate) foot: f64,
}

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let slope: f64 = flags.number("--slope", 3.0)?;
        let steps: u32 = flags.number("--steps", 12)?;
        let rtol: f64 = flags.number("--rtol", 1e-9)?;
        ensure((1.0..=5.0).contains(&slope), "--slope must lie in 1 to 5")?;
        ensure((1..=1000).contains(&steps), "--steps must lie in 1 to 1000")?;
        let folder = flags.pictures()?;
        let mut curves = Vec::new();
        writeln!(
            out,
            "{:>9} {:>6} {:>10} {:>10} {:>10} {:>10}",
            "friction", "steps", "time [s]", "length [m]", "slip [m]", "used"
        )?;
        for friction in FRICTION {
            let slope = slope.to_radians();
            let walker = Biped { slope, friction };
            let (mut stance, mut last, mut made) = (GAIT, None, 0);
            while made < steps {
                let Some(step) = walker.step(stance, rtol)? else {
                    break;
                };
                stance = step.next;
                made += 1;
                last = Some(step);
            }
            write!(out, "{friction:>9} {made:>6}")?;
            if let Some(step) = last {
                let used = uses(walker, &step)?;
                tell(&step, &used, out)?;
                curves.push((friction, used));
            }
            writeln!(out)?;
        }
        let file = picture::draw(&folder, &curves)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

/// The friction used in a step.
fn uses(walker: Biped, step: &Step) -> Outcome<Vec<Use>> {
    let model = ContactModel::new(walker);
    let end = step.touchdown.t * (1.0 - 1e-12);
    let of = |k: u32| -> Outcome<Use> {
        let t = end * f64::from(k) / 1000.0;
        let state = step.run.state_at(t)?;
        let forces = model.multipliers(t, state.as_slice(), step.run.mode_at(t)?);
        let along = forces.friction(0).first().copied().unwrap_or(0.0);
        let foot = state[0] + state[2].sin();
        let ratio = along / forces.values()[0];
        Ok(Use { t, ratio, foot })
    };
    (0..=1000).map(of).collect()
}

/// The last step.
fn tell(step: &Step, used: &[Use], out: &mut dyn Write) -> Outcome<()> {
    let x = &step.touchdown.state_before;
    let length = x[3].sin() - x[2].sin();
    let most = used
        .iter()
        .fold(0.0f64, |most, used| most.max(used.ratio.abs()));
    let slip = used[used.len() - 1].foot - used[0].foot;
    write!(
        out,
        " {:>10.6} {length:>10.6} {:>10.6} {most:>10.6}",
        step.touchdown.t,
        // Without the sign of rounding.
        (1e6 * slip).round() / 1e6 + 0.0
    )?;
    Ok(())
}
