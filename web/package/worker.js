// Runs the command in a worker: {id, words, files} in; {id, progress}, then {id, result} or {id, error} out.

import { adapter, load, run } from "./engine.js";

async function gpu() {
  const { info } = (await adapter()) ?? {};
  if (!info) return null;
  const name = info.description || [info.vendor, info.architecture].filter(Boolean).join(" ") || "GPU";
  return { name, isFallback: info.isFallbackAdapter ?? false };
}

onmessage = async ({ data: { id, words, files } }) => {
  try {
    const result = await run(words, files, (progress) => postMessage({ id, progress }));
    postMessage({ id, result }, [result.output.buffer]);
  } catch (error) {
    postMessage({ id, error: error.message });
  }
};

load().then(
  async () => postMessage({ ready: true, gpu: await gpu() }),
  (error) => postMessage({ ready: false, error: error.message }),
);
