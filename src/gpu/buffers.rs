//! Device buffers that grow and are reused.

use crate::gpu::device::GpuDevice;
use crate::terms::error::EngineError;

/// Minimum number of bytes of a buffer, so that no binding is empty.
const LEAST: u64 = 256;

/// A buffer that is replaced by a larger one when it is too small.
pub struct Grown {
    label: &'static str,
    usage: wgpu::BufferUsages,
    buffer: Option<wgpu::Buffer>,
}

impl Grown {
    pub fn new(label: &'static str, usage: wgpu::BufferUsages) -> Grown {
        Grown { label, usage, buffer: None }
    }

    /// Returns the buffer, with room for at least `bytes`. Its contents are unspecified.
    pub fn with_room(&mut self, device: &GpuDevice, bytes: u64) -> Result<&wgpu::Buffer, EngineError> {
        let bytes = bytes.max(LEAST).next_multiple_of(4);
        if self.buffer.as_ref().is_none_or(|buffer| buffer.size() < bytes) {
            // The old buffer is freed first, because both may not fit.
            self.buffer = None;
            let room = (bytes + bytes / 4).next_multiple_of(256).min(largest(device, self.usage)).max(bytes);
            self.buffer = Some(create(device, self.label, self.usage, room)?);
        }
        self.buffer.as_ref().ok_or_else(|| EngineError::OutOfMemory(self.label.to_string()))
    }
}

/// The largest buffer of this use, in bytes.
pub fn largest(device: &GpuDevice, usage: wgpu::BufferUsages) -> u64 {
    let limits = &device.limits;
    match usage.contains(wgpu::BufferUsages::STORAGE) {
        true => limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) & !255,
        false => limits.max_buffer_size & !255,
    }
}

/// Creates a buffer, or reports that memory is short.
pub fn create(
    device: &GpuDevice,
    label: &'static str,
    usage: wgpu::BufferUsages,
    bytes: u64,
) -> Result<wgpu::Buffer, EngineError> {
    made(device, label, usage, bytes, false)
}

/// Creates a buffer that is mapped at creation.
pub fn create_mapped(
    device: &GpuDevice,
    label: &'static str,
    usage: wgpu::BufferUsages,
    bytes: u64,
) -> Result<wgpu::Buffer, EngineError> {
    made(device, label, usage, bytes, true)
}

fn made(
    device: &GpuDevice,
    label: &'static str,
    usage: wgpu::BufferUsages,
    bytes: u64,
    mapped_at_creation: bool,
) -> Result<wgpu::Buffer, EngineError> {
    let bytes = bytes.max(LEAST).next_multiple_of(4);
    let most = largest(device, usage);
    if bytes > most {
        return Err(EngineError::OutOfMemory(format!(
            "{label} takes {bytes} bytes, and a buffer at most {most}"
        )));
    }
    let descriptor = wgpu::BufferDescriptor { label: Some(label), size: bytes, usage, mapped_at_creation };
    device.guard(label, |device| device.create_buffer(&descriptor))
}
