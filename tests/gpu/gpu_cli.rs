//! The command writes the same output on a GPU as on the CPU.

use crate::common::command::{Outcome, run_here};
use crate::common::devices::{gpu_device, test_adapter, test_gpu};
use crate::common::{bam::records, data, folder::Folder, random::Random};
use swalign::terms::alphabet::Alphabet;

fn on(device: &str, args: &[&str]) -> Outcome {
    let mut all = vec!["--device", device];
    all.extend(args);
    run_here(&all)
}

fn same_bytes(args: &[&str], ways: &[&[&str]]) {
    let expected = on("cpu", args).without_pg();
    let gpu = gpu_device();
    for way in ways {
        let args = [way, args].concat();
        assert!(on(&gpu, &args).without_pg() == expected, "{args:?} gives other bytes on {gpu}");
    }
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn illumina() {
    same_bytes(&["data/illumina_chr22.fq.gz", "data/chr22_12k.fa"], &[&[], &["--batch", "7", "-t", "5"]]);
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn each_mode() {
    for mode in ["glocal", "global", "overlap"] {
        same_bytes(&["--mode", mode, "data/amplicon_16s.fq.gz", "data/16s_20.fa"], &[&[]]);
        same_bytes(&["--mode", mode, "--format", "tab", "data/proteins_20.fa", "data/uniprot_60.fa"], &[&[]]);
    }
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn each_format() {
    let gpu = gpu_device();
    for format in ["bam", "paf"] {
        let bytes = |device: &str, way: &[&str]| {
            let args = ["--format", format, "data/illumina_chr22.fq.gz", "data/chr22_12k.fa"];
            let stdout = on(device, &[way, &args].concat()).done();
            if format == "bam" { records(&stdout) } else { stdout }
        };
        assert!(bytes(&gpu, &["--batch", "70", "-t", "3"]) == bytes("cpu", &[]), "{format}");
    }
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn lists_of_hits() {
    let gpu = gpu_device();
    let proteins = ["data/proteins_20.fa", "data/uniprot_60.fa"];
    for ways in [
        &["--max-targets", "4", "--ties"][..],
        &["--rank", "evalue", "--max-hsps", "3", "--min-coverage", "20"],
    ] {
        let table = |device: &str| on(device, &[&["--format", "tab"], ways, &proteins].concat()).done();
        assert!(table(&gpu) == table("cpu"), "{ways:?}");
    }
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn all_against_all() {
    let gpu = gpu_device();
    for format in
        [&["--evalue", "1"][..], &["--format", "matrix"], &["--format", "matrix", "--values", "identity"]]
    {
        let bytes = |device: &str| {
            run_here(&[&["all", "-q", "--device", device], format, &["data/uniprot_60.fa"]].concat()).done()
        };
        assert!(bytes(&gpu) == bytes("cpu"), "{format:?}");
    }
}

/// Operations without GPU kernels for a mode run on the CPU.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn other_modes() {
    let args = ["--mode", "glocal", "--max-hits", "3", "data/amplicon_16s.fq.gz", "data/16s_20.fa"];
    same_bytes(&args, &[&[]]);
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn ont() {
    let args = ["--preset", "long", "--max-hits", "3", "data/ont_sars2.fq.gz", "data/sars2.fa"];
    same_bytes(&args, &[&[], &["--batch", "1", "-t", "1"]]);
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn amplicons() {
    same_bytes(
        &["--max-hits", "20", "data/amplicon_16s.fq.gz", "data/16s_20.fa"],
        &[&[], &["--batch", "1000", "-t", "2"]],
    );
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn circles() {
    same_bytes(&["--preset", "long", "--circular", "all", "data/mt_orang.fa", "data/mt_human.fa"], &[&[]]);
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn primers() {
    same_bytes(
        &["--min-score", "15", "--max-hits", "3", "data/artic_v3_primers.fa", "data/sars2.fa"],
        &[&[]],
    );
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn proteins() {
    same_bytes(&["--max-hits", "5", "data/proteins_20.fa", "data/uniprot_60.fa"], &[&[], &["--batch", "3"]]);
}

/// In repeats, reads have many windows, which the GPU finds by the positions of a sampled index.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn sampled_indexes() {
    let mut random = Random::new(3);
    let repeat = random.codes(500, 4);
    let mut genome = random.codes(3000, 4);
    for _ in 0..60 {
        genome.extend(random.mutated_codes(&repeat, 4, 60));
        genome.extend(random.codes(200, 4));
    }
    let text =
        |codes: &[u8]| -> String { codes.iter().map(|&code| ['A', 'C', 'G', 'T'][code as usize]).collect() };
    let mut reads = String::new();
    for number in 0..400 {
        let at = random.below(genome.len() - 150);
        let read = random.mutated_codes(&genome[at..at + 150], 4, 50);
        reads += &format!(">pair{}\n{}\n", number / 2, text(&read));
    }
    let folder = Folder::new();
    folder.write("genome.fa", format!(">genome\n{}\n", text(&genome)));
    folder.write("reads.fa", reads);
    let [reads, genome] =
        ["reads.fa", "genome.fa"].map(|name| folder.file(name).to_str().unwrap().to_string());
    let sampled = ["--sampled-kmers", "9,6", "--batch", "40", "-t", "1"];
    for options in [&["-x", "sr"][..], &["--max-hits", "4"], &["-x", "sr", "--interleaved"]] {
        same_bytes(&[&sampled, options, &[&reads, &genome]].concat(), &[&[]]);
    }
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn audits() {
    let folder = Folder::new();
    let mapper = folder.file("mapper.sam").to_str().unwrap().to_string();
    let reads = ["data/illumina_chr22.fq.gz", "data/chr22_12k.fa"];
    on("cpu", &[&["--match", "1", "--mismatch", "9", "-o", &mapper], &reads[..]].concat()).ended(0);
    let rows = |device: &str| {
        let args = ["audit", "-x", "short", "--every", "--device", device, &mapper, reads[1]];
        run_here(&args).done()
    };
    let expected = rows("cpu");
    assert!(expected.iter().filter(|&&byte| byte == b'\n').count() > 100);
    assert!(rows(&gpu_device()) == expected);
}

/// A run on a GPU verifies a stored index before it sends its positions to the device.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn damaged_indexes_are_errors() {
    let (mut random, folder) = (Random::new(4), Folder::new());
    let genome = random.text(Alphabet::Dna, 30_000);
    folder.write("genome.fa", format!(">genome\n{genome}\n"));
    folder.write("reads.fa", format!(">read\n{}\n", &genome[4000..4150]));
    folder.line("index -q --sampled-kmers 8,3 -o genome.swdb genome.fa").ended(0);
    let [reads, genome] =
        ["reads.fa", "genome.swdb"].map(|name| folder.file(name).to_str().unwrap().to_string());
    let args = ["-q", "-x", "sr", "--sampled-kmers", "8,3", &reads, &genome];
    on(&gpu_device(), &args).ended(0);
    // The positions of the k-mers are stored last.
    let mut bytes = folder.read("genome.swdb");
    let at = bytes.len() - 100;
    bytes[at] ^= 1;
    folder.write("genome.swdb", &bytes);
    on(&gpu_device(), &args).said(1, &["genome.swdb", "section 8 is damaged"]);
}

/// The first of two parts of a single reference is empty, so the device has no work.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn parts_of_references() {
    let joined = |device: &str, args: &[&str]| {
        let folder = Folder::new();
        let [one, other] = ["1", "2"].map(|number| {
            let name = folder.file(number).to_str().unwrap().to_string();
            on(device, &[&["--ref-part", &format!("{number}/2"), "-o", &name], args].concat()).ended(0);
            name
        });
        run_here(&["merge", "-q", "-", &one, &other]).without_pg()
    };
    for args in [
        &["--max-hits", "2", "data/amplicon_16s.fq.gz", "data/16s_20.fa"][..],
        &["data/artic_v3_primers.fa", "data/sars2.fa"],
    ] {
        assert!(joined(&gpu_device(), args) == joined("cpu", args), "{args:?}");
    }
}

/// Primers: searches that the device does, and searches that it leaves to the CPU.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn searches() {
    let files = ["-f", "data/artic_v3_primers.fa", "data/sars2.fa", "data/ont_sars2.fq.gz"];
    for args in [
        &["-k", "3"][..],
        &["-k", "2", "--all"],
        &["-k", "2", "--no-indels"],
        &["-k", "4", "-v"],
        &["-k", "4", "--pam", "NG"],
        &["-k", "4", "--pam", "NG", "--pam-side", "5", "--max-gaps", "1"],
        &["-k", "20%", "--pam", "N", "--all"],
        &["-k", "0"],
        &["-k", "0", "--pam", "NG", "--all"],
    ] {
        let on = |device: &str| run_here(&[&["search", "--device", device], args, &files].concat());
        assert!(on(&gpu_device()).without_pg() == on("cpu").without_pg(), "{args:?}");
    }
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn mitochondria_as_a_pair() {
    let pair = |device: &str| {
        run_here(&["pairs", "--device", device, "data/mt_human.fa", "data/mt_orang.fa"]).without_pg()
    };
    assert!(pair(&gpu_device()) == pair("cpu"));
}

/// Noisy reads, whose bands are as wide as the matrix. Some matrices are filled as a whole and some in blocks,
/// alternately, and many of them concurrently.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn noisy_reads_of_many_lengths() {
    let mut random = Random::new(41);
    let (mut queries, mut targets) = (Vec::new(), Vec::new());
    for (number, len) in [300, 2300, 900, 2049, 3100, 1500].into_iter().cycle().take(18).enumerate() {
        let target = random.sequence(Alphabet::Dna, len);
        let query = random.mutated(Alphabet::Dna, &target, 8);
        for (file, letters) in [(&mut queries, query), (&mut targets, target)] {
            file.extend([format!(">{number}\n").as_bytes(), &letters, b"\n"].concat());
        }
    }
    let folder = Folder::new();
    folder.write("q.fa", queries);
    folder.write("t.fa", targets);
    let pairs = |device: &str| folder.run(&["pairs", "--device", device, "q.fa", "t.fa"]).without_pg();
    assert!(pairs(&gpu_device()) == pairs("cpu"));
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn the_adapter_is_listed_and_named() {
    let listed = run_here(&["devices"]);
    listed.ended(0);
    let name = test_adapter();
    assert!(
        String::from_utf8(listed.stdout).unwrap().to_lowercase().contains(&name.to_lowercase()),
        "{name} is not listed"
    );
    let run = on(&gpu_device(), &["data/proteins_20.fa", "data/uniprot_60.fa"]);
    assert!(run.stderr.to_lowercase().contains(&name.to_lowercase()), "{}", run.stderr);
}

/// The device listed as the default is used if no device is named. It is never a software adapter.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn the_default_is_no_software_adapter() {
    let listed = String::from_utf8(run_here(&["devices"]).stdout).unwrap();
    let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split('\t').collect()).collect();
    let remark = |row: &Vec<&str>| row[row.len() - 1].to_string();
    let defaults: Vec<&Vec<&str>> = rows[1..].iter().filter(|row| remark(row) == "default").collect();
    assert_eq!(defaults.len(), 1, "{listed}");
    let inputs = ["-t", "2", "data/proteins_20.fa", "data/uniprot_60.fa"];
    let (auto, gpu) = (on("auto", &inputs), on("gpu", &inputs));
    auto.ended(0);
    if defaults[0][0] == "cpu" {
        assert!(rows[1..rows.len() - 1].iter().all(|row| remark(row).starts_with("software")), "{listed}");
        assert!(auto.stderr.contains("using CPU (2 threads, "), "{}", auto.stderr);
        gpu.said(1, &["GPU", "software"]);
    } else {
        let using = format!("using GPU {}", defaults[0][1]);
        assert!(gpu.stderr.contains(&using), "{}", gpu.stderr);
    }
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn a_gpu_is_taken_once() {
    let name = test_adapter();
    let twice = on(&format!("gpu:{name},{name}"), &["data/proteins_20.fa", "data/uniprot_60.fa"]);
    twice.said(1, &["adapter", &format!("'{name}'"), "each", "once"]);
    assert!(twice.stdout.is_empty());
}

/// `--device all` uses all hardware GPUs. It is an error if there are only software adapters.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn all_gpus_are_no_software_adapters() {
    let listed = String::from_utf8(run_here(&["devices"]).stdout).unwrap();
    let run = on("all", &["data/proteins_20.fa", "data/uniprot_60.fa"]);
    match listed.lines().any(|line| line.starts_with("cpu") && line.ends_with("default")) {
        true => run.said(1, &["GPU", "software"]),
        false => run.ended(0),
    }
}

/// An adapter with a reduced profile gives the same output. An unknown profile is treated as part of the name.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn an_adapter_cut_down_is_the_same_adapter() {
    let name = test_adapter();
    let inputs = ["data/proteins_20.fa", "data/uniprot_60.fa"];
    let expected = on("cpu", &inputs).without_pg();
    for profile in ["webgpu", "apple"] {
        let cut = on(&format!("gpu:{name}/{profile}"), &inputs);
        assert!(cut.without_pg() == expected, "{profile}");
    }
    // Proteins, genes and a genome, processed in pieces.
    let tab = ["--format", "tab", "--max-hsps", "3"];
    let genes = ["--max-hits", "3", "data/amplicon_16s.fq.gz", "data/16s_20.fa"];
    let genome = ["--preset", "long", "data/mt_human.fa", "data/mt_orang.fa"];
    for args in [&[&tab[..], &inputs[..]].concat()[..], &genes, &genome] {
        let expected = on("cpu", args).without_pg();
        let outcome = on(&format!("gpu:{name}/pieces"), args);
        assert!(outcome.without_pg() == expected, "{args:?}");
        assert!(outcome.stderr.contains("in pieces"), "{}", outcome.stderr);
    }
    on(&format!("gpu:{name}/nosuch"), &inputs).said(1, &["no adapter is named", "nosuch"]);
}

/// The library's interface finds the same hits on the device as on the CPU.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn the_front_door_on_a_gpu() {
    use swalign::{Aligner, Device, Scoring, Searcher, Targets};

    let targets = Targets::from_fasta(data("sars2.fa")).unwrap();
    let letters = std::fs::read(data("sars2.fa")).unwrap();
    let letters: Vec<u8> =
        letters.into_iter().skip_while(|&byte| byte != b'\n').filter(u8::is_ascii_alphabetic).collect();
    let queries: Vec<&[u8]> = (0..200).map(|number| &letters[number * 140..number * 140 + 150]).collect();
    let hits = |device, filter| -> Vec<_> {
        let builder = Aligner::builder(Scoring::dna(1, 4, 6, 1)).device(device).filter(filter).max_hits(3);
        let aligner = builder.build(&targets).unwrap();
        aligner.align_all(&queries).map(Result::unwrap).collect()
    };
    let expected = hits(Device::Cpu, false);
    assert!(expected.iter().all(|hits| hits[0].score() == 150));
    for filter in [true, false] {
        assert_eq!(hits(Device::GpuNamed(test_gpu()), filter), expected);
    }
    let matches = |device| {
        let patterns = queries.iter().step_by(20).map(|query| ("read", &query[..25]));
        let searcher = Searcher::builder(patterns).device(device).max_edits(3).build().unwrap();
        searcher.search_all([&letters[..9000], &letters[9000..]]).map(Result::unwrap).collect::<Vec<_>>()
    };
    let expected = matches(Device::Cpu);
    assert!(expected.iter().all(|found| found.iter().any(|one| one.edits() == 0)));
    assert_eq!(matches(Device::GpuNamed(test_gpu())), expected);
}
