//! All velocities of the simultaneous law against references of other construction: contact modes
//! solved with rational numbers, and complementary bases.

use std::iter::Sum;
use std::ops::Range;

use num_rational::{BigRational, Ratio};
use num_traits::{FromPrimitive, Signed, ToPrimitive};
use saltation::impact::{AnitescuPotra, ImpactFailure, ImpactLaw, ImpactProblem};
use saltation::nalgebra::{DMatrix, DVector};

use crate::contacts::Contacts;
use crate::random_bits::SplitMix64;

/// Exact numbers: of 128 bits, wide enough for determinants of small integers, or of any width.
trait Rational: Signed + Clone + PartialOrd + Sum + FromPrimitive + ToPrimitive {}
impl Rational for Ratio<i128> {}
impl Rational for BigRational {}

fn whole<R: Rational>(value: i64) -> R {
    R::from_i64(value).unwrap()
}

/// Solves by elimination; none when the matrix is singular.
fn solve<R: Rational>(mut a: Vec<Vec<R>>, mut x: Vec<R>) -> Option<Vec<R>> {
    let n = x.len();
    for k in 0..n {
        let pivot = (k..n).find(|&i| !a[i][k].is_zero())?;
        a.swap(pivot, k);
        x.swap(pivot, k);
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i][k].clone() / a[k][k].clone();
            for j in k..n {
                a[i][j] = a[i][j].clone() - factor.clone() * a[k][j].clone();
            }
            x[i] = x[i].clone() - factor * x[k].clone();
        }
    }
    Some((0..n).map(|k| x[k].clone() / a[k][k].clone()).collect())
}

/// All velocities with their impulses, exactly; none when a mode is singular.
fn by_rationals<R: Rational>(g: &[Vec<R>], u: &[R], mu: &[R]) -> Option<Vec<[Vec<R>; 2]>> {
    let m = mu.len();
    let mut found: Vec<[Vec<R>; 2]> = Vec::new();
    for mode in 0..4usize.pow(m as u32) {
        // 0 open, 1 stick, 2 and 3 slip
        let state = |i: usize| mode / 4usize.pow(i as u32) % 4;
        let mut rows = Vec::new();
        let mut unknowns: Vec<Vec<R>> = Vec::new();
        let unit = |i: usize| {
            let mut unit = vec![R::zero(); 2 * m];
            unit[i] = R::one();
            unit
        };
        for i in (0..m).filter(|&i| state(i) > 0) {
            rows.push(i);
            let mut push = unit(i);
            if state(i) == 1 {
                rows.push(m + i);
                unknowns.push(unit(m + i));
            } else {
                let along = mu[i].clone();
                push[m + i] = if state(i) == 2 { -along } else { along };
            }
            unknowns.push(push);
        }
        let product = |l: &[R], row: usize| -> R {
            (0..2 * m).map(|j| g[row][j].clone() * l[j].clone()).sum()
        };
        let a = rows
            .iter()
            .map(|&row| unknowns.iter().map(|l| product(l, row)).collect())
            .collect();
        let x = solve(a, rows.iter().map(|&row| -u[row].clone()).collect())?;
        let l: Vec<R> = (0..2 * m)
            .map(|j| {
                unknowns
                    .iter()
                    .zip(&x)
                    .map(|(l, x)| l[j].clone() * x.clone())
                    .sum()
            })
            .collect();
        let after: Vec<R> = (0..2 * m)
            .map(|row| u[row].clone() + product(&l, row))
            .collect();
        let pushes = |i: usize| l[i] >= R::zero();
        let holds = (0..m).all(|i| match state(i) {
            0 => after[i] >= R::zero(),
            1 => pushes(i) && l[m + i].abs() <= mu[i].clone() * l[i].clone(),
            2 => pushes(i) && after[m + i] >= R::zero(),
            _ => pushes(i) && after[m + i] <= R::zero(),
        });
        if holds && found.iter().all(|known| known[0] != after) {
            found.push([after, l]);
        }
    }
    Some(found)
}

/// Small integers, one after the other.
fn integers(random: &mut SplitMix64) -> impl FnMut(i64) -> i64 {
    |most| (random.next() % (2 * most as u64 + 1)).cast_signed() - most
}

/// A Delassus matrix of rows of small integers, for bodies of these inverse masses.
fn delassus<R: Rational>(
    size: usize,
    inverse_masses: &[i64],
    mut draw: impl FnMut(i64) -> i64,
) -> Vec<Vec<R>> {
    let j: Vec<Vec<i64>> = (0..size)
        .map(|_| inverse_masses.iter().map(|_| draw(3)).collect())
        .collect();
    let dot = |a: usize, b: usize| {
        (j[a].iter().zip(&j[b]).zip(inverse_masses))
            .map(|((x, y), w)| x * y * w)
            .sum()
    };
    (0..size)
        .map(|a| (0..size).map(|b| whole(dot(a, b))).collect())
        .collect()
}

/// An impact in floating point, unless it is refused.
fn problem<R: Rational>(g: &[Vec<R>], u: &[R], mu: &[R]) -> Option<ImpactProblem> {
    let float = |value: &R| value.to_f64().unwrap();
    let size = u.len();
    let delassus = DMatrix::from_fn(size, size, |a, b| float(&g[a][b]));
    let friction: Vec<f64> = mu.iter().map(float).collect();
    ImpactProblem::with_tangents(delassus, vector(u), &friction).ok()
}

fn vector<R: Rational>(of: &[R]) -> DVector<f64> {
    DVector::from_iterator(of.len(), of.iter().map(|value| value.to_f64().unwrap()))
}

#[test]
fn random_problems_have_the_velocities_of_rational_modes() {
    let mut random = SplitMix64(21);
    let mut draw = integers(&mut random);
    let (mut compared, mut several) = (0, 0);
    while compared < 250 {
        let m = (2 + draw(1)) as usize;
        let size = 2 * m;
        let g: Vec<Vec<Ratio<i128>>> = delassus(size, &vec![1; size + 1], &mut draw);
        let u: Vec<_> = (0..size)
            .map(|_| whole(if draw(1) > 0 { draw(5) } else { 0 }))
            .collect();
        let rough = if m < 3 { 5 } else { 4 };
        let mu: Vec<_> = (0..m)
            .map(|_| {
                Ratio::new(
                    [0, 1, 2, 3, 10, 200_000][draw(rough).unsigned_abs() as usize],
                    2,
                )
            })
            .collect();
        let Some(expected) = by_rationals(&g, &u, &mu) else {
            continue;
        };
        let Some(problem) = problem(&g, &u, &mu) else {
            continue;
        };
        let outcomes = AnitescuPotra::new().resolve(&problem).unwrap();
        assert!(outcomes.is_complete);
        assert_eq!(outcomes.list.len(), expected.len(), "{g:?} {u:?} {mu:?}");
        for [velocity, _] in &expected {
            let velocity = vector(velocity);
            let off = |speeds: &DVector<f64>| (speeds - &velocity).amax();
            let nearest = outcomes
                .list
                .iter()
                .map(|o| off(&o.speeds))
                .fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-9 * (1.0 + velocity.amax()), "{nearest:e}");
        }
        compared += 1;
        several += usize::from(expected.len() > 1);
    }
    assert!(several > 10, "{several}");
}

/// Of impulses that cancel to the speeds after them no outcome is lost, none is made up, and none is refused.
fn of_unequal_masses(seeds: Range<u64>) {
    let (mut known, mut large) = (0, 0);
    for seed in seeds {
        let mut random = SplitMix64(seed);
        let mut draw = integers(&mut random);
        let m = if draw(1) > 0 { 1 } else { 2 };
        let size = 2 * m;
        // One light body beside heavy ones: rows are almost dependent.
        let heavy = |_| 10i64.pow((2 + draw(2)) as u32);
        let inverse_masses: Vec<i64> = [100_000_000]
            .into_iter()
            .chain((0..size).map(heavy))
            .collect();
        let g: Vec<Vec<BigRational>> = delassus(size, &inverse_masses, &mut draw);
        let u: Vec<_> = (0..size).map(|_| whole(draw(9))).collect();
        let mu: Vec<_> = (0..m)
            .map(|_| whole::<BigRational>(1 + draw(30).abs()) / whole::<BigRational>(10))
            .collect();
        let (Some(problem), Some(exact)) = (problem(&g, &u, &mu), by_rationals(&g, &u, &mu)) else {
            continue;
        };
        let mut all: Vec<_> = exact
            .iter()
            .map(|pair| [vector(&pair[0]), vector(&pair[1])])
            .collect();
        let root = |i: usize| problem.delassus()[(i, i)].sqrt();
        let greatest = |of: &DVector<f64>, power: i32| {
            let scaled = of
                .iter()
                .enumerate()
                .map(|(i, x)| x.abs() * root(i).powi(power));
            scaled.fold(0.0, f64::max)
        };
        let unit = greatest(problem.speeds(), -1);
        let size = |p: &DVector<f64>| greatest(p, 1) / unit;
        // Impulses are rounded where they are written.
        let near = |a: &DVector<f64>, [b, p]: &[DVector<f64>; 2]| {
            greatest(&(a - b), -1)
                < unit * (1e-8 + 8.0 * f64::EPSILON * size(p)) + 1e-8 * greatest(b, -1)
        };
        let mut expected: Vec<[DVector<f64>; 2]> = Vec::new();
        all.sort_by(|[_, p], [_, q]| size(p).total_cmp(&size(q)));
        for one in all {
            if !expected.iter().any(|other| near(&one[0], other)) {
                expected.push(one);
            }
        }
        let too_many = expected.iter().position(|[_, p]| size(p) > 1e9);
        let count = too_many.unwrap_or(expected.len());
        let outcomes = match AnitescuPotra::new().resolve(&problem) {
            Ok(outcomes) => outcomes,
            Err(ImpactFailure::Jammed { .. } | ImpactFailure::Lcp(_)) if count == 0 => continue,
            Err(failure) => panic!("{seed}: {failure}, {expected:?}"),
        };
        for outcome in &outcomes.list {
            let is_one = expected.iter().any(|one| near(&outcome.speeds, one));
            assert!(is_one, "{seed}: {} of {expected:?}", outcome.speeds);
        }
        for one in &expected[..count] {
            let is_listed = outcomes
                .list
                .iter()
                .any(|outcome| near(&outcome.speeds, one));
            assert!(is_listed, "{seed}: {one:?} of {:?}", outcomes.list);
        }
        assert_eq!(
            outcomes.is_complete,
            too_many.is_none(),
            "{seed}: {expected:?}"
        );
        assert!(
            outcomes.list.len() == count || count == 0,
            "{seed}: {expected:?}"
        );
        known += count;
        large += expected[..count]
            .iter()
            .filter(|[_, p]| size(p) > 1e5)
            .count();
    }
    assert!(20 * large > known, "{known} {large}");
}

#[test]
fn bodies_of_unequal_masses_have_the_velocities_of_rational_modes() {
    of_unequal_masses(0..100);
}

#[test]
#[ignore = "minutes"]
fn thousands_of_bodies_of_unequal_masses_have_the_velocities_of_rational_modes() {
    of_unequal_masses(100..20_000);
}

/// Bodies with more rows than coordinates.
#[test]
fn dependent_rows_have_the_velocities_of_complementary_bases() {
    let mut random = SplitMix64(22);
    let mut several = 0;
    for _ in 0..60 {
        let contacts = Contacts::random(2, 1, &mut || random.unit());
        let (w, q) = contacts.unboxed(2);
        let mut expected: Vec<DVector<f64>> = Vec::new();
        let mut add = |speeds: DVector<f64>| {
            if expected.iter().all(|known| (known - &speeds).amax() > 1e-7) {
                expected.push(speeds);
            }
        };
        for listed in saltation::lcp::enumerate(&w, &q).unwrap() {
            add(contacts.speeds_after(listed.z.as_slice(), 2));
        }
        let problem = ImpactProblem::with_tangents(
            contacts.delassus.clone(),
            contacts.speeds.clone(),
            &contacts.friction,
        )
        .unwrap();
        let outcomes = AnitescuPotra::new().resolve(&problem).unwrap();
        for outcome in &outcomes.list {
            let off = |known: &DVector<f64>| (known - &outcome.speeds).amax();
            let nearest = expected.iter().map(off).fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-7 || !outcomes.is_complete, "{nearest:e}");
        }
        if outcomes.is_complete {
            assert_eq!(outcomes.list.len(), expected.len());
        }
        several += usize::from(outcomes.list.len() > 1);
    }
    assert!(several > 0);
}
