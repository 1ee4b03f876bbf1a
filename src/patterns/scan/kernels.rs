//! The kernels of scans.

use super::shader::{ScanVariant, transpose_wgsl};
use super::{bases, bitap, diagonals, dictionary};
use crate::engine::gpu::Card;
use crate::gpu::kernels;
use crate::gpu::template::TemplateError;
use crate::terms::error::EngineError;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScanKernel {
    Transpose,
    Sweep(ScanVariant),
    Bitap(bitap::BitapVariant),
    /// Finds the starts of lines: the pass that counts newlines, or the pass that writes positions.
    LineStarts {
        places: bool,
    },
    Words(dictionary::shader::WordVariant),
    Bases(bases::shader::BaseVariant),
    Diagonals(diagonals::shader::BoundVariant),
}

impl ScanKernel {
    fn wgsl(self) -> Result<String, TemplateError> {
        match self {
            ScanKernel::Transpose => transpose_wgsl(),
            ScanKernel::Sweep(variant) => variant.wgsl(),
            ScanKernel::Bitap(variant) => variant.wgsl(),
            ScanKernel::LineStarts { places } => dictionary::shader::line_starts_wgsl(places),
            ScanKernel::Words(variant) => variant.wgsl(),
            ScanKernel::Bases(variant) => variant.wgsl(),
            ScanKernel::Diagonals(variant) => variant.wgsl(),
        }
    }

    /// Bindings by number, and whether the kernel writes to them.
    fn bindings(self) -> &'static [(u32, bool)] {
        let all = &[(0, false), (1, false), (2, false), (3, true), (4, true)];
        let words = &[(0, false), (1, false), (2, false), (3, false), (4, true), (5, false)];
        match self {
            ScanKernel::Transpose | ScanKernel::LineStarts { places: false } => {
                &[(0, false), (1, false), (2, true)]
            }
            ScanKernel::LineStarts { places: true } => &[(0, false), (1, false), (2, true), (3, true)],
            ScanKernel::Words(variant) if variant.wanted == dictionary::shader::LookupRequest::Places => {
                &words[..5]
            }
            ScanKernel::Words(_) => words,
            ScanKernel::Diagonals(_) => {
                &[(0, false), (1, false), (2, false), (3, false), (4, false), (5, true)]
            }
            ScanKernel::Bases(_) => &words[..5],
            ScanKernel::Sweep(ScanVariant { strips: true, .. }) => all,
            ScanKernel::Sweep(_) | ScanKernel::Bitap(_) => &all[..4],
        }
    }
}

/// The compiled kernel for a GPU.
pub fn compiled(card: &Card, kernel: ScanKernel) -> Result<wgpu::ComputePipeline, EngineError> {
    let name = format!("{kernel:?}");
    let compile = || kernels::compile(&card.runtime.device, &name, kernel.wgsl(), kernel.bindings(), &[]);
    card.scans.get(name.clone(), compile)
}
