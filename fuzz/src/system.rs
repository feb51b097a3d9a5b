//! Random hybrid systems: fields, surfaces, resets, from the ordinary to what a model must not be.

use std::cell::Cell;

use saltation::{Crossing, EventFunction, Flow, InputError, Mode, Stop, Watch};

use crate::draw::Draw;

/// Calls of user functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub flow: usize,
    pub events: usize,
    pub resets: usize,
}

/// `x' = A x + b` for each of a few modes, and what makes it worse.
#[derive(Clone, Debug)]
struct Field {
    a: Vec<f64>,
    b: Vec<f64>,
    odd: Odd,
}

#[derive(Clone, Copy, Debug)]
enum Odd {
    No,
    Cubic(f64),
    Forced {
        size: f64,
        rate: f64,
    },
    /// Not a number where `x₀` exceeds this.
    Domain(f64),
    Root,
    Pole,
    /// Blows up in finite time.
    Square,
}

/// `h = a · x − c + r t`, and what makes it worse.
#[derive(Clone, Debug)]
struct Surface {
    a: Vec<f64>,
    c: f64,
    rate: f64,
    shape: Shape,
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Plane,
    Clock,
    Sine { rate: f64, size: f64 },
    Quadric(f64),
    Abs,
    Root,
    Step,
    Pulse { at: f64, width: f64 },
    Zero,
    Nan,
    ByMode,
}

#[derive(Clone, Copy, Debug)]
enum Reset {
    No,
    Reflect(f64),
    Jump(usize, f64),
    Scale(f64),
    Flag(usize),
    Refuse,
    OtherMode(usize),
}

/// A random system that counts its calls.
#[derive(Clone, Debug)]
pub struct Random {
    pub dim: usize,
    fields: Vec<Field>,
    surfaces: Vec<Surface>,
    watches: Vec<Watch>,
    min_rates: Vec<Option<f64>>,
    noises: Vec<f64>,
    scales: Vec<Option<f64>>,
    flow_scale: Option<f64>,
    reset: Reset,
    /// Flags of the mode, some of which change at each crossing.
    flags: usize,
    /// Whether derivatives are written where that is simple.
    written: bool,
    ignores_mode: bool,
    /// Whether guards that are affine are declared so, and all others to change at no given rate.
    declares: bool,
    correct: Option<f64>,
    /// An option that makes no sense: runs are refused with it.
    option: Option<f64>,
    calls: Cell<Calls>,
}

impl Random {
    pub fn new(draw: &mut Draw, most_dim: usize, most_guards: usize) -> Self {
        let dim = draw.whole(1, most_dim);
        let count = draw.below(most_guards + 1);
        let fields = (0..draw.whole(1, 3)).map(|_| field(draw, dim)).collect();
        let mut surfaces: Vec<Surface> = Vec::new();
        for _ in 0..count {
            let again = draw.chance(0.1);
            let surface = match surfaces.last().cloned() {
                // one that is nearly the same
                Some(mut other) if again => {
                    other.c += *draw.pick(&[0.0, 1e-16, 1e-12, -1e-9, 1e-6]);
                    other
                }
                _ => surface(draw, dim),
            };
            surfaces.push(surface);
        }
        let rates = |draw: &mut Draw| {
            if draw.chance(0.1) {
                draw.positive()
            } else {
                1e-6
            }
        };
        let noises = |draw: &mut Draw| {
            if draw.chance(0.1) {
                1e-9 * draw.positive()
            } else {
                0.0
            }
        };
        Self {
            dim,
            fields,
            watches: (0..count).map(|_| watch(draw)).collect(),
            min_rates: (0..count)
                .map(|k| (k % 2 == 0).then(|| rates(draw)))
                .collect(),
            noises: (0..count).map(|_| noises(draw)).collect(),
            scales: (0..count).map(|_| scale(draw)).collect(),
            flow_scale: scale(draw),
            reset: reset(draw, dim, count),
            flags: if draw.chance(0.3) {
                draw.whole(1, 70)
            } else {
                0
            },
            written: draw.chance(0.5),
            ignores_mode: draw.chance(0.2)
                && !surfaces.iter().any(|s| matches!(s.shape, Shape::ByMode)),
            declares: draw.chance(0.3),
            correct: draw.chance(0.05).then(|| draw.number()),
            option: draw.chance(0.01).then(|| draw.number()),
            surfaces,
            calls: Cell::default(),
        }
    }

    pub fn calls(&self) -> Calls {
        self.calls.get()
    }

    fn counted(&self, count: impl FnOnce(&mut Calls)) {
        let mut calls = self.calls.get();
        count(&mut calls);
        self.calls.set(calls);
    }

    fn field(&self, mode: &Mode) -> &Field {
        let flags = mode.flags().map(|j| j as u64 + 1).sum();
        let word = mode.words().fold(flags, u64::wrapping_add);
        &self.fields[(word % self.fields.len() as u64) as usize]
    }
}

fn field(draw: &mut Draw, dim: usize) -> Field {
    let is_constant = draw.chance(0.4);
    let entry = |draw: &mut Draw| if is_constant { 0.0 } else { draw.number() };
    let a = (0..dim * dim).map(|_| entry(draw)).collect();
    let odd = match draw.below(16) {
        0 => Odd::Cubic(draw.number()),
        1 | 2 => Odd::Forced {
            size: draw.number(),
            rate: draw.positive(),
        },
        3 => Odd::Domain(draw.number()),
        4 => Odd::Root,
        5 => Odd::Pole,
        6 => Odd::Square,
        _ => Odd::No,
    };
    let b = draw.numbers(dim);
    Field { a, b, odd }
}

fn surface(draw: &mut Draw, dim: usize) -> Surface {
    let shape = match draw.below(24) {
        0 | 1 => Shape::Clock,
        2..=4 => Shape::Sine {
            rate: draw.positive() * 5.0,
            size: draw.number(),
        },
        5 | 6 => Shape::Quadric(draw.number()),
        7 => Shape::Abs,
        8 => Shape::Root,
        9 => Shape::Step,
        10 => Shape::Pulse {
            at: draw.number(),
            width: draw.positive(),
        },
        11 if draw.chance(0.5) => Shape::Zero,
        12 if draw.chance(0.3) => Shape::Nan,
        13 => Shape::ByMode,
        _ => Shape::Plane,
    };
    let moves = draw.chance(0.2);
    Surface {
        a: draw.numbers(dim),
        c: draw.number(),
        rate: if moves { draw.number() } else { 0.0 },
        shape,
    }
}

fn watch(draw: &mut Draw) -> Watch {
    let watch = *draw.pick(&[
        Watch::BOTH,
        Watch::BOTH,
        Watch::BOTH,
        Watch::RISING,
        Watch::FALLING,
        Watch::NONE,
    ]);
    if draw.chance(0.07) {
        watch.and_stop()
    } else {
        watch
    }
}

fn scale(draw: &mut Draw) -> Option<f64> {
    match draw.below(12) {
        0 => Some(draw.positive()),
        1 => Some(f64::INFINITY),
        _ => None,
    }
}

fn reset(draw: &mut Draw, dim: usize, count: usize) -> Reset {
    match draw.below(12) {
        0..=2 => Reset::Reflect(draw.part()),
        3 => Reset::Jump(draw.below(dim), draw.number()),
        4 => Reset::Scale(draw.number()),
        5 => Reset::Flag(draw.below(count + 1)),
        6 if draw.chance(0.3) => Reset::Refuse,
        7 if draw.chance(0.1) => Reset::OtherMode(draw.below(70)),
        _ => Reset::No,
    }
}

impl Flow for Random {
    fn dim(&self) -> usize {
        self.dim
    }

    fn validate(&self) -> Result<(), InputError> {
        self.option.map_or(Ok(()), |value| {
            Err(InputError::BadSetting {
                name: "option of the system",
                entry: 0,
                value,
                rule: "must not be",
            })
        })
    }

    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.counted(|calls| calls.flow += 1);
        let field = self.field(mode);
        for (i, dx_i) in dx.iter_mut().enumerate() {
            let row = &field.a[i * self.dim..(i + 1) * self.dim];
            *dx_i = field.b[i] + row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
        }
        match field.odd {
            Odd::No => {}
            Odd::Cubic(c) => dx[0] -= c * x[0].powi(3),
            Odd::Forced { size, rate } => dx[0] += size * (rate * t).sin(),
            Odd::Domain(most) if x[0] > most => dx[0] = f64::NAN,
            Odd::Domain(_) => {}
            Odd::Root => dx[0] = -x[0].sqrt(),
            Odd::Pole => dx[0] = 1.0 / x[0],
            Odd::Square => dx[0] = x[0] * x[0],
        }
    }

    fn jacobian_times(&self, _t: f64, _x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        let field = self.field(mode);
        if !self.written || !matches!(field.odd, Odd::No | Odd::Forced { .. }) {
            return false;
        }
        for (i, out_i) in out.iter_mut().enumerate() {
            let row = &field.a[i * self.dim..(i + 1) * self.dim];
            *out_i = row.iter().zip(v).map(|(a, v)| a * v).sum();
        }
        true
    }

    fn flow_time_scale(&self) -> Option<f64> {
        self.flow_scale
    }

    fn correct(&self, _t: f64, x: &mut [f64], _mode: &Mode) -> bool {
        let Some(most) = self.correct else {
            return false;
        };
        let is_beyond = x[0] > most;
        if is_beyond {
            x[0] = most;
        }
        is_beyond
    }
}

impl EventFunction for Random {
    fn count(&self) -> usize {
        self.surfaces.len()
    }

    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        self.counted(|calls| calls.events += 1);
        let surface = &self.surfaces[k];
        let flat =
            surface.a.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() - surface.c + surface.rate * t;
        match surface.shape {
            Shape::Plane => flat,
            Shape::Clock => t - surface.c,
            Shape::Sine { rate, size } => flat + size * (rate * t).sin(),
            Shape::Quadric(c) => flat + c * x[0] * x[0],
            Shape::Abs => flat.abs() - 0.3,
            Shape::Root => flat.sqrt() - 0.5,
            Shape::Step => flat.floor() + 0.5,
            Shape::Pulse { at, width } => (-((t - at) / width).powi(2)).exp() - 0.5,
            Shape::Zero => 0.0,
            Shape::Nan => f64::NAN,
            Shape::ByMode if mode.contains(k) => flat + 0.2,
            Shape::ByMode => flat,
        }
    }

    fn gradient(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        let surface = &self.surfaces[k];
        if !self.written {
            return None;
        }
        dh.copy_from_slice(&surface.a);
        match surface.shape {
            Shape::Plane | Shape::ByMode => Some(surface.rate),
            Shape::Quadric(c) => {
                dh[0] += 2.0 * c * x[0];
                Some(surface.rate)
            }
            Shape::Clock => {
                dh.fill(0.0);
                Some(1.0)
            }
            _ => None,
        }
    }

    fn watch(&self, k: usize) -> Watch {
        self.watches[k]
    }

    fn min_rate(&self, k: usize) -> Option<f64> {
        self.min_rates[k]
    }

    fn event_tolerance(&self, k: usize) -> f64 {
        self.noises[k]
    }

    fn crosses_within(&self, k: usize) -> f64 {
        100.0 * self.noises[k]
    }

    fn time_scale(&self, k: usize) -> Option<f64> {
        self.scales[k]
    }

    fn is_affine(&self, k: usize) -> bool {
        self.declares && matches!(self.surfaces[k].shape, Shape::Plane | Shape::Clock)
    }

    fn max_rate(&self, _k: usize) -> Option<f64> {
        self.declares.then_some(f64::MAX)
    }

    fn flags(&self) -> usize {
        self.flags
    }

    fn ignores_mode(&self) -> bool {
        self.ignores_mode
    }

    fn resets(&self) -> bool {
        !self.written || self.flags > 0 || !matches!(self.reset, Reset::No)
    }

    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let (_, crossed, x, mode) = crossing.parts();
        self.counted(|calls| calls.resets += 1);
        if let Some(k) = crossed.events().next() {
            let j = k % self.flags.max(1);
            mode.set_flag(j, !mode.flag(j));
        }
        match self.reset {
            Reset::No => {}
            Reset::Reflect(e) => {
                for k in crossed.events() {
                    let i = k % self.dim;
                    x[i] *= -e;
                }
            }
            Reset::Jump(i, to) => x[i] = to,
            Reset::Scale(by) => x.iter_mut().for_each(|x| *x *= by),
            Reset::Flag(k) => mode.set(k, !mode.contains(k)),
            Reset::Refuse => {
                return Err(Stop::model("no"));
            }
            Reset::OtherMode(len) => *mode = Mode::new(len).with_flags(self.flags),
        }
        Ok(())
    }
}
