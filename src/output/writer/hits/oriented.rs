//! The alignment of a hit, column by column, and the table columns computed from it.

use crate::terms::alignment::{ColumnOp, ColumnShown, GAP};
use crate::terms::options::SearchColumn;

/// The columns of a hit's alignment, in the pattern's orientation or in text order.
pub struct Oriented {
    pub columns: Vec<ColumnShown>,
    /// Whether the columns begin with the pattern's first base.
    pub forward: bool,
}

impl Oriented {
    /// The bases of the text, in lower case if they are mismatches or deletions.
    pub fn matched(&self) -> Vec<u8> {
        let letters = self.columns.iter().filter(|column| column.target != GAP);
        letters
            .map(|column| match column.op {
                ColumnOp::Equal => column.target,
                _ => column.target.to_ascii_lowercase(),
            })
            .collect()
    }

    fn count(&self, op: ColumnOp) -> usize {
        self.columns.iter().filter(|column| column.op == op).count()
    }

    /// The columns from the pattern's last base to its first.
    fn backwards(&self) -> Box<dyn Iterator<Item = &ColumnShown> + '_> {
        if self.forward { Box::new(self.columns.iter().rev()) } else { Box::new(self.columns.iter()) }
    }

    /// Number of edits in the last `letters` bases of the pattern. A deletion counts with the pattern base after it, or
    /// with the last pattern base if none follows.
    fn last_edits(&self, letters: usize) -> usize {
        let (mut taken, mut edits) = (0, 0);
        for column in self.backwards() {
            taken += usize::from(column.query != GAP);
            if taken > letters {
                break;
            }
            edits += usize::from(column.op != ColumnOp::Equal);
        }
        edits
    }

    /// Number of pattern bases after its last edit.
    fn last_run(&self) -> usize {
        self.backwards().take_while(|column| column.op == ColumnOp::Equal).count()
    }

    /// The content of a table column; `None` if the column is not about the alignment.
    pub fn cell(&self, column: SearchColumn) -> Option<String> {
        let text = |letter: &dyn Fn(&ColumnShown) -> u8| -> String {
            self.columns.iter().map(|column| char::from(letter(column))).collect()
        };
        let (insertions, deletions) = (self.count(ColumnOp::Insertion), self.count(ColumnOp::Deletion));
        Some(match column {
            SearchColumn::Line => text(&|column| match column.op {
                ColumnOp::Equal => b'|',
                ColumnOp::Insertion | ColumnOp::Deletion => b'-',
                _ => b'.',
            }),
            SearchColumn::PatternAligned => text(&|column| column.query),
            SearchColumn::TextAligned => text(&|column| column.target),
            SearchColumn::Mismatches => self.count(ColumnOp::Unequal).to_string(),
            SearchColumn::Insertions => insertions.to_string(),
            SearchColumn::Deletions => deletions.to_string(),
            SearchColumn::Gaps => (insertions + deletions).to_string(),
            SearchColumn::LastEdits(letters) => self.last_edits(letters.into()).to_string(),
            SearchColumn::LastRun => self.last_run().to_string(),
            _ => return None,
        })
    }
}
