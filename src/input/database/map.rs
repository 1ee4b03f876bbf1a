//! A file mapped into memory.
//!
//! If a mapped file is truncated, reading a page beyond its new end raises SIGBUS, which terminates a process by
//! default. The first map installs a handler for that signal. The handler replaces the lost map by zeros and records
//! the loss, so that the reader can continue. A run checks [`Mapped::fault`] before it writes results that depend on
//! the map. A fault outside these maps is passed to the previous handler.

use std::fs::File;
use std::io;
use std::slice;
#[cfg(unix)]
use watched::Watched;

/// A mapped file.
#[derive(Debug)]
pub struct Mapped {
    #[cfg(unix)]
    map: memmap2::Mmap,
    #[cfg(unix)]
    file: File,
    #[cfg(unix)]
    watched: &'static Watched,
    #[cfg(not(unix))]
    map: Vec<u8>,
}

impl Mapped {
    /// Its bytes.
    ///
    /// # Safety
    /// The caller drops what holds them before the map.
    pub unsafe fn bytes(&self) -> &'static [u8] {
        // SAFETY: the bytes keep their address when the map moves, and the caller guarantees that the map outlives
        // them.
        unsafe { slice::from_raw_parts(self.map.as_ptr(), self.map.len()) }
    }
}

#[cfg(unix)]
impl Drop for Mapped {
    fn drop(&mut self) {
        self.watched.release();
    }
}

/// Damage to a mapped file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), allow(dead_code, reason = "signals of Unix tell them"))]
pub enum MapFault {
    /// It was truncated.
    Cut,
    /// The system could not read it.
    Unread,
}

#[cfg(unix)]
impl Mapped {
    /// Maps the file.
    pub fn new(file: File) -> io::Result<Mapped> {
        // SAFETY: the map is read-only, and nothing here writes to the file. The watch detects truncation by another
        // process. The user guarantees that no process overwrites a database in place (docs/database.md). If one does,
        // its numbers and codes may be anything: the CPU looks them up within bounds, and data packed for a GPU, whose
        // kernels do not check, are limited to the codes for which they have tables (`ResiduePacking::pack`).
        let map = unsafe { memmap2::Mmap::map(&file)? };
        let watched = watched::watch(&map);
        Ok(Mapped { map, file, watched })
    }

    /// Any damage to the file since it was mapped, as far as it is known.
    pub fn fault(&self) -> Option<MapFault> {
        // A page after the new end may still read as zeros without a fault, so the length is checked too.
        let is_cut = self.file.metadata().is_ok_and(|file| file.len() < self.map.len() as u64);
        is_cut.then_some(MapFault::Cut).or_else(|| self.watched.is_lost().then_some(MapFault::Unread))
    }
}

#[cfg(not(unix))]
impl Mapped {
    /// Reads the file into memory.
    pub fn new(mut file: File) -> io::Result<Mapped> {
        let mut map = Vec::new();
        io::Read::read_to_end(&mut file, &mut map)?;
        Ok(Mapped { map })
    }

    /// A file read into memory cannot change.
    pub fn fault(&self) -> Option<MapFault> {
        None
    }
}

#[cfg(unix)]
mod watched {
    use std::ffi::c_int;
    use std::iter;
    use std::mem::{self, MaybeUninit};
    use std::ops::Range;
    use std::ptr;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

    /// An entry in the handler's list of maps. Entries are never freed, since a handler may read the list at any time,
    /// but are reused for other maps.
    #[derive(Debug)]
    pub struct Watched {
        is_used: AtomicBool,
        /// Address range of the map's pages; the end is 0 if there is no map.
        start: AtomicUsize,
        end: AtomicUsize,
        is_lost: AtomicBool,
        next: Option<&'static Watched>,
    }

    /// The entry that was added last.
    static LAST: AtomicPtr<Watched> = AtomicPtr::new(ptr::null_mut());
    /// The previous action for SIGBUS.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    impl Watched {
        pub fn is_lost(&self) -> bool {
            self.is_lost.load(Ordering::Acquire)
        }

        /// Ends the watch, before the map is unmapped.
        pub fn release(&self) {
            self.end.store(0, Ordering::Release);
            self.is_used.store(false, Ordering::Release);
        }

        /// Claims the entry for a map with these pages, if it is free.
        fn take(&self, start: usize, end: usize) -> bool {
            let used = self.is_used.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed);
            if used.is_ok() {
                self.is_lost.store(false, Ordering::Release);
                self.start.store(start, Ordering::Release);
                self.end.store(end, Ordering::Release);
            }
            used.is_ok()
        }

        fn pages(&self) -> Range<usize> {
            let end = self.end.load(Ordering::Acquire);
            let start = self.start.load(Ordering::Acquire);
            // Another map may have claimed the entry in the meantime.
            if self.end.load(Ordering::Acquire) == end { start..end } else { 0..0 }
        }
    }

    /// The entries of the list, starting with `next`.
    fn entries(mut next: Option<&'static Watched>) -> impl Iterator<Item = &'static Watched> {
        iter::from_fn(move || {
            let entry = next?;
            next = entry.next;
            Some(entry)
        })
    }

    /// From now on, a fault in these bytes of a map replaces the map by zeros.
    pub fn watch(bytes: &[u8]) -> &'static Watched {
        BEFORE.get_or_init(handle);
        let start = bytes.as_ptr() as usize;
        // SAFETY: querying the page size has no preconditions.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let end = (start + bytes.len()).next_multiple_of(usize::try_from(page).unwrap_or(1).max(1));
        let mut last = LAST.load(Ordering::Acquire);
        // SAFETY: the list contains only leaked entries, which live as long as the process.
        if let Some(free) = entries(unsafe { last.as_ref() }).find(|entry| entry.take(start, end)) {
            return free;
        }
        loop {
            // SAFETY: as above.
            let next = unsafe { last.as_ref() };
            let watched = Box::leak(Box::new(Watched {
                is_used: AtomicBool::new(true),
                start: AtomicUsize::new(start),
                end: AtomicUsize::new(end),
                is_lost: AtomicBool::new(false),
                next,
            }));
            match LAST.compare_exchange(last, watched, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return watched,
                Err(other) => last = other,
            }
        }
    }

    /// Installs the handler, and returns the previous one.
    fn handle() -> libc::sigaction {
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: all zeros is a valid value of the structure, whose fields are integers and an optional function.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = on_fault as *const () as usize;
        // Runs on Rust's alternate stack, which exists for stack overflows.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: both point to structures of the type that the call expects, and `on_fault` has the signature of a
        // handler with SA_SIGINFO. If the call fails, the structure stays all zeros, which is the default action.
        unsafe {
            libc::sigaction(libc::SIGBUS, &action, before.as_mut_ptr());
            before.assume_init()
        }
    }

    /// Called by the system. It takes no lock and allocates no memory, since the thread may hold any lock.
    extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the system passes a structure to a handler with SA_SIGINFO, which for this signal has an address.
        let address = unsafe { (*info).si_addr() } as usize;
        // SAFETY: the list contains only leaked entries, which live as long as the process.
        let all = entries(unsafe { LAST.load(Ordering::Acquire).as_ref() });
        for watched in all {
            let pages = watched.pages();
            if pages.contains(&address) && replace(watched, pages) {
                return;
            }
        }
        // The fault is outside the maps of this module.
        let Some(before) = BEFORE.get() else { return };
        match before.sa_sigaction {
            // The default action ends the process when the read is retried. SAFETY: `before` is the result of an
            // earlier call, and no old action is requested.
            libc::SIG_DFL | libc::SIG_IGN => unsafe {
                libc::sigaction(signal, before, ptr::null_mut());
            },
            // SAFETY: with this flag, the address is that of a function with these arguments.
            handler if before.sa_flags & libc::SA_SIGINFO != 0 => unsafe {
                let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                    mem::transmute(handler as *const ());
                handler(signal, info, context);
            },
            // SAFETY: without the flag, the address is that of a function that takes only the signal number.
            handler => unsafe {
                let handler: extern "C" fn(c_int) = mem::transmute(handler as *const ());
                handler(signal);
            },
        }
    }

    /// Replaces a map by zeros. It replaces the whole map at once, because the number of maps per process is limited.
    fn replace(watched: &Watched, pages: Range<usize>) -> bool {
        watched.is_lost.store(true, Ordering::Release);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the pages belong to a map of this module, which is not unmapped while the interrupted thread reads
        // it, so nothing else is mapped there. The map's bytes may have any value, so zeros are valid.
        let mapped = unsafe {
            let start = pages.start as *mut libc::c_void;
            libc::mmap(start, pages.len(), libc::PROT_READ, flags, -1, 0)
        };
        mapped != libc::MAP_FAILED
    }

    #[cfg(test)]
    mod tests {
        use super::super::{MapFault, Mapped};
        use std::collections::HashSet;
        use std::fs::{self, OpenOptions};
        use std::io::Write;
        use std::ptr;

        #[test]
        fn a_cut_is_noticed_and_harms_nothing() {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&[7; 100_000]).unwrap();
            let map = || Mapped::new(file.reopen().unwrap()).unwrap();
            let (whole, cut) = (map(), map());
            let sum = |map: &Mapped| map.map.iter().map(|&byte| u64::from(byte)).sum::<u64>();
            assert_eq!((sum(&cut), cut.fault()), (700_000, None));
            OpenOptions::new().write(true).open(file.path()).unwrap().set_len(99_999).unwrap();
            assert_eq!(cut.fault(), Some(MapFault::Cut), "its last page is there");
            file.as_file().set_len(0).unwrap();
            assert_eq!(sum(&cut), 0);
            file.as_file().set_len(100_000).unwrap();
            assert_eq!(cut.fault(), Some(MapFault::Unread), "it was cut before");
            assert_eq!(whole.fault(), None);
        }

        #[test]
        fn a_map_is_unmapped_and_its_entry_used_again() {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&[7; 5000]).unwrap();
            let map = || Mapped::new(file.reopen().unwrap()).unwrap();
            let name = file.path().to_str().unwrap();
            let is_mapped = || fs::read_to_string("/proc/self/maps").is_ok_and(|maps| maps.contains(name));
            let own = map();
            assert!(!cfg!(target_os = "linux") || is_mapped());
            drop(own);
            assert!(!is_mapped());
            let entries: HashSet<usize> = (0..1000).map(|_| ptr::from_ref(map().watched) as usize).collect();
            // Other tests also have a few maps.
            assert!(entries.len() < 100, "{} entries", entries.len());
        }
    }
}
