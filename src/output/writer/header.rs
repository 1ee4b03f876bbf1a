//! The header of SAM: @HD, one line per reference, the read groups, the program, and comments on the scoring.
//!
//! A run of pairs may have a million references, so this module writes the lines itself, once, in parallel parts. The
//! tests have noodles read and write them.

use super::tags::push_number;
use super::{ChosenValues, NamedTargets, TiersTold};
use crate::input::reader::{check_reference, first_repeated};
use crate::terms::casts::to_i64;
use crate::terms::error::{Error, Place, Result};
use crate::terms::options::{ANY_SCORE, Options};
use crate::terms::scoring::Scoring;
use rayon::prelude::*;
use std::path::Path;

/// The program's ID and name in @PG.
const PROGRAM: &str = "swalign";
/// References whose lines a thread writes per task.
const PART: usize = 4096;
/// Maximum number of bytes of an @SQ line without the name.
const LINE_BYTES: usize = b"@SQ\tSN:\tLN:2147483647\tTP:circular\n".len();

/// The header's text in parts, with the comment on renamed references. Returns an error if a reference cannot be part
/// of a header.
pub fn text(
    options: &Options,
    chosen: &ChosenValues,
    scoring: &Scoring,
    renamed: Option<String>,
    targets: &NamedTargets,
) -> Result<Vec<Vec<u8>>> {
    let NamedTargets { names, lengths, .. } = targets;
    let places: Vec<usize> = (0..names.len()).step_by(PART).collect();
    if let Some((_, twice)) = first_repeated(names) {
        let problem = "its name is duplicated".to_string();
        return Err(refused(&options.reference, &names[twice], (problem, "rename or remove the reference")));
    }
    let references = places.into_par_iter().map(|first| {
        let names = &names[first..names.len().min(first + PART)];
        let mut text = Vec::with_capacity(names.iter().map(|name| name.len() + LINE_BYTES).sum());
        for (place, name) in (first..).zip(names) {
            let len = lengths[place] as usize;
            check_reference(name, len).map_err(|why| refused(&options.reference, name, why))?;
            push_reference(&mut text, name, len, targets.is_circle(place));
        }
        Ok(text)
    });
    // Collected as results, so that the error of the first part is reported.
    let references: Vec<Result<_>> = references.collect();
    let groups = options.lanes().into_iter().filter_map(|lane| lane.read_group);
    let mut rest: String = groups.map(|group| format!("{}\n", group.line())).collect();
    chosen.read_groups.iter().for_each(|line| rest += &format!("{line}\n"));
    rest += &program(&options.command_line);
    let comments = comments(options, chosen, scoring);
    comments.into_iter().chain(renamed).for_each(|comment| rest += &format!("@CO\t{comment}\n"));
    let order = if options.sort.is_some() { "coordinate" } else { "unsorted" };
    let parts = [Ok(first(order).into_bytes())].into_iter().chain(references);
    parts.chain([Ok(rest.into_bytes())]).collect()
}

/// Comments on the scoring, the limits and the values chosen for the run.
pub fn comments(options: &Options, chosen: &ChosenValues, scoring: &Scoring) -> Vec<String> {
    let comments = [scoring_comment(scoring), limits_comment(chosen, options.secondary_ratio)];
    let insert = match chosen.insert {
        None if options.has_lanes() && options.has_mates() => {
            Some("swalign insert: of each lane, from its first pairs".to_string())
        }
        insert => insert.map(|insert| format!("swalign insert: {insert}")),
    };
    let split = chosen.split.map(|score| format!("swalign split: split_score={score}"));
    let significance =
        chosen.ranked.significance.map(|significance| format!("swalign statistics: {significance}"));
    comments.into_iter().chain(insert).chain(split).chain(significance).collect()
}

/// The header for the hits of a search, which are sorted by text and by start within a text. A text without bases has
/// no line, because SAM allows no length of 0, and such a text has no records.
pub fn of_search(texts: &[(String, usize)], command_line: &str) -> Vec<u8> {
    let mut text = first("coordinate").into_bytes();
    let lettered = texts.iter().filter(|(_, len)| *len > 0);
    lettered.for_each(|(name, len)| push_reference(&mut text, name, *len, false));
    text.extend_from_slice(program(command_line).as_bytes());
    text
}

/// The @HD line.
fn first(order: &str) -> String {
    format!("@HD\tVN:1.6\tSO:{order}\n")
}

/// Appends an @SQ line.
fn push_reference(text: &mut Vec<u8>, name: &str, len: usize, is_circle: bool) {
    text.extend_from_slice(b"@SQ\tSN:");
    text.extend_from_slice(name.as_bytes());
    text.extend_from_slice(b"\tLN:");
    push_number(text, to_i64(len));
    if is_circle {
        text.extend_from_slice(b"\tTP:circular");
    }
    text.push(b'\n');
}

/// @PG. Control characters of the command line are escaped, so that CL is one field. Other characters stay, since SAM
/// allows UTF-8 there.
fn program(command_line: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut line = String::new();
    for letter in command_line.chars() {
        match letter.is_control() {
            true => line.extend(letter.escape_default()),
            false => line.push(letter),
        }
    }
    let line = if line.is_empty() { line } else { format!("\tCL:{line}") };
    format!("@PG\tID:{PROGRAM}\tPN:{PROGRAM}\tVN:{version}{line}\n")
}

/// The scoring, for users and for programs that check it. It does not mention devices or threads, so the same input
/// produces the same bytes on all of them.
fn scoring_comment(scoring: &Scoring) -> String {
    let numbers = printable(&scoring.to_string());
    let cost = match scoring.gaps().count() {
        1 => "gap_open + k * gap_extend",
        _ => "the lower gap_open + k * gap_extend of the two",
    };
    format!("swalign scoring: {numbers}; a gap of k costs {cost}")
}

/// The limits by which hits are chosen.
fn limits_comment(chosen: &ChosenValues, ratio: f64) -> String {
    let evalue = chosen.evalue.map_or(String::new(), |evalue| format!(" evalue={evalue:e}"));
    let min_score = match chosen.min_score {
        ANY_SCORE => "none".to_string(),
        score => score.to_string(),
    };
    let by_quality =
        if chosen.tiers.is_some_and(|tiers| tiers.has_quality) { " secondary_mapq=60" } else { "" };
    let tiers = match chosen.tiers {
        None => String::new(),
        Some(TiersTold { highest, is_raised, anchor, least, is_large, .. }) => {
            let raised = if is_raised { " proven_score_with_n=higher" } else { "" };
            let proven = format!(" proven_score={min_score}..{highest}{raised}");
            match anchor {
                0 => proven,
                _ => {
                    let long = if is_large { " long_queries=boxes" } else { "" };
                    format!("{proven} anchor={anchor} anchored_score={least}{long}")
                }
            }
        }
    };
    format!("swalign hits: min_score={min_score}{tiers}{evalue} secondary_ratio={ratio}{by_quality}")
}

/// `text` in printable ASCII, as header fields require; other characters are escaped as in Rust.
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

fn refused(file: &Path, name: &str, (problem, remedy): (String, &str)) -> Error {
    let place = Place { file: file.to_path_buf(), ..Place::default() };
    Error::input(place, format!("reference '{name}' cannot be written to a SAM header: {problem}"), remedy)
}
