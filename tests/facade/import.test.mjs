// Importing the package does nothing, so it is safe on a server.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { load, packageFolder } from "./help.mjs";

test("importing fetches nothing, starts nothing, and adds no global", async () => {
  const globals = new Set(Reflect.ownKeys(globalThis));
  const fetched = [];
  const { fetch } = globalThis;
  globalThis.fetch = (...request) => fetched.push(request);
  try {
    const [all, openhands, uipath] = [await load("index.js"), await load("openhands.js"), await load("uipath.js")];
    const inline = await load("inline.js");
    const names = (module) => Object.keys(module).sort();
    assert.deepEqual(names(all), ["PagehandError", "dispatcher", "init", "openhands", "tool", "uipath"]);
    assert.deepEqual(names(inline), names(all));
    assert.deepEqual(names(openhands), ["PagehandError", "dispatcher", "init", "openhands", "tool"]);
    assert.deepEqual(names(uipath), ["PagehandError", "init", "tool", "uipath"]);
    // All entries together are one package.
    for (const one of [openhands, uipath]) {
      for (const name of names(one).filter((name) => name !== "init")) assert.equal(one[name], all[name], name);
    }
  } finally {
    globalThis.fetch = fetch;
  }
  assert.deepEqual(fetched, []);
  assert.deepEqual(Reflect.ownKeys(globalThis).filter((name) => !globals.has(name)), []);
});

test("making a server or a tool needs no wasm", async () => {
  const { openhands, tool } = await load("index.js");
  const server = openhands({ url: "http://localhost:1" });
  assert.deepEqual(Object.keys(server), ["start", "attach", "list"]);
  assert.ok(Object.isFrozen(server));
  assert.ok(Object.isFrozen(tool({ name: "a", description: "b" })));
});

test("everything in the package is published, and it imports nothing else", async () => {
  const { files, exports } = JSON.parse(await readFile(path.join(packageFolder, "package.json"), "utf8"));
  const published = files.map((pattern) => new RegExp(`^${pattern.replaceAll(".", "\\.").replace("*", ".*")}$`));
  // npm adds these by itself.
  const present = (await readdir(packageFolder)).filter((file) => !["package.json", "README.md"].includes(file));
  for (const file of present) assert.ok(published.some((pattern) => pattern.test(file)), file);
  const named = Object.values(exports).flatMap((target) => (typeof target === "string" ? [target] : Object.values(target)));
  const all = await readdir(packageFolder);
  for (const file of named) assert.ok(all.includes(file.replace("./", "")), file);
  const local = /^(?:import|export) [^;]* from "\.\/([^"]+)";$/gm;
  for (const file of present.filter((name) => name.endsWith(".js"))) {
    const text = await readFile(path.join(packageFolder, file), "utf8");
    for (const [, name] of text.matchAll(local)) assert.ok(present.includes(name), `${file} imports ${name}`);
  }
  for (const entry of [".", "./openhands", "./uipath", "./inline"]) assert.deepEqual(Object.keys(exports[entry]), ["types", "default"]);
});

test("nothing in the package evaluates code or imports later", async () => {
  for (const file of (await readdir(packageFolder)).filter((name) => name.endsWith(".js"))) {
    const text = (await readFile(path.join(packageFolder, file), "utf8")).replaceAll(/^ *(?:\/\*.*?\*\/|\/\/[^\n]*)/gms, "");
    assert.doesNotMatch(text, /\beval\(|new Function\(|\bimport\(|\bwindow\./, file);
  }
});
