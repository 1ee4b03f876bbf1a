//! Adapters and devices: enumeration, naming, opening, waiting, and fault detection.

use super::profile::AdapterProfile;
use crate::terms::error::EngineError;
use crate::terms::system::{Instant, can_sleep, sleep};
use rayon::prelude::*;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Time without an answer after which a device counts as lost.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long a thread sleeps before it polls a device again: a sixteenth of its wait so far, but between these two
/// limits.
const SHORTEST_NAP: Duration = Duration::from_micros(10);
// The timers of browsers are accurate to a few milliseconds.
const LONGEST_NAP: Duration = Duration::from_micros(if cfg!(target_arch = "wasm32") { 4000 } else { 100 });

/// An adapter, as listed by `swalign devices`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterEntry {
    pub index: usize,
    pub name: String,
    pub backend: String,
    /// Empty if the driver does not report it.
    pub pci: String,
    pub driver: String,
    /// Whether it is a software adapter, which is used only if named.
    pub software: bool,
    /// Largest buffer and largest binding, in bytes.
    pub max_buffer: u64,
    pub max_binding: u64,
    /// Workgroup memory in bytes.
    pub workgroup_memory: u32,
    pub subgroup_size: (u32, u32),
    /// Whether it is used if no adapter is named.
    pub is_default: bool,
}

/// An open device.
pub struct GpuDevice {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub name: String,
    pub limits: wgpu::Limits,
    /// Maximum number of bytes of targets on the device at once.
    pub targets: u64,
    /// Nanoseconds per tick of the device's clock, or `None` if compute passes can't be timed.
    pub tick: Option<f32>,
    /// Size of a subgroup, if it is fixed.
    pub subgroup: Option<u32>,
    /// Whether to run shaders with bounds checks.
    pub checked: bool,
    fault: Arc<Mutex<Option<String>>>,
}

fn instance() -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    descriptor.backends &= wgpu::Backends::VULKAN
        | wgpu::Backends::METAL
        | wgpu::Backends::DX12
        | wgpu::Backends::BROWSER_WEBGPU;
    wgpu::Instance::new(descriptor)
}

/// Waits for the driver's answer.
#[cfg(not(target_arch = "wasm32"))]
fn answer<T>(asked: impl Future<Output = T>) -> Result<T, EngineError> {
    Ok(pollster::block_on(asked))
}

/// Waits for the browser's answer, which arrives only while this code is suspended.
#[cfg(target_arch = "wasm32")]
fn answer<T>(asked: impl Future<Output = T>) -> Result<T, EngineError> {
    use std::task::{Context, Poll, Waker};
    let (mut asked, mut context) = (std::pin::pin!(asked), Context::from_waker(Waker::noop()));
    let begun = Instant::now();
    loop {
        match asked.as_mut().poll(&mut context) {
            Poll::Ready(answer) => return Ok(answer),
            Poll::Pending if begun.elapsed() > PATIENCE => {
                return Err(EngineError::Lost("the browser's GPU has not answered".to_string()));
            }
            Poll::Pending => sleep(nap(begun.elapsed())),
        }
    }
}

/// How long to sleep before a device is polled again after this time.
fn nap(waited: Duration) -> Duration {
    (waited / 16).clamp(SHORTEST_NAP, LONGEST_NAP)
}

/// All adapters, each card once, by index.
fn adapters() -> Vec<wgpu::Adapter> {
    let mut adapters: Vec<wgpu::Adapter> = Vec::new();
    if !can_sleep() {
        return adapters;
    }
    // If a card appears under several backends, the first is kept: Vulkan and Metal come first.
    for adapter in answer(instance().enumerate_adapters(wgpu::Backends::all())).unwrap_or_default() {
        let info = adapter.get_info();
        let same = |known: &wgpu::Adapter| {
            let known = known.get_info();
            known.backend != info.backend
                && (known.vendor, known.device) == (info.vendor, info.device)
                && known.device_pci_bus_id == info.device_pci_bus_id
        };
        if !adapters.iter().any(same) {
            adapters.push(adapter);
        }
    }
    adapters
}

/// Preference for an adapter if none is named; `None` excludes it.
fn rank(info: &wgpu::AdapterInfo) -> Option<u32> {
    match info.device_type {
        wgpu::DeviceType::DiscreteGpu => Some(3),
        wgpu::DeviceType::IntegratedGpu => Some(2),
        wgpu::DeviceType::VirtualGpu => Some(1),
        wgpu::DeviceType::Other => Some(0),
        wgpu::DeviceType::Cpu => None,
    }
}

fn default_index(infos: &[wgpu::AdapterInfo]) -> Option<usize> {
    let ranked = infos.iter().enumerate().filter_map(|(index, info)| rank(info).map(|rank| (rank, index)));
    ranked.max_by_key(|&(rank, index)| (rank, std::cmp::Reverse(index))).map(|(_, index)| index)
}

/// The adapters of this machine.
pub fn list() -> Vec<AdapterEntry> {
    let adapters = adapters();
    let infos: Vec<wgpu::AdapterInfo> = adapters.iter().map(wgpu::Adapter::get_info).collect();
    let default = default_index(&infos);
    let entry = |(index, (adapter, info)): (usize, (&wgpu::Adapter, wgpu::AdapterInfo))| {
        let limits = adapter.limits();
        AdapterEntry {
            index,
            backend: format!("{:?}", info.backend),
            pci: info.device_pci_bus_id,
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_string(),
            software: info.device_type == wgpu::DeviceType::Cpu,
            max_buffer: limits.max_buffer_size,
            max_binding: limits.max_storage_buffer_binding_size,
            workgroup_memory: limits.max_compute_workgroup_storage_size,
            subgroup_size: (info.subgroup_min_size, info.subgroup_max_size),
            is_default: default == Some(index),
            name: info.name,
        }
    };
    adapters.iter().zip(infos).enumerate().map(entry).collect()
}

/// Whether `wanted` names the adapter: its index, its PCI id (with or without the domain), or part of
/// its name in any case.
fn is_named(wanted: &str, index: usize, name: &str, pci: &str) -> bool {
    if let Ok(number) = wanted.parse::<usize>() {
        return number == index;
    }
    let (wanted, pci) = (wanted.to_ascii_lowercase(), pci.to_ascii_lowercase());
    let pci_named =
        !pci.is_empty() && (pci == wanted || pci.split_once(':').is_some_and(|(_, rest)| rest == wanted));
    pci_named || name.to_ascii_lowercase().contains(&wanted)
}

/// NVIDIA's vendor id. The variables of [`Grant::of_job`] count NVIDIA's cards only.
const NVIDIA: u32 = 0x10de;

/// The cards that are granted to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Grant {
    /// The environment variable that grants them.
    variable: &'static str,
    cards: String,
}

impl Grant {
    /// The grant that CUDA or Slurm sets, or `None` if all cards may be used.
    fn of_job(variable: impl Fn(&str) -> Option<String>) -> Option<Grant> {
        let said = |name| variable(name).map(|cards| Grant { variable: name, cards });
        let of_slurm = |name| said(name).filter(|grant| !grant.cards.trim().is_empty());
        said("CUDA_VISIBLE_DEVICES")
            .or_else(|| of_slurm("SLURM_STEP_GPUS"))
            .or_else(|| of_slurm("SLURM_JOB_GPUS"))
    }

    /// The names of the cards. CUDA ignores the first invalid name and those after it.
    fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.cards.split(',').map(str::trim);
        names.take_while(|name| !["", "-1", "NoDevFiles"].contains(name))
    }

    /// Selects the granted cards among NVIDIA's real cards, given by index and PCI id. The grant numbers them in the
    /// order of their PCI ids.
    fn choose(&self, mut cards: Vec<(usize, String)>) -> Result<Vec<usize>, EngineError> {
        cards.sort_by_key(|(_, pci)| pci.to_ascii_lowercase());
        let Grant { variable, cards: granted } = self;
        let mut chosen = Vec::new();
        for name in self.names() {
            let place = name.parse::<usize>().map_err(|_| {
                let text = format!(
                    "{variable}={granted}: '{name}' is not an index, and GPUs can be selected only by index; \
                     select one with --device gpu:PCI-ID"
                );
                EngineError::NoDevice(text)
            })?;
            let (index, _) = cards.get(place).ok_or_else(|| {
                let found = match cards.len() {
                    0 => "no NVIDIA GPU was found".to_string(),
                    1 => "only one NVIDIA GPU was found, number 0".to_string(),
                    several => {
                        format!("only {several} NVIDIA GPUs were found, numbers 0 to {}", several - 1)
                    }
                };
                EngineError::NoDevice(format!(
                    "{variable}={granted} asks for GPU number {place}, but {found}"
                ))
            })?;
            chosen.push(*index);
        }
        match chosen.is_empty() {
            true => Err(EngineError::NoDevice(format!("{variable}={granted} grants no GPU"))),
            false => Ok(chosen),
        }
    }
}

/// Whether a card was granted to the job. If so, it is an error to find none.
pub fn card_is_granted() -> bool {
    Grant::of_job(|name| std::env::var(name).ok()).is_some_and(|grant| grant.names().next().is_some())
}

/// The adapters that are granted to the job, or `None` if it may use all.
fn granted(infos: &[wgpu::AdapterInfo]) -> Result<Option<Vec<usize>>, EngineError> {
    let Some(grant) = Grant::of_job(|name| std::env::var(name).ok()) else { return Ok(None) };
    let cards = infos.iter().enumerate().filter(|(_, info)| info.vendor == NVIDIA && rank(info).is_some());
    let cards: Vec<_> = cards.map(|(index, info)| (index, info.device_pci_bus_id.clone())).collect();
    // These variables do not count cards of other vendors.
    let others = infos.iter().any(|info| info.vendor != NVIDIA && rank(info).is_some());
    if cards.is_empty() && others { Ok(None) } else { grant.choose(cards).map(Some) }
}

/// All adapters, with the drivers' information about them.
fn found() -> (Vec<wgpu::Adapter>, Vec<wgpu::AdapterInfo>) {
    let adapters = adapters();
    let infos = adapters.iter().map(wgpu::Adapter::get_info).collect();
    (adapters, infos)
}

fn names_of(infos: &[wgpu::AdapterInfo]) -> String {
    let names: Vec<String> = infos.iter().map(|info| format!("'{}'", info.name)).collect();
    if names.is_empty() { "none".to_string() } else { names.join(", ") }
}

fn no_gpu(infos: &[wgpu::AdapterInfo]) -> EngineError {
    let names = names_of(infos);
    EngineError::NoDevice(format!(
        "no GPU was found (adapters: {names}; software adapters are used only if they are selected)"
    ))
}

/// An adapter to open, and the profile that limits it.
struct AskedAdapter {
    adapter: wgpu::Adapter,
    profile: Option<&'static AdapterProfile>,
}

impl AskedAdapter {
    fn whole(adapter: wgpu::Adapter) -> AskedAdapter {
        AskedAdapter { adapter, profile: None }
    }
}

/// Opens all of them in parallel, because the driver needs a while for each.
fn request_all(adapters: Vec<AskedAdapter>, checked: bool) -> Result<Vec<GpuDevice>, EngineError> {
    let request = |asked| answer(GpuDevice::request(asked, checked))?;
    adapters.into_par_iter().map(request).collect()
}

impl GpuDevice {
    /// Opens the best real GPU, or the first one granted to the job.
    pub fn open_best(checked: bool) -> Result<GpuDevice, EngineError> {
        let (mut adapters, infos) = found();
        let granted = granted(&infos)?.and_then(|granted| granted.first().copied());
        match granted.or_else(|| default_index(&infos)) {
            Some(best) => {
                answer(GpuDevice::request(AskedAdapter::whole(adapters.swap_remove(best)), checked))?
            }
            None => Err(no_gpu(&infos)),
        }
    }

    /// Opens every real GPU, or all that are granted to the job.
    pub fn open_all(checked: bool) -> Result<Vec<GpuDevice>, EngineError> {
        let (adapters, infos) = found();
        if default_index(&infos).is_none() {
            return Err(no_gpu(&infos));
        }
        if let Some(granted) = granted(&infos)? {
            let granted = granted.into_iter().map(|index| AskedAdapter::whole(adapters[index].clone()));
            return request_all(granted.collect(), checked);
        }
        let real = adapters.into_iter().filter(|adapter| rank(&adapter.get_info()).is_some());
        request_all(real.map(AskedAdapter::whole).collect(), checked)
    }

    /// Opens the adapters that `names` name, each once, and limits each to the profile after its name, if there is one.
    pub fn open_named(names: &[String], checked: bool) -> Result<Vec<GpuDevice>, EngineError> {
        let (adapters, infos) = found();
        let mut chosen = Vec::new();
        for wanted in names {
            let (wanted, profile) = AdapterProfile::split(wanted);
            let named = |(index, info): (usize, &wgpu::AdapterInfo)| {
                is_named(wanted, index, &info.name, &info.device_pci_bus_id)
            };
            let Some(index) = infos.iter().enumerate().position(named) else {
                let text = format!("no adapter is named '{wanted}' (found: {})", names_of(&infos));
                return Err(EngineError::NoDevice(format!(
                    "{text}; to list all devices, run `swalign devices`"
                )));
            };
            if chosen.iter().any(|&(known, _)| known == index) {
                let text =
                    format!("'{wanted}' selects adapter {index} a second time; select each adapter once");
                return Err(EngineError::NoDevice(text));
            }
            chosen.push((index, profile));
        }
        let asked = |(index, profile): (usize, _)| AskedAdapter { adapter: adapters[index].clone(), profile };
        request_all(chosen.into_iter().map(asked).collect(), checked)
    }

    async fn request(asked: AskedAdapter, checked: bool) -> Result<GpuDevice, EngineError> {
        let AskedAdapter { adapter, profile } = asked;
        let mut info = adapter.get_info();
        if info.name.is_empty() {
            info.name = "of this browser".to_string();
        }
        let has = adapter.limits();
        let limits = profile.map_or_else(|| has.clone(), |profile| profile.cut(has.clone()));
        let mut features = adapter.features() & (wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::SUBGROUP);
        if info.backend == wgpu::Backend::BrowserWebGpu {
            // Browsers accept these operations only in shaders that enable them, which naga does not read.
            features.remove(wgpu::Features::SUBGROUP);
        }
        let features = features & profile.map_or(wgpu::Features::all(), AdapterProfile::features);
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("swalign"),
            required_features: features,
            required_limits: limits.clone(),
            // Allocates host memory in blocks of 4 MiB instead of 64 MiB, because blocks that the driver maps stay
            // mapped.
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        };
        let (device, queue) = adapter
            .request_device(&descriptor)
            .await
            .map_err(|error| EngineError::NoDevice(format!("{} can't be opened: {error}", info.name)))?;
        let fault = Arc::new(Mutex::new(None));
        let note = |fault: &Arc<Mutex<Option<String>>>| {
            let fault = Arc::clone(fault);
            move |text: String| {
                if let Ok(mut fault) = fault.lock() {
                    fault.get_or_insert(text);
                }
            }
        };
        let (on_error, on_loss) = (note(&fault), note(&fault));
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| on_error(error.to_string())));
        device.set_device_lost_callback(move |reason, text| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                on_loss(format!("{reason:?}: {text}"));
            }
        });
        let timing = features.contains(wgpu::Features::TIMESTAMP_QUERY);
        let tick = timing.then(|| queue.get_timestamp_period());
        let sized = features.contains(wgpu::Features::SUBGROUP)
            && info.subgroup_min_size == info.subgroup_max_size
            && profile.is_none();
        let subgroup = sized.then_some(info.subgroup_min_size);
        let targets = profile.map_or(u64::MAX, |profile| profile.targets);
        Ok(GpuDevice { device, queue, name: info.name, limits, targets, tick, subgroup, checked, fault })
    }

    /// Returns the fault that the driver has reported, if any.
    pub fn check(&self) -> Result<(), EngineError> {
        match self.fault.lock() {
            Ok(fault) => fault.clone().map_or(Ok(()), |text| Err(EngineError::Lost(text))),
            Err(_) => Err(EngineError::Lost("a driver callback failed".to_string())),
        }
    }

    /// Waits until a callback has delivered the message that `arrived` checks for.
    ///
    /// It polls in a loop: threads that waited inside a driver for different submissions to one queue were sometimes
    /// delayed by ten milliseconds (docs/ideas.md).
    pub fn wait<T>(&self, arrived: impl Fn() -> Option<T>) -> Result<T, EngineError> {
        let begun = Instant::now();
        loop {
            self.poll()?;
            if let Some(arrived) = arrived() {
                return Ok(arrived);
            }
            let waited = begun.elapsed();
            if waited > PATIENCE {
                let text = format!("{} has not answered for {} s", self.name, PATIENCE.as_secs());
                return Err(EngineError::Lost(text));
            }
            sleep(nap(waited));
        }
    }

    /// Runs the callbacks that are due.
    pub fn poll(&self) -> Result<(), EngineError> {
        self.device.poll(wgpu::PollType::Poll).map_err(|error| EngineError::Lost(error.to_string()))?;
        self.check()
    }

    /// Runs `create`, and turns refused memory and everything that the driver finds invalid into errors.
    pub fn guard<T>(&self, what: &str, create: impl FnOnce(&wgpu::Device) -> T) -> Result<T, EngineError> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let made = create(&self.device);
        let internal = answer(internal.pop())?;
        let validation = answer(validation.pop())?;
        if answer(memory.pop())?.is_some() {
            return Err(EngineError::OutOfMemory(what.to_string()));
        }
        match internal.or(validation) {
            Some(error) => Err(EngineError::Unsupported(format!("{}: {what}: {error}", self.name))),
            None => Ok(made),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Grant, is_named};

    #[test]
    fn a_job_takes_the_cards_that_it_was_granted() {
        // In an order in which Vulkan may list them; Slurm and CUDA number by PCI id.
        let cards = [(0, "0000:3b:00.0"), (2, "0000:1A:00.0"), (3, "0000:d8:00.0")];
        let choose = |granted: &str| {
            let grant = Grant { variable: "CUDA_VISIBLE_DEVICES", cards: granted.to_string() };
            grant.choose(cards.map(|(index, pci)| (index, pci.to_string())).to_vec())
        };
        assert_eq!(choose("0"), Ok(vec![2]));
        assert_eq!(choose("2,1"), Ok(vec![3, 0]));
        assert_eq!(choose("1, -1,2"), Ok(vec![0]));
        for (granted, says) in [
            ("3", "GPU number 3, but only 3 "),
            ("0,7", "GPU number 7"),
            ("", "no GPU"),
            ("-1", "no GPU"),
            ("NoDevFiles", "no GPU"),
            ("GPU-1b2c", "'GPU-1b2c'"),
            ("MIG-GPU-1/2/3", "'MIG-GPU-1/2/3'"),
        ] {
            let said = choose(granted).unwrap_err().to_string();
            assert!(said.contains(says), "{granted}: {said}");
        }
        let grant = Grant { variable: "CUDA_VISIBLE_DEVICES", cards: "0".to_string() };
        let none = grant.choose(Vec::new()).unwrap_err().to_string();
        assert!(none.starts_with("CUDA_VISIBLE_DEVICES=0 ") && none.contains("no NVIDIA GPU"), "{none}");
    }

    #[test]
    fn who_says_which_cards_were_granted() {
        let of = |variables: &[(&str, &str)]| {
            let value = |name: &str| {
                variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string())
            };
            Grant::of_job(value).map(|grant| (grant.variable, grant.cards))
        };
        let is_card = |cards: &str| {
            let grant = Grant { variable: "CUDA_VISIBLE_DEVICES", cards: cards.to_string() };
            grant.names().next().is_some()
        };
        assert_eq!(["", "-1", "0", "GPU-1b2c", "-1,0"].map(is_card), [false, false, true, true, false]);
        let granted = |variable, cards: &str| Some((variable, cards.to_string()));
        let slurm = [("SLURM_JOB_GPUS", "0,1"), ("SLURM_STEP_GPUS", "1")];
        assert_eq!(of(&[]), None);
        assert_eq!(of(&slurm), granted("SLURM_STEP_GPUS", "1"));
        assert_eq!(of(&slurm[..1]), granted("SLURM_JOB_GPUS", "0,1"));
        assert_eq!(of(&[("SLURM_JOB_GPUS", "")]), None);
        assert_eq!(of(&[("CUDA_VISIBLE_DEVICES", ""), slurm[0]]), granted("CUDA_VISIBLE_DEVICES", ""));
    }

    #[test]
    fn adapters_are_named_by_index_pci_id_or_part_of_the_name() {
        let named = |wanted| is_named(wanted, 1, "NVIDIA H200", "0000:3b:00.0");
        assert!(named("1") && named("h200") && named("0000:3B:00.0") && named("3b:00.0"));
        assert!(!named("0") && !named("radeon") && !named("3b"));
        assert!(!is_named("3b:00.0", 0, "llvmpipe", ""));
    }
}
