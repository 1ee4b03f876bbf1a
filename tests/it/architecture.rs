//! The allowed dependencies between modules (docs/ARCHITECTURE.md), checked against the sources: the `crate::` paths of
//! each module, and the external names that only some files may use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Folders whose modules have their own rules.
const ROOMS: &[&str] = &["align", "input", "output", "patterns"];

/// Modules that each module may import, besides itself and `terms`. `terms` may only import itself. A part of a module
/// with its own entry may also import the modules of that entry.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("terms", &[]),
    ("gpu", &[]),
    ("engine", &[]),
    ("engine/gpu", &["gpu"]),
    ("align/audit", &[]),
    ("align/quality", &[]),
    ("align/identity", &[]),
    ("align/complexity", &[]),
    ("align/significance", &[]),
    ("align/dedup", &[]),
    ("align/candidates", &["engine"]),
    ("align/backtrace", &["engine"]),
    ("align/repeats", &["align/fingerprints"]),
    ("align/hits", &["engine", "align/candidates", "align/backtrace", "align/quality", "align/repeats"]),
    // For the scores that random sequences reach.
    ("align/hits/anchored/tiers", &["align/significance"]),
    // Fits constants of a scoring by aligning random sequences.
    ("align/fitted", &["align/candidates", "engine", "align/hits", "align/significance"]),
    ("align/pairing", &["engine", "align/backtrace", "align/hits", "align/quality"]),
    ("align/split", &["engine", "align/candidates", "align/hits", "align/quality"]),
    ("align/circles", &["align/candidates", "align/quality"]),
    ("align/end_bonus", &["align/hits"]),
    // Cuts sequences into chunks.
    ("align/fingerprints", &["engine", "patterns/sliced"]),
    // Kernels for searches on a device.
    ("patterns/scan", &["engine", "gpu", "patterns/sliced", "patterns/tables"]),
    // For the filter's index.
    ("patterns/scan/diagonals", &["align/candidates"]),
    // Hash tables for lookups.
    ("patterns/tables", &[]),
    // Bit vectors for searches in bases and in bytes.
    ("patterns/sliced", &["engine"]),
    ("patterns/search", &["engine", "patterns/scan", "patterns/sliced", "patterns/tables"]),
    // For the scans of the filter.
    ("patterns/search/finder", &["align/candidates"]),
    ("patterns/lines", &["engine", "patterns/scan", "patterns/search", "patterns/sliced", "patterns/tables"]),
    ("input/reader", &[]),
    // Scores by positions.
    ("input/profile", &[]),
    // References in a memory-mapped file.
    ("input/database", &["align/candidates", "input/reader"]),
    ("output/writer", &["input/reader", "align/quality", "align/significance"]),
    // Writes hits of a search as lines.
    ("output/writer/hits", &["patterns/search"]),
    // Writes ranked hits with their significance.
    ("output/writer/list", &["align/complexity", "align/identity"]),
    ("output/audit", &["input/reader", "align/audit"]),
    // Sums over records, like those of the writer.
    ("output/statistics", &["input/reader", "align/complexity", "align/quality"]),
    ("output/report", &["align/audit", "output/audit", "output/statistics"]),
    (
        "pipeline",
        &[
            "input/reader",
            "output/writer",
            "engine",
            "align/candidates",
            "align/circles",
            "align/end_bonus",
            "align/hits",
            "align/pairing",
            "align/split",
            "output/audit",
            "output/statistics",
        ],
    ),
    ("pipeline/audit", &["align/audit"]),
    ("pipeline/about", &["output/report"]),
    ("pipeline/repeats", &["align/repeats"]),
    ("pipeline/remembered", &["align/dedup"]),
    ("pipeline/dedup", &["align/dedup"]),
    // For equal pairs in a sample.
    ("pipeline/mates", &["align/dedup"]),
    ("pipeline/index", &["input/database"]),
    ("pipeline/profiles", &["input/profile"]),
    ("pipeline/spool", &["input/database"]),
    ("pipeline/estimate", &["input/database"]),
    ("pipeline/source", &["input/database"]),
    ("pipeline/significance", &["align/fitted", "align/significance"]),
    ("pipeline/query_search", &["align/complexity"]),
    ("pipeline/ranking", &["align/complexity", "align/identity"]),
    // For the paths of single pairs.
    ("pipeline/matrix", &["align/backtrace", "align/identity"]),
    ("pipeline/search", &["patterns/search"]),
    ("pipeline/search/texts", &["input/database"]),
    ("pipeline/grep", &["patterns/lines", "patterns/scan", "patterns/search"]),
    ("pipeline/scanner", &["patterns/search"]),
    ("pipeline/device", &["patterns/scan", "patterns/search"]),
    // The library's interface, an alternative to the command's pipeline.
    (
        "api",
        &[
            "input/reader",
            "engine",
            "align/candidates",
            "align/backtrace",
            "align/end_bonus",
            "align/hits",
            "patterns/search",
        ],
    ),
    ("api/device", &["patterns/scan"]),
    ("api/significance", &["align/fitted", "align/significance"]),
    ("api/targets", &["input/database"]),
    ("cli", &[]),
    // Prints adapters, progress and summary of a run.
    ("cli/terminal", &["engine", "output/audit", "pipeline"]),
    // Checks whether an output, or its receipt, is the same file as an input.
    ("cli/paths", &["output/writer"]),
    // For error remedies that name an option.
    ("cli/flags", &["input/reader"]),
    ("cli/signals", &["output/writer"]),
    ("lib", &[]),
    ("main", &["cli", "engine", "pipeline"]),
];

/// External names, and the files (by the start of their path in src/) that may use them.
const BELONGS_TO: &[(&[&str], &[&str])] = &[
    (&["wgpu"], &["engine/gpu", "gpu", "patterns/scan"]),
    (&["pollster"], &["gpu"]),
    (&["queue.submit", "create_command_encoder"], &["gpu/run"]),
    (&["clap", "clap_complete", "clap_mangen"], &["cli"]),
    (&["indicatif"], &["cli"]),
    (&["needletail"], &["input/reader"]),
    (&["noodles_sam", "noodles_bgzf"], &["output/writer"]),
    (
        &["eprintln!", "eprint!", "println!", "print!", "dbg!", "io::stderr", "process::exit", "ExitCode"],
        &["cli", "main", "terms/memory"],
    ),
    (&["thread::spawn", "thread::scope", "thread::Builder"], &["pipeline", "cli/signals"]),
    (&["signal_hook"], &["cli/signals", "terms/memory"]),
    (&["libc"], &["cli/signals", "input/database/map", "terms/memory"]),
    (&["memmap2"], &["input/database/map"]),
    (&["flate2"], &["input/reader"]),
];

/// A source file without comments, string contents and tests.
struct Source {
    /// Path in src/, with `/`.
    path: String,
    code: String,
}

impl Source {
    /// The module of the file: `room/module` in a room, otherwise the top-level module.
    fn module(&self) -> String {
        let mut names = self.path.trim_end_matches(".rs").split('/');
        let first = names.next().unwrap_or_default();
        match names.next() {
            Some(second) if ROOMS.contains(&first) => format!("{first}/{second}"),
            _ => first.to_string(),
        }
    }

    /// Whether the file is `module` or a part of it.
    fn is_in(&self, module: &str) -> bool {
        self.path.strip_prefix(module).is_some_and(|rest| rest.starts_with(['/', '.']))
    }
}

fn sources() -> Vec<Source> {
    fn files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => files(&path, found),
                false => found.push(path),
            }
        }
    }
    let root = crate::common::repository().join("src");
    let mut found = Vec::new();
    files(&root, &mut found);
    found.sort();
    let source = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let path = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        Source { path, code: without_tests(&without_prose(&text)) }
    };
    found
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .map(source)
        .collect()
}

/// Rust source without comments, and with empty string and character literals.
fn without_prose(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let raw = raw_string(rest);
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let (Some(len), false) = (raw, code.ends_with(|c: char| c.is_alphanumeric() || c == '_')) {
            code.push_str("\"\"");
            len
        } else if letter == '"' {
            code.push_str("\"\"");
            quoted(rest, '"')
        } else if letter == '\'' && (rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'')) {
            quoted(rest, '\'')
        } else {
            code.push(letter);
            letter.len_utf8()
        };
        rest = &rest[skipped..];
    }
    code
}

/// Length in bytes of the quoted literal at the start of `rest`.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (place, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            letter if letter == quote => return place + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Length in bytes of the raw string literal at the start of `rest`, or `None` if it does not start with one.
fn raw_string(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix("br").or(rest.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let end = body.find(&format!("\"{}", "#".repeat(hashes)))?;
    Some(rest.len() - body.len() + end + 1 + hashes)
}

/// Code without modules marked `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    let mut kept = String::new();
    let mut rest = code;
    while let Some(start) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..start]);
        let open = rest[start..].find(['{', ';']).map_or(rest.len(), |open| start + open);
        let mut depth = 0usize;
        let end = rest[open..].char_indices().find_map(|(place, letter)| {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            (depth == 0).then_some(open + place + 1)
        });
        rest = &rest[end.unwrap_or(rest.len())..];
    }
    kept + rest
}

/// Whether `code` contains `thing` as a whole word.
fn names(code: &str, thing: &str) -> bool {
    let word = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    code.match_indices(thing).any(|(place, _)| {
        !word(code[..place].chars().next_back()) && !word(code[place + thing.len()..].chars().next())
    })
}

/// The modules that `code` reaches through `crate::` (in the binary: `swalign::`), named like by [`Source::module`].
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for root in ["crate::", "swalign::"] {
        for (place, _) in code.match_indices(root) {
            let after = &code[place + root.len()..];
            // In `crate::{a::X, b}`, the first word of each part of the list.
            let parts = match after.strip_prefix('{') {
                Some(list) => top_level_parts(list),
                None => vec![after],
            };
            for part in parts {
                let word = |text: &str| -> String {
                    text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
                };
                let first = word(part);
                let second = part.trim_start()[first.len()..].strip_prefix("::").map(word);
                found.insert(match second {
                    Some(second) if ROOMS.contains(&&*first) => format!("{first}/{second}"),
                    _ => first,
                });
            }
        }
    }
    found
}

/// The parts of a list up to its closing brace, split at top-level commas.
fn top_level_parts(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0);
    for (place, letter) in list.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => {
                parts.push(&list[start..place]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

#[test]
fn modules_import_only_what_they_may_know() {
    let mut wrong = Vec::new();
    for source in sources() {
        let module = source.module();
        let allowed: Vec<&str> = MAY_KNOW
            .iter()
            .filter(|(name, _)| source.is_in(name))
            .flat_map(|(_, allowed)| allowed.iter().copied())
            .collect();
        if !ROOMS.contains(&&*module) && !MAY_KNOW.iter().any(|(name, _)| *name == module) {
            wrong.push(format!("{}: a new module must be given its place in MAY_KNOW", source.path));
        }
        for import in imports(&source.code) {
            let known = MAY_KNOW.iter().any(|(name, _)| *name == import);
            let may = import == module || import == "terms" || allowed.contains(&&*import);
            if known && !may {
                wrong.push(format!("{} imports {import}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A permission that no module needs must be removed.
#[test]
fn every_permission_is_used() {
    let sources = sources();
    for (module, allowed) in MAY_KNOW {
        let imported: BTreeSet<String> = sources
            .iter()
            .filter(|source| source.is_in(module))
            .flat_map(|source| imports(&source.code))
            .collect();
        assert!(sources.iter().any(|source| source.is_in(module)), "{module} is gone");
        for import in *allowed {
            assert!(imported.contains(*import), "{module} does not import {import}");
        }
    }
    for (things, places) in BELONGS_TO {
        let used = |place: &&str| {
            let mut files = sources.iter().filter(|source| source.path.starts_with(*place));
            files.any(|source| things.iter().any(|thing| names(&source.code, thing)))
        };
        assert!(places.iter().any(used), "{things:?} are nowhere");
    }
}

#[test]
fn outside_things_stay_in_their_place() {
    let mut wrong = Vec::new();
    for source in sources() {
        for (things, places) in BELONGS_TO {
            let allowed = places.iter().any(|place| source.path.starts_with(place));
            for thing in things.iter().filter(|thing| !allowed && names(&source.code, thing)) {
                wrong.push(format!("{} names {thing}, which belongs to {}", source.path, places.join(", ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The rooms whose files must not have cyclic imports, except between a file and its own parts.
const WITHOUT_CYCLES: &[&str] = &["align", "engine", "gpu"];

/// Collects the paths that `text` begins with, from the module `from`: one path, or those of a list in braces.
fn paths(from: &[&str], text: &str, found: &mut Vec<String>) {
    let text = text.trim_start();
    if let Some(list) = text.strip_prefix('{') {
        top_level_parts(list).into_iter().for_each(|part| paths(from, part, found));
        return;
    }
    let word: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let path = [from, &[&*word]].concat();
    match text[word.len()..].trim_start().strip_prefix("::") {
        Some(rest) if !word.is_empty() => paths(&path, rest, found),
        _ => found.push(path.join("::")),
    }
}

/// The modules among `all` that `module` with this code reaches through `crate::` and `super::`.
fn imported(module: &str, code: &str, all: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found = Vec::new();
    for (place, root) in code.match_indices("crate::") {
        paths(&[], &code[place + root.len()..], &mut found);
    }
    for (place, root) in code.match_indices("super::") {
        // `super::super::` is read at its last `super::`.
        let ups =
            1 + code[..place].len().saturating_sub(code[..place].trim_end_matches(root).len()) / root.len();
        let names: Vec<&str> = module.split("::").collect();
        let parent = &names[..names.len().saturating_sub(ups)];
        if !code[place + root.len()..].starts_with(root) {
            paths(parent, &code[place + root.len()..], &mut found);
        }
    }
    let module_of = |path: String| {
        let names: Vec<&str> = path.split("::").collect();
        (1..=names.len()).rev().map(|count| names[..count].join("::")).find(|name| all.contains(name))
    };
    found.into_iter().filter_map(module_of).collect()
}

/// A cycle of imports between modules, if there is one.
fn circle(imports: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    fn visit(
        module: &str,
        imports: &BTreeMap<String, BTreeSet<String>>,
        trail: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Option<Vec<String>> {
        if let Some(place) = trail.iter().position(|seen| seen == module) {
            return Some(trail[place..].to_vec());
        }
        if !done.insert(module.to_string()) {
            return None;
        }
        trail.push(module.to_string());
        let found = imports[module].iter().find_map(|next| visit(next, imports, trail, done));
        trail.pop();
        found
    }
    let (mut trail, mut done) = (Vec::new(), BTreeSet::new());
    imports.keys().find_map(|module| visit(module, imports, &mut trail, &mut done))
}

#[test]
fn files_of_a_room_import_each_other_in_no_circle() {
    let sources: Vec<Source> =
        sources().into_iter().filter(|source| !source.path.ends_with("tests.rs")).collect();
    let module = |source: &Source| source.path.trim_end_matches(".rs").replace('/', "::");
    let all: BTreeSet<String> = sources.iter().map(module).collect();
    for room in WITHOUT_CYCLES {
        let own = sources.iter().filter(|source| source.is_in(room));
        let of_source = |source: &Source| {
            let name = module(source);
            let is_other = |other: &String| {
                let is_own = other == room || other.starts_with(&format!("{room}::"));
                is_own && *other != name && !other.starts_with(&format!("{name}::"))
            };
            let imports = imported(&name, &source.code, &all).into_iter().filter(is_other).collect();
            (name, imports)
        };
        let imports: BTreeMap<String, BTreeSet<String>> = own.map(of_source).collect();
        assert!(imports.len() > 5, "{room} has files");
        assert_eq!(circle(&imports), None, "{room}");
    }
}

#[test]
fn circles_are_seen() {
    let all: BTreeSet<String> = ["a", "a::b", "a::b::c", "a::d"].map(String::from).into();
    let code = "use crate::{a::{d, X}, z::Y}; fn f() { super::d::g(super::super::b::h()); }";
    let found = imported("a::b::c", code, &all);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "a::b", "a::d"]);
    let graph = |edges: &[(&str, &str)]| {
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in edges {
            graph.entry(to.to_string()).or_default();
            graph.entry(from.to_string()).or_default().insert(to.to_string());
        }
        graph
    };
    assert_eq!(circle(&graph(&[("a", "b"), ("a", "c"), ("b", "c")])), None);
    let found = circle(&graph(&[("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")]));
    assert_eq!(found.unwrap(), ["b", "c", "d"]);
}

#[test]
fn the_reading_of_sources() {
    let text = "use crate::{a::{X, Y}, b}; use crate::align::d::X; // wgpu\n/* clap */ let t = \"wgpu \\\" wgpu\"; let r = r#\"clap\"#;\n\
                let c = '\"'; let l: &'a str; let n = b'\\''; fn_wgpu();\n#[cfg(test)]\nmod tests { use wgpu; mod x {} }\nuse crate::c::Z;";
    let code = without_tests(&without_prose(text));
    assert!(!names(&code, "wgpu") && !names(&code, "clap"), "{code}");
    assert_eq!(imports(&code).into_iter().collect::<Vec<_>>(), ["a", "align/d", "b", "c"]);
    assert!(names("x = wgpu::Y", "wgpu"));
}
