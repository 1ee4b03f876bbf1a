//! Engines on one device, for concurrent calls.

use super::Device;
use super::device::OpenedDevice;
use crate::engine::{Engine, Guarded};
use crate::terms::error::EngineError;
use std::sync::{Mutex, PoisonError};

/// An open device and its engines.
pub(super) struct DeviceEngines {
    pub opened: OpenedDevice,
    /// Name of the device.
    pub device: String,
    /// Engines that no call is using.
    spare: Mutex<Vec<Guarded>>,
}

impl DeviceEngines {
    pub fn open(device: &Device) -> Result<DeviceEngines, EngineError> {
        let opened = OpenedDevice::open(device)?;
        let device = opened.engine().capabilities().name;
        Ok(DeviceEngines { opened, device, spare: Mutex::default() })
    }

    /// Runs `work` on an engine that no other call uses, and once more if a fallback takes over.
    pub fn run<T>(&self, work: impl Fn(&mut dyn Engine) -> Result<T, EngineError>) -> Result<T, EngineError> {
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let mut engine = spare().pop().unwrap_or_else(|| self.opened.engine());
        let mut done = work(&mut engine);
        if let Err(error) = &done
            && engine.fall_back(error)
        {
            done = work(&mut engine);
        }
        spare().push(engine);
        done
    }
}
