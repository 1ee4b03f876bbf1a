//! The devices of aligners and searchers.

use crate::align::candidates::by_index::DiagonalScan;
use crate::align::candidates::levels::FilterCosts;
use crate::engine::cpu::Cpu;
use crate::engine::cpu::simd::InstructionSet;
use crate::engine::{Engine, Guarded};
use crate::patterns::search::EndScan;
use crate::patterns::search::exact::Exact;
use crate::patterns::search::finder::PatternFinder;
use crate::patterns::search::sliced::SlicedScan;
use crate::terms::batch::Sequences;
use crate::terms::error::EngineError;
use crate::terms::options::DeviceChoice;
use crate::terms::scoring::Scoring;
use std::sync::Arc;

/// The device that computes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Device {
    /// The best GPU, or the CPU if there is none. If the GPU fails, the CPU takes over.
    #[default]
    Auto,
    /// The CPU, with its best instruction set.
    Cpu,
    /// The best GPU.
    Gpu,
    /// A GPU by its number or a part of its name, as listed by `swalign devices`.
    GpuNamed(String),
}

impl Device {
    /// The choice of the command that is this device.
    pub(super) fn choice(&self) -> DeviceChoice {
        match self {
            Device::Auto => DeviceChoice::Auto,
            Device::Cpu => DeviceChoice::Cpu(None),
            Device::Gpu => DeviceChoice::Gpu(None),
            Device::GpuNamed(name) => DeviceChoice::Gpu(Some(name.clone())),
        }
    }
}

/// A device that was opened.
pub(super) enum OpenedDevice {
    Cpu(InstructionSet),
    #[cfg(feature = "gpu")]
    Gpu(gpu::OpenedGpu),
}

impl OpenedDevice {
    pub fn open(device: &Device) -> Result<OpenedDevice, EngineError> {
        let cpu = || OpenedDevice::Cpu(InstructionSet::best());
        match device {
            Device::Cpu => Ok(cpu()),
            Device::Auto => match open_gpu(None, true) {
                Err(EngineError::NoDevice(_)) => Ok(cpu()),
                opened => opened,
            },
            Device::Gpu => open_gpu(None, false),
            Device::GpuNamed(name) => open_gpu(Some(name), false),
        }
    }

    /// The choice that leads to this device, by its kind.
    pub fn choice(&self) -> DeviceChoice {
        match self {
            OpenedDevice::Cpu(_) => DeviceChoice::Cpu(None),
            #[cfg(feature = "gpu")]
            OpenedDevice::Gpu(gpu) if gpu.may_fall_back => DeviceChoice::Auto,
            #[cfg(feature = "gpu")]
            OpenedDevice::Gpu(_) => DeviceChoice::Gpu(None),
        }
    }

    /// The scanner of texts on this device, and the name of the device.
    pub fn scanner(&self) -> (Box<dyn EndScan + Send>, String) {
        let scan: Box<dyn EndScan + Send> = match self {
            OpenedDevice::Cpu(set) => Box::new(Exact::on(*set)),
            #[cfg(feature = "gpu")]
            OpenedDevice::Gpu(gpu) => Box::new(gpu.scan()),
        };
        (scan, self.engine().capabilities().name)
    }

    /// The scanner of targets for the filter.
    pub fn finder(&self, targets: &Arc<Sequences>) -> PatternFinder {
        match self {
            OpenedDevice::Cpu(set) => PatternFinder::new(targets, Box::new(SlicedScan::on(*set)), false),
            #[cfg(feature = "gpu")]
            OpenedDevice::Gpu(gpu) => gpu.finder(targets),
        }
    }

    /// The scan of a sampled index's positions on this device, if there is one.
    #[cfg_attr(not(feature = "gpu"), expect(unused_variables, reason = "only a GPU has such a scan"))]
    pub fn diagonals(&self, targets: &Sequences, scoring: &Scoring) -> Option<Box<dyn DiagonalScan>> {
        match self {
            OpenedDevice::Cpu(_) => None,
            #[cfg(feature = "gpu")]
            OpenedDevice::Gpu(gpu) => gpu.diagonals(targets, scoring),
        }
    }

    /// Costs of the filter's steps relative to scoring.
    pub fn costs(&self) -> FilterCosts {
        let threads = rayon::current_num_threads();
        match self {
            OpenedDevice::Cpu(set) => FilterCosts::on_cores(set.lanes(1), threads),
            #[cfg(feature = "gpu")]
            OpenedDevice::Gpu(_) => FilterCosts::on_gpus(1, threads),
        }
    }

    /// Creates an engine on the device.
    pub fn engine(&self) -> Guarded {
        match self {
            OpenedDevice::Cpu(set) => Guarded::new(Box::new(Cpu::on(*set)), None),
            #[cfg(feature = "gpu")]
            OpenedDevice::Gpu(gpu) => gpu.engine(),
        }
    }
}

#[cfg(feature = "gpu")]
fn open_gpu(name: Option<&str>, may_fall_back: bool) -> Result<OpenedDevice, EngineError> {
    Ok(OpenedDevice::Gpu(gpu::OpenedGpu::open(name, may_fall_back)?))
}

#[cfg(not(feature = "gpu"))]
fn open_gpu(_: Option<&str>, _: bool) -> Result<OpenedDevice, EngineError> {
    Err(EngineError::NoDevice("this library was built without its feature 'gpu'".to_string()))
}

#[cfg(feature = "gpu")]
mod gpu {
    use super::*;
    use crate::engine::gpu::{Card, Gpu};
    use crate::patterns::scan::diagonals::CardDiagonals;
    use crate::patterns::search::gpu::{GpuScan, OnCard};
    use std::process;
    use std::sync::{Mutex, Weak};

    /// Open cards, shared by all callers that request the same name: opening a card takes some tenths of a second.
    static OPEN: Mutex<Vec<OpenCard>> = Mutex::new(Vec::new());

    struct OpenCard {
        name: Option<String>,
        /// A card is not usable in a forked process.
        process: u32,
        card: Weak<Card>,
    }

    /// Returns the open card of this name, or opens one.
    fn card(name: Option<&str>) -> Result<Arc<Card>, EngineError> {
        // A thread that would have to wait opens its own card: in a forked process, the thread that holds the lock may
        // not exist.
        let Ok(mut open) = OPEN.try_lock() else { return Card::open(name, false) };
        open.retain(|open| open.process == process::id() && open.card.strong_count() > 0);
        let of_name = open.iter().filter(|open| open.name.as_deref() == name);
        if let Some(card) = of_name.filter_map(|open| open.card.upgrade()).find(|card| card.is_well()) {
            return Ok(card);
        }
        let card = Card::open(name, false)?;
        let opened =
            OpenCard { name: name.map(str::to_string), process: process::id(), card: Arc::downgrade(&card) };
        open.push(opened);
        Ok(card)
    }

    pub struct OpenedGpu {
        card: Arc<Card>,
        /// Whether the CPU takes over if the GPU fails.
        pub may_fall_back: bool,
    }

    impl OpenedGpu {
        pub fn open(name: Option<&str>, may_fall_back: bool) -> Result<OpenedGpu, EngineError> {
            Ok(OpenedGpu { card: card(name)?, may_fall_back })
        }

        pub fn finder(&self, targets: &Arc<Sequences>) -> PatternFinder {
            PatternFinder::new(targets, Box::new(self.scan().sweeping()), true)
        }

        pub fn diagonals(&self, targets: &Sequences, scoring: &Scoring) -> Option<Box<dyn DiagonalScan>> {
            CardDiagonals::suited(std::slice::from_ref(&self.card), targets, scoring)
        }

        pub fn scan(&self) -> GpuScan {
            let card = OnCard::new(Arc::clone(&self.card));
            GpuScan::new(card, SlicedScan::on(InstructionSet::best()), self.may_fall_back)
        }

        pub fn engine(&self) -> Guarded {
            let fallback: Box<dyn FnOnce() -> Box<dyn Engine> + Send> = Box::new(|| Box::new(Cpu::new()));
            Guarded::new(Box::new(Gpu::new(Arc::clone(&self.card))), self.may_fall_back.then_some(fallback))
        }
    }
}
