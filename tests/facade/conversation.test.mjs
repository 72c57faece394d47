// Conversations over real sockets, with the mock agent server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, freshCopy, load, mockServer, until, rejection, testInside, wasm, withSockets } from "./help.mjs";
import { add, calling, done, numbers, play, record, setUp } from "./play.mjs";

await withSockets(import.meta.url, conversations);

async function conversations() {
  const { openhands, tool } = await load("index.js");

  test("declare, call, answer", async (t) => {
    const contexts = [];
    const sum = add((args, context) => {
      contexts.push(context);
      return { sum: args.a + args.b };
    });
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [sum]);
    assert.deepEqual([conversation.created, conversation.status, conversation.openCalls], [true, "idle", []]);
    assert.deepEqual(conversation.tools.ready, ["add"]);
    const calls = record(conversation, "call");
    const messages = record(conversation, "message");

    assert.deepEqual(await play(conversation), { status: "finished" });

    const states = calls.map((call) => call.state);
    assert.deepEqual(states, ["announced", "authorised", "validating", "claiming", "running", "settled"]);
    for (const call of calls) {
      assert.deepEqual([call.tool, call.callId, call.arguments], ["add", contexts[0].callId, { a: 1, b: 2 }]);
    }
    assert.deepEqual(calls.at(-1).outcome, { kind: "ok", result: { sum: 3 } });
    assert.equal(contexts.length, 1);
    assert.equal(contexts[0].conversation, conversation);
    assert.equal(contexts[0].signal.aborted, false);
    assert.deepEqual(messages.map((message) => message.role), ["user", "assistant"]);
    assert.deepEqual([conversation.status, conversation.openCalls], ["finished", []]);
  });

  test("listeners that are added after start miss nothing", async (t) => {
    const { conversation } = await setUp(t, [], []);
    const states = record(conversation, "connection");
    const tools = record(conversation, "tools");
    assert.equal(states.length, 0);
    await until(() => tools.length > 0);
    assert.deepEqual(states.map((event) => event.state), ["connecting", "connected", "ready"]);
    assert.deepEqual(tools, [conversation.tools]);
  });

  test("what a handler threw stays what it was", async (t) => {
    const thrown = Object.assign(new TypeError("no such file"), { path: "/x" });
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [
      add(() => {
        throw thrown;
      }),
    ]);
    const calls = record(conversation, "call");
    await play(conversation);
    const { outcome, thrown: told } = calls.at(-1);
    assert.deepEqual(outcome, { kind: "failed", code: "handler_threw", name: "TypeError", message: "no such file" });
    assert.equal(told, thrown);
  });

  test("arguments that do not fit never reach a handler", async (t) => {
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 11 }), done], [add(() => assert.fail("it ran"))]);
    const calls = record(conversation, "call");
    await play(conversation);
    const { kind, issues } = calls.at(-1).outcome;
    assert.equal(kind, "invalid_arguments");
    assert.deepEqual(issues.map(({ path, keyword, expected }) => ({ path, keyword, expected })), [
      { path: "/b", keyword: "maximum", expected: 10 },
    ]);
  });

  test("a result that does not fit is an outcome of its own", async (t) => {
    const lying = tool({
      name: "lie",
      description: "Lies",
      outputSchema: { type: "object", required: ["truth"] },
      execute: () => ({}),
    });
    const { conversation } = await setUp(t, [calling("lie", {}), done], [lying]);
    const calls = record(conversation, "call");
    await play(conversation);
    assert.equal(calls.at(-1).outcome.kind, "invalid_output");
  });

  test("a schema engine that is missing fails the call, and is tried again for the next", async (t) => {
    const fresh = await load("index.js", await freshCopy(t, ["schema.wasm"]));
    const mock = await mockServer(t, { play: [calling("add", { a: 1, b: 2 }), calling("add", { a: 2, b: 3 }), done] });
    const server = fresh.openhands({ url: mock.url, sessionKey: "canary-key" });
    const sum = { name: "add", description: "Adds", inputSchema: numbers, execute: ({ a, b }) => a + b };
    const start = { workspace: "/workspace/project", agent: agent("play"), tools: [sum], stuck_detection: false };
    const conversation = await server.start(start);
    t.after(() => conversation.close());
    const outcomes = [];
    conversation.on("call", async ({ outcome }) => {
      if (outcome !== undefined) outcomes.push(outcome);
    });
    await play(conversation);
    assert.deepEqual(outcomes.map(({ kind, code }) => [kind, code]), [
      ["failed", "schema_engine_unavailable"],
      ["failed", "schema_engine_unavailable"],
    ]);
    await fresh.init({ schema: await wasm("schema.wasm") });
    await mock.ask("PUT", "/mock/scripts/play", { steps: [calling("add", { a: 3, b: 4 }), done] });
    await play(conversation);
    assert.deepEqual(outcomes.at(-1), { kind: "ok", result: 7 });
  });

  test("a handler may call anything, also close, on its own conversation", { timeout: 20_000 }, async (t) => {
    const steps = [];
    const busy = tool({
      name: "busy",
      description: "Calls back",
      async execute(_, { conversation }) {
        await conversation.declare({ name: "later", description: "Later", execute() {} });
        steps.push("declared");
        await conversation.send("from within", { run: false });
        steps.push("sent");
        await conversation.close();
        steps.push("closed");
      },
    });
    const { conversation } = await setUp(t, [calling("busy", {}), done], [busy]);
    await conversation.send("go");
    const error = await rejection(conversation.idle());
    assert.equal(error.code, "closed");
    await until(() => steps.includes("closed"));
    assert.deepEqual(steps, ["declared", "sent", "closed"]);
  });

  test("cancelling aborts the handler's signal", async (t) => {
    const reasons = [];
    const wait = tool({
      name: "wait",
      description: "Waits",
      execute: (_, { signal }) =>
        new Promise((_, fail) => {
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason);
            fail(signal.reason);
          });
        }),
    });
    const { conversation } = await setUp(t, [calling("wait", {}), done], [wait]);
    const calls = record(conversation, "call");
    conversation.on("call", ({ state, callId }) => {
      if (state === "running") setTimeout(() => conversation.cancel(callId, "not wanted"));
    });
    await play(conversation);
    assert.deepEqual([reasons[0].name, reasons[0].message], ["AbortError", "not wanted"]);
    assert.equal(calls.at(-1).outcome.kind, "cancelled");
    assert.equal((await rejection(conversation.cancel("unknown"))).code, "unknown_call");
  });

  test("a deadline aborts with another reason", async (t) => {
    let reason;
    const slow = tool({
      name: "slow",
      description: "Never ends",
      timeout: 30,
      execute: (_, { signal }) => new Promise(() => signal.addEventListener("abort", () => (reason = signal.reason))),
    });
    const { conversation } = await setUp(t, [calling("slow", {}), done], [slow]);
    const calls = record(conversation, "call");
    await play(conversation);
    assert.deepEqual(calls.at(-1).outcome, { kind: "timed_out", timeout: 30 });
    assert.equal(reason.name, "TimeoutError");
  });

  test("open calls are there from the announcement to the end", async (t) => {
    const seen = [];
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [
      add((_, { conversation, callId }) => {
        seen.push(conversation.openCalls.map((call) => [call.callId === callId, call.state, call.arguments]));
      }),
    ]);
    await play(conversation);
    assert.deepEqual(seen, [[[true, "running", { a: 1, b: 2 }]]]);
    assert.deepEqual(conversation.openCalls, []);
  });

  test("history comes in pages, both ways", async (t) => {
    const { conversation } = await setUp(t, [done], []);
    await play(conversation);
    const first = await conversation.history({ limit: 2 });
    assert.equal(first.events.length, 2);
    const second = await conversation.history({ limit: 2, page: first.next });
    const ids = [...first.events, ...second.events].map((event) => event.id);
    assert.equal(new Set(ids).size, ids.length);
    const newest = await conversation.history({ limit: 1, order: "newest" });
    assert.notEqual(newest.events[0].id, ids[0]);
    for (const options of [{ limit: 0 }, { limit: 101 }, { limit: "5" }, { order: "up" }, { page: null }, { size: 5 }]) {
      assert.equal((await rejection(conversation.history(options))).code, "invalid_argument", JSON.stringify(options));
    }
  });

  test("attach finds the conversation, and runs nothing of the past", async (t) => {
    let runs = 0;
    const sum = add(() => ++runs);
    const { server, conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [sum]);
    await play(conversation);
    await conversation.close();

    const again = await server.attach(conversation.id, { tools: [sum] });
    t.after(() => again.close());
    const notices = record(again, "notice");
    assert.deepEqual([again.id, again.created], [conversation.id, false]);
    // A whole turn later, what was before it has not run.
    await play(again);
    assert.equal(runs, 1);
    // Node has no IndexedDB.
    assert.deepEqual(notices.map(({ code }) => code), ["storage_unavailable"]);
  });

  test("content and options of send are checked", async (t) => {
    const { conversation } = await setUp(t, [], []);
    for (const [content, options] of [
      [undefined], [5], [{ type: "text" }], [[]], [[7n]],
      ["x", { run: "yes" }], ["x", { signal: 5 }], ["x", { Run: false }], ["x", null],
    ]) {
      assert.equal((await rejection(conversation.send(content, options))).code, "invalid_argument");
    }
    await conversation.send([{ type: "text", text: "hello" }], { run: false });
  });

  test("a signal ends the waiting, and the rest goes on", async (t) => {
    const { conversation } = await setUp(t, [{ hold: "abort-idle", finish: "done" }], []);
    await conversation.send("go");
    const controller = new AbortController();
    const waiting = conversation.idle({ signal: controller.signal });
    const other = conversation.idle();
    const reason = { mine: true };
    controller.abort(reason);
    assert.equal(await rejection(waiting), reason);
    assert.equal(await rejection(conversation.idle({ signal: controller.signal })), reason);
    await conversation.close();
    assert.equal((await rejection(other)).code, "closed");
  });

  test("a long-lived signal keeps no listeners", async (t) => {
    const controller = new AbortController();
    const { signal } = controller;
    const listeners = new Set();
    t.mock.method(signal, "addEventListener", (_, listener) => listeners.add(listener));
    t.mock.method(signal, "removeEventListener", (_, listener) => listeners.delete(listener));
    const { conversation } = await setUp(t, [done], [], { signal });
    await conversation.send("go", { signal });
    await conversation.idle({ signal });
    await conversation.history({ signal });
    assert.ok(signal.addEventListener.mock.callCount() >= 4);
    assert.equal(listeners.size, 0);
  });

  test("after close everything says closed, and closing again is fine", async (t) => {
    const { conversation } = await setUp(t, [], []);
    const states = record(conversation, "connection");
    const events = conversation[Symbol.asyncIterator]();
    const [one, two] = [conversation.close(), conversation.close()];
    assert.equal(one, two);
    const tooLate = [
      conversation.send("x"), conversation.run(), conversation.idle(), conversation.history(),
      conversation.declare({ name: "a", description: "b" }), conversation.cancel("x"),
    ];
    for (const promise of tooLate) assert.equal((await rejection(promise)).code, "closed");
    await one;
    await conversation[Symbol.asyncDispose]?.();
    assert.equal(states.at(-1).state, "closed");
    let last;
    for await (const event of { [Symbol.asyncIterator]: () => events }) last = event;
    assert.equal(last.type, "connection");
    assert.equal(typeof conversation.on("call", () => {}), "function");
  });

  testInside("a hundred conversations come and go", async (t) => {
    const mock = await mockServer(t, { play: [done] });
    const server = openhands({ url: mock.url, sessionKey: "canary-key" });
    for (let n = 0; n < 100; n++) {
      const conversation = await server.start({ workspace: "/workspace/project", agent: agent("play"), tools: [add(() => 1)] });
      await conversation.close();
    }
    const { core } = await load("openhands-core.js");
    assert.equal(core.inhabitants.size, 0);
  });

  test("the key is in no error, event or log", async (t) => {
    const told = [];
    for (const method of ["log", "warn", "error", "info", "debug"]) {
      const original = console[method];
      console[method] = (...words) => told.push(words.map(String).join(" "));
      t.after(() => (console[method] = original));
    }
    const { conversation, mock } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [add(() => 3)]);
    const events = conversation[Symbol.asyncIterator]();
    await play(conversation);
    await conversation.close();
    for await (const event of { [Symbol.asyncIterator]: () => events }) told.push(JSON.stringify(event));
    assert.ok(told.length > 10);
    assert.ok(told.every((text) => !text.includes("canary-key")));
    const asked = await mock.ask("GET", "/mock/record");
    assert.ok(asked.every(({ path }) => !path?.includes("canary-key")));
  });
}
