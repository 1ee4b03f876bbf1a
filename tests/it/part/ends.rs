//! Tests runs that end early: signals, full disks and a second attempt.

use super::*;
use crate::common::command::{program, shell};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Starts a run that has begun to write and waits for further queries.
fn waiting(folder: &Folder, envs: &[(&str, &str)]) -> Child {
    waiting_behind(folder, envs, "")
}

/// Starts the same run from a shell, after the commands of `before_it`.
fn waiting_behind(folder: &Folder, envs: &[(&str, &str)], before_it: &str) -> Child {
    let temporaries = || folder.names().into_iter().filter(|name| name.ends_with(".tmp")).collect::<Vec<_>>();
    let before = temporaries();
    let line = format!("{before_it} exec \"$SWALIGN\" --device cpu -q -o out.sam - ref.fa");
    let mut child = Command::new("sh")
        .args(["-c", &line])
        .env("SWALIGN", program())
        .envs(envs.iter().copied())
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    // More than the first block, so that the run begins to write, and less than the second.
    let queries = format!(">r\n{}\n", "ACGT".repeat(250)).repeat(600);
    child.stdin.as_mut().unwrap().write_all(queries.as_bytes()).unwrap();
    let begun = Instant::now();
    while temporaries().iter().all(|name| before.contains(name)) {
        assert!(begun.elapsed() < Duration::from_secs(300), "nothing is written");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
}

fn folder() -> Folder {
    crate::common::folder::folder(&[("ref.fa", b">r\nGATTACAGATTACACATTAGGATTACAGATTACACATTAG\n")])
}

#[test]
fn a_signal_leaves_nothing() {
    let folder = folder();
    let signals = [
        ("-TERM", 143),
        ("-INT", 130),
        ("-HUP", 129),
        ("-QUIT", 131),
        ("-XCPU", 152),
        ("-USR1", 138),
        ("-USR2", 140),
        ("-ALRM", 142),
    ];
    for (name, code) in signals {
        let mut child = waiting(&folder, &[]);
        signal(&child, name);
        let status = child.wait().unwrap();
        assert_eq!((status.code(), status.signal()), (Some(code), None), "{name}");
        assert_eq!(folder.names(), ["ref.fa"], "{name}");
    }
}

/// `nohup` and shells ignore signals in this way for processes that continue without them.
#[test]
fn an_ignored_signal_is_ignored() {
    let folder = folder();
    for (name, begin) in
        [("-HUP", "trap '' HUP;"), ("-INT", "trap '' INT QUIT;"), ("-QUIT", "trap '' INT QUIT;")]
    {
        let mut child = waiting_behind(&folder, &[], begin);
        signal(&child, name);
        std::thread::sleep(Duration::from_millis(200));
        assert!(child.try_wait().unwrap().is_none(), "{name} after {begin}");
        drop(child.stdin.take());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{name} after {begin}");
        assert_eq!(folder.names(), ["out.sam", "ref.fa"]);
        fs::remove_file(folder.file("out.sam")).unwrap();
    }
}

/// Runs a command in a shell, which must fail with `code`, report missing space, and leave no file.
#[track_caller]
fn no_space(folder: &Folder, begin: &str, args: &str, code: i32) {
    let before = folder.names();
    let outcome = finish(&mut shell(folder.path(), &format!("{begin} exec \"$SWALIGN\" {args}")));
    outcome.said(code, &["space"]);
    assert_eq!(folder.names(), before, "{args}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let (folder, _) = parts_of("bam", 2);
    for number in ["1", "2"] {
        let (part, out) = (format!("{number}/2"), format!("{number}.hits"));
        let search = ["search", "--format", "sam", "--part", &part, "-o", &out, "GATTACA", "q.fa"];
        folder.done(&search);
        let (part, out) = (format!("{number}/2"), format!("{number}.refs"));
        let args = ["--device", "cpu", "--ref-part", &part, "--format", "sam", "-o", &out, "q.fq", "ref.fa"];
        folder.done(&args);
    }
    for (args, code) in [
        ("merge OUT 1.bam 2.bam", 1),
        ("merge OUT 1.hits 2.hits", 1),
        ("merge OUT 1.refs 2.refs", 1),
        ("--device cpu -o OUT q.fq ref.fa", 1),
        ("--device cpu --format bam --part 1/2 -o OUT q.fq ref.fa", 1),
        ("search -k 1 -o OUT GATTACA q.fq", 1),
    ] {
        no_space(&folder, "", &args.replace("OUT", "/dev/full"), code);
        no_space(&folder, "", &(args.replace("OUT", "-") + " > /dev/full"), code);
    }
    no_space(&folder, "", "grep -k 1 GATTACA q.fq > /dev/full", 2);
    no_space(&folder, "", "grep -c GATTACA q.fq > /dev/full", 2);
}

/// The output fits, but not its receipt.
#[test]
fn a_receipt_without_room_is_an_error() {
    let folder = reads();
    for more in ["--part 1/2", "--resume"] {
        let args = format!("search --format bed -o out.bed {more} {} q.fa", "ACGT".repeat(15));
        no_space(&folder, "ulimit -f 0;", &args, 1);
    }
}

/// A run removes the files of an earlier, killed attempt, but not those of another job.
#[test]
fn two_attempts_leave_one_file() {
    let folder = folder();
    let job = |restarts| [("SLURM_JOB_ID", "77"), ("SLURM_RESTART_COUNT", restarts)];
    let mut killed = waiting(&folder, &[]);
    signal(&killed, "-KILL");
    killed.wait().unwrap();
    let left = folder.names();
    assert_eq!(left.len(), 2, "{left:?}");
    let mut first = waiting(&folder, &job("0"));
    assert!(!folder.names().contains(&left[0]), "what the killed one left");
    let mut other = waiting(&folder, &[("SLURM_JOB_ID", "78")]);
    let second = waiting(&folder, &job("1"));
    let now = folder.names();
    assert!(now.len() == 3 && now.iter().all(|name| !name.contains(".77__0.")), "{now:?}");
    assert!(second.wait_with_output().unwrap().status.success());
    let whole = folder.read("out.sam");
    // The earlier attempt has lost its file and reports it. It does not change the output.
    drop(first.stdin.take());
    assert_eq!(first.wait().unwrap().code(), Some(1));
    assert!(folder.read("out.sam") == whole);
    drop(other.stdin.take());
    assert!(other.wait().unwrap().success());
    assert_eq!(folder.names(), ["out.sam", "ref.fa"]);
    assert!(folder.read("out.sam") == whole);
}

/// A limit of the shell has the effect of a full disk.
#[test]
fn a_file_that_may_not_grow_is_an_error() {
    let folder = reads();
    let before = folder.names();
    let line = "ulimit -f 8; exec \"$SWALIGN\" --device cpu -o out.sam q.fq ref.fa";
    finish(&mut shell(folder.path(), line)).said(1, &["out.sam", "space"]);
    assert_eq!(folder.names(), before);
}
