//! Event functions of two or three tones of a clock, up to six hundred periods in a run whose steps could be as long as
//! it is: flanks that look straight, humps that hardly reach zero, and slow beats of both.

use saltation::{Integrator, Start, Status, Watch};

use crate::fixtures::support::{Sketch, SplitMix64};

const END: f64 = 50.0;

/// Of an amplitude, a frequency and a phase each.
#[derive(Clone)]
struct Tones {
    tones: Vec<[f64; 3]>,
    level: f64,
}

impl Tones {
    fn drawn(draw: &mut SplitMix64, count: usize) -> Self {
        let periods = 10f64.powf(draw.between(0.5, 2.8));
        let slowest = std::f64::consts::TAU * periods / END;
        let mut tone = |k: usize| {
            let [size, faster] = match k {
                0 => [1.0; 2],
                _ => [draw.between(0.1, 0.6), draw.between(1.2, 4.0)],
            };
            [
                size,
                slowest * faster,
                draw.between(0.0, std::f64::consts::TAU),
            ]
        };
        Self {
            tones: (0..count).map(&mut tone).collect(),
            level: draw.between(-0.9, 0.9),
        }
    }

    fn at(&self, t: f64) -> f64 {
        let tone = |[size, frequency, phase]: &[f64; 3]| size * (frequency * t + phase).sin();
        self.tones.iter().map(tone).sum::<f64>() - self.level
    }

    /// Changes of sign between so many places of each period of the fastest tone.
    fn crossings(&self, places: f64) -> usize {
        let end = self
            .tones
            .iter()
            .fold(0.0, |most: f64, tone| most.max(tone[1]))
            * END;
        let apart = std::f64::consts::TAU / (places * end);
        let is_positive = |i: usize| self.at(END * (i as f64 * apart)) > 0.0;
        let mut before = is_positive(0);
        let changes = |i: &usize| {
            let now = is_positive(*i);
            std::mem::replace(&mut before, now) != now
        };
        (1..100_000_000)
            .take_while(|i| *i as f64 * apart <= 1.0)
            .filter(changes)
            .count()
    }
}

#[test]
fn swings_of_two_and_three_tones_are_met() {
    let cases = if cfg!(debug_assertions) { 400 } else { 4000 };
    let (mut doubted, mut lost) = (0, 0);
    // In the last ones a maximum between two samples was looked for between the next two.
    for case in (0..cases).chain([1022, 1293, 1659, 1985, 2853, 3903]) {
        let mut draw = SplitMix64(case as u64);
        let tones = Tones::drawn(&mut draw, 2 + case % 2);
        let of_clock = tones.clone();
        let clock = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
            .events([Watch::BOTH], move |_, t, _, _| of_clock.at(t));
        let mut integrator = Integrator::new(&clock).unwrap().rtol(1e-8);
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0]), END)
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{case}");
        doubted += usize::from(!run.is_guaranteed());
        let met = run.crossings().len();
        let is_met = met == tones.crossings(100.0) || met == tones.crossings(4000.0);
        lost += usize::from(!is_met && run.is_guaranteed());
    }
    assert!(1000 * doubted <= cases, "{doubted}");
    assert!(1000 * lost <= cases, "{lost}");
}
