//! `swalign grep` end to end: options, exit codes and errors. The output does not depend on blocks, threads and
//! devices.

use crate::common::command::{Outcome, command, finish, lines_come_at_once, program, run};
use crate::common::{folder::Folder, gzip::gzip, random::Random};
use std::fs;
use std::io::Read;
use std::process::Stdio;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::patterns::lines::pattern::{GrepPattern, PatternSyntax};
use swalign::patterns::lines::plain;
use swalign::patterns::search::MatchRule;

const LINES: &[u8] = b"the quick brown fox\njumps over\n\nthe lazy dog\nTHE QUIK BROWN\r\nlast qick";

fn folder() -> Folder {
    crate::common::folder::folder(&[
        ("a.txt", LINES),
        ("b.txt", b"nothing here\n"),
        ("p.txt", b"lazy\nover\n"),
        ("empty", b""),
    ])
}

fn grep(args: &[&str]) -> Outcome {
    folder().run(&[&["grep"], args].concat())
}

/// stdout of a run that ends with `code` and prints nothing to stderr.
#[track_caller]
fn printed(args: &[&str], code: i32) -> String {
    let outcome = grep(args);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(code), ""), "{args:?}");
    String::from_utf8(outcome.stdout).unwrap()
}

mod options {
    use super::*;

    #[test]
    fn lines_and_edits() {
        assert_eq!(printed(&["quick", "a.txt"], 0), "the quick brown fox\n");
        assert_eq!(printed(&["-k", "1", "quick", "a.txt"], 0), "the quick brown fox\nlast qick\n");
        assert_eq!(printed(&["-k1", "--no-indels", "quick", "a.txt"], 0), "the quick brown fox\n");
        assert_eq!(printed(&["-i", "-k", "1", "quick", "a.txt"], 0).lines().count(), 3);
        assert_eq!(printed(&["QUIK", "a.txt"], 0), "THE QUIK BROWN\r\n");
        assert_eq!(printed(&["-k", "4", "zzzz", "a.txt"], 0), String::from_utf8_lossy(LINES) + "\n");
        assert_eq!(printed(&["", "a.txt"], 0), String::from_utf8_lossy(LINES) + "\n");
        assert_eq!(printed(&["zzzz", "a.txt"], 1), "");
        assert_eq!(printed(&["", "empty"], 1), "");
        assert_eq!(printed(&["-v", "o", "a.txt"], 0), "\nTHE QUIK BROWN\r\nlast qick\n");
    }

    #[test]
    fn what_is_before_a_line() {
        assert_eq!(printed(&["-n", "-k1", "quick", "a.txt"], 0), "1:the quick brown fox\n6:last qick\n");
        assert_eq!(printed(&["-H", "lazy", "a.txt"], 0), "a.txt:the lazy dog\n");
        assert_eq!(printed(&["lazy", "a.txt", "b.txt"], 0), "a.txt:the lazy dog\n");
        assert_eq!(printed(&["-h", "lazy", "a.txt", "b.txt"], 0), "the lazy dog\n");
        assert_eq!(printed(&["-n", "h.r", "a.txt", "b.txt"], 0), "b.txt:1:nothing here\n");
        assert_eq!(printed(&["-nv", "o", "a.txt"], 0), "3:\n5:THE QUIK BROWN\r\n6:last qick\n");
    }

    #[test]
    fn numbers_names_and_nothing() {
        assert_eq!(printed(&["-c", "the", "a.txt"], 0), "2\n");
        assert_eq!(printed(&["-c", "the", "a.txt", "b.txt"], 0), "a.txt:2\nb.txt:0\n");
        assert_eq!(printed(&["-cv", "the", "a.txt"], 0), "4\n");
        assert_eq!(printed(&["-c", "zzzz", "a.txt"], 1), "0\n");
        assert_eq!(printed(&["-l", "the", "a.txt", "b.txt"], 0), "a.txt\n");
        assert_eq!(printed(&["-q", "the", "a.txt"], 0), "");
        assert_eq!(printed(&["-q", "zzzz", "a.txt"], 1), "");
        assert_eq!(printed(&["-m", "1", "the", "a.txt"], 0), "the quick brown fox\n");
        assert_eq!(printed(&["-m1", "-c", "the", "a.txt", "b.txt"], 0), "a.txt:1\nb.txt:0\n");
    }

    #[test]
    fn patterns() {
        assert_eq!(printed(&["-f", "p.txt", "a.txt"], 0), "jumps over\nthe lazy dog\n");
        assert_eq!(printed(&["-e", "lazy", "-e", "over", "a.txt"], 0), "jumps over\nthe lazy dog\n");
        assert_eq!(printed(&["lazy\nover", "a.txt"], 0), "jumps over\nthe lazy dog\n");
        assert_eq!(printed(&["-f", "p.txt", "-e", "fox", "a.txt"], 0).lines().count(), 3);
        assert_eq!(printed(&["-f", "empty", "a.txt"], 1), "");
        assert_eq!(printed(&["-e", "-k", "a.txt"], 1), "");
        assert_eq!(printed(&["-F", "l.zy", "a.txt"], 1), "");
        assert_eq!(printed(&["l[^b-z]\\wy", "a.txt"], 0), "the lazy dog\n");
    }

    #[test]
    fn stdin() {
        let here = folder();
        let from = |args: &[&str]| finish(command(here.path()).arg("grep").args(args).write_stdin(LINES));
        assert_eq!(from(&["lazy", "-"]).stdout, b"the lazy dog\n");
        assert_eq!(from(&["lazy", "-", "b.txt"]).stdout, b"(standard input):the lazy dog\n");
        let outcome = finish(command(here.path()).args(["grep", "-f", "-", "a.txt"]).write_stdin("lazy"));
        assert_eq!(outcome.stdout, b"the lazy dog\n");
    }
}

mod packed {
    use super::*;

    #[test]
    fn gzip_is_unpacked_if_asked_for() {
        let here = folder();
        let text: String = (0..30_000).map(|line| format!("line {line} of a long text\n")).collect();
        fs::write(here.path().join("long.txt"), &text).unwrap();
        fs::write(here.path().join("long.gz"), gzip(text.as_bytes())).unwrap();
        let two = [gzip(b"the first\n"), gzip(b"the second\nnot this\n")].concat();
        fs::write(here.path().join("two.gz"), &two).unwrap();
        fs::write(here.path().join("more.gz"), [&two[..], b"garbage"].concat()).unwrap();
        fs::write(here.path().join("cut.gz"), &two[..two.len() - 9]).unwrap();
        fs::write(here.path().join("none.gz"), gzip(b"")).unwrap();
        fs::write(here.path().join("p.gz"), gzip(b"second\n")).unwrap();
        fs::write(here.path().join("x.bz2"), b"BZh91AY&SY the").unwrap();
        let grep = |args: &[&str]| run(here.path(), &[&["grep"], args].concat());
        let plain = grep(&["-n", "-k", "1", "line 2999", "long.txt"]);
        for device in ["cpu", "plain"] {
            let outcome = grep(&["-z", "--device", device, "-n", "-k", "1", "line 2999", "long.gz"]);
            assert_eq!((&outcome.stdout, &*outcome.stderr), (&plain.stdout, ""), "{device}");
        }
        assert!(plain.stdout.len() > 1000);
        let outcome = grep(&["-z", "the", "two.gz", "a.txt", "none.gz"]);
        assert_eq!(
            outcome.stdout,
            b"two.gz:the first\ntwo.gz:the second\na.txt:the quick brown fox\na.txt:the lazy dog\n"
        );
        assert_eq!(grep(&["-z", "-f", "p.gz", "two.gz"]).stdout, b"the second\n");
        let piped =
            |args: &[&str]| finish(command(here.path()).arg("grep").args(args).write_stdin(two.clone()));
        assert_eq!(piped(&["--search-zip", "the", "-"]).stdout, b"the first\nthe second\n");
        // Compressed input that is not unpacked causes a warning.
        piped(&["the", "-"]).said(1, &["warning: stdin", "gzip", "-z"]);
        grep(&["the", "two.gz"]).said(1, &["warning: two.gz", "gzip", "-z"]);
        grep(&["-z", "the", "x.bz2"]).said(0, &["warning: x.bz2", "`bzip2 -dc | swalign grep"]);
        assert_eq!(grep(&["-s", "the", "two.gz"]).stderr, "");
        grep(&["-z", "the", "more.gz"]).said(0, &["warning: more.gz: ", "gzip"]);
        let cut = grep(&["-z", "the", "cut.gz", "a.txt"]);
        cut.said(2, &["error: cut.gz", "truncated"]);
        assert!(cut.stdout.ends_with(b"a.txt:the lazy dog\n"), "the others are searched");
    }
}

mod faults {
    use super::*;

    #[track_caller]
    fn refused(args: &[&str], says: &[&str]) {
        let outcome = grep(args);
        outcome.said(2, says);
        assert!(outcome.stdout.is_empty());
    }

    #[test]
    fn wrong_usage() {
        refused(&[], &["PATTERN", "-e", "-f"]);
        refused(&["x"], &["FILE", "stdin"]);
        refused(&["-e", "x"], &["FILE", "stdin"]);
        refused(&["-k", "-1", "x", "a.txt"], &["--max-edits", "0 or more"]);
        refused(&["-k", "10%", "x", "a.txt"], &["--max-edits", "`swalign search`", "whole number"]);
        refused(&["a[b", "a.txt"], &["PATTERN 'a[b'", "position 2", "not closed", "-F"]);
        refused(&["ab*", "a.txt"], &["position 3", "\\*"]);
        refused(&["-e", "x\\", "a.txt"], &["position 2", "backslash"]);
        refused(&["x", "-", "-"], &["stdin"]);
        refused(&["-f", "nofile", "a.txt"], &["nofile"]);
        refused(&["--device", "cpu:none", "x", "a.txt"], &["instruction set 'none'"]);
        for several in ["all", "gpu:0,1"] {
            refused(&["--device", several, "x", "a.txt"], &["--device", "one GPU", "gpu:INDEX"]);
        }
        refused(&["--device", "tpu", "x", "a.txt"], &["--device", "cpu"]);
    }

    /// If the selected GPU does not exist, the run fails. No other device is used instead.
    #[test]
    fn no_driver() {
        for device in ["gpu", "gpu:0"] {
            let here = folder();
            let outcome = finish(
                command(here.path())
                    .env("VK_DRIVER_FILES", "/nonexistent")
                    .env("VK_ICD_FILENAMES", "/nonexistent")
                    .args(["grep", "--device", device, "the", "a.txt"]),
            );
            assert_eq!((outcome.code, outcome.stdout.as_slice()), (Some(2), &b""[..]));
            assert!(outcome.stderr.contains("adapter"), "{}", outcome.stderr);
        }
        assert_eq!(printed(&["--device", "auto", "-c", "the", "a.txt"], 0), "2\n");
    }

    #[test]
    fn a_pattern_of_a_file_is_named_by_its_line() {
        let here = folder();
        fs::write(here.path().join("bad.txt"), "fine\nb(d\n").unwrap();
        let outcome = run(here.path(), &["grep", "-f", "bad.txt", "a.txt"]);
        outcome.said(2, &["bad.txt, line 2: position 2: '('"]);
    }

    #[test]
    fn a_file_that_cannot_be_read_does_not_stop_the_others() {
        for wrong in ["nofile", "."] {
            let outcome = grep(&["-c", "the", wrong, "a.txt"]);
            assert_eq!((outcome.code, outcome.stdout.as_slice()), (Some(2), &b"a.txt:2\n"[..]));
            assert!(outcome.stderr.contains(&format!("{wrong}: ")), "{}", outcome.stderr);
            let outcome = grep(&["-s", "the", wrong, "a.txt"]);
            assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), ""));
            assert_eq!(grep(&["-q", "the", wrong, "a.txt"]).code, Some(0));
            assert_eq!(grep(&["-q", "zzzz", wrong, "a.txt"]).code, Some(2));
        }
    }

    #[test]
    fn a_closed_pipe_is_success() {
        let here = folder();
        fs::write(here.path().join("long.txt"), "the line\n".repeat(2_000_000)).unwrap();
        let mut child = std::process::Command::new(program())
            .args(["grep", "the", "long.txt"])
            .current_dir(here.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut some = [0; 9];
        child.stdout.take().unwrap().read_exact(&mut some).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    }
}

/// Several blocks, with lines longer than a piece and longer than a block, compared with the specification.
#[test]
fn blocks_pieces_and_devices_do_not_show() {
    let mut random = Random::new(7);
    let mut text: Vec<u8> = Vec::new();
    for len in [3_000_000, 5_000_000, 400_000, 100, 4 << 20, 0, 600_000] {
        text.extend((0..len).map(|_| random.pick(b"abc\n ")));
        text.extend((0..len / 3).map(|_| random.pick(b"abc ")));
        text.push(b'\n');
    }
    text.extend(b"ends abcabcab");
    let here = folder();
    fs::write(here.path().join("long.txt"), &text).unwrap();
    let pattern = GrepPattern::new(b"abcabcabc", PatternSyntax::default()).unwrap();
    let lines = plain::lines(&text, &[pattern], &MatchRule { max_edits: 1, indels: true });
    let expected: Vec<u8> =
        lines.iter().flat_map(|line| [&text[line.start..line.end], b"\n"].concat()).collect();
    assert!(lines.len() > 100);
    let of = |args: &[&str]| {
        run(here.path(), &[&["grep", "-k", "1", "abcabcabc", "long.txt"], args].concat()).stdout
    };
    for set in InstructionSet::available() {
        let device = format!("cpu:{set}");
        assert!(of(&["--device", &device]) == expected, "{set}");
    }
    assert!(of(&["-t", "1"]) == expected && of(&["-t", "5"]) == expected);
    let mut number = (0, 1);
    let numbered: Vec<String> = lines
        .iter()
        .map(|line| {
            let newlines = text[number.0..line.start].iter().filter(|&&byte| byte == b'\n').count();
            number = (line.start, number.1 + newlines);
            let text = String::from_utf8_lossy(&text[line.start..line.end]);
            format!("{}:{text}\n", number.1)
        })
        .collect();
    assert!(of(&["-n"]) == numbered.concat().into_bytes());
    let all = text.split_inclusive(|&byte| byte == b'\n').count();
    assert_eq!(of(&["-vc"]), format!("{}\n", all - lines.len()).into_bytes());
}

/// Lines are printed before the input ends.
#[test]
fn who_waits_sees_lines_at_once() {
    lines_come_at_once(&["grep", "x", "-"]);
}

/// Dictionaries of words.
mod words {
    use super::*;

    fn here() -> Folder {
        crate::common::folder::folder(&[
            ("t.txt", b"the cat concatenates\nCats and_cat\n\ncat\r\ncat\nscat cat-cat\x00cat"),
            ("u.txt", b"no such thing\n"),
            ("w.txt", b"cat\nconcat\ncaten\nthe\n"),
            ("none", b""),
        ])
    }

    #[track_caller]
    fn printed(args: &[&str], code: i32) -> String {
        let outcome = here().run(&[&["grep"], args].concat());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(code), ""), "{args:?}");
        String::from_utf8(outcome.stdout).unwrap()
    }

    #[test]
    fn places() {
        let f = |args: &[&str]| printed(&[&["-F", "-f", "w.txt", "-n"], args, &["t.txt"]].concat(), 0);
        let numbers = |text: String| {
            text.lines().map(|line| line.split(':').next().unwrap().to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(numbers(f(&[])), "1 2 4 5 6");
        assert_eq!(numbers(f(&["-i"])), "1 2 4 5 6");
        assert_eq!(numbers(f(&["-w"])), "1 4 5 6");
        assert_eq!(numbers(f(&["-x"])), "5");
        assert_eq!(numbers(f(&["--prefix"])), "1 4 5");
        assert_eq!(numbers(f(&["--prefix", "-i"])), "1 2 4 5");
        assert_eq!(numbers(f(&["-vw"])), "2 3");
        assert_eq!(numbers(f(&["-xw"])), "5");
        assert_eq!(
            printed(&["-F", "-x", "-e", "cat", "-e", "the", "-c", "t.txt", "u.txt"], 0),
            "t.txt:1\nu.txt:0\n"
        );
        assert_eq!(printed(&["-F", "-x", "-f", "none", "t.txt"], 1), "");
        // Without -F, because the pattern has no special characters.
        assert_eq!(printed(&["-x", "cat", "t.txt"], 0), "cat\n");
    }

    #[test]
    fn only_what_matches() {
        let all = "1:the\n1:cat\n1:concat\n2:cat\n4:cat\n5:cat\n6:cat\n6:cat\n6:cat\n6:cat\n";
        assert_eq!(printed(&["-Fon", "-f", "w.txt", "t.txt"], 0), all);
        assert_eq!(printed(&["-Fon", "-m1", "-f", "w.txt", "t.txt"], 0), "1:the\n1:cat\n1:concat\n");
        assert_eq!(
            printed(&["-Fonw", "-f", "w.txt", "t.txt"], 0),
            "1:the\n1:cat\n4:cat\n5:cat\n6:cat\n6:cat\n6:cat\n"
        );
        assert_eq!(printed(&["-Fov", "-f", "w.txt", "t.txt"], 0), "");
        assert_eq!(printed(&["-Foc", "-f", "w.txt", "t.txt"], 0), "5\n");
        assert_eq!(printed(&["-FoH", "-x", "-f", "w.txt", "t.txt"], 0), "t.txt:cat\n");
        assert_eq!(printed(&["-Fo", "-e", "", "u.txt"], 0), "");
        assert_eq!(printed(&["-Fo", "-e", "", "-e", "such", "u.txt"], 0), "such\n");
    }

    #[test]
    fn numbers_by_pattern() {
        let table = |args: &[&str], code| {
            printed(&[&["-F", "--count-by-pattern", "-f", "w.txt"], args].concat(), code)
        };
        assert_eq!(table(&["t.txt"], 0), "9\tcat\n1\tconcat\n1\tcaten\n1\tthe\n");
        assert_eq!(table(&["-i", "t.txt", "u.txt"], 0), "10\tcat\n1\tconcat\n1\tcaten\n1\tthe\n");
        assert_eq!(table(&["-x", "t.txt"], 0), "1\tcat\n0\tconcat\n0\tcaten\n0\tthe\n");
        assert_eq!(table(&["none"], 1), "0\tcat\n0\tconcat\n0\tcaten\n0\tthe\n");
        assert_eq!(
            printed(&["--count-by-pattern", "-e", "thing", "-e", "thing", "-e", "", "u.txt"], 0),
            "1\tthing\n1\tthing\n14\t\n"
        );
    }

    #[test]
    fn what_is_refused() {
        let refused = |args: &[&str], says: &[&str]| here().refused(&[&["grep"], args].concat(), 2, says);
        for option in ["-o", "-w", "-x", "--prefix", "--count-by-pattern"] {
            refused(&[option, "-k", "1", "cat", "t.txt"], &["-F", "-k"]);
            refused(&[option, "c.t", "t.txt"], &["-F", "-k"]);
        }
        refused(&["-x", "--prefix", "cat", "t.txt"], &["--prefix"]);
        refused(&["--count-by-pattern", "-v", "cat", "t.txt"], &["--invert-match"]);
        refused(&["-F", "-f", ".", "t.txt"], &["."]);
        refused(&["-f", "w.txt", "-e", "b(d", "t.txt"], &["position 2", "'('"]);
    }

    /// Every option, with one and four threads, compared with the plain device.
    #[test]
    fn devices_and_threads_do_not_show() {
        let mut random = Random::new(8);
        let text: Vec<u8> = (0..560_000).map(|_| random.pick(b"abcAB_ \r\n")).collect();
        let words: Vec<u8> = (0..12)
            .flat_map(|_| {
                let len = 1 + random.below(7);
                (0..=len).map(|at| if at == len { b'\n' } else { random.pick(b"abc") }).collect::<Vec<u8>>()
            })
            .collect();
        let here = folder();
        fs::write(here.path().join("long.txt"), &text).unwrap();
        fs::write(here.path().join("words.txt"), &words).unwrap();
        for options in [
            "-n",
            "-nw",
            "-nx",
            "--prefix",
            "-on",
            "-oiw",
            "-io",
            "-vc",
            "--count-by-pattern",
            "-ixc",
            "-om9",
        ] {
            let of = |more: &[&str]| {
                run(here.path(), &[&["grep", "-F", options, "-f", "words.txt", "long.txt"], more].concat())
            };
            let expected = of(&["--device", "plain"]);
            assert_eq!(expected.code, Some(0), "{options}");
            assert!(!expected.stdout.is_empty(), "{options}");
            assert!(of(&["-t", "1"]).stdout == expected.stdout, "{options}");
            assert!(of(&["-t", "4"]).stdout == expected.stdout, "{options}");
        }
    }
}
