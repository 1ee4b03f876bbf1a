//! The scan's kernels that a card has compiled so far.

use super::bitap;
use super::shader::{Variant, turn_wgsl};
use crate::engine::gpu::device::Device;
use crate::engine::gpu::pipeline;
use crate::error::EngineError;
use std::collections::HashMap;
use std::sync::Mutex;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    Turn,
    Sweep(Variant),
    Bitap(bitap::Variant),
}

impl Kernel {
    fn wgsl(self) -> String {
        match self {
            Kernel::Turn => turn_wgsl(),
            Kernel::Sweep(variant) => variant.wgsl(),
            Kernel::Bitap(variant) => variant.wgsl(),
        }
    }

    /// Bindings by number, and whether the kernel writes to them.
    fn bindings(self) -> &'static [(u32, bool)] {
        let all = &[(0, false), (1, false), (2, false), (3, true), (4, true)];
        match self {
            Kernel::Turn => &[(0, false), (1, false), (2, true)],
            Kernel::Sweep(Variant { strips: true, .. }) => all,
            Kernel::Sweep(_) | Kernel::Bitap(_) => &all[..4],
        }
    }
}

/// Each is compiled when it is first used.
#[derive(Default)]
pub struct Kernels(Mutex<HashMap<Kernel, wgpu::ComputePipeline>>);

impl Kernels {
    pub fn get(&self, device: &Device, kernel: Kernel) -> Result<wgpu::ComputePipeline, EngineError> {
        let mut compiled =
            self.0.lock().map_err(|_| EngineError::Lost("compiling a kernel failed".to_string()))?;
        if let Some(known) = compiled.get(&kernel) {
            return Ok(known.clone());
        }
        let made = pipeline::create(device, &format!("{kernel:?}"), kernel.wgsl(), kernel.bindings(), &[])?;
        compiled.insert(kernel, made.clone());
        Ok(made)
    }
}
