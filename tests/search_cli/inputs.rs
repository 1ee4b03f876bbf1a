//! Inputs and outputs of every kind.

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
