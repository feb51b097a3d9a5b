//! faer's sparse Cholesky factors, with all memory at hand.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor::{LltParams, LltRegularization};
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMat, Triplet};
use faer::{Conj, MatMut, Par, Side, Spec};

use crate::pile::Pile;

#[derive(Clone, Copy)]
pub(crate) enum Method {
    Simplicial,
    Supernodal,
    Automatic,
}

pub(crate) struct Sparse {
    method: Method,
    matrix: SparseColMat<usize, f64>,
    symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
    memory: MemBuffer,
}

impl Sparse {
    pub(crate) fn new(pile: &Pile, method: Method) -> Result<Sparse, String> {
        let n = pile.b.len();
        let entries: Vec<_> = pile
            .lower()
            .into_iter()
            .map(|(r, c, v)| Triplet::new(r, c, v))
            .collect();
        let matrix = SparseColMat::try_new_from_triplets(n, n, &entries)
            .map_err(|error| format!("{error:?}"))?;
        let symbolic = symbolic(&matrix, method)?;
        let need = StackReq::any_of(&[
            symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, parameters()),
            symbolic.solve_in_place_scratch::<f64>(1, Par::Seq),
        ]);
        Ok(Sparse {
            method,
            values: vec![0.0; symbolic.len_val()],
            memory: MemBuffer::new(need),
            matrix,
            symbolic,
        })
    }

    pub(crate) fn analyse_again(&mut self) {
        if let Ok(symbolic) = symbolic(&self.matrix, self.method) {
            self.symbolic = symbolic;
        }
    }

    pub(crate) fn factorise(&mut self) -> Result<(), String> {
        let stack = MemStack::new(&mut self.memory);
        let matrix = self.matrix.as_ref();
        let none = LltRegularization::default();
        self.symbolic
            .factorize_numeric_llt(
                &mut self.values,
                matrix,
                Side::Lower,
                none,
                Par::Seq,
                stack,
                parameters(),
            )
            .map(|_| ())
            .map_err(|error| format!("{error:?}"))
    }

    pub(crate) fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        x.copy_from_slice(b);
        let rows = x.len();
        let stack = MemStack::new(&mut self.memory);
        let right = MatMut::from_column_major_slice_mut(x, rows, 1);
        LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            right,
            Par::Seq,
            stack,
        );
    }
}

fn parameters() -> Spec<LltParams, f64> {
    Spec::default()
}

fn symbolic(
    matrix: &SparseColMat<usize, f64>,
    method: Method,
) -> Result<SymbolicCholesky<usize>, String> {
    let threshold = match method {
        Method::Simplicial => SupernodalThreshold::FORCE_SIMPLICIAL,
        Method::Supernodal => SupernodalThreshold::FORCE_SUPERNODAL,
        Method::Automatic => SupernodalThreshold::AUTO,
    };
    let parameters = CholeskySymbolicParams {
        supernodal_flop_ratio_threshold: threshold,
        ..CholeskySymbolicParams::default()
    };
    let order = SymmetricOrdering::Amd;
    factorize_symbolic_cholesky(matrix.as_ref().symbolic(), Side::Lower, order, parameters)
        .map_err(|error| format!("{error:?}"))
}
