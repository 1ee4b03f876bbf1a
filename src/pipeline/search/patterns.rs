//! Reads and checks the patterns of a search, with warnings for the user.

use super::counts::MOST_EDITS;
use crate::input::reader::{Text, read_patterns};
use crate::patterns::search::MatchRule;
use crate::patterns::search::hits::HitOptions;
use crate::patterns::search::pattern::SearchPattern;
use crate::terms::error::{Error, Result};
use crate::terms::options::{PatternSource, SearchFormat, SearchOptions};
use std::collections::HashSet;

/// Warning about patterns that match at every position of any text. With limits on single kinds of edits or a PAM they
/// may not match everywhere, and with an error rate they do not.
pub fn everywhere(patterns: &[SearchPattern], wanted: &HitOptions) -> Option<String> {
    let HitOptions { rule, rate: None, limits: None, pam: None, .. } = wanted else { return None };
    let mut some = patterns.iter().filter(|pattern| pattern.letters.len() <= rule.max_edits as usize);
    let first = some.next()?;
    let others = match some.count() {
        0 => String::new(),
        1 => "; so does another pattern".to_string(),
        others => format!("; so do {others} other patterns"),
    };
    let (most, name, len) = (rule.max_edits, first.name.escape_debug(), first.letters.len());
    Some(format!(
        "-k {most} is not below the length of pattern '{name}' ({len}), so it matches at every position{others}"
    ))
}

/// Refuses patterns of one name, since parts of SAM are joined by the names.
pub fn check_names(patterns: &[SearchPattern]) -> Result<()> {
    let mut names = HashSet::new();
    match patterns.iter().find(|pattern| !names.insert(&pattern.name)) {
        None => Ok(()),
        Some(SearchPattern { name, .. }) => Err(Error::Usage(format!(
            "two patterns are named '{}': rename one of them, because --part with --format sam needs unique names",
            name.escape_debug()
        ))),
    }
}

/// The given patterns, and warnings about their file.
pub fn read(options: &SearchOptions) -> Result<(Vec<SearchPattern>, Vec<String>)> {
    let refused = |at: usize| {
        Error::Usage(format!(
            "PATTERN has an invalid character at position {}; use IUPAC codes of DNA",
            at + 1
        ))
    };
    match &options.patterns {
        PatternSource::Letters(letters) => {
            let pattern = SearchPattern::new("pattern".to_string(), letters.as_bytes()).map_err(refused)?;
            Ok((vec![pattern], Vec::new()))
        }
        PatternSource::File(path) => {
            let pattern = |text: Text| SearchPattern::new(text.name, &text.letters).map_err(refused);
            let sam = options.format == SearchFormat::Sam;
            let (patterns, warnings) = read_patterns(path, options.rules(), options.full_names, sam)?;
            Ok((patterns.into_iter().map(pattern).collect::<Result<_>>()?, warnings))
        }
    }
}

/// Refuses more edits than summaries support.
pub fn check_edits(options: &SearchOptions, rule: &MatchRule) -> Result<()> {
    let most = rule.max_edits;
    if options.summary.is_some() && most > MOST_EDITS {
        return Err(Error::Usage(format!(
            "--summary has a column for each number of edits, up to {MOST_EDITS}, but patterns may have {most}: \
             reduce the number of edits"
        )));
    }
    Ok(())
}
