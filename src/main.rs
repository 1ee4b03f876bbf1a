//! The command `swalign`: parse, run, and say what went wrong.

use std::io::{self, Write};
use std::process::ExitCode;
use swalign::cli::terminal::{self, Terminal};
use swalign::cli::{self, Command, signals};
use swalign::error::{Error, Result};
use swalign::options::{GrepOptions, MergeOptions, Options, SearchOptions};
use swalign::{engine, pipeline};

fn main() -> ExitCode {
    let command = cli::parse();
    signals::watch();
    let outcome = match command {
        Command::Align(options) => align(&options),
        Command::Search(options) => search(&options),
        Command::Grep(options) => return grep(&options),
        Command::Merge(options) => merge(&options),
        Command::Devices => print(&terminal::devices(&engine::gpu::list())),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn align(options: &Options) -> Result<()> {
    let terminal = Terminal::new(options.verbosity);
    if pipeline::is_done(options, &terminal) {
        return Ok(());
    }
    let summary = pipeline::run(options, &terminal)?;
    terminal.summary(&summary);
    Ok(())
}

fn search(options: &SearchOptions) -> Result<()> {
    let terminal = Terminal::new(options.verbosity);
    if pipeline::is_search_done(options, &terminal) {
        return Ok(());
    }
    let summary = pipeline::search::search(options, &terminal)?;
    terminal.search_summary(&summary);
    Ok(())
}

fn merge(options: &MergeOptions) -> Result<()> {
    pipeline::merge::merge(options, &Terminal::new(options.verbosity))
}

/// With grep's exit codes.
fn grep(options: &GrepOptions) -> ExitCode {
    let terminal = Terminal::new(u8::from(!options.silent));
    match pipeline::grep::grep(options, &terminal) {
        Ok(summary) => ExitCode::from(summary.exit_code(options.output)),
        Err(Error::Closed) => ExitCode::SUCCESS,
        Err(error) => {
            fail(&error);
            ExitCode::from(2)
        }
    }
}

/// Rust ignores SIGPIPE, so a reader that left shows as a write error; that is [`Error::Closed`].
fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|source| Error::io("<stdout>", source))
}

/// Says what went wrong, except that nobody reads on, and gives the exit code.
fn fail(error: &Error) -> ExitCode {
    if !matches!(error, Error::Closed) {
        // Where stderr is gone too, the exit code is all that is left to say.
        let _ = writeln!(io::stderr(), "swalign: error: {error}");
    }
    ExitCode::from(error.exit_code())
}
