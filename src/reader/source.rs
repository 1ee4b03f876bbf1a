//! A file's text as it comes: unpacked, and without a byte order mark.

use super::bgzf::{self, Bgzf};
use super::gunzip::{Gunzip, Tail};
use std::io::{self, BufReader, Cursor, Read};

/// How the bytes of a file are packed, from its first ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// There are none.
    Empty,
    Plain,
    Gzip,
    /// Gzip in blocks whose size stands in their headers; ends with [`BGZF_END`].
    Bgzf,
    /// A compression that we don't read, with the command that undoes it.
    Foreign(&'static str, &'static str),
    /// No text: a database that `swalign index` made.
    Database,
}

/// So many bytes tell the packing, and how text is encoded.
const HEAD: u64 = bgzf::HEADER as u64;
/// The beginning of a database, made as PNG's is: no text has its first byte, and a change of line ends shows.
pub const DATABASE: [u8; 8] = *b"\x89SWD\r\n\x1a\n";
/// The beginning of gzip data.
pub const GZIP: [u8; 3] = [0x1f, 0x8b, 0x08];
/// The empty block that ends a bgzf file (SAM specification, section 4.1.2).
pub const BGZF_END: [u8; 28] = [
    0x1f, 0x8b, 0x08, 0x04, 0, 0, 0, 0, 0, 0xff, 0x06, 0, 0x42, 0x43, 0x02, 0, 0x1b, 0, 0x03, 0, 0, 0, 0, 0,
    0, 0, 0, 0,
];
/// Packed bytes that are read at once.
const PACKED: usize = 1 << 16;
/// What some programs put before UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

impl Packing {
    pub fn of(head: &[u8]) -> Packing {
        // The flag says that there are extra fields, and BC is bgzf's.
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

/// A file's text, followed by one newline.
///
/// The newline is there because needletail refuses a FASTA header that ends the file, while a
/// header before another header is a record without letters: with an empty line after it, it is
/// one at the end too.
pub struct Source {
    input: Box<dyn Read + Send>,
    packing: Packing,
    /// The first byte of the text; a newline where there is none.
    first: u8,
    utf16: Option<&'static str>,
    ended: bool,
    /// What is left of the newline.
    last: &'static [u8],
    tail: Tail,
}

impl Source {
    /// Reads the first bytes of `input`, which tell the packing.
    pub fn new(mut input: Box<dyn Read + Send>) -> io::Result<Source> {
        let mut head = beginning(&mut input)?;
        let (mut packing, tail) = (Packing::of(&head), Tail::default());
        if let Packing::Gzip | Packing::Bgzf = packing {
            let packed = Cursor::new(head).chain(input);
            input = match packing {
                Packing::Bgzf => Box::new(Bgzf::new(packed, tail.clone())),
                _ => Box::new(Gunzip::new(BufReader::with_capacity(PACKED, packed), tail.clone())),
            };
            head = beginning(&mut input)?;
        }
        let text = without_mark(&head);
        if packing == Packing::Plain && text.is_empty() {
            packing = Packing::Empty;
        }
        let (first, utf16) = (text.first().copied().unwrap_or(b'\n'), utf16(&head));
        let input = Box::new(Cursor::new(text.to_vec()).chain(input));
        Ok(Source { input, packing, first, utf16, ended: false, last: b"\n", tail })
    }

    pub fn packing(&self) -> Packing {
        self.packing
    }

    pub fn first(&self) -> u8 {
        self.first
    }

    /// The name of the encoding, where the text is UTF-16.
    pub fn utf16(&self) -> Option<&'static str> {
        self.utf16
    }

    /// What will be known of the end of gzip data.
    pub fn tail(&self) -> Tail {
        self.tail.clone()
    }
}

fn beginning(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

/// Text without the byte order mark of UTF-8.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// The name of the encoding, where text begins as UTF-16 does: with a byte order mark, or with characters of ASCII, of
/// which every other byte is NUL.
fn utf16(head: &[u8]) -> Option<&'static str> {
    let is_text = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    match *head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16"),
        [a, 0, b, 0, ..] if is_text(a) && is_text(b) => Some("UTF-16LE"),
        [0, a, 0, b, ..] if is_text(a) && is_text(b) => Some("UTF-16BE"),
        _ => None,
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Past its end a terminal would wait for more.
        if self.ended {
            return self.last.read(buffer);
        }
        match self.input.read(buffer)? {
            0 => {
                self.ended = !buffer.is_empty();
                self.last.read(buffer)
            }
            read => Ok(read),
        }
    }
}
