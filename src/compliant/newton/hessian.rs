//! The Hessian `H = A + Jᵀ G J` of an island, added up by rank-one terms into the blocks of its
//! factor (Castro et al., section IV-A).

use super::block_cholesky::BlockCholesky;
use super::island::Island;
use super::iterate::Iterate;
use crate::compliant::law::Curvature;
use crate::compliant::problem::Links;

/// Relative increases of the diagonal that are tried where rounding makes the factor fail.
const LIFTS: [f64; 4] = [0.0, 1e-14, 1e-12, 1e-10];

/// Assembles and factorises the Hessian at an iterate; false when it cannot be factorised.
pub(in crate::compliant) fn factorise(
    factor: &mut BlockCholesky,
    island: &Island,
    iterate: &Iterate,
    scratch: &mut Vec<f64>,
) -> bool {
    for lift in LIFTS {
        assemble(factor, island, iterate, scratch, lift);
        if factor.factorise().is_ok() {
            return true;
        }
    }
    false
}

fn assemble(
    factor: &mut BlockCholesky,
    island: &Island,
    iterate: &Iterate,
    scratch: &mut Vec<f64>,
    lift: f64,
) {
    factor.clear();
    for (i, tree) in island.trees.iter().enumerate() {
        let n = tree.width;
        let block = &island.inertia[tree.place..tree.place + n * n];
        factor.diagonal_mut(i).copy_from_slice(block);
    }
    let velocities = iterate.contact_velocities.iter().zip(&iterate.loads);
    for (contact, (velocity, load)) in island.contacts.iter().zip(velocities) {
        let curvature = contact.law.held(*load).curvature(velocity);
        if curvature.count > 0 {
            add_contact(
                factor,
                island,
                &contact.links,
                contact.edge,
                &curvature,
                scratch,
            );
        }
    }
    for (row, &velocity) in island.rows.iter().zip(&iterate.row_velocities) {
        let weight = row.law.curvature(velocity);
        if weight > 0.0 {
            add_row(factor, island, &row.links, row.edge, weight);
        }
    }
    if lift > 0.0 {
        for (i, tree) in island.trees.iter().enumerate() {
            let diagonal = factor.diagonal_mut(i).iter_mut();
            for entry in diagonal.step_by(tree.width + 1) {
                *entry *= 1.0 + lift;
            }
        }
    }
}

/// Adds `Σ weight (Jᵀu)(Jᵀu)ᵀ`.
fn add_contact(
    factor: &mut BlockCholesky,
    island: &Island,
    links: &Links,
    edge: usize,
    curvature: &Curvature,
    scratch: &mut Vec<f64>,
) {
    let (rows, tree) = island.rows_of(links.first, 3);
    if tree.width == 6
        && links
            .second
            .is_none_or(|link| island.widths[link.tree] == 6)
    {
        let first = combine6(rows, curvature);
        add_gram6(factor.diagonal_mut(links.first.tree), &first, curvature);
        if let Some(link) = links.second {
            let second = combine6(island.rows_of(link, 3).0, curvature);
            add_gram6(factor.diagonal_mut(link.tree), &second, curvature);
            let (block, transposed) = factor.edge_mut(edge);
            if transposed {
                add_outer6(block, &first, &second, curvature);
            } else {
                add_outer6(block, &second, &first, curvature);
            }
        }
        return;
    }
    // Any widths: the combined rows of both trees lie in the scratch.
    let count = curvature.count;
    scratch.clear();
    for link in links.iter() {
        let (rows, tree) = island.rows_of(link, 3);
        let n = tree.width;
        for u in &curvature.directions[..count] {
            scratch.extend(
                (0..n).map(|k| u[0] * rows[k] + u[1] * rows[n + k] + u[2] * rows[2 * n + k]),
            );
        }
    }
    let (first, second) = scratch.split_at(count * tree.width);
    let weights = &curvature.weights[..count];
    add_outer(factor.diagonal_mut(links.first.tree), first, first, weights);
    if let Some(link) = links.second {
        add_outer(factor.diagonal_mut(link.tree), second, second, weights);
        let (block, transposed) = factor.edge_mut(edge);
        if transposed {
            add_outer(block, first, second, weights);
        } else {
            add_outer(block, second, first, weights);
        }
    }
}

fn add_row(factor: &mut BlockCholesky, island: &Island, links: &Links, edge: usize, weight: f64) {
    let (first, _) = island.rows_of(links.first, 1);
    add_outer(
        factor.diagonal_mut(links.first.tree),
        first,
        first,
        &[weight],
    );
    if let Some(link) = links.second {
        let (second, _) = island.rows_of(link, 1);
        add_outer(factor.diagonal_mut(link.tree), second, second, &[weight]);
        let (block, transposed) = factor.edge_mut(edge);
        if transposed {
            add_outer(block, first, second, &[weight]);
        } else {
            add_outer(block, second, first, &[weight]);
        }
    }
}

/// `uᵀ rows` for each direction.
#[inline]
fn combine6(rows: &[f64], curvature: &Curvature) -> [[f64; 6]; 3] {
    let mut combined = [[0.0; 6]; 3];
    let Some(rows) = rows.first_chunk::<18>() else {
        return combined;
    };
    for r in 0..3 {
        let u = &curvature.directions[r];
        for k in 0..6 {
            combined[r][k] = u[0] * rows[k] + u[1] * rows[6 + k] + u[2] * rows[12 + k];
        }
    }
    combined
}

/// `block += Σ weight a aᵀ` in the lower triangle, 6 × 6; what is above is not defined afterwards.
#[inline]
fn add_gram6(block: &mut [f64], a: &[[f64; 6]; 3], curvature: &Curvature) {
    let Some(block) = block.first_chunk_mut::<36>() else {
        return;
    };
    let scaled = scaled(a, curvature);
    // Pairs of rows, with the columns that the lower triangle needs.
    add_rows::<2>(block, &scaled, a, curvature.count, 0);
    add_rows::<4>(block, &scaled, a, curvature.count, 2);
    add_rows::<6>(block, &scaled, a, curvature.count, 4);
}

/// `block += Σ weight a bᵀ`, 6 × 6, by rows.
#[inline]
fn add_outer6(block: &mut [f64], a: &[[f64; 6]; 3], b: &[[f64; 6]; 3], curvature: &Curvature) {
    let Some(block) = block.first_chunk_mut::<36>() else {
        return;
    };
    let scaled = scaled(a, curvature);
    for from in [0, 2, 4] {
        add_rows::<6>(block, &scaled, b, curvature.count, from);
    }
}

#[inline]
fn scaled(a: &[[f64; 6]; 3], curvature: &Curvature) -> [[f64; 6]; 3] {
    let mut scaled = *a;
    for r in 0..3 {
        for k in 0..6 {
            scaled[r][k] *= curvature.weights[r];
        }
    }
    scaled
}

/// Rows `from` and `from + 1`, `C` columns. Rows stay in registers over the terms.
#[inline(always)]
fn add_rows<const C: usize>(
    block: &mut [f64; 36],
    a: &[[f64; 6]; 3],
    b: &[[f64; 6]; 3],
    count: usize,
    from: usize,
) {
    let (mut upper, mut lower) = ([0.0; C], [0.0; C]);
    for k in 0..C {
        (upper[k], lower[k]) = (block[6 * from + k], block[6 * from + 6 + k]);
    }
    for r in 0..count.min(3) {
        let (x, y) = (a[r][from], a[r][from + 1]);
        for k in 0..C {
            upper[k] += x * b[r][k];
            lower[k] += y * b[r][k];
        }
    }
    for k in 0..C {
        (block[6 * from + k], block[6 * from + 6 + k]) = (upper[k], lower[k]);
    }
}

/// `block += Σ weight a bᵀ` by rows, for any widths; `a` and `b` hold one vector a weight.
fn add_outer(block: &mut [f64], a: &[f64], b: &[f64], weights: &[f64]) {
    let (rows, columns) = (a.len() / weights.len(), b.len() / weights.len());
    for (t, weight) in weights.iter().enumerate() {
        let (a, b) = (&a[t * rows..][..rows], &b[t * columns..][..columns]);
        for (row, a) in block.chunks_exact_mut(columns).zip(a) {
            for (entry, b) in row.iter_mut().zip(b) {
                *entry += weight * a * b;
            }
        }
    }
}
