//! What a person sees on stderr: notes, a progress bar where it is a terminal, a summary.

use crate::engine::gpu::AdapterEntry;
use crate::pipeline::search::SearchSummary;
use crate::pipeline::{Reporter, Summary};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};

/// Reports to stderr: with verbosity 0 nothing, with 2 everything.
pub struct Terminal {
    verbosity: u8,
    bar: Option<ProgressBar>,
}

impl Terminal {
    pub fn new(verbosity: u8) -> Terminal {
        let bar = (verbosity > 0 && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) =
                ProgressStyle::with_template("{spinner} {human_pos} queries, {per_sec}, {elapsed}")
            {
                bar.set_style(style);
            }
            bar
        });
        Terminal { verbosity, bar }
    }

    fn line(&self, text: &str) {
        let print = || {
            // Where stderr is gone there is nobody to tell.
            let _ = writeln!(io::stderr(), "swalign: {text}");
        };
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// The line at the end of a search.
    pub fn search_summary(&self, summary: &SearchSummary) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.verbosity > 0 {
            let SearchSummary { patterns, texts, letters, hits, found, elapsed, scanned: _ } = summary;
            let seconds = elapsed.as_secs_f64();
            self.line(&format!(
                "{patterns} patterns, {texts} texts of {letters} letters, {found} with a hit, {hits} hits in \
                 {seconds:.2} s"
            ));
        }
    }

    /// The line at the end of a run.
    pub fn summary(&self, summary: &Summary) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.verbosity > 0 {
            self.line(&summary_line(summary));
        }
    }
}

impl Reporter for Terminal {
    fn note(&self, text: &str) {
        if self.verbosity > 0 {
            self.line(text);
        }
    }

    fn detail(&self, text: &str) {
        if self.verbosity > 1 {
            self.line(text);
        }
    }

    fn progress(&self, queries: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(queries);
        }
    }
}

/// Times of stages that run side by side may add up to more than the whole.
fn summary_line(summary: &Summary) -> String {
    let seconds = summary.elapsed.as_secs_f64();
    let whole = summary.whole.map_or(String::new(), |whole| format!(" ({whole} searched in full)"));
    format!(
        "{} queries{whole}, {} aligned, {} cells in {seconds:.2} s ({:.2} GCUPS); reading {:.2} s, device \
         {:.2} s, backtrace {:.2} s, writing {:.2} s",
        summary.queries,
        summary.aligned,
        summary.cells,
        summary.cells as f64 / seconds.max(1e-9) / 1e9,
        summary.reading.as_secs_f64(),
        summary.scoring.as_secs_f64(),
        summary.backtrace.as_secs_f64(),
        summary.writing.as_secs_f64()
    )
}

/// The table that `swalign devices` prints.
pub fn devices(adapters: &[AdapterEntry]) -> String {
    const MIB: u64 = 1 << 20;
    let mut text = String::from(
        "index\tname\tbackend\tpci\tmax_buffer_mib\tmax_binding_mib\tworkgroup_bytes\tsubgroup\tdriver\tdefault\n",
    );
    for adapter in adapters {
        let remark = match (adapter.is_default, adapter.software) {
            (true, _) => "default",
            (false, true) => "software: only when named",
            (false, false) => "-",
        };
        let (least, most) = adapter.subgroup_size;
        let pci = if adapter.pci.is_empty() { "-" } else { &adapter.pci };
        text.push_str(&format!(
            "{}\t{}\t{}\t{pci}\t{}\t{}\t{}\t{least}-{most}\t{}\t{remark}\n",
            adapter.index,
            adapter.name,
            adapter.backend,
            adapter.max_buffer / MIB,
            adapter.max_binding / MIB,
            adapter.workgroup_memory,
            adapter.driver,
        ));
    }
    let default = if adapters.iter().any(|adapter| adapter.is_default) { "-" } else { "default" };
    text.push_str(&format!("cpu\tthis machine's cores\t-\t-\t-\t-\t-\t-\t-\t{default}\n"));
    text
}
