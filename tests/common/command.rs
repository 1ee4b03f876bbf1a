//! The command under test, and the outcome of a run.

use super::repository;
use super::sam::{Sam, without_pg};
use assert_cmd::Command;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// The outcome of a run of the command.
#[derive(Debug)]
pub struct Outcome {
    /// The arguments, for error messages.
    pub line: String,
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// The executable.
pub fn program() -> &'static Path {
    assert_cmd::cargo::cargo_bin!("swalign")
}

/// The command in `folder`, not yet started.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(program());
    command.current_dir(folder).timeout(Duration::from_secs(300));
    command
}

/// A shell command line in `folder`, not yet started. $SWALIGN is the executable.
pub fn shell(folder: &Path, line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("SWALIGN", program()).current_dir(folder);
    command.timeout(Duration::from_secs(300));
    command
}

/// Runs `swalign ARGS` in `folder`.
pub fn run(folder: &Path, args: &[&str]) -> Outcome {
    finish(command(folder).args(args))
}

/// Runs `swalign ARGS` in the root of the repository.
pub fn run_here(args: &[&str]) -> Outcome {
    run(&repository(), args)
}

/// Runs `swalign LINE` in the root of the repository. Spaces separate the arguments.
pub fn line_here(line: &str) -> Outcome {
    run_here(&words(line))
}

/// The arguments of a line.
pub fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Runs a prepared command to its end.
pub fn finish(command: &mut Command) -> Outcome {
    let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let output = command.output().expect("the command starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!stderr.contains("panicked"), "{stderr}");
    Outcome { line: args.join(" "), code: output.status.code(), stdout: output.stdout, stderr }
}

impl Outcome {
    /// Checks the exit code.
    #[track_caller]
    pub fn ended(&self, code: i32) {
        assert_eq!(self.code, Some(code), "{}\n{}", self.line, self.stderr);
    }

    /// Checks the exit code, and that stderr contains each of `nouns`: the file, record and line, the option of the
    /// remedy, the kind of a warning. Tests leave the rest of the wording open; docs/messages.md has it. A run that
    /// fails must print an error. `grep` without matches has the exit code 1 and is no error.
    #[track_caller]
    pub fn said(&self, code: i32, nouns: &[&str]) {
        self.ended(code);
        let kind = if code == 0 || (code == 1 && self.line.starts_with("grep ")) { "" } else { "error: " };
        for noun in [kind].iter().chain(nouns) {
            assert!(self.stderr.contains(noun), "{}: '{noun}' is missing:\n{}", self.line, self.stderr);
        }
    }

    /// stdout of a run that must have succeeded.
    #[track_caller]
    pub fn done(self) -> Vec<u8> {
        self.ended(0);
        self.stdout
    }

    /// stdout of a run that must have succeeded, as text.
    #[track_caller]
    pub fn text(&self) -> &str {
        self.ended(0);
        std::str::from_utf8(&self.stdout).expect("text")
    }

    /// The SAM on stdout of a run that must have succeeded.
    #[track_caller]
    pub fn sam(&self) -> Sam {
        Sam::parse(self.text())
    }

    /// stdout of a run that must have succeeded, without the @PG lines, which contain the command line.
    #[track_caller]
    pub fn without_pg(&self) -> String {
        without_pg(self.text())
    }
}

/// `swalign ARGS` selects the lines of stdin that contain an x. It must print each line before stdin ends.
pub fn lines_come_at_once(args: &[&str]) {
    let mut child = std::process::Command::new(program())
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for _ in 0..3 {
        input.write_all(b"ax\nb\n").unwrap();
        let mut line = [0; 3];
        output.read_exact(&mut line).unwrap();
        assert_eq!(&line, b"ax\n");
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
