//! The patterns of a search: read, checked, and what the user should hear of them.

use super::counts::MOST_EDITS;
use crate::input::reader::{Text, read_patterns};
use crate::patterns::search::Rule;
use crate::patterns::search::hits::Wanted;
use crate::patterns::search::limits::MOST_LIMITED;
use crate::patterns::search::pam::{Pam, PamSide};
use crate::patterns::search::pattern::Pattern;
use crate::terms::error::{Error, Result};
use crate::terms::options::{PamChoice, PatternSource, SearchFormat, SearchOptions};
use std::collections::HashSet;

/// A warning about patterns that occur at every place, whatever the text. With limits of single kinds of edits or a
/// PAM they may not, and at a rate they do not.
pub fn everywhere(patterns: &[Pattern], wanted: &Wanted) -> Option<String> {
    let Wanted { rule, rate: None, limits: None, pam: None, .. } = wanted else { return None };
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
pub fn check_names(patterns: &[Pattern]) -> Result<()> {
    let mut names = HashSet::new();
    match patterns.iter().find(|pattern| !names.insert(&pattern.name)) {
        None => Ok(()),
        Some(Pattern { name, .. }) => Err(Error::Usage(format!(
            "two patterns are named '{}': rename one of them, because --part with --format sam needs unique names",
            name.escape_debug()
        ))),
    }
}

/// The patterns that were given, and what is to be said of their file.
pub fn read(options: &SearchOptions) -> Result<(Vec<Pattern>, Vec<String>)> {
    let refused = |at: usize| {
        Error::Usage(format!(
            "PATTERN has an invalid character at position {}; use IUPAC codes of DNA",
            at + 1
        ))
    };
    match &options.patterns {
        PatternSource::Letters(letters) => {
            let pattern = Pattern::new("pattern".to_string(), letters.as_bytes()).map_err(refused)?;
            Ok((vec![pattern], Vec::new()))
        }
        PatternSource::File(path) => {
            let pattern = |text: Text| Pattern::new(text.name, &text.letters).map_err(refused);
            let sam = options.format == SearchFormat::Sam;
            let (patterns, warnings) = read_patterns(path, options.rules(), options.full_names, sam)?;
            Ok((patterns.into_iter().map(pattern).collect::<Result<_>>()?, warnings))
        }
    }
}

/// The PAM that was given.
pub fn pam(given: &PamChoice) -> Result<Pam> {
    let side = if given.in_front { PamSide::Five } else { PamSide::Three };
    Pam::new(given.letters.as_bytes(), side).map_err(|at| {
        Error::Usage(format!("--pam has an invalid character at position {}; use IUPAC codes of DNA", at + 1))
    })
}

/// Refuses more edits of the longest pattern, which a rate gives, than limits of single kinds and summaries are for.
pub fn check_edits(options: &SearchOptions, rule: &Rule) -> Result<()> {
    let most = rule.max_edits;
    if options.limits.is_some() && most > MOST_LIMITED {
        return Err(Error::Usage(format!(
            "-k allows {most} edits in the longest pattern, but --max-insertions, --max-deletions, --max-substitutions \
             and --max-gaps need at most {MOST_LIMITED}; use a smaller rate"
        )));
    }
    if options.summary.is_some() && most > MOST_EDITS {
        return Err(Error::Usage(format!(
            "--summary has a column for each number of edits, up to {MOST_EDITS}, but patterns may have {most}: \
             reduce the number of edits"
        )));
    }
    Ok(())
}
