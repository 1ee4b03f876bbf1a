//! The command under test, and its SAM.

use super::repository;
use assert_cmd::Command;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// What a run of the command left behind.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// The command, in `folder`, not yet started.
pub fn command(folder: &Path) -> Command {
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("swalign");
    command.current_dir(folder).timeout(Duration::from_secs(300));
    command
}

/// Runs `swalign ARGS` in `folder`.
pub fn run(folder: &Path, args: &[&str]) -> Outcome {
    finish(command(folder).args(args))
}

/// Runs `swalign ARGS` in the folder of the repository.
pub fn run_here(args: &[&str]) -> Outcome {
    run(&repository(), args)
}

/// Runs a prepared command to its end.
pub fn finish(command: &mut Command) -> Outcome {
    let output = command.output().expect("the command starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!stderr.contains("panicked"), "{stderr}");
    Outcome { code: output.status.code(), stdout: output.stdout, stderr }
}

impl Outcome {
    /// The SAM on stdout of a run that must have succeeded.
    pub fn sam(&self) -> Sam {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        Sam::parse(std::str::from_utf8(&self.stdout).expect("SAM is text"))
    }

    /// stdout of a run that must have succeeded, without @PG lines: those name the command line.
    pub fn without_pg(&self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        let text = std::str::from_utf8(&self.stdout).expect("SAM is text");
        text.split_inclusive('\n').filter(|line| !line.starts_with("@PG")).collect()
    }
}

/// SAM text, taken apart.
#[derive(Debug)]
pub struct Sam {
    pub header: Vec<String>,
    pub records: Vec<Record>,
}

/// The fields of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub fields: Vec<String>,
}

impl Sam {
    pub fn parse(text: &str) -> Sam {
        assert!(text.is_empty() || text.ends_with('\n'), "the last line is cut off");
        let (header, records): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('@'));
        let record = |line: &str| Record { fields: line.split('\t').map(str::to_string).collect() };
        Sam {
            header: header.into_iter().map(str::to_string).collect(),
            records: records.into_iter().map(record).collect(),
        }
    }

    /// The records that are neither secondary nor supplementary.
    pub fn primary(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| record.flag() & 0x900 == 0)
    }
}

impl Record {
    pub fn name(&self) -> &str {
        &self.fields[0]
    }

    pub fn flag(&self) -> u32 {
        self.fields[1].parse().expect("a flag")
    }

    pub fn target(&self) -> &str {
        &self.fields[2]
    }

    /// 1-based.
    pub fn position(&self) -> u64 {
        self.fields[3].parse().expect("a position")
    }

    pub fn cigar(&self) -> &str {
        &self.fields[5]
    }

    pub fn sequence(&self) -> &str {
        &self.fields[9]
    }

    /// The value of a tag such as `AS`.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.fields[11..]
            .iter()
            .find_map(|field| field.strip_prefix(name)?.strip_prefix(':')?.split_once(':'))
            .map(|tag| tag.1)
    }

    pub fn score(&self) -> i64 {
        self.tag("AS").map_or(0, |score| score.parse().expect("a score"))
    }

    /// 1-based, inclusive end on the target.
    pub fn target_end(&self) -> u64 {
        let mut span = 0;
        let mut number = 0;
        for letter in self.cigar().bytes() {
            match letter {
                b'0'..=b'9' => number = number * 10 + u64::from(letter - b'0'),
                b'M' | b'D' | b'=' | b'X' | b'N' => (span, number) = (span + number, 0),
                _ => number = 0,
            }
        }
        self.position() + span - 1
    }
}

/// `swalign ARGS`, which prints the lines of stdin that have an x, prints each while the writer of the pipe still
/// thinks.
pub fn lines_come_at_once(args: &[&str]) {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("swalign"))
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
