//! What ends a run from outside: it leaves nothing behind.

use crate::writer::temporary;

/// From now on SIGTERM and SIGINT, unless they are ignored, remove what is not whole and end the process, with
/// code 143 or 130; and a file that grows beyond what is allowed is an error like others.
#[cfg(unix)]
pub fn watch() {
    use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::{flag, low_level};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    // That there is an action is all that is needed: then the write fails.
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let wanted = [SIGTERM, SIGINT].into_iter().filter(|&signal| !is_ignored(signal));
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
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(not(unix))]
pub fn watch() {
    let _ = temporary::abandon;
}
