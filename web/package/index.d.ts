/** FASTA or FASTQ (text or bytes, plain or gzip), one sequence, a list of sequences, or sequences by their names. */
export type Sequences = string | Uint8Array | ArrayBuffer | readonly string[] | { readonly [name: string]: string };

export type Preset = "short" | "long" | "map-ont" | "map-hifi" | "asm5" | "asm10" | "asm20" | "blastn" | "linear" | "protein";

/** Options of the command by their names in camel case: `minScore: 20` is `--min-score=20`. */
export interface CommandOptions {
  /** "auto" uses a GPU if the browser has one and the work is long enough. The results do not depend on the device. */
  device?: "auto" | "cpu" | "gpu" | string;
  onProgress?: (progress: Progress) => void;
  [option: string]: string | number | boolean | null | undefined | ((progress: Progress) => void);
}

export interface AlignOptions extends CommandOptions {
  /** Aligns the first query with the first reference, and so on, instead of all with all. */
  pairs?: boolean;
  preset?: Preset;
  mode?: "local" | "glocal" | "global" | "overlap";
  matrix?: string;
  match?: number;
  mismatch?: number;
  /** A number, or two separated by a comma. */
  gapOpen?: number | string;
  gapExtend?: number | string;
  minScore?: number;
  maxHits?: number;
  evalue?: number;
  strand?: "both" | "plus" | "minus";
}

export interface SearchOptions extends CommandOptions {
  /** Maximum number of edits, or a rate such as "10%". The default is 0. */
  maxEdits?: number | string;
  noIndels?: boolean;
  pam?: string;
  best?: boolean;
  first?: boolean;
  all?: boolean;
  strand?: "both" | "plus" | "minus";
}

/** Progress of a run. `size` is 0 if it is unknown. */
export interface Progress {
  stage: string;
  bytes: number;
  size: number;
  records: number;
}

/** The hits of a query, best first. */
export interface QueryHits {
  query: string;
  mate: 1 | 2 | null;
  length: number;
  hits: Hit[];
}

/** An alignment. Positions are 0-based and half-open; those of the target are on its forward strand. */
export interface Hit {
  target: string;
  title: string;
  target_length: number;
  score: number;
  bits: number | null;
  evalue: number | null;
  strand: "+" | "-";
  query_start: number;
  query_end: number;
  target_start: number;
  target_end: number;
  columns: number;
  matches: number;
  mismatches: number;
  positives: number;
  gaps: number;
  gap_openings: number;
  identity: number;
  coverage: number;
  cigar: string;
  query_aligned: string;
  target_aligned: string;
  frame?: number;
}

/** An occurrence of a pattern. Positions are 0-based and half-open, on the forward strand of the text. */
export interface Match {
  text: string;
  start: number;
  end: number;
  pattern: string;
  strand: "+" | "-";
  edits: number;
  cigar: string;
  match: string;
  [column: string]: string | number;
}

export interface Result {
  /** 0 success, 1 failure, 2 wrong usage. */
  code: number;
  output: Uint8Array;
  /** Lines of standard error. */
  messages: string[];
  summary: { [name: string]: number } | null;
}

/** A fault of the input, the options or the device, with the exit code of the command. */
export class SwalignError extends Error {
  readonly code: number;
}

/** Aligns queries with references, which it keeps. */
export class Aligner {
  constructor(references: Sequences, options?: AlignOptions);
  align(queries: Sequences): Promise<QueryHits[]>;
  /** The output of the command in a text format. */
  write(queries: Sequences, format?: "sam" | "paf" | "tab" | "json" | "text"): Promise<string>;
}

/** The hits of each query on the references. */
export function align(queries: Sequences, references: Sequences, options?: AlignOptions): Promise<QueryHits[]>;

/** The occurrences of patterns in texts, with edits. */
export function search(patterns: Sequences, texts: Sequences, options?: SearchOptions): Promise<Match[]>;

/** Runs `swalign WORDS` on files in memory. */
export function run(
  words: readonly string[],
  files?: { readonly [name: string]: string | Uint8Array },
  options?: { onProgress?: (progress: Progress) => void },
): Promise<Result>;

/** Loads the engine before the first call, from `source` if it is given. */
export function load(source?: URL | Response | BufferSource): Promise<unknown>;
