//! Standard output, which may be closed or full.

use crate::terms::error::{Error, Result};
use crate::terms::system::stdout;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

const NAME: &str = "standard output";

/// Refuses a run whose `output` is stdout if stdout is closed.
pub fn check(output: Option<&Path>) -> Result<()> {
    let to_stdout = output.is_none_or(|path| path == Path::new("/dev/stdout"));
    if to_stdout && start::was_closed() {
        let remedy = "it is closed; redirect it to a file or a pipe, or name an output file with -o if the command has that option";
        return Err(Error::io(NAME, io::Error::other(remedy)));
    }
    Ok(())
}

/// Writes all of a text. Rust ignores SIGPIPE, so a reader that has left is a write error, [`Error::Closed`].
pub fn print(text: &str) -> Result<()> {
    check(None)?;
    let mut stdout = stdout();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(explain)
}

/// The error of a write to stdout, with what to do about it.
pub fn explain(source: io::Error) -> Error {
    let kind = source.kind();
    let remedy = match kind {
        ErrorKind::BrokenPipe => return Error::Closed,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "free some space, or redirect it elsewhere"
        }
        _ => "redirect it elsewhere",
    };
    Error::io(NAME, io::Error::new(kind, format!("{source}; {remedy}")))
}

/// Before `main`, Rust's runtime replaces a closed stdout with /dev/null, which discards all output. This module checks
/// stdout before the runtime does.
#[cfg(unix)]
mod start {
    use rustix::fd::BorrowedFd;
    use rustix::io::{Errno, fcntl_getfd};
    use std::sync::atomic::{AtomicBool, Ordering};

    static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

    /// The system's loader calls the functions of this list before any other code.
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        // SAFETY: the descriptor is used only to ask for its flags, which a closed one answers with an error. No other
        // thread runs yet that could open or close it.
        let stdout = unsafe { BorrowedFd::borrow_raw(1) };
        WAS_CLOSED.store(fcntl_getfd(stdout) == Err(Errno::BADF), Ordering::Relaxed);
    }

    pub fn was_closed() -> bool {
        WAS_CLOSED.load(Ordering::Relaxed)
    }
}

#[cfg(not(unix))]
mod start {
    pub fn was_closed() -> bool {
        false
    }
}
