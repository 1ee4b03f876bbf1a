// Alignments and searches as functions of sequences.

import { load, run as runCommand } from "./engine.js";

export { load };

const decoder = new TextDecoder();

/** A fault of the input, the options or the device, as the command reports it. */
export class SwalignError extends Error {
  constructor(messages, code) {
    super(messages.filter((line) => !line.startsWith("using ")).join("\n").replace(/^swalign: error: /, ""));
    this.name = "SwalignError";
    this.code = code;
  }
}

/** Runs the command line `swalign WORDS` on files in memory. */
export async function run(words, files = {}, options = {}) {
  return await runCommand(words, files, options.onProgress);
}

async function text(words, files, options) {
  const result = await run(words, files, options);
  if (result.code !== 0) throw new SwalignError(result.messages, result.code);
  return decoder.decode(result.output);
}

/** FASTA or FASTQ of sequences in any accepted form. */
function file(sequences) {
  if (sequences instanceof Uint8Array) return sequences;
  if (sequences instanceof ArrayBuffer) return new Uint8Array(sequences);
  if (typeof sequences === "string") return /^\s*[>@]/.test(sequences) ? sequences : `>1\n${sequences}\n`;
  const named = Array.isArray(sequences) ? sequences.map((text, index) => [index + 1, text]) : Object.entries(sequences);
  return named.map(([name, letters]) => `>${name}\n${letters}\n`).join("");
}

const OWN = new Set(["format", "onProgress", "pairs"]);

/** Options of the command: {minScore: 20, bothStrands: true} is --min-score=20 --both-strands. */
function flags(options) {
  const words = [];
  for (const [name, value] of Object.entries(options)) {
    if (OWN.has(name) || value === undefined || value === null || value === false) continue;
    const flag = "--" + name.replace(/[A-Z]/g, (letter) => "-" + letter.toLowerCase());
    words.push(value === true ? flag : `${flag}=${value}`);
  }
  return words;
}

/** Aligns queries with references, which it keeps. */
export class Aligner {
  #references;
  #options;

  constructor(references, options = {}) {
    this.#references = file(references);
    this.#options = options;
  }

  #run(queries, format) {
    const { pairs } = this.#options;
    const words = [...(pairs ? ["pairs"] : []), ...flags(this.#options), `--format=${format}`, "query", "reference"];
    return text(words, { query: file(queries), reference: this.#references }, this.#options);
  }

  /** The hits of each query. */
  async align(queries) {
    const lines = (await this.#run(queries, "json")).split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line));
  }

  /** The output of the command in a text format: sam, paf, tab, json or text. */
  async write(queries, format = "sam") {
    return await this.#run(queries, format);
  }
}

/** The hits of each query on the references. */
export async function align(queries, references, options = {}) {
  return await new Aligner(references, options).align(queries);
}

// Columns of a search's table that are numbers.
const NUMBERS = new Set([
  "start", "end", "edits", "length", "forward_end", "forward_edits", "reverse_start", "reverse_edits", "pattern_len", "text_len",
  "mismatches", "insertions", "deletions", "gaps", "edits_last1", "edits_last3", "edits_last5", "last_run",
]);

/** The occurrences of patterns in texts, with edits. */
export async function search(patterns, texts, options = {}) {
  const words = ["search", ...flags(options), "--format=tab", "-f", "patterns", "texts"];
  const [header, ...rows] = (await text(words, { patterns: file(patterns), texts: file(texts) }, options)).trimEnd().split("\n");
  const names = header.split("\t");
  const value = (name, text) => (NUMBERS.has(name) ? Number(text) : text);
  return rows.map((row) => Object.fromEntries(row.split("\t").map((text, column) => [names[column], value(names[column], text)])));
}
