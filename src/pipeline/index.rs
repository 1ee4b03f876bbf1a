//! `swalign index`: references become a database.

use super::report::{Reporter, Stage, counted, warn};
use super::threads::set_threads;
use super::{estimate, order};
use crate::alphabet::Alphabet;
use crate::candidates::filter;
use crate::database::{self, SourceFile};
use crate::error::{Error, Place, Result};
use crate::options::IndexOptions;
use crate::reader::{Reader, References, read_references};
use crate::writer::Output;
use crate::writer::place::{directory, resolve};
use std::fs::{self, Metadata};
use std::path::Path;

/// Makes a database of all references of a file.
pub fn index(options: &IndexOptions, reporter: &dyn Reporter) -> Result<()> {
    set_threads(options.threads, reporter)?;
    // What they are before they are read: a change while they are is noticed.
    let before = file(&options.references);
    let mut reader = Reader::open(&options.references)?
        .with_any_names(true)
        .with_titles(true)
        .with_mask(options.masks_lower_case);
    order::check_index(options, &mut reader)?;
    let mut output = Output::create(Some(&options.output))?;
    let size = estimate::bytes(&options.references, None);
    let bytes = Some(reader.meter().count());
    reporter.stage(Stage { doing: "reading references", bytes, size, counted: None });
    let references = read_references(&mut reader, options.alphabet)?;
    warn(reporter, reader.warning());
    reporter.stage(Stage::of("indexing"));
    let is_dna = references.alphabet == Alphabet::Dna;
    let index = is_dna.then(|| filter::index(&references.sequences)).flatten();
    let source = before.map(|before| source(options, before)).transpose()?;
    database::write(&mut |bytes| output.put(bytes), &references, index.as_ref(), source)?;
    output.finish()?;
    reporter.note(&told(&options.output, &references, index.map(|index| index.tables().0)));
    Ok(())
}

/// What is known of a regular file.
fn file(path: &Path) -> Option<Metadata> {
    let is_stdin = path == Path::new("-");
    fs::metadata(path).ok().filter(|file| !is_stdin && file.is_file())
}

/// The references' file as the database tells of it: by its name if it lies beside the database, since both may be moved.
fn source(options: &IndexOptions, before: Metadata) -> Result<SourceFile> {
    let path = &*options.references;
    let unread = |source| Error::io(path, source);
    let whole = fs::canonicalize(path).map_err(unread)?;
    let output = resolve(&options.output).map_err(|source| Error::io(&options.output, source))?;
    let is_beside = fs::canonicalize(directory(&output)).is_ok_and(|folder| folder == directory(&whole));
    let name = whole.file_name().filter(|_| is_beside).map_or(&*whole, Path::new);
    let sum = database::sum(path).map_err(unread)?;
    let time = |file: &Metadata| file.modified().ok().map(SourceFile::time_of);
    let after = file(path).filter(|after| after.len() == before.len() && time(after) == time(&before));
    let Some(after) = after else {
        let place = Place { file: path.to_path_buf(), ..Place::default() };
        let problem = "the file has changed while it was read";
        return Err(Error::input(place, problem, "run again when it is as it should be"));
    };
    let time = time(&after).unwrap_or_default();
    Ok(SourceFile { path: name.to_string_lossy().into_owned(), len: after.len(), time, sum })
}

/// What the database holds.
fn told(path: &Path, references: &References, kmer: Option<u32>) -> String {
    let References { names, sequences, alphabet, .. } = references;
    let count = counted(names.len() as u64, ["reference", "references"]);
    let index = kmer.map_or_else(String::new, |kmer| format!(", an index of {kmer}-mers"));
    format!("{}: {count} of {alphabet}, {} letters{index}", path.display(), sequences.codes().len())
}
