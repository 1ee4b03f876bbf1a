//! What ends a run from outside, a signal or the lack of memory: it leaves nothing behind.

use crate::memory;
use crate::writer::temporary;

/// From now on a lack of memory removes what is not whole, and signals do where there are any.
pub fn watch() {
    memory::before_the_end(temporary::remove_all);
    watch_signals();
}

/// From now on SIGTERM, SIGINT, SIGHUP and SIGQUIT, unless they are ignored, remove what is not whole and end the
/// process, with code 143, 130, 129 or 131; and a file that grows beyond what is allowed is an error like others.
#[cfg(unix)]
fn watch_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::{flag, low_level};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    // That there is an action is all that is needed: then the write fails.
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let wanted = [SIGTERM, SIGINT, SIGHUP, SIGQUIT].into_iter().filter(|&signal| !is_ignored(signal));
    let Ok(mut signals) = Signals::new(wanted) else { return };
    // Where there is no thread for it, signals end the process as they do others.
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            temporary::abandon();
            low_level::exit(128 + signal);
        }
    };
    let _ = thread::Builder::new().name("signals".to_string()).spawn(wait);
}

/// Whether whoever started this process wants the signal ignored, as `nohup` and shells do for those in the
/// background.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the call changes nothing. It fills in `action`, for which zeros are a value, too.
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
