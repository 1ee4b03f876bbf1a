//! The receipt of a run's output: made at the end, and read by `--resume`.

use super::Reporter;
use crate::output::writer::output::{CompanionFiles, Output};
use crate::output::writer::receipt::{self, Receipt, Task};
use crate::output::writer::{place, sort};
use crate::terms::error::Result;
use crate::terms::options::{AmpliconChoice, AuditOptions, Options, PartsOf, PatternSource, SearchOptions};
use std::path::Path;

/// A run whose output gets a receipt.
pub struct ReceiptRun {
    task: Task,
}

impl ReceiptRun {
    /// `None` for a run that is not a part and may not be resumed. Refuses an output that cannot have a receipt.
    pub fn of(options: &Options) -> Result<Option<ReceiptRun>> {
        let is_part = options.part_of_queries().or(options.ref_part).is_some();
        let wanted = is_part || options.resume;
        wanted.then(|| ReceiptRun::new(task(options), options.output.as_deref())).transpose()
    }

    pub fn of_search(options: &SearchOptions) -> Result<Option<ReceiptRun>> {
        let wanted = options.part.is_some() || options.resume;
        wanted.then(|| ReceiptRun::new(search_task(options), options.output.as_deref())).transpose()
    }

    fn new(task: Task, output: Option<&Path>) -> Result<ReceiptRun> {
        match output {
            Some(output) if place::is_regular(output) => {
                receipt::check(output)?;
                receipt::try_to_write(output)?;
                Ok(ReceiptRun { task })
            }
            _ => Ok(ReceiptRun { task }),
        }
    }

    /// Finishes an output of [`open`] and its index, if it has one, and writes its receipt if it is a file. `header`
    /// and `end` are in bytes, and `records` is the number of records of this part of the input.
    pub fn finish(
        self,
        (output, beside): (Output, CompanionFiles),
        path: Option<&Path>,
        (header, end): (u64, u64),
        (records, stretch): (u64, (u64, u64)),
    ) -> Result<()> {
        match (path, output.sum()) {
            (Some(path), Some(sum)) if output.is_file() => {
                let bytes = output.written();
                let receipt = Receipt { task: self.task, records, stretch, header, end, bytes, sum };
                output.finish_with(CompanionFiles { receipt: Some(receipt.write(path)?), ..beside })
            }
            _ => output.finish_with(beside),
        }
    }
}

/// Opens the output of a run. Computes its checksum if it gets a receipt.
pub fn open(path: Option<&Path>, noted: &Option<ReceiptRun>) -> Result<Output> {
    let mut output = Output::create(path)?;
    if noted.is_some() && output.is_file() {
        output.sum_up();
    }
    Ok(output)
}

/// Whether the run's output is already complete, including its index if it gets one, so that nothing remains to be
/// done.
pub fn is_done(options: &Options, reporter: &dyn Reporter) -> bool {
    // A built-in matrix is not a file. Its name is part of the command.
    let inputs = inputs(options).iter().filter(|path| path.exists() || **path == Path::new("-")).count();
    let has_index = |output: &Path| sort::indices(output).iter().any(|index| index.is_file());
    let is_sorted = options.sort.is_some() && options.ref_part.is_none();
    let output = options.output.as_deref().filter(|output| !is_sorted || has_index(output));
    let is_told_of = options.files_about().all(Path::exists);
    options.resume && is_told_of && told(&task(options), inputs, output, reporter)
}

/// As [`is_done`], for a search.
pub fn is_search_done(options: &SearchOptions, reporter: &dyn Reporter) -> bool {
    let inputs = search_inputs(options).len();
    let is_told_of = options.side_files().all(Path::exists);
    options.resume && is_told_of && told(&search_task(options), inputs, options.output.as_deref(), reporter)
}

fn told(task: &Task, inputs: usize, output: Option<&Path>, reporter: &dyn Reporter) -> bool {
    let done = output.filter(|output| task.is_done(output, inputs));
    if let Some(output) = done {
        reporter.note(&format!("{} is complete; nothing to do (--resume)", output.display()));
    }
    done.is_some()
}

fn inputs(options: &Options) -> Vec<&Path> {
    let matrix = options.scoring.matrix.as_deref().map(Path::new);
    let sheet = options.sample_sheet.as_deref();
    let audited = options.audit.iter().flat_map(AuditOptions::files);
    options.query_files().chain([&*options.reference]).chain(matrix).chain(sheet).chain(audited).collect()
}

fn task(options: &Options) -> Task {
    let format = options.format_name();
    let part = match options.ref_part {
        Some(part) => (PartsOf::References, Some(part)),
        None => (PartsOf::Queries, options.part_of_queries()),
    };
    Task::new(&options.command_line, format, part, inputs(options))
}

fn search_inputs(options: &SearchOptions) -> Vec<&Path> {
    let patterns = match &options.patterns {
        PatternSource::Letters(_) => None,
        PatternSource::File(path) => Some(&**path),
    };
    let pairs = options.amplicons.as_ref().and_then(AmpliconChoice::file);
    let mates = options.mates().map(|mates| &*mates.file);
    patterns.into_iter().chain(pairs).chain(options.texts.iter().map(|path| &**path)).chain(mates).collect()
}

fn search_task(options: &SearchOptions) -> Task {
    let part = (PartsOf::Queries, options.part);
    Task::new(&options.command_line, options.format.name(), part, search_inputs(options))
}
