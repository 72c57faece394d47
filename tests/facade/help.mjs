// What the facade's tests stand on.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, readdir, rm, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The built package. */
export const packageFolder = path.resolve(process.env.PAGEHAND_PKG ?? fileURLToPath(new URL("../../pkg", import.meta.url)));

/** Whether its modules are one, as in a release: then nothing can look into them. */
export const bundled = !existsSync(path.join(packageFolder, "load.js"));

/** Defines a test that looks into the modules, which it needs apart. */
export const testInside = bundled ? () => {} : test;

/** A file of it as a module. All tests of a file share one copy. */
export const load = (file, folder = packageFolder) => import(pathToFileURL(path.join(folder, file)).href);

/** A copy of the package of its own, with state of its own. `without` are files that it lacks. */
export async function freshCopy(t, without = []) {
  const folder = await mkdtemp(path.join(tmpdir(), "pagehand-"));
  t.after(() => rm(folder, { recursive: true }));
  for (const file of await readdir(packageFolder)) {
    if (without.includes(file)) continue;
    const [from, to] = [path.join(packageFolder, file), path.join(folder, file)];
    if (file.endsWith(".wasm")) await symlink(from, to);
    else await cp(from, to, { recursive: true });
  }
  return folder;
}

export const wasm = (name) => readFile(path.join(packageFolder, name));

/** An HTTP server on a free port; its URL, and what it was asked. */
export async function serve(t, answer) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, asked };
}

/** The mock agent server (crates/mock-server); `ask` talks to its controls. */
export async function mockServer(t, scripts, ...options) {
  const program = process.env.PAGEHAND_MOCK_SERVER;
  const server = spawn(program, ["--key", "canary-key", ...options], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => server.kill());
  const url = await new Promise((done, fail) => {
    server.on("error", fail);
    server.stdout.on("data", (data) => {
      const address = /http:\S+/.exec(String(data));
      if (address !== null) done(address[0]);
    });
  });
  const ask = async (method, at, body) => {
    const answer = await fetch(url + at, { method, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${at}: ${answer.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  for (const [name, steps] of Object.entries(scripts)) await ask("PUT", `/mock/scripts/${name}`, { steps });
  return { url, ask };
}

/** What a promise is rejected with. */
export async function rejection(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it was not rejected");
}

/** Waits until something is so, for five seconds at most. */
export async function until(what) {
  for (const end = Date.now() + 5000; !what(); ) {
    if (Date.now() > end) throw new Error(`never came: ${what}`);
    await new Promise((done) => setTimeout(done));
  }
}

export const agent = (script) => ({ kind: "Agent", llm: { model: `openai/${script}`, api_key: "unused" } });

/** Defines tests that talk over sockets. Node 20 has a WebSocket behind a flag, so there the file runs once more, with it. */
export async function withSockets(file, define) {
  const flag = "--experimental-websocket";
  if (typeof WebSocket !== "undefined" || !process.allowedNodeEnvironmentFlags.has(flag)) return define();
  test("over sockets", () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const run = spawnSync(process.execPath, [flag, "--test-reporter=spec", fileURLToPath(file)], { env });
    assert.equal(run.status, 0, String(run.stdout));
  });
}

/** Node 20 has no WebSocket without a flag. Tests that only have to get as far as a request do with this one. */
export function withoutSockets() {
  globalThis.WebSocket ??= class {
    constructor() {
      throw new Error("no sockets here");
    }
  };
}
