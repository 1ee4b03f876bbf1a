//! Compiled kernels, shared by engines and scans.

use super::device::GpuDevice;
use super::template::TemplateError;
use crate::terms::error::EngineError;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

/// A kernel, once compiled.
type Compiled = Mutex<Option<wgpu::ComputePipeline>>;

/// The kernels compiled so far, by key. Each is compiled on first use, and different kernels are compiled in parallel:
/// a driver that does not have them in its cache takes a fifth of a second for some.
pub struct KernelCache<K>(Mutex<HashMap<K, Arc<Compiled>>>);

impl<K> Default for KernelCache<K> {
    fn default() -> KernelCache<K> {
        KernelCache(Mutex::default())
    }
}

impl<K: Eq + Hash> KernelCache<K> {
    /// Returns the kernel of a key, compiling it with `compile` if necessary. Threads that need the same kernel wait.
    pub fn get(
        &self,
        key: K,
        compile: impl FnOnce() -> Result<wgpu::ComputePipeline, EngineError>,
    ) -> Result<wgpu::ComputePipeline, EngineError> {
        let compiled = self.entry(key)?;
        let mut compiled = compiled.lock().map_err(|_| failed())?;
        if let Some(pipeline) = compiled.as_ref() {
            return Ok(pipeline.clone());
        }
        Ok(compiled.insert(compile()?).clone())
    }

    /// Compiles a kernel that will soon be needed, unless another thread does. A failure is reported when the kernel is
    /// used.
    pub fn prepare(&self, key: K, compile: impl FnOnce() -> Result<wgpu::ComputePipeline, EngineError>) {
        let Ok(compiled) = self.entry(key) else { return };
        if let Ok(mut compiled) = compiled.try_lock()
            && compiled.is_none()
        {
            *compiled = compile().ok();
        }
    }

    fn entry(&self, key: K) -> Result<Arc<Compiled>, EngineError> {
        let mut known = self.0.lock().map_err(|_| failed())?;
        Ok(Arc::clone(known.entry(key).or_default()))
    }
}

fn failed() -> EngineError {
    EngineError::Lost("compiling a kernel failed".to_string())
}

/// Compiles the source of a kernel with these bindings, by number, and whether it writes to them.
pub fn compile(
    device: &GpuDevice,
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
            // SAFETY: the fields of a task, which the host sets, bound every index of the kernels (tests run every
            // variant in checked mode too), and the kernels' loops end. The checks cost up to two thirds of the speed
            // (docs/ideas.md).
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
