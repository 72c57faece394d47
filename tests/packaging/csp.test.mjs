// Case 33: pages under a Content-Security-Policy.
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as esbuild from "esbuild";
import { until } from "../facade/help.mjs";
import { look, makeFolder, wasmFiles, WELL } from "./support/consumer.mjs";
import { serveFolder } from "./support/serving.mjs";

const REST = "default-src 'none'; img-src data:; report-uri /reports";
const CONNECT = "connect-src 'self' http://127.0.0.1:* ws://127.0.0.1:*";
const STRICT = "script-src 'self' 'wasm-unsafe-eval'";

/** The app in a page under a policy, and what is reported. */
async function under(t, policy, entry) {
  const folder = makeFolder(t.name, { files: ["page"], entry });
  await esbuild.build({ absWorkingDir: folder, entryPoints: ["main.js"], outdir: "dist", bundle: true, format: "esm" });
  for (const file of wasmFiles) cpSync(join(folder, "node_modules/pagehand", file), join(folder, "dist", file));
  cpSync(join(folder, "index.html"), join(folder, "dist/index.html"));
  const reports = [];
  const headers = { "Content-Security-Policy": [REST, ...policy].join("; ") };
  return { visit: await look(t, await serveFolder(t, join(folder, "dist"), { headers, reports })), reports };
}

/** What was violated, once something that is sure to be reported has been. */
async function violations({ visit, reports }) {
  await visit.page.evaluate(() => document.body.append(Object.assign(document.createElement("script"), { textContent: "1" })));
  const violated = () => reports.map((report) => report["csp-report"]["blocked-uri"]);
  await until(() => violated().includes("inline"));
  return violated().filter((blocked) => blocked !== "inline");
}

test("case_33_under_a_strict_policy_all_works_and_nothing_is_reported", async (t) => {
  const page = await under(t, [STRICT, CONNECT]);
  assert.equal(page.visit.text, WELL);
  assert.deepEqual(page.visit.complaints, []);
  assert.deepEqual(await violations(page), []);
});

test("case_33_the_inline_entry_fetches_no_data_url", async (t) => {
  const page = await under(t, [STRICT, CONNECT], "pagehand/inline");
  assert.equal(page.visit.text, WELL);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(await page.visit.wasm(), []);
});

test("case_33_without_wasm_unsafe_eval_the_error_names_it", async (t) => {
  const page = await under(t, ["script-src 'self'", CONNECT]);
  assert.match(page.visit.text, /^pagehand: wasm_unavailable csp: .*'wasm-unsafe-eval'/);
  assert.deepEqual(await violations(page), ["wasm-eval"]);
});

test("case_33_where_the_wasm_may_not_be_fetched_the_error_names_connect_src", async (t) => {
  const page = await under(t, [STRICT]);
  assert.match(page.visit.text, /^pagehand: wasm_unavailable network: .*connect-src/);
  assert.equal((await violations(page)).length, 1);
});
