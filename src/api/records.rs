//! The sequences of a file, read one after another.

use crate::input::reader::Reader;
use crate::terms::error::Result;
use crate::terms::options::ReadRules;
use std::path::Path;

/// A sequence of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// Its header up to the first white space.
    pub name: String,
    /// Its sequence, in upper case.
    pub letters: Vec<u8>,
}

impl AsRef<[u8]> for Record {
    fn as_ref(&self) -> &[u8] {
        &self.letters
    }
}

/// Iterator over the sequences of a FASTA or FASTQ file, plain or gzipped, in bounded memory. It ends after an error.
///
/// ```
/// use swalign::Records;
///
/// let records = Records::open("data/16s_20.fa")?;
/// assert_eq!(records.filter(Result::is_ok).count(), 20);
/// # Ok::<(), swalign::Error>(())
/// ```
pub struct Records {
    reader: Reader,
}

impl Records {
    /// Opens a file, or stdin for `-`.
    ///
    /// # Errors
    /// [`crate::Error::Io`] if the file can't be read, [`crate::Error::Input`] if it is not FASTA or FASTQ.
    pub fn open(path: impl AsRef<Path>) -> Result<Records> {
        Ok(Records {
            reader: Reader::open(path.as_ref())?
                .with_rules(ReadRules { any_names: true, ..ReadRules::default() }),
        })
    }
}

impl Iterator for Records {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.reader.next()?;
        Some(record.map(|record| Record { name: record.name, letters: record.sequence }))
    }
}

impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records").field("path", &self.reader.path()).finish_non_exhaustive()
    }
}
