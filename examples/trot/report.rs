//! The tables.

use std::io::Write;

use saltation::event_driven::{ContinuityClass, InertialCoupling};

use crate::common::flags::Outcome;
use crate::stride::{PITCH_RATE, Quantity, Stride, Study, Trot, VERTICAL, sequence};

/// Pitches of the table [rad]; those above are taken with either sign.
const PITCHES: [f64; 15] = [
    0.0001, 0.001, 0.01, 0.025, 0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.225, 0.25, 0.275, 0.3,
];

/// The end of the stride, pitch by pitch.
pub(crate) fn table<A: Trot, B: Trot>(
    rigid: &Stride<A>,
    soft: &Stride<B>,
    most: f64,
    out: &mut dyn Write,
) -> Outcome<()> {
    writeln!(
        out,
        "pitch rate at t = {} s [rad/s] and contact modes on the way\n",
        rigid.tf
    )?;
    writeln!(out, "pitch [rad]   {:<34}{}", rigid.name, soft.name)?;
    let above: Vec<f64> = PITCHES.into_iter().filter(|pitch| *pitch <= most).collect();
    let below = above.iter().rev().map(|pitch| -pitch);
    let pitches: Vec<f64> = below.chain([0.0]).chain(above.iter().copied()).collect();
    for pitch in pitches {
        let (a, b) = (rigid.run(pitch)?, soft.run(pitch)?);
        writeln!(
            out,
            "{pitch:>11}   {:>11.8}  {:<19}  {:>11.8}  {}",
            a.rates.pitch,
            sequence(&a.modes),
            b.rates.pitch,
            sequence(&b.modes)
        )?;
    }
    Ok(())
}

/// Limits, jumps and slopes at the level start.
pub(crate) fn sides(studies: [&Study; 3], out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "\nlimits and slopes [per rad] as the pitch tends to 0 from below and from above\n"
    )?;
    writeln!(
        out,
        "{:<25}  {:>12}  {:>12}  {:>12}  {:>12}  {:>12}  {:>12}",
        "", "limit below", "level", "limit above", "jump", "slope below", "slope above"
    )?;
    for study in studies {
        writeln!(out, "{}, t = {} s", study.name, study.tf)?;
        for Quantity { name, unit, of } in [PITCH_RATE, VERTICAL] {
            let [below, above] = study.sides.each_ref();
            let (low, high) = (of(&below.limit), of(&above.limit));
            let level = of(&study.level.rates);
            let values = [
                low,
                level,
                high,
                high - low,
                of(&below.slope),
                of(&above.slope),
            ];
            write!(out, "  {:<23}", format!("{name} [{unit}]"))?;
            for value in values {
                write!(out, "  {:>12.9}", plain(value))?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

/// Whether the models are decoupled where both feet land.
pub(crate) fn verdicts(studies: [&Study; 3], out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "\ndo the feet feel each other when both land at once?\n"
    )?;
    for study in studies {
        let report = &study.decoupling;
        writeln!(
            out,
            "{:<42}  |cosine| of the contacts {:.2}, spread of orders: velocities {:.4}, derivatives {:.4}: {}",
            study.name,
            report.largest_cosine,
            report.state_spread,
            report.order_spread,
            told(report.verdict)
        )?;
    }
    Ok(())
}

/// Zero without a sign where nine digits show no other.
fn plain(value: f64) -> f64 {
    if value.abs() < 5e-10 { 0.0 } else { value }
}

/// A verdict in words.
fn told(verdict: InertialCoupling) -> String {
    match verdict {
        InertialCoupling::Decoupled => "decoupled, smooth".to_owned(),
        InertialCoupling::SmoothHere => "smooth here".to_owned(),
        InertialCoupling::PiecewiseSmooth => "impulses do not, forces do: a kink".to_owned(),
        InertialCoupling::ContinuousOnly(ContinuityClass::ObtusePlastic) => {
            "continuous, plastic feet at an obtuse angle".to_owned()
        }
        InertialCoupling::Discontinuous { jump } => {
            format!("impulses do: velocities jump by {jump:.4}")
        }
        other => format!("{other:?}"),
    }
}
