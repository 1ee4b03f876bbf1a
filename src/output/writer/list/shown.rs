//! The data of a query and a hit that lists show.

use crate::align::complexity::low_complexity;
use crate::align::identity::{ColumnKinds, Identity, is_equal};
use crate::input::reader::FileRecord;
use crate::output::writer::targets::HitTarget;
use crate::terms::alignment::{Alignment, CODON, ColumnOp, ColumnShown, FrameShift, GAP, Strand, cigar_text};
use crate::terms::alphabet::{Alphabet, GeneticCode, reverse_complement};
use crate::terms::casts::to_u32;
use crate::terms::scoring::Scoring;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// The data of a query that lists show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryTold<'a> {
    pub name: &'a str,
    /// For mates, whether it is the first.
    pub is_first: Option<bool>,
    /// Length in letters, of a translated query in bases.
    pub len: usize,
    /// Length in aligned residues, of a translated query in amino acids.
    pub residues: usize,
}

/// A query with its residues.
pub struct QueryShown<'a> {
    pub told: QueryTold<'a>,
    alphabet: Alphabet,
    translation: Option<GeneticCode>,
    /// Residues and codes as given; those of other orientations are computed on first use.
    forward: (Vec<u8>, Vec<u8>),
    others: BTreeMap<Strand, (Vec<u8>, Vec<u8>)>,
    /// Low-complexity stretches of the query as it was read, computed on first use.
    stretches: Option<Vec<Range<usize>>>,
}

/// The data of a hit that lists show.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownHit<'a> {
    pub name: &'a str,
    /// The target's header line.
    pub title: &'a str,
    /// Length in letters, of a translated target in bases.
    pub target_len: usize,
    /// Length in aligned residues.
    pub target_residues: usize,
    /// The frame of a translated target.
    pub target_frame: Option<Strand>,
    pub strand: Strand,
    /// The frame of the first codon of a translated query, as BLAST numbers it.
    pub frame: Option<i8>,
    /// Changes of the frame, in the order of the columns.
    pub shifts: Vec<ShownShift>,
    pub alphabet: Alphabet,
    pub score: i32,
    /// 0-based and half-open; in the query as it was read, and in the forward target.
    pub query: (u32, u32),
    pub target: (u32, u32),
    pub kinds: ColumnKinds,
    /// Bit score and E-value.
    pub significance: Option<(f64, f64)>,
    pub identity: Identity,
    /// Share of the query that is covered by hits of this target, in percent.
    pub covered_by_target: f64,
    /// Number of masked query residues in the hit; `None` if masking is off.
    pub masked: Option<u32>,
    pub columns: Vec<ColumnShown>,
}

/// Signs of a base of the query that is left out, and of one that is read twice, in DIAMOND's formats.
pub const SHIFT_SIGNS: [u8; 2] = [b'\\', b'/'];

/// A change of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownShift {
    /// Columns of the hit before it.
    pub before: usize,
    /// Whether a base of the query is left out. If not, a base is read twice.
    pub is_forward: bool,
}

impl ShownShift {
    pub fn sign(self) -> u8 {
        SHIFT_SIGNS[usize::from(!self.is_forward)]
    }
}

impl QueryTold<'_> {
    /// The name, with `/1` or `/2` for mates.
    pub fn shown_name(&self) -> String {
        let mate = match self.is_first {
            None => "",
            Some(true) => "/1",
            Some(false) => "/2",
        };
        format!("{}{mate}", self.name)
    }
}

impl<'a> QueryShown<'a> {
    pub fn new(
        record: &'a FileRecord,
        is_first: Option<bool>,
        alphabet: Alphabet,
        translation: Option<GeneticCode>,
    ) -> QueryShown<'a> {
        let letters = record.sequence.clone();
        let len = letters.len();
        let residues = if translation.is_some() { len / 3 } else { len };
        let alphabet_of_letters = if translation.is_some() { Alphabet::Dna } else { alphabet };
        let codes = codes(&letters, alphabet_of_letters);
        let told = QueryTold { name: &record.name, is_first, len, residues };
        let (forward, others) = ((letters, codes), BTreeMap::new());
        QueryShown { told, alphabet, translation, forward, others, stretches: None }
    }

    /// Its letters as they were read.
    pub fn letters(&self) -> &[u8] {
        &self.forward.0
    }

    /// Number of residues in low-complexity stretches in the interval from `start` to `end` of the query as it was
    /// read.
    pub fn masked(&mut self, (start, end): (u32, u32)) -> u32 {
        let stretches = self.stretches.get_or_insert_with(|| low_complexity(self.alphabet, &self.forward.1));
        let within = |stretch: &Range<usize>| {
            to_u32(stretch.end.min(end as usize).saturating_sub(stretch.start.max(start as usize)))
        };
        stretches.iter().map(within).sum()
    }

    /// Residues and codes in this orientation.
    fn oriented(&mut self, strand: Strand) -> &(Vec<u8>, Vec<u8>) {
        let (forward, alphabet) = (&self.forward, self.alphabet);
        if self.translation.is_none() && !strand.is_reverse() {
            return forward;
        }
        let translation = self.translation;
        self.others.entry(strand).or_insert_with(|| {
            let letters = match translation {
                Some(code) => code.translate(&forward.1, strand),
                None => reverse_complement(&forward.0),
            };
            let codes = codes(&letters, alphabet);
            (letters, codes)
        })
    }
}

fn codes(letters: &[u8], alphabet: Alphabet) -> Vec<u8> {
    letters.iter().map(|&letter| alphabet.code(letter).unwrap_or_default()).collect()
}

impl<'a> ShownHit<'a> {
    /// A hit without the values that depend on other hits or on the run: significance, identity and the coverage by the
    /// target's hits.
    pub fn new(
        scoring: &Scoring,
        query: &mut QueryShown,
        alignment: &Alignment,
        target: HitTarget<'a>,
    ) -> ShownHit<'a> {
        let taken = alignment.letters_taken(to_u32(query.told.len));
        let (letters, codes) = query.oriented(alignment.strand);
        let (frame, of_codons) = (alignment.frame(), alignment.strand.is_codons());
        // Of all codons, the residues of those that are aligned.
        let (aligned, chosen);
        let (alignment, letters, codes) = match of_codons {
            true => {
                let of_codon = |residues: &[u8]| -> Vec<u8> {
                    alignment.codons().map(|first| residues[(first + CODON - 1) as usize]).collect()
                };
                chosen = [of_codon(letters), of_codon(codes)];
                aligned =
                    Alignment { query_start: 0, query_end: to_u32(chosen[0].len()), ..alignment.clone() };
                (&aligned, &chosen[0], &chosen[1])
            }
            false => (alignment, letters, codes),
        };
        let kinds = ColumnKinds::count(scoring, codes, target.aligned, alignment);
        let mut columns = Vec::with_capacity(alignment.span() as usize);
        let equal = |q, t| is_equal(scoring, q, t);
        alignment.for_each_piece((codes, target.aligned), equal, |piece| {
            let is_positive =
                piece.op == ColumnOp::Unequal && scoring.score(piece.query[0], piece.target[0]) > 0;
            columns.extend(
                piece.shown(scoring.alphabet, letters).map(|column| ColumnShown { is_positive, ..column }),
            );
        });
        if alignment.strand.is_reverse() {
            columns.reverse();
            columns.iter_mut().for_each(ColumnShown::complement);
        }
        let is_query = |(_, column): &(usize, &ColumnShown)| column.op != ColumnOp::Deletion;
        let mut residues = columns.iter().enumerate().filter(is_query).map(|(place, _)| place).enumerate();
        let shown = |shift: &FrameShift| {
            let place = residues.find(|&(residue, _)| residue >= shift.after as usize);
            ShownShift {
                before: place.map_or(columns.len(), |(_, place)| place),
                is_forward: shift.is_forward,
            }
        };
        let shifts = alignment.shifts.iter().map(shown).collect();
        ShownHit {
            name: target.name,
            title: target.title,
            target_len: target.frame.map_or(target.len, |(_, bases)| bases) as usize,
            target_residues: target.len as usize,
            target_frame: target.frame.map(|(frame, _)| frame),
            strand: alignment.strand,
            frame,
            shifts,
            alphabet: scoring.alphabet,
            score: alignment.score,
            query: taken,
            target: target_letters(alignment, &target),
            kinds,
            significance: None,
            identity: Identity::default(),
            covered_by_target: 0.0,
            masked: None,
            columns,
        }
    }

    /// The path with `=` and `X`, in the target's direction as in SAM.
    pub fn cigar(&self) -> String {
        let mut ops: Vec<ColumnOp> = self.columns.iter().map(|column| column.op).collect();
        if self.strand.is_reverse() {
            ops.reverse();
        }
        let text =
            |ops: &[ColumnOp]| cigar_text(ops.chunk_by(|a, b| a == b).map(|run| (to_u32(run.len()), run[0])));
        let mut cigar = String::new();
        let mut begin = 0;
        for shift in &self.shifts {
            cigar += &text(&ops[begin..shift.before]);
            cigar.push('1');
            cigar.push(char::from(shift.sign()));
            begin = shift.before;
        }
        cigar + &text(&ops[begin..])
    }

    /// The columns, with one for each change of the frame: its sign next to a gap.
    pub fn columns_and_shifts(&self) -> Cow<'_, [ColumnShown]> {
        if self.shifts.is_empty() {
            return Cow::Borrowed(&self.columns);
        }
        let mut columns = self.columns.clone();
        for shift in self.shifts.iter().rev() {
            let sign =
                ColumnShown { op: ColumnOp::Insertion, query: shift.sign(), target: GAP, is_positive: false };
            columns.insert(shift.before, sign);
        }
        Cow::Owned(columns)
    }

    /// Percentage of the query in this hit.
    pub fn covered(&self, query_len: usize) -> f64 {
        100.0 * f64::from(self.query.1 - self.query.0) / query_len.max(1) as f64
    }

    /// 1-based positions of the first and last aligned letter of the query, in the direction of the alignment: descending for
    /// a translation of the reverse complement.
    pub fn query_ends(&self) -> (u32, u32) {
        match self.frame {
            Some(..0) => (self.query.1, self.query.0 + 1),
            _ => (self.query.0 + 1, self.query.1),
        }
    }

    /// Whether the alignment is on the reverse strand of one of the two.
    pub fn is_minus(&self) -> bool {
        self.strand.is_minus() != self.target_frame.is_some_and(Strand::is_minus)
    }

    /// Whether the positions of the columns descend in the target.
    pub fn target_descends(&self) -> bool {
        self.strand.is_reverse() || self.target_frame.is_some_and(Strand::is_minus)
    }

    /// 1-based positions of the first and last aligned target residue in the direction of the query.
    pub fn target_ends(&self) -> (u32, u32) {
        match self.target_descends() {
            true => (self.target.1, self.target.0 + 1),
            false => (self.target.0 + 1, self.target.1),
        }
    }
}

/// The interval of the target's letters that an alignment covers, in the forward target.
fn target_letters(alignment: &Alignment, target: &HitTarget) -> (u32, u32) {
    let residues = (alignment.target_start, alignment.target_end);
    let Some((frame, bases)) = target.frame else { return residues };
    let [start, end] =
        [residues.0, residues.1].map(|residue| frame.first_base().unwrap_or(0) + CODON * residue);
    if frame.is_minus() { (bases - end, bases - start) } else { (start, end) }
}
