//! Errors: the place, the problem, and the remedy.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The call or the command can't be carried out as requested: a setting out of its range, or a byte outside the
    /// alphabet.
    #[error("{0}")]
    Usage(String),
    /// An input file is invalid.
    #[error("{place}: {problem}; {remedy}")]
    #[allow(missing_docs)]
    Input { place: Place, problem: String, remedy: String },
    /// Reading or writing failed.
    #[error("{}: {source}{}", path.display(), remedy(source))]
    #[allow(missing_docs)]
    Io { path: PathBuf, source: io::Error },
    /// The reader of the main output (stdout or `-o`) closed it, so the command ends quietly and with success. Only the
    /// writer of that output makes this error: a closed side file is an [`Error::Io`].
    #[doc(hidden)]
    #[error("the output is closed")]
    Closed,
    /// The device failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// The kind of an [`Error`], for programs that act on errors. See [`Error::kind`].
///
/// ```
/// use swalign::{ErrorKind, Targets};
///
/// let error = Targets::from_fasta("nosuch.fa").expect_err("there is no such file");
/// assert_eq!(error.kind(), ErrorKind::Input);
/// match error.kind() {
///     ErrorKind::Usage => eprintln!("change the call: {error}"),
///     ErrorKind::Input | ErrorKind::Io => eprintln!("check the file: {error}"),
///     ErrorKind::NoDevice | ErrorKind::Device => eprintln!("use Device::Cpu: {error}"),
///     ErrorKind::OutOfMemory => eprintln!("give less at once: {error}"),
///     ErrorKind::Stopped => {}
///     _ => eprintln!("{error}"),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument or a setting is invalid: a number out of its range, a byte that is not in the alphabet.
    Usage,
    /// An input file is missing, may not be read, is invalid or damaged.
    Input,
    /// The system failed to read or write a file. [`Error::Io`] has its error.
    Io,
    /// The device does not exist, or can't be opened.
    NoDevice,
    /// The device failed, or can't do this work. The CPU can.
    Device,
    /// The device or the host has too little memory, or no more threads.
    OutOfMemory,
    /// The caller ended the call ([`SearcherBuilder::stop_flag`](crate::SearcherBuilder::stop_flag)).
    Stopped,
    /// A bug of this crate. Please report it.
    Internal,
}

/// Errors of a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// No such device, or none at all.
    #[error("{0}")]
    NoDevice(String),
    /// The host starts no more threads.
    #[error("{0}")]
    Threads(String),
    /// The device can't run the kernels, or not on these sequences. The CPU can.
    #[error("{0}")]
    Unsupported(String),
    /// An allocation was refused. A smaller batch may pass.
    #[error("the device is out of memory: {0}")]
    OutOfMemory(String),
    /// The device is gone, or it no longer answers.
    #[error("the device was lost: {0}")]
    Lost(String),
    /// The device gave an impossible answer.
    #[error("the device returned an impossible result: {0}")]
    Wrong(String),
    /// The file that contains the sequences is damaged, or was truncated while it was read.
    #[doc(hidden)]
    #[error("{0}")]
    Unreadable(String),
    /// The queries have more hits than the caller has room for. Fewer of them may pass.
    #[doc(hidden)]
    #[error("the queries have too many hits")]
    TooManyHits,
    /// The caller stopped the call ([`SearcherBuilder::stop_flag`](crate::SearcherBuilder::stop_flag)).
    #[error("the call was stopped")]
    Stopped,
    /// A bug of this program.
    #[error("internal error: {0}; please report it, with the command or the calls that led to it")]
    Internal(String),
}

/// The remedy for a system error, after a semicolon. The crate's own errors contain it in their texts.
fn remedy(error: &io::Error) -> &'static str {
    let Some(code) = error.raw_os_error() else { return "" };
    match error.kind() {
        io::ErrorKind::NotFound => "; check the path and the current directory",
        io::ErrorKind::PermissionDenied => "; change its permissions, or give another file",
        io::ErrorKind::IsADirectory => "; give a file",
        io::ErrorKind::NotADirectory => "; part of the path is not a directory: check the path",
        io::ErrorKind::InvalidFilename => "; use a shorter name",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free some space, or write elsewhere",
        io::ErrorKind::ReadOnlyFilesystem => "; write elsewhere",
        io::ErrorKind::BrokenPipe => {
            "; the reader closed it early: name a file, or a reader that reads to the end"
        }
        io::ErrorKind::StaleNetworkFileHandle => {
            "; the file was replaced on its server: run the command again"
        }
        io::ErrorKind::OutOfMemory => "; give the command more memory, or a smaller file",
        _ => remedy_of_code(code),
    }
}

#[cfg(unix)]
fn remedy_of_code(code: i32) -> &'static str {
    use rustix::io::Errno;
    match Errno::from_raw_os_error(code) {
        Errno::LOOP => "; its symbolic links form a loop: give the file itself",
        Errno::MFILE => "; raise the limit with `ulimit -n`",
        Errno::NFILE => "; the system has too many open files: close other programs",
        Errno::IO => "; the disk or its connection failed: copy the file elsewhere",
        _ => "",
    }
}

#[cfg(not(unix))]
fn remedy_of_code(_: i32) -> &'static str {
    ""
}

/// A position in the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file's path as it was given; `-` is standard input.
    pub file: PathBuf,
    /// 1-based number and name of the record.
    pub record: Option<(u64, String)>,
    /// 1-based line.
    pub line: Option<u64>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some((number, name)) = &self.record {
            write!(f, ", record {number}")?;
            if !name.is_empty() {
                write!(f, " '{name}'")?;
            }
        }
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        Ok(())
    }
}

/// A result with an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The kind of the error, for programs that act on it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Usage(_) => ErrorKind::Usage,
            Error::Input { .. } => ErrorKind::Input,
            Error::Io { source, .. } if source.kind() == io::ErrorKind::OutOfMemory => ErrorKind::OutOfMemory,
            Error::Io { .. } | Error::Closed => ErrorKind::Io,
            Error::Engine(error) => error.kind(),
        }
    }
}

impl EngineError {
    /// The kind of the error, as [`Error::kind`] has it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            EngineError::NoDevice(_) => ErrorKind::NoDevice,
            EngineError::Unsupported(_) | EngineError::Lost(_) | EngineError::Wrong(_) => ErrorKind::Device,
            EngineError::OutOfMemory(_) | EngineError::TooManyHits | EngineError::Threads(_) => {
                ErrorKind::OutOfMemory
            }
            EngineError::Unreadable(_) => ErrorKind::Input,
            EngineError::Stopped => ErrorKind::Stopped,
            EngineError::Internal(_) => ErrorKind::Internal,
        }
    }
}

/// Constructors and conversions that the command uses.
#[doc(hidden)]
impl Error {
    /// Removes the line from the error's position.
    pub(crate) fn without_line(self) -> Error {
        match self {
            Error::Input { place, problem, remedy } => {
                Error::Input { place: Place { line: None, ..place }, problem, remedy }
            }
            other => other,
        }
    }

    /// The exit code of a process that ends with this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) => 2,
            Error::Closed => 0,
            _ => 1,
        }
    }

    /// An I/O error at `path`.
    pub fn io(path: impl Into<PathBuf>, source: io::Error) -> Error {
        Error::Io { path: path.into(), source }
    }

    /// An error in an input file, with its remedy.
    pub fn input(place: Place, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::Input { place, problem: problem.into(), remedy: remedy.into() }
    }
}
