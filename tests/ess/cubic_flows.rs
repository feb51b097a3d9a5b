//! Random cubic flows in the plane, whose field depends on the sides of up to five guards:
//! quadratic or trigonometric, partly moving, partly watched one way, half of them with resets;
//! against fixed steps of 1 ms with bisection.

use saltation::{Guard, Integrator, Projection, Run, Start, Status, Stop, Watch};

use crate::fixtures::support::{Sketch, SplitMix64};

/// Times closer than this, rates slower and touches nearer are not decided by the reference.
const DOUBTFUL: f64 = 1e-5;
const STEP: f64 = 1e-3;

/// `h = c + a·x + ½ xᵀ B x + d sin(w·x + ω t + φ)`.
#[derive(Clone, Debug)]
struct Surface {
    constant: f64,
    linear: [f64; 2],
    quadratic: [f64; 3],
    wave: f64,
    direction: [f64; 2],
    moving: f64,
    phase: f64,
    watch: Watch,
    /// Added to the state when it is crossed in a watched direction.
    jump: Option<[f64; 2]>,
}

impl Surface {
    fn at(&self, t: f64, x: &[f64]) -> f64 {
        let [a, b, c] = self.quadratic;
        let angle =
            self.direction[0] * x[0] + self.direction[1] * x[1] + self.moving * t + self.phase;
        self.constant
            + self.linear[0] * x[0]
            + self.linear[1] * x[1]
            + 0.5 * (a * x[0] * x[0] + c * x[1] * x[1])
            + b * x[0] * x[1]
            + self.wave * angle.sin()
    }
}

#[derive(Clone, Debug)]
struct Case {
    /// Coefficients of 1, x, y, x², xy, y², x³, x²y, xy², y³ for both components; then what each
    /// side adds to 1, x and y.
    field: [[f64; 10]; 2],
    sides: Vec<[[f64; 3]; 2]>,
    surfaces: Vec<Surface>,
    start: [f64; 2],
    end: f64,
}

impl Case {
    fn random(random: &mut SplitMix64) -> Self {
        let mut around = |size: f64| random.between(-size, size);
        let field = [(); 2].map(|()| {
            let mut row = [0.0; 10];
            for (i, c) in row.iter_mut().enumerate() {
                *c = around(if i < 3 { 1.5 } else { 0.5 });
            }
            row
        });
        let count = 1 + usize::try_from(random.next() % 5).unwrap();
        let surfaces = (0..count).map(|_| Self::surface(random)).collect();
        let mut around = |size: f64| random.between(-size, size);
        let sides = (0..count)
            .map(|_| [(); 2].map(|()| [around(0.4), around(0.3), around(0.3)]))
            .collect();
        let start = [around(1.0), around(1.0)];
        Self {
            field,
            sides,
            surfaces,
            start,
            end: random.between(0.5, 2.5),
        }
    }

    fn surface(random: &mut SplitMix64) -> Surface {
        let trigonometric = random.unit() < 0.4;
        let moving = random.unit() < 0.4;
        let mut around = |size: f64| random.between(-size, size);
        let mut surface = Surface {
            constant: around(1.0),
            linear: [around(1.0), around(1.0)],
            quadratic: [around(1.0), around(0.5), around(1.0)],
            wave: 0.0,
            direction: [around(4.0), around(4.0)],
            moving: if moving { around(3.0) } else { 0.0 },
            phase: around(3.0),
            watch: Watch::BOTH,
            jump: None,
        };
        if trigonometric || moving {
            let fast = if trigonometric { 4.0 } else { 1.0 };
            surface.wave = around(0.5);
            surface.direction = surface.direction.map(|d| fast * d);
            surface.moving *= fast;
        }
        match random.next() % 5 {
            0 => surface.watch = Watch::RISING,
            1 => surface.watch = Watch::FALLING,
            _ => {}
        }
        if random.unit() < 0.5 {
            surface.jump = Some([random.between(-0.3, 0.3), random.between(-0.3, 0.3)]);
        }
        surface
    }

    fn flow(&self, x: &[f64], sides: impl Fn(usize) -> bool, dx: &mut [f64]) {
        let [x, y] = [x[0], x[1]];
        let monomials = [
            1.0,
            x,
            y,
            x * x,
            x * y,
            y * y,
            x * x * x,
            x * x * y,
            x * y * y,
            y * y * y,
        ];
        for (i, dx) in dx.iter_mut().enumerate() {
            // Bounded: a cubic flow escapes in finite time.
            let sum: f64 = self.field[i]
                .iter()
                .zip(monomials)
                .map(|(c, m)| c * m)
                .sum();
            *dx = sum;
            for (k, side) in self.sides.iter().enumerate() {
                if sides(k) {
                    *dx += side[i][0] + side[i][1] * x + side[i][2] * y;
                }
            }
        }
    }

    fn step(&self, x: [f64; 2], sides: &[bool], step: f64) -> [f64; 2] {
        let f = |x: [f64; 2]| {
            let mut dx = [0.0; 2];
            self.flow(&x, |k| sides[k], &mut dx);
            dx
        };
        let moved = |k: [f64; 2], c: f64| [x[0] + c * k[0], x[1] + c * k[1]];
        let k1 = f(x);
        let k2 = f(moved(k1, 0.5 * step));
        let k3 = f(moved(k2, 0.5 * step));
        let k4 = f(moved(k3, step));
        [0, 1].map(|i| x[i] + step / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]))
    }

    fn rate(&self, k: usize, t: f64, x: [f64; 2], sides: &[bool]) -> f64 {
        let d = 1e-6;
        let mut dx = [0.0; 2];
        self.flow(&x, |k| sides[k], &mut dx);
        let at = |s: f64| self.surfaces[k].at(t + s, &[x[0] + s * dx[0], x[1] + s * dx[1]]);
        (at(d) - at(-d)) / (2.0 * d)
    }

    fn system(&self) -> Sketch {
        let (flow, events, resets) = (self.clone(), self.clone(), self.clone());
        let watches = std::array::from_fn::<_, 5, _>(|k| {
            self.surfaces.get(k).map_or(Watch::NONE, |s| s.watch)
        });
        Sketch::new(2, move |_, x, mode, dx| {
            flow.flow(x, |k| mode.contains(k), dx);
        })
        .events(watches, move |k, t, x, _| {
            events.surfaces.get(k).map_or(-1.0, |s| s.at(t, x))
        })
        .reset(move |_, crossed, x, _| {
            for k in crossed.events() {
                if let Some(jump) = resets.surfaces[k].jump {
                    x[0] += jump[0];
                    x[1] += jump[1];
                }
            }
            Ok(())
        })
    }
}

/// How the reference ends.
#[derive(Clone, Debug, PartialEq)]
enum End {
    Reached([f64; 2]),
    Slides(usize),
    /// It comes too close to a decision, or far away.
    Doubtful,
}

struct Reference {
    /// Crossings in either direction.
    crossings: Vec<(f64, Guard)>,
    end: End,
}

/// Where a function that is negative at 0 and not at `beyond` is zero.
fn bisect(beyond: f64, function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, beyond);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if function(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The motion in steps of 1 ms.
fn reference(case: &Case) -> Reference {
    let n = case.surfaces.len();
    let (mut t, mut x) = (0.0, case.start);
    let h = |k: usize, t: f64, x: [f64; 2]| case.surfaces[k].at(t, &x);
    let mut sides: Vec<bool> = (0..n).map(|k| h(k, t, x) > 0.0).collect();
    let mut crossings = Vec::new();
    let doubtful = |crossings| Reference {
        crossings,
        end: End::Doubtful,
    };
    if (0..n).any(|k| h(k, t, x).abs() < 1e-3) {
        return doubtful(crossings);
    }
    // When each guard was crossed last.
    let mut crossed_at = vec![f64::NEG_INFINITY; n];
    while t < case.end {
        if crossings.len() > 200 || x.iter().any(|x| x.abs() > 5.0) {
            return doubtful(crossings);
        }
        let step = STEP.min(case.end - t);
        let own = |k: usize, t: f64, x: [f64; 2], sides: &[bool]| {
            if sides[k] { -h(k, t, x) } else { h(k, t, x) }
        };
        let next = case.step(x, &sides, step);
        let middle = case.step(x, &sides, 0.5 * step);
        let mut first: Option<(f64, usize)> = None;
        for k in 0..n {
            let (a, b, c) = (
                own(k, t, x, &sides),
                own(k, t + 0.5 * step, middle, &sides),
                own(k, t + step, next, &sides),
            );
            if b < 0.0 && c < 0.0 {
                // A touch: a maximum between, close to zero.
                let close = a.max(b).max(c) > -3e-4 && t - crossed_at[k] > 1.5 * STEP;
                if close && b >= a && b >= c {
                    return doubtful(crossings);
                }
                continue;
            }
            let beyond = if b >= 0.0 { 0.5 * step } else { step };
            let high = bisect(beyond, |s| own(k, t + s, case.step(x, &sides, s), &sides));
            if let Some((at, _)) = first
                && (at - high).abs() < DOUBTFUL
            {
                return doubtful(crossings);
            }
            if first.is_none_or(|(at, _)| high < at) {
                first = Some((high, k));
            }
        }
        let Some((at, k)) = first else {
            (t, x) = (t + step, next);
            continue;
        };
        x = case.step(x, &sides, at);
        t += at;
        if t - crossed_at[k] < 1e-3 || case.end - t < 1e-3 || t < 1e-3 {
            return doubtful(crossings);
        }
        crossed_at[k] = t;
        let sign = if sides[k] { -1.0 } else { 1.0 };
        let before = sign * case.rate(k, t, x, &sides);
        let guard = Guard::ahead(k, sides[k]);
        sides[k] = !sides[k];
        let watched = case.surfaces[k].watch.sees(guard.direction);
        if watched {
            crossings.push((t, guard));
        }
        if before < 1e-2 {
            return doubtful(crossings);
        }
        match case.surfaces[k].jump {
            Some(jump) if watched => {
                x = [x[0] + jump[0], x[1] + jump[1]];
                // Carried across others, thrown back, or left on a surface: another matter.
                if (0..n).any(|k| own(k, t, x, &sides) > -1e-3) {
                    return doubtful(crossings);
                }
            }
            _ => {
                let after = sign * case.rate(k, t, x, &sides);
                if after < -1e-2 {
                    return Reference {
                        crossings,
                        end: End::Slides(k),
                    };
                }
                if after < 1e-2 {
                    return doubtful(crossings);
                }
            }
        }
        // Others close by: their order is a matter of rounding.
        let rest = &sides;
        if (0..n).any(|j| j != k && own(j, t, x, rest).abs() < DOUBTFUL) {
            return doubtful(crossings);
        }
    }
    Reference {
        crossings,
        end: End::Reached(x),
    }
}

/// How a run differs from the reference, if it does.
fn difference(run: &Run, reference: &Reference, allowed: f64) -> Option<String> {
    let found = run.crossings();
    for (i, (time, guard)) in reference.crossings.iter().enumerate() {
        match found.get(i) {
            Some(c) if c.guard == *guard && (c.t - time).abs() < allowed => {}
            // A refused crossing is not recorded.
            None if matches!(reference.end, End::Slides(k) if k == guard.event)
                && i + 1 == reference.crossings.len() => {}
            other => return Some(format!("crossing {i}: {guard} at {time}, found {other:?}")),
        }
    }
    let same_end = match (&reference.end, run.status()) {
        (End::Reached(x), Status::ReachedEnd) => {
            found.len() == reference.crossings.len()
                && x.iter()
                    .zip(run.state())
                    .all(|(a, b)| (a - b).abs() < 100.0 * allowed)
        }
        (End::Slides(k), Status::Refused(Stop::NotLive { guard, .. })) => guard.event == *k,
        _ => false,
    };
    (!same_end).then(|| {
        format!(
            "{:?}, found {} {}",
            reference.end,
            run.status(),
            run.state()
        )
    })
}

fn runs(case: &Case, tolerance: f64) -> Vec<(String, Run)> {
    let mut made = Vec::new();
    for projection in [Projection::Auto, Projection::Off] {
        let name = format!("{projection:?}");
        let mut integrator = Integrator::new(case.system())
            .unwrap()
            .rtol(tolerance)
            .atol(0.1 * tolerance)
            .projection(projection);
        made.push((
            name,
            integrator
                .integrate(&Start::at(0.0).x(&case.start), case.end)
                .unwrap(),
        ));
    }
    made
}

#[test]
fn random_cubic_flows_cross_what_short_steps_cross() {
    let cases = if cfg!(debug_assertions) { 300 } else { 5_460 };
    let (mut compared, mut crossings, mut doubtful, mut reported, mut wrong, mut slides) =
        (0, 0, 0, 0, 0, 0);
    let mut failures = Vec::new();
    let mut random = SplitMix64(3);
    for number in 0..cases {
        let case = Case::random(&mut random);
        let expected = reference(&case);
        if expected.end == End::Doubtful {
            doubtful += 1;
            continue;
        }
        compared += 1;
        crossings += expected.crossings.len();
        slides += usize::from(matches!(expected.end, End::Slides(_)));
        for (name, run) in runs(&case, 1e-9) {
            if let Some(what) = difference(&run, &expected, 1e-6) {
                failures.push(format!("{number} {name} 1e-9: {what}"));
            }
        }
        for (name, run) in runs(&case, 1e-3) {
            let is_reported = !run.is_guaranteed();
            reported += usize::from(is_reported);
            if let Some(what) = difference(&run, &expected, 0.05) {
                wrong += 1;
                if !is_reported && matches!(run.status(), Status::ReachedEnd) {
                    failures.push(format!("{number} {name} 1e-3: {what}"));
                }
            }
        }
    }
    println!(
        "{compared} compared, {doubtful} doubtful, {crossings} crossings, {slides} slide; at 1e-3 {reported} reported, {wrong} wrong"
    );
    assert!(
        failures.is_empty(),
        "{}: {:#?}",
        failures.len(),
        &failures[..failures.len().min(12)]
    );
}
