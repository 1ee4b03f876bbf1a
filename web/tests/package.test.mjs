// The npm package in Node.js, compared with the command.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { cases, failures, files, native } from "./cases.mjs";

const built = pathToFileURL(`${process.env.SWALIGN_WEB}/package/`);
const { Aligner, SwalignError, align, run, search } = await import(new URL("index.js", built));

let folder;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "swalign-web-"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
});
after(() => rmSync(folder, { recursive: true }));

for (const { line, words, files } of cases) {
  test(`the bytes of: swalign ${line}`, async () => {
    const { code, output, messages } = await run(words, files);
    assert.equal(code, 0, messages.join("\n"));
    assert.ok(output.length > 0);
    assert.equal(Buffer.compare(Buffer.from(output), native(words, folder)), 0, "the output differs");
  });
}

for (const { line, words, says, files } of failures) {
  test(`the error of: swalign ${line}`, async () => {
    const { code, messages } = await run(words, files);
    assert.notEqual(code, 0);
    assert.ok(messages.join("\n").includes(says), messages.join("\n"));
  });
}

test("align returns the hits of each query", async () => {
  const options = { match: 2, mismatch: 4, gapOpen: 4, gapExtend: 2 };
  const [{ query, hits }] = await align("ACGTTGCATTAGCCATGGATCC", { chr1: "GGACGTTGCATTCAAGCCATGGATCCAA" }, options);
  assert.equal(query, "1");
  const [{ target, score, cigar, target_start, target_end }] = hits;
  assert.deepEqual([target, score, cigar, target_start, target_end], ["chr1", 36, "10=2D12=", 2, 26]);
});

test("an aligner keeps its references", async () => {
  const aligner = new Aligner(files["sars2.fa"], { preset: "map-ont" });
  const sam = await aligner.write(files["ont_sars2.fq.gz"]);
  const paf = await aligner.write(files["ont_sars2.fq.gz"], "paf");
  assert.match(sam, /^@HD/);
  assert.equal(paf.split("\t")[5], "MN908947.3");
  assert.equal((await aligner.align("ACGT")).length, 1);
});

test("search returns matches with numbers", async () => {
  const found = await search({ 1: "ACCAACCAACTTTCGATCTCTTGT" }, files["sars2.fa"], { maxEdits: 1 });
  assert.deepEqual(found, [
    { text: "MN908947.3", start: 30, end: 54, pattern: "1", strand: "+", edits: 0, cigar: "24=", match: "ACCAACCAACTTTCGATCTCTTGT" },
  ]);
});

test("faults are errors with the command's exit code", async () => {
  await assert.rejects(align("ACGT", "ACGT", { preset: "none" }), (error) => {
    assert.ok(error instanceof SwalignError);
    assert.equal(error.code, 2);
    return true;
  });
});

test("calls at the same time take turns, and progress is told", async () => {
  const told = [];
  const onProgress = (progress) => told.push(progress);
  const hits = await Promise.all([1, 2, 3].map(() => align(files["proteins_20.fa"], files["proteins_20.fa"], { onProgress })));
  assert.deepEqual(hits[0], hits[2]);
  assert.ok(told.some(({ stage, records }) => stage === "aligning" && records === 20), JSON.stringify(told));
});
