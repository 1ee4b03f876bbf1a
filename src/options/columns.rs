//! The columns of a table of hits.

/// A column of the table. Names are BLAST's (`-outfmt 6`), or vsearch's for the definitions of identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Qseqid,
    Qaccver,
    Qacc,
    Qlen,
    Sseqid,
    Saccver,
    Sacc,
    Slen,
    Qstart,
    Qend,
    Sstart,
    Send,
    Qseq,
    Sseq,
    Evalue,
    Bitscore,
    Score,
    Length,
    Pident,
    Nident,
    Mismatch,
    Positive,
    Gapopen,
    Gaps,
    Ppos,
    Qframe,
    Sframe,
    Btop,
    Stitle,
    Salltitles,
    Sstrand,
    Qcovs,
    Qcovhsp,
    Strand,
    Cigar,
    Id0,
    Id1,
    Id2,
    Id3,
    Id4,
    Mate,
}

/// All columns, their names, and what they hold.
const ALL: [(Column, &str, &str); 41] = [
    (Column::Qseqid, "qseqid", "the query's name"),
    (Column::Qaccver, "qaccver", "the same, as BLAST's standard columns have it"),
    (Column::Qacc, "qacc", "the same"),
    (Column::Qlen, "qlen", "letters of the query"),
    (Column::Sseqid, "sseqid", "the target's name"),
    (Column::Saccver, "saccver", "the same"),
    (Column::Sacc, "sacc", "the same"),
    (Column::Slen, "slen", "letters of the target"),
    (Column::Qstart, "qstart", "first aligned letter of the query, from 1"),
    (Column::Qend, "qend", "last one"),
    (
        Column::Sstart,
        "sstart",
        "first aligned letter of the target, from 1; behind send on the reverse strand",
    ),
    (Column::Send, "send", "last one"),
    (Column::Qseq, "qseq", "aligned letters of the query, with gaps"),
    (Column::Sseq, "sseq", "those of the target"),
    (Column::Evalue, "evalue", "E-value"),
    (Column::Bitscore, "bitscore", "bit score"),
    (Column::Score, "score", "score"),
    (Column::Length, "length", "columns of the alignment"),
    (Column::Pident, "pident", "identity in percent, by --iddef"),
    (Column::Nident, "nident", "columns of equal letters"),
    (Column::Mismatch, "mismatch", "columns of unequal letters"),
    (Column::Positive, "positive", "columns of a positive score, or of equal letters"),
    (Column::Gapopen, "gapopen", "gaps"),
    (Column::Gaps, "gaps", "columns with a gap"),
    (Column::Ppos, "ppos", "positive columns in percent"),
    (Column::Qframe, "qframe", "1, or -1 for the query's reverse complement"),
    (Column::Sframe, "sframe", "1, or -1 where BLAST has the target's reverse complement"),
    (Column::Btop, "btop", "BLAST's trace-back operations"),
    (Column::Stitle, "stitle", "the target's header line"),
    (Column::Salltitles, "salltitles", "the same"),
    (Column::Sstrand, "sstrand", "plus or minus; N/A of proteins"),
    (Column::Qcovs, "qcovs", "share of the query in hits of this target, in percent"),
    (Column::Qcovhsp, "qcovhsp", "share of the query in this hit, in percent"),
    (Column::Strand, "strand", "+ or -"),
    (Column::Cigar, "cigar", "the path, with = and X"),
    (Column::Id0, "id0", "identity by CD-HIT's definition"),
    (Column::Id1, "id1", "identity of all columns"),
    (Column::Id2, "id2", "identity without end gaps of global alignments"),
    (Column::Id3, "id3", "identity by the Marine Biological Laboratory's definition"),
    (Column::Id4, "id4", "identity as 1"),
    (Column::Mate, "mate", "1 or 2 of mates, 0 of single reads"),
];

impl Column {
    /// BLAST's twelve.
    pub const STANDARD: [Column; 12] = [
        Column::Qaccver,
        Column::Saccver,
        Column::Pident,
        Column::Length,
        Column::Mismatch,
        Column::Gapopen,
        Column::Qstart,
        Column::Qend,
        Column::Sstart,
        Column::Send,
        Column::Evalue,
        Column::Bitscore,
    ];

    /// The names of all columns, and what they hold.
    pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
        ALL.iter().map(|(_, name, about)| (*name, *about))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        ALL.iter().find(|(column, ..)| *column == self).map_or("", |(_, name, _)| name)
    }

    /// The columns of names that are separated by commas; `std` are the twelve standard ones. The error is the name that
    /// is none.
    pub fn parse(names: &str) -> Result<Vec<Column>, String> {
        let mut columns = Vec::new();
        for name in names.split([',', ' ']).filter(|name| !name.is_empty()) {
            match ALL.iter().find(|(_, known, _)| *known == name) {
                _ if name == "std" => columns.extend(Column::STANDARD),
                Some((column, ..)) => columns.push(*column),
                None => return Err(name.to_string()),
            }
        }
        Ok(columns)
    }
}
