//! The commands of the pages run, and print the samples that the pages show.
//!
//! A block of a page that is marked `sh` is run as a script. The blocks of a page are run in one folder, in their order, since
//! later blocks use the files of earlier blocks. Commands in the cells of tables are run as well. A block marked `text` that
//! follows is a sample of stdout: a line `...` stands for any number of lines, and ` ...` at the end of a line for the rest of
//! the line. Blocks with other marks are not run (`bash`) and not compared (`txt`: output that depends on other programs).
//!
//! When output has changed, write the samples anew, cut as before: `SWALIGN_WRITE_DOCS=1 cargo test --test it docs`.

use crate::common::command::{command, finish};
use crate::common::{folder::Folder, repository};
use std::path::{Path, PathBuf};

/// A script of a page, with the line that it begins in, and the sample of its output.
pub struct Script {
    pub page: String,
    line: usize,
    pub text: String,
    sample: Option<String>,
}

/// Pages whose commands are run.
fn pages() -> Vec<PathBuf> {
    let docs = repository().join("docs");
    let mut pages = vec![repository().join("README.md")];
    pages.extend(["index.md", "install.md", "gallery.md"].map(|name| docs.join(name)));
    let guides = std::fs::read_dir(docs.join("guide")).unwrap().map(|entry| entry.unwrap().path());
    pages.extend(guides.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    pages.sort();
    pages
}

/// The scripts of a page, in its order.
fn scripts_of(path: &Path) -> Vec<Script> {
    let page = path.strip_prefix(repository()).unwrap().display().to_string();
    let text = std::fs::read_to_string(path).unwrap();
    let mut scripts: Vec<Script> = Vec::new();
    let mut lines = text.lines().enumerate();
    // Whether the block before is a script.
    let mut follows_script = false;
    while let Some((number, line)) = lines.next() {
        if let Some(mark) = line.strip_prefix("```") {
            let block = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
            let block = block.collect::<Vec<_>>().join("\n");
            let is_script = mark == "sh";
            if mark == "text" && follows_script {
                scripts.last_mut().unwrap().sample = Some(block);
            } else if is_script {
                scripts.push(Script { page: page.clone(), line: number + 2, text: block, sample: None });
            }
            follows_script = is_script;
        } else if let Some((_, cell)) = line.split_once("| `swalign ").filter(|_| line.starts_with("| ")) {
            let text = format!("swalign {}", cell.split_once("` |").expect("one command in a cell").0);
            scripts.push(Script { page: page.clone(), line: number + 1, text, sample: None });
        } else if !line.is_empty() {
            follows_script = false;
        }
    }
    scripts
}

/// The scripts of all pages.
pub fn scripts() -> Vec<Script> {
    pages().iter().flat_map(|path| scripts_of(path)).collect()
}

/// Whether `printed` is what a sample shows.
fn is_sample(sample: &[&str], printed: &[&str]) -> bool {
    match (sample, printed) {
        ([], printed) => printed.is_empty(),
        (["..."], _) => true,
        (["...", rest @ ..], printed) => {
            (0..=printed.len()).any(|skipped| is_sample(rest, &printed[skipped..]))
        }
        ([_, ..], []) => false,
        ([line, rest @ ..], [first, printed @ ..]) => {
            let equal = match line.strip_suffix(" ...") {
                Some(begin) => first.starts_with(begin),
                // An editor may remove the white space at the end of a line.
                None => first.trim_end() == line.trim_end(),
            };
            equal && is_sample(rest, printed)
        }
    }
}

/// A sample of `printed` that is cut as `old` is: as many lines, and lines of about the same length.
fn new_sample(old: &str, printed: &str) -> String {
    let (old, printed): (Vec<&str>, Vec<&str>) = (old.lines().collect(), printed.lines().collect());
    let is_cut = old.last() == Some(&"...");
    let shown = if is_cut { old.len() - 1 } else { printed.len() };
    let mut lines: Vec<String> = printed.iter().take(shown).map(|line| line.trim_end().to_string()).collect();
    for (line, old) in lines.iter_mut().zip(&old) {
        let len = old.chars().count().saturating_sub(" ...".len());
        if old.ends_with(" ...") && line.chars().count() > len {
            *line = line.chars().take(len).collect::<String>().trim_end().to_string() + " ...";
        }
    }
    if is_cut && printed.len() > shown {
        lines.push("...".to_string());
    }
    lines.join("\n")
}

/// Runs the scripts of a page in a folder of their own. Returns what is wrong, or writes new samples into the page.
#[cfg(unix)]
fn run_page(path: &Path) -> Vec<String> {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    let bin = folder.file("bin");
    std::fs::create_dir(&bin).unwrap();
    symlink(command(&repository()).get_program(), bin.join("swalign")).unwrap();
    for input in ["data", "examples", "README.md"] {
        symlink(repository().join(input), folder.file(input)).unwrap();
    }
    let path_of_programs = std::env::var("PATH").unwrap_or_default();
    let has_samtools = std::env::split_paths(&path_of_programs).any(|place| place.join("samtools").exists());
    let mut wrong = Vec::new();
    for script in scripts_of(path) {
        let place = format!("{}:{}", script.page, script.line);
        if !has_samtools && script.text.contains("samtools") {
            eprintln!("{place}: no samtools here: this block and those after it are SKIPPED");
            break;
        }
        let mut shell = assert_cmd::Command::new("bash");
        shell.current_dir(folder.path()).env("PATH", format!("{}:{path_of_programs}", bin.display()));
        shell.env("LC_ALL", "C").env("COLUMNS", "80");
        // With pipefail, a program whose reader has exited would fail the script.
        let pipes = if script.text.contains(" head -") { "+o" } else { "-o" };
        let outcome = finish(shell.args(["-e", pipes, "pipefail", "-c", &script.text]));
        if outcome.code != Some(0) {
            wrong.push(format!("{place}: {}\n{}", script.text, outcome.stderr));
            continue;
        }
        let text = script.text.replace("\\\n", " ");
        let commands = text.split(['\n', '|']).filter(|command| command.trim_start().starts_with("swalign "));
        for words in commands.map(|command| command.split_whitespace().collect::<Vec<_>>()) {
            for output in words.windows(2).filter(|pair| pair[0] == "-o").map(|pair| pair[1]) {
                if std::fs::metadata(folder.file(output)).map_or(0, |file| file.len()) == 0 {
                    wrong.push(format!("{place}: {}\nwrote no {output}", script.text));
                }
            }
        }
        let printed = String::from_utf8_lossy(&outcome.stdout);
        let printed = printed.trim_end();
        let Some(sample) = &script.sample else { continue };
        if is_sample(&sample.trim_end().lines().collect::<Vec<_>>(), &printed.lines().collect::<Vec<_>>()) {
            continue;
        }
        if std::env::var_os("SWALIGN_WRITE_DOCS").is_some() {
            let (old, new) = (format!("```text\n{sample}\n```"), new_sample(sample, printed));
            let page = std::fs::read_to_string(path).unwrap();
            std::fs::write(path, page.replace(&old, &format!("```text\n{new}\n```"))).unwrap();
        } else {
            wrong.push(format!("{place}: the page shows\n{sample}\nand the command prints (SWALIGN_WRITE_DOCS=1 writes it)\n{printed}"));
        }
    }
    wrong
}

#[cfg(unix)]
#[test]
fn every_command_of_the_pages_runs() {
    let count = scripts().len();
    assert!(count >= 60, "{count} scripts");
    let wrong: Vec<String> = pages().iter().flat_map(|path| run_page(path)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn samples_of_output() {
    let is = |sample: &str, printed: &str| {
        is_sample(&sample.lines().collect::<Vec<_>>(), &printed.lines().collect::<Vec<_>>())
    };
    assert!(
        is("a\nb", "a\nb")
            && is("a\n...", "a\nb\nc")
            && is("a\n...\nc", "a\nb\nb\nc")
            && is("a b ...", "a b c")
    );
    assert!(is("...", "") && is("", "") && is("a\n...", "a"));
    assert_eq!(new_sample("a b ...\nc\n...", "A B C\nD\nE"), "A B ...\nD\n...");
    assert_eq!(new_sample("a\nb", "A\nB\nC"), "A\nB\nC");
    assert!(!is("a", "a\nb") && !is("a\nb", "a") && !is("a\n...\nc", "a\nb") && !is("a b ...", "a c"));
}
