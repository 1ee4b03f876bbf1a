//! Patterns and texts for `swalign grep`, and cases of another program's tests.

use super::random::Random;
use super::text as file;
use swalign::patterns::lines::pattern::{GrepPattern, PatternSyntax};
use swalign::patterns::search::MatchRule;
use swalign::terms::options::{OccurrenceRule, WordPosition};

pub const LITERAL: PatternSyntax = PatternSyntax { literal: true, any_case: false };

pub fn pattern(text: &[u8]) -> GrepPattern {
    GrepPattern::new(text, PatternSyntax::default())
        .unwrap_or_else(|fault| panic!("{}: {fault:?}", text.escape_ascii()))
}

/// A text of few distinct bytes, so that matches occur. One byte in `every` is a newline.
pub fn text(random: &mut Random, len: usize, every: usize) -> Vec<u8> {
    let letter = |random: &mut Random| random.pick(b"abAB.\0\r\xe9");
    (0..len).map(|_| if random.below(every) == 0 { b'\n' } else { letter(random) }).collect()
}

/// A literal pattern from the text, without newlines, with up to `edits` substitutions. Padded if the text is too
/// short.
pub fn planted(random: &mut Random, text: &[u8], len: usize, edits: usize) -> Vec<u8> {
    let begin = random.below(text.len() + 1 - len.min(text.len()));
    let stretch = &text[begin..(begin + len).min(text.len())];
    let mut letters: Vec<u8> = stretch.iter().map(|&byte| if byte == b'\n' { b'b' } else { byte }).collect();
    letters.resize(len, b'a');
    for _ in 0..edits {
        let place = random.below(letters.len());
        letters[place] = random.pick(b"abABx");
    }
    letters
}

/// All rules of words in lines.
pub fn word_rules() -> Vec<OccurrenceRule> {
    let places = [WordPosition::Anywhere, WordPosition::Start, WordPosition::Line];
    let flags = [(false, false), (false, true), (true, false), (true, true)];
    let of = |place| flags.map(|(whole_words, any_case)| OccurrenceRule { place, whole_words, any_case });
    places.into_iter().flat_map(of).collect()
}

/// Up to three patterns of up to 13 classes.
pub fn patterns_of_classes(random: &mut Random) -> Vec<GrepPattern> {
    let places: [&[u8]; 12] =
        [b"a", b"b", b".", b"\\.", b"[ab]", b"[^a]", b"\\w", b"\\W", b"\\s", b"[A-B]", b"\\x00", b"\\xe9"];
    let reading = PatternSyntax { literal: false, any_case: random.below(2) == 0 };
    (0..random.below(4))
        .map(|_| {
            let len = random.below(14);
            let letters: Vec<u8> = (0..len).flat_map(|_| random.pick(&places).to_vec()).collect();
            GrepPattern::new(&letters, reading).unwrap()
        })
        .collect()
}

/// A case from TRE's own tests whose pattern is a sequence of classes (tests/golden/README.md).
pub struct TreCase {
    pub row: String,
    pub pattern: GrepPattern,
    pub rule: MatchRule,
    pub line: Vec<u8>,
    pub matches: bool,
}

pub fn tre_cases() -> Vec<TreCase> {
    let table = file("tests/golden/tre_lines.tsv");
    let case = |row: &str| {
        let fields: Vec<&str> = row.split('\t').collect();
        let [letters, edits, indels, line, expected] = fields[..] else { panic!("{row}") };
        TreCase {
            row: row.to_string(),
            pattern: pattern(letters.as_bytes()),
            rule: MatchRule { max_edits: edits.parse().unwrap(), indels: indels == "yes" },
            line: line.as_bytes().to_vec(),
            matches: expected == "match",
        }
    };
    let cases: Vec<TreCase> = table.lines().skip(1).map(case).collect();
    assert!(cases.len() >= 8, "{}", cases.len());
    cases
}
