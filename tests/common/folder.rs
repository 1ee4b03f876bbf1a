//! A temporary folder of files, in which the command runs.

use super::command::{Outcome, run, words};
use super::data;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub struct Folder(TempDir);

/// A folder that contains these files.
pub fn folder(files: &[(&str, &[u8])]) -> Folder {
    let folder = Folder::new();
    files.iter().for_each(|(name, bytes)| folder.write(name, bytes));
    folder
}

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The path of a file.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.file(name), content).unwrap();
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.file(name)).unwrap()
    }

    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }

    pub fn copy(&self, from: &str, to: &str) {
        fs::copy(self.file(from), self.file(to)).unwrap();
    }

    /// Copies a file of `data/` into the folder.
    pub fn copy_data(&self, name: &str, to: &str) {
        fs::copy(data(name), self.file(to)).unwrap();
    }

    /// The names of all files, sorted.
    pub fn names(&self) -> Vec<String> {
        self.contents().into_keys().collect()
    }

    /// All files by name, with their contents. Unreadable files are empty.
    pub fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let entry = |entry: std::io::Result<fs::DirEntry>| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap_or_default())
        };
        fs::read_dir(self.path()).unwrap().map(entry).collect()
    }

    /// Runs `swalign ARGS` in the folder.
    pub fn run(&self, args: &[&str]) -> Outcome {
        run(self.path(), args)
    }

    /// Runs `swalign LINE` in the folder. Spaces separate the arguments.
    pub fn line(&self, line: &str) -> Outcome {
        self.run(&words(line))
    }

    /// [`Folder::refused`] for the arguments of a line.
    #[track_caller]
    pub fn line_refused(&self, line: &str, code: i32, nouns: &[&str]) {
        self.refused(&words(line), code, nouns);
    }

    /// Runs `swalign LINE` for each of `count` parts of the input that the option `kind` divides, and returns the merged
    /// parts.
    #[track_caller]
    pub fn merged(&self, line: &str, kind: &str, count: usize, extension: &str) -> Vec<u8> {
        let part = |number| {
            let name = format!("{number}.{extension}");
            self.line(&format!("{line} {kind} {number}/{count} -o {name}")).ended(0);
            name
        };
        let parts = (1..=count).map(part).collect::<Vec<_>>().join(" ");
        self.line(&format!("merge -q merged.{extension} {parts}")).ended(0);
        self.read(&format!("merged.{extension}"))
    }

    /// Runs `swalign ARGS`, which must fail with `code`, name all `nouns`, write nothing to stdout and change no file.
    #[track_caller]
    pub fn refused(&self, args: &[&str], code: i32, nouns: &[&str]) {
        let before = self.contents();
        let outcome = self.run(args);
        outcome.said(code, nouns);
        assert!(outcome.stdout.is_empty(), "{args:?} wrote to stdout");
        assert!(self.contents() == before, "{args:?} changed a file");
    }

    /// stdout of a run that must succeed.
    #[track_caller]
    pub fn done(&self, args: &[&str]) -> Vec<u8> {
        self.run(args).done()
    }
}
