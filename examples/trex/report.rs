//! The tables.

use std::io::Write;

use saltation::variational::OrthogonalDesign;

use crate::Setup;
use crate::common::flags::Outcome;
use crate::landing::Landing;
use crate::robot::{PRINTED, PRINTED_PRODUCTS, Robot};

/// Table I, and what our model makes of its rows.
pub(crate) fn table(
    robots: &[Robot; 3],
    found: &OrthogonalDesign,
    out: &mut dyn Write,
) -> Outcome<()> {
    let printed = |i: usize| Robot::new("", PRINTED[i].0, PRINTED[i].1);
    let [initial, optimised] = [printed(0)?, printed(1)?];
    let [before, after, built] = robots;
    let rows = [
        ("paper, initial", &initial, Some(PRINTED_PRODUCTS[0])),
        ("ours, before", before, None),
        ("ours, after", after, None),
        ("ours, built", built, None),
        ("paper, optimised", &optimised, Some(PRINTED_PRODUCTS[1])),
    ];
    writeln!(
        out,
        "Table I. Ours: the part of the model on which the paper is silent, so that all products are of our model;"
    )?;
    writeln!(
        out,
        "the gaps of the paper's rows are those of our geometry. <u,v> of the paper: in an unknown unit.\n"
    )?;
    write!(out, "{:<18}", "cm and rad")?;
    for name in [
        "x", "y", "theta", "phi_L", "phi_R", "gam_L", "gam_R", "phi_T", "r_1", "r_2", "l_u", "l_l",
        "tail", "mass g",
    ] {
        write!(out, "{name:>9}")?;
    }
    writeln!(out)?;
    for (name, robot, _) in &rows {
        let [x, y, theta, phi_l, gamma_l, phi_r, gamma_r, phi_t] = robot.q;
        let angles = [theta, phi_l, phi_r, gamma_l, gamma_r, phi_t];
        write!(out, "{name:<18}{x:>9.4}{y:>9.4}")?;
        for value in angles.iter().chain(&robot.design) {
            write!(out, "{value:>9.4}")?;
        }
        writeln!(
            out,
            "{:>9.4}{:>9.2}",
            robot.system.tail(),
            robot.system.total_mass()
        )?;
    }
    writeln!(
        out,
        "\n{:<18}{:>13}{:>13}{:>15}{:>15}{:>19}",
        "", "foot gap cm", "tail gap cm", "cos(u, v)", "<u,v> 1/g", "<u,v> of the paper"
    )?;
    for (name, robot, product) in &rows {
        let problem = robot.impact(0.0)?;
        let gaps = robot.gaps();
        writeln!(
            out,
            "{name:<18}{:>13.1e}{:>13.1e}{:>15.6e}{:>15.6e}{:>19}",
            gaps[0],
            gaps[1],
            problem.cosines()[(0, 1)],
            problem.delassus()[(0, 1)],
            product.map_or(String::new(), |product| format!("{product:.2e}"))
        )?;
    }
    writeln!(
        out,
        "\nsearch: {} corrections; uniqueness before {:?}, after {:?}\n",
        found.iterations, found.before.uniqueness, found.after.uniqueness
    )?;
    Ok(())
}

/// Indeterminacy over time.
pub(crate) fn landings(
    robots: &[Robot; 3],
    landings: &[Landing],
    setup: &Setup,
    out: &mut dyn Write,
) -> Outcome<()> {
    let speed = (2.0 * robots[0].system.gravity * setup.drop).sqrt();
    writeln!(
        out,
        "drop of {} cm ({speed:.3} cm/s), elastic impacts, steps of {} ms; indeterminacy xi between ArgMin and ArgMax",
        setup.drop, setup.step
    )?;
    write!(out, "{:<10}{:>14}", "", "first impact")?;
    let times: Vec<f64> = [setup.step, setup.tf / 3.0, setup.tf / 1.5, setup.tf].to_vec();
    for t in &times {
        write!(out, "{:>14}", format!("{t:.2} ms"))?;
    }
    writeln!(out, "{:>14}  impacts", "greatest")?;
    for landing in landings {
        write!(out, "{:<10}{:>14.3e}", landing.name, landing.first)?;
        for &t in &times {
            write!(out, "{:>14.3e}", landing.at(t).unwrap_or(f64::NAN))?;
        }
        let [a, b] = landing.impacts;
        writeln!(
            out,
            "{:>14.3e}  {a} and {b}{}{}",
            landing.greatest(),
            if landing.same_contacts {
                ", the same contacts in turn"
            } else {
                ""
            },
            if landing.guaranteed {
                ""
            } else {
                ", some taken to be at rest"
            }
        )?;
    }
    if let [before, rest @ ..] = landings {
        for landing in rest {
            writeln!(
                out,
                "{} over before: {:.1e} at the first impact, {:.1e} for the greatest",
                landing.name,
                landing.first / before.first,
                landing.greatest() / before.greatest()
            )?;
        }
    }
    Ok(())
}
