//! Destination of the output: stdout, or a file that appears complete or not at all.

use super::place::{directory, is_stdout, open};
use super::temporary::Rename;
use super::{receipt, sort, temporary};
use crate::terms::error::{Error, Place, Result};
use crate::terms::system::{Stdout, stdout};
use crc32fast::Hasher;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes gathered before a write. Parts of a large run are longer, and are written without a copy.
const BUFFER: usize = 64 * 1024;

/// The output of a run.
///
/// A regular file is written under a temporary name beside it and renamed by [`Output::finish`]. Without that call the
/// temporary is removed, and an existing file stays untouched. Stdout, devices, pipes and other files that are not
/// regular are written directly.
#[derive(Debug)]
pub struct Output {
    /// The name shown in messages.
    name: PathBuf,
    role: OutputRole,
    /// `None` only while the output is being dropped.
    sink: Option<BufWriter<OutputSink>>,
    /// The temporary name of a regular file, and its final name.
    rename: Option<Rename>,
    /// Number of bytes so far.
    written: u64,
    /// The checksum of these bytes, if it is requested.
    sum: Option<Hasher>,
}

/// The role of an output in its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputRole {
    /// Receives the records. If the reader of this output has left, the run has nothing more to do.
    Main,
    /// A file beside the main output. If its reader leaves, the run has failed.
    Side,
}

#[derive(Debug)]
enum OutputSink {
    Stdout(Stdout),
    File(File),
}

/// Files that are renamed together with an output, or not at all.
#[derive(Default)]
pub struct CompanionFiles {
    pub index: Option<Output>,
    /// Files about the run.
    pub about: Vec<Output>,
    pub receipt: Option<Output>,
}

impl CompanionFiles {
    fn all(&mut self) -> impl Iterator<Item = &mut Output> {
        self.about.iter_mut().chain(&mut self.index).chain(&mut self.receipt)
    }
}

impl Output {
    /// Opens the main output of a run; `None`, `-` and `/dev/stdout` are stdout. Never replaces the receipt of another
    /// output.
    pub fn create(path: Option<&Path>) -> Result<Output> {
        match path {
            Some(path) if !is_stdout(path) => {
                refuse_receipt(path)?;
                Output::open(path, OutputRole::Main)
            }
            _ => {
                let (name, stdout) = (PathBuf::from("standard output"), OutputSink::Stdout(stdout()));
                Ok(Output::new(name, OutputRole::Main, stdout, None))
            }
        }
    }

    /// Opens a file that is written beside the main output, such as statistics. Never replaces the receipt of another
    /// output.
    pub fn create_side(path: &Path) -> Result<Output> {
        refuse_receipt(path)?;
        Output::at(path)
    }

    /// Opens a file that belongs to the main output: its receipt or its index.
    pub(super) fn at(path: &Path) -> Result<Output> {
        Output::open(path, OutputRole::Side)
    }

    fn open(path: &Path, role: OutputRole) -> Result<Output> {
        let (file, rename) = open(path).map_err(|source| explain(path, source))?;
        Ok(Output::new(path.to_path_buf(), role, OutputSink::File(file), rename))
    }

    fn new(name: PathBuf, role: OutputRole, sink: OutputSink, rename: Option<Rename>) -> Output {
        let sink = Some(BufWriter::with_capacity(BUFFER, sink));
        Output { name, role, sink, rename, written: 0, sum: None }
    }

    /// The error for a failed write. Only this function and `cli/stdout.rs` return [`Error::Closed`].
    fn failed(&self, source: io::Error) -> Error {
        match (self.role, source.kind()) {
            (OutputRole::Main, ErrorKind::BrokenPipe) => Error::Closed,
            _ => explain(&self.name, source),
        }
    }

    /// Enables the checksum of all bytes; must be called before the first write.
    pub fn sum_up(&mut self) {
        self.sum = Some(Hasher::new());
    }

    /// CRC-32 of the bytes so far, if it is enabled.
    pub fn sum(&self) -> Option<u32> {
        self.sum.clone().map(Hasher::finalize)
    }

    /// Writes all of `bytes`. Unlike [`Write`], the error names the file and the remedy.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.written += bytes.len() as u64;
        if let Some(sum) = &mut self.sum {
            sum.update(bytes);
        }
        self.write_all(bytes).map_err(|source| self.failed(source))
    }

    /// Replaces bytes that were written. The output must be a regular file without a checksum.
    pub fn replace(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        debug_assert!(self.sum.is_none());
        self.try_replace(at, bytes).map_err(|source| self.failed(source))
    }

    fn try_replace(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.flush()?;
        match self.sink.as_mut().map(BufWriter::get_mut) {
            Some(OutputSink::File(file)) => {
                file.seek(SeekFrom::Start(at))?;
                file.write_all(bytes)?;
                file.seek(SeekFrom::End(0)).map(drop)
            }
            _ => Err(ErrorKind::Unsupported.into()),
        }
    }

    /// Number of bytes written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Opens another file beside this one, with `extension` appended to its name; `None` if this output is no regular
    /// file.
    pub fn beside(&self, extension: &str) -> Result<Option<Output>> {
        let mut name = self.name.clone().into_os_string();
        name.push(extension);
        self.rename.as_ref().map(|_| Output::at(Path::new(&name))).transpose()
    }

    /// Folder and base name of temporary files for this output: beside it or, if it is no regular file, in the system's
    /// temporary folder.
    pub fn scratch(&self) -> (PathBuf, OsString) {
        match self.rename.as_ref().and_then(|rename| Some((rename, rename.target.file_name()?))) {
            Some((rename, name)) => (directory(&rename.temporary).to_path_buf(), name.to_os_string()),
            None => (env::temp_dir(), OsString::from(env!("CARGO_PKG_NAME"))),
        }
    }

    /// Whether the output is a regular file.
    pub fn is_file(&self) -> bool {
        self.rename.is_some()
    }

    /// Writes buffered data.
    pub fn flush_now(&mut self) -> Result<()> {
        self.flush().map_err(|source| self.failed(source))
    }

    /// Completes the output: flushes it, and syncs and renames a regular file.
    pub fn finish(self) -> Result<()> {
        self.finish_with(CompanionFiles::default())
    }

    /// Like [`Output::finish`], including the files beside it: either all of them get their names, or none.
    pub fn finish_with(mut self, mut beside: CompanionFiles) -> Result<()> {
        self.close()?;
        beside.all().try_for_each(Output::close)?;
        self.settle(beside)
    }

    /// Writes the remaining bytes. A regular file is then complete on disk, under its temporary name.
    fn close(&mut self) -> Result<()> {
        self.try_close().map_err(|source| self.failed(source))
    }

    fn try_close(&mut self) -> io::Result<()> {
        self.flush()?;
        let Some(Rename { temporary, .. }) = &self.rename else { return Ok(()) };
        if let Some(OutputSink::File(file)) = self.sink.as_ref().map(BufWriter::get_ref) {
            // Without this, a crash of the machine could leave an empty file under the new name. Also, a network disk
            // may only report now that it is full.
            file.sync_all()?;
        }
        // A later attempt of the same job may have considered this one dead, and removed its temporary. The later
        // attempt then writes the output and its receipt, and this one fails.
        fs::metadata(temporary)?;
        // Some systems cannot rename an open file.
        self.sink = None;
        Ok(())
    }

    /// Renames a closed file and the closed files beside it.
    fn settle(mut self, mut beside: CompanionFiles) -> Result<()> {
        let mut outdated = Vec::new();
        if let Some(Rename { target, .. }) = &self.rename {
            if beside.receipt.is_some() {
                receipt::check(target)?;
            }
            outdated.extend(receipt::of_output(target));
            if beside.index.is_some() {
                // An index in the other format would be mistaken for that of the new file.
                outdated.extend(sort::indices(&self.name).into_iter().filter(|index| index.is_file()));
            }
        }
        let mut all: Vec<&mut Output> = [&mut self].into_iter().chain(beside.all()).collect();
        let renames: Vec<_> = all.iter().filter_map(|output| output.rename.clone()).collect();
        temporary::keep(&outdated, &renames).map_err(|(target, source)| explain(&target, source))?;
        all.iter_mut().for_each(|output| output.rename = None);
        Ok(())
    }

    fn sink(&mut self) -> io::Result<&mut BufWriter<OutputSink>> {
        self.sink.as_mut().ok_or_else(|| io::Error::other("the output is closed already"))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink()?.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        let Some(Rename { temporary, .. }) = self.rename.take() else { return };
        if let Some(sink) = self.sink.take() {
            // Buffered data are discarded with the file; flushing them could only fail again.
            drop(sink.into_parts());
        }
        temporary::discard(&temporary);
    }
}

impl Write for OutputSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            OutputSink::Stdout(stdout) => stdout.write(bytes),
            OutputSink::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            OutputSink::Stdout(stdout) => stdout.flush(),
            OutputSink::File(file) => file.flush(),
        }
    }
}

/// Returns an error if the receipt of another output would be replaced.
fn refuse_receipt(path: &Path) -> Result<()> {
    if !receipt::is_one(path) {
        return Ok(());
    }
    let place = Place { file: path.to_path_buf(), ..Place::default() };
    Err(Error::input(place, "this is the receipt of another output", "name another output file"))
}

/// The error at `name`, with a remedy.
pub(super) fn explain(name: &Path, source: io::Error) -> Error {
    let kind = source.kind();
    let remedy = match kind {
        ErrorKind::NotFound => "create the directory first, or name another output file",
        ErrorKind::NotADirectory | ErrorKind::InvalidInput => "name an output file in an existing directory",
        ErrorKind::InvalidFilename => "name an output file with a shorter name",
        ErrorKind::IsADirectory => "the output is a directory; append a file name",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "name an output file in a writable directory"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "free some space, or write the output elsewhere"
        }
        _ => return Error::io(name, source),
    };
    Error::io(name, io::Error::new(kind, format!("{source}; {remedy}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn scratch() -> TempDir {
        tempfile::tempdir().unwrap()
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn write(path: &Path, text: &str) -> Result<()> {
        let mut output = Output::create(Some(path))?;
        output.put(text.as_bytes())?;
        output.finish()
    }

    #[test]
    fn a_file_appears_only_when_it_is_whole() {
        let scratch = scratch();
        let path = scratch.path().join("out.sam");
        let mut output = Output::create(Some(&path)).unwrap();
        output.put(b"first").unwrap();
        let [temporary] = &names(scratch.path())[..] else { panic!("one file") };
        assert!(temporary.starts_with(".out.sam.") && temporary.ends_with(".0.tmp"), "{temporary}");
        output.finish().unwrap();
        assert_eq!(names(scratch.path()), ["out.sam"]);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        write(&path, "second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
    }

    #[test]
    fn a_run_that_fails_leaves_nothing_and_harms_nothing() {
        let scratch = scratch();
        let path = scratch.path().join("out.sam");
        write(&path, "old").unwrap();
        let mut output = Output::create(Some(&path)).unwrap();
        output.put(&vec![b'x'; 2 * BUFFER]).unwrap();
        drop(output);
        assert_eq!(names(scratch.path()), ["out.sam"]);
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn two_outputs_of_one_name_do_not_meet() {
        let scratch = scratch();
        let path = scratch.path().join("out.sam");
        let [mut first, mut second] = [(); 2].map(|()| Output::create(Some(&path)).unwrap());
        first.put(b"first").unwrap();
        second.put(b"second").unwrap();
        second.finish().unwrap();
        first.finish().unwrap();
        assert_eq!(names(scratch.path()), ["out.sam"]);
        assert_eq!(fs::read(&path).unwrap(), b"first");
    }

    #[test]
    fn receipts_of_others_are_not_replaced() {
        let scratch = scratch();
        let path = scratch.path().join("out.sam.swalign");
        fs::write(&path, "swalign 0.1.0\n").unwrap();
        let error = Output::create(Some(&path)).unwrap_err().to_string();
        assert!(error.contains("receipt of another output"), "{error}");
        assert_eq!(names(scratch.path()), ["out.sam.swalign"]);
        // A file that only resembles a receipt is replaced like any other.
        fs::write(&path, ">swalign\n").unwrap();
        write(&path, "text").unwrap();
    }

    #[test]
    fn sums_are_of_all_bytes() {
        let mut output = Output::create(Some(&scratch().path().join("x"))).unwrap();
        assert_eq!(output.sum(), None);
        output.sum_up();
        ["123", "", "456789"].iter().for_each(|text| output.put(text.as_bytes()).unwrap());
        assert_eq!((output.sum(), output.written()), (Some(0xcbf4_3926), 9));
    }

    #[test]
    fn long_names_have_a_temporary_too() {
        let scratch = scratch();
        let path = scratch.path().join("é".repeat(127));
        write(&path, "text").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"text");
    }

    #[test]
    fn errors_name_the_place_and_the_remedy() {
        let scratch = scratch();
        let refuse = |path: &Path| Output::create(Some(path)).unwrap_err().to_string();
        let missing = scratch.path().join("no/out.sam");
        assert!(refuse(&missing).starts_with(&missing.display().to_string()));
        assert!(refuse(&missing).ends_with("create the directory first, or name another output file"));
        assert!(refuse(scratch.path()).contains("the output is a directory"));
        assert!(refuse(&scratch.path().join("new/")).contains("the output is a directory"));
        write(&scratch.path().join("file"), "").unwrap();
        assert!(refuse(&scratch.path().join("file/out.sam")).contains("existing directory"));
        assert!(refuse(Path::new("")).contains("name another output file"));
        assert!(refuse(&scratch.path().join("x".repeat(300))).contains("shorter name"));
        assert_eq!(names(scratch.path()), ["file"]);
    }

    /// A pipe whose reader has left, as a path that can be opened.
    #[cfg(target_os = "linux")]
    #[test]
    fn only_the_main_output_may_be_closed() {
        use std::os::fd::AsRawFd;
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let path = PathBuf::from(format!("/dev/fd/{}", writer.as_raw_fd()));
        let mut main = Output::create(Some(&path)).unwrap();
        main.put(b"text").unwrap();
        assert!(matches!(main.flush_now(), Err(Error::Closed)));
        let mut side = Output::create_side(&path).unwrap();
        side.put(b"text").unwrap();
        let error = Output::create(None)
            .unwrap()
            .finish_with(CompanionFiles { about: vec![side], ..CompanionFiles::default() });
        let error = error.unwrap_err();
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains("the reader closed it"), "{error}");
    }

    #[test]
    fn dash_is_stdout() {
        for path in [None, Some(Path::new("-")), Some(Path::new("/dev/stdout"))] {
            let output = Output::create(path).unwrap();
            assert!(matches!(output.sink.as_ref().unwrap().get_ref(), OutputSink::Stdout(_)));
            assert_eq!(output.name, Path::new("standard output"));
            output.finish().unwrap();
        }
    }

    #[cfg(unix)]
    mod unix {
        use super::*;
        use std::io::Read;
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

        #[test]
        fn devices_are_written_and_not_replaced() {
            write(Path::new("/dev/null"), "text").unwrap();
            assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        }

        #[test]
        #[cfg(target_os = "linux")]
        fn a_full_disk_is_an_error() {
            let error = write(Path::new("/dev/full"), "text").unwrap_err().to_string();
            assert!(error.contains("free some space"), "{error}");
        }

        #[test]
        fn pipes_are_written_directly() {
            let scratch = scratch();
            let path = scratch.path().join("pipe");
            let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
            assert!(made.success());
            let reader = std::thread::spawn({
                let path = path.clone();
                move || {
                    let mut text = String::new();
                    File::open(path).unwrap().read_to_string(&mut text).unwrap();
                    text
                }
            });
            write(&path, "text").unwrap();
            assert_eq!(reader.join().unwrap(), "text");
            assert_eq!(names(scratch.path()), ["pipe"]);
        }

        #[test]
        fn links_stay_and_lead_to_the_file() {
            let scratch = scratch();
            let inner = scratch.path().join("inner");
            fs::create_dir(&inner).unwrap();
            let link = scratch.path().join("link");
            symlink("inner/out.sam", &link).unwrap();
            for text in ["through a dangling link", "through a link"] {
                write(&link, text).unwrap();
                assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
                assert_eq!(names(&inner), ["out.sam"]);
                assert_eq!(fs::read_to_string(inner.join("out.sam")).unwrap(), text);
            }
            let circle = scratch.path().join("circle");
            symlink("circle", &circle).unwrap();
            assert!(Output::create(Some(&circle)).is_err());
        }

        #[test]
        fn a_directory_without_rights_is_an_error() {
            let scratch = scratch();
            fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o555)).unwrap();
            // Root may write anywhere, so there is no error to check.
            if let Err(error) = Output::create(Some(&scratch.path().join("out.sam"))) {
                assert!(error.to_string().contains("writable"), "{error}");
            }
            fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755)).unwrap();
            assert!(names(scratch.path()).is_empty());
        }

        #[test]
        fn rights_are_those_of_any_new_file() {
            let scratch = scratch();
            let path = scratch.path().join("out.sam");
            write(&path, "").unwrap();
            let plain = scratch.path().join("plain");
            File::create(&plain).unwrap();
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode(&path), mode(&plain));
            // The permissions of a file that is replaced are kept.
            for kept in [0o600, 0o666, 0o755, 0o200] {
                fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
                write(&path, "text").unwrap();
                assert_eq!(mode(&path) & 0o7777, kept);
            }
            let mut output = Output::create(Some(&path)).unwrap();
            let temporary = output.rename.clone().unwrap().temporary;
            assert_eq!(mode(&temporary) & 0o7777, 0o200, "no one else reads it while it is written");
            output.put(b"text").unwrap();
        }
    }
}
