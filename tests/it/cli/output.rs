//! Output files are complete or absent, and messages go to stderr.

use super::*;

#[test]
fn a_folder_that_is_missing() {
    refused_options(&["-o", "nosuch/out.sam"], 1, &["nosuch"]);
}

#[test]
fn extensions_of_no_format() {
    for name in ["x.bed", "x.yaml", "x.log", "out.v2", "x.gz", "x.bam.gz", "x.cram"] {
        let says = [name, ".sam", ".bam", ".paf", ".tsv", ".json", ".txt", ".gz", "--format"];
        refused_options(&["-o", name], 2, &says);
    }
    let files = [("q.fa", QUERY), ("ref.fa", REFERENCE)];
    for (name, args) in [
        ("x", &[][..]),
        (".paf", &[]),
        ("x.bed", &["--format", "sam"]),
        ("/dev/stdout", &[]),
        ("/dev/null", &[]),
    ] {
        let folder = folder(&files);
        let outcome = folder.run(&[args, &["--device", "cpu", "-o", name, "q.fa", "ref.fa"]].concat());
        assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.stderr);
        if !name.starts_with('/') {
            assert!(folder.read(name).starts_with(b"@HD"), "{name} is SAM");
        }
    }
}

/// A pipe may have any name.
#[cfg(unix)]
#[test]
fn a_pipe_has_no_extension() {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
    let path = folder.file("out.pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let reader = std::thread::spawn(move || fs::read(path).unwrap());
    let outcome = folder.run(&["--device", "cpu", "-o", "out.pipe", "q.fa", "ref.fa"]);
    outcome.ended(0);
    assert!(reader.join().unwrap().starts_with(b"@HD"));
}

/// An output never replaces an input, even through another path.
#[test]
fn an_input_is_no_output() {
    let matrix = b"  A C G T\nA 1 -4 -4 -4\nC -4 1 -4 -4\nG -4 -4 1 -4\nT -4 -4 -4 1\n";
    let files = [("q.fa", QUERY), ("ref.fa", REFERENCE), ("m", matrix), ("x.swalign", QUERY)];
    let folder = folder(&files);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("q.fa", folder.file("soft")).unwrap();
        fs::hard_link(folder.file("q.fa"), folder.file("hard")).unwrap();
    }
    let mut cases = vec![
        (&["-o", "q.fa", "q.fa", "ref.fa"][..], "q.fa"),
        (&["-o", "ref.fa", "q.fa", "ref.fa"], "ref.fa"),
        (&["-o", "m", "--matrix", "m", "q.fa", "ref.fa"], "input m"),
        (&["-o", "x", "x.swalign", "ref.fa"], "x.swalign"),
        (&["search", "-o", "q.fa", "-f", "q.fa", "ref.fa"], "q.fa"),
        (&["search", "-o", "./ref.fa", "ACGT", "q.fa", "ref.fa"], "ref.fa"),
        (&["search", "-o", "x", "-f", "x.swalign", "ref.fa"], "x.swalign"),
    ];
    if cfg!(unix) {
        cases.extend([
            (&["-o", "soft", "q.fa", "ref.fa"][..], "q.fa"),
            (&["-o", "hard", "q.fa", "ref.fa"], "q.fa"),
            (&["-o", "q.fa", "soft", "ref.fa"], "soft"),
            (&["search", "-o", "hard", "ACGT", "q.fa"], "q.fa"),
            (&["search", "-o", "hard", "-f", "soft", "ref.fa"], "soft"),
        ]);
    }
    for (args, says) in cases {
        folder.refused(args, 2, &["--output", "overwrite", says]);
    }
}

/// The file that is redirected to stdin is an input, too.
#[cfg(unix)]
#[test]
fn stdin_is_no_output() {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
    let output = std::process::Command::new(program())
        .args(["-o", "q.fa", "-", "ref.fa"])
        .current_dir(folder.path())
        .stdin(fs::File::open(folder.file("q.fa")).unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(folder.read("q.fa"), QUERY);
}

#[test]
fn a_file_is_written_whole() {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE), ("out.sam", b"old")]);
    let outcome = folder.run(&["--device", "cpu", "--min-score", "10", "-o", "out.sam", "q.fa", "ref.fa"]);
    outcome.ended(0);
    assert!(outcome.stdout.is_empty());
    let written = Outcome { stdout: folder.read("out.sam"), ..outcome };
    assert_eq!(written.without_pg(), baseline().without_pg());
    assert_eq!(folder.contents().len(), 3, "no temporary is left");
}

#[test]
fn an_old_file_outlives_a_failure() {
    let folder = folder(&[("q.fa", b">r1\nACGT\n>r2\nAC!T\n"), ("ref.fa", REFERENCE), ("out.sam", b"old")]);
    let outcome = folder.run(&["--device", "cpu", "-o", "out.sam", "q.fa", "ref.fa"]);
    outcome.ended(1);
    assert_eq!(folder.read("out.sam"), b"old");
    assert_eq!(folder.contents().len(), 3);
}

/// Enough queries that the output exceeds the buffer of any pipe.
fn many_queries() -> Vec<u8> {
    (0..20_000).map(|k| format!(">read{k}\nTTAGCCATGGATCCATTGCACGGTTAACC\n")).collect::<String>().into_bytes()
}

#[cfg(unix)]
fn spawn(folder: &Path, stdout: Stdio) -> std::process::Child {
    std::process::Command::new(program())
        .args(["--device", "cpu", "--min-score", "10", "q.fa", "ref.fa"])
        .current_dir(folder)
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let folder = folder(&[("q.fa", &many_queries()), ("ref.fa", REFERENCE)]);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = spawn(folder.path(), full.into()).wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("stdout") || stderr.contains("standard output"), "{stderr}");
    assert!(stderr.contains("No space left"), "{stderr}");
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_success() {
    let folder = folder(&[("q.fa", &many_queries()), ("ref.fa", REFERENCE)]);
    let mut child = spawn(folder.path(), Stdio::piped());
    let mut first = [0u8; 4];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"@HD\t");
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(!stderr.contains("panicked") && !stderr.to_lowercase().contains("error"), "{stderr}");
}

/// `swalign ARGS` in `folder`, where /dev/fd/0 is a pipe whose reader is already closed.
#[cfg(target_os = "linux")]
fn with_a_closed_pipe(folder: &Folder, args: &[&str]) -> Outcome {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = std::process::Command::new(program());
    let output = command.args(args).current_dir(folder.path()).stdin(writer).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    Outcome { line: args.join(" "), code: output.status.code(), stdout: output.stdout, stderr }
}

/// Only a closed main output is a success. A closed side output is an error.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_side_file_is_an_error() {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE), ("out", b"old")]);
    let names = folder.names();
    for args in [
        &["--device", "cpu", "--format", "sam", "-o", "out", "--stats", "/dev/fd/0", "q.fa", "ref.fa"][..],
        &["--device", "cpu", "--format", "bam", "-o", "out", "--report", "/dev/fd/0", "q.fa", "ref.fa"],
        &[
            "pairs",
            "--device",
            "cpu",
            "--format",
            "paf",
            "-o",
            "out",
            "--stats",
            "/dev/fd/0",
            "q.fa",
            "ref.fa",
        ],
        &["all", "--device", "cpu", "--format", "tab", "-o", "out", "--stats", "/dev/fd/0", "ref.fa"],
        &["search", "-o", "out", "--summary", "/dev/fd/0", "ACGT", "ref.fa"],
        &["dedup", "-o", "out", "--table", "/dev/fd/0", "q.fa"],
    ] {
        with_a_closed_pipe(&folder, args).said(1, &["error: /dev/fd/0: ", "reader"]);
        assert_eq!((folder.names(), folder.read("out")), (names.clone(), b"old".to_vec()), "{args:?}");
    }
    for args in [
        &["--device", "cpu", "--format", "sam", "-o", "/dev/fd/0", "--stats", "stats", "q.fa", "ref.fa"][..],
        &["all", "--device", "cpu", "--format", "tab", "-o", "/dev/fd/0", "ref.fa"],
        &["all", "--device", "cpu", "--format", "matrix", "-o", "/dev/fd/0", "ref.fa"],
        &["search", "-o", "/dev/fd/0", "ACGT", "ref.fa"],
        &["dedup", "-o", "/dev/fd/0", "--table", "table", "q.fa"],
    ] {
        let outcome = with_a_closed_pipe(&folder, args);
        outcome.ended(0);
        assert!(!outcome.stderr.contains("error"), "{args:?}: {}", outcome.stderr);
        assert_eq!(folder.names(), names, "{args:?}");
    }
}

/// Side outputs must not have the name of another file of the run.
#[test]
fn side_files_have_names_of_their_own() {
    for (args, name) in [
        (&["--sort", "-o", "x.bam", "--stats", "x.bam.bai", "q.fa", "ref.fa"][..], "x.bam.bai"),
        (&["--sort", "-o", "x.bam", "--report", "./x.bam.csi", "q.fa", "ref.fa"], "x.bam.csi"),
        (&["pairs", "--sort", "-o", "x.bam", "--stats", "x.bam.bai", "q.fa", "ref.fa"], "x.bam.bai"),
        (&["--part", "1/2", "-o", "x.sam", "--stats", "x.sam.swalign", "q.fa", "ref.fa"], "x.sam.swalign"),
        (&["search", "-o", "x", "--summary", "x", "ACGT", "ref.fa"], "x"),
        (&["search", "-o", "x", "--summary", "./x", "ACGT", "ref.fa"], "x"),
        (&["search", "-o", "x", "--summary", "x.swalign", "--resume", "ACGT", "ref.fa"], "x.swalign"),
        (&["dedup", "-o", "x", "--table", "x", "q.fa"], "x"),
    ] {
        let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
        folder.refused(args, 2, &["overwrite", name]);
    }
    // Without --sort there is no index, so its name is free.
    let args = ["--device", "cpu", "-o", "x.bam", "--stats", "x.bam.bai", "q.fa", "ref.fa"];
    folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]).done(&args);
}

/// The output is written even if its folder is read-only. If the run fails, the old file is kept.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_in_which_only_the_output_may_be_written() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65534;
    let (folder, scratch) =
        (folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE), ("out.sam", b"old")]), Folder::new());
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    mode(&folder.file("out.sam"), 0o640);
    if is_root {
        // Root may write to any folder, so the test runs as the user `nobody`.
        for path in [folder.file("out.sam"), scratch.path().to_path_buf()] {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    mode(folder.path(), 0o555);
    let before = folder.contents();
    let run = |args: &str| {
        let mut command = std::process::Command::new(program());
        command.args(args.split(' ')).current_dir(folder.path()).env("TMPDIR", scratch.path());
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(scratch.names().is_empty(), "{args} left {:?}", scratch.names());
        Outcome { line: args.to_string(), code: output.status.code(), stdout: output.stdout, stderr }
    };
    run("--device cpu -o out.sam --max-hits 0 q.fa ref.fa").ended(2);
    run("--device cpu -o out.sam q.fa nosuch.fa").ended(1);
    run("--device cpu -o new.sam q.fa ref.fa").said(1, &["new.sam: ", "writable"]);
    run("--device cpu -o out.sam --stats s.json q.fa ref.fa").said(1, &["s.json: ", "writable"]);
    run("--device cpu -o out.sam --resume q.fa ref.fa").said(1, &["out.sam.swalign: ", "writable"]);
    assert_eq!(folder.contents(), before);
    run("--device cpu -o out.sam q.fa ref.fa").ended(0);
    assert!(folder.text("out.sam").contains("\nr1\t"));
    assert_eq!(fs::metadata(folder.file("out.sam")).unwrap().mode() & 0o777, 0o640);
    mode(folder.path(), 0o755);
    assert_eq!(folder.names(), before.into_keys().collect::<Vec<_>>());
}

/// Runs a shell command line in a folder with q.fa and ref.fa. $SWALIGN is the command.
#[cfg(unix)]
fn in_a_shell(line: &str) -> (Outcome, Folder) {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
    (finish(&mut shell(folder.path(), line)), folder)
}

#[cfg(unix)]
#[test]
fn a_closed_stdout_is_an_error() {
    for (command, code) in [
        ("--device cpu q.fa ref.fa", 1),
        ("--device cpu -o - q.fa ref.fa", 1),
        ("--device cpu -o /dev/stdout q.fa ref.fa", 1),
        ("pairs --device cpu q.fa ref.fa", 1),
        ("search ACGT ref.fa", 1),
        ("dedup q.fa", 1),
        ("merge - q.fa", 1),
        ("devices", 1),
        ("completions zsh", 1),
        ("--help", 1),
        ("--version", 1),
        ("help search", 1),
        ("grep ACGT ref.fa", 2),
    ] {
        for (others, says) in [("", true), ("<&-", true), ("<&- 2>&-", false)] {
            let (outcome, _) = in_a_shell(&format!("\"$SWALIGN\" {command} >&- {others}"));
            outcome.ended(code);
            let text = "swalign: error: standard output: it is closed; ";
            assert_eq!(outcome.stderr.starts_with(text), says, "{command} {others}: {}", outcome.stderr);
            assert!(!outcome.stderr.contains("using"), "{command}: {}", outcome.stderr);
        }
    }
    // There is no message if the user did not ask for output.
    for null in [">/dev/null", "1<>/dev/null"] {
        let (outcome, _) = in_a_shell(&format!("\"$SWALIGN\" --device cpu q.fa ref.fa {null}"));
        outcome.ended(0);
    }
    assert_eq!(in_a_shell("\"$SWALIGN\" grep -q ACGT ref.fa >&-").0.code, Some(0));
    let (outcome, folder) = in_a_shell("\"$SWALIGN\" --device cpu --min-score 10 -o out.sam q.fa ref.fa >&-");
    outcome.ended(0);
    assert!(folder.text("out.sam").contains("\nr1\t"));
}

#[cfg(target_os = "linux")]
#[test]
fn help_and_devices_on_a_full_disk_or_a_closed_pipe() {
    for command in
        ["devices", "devices --json", "completions fish", "--help", "search --help", "help", "--version"]
    {
        let (outcome, _) = in_a_shell(&format!("\"$SWALIGN\" {command} >/dev/full"));
        outcome.said(1, &["standard output", "No space left", "space"]);
        // A pipe whose reading end is closed before the command starts.
        let closed =
            format!("mkfifo pipe; exec 3<>pipe 4>pipe 3>&-; \"$SWALIGN\" {command} >&4; echo $? >&2");
        let (outcome, _) = in_a_shell(&closed);
        assert_eq!(outcome.stderr.lines().last(), Some("0"), "{command}: {}", outcome.stderr);
    }
}

/// -q silences warnings, but not errors.
#[test]
fn quiet_says_nothing_but_errors() {
    let query = [QUERY, b">empty\n"].concat();
    let outcome = accepted(&[("q.fa", &query), ("ref.fa", REFERENCE)], &["-q", "q.fa", "ref.fa"]);
    assert_eq!(outcome.stderr, "");
    refused_options(&["-q", "-o", "nosuch/out.sam"], 1, &["swalign: error: nosuch/out.sam"]);
    refused(&[("ref.fa", REFERENCE)], &["-q", "nosuch.fa", "ref.fa"], 1, &["swalign: error: nosuch.fa"]);
    refused_options(&["-q", "--match", "x"], 2, &["--match"]);
}

/// Messages: the device and a summary, and with -v the scoring and each batch.
#[test]
fn what_is_said() {
    let files = [("q.fa", QUERY), ("ref.fa", REFERENCE)];
    let normal = accepted(&files, &["-t", "1", "q.fa", "ref.fa"]).stderr;
    let lines: Vec<&str> = normal.lines().collect();
    assert_eq!(lines.len(), 2, "{normal}");
    assert!(lines[0].starts_with("swalign: using CPU (1 thread, "), "{normal}");
    assert!(
        lines[1].starts_with("swalign: 2 queries, 2 aligned (100 %), ") && lines[1].ends_with(" s"),
        "{normal}"
    );
    assert!(!normal.contains("GCUPS") && !normal.contains("cells"), "{normal}");
    let verbose = accepted(&files, &["-v", "--batch", "1", "q.fa", "ref.fa"]).stderr;
    let last: Vec<&str> = verbose.lines().rev().take(2).collect();
    assert!(last[1].starts_with("swalign: 2 queries, 2 aligned (100 %), "), "{verbose}");
    // Queries of 29 and 24 bases against references of 51 and 42 bases, on both strands.
    let cells = 2 * (29 + 24) * (51 + 42);
    assert!(last[0].starts_with(&format!("swalign: {cells} cells (")), "{verbose}");
    for word in ["GCUPS", "reading", "device", "backtrace", "writing"] {
        assert!(last[0].contains(word), "{word} in {verbose}");
    }
    for text in
        ["2 references, 93 residues", "match=1 mismatch=4", "min_score=10", "batch 1: 1 query,", "batch 2: "]
    {
        assert!(verbose.contains(text), "{text} in {verbose}");
    }
}
