//! The text of a file: decompressed, without a byte order mark, and with LF line ends instead of lone CRs.

use super::Part;
use super::bam::{BamReads, header_lines};
use super::bgzf::{self, Bgzf};
use super::cut::newlines;
use super::gunzip::{Gunzip, GzipTail};
use super::mapped::{LineFormat, MappedLines, is_paf};
use std::io::{self, BufReader, Cursor, Read};

/// Compression of a file, recognized by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// The file has no bytes.
    Empty,
    Plain,
    Gzip,
    /// Gzip in blocks whose headers store their size; ends with [`BGZF_END`].
    Bgzf,
    /// An unsupported compression, with its name and the command that decompresses it.
    Foreign(&'static str, &'static str),
    /// Not text, but a database made by `swalign index`.
    Database,
}

/// Number of bytes that identify the compression and the encoding of text.
const HEAD: u64 = bgzf::HEADER as u64;
/// The first bytes of a database, designed like PNG's: no text has the first byte, and a conversion of line ends is
/// detected.
pub const DATABASE: [u8; 8] = *b"\x89SWD\r\n\x1a\n";
/// The first bytes of gzip data.
pub const GZIP: [u8; 3] = [0x1f, 0x8b, 0x08];
/// The empty block that ends a bgzf file (SAM specification, section 4.1.2).
pub const BGZF_END: [u8; 28] = [
    0x1f, 0x8b, 0x08, 0x04, 0, 0, 0, 0, 0, 0xff, 0x06, 0, 0x42, 0x43, 0x02, 0, 0x1b, 0, 0x03, 0, 0, 0, 0, 0,
    0, 0, 0, 0,
];
/// Compressed bytes per read.
const PACKED: usize = 1 << 16;
/// The byte order mark that some programs write before UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

impl Packing {
    pub fn of(head: &[u8]) -> Packing {
        // The flag marks extra fields, and BC is bgzf's.
        let bgzf = head.starts_with(&BGZF_END[..4]) && head.get(12..14) == Some(b"BC");
        match head {
            [] => Packing::Empty,
            _ if bgzf => Packing::Bgzf,
            [0x1f, 0x8b, ..] => Packing::Gzip,
            _ if head.starts_with(&DATABASE) => Packing::Database,
            [b'B', b'Z', b'h', ..] => Packing::Foreign("bzip2", "bzip2 -dc"),
            [0xfd, b'7', b'z', b'X', b'Z', ..] => Packing::Foreign("xz", "xz -dc"),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Foreign("zstd", "zstd -dc"),
            _ => Packing::Plain,
        }
    }
}

/// The beginning of a text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lead {
    /// First byte that is not whitespace; `None` if there is none.
    pub first: Option<u8>,
    /// Number of line ends before that byte.
    pub lines: u64,
    /// Whether lines end in CR alone, as on a classic Mac.
    pub ends_in_cr: bool,
    /// Format of a text, or of its decompressed bytes, that contains alignments instead of sequences.
    pub alignments: Option<&'static str>,
    /// Whether the first line is one of PAF.
    pub is_paf: bool,
}

/// Maximum number of bytes in which the first line end is searched for.
const FIRST_LINE: usize = 1 << 16;
/// If this number of bytes after a CR at the end of the first line contains no LF, lines end in CR alone.
const WITHOUT_LF: usize = 1 << 12;
/// Minimum number of tabs in a line of SAM.
const SAM_TABS: usize = 10;

impl Lead {
    /// Reads the beginning of a text, skips whitespace before the first record, and returns the remaining bytes read.
    pub fn read(input: &mut impl Read) -> io::Result<(Lead, Vec<u8>)> {
        let mut head = beginning(input)?;
        let marked = head.len();
        head.drain(..marked - without_mark(&head).len());
        let (mut before, mut crs) = (Lead::default(), 0);
        loop {
            let blank = head.iter().take_while(|byte| is_blank(**byte)).count();
            before.lines += newlines(&head[..blank]) as u64;
            crs += memchr::memchr_iter(b'\r', &head[..blank]).count() as u64;
            head.drain(..blank);
            if !head.is_empty() || !read_more(input, &mut head)? {
                break;
            }
        }
        let line_end = |head: &[u8]| memchr::memchr2(b'\n', b'\r', head);
        while line_end(&head).is_none() && head.len() < FIRST_LINE && read_more(input, &mut head)? {}
        let first_line = line_end(&head);
        if let Some(at) = first_line.filter(|&at| head[at] == b'\r') {
            let wanted = at + 1 + WITHOUT_LF;
            let has_lf = |head: &[u8]| memchr::memchr(b'\n', &head[at..head.len().min(wanted)]).is_some();
            while head.len() < wanted && !has_lf(&head) && read_more(input, &mut head)? {}
            before.ends_in_cr = head.len() > at + 1 && !has_lf(&head);
        }
        if before.ends_in_cr {
            before.lines = before.lines.max(crs);
        }
        before.first = head.first().copied();
        let first_line = &head[..first_line.unwrap_or(head.len())];
        before.alignments = alignments(first_line);
        before.is_paf = is_paf(first_line);
        Ok((before, head))
    }
}

/// Appends more bytes; returns `false` if there are none.
fn read_more(input: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let mut some = [0; 1 << 10];
    loop {
        match input.read(&mut some) {
            Ok(read) => {
                bytes.extend_from_slice(&some[..read]);
                return Ok(read > 0);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether a byte is ignored between records.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | b' ' | b'\t')
}

/// The alignment format of a file, judged by its first line: a line of SAM is a header line, or has all columns.
fn alignments(line: &[u8]) -> Option<&'static str> {
    const HEADERS: [&[u8]; 5] = [b"@HD\tVN:", b"@SQ\t", b"@RG\tID:", b"@PG\tID:", b"@CO\t"];
    let is_number = |column: &[u8]| !column.is_empty() && column.iter().all(u8::is_ascii_digit);
    let has_columns = || {
        let columns: Vec<&[u8]> = line.splitn(SAM_TABS + 1, |&byte| byte == b'\t').collect();
        columns.len() > SAM_TABS && [1, 3, 4].iter().all(|&column| is_number(columns[column]))
    };
    match line {
        _ if line.starts_with(b"BAM\x01") => Some(BAM),
        _ if line.starts_with(b"CRAM") && line.get(4).is_some_and(|&version| version < 16) => Some("CRAM"),
        _ if HEADERS.iter().any(|header| line.starts_with(header)) => Some(SAM),
        [b'>', ..] | [b'@', ..] => None,
        _ => has_columns().then_some(SAM),
    }
}

/// Replaces CR by LF.
pub fn end_in_lf(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
}

/// A file's text, followed by one newline.
///
/// needletail rejects a FASTA header at the end of a file, but accepts a header before another header as a record
/// without residues. With an empty line after it, the last header is such a record too.
pub struct FileText {
    input: Box<dyn Read + Send>,
    packing: Packing,
    lead: Lead,
    utf16: Option<&'static str>,
    /// The format of the alignments that the text was made from.
    converted: Option<&'static str>,
    /// The @RG lines of a BAM file.
    read_groups: Vec<String>,
    /// The @PG lines of SAM and BAM, if the fields of records are kept.
    programs: Vec<String>,
    ended: bool,
    /// The rest of the final newline.
    last: &'static [u8],
    tail: GzipTail,
}

/// Names of formats.
pub const BAM: &str = "BAM";
const SAM: &str = "SAM";
pub const PAF: &str = "PAF";

impl FileText {
    /// Reads the first bytes of `input`, which identify the compression.
    pub fn new(mut input: Box<dyn Read + Send>, part: Part) -> io::Result<FileText> {
        let mut head = beginning(&mut input)?;
        let (packing, tail) = (Packing::of(&head), GzipTail::default());
        if let Packing::Gzip | Packing::Bgzf = packing {
            let packed = Cursor::new(head).chain(input);
            input = match packing {
                Packing::Bgzf => Box::new(Bgzf::new(packed, tail.clone())),
                _ => Box::new(Gunzip::new(BufReader::with_capacity(PACKED, packed), tail.clone())),
            };
            head = beginning(&mut input)?;
        }
        let utf16 = utf16(&head);
        let mut input = Cursor::new(head).chain(input);
        let (lead, head) = match part.is_first {
            true => Lead::read(&mut input)?,
            false => {
                let head = beginning(&mut input)?;
                (Lead { first: head.first().copied(), ..Lead::default() }, head)
            }
        };
        let input: Box<dyn Read + Send> = Box::new(Cursor::new(head).chain(input));
        let text = FileText {
            input: Box::new(io::empty()),
            packing,
            lead,
            utf16,
            converted: None,
            read_groups: Vec::new(),
            programs: Vec::new(),
            ended: false,
            last: b"\n",
            tail,
        };
        match lead.alignments {
            Some(BAM) => {
                let mut reads = BamReads::new(input, part.fields);
                let head = beginning(&mut reads)?;
                let [read_groups, programs] = ["@RG", "@PG"].map(|kind| header_lines(reads.header(), kind));
                Ok(FileText { read_groups, programs, ..text.of_alignments(BAM, head, reads) })
            }
            format => match (format, part.fields) {
                (Some(SAM), Some(wanted)) => {
                    let mut lines = MappedLines::new(input, LineFormat::Sam, wanted);
                    let head = beginning(&mut lines)?;
                    let programs = header_lines(lines.header(), "@PG");
                    Ok(FileText { programs, ..text.of_alignments(SAM, head, lines) })
                }
                (None, Some(wanted)) if lead.is_paf => {
                    let mut lines = MappedLines::new(input, LineFormat::Paf, wanted);
                    let head = beginning(&mut lines)?;
                    Ok(text.of_alignments(PAF, head, lines))
                }
                _ => Ok(FileText { input, ..text }),
            },
        }
    }

    /// Text that is converted from alignments of this format, after its first bytes.
    fn of_alignments(
        self,
        format: &'static str,
        head: Vec<u8>,
        rest: impl Read + Send + 'static,
    ) -> FileText {
        let lead = Lead { first: head.first().copied(), ..Lead::default() };
        FileText { input: Box::new(Cursor::new(head).chain(rest)), lead, converted: Some(format), ..self }
    }

    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// The format of the alignments that the text was made from.
    pub fn converted(&self) -> Option<&'static str> {
        self.converted
    }

    /// The @PG lines of SAM and BAM, if the fields of records are kept.
    pub fn programs(&self) -> &[String] {
        &self.programs
    }

    /// The @RG lines of a BAM file.
    pub fn read_groups(&self) -> &[String] {
        &self.read_groups
    }

    pub fn lead(&self) -> Lead {
        self.lead
    }

    /// The name of the encoding, if the text is UTF-16.
    pub fn utf16(&self) -> Option<&'static str> {
        self.utf16
    }

    /// Observations at the end of gzip data, filled in as it is read.
    pub fn tail(&self) -> GzipTail {
        self.tail.clone()
    }
}

fn beginning(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

/// The text without the byte order mark of UTF-8.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// The name of the encoding, if the text begins as UTF-16 does: with a byte order mark, or with ASCII characters
/// alternating with NUL.
fn utf16(head: &[u8]) -> Option<&'static str> {
    let is_text = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    match *head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16"),
        [a, 0, b, 0, ..] if is_text(a) && is_text(b) => Some("UTF-16LE"),
        [0, a, 0, b, ..] if is_text(a) && is_text(b) => Some("UTF-16BE"),
        _ => None,
    }
}

impl Read for FileText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Reading a terminal past its end would wait for more input.
        if self.ended {
            return self.last.read(buffer);
        }
        match self.input.read(buffer)? {
            0 => {
                self.ended = !buffer.is_empty();
                self.last.read(buffer)
            }
            read => {
                if self.lead.ends_in_cr {
                    end_in_lf(&mut buffer[..read]);
                }
                Ok(read)
            }
        }
    }
}
