// When the wasm files are fetched, and what a page's policy must allow.
import assert from "node:assert/strict";
import { call, finish, object, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const describe = (name, inputSchema) => ({ name, description: `Does ${name}.`, inputSchema, handler: "echo" });
/** The core and the engine; never the core for the other kind of server. */
function loaded(lab) {
  assert.equal(lab.requestsOf("uipath.wasm"), 0);
  return [lab.requestsOf("openhands.wasm"), lab.requestsOf("schema.wasm")];
}

on(["mock"], (scenario) => {
  scenario("importing the package requests no wasm", async ({ lab }) => {
    assert.equal(lab.requestsOf("index.js"), 1);
    assert.deepEqual(loaded(lab), [0, 0]);
  });

  scenario("the schema engine is requested with the first schema that constrains anything, once", async ({ server, lab }) => {
    const [open, level] = [unique("open"), unique("level")];
    const levels = object({ level: { enum: [1, 2] } });
    const first = await lab.start(server, {
      tools: [describe(open, object({})), describe(level, undefined)],
      steps: [call(open), finish("ok")],
    });
    await first.turn();
    assert.equal((await first.outcome(open)).kind, "ok");
    assert.deepEqual(loaded(lab), [1, 0]);

    const name = unique("level");
    const second = await lab.start(server, {
      tools: [describe(name, levels)],
      steps: [call(name, { level: 3 }), finish("ok")],
    });
    await second.turn();
    assert.equal((await second.outcome(name)).kind, "invalid_arguments");
    await second.declare(describe(unique("other"), object({ level: { enum: [3] } })));
    assert.deepEqual(loaded(lab), [1, 1]);
  });

  scenario("an output schema is a schema too", async ({ server, lab }) => {
    const open = unique("open");
    const talk = await lab.start(server, { steps: [finish("ok")] });
    assert.deepEqual(loaded(lab), [1, 0]);
    await talk.declare({ ...describe(open, object({})), outputSchema: object({ a: { type: "string" } }) });
    await lab.requested("schema.wasm");
    assert.deepEqual(loaded(lab), [1, 1]);
  });

  scenario("a schema engine that cannot be loaded fails the call that needs it, and comes back", async ({ server, lab }) => {
    const [open, level] = [unique("open"), unique("level")];
    lab.cut("schema.wasm", "not");
    const talk = await lab.start(server, {
      tools: [describe(level, object({ level: { enum: [1] } })), describe(open, object({}))],
      steps: [call(level, { level: 1 }), call(open), finish("ok"), call(level, { level: 1 }), finish("ok")],
    });
    await talk.turn();
    const failed = await talk.outcome(level);
    assert.deepEqual([failed.kind, failed.code], ["failed", "schema_engine_unavailable"]);
    assert.equal((await talk.outcome(open)).kind, "ok");
    lab.cut("schema.wasm", "whole");
    await talk.turn();
    assert.deepEqual((await talk.outcomes(level)).map(({ kind }) => kind), ["failed", "ok"]);
  });

  for (const [what, comes] of /** @type {const} */ ([["cannot be reached", "not"], ["comes half", "half"]])) {
    scenario(`a core that ${what} is told, and the next attempt tries again`, async ({ server, lab }) => {
      lab.cut("openhands.wasm", comes);
      const details = { file: "openhands.wasm", reason: "network" };
      await assert.rejects(lab.start(server), { code: "wasm_unavailable", pagehands: true, retryable: true, details });
      lab.cut("openhands.wasm", "whole");
      const talk = await lab.start(server, { steps: [say("fine")] });
      assert.equal((await talk.turn()).status, "finished");
    });
  }
});

on(
  ["mock"],
  (scenario) => {
    scenario("a policy that forbids WebAssembly is told as the reason", async ({ server, lab }) => {
      const details = { file: "openhands.wasm", reason: "csp" };
      await assert.rejects(lab.start(server), { code: "wasm_unavailable", pagehands: true, retryable: false, details });
      await lab.run("forgetTroubles");
    });
  },
  { path: "/csp-without-wasm" },
);

on(
  ["mock", "legacy", "real"],
  (scenario) => {
    scenario("a whole turn works under a strict policy, without one violation", async ({ server, lab }) => {
      const level = unique("level");
      const talk = await lab.start(server, {
        tools: [describe(level, object({ level: { type: "string", pattern: "^[a-z]+$" } }))],
        steps: [call(level, { level: "A" }), call(level, { level: "a" }), say("done")],
      });
      assert.equal((await talk.turn()).status, "finished");
      assert.deepEqual((await talk.outcomes(level)).map(({ kind }) => kind), ["invalid_arguments", "ok"]);
      assert.deepEqual(loaded(lab), [1, 1]);
      await talk.close();
      assert.ok(!lab.console.some((line) => /content security policy/i.test(line)), String(lab.console));
      // The page's own check finds reports of violations; this shows that it would.
      await lab.run("breakPolicy");
      const reports = await lab.run("forgetTroubles");
      assert.equal(reports.length, 1);
      assert.match(reports[0], /CSP/);
    });
  },
  { path: "/csp" },
);
