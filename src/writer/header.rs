//! The SAM header: @HD, a line a reference, the read group, the program, two comments on the scoring.
//!
//! noodles checks the lines and writes them, but for those of references with ordinary names: a run of
//! pairs may have a million of them. They are made in parallel, in parts, and once.

use super::Targets;
use super::tags::push_number;
use crate::error::{Error, Place, Result};
use crate::options::Options;
use crate::reader::first_repeated;
use crate::scoring::Scoring;
use noodles_sam::header::Parser;
use noodles_sam::header::record::value::Map;
use noodles_sam::header::record::value::map::header::{Version, tag as header_tag};
use noodles_sam::header::record::value::map::program::tag as program_tag;
use noodles_sam::header::record::value::map::{self, Program, ReadGroup, ReferenceSequence};
use noodles_sam::{Header, io::Writer};
use rayon::prelude::*;
use std::num::NonZero;

/// The program's ID and name in @PG.
const PROGRAM: &str = "swalign";
/// References whose lines a thread writes in one go.
const PART: usize = 4096;
/// What an @SQ line has beside the name, at most.
const LINE_BYTES: usize = b"@SQ\tSN:\tLN:2147483647\n".len();

/// ID and fields of an @RG line.
pub type Group = (String, Map<ReadGroup>);

/// The header's text, in parts, with what is to be said of renamed references. Everything that can't stand in a header is refused.
pub fn text(
    options: &Options,
    min_score: i32,
    scoring: &Scoring,
    (read_group, renamed): (Option<Group>, Option<String>),
    targets: &Targets,
) -> Result<Vec<Vec<u8>>> {
    let Targets { names, lengths, .. } = targets;
    if let Some((_, twice)) = first_repeated(names) {
        return Err(refused_target(options, &names[twice], "its name stands twice"));
    }
    let references = names.par_chunks(PART).enumerate().map(|(part, names)| {
        let mut text = Vec::with_capacity(names.iter().map(|name| name.len() + LINE_BYTES).sum());
        for (at, name) in (part * PART..).zip(names) {
            push_reference(&mut text, options, name, lengths[at] as usize)?;
        }
        Ok(text)
    });
    // Not yet a result: that would be the error of any part, and now it is that of the first.
    let references: Vec<Result<_>> = references.collect();
    let mut rest = Header::builder().add_program(PROGRAM, program(&options.command_line));
    if let Some((id, group)) = read_group {
        rest = rest.add_read_group(id, group);
    }
    let comments = [scoring_comment(scoring), limits_comment(min_score, options.secondary_ratio)];
    for comment in comments.into_iter().chain(renamed) {
        rest = rest.add_comment(comment);
    }
    let first = lines(options, &Header::builder().set_header(file_header()).build());
    let rest = lines(options, &rest.build());
    [first].into_iter().chain(references).chain([rest]).collect()
}

/// Appends an @SQ line. Nearly all names are fine at first sight; of others noodles decides.
fn push_reference(text: &mut Vec<u8>, options: &Options, name: &str, length: usize) -> Result<()> {
    let fine =
        |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'.' | b':' | b'|' | b'-');
    match i32::try_from(length) {
        Ok(1..) if !name.is_empty() && name.bytes().all(fine) => {
            text.extend_from_slice(b"@SQ\tSN:");
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(b"\tLN:");
            push_number(text, length as i64);
            text.push(b'\n');
        }
        _ => {
            let length = NonZero::new(length).ok_or_else(|| refused_target(options, name, "it is empty"))?;
            let reference = Map::<ReferenceSequence>::new(length);
            let header = Header::builder().add_reference_sequence(name, reference).build();
            text.extend(lines(options, &header)?);
        }
    }
    Ok(())
}

/// The lines of a part of the header; what the format can't hold is an error.
fn lines(options: &Options, part: &Header) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    Writer::new(&mut text).write_header(part).map_err(|source| {
        let place = Place { file: options.reference.clone(), ..Place::default() };
        let remedy = "names may hold printable ASCII except brackets, quotes, commas and backslashes, and a \
                      sequence fewer than 2^31 residues";
        Error::input(place, format!("SAM can't hold this reference or read group ({source})"), remedy)
    })?;
    Ok(text)
}

/// @HD.
fn file_header() -> Map<map::Header> {
    let mut header = Map::<map::Header>::new(Version::new(1, 6));
    header.other_fields_mut().insert(header_tag::SORT_ORDER, "unsorted".into());
    header
}

/// @PG.
fn program(command_line: &str) -> Map<Program> {
    let mut program = Map::<Program>::default();
    let fields = program.other_fields_mut();
    fields.insert(program_tag::NAME, PROGRAM.into());
    fields.insert(program_tag::VERSION, env!("CARGO_PKG_VERSION").into());
    if !command_line.is_empty() {
        fields.insert(program_tag::COMMAND_LINE, printable(command_line).into());
    }
    program
}

/// The scoring, for readers of the file and for programs that check it. It says nothing of devices
/// and threads, so that the same input gives the same bytes on all of them.
fn scoring_comment(scoring: &Scoring) -> String {
    let numbers = printable(&scoring.to_string());
    format!("swalign scoring: {numbers}; a gap of k costs gap_open + k * gap_extend")
}

/// From which scores on hits exist.
fn limits_comment(min_score: i32, ratio: f64) -> String {
    format!("swalign hits: min_score={min_score} secondary_ratio={ratio}")
}

/// `text` as header fields may hold it, in printable ASCII; other characters escaped as in Rust.
pub(super) fn printable(text: &str) -> String {
    let plain = |letter: char| letter == ' ' || letter.is_ascii_graphic();
    text.chars().fold(String::with_capacity(text.len()), |mut printable, letter| {
        match plain(letter) {
            true => printable.push(letter),
            false => printable.extend(letter.escape_default()),
        }
        printable
    })
}

/// ID and fields of a whole `@RG` line.
pub fn read_group(line: &str) -> Result<Group> {
    let refuse = |problem: &str| {
        let example = r"'@RG\tID:run1\tSM:sample1'";
        Error::Usage(format!(
            "--read-group: {problem}; give one line of ASCII fields parted by tabs, such as {example}"
        ))
    };
    if !line.starts_with("@RG\tID:") {
        return Err(refuse("it must begin with @RG, a tab and ID:"));
    }
    if !line.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)) {
        return Err(refuse("it holds a character that SAM forbids"));
    }
    let mut parser = Parser::default();
    // The version decides how strict the parser is.
    for line in ["@HD\tVN:1.6", line] {
        parser.parse_partial(line.as_bytes()).map_err(|error| refuse(&causes(&error)))?;
    }
    match parser.finish().read_groups().first() {
        Some((id, group))
            if !id.is_empty() && group.other_fields().values().all(|value| !value.is_empty()) =>
        {
            Ok((id.to_string(), group.clone()))
        }
        _ => Err(refuse("a field is empty")),
    }
}

/// An error with all that lies behind it.
fn causes(error: &dyn std::error::Error) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    chain.map(|error| error.to_string()).collect::<Vec<_>>().join(": ")
}

fn refused_target(options: &Options, name: &str, problem: &str) -> Error {
    let place = Place { file: options.reference.clone(), ..Place::default() };
    Error::input(
        place,
        format!("reference '{name}' can't stand in a SAM header: {problem}"),
        "rename or remove it",
    )
}
