//! Writes a symmetric matrix, as text or as a NumPy array.

use super::output::Output;
use crate::terms::casts::{to_u16, whole_i32};
use crate::terms::error::Result;
use crate::terms::options::MatrixValues;
use std::io::Write;

/// Size, type and format of a matrix.
pub struct MatrixShape<'a> {
    /// Names of the rows, which are also those of the columns.
    pub names: &'a [String],
    pub values: MatrixValues,
    /// NumPy's format 1.0 instead of tab-separated text.
    pub is_numpy: bool,
}

/// Writes the rows of a symmetric matrix, given those of its upper triangle. All earlier rows stay in memory, since
/// each row begins with a column of them.
pub struct MatrixWriter<'a> {
    shape: MatrixShape<'a>,
    /// The values of each row from its diagonal on: scores, or millionths of a percent.
    rows: Vec<Vec<i32>>,
}

/// Number of parts of a percent in which identities are stored.
const PARTS: f64 = 1e6;
/// NumPy's header length is a multiple of this number of bytes.
const ALIGNED: usize = 64;
const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";

impl<'a> MatrixWriter<'a> {
    /// Writes everything before the first row.
    pub fn new(shape: MatrixShape<'a>, output: &mut Output) -> Result<MatrixWriter<'a>> {
        if shape.is_numpy {
            output.put(&numpy_header(shape.names.len(), shape.values))?;
        } else {
            output.put(format!("\t{}\n", shape.names.join("\t")).as_bytes())?;
        }
        Ok(MatrixWriter { shape, rows: Vec::new() })
    }

    /// Writes the next row, given from its diagonal on.
    pub fn put(&mut self, row: &[f64], output: &mut Output) -> Result<()> {
        let kept = |&value: &f64| match self.shape.values {
            MatrixValues::Score => whole_i32(value),
            MatrixValues::Identity => whole_i32((value * PARTS).round()),
        };
        self.rows.push(row.iter().map(kept).collect());
        let at = self.rows.len() - 1;
        let above = self.rows[..at].iter().enumerate().map(|(above, row)| row[at - above]);
        let all = above.chain(self.rows[at].iter().copied());
        let mut bytes = Vec::new();
        if !self.shape.is_numpy {
            bytes.extend_from_slice(self.shape.names[at].as_bytes());
        }
        for value in all {
            let share = f64::from(value) / PARTS;
            // Writing to a vector cannot fail.
            let _ = match (self.shape.is_numpy, self.shape.values) {
                (true, MatrixValues::Score) => bytes.write_all(&value.to_le_bytes()),
                (true, MatrixValues::Identity) => bytes.write_all(&share.to_le_bytes()),
                (false, MatrixValues::Score) => write!(bytes, "\t{value}"),
                (false, MatrixValues::Identity) => write!(bytes, "\t{share:.3}"),
            };
        }
        if !self.shape.is_numpy {
            bytes.push(b'\n');
        }
        output.put(&bytes)
    }
}

/// The header of a square array of size `count`, in NumPy's format 1.0.
fn numpy_header(count: usize, values: MatrixValues) -> Vec<u8> {
    let kind = match values {
        MatrixValues::Score => "<i4",
        MatrixValues::Identity => "<f8",
    };
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count}, {count}), }}");
    let before = MAGIC.len() + 2;
    // A line feed ends the header.
    let len = (before + text.len() + 1).next_multiple_of(ALIGNED) - before;
    text.extend(std::iter::repeat_n(' ', len - text.len() - 1));
    text.push('\n');
    [MAGIC, &to_u16(len).to_le_bytes(), text.as_bytes()].concat()
}
