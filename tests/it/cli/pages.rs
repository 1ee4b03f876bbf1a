//! Shell completions and manual pages.

use super::*;

/// Names of hidden options and subcommands.
const HIDDEN: [&str; 2] = ["checked-shaders", "man-pages"];

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run_here(&["completions", shell]).text().to_string();
        for word in ["search", "completions", "max-hits", "pam", "count-by-pattern"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        assert!(HIDDEN.iter().all(|word| !script.contains(word)), "{shell}");
    }
    run_here(&["completions", "csh"]).said(2, &["csh", "bash"]);
    run_here(&["completions"]).said(2, &["Usage: swalign completions SHELL"]);
}

/// Completions that bash offers for a command line whose last word is incomplete.
#[cfg(target_os = "linux")]
fn offered(line: &str) -> Vec<String> {
    let words = format!("COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))");
    let asked = "_swalign swalign \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"";
    let script =
        format!("source <(\"$0\" completions bash); {words}; {asked}; printf '%s\\n' \"${{COMPREPLY[@]}}\"");
    let mut bash = assert_cmd::Command::new("bash");
    let outcome = finish(bash.args(["-c", &script]).arg(program()));
    outcome.text().lines().map(str::to_string).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn bash_completes() {
    assert_eq!(offered("swalign sear"), ["search"]);
    assert_eq!(offered("swalign comp"), ["completions"]);
    assert_eq!(offered("swalign search --summ"), ["--summary"]);
    assert_eq!(offered("swalign --preset bl"), ["blastn"]);
    assert_eq!(offered("swalign completions z"), ["zsh"]);
    let options = offered("swalign grep --");
    assert!(options.contains(&"--word-regexp".to_string()), "{options:?}");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new();
    for name in ["a/man", "b"] {
        folder.run(&["man-pages", name]).ended(0);
    }
    let listed = |name: &str| -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(folder.file(name)).unwrap().map(|entry| entry.unwrap());
        entries
            .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
            .collect()
    };
    let pages = listed("a/man");
    assert_eq!(pages, listed("b"), "the same pages each time");
    let names: Vec<&str> = pages.keys().map(String::as_str).collect();
    let expected = [
        "-all",
        "-audit",
        "-completions",
        "-dedup",
        "-devices",
        "-grep",
        "-index",
        "-merge",
        "-pairs",
        "-search",
        "",
    ];
    assert_eq!(names, expected.map(|name| format!("swalign{name}.1")));
    for (name, page) in &pages {
        let page = std::str::from_utf8(page).unwrap();
        assert!(page.contains(".SH NAME") && page.contains(env!("CARGO_PKG_VERSION")), "{name}");
        assert!(HIDDEN.iter().all(|word| !page.replace('\\', "").contains(word)), "{name}");
        // The page has each option of the help.
        let command = name.trim_end_matches(".1").strip_prefix("swalign-").unwrap_or("");
        let help = [command, "--help"].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>();
        let help = run_here(&help).text().to_string();
        let options = help.lines().filter_map(|line| line.trim_start().strip_prefix('-'));
        let named = options.filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")));
        for option in named.map(|option| option.split(['=', '[']).next().unwrap_or_default()) {
            assert!(page.replace('\\', "").contains(option), "{name}: {option}");
        }
    }
    fs::write(folder.file("file"), "").unwrap();
    folder.run(&["man-pages", "file"]).said(1, &["file"]);
}
