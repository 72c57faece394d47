// What compiling a tool's schema and checking its arguments costs, beside validators that are written in JavaScript.
import { RUNS, ratio, spread, table } from "./numbers.mjs";

const NAMES = { cfworker: "@cfworker/json-schema", ajv: "ajv (compiles to JavaScript: needs 'unsafe-eval')", pagehand: "pagehand" };

/** @param {import("./browser.mjs").Browser} browser */
export async function schemas(browser) {
  /** @type {Record<string, Record<string, { compile: number[], check: number[] }>>} */
  const times = {};
  for (let run = 0; run < RUNS; run += 1) {
    for (const validator of Object.keys(NAMES)) {
      const measured = await browser.page((page) =>
        page.evaluate(async (validator) => (await import("/schemas.js")).measure(validator), validator),
      );
      for (const [schema, { compile, check }] of Object.entries(measured)) {
        const known = ((times[schema] ??= {})[validator] ??= { compile: [], check: [] });
        known.compile.push(compile);
        known.check.push(check);
      }
    }
  }
  for (const [schema, validators] of Object.entries(times)) {
    const rows = Object.entries(validators).map(([validator, { compile, check }]) => {
      const { cfworker } = validators;
      return [NAMES[validator], spread(compile), ratio(compile, cfworker.compile), spread(check), ratio(check, cfworker.check)];
    });
    table(`Schemas, ${schema}: microseconds`, ["", "compile", "ratio", "check", "ratio"], rows);
  }
}
