//! The writer's stage: batches are written in the order of the input.

use super::Run;
use super::report::{QUERIES, Summary, counted};
use crate::error::Result;
use crate::hits::Effort;
use crate::statistics::Sums;
use crate::writer::Output;
use crate::writer::bgzf::RecordBytes;
use crate::writer::sink::RecordSink;
use std::collections::BTreeMap;
use std::mem;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

/// A batch on its way to the writer.
pub struct Written {
    pub number: usize,
    pub parts: Vec<RecordBytes>,
    pub queries: u64,
    /// Bytes of the input up to the batch's end.
    pub bytes: u64,
    pub aligned: u64,
    /// Queries that were not aligned, since others equal them.
    pub repeated: u64,
    pub effort: Effort,
    /// Where statistics are wanted.
    pub sums: Option<Sums>,
    pub formatting: Duration,
}

impl Run<'_> {
    /// Writes the header.
    pub(super) fn begin(&self, output: &mut Output) -> Result<()> {
        self.writer.header().iter().try_for_each(|part| output.put(part))
    }

    /// The writer's stage. Each batch that is written gives its token back by `leave`.
    pub(super) fn write(
        &self,
        from_workers: Receiver<Result<Written>>,
        leave: SyncSender<()>,
        (sink, output): (&mut RecordSink, &mut Output),
        summary: &mut Summary,
    ) -> Result<()> {
        // Batches that came before one in front of them.
        let mut early = BTreeMap::new();
        let mut next = 0;
        for written in from_workers {
            let written = written?;
            early.insert(written.number, written);
            while let Some(mut written) = early.remove(&next) {
                if self.failure.stopped() {
                    return Ok(());
                }
                if let Some(fault) = self.targets.fault() {
                    return Err(fault);
                }
                let begun = Instant::now();
                if next == 0 {
                    // Only now: what is wrong with the first queries is told before the first byte.
                    self.begin(output)?;
                }
                for part in mem::take(&mut written.parts) {
                    sink.add(part, output)?;
                }
                if let (Some(tally), Some(sums)) = (&self.tally, written.sums.take()) {
                    tally.add(sums);
                }
                next += 1;
                summary.writing += begun.elapsed() + written.formatting;
                self.count(&written, summary);
                // The reader may be done already.
                let _ = leave.try_send(());
            }
        }
        Ok(())
    }

    /// Adds a batch to the summary, and tells that it is done.
    fn count(&self, written: &Written, summary: &mut Summary) {
        let Written { number, queries, repeated, bytes, aligned, effort, formatting, .. } = written;
        summary.queries += queries;
        summary.aligned += aligned;
        summary.repeated += repeated;
        summary.cells += effort.cells;
        let remarks = effort.remarks();
        summary.whole = summary.whole.map(|whole| whole + remarks.whole);
        summary.unsplit += remarks.unsplit;
        summary.cut += remarks.cut;
        summary.scoring += effort.scoring;
        summary.backtrace += effort.backtrace;
        self.reporter.detail(&format!(
            "batch {}: {}, {aligned} aligned, {} cells; scoring {:.3} s, backtrace {:.3} s, formatting {:.3} s",
            number + 1,
            counted(*queries, QUERIES),
            effort.cells,
            effort.scoring.as_secs_f64(),
            effort.backtrace.as_secs_f64(),
            formatting.as_secs_f64()
        ));
        self.done.store(*bytes, Ordering::Relaxed);
        self.reporter.progress(summary.queries);
    }
}
