//! Standard output, which may be closed or full.

use crate::error::{Error, Result};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

const NAME: &str = "standard output";

/// Refuses to compute what could not be written: `output` is stdout, and that is closed.
pub fn check(output: Option<&Path>) -> Result<()> {
    let to_stdout = output.is_none_or(|path| path == Path::new("/dev/stdout"));
    if to_stdout && start::was_closed() {
        let remedy = "it is closed; redirect it to a file or a pipe, or name a file with -o where there is that option";
        return Err(Error::io(NAME, io::Error::other(remedy)));
    }
    Ok(())
}

/// Writes all of a text. Rust ignores SIGPIPE, so a reader that left shows as a write error; that is
/// [`Error::Closed`].
pub fn print(text: &str) -> Result<()> {
    check(None)?;
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(explain)
}

/// The error of a write to stdout, with what to do about it.
pub fn explain(source: io::Error) -> Error {
    let kind = source.kind();
    let remedy = match kind {
        ErrorKind::BrokenPipe => return Error::Closed,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "free some space, or redirect it to another place"
        }
        _ => "redirect it to another place",
    };
    Error::io(NAME, io::Error::new(kind, format!("{source}; {remedy}")))
}

/// Rust's runtime opens /dev/null for a stdout that is closed, before `main`, and what is written there is lost. So this
/// looks at it before the runtime does.
#[cfg(unix)]
mod start {
    use rustix::fd::BorrowedFd;
    use rustix::io::{Errno, fcntl_getfd};
    use std::sync::atomic::{AtomicBool, Ordering};

    static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

    /// Called by the system's loader before all else, since it is in the list of those that are.
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        // SAFETY: it is asked for its flags only, and that nothing is open under this number is one of the answers.
        // Nothing else runs yet that could open or close it.
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
