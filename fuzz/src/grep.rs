//! Patterns of `swalign grep` in a text: the scan finds the lines of the specification. The first byte sets the edits
//! and how patterns are read. Then come the patterns, one per line, an empty line, and the text.

use swalign::engine::cpu::simd::InstructionSet;
use swalign::patterns::lines::pattern::{GrepPattern as Pattern, PatternSyntax as Reading};
use swalign::patterns::lines::plain;
use swalign::patterns::lines::sliced::SlicedLineScan as Sliced;
use swalign::patterns::search::MatchRule as Rule;

/// Runs the target on one input.
pub fn run(data: &[u8]) {
    let Some((&flags, rest)) = data.split_first() else { return };
    let reading = Reading { literal: flags & 1 == 1, any_case: flags & 2 == 2 };
    let rule = Rule { max_edits: u32::from(flags >> 3), indels: flags & 4 == 0 };
    let behind = rest.windows(2).position(|pair| pair == b"\n\n").unwrap_or(rest.len());
    let (lines, text) = rest.split_at(behind);
    let patterns: Vec<Pattern> =
        lines.split(|&byte| byte == b'\n').filter_map(|line| Pattern::new(line, reading).ok()).collect();
    let text = text.get(2..).unwrap_or_default();
    let expected = plain::lines(text, &patterns, &rule);
    for chunk in [None, Some(5)] {
        let sliced = Sliced::new(InstructionSet::best(), &patterns, rule);
        let sliced = match chunk {
            Some(chunk) => sliced.with_chunks(chunk),
            None => sliced,
        };
        assert_eq!(sliced.lines(text), expected, "chunks {chunk:?}");
    }
}
