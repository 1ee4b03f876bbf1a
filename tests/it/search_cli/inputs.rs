//! Tests inputs and outputs of every kind.

use super::*;

#[test]
fn stdin_is_a_dash() {
    let folder = folder(&[]);
    let mut command = command(folder.path());
    command.args(["search", "TTAGCCATGG", "-"]).write_stdin(TEXT);
    assert_eq!(finish(&mut command).text(), found(&["TTAGCCATGG", "t.fa"]));
}

#[test]
fn gzip_and_fastq() {
    let reads = data("illumina_chr22.fq.gz");
    let folder = folder(&[]);
    let packed = folder.run(&["search", "-k1", "GATTACA", reads.to_str().unwrap()]).text().to_string();
    let mut reader = needletail::parse_fastx_file(&reads).unwrap();
    let (mut plain, mut texts) = (Vec::new(), 0);
    while let Some(record) = reader.next() {
        record.unwrap().write(&mut plain, None).unwrap();
        texts += 1;
    }
    let mut command = command(folder.path());
    command.args(["search", "-k1", "GATTACA", "-"]).write_stdin(plain);
    assert_eq!(finish(&mut command).text(), packed);
    assert!(texts == 300 && packed.lines().count() > 10, "{packed}");
}

#[test]
fn an_output_file_appears_whole() {
    let folder = folder(&[("t.fa", TEXT)]);
    let outcome = folder.run(&["search", "TTAGCCATGG", "t.fa", "-o", "out", "-q"]);
    assert_eq!((outcome.text(), outcome.stderr.as_str()), ("", ""));
    let written = folder.text("out");
    assert_eq!(written, found(&["TTAGCCATGG", "t.fa"]));
    assert_eq!(folder.names().len(), 2);
}

#[test]
fn a_closed_pipe_is_success() {
    let folder = folder(&[("t.fa", &[b">t\n".as_slice(), &[b'A'; 300_000], b"\n"].concat())]);
    let mut child = std::process::Command::new(program())
        .args(["search", "--all", "AAAA", "t.fa"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The header of SAM comes from a first pass over the texts. Pipes hold the command between the passes.
#[cfg(target_os = "linux")]
#[test]
fn a_text_that_changes_between_two_passes() {
    for is_replaced in [false, true] {
        let folder = folder(&[("t.fa", TEXT), ("new.fa", PATTERNS)]);
        for pipe in ["out", "summary"] {
            assert!(std::process::Command::new("mkfifo").arg(folder.file(pipe)).status().unwrap().success());
        }
        let child = std::process::Command::new(program())
            .args(["search", "--format", "sam", "-o", "out", "--summary", "summary", "TTAGCCATGG", "t.fa"])
            .current_dir(folder.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The command opens the output after the first pass, and the summary before the second pass.
        let mut out = fs::File::open(folder.file("out")).unwrap();
        if is_replaced {
            fs::rename(folder.file("new.fa"), folder.file("t.fa")).unwrap();
        }
        let summary = fs::File::open(folder.file("summary")).unwrap();
        let mut text = String::new();
        out.read_to_string(&mut text).unwrap();
        let output = child.wait_with_output().unwrap();
        drop(summary);
        let stderr = String::from_utf8(output.stderr).unwrap();
        match is_replaced {
            true => {
                assert_eq!(output.status.code(), Some(1), "{stderr}");
                assert!(stderr.contains("t.fa: the file changed"), "{stderr}");
            }
            false => {
                assert_eq!(output.status.code(), Some(0), "{stderr}");
                assert!(text.contains("\tchr1\t9\t"), "{text}");
            }
        }
    }
}
