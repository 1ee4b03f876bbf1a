//! Sequences that stay on the device, and the state of their upload.

use crate::engine::gpu::layout::ResiduePacking;
use crate::gpu::buffers;
use crate::gpu::device::GpuDevice;
use crate::gpu::run::Runtime;
use crate::terms::alphabet::is_base;
use crate::terms::batch::Sequences;
use crate::terms::error::EngineError;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use wgpu::BufferUsages;

/// Words of targets in one upload: 4 MiB.
const PIECE_WORDS: usize = 1 << 20;

/// Number of residues that are checked at once.
const CHECKED: usize = 1 << 12;

/// Which sequences a buffer holds, and how they are packed.
#[derive(Clone)]
pub struct HeldSequences {
    sequences: Weak<Sequences>,
    letters: ResiduePacking,
    has_ambiguous: OnceLock<bool>,
}

impl HeldSequences {
    /// Sequences of at most `most` residues, the limit of what kernels can count.
    pub fn new(
        sequences: &Arc<Sequences>,
        letters: ResiduePacking,
        most: u32,
    ) -> Result<HeldSequences, EngineError> {
        if sequences.codes().len() > most as usize {
            let residues = sequences.codes().len();
            let problem = "residues exceed the limit of the GPU";
            return Err(EngineError::Unsupported(format!("{residues} {problem}")));
        }
        Ok(HeldSequences { sequences: Arc::downgrade(sequences), letters, has_ambiguous: OnceLock::new() })
    }

    pub fn is(&self, sequences: &Arc<Sequences>, letters: ResiduePacking) -> bool {
        let is_same = |known: Arc<Sequences>| Arc::ptr_eq(&known, sequences);
        self.letters == letters && self.sequences.upgrade().is_some_and(is_same)
    }

    /// Whether some of the residues, which are `sequences`, are no bases.
    pub fn has_ambiguous(&self, sequences: &Sequences) -> bool {
        // On one thread: a thread of rayon's pool that waits for others may need the answer itself.
        let some = || {
            sequences
                .codes()
                .chunks(CHECKED)
                .any(|codes| !codes.iter().fold(true, |all, &code| all & is_base(code)))
        };
        *self.has_ambiguous.get_or_init(some)
    }
}

/// The packed targets on the device, which engines share. Each piece is uploaded by the first engine that needs it, so
/// that no engine waits for pieces that others need.
pub struct Resident {
    pub held: HeldSequences,
    pub buffer: wgpu::Buffer,
    pieces: Vec<SentOnce>,
}

/// State of a piece that is uploaded once. No lock is held during the upload, because it waits for threads of rayon's
/// pool, and a waiting pool thread may run other work that needs the same piece.
#[derive(Default)]
struct SentOnce {
    taken: AtomicBool,
    sent: OnceLock<Result<(), EngineError>>,
}

/// Releases waiting threads if the upload panics.
struct SendGuard<'a>(&'a SentOnce);

impl SentOnce {
    /// Uploads the piece, unless another thread is doing so or has done so.
    fn begin(&self, send: impl FnOnce() -> Result<(), EngineError>) {
        if !self.taken.swap(true, Ordering::Relaxed) {
            let taken = SendGuard(self);
            let _ = taken.0.sent.set(send());
        }
    }

    /// Waits until the piece is uploaded. A pool thread may have started this work on top of the upload itself, so it
    /// never waits: it uploads the same words again.
    fn finish(&self, send: impl FnOnce() -> Result<(), EngineError>) -> Result<(), EngineError> {
        match self.sent.get() {
            Some(sent) => sent.clone(),
            None if rayon::current_thread_index().is_some() => send(),
            None => self.sent.wait().clone(),
        }
    }
}

impl Drop for SendGuard<'_> {
    fn drop(&mut self) {
        let stopped = || Err(EngineError::Lost("sending the targets was cut short".to_string()));
        let _ = self.0.sent.get_or_init(stopped);
    }
}

impl Resident {
    /// The targets of `sequences`, none of which is uploaded yet. They reuse the buffer of old targets that are no
    /// longer needed, if it is large enough: a device takes milliseconds to allocate as much memory.
    pub fn new(
        device: &GpuDevice,
        sequences: &Arc<Sequences>,
        letters: ResiduePacking,
        old: Option<Resident>,
    ) -> Result<Resident, EngineError> {
        let held = HeldSequences::new(sequences, letters, u32::MAX)?;
        let words = letters.words(sequences.codes().len());
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let fits = |old: &wgpu::Buffer| old.size() >= words as u64 * 4;
        let buffer = match old.map(|old| old.buffer).filter(fits) {
            Some(buffer) => buffer,
            None => buffers::create(device, "targets", usage, words as u64 * 4)?,
        };
        let pieces = (0..words.div_ceil(PIECE_WORDS)).map(|_| SentOnce::default()).collect();
        Ok(Resident { held, buffer, pieces })
    }

    /// Uploads those pieces of `residues` that are not on their way yet. Work that is submitted later finds them on the
    /// device.
    pub fn send(
        &self,
        runtime: &Runtime,
        sequences: &Sequences,
        residues: Range<usize>,
    ) -> Result<(), EngineError> {
        let letters = self.held.letters;
        let words = letters.words(sequences.codes().len());
        let pack = |words: Range<usize>, packed: &mut [u32]| {
            letters.pack_targets(sequences.codes(), words, packed);
        };
        let send = |piece: usize| {
            let words = piece * PIECE_WORDS..words.min((piece + 1) * PIECE_WORDS);
            runtime.upload(&self.buffer, words, pack)
        };
        let first = letters.word_of(residues.start) / PIECE_WORDS;
        let end = self.pieces.len().min(letters.word_of(residues.end) / PIECE_WORDS + 1);
        let own = || (first..end).zip(&self.pieces[first..end]);
        own().for_each(|(number, piece)| piece.begin(|| send(number)));
        // Pieces that another thread uploads come last.
        own().try_for_each(|(number, piece)| piece.finish(|| send(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    /// Work of the pool, as packing is.
    fn pack() -> Result<(), EngineError> {
        let sum: u32 = (0..2000u32).into_par_iter().with_min_len(1).sum();
        assert_eq!(sum, 1_999_000);
        Ok(())
    }

    /// A loop on few threads, each of which starts further iterations of the loop while it waits for the packing.
    #[test]
    fn engines_in_a_parallel_loop_never_wait_for_themselves() {
        let (done, rounds) = channel();
        thread::spawn(move || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
            for _ in 0..200 {
                let pieces: Vec<SentOnce> = (0..3).map(|_| SentOnce::default()).collect();
                let send = |_: usize| -> Result<(), EngineError> {
                    pieces.iter().for_each(|piece| piece.begin(pack));
                    pieces.iter().try_for_each(|piece| piece.finish(pack))
                };
                pool.install(|| (0..64).into_par_iter().with_max_len(1).try_for_each(send)).unwrap();
            }
            done.send(()).unwrap();
        });
        rounds.recv_timeout(Duration::from_secs(60)).expect("the loop hangs");
    }

    #[test]
    fn what_is_sent_once_is_told_to_all_and_a_panic_ends_the_waiting() {
        let piece = SentOnce::default();
        piece.begin(|| Err(EngineError::Lost("x".to_string())));
        piece.begin(|| unreachable!("it is sent already"));
        assert_eq!(piece.finish(|| Ok(())), Err(EngineError::Lost("x".to_string())));
        let piece = SentOnce::default();
        let panicked = thread::scope(|scope| scope.spawn(|| piece.begin(|| panic!("a test's"))).join());
        assert!(panicked.is_err());
        assert!(piece.finish(|| Ok(())).is_err());
    }
}
