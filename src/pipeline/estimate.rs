//! How much work a run will be, from a glance at its inputs.

use crate::options::{Mode, Options};
use crate::reader::Reader;
use std::fs;
use std::path::Path;

/// Bytes that one of a compressed file stands for, about.
const PACKED: u64 = 4;

/// Cells of the recurrence, about; `None` where an input's size can't be known before it is read.
pub fn cells(options: &Options) -> Option<u64> {
    let queries = letters(&options.query)?;
    let strands = if options.both_strands { 2 } else { 1 };
    let against = match options.mode {
        Mode::All => letters(&options.reference)?,
        // Each query meets one target, whose like the first one is.
        Mode::Pairs => {
            letters(&options.reference)?;
            Reader::open(&options.reference).ok()?.peek().ok()??.sequence.len() as u64
        }
    };
    Some(queries.saturating_mul(against).saturating_mul(strands))
}

/// Letters of a file, at most about as many.
fn letters(path: &Path) -> Option<u64> {
    let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let packed = path.extension().is_some_and(|extension| ["gz", "bgz"].iter().any(|&gz| extension == gz));
    Some(file.len().saturating_mul(if packed { PACKED } else { 1 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_files() {
        let plain = tempfile::Builder::new().suffix(".fa").tempfile().unwrap();
        fs::write(plain.path(), ">a\nACGT\n").unwrap();
        assert_eq!(letters(plain.path()), Some(8));
        let packed = tempfile::Builder::new().suffix(".fa.gz").tempfile().unwrap();
        fs::write(packed.path(), [0; 10]).unwrap();
        assert_eq!(letters(packed.path()), Some(40));
        assert_eq!(letters(Path::new("-")), None);
        assert_eq!(letters(Path::new("/dev/null")), None);
    }
}
