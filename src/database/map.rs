//! A file mapped into memory, for as long as the process lives.
//!
//! Where a mapped file is cut, reading what it no longer has is a fault of the bus, which ends a process by default. Here
//! a handler puts zeros in the place of the map and notes that it is lost, so that the reading goes on. A run asks
//! [`Mapped::fault`] before it writes what came of the reading.

use std::fs::File;
use std::io;
#[cfg(unix)]
use watched::Watched;

/// A mapped file. It stays mapped until the process ends, so that all threads may hold its bytes.
#[derive(Debug)]
pub struct Mapped {
    pub bytes: &'static [u8],
    #[cfg(unix)]
    file: File,
    #[cfg(unix)]
    watched: &'static Watched,
}

/// What became of a mapped file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), allow(dead_code, reason = "signals of Unix tell them"))]
pub enum MapFault {
    /// It is shorter than it was.
    Cut,
    /// The system could not read it.
    Unread,
}

#[cfg(unix)]
impl Mapped {
    /// Maps the file.
    pub fn new(file: File) -> io::Result<Mapped> {
        // SAFETY: the map is read only, and nothing here writes to the file. A cut by another process is caught by the
        // watch. That none writes over a database in place is the user's promise (docs/database.md); numbers and letters
        // that it would change are looked up within bounds.
        let map = unsafe { memmap2::Mmap::map(&file)? };
        let bytes: &'static [u8] = Box::leak(Box::new(map));
        Ok(Mapped { bytes, file, watched: watched::watch(bytes) })
    }

    /// What became of the file since, as far as it is known.
    pub fn fault(&self) -> Option<MapFault> {
        // Behind the new end a page may still have zeros without a fault, so the length is asked for, too.
        let is_cut = self.file.metadata().is_ok_and(|file| file.len() < self.bytes.len() as u64);
        is_cut.then_some(MapFault::Cut).or_else(|| self.watched.is_lost().then_some(MapFault::Unread))
    }
}

#[cfg(not(unix))]
impl Mapped {
    /// Reads the file into memory.
    pub fn new(mut file: File) -> io::Result<Mapped> {
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut file, &mut bytes)?;
        Ok(Mapped { bytes: bytes.leak() })
    }

    /// A file in memory stays as it is.
    pub fn fault(&self) -> Option<MapFault> {
        None
    }
}

#[cfg(unix)]
mod watched {
    use std::ffi::c_int;
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

    /// A map that faults are looked for in, in a list of all of them.
    #[derive(Debug)]
    pub struct Watched {
        /// Addresses of its pages.
        start: usize,
        end: usize,
        is_lost: AtomicBool,
        next: Option<&'static Watched>,
    }

    /// The map that was added last.
    static LAST: AtomicPtr<Watched> = AtomicPtr::new(ptr::null_mut());
    /// What the system did before on a fault of the bus.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    impl Watched {
        pub fn is_lost(&self) -> bool {
            self.is_lost.load(Ordering::Acquire)
        }
    }

    /// From now on a fault in these bytes of a map leaves zeros in their place.
    pub fn watch(bytes: &'static [u8]) -> &'static Watched {
        BEFORE.get_or_init(handle);
        let start = bytes.as_ptr() as usize;
        // SAFETY: asking for the size of pages has no conditions.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let end = (start + bytes.len()).next_multiple_of(usize::try_from(page).unwrap_or(1).max(1));
        let mut last = LAST.load(Ordering::Acquire);
        loop {
            // SAFETY: the list has only maps that were leaked, which live as long as the process.
            let next = unsafe { last.as_ref() };
            let watched = Box::leak(Box::new(Watched { start, end, is_lost: AtomicBool::new(false), next }));
            match LAST.compare_exchange(last, watched, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return watched,
                Err(other) => last = other,
            }
        }
    }

    /// Sets the handler, and gives the one before.
    fn handle() -> libc::sigaction {
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: zeros are a value of the structure, whose fields are integers and a function that may be none.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = on_fault as *const () as usize;
        // On the stack that Rust has for the overflow of the thread's own.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: both point to structures of the type that the call takes, and `on_fault` has the arguments of a handler
        // with SA_SIGINFO. Without success the structure stays zeros, which stand for the default action.
        unsafe {
            libc::sigaction(libc::SIGBUS, &action, before.as_mut_ptr());
            before.assume_init()
        }
    }

    /// Called by the system. It takes no lock and no memory, since the thread may hold any lock.
    extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        // SAFETY: the system gives a handler with SA_SIGINFO a structure, which for this signal has an address.
        let address = unsafe { (*info).si_addr() } as usize;
        // SAFETY: the list has only maps that were leaked, which live as long as the process.
        let mut next = unsafe { LAST.load(Ordering::Acquire).as_ref() };
        while let Some(watched) = next {
            if (watched.start..watched.end).contains(&address) && replace(watched) {
                return;
            }
            next = watched.next;
        }
        // The fault is not ours: it comes again, and what there was before handles it.
        if let Some(before) = BEFORE.get() {
            // SAFETY: `before` is what an earlier call gave, and no old action is asked for.
            unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
        }
    }

    /// Puts zeros in the place of a map. All of it at once: a system has only so many maps.
    fn replace(watched: &Watched) -> bool {
        watched.is_lost.store(true, Ordering::Release);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the pages from `start` to `end` are those of a map of this module that is never unmapped, so nothing else
        // lies there. Zeros take the place of bytes that any value may be read from.
        let mapped = unsafe {
            let start = watched.start as *mut libc::c_void;
            libc::mmap(start, watched.end - watched.start, libc::PROT_READ, flags, -1, 0)
        };
        mapped != libc::MAP_FAILED
    }

    #[cfg(test)]
    mod tests {
        use super::super::{MapFault, Mapped};
        use std::fs::OpenOptions;
        use std::io::Write;

        #[test]
        fn a_cut_is_noticed_and_harms_nothing() {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&[7; 100_000]).unwrap();
            let map = || Mapped::new(file.reopen().unwrap()).unwrap();
            let (whole, cut) = (map(), map());
            let sum = |map: &Mapped| map.bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
            assert_eq!((sum(&cut), cut.fault()), (700_000, None));
            OpenOptions::new().write(true).open(file.path()).unwrap().set_len(99_999).unwrap();
            assert_eq!(cut.fault(), Some(MapFault::Cut), "its last page is there");
            file.as_file().set_len(0).unwrap();
            assert_eq!(sum(&cut), 0);
            file.as_file().set_len(100_000).unwrap();
            assert_eq!(cut.fault(), Some(MapFault::Unread), "it was cut before");
            assert_eq!(whole.fault(), None);
        }
    }
}
