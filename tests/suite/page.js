// The page's side: the engine as it ships, held against every test.
import load, { Engine } from "./schema.js";

/** What became of a test: the engine's verdict, or why there is none. @typedef {boolean | string} Verdict */

const text = (thrown) => (thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown));

/**
 * @param {Engine} engine
 * @param {{ schema: string, tests: { instance: string }[] }} group
 * @returns {Verdict[]}
 */
function verdicts(engine, { schema, tests }) {
  let id;
  try {
    id = engine.compile(schema);
  } catch (thrown) {
    if (thrown instanceof WebAssembly.RuntimeError) throw thrown;
    return tests.map(() => text(thrown));
  }
  const found = tests.map(({ instance }) => JSON.parse(engine.check(id, instance, false)).valid);
  engine.release(id);
  return found;
}

const found = { results: [], trouble: "" };
try {
  await load({ module_or_path: "schema.wasm" });
  const engine = new Engine();
  const cases = await (await fetch("cases.json")).json();
  for (const files of Object.values(cases)) {
    for (const groups of Object.values(files)) found.results.push(groups.map((group) => verdicts(engine, group)));
  }
} catch (thrown) {
  found.trouble = text(thrown);
}
await fetch("found", { method: "POST", body: JSON.stringify(found) });
