//! What computes.

use crate::errors::DeviceError;
use crate::jobs::is_forked;
use pyo3::prelude::*;
use std::path::Path;

/// A device as it was asked for, and whether it can be used in this process.
#[derive(Clone, Debug)]
pub struct Device {
    asked: swalign::Device,
    /// The process in which a GPU was opened.
    opened: Option<u32>,
}

impl Device {
    /// "auto", "cpu", "gpu", or one GPU: "gpu:0", "gpu:h200"; by its number, its PCI id or a part of its name.
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

    /// Opens it. Drivers of Mesa look for a display server in the folder that XDG_RUNTIME_DIR names, and complain on stderr if
    /// it is not set. So it is set to a folder without one meanwhile.
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

    /// The device once it is open, as it calls itself.
    pub fn opened(self, name: &str) -> Device {
        let is_cpu = name.starts_with("CPU");
        Device { opened: (!is_cpu).then(std::process::id), ..self }
    }

    /// A GPU does not come along into a process that was forked.
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
