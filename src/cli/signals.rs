//! A run that ends from outside, by a signal or without memory, leaves nothing behind.

use crate::output::writer::temporary;
use crate::terms::memory;

/// From now on, incomplete files are removed if memory runs out or, on systems with signals, if a signal ends the process.
pub fn watch() {
    memory::before_the_end(temporary::remove_all);
    watch_signals();
}

/// From now on the signals that users, shells and batch systems send to end a process remove files that are not whole and
/// end the process with code 128 plus the signal's number, unless they are ignored: SIGTERM, SIGINT, SIGHUP and SIGQUIT,
/// SIGXCPU at the limit of processor time, and SIGUSR1, SIGUSR2 and SIGALRM, with which batch systems warn before they
/// kill. A file that outgrows its limit is an error like others.
#[cfg(unix)]
fn watch_signals() {
    use libc::SIGXCPU;
    use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::{flag, low_level};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    // Any action will do: with one the write fails, without one the signal ends the process.
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let all = [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU, SIGUSR1, SIGUSR2, SIGALRM];
    let Ok(mut signals) = Signals::new(all.into_iter().filter(|&signal| !is_ignored(signal))) else { return };
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
