//! Where the references of a run come from: text, or a database that `swalign index` made of it.

use super::estimate;
use super::report::Stage;
use crate::candidates::StoredIndex;
use crate::database::{self, Database};
use crate::error::{Error, Result};
use crate::options::{Mode, Options};
use crate::reader::{Reader, References, check_reference_names, read_reference_part, read_references};
use std::path::Path;
use std::sync::Arc;

/// The references of a run, opened and not yet read.
pub enum ReferenceSource {
    Text(Box<Reader>),
    Database(Arc<Database>),
}

impl ReferenceSource {
    /// Opens the references. A database is known by its first bytes; other modes than all against all take text.
    pub fn open(options: &Options) -> Result<ReferenceSource> {
        let path = &*options.reference;
        if options.mode == Mode::All && database::is_one(path) {
            let database = Database::open(path)?;
            check(options, &database)?;
            return Ok(ReferenceSource::Database(Arc::new(database)));
        }
        let reader = match options.ref_part {
            None => Reader::open(path)?,
            Some(_) => Reader::open_twice(path)?,
        };
        let reader = reader
            .with_any_names(options.takes_any_name() || options.rename_references)
            .with_titles(options.shows_titles())
            .with_mask(options.masks_lower_case);
        Ok(ReferenceSource::Text(Box::new(reader)))
    }

    /// The path as errors show it.
    pub fn path(&self) -> &Path {
        match self {
            ReferenceSource::Text(reader) => reader.path(),
            ReferenceSource::Database(database) => database.path(),
        }
    }

    /// The stage of reading them.
    pub fn stage(&self, options: &Options) -> Stage {
        match self {
            ReferenceSource::Text(reader) => {
                let doing = match options.mode {
                    Mode::All => "reading references",
                    Mode::Triangle => "reading sequences",
                    Mode::Pairs => "reading targets",
                };
                // A part of the references reads them twice.
                let size =
                    options.ref_part.map_or_else(|| estimate::bytes(&options.reference, None), |_| None);
                Stage { doing, bytes: Some(reader.meter().count()), size, counted: None }
            }
            ReferenceSource::Database(_) => Stage::of("opening the database"),
        }
    }

    /// Whether they are FASTQ.
    pub fn is_fastq(&mut self) -> bool {
        match self {
            ReferenceSource::Text(reader) => reader.is_fastq(),
            ReferenceSource::Database(_) => false,
        }
    }

    /// Reads them, or of a database the names alone.
    pub fn read(&mut self, options: &Options) -> Result<References> {
        match (self, options.ref_part) {
            (ReferenceSource::Text(reader), None) => read_references(reader, options.alphabet),
            (ReferenceSource::Text(reader), Some(share)) => {
                read_reference_part(reader, options.alphabet, share)
            }
            (ReferenceSource::Database(database), share) => {
                let references = database.references(options.shows_titles(), share)?;
                if !options.takes_any_name() && !options.rename_references {
                    check_reference_names(&references.names, database.path())?;
                }
                Ok(references)
            }
        }
    }

    /// The index of k-mers that fits `references`, if there is one: that of a database which is read as a whole, without
    /// circles.
    pub fn index(&self, options: &Options, references: &References) -> Option<StoredIndex> {
        match self {
            ReferenceSource::Database(database) if options.ref_part.is_none() => {
                database.index().filter(|_| !references.sequences.have_circles())
            }
            _ => None,
        }
    }

    /// What the user should hear once they are read, though it is no error.
    pub fn warning(&self) -> Option<String> {
        match self {
            ReferenceSource::Text(reader) => reader.warning(),
            ReferenceSource::Database(database) => database.change(),
        }
    }
}

/// Refuses options that a database was not made with.
fn check(options: &Options, database: &Database) -> Result<()> {
    let (path, holds) = (database.path().display(), database.alphabet());
    if let Some(alphabet) = options.alphabet.filter(|&alphabet| alphabet != holds) {
        let name = alphabet.to_string().to_lowercase();
        return Err(Error::Usage(format!(
            "--alphabet {name}: {path} holds {holds}; leave it out, or make a database by `swalign index --alphabet {name}`"
        )));
    }
    match (options.masks_lower_case, database.masks_lower_case()) {
        (true, false) => Err(Error::Usage(format!(
            "--mask-lower-case: {path} was made without it; leave it out, or make a database by `swalign index \
             --mask-lower-case`"
        ))),
        (false, true) => Err(Error::Usage(format!(
            "{path} was made with --mask-lower-case; give it here, too, or make a database without it"
        ))),
        _ => Ok(()),
    }
}
