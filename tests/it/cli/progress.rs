//! The progress line in a pseudo-terminal.

use super::*;

/// There is no progress line if stderr is not a terminal.
#[test]
fn without_a_terminal_there_is_no_progress_line() {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
    let outcome = folder.run(&["--device", "cpu", "-o", "out.sam", "q.fa", "ref.fa"]);
    outcome.ended(0);
    assert_eq!(outcome.stderr.lines().count(), 2, "{}", outcome.stderr);
    assert!(
        !outcome.stderr.contains(['\r', '\x1b']) && !outcome.stderr.contains("aligning"),
        "{}",
        outcome.stderr
    );
}

/// Runs a shell command line in a pseudo-terminal until its output is `enough`, and returns the output.
#[cfg(target_os = "linux")]
fn on_a_terminal(folder: &Path, line: &str, enough: impl Fn(&str) -> bool) -> String {
    use std::sync::mpsc::channel;
    use std::time::{Duration, Instant};

    let mut script = std::process::Command::new("script")
        .args(["-qefc", line, "/dev/null"])
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script of util-linux");
    let mut output = script.stdout.take().unwrap();
    let (sender, pieces) = channel();
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(len @ 1..) = output.read(&mut piece) {
            let _ = sender.send(piece[..len].to_vec());
        }
    });
    let (mut seen, end) = (Vec::new(), Instant::now() + Duration::from_secs(180));
    while let Ok(piece) = pieces.recv_timeout(end.saturating_duration_since(Instant::now())) {
        seen.extend(piece);
        if enough(&String::from_utf8_lossy(&seen)) {
            break;
        }
    }
    let _ = script.kill();
    let _ = script.wait();
    String::from_utf8_lossy(&seen).into_owned()
}

/// The distinct frames of a stage.
#[cfg(target_os = "linux")]
fn frames<'a>(seen: &'a str, stage: &str) -> std::collections::BTreeSet<&'a str> {
    let frames = seen.split(['\r', '\n']).filter_map(|frame| Some(&frame[frame.find(stage)?..]));
    frames.map(|frame| frame.split('\x1b').next().unwrap_or(frame).trim_end()).collect()
}

#[cfg(target_os = "linux")]
fn lasts(seen: &str, stage: &str) -> bool {
    let frames = frames(seen, stage);
    frames.len() >= 2 && frames.iter().any(|frame| frame.contains("00:") && !frame.contains("00:00:00"))
}

/// The line moves during a single long batch, before any query is done.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs script of util-linux: run scripts/test.sh"]
fn the_line_moves_while_a_batch_is_aligned() {
    let swalign = program().display().to_string();
    let (reads, genome) = (data("ont_sars2.fq.gz"), data("sars2.fa"));
    let folder = folder(&[]);
    let line = |options: &str| {
        let (reads, genome) = (reads.display(), genome.display());
        format!("{swalign} --device plain -t 1 --filter none {options} -o /dev/null {reads} {genome}")
    };
    let seen = on_a_terminal(folder.path(), &line(""), |seen| lasts(seen, "aligning"));
    assert!(lasts(&seen, "aligning"), "{seen}");
    assert!(frames(&seen, "aligning").iter().all(|frame| frame.contains(" %)")), "{seen}");
    let moved = |seen: &str| {
        let frames = frames(seen, "aligning");
        frames.iter().any(|frame| !frame.contains("(0 %)") && frame.contains(" left"))
    };
    let seen = on_a_terminal(folder.path(), &line("--batch 1"), moved);
    assert!(moved(&seen), "{seen}");
}

/// The line moves while a slow input of unknown size is read.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs script of util-linux: run scripts/test.sh"]
fn the_line_moves_while_references_are_read() {
    let swalign = program().display().to_string();
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
    // The input does not end before the test has seen enough.
    let line = format!("(cat ref.fa; sleep 600) | {swalign} --device cpu -o out.sam q.fa -");
    let seen = on_a_terminal(folder.path(), &line, |seen| lasts(seen, "reading references"));
    assert!(lasts(&seen, "reading references"), "{seen}");
    assert!(frames(&seen, "reading references").iter().all(|frame| !frame.contains('%')), "{seen}");
    let line = format!("(cat ref.fa; sleep 600) | {swalign} search -o out.tsv GATTACA -");
    let seen = on_a_terminal(folder.path(), &line, |seen| lasts(seen, "searching"));
    assert!(lasts(&seen, "searching"), "{seen}");
}
