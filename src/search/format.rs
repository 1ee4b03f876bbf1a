//! Hits as lines.

use super::align::{Path, Step};
use super::hits::Hit;
use super::pattern::Pattern;
use crate::alignment::Strand;
use crate::alphabet::reverse_complement;
use crate::options::SearchFormat;
use std::io::Write;

/// Writes lines of one format into a buffer, which can't fail.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'a> {
    pub format: SearchFormat,
    pub patterns: &'a [Pattern],
}

/// A text, as its hits show it.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub name: &'a str,
    pub letters: &'a [u8],
}

impl Lines<'_> {
    /// The first line, where the format has one. `invert` is for texts instead of hits.
    pub fn header(&self, invert: bool) -> &'static str {
        match self.format {
            SearchFormat::Tab if invert => "text\n",
            SearchFormat::Tab => "text\tstart\tend\tpattern\tstrand\tedits\tcigar\tmatch\n",
            SearchFormat::Count => "text\thits\n",
            SearchFormat::Bed | SearchFormat::Fasta => "",
        }
    }

    /// A hit. Starts are 0-based and ends exclusive, on the forward strand.
    pub fn hit(&self, out: &mut Vec<u8>, text: Place, hit: &Hit) {
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
            SearchFormat::Count => {}
        }
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
