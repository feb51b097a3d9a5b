//! Products and triangular solves of small dense blocks, row-major. Rows run along the second index
//! of each loop nest, so that they become vectors. Square blocks of 3 and 6 have their own copies,
//! by an index: adapters of iterators are not always taken into them, and cost more than they do.

/// `target −= blockᵀ block` in the lower triangle, for a block of `n` columns. What is above is not
/// defined afterwards.
#[inline]
pub(crate) fn subtract_gram(target: &mut [f64], block: &[f64], rows: usize, n: usize) {
    match (rows, n) {
        (6, 6) => subtract_gram_of_six(target, block),
        (3, 3) => subtract_squares::<3, 9>(target, block, block),
        _ => subtract_product(target, block, block, n, n),
    }
}

#[inline]
fn subtract_gram_of_six(target: &mut [f64], block: &[f64]) {
    let Some(block) = block.first_chunk::<36>() else {
        return;
    };
    let Some(target) = target.first_chunk_mut::<36>() else {
        return;
    };
    // two rows each, as far as they go in pairs
    subtract_rows::<2>(target, block, 0);
    subtract_rows::<4>(target, block, 2);
    subtract_rows::<6>(target, block, 4);
}

/// Rows `from` and `from + 1`, `C` columns, of `target −= blockᵀ block`.
#[inline(always)]
fn subtract_rows<const C: usize>(target: &mut [f64; 36], block: &[f64; 36], from: usize) {
    let mut rows = [[0.0; C]; 2];
    for a in 0..2 {
        for c in 0..C {
            rows[a][c] = target[6 * (from + a) + c];
        }
    }
    for m in 0..6 {
        for a in 0..2 {
            for c in 0..C {
                rows[a][c] -= block[6 * m + from + a] * block[6 * m + c];
            }
        }
    }
    for a in 0..2 {
        for c in 0..C {
            target[6 * (from + a) + c] = rows[a][c];
        }
    }
}

/// `target −= leftᵀ right` for the blocks `right` of a row, `rows` high. Each goes to its place in
/// `targets`; `columns` gives the place and the width. `left` is `a` wide.
#[inline]
pub(crate) fn subtract_products(
    targets: &mut [f64],
    left: &[f64],
    mut right: &[f64],
    rows: usize,
    a: usize,
    columns: impl Iterator<Item = (usize, usize)>,
) {
    for (place, c) in columns {
        let (block, rest) = right.split_at(rows * c);
        right = rest;
        let target = &mut targets[place..place + a * c];
        match (rows, a, c) {
            (6, 6, 6) => subtract_squares::<6, 36>(target, left, block),
            (3, 3, 3) => subtract_squares::<3, 9>(target, left, block),
            _ => subtract_product(target, left, block, a, c),
        }
    }
}

fn subtract_product(target: &mut [f64], left: &[f64], right: &[f64], a: usize, c: usize) {
    // a tree of no width has no columns
    if a == 0 {
        return;
    }
    for (from, width) in panels(c) {
        match width {
            1 => subtract_panel::<1>(target, left, right, a, c, from),
            2 => subtract_panel::<2>(target, left, right, a, c, from),
            3 => subtract_panel::<3>(target, left, right, a, c, from),
            4 => subtract_panel::<4>(target, left, right, a, c, from),
            5 => subtract_panel::<5>(target, left, right, a, c, from),
            6 => subtract_panel::<6>(target, left, right, a, c, from),
            7 => subtract_panel::<7>(target, left, right, a, c, from),
            _ => subtract_panel::<8>(target, left, right, a, c, from),
        }
    }
}

/// Columns are taken eight at a time, which registers hold for two rows. Beginnings and widths.
fn panels(columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..columns)
        .step_by(8)
        .map(move |from| (from, (columns - from).min(8)))
}

/// Columns `from` to `from + C`. Nothing that is asked for is outside the slices.
fn subtract_panel<const C: usize>(
    target: &mut [f64],
    left: &[f64],
    right: &[f64],
    a: usize,
    c: usize,
    from: usize,
) {
    let panel = |row: &[f64]| row[from..].first_chunk::<C>().copied().unwrap_or([0.0; C]);
    let mut pairs = target.chunks_exact_mut(2 * c);
    let mut column = 0;
    for pair in &mut pairs {
        let (first, second) = pair.split_at_mut(c);
        let (mut upper, mut lower) = (panel(first), panel(second));
        for (left, right) in left.chunks_exact(a).zip(right.chunks_exact(c)) {
            let right = panel(right);
            let (l, m) = (left[column], left[column + 1]);
            for k in 0..C {
                upper[k] -= l * right[k];
                lower[k] -= m * right[k];
            }
        }
        first[from..from + C].copy_from_slice(&upper);
        second[from..from + C].copy_from_slice(&lower);
        column += 2;
    }
    let last = pairs.into_remainder();
    if !last.is_empty() {
        let mut row = panel(last);
        for (left, right) in left.chunks_exact(a).zip(right.chunks_exact(c)) {
            let right = panel(right);
            for k in 0..C {
                row[k] -= left[column] * right[k];
            }
        }
        last[from..from + C].copy_from_slice(&row);
    }
}

/// Square blocks of `N` rows, `S = N²`. Nothing that is asked for is outside the slices.
#[inline]
fn subtract_squares<const N: usize, const S: usize>(
    target: &mut [f64],
    left: &[f64],
    right: &[f64],
) {
    let (Some(left), Some(right)) = (left.first_chunk::<S>(), right.first_chunk::<S>()) else {
        return;
    };
    let Some(target) = target.first_chunk_mut::<S>() else {
        return;
    };
    for a in 0..N {
        let mut row = [0.0; N];
        for c in 0..N {
            row[c] = target[N * a + c];
        }
        for m in 0..N {
            let l = left[N * m + a];
            for c in 0..N {
                row[c] -= l * right[N * m + c];
            }
        }
        for c in 0..N {
            target[N * a + c] = row[c];
        }
    }
}

/// Replaces the lower triangle by its Cholesky factor, with the inverse of the diagonal on the
/// diagonal. None when the block is not positive definite or not finite.
#[inline]
pub(crate) fn factor(block: &mut [f64], n: usize) -> Option<()> {
    match n {
        6 => factor_square::<6>(block.as_chunks_mut().0.first_chunk_mut()?),
        3 => factor_square::<3>(block.as_chunks_mut().0.first_chunk_mut()?),
        _ => factor_any(block, n),
    }
}

#[inline]
fn factor_square<const N: usize>(block: &mut [[f64; N]; N]) -> Option<()> {
    for j in 0..N {
        // The root is not waited for: the rest takes the inverse of the pivot.
        let inverse = 1.0 / block[j][j];
        let root = definite(inverse)?.sqrt();
        for i in j + 1..N {
            let scaled = block[i][j] * inverse;
            for k in j + 1..=i {
                block[i][k] -= scaled * block[k][j];
            }
        }
        block[j][j] = root;
        for i in j + 1..N {
            block[i][j] *= root;
        }
    }
    Some(())
}

/// The inverse of a pivot, when it is positive and finite. Written so that NaN fails.
#[inline]
fn definite(inverse: f64) -> Option<f64> {
    (inverse > 0.0 && inverse.is_finite()).then_some(inverse)
}

fn factor_any(block: &mut [f64], n: usize) -> Option<()> {
    for i in 0..n {
        let (above, row) = block.split_at_mut(i * n);
        for (j, above) in above.chunks_exact(n).enumerate() {
            row[j] = (row[j] - dot(&row[..j], above)) * above[j];
        }
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        row[i] = definite(1.0 / pivot)?.sqrt();
    }
    Some(())
}

/// `rows = L⁻¹ rows`: the rows are `c` wide.
#[inline]
pub(crate) fn solve_rows(l: &[f64], rows: &mut [f64], n: usize, c: usize) {
    let fixed = match (n, c) {
        (6, 6) => solve_square::<6>(l, rows),
        (3, 3) => solve_square::<3>(l, rows),
        _ => None,
    };
    // a tree of no width has no rows
    if fixed.is_some() || n == 0 {
        return;
    }
    for (from, width) in panels(c) {
        match width {
            1 => solve_panel::<1>(l, rows, n, c, from),
            2 => solve_panel::<2>(l, rows, n, c, from),
            3 => solve_panel::<3>(l, rows, n, c, from),
            4 => solve_panel::<4>(l, rows, n, c, from),
            5 => solve_panel::<5>(l, rows, n, c, from),
            6 => solve_panel::<6>(l, rows, n, c, from),
            7 => solve_panel::<7>(l, rows, n, c, from),
            _ => solve_panel::<8>(l, rows, n, c, from),
        }
    }
}

/// Columns `from` to `from + C`. Nothing that is asked for is outside the slices.
fn solve_panel<const C: usize>(l: &[f64], rows: &mut [f64], n: usize, c: usize, from: usize) {
    let panel = |row: &[f64]| row[from..].first_chunk::<C>().copied().unwrap_or([0.0; C]);
    for (i, l) in l.chunks_exact(n).enumerate() {
        let (above, row) = rows.split_at_mut(i * c);
        let mut sum = panel(row);
        for (above, &l) in above.chunks_exact(c).zip(l) {
            let above = panel(above);
            for k in 0..C {
                sum[k] -= l * above[k];
            }
        }
        row[from..from + C].copy_from_slice(&sum.map(|x| x * l[i]));
    }
}

/// None when the blocks are not both square.
#[inline]
fn solve_square<const N: usize>(l: &[f64], rows: &mut [f64]) -> Option<()> {
    let l = l.as_chunks::<N>().0.first_chunk::<N>()?;
    let rows = rows.as_chunks_mut::<N>().0.first_chunk_mut::<N>()?;
    for i in 0..N {
        let mut row = rows[i];
        for k in 0..i {
            for c in 0..N {
                row[c] -= l[i][k] * rows[k][c];
            }
        }
        for c in 0..N {
            rows[i][c] = row[c] * l[i][i];
        }
    }
    Some(())
}

/// `b = L⁻¹ b`.
#[inline]
pub(crate) fn solve_lower(l: &[f64], b: &mut [f64]) {
    if let Some((b, l)) = square_beside::<6, 36>(b, l) {
        return lower(l, b);
    }
    for (i, l) in l.chunks_exact(b.len().max(1)).enumerate() {
        b[i] = (b[i] - dot(&l[..i], b)) * l[i];
    }
}

/// By columns: a dot product would wait for the last entry.
#[inline(always)]
fn lower(l: &[f64; 36], b: &mut [f64; 6]) {
    for j in 0..6 {
        let x = b[j] * l[6 * j + j];
        b[j] = x;
        for i in j + 1..6 {
            b[i] -= l[6 * i + j] * x;
        }
    }
}

/// `b = L⁻ᵀ b`.
#[inline]
pub(crate) fn solve_upper(l: &[f64], b: &mut [f64]) {
    if let Some((b, l)) = square_beside::<6, 36>(b, l) {
        return upper(l, b);
    }
    upper(l, b);
}

#[inline(always)]
fn upper(l: &[f64], b: &mut [f64]) {
    let n = b.len();
    for i in (0..n).rev() {
        let x = b[i] * l[n * i + i];
        b[i] = x;
        for k in 0..i {
            b[k] -= l[n * i + k] * x;
        }
    }
}

/// `b = Lᵀ b`, which [`solve_upper`] takes back.
pub(crate) fn apply_upper(l: &[f64], b: &mut [f64]) {
    let n = b.len();
    for i in 0..n {
        // the diagonal is kept as its reciprocals
        let mut sum = b[i] / l[n * i + i];
        for k in i + 1..n {
            sum += l[n * k + i] * b[k];
        }
        b[i] = sum;
    }
}

/// `b −= blockᵀ x`.
#[inline]
pub(crate) fn subtract_transposed(b: &mut [f64], block: &[f64], x: &[f64]) {
    if let (Some((b, block)), Some(x)) = (square_beside::<6, 36>(b, block), x.first_chunk::<6>()) {
        return transposed_square(b, block, x);
    }
    if let (Some((b, block)), Some(x)) = (square_beside::<3, 9>(b, block), x.first_chunk::<3>()) {
        return transposed_square(b, block, x);
    }
    for (row, x) in block.chunks_exact(b.len().max(1)).zip(x) {
        for (b, r) in b.iter_mut().zip(row) {
            *b -= r * x;
        }
    }
}

#[inline(always)]
fn transposed_square<const N: usize, const S: usize>(
    b: &mut [f64; N],
    block: &[f64; S],
    x: &[f64; N],
) {
    for m in 0..N {
        for k in 0..N {
            b[k] -= block[N * m + k] * x[m];
        }
    }
}

/// `b −= block x`.
#[inline]
pub(crate) fn subtract_applied(b: &mut [f64], block: &[f64], x: &[f64]) {
    if let (Some((b, block)), Some(x)) = (square_beside::<6, 36>(b, block), x.first_chunk::<6>()) {
        return applied_square(b, block, x);
    }
    if let (Some((b, block)), Some(x)) = (square_beside::<3, 9>(b, block), x.first_chunk::<3>()) {
        return applied_square(b, block, x);
    }
    for (b, row) in b.iter_mut().zip(block.chunks_exact(x.len().max(1))) {
        *b -= dot(row, x);
    }
}

#[inline(always)]
fn applied_square<const N: usize, const S: usize>(
    b: &mut [f64; N],
    block: &[f64; S],
    x: &[f64; N],
) {
    for i in 0..N {
        // two sums side by side
        let mut sums = [0.0; 2];
        for k in 0..N {
            sums[k % 2] += block[N * i + k] * x[k];
        }
        b[i] -= sums[0] + sums[1];
    }
}

/// `out += rows · v` for three rows; for fewer, what they have.
#[inline(always)]
pub(crate) fn add_times(rows: &[f64], v: &[f64], out: &mut [f64; 3]) {
    // Free bodies: loops of known length.
    if let (Ok(v), Some(rows)) = (<&[f64; 6]>::try_from(v), rows.first_chunk::<18>()) {
        for (r, sum) in out.iter_mut().enumerate() {
            let row = |k: usize| rows[6 * r + k] * v[k];
            // Two sums: half the wait for each addition.
            *sum += (row(0) + row(1) + row(2)) + (row(3) + row(4) + row(5));
        }
        return;
    }
    for (sum, row) in out.iter_mut().zip(rows.chunks_exact(v.len().max(1))) {
        *sum += dot(row, v);
    }
}

/// `out += rowsᵀ · impulse` for three rows.
#[inline(always)]
pub(crate) fn add_transposed(rows: &[f64], impulse: &[f64; 3], out: &mut [f64]) {
    // Free bodies: loops of known length.
    if let (Ok(out), Some(rows)) = (
        <&mut [f64; 6]>::try_from(&mut *out),
        rows.first_chunk::<18>(),
    ) {
        for k in 0..6 {
            out[k] += impulse[0] * rows[k] + impulse[1] * rows[6 + k] + impulse[2] * rows[12 + k];
        }
        return;
    }
    let n = out.len();
    let (first, rest) = rows.split_at(n);
    let (second, third) = rest.split_at(n);
    for (((sum, a), b), c) in out.iter_mut().zip(first).zip(second).zip(third) {
        *sum += impulse[0] * a + impulse[1] * b + impulse[2] * c;
    }
}

/// A vector and a square block of `N` rows, `S = N²`, when the slices are that.
#[inline]
fn square_beside<'a, const N: usize, const S: usize>(
    b: &'a mut [f64],
    block: &'a [f64],
) -> Option<(&'a mut [f64; N], &'a [f64; S])> {
    Some((b.try_into().ok()?, block.try_into().ok()?))
}

/// `a · b` over the shorter one, in four sums that do not wait for each other.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let ((a, a_rest), (b, b_rest)) = (a[..n].as_chunks::<4>(), b[..n].as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
