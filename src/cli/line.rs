//! The command line as headers have it.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

/// Options that change no record. They say where records go, how they are computed, or which of them are written.
/// Runs that differ only in these have the same header, so their parts can be joined.
const OF_THE_RUN: [&str; 21] = [
    "batch",
    "checked_shaders",
    "count",
    "device",
    "filter",
    "format",
    "html",
    "index_segment",
    "is_sam",
    "no_dedup",
    "output",
    "part",
    "quiet",
    "ref_part",
    "report",
    "resume",
    "sort_memory",
    "stats",
    "summary",
    "threads",
    "verbose",
];

/// The arguments that were given and change records: options by their long names in the order of the help,
/// then files. One line, no tabs.
pub fn of_records(command: &Command, matches: &ArgMatches) -> String {
    let mut words = vec![command.get_name().to_string()];
    let (command, matches) = match matches.subcommand() {
        Some((name, inner)) => {
            words.push(name.to_string());
            (command.find_subcommand(name).unwrap_or(command), inner)
        }
        None => (command, matches),
    };
    let given = |arg: &&Arg| {
        let id = arg.get_id().as_str();
        !OF_THE_RUN.contains(&id) && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let (files, options): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(given).partition(|arg| arg.is_positional());
    for arg in options.into_iter().chain(files) {
        let values = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
        let values = values.map(|value| value.to_string_lossy().into_owned());
        match arg.get_long() {
            None => words.extend(values),
            // The memory for sorting changes no record.
            Some(long) if !arg.get_action().takes_values() || long == "sort" => {
                words.push(format!("--{long}"))
            }
            Some(long) if arg.is_require_equals_set() => {
                words.extend(values.map(|value| format!("--{long}={value}")));
            }
            Some(long) => values.for_each(|value| words.extend([format!("--{long}"), value])),
        }
    }
    words.join(" ").replace(|c: char| c.is_control(), " ")
}
