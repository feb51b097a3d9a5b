//! Every row of the reference file, by its case and quantity.
//!
//! Rows that other tests read are listed with them; a row that is neither checked here nor listed
//! is an error.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use saltation::impact::{
    AnitescuPotra, Contacting, ImpactLaw, ImpactProblem, InOrder, LcpSteps, Outcomes, Routh,
    SolutionRule,
};
use saltation::nalgebra::{DMatrix, DVector, dvector};

use crate::reference::{Case, EXAMPLES, Row, all};
use crate::statistics::{SAMPLERS, Statistics, settings};

/// Rows that other tests read: case and start of the quantity, and where.
const ELSEWHERE: [(&str, &str, &str); 13] = [
    ("zeno_block", "", "tests of runs with friction"),
    (
        "painleve_rod",
        "",
        "tests of runs with friction, routh, comparison",
    ),
    ("compliant_block", "", "the compliant comparison"),
    ("", "exact_", "exact_planar"),
    ("rocking_block_", "", "exact_planar"),
    ("", "cone_margin_Minv", "cone"),
    ("", "r_norm2_min", "cone"),
    ("", "thm8_", "cone"),
    (
        "keyed_generator",
        "philox4x64_10",
        "the unit tests of the generator",
    ),
    // Data from which the problems are made; what follows from them is checked.
    ("", "M", "data"),
    ("", "Jn", "data"),
    ("", "Jt", "data"),
    ("", "mu", "data"),
];

/// Samples in every run of the tests; the campaign makes those of the reference.
const FEW: u64 = 128;
const ALL: u64 = 16384;

/// Collects the rows that are off.
struct Check<'c> {
    case: &'c Case,
    row: Row,
    off: &'c mut Vec<String>,
}

impl Check<'_> {
    fn holds(&mut self, holds: bool, found: &dyn std::fmt::Debug) {
        if !holds {
            let (case, row) = (self.case.name, self.row);
            self.off.push(format!("{case} {row:?}: {found:?}"));
        }
    }

    /// To the tolerance of the row.
    fn is(&mut self, found: f64) {
        let off = (found - self.row.value()).abs();
        self.holds(off <= self.row.tolerance(), &found);
    }

    fn says(&mut self, found: &str) {
        self.holds(self.row.text == found, &found);
    }
}

/// What is known of an example, each found once.
struct Example {
    case: Case,
    problem: ImpactProblem,
    together: Outcomes,
    /// Order, and the outcome of each number of impacts.
    sequences: Vec<(Vec<usize>, Outcomes)>,
    /// By sampler.
    statistics: BTreeMap<usize, Statistics>,
    /// The greatest number of velocities of a step, and the part of the steps with several.
    solutions: OnceCell<(usize, f64)>,
}

impl Example {
    fn new(name: &'static str, samples: u64) -> Self {
        let case = Case::named(name);
        let problem = case.problem();
        let m = problem.contacts();
        let orders = (0..case.of("seq_order").count()).map(|k| match m {
            2 => [[0, 1], [1, 0]][k].to_vec(),
            _ => (0..m).map(|i| (i + k) % m).collect(),
        });
        let sequences = orders.map(|order: Vec<usize>| {
            let law = InOrder::new(&order).tolerance(1e-14);
            let outcomes = law.resolve(&problem).unwrap();
            (order, outcomes)
        });
        let samplers = 0..SAMPLERS.len();
        let has = |s: &usize| {
            let name = format!("sample_{}_finished", SAMPLERS[*s].0);
            case.of(&name).count() > 0
        };
        // Each step of the disks is 30 times those of two contacts.
        let samples = if m > 2 && samples == FEW {
            FEW / 4
        } else {
            samples
        };
        Self {
            together: AnitescuPotra::new().resolve(&problem).unwrap(),
            sequences: sequences.collect(),
            statistics: samplers
                .filter(has)
                .map(|s| (s, Statistics::of(&case, s, samples)))
                .collect(),
            problem,
            case,
            solutions: OnceCell::new(),
        }
    }

    fn check(&self, check: &mut Check<'_>) {
        let Row {
            quantity, k, i, j, ..
        } = check.row;
        let m = self.problem.contacts();
        let before = self.problem.speeds();
        let energy = 0.5 * self.problem.kinetic_norm().powi(2);
        match quantity {
            "G" => check.is(self.problem.delassus()[(i, j)]),
            "un_pre" => check.is(before[i]),
            "ut_pre" => check.is(before[m + i]),
            "v_pre" => {
                // It gives the speeds.
                let speeds = self.case.jacobian() * self.case.vector("v_pre");
                check.holds((speeds - before).amax() < 1e-14, before);
            }
            "K_pre" => check.is(energy),
            "vpre_normM" => check.is(self.problem.kinetic_norm()),
            "sigma_min_M" => {
                let values = self.case.matrix("M").symmetric_eigenvalues();
                check.is(values.min());
            }
            "rank_J" => {
                // The nonzero eigenvalues of G are far from rounding.
                let values = self.problem.delassus().symmetric_eigenvalues();
                let rank = values.iter().filter(|&&v| v > 1e-8 * values.max());
                check.is(rank.count() as f64);
            }
            "h" | "N" => check.holds(check.row.value() > 0.0, &"settings of the samples"),
            "paper_sample_count" => {
                let count = check.row.value() as u64;
                check.holds(count.is_power_of_two() && count >= ALL, &count);
            }
            "contact_label" => check.says(&self.label(k)),
            "q_pre" => check.holds(touches(&self.case), &"gaps"),
            "ap_count" => check.is(self.together.list.len() as f64),
            "ap_un" | "ap_ut" | "ap_K" | "ap_modes" => {
                let outcome = self.nearest_together(k);
                match quantity {
                    "ap_un" => check.is(outcome.speeds[i]),
                    "ap_ut" => check.is(outcome.speeds[m + i]),
                    "ap_K" => check.is(energy + outcome.energy_change),
                    _ => {
                        let mut modes = check.row.text.split('|');
                        let found = outcome.order.to_string();
                        check.holds(modes.any(|mode| mode == found), &found);
                    }
                }
            }
            _ if quantity.starts_with("seq_") => self.check_sequence(check, energy),
            _ if quantity.starts_with("keyed_sample_") => self.check_keyed(check),
            "table3_lcp_per_sample" => {
                // The paper's solver stops early, which costs steps now and then (spec 8.6). Its
                // compass takes all solutions.
                let sampler = if self.case.name == "compass_gait" {
                    3
                } else {
                    0
                };
                let found = self.statistics[&sampler].mean_steps;
                let part = found / check.row.value();
                // The spread of a mean: 0.05 of 256 samples.
                let slack = 0.8 / (self.statistics[&sampler].count as f64).sqrt();
                check.holds((0.75 - slack..1.02 + slack).contains(&part), &found);
            }
            _ => self.check_statistics(check, energy),
        }
    }

    /// The bodies of a contact, from the coordinates that move it, three a body.
    fn label(&self, contact: usize) -> String {
        let rows = self.case.matrix("Jn");
        let row = rows.row(contact);
        let moves = |body: &usize| (0..3).any(|c| row[3 * body + c] != 0.0);
        let bodies: Vec<String> = (0..3).filter(moves).map(|b| b.to_string()).collect();
        match bodies.len() {
            1 => format!("floor {}", bodies[0]),
            _ => format!("pair {}", bodies.join(" ")),
        }
    }

    /// The outcome of the simultaneous law with the velocity of reference number k.
    fn nearest_together(&self, k: usize) -> &saltation::impact::Outcome {
        let expected = self.listed("ap", k);
        let off = |o: &&saltation::impact::Outcome| (&o.speeds - &expected).amax();
        let list = self.together.list.iter();
        list.min_by(|a, b| off(a).total_cmp(&off(b))).unwrap()
    }

    fn listed(&self, law: &str, k: usize) -> DVector<f64> {
        let normal = self.case.vector_of(&format!("{law}_un"), k);
        let slip = self.case.vector_of(&format!("{law}_ut"), k);
        DVector::from_iterator(
            normal.len() + slip.len(),
            normal.iter().chain(slip.iter()).copied(),
        )
    }

    fn check_sequence(&self, check: &mut Check<'_>, energy: f64) {
        let Row { quantity, k, i, .. } = check.row;
        let m = self.problem.contacts();
        let (order, outcomes) = &self.sequences[k];
        let outcome = &outcomes.list[0];
        match quantity {
            "seq_order" => {
                let letters: String = order.iter().map(|&c| char::from(b'A' + c as u8)).collect();
                let cyclic = format!("{} first, cyclic", &letters[..1]);
                check.says(if m == 2 { &letters } else { &cyclic });
            }
            "seq_path" => check.says(&path(&self.problem, order, outcomes.effort)),
            "seq_steps" | "seq_steps_to_1e-14" => check.is(outcomes.effort as f64),
            "seq_un" => check.is(outcome.speeds[i]),
            "seq_ut" => check.is(outcome.speeds[m + i]),
            "seq_K" => check.is(energy + outcome.energy_change),
            other => panic!("{other} is not read"),
        }
    }

    fn check_keyed(&self, check: &mut Check<'_>) {
        let Row { quantity, k, i, .. } = check.row;
        let (mut u, mut p) = ([0.0; 4], [0.0; 4]);
        let mut simulation = settings(&self.case, 0).start(&self.problem).unwrap();
        let ended = simulation.simulate(k as u64, &mut u, &mut p).unwrap();
        match quantity {
            "keyed_sample_lcps" => check.is(ended.steps as f64),
            "keyed_sample_u" => check.is(u[i]),
            other => panic!("{other} is not read"),
        }
    }

    fn check_statistics(&self, check: &mut Check<'_>, energy: f64) {
        let Row { quantity, k, i, .. } = check.row;
        let named = |s: &&usize| quantity.starts_with(&format!("sample_{}_", SAMPLERS[**s].0));
        let Some(&sampler) = self.statistics.keys().find(named) else {
            panic!("{} {quantity} is not read", self.case.name);
        };
        let prefix = format!("sample_{}_", SAMPLERS[sampler].0);
        let found = &self.statistics[&sampler];
        let is_whole = found.count == ALL;
        // The same draws and one solution: the same samples.
        let is_same = is_whole && sampler == 0;
        // Tolerances are for all samples: four standard errors.
        let wider = (ALL as f64 / found.count as f64).sqrt();
        let value = check.row.value;
        // The reference does not tell how covering vectors are drawn, and the velocities of the
        // compass depend on them.
        let is_covered = matches!(SAMPLERS[sampler].2, SolutionRule::LemkeRandomCover { .. });
        let depends = is_covered && self.case.name == "compass_gait";
        let reach = |low: bool| {
            if low { found.low[i] } else { found.high[i] }
        };
        let name = &quantity[prefix.len()..];
        match name {
            "lcp_per_sample" if depends => {
                let least = self.case.value("sample_uniform_d1_lcp_per_sample");
                check.holds(
                    (least..value).contains(&found.mean_steps),
                    &found.mean_steps,
                );
            }
            "lcp_per_sample" => {
                let allowed = if is_same {
                    1e-12
                } else {
                    check.row.tolerance() * wider
                };
                let off = (found.mean_steps - value).abs();
                check.holds(off <= allowed, &found.mean_steps);
            }
            "finished" => {
                let error = (value * (1.0 - value) / found.count as f64).sqrt();
                let allowed = check.row.tolerance() + 4.0 * error;
                check.holds((found.finished - value).abs() <= allowed, &found.finished);
            }
            // Every sample was simulated without an error; those of the reference that failed are
            // few.
            "failed" => check.holds(value <= 0.001 * ALL as f64, &0),
            "lo" | "hi" => {
                let found = reach(name == "lo");
                if is_same {
                    check.holds((found - value).abs() < 1e-9, &found);
                    return;
                }
                // A few samples reach a part of the interval of the reference.
                let wide = 0.25 * self.spread(i) + 1e-9;
                let (low, high) = self.interval(sampler, i);
                check.holds((low - wide..high + wide).contains(&found), &found);
                if is_whole {
                    check.holds((found - value).abs() <= wide, &found);
                }
            }
            "K_min" | "K_max" => {
                let found = found.energies[usize::from(name == "K_max")];
                let allowed = if is_same { 1e-9 } else { 0.4 * energy };
                check.holds((found - value).abs() <= allowed, &found);
            }
            "max_residual" => {
                check.holds(value <= 1e-10 && found.residual <= 1e-10, &found.residual);
            }
            "maxstep_dK" => {
                let gained = gain_of_steps(&self.case, sampler, 16);
                check.holds(value <= 1e-12 && gained <= 1e-12 * (1.0 + energy), &gained);
            }
            "max_solutions" | "fraction_nonunique_steps" => {
                let solutions = || solutions_of_steps(&self.case, 100);
                let &(most, several) = self.solutions.get_or_init(solutions);
                if name == "max_solutions" {
                    check.is(most as f64);
                } else {
                    // four standard errors of 100 samples of about two steps
                    let error = (value * (1.0 - value) / 200.0).sqrt();
                    let off = (several - value).abs();
                    check.holds(off <= check.row.tolerance() + 4.0 * error, &several);
                }
            }
            "pivots_per_lcp" => check.holds(value > 0.0, &"pivots are not counted by the sampler"),
            "hausdorff_exact_to_sample" => {
                let lattice = if is_whole { 40 } else { 12 };
                let far = found.hausdorff(&self.case, lattice);
                // An extreme value: other draws have another one.
                let allowed = match (is_whole, is_same) {
                    (true, true) => 0.8..1.25,
                    (true, false) => 0.25..2.5,
                    _ => 0.25..40.0,
                };
                check.holds(allowed.contains(&(far / value)), &far);
            }
            "dist_to_ap" => {
                let far = found.distance(&self.listed("ap", k));
                // Few samples need not come near.
                let most = match (is_whole, is_same) {
                    (true, true) => value + 1e-9,
                    (true, false) => 2.5 * value + 1e-3,
                    _ => 2.5 * value + 0.05,
                };
                check.holds(depends || far <= most, &far);
            }
            other => panic!("{other} is not read"),
        }
    }

    /// The interval of the speeds of a row in the reference.
    fn interval(&self, sampler: usize, i: usize) -> (f64, f64) {
        let of = |end: &str| {
            self.case
                .vector(&format!("sample_{}_{end}", SAMPLERS[sampler].0))[i]
        };
        (of("lo"), of("hi"))
    }

    /// How far the speeds of a row lie apart in all samples of the reference.
    fn spread(&self, i: usize) -> f64 {
        let intervals = self.statistics.keys().map(|&s| self.interval(s, i));
        let (low, high) = intervals.fold((0.0, 0.0), |(low, high): (f64, f64), (a, b)| {
            (low.min(a), high.max(b))
        });
        high - low
    }
}

/// The contacts of a sequence with what each does at the end of its impact.
fn path(problem: &ImpactProblem, order: &[usize], impacts: usize) -> String {
    let m = problem.contacts();
    let mut words = Vec::new();
    for cap in 1..=impacts {
        let law = InOrder::new(order).tolerance(1e-14).cap(cap);
        let outcome = law.resolve(problem).unwrap().list.remove(0);
        let contact = outcome.word()[cap - 1];
        let mode = match outcome.speeds[m + contact] {
            slip if slip.abs() < 1e-12 => Contacting::Stick,
            slip if slip > 0.0 => Contacting::SlipForward,
            _ => Contacting::SlipBackward,
        };
        words.push(format!("{contact}{mode}"));
    }
    words.join(" ")
}

/// The greatest change of the kinetic energy in a step of the first samples.
fn gain_of_steps(case: &Case, sampler: usize, samples: u64) -> f64 {
    let problem = case.problem();
    let size = problem.speeds().len();
    let most = case.value("N") as usize;
    let mut before = vec![0.0; samples as usize];
    let mut greatest = f64::NEG_INFINITY;
    for steps in 1..=most {
        let settings = settings(case, sampler).most_steps(steps);
        let mut simulation = settings.start(&problem).unwrap();
        let (mut u, mut p) = (DVector::zeros(size), DVector::zeros(size));
        for (k, before) in before.iter_mut().enumerate() {
            let ended = simulation
                .simulate(k as u64, u.as_mut_slice(), p.as_mut_slice())
                .unwrap();
            let now = 0.5 * p.dot(&(problem.speeds() + &u));
            if ended.steps == steps {
                greatest = greatest.max(now - *before);
            }
            *before = now;
        }
    }
    greatest
}

/// The greatest number of velocities of a step of the first samples, and the part of the steps with
/// several.
fn solutions_of_steps(case: &Case, samples: u64) -> (usize, f64) {
    let problem = case.problem();
    let mass = case.matrix("M");
    let response = mass
        .clone()
        .cholesky()
        .unwrap()
        .solve(&case.jacobian().transpose());
    let friction = case.vector("mu");
    let (mut most, mut steps, mut several) = (0, 0, 0);
    for made in 0..case.value("N") as usize {
        for k in 0..samples {
            let (mut u, mut p) = (DVector::zeros(4), DVector::zeros(4));
            let mut over = false;
            if made > 0 {
                let settings = settings(case, 3).most_steps(made);
                let mut simulation = settings.start(&problem).unwrap();
                let ended = simulation
                    .simulate(k, u.as_mut_slice(), p.as_mut_slice())
                    .unwrap();
                over = ended.finished;
            }
            if over {
                continue;
            }
            let velocity = case.vector("v_pre") + &response * &p;
            let now = ImpactProblem::from_mechanics_with_tangents(
                &mass,
                &case.jacobian(),
                &velocity,
                friction.as_slice(),
            );
            let rule = SolutionRule::EnumerateAll { branches: 100 };
            let settings = LcpSteps::new(case.value("h"))
                .most_steps(1)
                .rule(rule)
                .seed(2);
            let now = now.unwrap();
            let mut count = 0;
            let mut simulation = settings.start(&now).unwrap();
            let sample = k + samples * made as u64;
            simulation.branches(sample, |_| count += 1).unwrap();
            most = most.max(count);
            steps += 1;
            several += usize::from(count > 1);
        }
    }
    (most, f64::from(several as u32) / f64::from(steps))
}

/// Whether the configuration of the box or the robot has its two contacts.
fn touches(case: &Case) -> bool {
    let q = case.vector("q_pre");
    if q.len() == 3 {
        // A square of side 1: its lowest corner on the floor, the rightmost on the wall.
        let (s, c) = q[2].sin_cos();
        let corners = [[0.5, 0.5], [0.5, -0.5], [-0.5, 0.5], [-0.5, -0.5]];
        let low = corners.map(|[a, b]| q[1] + s * a + c * b);
        let right = corners.map(|[a, b]| q[0] + c * a - s * b);
        let least = low.into_iter().fold(f64::INFINITY, f64::min);
        let most = right.into_iter().fold(f64::NEG_INFINITY, f64::max);
        return least.abs() < 1e-12 && most.abs() < 1e-12;
    }
    // Feet of radius 0.02815 at the ends of thigh and shank.
    let foot = |thigh: f64, shank: f64| {
        let (thigh, shank) = (q[2] + thigh, q[2] + thigh + shank);
        q[1] - 0.137675 * q[2].cos() - 0.2 * thigh.cos() - 0.2385 * shank.cos() - 0.02815
    };
    foot(q[3], q[4]).abs() < 1e-9 && foot(q[5], q[6]).abs() < 1e-9
}

/// One contact in space.
fn check_in_space(check: &mut Check<'_>) {
    let slide = Case::named("keller3d_slide");
    let (g, u) = (slide.matrix("G"), slide.vector("u_pre"));
    let resolve = |speeds: DVector<f64>, mu: f64| {
        let problem = ImpactProblem::with_tangents(g.clone(), speeds, &[mu]).unwrap();
        Routh::new().outcome(&problem).unwrap()
    };
    let mu = check.case.of("mu").next().map_or(0.2, Row::value);
    let Row { quantity, k, i, .. } = check.row;
    let sphere = |mu: f64| {
        let numbers = Case::named("sphere3d").one("G_diag").text;
        let diagonal: Vec<f64> = numbers.split(' ').map(|d| d.parse().unwrap()).collect();
        let g = DMatrix::from_diagonal(&DVector::from_vec(diagonal));
        let problem = ImpactProblem::with_tangents(g, dvector![-1.0, 1.0, 0.0], &[mu]);
        Routh::new().outcome(&problem.unwrap()).unwrap()
    };
    match quantity {
        "mu" => check.holds(mu > 0.0, &mu),
        "G" | "u_pre" => check.holds(g == g.transpose() && u[0] < 0.0, &"data"),
        "u_post" => check.is(resolve(u, mu).speeds[i]),
        "Lambda_n" => check.is(resolve(u, mu).impulses[0]),
        "slide_Lambda_n" | "un_when_slip_ends" => {
            // Slip does not know the normal speed: with as much less of it as is left at its end,
            // the impact ends there.
            let left = check.case.value("un_when_slip_ends");
            let mut speeds = u;
            speeds[0] -= left;
            let ended = resolve(speeds, mu);
            let is_end = ended.speeds.rows(1, 2).norm() < 1e-4;
            check.holds(is_end, &ended.speeds);
            if quantity == "slide_Lambda_n" {
                check.is(ended.impulses[0]);
            }
        }
        "polygon_error_inf" => {
            let problem = slide.one_contact(mu);
            let steps = LcpSteps::new(0.1).most_steps(1000).directions(k);
            let (mut v, mut p) = ([0.0; 3], [0.0; 3]);
            let mut simulation = steps.start(&problem).unwrap();
            simulation.simulate(0, &mut v, &mut p).unwrap();
            let exact = slide.vector("u_post");
            check.is((DVector::from_column_slice(&v) - exact).amax());
        }
        "G_diag" => {
            // A ball of mass 1: I = 2/5, 1 + 1/I.
            let tangent = 1.0 + 1.0 / 0.4;
            check.says(&format!("1 {tangent} {tangent}"));
        }
        "u_post_slip" => check.is(sphere(0.2).speeds[1]),
        "mu_stick" => {
            let at = check.row.value();
            let slips = sphere(at - 1e-9).speeds[1] > 1e-9;
            check.holds(slips && sphere(at).speeds.amax() < 1e-12, &at);
        }
        other => panic!("{other} is not read"),
    }
}

/// The draws that bound the impulses of five contacts that nothing stops.
fn check_draws(check: &mut Check<'_>) {
    let fast = ImpactProblem::new(DMatrix::identity(5, 5), DVector::from_element(5, -9.0));
    let fast = fast.unwrap();
    let steps = LcpSteps::new(1.0).most_steps(1).seed(1);
    let mut simulation = steps.start(&fast).unwrap();
    let (mut u, mut p) = ([0.0; 5], [0.0; 5]);
    simulation.simulate(0, &mut u, &mut p).unwrap();
    check.holds(p[check.row.i] == check.row.value(), &p);
}

/// Checks all rows with so many samples; gives those read here and elsewhere.
fn check_all(samples: u64) -> (usize, usize) {
    let mut off = Vec::new();
    let (mut here, mut elsewhere) = (0, 0);
    let mut cases = BTreeMap::new();
    let mut example: Option<Example> = None;
    for (name, row) in all() {
        let is_elsewhere = ELSEWHERE.iter().any(|(case, quantity, of)| {
            let exact = *of == "data" && row.quantity == *quantity;
            let starts = *of != "data" && row.quantity.starts_with(quantity);
            (exact || starts)
                && name.starts_with(case)
                && (*of != "data" || EXAMPLES.contains(&name))
        });
        if is_elsewhere {
            elsewhere += 1;
            continue;
        }
        here += 1;
        let mut check = Check {
            case: cases.entry(name).or_insert_with(|| Case::named(name)),
            row,
            off: &mut off,
        };
        match name {
            "keyed_generator" => check_draws(&mut check),
            "keller3d_slide" | "keller3d_stick" | "sphere3d" => check_in_space(&mut check),
            _ => {
                let known = example.take().filter(|known| known.case.name == name);
                let known = known.unwrap_or_else(|| Example::new(name, samples));
                known.check(&mut check);
                example = Some(known);
            }
        }
    }
    assert!(
        off.is_empty(),
        "{} rows are off:\n{}",
        off.len(),
        off.join("\n")
    );
    (here, elsewhere)
}

#[test]
fn every_row_is_read() {
    let (here, elsewhere) = check_all(FEW);
    assert_eq!(here + elsewhere, 2493);
    println!("{here} rows here, {elsewhere} elsewhere");
}

/// With all samples of the reference.
#[test]
#[ignore = "takes minutes: cargo test --release --test frictional -- --ignored"]
fn every_row_is_read_with_all_samples() {
    check_all(ALL);
}
