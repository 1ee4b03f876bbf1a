//! Transfers from the device: outputs that are read in place, and the buffers that hold them.

use super::TIMES;
use crate::gpu::buffers;
use crate::gpu::device::GpuDevice;
use crate::terms::casts::to_usize;
use crate::terms::error::EngineError;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};

/// A range of bytes of a device buffer to copy to the host.
pub struct Transfer {
    pub from: wgpu::Buffer,
    pub start: u64,
    pub bytes: u64,
}

/// The device side of a job's result: its consecutive transfers, followed by room for time stamps.
pub struct Departure {
    transfers: Vec<Transfer>,
    readback: wgpu::Buffer,
    times_at: u64,
    sender: Sender<Result<(), wgpu::BufferAsyncError>>,
}

/// The host side of a job's result.
pub struct Arrival {
    readback: wgpu::Buffer,
    bytes: u64,
    times_at: u64,
    mapped: Receiver<Result<(), wgpu::BufferAsyncError>>,
    pool: Arc<Pool>,
}

impl Departure {
    pub fn new(
        device: &GpuDevice,
        pool: &Arc<Pool>,
        transfers: Vec<Transfer>,
    ) -> Result<(Departure, Arrival), EngineError> {
        let bytes = transfers.iter().map(|transfer| transfer.bytes).sum::<u64>();
        let times_at = bytes.next_multiple_of(TIMES_AT);
        let readback = pool.take(device, times_at + TIMES)?;
        let (sender, mapped) = channel();
        let departure = Departure { transfers, readback: readback.clone(), times_at, sender };
        Ok((departure, Arrival { readback, bytes, times_at, mapped, pool: Arc::clone(pool) }))
    }

    /// Records the copies of the transfers.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut place = 0;
        for Transfer { from, start, bytes } in self.transfers.iter().filter(|transfer| transfer.bytes > 0) {
            encoder.copy_buffer_to_buffer(from, *start, &self.readback, place, *bytes);
            place += bytes;
        }
    }

    /// Records the copy of the time stamps of its submission.
    pub fn record_stamps(&self, encoder: &mut wgpu::CommandEncoder, stamps: &wgpu::Buffer) {
        encoder.copy_buffer_to_buffer(stamps, 0, &self.readback, self.times_at, TIMES);
    }

    /// Requests the mapping after all work that was submitted until now, and calls `then` when it is done.
    pub fn ask(self, then: impl FnOnce() + Send + 'static) {
        self.readback.slice(0..self.times_at + TIMES).map_async(wgpu::MapMode::Read, move |result| {
            then();
            // The receiver is gone only if the work was abandoned.
            let _ = self.sender.send(result);
        });
    }
}

impl Arrival {
    /// Waits for the result and calls a function repeatedly meanwhile. Returns the result, and the time stamps of the
    /// submission if the job led it and the device has a clock.
    pub fn arrive(
        self,
        device: &GpuDevice,
        meanwhile: impl Fn() -> Result<(), EngineError>,
    ) -> Result<(Readback, [u64; 2]), EngineError> {
        let lost = |text: &str| EngineError::Lost(text.to_string());
        let arrived = || match self.mapped.try_recv() {
            Ok(result) => Some(result.map_err(|error| lost(&error.to_string()))),
            Err(TryRecvError::Disconnected) => Some(Err(lost("a submission was given up"))),
            Err(TryRecvError::Empty) => meanwhile().err().map(Err),
        };
        device.wait(arrived)??;
        let view = self.readback.slice(0..self.times_at + TIMES).get_mapped_range();
        let view = view.map_err(|error| lost(&error.to_string()))?;
        let times = bytemuck::pod_read_unaligned(&view[to_usize(self.times_at)..]);
        Ok((Readback { bytes: to_usize(self.bytes), held: Some((view, self.readback, self.pool)) }, times))
    }
}

/// The result of a job, read where the device has mapped it. Most of it is never read, so copying it would cost more
/// than reading in place. Returns its buffer to the pool on drop.
pub struct Readback {
    bytes: usize,
    /// The mapped view, its buffer, and the pool to which the buffer returns; `None` if the result is empty.
    held: Option<(wgpu::BufferView, wgpu::Buffer, Arc<Pool>)>,
}

impl Readback {
    /// The result of no work.
    pub fn nothing() -> Readback {
        Readback { bytes: 0, held: None }
    }

    /// Limits [`Readback::as_ref`] to the first `bytes`.
    pub fn cut(self, bytes: usize) -> Readback {
        let mut cut = self;
        cut.bytes = cut.bytes.min(bytes);
        cut
    }

    /// Bytes at a range of the whole result, regardless of [`Readback::cut`].
    pub fn behind(&self, bytes: Range<usize>) -> &[u8] {
        self.held.as_ref().map_or(&[], |(view, ..)| &view[bytes])
    }
}

impl AsRef<[u32]> for Readback {
    fn as_ref(&self) -> &[u32] {
        self.held.as_ref().map_or(&[], |(view, ..)| bytemuck::cast_slice(&view[..self.bytes]))
    }
}

impl Drop for Readback {
    fn drop(&mut self) {
        if let Some((view, readback, pool)) = self.held.take() {
            drop(view);
            readback.unmap();
            pool.put(readback);
        }
    }
}

/// Alignment of time stamps in bytes.
const TIMES_AT: u64 = 256;

/// Readback buffers that are not in use.
#[derive(Default)]
pub struct Pool(Mutex<Vec<wgpu::Buffer>>);

/// Maximum number of bytes of readback buffers that are kept for later.
const POOLED: u64 = 128 << 20;
/// Limits for reusing a larger buffer: it may have at most this many times the requested bytes, or this many bytes.
/// Other jobs may need larger buffers more.
const LEAST_PART: u64 = 4;
const SMALL: u64 = 1 << 20;

impl Pool {
    /// A buffer of at least `bytes`: the smallest suitable one, or a new one.
    pub fn take(&self, device: &GpuDevice, bytes: u64) -> Result<wgpu::Buffer, EngineError> {
        if let Ok(mut free) = self.0.lock() {
            let sizes = bytes..=(LEAST_PART * bytes).max(SMALL);
            let fitting = free.iter().enumerate().filter(|(_, buffer)| sizes.contains(&buffer.size()));
            if let Some((place, _)) = fitting.min_by_key(|(_, buffer)| buffer.size()) {
                return Ok(free.remove(place));
            }
        }
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        // With some spare room, so that the next job of similar size fits too.
        buffers::create(device, "readback", usage, (bytes + bytes / 8).next_multiple_of(1 << 16))
    }

    fn put(&self, buffer: wgpu::Buffer) {
        if let Ok(mut free) = self.0.lock() {
            free.push(buffer);
            // The buffers that have waited longest are freed first.
            let mut bytes: u64 = free.iter().map(wgpu::Buffer::size).sum();
            while bytes > POOLED {
                bytes -= free.remove(0).size();
            }
        }
    }
}
