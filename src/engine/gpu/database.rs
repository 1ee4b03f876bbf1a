//! Queries against a database that is resident on the device: the scores that count.

use crate::engine::gpu::layout::ResiduePacking;
use crate::engine::gpu::plan::database::{DatabasePlan, TargetOrder, TargetRange};
use crate::engine::gpu::resident::HeldSequences;
use crate::engine::gpu::runner::{DatabaseInputs, JobResult};
use crate::engine::gpu::variant::DatabaseTiles;
use crate::engine::gpu::{Card, Gpu, scoring_of};
use crate::engine::{DatabaseQuery, TargetScore};
use crate::gpu::buffers::{self, Grown};
use crate::terms::batch::{Batch, Sequences};
use crate::terms::error::EngineError;
use std::sync::{Arc, Mutex};
use wgpu::BufferUsages;

/// The short targets in their order, on the host and on the device.
pub struct GpuDatabase {
    held: HeldSequences,
    order: TargetOrder,
    places: wgpu::Buffer,
}

/// Data about databases that all engines of a card share.
pub struct Databases {
    last: Mutex<Option<Arc<GpuDatabase>>>,
    /// Edges between strips. One buffer is enough, because a dispatch begins only after the previous one is done with
    /// it.
    edges: Mutex<Grown>,
}

impl Default for Databases {
    fn default() -> Databases {
        let edges = Grown::new("edges of strips", BufferUsages::STORAGE);
        Databases { last: Mutex::new(None), edges: Mutex::new(edges) }
    }
}

fn failed<T>(_: T) -> EngineError {
    EngineError::Lost("placing the targets failed".to_string())
}

impl Card {
    /// The order of the targets, computed once for all engines.
    fn database(
        &self,
        targets: &Arc<Sequences>,
        letters: ResiduePacking,
        longest: usize,
    ) -> Result<Arc<GpuDatabase>, EngineError> {
        let mut last = self.databases.last.lock().map_err(failed)?;
        if let Some(known) = last.as_ref().filter(|known| known.held.is(targets, letters)) {
            return Ok(Arc::clone(known));
        }
        *last = None;
        let held = HeldSequences::new(targets, letters, u32::MAX)?;
        let order = TargetOrder::new(targets, longest);
        let placed = order.placed(targets);
        let bytes: &[u8] = bytemuck::cast_slice(&placed);
        let (device, usage) = (&self.runtime.device, BufferUsages::STORAGE | BufferUsages::COPY_DST);
        let places = buffers::create(device, "places of targets", usage, bytes.len() as u64)?;
        device.queue.write_buffer(&places, 0, bytes);
        Ok(Arc::clone(last.insert(Arc::new(GpuDatabase { held, order, places }))))
    }

    /// Returns a buffer for edges between strips and its size in bytes: the maximum or, if memory is short, less.
    fn edges(&self, [least, most]: [u64; 2]) -> Result<(wgpu::Buffer, u64), EngineError> {
        let mut edges = self.databases.edges.lock().map_err(failed)?;
        let mut room = most;
        loop {
            match edges.with_room(&self.runtime.device, room) {
                Err(EngineError::OutOfMemory(_)) if room / 2 >= least && room > 0 => room /= 2,
                buffer => return Ok((buffer?.clone(), room)),
            }
        }
    }
}

impl Gpu {
    /// Scores `asked` against all targets of up to `longest` residues, if there are kernels for that.
    pub(super) fn score_targets(
        &mut self,
        batch: &Batch,
        asked: &[DatabaseQuery],
        longest: usize,
    ) -> Result<Vec<Vec<TargetScore>>, EngineError> {
        let Some(tiles) = DatabaseTiles::new(scoring_of(batch), self.limits().subgroup) else {
            return Err(EngineError::Unsupported("no kernels for databases".to_string()));
        };
        let card = Arc::clone(&self.card);
        let mut inputs = self.inputs(batch, 0..batch.targets.codes().len())?;
        let database = card.database(&batch.targets, scoring_of(batch).letters(), longest)?;
        let GpuDatabase { order, places, .. } = database.as_ref();
        let plan = |edges: u64| DatabasePlan::new(batch, asked, order, &tiles, edges);
        let (edges, room) = card.edges(plan(self.limits().binding).edge_bytes())?;
        let mut plan = plan(room);
        inputs.database = Some(DatabaseInputs { places: places.clone(), edges });
        let mut scores = vec![Vec::new(); asked.len()];
        let take = |answer: JobResult, meetings: Vec<TargetRange>| {
            let results: &[u32] = answer.output.as_ref();
            for TargetRange { asked: place, places, result } in meetings {
                let results: &[i32] = bytemuck::cast_slice(&results[result..result + places.len()]);
                let scored = order.targets[places].iter().zip(results);
                let DatabaseQuery { least, first, .. } = asked[place];
                let counting = scored.filter(|&(&target, &score)| score >= least && target >= first);
                scores[place].extend(counting.map(|(&target, &score)| TargetScore { target, score }));
            }
        };
        self.run_all(&inputs, |cells| plan.next(cells), take)?;
        Ok(scores)
    }
}
