//! Reasons for which the program ends early.

use std::fmt;
use std::io;

/// Reason for which the program ends early.
#[derive(Debug)]
pub enum Failure {
    /// The arguments are wrong, or ask for something that the genome has no room for.
    Usage(String),
    /// An output cannot be written.
    Output { name: String, error: io::Error },
    /// A thread cannot be started.
    Thread(io::Error),
}

impl Failure {
    /// Exit code of the program. A reader that closes the pipe has all it wants, so that case is a success.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Output { .. } if self.is_closed_pipe() => 0,
            Self::Output { .. } | Self::Thread(_) => 1,
        }
    }

    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output { error, .. } if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(problem) => write!(formatter, "{problem}"),
            Self::Output { name, error } => write!(formatter, "cannot write {name}: {error}"),
            Self::Thread(error) => write!(formatter, "cannot start a thread: {error}; use fewer --threads"),
        }
    }
}
