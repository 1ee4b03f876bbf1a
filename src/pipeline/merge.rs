//! `swalign merge`: the parts of a run, checked by their receipts. Those of queries are joined in their order,
//! those of references query by query.

pub mod hits;
mod references;

use super::Reporter;
use crate::error::{Error, Place, Result};
use crate::options::{MergeOptions, PartsOf, Share};
use crate::writer::Output;
use crate::writer::receipt::{self, Receipt};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes that are copied at once.
const BUFFER: usize = 1 << 20;

/// A part and what is known of it.
struct Part<'a> {
    path: &'a PathBuf,
    receipt: Receipt,
}

/// Joins parts into what the whole run would have written.
pub fn merge(options: &MergeOptions, reporter: &dyn Reporter) -> Result<()> {
    let mut parts = options.parts.iter().map(Part::read).collect::<Result<Vec<_>>>()?;
    // Of two of one number, the one that was named first comes first.
    parts.sort_by_key(|part| part.number());
    check(&parts)?;
    let mut output = Output::create(options.output.as_deref())?;
    let (told, records) = match parts.first().map(|part| part.receipt.task.parts_of) {
        _ if parts.iter().any(|part| part.receipt.task.format == hits::FORMAT) => {
            ("parts of", hits::join(&parts, &mut output)?)
        }
        Some(PartsOf::References) => ("parts of the references, of", references::join(&parts, &mut output)?),
        _ => ("parts of", join(&parts, &mut output)?),
    };
    output.finish()?;
    reporter.note(&format!("joined {} {told} {records} records", parts.len()));
    Ok(())
}

/// Joins parts of the queries, and gives the number of their records.
fn join(parts: &[Part], output: &mut Output) -> Result<u64> {
    let mut header = Header::default();
    for (index, part) in parts.iter().enumerate() {
        part.join(index + 1 == parts.len(), &mut header, output)?;
    }
    Ok(parts.iter().map(|part| part.receipt.records).sum())
}

/// The header of all parts, once the first was seen.
#[derive(Default)]
struct Header(Option<Vec<u8>>);

impl Header {
    /// Writes the first one, and holds the others against it.
    fn take(&mut self, of_part: Vec<u8>, part: &Part, output: &mut Output) -> Result<()> {
        match &self.0 {
            None => output.put(self.0.insert(of_part)),
            Some(header) if *header == of_part => Ok(()),
            Some(_) => {
                let problem = "its header is not that of the other parts";
                Err(refused(part.path, problem, "write all parts with the same references"))
            }
        }
    }
}

impl<'a> Part<'a> {
    fn read(path: &'a PathBuf) -> Result<Part<'a>> {
        let Some(receipt) = receipt::read(path)? else {
            let problem =
                format!("{} is missing, or of another version of swalign", receipt::path(path).display());
            let remedy = "a part is written with -o and --part or --ref-part, and its .swalign file stays beside it: \
                          write this one again";
            return Err(refused(path, problem, remedy));
        };
        let bytes = File::open(path).and_then(|file| file.metadata()).map(|metadata| metadata.len());
        match bytes.map_err(|source| Error::io(path, source))? {
            bytes if bytes == receipt.bytes && receipt.header + receipt.end <= bytes => {
                Ok(Part { path, receipt })
            }
            bytes => {
                let problem = format!("it has {bytes} bytes, and had {} when it was written", receipt.bytes);
                Err(refused(path, problem, "write this part again"))
            }
        }
    }

    fn number(&self) -> u32 {
        self.receipt.task.part.number
    }

    /// Opens the part at its first record, with the header before it.
    fn open(&self) -> Result<(Vec<u8>, File)> {
        let failed = |source| Error::io(self.path, source);
        let mut file = File::open(self.path).map_err(failed)?;
        let (own, mut header) = (self.receipt.header, Vec::new());
        (&mut file).take(own).read_to_end(&mut header).map_err(failed)?;
        file.seek(SeekFrom::Start(own)).map_err(failed)?;
        Ok((header, file))
    }

    /// Bytes of the records.
    fn bytes(&self) -> u64 {
        self.receipt.bytes - self.receipt.header - self.receipt.end
    }

    /// Appends the part's records, behind the first one's header and before the last one's end.
    fn join(&self, last: bool, header: &mut Header, output: &mut Output) -> Result<()> {
        let failed = |source| Error::io(self.path, source);
        let (of_part, mut file) = self.open()?;
        header.take(of_part, self, output)?;
        let mut left = self.bytes() + if last { self.receipt.end } else { 0 };
        let mut buffer = vec![0; BUFFER];
        while left > 0 {
            let wanted = left.min(BUFFER as u64) as usize;
            file.read_exact(&mut buffer[..wanted]).map_err(failed)?;
            output.put(&buffer[..wanted])?;
            left -= wanted as u64;
        }
        Ok(())
    }
}

/// All parts of one run must be there, each once.
fn check(parts: &[Part]) -> Result<()> {
    let Some(first) = parts.first() else { return Err(Error::Usage("merge: no part was given".to_string())) };
    let task = &first.receipt.task;
    for part in parts {
        let own = &part.receipt.task;
        if !own.is_beside(task) {
            let told = |task: &receipt::Task| {
                let bytes: Vec<String> = task.inputs.iter().map(|input| input.bytes.to_string()).collect();
                let Share { of, .. } = task.part;
                let parts = match task.parts_of {
                    PartsOf::Queries => "parts",
                    PartsOf::References => "parts of the references",
                };
                let (command, format, bytes) = (&task.command, &task.format, bytes.join(", "));
                format!("`{command}` as {format} in {of} {parts}, of inputs of {bytes} bytes")
            };
            let problem = format!(
                "it is of another run than {}: {}, not {}",
                first.path.display(),
                told(own),
                told(task)
            );
            return Err(refused(part.path, problem, "give the parts of one run"));
        }
    }
    for pair in parts.windows(2) {
        if pair[0].number() == pair[1].number() {
            let problem = format!(
                "it is part {}, as is {}",
                shown(pair[1].number(), task.part),
                pair[0].path.display()
            );
            return Err(refused(pair[1].path, problem, "give each part once"));
        }
    }
    let missing: Vec<String> = (1..=task.part.of)
        .filter(|number| parts.binary_search_by_key(number, Part::number).is_err())
        .map(|number| shown(number, task.part))
        .collect();
    if let Some(next) = missing.first() {
        let others =
            if missing.len() > 1 { format!(" and {} more", missing.len() - 1) } else { String::new() };
        let problem = format!("part {next}{others} of its run is missing");
        return Err(refused(first.path, problem, "write it, and give all parts"));
    }
    match task.parts_of {
        PartsOf::Queries => check_sequence(parts),
        PartsOf::References => references::check(parts),
    }
}

/// Each part of the queries must begin where the one before it ends.
fn check_sequence(parts: &[Part]) -> Result<()> {
    for pair in parts.windows(2) {
        let (end, begin) = (pair[0].receipt.stretch.1, pair[1].receipt.stretch.0);
        if end != begin {
            let problem = format!(
                "it begins at byte {begin} of the input, but {} ends at {end}",
                pair[0].path.display()
            );
            return Err(refused(pair[1].path, problem, "the input has changed: write all parts again"));
        }
    }
    Ok(())
}

fn shown(number: u32, part: Share) -> String {
    format!("{number}/{}", part.of)
}

fn refused(path: &Path, problem: impl Into<String>, remedy: &str) -> Error {
    Error::input(Place { file: path.to_path_buf(), ..Place::default() }, problem, remedy)
}
