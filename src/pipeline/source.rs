//! Source of a run's references: a text file, or a database that `swalign index` built from it.

use super::ambiguous::RunSink;
use super::estimate;
use super::report::{Reporter, Stage};
use crate::align::candidates::StoredIndex;
use crate::align::candidates::ambiguous::TargetRuns;
use crate::input::database::{self, Database};
use crate::input::reader::{
    CodeSink, Reader, References, check_reference_names, read_reference_part, read_references,
    suggested_alphabet,
};
use crate::terms::alphabet::{Alphabet, Suggested};
use crate::terms::error::{Error, Result};
use crate::terms::options::{Mode, Options, ReadRules};
use std::path::Path;
use std::sync::Arc;

/// Reading a smaller file takes less than a second, even if it is compressed with gzip.
const LONG_READ: u64 = 8 << 20;

/// The references of a run, open but not read yet.
pub enum ReferenceSource {
    Text(Box<Reader>),
    Database(Arc<Database>),
}

impl ReferenceSource {
    /// Opens the references. A database is recognized by its first bytes. Modes other than all against all require
    /// text.
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
        let rules = ReadRules {
            any_names: options.takes_any_name() || options.rename_references,
            masks_lower_case: options.masks_lower_case,
            keeps_titles: options.shows_titles(),
            removes_gaps: options.removes_gaps,
            ..ReadRules::default()
        };
        Ok(ReferenceSource::Text(Box::new(reader.with_rules(rules))))
    }

    /// Announces the reading of the references if it may take a second or more: for a large file or a stream.
    pub fn announce(options: &Options, reporter: &dyn Reporter) {
        let path = &*options.reference;
        if database::glance(path).is_some() {
            return;
        }
        match estimate::bytes(path, None) {
            Some(bytes) if bytes < LONG_READ => {}
            Some(bytes) => {
                let megabytes = bytes as f64 / 1e6;
                reporter.note(&format!("reading references: {}, {megabytes:.1} MB", path.display()));
            }
            None if path == Path::new("-") => reporter.note("reading references from standard input"),
            // The path is a pipe, or it does not exist, which an error reports later.
            None if path.exists() => reporter.note(&format!("reading references: {}", path.display())),
            None => {}
        }
    }

    /// The path, as errors show it.
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
                // For a part of the references, the file is read twice.
                let size =
                    options.ref_part.map_or_else(|| estimate::bytes(&options.reference, None), |_| None);
                Stage { doing, bytes: Some(reader.meter().count()), size, ..Stage::default() }
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

    /// The alphabet that the references suggest. A database records its alphabet.
    pub fn suggested_alphabet(&mut self) -> Result<Suggested> {
        match self {
            ReferenceSource::Text(reader) => suggested_alphabet(reader),
            ReferenceSource::Database(database) => {
                Ok(Suggested { alphabet: database.alphabet(), is_certain: true })
            }
        }
    }

    /// Reads the references in the given alphabet. For a database, reads only the names. For a part of the references,
    /// also returns the runs of ambiguous codes in all references, if the minimum scores depend on them.
    pub fn read(
        &mut self,
        options: &Options,
        alphabet: Alphabet,
    ) -> Result<(References, Option<TargetRuns>)> {
        let mut sink = options.ref_part.and_then(|_| RunSink::new(options, alphabet));
        let alphabet =
            if options.translation.is_some_and(|it| it.targets) { Alphabet::Dna } else { alphabet };
        let references = self.read_with(options, alphabet, sink.as_mut())?;
        Ok((references, sink.map(RunSink::finish)))
    }

    fn read_with(
        &mut self,
        options: &Options,
        alphabet: Alphabet,
        mut sink: Option<&mut RunSink>,
    ) -> Result<References> {
        match (self, options.ref_part) {
            (ReferenceSource::Text(reader), None) => read_references(reader, Some(alphabet)),
            (ReferenceSource::Text(reader), Some(share)) => {
                let sink = sink.map(|sink| sink as &mut dyn CodeSink);
                read_reference_part(reader, Some(alphabet), share, sink)
            }
            (ReferenceSource::Database(database), share) => {
                let references = database.references(options.shows_titles(), share)?;
                if !options.takes_any_name() && !options.rename_references {
                    check_reference_names(&references.names, database.path())?;
                }
                if let Some(sink) = &mut sink {
                    sink.put(database.references(false, None)?.sequences.codes())?;
                }
                Ok(references)
            }
        }
    }

    /// The k-mer index that fits `references`, if any: that of a database which is read as a whole, without circular
    /// references.
    pub fn index(&self, options: &Options, references: &References) -> Option<StoredIndex> {
        match self {
            ReferenceSource::Database(database) if options.ref_part.is_none() => {
                database.index().filter(|_| !references.sequences.have_circles())
            }
            _ => None,
        }
    }

    /// Warnings after reading the references.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            ReferenceSource::Text(reader) => reader.warnings(),
            ReferenceSource::Database(database) => database.change().into_iter().collect(),
        }
    }
}

/// Refuses options that differ from those that a database was built with.
fn check(options: &Options, database: &Database) -> Result<()> {
    let (path, holds) = (database.path().display(), database.alphabet());
    if let Some(alphabet) = options.alphabet.filter(|&alphabet| alphabet != holds) {
        let name = alphabet.to_string().to_lowercase();
        return Err(Error::Usage(format!(
            "--alphabet {name}: {path} contains {holds}; leave it out, or build a database with `swalign index \
             --alphabet {name}`"
        )));
    }
    match (options.masks_lower_case, database.masks_lower_case()) {
        (true, false) => Err(Error::Usage(format!(
            "--mask-lower-case: {path} was built without it; leave it out, or build a database with `swalign index \
             --mask-lower-case`"
        ))),
        (false, true) => Err(Error::Usage(format!(
            "{path} was built with --mask-lower-case; add it here, too, or build a database without it"
        ))),
        _ => Ok(()),
    }
}
