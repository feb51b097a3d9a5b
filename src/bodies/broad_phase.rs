//! Pairs of bodies that may touch: a uniform grid over balls.
//!
//! Every moving body has a ball that holds all points it can touch; two bodies are candidates where
//! their balls meet. The cells are as wide as the largest ball but for a few: balls more than twice
//! as large as nine tenths of all are compared with every other ball. Cost: linear in the number of
//! bodies plus the number of pairs in neighbouring cells; where all balls lie in one cell it is
//! quadratic.

use nalgebra::Vector3;

/// A ball.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ball {
    pub(super) centre: Vector3<f64>,
    pub(super) radius: f64,
}

impl Ball {
    fn meets(&self, other: &Self) -> bool {
        let reach = self.radius + other.radius;
        (self.centre - other.centre).norm_squared() <= reach * reach
    }
}

/// Cells further out are one: beyond, the rounding of a position would be a part of a cell.
const FURTHEST: f64 = (1u64 << 30) as f64;

/// A cell and those around it.
const AROUND: [[i64; 3]; 27] = {
    let mut around = [[0; 3]; 27];
    let (mut k, mut number) = (0, 0);
    while k < 27 {
        around[k] = [number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1];
        k += 1;
        number += 1;
    }
    around
};

/// So few balls are compared all with all, which is as fast.
const FEW: usize = 64;

/// No body.
const NONE: usize = usize::MAX;

/// Appends the pairs `(i, j)`, `i < j`, of balls that meet and may touch to `pairs`, in rising order,
/// as `i · count + j`, but for pairs of balls that both sleep. `work` is scratch space.
pub(super) fn candidates(
    count: usize,
    ball: impl Fn(usize) -> Ball,
    sleeps: impl Fn(usize) -> bool,
    may_touch: impl Fn(usize, usize) -> bool,
    work: &mut Vec<usize>,
    pairs: &mut Vec<usize>,
) {
    let start = pairs.len();
    let mut add = |i: usize, j: usize| {
        let (i, j) = (i.min(j), i.max(j));
        let is_looked_for = !(sleeps(i) && sleeps(j));
        if is_looked_for && ball(i).meets(&ball(j)) && may_touch(i, j) {
            pairs.push(i * count + j);
        }
    };
    if count <= FEW {
        for i in 0..count {
            (i + 1..count).for_each(|j| add(i, j));
        }
        return;
    }
    let limit = common_radius(count, &ball, work);
    let width = 2.0 * limit * (1.0 + 1e-6);
    let cell = |i: usize| {
        let index = |x: f64| (x / width).floor().clamp(-FURTHEST, FURTHEST);
        #[expect(clippy::cast_possible_truncation, reason = "clamped")]
        let cell = ball(i).centre.map(|x| index(x) as i64);
        cell
    };
    let buckets = (2 * count).next_power_of_two();
    work.clear();
    work.resize(buckets + count, NONE);
    let (heads, next) = work.split_at_mut(buckets);
    let bucket = |cell: [i64; 3]| hash(cell) & (buckets - 1);
    // Balls that sleep are entered first, and look for none.
    let asleep = (0..count).filter(|i| sleeps(*i));
    let awake = (0..count).filter(|i| !sleeps(*i));
    for i in asleep.chain(awake) {
        if ball(i).radius > limit {
            (0..count)
                .filter(|&j| j != i && (ball(j).radius <= limit || j > i))
                .for_each(|j| add(i, j));
            continue;
        }
        let own: [i64; 3] = cell(i).into();
        // Balls entered before this one: in the own cell and in all around it.
        let around = if sleeps(i) { &[][..] } else { &AROUND[..] };
        for [x, y, z] in around {
            let mut j = heads[bucket([own[0] + x, own[1] + y, own[2] + z])];
            while j != NONE {
                add(i, j);
                j = next[j];
            }
        }
        let bucket = bucket(own);
        next[i] = heads[bucket];
        heads[bucket] = i;
    }
    // Cells may share a bucket: a pair can be there twice.
    let found = &mut pairs[start..];
    found.sort_unstable();
    let mut kept = 0;
    for k in 0..found.len() {
        if k == 0 || found[k] != found[kept - 1] {
            found[kept] = found[k];
            kept += 1;
        }
    }
    pairs.truncate(start + kept);
}

/// The largest radius but for balls more than twice as large as nine tenths of all.
fn common_radius(count: usize, ball: &impl Fn(usize) -> Ball, work: &mut Vec<usize>) -> f64 {
    work.clear();
    work.extend(0..count);
    let by_radius = |&i: &usize, &j: &usize| ball(i).radius.total_cmp(&ball(j).radius);
    let (_, &mut most, _) = work.select_nth_unstable_by(count * 9 / 10, by_radius);
    let limit = 2.0 * ball(most).radius;
    let radii = (0..count).map(|i| ball(i).radius);
    let common = radii.filter(|&radius| radius <= limit);
    common.fold(f64::MIN_POSITIVE, f64::max)
}

fn hash(cell: [i64; 3]) -> usize {
    // Odd constants from the fractional bits of the golden ratio and of √3.
    let factors = [
        0x9e37_79b9_7f4a_7c15_u64,
        0xbb67_ae85_84ca_a73b,
        0xd2e7_470e_e14c_6c93,
    ];
    let mixed = cell.iter().zip(factors).fold(0u64, |sum, (&k, factor)| {
        (sum ^ k.cast_unsigned()).wrapping_mul(factor)
    });
    usize::try_from(mixed >> 32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{symmetric, word};
    use proptest::prelude::*;

    fn all_pairs(balls: &[Ball]) -> Vec<usize> {
        let n = balls.len();
        let mut pairs = Vec::new();
        for i in 0..n {
            let meets = (i + 1..n).filter(|&j| balls[i].meets(&balls[j]));
            pairs.extend(meets.map(|j| i * n + j));
        }
        pairs
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn pairs_are_those_of_all_against_all(
            seed in any::<u64>(),
            count in 0usize..120,
            spread in 0.0f64..6.0,
            exponent in 0.0f64..3.0,
            offset in prop::sample::select(vec![0.0, -1.0, 1e6, -1e14]),
        ) {
            let draw = |i: usize| symmetric(word(seed, i as u64));
            let balls: Vec<Ball> = (0..count)
                .map(|i| Ball {
                    centre: Vector3::from_fn(|k, _| offset + 10f64.powf(0.3 * spread) * draw(4 * i + k)),
                    radius: 0.2 * 10f64.powf(exponent * draw(4 * i + 3)),
                })
                .collect();
            let (mut work, mut pairs) = (Vec::new(), Vec::new());
            let none = |_: usize| false;
            candidates(count, |i| balls[i], none, |_, _| true, &mut work, &mut pairs);
            prop_assert_eq!(&pairs, &all_pairs(&balls));
            let may_touch = |i: usize, j: usize| i < j && !(i + j).is_multiple_of(3);
            let mut fewer = Vec::new();
            candidates(count, |i| balls[i], none, may_touch, &mut work, &mut fewer);
            pairs.retain(|pair| may_touch(pair / count, pair % count));
            prop_assert_eq!(&fewer, &pairs);
            let sleeps = |i: usize| draw(5 * i + 1) < 0.6;
            fewer.clear();
            candidates(count, |i| balls[i], sleeps, may_touch, &mut work, &mut fewer);
            pairs.retain(|pair| !(sleeps(pair / count) && sleeps(pair % count)));
            prop_assert_eq!(fewer, pairs);
        }
    }

    #[test]
    fn a_second_call_needs_no_more_memory() {
        let ball = |i: usize| Ball {
            centre: Vector3::from_fn(|k, _| 3.0 * symmetric(word(5, (3 * i + k) as u64))),
            radius: 0.4,
        };
        let (mut work, mut pairs) = (Vec::new(), Vec::new());
        candidates(200, ball, |_| false, |_, _| true, &mut work, &mut pairs);
        let (sizes, first) = ((work.capacity(), pairs.capacity()), pairs.clone());
        pairs.clear();
        candidates(200, ball, |_| false, |_, _| true, &mut work, &mut pairs);
        assert_eq!((work.capacity(), pairs.capacity()), sizes);
        assert_eq!(pairs, first);
    }
}
