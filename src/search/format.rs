//! Hits as lines.

use super::align::{Path, Step};
use super::hits::Hit;
use super::pattern::Pattern;
use crate::alignment::Strand;
use crate::alphabet::reverse_complement;
use crate::options::SearchFormat;
use std::io::Write;

/// FLAG bits of SAM.
const REVERSE: u32 = 16;
pub const SECONDARY: u32 = 256;

/// Writes lines of one format into a buffer, which can't fail.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    format: SearchFormat,
    patterns: &'a [Pattern],
    /// For SAM: the patterns that have a record, whose further ones are secondary.
    seen: Vec<bool>,
}

/// A text, as its hits show it.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub name: &'a str,
    pub letters: &'a [u8],
}

impl<'a> Lines<'a> {
    pub fn new(format: SearchFormat, patterns: &'a [Pattern]) -> Lines<'a> {
        let seen = if format == SearchFormat::Sam { vec![false; patterns.len()] } else { Vec::new() };
        Lines { format, patterns, seen }
    }

    /// The first line, where the format has one. `invert` is for texts instead of hits.
    pub fn header(&self, invert: bool) -> &'static str {
        match self.format {
            SearchFormat::Tab if invert => "text\n",
            SearchFormat::Tab => "text\tstart\tend\tpattern\tstrand\tedits\tcigar\tmatch\n",
            SearchFormat::Count => "text\thits\n",
            SearchFormat::Bed | SearchFormat::Fasta | SearchFormat::Sam => "",
        }
    }

    /// A hit. Starts are 0-based and ends exclusive, on the forward strand.
    pub fn hit(&mut self, out: &mut Vec<u8>, text: Place, hit: &Hit) {
        let Hit { start, end, edits, .. } = *hit;
        let (name, pattern) = (text.name, &self.patterns[hit.pattern as usize].name);
        let strand = if hit.strand == Strand::Forward { '+' } else { '-' };
        let found = &text.letters[start..end];
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
            SearchFormat::Count => {}
        }
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
    pub fn text(&self, out: &mut Vec<u8>, text: Place, hits: u64, invert: bool) {
        let name = text.name;
        match self.format {
            SearchFormat::Count => put(out, format_args!("{name}\t{hits}\n")),
            _ if !invert || hits > 0 => {}
            SearchFormat::Fasta => {
                put(out, format_args!(">{name}\n"));
                put_line(out, text.letters);
            }
            _ => put(out, format_args!("{name}\n")),
        }
    }
}

/// The header of SAM. Hits come in the order of the texts, and in each by their start. A text without letters has no
/// line: SAM has none of length 0, and no record is of such a text.
pub fn sam_header(texts: &[(String, usize)], command_line: &str) -> Vec<u8> {
    let mut out = b"@HD\tVN:1.6\tSO:coordinate\n".to_vec();
    for (name, len) in texts.iter().filter(|text| text.1 > 0) {
        put(&mut out, format_args!("@SQ\tSN:{name}\tLN:{len}\n"));
    }
    let version = env!("CARGO_PKG_VERSION");
    put(&mut out, format_args!("@PG\tID:swalign\tPN:swalign\tVN:{version}\tCL:{command_line}\n"));
    out
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
