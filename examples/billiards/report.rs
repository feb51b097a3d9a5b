//! The tables.

use std::f64::consts::PI;
use std::io::Write;

use crate::common::flags::Outcome;
use crate::curve::{Curve, percent};
use crate::table_top::{BALLS, Shot};

/// The indeterminacy angle by angle: the least angle of each set, then every five degrees.
pub(crate) fn table(curves: &[Curve; 3], out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "indeterminacy [%] against the angle between the directions from c to a and to b\n"
    )?;
    write!(out, "{:>12} {:>5}", "angle [rad]", "[deg]")?;
    for curve in curves {
        write!(out, "  {:>11}", curve.name)?;
    }
    write!(out, "\n{:>18}", "radius of c")?;
    for curve in curves {
        write!(out, "  {:>11.6}", curve.balls.radius_c)?;
    }
    writeln!(out)?;
    let mut angles: Vec<f64> = curves.iter().map(|c| c.balls.least_angle()).collect();
    angles.extend((7..=36).map(|k| f64::from(k) * PI / 36.0));
    angles.sort_by(f64::total_cmp);
    // The least angles of two sets are multiples of 5°.
    angles.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    for angle in angles {
        write!(out, "{angle:>12.10} {:>5.1}", angle.to_degrees())?;
        for curve in curves {
            if angle < curve.balls.least_angle() - 1e-9 {
                write!(out, "  {:>11}", "-")?;
            } else {
                let angle = angle.max(curve.balls.least_angle());
                write!(out, "  {:>11.8}", percent(curve.balls, angle)?)?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// What the curves do beyond the right angle.
pub(crate) fn humps(curves: &[Curve; 3], out: &mut dyn Write) -> Outcome<()> {
    writeln!(out, "\nbeyond the right angle\n")?;
    for curve in curves {
        let (angle, height) = curve.second_hump()?;
        write!(
            out,
            "{:<11}  highest at {angle:.4} rad: {height:.4} %; ",
            curve.name
        )?;
        match curve.third_reflection()? {
            Some(kink) => writeln!(out, "a third reflection, and a kink, from {kink:.9} rad on")?,
            None => writeln!(out, "two reflections everywhere")?,
        }
    }
    Ok(())
}

/// The outcomes of the shot that is drawn.
pub(crate) fn shot(shot: &Shot, out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "\nthe shot that is drawn: {} rad, radii {}, {} and {}; indeterminacy {:.4} %\n",
        shot.theta, shot.radii[0], shot.radii[1], shot.radii[2], shot.indeterminacy
    )?;
    write!(out, "{:<26}", "velocity [m/s]")?;
    for ball in BALLS {
        write!(out, "{:^22}", format!("ball {ball}"))?;
    }
    writeln!(out, "  energy over that before")?;
    let before = ("before".to_owned(), &shot.before, 1.0);
    let after = shot.after.iter();
    let after = after.map(|after| (after.in_words(), &after.velocities, after.energy));
    for (name, velocities, energy) in std::iter::once(before).chain(after) {
        write!(out, "{name:<26}")?;
        for [x, y] in velocities {
            // 0.0 is added because a product may be −0
            write!(out, "  {:>9.6} {:>9.6}", x + 0.0, y + 0.0)?;
        }
        writeln!(out, "  {energy:.6}")?;
    }
    Ok(())
}
