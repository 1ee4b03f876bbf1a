//! Patterns, and the tables in which kernels look up bytes.

use super::shader::{BYTES, BitapVariant};

/// A pattern of byte classes.
#[derive(Clone, Debug)]
pub struct BytePattern {
    /// The bytes of each row, one bit each; never the newline.
    pub rows: Vec<[u64; 4]>,
    /// Maximum number of edits.
    pub edits: usize,
    /// Whether insertions and deletions are edits.
    pub gaps: bool,
}

impl BytePattern {
    /// Whether there is a kernel for this pattern. With gaps it must have more rows than edits; otherwise it would end
    /// everywhere.
    pub fn fits(&self) -> bool {
        self.variant().is_some() && !(self.gaps && self.edits >= self.rows.len())
    }

    pub(super) fn variant(&self) -> Option<BitapVariant> {
        BitapVariant::new(self.rows.len(), self.edits, !self.gaps)
    }

    /// Maximum length of a match less one, in bytes.
    pub(super) fn before(&self) -> usize {
        let longest = self.rows.len() + if self.gaps { self.edits } else { 0 };
        longest.saturating_sub(1)
    }

    /// Appends for each byte the rows that do not match it.
    pub(super) fn put_table(&self, words: usize, table: &mut Vec<u32>) {
        let first = words * u32::BITS as usize - self.rows.len();
        for byte in 0..BYTES as usize {
            let begin = table.len();
            table.resize(begin + words, 0);
            for (row, has) in (first..).zip(&self.rows) {
                let differs = has[byte / 64] >> (byte % 64) & 1 == 0;
                table[begin + row / 32] |= u32::from(differs) << (row % 32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_the_upper_end() {
        let a = [0, 1 << (b'a' - 64), 0, 0];
        let any = [u64::MAX; 4];
        let wanted = BytePattern { rows: vec![a, any, a], edits: 1, gaps: true };
        let mut table = Vec::new();
        wanted.put_table(2, &mut table);
        assert_eq!(table.len(), 512);
        assert_eq!(table[2 * usize::from(b'a')..][..2], [0, 0]);
        assert_eq!(table[2 * usize::from(b'b')..][..2], [0, 0b101 << 29]);
        assert!(wanted.fits() && !BytePattern { edits: 3, ..wanted.clone() }.fits());
        assert!(BytePattern { edits: 3, gaps: false, ..wanted }.fits());
    }
}
