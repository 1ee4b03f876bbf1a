//! Compiled kernels.

use crate::engine::gpu::device::Device;
use crate::engine::gpu::template::TemplateError;
use crate::engine::gpu::variant::{TileVariant, Variant};
use crate::error::EngineError;
use crate::scoring::{Scoring, Substitution};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The numbers that a kernel is specialised for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Numbers {
    match_: i32,
    mismatch: i32,
    gap_open: i32,
    gap_extend: i32,
}

impl Numbers {
    fn new(scoring: &Scoring) -> Numbers {
        let (match_, mismatch) = match scoring.substitution {
            Substitution::Equal { match_, mismatch } => (match_, mismatch),
            Substitution::Matrix(_) => (0, 0),
        };
        Numbers { match_, mismatch, gap_open: scoring.gap_open, gap_extend: scoring.gap_extend }
    }
}

/// A kernel for some numbers, once it is compiled.
type Compiled = Mutex<Option<wgpu::ComputePipeline>>;

/// The kernels compiled so far. Each is compiled when it is first used, different ones side by side: a driver that
/// has not kept them takes a fifth of a second for some.
#[derive(Default)]
pub struct Pipelines {
    known: Mutex<HashMap<(Variant, Numbers), Arc<Compiled>>>,
}

impl Pipelines {
    pub fn get(
        &self,
        device: &Device,
        variant: Variant,
        scoring: &Scoring,
    ) -> Result<wgpu::ComputePipeline, EngineError> {
        let numbers = Numbers::new(scoring);
        let compiled = self.place(variant, numbers)?;
        let mut compiled = compiled.lock().map_err(|_| failed())?;
        if let Some(pipeline) = compiled.as_ref() {
            return Ok(pipeline.clone());
        }
        Ok(compiled.insert(compile(device, variant, numbers)?).clone())
    }

    /// Compiles a kernel that will be asked for soon, unless another thread does. A failure is told when the kernel is asked for.
    pub fn prepare(&self, device: &Device, variant: Variant, scoring: &Scoring) {
        let numbers = Numbers::new(scoring);
        let Ok(compiled) = self.place(variant, numbers) else { return };
        if let Ok(mut compiled) = compiled.try_lock()
            && compiled.is_none()
        {
            *compiled = compile(device, variant, numbers).ok();
        }
    }

    fn place(&self, variant: Variant, numbers: Numbers) -> Result<Arc<Compiled>, EngineError> {
        let mut known = self.known.lock().map_err(|_| failed())?;
        Ok(Arc::clone(known.entry((variant, numbers)).or_default()))
    }
}

fn failed() -> EngineError {
    EngineError::Lost("compiling a kernel failed".to_string())
}

fn compile(
    device: &Device,
    variant: Variant,
    numbers: Numbers,
) -> Result<wgpu::ComputePipeline, EngineError> {
    let scale = match variant {
        Variant::Tile(tile) => f64::from(tile.scale()),
        Variant::Trace | Variant::Traceback => 1.0,
    };
    let constants = [
        ("MATCH", f64::from(numbers.match_)),
        ("MISMATCH", f64::from(-numbers.mismatch)),
        ("FIRST", scale * f64::from(numbers.gap_open + numbers.gap_extend)),
        ("EXTEND", scale * f64::from(numbers.gap_extend)),
    ];
    // A matrix leaves no use for the first two, and a constant without a use may not be set.
    let constants = match variant {
        Variant::Tile(tile) if tile.scores.is_profile() => &constants[2..],
        Variant::Tile(_) | Variant::Trace => &constants[..],
        Variant::Traceback => &[],
    };
    let bindings: Vec<(u32, bool)> = bindings(variant).collect();
    create(device, &format!("{variant:?}"), variant.wgsl(), &bindings, constants)
}

/// Compiles the text of a kernel with these bindings, by number, and whether it writes to them.
pub fn create(
    device: &Device,
    label: &str,
    wgsl: Result<String, TemplateError>,
    bindings: &[(u32, bool)],
    constants: &[(&str, f64)],
) -> Result<wgpu::ComputePipeline, EngineError> {
    let wgsl = wgsl.map_err(|error| EngineError::Lost(format!("{label} has no text: {error}")))?;
    let source = wgpu::ShaderSource::Wgsl(wgsl.into());
    let descriptor = wgpu::ShaderModuleDescriptor { label: Some(label), source };
    device.guard(label, |gpu| {
        let module = match device.checked {
            true => gpu.create_shader_module(descriptor),
            // SAFETY: every index of the kernels is bounded by what the host puts into a task
            // (tests run every variant in checked mode too), and their loops end. The checks cost
            // up to two thirds of the speed (docs/ideas.md).
            false => unsafe {
                gpu.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
            },
        };
        let layout = layout(gpu, bindings);
        gpu.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(label),
            layout: Some(&layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants,
                zero_initialize_workgroup_memory: device.checked,
            },
            cache: None,
        })
    })
}

/// Bindings of a variant, by number, and whether the kernel writes to them.
pub fn bindings(variant: Variant) -> impl Iterator<Item = (u32, bool)> {
    let tile = |has: fn(&TileVariant) -> bool| matches!(variant, Variant::Tile(tile) if has(&tile));
    let reads = variant != Variant::Traceback;
    [
        (0, false, true),
        (1, false, reads),
        (2, false, reads),
        (3, true, tile(TileVariant::has_edges)),
        (4, false, tile(|tile| tile.scores.is_profile())),
        (5, true, true),
        (6, true, matches!(variant, Variant::Trace | Variant::Traceback)),
        (7, true, variant.is_chained()),
        (8, false, variant.table().is_some()),
    ]
    .into_iter()
    .filter(|&(_, _, used)| used)
    .map(|(number, written, _)| (number, written))
}

fn layout(device: &wgpu::Device, bindings: &[(u32, bool)]) -> wgpu::PipelineLayout {
    let entries: Vec<wgpu::BindGroupLayoutEntry> = bindings
        .iter()
        .map(|&(binding, written)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: !written },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        })
        .collect();
    let descriptor = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
    let group = device.create_bind_group_layout(&descriptor);
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        bind_group_layouts: &[Some(&group)],
        ..Default::default()
    })
}
