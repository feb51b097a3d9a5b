//! The variational driver: steps, runs, derivatives, and the search for orthogonal contacts.

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{LinkChain, SlidingBlock, Trex};
use saltation::variational::{Chatter, Meeting, Midpoint, OrthogonalDesign, Orthogonality};
use saltation::{ContactModel, InputError, Start, Variational};

use super::bodies::time;
use super::{kept, live};
use crate::body::Body;
use crate::draw::Draw;
use crate::laws::{law, selection};
use crate::trial::Trial;

pub fn run(mut draw: Draw, trial: &mut Trial) {
    match draw.below(8) {
        0 => steps(&mut draw, trial),
        1 => designs(&mut draw, trial),
        2 => models(&mut draw, trial),
        _ => runs(&mut draw, trial),
    }
}

/// Steps of a body without contacts, and their derivative.
fn steps(draw: &mut Draw, trial: &mut Trial) {
    let body = Body::new(draw, 5, 0);
    let (mut q, v) = body.place(draw);
    let Some(mut midpoint) = trial.door("midpoint", Midpoint::new(body)) else {
        return;
    };
    if trial.is_second {
        let (mut q, mut p) = (vec![0.1; q.len()], vec![0.2; q.len()]);
        let _ = midpoint.step(0.0, 0.01, &mut q, &mut p);
    }
    // That of the first step of a second run counts too.
    let halved_before = midpoint.halvings();
    let Some(mut p) = trial.result("momentum", midpoint.momentum(&q, &v)) else {
        return;
    };
    trial.result("velocity", midpoint.velocity(&q, &p));
    trial.note("dof", &midpoint.system().dof());
    let t = draw.number();
    for _ in 0..draw.below(20) {
        let h = if draw.chance(0.1) {
            draw.number()
        } else {
            draw.between(-0.05, 0.05)
        };
        if trial
            .result("step", midpoint.step(t, h, &mut q, &mut p))
            .is_none()
        {
            break;
        }
        trial.finite("q", &q);
        trial.finite("p", &p);
    }
    trial.note("halvings", &(midpoint.halvings() - halved_before));
    let derivative = midpoint.derivative(t, 0.01, &q, &p);
    trial.numbers(
        "derivative",
        derivative.map(|whole| whole.as_slice().to_vec()),
    );
}

/// A driver with any settings, and a step that makes few steps of so long a run.
fn driver<S>(draw: &mut Draw, system: S, length: f64) -> Result<Variational<S>, InputError>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let mut model = ContactModel::with_law(system, law(draw)).selection(selection(draw));
    if draw.chance(0.3) {
        model = model.frictionless();
    }
    if draw.chance(0.1) {
        model = model.gap_tolerance(1e-9 * draw.positive());
    }
    if draw.chance(0.1) {
        model = model.rate_tolerance(1e-9 * draw.positive());
    }
    let mut driver = Variational::new(model)?;
    let step = length / draw.whole(1, 150) as f64;
    let wrong = *draw.pick(&[0.0, -0.1, f64::NAN]);
    driver = driver.time_step(if draw.chance(0.03) { wrong } else { step });
    driver = driver.max_impacts(draw.whole(0, 40));
    if draw.chance(0.4) {
        let rule = Chatter::default().impacts(draw.below(5));
        let rule = if draw.chance(0.5) {
            rule.time(0.01 * draw.number())
        } else {
            rule
        };
        driver = driver.chatter(draw.chance(0.7).then_some(rule));
    }
    if draw.chance(0.5) {
        driver = driver.frictionless_impacts();
    }
    if draw.chance(0.1) {
        driver = driver.max_memory(draw.size(10_000));
    }
    Ok(driver)
}

/// Runs of a random body.
fn runs(draw: &mut Draw, trial: &mut Trial) {
    let body = Body::new(draw, 5, 4);
    let (q, v) = body.place(draw);
    let (t0, tf) = time(draw);
    go(draw, trial, body, (t0, &q, &v, tf));
}

fn go<S>(draw: &mut Draw, trial: &mut Trial, system: S, start: (f64, &[f64], &[f64], f64))
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let (t0, q, v, tf) = start;
    let Some(mut driver) = trial.door("driver", driver(draw, system, (tf - t0).abs())) else {
        return;
    };
    trial.note("start", &start);
    let made = driver.integrate(&Start::at(t0).q(q).v(v), tf);
    let Some(run) = trial.door("integrate", made) else {
        return;
    };
    kept::look(trial, draw, &run, (t0, tf));
    live::balance(trial, driver.model().energy_balance(&run));
    live::look(trial, draw, &mut driver, (t0, q, v, tf));
    if run.times().len() < 60 && driver.model().system().dof() > 0 {
        let derived = driver.derivative(&Start::at(t0).q(q).v(v), tf);
        if let Some(found) = trial.door("derivative", derived) {
            live::derivative(trial, &found);
            let whole = found.matrix().map(|whole| whole.as_slice().to_vec());
            trial.numbers("derivative", whole);
        }
    }
}

/// Runs of the models.
fn models(draw: &mut Draw, trial: &mut Trial) {
    let (t0, tf) = (0.0, draw.between(0.0, 0.5));
    if draw.chance(0.5) {
        let block = SlidingBlock {
            slope: draw.between(-1.0, 1.0),
            friction: draw.part(),
            restitution: draw.part(),
            ..SlidingBlock::default()
        };
        let (q, v) = ([draw.unit(), draw.part()], [draw.number(), draw.number()]);
        return go(draw, trial, block, (t0, &q, &v, tf));
    }
    let Some(chain) = trial.door("chain", LinkChain::new(draw.size(6))) else {
        return;
    };
    let (q, v) = (draw.numbers(chain.links()), draw.numbers(chain.links()));
    go(draw, trial, chain, (t0, &q, &v, tf));
}

/// Postures and designs of the robot.
fn designs(draw: &mut Draw, trial: &mut Trial) {
    let build = |design: &[f64]| match design {
        [a, b, c, d] => Trex::new([*a, *b], [*c, *d]),
        _ => Trex::new([7.0, 4.0], [8.0, 10.0]),
    };
    let near = |draw: &mut Draw, value: f64| value + 0.1 * draw.unit();
    let posture = [0.0, 12.3, 5.78, 5.13, 5.24, 1.99, 5.24, 0.0].map(|z| near(draw, z));
    let design = [7.0, 4.0, 8.0, 10.0].map(|z| near(draw, z));
    let given = if draw.chance(0.3) {
        &design[..0]
    } else {
        &design[..]
    };
    let mut tool = Orthogonality::new(build, [draw.below(4), draw.below(4)]);
    if draw.chance(0.8) {
        let scales: Vec<f64> = (0..8 + given.len()).map(|_| draw.positive()).collect();
        tool = tool.scales(&scales);
    }
    if draw.chance(0.5) {
        tool = tool.fixed(&[draw.below(13)]);
    }
    if draw.chance(0.4) {
        let around = |z: &f64| [z - draw.part(), z + 0.5];
        let bounds: Vec<[f64; 2]> = posture.iter().chain(given).map(around).collect();
        tool = tool.bounds(&bounds);
    }
    let found: Option<OrthogonalDesign> = trial.result("design", tool.solve(&posture, given));
    if let Some(found) = found {
        let after: Meeting = found.after;
        trial.expect(after.cosine.abs() < 1e-9, || format!("{after:?}"));
        trial.finite("posture", &found.q);
        trial.finite("design", &found.design);
        if let Some(trex) = trial.door("trex", build(&found.design)) {
            let q: [f64; 8] = found.q.try_into().unwrap_or_default();
            trial.note("points", &trex.points(&q));
            trial.note(
                "sizes",
                &(trex.tail(), trex.total_mass(), trex.at_rest_in(&q)),
            );
        }
    }
}
