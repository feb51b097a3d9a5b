//! Balls in a row that collide two by two: an independent way to all words.

/// Velocities after the elastic collision of balls `i` and `i + 1`.
pub(crate) fn collide(masses: &[f64], velocities: &mut [f64], i: usize) {
    let (m, w) = (masses[i], masses[i + 1]);
    let centre = (m * velocities[i] + w * velocities[i + 1]) / (m + w);
    velocities[i] = 2.0 * centre - velocities[i];
    velocities[i + 1] = 2.0 * centre - velocities[i + 1];
}

/// True when balls `i` and `i + 1` come closer.
pub(crate) fn approaches(velocities: &[f64], i: usize) -> bool {
    velocities[i + 1] - velocities[i] < -1e-12
}

/// All admissible words with their ends, in lexicographic order.
pub(crate) fn words(masses: &[f64], velocities: &[f64]) -> Vec<(Vec<usize>, Vec<f64>)> {
    fn go(
        masses: &[f64],
        velocities: &[f64],
        word: &mut Vec<usize>,
        found: &mut Vec<(Vec<usize>, Vec<f64>)>,
    ) {
        let mut is_end = true;
        for i in 0..masses.len() - 1 {
            if approaches(velocities, i) {
                is_end = false;
                let mut after = velocities.to_vec();
                collide(masses, &mut after, i);
                word.push(i);
                go(masses, &after, word, found);
                word.pop();
            }
        }
        if is_end {
            found.push((word.clone(), velocities.to_vec()));
        }
    }
    let mut found = Vec::new();
    go(masses, velocities, &mut Vec::new(), &mut found);
    found
}

/// True when some proper subsequence of a word, admissible or not, leaves no ball approaching: each
/// is tried.
pub(crate) fn has_feasible_subsequence(masses: &[f64], velocities: &[f64], word: &[usize]) -> bool {
    (0_usize..(1 << word.len()) - 1).any(|kept| {
        let mut after = velocities.to_vec();
        for (k, &i) in word.iter().enumerate() {
            if kept >> k & 1 == 1 {
                collide(masses, &mut after, i);
            }
        }
        (0..masses.len() - 1).all(|i| !approaches(&after, i))
    })
}
