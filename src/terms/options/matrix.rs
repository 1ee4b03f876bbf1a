//! Options of `swalign all --format matrix`.

use super::Options;

/// The values of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatrixValues {
    #[default]
    Score,
    /// In percent.
    Identity,
}

/// Options of a run of `swalign all` that writes a matrix.
#[derive(Clone, Debug)]
pub struct MatrixOptions {
    /// The alignment options, with inputs and output.
    pub run: Options,
    pub values: MatrixValues,
    /// The matrix is a NumPy array, not text.
    pub is_numpy: bool,
}
