//! A run that ends from outside, by a signal or without memory, leaves nothing behind.

use crate::memory;
use crate::writer::temporary;

/// From now on a lack of memory removes files that are not whole, and so do signals, where the system has them.
pub fn watch() {
    memory::before_the_end(temporary::remove_all);
    watch_signals();
}

/// From now on SIGTERM, SIGINT, SIGHUP and SIGQUIT, unless they are ignored, remove files that are not whole and end the
/// process, with code 143, 130, 129 or 131. A file that outgrows its limit is an error like others.
#[cfg(unix)]
fn watch_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::{flag, low_level};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    // Any action will do: with one the write fails, without one the signal ends the process.
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let wanted = [SIGTERM, SIGINT, SIGHUP, SIGQUIT].into_iter().filter(|&signal| !is_ignored(signal));
    let Ok(mut signals) = Signals::new(wanted) else { return };
    // Without this thread signals end the process as they do by default.
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            temporary::abandon();
            low_level::exit(128 + signal);
        }
    };
    let _ = thread::Builder::new().name("signals".to_string()).spawn(wait);
}

/// Whether the process was started with the signal ignored, as `nohup` does, and shells for processes in the background.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the call changes nothing. It writes to `action`, which is large enough, and for which
    // zeros are a value, too.
    let (failed, action) = unsafe {
        let failed = libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        (failed, action.assume_init())
    };
    failed == 0 && action.sa_sigaction == libc::SIG_IGN
}

#[cfg(not(unix))]
fn watch_signals() {
    let _ = temporary::abandon;
}
