//! Writes the hits of a search as lines.

mod amplicons;
mod oriented;

use super::distinct::put_record;
use super::line::{REVERSE, SECONDARY};
use super::list::text::{AlignmentBlocks, line, push_blocks};
use crate::patterns::search::align::PatternPath;
use crate::patterns::search::hits::PatternHit;
use crate::patterns::search::pam::Pam;
use crate::patterns::search::pattern::SearchPattern;
use crate::terms::alignment::{ColumnOp, ColumnShown, GAP, Strand, cigar_text};
use crate::terms::alphabet::Alphabet;
use crate::terms::alphabet::reverse_complement;
use crate::terms::options::{PageOptions, SearchColumn, SearchFormat};
use oriented::Oriented;
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write;
use std::ops::Range;

pub use super::header::of_search as sam_header;
pub use amplicons::AmpliconLines;

/// Writes lines of one format into a buffer, which cannot fail.
#[derive(Clone, Debug)]
pub struct HitLines<'a> {
    format: SearchFormat,
    patterns: &'a [SearchPattern],
    /// For SAM: the patterns that already have a record, so that further records are secondary.
    seen: Vec<bool>,
    style: HitStyle,
}

/// Display options of hits.
#[derive(Clone, Debug)]
pub struct HitStyle {
    pub page: PageOptions,
    /// Columns of the table.
    pub columns: Vec<SearchColumn>,
    /// Whether alignments are in the pattern's orientation instead of the text's.
    pub as_pattern: bool,
    pub pam: Option<Pam>,
}

/// The data of a text that hits show.
#[derive(Clone, Copy, Debug)]
pub struct TextShown<'a> {
    pub name: &'a str,
    pub letters: LettersShown<'a>,
    /// Phred+33 characters of all bases if they are shown; otherwise empty.
    pub qualities: &'a [u8],
    /// Whether the text is circular.
    pub is_circle: bool,
}

impl<'a> TextShown<'a> {
    /// Bases in this interval. In a circular text, positions continue after its last base.
    fn within(self, places: Range<usize>) -> Cow<'a, [u8]> {
        self.around(places, self.letters)
    }

    /// Qualities in this interval; positions are as for [`TextShown::within`].
    fn qualities_within(self, places: Range<usize>) -> Cow<'a, [u8]> {
        self.around(places, LettersShown::Written(self.qualities))
    }

    fn around(self, places: Range<usize>, letters: LettersShown<'a>) -> Cow<'a, [u8]> {
        let len = letters.len();
        if !self.is_circle || places.end <= len {
            return letters.within(places);
        }
        let (mut shown, mut place) = (Vec::with_capacity(places.len()), places.start);
        while place < places.end {
            let from = place % len;
            let to = len.min(from + places.end - place);
            shown.extend_from_slice(&letters.within(from..to));
            place += to - from;
        }
        shown.into()
    }

    /// An interval of the text, reverse-complemented on the reverse strand.
    fn letters_on(self, strand: Strand, places: Range<usize>) -> Cow<'a, [u8]> {
        let letters = self.within(places);
        if strand == Strand::Forward { letters } else { reverse_complement(&letters).into() }
    }

    /// The qualities of an interval, reversed on the reverse strand.
    fn qualities_on(self, strand: Strand, places: Range<usize>) -> Cow<'a, [u8]> {
        let qualities = self.qualities_within(places);
        if strand == Strand::Forward { qualities } else { qualities.iter().rev().copied().collect() }
    }

    /// Number of bases from the end of a hit to the end of the text.
    fn after(self, end: usize) -> usize {
        let len = self.letters.len();
        if end > len { len - 1 - (end - 1) % len } else { len - end }
    }
}

/// The bases of a text.
#[derive(Clone, Copy, Debug)]
pub enum LettersShown<'a> {
    /// As they are shown.
    Written(&'a [u8]),
    /// DNA codes.
    Codes(&'a [u8]),
}

impl<'a> LettersShown<'a> {
    /// The bases in an interval.
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
    pub fn new(format: SearchFormat, style: HitStyle, patterns: &'a [SearchPattern]) -> HitLines<'a> {
        let seen = if format == SearchFormat::Sam { vec![false; patterns.len()] } else { Vec::new() };
        HitLines { format, patterns, seen, style }
    }

    pub fn format(&self) -> SearchFormat {
        self.format
    }

    /// The header line, or empty if the format has none. `invert` is for lists of texts instead of hits.
    pub fn header(&self, invert: bool) -> String {
        match self.format {
            SearchFormat::Tab if invert => "text\n".to_string(),
            SearchFormat::Tab => {
                let names: Vec<&str> = self.style.columns.iter().map(|column| column.name()).collect();
                names.join("\t") + "\n"
            }
            SearchFormat::Count => "text\thits\n".to_string(),
            _ => String::new(),
        }
    }

    /// Appends a hit. Starts are 0-based and ends exclusive, on the forward strand.
    pub fn hit(&mut self, out: &mut Vec<u8>, text: TextShown, hit: &PatternHit) {
        let PatternHit { start, end, edits, .. } = *hit;
        let (name, pattern) = (text.name, &self.patterns[hit.pattern as usize].name);
        let strand = if hit.strand == Strand::Forward { '+' } else { '-' };
        match self.format {
            SearchFormat::Tab => self.row(out, text, hit),
            SearchFormat::Bed => {
                put(out, format_args!("{name}\t{start}\t{end}\t{pattern}\t{edits}\t{strand}"));
                if let Some(pam) = self.pam(text, hit, false) {
                    out.push(b'\t');
                    out.extend_from_slice(&pam);
                }
                out.push(b'\n');
            }
            SearchFormat::Fasta | SearchFormat::Fastq => self.record(out, text, hit),
            SearchFormat::Sam => self.sam(out, text, hit),
            SearchFormat::Text => self.alignment(out, text, hit),
            SearchFormat::Count => {}
        }
    }

    /// Appends a FASTA or FASTQ record.
    fn record(&self, out: &mut Vec<u8>, text: TextShown, hit: &PatternHit) {
        let PatternHit { start, end, edits, strand, .. } = *hit;
        let (name, pattern) = (text.name, &self.patterns[hit.pattern as usize].name);
        let sign = if strand == Strand::Forward { '+' } else { '-' };
        let cigar = self.cigar(hit);
        let pam = self.pam(text, hit, true).map(|pam| format!(" pam={}", String::from_utf8_lossy(&pam)));
        let pam = pam.unwrap_or_default();
        let letters: Cow<[u8]> = match self.style.as_pattern {
            true => self.oriented(text, hit, true).matched().into(),
            false => text.letters_on(strand, start..end),
        };
        let header = |out: &mut Vec<u8>| {
            put(out, format_args!("{name}:{start}-{end}({sign}) pattern={pattern} edits={edits} "));
            put(out, format_args!("cigar={cigar}{pam}"));
        };
        let qualities = (self.format == SearchFormat::Fastq).then(|| text.qualities_on(strand, start..end));
        put_record(out, header, &letters, qualities.as_deref());
    }

    /// Appends a row of the table.
    fn row(&self, out: &mut Vec<u8>, text: TextShown, hit: &PatternHit) {
        let HitStyle { as_pattern, .. } = self.style;
        let pattern = &self.patterns[hit.pattern as usize];
        let mut oriented = None;
        for (place, column) in self.style.columns.iter().enumerate() {
            if place > 0 {
                out.push(b'\t');
            }
            match column {
                SearchColumn::Text => put(out, format_args!("{}", text.name)),
                SearchColumn::Start | SearchColumn::Before => put(out, format_args!("{}", hit.start)),
                SearchColumn::End => put(out, format_args!("{}", hit.end)),
                SearchColumn::Pattern => put(out, format_args!("{}", pattern.name)),
                SearchColumn::Strand => out.push(if hit.strand == Strand::Forward { b'+' } else { b'-' }),
                SearchColumn::Edits => put(out, format_args!("{}", hit.edits)),
                SearchColumn::Cigar => put(out, format_args!("{}", self.cigar(hit))),
                SearchColumn::Match if !as_pattern => {
                    out.extend_from_slice(&text.within(hit.start..hit.end));
                }
                SearchColumn::Pam => {
                    out.extend_from_slice(&self.pam(text, hit, as_pattern).unwrap_or_default());
                }
                SearchColumn::PatternLen => put(out, format_args!("{}", pattern.letters.len())),
                SearchColumn::TextLen => put(out, format_args!("{}", text.letters.len())),
                SearchColumn::After => put(out, format_args!("{}", text.after(hit.end))),
                column => {
                    let shown = oriented.get_or_insert_with(|| self.oriented(text, hit, as_pattern));
                    match shown.cell(*column) {
                        Some(cell) => out.extend_from_slice(cell.as_bytes()),
                        None => out.extend_from_slice(&shown.matched()),
                    }
                }
            }
        }
        out.push(b'\n');
    }

    /// The CIGAR in the requested orientation.
    fn cigar(&self, hit: &PatternHit) -> String {
        let path = hit.path.iter().copied();
        let turned = self.style.as_pattern && hit.strand == Strand::Reverse;
        if turned { cigar_text(path.rev()) } else { cigar_text(path) }
    }

    /// The bases of the PAM in the text, in the pattern's orientation or in text order.
    fn pam(&self, text: TextShown, hit: &PatternHit, as_pattern: bool) -> Option<Vec<u8>> {
        let pam = self.style.pam.as_ref()?;
        let edge = if pam.is_behind(hit.strand) { hit.end } else { hit.start };
        let place = match text.is_circle {
            false => pam.place(hit.strand, text.letters.len(), edge)?,
            // Adds whole turns, so that no position is negative.
            true => pam.place(hit.strand, usize::MAX, edge + pam.letters() * text.letters.len())?,
        };
        let letters = &*text.within(place);
        let turned = as_pattern && hit.strand == Strand::Reverse;
        Some(if turned { reverse_complement(letters) } else { letters.to_vec() })
    }

    /// The alignment of a hit.
    fn oriented(&self, text: TextShown, hit: &PatternHit, as_pattern: bool) -> Oriented {
        let pattern = &self.patterns[hit.pattern as usize];
        let letters = text.within(hit.start..hit.end);
        match hit.strand {
            Strand::Reverse if as_pattern => {
                let path = hit.path.iter().rev().copied().collect();
                let columns = columns(&pattern.letters, &reverse_complement(&letters), &path);
                Oriented { columns, forward: true }
            }
            Strand::Reverse => {
                Oriented { columns: columns(&pattern.reverse_letters(), &letters, &hit.path), forward: false }
            }
            _ => Oriented { columns: columns(&pattern.letters, &letters, &hit.path), forward: true },
        }
    }

    /// Appends the readable alignment: the pattern forward, and for a hit on the reverse strand the reverse complement
    /// of the text; or the text forward.
    fn alignment(&self, out: &mut Vec<u8>, text: TextShown, hit: &PatternHit) {
        let pattern = &self.patterns[hit.pattern as usize];
        let Oriented { columns, forward } = self.oriented(text, hit, self.style.as_pattern);
        let (start, end) = (hit.start as u64 + 1, hit.end as u64);
        let descends = hit.strand == Strand::Reverse && forward;
        let place = if descends { (end, start) } else { (start, end) };
        let (sign, edits) = (if hit.strand == Strand::Reverse { '-' } else { '+' }, hit.edits);
        let mut block = String::new();
        let unit = if edits == 1 { "edit" } else { "edits" };
        let (name, of) = (&pattern.name, text.name);
        let pam = self.pam(text, hit, self.style.as_pattern);
        let pam = pam.map_or(String::new(), |pam| format!(", PAM {}", String::from_utf8_lossy(&pam)));
        line(
            &mut block,
            format_args!("{name} in {of}, {start} to {end}, strand {sign}, {edits} {unit}{pam}\n"),
        );
        let len = pattern.letters.len() as u64;
        let query = if forward { (1, len) } else { (len, 1) };
        let (labels, alphabet) = (["Pattern", "Text   "], Alphabet::Dna);
        let descend = [!forward, descends];
        let blocks = AlignmentBlocks {
            labels,
            alphabet,
            query,
            target: place,
            columns: &columns,
            descends: descend,
            steps: [1, 1],
        };
        push_blocks(&mut block, &self.style.page, &blocks);
        out.extend_from_slice(block.as_bytes());
    }

    /// Appends a SAM record: the read is the whole pattern, in the text's orientation.
    fn sam(&mut self, out: &mut Vec<u8>, shown: TextShown, hit: &PatternHit) {
        let text = shown.name;
        let pattern = &self.patterns[hit.pattern as usize];
        let (strand, letters) = match hit.strand {
            Strand::Reverse => (REVERSE, pattern.reverse_letters()),
            _ => (0, as_dna(&pattern.letters)),
        };
        let seen = std::mem::replace(&mut self.seen[hit.pattern as usize], true);
        let flag = strand + if seen { SECONDARY } else { 0 };
        let (name, cigar) = (&pattern.name, cigar_text(hit.path.iter().copied()));
        put(out, format_args!("{name}\t{flag}\t{text}\t{}\t255\t{cigar}\t*\t0\t0\t", hit.start + 1));
        out.extend_from_slice(&letters);
        put(out, format_args!("\t*\tNM:i:{}", hit.edits));
        if let Some(pam) = self.pam(shown, hit, false) {
            out.extend_from_slice(b"\tpm:Z:");
            out.extend_from_slice(&pam);
        }
        out.push(b'\n');
    }

    /// Called for each text after all of its hits.
    pub fn text(&self, out: &mut Vec<u8>, text: TextShown, hits: u64, invert: bool) {
        let name = text.name;
        match self.format {
            SearchFormat::Count => put(out, format_args!("{name}\t{hits}\n")),
            _ if !invert || hits > 0 => {}
            SearchFormat::Fasta | SearchFormat::Fastq => {
                put_text(out, self.format, text, 0..text.letters.len());
            }
            _ => put(out, format_args!("{name}\n")),
        }
    }
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments) {
    // Writing to a vector cannot fail.
    let _ = out.write_fmt(text);
}

/// Appends an interval of a text as a FASTA or FASTQ record with the text's name.
pub fn put_text(out: &mut Vec<u8>, format: SearchFormat, text: TextShown, places: Range<usize>) {
    let qualities = (format == SearchFormat::Fastq).then(|| text.qualities_within(places.clone()));
    let name = |out: &mut Vec<u8>| out.extend_from_slice(text.name.as_bytes());
    put_record(out, name, &text.within(places), qualities.as_deref());
}

/// Replaces RNA's U by T.
fn as_dna(letters: &[u8]) -> Vec<u8> {
    letters.iter().map(|&letter| if letter == b'U' { b'T' } else { letter }).collect()
}

/// The columns of a path, in the text's direction.
fn columns(pattern: &[u8], text: &[u8], path: &PatternPath) -> Vec<ColumnShown> {
    let (mut pattern, mut text) = (pattern.iter().copied(), text.iter().copied());
    let steps = path.iter().flat_map(|&(len, op)| (0..len).map(move |_| op));
    let column = |op| {
        let query = if op == ColumnOp::Deletion { GAP } else { pattern.next().unwrap_or(GAP) };
        let target = if op == ColumnOp::Insertion { GAP } else { text.next().unwrap_or(GAP) };
        ColumnShown { query, target, op, is_positive: false }
    };
    steps.map(column).collect()
}

/// Makes a primary SAM record secondary if its pattern is in `seen`, the names of patterns that already have a record.
/// So the joined parts of a search have one primary record per pattern.
pub fn demote(line: &mut Vec<u8>, seen: &mut HashSet<Vec<u8>>) {
    let mut fields = line.splitn(3, |&byte| byte == b'\t');
    let (Some(name), Some(flag)) = (fields.next(), fields.next()) else { return };
    let Some(number) = str::from_utf8(flag).ok().and_then(|flag| flag.parse::<u16>().ok()) else { return };
    if number & SECONDARY == 0 && !seen.insert(name.to_vec()) {
        let place = name.len() + 1..name.len() + 1 + flag.len();
        line.splice(place, (number | SECONDARY).to_string().into_bytes());
    }
}
