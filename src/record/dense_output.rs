//! The dense output of a kept run, in little more than two states a step.
//!
//! The interpolant of a step ([`Interpolant`]) has five coefficients, of which the states at its
//! ends give two, `c₀ = x₀` and `c₁ = x₁ − x₀`, and the slope at its end a third,
//! `c₃ = c₁ − h f₁ − c₂`. That slope is the one at which the next step starts,
//! `h f₀ = c₁ + c₂`, unless something happened between. The last one is kept in single precision
//! where that is exact to a small part of the tolerance. What does not follow this is kept as it
//! is; a straight line between two nodes is not kept at all.

use super::options::PerEntry;
use crate::ode::Interpolant;

/// Residue that rounding may leave of coefficients that are computed from others, in units of the
/// terms.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// Error of the state that single precision may make, in units of the tolerance.
const NEGLIGIBLE: f64 = 0.01;
/// `θ²(1−θ)²`, by which the last coefficient counts, is at most this.
const OF_LAST: f64 = 1.0 / 16.0;

/// Nodes of a run: times, and states one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nodes<'a> {
    pub(crate) times: &'a [f64],
    pub(crate) states: &'a [f64],
}

/// The coefficients that are kept, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `c₂` and, in single precision, `c₄`; the rest by its nodes and the next step.
    Chained,
    /// As [`Chained`](Self::Chained), with `c₃`.
    Whole,
    /// All five.
    Apart,
}

/// One step, or part of one.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// The node at its end.
    end: usize,
    /// Start and length of the step that the interpolant was made for (s).
    start: f64,
    length: f64,
    form: Form,
    /// Places of its first coefficients, in double and in single precision.
    long: usize,
    short: usize,
}

/// The interpolants of a run.
#[derive(Clone, Debug)]
pub(crate) struct DenseOutput {
    dim: usize,
    rtol: PerEntry,
    atol: PerEntry,
    steps: Vec<Kept>,
    long: Vec<f64>,
    short: Vec<f32>,
}

impl DenseOutput {
    /// For steps that were made with these tolerances.
    pub(crate) fn new(rtol: PerEntry, atol: PerEntry) -> Self {
        Self {
            dim: 0,
            rtol,
            atol,
            steps: Vec::new(),
            long: Vec::new(),
            short: Vec::new(),
        }
    }

    /// Forgets what is kept; states have `dim` entries from now on.
    pub(crate) fn begin(&mut self, dim: usize) {
        self.dim = dim;
        self.steps.clear();
        self.long.clear();
        self.short.clear();
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.steps[..]) + size_of_val(&self.long[..]) + size_of_val(&self.short[..])
    }

    /// Takes in the interpolant of the step that ends at the last of the nodes.
    pub(crate) fn push(&mut self, nodes: Nodes<'_>, interpolant: &Interpolant<'_>) {
        let dim = self.dim;
        let [c0, c1, c2, c3, c4] = interpolant.coefficients;
        let (c0, c1, c2, c3, c4) = (&c0[..dim], &c1[..dim], &c2[..dim], &c3[..dim], &c4[..dim]);
        let end = nodes.times.len() - 1;
        let [x0, x1] = ends(nodes, end, dim);
        let is_straight = (0..dim).all(|i| {
            let bends = c2[i] != 0.0 || c3[i] != 0.0 || c4[i] != 0.0;
            !bends
                && c0[i].to_bits() == x0[i].to_bits()
                && c1[i].to_bits() == (x1[i] - x0[i]).to_bits()
        });
        if is_straight {
            // Its nodes say all.
            return;
        }
        let is_whole = (0..dim).all(|i| {
            let size = x0[i].abs().max(x1[i].abs());
            let allowed = self.atol.get(i) + self.rtol.get(i) * size;
            let lost = OF_LAST * (c4[i] - f64::from(single(c4[i]))).abs();
            c0[i].to_bits() == x0[i].to_bits()
                && (c1[i] - (x1[i] - x0[i])).abs() <= ROUNDING * size
                && lost.is_finite()
                && lost <= NEGLIGIBLE * allowed
        });
        if is_whole {
            self.chain(nodes, interpolant);
        }
        self.steps.push(Kept {
            end,
            start: interpolant.start,
            length: interpolant.length,
            form: if is_whole { Form::Whole } else { Form::Apart },
            long: self.long.len(),
            short: self.short.len(),
        });
        if is_whole {
            self.long.extend_from_slice(c2);
            self.long.extend_from_slice(c3);
            self.short.extend(c4.iter().map(|c| single(*c)));
        } else {
            for c in interpolant.coefficients {
                self.long.extend_from_slice(c);
            }
        }
    }

    /// Drops `c₃` of the last step, if the slope at the start of the next one gives it.
    fn chain(&mut self, nodes: Nodes<'_>, next: &Interpolant<'_>) {
        let dim = self.dim;
        let Some(last) = self.steps.last_mut() else {
            return;
        };
        if last.form != Form::Whole {
            return;
        }
        let [x0, x1] = ends(nodes, last.end, dim);
        let (c2, c3) = self.long[last.long..last.long + 2 * dim].split_at(dim);
        let d2 = &next.coefficients[2][..dim];
        // As it is read: from nodes, of whose rounding the ratio makes much behind a step that is much longer.
        let [y0, y1] = ends(nodes, nodes.times.len() - 1, dim);
        let ratio = last.length / next.length;
        let is_given = (0..dim).all(|i| {
            let (c1, way) = (x1[i] - x0[i], ratio * (y1[i] - y0[i] + d2[i]));
            let terms = c1.abs() + c2[i].abs() + way.abs();
            terms.is_finite() && (c1 - way - c2[i] - c3[i]).abs() <= ROUNDING * terms
        });
        if is_given {
            last.form = Form::Chained;
            self.long.truncate(last.long + dim);
        }
    }

    /// Writes the state at time `t`, behind the given node and before the next.
    pub(crate) fn at(&self, nodes: Nodes<'_>, node: usize, t: f64, x: &mut [f64]) {
        let dim = self.dim;
        let number = self.steps.partition_point(|step| step.end <= node);
        let kept = self.steps.get(number).filter(|step| step.end == node + 1);
        let Some(&step) = kept else {
            straight(nodes, node + 1, t, x);
            return;
        };
        let theta = if step.length > 0.0 {
            (t - step.start) / step.length
        } else {
            0.0
        };
        let long = &self.long[step.long..];
        if step.form == Form::Apart {
            Interpolant::from_flat(step.start, step.length, long, dim).at_fraction(theta, x);
            return;
        }
        let ([x0, x1], rest) = (ends(nodes, step.end, dim), 1.0 - theta);
        let next = self.steps.get(number + 1);
        for i in 0..dim {
            let (c1, c2) = (x1[i] - x0[i], long[i]);
            let c3 = match (step.form, next) {
                (Form::Chained, Some(next)) => {
                    let [y0, y1] = ends(nodes, next.end, dim);
                    let way = y1[i] - y0[i] + self.long[next.long + i];
                    c1 - step.length / next.length * way - c2
                }
                _ => long[dim + i],
            };
            let c4 = f64::from(self.short[step.short + i]);
            x[i] = x0[i] + theta * (c1 + rest * (c2 + theta * (c3 + rest * c4)));
        }
    }
}

/// Writes the state at time `t` on the straight line to the node `end` from the one before.
fn straight(nodes: Nodes<'_>, end: usize, t: f64, x: &mut [f64]) {
    let ([x0, x1], start) = (ends(nodes, end, x.len()), nodes.times[end - 1]);
    let length = nodes.times[end] - start;
    let theta = if length > 0.0 {
        (t - start) / length
    } else {
        0.0
    };
    for i in 0..x.len() {
        x[i] = x0[i] + theta * (x1[i] - x0[i]);
    }
}

/// In single precision: infinite where that has no such number.
#[expect(clippy::cast_possible_truncation, reason = "what is lost is looked at")]
fn single(value: f64) -> f32 {
    value as f32
}

/// The states at the ends of the step that ends at a node.
fn ends(nodes: Nodes<'_>, end: usize, dim: usize) -> [&[f64]; 2] {
    let both = &nodes.states[(end - 1) * dim..(end + 1) * dim];
    [&both[..dim], &both[dim..]]
}
