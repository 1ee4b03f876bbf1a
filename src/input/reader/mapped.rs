//! Records of SAM and PAF as FASTA text, so that the rest of the reader only handles FASTA. [`super::bam`] converts BAM.
//!
//! The sequence of each record is the whole read as it was sequenced. The header has the fields of its primary record:
//!
//! ```text
//! >NAME <TAB> number <TAB> FLAG <TAB> RNAME <TAB> POS <TAB> MAPQ <TAB> CIGAR
//! ```
//!
//! Secondary records are skipped. [`MappedRecords`] says which other records are read. PAF has no sequences, and its fields
//! are translated to those of SAM.

use super::bam::fault;
use crate::terms::alphabet::complement;
use std::io::{self, BufRead, BufReader, Read, Write};

/// Bits of FLAG (SAMv1 specification, 1.4).
pub const PAIRED: u16 = 1;
pub const PROPER: u16 = 2;
pub const UNMAPPED: u16 = 4;
pub const MATE_UNMAPPED: u16 = 8;
pub const REVERSE: u16 = 16;
pub const MATE_REVERSE: u16 = 32;
pub const FIRST: u16 = 64;
pub const LAST: u16 = 128;
pub const SECONDARY: u16 = 256;
pub const SUPPLEMENTARY: u16 = 2048;
/// Flags of secondary and supplementary records, which repeat reads of other records.
pub const REPEATED: u16 = SECONDARY | SUPPLEMENTARY;
/// A missing value.
pub const MISSING: &str = "*";
/// Quality of a record whose mapping quality is unknown.
pub const UNKNOWN_MAPQ: u8 = 255;
/// Maximum number of bytes of a line.
const MOST_LINE: u64 = 1 << 29;
/// Bytes of text produced before the caller gets them.
const TEXT: usize = 1 << 16;
/// Mandatory columns of SAM and of PAF.
const SAM_COLUMNS: usize = 11;
const PAF_COLUMNS: usize = 12;

/// The records of a file of alignments that are read. Secondary records never are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MappedRecords {
    /// The primary record of each read, with its bases.
    #[default]
    Primary,
    /// Supplementary records, without bases.
    Supplementary,
    /// Primary and supplementary records, without bases.
    Both,
}

impl MappedRecords {
    /// Whether a record with these flags is read.
    pub fn have(self, flags: u16) -> bool {
        let is_supplementary = flags & SUPPLEMENTARY != 0;
        let is_wanted = match self {
            MappedRecords::Primary => !is_supplementary,
            MappedRecords::Supplementary => is_supplementary,
            MappedRecords::Both => true,
        };
        is_wanted && flags & SECONDARY == 0
    }

    pub fn have_bases(self) -> bool {
        self == MappedRecords::Primary
    }
}

/// The records that are read: all of one kind, or a stretch of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedStretch {
    pub kind: MappedRecords,
    /// Numbers of the first record of this kind, from 0, and of the first after the last.
    pub from: u64,
    pub to: u64,
    /// Number of records of this kind so far.
    passed: u64,
}

impl MappedStretch {
    pub fn of(kind: MappedRecords, (from, to): (u64, u64)) -> MappedStretch {
        MappedStretch { kind, from, to, passed: 0 }
    }

    pub fn all(kind: MappedRecords) -> MappedStretch {
        MappedStretch::of(kind, (0, u64::MAX))
    }

    /// Counts the next record, which has these flags. Returns whether it is read.
    pub fn take(&mut self, flags: u16) -> bool {
        let is_of_kind = self.kind.have(flags);
        let is_inside = (self.from..self.to).contains(&self.passed);
        self.passed += u64::from(is_of_kind);
        is_of_kind && is_inside
    }

    /// Whether no further record is read.
    pub fn has_ended(&self) -> bool {
        self.passed >= self.to
    }
}

/// The fields of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedFields<'a> {
    /// 1-based number of the record in its file.
    pub number: u64,
    pub flags: u16,
    /// [`MISSING`] if there is none.
    pub reference: &'a str,
    /// 1-based; 0 if there is none.
    pub position: u32,
    pub mapq: u8,
    pub cigar: &'a str,
}

impl<'a> MappedFields<'a> {
    /// The fields of a comment that was written by this module.
    pub fn of_comment(comment: &'a [u8]) -> Option<MappedFields<'a>> {
        let mut fields = str::from_utf8(comment).ok()?.trim_start_matches('\t').split('\t');
        let mut next = || fields.next();
        let number = next()?.parse().ok()?;
        let flags = next()?.parse().ok()?;
        let reference = next()?;
        let position = next()?.parse().ok()?;
        let mapq = next()?.parse().ok()?;
        let cigar = next()?;
        Some(MappedFields { number, flags, reference, position, mapq, cigar })
    }

    /// 1 or 2 for a read of a pair, otherwise 0.
    pub fn mate(&self) -> u8 {
        match self.flags & (PAIRED | FIRST | LAST) {
            flags if flags == PAIRED | FIRST => 1,
            flags if flags == PAIRED | LAST => 2,
            _ => 0,
        }
    }

    pub fn is_supplementary(&self) -> bool {
        self.flags & SUPPLEMENTARY != 0
    }

    pub fn is_unmapped(&self) -> bool {
        self.flags & UNMAPPED != 0
    }

    pub fn is_reverse(&self) -> bool {
        self.flags & REVERSE != 0
    }
}

/// Appends a record. The bases have the orientation of the record.
pub fn push_mapped<B>(text: &mut Vec<u8>, name: &[u8], fields: &MappedFields, bases: B)
where
    B: DoubleEndedIterator<Item = u8>,
{
    let MappedFields { number, flags, reference, position, mapq, cigar } = fields;
    text.push(b'>');
    text.extend_from_slice(if name.is_empty() { MISSING.as_bytes() } else { name });
    // Writing to memory does not fail.
    let _ = writeln!(text, "\t{number}\t{flags}\t{reference}\t{position}\t{mapq}\t{cigar}");
    match fields.is_reverse() {
        true => text.extend(bases.rev().map(complement)),
        false => text.extend(bases),
    }
    text.push(b'\n');
}

/// A format with a record per line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineFormat {
    Sam,
    Paf,
}

/// FASTA text of the records of SAM or PAF.
pub struct MappedLines<R> {
    input: BufReader<R>,
    format: LineFormat,
    wanted: MappedStretch,
    /// The header lines, as far as they were read.
    header: Vec<u8>,
    line: Vec<u8>,
    /// Number of lines read so far.
    lines: u64,
    /// Number of records read so far.
    records: u64,
    text: Vec<u8>,
    /// Number of bytes of the text that the caller has received.
    given: usize,
    ended: bool,
}

impl<R: Read> MappedLines<R> {
    pub fn new(input: R, format: LineFormat, wanted: MappedStretch) -> MappedLines<R> {
        let (header, line, text) = Default::default();
        MappedLines {
            input: BufReader::new(input),
            format,
            wanted,
            header,
            line,
            lines: 0,
            records: 0,
            text,
            given: 0,
            ended: false,
        }
    }

    /// The header lines. Complete once some text was read.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// Reads the next line; returns `false` at the end.
    fn next_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        (&mut self.input).take(MOST_LINE).read_until(b'\n', &mut self.line)?;
        self.lines += 1;
        if self.line.len() as u64 == MOST_LINE {
            return Err(self.fault("is longer than 512 MiB"));
        }
        let len = self.line.trim_ascii_end().len();
        let is_end = self.line.is_empty();
        self.line.truncate(len);
        Ok(!is_end)
    }

    fn push(&mut self) -> io::Result<()> {
        if self.line.is_empty() {
            return Ok(());
        }
        if self.format == LineFormat::Sam && self.line[0] == b'@' {
            // References may have many lines.
            if self.records == 0 && !self.line.starts_with(b"@SQ") {
                self.header.extend_from_slice(&self.line);
                self.header.push(b'\n');
            }
            return Ok(());
        }
        self.records += 1;
        let pushed = match self.format {
            LineFormat::Sam => push_sam(&mut self.text, &self.line, (self.records, &mut self.wanted)),
            LineFormat::Paf => push_paf(&mut self.text, &self.line, self.records),
        };
        pushed.map_err(|problem| self.fault(problem))
    }

    fn fault(&self, problem: &str) -> io::Error {
        let format = if self.format == LineFormat::Sam { "SAM" } else { "PAF" };
        fault(format!("line {} of the {format} data {problem}", self.lines))
    }
}

impl<R: Read> Read for MappedLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.text.len() && !self.ended {
            self.text.clear();
            self.given = 0;
            while self.text.len() < TEXT && !self.ended {
                self.ended = self.wanted.has_ended();
                match !self.ended && self.next_line()? {
                    true => self.push()?,
                    false => self.ended = true,
                }
            }
        }
        let read = (&self.text[self.given..]).read(buffer)?;
        self.given += read;
        Ok(read)
    }
}

/// Whether a line is one of PAF.
pub fn is_paf(line: &[u8]) -> bool {
    let columns: Vec<&[u8]> = line.trim_ascii_end().split(|&byte| byte == b'\t').collect();
    let is_number = |column: &&[u8]| !column.is_empty() && column.iter().all(u8::is_ascii_digit);
    columns.len() >= PAF_COLUMNS
        && columns[1..4].iter().chain(&columns[6..12]).all(is_number)
        && matches!(columns[4], b"+" | b"-" | b"*")
}

fn text(column: &[u8]) -> Result<&str, &'static str> {
    str::from_utf8(column).map_err(|_| "is not UTF-8")
}

fn number<T: std::str::FromStr>(column: &[u8], problem: &'static str) -> Result<T, &'static str> {
    text(column)?.parse().map_err(|_| problem)
}

/// Appends the record of a line of SAM if it is wanted.
fn push_sam(
    out: &mut Vec<u8>,
    line: &[u8],
    (record, wanted): (u64, &mut MappedStretch),
) -> Result<(), &'static str> {
    let columns: Vec<&[u8]> = line.split(|&byte| byte == b'\t').take(SAM_COLUMNS).collect();
    let &[name, flags, reference, position, mapq, cigar, _, _, _, bases, _] = &columns[..] else {
        return Err("has less than 11 columns");
    };
    let flags = number(flags, "has no number as FLAG")?;
    if !wanted.take(flags) {
        return Ok(());
    }
    let fields = MappedFields {
        number: record,
        flags,
        reference: text(reference)?,
        position: number(position, "has no position as POS")?,
        mapq: number(mapq, "has no quality from 0 to 255 as MAPQ")?,
        cigar: text(cigar)?,
    };
    let bases = if bases == MISSING.as_bytes() || !wanted.kind.have_bases() { b"" } else { bases };
    push_mapped(out, name, &fields, bases.iter().copied());
    Ok(())
}

/// Appends the record of a line of PAF, without bases, unless it is secondary.
fn push_paf(out: &mut Vec<u8>, line: &[u8], record: u64) -> Result<(), &'static str> {
    if !is_paf(line) {
        return Err("has not the 12 columns of PAF");
    }
    let columns: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
    let tag = |name: &[u8]| columns[PAF_COLUMNS..].iter().find_map(|column| column.strip_prefix(name));
    if tag(b"tp:A:").is_some_and(|kind| kind == b"S") {
        return Ok(());
    }
    let column = |at: usize| number::<u32>(columns[at], "has a number that is too large");
    let (len, start, end, position) = (column(1)?, column(2)?, column(3)?, column(7)?);
    let mapq = number(columns[11], "has a mapping quality above 255")?;
    let is_unmapped = columns[4] == b"*";
    let is_reverse = columns[4] == b"-";
    let path = match (tag(b"cg:Z:"), tag(b"cs:Z:")) {
        (Some(cigar), _) => text(cigar)?.to_string(),
        (None, Some(differences)) => cigar_of_cs(text(differences)?).ok_or("has an invalid cs tag")?,
        (None, None) => String::new(),
    };
    let clips = [start, len.checked_sub(end).ok_or("has an end beyond the query")?];
    let [before, after] = if is_reverse { [clips[1], clips[0]] } else { clips };
    let clip = |len: u32| if len == 0 { String::new() } else { format!("{len}S") };
    let cigar = match path.is_empty() {
        true => MISSING.to_string(),
        false => format!("{}{path}{}", clip(before), clip(after)),
    };
    let strand = if is_reverse { REVERSE } else { 0 };
    let fields = MappedFields {
        number: record,
        flags: if is_unmapped { UNMAPPED } else { strand },
        reference: text(columns[5])?,
        position: if is_unmapped { 0 } else { position.saturating_add(1) },
        mapq,
        cigar: &cigar,
    };
    push_mapped(out, columns[0], &fields, std::iter::empty());
    Ok(())
}

/// The CIGAR of minimap2's cs tag, in either form. `None` if the tag is invalid.
fn cigar_of_cs(tag: &str) -> Option<String> {
    let mut cigar = String::new();
    let mut rest = tag;
    while let Some(kind) = rest.chars().next() {
        let body = rest.get(1..)?;
        let end = body.find([':', '=', '*', '+', '-', '~']).unwrap_or(body.len());
        let (value, after) = body.split_at(end);
        let (len, op) = match kind {
            ':' => (value.parse().ok()?, '='),
            '=' => (value.len(), '='),
            '*' if value.len() == 2 => (1, 'X'),
            '+' => (value.len(), 'I'),
            '-' => (value.len(), 'D'),
            // An intron: its ends, two bases each, around its length.
            '~' => (value.get(2..value.len().checked_sub(2)?)?.parse().ok()?, 'N'),
            _ => return None,
        };
        cigar.push_str(&format!("{len}{op}"));
        rest = after;
    }
    Some(cigar)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(format: LineFormat, input: &str) -> io::Result<String> {
        let mut text = String::new();
        let wanted = MappedStretch::all(MappedRecords::Primary);
        MappedLines::new(input.as_bytes(), format, wanted).read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn sam_becomes_fasta() {
        let input = "@HD\tVN:1.6\n@SQ\tSN:t\tLN:9\nr\t0\tt\t3\t60\t2S3M\t*\t0\t0\tACGTN\t*\tAS:i:3\n\
                     odd\t16\tt\t4\t1\t4M\t*\t0\t0\tAACC\tIIII\nr\t256\tt\t3\t60\t5M\t*\t0\t0\t*\t*\n\
                     p\t77\t*\t0\t0\t*\t*\t0\t0\tA\t*\r\n\nq\t4\t*\t0\t0\t*\t*\t0\t0\t*\t*";
        let expected = ">r\t1\t0\tt\t3\t60\t2S3M\nACGTN\n>odd\t2\t16\tt\t4\t1\t4M\nGGTT\n\
                        >p\t4\t77\t*\t0\t0\t*\nA\n>q\t5\t4\t*\t0\t0\t*\n\n";
        assert_eq!(converted(LineFormat::Sam, input).unwrap(), expected);
        for (line, noun) in [
            ("r\t0\tt\t3", "line 2 of the SAM data has less than 11 columns"),
            ("r\tx\tt\t3\t60\t5M\t*\t0\t0\tA\t*", "FLAG"),
            ("r\t0\tt\t-3\t60\t5M\t*\t0\t0\tA\t*", "POS"),
            ("r\t0\tt\t3\t256\t5M\t*\t0\t0\tA\t*", "MAPQ"),
        ] {
            let error = converted(LineFormat::Sam, &format!("@HD\tVN:1.6\n{line}\n")).unwrap_err();
            assert!(error.to_string().contains(noun), "{error}");
        }
    }

    #[test]
    fn records_are_chosen_by_their_flags() {
        let line = |flags: u16| format!("r{flags}\t{flags}\tt\t3\t60\t2M\t*\t0\t0\tAC\t*\n");
        let input =
            format!("@SQ\tSN:t\tLN:9\n@PG\tID:x\n{}@PG\tID:y\n", [0, 256, 2048, 2304].map(line).concat());
        let text = |number: u64, flags: u16, bases: &str| {
            format!(">r{flags}\t{number}\t{flags}\tt\t3\t60\t2M\n{bases}\n")
        };
        let second = |number| format!(">s\t{number}\t0\tt\t3\t60\t2M\nAC\n");
        let input = input + &["s\t0\tt\t3\t60\t2M\t*\t0\t0\tAC\t*\n"; 2].concat();
        let (first, last) = (text(1, 0, "AC"), second(5) + &second(6));
        let supplementary = text(3, 2048, "");
        let of = MappedStretch::of;
        for (wanted, expected) in [
            (MappedStretch::all(MappedRecords::Primary), first.clone() + &last),
            (of(MappedRecords::Primary, (0, 1)), first),
            (of(MappedRecords::Primary, (1, 3)), last),
            (of(MappedRecords::Primary, (1, 2)), second(5)),
            (of(MappedRecords::Primary, (2, 2)), String::new()),
            (of(MappedRecords::Primary, (3, 9)), String::new()),
            (MappedStretch::all(MappedRecords::Supplementary), supplementary.clone()),
            (of(MappedRecords::Both, (0, 2)), text(1, 0, "") + &supplementary),
        ] {
            let mut found = String::new();
            let mut lines = MappedLines::new(input.as_bytes(), LineFormat::Sam, wanted);
            lines.read_to_string(&mut found).unwrap();
            assert_eq!((found, lines.header()), (expected, &b"@PG\tID:x\n"[..]), "{wanted:?}");
        }
    }

    #[test]
    fn paf_becomes_fasta() {
        let line =
            |strand: &str, rest: &str| format!("r\t10\t2\t9\t{strand}\tt\t50\t5\t12\t7\t7\t60{rest}\n");
        let comment = |flags: u16, cigar: &str| format!(">r\t1\t{flags}\tt\t6\t60\t{cigar}\n\n");
        for (input, expected) in [
            (line("+", "\ttp:A:P\tcg:Z:7M"), comment(0, "2S7M1S")),
            (line("-", "\tcg:Z:3M1D4M"), comment(16, "1S3M1D4M2S")),
            (line("-", "\tcs:Z::3-a*ag:3"), comment(16, "1S3=1D1X3=2S")),
            (line("+", "\tcs:Z:=ACG+tt~gt12ag=AC"), comment(0, "2S3=2I12N2=1S")),
            (line("+", ""), comment(0, "*")),
            (line("+", "\ttp:A:S\tcg:Z:7M"), String::new()),
        ] {
            assert_eq!(converted(LineFormat::Paf, &input).unwrap(), expected, "{input}");
        }
        let unmapped = "r\t10\t0\t0\t*\t*\t0\t0\t0\t0\t0\t0\n";
        assert_eq!(converted(LineFormat::Paf, unmapped).unwrap(), ">r\t1\t4\t*\t0\t0\t*\n\n");
        let wrong = ["\tcs:Z:?3", "\tcs:Z:\u{e9}", "\tcs:Z:+\u{e9}~a", "\tcs:Z:*a"].map(|tag| line("+", tag));
        let long = line("+", "").replace("\t10\t", "\t4294967296\t");
        for wrong in wrong.into_iter().chain([line("x", ""), "r\t1\n".to_string(), long]) {
            assert!(converted(LineFormat::Paf, &wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn comments_are_read_back() {
        let fields = MappedFields {
            number: 7,
            flags: PAIRED | LAST | REVERSE,
            reference: "chr 1",
            position: 12,
            mapq: 3,
            cigar: "4M",
        };
        let mut out = Vec::new();
        push_mapped(&mut out, b"r", &fields, b"AACG".iter().copied());
        assert_eq!(out, b">r\t7\t145\tchr 1\t12\t3\t4M\nCGTT\n");
        let read = MappedFields::of_comment(&out[2..out.len() - 6]).unwrap();
        assert_eq!((read, read.mate()), (fields, 2));
        assert_eq!(MappedFields::of_comment(b"\t1\t2"), None);
    }
}
