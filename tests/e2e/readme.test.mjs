// The program on the README's first screen.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { call, finish, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const [, sample] = /```js\n([^]*?)```/.exec(readme) ?? [];

on(["mock", "legacy", "real"], (scenario) => {
  scenario("the README's first program does what it says", async ({ server, lab }) => {
    const script = unique("readme");
    await server.script(script, [call("create_task", { title: "Write the test" }), finish("Write the test next.")]);
    // What the program expects around it: where the package and the server are, and a board.
    const program = sample
      .replace(/^import (.*) from "pagehand";$/m, 'const $1 = await import("/pkg/index.js");')
      .replace("http://localhost:8000", server.url);
    assert.notEqual(program, sample);
    const board = "const board = { create: (title, column) => ({ title, column }) };\n";
    const logged = await lab.program(board + program, { sessionKey: server.key, agent: server.agent(script) });
    const states = logged.filter(([tool]) => tool === "create_task").map(([, state]) => state);
    assert.deepEqual(states, ["announced", "authorised", "validating", "claiming", "running", "settled"]);
    const outcome = logged.find(([, state]) => state === "settled")?.[3];
    assert.deepEqual(outcome, { kind: "ok", result: { title: "Write the test", column: "todo" } });
    assert.deepEqual(logged.filter(([role]) => role === "assistant"), [["assistant", "Write the test next."]]);
  });
});
