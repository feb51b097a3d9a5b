//! Trotting: how the end of a stride depends on the pitch with which it begins, when the level
//! start closes two contacts at one instant.
//!
//! Source: Pace & Burden, "Decoupled limbs yield differentiable trajectory outcomes" (arXiv
//! 1609.04056), Fig. 1, which states no parameters; those here are of the models `RigidTrot` and
//! `SoftTrot`. The second picture is not in the paper.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/linear.rs"]
mod linear;
mod picture;
mod report;
mod stride;

use std::process::ExitCode;

use common::flags::{Flags, Outcome, ensure};
use saltation::models::{RigidTrot, SoftTrot};
use stride::{Stride, Study};

const HELP: &str = "\
A body falls on two legs: how does the end of the stride depend on the pitch at its start?

After Pace & Burden, \"Decoupled limbs yield differentiable trajectory outcomes\" (arXiv 1609.04056), Fig. 1.

trot.svg       The pitch rate at the end over the pitch at the start. On rigid legs a pitch to either side makes one foot land
               before the other, its impulse is felt by the other, and the outcome jumps: a dot is the level start, circles are
               the limits from either side, short lines the slopes there. On soft legs the impulses do not feel each other
               and the outcome is smooth.
trot_kink.svg  Soft legs whose feet bounce and are joined by a damper: impulses do not feel each other but forces do, and the
               outcome is continuous with a kink. Slopes from either side are those of the derivative. Not in the paper.

The table lists the pitch rate at the end and the contact modes on the way: {} in the air, 1 the rear foot, 2 the front foot.

  cargo run --release --example trot -- [FLAGS]

  --points N          runs to either side of the level start, 30
  --theta A           greatest pitch at the start, 0.3 rad
  --tf T              end of the stride, 0.65 s
  --inertia I         of the body on rigid legs, 1 kg m^2 (0.25: impulses do not feel each other)

The feet that bounce:

  --kink-theta A      greatest pitch at the start, 0.012 rad (from 0.013 on a foot lands again before the end: kinks of its own)
  --kink-tf T         end of the stride, 0.36 s
  --restitution E     of the feet, 0.5
  --damper C          between the feet, 2 N s/m

  --pictures DIR      folder for pictures, target/pictures
";

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = Setup::read(&mut flags)?;
        let folder = flags.pictures()?;
        let rigid = Study::of(&setup.rigid(), setup.theta, setup.points)?;
        let soft = Study::of(&setup.soft(), setup.theta, setup.points)?;
        let kinked = Study::of(&setup.kinked(), setup.kink_theta, setup.points)?;

        report::table(&setup.rigid(), &setup.soft(), setup.theta, out)?;
        report::sides([&rigid, &soft, &kinked], out)?;
        report::verdicts([&rigid, &soft, &kinked], out)?;
        let file = picture::jump(&folder, &rigid, &soft)?;
        writeln!(out, "\nwrote {}", file.display())?;
        let file = picture::kink(&folder, &kinked)?;
        Ok(writeln!(out, "wrote {}", file.display())?)
    })
}

/// What the flags say.
struct Setup {
    points: u32,
    theta: f64,
    tf: f64,
    inertia: f64,
    kink_theta: f64,
    kink_tf: f64,
    restitution: f64,
    damper: f64,
}

impl Setup {
    fn read(flags: &mut Flags) -> Outcome<Self> {
        let setup = Self {
            points: flags.number("--points", 30)?,
            theta: flags.number("--theta", 0.3)?,
            tf: flags.number("--tf", 0.65)?,
            inertia: flags.number("--inertia", 1.0)?,
            kink_theta: flags.number("--kink-theta", 0.012)?,
            kink_tf: flags.number("--kink-tf", 0.36)?,
            restitution: flags.number("--restitution", 0.5)?,
            damper: flags.number("--damper", 2.0)?,
        };
        ensure(
            (2..=2000).contains(&setup.points),
            "--points must lie in 2 to 2000",
        )?;
        for (name, theta) in [("--theta", setup.theta), ("--kink-theta", setup.kink_theta)] {
            let message = format!("{name} must lie in 0.001 to 0.5");
            ensure((0.001..=0.5).contains(&theta), &message)?;
        }
        for (name, tf) in [("--tf", setup.tf), ("--kink-tf", setup.kink_tf)] {
            // A level body lands at 0.319 s.
            let message = format!("{name} must lie in 0.33 to 2");
            ensure((0.33..=2.0).contains(&tf), &message)?;
        }
        ensure(
            (0.05..=20.0).contains(&setup.inertia),
            "--inertia must lie in 0.05 to 20",
        )?;
        ensure(
            (0.0..=1.0).contains(&setup.restitution),
            "--restitution must lie in 0 to 1",
        )?;
        ensure(
            (0.0..=20.0).contains(&setup.damper),
            "--damper must lie in 0 to 20",
        )?;
        Ok(setup)
    }

    fn rigid(&self) -> Stride<RigidTrot> {
        let system = RigidTrot {
            inertia: self.inertia,
            ..RigidTrot::default()
        };
        Stride {
            name: "rigid legs".to_owned(),
            system,
            tf: self.tf,
        }
    }

    fn soft(&self) -> Stride<SoftTrot> {
        Stride {
            name: "soft legs".to_owned(),
            system: SoftTrot::default(),
            tf: self.tf,
        }
    }

    fn kinked(&self) -> Stride<SoftTrot> {
        let system = SoftTrot {
            restitution: self.restitution,
            coupling: self.damper,
            ..SoftTrot::default()
        };
        Stride {
            name: format!(
                "soft legs, restitution {}, damper {} N s/m",
                self.restitution, self.damper
            ),
            system,
            tf: self.kink_tf,
        }
    }
}
