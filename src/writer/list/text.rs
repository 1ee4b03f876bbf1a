//! Alignments to read: blocks of three lines, as wide as the terminal.

use super::numbers::{bits_text, evalue_text};
use super::shown::{ColumnKind, ColumnShown, GAP, QueryTold, ShownHit};
use crate::alignment::Strand;
use crate::alphabet::Alphabet;
use crate::options::PageOptions;
use std::fmt::Write;

/// Columns of letters at least, however narrow the terminal is.
const LEAST: usize = 20;
const RED: &str = "\x1b[31m";
const YELLOW: &str = "\x1b[33m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// An alignment in blocks.
pub struct Blocks<'a> {
    /// What the two sequences are called, equally long.
    pub labels: [&'static str; 2],
    pub alphabet: Alphabet,
    /// First and last letter of each, from 1, in the direction of the columns.
    pub query: (u64, u64),
    pub target: (u64, u64),
    pub columns: &'a [ColumnShown],
    /// Whether letters of each are numbered downwards.
    pub descends: [bool; 2],
}

/// One of the two sequences of a block: its label, and the number of its next letter.
struct Side {
    label: &'static str,
    next: u64,
    descends: bool,
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
    let title = if hit.title.is_empty() { &hit.name } else { &hit.title };
    line(text, format_args!("> {} ({} letters)", painted(page, BOLD, title), hit.target_len));
    let significance = hit.significance.map_or(String::new(), |(bits, evalue)| {
        format!(" ({} bits), E-value {}", bits_text(bits), evalue_text(evalue))
    });
    let strand = match (hit.alphabet, hit.strand) {
        (Alphabet::Protein, _) => "",
        (Alphabet::Dna, Strand::Forward) => ", strand +",
        (Alphabet::Dna, Strand::Reverse) => ", strand -",
    };
    line(text, format_args!("Score {}{significance}{strand}", hit.score));
    let columns = kinds.columns();
    let share = |part: u32| {
        format!("{part}/{columns} ({:.1} %)", 100.0 * f64::from(part) / f64::from(columns.max(1)))
    };
    let positives = match hit.alphabet {
        Alphabet::Protein => format!(", positives {}", share(kinds.positives)),
        Alphabet::Dna => String::new(),
    };
    let gaps = if kinds.gapped > 0 { format!(", gaps {}", share(kinds.gapped)) } else { String::new() };
    let coverage = hit.covered(query.len);
    line(
        text,
        format_args!("Identities {}{positives}{gaps}, query {coverage:.1} % covered\n", share(kinds.matches)),
    );
    let (first, last) = hit.target_ends();
    let blocks = Blocks {
        labels: ["Query ", "Target"],
        alphabet: hit.alphabet,
        query: (u64::from(hit.query.0) + 1, hit.query.1.into()),
        target: (first.into(), last.into()),
        columns: &hit.columns,
        descends: [false, hit.strand == Strand::Reverse],
    };
    push_blocks(text, page, &blocks);
}

/// Appends an alignment in blocks.
pub fn push_blocks(text: &mut String, page: &PageOptions, blocks: &Blocks) {
    let Blocks { labels, alphabet, query, target, columns, descends } = *blocks;
    let digits = [query.0, query.1, target.0, target.1].map(|end| end.to_string().len());
    let digits = digits.into_iter().max().unwrap_or(1);
    let label = labels[0].len();
    // The label, a space, the number, a space, letters, a space, the number.
    let letters = page.width.saturating_sub(2 * digits + label + 3).max(LEAST);
    let mut query = Side { label: labels[0], next: query.0, descends: descends[0] };
    let mut target = Side { label: labels[1], next: target.0, descends: descends[1] };
    for block in columns.chunks(letters) {
        query.push(text, page, digits, block, |column| column.query);
        let signs: String = block.iter().map(|column| sign(alphabet, column)).collect();
        line(text, format_args!("{:width$}{}", "", signs.trim_end(), width = digits + label + 2));
        target.push(text, page, digits, block, |column| column.target);
        text.push('\n');
    }
}

/// What stands between two letters: of proteins the letter where they are equal, and + for a positive score.
fn sign(alphabet: Alphabet, column: &ColumnShown) -> char {
    match (column.kind, alphabet) {
        (ColumnKind::Equal, Alphabet::Protein) => char::from(column.query),
        (ColumnKind::Equal, Alphabet::Dna) => '|',
        (ColumnKind::Positive, _) => '+',
        _ => ' ',
    }
}

impl Side {
    /// A line of a block. A line without letters, where all is a gap, has the number of the letter before it twice.
    fn push(
        &mut self,
        text: &mut String,
        page: &PageOptions,
        digits: usize,
        block: &[ColumnShown],
        letter: impl Fn(&ColumnShown) -> u8,
    ) {
        let taken = block.iter().filter(|column| letter(column) != GAP).count() as u64;
        let step = |number: u64, by: u64| if self.descends { number.saturating_sub(by) } else { number + by };
        let next = step(self.next, taken);
        let first = if taken > 0 { self.next } else { self.before() };
        let shown: String = block.iter().map(|column| shown_letter(page, column, letter(column))).collect();
        self.next = next;
        line(text, format_args!("{} {first:>digits$} {shown} {}", self.label, self.before()));
    }

    /// The number of the last letter.
    fn before(&self) -> u64 {
        if self.descends { self.next + 1 } else { self.next.saturating_sub(1) }
    }
}

/// Text in a colour, where there are any.
fn painted(page: &PageOptions, colour: &str, text: &str) -> String {
    if page.colour { format!("{colour}{text}{PLAIN}") } else { text.to_string() }
}

fn shown_letter(page: &PageOptions, column: &ColumnShown, letter: u8) -> String {
    let text = char::from(letter).to_string();
    match column.kind {
        ColumnKind::Unequal => painted(page, RED, &text),
        ColumnKind::Insertion | ColumnKind::Deletion => painted(page, YELLOW, &text),
        ColumnKind::Equal | ColumnKind::Positive => text,
    }
}

/// Appends a line.
pub fn line(text: &mut String, content: std::fmt::Arguments) {
    // A string takes all.
    let _ = text.write_fmt(content);
    text.push('\n');
}
