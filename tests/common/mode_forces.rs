//! What the contacts of a planar system can do at a state, from the model alone: rows, curvatures,
//! and the forces of a mode by a dense problem of its own.

use saltation::impact::Contacting;
use saltation::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use saltation::nalgebra::{DMatrix, DVector};

/// Masses, loads and rows at a state, `q̇ = v`.
pub(crate) struct Frame {
    pub(crate) mass: DMatrix<f64>,
    /// Efforts and the Coriolis force.
    pub(crate) load: DVector<f64>,
    pub(crate) gaps: Vec<f64>,
    /// `Da_j`, a row a contact.
    pub(crate) normals: DMatrix<f64>,
    /// `T_j`, likewise; zero without tangents.
    pub(crate) tangents: DMatrix<f64>,
    pub(crate) friction: Vec<f64>,
    /// The parts of the accelerations of gaps and slips that are not `Da_j v̇` and `T_j v̇`.
    pub(crate) bends: DVector<f64>,
    pub(crate) turns: DVector<f64>,
    inverse: DMatrix<f64>,
}

/// The forces of a mode.
pub(crate) struct Forces {
    pub(crate) acceleration: DVector<f64>,
    /// One entry a contact.
    pub(crate) normal: DVector<f64>,
    pub(crate) tangential: DVector<f64>,
    /// False where the rows of the mode depend on each other: then these are some forces within the
    /// cones, if there are any.
    pub(crate) unique: bool,
    /// What they leave of the accelerations that they should take away.
    pub(crate) left: f64,
}

/// The derivative at 0, of fourth order.
fn slope(step: f64, f: impl Fn(f64) -> f64) -> f64 {
    let odd = |h: f64| f(h) - f(-h);
    (8.0 * odd(step) - odd(2.0 * step)) / (12.0 * step)
}

fn moved(q: &[f64], by: f64, along: &[f64]) -> Vec<f64> {
    q.iter().zip(along).map(|(q, v)| q + by * v).collect()
}

fn unit(d: usize, i: usize) -> Vec<f64> {
    (0..d).map(|k| f64::from(u8::from(k == i))).collect()
}

fn normal_row<S: UnilateralConstraints>(system: &S, j: usize, q: &[f64]) -> DVector<f64> {
    let mut row = DVector::zeros(q.len());
    if !system.gap_row(j, q, row.as_mut_slice()) {
        for i in 0..q.len() {
            let along = unit(q.len(), i);
            row[i] = slope(1e-3, |h| system.gap(j, &moved(q, h, &along)));
        }
    }
    row
}

fn tangent_row<S: UnilateralConstraints>(system: &S, j: usize, q: &[f64]) -> DVector<f64> {
    let mut row = DVector::zeros(q.len());
    if system.tangents(j) == 1 {
        system.tangent_rows(j, q, row.as_mut_slice());
    }
    row
}

pub(crate) fn mass<S: MechanicalSystem>(system: &S, q: &[f64]) -> DMatrix<f64> {
    let mut mass = DMatrix::zeros(q.len(), q.len());
    system.mass(q, mass.as_mut_slice());
    mass
}

/// The Coriolis force, `−Ṁ v + ½ ∂(vᵀ M v)/∂q` where it is not written.
fn coriolis<S: MechanicalSystem>(system: &S, q: &[f64], v: &DVector<f64>) -> DVector<f64> {
    let mut force = DVector::zeros(q.len());
    if system.constant_mass() || system.coriolis(q, v.as_slice(), force.as_mut_slice()) {
        return force;
    }
    let step = 1e-3 / (1.0 + v.norm());
    for i in 0..q.len() {
        let along = unit(q.len(), i);
        let momentum = |h| (mass(system, &moved(q, h, v.as_slice())) * v)[i];
        let energy = |h| 0.5 * v.dot(&(mass(system, &moved(q, h, &along)) * v));
        force[i] = slope(1e-3, energy) - slope(step, momentum);
    }
    force
}

pub(crate) fn closed_of(modes: &[Contacting]) -> Vec<usize> {
    let closed = |j: &usize| modes[*j] != Contacting::Open;
    (0..modes.len()).filter(closed).collect()
}

/// The sign of a slip.
pub(crate) fn sign(mode: Contacting) -> f64 {
    match mode {
        Contacting::SlipForward => 1.0,
        Contacting::SlipBackward => -1.0,
        _ => 0.0,
    }
}

impl Frame {
    pub(crate) fn at<S>(system: &S, state: State<'_>, modes: &[Contacting]) -> Self
    where
        S: MechanicalSystem + UnilateralConstraints,
    {
        let (q, n, d) = (state.q, system.contacts(), state.v.len());
        let v = DVector::from_column_slice(state.v);
        let mut load = DVector::zeros(d);
        system.effort(state.t, q, state.v, load.as_mut_slice());
        system.contact_effort(state, &closed_of(modes), load.as_mut_slice());
        load += coriolis(system, q, &v);
        let [mut normals, mut tangents] = [(); 2].map(|()| DMatrix::zeros(n, d));
        let [mut bends, mut turns] = [(); 2].map(|()| DVector::zeros(n));
        let step = 1e-3 / (1.0 + v.norm());
        let gaps: Vec<f64> = (0..n).map(|j| system.gap(j, q)).collect();
        // Rows of contacts that touch.
        let touching = |j: &usize| gaps[*j].abs() < 1e-6 || modes[*j] != Contacting::Open;
        for j in (0..n).filter(touching) {
            normals.set_row(j, &normal_row(system, j, q).transpose());
            tangents.set_row(j, &tangent_row(system, j, q).transpose());
            let speed = |h| normal_row(system, j, &moved(q, h, state.v)).dot(&v);
            let bend = system.curvature(j, q, state.v);
            bends[j] = bend.unwrap_or_else(|| slope(step, speed));
            turns[j] = slope(step, |h| {
                tangent_row(system, j, &moved(q, h, state.v)).dot(&v)
            });
        }
        let mass = mass(system, q);
        Self {
            inverse: mass.clone().try_inverse().expect("masses"),
            mass,
            load,
            gaps,
            normals,
            tangents,
            friction: (0..n)
                .map(|j| system.friction(j) * system.tangents(j) as f64)
                .collect(),
            bends,
            turns,
        }
    }

    /// With speeds for accelerations: `v` is what they are without contacts.
    pub(crate) fn of_speeds(mut self, v: &DVector<f64>) -> Self {
        self.load = &self.mass * v;
        self.bends.fill(0.0);
        self.turns.fill(0.0);
        self
    }

    /// The size of accelerations without contacts.
    pub(crate) fn size(&self) -> f64 {
        let free = (&self.inverse * &self.load).amax();
        1.0 + free + self.bends.amax().max(self.turns.amax())
    }

    /// The largest impulse of a contact, by the speed, that takes small speeds of contacts in these modes away.
    pub(crate) fn stiffest(&self, modes: &[Contacting]) -> f64 {
        let normals = closed_of(modes).into_iter().map(|j| self.normals.row(j));
        let sticks = (0..modes.len()).filter(|&j| modes[j] == Contacting::Stick);
        let rows: Vec<_> = normals
            .chain(sticks.map(|j| self.tangents.row(j)))
            .collect();
        if rows.is_empty() {
            return 0.0;
        }
        let rows = DMatrix::from_rows(&rows);
        let values = (&rows * &self.inverse * rows.transpose())
            .symmetric_eigen()
            .eigenvalues;
        // Rows may depend on each other.
        let real = values.iter().filter(|value| **value > 1e-9 * values.amax());
        let least = real.fold(f64::INFINITY, |least: f64, value| least.min(*value));
        (rows.nrows() as f64).sqrt() / least
    }

    /// The accelerations of gap `j` and of the slip there.
    pub(crate) fn parting(&self, j: usize, acceleration: &DVector<f64>) -> f64 {
        self.normals.row(j).transpose().dot(acceleration) + self.bends[j]
    }

    /// The forces that a contact in a mode can have: the edges of its cone, `N ± μ T`.
    fn edges(&self, modes: &[Contacting]) -> Vec<Edge> {
        let mut edges = Vec::new();
        for j in closed_of(modes) {
            let sides = match modes[j] {
                Contacting::Stick => vec![-self.friction[j], self.friction[j]],
                mode => vec![-sign(mode) * self.friction[j]],
            };
            edges.extend(sides.into_iter().map(|ratio| Edge { contact: j, ratio }));
        }
        edges
    }

    fn columns(&self, edges: &[Edge]) -> DMatrix<f64> {
        let column = |edge: &Edge| {
            let (n, t) = (
                self.normals.row(edge.contact),
                self.tangents.row(edge.contact),
            );
            (n + t * edge.ratio).transpose()
        };
        let columns: Vec<_> = edges.iter().map(column).collect();
        match columns.len() {
            0 => DMatrix::zeros(self.load.len(), 0),
            _ => DMatrix::from_columns(&columns),
        }
    }

    /// Solves the mode: its closed contacts keep their gaps, those that stick their places.
    pub(crate) fn forces(&self, modes: &[Contacting]) -> Forces {
        let (n, d, closed) = (modes.len(), self.load.len(), closed_of(modes));
        let stuck: Vec<usize> = closed
            .iter()
            .copied()
            .filter(|&j| modes[j] == Contacting::Stick)
            .collect();
        let size = closed.len() + stuck.len();
        let (mut rows, mut columns) = (DMatrix::zeros(size, d), DMatrix::zeros(d, size));
        let mut bends = DVector::zeros(size);
        for (i, &j) in closed.iter().enumerate() {
            rows.set_row(i, &self.normals.row(j));
            let slip = self.tangents.row(j) * (sign(modes[j]) * self.friction[j]);
            columns.set_column(i, &(self.normals.row(j) - slip).transpose());
            bends[i] = self.bends[j];
        }
        for (i, &j) in stuck.iter().enumerate() {
            let i = i + closed.len();
            rows.set_row(i, &self.tangents.row(j));
            columns.set_column(i, &self.tangents.row(j).transpose());
            bends[i] = self.turns[j];
        }
        // Rows and columns of unit length in the metric of the masses.
        for i in 0..size {
            let length = (rows.row(i) * &self.inverse * rows.row(i).transpose())[0].sqrt();
            rows.row_mut(i).unscale_mut(length);
            bends[i] /= length;
        }
        let lengths: Vec<f64> = columns
            .column_iter()
            .map(|column| (column.transpose() * &self.inverse * column)[0].sqrt())
            .collect();
        for (i, length) in lengths.iter().enumerate() {
            columns.column_mut(i).unscale_mut(*length);
        }
        let free = &self.inverse * &self.load;
        let wanted = -(&rows * &free + bends);
        let gram = &rows * &self.inverse * &columns;
        let independent = |gram: &DMatrix<f64>| {
            let values = gram.singular_values();
            values.min() > 1e-8 * values.max()
        };
        let unique = size == 0 || independent(&gram);
        let [mut normal, mut tangential] = [(); 2].map(|()| DVector::zeros(n));
        if unique && size > 0 {
            let solution = gram.lu().solve(&wanted).expect("of full rank");
            for (i, &j) in closed.iter().enumerate() {
                normal[j] = solution[i] / lengths[i];
                tangential[j] = -sign(modes[j]) * self.friction[j] * normal[j];
            }
            for (i, &j) in stuck.iter().enumerate() {
                let i = i + closed.len();
                tangential[j] = solution[i] / lengths[i];
            }
        }
        let mut left = 0.0;
        if !unique {
            let edges = self.edges(modes);
            let map = &rows * &self.inverse * self.columns(&edges);
            let (weights, residual) = nonnegative_least_squares(&map, &wanted);
            left = residual;
            for (edge, weight) in edges.iter().zip(&weights) {
                normal[edge.contact] += weight;
                tangential[edge.contact] += weight * edge.ratio;
            }
        }
        let force = &self.load
            + self.normals.transpose() * &normal
            + self.tangents.transpose() * &tangential;
        Forces {
            acceleration: &self.inverse * force,
            normal,
            tangential,
            unique,
            left,
        }
    }

    /// All modes that are consistent with the accelerations, at this velocity: contacts that touch and
    /// neither part nor close are open, stick or slip. Up to some six contacts.
    pub(crate) fn consistent(&self, v: &DVector<f64>) -> Vec<Vec<Contacting>> {
        let n = self.gaps.len();
        let (parting, slip) = (&self.normals * v, &self.tangents * v);
        let rests = |j: &usize| self.gaps[*j].abs() < 1e-9 && parting[*j].abs() < 1e-8;
        let resting: Vec<usize> = (0..n).filter(rests).collect();
        let mut found = Vec::new();
        for mut code in 0..4_usize.pow(resting.len() as u32) {
            let mut modes = vec![Contacting::Open; n];
            for &j in &resting {
                let all = [
                    Contacting::Open,
                    Contacting::Stick,
                    Contacting::SlipForward,
                    Contacting::SlipBackward,
                ];
                modes[j] = all[code % 4];
                code /= 4;
            }
            let forces = self.forces(&modes);
            let small = 1e-7 * self.size();
            let fits = |&j: &usize| {
                let (mode, push) = (modes[j], forces.normal[j]);
                let rests = slip[j].abs() < 1e-8;
                let turns =
                    self.tangents.row(j).transpose().dot(&forces.acceleration) + self.turns[j];
                match mode {
                    Contacting::Open => self.parting(j, &forces.acceleration) >= -small,
                    Contacting::Stick => {
                        rests
                            && push >= -small
                            && forces.tangential[j].abs() <= self.friction[j] * push + small
                    }
                    _ if rests => push >= -small && sign(mode) * turns >= -small,
                    _ => push >= -small && sign(mode) * slip[j] > 0.0,
                }
            };
            if forces.left <= small && resting.iter().all(fits) {
                found.push(modes);
            }
        }
        found
    }

    /// The part of an acceleration that no forces of the mode explain.
    pub(crate) fn unexplained(&self, modes: &[Contacting], acceleration: &DVector<f64>) -> f64 {
        let edges = self.edges(modes);
        let wanted = acceleration - &self.inverse * &self.load;
        nonnegative_least_squares(&(&self.inverse * self.columns(&edges)), &wanted).1
    }
}

/// A force of a contact, tangential to normal as `ratio`.
struct Edge {
    contact: usize,
    ratio: f64,
}

/// `min |A x − b|` over `x ≥ 0` and its value, by the active sets of Lawson and Hanson.
fn nonnegative_least_squares(map: &DMatrix<f64>, wanted: &DVector<f64>) -> (Vec<f64>, f64) {
    let size = map.ncols();
    let (mut x, mut active) = (DVector::zeros(size), vec![false; size]);
    let least = |active: &[bool]| {
        let chosen: Vec<usize> = (0..size).filter(|&i| active[i]).collect();
        let part = map.select_columns(&chosen).svd(true, true);
        let part = part.solve(wanted, 1e-11).expect("both sides");
        let mut all = DVector::zeros(size);
        chosen
            .iter()
            .zip(part.iter())
            .for_each(|(&i, value)| all[i] = *value);
        all
    };
    let small = 1e-12 * (1.0 + map.amax()) * (1.0 + wanted.amax());
    for _ in 0..10 * (size + 1) {
        let gradient = map.transpose() * (wanted - map * &x);
        let idle = (0..size).filter(|&i| !active[i] && gradient[i] > small);
        let Some(next) = idle.max_by(|&a, &b| gradient[a].total_cmp(&gradient[b])) else {
            break;
        };
        active[next] = true;
        for _ in 0..=size {
            let trial = least(&active);
            let negative = (0..size).filter(|&i| active[i] && trial[i] <= 0.0);
            let share = |i: usize| x[i] / (x[i] - trial[i]);
            let shares: Vec<f64> = negative.map(share).collect();
            let part = shares.into_iter().fold(1.0, f64::min);
            x += (trial - &x) * part;
            if part >= 1.0 {
                break;
            }
            (0..size).for_each(|i| active[i] &= x[i] > 1e-14);
            (0..size).filter(|&i| !active[i]).for_each(|i| x[i] = 0.0);
        }
    }
    let left = (wanted - map * &x).norm();
    (x.iter().copied().collect(), left)
}
