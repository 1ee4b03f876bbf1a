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
    Frameshifts,
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
    Masked,
}

/// All columns, with their names, BLAST's longer names (`-outfmt 7`) or the same names again, and descriptions.
const ALL: [(Column, &str, &str, &str); 43] = [
    (Column::Qseqid, "qseqid", "query id", "the query's name"),
    (Column::Qaccver, "qaccver", "query acc.ver", "the same, as BLAST's standard columns have it"),
    (Column::Qacc, "qacc", "query acc.", "the same"),
    (Column::Qlen, "qlen", "query length", "letters of the query"),
    (Column::Sseqid, "sseqid", "subject id", "the target's name"),
    (Column::Saccver, "saccver", "subject acc.ver", "the same"),
    (Column::Sacc, "sacc", "subject acc.", "the same"),
    (Column::Slen, "slen", "subject length", "letters of the target"),
    (Column::Qstart, "qstart", "q. start", "first aligned letter of the query, from 1"),
    (Column::Qend, "qend", "q. end", "last one"),
    (
        Column::Sstart,
        "sstart",
        "s. start",
        "first aligned letter of the target, from 1; behind send on the reverse strand",
    ),
    (Column::Send, "send", "s. end", "last one"),
    (Column::Qseq, "qseq", "query seq", "aligned letters of the query, with gaps"),
    (Column::Sseq, "sseq", "subject seq", "those of the target"),
    (Column::Evalue, "evalue", "evalue", "E-value"),
    (Column::Bitscore, "bitscore", "bit score", "bit score"),
    (Column::Score, "score", "score", "score"),
    (Column::Length, "length", "alignment length", "columns of the alignment"),
    (Column::Pident, "pident", "% identity", "identity in percent, by --iddef"),
    (Column::Nident, "nident", "identical", "columns of equal letters"),
    (Column::Mismatch, "mismatch", "mismatches", "columns of unequal letters"),
    (Column::Positive, "positive", "positives", "columns of a positive score, or of equal letters"),
    (Column::Gapopen, "gapopen", "gap opens", "gaps"),
    (Column::Gaps, "gaps", "gaps", "columns with a gap"),
    (Column::Ppos, "ppos", "% positives", "positive columns in percent"),
    (Column::Qframe, "qframe", "query frame", "1, or -1 for the query's reverse complement"),
    (Column::Frameshifts, "frameshifts", "frameshifts", "number of changes of the frame (--frameshift)"),
    (Column::Sframe, "sframe", "sbjct frame", "1, or -1 where BLAST has the target's reverse complement"),
    (Column::Btop, "btop", "BTOP", "BLAST's trace-back operations"),
    (Column::Stitle, "stitle", "subject title", "the target's header line"),
    (Column::Salltitles, "salltitles", "subject titles", "the same"),
    (Column::Sstrand, "sstrand", "subject strand", "plus or minus; N/A of proteins"),
    (
        Column::Qcovs,
        "qcovs",
        "% query coverage per subject",
        "share of the query in hits of this target, in percent",
    ),
    (Column::Qcovhsp, "qcovhsp", "% query coverage per hsp", "share of the query in this hit, in percent"),
    (Column::Strand, "strand", "strand", "+ or -"),
    (Column::Cigar, "cigar", "cigar", "the path, with = and X"),
    (Column::Id0, "id0", "id0", "identity by CD-HIT's definition"),
    (Column::Id1, "id1", "id1", "identity of all columns"),
    (Column::Id2, "id2", "id2", "identity without end gaps of global alignments"),
    (Column::Id3, "id3", "id3", "identity by the Marine Biological Laboratory's definition"),
    (Column::Id4, "id4", "id4", "identity as 1"),
    (Column::Mate, "mate", "mate", "1 or 2 of mates, 0 of single reads"),
    (
        Column::Masked,
        "masked",
        "masked",
        "columns with a letter of the query that --mask masks; NA without --mask",
    ),
];

impl Column {
    /// The twelve columns of BLAST.
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

    /// The names of all columns, with descriptions.
    pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
        ALL.iter().map(|(_, name, _, about)| (*name, *about))
    }

    /// Its name in options.
    pub fn name(self) -> &'static str {
        ALL.iter().find(|(column, ..)| *column == self).map_or("", |(_, name, ..)| name)
    }

    /// Whether the column shows more of an alignment than its query, its target, its strand and its score.
    pub fn needs_path(self) -> bool {
        match self {
            Column::Qseqid
            | Column::Qaccver
            | Column::Qacc
            | Column::Qlen
            | Column::Sseqid
            | Column::Saccver
            | Column::Sacc
            | Column::Slen
            | Column::Evalue
            | Column::Bitscore
            | Column::Score
            | Column::Qframe
            | Column::Sframe
            | Column::Stitle
            | Column::Salltitles
            | Column::Sstrand
            | Column::Strand
            | Column::Mate => false,
            Column::Qstart
            | Column::Qend
            | Column::Sstart
            | Column::Send
            | Column::Qseq
            | Column::Sseq
            | Column::Length
            | Column::Pident
            | Column::Nident
            | Column::Mismatch
            | Column::Positive
            | Column::Gapopen
            | Column::Gaps
            | Column::Ppos
            | Column::Btop
            | Column::Frameshifts
            | Column::Qcovs
            | Column::Qcovhsp
            | Column::Cigar
            | Column::Id0
            | Column::Id1
            | Column::Id2
            | Column::Id3
            | Column::Id4
            | Column::Masked => true,
        }
    }

    /// Its name in the comments of a table, as in BLAST.
    pub fn long_name(self) -> &'static str {
        ALL.iter().find(|(column, ..)| *column == self).map_or("", |(_, _, name, _)| name)
    }

    /// Parses comma-separated column names; `std` stands for the twelve standard columns. The error is the first
    /// unknown name.
    pub fn parse(names: &str) -> Result<Vec<Column>, String> {
        let mut columns = Vec::new();
        for name in names.split([',', ' ']).filter(|name| !name.is_empty()) {
            match ALL.iter().find(|(_, known, ..)| *known == name) {
                _ if name == "std" => columns.extend(Column::STANDARD),
                Some((column, ..)) => columns.push(*column),
                None => return Err(name.to_string()),
            }
        }
        Ok(columns)
    }
}
