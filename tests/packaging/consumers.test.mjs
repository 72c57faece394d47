// The packed package in the hands of bundlers, servers and workers: built, opened in Chromium, used.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { importMetaAssets } from "@web/rollup-plugin-import-meta-assets";
import * as vite8 from "vite";
import * as vite7 from "vite7";
import { copyWasm, esbuildWith, IIFE, rollupBuild, viteBuild, viteDev, webpackBuild } from "./support/bundlers.mjs";
import { consumer, makeFolder, server, trial, wasmFiles, WELL } from "./support/consumer.mjs";
import { run, serveFolder, start } from "./support/serving.mjs";

const require = createRequire(import.meta.url);

const IMPORT_MAP = '<script type="importmap">{ "imports": { "pagehand": "./node_modules/pagehand/index.js" } }</script>\n';
const PAGE = '<!doctype html><meta charset="utf-8"><title>pagehand</title><link rel="icon" href="data:,"><p></p>\n';

consumer("no bundler", "import map", {
  files: ["page"],
  write: { "index.html": `${PAGE}${IMPORT_MAP}<script type="module" src="./main.js"></script>` },
  open: async (t, folder) => ({ url: await serveFolder(t, folder) }),
});

consumer("Vite 8", "dev", { files: ["page"], open: viteDev(vite8) });
consumer("Vite 8", "build", { files: ["page"], open: viteBuild(vite8) });
consumer("Vite 7", "dev, optimizeDeps.exclude", { files: ["page"], open: viteDev(vite7, { exclude: ["pagehand"] }) });
consumer("Vite 7", "dev, no settings", {
  files: ["page"],
  open: viteDev(vite7),
  fails: /^pagehand: wasm_unavailable html: .*optimizeDeps\.exclude/,
});
consumer("Vite 7", "build", { files: ["page"], open: viteBuild(vite7) });

consumer("webpack 5", "build", { files: ["page"], open: webpackBuild });

consumer("Rollup 4", "build, wasm copied", { files: ["page"], open: rollupBuild([], copyWasm) });
consumer("Rollup 4", "build, plugin import-meta-assets", { files: ["page"], open: rollupBuild([importMetaAssets()]) });

/** An app that knows one kind of server fetches the files for that one. Bundlers emit all that the entry names. */
const ONE = { files: ["page", "one-server"], says: "pagehand: ready", wasm: ["openhands.wasm", "schema.wasm"], emitted: wasmFiles };
const OWN = { ...ONE, entry: "pagehand/openhands", emitted: ONE.wasm };
consumer("Vite 8", "build, one server of pagehand", { ...ONE, open: viteBuild(vite8) });
consumer("Vite 8", "build, pagehand/openhands", { ...OWN, open: viteBuild(vite8) });
consumer("webpack 5", "build, one server of pagehand", { ...ONE, open: webpackBuild });
consumer("webpack 5", "build, pagehand/openhands", { ...OWN, open: webpackBuild });
consumer("Rollup 4", "build, one server of pagehand", { ...ONE, open: rollupBuild([importMetaAssets()]) });

consumer("esbuild", "build, esm, wasm copied", { files: ["page"], open: esbuildWith({ format: "esm" }, copyWasm) });
consumer("esbuild", "build, esm, wasm forgotten", {
  files: ["page"],
  open: esbuildWith({ format: "esm" }),
  fails: /^pagehand: wasm_unavailable status: .*404/,
  complaints: /404/,
});
consumer("esbuild", "build, esm, wasm forgotten, page for all that is missing", {
  files: ["page"],
  open: esbuildWith({ format: "esm" }, () => {}, { fallback: "index.html" }),
  fails: /^pagehand: wasm_unavailable html: .*beside the script/,
});
consumer("esbuild", "build, esm, wasm copied, wrong MIME type", {
  files: ["page"],
  open: esbuildWith({ format: "esm" }, copyWasm, { types: { ".wasm": "application/octet-stream" } }),
});
consumer("esbuild", "build, iife", {
  files: ["page"],
  open: esbuildWith(IIFE),
  fails: /^pagehand: wasm_unavailable location: .*pagehand\/inline/,
});

const INLINE = "pagehand/inline";
consumer("esbuild", "build, iife, inline", { files: ["page"], entry: INLINE, open: esbuildWith({ format: "iife" }) });
consumer("Vite 8", "build, inline", { files: ["page"], entry: INLINE, open: viteBuild(vite8) });
consumer("Vite 7", "dev, inline", { files: ["page"], entry: INLINE, open: viteDev(vite7) });

consumer("Next 16", "build and start", {
  files: ["next"],
  async open(t, folder) {
    const next = require.resolve("next/dist/bin/next");
    await run(folder, next, ["build"]);
    const url = await start(t, folder, next, ["start", "--hostname", "127.0.0.1", "--port", "0"]);
    return { url, output: join(folder, ".next/static") };
  },
});

consumer("SvelteKit 2", "build and preview", {
  files: ["sveltekit"],
  async open(t, folder) {
    const vite = join(require.resolve("vite/package.json"), "../bin/vite.js");
    await run(folder, vite, ["build"]);
    const url = await start(t, folder, vite, ["preview", "--host", "127.0.0.1", "--port", "0"]);
    return { url, output: join(folder, ".svelte-kit/output/client") };
  },
});

// Import maps do not reach workers.
const BESIDE = "./node_modules/pagehand/index.js";
consumer("module worker", "no bundler", {
  files: ["page", "worker"],
  entry: BESIDE,
  open: async (t, folder) => ({ url: await serveFolder(t, folder) }),
});
consumer("module worker", "Vite 8, build", { files: ["page", "worker"], open: viteBuild(vite8) });
consumer("service worker", "no bundler", {
  files: ["page", "service-worker"],
  entry: BESIDE,
  open: async (t, folder) => ({ url: await serveFolder(t, folder) }),
});

consumer("blob: worker", "esbuild, iife, bytes by init()", {
  files: ["page", "blob-worker"],
  write: { "files.js": `export const FILES = ${JSON.stringify(wasmFiles)};\n` },
  async open(t, folder) {
    await esbuildWith({ ...IIFE, entryPoints: ["worker.js"] })(t, folder);
    return esbuildWith({ format: "esm" }, copyWasm)(t, folder);
  },
});

consumer("blob: worker", "esbuild, iife, inline", {
  files: ["page", "blob-worker"],
  entry: INLINE,
  write: { "files.js": "export const FILES = [];\n" },
  async open(t, folder) {
    await esbuildWith({ format: "iife", entryPoints: ["worker.js"] })(t, folder);
    return esbuildWith({ format: "esm" })(t, folder);
  },
});

trial("Node", "import and a conversation", async (_, title) => {
  assert.equal(await run(makeFolder(title, { files: ["node"] }), "main.js", [server]), WELL);
});
