//! Limit of open files, for reading many parts in parallel.

/// Number of files that a process has open besides the parts that it merges: the standard streams, the output, its
/// index, and files of libraries.
#[cfg(unix)]
const OTHER_FILES: usize = 32;

/// Number of the parts that may be open together. Raises the soft limit of open files first, up to the hard limit.
#[cfg(unix)]
pub fn at_once(parts: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = parts.saturating_add(OTHER_FILES) as u64;
    let limit = getrlimit(Resource::Nofile);
    let Some(soft) = limit.current.filter(|&soft| soft < wanted) else { return parts };
    let raised = limit.maximum.map_or(wanted, |hard| hard.min(wanted));
    let is_raised = setrlimit(Resource::Nofile, Rlimit { current: Some(raised), ..limit }).is_ok();
    let allowed = if is_raised { raised } else { soft };
    let allowed = usize::try_from(allowed).unwrap_or(usize::MAX);
    parts.min(allowed.saturating_sub(OTHER_FILES))
}

#[cfg(not(unix))]
pub fn at_once(parts: usize) -> usize {
    // The C library's limit concerns only its own streams.
    parts
}
