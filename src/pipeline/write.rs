//! The writer's stage: writes batches in input order.

use super::Run;
use super::report::{QUERIES, Summary, counted};
use crate::align::hits::Effort;
use crate::output::statistics::Sums;
use crate::output::writer::Output;
use crate::output::writer::bgzf::RecordBytes;
use crate::output::writer::sink::RecordSink;
use crate::terms::error::Result;
use crate::terms::system::Instant;
use std::collections::BTreeMap;
use std::mem;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Duration;

/// Queries of a batch on their way to the writer.
pub struct Written {
    /// The number of the batch, whose queries may come in several parts.
    pub number: usize,
    pub is_last: bool,
    pub parts: Vec<RecordBytes>,
    pub queries: u64,
    /// Bytes of the input up to the batch's end.
    pub bytes: u64,
    pub aligned: u64,
    /// Aligned queries whose hits are of the second tier.
    pub anchored: u64,
    /// Queries that were not aligned because they equal others.
    pub repeated: u64,
    pub effort: Effort,
    /// Set if statistics are requested.
    pub sums: Option<Sums>,
    pub formatting: Duration,
}

impl Run<'_> {
    /// Writes the header.
    pub(super) fn begin(&self, summary: &Summary, output: &mut Output) -> Result<()> {
        self.header(summary).iter().try_for_each(|part| output.put(part))
    }

    /// The header, which may depend on whether any query has a hit.
    pub(super) fn header(&self, summary: &Summary) -> &[Vec<u8>] {
        match &self.audit {
            Some(audit) => audit.header(),
            None => self.writer.header_for(summary.aligned > 0),
        }
    }

    /// Whether the header is determined after the batches counted so far.
    pub(super) fn has_begun(&self, summary: &Summary) -> bool {
        summary.queries > 0 && (summary.aligned > 0 || self.writer.header_without_hits().is_none())
    }

    /// The writer's stage. Returns the token of each written batch through `leave`.
    pub(super) fn write(
        &self,
        from_workers: Receiver<Result<Written>>,
        leave: SyncSender<()>,
        (sink, output): (&mut RecordSink, &mut Output),
        summary: &mut Summary,
    ) -> Result<()> {
        // Batches that arrived before an earlier batch.
        let mut early = BTreeMap::new();
        let mut next = 0;
        for written in from_workers {
            let written = written?;
            early.insert(written.number, written);
            while let Some(written) = early.remove(&next) {
                if self.failure.stopped() {
                    return Ok(());
                }
                let is_last = written.is_last;
                self.put(written, (sink, output), summary)?;
                if is_last {
                    next += 1;
                    self.turns.advance();
                    // The reader may have finished already.
                    let _ = leave.try_send(());
                }
            }
        }
        Ok(())
    }

    /// Writes the next batch of the input, or a part of it.
    pub(super) fn put(
        &self,
        mut written: Written,
        (sink, output): (&mut RecordSink, &mut Output),
        summary: &mut Summary,
    ) -> Result<()> {
        if let Some(fault) = self.targets.fault() {
            return Err(fault);
        }
        let begun = Instant::now();
        let had_begun = self.has_begun(summary);
        self.count(&written, summary);
        if self.has_begun(summary) && !had_begun {
            // Only now, so that errors in the first queries are reported before the first byte is written.
            self.begin(summary, output)?;
        }
        for part in mem::take(&mut written.parts) {
            sink.add(part, output)?;
        }
        if let (Some(tally), Some(sums)) = (&self.tally, written.sums.take()) {
            tally.add(sums);
        }
        summary.writing += begun.elapsed() + written.formatting;
        self.tell(&written, summary);
        Ok(())
    }

    /// Adds a batch to the summary.
    fn count(&self, written: &Written, summary: &mut Summary) {
        let Written { queries, repeated, aligned, anchored, effort, .. } = written;
        summary.queries += queries;
        summary.anchored += anchored;
        summary.aligned += aligned;
        summary.repeated += repeated;
        summary.add(effort);
        let remarks = effort.remarks();
        summary.whole = summary.whole.map(|whole| whole + remarks.whole);
        summary.remarks += remarks;
    }

    /// Reports that a batch is done.
    fn tell(&self, written: &Written, summary: &Summary) {
        let Written { number, queries, bytes, aligned, effort, formatting, .. } = written;
        self.reporter.detail(&format!(
            "batch {}: {}, {aligned} aligned, {}; filter {:.3} s, scoring {:.3} s, backtrace {:.3} s, formatting {:.3} s",
            number + 1,
            counted(*queries, QUERIES),
            counted(effort.cells, ["cell", "cells"]),
            effort.filtering.as_secs_f64(),
            effort.scoring.as_secs_f64(),
            effort.backtrace.as_secs_f64(),
            formatting.as_secs_f64()
        ));
        self.done.store(*bytes, Ordering::Relaxed);
        self.reporter.progress(summary.queries);
    }
}
