//! Amplicons as lines.

use super::{TextShown, as_dna, put, put_line};
use crate::alignment::Strand;
use crate::alphabet::reverse_complement;
use crate::options::SearchFormat;
use crate::search::amplicons::{Amplicon, Pairs};
use crate::search::pattern::Pattern;

const COLUMNS: &str = "text\tstart\tend\tlength\tpair\tstrand\tforward\tforward_end\tforward_edits\t\
                       reverse\treverse_start\treverse_edits\n";

/// Writes lines of one format into a buffer, which can't fail.
#[derive(Clone, Copy, Debug)]
pub struct AmpliconLines<'a> {
    format: SearchFormat,
    pairs: &'a Pairs,
    patterns: &'a [Pattern],
}

impl<'a> AmpliconLines<'a> {
    pub fn new(format: SearchFormat, pairs: &'a Pairs, patterns: &'a [Pattern]) -> AmpliconLines<'a> {
        AmpliconLines { format, pairs, patterns }
    }

    /// The first line, where the format has one.
    pub fn header(format: SearchFormat) -> String {
        match format {
            SearchFormat::Tab => COLUMNS.to_string(),
            SearchFormat::Count => "text\tamplicons\n".to_string(),
            _ => String::new(),
        }
    }

    /// Starts are 0-based and ends exclusive, on the forward strand.
    pub fn amplicon(&self, out: &mut Vec<u8>, text: TextShown, amplicon: &Amplicon) {
        let Amplicon { forward, reverse, strand, .. } = *amplicon;
        let [primer, other] = [forward, reverse].map(|site| &self.patterns[site.pattern as usize].name);
        let (name, pair) = (text.name, self.pair(amplicon));
        let (start, end, letters) = (amplicon.start(), amplicon.end(), amplicon.letters());
        let sign = if strand == Strand::Forward { '+' } else { '-' };
        let [edits, others] = [forward.edits, reverse.edits];
        match self.format {
            SearchFormat::Tab => {
                put(out, format_args!("{name}\t{start}\t{end}\t{letters}\t{pair}\t{sign}\t"));
                put(out, format_args!("{primer}\t{}\t{edits}\t", forward.end));
                put(out, format_args!("{other}\t{}\t{others}\n", reverse.start));
            }
            SearchFormat::Bed => {
                let sum = u64::from(edits) + u64::from(others);
                put(out, format_args!("{name}\t{start}\t{end}\t{pair}\t{sum}\t{sign}\n"));
            }
            SearchFormat::Fasta => {
                put(out, format_args!(">{name}:{start}-{end}({sign}) pair={pair} forward={primer} "));
                put(out, format_args!("forward_edits={edits} reverse={other} reverse_edits={others}\n"));
                let letters = text.letters.within(start..end);
                match strand {
                    Strand::Forward => put_line(out, &letters),
                    Strand::Reverse => put_line(out, &reverse_complement(&as_dna(&letters))),
                }
            }
            SearchFormat::Count | SearchFormat::Sam | SearchFormat::Text => {}
        }
    }

    /// A text after all of its amplicons.
    pub fn text(&self, out: &mut Vec<u8>, text: TextShown, amplicons: u64) {
        if self.format == SearchFormat::Count {
            put(out, format_args!("{}\t{amplicons}\n", text.name));
        }
    }

    /// The pair's name; where all go with all, its primers' names in the order of the patterns.
    fn pair(&self, amplicon: &Amplicon) -> String {
        if let Some(name) = amplicon.pair.and_then(|pair| self.pairs.name(pair)) {
            return name.to_string();
        }
        let mut primers = [amplicon.forward.pattern, amplicon.reverse.pattern];
        primers.sort_unstable();
        primers.map(|primer| &*self.patterns[primer as usize].name).join(",")
    }
}
