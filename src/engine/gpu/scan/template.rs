//! The template language of the scan's kernels: a line that begins with `//!` is a directive. `if FLAG`, `else`
//! and `end` choose, `for LOOP` repeats; loops may stand in loops. `$name` is what a loop, or the kernel,
//! gives that name.

use crate::engine::gpu::shader::{block, directive};
use std::collections::HashMap;

/// What names stand for.
pub type Names = Vec<(&'static str, String)>;

/// What the directives of a kernel mean.
#[derive(Clone, Debug, Default)]
pub struct Meaning {
    /// The flags that are set.
    pub flags: Vec<&'static str>,
    /// For each loop the names of each of its rounds.
    pub loops: HashMap<&'static str, Vec<Names>>,
    /// Names that hold everywhere.
    pub names: Names,
}

impl Meaning {
    /// The text of a template.
    pub fn expand(&self, template: &str) -> String {
        let lines: Vec<&str> = template.lines().collect();
        let mut text = String::new();
        self.expand_lines(&lines, &self.names, &mut text);
        text
    }

    fn expand_lines(&self, lines: &[&str], names: &Names, text: &mut String) {
        let mut next = 0;
        while next < lines.len() {
            let Some(directive) = directive(lines[next]) else {
                push_line(lines[next], names, text);
                next += 1;
                continue;
            };
            let (middle, end) = block(lines, next);
            let body = &lines[next + 1..middle];
            if let Some(rounds) = directive.strip_prefix("for ").and_then(|name| self.loops.get(name)) {
                for round in rounds {
                    self.expand_lines(body, &[round.as_slice(), names].concat(), text);
                }
            } else if directive.strip_prefix("if ").is_some_and(|flag| self.flags.contains(&flag)) {
                self.expand_lines(body, names, text);
            } else if middle < end {
                self.expand_lines(&lines[middle + 1..end], names, text);
            }
            next = end + 1;
        }
    }
}

/// Puts a line with its names, of which one may begin another: the longest first.
fn push_line(line: &str, names: &Names, text: &mut String) {
    let mut parts = line.split('$');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let fits = names.iter().filter(|(name, _)| part.starts_with(name));
        match fits.max_by_key(|(name, _)| name.len()) {
            Some((name, value)) => {
                text.push_str(value);
                text.push_str(&part[name.len()..]);
            }
            None => {
                text.push('$');
                text.push_str(part);
            }
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_names() {
        let round = |k: usize| vec![("k", k.to_string()), ("kind", format!("<{k}>"))];
        let column = |c: usize| vec![("c", c.to_string())];
        let loops = HashMap::from([("k", vec![round(0), round(1)]), ("c", vec![column(5), column(6)])]);
        let meaning = Meaning { flags: vec!["YES"], loops, names: vec![("end", "z".to_string())] };
        let text = "//!for k\na$k $kind\n//!for c\n$k$c$end\n//!end\n//!end\n//!if NO\nno\n//!else\n//!if YES\nyes\n//!end\n//!end\n$$";
        assert_eq!(meaning.expand(text), "a0 <0>\n05z\n06z\na1 <1>\n15z\n16z\nyes\n$$\n");
    }
}
