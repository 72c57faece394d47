// How each bundler is asked, with as few settings as it takes. Each gives the page's address, and the folder that it wrote.
import { cpSync } from "node:fs";
import { join } from "node:path";
import nodeResolve from "@rollup/plugin-node-resolve";
import * as esbuild from "esbuild";
import { rollup } from "rollup";
import webpack from "webpack";
import { wasmFiles } from "./consumer.mjs";
import { serveFolder } from "./serving.mjs";

/** Vite's development server; which Vite is the caller's choice. */
export const viteDev = ({ createServer }, optimizeDeps) => async (t, root) => {
  const server = await createServer({ root, configFile: false, logLevel: "error", optimizeDeps, server: { host: "127.0.0.1", port: 0 } });
  t.after(() => server.close());
  await server.listen();
  return { url: `http://127.0.0.1:${server.httpServer.address().port}/` };
};

export const viteBuild = ({ build }) => async (t, root) => {
  await build({ root, configFile: false, logLevel: "error" });
  return served(t, join(root, "dist"));
};

/** What a bundler wrote, served. */
const served = async (t, output, options) => ({ url: await serveFolder(t, output, options), output });

/** Where the page is put that loads what a bundler wrote. */
function outputOf(folder) {
  cpSync(join(folder, "index.html"), join(folder, "dist/index.html"));
  return join(folder, "dist");
}

/** Bundlers that do not know assets leave the wasm files to whoever calls them. */
export function copyWasm(folder) {
  for (const file of wasmFiles) cpSync(join(folder, "node_modules/pagehand", file), join(folder, "dist", file));
}

export async function webpackBuild(t, folder) {
  const output = { path: join(folder, "dist"), filename: "main.js" };
  const performance = { assetFilter: (name) => !name.endsWith(".wasm") };
  const compiler = webpack({ context: folder, mode: "production", entry: "./main.js", output, performance });
  const stats = await new Promise((done, fail) => compiler.run((error, stats) => (error ? fail(error) : done(stats))));
  if (stats.hasErrors() || stats.hasWarnings()) throw new Error(stats.toString());
  return served(t, outputOf(folder));
}

export const rollupBuild = (plugins, after = () => {}) => async (t, folder) => {
  const bundle = await rollup({ input: join(folder, "main.js"), plugins: [nodeResolve(), ...plugins] });
  await bundle.write({ dir: join(folder, "dist"), format: "es" });
  await bundle.close();
  after(folder);
  return served(t, outputOf(folder));
};

export const esbuildWith = (options, after = () => {}, serving = {}) => async (t, folder) => {
  const given = { absWorkingDir: folder, entryPoints: ["main.js"], outdir: "dist", bundle: true, logLevel: "silent" };
  const { warnings } = await esbuild.build({ ...given, ...options });
  if (warnings.length > 0) throw new Error(warnings.map(({ text }) => text).join("\n"));
  after(folder);
  return served(t, outputOf(folder), serving);
};
/** A classic script does not know where it lies, which esbuild says. */
export const IIFE = { format: "iife", logOverride: { "empty-import-meta": "silent" } };
