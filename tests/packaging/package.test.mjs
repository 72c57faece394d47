// The packed package as tools and compilers see it.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { publint } from "publint";
import { makeFolder, tarball, wasmFiles } from "./support/consumer.mjs";
import { run } from "./support/serving.mjs";

const require = createRequire(import.meta.url);

test("publint finds nothing", async () => {
  const bytes = await readFile(tarball);
  const { messages } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true });
  assert.deepEqual(messages, []);
});

test("are-the-types-wrong finds nothing", async (t) => {
  const attw = join(require.resolve("@arethetypeswrong/cli/package.json"), "../dist/index.js");
  // There are ES modules only, and the oldest way to resolve knows no entries.
  const options = ["--profile", "esm-only", "--format", "ascii", "--exclude-entrypoints", ...wasmFiles];
  const said = await run(makeFolder(t.name), attw, [...options, "--", tarball]);
  for (const entry of ["pagehand", "pagehand/openhands", "pagehand/uipath", "pagehand/inline"]) {
    assert.ok(said.includes(`"${entry}"\n\nnode16 (from ESM): 🟢 (ESM)\nbundler: 🟢 \n`), said);
  }
});

for (const [resolution, module] of [
  ["bundler", "esnext"],
  ["nodenext", "nodenext"],
]) {
  test(`an app compiles with moduleResolution ${resolution}`, async (t) => {
    const usual = { strict: true, noEmit: true, target: "es2022", lib: ["es2022", "dom", "esnext.disposable"], types: [] };
    const compilerOptions = { ...usual, module, moduleResolution: resolution };
    const write = { "tsconfig.json": JSON.stringify({ compilerOptions, files: ["app.ts"] }) };
    const folder = makeFolder(t.name, { files: ["types"], write });
    const compiler = join(require.resolve("typescript/package.json"), "../bin/tsc");
    await run(folder, compiler, ["--project", folder]);
  });
}

test("the tarball holds what the entries need, and nothing else", async (t) => {
  const folder = join(makeFolder(t.name), "node_modules/pagehand");
  const { exports, sideEffects, type } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  assert.deepEqual([type, sideEffects], ["module", false]);
  const entries = [".", "./openhands", "./uipath", "./inline"];
  const assets = ["./openhands.wasm", "./uipath.wasm", "./schema.wasm", "./package.json"];
  assert.deepEqual(Object.keys(exports), [...entries, ...assets]);
  for (const entry of entries) assert.deepEqual(Object.keys(exports[entry]), ["types", "default"]);
  const scripts = ["index.js", "openhands.js", "uipath.js", "shared.js", "inline.js"];
  const texts = ["inline-openhands.js", "inline-uipath.js", "inline-schema.js"];
  const types = ["error-details.d.ts", "infer.d.ts", "openhands.d.ts", "types.d.ts", "uipath.d.ts"];
  const others = ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "package.json"];
  const all = [...scripts, ...scripts.map((script) => `${script}.map`), ...texts, ...types, ...wasmFiles, ...others];
  assert.deepEqual((await readdir(folder)).sort(), all.sort());
});
