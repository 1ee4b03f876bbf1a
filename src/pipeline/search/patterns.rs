//! The patterns of a search: read, checked, and what the user should hear of them.

use super::counts::MOST_EDITS;
use crate::error::{Error, Result};
use crate::options::{PamChoice, PatternSource, SearchOptions};
use crate::reader::{Text, read_patterns};
use crate::search::Rule;
use crate::search::hits::Wanted;
use crate::search::limits::MOST_LIMITED;
use crate::search::pam::{Pam, PamSide};
use crate::search::pattern::Pattern;
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
        "-k {most} is not below the length of pattern '{name}' ({len}): it occurs at every place{others}"
    ))
}

/// Refuses patterns of one name, since parts of SAM are joined by the names.
pub fn check_names(patterns: &[Pattern]) -> Result<()> {
    let mut names = HashSet::new();
    match patterns.iter().find(|pattern| !names.insert(&pattern.name)) {
        None => Ok(()),
        Some(Pattern { name, .. }) => Err(Error::Usage(format!(
            "two patterns are called '{}': give each a name of its own for --part with --format sam",
            name.escape_debug()
        ))),
    }
}

/// The patterns that were given.
pub fn read(given: &PatternSource, full_names: bool, sam: bool) -> Result<Vec<Pattern>> {
    let refused =
        |at: usize| Error::Usage(format!("PATTERN has a letter at position {} that is none", at + 1));
    match given {
        PatternSource::Letters(letters) => {
            let pattern = Pattern::new("pattern".to_string(), letters.as_bytes()).map_err(refused)?;
            Ok(vec![pattern])
        }
        PatternSource::File(path) => {
            let pattern = |text: Text| Pattern::new(text.name, &text.letters).map_err(refused);
            read_patterns(path, full_names, sam)?.into_iter().map(pattern).collect()
        }
    }
}

/// The PAM that was given.
pub fn pam(given: &PamChoice) -> Result<Pam> {
    let side = if given.in_front { PamSide::Five } else { PamSide::Three };
    Pam::new(given.letters.as_bytes(), side)
        .map_err(|at| Error::Usage(format!("--pam has a letter at position {} that is none", at + 1)))
}

/// Refuses more edits of the longest pattern, which a rate gives, than limits of single kinds and summaries are for.
pub fn check_edits(options: &SearchOptions, rule: &Rule) -> Result<()> {
    let most = rule.max_edits;
    if options.limits.is_some() && most > MOST_LIMITED {
        return Err(Error::Usage(format!(
            "--edits-by-rate gives the longest pattern {most} edits, and limits of single kinds are for at most \
             {MOST_LIMITED}: give a smaller rate"
        )));
    }
    if options.summary.is_some() && most > MOST_EDITS {
        return Err(Error::Usage(format!(
            "--summary has a column for each number of edits, and patterns may have {most} of them: give at most \
             {MOST_EDITS}"
        )));
    }
    Ok(())
}
