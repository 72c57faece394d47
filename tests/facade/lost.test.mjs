// The core is lost: what waits is told so, and the next conversation has a new one.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { agent, load, mockServer, rejection, testInside, until, withSockets } from "./help.mjs";
import { add, calling, done, numbers, play, record, setUp } from "./play.mjs";

await withSockets(import.meta.url, losses);

async function losses() {
  const { tool, PagehandError } = await load("index.js");

  /** Takes all memory that the core could still have. */
  const exhaust = async () => {
    const { default: exportsOf } = await load("openhands-glue.js");
    const { memory } = await exportsOf();
    memory.grow(65_536 - memory.buffer.byteLength / 65_536);
  };
  /** A call of a new conversation runs, and once. */
  const worksAgain = async (t, server, mock) => {
    await mock.ask("PUT", "/mock/scripts/again", { steps: [calling("add", { a: 1, b: 2 }), done] });
    let runs = 0;
    const tools = [add(() => ({ runs: ++runs }))];
    const next = await server.start({ workspace: "/workspace/project", agent: agent("again"), tools, stuck_detection: false });
    t.after(() => next.close());
    const calls = record(next, "call");
    await play(next);
    assert.deepEqual(calls.at(-1).outcome, { kind: "ok", result: { runs: 1 } });
  };

  testInside("a trap rejects everything that waits, and the next conversation works", async (t) => {
    t.mock.method(console, "error", () => {});
    const { conversation, server } = await setUp(t, [{ hold: "trap", finish: "done" }], []);
    const other = await server.start({ workspace: "/workspace/project", agent: agent("play") });
    const errors = record(conversation, "error");
    await conversation.send("go");
    const waiting = rejection(conversation.idle());
    const { Session } = await load("openhands-glue.js");
    const { history } = Session.prototype;
    Session.prototype.history = () => {
      throw new WebAssembly.RuntimeError("unreachable");
    };
    const error = await rejection(conversation.history());
    Session.prototype.history = history;

    assert.equal(error.code, "internal_panic");
    assert.ok(PagehandError.isInstance(error));
    assert.equal(await waiting, error);
    assert.equal(errors.at(-1).code, "internal_panic");
    assert.equal((await rejection(conversation.send("x"))).code, "internal_panic");
    assert.equal((await rejection(other.idle())).code, "internal_panic");
    await conversation.close();
    await other.close();
    assert.equal((await rejection(conversation.send("x"))).code, "closed");
    assert.equal(console.error.mock.callCount(), 1);

    const next = await server.start({ workspace: "/workspace/project", agent: agent("play") });
    await next.send("go", { run: false });
    await next.close();
  });

  testInside("a panic of the core rejects everything that waits, says where and nothing else, and the next conversation works", async (t) => {
    t.mock.method(console, "error", () => {});
    let signal;
    const held = [];
    const execute = (_args, context) => {
      signal = context.signal;
      return new Promise((resolve) => held.push(resolve));
    };
    // Node waits for the timers of an instance that is lost.
    const hold = tool({ name: "add", description: "Adds", inputSchema: numbers, timeout: 3_000, execute });
    const two = { tool_calls: [1, 2].map((a) => ({ name: "add", arguments: { a, b: 2 } })) };
    const { conversation, server, mock } = await setUp(t, [two, done], [hold]);
    await mock.ask("PUT", "/mock/scripts/other", { steps: [{ hold: "panic", finish: "done" }] });
    const other = await server.start({ workspace: "/workspace/project", agent: agent("other") });
    const connections = record(conversation, "connection");
    for (const each of [conversation, other]) await each.send("canary words");
    await until(() => held.length === 2);
    const waiting = [conversation.idle(), other.idle()].map(rejection);
    const glue = await load("openhands-glue.js");
    const exports = await glue.default();
    const { undeclare } = glue.Session.prototype;
    // Nothing that an app or a server says makes the core panic. A border that lies does: no text is as long as this.
    glue.Session.prototype.undeclare = function (operation) {
      return exports.session_undeclare(this.__wbg_ptr, operation, 8, 0xffff_fff0);
    };
    const lost = rejection(conversation.undeclare("add"));
    // What is asked before anybody could hear of the panic, and what settles then, belongs to an instance that is no more.
    waiting.push(rejection(conversation.run()));
    held[0]({ sum: 3 });
    const error = await lost;
    glue.Session.prototype.undeclare = undeclare;

    assert.equal(error.code, "internal_panic");
    assert.match(error.details.message, /^a call: panicked at /);
    assert.ok(error.cause instanceof WebAssembly.RuntimeError);
    for (const rejected of waiting) assert.equal(await rejected, error);
    assert.equal(signal.reason, error);
    assert.equal(connections.at(-1).code, "internal_panic");
    assert.equal((await rejection(other.send("x"))).code, "internal_panic");
    const [printed, ...more] = console.error.mock.calls.map((call) => call.arguments.join(" "));
    assert.deepEqual(more, []);
    for (const said of [printed, JSON.stringify(error), error.message, error.stack]) assert.doesNotMatch(said, /canary/);
    await worksAgain(t, server, mock);
    // The test fails if this is an exception that nobody catches.
    held[1]({ sum: 4 });
    await new Promise((settled) => setTimeout(settled));
  });

  testInside("case_30_after_the_core_was_lost_the_declared_set_is_the_same", async (t) => {
    t.mock.method(console, "error", () => {});
    const tools = [add(() => 3)];
    const { conversation, server } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], tools);
    const before = conversation.tools;
    const { Session } = await load("openhands-glue.js");
    const { history } = Session.prototype;
    Session.prototype.history = () => {
      throw new WebAssembly.RuntimeError("unreachable");
    };
    assert.equal((await rejection(conversation.history())).code, "internal_panic");
    Session.prototype.history = history;
    const next = await server.attach(conversation.id, { tools });
    t.after(() => next.close());
    assert.deepEqual(next.tools, before);
    const calls = record(next, "call");
    await play(next);
    assert.deepEqual(calls.at(-1).outcome, { kind: "ok", result: 3 });
  });

  testInside("without memory the core is lost, everything that waits is told so, and the next conversation has a new one", async (t) => {
    t.mock.method(console, "error", () => {});
    const { conversation, server, mock } = await setUp(t, [{ hold: "memory", finish: "done" }], []);
    const other = await server.start({ workspace: "/workspace/project", agent: agent("play") });
    await conversation.send("go");
    const waiting = rejection(conversation.idle());
    await exhaust();
    const error = await rejection(conversation.send("x".repeat(300_000_000)));
    assert.equal(error.code, "internal_panic");
    assert.ok(error.cause instanceof WebAssembly.RuntimeError);
    assert.equal(await waiting, error);
    assert.equal((await rejection(other.send("x"))).code, "internal_panic");
    assert.equal(console.error.mock.callCount(), 1);
    await worksAgain(t, server, mock);
  });

  test("at the end of the stack nothing is left half done, and the next conversation works", async (t) => {
    const again = [calling("count", {}), done];
    const mock = await mockServer(t, { play: [{ hold: "stack", finish: "done" }], again });
    const program = fileURLToPath(new URL("out-of-stack.mjs", import.meta.url));
    const run = await promisify(execFile)(process.execPath, [...process.execArgv.filter((flag) => flag.includes("websocket")), program, mock.url]);
    const said = JSON.parse(run.stdout);
    assert.deepEqual(said, { idle: "internal_panic", inside: true, codes: ["internal_panic"], told: 1, status: "finished", runs: 1 });
  });
}
