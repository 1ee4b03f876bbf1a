//! Files for packages of the command, generated from its arguments: shell completions and manual pages.

use super::Arguments;
use crate::terms::error::{Error, Result};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

#[derive(Args)]
pub struct CompletionsArguments {
    /// Shell that reads the script
    pub shell: Shell,
}

#[derive(Args)]
pub struct PagesArguments {
    /// Output directory, created if it does not exist
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// The command for pages and completions, without the subcommand `help`.
#[doc(hidden)]
pub fn documented() -> clap::Command {
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    command
}

/// The command without its hidden arguments and subcommands.
fn visible(command: &clap::Command) -> clap::Command {
    let arguments = command.get_arguments().filter(|argument| !argument.is_hide_set());
    let subcommands = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    let shown = clap::Command::new(command.get_name().to_string());
    let shown = match command.get_version() {
        Some(version) => shown.version(version.to_string()),
        None => shown,
    };
    shown
        .about(command.get_about().cloned().unwrap_or_default())
        // The built command already has them as arguments.
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .args(arguments)
        .subcommands(subcommands.map(visible))
}

/// A shell's script that completes the command's options, choices and files.
pub fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible(&documented()), "swalign", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Writes the manual pages of the command and its subcommands.
pub fn write_manual(folder: &Path) -> Result<()> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Error::Io { path, source }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    for (name, page) in manual().map_err(failed(folder))? {
        let path = folder.join(name);
        fs::write(&path, page).map_err(failed(&path))?;
    }
    Ok(())
}

/// The manual pages with the names of their files.
fn manual() -> io::Result<Vec<(OsString, Vec<u8>)>> {
    let command = documented();
    let seen = |command: &&clap::Command| !command.is_hide_set();
    let page = |command: &clap::Command| {
        let mut page = Vec::new();
        // Subcommands are of the command's version.
        let source = format!("swalign {}", env!("CARGO_PKG_VERSION"));
        let man = Man::new(command.clone()).source(source).manual("User Commands");
        man.render(&mut page)?;
        Ok((OsString::from(man.get_filename()), page))
    };
    std::iter::once(&command).chain(command.get_subcommands().filter(seen)).map(page).collect()
}

pub const USAGE: &str = "swalign completions SHELL";

pub const NOTES: &str = "\
Examples:
  swalign completions bash > ~/.local/share/bash-completion/completions/swalign
  swalign completions zsh > ~/.zfunc/_swalign

Exit codes: 0 success, 1 failure, 2 wrong usage.";
