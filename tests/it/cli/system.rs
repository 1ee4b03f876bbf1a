//! Limits of the system: memory, threads, open files, and file permissions.

use super::*;

/// `INPUT | swalign ARGS` with little memory must print a message and leave no new file.
#[cfg(target_os = "linux")]
fn runs_out(input: &str, args: &str, code: i32, says: &[&str]) {
    let folder = folder(&[("ref.fa", REFERENCE), ("q.fa", QUERY)]);
    let before = folder.contents();
    let script = format!("{input} | (ulimit -v 600000; exec \"$SWALIGN\" {args})");
    finish(&mut shell(folder.path(), &script)).said(code, says);
    assert_eq!(folder.contents(), before, "{args}");
}

#[test]
#[cfg(target_os = "linux")]
fn input_without_an_end() {
    let says = |name| ["<stdin>, record 2", name, "memory"];
    let line = "(printf '>r1\\nACGT\\n>r2\\n'; yes ACGT | tr -d '\\n')";
    let lines = "(printf '>r1\\nACGT\\n>r2\\n'; yes ACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGT)";
    let name = "(printf '@r1\\nAC\\n+\\nII\\n@r2'; yes n | tr -d '\\n')";
    runs_out(line, "--device cpu -t 2 - ref.fa -o out.sam", 1, &says("'r2'"));
    runs_out(lines, "--device cpu -t 2 - ref.fa -o out.sam", 1, &says("'r2'"));
    runs_out(name, "--device cpu -t 2 - ref.fa -o out.sam", 1, &says("'r2nnnn"));
    runs_out(line, "--device cpu -t 2 q.fa - -o out.sam", 1, &says("'r2'"));
    runs_out(lines, "search --device cpu -t 2 ACGTACGTACGT - -o out.tsv", 1, &says("'r2'"));
    // 2 is grep's exit code for errors.
    runs_out("yes ACGT | tr -d '\\n'", "grep -t 2 GATTACA -", 2, &["memory"]);
    let matrix = "--device cpu --matrix /dev/zero q.fa ref.fa -o out.sam";
    runs_out("yes 'A 1'", matrix, 1, &["/dev/zero", "1 MiB"]);
}

/// Commands on two threads, and the exit codes of their errors.
#[cfg(target_os = "linux")]
const COMMANDS: [(&str, i32); 3] = [
    ("--device cpu -t 2 q.fa ref.fa -o out.sam", 1),
    ("search --device cpu -t 2 ACGT ref.fa -o out.tsv", 1),
    ("grep -t 2 ACGT ref.fa", 2),
];

/// `SETTINGS swalign ARGS` in a folder with a small file and a file of 200,000 sequences. A failing run must leave no
/// new file.
#[cfg(target_os = "linux")]
fn within(folder: &Folder, settings: &str, args: &str) -> Outcome {
    let before = folder.contents();
    let outcome = finish(&mut shell(folder.path(), &format!("{settings} exec \"$SWALIGN\" {args}")));
    if outcome.code != Some(0) {
        assert_eq!(folder.contents(), before, "{settings} {args}");
    }
    for fault in ["panicked", "stack backtrace", "memory allocation of"] {
        assert!(!outcome.stderr.contains(fault), "{settings} {args}: {}", outcome.stderr);
    }
    outcome
}

/// Allocations that are not checked in advance may also fail. By default, Rust aborts in that case.
#[test]
#[cfg(target_os = "linux")]
fn memory_runs_out_anywhere() {
    let mut many = Vec::new();
    for number in 0..200_000 {
        many.extend_from_slice(format!(">r{number}\n").as_bytes());
        many.extend_from_slice(b"ACGTTGCATTAGCCATGGATCCATTACGGACATTAGGACCATTAGACCATTTAGACAGATACCATAGAC\n");
    }
    let folder = folder(&[("many.fa", &many), ("q.fa", QUERY)]);
    let mut said = 0;
    for kib in (60_000..200_000).step_by(20_000) {
        let settings = format!("ulimit -v {kib};");
        let outcome = within(&folder, &settings, "--device cpu -t 2 -o out.sam q.fa many.fa");
        assert!(matches!(outcome.code, Some(0 | 1)), "{kib}: {}", outcome.stderr);
        said += usize::from(outcome.stderr.contains("memory"));
        let outcome = within(&folder, &settings, "grep -t 2 -k 2 TTACGGACATTAGGACCATT many.fa");
        assert!(matches!(outcome.code, Some(0 | 2)), "{kib}: {}", outcome.stderr);
    }
    assert!(said > 1);
}

#[test]
#[cfg(target_os = "linux")]
fn threads_that_cannot_be_started() {
    let folder = folder(&[("ref.fa", REFERENCE), ("q.fa", QUERY)]);
    for (args, code) in COMMANDS {
        // Each thread needs a gigabyte of address space, so each step allows one more live thread. The number of live
        // threads depends on the scheduler, so between the first step and the last a run may succeed or fail.
        let mut ends = Vec::new();
        for kib in (1_000_000..=20_000_000).step_by(1_000_000) {
            let outcome =
                within(&folder, &format!("export RUST_MIN_STACK=1000000000; ulimit -v {kib};"), args);
            match outcome.code {
                Some(0) => ends.push("well"),
                found => {
                    assert_eq!(found, Some(code), "{args}: {}", outcome.stderr);
                    let said = ["--threads", "ulimit"].into_iter().find(|text| outcome.stderr.contains(text));
                    ends.push(said.unwrap_or_else(|| panic!("{args}: {}", outcome.stderr)));
                }
            }
        }
        assert_eq!(ends.first(), Some(&"--threads"), "{args}: {ends:?}");
        assert_eq!(ends.last(), Some(&"well"), "{args}: {ends:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn too_many_open_files() {
    let folder = folder(&[("ref.fa", REFERENCE), ("q.fa", QUERY)]);
    for (args, code) in COMMANDS {
        let outcome = within(&folder, "ulimit -n 5;", args);
        outcome.said(code, &["`ulimit -n`"]);
        for files in 6..12 {
            let outcome = within(&folder, &format!("ulimit -n {files};"), args);
            assert!([Some(0), Some(code)].contains(&outcome.code), "{args}: {}", outcome.stderr);
        }
    }
}

/// Root may read all files, so root runs the command as another user.
#[test]
#[cfg(target_os = "linux")]
fn files_that_may_not_be_read() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let folder = folder(&[("ref.fa", REFERENCE), ("q.fa", QUERY), ("secret", QUERY)]);
    let file = |name: &str| folder.file(name);
    fs::copy(program(), file("program")).unwrap();
    fs::set_permissions(file("secret"), Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let nobody = if is_root { "setpriv --reuid 65534 --clear-groups " } else { "" };
    let commands = [
        ("--device cpu secret ref.fa", 1),
        ("--device cpu q.fa secret", 1),
        ("--device cpu --matrix secret q.fa ref.fa", 1),
        ("search --device cpu ACGT secret", 1),
        ("search --device cpu --patterns secret ref.fa", 1),
        ("grep ACGT secret", 2),
        ("grep -f secret ref.fa", 2),
        ("merge out secret", 1),
    ];
    for (args, code) in commands {
        let outcome = finish(&mut shell(folder.path(), &format!("{nobody}./program {args}")));
        // merge reads the receipt of a part before the part.
        let remedy = if args.starts_with("merge") { "part" } else { "permissions" };
        outcome.said(code, &["secret", remedy]);
    }
}
