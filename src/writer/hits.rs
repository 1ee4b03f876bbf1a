//! The hits of a search as lines.

use super::line::{REVERSE, SECONDARY};
use super::list::shown::{ColumnKind, ColumnShown, GAP};
use super::list::text::{Blocks, line, push_blocks};
use crate::alignment::Strand;
use crate::alphabet::Alphabet;
use crate::alphabet::reverse_complement;
use crate::options::{PageOptions, SearchFormat};
use crate::search::align::{Path, Step};
use crate::search::hits::Hit;
use crate::search::pattern::Pattern;
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write;
use std::ops::Range;

pub use super::header::of_search as sam_header;

/// Writes lines of one format into a buffer, which can't fail.
#[derive(Clone, Debug)]
pub struct HitLines<'a> {
    format: SearchFormat,
    patterns: &'a [Pattern],
    /// For SAM: the patterns that have a record, whose further ones are secondary.
    seen: Vec<bool>,
    page: PageOptions,
}

/// A text, as its hits show it.
#[derive(Clone, Copy, Debug)]
pub struct TextShown<'a> {
    pub name: &'a str,
    pub letters: LettersShown<'a>,
}

/// The letters of a text.
#[derive(Clone, Copy, Debug)]
pub enum LettersShown<'a> {
    /// As they are shown.
    Written(&'a [u8]),
    /// Codes of DNA.
    Codes(&'a [u8]),
}

impl<'a> LettersShown<'a> {
    /// Some of them.
    fn within(self, places: Range<usize>) -> Cow<'a, [u8]> {
        match self {
            LettersShown::Written(letters) => letters[places].into(),
            LettersShown::Codes(codes) => {
                let letters = Alphabet::Dna.letters();
                codes[places].iter().map(|&code| letters[usize::from(code)]).collect()
            }
        }
    }

    fn len(self) -> usize {
        match self {
            LettersShown::Written(letters) => letters.len(),
            LettersShown::Codes(codes) => codes.len(),
        }
    }
}

impl<'a> HitLines<'a> {
    pub fn new(format: SearchFormat, page: PageOptions, patterns: &'a [Pattern]) -> HitLines<'a> {
        let seen = if format == SearchFormat::Sam { vec![false; patterns.len()] } else { Vec::new() };
        HitLines { format, patterns, seen, page }
    }

    /// The first line, where the format has one. `invert` is for texts instead of hits.
    pub fn header(&self, invert: bool) -> &'static str {
        match self.format {
            SearchFormat::Tab if invert => "text\n",
            SearchFormat::Tab => "text\tstart\tend\tpattern\tstrand\tedits\tcigar\tmatch\n",
            SearchFormat::Count => "text\thits\n",
            SearchFormat::Bed | SearchFormat::Fasta | SearchFormat::Sam | SearchFormat::Text => "",
        }
    }

    /// A hit. Starts are 0-based and ends exclusive, on the forward strand.
    pub fn hit(&mut self, out: &mut Vec<u8>, text: TextShown, hit: &Hit) {
        let Hit { start, end, edits, .. } = *hit;
        let (name, pattern) = (text.name, &self.patterns[hit.pattern as usize].name);
        let strand = if hit.strand == Strand::Forward { '+' } else { '-' };
        let found = &*text.letters.within(start..end);
        match self.format {
            SearchFormat::Tab => {
                let cigar = cigar(&hit.path);
                put(out, format_args!("{name}\t{start}\t{end}\t{pattern}\t{strand}\t{edits}\t{cigar}\t"));
                put_line(out, found);
            }
            SearchFormat::Bed => {
                put(out, format_args!("{name}\t{start}\t{end}\t{pattern}\t{edits}\t{strand}\n"));
            }
            SearchFormat::Fasta => {
                let cigar = cigar(&hit.path);
                put(
                    out,
                    format_args!(
                        ">{name}:{start}-{end}({strand}) pattern={pattern} edits={edits} cigar={cigar}\n"
                    ),
                );
                match hit.strand {
                    Strand::Forward => put_line(out, found),
                    Strand::Reverse => put_line(out, &reverse_complement(&as_dna(found))),
                }
            }
            SearchFormat::Sam => self.sam(out, name, hit),
            SearchFormat::Text => self.alignment(out, text, hit),
            SearchFormat::Count => {}
        }
    }

    /// The alignment to read: the pattern forward, and of a hit on the reverse strand the text's reverse complement.
    fn alignment(&self, out: &mut Vec<u8>, text: TextShown, hit: &Hit) {
        let pattern = &self.patterns[hit.pattern as usize];
        let letters = match hit.strand {
            Strand::Forward => pattern.letters.clone(),
            Strand::Reverse => pattern.reverse_letters(),
        };
        let mut columns = columns(&letters, &text.letters.within(hit.start..hit.end), &hit.path);
        let (start, end) = (hit.start as u64 + 1, hit.end as u64);
        let mut place = (start, end);
        if hit.strand == Strand::Reverse {
            columns.reverse();
            columns.iter_mut().for_each(ColumnShown::complement);
            place = (end, start);
        }
        let descends = hit.strand == Strand::Reverse;
        let (sign, edits) = (if descends { '-' } else { '+' }, hit.edits);
        let mut block = String::new();
        let unit = if edits == 1 { "edit" } else { "edits" };
        let (name, of) = (&pattern.name, text.name);
        line(&mut block, format_args!("{name} in {of}, {start} to {end}, strand {sign}, {edits} {unit}\n"));
        let query = (1, letters.len() as u64);
        let (labels, alphabet) = (["Pattern", "Text   "], Alphabet::Dna);
        let blocks = Blocks { labels, alphabet, query, target: place, columns: &columns, descends };
        push_blocks(&mut block, &self.page, &blocks);
        out.extend_from_slice(block.as_bytes());
    }

    /// A record: the whole pattern is the read, in the text's orientation.
    fn sam(&mut self, out: &mut Vec<u8>, text: &str, hit: &Hit) {
        let pattern = &self.patterns[hit.pattern as usize];
        let (strand, letters) = match hit.strand {
            Strand::Forward => (0, as_dna(&pattern.letters)),
            Strand::Reverse => (REVERSE, pattern.reverse_letters()),
        };
        let seen = std::mem::replace(&mut self.seen[hit.pattern as usize], true);
        let flag = strand + if seen { SECONDARY } else { 0 };
        let (name, cigar) = (&pattern.name, cigar(&hit.path));
        put(out, format_args!("{name}\t{flag}\t{text}\t{}\t255\t{cigar}\t*\t0\t0\t", hit.start + 1));
        out.extend_from_slice(&letters);
        put(out, format_args!("\t*\tNM:i:{}\n", hit.edits));
    }

    /// A text after all of its hits.
    pub fn text(&self, out: &mut Vec<u8>, text: TextShown, hits: u64, invert: bool) {
        let name = text.name;
        match self.format {
            SearchFormat::Count => put(out, format_args!("{name}\t{hits}\n")),
            _ if !invert || hits > 0 => {}
            SearchFormat::Fasta => {
                put(out, format_args!(">{name}\n"));
                put_line(out, &text.letters.within(0..text.letters.len()));
            }
            _ => put(out, format_args!("{name}\n")),
        }
    }
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments) {
    // A vector takes all.
    let _ = out.write_fmt(text);
}

fn put_line(out: &mut Vec<u8>, letters: &[u8]) {
    out.extend_from_slice(letters);
    out.push(b'\n');
}

/// RNA's U as T.
fn as_dna(letters: &[u8]) -> Vec<u8> {
    letters.iter().map(|&letter| if letter == b'U' { b'T' } else { letter }).collect()
}

/// The columns of a path, in the text's direction.
fn columns(pattern: &[u8], text: &[u8], path: &Path) -> Vec<ColumnShown> {
    let (mut pattern, mut text) = (pattern.iter().copied(), text.iter().copied());
    let steps = path.iter().flat_map(|&(len, step)| (0..len).map(move |_| step));
    let column = |step| {
        let kind = match step {
            Step::Equal => ColumnKind::Equal,
            Step::Replaced => ColumnKind::Unequal,
            Step::Insertion => ColumnKind::Insertion,
            Step::Deletion => ColumnKind::Deletion,
        };
        let query = if step == Step::Deletion { GAP } else { pattern.next().unwrap_or(GAP) };
        let target = if step == Step::Insertion { GAP } else { text.next().unwrap_or(GAP) };
        ColumnShown { query, target, kind }
    };
    steps.map(column).collect()
}

/// The CIGAR of a path, with `=` and `X`.
pub fn cigar(path: &Path) -> String {
    let letter = |step: Step| match step {
        Step::Equal => '=',
        Step::Replaced => 'X',
        Step::Insertion => 'I',
        Step::Deletion => 'D',
    };
    path.iter().map(|&(len, step)| format!("{len}{}", letter(step))).collect()
}

/// Makes a primary record of SAM a secondary one where `seen`, the names of patterns with a record, has its pattern.
/// So the joined parts of a search have one primary record of each pattern.
pub fn demote(line: &mut Vec<u8>, seen: &mut HashSet<Vec<u8>>) {
    let mut fields = line.splitn(3, |&byte| byte == b'\t');
    let (Some(name), Some(flag)) = (fields.next(), fields.next()) else { return };
    let Some(number) = str::from_utf8(flag).ok().and_then(|flag| flag.parse::<u16>().ok()) else { return };
    if number & SECONDARY == 0 && !seen.insert(name.to_vec()) {
        let place = name.len() + 1..name.len() + 1 + flag.len();
        line.splice(place, (number | SECONDARY).to_string().into_bytes());
    }
}
