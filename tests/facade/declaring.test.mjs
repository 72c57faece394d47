// Tools that are declared, declared anew and taken back while a conversation goes on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, rejection, withSockets } from "./help.mjs";
import { add, calling, done, play, record, setUp } from "./play.mjs";

await withSockets(import.meta.url, declaring);

async function declaring() {
  const { tool } = await load("index.js");

  test("a tool with a bad schema is told, and the others go on", async (t) => {
    const bad = tool({
      name: "bad",
      description: "Has a bad schema",
      inputSchema: { type: "object", properties: { a: { type: "strange" } } },
      execute: () => 1,
    });
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [bad, add(() => 3)]);
    const errors = record(conversation, "error");
    const calls = record(conversation, "call");
    await play(conversation);
    assert.equal(calls.at(-1).outcome.result, 3);
    assert.equal(errors.at(0)?.code, "invalid_tool");
    assert.equal(errors[0].details.tool, "bad");
  });

  test("a declared tool is there at once", async (t) => {
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [add(undefined)]);
    const tools = record(conversation, "tools");
    assert.deepEqual(conversation.tools.missingHandlers, ["add"]);
    await conversation.declare(add(() => 3));
    assert.deepEqual(conversation.tools.ready, ["add"]);
    const calls = record(conversation, "call");
    await play(conversation);
    assert.deepEqual(calls.at(-1).outcome, { kind: "ok", result: 3 });
    assert.equal(tools.length, 2);
    const conflict = await rejection(conversation.declare({ name: "add", description: "Adds", execute() {} }));
    assert.equal(conflict.code, "tool_conflict");
    assert.equal((await rejection(conversation.declare({ name: "x" }))).code, "invalid_tool");
  });

  test("case_35_a_tool_is_declared_anew_and_its_confirmation_goes_with_its_handler", async (t) => {
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [{ ...add(() => 1), confirm: true }]);
    await rejection(conversation.declare({ ...add(() => 2), inputSchema: undefined, parameters: undefined, confirm: false }));
    await conversation.declare({ ...add(() => 3), confirm: false });
    const calls = record(conversation, "call");
    await play(conversation);
    assert.deepEqual(calls.at(-1).outcome, { kind: "ok", result: 3 });
    assert.ok(!calls.some(({ state }) => state === "confirming"), "the new declaration asks nobody");
  });

  test("a tool is taken back by its name", async (t) => {
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [add(() => 3)]);
    for (const [name, code] of [["sub", "unknown_tool"], [5, "invalid_argument"]]) {
      assert.equal((await rejection(conversation.undeclare(name))).code, code);
    }
    await conversation.undeclare("add");
    assert.deepEqual(conversation.tools.missingHandlers, ["add"]);
    const calls = record(conversation, "call");
    await play(conversation);
    assert.deepEqual(calls.at(-1).outcome, { kind: "missing_handler", tool: "add", registered: [] });
    await conversation.close();
    assert.equal((await rejection(conversation.undeclare("add"))).code, "closed");
  });
}
