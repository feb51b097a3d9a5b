//! All velocities of the simultaneous law against references of other construction: contact modes
//! solved with rational numbers, and complementary bases.

use num_rational::Ratio;
use num_traits::{Signed, Zero};
use saltation::impact::{AnitescuPotra, ImpactLaw, ImpactProblem};
use saltation::nalgebra::{DMatrix, DVector};

use crate::contacts::Contacts;
use crate::random_bits::SplitMix64;

/// Wide enough for determinants of the problems drawn here.
type Rational = Ratio<i128>;

fn whole(value: i64) -> Rational {
    Rational::from_integer(value.into())
}

/// Solves by elimination; none when the matrix is singular.
fn solve(mut a: Vec<Vec<Rational>>, mut x: Vec<Rational>) -> Option<Vec<Rational>> {
    let n = x.len();
    for k in 0..n {
        let pivot = (k..n).find(|&i| !a[i][k].is_zero())?;
        a.swap(pivot, k);
        x.swap(pivot, k);
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                let part = factor * a[k][j];
                a[i][j] -= part;
            }
            let part = factor * x[k];
            x[i] -= part;
        }
    }
    Some((0..n).map(|k| x[k] / a[k][k]).collect())
}

/// All velocities, exactly; none when a mode is singular.
fn by_rationals(g: &[Vec<i64>], u: &[i64], mu: &[Rational]) -> Option<Vec<Vec<Rational>>> {
    let m = mu.len();
    let mut found: Vec<Vec<Rational>> = Vec::new();
    for mode in 0..4usize.pow(m as u32) {
        // 0 open, 1 stick, 2 and 3 slip
        let state = |i: usize| mode / 4usize.pow(i as u32) % 4;
        let mut rows = Vec::new();
        let mut unknowns: Vec<Vec<Rational>> = Vec::new();
        let unit = |i: usize| {
            let mut unit = vec![whole(0); 2 * m];
            unit[i] = whole(1);
            unit
        };
        for i in (0..m).filter(|&i| state(i) > 0) {
            rows.push(i);
            let mut push = unit(i);
            if state(i) == 1 {
                rows.push(m + i);
                unknowns.push(unit(m + i));
            } else {
                let along = mu[i];
                push[m + i] = if state(i) == 2 { -along } else { along };
            }
            unknowns.push(push);
        }
        let product = |l: &[Rational], row: usize| -> Rational {
            (0..2 * m).map(|j| whole(g[row][j]) * l[j]).sum()
        };
        let a = rows
            .iter()
            .map(|&row| unknowns.iter().map(|l| product(l, row)).collect())
            .collect();
        let x = solve(a, rows.iter().map(|&row| whole(-u[row])).collect())?;
        let l: Vec<Rational> = (0..2 * m)
            .map(|j| unknowns.iter().zip(&x).map(|(l, x)| l[j] * x).sum())
            .collect();
        let after: Vec<Rational> = (0..2 * m)
            .map(|row| whole(u[row]) + product(&l, row))
            .collect();
        let holds = (0..m).all(|i| match state(i) {
            0 => !after[i].is_negative(),
            1 => !l[i].is_negative() && l[m + i].abs() <= mu[i] * l[i],
            2 => !l[i].is_negative() && !after[m + i].is_negative(),
            _ => !l[i].is_negative() && !after[m + i].is_positive(),
        });
        if holds && !found.contains(&after) {
            found.push(after);
        }
    }
    Some(found)
}

fn float(value: &Rational) -> f64 {
    num_traits::ToPrimitive::to_f64(value).unwrap()
}

#[test]
fn random_problems_have_the_velocities_of_rational_modes() {
    let mut random = SplitMix64(21);
    let (mut compared, mut several) = (0, 0);
    while compared < 250 {
        let m = 1 + (random.next() % 3) as usize;
        let size = 2 * m;
        let mut draw = |most: i64| (random.next() % (2 * most as u64 + 1)).cast_signed() - most;
        let j: Vec<Vec<i64>> = (0..size)
            .map(|_| (0..=size).map(|_| draw(3)).collect())
            .collect();
        let u: Vec<i64> = (0..size)
            .map(|_| if draw(1) > 0 { draw(5) } else { 0 })
            .collect();
        let rough = if m < 3 { 5 } else { 4 };
        let g: Vec<Vec<i64>> = (0..size)
            .map(|a| {
                let dot = |b: usize| j[a].iter().zip(&j[b]).map(|(x, y)| x * y).sum();
                (0..size).map(dot).collect()
            })
            .collect();
        let mu: Vec<Rational> = (0..m)
            .map(|_| {
                let k = draw(rough).unsigned_abs() as usize;
                Rational::new([0, 1, 2, 3, 10, 200_000][k], 2)
            })
            .collect();
        let Some(expected) = by_rationals(&g, &u, &mu) else {
            continue;
        };
        let delassus = DMatrix::from_fn(size, size, |a, b| g[a][b] as f64);
        let speeds = DVector::from_iterator(size, u.iter().map(|&u| u as f64));
        let friction: Vec<f64> = mu.iter().map(float).collect();
        let Ok(problem) = ImpactProblem::with_tangents(delassus, speeds, &friction) else {
            continue;
        };
        let outcomes = AnitescuPotra::new().resolve(&problem).unwrap();
        assert!(outcomes.is_complete);
        assert_eq!(outcomes.list.len(), expected.len(), "{g:?} {u:?} {mu:?}");
        for velocity in &expected {
            let velocity = DVector::from_iterator(size, velocity.iter().map(float));
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
