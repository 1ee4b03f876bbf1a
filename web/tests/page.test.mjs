// The page in Chromium, on the CPU and on WebGPU by SwiftShader, compared with the command.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Browser, serve } from "./browser.mjs";
import { cases, files, gpuCases, native } from "./cases.mjs";

const SWIFTSHADER = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan"];
const built = process.env.SWALIGN_WEB;
const pictures = join(built, "pictures");

let folder, server, browser, page;
const requests = [];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "swalign-page-"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  mkdirSync(pictures, { recursive: true });
  server = await serve(join(built, "page"));
  browser = new Browser(SWIFTSHADER);
  browser.onEvent = ({ session, method, params }) => {
    if (method === "Network.requestWillBeSent") requests.push(params.request.url);
    if (method === "Target.attachedToTarget") browser.send("Network.enable", {}, params.sessionId).catch(() => {});
  };
  page = await browser.open(`${server.origin}/index.html`);
  await page.until("!document.getElementById('run').disabled");
});

after(async () => {
  await browser?.close();
  server?.close();
  rmSync(folder, { recursive: true });
});

/** Runs the command in a worker of the page, and returns its output. */
async function run(words, files) {
  const given = Object.entries(files).map(([name, content]) => [name, Buffer.from(content).toString("base64")]);
  const result = await page.call(
    async (words, given) => {
      const decoded = given.map(([name, text]) => [name, Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))]);
      const worker = (window.tested ??= new Worker("worker.js", { type: "module" }));
      const { result, error } = await new Promise((resolve) => {
        worker.onmessage = ({ data }) => (data.result || data.error) && resolve(data);
        worker.postMessage({ id: 1, words, files: Object.fromEntries(decoded) });
      });
      if (error) {
        worker.terminate();
        window.tested = undefined;
        return { code: -1, messages: [error], output: "" };
      }
      let text = "";
      for (const byte of result.output) text += String.fromCharCode(byte);
      return { ...result, output: btoa(text) };
    },
    words,
    given,
  );
  return { ...result, output: Buffer.from(result.output, "base64") };
}

const set = (id, value) =>
  page.call(
    (id, value) => {
      const field = document.getElementById(id) ?? document.querySelector(`fieldset:not([disabled]) [name="${id}"]`);
      field.value = value;
      field.dispatchEvent(new Event("change", { bubbles: true }));
      field.dispatchEvent(new Event("input", { bubbles: true }));
    },
    id,
    value,
  );
const shown = (selector) => page.call((selector) => document.querySelector(selector)?.innerText ?? "", selector);
const finished = () => page.until("document.getElementById('stop').disabled && !document.getElementById('run').disabled");

for (const { line, words, files } of cases) {
  test(`the bytes of: swalign ${line}`, async () => {
    const { code, output, messages } = await run([...words, "--device=cpu"], files);
    assert.equal(code, 0, messages.join("\n"));
    assert.equal(Buffer.compare(output, native(words, folder)), 0, "the output differs");
  });
}

test("the GPU gives the same bytes", async (t) => {
  const adapter = await page.value("navigator.gpu?.requestAdapter().then((adapter) => adapter?.info.isFallbackAdapter ?? null) ?? null");
  assert.notEqual(adapter, null, "Chromium has no WebGPU adapter");
  for (const { line, words, files } of gpuCases) {
    await t.test(`swalign ${line}`, async () => {
      // The lowest limits that WebGPU allows.
      const profile = words[0] === "search" ? "gpu:0" : "gpu:0/webgpu";
      const { code, output, messages } = await run([...words, `--device=${profile}`], files);
      assert.equal(code, 0, messages.join("\n"));
      assert.ok(!messages.some((text) => text.startsWith("warning") && text.includes("GPU")), messages.join("\n"));
      assert.equal(Buffer.compare(output, native(words, folder)), 0, "the output differs");
    });
  }
});

// SwiftShader takes about a second for a pipeline, so a sample of them is created. All shaders are compiled.
const EACH = process.env.SWALIGN_ALL_CASES ? 1 : 16;

test("Chromium compiles every kernel", async () => {
  const { count, created, faults } = await page.call(async (each) => {
    const glue = await import("./swalign.js");
    await glue.default();
    const kernels = glue.kernels();
    const adapter = await navigator.gpu.requestAdapter();
    const device = await adapter.requestDevice();
    const faults = [];
    let [number, created] = [0, 0];
    const compile = async (name, code) => {
      const module = device.createShaderModule({ code });
      const { messages } = await module.getCompilationInfo();
      const errors = messages.filter(({ type }) => type === "error");
      if (errors.length > 0) return faults.push(`${name}: ${errors.map(({ message, lineNum }) => `${lineNum}: ${message}`).join("; ")}`);
      if (number++ % each > 0) return;
      created++;
      try {
        await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "main" } });
      } catch (error) {
        faults.push(`${name}: ${error.message}`);
      }
    };
    for (let at = 0; at < kernels.length; at += 2) await compile(kernels[at], kernels[at + 1]);
    return { count: kernels.length / 2, created, faults };
  }, EACH);
  assert.ok(count > 300 && created > 20, `only ${count} kernels, ${created} pipelines`);
  assert.deepEqual(faults, []);
});

test("a run whose GPU is lost goes on with the CPU", async () => {
  const words = ["--filter=none", "--format=tab", "sars2.fa", "sars2.fa"];
  const given = words.slice(3).map((name) => [name, Buffer.from(files[name]).toString("base64")]);
  const { output, messages, submits } = await page.call(
    async (words, given) => {
      // By default a run uses no software GPU, and this one is lost once it has work.
      Object.defineProperty(GPUAdapterInfo.prototype, "isFallbackAdapter", { get: () => false });
      const request = GPUAdapter.prototype.requestDevice;
      let submits = 0;
      GPUAdapter.prototype.requestDevice = async function (...options) {
        const device = await request.apply(this, options);
        const submit = device.queue.submit.bind(device.queue);
        device.queue.submit = (...buffers) => {
          if (submits++ === 0) device.destroy();
          return submit(...buffers);
        };
        return device;
      };
      const engine = await import("./engine.js");
      const decoded = given.map(([name, text]) => [name, Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))]);
      const { output, messages } = await engine.run(words, Object.fromEntries(decoded));
      return { output: new TextDecoder().decode(output), messages, submits };
    },
    words,
    given,
  );
  assert.ok(submits > 0, messages.join("\n"));
  assert.match(messages.join("\n"), /lost.*continuing with CPU/);
  assert.equal(output, native(words, folder).toString());
});

test("a person aligns two proteins, sorts, filters and reads an alignment", async () => {
  await set("example", "Two proteins: hemoglobin alpha and beta");
  await page.value("document.getElementById('run').focus()");
  await page.press("Enter", "Enter", "\r");
  await page.until("document.querySelectorAll('#results tbody tr').length > 0");
  await finished();
  assert.match(await shown("#status"), /cells per second/);
  assert.match(await shown("#device"), /CPU/);
  assert.match(await shown("#pairwise pre"), /\|/);
  assert.ok(await page.value("document.querySelector('#picture polyline') !== null"));
  const rows = await page.value("document.querySelectorAll('#results tbody tr').length");
  await set("filter", "no such name");
  assert.equal(await page.value("document.querySelectorAll('#results tbody tr').length"), 0);
  await set("filter", "HBA");
  assert.equal(await page.value("document.querySelectorAll('#results tbody tr').length"), rows);
});

test("sorting and tabs work by keyboard", async () => {
  await set("example", "ONT reads on SARS-CoV-2");
  await page.until("document.getElementById('text-second').value.startsWith('sars2.fa')");
  await page.value("document.getElementById('form').requestSubmit()");
  await page.until("document.querySelectorAll('#results tbody tr').length >= 50");
  await finished();
  const scores = () => page.value("[...document.querySelectorAll('#results tbody tr')].map((row) => Number(row.children[3].textContent))");
  await page.value("[...document.querySelectorAll('th button')].find((button) => button.textContent === 'Score').focus()");
  await page.press("Enter", "Enter", "\r");
  const ascending = await scores();
  assert.deepEqual(ascending, ascending.toSorted((a, b) => a - b));
  await page.press("Enter", "Enter", "\r");
  assert.deepEqual(await scores(), ascending.toReversed());
  await page.value("document.querySelector('#results tbody tr').focus()");
  await page.press("ArrowDown");
  assert.equal(await page.value("document.querySelectorAll('#results tbody tr')[1].ariaSelected"), "true");
  await picture("align");
  await page.value("document.getElementById('tab-align').focus()");
  await page.press("ArrowRight");
  assert.equal(await page.value("document.activeElement.id"), "tab-search");
  await set("example", "A primer on SARS-CoV-2");
  await page.until("document.getElementById('text-second').value.startsWith('sars2.fa')");
  await page.value("document.getElementById('form').requestSubmit()");
  await page.until("document.querySelectorAll('#results tbody tr').length >= 2");
  await finished();
  assert.match(await shown("#results tbody"), /nCoV-2019_1_LEFT/);
  await picture("search");
  await page.value("document.getElementById('tab-search').focus()");
  await page.press("ArrowRight");
});

test("files are dropped and chosen, and the downloads have the bytes of the command", async () => {
  const names = ["few.q.fa", "few.t.fa"];
  await page.call(
    (names, texts) => {
      document.getElementById("example").value = "";
      document.getElementById("clear-first").click();
      document.getElementById("clear-second").click();
      document.querySelectorAll("#options-align [name]").forEach((field) => (field.value = field.name === "device" ? "cpu" : ""));
      const [dropped, chosen] = names.map((name, side) => {
        const carried = new DataTransfer();
        carried.items.add(new File([texts[side]], name));
        return carried;
      });
      document.getElementById("box-first").dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
      const input = document.getElementById("file-second");
      input.files = chosen.files;
      input.dispatchEvent(new Event("change", { bubbles: true }));
      // What a browser would write to a file.
      URL.createObjectURL = (blob) => ((window.downloaded = blob), "blob:none");
      HTMLAnchorElement.prototype.click = () => {};
    },
    names,
    names.map((name) => files[name].toString()),
  );
  await page.value("document.getElementById('form').requestSubmit()");
  await page.until("document.querySelectorAll('#downloads button').length === 4");
  await finished();
  for (const [label, format] of [["SAM", "sam"], ["PAF", "paf"], ["TSV", "tab"], ["JSON", "json"]]) {
    await page.value(`window.downloaded = null; [...document.querySelectorAll("#downloads button")].find((button) => button.textContent === "${label}").click()`);
    await page.until("window.downloaded !== null");
    await finished();
    const text = await page.value("window.downloaded.text()");
    assert.equal(text, native(["--device=cpu", `--format=${format}`, ...names], folder).toString(), label);
  }
});

/** Screenshots of a phone and of a screen, in both color schemes. Nothing may be wider than the window. */
async function picture(name) {
  for (const size of [{ width: 390, height: 844 }, { width: 390, height: 844, scheme: "dark" }, { width: 1280, height: 900 }, { width: 1280, height: 900, scheme: "dark" }]) {
    await page.resize(size);
    assert.ok(await page.value("document.documentElement.scrollWidth <= innerWidth"), `wider than ${size.width} pixels`);
    writeFileSync(join(pictures, `${name}-${size.width}-${size.scheme ?? "light"}.png`), await page.screenshot());
  }
}

test("the progress moves, and Stop works within a second", async () => {
  await page.value(`(() => {
    const letters = (count, seed) => Array.from({ length: count }, () => "ACGT"[(seed = (seed * 48271) % 2147483647) % 4]).join("");
    const reads = Array.from({ length: 4000 }, (_, k) => ">r" + k + "\\n" + letters(500, k + 1)).join("\\n");
    document.getElementById("example").value = "";
    document.getElementById("clear-first").click();
    document.getElementById("clear-second").click();
    document.getElementById("text-first").value = reads;
    document.getElementById("text-second").value = ">t\\n" + letters(20000, 77);
    window.seen = [];
    new MutationObserver(() => seen.push(document.getElementById("progress").value)).observe(document.getElementById("status"), { childList: true });
  })()`);
  await set("device", "cpu");
  // No filter: the time is that of all cells, in batches of about a second.
  await set("mode", "global");
  await page.value("document.getElementById('form').requestSubmit()");
  await page.until("seen.filter((value) => value > 0).length >= 2");
  await page.value("document.getElementById('stop').click()");
  await page.until("document.getElementById('status').textContent === 'Stopped.'", 1);
  await finished();
  const values = await page.value("seen.filter((value) => value > 0)");
  assert.ok(values.some((value) => value > values[0]), `${values}`);
  await set("mode", "");
});

test("a fault is shown, and the page goes on", async () => {
  await set("text-first", "this is no sequence!");
  await set("text-second", ">t\nACGTACGTACGTACGTACGTACGT\n");
  await page.value("document.getElementById('form').requestSubmit()");
  await page.until("!document.getElementById('fault').hidden");
  await finished();
  await set("text-first", "ACGTACGTACGTACGTACGTACGT");
  await page.value("document.getElementById('form').requestSubmit()");
  await page.until("document.getElementById('fault').hidden && !document.getElementById('results').hidden");
  await finished();
});

test("nothing is requested but the page's own files, and nothing once it is loaded", async () => {
  assert.ok(requests.some((url) => url.endsWith("swalign_bg.wasm")), "the worker's requests are not seen");
  const others = requests.filter((url) => !url.startsWith(`${server.origin}/`) && !/^(data|blob|about):/.test(url));
  assert.deepEqual(others, []);
  const before = requests.length;
  server.close();
  await page.value("document.getElementById('form').requestSubmit()");
  await page.until("document.getElementById('stop').disabled === false", 5).catch(() => {});
  await finished();
  assert.equal(await page.value("document.getElementById('fault').hidden"), true);
  assert.match(await shown("#status"), /cells per second/);
  assert.deepEqual(requests.slice(before), []);
});
