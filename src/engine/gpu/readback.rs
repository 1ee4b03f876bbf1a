//! What comes back from the device: outputs read in place, and the buffers that hold them.

use crate::engine::gpu::buffers;
use crate::engine::gpu::device::Device;
use crate::error::EngineError;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};

/// The output of a job, read where the device has mapped it: most of it is never looked at, so that
/// a copy would cost more than the reading. Dropped, it gives its buffer back.
pub struct Output {
    bytes: usize,
    /// What holds them, and where it goes back to; `None` where there is nothing.
    held: Option<(wgpu::BufferView, wgpu::Buffer, Arc<Pool>)>,
}

impl Output {
    /// The first `bytes` of `view`, which maps `readback`; this came from `pool`.
    pub fn new(view: wgpu::BufferView, bytes: usize, readback: wgpu::Buffer, pool: Arc<Pool>) -> Output {
        Output { bytes, held: Some((view, readback, pool)) }
    }

    /// The output of no work.
    pub fn nothing() -> Output {
        Output { bytes: 0, held: None }
    }

    /// What lies behind the output, in bytes from its beginning.
    pub fn behind(&self, bytes: Range<usize>) -> &[u8] {
        self.held.as_ref().map_or(&[], |(view, ..)| &view[bytes])
    }
}

impl AsRef<[u32]> for Output {
    fn as_ref(&self) -> &[u32] {
        self.held.as_ref().map_or(&[], |(view, ..)| bytemuck::cast_slice(&view[..self.bytes]))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((view, readback, pool)) = self.held.take() {
            drop(view);
            readback.unmap();
            pool.put(readback);
        }
    }
}

/// A readback buffer on its way to the host.
pub struct Arriving {
    readback: wgpu::Buffer,
    bytes: u64,
    mapped: Receiver<Result<(), wgpu::BufferAsyncError>>,
}

/// The same before what fills it is submitted.
pub struct Expected {
    readback: wgpu::Buffer,
    bytes: u64,
    sender: Sender<Result<(), wgpu::BufferAsyncError>>,
}

impl Expected {
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.readback
    }

    /// Asks for it, as all that was submitted until now leaves it; `then` is done when it arrives.
    pub fn ask(self, then: impl FnOnce() + Send + 'static) {
        self.readback.slice(0..self.bytes).map_async(wgpu::MapMode::Read, move |result| {
            then();
            // The receiver is gone only when the work was given up.
            let _ = self.sender.send(result);
        });
    }
}

impl Arriving {
    /// Asks for the first `bytes` of `readback`, as all that was submitted until now leaves them.
    pub fn new(readback: wgpu::Buffer, bytes: u64) -> Arriving {
        let (expected, arriving) = Arriving::later(readback, bytes);
        expected.ask(|| ());
        arriving
    }

    /// The first `bytes` of `readback`, which are to be asked for.
    pub fn later(readback: wgpu::Buffer, bytes: u64) -> (Expected, Arriving) {
        let (sender, mapped) = channel();
        (Expected { readback: readback.clone(), bytes, sender }, Arriving { readback, bytes, mapped })
    }

    /// Waits for it.
    pub fn arrive(self, device: &Device) -> Result<(wgpu::BufferView, wgpu::Buffer), EngineError> {
        self.arrive_while(device, || Ok(()))
    }

    /// Waits for it, and does something again and again meanwhile.
    pub fn arrive_while(
        self,
        device: &Device,
        meanwhile: impl Fn() -> Result<(), EngineError>,
    ) -> Result<(wgpu::BufferView, wgpu::Buffer), EngineError> {
        let lost = |text: &str| EngineError::Lost(text.to_string());
        let arrived = || match self.mapped.try_recv() {
            Ok(result) => Some(result.map_err(|error| lost(&error.to_string()))),
            Err(TryRecvError::Disconnected) => Some(Err(lost("a submission was given up"))),
            Err(TryRecvError::Empty) => meanwhile().err().map(Err),
        };
        device.wait(arrived)??;
        let view = self.readback.slice(0..self.bytes).get_mapped_range();
        Ok((view.map_err(|error| lost(&error.to_string()))?, self.readback))
    }
}

/// Readback buffers that are not in use.
#[derive(Default)]
pub struct Pool(Mutex<Vec<wgpu::Buffer>>);

/// Bytes of readback buffers that are kept for later, at most.
const POOLED: u64 = 128 << 20;
/// A buffer is not taken for less than this part of it, nor for less than so many bytes: others may need it more.
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
