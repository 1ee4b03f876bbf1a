//! `docs/cli.md`, generated from the arguments of the command: a section per subcommand, and in it a section per group of options.

use clap::{Arg, Command};
use std::collections::HashMap;
use std::fmt::Write;

const HEAD: &str = "# The command line\n\n\
    Every command and option, as `--help` prints them. `-h` prints a summary.\n\n\
    <!-- Generated from the arguments by `SWALIGN_WRITE_DOCS=1 cargo test --test it docs`; do not edit. -->\n\n";

/// Subcommands with most options of the command itself. Their sections link to options that are described there.
const ALIKE: [&str; 3] = ["pairs", "all", "audit"];

/// The page.
pub fn page(root: &Command) -> String {
    let commands =
        || std::iter::once(root).chain(root.get_subcommands().filter(|command| !command.is_hide_set()));
    let mut page = String::from(HEAD);
    for command in commands() {
        let name = name(root, command);
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let groups = groups(command).into_iter().map(|(group, _)| {
            let group = group.to_ascii_lowercase();
            format!("[{group}](#{})", anchor(&format!("{name}: {group}")))
        });
        let groups = groups.collect::<Vec<_>>().join(", ");
        writeln!(page, "- **[{name}](#{})**: {}<br>{groups}", anchor(&name), markdown(&about)).unwrap();
    }
    let mut seen = HashMap::new();
    for command in commands() {
        match command.get_name() == root.get_name() || ALIKE.contains(&command.get_name()) {
            true => section(&mut page, &name(root, command), command, &mut seen),
            false => section(&mut page, &name(root, command), command, &mut HashMap::new()),
        }
    }
    page
}

fn name(root: &Command, command: &Command) -> String {
    match command.get_name() == root.get_name() {
        true => root.get_name().to_string(),
        false => format!("{} {}", root.get_name(), command.get_name()),
    }
}

/// The anchor of a heading, as on GitHub.
fn anchor(heading: &str) -> String {
    heading.to_ascii_lowercase().replace(':', "").replace(' ', "-")
}

/// The section of a command. `seen` has the heading under which the page describes an option or a note for the first time.
fn section(page: &mut String, name: &str, command: &Command, seen: &mut HashMap<String, String>) {
    writeln!(page, "\n## {name}\n").unwrap();
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    for paragraph in about.split("\n\n") {
        writeln!(page, "{}{}\n", markdown(paragraph), if paragraph.ends_with('.') { "" } else { "." })
            .unwrap();
    }
    let usage = command.clone().render_usage().to_string();
    let usage: Vec<&str> = usage.trim_start_matches("Usage:").lines().map(str::trim).collect();
    writeln!(page, "```text\n{}\n```", usage.join("\n")).unwrap();
    for (group, arguments) in groups(command) {
        let heading = format!("{name}: {}", group.to_ascii_lowercase());
        writeln!(page, "\n### {heading}\n").unwrap();
        let mut repeated: Vec<(String, Vec<String>)> = Vec::new();
        for argument in arguments {
            let item = item(argument);
            let home = seen.entry(item.clone()).or_insert_with(|| heading.clone()).clone();
            if home == heading || argument.is_positional() {
                page.push_str(&item);
                continue;
            }
            let spelled = format!("`{}`", spelled(argument));
            match repeated.iter_mut().find(|(of, _)| *of == home) {
                Some((_, names)) => names.push(spelled),
                None => repeated.push((home, vec![spelled])),
            }
        }
        for (home, names) in repeated {
            writeln!(page, "- As in [{home}](#{}): {}.\n", anchor(&home), names.join(", ")).unwrap();
        }
        // One line break ends the section.
        page.truncate(page.trim_end().len() + 1);
    }
    let notes = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    write_notes(page, name, &notes, seen);
}

/// The arguments by the heading of their group, in the order of the help.
fn groups(command: &Command) -> Vec<(&str, Vec<&Arg>)> {
    let mut groups: Vec<(&str, Vec<&Arg>)> = Vec::new();
    let visible = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set() && !argument.is_hide_long_help_set());
    let (positional, options): (Vec<&Arg>, Vec<&Arg>) =
        visible.partition(|argument| argument.is_positional());
    let named = options.into_iter().map(|option| (option.get_help_heading().unwrap_or("Options"), option));
    for (heading, argument) in positional.into_iter().map(|argument| ("Arguments", argument)).chain(named) {
        match groups.iter_mut().find(|(name, _)| *name == heading) {
            Some((_, arguments)) => arguments.push(argument),
            None => groups.push((heading, vec![argument])),
        }
    }
    // Options without a group come first, as in the help.
    groups.sort_by_key(|(name, _)| match *name {
        "Arguments" => 0,
        "Options" => 1,
        _ => 2,
    });
    groups
}

/// `-o, --output <FILE>`.
fn spelled(argument: &Arg) -> String {
    let text = argument.to_string();
    match argument.get_short() {
        Some(short) if argument.get_long().is_some() => format!("-{short}, {text}"),
        _ => text,
    }
}

/// The item of an argument in a list: how it is spelled, its help, its values and its default.
fn item(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut paragraphs: Vec<String> = help.split("\n\n").map(markdown).collect();
    let values: Vec<_> =
        argument.get_possible_values().into_iter().filter(|value| !value.is_hide_set()).collect();
    let takes_value = argument.get_action().takes_values();
    if takes_value && !argument.is_hide_possible_values_set() && !values.is_empty() {
        paragraphs.push(match values.iter().any(|value| value.get_help().is_some()) {
            true => {
                let line = |value: &clap::builder::PossibleValue| {
                    let help = value.get_help().map(ToString::to_string).unwrap_or_default();
                    format!("  - `{}`: {}", value.get_name(), markdown(&help))
                };
                format!("Values:\n\n{}", values.iter().map(line).collect::<Vec<_>>().join("\n"))
            }
            false => {
                let names = values.iter().map(|value| format!("`{}`", value.get_name()));
                format!("Values: {}", names.collect::<Vec<_>>().join(", "))
            }
        });
    }
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if takes_value && !argument.is_hide_default_value_set() && !defaults.is_empty() {
        paragraphs.push(format!("Default: `{}`", defaults.join(" ")));
    }
    format!("- **`{}`**<br>{}\n\n", spelled(argument), paragraphs.join("\n\n  "))
}

/// The notes after the options. A paragraph without indentation that ends in a colon is the title of the next paragraphs.
fn write_notes(page: &mut String, name: &str, notes: &str, seen: &mut HashMap<String, String>) {
    let mut blocks: Vec<(String, String)> = Vec::new();
    for paragraph in notes.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        match paragraph.split_once('\n') {
            Some((title, rest)) if title.ends_with(':') && !title.starts_with(' ') => {
                blocks.push((title.trim_end_matches(':').to_string(), written(rest)));
            }
            _ if paragraph.starts_with(' ') && !blocks.is_empty() => {
                let last = blocks.len() - 1;
                blocks[last].1.push_str(&format!("\n{}", written(paragraph)));
            }
            _ => blocks.push((String::new(), written(paragraph))),
        }
    }
    for (title, text) in blocks {
        if title.is_empty() {
            write!(page, "\n{text}").unwrap();
            continue;
        }
        // Parentheses are no part of an anchor.
        let (title, rest) = title
            .split_once(" (")
            .map_or((&*title, String::new()), |(title, rest)| (title, format!("({rest}:\n\n")));
        let title = title.to_ascii_lowercase();
        let heading = match page.contains(&format!("\n### {name}: {title}\n")) {
            true => format!("{name}: notes on {title}"),
            false => format!("{name}: {title}"),
        };
        let home = seen.entry(text.clone()).or_insert_with(|| heading.clone());
        writeln!(page, "\n### {heading}\n").unwrap();
        match *home == heading {
            true => write!(page, "{rest}{text}").unwrap(),
            false => writeln!(page, "As in [{home}](#{}).", anchor(home)).unwrap(),
        }
    }
}

/// A paragraph of notes: prose, or commands and tables, which keep their lines.
fn written(paragraph: &str) -> String {
    let lines: Vec<&str> = paragraph.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
    match lines.iter().all(|line| line.ends_with(['.', ':'])) {
        true => format!("{}\n", markdown(&lines.join(" "))),
        false => format!("```text\n{}\n```\n", lines.join("\n")),
    }
}

/// Help as Markdown: options as code, and everything else as it is.
fn markdown(text: &str) -> String {
    let mut out = String::new();
    for (at, piece) in text.trim().replace('\n', " ").split('`').enumerate() {
        if at % 2 == 1 {
            write!(out, "`{piece}`").unwrap();
            continue;
        }
        for (at, word) in piece.split(' ').enumerate() {
            if at > 0 {
                out.push(' ');
            }
            out.push_str(&marked(word));
        }
    }
    out
}

/// A word as Markdown. An option is code, a page of docs/ is a link, and characters with a meaning in Markdown are escaped.
fn marked(word: &str) -> String {
    let inner = word.trim_matches(|c| "(),.;:[]'".contains(c));
    let is_option = inner.len() > 1
        && inner.starts_with('-')
        && inner.trim_start_matches('-').starts_with(|c: char| c.is_ascii_alphabetic());
    let escaped = |text: &str| {
        text.replace('\\', "\\\\")
            .replace('*', "\\*")
            .replace('_', "\\_")
            .replace('<', "&lt;")
            .replace('|', "\\|")
    };
    let (before, after) = word.split_once(inner).unwrap_or(("", ""));
    if inner.is_empty() {
        return escaped(word);
    }
    match inner.strip_prefix("docs/") {
        Some(page) => format!("{before}[{inner}]({page}){after}"),
        None if is_option => format!("{before}`{inner}`{after}"),
        None => escaped(word),
    }
}
