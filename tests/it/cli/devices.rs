//! Selection of devices, and messages if there is no device.

use super::*;

/// Runs a command without a Vulkan driver.
fn without_driver(folder: &Path, args: &[&str]) -> Outcome {
    granted(None, folder, args)
}

/// The same, with CUDA_VISIBLE_DEVICES set to `cards`.
fn granted(cards: Option<&str>, folder: &Path, args: &[&str]) -> Outcome {
    let mut command = command(folder);
    for variable in ["CUDA_VISIBLE_DEVICES", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS"] {
        command.env_remove(variable);
    }
    command
        .envs(cards.map(|cards| ("CUDA_VISIBLE_DEVICES", cards)))
        .env("VK_DRIVER_FILES", "/nonexistent")
        .env("VK_ICD_FILENAMES", "/nonexistent")
        .env("WGPU_BACKEND", "vulkan");
    finish(command.args(args).write_stdin(QUERY))
}

#[test]
fn a_device_that_is_missing_is_an_error() {
    refused_options(&["--device", "gpu:nosuchcard"], 1, &["nosuchcard"]);
    refused_options(&["--device", "gpu:99"], 1, &["99"]);
    refused_options(&["--device", "cpu:vax"], 1, &["'vax'", "baseline"]);
    refused_options(&["--device", "nosuch"], 2, &["--device"]);
}

#[test]
fn no_driver() {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
    let auto = |query: &str| {
        let args = ["--device", "auto", "--min-score", "10", query, "ref.fa"];
        let outcome = without_driver(folder.path(), &args);
        assert_eq!(outcome.without_pg(), baseline().without_pg());
        outcome.stderr
    };
    let little = auto("q.fa");
    assert!(little.contains("using CPU") && little.contains("too little work"), "{little}");
    // The size of stdin is unknown, even if there is a file named `-`.
    for _ in 0..2 {
        let piped = auto("-");
        assert!(piped.contains("using CPU") && piped.contains("no GPU was found"), "{piped}");
        folder.write("-", QUERY);
    }
    let gpu = without_driver(folder.path(), &["--device", "gpu", "-o", "out.sam", "q.fa", "ref.fa"]);
    gpu.said(1, &["GPU", "cpu"]);
    assert!(!folder.file("out.sam").exists());
    let listed = without_driver(folder.path(), &["devices"]);
    listed.ended(0);
}

/// Mesa's drivers, if there are any, complain if this variable is not set.
#[test]
fn drivers_say_nothing_of_a_display() {
    for folder in [None, Some("relative")] {
        let mut command = command(&crate::common::repository());
        command.env_remove("XDG_RUNTIME_DIR").envs(folder.map(|folder| ("XDG_RUNTIME_DIR", folder)));
        let outcome = finish(command.args(["devices"]));
        assert!(outcome.code == Some(0) && !outcome.stderr.contains("XDG_RUNTIME_DIR"), "{}", outcome.stderr);
    }
}

#[test]
fn a_card_that_was_granted_is_not_done_without() {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
    let auto = |cards, query| {
        let args = ["--device", "auto", "--min-score", "10", "-o", "out.sam", query, "ref.fa"];
        let outcome = granted(Some(cards), folder.path(), &args);
        assert_eq!(folder.file("out.sam").exists(), outcome.code == Some(0), "{}", outcome.stderr);
        let _ = fs::remove_file(folder.file("out.sam"));
        (outcome.code, outcome.stderr)
    };
    let (code, said) = auto("0", "-");
    assert_eq!(code, Some(1), "{said}");
    let nouns = ["error", "CUDA_VISIBLE_DEVICES=0", "GPU number 0", "no NVIDIA GPU", "--device cpu"];
    assert!(nouns.iter().all(|noun| said.contains(noun)), "{said}");
    assert_eq!(auto("0", "q.fa").0, Some(0), "too little for any card");
    for none in ["", "-1"] {
        assert_eq!(auto(none, "-").0, Some(0), "'{none}'");
    }
}

/// Most tests use the widest vectors. This test compares the output of all other instruction sets.
#[test]
fn instruction_sets() {
    let on = |device: &str| {
        run_here(&["--device", device, "--max-hits", "5", "data/proteins_20.fa", "data/uniprot_60.fa"])
    };
    let expected = on("plain");
    expected.ended(0);
    for set in InstructionSet::available() {
        let device = format!("cpu:{set}");
        let outcome = on(&device);
        assert!(outcome.stderr.contains(&format!(", {set})")), "{}", outcome.stderr);
        assert!(outcome.without_pg() == expected.without_pg(), "{device} gives other bytes");
    }
}

#[test]
fn the_filter() {
    let sets: [&[&str]; 4] = [
        &["data/illumina_chr22.fq.gz", "data/chr22_12k.fa"],
        &["--max-hits", "20", "--forward-only", "data/amplicon_16s.fq.gz", "data/16s_20.fa"],
        &["--min-score", "12", "--max-hits", "5", "data/artic_v3_primers.fa", "data/sars2.fa"],
        &["--secondary-ratio", "0.6", "--max-hits", "3", "data/illumina_chr22.fq.gz", "data/chr22_12k.fa"],
    ];
    for inputs in sets {
        let with =
            |filter: &str| run_here(&[&["-v", "--device", "cpu", "--filter", filter], inputs].concat());
        let expected = with("none");
        expected.ended(0);
        assert!(!expected.stderr.contains("searched in full"), "{}", expected.stderr);
        for filter in ["auto", "bitap"] {
            let found = with(filter);
            assert!(found.stderr.contains("searched in full"), "{}", found.stderr);
            assert!(found.without_pg() == expected.without_pg(), "{inputs:?}: {filter} gives other bytes");
        }
    }
    refused_options(&["--filter", "some"], 2, &["'some'", "--filter"]);
}

#[test]
fn devices_are_listed() {
    let outcome = run_here(&["devices"]);
    outcome.ended(0);
    let listed = String::from_utf8(outcome.stdout).unwrap();
    assert!(listed.starts_with("index\tname\tbackend\t") && listed.contains("\ncpu\t"), "{listed}");
    let json = run_here(&["devices", "--json"]);
    json.ended(0);
    let json = String::from_utf8(json.stdout).unwrap();
    assert!(json.starts_with("[\n  {\"device\": \"") && json.ends_with("}\n]\n"), "{json}");
    assert_eq!(json.matches("{\"device\": ").count(), listed.lines().count() - 1, "{json}");
}
