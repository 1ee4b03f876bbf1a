//! The device of an aligner or a searcher.

use crate::errors::DeviceError;
use crate::jobs::is_forked;
use pyo3::prelude::*;
use std::path::Path;

/// The requested device, and the process in which it can be used.
#[derive(Clone, Debug)]
pub struct Device {
    asked: swalign::Device,
    /// Id of the process that opened the GPU; `None` for the CPU.
    opened: Option<u32>,
}

impl Device {
    /// Parses "auto", "cpu", "gpu", or the name of one GPU, such as "gpu:0" or "gpu:h200": its index, its PCI id or
    /// a part of its name.
    pub fn named(name: &str) -> Device {
        let asked = match name {
            "auto" => swalign::Device::Auto,
            "cpu" => swalign::Device::Cpu,
            "gpu" => swalign::Device::Gpu,
            name => swalign::Device::GpuNamed(name.strip_prefix("gpu:").unwrap_or(name).to_string()),
        };
        Device { asked, opened: None }
    }

    pub fn is_cpu(&self) -> bool {
        self.asked == swalign::Device::Cpu
    }

    pub fn asked(&self) -> swalign::Device {
        self.asked.clone()
    }

    /// Opens the device. Mesa's drivers look for a display server in the folder that XDG_RUNTIME_DIR names, and
    /// print a warning to stderr if it is not set. So this method sets it to `/`, which contains no display server,
    /// while it opens the device.
    pub fn open<T>(&self, py: Python<'_>, open: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        const NAME: &str = "XDG_RUNTIME_DIR";
        let is_set = std::env::var_os(NAME).is_some_and(|folder| Path::new(&folder).is_absolute());
        if self.is_cpu() || is_set || !cfg!(unix) {
            return open();
        }
        let environ = py.import("os")?.getattr("environ")?;
        let before = environ.call_method1("get", (NAME,))?;
        environ.set_item(NAME, "/")?;
        let opened = open();
        match before.is_none() {
            true => environ.call_method1("pop", (NAME, py.None()))?,
            false => environ.call_method1("__setitem__", (NAME, before))?,
        };
        opened
    }

    /// The same device after it is opened. `name` is the name of the opened device.
    pub fn opened(self, name: &str) -> Device {
        let is_cpu = name.starts_with("CPU");
        Device { opened: (!is_cpu).then(std::process::id), ..self }
    }

    /// Returns an error in a forked process if the GPU was opened by its parent, because it cannot be used there.
    pub fn check(&self) -> PyResult<()> {
        match self.opened {
            Some(process) if is_forked() && process != std::process::id() => Err(DeviceError::new_err(
                "another process opened the GPU of this object; make the object in this process, or start processes by \
                 'spawn'",
            )),
            _ => Ok(()),
        }
    }
}
