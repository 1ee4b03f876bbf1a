//! Sequences that stay on the device, and what is there already.

use crate::batch::Sequences;
use crate::engine::gpu::buffers;
use crate::engine::gpu::device::Device;
use crate::engine::gpu::layout::Letters;
use crate::engine::gpu::upload::Staging;
use crate::error::EngineError;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use wgpu::BufferUsages;

/// Words of the targets that are sent in one go: 4 MiB.
const PIECE_WORDS: usize = 1 << 20;

/// Which sequences a buffer holds, and how they are packed.
#[derive(Clone)]
pub struct Held(Weak<Sequences>, Letters);

impl Held {
    /// Sequences of at most `most` residues, which is what kernels can count.
    pub fn new(sequences: &Arc<Sequences>, letters: Letters, most: u32) -> Result<Held, EngineError> {
        if sequences.codes().len() > most as usize {
            let residues = sequences.codes().len();
            let problem = "residues are more than a device can index; use --device cpu";
            return Err(EngineError::Unsupported(format!("{residues} {problem}")));
        }
        Ok(Held(Arc::downgrade(sequences), letters))
    }

    pub fn is(&self, sequences: &Arc<Sequences>, letters: Letters) -> bool {
        self.1 == letters && self.0.upgrade().is_some_and(|known| Arc::ptr_eq(&known, sequences))
    }
}

/// The packed targets on the device, which engines share. Each piece is sent by the first who needs it, so that
/// nobody waits for what others need.
pub struct Resident {
    pub held: Held,
    pub buffer: wgpu::Buffer,
    pieces: Vec<Piece>,
}

#[derive(Default)]
struct Piece {
    taken: AtomicBool,
    sent: OnceLock<Result<(), EngineError>>,
}

impl Resident {
    /// Those of `sequences`, of which none is sent yet, in the buffer of others that nobody needs any more if it is large
    /// enough: it takes a device milliseconds to find so much memory.
    pub fn new(
        device: &Device,
        sequences: &Arc<Sequences>,
        letters: Letters,
        old: Option<Resident>,
    ) -> Result<Resident, EngineError> {
        let held = Held::new(sequences, letters, u32::MAX)?;
        let words = letters.words(sequences.codes().len());
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let fits = |old: &wgpu::Buffer| old.size() >= words as u64 * 4;
        let buffer = match old.map(|old| old.buffer).filter(fits) {
            Some(buffer) => buffer,
            None => buffers::create(device, "targets", usage, words as u64 * 4)?,
        };
        let pieces = (0..words.div_ceil(PIECE_WORDS)).map(|_| Piece::default()).collect();
        Ok(Resident { held, buffer, pieces })
    }

    /// Sends what is not on its way yet of the pieces that hold `residues`; work that is submitted later finds
    /// them there.
    pub fn send(
        &self,
        (device, staging): (&Device, &Staging),
        sequences: &Sequences,
        residues: Range<usize>,
    ) -> Result<(), EngineError> {
        let (letters, words) = (self.held.1, self.held.1.words(sequences.codes().len()));
        let pack = |words: Range<usize>, packed: &mut [u32]| {
            letters.pack_targets(sequences.codes(), words, packed);
        };
        let send = |piece: usize| {
            let words = piece * PIECE_WORDS..words.min((piece + 1) * PIECE_WORDS);
            staging.upload(device, &self.buffer, words, pack)
        };
        let first = letters.word_of(residues.start) / PIECE_WORDS;
        let end = self.pieces.len().min(letters.word_of(residues.end) / PIECE_WORDS + 1);
        // What somebody else is at is waited for at last.
        for (number, piece) in (first..end).zip(&self.pieces[first..end]) {
            if !piece.taken.swap(true, Ordering::Relaxed) {
                piece.sent.get_or_init(|| send(number));
            }
        }
        (first..end)
            .zip(&self.pieces[first..end])
            .try_for_each(|(number, piece)| piece.sent.get_or_init(|| send(number)).clone())
    }
}
