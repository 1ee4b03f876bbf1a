//! Pairs of patterns for amplicons, and errors if they cannot be determined.

use super::super::Reporter;
use super::super::report::warn;
use crate::input::reader::{NamePair, read_name_pairs};
use crate::patterns::search::amplicons::{NoPair, PatternPairs};
use crate::patterns::search::pattern::SearchPattern;
use crate::terms::error::{Error, Place, Result};
use crate::terms::options::{AmpliconChoice, PairSource, PatternSource};
use std::path::Path;

/// The requested pairs.
pub fn pairs(
    choice: &AmpliconChoice,
    given: &PatternSource,
    patterns: &[SearchPattern],
    reporter: &dyn Reporter,
) -> Result<PatternPairs> {
    // With --name full, a name may have several words.
    let word =
        |pattern: &'_ SearchPattern| pattern.name.find(char::is_whitespace).unwrap_or(pattern.name.len());
    let names: Vec<&str> = patterns.iter().map(|pattern| &pattern.name[..word(pattern)]).collect();
    match &choice.pairs {
        PairSource::Any => Ok(PatternPairs::any()),
        PairSource::Names => PatternPairs::of_names(&names).map_err(|none| unpaired(&none, given, &names)),
        PairSource::File(path) => {
            let list = read_name_pairs(path)?;
            let lines: Vec<u64> = list.iter().map(|pair| pair.line).collect();
            let list: Vec<[String; 2]> = list.into_iter().map(|NamePair { names, .. }| names).collect();
            let unknown = |(at, side): (usize, usize)| {
                let place = Place { file: path.clone(), record: None, line: Some(lines[at]) };
                let problem = format!("no pattern is named '{}'", list[at][side].escape_debug());
                let remedy =
                    "give two pattern names per line, up to their first space, or begin the line with #";
                Error::input(place, problem, remedy)
            };
            let pairs = PatternPairs::of_list(&names, &list).map_err(unknown)?;
            warn(reporter, left_out(&pairs, path));
            Ok(pairs)
        }
    }
}

/// Warning about patterns that are in no pair.
fn left_out(pairs: &PatternPairs, path: &Path) -> Option<String> {
    match pairs.left_out() {
        0 => None,
        1 => Some(format!("1 pattern is in no pair in {} and has no amplicons", path.display())),
        some => Some(format!("{some} patterns are in no pair in {} and have no amplicons", path.display())),
    }
}

/// Error for a pattern whose name does not determine a pair.
fn unpaired(none: &NoPair, given: &PatternSource, names: &[&str]) -> Error {
    const OTHERS: &str = "list the pairs with --pairs FILE, or pair all patterns with --amplicons any";
    let (place, problem, remedy) = match none {
        NoPair::NoSide { place } => {
            let remedy =
                format!("end the names of a pair in _LEFT and _RIGHT, _F and _R or /1 and /2, {OTHERS}");
            (*place, "the name does not identify a pair".to_string(), remedy)
        }
        NoPair::Alone { place, partner } => {
            let problem = format!("there is no pattern '{}' for a pair", partner.escape_debug());
            (*place, problem, format!("add it, {OTHERS}"))
        }
    };
    let file = match given {
        PatternSource::File(path) => path.clone(),
        PatternSource::Letters(_) => "PATTERN".into(),
    };
    let record = (u64::from(place) + 1, names[place as usize].escape_debug().to_string());
    Error::input(Place { file, record: Some(record), line: None }, problem, remedy)
}
