//! The devices of aligners and searchers.

use crate::align::candidates::by_index::DiagonalScan;
use crate::align::candidates::levels::FilterCosts;
use crate::engine::cpu::Cpu;
use crate::engine::cpu::simd::InstructionSet;
use crate::engine::{Engine, Guarded};
use crate::patterns::search::EndScan;
use crate::patterns::search::exact::{self, Exact};
use crate::patterns::search::finder::PatternFinder;
use crate::patterns::search::hits::HitOptions;
use crate::patterns::search::sites::PamSites;
use crate::patterns::search::sliced::SlicedScan;
use crate::terms::batch::Sequences;
use crate::terms::error::EngineError;
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

    /// Opens the device that searches texts for patterns. [`Device::Auto`] is the CPU if it is faster for these
    /// patterns.
    pub fn for_search(
        device: &Device,
        patterns: &[Vec<u8>],
        wanted: &HitOptions,
    ) -> Result<OpenedDevice, EngineError> {
        match device {
            Device::Auto if cpu_is_faster(patterns, wanted) => Ok(OpenedDevice::Cpu(InstructionSet::best())),
            device => OpenedDevice::open(device),
        }
    }

    /// The CPU, if this is a GPU of [`Device::Auto`] and the CPU is faster for these patterns.
    pub fn cpu_for_search(&self, patterns: &[Vec<u8>], wanted: &HitOptions) -> Option<OpenedDevice> {
        let is_replaced = match self {
            OpenedDevice::Cpu(_) => false,
            #[cfg(feature = "gpu")]
            OpenedDevice::Gpu(gpu) => gpu.may_fall_back,
        };
        (is_replaced && cpu_is_faster(patterns, wanted)).then(|| OpenedDevice::Cpu(InstructionSet::best()))
    }

    /// The search that starts at PAMs, if it costs less than a scan on this device.
    pub fn sites(&self, wanted: &HitOptions, patterns: &[Vec<u8>]) -> Option<PamSites> {
        match self {
            OpenedDevice::Cpu(set) => PamSites::new(*set, wanted, patterns, None),
            #[cfg(feature = "gpu")]
            OpenedDevice::Gpu(_) => None,
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

/// Whether the CPU finds these patterns by lookup or from their PAMs faster than a GPU scans.
fn cpu_is_faster(patterns: &[Vec<u8>], wanted: &HitOptions) -> bool {
    let from_pams = || {
        let sites = PamSites::new(InstructionSet::best(), wanted, patterns, None);
        sites.is_some_and(|sites| sites.need_no_device(rayon::current_num_threads()))
    };
    exact::pays(patterns, &wanted.rule) || from_pams()
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
