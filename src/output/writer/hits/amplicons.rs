//! Writes amplicons as lines.

use super::{TextShown, put, put_record};
use crate::patterns::search::amplicons::{AmpliconSpan, PatternPairs};
use crate::patterns::search::pattern::SearchPattern;
use crate::terms::alignment::Strand;
use crate::terms::options::SearchFormat;

const COLUMNS: &str = "text\tstart\tend\tlength\tpair\tstrand\tforward\tforward_end\tforward_edits\t\
                       reverse\treverse_start\treverse_edits\n";

/// Writes lines of one format into a buffer, which cannot fail.
#[derive(Clone, Copy, Debug)]
pub struct AmpliconLines<'a> {
    format: SearchFormat,
    /// Whether FASTA and FASTQ records exclude the primers.
    trims_primers: bool,
    pairs: &'a PatternPairs,
    patterns: &'a [SearchPattern],
}

impl<'a> AmpliconLines<'a> {
    pub fn new(
        (format, trims_primers): (SearchFormat, bool),
        pairs: &'a PatternPairs,
        patterns: &'a [SearchPattern],
    ) -> AmpliconLines<'a> {
        AmpliconLines { format, trims_primers, pairs, patterns }
    }

    /// The header line, or empty if the format has none.
    pub fn header(format: SearchFormat) -> String {
        match format {
            SearchFormat::Tab => COLUMNS.to_string(),
            SearchFormat::Count => "text\tamplicons\n".to_string(),
            _ => String::new(),
        }
    }

    /// Starts are 0-based and ends exclusive, on the forward strand.
    pub fn amplicon(&self, out: &mut Vec<u8>, text: TextShown, amplicon: &AmpliconSpan) {
        let AmpliconSpan { forward, reverse, .. } = *amplicon;
        let [primer, other] = self.primers(amplicon);
        let (name, pair, sign) = (text.name, self.pair(amplicon), sign(amplicon));
        let (start, end, letters) = (amplicon.start(), amplicon.end(), amplicon.letters());
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
            SearchFormat::Fasta | SearchFormat::Fastq => self.record(out, text, amplicon),
            SearchFormat::Count | SearchFormat::Sam | SearchFormat::Text => {}
        }
    }

    /// Appends a FASTA or FASTQ record.
    fn record(&self, out: &mut Vec<u8>, text: TextShown, amplicon: &AmpliconSpan) {
        let AmpliconSpan { forward, reverse, strand, .. } = *amplicon;
        let [primer, other] = self.primers(amplicon);
        let places = if self.trims_primers { amplicon.without_primers() } else { amplicon.places() };
        // In a circular text, the forward primer may span the origin, or end there.
        let turned =
            if text.is_circle && places.start >= text.letters.len() { text.letters.len() } else { 0 };
        let (start, end) = (places.start - turned, places.end - turned);
        let header = |out: &mut Vec<u8>| {
            let (name, sign, pair) = (text.name, sign(amplicon), self.pair(amplicon));
            let [edits, others] = [forward.edits, reverse.edits];
            put(out, format_args!("{name}:{start}-{end}({sign}) pair={pair} forward={primer} "));
            put(out, format_args!("forward_edits={edits} reverse={other} reverse_edits={others}"));
        };
        let qualities = (self.format == SearchFormat::Fastq).then(|| text.qualities_on(strand, start..end));
        put_record(out, header, &text.letters_on(strand, start..end), qualities.as_deref());
    }

    /// Names of the forward and the reverse primer.
    fn primers(&self, amplicon: &AmpliconSpan) -> [&'a str; 2] {
        [amplicon.forward, amplicon.reverse].map(|site| &*self.patterns[site.pattern as usize].name)
    }

    /// Called for each text after all of its amplicons.
    pub fn text(&self, out: &mut Vec<u8>, text: TextShown, amplicons: u64) {
        if self.format == SearchFormat::Count {
            put(out, format_args!("{}\t{amplicons}\n", text.name));
        }
    }

    /// The pair's name. If all patterns pair with each other, the names of its primers in pattern order.
    fn pair(&self, amplicon: &AmpliconSpan) -> String {
        if let Some(name) = amplicon.pair.and_then(|pair| self.pairs.name(pair)) {
            return name.to_string();
        }
        let mut primers = [amplicon.forward.pattern, amplicon.reverse.pattern];
        primers.sort_unstable();
        primers.map(|primer| &*self.patterns[primer as usize].name).join(",")
    }
}

fn sign(amplicon: &AmpliconSpan) -> char {
    if amplicon.strand == Strand::Forward { '+' } else { '-' }
}
