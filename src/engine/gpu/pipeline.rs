//! Compiled kernels.

use crate::engine::gpu::bindings::kernel_buffers;
use crate::engine::gpu::variant::{RowKind, Scores, Variant};
use crate::gpu::device::GpuDevice;
use crate::gpu::kernels::{self, KernelCache};
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use crate::terms::scoring::{ComparedScores, GapPiece, Gaps, Scoring};

/// The constants for which a kernel is specialized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct KernelConstants {
    match_: i32,
    mismatch: i32,
    ambiguous: i32,
    end_bonus: i32,
    gaps: Gaps,
    frameshift: i32,
}

impl KernelConstants {
    fn new(scoring: &Scoring) -> KernelConstants {
        let none = ComparedScores { match_: 0, mismatch: 0, ambiguous: 0 };
        let ComparedScores { match_, mismatch, ambiguous } = scoring.compared().unwrap_or(none);
        // Kernels read the gap costs of positions from the table of scores.
        let none_of_all = Gaps::affine(GapPiece::new(0, 0));
        let gaps = if scoring.position_gaps().is_some() { none_of_all } else { scoring.gaps() };
        let end_bonus = scoring.end_bonus;
        let frameshift = scoring.frameshift.unwrap_or(0);
        KernelConstants { match_, mismatch, ambiguous, end_bonus, gaps, frameshift }
    }
}

/// The engine's kernels compiled so far.
#[derive(Default)]
pub struct Pipelines(KernelCache<(Variant, KernelConstants)>);

impl Pipelines {
    pub fn get(
        &self,
        device: &GpuDevice,
        variant: Variant,
        scoring: &Scoring,
    ) -> Result<wgpu::ComputePipeline, EngineError> {
        let numbers = KernelConstants::new(scoring);
        self.0.get((variant, numbers), || compile(device, variant, numbers))
    }

    /// Compiles a kernel that will soon be needed.
    pub fn prepare(&self, device: &GpuDevice, variant: Variant, scoring: &Scoring) {
        let numbers = KernelConstants::new(scoring);
        self.0.prepare((variant, numbers), || compile(device, variant, numbers));
    }
}

fn compile(
    device: &GpuDevice,
    variant: Variant,
    numbers: KernelConstants,
) -> Result<wgpu::ComputePipeline, EngineError> {
    let scale = match variant {
        Variant::Tile(tile) => f64::from(tile.scale()),
        Variant::Trace { .. } | Variant::Traceback { .. } | Variant::Rows { .. } => 1.0,
    };
    let of_scores = [
        ("MATCH", f64::from(numbers.match_)),
        ("MISMATCH", f64::from(-numbers.mismatch)),
        ("AMBIGUOUS", f64::from(-numbers.ambiguous)),
        ("END_BONUS", f64::from(numbers.end_bonus)),
    ];
    let names: Vec<[String; 2]> = (0..variant.pieces()).map(piece_constants).collect();
    let costs = names.iter().zip(numbers.gaps.pieces()).flat_map(|([first, extend], piece)| {
        let costs = [(first, piece.first()), (extend, piece.extend)];
        costs.map(|(name, cost)| (name.as_str(), scale * f64::from(cost)))
    });
    // An unused constant must not be set.
    let shift = [("SHIFT", f64::from(numbers.frameshift))];
    let constants: Vec<(&str, f64)> = match variant {
        Variant::Tile(tile) if tile.scores == Scores::SharedCodons => costs.chain(shift).collect(),
        Variant::Tile(tile) if tile.scores.is_profile() => costs.collect(),
        Variant::Tile(_) | Variant::Trace { .. } => of_scores.into_iter().chain(costs).collect(),
        Variant::Traceback { .. } => Vec::new(),
        Variant::Rows { kind: RowKind::Codons, .. } => costs.chain(shift).collect(),
        Variant::Rows { kind: RowKind::Positions, .. } => costs.collect(),
        Variant::Rows { kind: RowKind::GappedPositions, .. } => Vec::new(),
    };
    let bindings: Vec<(u32, bool)> =
        kernel_buffers(variant).map(|buffer| (buffer.binding(), buffer.is_written())).collect();
    kernels::compile(device, &format!("{variant:?}"), variant.wgsl(), &bindings, &constants)
}

/// Names of the kernel constants for the first and for each further residue of a gap of a piece.
fn piece_constants(piece: usize) -> [String; 2] {
    let number = if piece == 0 { String::new() } else { piece.to_string() };
    ["FIRST", "EXTEND"].map(|name| format!("{name}{number}"))
}

/// Rejects adapters on which a kernel could not run.
pub fn check_limits(device: &GpuDevice) -> Result<(), EngineError> {
    let variants = Variant::all();
    let most = |of: &dyn Fn(&Variant) -> u32| variants.iter().map(of).max().unwrap_or(0);
    for (what, has, needs) in [
        (
            "bytes of workgroup memory",
            device.limits.max_compute_workgroup_storage_size,
            most(&|it| it.workgroup_bytes()),
        ),
        (
            "threads of a workgroup",
            device.limits.max_compute_invocations_per_workgroup,
            most(&|it| it.threads()),
        ),
        (
            "storage buffers of a kernel",
            device.limits.max_storage_buffers_per_shader_stage,
            most(&|it| to_u32(kernel_buffers(*it).count())),
        ),
    ] {
        if has < needs {
            return Err(EngineError::Unsupported(format!(
                "{} has {has} {what}, but the kernels need {needs}",
                device.name
            )));
        }
    }
    Ok(())
}
