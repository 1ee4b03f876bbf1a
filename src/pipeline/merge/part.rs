//! A part of a run. Its bytes are checked against its receipt while they are read.

use super::refused;
use crate::output::writer::receipt::{self, Receipt, Unread};
use crate::output::writer::{bgzf, frame};
use crate::pipeline::report::{QUERIES, counted};
use crate::terms::error::{Error, Result};
use crate::terms::options::{Format, PartsOf};
use crc32fast::Hasher;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Take};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub const AGAIN: &str = "write this part again";
pub const OTHER_VERSION: &str =
    "write this part again with this version, or merge all parts with the other version";
const WRITTEN: &str = "a part must be written with -o and either --part or --ref-part, and its .swalign file must \
                       be in the same directory: write this part again";

/// A part and its receipt.
pub struct MergePart<'a> {
    pub path: &'a Path,
    pub receipt: Receipt,
}

/// A part's file.
pub struct OpenPart {
    pub header: Vec<u8>,
    pub records: PartBytes,
    pub rest: PartTail,
}

/// The bytes of a part's records.
pub struct PartBytes {
    file: Take<PartFile>,
    sum: Arc<Mutex<Hasher>>,
}

/// The file of a part while it is read.
enum PartFile {
    Open(File),
    /// One of more parts than may be open together. Its file is open only while a piece of it is read.
    Reopened(BufReader<ReopenedFile>),
}

/// A file that is opened for each read.
struct ReopenedFile {
    path: PathBuf,
    /// Bytes read so far.
    at: u64,
}

/// Bytes per read of a file that is opened for each read.
const REOPENED_BYTES: usize = 1 << 18;

/// The bytes after the records, and the checksum of the bytes read so far.
pub struct PartTail {
    pub end: Vec<u8>,
    sum: Arc<Mutex<Hasher>>,
}

impl<'a> MergePart<'a> {
    /// The part in the file at `path`. Its length must equal that in its receipt.
    pub fn read(path: &'a PathBuf) -> Result<MergePart<'a>> {
        let beside = receipt::path(path);
        let found = match fs::metadata(path) {
            Ok(found) if found.is_file() => found,
            Ok(found) => {
                let problem =
                    if found.is_dir() { "this is a directory" } else { "this is not a regular file" };
                return Err(refused(path, problem, "give the file that the part's run has written"));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let other = match beside.exists() {
                    true => format!(", although its receipt, {}, exists", beside.display()),
                    false => String::new(),
                };
                return Err(refused(
                    path,
                    format!("no such file{other}"),
                    &format!("check the path; {WRITTEN}"),
                ));
            }
            Err(error) => return Err(unread(path, error)),
        };
        let receipt = receipt::read(path).map_err(|why| unbelieved(path, &beside, why))?;
        let (bytes, written) = (found.len(), receipt.bytes);
        match bytes == written {
            true => Ok(MergePart { path, receipt }),
            false => Err(refused(
                path,
                format!("it has {bytes} bytes, but had {written} when it was written"),
                AGAIN,
            )),
        }
    }

    pub fn number(&self) -> u32 {
        self.receipt.task.part.number
    }

    /// The format of an alignment's part, and whether its text is compressed. `None` for a search's part.
    pub fn format(&self) -> Option<(Format, bool)> {
        Format::named(&self.receipt.task.format)
    }

    /// Opens the part and checks that its header and end fit its format.
    pub fn open(&self) -> Result<OpenPart> {
        self.open_among(true)
    }

    /// Opens one of several parts that are read in parallel. `stays_open` says whether this part keeps its file open.
    pub fn open_among(&self, stays_open: bool) -> Result<OpenPart> {
        let Receipt { header: own, end: behind, bytes, task, .. } = &self.receipt;
        let end = match self.is_of_references() {
            true => bgzf::end_of_file()?,
            false => frame::end(&task.format)?,
        };
        let [mut header, mut found, mut first] = [Vec::new(), Vec::new(), Vec::new()];
        let mut read = || {
            let mut file = File::open(self.path)?;
            (&mut file).take(*own).read_to_end(&mut header)?;
            (&mut file).take(frame::AHEAD).read_to_end(&mut first)?;
            file.seek(SeekFrom::Start(bytes - behind))?;
            (&mut file).take(end.len() as u64 + 1).read_to_end(&mut found)?;
            file.seek(SeekFrom::Start(*own))?;
            Ok(file)
        };
        let file = read().map_err(|error| unread(self.path, error))?;
        if found != end {
            return Err(refused(self.path, "its end is not that of a complete part", AGAIN));
        }
        // The header of a part of the references is checked when it is read.
        if !self.is_of_references() && !frame::is_header(&task.format, &header, &first) {
            return Err(refused(self.path, "its header is damaged, or does not match its receipt", AGAIN));
        }
        let is_of_queries = self.format().is_some() || self.is_of_references();
        if self.bytes() == 0 && self.receipt.records > 0 && is_of_queries {
            return Err(self.miscounted("fewer"));
        }
        let mut sum = Hasher::new();
        sum.update(&header);
        let sum = Arc::new(Mutex::new(sum));
        let file = match stays_open {
            true => PartFile::Open(file),
            false => PartFile::Reopened(BufReader::with_capacity(
                REOPENED_BYTES,
                ReopenedFile { path: self.path.to_path_buf(), at: *own },
            )),
        };
        let records = PartBytes { file: file.take(self.bytes()), sum: Arc::clone(&sum) };
        Ok(OpenPart { header, records, rest: PartTail { end, sum } })
    }

    /// Bytes of the records.
    pub fn bytes(&self) -> u64 {
        self.receipt.bytes - self.receipt.header - self.receipt.end
    }

    /// Error for a part that has more or fewer queries than it should.
    pub fn miscounted(&self, how: &str) -> Error {
        let problem = format!("it has records of {how} than {}", counted(self.receipt.records, QUERIES));
        refused(self.path, problem, AGAIN)
    }

    pub fn is_of_references(&self) -> bool {
        self.receipt.task.parts_of == PartsOf::References
    }
}

impl Read for PartBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        lock(&self.sum).update(&buffer[..read]);
        Ok(read)
    }
}

impl Read for PartFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            PartFile::Open(file) => file.read(buffer),
            PartFile::Reopened(file) => file.read(buffer),
        }
    }
}

impl Read for ReopenedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.at))?;
        let read = file.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl PartTail {
    /// Checks that the bytes read from `part`, which is read completely, are those that its run wrote.
    pub fn check(&self, part: &MergePart) -> Result<()> {
        let mut sum = lock(&self.sum).clone();
        sum.update(&self.end);
        match sum.finalize() == part.receipt.sum {
            true => Ok(()),
            false => {
                Err(refused(part.path, "it has changed since it was written: the checksum differs", AGAIN))
            }
        }
    }
}

fn lock(sum: &Mutex<Hasher>) -> std::sync::MutexGuard<'_, Hasher> {
    sum.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Error for an implausible receipt, at `beside`.
fn unbelieved(path: &Path, beside: &Path, why: Unread) -> Error {
    let receipt = beside.display();
    match why {
        Unread::Missing => refused(path, format!("{receipt} is missing"), WRITTEN),
        Unread::Version => {
            let problem = format!("{receipt} was written by another version of swalign");
            refused(path, problem, OTHER_VERSION)
        }
        Unread::Changed => {
            let problem = format!("{receipt} was changed after it was written, or is truncated");
            refused(path, problem, AGAIN)
        }
        Unread::Io(error) => unread(beside, error),
    }
}

/// Error for a file that could not be read.
pub fn unread(path: &Path, error: io::Error) -> Error {
    #[cfg(unix)]
    if rustix::io::Errno::from_io_error(&error) == Some(rustix::io::Errno::MFILE) {
        return refused(path, "this process cannot open more files", "raise the limit with `ulimit -n`");
    }
    match error.kind() {
        ErrorKind::PermissionDenied => refused(path, "reading it is not permitted", "change its permissions"),
        ErrorKind::NotFound => refused(path, "no such file", "check the path"),
        // The same wording as the record parser's.
        ErrorKind::InvalidData | ErrorKind::UnexpectedEof => {
            refused(path, format!("a record is damaged ({error})"), AGAIN)
        }
        _ if error.raw_os_error().is_some() => Error::io(path, error),
        _ => refused(path, format!("it can't be read ({error})"), "check the disk, or write this part again"),
    }
}
