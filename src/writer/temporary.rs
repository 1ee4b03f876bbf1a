//! Names of files that are not whole yet. Files that lost runs have left behind are removed.
//!
//! `.NAME.JOB.HOST.PROCESS.ATTEMPT.tmp`, where JOB is Slurm's job, its task and how often it was begun
//! again, such as `81_3_0`, or `-`. A file is locked as long as it is written.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Bytes of the output's name and of the machine's in the temporary's, so that this stays within a file
/// system's limit of 255 bytes.
const NAME_BYTES: usize = 100;
const HOST_BYTES: usize = 40;
/// How many names of leftover temporaries are stepped over.
const ATTEMPTS: u32 = 1000;

/// A temporary, and the name that it gets.
#[derive(Clone, Debug)]
pub struct Rename {
    pub temporary: PathBuf,
    pub target: PathBuf,
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

    /// The owner that a temporary of `output` names.
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

    /// Whether the process is surely gone. That can be known of a process of this machine only.
    fn is_gone(&self, this: &TemporaryOwner) -> bool {
        let processes = Path::new("/proc");
        self.host == this.host
            && processes.join("self").exists()
            && !processes.join(self.process.to_string()).exists()
    }
}

/// Slurm's job, task and restarts.
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

/// The machine's name, of letters, digits and hyphens.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| env::var("HOSTNAME").ok());
    let name = name.unwrap_or_else(|| "localhost".to_string());
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    name.trim().chars().map(plain).take(HOST_BYTES).collect()
}

/// As much of the output's name as its temporaries have.
fn stem(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    let fits = |end: &usize| name.is_char_boundary(*end);
    let end = (0..=name.len().min(NAME_BYTES)).rev().find(fits).unwrap_or(0);
    name[..end].to_string()
}

/// Creates a temporary in `folder` for the output `name`. Temporaries whose writers are gone are removed first.
pub fn create(folder: &Path, name: &OsStr) -> io::Result<(File, PathBuf)> {
    let (stem, owner) = (stem(name), TemporaryOwner::this());
    clear(folder, &stem, &owner);
    let mut under_way = under_way();
    for attempt in 0..ATTEMPTS {
        let path = folder.join(owner.name(&stem, attempt));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            // The file is another output of this process, or of a process that had its id.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => {
                // Not all file systems have locks.
                let _ = file.try_lock();
                under_way.push(path.clone());
                return Ok((file, path));
            }
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Removes temporaries that no process will finish. What can't be removed stays.
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

/// Gives all temporaries their names, or none: if one can't be renamed, those before it are removed. The error has
/// the name that could not be given.
pub fn keep(renames: &[Rename]) -> Result<(), (PathBuf, io::Error)> {
    let mut under_way = under_way();
    for (at, Rename { temporary, target }) in renames.iter().enumerate() {
        if let Err(source) = fs::rename(temporary, target) {
            for kept in &renames[..at] {
                let _ = fs::remove_file(&kept.target);
            }
            return Err((target.clone(), source));
        }
    }
    under_way.retain(|path| renames.iter().all(|rename| rename.temporary != *path));
    Ok(())
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

/// As [`abandon`], but while another thread creates or renames a file it does nothing, and does not wait.
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
    // The lock stays taken: a thread that would create or rename a file waits until the process ends.
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

    #[test]
    fn all_names_are_given_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let [first, second] = ["a", "b"].map(|name| {
            let (_, temporary) = create(folder.path(), OsStr::new(name)).unwrap();
            Rename { temporary, target: path(name) }
        });
        fs::create_dir(path("b")).unwrap();
        let (refused, _) = keep(&[first.clone(), second.clone()]).unwrap_err();
        assert!(refused == path("b") && !path("a").exists());
        discard(&second.temporary);
        fs::remove_dir(path("b")).unwrap();
        let pairs = [("a", first.target), ("b", second.target)].map(|(name, target)| {
            let (_, temporary) = create(folder.path(), OsStr::new(name)).unwrap();
            Rename { temporary, target }
        });
        keep(&pairs).unwrap();
        assert!(path("a").exists() && path("b").exists());
        assert_eq!(folder.path().read_dir().unwrap().count(), 2);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_dead_processes_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let this = TemporaryOwner::this();
        // No process has so high an id.
        let dead = TemporaryOwner { process: u32::MAX, ..this.clone() };
        let elsewhere = TemporaryOwner { host: "elsewhere".into(), ..dead.clone() };
        let names = [dead.name("x", 0), dead.name("y", 0), elsewhere.name("x", 0), this.name("x", 0)];
        for name in &names {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let locked = File::create(folder.path().join(dead.name("x", 1))).unwrap();
        locked.try_lock().unwrap();
        let (_, temporary) = create(folder.path(), OsStr::new("x")).unwrap();
        assert_eq!(temporary, folder.path().join(this.name("x", 1)));
        let left = |name: &String| folder.path().join(name).exists();
        assert_eq!(names.each_ref().map(left), [false, true, true, true]);
        assert!(left(&dead.name("x", 1)), "a file that is being written");
        discard(&temporary);
        assert!(!temporary.exists());
    }
}
