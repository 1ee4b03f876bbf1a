//! The command `swalign`: parse, run, and say what went wrong.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use swalign::cli::terminal::{self, Form, Terminal};
use swalign::cli::{self, Command, flags, pages, signals, stdout};
use swalign::terms::error::{Error, Result};
use swalign::terms::options::{
    DedupOptions, GrepOptions, GrepOutput, IndexOptions, MatrixOptions, MergeOptions, Options, SearchOptions,
};
use swalign::{engine, pipeline, terms::memory};

#[global_allocator]
static ALLOCATOR: memory::Allocator = memory::Allocator;

/// grep's exit code where something failed: 1 says that no line was selected.
const GREP_FAILED: u8 = 2;

fn main() -> ExitCode {
    quieten_drivers();
    let command = cli::parse();
    signals::watch();
    let outcome = match command {
        Command::Align(options) => align(&options),
        Command::Search(options) => search(&options),
        Command::Grep(options) => return grep(&options),
        Command::Dedup(options) => dedup(&options),
        Command::Matrix(options) => matrix(&options),
        Command::Audit(options) => return audit(&options),
        Command::Index(options) => index(&options),
        Command::Merge(options) => merge(&options),
        Command::Devices { json } => devices(json),
        Command::Completions(shell) => stdout::print(&pages::completions(shell)),
        Command::ManPages(folder) => pages::write_manual(&folder),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

/// Mesa's drivers look for a display server in the folder that XDG_RUNTIME_DIR names, and complain on stderr where it is
/// not set. So it is set to a folder without a display server, in which only root could put one.
fn quieten_drivers() {
    const NAME: &str = "XDG_RUNTIME_DIR";
    let is_set = std::env::var_os(NAME).is_some_and(|folder| Path::new(&folder).is_absolute());
    if cfg!(unix) && !is_set {
        // SAFETY: `main` calls this before there is any other thread.
        unsafe { std::env::set_var(NAME, "/") };
    }
}

fn align(options: &Options) -> Result<()> {
    stdout::check(options.output.as_deref())?;
    let terminal = Terminal::with_bar(options.verbosity, options.output.as_deref());
    if pipeline::is_done(options, &terminal) {
        return Ok(());
    }
    let summary = pipeline::run(options, &terminal)?;
    terminal.summary(&summary);
    Ok(())
}

/// With exit code 1 if there are more findings than `--fail-above` allows.
fn audit(options: &Options) -> ExitCode {
    let terminal = Terminal::with_bar(options.verbosity, options.output.as_deref());
    let summary = stdout::check(options.output.as_deref()).and_then(|()| pipeline::run(options, &terminal));
    match summary {
        Ok(summary) => {
            terminal.audit_summary(&summary);
            let rate = summary.verdicts.unwrap_or_default().rate();
            let most = options.audit.as_ref().and_then(|audit| audit.fail_above);
            if most.is_some_and(|most| rate > most) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
        Err(error) => fail(&error),
    }
}

fn search(options: &SearchOptions) -> Result<()> {
    stdout::check(options.output.as_deref())?;
    let terminal = Terminal::with_bar(options.verbosity, options.output.as_deref());
    if pipeline::is_search_done(options, &terminal) {
        return Ok(());
    }
    let summary = pipeline::search::search(options, &terminal)?;
    terminal.search_summary(&summary);
    Ok(())
}

fn matrix(options: &MatrixOptions) -> Result<()> {
    let output = options.run.output.as_deref();
    stdout::check(output)?;
    let terminal = Terminal::with_bar(options.run.verbosity, output);
    let summary = pipeline::matrix::matrix(options, &terminal)?;
    terminal.summary(&summary);
    Ok(())
}

fn dedup(options: &DedupOptions) -> Result<()> {
    stdout::check(options.output.as_deref())?;
    let terminal = Terminal::with_bar(options.verbosity, options.output.as_deref());
    let summary = pipeline::dedup::dedup(options, &terminal)?;
    terminal.dedup_summary(&summary);
    Ok(())
}

fn index(options: &IndexOptions) -> Result<()> {
    pipeline::index::index(options, &Terminal::with_bar(options.verbosity, Some(&options.output)))
}

fn merge(options: &MergeOptions) -> Result<()> {
    stdout::check(options.output.as_deref())?;
    pipeline::merge::merge(options, &Terminal::new(options.verbosity))
}

/// With grep's exit codes.
fn grep(options: &GrepOptions) -> ExitCode {
    memory::exit_with(GREP_FAILED);
    let terminal = Terminal::new(u8::from(!options.silent));
    let can_write = match options.output {
        GrepOutput::Nothing => Ok(()),
        _ => stdout::check(None),
    };
    match can_write.and_then(|()| pipeline::grep::grep(options, &terminal)) {
        Ok(summary) => ExitCode::from(summary.exit_code(options.output)),
        Err(Error::Closed) => ExitCode::SUCCESS,
        Err(error) => {
            fail(&error);
            ExitCode::from(GREP_FAILED)
        }
    }
}

fn devices(json: bool) -> Result<()> {
    stdout::check(None)?;
    let form = match json {
        true => Form::Json,
        false if io::stdout().is_terminal() => Form::Aligned,
        false => Form::Tabs,
    };
    stdout::print(&terminal::devices(&engine::gpu::list(), form))
}

/// Says what went wrong, and gives the exit code. That the output was closed is not worth a word.
fn fail(error: &Error) -> ExitCode {
    if !matches!(error, Error::Closed) {
        // Where stderr is gone too, only the exit code is left.
        let _ = writeln!(io::stderr(), "swalign: error: {error}{}", flags::of(error));
    }
    ExitCode::from(error.exit_code())
}
