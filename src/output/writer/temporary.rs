//! Names of incomplete files, and removal of those that aborted runs have left.
//!
//! `.NAME.JOB.HOST.PROCESS.ATTEMPT.tmp`. JOB is Slurm's job, task and restart count, such as `81_3_0`, or `-`. A file
//! is locked while it is written.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Maximum bytes of the output's name and of the machine's name in a temporary's name, which keep it within a file
/// system's limit of 255 bytes.
const NAME_BYTES: usize = 100;
const HOST_BYTES: usize = 40;
/// Maximum number of existing names that are tried.
const ATTEMPTS: u32 = 1000;

/// A temporary, and its final name.
#[derive(Clone, Debug)]
pub struct Rename {
    pub temporary: PathBuf,
    pub target: PathBuf,
    /// Whether the target's folder accepts no new files. Then the bytes are copied into the existing file.
    pub overwrites: bool,
}

/// Permissions of a temporary.
pub enum Permissions<'a> {
    /// Those of any new file.
    New,
    /// Only the owner may read and write it.
    Private,
    /// Those of the file that it will replace.
    Of(&'a Metadata),
}

/// The temporaries of this process.
static UNDER_WAY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn under_way() -> MutexGuard<'static, Vec<PathBuf>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The process that writes a temporary.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TemporaryOwner {
    job: String,
    host: String,
    process: u32,
}

impl TemporaryOwner {
    fn this() -> TemporaryOwner {
        TemporaryOwner { job: job(|name| env::var(name).ok()), host: host(), process: std::process::id() }
    }

    /// The name of a temporary of `output`.
    fn name(&self, output: &str, attempt: u32) -> String {
        let TemporaryOwner { job, host, process } = self;
        format!(".{output}.{job}.{host}.{process}.{attempt}.tmp")
    }

    /// Parses the owner from the name of a temporary of `output`.
    fn parse(name: &str, output: &str) -> Option<TemporaryOwner> {
        let fields = name.strip_prefix('.')?.strip_prefix(output)?.strip_prefix('.')?.strip_suffix(".tmp")?;
        let &[job, host, process, _] = &fields.split('.').collect::<Vec<_>>()[..] else { return None };
        Some(TemporaryOwner { job: job.into(), host: host.into(), process: process.parse().ok()? })
    }

    /// Whether this one is an earlier attempt of the same job as `later`.
    fn is_before(&self, later: &TemporaryOwner) -> bool {
        let attempt = |job: &str| {
            job.rsplit_once('_').map(|(id, restarts)| (id.to_string(), restarts.parse::<u32>().ok()))
        };
        match (attempt(&self.job), attempt(&later.job)) {
            (Some((id, Some(earlier))), Some((same, Some(later)))) => id == same && earlier < later,
            _ => false,
        }
    }

    /// Whether the process has certainly ended, which can only be determined for processes of this machine.
    fn is_gone(&self, this: &TemporaryOwner) -> bool {
        let processes = Path::new("/proc");
        self.host == this.host
            && processes.join("self").exists()
            && !processes.join(self.process.to_string()).exists()
    }
}

/// Slurm's job, task and restart count.
fn job(variable: impl Fn(&str) -> Option<String>) -> String {
    let number =
        |name| variable(name).filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
    let Some(job) = number("SLURM_ARRAY_JOB_ID").or_else(|| number("SLURM_JOB_ID")) else {
        return "-".to_string();
    };
    let task = number("SLURM_ARRAY_TASK_ID").unwrap_or_default();
    let restarts = number("SLURM_RESTART_COUNT").unwrap_or_else(|| "0".to_string());
    format!("{job}_{task}_{restarts}")
}

/// The machine's name, reduced to ASCII alphanumerics and hyphens.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| env::var("HOSTNAME").ok());
    let name = name.unwrap_or_else(|| "localhost".to_string());
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    name.trim().chars().map(plain).take(HOST_BYTES).collect()
}

/// The prefix of the output's name that its temporaries contain.
fn stem(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    let fits = |end: &usize| name.is_char_boundary(*end);
    let end = (0..=name.len().min(NAME_BYTES)).rev().find(fits).unwrap_or(0);
    name[..end].to_string()
}

/// Creates a temporary in `folder` for the output `name`, after removing temporaries whose writers have ended.
pub fn create(folder: &Path, name: &OsStr, permissions: Permissions) -> io::Result<(File, PathBuf)> {
    let (stem, owner) = (stem(name), TemporaryOwner::this());
    clear(folder, &stem, &owner);
    let mut under_way = under_way();
    let (file, path) = unused_name(folder, &stem, &owner, |path| {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        permissions.at_first(&mut options);
        options.open(path)
    })?;
    // Not all file systems support locks.
    let _ = file.try_lock();
    under_way.push(path.clone());
    permissions.apply(&file);
    Ok((file, path))
}

/// Calls `make` with names of temporaries until one of them does not exist yet.
fn unused_name<T>(
    folder: &Path,
    stem: &str,
    owner: &TemporaryOwner,
    make: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(T, PathBuf)> {
    for attempt in 0..ATTEMPTS {
        let path = folder.join(owner.name(stem, attempt));
        match make(&path) {
            // The file belongs to another output of this process, or to an earlier process with the same id.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return made.map(|made| (made, path)),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

#[cfg(unix)]
impl Permissions<'_> {
    /// Sets the permissions at creation. No other user can read the file before it has its final permissions.
    fn at_first(&self, options: &mut OpenOptions) {
        use std::os::unix::fs::OpenOptionsExt;
        if !matches!(self, Permissions::New) {
            options.mode(0o600);
        }
    }

    /// Gives the file the owner, group and mode of the file that it will replace, as far as the system allows. On a
    /// file system without them, the file stays private.
    fn apply(&self, file: &File) {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
        let (Permissions::Of(old), Ok(new)) = (self, file.metadata()) else { return };
        let mut mode = old.mode() & 0o777;
        let is_same = (new.uid(), new.gid()) == (old.uid(), old.gid());
        if !is_same && fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
            let keeps_group = new.gid() == old.gid() || fchown(file, None, Some(old.gid())).is_ok();
            if !keeps_group {
                // The mode was meant for another group, so this group gets the permissions of all users.
                mode = mode & !0o070 | (mode & 0o007) << 3;
            }
        }
        let _ = file.set_permissions(PermissionsExt::from_mode(mode));
    }
}

#[cfg(not(unix))]
impl Permissions<'_> {
    fn at_first(&self, _: &mut OpenOptions) {
        // Files have the permissions of their folder.
        if let Permissions::Of(_) = self {}
    }

    fn apply(&self, _: &File) {}
}

/// Removes temporaries that no process will finish. Errors are ignored.
fn clear(folder: &Path, stem: &str, this: &TemporaryOwner) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Some(owner) = entry.file_name().to_str().and_then(|name| TemporaryOwner::parse(name, stem))
        else {
            continue;
        };
        let unlocked = || File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if owner.is_before(this) || (owner.is_gone(this) && unlocked()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes outdated files and renames all temporaries, or changes nothing: if one step fails, all files are restored.
/// The error names the file of that step. A target that is overwritten comes last, since its old bytes are lost if the
/// copy fails.
pub fn keep(outdated: &[PathBuf], renames: &[Rename]) -> Result<(), (PathBuf, io::Error)> {
    let mut under_way = under_way();
    let mut changed = ChangedFiles::default();
    let mut ordered: Vec<&Rename> = renames.iter().collect();
    ordered.sort_by_key(|rename| rename.overwrites);
    let last = ordered.last().map(|rename| &*rename.target);
    let removed = outdated.iter().try_for_each(|path| changed.remove(path).map_err(|error| (path, error)));
    let done = removed.and_then(|()| {
        ordered.iter().try_for_each(|rename| {
            let is_last = last == Some(&*rename.target);
            changed.rename(rename, is_last).map_err(|error| (&rename.target, error))
        })
    });
    match done {
        Ok(()) => {
            changed.forget();
            under_way.retain(|path| renames.iter().all(|rename| rename.temporary != *path));
            Ok(())
        }
        Err((path, error)) => {
            changed.undo();
            Err((path.clone(), error))
        }
    }
}

/// Changed files, each with the current name of its old bytes; `None` for a new file.
#[derive(Default)]
struct ChangedFiles(Vec<(PathBuf, Option<PathBuf>)>);

impl ChangedFiles {
    /// Removes a file. If its folder allows no removal, the file is emptied instead.
    fn remove(&mut self, path: &Path) -> io::Result<()> {
        match set_aside(path, move_to) {
            Ok(aside) => self.0.push((path.to_path_buf(), Some(aside))),
            Err(error) if takes_no_files(&error) => {
                OpenOptions::new().write(true).truncate(true).open(path)?;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Renames a temporary. The last step does not keep the old file, because no later step can fail.
    fn rename(&mut self, rename: &Rename, is_last: bool) -> io::Result<()> {
        let Rename { temporary, target, overwrites } = rename;
        if *overwrites {
            return overwrite(temporary, target);
        }
        let aside = match target.is_file() && !is_last {
            true => Some(set_aside(target, link_to).or_else(|_| set_aside(target, move_to))?),
            false => None,
        };
        let moved = match fs::rename(temporary, target) {
            // The target is a mount point of its own, as files in containers may be.
            Err(error) if error.kind() == ErrorKind::ResourceBusy && target.is_file() => {
                overwrite(temporary, target)
            }
            moved => moved,
        };
        if moved.is_ok() || aside.is_some() {
            self.0.push((target.clone(), aside));
        }
        moved
    }

    /// Removes the files that were set aside.
    fn forget(self) {
        for aside in self.0.into_iter().filter_map(|(_, aside)| aside) {
            let _ = fs::remove_file(aside);
        }
    }

    /// Restores the files. Errors are ignored.
    fn undo(self) {
        for (path, aside) in self.0.into_iter().rev() {
            let _ = match aside {
                Some(aside) => fs::rename(aside, path),
                None => fs::remove_file(path),
            };
        }
    }
}

fn link_to(path: &Path, other: &Path) -> io::Result<()> {
    fs::hard_link(path, other)
}

fn move_to(path: &Path, other: &Path) -> io::Result<()> {
    fs::rename(path, other)
}

/// Renames or links a file to an unused name beside it, with `give`.
fn set_aside(path: &Path, give: fn(&Path, &Path) -> io::Result<()>) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(ErrorKind::NotFound)?;
    let aside = |aside: &Path| match aside.symlink_metadata() {
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => give(path, aside),
    };
    let (_, aside) = unused_name(directory(path), &stem(name), &TemporaryOwner::this(), aside)?;
    Ok(aside)
}

/// Copies a temporary into the file at `target`, which keeps its permissions, and removes the temporary.
fn overwrite(temporary: &Path, target: &Path) -> io::Result<()> {
    let mut from = File::open(temporary)?;
    let mut to = OpenOptions::new().write(true).truncate(true).open(target)?;
    io::copy(&mut from, &mut to)?;
    to.sync_all()?;
    let _ = fs::remove_file(temporary);
    Ok(())
}

/// Whether an error means that a folder accepts no new file.
pub fn takes_no_files(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// The folder of a file.
pub fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Removes a temporary.
pub fn discard(temporary: &Path) {
    let mut under_way = under_way();
    // A second failure must not hide the first.
    let _ = fs::remove_file(temporary);
    under_way.retain(|path| path != temporary);
}

/// Removes all temporaries of this process, which is about to end: from now on it finishes no output.
pub fn abandon() {
    remove(under_way());
}

/// Like [`abandon`], but does nothing, without waiting, while another thread creates or renames a file.
pub fn remove_all() {
    match UNDER_WAY.try_lock() {
        Ok(under_way) => remove(under_way),
        Err(TryLockError::Poisoned(under_way)) => remove(under_way.into_inner()),
        Err(TryLockError::WouldBlock) => {}
    }
}

fn remove(under_way: MutexGuard<'static, Vec<PathBuf>>) {
    for path in under_way.iter() {
        let _ = fs::remove_file(path);
    }
    // The lock is never released: a thread that would create or rename a file waits until the process ends.
    std::mem::forget(under_way);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(job: &str, host: &str, process: u32) -> TemporaryOwner {
        TemporaryOwner { job: job.into(), host: host.into(), process }
    }

    #[test]
    fn names_tell_their_owners() {
        let this = owner("81_3_0", "node-1", 77);
        assert_eq!(this.name("out.sam", 2), ".out.sam.81_3_0.node-1.77.2.tmp");
        assert_eq!(TemporaryOwner::parse(&this.name("out.sam", 2), "out.sam"), Some(this.clone()));
        for foreign in [".out.sam.tmp", ".out.sam.81_3_0.node-1.x.2.tmp", "out.sam", ".out.sam.a.b.1.2.3.tmp"]
        {
            assert_eq!(TemporaryOwner::parse(foreign, "out.sam"), None, "{foreign}");
        }
        assert_eq!(stem(OsStr::new(&"é".repeat(80))), "é".repeat(50));
    }

    #[test]
    fn jobs_as_slurm_names_them() {
        let named = |variables: &[(&str, &str)]| {
            job(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string()))
        };
        assert_eq!(named(&[]), "-");
        assert_eq!(named(&[("SLURM_JOB_ID", "7")]), "7__0");
        let array = [("SLURM_JOB_ID", "82"), ("SLURM_ARRAY_JOB_ID", "81"), ("SLURM_ARRAY_TASK_ID", "3")];
        assert_eq!(named(&array), "81_3_0");
        assert_eq!(named(&[&array[..], &[("SLURM_RESTART_COUNT", "2")]].concat()), "81_3_2");
        assert_eq!(named(&[("SLURM_JOB_ID", "../x")]), "-");
    }

    #[test]
    fn earlier_attempts_of_the_same_job() {
        let this = owner("81_3_1", "a", 1);
        assert!(owner("81_3_0", "b", 9).is_before(&this));
        for other in ["81_3_1", "81_3_2", "81_4_0", "80_3_0", "-"] {
            assert!(!owner(other, "b", 9).is_before(&this), "{other}");
        }
        assert!(!owner("-", "a", 1).is_before(&owner("-", "a", 2)));
    }

    /// Temporaries with these names, each containing its name as text.
    fn written<const N: usize>(folder: &Path, names: [&str; N]) -> [Rename; N] {
        names.map(|name| {
            let (_, temporary) = create(folder, OsStr::new(name), Permissions::New).unwrap();
            fs::write(&temporary, name).unwrap();
            Rename { temporary, target: folder.join(name), overwrites: false }
        })
    }

    #[test]
    fn all_names_are_given_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let text = |name: &str| fs::read_to_string(path(name)).ok();
        for old in [None, Some("old")] {
            if let Some(old) = old {
                fs::write(path("a"), old).unwrap();
                fs::write(path("outdated"), old).unwrap();
            }
            let outdated: Vec<PathBuf> = old.map(|_| path("outdated")).into_iter().collect();
            fs::create_dir(path("b")).unwrap();
            let renames = written(folder.path(), ["a", "b", "c"]);
            let (refused, _) = keep(&outdated, &renames).unwrap_err();
            assert_eq!(refused, path("b"));
            assert_eq!([text("a"), text("outdated")], [old.map(String::from), old.map(String::from)]);
            assert_eq!(text("c"), None);
            renames.iter().for_each(|rename| discard(&rename.temporary));
            fs::remove_dir(path("b")).unwrap();
            assert_eq!(folder.path().read_dir().unwrap().count(), 2 * outdated.len());
            keep(&outdated, &written(folder.path(), ["a", "b", "c"])).unwrap();
            for name in ["a", "b", "c"] {
                assert_eq!(text(name).as_deref(), Some(name));
                fs::remove_file(path(name)).unwrap();
            }
            assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        }
    }

    #[test]
    fn a_file_that_stays_where_it_is_gets_the_bytes() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "a longer text than before").unwrap();
        let [mut first, second] = written(folder.path(), ["a", "b"]);
        first.overwrites = true;
        keep(&[], &[first, second]).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "a");
        assert_eq!(folder.path().read_dir().unwrap().count(), 2);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_dead_processes_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let this = TemporaryOwner::this();
        // No process has an id this high.
        let dead = TemporaryOwner { process: u32::MAX, ..this.clone() };
        let elsewhere = TemporaryOwner { host: "elsewhere".into(), ..dead.clone() };
        let names = [dead.name("x", 0), dead.name("y", 0), elsewhere.name("x", 0), this.name("x", 0)];
        for name in &names {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let locked = File::create(folder.path().join(dead.name("x", 1))).unwrap();
        locked.try_lock().unwrap();
        let (_, temporary) = create(folder.path(), OsStr::new("x"), Permissions::New).unwrap();
        assert_eq!(temporary, folder.path().join(this.name("x", 1)));
        let left = |name: &String| folder.path().join(name).exists();
        assert_eq!(names.each_ref().map(left), [false, true, true, true]);
        assert!(left(&dead.name("x", 1)), "a file that is being written");
        discard(&temporary);
        assert!(!temporary.exists());
    }
}
