//! A file's bytes as they come.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
}

/// So many bytes tell the packing.
const BGZF_HEADER: usize = 18;
/// The empty block that ends a bgzf file (SAM specification, section 4.1.2).
pub const BGZF_END: [u8; 28] = [
    0x1f, 0x8b, 0x08, 0x04, 0, 0, 0, 0, 0, 0xff, 0x06, 0, 0x42, 0x43, 0x02, 0, 0x1b, 0, 0x03, 0, 0, 0, 0, 0,
    0, 0, 0, 0,
];
/// A newline as a gzip file of one stored block.
const NEWLINE_GZIP: [u8; 24] = [
    0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 0xff, 0x01, 0x01, 0, 0xfe, 0xff, b'\n', 0x93, 0x06, 0xd7, 0x32, 0x01,
    0, 0, 0,
];

impl Packing {
    pub fn of(head: &[u8]) -> Packing {
        // The flag says that there are extra fields, and BC is bgzf's.
        let bgzf = head.starts_with(&BGZF_END[..4]) && head.get(12..14) == Some(b"BC");
        match head {
            [] => Packing::Empty,
            _ if bgzf => Packing::Bgzf,
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [b'B', b'Z', b'h', ..] => Packing::Foreign("bzip2", "bzip2 -dc"),
            [0xfd, b'7', b'z', b'X', b'Z', ..] => Packing::Foreign("xz", "xz -dc"),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Foreign("zstd", "zstd -dc"),
            _ => Packing::Plain,
        }
    }

    /// The newline that [`Source`] puts after the input.
    fn newline(self) -> &'static [u8] {
        match self {
            Packing::Gzip | Packing::Bgzf => &NEWLINE_GZIP,
            Packing::Empty | Packing::Plain | Packing::Foreign(..) => b"\n",
        }
    }
}

/// A file's bytes, followed by one newline.
///
/// The newline is there because needletail refuses a FASTA header that ends the file, while a
/// header before another header is a record without letters: with an empty line after it, it is
/// one at the end too. Compressed input gets it as one more gzip member; data cut short can't pass
/// with it, since the checksum of the open member then fails.
pub struct Source {
    input: Box<dyn Read + Send>,
    packing: Packing,
    /// The first byte as it is in the file; a newline where there is none.
    first: u8,
    ended: bool,
    /// What is left of the newline.
    last: &'static [u8],
    trace: Trace,
}

/// What is kept of the bytes that went through a [`Source`], for those who gave it away.
#[derive(Clone, Default)]
pub struct Trace(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    /// A failed read of the file itself; needletail keeps only the text of an error.
    error: Option<io::Error>,
    /// The last bytes of the file, as many as [`BGZF_END`] has.
    tail: Vec<u8>,
}

impl Source {
    /// Reads the first bytes of `input`, which tell the packing.
    pub fn new(mut input: Box<dyn Read + Send>) -> io::Result<Source> {
        let mut head = Vec::new();
        (&mut input).take(BGZF_HEADER as u64).read_to_end(&mut head)?;
        let packing = Packing::of(&head);
        let first = head.first().copied().unwrap_or(b'\n');
        Ok(Source {
            input: Box::new(io::Cursor::new(head).chain(input)),
            packing,
            first,
            ended: false,
            last: packing.newline(),
            trace: Trace::default(),
        })
    }

    pub fn packing(&self) -> Packing {
        self.packing
    }

    pub fn first(&self) -> u8 {
        self.first
    }

    pub fn trace(&self) -> Trace {
        self.trace.clone()
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Past its end a terminal would wait for more.
        if self.ended {
            return self.last.read(buffer);
        }
        match self.input.read(buffer) {
            Ok(0) => {
                self.ended = !buffer.is_empty();
                self.last.read(buffer)
            }
            Ok(read) => {
                self.trace.see(&buffer[..read]);
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let kind = error.kind();
                self.trace.lock().error = Some(error);
                Err(kind.into())
            }
        }
    }
}

impl Trace {
    /// The error of a failed read, once.
    pub fn take_error(&self) -> Option<io::Error> {
        self.lock().error.take()
    }

    /// Whether the last bytes so far are the empty block that ends a bgzf file.
    pub fn ends_as_bgzf(&self) -> bool {
        self.lock().tail == BGZF_END
    }

    fn see(&self, bytes: &[u8]) {
        let (mut seen, wanted) = (self.lock(), BGZF_END.len());
        seen.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(wanted)..]);
        let surplus = seen.tail.len().saturating_sub(wanted);
        seen.tail.drain(..surplus);
    }

    /// What was seen stays true when another thread panicked with it in hand.
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
