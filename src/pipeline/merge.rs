//! `swalign merge`: joins the parts of a run, checked by their receipts. Parts of the queries are concatenated in
//! order, parts of the references are joined query by query, and sorted parts by coordinate.

mod hits;
mod open_files;
mod part;
mod references;
mod sorted;

use super::report::{RECORDS, Reporter, counted};
use crate::output::writer::Output;
use crate::output::writer::count::QueryCount;
use crate::output::writer::frame;
use crate::output::writer::output::CompanionFiles;
use crate::output::writer::place::is_same_file;
use crate::output::writer::receipt;
use crate::output::writer::sort;
use crate::terms::error::{Error, Place, Result};
use crate::terms::options::{MergeOptions, PartsOf, SORTED_BAM, SearchFormat, Share};
use part::{MergePart, OpenPart, PartBytes, PartTail, unread};
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Bytes that are copied at once.
const BUFFER: usize = 1 << 20;
/// Maximum number of missing parts that an error names.
const NAMED: usize = 10;

/// Joins parts into the output of the whole run.
pub fn merge(options: &MergeOptions, reporter: &dyn Reporter) -> Result<()> {
    check_output(options)?;
    let mut parts = options.parts.iter().map(MergePart::read).collect::<Result<Vec<_>>>()?;
    // The sort is stable: parts with the same number keep the order of the arguments.
    parts.sort_by_key(|part| part.number());
    check(&parts)?;
    let mut output = Output::create(options.output.as_deref())?;
    let mut index = None;
    let (parts_of, records) = match parts.first() {
        Some(part) if part.is_of_references() => {
            let (records, of_output) = references::join(&parts, &mut output, reporter)?;
            index = of_output;
            (["part of the references,", "parts of the references,"], records)
        }
        Some(part) if part.receipt.task.format == SearchFormat::Sam.name() => {
            (["part", "parts"], hits::join(&parts, &mut output)?)
        }
        Some(part) if part.receipt.task.format == SORTED_BAM => {
            let (records, of_output) = sorted::join(&parts, &mut output)?;
            index = of_output;
            (["sorted part", "sorted parts"], records)
        }
        _ => (["part", "parts"], join(&parts, &mut output)?),
    };
    output.finish_with(CompanionFiles { index, ..CompanionFiles::default() })?;
    let (parts, records) = (counted(parts.len() as u64, parts_of), counted(records, RECORDS));
    reporter.note(&format!("joined {parts} of {records}"));
    Ok(())
}

/// Refuses an output that would replace a part or a file that belongs to one.
fn check_output(options: &MergeOptions) -> Result<()> {
    let refused = |text: String| {
        Err(Error::Usage(format!(
            "merge: {text}; give OUT with -o, or before the parts, and name a file that is not a part"
        )))
    };
    // The system resolves stdout.
    let output = options.output.as_deref().unwrap_or(Path::new("/dev/stdout"));
    let own = receipt::path(output);
    for part in &options.parts {
        let (shown, receipt) = (part.display(), receipt::path(part));
        if is_same_file(output, part) {
            return refused(format!("OUT is also a part: {shown}"));
        }
        if is_same_file(output, &receipt) {
            return refused(format!("OUT is the receipt of the part {shown}"));
        }
        if sort::indices(output)
            .iter()
            .any(|index| is_same_file(index, part) || is_same_file(index, &receipt))
        {
            return refused(format!("the index of OUT would overwrite the part {shown}"));
        }
        if is_same_file(&own, part) || is_same_file(&own, &receipt) {
            return refused(format!(
                "{}, the receipt of OUT, would overwrite the part {shown}",
                own.display()
            ));
        }
    }
    Ok(())
}

/// Joins parts of the queries, and returns the number of their records.
fn join(parts: &[MergePart], output: &mut Output) -> Result<u64> {
    let mut header = SharedHeader::default();
    let has_hits = parts.iter().any(|part| part.bytes() > 0);
    for (index, part) in parts.iter().enumerate() {
        let OpenPart { header: of_part, records, rest } = part.open()?;
        match header.first(of_part, part)? {
            Some(header) if has_hits => output.put(header)?,
            Some(header) => output.put(&frame::header_without_hits(&part.receipt.task.format, header)?)?,
            None => {}
        }
        append(part, (records, rest), index + 1 == parts.len(), output)?;
    }
    Ok(parts.iter().map(|part| part.receipt.records).sum())
}

/// The header that all parts share, once the first part is open.
#[derive(Default)]
struct SharedHeader(Option<Vec<u8>>);

impl SharedHeader {
    /// Writes the first part's header, and compares the headers of other parts with it.
    fn take(&mut self, of_part: Vec<u8>, part: &MergePart, output: &mut Output) -> Result<()> {
        match self.first(of_part, part)? {
            Some(header) => output.put(header),
            None => Ok(()),
        }
    }

    /// Returns the header if the part is the first one. The headers of other parts must be equal to it.
    fn first(&mut self, of_part: Vec<u8>, part: &MergePart) -> Result<Option<&[u8]>> {
        match &self.0 {
            None => Ok(Some(self.0.insert(of_part))),
            Some(header) if *header == of_part => Ok(None),
            Some(_) => {
                let problem = "its header differs from that of the other parts";
                Err(refused(part.path, problem, "write all parts with the same references"))
            }
        }
    }
}

/// Appends the part's records, and after the last part also the end.
fn append(
    part: &MergePart,
    (mut records, rest): (PartBytes, PartTail),
    last: bool,
    output: &mut Output,
) -> Result<()> {
    let text = part.format().filter(|(_, packed)| !packed);
    let mut queries = text.and_then(|(format, _)| QueryCount::of(format));
    let mut buffer = vec![0; BUFFER];
    loop {
        let bytes = match records.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => &buffer[..read],
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(unread(part.path, error)),
        };
        if let Some(queries) = &mut queries {
            queries.add(bytes);
        }
        output.put(bytes)?;
    }
    rest.check(part)?;
    if let Some(queries) = queries.filter(|queries| queries.count() != part.receipt.records) {
        return Err(part.miscounted(if queries.count() < part.receipt.records { "fewer" } else { "more" }));
    }
    if last { output.put(&rest.end) } else { Ok(()) }
}

/// Refuses parts unless they are all parts of one run, each once.
fn check(parts: &[MergePart]) -> Result<()> {
    let first = parts.first().ok_or_else(no_part)?;
    let task = &first.receipt.task;
    for part in parts {
        let own = &part.receipt.task;
        if !own.is_beside(task) {
            let told = |task: &receipt::Task| {
                let bytes: Vec<String> = task.inputs.iter().map(|input| input.bytes.to_string()).collect();
                let Share { of, .. } = task.part;
                let nouns = match task.parts_of {
                    PartsOf::Queries => ["part", "parts"],
                    PartsOf::References => ["part of the references", "parts of the references"],
                };
                let (command, format, bytes) = (&task.command, &task.format, bytes.join(", "));
                let parts = counted(of.into(), nouns);
                format!("`{command}` as {format} in {parts}, of inputs of {bytes} bytes")
            };
            let problem = format!(
                "it comes from another run than {}: {}, not {}",
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
    check_missing(parts)?;
    match task.parts_of {
        PartsOf::Queries => check_sequence(parts),
        PartsOf::References => references::check(parts),
    }
}

/// Refuses parts if one is missing. The number of parts in the receipts is not bounded.
fn check_missing(parts: &[MergePart]) -> Result<()> {
    let Some(first) = parts.first() else { return Ok(()) };
    let share = first.receipt.task.part;
    let missing = share.of as usize - parts.len();
    let mut present = parts.iter().map(MergePart::number).peekable();
    let is_missing = |number: &u32| present.next_if_eq(number).is_none();
    let named: Vec<String> = (1..=share.of)
        .filter(is_missing)
        .take(NAMED.min(missing))
        .map(|number| shown(number, share))
        .collect();
    let problem = match &named[..] {
        [] => return Ok(()),
        [one] => format!("part {one} of its run is missing"),
        _ => {
            let more = missing - named.len();
            let others = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{missing} parts of its run are missing: {}{others}", named.join(", "))
        }
    };
    Err(refused(first.path, problem, "write the missing parts, and give all parts"))
}

/// Refuses parts of the queries unless each part begins where the previous one ends.
fn check_sequence(parts: &[MergePart]) -> Result<()> {
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

fn no_part() -> Error {
    Error::Usage("merge: no part was given".to_string())
}

fn shown(number: u32, part: Share) -> String {
    format!("{number}/{}", part.of)
}

fn refused(path: &Path, problem: impl Into<String>, remedy: &str) -> Error {
    Error::input(Place { file: path.to_path_buf(), ..Place::default() }, problem, remedy)
}
