// Runs the command `swalign` on files in memory, one run after another.

import init, { allow_gpu, give, set_arguments } from "./swalign.js";
import { canSuspend, receive } from "./host.js";

let engine;

/** Loads the engine, from `source` if it is given: a URL, a response or bytes. */
export function load(source) {
  engine ??= start(source ?? new URL("swalign_bg.wasm", import.meta.url));
  return engine;
}

async function start(source) {
  if (source instanceof URL && source.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    source = await readFile(source);
  }
  const exported = await init({ module_or_path: source });
  if (canSuspend && globalThis.navigator?.gpu) allow_gpu();
  return canSuspend ? WebAssembly.promising(exported.swalign_run) : exported.swalign_run;
}

/** The adapter that WebGPU offers to this page, or null. */
export async function adapter() {
  return canSuspend ? ((await globalThis.navigator?.gpu?.requestAdapter()) ?? null) : null;
}

let last = Promise.resolve();

/**
 * Runs the command with these arguments, and these files by their names. Resolves to the exit code, the output, the lines of
 * standard error and the summary.
 */
export function run(words, files = {}, onProgress) {
  const next = last.then(() => once(words, files, onProgress));
  last = next.catch(() => {});
  return next;
}

async function once(words, files, onProgress = () => {}) {
  const swalign = await load();
  const parts = [];
  const result = { code: 1, output: new Uint8Array(), messages: [], summary: null };
  receive({
    output: (bytes) => parts.push(bytes),
    message: (text) => result.messages.push(text),
    progress: onProgress,
    summary: (summary) => (result.summary = summary),
  });
  const encoder = new TextEncoder();
  for (const [name, content] of Object.entries(files)) {
    give(name, typeof content === "string" ? encoder.encode(content) : content);
  }
  set_arguments(words);
  try {
    result.code = await swalign();
  } catch (error) {
    // The engine cannot go on after a trap.
    const said = result.messages.at(-1);
    throw new Error(said ?? `swalign: error: ${error.message}; the input may need more than 4 GiB of memory`);
  } finally {
    for (const name of Object.keys(files)) give(name, undefined);
    receive({});
  }
  result.output = joined(parts);
  return result;
}

function joined(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
