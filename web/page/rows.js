// Rows of the table, from the output of the command.

const decimal = (digits) => (value) => (value === null ? "" : value.toFixed(digits));
const exponent = (value) => (value === null ? "" : value === 0 || value >= 0.001 ? value.toPrecision(2) : value.toExponential(1));

export const ALIGN_COLUMNS = [
  { key: "query", label: "Query" },
  { key: "target", label: "Reference" },
  { key: "strand", label: "Strand" },
  { key: "score", label: "Score" },
  { key: "identity", label: "Identity %", show: decimal(1) },
  { key: "coverage", label: "Coverage %", show: decimal(1) },
  { key: "query_start", label: "Query start" },
  { key: "query_end", label: "Query end" },
  { key: "target_start", label: "Ref. start" },
  { key: "target_end", label: "Ref. end" },
  { key: "evalue", label: "E-value", show: exponent },
  { key: "bits", label: "Bits", show: decimal(1) },
  { key: "cigar", label: "CIGAR" },
];

/** The hits of `--format json`: a line for each query. */
export function alignmentRows(text) {
  const lines = text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  return lines.flatMap(({ query, length, hits }) => hits.map((hit) => ({ query, query_length: length, ...hit })));
}

const HIDDEN = new Set(["pattern_aligned", "text_aligned"]);
const NUMBERS = new Set(["start", "end", "edits"]);

const fields = (text) => text.trimEnd().split("\n").map((line) => line.split("\t"));

/** The columns of `--format tab` of a search. */
export function searchColumns(text) {
  const [names] = fields(text);
  return names.filter((name) => !HIDDEN.has(name)).map((key) => ({ key, label: key[0].toUpperCase() + key.slice(1) }));
}

/** The hits of `--format tab` of a search. */
export function searchRows(text) {
  const [names, ...rows] = fields(text);
  const row = (values) => Object.fromEntries(names.map((name, at) => [name, NUMBERS.has(name) ? Number(values[at]) : values[at]]));
  return rows.map((values) => {
    const hit = row(values);
    const length = hit.pattern_aligned.replaceAll("-", "").length;
    return {
      ...hit,
      // The names of the views.
      query: hit.pattern, target: hit.text, query_start: 0, query_end: length, query_length: length,
      target_start: hit.start, target_end: hit.end, query_aligned: hit.pattern_aligned, target_aligned: hit.text_aligned,
    };
  });
}
