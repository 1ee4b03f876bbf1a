// The printed alignment and the picture of a hit.

const WIDTH = 60;

/** Caption and text of an alignment, in lines of 60 columns. */
export function pairwise(row) {
  const caption = `${row.query} and ${row.target}, strand ${row.strand}`;
  const { query_aligned: query, target_aligned: target } = row;
  const forward = row.strand !== "-";
  let [i, j] = [row.query_start, forward ? row.target_start : row.target_end];
  const digits = String(Math.max(row.query_end, row.target_end)).length;
  const number = (value) => String(value).padStart(digits);
  const lines = [];
  for (let at = 0; at < query.length; at += WIDTH) {
    const [upper, lower] = [query.slice(at, at + WIDTH), target.slice(at, at + WIDTH)];
    const marks = [...upper].map((letter, k) => (letter.toUpperCase() === lower[k].toUpperCase() ? "|" : letter === "-" || lower[k] === "-" ? " " : "."));
    const [residues, others] = [upper, lower].map((line) => line.replaceAll("-", "").length);
    const [nextI, nextJ] = [i + residues, forward ? j + others : j - others];
    lines.push(
      `query     ${number(i)} ${upper} ${nextI}`,
      `          ${" ".repeat(digits)} ${marks.join("")}`,
      `reference ${number(j)} ${lower} ${nextJ}`,
      "",
    );
    [i, j] = [nextI, nextJ];
  }
  return [caption, lines.join("\n")];
}

const SVG = "http://www.w3.org/2000/svg";
const element = (name, attributes, ...children) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

const [LEFT, TOP, SIZE_X, SIZE_Y, DEPTH] = [46, 8, 540, 220, 60];

/** The points of a hit's path: its query and target positions at each gap. */
function path(row) {
  const forward = row.strand !== "-";
  let [i, j] = [row.query_start, forward ? row.target_start : row.target_end];
  const points = [[i, j]];
  const { query_aligned: query, target_aligned: target } = row;
  for (let at = 0; at < query.length; at++) {
    if (query[at] !== "-") i++;
    if (target[at] !== "-") j += forward ? 1 : -1;
    const kind = (k) => (query[k] === "-" ? "D" : target[k] === "-" ? "I" : "M");
    if (at + 1 === query.length || kind(at) !== kind(at + 1)) points.push([i, j]);
  }
  return points;
}

/**
 * Title and picture: the hits of one query on one reference as paths, above the number of all hits that cover each position
 * of the reference.
 */
export function dotPlot(row, rows) {
  const onTarget = rows.filter((other) => other.target === row.target);
  const shown = onTarget.filter((other) => other.query === row.query).slice(0, 500);
  const length = row.target_length ?? Math.max(...onTarget.map((other) => other.target_end));
  const from = Math.min(...shown.map((hit) => hit.target_start));
  const to = Math.max(...shown.map((hit) => hit.target_end));
  const x = (j) => LEFT + ((j - from) / Math.max(to - from, 1)) * SIZE_X;
  const y = (i) => TOP + (i / Math.max(row.query_length, 1)) * SIZE_Y;
  const paths = shown.map((hit) => {
    const points = path(hit).map(([i, j]) => `${x(j).toFixed(1)},${y(i).toFixed(1)}`);
    return element("polyline", { class: "path", points: points.join(" ") });
  });
  const depths = coverage(onTarget, length);
  const most = Math.max(1, ...depths);
  const [base, step] = [TOP + SIZE_Y + 40 + DEPTH, SIZE_X / depths.length];
  const bars = depths.map((depth, bin) => `${(LEFT + bin * step).toFixed(1)},${(base - (depth / most) * DEPTH).toFixed(1)}`);
  const text = (x, y, anchor, words) => element("text", { x, y, "text-anchor": anchor }, words);
  const picture = element(
    "svg",
    { viewBox: `0 0 ${LEFT + SIZE_X + 10} ${base + 22}`, role: "img", "aria-label": `Dot plot of ${row.query} and ${row.target}` },
    element("rect", { class: "axis", x: LEFT, y: TOP, width: SIZE_X, height: SIZE_Y }),
    ...paths,
    element("polygon", { class: "depth", points: `${LEFT},${base} ${bars.join(" ")} ${LEFT + SIZE_X},${base}` }),
    element("line", { class: "axis", x1: LEFT, x2: LEFT + SIZE_X, y1: base, y2: base }),
    text(LEFT - 4, TOP + 10, "end", "0"),
    text(LEFT - 4, TOP + SIZE_Y, "end", row.query_length),
    text(LEFT, TOP + SIZE_Y + 14, "start", from),
    text(LEFT + SIZE_X, TOP + SIZE_Y + 14, "end", to),
    text(LEFT - 4, base - DEPTH + 10, "end", `${most}×`),
    text(LEFT, base + 15, "start", "0"),
    text(LEFT + SIZE_X, base + 15, "end", length),
  );
  return [`${row.query} (down) on ${row.target} (across), and the number of hits on each position`, picture];
}

/** The greatest number of hits in each of at most 540 stretches of a reference. */
function coverage(rows, length) {
  const changes = new Map();
  for (const { target_start: start, target_end: end } of rows) {
    changes.set(start, (changes.get(start) ?? 0) + 1);
    changes.set(end, (changes.get(end) ?? 0) - 1);
  }
  const bins = new Array(Math.min(SIZE_X, length)).fill(0);
  const bin = (place) => Math.min(Math.floor((place / length) * bins.length), bins.length - 1);
  let [depth, last] = [0, 0];
  const fill = (to) => {
    if (to > last) for (let k = bin(last); k <= bin(to - 1); k++) bins[k] = Math.max(bins[k], depth);
  };
  for (const place of [...changes.keys()].sort((a, b) => a - b)) {
    fill(place);
    depth += changes.get(place);
    last = place;
  }
  return bins;
}
