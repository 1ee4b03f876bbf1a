//! Alignments to read: blocks of three lines, as wide as the terminal.

use super::numbers::{bits_text, evalue_text};
use super::shown::{ColumnKind, ColumnShown, GAP, QueryShown, ShownHit};
use crate::alignment::Strand;
use crate::alphabet::Alphabet;
use std::fmt::Write;

/// Columns of letters at least, however narrow the terminal is.
const LEAST: usize = 20;
const RED: &str = "\x1b[31m";
const YELLOW: &str = "\x1b[33m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// Where the text goes.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// In columns.
    pub width: usize,
    pub colour: bool,
}

/// One of the two sequences of a block: its label, and the number of its next letter.
struct Side {
    label: &'static str,
    next: u32,
    descends: bool,
}

/// Appends a query and its hits.
pub fn push(out: &mut Vec<u8>, page: &Page, query: &QueryShown, hits: &[ShownHit]) {
    let mut text = String::new();
    let name = page.painted(BOLD, &query.name());
    line(&mut text, format_args!("Query: {name} ({} letters)\n", query.len()));
    if hits.is_empty() {
        line(&mut text, format_args!("No hits.\n"));
    }
    for hit in hits {
        push_hit(&mut text, page, query, hit);
    }
    out.extend_from_slice(text.as_bytes());
}

fn push_hit(text: &mut String, page: &Page, query: &QueryShown, hit: &ShownHit) {
    let kinds = &hit.kinds;
    let title = if hit.title.is_empty() { hit.name } else { hit.title };
    line(text, format_args!("> {} ({} letters)", page.painted(BOLD, title), hit.target_len));
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
    let coverage = hit.covered(query.len());
    line(
        text,
        format_args!("Identities {}{positives}{gaps}, query {coverage:.1} % covered\n", share(kinds.matches)),
    );
    push_blocks(text, page, hit);
}

/// The alignment in blocks.
fn push_blocks(text: &mut String, page: &Page, hit: &ShownHit) {
    let digits = [hit.query.1, hit.target.1].map(|end| end.to_string().len()).into_iter().max().unwrap_or(1);
    // "Target", a space, the number, a space, letters, a space, the number.
    let letters = page.width.saturating_sub(2 * digits + 9).max(LEAST);
    let mut query = Side { label: "Query ", next: hit.query.0 + 1, descends: false };
    let mut target =
        Side { label: "Target", next: hit.target_ends().0, descends: hit.strand == Strand::Reverse };
    for block in hit.columns.chunks(letters) {
        query.push(text, page, digits, block, |column| column.query);
        let signs: String = block.iter().map(|column| sign(hit.alphabet, column)).collect();
        line(text, format_args!("{:width$}{}", "", signs.trim_end(), width = digits + 8));
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
        page: &Page,
        digits: usize,
        block: &[ColumnShown],
        letter: impl Fn(&ColumnShown) -> u8,
    ) {
        let taken = block.iter().filter(|column| letter(column) != GAP).count() as u32;
        let step = |number: u32, by: u32| if self.descends { number.saturating_sub(by) } else { number + by };
        let next = step(self.next, taken);
        let first = if taken > 0 { self.next } else { self.before() };
        let shown: String = block.iter().map(|column| page.letter(column, letter(column))).collect();
        self.next = next;
        line(text, format_args!("{} {first:>digits$} {shown} {}", self.label, self.before()));
    }

    /// The number of the last letter.
    fn before(&self) -> u32 {
        if self.descends { self.next + 1 } else { self.next.saturating_sub(1) }
    }
}

impl Page {
    fn painted(&self, colour: &str, text: &str) -> String {
        if self.colour { format!("{colour}{text}{PLAIN}") } else { text.to_string() }
    }

    fn letter(&self, column: &ColumnShown, letter: u8) -> String {
        let text = char::from(letter).to_string();
        match column.kind {
            ColumnKind::Unequal => self.painted(RED, &text),
            ColumnKind::Insertion | ColumnKind::Deletion => self.painted(YELLOW, &text),
            ColumnKind::Equal | ColumnKind::Positive => text,
        }
    }
}

fn line(text: &mut String, content: std::fmt::Arguments) {
    // A string takes all.
    let _ = text.write_fmt(content);
    text.push('\n');
}
