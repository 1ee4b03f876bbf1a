//! Input files and standard output of a run in a web page.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub use web_time::Instant;

type Sink = Box<dyn FnMut(&[u8])>;

thread_local! {
    static FILES: RefCell<HashMap<PathBuf, Arc<[u8]>>> = RefCell::default();
    static STDOUT: RefCell<Option<Sink>> = const { RefCell::new(None) };
    static SLEEP: Cell<Option<fn(Duration)>> = const { Cell::new(None) };
}

/// Gives the file of this path its content, until another content is given. `None` removes the file.
pub fn give_file(path: &Path, content: Option<Vec<u8>>) {
    FILES.with_borrow_mut(|files| match content {
        Some(content) => files.insert(path.to_path_buf(), content.into()),
        None => files.remove(path),
    });
}

/// Sets the receiver of standard output.
pub fn give_stdout(sink: impl FnMut(&[u8]) + 'static) {
    STDOUT.set(Some(Box::new(sink)));
}

/// Sets the function by which a run sleeps. The browser's callbacks run only while a run sleeps.
pub fn give_sleep(sleep: fn(Duration)) {
    SLEEP.set(Some(sleep));
}

/// Whether a run can sleep until a GPU has answered.
pub fn can_sleep() -> bool {
    SLEEP.get().is_some()
}

/// Sleeps for about this time, or not at all if the page has given no function.
pub fn sleep(time: Duration) {
    if let Some(sleep) = SLEEP.get() {
        sleep(time);
    }
}

/// A file, open for reading.
#[derive(Debug)]
pub struct File {
    bytes: Arc<[u8]>,
    at: Cell<usize>,
}

/// Metadata of a file. All files are regular, and no time of modification is known.
#[derive(Clone, Debug)]
pub struct Metadata {
    len: u64,
}

impl File {
    pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
        let bytes = FILES.with_borrow(|files| files.get(path.as_ref()).cloned());
        Ok(File { bytes: bytes.ok_or(ErrorKind::NotFound)?, at: Cell::new(0) })
    }

    pub fn metadata(&self) -> io::Result<Metadata> {
        Ok(Metadata { len: self.bytes.len() as u64 })
    }
}

impl Metadata {
    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_file(&self) -> bool {
        true
    }

    pub fn is_dir(&self) -> bool {
        false
    }

    pub fn modified(&self) -> io::Result<SystemTime> {
        Err(ErrorKind::Unsupported.into())
    }
}

/// Metadata of the file at `path`.
pub fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    File::open(path)?.metadata()
}

/// The content of the file at `path`.
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    Ok(File::open(path)?.bytes.to_vec())
}

impl Read for &File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut rest = self.bytes.get(self.at.get()..).unwrap_or_default();
        let count = rest.read(buffer)?;
        self.at.set(self.at.get() + count);
        Ok(count)
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let mut cursor = io::Cursor::new(&*self.bytes);
        cursor.set_position(self.at.get() as u64);
        let at = cursor.seek(to)?;
        self.at.set(usize::try_from(at).map_err(|_| ErrorKind::InvalidInput)?);
        Ok(at)
    }
}

/// Standard output, which goes to the receiver.
#[derive(Debug)]
pub struct Stdout;

pub fn stdout() -> Stdout {
    Stdout
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        STDOUT.with_borrow_mut(|sink| sink.iter_mut().for_each(|sink| sink(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
