// Command lines whose output must have the same bytes in a page, in Node.js and in the command.

import { readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { gunzipSync, gzipSync } from "node:zlib";

const root = new URL("../../", import.meta.url);
const bytes = (path) => readFileSync(new URL(path, root));

/** The first records of a FASTA file. */
function records(path, count) {
  const text = bytes(path).toString("latin1");
  return text.split(/^(?=>)/m).slice(0, count).join("");
}

/** The first reads of a FASTQ file, compressed again. */
function reads(path, count) {
  const lines = gunzipSync(bytes(path)).toString("latin1").split("\n");
  return gzipSync(lines.slice(0, 4 * count).join("\n") + "\n");
}

// Few enough sequences for an engine that is compiled as fast as possible.
const whole = ["sars2.fa", "artic_v3_primers.fa", "proteins_20.fa"];
const data = {
  ...Object.fromEntries(whole.map((name) => [name, bytes(`data/${name}`)])),
  "ont_sars2.fq.gz": reads("data/ont_sars2.fq.gz", 5),
  "mates_1.fq.gz": reads("data/mates_1.fq.gz", 100),
  "mates_2.fq.gz": reads("data/mates_2.fq.gz", 100),
  "uniprot_60.fa": records("data/uniprot_60.fa", 20),
  "16s_20.fa": records("data/16s_20.fa", 4),
};
const PAIRS = 200;
const oracle = (name) => ({
  [`${name}.q.fa`]: records(`tests/golden/${name}.q.fa`, PAIRS),
  [`${name}.t.fa`]: records(`tests/golden/${name}.t.fa`, PAIRS),
});
// SwiftShader computes on the CPU, and takes seconds to compile each kernel.
const FEW = 8;
const few = {
  "few.q.fa": records("tests/golden/dna_pairs.q.fa", FEW),
  "few.t.fa": records("tests/golden/dna_pairs.t.fa", FEW),
  "primers.fa": records("data/artic_v3_primers.fa", 2),
};
const files = { ...data, ...few, ...oracle("dna_pairs"), ...oracle("protein_pairs"), "empty.fa": "", "text.txt": "no sequences\n" };

const lines = [
  // The oracle's pairs.
  "pairs dna_pairs.q.fa dna_pairs.t.fa",
  "pairs --format=json --both-strands dna_pairs.q.fa dna_pairs.t.fa",
  "pairs --mode=global --format=paf dna_pairs.q.fa dna_pairs.t.fa",
  "pairs --format=tab protein_pairs.q.fa protein_pairs.t.fa",
  "pairs --mode=glocal --format=json protein_pairs.q.fa protein_pairs.t.fa",
  // The examples, in all formats of the page.
  ...["sam", "paf", "tab", "json", "text"].map((format) => `-x map-ont --format=${format} ont_sars2.fq.gz sars2.fa`),
  ...["tab", "bed", "sam", "text"].map((format) => `search -k 3 --format=${format} -f artic_v3_primers.fa sars2.fa`),
  "search -k 6 --no-indels --pam=NGG -f artic_v3_primers.fa sars2.fa",
  "search -k 2 --amplicons --format=fasta -f artic_v3_primers.fa sars2.fa",
  "--format=tab uniprot_60.fa proteins_20.fa",
  "--format=bam -x short mates_1.fq.gz mates_2.fq.gz sars2.fa",
  "--mode=overlap --format=paf 16s_20.fa 16s_20.fa",
  "--filter none --format=tab --max-hits 5 16s_20.fa 16s_20.fa",
];

// As many as SwiftShader has time for.
const gpuLines = ["pairs few.q.fa few.t.fa", "search -k 3 -f primers.fa sars2.fa"];
const moreGpuLines = ["pairs --mode=global --format=json few.q.fa few.t.fa", "pairs --format=tab protein_pairs.q.fa protein_pairs.t.fa"];

/** A command line with the files that it needs. */
function testCase(line) {
  const words = line.split(" ");
  return { line, words, files: Object.fromEntries(words.filter((word) => word in files).map((word) => [word, files[word]])) };
}

export const cases = lines.map(testCase);
export const gpuCases = (process.env.SWALIGN_ALL_CASES ? [...gpuLines, ...moreGpuLines] : gpuLines).map(testCase);

/** Command lines that fail, and the text of their errors. */
export const failures = [
  ["text.txt sars2.fa", "neither FASTA nor FASTQ"],
  ["no.fa sars2.fa", "no.fa"],
  ["--mode=sideways sars2.fa sars2.fa", "sideways"],
  ["grep -e ACGT sars2.fa", "not available in a web page"],
].map(([line, says]) => ({ line, words: line.split(" "), says, files }));

const program = process.env.SWALIGN;
if (!program) throw new Error("set SWALIGN to the command with which the output is compared");

/** The output of the command for the same words and files, which it finds in a folder. */
export function native(words, folder) {
  const options = { cwd: folder, stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 30 };
  return execFileSync(program, words, options);
}

export { files };
