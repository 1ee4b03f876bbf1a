//! Help for an invalid command line: the usage of its command, and the subcommand with the nearest name.

use super::Arguments;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::path::Path;

/// The aligner's usage, without the subcommands.
const USAGE: &str = "swalign [OPTIONS] QUERY [MATES] REFERENCE";

/// Refuses a first word that is not a file and resembles a subcommand, and a word after `help` that is not a subcommand.
pub fn check_words(line: &[OsString]) -> Result<(), clap::Error> {
    let words: Vec<&str> = line.iter().skip(1).map_while(|word| word.to_str()).collect();
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|letter| letter.is_ascii_alphabetic());
    let text = match words[..] {
        ["help", word, ..] if subcommand(word).is_none() => {
            let tip = nearest(word).map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
            format!("'{word}' is not a subcommand{tip}")
        }
        [word, ..] if is_word(word) && !Path::new(word).exists() => match nearest(word) {
            Some(near) => {
                format!("'{word}' is neither a file nor a subcommand; did you mean '{near}'?")
            }
            None => return Ok(()),
        },
        _ => return Ok(()),
    };
    Err(super::usage(ErrorKind::InvalidSubcommand, text))
}

/// The subcommand with the name nearest to `word`, if any. `None` if `word` is a subcommand.
fn nearest(word: &str) -> Option<String> {
    // clap suggests a name only if a subcommand is required.
    let subcommands = Arguments::command().get_subcommands().cloned().collect::<Vec<_>>();
    let only = clap::Command::new("swalign").subcommand_required(true).subcommands(subcommands);
    let error = only.try_get_matches_from(["swalign", word]).err()?;
    match error.get(ContextKind::SuggestedSubcommand)? {
        ContextValue::String(name) => Some(name.clone()),
        ContextValue::Strings(names) => names.last().cloned(),
        _ => None,
    }
}

/// An error with the usage of the command that the line names.
pub fn with_usage(error: clap::Error, line: &[OsString]) -> clap::Error {
    if !error.use_stderr() {
        return error;
    }
    let named = line.get(1).and_then(|word| word.to_str()).and_then(subcommand);
    let mut command = match named {
        Some(subcommand) => subcommand,
        // An empty line gets the usage of all commands.
        None if line.len() < 2 => return error,
        None => all().override_usage(USAGE),
    };
    let mut error = error.format(&mut command);
    if error.get(ContextKind::Usage).is_some() {
        error.insert(ContextKind::Usage, ContextValue::StyledStr(command.render_usage()));
    }
    error
}

fn subcommand(name: &str) -> Option<clap::Command> {
    all().find_subcommand(name).cloned()
}

/// The command with everything that clap adds, such as the names in the usage of subcommands.
fn all() -> clap::Command {
    let mut command = Arguments::command();
    command.build();
    command
}
