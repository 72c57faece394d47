// The samples that are tests of an app's are run, with the built package and the mock server.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { packageFolder } from "../facade/help.mjs";
import { samples } from "./pages.mjs";

test("the tests that the page about testing shows pass", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "pagehand-docs-"));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(path.join(folder, "node_modules"));
  await symlink(packageFolder, path.join(folder, "node_modules/pagehand"));
  await writeFile(path.join(folder, "package.json"), '{ "type": "module" }');
  const files = samples("docs/testing.md");
  for (const { name, code } of files) await writeFile(path.join(folder, name), code);
  const tests = files.map(({ name }) => name).filter((name) => name.endsWith(".test.js"));
  assert.equal(tests.length, 3);
  const flag = "--experimental-websocket";
  const flags = typeof WebSocket === "undefined" && process.allowedNodeEnvironmentFlags.has(flag) ? [flag] : [];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = spawnSync(process.execPath, [...flags, "--test", "--test-reporter=tap", ...tests], { cwd: folder, env, encoding: "utf8" });
  assert.equal(run.status, 0, run.stdout);
  assert.match(run.stdout, /^# pass 4$/m);
});
