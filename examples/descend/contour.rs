//! Lines of equal height, from heights on a grid.

use std::collections::BTreeMap;

/// An edge of the grid: column and row of its lower left end, and whether it leads up.
type Edge = (usize, usize, bool);

/// Heights at the points of a grid, `heights[row][column]`.
pub(crate) struct Grid {
    pub(crate) heights: Vec<Vec<f64>>,
}

impl Grid {
    /// The lines of one height, in columns and rows from the lower left corner.
    pub(crate) fn lines(&self, level: f64) -> Vec<Vec<(f64, f64)>> {
        let mut neighbours: BTreeMap<Edge, Vec<Edge>> = BTreeMap::new();
        for (row, pair) in self.heights.windows(2).enumerate() {
            for column in 0..pair[0].len() - 1 {
                let around = [
                    (column, row, false),
                    (column + 1, row, true),
                    (column, row + 1, false),
                    (column, row, true),
                ];
                let cut: Vec<Edge> = around
                    .into_iter()
                    .filter(|&edge| self.cut(edge, level).is_some())
                    .collect();
                // of a saddle either pairing is right
                for pair in cut.chunks_exact(2) {
                    neighbours.entry(pair[0]).or_default().push(pair[1]);
                    neighbours.entry(pair[1]).or_default().push(pair[0]);
                }
            }
        }
        let mut lines = Vec::new();
        // open lines from one of their ends, then closed ones from anywhere
        while let Some(&start) = neighbours
            .iter()
            .find(|(_, next)| next.len() == 1)
            .or_else(|| neighbours.iter().next())
            .map(|(edge, _)| edge)
        {
            let mut line = Vec::new();
            let mut edge = start;
            loop {
                line.extend(self.cut(edge, level));
                let Some(next) = neighbours.get_mut(&edge).and_then(Vec::pop) else {
                    neighbours.remove(&edge);
                    break;
                };
                if let Some(back) = neighbours.get_mut(&next) {
                    back.retain(|other| *other != edge);
                }
                if neighbours.get(&edge).is_some_and(Vec::is_empty) {
                    neighbours.remove(&edge);
                }
                edge = next;
            }
            lines.push(line);
        }
        lines
    }

    /// Where an edge has this height, if it has.
    fn cut(&self, (column, row, up): Edge, level: f64) -> Option<(f64, f64)> {
        let (right, above) = (usize::from(!up), usize::from(up));
        let (a, b) = (
            self.heights[row][column] - level,
            self.heights[row + above][column + right] - level,
        );
        let share = a / (a - b);
        if (a < 0.0) == (b < 0.0) || !share.is_finite() {
            return None;
        }
        Some((
            column as f64 + share * right as f64,
            row as f64 + share * above as f64,
        ))
    }
}
