//! Patterns of `swalign search` in a text: rust-bio's Ukkonen and all scans find the ends of the specification, and paths
//! are those of the specification. The first byte sets the edits and whether gaps are allowed. Then come the patterns, one per line, an
//! empty line, and the text.

use bio::pattern_matching::ukkonen::Ukkonen;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::patterns::search::align::align;
use swalign::patterns::search::codes::TextCodes as Codes;
use swalign::patterns::search::exact::Exact;
use swalign::patterns::search::pattern::SearchPattern as Pattern;
use swalign::patterns::search::plain::{self, PlainScan as Plain};
use swalign::patterns::search::sliced::SlicedScan as Sliced;
use swalign::patterns::search::stream::plain_codes;
use swalign::patterns::search::{EndScan as Scan, MatchRule as Rule};
use swalign::terms::alphabet::Alphabet;

/// Maximum number of paths to compare, because the specification is slow.
const PATHS: usize = 50;

/// Runs the target on one input.
pub fn run(data: &[u8]) {
    let Some((&rule, rest)) = data.split_first() else { return };
    let rule = Rule { max_edits: u32::from(rule >> 1), indels: rule & 1 == 0 };
    let behind = rest.windows(2).position(|pair| pair == b"\n\n").unwrap_or(rest.len());
    let (lines, text) = rest.split_at(behind);
    let patterns: Vec<Vec<u8>> = lines
        .split(|&byte| byte == b'\n')
        .filter_map(|line| Pattern::new(String::new(), line).ok())
        .filter(|pattern| !pattern.letters.is_empty())
        .map(|pattern| pattern.classes())
        .collect();
    let letters: Vec<u8> = text.iter().copied().filter(u8::is_ascii_graphic).collect();
    let mut text = Vec::new();
    if Alphabet::Dna.encode(&letters, &mut text).is_err() {
        return;
    }
    plain_codes(&mut text);
    let codes = Codes::of(&text);
    let expected = Plain.scan(&codes, &patterns, &rule).expect("ends");
    let mut ukkonen = Ukkonen::with_capacity(64, |class, code| u32::from(u32::from(class) >> code & 1 == 0));
    ukkonen.allow_indels(rule.indels);
    for (pattern, number) in patterns.iter().zip(0..) {
        // rust-bio has no end before the first base, which has as many edits as the pattern has bases.
        let of_pattern = expected.iter().filter(|end| end.pattern == number && end.end > 0);
        let of_pattern = of_pattern.map(|end| (end.end as usize - 1, end.edits as usize));
        assert!(
            ukkonen.find_all_end(pattern, &text, rule.max_edits as usize).eq(of_pattern),
            "rust-bio, {number}"
        );
    }
    let set = InstructionSet::best();
    let scans: [&dyn Scan; 3] = [&Sliced::on(set), &Sliced::with_chunks(set, 3), &Exact::always(set)];
    for (number, scan) in scans.iter().enumerate() {
        assert_eq!(scan.scan(&codes, &patterns, &rule).expect("ends"), expected, "scan {number}");
    }
    for end in expected.iter().take(if rule.indels { PATHS } else { 0 }) {
        let pattern = &patterns[end.pattern as usize];
        let found = align(pattern, &text, end.end as usize, end.edits);
        assert_eq!(found, Some(plain::align(pattern, &text, end.end as usize)));
    }
}
