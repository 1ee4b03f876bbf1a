// The page: takes sequences and options, has a worker run the command, and shows the hits.

import { ALIGN_COLUMNS, alignmentRows, searchColumns, searchRows } from "./rows.js";
import { dotPlot, pairwise } from "./views.js";
import { EXAMPLES } from "./examples.js";

const $ = (id) => document.getElementById(id);
const decoder = new TextDecoder();
const SHOWN = 200;

// What the page shows now.
const state = { command: "align", files: {}, gpu: null, rows: [], columns: [], shown: SHOWN, sort: null, selected: null, line: null };

// The worker, and the run that waits for it.
let worker, ready, job;

function startWorker() {
  worker = new Worker("worker.js", { type: "module" });
  ready = new Promise((resolve) => {
    worker.onmessage = ({ data }) => {
      if (data.ready === undefined) return job?.take(data);
      if (!data.ready) return fail(`The engine cannot be loaded: ${data.error}`);
      state.gpu = data.gpu;
      resolve();
      describeDevice();
      $("run").disabled = false;
    };
  });
  worker.onerror = (event) => (job ? job.take({ error: event.message }) : fail(`The engine cannot be loaded: ${event.message}`));
}

function describeDevice(used) {
  const gpu = state.gpu && !state.gpu.isFallback ? `GPU: ${state.gpu.name}` : null;
  const software = state.gpu?.isFallback ? ` (only a software GPU was found: ${state.gpu.name})` : "";
  $("device").textContent = used ?? (gpu ? `Runs on the ${gpu}, and small work on the CPU` : `Runs on the CPU${software}`);
}

/** Runs the command in the worker. */
async function run(words, files) {
  await ready;
  const id = Math.random();
  return await new Promise((resolve, reject) => {
    const take = (data) => {
      if (data.progress) return showProgress(data.progress);
      job = null;
      if (data.error !== undefined) {
        // An engine that failed cannot run again.
        worker.terminate();
        startWorker();
        return reject(new Error(data.error));
      }
      resolve(data.result);
    };
    job = { take, reject };
    worker.postMessage({ id, words, files });
  });
}

function stop() {
  if (!job) return;
  worker.terminate();
  const { reject } = job;
  job = null;
  $("run").disabled = true;
  startWorker();
  reject(new Error("stopped"));
}

let begun = 0;
function showProgress({ stage, bytes, size, records }) {
  const bar = $("progress");
  if (size > 0 && bytes > 0) bar.value = Math.min(bytes / size, 1);
  else bar.removeAttribute("value");
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  $("status").textContent = `${stage}${records ? `: ${records.toLocaleString("en")}` : ""} (${seconds} s)`;
}

/** Shows that a run is under way while `work` runs. */
async function busy(work) {
  begun = performance.now();
  $("fault").hidden = true;
  $("status").textContent = "";
  $("run").disabled = true;
  $("stop").disabled = false;
  $("progress").hidden = false;
  $("progress").removeAttribute("value");
  $("downloads").querySelectorAll("button").forEach((button) => (button.disabled = true));
  try {
    await work();
  } catch (error) {
    if (error.message === "stopped") $("status").textContent = "Stopped.";
    else fail(error.message);
  } finally {
    await ready;
    $("run").disabled = false;
    $("stop").disabled = true;
    $("progress").hidden = true;
    $("downloads").querySelectorAll("button").forEach((button) => (button.disabled = false));
  }
}

function fail(text) {
  $("fault").textContent = text;
  $("fault").hidden = false;
  $("status").textContent = "";
}

/** The arguments of the command that the form asks for. */
function commandLine(format) {
  const search = state.command === "search";
  const words = search ? ["search"] : [];
  for (const field of $(`options-${state.command}`).elements) {
    const value = field.value?.trim();
    if (!field.name || !value) continue;
    if (field.name === "pairs") words.unshift("pairs");
    else if (field.name === "hits") words.push(`--${value}`);
    else if (field.name === "no-indels") words.push("--no-indels");
    else if (field.name === "device") words.push(`--device=${value}`);
    else words.push(`--${field.name}=${value}`);
  }
  words.push(`--format=${format}`);
  if (search && format === "tab") words.push("--columns=std,pattern_aligned,text_aligned");
  return [...words, ...(search ? ["-f"] : []), inputName("first"), inputName("second")];
}

// The engine knows the inputs by their names. Both may come from files of one name.
function inputName(side) {
  const name = state.files[side]?.name ?? (side === "first" ? "queries" : "references");
  const other = state.files[side === "first" ? "second" : "first"]?.name;
  return side === "second" && name === other ? `references-${name}` : name.replace(/^-/, "_");
}

/** The bytes of an input: its file, or the text, which may be a bare sequence. */
async function content(side) {
  const file = state.files[side];
  if (file) return new Uint8Array(await file.arrayBuffer());
  const text = $(`text-${side}`).value;
  const legend = $(`box-${side}`).querySelector("legend").textContent;
  if (!text.trim()) throw new Error(`${legend}: give a file or paste sequences`);
  return new TextEncoder().encode(/^\s*[>@]/.test(text) ? text : `>${legend.toLowerCase()}\n${text.trim()}\n`);
}

async function inputs() {
  return { [inputName("first")]: await content("first"), [inputName("second")]: await content("second") };
}

async function submit(event) {
  event.preventDefault();
  await busy(async () => {
    const { command } = state;
    const words = commandLine(command === "align" ? "json" : "tab");
    $("command").textContent = ["swalign", ...words].join(" ");
    const files = await inputs();
    const { code, output, messages, summary } = await run(words, files);
    const notes = messages.filter((line) => !line.startsWith("using "));
    if (code !== 0) throw new Error(notes.join("\n").replace(/^swalign: error: /, ""));
    $("notes").hidden = notes.length === 0;
    $("notes").querySelector("pre").textContent = notes.join("\n");
    const used = messages.find((line) => line.startsWith("using "));
    if (used) {
      // The reason why no GPU was used follows a colon.
      const device = used.replace("using ", "").split(":")[0];
      describeDevice(`Ran on the ${device.startsWith("GPU") && state.gpu ? `GPU: ${state.gpu.name}` : device}`);
    }
    const text = decoder.decode(output);
    state.columns = command === "align" ? ALIGN_COLUMNS : searchColumns(text);
    state.rows = command === "align" ? alignmentRows(text) : searchRows(text);
    Object.assign(state, { line: { command }, files: { ...state.files }, shown: SHOWN, sort: null, selected: state.rows[0] ?? null });
    showSummary(summary);
    showDownloads();
    $("results").hidden = false;
    $("filter").value = "";
    showTable();
  });
}

function showSummary({ cells, bases, patterns, seconds }) {
  const rate = cells === undefined ? (bases * patterns) / seconds : cells / seconds;
  const unit = cells === undefined ? "bases × patterns" : "cells";
  $("status").textContent = `${seconds.toFixed(2)} s, ${significant(rate)} ${unit} per second`;
}

function significant(number) {
  if (!Number.isFinite(number)) return "0";
  const units = [[1e9, "billion"], [1e6, "million"], [1e3, "thousand"]];
  const [size, name] = units.find(([size]) => number >= size) ?? [1, ""];
  return `${(number / size).toPrecision(3)} ${name}`.trim();
}

const DOWNLOADS = {
  align: { SAM: ["sam", "sam"], PAF: ["paf", "paf"], TSV: ["tab", "tsv"], JSON: ["json", "json"] },
  search: { TSV: ["tab", "tsv"], BED: ["bed", "bed"], SAM: ["sam", "sam"] },
};

/** A button for each format. The command runs again to write it. */
function showDownloads() {
  const group = $("downloads");
  group.replaceChildren();
  for (const [label, [format, extension]] of Object.entries(DOWNLOADS[state.command])) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.title = `Download the hits as ${label}`;
    button.onclick = () => busy(async () => {
      const words = commandLine(format).filter((word) => !word.startsWith("--columns"));
      const { code, output, messages } = await run(words, await inputs());
      if (code !== 0) throw new Error(messages.join("\n"));
      download(output, `swalign.${extension}`);
      $("status").textContent = `${output.length.toLocaleString("en")} bytes of ${label}`;
    });
    group.append(button);
  }
}

function download(bytes, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The rows that match the filter, in the chosen order. */
function visibleRows() {
  const wanted = $("filter").value.trim().toLowerCase();
  const cells = (row) => state.columns.map(({ key }) => row[key]);
  let rows = wanted ? state.rows.filter((row) => cells(row).join("\t").toLowerCase().includes(wanted)) : state.rows;
  if (state.sort) {
    const { key, descends } = state.sort;
    const order = (a, b) => (typeof a[key] === "number" && typeof b[key] === "number" ? a[key] - b[key] : String(a[key]).localeCompare(String(b[key])));
    rows = rows.toSorted((a, b) => (descends ? order(b, a) : order(a, b)));
  }
  return rows;
}

function showTable() {
  const head = document.createElement("tr");
  for (const { key, label } of state.columns) {
    const cell = document.createElement("th");
    const button = document.createElement("button");
    const mark = state.sort?.key === key ? (state.sort.descends ? " ▼" : " ▲") : "";
    button.type = "button";
    button.textContent = label + mark;
    cell.scope = "col";
    if (mark) cell.ariaSort = state.sort.descends ? "descending" : "ascending";
    button.onclick = () => {
      state.sort = { key, descends: state.sort?.key === key && !state.sort.descends };
      showTable();
      $("results").querySelectorAll("th button")[state.columns.findIndex((column) => column.key === key)].focus();
    };
    cell.append(button);
    head.append(cell);
  }
  const rows = visibleRows();
  const body = rows.slice(0, state.shown).map(tableRow);
  $("results").querySelector("thead").replaceChildren(head);
  $("results").querySelector("tbody").replaceChildren(...body);
  $("count").textContent = `${rows.length.toLocaleString("en")} of ${state.rows.length.toLocaleString("en")} hits`;
  $("more").hidden = rows.length <= state.shown;
  select(rows.includes(state.selected) ? state.selected : rows[0] ?? null);
}

function tableRow(row) {
  const line = document.createElement("tr");
  line.tabIndex = 0;
  line.row = row;
  for (const { key, show } of state.columns) {
    const cell = document.createElement("td");
    cell.textContent = show ? show(row[key]) : row[key];
    cell.title = cell.textContent;
    if (typeof row[key] === "number") cell.className = "number";
    line.append(cell);
  }
  line.onclick = () => select(row);
  line.onkeydown = (event) => {
    const next = { ArrowDown: line.nextSibling, ArrowUp: line.previousSibling, Enter: line, " ": line }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    next?.focus();
    if (next) select(next.row);
  };
  return line;
}

/** Shows the alignment of a hit, and the picture of its query and reference. */
function select(row) {
  state.selected = row;
  for (const line of $("results").querySelectorAll("tbody tr")) line.ariaSelected = String(line.row === row);
  $("pairwise").hidden = $("picture").hidden = row === null;
  if (!row) return;
  const [caption, text] = pairwise(row);
  $("pairwise").querySelector("figcaption").textContent = caption;
  $("pairwise").querySelector("pre").textContent = text;
  const [title, picture] = dotPlot(row, state.rows);
  $("picture").replaceChildren(Object.assign(document.createElement("figcaption"), { textContent: title }), picture);
}

function choose(command) {
  state.command = command;
  for (const name of ["align", "search"]) {
    const chosen = name === command;
    $(`tab-${name}`).ariaSelected = String(chosen);
    $(`tab-${name}`).tabIndex = chosen ? 0 : -1;
    $(`options-${name}`).hidden = $(`options-${name}`).disabled = !chosen;
  }
  $("form").setAttribute("aria-labelledby", `tab-${command}`);
  $("run").textContent = command === "align" ? "Align" : "Search";
  $("results").hidden = true;
  for (const legend of document.querySelectorAll("legend[data-align]")) legend.textContent = legend.dataset[command];
  const options = EXAMPLES.filter((example) => example.command === command).map(({ title }) => new Option(title, title));
  $("example").replaceChildren(new Option("Your own sequences", ""), ...options);
}

function setFile(side, file) {
  state.files[side] = file;
  $(`clear-${side}`).hidden = !file;
  const area = $(`text-${side}`);
  area.disabled = Boolean(file);
  if (file) area.value = `${file.name}: ${file.size.toLocaleString("en")} bytes`;
  else area.value = "";
}

async function loadExample() {
  const example = EXAMPLES.find(({ title }) => title === $("example").value);
  if (!example) return;
  for (const [side, input] of Object.entries({ first: example.first, second: example.second })) {
    setFile(side, null);
    if (input.text) {
      $(`text-${side}`).value = input.text;
      continue;
    }
    const response = await fetch(`examples/${input.file}`);
    setFile(side, new File([await response.blob()], input.file));
  }
  for (const field of $(`options-${state.command}`).elements) {
    if (field.name && field.name !== "device") field.value = example.options[field.name] ?? field.defaultValue ?? "";
  }
}

for (const side of ["first", "second"]) {
  const box = $(`box-${side}`);
  $(`file-${side}`).onchange = ({ target }) => target.files[0] && setFile(side, target.files[0]);
  $(`clear-${side}`).onclick = () => {
    $(`file-${side}`).value = "";
    setFile(side, null);
    $(`text-${side}`).focus();
  };
  box.ondragover = (event) => {
    event.preventDefault();
    box.classList.add("over");
  };
  box.ondragleave = () => box.classList.remove("over");
  box.ondrop = (event) => {
    event.preventDefault();
    box.classList.remove("over");
    if (event.dataTransfer.files[0]) setFile(side, event.dataTransfer.files[0]);
  };
}
for (const name of ["align", "search"]) {
  const tab = $(`tab-${name}`), other = name === "align" ? "search" : "align";
  tab.onclick = () => choose(name);
  tab.onkeydown = ({ key }) => {
    if (key !== "ArrowLeft" && key !== "ArrowRight") return;
    choose(other);
    $(`tab-${other}`).focus();
  };
}
$("form").onsubmit = submit;
$("stop").onclick = stop;
$("example").onchange = () => loadExample().catch((error) => fail(error.message));
$("filter").oninput = () => {
  state.shown = SHOWN;
  showTable();
};
$("more").onclick = () => {
  state.shown += SHOWN * 5;
  showTable();
};
choose("align");
startWorker();
