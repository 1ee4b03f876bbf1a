//! Uploads to the device: all cores write into mapped memory from which the device copies.

use super::Submission;
use crate::gpu::buffers;
use crate::gpu::device::GpuDevice;
use crate::terms::error::EngineError;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Words of a piece, and minimum number of pieces per thread.
const PIECE: usize = 1 << 10;
const PIECES: usize = 16;
/// Words that are staged at once: 16 MiB.
const ROUND: usize = 1 << 22;
/// Bytes of staging buffers that are kept: the device copies from some while the host writes to others.
const POOLED: u64 = 64 << 20;
/// Up to this many words are uploaded through the queue's own staging.
const LEAST: usize = 1 << 16;

/// Mapped buffers that are ready to be written.
#[derive(Clone, Default)]
pub struct Staging(Arc<Mutex<Vec<wgpu::Buffer>>>);

impl Staging {
    /// Writes the words at `words` of `buffer`. `make` computes the words of a range of indices, on several threads.
    /// Work that is submitted later sees them.
    pub fn upload(
        &self,
        device: &GpuDevice,
        buffer: &wgpu::Buffer,
        words: Range<usize>,
        make: impl Fn(Range<usize>, &mut [u32]) + Sync,
    ) -> Result<(), EngineError> {
        if words.len() <= LEAST {
            let (first, mut made) = (words.start as u64 * 4, vec![0; words.len()]);
            make(words, &mut made);
            device.queue.write_buffer(buffer, first, bytemuck::cast_slice(&made));
            return Ok(());
        }
        for first in words.clone().step_by(ROUND) {
            let round = first..words.end.min(first + ROUND);
            let bytes = round.len() as u64 * 4;
            let staged = self.take(device, bytes)?;
            write(&staged, &round, &make)?;
            let mut submission = Submission::new(device, None);
            submission.copy(&staged, buffer, first as u64 * 4, bytes);
            submission.submit(device);
            self.put(staged);
        }
        Ok(())
    }

    /// A mapped buffer of at least `bytes`.
    fn take(&self, device: &GpuDevice, bytes: u64) -> Result<wgpu::Buffer, EngineError> {
        // Buffers return only when the device is polled; a new buffer costs as much as the writing.
        device.poll()?;
        if let Ok(mut free) = self.0.lock() {
            let fitting = free.iter().enumerate().filter(|(_, buffer)| buffer.size() >= bytes);
            if let Some((place, _)) = fitting.min_by_key(|(_, buffer)| buffer.size()) {
                return Ok(free.swap_remove(place));
            }
        }
        let usage = wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC;
        buffers::create_mapped(device, "staging", usage, bytes.next_power_of_two())
    }

    /// Maps a buffer again once the device has copied it.
    fn put(&self, buffer: wgpu::Buffer) {
        let (pool, mapped) = (Arc::clone(&self.0), buffer.clone());
        buffer.slice(..).map_async(wgpu::MapMode::Write, move |result| {
            if let (Ok(()), Ok(mut free)) = (result, pool.lock())
                && free.iter().map(wgpu::Buffer::size).sum::<u64>() + mapped.size() <= POOLED
            {
                free.push(mapped);
            }
        });
    }
}

/// Fills the beginning of a mapped buffer with the words of `round`, and unmaps it.
fn write(
    staged: &wgpu::Buffer,
    round: &Range<usize>,
    make: &(impl Fn(Range<usize>, &mut [u32]) + Sync),
) -> Result<(), EngineError> {
    let lost = |error: wgpu::MapRangeError| EngineError::Lost(error.to_string());
    let mut view = staged.get_mapped_range_mut(..round.len() as u64 * 4).map_err(lost)?;
    let (mut whole, mut last) = view.slice(..).into_chunks::<{ PIECE * 4 }>();
    let pieces: Vec<_> = std::iter::from_fn(|| whole.split_off_first()).collect();
    let behind = round.start + pieces.len() * PIECE..round.end;
    pieces.into_par_iter().enumerate().with_min_len(PIECES).for_each(|(number, piece)| {
        let mut made = [0; PIECE];
        let first = round.start + number * PIECE;
        make(first..first + PIECE, &mut made);
        piece.write(bytemuck::cast(made));
    });
    let mut made = vec![0; behind.len()];
    make(behind, &mut made);
    last.copy_from_slice(bytemuck::cast_slice(&made));
    drop(view);
    staged.unmap();
    Ok(())
}
