//! The models of the library with any parameters: their constructors, their closed forms, short
//! runs.

use saltation::event_driven::Zeno;
use saltation::impact::{ImpactFailure, ImpactProblem};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{
    Affine, BouncingBall, BoxAndWall, CompassGait, ContactChain, Cradle, DiskStack, DoublePendulum,
    FieldTable, Hopper, IntegrateAndFire, NormalPlate, PlainPlate, PlateParameters, RamOne,
    RamOneLink, RigidTrot, RockingBlock, SlidingRod, SoftTrot, Thermostat, ThreeBalls,
    VerticalPlate, Wedge,
};
use saltation::nalgebra::DMatrix;
use saltation::{ContactModel, EventDriven, EventFunction, Flow, Integrator, Rearm, Start};

use super::integrate::{Limits, Span, look};
use super::kept;
use crate::draw::Draw;
use crate::trial::Trial;

pub fn run(mut draw: Draw, trial: &mut Trial) {
    let draw = &mut draw;
    match draw.below(16) {
        0 => affine(draw, trial),
        1 => ball(draw, trial),
        2 => billiards(draw, trial),
        3 => chain(draw, trial),
        4 => cradle(draw, trial),
        5 => table(draw, trial),
        6 => hopper(draw, trial),
        7 => cells(draw, trial),
        8 => pendulum(draw, trial),
        9..=11 => plate(draw, trial),
        12 => thermostat(draw, trial),
        13 => rough_body(draw, trial),
        14 => rough_linkage(draw, trial),
        _ => trot(draw, trial),
    }
}

/// Any model: compiled once.
trait System: Flow + EventFunction {}
impl<S: Flow + EventFunction> System for S {}

fn go(draw: &mut Draw, trial: &mut Trial, system: &dyn System, x0: Vec<f64>, rearm: Rearm) {
    let made = Integrator::new(system).map(|run| run.max_steps(1000).max_events(200).rearm(rearm));
    let mut integrator = match made {
        Ok(integrator) => integrator,
        Err(error) => return trial.refused("integrator", &error),
    };
    let asked = Span {
        t0: 0.0,
        x0,
        mode: None,
        tf: draw.between(0.0, 2.0),
    };
    if trial.is_second {
        let _ = integrator.integrate(&Start::at(1.0).x(&asked.x0), 1.5);
    }
    let limits = Limits {
        steps: 1000,
        crossings: 200,
    };
    match integrator.integrate(&asked.start(), asked.tf) {
        Ok(kept) => {
            let kept = look(trial, draw, &asked, limits, kept);
            trial.note("kept", &kept);
        }
        Err(error) => trial.refused("run", &error),
    }
}

fn swing<S: MechanicalSystem + UnilateralConstraints>(
    draw: &mut Draw,
    trial: &mut Trial,
    system: S,
    q: &[f64],
    v: &[f64],
) {
    let made = EventDriven::new(ContactModel::new(system)).map(|simulation| {
        let simulation = simulation.zeno(*draw.pick(&[Zeno::Error, Zeno::Absorb]));
        simulation.configure(|run| run.max_steps(1000).max_events(200))
    });
    let tf = draw.between(0.0, 2.0);
    let start = Start::at(0.0).q(q).v(v);
    let made = made.and_then(|mut simulation| simulation.integrate(&start, tf));
    if let Some(run) = trial.result("swing", made) {
        kept::look(trial, draw, &run, (0.0, tf));
    }
}

fn impact(trial: &mut Trial, problem: Result<ImpactProblem, ImpactFailure>) {
    if let Some(problem) = trial.result("impact", problem) {
        trial.finite("speeds", problem.speeds().as_slice());
        let before = problem.velocity_with_speeds(problem.speeds().as_slice());
        trial.numbers("velocity before", before);
    }
}

fn affine(draw: &mut Draw, trial: &mut Trial) {
    let model = if draw.chance(0.5) {
        Affine::coupled()
    } else {
        Affine::default()
    };
    trial.note(
        "affine",
        &(
            model.is_coupled(),
            Affine::exact(draw.number()),
            Affine::EVENTS,
            Affine::CORNER_TIME,
        ),
    );
    let start = match draw.below(3) {
        0 => Affine::START.to_vec(),
        1 => Affine::CORNER_START.to_vec(),
        _ => draw.numbers(3),
    };
    go(draw, trial, &model, start, Rearm::Pairs);
}

fn ball(draw: &mut Draw, trial: &mut Trial) {
    let ball = BouncingBall {
        mass: draw.positive(),
        gravity: draw.positive(),
        restitution: draw.part(),
    };
    let height = draw.positive();
    let n = draw.size(10) as u32;
    trial.note(
        "ball",
        &(
            ball.impact_time(height, n),
            ball.impact_speed(height, n),
            ball.accumulation(height),
        ),
    );
    let v = draw.numbers(1);
    swing(draw, trial, ball, &[height], &v);
}

fn billiards(draw: &mut Draw, trial: &mut Trial) {
    let balls = match draw.below(4) {
        0 => ThreeBalls::RANGE,
        1 => ThreeBalls::LEAST_ANGLE,
        2 => ThreeBalls::EQUAL,
        _ => ThreeBalls {
            radius_a: draw.positive(),
            radius_b: draw.positive(),
            radius_c: draw.positive(),
        },
    };
    trial.note("angle", &balls.least_angle());
    impact(trial, balls.impact(draw.number()));
}

fn chain(draw: &mut Draw, trial: &mut Trial) {
    let size = draw.size(5);
    let Some(mut chain) = trial.result("chain", ContactChain::new(size)) else {
        return;
    };
    if draw.chance(0.5) {
        (chain.mass, chain.stagger, chain.drop_height) =
            (draw.positive(), draw.number(), draw.positive());
        (chain.link_damping, chain.floor_damping) = (draw.positive(), draw.positive());
    }
    let x0 = chain.start();
    trial.note("masses", &chain.masses());
    go(draw, trial, &chain, x0, Rearm::Pairs);
}

fn cradle(draw: &mut Draw, trial: &mut Trial) {
    let n = draw.below(6);
    let other = draw.length(n);
    let masses: Vec<f64> = (0..n).map(|_| draw.positive()).collect();
    let made = if draw.chance(0.3) {
        Cradle::equal(draw.size(8))
    } else {
        Cradle::new(&masses, &draw.numbers(other))
    };
    if let Some(cradle) = trial.result("cradle", made) {
        trial.note("balls", &(cradle.masses(), cradle.velocities()));
        impact(trial, cradle.impact());
    }
}

fn table(draw: &mut Draw, trial: &mut Trial) {
    let (dim, guards) = (draw.below(4), draw.below(4));
    let normals = DMatrix::from_fn(guards, dim, |_, _| draw.number());
    let offsets = draw.length(guards);
    let offsets = draw.numbers(offsets);
    let fields = DMatrix::from_fn(dim, 1 << guards, |_, _| draw.number());
    let Some(table) = trial.result("table", FieldTable::new(normals, &offsets, fields)) else {
        return;
    };
    let k = draw.below(guards.max(1));
    if guards > 0 {
        trial.note(
            "guard",
            &(
                table.normal(k),
                table.offset(k),
                table.field(draw.below(1 << guards)),
            ),
        );
    }
    let beyond = draw.size(20);
    trial.note(
        "beyond",
        &(
            table.normal(beyond),
            table.offset(beyond),
            table.field(beyond),
        ),
    );
    let x0 = draw.numbers(dim);
    go(draw, trial, &table, x0, Rearm::Pairs);
}

fn hopper(draw: &mut Draw, trial: &mut Trial) {
    let hopper = if draw.chance(0.3) {
        Hopper::default()
    } else {
        Hopper {
            mass: draw.positive(),
            stiffness: 100.0 * draw.positive(),
            rest_length: draw.positive(),
            gravity: draw.positive(),
        }
    };
    let (z0, t) = (draw.positive(), draw.number());
    trial.note("hopper", &(hopper.period(z0), hopper.exact(z0, t)));
    // the list is as long as the time asks for
    let times = hopper.contact_times(z0, if draw.is_tame() { t } else { draw.number() });
    trial.note("times", &times.len());
    let rest = draw.number();
    go(draw, trial, &hopper, vec![z0, rest], Rearm::Pairs);
}

fn cells(draw: &mut Draw, trial: &mut Trial) {
    let size = draw.size(5);
    let length = draw.length(size.min(10));
    let drive: Vec<f64> = (0..length).map(|_| draw.positive()).collect();
    let made = IntegrateAndFire::new(
        size,
        drive,
        draw.positive(),
        0.1 * draw.positive(),
        draw.positive(),
    );
    let Some(cells) = trial.result("cells", made) else {
        return;
    };
    trial.note(
        "period",
        &(
            cells.cells(),
            cells.free_period(0),
            cells.free_period(draw.size(9)),
        ),
    );
    let x0 = draw.numbers(cells.cells());
    go(draw, trial, &cells, x0, Rearm::Pairs);
}

fn pendulum(draw: &mut Draw, trial: &mut Trial) {
    let mut pendulum = DoublePendulum::default();
    if draw.chance(0.7) {
        pendulum.masses = [draw.positive(), draw.positive()];
        pendulum.lengths = [draw.positive(), draw.positive()];
        pendulum.wall = draw.number();
        pendulum.restitution = draw.part();
        pendulum.gravity = draw.number();
    }
    let (q, v) = (draw.numbers(2), draw.numbers(2));
    swing(draw, trial, pendulum, &q, &v);
}

fn plate(draw: &mut Draw, trial: &mut Trial) {
    let mut parameters = PlateParameters::with_springs(draw.size(6));
    if draw.chance(0.6) {
        parameters.mass = draw.positive();
        parameters.inertia = draw.positive();
        parameters.half_width = draw.positive();
        parameters.stiffness = 100.0 * draw.positive();
        parameters.damping = draw.positive();
        parameters.shared_damping = draw.chance(0.5);
        parameters.rest_length = draw.positive();
        parameters.gravity = draw.number();
    }
    let x0 = if draw.chance(0.6) {
        PlateParameters::random_start(draw.word()).to_vec()
    } else {
        draw.numbers(6)
    };
    let place = draw.size(10);
    if draw.chance(0.4) {
        let made = NormalPlate::new(parameters);
        if let Some(plate) = trial.result("normal plate", made) {
            trial.note(
                "spring",
                &(plate.spring_position(place), plate.parameters()),
            );
            go(draw, trial, &plate, x0, Rearm::Pairs);
        }
        return;
    }
    let made = VerticalPlate::new(parameters);
    if let Some(plate) = trial.result("vertical plate", made) {
        trial.note(
            "spring",
            &(plate.spring_position(place), plate.parameters()),
        );
        if draw.chance(0.4) {
            go(draw, trial, &PlainPlate(&plate), x0, Rearm::Pairs);
        } else {
            go(draw, trial, &plate, x0, Rearm::Pairs);
        }
    }
}

fn thermostat(draw: &mut Draw, trial: &mut Trial) {
    let mut room = Thermostat::default();
    if draw.chance(0.7) {
        (room.ambient, room.cold, room.hot) = (draw.number(), draw.number(), draw.number());
        (room.cooling_rate, room.heating_rate) = (draw.positive(), draw.positive());
    }
    trial.note(
        "period",
        &(room.period(), Thermostat::HOT, Thermostat::COLD),
    );
    if let Some(matrix) = trial.result("rearm", room.rearm()) {
        let x0 = draw.numbers(1);
        go(draw, trial, &room, x0, Rearm::Matrix(matrix));
    }
}

fn trot(draw: &mut Draw, trial: &mut Trial) {
    let theta = 0.1 * draw.number();
    if draw.chance(0.4) {
        let mut trot = SoftTrot::default();
        if draw.chance(0.5) {
            (trot.mass, trot.foot, trot.stiffness) =
                (draw.positive(), draw.positive(), draw.positive());
            (trot.coupling, trot.restitution) = (draw.number(), draw.part());
        }
        let (q, v) = trot.start(theta);
        trial.note("direction", &trot.start_direction());
        return swing(draw, trial, trot, &q, &v);
    }
    if draw.chance(0.5) {
        let block = RigidTrot::block(draw.positive(), draw.positive(), draw.positive());
        let (q, v) = block.tilted(theta);
        trial.note("ratio", &block.rocking_ratio());
        return swing(draw, trial, block, &q, &v);
    }
    let (q, v) = RigidTrot::start(theta);
    swing(draw, trial, RigidTrot::default(), &q, &v);
}

/// Rigid bodies with friction.
fn rough_body(draw: &mut Draw, trial: &mut Trial) {
    let friction = *draw.pick(&[0.0, 0.3, 1e5]);
    match draw.below(4) {
        0 => {
            let block = RockingBlock {
                width: draw.positive(),
                height: draw.positive(),
                mass: draw.positive(),
                friction: draw.number(),
                gravity: draw.number(),
                drop: draw.number(),
            };
            trial.note("landing", &block.landing());
            impact(trial, block.impact());
            let block = RockingBlock {
                friction,
                ..RockingBlock::default()
            };
            let (q, v) = block.pivoting(0.1 * draw.number(), draw.number());
            swing(draw, trial, block, &q, &v);
        }
        1 => {
            let rod = SlidingRod {
                half_length: draw.positive(),
                mass: draw.positive(),
                friction: draw.number(),
                gravity: draw.number(),
            };
            trial.note("critical", &rod.critical_friction(draw.number()));
            impact(trial, rod.impact());
            let rod = SlidingRod {
                friction,
                ..SlidingRod::default()
            };
            let (q, v) = rod.sliding(draw.unit(), draw.number());
            swing(draw, trial, rod, &q, &v);
        }
        2 => {
            let sliding = BoxAndWall {
                side: draw.positive(),
                mass: draw.positive(),
                tilt: draw.number(),
                speed: draw.number(),
                friction: draw.number(),
                gravity: draw.number(),
            };
            trial.note("sliding", &sliding.sliding());
            impact(trial, sliding.impact());
        }
        _ => {
            let wedge = Wedge {
                half_angle: draw.number(),
                radius: draw.positive(),
                mass: draw.positive(),
                friction: draw.number(),
                gravity: draw.number(),
            };
            trial.note("landing", &wedge.landing(draw.number()));
            impact(trial, wedge.impact());
        }
    }
}

/// Bodies with several links or parts, and friction.
fn rough_linkage(draw: &mut Draw, trial: &mut Trial) {
    match draw.below(3) {
        0 => {
            let gait = CompassGait {
                leg: draw.positive(),
                mass_to_foot: draw.number(),
                mass: draw.positive(),
                spread: draw.number(),
                rate: draw.number(),
                friction: draw.number(),
                gravity: draw.number(),
            };
            trial.note("stepping", &gait.stepping());
            impact(trial, gait.impact());
        }
        1 => {
            let mut link = || RamOneLink {
                mass: draw.positive(),
                inertia: draw.positive(),
                length: draw.positive(),
                centre: draw.number(),
            };
            let mut robot = RamOne::default();
            [robot.trunk, robot.thigh, robot.shank] = [link(), link(), link()];
            (robot.foot, robot.friction) = (draw.positive(), draw.number());
            trial.note("footfall", &robot.footfall());
            impact(trial, robot.impact());
        }
        _ => {
            let stack = DiskStack {
                radius: draw.positive(),
                mass: draw.positive(),
                speed: draw.number(),
                friction: draw.number(),
                gravity: draw.number(),
            };
            trial.note("landing", &stack.landing());
            impact(trial, stack.impact());
            impact(trial, stack.impact_as_coded());
        }
    }
}
