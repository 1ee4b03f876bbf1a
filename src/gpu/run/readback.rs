//! What comes back from the device: outputs read in place, and the buffers that hold them.

use super::TIMES;
use crate::gpu::buffers;
use crate::gpu::device::Device;
use crate::terms::casts::to_usize;
use crate::terms::error::EngineError;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};

/// Bytes of a device buffer that go to the host.
pub struct Transfer {
    pub from: wgpu::Buffer,
    pub start: u64,
    pub bytes: u64,
}

/// What a job leaves for the host: its transfers one behind the other, and room for time stamps behind them.
pub struct Departure {
    transfers: Vec<Transfer>,
    readback: wgpu::Buffer,
    times_at: u64,
    sender: Sender<Result<(), wgpu::BufferAsyncError>>,
}

/// The same on the host's side.
pub struct Arrival {
    readback: wgpu::Buffer,
    bytes: u64,
    times_at: u64,
    mapped: Receiver<Result<(), wgpu::BufferAsyncError>>,
    pool: Arc<Pool>,
}

impl Departure {
    pub fn new(
        device: &Device,
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

    /// Records the copies of what is to leave.
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

    /// Asks for it, as all that was submitted until now leaves it; `then` is done when it arrives.
    pub fn ask(self, then: impl FnOnce() + Send + 'static) {
        self.readback.slice(0..self.times_at + TIMES).map_async(wgpu::MapMode::Read, move |result| {
            then();
            // The receiver is gone only when the work was given up.
            let _ = self.sender.send(result);
        });
    }
}

impl Arrival {
    /// Waits for it, and does something again and again meanwhile; what arrived, and the stamps of its submission if
    /// the job led one and the device has a clock.
    pub fn arrive(
        self,
        device: &Device,
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

/// What a job left for the host, read where the device has mapped it: most of it is never looked at, so that
/// a copy would cost more than the reading. Dropped, it gives its buffer back.
pub struct Readback {
    bytes: usize,
    /// What holds them, and where it goes back to; `None` where there is nothing.
    held: Option<(wgpu::BufferView, wgpu::Buffer, Arc<Pool>)>,
}

impl Readback {
    /// The output of no work.
    pub fn nothing() -> Readback {
        Readback { bytes: 0, held: None }
    }

    /// Makes its first `bytes` all that [`Readback::as_ref`] shows.
    pub fn cut(self, bytes: usize) -> Readback {
        let mut cut = self;
        cut.bytes = cut.bytes.min(bytes);
        cut
    }

    /// Bytes from its beginning, whatever was cut.
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

/// Time stamps lie at a multiple of this.
const TIMES_AT: u64 = 256;

/// Readback buffers that are not in use.
#[derive(Default)]
pub struct Pool(Mutex<Vec<wgpu::Buffer>>);

/// Bytes of readback buffers that are kept for later, at most.
const POOLED: u64 = 128 << 20;
/// A buffer is not taken for less than this part of it, nor for less than this many bytes: others may need it more.
const LEAST_PART: u64 = 4;
const SMALL: u64 = 1 << 20;

impl Pool {
    /// A buffer of at least `bytes`, the smallest there is or a new one.
    pub fn take(&self, device: &Device, bytes: u64) -> Result<wgpu::Buffer, EngineError> {
        if let Ok(mut free) = self.0.lock() {
            let sizes = bytes..=(LEAST_PART * bytes).max(SMALL);
            let fitting = free.iter().enumerate().filter(|(_, buffer)| sizes.contains(&buffer.size()));
            if let Some((place, _)) = fitting.min_by_key(|(_, buffer)| buffer.size()) {
                return Ok(free.remove(place));
            }
        }
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        // A little room, so that the next job of about this size fits too.
        buffers::create(device, "readback", usage, (bytes + bytes / 8).next_multiple_of(1 << 16))
    }

    fn put(&self, buffer: wgpu::Buffer) {
        if let Ok(mut free) = self.0.lock() {
            free.push(buffer);
            // Those that have waited longest go first.
            let mut bytes: u64 = free.iter().map(wgpu::Buffer::size).sum();
            while bytes > POOLED {
                bytes -= free.remove(0).size();
            }
        }
    }
}
