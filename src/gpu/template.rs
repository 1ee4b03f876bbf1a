//! The template language of the kernels in `shaders/`. A line that begins with `//!` is a directive:
//!
//! | directive | effect |
//! |---|---|
//! | `slot NAME` | begins the slot `NAME`, which contains the following lines up to the next slot |
//! | `insert NAME` | is replaced by the lines of a slot |
//! | `if FLAG`, `else`, `end` | choose |
//! | `for LOOP`, `end` | repeat the lines for each round of a loop |
//! | `with FLAG`, `end` | set a flag for the lines between, and for the slots that they insert |
//!
//! In all other lines `$name` is replaced by a text. If several names match, the longest wins. Blocks may be nested,
//! and end in the slot in which they begin.
//!
//! A kernel is a frame and some parts, which are files of slots. Blank lines around a slot are not part of it. The
//! caller defines flags, loops and names in a [`Meaning`]. An undefined name is an error.

use std::collections::HashMap;
use std::fmt::Display;

/// Definitions of the flags, loops and names of a template. A round of a loop has its own definitions, which take
/// precedence.
#[derive(Clone, Debug, Default)]
pub struct Meaning {
    flags: Vec<(&'static str, bool)>,
    names: Vec<(&'static str, String)>,
    loops: Vec<(&'static str, Vec<Meaning>)>,
}

impl Meaning {
    /// Adds the value of a flag.
    pub fn flag(mut self, name: &'static str, is_set: bool) -> Meaning {
        self.flags.push((name, is_set));
        self
    }

    /// Adds the text that replaces `$name`.
    pub fn name(mut self, name: &'static str, text: impl Display) -> Meaning {
        self.names.push((name, text.to_string()));
        self
    }

    /// Adds the texts that replace several names.
    pub fn names<const N: usize>(self, names: [(&'static str, u32); N]) -> Meaning {
        names.into_iter().fold(self, |meaning, (name, number)| meaning.name(name, number))
    }

    /// Adds the rounds of a loop.
    pub fn rounds(mut self, name: &'static str, rounds: impl IntoIterator<Item = Meaning>) -> Meaning {
        self.loops.push((name, rounds.into_iter().collect()));
        self
    }
}

/// Why a template cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    problem: &'static str,
    text: String,
}

impl std::fmt::Display for TemplateError {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}: {}", self.problem, self.text)
    }
}

impl std::error::Error for TemplateError {}

fn wrong<T>(problem: &'static str, text: &str) -> Result<T, TemplateError> {
    Err(TemplateError { problem, text: text.to_string() })
}

/// Expands a frame with the slots of its parts.
pub fn expand(
    frame: &'static str,
    parts: &[&'static str],
    meaning: &Meaning,
) -> Result<String, TemplateError> {
    let mut expansion = Expansion { slots: slots(parts)?, inserting: Vec::new(), text: String::new() };
    let lines: Vec<&str> = frame.lines().collect();
    expansion.push(&parse(&lines)?, &TemplateScope { meaning, outer: None })?;
    Ok(expansion.text)
}

/// Constants in WGSL.
pub fn constants<'a>(values: impl IntoIterator<Item = (&'a str, u32)>) -> String {
    values.into_iter().map(|(name, value)| format!("const {name} = {value}u;\n")).collect()
}

/// A line of a template, or a block of them.
enum Node {
    Line(&'static str),
    Insert(&'static str),
    If { flag: &'static str, then: Vec<Node>, otherwise: Vec<Node> },
    For { name: &'static str, body: Vec<Node> },
    With { flag: &'static str, body: Vec<Node> },
}

fn directive(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("//!").map(str::trim)
}

/// The slots of some files. Only comments may precede the first slot of a file.
fn slots(parts: &[&'static str]) -> Result<HashMap<&'static str, Vec<Node>>, TemplateError> {
    let mut slots = HashMap::new();
    for part in parts {
        let lines: Vec<&str> = part.lines().collect();
        let is_slot = |line: &&str| directive(line).is_some_and(|it| it.starts_with("slot "));
        let mut rest = lines.as_slice();
        while let Some((first, behind)) = rest.split_first() {
            let end = behind.iter().position(is_slot).unwrap_or(behind.len());
            match directive(first).and_then(|it| it.strip_prefix("slot ")) {
                Some(name) if slots.contains_key(name) => return wrong("a slot is there twice", name),
                Some(name) => {
                    slots.insert(name, parse(trimmed(&behind[..end]))?);
                }
                None => {
                    let prose = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with("//");
                    if let Some(line) =
                        rest[..=end].iter().find(|line| !prose(line) || directive(line).is_some())
                    {
                        return wrong("a line in front of all slots", line);
                    }
                }
            }
            rest = &behind[end..];
        }
    }
    Ok(slots)
}

/// Removes blank lines at both ends.
fn trimmed<'a>(lines: &'a [&'static str]) -> &'a [&'static str] {
    let is_code = |line: &&str| !line.trim().is_empty();
    let first = lines.iter().position(is_code).unwrap_or(lines.len());
    let end = lines.iter().rposition(is_code).map_or(first, |last| last + 1);
    &lines[first..end]
}

/// Parses whole blocks.
fn parse(lines: &[&'static str]) -> Result<Vec<Node>, TemplateError> {
    let mut rest = lines.iter();
    let (nodes, closed_by) = parse_block(&mut rest)?;
    match closed_by {
        Some(line) => wrong("nothing is open here", line),
        None => Ok(nodes),
    }
}

/// Parses up to the `else` or `end` of the current block, and returns the nodes and which of the two ends them.
fn parse_block(
    rest: &mut std::slice::Iter<&'static str>,
) -> Result<(Vec<Node>, Option<&'static str>), TemplateError> {
    let mut nodes = Vec::new();
    while let Some(line) = rest.next() {
        let Some(directive) = directive(line) else {
            nodes.push(Node::Line(line));
            continue;
        };
        let (what, name) = directive.split_once(' ').unwrap_or((directive, ""));
        nodes.push(match what {
            "else" | "end" if name.is_empty() => return Ok((nodes, Some(what))),
            _ if name.is_empty() || name.contains(' ') => return wrong("an unknown directive", line),
            "insert" => Node::Insert(name),
            "if" => {
                let (then, closed_by) = parse_block(rest)?;
                let otherwise = if closed_by == Some("else") { body(rest, line)? } else { Vec::new() };
                if closed_by.is_none() {
                    return wrong("a block without an end", line);
                }
                Node::If { flag: name, then, otherwise }
            }
            "for" => Node::For { name, body: body(rest, line)? },
            "with" => Node::With { flag: name, body: body(rest, line)? },
            _ => return wrong("an unknown directive", line),
        });
    }
    Ok((nodes, None))
}

/// Parses up to the `end` of the block that `line` opens.
fn body(rest: &mut std::slice::Iter<&'static str>, line: &str) -> Result<Vec<Node>, TemplateError> {
    match parse_block(rest)? {
        (nodes, Some("end")) => Ok(nodes),
        _ => wrong("a block without an end", line),
    }
}

/// The definitions in effect: those of the innermost round or `with`, then those around it.
struct TemplateScope<'a> {
    meaning: &'a Meaning,
    outer: Option<&'a TemplateScope<'a>>,
}

impl<'a> TemplateScope<'a> {
    /// The definitions from the innermost outward.
    fn meanings(&self) -> impl Iterator<Item = &'a Meaning> {
        let mut next = Some((self.meaning, self.outer));
        std::iter::from_fn(move || {
            let (meaning, outer) = next?;
            next = outer.map(|outer| (outer.meaning, outer.outer));
            Some(meaning)
        })
    }

    fn flag(&self, name: &str) -> Result<bool, TemplateError> {
        let known = self.meanings().flat_map(|meaning| &meaning.flags).find(|(known, _)| *known == name);
        known.map_or_else(|| wrong("an unknown flag", name), |(_, is_set)| Ok(*is_set))
    }

    fn rounds(&self, name: &str) -> Result<&'a [Meaning], TemplateError> {
        let known = self.meanings().flat_map(|meaning| &meaning.loops).find(|(known, _)| *known == name);
        known.map_or_else(|| wrong("an unknown loop", name), |(_, rounds)| Ok(rounds.as_slice()))
    }

    /// The longest name that `text` begins with, and its text.
    fn name(&self, text: &str) -> Option<(&'static str, &'a str)> {
        let names = self.meanings().flat_map(|meaning| &meaning.names);
        let mut longest: Option<(&str, &str)> = None;
        for (name, value) in names.filter(|(name, _)| text.starts_with(name)) {
            // Of equal names, the first one is the innermost.
            if longest.is_none_or(|(known, _)| known.len() < name.len()) {
                longest = Some((name, value));
            }
        }
        longest
    }
}

/// A text under construction.
struct Expansion {
    slots: HashMap<&'static str, Vec<Node>>,
    /// The slots that are being inserted, each inside the previous one.
    inserting: Vec<&'static str>,
    text: String,
}

impl Expansion {
    fn push(&mut self, nodes: &[Node], scope: &TemplateScope) -> Result<(), TemplateError> {
        for node in nodes {
            match node {
                Node::Line(line) => self.push_line(line, scope)?,
                Node::Insert(name) => self.push_slot(name, scope)?,
                Node::If { flag, then, otherwise } => {
                    self.push(if scope.flag(flag)? { then } else { otherwise }, scope)?;
                }
                Node::For { name, body } => {
                    for meaning in scope.rounds(name)? {
                        self.push(body, &TemplateScope { meaning, outer: Some(scope) })?;
                    }
                }
                Node::With { flag, body } => {
                    scope.flag(flag)?;
                    let meaning = Meaning::default().flag(flag, true);
                    self.push(body, &TemplateScope { meaning: &meaning, outer: Some(scope) })?;
                }
            }
        }
        Ok(())
    }

    fn push_slot(&mut self, name: &'static str, scope: &TemplateScope) -> Result<(), TemplateError> {
        if self.inserting.contains(&name) {
            return wrong("a slot in itself", name);
        }
        let Some(nodes) = self.slots.remove(name) else { return wrong("an unknown slot", name) };
        self.inserting.push(name);
        let pushed = self.push(&nodes, scope);
        self.inserting.pop();
        self.slots.insert(name, nodes);
        pushed
    }

    fn push_line(&mut self, line: &str, scope: &TemplateScope) -> Result<(), TemplateError> {
        let mut parts = line.split('$');
        self.text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let Some((name, value)) = scope.name(part) else { return wrong("an unknown name", line) };
            self.text.push_str(value);
            self.text.push_str(&part[name.len()..]);
        }
        self.text.push('\n');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning() -> Meaning {
        let round = |k: u32| {
            let inner = (0..k).map(|c| Meaning::default().name("c", c));
            let names = Meaning::default().names([("k", k), ("next", k + 1)]).name("kind", format!("<{k}>"));
            names.flag("FIRST", k == 0).rounds("inner", inner)
        };
        Meaning::default()
            .flag("YES", true)
            .flag("NO", false)
            .flag("FIRST", false)
            .name("end", "z")
            .name("k", "none")
            .rounds("k", (0..2).map(round))
    }

    fn expanded(frame: &'static str, parts: &[&'static str]) -> Result<String, String> {
        expand(frame, parts, &meaning()).map_err(|error| error.to_string())
    }

    #[test]
    fn names_are_the_longest_that_fit_and_the_innermost() {
        assert_eq!(expanded("a$k$end", &[]).unwrap(), "anonez\n");
        assert_eq!(expanded("//!for k\na$k $kind $next\n//!end", &[]).unwrap(), "a0 <0> 1\na1 <1> 2\n");
        assert_eq!(expanded("a$b", &[]).unwrap_err(), "an unknown name: a$b");
    }

    #[test]
    fn flags_choose() {
        assert_eq!(expanded("//!if YES\na\n//!else\nb\n//!end\nc", &[]).unwrap(), "a\nc\n");
        assert_eq!(expanded("  //!if NO\na\n//!else\nb\n//!end", &[]).unwrap(), "b\n");
        assert_eq!(expanded("//!if NO\n//!if YES\na\n//!end\n//!end", &[]).unwrap(), "");
        assert_eq!(expanded("//!if MAYBE\n//!end", &[]).unwrap_err(), "an unknown flag: MAYBE");
    }

    #[test]
    fn loops_repeat_and_their_rounds_have_loops_and_flags() {
        let text = "//!for k\n//!for inner\n$k$c\n//!end\n//!if FIRST\nfirst\n//!end\n//!end";
        assert_eq!(expanded(text, &[]).unwrap(), "first\n10\n");
        assert_eq!(expanded("//!for inner\n//!end", &[]).unwrap_err(), "an unknown loop: inner");
    }

    #[test]
    fn a_flag_is_set_in_what_is_inserted() {
        let part = "//!slot s\n//!if NO\nset\n//!end\n";
        assert_eq!(expanded("//!with NO\n//!insert s\n//!end\n//!insert s", &[part]).unwrap(), "set\n");
        assert_eq!(expanded("//!with MAYBE\n//!end", &[]).unwrap_err(), "an unknown flag: MAYBE");
    }

    #[test]
    fn slots_stand_in_slots() {
        let parts = ["// About.\n\n//!slot a\n\n(\n//!insert b\n)\n\n//!slot empty\n", "//!slot b\n$end"];
        assert_eq!(expanded("//!insert a\n//!insert empty\n//!insert b", &parts).unwrap(), "(\nz\n)\nz\n");
        assert_eq!(expanded("//!insert c", &parts).unwrap_err(), "an unknown slot: c");
        assert_eq!(expanded("", &["//!slot b", "//!slot b"]).unwrap_err(), "a slot is there twice: b");
        assert_eq!(expanded("", &["code\n//!slot b"]).unwrap_err(), "a line in front of all slots: code");
        assert_eq!(expanded("//!insert a", &["//!slot a\n//!insert a"]).unwrap_err(), "a slot in itself: a");
    }

    #[test]
    fn what_is_no_directive_and_what_is_left_open() {
        for line in ["//!iff YES", "//!if", "//!for each k", "//!slot a", "//!end YES", "//!"] {
            let line: &'static str = line;
            assert_eq!(expanded(line, &[]).unwrap_err(), format!("an unknown directive: {line}"));
        }
        for line in ["//!if YES", "//!for k", "//!with YES"] {
            assert_eq!(expanded(line, &[]).unwrap_err(), format!("a block without an end: {line}"));
        }
        assert_eq!(expanded("//!if YES\n//!else", &[]).unwrap_err(), "a block without an end: //!if YES");
        assert_eq!(
            expanded("//!for k\n//!else\n//!end", &[]).unwrap_err(),
            "a block without an end: //!for k"
        );
        for line in ["end", "else"] {
            let text = if line == "end" { "//!end" } else { "//!else" };
            assert_eq!(expanded(text, &[]).unwrap_err(), format!("nothing is open here: {line}"));
        }
    }
}
