//! Files about a run: its report page and its statistics.

use super::Run;
use super::report::Summary;
use crate::output::report::{Account, Facts, audit_page, page, stats};
use crate::output::writer::Output;
use crate::terms::error::Result;
use crate::terms::options::{ANY_SCORE, Options};

/// The requested files. They are opened before the run, so that a file that cannot be written fails at once.
pub struct FilesAbout {
    report: Option<Output>,
    stats: Option<Output>,
    /// The numbers and the page of an audit.
    audit: [Option<Output>; 2],
}

impl FilesAbout {
    pub fn open(options: &Options) -> Result<FilesAbout> {
        let open = |path: &Option<_>| path.as_deref().map(Output::create_side).transpose();
        let audit = match &options.audit {
            Some(audit) => [open(&audit.summary)?, open(&audit.html)?],
            None => [None, None],
        };
        Ok(FilesAbout { report: open(&options.report)?, stats: open(&options.stats)?, audit })
    }

    /// Writes the results of `run`. The files get their final names together with the output.
    pub fn write(mut self, run: &Run, summary: &Summary, device: String) -> Result<Vec<Output>> {
        if let Some(audit) = &run.audit {
            let [summary, html] = &mut self.audit;
            let counts = audit.counts();
            summary.iter_mut().try_for_each(|output| output.put(counts.json().as_bytes()))?;
            let page = || audit_page(run.options, &run.scoring, (&counts, &audit.worst()));
            html.iter_mut().try_for_each(|output| output.put(page().as_bytes()))?;
        }
        let of_audit = self.audit.into_iter().flatten();
        let Some(tally) = &run.tally else { return Ok(of_audit.collect()) };
        let Summary { elapsed, cells, whole, .. } = *summary;
        let facts = Facts { device, elapsed, cells, whole };
        tally.read(|statistics| -> Result<()> {
            let account = Account {
                options: run.options,
                scoring: &run.scoring,
                min_score: Some(run.rules.min_score).filter(|&score| score != ANY_SCORE),
                insert: run.insert,
                too_short: summary.remarks.too_short.queries + summary.remarks.too_unlikely.queries,
                masked_hits: summary.remarks.masked_hits,
                names: run.writer.names(),
                statistics,
            };
            if let Some(output) = &mut self.stats {
                output.put(stats(&account).as_bytes())?;
            }
            if let Some(output) = &mut self.report {
                output.put(page(&account, &facts).as_bytes())?;
            }
            Ok(())
        })?;
        Ok(self.report.into_iter().chain(self.stats).chain(of_audit).collect())
    }
}
