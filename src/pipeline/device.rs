//! The device that a run computes on.

use crate::engine::cpu::Cpu;
use crate::engine::gpu::{Card, Gpu};
use crate::engine::plain::Plain;
use crate::engine::{Engine, Guarded};
use crate::error::EngineError;
use crate::options::{DeviceChoice, Options};
use std::sync::Arc;

/// A device that workers make their engines on.
pub enum Device {
    Plain,
    Cpu,
    /// With whether the CPU may take over.
    Gpu(Arc<Card>, bool),
}

impl Device {
    /// An engine of its own for a worker.
    pub fn engine(&self) -> Guarded {
        match self {
            Device::Plain => Guarded::new(Box::new(Plain::new()), None),
            Device::Cpu => Guarded::new(Box::new(Cpu::new()), None),
            Device::Gpu(card, false) => Guarded::new(Box::new(Gpu::new(Arc::clone(card))), None),
            Device::Gpu(card, true) => {
                let fallback = || Box::new(Cpu::new()) as Box<dyn Engine>;
                Guarded::new(Box::new(Gpu::new(Arc::clone(card))), Some(Box::new(fallback)))
            }
        }
    }
}

/// Opens the device that was asked for; with a remark where it is not the first choice.
pub fn open(options: &Options) -> Result<(Device, String), EngineError> {
    let card = |name: Option<&str>| Card::open(name, options.checked_shaders);
    let device = match &options.device {
        DeviceChoice::Plain => Device::Plain,
        DeviceChoice::Cpu => Device::Cpu,
        DeviceChoice::Gpu(Some(name)) => Device::Gpu(card(Some(name))?, false),
        DeviceChoice::Gpu(None) => Device::Gpu(card(None).map_err(with_remedy)?, false),
        DeviceChoice::Auto => match card(None) {
            Ok(card) => Device::Gpu(card, true),
            Err(error) => return Ok((Device::Cpu, format!(": {error}"))),
        },
    };
    Ok((device, String::new()))
}

/// What to do without a GPU, where one was asked for.
fn with_remedy(error: EngineError) -> EngineError {
    match error {
        EngineError::NoDevice(text) => EngineError::NoDevice(format!(
            "{text}; use --device cpu, or install the GPU's Vulkan driver and loader"
        )),
        other => other,
    }
}
