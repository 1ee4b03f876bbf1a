//! `swalign index`: builds a database from references.

use super::report::{RESIDUES, Reporter, Stage, counted, warn};
use super::spool::Spool;
use super::threads::set_threads;
use super::{alphabet, estimate, order};
use crate::align::candidates::{IndexShape, KmerIndex, KmerSegment, MOST_IN_SEGMENT, filter};
use crate::input::database::{self, SourceFile, StoredSection, WrittenIndex, numbers};
use crate::input::reader::{
    CodeSink, FileState, Reader, References, read_references_into, suggested_alphabet,
};
use crate::output::writer::Output;
use crate::output::writer::place::{directory, resolve};
use crate::terms::alphabet::Alphabet;
use crate::terms::batch::Sequences;
use crate::terms::error::{Error, Result};
use crate::terms::options::{IndexOptions, ReadRules};
use crate::terms::system::File;
use std::fs::{self, Metadata};
use std::path::Path;

/// Residues of proteins that stay in memory. More are written to a temporary file.
const KEPT: usize = 1 << 26;

/// The k-mer index of the references.
enum BuiltIndex {
    InMemory(KmerIndex),
    /// With the bases per segment, and the two tables.
    InFiles(IndexShape, usize, Box<[Spool; 2]>),
}

/// Builds a database from all references of a file.
pub fn index(options: &IndexOptions, reporter: &dyn Reporter) -> Result<()> {
    set_threads(options.threads, reporter)?;
    let rules = ReadRules {
        any_names: true,
        masks_lower_case: options.masks_lower_case,
        keeps_titles: true,
        removes_gaps: options.removes_gaps,
        ..ReadRules::default()
    };
    let mut reader = Reader::open(&options.references)?.with_rules(rules);
    let before = file(&options.references);
    order::check_index(options, &mut reader)?;
    let mut output = Output::create(Some(&options.output))?;
    let size = estimate::bytes(&options.references, None);
    let bytes = Some(reader.meter().count());
    reporter.stage(Stage { doing: "reading references", bytes, size, ..Stage::default() });
    let alphabet = match options.alphabet {
        Some(alphabet) => alphabet,
        None => {
            let suggested = suggested_alphabet(&mut reader)?;
            alphabet::warn_if_open(reporter, &options.references, suggested);
            suggested.alphabet
        }
    };
    let is_dna = alphabet == Alphabet::Dna;
    let kept = if is_dna { options.segment.unwrap_or(MOST_IN_SEGMENT) } else { KEPT };
    let mut spool = Spool::new(output.scratch(), kept);
    let references = read_references_into(&mut reader, alphabet, &mut spool)?;
    warn(reporter, reader.warnings());
    reporter.stage(Stage::of("indexing"));
    let letters = references.lengths.iter().map(|&len| len as usize).sum();
    let shape = (is_dna && filter::has_index(letters))
        .then(|| options.sampled_kmers.map_or_else(|| IndexShape::suited(letters), IndexShape::from));
    let index = match (shape, spool.stored()) {
        (None, _) => None,
        (Some(shape), None) => {
            Some(BuiltIndex::InMemory(KmerIndex::in_segments(&references.sequences, shape, options.segment)))
        }
        (Some(shape), Some(codes)) => {
            let segment = shape.segment(letters, options.segment);
            let tables = [0; 2].map(|kept| Spool::new(output.scratch(), kept));
            Some(in_files(codes, &references.lengths, (shape, segment), tables)?)
        }
    };
    let source = before.map(|before| source(options, before, reader.state())).transpose()?;
    database::write(
        &mut |bytes| output.put(bytes),
        &references,
        spool.stored(),
        index.as_ref().and_then(BuiltIndex::written),
        source,
    )?;
    output.finish()?;
    reporter.note(&told(&options.output, &references, shape.map(|shape| shape.letters)));
    Ok(())
}

impl BuiltIndex {
    fn written(&self) -> Option<WrittenIndex<'_>> {
        match self {
            BuiltIndex::InMemory(index) => Some(WrittenIndex::InMemory(index)),
            BuiltIndex::InFiles(shape, segment, tables) => {
                let [ends, places] = &**tables;
                Some(WrittenIndex::InFiles(*shape, *segment, [ends.stored()?, places.stored()?]))
            }
        }
    }
}

/// Indexes codes in a file segment by segment, so that memory holds no more than the codes and the tables of one segment.
fn in_files(
    codes: StoredSection,
    lengths: &[u32],
    (shape, segment): (IndexShape, usize),
    mut tables: [Spool; 2],
) -> Result<BuiltIndex> {
    let ends = lengths.iter().scan(0, |end, &len| {
        *end += len as usize;
        Some(*end)
    });
    let ends: Vec<usize> = ends.collect();
    let all = ends.last().copied().unwrap_or(0);
    for start in (0..all).step_by(segment) {
        let end = all.min(start + segment);
        // With the k-mers that begin in the segment and end after it.
        let behind = all.min(end + shape.letters as usize - 1);
        let [first, last] = [start, behind - 1].map(|place| ends.partition_point(|&end| end <= place));
        let own = ends[first..=last].iter().map(|&end| end.min(behind) - start).collect();
        let own = Sequences::of(codes.bytes(start..behind)?, own);
        let indexed = KmerSegment::new(&own, shape, 0..end - start);
        for (spool, table) in tables.iter_mut().zip(indexed.tables()) {
            spool.put(&numbers(vec![table]))?;
        }
    }
    Ok(BuiltIndex::InFiles(shape, segment, Box::new(tables)))
}

/// Metadata of a regular file.
fn file(path: &Path) -> Option<Metadata> {
    let is_stdin = path == Path::new("-");
    fs::metadata(path).ok().filter(|file| !is_stdin && file.is_file())
}

/// The references' file as the database records it: only its name if it is in the database's folder, since both may be
/// moved together.
fn source(options: &IndexOptions, before: Metadata, state: &FileState) -> Result<SourceFile> {
    let path = &*options.references;
    let unread = |source| Error::io(path, source);
    let whole = fs::canonicalize(path).map_err(unread)?;
    let output = resolve(&options.output).map_err(|source| Error::io(&options.output, source))?;
    let is_beside = fs::canonicalize(directory(&output)).is_ok_and(|folder| folder == directory(&whole));
    let name = whole.file_name().filter(|_| is_beside).map_or(&*whole, Path::new);
    let sum = database::sum(path).map_err(unread)?;
    let time = |file: &Metadata| file.modified().ok().map(SourceFile::time_of);
    state.check_same(&FileState::of(path, &File::open(path).map_err(unread)?))?;
    let time = time(&before).unwrap_or_default();
    Ok(SourceFile { path: name.to_string_lossy().into_owned(), len: before.len(), time, sum })
}

/// Message about the contents of the database.
fn told(path: &Path, references: &References, kmer: Option<u32>) -> String {
    let References { names, lengths, alphabet, .. } = references;
    let count = counted(names.len() as u64, ["reference", "references"]);
    let letters: usize = lengths.iter().map(|&len| len as usize).sum();
    let index = match kmer {
        Some(kmer) => format!(", an index of {kmer}-mers"),
        None => String::new(),
    };
    let residues = counted(letters as u64, RESIDUES);
    format!("{}: {count} of {alphabet}, {residues}{index}", path.display())
}
