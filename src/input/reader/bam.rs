//! Converts the reads of a BAM file to FASTQ text, so that the rest of the reader only handles FASTQ.
//!
//! The conversion is that of `samtools fastq -T '*'`: secondary and supplementary records are skipped, a read that was
//! aligned to the reverse strand is reverse-complemented, `/1` and `/2` mark the mates of a pair, and the tags follow
//! the name after tabs. If the fields of the records are kept, the text is that of [`super::mapped`].

use super::mapped::{
    FIRST, LAST, MISSING, MappedFields, MappedStretch, PAIRED, REPEATED, REVERSE, push_mapped,
};
use crate::terms::alphabet::complement;
use crate::terms::bam::{
    FLAGS, MAGIC, MAPQ, NAME, NAME_LEN, NO_QUALITY, QUALITY_OFFSET, RecordFields, SIZE, START, TARGET, Tag,
    array, integer, number_size,
};
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};

/// Quality of the bases of a read without qualities, for which FASTQ has no notation.
const UNKNOWN_QUALITY: u8 = QUALITY_OFFSET + 1;
/// Maximum number of bytes of a record. The longest reads have some million bases, and a few bytes for each.
const MOST_RECORD: u32 = 1 << 29;
/// Bytes of text produced before the caller gets them.
const TEXT: usize = 1 << 16;

/// FASTQ text of the reads of a BAM file.
pub struct BamReads<R> {
    input: R,
    has_header: bool,
    /// Number of records read so far.
    records: u64,
    record: Vec<u8>,
    text: Vec<u8>,
    /// Number of bytes of the text that the caller has received.
    given: usize,
    ended: bool,
    /// The lines of the header, once it was read.
    header: Vec<u8>,
    /// The records whose fields are kept; `None` for reads without them.
    fields: Option<MappedStretch>,
    /// Names of the references, if the fields are kept.
    references: Vec<String>,
}

/// A fault of a file of alignments.
#[derive(Debug)]
pub struct DamagedBam(String);

impl fmt::Display for DamagedBam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DamagedBam {}

impl<R: Read> BamReads<R> {
    /// Reads decompressed BAM data, starting with the magic number.
    pub fn new(input: R, fields: Option<MappedStretch>) -> BamReads<R> {
        BamReads {
            input,
            has_header: false,
            records: 0,
            record: Vec::new(),
            text: Vec::new(),
            given: 0,
            ended: false,
            header: Vec::new(),
            fields,
            references: Vec::new(),
        }
    }

    /// The lines of the header. Complete once some text was read.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// Reads the lines of the header and, if the fields of records are kept, the names of the references.
    fn read_header(&mut self) -> io::Result<()> {
        let magic: [u8; MAGIC.len()] = self.take()?;
        debug_assert_eq!(magic, *MAGIC);
        let len = u32::from_le_bytes(self.take()?);
        // The length may be damaged, so memory grows with the bytes that arrive.
        (&mut self.input).take(len.into()).read_to_end(&mut self.header)?;
        if self.header.len() < len as usize {
            return Err(self.cut_short());
        }
        let references = u32::from_le_bytes(self.take()?);
        for _ in 0..references {
            let len = u32::from_le_bytes(self.take()?);
            if self.fields.is_some() {
                let mut name = Vec::new();
                (&mut self.input).take(len.into()).read_to_end(&mut name)?;
                if name.pop().is_none_or(|last| last != 0) || name.len() + 1 < len as usize {
                    return Err(self.cut_short());
                }
                self.references.push(String::from_utf8_lossy(&name).into_owned());
            } else {
                self.pass(len.into())?;
            }
            // The length of the reference.
            self.pass(4)?;
        }
        Ok(())
    }

    /// Reads the next record; returns `false` at the end of the file.
    fn next_record(&mut self) -> io::Result<bool> {
        self.record.clear();
        (&mut self.input).take(SIZE as u64).read_to_end(&mut self.record)?;
        if self.record.is_empty() {
            return Ok(false);
        }
        let size = array(&self.record, 0).map(u32::from_le_bytes).ok_or_else(|| self.cut_short())?;
        if size > MOST_RECORD {
            return Err(fault(format!(
                "the record after record {} of the BAM data has {size} bytes",
                self.records
            )));
        }
        // The size may be damaged, so memory grows with the bytes that arrive.
        let read = (&mut self.input).take(size.into()).read_to_end(&mut self.record)?;
        if read < size as usize {
            return Err(self.cut_short());
        }
        self.records += 1;
        Ok(true)
    }

    /// Appends the read of the record to the text.
    fn push_read(&mut self) -> io::Result<()> {
        let BamReads { record, text, .. } = self;
        let written = match &mut self.fields {
            Some(wanted) => push_fields(text, record, (self.records, wanted), &self.references),
            None => push_read(text, record),
        };
        written.ok_or_else(|| {
            fault(format!("record {} of the BAM data is damaged: its fields exceed its size", self.records))
        })
    }

    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        match self.input.read_exact(&mut bytes) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(self.cut_short()),
            read => read.map(|()| bytes),
        }
    }

    fn pass(&mut self, bytes: u64) -> io::Result<()> {
        match io::copy(&mut (&mut self.input).take(bytes), &mut io::sink())? {
            passed if passed == bytes => Ok(()),
            _ => Err(self.cut_short()),
        }
    }

    fn cut_short(&self) -> io::Error {
        let behind = match self.has_header {
            true => format!("after record {}", self.records),
            false => "in its header".to_string(),
        };
        fault(format!("the BAM data is truncated {behind}"))
    }
}

/// The lines of a header of this type, such as `@RG`, that have an ID and only printable characters.
pub fn header_lines(header: &[u8], kind: &str) -> Vec<String> {
    let is_of_kind =
        |line: &&[u8]| line.strip_prefix(kind.as_bytes()).is_some_and(|fields| fields.starts_with(b"\t"));
    let lines = header.split(|&byte| byte == b'\n').filter(is_of_kind);
    let lines = lines.filter_map(|line| str::from_utf8(line).ok()).map(str::trim_end);
    let is_sound = |line: &&str| {
        line.split('\t').any(|field| field.starts_with("ID:"))
            && !line.chars().any(|letter| letter.is_control() && letter != '\t')
    };
    lines.filter(is_sound).map(str::to_string).collect()
}

/// An error of a file of alignments.
pub fn fault(text: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, DamagedBam(text))
}

/// Appends the read of a record as FASTQ, unless another record has the whole read; `None` if the record is damaged.
fn push_read(text: &mut Vec<u8>, record: &[u8]) -> Option<()> {
    let fields = RecordFields::of(record)?;
    let flags = u16::from_le_bytes(array(record, FLAGS)?);
    if flags & REPEATED != 0 {
        return Some(());
    }
    let name = usize::from(*record.get(NAME_LEN)?);
    text.push(b'@');
    text.extend_from_slice(record.get(NAME..(NAME + name).checked_sub(1)?)?);
    match flags & (PAIRED | FIRST | LAST) {
        mate if mate == PAIRED | FIRST => text.extend_from_slice(b"/1"),
        mate if mate == PAIRED | LAST => text.extend_from_slice(b"/2"),
        _ => {}
    }
    let mut at = fields.tags;
    while at < record.len() {
        let tag = Tag::at(record, at)?;
        push_tag(text, record, &tag)?;
        at = tag.range.end;
    }
    text.push(b'\n');
    let is_reverse = flags & REVERSE != 0;
    match is_reverse {
        true => text.extend(fields.bases(record).rev().map(complement)),
        false => text.extend(fields.bases(record)),
    }
    text.extend_from_slice(b"\n+\n");
    let qualities = &record[fields.qualities..fields.tags];
    let begin = text.len();
    match qualities.first() {
        Some(&NO_QUALITY) => text.resize(begin + qualities.len(), UNKNOWN_QUALITY),
        _ => text.extend(qualities.iter().map(|quality| quality.saturating_add(QUALITY_OFFSET))),
    }
    if is_reverse {
        text[begin..].reverse();
    }
    text.push(b'\n');
    Some(())
}

/// Appends the read of a record with its fields if the record is wanted; `None` if the record is damaged.
fn push_fields(
    text: &mut Vec<u8>,
    record: &[u8],
    (number, wanted): (u64, &mut MappedStretch),
    references: &[String],
) -> Option<()> {
    let fields = RecordFields::of(record)?;
    let flags = u16::from_le_bytes(array(record, FLAGS)?);
    if !wanted.take(flags) {
        return Some(());
    }
    let name = usize::from(*record.get(NAME_LEN)?);
    let reference = match i32::from_le_bytes(array(record, TARGET)?) {
        -1 => MISSING,
        target => references.get(usize::try_from(target).ok()?)?,
    };
    let start = i32::from_le_bytes(array(record, START)?);
    let mut cigar = cigar_text(record.get(NAME + name..fields.bases)?)?;
    // More operations than BAM's field can count are stored in a tag.
    if cigar.starts_with(&format!("{}S", fields.len)) && cigar.ends_with('N') {
        let mut at = fields.tags;
        while at < record.len() {
            let tag = Tag::at(record, at)?;
            if tag.name == *b"CG" && record[tag.range.start + 2..].starts_with(b"BI") {
                cigar = cigar_text(&record[tag.range.start + 8..tag.range.end])?;
            }
            at = tag.range.end;
        }
    }
    let mapped = MappedFields {
        number,
        flags,
        reference,
        position: u32::try_from(i64::from(start) + 1).ok()?,
        mapq: *record.get(MAPQ)?,
        cigar: if cigar.is_empty() { MISSING } else { &cigar },
    };
    let name = record.get(NAME..(NAME + name).checked_sub(1)?)?;
    push_mapped(text, name, &mapped, fields.bases(record).filter(|_| wanted.kind.have_bases()));
    Some(())
}

/// The text of a CIGAR; `None` if an operation is unknown.
fn cigar_text(operations: &[u8]) -> Option<String> {
    let mut text = String::new();
    for operation in operations.chunks_exact(4) {
        let operation = u32::from_le_bytes(array(operation, 0)?);
        let letter = b"MIDNSHP=X".get((operation & 15) as usize)?;
        text.push_str(&format!("{}{}", operation >> 4, char::from(*letter)));
    }
    Some(text)
}

/// Appends a tag in SAM's form, preceded by a tab. A tag whose text would end the line is left out.
fn push_tag(text: &mut Vec<u8>, record: &[u8], tag: &Tag) -> Option<()> {
    let value = record.get(tag.range.start + 3..tag.range.end)?;
    let begin = text.len();
    text.push(b'\t');
    text.extend_from_slice(&tag.name);
    match tag.kind {
        b'A' => text.extend_from_slice(&[b':', b'A', b':', value[0]]),
        b'Z' | b'H' => {
            text.extend_from_slice(&[b':', tag.kind, b':']);
            text.extend_from_slice(&value[..value.len() - 1]);
        }
        b'B' => {
            let (kind, size) = (value[0], number_size(value[0])?);
            text.extend_from_slice(&[b':', b'B', b':', kind]);
            for number in value[5..].chunks_exact(size) {
                text.push(b',');
                push_number(text, kind, number)?;
            }
        }
        kind => {
            text.extend_from_slice(if kind == b'f' { b":f:" } else { b":i:" });
            push_number(text, kind, value)?;
        }
    }
    if text[begin + 1..].iter().any(u8::is_ascii_control) {
        text.truncate(begin);
    }
    Some(())
}

fn push_number(text: &mut Vec<u8>, kind: u8, bytes: &[u8]) -> Option<()> {
    match kind {
        b'f' => write!(text, "{}", f32::from_le_bytes(array(bytes, 0)?)).ok(),
        _ => write!(text, "{}", integer(kind, bytes)?).ok(),
    }
}

impl<R: Read> Read for BamReads<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.text.len() && !self.ended {
            self.text.clear();
            self.given = 0;
            if !self.has_header {
                self.read_header()?;
                self.has_header = true;
            }
            while self.text.len() < TEXT && !self.ended {
                self.ended = self.fields.is_some_and(|wanted| wanted.has_ended());
                match !self.ended && self.next_record()? {
                    true => self.push_read()?,
                    false => self.ended = true,
                }
            }
        }
        let read = (&self.text[self.given..]).read(buffer)?;
        self.given += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::super::mapped::MappedRecords;
    use super::*;
    use crate::terms::bam::OPERATIONS;

    /// A record with these flags, bases, qualities, and bytes of tags.
    fn record(name: &str, flags: u16, bases: &str, qualities: &[u8], tags: &[u8]) -> Vec<u8> {
        let mut out = vec![0; NAME];
        out[NAME_LEN] = name.len() as u8 + 1;
        out[FLAGS..FLAGS + 2].copy_from_slice(&flags.to_le_bytes());
        out[20..24].copy_from_slice(&(bases.len() as u32).to_le_bytes());
        out.extend(name.bytes().chain([0]));
        let code =
            |base: u8| crate::terms::bam::BASE_CODES.iter().position(|&known| known == base).unwrap() as u8;
        for pair in bases.as_bytes().chunks(2) {
            out.push(code(pair[0]) << 4 | pair.get(1).map_or(0, |&base| code(base)));
        }
        out.extend(qualities);
        out.extend(tags);
        let size = (out.len() - SIZE) as u32;
        out[..SIZE].copy_from_slice(&size.to_le_bytes());
        out
    }

    fn file(records: &[Vec<u8>]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(3u32.to_le_bytes());
        out.extend(b"@CO");
        out.extend(1u32.to_le_bytes());
        out.extend(2u32.to_le_bytes());
        out.extend(b"t\0");
        out.extend(9u32.to_le_bytes());
        out.extend(records.concat());
        out
    }

    fn text(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        BamReads::new(bytes, None).read_to_string(&mut text)?;
        Ok(text)
    }

    /// The text of the same file with the fields of the records.
    fn fields(bytes: &[u8]) -> io::Result<String> {
        fields_of(bytes, MappedRecords::Primary)
    }

    fn fields_of(bytes: &[u8], wanted: MappedRecords) -> io::Result<String> {
        let mut text = String::new();
        BamReads::new(bytes, Some(MappedStretch::all(wanted))).read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn reads_as_samtools_writes_them() {
        let tags = [
            &b"BCZACGT\0XAAcXcc\xffXiI\xff\xff\xff\xffXff\0\0\xc0\x3fXhH1AE3\0"[..],
            b"MLBC\x02\0\0\0\xc8\x07XBBs\x01\0\0\0\xfe\xffXFBf\x01\0\0\0\0\0\0\x3f",
        ]
        .concat();
        let records = [
            record("plain", 4, "ACGTN", &[0, 10, 20, 30, 40], &tags),
            record("turned", 16, "AACCR", &[1, 2, 3, 4, 5], b""),
            record("again", 256, "ACGT", &[1; 4], b""),
            record("again", 2048, "ACGT", &[1; 4], b""),
            record("pair", 1 | 64, "A", &[30], b"XZZa\nb\0"),
            record("pair", 1 | 128 | 16, "C", &[NO_QUALITY], b""),
            record("empty", 4, "", &[], b""),
        ];
        let expected = [
            "@plain\tBC:Z:ACGT\tXA:A:c\tXc:i:-1\tXi:i:4294967295\tXf:f:1.5\tXh:H:1AE3\tML:B:C,200,7\tXB:B:s,-2\tXF:B:f,0.5",
            "\nACGTN\n+\n!+5?I\n@turned\nYGGTT\n+\n&%$#\"\n@pair/1\nA\n+\n?\n@pair/2\nG\n+\n\"\n@empty\n\n+\n\n",
        ];
        assert_eq!(text(&file(&records)).unwrap(), expected.concat());
        assert_eq!(text(&file(&[])).unwrap(), "");
    }

    #[test]
    fn fields_are_those_of_sam() {
        let mut mapped = record("r", 16, "AACCR", &[1; 5], b"NMC\x03");
        mapped[TARGET..TARGET + 4].copy_from_slice(&0u32.to_le_bytes());
        mapped[START..START + 4].copy_from_slice(&6u32.to_le_bytes());
        mapped[MAPQ] = 17;
        let with_cigar = |mut record: Vec<u8>, operations: &[u32]| {
            record[OPERATIONS..OPERATIONS + 2].copy_from_slice(&(operations.len() as u16).to_le_bytes());
            let at = NAME + usize::from(record[NAME_LEN]);
            record.splice(at..at, operations.iter().flat_map(|operation| operation.to_le_bytes()));
            let size = (record.len() - SIZE) as u32;
            record[..SIZE].copy_from_slice(&size.to_le_bytes());
            record
        };
        let long = with_cigar(
            record("l", 4, "ACG", &[1; 3], b"CGBI\x02\0\0\0\x11\0\0\0\x22\0\0\0"),
            &[3 << 4 | 4, 7 << 4 | 3],
        );
        let mut unmapped = record("u", 4, "", &[], b"");
        for offset in [TARGET, START] {
            unmapped[offset..offset + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        }
        let records = [
            with_cigar(mapped, &[1 << 4 | 4, 4 << 4]),
            record("again", 256, "ACGT", &[1; 4], b""),
            long,
            unmapped,
        ];
        let expected =
            ">r\t1\t16\tt\t7\t17\t1S4M\nYGGTT\n>l\t3\t4\tt\t1\t0\t1I2D\nACG\n>u\t4\t4\t*\t0\t0\t*\n\n";
        assert_eq!(fields(&file(&records)).unwrap(), expected);
        let records = [record("r", 0, "AC", &[1; 2], b""), record("r", 2048, "ACGT", &[1; 4], b"")];
        let of = |wanted| fields_of(&file(&records), wanted).unwrap();
        assert_eq!(of(MappedRecords::Supplementary), ">r\t2\t2048\tt\t1\t0\t*\n\n");
        let mut second = String::new();
        let wanted = MappedStretch::of(MappedRecords::Both, (1, 2));
        BamReads::new(&file(&records)[..], Some(wanted)).read_to_string(&mut second).unwrap();
        assert_eq!(second, of(MappedRecords::Supplementary));
        assert_eq!(of(MappedRecords::Both), ">r\t1\t0\tt\t1\t0\t*\n\n>r\t2\t2048\tt\t1\t0\t*\n\n");
    }

    #[test]
    fn damage_is_an_error_and_never_a_panic() {
        let whole = file(&[record("a", 4, "ACGT", &[9; 4], b"NMC\x03"), record("b", 4, "AC", &[9; 2], b"")]);
        let ends = [whole.len() - record("b", 4, "AC", &[9; 2], b"").len(), whole.len()];
        let header = file(&[]).len();
        for len in MAGIC.len()..whole.len() {
            let read = text(&whole[..len]);
            assert_eq!(read.is_ok(), len == header || ends.contains(&len), "{len}: {read:?}");
        }
        for at in MAGIC.len()..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = whole.clone();
                changed[at] = value;
                let _ = text(&changed);
                let _ = fields(&changed);
            }
        }
    }
}
