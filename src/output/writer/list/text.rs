//! Readable alignments: blocks of three lines, as wide as the terminal.

use super::numbers::{bits_text, evalue_text};
use super::shown::{QueryShown, QueryTold, SHIFT_SIGNS, ShownHit};
use crate::align::identity::Identity;
use crate::input::reader::FileRecord;
use crate::output::writer::targets::HitTarget;
use crate::terms::alignment::{Alignment, ColumnOp, ColumnShown, GAP};
use crate::terms::alphabet::Alphabet;
use crate::terms::options::PageOptions;
use crate::terms::scoring::Scoring;
use std::fmt::Write;

/// Minimum number of residue columns, even if the terminal is narrower.
const LEAST: usize = 20;
const RED: &str = "\x1b[31m";
const YELLOW: &str = "\x1b[33m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// An alignment to be printed in blocks.
pub struct AlignmentBlocks<'a> {
    /// Labels of the two sequences, of equal length.
    pub labels: [&'static str; 2],
    pub alphabet: Alphabet,
    /// 1-based positions of the first and last residue of each sequence, in the direction of the columns.
    pub query: (u64, u64),
    pub target: (u64, u64),
    pub columns: &'a [ColumnShown],
    /// Whether the positions of each sequence descend.
    pub descends: [bool; 2],
    /// Letters of each sequence for a residue in the columns: 3 for a translation.
    pub steps: [u64; 2],
}

/// One of the two sequences of a block: its label, and the position of its next residue.
struct BlockSide {
    label: &'static str,
    next: u64,
    descends: bool,
    /// Letters of each residue.
    step: u64,
}

/// Appends a query and its hits.
pub fn push(out: &mut Vec<u8>, page: &PageOptions, query: &QueryTold, hits: &[ShownHit]) {
    let mut text = String::new();
    let name = painted(page, BOLD, &query.shown_name());
    line(&mut text, format_args!("Query: {name} ({} letters)\n", query.len));
    if hits.is_empty() {
        line(&mut text, format_args!("No hits.\n"));
    }
    for hit in hits {
        push_hit(&mut text, page, query, hit);
    }
    out.extend_from_slice(text.as_bytes());
}

fn push_hit(text: &mut String, page: &PageOptions, query: &QueryTold, hit: &ShownHit) {
    let kinds = &hit.kinds;
    let title = if hit.title.is_empty() { hit.name } else { hit.title };
    let told = folded(&format!("{title} ({} letters)", hit.target_len), (2, page.width));
    let (title, letters) = told.split_at(title.len());
    line(text, format_args!("> {}{letters}", painted(page, BOLD, title)));
    let significance = hit.significance.map_or(String::new(), |(bits, evalue)| {
        format!(" ({} bits), E-value {}", bits_text(bits), evalue_text(evalue))
    });
    let target_frame = hit.target_frame.and_then(|frame| frame.frame_from(0));
    let strand = match (hit.alphabet, hit.frame, target_frame) {
        (Alphabet::Protein, None, None) => String::new(),
        (Alphabet::Protein, Some(frame), None) => format!(", frame {frame:+}"),
        (Alphabet::Protein, None, Some(frame)) => format!(", target frame {frame:+}"),
        (Alphabet::Protein, Some(frame), Some(target)) => {
            format!(", frame {frame:+}, target frame {target:+}")
        }
        (Alphabet::Dna, ..) => format!(", strand {}", if hit.is_minus() { '-' } else { '+' }),
    };
    line(text, format_args!("Score {}{significance}{strand}", hit.score));
    let columns = kinds.counts.columns();
    let share =
        |part: u64| format!("{part}/{columns} ({:.1} %)", 100.0 * part as f64 / columns.max(1) as f64);
    let positives = match hit.alphabet {
        Alphabet::Protein => format!(", positives {}", share(kinds.positives)),
        Alphabet::Dna => String::new(),
    };
    let gapped = kinds.counts.gapped();
    let gaps = if gapped > 0 { format!(", gaps {}", share(gapped)) } else { String::new() };
    let coverage = hit.covered(query.len);
    let Identity { equal, of } = hit.identity;
    let equal = format!("{equal}/{of} ({:.1} %)", hit.identity.percent());
    let counts = format!("Identities {equal}{positives}{gaps}, query {coverage:.1} % covered");
    line(text, format_args!("{}\n", folded(&counts, (0, page.width))));
    push_columns(text, page, hit);
}

/// Appends the columns of a hit in blocks.
fn push_columns(text: &mut String, page: &PageOptions, hit: &ShownHit) {
    let ((query_first, query_last), (first, last)) = (hit.query_ends(), hit.target_ends());
    let (is_translated, columns) = (hit.strand.is_translated(), hit.columns_and_shifts());
    let blocks = AlignmentBlocks {
        labels: ["Query ", "Target"],
        alphabet: hit.alphabet,
        query: (query_first.into(), query_last.into()),
        target: (first.into(), last.into()),
        columns: &columns,
        descends: [is_translated && hit.strand.is_minus(), hit.target_descends()],
        steps: [is_translated, hit.target_frame.is_some()]
            .map(|is_translated| if is_translated { 3 } else { 1 }),
    };
    push_blocks(text, page, &blocks);
}

/// The first `most` columns of an alignment of a read, in blocks.
pub fn drawn(
    scoring: &Scoring,
    read: &FileRecord,
    (alignment, target): (&Alignment, HitTarget),
    (page, most): (&PageOptions, usize),
) -> String {
    let mut read = QueryShown::new(read, None, scoring.alphabet, None);
    let mut hit = ShownHit::new(scoring, &mut read, alignment, target);
    hit.columns.truncate(most);
    let mut text = String::new();
    push_columns(&mut text, page, &hit);
    text
}

/// Replaces spaces by line breaks so that lines have at most `width` characters, unless a word is longer. The first
/// line starts at column `column`. The length of the text does not change.
fn folded(text: &str, (mut column, width): (usize, usize)) -> String {
    let mut folded = String::with_capacity(text.len());
    for (at, word) in text.split(' ').enumerate() {
        let letters = word.chars().count();
        let fits = column + 1 + letters <= width;
        if at > 0 {
            folded.push(if fits { ' ' } else { '\n' });
        }
        column = match (at, fits) {
            (0, _) => column + letters,
            (_, true) => column + 1 + letters,
            (_, false) => letters,
        };
        folded.push_str(word);
    }
    folded
}

/// Appends an alignment in blocks.
pub fn push_blocks(text: &mut String, page: &PageOptions, blocks: &AlignmentBlocks) {
    let AlignmentBlocks { labels, alphabet, query, target, columns, descends, steps } = *blocks;
    let digits = [query.0, query.1, target.0, target.1].map(|end| end.to_string().len());
    let digits = digits.into_iter().max().unwrap_or(1);
    let label = labels[0].len();
    // A line is the label, a space, the position, a space, residues, a space, and the position.
    let letters = page.width.saturating_sub(2 * digits + label + 3).max(LEAST);
    let mut query = BlockSide { label: labels[0], next: query.0, descends: descends[0], step: steps[0] };
    let mut target = BlockSide { label: labels[1], next: target.0, descends: descends[1], step: steps[1] };
    for block in columns.chunks(letters) {
        query.push(text, page, digits, block, |column| column.query);
        let signs: String = block.iter().map(|column| sign(alphabet, column)).collect();
        line(text, format_args!("{:width$}{}", "", signs.trim_end(), width = digits + label + 2));
        target.push(text, page, digits, block, |column| column.target);
        text.push('\n');
    }
}

/// The sign between two residues. For proteins it is the residue if both are equal, and + for a positive score.
fn sign(alphabet: Alphabet, column: &ColumnShown) -> char {
    match (column.op, alphabet) {
        (ColumnOp::Equal, Alphabet::Protein) => char::from(column.query),
        (ColumnOp::Equal, Alphabet::Dna) => '|',
        (ColumnOp::Unequal, _) if column.is_positive => '+',
        _ => ' ',
    }
}

impl BlockSide {
    /// Appends a line of a block. A line that is all gap shows the position of the residue before it twice.
    fn push(
        &mut self,
        text: &mut String,
        page: &PageOptions,
        digits: usize,
        block: &[ColumnShown],
        letter: impl Fn(&ColumnShown) -> u8,
    ) {
        let count = |of: &[u8]| block.iter().filter(|column| of.contains(&letter(column))).count() as u64;
        let [left_out, twice] = SHIFT_SIGNS.map(|sign| count(&[sign]));
        let taken = block.len() as u64 - count(&[GAP]) - left_out - twice;
        let letters = taken * self.step + left_out;
        let step = |number: u64, by: u64| if self.descends { number.saturating_sub(by) } else { number + by };
        let next = step(self.next, letters.saturating_sub(twice));
        let first = if taken > 0 { self.next } else { self.before() };
        let shown = shown_letters(page, block, letter);
        self.next = next;
        line(text, format_args!("{} {first:>digits$} {shown} {}", self.label, self.before()));
    }

    /// The position of the last residue.
    fn before(&self) -> u64 {
        if self.descends { self.next + 1 } else { self.next.saturating_sub(1) }
    }
}

/// Text in a color, if colors are enabled.
fn painted(page: &PageOptions, colour: &str, text: &str) -> String {
    if page.colour { format!("{colour}{text}{PLAIN}") } else { text.to_string() }
}

/// The residues of a line. Adjacent residues of one color share an escape sequence.
fn shown_letters(page: &PageOptions, block: &[ColumnShown], letter: impl Fn(&ColumnShown) -> u8) -> String {
    let runs = block.chunk_by(|one, other| colour_of(one) == colour_of(other));
    let shown = runs.map(|run| {
        let letters: String = run.iter().map(|column| char::from(letter(column))).collect();
        match colour_of(&run[0]) {
            Some(colour) => painted(page, colour, &letters),
            None => letters,
        }
    });
    shown.collect()
}

fn colour_of(column: &ColumnShown) -> Option<&'static str> {
    match column.op {
        ColumnOp::Unequal => (!column.is_positive).then_some(RED),
        ColumnOp::Insertion | ColumnOp::Deletion => Some(YELLOW),
        ColumnOp::Equal => None,
    }
}

/// Appends a line.
pub fn line(text: &mut String, content: std::fmt::Arguments) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(content);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of two aligned texts; `+` marks a positive score.
    fn columns(query: &str, kinds: &str, target: &str) -> Vec<ColumnShown> {
        let op = |letter| match letter {
            '=' => ColumnOp::Equal,
            '+' | 'X' => ColumnOp::Unequal,
            'I' => ColumnOp::Insertion,
            _ => ColumnOp::Deletion,
        };
        let both = query.bytes().zip(target.bytes()).zip(kinds.chars());
        let column = |((query, target), letter)| ColumnShown {
            query,
            target,
            op: op(letter),
            is_positive: letter == '+',
        };
        both.map(column).collect()
    }

    fn shown(page: PageOptions, alphabet: Alphabet, columns: &[ColumnShown]) -> String {
        let mut text = String::new();
        let blocks = AlignmentBlocks {
            labels: ["Query ", "Target"],
            alphabet,
            query: (9, 31),
            target: (1_000, 978),
            columns,
            descends: [false, true],
            steps: [1, 1],
        };
        push_blocks(&mut text, &page, &blocks);
        text
    }

    /// Lines are as wide as the page and columns are aligned; a narrow page still has 20 residues per line.
    #[test]
    fn blocks_are_as_wide_as_the_page() {
        let aligned =
            columns("ACGTACGTACGTACGTACGT--ACG", "====X===============DD===", "ACGTTCGTACGTACGTACGTGGACG");
        for (width, letters) in [(0, 20), (37, 20), (38, 21), (40, 23), (80, 25)] {
            let page = PageOptions { width, colour: false };
            let text = shown(page, Alphabet::Dna, &aligned);
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines.len(), 4 * 25usize.div_ceil(letters), "{width}");
            assert!(lines.iter().all(|line| line.len() <= width.max(37)), "{width}: {text}");
            assert!(
                lines[0].starts_with("Query     9 ACGT") && lines[2].starts_with("Target 1000 ACGT"),
                "{text}"
            );
            assert!(lines[1].starts_with("            |||| ||||"), "{text}");
        }
    }

    #[test]
    fn lines_are_folded_between_words() {
        let text = "sp|P12345 a protein  of étoiles, andalongwordthatfitsnowhere (12 letters)";
        assert_eq!(
            folded(text, (2, 20)),
            "sp|P12345 a\nprotein  of étoiles,\nandalongwordthatfitsnowhere\n(12 letters)"
        );
        assert_eq!(folded(text, (2, 200)), text);
        assert_eq!(folded("x", (2, 0)), "x");
        assert_eq!(folded("", (0, 80)), "");
    }

    /// Each run of one color has one escape sequence, and only on a terminal.
    #[test]
    fn colours_are_those_of_runs() {
        let aligned = columns("AC--GTTKA", "=XDDIIX+=", "AGTT--CRA");
        let lines = |colour| {
            let text = shown(PageOptions { width: 80, colour }, Alphabet::Protein, &aligned);
            text.lines().map(str::to_string).collect::<Vec<_>>()
        };
        let plain = ["Query     9 AC--GTTKA 15", "            A      +A", "Target 1000 AGTT--CRA 994", ""];
        assert_eq!(lines(false), plain);
        let (red, yellow, plain) = (RED, YELLOW, PLAIN);
        let query = format!("Query     9 A{red}C{plain}{yellow}--GT{plain}{red}T{plain}KA 15");
        let target = format!("Target 1000 A{red}G{plain}{yellow}TT--{plain}{red}C{plain}RA 994");
        assert_eq!(lines(true), [&query, "            A      +A", &target, ""]);
    }
}
